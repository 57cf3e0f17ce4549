"""Marking: from roots through live code to everything that may run.

The unit is the module-level name. A module's body runs when something live imports it;
its items run when something live reads their names. An import nobody reads stays when the
imported module does more than define things, when it orders an import cycle, or when
upstream itself never read it and it is not from the standard library.

Blind to: names built at run time outside the patterns of ``dynamic``, which keeps whole
modules instead; reflection over modules that never appear as values.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from pruner.fold.forms import Refused
from pruner.fold.residual import Decision, Unit, Walker
from pruner.graph import dynamic, evaluated
from pruner.graph.cycles import Graph, components, lead
from pruner.graph.drops import Drops
from pruner.graph.early import ImportTime
from pruner.graph.effects import MODULE_HOOKS, STDLIB, abstract, decorated, derives, foreign_base, protocol_members
from pruner.graph.gone import Gone
from pruner.graph.held import LOOKS, Held
from pruner.graph.idle import keep_effects, parents
from pruner.graph.listing import LISTERS, LISTING_STEPS, Listing
from pruner.graph.loaded import Loaded
from pruner.graph.members import MemberCheck
from pruner.graph.module import (
    Item,
    Method,
    ModuleState,
    ModuleWalker,
    alias_of,
    dropped_import,
    entries_of,
    exported_words,
    function_import,
    imported_modules,
)
from pruner.graph.order import keep_orders
from pruner.graph.overwritten import overwritten
from pruner.graph.symbols import ModuleTable
from pruner.graph.world import ProgramWorld
from pruner.graph.wrapping import wrapping
from pruner.model import Finding, Policy, outside
from pruner.model.ir import Expr, Stmt, annotated, constants, line_of
from pruner.scan.summary import Summary

sys.setrecursionlimit(20_000)

_LOOKED_AT = frozenset(("n", name, ()) for name in ("getattr", "hasattr", "isinstance", "issubclass"))
_SCOPES = frozenset(["globals", "locals", "vars"])
_LOCAL = frozenset(["locals", "vars", "dir"])
_WATCHED = LISTERS | {"eval", "exec"}
_WATCHED_STEPS = LISTING_STEPS | {".eval", ".exec"}
_PLACES = frozenset(("__file__", "__name__", "__package__", "__subclasses__"))
_ROOTS = LOOKS | _WATCHED | _LOCAL | {"__file__"}
_FORMATS = frozenset(("format", "format_map"))


@dataclass(slots=True)
class DroppedUse:
    """Live code that asks for something a rule dropped."""

    source: str  # node id: `pkg.mod:name`, or `rule:ID` for a root
    pos: int
    name: str
    rule: str  # which drops it


@dataclass(slots=True)
class Liveness:
    """The result of marking."""

    states: dict[str, ModuleState] = field(default_factory=dict)
    edges: list[tuple[str, str, str, str, int]] = field(default_factory=list)
    roots: list[tuple[str, str]] = field(default_factory=list)
    dead_aliases: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    dropped_uses: list[DroppedUse] = field(default_factory=list)
    stand_ins: dict[str, dict[tuple[int, int], tuple[str, str]]] = field(default_factory=dict)
    """module → (import position, alias index) → (dropped name, rule): live code reads the alias, so a
    stand-in that fails with the guard's sentence takes its place."""
    findings: list[Finding] = field(default_factory=list)
    scripts: set[str] = field(default_factory=set)


