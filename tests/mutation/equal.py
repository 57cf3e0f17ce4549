"""What is no fault: another text that runs as the same, a name gone that nobody could read."""

from __future__ import annotations

import ast
import contextlib
import re
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import CodeType
from typing import Any

from pruner.model import outside

SPACE = re.compile(r"\s")
WORD = re.compile(r"[A-Za-z_]\w*")


def same(one: bytes, other: bytes) -> bool:
    """Do two files run as the same byte code? A ``return`` at the end of a function does nothing. Raises SyntaxError."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _run(compile(one, "<file>", "exec")) == _run(compile(other, "<file>", "exec"))


def _run(code: CodeType) -> tuple[Any, ...]:
    """What runs of a code object: all but places."""
    constants = tuple(_run(c) if isinstance(c, CodeType) else (type(c), repr(c)) for c in code.co_consts)
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return (
        code.co_name,
        *shape,
        code.co_code,
        constants,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_exceptiontable,
    )


def other(text: bytes, kept: bytes | None) -> bool:
    """Does it run as something else? A file that does not compile does."""
    if kept is None or text == kept:
        return text != kept
    try:
        return not same(text, kept)
    except SyntaxError:
        return True


GROUPS = (outside.INTERPRETER, outside.LIBRARY, outside.PACKAGES)


class Readers:
    """Who could read a global of a module from outside: by attribute, import or a text that holds the name.

    Marking keeps more than is read (a module that is handed around keeps what any attribute is called). What nobody
    could read is no fault when it goes, so such an overlooked edge is not planted.
    """

    def __init__(self, output: Path) -> None:
        self.attributes: set[str] = set()
        self.imported: set[str] = set()
        self.texts: set[str] = set()
        for path in sorted(output.rglob("*.py")):
            with contextlib.suppress(SyntaxError):
                self._read(ast.parse(path.read_bytes()))

    def _read(self, tree: ast.Module) -> None:
        bound = {a.asname or a.name for n in tree.body if isinstance(n, ast.Import) for a in n.names}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                # `contextlib.contextmanager` reads a name of contextlib, and of nothing else.
                if not (isinstance(node.value, ast.Name) and node.value.id in bound & sys.stdlib_module_names):
                    self.attributes.add(node.attr)
            elif isinstance(node, ast.ImportFrom):
                self.imported |= {f"{(node.module or '').rpartition('.')[2]}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not SPACE.search(node.value):
                self.texts.update(WORD.findall(node.value))  # prose names nothing

    def harmless(self, changes: Sequence[tuple[str, bytes | None]], names: dict[str, set[str]]) -> bool:
        """Do only names go that no other file could ask for, and that their own file no longer reads?"""
        if any(text is None for _, text in changes):
            return False
        for _, text in changes:
            try:
                read = {n.id for n in ast.walk(ast.parse(text or b"")) if isinstance(n, ast.Name)}
            except SyntaxError:
                return False
            if read & set().union(*names.values()):
                return False
        return not any(
            name in self.attributes or name in self.texts or f"{module.rpartition('.')[2]}.{name}" in self.imported
            for module, lost in names.items()
            for name in lost
        )

    def asked(self, name: str) -> bool:
        """Could anything ask for a method of this name: an attribute, a text that holds or begins or ends it, code outside?"""
        if name in self.attributes or name in self.texts or any(name in outside.names(group) for group in GROUPS):
            return True
        cuts = [index for index, letter in enumerate(name) if letter == "_"]
        return any(name[: cut + 1] in self.texts or name[cut:] in self.texts for cut in cuts if cut)
