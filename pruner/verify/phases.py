"""What a worker process does with one file, phase by phase. Its state lives as long as the run."""

from __future__ import annotations

import ast
import gc
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pruner.verify import capabilities, giving
from pruner.verify.canon import Canon
from pruner.verify.catalogue import Catalogue
from pruner.verify.claims import Claim, FileResult
from pruner.verify.classes import Classes
from pruner.verify.compare import Comparison
from pruner.verify.discard import Families
from pruner.verify.effects import Effects
from pruner.verify.entered import Entered
from pruner.verify.generated import Generated
from pruner.verify.guarding import Guarding
from pruner.verify.hosts import Hosts
from pruner.verify.lint import compiles
from pruner.verify.manifest import Manifest
from pruner.verify.names import Names
from pruner.verify.record import Survey
from pruner.verify.rules import Stated
from pruner.verify.side import Side
from pruner.verify.survey import survey
from pruner.verify.tokens import Tokens
from pruner.verify.tree import Tree, module_of, parse_bytes
from pruner.verify.wholefiles import is_guard_file
from pruner.verify.world import Seen, World


@dataclass(frozen=True, slots=True)
class Looked:
    """What a file of upstream says by itself: the same of an output that has it as it is, as the same module."""

    survey: Survey
    after: Counter[tuple[str, int]]
    seconds: dict[str, float]


def spoken(stated: Stated) -> frozenset[str]:
    """Last names of the subjects of facts."""
    return frozenset(subject.removesuffix("()").rpartition(".")[2] for subject in stated.facts)


def look(world: World, facts: frozenset[str], families: Families, path: str) -> Looked | None:
    """Look at a file of upstream before there is an output; None for what :func:`read_file` has to look at itself."""
    up, clock = world.tree, time.process_time()
    module = module_of(path, up.python_root) or ""
    if up.modules.get(module) != path:
        return None
    try:
        data = up.read(path)
    except OSError:
        return None
    found, parsed, names = survey(up, path, module, data, facts, (up.known(path), world.known(module)))
    if parsed is None or names is None:
        return None
    up.take(path, parsed)
    world.take(module, names)
    surveyed = time.process_time()
    after = families.count(data, parsed)
    return Looked(found, after, {"imports": surveyed - clock, "discard": time.process_time() - surveyed})


@dataclass(frozen=True, slots=True)
class Setup:
    """What every worker starts from."""

    up: Tree
    out: Tree
    stated: Stated
    checks: frozenset[str]
    facts: frozenset[str]
    given: frozenset[str]  # Class.attribute of facts that no guard asks and some changed file reads
    families: Families  # of all discards: knows the names of the files that were looked at ahead of time
    wanted: capabilities.Wanted | None = None  # table of capabilities
    known: World | None = None  # of upstream: may know already what modules bind
    looked: dict[str, Looked] = field(default_factory=dict)  # by path, what :func:`look` gave ahead of time


class State:
    """A worker's memory. Made before the workers are: finding the facts' subjects reads a tenth of upstream."""

    def __init__(self, setup: Setup) -> None:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), 6000))
        self.setup = setup
        self.up, self.out = setup.up, setup.out
        self.families = setup.families
        self.spelt = Families(text for _, text in setup.stated.discards if text.startswith("name:"))
        self.world = World(self.up, setup.stated, like=setup.known)
        self.effects = Effects(self.world)
        self.hosts = hosts(self)
        self.guarding = Guarding(self.out, setup.stated, self.up) if "guards" in setup.checks else None
        self.parsed: dict[str, tuple[ast.Module, Names | None]] = {}  # changed files of the output
        self.tokens: dict[str, Tokened] = {}
        self.classes = Classes(World(self.up, setup.stated, like=self.world))


def hosts(state: State, seen: Seen | None = None) -> Hosts | None:
    """The comparison of import-time code, when some fact needs a device."""
    stated = state.setup.stated
    if not stated.device:
        return None
    everywhere = {subject: value for subject, value in stated.facts.items() if subject not in stated.device}
    return Hosts(state.effects, Effects(World(state.up, replace(stated, facts=everywhere), seen, state.world)))


