"""Which names a function or class binds, by Python's rules.

Blind to ``exec`` and to names injected from outside (``builtins.X = ...``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from pruner.syntax.nodes import children

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Bindings:
    """Names bound directly in one scope: how often, and which are declared global or nonlocal."""

    __slots__ = ("counts", "globals", "inner_nonlocals", "nonlocals", "yields")

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.inner_nonlocals: set[str] = set()
        self.yields = False

    def bind(self, name: str) -> None:
        """Count one more binding of ``name``."""
        self.counts[name] = self.counts.get(name, 0) + 1

    @property
    def local(self) -> frozenset[str]:
        """Names that live in this scope."""
        return frozenset(self.counts) - self.globals - self.nonlocals


def _alias_name(alias: ast.alias) -> str:
    return alias.asname or alias.name.split(".", 1)[0]


def collect(nodes: Iterable[ast.AST], deep: bool = True, outer: bool = True) -> Bindings:
    """Bindings made by these nodes, not descending into nested scopes.

    A walrus inside a comprehension binds in the enclosing function, a comprehension's own
    target does not. ``deep`` false skips expressions: right where no ``:=``, ``yield`` or
    ``nonlocal`` stands, and four times as fast. ``outer`` false: the file holds no ``nonlocal``.
    """
    found = Bindings()
    stack: list[tuple[ast.AST, bool]] = [(node, False) for node in nodes]
    while stack:
        node, inside = stack.pop()
        kind = type(node)
        if kind is ast.Name:
            if not inside and not isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
                found.bind(node.id)  # type: ignore[attr-defined]
            continue
        if kind in _SCOPES:
            if kind is not ast.Lambda:
                found.bind(node.name)  # type: ignore[attr-defined]
            if deep:
                _outer_parts(node, inside, stack)
                if outer and kind is not ast.ClassDef:
                    found.inner_nonlocals |= _nonlocals(node)
            continue
        if kind in (ast.Import, ast.ImportFrom):
            for alias in node.names:  # type: ignore[attr-defined]
                found.bind(_alias_name(alias))
            continue
        if not deep:
            fields = _SHALLOW.get(kind)
            if fields is not None:
                for name in fields:
                    child = getattr(node, name)
                    if isinstance(child, list):
                        stack.extend([(c, inside) for c in child])
                    elif child is not None:
                        stack.append((child, inside))
                continue
        if kind is ast.Global:
            found.globals.update(node.names)  # type: ignore[attr-defined]
        elif kind is ast.Nonlocal:
            found.nonlocals.update(node.names)  # type: ignore[attr-defined]
        elif kind in (ast.Yield, ast.YieldFrom):
            found.yields = True
        elif (kind is ast.ExceptHandler and node.name) or (kind in (ast.MatchAs, ast.MatchStar) and node.name):  # type: ignore[attr-defined]
            found.bind(node.name)  # type: ignore[attr-defined]
        elif kind is ast.MatchMapping and node.rest:  # type: ignore[attr-defined]
            found.bind(node.rest)  # type: ignore[attr-defined]
        elif kind is ast.NamedExpr:
            found.bind(node.target.id)  # type: ignore[attr-defined]
            stack.append((node.value, inside))  # type: ignore[attr-defined]
            continue
        deeper = inside or kind in _COMPREHENSIONS
        if not deep and isinstance(node, ast.expr) and kind not in (ast.Tuple, ast.List, ast.Starred):
            continue
        stack += [(child, deeper) for child in children(node)]
    return found


# Where a statement can bind, when its expressions cannot.
_SHALLOW: dict[type, tuple[str, ...]] = {
    ast.Expr: (),
    ast.Assign: ("targets",),
    ast.AnnAssign: ("target",),
    ast.AugAssign: ("target",),
    ast.Return: (),
    ast.Raise: (),
    ast.Assert: (),
    ast.Pass: (),
    ast.Break: (),
    ast.Continue: (),
    ast.Delete: ("targets",),
    ast.If: ("body", "orelse"),
    ast.While: ("body", "orelse"),
    ast.For: ("target", "body", "orelse"),
    ast.AsyncFor: ("target", "body", "orelse"),
    ast.With: ("items", "body"),
    ast.AsyncWith: ("items", "body"),
    ast.withitem: ("optional_vars",),
    ast.Try: ("body", "handlers", "orelse", "finalbody"),
    ast.Attribute: (),
    ast.Subscript: (),
}


def _outer_parts(node: ast.AST, inside: bool, stack: list[tuple[ast.AST, bool]]) -> None:
    """Parts of a nested scope that are evaluated in the enclosing one (they may hold a walrus)."""
    if isinstance(node, ast.ClassDef):
        outer: list[ast.AST] = [*node.decorator_list, *node.bases, *(k.value for k in node.keywords)]
    else:
        arguments = node.args  # type: ignore[attr-defined]
        outer = [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
        outer += getattr(node, "decorator_list", [])
    stack.extend((part, inside) for part in outer)


def _nonlocals(node: ast.AST) -> set[str]:
    """Names of the ``nonlocal`` statements of a function and of those in it: no expression holds a statement."""
    found: set[str] = set()
    stack = [node]
    while stack:
        inner = stack.pop()
        if isinstance(inner, ast.Nonlocal):
            found.update(inner.names)
        for suite in _SUITES[type(inner)]:
            part = getattr(inner, suite)
            if type(part) is list:  # a lambda's body is an expression
                stack += part
    return found


class _Suites(dict[type, tuple[str, ...]]):
    """The fields of a kind of statement that hold statements, worked out when they are first asked for."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        suites = ("body", "orelse", "finalbody", "handlers", "cases")
        found = self[kind] = tuple(name for name in suites if name in kind._fields)
        return found


_SUITES = _Suites()


def parameters(arguments: ast.arguments) -> tuple[str, ...]:
    """All parameter names, in order."""
    every = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg:
        every.append(arguments.vararg)
    every += arguments.kwonlyargs
    if arguments.kwarg:
        every.append(arguments.kwarg)
    return tuple(a.arg for a in every)


def comprehension_targets(generators: Iterable[ast.comprehension]) -> frozenset[str]:
    """Names that a comprehension binds for itself."""
    return frozenset(
        inner.id
        for generator in generators
        for inner in ast.walk(generator.target)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)  # not the flags of [0 for flags.A in rows]
    )
