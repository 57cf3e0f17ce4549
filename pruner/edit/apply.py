"""Merge and apply edits that cite offsets of the original file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from pruner.model import Edit

_END = re.compile(rb"\n")


def merge(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """Sort edits and resolve overlaps: a deletion swallows what lies inside it, deletions unite.

    Raises ValueError when two replacements with text overlap: that is a fault of ours.
    """
    # An insertion comes before a deletion that starts at the same place.
    ordered = sorted(edits, key=lambda e: (e.start, e.stop != e.start, -e.stop))
    out: list[Edit] = []
    for edit in ordered:
        if out and edit.start < out[-1].stop:
            last = out[-1]
            if edit.stop <= last.stop and (
                edit.start > last.start or edit.stop < last.stop or edit == last or not edit.text
            ):
                continue  # inside what goes anyway
            if not last.text and not edit.text:
                out[-1] = Edit(last.start, max(last.stop, edit.stop), b"", last.cause)
                continue
            raise ValueError(f"edits overlap at {edit.start}: {last} and {edit}")
        out.append(edit)
    return tuple(out)


def separate(data: bytes, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Put a blank where an edit would join two words: ``return is_cuda()if a``."""
    out = []
    for edit in edits:
        text = edit.text
        before = b"" if edit.start == 3 and data.startswith(b"\xef\xbb\xbf") else data[edit.start - 1 : edit.start]
        after = data[edit.stop : edit.stop + 1]
        if text and _word(text[-1:]) and _word(after):
            text += b" "
        if text and _word(text[:1]) and _word(before):
            text = b" " + text
        if not text and edit.stop > edit.start and _word(before) and _word(after):
            text = b" "
        out.append(edit if text == edit.text else Edit(edit.start, edit.stop, text, edit.cause))
    return tuple(out)


def trim_end(data: bytes, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Where the end of a file goes, the blank lines in front of it go as well."""
    out = list(edits)
    at, index = len(data), len(out) - 1
    while index >= 0 and not out[index].text and out[index].stop == at:
        edit = out[index]
        before = out[index - 1].stop if index else 0
        kept = len(data[before : edit.start].rstrip())
        start = data.find(b"\n", before + kept, edit.start) + 1 if kept or not index else before
        if data[edit.start - 1 : edit.start] != b"\n" or not start:
            break
        out[index] = Edit(start, edit.stop, b"", edit.cause)
        at, index = start, index - 1
    return tuple(out)


def _word(byte: bytes) -> bool:
    return byte.isalnum() or byte == b"_" or byte >= b"\x80"


def apply(data: bytes, edits: Sequence[Edit]) -> bytes:
    """The edited file. ``edits`` are merged."""
    parts: list[bytes] = []
    at = 0
    for edit in edits:
        parts.append(data[at : edit.start])
        parts.append(edit.text)
        at = edit.stop
    parts.append(data[at:])
    return b"".join(parts)


def kept_ranges(data: bytes, edits: Sequence[Edit]) -> tuple[tuple[int, int], ...]:
    """Inclusive ranges of original lines that no edit takes whole: a line that two edits share counts as kept."""
    starts = [0, *(end.end() for end in _END.finditer(data))]  # lines as wc and diff count them
    if starts[-1] < len(data):
        starts.append(len(data))
    total = len(starts) - 1
    gone: set[int] = set()
    for edit in edits:
        if edit.stop <= edit.start:
            continue
        first = _line_at(starts, edit.start)
        last = _line_at(starts, edit.stop - 1)
        for line in range(first, last + 1):
            if edit.start <= starts[line] and edit.stop >= starts[line + 1]:
                gone.add(line)
    ranges: list[tuple[int, int]] = []
    first = 0
    for line in (*sorted(gone), total):
        if line > first:
            ranges.append((first + 1, line))
        first = line + 1
    return tuple(ranges)


def _line_at(starts: list[int], offset: int) -> int:
    from bisect import bisect_right

    return min(bisect_right(starts, offset) - 1, len(starts) - 2)
