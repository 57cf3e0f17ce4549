"""What Python decides about a function from its text, reachable or not.

Which names are local, whether it is a generator, its docstring. Removing dead code may change
none of these.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from pruner.verify.names import FUNCTIONS
from pruner.verify.near import Lines, over
from pruner.verify.nodes import children
from pruner.verify.scopes import COMPREHENSIONS, Scope, inner_scope

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Build = Callable[[Definition, Scope], Scope]  # makes the scope of a nested definition


def docstring(body: Sequence[ast.stmt]) -> str | None:
    """The docstring of a body, or None."""
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        value = body[0].value.value
        return value if isinstance(value, str) else None
    return None


def without_docstring(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements behind the docstring."""
    return list(body[1:] if docstring(body) is not None else body)


def undocumented(body: Sequence[ast.stmt]) -> bool:
    """``"" ; __doc__ = None``: the placeholder that keeps a stray string from becoming the docstring."""
    if len(body) < 2 or docstring(body) != "" or not isinstance(body[1], ast.Assign):
        return False
    target, value = body[1].targets[0], body[1].value
    return isinstance(target, ast.Name) and target.id == "__doc__" and getattr(value, "value", 0) is None


def is_generator(node: ast.AST) -> bool:
    """Does the function's own scope hold a ``yield``?"""
    stack: list[ast.AST] = list(getattr(node, "body", []))
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(item, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            stack.extend(children(item))
    return False


_DEFINITIONS = (*FUNCTIONS, ast.ClassDef)
_INNER = (*COMPREHENSIONS, ast.Lambda)


def reads(node: ast.AST, scope: Scope, build: Build, lines: Lines = None) -> set[str]:
    """Names whose read belongs to ``scope`` or to a scope around it: own reads and free names of inner scopes.

    ``node`` is the module, class or function that ``scope`` belongs to. A name that an inner
    function binds itself is not among them. ``lines``: where the names are that are asked for; others may be left out.
    """
    found: set[str] = set()
    for child in getattr(node, "body", []):
        _reads(child, scope, build, found, lines)
    return found


def _reads(node: ast.AST, scope: Scope, build: Build, found: set[str], lines: Lines) -> None:
    kind = type(node)
    if kind is ast.Name:
        if not isinstance(node.ctx, ast.Store):  # type: ignore[attr-defined]
            found.add(node.id)  # type: ignore[attr-defined]
        return
    if kind is ast.Attribute:  # a long chain is most of what there is to walk
        _reads(node.value, scope, build, found, lines)  # type: ignore[attr-defined]
        return
    if kind is ast.Constant or (lines is not None and isinstance(node, ast.stmt) and not over(node, lines)):
        return
    if isinstance(node, _DEFINITIONS):
        for field in ("decorator_list", "bases", "keywords", "args", "returns"):
            value = getattr(node, field, None)
            for item in value if isinstance(value, list) else [value] if value is not None else []:
                _reads(item, scope, build, found, lines)
        inner = build(node, scope)
        free: set[str] = set()
        for statement in node.body:
            _reads(statement, inner, build, free, lines)
        own = inner.bound
        if isinstance(node, ast.ClassDef):
            # A name that a class body binds is still read from outside by its methods.
            methods: set[str] = set()
            for statement in node.body:
                if isinstance(statement, FUNCTIONS):
                    _reads(statement, inner, build, methods, lines)
            free = (free - own) | (methods & own)
            found |= free
        else:
            found |= free - own
        return
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    if isinstance(node, _INNER):
        inner = inner_scope(node, scope)
        free = set()
        for child in children(node):
            _reads(child, inner, build, free, lines)
        found |= free - inner.bound
        return
    for child in children(node):
        _reads(child, scope, build, found, lines)
