"""What tables, registries, enums and walked packages of a tree offer, by key, with the place of each.

Read from ``ast`` alone, once for upstream and once for the output, so that a kept entry can be shown
and a removed one can be told from one that never was. Blind to keys that are computed, and to entries
that another module puts into a table.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from pruner.verify.entries import (
    Entry,
    binds,
    choices,
    definitions,
    keys,
    members,
    names_of,
    own,
    registered,
    statements,
    stored,
    value_for,
)
from pruner.verify.tree import parse_bytes


class Catalogue:
    """Tables of one tree. ``read`` gives a path's bytes, or None when the tree has no such file.

    ``other``: the tree beside it; what has the same bytes there is parsed once. ``truth``: what a test in a module's
    body is for sure; a table that only another platform fills (``if is_npu(): T.update(...)``) offers none of it here.
    ``parse``: gives the syntax tree of a path that there is, where somebody may have it already.
    """

    def __init__(
        self,
        paths: Mapping[str, tuple[str, bool]],
        read: Callable[[str], bytes | None],
        other: Catalogue | None = None,
        truth: Callable[[str, ast.expr], bool | None] | None = None,
        parse: Callable[[str], ast.Module | None] | None = None,
    ) -> None:
        self.paths = paths
        self._read = read
        self._parse = parse or self._parsed
        self._other = other
        self._truth = truth
        self._makers: dict[str, dict[str, set[str]]] = {}
        self._trees: dict[str, ast.Module | None] = {}
        self._entries: dict[str, dict[str, Entry] | None] = {}
        self._offered: dict[tuple[str, str], dict[str, tuple[str, Entry]]] = {}

    def tree(self, module: str) -> ast.Module | None:
        """The syntax tree of a module; None when it is gone or cannot be read."""
        if module not in self._trees:
            data = self._read(self.paths[module][0]) if module in self.paths else None
            if data is not None and self._other is not None and self._other.holds(module, data):
                self._trees[module] = self._other.tree(module)
            else:
                self._trees[module] = self._parse(self.paths[module][0]) if data is not None else None
        return self._trees[module]

    def _parsed(self, path: str) -> ast.Module | None:
        data = self._read(path)
        return parse_bytes(data) if data is not None else None

    def holds(self, module: str, data: bytes) -> bool:
        """Whether this tree's module has these bytes."""
        return module in self.paths and self._read(self.paths[module][0]) == data

    def live(self, module: str, node: ast.AST) -> Iterator[ast.AST]:
        """A node of the module and the statements below it, without those under tests that are decided against."""
        stack: list[ast.AST] = [node]
        while stack:
            part = stack.pop()
            yield part
            value = self._truth(module, part.test) if self._truth is not None and isinstance(part, ast.If) else None
            skipped = {True: "orelse", False: "body", None: ""}[value]
            for field in ("body", "handlers", "orelse", "finalbody", "cases"):
                stack += getattr(part, field, ()) if field != skipped else ()

    def text(self, module: str) -> str:
        """The text of a module; "" when it is gone."""
        data = self._read(self.paths[module][0]) if module in self.paths else None
        return data.decode("utf-8", "replace") if data is not None else ""

    def split(self, dotted: str) -> tuple[str, str]:
        """The longest prefix that is a module of the tree, and the rest."""
        parts = dotted.split(".")
        for cut in range(len(parts), 0, -1):
            if ".".join(parts[:cut]) in self.paths:
                return ".".join(parts[:cut]), ".".join(parts[cut:])
        return "", dotted

    def entries(self, table: str) -> dict[str, Entry] | None:
        """Entries of ``pkg.mod.TABLE``, a registry or an enum by key; None where there is no such thing. Remembered."""
        if table not in self._entries:
            self._entries[table] = self._table(table)
        return self._entries[table]

    def _table(self, table: str) -> dict[str, Entry] | None:
        """Entries of ``pkg.mod.TABLE`` or members of ``pkg.mod.Enum`` by key; None where there is no such thing."""
        module, rest = self.split(table)
        tree = self.tree(module)
        if tree is None or not rest:
            return None
        *outer, name = rest.split(".")
        scope: ast.AST | None = tree
        for part in outer:
            scope = next((n for n in definitions(scope) if n.name == part), None) if scope is not None else None
        if scope is None:
            return None
        path = self.paths[module][0]
        found: dict[str, Entry] = {}
        known = False
        truth = self._truth
        decided = (lambda test: truth(module, test)) if truth is not None and scope is tree else None
        registering: set[str] = set()
        for node in (scope, *own(scope, decided)):
            if isinstance(node, ast.ClassDef) and node.name == name and node is not scope:
                known = True
                found.update(members(path, node))
            for value in (value_for(node, name), choices(node, name)):
                if value is not None:
                    known = True
                    registering |= _methods(value, tree)
                    for key, row, item in keys(value):
                        found.setdefault(key, Entry(path, row, names_of(item), item))
        if known and not isinstance(scope, ast.FunctionDef):
            for key, entry in registered(path, tree, registering | self._storing(module, tree).get(name, set())):
                found.setdefault(key, entry)
        return found if known else None

    def _storing(self, module: str, tree: ast.Module) -> dict[str, set[str]]:
        """Functions of the module that store into a table, by the table's last name. Remembered."""
        found = self._makers.get(module)
        if found is None:
            found = self._makers[module] = {}
            for function in statements(tree):
                if isinstance(function, ast.FunctionDef):
                    for part in statements(function):
                        for table in stored(part):
                            found.setdefault(table, set()).add(function.name)
        return found

    def symbol(self, target: str) -> Entry | None:
        """A definition or binding ``pkg.mod:Class.name`` (or a module ``pkg.mod``), where it stands."""
        module, _, rest = target.partition(":")
        tree = self.tree(module)
        if tree is None:
            return None
        path = self.paths[module][0]
        if not rest:
            return Entry(path, 1)
        scope: ast.AST | None = tree
        parts = rest.split(".")
        for index, part in enumerate(parts):
            node = next((n for n in own(scope) if part in binds(n)), None) if scope is not None else None
            if node is None:
                return None
            if index == len(parts) - 1:
                return Entry(path, getattr(node, "lineno", 1))
            scope = node
        return None

    def literal(self, module: str, text: str) -> Entry | None:
        """The first string literal of a module that is ``text``."""
        tree = self.tree(module)
        rows = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and n.value == text] if tree else []
        return Entry(self.paths[module][0], min(n.lineno for n in rows)) if rows else None

    def _tail(self, module: str, name: str) -> tuple[ast.Module | None, int]:
        """The part of a module from ``name = ...`` on, and the lines above it: models end with their list.

        The whole module where the binding is not at the margin or the part is no program by itself.
        """
        data = self._read(self.paths[module][0])
        if data is None or name.encode() not in data:
            return None, 0
        found = list(re.finditer(rb"^" + name.encode() + rb"\b", data, re.M))
        if len(found) == 1 and module not in self._trees:
            tree = parse_bytes(data[found[0].start() :])
            if tree is not None:
                return tree, data.count(b"\n", 0, found[0].start())
        return self.tree(module), 0

    def offered(self, package: str, attribute: str) -> dict[str, tuple[str, Entry]]:
        """Class names that the modules of a package list in ``attribute``: name -> (module, place). Remembered."""
        if (package, attribute) in self._offered:
            return self._offered[package, attribute]
        found: dict[str, tuple[str, Entry]] = {}
        prefix = f"{package}."
        for module in sorted(self.paths):
            if not module.startswith(prefix) or "." in module[len(prefix) :]:
                continue
            tree, above = self._tail(module, attribute)
            for node in own(tree) if tree is not None else ():
                value = value_for(node, attribute)
                if value is None:
                    continue
                listed = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
                for part in listed:
                    if isinstance(part, ast.Name):
                        found.setdefault(part.id, (module, Entry(self.paths[module][0], above + part.lineno)))
        self._offered[package, attribute] = found
        return found


def _methods(value: ast.expr, tree: ast.Module) -> set[str]:
    """Methods of a class of the module that store into the object, where ``value`` makes one: ``REG = Registry()``."""
    name = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
    found = set()
    for node in definitions(tree) if name else ():
        if isinstance(node, ast.ClassDef) and node.name == name:
            for method in definitions(node):
                places = [t for part in statements(method) if isinstance(part, ast.Assign) for t in part.targets]
                if any(isinstance(t, ast.Subscript) and ast.unparse(t.value).startswith("self") for t in places):
                    found.add(method.name)
    return found
