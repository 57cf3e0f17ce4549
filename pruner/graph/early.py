"""Functions that code running at import may call: they run on every host, so device facts do not fold them.

``X = 3 if gpu() else 4`` at module level asks ``gpu`` wherever the module is imported, also on a client host
without a device; if ``gpu`` folded under what only a device makes true, the answer there would be another.
A method counts when code at import names it and also makes, or names, an instance's class; a constructor
with its class. What these call is followed in turn.

Blind to: functions that code at import hands to others as arguments (registered operators and handlers are
not called there), and operators and properties of objects made outside the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from pruner.model.ir import Expr, Stmt, imports_in
from pruner.scan.summary import Summary

if TYPE_CHECKING:
    from pruner.graph.symbols import Symbol
    from pruner.graph.world import ProgramWorld

Called = tuple[str, str, tuple[str, ...]]
# Python calls these itself, when a class is made or a module is asked for a name that it does not bind.
_ALWAYS = ("__init_subclass__", "__set_name__", "__class_getitem__", "__prepare__")
_DEPTH = 20
_CHAINS = frozenset("nvbx")


class ImportTime:
    """What may run while modules are imported. ``again`` hears of what became so after it was walked."""

    def __init__(self, world: ProgramWorld, again: Callable[[str, str], None]) -> None:
        self.world = world
        self.again = again
        self.active = world.at_import is not world  # without facts that need a device there is nothing to do
        self.functions: set[tuple[str, str]] = set()
        self.classes: set[tuple[str, str]] = set()
        self.names: set[str] = set(_ALWAYS)
        self._methods: dict[str, list[tuple[str, Stmt]]] = {}  # of the classes, by name
        self._ran: set[str] = set()  # modules that are imported
        self._imported: set[tuple[str, str]] = set()  # names whose imports were followed: they may lead in a circle
        self._waiting: dict[str, list[tuple[str, tuple[str, ...]]]] = {}  # what is called of modules that are not yet

    def function(self, module: str, name: str) -> bool:
        """True when code at import may call this function of a module."""
        return name in ("__getattr__", "__dir__") or (module, name) in self.functions

    def method(self, module: str, owner: str, name: str) -> bool:
        """True when code at import may call this method."""
        return name in _ALWAYS or ((module, owner) in self.classes and (name in self.names or name.startswith("__")))

    def body(self, summary: Summary) -> None:
        """A module is imported: what its body, class bodies, decorators and defaults call."""
        if self.active:
            self._ran.add(summary.module)
            for root, path in self._waiting.pop(summary.module, ()):
                self._target("=" + summary.module, root, path)
            self._calls(summary, summary.body, inside=False)

    # -- following ---------------------------------------------------------------------------

    def _calls(self, summary: Summary, part: Any, inside: bool) -> None:
        imports = _imports(self.world, summary, part) if inside else {}
        for tag, root, path in sorted(_called(part, inside)):
            cut = next((i for i, step in enumerate(path) if step[0] != "."), len(path))
            if cut < len(path) or tag == "x":
                self._name(path)
            elif tag != "v":
                self._target(summary.module, root, path)
            elif root in imports:
                for module, name in imports[root]:
                    self._target("=" + module, name, path)
            else:
                self._name(path)

    def _target(self, module: str, root: str, path: tuple[str, ...]) -> None:
        """What a chain calls. Of a module that nothing imports nothing is called: a fifth of all files was read for it."""
        table = self.world.table
        if module[0] == "=":
            home = module[1:]
            if home in table.paths and home not in self._ran:
                self._waiting.setdefault(home, []).append((root, path))
                return
        else:
            stores = self.world.stores(module, root)
            summary = table.load(module)
            if summary is not None and stores and all(store.kind == "import" for store in stores):
                homes = [table.store_target(summary, store) for store in stores]
                if len(homes) > 1 or (homes[0][0] in table.paths and homes[0][0] not in self._ran):
                    for home, name in homes:
                        self._target("=" + home, name, path)
                    return
        symbol, rest = self.world.follow(module, root, path)
        if symbol.kind in ("outside", "builtin"):
            return
        self._name(rest)
        if symbol.kind == "binding" and (not rest or any(s.kind == "class" for s in self.world.stores(*_key(symbol)))):
            self._symbol(symbol.module, symbol.name, 0)

    def _symbol(self, module: str, name: str, depth: int) -> None:
        key = (module, name)
        if key in self.functions or key in self.classes or depth > _DEPTH:
            return
        fresh = key not in self._imported
        self._imported.add(key)
        for store in self.world.stores(module, name):
            if store.kind == "def":
                self.functions.add(key)
                self._body(module, store.stmt)
                self.again(module, name)
            elif store.kind == "class":
                self.classes.add(key)
                self.again(module, name)
                for part in _functions(store.stmt[7]):
                    self._methods.setdefault(part[3], []).append((module, part))
                    if part[3] in self.names or part[3].startswith("__"):
                        self._body(module, part)
                        self.again(module, "." + part[3])  # a method before it in the class may have named it just now
                for base in store.stmt[5]:
                    if base[0] == "n":
                        symbol, rest = self.world.follow(module, base[1], base[2])
                        if symbol.kind == "binding" and not rest:
                            self._symbol(symbol.module, symbol.name, depth + 1)
            elif store.kind == "value":
                self._name((".__call__",))
            elif store.kind == "import" and fresh:  # one of several: any of them may be meant
                summary = self.world.table.load(module)
                if summary is not None:
                    home, attribute = self.world.table.store_target(summary, store)
                    self._target("=" + home, attribute, ())

    def _name(self, path: tuple[str, ...]) -> None:
        if not path or path[-1][0] != "." or path[-1][1:] in self.names:
            return
        name = path[-1][1:]
        self.names.add(name)
        for module, stmt in self._methods.get(name, ()):
            self._body(module, stmt)
            self.again(module, "." + name)

    def _body(self, module: str, stmt: Stmt) -> None:
        summary = self.world.table.load(module)
        if summary is not None:
            self._calls(summary, stmt[6][2], inside=True)


def _key(symbol: Symbol) -> tuple[str, str]:
    return symbol.module, symbol.name


def _functions(body: Any) -> Iterator[Stmt]:
    for part in body:
        if part[0] == "def":
            yield part
        elif part[0] == "if":
            yield from _functions((*part[4], *part[5]))


def _called(part: Any, inside: bool) -> set[Called]:
    """Chains that are called, without the call itself; ``inside`` functions the bodies of inner ones count."""
    found: set[Called] = set()
    stack: list[Any] = [part] if part else []
    pop, push = stack.pop, stack.append
    while stack:
        item = pop()
        tag = item[0]
        if tag.__class__ is str:
            size = len(item)
            if size == 2:
                if item[1].__class__ is not tuple:
                    continue  # a constant calls nothing; `f(c=g())` has a pair that begins as one
            elif size == 3:
                if tag in _CHAINS and item[2].__class__ is tuple:
                    for path in _before_calls(item[2]) if item[2] else ():
                        found.add((tag, item[1] if item[1].__class__ is str else "", path))
                    if tag != "x":
                        continue
            elif size == 4:
                if tag == "k":
                    _target_of(item[1], found)
            elif size > 6 and tag in ("def", "class"):
                for decorator in item[4]:
                    _target_of(decorator, found)
                if tag == "def" and not inside:
                    stack += [inner for inner in (item[4], item[5]) if inner]
                    continue
        for inner in item:
            if inner.__class__ is tuple and inner:
                push(inner)
    return found


@cache
def _before_calls(path: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(path[:index] for index, step in enumerate(path) if isinstance(step, str) and step[0] == "(")


def _target_of(e: Expr, found: set[Called]) -> None:
    if e[0] in _CHAINS and not (e[2] and e[2][-1][0] == "("):
        found.add((e[0], e[1] if isinstance(e[1], str) else "", e[2]))


def _imports(world: ProgramWorld, summary: Summary, part: Any) -> dict[str, list[tuple[str, str]]]:
    """Local names that imports in these statements bind: (module, attribute)."""
    found: dict[str, list[tuple[str, str]]] = {}
    for item in imports_in(part):
        for index, (name, asname) in enumerate(item[3] if item[0] == "import" else item[5]):
            if name != "*":
                bound = asname or (name.split(".")[0] if item[0] == "import" else name)
                found.setdefault(bound, []).append(world.table.import_target(summary, item, index))
    return found
