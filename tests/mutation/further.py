"""More kinds of wrong prunings of one file: parts of expressions, of classes, and of blocks that leave a statement behind."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import pairwise

from tests.mutation.source import FUNCTIONS, Source, Span

Places = Iterator[tuple[int, str, Span]]


def choice(source: Source) -> Places:
    """A conditional expression is decided."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.IfExp):
            yield node.lineno, "yes", (*source.span(node), source.text(node.body))
            yield node.lineno, "no", (*source.span(node), source.text(node.orelse))


def condition(source: Source) -> Places:
    """The condition of a comprehension is decided."""
    for node in ast.walk(source.tree):
        for part in node.ifs if isinstance(node, ast.comprehension) else ():
            yield part.lineno, "yes", (*source.span(part), b"True")
            yield part.lineno, "no", (*source.span(part), b"False")


def arm(source: Source) -> Places:
    """A case of a ``match`` is gone, or what else it asks."""
    for node in ast.walk(source.tree):
        for case in node.cases if isinstance(node, ast.Match) and len(node.cases) > 1 else ():
            yield case.pattern.lineno, "case", (source.starts[case.pattern.lineno - 1], source.stop(case.body[-1]), b"")
            if case.guard is not None:
                yield case.pattern.lineno, "guard", (source.stop(case.pattern), source.stop(case.guard), b"")


def field(source: Source) -> Places:
    """A field or variable of a class is gone, or a field's default."""
    for node in ast.walk(source.tree):
        for part in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(part, ast.AnnAssign | ast.Assign):
                yield part.lineno, node.name, source.without(part)
            if isinstance(part, ast.AnnAssign) and part.value is not None:
                yield part.lineno, f"default of {node.name}", (source.stop(part.annotation), source.stop(part), b"")


def attribute(source: Source) -> Places:
    """A store into an attribute or an entry is gone."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            yield node.lineno, ast.unparse(node.targets[0])[:40], source.without(node)


def declared(source: Source) -> Places:
    """A ``global`` or ``nonlocal`` is gone."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Global | ast.Nonlocal):
            yield node.lineno, ", ".join(node.names)[:40], source.without(node)


def unwrapped(source: Source) -> Places:
    """A ``with`` or ``try`` is gone from around its block, or what a ``try`` does at last."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.With | ast.Try):
            continue
        if node.body[0].lineno > node.lineno:
            yield node.lineno, type(node).__name__, (*source.span(node), source.outdented(node.body, node.col_offset))
        if isinstance(node, ast.Try) and node.finalbody:
            start, stop = source.span(node.finalbody[0])[0], source.stop(node.finalbody[-1])
            yield node.finalbody[0].lineno, "finally", (start, stop, b"pass")


def leaving(source: Source) -> Places:
    """A ``raise``, ``break``, ``continue``, ``assert`` or ``del`` is gone."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Raise | ast.Break | ast.Continue | ast.Assert | ast.Delete):
            yield node.lineno, type(node).__name__, source.without(node)


def property_part(source: Source) -> Places:
    """A setter of a property, or a function that is registered for a type, is gone."""
    for node in ast.walk(source.tree):
        if isinstance(node, FUNCTIONS):
            for part in node.decorator_list:
                head = part.func if isinstance(part, ast.Call) else part
                if isinstance(head, ast.Attribute) and head.attr in ("setter", "deleter", "register"):
                    yield node.lineno, node.name, source.without(node)


def given(source: Source) -> Places:
    """A call is handed one positional argument less."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and len(node.args) > 1:
            one, other = node.args[-2:]
            yield node.lineno, "last", (source.stop(one), source.stop(other), b"")


def listed(source: Source) -> Places:
    """The last entry of a list, tuple or dictionary is gone: what a shortened table loses at its end."""
    for node in ast.walk(source.tree):
        rows = node.elts if isinstance(node, ast.List | ast.Set) else node.values if isinstance(node, ast.Dict) else []
        for one, other in list(pairwise(rows))[-1:]:
            yield other.lineno, type(node).__name__, (source.stop(one), source.stop(other), b"")


FURTHER: dict[str, Callable[[Source], Places]] = {
    "conditional expression decided": choice,
    "condition of a comprehension decided": condition,
    "case gone": arm,
    "field gone": field,
    "store gone": attribute,
    "global gone": declared,
    "block unwrapped": unwrapped,
    "raise or break gone": leaving,
    "setter gone": property_part,
    "positional argument gone": given,
    "last entry gone": listed,
}
