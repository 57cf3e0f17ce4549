"""The notice line of modified files (Apache-2.0 section 4(b))."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from pruner.edit import merge
from pruner.model import Cause, Edit

_COOKIE = re.compile(rb"[ \t\f]*#.*?coding[:=]")
_LINE = re.compile(rb"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")  # as splitlines has them, one at a time
TEXT = b"# Modified by prune: parts were removed; PRUNED.json says which."


def notice(data: bytes, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits with one more: a comment line after the licence header (or at the top)."""
    if TEXT in data[:4096]:
        return tuple(edits)
    at = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    offset = at
    lines = [line.group() for line in islice(_LINE.finditer(data, at), 2)]
    if len(lines) == 2 and not lines[0].strip() and _COOKIE.match(lines[1]):
        offset += len(lines[0]) + len(lines[1])  # an encoding cookie must stay on line 1 or 2
        at = offset
    for line in _LINE.finditer(data, at):
        if not line.group().lstrip(b" \t").startswith(b"#"):
            break
        offset = line.end()
    newline = b"\r\n" if b"\r\n" in data[:4096] else b"\n"
    if any(e.start < offset < e.stop or (e.start <= offset and e.text and e.start == offset) for e in edits):
        # The place itself is edited: put the line in front of that text.
        out = []
        done = False
        for e in edits:
            if not done and e.start <= offset <= e.stop:
                out.append(Edit(e.start, e.stop, TEXT + newline + e.text, e.cause))
                done = True
            else:
                out.append(e)
        return tuple(out)
    return merge([*edits, Edit(offset, offset, TEXT + newline, Cause("notice"))])
