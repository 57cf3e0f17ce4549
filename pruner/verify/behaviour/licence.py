"""Which losses at run time are by design. Each kind is counted, and a loss of no kind is a problem.

``rule``: an entry drop names the key. ``walk``: a ``dynamic`` rule leaves the class's module out of its package.
``gone``: the value is a class or function that the tree no longer defines. ``unnamed``: the key is no string
constant of the kept tree any more, so no kept code can ask for it; never enough for what a user types on the
command line. ``loop``: what the last round of a loop over a table left in its variables.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from pruner.verify.behaviour.probe.describe import PROCESS, unions
from pruner.verify.behaviour.statics import Side
from pruner.verify.rules import covers

GUARD = "_prune_guard"
NAMED = re.compile(r"\(rule ([\w.-]+), ")
STANDING = re.compile(rf"\b[\w.]+\.{GUARD}\.([\w.]+)(?::([\w.]+))?")
REFERENCE = re.compile(r"(?:class|function):([\w.]+)")
WILD = re.compile(r"[*?]")


class Licences:
    """Compares values of the two trees."""

    def __init__(
        self,
        drops: Sequence[tuple[str, str]],
        members: Mapping[str, Sequence[str]],
        output: Side,
        rules: frozenset[str] = frozenset(),
        roots: Sequence[str] | None = None,
    ) -> None:
        """``roots``: what rules keep; None: they were not asked."""
        self.output = output
        self.rules = rules
        self.roots = None if roots is None else [text.partition(":")[0] for text in roots]
        self.modules = [(rule, text) for rule, text in drops if not set(text) & set("[:(")]
        self.members = members
        self.dropped: dict[str, str] = {}  # keys that a pattern dropped from a table, with the rule
        self.counts: Counter[str] = Counter()
        self.entries: list[tuple[str, str, str]] = []  # rule, table, key
        for rule, text in drops:
            table, bracket, key = text.partition("[")
            if bracket:
                self.entries.append((rule, table, key.rstrip("]").strip("'\"")))

    def by_rule(self, table: str, key: str) -> str:
        """The rule that drops the key, or "". A pattern speaks of its own table, a plain key of each that copies it."""
        tail = table.rpartition(".")[2]
        for rule, named, pattern in self.entries:
            if WILD.search(pattern):
                if fnmatchcase(key, pattern) and named.rpartition(".")[2] == tail:
                    self.dropped[key] = rule
                    return rule
            elif key == pattern:
                return rule
        return ""

    def module(self, name: str) -> str:
        """The rule that drops a module that is not there, or ""."""
        if name in self.output.modules:
            return ""
        return next((rule for rule, text in self.modules if covers(text, name)), "")

    def unasked(self, name: str) -> bool:
        """Is a module gone that a rule drops, or that no rule keeps?"""
        if name in self.output.modules or self.roots is None:
            return False
        return bool(self.module(name)) or not any(covers(text, name) for text in self.roots)

    def said(self, sentence: str) -> str:
        """The rule that a refusal names, if it is one of the rules that speak; else ""."""
        return next((name for name in NAMED.findall(sentence) if name in self.rules), "")

    def typed(self, where: str, choice: str) -> str:
        """The rule by which a word that users type is gone, or ""."""
        return self.by_rule(where, choice) or self.dropped.get(choice, "")

    def walked(self, value: Any) -> bool:
        """Is it a class of a module that its walked package no longer yields, by a ``dynamic`` rule?"""
        for name in REFERENCE.findall(value if isinstance(value, str) else ""):
            for package, members in self.members.items():
                rest = name.removeprefix(f"{package}.")
                if rest != name and not any(fnmatchcase(rest.partition(".")[0], pattern) for pattern in members):
                    return True
        return False

    def gone(self, value: Any) -> bool:
        """Does the value speak of a class or function that is no longer there?"""
        found = REFERENCE.findall(value if isinstance(value, str) else json.dumps(value))
        return bool(found) and any(
            name.partition(".")[0] in self.tops and not self.output.defines(name) for name in found
        )

    @cached_property
    def tops(self) -> frozenset[str]:
        """Top-level packages of the tree."""
        return frozenset(module.partition(".")[0] for module in self.output.modules)

    def lost(self, table: str, key: str, value: Any) -> bool:
        """Is the loss of this entry by design?"""
        if self.by_rule(table, key):
            self.counts["rule"] += 1
        elif self.walked(value):
            self.counts["walk"] += 1
        elif self.gone(value):
            self.counts["gone"] += 1
        elif key not in self.output.strings:
            self.counts["unnamed"] += 1
        else:
            return False
        return True

    def differences(self, table: str, up: Any, out: Any) -> Iterator[str]:
        """What is different and not by design; sentences that begin with the table's name."""
        if up == out or _close(up, out):
            return
        if isinstance(out, str) and out.startswith(f"class:sglang.{GUARD}"):
            self.counts["stand-in"] += 1
        elif isinstance(up, str) and isinstance(out, str) and self.standing(up, out):
            self.counts["stand-in"] += 1
        elif isinstance(up, dict) and isinstance(out, dict):
            yield from self._mapping(table, up, out)
        elif isinstance(up, list) and isinstance(out, list):
            yield from self._sequence(table, up, out)
        else:
            yield f"{table}: {_short(up)} became {_short(out)}"

    def standing(self, up: str, out: str) -> bool:
        """Does a signature differ only in stand-ins for classes that are gone?"""
        found = STANDING.findall(out)
        if any(self.output.defines(f"{module}.{name}") if name else not self.module(module) for module, name in found):
            return False
        for module in {module for module, name in found if not name}:  # `from pkg.gone import A`: one for all of it
            up = re.sub(rf"(?<![\w.]){re.escape(module)}\.\w+", module, up)
        plain = STANDING.sub(lambda m: f"{m[1]}.{m[2]}" if m[2] else m[1], out)
        return bool(found) and unions(plain) == unions(up)

    def _mapping(self, table: str, up: dict[str, Any], out: dict[str, Any]) -> Iterator[str]:
        # TABLE = {Removed: 1}: a stand-in is a key as what it stands for was
        known = {
            key: next((k for k in up if k not in out and self.standing(k, key)), key) for key in out if key not in up
        }
        out = {known.get(key, key): value for key, value in out.items()}
        yield from (f"{table}[{key}]: upstream has no such entry" for key in out if key not in up)
        for key, value in up.items():
            if key in out:
                yield from self.differences(table if key == "set" else f"{table}[{key}]", value, out[key])
            elif not self.lost(table, key, value):
                yield f"{table}[{key}]: lost, and no rule names it"
        if [key for key in up if key in out] != [key for key in out if key in up]:
            yield f"{table}: the order of its entries changed"

    def _sequence(self, table: str, up: list[Any], out: list[Any]) -> Iterator[str]:
        if len(up) == len(out):
            for number, (before, after) in enumerate(zip(up, out, strict=True)):
                yield from self.differences(f"{table}[{number}]", before, after)
            return
        rest = list(out)
        for value in up:
            if rest and rest[0] == value:
                rest.pop(0)
            elif not self.lost(table, value if isinstance(value, str) else json.dumps(value), value):
                yield f"{table}: lost {_short(value)}, and no rule names it"
        yield from (f"{table}: {_short(value)} is new or moved" for value in rest)


def same_process(up: Any, out: Any) -> bool:
    """Numbers of processes differ from run to run, and a number may be one by chance (see the probe's ``PROCESS``)."""
    marked = [isinstance(value, str) and value.startswith(PROCESS) for value in (up, out)]
    return all(marked) or (any(marked) and str(up).removeprefix(PROCESS) == str(out).removeprefix(PROCESS))


def _close(up: Any, out: Any) -> bool:
    """Two readings of a clock are equal enough."""
    if same_process(up, out):
        return True
    if not (isinstance(up, str) and isinstance(out, str) and up.startswith("float:") and out.startswith("float:")):
        return False
    return math.isclose(float(up[6:]), float(out[6:]), rel_tol=1e-6)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 160 else f"{text[:157]}..."
