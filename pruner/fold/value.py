"""Abstract values: what an expression can be under the facts.

A value is a finite set of constants, an integer range, or only a truth. ``origin`` names the
rules that it rests on, with the subject where the rule states a fact; a value without origin is upstream's own constant and folds nothing,
since every edit needs a rule as its cause.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Origin = frozenset[str]
NONE: Origin = frozenset()
LIMIT = 64  # a set of more constants than this is unknown


@dataclass(frozen=True, slots=True)
class Value:
    """``values``: every possible constant, or None; ``low``/``high``: an integer range; ``truth``: known truth."""

    values: tuple[Any, ...] | None
    origin: Origin = NONE
    truth: bool | None = None
    low: int | None = None
    high: int | None = None

    @property
    def single(self) -> bool:
        """True when exactly one constant is possible."""
        return self.values is not None and len(self.values) == 1


def _key(constant: Any) -> tuple[type, Any]:
    # True == 1 and 1 == 1.0 in Python, but a flag is not a count: keep the types apart.
    return (type(constant), constant)


def constant(known: Any) -> Value:
    """What a literal is worth."""
    return _plain(known) if known.__class__ in _PLAIN else Value((known,), NONE, bool(known))


_PLAIN = (str, int, bool, type(None))  # equal ones are the same: 0.0 and -0.0 are not


@lru_cache(maxsize=None, typed=True)
def _plain(known: Any) -> Value:
    return Value((known,), NONE, bool(known))


def of_fact(rule: str, subject: str) -> Origin:
    """The origin of a stated fact; ids of rules hold no blank."""
    return frozenset({f"{rule} {subject}"})


def rules_of(origin: Origin) -> frozenset[str]:
    """The ids of the rules of an origin."""
    return frozenset(entry.partition(" ")[0] for entry in origin)


def make(constants: Any, origin: Origin = NONE) -> Value | None:
    """A value from possible constants; None when there are too many to follow."""
    unique = {_key(c): c for c in constants}
    if not unique or len(unique) > LIMIT:
        return None
    values = tuple(unique.values())
    truths = {bool(v) for v in values}
    return Value(values, origin, truths.pop() if len(truths) == 1 else None)


def between(low: int | None, high: int | None, origin: Origin) -> Value:
    """An integer range, both ends included."""
    truth = True if (low is not None and low > 0) or (high is not None and high < 0) else None
    return Value(None, origin, truth, low, high)


def of_truth(truth: bool, origin: Origin) -> Value:
    """Something whose truth is known and whose value is not."""
    return Value(None, origin, truth)


def join(values: list[Value | None]) -> Value | None:
    """What holds on every path."""
    if not values or any(v is None for v in values):
        return None
    known = [v for v in values if v is not None]
    origin = frozenset().union(*(v.origin for v in known))
    if all(v.values is not None for v in known):
        return make([c for v in known for c in v.values or ()], origin)
    truths = {v.truth for v in known}
    if len(truths) == 1 and None not in truths:
        return of_truth(bool(truths.pop()), origin)
    return None


def same(left: Any, right: Any) -> bool:
    """Equality of constants that keeps types apart."""
    return _key(left) == _key(right)


def holds(known: Value, constant: Any) -> bool:
    """Is the constant one that the value can be, of the same type?"""
    if known.values is not None:
        return any(same(constant, one) for one in known.values)
    if type(constant) is not int or (known.low is None and known.high is None):
        return False
    return (known.low is None or known.low <= constant) and (known.high is None or constant <= known.high)
