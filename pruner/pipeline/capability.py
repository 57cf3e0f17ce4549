"""The capability manifest of a run: the project's table against upstream and what was made of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pruner.model import Finding, Outcome, Policy, Snapshot
from pruner.pipeline.load import module_paths
from pruner.report.paths import RuleFiles
from pruner.verify import capabilities as table
from pruner.verify.catalogue import Catalogue
from pruner.verify.rules import read_rules
from pruner.verify.tree import Tree

if TYPE_CHECKING:
    from pruner.verify.driver import Ready


def catalogues(
    snapshot: Snapshot, outcome: Outcome, rules: Sequence[Path] = (), ready: Ready | None = None
) -> tuple[Catalogue, Catalogue]:
    """Tables of upstream and of the output; upstream's without what other platforms put into them.

    ``ready``: what a verifier has read of upstream already.
    """
    paths = module_paths(snapshot)

    def kept(path: str) -> bytes | None:
        return outcome.files[path] if path in outcome.files else snapshot.read(path)

    truth = parse = None
    if rules:
        from pruner.verify.effects import Effects  # here: a process beside the run asks, which imports it by itself
        from pruner.verify.world import World

        stated = read_rules(rules, snapshot.origin.version)
        tree = ready.up if ready is not None else Tree(snapshot.root, snapshot.python_root)
        truth = Effects(World(tree, stated, like=ready.world if ready is not None else None)).decided
        parse = tree.parse
    up = Catalogue(paths, snapshot.read, truth=truth, parse=parse)
    return up, Catalogue(paths, kept, up)


def capabilities(
    snapshot: Snapshot, policy: Policy, rules: Sequence[Path], trees: tuple[Catalogue, Catalogue]
) -> tuple[dict[str, Any], tuple[Finding, ...]] | None:
    """(manifest, findings), or None when the rule files name no table. Raises PruneError for a bad table."""
    wanted = table.read(rules)
    if wanted is None:
        return None
    rows = table.judge(wanted, *trees, read_rules(rules, snapshot.origin.version))
    files = RuleFiles(policy.files)
    places = {r.id: f"{files.name(r.location.file)}:{r.location.line}" for r in policy.rules}
    found = tuple(
        Finding(
            "PR241",
            row.upstream[0].rpartition(":")[0],
            int(row.upstream[0].rpartition(":")[2]),
            f"{row.kind} {row.key} is to be kept, and {', '.join(row.rules)} drops it",
            "narrow the rule, or let `capabilities` name a column that drops it",
        )
        for row in table.disputed(rows)
    )
    return {
        "schema": "prune-capabilities/1",
        "upstream": {"name": snapshot.origin.name, "version": snapshot.origin.version, "snapshot": snapshot.digest},
        "column": wanted.column,
        "generations": list(wanted.generations),
        "rows": [
            {
                "kind": row.kind,
                "key": row.key,
                "expected": row.expected,
                "status": row.status,
                "upstream": list(row.upstream),
                "evidence": list(row.kept) if row.status == "kept" else [],
                "rest": list(row.kept) if row.status != "kept" else [],
                "dropped_by": [{"rule": rule, "place": places.get(rule, "")} for rule in row.rules],
                "generations": list(row.generations),
                "note": row.note,
            }
            for row in rows
        ],
    }, found
