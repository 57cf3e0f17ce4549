"""Calls of the guard module that rules put into functions: at the entry, or wherever the function returns.

A call is a statement of its own and passes one parameter, so nothing of the function is evaluated
twice. Blind to a function that ends by an exception: nothing that was resolved leaves it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pruner.model import Cause, Edit
from pruner.syntax.text import SourceText

ABSENT = "which is not there"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Call:
    """One guard: its key, the rule, whether it goes after, the parameter, whether that is a parser."""

    key: str
    rule: str
    after: bool
    parameter: str
    options: bool


def works_on(node: Function, parameter: str) -> int:
    """The line where a function may still store into a parameter behind the calls at its returns; 0 for none.

    ``return self.resolve()``, and ``finally: self.kind = kind`` around a return: the call stands before both.
    """
    stack: list[tuple[ast.AST, bool]] = [(part, False) for part in node.body]
    while stack:
        part, late = stack.pop()
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if late and _stores(part, parameter):
            return part.lineno  # type: ignore[attr-defined, no-any-return]
        if isinstance(part, (ast.Try, ast.TryStar)) and any(isinstance(inner, ast.Return) for inner in _own(part)):
            stack += [(inner, True) for inner in part.finalbody]
        stack += [(inner, late or isinstance(part, ast.Return)) for inner in ast.iter_child_nodes(part)]
    return 0


def _own(node: ast.Try | ast.TryStar) -> list[ast.AST]:
    """Every node of a ``try`` but for its ``finally``, inner functions excluded."""
    stack: list[ast.AST] = [*node.body, *node.handlers, *node.orelse]
    found: list[ast.AST] = []
    while stack:
        part = stack.pop()
        if not isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            found.append(part)
            stack += ast.iter_child_nodes(part)
    return found


def _stores(node: ast.AST, parameter: str) -> bool:
    """``x.kind = 1``, ``x = 1``, ``x.set()``, ``super().set()``; whoever is handed it, ``run(x)``, has it as it was asked."""
    if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return _root(node) == parameter
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _root(node.func) in (parameter, "super")
    )


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Call)):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


class CallEditor:
    """Insertions of one module."""

    def __init__(self, text: SourceText, guard: tuple[str, str], calls: Mapping[int, Sequence[Call]]) -> None:
        self.text = text
        self.guard = guard
        self.calls = calls
        self.edits: list[Edit] = []
        self.placed: list[tuple[Call, int]] = []  # with the line of the function
        self._like: dict[int, int] = {}  # number of an edit that makes a line → the line that it is indented like

    def _code(self, call: Call) -> bytes:
        package, name = self.guard
        load = f"from {package} import {name}" if package else f"import {name}"
        subject = f", {call.parameter}" if call.parameter else ""
        return f"{load}; {name}.{'options' if call.options else 'check'}({call.key!r}{subject})".encode()

    def _insert(self, offset: int, text: bytes, call: Call) -> None:
        self.edits.append(Edit(offset, offset, text, Cause("guard", (call.rule,), (f"guard {call.key}",))))

    def moved(self, indent: Callable[[int], bytes]) -> list[Edit]:
        """The insertions; ``indent`` gives the white space that a line has in the output, in a suite that moved left."""
        for number, line in self._like.items():
            edit, old = self.edits[number], self.text.indent(line)
            new = indent(line)
            if new != old:
                at = edit.text.index(old + b"from " if old + b"from " in edit.text else old + b"import ")
                text = edit.text[:at] + new + edit.text[at + len(old) :]
                self.edits[number] = Edit(edit.start, edit.stop, text, edit.cause)
        return self.edits

    def function(self, node: Function, last_line: int) -> None:
        """The calls at a function's entry and at its end. ``last_line`` is its last, trailing comments included."""
        for call in self.calls.get(id(node), ()):
            self.placed.append((call, node.lineno))
            first, last = node.body[0], node.body[-1]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            documented = documented and isinstance(first.value.value, str)  # type: ignore[attr-defined]
            if call.after:
                if not isinstance(last, (ast.Return, ast.Raise)):
                    self._behind(last, last_line, call)
            elif documented and len(node.body) == 1:
                self._behind(first, last_line, call)
            else:
                self._before(node.body[1] if documented else first, call)

    def before_return(self, function: ast.AST | None, node: ast.Return) -> None:
        """The calls of the innermost function before one of its returns."""
        for call in self.calls.get(id(function), ()):
            if call.after:
                self._before(node, call)

    def _head(self, node: ast.stmt) -> bytes:
        """What stands before a statement on its line."""
        line = self.text.first_line(node)
        if line != node.lineno:
            return b""  # decorators stand on lines of their own
        return self.text.data[self.text.line_start(line) : self.text.start(node)].strip()

    def _before(self, node: ast.stmt, call: Call) -> None:
        line = self.text.first_line(node)
        if self._head(node):
            self._insert(self.text.start(node), self._code(call) + b"; ", call)  # `if x: return y` on one line
        else:
            text = self.text.indent(line) + self._code(call) + self.text.newline
            self._like[len(self.edits)] = line
            self._insert(self.text.line_start(line), text, call)

    def _behind(self, node: ast.stmt, last_line: int, call: Call) -> None:
        line = self.text.first_line(node)
        if self._head(node):
            self._insert(self.text.stop(node), b"; " + self._code(call), call)  # `def f(): g()` on one line
            return
        offset = self.text.line_stop(max(last_line, node.end_lineno or node.lineno))
        broken = offset > 0 and self.text.data[offset - 1 : offset] != b"\n"  # the file ends without a newline
        text = self.text.indent(line) + self._code(call) + self.text.newline
        self._like[len(self.edits)] = line
        self._insert(offset, self.text.newline + text if broken else text, call)
