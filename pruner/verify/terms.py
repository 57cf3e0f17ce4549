"""Canonical terms: nested tuples, equal for expressions of the same meaning."""

from __future__ import annotations

import ast
from typing import Any

Term = tuple[Any, ...]
TRUE: Term = ("=", "bool", "True")
FALSE: Term = ("=", "bool", "False")


def constant(value: object) -> Term:
    """The canonical form of a constant; ``1``, ``1.0`` and ``True`` are three constants."""
    return ("=", type(value).__name__, repr(value))


def joined(name: str, terms: list[Term]) -> Term:
    """``a and b and c``; one operand stands for itself."""
    return terms[0] if len(terms) == 1 else (name, *terms)


def negate(term: Term) -> Term:
    """``not term`` in truth position."""
    if term == TRUE:
        return FALSE
    if term == FALSE:
        return TRUE
    if term[0] == "Known":
        return ("Known", not term[1], term[2])
    return term[1] if term[0] == "Not" else ("Not", term)


def plain(term: Term, conversion: int) -> str | None:
    """The text that a constant field of an f-string prints, when that is certain."""
    if term[0] != "=" or term[1] not in ("str", "bool", "int", "NoneType"):
        return None
    value = ast.literal_eval(term[2])
    if conversion in (-1, ord("s")):
        return str(value)
    return repr(value) if conversion == ord("r") else None


def evaluated(term: Term) -> Term:
    """As a statement ``not f()`` is ``f()``, and so is ``f() and is_hip()`` where both truths are known."""
    while term[0] in ("Known", "Not"):
        term = term[-1]
    return term
