"""Locals of a function that only pass an attribute on: ``flag = other.flag`` and later ``Args(flag=flag)``."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

PLAIN: frozenset[type] = frozenset({ast.Name, ast.Constant, ast.Load, ast.Store, ast.Del})
BARE: frozenset[type] = PLAIN - {ast.Name}


def walk(node: ast.AST, but: frozenset[type] = PLAIN) -> Iterator[ast.AST]:
    """The nodes but those of some kinds, of which there are most. ``ast.walk`` takes thrice the time."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        for name in here._fields:
            value = getattr(here, name, None)
            if type(value) is list:
                stack += [part for part in value if type(part) not in but and isinstance(part, ast.AST)]
            elif type(value) not in but and isinstance(value, ast.AST):
                stack.append(value)


def passed_on(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The locals of a function that only ever hold the attribute of their own name of some object.

    Bindings in functions inside count too: ``nonlocal`` may make one of them this local.
    """
    plain: Counter[str] = Counter()
    bound: Counter[str] = Counter()
    others: set[str | None] = set()
    for part in walk(function, BARE):
        if isinstance(part, ast.Name):
            if not isinstance(part.ctx, ast.Load):
                bound[part.id] += 1
        elif isinstance(part, ast.Assign):
            if isinstance(part.value, ast.Attribute):
                name = part.value.attr
                plain[name] += any(isinstance(target, ast.Name) and target.id == name for target in part.targets)
        elif part is not function and not isinstance(part, ast.Attribute | ast.Call):
            others.update(_binds(part))
    return {name for name, count in plain.items() if 0 < count == bound[name] and name not in others}


def _binds(node: ast.AST) -> Iterator[str | None]:
    """Names that a node binds otherwise than by a Name in store context."""
    if isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, ast.MatchMapping):
        yield node.rest
    elif isinstance(
        node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar
    ):
        yield node.name
