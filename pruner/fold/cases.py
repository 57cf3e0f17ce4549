"""Which cases of a ``match`` can be the one, where the subject is one of a few known constants.

Patterns come lowered (:func:`pruner.scan.statements.pattern`): ``("value", e)``, ``("is", constant)``, ``("or", patterns)``,
``("any",)`` and ``("?",)``, of which nothing is known.

Blind to: cases at module level and of class bodies, classes, sequences, mappings, ``case … as name``, and subjects that
are more than a name, a chain or a call.
"""

from __future__ import annotations

from typing import Any

from pruner.fold import value as V
from pruner.fold.evaluate import Evaluator
from pruner.model.ir import Expr

_PLAIN = (str, int, float, bool, type(None))  # no member of an enum: what it equals is for its class to say
Known = tuple[bool | None, V.Origin]


def possible(ev: Evaluator, subject: Expr) -> tuple[tuple[Any, ...], V.Origin] | None:
    """The constants that the subject can be, with the facts that say so; None where nothing is known or it does something."""
    if subject[0] not in ("n", "v", "k"):
        return None
    known = ev.value(subject)
    if known is None or known.values is None or not known.origin or not ev.droppable(subject):
        return None
    return (known.values, known.origin) if all(isinstance(v, _PLAIN) for v in known.values) else None


def meets(ev: Evaluator, pattern: tuple[Any, ...], constant: Any) -> Known:
    """Does the constant match the pattern, and by which facts? None: cannot say."""
    kind = pattern[0]
    if kind == "any":
        return True, V.NONE
    if kind == "is":  # `case True:` asks for the object, and `case 1:` for what is equal: True is both
        return V.same(constant, pattern[1]), V.NONE
    if kind == "value":
        known = ev.value(pattern[1])
        if known is None or known.values is None or not all(isinstance(v, _PLAIN) for v in known.values):
            return None, V.NONE
        equal = {bool(constant == v) for v in known.values}
        return (equal.pop() if len(equal) == 1 else None), known.origin
    if kind == "or":
        each = [meets(ev, part, constant) for part in pattern[1]]
        origin = frozenset().union(*(known for _, known in each))
        answers = {answer for answer, _ in each}
        return (True if True in answers else None if None in answers else False), origin
    return None, V.NONE


def dropped(ev: Evaluator, pattern: tuple[Any, ...]) -> V.Origin:
    """The rules that drop the enum members which the pattern asks for, all of them: ``case Mode.HIP | Mode.NPU``."""
    if pattern[0] == "or":
        each = [dropped(ev, part) for part in pattern[1]]
        return frozenset().union(*each) if all(each) else V.NONE
    rule = ev.gone(pattern[1], True) if pattern[0] == "value" else ""
    return frozenset({rule}) if rule else V.NONE


def settled(ev: Evaluator, guard: Expr | None) -> V.Origin | None:
    """The facts by which a guard lets its case through for sure, and does nothing else; None where it does not."""
    if guard is None:
        return V.NONE
    truth = ev.truth(guard)
    return truth[1] if truth is not None and truth[0] and ev.droppable(guard) else None


class Left:
    """The constants that no case has taken so far."""

    def __init__(self, ev: Evaluator, subject: Expr) -> None:
        found = possible(ev, subject)
        self.ev = ev
        self.known = found is not None
        self.values, self.origin = found if found is not None else ((), V.NONE)
        self.plain = False  # did a case that takes everything end it? Then upstream ends there as well

    @property
    def none(self) -> bool:
        """Has every constant been taken?"""
        return self.known and not self.values

    def dead(self, case: tuple[Any, ...]) -> bool:
        """Can the case be none of what is left? What it takes for sure is gone for the next one."""
        _, _, guard, _, pattern, _ = case
        rules = dropped(self.ev, pattern)
        if rules:
            self.origin |= rules
            return True
        if not self.known:
            return False
        answers = [(constant, *meets(self.ev, pattern, constant)) for constant in self.values]
        if all(answer is False for _, answer, _ in answers):
            self.origin = self.origin.union(*(why for _, _, why in answers))
            return True
        through = settled(self.ev, guard)
        if through is not None and any(answer for _, answer, _ in answers):
            self.plain = self.plain or (guard is None and pattern == ("any",))
            self.origin = self.origin.union(through, *(why for _, answer, why in answers if answer))
            self.values = tuple(constant for constant, answer, _ in answers if not answer)
        return False


def bound(names: tuple[str, ...], pos: int) -> tuple[Any, ...]:
    """What a pattern binds, as an assignment: the names are the function's own where the text says so."""
    return (("=", pos, pos >> 16, tuple(("v", name) for name in names), ("c", None), "="),) if names else ()
