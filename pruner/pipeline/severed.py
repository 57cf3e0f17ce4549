"""Why nothing reaches what is gone: from an unreached definition or file to the fact or rule that took its users.

Users are looked for in what was removed: a removed place that names the definition, and imports it when it is in
another file, or that imports the module. The chain leads over places that are unreached themselves, the shortest
way, to one that a rule removed. Source: breadth-first search.

Blind to: users whose names are put together, names that are passed on through a third module, and which of
two methods of one name was meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from pruner.model import Outcome, Policy, Removal, Snapshot

NAME = "severed.json"
FORMAT = "prune-severed/1"
# They begin with a word, which is searched for ten times as fast as the start of a line.
_FROM = re.compile(rb"from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#]*)")
_IMPORT = re.compile(rb"import[ \t]+([\w., \t]+)")
_WORD = re.compile(rb"[A-Za-z_]\w*")
_ALIAS = re.compile(r"\s+as\s+\w+|[()\\\s]|#[^\n]*")
_OWN = ("function", "class", "variable", "method")


def key(path: str, first: int, last: int, name: str) -> str:
    """A removal's name in the file."""
    return f"{path}:{first}-{last} {name}"


def render(snapshot: Snapshot, policy: Policy, outcome: Outcome) -> bytes:
    """``severed.json``: for each unreached removal the next one on the way to a rule, or a sentence."""
    rows = [row for row in outcome.removals if row.path.endswith(".py")]
    users = _Users(snapshot, rows)
    parent: dict[int, int] = {}
    work = [i for i, row in enumerate(rows) if row.cause.rules]
    known = set(work)
    for here in work:  # grows while it is walked
        for used in users.uses(here):
            if used not in known:
                known.add(used)
                parent[used] = here
                work.append(used)
    out: dict[str, list[str]] = {}
    for number, row in enumerate(rows):
        own = key(row.path, row.first, row.last, row.name)
        if number in parent:
            user = rows[parent[number]]
            out[own] = ["user", key(user.path, user.first, user.last, user.name)]
        elif (
            row.what == "file" and not row.cause.rules and (said := _walked(policy, users.module_of.get(row.path, "")))
        ):
            out[own] = ["rule", said]
    document = {"format": FORMAT, "next": out}
    return json.dumps(document, indent=0, sort_keys=True).encode() + b"\n"


def _walked(policy: Policy, module: str) -> str:
    """The dynamic rule of whose package the module is one that it does not yield."""
    for rule in policy.dynamics:
        if module.startswith(f"{rule.package}."):
            place = f"{rule.location.file}:{rule.location.line}"
            return f"{rule.rule} ({place}): {rule.package} yields only what this rule lists"
    return ""


class _Users:
    """What each removed place names and imports, and which removed places that is."""

    def __init__(self, snapshot: Snapshot, rows: list[Removal]) -> None:
        from pruner.pipeline.load import module_paths  # here: a question to the last run needs no engine

        self.rows = rows
        paths = module_paths(snapshot)
        self.module_of = {path: module for module, (path, _) in paths.items()}
        self.wanted: dict[str, list[int]] = {}  # last name -> removals without a rule
        self.modules: dict[str, int] = {}  # module -> its file's removal
        for number, row in enumerate(rows):
            if row.cause.rules:
                continue
            if row.what == "file":
                self.modules[self.module_of.get(row.path, "")] = number
            elif row.what in _OWN or row.what == "import":
                self.wanted.setdefault(row.name.rpartition(".")[2], []).append(number)
        self._files: dict[str, list[int]] = {}  # imported name -> removals of its module and packages
        self.snapshot = snapshot
        self.lines: dict[str, list[bytes]] = {}

    def _text(self, row: Removal) -> bytes:
        if row.what == "file":
            return self.snapshot.read(row.path)
        lines = self.lines.get(row.path)
        if lines is None:
            lines = self.lines[row.path] = self.snapshot.read(row.path).split(b"\n")
        return b"\n".join(lines[row.first - 1 : row.last])

    def uses(self, number: int) -> Iterator[int]:
        """Removals that the place of this one uses."""
        row = self.rows[number]
        data = self._text(row)
        targets = set(self._imports(row.path, data))
        for target in sorted(targets):
            files = self._files.get(target)
            if files is None:
                files = self._files[target] = [self.modules[m] for m in _parents(target) if m in self.modules]
            yield from files
        whole = row.what == "file"
        words = {t.rpartition(".")[2] for t in targets} if whole else {w.decode() for w in set(_WORD.findall(data))}
        for word in sorted(words & self.wanted.keys()):
            for used in self.wanted[word]:
                other = self.rows[used]
                if other.what == "method":
                    meant = not whole
                elif other.path == row.path:
                    meant = used != number
                elif other.what == "import":
                    meant = False  # an import is used in its own file
                else:
                    meant = other.name in targets or other.name.rpartition(".")[0] in targets
                if meant:
                    yield used

    def _imports(self, path: str, data: bytes) -> Iterator[str]:
        if b"import" not in data:
            return
        module = self.module_of.get(path, "")
        package = module if path.endswith("/__init__.py") else module.rpartition(".")[0]
        for found in _first(_FROM, data):
            dots, base, names = found.groups()
            parts = package.split(".")
            above = ".".join(parts[: len(parts) - len(dots) + 1]) if dots else ""
            origin = ".".join(part for part in (above, base.decode()) if part)
            yield origin
            for name in names.decode("utf-8", "replace").split(","):
                plain = _ALIAS.sub("", name)
                if plain.isidentifier():
                    yield f"{origin}.{plain}"
        for found in _first(_IMPORT, data):
            for name in found[1].decode().split(","):
                yield name.split(" as ")[0].strip()


def _first(shape: re.Pattern[bytes], data: bytes) -> Iterator[re.Match[bytes]]:
    """Where the shape begins a line, but for white space."""
    found = shape.search(data)
    while found is not None:
        if data[data.rfind(b"\n", 0, found.start()) + 1 : found.start()].strip(b" \t"):
            # # taken from here import (    — what the bracket swallows may be imports
            found = shape.search(data, found.start() + 1)
        else:
            yield found
            found = shape.search(data, found.end())


def _parents(target: str) -> Iterator[str]:
    """A module and its packages, which run with it: the module first."""
    while target:
        yield target
        target = target.rpartition(".")[0]


def chain(severed: dict[str, list[str]], first: str) -> list[str]:
    """The places on the way from a removal to the rule, as the file names them; a sentence stands last."""
    found: list[str] = []
    while first in severed and len(found) < 100:
        kind, text = severed[first]
        found.append(text)
        if kind == "rule":
            break
        first = text
    return found
