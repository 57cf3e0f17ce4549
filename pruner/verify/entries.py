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
    """What a statement puts into the table: an assignment, ``T += ...``, ``T["x"] = ...``, ``T.update(...)`` and its like."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) == 1 and isinstance(targets[0], ast.Subscript) and _is(targets[0].value, name) and node.value:
            return ast.copy_location(ast.Dict([targets[0].slice], [node.value]), node)
        return node.value if binds(node) == [name] else None
    if isinstance(node, ast.AugAssign):
        return node.value if _is(node.target, name) else None
    call = node.value if isinstance(node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not _is(call.func.value, name):
        return None
    given = call.args[1:] if call.func.attr == "insert" else call.args
    if call.func.attr == "setdefault" and given:
        return ast.copy_location(ast.Dict([given[0]], [given[-1]]), node)
    if call.func.attr in ("append", "appendleft", "add", "insert") and len(given) == 1:
        return ast.copy_location(ast.List([given[0]], ast.Load()), node)
    if call.func.attr in ("update", "extend", "extendleft") and len(given) + len(call.keywords) > 0:
        return given[0] if given and not call.keywords else call
    return None


def choices(node: ast.AST, name: str) -> ast.expr | None:
    """The annotation of a field or a parameter of this name, where it lists choices: ``Literal["a", "b"]``."""
    note = node.annotation if isinstance(node, ast.AnnAssign) and _is(node.target, name) else None
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        note = next((a.annotation for a in every if a.arg == name), None)
    return note if note is not None and any(_literal(part) for part in ast.walk(note)) else None


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _literal(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and ast.unparse(node.value).rpartition(".")[2] == "Literal"


def keys(value: ast.expr, pairs: bool = False) -> Iterator[tuple[str, int, ast.AST]]:
    """Keys that are written out in what a table is made of, each with its line and its value.

    ``pairs``: two in brackets are a key and its value, ``dict([("x", X)])``.
    """
    if isinstance(value, ast.Dict):
        for key, part in zip(value.keys, value.values, strict=True):
            text = _text(key)
            if text is not None and key is not None:
                yield text, key.lineno, part
            elif key is None:
                yield from keys(part)  # {**{"x": X}}
    elif isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        for part in value.elts:
            pair = part.elts if pairs and isinstance(part, ast.Tuple) and len(part.elts) == 2 else [part, part]
            text = _text(pair[0])
            if text is not None:
                yield text, part.lineno, pair[1]
            elif isinstance(part, ast.Starred) and not isinstance(part.value, ast.Name):
                yield from keys(part.value, pairs)
    elif isinstance(value, ast.BinOp):
        yield from keys(value.left, pairs)
        yield from keys(value.right, pairs)
    elif isinstance(value, ast.Call):
        yield from _given(value)
    elif _literal(value):
        listed = value.slice  # type: ignore[attr-defined]
        for part in listed.elts if isinstance(listed, ast.Tuple) else [listed]:
            text = _text(part)
            if text is not None:
                yield text, part.lineno, part
            else:
                yield from keys(part)
    elif isinstance(value, ast.Subscript):
        inner = value.slice.elts if isinstance(value.slice, ast.Tuple) else [value.slice]
        for part in inner:  # Optional[Literal["a", "b"]]
            yield from keys(part) if isinstance(part, (ast.Subscript, ast.BinOp)) else ()


def _given(call: ast.Call) -> Iterator[tuple[str, int, ast.AST]]:
    """Keys in the arguments of a call: ``frozenset({...})``, ``defaultdict(f, {...})``, ``dict(x=X)``."""
    name = ast.unparse(call.func).rpartition(".")[2]
    keyed = name in ("dict", "OrderedDict", "defaultdict", "update")
    for argument in call.args[1:2] if name == "defaultdict" else call.args[:1]:
        yield from keys(argument, keyed)
    for word in call.keywords if keyed else ():
        if word.arg is not None:
            yield word.arg, word.value.lineno, word.value


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
            if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in registering:
                given = [*call.args[:1], *(k.value for k in call.keywords if k.arg in ("name", "key"))]
                for part in given:
                    if isinstance(part, ast.Constant):
                        yield str(part.value), Entry(path, call.lineno, names_of(node), node)


def stored(node: ast.AST) -> Iterator[str]:
    """Last names of the tables that a statement stores into: ``pkg.T[key] = ...``."""
    for target in node.targets if isinstance(node, ast.Assign) else ():
        if isinstance(target, ast.Subscript):
            yield ast.unparse(target.value).rpartition(".")[2]


def names_of(node: ast.AST) -> frozenset[str]:
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
