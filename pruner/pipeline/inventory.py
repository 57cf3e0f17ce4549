"""What a reviewer compares between two runs: names that look like platforms, and capabilities.

Read by regular expressions over upstream's bytes and the kept bytes: a fraction of a parse. It decides
nothing; hygiene and diff rank and compare what it lists.

Blind to: names that are put together at run time, shapes other than ``is_x``, ``use_x``, ``has_x``,
``supports_x``, string comparisons, enum members, environment reads and folders.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from pruner.model import Outcome, Policy, Snapshot
from pruner.pipeline.platforms import classified, ruled_out, words

NAME = "inventory.json"
FORMAT = "prune-inventory/1"

# One pattern for each word, and a look by hand at what stands before it: a literal start is four times as fast.
_PREDICATES = [re.compile(rb"%b_[a-z0-9_]+" % word) for word in (b"is", b"use", b"has", b"supports?")]
_VARIABLE = re.compile(
    rb"(?:envs\.|getenv\(\s*[\"']|environ(?:\.get)?[\[(]\s*[\"']|env_var\(\s*[\"'])([A-Z][A-Z0-9_]+)"
)
_STRINGS = re.compile(rb"(?:[=!]= ?|\bin ?[\[({] ?|: )[\"']\w+[\"'](?:, ?[\"']\w+[\"'])*")
_WORD = re.compile(rb"[\"'](\w+)[\"']")
_WORDS = re.compile(rb"\w")
_LOADS = re.compile(rb"\b(import_module|__import__|iter_modules|walk_packages)\((?!\s*[\"'][^\"'\n]*[\"']\s*[,)])")
_ENUM = re.compile(rb"^class (\w+)\([^)\n]*(?:Enum|Flag)[^)\n]*\):\n((?:(?:[ \t]+[^\n]*)?\n)+)", re.MULTILINE)
_MEMBER = re.compile(rb"^[ \t]+([A-Z][A-Z0-9_]*) *= *\S", re.MULTILINE)
_ROUTE = re.compile(rb"^\s*@\w+\.(?:get|post|put|delete|patch|api_route|websocket)\(\s*[\"'](/[^\"']*)", re.MULTILINE)
_OPTION = re.compile(rb"add_argument\(\s*(?:[\"']-\w[\"'],\s*)?[\"'](--[a-z][a-z0-9-]+)")
_ARGUMENTS = re.compile(rb"^class \w+Args\b", re.MULTILINE)
_MODEL = re.compile(rb"^EntryClass\b[^=\n]*=\s*(\[[^\]]*\]|\w+)", re.MULTILINE)
_TABLES = ("CHOICES", "BACKENDS", "METHODS", "REGISTRY", "ALGORITHMS", "FORMATS")
_TABLE = re.compile(rb"^[A-Z_]*(?:%b)[A-Z_]*\b[^=\n]*=" % "|".join(_TABLES).encode(), re.MULTILINE)
_NAMED = tuple(word.encode() for word in _TABLES)


def inventory(snapshot: Snapshot, outcome: Outcome, policy: Policy) -> dict[str, Any]:
    """The inventory of one run; no source text but names, keys and places."""
    known, vendors = classified(policy), words(policy)
    names: dict[tuple[str, str], dict[str, Any]] = {}
    kept: Counter[tuple[str, str]] = Counter()
    loads: list[list[Any]] = []
    capable: dict[str, dict[str, bool]] = {}
    folders: dict[str, list[int]] = {}
    prefix = f"{snapshot.python_root}/" if snapshot.python_root else ""
    for file in snapshot.files:
        if not file.path.endswith(".py") or file.link is not None:
            continue
        data = snapshot.read(file.path)
        after = outcome.files.get(file.path, data)  # None: the file is removed
        path = file.path.removeprefix(prefix)
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        _folder(folders, path, after is not None)
        found = list(_names(data, vendors))
        for kind, name, at in found:
            row = names.get((kind, name))
            if row is None:
                row = names[kind, name] = {"upstream": 0, "at": f"{file.path}:{data.count(10, 0, at) + 1}"}
            row["upstream"] += 1
            if kind == "predicate":
                _place(row, name, data, at, module, file.path)
        _together(names, found, data, known)
        kept.update((kind, name) for kind, name, _ in (found if after is data else _names(after or b"", vendors)))
        offered = list(_capabilities(data, module))
        for kind, name in offered:
            capable.setdefault(kind, {}).setdefault(name, False)
        if after is not None:
            for kind, name in offered if after is data else _capabilities(after, module):
                capable.setdefault(kind, {})[name] = True
            loads += [[file.path, after.count(b"\n", 0, m.start()) + 1, m[1].decode()] for m in _loads(after)]
    out: dict[str, Any] = {"format": FORMAT, "names": {}, "loads": loads, "folders": folders}
    out |= {"spoken": sorted(known), "vendors": sorted(vendors), "ruled_out": sorted(ruled_out(policy))}
    for (kind, name), row in sorted(names.items()):
        out["names"].setdefault(kind, {})[name] = row | {"kept": kept[kind, name]}
    out["capabilities"] = {
        kind: {
            "kept": sorted(name for name, there in rows.items() if there),
            "dropped": sorted(name for name, there in rows.items() if not there),
        }
        for kind, rows in sorted(capable.items())
    }
    return out


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


def _names(data: bytes, vendors: frozenset[str]) -> Iterator[tuple[str, str, int]]:
    """(kind, name, byte) of each name of interest."""
    for found in chain.from_iterable(pattern.finditer(data) for pattern in _PREDICATES):
        start = found.start()
        start -= data[start - 1 : start] == b"_"
        if not _WORDS.match(data, start - 1 if start else len(data)):
            yield "predicate", data[start : found.end()].decode(), start
    if b"env" in data:
        for found in _VARIABLE.finditer(data):
            yield "environment", found[1].decode(), found.start()
    if b"Enum" in data or b"Flag" in data:
        for found in _ENUM.finditer(data):
            for member in _MEMBER.finditer(found[2]):
                yield "enum", f"{found[1].decode()}.{member[1].decode()}", found.start(2) + member.start()
    if any(b'"%b"' % word.encode() in data for word in vendors):
        for found in _STRINGS.finditer(data):
            strings = [word.decode() for word in _WORD.findall(found[0])]
            # Alone, a compared string counts only where a platform's name is compared too.
            if found[0][:2] in (b"==", b"!=") or any(word in vendors for word in strings):
                for word in strings:
                    if word.isidentifier() and word.islower():
                        yield "string", word, found.start()


def _loads(data: bytes) -> Iterator[re.Match[bytes]]:
    if b"import" in data and (b"import_module" in data or b"__import__" in data or b"pkgutil" in data):
        yield from _LOADS.finditer(data)


def _place(row: dict[str, Any], name: str, data: bytes, at: int, module: str, path: str) -> None:
    """Where a predicate is defined, so that a rule can name it; that is also the place to show."""
    line = data.rfind(b"\n", 0, at) + 1
    if data[line:at] == b"def " and "defined" not in row:
        row["defined"] = f"{module}.{name}()"
        row["at"] = f"{path}:{data.count(10, 0, at) + 1}"
    elif line == at and data[at + len(name) : at + len(name) + 3] == b" = ":
        row.setdefault("stored", f"{module}.{name}")


def _together(
    names: dict[tuple[str, str], dict[str, Any]], found: list[tuple[str, str, int]], data: bytes, known: frozenset[str]
) -> None:
    """Count, for a name that no rule speaks of, the lines that it shares with one that a rule speaks of."""
    lines: dict[int, list[tuple[str, str]]] = {}
    for kind, name, at in found:
        if kind != "enum":
            lines.setdefault(data.rfind(b"\n", 0, at), []).append((kind, name))
    for row in lines.values():
        spoken = {name for _, name in row if name.lstrip("_") in known}
        if spoken and len(row) > len(spoken):
            for kind, name in set(row):
                if name.lstrip("_") not in known:
                    beside = names[kind, name].setdefault("with", {})
                    for other in spoken:
                        beside[other] = beside.get(other, 0) + 1


def _capabilities(data: bytes, module: str) -> Iterator[tuple[str, str]]:
    """(kind, name) of what a user can ask for."""
    if b"add_argument" in data:
        yield from (("option", found[1].decode()) for found in _OPTION.finditer(data))
    if b"@app." in data or b"@router." in data:
        yield from (("route", found[1].decode()) for found in _ROUTE.finditer(data))
    if b"EntryClass" in data:
        for found in _MODEL.finditer(data):
            yield from (("model", name.decode()) for name in re.findall(rb"[A-Za-z]\w+", found[1]))
    # What a plain search rules out needs no regular expression: these two cost more than all others.
    if (any(word in data for word in _NAMED) and _TABLE.search(data)) or (b"Args" in data and _ARGUMENTS.search(data)):
        yield from _parsed(data, module)


def _parsed(data: bytes, module: str) -> Iterator[tuple[str, str]]:
    """``TABLE[key]`` of the module's tables that are named as such, and the fields of its ``XArgs`` classes."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name.endswith("Args"):
            for item in node.body:
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                    yield "argument", f"{module}.{node.name}.{item.target.id}"
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if not isinstance(target, ast.Name) or not _TABLE.match(f"{target.id} =".encode()):
            continue
        for key in value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", ()):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield "choice", f"{target.id}[{key.value}]"
