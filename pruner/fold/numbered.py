"""Numbers of enum members that ``auto()`` gives, where rules drop members: they stay what they are.

Source: ``Enum._generate_next_value_`` of Python's :mod:`enum`. Blind to members that are made by calls
(``Enum("E", "A B")``) and to what a metaclass of the tree does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pruner.model.ir import Expr, Stmt

Canonical = Callable[[str, tuple[str, ...]], str]  # the whole name of a chain
_COUNTING = frozenset(("Enum", "IntEnum", "Flag", "IntFlag", "str", "int"))  # bases that number as Enum does
_ENUMS = _COUNTING - {"str", "int"} | {"StrEnum", "ReprEnum"}
_HOLDERS = frozenset(("if", "while", "for", "try", "with", "match"))


def is_enum(owner: Stmt, canonical: Canonical) -> bool:
    """Does the class derive from one of Python's enums itself?"""
    return any(canonical(base[1], base[2]).removeprefix("enum.") in _ENUMS for base in owner[5] if base[0] == "n")


def renumbered(owner: Stmt, gone: Any, canonical: Canonical) -> dict[int, int] | None:
    """Numbers that the ``auto()`` of enum members have now and would lose: position → number.

    ``A = auto(); GONE = auto(); B = auto()``: B is 3 and stays 3. None where nobody can tell what they would be:
    a number of a negative one (``A = -5``), a ``_generate_next_value_``, a base of the tree that may have one,
    ``a()`` of ``from enum import auto as a``, ``B = C = auto()``, ``B = auto(), "x"``, members under a test.
    """
    bases = {(base[1], *base[2])[-1].lstrip(".") if base[0] == "n" else "?" for base in owner[5]}
    known = is_enum(owner, canonical)
    if any(s[0] == "def" and s[3] == "__new__" and _counting(s[6]) for s in owner[7]):
        return None  # o._value_ = len(cls.__members__) + 1
    rows = [s for s in owner[7] if s[0] == "=" and not (s[3][0][0] == "v" and s[3][0][1].startswith("_"))]
    first = next((i for i, s in enumerate(rows) if s[3][0][1] in gone), len(rows))
    inner = [s for test in owner[7] if test[0] in _HOLDERS for s in _stores(test)]
    hidden = any(s[3][0][1] in gone or _counts(s[4], known) for s in inner)
    if not hidden and not any(_counts(s[4], known) for s in rows[first + 1 :]):
        return {}
    own = any(s[0] == "def" and s[3] == "_generate_next_value_" for s in owner[7])
    if bases == {"StrEnum"} and not own:
        return {}  # auto() is the member's name there
    if own or hidden or not bases <= _COUNTING:
        return None
    flag = bool(bases & {"Flag", "IntFlag"})

    def following(last: int) -> int:
        return 1 << last.bit_length() if flag else last + 1

    found: dict[int, int] = {}
    before = after = 0
    told = True  # are the numbers of all members so far known?
    for s in rows:
        value = s[4]
        dropped = s[3][0][1] in gone
        if len(s[3]) == 1 and s[3][0][0] == "v" and _auto(value, canonical):
            if not told:
                return None
            before = following(before)
            if not dropped:
                if following(after) != before:
                    found[s[1]] = before
                after = before
        elif value[0] == "c" and type(value[1]) is int:
            told = told and (value[1] >= before or flag)  # what follows a smaller number is another one in each Python
            before = max(before, value[1])
            after = after if dropped else max(after, value[1])
        elif _counts(value, known):
            return None
        elif value[0] != "c":
            told = False
    return found


def _counting(function: Any) -> bool:
    """Does a ``__new__`` ask how many members there are?"""
    if not isinstance(function, tuple):
        return False
    if len(function) == 3 and function[0] in ("n", "v") and (".__members__" in function[2] or function[1] == "len"):
        return True
    return any(_counting(part) for part in function)


def _auto(value: Expr, canonical: Canonical) -> bool:
    return value[0] == "n" and value[2][-1:] == ("()",) and canonical(value[1], value[2][:-1]) == "enum.auto"


def _counts(value: Any, known: bool) -> bool:
    """May a part of the expression be ``auto()``? In a known enum under any name."""
    if not isinstance(value, tuple) or value[:1] == ("c",):
        return False
    if len(value) == 3 and value[0] in ("n", "v", "b", "x") and isinstance(value[2], tuple):
        steps = (value[1], *value[2]) if isinstance(value[1], str) else value[2]
        named = any(step.lstrip(".") == "auto" for step in steps)  # (enum.auto or f)() as well
        return named or (known and "()" in steps) or _counts(value[1], known)
    return any(_counts(part, known) for part in value)


def _stores(part: Any) -> Iterator[Stmt]:
    """Assignments at any depth of a statement."""
    if isinstance(part, tuple):
        if part[:1] == ("=",) and len(part) > 5:
            yield part
        else:
            for inner in part:
                yield from _stores(inner)
