"""f-strings, through LibCST: ``ast`` of Python 3.11 gives no usable positions inside them."""

from __future__ import annotations

import ast

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from pruner.errors import cannot


def fields(segment: bytes) -> list[tuple[int, int]]:
    """Byte spans, within the literal's source, of its replacement fields' expressions.

    In source order, the fields of format specifications after the field they belong to,
    as ``ast`` orders its ``FormattedValue`` nodes. Raises PruneError when LibCST cannot read it.
    """
    prefix = b"("
    try:
        module = cst.parse_module(prefix + segment + b")")
    except cst.ParserSyntaxError as error:
        raise cannot("<f-string>", "PR230", f"LibCST cannot read an f-string: {error.message}") from error
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    spans = wrapper.resolve(ByteSpanPositionProvider)
    found: list[tuple[int, int]] = []

    class Fields(cst.CSTVisitor):
        def visit_FormattedStringExpression(self, node: cst.FormattedStringExpression) -> bool:
            span = spans[node.expression]
            found.append((span.start - len(prefix), span.start + span.length - len(prefix)))
            # Fields of nested f-strings inside the expression belong to it, not to this literal.
            for part in node.format_spec or ():
                part.visit(self)
            return False

    wrapper.module.visit(Fields())
    return found


def formatted(node: ast.JoinedStr) -> list[ast.FormattedValue]:
    """The replacement fields of an f-string in the same order as :func:`fields`."""
    out: list[ast.FormattedValue] = []
    for value in node.values:
        if isinstance(value, ast.FormattedValue):
            out.append(value)
            if isinstance(value.format_spec, ast.JoinedStr):
                out += formatted(value.format_spec)
    return out
