"""``PRUNED.json``: what a generated tree says of itself, and the map of its lines to upstream's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pruner import __version__
from pruner.model import Fact, Outcome, Policy, Range, Snapshot, Verdict
from pruner.report.paths import RuleFiles, encode

SCHEMA = "prune-manifest/1"


def manifest(
    snapshot: Snapshot,
    policy: Policy,
    outcome: Outcome,
    verdicts: Sequence[Verdict] = (),
    capabilities: Mapping[str, Any] | None = None,
    overlay: Mapping[str, Any] | None = None,
    digest: str = "",
) -> bytes:
    """The manifest's bytes; one fact and one file a line. A fact that was rejected says so: it folded nothing.

    ``files`` maps each surviving upstream path to ``true`` (byte for byte) or to the
    inclusive upstream line ranges that survive. ``checks`` says what each check answered when the tree
    was made: passed, refuted or not run. ``capabilities`` is what :func:`pruner.report.counts` says of
    the capability manifest. ``overlay`` names local changes that were put on afterwards; the ranges of
    what they touch are those before. ``digest`` is what the running tree shows. Raises ValueError for an edited file
    without ranges (a fault of the engine).
    """
    names = RuleFiles(policy.files)
    rejected = {(row.subject, row.rule) for row in outcome.facts if row.status == "rejected"}
    facts = sorted(
        (_fact(fact, names) | ({"rejected": True} if (fact.subject, fact.rule) in rejected else {}) for fact in policy.facts),
        key=_dump,
    )  # fmt: skip
    kept = {file.path: _kept(file.path, outcome) for file in snapshot.files if _survives(file.path, outcome)}
    head: dict[str, Any] = {
        "schema": SCHEMA,
        "tool": {"name": "prune", "version": __version__},
        "upstream": {
            "name": snapshot.origin.name,
            "version": snapshot.origin.version,
            "digest": snapshot.origin.digest,
            "snapshot": snapshot.digest,
        },
        "rules": {"digest": policy.digest, "files": [names.name(file) for file in policy.files]},
        "checks": {row.check: row.result for row in verdicts},
    }
    if capabilities is not None:
        head["capabilities"] = {
            "sha256": capabilities["sha256"],
            **{what: sum(row[what] for row in capabilities["rows"]) for what in ("kept", "dropped", "absent")},
        }
    if digest:
        head["digest"] = digest
    if overlay is not None:
        head["overlay"] = dict(overlay)
    parts = {key: _dump(value) for key, value in head.items()}
    parts["guards"] = _block("[", [_dump(row) for row in _guards(policy, outcome, names)], "]")
    parts["facts"] = _block("[", [_dump(fact) for fact in facts], "]")
    rows = [f"{_dump(path)}: {_dump(kept[path])}" for path in sorted(kept, key=encode)]
    parts["files"] = _block("{", rows, "}")
    return ("{\n" + ",\n".join(f'"{key}": {parts[key]}' for key in sorted(parts)) + "\n}\n").encode()


def _guards(policy: Policy, outcome: Outcome, names: RuleFiles) -> list[dict[str, Any]]:
    """Each guard call of the tree: its rule, what it asks, the upstream place of its function."""
    known = {guard.key: guard for guard in policy.guards}
    rules = {rule.id: rule for rule in policy.rules}
    rows = []
    for call in outcome.guards:
        guard, rule = known.get(call.key), rules.get(call.rule)
        row: dict[str, Any] = {
            "guard": call.key,
            "rule": f"{names.name(rule.location.file)}:{rule.location.line}" if rule is not None else call.rule,
            "place": f"{call.path}:{call.line}",
            "function": call.function,
            "where": call.where,
        }
        if guard is not None:
            row["asks"] = {
                ask.chain: {ask.kind: list(ask.names)} | ({"when": ask.when} if ask.when else {}) for ask in guard.asks
            }
            row["facts"] = guard.facts
            if guard.digest:
                row["digest"] = guard.digest
        else:
            point = call.rule.removeprefix("valid_from ")
            row["asks"] = {f.subject: {"fact": [f.subject]} for f in policy.facts if f.valid_from == point}
            row["facts"] = False
        rows.append(row)
    return rows


def _block(left: str, rows: list[str], right: str) -> str:
    return left + "\n" + ",\n".join(rows) + "\n" + right if rows else left + right


def _dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _survives(path: str, outcome: Outcome) -> bool:
    return outcome.files.get(path, b"") is not None


def _kept(path: str, outcome: Outcome) -> bool | list[list[int]]:
    if path not in outcome.files:
        return True
    if path not in outcome.kept_ranges:
        raise ValueError(f"{path}: edited, but the outcome does not say which lines are kept")
    return [list(pair) for pair in outcome.kept_ranges[path]]


def _fact(fact: Fact, names: RuleFiles) -> dict[str, Any]:
    row: dict[str, Any] = {
        "subject": fact.subject,
        "rule": fact.rule,
        "location": f"{names.name(fact.location.file)}:{fact.location.line}",
    }
    if isinstance(fact.values, Range):
        row["range"] = [fact.values.low, fact.values.high]
    else:
        row["values"] = list(fact.values)
    if fact.valid_from is not None:
        row["valid_from"] = fact.valid_from
    return row
