"""Check ``guards``: each guard that rules state stands where they say, and there is no other; what stands for something
that is gone names it, and a rule that takes it.

What the generated module answers is for :mod:`pruner.verify.generated`. Blind to code that comes by the module without its name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

from pruner.verify.guards import GUARD
from pruner.verify.near import lines_of, near
from pruner.verify.nodes import SUITES, walk
from pruner.verify.rules import Guarded, Stated, covers
from pruner.verify.tree import Tree, module_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Row = tuple[str, str, str]  # function of the module, key, parameter
_STANDING = ("removed", "stand_in")


class Guarding:
    """Compares the guard calls of the output's files with the rules."""

    def __init__(self, out: Tree, stated: Stated, up: Tree) -> None:
        self.out, self.up = out, up
        self.stated = stated
        ours = [path for path in out.files if path.rpartition("/")[2] == f"{GUARD}.py" and path not in up.files]
        self.homes = {module_of(path, out.python_root) or "" for path in ours}
        self._wanted: dict[str, list[tuple[str, Guarded]]] = {}
        for guard in stated.guards:
            for place in guard.at:
                module, function = self._split(place)
                if module:
                    self._wanted.setdefault(module, []).append((function, guard))
        self._owners = {path: module for module, path in out.modules.items()}

    def run(
        self, path: str, data: bytes, parsed: Callable[[], ast.Module | None]
    ) -> tuple[list[str], int, tuple[str, ...]]:
        """All problems of a kept file, its guarded functions, the keys of its guard calls; ``parsed`` gives its syntax tree."""
        wanted = self._wanted.get(self._owners.get(path, ""), [])
        if not wanted and (path.endswith(f"{GUARD}.py") or GUARD.encode() not in data):
            return [], 0, ()
        tree = parsed()
        work = _File(path)
        if tree is None:
            return [], 0, ()
        there = near(tree, lines_of(data, (GUARD.encode(),)))
        nodes = [node for node in there if isinstance(node, ast.Call | ast.Name | ast.Import | ast.ImportFrom)]
        problems = [*work.run(tree, wanted, nodes), *self._uses(path, nodes), *_unloaded(path, tree, nodes)]
        return problems, work.count, tuple(work.keys)

    def _uses(self, path: str, nodes: Sequence[ast.AST]) -> Iterator[str]:
        """The name of the module stands for that module, and only its functions are called, with what they take."""
        heads: set[int] = set()  # of calls: the name before the dot
        for node in nodes:
            line = getattr(node, "lineno", 0)
            if isinstance(node, ast.Import | ast.ImportFrom):
                bound = [alias for alias in node.names if GUARD in (alias.asname, alias.name.rpartition(".")[2])]
                if bound and (self.homes or self.stated.rules) and self._loads(node) not in self.homes:
                    yield f"{path}:{line}: this import is not that of the module that the pruning adds"
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = node.func.value
                if isinstance(owner, ast.Name) and owner.id == GUARD:
                    heads.add(id(owner))
                    if node.func.attr in _STANDING:
                        yield from (f"{path}:{line}: {text}" for text in self._standing(node))
                    elif node.func.attr not in ("check", "options"):
                        yield f"{path}:{line}: the pruning calls no {node.func.attr} of its module"
            elif isinstance(node, ast.Name) and node.id == GUARD and id(node) not in heads:
                yield f"{path}:{line}: the module that the pruning adds is used otherwise than by a call of it"

    def _loads(self, node: ast.Import | ast.ImportFrom) -> str:
        """The module that one plain import loads; "?" for any other."""
        (alias, *more) = node.names
        if more or alias.asname:
            return "?"
        if isinstance(node, ast.Import):
            return alias.name if "." not in alias.name else "?"
        return f"{node.module}.{alias.name}" if not node.level else "?"

    def _standing(self, call: ast.Call) -> Iterator[str]:
        """``removed("pkg.mod", "rule")``: a rule of that name drops that module, or that symbol."""
        texts = [a.value if isinstance(a, ast.Constant) and isinstance(a.value, str) else "" for a in call.args]
        if len(texts) != 2 or not all(texts) or call.keywords:
            yield "what stands for something that is gone names it and its rule, in two texts"
            return
        name, rule = texts
        module, _, symbol = name.partition(":")
        path = self.up.modules.get(module, "")
        if self.stated.rules and not any(r == rule and _takes(t, module, symbol, path) for r, t in self.stated.drops):
            yield f"{name} stands for something that is gone, and {rule} does not take it"

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
        self.keys: set[str] = set()

    def run(self, tree: ast.Module, wanted: Sequence[tuple[str, Guarded]], nodes: Sequence[ast.AST]) -> Iterator[str]:
        """Its problems. ``nodes``: the calls of the tree, among others."""
        seen: set[int] = set()
        for name, node in _functions(tree) if wanted else ():
            for function, guard in wanted:
                if function == name:
                    yield from self._function(node, guard, seen)
        for part in nodes:
            if not isinstance(part, ast.Call) or (row := _call(part)) is None:
                continue
            self.keys.add(row[1])
            if id(part) not in seen:
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


def _unloaded(path: str, tree: ast.Module, nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Each statement with the module's name stands behind the import of it, with nothing but such statements between.

    An import in another branch makes the name a local one that has no value here.
    """
    lines = {node.lineno for node in nodes if isinstance(node, ast.Name) and node.id == GUARD}
    stack: list[ast.AST] = [tree] if lines else []
    while stack:
        owner = stack.pop()
        for suite in SUITES:
            loaded = False
            for child in getattr(owner, suite, ()):
                if isinstance(child, ast.Import | ast.ImportFrom):
                    loaded = loaded or any(alias.name == GUARD for alias in child.names)
                elif child.lineno in lines if isinstance(child, ast.Assign | ast.Expr) else False:
                    if not loaded:
                        yield f"{path}:{child.lineno}: the module that the pruning adds is used, and is not imported in front of it"
                else:
                    loaded = False
                    stack.append(child)


def _takes(text: str, module: str, symbol: str, path: str) -> bool:
    """Does a drop target name a module, its file, or a symbol in it (or a class around that)?"""
    if text.startswith("path:"):
        return bool(path) and fnmatchcase(path, text[5:].strip())
    if "[" in text:
        return False
    head, colon, name = text.partition(":")
    if not colon:
        return covers(text, module) or (bool(symbol) and text == f"{module}.{symbol}")
    return bool(symbol) and head == module and (fnmatchcase(symbol, name) or symbol.startswith(f"{name}."))


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
