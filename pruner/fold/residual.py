"""What is left of statements under the facts: decided branches, dead tails, names still read.

The walker records a *decision* per statement position and never edits. Python fixes three
things by syntax rather than by reachability, so a removal that would change one of them is
refused (the statement is *frozen*: its dead arm stays):

* the last binding of a name that the function still reads (the read would become global);
* the last ``yield`` of a generator;
* (module level is left to the linker, which sees who else reads the name).

A ``global``/``nonlocal`` statement of a dead arm acts on the whole function; it is hoisted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pruner.fold import value as V
from pruner.fold.alone import is_constant, lone_store
from pruner.fold.cases import Left, bound
from pruner.fold.entries import Entries, touches
from pruner.fold.evaluate import Evaluator, World, apply_path
from pruner.fold.forms import Refused, Taken
from pruner.fold.numbered import is_enum, renumbered
from pruner.fold.reduce import Reducer, Remains, binds
from pruner.fold.value import Value
from pruner.model.ir import Block, Expr, Stmt, mentions

Target = tuple[str, str, tuple[str, ...]]


@dataclass(slots=True)
class Decision:
    """What happens to one statement.

    ``action``: ``yes`` (the body replaces it), ``no`` (the else part replaces it), ``cut``
    (it goes), ``freeze`` (its test becomes a literal, both arms stay), ``case`` (the cases
    listed in ``detail`` go), ``guard`` (an import of something dropped: ``detail`` names it and
    the rule). For ``yes`` and ``no``, ``detail`` is what the test must still do, or None.
    """

    action: str
    origin: V.Origin
    detail: Any = None


@dataclass(slots=True)
class Scope:
    """One enclosing function while it is walked."""

    names: frozenset[str]
    once: frozenset[str] = frozenset()
    top: frozenset[int] = frozenset()
    constants: dict[str, Value] = field(default_factory=dict)
    imports: dict[str, Target] = field(default_factory=dict)
    reads: set[str] = field(default_factory=set)
    bound: set[str] = field(default_factory=set)
    removed: list[tuple[int, Block, tuple[Expr, ...]]] = field(default_factory=list)
    is_class: bool = False
    body: Block = ()
    params: frozenset[str] = frozenset()


class LocalView:
    """Names of the enclosing functions, innermost last."""

    __slots__ = ("known", "stack", "world")

    def __init__(self, world: World) -> None:
        self.world = world
        self.stack: list[Scope] = []
        self.known: set[str] = set()  # names with a constant or an import in any scope so far: most have none

    def find(self, name: str, in_class: bool = False) -> Scope | None:
        """The scope that binds ``name``; a class scope is seen by its own body only (``in_class``)."""
        for scope in reversed(self.stack):
            if name in scope.names and scope.is_class == in_class:
                return scope
        return None

    def chain(self, name: str, path: tuple[str, ...]) -> Value | None:
        """Value of a local chain: a constant local, or a function-level import followed."""
        if name not in self.known:
            return None
        scope = self.find(name)
        if scope is None:
            return None
        known = scope.constants.get(name)
        if known is not None:
            return apply_path(known, path)
        target = scope.imports.get(name)
        if target is not None:
            return self.world.chain(target[0], target[1], target[2] + path)
        return None

    def target(self, name: str) -> Target | None:
        """What a function-level import stands for."""
        if name not in self.known:
            return None
        scope = self.find(name)
        return scope.imports.get(name) if scope is not None else None


@dataclass(frozen=True, slots=True)
class MemberStore:
    """A live store into an attribute that a fact speaks of.

    ``owner`` is the class when the object is its ``self``. ``value``: ``("c", constant, ...)``, ``("same",)``
    (the same attribute of another object), ``("named",)`` (a local of the same name) or ``("?",)``;
    ``("!",)`` for ``+=``, ``del`` and loop targets.
    """

    name: str
    owner: str
    value: tuple[Any, ...]
    pos: int


@dataclass(slots=True)
class Unit:
    """Result of walking one module body, function or class."""

    remains: Remains = field(default_factory=Remains)
    decisions: dict[int, Decision] = field(default_factory=dict)
    constants: dict[int, dict[str, Value]] = field(default_factory=dict)  # function position -> locals
    imports: list[tuple[Stmt, int, str]] = field(
        default_factory=list
    )  # statement, alias index, read/orphan/unread/tried
    reads: list[tuple[Target, tuple[str, ...], int]] = field(default_factory=list)  # import targets read: path, line
    lines: list[int] = field(default_factory=list)  # position of each chain that remains
    stores: list[MemberStore] = field(default_factory=list)  # into attributes that facts speak of
    definers: list[tuple[str, str, str]] = field(default_factory=list)  # class, member that facts speak of, kind
    globals: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)  # `global` statements: position, names
    loose: set[tuple[int, int]] = field(default_factory=set)  # imports (position, index) whose reads are not followed
    refused: list[Refused] = field(default_factory=list)  # entries that rules name and that stay

    @property
    def changes(self) -> bool:
        """True when something in it was decided: the rewriter has to look."""
        return bool(self.decisions or self.remains.actions)


LEAVES, RAISES, FOLDED = 1, 2, 4


class Walker:
    """Walks statements of one module."""

    def __init__(self, world: World, module: str, importer: Any, dropped: Any = None, early: bool = False) -> None:
        self.world = world
        self.module = module
        self.importer = importer  # (stmt, alias index) -> Target, for function-level imports
        self.dropped = dropped  # (stmt) -> (dropped module, rule) or None
        self.entries: Entries | None = None  # when rules drop entries of tables
        self.member_test: Any = None  # (module, "Class.member") → the rule that drops it, or ""
        self._uncounted: set[str] = set()  # enums of which nobody knows what number a member would lose
        self._enums: set[str] = set()  # classes that are enums
        self._stayed: dict[tuple[str, str], Refused] = {}  # (class, value) that rules drop and that stays
        self._numbers: dict[int, int] = {}  # position → the number that an auto() would lose
        self.names: list[str] = []  # enclosing functions and classes
        self.methods: list[Stmt] | None = None  # when set, methods of the outermost class wait here
        self.walrus = True  # may the file hold a ``:=``?
        self.trying = 0  # depth of enclosing try bodies: imports there are availability probes
        self.local = LocalView(world)
        self._full = Evaluator(world, module, self.local, answers=True)
        # Module and class bodies, decorators and defaults run wherever the module is imported, also on a
        # client host without a device: only facts that hold there fold them.
        self._early = Evaluator(getattr(world, "at_import", world), module, self.local, answers=True)
        if early or module in getattr(world, "asking", ()):
            self._full = self._early  # code at import calls what is walked
        self.unit = Unit()
        gone: dict[int, Any] = {}
        self._full_red = Reducer(self._full, self.unit.remains, gone)
        self._early_red = Reducer(self._early, self.unit.remains, gone)
        self.importing = True  # is the walk in code that runs at import, and not in a function?
        self.ev = self._early  # for where the walk is
        self.red = self._early_red
        self.frozen: set[int] = set()
        self.module_scope = Scope(frozenset())
        self._bound: dict[int, set[str]] = {}  # position of a statement -> see _binds
        self._elifs: set[int] = set()  # positions of `elif` whose head stays

    def _enter(self, scope: Scope) -> None:
        self.local.stack.append(scope)
        self._aim()

    def _exit(self) -> None:
        self.local.stack.pop()
        self._aim()

    def _aim(self) -> None:
        self._forget()
        self.importing = all(scope.is_class for scope in self.local.stack)
        self.ev, self.red = (self._early, self._early_red) if self.importing else (self._full, self._full_red)

    def _forget(self) -> None:
        self._full.forget()
        self._early.forget()

    def _learn(self, scope: Scope, name: str, known: Value) -> None:
        """A local is a constant from here on."""
        scope.constants[name] = known
        self.local.known.add(name)
        self._forget()

    # -- expressions -----------------------------------------------------------------------

    def read(self, e: Expr, pos: int, test: bool = False) -> None:
        """Take what ``e`` still reads."""
        chains, calls = self.unit.remains.chains, self.unit.remains.calls
        before, made = len(chains), len(calls)
        (self.red.test if test else self.red.value)(e)
        if len(chains) > before:
            for chain in chains[before:]:
                self._note(chain, pos)
        if self.entries is not None and len(calls) > made:
            for call in calls[made:]:
                self._used(call, pos)
        if self.unit.remains.rebound:
            if self.local.stack:
                self.local.stack[-1].bound |= self.unit.remains.rebound
            self.unit.remains.rebound.clear()  # `:=` binds here, not in the scopes walked later

    def _used(self, e: Expr, pos: int) -> None:
        """Note what an expression that stays does with an entry that goes."""
        assert self.entries is not None
        found = self.entries.used(e, pos, self.importing)
        if found:
            self.unit.refused += found

    def _note(self, chain: Expr, pos: int, stored: bool = False) -> None:
        self.unit.lines.append(pos)
        tag = chain[0]
        if chain[2] and self.entries is not None and touches(chain[2]):
            self._used((tag, chain[1], chain[2][:-1]) if stored else chain, pos)
        if tag != "n":
            scope = self.local.find(chain[1], tag == "b")
            if scope is not None:
                scope.reads.add(chain[1])
                target = scope.imports.get(chain[1])
                if target is not None:
                    self.unit.reads.append((target, chain[2], pos))

    def store(self, e: Expr, pos: int, deleted: bool = False) -> None:
        """A store into a part of an object: the object is read, the stored name is no value to fold."""
        chains = self.unit.remains.chains
        before = len(chains)
        self.red.raw(e)
        for index in range(before, len(chains)):
            self._note(chains[index], pos, stored=chains[index] is e and not deleted)

    # -- blocks ------------------------------------------------------------------------------

    def block(self, block: Block) -> int:
        """Walk a suite. Returns how it ends: bits LEAVES, RAISES, and FOLDED when a fact made it so."""
        for index, stmt in enumerate(block):
            end = self.statement(stmt)
            if end & (LEAVES | RAISES):
                rest = block[index + 1 :]
                # A module that raises has none of what follows; who imports that inside a `try` names it all the same.
                if end & FOLDED and rest and (self.local.stack or self.trying):
                    self._cut(rest, self._origin_of(stmt))
                else:
                    for later in rest:  # dead upstream already: not ours to remove
                        self.statement(later)
                return end
        return 0

    def _cut(self, rest: Block, origin: V.Origin) -> None:
        if any(s[1] in self.frozen for s in rest):
            for later in rest:
                self.statement(later)
            return
        for stmt in rest:
            self.unit.decisions[stmt[1]] = Decision("cut", origin)
        self._remove(rest[0][1], rest, ())

    def _origin_of(self, stmt: Stmt) -> V.Origin:
        decision = self.unit.decisions.get(stmt[1])
        if decision is not None:
            return decision.origin
        inner: V.Origin = V.NONE
        for part in _blocks(stmt):
            for child in part:
                inner |= self._origin_of(child)
        return inner

    def _remove(self, pos: int, block: Block, exprs: tuple[Expr, ...]) -> None:
        scope = self.local.stack[-1] if self.local.stack else self.module_scope
        scope.removed.append((pos, block, exprs))

    def statement(self, s: Stmt) -> int:
        """Walk one statement."""
        return getattr(self, _NAMES[s[0]])(s)  # type: ignore[no-any-return]

    # -- decided statements ----------------------------------------------------------------

    def _decide(self, s: Stmt) -> tuple[bool, V.Origin] | None:
        """Truth of a test that may be acted on: droppable, or its effect can be kept."""
        truth = self.ev.truth(s[3])
        if truth is None or not truth[1] or s[1] in self.frozen:
            return None
        return truth

    def effect(self, test: Expr) -> Expr | None:
        """The part of a decided test that must still run, as one expression; None when nothing must."""
        if self.ev.droppable(test):
            return None
        if test[0] == "!":
            return test if test[1][0] not in ("!", "&", "|") else self.effect(test[1])
        if test[0] in ("&", "|"):
            stops = test[0] == "|"
            kept: list[Expr] = []
            for operand in test[1]:
                truth = self.ev.truth(operand)
                if truth is not None and truth[1] and self.ev.droppable(operand):
                    if truth[0] == stops:
                        break
                    continue
                kept.append(operand)
                if truth is not None and truth[1] and truth[0] == stops:
                    break  # what stands behind it never runs
            while kept and self.ev.droppable(kept[-1]):
                kept.pop()
            return kept[0] if len(kept) == 1 else (test[0], tuple(kept)) if kept else None
        return test

    def _if(self, s: Stmt) -> int:
        truth = self._decide(s)
        yes, no = s[4], s[5]
        if truth is not None:
            effect = self.effect(s[3])
            # A test that is one call with an effect is left as it is: nothing would be gained.
            # But ``if cfg := find():`` loses its suite; the binding stays for later readers.
            if effect is None or (not self._is_elif(s) and (s[3] is not effect or effect[0] == ":=")):
                if effect is not None:
                    self.read(effect, s[1], test=True)
                if self._is_elif(s):
                    self._chain(s)  # the head stays, so what follows this arm is an `elif` as well
                dead, live = (no, yes) if truth[0] else (yes, no)
                dropped = () if effect is s[3] else (s[3],)
                self.unit.decisions[s[1]] = Decision("yes" if truth[0] else "no", truth[1], effect)
                self._remove(s[1], dead, dropped)
                if dead and self.local.stack:
                    self._alone(dead, truth[1])
                end = self.block(live)
                return end | FOLDED if end else 0
        self._chain(s)
        if s[1] in self.frozen:
            known = self.ev.truth(s[3])
            if known is not None and known[1] and self.ev.droppable(s[3]) and not binds(s[3]):
                self.unit.decisions[s[1]] = Decision("freeze", known[1], known[0])
                self.unit.remains.actions.append((s[3], "literal", known[0], known[1]))
            else:
                self.read(s[3], s[1], test=True)
        else:
            self.read(s[3], s[1], test=True)
        first, second = self.block(yes), self.block(no)
        if yes and no and first & 3 and second & 3:
            return first | second
        return 0

    def _binds(self, block: Block) -> set[str]:
        """:func:`_bound_in`, worked out once for each statement: it is asked for every name of a branch."""
        names: set[str] = set()
        for s in block:
            if s[1] not in self._bound:
                self._bound[s[1]] = _bound_in((s,)) if self.walrus else _stored_in((s,))
            names |= self._bound[s[1]]
        return names

    def _walrus(self, e: Expr) -> set[str]:
        return walrus_names(e) if self.walrus else _NONE

    def _alone(self, dead: Block, origin: V.Origin) -> None:
        """Locals that the dead arm stored too, and of which one store is left, are what that stores."""
        scope = self.local.stack[-1]
        if scope.is_class:
            return
        gone = {s[1] for _, block, _ in scope.removed for s in block}
        for name in sorted(self._binds(dead) & scope.names - scope.params):
            store = lone_store(name, scope.body, gone, self._binds, _blocks, self._walrus)
            if store is None or store[1] >= dead[0][1] or not is_constant(store[4]):
                continue
            known = self.ev.constant(store[4])
            if known is not None and known.values is not None:
                self._learn(scope, name, replace(known, origin=known.origin | origin))

    def _chain(self, s: Stmt) -> None:
        no = s[5]
        if len(no) == 1 and no[0][0] == "if" and no[0][1] & 0xFFFF == s[1] & 0xFFFF:
            self._elifs.add(no[0][1])  # same column: `elif`, not `else:` with an `if` inside

    def _is_elif(self, s: Stmt) -> bool:
        return s[1] in self._elifs

    def _while(self, s: Stmt) -> int:
        truth = self._decide(s)
        if truth is not None and not truth[0]:
            effect = self.effect(s[3])
            if effect is None or s[3] is not effect or effect[0] == ":=":
                if effect is not None:
                    self.read(effect, s[1], test=True)
                self.unit.decisions[s[1]] = Decision("no", truth[1], effect)
                self._remove(s[1], s[4], () if effect is s[3] else (s[3],))
                end = self.block(s[5])
                return end | FOLDED if end else 0
        self.read(s[3], s[1], test=True)
        self.block(s[4])
        self.block(s[5])
        return 0

    def _assert(self, s: Stmt) -> int:
        truth = self._decide(s)
        if truth is not None and truth[0] and self.ev.droppable(s[3]) and not binds(s[3]):
            self.unit.decisions[s[1]] = Decision("cut", truth[1], "assert")
            self._remove(s[1], (), (s[3], s[4]))
            return 0
        self.read(s[3], s[1], test=True)
        self.read(s[4], s[1])
        return 0

    def _match(self, s: Stmt) -> int:
        inside = self.local.stack and not self.local.stack[-1].is_class and s[1] not in self.frozen
        left = Left(self.ev, s[3]) if inside else None
        dead = [left is not None and left.dead(case) for case in s[4]]
        if left is not None and not left.known and all(dead):
            dead[-1] = False  # what the subject does stays, and Python wants one case
        if left is not None and all(dead):  # nothing matches, and the statement does nothing
            self.unit.decisions[s[1]] = Decision("cut", left.origin)
            self._remove(s[1], (s,), ())
            return 0
        self.read(s[3], s[1])
        dead = [each and not _declares(case[3]) for each, case in zip(dead, s[4], strict=True)]
        gone: list[int] = []
        spare = dead.count(False) - 1  # Python wants one case
        origin: V.Origin = left.origin if left is not None and (any(dead) or left.none) else V.NONE
        ends = []
        for index, (refs, names, guard, body, _, pos) in enumerate(s[4]):
            if dead[index]:
                gone.append(index)
                self._remove(s[1], (*bound(names, pos), *body), (guard,) if guard is not None else ())
                continue
            truth = self.ev.truth(guard) if guard is not None else None
            if (
                truth is not None and truth[1] and not truth[0] and guard is not None and s[1] not in self.frozen
                and self.ev.droppable(guard) and spare and not self._captured_elsewhere(s, index) and not _declares(body)
            ):  # fmt: skip
                gone.append(index)
                spare -= 1
                origin |= truth[1]
                self._remove(s[1], body, (guard,))
                continue
            for ref in refs:  # `case plat.HIP:` stays as it is written: a constant there would be another pattern
                if ref[0] == "x":  # case Point(norm=0): an attribute that is read
                    self.read(ref, pos)
                else:
                    self.store(ref, pos, deleted=True)
            if guard is not None:
                self.read(guard, pos, test=True)
            self._bind(names)
            ends.append(self.block(body))
        over = left is not None and left.none and all(end & 3 for end in ends)
        if gone or over:
            self.unit.decisions[s[1]] = Decision("case", origin, tuple(gone))
        if not over or left is None:
            return 0
        bits = 0
        for end in ends:
            bits |= end
        return bits | FOLDED if gone or not left.plain else bits

    def _captured_elsewhere(self, s: Stmt, index: int) -> bool:
        """A capture binds before its guard is tested, so a later read may need a case that never matches."""
        names = set(s[4][index][1])
        if not names:
            return False
        body = self._function_body
        total = _count_reads(body, names)
        own = sum(_count_reads((c[2], c[3]), names & set(c[1])) for c in s[4])
        return total > own

    _function_body: Any = ()

    # -- plain statements --------------------------------------------------------------------

    def _e(self, s: Stmt) -> int:
        if self.entries is not None and self._called(s):
            return 0
        self.runs(s)
        known = self.ev.value(s[3]) if s[3][0] in ("n", "v", "k") else None
        if known is not None and known.origin:
            if s[1] not in self.frozen and self.ev.calls_dropped(s[3]) and self.ev.droppable(s[3]):
                # `use_mlx()`, of a module that a rule drops: what is left to call says that it is gone
                self.unit.decisions[s[1]] = Decision("cut", known.origin)
                self._remove(s[1], (), (s[3],))
                return 0
            self.store(s[3], s[1])  # a call for its own sake stays a call, whatever it gives
        else:
            self.read(s[3], s[1])
        return 0

    def runs(self, s: Stmt) -> None:
        """Note an expression that is evaluated for its own sake."""

    def _assign(self, s: Stmt) -> int:
        value = s[4]
        if self.entries is not None:
            if self._item(s):
                return 0
            self.take_entries(s)
            self.counted(s)
        if len(s) > 6:
            self.read(s[6], s[1])
        scope = self.local.stack[-1] if self.local.stack else None
        if scope is not None and scope.is_class and self.member_test is not None and s[1] not in self.frozen:
            rule = self._dropped_member(s)
            if rule and s[5] == ":" and ".".join(self.names) not in self._enums:
                self._staying(s[1], rule, s[3][0][1], "is a field, and what makes an object says which it has")
            elif rule:
                self.unit.decisions[s[1]] = Decision("cut", frozenset({rule}), "entry")
                self._remove(s[1], (s,), ())
                return 0
            if s[1] in self._numbers:
                origin = frozenset(self.member_test(self.module, ".".join(self.names)).values())
                self.unit.remains.actions.append((value, "literal", self._numbers[s[1]], origin))
                self.targets(s[3], s[1])
                return 0
        if scope is not None and s[1] in scope.top:
            known = self.ev.value(value)
            if known is not None and known.origin and known.values is not None:
                self._learn(scope, s[3][0][1], known)
        self.read(value, s[1])
        if s[5] != "?" and self._into_members(s[3]):
            self._member_stores(s[3], s[1], self._stored(s))
        self.targets(s[3], s[1])
        return 0

    def _stored(self, s: Stmt) -> tuple[Any, ...] | None:
        """What an assignment stores, as far as facts on members ask; None for ``+=``."""
        value = s[4]
        if s[5] == "+":
            return None
        if value[0] == "c" and (len(s[3]) == 1 or not isinstance(value[1], str)):
            return ("c", value[1])
        if len(s[3]) > 1:
            return ("?",)
        if value[0] in ("n", "v", "x", "b") and value[2] and value[2][-1][0] == ".":
            return ("same", value[2][-1][1:])
        if value[0] == "v" and not value[2]:
            return ("named", value[1])
        if (value[0] == "k" and value[1][0] == "n") or (value[0] == "n" and value[2] and value[2][-1][0] == "("):
            known = self.ev.value(value)
            if known is not None and known.values is not None:
                return ("c", *known.values)  # a call that a fact decides
        return ("?",)

    def _into_members(self, targets: tuple[Any, ...]) -> list[Expr]:
        """Chains among the targets that end in an attribute that facts speak of."""
        names = self.world.members.names
        chains = [target[1] for target in targets if target[0] == "s"] if names else ()
        return [e for e in chains if e[0] in "nvxb" and e[2] and e[2][-1][0] == "." and e[2][-1][1:] in names]

    def _member_stores(self, targets: tuple[Any, ...], pos: int, value: Any = None) -> None:
        """Note stores into attributes that facts speak of."""
        for chain in self._into_members(targets):
            name = chain[2][-1][1:]
            own = chain[0] in ("n", "v") and chain[1] in ("self", "cls") and len(chain[2]) == 1
            owner = ".".join([self.module, *self.names[:-1]]) if own and len(self.names) > 1 else ""
            stored: tuple[Any, ...] = value if value is not None else ("!",)
            if stored[0] in ("same", "named"):
                stored = (stored[0],) if stored[1:] == (name,) else ("?",)
            self.unit.stores.append(MemberStore(name, owner, stored, pos))

    # -- entries of tables ---------------------------------------------------------------------

    def table_of(self, chain: Expr) -> str:
        """A chain as rules write it: ``pkg.mod.T``, of a function's own ``pkg.mod.f.T``, of a class ``pkg.mod.K.T``."""
        tag, root, path = chain
        scope = self.local.find(root, tag == "b") if tag != "n" else None
        if tag == "n":
            return str(self.world.canonical(self.module, root, path))
        if scope is not None and root in scope.imports:
            module, name, inner = scope.imports[root]
            return str(self.world.canonical(module, name, inner + path))
        if root in ("self", "cls") and len(self.names) > 1 and path:
            return ".".join([self.module, *self.names[:-1]]) + "".join(path)
        depth = self.local.stack.index(scope) if scope is not None else len(self.names) - 1
        return ".".join([self.module, *self.names[: depth + 1], root]) + "".join(path)

    def origin(self, chain: Expr) -> Target | None:
        """(module, root, path) of a global or of what an import in a function brings; None where it is neither."""
        tag, root, path = chain
        if tag == "n":
            return self.module, root, path
        scope = self.local.find(root, tag == "b")
        if scope is None or root not in scope.imports:
            return None
        module, name, inner = scope.imports[root]
        return module, name, inner + path

    def counted(self, s: Stmt) -> None:
        """``a, b = T``: the entries of T are counted."""
        if self.entries is not None and s[5] == "*" and len(s[3]) > 1:
            self.unit.refused += self.entries.counted(s[4], s[1])

    def take_entries(self, s: Stmt) -> None:
        """What of an assignment and of its annotation puts entries that rules drop into a table."""
        assert self.entries is not None
        for table in self._tables(s):
            if len(s[3]) > 1 or s[5] == "*":
                self.unit.refused += self.entries.together(table, s)
                continue
            taken = self.entries.stored(table, s)
            if taken is not None:
                self._take(taken)
            if s[5] in "?:":
                note = self.entries.noted(table, s[1], *((s[4],) if s[5] == "?" else (s[6], s[4])))
                if note is not None:
                    self._take(note)

    def _tables(self, s: Stmt) -> list[str]:
        """The names of what an assignment stores into, as rules write them."""
        assert self.entries is not None
        found = []
        for target in s[3]:
            if target[0] != "s":
                if target[1] not in self.entries.ends and (target[0] == "v" or not (self.names or s[5] == "+")):
                    continue  # no table has the name
                own = ".".join([self.module, *self.names, target[1]])
                there = self.table_of(("n", target[1], ())) if target[0] == "n" and (self.names or s[5] == "+") else own
                found.append(there if there in self.entries.tables else own)
            elif s[5] == "+" and target[1][0] in ("n", "v", "b"):
                found.append(self.table_of(target[1]))
        return found

    def _take(self, taken: Taken) -> None:
        for e, gone in taken.parts.values():
            self.red.gone[id(e)] = gone
            origin = frozenset(gone.values())
            self.unit.remains.actions.append((e, "entries", tuple(sorted(gone.items())), origin))
        self.unit.refused += taken.refused

    def signature(self, s: Stmt) -> None:
        """Decorators, defaults and annotations of a function."""
        for part in (*s[4], *s[5]):
            if self.entries is not None and part[0] == "o" and len(part) == 3 and part[2][0] == ":":
                taken = self.entries.noted(".".join([self.module, *self.names, s[3], part[2][1:]]), s[1], part)
                if taken is not None:
                    self._take(taken)
            self.read(part, s[1])

    def _goes(self, s: Stmt, rules: frozenset[str], key: str) -> None:
        """The whole statement puts entries into a table that rules drop."""
        self.unit.decisions[s[1]] = Decision("cut", rules, ("entry", f"[{key}]"))
        self._remove(s[1], (s,), ())

    def _item(self, s: Stmt) -> bool:
        """``T["x"] = X``, or ``T += ["x"]`` of which nothing would be left: True when the whole statement goes."""
        assert self.entries is not None
        found = self.entries.item(s)
        self.unit.refused += self.entries.odd
        self.entries.odd = []
        if found is None and s[5] == "+":
            for table in self._tables(s):
                taken = self.entries.stored(table, s)
                found = found or (taken.whole if taken is not None else None)
        if found is None or s[1] in self.frozen:
            return False
        self._goes(s, *found)
        return True

    def _called(self, s: Stmt) -> bool:
        """``T.append("x")``, ``T.update({"x": X})``: True when the whole statement goes."""
        assert self.entries is not None
        found = self.entries.called(s[3], s[1])
        if found is None:
            return False
        rules, key, taken = found
        if rules and s[1] not in self.frozen:
            self._goes(s, rules, key)
            return True
        self._take(taken)
        return False

    def targets(self, targets: tuple[Any, ...], pos: int) -> None:
        """Names bound, and the objects whose parts are stored into."""
        for target in targets:
            if target[0] == "s":
                self.store(target[1], pos)
            elif target[0] == "n":
                self.unit.remains.chains.append(("n", target[1], ()))
                self._note(("n", target[1], ()), pos)
            else:
                self._bind((target[1],))

    def _bind(self, names: Any) -> None:
        if self.local.stack:
            self.local.stack[-1].bound.update(names)

    def _for(self, s: Stmt) -> int:
        self.read(s[4], s[1])
        self._member_stores(s[3], s[1])
        self.targets(s[3], s[1])
        self.block(s[5])
        self.block(s[6])
        return 0

    def _with(self, s: Stmt) -> int:
        for item in s[3]:
            self.read(item, s[1])
        self._member_stores(s[4], s[1])
        self.targets(s[4], s[1])
        self.block(s[5])
        # A context manager may swallow an exception, and `return g()` may raise one: what follows can run.
        return 0

    def _try(self, s: Stmt) -> int:
        self.trying += 1
        body = self.block(s[3])
        self.trying -= 1
        ends = []
        for kind, name, handler, pos in s[4]:
            self.read(kind, pos)
            if name:
                self._bind((name,))
            ends.append(self.block(handler))
        other = self.block(s[5])
        final = self.block(s[6])
        if final & 3:
            return final
        through = body if body & 3 else other
        if through & 3 and all(e & 3 for e in ends):
            bits = through
            for end in ends:
                bits |= end
            return bits
        return 0

    def _return(self, s: Stmt) -> int:
        self.read(s[3], s[1])
        return LEAVES

    def _raise(self, s: Stmt) -> int:
        for part in s[3]:
            self.read(part, s[1])
        return RAISES

    def _leave(self, s: Stmt) -> int:
        return LEAVES

    def _nothing(self, s: Stmt) -> int:
        return 0

    def _global(self, s: Stmt) -> int:
        if s[0] == "global":
            self.unit.globals.append((s[1], s[3]))
        else:  # Python refuses `nonlocal x` when no enclosing function binds x
            for name in s[3]:
                for scope in reversed(self.local.stack[:-1]):
                    if name in scope.names and not scope.is_class:
                        scope.reads.add(name)
                        break
        return 0

    def _del(self, s: Stmt) -> int:
        self._member_stores(s[3], s[1])
        for target in s[3]:
            if target[0] == "s":
                self.store(target[1], s[1], deleted=True)
            elif target[0] == "n":
                self.unit.remains.chains.append(("n", target[1], ()))
                self._note(("n", target[1], ()), s[1])
            else:
                scope = self.local.find(target[1])
                if scope is not None:
                    scope.reads.add(target[1])
        return 0

    def _import(self, s: Stmt) -> int:
        """A function-level import: bind its aliases to what they stand for."""
        # In a try body a dropped import fails as a missing package does, so that the handler answers.
        # Elsewhere it may run on every start, unused: its names become stand-ins (the linker sees to it).
        gone = self.dropped(s) if self.dropped is not None and self.trying else None
        if gone is not None and s[1] not in self.frozen:
            self.unit.decisions[s[1]] = Decision("guard", frozenset({gone[1]}), gone)
            self._remove(s[1], (s,), ())
            return RAISES | FOLDED
        local = s[-1]
        aliases = s[3] if s[0] == "import" else s[5]
        for index, (name, asname) in enumerate(aliases):
            bound = asname or (name.split(".")[0] if s[0] == "import" else name)
            # With `nonlocal n`, `import a as n` binds a name of the function around.
            own = local[index] == "v" and bool(self.local.stack) and bound in self.local.stack[-1].names
            in_class = own and self.local.stack[-1].is_class  # an attribute of the class, read from anywhere
            status = "read" if not own or in_class else "tried" if self.trying else ""
            self.unit.imports.append((s, index, status))
            if not own:
                continue
            scope = self.local.stack[-1]
            scope.bound.add(bound)
            target = self.importer(s, index) if bound in scope.once else None
            if target is not None:
                scope.imports[bound] = target
                self.local.known.add(bound)
                self._forget()
            else:
                self.unit.loose.add((s[1], index))
        return 0

    # -- definitions ------------------------------------------------------------------------

    def _def(self, s: Stmt) -> int:
        if self.methods is not None and len(self.local.stack) == 1 and self.local.stack[0].is_class:
            self.methods.append(s)
            self._bind((s[3],))
            return 0
        self.signature(s)
        self._bind((s[3],))
        self.function(s)
        return 0

    def function(self, s: Stmt) -> None:
        """Walk a function until no removal changes what Python fixes by syntax."""
        params, names, body, flags, once, top = s[6]
        outer_body = self._function_body
        self.names.append(s[3])
        if all(scope.is_class for scope in self.local.stack):
            self._function_body = body
        while True:
            mark = self._mark()
            scope = Scope(frozenset(names) | frozenset(params), frozenset(once), frozenset(top))
            scope.body, scope.params = body, frozenset(params)
            self._enter(scope)
            self.block(body)
            self._exit()
            freeze = self._must_freeze(scope, frozenset(params), "g" in flags, body)
            if not freeze:
                break
            self.frozen |= freeze
            self._reset(mark)
        self._function_body = outer_body
        self.names.pop()
        if scope.constants or scope.imports:
            self.unit.constants[s[1]] = dict(scope.constants)
        self._settle_imports(scope, mark, body)

    def _mark(self) -> tuple[int, ...]:
        r, u = self.unit.remains, self.unit
        return (len(r.chains), len(r.texts), len(r.calls), len(r.actions), len(u.imports), len(u.reads), len(u.lines), len(u.stores), len(u.definers), len(u.decisions))  # fmt: skip

    def _reset(self, mark: tuple[int, ...]) -> None:
        r, u = self.unit.remains, self.unit
        for items, length in zip(
            (r.chains, r.texts, r.calls, r.actions, u.imports, u.reads, u.lines, u.stores, u.definers),
            mark,
            strict=False,
        ):
            del items[length:]  # type: ignore[attr-defined]
        while len(u.decisions) > mark[-1]:
            u.decisions.popitem()

    def _must_freeze(self, scope: Scope, params: frozenset[str], generator: bool, body: Block) -> set[int]:
        if not scope.removed:
            return set()
        found: set[int] = set()
        lost_yield = generator and not _yields(self._surviving(body))
        for pos, block, exprs in scope.removed:
            names = _bound_in(block) | walrus_names(exprs)
            lost = names & scope.reads - scope.bound - params
            known = self.unit.decisions.get(pos)
            if (
                lost and known is not None and known.action == "guard"
            ):  # it raises, and binds them for who reads the text
                self.unit.decisions[pos] = Decision("guard", known.origin, (*known.detail[:2], *sorted(lost)))
            elif lost:
                found.add(pos)
            if lost_yield and (_yields(block) or any(binds(e) for e in exprs)):
                found.add(pos)
        return found - self.frozen

    def _surviving(self, body: Block) -> Block:
        """The statements of ``body`` under the decisions taken so far."""
        out: list[Stmt] = []
        for s in body:
            decision = self.unit.decisions.get(s[1])
            if decision is not None and decision.action == "case":
                left = tuple(case for index, case in enumerate(s[4]) if index not in decision.detail)
                out.append(_with_blocks((*s[:4], left), self._surviving))
            elif decision is None or decision.action in ("freeze", "guard"):
                out.append(_with_blocks(s, self._surviving))
            elif decision.action == "yes":
                out.extend(self._surviving(s[4]))
            elif decision.action == "no":
                out.extend(self._surviving(s[5]))
        return tuple(out)

    def _settle_imports(self, scope: Scope, mark: tuple[int, ...], body: Block) -> None:
        """Sort this function's imports: read, orphaned by folding, or never read even upstream."""
        raw: set[str] | None = None
        for at in range(mark[4], len(self.unit.imports)):
            stmt, index, status = self.unit.imports[at]
            if status:
                continue
            name, asname = (stmt[3] if stmt[0] == "import" else stmt[5])[index]
            bound = asname or (name.split(".")[0] if stmt[0] == "import" else name)
            if bound not in scope.reads:
                raw = _local_reads(body) if raw is None else raw
            status = "read" if raw is None or bound in scope.reads else "orphan" if bound in raw else "unread"
            self.unit.imports[at] = (stmt, index, status)

    def method(self, owner: Stmt, s: Stmt) -> None:
        """Walk one method of a class as a unit of its own."""
        self.methods = None
        self.names.append(owner[3])
        self._enter(Scope(frozenset(owner[8]), is_class=True))
        self.signature(s)
        self.function(s)
        self._exit()
        self.names.pop()

    def _class(self, s: Stmt) -> int:
        for part in (*s[4], *s[5], *(v for _, v in s[6])):
            self.read(part, s[1])
        self._bind((s[3],))
        self.class_body(s)
        return 0

    def _dropped_member(self, s: Stmt) -> str:
        if len(s[3]) != 1 or s[3][0][0] != "v" or s[5] not in "=:":
            return ""
        if ".".join(self.names) in self._uncounted:
            return ""
        known: dict[str, str] = self.member_test(self.module, ".".join(self.names))
        return known.get(s[3][0][1], "")

    def _staying(self, pos: int, rule: str, name: str, why: str) -> None:
        """Note a value of a class that a rule drops and that stays."""
        entry = ".".join([self.module, *self.names, name])
        self._stayed[".".join(self.names), name] = Refused(pos, rule, entry, why, _VALUES)

    def _note_stayed(self, s: Stmt, gone: dict[str, str]) -> None:
        """``A, HIP = range(2)``, ``ALL = [A, HIP]``: what a rule drops of the class, and no edit takes."""
        left = {name: s[1] for name in s[8] if name in gone and name not in _cut_in(s[7], self.unit.decisions)}
        for name in sorted(left.keys() - {n for n, kind in _members(s[7]) if kind != "attribute"}):
            here = (".".join(self.names), name)
            if here[0] not in self._uncounted and here not in self._stayed:
                self._staying(
                    left[name], gone[name], name, "other values of the class are made with, or is bound otherwise"
                )
        for here in list(self._stayed):
            if here[0] == ".".join(self.names):
                self.unit.refused.append(self._stayed.pop(here))

    def class_body(self, s: Stmt) -> None:
        """Walk a class body; methods are walked as functions."""
        self.names.append(s[3])
        if not self.world.members.names.isdisjoint(s[8]) or "_fields_" in s[8]:
            owner = ".".join([self.module, *self.names])
            kinds = _members(s[7])
            # whatever else binds it: `for flag in …`, `import x as flag`, `(flag := …)`
            kinds += [(n, "attribute") for n in s[8] if n not in dict(kinds)]
            if "_fields_" in s[8]:  # _fields_ = [("flag", c_int)]: a structure of ctypes
                kinds += [(n, "attribute") for n in sorted(self.world.members.names) if mentions(s[7], n)]
            self.unit.definers += [(owner, n, k) for n, k in kinds if n in self.world.members.names]
        if self.world.members.names and "__getattribute__" in s[8]:
            self.unit.definers.append((".".join([self.module, *self.names]), "__getattribute__", "method"))
        if self.member_test is not None:
            gone = self.member_test(self.module, ".".join(self.names))
            numbers = renumbered(s, gone, partial(self.world.canonical, self.module)) if gone else {}
            if numbers is None:  # the members stay, and those behind them use them: that is for the rules to settle
                for name in gone:
                    self.read(("n", self.names[0], tuple(f".{n}" for n in (*self.names[1:], name))), s[1])
                self._uncounted.add(".".join(self.names))
            self._numbers.update(numbers or {})
            if is_enum(s, partial(self.world.canonical, self.module)):
                self._enums.add(".".join(self.names))
        while True:
            mark = self._mark()
            if self.methods is not None and not self.local.stack:
                self.methods.clear()
            scope = Scope(frozenset(s[8]), is_class=True)
            self._enter(scope)
            self.block(s[7])
            self._exit()
            freeze = self._must_freeze(scope, frozenset(), False, s[7])
            if not freeze:
                break
            self.frozen |= freeze
            self._reset(mark)
        if self.member_test is not None and gone:
            self._note_stayed(s, gone)
        self.names.pop()


