"""Members of classes that code lists: ``inspect.getmembers(C)``, ``dir(self)``, ``vars(cls)``, ``C.__dict__``.

Where a function lists what it is given, so are the classes that it decorates and those (or new instances of those)
that calls of it name. Blind to objects that come another way: out of a table, from a caller's caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pruner.graph.effects import derives
from pruner.model.ir import Expr, Stmt

if TYPE_CHECKING:
    from pruner.fold.reduce import Remains
    from pruner.graph.live import Marker
    from pruner.graph.module import Item
    from pruner.scan.summary import Summary

_OBJECTS = (
    "getmembers",
    "getmembers_static",
    "classify_class_attrs",
    "dir",
)  # vars(x) has no methods unless x is a class
_MAKERS = ("__new__", "__init__", "__prepare__")
_ABOVE = frozenset({".__mro__", ".__bases__", ".mro"})
LISTERS = frozenset((*_OBJECTS, "vars"))
LISTING_STEPS = frozenset((*(f".{name}" for name in _OBJECTS), ".__dict__"))


class Listing:
    """Classes all of whose methods live because code lists them."""

    def __init__(self, marker: Marker) -> None:
        self.marker = marker
        self.whole: set[tuple[str, str]] = set()
        self.functions: set[tuple[str, str]] = set()  # that list what they are given
        self._scanned: dict[str, int] = {}
        self.below: set[tuple[str, str]] = set()  # listed as type(self): classes that derive from them as well

    def take(self, module: str, node: str, remains: Remains) -> None:
        """What one definition lists."""
        owner = node.partition(":")[2]
        for tag, root, path in remains.chains:
            at = path.index(".__dict__") if ".__dict__" in path else len(path)
            if at < len(path) and not "".join(path[at + 1 :]).startswith("["):  # C.__dict__["x"] is a read of x
                path = path[:at]  # an instance's own has no methods
                if tag == "n":
                    self._named(module, root, path)
                elif root == "cls" and not path:
                    self._family(module, owner)
        if "__dict__" in remains.attributes and any(_is_type(e) for e in remains.calls):
            self._family(module, owner)
        self._ancestors(module, owner, remains)
        for e in remains.calls:
            if e[0] == "k" and e[1][0] == "n" and e[2]:
                name = e[1][2][-1][1:] if e[1][2] else e[1][1]
                if name in LISTERS:
                    self._listed(module, owner, name, e[2][0], remains.chains)

    def _ancestors(self, module: str, owner: str, remains: Remains) -> None:
        """``for c in type(self).__mro__: vars(c)``: what is listed is not what its name says."""
        named = [(t, r, path) for t, r, path in remains.chains if not _ABOVE.isdisjoint(s.rstrip("(") for s in path)]
        called = any(_callee(e) == "getmro" for e in remains.calls)
        if not named and not called and {name[1:] for name in _ABOVE}.isdisjoint(remains.attributes):
            return
        asks = "__dict__" in remains.attributes or any(".__dict__" in path for _, _, path in remains.chains)
        if not asks and not any(_callee(e) in LISTERS for e in remains.calls):
            return
        self._family(module, owner)
        for tag, root, path in remains.chains:
            if tag == "n":
                self._named(module, root, tuple(step for step in path if step not in _ABOVE))

    def _listed(self, module: str, owner: str, name: str, what: Expr, chains: list[Expr]) -> None:
        if what[0] == "n":
            if not (name == "vars" and any(step[0] == "(" for step in what[2])):
                self._named(module, what[1], what[2])
        elif (what[0] == "v" and what[1] == "cls" and not what[2]) or _is_type(what):
            self._family(module, owner)
        elif name == "vars":
            return
        elif what == ("v", "self", ()):
            self._family(module, owner)
        else:
            self.functions.add((module, owner))
            for tag, root, path in chains:
                if tag == "n":
                    self._named(module, root, path)

    def _named(self, module: str, root: str, path: tuple[str, ...]) -> None:
        symbol, rest = self.marker.world.follow(module, root, tuple(s for s in path if s[0] == "."))
        if symbol.kind == "binding" and (not rest or rest == (".__class__",)):
            self._list(symbol.module, symbol.name)

    def _list(self, module: str, name: str, depth: int = 0) -> None:
        if (module, name) in self.whole or depth > 20:
            return
        world = self.marker.world
        for store in world.stores(module, name):
            if store.kind != "class":
                continue
            self.whole.add((module, name))
            self._release(module, name)
            for base in store.stmt[5]:
                if base[0] == "n":
                    symbol, rest = world.follow(module, base[1], tuple(s for s in base[2] if s[0] == "."))
                    if symbol.kind == "binding" and not rest:
                        self._list(symbol.module, symbol.name, depth + 1)

    def _family(self, module: str, owner: str) -> None:
        if not any(store.kind == "class" for store in self.marker.world.stores(module, owner)):
            self.functions.add((module, owner))  # def register(cls)
            return
        if (module, owner) in self.below:
            return
        self._list(module, owner)
        if (module, owner) in self.whole:
            self.below.add((module, owner))
            for other, state in list(self.marker.out.states.items()):
                for item in state.items:
                    if item.kind == "class" and item.live and item.methods and self.covers(other, item):
                        self._release(other, item.names[0])

    def covers(self, module: str, item: Item) -> bool:
        """Is the class one of those?"""
        if (module, item.names[0]) in self.whole or self._made(module, item.stmt, 0):
            return True
        return bool(self.below) and derives(self.marker.world, module, item.stmt, self.below)

    def _made(self, module: str, stmt: Stmt, depth: int) -> bool:
        """A metaclass of the tree is handed the members of the class when it is made."""
        world = self.marker.world
        for key, value in stmt[6]:
            if key == "metaclass" and value[0] == "n":
                symbol, rest = world.follow(module, value[1], value[2])
                stores = world.stores(symbol.module, symbol.name) if symbol.kind == "binding" and not rest else ()
                if any(p[0] == "def" and p[3] in _MAKERS for s in stores if s.kind == "class" for p in s.stmt[7]):
                    return True
        for base in stmt[5] if depth < 20 else ():
            if base[0] == "n":
                symbol, rest = world.follow(module, base[1], tuple(s for s in base[2] if s[0] == "."))
                if symbol.kind == "binding" and not rest:
                    for store in world.stores(symbol.module, symbol.name):
                        if store.kind == "class" and self._made(symbol.module, store.stmt, depth + 1):
                            return True
        return False

    def handed(self) -> bool:
        """The classes that live modules hand to those functions; True when something new lives."""
        before = len(self.whole)
        homes = {module for module, _ in self.functions}
        for module, state in list(self.marker.out.states.items()) if homes else ():
            if not state.executed or self._scanned.get(module) == len(self.functions):
                continue
            self._scanned[module] = len(self.functions)
            imports = (item for item in state.items if item.kind == "import")
            if module in homes or any(self._brings(state.summary, item, homes) for item in imports):
                self._scan(module, state.summary.body)
        return len(self.whole) > before

    def _brings(self, summary: Summary, item: Item, homes: set[str]) -> bool:
        """Does the import bring one of those functions, or its module?"""
        name = item.stmt[5][item.index][0] if item.stmt[0] == "from" else ""
        named = not name or any(name == function for _, function in self.functions)
        found = (t for t in self.marker.targets(summary, item) if t in homes)
        return any(named or t.endswith(f".{name}") for t in found)

    def _scan(self, module: str, body: Any) -> None:
        stack: list[Any] = [body]
        while stack:
            item = stack.pop()
            if len(item) == 4 and item[0] == "k" and self._lists(module, item[1]):
                for argument in (*item[2], *(value for _, value in item[3])):
                    made = argument[1] if argument[0] == "k" else argument
                    if made[0] == "n":
                        self._named(module, made[1], made[2])
            elif len(item) > 8 and item[0] == "class":
                if any(self._lists(module, d[1] if d[0] == "k" else d) for d in item[4]):
                    self._list(module, item[3])
            stack += [inner for inner in item if inner.__class__ is tuple]

    def _lists(self, module: str, func: Any) -> bool:
        if not isinstance(func, tuple) or len(func) != 3 or func[0] != "n":
            return False
        path = tuple(step for step in func[2] if step[0] == ".")
        symbol, rest = self.marker.world.follow(module, func[1], path)
        return symbol.kind == "binding" and not rest and (symbol.module, symbol.name) in self.functions

    def _release(self, module: str, name: str) -> None:
        state = self.marker.out.states.get(module)
        for item in state.names.get(name, ()) if state is not None else ():
            if item.kind == "class":
                self.marker.all_methods(module, item)


def _callee(e: Expr) -> str:
    """The last name of what is called."""
    if e[0] != "k" or e[1][0] != "n":
        return ""
    return str(e[1][2][-1][1:] if e[1][2] else e[1][1])


def _is_type(e: Expr) -> bool:
    """``type(self)``, ``self.__class__``."""
    if e[0] == "k":
        return bool(e[1] == ("n", "type", ()) and e[2] == (("v", "self", ()),))
    return bool(e == ("v", "self", (".__class__",)))
