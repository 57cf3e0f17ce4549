"""Stand-ins that are used while modules load: importing the tree would end there.

``X = _prune_guard.stand_in(..)`` keeps a name of something that a rule drops, for annotations, ``isinstance`` and code
that does not run. ``register(X.name, X)`` in the body of a module runs at every start, whatever the name came through:
``from pkg.configs import X`` of a package that has the stand-in.

Blind to functions that are called while modules load, to stand-ins that travel in containers but for the display of a
``for``, and to those that are asked of a module object (``configs.X.name``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from pruner.verify.names import FUNCTIONS
from pruner.verify.nodes import children, walk
from pruner.verify.output import Output

_CATCHING = frozenset({"ImportError", "Exception", "BaseException"})


def problems(output: Output, changed: Iterable[str]) -> list[str]:
    """A line for each use, in the order of the paths."""
    names: dict[str, set[str]] = {}
    for path in sorted(changed):
        tree = output.tree.parse(path) if b".stand_in(" in output.tree.read(path) else None
        found = set(_made(tree)) if tree is not None else set()
        if found:
            names[path] = found
    importers: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for path, survey in output.surveys.items() if names else ():
        for row in survey.imports:
            if not row.lazy and not row.typing and row.symbol not in (None, "*"):
                importers.setdefault((row.target, str(row.symbol)), []).append((path, row.bound))
    todo = [(path, name) for path, held in names.items() for name in held]
    while todo:
        path, name = todo.pop()
        for other, bound in importers.get((output.surveys[path].module, name), ()) if path in output.surveys else ():
            if bound not in names.setdefault(other, set()):
                names[other].add(bound)
                todo.append((other, bound))
    return [text for path in sorted(names) for text in _uses(output.tree.parse(path), path, names[path])]


def _made(tree: ast.Module) -> Iterator[str]:
    for node in _run(tree.body):
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "stand_in":
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))  # type: ignore[attr-defined]


def _uses(tree: ast.Module | None, path: str, names: set[str]) -> Iterator[str]:
    if tree is None:
        return
    stored = [
        part.id
        for node in _run(tree.body)
        for part in _own(node)
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
    ]
    names = {name for name in names if stored.count(name) < 2}  # bound again: it may be something else by then
    told = set()
    for node in _run(tree.body):
        for name, line in (*_asked(node, names), *_looped(node, names)):
            if (name, line) not in told:
                told.add((name, line))
                yield f"{path}:{line}: {name} is a stand-in, and is used while the module loads"


def _run(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that run at import and whose ImportError nobody catches; those with suites as well as what is in them."""
    for node in body:
        yield node
        if isinstance(node, FUNCTIONS):
            continue
        if isinstance(node, ast.Try):
            caught = any(_catches(handler.type) for handler in node.handlers)
            yield from _run([*([] if caught else node.body), *node.orelse, *node.finalbody])
            continue
        if isinstance(node, ast.If) and getattr(node.test, "id", getattr(node.test, "attr", "")) == "TYPE_CHECKING":
            yield from _run(node.orelse)
            continue
        for block in ("body", "orelse"):
            yield from _run(getattr(node, block, ()))
        for case in getattr(node, "cases", ()):
            yield from _run(case.body)


def _catches(kind: ast.expr | None) -> bool:
    if isinstance(kind, ast.Tuple):
        return any(_catches(inner) for inner in kind.elts)
    return kind is None or (isinstance(kind, ast.Name) and kind.id in _CATCHING)


def _own(node: ast.stmt) -> Iterator[ast.AST]:
    """What of a statement runs with it: not its suites, bodies of functions and annotations."""
    if isinstance(node, FUNCTIONS):
        defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        roots: list[ast.AST] = [*node.decorator_list, *defaults]
    elif isinstance(node, ast.ClassDef):
        roots = [*node.decorator_list, *(keyword.value for keyword in node.keywords)]
    elif isinstance(node, ast.AnnAssign):
        roots = [part for part in (node.target, node.value) if part is not None]
    else:
        suites = ("body", "orelse", "finalbody", "handlers", "cases")
        inside = {id(part) for suite in suites for part in getattr(node, suite, ()) if isinstance(part, ast.AST)}
        roots = [part for part in children(node) if id(part) not in inside]
    stack = roots
    while stack:
        part = stack.pop()
        yield part
        if not isinstance(part, ast.Lambda):
            stack.extend(children(part))


def _asked(node: ast.stmt, names: set[str]) -> Iterator[tuple[str, int]]:
    """``X()``, ``X.name``, ``X[..]``; ``[kind.name for kind in (Kept, X)]``."""
    for part in _own(node):
        inner = part.func if isinstance(part, ast.Call) else getattr(part, "value", None)
        if isinstance(part, ast.Call | ast.Attribute | ast.Subscript) and isinstance(inner, ast.Name):
            if inner.id in names:
                yield inner.id, part.lineno
        if isinstance(part, ast.ListComp | ast.SetComp | ast.DictComp):
            for loop in part.generators:
                bound = {n.id for n in walk(loop.target) if isinstance(n, ast.Name)}
                if any(isinstance(n, ast.Attribute | ast.Call) and _root(n) in bound for n in walk(part)):
                    yield from ((name, part.lineno) for name in _elements(loop.iter) if name in names)


def _looped(node: ast.stmt, names: set[str]) -> Iterator[tuple[str, int]]:
    """``for kind in (Kept, X): register(kind.name, kind)``"""
    if not isinstance(node, ast.For):
        return
    elements = [name for name in _elements(node.iter) if name in names]
    bound = {n.id for n in walk(node.target) if isinstance(n, ast.Name)}
    used = elements and any(
        isinstance(part, ast.Attribute | ast.Call) and _root(part) in bound
        for inner in _run(node.body)
        for part in _own(inner)
    )
    yield from ((name, node.lineno) for name in elements if used)


def _elements(iterated: ast.expr) -> list[str]:
    elements = iterated.elts if isinstance(iterated, ast.Tuple | ast.List | ast.Set) else ()
    return [element.id for element in elements if isinstance(element, ast.Name)]


def _root(part: ast.Attribute | ast.Call) -> str:
    inner = part.func if isinstance(part, ast.Call) else part.value
    return inner.id if isinstance(inner, ast.Name) else ""
