"""Why something was removed on one side, and what became of whoever used it."""

from __future__ import annotations

from typing import Any

from pruner.pipeline import severed
from pruner.pipeline.change.side import Side, cause_row, edge_row


def rules_behind(side: Side, row: dict[str, Any]) -> list[str]:
    """The rules that a removal goes back to: those of its cause, or of the removed place that used it, at any distance."""
    if row["cause"]["rules"]:
        return list(row["cause"]["rules"])
    for name in reversed(list(severed.chain(side.severed, _key(row)))):
        user = side.by_key.get(name)
        if user is None:
            return [name.split(" ")[0]]  # a `dynamic` rule, named with its place
        if user["cause"]["rules"]:
            return list(user["cause"]["rules"])
    return []


def _key(row: dict[str, Any]) -> str:
    return severed.key(row["path"], row["lines"][0], row["lines"][1], row["name"])


def file_removal(side: Side, module: str) -> dict[str, Any] | None:
    """The ledger's row of a module that is gone as a file."""
    return next((row for path in side.paths_of(module) if (row := side.removals.get(path)) is not None), None)


def last_user(base: Side, head: Side, node: str) -> dict[str, Any] | None:
    """Of the way by which the base kept a node: the last step whose user the head keeps, or the root, and its fate.

    ``fate`` is ``no longer used there`` (the user is kept), ``gone upstream``, or the cause of the user's removal.
    """
    steps = []
    edge = base.parents.get(node)
    while edge is not None:
        steps.append(edge)
        if edge[0] in head.nodes or edge[0].startswith("rule:"):
            break
        edge = base.parents.get(edge[0])
    if not steps:
        return None
    step = steps[-1]
    if step[0].startswith("rule:") and step[0] not in head.nodes:
        return {"by": edge_row(step), "fate": "the rule no longer names it"}
    lost = step[1] if step[1] != node and len(steps) > 1 else ""
    if not lost:
        return {"by": edge_row(step), "fate": "no longer used there"}
    module, _, name = lost.partition(":")
    row = file_removal(head, module) or head.removals.get(f"{module}.{name}")
    if row is not None:
        return {"by": edge_row(step), "fate": f"{lost} is removed", "cause": cause_row(row)}
    gone = module not in head.upstream
    return {"by": edge_row(step), "fate": f"{lost} is gone upstream" if gone else f"{lost} is no longer there or used"}
