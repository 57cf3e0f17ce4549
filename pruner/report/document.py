"""The one versioned document of a run, ``prune-report/1``. Every other report says no more than it.

The format is fixed by ``schema.json`` beside this module. It holds no clock, host or
absolute path, so two runs on the same input give the same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from typing import Any

from pruner import __version__
from pruner.model import Finding, Outcome, Policy, Snapshot, Verdict
from pruner.report.count import FileCount, count
from pruner.report.ledger import ledger_bytes
from pruner.report.paths import RuleFiles, folder_of

SCHEMA = "prune-report/1"
DEFINITIONS = ("class", "function", "method", "variable")


@dataclass(frozen=True, slots=True)
class Account:
    """Every line of a run, for the document and the other reports: ``counts`` by path, ``ledger`` as ledger.json."""

    counts: tuple[FileCount, ...]
    ledger: bytes


def account(snapshot: Snapshot, policy: Policy, outcome: Outcome, extra: Mapping[str, bytes] | None = None) -> Account:
    """Read both trees. Raises PruneError (PR502) for an unreadable one.

    Raises ValueError for an outcome whose edits and rows do not account for every line.
    """
    counts = count(snapshot, outcome, extra or {})
    return Account(counts, ledger_bytes(snapshot.digest, policy.digest, counts, outcome.removals))


def build(
    snapshot: Snapshot,
    policy: Policy,
    outcome: Outcome,
    verdicts: Sequence[Verdict],
    *,
    extra: Mapping[str, bytes] | None = None,
    capabilities: Mapping[str, Any] | None = None,
    lines: Account | None = None,
) -> dict[str, Any]:
    """The document of a run.

    ``extra`` maps the paths of generated files (manifest, notices, project metadata) to
    their content; they are part of the generated tree and count. ``capabilities`` is the
    capability summary, taken over as it is. ``lines`` is the answer of :func:`account` for
    the same arguments, when it is known; raises what that raises otherwise.
    """
    lines = lines or account(snapshot, policy, outcome, extra)
    counts, ledger = lines.counts, lines.ledger
    files = RuleFiles(policy.files)
    kinds = Counter(row.what for row in outcome.removals)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "tool": {"name": "prune", "version": __version__},
        "upstream": {
            "kind": snapshot.origin.kind,
            "name": snapshot.origin.name,
            "version": snapshot.origin.version,
            "digest": snapshot.origin.digest,
            "snapshot": snapshot.digest,
        },
        "policy": {"digest": policy.digest, "files": [files.name(file) for file in policy.files]},
        "rules": _rules(policy, outcome, counts, files),
        "totals": _totals(counts, outcome),
        "by_folder": _table(counts, "folder", lambda row: folder_of(row.path, snapshot.python_root)),
        "by_language": _table(counts, "language", lambda row: row.language),
        "by_cause": _causes(counts),
        "removed": dict(sorted(kinds.items())),
        "removed_definitions": {what: kinds[what] for what in DEFINITIONS},
        "findings": [_finding(row) for row in sorted(outcome.findings, key=_finding_key)],
        "verdicts": [
            {"check": v.check, "covered": v.covered, "result": v.result, "details": list(v.details)} for v in verdicts
        ],
        "ledger": {"file": "ledger.json", "rows": len(outcome.removals), "sha256": sha256(ledger).hexdigest()},
    }
    if capabilities is not None:
        document["capabilities"] = dict(capabilities)
    for verdict in verdicts:
        if verdict.check == "discard" and verdict.figures:
            document["residue"] = dict(verdict.figures)
    return document


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """``report.json``: sorted keys, one value a line, so that two of them can be compared with diff."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True).encode() + b"\n"


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document."""
    text = resources.files("pruner.report").joinpath("schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _pair(before: int, after: int) -> dict[str, int]:
    return {"before": before, "after": after}


def _sums(rows: Iterable[FileCount]) -> dict[str, Any]:
    rows = list(rows)
    return {
        "files": _pair(sum(r.lines_before is not None for r in rows), sum(r.lines_after is not None for r in rows)),
        "lines": _pair(sum(r.lines_before or 0 for r in rows), sum(r.lines_after or 0 for r in rows)),
        "bytes": _pair(sum(r.bytes_before for r in rows), sum(r.bytes_after for r in rows)),
    }


def _totals(counts: Sequence[FileCount], outcome: Outcome) -> dict[str, Any]:
    there = [row for row in counts if row.lines_before is not None]
    return _sums(counts) | {
        "python": _sums(row for row in counts if row.language == "Python"),
        "removed_files": sum(row.lines_after is None for row in there),
        "edited_files": sum(row.changed and row.lines_after is not None for row in there),
        "untouched_files": sum(not row.changed for row in there),
        "added_files": len(counts) - len(there),
        "folds": sum(outcome.folds.values()),
    }


def _table(counts: Sequence[FileCount], name: str, key: Any) -> list[dict[str, Any]]:
    groups: dict[str, list[FileCount]] = {}
    for row in counts:
        groups.setdefault(key(row), []).append(row)
    return [{name: group} | _sums(rows) for group, rows in sorted(groups.items())]


def _causes(counts: Sequence[FileCount]) -> list[dict[str, Any]]:
    """Lines by cause. ``removed - added``, summed, is ``before - after``; each line has one cause."""
    removed: Counter[str] = Counter()
    added: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    edited: Counter[str] = Counter()
    for row in counts:
        for share in row.shares:
            removed[share.key] += share.removed
            added[share.key] += share.added
        for key in {share.key for share in row.shares}:
            (whole if row.lines_after is None else edited)[key] += 1
    return [
        {"cause": key, "removed": removed[key], "added": added[key], "files": whole[key], "edited_files": edited[key]}
        for key in sorted(removed | added | whole | edited)
    ]


def _rules(policy: Policy, outcome: Outcome, counts: Sequence[FileCount], files: RuleFiles) -> list[dict[str, Any]]:
    """Per rule: folds, ledger rows and lines whose cause names it. Two rules of one cause both count it."""
    rows = Counter(rule for row in outcome.removals for rule in set(row.cause.rules))
    lines: Counter[str] = Counter()
    for count_ in counts:
        for share in count_.shares:
            for rule in set(share.rules):
                lines[rule] += share.removed
    return [
        {
            "id": rule.id,
            "verb": rule.verb,
            "because": rule.because,
            "location": f"{files.name(rule.location.file)}:{rule.location.line}",
            "folds": outcome.folds.get(rule.id, 0),
            "removals": rows[rule.id],
            "lines": lines[rule.id],
        }
        for rule in sorted(policy.rules, key=lambda rule: rule.id)
    ]


def _finding(row: Finding) -> dict[str, Any]:
    return {"code": row.code, "path": row.path, "line": row.line, "text": row.text, "advice": row.advice}


def _finding_key(row: Finding) -> tuple[str, int, str, str]:
    return (row.path, row.line, row.code, row.text)
