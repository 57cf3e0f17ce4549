"""What the generated module must know to answer: facts that can be asked, values that are gone, guards.

Blind to facts on instances (those are asked where their validity begins) and on calls with any arguments.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from pruner.graph.drops import Drops
from pruner.graph.symbols import ModuleTable
from pruner.model import Ask, Fact, Finding, Guard, Outcome, Policy, Range
from pruner.pipeline.defaults import refused_by_default
from pruner.pipeline.native import without_macros
from pruner.pipeline.served import Companions, alike
from pruner.pipeline.targets import drops_of
from pruner.pipeline.without import of_entry, of_module, of_subject
from pruner.verify.catalogue import Catalogue
from pruner.verify.entries import Entry, definitions

Gone = tuple[str, str, list[str]]  # the rule, what to add to the rules, what to lift


@dataclass(slots=True)
class Answers:
    """The tables of the generated module, as it writes them."""

    facts: list[Any] = field(default_factory=list)
    gone: dict[str, dict[str, Gone]] = field(default_factory=dict)
    guards: dict[str, Any] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)
    rules: set[str] = field(default_factory=set)
    command: str = ""
    findings: tuple[Finding, ...] = ()


def derived(policy: Policy, table: ModuleTable) -> tuple[Guard, ...]:
    """Guards that facts ask for by themselves: what holds from a method on is checked when it returns."""
    groups: dict[str, list[Fact]] = {}
    for fact in policy.facts:
        if fact.valid_from is not None:
            groups.setdefault(fact.valid_from, []).append(fact)
    found = []
    for point, facts in sorted(groups.items()):
        split = table.split(point.removesuffix("()"))
        if split is None or "." not in split[1]:
            continue
        module, method = split
        owner = f"{module}.{method.rpartition('.')[0]}."
        asks = tuple(
            Ask(f.subject.removeprefix(owner), "fact", (f.subject,))
            for f in facts
            if f.subject.startswith(owner) and f.subject.removeprefix(owner).replace(".", "").isidentifier()
        )
        if asks:
            place = facts[0].location
            found.append(
                Guard(f"valid_from {point}", (f"{module}:{method}",), "after", "self", False, False, asks, place)
            )
    return tuple(found)


def answers(policy: Policy, outcome: Outcome, package: str, trees: tuple[Catalogue, Catalogue]) -> Answers:
    """The tables for this run; ``trees`` are upstream's and the output's."""
    up, out = trees
    table = ModuleTable(dict(up.paths), lambda _module: None)
    placed = {call.key for call in outcome.guards}
    guards = [g for g in (*policy.guards, *derived(policy, table)) if g.key in placed]
    if not guards:
        return Answers(command=package)
    found = Answers(command=package)
    drops = drops_of(policy, table, set())
    work = _Work(policy, up, out, drops, found, Needs(up, drops), Companions(policy, up))
    for guard in guards:
        found.guards[guard.key] = work.guard(guard)
        if guard.digest:
            found.marks[guard.key] = guard.digest
    asked = [(guard, ask, found.gone.get(work.domain(ask), {})) for guard in guards for ask in guard.asks]
    found.findings = refused_by_default(policy, asked, up)
    if any(guard.facts for guard in guards):
        found.facts = [row for fact in without_macros(policy) if (row := _askable(fact)) is not None]
        found.rules |= {row[4] for row in found.facts}
    return found


@dataclass(slots=True)
class _Work:
    policy: Policy
    up: Catalogue
    out: Catalogue
    drops: Drops
    found: Answers
    needed: Needs
    companions: Companions

    def guard(self, guard: Guard) -> Any:
        start = tuple(guard.of.split(".")[1:])
        return guard.facts, guard.http, start, [self._question(guard, ask) for ask in guard.asks]

    def _question(self, guard: Guard, ask: Ask) -> Any:
        chain = () if ask.chain == "." else tuple(ask.chain.split("."))
        label = chain[-1] if chain else guard.of.rpartition(".")[2]
        when = tuple(filter(None, ask.when.split(".")))
        if ask.kind in ("values", "fact"):
            rule, lifted = guard.rule, ""
            values: Any = list(ask.names)
            if ask.kind == "fact":
                subject = str(ask.names[0])
                facts = [f for f in self.policy.facts if f.subject == subject]
                if not facts:
                    return chain, label, None, "", guard.rule, when
                rule, values = facts[0].rule, _together(facts)
                every = {f.rule for f in self.policy.stated if f.subject == subject} | {rule}
                lifted = ", ".join(sorted(every | set(of_subject(self.policy, subject))))
                # What the object has when all is done: None there is no "not asked", and not what the fact says.
                own = guard.where == "after" and len(chain) == 1 and subject.endswith(f".{chain[0]}")
                if own and isinstance(values, list) and all(values):
                    values = tuple(values)
            self.found.rules.add(rule)
            return chain, label, values, lifted, rule, when
        domain = self.domain(ask)
        if domain not in self.found.gone:
            gone = getattr(self, f"_{ask.kind}")(ask)
            self.found.gone[domain] = gone
            self.found.rules |= {rule for rule, _, _ in gone.values()}
        return chain, label, None, domain, guard.rule, when

    def domain(self, ask: Ask) -> str:
        """A short name of the asked tables or packages: the first of them that this release has."""
        names = [str(n) for n in ask.names if ask.kind != "tables" or self.up.entries(str(n)) is not None]
        return f"{ask.kind} of {names[0] if names else ask.names[0]}"

    def _tables(self, ask: Ask) -> dict[str, Gone]:
        """Keys that upstream's tables have and the output's have not, each with the rule and what would keep it.

        A key that is there, without the code behind it, is gone as well.
        """
        gone: dict[str, tuple[str, list[str], set[str]]] = {}
        for name in map(str, ask.names):
            before = self.up.entries(name)
            after = self.out.entries(name) or {}
            for key, entry in (before or {}).items():
                bare = of_entry(self.policy, name, key)
                rule = "" if key in after else self._rule(name, key)
                if not rule and key not in after:
                    rule, target = self._of_enum(name, key, before or {})
                    if rule:
                        _, wanted, lifted = gone.setdefault(key, (rule, [], set()))
                        wanted += [target] if target not in wanted else []
                        lifted.update(bare)
                        continue
                if not rule and not bare:
                    continue
                _, wanted, lifted = gone.setdefault(key, (rule or bare[0], [], set()))
                lifted.update(bare)
                if rule:
                    self._want(wanted, name, key, entry)
                    for table in alike(self.policy, rule, key, list(map(str, ask.names))):
                        other = (self.up.entries(table) or {}).get(key)
                        if other is not None and key not in (self.out.entries(table) or {}):
                            self._want(wanted, table, key, other)
        return {key: (rule, _advice([], keep), sorted(lift)) for key, (rule, keep, lift) in sorted(gone.items())}

    def _want(self, wanted: list[str], table: str, key: str, entry: Entry) -> None:
        """Add what a `keep` must name for the entry."""
        for target in (f"{table}[{key}]", *self.needed.of(entry)):
            if target not in wanted:
                wanted.append(target)

    def _rule(self, table: str, key: str) -> str:
        for pattern, rule in self.drops.entries.get(table, {}).items():
            if fnmatchcase(key, pattern):
                return rule
        return ""

    def _of_enum(self, table: str, key: str, before: Mapping[str, Entry]) -> tuple[str, str]:
        """The rule that drops the member of an enum by this name or value, and the member as a target."""
        module, _, owner = table.rpartition(".")
        place = (before[key].path, before[key].line)
        for target in self.policy.drops:
            head, _, member = target.text.replace(":", ".").rpartition(".")
            entry = before.get(member) if target.kind in ("symbol", "dotted") and head == table else None
            if entry is not None and (entry.path, entry.line) == place:
                return target.rule, f"{module}:{owner}.{member}"
        return "", ""

    def _classes(self, ask: Ask) -> dict[str, Gone]:
        """Classes that removed modules of a walked package offer."""
        gone = {}
        for package in map(str, ask.names):
            after = self.out.offered(package, ask.attribute)
            for name, (module, _) in self.up.offered(package, ask.attribute).items():
                rule = self._walked(package) if name not in after else ""
                if rule:
                    served = list(self.companions.of(package, module, name))
                    lifted = {r for p, m in served for r in of_module(self.policy, f"{p}.{m}")}
                    gone[name] = (
                        self.drops.modules.get(module, rule),
                        self._member(package, module, served),
                        sorted({*of_module(self.policy, module), *lifted}),
                    )
        return dict(sorted(gone.items()))

    def _members(self, ask: Ask) -> dict[str, Gone]:
        """Anything, while the walked packages yield nothing."""
        for package in map(str, ask.names):
            rule = self._walked(package)
            if rule and not any(d.members for d in self.policy.dynamics if d.package == package):
                line = f"`dynamic: {{package: {package}, members: [ITS_MODULE]}}`"
                return {"*": (rule, _advice([line], []), of_module(self.policy, f"{package}.ITS_MODULE"))}
        return {}

    def _walked(self, package: str) -> str:
        return next((d.rule for d in self.policy.dynamics if d.package == package), "")

    def _member(self, package: str, module: str, served: list[tuple[str, str]]) -> str:
        rows = [(package, module.removeprefix(f"{package}.")), *served]
        lines = [f"`dynamic: {{package: {p}, members: [{member}]}}`" for p, member in rows]
        return _advice(lines, self.needed.of(Entry("", 0), module))


def _advice(lines: list[str], keep: list[str]) -> str:
    """What to add: rules with these lines; "" for none."""
    if keep:  # what holds brackets is quoted, or YAML would read a list in it
        lines = [*lines, f"`keep: [{', '.join(json.dumps(t) if '[' in t else t for t in keep)}]`"]
    return f"{'a rule' if len(lines) == 1 else 'rules'} with {' and '.join(lines)}" if lines else ""


class Needs:
    """What of the dropped modules something needs; imports of a module are read once."""

    def __init__(self, up: Catalogue, drops: Drops) -> None:
        self._up, self._drops = up, drops
        self._owner = {path: name for name, (path, _) in up.paths.items()}
        self._imports: dict[str, list[tuple[str, str]]] = {}

    def of(self, entry: Entry, module: str = "") -> list[str]:
        """Dropped modules that an entry's value, or a dropped module, imports, and what those import by the same rule.

        Not further: auto-round's module names Ascend's kernels under a test that is false here anyway. Nor what stands
        under a test that the facts decide against: ``if is_npu(): from pkg.npu import Backend``.
        """
        dropped = self._drops.modules
        queue = [(module, dropped[module])] if module in dropped else []
        if entry.node is not None:
            home = self._owner.get(entry.path, "")
            wanted = [t for t, bound in self._of_module(home) if bound in entry.names]
            tree = self._up.tree(home)
            named = [part for part in definitions(tree) if part.name in entry.names] if tree is not None else []
            for part in (entry.node, *named):  # {"slow": slow}, where `def slow` imports when it is called
                wanted += [t for t, _ in _imports(home, self._up, self._up.live(home, part))]
                wanted += [text for node in ast.walk(part) for text in _modules(node)]
            queue += [(t, dropped[t]) for t in wanted if t in dropped]
        found: set[str] = set()
        while queue:
            name, rule = queue.pop()
            if name in found or dropped.get(name) != rule:
                continue
            found.add(name)
            queue += [(target, rule) for target, _ in self._of_module(name)]
        return sorted(found)

    def _of_module(self, module: str) -> list[tuple[str, str]]:
        if module not in self._imports:
            tree = self._up.tree(module)
            self._imports[module] = list(_imports(module, self._up, self._up.live(module, tree) if tree else ()))
        return self._imports[module]


def _modules(node: ast.AST) -> Iterable[str]:
    """What a text may name: ``"pkg.amd"``, ``"pkg.amd:Kernel"``, ``"pkg.amd.Kernel"``."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        module = node.value.partition(":")[0]
        yield from (module, module.rpartition(".")[0])


