"""Names that look like platforms and that no rule speaks of; rules without effect; a share that moved.

A word is suspected by its shape (``is_WORD``, ``_use_WORD``) and by its company: lines that it shares with a
rule's subject, an enum or a folder that also holds a platform which the rules deny. What was looked at and found
to be none goes into a file of patterns with reasons.

Blind to: a platform whose predicate has another shape and no company of a classified one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pruner.errors import cannot
from pruner.model import Finding
from pruner.pipeline.change.side import Side

LEAST = 5
"""The least score that is a finding."""
_SHAPE = re.compile(r"^_?(?:is|use|has|supports?)_([a-z0-9_]+)$")
_COMPANY = {"predicate": 1, "string": 1, "enum": 3, "folder": 5, "neighbour": 5}


@dataclass(slots=True)
class Suspect:
    """A word with its evidence. ``score`` counts company: see ``_COMPANY``."""

    word: str
    score: int = 0
    evidence: list[str] = field(default_factory=list)
    at: str = ""
    subject: str = ""  # a predicate of this word that a rule could name


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


def suspects(side: Side, known: Sequence[tuple[str, str]]) -> list[Suspect]:
    """Words by falling score."""
    names, spoken = side.inventory["names"], set(side.inventory["spoken"])
    denied = set(side.inventory["ruled_out"])
    found: dict[str, Suspect] = {}
    neighbours = {
        row["defined"].rpartition(".")[0]
        for name, row in names.get("predicate", {}).items()
        if "defined" in row and name in {f"is_{word}" for word in denied}
    }
    for name, row in sorted(names.get("predicate", {}).items()):
        match = _SHAPE.match(name)
        if match is None or not row["kept"] or name.lstrip("_") in spoken or _is_known(name, known):
            continue
        word = match[1]
        beside = sum(row.get("with", {}).values())
        parts = denied & set(word.split("_"))
        if not parts and "defined" not in row and "stored" not in row:
            continue  # a method of somebody else's object, such as `tensor.is_contiguous()`
        suspect = found.setdefault(word, Suspect(word))
        if not suspect.at or (not suspect.subject and "defined" in row):
            suspect.at, suspect.subject = row["at"], row.get("defined", "")
        if row.get("defined", "").rpartition(".")[0] in neighbours:
            _add(suspect, "neighbour", 1, f"`{row['defined']}` is defined beside a predicate that the rules deny")
        if beside:
            _add(suspect, "predicate", beside, f"`{name}` shares {beside} lines with {_some(row['with'])}")
        if parts:
            _add(suspect, "predicate", row["kept"], f"`{name}` names {_some(parts)} and is kept {row['kept']} times")
    _enums(names.get("enum", {}), denied, found)
    _folders(side.inventory["folders"], denied, found)
    for word, suspect in found.items():
        row = names.get("string", {}).get(word)
        if row is not None and row["kept"] and row.get("with"):
            _add(suspect, "string", sum(row["with"].values()), f'"{word}" is compared beside {_some(row["with"])}')
    rows = [s for s in found.values() if s.score and not _is_known(s.word, known) and s.word not in spoken]
    return sorted(rows, key=lambda s: (-s.score, s.word))


def _enums(members: dict[str, Any], denied: set[str], found: dict[str, Suspect]) -> None:
    """Only adds to a word that a predicate suggested: an enum of platforms also has UNSPECIFIED."""
    classes: dict[str, dict[str, Any]] = {}
    for name, row in members.items():
        owner, _, member = name.partition(".")
        classes.setdefault(owner, {})[member.lower()] = row
    for owner, rows in sorted(classes.items()):
        if denied & rows.keys():
            for word in sorted(rows.keys() & found.keys()):
                _add(found[word], "enum", 1, f"`{owner}.{word.upper()}` stands beside {_some(denied & rows.keys())}")


def _folders(folders: dict[str, list[int]], denied: set[str], found: dict[str, Suspect]) -> None:
    children: dict[str, dict[str, int]] = {}
    for folder, (_, kept) in folders.items():
        parent, _, name = folder.rpartition("/")
        children.setdefault(parent, {})[name] = kept
    for parent, rows in sorted(children.items()):
        company = denied & rows.keys()
        for word in sorted(rows.keys() - company) if company else ():
            if rows[word] and word in found:
                _add(found[word], "folder", 1, f"`{parent}/{word}` stands beside {_some(company)}")


def _add(suspect: Suspect, kind: str, count: int, text: str) -> None:
    suspect.score += _COMPANY[kind] * count
    suspect.evidence.append(text)


def _is_known(name: str, known: Sequence[tuple[str, str]]) -> bool:
    return any(fnmatchcase(name, p) or fnmatchcase(name.lstrip("_"), p) for p, _ in known)


def _some(names: Any) -> str:
    rows = sorted(names)
    return ", ".join(f"`{n}`" for n in rows[:3]) + (f" and {len(rows) - 3} more" if len(rows) > 3 else "")


def suggestion(suspect: Suspect) -> str:
    """A rule to paste, or the line for the file of known names."""
    if not suspect.subject:
        return f"{suspect.word}*: say why it is no platform"
    return (
        f"  - id: site.{suspect.word.replace('_', '-')}\n    because: Say why.\n"
        f"    assume:\n      {suspect.subject}: false"
    )


def hygiene(
    sides: Sequence[Side],
    known: Sequence[tuple[str, str]],
    *,
    least: int = LEAST,
    base: Side | None = None,
    moved: float | None = None,
) -> tuple[list[Finding], list[Suspect]]:
    """Findings PR511 (suspects of ``least`` or more), PR512 (rules that no run used), PR513 (the share moved).

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
    findings += _idle(sides)
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


def _share(side: Side) -> float:
    python = side.report["totals"]["python"]["lines"]
    return 100 * python["after"] / python["before"] if python["before"] else 0.0
