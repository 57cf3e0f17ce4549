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
        return _run(compile(_idle(one), "<file>", "exec")) == _run(compile(_idle(other), "<file>", "exec"))


def _idle(text: bytes) -> ast.Module:
    """Without each ``pass`` that stands beside another statement: it is an instruction that does nothing."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and (len(body) > 1 or isinstance(node, ast.Module)):
                rest = [item for item in body if not isinstance(item, ast.Pass)]
                setattr(node, name, rest or (body[:1] if not isinstance(node, ast.Module) else []))
    return tree


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
        self.starred: set[str] = set()  # last names of modules of which somebody takes everything
        self.built: set[str] = set()  # patterns of names that are put together: f"run_{kind}", "run_%s" % kind
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
                if any(alias.name == "*" for alias in node.names):
                    self.starred.add((node.module or "").rpartition(".")[2])
            elif isinstance(node, ast.JoinedStr | ast.BinOp):
                self._put_together(node)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not SPACE.search(node.value):
                self.texts.update(WORD.findall(node.value))  # prose names nothing

    def _put_together(self, node: ast.expr) -> None:
        """What an f-string, a sum or ``%`` may give, when its fixed parts are parts of one word."""
        if isinstance(node, ast.JoinedStr):
            parts = [str(p.value) if isinstance(p, ast.Constant) else None for p in node.values]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            ends = (node.left, node.right)
            parts = [e.value if isinstance(e, ast.Constant) and isinstance(e.value, str) else None for e in ends]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
            parts = re.split(r"(%[sdr])", node.left.value) if isinstance(node.left.value, str) else []
            parts = [None if part in ("%s", "%d", "%r") else part for part in parts]
        else:
            return
        fixed = "".join(part or "" for part in parts)
        if None in parts and len(fixed) > 1 and re.fullmatch(r"\w+", fixed):
            self.built.add("".join(r"\w*" if part is None else part for part in parts))

    def _fits(self, name: str) -> bool:
        """May code put the name together?"""
        return any(re.fullmatch(pattern, name) for pattern in self.built)

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
            name in self.attributes
            or name in self.texts
            or f"{module.rpartition('.')[2]}.{name}" in self.imported
            or (module.rpartition(".")[2] in self.starred and not name.startswith("_"))
            or self._fits(name)
            for module, lost in names.items()
            for name in lost
        )

    def asked(self, name: str) -> bool:
        """Could anything ask for a method of this name: an attribute, a text that holds or begins or ends it, code outside?"""
        if name in self.attributes or name in self.texts or any(name in outside.names(group) for group in GROUPS):
            return True
        if self._fits(name):
            return True
        cuts = [index for index, letter in enumerate(name) if letter == "_"]
        return any(name[: cut + 1] in self.texts or name[cut:] in self.texts for cut in cuts if cut)
