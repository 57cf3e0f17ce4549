"""Which of a class's own stores a guard follows: it asks the attribute when a method returns, so before that only.

``__init__`` stores, calls ``self.resolve()``, and the guard stands in either of them: it sees what was stored. A method that is
called when the object is in use (``def set_device(self, d): self.device = d``) is followed by no guard, nor is anything
where a class below has a ``resolve`` of its own that does not call the one above.

A method is followed when it is guarded itself, makes the object and is guarded, or leads to the guarded one, or when only such
methods name it.

Blind to names of methods that are put together, and to exceptions that end the guarded method and are caught.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pruner.model.ir import Stmt
from pruner.pipeline.taking import Classes

_MAKING = frozenset({"__init__", "__post_init__", "__new__"})
Method = tuple[str, int, int, Stmt]  # path, first and last line, statement


class Followed:
    """Answers for the classes of one tree. ``guards``: subject → the methods whose end asks it, or ``^`` and whose entry does."""

    def __init__(
        self,
        classes: Classes,
        guards: Mapping[str, Iterable[str]],
        texts: Sequence[tuple[str, bytes]],
        removed: Callable[[str, int], bool],
    ) -> None:
        self.classes = classes
        self.guards = guards
        self.texts = texts  # of the kept files
        self.removed = removed  # does an edit take this offset of a file?
        self._known: dict[frozenset[str], dict[str, list[Method]]] = {}
        self._asked: dict[tuple[frozenset[str], frozenset[str]], frozenset[str] | None] = {}
        self._elsewhere: dict[str, list[tuple[str, int]]] = {}

    def follows(self, subject: str, owners: frozenset[str], path: str, line: int) -> bool:
        """Does a guard ask the subject after the store at this place? Yes where no guard stands in a method of the class."""
        methods = self._methods(owners)
        rows = [(place[:1] == "^", place.rpartition(".")[2]) for place in self.guards.get(subject, ())]
        asking = {name for entry, name in rows if not entry} & methods.keys()
        if not asking:  # one at an entry asks before what the method stores
            return not {name for entry, name in rows if entry} & methods.keys()
        first = self._first(owners, frozenset(asking), methods)
        here = [name for name, rows in methods.items() for row in rows if row[0] == path and row[1] <= line <= row[2]]
        return first is not None and (not here or any(self._safe(name, first, methods, {}) for name in here))

    def _methods(self, owners: frozenset[str]) -> dict[str, list[Method]]:
        found = self._known.get(owners)
        if found is None:
            found = self._known[owners] = {}
            for name in sorted(self.classes.mixed(owners)):
                for stmt in self.classes.statements.get(name, ()):
                    path = self.classes.path(stmt)
                    for part in stmt[7]:
                        if part[0] == "def":
                            found.setdefault(part[3], []).append((path, part[1] >> 16, part[2], part))
        return found

    def _first(
        self, owners: frozenset[str], asking: frozenset[str], methods: dict[str, list[Method]]
    ) -> frozenset[str] | None:
        """The methods after whose end, or in whose course, the guard asks; None where a class below passes them over."""
        key = (owners, asking)
        if key not in self._asked:
            making = _MAKING & methods.keys()
            first = set(asking)
            if first & _MAKING or self._reach(making, methods) & first:
                first |= making
            # What __setattr__ stores is assigned somewhere, and that is looked at by itself.
            first |= methods.keys() & {"__setattr__"}
            self._asked[key] = None if self._passed_over(owners, asking) else frozenset(first)
        return self._asked[key]

    def _safe(self, name: str, first: frozenset[str], methods: dict[str, list[Method]], seen: dict[str, bool]) -> bool:
        """Is the method one of the first, or named by such methods alone?"""
        if name in first:
            return True
        if name in seen:
            return seen[name]
        seen[name] = True  # two that name each other
        places = self._places(name)
        for path, line in places:
            users = [n for n, rows in methods.items() for r in rows if r[0] == path and r[1] <= line <= r[2]]
            if not any(user != name and self._safe(user, first, methods, seen) for user in users):
                if name not in users:
                    seen[name] = False
                    break
        seen[name] = seen[name] and bool(places)
        return seen[name]

    def _passed_over(self, owners: frozenset[str], asking: frozenset[str]) -> bool:
        """Has a class below a method of the name that does not call the one above?"""
        for name in self.classes.below(owners) - owners:
            for stmt in self.classes.statements.get(name, ()):
                for part in stmt[7]:
                    if part[0] == "def" and part[3] in asking and f".{part[3]}" not in set(_steps(part[6][2])):
                        return True
        return False

    def _reach(self, start: Iterable[str], methods: dict[str, list[Method]]) -> set[str]:
        """The methods that these name on ``self``, and so on."""
        found, work = set(start), list(start)
        while work:
            for _, _, _, stmt in methods[work.pop()]:
                own = stmt[6][0][0] if stmt[6][0] else ""
                for name in _named(stmt[6][2], own):
                    if name in methods and name not in found:
                        found.add(name)
                        work.append(name)
        return found

    def _places(self, name: str) -> list[tuple[str, int]]:
        """Where kept code says ``.name``."""
        found = self._elsewhere.get(name)
        if found is None:
            found = self._elsewhere[name] = []
            word = b"." + name.encode()
            for path, data in self.texts:
                at = data.find(word)
                while at >= 0:
                    behind = data[at + len(word) : at + len(word) + 1]
                    if not (behind.isalnum() or behind == b"_") and not self.removed(path, at):
                        found.append((path, data.count(b"\n", 0, at) + 1))
                    at = data.find(word, at + 1)
        return found


def _named(part: Any, own: str) -> Iterator[str]:
    """``self.x`` and ``super().x``."""
    stack = [part]
    while stack:
        e = stack.pop()
        if not isinstance(e, tuple) or not e:
            continue
        if e[0] in ("v", "n") and len(e) == 3 and isinstance(e[2], tuple) and e[2]:
            if e[1] == own and e[2][0][0] == ".":
                yield e[2][0][1:]
            elif e[1] == "super" and len(e[2]) > 1 and e[2][1][0] == ".":
                yield e[2][1][1:]
        stack += e


def _steps(part: Any) -> Iterator[str]:
    stack = [part]
    while stack:
        e = stack.pop()
        if isinstance(e, tuple):
            stack += e
        elif isinstance(e, str):
            yield e
