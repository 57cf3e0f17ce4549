"""One side of a comparison: a file's bytes, lines and syntax tree; statements in words."""

from __future__ import annotations

import ast

from pruner.verify.items import Item


class Side:
    """One file: its lines and its syntax tree."""

    def __init__(self, data: bytes, tree: ast.Module) -> None:
        self.data = data
        # As Python counts: a lone carriage return ends a line, too.
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self.lines = data.split(b"\n")
        self.tree = tree

    def text(self, node: ast.stmt) -> tuple[str, bytes]:
        """The source of a statement, decorators included, without its own indentation."""
        first, column = node.lineno, node.col_offset
        for item in getattr(node, "decorator_list", ()):
            if item.lineno <= first:
                first, column = item.lineno, item.col_offset - 1
        last = node.end_lineno or first
        if first == last:
            return type(node).__name__, self.lines[first - 1][column : node.end_col_offset]
        rows = [self.lines[first - 1][column:], *self.lines[first : last - 1]]
        rows.append(self.lines[last - 1][: node.end_col_offset])
        return type(node).__name__, b"\n".join(rows)


def what(item: Item) -> str:
    """A statement in words, without its text."""
    name = f" of {', '.join(item.binds)}" if item.binds else ""
    words = {
        "Function": "the definition",
        "Class": "the class",
        "Import": "the import",
        "Stand": "the import",  # of what a rule drops, with a guard in its place or without
        "Gone": "the import",
        "Assign": "the assignment",
        "AnnAssign": "the assignment",
        "Expr": "the evaluated expression",
        "If": "the if statement",
    }
    return words.get(item.kind, f"the {item.kind.lower()} statement") + name
