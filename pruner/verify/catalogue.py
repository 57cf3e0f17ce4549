"""What tables, registries, enums and walked packages of a tree offer, by key, with the place of each.

Read from ``ast`` alone, once for upstream and once for the output, so that a kept entry can be shown
and a removed one can be told from one that never was. Blind to keys that are computed, and to entries
that another module puts into a table.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One key of a table: where it stands and what its value names."""

    path: str
    line: int
    names: frozenset[str] = frozenset()  # names and ``import`` lines are looked up in the same file
    node: ast.AST | None = None


class Catalogue:
    """Tables of one tree. ``read`` gives a path's bytes, or None when the tree has no such file.

    ``other``: the tree beside it; what has the same bytes there is parsed once.
    """

    def __init__(
        self,
        paths: Mapping[str, tuple[str, bool]],
        read: Callable[[str], bytes | None],
        other: Catalogue | None = None,
    ) -> None:
        self.paths = paths
        self._read = read
        self._other = other
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
                self._trees[module] = _parse(data) if data is not None else None
        return self._trees[module]

    def holds(self, module: str, data: bytes) -> bool:
        """Whether this tree's module has these bytes."""
        return module in self.paths and self._read(self.paths[module][0]) == data

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
        for node in _own(scope):
            if isinstance(node, ast.ClassDef) and node.name == name:
                known = True
                found.update(_members(path, node))
            value = _value_for(node, name)
            if value is not None:
                known = True
                for key, row, item in _keys(value):
                    found.setdefault(key, Entry(path, row, _names(item), item))
        if known and not isinstance(scope, ast.FunctionDef):
            registering = self._storing(module, tree).get(name, set())
            for key, entry in _registered(path, tree, registering):
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
                        for table in _stored(part):
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
            node = next((n for n in _own(scope) if part in _binds(n)), None) if scope is not None else None
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
            tree = _parse(data[found[0].start() :])
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
            for node in _own(tree) if tree is not None else ():
                value = _value_for(node, attribute)
                if value is None:
                    continue
                listed = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
                for part in listed:
                    if isinstance(part, ast.Name):
                        found.setdefault(part.id, (module, Entry(self.paths[module][0], above + part.lineno)))
        self._offered[package, attribute] = found
        return found


def _parse(data: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError):
        return None


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """Statements of a scope, those under tests and in try bodies included, nested scopes as one statement."""
    stack: list[ast.AST] = list(reversed(getattr(scope, "body", [])))
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        inner: list[ast.AST] = []
        for field in ("body", "orelse", "finalbody"):
            inner += getattr(node, field, [])
        for handler in getattr(node, "handlers", []):
            inner += handler.body
        stack += reversed(inner)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """A node and the statements below it, at any depth, nearest first: a tenth of what ``ast.walk`` visits."""
    queue = deque([node])
    while queue:
        part = queue.popleft()
        yield part
        for field in ("body", "handlers", "orelse", "finalbody", "cases"):
            queue.extend(getattr(part, field, ()))


def definitions(scope: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Functions and classes of a scope."""
    for node in _own(scope):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node


def _binds(node: ast.AST) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [t.id for t in node.targets if isinstance(t, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _value_for(node: ast.AST, name: str) -> ast.expr | None:
    """What a statement puts into the table: an assignment, ``T += ...``, ``T.update(...)`` and its like."""
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return node.value if _binds(node) == [name] else None
    if isinstance(node, ast.AugAssign):
        return node.value if isinstance(node.target, ast.Name) and node.target.id == name else None
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call) or len(node.value.args) != 1:
        return None
    call = node.value.func
    if not isinstance(call, ast.Attribute) or not isinstance(call.value, ast.Name) or call.value.id != name:
        return None
    if call.attr in ("append", "add"):
        return ast.copy_location(ast.List([node.value.args[0]], ast.Load()), node)
    return node.value.args[0] if call.attr in ("update", "extend") else None


def _keys(value: ast.expr) -> Iterator[tuple[str, int, ast.AST]]:
    if isinstance(value, ast.Dict):
        for key, part in zip(value.keys, value.values, strict=True):
            text = _text(key)
            if text is not None and key is not None:
                yield text, key.lineno, part
    elif isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        for part in value.elts:
            text = _text(part)
            if text is not None:
                yield text, part.lineno, part
    elif isinstance(value, ast.BinOp):
        yield from _keys(value.left)
        yield from _keys(value.right)
    elif isinstance(value, ast.Call) and value.args:
        yield from _keys(value.args[0])  # frozenset({...}), MappingProxyType({...})
    elif isinstance(value, ast.Subscript):
        yield from _keys(value.slice)  # Literal["a", "b"]


def _text(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return ast.unparse(node)
    return None


def _members(path: str, node: ast.ClassDef) -> Iterator[tuple[str, Entry]]:
    """Members of an enum, by value and by name."""
    for item in _own(node):
        for name in _binds(item):
            if isinstance(item, (ast.Assign, ast.AnnAssign)) and not name.startswith("_"):
                yield name, Entry(path, item.lineno)
                if isinstance(item.value, ast.Constant) and isinstance(item.value.value, str):
                    yield item.value.value, Entry(path, item.lineno)


def _registered(path: str, tree: ast.Module, registering: set[str]) -> Iterator[tuple[str, Entry]]:
    """Entries that functions of the module make, called or used as a decorator with a constant key."""
    if not registering:
        return
    for node in statements(tree):
        calls = getattr(node, "decorator_list", [])
        if isinstance(node, ast.Expr):
            calls = [node.value]
        for call in calls:
            if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant):
                name = ast.unparse(call.func).rpartition(".")[2]
                if name in registering:
                    yield str(call.args[0].value), Entry(path, call.lineno, _names(node), node)


def _stored(node: ast.AST) -> Iterator[str]:
    """Last names of the tables that a statement stores into: ``pkg.T[key] = ...``."""
    for target in node.targets if isinstance(node, ast.Assign) else ():
        if isinstance(target, ast.Subscript):
            yield ast.unparse(target.value).rpartition(".")[2]


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
