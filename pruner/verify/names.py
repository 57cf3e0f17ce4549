"""What a scope binds, and under which tests: the raw material of name resolution.

One walk over statements (not expressions) serves modules, class bodies and functions.
Blind to names bound by ``exec``, ``globals()[…] = …`` and by other modules' ``setattr``.
"""

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
    ``guards``: the tests under which the place is reached. ``steady``: not in a try body or a loop.
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


class Resolve:
    """Callable that knows in which module the code stands."""

    def __init__(self, package: list[str], walrus: bool = True) -> None:
        self.package = package
        self.walrus = walrus  # may the file hold ``:=`` at all? Looking for it costs a walk of every function

    def __call__(self, level: int, target: str | None) -> str | None:
        if not level:
            return target
        drop = level - 1
        if drop > len(self.package):
            return None
        parts = self.package[: len(self.package) - drop]
        return ".".join([*parts, target] if target else parts) or None


class Collector:
    """Walks one scope. ``resolve`` turns (level, module) into an absolute module name."""

    def __init__(self, resolve: Resolve, deep: bool) -> None:
        self.names = Names()
        self.resolve = resolve
        self.deep = deep  # also report imports and ``global`` statements of nested functions

    def module(self, body: Sequence[ast.stmt]) -> Names:
        """Collect a module's names."""
        self.suite(body, (), True, False, False)
        return self.names

    def suite(
        self, body: Sequence[ast.stmt], guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool
    ) -> None:
        """Collect the statements of one suite of this scope."""
        for node in body:
            self.statement(node, guards, steady, tried, typing)
            if isinstance(node, ast.If):
                # After ``if T: return`` the rest runs only where T is false, and the reverse.
                if leaves(node.body) and not leaves(node.orelse):
                    guards = (*guards, (node.test, False))
                elif node.orelse and leaves(node.orelse) and not leaves(node.body):
                    guards = (*guards, (node.test, True))

    def statement(
        self, node: ast.stmt, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool
    ) -> None:
        """Collect one statement."""
        names, line = self.names, node.lineno
        if isinstance(node, ast.Import | ast.ImportFrom):
            self.imported(node, guards, steady, tried, typing, lazy=False)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                value = node.value if isinstance(target, ast.Name) else None
                for name in target_names(target):
                    names.bind(name, Binding("assign", line, guards, steady, value, node))
        elif isinstance(node, ast.AnnAssign):
            if isinstance(node.target, ast.Name):
                kind = "assign" if node.value else "declare"
                names.bind(node.target.id, Binding(kind, line, guards, steady, node.value, node))
        elif isinstance(node, ast.AugAssign):
            if isinstance(node.target, ast.Name):
                names.bind(node.target.id, Binding("aug", line, guards, False, None, node))
        elif isinstance(node, FUNCTIONS):
            names.bind(node.name, Binding("def", line, guards, steady, None, node))
            if self.deep:
                self.nested(node.body, guards)
        elif isinstance(node, ast.ClassDef):
            names.bind(node.name, Binding("class", line, guards, steady, None, node))
            if self.deep:
                self.nested(node.body, guards, lazy=False)
        elif isinstance(node, ast.If):
            checking = typing or is_type_checking(node.test)
            self.suite(node.body, (*guards, (node.test, True)), steady, tried, checking)
            self.suite(node.orelse, (*guards, (node.test, False)), steady, tried, typing)
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
            if not isinstance(node, ast.While):
                for name in target_names(node.target):
                    names.bind(name, Binding("other", line, guards, False))
                inner = guards
            else:
                inner = (*guards, (node.test, True))
            self.suite(node.body, inner, False, tried, typing)
            self.suite(node.orelse, guards, False, tried, typing)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if item.optional_vars is not None:
                    for name in target_names(item.optional_vars):
                        names.bind(name, Binding("other", line, guards, False))
            self.suite(node.body, guards, steady, tried, typing)
        elif isinstance(node, ast.Try | ast.TryStar):
            self.suite(node.body, guards, False, bool(node.handlers) or tried, typing)
            for handler in node.handlers:
                if handler.name:
                    names.bind(handler.name, Binding("other", handler.lineno, guards, False))
                self.suite(handler.body, guards, False, tried, typing)
            self.suite(node.orelse, guards, False, tried, typing)
            self.suite(node.finalbody, guards, steady, tried, typing)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                for name in pattern_names(case.pattern):
                    names.bind(name, Binding("other", line, guards, False))
                inner = (*guards, (case.guard, True)) if case.guard is not None else guards
                self.suite(case.body, inner, False, tried, typing)
        elif isinstance(node, ast.Global):
            names.globals.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            names.nonlocals.update(node.names)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                for name in target_names(target):
                    names.bind(name, Binding("other", line, guards, False))

    def imported(
        self,
        node: ast.Import | ast.ImportFrom,
        guards: tuple[Guard, ...],
        steady: bool,
        tried: bool,
        typing: bool,
        lazy: bool,
    ) -> None:
        """Record an import statement and, unless ``lazy`` code of a nested scope, what it binds."""
        names, line = self.names, node.lineno
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                names.imports.append(Import(line, alias.name, None, bound, lazy, tried, typing, guards))
                if not lazy:
                    target = alias.name if alias.asname else bound
                    names.bind(bound, Binding("import", line, guards, steady, None, node, target))
            return
        target = self.resolve(node.level, node.module) or ""
        for alias in node.names:
            if alias.name == "*":
                names.imports.append(Import(line, target, "*", "", lazy, tried, typing, guards))
                names.stars.append(target)
                continue
            bound = alias.asname or alias.name
            names.imports.append(Import(line, target, alias.name, bound, lazy, tried, typing, guards))
            if not lazy:
                names.bind(bound, Binding("import", line, guards, steady, None, node, target, alias.name))

    def nested(self, body: Sequence[ast.stmt], guards: tuple[Guard, ...], lazy: bool = True) -> None:
        """Imports and ``global`` statements of scopes below this one."""
        inner = Collector(self.resolve, deep=True)
        inner.suite(body, guards, True, False, False)
        for row in inner.names.imports:
            row.lazy = row.lazy or lazy
            self.names.imports.append(row)
        for name in inner.names.globals:
            self.names.rebound.setdefault(name, []).extend(
                binding.line for binding in inner.names.bindings.get(name, ())
            )
        for name, lines in inner.names.rebound.items():
            self.names.rebound.setdefault(name, []).extend(lines)
        self.names.captured |= inner.names.nonlocals | inner.names.captured


def resolver(module: str, is_package: bool, walrus: bool = True) -> Resolve:
    """The :class:`Resolve` of a module."""
    parts = module.split(".")
    return Resolve(parts if is_package else parts[:-1], walrus)


def is_type_checking(test: ast.expr) -> bool:
    """``TYPE_CHECKING`` or ``typing.TYPE_CHECKING``."""
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def module_names(tree: ast.Module, module: str, is_package: bool) -> Names:
    """The names of a whole module."""
    return Collector(resolver(module, is_package), deep=True).module(tree.body)
