"""Two lists of outcomes, test by test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

SHOWN = 50


@dataclass(frozen=True, slots=True)
class Why:
    """What is known of a failure: the guard's sentence, whose frame asked, for which dotted names, in which words."""

    refused: str = ""
    where: str = "other"  # test, tree or other
    asked: tuple[str, ...] = ()
    file: str = ""  # of the tree, below its python root
    told: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a test: passed, failed, skipped, no import, late. ``text`` is the first failure's."""

    outcome: str
    text: str = ""
    why: Why = field(default=Why(), compare=False)


@dataclass(frozen=True, slots=True)
class Difference:
    """A test, or a file that one side cannot import; ``tests`` are the outcomes that stand behind it."""

    test: str
    up: Outcome | None
    out: Outcome | None
    tests: int = 1

    def __str__(self) -> str:
        return f"{self.test}: {_said(self.out)}; upstream: {_said(self.up)}"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a difference is no fault. ``kind`` is refused, gone, executes or entries; ``rule`` a rule or another cause."""

    kind: str
    rule: str
    text: str


def compare(up: Mapping[str, Outcome], out: Mapping[str, Outcome]) -> tuple[list[Difference], Counter[str], list[str]]:
    """Differences, counts of what is equal, and notes on tests whose failure changed its text only.

    A test that passes upstream must pass; one that fails must not be lost. A file that upstream cannot import
    has no outcome there; when the output cannot either, that is equal.
    """
    differences: list[Difference] = []
    notes: list[str] = []
    counts: Counter[str] = Counter()
    for test in sorted({*up, *out}):
        before, after = up.get(test), out.get(test)
        if before is None or after is None:
            if not _below(test, up if before is None else out):
                behind = sum(other.startswith(f"{test}::") for other in (up if before is None else out))
                differences.append(Difference(test, before, after, max(1, behind)))
            continue
        if before.outcome != after.outcome:
            differences.append(Difference(test, before, after))
            continue
        counts[before.outcome] += 1
        if before.text != after.text:
            notes.append(
                f"{test}: {after.outcome} with another text: {after.text[:160]}; upstream: {before.text[:160]}"
            )
    return differences, counts, notes


def _below(test: str, rows: Mapping[str, Outcome]) -> bool:
    """Is the test in a file that the other side could not import? Then the file's own row speaks."""
    return rows.get(test.partition("::")[0], Outcome("")).outcome in ("no import", "late")


def _said(row: Outcome | None) -> str:
    return "not there" if row is None else f"{row.outcome} {row.text[:200]}".strip()
