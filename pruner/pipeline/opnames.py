"""Which operations of a PyTorch library kept text names.

Named is ``torch.ops.LIBRARY.name``, a string with ``LIBRARY::name``, and a constant that ``getattr`` or ``hasattr`` takes
from the library. Where the library is used in another way (an object that is handed on, a built name), every word of
kept Python counts. Blind to names that come from outside the tree.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

_WORD = re.compile(r"[A-Za-z_]\w*")
_GETTERS = ("getattr", "hasattr")


@dataclass(slots=True)
class Named:
    """Operations by name, each with a place that names it; ``open``: a place that may ask for any."""

    places: dict[str, str] = field(default_factory=dict)
    open: str = ""


def named(library: str, python: Mapping[str, bytes], others: Mapping[str, bytes]) -> Named:
    """What ``python`` and ``others`` (sources of other languages) name; both map a path to kept text."""
    found = Named()
    raw = re.compile(re.escape(library).encode() + rb"\s*::\s*(\w+)")
    for path, data in sorted(others.items()):
        for match in raw.finditer(data):
            found.places.setdefault(match[1].decode(), f"{path}:{data.count(10, 0, match.start()) + 1}")
    trees = {path: _parse(data) for path, data in sorted(python.items()) if library.encode() in data}
    for path, tree in trees.items():
        if tree is None:
            for word in _WORD.findall(python[path].decode("utf-8", "replace")):
                found.places.setdefault(word, f"{path}:1")
        else:
            _Reader(library, path, found).read(tree)
    # `getattr(torch.ops, name)` elsewhere may give the library without spelling it.
    for path, data in sorted(python.items()):
        if not found.open and path not in trees and b"ops" in data and b"getattr" in data:
            tree = _parse(data)
            if tree is not None:
                _Reader(library, path, found).read(tree)
    if found.open:
        for path, data in sorted(python.items()):
            for word in _words(data):
                found.places.setdefault(word, f"{path}:1")
    return found


def _parse(data: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _words(data: bytes) -> Iterable[str]:
    return set(_WORD.findall(data.decode("utf-8", "replace")))


class _Reader:
    def __init__(self, library: str, path: str, found: Named) -> None:
        self.library, self.path, self.found = library, path, found
        self.text = re.compile(re.escape(library) + r"\s*::\s*(\w*)")

    def name(self, operation: str, node: ast.AST) -> None:
        self.found.places.setdefault(operation, f"{self.path}:{getattr(node, 'lineno', 1)}")

    def any(self, node: ast.AST) -> None:
        self.found.open = self.found.open or f"{self.path}:{getattr(node, 'lineno', 1)}"

    def read(self, tree: ast.AST) -> None:
        """Look at every node below; ``taken`` are those that their parent accounts for."""
        taken: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and self._is_library(node.value):
                taken.add(id(node.value))
                self.name(node.attr, node)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _GETTERS:
                self._getter(node, taken)
            elif isinstance(node, ast.JoinedStr):
                self._built(node)
            elif isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant):
                if isinstance(node.left.value, str) and node.left.value.rstrip().endswith(f"{self.library}::"):
                    self.any(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                for match in self.text.finditer(node.value):
                    if match[1]:
                        self.name(match[1], node)
                    else:
                        self.any(node)
        for node in ast.walk(tree):
            if self._is_library(node) and id(node) not in taken:
                self.any(node)
            if isinstance(node, ast.ImportFrom) and node.module == "torch.ops":
                self.any(node)

    def _is_library(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and node.attr == self.library and _is_ops(node.value)

    def _getter(self, node: ast.Call, taken: set[int]) -> None:
        if len(node.args) < 2:
            return
        given = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
        if self._is_library(node.args[0]):
            taken.add(id(node.args[0]))
            if isinstance(given, str):
                self.name(given, node)
            else:
                self.any(node)
        elif _is_ops(node.args[0]) and node.func.id == "getattr" and given in (None, self.library):  # type: ignore[attr-defined]
            self.any(node)

    def _built(self, node: ast.JoinedStr) -> None:
        for part, after in zip(node.values, [*node.values[1:], None], strict=True):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and after is not None:
                match = re.search(re.escape(self.library) + r"\s*::\s*\w*\Z", part.value)
                if match:
                    self.any(node)


def _is_ops(node: ast.AST) -> bool:
    """``torch.ops``, or a name that ends so."""
    return (isinstance(node, ast.Attribute) and node.attr == "ops") or (isinstance(node, ast.Name) and node.id == "ops")
