"""Lines, offsets and the space between nodes of one Python file, in bytes."""

from __future__ import annotations

import ast
import re
from typing import Any

_END = re.compile(rb"[\r\n]")
_KEYWORD = re.compile(rb"[A-Za-z_]\w*")


class SourceText:
    """Offsets of ``ast`` positions in the file as it is (BOM, CRLF, tabs, form feeds included)."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.lines = data.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))
        self.bom = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        self.newline = b"\r\n" if b"\r\n" in data[:4096] else b"\n"

    def offset(self, line: int, column: int) -> int:
        """Byte offset of a 1-based line and a byte column."""
        return self.starts[line - 1] + column + (self.bom if line == 1 else 0)

    def start(self, node: Any) -> int:
        """Offset of a node's first byte."""
        return self.offset(node.lineno, node.col_offset)

    def stop(self, node: Any) -> int:
        """Offset just past a node's last byte."""
        return self.offset(node.end_lineno, node.end_col_offset)

    def first_line(self, node: ast.stmt) -> int:
        """Line of a statement's first token, decorators included."""
        decorators = getattr(node, "decorator_list", [])
        return int(min([node.lineno, *(d.lineno for d in decorators)]))

    def line_start(self, line: int) -> int:
        """Offset of a line's first byte (after a BOM)."""
        return self.starts[line - 1] + (self.bom if line == 1 else 0)

    def line_stop(self, line: int) -> int:
        """Offset just past a line's end, its newline included."""
        return self.starts[min(line, len(self.lines))]

    def line(self, number: int) -> bytes:
        """One line, 1-based."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else b""

    def indent(self, number: int) -> bytes:
        """Leading white space of a line."""
        text = self.line(number)
        if number == 1:
            text = text[self.bom :]
        blank = text[: len(text) - len(text.lstrip(b" \t\x0c"))]
        return blank.rpartition(b"\x0c")[2]  # a form feed resets the column

    def blank(self, number: int) -> bool:
        """True for an empty line."""
        return not self.line(number).strip()

    def comment(self, number: int) -> bool:
        """True for a line that holds only a comment."""
        return self.line(number).lstrip(b" \t\x0c").startswith(b"#")

    def keywords(self, start: int, stop: int) -> list[tuple[bytes, int, int]]:
        """Words between two nodes, comments skipped: (word, start, stop)."""
        found = []
        at = start
        while at < stop:
            byte = self.data[at : at + 1]
            if byte == b"#":
                at = self._line_end(at)
                continue
            match = _KEYWORD.match(self.data, at, stop)
            if match:
                found.append((match.group(), match.start(), match.end()))
                at = match.end()
            else:
                at += 1
        return found

    def _line_end(self, at: int) -> int:
        """Where a comment ends: a lone ``\r`` ends a line as well."""
        found = _END.search(self.data, at)
        return found.start() if found is not None else len(self.data)

    def colon_after(self, offset: int) -> int:
        """Offset just past the first ``:`` at or after ``offset``, comments skipped."""
        at = offset
        while at < len(self.data):
            byte = self.data[at : at + 1]
            if byte == b"#":
                at = self._line_end(at)
            elif byte == b":":
                return at + 1
            at += 1
        raise ValueError(f"no colon after offset {offset}")

    def trim_right(self, stop: int, start: int) -> int:
        """``stop`` moved left over white space and line continuations."""
        while stop > start and self.data[stop - 1 : stop] in (b" ", b"\t", b"\n", b"\r", b"\\", b"\x0c"):
            stop -= 1
        return stop

    def trim_left(self, start: int, stop: int) -> int:
        """``start`` moved right over white space, continuations and comments."""
        while start < stop:
            byte = self.data[start : start + 1]
            if byte == b"#":
                start = min(self._line_end(start), stop)
            elif byte in (b" ", b"\t", b"\n", b"\r", b"\\", b"\x0c"):
                start += 1
            else:
                break
        return start


def protected_lines(tree: ast.AST) -> set[int]:
    """Lines that begin inside a string literal: their leading white space is text."""
    lines: set[int] = set()
    stack = [tree]
    while stack:  # ``ast.walk`` takes thrice the time, and a third of that of rewriting would go into it
        node = stack.pop()
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))):
            if node.end_lineno is not None and node.end_lineno > node.lineno:
                lines.update(range(node.lineno + 1, node.end_lineno + 1))
        for value in node.__dict__.values():
            if type(value) is list:
                stack += [item for item in value if isinstance(item, ast.AST) and _may_hold(item)]
            elif isinstance(value, ast.AST) and _may_hold(value):
                stack.append(value)
    return lines


def _may_hold(node: ast.AST) -> bool:
    """May a string of several lines be in there? Not in what is on one line itself, but for a definition's decorators."""
    line = getattr(node, "lineno", None)
    return line is None or line != node.end_lineno or bool(getattr(node, "decorator_list", None))  # type: ignore[attr-defined]
