"""Locals of which decided branches leave one store.

``step = Step.ONE`` / ``if is_hip(): step = Step.TWO`` / ``if step is Step.TWO: …``: without the second store the local
is what the first one stores, by the rule that took the other. A member of an enum counts as a constant here.

Blind to: stores that are not the function's first level, or that store what a call gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pruner.model.ir import Block, Expr, Stmt

Canonical = Callable[[str, tuple[str, ...]], str]  # the whole name of a chain
_PLAIN = ("if", "while")


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an enum of the tree whose members all differ."""

    enum: str  # pkg.mod.Class
    name: str


def enum_member(owner: Stmt, enum: str, name: str, canonical: Canonical) -> Member | None:
    """The member ``name`` of a class statement; None where it is none, or may be the same as another one.

    ``A = 1; B = 1.0`` are one member by two names, and so may ``A = make(); B = make()`` be. ``canonical`` gives the
    whole name of a chain: ``Enum`` may be a class of the tree's own, and a decorator may give something else.
    """
    bases = [canonical(base[1], base[2]).removeprefix("enum.") if base[0] == "n" else "" for base in owner[5]]
    if bases not in (["Enum"], ["IntEnum"], ["StrEnum"], ["str", "Enum"], ["int", "Enum"]) or owner[6]:
        return None
    if any(d[0] != "n" or canonical(d[1], d[2]) != "enum.unique" for d in owner[4]):
        return None
    values: dict[str, Any] = {}
    for s in owner[7]:
        if s[0] == "def" and s[3] in ("__eq__", "__new__", "_missing_", "_generate_next_value_"):
            return None
        if s[0] == "=" and s[5] in "=:":
            if len(s[3]) != 1 or s[3][0][0] != "v" or s[3][0][1] in values or s[3][0][1].startswith("_"):
                return None
            values[s[3][0][1]] = s[4]
        elif s[0] not in ("def", "e", "pass"):
            return None
    numbered = [v for v in values.values() if v[0] == "n" and v[2][-1:] == ("()",) and _auto(v, canonical)]
    written = {v[1] for v in values.values() if v[0] == "c"}
    apart = len(numbered) == len(values) or len(written) == len(values)
    return Member(enum, name) if apart and name in values else None


def _auto(value: Expr, canonical: Canonical) -> bool:
    return canonical(value[1], value[2][:-1]) == "enum.auto"


def is_constant(e: Expr) -> bool:
    """A literal or a plain chain of names: the same whenever it is read, if it is known at all."""
    return e[0] == "c" or (e[0] in ("n", "v") and all(step[0] == "." for step in e[2]))


def lone_store(name: str, body: Block, gone: set[int], bound_in: Any, blocks: Any, walrus: Any) -> Stmt | None:
    """The only statement outside ``gone`` (positions) that binds ``name``, if it is an assignment of the first level."""
    found: list[Stmt] = []

    def look(block: Block) -> bool:
        for s in block:
            if s[1] in gone:
                continue
            if s[0] in ("def", "class") and _shares(s, name):
                return False
            if s[0] in _PLAIN:
                if name in walrus(s[3]):
                    return False
            elif name in bound_in((s,)):
                found.append(s)
                continue
            if not all(look(part) for part in blocks(s)):
                return False
        return True

    if not look(body) or len(found) != 1:
        return None
    (store,) = found
    plain = store[0] == "=" and store[5] in "=:" and len(store[3]) == 1 and store[3][0][0] == "v"
    return store if plain and any(store is s for s in body) else None


def _shares(part: Any, name: str) -> bool:
    """Does a nested function declare the name ``nonlocal``?"""
    if not isinstance(part, tuple) or not part:
        return False
    if part[0] == "nonlocal" and len(part) == 4 and name in part[3]:
        return True
    return any(_shares(inner, name) for inner in part if isinstance(inner, tuple))
