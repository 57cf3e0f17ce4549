"""What live code does with things that rules drop, where the name alone does not tell: it would fail, or do something else.

* A method, or a value of a class, that a rule drops and that live code asks of an object: ``x.h()``. Nobody knows the
  class of ``x``; the name counts where no other live class has it, or where one above or below has it, whose
  method would answer in its place. ``self.h`` in the class itself is always meant.
* A stand-in that is called, looked into or taken apart while modules load, ``SIZE = removed() + 1``: the tree could not
  be imported. So it is with a stand-in for what was a constant or a display, and is computed with then: ``X = LIMIT + 1``,
  ``if LIMIT > 2:``, ``range(LIMIT)``. A class or function in the same places is a type or is handed on: ``Kind | None``.

Blind to names that are put together, to methods that outside code asks for, to objects of other packages with a
member of the name, to the last statement of ``try`` suites whose handlers catch an ImportError, and to stand-ins that are asked
of a module object (``package.removed()``).
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pruner.fold.numbered import is_enum
from pruner.fold.residual import Unit
from pruner.model.ir import EMPTY, Expr, Stmt, statements

if TYPE_CHECKING:
    from pruner.graph.live import Marker
    from pruner.graph.module import Item, ModuleState

Use = tuple[str, int, str, str]  # node, position, dropped name, rule
# Module, node, its statements, the chains that remain in them, and for a module's own body its walk.
_Row = tuple[str, str, tuple[Stmt, ...], list[Expr], "Unit | None"]
_PLAIN = (str, bytes, list, dict, set, tuple, int, float, object, BaseException, io.TextIOWrapper, threading.Thread)
_CATCHING = frozenset({"ImportError", "Exception", "BaseException"})
_ASKING = frozenset(
    "getattr hasattr setattr len list tuple set sorted iter reversed max min sum int float range dict".split()
)
_EVERYWHERE = frozenset(name for kind in _PLAIN for name in dir(kind))  # said of files and texts as well


class Gone:
    """Collects while marking goes on, answers when it has ended."""

    def __init__(self, marker: Marker) -> None:
        self.marker = marker
        self._own: dict[Use, None] = {}
        self._rows: list[_Row] = []
        self._visible: dict[str, dict[str, tuple[tuple[str, str], ...]]] = {}  # see _spread
        self._early: list[tuple[str, str, int, str]] = []  # module, node, position, name that is used at import
        self._computed: list[tuple[str, str, int, str]] = []  # and of those that are no fault unless it was a constant

    # -- collecting ---------------------------------------------------------------------------

    def item(self, module: str, node: str, item: Item, unit: Unit) -> None:
        """A live item of a module's first level."""
        self._rows.append((module, node, (item.stmt,), unit.remains.chains, None))

    def method(self, module: str, node: str, owner: str, stmt: Stmt, unit: Unit) -> None:
        """A live method of a class."""
        rows = zip(unit.remains.chains, unit.lines, strict=True) if module in self.marker.drops.members else ()
        for chain, pos in rows:
            if chain[0] == "v" and chain[1] in ("self", "cls") and chain[2] and chain[2][0][0] == ".":
                name = f"{owner}.{chain[2][0][1:]}"
                rule = self.marker.drops.member(module, name)
                if rule:
                    self._own[node, pos, f"{module}.{name}", rule] = None
        self._rows.append((module, node, (stmt,), unit.remains.chains, None))

    def body(self, module: str, state: ModuleState) -> None:
        """A module's own body: what it calls for its own sake."""
        self._rows.append((module, module, tuple(state.calls), state.unit.remains.chains, state.unit))

    def _spread(self) -> None:
        """Names that are stand-ins, by module: where an import is replaced by one, and where that name is imported again."""
        visible, states = self._visible, self.marker.out.states
        for module, rows in self.marker.out.stand_ins.items():
            names = states[module].names
            for name, items in names.items():
                gone = [rows.get((i.stmt[1], i.index)) for i in items if i.kind == "import"]
                if gone and len(gone) == len(items) and all(gone):
                    visible.setdefault(module, {})[name] = tuple(row for row in gone if row is not None)
        table, changed = self.marker.table, bool(visible)
        while changed:  # `from pkg.configs import Removed`, where pkg/configs/__init__.py has a stand-in for it
            changed = False
            for module, state in states.items():
                for item in state.items if state.executed else ():
                    if not item.live or len(item.names) != 1 or item.stmt[0] not in ("from", "="):
                        continue
                    if item.stmt[0] == "=":  # `_TOKENS = TOKENS`
                        value = item.stmt[4]
                        known = visible.get(module, {}).get(value[1]) if value[0] == "n" and not value[2] else None
                    else:
                        source = table.absolute(state.summary, item.stmt[3], item.stmt[4])
                        known = visible.get(source, {}).get(item.stmt[5][item.index][0])
                    name = item.names[0]
                    if known and name not in visible.get(module, {}) and len(state.names.get(name, ())) == 1:
                        visible.setdefault(module, {})[name] = known
                        changed = True

    def _sort(self) -> None:
        """What is used at import of the modules that have stand-ins, few of all: only the end tells which."""
        self._spread()
        caught: dict[str, list[tuple[int, int]]] = {}
        for module, node, own, chains, body in self._rows:
            if module not in self._visible:
                continue
            if module not in caught:
                caught[module] = list(_caught(self.marker.out.states[module].summary.body))
            for stmt in own:
                if not any(first <= stmt[1] >> 16 <= last for first, last in caught[module]):
                    self._used(module, node, stmt, chains)
            if body is not None:
                self._used_by_body(module, body, caught[module])

    def _used_by_body(self, module: str, unit: Unit, caught: list[tuple[int, int]]) -> None:
        asked = set(_roots(tuple(unit.remains.calls)))
        for loop in statements(self.marker.out.states[module].summary.body):
            if loop[0] == "for" and _plain(loop[4]):
                asked.add(loop[4][1])
            if loop[0] == "for" and {t[1] for t in loop[3] if t[0] == "n"} & set(_used_in(loop[5], caught)):
                asked.update(_elements(loop[4]))  # `for kind in (Kept, Removed): register(kind.name, kind)`
        for chain, pos in zip(unit.remains.chains, unit.lines, strict=True):
            if chain[0] == "n" and not any(first <= pos >> 16 <= last for first, last in caught):
                used = chain[1] in asked or chain[2]
                (self._early if used else self._computed).append((module, module, pos, chain[1]))

    def _used(self, module: str, node: str, s: Stmt, chains: list[Expr]) -> None:
        later = self._later(module)
        if s[0] == "def":
            parts: tuple[Any, ...] = (s[4], () if later else s[5])
        elif s[0] == "class":
            parts = (s[4], s[6], tuple(inner for inner in s[7] if inner[0] != "def"))
        else:
            parts = (s[4],) if s[0] == "=" and later else s[3:]
        roots, operands = set(_roots(parts)), set(_operands(parts))
        if roots or operands:
            read = {c[1] for c in chains if c[0] == "n"}
            self._early += [(module, node, s[1], root) for root in sorted(roots & read)]
            self._computed += [(module, node, s[1], root) for root in sorted((operands - roots) & read)]

    def _later(self, module: str) -> bool:
        """Are annotations of the module not evaluated?"""
        summary = self.marker.out.states[module].summary
        return any(s[0] == "from" and s[3] == "__future__" and ("annotations", None) in s[5] for s in summary.body)

    # -- answers --------------------------------------------------------------------------------

    def uses(self) -> list[Use]:
        """Every use that was found, once."""
        self._sort()
        found = dict(self._own)
        for module, members in self.marker.drops.members.items():
            for name, rule in members.items():
                for use in self._member(module, name, rule):
                    found[use] = None
        for module, node, pos, root in self._early:
            for use in self._stand_in(module, node, pos, root):
                found[use] = None
        for module, node, pos, root in self._computed:
            if module in self._visible and self._data(module, root):
                for use in self._stand_in(module, node, pos, root):
                    found[use] = None
        return list(found)

    def _member(self, module: str, name: str, rule: str) -> Iterator[Use]:
        owner, _, member = name.partition(".")
        marker = self.marker
        state = marker.out.states.get(module)
        items = [i for i in state.names.get(owner, ()) if i.kind == "class" and i.live] if state is not None else []
        if not items or any(
            is_enum(i.stmt, lambda root, path: marker.world.canonical(module, root, path)) for i in items
        ):
            return
        body = items[0].stmt[7]
        if member not in items[0].stmt[8] or any(s[0] == "=" and s[5] == ":" and s[3][0][1] == member for s in body):
            return  # it is not there, or it is a field and stays
        special = member.startswith("__") and member.endswith("__")
        if not special and (member not in marker.names_used or member in _EVERYWHERE):
            return
        place = marker.named_by(member)
        if special:
            yield f"{module}:{owner}", items[0].stmt[1], f"{module}.{name}", rule
        elif self._meant(module, owner, member):
            yield place[0] or f"{module}:{owner}", place[1], f"{module}.{name}", rule

    def _meant(self, module: str, owner: str, member: str) -> bool:
        """Has no other live class the member, or one above or below it?"""
        own = f"{module}.{owner}"
        others = False
        for other, state in self.marker.out.states.items():
            for item in state.items:
                place = f"{other}.{item.names[0]}" if item.kind == "class" and item.live else own
                if place != own and member in item.stmt[8]:
                    others = True
                    if own in self._above(other, item.stmt) or place in self._above_of(module, owner):
                        return True
        return not others

    def _above_of(self, module: str, owner: str) -> set[str]:
        found: set[str] = set()
        for store in self.marker.world.stores(module, owner):
            if store.kind == "class":
                found |= self._above(module, store.stmt)
        return found

    def _above(self, module: str, stmt: Stmt, seen: frozenset[str] = frozenset()) -> set[str]:
        """The classes of the tree that a class derives from, as ``pkg.mod.Class``."""
        found: set[str] = set()
        for base in stmt[5]:
            name = self.marker.world.canonical(module, base[1], base[2]) if base[0] == "n" else ""
            split = self.marker.table.split(name)
            if split is None or not split[1] or name in seen:
                continue
            found.add(name)
            for store in self.marker.world.stores(split[0], split[1]):
                if store.kind == "class":
                    found |= self._above(split[0], store.stmt, seen | {name})
        return found

    def _data(self, module: str, root: str) -> bool:
        """Was it a constant or a display?"""
        symbol, rest = self.marker.world.follow(module, root, ())
        if symbol.kind != "binding" or rest:
            return False
        stores = self.marker.world.stores(symbol.module, symbol.name)
        data = (s.kind == "value" and s.stmt[0] == "=" and s.stmt[4][0] in ("c", "t", "d", "j") for s in stores)
        return bool(stores) and all(data)

    def _stand_in(self, module: str, node: str, pos: int, root: str) -> Iterator[Use]:
        for dropped in self._visible.get(module, {}).get(root, ()):
            yield node, pos, *dropped


