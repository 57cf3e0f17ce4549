"""The program under the facts: what a chain of names is worth, anywhere.

Constants do not depend on reachability: a module variable is constant when every store that
a decided branch does not exclude gives the same value. Stores from other modules
(``mod.flag = ...``, ``setattr``) and ``global`` statements make it unknown.

Blind to: stores through an object that is a module only at run time, ``exec``.
"""

from __future__ import annotations

import builtins
import re
from dataclasses import replace
from functools import partial
from typing import Any

from pruner.fold import value as V
from pruner.fold.alone import Member, enum_member
from pruner.fold.evaluate import Evaluator, apply_path
from pruner.fold.members import Members
from pruner.fold.value import Value
from pruner.graph.drops import Drops
from pruner.graph.interpret import Interpreter
from pruner.graph.symbols import UNKNOWN, ModuleTable, Symbol, named
from pruner.model import Fact, Policy, Range
from pruner.model.ir import Expr, mentions
from pruner.scan.summary import Guards, Store, Summary

_BUILTINS = frozenset(dir(builtins))
_IN_PROGRESS = object()
_PLAIN = frozenset(("def", "class", "=", "e", "import", "from", "pass"))  # statements of a body under no test
_ENUMS = frozenset(("enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"))
_FIRST_ARGUMENT = ("os.getenv", "os.environ.get")


def _beginnings(subject: str) -> set[str]:
    """``a``, ``a.b`` and ``a.b()`` of ``a.b()``: every symbol's name of which the subject may be a part."""
    return {subject, *(subject[:at] for at, mark in enumerate(subject) if mark in ".([")}


