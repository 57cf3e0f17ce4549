"""Where a hunk belongs in a file, and the changes that it makes there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pruner.pipeline.patch.parse import Hunk


@dataclass(frozen=True, slots=True)
class Change:
    """Lines ``start`` to ``start + len(old)`` (0-based) become ``new``; no old lines: an insertion in front."""

    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def locate(hunk: Hunk, lines: Sequence[str]) -> int | None:
    """The 0-based line at which the old lines stand: the nearest place to where the hunk says, or None.

    Nothing is ignored: context that changed means that the hunk no longer fits.
    """
    old = hunk.old
    wanted = max(hunk.start - 1, 0) if old else hunk.start
    if not old:
        return wanted if wanted <= len(lines) else None
    for offset in range(len(lines) + 1):
        for start in {wanted - offset, wanted + offset}:
            if 0 <= start <= len(lines) - len(old) and list(lines[start : start + len(old)]) == old:
                return start
    return None


def changes(hunk: Hunk, start: int) -> list[Change]:
    """The hunk's blocks of removed and added lines, context left away."""
    found: list[Change] = []
    at = start
    old: list[str] = []
    new: list[str] = []
    first = at
    for sign, text in (*hunk.rows, (" ", "")):
        if sign == " ":
            if old or new:
                found.append(Change(first, tuple(old), tuple(new)))
                old, new = [], []
            at += 1
            first = at
        elif sign == "-":
            old.append(text)
            at += 1
        else:
            new.append(text)
    return found


def rewritten(lines: Sequence[str], edits: Sequence[Change]) -> list[str]:
    """The lines with all changes made; changes must not overlap."""
    out: list[str] = []
    at = 0
    for change in sorted(edits, key=lambda c: (c.start, len(c.old))):
        out += lines[at : change.start]
        out += change.new
        at = change.start + len(change.old)
    return out + list(lines[at:])
