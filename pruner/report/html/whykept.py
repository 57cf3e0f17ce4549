"""The way from a rule to each kept module, as one tree of steps for the page."""

from __future__ import annotations

from collections import deque
from typing import Any

from pruner.model import Outcome, Snapshot, import_path


def ways(snapshot: Snapshot, outcome: Outcome, places: dict[str, int]) -> dict[str, Any]:
    """``nodes``: [name, parent or -1, kind, file or -1, line]; ``of``: file number -> node number.

    The steps are a breadth-first tree of the live graph, so each way is a shortest one. Only what a way to some
    kept module needs is in it.
    """
    out: dict[str, list[tuple[str, str, str, int]]] = {}
    for source, target, kind, path, line in outcome.edges:
        out.setdefault(source, []).append((target, kind, path, line))
    parents: dict[str, tuple[str, str, str, int]] = {n: ("", "", "", 0) for n in sorted(out) if n.startswith("rule:")}
    todo = deque(parents)
    while todo:
        node = todo.popleft()
        for target, kind, path, line in out.get(node, ()):
            if target not in parents:
                parents[target] = (node, kind, path, line)
                todo.append(target)
    numbers: dict[str, int] = {}
    nodes: list[list[Any]] = []

    def add(name: str) -> int:
        chain = []
        at = name
        while at and at not in numbers:
            chain.append(at)
            at = parents[at][0]
        for step in reversed(chain):
            parent, kind, path, line = parents[step]
            numbers[step] = len(nodes)
            nodes.append([step, numbers[parent] if parent else -1, kind, places.get(path, -1), line])
        return numbers[name]

    of = {}
    for path, number in places.items():
        module = (
            (import_path(path, snapshot.python_root) or path)
            .removesuffix(".py")
            .removesuffix("/__init__")
            .replace("/", ".")
        )
        if path.endswith(".py") and module in parents and outcome.files.get(path, b"") is not None:
            of[str(number)] = add(module)
    return {"nodes": nodes, "of": of}
