"""One canonical statement, and questions about match patterns."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from pruner.verify.names import pattern_names
from pruner.verify.terms import Term


@dataclass(slots=True)
class Item:
    """One canonical statement. ``blocks`` are its suites; definitions keep their node instead."""

    kind: str
    key: Term
    line: int
    node: ast.AST
    blocks: tuple[list[Item], ...] = ()
    binds: tuple[str, ...] = ()
    leaves: bool = False
    pinned: bool = False  # an import that is there to see whether it works
    _signature: Any = field(default=None, repr=False)

    @property
    def signature(self) -> Any:
        """Equal for equal statements; a definition is named here, not compared."""
        if self._signature is None:
            self._signature = (self.kind, self.key, tuple(tuple(i.signature for i in b) for b in self.blocks))
        return self._signature


def captures(case: ast.match_case, names: set[str]) -> bool:
    """Does this case capture all of these names?"""
    return names <= set(pattern_names(case.pattern))


def irrefutable(pattern: ast.pattern) -> bool:
    """Does the pattern match everything?"""
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None or irrefutable(pattern.pattern)
    return isinstance(pattern, ast.MatchOr) and any(irrefutable(item) for item in pattern.patterns)


def catches_import_error(node: ast.expr | None) -> bool:
    """Does ``except <node>`` catch the error of an import that fails?"""
    if node is None:
        return True
    rows = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(ast.unparse(row) in ("ImportError", "ModuleNotFoundError", "Exception", "BaseException") for row in rows)