def _imports(home: str, up: Catalogue, nodes: Iterable[ast.AST]) -> Iterable[tuple[str, str]]:
    """(module, bound name) of import statements; ``from pkg import mod`` gives the submodule."""
    package = up.paths.get(home, ("", False))[1]
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, alias.asname or alias.name.partition(".")[0]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = home.split(".")[: None if package and node.level == 1 else -(node.level - int(package))]
                base = ".".join([*parts, *([base] if base else [])])
            for alias in node.names:
                child = f"{base}.{alias.name}"
                yield (child if child in up.paths else base), alias.asname or alias.name


def _askable(fact: Fact) -> Any:
    """A fact's subject as steps from a loaded module; None for what holds of an instance or of any call."""
    if fact.valid_from is not None:
        return None
    steps = _steps(ast.parse(fact.subject, mode="eval").body)
    if steps is None:
        return None
    root, rest = steps
    values = (fact.values.low, fact.values.high) if isinstance(fact.values, Range) else list(fact.values)
    return fact.subject, root, rest, values, fact.rule


def _steps(node: ast.expr) -> tuple[str, list[Any]] | None:
    if isinstance(node, ast.Name):
        return node.id, []
    if isinstance(node, ast.Attribute):
        inner = _steps(node.value)
        return (inner[0], [*inner[1], (".", node.attr)]) if inner else None
    if isinstance(node, ast.Subscript):
        inner = _steps(node.value)
        return (inner[0], [*inner[1], ("[]", ast.literal_eval(node.slice))]) if inner else None
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Name) and node.func.id == "hasattr":
        inner = _steps(node.args[0])
        return (inner[0], [*inner[1], ("has", ast.literal_eval(node.args[1]))]) if inner else None
    if any(isinstance(a, ast.Constant) and a.value is Ellipsis for a in node.args):
        return None
    inner = _steps(node.func)
    arguments = tuple(ast.literal_eval(a) for a in node.args)
    keywords = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
    return (inner[0], [*inner[1], ("()", arguments, keywords)]) if inner else None


def _together(facts: list[Fact]) -> list[Any] | dict[str, int | None]:
    """What all facts on one subject allow: values, or the ends of a range."""
    ranges = [f.values for f in facts if isinstance(f.values, Range)]
    lows = [r.low for r in ranges if r.low is not None]
    highs = [r.high for r in ranges if r.high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    named = [f.values for f in facts if not isinstance(f.values, Range)]
    if not named:
        return {"min": low, "max": high}
    kept = [v for v in named[0] if all(any(type(v) is type(w) and v == w for w in row) for row in named[1:])]
    return [v for v in kept if not ranges or _within(v, low, high)]


def _within(value: Any, low: int | None, high: int | None) -> bool:
    return type(value) is int and (low is None or value >= low) and (high is None or value <= high)