_NONE: set[str] = set()
_VALUES = "take it out of the rule, or drop what is made with it as well"
_NAMES = {
    "e": "_e", "=": "_assign", "def": "_def", "class": "_class", "if": "_if", "while": "_while", "for": "_for", "try": "_try",
    "with": "_with", "match": "_match", "return": "_return", "raise": "_raise", "break": "_leave", "continue": "_leave",
    "pass": "_nothing", "global": "_global", "nonlocal": "_global", "del": "_del", "assert": "_assert",
    "import": "_import", "from": "_import",
}  # fmt: skip


def _blocks(s: Stmt) -> list[Block]:
    tag = s[0]
    if tag in ("if", "while"):
        return [s[4], s[5]]
    if tag == "for":
        return [s[5], s[6]]
    if tag == "try":
        return [s[3], *(h[2] for h in s[4]), s[5], s[6]]
    if tag == "with":
        return [s[5]]
    if tag == "match":
        return [c[3] for c in s[4]]
    return []


def _declares(block: Block) -> bool:
    """Does a ``global`` or ``nonlocal`` stand there? It is for the whole function."""
    return any(s[0] in ("global", "nonlocal") or any(map(_declares, _blocks(s))) for s in block)


def _with_blocks(s: Stmt, change: Any) -> Stmt:
    tag = s[0]
    if tag in ("if", "while"):
        return (*s[:4], change(s[4]), change(s[5]))
    if tag == "for":
        return (*s[:5], change(s[5]), change(s[6]))
    if tag == "try":
        return (*s[:3], change(s[3]), tuple((*h[:2], change(h[2]), *h[3:]) for h in s[4]), change(s[5]), change(s[6]))
    if tag == "with":
        return (*s[:5], change(s[5]))
    if tag == "match":
        return (*s[:4], tuple((*c[:3], change(c[3]), *c[4:]) for c in s[4]))
    return s


