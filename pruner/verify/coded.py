"""Words of text that Python reads: code for ``eval`` and ``exec``, fields of formats, paths of files to load.

Blind to text whose fixed parts stand in another file than the call, unless they are whole words.
"""

from __future__ import annotations

import ast
import re

RUN = frozenset({"eval", "exec"})
LOADERS = frozenset({"spec_from_file_location", "SourceFileLoader", "run_path", "load_source", "exec"})
LISTS = frozenset({"dir", "getmembers", "getmembers_static", "classify_class_attrs"})
_FIELD = re.compile(r"\{\w*((?:\.\w+|\[[^\]{}]*\])+)")
_HOLE = re.compile(r"\{[^{}]*\}|%[-+ #0-9.]*[a-zA-Z]")
_WORD = re.compile(r"[^\W\d]\w*")


def fields(text: str) -> list[str]:
    """Attributes that the fields of a format read."""
    return [name for field in _FIELD.findall(text) for name in re.findall(r"\.([^\W\d]\w*)", field)]


def filled(text: str) -> str:
    """A regular expression for what a format gives."""
    return ".*".join(re.escape(piece) for piece in _HOLE.split(text))


def holds(text: str) -> bool:
    """Is something of the text left to be filled in?"""
    return _HOLE.search(text) is not None


def words(text: str) -> list[str]:
    """The identifiers in a text."""
    return _WORD.findall(text)


def shapes(pattern: str) -> list[str]:
    """Patterns of the names in a built text, where three letters of the name are fixed and other parts are not."""
    plain = re.sub(r"(?:\.\*)+", ".*", re.sub(r"\\.", " ", pattern))
    found = re.findall(r"(?:\w|\.\*)+", plain)
    return [part for part in found if ".*" in part and re.search(r"[^\W\d_]{3}", part)]


def closed(call: ast.Call) -> bool:
    """Does a call of ``eval`` hand over the names among which its code runs, not those of a module?"""
    given = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
    inner = [node for part in given for node in ast.walk(part)]
    return bool(given) and not any(
        (isinstance(node, ast.Name) and node.id in ("globals", "locals", "vars"))
        or (isinstance(node, ast.Attribute) and node.attr in ("__dict__", "__globals__"))
        for node in inner
    )


def written(call: ast.Call) -> bool:
    """Is the code that runs written in the call?"""
    return bool(call.args) and isinstance(call.args[0], ast.Constant)


def own_class(node: ast.expr) -> bool:
    """``type(self)``, ``self.__class__``, ``cls``."""
    if isinstance(node, ast.Call):
        return (
            isinstance(node.func, ast.Name) and node.func.id == "type" and len(node.args) == 1 and _self(node.args[0])
        )
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__" and _self(node.value)
    return isinstance(node, ast.Name) and node.id == "cls"


def _self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def asked_of(node: ast.ClassDef) -> tuple[bool, set[str]] | None:
    """Of a protocol: whether ``isinstance`` may be asked of it, and the names that its body binds; None for others."""
    heads = [part for base in node.bases for part in ast.walk(base)]
    if not any(getattr(part, "id", getattr(part, "attr", "")) == "Protocol" for part in heads):
        return None
    marks = [getattr(mark, "id", getattr(mark, "attr", "")) for mark in node.decorator_list]
    names: set[str] = set()
    stack: list[ast.stmt] = list(node.body)
    while stack:
        item = stack.pop()
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(item.name)
        elif isinstance(item, ast.AnnAssign):
            names.update(part.id for part in (item.target,) if isinstance(part, ast.Name))
        elif isinstance(item, ast.Assign):
            names.update(part.id for part in item.targets if isinstance(part, ast.Name))
        elif isinstance(item, ast.If):
            stack += [*item.body, *item.orelse]
    return "runtime_checkable" in marks or "runtime" in marks, names