class Purities:
    """Names whose call has no effect; ``*`` in a rule stands for one component."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._exact = {n.removeprefix("builtins.") for n in names if "*" not in n}
        self._patterns = [n for n in names if "*" in n]
        parts = [re.escape(n).replace(r"\*", r"[^.]+") for n in self._patterns]
        self._pattern = re.compile("|".join(f"({p})" for p in parts)) if parts else None
        self.met: set[str] = set()  # the names and patterns that something was asked about
        self._known: dict[str, bool] = {}

    def __contains__(self, name: str) -> bool:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._find(name)
        return known

    def _find(self, name: str) -> bool:
        if name in self._exact:
            self.met |= {name, f"builtins.{name}"}
            return True
        found = self._pattern.fullmatch(name) if self._pattern is not None else None
        if found is not None and found.lastindex is not None:
            self.met.add(self._patterns[found.lastindex - 1])
        return found is not None


class ProgramWorld:
    """Implements ``fold.evaluate.World`` over a module table and a policy."""

    def __init__(
        self,
        table: ModuleTable,
        policy: Policy,
        poisoned: set[tuple[str, str]] | None = None,
        drops: Drops | None = None,
    ) -> None:
        self.table = table
        self.drops = drops or Drops({}, {})
        self.members = Members(lost={name for place, name in poisoned or () if not place})
        self.policy = policy
        self.guarded = {str(n) for g in policy.guards for ask in g.asks if ask.kind == "fact" for n in ask.names}
        self.facts: dict[str, Value] = {}
        self._rules: dict[str, frozenset[str]] = {}  # canonical subject -> rules that state it
        self.withheld: dict[str, frozenset[str]] = {}  # facts that hold only where a device is, asked at import
        self._spoken: set[str] = set()  # what a subject of either begins with, up to each step
        self.readers: dict[str, set[str]] = {}  # canonical subject -> modules that asked for it
        self.poisoned: set[tuple[str, str]] = set(poisoned or ())  # (module, name): stored from elsewhere
        self.gone: dict[str, str] = {  # members of classes, canonical, that rules drop: the rule
            f"{home}.{name}": rule for home, members in self.drops.members.items() for name, rule in members.items()
        }
        self.purities = Purities(policy.pure)
        self._chains: dict[tuple[str, str, tuple[str, ...]], Any] = {}
        self._symbols: dict[tuple[str, str], Any] = {}
        self._looking = 0  # searches of symbols that are under way
        self._followed: dict[tuple[str, str, tuple[str, ...]], tuple[Symbol, tuple[str, ...]]] = {}
        self._lasting: dict[tuple[str, str], bool] = {}
        self._pure: dict[tuple[str, str], Any] = {}
        self.interpreter = Interpreter(self)
        self.matched: set[str] = set()  # rule ids whose subject exists in the tree or was read
        self.at_import: ProgramWorld = self  # what holds on every host: without facts that need a device
        device = {rule.id for rule in policy.rules if rule.device}
        for fact in policy.facts:
            self._add_fact(fact)
        self.asking = {self.home(f.subject) for f in policy.facts if f.rule in device}
        if device and any(f.rule in device for f in policy.facts):
            others = replace(policy, facts=tuple(f for f in policy.facts if f.rule not in device))
            self.at_import = ProgramWorld(table, others, poisoned, drops)
            self.at_import.matched, self.at_import.readers = self.matched, self.readers
            self.at_import.purities, self.at_import.members.asked = self.purities, self.members.asked
            self.at_import.withheld = {s: rules for s, rules in self._rules.items() if s not in self.at_import.facts}
            self.at_import._spoken.update(*map(_beginnings, self.at_import.withheld))

    def _add_fact(self, fact: Fact) -> None:
        if isinstance(fact.values, Range):
            known: Value | None = V.between(fact.values.low, fact.values.high, V.of_fact(fact.rule, fact.subject))
        else:
            known = V.make(fact.values, V.of_fact(fact.rule, fact.subject))
        if known is None or fact.valid_from:
            return
        subject = self.canonical_subject(fact.subject)
        self._add_member(subject, fact.subject, known)
        old = self.facts.get(subject)
        if old is not None and old.values is not None and known.values is not None:
            known = V.make(
                [v for v in old.values if any(V.same(v, w) for w in known.values)], old.origin | known.origin
            )
        if known is not None:
            self.facts[subject] = known
            self._spoken |= _beginnings(subject)
            self._rules[subject] = V.rules_of(known.origin)

    def _add_member(self, subject: str, written: str, known: Value) -> None:
        """A fact on ``pkg.mod.Class.member`` speaks of instances."""
        head, bracket, rest = subject.partition("(")
        split = self.table.split(head)
        if split is None or split[1].count(".") != 1 or (bracket and rest != ")"):
            return
        owner, member = split[1].split(".")
        stores = self.stores(split[0], owner)
        if stores and all(s.kind == "class" for s in stores):
            self.members.add(f"{split[0]}.{owner}", member + bracket + rest, known, written)
            self._note_subject(written)

    def canonical_subject(self, subject: str) -> str:
        """A subject written through a re-export means the defining symbol."""
        if subject.startswith("hasattr("):
            return subject
        head, cut = subject, len(subject)
        for mark in "([":
            if mark in head:
                cut = min(cut, head.index(mark))
        head = subject[:cut]
        split = self.table.split(head)
        if split is None or not split[1]:
            return subject
        module, rest = split
        first, *others = rest.split(".")
        symbol = self.symbol(module, first)
        if symbol.kind in ("binding", "module", "outside"):
            self._note_subject(subject)
            return ".".join([symbol.text, *others]) + subject[cut:]
        return subject

    def home(self, subject: str) -> str:
        """The module that defines a subject: it answers truly, its own functions do not fold on the answer."""
        split = self.table.split(subject.partition("(")[0])
        return split[0] if split else ""

    def _note_subject(self, subject: str) -> None:
        for fact in self.policy.facts:
            if fact.subject == subject:
                self.matched.add(fact.rule)

    # -- symbols --------------------------------------------------------------------------

    def alive(self, module: str, guards: Guards) -> bool:
        """False when a decided test excludes the place."""
        ev = Evaluator(self, module)
        for test, polarity, _ in guards:
            truth = ev.truth(test)
            if truth is not None and truth[1] and truth[0] != polarity:
                return False
        return True

    def stores(self, module: str, name: str) -> list[Store]:
        """Stores of a module global that decided branches do not exclude."""
        summary = self.table.load(module)
        if summary is None:
            return []
        found = summary.stores.get(name)
        if found is None:
            return []
        for store in found:
            if store.guards:
                return [s for s in found if not s.guards or self.alive(module, s.guards)]
        return found  # not to be changed

    def symbol(self, module: str, name: str) -> Symbol:
        """What the global ``name`` of ``module`` stands for, through imports."""
        if module[0] == "=":  # "=pkg.mod": what a function-level import of pkg.mod gives
            return self.attribute(module[1:], name)
        key = (module, name)
        known = self._symbols.get(key)
        if known is _IN_PROGRESS:
            return UNKNOWN
        if known is None:
            self._symbols[key] = _IN_PROGRESS
            self._looking += 1
            known = self._find_symbol(module, name)
            self._looking -= 1
            self._symbols[key] = known
        return known

    def _find_symbol(self, module: str, name: str) -> Symbol:
        summary = self.table.load(module)
        if summary is None:
            child = f"{module}.{name}"
            return named("module", child) if child in self.table else UNKNOWN
        stores = self.stores(module, name)
        if not stores:
            return self._without_store(summary, name)
        if summary.stars and self._overridden(summary, name, stores):
            self.poisoned.add((module, name))
            return named("binding", module, name)
        # `global is_hip; is_hip = lambda: True` in a function, `use.is_hip = …` elsewhere: the name is no alias any more.
        stored = name in summary.rebinds or (module, name) in self.poisoned
        if all(s.kind == "import" for s in stores) and not stored:
            found = {self.attribute(*self.table.store_target(summary, s)) for s in stores}
            if len(found) == 1:
                return found.pop()
        if len(stores) == 1 and stores[0].kind == "value" and name not in summary.rebinds:
            value = stores[0].stmt[4]
            if value[0] == "n" and not value[2] and value[1] != name:
                aliased = self.symbol(module, value[1])  # is_hip_runtime = is_hip
                if aliased.kind == "binding" and self.defines(aliased):
                    return aliased
        return named("binding", module, name)

    def exports(self, module: str, name: str) -> bool:
        """True when ``from module import *`` may bring ``name``."""
        summary = self.table.load(module)
        if summary is None:
            return False
        stores = summary.stores.get("__all__", [])
        if len(stores) == 1 and summary.plain_all:
            return any(e == ("c", name) for e in stores[0].stmt[4][2])
        return bool(stores) or not name.startswith("_")

    def _overridden(self, summary: Summary, name: str, stores: list[Store]) -> bool:
        """True when a star import after the stores may bind the name again."""
        last = max(s.stmt[1] for s in stores)
        for stmt, guards in summary.stars:
            if stmt[1] > last and (not guards or self.alive(summary.module, guards)):
                source = self.table.absolute(summary, stmt[3], stmt[4])
                if source not in self.table or (
                    self.exports(source, name) and self.attribute(source, name).kind != "unknown"
                ):
                    return True
        return False

    def defines(self, symbol: Symbol) -> bool:
        """True when the symbol is a function or class statement."""
        stores = self.stores(symbol.module, symbol.name)
        return bool(stores) and all(s.kind in ("def", "class") for s in stores)

    def runs(self, summary: Summary, pos: int, guards: Guards) -> bool:
        """Does the star import at a position run for sure? ``try: from .fast import *`` may not."""
        ev = Evaluator(self, summary.module)
        truths = ((ev.truth(test), polarity) for test, polarity, _ in guards)
        return pos not in summary.loose_stars and all(t is not None and t[0] == wanted for t, wanted in truths)

    def _without_store(self, summary: Summary, name: str) -> Symbol:
        found: set[Symbol] = set()
        for stmt, guards in reversed(summary.stars):  # the last star that brings the name wins, if it runs
            if guards and not self.alive(summary.module, guards):
                continue
            source = self.table.absolute(summary, stmt[3], stmt[4])
            if source in self.table and self.exports(source, name):
                symbol = self.attribute(source, name)
                if symbol.kind != "unknown":
                    found.add(symbol)
                    if self.runs(summary, stmt[1], guards):
                        break
        if len(found) > 1 or (found and (name in summary.rebinds or (summary.module, name) in self.poisoned)):
            self.poisoned.add((summary.module, name))
            return named("binding", summary.module, name)
        if found:
            return found.pop()
        child = f"{summary.module}.{name}"
        if summary.package and child in self.table:
            return named("module", child)
        if name in _BUILTINS:
            return named("builtin", "builtins", name)
        return UNKNOWN

    def attribute(self, module: str, name: str) -> Symbol:
        """What ``from module import name`` gives (or ``import module`` when name is empty)."""
        if module not in self.table:
            return named("outside", f"{module}.{name}" if name else module)
        if not name:
            return named("module", module)
        summary = self.table.load(module)
        if summary is not None and (name in summary.stores or summary.stars):
            found = self.symbol(module, name)
            if found.kind not in ("unknown", "builtin"):
                return found
        child = f"{module}.{name}"
        if child in self.table:
            return named("module", child)
        return named("binding", module, name) if summary is not None and "__getattr__" in summary.stores else UNKNOWN

    def modules_behind(self, symbol: Symbol, seen: frozenset[Symbol] = frozenset()) -> list[str]:
        """Modules of the tree that a symbol is or may be: a name may have several imports, or a star as well."""
        if symbol.kind == "module":
            return [symbol.module]
        if symbol.kind != "binding" or symbol in seen:
            return []
        summary = self.table.load(symbol.module)
        if summary is None:
            return []
        found = [
            self.attribute(*self.table.store_target(summary, store))
            for store in self.stores(symbol.module, symbol.name)
            if store.kind == "import"
        ]
        if (symbol.module, symbol.name) in self.poisoned:
            for stmt, _ in summary.stars:
                source = self.table.absolute(summary, stmt[3], stmt[4])
                if source in self.table and self.exports(source, symbol.name):
                    found.append(self.attribute(source, symbol.name))
        seen = seen | {symbol}
        return sorted({module for one in found for module in self.modules_behind(one, seen)})

    def follow(self, module: str, root: str, path: tuple[str, ...]) -> tuple[Symbol, tuple[str, ...]]:
        """Resolve a chain as far as it goes through modules: the symbol and what is left of the path."""
        key = (module, root, path)
        known = self._followed.get(key)
        if known is None:
            known = self._follow(module, root, path)
            if not self._looking:  # inside a search, a name that is still looked for reads as unknown
                self._followed[key] = known
        return known

    def _follow(self, module: str, root: str, path: tuple[str, ...]) -> tuple[Symbol, tuple[str, ...]]:
        symbol = self.symbol(module, root)
        index = 0
        while index < len(path) and path[index][0] == "." and symbol.kind in ("module", "outside"):
            if symbol.kind == "outside":
                symbol = named("outside", symbol.module + path[index])
            else:
                found = self.attribute(symbol.module, path[index][1:])
                if found.kind == "unknown":
                    break
                symbol = found
            index += 1
        return symbol, path[index:]

    def canonical(self, module: str, root: str, path: tuple[str, ...]) -> str:
        """The chain as rules write it."""
        symbol, rest = self.follow(module, root, path)
        if symbol.kind == "unknown":
            return f"?{module}.{root}" + "".join(path)
        head = symbol.name if symbol.kind == "builtin" else symbol.text
        return head + "".join(rest) if rest else head

    def instance(self, module: str, root: str, path: tuple[str, ...]) -> bool:
        """May the chain be an instance of a class of the tree (and no module, class or outside thing)?"""
        symbol, rest = self.follow(module, root, path)
        if symbol.kind in ("module", "outside"):
            return False
        return bool(rest) or symbol.kind != "binding" or not self.defines(symbol)

    def enum_member(self, module: str, root: str, path: tuple[str, ...]) -> Member | None:
        """The member of an enum of the tree that the chain names; None where it may be the same as another one."""
        symbol, rest = self.follow(module, root, path)
        if symbol.kind != "binding" or len(rest) != 1 or rest[0][0] != ".":
            return None
        stores = self.stores(symbol.module, symbol.name)
        if len(stores) != 1 or stores[0].kind != "class":
            return None
        return enum_member(stores[0].stmt, symbol.text, rest[0][1:], partial(self.canonical, symbol.module))

    def dropped_member(self, module: str, root: str, path: tuple[str, ...], alike: bool) -> str:
        """The rule that drops the enum's member that the chain names, or "".

        ``alike``: also "" where something else may be equal to it, as ``1`` is to a member of an ``IntEnum``; a value
        of a class that is no enum (``class K: HIP = "hip"``) is equal to, and the same as, whatever text comes along.
        """
        text = self.canonical(module, root, path)
        rule = self.gone.get(text, "")
        split = self.table.split(text) if rule else None
        if split is None or split[1].count(".") != 1:
            return ""
        above, own = self._ancestors(split[0], split[1].partition(".")[0])
        return rule if above & _ENUMS and not (alike and (own or above - {"enum.Enum", "enum.Flag"})) else ""

    def _ancestors(self, module: str, name: str, below: frozenset[str] = frozenset()) -> tuple[set[str], bool]:
        """Bases outside the tree of a class, "?" for what is unknown; has a class among them a comparison of its own?"""
        stores = self.stores(module, name)
        if len(stores) != 1 or stores[0].kind != "class" or f"{module}.{name}" in below:
            return {"?"}, True
        stmt, found = stores[0].stmt, set[str]()
        own = any(s[0] in ("def", "=") and "__eq__" in (s[3], *(t[1] for t in s[3] if s[0] == "=")) for s in stmt[7])
        for base in stmt[5]:
            text = self.canonical(module, base[1], base[2]) if base[0] == "n" else "?"
            split = self.table.split(text)
            if split is not None and split[1].isidentifier():
                above, other = self._ancestors(*split, below | {f"{module}.{name}"})
                found |= above
                own = own or other
            else:
                found.add(text)
        return found, own

    def dropped_class(self, module: str, root: str, path: tuple[str, ...]) -> str:
        """The rule that drops the class that the chain names, or ""."""
        rule = self.dropped_function(module, root, path)
        return rule if rule and self.defines(self.follow(module, root, path)[0]) else ""

    def dropped_function(self, module: str, root: str, path: tuple[str, ...]) -> str:
        """The rule that drops the function that the chain names, or its module, or ""."""
        symbol, rest = self.follow(module, root, path)
        found = self.drops.find(symbol.module, symbol.name) if symbol.kind == "binding" and not rest else None
        return found[1] if found is not None else ""

    # -- values -----------------------------------------------------------------------------

    def fact(self, subject: str, reader: str) -> Value | None:
        """The stated fact on a canonical subject, asked for by a module."""
        if subject in self.facts:
            self.readers.setdefault(subject, set()).add(reader)
        return self.facts.get(subject)

    def chain(self, module: str, root: str, path: tuple[str, ...]) -> Value | None:
        """Value of a chain from a global name."""
        key = (module, root, path)
        known = self._chains.get(key, key)
        if known is _IN_PROGRESS:
            return None
        if known is key:
            self._chains[key] = _IN_PROGRESS
            known = self._find_value(module, root, path)
            self._chains[key] = known
        return known  # type: ignore[no-any-return]

    def _find_value(self, module: str, root: str, path: tuple[str, ...]) -> Value | None:
        symbol, rest = self.follow(module, root, path)
        if symbol.kind in ("unknown", "builtin"):
            return None
        if symbol.kind == "binding" and (symbol.module, symbol.name) in self.poisoned:
            return None
        text = symbol.text
        if symbol.kind == "binding" and rest and self._computed(symbol, rest):
            return None
        for cut in range(len(rest), -1, -1) if text in self._spoken else ():
            known = self._stated(text, rest[:cut], module)
            if known is not None:
                return apply_path(known, rest[cut:])
        if symbol.kind != "binding":
            return None
        if not rest:
            return self._variable(symbol)
        if rest[0][0] == "(":
            return apply_path(self.interpreter.call_text(symbol, rest[0]), rest[1:])
        if rest[0][0] == "[":
            return None
        return apply_path(self._variable(symbol), rest)

    def _computed(self, symbol: Symbol, rest: tuple[str, ...]) -> bool:
        """Is it read of the class itself, and not what the fact says of each instance?

        ``C.flag`` is the property, whatever the flag of each ``C()`` is, or what a field is before ``__init__`` stores into it.
        """
        if rest[0][0] != "." or (len(rest) > 1 and rest[1][0] == "("):
            return False
        stores = self.stores(symbol.module, symbol.name)
        if len(stores) != 1 or stores[0].kind != "class":
            return False
        name, body = rest[0][1:], stores[0].stmt[7]
        if any(s[0] == "def" and s[3] == name for s in body):
            return True
        known, owner = self.facts.get(f"{symbol.text}.{name}"), f"{symbol.module}.{symbol.name}"
        if known is None or not (known.values or known.low is not None or known.high is not None):
            return False
        own = [s[4] for s in body if s[0] == "=" and s[5] != "+" and any(t[0] != "s" and t[1] == name for t in s[3])]
        told = bool(own) and all(e[0] == "c" and V.holds(known, e[1]) for e in own)
        asked = self.members.subjects.get((name, owner)) in self.guarded  # what it stores into itself is for the guard
        return not told or asked or any(s[0] not in _PLAIN and mentions(s, name) for s in body)

    def _stated(self, text: str, rest: tuple[str, ...], reader: str = "") -> Value | None:
        if text not in self._spoken:
            return None
        subjects = [text + "".join(rest)]
        if rest and rest[-1][0] == "(":
            subjects.append(text + "".join(rest[:-1]) + "(...)")
        for subject in subjects:
            known = self.facts.get(subject)
            if known is not None and not self._contradicted(text):
                self.matched |= self._rules[subject]
                if reader:
                    self.readers.setdefault(subject, set()).add(reader)
                return known
        self.matched |= self.withheld.get(subjects[0], frozenset())
        return None

    def _contradicted(self, text: str) -> bool:
        split = self.table.split(text)
        return split is not None and (split[0], split[1]) in self.poisoned

    def _variable(self, symbol: Symbol) -> Value | None:
        summary = self.table.load(symbol.module)
        if summary is None:
            return None
        for guards in summary.rebinds.get(symbol.name, ()):
            if self.alive(symbol.module, guards):
                return None
        stores = self.stores(symbol.module, symbol.name)
        if not stores or any(s.kind != "value" for s in stores):
            return None
        if any(s.stmt[4][0] == "d" or (s.stmt[4][0] == "t" and s.stmt[4][1] != "t") for s in stores):
            return None  # a list that starts empty may be filled at run time
        ev = Evaluator(self, symbol.module)
        known = V.join([ev.value(s.stmt[4]) for s in stores])
        excluded = self._excluded(symbol.module, summary.stores[symbol.name])
        if known is None or not excluded:
            return known
        # `if is_hip(): X = 1` / `else: X = 2`: X is 2 by the rule that excludes the other store.
        return replace(known, origin=known.origin | excluded)

    def _excluded(self, module: str, stores: list[Store]) -> frozenset[str]:
        """The rules by which decided tests exclude some of the stores."""
        ev, found = Evaluator(self, module), V.NONE
        for store in stores:
            for test, polarity, _ in store.guards:
                truth = ev.truth(test)
                if truth is not None and truth[1] and truth[0] != polarity:
                    found |= truth[1]
                    break
        return found

    def call(self, module: str, func: Expr, args: list[Value | None], kwargs: dict[str, Value | None]) -> Value | None:
        """Value of a call of a function of the tree with these argument values."""
        symbol, rest = self.follow(module, func[1], func[2])
        if symbol.kind in ("unknown", "builtin"):
            return None
        known = self._stated(symbol.text, (*rest, "(...)"), module)
        if (
            known is None
            and len(args) == 1
            and not kwargs
            and args[0] is not None
            and args[0].single
            and args[0].values
        ):
            known = self._stated(symbol.text, (*rest, f"({args[0].values[0]!r})"), module)
        if known is not None or rest or symbol.kind != "binding":
            return known
        return self.interpreter.call(symbol, args, kwargs)

    def lasting(self, module: str, root: str, path: tuple[str, ...]) -> bool:
        """True when the chain names what can be gone through again: nothing that the tree stores there is an iterator."""
        symbol, rest = self.follow(module, root, path)
        if symbol.kind != "binding":
            return symbol.kind != "unknown"  # what outside modules hold under a name are tables and texts
        if rest:
            return False
        key = (symbol.module, symbol.name)
        known = self._lasting.get(key)
        if known is None:
            self._lasting[key] = False  # `A = B` and `B = A`
            ev = Evaluator(self, symbol.module)
            stores = self.stores(*key)
            known = self._lasting[key] = all(
                s.kind == "class"
                or (s.kind == "value" and s.stmt[0] == "=" and s.stmt[5] != "*" and ev.table(s.stmt[4]))
                for s in stores
            )
        return known

    def pure(self, module: str, root: str, path: tuple[str, ...]) -> bool:
        """True when a call of the chain (its last step) has no effect."""
        symbol, rest = self.follow(module, root, path)
        if symbol.kind in ("unknown", "builtin"):
            return False
        text = symbol.text
        if self._stated(text, rest) is not None or self._stated(text, (*rest[:-1], "(...)")) is not None:
            return True
        head = text + "".join(rest[:-1])
        if head in self.purities or head in _FIRST_ARGUMENT:
            return True
        if symbol.kind == "binding" and len(rest) == 1 and rest[0][0] == "(":
            key = (symbol.module, symbol.name)
            known = self._pure.get(key)
            if known is _IN_PROGRESS:
                return False
            if known is None:
                self._pure[key] = _IN_PROGRESS
                known = self.interpreter.pure(symbol)
                self._pure[key] = known
            return bool(known)
        return False
