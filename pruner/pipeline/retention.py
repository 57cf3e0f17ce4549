"""Retained sizes of the stored live graph: what would go with a node if the node went.

Source: immediate dominators by networkx (Cooper, Harvey and Kennedy's algorithm); sizes as heap
profilers define them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx


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

    The root of all is ``""``. ``folder`` counts only the modules below it.
    """
    links = nx.DiGraph((row[0], row[1]) for row in graph["edges"])
    links.add_edges_from(("", n) for n in list(links) if n.startswith("rule:"))
    links.add_edges_from(
        (n, n.split(":")[0]) for n in list(links) if ":" in n and not n.startswith("rule:") and n.split(":")[0] in links
    )
    if "" not in links:
        return {}, {}
    dominators: dict[str, str] = {n: d for n, d in nx.immediate_dominators(links, "").items() if n}
    total: dict[str, int] = {}
    for module, (path, lines) in own_sizes(graph).items():
        if module in dominators and path.startswith(folder):
            total[module] = lines
    for node in sorted(dominators, key=lambda n: _depth(dominators, n), reverse=True):
        parent = dominators[node]
        total[parent] = total.get(parent, 0) + total.get(node, 0)
    total.pop("", None)
    return {node: lines for node, lines in total.items() if lines}, dominators


def _depth(dominators: Mapping[str, str], node: str) -> int:
    depth = 0
    while node:
        node = dominators.get(node, "")
        depth += 1
    return depth
