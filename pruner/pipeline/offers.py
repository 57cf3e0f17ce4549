"""What a user can ask of a tree: command-line options and their choices, routes, models, entries of tables.

Read by regular expressions, and by ``ast`` where a plain search finds a table or a declared option. Each offer comes
with the modules that make it, so that an option of a removed program is not taken for a kept program's.

Blind to: options and routes whose names are put together at run time, and choices that a call computes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_ROUTE = re.compile(rb"^\s*@\w+\.(?:get|post|put|delete|patch|api_route|websocket)\(\s*[\"'](/[^\"']*)", re.MULTILINE)
_OPTION = re.compile(rb"add_argument\(\s*((?:[\"']--?[a-zA-Z][\w-]*[\"'],?\s*)+)")
_LONG = re.compile(rb"--[a-z][\w-]*")
_MODEL = re.compile(rb"^EntryClass\b[^=\n]*=\s*(\[[^\]]*\]|\w+)", re.MULTILINE)
_TABLES = ("CHOICES", "BACKENDS", "METHODS", "REGISTRY", "ALGORITHMS", "FORMATS")
_TABLE = re.compile(rb"^[A-Z_]*(?:%b)[A-Z_]*\b[^=\n]*=" % "|".join(_TABLES).encode(), re.MULTILINE)
_NAMED = tuple(word.encode() for word in _TABLES)
# It begins with the line feed before it: a plain start is searched for ten times as fast as the start of a line.
_FIELD = re.compile(rb"\n    \w+: \w+\[\s*[\w\[\], .]+,\s*(?:\w*Arg\(|[\"'])")
_COPIES = ("set", "frozenset", "list", "tuple", "sorted", "dict")


Rows = list[tuple[str, str, str]]  # what one file offers; see Offers.add


class Offers:
    """The offers of one tree, file by file. ``kinds`` gives kind → name → modules, sorted."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, set[str]]] = {}
        self._tables: dict[str, dict[str, set[str]]] = {}  # table → key → modules
        self._copies: dict[str, set[str]] = {}  # table → tables whose entries it takes
        self._bound: dict[str, set[str]] = {}  # option → tables that hold its choices
        self._fields: list[tuple[str, str, str]] = []  # (name of Annotated, option, module): "help" and no more
        self._aliases = {"Annotated"}  # names of it: those that some field of the tree gives an `Arg(...)`

    def add(self, rows: Rows, module: str) -> None:
        """Take what :func:`offered` found in a file of this module."""
        for what, name, other in rows:
            if what == "table":
                self._tables.setdefault(name, {}).setdefault(other, set()).add(module)
            elif what == "copy":
                self._copies.setdefault(name, set()).add(other)
            elif what == "bound":
                self._bound.setdefault(name, set()).add(other)
            elif what == "field":
                self._fields.append((name, other, module))
            elif what == "alias":
                self._aliases.add(name)
            else:
                self._add(what, name, module)

    def kinds(self) -> dict[str, dict[str, list[str]]]:
        """kind → name → modules. A table that holds an option's choices appears as ``--option[key]``."""
        for alias, name, module in self._fields:
            if alias in self._aliases:
                self._add("option", name, module)
        every = {kind: dict(rows) for kind, rows in self._found.items()}
        choices = every.setdefault("choice", {})
        taken = set()
        for option, tables in sorted(self._bound.items()):
            for table in tables:
                taken |= self._sources(table)
                for name in self._sources(table):
                    for key, modules in self._tables.get(name, {}).items():
                        choices[f"{option}[{key}]"] = choices.get(f"{option}[{key}]", set()) | modules
        for table, rows in self._tables.items():
            for key, modules in rows.items() if table not in taken else ():
                choices[f"{table}[{key}]"] = choices.get(f"{table}[{key}]", set()) | modules
        return {
            kind: {name: sorted(modules) for name, modules in sorted(rows.items())}
            for kind, rows in sorted(every.items())
            if rows
        }

    def _sources(self, table: str) -> set[str]:
        found, pending = set(), [table]
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += self._copies.get(name, ())
        return found

    def _add(self, kind: str, name: str, module: str) -> None:
        self._found.setdefault(kind, {}).setdefault(name, set()).add(module)


def offered(data: bytes) -> Rows:
    """Read one file."""
    rows: Rows = []
    if b"add_argument" in data:
        for found in _OPTION.finditer(data):
            rows += [("option", name.decode(), "") for name in _LONG.findall(found[1])]
    if b"@app." in data or b"@router." in data:
        rows += [("route", found[1].decode(), "") for found in _ROUTE.finditer(data)]
    if b"EntryClass" in data:
        for found in _MODEL.finditer(data):
            rows += [("model", name.decode(), "") for name in re.findall(rb"[A-Za-z]\w+", found[1])]
    # What a plain search rules out needs no regular expression: these two cost more than all others.
    if (any(word in data for word in _NAMED) and _TABLE.search(data)) or _FIELD.search(data):
        rows += _parsed(data)
    return rows


def _parsed(data: bytes) -> Iterator[tuple[str, str, str]]:
    """Tables of the module's body, and the fields that declare options."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for alias, names, call in _options(node):
                if call is None:
                    yield "field", alias, names[0]
                    continue
                yield "alias", alias, ""
                choices = call.get("choices")
                for name in names:
                    yield "option", name, ""
                if isinstance(choices, ast.Name):
                    yield "bound", names[0], choices.id
                for key in _keys(choices):
                    yield "choice", f"{names[0]}[{key}]", ""
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if not isinstance(target, ast.Name) or not _TABLE.match(f"{target.id} =".encode()):
            continue
        while isinstance(value, ast.Call) and len(value.args) == 1 and _last(value.func) in _COPIES:
            value = value.args[0]
        if isinstance(value, ast.Name):
            yield "copy", target.id, value.id
        for key in _keys(value):
            yield "table", target.id, key


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _keys(node: ast.AST | None) -> Iterator[str]:
    for key in node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ()):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key.value


def _options(node: ast.ClassDef) -> Iterator[tuple[str, list[str], dict[str | None, ast.expr] | None]]:
    """(what ``Annotated`` is called, spellings, keywords of the ``Arg``) of each field that declares an option.

    ``name: Annotated[type, Arg(...)]``, or ``name: A[type, "help"]``, for which there are no keywords.
    """
    for item in node.body:
        if not (
            isinstance(item, ast.AnnAssign)
            and isinstance(item.target, ast.Name)
            and isinstance(item.annotation, ast.Subscript)
            and isinstance(item.annotation.value, ast.Name)
            and isinstance(item.annotation.slice, ast.Tuple)
        ):
            continue
        alias, parts = item.annotation.value.id, item.annotation.slice.elts[1:]
        spelt = f"--{item.target.id.replace('_', '-')}"
        call = next((p for p in parts if isinstance(p, ast.Call) and _last(p.func) == "Arg"), None)
        if call is None:
            if parts and isinstance(parts[0], ast.Constant) and isinstance(parts[0].value, str):
                yield alias, [spelt], None
            continue
        given = {word.arg: word.value for word in call.keywords}
        hidden, own = given.get("no_cli"), given.get("cli_name")
        if not (isinstance(hidden, ast.Constant) and hidden.value):
            first = str(own.value) if isinstance(own, ast.Constant) else spelt
            yield alias, [first, *_keys(given.get("aliases"))], given
