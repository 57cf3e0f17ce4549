"""What a reviewer compares between two runs: names that look like platforms, and capabilities.

Read by regular expressions over upstream's bytes and the kept bytes: a fraction of a parse. It decides
nothing; hygiene and diff rank and compare what it lists.

Blind to: names that are put together at run time, shapes other than ``is_x``, ``use_x``, ``has_x``,
``supports_x``, string comparisons, enum members, environment reads and folders.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from pruner.model import Outcome, Policy, Snapshot
from pruner.pipeline.ahead import Ahead
from pruner.pipeline.offers import Offers, Rows, offered
from pruner.pipeline.platforms import classified, ruled_out, words

NAME = "inventory.json"
FORMAT = "prune-inventory/2"

# One pattern for each word, and a look by hand at what stands before it: a literal start is four times as fast. So it
# is with the strings and the classes below.
_PREDICATES = [re.compile(rb"%b_[a-z0-9_]+" % word) for word in (b"is", b"use", b"has", b"supports?")]
_VARIABLE = re.compile(rb"env(?:s\.|iron(?:\.get)?[\[(]\s*[\"']|(?:_var)?\(\s*[\"'])([A-Z][A-Z0-9_]+)")
_HELPER = re.compile(rb"def (\w*env\w*)\(")
_OBJECT = re.compile(rb"envs\b[^=\n]*=")
_ASKED = re.compile(rb"([\w.]*\w)\(\s*[\"']([A-Z][A-Z0-9_]+)[\"'](?:,\s*([\"'][^\"'\n]*[\"']|\w+))?,?\s*\)")
_FLAG = re.compile(rb"(_?(?:is|use)_([a-z0-9]+)) = ")
_LEFT = re.compile(rb"(\w+)\)? ?$")
_STRINGS = [
    re.compile(before + rb"[\"']\w+[\"'](?:, ?[\"']\w+[\"'])*")
    for before in (rb"== ?", rb"!= ?", rb"in ?[\[({] ?", rb": ")
]
_WORD = re.compile(rb"[\"'](\w+)[\"']")
_WORDS = re.compile(rb"\w")
_INNER = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.")
_LOADS = re.compile(rb"\b(import_module|__import__|iter_modules|walk_packages)\((?!\s*[\"'][^\"'\n]*[\"']\s*[,)])")
_ENUM = re.compile(rb"class (\w+)\([^)\n]*(?:Enum|Flag)[^)\n]*\):\n((?:(?:[ \t]+[^\n]*)?\n)+)")
_MEMBER = re.compile(rb"^[ \t]+([A-Z][A-Z0-9_]*) *= *\S", re.MULTILINE)


Names = list[tuple[str, str, int]]  # kind, name, byte: of one file of upstream
Seen = dict[str, tuple[Names, Rows]]  # path of a file of upstream -> its names, and what it offers


class _Lines:
    """Line numbers of places in a text, which are mostly asked for one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._at, self._line = 0, 1

    def at(self, place: int) -> int:
        """The line of a byte, from 1."""
        if place < self._at:
            self._at, self._line = 0, 1
        self._line += self.data.count(10, self._at, place)
        self._at = place
        return self._line


