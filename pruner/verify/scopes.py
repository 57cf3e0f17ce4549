"""Scopes of Python code and which scope a name belongs to.

Blind to names that ``exec`` or a ``*`` import inside a function would add (the latter is not
Python 3).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pruner.verify.names import FUNCTIONS, Binding, Collector, Names, Resolve
from pruner.verify.near import over
from pruner.verify.nodes import children, walk

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scope:
    """A module, class, function, lambda or comprehension scope.

    ``bound`` are the names local to it; ``names`` the binding places (None for lambdas and
    comprehensions, whose variables never have a known value).
    """

    __slots__ = (
        "bound",
        "globals",
        "guards",
        "kind",
        "module",
        "names",
        "node",
        "nonlocals",
        "parent",
        "twin",
        "values",
    )

    def __init__(
        self,
        kind: str,
        module: str,
        parent: Scope | None = None,
        names: Names | None = None,
        extra: frozenset[str] | set[str] = frozenset(),
        node: ast.AST | None = None,
    ) -> None:
        self.kind = kind
        self.module = module
        self.parent = parent
        self.names = names
        self.node = node
        self.globals = names.globals if names else set()
        self.nonlocals = names.nonlocals if names else set()
        self.bound = (set(names.bindings) | extra if names else set(extra)) - self.globals - self.nonlocals
        self.twin: Scope | None = None  # output side: the upstream scope, whose values both sides go by
        self.values: dict[str, object] = {}  # the evaluator's memory: locals
        self.guards: dict[ast.expr, bool | None] = {}  # and tests

    def find(self, name: str) -> Scope | None:
        """The scope whose variable a read of ``name`` here means; None: module level or a builtin."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "module":
            if name in scope.globals:
                return None
            # A class body's names are seen by the class body alone, not by its methods.
            if name in scope.bound and (scope.kind != "class" or scope is self):
                return scope
            scope = scope.parent
        return None

    def bindings(self, name: str) -> list[Binding]:
        """The binding places of a local name."""
        return self.names.bindings.get(name, []) if self.names else []


def parameters(arguments: ast.arguments) -> Iterator[str]:
    """All parameter names."""
    for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        yield arg.arg
    if arguments.vararg:
        yield arguments.vararg.arg
    if arguments.kwarg:
        yield arguments.kwarg.arg


def walruses(node: ast.AST) -> Iterator[str]:
    """Names bound by ``:=`` in this scope: through comprehensions, not into functions or lambdas."""
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.NamedExpr) and isinstance(item.target, ast.Name):
            yield item.target.id
        for child in children(item):
            if not isinstance(child, (*FUNCTIONS, ast.ClassDef, ast.Lambda)):
                stack.append(child)


def function_scope(node: ast.FunctionDef | ast.AsyncFunctionDef, parent: Scope, resolve: Resolve) -> Scope:
    """The scope of a function's body."""
    collector = Collector(resolve, deep=resolve.capture)
    collector.suite(node.body, (), True, False, False)
    names = collector.names
    for statement in node.body:
        for name in walruses(statement) if over(statement, resolve.walrus) else ():
            names.bind(name, Binding("other", statement.lineno))
    extra = set(parameters(node.args))
    for name in extra & set(names.bindings):
        names.bind(name, Binding("other", node.lineno))  # a parameter that is stored again has two bindings
    return Scope("function", parent.module, parent, names, extra, node)


def class_scope(node: ast.ClassDef, parent: Scope, resolve: Resolve) -> Scope:
    """The scope of a class body."""
    collector = Collector(resolve, deep=False)
    collector.suite(node.body, (), True, False, False)
    return Scope("class", parent.module, parent, collector.names, node=node)


def inner_scope(node: ast.expr, parent: Scope) -> Scope:
    """The scope of a lambda or a comprehension."""
    if isinstance(node, ast.Lambda):
        return Scope("expression", parent.module, parent, None, set(parameters(node.args)))
    names: set[str] = set()
    for generator in getattr(node, "generators", ()):
        names.update(n.id for n in walk(generator.target) if isinstance(n, ast.Name))
    return Scope("expression", parent.module, parent, None, names)
