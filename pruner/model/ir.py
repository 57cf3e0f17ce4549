"""The compact program form that scanning makes and folding reads: nested tuples.

Tuples of strings and integers marshal fast, so a scanned file is cached by content digest
and travels between processes for a tenth of what its ``ast`` costs. The first item is a tag.

Expressions
    ``("c", value)``               constant: str, int, float, bool or None
    ``("n", root, path)``          chain from a *global* name
    ``("v", root, path)``          chain from a name bound in an enclosing function
    ``("b", root, path)``          a class body reads a name that the class binds: local or global
    ``("x", base, path)``          chain on any other expression
    ``("k", func, args, kwargs)``  call with arguments that are not all constants
    ``("!", e)`` ``("&", es)`` ``("|", es)`` ``("?", test, yes, no)``
    ``("=", left, ((op, right), ...))`` comparison
    ``("t", kind, es)``            tuple, list, set literal (kind ``t``, ``l``, ``s``)
    ``("d", ((key, value), ...))`` dict literal; key None for ``**``
    ``(":=", name, value, tag)``    ``:=``; tag ``n`` when it binds a module global
    ``("yield", e)``                   yield, yield from, await
    ``("j", parts)``               f-string or string concatenation; parts are expressions
    ``("f", body)``                lambda or comprehension: evaluated later or in a loop; the latter ends with "c", a
                                   generator with "g"
    ``("u", e)``                   read, but never folded
    ``("o", es)``                  any other operation on these operands; one that tables are written with is told, and
                                   stays apart from an operation around it: ``"+"``, ``"|"`` and ``"*"`` of a display, ``"**"`` of anything else,
                                   ``"+="`` (of anything), ``"[:"`` a slice or a place in a copy (``list(T)[0]``), ``"[]"`` an entry of a dictionary that is written there, ``"["`` a ``Literal`` with its choices (``"['"`` in a text),
                                   ``":name"`` the annotation of a parameter that holds a ``Literal``

A path is a tuple of strings: ``".attr"`` or ``"(args)"`` with constant arguments as ``repr`` gives them.

Statements: ``(tag, pos, end, ...)``; ``pos`` is ``line << 16 | column`` of the first token
(decorators excluded), ``end`` the last line.
    ``e`` expr · ``=`` targets, value, kind (``=``, ``:``, ``+``) · ``def`` name, decorators, signature
    expressions, function · ``class`` name, decorators, bases, keywords, body, names · ``if`` test, body,
    orelse, is_elif · ``while`` test, body, orelse · ``for`` targets, iter, body, orelse ·
    ``try`` body, handlers, orelse, final · ``with`` items, targets, body · ``match`` subject, cases ·
    ``return`` expr · ``raise`` exprs · ``break`` · ``continue`` · ``pass`` · ``global`` names ·
    ``nonlocal`` names · ``del`` targets · ``assert`` test, message · ``import`` aliases ·
    ``from`` module, level, aliases
A function is ``(params, local names, body, flags, once, top)``: flags ``g`` generator, ``a`` coroutine, ``s`` takes ``*args`` or ``**kwargs``; ``once`` are the
names with exactly one binding; ``top`` the positions of the stores at the top of the body that are that
one binding (so a later read sees it). ``import`` and ``from`` end with a string per alias: ``n`` when it
binds a module global, ``v`` when it binds a local.
A target is ``("n", name)``, ``("v", name)`` (function or class local), or ``("s", expr)`` for stores
into attributes and items.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any

Expr = tuple[Any, ...]
Stmt = tuple[Any, ...]
Block = tuple[Stmt, ...]

EMPTY: Expr = ("o", ())


@cache
def constants(step: str) -> tuple[Any, ...]:
    """The constants of a path step: ``"('x', 1)"`` → ``("x", 1)``, ``"[0]"`` → ``(0,)``, ``"()"`` → ``()``."""
    inner = step[1:-1]
    return tuple(ast.literal_eval(f"({inner},)")) if inner else ()


def position(line: int, column: int) -> int:
    """One integer that orders and names a place in a file."""
    return line << 16 | min(column, 0xFFFF)


def line_of(pos: int) -> int:
    """The 1-based line of a position."""
    return pos >> 16


_PLAIN = frozenset(
    ("e", "=", "return", "raise", "assert", "pass", "break", "continue", "global", "nonlocal", "del", "import", "from")
)  # statements that hold no others


def imports_in(block: Block) -> Iterator[Stmt]:
    """The ``import`` and ``from`` statements of a suite at any depth, functions and classes included; in no order."""
    return (part for part in statements(block) if part[0] in ("import", "from"))


def annotated(block: Block) -> frozenset[int]:
    """The positions of a suite's statements at any depth that have annotations: functions, and ``x: note = value``."""
    return frozenset(part[1] for part in statements(block) if part[0] == "def" or (part[0] == "=" and part[5] in ":?"))


def statements(block: Block) -> Iterator[Stmt]:
    """Every statement of a suite at any depth, functions and classes included; in no order."""
    stack: list[Any] = list(block)
    while stack:
        part = stack.pop()
        yield part
        tag = part[0]
        if tag == "def":
            stack += part[6][2]
        elif tag == "class":
            stack += part[7]
        elif tag in ("if", "while"):
            stack += part[4]
            stack += part[5]
        elif tag == "for":
            stack += part[5]
            stack += part[6]
        elif tag == "with":
            stack += part[5]
        elif tag == "try":
            for handler in part[4]:
                stack += handler[2]
            stack += part[3]
            stack += part[5]
            stack += part[6]
        elif tag == "match":
            for case in part[4]:
                stack += case[3]
        elif tag not in _PLAIN:
            raise ValueError(f"unknown statement {tag!r}")


def mentions(part: Any, text: str) -> bool:
    """Does the text stand anywhere in a lowered part, as a name or as a constant?"""
    stack = [part]
    while stack:
        item = stack.pop()
        if item == text:
            return True
        if item.__class__ is tuple:
            stack += item
    return False
