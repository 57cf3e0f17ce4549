"""Names of a module that its own code stores through the module's dictionary, written out.

``globals().update(FLAG=True)``, ``vars()["FLAG"] = ...``, ``setattr(sys.modules[__name__], "FLAG", ...)``,
``sys.modules[__name__].__dict__["FLAG"] = ...``, ``exec("FLAG = ...")``: such a name is no constant. ``locals()`` of a function
counts as well: a name too many keeps code.

Blind to names that are computed, and to the dictionary under another name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pruner.model.ir import Expr, constants

MARKS = (b"globals", b"vars", b"locals", b"exec", b"modules")  # without one of these there is nothing to find
_DICTIONARIES = frozenset(("globals", "vars", "locals"))
_ONE = frozenset((".setdefault", ".pop", ".__setitem__", ".__delitem__"))
_WORD = re.compile(r"[^\W\d]\w*")


def stored(part: Any) -> set[str]:
    """The names that the statements of a lowered module store so."""
    found: set[str] = set()
    stack = [part]
    while stack:
        item = stack.pop()
        if not isinstance(item, tuple) or not item:
            continue
        if len(item) == 2 and item[0] == "s":
            found.update(_target(item[1]))
        elif item[0] == "k" and len(item) == 4:
            found.update(_call(item[1], item[2], item[3]))
        elif (
            item[0] in ("n", "x")
            and len(item) == 3
            and item[2]
            and isinstance(item[2][-1], str)
            and item[2][-1][0] == "("
        ):
            found.update(_call((item[0], item[1], item[2][:-1]), tuple(("c", c) for c in constants(item[2][-1])), ()))
        stack += item
    return found


def _target(e: Expr) -> Iterator[str]:
    steps = _inside(e)
    if len(steps) == 1 and steps[0][0] == "[":
        yield from (name for name in constants(steps[0]) if isinstance(name, str))
    elif e[0] == "x" and _is_itself(e[1]) and len(e[2]) == 1 and e[2][0][0] == ".":
        yield e[2][0][1:]


def _call(func: Expr, args: tuple[Expr, ...], kwargs: tuple[tuple[str | None, Expr], ...]) -> Iterator[str]:
    steps = _inside(func)
    if steps == (".update",):
        yield from (name for name, _ in kwargs if name is not None)
        for argument in args:
            rows = (
                argument[1]
                if argument[0] == "d"
                else [p[2] for p in argument[2] if p[0] == "t"]
                if argument[0] == "t"
                else ()
            )
            yield from (
                row[0][1]
                for row in rows
                if row and row[0] is not None and row[0][0] == "c" and isinstance(row[0][1], str)
            )
    elif len(steps) == 1 and steps[0] in _ONE:
        yield from (e[1] for e in args[:1] if e[0] == "c" and isinstance(e[1], str))
    elif func[0] == "n" and func[1:] in (("setattr", ()), ("delattr", ())) and len(args) > 1 and _is_itself(args[0]):
        yield from (e[1] for e in args[1:2] if e[0] == "c" and isinstance(e[1], str))
    elif func == ("n", "exec", ()):
        yield from (word for e in args[:1] if e[0] == "c" and isinstance(e[1], str) for word in _WORD.findall(e[1]))


def _inside(e: Expr) -> tuple[str, ...]:
    """The steps behind the module's dictionary; () for anything else."""
    if e[0] == "n" and e[1] in _DICTIONARIES and e[2][:1] == ("()",):
        return tuple(e[2][1:])
    if e[0] == "x" and _is_itself(e[1]) and e[2][:1] == (".__dict__",):
        return tuple(e[2][1:])
    return ()


def _is_itself(e: Expr) -> bool:
    """``sys.modules[__name__]``."""
    if e[0] != "o" or len(e[1]) != 2 or e[1][1] != ("n", "__name__", ()):
        return False
    table = e[1][0]
    return table[0] in ("n", "v") and (table[1], *table[2])[-1].lstrip(".") == "modules"
