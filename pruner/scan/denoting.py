"""What an expression of a file denotes, as far as classes go: one of some classes, or a class that nobody knows.

Blind to: what comes out of containers and calls, but for ``type(x)`` and ``getattr`` with a plain name.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from pruner.scan.stores import chain

KNOWN, MINE, UNKNOWN, OTHER = "known", "mine", "unknown", "other"
OURS = (KNOWN, MINE)
_MARKS = (
    b"replace evolve assoc copy _make __class__ type( cls super __init__ __new__ classmethod __subclasses__ namedtuple"
    b" make_dataclass add_argument create_model make_class defstruct new_class getattr( globals() __call__"
).split()
_HOLDS = re.compile(rb"(\w+)\s*:?=[\s\\(]*(?:[\w.\[\]()]*\.)?$")  # kind = type(x), kind = x.__class__, kind = cls


def _places(data: bytes, words: Iterable[bytes]) -> Iterator[int]:
    """Where the words stand. One expression of all of them takes ten times as long."""
    for word in words:
        at = data.find(word)
        while at >= 0:
            yield at
            at = data.find(word, at + len(word))


class Denoting:
    """Names of classes, and what the locals and first parameters around a place hold."""

    def __init__(self, data: bytes, names: frozenset[str], own: frozenset[str], more: Iterable[str]) -> None:
        """``own``: classes in whose methods ``cls`` may be one of ``names``; ``more``: further words that matter."""
        self.names, self.own = names, own
        self.classes: list[str] = []
        self.first: tuple[str, bool] = ("", False)  # the method's first parameter; is it the class?
        self.holding: dict[str, str] = {}  # local name -> what class it holds
        self.everything = False  # in a method whose first parameter is a class under another name than ``cls``
        self.starts = [0]
        for line in data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        if data.startswith(b"\xef\xbb\xbf"):
            self.starts[0] = 3
        known = (_HOLDS.search(data, max(0, at - 200), at) for at in _places(data, (b"__class__", b"type(", b"cls")))
        held = {found[1] for found in known if found is not None}
        self.held = {name.decode() for name in held}
        said = {word.encode() for word in (*names, *more)}
        # The lines that say something of it: a statement without one is not looked at.
        self.lines = sorted({bisect_right(self.starts, at) for at in _places(data, {*_MARKS, *held, *said})})

    def marked(self, node: ast.stmt) -> bool:
        """Is there a line in the statement that says something of it?"""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        at = bisect_left(self.lines, first)
        return self.everything or (at < len(self.lines) and self.lines[at] <= (node.end_lineno or node.lineno))

    def denotes(self, node: ast.expr) -> str:
        """Is the value of an expression one of the classes, or a class that nobody knows? "" when it is none."""
        if isinstance(node, ast.Name):
            if node.id in self.names:
                return KNOWN
            if node.id in self.holding:
                return self.holding[node.id]
            return self._mine() if self.first == (node.id, True) or node.id == "__class__" else ""
        if isinstance(node, ast.Attribute):
            if node.attr in self.names:
                return KNOWN
            return self._class_of(node.value) if node.attr == "__class__" else ""
        if isinstance(node, ast.Call):
            names = chain(node.func)
            if names == ("type",) and len(node.args) == 1 and not node.keywords:
                return self._class_of(node.args[0])
            if names == ("getattr",) and len(node.args) > 1:
                return self._attribute_of(node.args[0], node.args[1])
            return ""
        if isinstance(node, ast.Subscript):
            key = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if isinstance(key, str) and key in self.names:
                return KNOWN
            table = isinstance(node.value, ast.Call) and chain(node.value.func) in (("globals",), ("vars",))
            return UNKNOWN if table and not isinstance(node.slice, ast.Constant) else self.denotes(node.value)
        if isinstance(node, ast.IfExp):
            return self.denotes(node.body) or self.denotes(node.orelse)
        if isinstance(node, ast.BoolOp):
            return next((kind for part in node.values if (kind := self.denotes(part))), "")
        return self.denotes(node.value) if isinstance(node, ast.NamedExpr) else ""

    def _attribute_of(self, base: ast.expr, name: ast.expr) -> str:
        """``getattr(module, name)``: any class, when the name is computed and the object is a module."""
        if isinstance(name, ast.Constant):
            return KNOWN if name.value in self.names else ""
        loaded = isinstance(base, ast.Call) and chain(base)[-1:] == ("import_module",)
        return UNKNOWN if loaded or (isinstance(base, ast.Name) and self.home(base.id) is not None) else ""

    def home(self, name: str) -> str | None:
        """The first name of the module that a name is imported from; None for none."""
        raise NotImplementedError

    def _mine(self) -> str:
        return MINE if self.classes and self.classes[-1] in self.own else OTHER

    def _class_of(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name) and self.classes and node.id == self.first[0]:
            return OTHER if self.first[1] else self._mine()
        return "" if self.denotes(node) else UNKNOWN  # the type of a class is no class of ours
