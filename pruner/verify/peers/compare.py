"""Two lists of outcomes, test by test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

SHOWN = 50


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a test: passed, failed, skipped, no import, late. ``text`` is the first failure's."""

    outcome: str
    text: str = ""


def compare(up: Mapping[str, Outcome], out: Mapping[str, Outcome]) -> tuple[list[str], Counter[str], list[str]]:
    """Problems, counts, and notes on tests whose failure changed its text only.

    A test that passes upstream must pass; one that fails must not be lost. A file that upstream cannot import
    has no outcome there; when the output cannot either, that is equal.
    """
    problems: list[str] = []
    notes: list[str] = []
    counts: Counter[str] = Counter()
    for test in sorted({*up, *out}):
        before, after = up.get(test), out.get(test)
        if before is None or after is None:
            if not _below(test, up if before is None else out):
                problems.append(f"{test}: {_said(after)}; upstream: {_said(before)}")
            continue
        if before.outcome != after.outcome:
            problems.append(f"{test}: {_said(after)}; upstream: {before.outcome}")
            continue
        counts[before.outcome] += 1
        if before.text != after.text:
            notes.append(
                f"{test}: {after.outcome} with another text: {after.text[:160]}; upstream: {before.text[:160]}"
            )
    return problems, counts, notes


def _below(test: str, rows: Mapping[str, Outcome]) -> bool:
    """Is the test in a file that the other side could not import? Then the file's own row speaks."""
    return rows.get(test.partition("::")[0], Outcome("")).outcome in ("no import", "late")


def _said(row: Outcome | None) -> str:
    return "not there" if row is None else f"{row.outcome} {row.text[:200]}".strip()
