"""Names that a file stores into its own module's dictionary, written out: ``globals().update(FLAG=True)`` and its like.

Blind to computed names, and to the dictionary where it has another name.
"""

from __future__ import annotations

import ast
import re

from pruner.verify.nodes import walk

# A dictionary is called for, or `modules[...]`; "execute", `nn.modules` and the like are in every third file.
_SIGNS = re.compile(rb"\b(?:globals|vars|locals|exec)\b|\bmodules\s*[\[#\\]")
_NAMES = re.compile(r"[^\W\d]\w*")
_KEYED = frozenset({"setdefault", "pop", "__setitem__", "__delitem__"})


def in_dictionary(tree: ast.Module, data: bytes) -> frozenset[str]:
    """All of them, in functions and classes as well."""
    if _SIGNS.search(data) is None:
        return frozenset()
    found: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and _dictionary(node.value):
            found |= _text(node.slice)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and _module(node.value):
            found.add(node.attr)
        elif isinstance(node, ast.Call):
            found |= _called(node)
    return frozenset(found)


def _called(node: ast.Call) -> set[str]:
    func = node.func
    if (
        isinstance(func, ast.Name)
        and func.id in ("setattr", "delattr")
        and len(node.args) > 1
        and _module(node.args[0])
    ):
        return _text(node.args[1])
    if isinstance(func, ast.Name) and func.id == "exec" and node.args:
        return {word for text in _text(node.args[0]) for word in _NAMES.findall(text)}
    if not isinstance(func, ast.Attribute) or not _dictionary(func.value):
        return set()
    if func.attr in _KEYED and node.args:
        return _text(node.args[0])
    found: set[str] = set()
    if func.attr == "update":
        found |= {keyword.arg for keyword in node.keywords if keyword.arg is not None}
        for argument in node.args:
            keys = argument.keys if isinstance(argument, ast.Dict) else ()
            pairs = argument.elts if isinstance(argument, ast.List | ast.Tuple) else ()
            firsts = [pair.elts[0] for pair in pairs if isinstance(pair, ast.Tuple | ast.List) and pair.elts]
            for key in (*keys, *firsts):
                found |= _text(key)
    return found


def _text(node: ast.expr | None) -> set[str]:
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def _dictionary(node: ast.expr) -> bool:
    """``globals()``, ``vars()``, ``sys.modules[__name__].__dict__``."""
    if isinstance(node, ast.Attribute):
        return node.attr == "__dict__" and _module(node.value)
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args
    return named and node.func.id in ("globals", "vars", "locals")  # type: ignore[attr-defined]


def _module(node: ast.expr) -> bool:
    """``sys.modules[__name__]``."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Name) or node.slice.id != "__name__":
        return False
    table = node.value
    return (table.attr if isinstance(table, ast.Attribute) else getattr(table, "id", "")) == "modules"
