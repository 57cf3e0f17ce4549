"""Preprocessor directives of a C, C++ or CUDA file, found without expanding anything.

Follows translation phases 2 to 4 of the C++ standard ([lex.phases]): lines are spliced at a
backslash, comments become a blank, a directive is a line whose first token is ``#``. Raw strings
(``R"x(...)x"``) keep their lines. Blind to trigraphs and to digraph spellings of ``#``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_RAW = re.compile(rb'(?:u8|[uUL])?R"([^()\\\s]{0,16})\(')
_MARKS = re.compile(rb"[\"']|/[/*]")  # of strings and comments: most lines have none
_HEAD = re.compile(r"\s*#\s*([A-Za-z_]\w*)?")


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive. Lines are 0-based and inclusive; ``text`` is what follows the keyword, comments gone."""

    keyword: str
    text: str
    first: int
    last: int
    shared: bool  # a comment runs into or out of its lines, so the lines are not the directive's alone


def directives(data: bytes) -> list[Directive]:
    """All directives in order.

    ``#if`` inside a comment or a raw string is none; ``#`` after a comment on its line is one.
    """
    found: list[Directive] = []
    lines = data.split(b"\n")
    at = 0
    comment = False  # inside /* */
    raw = b""  # the closing mark of an open raw string
    while at < len(lines):
        first, opened = at, comment or bool(raw)
        pieces: list[str] = []
        while True:
            line = lines[at].rstrip(b"\r")
            spliced = line.endswith(b"\\")
            text, comment, raw = _blank(line[:-1] if spliced else line, comment, raw)
            pieces.append(text)
            at += 1
            # A backslash splices; an open block comment goes on inside the same logical line.
            head = _HEAD.match("".join(pieces))
            if at >= len(lines) or not (spliced or (comment and head)):
                break
        logical = "".join(pieces)
        head = _HEAD.match(logical)
        if head and not (opened and raw):
            rest = logical[head.end() :].strip()
            found.append(Directive(head[1] or "", rest, first, at - 1, opened or comment))
    return found


def _blank(line: bytes, comment: bool, raw: bytes) -> tuple[str, bool, bytes]:
    """(the line with comments made a blank, still in a block comment, open raw string's closing mark)."""
    if not comment and not raw and not _MARKS.search(line):
        return line.decode("latin-1"), False, b""
    out: list[str] = []
    at, end = 0, len(line)
    while at < end:
        if raw:
            stop = line.find(raw, at)
            if stop < 0:
                return "".join(out) + '"', comment, raw
            at, raw = stop + len(raw), b""
            out.append('""')
        elif comment:
            stop = line.find(b"*/", at)
            if stop < 0:
                return "".join(out), True, raw
            at, comment = stop + 2, False
            out.append(" ")
        elif line.startswith(b"//", at):
            break
        elif line.startswith(b"/*", at):
            comment, at = True, at + 2
        elif line[at : at + 1] in (b'"', b"'"):
            at = _literal(line, at, out)
        else:
            start = _RAW.match(line, at)
            if start and (at == 0 or not _word(line[at - 1])):
                raw, at = b")" + start[1] + b'"', start.end()
            else:
                out.append(chr(line[at]))
                at += 1
    return "".join(out), comment, raw


def _literal(line: bytes, at: int, out: list[str]) -> int:
    quote = line[at : at + 1]
    if quote == b"'" and at and _word(line[at - 1]):  # 1'000'000
        out.append("'")
        return at + 1
    stop = at + 1
    while stop < len(line) and line[stop : stop + 1] != quote:
        stop += 2 if line[stop : stop + 1] == b"\\" else 1
    out.append(line[at : stop + 1].decode("latin-1"))
    return stop + 1


def _word(byte: int) -> bool:
    return chr(byte).isalnum() or byte == 0x5F
