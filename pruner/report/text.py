"""Markdown pieces and figures for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LONGEST = 300  # characters of one cell


def number(value: int) -> str:
    """1169747 -> 1,169,747."""
    return f"{value:,}"


def share(part: int, whole: int) -> str:
    """A percentage with one digit; ``-`` of nothing."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def code(text: str) -> str:
    """Inline code. A backtick in a file name would end it, so it becomes an apostrophe."""
    return "`" + text.replace("`", "'") + "`"


def cell(text: str) -> str:
    """One table cell: no line break, no bar, bounded."""
    flat = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    if len(flat) > LONGEST:
        flat = flat[: LONGEST - 1] + "…"
    return flat.replace("|", "\\|")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table; a head that begins with ``>`` is a column of figures."""
    out = ["| " + " | ".join(head.lstrip(">") for head in heads) + " |"]
    out.append("|" + "|".join(" ---: " if head.startswith(">") else " --- " for head in heads) + "|")
    out += ["| " + " | ".join(map(cell, row)) + " |" for row in rows]
    return out