def _bound_in(block: Block) -> set[str]:
    """Local names that the statements bind (nested scopes excluded)."""
    names = _stored_in(block)
    for s in block:
        if s[0] not in ("def", "class"):
            names |= walrus_names(s[3:])
    return names


def _stored_in(block: Block) -> set[str]:
    """:func:`_bound_in` without what ``:=`` binds."""
    names: set[str] = set()
    for s in block:
        tag = s[0]
        if tag in ("def", "class"):
            names.add(s[3])
            continue
        if tag == "=" or tag in ("del", "for"):
            names.update(t[1] for t in s[3] if t[0] == "v")
        elif tag == "with":
            names.update(t[1] for t in s[4] if t[0] == "v")
        elif tag in ("import", "from"):
            for (name, asname), where in zip(s[3] if tag == "import" else s[5], s[-1], strict=True):
                if where == "v":
                    names.add(asname or (name.split(".")[0] if tag == "import" else name))
        elif tag == "try":
            names.update(h[1] for h in s[4] if h[1])
        elif tag == "match":
            names.update(n for c in s[4] for n in c[1])
        for inner in _blocks(s):
            names |= _stored_in(inner)
    return names


def _members(body: Block) -> list[tuple[str, str]]:
    """Names that a class body binds, at any depth of its own statements: ``method`` or ``attribute``."""
    found: list[tuple[str, str]] = []
    for s in body:
        if s[0] == "def":
            found.append((s[3], "property" if s[4] and not _callable_kept(s[4]) else "method"))
        elif s[0] == "=":
            found += [(t[1], "attribute") for t in s[3] if t[0] != "s"]
        elif s[0] == "class":
            found.append((s[3], "attribute"))
        for inner in _blocks(s):
            found += _members(inner)
    return found