class Marker:
    """Runs the marking to its fixed point."""

    def __init__(self, table: ModuleTable, world: ProgramWorld, policy: Policy, drops: Drops) -> None:
        self.table = table
        self.world = world
        self.policy = policy
        self.drops = drops
        self.out = Liveness()
        self.work: deque[tuple[str, Item]] = deque()
        self._bodies: deque[str] = deque()
        self._seen: set[tuple[str, str]] = set()
        self.names_used: set[str] = set()
        self.patterns: list[re.Pattern[str]] = []
        self.stored: list[re.Pattern[str]] = []  # of names that are only stored into
        self.exposed: set[str] = set()  # modules, and definitions (module:name), that outsiders use
        self._noted: dict[str, frozenset[int]] = {}  # module -> positions of statements with annotations
        self._offered: set[int] = set()  # items that outsiders have, by their id
        self.held = Held(self)
        self.gone = Gone(self)
        self.loaded = Loaded(self)
        self._waiting: dict[str, list[tuple[str, Item, Method]]] = {}
        self._outside = set(outside.names(outside.INTERPRETER))  # names that outside code asks of objects
        self._groups = {outside.INTERPRETER}  # whose names are in there
        self._methods: deque[tuple[str, Item, Method]] = deque()
        self._namer = ("", 0)  # the node and place whose reads are being taken
        self._named_by: dict[str, tuple[str, int]] = {}  # attribute -> who named it first
        # Paths and, by module, chains that name no attribute which was not named and asked for before: of those the
        # rest of a path says nothing new.
        self._told: set[tuple[str, ...]] = set()
        self._done: dict[str, set[Expr]] = {}
        self._settled: set[tuple[str, str, str]] = set()  # see _chain
        self._settled_at = 0
        self._looked: dict[tuple[str, str], int] = {}  # see _changed
        self._gone_steps = {f".{name.rpartition('.')[2]}" for name in world.gone}
        self._lost: set[tuple[str, str]] = set()
        self._unbound: set[tuple[str, str]] = set()  # all that were ever among them
        self._wrapped: dict[str, frozenset[int]] = {}
        self._unread: list[tuple[str, Stmt, int]] = []
        self.idle: list[tuple[str, str, Stmt, int, bool]] = []  # imports in functions that nobody reads: may go
        self.member_check = MemberCheck(self)
        self._targets: dict[tuple[str, int, int], list[str]] = {}
        self._imports: Graph = {}  # what module bodies import, parents included
        self._eager: dict[str, list[str]] = {}  # what of it is in the graph
        self._read: dict[str, set[str]] = {}  # module -> names that it reads, unfolded
        self.staying: dict[str, tuple[int, int, object, list[str]]] = {}  # of graph.idle
        self.leading: Graph = {}  # of graph.order: what modules import, parents included
        self.led: dict[str, tuple[str, ...]] = {}  # module -> what of it is in there
        self.loading: Graph = {}  # of graph.idle: what the imports that stay load
        self._starred: set[tuple[str, str]] = set()  # names that are being looked for behind the stars of a module
        self._submodules: set[tuple[str, str]] = set()  # (reading module, submodule read as an attribute)
        self._listed: set[tuple[str, str]] = set()  # classes whose subclasses live code lists
        self._any_listed = False  # it lists those of a class that is not known
        self.listing = Listing(self)
        self.early = ImportTime(world, self._again)
        self._loads: dict[str, set[str]] = {}  # module → what function-level imports of it load
        # Hears once of files in which nothing was decided and of which everything lives, before the last turns.
        self.settled: Callable[[list[str]], None] | None = None

    # -- state ------------------------------------------------------------------------------

    def state(self, module: str) -> ModuleState | None:
        """The walked body of a module (walked once, not yet live)."""
        known = self.out.states.get(module)
        if known is None:
            summary = self.table.load(module) if module in self.table.paths else None
            if summary is None:
                return None
            known = ModuleWalker(self.world, summary, self.drops).walk()
            self.out.states[module] = known
        return known

    def edge(self, source: str, target: str, kind: str, path: str, line: int) -> None:
        """Record why ``target`` lives (every reason once)."""
        if (source, target) not in self._seen:
            self._seen.add((source, target))
            self.out.edges.append((source, target, kind, path, line))

    # -- marking ------------------------------------------------------------------------------

    def execute(self, module: str, source: str, kind: str, path: str, line: int) -> None:
        """The module is imported by live code: it and its parents run."""
        if (source, module) in self._seen and module in self.out.states and self.out.states[module].executed:
            return
        parts = module.split(".")
        for cut in range(1, len(parts) + 1):
            name = ".".join(parts[:cut])
            if name not in self.table.paths:
                continue
            self.edge(source, name, kind if cut == len(parts) else "package", path, line)
            state = self.state(name)
            if state is None or state.executed:
                continue
            state.executed = True
            self._bodies.append(name)
            self.held.executed(name)

    def _run_body(self, module: str) -> None:
        state = self.out.states[module]
        self._take(module, module, state.unit)
        self.gone.body(module, state)
        summary = state.summary
        self.early.body(summary)
        if "__all__" in state.names and not summary.plain_all:
            for text in state.unit.remains.texts:  # __all__.extend(["V"])
                if text in state.names:
                    self.need(module, text, module, "__all__", 0)
        self._run_effects(module, state)
        for rule in self.policy.dynamics:
            if rule.site and rule.site == module:
                self.members(rule.package, rule.members, module)

    def _run_effects(self, module: str, state: ModuleState) -> None:
        """What runs whenever the module is imported."""
        summary = state.summary
        for item in state.items:
            if item.effect:
                self.keep(module, item, "effect")
            elif item.kind == "star":
                target = self.table.absolute(summary, item.stmt[3], item.stmt[4])
                if target not in self.table or self._brings_nothing(target):
                    self.keep(module, item, "star")

    def _brings_nothing(self, module: str) -> bool:
        """True for a module without a public name: a star import of it was as idle upstream."""
        summary = self.table.load(module)
        if summary is None or summary.stars or self.drops.module(module):
            return False
        return not any(self.world.exports(module, name) for name in summary.stores)

    def rebinds(self, importer: ModuleState, target: str) -> bool:
        """Loading ``pkg.thing`` for the first time takes the name from what ``pkg`` itself binds to it."""
        package, _, name = target.rpartition(".")
        if package == importer.summary.module or package not in self.table.paths:
            return False
        state = self.state(package)
        return state is not None and target not in state.eager and self.world.attribute(package, name).kind == "binding"

    def targets(self, summary: Summary, item: Item) -> list[str]:
        """Modules of the tree that an import loads."""
        if item.targets is not None:
            return item.targets
        s = item.stmt
        key = (summary.module, s[1], item.index)
        found = self._targets.get(key)
        if found is None:
            if s[0] == "import":
                found = imported_modules(self.world, s[3][item.index][0], "")
            else:
                found = imported_modules(self.world, self.table.absolute(summary, s[3], s[4]), s[5][item.index][0])
            self._targets[key] = found
        item.targets = found
        return found

    def keep(self, module: str, item: Item, kind: str) -> None:
        """Mark an item that no name asks for: it lives with its module, which the stored graph must say."""
        line = line_of(item.stmt[1])
        for name in item.names or ("*",):
            self.edge(module, f"{module}:{name}", kind, self.path_of(module), line)
        self.live(module, item, module, kind)

    def live(self, module: str, item: Item, source: str, kind: str) -> None:
        """Mark one item. ``source`` is in the graph already."""
        if item.live:
            return
        item.live = True
        self.out.states[module].changes += 1
        self.work.append((module, item))

    def need(self, module: str, name: str, source: str, kind: str, pos: int) -> bool:
        """A live place reads global ``name`` of ``module``. False when nothing binds it."""
        path = self.path_of(source)
        line = line_of(pos)
        if module not in self.table:
            return False
        if self.drops.symbol(module, name) or self.drops.module(module):
            rule = self.drops.symbols.get((module, name)) or self.drops.modules[module]
            self.out.dropped_uses.append(DroppedUse(source, pos, f"{module}:{name}", rule))
            return True
        if module in self.table.paths:
            self.execute(module, source, kind, path, line)
        state = self.state(module) if module in self.table.paths else None
        found = False
        if state is not None:
            for item in state.names.get(name, ()):
                if item.dropped:
                    self.out.dropped_uses.append(DroppedUse(source, pos, f"{module}:{name}", item.dropped))
                    found = True
                    continue
                item.api = item.api or kind == "root"
                self.edge(source, f"{module}:{name}", kind, path, line)
                self.live(module, item, source, kind)
                found = True
            if not found or (module, name) in self.world.poisoned:
                found = self._through_star(state, name, source, pos) or found
        child = f"{module}.{name}"
        if not found and child in self.table:
            if child in self.table.paths:
                if self.drops.module(child):
                    self.out.dropped_uses.append(DroppedUse(source, pos, child, self.drops.modules[child]))
                    return True
                self.execute(child, source, kind, path, line)
            return True
        if not found and state is not None and name in state.summary.stores:
            self._lost.add((module, name))
        return found

    def _through_star(self, state: ModuleState, name: str, source: str, pos: int) -> bool:
        asked = (state.summary.module, name)
        if not state.summary.stars or asked in self._starred:
            return False
        self._starred.add(asked)  # `from a import *` here, and there one of this module
        found = self._star_of(state, name, source, pos)
        self._starred.discard(asked)
        return found

    def _star_of(self, state: ModuleState, name: str, source: str, pos: int) -> bool:
        guards, found = {stmt[1]: guards for stmt, guards in state.summary.stars}, False
        for item in reversed(state.items):  # the last star that brings the name wins, if it runs
            if item.kind != "star":
                continue
            target = self.table.absolute(state.summary, item.stmt[3], item.stmt[4])
            if (
                target in self.table
                and self.world.exports(target, name)
                and self.world.attribute(target, name).kind != "unknown"
            ):
                if self.need(target, name, f"{state.summary.module}:*", "star", item.stmt[1]):
                    self.edge(source, f"{state.summary.module}:*", "read", self.path_of(source), line_of(pos))
                    self.live(state.summary.module, item, source, "star")
                    found = True
                    if self.world.runs(state.summary, item.stmt[1], guards.get(item.stmt[1], ())):
                        return True
        return found

    def path_of(self, node: str) -> str:
        """The file of a node."""
        module = node.split(":")[0]
        return self.table.paths[module][0] if module in self.table.paths else ""

    def run(self) -> Liveness:
        """Mark until nothing changes."""
        while True:
            self._drain()
            if self.settled is not None:
                self.settled(self._untouched())
                self.settled = None
            # An import that stays brings modules with imports of their own, one below the other: these two find
            # them in many turns, and what looks at everything waits until they are done.
            changed = self._keep_cycles()
            changed |= keep_effects(self)
            if changed:
                continue
            changed |= self.held.spread()
            changed |= self.loaded.solve()
            changed |= self._keep_loaders()
            changed |= self._keep_subclasses()
            changed |= self._keep_bindings()
            changed |= self._freeze_lost()
            changed |= self._freeze_overwriting()
            if changed or self.listing.handed() or self.held.load():
                continue
            if not self._keep_required() and not keep_orders(self):
                break
        self._bind_guards()
        self._collect_dead_aliases()
        self.out.dropped_uses += [DroppedUse(*use) for use in self.gone.uses()]
        return self.out

    def _untouched(self) -> list[str]:
        """Files of which nothing would go now. The last turns of marking change few of them, in either direction."""
        return [
            state.summary.path
            for state in self.out.states.values()
            if state.executed
            and not state.touched
            and not state.unit.changes
            and all(item.live and all(method.live for method in item.methods) for item in state.items)
        ]

    def _drain(self) -> None:
        while self._bodies or self.work or self._methods:
            if self._bodies:
                self._run_body(self._bodies.popleft())
                continue
            if self._methods:
                self._run_method(*self._methods.popleft())
                continue
            module, item = self.work.popleft()
            self._run_item(module, item)

    def _run_item(self, module: str, item: Item) -> None:
        if item.walked:
            return
        item.walked = True
        state = self.out.states[module]
        node = f"{module}:{item.names[0]}" if item.names else f"{module}:*"
        if item.kind in ("import", "star"):
            self._run_import(state, item, node)
            return
        dynamic.pickle_hooks(self, item.stmt, node)
        unit = walk_item(self.world, state.summary, self.drops, item, self.is_early(module, item))
        item.decided = unit if unit.changes or unit.globals else None
        state.touched |= unit.changes
        self._take(module, node, unit)
        self.gone.item(module, node, item, unit)
        for name in sorted(dynamic.declared(item.stmt)):
            self.use_name(name)
        if item.names == ("__all__",) and not state.summary.plain_all:
            for text in unit.remains.texts:  # a list that code extends is not edited: its names stay
                self.need(module, text, node, "__all__", item.stmt[1])
        if item.stmt[0] in ("def", "class"):
            self._check_bases(module, item.stmt)
        if item.kind == "class":
            self._sort_methods(module, item)

    # -- methods ---------------------------------------------------------------------------------

    def _sort_methods(self, module: str, item: Item) -> None:
        """Methods of a live class: those that something may call now, and those that wait for their name."""
        foreign = foreign_base(self.world, module, item.stmt)
        whole = self.listing.covers(module, item)
        declared = {name for part in item.stmt[7] if part[0] == "global" for name in part[3]}  # it binds a global
        for name in protocol_members(self.world, module, item.stmt):  # isinstance() asks for these by name
            self.use_name(name)
        for method in item.methods:
            if abstract(self.world, module, method.stmt):  # making an instance asks for it
                self.use_name(method.stmt[3])
        for method in item.methods:
            name = method.stmt[3]
            method.dropped = self.drops.member(module, f"{item.names[0]}.{name}")
            if method.dropped:
                continue
            if foreign or whole or name in declared or self._special(module, item, method):
                self._live_method(module, item, method, (f"{module}:{item.names[0]}", method.stmt[1]), "method")
            elif self.is_named(name) or (method.stmt[4] and any(p.fullmatch(name) for p in self.stored)):
                self._live_method(module, item, method, self._named_by.get(name, ("", 0)), "named")
            elif name in self._outside:
                self._live_method(module, item, method, ("", method.stmt[1]), "outside")
            else:
                self._waiting.setdefault(name, []).append((module, item, method))

    def all_methods(self, module: str, item: Item, private: bool = True) -> None:
        """Code lists the members of the class: whatever of it waits for its name lives."""
        for method in item.methods:
            if not method.live and not method.dropped and item.walked and (private or method.stmt[3][0] != "_"):
                self._waiting[method.stmt[3]].remove((module, item, method))
                self._live_method(module, item, method, (f"{module}:{item.names[0]}", method.stmt[1]), "method")

    def offer(self, module: str, root: str, path: tuple[str, ...] = ()) -> None:
        """Outsiders have what the chain is: of a class they call what is public, of those above it as well.

        ``Thing = _Thing`` and ``thing = Thing()`` are looked through.
        """
        symbol, rest = self.world.follow(module, root, path)
        if symbol.kind != "binding" or any(step[0] == "." for step in rest):
            return
        state = self.state(symbol.module)
        for item in state.names.get(symbol.name, ()) if state is not None else ():
            if id(item) in self._offered:
                continue
            self._offered.add(id(item))
            if item.kind == "class":
                item.api = True
                if item.walked:
                    self.all_methods(symbol.module, item, private=False)
                for base in item.stmt[5]:
                    while base[0] == "o" and base[1]:
                        base = base[1][0]  # Base[Row]
                    if base[0] == "n":
                        self.offer(symbol.module, base[1], base[2])
            elif item.stmt[0] == "=":
                value = item.stmt[4][1] if item.stmt[4][0] == "k" else item.stmt[4]
                if value[0] == "n":
                    self.offer(symbol.module, value[1], value[2])

    def _special(self, module: str, item: Item, method: Method) -> bool:
        name = method.stmt[3]
        if (name.startswith("_") and name.endswith("_")) or name in MODULE_HOOKS:
            return True
        if (item.api and not name.startswith("_")) or method.stmt[1] in self.out.states[module].forced:
            return True
        return bool(decorated(self.world, module, method.stmt[4]))

    def named_by(self, name: str) -> tuple[str, int]:
        """Who named the attribute first: node and position."""
        return self._named_by.get(name, ("", 0))

    def is_named(self, name: str) -> bool:
        """Does live code name the attribute, or build names of its shape?"""
        return name in self.names_used or any(p.fullmatch(name) for p in self.patterns)

    def _live_method(self, module: str, item: Item, method: Method, by: tuple[str, int], kind: str) -> None:
        if not method.live:
            method.live = True
            owner = f"{module}:{item.names[0]}"
            self.edge(by[0] or owner, f"{owner}.{method.stmt[3]}", kind, self.path_of(by[0] or owner), line_of(by[1]))
            self._methods.append((module, item, method))

    def use_name(self, name: str) -> None:
        """Live code names an attribute: methods of that name live."""
        if name not in self.names_used:
            self.names_used.add(name)
            self._named_by[name] = self._namer
            for waiting in self._waiting.pop(name, ()):
                self._live_method(*waiting, self._namer, "named")
            self.held.named(name)

    def use_pattern(self, pattern: str, *, stored: bool = False) -> None:
        """Live code builds attribute names of this shape; ``stored``: only to store into them."""
        compiled = re.compile(pattern)
        if stored:
            self.stored.append(compiled)
            for name in [n for n in self._waiting if compiled.fullmatch(n)]:
                rows = self._waiting.pop(name)
                for row in [row for row in rows if row[2].stmt[4]]:
                    self._live_method(*row, self._namer, "named")
                self._waiting[name] = [row for row in rows if not row[2].stmt[4]]
            return
        if compiled not in self.patterns:
            self.patterns.append(compiled)
            for name in [n for n in self._waiting if compiled.fullmatch(n)]:
                for waiting in self._waiting.pop(name):
                    self._live_method(*waiting, self._namer, "named")
            self.held.fits(compiled)

    def _asks(self, imported: str) -> None:
        """Live code imports something outside the tree: what that asks of objects, ``close`` of ``closing(x)``, lives."""
        for group in outside.groups(imported):
            if group not in self._groups:
                self._groups.add(group)
                names = outside.names(group)
                self._outside |= names
                for name in [name for name in self._waiting if name in names]:
                    for module, item, method in self._waiting.pop(name):
                        self._live_method(module, item, method, ("", method.stmt[1]), "outside")

    def is_early(self, module: str, item: Item, method: Method | None = None) -> bool:
        """True when code at import may call the function, or the method of the class."""
        if not self.early.active or item.kind not in ("def", "class"):
            return False
        if method is not None:
            return self.early.method(module, item.names[0], method.stmt[3])
        return item.kind == "def" and self.early.function(module, item.names[0])

    def _again(self, module: str, name: str) -> None:
        """Code at import may call what was walked as code that runs later: walk it once more."""
        state = self.out.states.get(module)
        for item in state.items if state is not None else ():
            if item.kind == "def" and item.walked and item.names[0] == name:
                item.walked = False
                self.work.append((module, item))
            for method in item.methods:
                asked = name in item.names or name == "." + method.stmt[3]
                if method.walked and asked and self.is_early(module, item, method):
                    method.walked = False
                    self._methods.append((module, item, method))

    def _run_method(self, module: str, item: Item, method: Method) -> None:
        if method.walked:
            return
        method.walked = True
        node = f"{module}:{item.names[0]}"
        early = self.is_early(module, item, method)
        unit = walk_method(self.world, self.out.states[module].summary, self.drops, item, method, early)
        method.decided = unit if unit.changes or unit.globals else None
        self.out.states[module].touched |= unit.changes
        self._take(module, node, unit)
        self.gone.method(module, node, item.names[0], method.stmt, unit)
        for name in sorted(dynamic.declared(method.stmt) - {method.stmt[3]}):
            self.use_name(name)

    def _run_import(self, state: ModuleState, item: Item, node: str) -> None:
        s, summary = item.stmt, state.summary
        path, line = summary.path, line_of(s[1])
        if s[0] == "import":
            name = s[3][item.index][0]
            dropped = self.drops.find(name, "")
            if dropped is not None and s[3][item.index][1] is None and "." in name:
                self._unread.append((summary.module, s, item.index))  # `import pkg.hip` binds pkg
                item.live = False
                state.changes += 1
                self._settled.clear()
            elif dropped is not None:
                self._stand_in(summary.module, s, item.index, dropped)
            elif name in self.table:
                self.execute(name, node, "import", path, line)
            else:
                self._asks(name)
            return
        module = self.table.absolute(summary, s[3], s[4])
        name = s[5][item.index][0]
        if module not in self.table:
            self._asks(module)
            self.held.imports(s, item.index, node)
            return
        dropped = self.drops.find(module, name) if name != "*" else None
        if dropped is not None:
            self._stand_in(summary.module, s, item.index, dropped)
            return
        if module in self.table.paths:
            self.execute(module, node, "import", path, line)
        for target in self.targets(summary, item):  # `from . import sub` in a package names itself; `__all__` of a
            if not self.drops.module(target):  # package may name submodules, which `*` loads
                self.execute(target, node, "import", path, line)
        if name != "*":
            self.need(module, name, node, "import", s[1])

    def _stand_in(self, module: str, s: Stmt, index: int, dropped: tuple[str, str]) -> None:
        self.out.stand_ins.setdefault(module, {})[s[1], index] = dropped
        self.out.states[module].touched = True

    def _check_bases(self, module: str, stmt: Stmt) -> None:
        """A class cannot inherit from a stand-in, nor can one decorate: that is a contradiction between rules."""
        for base in (*(stmt[5] if stmt[0] == "class" else ()), *stmt[4]):
            while base[0] in ("k", "x"):  # @register(key=K), @make(1)(2)
                base = base[1]
            if base[0] != "n":
                continue
            symbol_module, name = module, base[1]
            for store in self.world.stores(symbol_module, name):
                if store.kind == "import":
                    target, attribute = self.table.store_target(self.out.states[module].summary, store)
                    found = self.drops.find(target, attribute)
                    if found is not None:
                        self.out.dropped_uses.append(DroppedUse(module, stmt[1], *found))

    # -- what a walked unit asks for ---------------------------------------------------------

    def _take(self, module: str, node: str, unit: Unit) -> None:
        remains = unit.remains
        for row in unit.refused:
            self.out.findings.append(_untaken(self.path_of(module), row))
        self.member_check.take(module, unit)
        self._namer = (node, 0)
        taken: set[Expr] = set()
        watching = seen = False
        told, done = self._told, self._done.setdefault(module, set())
        dropped_uses, names_used = self.out.dropped_uses, self.names_used
        looks, asked = not LOOKS.isdisjoint(remains.attributes), self.held.asked
        for chain, pos in zip(remains.chains, unit.lines, strict=True):
            if chain in taken:
                continue  # nothing new, but that every use of what was dropped is reported
            uses = len(dropped_uses)
            self._namer = (node, pos)
            tag, root, path = chain
            if path and path not in told and chain not in done:
                steps = _steps(path)
                names = steps.names
                looks |= steps.looks
                if not asked.issuperset(names):
                    self.held.reads(module, chain, names, unit)
                if steps.calls:
                    dynamic.chain_call(self, module, node, chain)
                if tag == "n" and path[-1] in (".__name__", ".__package__"):
                    self.loaded.named(module, node, chain)
                if "__file__" in names:
                    self.loaded.place(module, node, chain, remains.texts)
                for name in names:
                    if name not in names_used:
                        self.use_name(name)
                if "__subclasses__" in names and not self._subclasses(module, chain):
                    self._any_listed = True
                watching |= steps.watched
                if steps.plain and asked.issuperset(names):
                    told.add(path)
                elif steps.plain and tag == "n":
                    done.add(chain)
            if tag == "b":
                self.use_name(root)
            if root in _ROOTS:
                if root == "__file__":
                    self.loaded.place(module, node, chain, remains.texts)
                looks |= root in LOOKS
                watching |= root in _WATCHED
                seen |= tag == "n" and root in _LOCAL and path[:1] == ("()",)
            if tag == "n" or tag == "b":
                self._chain(module, root, path, node, pos)
            if len(dropped_uses) == uses:
                taken.add(chain)
        for target, path, pos in unit.reads:
            self._chain(target[0], target[1], target[2] + path, node, pos)
        if not self.exposed.isdisjoint((node, module)):
            self._give_out(module, node, unit)
        if watching:
            watched = [c for c in remains.chains if c[1] in _WATCHED or not _WATCHED_STEPS.isdisjoint(c[2])]
        else:
            watched = []
        run = evaluated.runs(self, module, watched)
        seen |= bool(run)
        for stmt, index, status in unit.imports:  # code that is run here, and locals(), see what the function imports
            self._local_import(
                module, node, stmt, index, "read" if seen else status, seen or (stmt[1], index) in unit.loose
            )
        self.held.asks(remains.attributes)
        self.held.calls(remains.calls)
        spelled = dynamic.spellings(remains)
        for name in sorted(remains.attributes - names_used):  # sets of strings: their order is not that of the next run
            self.use_name(name)
        for name in sorted(spelled - names_used):
            self.use_name(name)
        self._any_listed |= "__subclasses__" in remains.attributes or "__subclasses__" in remains.texts
        self._any_listed |= "__subclasses__" in spelled
        listing = any(c[1] in LISTERS or not LISTING_STEPS.isdisjoint(c[2]) for c in watched)
        dynamic.texts(self, module, node, remains.texts, listing)
        if run:
            dynamic.code(self, module, node, remains.texts)
            evaluated.code(self, module, node, run, remains.calls)
        if listing or "__dict__" in remains.attributes:
            self.listing.take(module, node, remains)
        if not _FORMATS.isdisjoint(remains.attributes):
            evaluated.formats(self, remains.calls)
        dynamic.calls(self, module, node, remains.calls)
        evaluated.files(self, module, node, remains.calls, remains.texts)
        dynamic.reflections(self, node, remains.reflected)
        if looks:
            self.held.lookups(module, node, unit)

    def _subclasses(self, module: str, chain: Expr) -> bool:
        """``Base.__subclasses__()``: whatever derives from ``Base`` is asked for. False when the class is not known."""
        tag, root, path = chain
        if tag not in ("n", "b"):  # cls.__subclasses__(), type(self).__subclasses__()
            return False
        symbol, rest = self.world.follow(module, root, path)
        if symbol.kind != "binding" or rest[:1] != (".__subclasses__",):
            return False
        if not any(store.kind == "class" for store in self.world.stores(symbol.module, symbol.name)):
            return False
        self._listed.add((symbol.module, symbol.name))
        return True

    def _gone_member(self, module: str, root: str, path: tuple[str, ...], node: str, pos: int) -> None:
        """Live code that asks a class for the member which a rule drops."""
        text = self.world.canonical(module, root, path)
        for name, rule in self.world.gone.items():
            if text == name or text.startswith((name + ".", name + "(", name + "[")):
                self.out.dropped_uses.append(DroppedUse(node, pos, name, rule))

    def _chain(self, module: str, root: str, path: tuple[str, ...], node: str, pos: int) -> None:
        if not self._gone_steps.isdisjoint(path):
            self._gone_member(module, root, path, node, pos)
        if module[0] == "=":
            origin, steps = module[1:], ([f".{root}"] if root else []) + list(path)
            if origin not in self.table or self.drops.find(origin, root) is not None:
                return
            self._walk_path(origin, tuple(steps), node, pos)
            return
        # Asked again, a name that stands for no module and that no star brings says nothing new, until a name turns out
        # to be brought by several, or a body is walked again.
        if self._settled_at != len(self.world.poisoned):
            self._settled.clear()
            self._settled_at = len(self.world.poisoned)
        key = (node, module, root)
        if key in self._settled:
            return
        uses = len(self.out.dropped_uses)
        needed = self.need(module, root, node, "read", pos)
        symbol = self.world.symbol(module, root)
        behind = self.world.modules_behind(symbol)
        for target in behind:
            self._walk_path(target, path, node, pos)
        state = self.out.states.get(module)
        if not behind and symbol.kind != "unknown" and root not in _SCOPES and len(self.out.dropped_uses) == uses:
            if state is not None and not state.summary.stars and (needed or root not in state.summary.stores):
                self._settled.add(key)
        if symbol.kind == "unknown" and state is not None:
            # A name that only a frozen branch binds: its import is dead, but it must still resolve.
            for item in state.names.get(root, ()):
                if item.kind == "import":
                    found = self.world.attribute(*self.table.import_target(state.summary, item.stmt, item.index))
                    if found.kind == "module" and not self.drops.module(found.module):
                        self._walk_path(found.module, path, node, pos)
        elif root in _SCOPES and symbol.kind == "builtin" and not node.endswith(":__all__"):
            if root != "globals" and not (path[:1] == ("()",) and self._in_body(module, node)):
                return
            if pos not in self._wrapping(module):
                self.escape(module, node, pos)

    def _in_body(self, module: str, node: str) -> bool:
        """Is it a statement of the module's own, where ``vars()`` and ``locals()`` are ``globals()``?"""
        home, _, name = node.partition(":")
        items = self.out.states[module].names.get(name, ()) if home == module else ()
        return home == module and not any(item.kind in ("def", "class") for item in items)

    def _wrapping(self, module: str) -> frozenset[int]:
        if module not in self._wrapped:
            state = self.out.states.get(module)
            self._wrapped[module] = wrapping(self.world, state.summary) if state is not None else frozenset()
        return self._wrapped[module]

    def _walk_path(self, module: str, path: tuple[str, ...], node: str, pos: int) -> None:
        """Follow attribute reads through modules of the tree."""
        if not path or path[0][0] != ".":
            if not path and module in self.table.paths:
                self._hand_on(module, node, pos)
            return
        name = path[0][1:]
        if name == "__dict__":
            self.escape(module, node, pos)
            return
        self.need(module, name, node, "read", pos)
        for target in self.world.modules_behind(self.world.attribute(module, name)):
            if target == f"{module}.{name}":
                self._submodules.add((node.split(":")[0], target))
            if target != module:
                self._walk_path(target, path[1:], node, pos)

    def _give_out(self, module: str, node: str, unit: Unit) -> None:
        """``def api(): return Thing``: a definition that outsiders use has a class as a plain value.

        ``Thing(1)`` makes an object of its own, ``isinstance(x, Thing)`` and annotations only look.
        """
        calls = [call for call in unit.remains.calls if call[0] == "k"]
        made = Counter(call[1] for call in calls)
        for argument in (e for call in calls if call[1] in _LOOKED_AT for e in call[2]):
            made.update(argument[2] if argument[0] == "t" else (argument,))
        summary = self.out.states[module].summary
        if module not in self._noted:
            self._noted[module] = annotated(summary.body)
        noted = self._noted[module]
        read = [chain for chain, pos in zip(unit.remains.chains, unit.lines, strict=True) if pos not in noted]
        for chain in Counter(read) - made:
            tag, root, path = chain
            if any(step[0] != "." for step in path):
                continue
            if tag == "n":
                self.offer(module, root, path)
            for start in self.table.inner_starts(summary, root, path) if tag == "v" else ():
                self.offer(*start)

    def _hand_on(self, module: str, node: str, pos: int) -> None:
        """A definition has a module as a plain value: ``def api(): return ops`` gives it to outsiders, who ask for what they like."""
        if not self.exposed.isdisjoint((node, node.partition(":")[0])):
            self.escape(module, node, pos, private=False)
            state = self.state(module)
            package = state is not None and state.summary.package
            for name, items in list(state.names.items()) if state is not None else ():
                own = package or any(item.kind != "import" for item in items)
                if own and not name.startswith("_"):
                    self.offer(module, name)
        self.held.hold(module, node, pos)

    def escape(self, module: str, node: str, pos: int, private: bool = True) -> None:
        """A module is loaded by name, or listed as a whole: all of it (all public names) may be read."""
        if self.drops.module(module) or module not in self.table.paths:
            return
        self.execute(module, node, "value", self.path_of(node), line_of(pos))
        state = self.state(module)
        if state is None or (state.escaped and not private):
            return
        state.escaped = True
        self.all_of_stars(module, node)
        for name in list(state.names):
            if private or not name.startswith("_"):
                self.need(module, name, node, "value", pos)
                if private:
                    self.held.give(module, name, node, pos)
        self.held.hold(module, node, pos)

    def all_of_stars(self, module: str, node: str) -> None:
        """Whoever reads all of a module reads what its star imports bring."""
        state = self.state(module)
        for item in state.items if state is not None else ():
            if item.kind == "star":
                self.edge(node, f"{module}:*", "star", self.path_of(node), line_of(item.stmt[1]))
                self.live(module, item, node, "star")
        for target, name, pos in self.brought(module):
            self.need(target, name, f"{module}:*", "star", pos)

    def brought(self, module: str) -> list[tuple[str, str, int]]:
        """(module, name, position) that the star imports of a module may bring, submodules that an ``__all__`` names included."""
        state = self.state(module)
        found: list[tuple[str, str, int]] = []
        if state is None:
            return found
        for item in state.items:
            if item.kind != "star":
                continue
            target = self.table.absolute(state.summary, item.stmt[3], item.stmt[4])
            source = self.state(target) if target in self.table.paths and not self.drops.module(target) else None
            if source is not None:
                words = exported_words(source.summary) - source.names.keys()
                inner = [w for w in sorted(words) if not self.drops.module(f"{target}.{w}")]
                names = [name for name in (*source.names, *inner) if self.world.exports(target, name)]
                found += [(target, name, item.stmt[1]) for name in names]
        return found

    def loaded_in(self, module: str) -> set[str]:
        """What imports in functions of the module load."""
        return self._loads.get(module, set())

    def run_idle(self, module: str, node: str, s: Stmt, index: int, why: str) -> None:
        """Keep an import in a function although nobody reads its name."""
        summary = self.out.states[module].summary
        for target in self.targets(summary, alias_of(s, index)):
            self.execute(target, node, why, summary.path, line_of(s[1]))
        self._local_import(module, node, s, index, "effect", False)  # the name must be there as well

    def _local_import(self, module: str, node: str, s: Stmt, index: int, status: str, loose: bool) -> None:
        summary = self.out.states[module].summary
        target, name = self.table.import_target(summary, s, index)
        if s[0] == "import":
            target, name = s[3][index][0], ""
        dropped = self.drops.find(target, name) if name != "*" else None
        if dropped is not None:
            if status in ("orphan", "unread") or (s[0] == "import" and s[3][index][1] is None and "." in target):
                self._unread.append((module, s, index))
            else:
                self._stand_in(module, s, index, dropped)
            return
        if target not in self.table:
            self._asks(target)
            self.held.imports(s, index, node)
            if status == "orphan" or (status == "unread" and target.split(".")[0] in STDLIB):
                self._unread.append((module, s, index))
            return
        if status in ("orphan", "unread"):
            self.idle.append((module, node, s, index, status == "unread"))
            return
        path, line = summary.path, line_of(s[1])
        if target in self.table.paths:
            self.execute(target, node, "lazy import", path, line)
        if name and name != "*":
            self.need(target, name, node, "lazy import", s[1])
        self._loads.setdefault(module, set()).update(self.targets(summary, alias_of(s, index)))
        if loose or s[-1][index] == "n":  # nobody follows the name: what it stands for is a value
            if not self.exposed.isdisjoint((node, module)):
                self.offer(target, name)
            for found in self.world.modules_behind(self.world.attribute(target, name if name != "*" else "")):
                self._hand_on(found, node, s[1])

    def members(self, package: str, members: tuple[str, ...], node: str) -> None:
        """Modules that a declared walk or built name yields."""
        from fnmatch import fnmatchcase

        for module in self.table.below(package):
            relative = module[len(package) + 1 :]
            if any(fnmatchcase(relative, pattern) for pattern in members) and not self.drops.module(module):
                self.escape(module, node, 0, private=False)

    # -- stores from other modules -----------------------------------------------------------------

    def part_stores(self) -> list[tuple[str, str, bool]]:
        """Stores of live modules into globals of modules of the tree: (module, name, does the store say the name?).

        A ``setattr`` of a computed name says none: it may be each of the module's.
        """
        found = []
        held = self.held.by_file()
        for module, state in self.out.states.items():
            if not state.executed:
                continue
            for root, path, guards, _ in state.summary.part_stores:
                if root == "globals" and len(path) == 2 and path[1][0] == "[":  # globals()["X"] = 1
                    found.append((module, path[1][2:-2], True))
                    continue
                if path[-1][0] != "." or (guards and not self.world.alive(module, guards)):
                    continue
                computed = path[-1] == ".*"
                seen = {(module, "")}
                into = self._stored_into(module, root, path[:-1], seen)
                if into is None:  # objects of the files that it leads through
                    into = sorted({m for home, _ in seen for m in held.get(home, ())}) if not computed else []
                for stored in into:
                    target = self.state(stored)
                    names = list(target.summary.stores) if computed and target is not None else [path[-1][1:]]
                    found += [(stored, name, not computed) for name in names]
        return found

    def _stored_into(
        self, module: str, root: str, path: tuple[str, ...], seen: set[tuple[str, str]]
    ) -> list[str] | None:
        """The modules that a chain is, or a variable that it names: ``m = flags`` and ``m.FLAG = True`` behind it.

        None where it may be anything of the tree: ``for m in (flags,): m.FLAG = True``.
        """
        if path[-1:] and path[-1][0] == "[" and self.world.canonical(module, root, path[:-1]) == "sys.modules":
            named = str(constants(path[-1])[0])  # sys.modules["pkg.flags"].FLAG = True
            return [named] if named in self.table.paths else []
        symbol, rest = self.world.follow(module, root, path)
        if symbol.kind == "module":
            return [] if rest else [symbol.module]
        key = (symbol.module, symbol.name)
        if symbol.kind != "binding":
            return None if any(step[0] == "(" for step in path) else []  # import_module("pkg.flags").FLAG = True
        if rest or key in seen:
            seen.add(key)
            return None
        seen.add(key)
        found: list[str] = []
        for store in self.world.stores(*key):
            value = store.stmt[4] if store.kind == "value" and store.stmt[0] == "=" else None
            inner = self._stored_into(key[0], value[1], value[2], seen) if value and value[0] == "n" else None
            if inner is None:
                return None
            found += inner
        return found

    def contradictions(self) -> set[tuple[str, str]]:
        """Globals that had a value by the rules although live code of another module stores into them.

        A stated fact is none of these: what stores into its subject is looked at when everything is
        marked, and by value (``pipeline.admission``).
        """
        found: set[tuple[str, str]] = set()
        for module, name, said in self.part_stores():
            stated = f"{module}.{name}"
            known = self.world.chain(module, name, ())  # also notes that a stated fact is asked here
            if stated in self.world.facts:
                continue
            # use.is_hip = …, flags.pred = …: an alias or a derived predicate no more
            replaced = (
                said
                and f"{stated}()" not in self.world.facts
                and any(store.kind in ("def", "import") for store in self.world.stores(module, name))
            )
            if replaced or (known is not None and known.origin):
                found.add((module, name))
        valued = self.world.interpreter.valued()
        for module, name in {row[:2] for row in overwritten(self)} - found - self.world.poisoned:
            if self._valued(module, name, valued):
                found.add((module, name))
        found |= {("", key) for key in self.member_check.contradicted()}
        return found

    def _valued(self, module: str, name: str, called: set[tuple[str, str]]) -> bool:
        """Does the global have a value, or stand for something, by the rules, and is no stated fact itself?"""
        facts, stated = self.world.facts, f"{module}.{name}"
        if stated in facts or f"{stated}()" in facts:
            return False
        known = self.world.chain(module, name, ())
        if known is not None:
            return bool(known.origin)
        symbol = self.world.symbol(module, name)
        if symbol.kind != "binding":
            return False
        if (symbol.module, symbol.name) != (module, name) and f"{symbol.module}.{symbol.name}()" in facts:
            return True
        return (symbol.module, symbol.name) in called

    # -- refinements at the fixed point -------------------------------------------------------

    def _changed(self, look: str, module: str, state: ModuleState) -> bool:
        """Has the module changed since a refinement looked at it last? It looks at it now."""
        changed = self._looked.get((look, module)) != state.changes
        self._looked[look, module] = state.changes
        return changed

    def _keep_cycles(self) -> bool:
        """Imports that nobody reads but that order an import cycle stay (their order is their effect)."""
        grown = False
        for module, state in self.out.states.items():
            # The graph only grows: a module that is walked again may import more, hardly ever less.
            if state.executed and self._eager.get(module) is not state.eager:
                self._eager[module] = state.eager
                # Importing a.b runs a first: the parents are part of the cycle.
                own = self._imports.get(module, {})
                lead(self._imports, module, (*own, *(p for target in state.eager for p in parents(target))))
                grown = True
        if not grown:
            return False
        group: dict[str, int] = {}
        for index, component in enumerate(components(self._imports)):
            if len(component) > 1:
                group.update(dict.fromkeys(component, index))
        changed = False
        for module, state in list(self.out.states.items()):
            if not state.executed or module not in group:
                continue
            for item in self.unread(state):
                if item.kind == "import" and not self.stays(state, item):
                    targets = self.targets(state.summary, item)
                    if any(
                        group.get(t) == group[module] and self.out.states[t].executed
                        for t in targets
                        if t in self.out.states
                    ):
                        self.require(state, item, "cycle")
                        changed = True
        return changed

    def _keep_bindings(self) -> bool:
        """A variable that is bound in a ``try`` or a loop, which stays: its other assignments stay as well."""
        changed = False
        for module, state in list(self.out.states.items()):
            for items in state.names.values() if state.executed and self._changed("bound", module, state) else ():
                if len(items) > 1 and any(i.live and i.kind == "value" for i in items):
                    for item in items:
                        if item.kind == "value" and not item.live and not item.dropped:
                            self.keep(module, item, "bound elsewhere")
                            changed = True
        return changed

    def _keep_subclasses(self) -> bool:
        """Deriving from a class whose subclasses are listed has an effect."""
        if not self._listed and not self._any_listed:
            return False
        found = False
        for module, state in list(self.out.states.items()):
            for item in state.items:
                if item.kind == "class" and not item.effect and not item.dropped:
                    if derives(self.world, module, item.stmt, None if self._any_listed else self._listed):
                        item.effect = "listed as a subclass"
                        state.effects.append((item.stmt[1], item.effect))
                        found = True
        if not found:
            return False
        for module, state in list(self.out.states.items()):
            if state.executed:
                self._run_effects(module, state)
        return True

    def _keep_loaders(self) -> bool:
        """``pkg.sub`` is an attribute only once somebody imported it: when the reader does not, others' imports stay."""
        changed = False
        for reader, child in sorted(self._submodules):
            if child in self._loaded_by(reader) or child in self._loaded_by(child.rpartition(".")[0]):
                continue
            changed |= self.keep_imports_of({child}) or self.keep_imports_of(self._loaders(child))
        return changed

    def keep_imports_of(self, wanted: set[str]) -> bool:
        """Keep what nobody reads of the imports, in live code, of one of these modules."""
        changed = False
        for module, state in list(self.out.states.items()):
            for item in state.items if state.executed else ():
                if item.kind in ("import", "star") and not item.live:
                    if not wanted.isdisjoint(self.targets(state.summary, item)):
                        self.keep(module, item, "loads a submodule")
                        changed = True
        for row in list(self._unread):
            module, stmt, index = row
            if not wanted.isdisjoint(self.targets(self.out.states[module].summary, alias_of(stmt, index))):
                self._unread.remove(row)
                self._local_import(module, module, stmt, index, "read", False)
                changed = True
        for idle in list(self.idle):
            module, node, stmt, index, _ = idle
            if not wanted.isdisjoint(self.targets(self.out.states[module].summary, alias_of(stmt, index))):
                self.idle.remove(idle)
                self.run_idle(module, node, stmt, index, "loads a submodule")
                changed = True
        return changed

    def _loaders(self, child: str) -> set[str]:
        """Modules known so far whose bodies load ``child``, at any distance."""
        found = {child}
        while True:
            more = {m for m, s in self.out.states.items() if m not in found and not found.isdisjoint(s.eager)}
            if not more:
                return found
            found |= more

    def _loaded_by(self, module: str) -> set[str]:
        """Modules of the tree that are loaded when functions of ``module`` run."""
        state = self.state(module)
        found = set(self._loads.get(module, ()))
        if state is not None:
            for item in state.items:
                if item.live and item.kind in ("import", "star") and not item.conditional:
                    found.update(self.targets(state.summary, item))
        return found

    def stays(self, state: ModuleState, item: Item) -> bool:
        """Does what this import loads stay imported by its statement?"""
        return item.live or (
            item.stmt[1] in state.needed and state.needed[item.stmt[1]].issuperset(self.targets(state.summary, item))
        )

    def unread(self, state: ModuleState) -> list[Item]:
        """Imports of the body that need not stay so far, but those that only type checkers see."""
        at, found = state.unread
        if at != state.changes:
            imports = (item for item in state.items if item.kind in ("import", "star") and not item.typed)
            found = [item for item in imports if not self.stays(state, item)]
            state.unread = (state.changes, found)
        return found

    def require(self, state: ModuleState, item: Item, why: str) -> None:
        """The statement has to load what this alias loads: ``from pkg import read, effect`` loads ``pkg.effect``."""
        state.changes += 1
        state.required[item.stmt[1]] = why
        state.needed.setdefault(item.stmt[1], set()).update(self.targets(state.summary, item))

    def _keep_required(self) -> bool:
        """Of an import that must run the first aliases stay that load what it must load."""
        changed = False
        for module, state in list(self.out.states.items()):
            if not state.executed or not self._changed("required", module, state):
                continue
            for pos in state.required:
                aliases = [i for i in state.items if i.stmt[1] == pos and i.kind in ("import", "star")]
                missing = {name for name in state.needed[pos] if not self.drops.module(name)}
                missing.difference_update(*(self.targets(state.summary, i) for i in aliases if i.live))
                if not missing and any(i.live for i in aliases):
                    continue
                if len(aliases) > 1:
                    shadowed = _locals(state.summary.body)  # an alias that no function hides reads best
                    aliases.sort(key=lambda i: bool(set(i.names) & shadowed))
                for alias in aliases:
                    if missing.isdisjoint(self.targets(state.summary, alias)):
                        continue
                    missing.difference_update(self.targets(state.summary, alias))
                    for name in alias.names:  # whoever binds the name last must still do so
                        for item in state.names[name]:
                            self.keep(module, item, state.required[pos])
                    self.keep(module, alias, state.required[pos])
                    changed = True
        return changed

    def _freeze_lost(self) -> bool:
        """Names that live code reads and that only decided branches bind keep those branches.

        ``if _is_hip: from aiter import f`` with ``f`` read under a run-time test: upstream would
        raise NameError there; so must we, but no checker may find a name that nobody defines.
        The branch stays behind a literal false test.
        """
        lost, self._lost = self._lost, set()
        self._unbound |= lost
        by_module: dict[str, list[str]] = {}
        for module, name in sorted(lost):
            by_module.setdefault(module, []).append(name)
        changed = False
        for module, names in by_module.items():
            state = self.out.states[module]
            positions = {g[2] for n in names for store in state.summary.stores[n] for g in store.guards} - state.frozen
            if positions:
                state.frozen |= positions
                self._rewalk(state)
            for name in names:
                if name in state.names:
                    self.need(module, name, module, "frozen", 0)
                    changed = True
        return changed

    def _rewalk(self, state: ModuleState) -> None:
        old = {(i.stmt[1], i.index, i.kind): i for i in state.items}
        fresh = ModuleWalker(self.world, state.summary, self.drops, state.frozen).walk()
        for index, item in enumerate(fresh.items):
            known = old.get((item.stmt[1], item.index, item.kind))
            if known is not None:
                fresh.items[index] = known
        state.changes += 1
        state.items = fresh.items
        state.unit, state.effects, state.eager = fresh.unit, fresh.effects, fresh.eager
        state.names = {}
        for item in state.items:
            for name in item.names:
                state.names.setdefault(name, []).append(item)
        self._settled.clear()
        self._take(state.summary.module, state.summary.module, state.unit)
        for item in state.items:
            if item.effect and not item.live:
                self.keep(state.summary.module, item, "effect")

    def _bind_guards(self) -> None:
        """``try: from gone import f; OK = True`` / ``if OK: f()``: the guard in the place of the import binds ``f``."""
        for module, name in sorted(self._unbound):
            state = self.out.states[module]
            for store in state.summary.stores[name]:
                known = state.unit.decisions.get(store.stmt[1])
                if store.kind == "import" and known is not None and known.action == "guard":
                    detail = (*known.detail, name)
                    state.unit.decisions[store.stmt[1]] = Decision("guard", known.origin, detail)

    def _collect_dead_aliases(self) -> None:
        for module, state in self.out.states.items():
            if not state.executed:
                continue
            dead = self.out.dead_aliases.setdefault(module, set())
            for item in state.items:
                if item.kind == "import" and not item.live and self._removable(state, item):
                    dead.add((item.stmt[1], item.index))
                state.touched |= not item.live or any(not m.live for m in item.methods)
            state.touched |= state.summary.package and "__all__" in state.names
            state.touched |= bool(state.unit.decisions or state.unit.remains.actions)
        for module, s, index in [*self._unread, *((m, s, i) for m, _, s, i, _ in self.idle)]:
            self.out.dead_aliases.setdefault(module, set()).add((s[1], index))
            self.out.states[module].touched = True

    def _freeze_overwriting(self) -> bool:
        """A decided ``if`` that binds an imported name again stays behind its literal test.

        ``from a import f`` / ``if not is_cpu(): f = g``: without the test the first import would be
        one that nobody uses, which checkers report and upstream did not have.
        """
        changed = False
        for module, state in list(self.out.states.items()):
            if not state.executed or not self._changed("overwritten", module, state):
                continue
            positions: set[int] = set()
            for name, items in state.names.items():
                alive = [i for i in items if i.live]
                for first, second in pairwise(alive):
                    if (
                        first.kind == "import"
                        and second.kind in ("import", "value")
                        and not first.in_try
                        and not second.conditional
                    ):
                        guards = [s.guards for s in state.summary.stores.get(name, ()) if s.stmt[1] == second.stmt[1]]
                        positions |= {g[2] for found in guards for g in found}
            positions -= state.frozen
            if positions:
                state.frozen |= positions
                self._rewalk(state)
                changed = True
        return changed

    def _removable(self, state: ModuleState, item: Item) -> bool:
        """An import nobody reads any more. One that upstream itself never read stays, unless it is plain."""
        s = item.stmt
        target, _ = self.table.import_target(state.summary, s, item.index)
        if target in self.table or target.split(".")[0] in STDLIB:
            return True
        read = self._read.get(state.summary.module)
        if read is None:
            read = self._read[state.summary.module] = _reads(state.summary.body)
        return item.names[0] in read


