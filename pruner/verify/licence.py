"""Differences between two canonical terms that are licensed: names in ``__all__``, numbers of an enum's members.

Order, numbers and kinds of what remains must not change: a tuple of one keeps being a tuple, an enum member keeps
its value.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from pruner.verify.items import Item
from pruner.verify.terms import Term, constant


class Licence:
    """Licensed differences for one module."""

    def __init__(self, gone: frozenset[str] | set[str]) -> None:
        self.gone = gone  # names of this module that the output does not bind
        self.exports: set[str] = set()  # names that __all__ lost although the module keeps them

    def allows(self, upstream: Term, output: Term) -> bool:
        """Is the assignment ``output`` of ``__all__`` upstream's without names that may go?"""
        if upstream[0] != output[0] or upstream[0] not in ("Assign", "AnnAssign", "AugAssign"):
            return False
        targets = upstream[1] if upstream[0] == "Assign" else (upstream[1 if upstream[0] == "AnnAssign" else 2],)
        if upstream[:-1] != output[:-1] or targets != (("Name", "__all__"),):
            return False
        return self._all(upstream[-1], output[-1])

    def _all(self, upstream: Any, output: Any) -> bool:
        if not _same_kind(upstream, output):
            return False
        left_out: list[str] = []

        def licensed(item: Any) -> bool:
            left_out.append(_text(item))
            return bool(item[:2] == ("=", "str"))

        if _subsequence(upstream[1:], output[1:], licensed) is None:
            return False
        self.exports.update(name for name in left_out if name not in self.gone)
        return True


def _same_kind(upstream: Any, output: Any) -> bool:
    return (
        isinstance(upstream, tuple)
        and isinstance(output, tuple)
        and bool(upstream)
        and upstream[0] == output[0]
        and upstream[0] in ("Dict", "List", "Tuple", "Set")
    )


def _subsequence(upstream: Sequence[Any], output: Sequence[Any], licensed: Any) -> int | None:
    """How many items of ``upstream`` are left out, all licensed; None when it is not so."""
    position = count = 0
    for item in upstream:
        if position < len(output) and output[position] == item:
            position += 1
        elif licensed(item):
            count += 1
        else:
            return None
    return count if position == len(output) else None


def _text(term: Any) -> str:
    """The key as a rule spells it: a literal's value, a dotted name as written, or a call of one without arguments."""
    if not isinstance(term, tuple) or not term:
        return ""
    if term[0] == "=":
        return str(ast.literal_eval(term[2])) if term[1] in ("str", "int", "bool", "float", "NoneType") else term[2]
    if term[0] == "Name":
        return str(term[1])
    if term[0] == "Attribute":
        return f"{_text(term[1])}.{term[2]}"
    if term[0] == "Call" and not any(term[2:]):
        return f"{_text(term[1])}()"
    return ""


def enum_values(items: Sequence[Item], bases: Sequence[str]) -> dict[str, Term]:
    """The value of each member of an enum body, ``auto()`` counted as :mod:`enum` counts it.

    ``items`` are all canonical statements of the body: where a test is decided, ``X = A`` of the arm that runs is a
    member. A value that is not known stands for itself, so that equal text is equal value. Where nobody can count
    (a ``_generate_next_value_``, a base that may have one, a negative number, a number under a call), a value that
    is computed stands for itself behind all members in front of it: one more or less is another value.
    """
    own = any(item.kind != "Assign" and "_generate_next_value_" in item.binds for item in items)
    alone = not own and set(bases) == {"StrEnum"}  # auto() is the member's name there
    counted = not own and {"Enum", "IntEnum", "Flag", "IntFlag", "str", "int"}.issuperset(bases)
    flag = bool({"Flag", "IntFlag"}.intersection(bases))
    found: dict[str, Term] = {}
    before: tuple[str, ...] = ()
    highest = 0
    for item in items:
        if item.kind != "Assign" or not item.binds or item.binds[0].startswith("_"):
            counted = counted and item.kind not in ("If", "For", "While", "Try", "With", "Match")
            continue
        value = item.key[2]
        if counted and len(item.binds) == 1 and value[0] == "Call" and _text(value).rpartition(".")[2] == "auto()":
            highest = 1 << highest.bit_length() if flag else highest + 1
            value = constant(highest)
        elif value[:2] == ("=", "int"):
            counted = counted and int(value[2]) >= (0 if flag else highest)
            highest = max(highest, int(value[2]))
        elif not alone and _calls(value):
            value, counted = ("Order", value, before), False
        elif value[0] != "=":
            counted = False
        found[item.binds[0]] = value
        before = (*before, *item.binds)
    return found


def _calls(term: Any) -> bool:
    """Is there a call in the expression?"""
    return isinstance(term, tuple) and (term[:1] == ("Call",) or any(_calls(part) for part in term))