def inventory(snapshot: Snapshot, outcome: Outcome, policy: Policy, seen: Seen | None = None) -> dict[str, Any]:
    """The inventory of one run; no source text but names, keys and places.

    ``seen``: what is known of files of upstream that have been looked at already.
    """
    seen = seen or {}
    known, vendors, denied = classified(policy), words(policy), ruled_out(policy)
    helpers: dict[str, str] = {}  # a function that reads the environment -> its module
    names: dict[tuple[str, str], dict[str, Any]] = {}
    kept: Counter[tuple[str, str]] = Counter()
    loads: list[list[Any]] = []
    before, now = Offers(), Offers()
    folders: dict[str, list[int]] = {}
    prefix = f"{snapshot.python_root}/" if snapshot.python_root else ""
    for file in snapshot.files:
        if not file.path.endswith(".py") or file.link is not None:
            continue
        data = snapshot.read(file.path)
        after = outcome.files.get(file.path, data)  # None: the file is removed
        path = file.path.removeprefix(prefix)
        module = _module(path)
        _folder(folders, path, after is not None)
        found, offers = seen.get(file.path) or (list(_names(data, vendors, module)), offered(data))
        left = found if after is data else list(_names(after or b"", vendors, module))
        here = {(kind, name) for kind, name, _ in left}
        lines = _Lines(data)
        for kind, name, at in found:
            row = names.get((kind, name))
            if row is None:
                row = names[kind, name] = {"upstream": 0, "at": ""}
            first = (kind, name) in here and (kind, name) not in kept and "defined" not in row and "stored" not in row
            if not row["at"] or first:
                row["at"] = f"{file.path}:{lines.at(at)}"  # rather where it is kept than where it went
                here.discard((kind, name))
            row["upstream"] += 1
            if kind == "predicate":
                _place(row, name, lines, at, module, file.path, denied)
            elif kind == "environment" and len(asked := row.setdefault("asked", [])) < 8:
                how = _asked(data, at)
                if how not in asked:
                    asked.append(how)
        if b"env" in data:
            helpers.update((found[1].decode(), module) for found in _HELPER.finditer(data) if _first(data, found))
            if b"envs" in data and any(_first(data, found) for found in _OBJECT.finditer(data)):
                helpers.setdefault("envs", module)
        _together(names, found, data, known, vendors)
        kept.update((kind, name) for kind, name, _ in left)
        before.add(offers, module)
        if after is not None:
            now.add(offers if after is data else offered(after), module)
            loads += [[file.path, after.count(b"\n", 0, m.start()) + 1, m[1].decode()] for m in _loads(after)]
    out: dict[str, Any] = {"format": FORMAT, "names": {}, "loads": loads, "folders": folders}
    out |= {"spoken": sorted(known), "vendors": sorted(vendors), "ruled_out": sorted(denied)}
    for (kind, name), row in sorted(names.items()):
        if kind == "environment":
            row["asked"] = _subjects(row["asked"], helpers)
        out["names"].setdefault(kind, {})[name] = row | {"kept": kept[kind, name]}
    kinds = now.kinds()
    out["capabilities"] = {
        kind: {name: {"upstream": places, "kept": kinds.get(kind, {}).get(name, [])} for name, places in rows.items()}
        for kind, rows in before.kinds().items()
    }
    return out


def look_ahead(snapshot: Snapshot, policy: Policy, ahead: Ahead) -> Callable[[], Seen]:
    """Have upstream looked at; the call gives what is known by then."""
    prefix = f"{snapshot.python_root}/" if snapshot.python_root else ""
    return ahead.spread(_look, snapshot.root, snapshot.batches(".py"), prefix, words(policy))


def _look(root: Path, paths: tuple[str, ...], prefix: str, vendors: frozenset[str]) -> Seen:
    found = {}
    for path in paths:
        data = (root / path).read_bytes()
        found[path] = (list(_names(data, vendors, _module(path.removeprefix(prefix)))), offered(data))
    return found


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def inventory_bytes(document: dict[str, Any]) -> bytes:
    """``inventory.json``."""
    return json.dumps(document, separators=(",", ":"), sort_keys=True).encode() + b"\n"


def _folder(folders: dict[str, list[int]], path: str, kept: bool) -> None:
    """[modules upstream, modules kept] of each folder, sub-folders included."""
    folder = path.rpartition("/")[0]
    while folder:
        row = folders.setdefault(folder, [0, 0])
        row[0] += 1
        row[1] += kept
        folder = folder.rpartition("/")[0]


def _names(data: bytes, vendors: frozenset[str], module: str) -> Iterator[tuple[str, str, int]]:
    """(kind, name, byte) of each name of interest."""
    for found in chain.from_iterable(pattern.finditer(data) for pattern in _PREDICATES):
        start = found.start()
        start -= data[start - 1 : start] == b"_"
        if not _WORDS.match(data, start - 1 if start else len(data)):
            yield "predicate", data[start : found.end()].decode(), start
    if b"env" in data:
        for found in _VARIABLE.finditer(data):
            start = found.start()
            while start and (data[start - 1] in _INNER):
                start -= 1
            yield "environment", found[1].decode(), start
    if b"Enum" in data or b"Flag" in data:
        for found in _ENUM.finditer(data):
            if not _first(data, found):
                continue
            for member in _MEMBER.finditer(found[2]):
                name = f"{module}:{found[1].decode()}.{member[1].decode()}"
                yield "enum", name, found.start(2) + member.start()
    if _quoted(vendors).search(data):
        for found in _strings(data):
            strings = [word.decode() for word in _WORD.findall(found[0])]
            if found[0][:2] in (b"==", b"!="):
                left = _LEFT.search(data, max(0, found.start() - 40), found.start())
                if left is not None:
                    yield "compared", f"{left[1].decode()}={strings[0]}", found.start()
            # Alone, a compared string counts only where a platform's name is compared too.
            if found[0][:2] in (b"==", b"!=") or any(word in vendors for word in strings):
                for word in strings:
                    if word.isidentifier() and word.islower():
                        yield "string", word, found.start()


