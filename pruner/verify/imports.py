"""Check ``imports``: every import and every ``module.attribute`` of kept code still finds its target.

Only what resolved upstream is asked for. Local variables that share an import's name are looked at
again with scopes before anything is said.

Blind to attributes that code outside the tree sets on a module.
"""

from __future__ import annotations

import ast
import re

from pruner.verify.names import FUNCTIONS, Import, module_names, resolver
from pruner.verify.nodes import children
from pruner.verify.output import Output
from pruner.verify.record import Survey
from pruner.verify.scopes import Scope, class_scope, function_scope, inner_scope
from pruner.verify.shape import Definition, reads
from pruner.verify.world import BUILTINS, World


class Imports:
    """Resolves what the kept files import."""

    def __init__(self, world: World, output: Output) -> None:
        self.world = world
        self.up = world.tree
        self.output = output
        self.loaded = output.importers()
        self.problems: list[str] = []
        self.count = 0
        self.chains = 0

    def run(self) -> list[str]:
        """All problems, in the order of the paths."""
        for survey in self.output.surveys.values():
            self._file(survey)
        self._packages()
        return self.problems

    def _packages(self) -> None:
        """A kept module's packages keep their ``__init__.py``: importing the module runs them first."""
        lost = set()
        for module in self.output.tree.modules:
            parent = module.rpartition(".")[0]
            while parent:
                if parent in self.up.modules and parent not in self.output.tree.modules:
                    lost.add(parent)
                parent = parent.rpartition(".")[0]
        for package in sorted(lost):
            self.problems.append(f"{self.up.modules[package]}: gone, but modules of {package} are kept")

    def _file(self, survey: Survey) -> None:
        for row in survey.imports:
            if row.target.partition(".")[0] not in self.up.tops:
                continue
            self.count += 1
            if not self.up.has_module(row.target):
                continue
            if not self.output.tree.has_module(row.target):
                self._say(survey, row.line, f"imports {row.target}, which is gone")
            elif row.symbol not in (None, "*") and not self._provided(survey, row):
                if self.upstream_has(row.target, str(row.symbol)):
                    self._say(survey, row.line, f"imports {row.symbol} from {row.target}, which no longer has it")
        for name in sorted(survey.listed or ()):
            if not self.output.provides(survey.module, name) and self.upstream_has(survey.module, name):
                self._say(survey, 1, f"__all__ names {name!r}, which the module no longer has")
        if any(self.up.has_module(star) for star in survey.stars):
            self._starred(survey)
        for chain, line in sorted(survey.chains.items()):
            self.chains += 1
            passed: list[str] = []
            for _, _, missing in self.output.places(survey.path, chain, passed):
                if not missing:
                    continue
                module, _, name = missing.rpartition(".")
                if self.upstream_has(module, name) and not self.shadowed(survey, chain.partition(".")[0], line):
                    self._say(survey, line, f"reads {missing}, which is gone")
                    break
            for module in passed:
                if module not in self.loaded and not self._string(module) and self._loaded_upstream(module):
                    self._say(survey, line, f"reads {module}, which no kept import loads any more")
        for line, kind, module in survey.lookups:
            if kind.startswith("module") and module not in self.loaded and module in self.up.modules:
                if self.world.ruled.drops_module(module, self.up.modules[module]):
                    continue
                if not self._by_text(module) and self._loaded_upstream(module):
                    self._say(survey, line, f"looks {module} up, which no kept import loads any more")

    def _provided(self, survey: Survey, row: Import) -> bool:
        """Does the imported name exist? ``from . import mod`` in the package itself does not make what it imports."""
        module, name = row.target, str(row.symbol)
        if row.bound == name and module == survey.module and survey.first.get(name) == row.line:
            if all(r.target == module and r.symbol == name for r in self.output.imports_of(survey.path)[name]):
                bound = survey.stars or not self.up.has_module(f"{module}.{name}")
                return bool(bound) or self.output.tree.has_module(f"{module}.{name}")
        return self.output.provides(module, name)

    def _string(self, module: str) -> bool:
        """Does kept text name the module as a string?"""
        return any(module in survey.strings for survey in self.output.surveys.values())

    def _by_text(self, module: str) -> bool:
        """Does kept text load modules by strings, this one perhaps?"""
        wanted = [p for survey in self.output.surveys.values() for _, p, _ in survey.loads]
        return any(re.fullmatch(pattern, module) for pattern in wanted)

    def _loaded_upstream(self, module: str) -> bool:
        """Does upstream's text of a kept module import this one?"""
        kept = [name for name in self.up.modules if self.output.tree.has_module(name)]
        return any(
            module in (row.target, f"{row.target}.{row.symbol}") or row.target.startswith(f"{module}.")
            for name in kept
            for row in self.world.imports(name)
        )

    def _starred(self, survey: Survey) -> None:
        """Names that a file reads and that only ``from x import *`` could have bound. No linter sees these."""
        for name in sorted(self.read(survey) - survey.bound - BUILTINS):
            if self.output.provides(survey.module, name):
                continue
            if any(self.up.has_module(star) and name in self.world.exported(star) for star in survey.stars):
                self._say(survey, 1, f"reads {name}, which no import * brings any more")

    def read(self, survey: Survey) -> set[str]:
        """The globals that a file reads of its own module."""
        parsed = self.output.tree.parse(survey.path)
        if parsed is None:
            return set()
        package = self.output.tree.is_package(survey.module)
        scope = Scope("module", survey.module, None, module_names(parsed, survey.module, package))
        resolve = resolver(survey.module, package)

        def build(node: Definition, parent: Scope) -> Scope:
            if isinstance(node, ast.ClassDef):
                return class_scope(node, parent, resolve)
            return function_scope(node, parent, resolve)

        return reads(parsed, scope, build)

    def upstream_has(self, module: str, name: str) -> bool:
        """Did ``module.name`` exist upstream?"""
        names = self.world.names(module)
        if self.up.has_module(f"{module}.{name}"):
            return True
        if names is None:
            return False
        if name in names.bindings or "__getattr__" in names.bindings:
            return True
        stars = (star for star in names.stars if self.up.has_module(star) and self._brings(star, name))
        return any(self.upstream_has(star, name) for star in stars)

    def _brings(self, star: str, name: str) -> bool:
        """May upstream's ``from star import *`` bind this name? One that begins with ``_`` is brought by ``__all__`` alone."""
        names = self.world.names(star)
        return not name.startswith("_") or names is None or "__all__" in names.bindings

    def shadowed(self, survey: Survey, root: str, line: int) -> bool:
        """Is ``root`` in this line a local name that no import binds?"""
        parsed = self.output.tree.parse(survey.path)
        if parsed is None:
            return False
        scope = scope_at(parsed, survey.module, self.output.tree.is_package(survey.module), line, root)
        if scope is None:
            return False
        rows = scope.bindings(root)
        return not any(row.kind == "import" for row in rows)

    def _say(self, survey: Survey, line: int, text: str) -> None:
        self.problems.append(f"{survey.path}:{line}: {text}")


def scope_at(tree: ast.Module, module: str, package: bool, line: int, name: str) -> Scope | None:
    """The function-like scope in which ``name`` is found from ``line``; None for the module level."""
    scope = Scope("module", module)
    resolve = resolver(module, package)
    node: ast.AST = tree
    while True:
        for child in children(node):
            end = getattr(child, "end_lineno", None)
            if end is None or not (child.lineno <= line <= end):  # type: ignore[attr-defined]
                continue
            if isinstance(child, FUNCTIONS):
                scope = function_scope(child, scope, resolve)
            elif isinstance(child, ast.ClassDef):
                scope = class_scope(child, scope, resolve)
            elif isinstance(child, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                scope = inner_scope(child, scope)
            node = child
            break
        else:
            return scope.find(name)
