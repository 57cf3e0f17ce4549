"""What a scope binds, and under which tests: the raw material of name resolution.

One walk over statements (not expressions) serves modules, class bodies and functions.
Blind to names bound by ``exec``, ``globals()[…] = …`` and by other modules' ``setattr``.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from pruner.verify.bindings import FUNCTIONS, Binding, Guard, Import, Names, leaves, pattern_names, target_names
from pruner.verify.near import Lines, lines_of, reached
from pruner.verify.nodes import children


class Resolve:
    """Callable that knows in which module the code stands."""

    def __init__(self, package: list[str], walrus: Lines = None, capture: bool = True, deep: Lines = None) -> None:
        self.package = package
        self.walrus = walrus  # where ``:=`` may be. Looking for it costs a walk of every function
        self.capture = capture  # may the file hold ``nonlocal`` at all?
        self.deep = deep  # where a scope below another may import, or declare names

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
        self.suite(node.body, guards, False, tried, typing)  # with suppress(ImportError)

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

    def _nonlocal(self, node: ast.Nonlocal, guards: tuple[Guard, ...], steady: bool, tried: bool, typing: bool) -> None:
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
                names.imports.append(Import(line, target, "*", "", lazy, tried, typing, guards, steady))
                names.stars.append(target)
                continue
            bound = alias.asname or alias.name
            names.imports.append(Import(line, target, alias.name, bound, lazy, tried, typing, guards))
            if not lazy:
                names.bind(bound, Binding("import", line, guards, steady, None, node, target, alias.name))

    def nested(self, body: Sequence[ast.stmt], guards: tuple[Guard, ...], lazy: bool = True) -> None:
        """Imports and ``global`` statements of scopes below this one."""
        if not reached(self.resolve.deep, body[0].lineno, body[-1].end_lineno or 0):
            return
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


def resolver(module: str, is_package: bool, walrus: Lines = None, capture: bool = True, deep: Lines = None) -> Resolve:
    """The :class:`Resolve` of a module."""
    parts = module.split(".")
    return Resolve(parts if is_package else parts[:-1], walrus, capture, deep)


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


def module_names(tree: ast.Module, module: str, is_package: bool, data: bytes | None = None) -> Names:
    """The names of a whole module. ``data``: its text, if at hand, which says what functions need not be looked into."""
    deep = None if data is None else lines_of(data, (b"import", b"global", b"nonlocal"))
    return Collector(resolver(module, is_package, deep=deep), deep=True).module(tree.body)


def called(parsed: ast.Module) -> frozenset[str]:
    """The first names of what the body of a module calls: in statements, bodies of classes, decorators and defaults."""
    found: set[str] = set()
    stack: list[ast.AST] = list(parsed.body)
    while stack:
        node = stack.pop()
        if isinstance(node, FUNCTIONS):
            found.update(first_name(decorator) for decorator in node.decorator_list)
            stack += node.decorator_list
            stack += [part for part in (*node.args.defaults, *node.args.kw_defaults) if part is not None]
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Call):
            found.add(first_name(node.func))
        elif isinstance(node, ast.ClassDef):
            found.update(
                first_name(part) for part in (*node.decorator_list, *node.bases, *(k.value for k in node.keywords))
            )
        stack += children(node)
    return frozenset(found - {""})


def first_name(node: ast.expr) -> str:
    """The variable that a chain of attributes, calls and subscripts begins with, or ""."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


__all__ = [
    "FUNCTIONS",
    "Binding",
    "Collector",
    "Guard",
    "Import",
    "Names",
    "Resolve",
    "called",
    "first_name",
    "is_type_checking",
    "module_names",
    "pattern_names",
    "resolver",
    "target_names",
]
