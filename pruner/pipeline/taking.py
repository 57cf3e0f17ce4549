"""Which classes take an attribute when an object of them is made, and which are above and below one another.

A class with an ``__init__`` of its own takes what that stores, and each store is looked at by itself. A dataclass, a
named tuple and the like take every annotated name of their body and of their bases, by keyword or by position.

Blind to: two classes of one name, which count as one; decorators that add an ``__init__`` to a class without
annotated names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pruner.model.ir import Stmt
from pruner.model.policy import Const
from pruner.scan.summary import Summary

_PLAIN = frozenset({"object", "ABC", "Generic", "Protocol", "Enum", "IntEnum", "StrEnum", "Exception", "Module"})
_MAKING = frozenset({"__init__", "__post_init__", "__new__"})
_TUPLES = frozenset({"NamedTuple", "namedtuple"})


class Classes:
    """The classes at the top of all modules that were read, by name."""

    def __init__(self, summaries: Mapping[str, Summary | None]) -> None:
        self.statements: dict[str, list[Stmt]] = {}
        self.functions: set[str] = set()  # names of functions and methods
        self.bases: dict[str, set[str]] = {}
        self._fields: dict[int, tuple[Stmt, list[str]]] = {}
        self._paths: dict[int, str] = {}
        for summary in summaries.values():
            for name, stores in summary.stores.items() if summary is not None else ():
                for store in stores:
                    if store.kind == "class":
                        self._paths[id(store.stmt)] = summary.path if summary is not None else ""
                        self._class(store.stmt)
                    elif store.kind == "def":
                        self.functions.add(name)

    def _class(self, stmt: Stmt) -> None:
        self.statements.setdefault(stmt[3], []).append(stmt)
        self.bases.setdefault(stmt[3], set()).update(last_name(b) for b in stmt[5])
        for part in stmt[7]:
            if part[0] == "def":
                self.functions.add(part[3])
            elif part[0] == "class":
                self._class(part)

    def path(self, stmt: Stmt) -> str:
        """The file of a class at the top of a module; "" for others."""
        return self._paths.get(id(stmt), "")

    def literals(self, names: frozenset[str], attribute: str) -> Iterator[tuple[str, int, Const]]:
        """(path, line, value) of literals that the bodies of the classes give the attribute last."""
        for stmt in [row for name in sorted(names) for row in self.statements.get(name, ())]:
            found = [part for part in stmt[7] if part[0] == "=" and part[5] in "=:" and _names(part) == [attribute]]
            if found and found[-1][4][0] == "c" and id(stmt) in self._paths:
                yield self._paths[id(stmt)], found[-1][1] >> 16, found[-1][4][1]

    def family(self, names: frozenset[str]) -> set[str]:
        """The classes of these names with everything above and below them, by name."""
        found = self.below(names)
        return found | self._above(names)

    def below(self, names: frozenset[str]) -> set[str]:
        """The classes of these names and what derives from them."""
        found = set(names)
        while found:
            below = {c for c, bases in self.bases.items() if bases & found}
            if below <= found:
                break
            found |= below
        return found

    def mixed(self, names: frozenset[str]) -> set[str]:
        """Classes in whose methods ``self`` may be one of these: those above and below, and above those below."""
        found = self.below(names)
        return found | self._above(found)

    def _above(self, names: frozenset[str] | set[str]) -> set[str]:
        above, work = set(names), list(names)
        while work:
            for base in self.bases.get(work.pop(), ()):
                if base not in above:
                    above.add(base)
                    work.append(base)
        return above

    def takers(self, names: frozenset[str], attribute: str) -> set[str]:
        """Those of the classes and of what derives from them to which a call can give the attribute."""
        return {name for name in self.below(names) if self._takes(name, attribute)}

    def _takes(self, name: str, attribute: str) -> bool:
        return any(
            not any(part[0] == "def" and part[3] == "__init__" for part in stmt[7])
            and ((self._made(stmt, set()) and self._annotated(name, attribute)) or self._unclear(stmt))
            for stmt in self.statements.get(name, ())
        )

    def _made(self, stmt: Stmt, seen: set[str]) -> bool:
        """Is its constructor one that something makes from the annotated names?"""
        if stmt[4] or stmt[6]:  # a decorator; a keyword, as of a metaclass
            return True
        for base in stmt[5]:
            name = last_name(base)
            known = self.statements.get(name, ())
            if not known and name not in _PLAIN:
                return True
            for row in known:
                own = any(part[0] == "def" and part[3] == "__init__" for part in row[7])
                if name not in seen and not own and self._made(row, seen | {name}):
                    return True
        return False

    def _unclear(self, stmt: Stmt) -> bool:
        """A base that a call makes: ``class Args(namedtuple("Args", "a flag"))``."""
        return any(not last_name(base) or last_name(base) == "namedtuple" for base in stmt[5])

    def replaced(self, names: frozenset[str]) -> bool:
        """May a function make another object of such a class from one, as ``dataclasses.replace`` does?"""
        return any(
            stmt[4] or self._made(stmt, set()) for name in self.below(names) for stmt in self.statements.get(name, ())
        )

    def outside(self, names: frozenset[str], tuples: bool) -> bool:
        """Has one of them a base that makes copies by itself: a named tuple, or a model of another package?"""
        found = {last_name(b) for name in self.mixed(names) for stmt in self.statements.get(name, ()) for b in stmt[5]}
        return bool(found & (_TUPLES | {""})) if tuples else bool(found - self.statements.keys() - _PLAIN - _TUPLES)

    def _annotated(self, name: str, attribute: str) -> bool:
        rows = [stmt for above in self._above({name}) for stmt in self.statements.get(above, ())]
        return any(attribute in self._of(stmt) for stmt in rows) or any(self._unclear(stmt) for stmt in rows)

    def position(self, name: str, attribute: str) -> tuple[int, bool]:
        """From which positional argument of a constructor on the attribute may be given; is it exactly that one?"""
        if self.statements.get(name) and all(_by_keyword(stmt) for stmt in self.statements[name]):
            return 1 << 16, False
        rows = [stmt for above in self._above({name}) for stmt in self.statements.get(above, ())]
        found = [self._of(stmt).index(attribute) for stmt in rows if attribute in self._of(stmt)]
        own = self.statements.get(name, [])
        exact = len(own) == len(found) == 1 and attribute in self._of(own[0]) and not _doubtful(own[0])
        exact = exact and all(last_name(base) in _PLAIN | _TUPLES for stmt in own for base in stmt[5])
        return (min(found, default=0) if not any(self._unclear(stmt) for stmt in rows) else 0), exact

    def _of(self, stmt: Stmt) -> list[str]:
        known = self._fields.get(id(stmt))
        if known is None:
            known = self._fields[id(stmt)] = (stmt, fields(stmt))
        return known[1]

    def past(self, names: frozenset[str]) -> bool:
        """Is there a class below these that is made without what they do when they are made?"""
        for name in self.below(names) - names:
            for stmt in self.statements.get(name, ()):
                for part in stmt[7]:
                    if part[0] == "def" and part[3] in _MAKING and "'super'" not in repr(part[6][2]):
                        return True
        return False

    def has(self, names: frozenset[str], member: str) -> bool:
        """Does one of the classes, or one above or below, define this member in the tree?"""
        rows = [stmt for name in self.mixed(names) for stmt in self.statements.get(name, ())]
        return any(member in stmt[8] for stmt in rows)


def fields(stmt: Stmt) -> list[str]:
    """The annotated names of a class in order, but for those that no positional argument is given to."""
    return [part[3][0][1] for part in _annotations(stmt) if not _apart(part)]


def _names(part: Stmt) -> list[str]:
    return [target[1] for target in part[3] if target[0] != "s"]


def _annotations(stmt: Stmt) -> Iterator[Stmt]:
    for part in stmt[7]:
        if part[0] == "=" and part[5] in (":", "?") and len(part[3]) == 1 and part[3][0][0] != "s":
            yield part


def _apart(part: Stmt) -> bool:
    return "ClassVar'" in repr(part[6] if len(part) > 6 else part[4])


def _by_keyword(stmt: Stmt) -> bool:
    """``@dataclass(kw_only=True)`` without bases: nothing is given by position."""
    return not stmt[5] and any(d[0] == "k" and ("kw_only", ("c", True)) in d[3] for d in stmt[4])


def _doubtful(stmt: Stmt) -> bool:
    """Are there names whose place is not what the order of the text says: ``KW_ONLY``, ``field(init=False)``?"""
    return bool(stmt[6]) or any("KW_ONLY" in repr(part[4:]) or "kw_only" in repr(part[4]) or "'init'" in repr(part[4]) for part in _annotations(stmt)) or "kw_only" in repr(stmt[4])  # fmt: skip


def last_name(base: Any) -> str:
    """``Base`` of ``pkg.Base``, of ``Base[T]`` too; "" for what is no chain."""
    if isinstance(base, tuple) and len(base) == 3 and base[0] in ("n", "v", "b"):
        steps = [step[1:] for step in base[2] if step[0] == "."]
        return str(steps[-1] if steps else base[1])
    return ""