class Steps(NamedTuple):
    """What the path of a chain says by itself."""

    names: tuple[str, ...]  # the attributes that it names
    calls: bool  # it calls something
    looks: bool  # a module may be found by them
    watched: bool  # it lists members, or runs code
    plain: bool  # none of these, and no place or name of a module either


@cache
def _steps(path: tuple[str, ...]) -> Steps:
    names = tuple(step[1:] for step in path if step[0] == ".")
    calls, looks = any(step[0] == "(" for step in path), not LOOKS.isdisjoint(names)
    watched = not _WATCHED_STEPS.isdisjoint(path)
    return Steps(names, calls, looks, watched, not (calls or looks or watched) and _PLACES.isdisjoint(names))


def _untaken(path: str, row: Refused) -> Finding:
    """PR243: an entry that a rule names and that stays where it is."""
    text = f"rule {row.rule} drops {row.entry}, which {row.why}"
    return Finding("PR243", path, line_of(row.pos), text, row.advice)


def _locals(part: tuple[Any, ...]) -> set[str]:
    """Names that functions of the module bind for themselves, parameters included."""
    found: set[str] = set()
    stack: list[Any] = [part]
    while stack:
        item = stack.pop()
        if len(item) == 7 and item[0] == "def":
            found.update(item[6][0])
            found.update(item[6][1])
        stack += [inner for inner in item if inner.__class__ is tuple]
    return found


