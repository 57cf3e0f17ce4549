"""Put markup, style, scripts and data into one file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from pruner.model import Outcome, Removal, Snapshot
from pruner.report.count import FileCount
from pruner.report.html.payload import payload
from pruner.report.html.sources import chunks, packed
from pruner.report.html.trend import trend
from pruner.report.html.whykept import ways
from pruner.report.ledger import ordered
from pruner.report.summary import summary, upstream

SCRIPTS = ("model.js", "treemap.js", "source.js", "tables.js", "why.js", "main.js")
MOST = 200  # findings shown; all of them are in report.json


def page_bytes(
    document: Mapping[str, Any],
    counts: Sequence[FileCount],
    removals: Sequence[Removal],
    snapshot: Snapshot,
    outcome: Outcome,
    releases: Sequence[Mapping[str, Any]] = (),
    sources: Iterable[tuple[str, str]] | None = None,
) -> bytes:
    """``report.html``. Same input, same bytes; every name and line from upstream is escaped.

    ``releases`` are the rows of ``matrix.json``, for the chart; ``sources`` the answer of :func:`packed`, when it is known.
    """
    places = {row.path: number for number, row in enumerate(counts)}
    folder = resources.files("pruner.report.html")
    parts = {
        "title": f"Pruned {upstream(document)}",
        "figures": _figures(document),
        "checks": _checks(document),
        "findings": _findings(document),
        "style": folder.joinpath("style.css").read_text("utf-8"),
        "trend": trend(releases, document["upstream"]["version"]),
        "data": _json(payload(document, counts, ordered(removals)) | {"ways": ways(snapshot, outcome, places)}),
        "sources": "\n".join(chunks(packed(snapshot, outcome) if sources is None else sources, places)),
        "script": "\n".join(folder.joinpath(name).read_text("utf-8") for name in SCRIPTS),
    }
    parts["title"] = escape(parts["title"])
    pieces = folder.joinpath("page.html").read_text("utf-8").split("@@")
    # Odd pieces are names; data that holds "@@title@@" must not be filled in a second time.
    return "".join(parts[piece] if index % 2 else piece for index, piece in enumerate(pieces)).encode(
        "utf-8", "backslashreplace"
    )


def _json(value: Any) -> str:
    """JSON that may stand in a script element: a file may be named ``</script>``."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _figures(document: Mapping[str, Any]) -> str:
    return "\n".join(
        f"<div><dt>{escape(label)}</dt><dd>{escape(value)}</dd></div>" for label, value in summary(document)[1:]
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _checks(document: Mapping[str, Any]) -> str:
    rows = [(row["check"], row["result"], row["covered"], "; ".join(row["details"])) for row in document["verdicts"]]
    return _table(("check", "result", "covered", "details"), rows) if rows else "<p>Not run.</p>"


def _findings(document: Mapping[str, Any]) -> str:
    found = document["findings"]
    if not found:
        return "<p>None.</p>"
    rows = [(f"{row['path']}:{row['line']}", row["code"], row["text"], row["advice"]) for row in found[:MOST]]
    more = f"<p>{len(found) - MOST} more in report.json.</p>" if len(found) > MOST else ""
    return _table(("place", "code", "text", "advice"), rows) + more
