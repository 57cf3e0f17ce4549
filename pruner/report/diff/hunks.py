"""Hunks from the edits themselves: no search for a longest common subsequence.

Lines end at a line feed and nowhere else. ``bytes.splitlines`` would also cut at a lone
carriage return, and git would then find fewer lines than the hunk header promises.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pruner.model import Edit

CONTEXT = 3  # unchanged lines around a change, as git shows
NO_END = b"\\ No newline at end of file\n"

_HEADING = re.compile(rb"[A-Za-z_$]")


@dataclass(frozen=True, slots=True)
class Change:
    """Whole lines of the old file, as a byte span, and what stands there now."""

    start: int
    stop: int
    new: bytes


def apply(old: bytes, edits: Sequence[Edit]) -> bytes:
    """The content that the edits make. Raises ValueError when two of them overlap."""
    parts, at = [], 0
    for edit in _ordered(edits):
        if edit.start < at or edit.stop < edit.start or edit.stop > len(old):
            raise ValueError(f"edit {edit.start}:{edit.stop} overlaps another or leaves the file")
        parts += [old[at : edit.start], edit.text]
        at = edit.stop
    parts.append(old[at:])
    return b"".join(parts)


def _ordered(edits: Iterable[Edit]) -> list[Edit]:
    return sorted(edits, key=lambda edit: (edit.start, edit.stop))


def changes(old: bytes, edits: Sequence[Edit]) -> list[Change]:
    """The edits widened to whole lines; edits that touch the same line become one change."""
    done: list[Change] = []
    parts: list[bytes] = []
    first = at = last = -1
    for edit in _ordered(edits):
        if edit.start > last:
            _finish(done, old, first, last, parts, at)
            first = at = old.rfind(b"\n", 0, edit.start) + 1
            parts = []
        parts += [old[at : edit.start], edit.text]
        at = edit.stop
        tail = next((part for part in reversed(parts) if part), b"\n")
        # After `abc\n` -> `abc` the next line is glued on, so it belongs to the change.
        if tail.endswith(b"\n") and (at == 0 or old[at - 1 : at] == b"\n"):
            last = at
        else:
            last = old.find(b"\n", at) + 1 or len(old)
    _finish(done, old, first, last, parts, at)
    return done


def _finish(done: list[Change], old: bytes, first: int, last: int, parts: list[bytes], at: int) -> None:
    if first < 0:
        return
    change = trim(old, Change(first, last, b"".join(parts) + old[at:last]))
    if change.start != change.stop or change.new:
        done.append(change)


def trim(old: bytes, change: Change) -> Change:
    """The change without the lines that are equal at its head and its tail."""
    before, after = lines(old[change.start : change.stop]), lines(change.new)
    head, most = 0, min(len(before), len(after))
    while head < most and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < most - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    start = change.start + sum(map(len, before[:head]))
    stop = change.stop - sum(map(len, before[len(before) - tail :]))
    return Change(start, stop, b"".join(after[head : len(after) - tail]))


def lines(data: bytes) -> list[bytes]:
    """The lines with their line feeds; the last one may lack it."""
    parts = data.split(b"\n")
    rest = parts.pop()
    whole = [part + b"\n" for part in parts]
    return [*whole, rest] if rest else whole


def signed(sign: bytes, block: bytes) -> bytes:
    """A block of lines with the sign before each, and git's remark when the last has no line feed."""
    if not block:
        return b""
    if block.endswith(b"\n"):
        return sign + block[:-1].replace(b"\n", b"\n" + sign) + b"\n"
    return sign + block.replace(b"\n", b"\n" + sign) + b"\n" + NO_END


def size(block: bytes) -> int:
    """Lines as a hunk header counts them: one without a line feed is a line."""
    return block.count(b"\n") + (bool(block) and not block.endswith(b"\n"))


def span(first: int, number: int) -> bytes:
    """One side of a hunk header. ``first`` counts from 0; git names the line before an empty side."""
    start = first + 1 if number else first
    return b"%d" % start if number == 1 else b"%d,%d" % (start, number)


def hunks(old: bytes, found: Sequence[Change]) -> Iterator[bytes]:
    """The hunks of a file for its sorted, disjoint changes."""
    starts = [0, *(match.end() for match in re.finditer(b"\n", old))]
    if starts[-1] != len(old):
        starts.append(len(old))
    # Line numbers: `begin` is the first old line of each change, `end` the first line behind it.
    rows = [(bisect_right(starts, c.start) - 1, bisect_right(starts, c.stop) - 1, c.new) for c in found]
    total, shift, at, heading = len(starts) - 1, 0, 0, (-1, b"")
    while at < len(rows):
        upto = at + 1
        while upto < len(rows) and rows[upto][0] - rows[upto - 1][1] <= 2 * CONTEXT:
            upto += 1
        group = rows[at:upto]
        low, high = max(0, group[0][0] - CONTEXT), min(total, group[-1][1] + CONTEXT)
        body, line, growth = [], low, 0
        for begin, end, new in group:
            gone = old[starts[begin] : starts[end]]
            body += [signed(b" ", old[starts[line] : starts[begin]]), signed(b"-", gone), signed(b"+", new)]
            growth += size(new) - (end - begin)
            line = end
        body.append(signed(b" ", old[starts[line] : starts[high]]))
        heading = _heading(old, starts, low, heading)
        head = b"@@ -%b +%b @@%b\n" % (span(low, high - low), span(low + shift, high - low + growth), heading[1])
        yield head + b"".join(body)
        shift += growth
        at = upto


def _heading(old: bytes, starts: Sequence[int], low: int, known: tuple[int, bytes]) -> tuple[int, bytes]:
    """The nearest line above that begins with a letter, as git shows behind ``@@``, and where we looked last."""
    for line in range(low - 1, known[0], -1):
        if _HEADING.match(old, starts[line]):
            return low - 1, b" " + old[starts[line] : min(starts[line + 1], starts[line] + 80)].rstrip()
    return max(low - 1, known[0]), known[1]