def begin(state: State) -> State:
    """What a new worker does first."""
    gc.disable()  # nothing here is garbage before the run ends
    return state


@dataclass(slots=True)
class Read:
    """Answer of :func:`read_file`."""

    path: str
    survey: Survey | None = None
    compile: str = ""
    before: Counter[str] = field(default_factory=Counter)
    after: Counter[tuple[str, int]] = field(default_factory=Counter)
    unreadable: bool = False
    guards: list[str] = field(default_factory=list)  # problems of the check ``guards``
    guarded: int = 0
    called: tuple[str, ...] = ()  # keys of its guard calls
    looked: bool = False  # its survey and ``after`` are those of :attr:`Setup.looked`, and are not sent again
    seconds: dict[str, float] = field(default_factory=dict)


def read_file(state: State, task: tuple[str, bool, bool]) -> Read:
    """First phase: survey a kept file, compile a changed one, look at its guards, count discarded names on both sides."""
    path, kept, changed = task
    checks = state.setup.checks
    result = Read(path)
    clock = time.process_time()

    def lap(name: str) -> None:
        nonlocal clock
        now = time.process_time()
        result.seconds[name] = result.seconds.get(name, 0.0) + now - clock
        clock = now

    data = state.out.read(path) if kept else b""
    ours = is_guard_file(path, state.up)
    same = kept and not changed and path in state.up.files
    if "discard" in checks and path in state.up.files and not same:
        result.before = state.spelt.totals(state.up.read(path))
        lap("discard")
    if not kept:
        return result
    module = module_of(path, state.up.python_root) or ""
    parsed = early = None
    surveyed = bool(checks & {"imports", "modules", "fold"})
    if surveyed:
        # An added file may be the module that this one was: then its imports mean something else.
        alike = same and state.out.modules.get(module) == state.up.modules.get(module) == path
        known = state.up.known(path) if same else None, state.world.known(module) if alike else None
        early = state.setup.looked.get(path) if alike else None
        if early is not None:
            parsed, names = known
            result.looked, result.survey = True, early.survey
            result.seconds.update(early.seconds)
        else:
            result.survey, parsed, names = survey(state.out, path, module, data, state.setup.facts, known)
        if same and parsed is not None:
            state.up.take(path, parsed)
        if alike and names is not None:
            state.world.take(module, names)
        result.unreadable = parsed is None
        if state.setup.given and parsed is not None and giving.worth(data, state.setup.given):
            if early is not None:
                result.looked, result.survey = False, replace(early.survey)
            result.survey.giving = giving.read(parsed, result.survey.imports, state.setup.given)
        if ours:  # the generated module holds the names of what is gone as data; it reads none of them
            result.survey = Survey(path, module, bound=result.survey.bound)
        if changed and parsed is not None and "fold" in checks:
            state.parsed[path] = parsed, names
        lap("imports")
    if changed and "compile" in checks:
        result.compile = compiles(data if parsed is None else parsed, path)
        lap("compile")
    if state.guarding is not None:
        result.guards, result.guarded, result.called = state.guarding.run(
            path, data, lambda: parsed if surveyed else parse_bytes(data)
        )
        lap("guards")
    if "discard" in checks and not ours:
        result.after = state.families.count(data, parsed) if early is None else early.after
        if same:
            result.before = state.spelt.among(result.after)
        lap("discard")
    if result.looked:
        result.survey, result.after = None, Counter()
    return result


def take_seen(state: State, seen: Seen) -> None:
    """Between the phases: what the kept code does to modules, for the folder."""
    state.world = World(state.up, state.setup.stated, seen, state.world)
    state.effects = Effects(state.world)
    state.hosts = hosts(state, seen)


Tokened = tuple[list[str], int, float]  # problems, new literals, processor seconds


@dataclass(slots=True)
class Compared:
    """Answer of :func:`compare_file`."""

    path: str
    fold: FileResult | None = None
    tokens: list[str] = field(default_factory=list)
    literals: int = 0
    unreadable: bool = False
    seconds: dict[str, float] = field(default_factory=dict)


