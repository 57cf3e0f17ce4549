"""Loops that bind names of their module again to what a function makes of them.

    for name in EXPORTS:
        if name in globals():
            globals()[name] = traced(globals()[name], name)

It reads every name that is listed, but for the sake of that name alone: one that nobody else reads may go, since the
test then passes it over. True only of this very shape, and where a rule says that the function has no effect.
Blind to a function that keeps what it is given, which a rule calls pure all the same.
"""

from __future__ import annotations

from typing import Any

from pruner.graph.world import ProgramWorld
from pruner.scan.summary import Summary

_GLOBALS = ("n", "globals", ("()",))


def wrapping(world: ProgramWorld, summary: Summary) -> frozenset[int]:
    """Positions of the statements in the module's body whose reads of ``globals()`` are of that kind."""
    found: set[int] = set()
    todo = list(summary.body)
    while todo:
        stmt = todo.pop()
        if stmt[0] == "if":
            todo += [*stmt[4], *stmt[5]]
        elif stmt[0] == "for":
            found.update(_positions(world, summary.module, stmt))
    return frozenset(found)


def _positions(world: ProgramWorld, module: str, loop: Any) -> tuple[int, ...]:
    _, _, _, targets, values, body, orelse = loop
    if len(targets) != 1 or targets[0][0] != "n" or orelse or len(body) != 1 or body[0][0] != "if":
        return ()
    name = ("n", targets[0][1], ())
    item = ("o", (_GLOBALS, name))
    _, test_at, _, test, inner, other, *_ = body[0]
    if test != ("=", name, (("in", _GLOBALS),)) or other or len(inner) != 1 or inner[0][0] != "=":
        return ()
    _, at, _, stored, value, *_ = inner[0]
    if stored != (("s", item),) or value[0] != "k" or value[1][0] != "n" or value[2][:1] != (item,):
        return ()
    if repr((values, body)).count("'globals'") != 3:
        return ()
    return (test_at, at) if world.canonical(module, value[1][1], value[1][2]) in world.purities else ()
