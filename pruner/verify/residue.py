"""Check ``discard``: nothing that a ``discard`` rule names is left in kept code, but for what ``allow`` lists.

Words (``word:GLOB``) of a file that another one extends and keeps more are counted, and refute nothing: who keeps a
model has its names.

An entry of ``allow`` may say how many different names it is for at most; more are refuted, so that what is allowed
cannot grow unseen. What each entry allows, and each spelling before and after, is counted for the report.

Blind to: what ``pruner.verify.discard`` is.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from typing import Any, Protocol

from pruner.verify.discard import Families, pattern
from pruner.verify.rules import Allowed


class Read(Protocol):
    """What was counted in one file."""

    path: str
    before: Counter[str]
    after: Counter[tuple[str, int]]


@dataclass(slots=True)
class Entry:
    """An entry of ``allow`` and what it let stay."""

    stated: Allowed
    shapes: list[re.Pattern[str]]
    place: re.Pattern[str]  # paths that it is for
    names: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    count: int = 0
    known: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """One expression for all shapes that read a letter alike: a tenth of the searches."""
        kinds: dict[int, list[str]] = {}
        for shape in self.shapes:
            kinds.setdefault(shape.flags, []).append(shape.pattern)
        self.shapes = [re.compile("|".join(f"(?:{text})" for text in texts), flags) for flags, texts in kinds.items()]

    def allows(self, name: str) -> bool:
        """Is the name one that the entry is for?"""
        found = self.known.get(name)
        if found is None:
            found = self.known[name] = any(shape.search(name) for shape in self.shapes)
        return found


class Residue:
    """All files' counts against the allow-list."""

    def __init__(
        self, discards: Sequence[tuple[str, str]], allow: Iterable[Allowed], widened: Iterable[str] = ()
    ) -> None:
        self.discards = discards  # (rule, target)
        wider = set(widened)
        self.wide = bool(wider)
        # Targets that still refute: all, but for words of a file whose rules were widened.
        self.strict = {t for rule, t in discards if rule not in wider or not t.startswith("word:")}
        self.families = Families(text for _, text in discards)
        self.entries = [
            Entry(row, self._shapes(row.names), re.compile("|".join(map(translate, row.paths)) or "(?!)"))
            for row in allow
        ]
        self.before: Counter[str] = Counter()
        self.after: Counter[str] = Counter()
        self.files: defaultdict[str, set[str]] = defaultdict(set)  # by target
        self.problems: list[str] = []

    def add(self, row: Read) -> None:
        """Count one file."""
        self.before.update(row.before)
        if not row.after:
            return
        near = [entry for entry in self.entries if entry.place.match(row.path)]
        for (name, line), count in row.after.items():
            self.after[name] += count
            for target in self.families.of(name):
                self.files[target].add(row.path)
            entry = next((entry for entry in near if entry.allows(name)), None)
            if entry is None:
                if self.strict.isdisjoint(self.families.of(name)):
                    continue
                self.problems.append(f"{row.path}:{line}: {name} is still here")
                continue
            entry.names.add(name)
            entry.files.add(row.path)
            entry.count += count

    def judged(self) -> list[str]:
        """What is left and not allowed, and what outgrew its entry."""
        grown = [
            f"{entry.stated.rule}: {len(entry.names)} names where {', '.join(entry.stated.names)} in "
            f"{', '.join(entry.stated.paths)} may be {entry.stated.most}"
            for entry in self.entries
            if entry.stated.most and len(entry.names) > entry.stated.most and not self.wide
        ]
        return self.problems + grown

    def _shapes(self, names: Iterable[str]) -> list[re.Pattern[str]]:
        """Of globs, ``word:GLOB`` and ``rule:ID``, which is all that the discard rule names."""
        found = []
        for name in names:
            prefix, _, rule = name.partition(":")
            whole = [text for owner, text in self.discards if owner == rule.strip()] if prefix == "rule" else [name]
            found += [pattern(text) for text in whole]
        return found

    def covered(self) -> str:
        """For a person."""
        idle = sum(not entry.count for entry in self.entries)
        said = ", ".join(f"{row['name']} {row['before']}->{row['after']}" for row in self._spellings()) or "none"
        left = sum(entry.count for entry in self.entries)
        targets = len(self.discards)
        return f"{targets} targets; {left} allowed by {len(self.entries) - idle} of {len(self.entries)} entries; {said}"

    def figures(self) -> dict[str, Any]:
        """``names``: each spelling of a ``name:`` target; ``words``: of the others, what is left of each;
        ``families``: each target; ``allowed``: each entry, with what it let stay."""
        rows = []
        left = defaultdict(list)
        for name in self.after:
            for target in self.families.of(name):
                left[target].append(name)
        for rule, target in self.discards:
            if target.startswith(("name:", "word:")):
                here = left.get(target, [])
                rows.append(
                    {
                        "rule": rule,
                        "target": target,
                        "names": len(here),
                        "files": len(self.files[target]),
                        "after": sum(self.after[name] for name in here),
                    }
                )
        return {
            "names": self._spellings(),
            "words": [
                {"name": name, "target": self.families.of(name)[0], "after": self.after[name]}
                for name in sorted(self.after)
                if not self._spelt(name)
            ],
            "families": sorted(rows, key=lambda row: (str(row["target"]), str(row["rule"]))),
            "allowed": [
                {
                    "rule": entry.stated.rule,
                    "path": list(entry.stated.paths),
                    "name": list(entry.stated.names),
                    "reason": entry.stated.reason,
                    "most": entry.stated.most,
                    "names": len(entry.names),
                    "files": len(entry.files),
                    "count": entry.count,
                }
                for entry in self.entries
            ],
        }

    def _spelt(self, name: str) -> bool:
        return any(target.startswith("name:") for target in self.families.of(name))

    def _spellings(self) -> list[Mapping[str, Any]]:
        return [
            {"name": name, "before": self.before[name], "after": self.after[name]}
            for name in sorted(self.before | self.after)
            if self._spelt(name)
        ]
