"""Everything the later stages need of one file, independent of rules: cached by content digest.

Blind to: names made by ``exec``, new ones under a computed name (``globals()[name] = ...``, reported as a dynamic
site), and stores that C extensions make.
"""

from __future__ import annotations

import ast
import marshal
import warnings
from dataclasses import dataclass, field
from typing import Any

from pruner.model.ir import Block, Expr, Stmt
from pruner.scan.statements import StatementLowering
from pruner.scan.written import Chain, Place, Written, given, looks, read

FORMAT = 17  # part of every cache key: change it when the lowered form changes
Guards = tuple[tuple[Expr, bool, int], ...]  # test, the side that holds the place, position of the if


@dataclass(slots=True)
class Store:
    """One place that binds a module global. ``kind``: value, import, def, class, other."""

    kind: str
    guards: Guards
    stmt: Stmt
    index: int = 0


@dataclass(slots=True)
class Summary:
    """One file, lowered and indexed."""

    path: str
    module: str
    package: bool
    body: Block
    lines: int
    stores: dict[str, list[Store]] = field(default_factory=dict)
    rebinds: dict[str, list[Guards]] = field(default_factory=dict)
    part_stores: list[tuple[str, tuple[str, ...], Guards, int]] = field(default_factory=list)
    stars: list[tuple[Stmt, Guards]] = field(default_factory=list)
    loose_stars: set[int] = field(default_factory=set)  # positions of those that may not run, whatever their guards say
    _all_read: bool | None = None
    error: str = ""
    walrus: bool = False  # the file holds a ``:=`` somewhere
    mirrors: bool = False  # the file may store by ``setattr``, ``globals()`` and the like
    object_stores: dict[str, list[tuple[Place, Chain | None]]] = field(
        default_factory=dict
    )  # attributes of objects, as Written.names
    inner_imports: dict[str, list[tuple[Stmt, int]]] = field(default_factory=dict)  # in functions, by the local name
    _written: Written | None = None

    def written(self) -> Written:
        """What the file stores by ways that no assignment shows."""
        if self._written is None:
            self._written = read(self.body) if self.mirrors else Written()
        return self._written

    @property
    def plain_all(self) -> bool:
        """True when ``__all__`` is one literal that nothing else in the module touches."""
        stores = self.stores.get("__all__", [])
        if len(stores) != 1 or stores[0].stmt[0] != "=" or stores[0].stmt[5] != "=" or stores[0].stmt[4][0] != "t":
            return False
        if any(e[0] != "c" for e in stores[0].stmt[4][2]):
            return False  # ["one", *more]
        if self._all_read is None:
            self._all_read = _reads_all(self.body)
        return not self._all_read


def lower(data: bytes) -> bytes:
    """Lower a file to marshalled form. Raises SyntaxError, ValueError, RecursionError, KeyError."""
    return marshal.dumps(lowered_body(data))


def lowered_body(data: bytes, tree: ast.Module | None = None) -> Block:
    """The lowered statements of a file; ``tree``: what :func:`parsed` gave. Raises as :func:`lower` does."""
    return StatementLowering(data).block((tree or parsed(data)).body)