def _caught(body: tuple[Stmt, ...]) -> Iterator[tuple[int, int]]:
    """Lines of a module's own statements in which what a stand-in raises, an ImportError, ends nothing.

    That is the last statement of a ``try`` suite whose handler catches it and goes on, or of ``suppress(ImportError)``: what
    fails before it takes the others with it. And handlers, which run only when something else went wrong.
    """
    for s in statements(body):
        if s[0] == "try" and s[4]:
            first = min(handler[3] >> 16 for handler in s[4])
            catching = [handler for handler in s[4] if handler[0] == EMPTY or _catches(handler[0])]
            if catching and not any(inner[0] == "raise" for inner in catching[0][2]):
                yield s[3][-1][1] >> 16, first - 1
            after = [part[0][1] >> 16 for part in (s[5], s[6]) if part]
            yield first, min(after) - 1 if after else s[2]
        elif s[0] == "with" and any(_suppresses(item) for item in s[3]):
            yield s[5][-1][1] >> 16, s[2]


def _catches(kind: Expr) -> bool:
    if kind[0] == "t":
        return any(_catches(inner) for inner in kind[2])
    return kind[0] in ("n", "b") and (kind[2][-1][1:] if kind[2] else kind[1]) in _CATCHING


def _suppresses(item: Expr) -> bool:
    """``contextlib.suppress(ImportError)``"""
    if item[0] != "k" or item[1][0] != "n":
        return False
    name = item[1][2][-1] if item[1][2] else f".{item[1][1]}"
    return bool(name == ".suppress") and any(_catches(argument) for argument in item[2])