def compare_text(state: State, path: str) -> None:
    """A changed file as text, for :func:`compare_file`: it needs nothing of the other files."""
    clock = time.process_time()
    check = Tokens(path, state.up.read(path), state.out.read(path))
    problems = check.run()
    state.tokens[path] = problems, check.new_literals, time.process_time() - clock


def compare_file(state: State, path: str) -> Compared:
    """Second phase: a changed file against upstream, as text and as a folded program."""
    result = Compared(path)
    up, out = state.up.read(path), state.out.read(path)
    if "tokens" in state.setup.checks:
        if path not in state.tokens:
            compare_text(state, path)
        result.tokens, result.literals, result.seconds["tokens"] = state.tokens.pop(path)
    clock = time.process_time()
    if "fold" in state.setup.checks:
        before, (after, names) = state.up.parse(path), state.parsed.pop(path, (None, None))
        after = after or state.out.parse(path)
        if before is None or after is None:
            result.unreadable = True
        else:
            module = module_of(path, state.up.python_root) or path
            result.fold = Comparison(state.effects, module, path, Side(up, before), Side(out, after)).run(names)
            result.fold.claims = [_above(state, claim) for claim in result.fold.claims]
            if state.hosts is not None:
                result.fold.problems.extend(state.hosts.problems(path, module, before, after))
        result.seconds["fold"] = time.process_time() - clock
    return result


def _above(state: State, claim: Claim) -> Claim:
    """With what is asked of upstream's text alone, which this process has read: bases of a class, or of a member's class."""
    if claim.kind == "member":
        bases = state.classes.ancestors(("symbol", claim.module, claim.name.rpartition(".")[0]))[1]
        return replace(claim, above=tuple(sorted(bases)))
    if claim.kind == "class":
        own = state.classes.ancestors(("symbol", claim.module, claim.name))[0]
        return replace(claim, bases=tuple((module, name) for _, module, name in own[1:]))
    return claim


@dataclass(slots=True)
class Answer:
    """What a check of the whole tree says that one worker makes by itself."""

    check: str
    covered: str
    problems: list[str]
    seconds: float


def tabled(state: State, called: frozenset[str]) -> list[Answer]:
    """What is asked of the tables of both trees: the check ``capabilities``, and of ``guards`` the generated module.

    ``called``: the keys of all guard calls.
    """
    wanted, checks = state.setup.wanted, state.setup.checks
    clock = time.process_time()
    up = catalogue_of(state.up, truth=state.effects.decided, parse=state.up.parse)
    out = catalogue_of(state.out, up)
    found = []
    if "capabilities" in checks and wanted is not None:
        rows = capabilities.judge(wanted, up, out, state.setup.stated)
        problems = capabilities.problems(rows)
        found.append(Answer("capabilities", capabilities.said(rows), problems, time.process_time() - clock))
        clock = time.process_time()
    if "guards" in checks:
        problems = list(Generated(state.up, state.out, state.setup.stated, called, (up, out)).run())
        problems += Manifest(state.up, state.out, state.setup.stated, called).run()
        found.append(Answer("guards", "", problems, time.process_time() - clock))
    return found


def catalogue_of(
    tree: Tree,
    other: Catalogue | None = None,
    truth: Callable[[str, ast.expr], bool | None] | None = None,
    parse: Callable[[str], ast.Module | None] | None = None,
) -> Catalogue:
    """The tables of a tree on disk; ``other``: those of the tree beside it."""
    paths = {module: (path, tree.is_package(module)) for module, path in tree.modules.items()}
    return Catalogue(paths, lambda path: tree.read(path) if path in tree.files else None, other, truth, parse)


def module_effects(state: State, module: str) -> tuple[str, str, tuple[str, ...], float]:
    """What importing a module of upstream does: module, first effect or ``""``, modules it imports in turn."""
    clock = time.process_time()
    entered = Entered(Canon(state.effects), state.world, state.world.ruled, module)
    effect, follows = state.effects.module(module, entered.takes)
    return module, effect, follows, time.process_time() - clock
