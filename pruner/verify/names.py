"""What a scope binds, and under which tests: the raw material of name resolution.

One walk over statements (not expressions) serves modules, class bodies and functions.
Blind to names bound by ``exec``, ``globals()[…] = …`` and by other modules' ``setattr``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

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

    def __init__(self, package: list[str], walrus: bool = True, capture: bool = True) -> None:
        self.package = package
        self.walrus = walrus  # may the file hold ``:=`` at all? Looking for it costs a walk of every function
        self.capture = capture  # and ``nonlocal``?

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
            handler = _HANDLERS.get(type(node))
            if handler is not None:
                handler(self, node, guards, steady, tried, typing)
            if type(node) is ast.If:
                # After ``if T: return`` the rest runs only where T is false, and the reverse.
                if leaves(node.body) and not leaves(node.orelse):
                    guards = (*guards, (node.test, False))
                elif node.orelse and leaves(node.orelse) and not leaves(node.body):
                    guards = (*guards, (node.test, True))

    def _assign(self, node: ast.Assign, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool) -> None:
        for target in node.targets:
            if type(target) is ast.Name:
                self.names.bind(target.id, Binding("assign", node.lineno, guards, steady, node.value, node))
            elif type(target) is not ast.Attribute and type(target) is not ast.Subscript:
                for name in target_names(target):
                    self.names.bind(name, Binding("assign", node.lineno, guards, steady, None, node))

    def _annotated(
        self, node: ast.AnnAssign, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool
    ) -> None:
        if isinstance(node.target, ast.Name):
            kind = "assign" if node.value else "declare"
            self.names.bind(node.target.id, Binding(kind, node.lineno, guards, steady, node.value, node))

    def _augmented(
        self, node: ast.AugAssign, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool
    ) -> None:
        if isinstance(node.target, ast.Name):
            self.names.bind(node.target.id, Binding("aug", node.lineno, guards, False, None, node))

    def _definition(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef,
        guards: tuple[Guard, ...],
        steady: bool,
        tried: bool,
        typing: bool,
    ) -> None:
        lazy = not isinstance(node, ast.ClassDef)
        self.names.bind(node.name, Binding("def" if lazy else "class", node.lineno, guards, steady, None, node))
        if self.deep:
            self.nested(node.body, guards, lazy)

    def _if(self, node: ast.If, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool) -> None:
        checking = typing or is_type_checking(node.test)
        self.suite(node.body, (*guards, (node.test, True)), steady, tried, checking)
        if node.orelse:
            self.suite(node.orelse, (*guards, (node.test, False)), steady, tried, typing)

    def _for(
        self, node: ast.For | ast.AsyncFor, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool
    ) -> None:
        self._others(node.target, node.lineno, guards)
        self.suite(node.body, guards, False, tried, typing)
        self.suite(node.orelse, guards, False, tried, typing)

    def _while(self, node: ast.While, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool) -> None:
        self.suite(node.body, (*guards, (node.test, True)), False, tried, typing)
        self.suite(node.orelse, guards, False, tried, typing)

    def _with(
        self, node: ast.With | ast.AsyncWith, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool
    ) -> None:
        for item in node.items:
            if item.optional_vars is not None:
                self._others(item.optional_vars, node.lineno, guards)
        self.suite(node.body, guards, steady, tried, typing)

    def _try(
        self, node: ast.Try | ast.TryStar, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool
    ) -> None:
        self.suite(node.body, guards, False, bool(node.handlers) or tried, typing)
        for handler in node.handlers:
            if handler.name:
                self.names.bind(handler.name, Binding("other", handler.lineno, guards, False))
            self.suite(handler.body, guards, False, tried, typing)
        self.suite(node.orelse, guards, False, tried, typing)
        self.suite(node.finalbody, guards, steady, tried, typing)

    def _match(self, node: ast.Match, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool) -> None:
        for case in node.cases:
            for name in pattern_names(case.pattern):
                self.names.bind(name, Binding("other", node.lineno, guards, False))
            inner = (*guards, (case.guard, True)) if case.guard is not None else guards
            self.suite(case.body, inner, False, tried, typing)

    def _global(self, node: ast.Global, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool) -> None:
        self.names.globals.update(node.names)

    def _nonlocal(
        self, node: ast.Nonlocal, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool
    ) -> None:
        self.names.nonlocals.update(node.names)

    def _delete(self, node: ast.Delete, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool) -> None:
        for target in node.targets:
            self._others(target, node.lineno, guards)

    def _others(self, target: ast.expr, line: int, guards: tuple[Guard, ...]) -> None:
        for name in target_names(target):
            self.names.bind(name, Binding("other", line, guards, False))

    def imported(
        self,
        node: ast.Import | ast.ImportFrom,
        guards: tuple[Guard, ...],
        steady: bool,
        tried: bool,
        typing: bool,
        lazy: bool = False,
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


def resolver(module: str, is_package: bool, walrus: bool = True, capture: bool = True) -> Resolve:
    """The :class:`Resolve` of a module."""
    parts = module.split(".")
    return Resolve(parts if is_package else parts[:-1], walrus, capture)


_HANDLERS: dict[type[ast.stmt], Any] = {
    ast.Import: Collector.imported,
    ast.ImportFrom: Collector.imported,
    ast.Assign: Collector._assign,
    ast.AnnAssign: Collector._annotated,
    ast.AugAssign: Collector._augmented,
    ast.FunctionDef: Collector._definition,
    ast.AsyncFunctionDef: Collector._definition,
    ast.ClassDef: Collector._definition,
    ast.If: Collector._if,
    ast.For: Collector._for,
    ast.AsyncFor: Collector._for,
    ast.While: Collector._while,
    ast.With: Collector._with,
    ast.AsyncWith: Collector._with,
    ast.Try: Collector._try,
    ast.TryStar: Collector._try,
    ast.Match: Collector._match,
    ast.Global: Collector._global,
    ast.Nonlocal: Collector._nonlocal,
    ast.Delete: Collector._delete,
}


def is_type_checking(test: ast.expr) -> bool:
    """``TYPE_CHECKING`` or ``typing.TYPE_CHECKING``."""
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def module_names(tree: ast.Module, module: str, is_package: bool) -> Names:
    """The names of a whole module."""
    return Collector(resolver(module, is_package), deep=True).module(tree.body)
