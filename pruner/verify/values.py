"""What the verifier knows of an expression's value: the domain of its own three-valued folder."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from pruner.model import Range
from pruner.verify.rules import Const


@dataclass(frozen=True, slots=True)
class Val:
    """``consts``: the value is one of these; None: not known. ``truth``: what ``bool()`` gives, if known.

    ``boolean``: the value is True or False for sure. ``stated``: a fact took part, so that a
    name with this value may be replaced by it. ``member``: an enum member, ``module:Class.NAME``.
    """

    consts: tuple[Const, ...] | None = None
    truth: bool | None = None
    boolean: bool = False
    stated: bool = False
    bounds: Range | None = None
    member: str = ""
    fresh: bool = False  # a list, dict or set just made: true or false now, and perhaps not after an append

    @property
    def exact(self) -> bool:
        """Is there exactly one value?"""
        return self.consts is not None and len(self.consts) == 1


UNKNOWN = Val()
BOOLEAN = Val(boolean=True)


def const(value: Const, stated: bool = False) -> Val:
    """The one value ``value``."""
    return Val((value,), bool(value), isinstance(value, bool), stated)


def distinct(values: Iterable[Const]) -> tuple[Const, ...]:
    """Each value once; ``0`` and ``False`` are equal and are two values all the same."""
    return tuple({(type(value), value): value for value in values}.values())


def among(values: tuple[Const, ...], stated: bool = True) -> Val:
    """One of several values."""
    values = distinct(values)
    truths = {bool(value) for value in values}
    truth = truths.pop() if len(truths) == 1 else None
    return Val(values, truth, all(isinstance(value, bool) for value in values), stated)


def of_fact(values: tuple[Const, ...] | Range) -> Val:
    """A fact's value."""
    if isinstance(values, Range):
        positive = values.low is not None and values.low > 0
        return Val(truth=True if positive else None, stated=True, bounds=values)
    return among(values)


def integer(given: Val) -> Val:
    """``bool(int(os.getenv("SWITCH", "0")))`` with the text known; what ``int`` refuses is not known."""
    if given.consts is None or given.member or not all(isinstance(one, str | int) for one in given.consts):
        return UNKNOWN
    try:
        return among(tuple(int(one) for one in given.consts if isinstance(one, str | int)), given.stated)
    except ValueError:
        return UNKNOWN


def text(given: Val) -> Val:
    """``str(sm())`` of known values."""
    if given.consts is None or given.member:
        return UNKNOWN
    return among(tuple(str(one) for one in given.consts), given.stated)


def _same(a: Const, b: Const) -> bool:
    return a is b or (type(a) is type(b) and a == b)


_COMPARE: dict[str, Callable[[Const, Const], bool]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,  # type: ignore[dict-item]
    "LtE": operator.le,  # type: ignore[dict-item]
    "Gt": operator.gt,  # type: ignore[dict-item]
    "GtE": operator.ge,  # type: ignore[dict-item]
}


def compare(left: Val, name: str, right: Val) -> bool | None:
    """``left <op> right`` when every pair of values gives the same answer, else None."""
    if left.member and right.member and name in ("Is", "IsNot", "Eq", "NotEq"):
        return name in ("Is", "Eq") if left.member == right.member else None
    if left.bounds is not None or right.bounds is not None:
        return _compare_range(left, name, right)
    if left.consts is None or right.consts is None:
        return None
    answers = set()
    for a in left.consts:
        for b in right.consts:
            answer = _one(a, name, b)
            if answer is None:
                return None
            answers.add(answer)
    return answers.pop() if len(answers) == 1 else None


def _one(a: Const, name: str, b: Const) -> bool | None:
    if name in ("Is", "IsNot"):
        # Identity of equal strings or numbers is an accident of the implementation.
        if any(value is None or isinstance(value, bool) for value in (a, b)):
            return _same(a, b) == (name == "Is")
        return None
    if name in ("In", "NotIn"):
        if isinstance(a, str) and isinstance(b, str):
            return (a in b) == (name == "In")
        return None
    try:
        return bool(_COMPARE[name](a, b))
    except (KeyError, TypeError):
        return None


def _compare_range(left: Val, name: str, right: Val) -> bool | None:
    flip = {
        "Lt": "Gt",
        "Gt": "Lt",
        "LtE": "GtE",
        "GtE": "LtE",
        "Eq": "Eq",
        "NotEq": "NotEq",
        "Is": "Is",
        "IsNot": "IsNot",
    }
    if left.bounds is None:
        left, right, name = right, left, flip.get(name, "")
    if left.bounds is None or right.consts is None or len(right.consts) != 1:
        return None
    other = right.consts[0]
    if other is None:  # a number is none
        return {"Is": False, "Eq": False, "IsNot": True, "NotEq": True}.get(name)
    if isinstance(other, bool) or not isinstance(other, int | float):
        return None
    low = left.bounds.low if left.bounds.low is not None else float("-inf")
    high = left.bounds.high if left.bounds.high is not None else float("inf")
    table: dict[str, tuple[bool, bool]] = {
        "Lt": (high < other, low >= other),
        "LtE": (high <= other, low > other),
        "Gt": (low > other, high <= other),
        "GtE": (low >= other, high < other),
        "Eq": (low == high == other, other < low or other > high),
        "NotEq": (other < low or other > high, low == high == other),
    }
    yes, no = table.get(name, (False, False))
    return True if yes else False if no else None


def contains(item: Val, container: tuple[Const, ...], negated: bool) -> bool | None:
    """``item in container`` for a literal container of constants."""
    if item.consts is None:
        outside = item.bounds is not None and all(_compare_range(item, "Eq", const(one)) is False for one in container)
        return negated if outside else None
    answers = set()
    for value in item.consts:
        try:
            answers.add(value in container)
        except TypeError:
            return None
    return (answers.pop() != negated) if len(answers) == 1 else None


_METHODS = {"startswith", "endswith", "lower", "upper", "strip", "title"}


def method(base: Val, name: str, arguments: tuple[object, ...]) -> Val:
    """A pure string method on each of the values."""
    if base.consts is None or name not in _METHODS or not all(isinstance(v, str) for v in base.consts):
        return UNKNOWN
    results = []
    for value in base.consts:
        try:
            results.append(getattr(value, name)(*arguments))
        except TypeError:
            return UNKNOWN
    return among(distinct(results), base.stated)