def _used_in(body: tuple[Stmt, ...], caught: list[tuple[int, int]]) -> Iterator[str]:
    """What :func:`_roots` says of a suite, but for what stands in these lines."""
    for s in statements(body):
        if not any(first <= s[1] >> 16 <= last for first, last in caught):
            # Of one that holds others its head: the test, what is iterated, what is entered.
            holds = s[0] in ("if", "while", "for", "with", "try", "match", "def", "class")
            yield from _roots(
                (s[3], s[4]) if s[0] in ("for", "with") else s[3] if s[0] in ("if", "while") else () if holds else s[3:]
            )


def _elements(iterated: Expr) -> list[str]:
    """The global names that are elements of a display."""
    elements = iterated[2] if iterated[0] == "t" else ()
    return [element[1] for element in elements if element[0] == "n" and not element[2]]


def _roots(part: Any) -> Iterator[str]:
    """Global names that are called, read an attribute of, subscripted or looked into by a builtin, lambdas and functions excluded."""
    stack = [part]
    while stack:
        e: Expr = stack.pop()
        if not isinstance(e, tuple) or not e:
            continue
        if e[0] == "f" and e[2:] != ("c",):
            continue
        if e[0] == "o" and len(e) == 2 and len(e[1]) == 2 and e[1][1][:1] == ("f",) and e[1][1][2:] and _plain(e[1][0]):
            yield e[1][0][1]  # [n for n in removed]
        if e[0] == "o" and len(e) == 2 and any(p[:1] == ("f",) and p[2:] == ("c",) and _asks_a_local(p) for p in e[1]):
            for part in e[1]:  # {kind.name: kind for kind in (Kept, Removed)}
                yield from _elements(part)
        if e[0] == "def" and len(e) == 7:
            stack += [e[4], e[5]]
            continue
        if e[0] == "n" and len(e) == 3 and isinstance(e[2], tuple):
            if e[2]:
                yield e[1]
            continue
        if e[0] == "k" and len(e) == 4 and e[1][0] == "n":
            yield e[1][1]
            if e[1][1] in _ASKING and not e[1][2]:
                yield from (argument[1] for argument in e[2] if argument[0] == "n" and not argument[2])
        stack += e


def _plain(e: Expr) -> bool:
    """Is it the name of a global, and nothing more?"""
    return e[0] == "n" and len(e) == 3 and not e[2]


def _asks_a_local(part: Any) -> bool:
    """Does a part of code read an attribute of a local name, or call one?"""
    if not isinstance(part, tuple) or not part:
        return False
    if part[0] == "v" and len(part) == 3 and isinstance(part[2], tuple) and part[2]:
        return True
    return any(_asks_a_local(inner) for inner in part)


def _operands(part: Any) -> Iterator[str]:
    """Global names that an operator, a test, a text or a call is given, lambdas and functions excluded."""
    stack = [(part, False)]
    while stack:
        e, asked = stack.pop()
        if not isinstance(e, tuple) or not e:
            continue
        if (e[0] == "f" and e[2:] != ("c",)) or (e[0] == "def" and len(e) == 7):
            continue
        if e[0] == "n" and len(e) == 3 and isinstance(e[2], tuple):
            if asked:
                yield e[1]
            continue
        inside = e[0] in ("o", "=", "j", "k", "!", "&", "|", "?") or (asked and not isinstance(e[0], str))
        stack += [(inner, inside) for inner in e]