def parsed(data: bytes) -> ast.Module:
    """``ast.parse`` without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(data)


def build(path: str, module: str, package: bool, lowered: bytes, lines: int, written: Written | None = None) -> Summary:
    """Index a lowered file; ``written``: what :func:`written_in` gave where that was asked already."""
    mirrors = written is None and looks(lowered)  # asked for nothing else
    summary = Summary(path, module, package, marshal.loads(lowered), lines, mirrors=mirrors, _written=written)
    indexer = _Indexer(summary)
    indexer.block(summary.body, (), False)
    if b":=" in lowered:
        summary.walrus = True
        indexer.walrus(summary.body)
    return summary


def written_in(lowered: bytes, body: Block) -> Written:
    """What a lowered file stores by ways that no assignment shows."""
    return read(body) if looks(lowered) else Written()


def _reads_all(part: Any) -> bool:
    if not isinstance(part, tuple) or not part:
        return False
    if part[0] == "n" and len(part) == 3 and part[1] == "__all__":
        return True
    return any(_reads_all(p) for p in part if isinstance(p, tuple))


class _Indexer:
    def __init__(self, summary: Summary) -> None:
        self.out = summary
        self.around = ("", "")  # the innermost definition, the outermost one
        self.declared: set[str] = set()  # names that the function or class body declares global, so far
        self.loose = 0  # blocks around the statement that may not run to their end

    def _global(self, s: Stmt, guards: Guards, inside: bool) -> None:
        self.declared.update(s[3])

    def name(self, name: str, kind: str, guards: Guards, s: Stmt, inside: bool) -> None:
        """A name that a statement binds without a target: a global where the module or a declaration says so."""
        if not inside or name in self.declared:
            self.store(name, Store(kind, guards, s), inside)

    def store(self, name: str, store: Store, inside: bool) -> None:
        if inside:
            self.out.rebinds.setdefault(name, []).append(store.guards)
        else:
            self.out.stores.setdefault(name, []).append(store)

    def block(self, block: Block, guards: Guards, inside: bool) -> None:
        for s in block:
            getattr(self, "_" + s[0].replace("=", "assign"), self._other)(s, guards, inside)

    def loosely(self, block: Block, guards: Guards, inside: bool) -> None:
        """A block that may not run, or not to its end."""
        self.loose += 1
        self.block(block, guards, inside)
        self.loose -= 1

    def walrus(self, part: Any) -> None:
        """``:=`` at module level, or on a name that its function declares global."""
        stack = [part]
        while stack:
            item = stack.pop()
            if len(item) == 4 and item[0] == ":=" and item[3] == "n":
                self.out.rebinds.setdefault(item[1], []).append(())
            stack += [inner for inner in item if inner.__class__ is tuple]

    def _other(self, s: Stmt, guards: Guards, inside: bool) -> None:
        return

    def targets(self, targets: Any, s: Stmt, guards: Guards, inside: bool, kind: str) -> None:
        for target in targets:
            if target[0] == "n":
                self.store(target[1], Store(kind, guards, s), inside)
            elif target[0] == "s":
                e = target[1]
                if e[0] == "n" and e[2]:
                    self.out.part_stores.append((e[1], e[2], guards, s[1]))
                if e[0] in ("n", "v", "x") and e[2] and e[2][-1][0] == ".":
                    known = e[0] == "n" and all(step[0] == "." for step in e[2])  # a part store
                    if not known and (e[0] == "x" or e[1] not in ("self", "cls") or len(e[2]) > 1):
                        of = given(e[1]) if e[0] == "x" else (e[1], e[2][:-1])
                        self.out.object_stores.setdefault(e[2][-1][1:], []).append(((s[1], *self.around), of))
            elif not inside:
                self.store(target[1], Store(kind, guards, s), inside)

    def _assign(self, s: Stmt, guards: Guards, inside: bool) -> None:
        if s[5] == "?":  # an annotation without a value binds nothing
            return
        plain = s[5] in "=:" and len(s[3]) == 1
        several = s[5] == "=" and all(t[0] == "n" for t in s[3])  # a = b = value
        self.targets(s[3], s, guards, inside, "value" if plain or several else "other")

    def _e(self, s: Stmt, guards: Guards, inside: bool) -> None:
        e = s[3]
        if e[0] == "k" and e[1] == ("n", "setattr", ()) and len(e[2]) == 3 and e[2][0][0] == "n":
            name = e[2][1]
            step = f".{name[1]}" if name[0] == "c" else ".*"
            self.out.part_stores.append((e[2][0][1], (*e[2][0][2], step), guards, s[1]))

    def _def(self, s: Stmt, guards: Guards, inside: bool) -> None:
        self.name(s[3], "def", guards, s, inside)
        self.inner(s[3], s[6][2], guards)

    def _class(self, s: Stmt, guards: Guards, inside: bool) -> None:
        self.name(s[3], "class", guards, s, inside)
        self.inner(s[3], s[7], guards)

    def inner(self, name: str, body: Block, guards: Guards) -> None:
        """The body of a definition."""
        outer, self.declared = self.declared, set()
        around, self.around = self.around, (name, self.around[1] or name)
        self.block(body, guards, True)
        self.declared, self.around = outer, around

    def _if(self, s: Stmt, guards: Guards, inside: bool) -> None:
        self.block(s[4], (*guards, (s[3], True, s[1])), inside)
        self.block(s[5], (*guards, (s[3], False, s[1])), inside)

    def _while(self, s: Stmt, guards: Guards, inside: bool) -> None:
        self.loosely(s[4], (*guards, (s[3], True, s[1])), inside)
        self.loosely(s[5], guards, inside)

    def _for(self, s: Stmt, guards: Guards, inside: bool) -> None:
        self.targets(s[3], s, guards, inside, "other")
        self.loosely(s[5], guards, inside)
        self.loosely(s[6], guards, inside)

    def _with(self, s: Stmt, guards: Guards, inside: bool) -> None:
        self.targets(s[4], s, guards, inside, "other")
        self.loosely(s[5], guards, inside)  # with suppress(ImportError): from .fast import *

    def _try(self, s: Stmt, guards: Guards, inside: bool) -> None:
        self.loosely(s[3], guards, inside)
        for _, name, body, _pos in s[4]:
            if name:
                self.name(name, "other", guards, s, inside)
            self.loosely(body, guards, inside)
        self.loosely(s[5], guards, inside)
        self.block(s[6], guards, inside)

    def _match(self, s: Stmt, guards: Guards, inside: bool) -> None:
        for case in s[4]:
            for name in case[1]:
                self.name(name, "other", guards, s, inside)
            self.loosely(case[3], guards, inside)

    def _del(self, s: Stmt, guards: Guards, inside: bool) -> None:
        self.targets(s[3], s, guards, inside, "other")

    def _import(self, s: Stmt, guards: Guards, inside: bool) -> None:
        for index, (name, asname) in enumerate(s[3]):
            if s[-1][index] == "n":
                self.store(asname or name.split(".")[0], Store("import", guards, s, index), inside)
            else:
                self.out.inner_imports.setdefault(asname or name.split(".")[0], []).append((s, index))

    def _from(self, s: Stmt, guards: Guards, inside: bool) -> None:
        for index, (name, asname) in enumerate(s[5]):
            if name == "*":
                self.out.stars.append((s, guards))
                if self.loose:
                    self.out.loose_stars.add(s[1])
            elif s[-1][index] == "n":
                self.store(asname or name, Store("import", guards, s, index), inside)
            else:
                self.out.inner_imports.setdefault(asname or name, []).append((s, index))
