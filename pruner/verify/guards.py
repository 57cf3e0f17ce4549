"""Statements that the pruning itself writes: the interface of the one generated module.

``_prune_guard.removed(module, rule)`` stands for an import of a dropped module where it would have
raised; ``name = _prune_guard.stand_in(module, rule)`` for a name imported from one at module level.
Any other call of the module is an added check and takes no part in the comparison.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pruner.verify.items import Item

GUARD = "_prune_guard"
_CALL = re.compile(rb"%b\.(\w+)\(\s*['\"]([^'\"]*)['\"]" % GUARD.encode())


def called(node: ast.expr | None) -> tuple[str, str]:
    """(function, first argument) of a call of the guard module, else two empty strings."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return "", ""
    owner = node.func.value
    if not (
        (isinstance(owner, ast.Name) and owner.id == GUARD)
        or (isinstance(owner, ast.Attribute) and owner.attr == GUARD)
    ):
        return "", ""
    first = node.args[0] if node.args else None
    text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
    return node.func.attr, text


def is_guard(item: Item) -> bool:
    """A statement that only imports the guard module or calls one of its checks with constants."""
    if item.kind == "Import":
        return item.binds == (GUARD,) or f".{GUARD}" in str(item.key[2])
    if item.kind != "Expr" or not isinstance(item.node, ast.Expr):
        return False
    function, _ = called(item.node.value)
    # An argument is evaluated: check(server_args.device) reads, check(pop()) would do more.
    return bool(function) and not any(
        isinstance(n, ast.Call | ast.NamedExpr | ast.Await | ast.Yield)
        for part in (*item.node.value.args, *item.node.value.keywords)  # type: ignore[attr-defined]
        for n in ast.walk(part)
    )


def guarded(data: bytes, module: str, function: str) -> bool:
    """Does the output file name this module in such a guard call?"""
    return (function.encode(), module.encode()) in _guarded(data)


@lru_cache(maxsize=2)  # one file is asked about hundreds of times before the next one is
def _guarded(data: bytes) -> frozenset[tuple[bytes, bytes]]:
    return frozenset(_CALL.findall(data))
