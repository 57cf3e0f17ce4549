"""What single statements put into a table, a registry or an enum, read from ``ast``.

Blind to keys that are computed.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a table: where it stands and what its value names."""

    path: str
    line: int
    names: frozenset[str] = frozenset()  # names and ``import`` lines are looked up in the same file
    node: ast.AST | None = None


def own(scope: ast.AST, truth: Callable[[ast.expr], bool | None] | None = None) -> Iterator[ast.AST]:
    """Statements of a scope, those under tests and in try bodies included, nested scopes as one statement.

    Without those under a test that ``truth`` decides against.
    """
    stack: list[ast.AST] = list(reversed(getattr(scope, "body", [])))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        inner: list[ast.AST] = []
        value = truth(node.test) if truth is not None and isinstance(node, ast.If) else None
        skipped = {True: "orelse", False: "body", None: ""}[value]
        for field in ("body", "orelse", "finalbody"):
            inner += getattr(node, field, []) if field != skipped else []
        for handler in getattr(node, "handlers", []):
            inner += handler.body
        stack += reversed(inner)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """A node and the statements below it, at any depth, nearest first: a tenth of what ``ast.walk`` visits."""
    queue = deque([node])
    while queue:
        part = queue.popleft()
        yield part
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            queue.extend(getattr(part, field, ()))


def definitions(scope: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Functions and classes of a scope."""
    for node in own(scope):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node


def binds(node: ast.AST) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [t.id for t in node.targets if isinstance(t, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def value_for(node: ast.AST, name: str) -> ast.expr | None:
    """What a statement puts into the table: an assignment, ``T += ...``, ``T.update(...)`` and its like."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return node.value if binds(node) == [name] else None
    if isinstance(node, ast.AugAssign):
        return node.value if isinstance(node.target, ast.Name) and node.target.id == name else None
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or len(node.value.args) != 1:
        return None
    call = node.value.func
    if not isinstance(call, ast.Attribute) or not isinstance(call.value, ast.Name) or call.value.id != name:
        return None
    if call.attr in ("append", "add"):
        return ast.copy_location(ast.List([node.value.args[0]], ast.Load()), node)
    return node.value.args[0] if call.attr in ("update", "extend") else None


def keys(value: ast.expr) -> Iterator[tuple[str, int, ast.AST]]:
    if isinstance(value, ast.Dict):
        for key, part in zip(value.keys, value.values, strict=True):
            text = _text(key)
            if text is not None and key is not None:
                yield text, key.lineno, part
    elif isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        for part in value.elts:
            text = _text(part)
            if text is not None:
                yield text, part.lineno, part
    elif isinstance(value, ast.BinOp):
        yield from keys(value.left)
        yield from keys(value.right)
    elif isinstance(value, ast.Call) and value.args:
        yield from keys(value.args[0])  # frozenset({...}), MappingProxyType({...})
    elif isinstance(value, ast.Subscript):
        yield from keys(value.slice)  # Literal["a", "b"]


def _text(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return ast.unparse(node)
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        return ast.unparse(node)
    return None


def members(path: str, node: ast.ClassDef) -> Iterator[tuple[str, Entry]]:
    """Members of an enum, by value and by name."""
    for item in own(node):
        for name in binds(item):
            if isinstance(item, (ast.Assign, ast.AnnAssign)) and not name.startswith("_"):
                yield name, Entry(path, item.lineno)
                if isinstance(item.value, ast.Constant) and isinstance(item.value.value, str):
                    yield item.value.value, Entry(path, item.lineno)


def registered(path: str, tree: ast.Module, registering: set[str]) -> Iterator[tuple[str, Entry]]:
    """Entries that functions of the module make, called or used as a decorator with a constant key."""
    if not registering:
        return
    for node in statements(tree):
        calls = getattr(node, "decorator_list", [])
        if isinstance(node, ast.Expr):
            calls = [node.value]
        for call in calls:
            if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant):
                name = ast.unparse(call.func).rpartition(".")[2]
                if name in registering:
                    yield str(call.args[0].value), Entry(path, call.lineno, names_of(node), node)


def stored(node: ast.AST) -> Iterator[str]:
    """Last names of the tables that a statement stores into: ``pkg.T[key] = ...``."""
    for target in node.targets if isinstance(node, ast.Assign) else ():
        if isinstance(target, ast.Subscript):
            yield ast.unparse(target.value).rpartition(".")[2]


def names_of(node: ast.AST) -> frozenset[str]:
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