def _cut_in(block: Block, decisions: dict[int, Decision]) -> set[str]:
    """Names of the class's values that are taken out."""
    found: set[str] = set()
    for s in block:
        decision = decisions.get(s[1])
        if s[0] == "=" and decision is not None and decision.action == "cut":
            found.update(target[1] for target in s[3] if target[0] == "v")
        for inner in _blocks(s):
            found |= _cut_in(inner, decisions)
    return found


def _callable_kept(decorators: tuple[Expr, ...]) -> bool:
    """True when the decorators leave a method: neither ``property`` nor something that nobody knows."""
    plain = ("staticmethod", "classmethod", "abstractmethod", "override", "final", "lru_cache", "cache")
    return all(d[0] == "n" and (d[2][-1][1:] if d[2] and d[2][-1][0] == "." else d[1]) in plain for d in decorators)


def walrus_names(e: Any) -> set[str]:
    """Names that ``:=`` binds anywhere in an expression or statement."""
    found: set[str] = set()
    stack = [e]
    while stack:
        item = stack.pop()
        if item and item[0] == ":=" and len(item) == 4 and isinstance(item[1], str):
            found.add(item[1])
        stack.extend([part for part in item if type(part) is tuple])
    return found


def _yields(part: Any) -> bool:
    """True when these statements hold a yield of their own function."""
    if not isinstance(part, tuple) or not part:
        return False
    if part[0] in ("def", "class", "f"):
        return any(_yields(p) for p in part[4:6]) if part[0] != "f" else False
    if part[0] == "yield":
        return True
    return any(_yields(p) for p in part if isinstance(p, tuple))


def _local_reads(part: Any) -> set[str]:
    """Local names that the unfolded statements read."""
    found: set[str] = set()
    stack = [part]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            if len(item) == 3 and item[0] in ("v", "b") and isinstance(item[1], str) and isinstance(item[2], tuple):
                found.add(item[1])
            stack.extend(item)
    return found


def _count_reads(part: Any, names: set[str]) -> int:
    if not isinstance(part, tuple) or not part or not names:
        return 0
    if part[0] in ("v", "n", "b") and len(part) == 3 and isinstance(part[1], str) and isinstance(part[2], tuple):
        return int(part[1] in names)
    return sum(_count_reads(p, names) for p in part if isinstance(p, tuple))
