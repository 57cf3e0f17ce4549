"""The whole comparison as one document, ``prune-diff/2``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pruner.pipeline.change import modules, names
from pruner.pipeline.change.side import Side

SCHEMA = "prune-diff/2"


def change(base_reports: Path, head_reports: Path) -> dict[str, Any]:
    """Compare two reports folders. Raises PruneError PR307 for a folder that holds no reports."""
    return compare(Side(base_reports), Side(head_reports))


def compare(base: Side, head: Side) -> dict[str, Any]:
    """The comparison of two runs."""
    return {
        "schema": SCHEMA,
        "base": _side(base),
        "head": _side(head),
        "platforms": names.platforms(base, head),
        "predicates": names.predicates(base, head),
        "loads": names.loads(base, head),
        "modules": modules.modules(base, head),
        "definitions": modules.definitions(base, head),
        "files": modules.files(base, head),
        "lines": modules.lines(base, head),
        "capabilities": names.capabilities(base, head),
        "growth": modules.growth(base, head),
        "rules": names.rules(base, head),
    }


def _side(side: Side) -> dict[str, Any]:
    report = side.report
    return {
        "upstream": report["upstream"],
        "policy": report["policy"],
        "lines": report["totals"]["lines"],
        "python": report["totals"]["python"]["lines"],
        "rules": len(side.rules),
        "modules": len(side.kept),
        "folds": report["totals"]["folds"],
        "definitions": report["removed_definitions"],
        "findings": report["findings"],
        "refuted": [row for row in report["verdicts"] if row["result"] == "refuted"],
    }
