"""Names that look like platforms and that no rule speaks of; rules without effect; a share that moved.

Who is suspected, and why: :mod:`pruner.pipeline.suspects`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pruner.errors import cannot
from pruner.model import Finding
from pruner.pipeline.change.side import Side
from pruner.pipeline.suspects import ENOUGH, Suspect, is_known, suspects

LEAST = ENOUGH
"""The least score that is a finding."""


def read_known(path: Path | None) -> list[tuple[str, str]]:
    """(pattern, reason) rows of a file: ``pattern: reason``; ``#`` comments. Raises PruneError PR510."""
    if path is None:
        return []
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise cannot(
            str(path), "PR510", f"cannot be read: {error}", "name a file of `pattern: reason` lines"
        ) from error
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        pattern, colon, reason = line.partition(":")
        if not colon or not reason.strip():
            text = "a line without a reason"
            raise cannot(str(path), "PR510", text, "write `pattern: reason`", line=number, column=1)
        rows.append((pattern.strip(), reason.strip()))
    return rows


def hygiene(
    sides: Sequence[Side],
    known: Sequence[tuple[str, str]],
    *,
    least: int = LEAST,
    base: Side | None = None,
    moved: float | None = None,
) -> tuple[list[Finding], list[Suspect]]:
    """Findings PR511 (suspects of ``least`` or more), PR512 (rules that no run used), PR513 (the share moved),
    PR516 (entries of ``allow`` that allow nothing).

    PR512 needs two runs or more: in a single release a rule for another one has nothing to do. ``moved`` is in
    percentage points of kept Python lines.
    """
    findings = []
    every: dict[str, Suspect] = {}
    for side in sides:
        for suspect in suspects(side, known):
            if suspect.word not in every or every[suspect.word].score < suspect.score:
                every[suspect.word] = suspect
    ranked = sorted(every.values(), key=lambda s: (-s.score, s.word))
    for suspect in ranked:
        if suspect.score >= least:
            path, _, line = suspect.at.rpartition(":")
            text = f"{suspect.word} looks like a platform and no rule speaks of it: " + "; ".join(suspect.evidence[:3])
            advice = "state it in a rule, or list it with a reason in the file of known names"
            findings.append(Finding("PR511", path, int(line or 0), text, advice))
    findings += [row for row in _idle(sides) if not is_known(known, row.text.split()[1])]
    findings += [row for row in _allowing_nothing(sides) if not is_known(known, row.text.split()[1])]
    if base is not None and moved is not None:
        for side in sides:
            one, two = _share(base), _share(side)
            if abs(two - one) > moved:
                text = f"{two:.1f}% of the Python lines are kept, {one:.1f}% were: more than {moved:g} points apart"
                findings.append(
                    Finding("PR513", "report.json", 0, text, "look at prune diff; raise the bar if it is meant")
                )
    return findings, ranked


def _idle(sides: Sequence[Side]) -> list[Finding]:
    """Rules that decided nothing and removed nothing in any of several runs (roots and keeps do neither)."""
    if len(sides) < 2:
        return []
    used: set[str] = set()
    rules: dict[str, dict[str, Any]] = {}
    for side in sides:
        for row in side.report["rules"]:
            rules[row["id"]] = row
            if row["folds"] or row["removals"] or row["lines"]:
                used.add(row["id"])
    idle = [r for r in rules.values() if r["verb"] in ("assume", "drop") and r["id"] not in used]
    findings = []
    for row in sorted(idle, key=lambda r: r["id"]):
        path, _, line = row["location"].rpartition(":")
        text = f"rule {row['id']} decides and removes nothing in any of {len(sides)} runs"
        findings.append(Finding("PR512", path, int(line), text, "remove it, or correct its subjects"))
    return findings


def _allowing_nothing(sides: Sequence[Side]) -> list[Finding]:
    """PR516: entries of ``allow`` that let nothing stay in any of the runs whose release they speak of."""
    entries: dict[tuple[str, ...], int] = {}
    for side in sides:
        for row in side.report.get("residue", {}).get("allowed", ()):
            key = (row["rule"], " ".join(row["path"]), " ".join(row["name"]))
            entries[key] = entries.get(key, 0) + row["count"]
    places = {row["id"]: row["location"] for side in sides for row in side.report["rules"]}
    findings = []
    for (rule, path, name), count in sorted(entries.items()):
        if not count:
            file, _, line = places.get(rule, "report.json:0").rpartition(":")
            text = f"rule {rule} allows {name} in {path}, which is in none of {len(sides)} runs"
            findings.append(Finding("PR516", file, int(line), text, "take the entry out, or say since and until"))
    return findings


def _share(side: Side) -> float:
    python = side.report["totals"]["python"]["lines"]
    return 100 * python["after"] / python["before"] if python["before"] else 0.0
