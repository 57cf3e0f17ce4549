"""Removed code beside what is left, packed so that the page stays one file and opens at once.

Each file is a chunk of its own: JSON, deflated, in base64, unpacked by the page when somebody opens a
removal. The whole is bounded by :data:`MOST`; edited files come first, then removed ones, the small before
the large, and of a removed file the first :data:`HEAD` lines.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from zlib import compress

from pruner.model import Edit, Outcome, Snapshot

MOST = 12_000_000  # characters of all chunks together
HEAD = 200  # lines of a removed file
CONTEXT = 3
WIDEST = 400  # characters of a line
LONGEST = 400  # lines of one block
_END = re.compile(rb"\n")

Block = tuple[int, list[str], int, list[str]]
"""(first upstream line, upstream lines, first generated line, generated lines), 1-based."""


def packed(snapshot: Snapshot, outcome: Outcome) -> list[tuple[str, str]]:
    """(path, what the page unpacks for it), as many as there is room for."""
    room = MOST
    sizes = {file.path: file.size for file in snapshot.files if file.link is None}
    edited = sorted(path for path in outcome.edits if path in sizes)
    gone = sorted(
        (p for p, data in outcome.files.items() if data is None and p in sizes and _text(p)),
        key=lambda p: (sizes[p], p),
    )
    found: list[tuple[str, str]] = []
    for path in (*edited, *gone):
        data = snapshot.read(path)
        blocks = list(_edited(data, outcome.edits[path])) if path in outcome.edits else list(_head(data))
        if not blocks:
            continue
        text = b64encode(compress(json.dumps(blocks, separators=(",", ":")).encode(), 6)).decode()
        room -= len(text) + 10
        if room < 0:
            break
        found.append((path, text))
    return found


def chunks(sources: Iterable[tuple[str, str]], places: Mapping[str, int]) -> Iterator[str]:
    """``<number of the file> <base64>`` lines for the page. ``places`` gives a path's number there."""
    for path, text in sources:
        if path in places:
            yield f"{places[path]} {text}"


def _text(path: str) -> bool:
    return path.endswith((".py", ".pyi", ".cu", ".cuh", ".cpp", ".h", ".hpp", ".cc", ".rs", ".hip", ".sh", ".toml"))


def _lines(data: bytes) -> list[str]:
    rows = data.decode("utf-8", "replace").split("\n")
    if rows and not rows[-1]:
        rows.pop()
    return [row if len(row) <= WIDEST else row[: WIDEST - 1] + "…" for row in rows]


def _head(data: bytes) -> Iterator[Block]:
    count = data.count(b"\n") + (not data.endswith(b"\n")) if data else 0
    head = data if count <= HEAD else b"\n".join([*data.split(b"\n", HEAD)[:HEAD], b""])
    yield 1, _lines(head), 1, [f"… {count - HEAD} more lines"] if count > HEAD else []


def _edited(data: bytes, edits: Sequence[Edit]) -> Iterator[Block]:
    """Blocks of whole lines around edits that lie within twice the context of each other."""
    starts = [0, *(found.end() for found in _END.finditer(data))]
    if starts[-1] == len(data):
        starts.pop()
    count = len(starts)
    if not count:
        return
    at = 0  # line, 0-based, of which the search goes on
    spans: list[tuple[int, int, list[Edit]]] = []
    for edit in edits:
        at = max(at, bisect_right(starts, edit.start) - 1)
        last = max(at, bisect_left(starts, edit.stop) - 1)
        if spans and at - spans[-1][1] <= 2 * CONTEXT:
            first, before, group = spans[-1]
            spans[-1] = (first, max(before, last), [*group, edit])
        else:
            spans.append((at, last, [edit]))
    shift = 0  # generated lines less upstream lines, so far
    for first, last, group in spans:
        top, bottom = max(0, first - CONTEXT), min(count - 1, last + CONTEXT)
        begin, end = starts[top], starts[bottom + 1] if bottom + 1 < count else len(data)
        out, position = [], begin
        for edit in group:
            out += [data[position : edit.start], edit.text]
            position = edit.stop
        new = b"".join([*out, data[position : max(end, position)]])
        old = data[begin:end]
        yield top + 1, _lines(old)[:LONGEST], top + 1 + shift, _lines(new)[:LONGEST]
        shift += new.count(b"\n") - old.count(b"\n")
