"""Check ``guards``: each guard that rules state stands where they say, and there is no other.

Blind to what the generated module answers: it is one template, tested by running it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from pruner.verify.guards import GUARD
from pruner.verify.nodes import SUITES, walk
from pruner.verify.rules import Guarded, Stated
from pruner.verify.tree import Tree

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Row = tuple[str, str, str]  # function of the module, key, parameter


class Guarding:
    """Compares the guard calls of the output's files with the rules."""

    def __init__(self, out: Tree, stated: Stated) -> None:
        self.out = out
        self._wanted: dict[str, list[tuple[str, Guarded]]] = {}
        for guard in stated.guards:
            for place in guard.at:
                module, function = self._split(place)
                if module:
                    self._wanted.setdefault(module, []).append((function, guard))
        self._owners = {path: module for module, path in out.modules.items()}

    def run(self, path: str, data: bytes, parsed: Callable[[], ast.Module | None]) -> tuple[list[str], int]:
        """All problems of a kept file, and how many guarded functions it has; ``parsed`` gives its syntax tree."""
        wanted = self._wanted.get(self._owners.get(path, ""), [])
        if not wanted and (path.endswith(f"{GUARD}.py") or GUARD.encode() not in data):
            return [], 0
        tree = parsed()
        work = _File(path)
        return list(work.run(tree, wanted)) if tree is not None else [], work.count

    def _split(self, place: str) -> tuple[str, str]:
        module, colon, function = place.partition(":")
        if colon:
            return (module, function) if module in self.out.modules else ("", "")
        parts = place.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            if ".".join(parts[:cut]) in self.out.modules:
                return ".".join(parts[:cut]), ".".join(parts[cut:])
        return "", ""


class _File:
    """One file of the output. ``count``: guarded functions that were looked at."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.count = 0

    def run(self, tree: ast.Module, wanted: Sequence[tuple[str, Guarded]]) -> Iterator[str]:
        """Its problems."""
        seen: set[int] = set()
        for name, node in _functions(tree) if wanted else ():
            for function, guard in wanted:
                if function == name:
                    yield from self._function(node, guard, seen)
        for part in walk(tree):
            if isinstance(part, ast.Call) and _call(part) and id(part) not in seen:
                yield f"{self.path}:{part.lineno}: this guard call is stated by no rule for this place"

    def _function(self, node: _Function, guard: Guarded, seen: set[int]) -> Iterator[str]:
        path = self.path
        parameters = {a.arg for a in walk(node.args) if isinstance(a, ast.arg)}
        if guard.parameter and guard.parameter not in parameters:
            yield f"{path}:{node.lineno}: guard {guard.key} reads {guard.parameter}, which {node.name} does not take"
            return
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        wanted = ("options" if guard.options else "check", guard.key, guard.parameter)
        if guard.after:
            places = [block[: index + 1] for block, index in _leaving(node)]
            if not isinstance(body[-1] if body else None, ast.Return | ast.Raise):
                places.append(body)
        else:
            places = [_leading(body)]
        self.count += 1
        for place in places:
            found = next((call for call in _trailing(place, guard.after) if _call(call) == wanted), None)
            if found is None:
                line = place[-1].lineno if place else node.lineno
                yield f"{path}:{line}: guard {guard.key} is missing {'after' if guard.after else 'in'} {node.name}"
            else:
                seen.add(id(found))


def _functions(tree: ast.Module) -> Iterator[tuple[str, _Function]]:
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, prefix = stack.pop()
        for suite in SUITES:  # no expression holds a function with a name
            for child in getattr(node, suite, ()):
                name = prefix
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield prefix + child.name, child
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    name = f"{prefix}{child.name}."
                stack.append((child, name))


def _leaving(node: _Function) -> Iterator[tuple[list[ast.stmt], int]]:
    """(suite, index) of every ``return`` of the function itself."""
    stack: list[ast.AST] = [node]
    while stack:
        owner = stack.pop()
        for _, value in ast.iter_fields(owner):
            if not isinstance(value, list):
                continue
            for index, child in enumerate(value):
                if isinstance(child, ast.Return):
                    yield value, index
                if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case) and not isinstance(
                    child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
                ):
                    stack.append(child)


def _leading(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The guard statements that a suite begins with."""
    found: list[ast.stmt] = []
    for statement in body:
        if not _is_ours(statement):
            break
        found.append(statement)
    return found


def _trailing(place: Sequence[ast.stmt], after: bool) -> Iterator[ast.Call]:
    """Calls in the guard statements that end a run of statements (a ``return`` not counted)."""
    for statement in reversed(place):
        if isinstance(statement, ast.Return) and statement is place[-1]:
            continue
        if not _is_ours(statement):
            return
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            yield statement.value


def _is_ours(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return [alias.name for alias in statement.names] == [GUARD]
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and bool(_call(statement.value))


def _call(node: ast.Call) -> _Row | None:
    """(function, key, parameter) of a guard call, None for another call."""
    if not isinstance(node.func, ast.Attribute) or not isinstance(node.func.value, ast.Name):
        return None
    if node.func.value.id != GUARD or node.func.attr not in ("check", "options"):
        return None
    texts = [a.value if isinstance(a, ast.Constant) else a.id if isinstance(a, ast.Name) else "?" for a in node.args]
    key = str(texts[0]) if texts else ""
    return node.func.attr, key, str(texts[1]) if len(texts) == 2 else "" if len(texts) == 1 else "?"
