"""A run judged for a reviewer: what changed since the base run, what is wrong, and an exit code.

The input is two reports folders; nothing is run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pruner.errors import ExitCode
from pruner.model import Finding
from pruner.pipeline.change.document import compare
from pruner.pipeline.change.side import Side
from pruner.pipeline.hygiene import LEAST, hygiene
from pruner.pipeline.stored import generated_line
from pruner.pipeline.suspects import Suspect

MEANINGS = {
    "PR410": "A check refuted the output.",
    "PR511": "A name looks like a platform and no rule speaks of it.",
    "PR512": "A rule does nothing in any of several releases.",
    "PR513": "The kept share moved further than allowed.",
    "PR514": "The kept code grew further than allowed.",
    "PR515": "A capability was lost to the cut.",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What is still in order. ``moved``: percentage points of the kept share; ``grown``: kept Python lines in percent
    of the base's; ``lost``: capabilities lost to the cut; ``least``: score of a suspect that is a finding."""

    moved: float = 3.0
    grown: float | None = None
    lost: int = 0
    least: int = LEAST


@dataclass(frozen=True, slots=True)
class Review:
    """``document`` is what ``prune diff`` gives; ``findings`` hold the run's own, hygiene's and the limits'."""

    document: dict[str, Any]
    findings: tuple[Finding, ...]
    suspects: tuple[Suspect, ...]
    exit_code: int


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a repository keeps the generated tree and the rule files, as paths from its root; ``""``: nowhere."""

    tree: str = ""
    rules: str = ""


def review(
    base_reports: Path,
    head_reports: Path,
    known: Sequence[tuple[str, str]],
    limits: Limits,
    repository: Repository = Repository(),
) -> Review:
    """Judge the head. Exit code 3 when a check refuted it, 1 for any finding, else 0.

    The places of findings are those of ``repository``. Raises PruneError PR307 for a folder that holds no reports.
    """
    base, head = Side(base_reports), Side(head_reports)
    document = compare(base, head)
    findings = [
        Finding(row["code"], row["path"], row["line"], row["text"], row["advice"]) for row in head.report["findings"]
    ]
    refuted = [row for row in head.report["verdicts"] if row["result"] == "refuted"]
    for verdict in refuted:
        for detail in verdict["details"]:
            path, line, text = _located(detail)
            findings.append(
                Finding("PR410", path, line, f"refuted by {verdict['check']}: {text}", "do not ship this tree")
            )
    clean, suspects = hygiene([head], known, least=limits.least, base=base, moved=limits.moved)
    findings += clean
    findings += _limits(document, limits)
    code = ExitCode.REFUTED if refuted else ExitCode.FINDINGS if findings else ExitCode.CLEAN
    placed = tuple(_placed(row, head, repository) for row in findings)
    return Review(document, placed, tuple(suspects), int(code))


def _placed(row: Finding, head: Side, repository: Repository) -> Finding:
    """A finding where the repository holds it: a reviewer's tools show it there and nowhere else.

    What a check refuted has a line of the generated tree already; every other place is upstream's.
    """
    tree, rules = (f"{folder.rstrip('/')}/" if folder else "" for folder in (repository.tree, repository.rules))
    if tree and row.path == "report.json":
        return replace(row, path=f"{tree}PRUNED.json")
    if tree and row.path in head.graph["lines"]:
        line = row.line if row.code.startswith("PR4") else generated_line(head.graph, row.path, row.line)
        return replace(row, path=tree + row.path, line=line)
    if tree and row.path in head.removed_files:
        return replace(row, path="", line=0, text=f"{row.path}:{row.line}: {row.text}")
    if rules and row.path in head.report["policy"]["files"]:
        return replace(row, path=rules + row.path)
    return row


def _located(detail: str) -> tuple[str, int, str]:
    """``path:line: text`` of a check's message."""
    place, _, text = detail.partition(": ")
    path, _, line = place.rpartition(":")
    return (path, int(line), text) if path and line.isdigit() else (place, 0, text or detail)


def _limits(document: dict[str, Any], limits: Limits) -> list[Finding]:
    found = []
    one, two = (document[side]["python"]["after"] for side in ("base", "head"))
    if limits.grown is not None and one and 100 * (two - one) / one > limits.grown:
        text = (
            f"{two:,} Python lines are kept, {one:,} were: {100 * (two - one) / one:+.1f}%, more than {limits.grown:g}%"
        )
        found.append(Finding("PR514", "report.json", 0, text, "look at what grew; raise the limit if it is meant"))
    able = document["capabilities"]
    lost = [f"{kind} {row['name']}" for kind, rows in able["offers"].items() for row in rows["lost_to_the_cut"]]
    lost += [f"{r['kind']} {r['key']}" for r in able["table"] if r["before"] == "kept" and r["after"] == "dropped"]
    if len(lost) > limits.lost:
        shown = ", ".join(lost[:10]) + (f" and {len(lost) - 10} more" if len(lost) > 10 else "")
        text = f"{len(lost)} capabilities were lost to the cut: {shown}"
        found.append(Finding("PR515", "report.json", 0, text, "keep them, or allow as many as are meant"))
    return found
