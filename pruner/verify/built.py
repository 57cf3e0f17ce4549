"""Names that code builds: regular expressions that every value of a string expression matches."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from types import MappingProxyType

from pruner.verify.nodes import walk

SUM = 40  # operands of a sum of strings that are told apart
NOTHING: Mapping[str, str] = MappingProxyType({})


def chain_text(node: ast.AST) -> str:
    """``a.b.c`` for a chain of names, else ``""``."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


def returned(function: ast.FunctionDef | None) -> set[str] | None:
    """The strings that a method returns when every ``return`` is a plain string."""
    if function is None:
        return None
    found: set[str] = set()
    for node in walk(function):
        if isinstance(node, ast.Return):
            if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
                return None
            found.add(node.value.value)
    return found


def regex(node: ast.expr, named: Mapping[str, str] = NOTHING) -> str:
    """A regular expression that every value of a string expression matches.

    ``named``: what ``__name__`` and ``__package__`` mean where the expression stands, as patterns.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        return join([regex(item, named) for item in node.values])
    if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Name):
        return named.get(node.value.id, ".*")
    if isinstance(node, ast.Name):
        return named.get(node.id, ".*")
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts: list[str] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add) and len(parts) < SUM:
            parts.append(regex(left.right, named))
            left = left.left
        # Each sum within a sum is asked for too: five thousand operands took minutes.
        parts.append(".*" if len(parts) == SUM else regex(left, named))
        return join(parts[::-1])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        if isinstance(node.left.value, str):
            return join([re.escape(part) for part in re.split(r"(?=%[sdr])", node.left.value)]).replace("%s", ".*")
    return ".*"


def join(parts: list[str]) -> str:
    """Patterns side by side, as one."""
    joined = "".join(parts)
    while ".*.*" in joined:
        joined = joined.replace(".*.*", ".*")
    return joined
