"""Files newer than the running Python: LibCST reads what ``ast`` cannot.

Such a file is never edited; what it imports and names is kept.
"""

from __future__ import annotations

import libcst as cst


class Imports(cst.CSTVisitor):
    """Imports, top-level names and strings of a module, conservatively."""

    def __init__(self) -> None:
        self.imports: list[tuple[str, int, tuple[tuple[str, str | None], ...]]] = []
        self.names: list[str] = []
        self.texts: list[str] = []
        self.chains: set[tuple[str, ...]] = set()  # what is read: ("np", "array"), or ("", "attr") of anything else
        self._depth = 0

    def visit_Import(self, node: cst.Import) -> bool:
        """``import a.b as c``."""
        for alias in node.names:
            name = _dotted(alias.name)
            self.imports.append(("", -1, ((name, _asname(alias)),)))
        return False

    def visit_ImportFrom(self, node: cst.ImportFrom) -> bool:
        """``from .a import b``."""
        module = _dotted(node.module) if node.module is not None else ""
        if isinstance(node.names, cst.ImportStar):
            aliases: tuple[tuple[str, str | None], ...] = (("*", None),)
        else:
            aliases = tuple((_dotted(a.name), _asname(a)) for a in node.names)
        self.imports.append((module, len(node.relative), aliases))
        return False

    def visit_Attribute(self, node: cst.Attribute) -> bool:
        """``a.b.c``, read from a name or from anything else."""
        dotted = _dotted(node)
        if dotted.startswith(".") or ".." in dotted:
            self.chains.add(("", node.attr.value))
            return True
        self.chains.add(tuple(dotted.split(".")))
        return False

    def visit_Name(self, node: cst.Name) -> None:
        """A name, wherever it stands."""
        self.chains.add((node.value,))

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        """Top-level functions."""
        if not self._depth:
            self.names.append(node.name.value)
        self._depth += 1

    def leave_FunctionDef(self, original_node: cst.FunctionDef) -> None:
        """Leave a function."""
        self._depth -= 1

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        """Top-level classes."""
        if not self._depth:
            self.names.append(node.name.value)
        self._depth += 1

    def leave_ClassDef(self, original_node: cst.ClassDef) -> None:
        """Leave a class."""
        self._depth -= 1

    def visit_AssignTarget(self, node: cst.AssignTarget) -> None:
        """Top-level variables."""
        if not self._depth and isinstance(node.target, cst.Name):
            self.names.append(node.target.value)

    def visit_TypeAlias(self, node: cst.TypeAlias) -> None:
        """``type X = ...``."""
        if not self._depth:
            self.names.append(node.name.value)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        """String constants."""
        value = node.evaluated_value
        if isinstance(value, str):
            self.texts.append(value)


def read(data: bytes) -> Imports:
    """Read a file. Raises ``libcst.ParserSyntaxError`` when LibCST cannot either."""
    visitor = Imports()
    cst.parse_module(data).visit(visitor)
    return visitor


def _dotted(node: cst.BaseExpression) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def _asname(alias: cst.ImportAlias) -> str | None:
    return alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else None