def _first(data: bytes, found: re.Match[bytes]) -> bool:
    """Does it stand where a line begins?"""
    return not found.start() or data[found.start() - 1] == 10


def _strings(data: bytes) -> list[re.Match[bytes]]:
    """Where strings are compared, looked for in a literal or given for a key, in the order of the text."""
    found = [match for pattern in _STRINGS for match in pattern.finditer(data)]
    found.sort(key=lambda match: match.start())
    return [m for m in found if m[0][:2] != b"in" or not _WORDS.match(data, m.start() - 1 if m.start() else len(data))]


@lru_cache(maxsize=1)
def _quoted(vendors: frozenset[str]) -> re.Pattern[bytes]:
    return re.compile(
        b'"(?:%b)"' % b"|".join(re.escape(word.encode()) for word in sorted(vendors)) if vendors else b"(?!)"
    )


def _loads(data: bytes) -> Iterator[re.Match[bytes]]:
    if b"import" in data and (b"import_module" in data or b"__import__" in data or b"pkgutil" in data):
        yield from _LOADS.finditer(data)


def _place(
    row: dict[str, Any], name: str, lines: _Lines, at: int, module: str, path: str, denied: frozenset[str]
) -> None:
    """Where a predicate is defined, so that a rule can name it; that is also the place to show.

    A flag of a module (``_is_x = ...``) is ``near`` the flags of ruled-out platforms on the lines around it.
    """
    data = lines.data
    line = data.rfind(b"\n", 0, at) + 1
    if data[line:at] == b"def " and "defined" not in row:
        row["defined"] = f"{module}.{name}()"
        row["at"] = f"{path}:{lines.at(at)}"
    elif line == at and data[at + len(name) : at + len(name) + 3] == b" = ":
        if "stored" not in row and "defined" not in row:
            row["at"] = f"{path}:{lines.at(at)}"
        row.setdefault("stored", f"{module}.{name}")
        around = data.rfind(b"\n", 0, max(line - 1, 0)) + 1, data.find(b"\n", line) + 1
        for start in around if around[1] else around[:1]:
            flag = _FLAG.match(data, start)
            if flag is not None and flag[2].decode() in denied:
                row.setdefault("near", {})[flag[1].decode()] = 1


def _asked(data: bytes, at: int) -> str:
    """How a place asks for a variable of the environment: ``envs.X``, ``f('X')``, ``f('X', 'default')``, ``[X]``."""
    found = _ASKED.match(data, at)
    if found is None:
        return "envs" if data.startswith(b"envs.", at) else ""
    default = found[3].decode() if found[3] is not None else ""
    return f"{found[1].decode()}(*{default and ', '}{default})"


def _subjects(asked: list[str], helpers: dict[str, str]) -> list[str]:
    """The ways of :func:`_asked` as a rule would name them, with ``*`` for the variable's name in quotes."""
    found = set()
    for how in asked:
        function, opening, rest = how.partition("(")
        function = function.rpartition(".")[2]
        if function == "envs" and "envs" in helpers:
            found.add(f"{helpers['envs']}.envs.*.get()")
        elif function in helpers and opening:
            found.add(f"{helpers[function]}.{function}({rest}")
        elif function == "getenv" and opening:
            found.add(f"os.getenv({rest}")
        elif function == "get" and opening:
            found.add(f"os.environ.get({rest}")
        else:
            found.add("os.environ[*]")
    return sorted(found)


def _together(
    names: dict[tuple[str, str], dict[str, Any]],
    found: list[tuple[str, str, int]],
    data: bytes,
    known: frozenset[str],
    vendors: frozenset[str],
) -> None:
    """Count, for a name that no rule speaks of, the lines that it shares with one that a rule speaks of.

    For a string those that it shares with a platform's name count as well.
    """
    lines: dict[int, list[tuple[str, str]]] = {}
    for kind, name, at in found:
        if kind != "enum":
            lines.setdefault(data.rfind(b"\n", 0, at), []).append((kind, name))
    for row in lines.values():
        listed = {name for kind, name in row if kind == "string" and name in vendors}
        spoken = {name for _, name in row if name.lstrip("_") in known} | (listed if len(listed) > 1 else set())
        if spoken and len(row) > len(spoken):
            for kind, name in set(row):
                if name.lstrip("_") not in known:
                    beside = names[kind, name].setdefault("with", {})
                    for other in spoken:
                        beside[other] = beside.get(other, 0) + 1
