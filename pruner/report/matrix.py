"""One table over several runs of the same rules: ``matrix.json``, ``matrix.md`` and ``matrix.html``.

Everything but ``measured`` is taken from each run's ``report.json`` and repeats byte for byte;
``measured`` holds seconds and mebibytes of one machine on one day.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pruner.report.html.trend import trend_page
from pruner.report.summary import checks
from pruner.report.text import code, number, share, table

SCHEMA = "prune-matrix/1"
RESULTS = {0: "clean", 1: "findings", 2: "cannot run", 3: "refuted"}


def matrix_row(
    upstream: str, exit_code: int, document: Mapping[str, Any] | None, message: str, measured: Mapping[str, float]
) -> dict[str, Any]:
    """One release. ``document`` is its report, None when the run ended before there was one.

    ``measured`` has ``seconds`` (wall), ``cpu_seconds`` (all processes) and ``peak_mib`` (the largest
    resident set of any one process).
    """
    row: dict[str, Any] = {
        "upstream": upstream,
        "exit_code": exit_code,
        "result": RESULTS.get(exit_code, "interrupted"),
        "message": message,
        "measured": dict(measured),
    }
    if document is None:
        return row
    totals = document["totals"]
    used = [rule["id"] for rule in document["rules"] if rule["folds"] or rule["removals"]]
    return row | {
        "version": document["upstream"]["version"],
        "snapshot": document["upstream"]["snapshot"],
        "policy": document["policy"]["digest"],
        "rules": {"spoken": len(document["rules"]), "used": len(used)},
        "lines": totals["lines"],
        "files": totals["files"],
        "python": totals["python"],
        "folds": totals["folds"],
        "definitions": document["removed_definitions"],
        "findings": len(document["findings"]),
        "checks": checks(document),
        "refuted": [
            detail for row_ in document["verdicts"] if row_["result"] == "refuted" for detail in row_["details"]
        ],
    }


def matrix_document(rules: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The document over all rows, in the order in which they were asked for."""
    digests = sorted({row["policy"] for row in rows if "policy" in row})
    return {"schema": SCHEMA, "rules": list(rules), "policy_digests": digests, "releases": list(rows)}


def matrix_bytes(document: Mapping[str, Any]) -> bytes:
    """``matrix.json``."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True).encode() + b"\n"


HEADS = (
    "release",
    "result",
    ">Python lines before",
    ">kept",
    ">share",
    ">all lines kept",
    ">folds",
    ">removed definitions",
    ">findings",
    "checks",
    ">rules used",
    ">seconds",
    ">CPU s",
    ">MiB",
)


def matrix_rows(document: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The cells under :data:`HEADS`."""
    out = []
    for row in document["releases"]:
        measured = row["measured"]
        times = tuple(f"{measured[key]:.0f}" for key in ("seconds", "cpu_seconds", "peak_mib"))
        if "lines" not in row:
            out.append((row["upstream"], row["result"], *[""] * 9, *times))
            continue
        python = row["python"]["lines"]
        out.append(
            (
                row["version"] or row["upstream"],
                row["result"],
                number(python["before"]),
                number(python["after"]),
                share(python["after"], python["before"]),
                share(row["lines"]["after"], row["lines"]["before"]),
                number(row["folds"]),
                number(sum(row["definitions"].values())),
                number(row["findings"]),
                row["checks"],
                f"{row['rules']['used']} of {row['rules']['spoken']}",
                *times,
            )
        )
    return out


def matrix_markdown(document: Mapping[str, Any]) -> str:
    """``matrix.md``: the table, and what a release that is not clean said."""
    rows = document["releases"]
    clean = sum(row["exit_code"] == 0 for row in rows)
    rules = ", ".join(code(name) for name in document["rules"])
    same = "the same digest of rules in all" if len(document["policy_digests"]) < 2 else "DIFFERENT rules"
    out = ["# Release matrix", "", f"{rules} on {len(rows)} releases, {same}: {clean} clean.", ""]
    out += table(HEADS, matrix_rows(document))
    out += ["", "Seconds, CPU seconds and MiB (largest process) are measured; all else repeats byte for byte."]
    for row in rows:
        said = [*row.get("refuted", ()), *filter(None, [row["message"]])]
        if row["exit_code"] and said:
            out += ["", f"## {row['upstream']}: {row['result']}", "", *(f"- {text}" for text in said)]
    return "\n".join(out) + "\n"


def matrix_html(document: Mapping[str, Any]) -> bytes:
    """``matrix.html``: the chart over the releases, with links to their reports."""
    return trend_page(document["releases"], HEADS, matrix_rows(document))
