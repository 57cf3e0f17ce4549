"""Edits of expressions: a literal, fewer operands, one branch of a conditional expression."""

from __future__ import annotations

import ast
from typing import Any

from pruner.model import Cause, Edit
from pruner.syntax.text import SourceText

Action = tuple[str, Any, frozenset[str]]


class ExpressionEditor:
    """Turns the reducer's actions on nodes into byte spans."""

    def __init__(self, text: SourceText, actions: dict[int, Action], pin: Any) -> None:
        self.text = text
        self.actions = actions  # id(node) → action
        self.pin = pin  # (rules) → Cause
        self.edits: list[Edit] = []

    def visit(self, node: ast.AST) -> None:
        """Edit everything under ``node``. f-strings are left to the caller."""
        action = self.actions.get(id(node))
        if action is None:
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, ast.JoinedStr):
                    self.visit(child)
            return
        kind, detail, rules = action
        cause = self.pin(rules)
        if kind == "literal":
            self.edits.append(Edit(self.text.start(node), self.text.stop(node), repr(detail).encode(), cause))
        elif kind == "operands" and isinstance(node, ast.BoolOp):
            self._operands(node, detail, cause)
        elif kind == "branch" and isinstance(node, ast.IfExp):
            self._branch(node, detail, cause)

    def extents(self, node: ast.BoolOp) -> list[tuple[int, int]]:
        """Where each operand stands, its own parentheses included."""
        word = b"and" if isinstance(node.op, ast.And) else b"or"
        cuts = []
        for left, right in zip(node.values, node.values[1:], strict=False):
            found = [k for k in self.text.keywords(self.text.stop(left), self.text.start(right)) if k[0] == word]
            cuts.append((found[0][1], found[0][2]))
        starts = [self.text.start(node)] + [self.text.trim_left(stop, self.text.stop(node)) for _, stop in cuts]
        stops = [self.text.trim_right(start, self.text.start(node)) for start, _ in cuts] + [self.text.stop(node)]
        return list(zip(starts, stops, strict=True))

    def _operands(self, node: ast.BoolOp, kept: tuple[int, ...], cause: Cause) -> None:
        spans = self.extents(node)
        last = kept[-1]
        for index in range(len(spans)):
            if index in kept:
                self.visit(node.values[index])
            elif index < last:
                self.edits.append(Edit(spans[index][0], spans[index + 1][0], b"", cause))
            else:
                self.edits.append(Edit(spans[index - 1][1], spans[index][1], b"", cause))

    def _branch(self, node: ast.IfExp, truth: bool, cause: Cause) -> None:
        text = self.text
        start, stop = text.start(node), text.stop(node)
        if truth:
            word = [k for k in text.keywords(text.stop(node.body), text.start(node.test)) if k[0] == b"if"][0]
            end = text.trim_right(word[1], start)
            self.edits.append(Edit(end, stop, b"", cause))
            self.visit(node.body)
        else:
            word = [k for k in text.keywords(text.stop(node.test), text.start(node.orelse)) if k[0] == b"else"][-1]
            begin = text.trim_left(word[2], stop)
            self.edits.append(Edit(start, begin, b"", cause))
            self.visit(node.orelse)
