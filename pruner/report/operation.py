"""``operations.json`` and ``operations.md``: each operation that sources register, and who names it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from pruner.model import OperationRecord
from pruner.report.text import code, number, table

SCHEMA = "prune-operations/1"


def operations_bytes(rows: Sequence[OperationRecord]) -> bytes:
    """The JSON document: one operation a row, in the order of names."""
    kept = sum(row.kept for row in rows)
    document = {"schema": SCHEMA, "registered": len(rows), "kept": kept, "operations": [asdict(row) for row in rows]}
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True).encode() + b"\n"


def operations_markdown(rows: Sequence[OperationRecord]) -> str:
    """The table for people."""
    kept = sum(row.kept for row in rows)
    out = ["# Operations compiled ahead of time", ""]
    out.append(
        f"{number(len(rows))} are registered upstream, {number(kept)} stay: kept text names them, or a rule keeps them."
    )
    heads = ("operation", "registered at", "stays", "named at", "rule")
    cells = (
        (code(f"{row.library}::{row.name}"), row.place, "yes" if row.kept else "no", row.named, row.rule)
        for row in rows
    )
    return "\n".join([*out, "", *table(heads, cells)]) + "\n"
