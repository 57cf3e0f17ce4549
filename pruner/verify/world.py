"""The upstream program as the verifier's folder sees it: who defines a name, what a module binds.

Facts hold for bindings, so every question starts by finding the defining symbol: through
imports, re-exports, star imports and module ``__getattr__``.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from dataclasses import dataclass, field

from pruner.verify.gifts import Giving
from pruner.verify.names import Binding, Import, Names, module_names
from pruner.verify.ruled import Ruled
from pruner.verify.rules import Stated
from pruner.verify.tree import Tree

# ("module", name, "") in the tree | ("outside", dotted, "") | ("symbol", module, name)
Symbol = tuple[str, str, str]
BUILTINS = frozenset(dir(builtins))


@dataclass(slots=True)
class Seen:
    """What the kept code does to modules and enums; gathered from the output before folding."""

    stores: set[tuple[str, str]] = field(default_factory=set)  # (module, attribute) stored from outside it
    vague_stores: set[str] = field(default_factory=set)  # modules with a setattr of a built name
    put: set[str] = field(default_factory=set)  # attributes that are stored into objects that nobody knows
    handed: set[str] = field(default_factory=set)  # modules that may be such an object
    rebound: dict[str, set[str]] = field(default_factory=dict)  # module -> names under ``global`` and stored
    produced: set[str] = field(default_factory=set)  # "module:Class.MEMBER" read outside a comparison
    loose: set[str] = field(default_factory=set)  # "module:Class" used as a value: any member may come out
    attributes: dict[str, list[tuple[str, str, object]]] = field(default_factory=dict)  # stored -> class, module, value
    definers: dict[str, set[str]] = field(default_factory=dict)  # stated attribute -> "module:Class" that has it
    vague_attributes: set[str] = field(default_factory=set)  # classes (or "*") with setattr of a built name
    giving: Giving = field(default_factory=Giving)


class World:
    """Name resolution over the upstream tree, with folding of import guards by the evaluator."""

    def __init__(self, tree: Tree, stated: Stated, seen: Seen | None = None, like: World | None = None) -> None:
        """``like``: a world of the same tree, which may know what modules bind. That depends on their text alone."""
        self.tree = tree
        self.stated = stated
        self.ruled = Ruled(stated)
        self.seen = seen or Seen()
        self._names: dict[str, Names | None] = {} if like is None else like._names
        self._resolved: dict[tuple[str, str], Symbol | None] = {}
        self._busy: set[tuple[str, str]] = set()
        self._exported: dict[str, set[str]] = {}
        self.alive: Callable[[str, Binding], bool] = lambda module, binding: True
        self.runs: Callable[[str, Binding], bool] = lambda module, binding: not binding.guards

    def names(self, module: str) -> Names | None:
        """What a module binds; None for a namespace package, an unreadable or an outside module."""
        if module not in self._names:
            parsed = self.tree.parse_module(module)
            self._names[module] = (
                module_names(parsed, module, self.tree.is_package(module), self.tree.read(self.tree.modules[module]))
                if parsed is not None
                else None
            )
        return self._names[module]

    def known(self, module: str) -> Names | None:
        """What is known by now of what a module binds."""
        return self._names.get(module)

    def take(self, module: str, names: Names) -> None:
        """Remember what a module binds, of which somebody read a copy of the file."""
        self._names.setdefault(module, names)

    def live(self, module: str, name: str) -> list[Binding]:
        """The binding places of a module-level name that the facts leave."""
        names = self.names(module)
        if names is None:
            return []
        return [row for row in names.bindings.get(name, ()) if row.kind != "declare" and self.alive(module, row)]

    def resolve(self, module: str, name: str) -> Symbol | None:
        """Who defines ``name`` as seen in ``module``: follows imports to the definition."""
        key = (module, name)
        if key in self._resolved:
            return self._resolved[key]
        if key in self._busy:  # an import cycle: a name that only imports itself is a module of the package, or nothing
            inner = f"{module}.{name}"  # `from . import sub` in a package
            return ("module", inner, "") if self.tree.has_module(inner) else None
        self._busy.add(key)
        try:
            symbol = self._resolve(module, name)
        finally:
            self._busy.discard(key)
        self._resolved[key] = symbol
        return symbol

    def _resolve(self, module: str, name: str) -> Symbol | None:
        names = self.names(module)
        if names is None:
            inner = f"{module}.{name}"
            return ("module", inner, "") if self.tree.has_module(inner) else None
        rows = self.live(module, name)
        stars = self.bringers(module, name)
        brought = {symbol for _, symbol, _ in stars}
        if stars and stars[-1][2]:
            return brought.pop() if len(brought) == 1 else None
        if rows:
            if brought - {("symbol", module, name)}:
                return None  # FLAG = False / try: from .fast import * / except ImportError: pass
            if all(row.kind == "import" for row in rows):
                found = {self.imported(row.target, row.symbol) for row in rows}
                if len(found) == 1:
                    return found.pop()
            return ("symbol", module, name)
        if stars:
            return brought.pop() if len(brought) == 1 else None
        if self.tree.has_module(f"{module}.{name}"):
            return ("module", f"{module}.{name}", "")
        if "__getattr__" in names.bindings:
            return ("symbol", module, name)
        return ("outside", name, "") if name in BUILTINS else None

    def bringers(self, module: str, name: str) -> list[tuple[Import, Symbol | None, bool]]:
        """Star imports that may be what a name of a module is, the last first: the import, what it brings, is it sure to run?

        Those below the last statement that binds the name, down to the first that runs for sure. ``from .a import *`` and
        then ``from .b import *``: the second counts; ``try: from .a import *``: what stands above counts as well.
        """
        names = self.names(module)
        found: list[tuple[Import, Symbol | None, bool]] = []
        if names is None or not names.stars:
            return found
        line = max((row.line for row in self.live(module, name)), default=0)
        for row in reversed(names.imports):
            place = Binding("import", row.line, row.guards)
            if row.symbol != "*" or row.line < line or not self.alive(module, place):
                continue
            if not self.tree.has_module(row.target) or name not in self.exported(row.target):
                continue
            symbol, source = self.resolve(row.target, name), self.names(row.target)
            if symbol is None and source is not None and not source.stars and not self.live(row.target, name):
                continue  # bound there in a dead branch alone
            found.append((row, symbol, row.steady and self.runs(module, place)))
            if found[-1][2]:
                break
        return found

    def lookup(self, module: str, name: str) -> Symbol | None:
        """What a bare ``name`` means in a module: as :meth:`resolve`, but ``__getattr__`` serves outsiders only."""
        found = self.resolve(module, name)
        names = self.names(module)
        if found == ("symbol", module, name) and names is not None and name not in names.bindings:
            found = None
        return found or (("outside", name, "") if name in BUILTINS else None)

    def imported(self, target: str, symbol: str) -> Symbol | None:
        """What ``from target import symbol`` (or ``import target``) gives."""
        if not symbol:
            return ("module" if self.tree.has_module(target) else "outside", target, "")
        if not self.tree.has_module(target):
            return ("outside", f"{target}.{symbol}", "")
        found = self.resolve(target, symbol)
        if found is not None and found[0] == "outside" and found[1] == symbol:
            return None  # a builtin is not an attribute of the module
        return found

    def exported(self, module: str) -> set[str]:
        """The names that ``from module import *`` brings."""
        names = self.names(module)
        if names is None:
            return set()
        if module in self._exported:
            return self._exported[module]
        listed = literal_all(names)
        if listed is not None:
            self._exported[module] = listed
            return listed
        if (module, "*") in self._busy:
            return set()
        self._busy.add((module, "*"))
        try:
            found = {name for name in names.bindings if not name.startswith("_")}
            for star in names.stars:
                if self.tree.has_module(star):
                    found |= {name for name in self.exported(star) if not name.startswith("_")}
        finally:
            self._busy.discard((module, "*"))
        if not any(name == "*" for _, name in self._busy):  # in a circle of stars the inner answers are parts
            self._exported[module] = found
        return found

    def definition(self, symbol: Symbol | None) -> ast.AST | None:
        """The one def or class statement behind a symbol, or None."""
        if symbol is None or symbol[0] != "symbol":
            return None
        rows = self.live(symbol[1], symbol[2])
        nodes = [row.node for row in rows if row.kind in ("def", "class")]
        return nodes[0] if len(rows) == 1 and nodes else None

    def imports(self, module: str) -> list[Import]:
        """All import rows of a module."""
        names = self.names(module)
        return names.imports if names else []


def literal_all(names: Names) -> set[str] | None:
    """The value of ``__all__`` when it is a literal list or tuple (with ``+=`` of literals), else None."""
    rows = names.bindings.get("__all__")
    if not rows:
        return None
    found: set[str] = set()
    for row in rows:
        value = row.value
        if value is None and isinstance(row.node, ast.AugAssign):
            value = row.node.value
        if not isinstance(value, ast.List | ast.Tuple):
            return None
        for item in value.elts:
            if not (isinstance(item, ast.Constant) and isinstance(item.value, str)):
                return None
            found.add(item.value)
    return found
