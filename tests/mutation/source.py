"""One kept file with offsets: what a wrong pruning replaces."""

from __future__ import annotations

import ast

Span = tuple[int, int, bytes]  # start, stop, replacement
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Source:
    """One kept file with offsets."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.data = path, data
        self.tree = ast.parse(data)
        self.starts = [0]
        for line in data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.parents: dict[int, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[id(child)] = node

    def at(self, line: int, column: int) -> int:
        """Byte offset of a place."""
        return self.starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """Bytes of a node, decorators included."""
        first = node
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node.decorator_list:
            first = node.decorator_list[0]
            return self.data.rindex(b"@", 0, self.at(first.lineno, first.col_offset)), self.stop(node)
        return self.at(first.lineno, first.col_offset), self.stop(node)

    def stop(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        """Offset behind a node."""
        return self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def text(self, node: ast.expr | ast.stmt) -> bytes:
        """Bytes of a node."""
        start, stop = self.span(node)
        return self.data[start:stop]

    def without(self, node: ast.stmt) -> Span:
        """Remove a statement; ``pass`` takes the place of the only one of its block."""
        start, stop = self.span(node)
        parent = self.parents[id(node)]
        for name in ("body", "orelse", "finalbody"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and node in block and (len(block) > 1 or isinstance(parent, ast.Module)):
                return start, stop, b"pass"
        return start, stop, b"pass"

    def outdented(self, block: list[ast.stmt], column: int) -> bytes:
        """The text of a block, moved to ``column``."""
        start = self.starts[block[0].lineno - 1]
        if isinstance(block[0], (*FUNCTIONS, ast.ClassDef)) and block[0].decorator_list:
            start = self.starts[block[0].decorator_list[0].lineno - 1]
        shift = block[0].col_offset - column
        lines = self.data[start : self.stop(block[-1])].splitlines(keepends=True)
        return b"".join(line[shift:] if line[:shift].isspace() else line for line in lines).lstrip(b" ")
