"""Who may read a name of a module: the file itself, an import, a text, or code that has the module as an object.

A text that may name the module loads it. Who has a module by a text asks it for a name that a text says or that
code reads as an attribute of something; where nothing says the name, nobody can ask for it.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping

from tests.mutation.files import ASKING, GUARD, File, Said
from tests.mutation.settled import FUNCTIONS

MEMORY = (
    "lru_cache",
    "cache",
    "functools.lru_cache",
    "functools.cache",
)  # decorators that keep nothing of the function
Asking = frozenset[tuple[str, str]]


class Readers:
    """Answers for one set of files."""

    def __init__(self, files: Mapping[str, File]) -> None:
        self.files = files
        self.said = Said(files)

    def reader(self, module: str, name: str, passed: frozenset[str] = frozenset()) -> str:
        """Who may read this name of this module, or ""; ``passed`` are modules that hand it on with a star."""
        own = self.files[module]
        if name in own.words | own.texts | own.listed | own.parts | own.noted:
            return f"{module} itself"
        for file in self.files.values():
            if any(re.match(rf"{re.escape(module)}[.:]{name}(?!\w)", text) for text in file.texts):
                return f"{file.module}, by a text"
            for target, symbol, _, _ in file.aliases:
                if target == module and symbol == name:
                    return f"{file.module}, by an import"
                if target == module and symbol == "*" and not name.startswith("_") and file.module not in passed:
                    further = self.reader(file.module, name, passed | {module})
                    if further:
                        return further
        if self._loaded(module) and (self.said.lists or self._named(name)):
            return "who has the module by a text"
        return self.asked(module, name)

    def _loaded(self, module: str) -> bool:
        """May a text name the module, or lead to it from a package that a text names?"""
        package, _, last = module.rpartition(".")
        return self.said.module(module) or (bool(package) and self._named(last) and self._loaded(package))

    def _named(self, name: str) -> bool:
        """Does any code ask anything for an attribute of this name, or may a text be its name?"""
        if self.said.name(name):
            return True
        return any(
            not self._outside(file, node.value)
            for file in self.files.values()
            if file.module.rpartition(".")[2] != GUARD
            for node in file.by_attribute.get(name, ())
        )

    def handed(self, module: str, bound: str, asking: Asking) -> bool:
        """May anybody get at what the module's body imports under this name: by an import, a star, a text, as its attribute?"""
        for file in self.files.values():
            if any(target == module and symbol in (bound, "*") for target, symbol, _, _ in file.aliases):
                return True
            if file.module.rpartition(".")[2] != GUARD and any(module in text for text in file.texts):
                return True
        return bool(self.asked(module, bound, asking))

    def asked(self, module: str, name: str, asking: Asking = frozenset()) -> str:
        """Who may ask the module, as an object, for this attribute; "". ``asking``: what this question is asked for."""
        package, _, last = module.rpartition(".")
        if (module, name) in asking:
            return ""  # what leads to the module by the module alone leads nowhere
        asking |= {(module, name)}
        holding: set[str] = set()  # attributes that may hold the module
        if package and self.asked(package, last, asking):
            holding.add(last)
        named: dict[str, set[str]] = defaultdict(set)  # file -> its names for the module
        for file in self.files.values():
            for target, symbol, bound, node in file.aliases:
                whole = f"{target}.{symbol}" if symbol else target if bound != target.partition(".")[0] else bound
                if whole == module:
                    named[file.module].add(bound)
                    if _in_class(file, node) or (
                        not _in_function(file, node) and self.handed(file.module, bound, asking)
                    ):
                        holding.add(bound)
        givers: set[str] = set()
        for file in self.files.values():
            held: list[ast.AST] = [
                node
                for text in holding
                for node in file.by_attribute.get(text, ())
                if not self._outside(file, node.value)
            ]
            names = named.get(file.module, set()) | (
                holding & {bound for _, symbol, bound, _ in file.aliases if symbol}
            )
            held += [node for text in names for node in file.by_name.get(text, ())]
            for node in held:
                if self._asked(file, node, name) and not _given(file, node, givers):
                    return f"{file.module}:{getattr(node, 'lineno', 0)}"
        for file in self.files.values():
            for text in givers:
                for use in (*file.by_name.get(text, ()), *file.by_attribute.get(text, ())):
                    call = file.parents.get(use)
                    if not (isinstance(call, ast.Call) and call.func is use) or self._asked(file, call, name):
                        return f"{file.module}:{use.lineno}, of what {text} gives"
        return ""

    def _outside(self, file: File, node: ast.expr) -> bool:
        """Is this the name of a package that is not of the tree (``torch.ops``), bound by imports alone?"""
        if not isinstance(node, ast.Name):
            return False
        sources = {target.partition(".")[0] for target, _, bound, _ in file.aliases if bound == node.id}
        stored = any(
            isinstance(use.ctx, ast.Store)
            for use in ast.walk(file.tree)
            if isinstance(use, ast.Name) and use.id == node.id
        )
        return bool(sources) and not stored and sources.isdisjoint(name.partition(".")[0] for name in self.files)

    def _asked(self, file: File, node: ast.AST, name: str) -> bool:
        """Is this read of the module more than a read of another attribute of it, or a store into one?"""
        if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            return False
        parent = file.parents.get(node)
        if isinstance(parent, ast.Attribute):
            return parent.attr in (name, "__dict__")
        if isinstance(parent, ast.Compare) and all(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops):
            return False  # which object it is, and nothing of it
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ASKING:
            asked = parent.args[1] if len(parent.args) > 1 and parent.args[0] is node else None
            if isinstance(asked, ast.Constant):
                return bool(asked.value == name)
            return asked is None or self.said.name(name)  # getattr(module, self.kind): what some text says
        return True


def _in_function(file: File, node: ast.AST) -> bool:
    while node in file.parents:
        node = file.parents[node]
        if isinstance(node, FUNCTIONS):
            return True
    return False


def _in_class(file: File, node: ast.AST) -> bool:
    while node in file.parents and not isinstance(node, FUNCTIONS):
        node = file.parents[node]
        if isinstance(node, ast.ClassDef):
            return True
    return False


def _given(file: File, node: ast.AST, givers: set[str]) -> bool:
    """``return module`` in a function: what calls of it are asked for is looked at."""
    parent = file.parents.get(node)
    if not isinstance(parent, ast.Return):
        return False
    while parent in file.parents:
        parent = file.parents[parent]
        if isinstance(parent, FUNCTIONS):
            if parent.decorator_list and any(
                ast.unparse(d).partition("(")[0] not in MEMORY for d in parent.decorator_list
            ):
                return False
            givers.add(parent.name)
            return True
    return False
