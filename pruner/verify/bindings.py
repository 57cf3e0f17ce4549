"""What a scope binds: the values that the collector makes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pruner.verify.nodes import walk

Guard = tuple[ast.expr, bool]
LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(slots=True)
class Binding:
    """One place that binds a name.

    ``kind``: assign, aug, import, def, class, other (loop target, handler, with, match, del).
    ``guards``: the tests under which the place is reached. ``steady``: not in a try or with body, nor in a loop.
    """

    kind: str
    line: int
    guards: tuple[Guard, ...] = ()
    steady: bool = True
    value: ast.expr | None = None
    node: ast.AST | None = None
    target: str = ""  # import: absolute module
    symbol: str = ""  # import: name fetched from it; "" when the module itself is bound


@dataclass(slots=True)
class Import:
    """One name of one import statement, wherever it stands."""

    line: int
    target: str  # absolute module name; "" when the dots lead out of the tree
    symbol: str | None  # None: ``import target``; "*": star
    bound: str  # the name that it binds; "" for a star
    lazy: bool  # inside a function
    guarded: bool = False  # in a try body that has handlers
    typing: bool = False  # under ``if TYPE_CHECKING``
    guards: tuple[Guard, ...] = ()
    steady: bool = True  # not in a try or with statement, nor in a loop


@dataclass(slots=True)
class Names:
    """The names of one scope; for a module also every import below it."""

    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)
    stars: list[str] = field(default_factory=list)
    rebound: dict[str, list[int]] = field(default_factory=dict)  # name -> lines of ``global name``
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    captured: set[str] = field(default_factory=set)  # ``nonlocal`` in a scope below this one

    def first(self) -> dict[str, int]:
        """The line of the first place that gives each name a value."""
        lines = {}
        for name, rows in self.bindings.items():
            placed = [row.line for row in rows if row.kind != "declare"]
            if placed:
                lines[name] = min(placed)
        return lines

    def bind(self, name: str, binding: Binding) -> None:
        """Add one binding place."""
        self.bindings.setdefault(name, []).append(binding)


def target_names(target: ast.expr) -> Iterator[str]:
    """The plain names that an assignment target binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            yield from target_names(item)
    elif isinstance(target, ast.Starred):
        yield from target_names(target.value)


def pattern_names(pattern: ast.AST) -> Iterator[str]:
    """The names that a match pattern captures."""
    for node in walk(pattern):
        if isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest


def leaves(body: Sequence[ast.stmt]) -> bool:
    """Does control never run off the end of this suite? (Syntax only; unknown is no.)"""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, LEAVES):
        return True
    return isinstance(last, ast.If) and bool(last.orelse) and leaves(last.body) and leaves(last.orelse)