def _reads(part: tuple[Any, ...]) -> set[str]:
    """Every global name that unfolded code reads."""
    found: set[str] = set()
    stack: list[Any] = [part]
    while stack:
        item = stack.pop()
        if len(item) == 3 and item[0] in ("n", "b") and isinstance(item[1], str) and isinstance(item[2], tuple):
            found.add(item[1])
        stack += [inner for inner in item if inner.__class__ is tuple]
    return found


def _walker(world: ProgramWorld, summary: Summary, drops: Drops, early: bool) -> Walker:
    resolve, dropped = function_import(world, summary), dropped_import(world, summary, drops)
    walker = Walker(world, summary.module, resolve, dropped, early)
    walker.walrus = summary.walrus
    walker.member_test = drops.members_of if summary.module in drops.members else None
    walker.entries = entries_of(walker, world, drops)
    return walker


def walk_item(world: ProgramWorld, summary: Summary, drops: Drops, item: Item, early: bool) -> Unit:
    """Walk one live item as its own unit. ``early``: code at import may call it."""
    walker = _walker(world, summary, drops, early)
    s = item.stmt
    if item.kind == "def":
        walker.signature(s)
        walker.function(s)
    elif item.kind == "class":
        for part in (*s[4], *s[5], *(v for _, v in s[6])):
            walker.read(part, s[1])
        walker.methods = []
        walker.class_body(s)
        item.methods = item.methods or [Method(m) for m in walker.methods]
    elif s[0] == "=" and not (item.names == ("__all__",) and summary.plain_all):
        # The entries of a literal `__all__` keep nothing: they follow what is kept.
        if walker.entries is not None:
            walker.take_entries(s)
            walker.counted(s)
        if len(s) > 6:
            walker.read(s[6], s[1])
        walker.read(s[4], s[1])
    return walker.unit


def walk_method(world: ProgramWorld, summary: Summary, drops: Drops, item: Item, method: Method, early: bool) -> Unit:
    """Walk one live method as its own unit."""
    walker = _walker(world, summary, drops, early)
    walker.method(item.stmt, method.stmt)
    return walker.unit
