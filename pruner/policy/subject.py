"""Subjects of facts: chains such as ``pkg.mod.f('X').attr``, in one spelling.

Grammar (a subset of a Python expression)::

    subject  = probe | chain
    probe    = hasattr(chain, 'name')
    chain    = name | chain.name | chain(const, ..., key=const) | chain(...) | chain[const]

``chain(...)``, three dots as Python's Ellipsis, is the call with any arguments. A chain needs a
module, so a bare name or a call of one says nothing. ``getattr(c, 'x'[, d])`` is read as ``c.x``.
``macro:NAME`` is a macro of the C preprocessor.
"""

from __future__ import annotations

import ast
import re


def normalise(text: str) -> tuple[str | None, str]:
    """(the subject in its one spelling, "") or (None, what is wrong with it)."""
    if re.fullmatch(r"macro:[A-Za-z_]\w*", text.strip()):  # of the C preprocessor; null is "not defined"
        return text.strip(), ""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None, f"{text!r} is not a Python expression"
    if _is_call_of(tree, "hasattr"):
        assert isinstance(tree, ast.Call)
        if len(tree.args) != 2 or tree.keywords or not _is_name_constant(tree.args[1]):
            return None, "hasattr takes a chain and a string that is a name"
        owner, fault = _chain(tree.args[0])
        if owner is None:
            return None, fault
        return ast.unparse(ast.Call(ast.Name("hasattr"), [owner, tree.args[1]], [])), ""
    chain, fault = _chain(tree)
    if chain is None:
        return None, fault
    inner = chain
    while isinstance(inner, ast.Call):
        inner = inner.func
    if isinstance(inner, ast.Name):
        return None, f"{ast.unparse(chain)!r} does not say which module defines {inner.id!r}"
    return ast.unparse(chain), ""


def _chain(node: ast.expr) -> tuple[ast.expr | None, str]:
    """The chain with ``getattr`` calls made attributes, or what is wrong."""
    if isinstance(node, ast.Name):
        return node, ""
    if isinstance(node, ast.Attribute):
        owner, fault = _chain(node.value)
        return (ast.Attribute(owner, node.attr) if owner else None), fault
    if isinstance(node, ast.Subscript):
        owner, fault = _chain(node.value)
        if owner is None:
            return None, fault
        if not _is_constant(node.slice):
            return None, f"the index {ast.unparse(node.slice)!r} is not a constant"
        return ast.Subscript(owner, node.slice), ""
    if not isinstance(node, ast.Call):
        return None, f"{ast.unparse(node)!r} is not a chain of names, attributes and calls"
    if _is_call_of(node, "getattr"):
        if len(node.args) not in (2, 3) or node.keywords or not _is_name_constant(node.args[1]):
            return None, "getattr takes a chain, a string that is a name, and at most a default"
        owner, fault = _chain(node.args[0])
        named = node.args[1]
        assert isinstance(named, ast.Constant)
        return (ast.Attribute(owner, str(named.value)) if owner else None), fault
    owner, fault = _chain(node.func)
    if owner is None:
        return None, fault
    if len(node.args) == 1 and not node.keywords and _is_ellipsis(node.args[0]):
        return ast.Call(owner, node.args, []), ""
    for argument in [*node.args, *(k.value for k in node.keywords)]:
        if not _is_constant(argument):
            return None, f"the argument {ast.unparse(argument)!r} is not a constant"
    if any(k.arg is None for k in node.keywords):
        return None, "'**' is not a constant argument"
    return ast.Call(owner, node.args, node.keywords), ""


def _is_call_of(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | bool | None)


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _is_name_constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()
