"""Does a file's text look as if it stored into something that a fact speaks of? Only such files are parsed for it.

Parsing every kept file would take half the time of the engine; most files name none of the subjects. Every
form that :mod:`pruner.scan.stores` finds has a look here, with some that are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pruner.graph.symbols import ModuleTable
from pruner.model import Fact, Snapshot
from pruner.pipeline.ahead import Ahead
from pruner.pipeline.watch import Watch, watches
from pruner.scan.stores import FileStores, find

if TYPE_CHECKING:
    from pruner.pipeline.load import Reading

_COMPUTED = (b"setattr", b"delattr", b"__dict__", b"vars(", b"globals(", b"patch.object")
_QUOTED = re.compile(rb"[\"\'](\w+)[\"\']")
_SETATTR_COMPUTED = re.compile(rb"setattr\(\s*[^,()]*,\s*[^\"\'\s]")
_ENVIRONMENT = re.compile(
    rb"environ\s*(?:\[[^\]]*\]\s*[|+]?=(?!=)|\.\s*(?:setdefault|update|pop|clear|popitem|__\w+__)\b|\|=)"
    rb"|putenv|unsetenv|patch\.dict|del\s+[\w.]*environ"
)
_MARKS = (b"environ", b"putenv", b"unsetenv", b"patch.dict")
_TARGETS = (
    rb"(?:[^\n=(\\]|\\\r?\n)*(?<![!<>=])=(?!=)",  # x.a = 1, x.a, b = f(), (x.a, b) = f(), x.a: int = 1, x.a[0] = 1
    rb"\s*,[\w\s.,*()\[\]]*[)\]]\s*=(?!=)",  # a target list over several lines
    rb"\s*:[^\n]*(?:=|[(\[,]\s*(?:\#[^\n]*)?\n)",  # an annotation with a call in it, or over several lines
)
_BOUND = (
    rb"\bfor\s(?:(?!\bin\b)[\w\s.,*()\[\]])*?\.(?:%s)\b"  # for x.a in, for b, x.a in
    rb"|\b(?:as|del)\s[\w., \t(\[]*(?:[(,]\s*[\w.,\s]*)?\.(?:%s)\b"  # with f() as x.a, del x.a, y.a
)
_KEYED = (
    rb"[\"\'](?:%s)[\"\']\s*(?::|\](?:\s*(?:[|+]?=(?!=)|[,)\]:]|in\b|$)))"  # {"K": 1}, x["K"] = 1, x["K"], y = z
    rb"|\b(?:%s)\s*(?:=(?!=)|\.\s*(?:set|override|clear|unset)\()"  # f(K=1), envs.K.set(1)
    rb"|(?:setdefault|pop|__\w+__|putenv|unsetenv)\(\s*[\"\'](?:%s)[\"\']"
)


class Looks:
    """What to look for, made once from everything that is watched."""

    def __init__(self, watched: Sequence[Watch]) -> None:
        self.keys = {w.name.encode() for w in watched if w.kind in ("environment", "item")}
        self.names = {w.name.encode() for w in watched if w.kind not in ("environment", "item")}
        self.words = {w.name.encode() for w in watched if w.kind == "attribute" and w.classes}
        self.tables = {w.owner[-1].encode() for w in watched if w.kind == "item" and w.owner}
        self.homes = {w.module for w in watched if w.kind in ("variable", "function")}
        # A class's own file says what its constructor takes and which names are properties, store or no store.
        self.own = {w.module for w in watched if w.kind == "variable" or (w.kind == "attribute" and w.classes)}
        self.attributes = _any(rb"\.(%s)\b", self.names)
        self.stored = _any(rb"\.(?:%s)\b(?:" + b"|".join(_TARGETS) + rb")", self.names)
        self.bound = _any(_BOUND, self.names)
        self.keyed = _any(_KEYED, self.keys)

    def at(self, module: str, data: bytes) -> bool:
        """May this module, of this text, store into one of the subjects?"""
        if module in self.own or (module in self.homes and b"global" in data):
            return True
        if any(table in data for table in self.tables) or self._names(data):
            return True
        if self.keyed is None:
            return False
        if any(mark in data for mark in _MARKS) and _ENVIRONMENT.search(data):
            return True
        return any(key in data for key in self.keys) and self.keyed.search(data) is not None

    def named(self, data: bytes) -> set[str]:
        """The watched keys that a text names in any way."""
        return {key.decode() for key in self.keys if key in data}

    def _names(self, data: bytes) -> bool:
        if self.attributes is not None and self.attributes.search(data):
            assert self.stored is not None and self.bound is not None
            if self.stored.search(data) or self.bound.search(data):
                return True
        if any(mark in data for mark in _COMPUTED):
            if self.words or not self.names.isdisjoint(_QUOTED.findall(data)):
                return True
            if _SETATTR_COMPUTED.search(data):
                return True
        return False


def _any(pattern: bytes, names: Iterable[bytes]) -> re.Pattern[bytes] | None:
    """The pattern with its ``%s`` as one of the names; None when there is none."""
    known = b"|".join(re.escape(name) for name in sorted(names, key=lambda n: (-len(n), n)))
    return re.compile(pattern.replace(b"%s", known), re.MULTILINE) if known else None


_BATCH = 24  # files that are looked at in one go, ahead of time
_ANY = frozenset("*")  # the classes of an owner are known only when its module is lowered


class StoresAhead:
    """The stores of files that look as if they had some, found while other files are still being marked."""

    def __init__(self, snapshot: Snapshot, facts: Iterable[Fact], table: ModuleTable, ahead: Ahead) -> None:
        own = [watch for fact in facts if not fact.valid_from for watch in watches(fact.subject, table, {})]
        self.looks = Looks([replace(w, classes=_ANY) if w.kind == "attribute" and not w.outside else w for w in own])
        self._modules = {path: module for module, (path, _) in table.paths.items()}
        self._root, self._ahead = snapshot.root, ahead
        self._waiting: list[tuple[str, str]] = []
        self._batches: dict[str, int] = {}
        self._sent = 0
        self._found: dict[str, FileStores] = {}

    def loaded(self, path: str, early: Reading | None = None) -> None:
        """This file is part of what is being marked; ``early``: what is known of it already."""
        if path in self._batches:
            return
        if early is not None and early.looked:
            if early.stores is not None:
                self._found[path] = early.stores
            return
        self._batches[path] = self._sent
        self._waiting.append((self._modules[path], path))
        if len(self._waiting) >= _BATCH:
            self._ahead.send(self._sent, _found, self._root, self._waiting, self.looks)
            self._waiting, self._sent = [], self._sent + 1

    def find(self, path: str, data: bytes) -> FileStores:
        """All stores of a file. Raises SyntaxError and ValueError as ``ast.parse`` does."""
        batch = self._batches.get(path)
        if batch is not None:
            self._found |= self._ahead.result(batch) or {}
        return self._found.get(path) or find(data)


def _found(root: Path, files: list[tuple[str, str]], looks: Looks) -> dict[str, FileStores]:
    """The stores of those of the files that look as if they had some; not of what cannot be read."""
    found = {}
    for module, path in files:
        try:
            data = (root / path).read_bytes()
            if looks.at(module, data):
                found[path] = find(data)
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # whoever asks for it meets the fault
    return found
