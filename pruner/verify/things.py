"""Things that :mod:`pruner.verify.loading` speaks of: a value is the set of what an expression may be."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

# ("stand", label) ("module", name) ("def" | "class" | "object" | "super", index, ...) ("cell", place)
# ("of", place of a cell, method) ("name", module that did not run, name)
Atom = tuple[Any, ...]
Value = frozenset[Atom]
Names = dict[str, Value]
NOTHING: Value = frozenset()
CATCHING = frozenset({"ImportError", "Exception", "BaseException"})


@dataclass(slots=True)
class Cell:
    """A container: what it holds under constant keys or positions, elsewhere, and its keys."""

    table: bool = False
    fields: dict[Any, Value] = field(default_factory=dict)
    rest: Value = NOTHING
    keys: Value = NOTHING

    def each(self) -> Value:
        """Any of its values."""
        return self.rest.union(*self.fields.values())


@dataclass(slots=True)
class Code:
    """A function or class: its file, its text, the scopes around it, and of a class its names and those above."""

    path: str
    module: str
    node: Any
    scopes: tuple[Names, ...]
    names: Names = field(default_factory=dict)
    above: list[int] = field(default_factory=list)
    stands: bool = False  # derives from a stand-in
    own: Names = field(default_factory=dict)  # what its objects have


def later(parsed: ast.Module) -> bool:
    """Are annotations of the file not evaluated?"""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and any(a.name == "annotations" for a in node.names)
        for node in parsed.body
    )


def last(node: ast.expr) -> str:
    """The last word of what is called."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def catches(kind: ast.expr | None) -> bool:
    if isinstance(kind, ast.Tuple):
        return any(catches(inner) for inner in kind.elts)
    return kind is None or last(kind) in CATCHING


def known(test: ast.expr) -> bool | None:
    """Which way a test goes in every process that imports the file."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = known(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        rows = [known(part) for part in test.values]
        ends = isinstance(test.op, ast.Or)
        return ends if ends in rows else None if None in rows else not ends
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if last(test) == "TYPE_CHECKING" and not isinstance(test, ast.Call):
        return False
    if (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
    ):
        return not isinstance(test.ops[0], ast.Eq)
    return None
