"""Loops over names of the module that put each in the place of itself, wrapped.

``for n in NAMES: if n in globals(): globals()[n] = wrap(globals()[n], ...)`` asks for a name only to bind it again, and
passes over one that is not there. Any other use of ``globals`` may be of any name.
Blind to what ``wrap`` does with what it is given: a ``pure`` rule must say that this is nothing.
"""

from __future__ import annotations

import ast

from pruner.verify.built import chain_text


def rebinding(loop: ast.For) -> tuple[str, list[ast.Call], list[ast.JoinedStr]] | None:
    """Of such a loop: the wrapping function, the calls of ``globals``, strings built of the name; None for any other.

    Such a string is built for names that are there, so it asks for none that is gone.
    """
    match loop:
        case ast.For(
            target=ast.Name(id=name),
            body=[
                ast.If(
                    test=ast.Compare(left=ast.Name(id=asked), ops=[ast.In()], comparators=[first]),
                    body=[ast.Assign(targets=[ast.Subscript(value=second, slice=ast.Name(id=stored))], value=value)],
                    orelse=[],
                )
            ],
            orelse=[],
        ) if isinstance(value, ast.Call) and value.args:
            wrapped = value.args[0]
            if not isinstance(wrapped, ast.Subscript) or not isinstance(wrapped.slice, ast.Name):
                return None
            calls = [c for c in (first, second, wrapped.value) if isinstance(c, ast.Call) and _is_globals(c)]
            named = [n for n in ast.walk(loop) if isinstance(n, ast.Name) and n.id == "globals"]
            same = {name, asked, stored, wrapped.slice.id} == {name}
            function = chain_text(value.func)
            if same and len(calls) == len(named) == 3 and function:
                given = [*value.args, *(keyword.value for keyword in value.keywords)]
                return function, calls, [a for a in given if isinstance(a, ast.JoinedStr) and _of(a, name)]
    return None


def _is_globals(node: ast.Call) -> bool:
    return chain_text(node.func) == "globals" and not node.args and not node.keywords


def _of(text: ast.JoinedStr, name: str) -> bool:
    parts = [part.value for part in text.values if isinstance(part, ast.FormattedValue)]
    return all(isinstance(part, ast.Name) and part.id == name for part in parts)
