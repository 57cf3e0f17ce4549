"""A module body under the facts: what runs at import, and what waits to be asked for.

Definitions, plain assignments and imports are *items*: they live when something live reads
their name. Everything else runs whenever the module is imported, and counts as an effect
unless it can be dropped.

Blind to: effects hidden in names that rules call pure, ``__set_name__`` and descriptors; what a class of another package
does when one in the body of a class derives from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pruner.fold.entries import Entries
from pruner.fold.forms import Refused, firm
from pruner.fold.residual import Decision, Unit, Walker
from pruner.graph.drops import Drops
from pruner.graph.effects import PURE_BASES, PURE_CALLS, callee, decorated, plain_class, registry_tables
from pruner.model.ir import EMPTY, Expr, Stmt, constants, imports_in
from pruner.scan.summary import Summary

if TYPE_CHECKING:
    from pruner.graph.world import ProgramWorld


@dataclass(slots=True)
class Item:
    """A piece of a module body that lives on demand."""

    stmt: Stmt
    names: tuple[str, ...]
    kind: str  # def, class, value, import, star
    index: int = 0
    in_try: bool = False
    conditional: bool = False  # under a test that is not decided
    typed: bool = False  # an import under `if TYPE_CHECKING:`, which no run loads
    effect: str = ""  # why it runs whenever the module is imported; "" = on demand only
    live: bool = False
    walked: bool = False
    dropped: str = ""  # rule id of a drop rule that names it as an entry of a registry
    methods: list[Method] = field(default_factory=list)
    api: bool = False  # a root or keep names the class: its public methods have users outside
    decided: Unit | None = None  # its walk, when something in it was decided: the rewriter edits from it
    targets: list[str] | None = None  # of an import, once they were asked for: see Marker.targets


def alias_of(s: Stmt, index: int) -> Item:
    """One name of an import statement in a function."""
    return Item(s, (), "import", index)


@dataclass(slots=True)
class Method:
    """A method of a live class: lives when live code names it."""

    stmt: Stmt
    live: bool = False
    walked: bool = False
    dropped: str = ""  # rule id of a drop rule that names it
    decided: Unit | None = None


@dataclass(slots=True)
class ModuleState:
    """What is known of one module during marking."""

    summary: Summary
    unit: Unit
    items: list[Item] = field(default_factory=list)
    names: dict[str, list[Item]] = field(default_factory=dict)
    effects: list[tuple[int, str]] = field(default_factory=list)
    calls: list[Stmt] = field(default_factory=list)  # what the body calls for its own sake, not in a ``try``
    eager: list[str] = field(default_factory=list)  # modules of the tree that the body imports
    typed: set[str] = field(default_factory=set)  # names that type checkers alone see imported
    executed: bool = False
    escaped: bool = False
    valued: bool = False
    evaluated: bool = False  # it runs code that is not written there
    loader: bool | None = None  # it loads files by path; None: not looked at yet
    required: dict[int, str] = field(default_factory=dict)  # imports that must run, by position: why
    needed: dict[int, set[str]] = field(default_factory=dict)  # and which modules they must load
    frozen: set[int] = field(default_factory=set)
    forced: set[int] = field(default_factory=set)  # methods, by position, whose defaults do something
    touched: bool = False  # something of the file may change: the rewriter has to look
    changes: int = 0  # how often another item lived, an import was required, or the body was walked again
    unread: tuple[int, list[Item]] = (-1, [])  # see Marker.unread, and at which of the changes that was


class ModuleWalker(Walker):
    """Walks a module body; at module level it registers items instead of reading them."""

    def __init__(self, world: ProgramWorld, summary: Summary, drops: Drops, frozen: set[int] | None = None) -> None:
        super().__init__(world, summary.module, function_import(world, summary), dropped_import(world, summary, drops))
        self.walrus = summary.walrus
        self.program = world
        self.drops = drops
        self.entries = entries_of(self, world, drops)
        self.frozen = set(frozen or ())
        self.state = ModuleState(summary, self.unit)
        self._forced = 0  # inside for/while/with: everything runs
        self._tried = 0
        self._undecided = 0
        self._typed: set[int] = set()  # positions of imports that only type checkers see
        # Annotations run where they stand, unless the module puts that off.
        self._notes = not any(
            s[0] == "from" and s[3] == "__future__" and ("annotations", None) in s[5] for s in summary.body
        )

    def walk(self) -> ModuleState:
        """Walk the whole body."""
        self.block(self.state.summary.body)
        if self.state.summary.error:  # read by LibCST alone: everything in it counts
            for item in self.state.items:
                item.effect = item.effect or "not analysed"
        for name, items in self.state.names.items():
            if name.startswith("__") and name.endswith("__"):
                for item in items:
                    item.effect = item.effect or "special name"
        return self.state

    @property
    def _top(self) -> bool:
        return not self.local.stack

    def _add(self, item: Item) -> None:
        item.conditional = bool(self._undecided or self._tried or self._forced)
        if self._forced:
            item.effect = item.effect or "runs in a loop or context"
        self.state.items.append(item)
        for name in item.names:
            self.state.names.setdefault(name, []).append(item)

    def _effect(self, s: Stmt, why: str) -> None:
        self.state.effects.append((s[1], why))

    # -- statements at module level -----------------------------------------------------------

    def _if(self, s: Stmt) -> int:
        if not self._top:
            return super()._if(s)
        if not self.ev.droppable(s[3]):
            self._effect(s, "test")
        if s[3][0] == "n" and (s[3][1], *s[3][2])[-1].lstrip(".") == "TYPE_CHECKING":
            if self._callee(s[3]) == "typing.TYPE_CHECKING":
                self._typed |= {part[1] for part in imports_in(s[4])}
        decided = self._decide(s) is not None
        self._undecided += not decided
        end = super()._if(s)
        self._undecided -= not decided
        return end

    def _e(self, s: Stmt) -> int:
        if self._top and s[3][0] in ("n", "k"):
            rule = self._registered(s[3], s[1])
            if rule:
                self.unit.decisions[s[1]] = Decision("cut", frozenset({rule}))
                return 0
        if self._top and not self._tried:
            self.state.calls.append(s)
        return super()._e(s)

    def runs(self, s: Stmt) -> None:
        """An expression that is evaluated for its own sake is an effect of the module, unless it does nothing."""
        if self._top and not (s[3][0] == "c" or s[3] == ("o", ())) and not self.droppable(s[3]):
            self._effect(s, "call")

    def _raise(self, s: Stmt) -> int:
        if self._top:
            self._effect(s, "raise")
        return super()._raise(s)

    def _assign(self, s: Stmt) -> int:
        if not self._top:
            return super()._assign(s)
        if self.entries is not None and self._item(s):
            return 0
        if all(t[0] == "n" for t in s[3]):
            names = tuple(t[1] for t in s[3])
            item = Item(s, names, "value", in_try=bool(self._tried))
            if self._tried:
                item.effect = "in try"
            elif s[5] == "+" and not self._own(names[0]):
                item.effect = "augmented assignment"
                self._effect(s, "augmented assignment")
            elif not self.droppable(s[4], s[5] == "*") or (self._notes and len(s) > 6 and not self.droppable(s[6])):
                item.effect = "call"
                self._effect(s, "assigned call")
            self._add(item)
            return 0
        self._effect(s, "store into a part")
        return super()._assign(s)

    def _own(self, name: str) -> bool:
        """Is the global made here, by displays and constants alone? ``L += [2]`` changes a list that came from elsewhere."""
        stores = [s.stmt for s in self.program.stores(self.module, name) if s.kind != "value" or s.stmt[5] != "+"]
        return all(s[0] == "=" and s[4][0] in ("c", "t", "d") for s in stores)

    def _for(self, s: Stmt) -> int:
        return self._loop(s, super()._for)

    def _while(self, s: Stmt) -> int:
        return self._loop(s, super()._while)

    def _with(self, s: Stmt) -> int:
        return self._loop(s, super()._with)

    def _loop(self, s: Stmt, walk: Any) -> int:
        if not self._top:
            return int(walk(s))
        self._effect(s, s[0])
        self._forced += 1
        end = walk(s)
        self._forced -= 1
        return int(end)

    def targets(self, targets: tuple[Any, ...], pos: int) -> None:
        """A loop variable at module level is a value that its loop makes."""
        if self._top:
            for target in targets:
                if target[0] == "n":
                    self._add(Item(("pass", pos, pos >> 16), (target[1],), "value", effect="loop"))
            targets = tuple(t for t in targets if t[0] != "n")
        super().targets(targets, pos)

    def _try(self, s: Stmt) -> int:
        if not self._top:
            return super()._try(s)
        self._tried += 1
        end = super()._try(s)
        self._tried -= 1
        return end

    def _def(self, s: Stmt) -> int:
        if not self._top:
            return super()._def(s)
        item = Item(s, (s[3],), "def")
        why = self._decorated(s[4]) or next(("default" for e in s[5] if not self.droppable(e)), "")
        self._definition(s, item, why)
        return 0

    def _class(self, s: Stmt) -> int:
        if not self._top:
            return super()._class(s)
        item = Item(s, (s[3],), "class")
        defaults = "default of a method" if self._defaults(s[7]) else ""
        self._definition(s, item, self._decorated(s[4]) or self._class_effect(s) or defaults)
        return 0

    def _definition(self, s: Stmt, item: Item, why: str) -> None:
        # A rule that names the definition takes it with what its decorators would have done.
        item.dropped = self.drops.symbols.get((self.module, s[3]), "")
        taken = [self._registered(decorator, s[1]) for decorator in s[4]] if self.drops.entries else []
        if any(taken) and not item.dropped:
            item.dropped = self._sole(s, taken)
        if why and not item.dropped:
            item.effect = why
            self._effect(s, why)
        self._add(item)

    def _sole(self, s: Stmt, taken: list[str]) -> str:
        """The rule that takes a definition with its registration; "" where it is registered under a kept key too."""
        rule = next(filter(None, taken))
        known = [_registrations(self.program, self.module, decorator) for decorator in s[4]]
        places = {place for row, rules in zip(known, taken, strict=True) if rules for place, _ in row}
        others = [row for row, rules in zip(known, taken, strict=True) if row and not rules]
        kept = sorted(key for row in others for place, key in row if place in places)
        if not kept:
            return rule
        table, key = next((t, k) for row in known for t, k in row if self.drops.entry(t, k))
        why = f"{s[3]} is registered for, as for {kept[0]!r}"
        self.unit.refused.append(
            Refused(s[1], rule, f"{table}[{key}]", why, "drop the other keys too, or keep this one")
        )
        return ""

    def _registered(self, e: Expr, pos: int) -> str:
        """Rule id when the call registers under a key that a rule drops, and stores nowhere else."""
        if not self.drops.entries:
            return ""
        for table, key in _registrations(self.program, self.module, e):
            rule = self.drops.entry(table, key)
            others = sorted(self._also(e, table)) if rule else []
            if others:
                why = f"is registered by what stores into {others[0]} as well"
                advice = f"drop {self._callee(e)}[{key}] in its place if all of that may go, or keep this one"
                self.unit.refused.append(Refused(pos, rule, f"{table}[{key}]", why, advice))
            elif rule:
                return rule
        return ""

    def _also(self, e: Expr, table: str) -> set[str]:
        """Other tables that the registering function fills, under something else than the key: ``NAMES[cls.__name__] = key``."""
        rows = registry_tables(self.program, self._callee(e))
        if table not in {name for name, _, _ in rows}:
            return set()  # the rule names the function itself
        keyed = {name for name, parameter, _ in rows if parameter}
        others = {name for name, _, _ in rows} - keyed - {table}
        return {name for name in others if not (table.startswith(f"{name}.") or name.startswith(f"{table}."))}

    def _decorated(self, decorators: tuple[Expr, ...]) -> str:
        return decorated(self.program, self.module, decorators)

    def _callee(self, e: Expr) -> str:
        return callee(self.program, self.module, e)

    def droppable(self, e: Expr, unpacked: bool = False) -> bool:
        """Droppable, taking calls that only make a value for pure; ``unpacked``: and its parts are handed to several names."""
        if unpacked:
            return self.droppable(e) and self.ev.lasting(e)
        if e[0] == "k" and all(self.droppable(a) for a in e[2]) and all(self.droppable(v) for _, v in e[3]):
            if self._callee(e) in PURE_CALLS:
                return True
        if e[0] == "n" and e[2] and e[2][-1][0] == "(" and self._callee(e) in PURE_CALLS:
            return True
        if e[0] in ("t",):
            return all(self.droppable(p) for p in e[2])
        if e[0] == "d":
            return all((k is None or self.droppable(k)) and self.droppable(v) for k, v in e[1])
        if e[0] in ("o", "&", "|", "j"):
            return all(self.droppable(p) for p in e[1]) and self.ev.consumes_nothing(e)
        if e[0] == "?":
            return all(self.droppable(p) for p in e[1:])
        return self.ev.droppable(e)

    def _class_effect(self, s: Stmt, inner: bool = False) -> str:
        for base in s[5]:
            why = self._base_effect(base)
            if why and not (inner and self._foreign(base)):
                return why
        for name, value in s[6]:
            known = name == "metaclass" and self._callee(value) in ("abc.ABCMeta", "enum.EnumMeta")
            if not known and name not in ("frozen", "total"):
                return f"class keyword {name}"
        return self._body_effect(s[7])

    def _defaults(self, body: Any) -> bool:
        """True when a default of a method does something: the method stays then."""
        found = False
        for part in body:
            if part[0] == "def" and not all(self.droppable(e) for e in part[5]):
                self.state.forced.add(part[1])
                found = True
            for inner in (part[4], part[5]) if part[0] == "if" else ():
                found |= self._defaults(inner)
        return found

    def _body_effect(self, body: Any) -> str:
        for part in body:
            tag = part[0]
            if tag == "e" and part[3][0] != "c" and part[3] != ("o", ()) and not self.droppable(part[3]):
                return "call in class body"
            if tag == "=" and any(t[0] == "n" for t in part[3]):
                return "global in class body"
            if tag == "=" and part[5] == "+":
                return "augmented assignment in class body"  # L += [8] changes the list of another module
            if tag == "=" and not self.droppable(part[4]) and (part[5] != "?" or self._notes):
                return "call in class body"
            if tag == "=" and self._notes and len(part) > 6 and not self.droppable(part[6]):
                return "annotation in class body"
            if tag == "def":
                why = self._decorated(part[4])
                if why and not why.startswith("decorator ?"):
                    return why
            if tag == "if":
                why = self._body_effect(part[4]) or self._body_effect(part[5])
                if why:
                    return why
            if tag == "class":  # class Outer: class Inner: field = Registering()
                why = self._decorated(part[4]) or self._class_effect(part, inner=True)
                if why:
                    return why
            if tag in ("for", "while", "with", "try", "match", "global", "import", "from", "assert", "raise", "del"):
                return f"{tag} in class body"
        return ""

    def _foreign(self, base: Expr) -> bool:
        """Is it a class of another package?"""
        return base[0] == "n" and self.program.follow(self.module, base[1], base[2])[0].kind == "outside"

    def _base_effect(self, base: Expr) -> str:
        if base[0] == "n" and base[2] and base[2][-1][0] == "[":
            base = ("n", base[1], base[2][:-1])  # Generic["T"]
        if base[0] == "o" and base[1] and base[1][0][0] == "n":
            base = base[1][0]  # Generic[T]
        if base[0] != "n":
            return "base ?"
        symbol, rest = self.program.follow(self.module, base[1], base[2])
        name = symbol.name if symbol.kind == "builtin" else symbol.text + "".join(rest)
        if name in PURE_BASES or name in self.program.purities:
            return ""
        if symbol.kind == "builtin" and not rest:
            return ""
        if symbol.kind == "binding" and not rest and plain_class(self.program, symbol.module, symbol.name):
            return ""
        return f"base {name}"

    def _import(self, s: Stmt) -> int:
        if not self._top or (self._tried and self.dropped(s) is not None):
            return super()._import(s)
        table, summary = self.program.table, self.state.summary
        aliases = s[3] if s[0] == "import" else s[5]
        for index, (name, asname) in enumerate(aliases):
            if s[0] == "from" and name == "*":
                item = Item(s, (), "star", index)
            else:
                item = Item(s, (asname or (name.split(".")[0] if s[0] == "import" else name),), "import", index)
            if self._tried:
                item.in_try = True
                item.effect = "in try"
            if s[0] == "from" and s[3] == "__future__":
                item.effect = "future"
            item.typed = s[1] in self._typed
            self._add(item)
            if item.typed:
                self.state.typed.update(item.names)
                continue
            module = name if s[0] == "import" else table.absolute(summary, s[3], s[4])
            for target in imported_modules(self.program, module, name if s[0] == "from" else ""):
                self.state.eager.append(target)
        return 0

    def _del(self, s: Stmt) -> int:
        if self._top:
            self._effect(s, "del")
        return super()._del(s)


def entries_of(walker: Walker, world: ProgramWorld, drops: Drops) -> Entries | None:
    """The entries that rules drop, for the walk of one module; None when no rule names any."""
    if not drops.entries:
        return None

    def source(e: Expr) -> tuple[str, list[Expr]]:
        found: Any = walker.origin(e)
        seen: set[str] = set()
        while found is not None:
            symbol, rest = world.follow(*found)
            if symbol.kind != "binding" or rest or symbol.text in seen:
                return "", []
            seen.add(symbol.text)
            stores = [s for s in world.stores(symbol.module, symbol.name) if s.kind == "value" and s.stmt[0] == "="]
            value = stores[0].stmt[4] if len(stores) == 1 else EMPTY
            if value[0] != "n" or symbol.text in drops.entries:
                return symbol.text, [s.stmt[4] for s in stores]
            found = symbol.module, value[1], value[2]  # KINDS = tables.KINDS
        return "", []

    return Entries(drops.entries, drops.entry, walker.table_of, source, drops.entry_ends)


def _registrations(world: ProgramWorld, module: str, e: Expr) -> list[tuple[str, str]]:
    """(table or registering function, key) pairs of ``register("key", ...)``, ``register(cls, name="key")``.

    Where the function is one of the tree, the key is the argument that it stores under. Else it is a constant first
    argument, or the keyword ``name`` or ``key``.
    """
    if e[0] == "k" and e[1][0] == "n":
        chain, args, kwargs = e[1], e[2], dict(e[3])
    elif e[0] == "n" and e[2] and e[2][-1][0] == "(":
        chain, args, kwargs = (*e[:2], e[2][:-1]), tuple(("c", c) for c in constants(e[2][-1])), {}
    else:
        return []
    function = world.canonical(module, chain[1], chain[2])
    plain = [str(args[0][1])] if args and args[0][0] == "c" else []
    plain += [str(kwargs[n][1]) for n in ("name", "key") if n in kwargs and kwargs[n][0] == "c"]
    found = [(function, key) for key in plain]
    for table, parameter, parameters in registry_tables(world, function):
        at = parameters.index(parameter) if parameter else -1
        given = kwargs.get(parameter, args[at] if 0 <= at < len(args) else EMPTY)
        keys = ([firm(given)] if firm(given) else []) if parameter else plain
        found += [(name, key) for key in keys for name in (function, table)]
    return found


def exported_words(summary: Summary) -> set[str]:
    """The words of every value that ``__all__`` is given, or that is added to it."""
    found: set[str] = set()
    stack: list[object] = [store.stmt for store in summary.stores.get("__all__", ())]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            if len(part) == 2 and part[0] == "c" and isinstance(part[1], str):
                found.add(part[1])
            stack.extend(part)
    return found


def imported_modules(world: ProgramWorld, module: str, name: str) -> list[str]:
    """Modules of the tree that an import runs: the module, its parents, and a submodule that it names."""
    table = world.table
    if module not in table:
        return []
    found = [module]
    summary = table.load(module) if name == "*" else None
    if summary is not None and summary.package:  # `__all__` of a package may name submodules, which are loaded then
        words = sorted(exported_words(summary) - summary.stores.keys())
        found += [f"{module}.{word}" for word in words if f"{module}.{word}" in table.paths]
    elif name and name != "*" and f"{module}.{name}" in table:  # else nothing of the module is asked: it may be dropped
        symbol = world.attribute(module, name)
        if symbol.kind == "module" and symbol.module == f"{module}.{name}":
            found.append(symbol.module)
    return found


def function_import(world: Any, summary: Summary) -> Any:
    """A resolver of function-level aliases: (module, root, path) that the alias stands for."""

    def resolve(s: Stmt, index: int) -> tuple[str, str, tuple[str, ...]] | None:
        module, name = world.table.import_target(summary, s, index)
        return None if name == "*" else (f"={module}", name, ())

    return resolve


def dropped_import(world: Any, summary: Summary, drops: Drops) -> Any:
    """A test of function-level imports: (dropped name, rule id) when every alias was dropped by a rule."""

    def test(s: Stmt) -> tuple[str, str] | None:
        found = None
        aliases = s[3] if s[0] == "import" else s[5]
        for index in range(len(aliases)):
            module, name = world.table.import_target(summary, s, index)
            if s[0] == "import":
                module, name = aliases[index][0], ""
            found = drops.find(module, name)
            if found is None:
                return None
        return found

    return test
