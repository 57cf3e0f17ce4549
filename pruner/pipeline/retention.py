"""Retained sizes of the stored live graph: what would go with a node if the node went.

Source: sizes as heap profilers define them, over the immediate dominators that the run stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def module_of(path: str) -> str:
    """The module of a path below the Python root; "" for what is no module."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") if path.endswith(".py") else ""


def own_sizes(graph: Mapping[str, Any]) -> dict[str, tuple[str, int]]:
    """module -> (path, kept lines)."""
    prefix = f"{graph['root']}/" if graph["root"] else ""
    found = {}
    for path, lines in graph["lines"].items():
        module = module_of(path.removeprefix(prefix))
        if module:
            found[module] = (path, lines)
    return found


def retained_sizes(graph: Mapping[str, Any], folder: str = "") -> tuple[dict[str, int], dict[str, str]]:
    """(node -> kept lines that it alone holds, node -> its immediate dominator).

    The roots together are ``""``. ``folder``: the start of the paths of the modules that are counted.
    """
    nodes = graph["nodes"]
    dominators = {
        name: nodes[parent] if parent >= 0 else ""
        for name, parent in zip(nodes, graph["dominators"], strict=True)
        if parent != -2
    }
    total: dict[str, int] = {}
    for module, (path, lines) in own_sizes(graph).items():
        if module in dominators and path.startswith(folder):
            total[module] = lines
    depths: dict[str, int] = {"": 0}
    for node in dominators:
        chain = []
        while node not in depths:
            chain.append(node)
            node = dominators[node]
        for step, member in enumerate(reversed(chain), depths[node] + 1):
            depths[member] = step
    for node in sorted(dominators, key=lambda n: -depths[n]):
        if node in total:
            parent = dominators[node]
            total[parent] = total.get(parent, 0) + total[node]
    total.pop("", None)
    return {node: lines for node, lines in total.items() if lines}, dominators
