"""Edits of expressions: a literal, fewer operands, one branch of a conditional expression."""

from __future__ import annotations

import ast
from bisect import bisect_left
from typing import Any

from pruner.model import Cause, Edit
from pruner.syntax.nodes import children
from pruner.syntax.text import SourceText

Action = tuple[str, Any, frozenset[str]]


class ExpressionEditor:
    """Turns the reducer's actions on nodes into byte spans."""

    def __init__(self, text: SourceText, actions: dict[int, Action], pin: Any, entries: Any = None) -> None:
        self.entries = (
            entries  # (node, (index, rule) pairs, rules): takes entries out of a display, and says so in the ledger
        )
        self.text = text
        self.actions = actions  # id(node) → action
        self.pin = pin  # (rules) → Cause
        self.edits: list[Edit] = []
        self.lines: list[int] | None = None  # sorted first lines of the nodes with actions, to skip the rest

    def visit(self, node: ast.AST) -> None:
        """Edit everything under ``node``. f-strings are left to the caller."""
        if self.lines is not None:
            first = getattr(node, "lineno", None)
            if first is not None:
                at = bisect_left(self.lines, first)
                if at == len(self.lines) or self.lines[at] > node.end_lineno:  # type: ignore[attr-defined]
                    return
        action = self.actions.get(id(node))
        if action is None:
            for child in children(node):
                if not isinstance(child, ast.JoinedStr):
                    self.visit(child)
            return
        kind, detail, rules = action
        if kind == "entries":
            self.entries(node, detail, rules)
            for child in ast.iter_child_nodes(node):
                if not isinstance(child, ast.JoinedStr):
                    self.visit(child)
            return
        cause = self.pin(rules)
        if kind == "literal":
            self.edits.append(Edit(self.text.start(node), self.text.stop(node), repr(detail).encode(), cause))
        elif kind == "operands" and isinstance(node, ast.BoolOp):
            self._operands(node, detail, cause)
        elif kind == "branch" and isinstance(node, ast.IfExp):
            self._branch(node, detail, cause)

    def extents(self, node: ast.BoolOp) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Where each operand stands, its own parentheses included, and where the keywords between them stand."""
        word = b"and" if isinstance(node.op, ast.And) else b"or"
        cuts = []
        for left, right in zip(node.values, node.values[1:], strict=False):
            found = [k for k in self.text.keywords(self.text.stop(left), self.text.start(right)) if k[0] == word]
            cuts.append((found[0][1], found[0][2]))
        starts = [self.text.start(node)] + [self.text.trim_left(stop, self.text.stop(node)) for _, stop in cuts]
        stops = [self._operand_stop(v, cut) for v, (cut, _) in zip(node.values, cuts, strict=False)]
        stops.append(self.text.stop(node))
        return list(zip(starts, stops, strict=True)), cuts

    def _operand_stop(self, node: ast.expr, limit: int) -> int:
        """End of an operand with its closing parentheses, without the comments behind it."""
        stop = at = self.text.stop(node)
        while at < limit:
            at = self.text.trim_left(at, limit)
            if self.text.data[at : at + 1] == b")":
                stop = at + 1
            at += 1
        return stop

    def _operands(self, node: ast.BoolOp, kept: tuple[int, ...], cause: Cause) -> None:
        """Drop operands, each with one keyword; comments between operands belong to the next one."""
        spans, words = self.extents(node)
        for index, (start, stop) in enumerate(spans):
            if index in kept:
                self.visit(node.values[index])
            elif index < kept[0]:
                word = words[index]
                if b"#" in self.text.data[stop : spans[index + 1][0]]:
                    self.edits.append(Edit(start, stop, b"", cause))
                    self.edits.append(Edit(word[0], self._skip_blanks(word[1]), b"", cause))
                else:
                    self.edits.append(Edit(start, spans[index + 1][0], b"", cause))
            else:
                self._drop_with_word(words[index - 1][0], stop, spans[index - 1][1], cause)

    def _skip_blanks(self, offset: int) -> int:
        while self.text.data[offset : offset + 1] in (b" ", b"\t"):
            offset += 1
        return offset

    def _drop_with_word(self, word: int, stop: int, before: int, cause: Cause) -> None:
        """Delete from a keyword to the end of the operand behind it, as whole lines where it has them alone."""
        data = self.text.data
        line = data.rfind(b"\n", 0, word) + 1
        end = data.find(b"\n", stop)
        end = len(data) if end < 0 else end + 1
        if (
            line > before
            and b"\\" not in data[before:line]
            and not data[line:word].strip()
            and not data[stop:end].strip()
        ):
            self.edits.append(Edit(line, end, b"", cause))
        elif b"#" in data[before:word]:
            self.edits.append(Edit(word, stop, b"", cause))
        else:
            self.edits.append(Edit(before, stop, b"", cause))

    def _branch(self, node: ast.IfExp, truth: bool, cause: Cause) -> None:
        text = self.text
        start, stop = text.start(node), text.stop(node)
        if truth:
            word = next(k for k in text.keywords(text.stop(node.body), text.start(node.test)) if k[0] == b"if")
            end = text.trim_right(word[1], start)
            if b"#" in text.data[text.stop(node.body) : end]:
                end = word[1]  # `(a  # why` / `if test else b)`: what closes would be part of the comment
            self.edits.append(Edit(end, stop, b"", cause))
            self.visit(node.body)
        else:
            word = [k for k in text.keywords(text.stop(node.test), text.start(node.orelse)) if k[0] == b"else"][-1]
            begin = text.trim_left(word[2], stop)
            self.edits.append(Edit(start, begin, b"", cause))
            self.visit(node.orelse)
