"""The ledger: every removal with its cause chain, every file with its lines. No source text.

``ledger.json`` is complete: one row a line, so that ``grep`` and ``diff`` work on it.
``ledger.md`` is for reading: by folder, the largest rows first, bounded.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pruner.model import Removal
from pruner.report.count import FileCount, cause_key
from pruner.report.paths import encode, folder_of
from pruner.report.text import code, number, table

SCHEMA = "prune-ledger/1"
FOLDERS = 60  # folders shown in ledger.md
ROWS = 20  # rows shown a folder


def ledger_bytes(
    snapshot_digest: str, policy_digest: str, counts: Sequence[FileCount], removals: Sequence[Removal]
) -> bytes:
    """``ledger.json``. ``lines`` are [before, after], null where the file is not there."""
    head = {"schema": SCHEMA, "snapshot": snapshot_digest, "policy": policy_digest}
    parts = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(head.items())]
    parts.append('"files": [\n' + ",\n".join(map(_dump, map(_file, counts))) + "\n]")
    parts.append('"removals": [\n' + ",\n".join(map(_dump, map(_removal, ordered(removals)))) + "\n]")
    return ("{\n" + ",\n".join(sorted(parts)) + "\n}\n").encode()


def ordered(removals: Sequence[Removal]) -> list[Removal]:
    """Rows by place, whatever order the engine found them in."""
    return sorted(removals, key=lambda row: (encode(row.path), row.first, -row.last, row.what, row.name, row.cause))


def _dump(row: Mapping[str, Any]) -> str:
    return json.dumps(row, sort_keys=True)


def _file(row: FileCount) -> dict[str, Any]:
    out: dict[str, Any] = {
        "path": row.path,
        "language": row.language,
        "lines": [row.lines_before, row.lines_after],
        "changed": row.changed,
    }
    if row.shares:
        out["causes"] = [
            {"kind": s.kind, "rules": list(s.rules), "removed": s.removed, "added": s.added} for s in row.shares
        ]
    return out


def _removal(row: Removal) -> dict[str, Any]:
    return {
        "path": row.path,
        "lines": [row.first, row.last],
        "what": row.what,
        "name": row.name,
        "cause": {"kind": row.cause.kind, "rules": list(row.cause.rules), "chain": list(row.cause.chain)},
    }


def ledger_markdown(removals: Sequence[Removal], python_root: str) -> str:
    """``ledger.md``: at most ``FOLDERS`` folders of ``ROWS`` rows, and what was left out, counted."""
    groups: dict[str, list[Removal]] = {}
    for row in ordered(removals):
        groups.setdefault(folder_of(row.path, python_root), []).append(row)
    order = sorted(groups, key=lambda folder: (-_extent(groups[folder]), folder))
    out = [
        "# Ledger of removals",
        "",
        f"{number(len(removals))} removals in {number(len(groups))} folders, the largest folders first. "
        "Every row, with its whole cause chain, is in `ledger.json`.",
    ]
    for folder in order[:FOLDERS]:
        out += ["", *_folder(folder, groups[folder])]
    if rest := order[FOLDERS:]:
        rows = sum(len(groups[folder]) for folder in rest)
        out += ["", f"{number(len(rest))} more folders with {number(rows)} removals are in `ledger.json`."]
    return "\n".join(out) + "\n"


def _extent(rows: Sequence[Removal]) -> int:
    return sum(row.last - row.first + 1 for row in rows)


def _folder(folder: str, rows: Sequence[Removal]) -> list[str]:
    causes = Counter(cause_key(row.cause.kind, row.cause.rules) for row in rows)
    listed = ", ".join(f"{code(key)} {number(n)}" for key, n in sorted(causes.items(), key=lambda c: (-c[1], c[0]))[:8])
    out = [f"## {code(folder)}", "", f"{number(len(rows))} removals: {listed}.", ""]
    largest = sorted(rows, key=lambda row: row.first - row.last)[:ROWS]  # stable: ties stay by place
    cells = [
        (
            code(row.path if row.what == "file" else f"{row.path}:{row.first}-{row.last}"),
            row.what + (f" {code(row.name)}" if row.name and row.what != "file" else ""),
            number(row.last - row.first + 1),
            code(cause_key(row.cause.kind, row.cause.rules)) + (f": {row.cause.chain[0]}" if row.cause.chain else ""),
        )
        for row in largest
    ]
    out += table(("place", "what", ">lines", "why"), cells)
    if len(rows) > ROWS:
        out += ["", f"{number(len(rows) - ROWS)} more in `ledger.json`."]
    return out
