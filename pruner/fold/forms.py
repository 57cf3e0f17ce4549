"""What an expression in compact form says of entries: keys, pairs, calls of methods; and what was found in a statement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pruner.model.ir import Expr, constants


@dataclass(frozen=True, slots=True)
class Refused:
    """An entry that a rule names and that cannot be taken out where it stands."""

    pos: int
    rule: str
    entry: str  # pkg.mod.T[x]
    why: str
    advice: str


@dataclass(slots=True)
class Taken:
    """What of one statement goes: indices of entries by the id of the expression that holds them, with the rules."""

    parts: dict[int, tuple[Expr, dict[int, str]]] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    left: bool = False  # something of the sources is still there

    @property
    def whole(self) -> tuple[frozenset[str], str] | None:
        """(rules, keys) when nothing of the sources is left."""
        rules = frozenset(rule for _, gone in self.parts.values() for rule in gone.values())
        return None if self.left or self.refused or not rules else (rules, ", ".join(self.keys))


def written(e: Expr) -> str:
    """The key as rules write it: a literal's value, a dotted name or a call of it without arguments; "" for others."""
    if e[0] == "c":
        return str(e[1])
    return e[1] + "".join(e[2]) if e[0] in ("n", "v", "b") else ""


def firm(e: Expr) -> str:
    """:func:`written`, but "" for a variable: ``T.append(name)`` in a loop is no entry ``name``, which ``T[*]`` would name."""
    if e[0] == "n" and (e[2] or e[1][:1].isupper()):
        return written(e)
    return written(e) if e[0] == "c" else ""


def method(e: Expr) -> str:
    """``.append`` where a method of a chain is called; "" for others."""
    if e[0] == "k":
        return e[1][2][-1] if e[1][0] in ("n", "v", "b") and e[1][2] else ""
    return e[2][-2] if e[0] in ("n", "v", "b") and len(e[2]) > 1 and e[2][-1][0] == "(" else ""


def call(e: Expr) -> tuple[str, tuple[Expr, ...], tuple[tuple[str | None, Expr], ...], Expr | None]:
    """(method, arguments, keywords, object) of a call of a chain's last step."""
    if e[0] == "k" and e[1][0] in ("n", "v", "b") and e[1][2]:
        return e[1][2][-1], e[2], e[3], (e[1][0], e[1][1], e[1][2][:-1])
    if e[0] in ("n", "v", "b") and len(e[2]) > 1 and e[2][-1][0] == "(":
        args = tuple(("c", c) for c in constants(e[2][-1]))
        return e[2][-2], args, (), (e[0], e[1], e[2][:-2])
    return "", (), (), None


def first(e: Expr) -> Expr | None:
    """The key of a pair."""
    return e[2][0] if e[0] == "t" and len(e[2]) == 2 and not any(starred(p) for p in e[2]) else None


_COPIES = frozenset(["list", "tuple", "sorted", "set", "frozenset", "dict", "reversed", "iter"])
_VIEWS = ((".keys", "()"), (".values", "()"), (".items", "()"), (".copy", "()"))


def copied(e: Expr) -> Expr:
    """What has as many items as the expression: ``list(T)``, ``[*T]``, ``T.values()``, ``n := T``."""
    while True:
        if e[0] == ":=":
            e = e[2]
        elif e[0] == "k" and e[1][0] == "n" and e[1][1] in _COPIES and not e[1][2] and len(e[2]) == 1:
            e = e[2][0]
        elif e[0] == "t" and len(e[2]) == 1 and e[2][0][0] == "o" and e[2][0][2:] in (("*",), ("**",)):
            e = e[2][0][1][0]
        elif e[0] in ("n", "v", "b") and e[2][-2:] in _VIEWS:
            e = (e[0], e[1], e[2][:-2])
        else:
            return e


def starred(e: Expr) -> bool:
    return e[0] == "o" and e[2:] == ("*",)


def keys(e: Expr) -> Iterator[str]:
    """Keys that a display holds, as far as they are written out."""
    if e[0] == "d":
        for key, inner in e[1]:
            yield from (written(key),) if key is not None else keys(inner)
    elif e[0] == "t":
        for part in e[2]:
            pair = first(part)
            yield from (written(part if pair is None else pair),) if part[0] != "o" else keys(part)
    elif e[0] == "o" and len(e) == 3 and e[2] not in ("[:", "[]"):
        for part in e[1]:
            yield from keys(part)
    elif e[0] == "k":
        for part in e[2][:2]:
            yield from keys(part)


def parts(e: Expr) -> Iterator[Expr]:
    """Operands of an expression that is no source."""
    yield from (e[2] if e[0] == "k" else e[1] if e[0] in ("o", "&", "|") else (e[1],) if e[0] == "x" else ())
