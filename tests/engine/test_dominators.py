"""Immediate dominators, as networkx has them."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from pruner.pipeline.dominators import immediate

EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=40)


@given(EDGES, st.integers(0, 11))
def test_as_networkx_has_them(edges: list[tuple[int, int]], start: int) -> None:
    after: list[list[int]] = [[] for _ in range(12)]
    for source, target in edges:
        after[source].append(target)
    graph: nx.DiGraph[int] = nx.DiGraph(edges)
    graph.add_nodes_from(range(12))
    wanted = nx.immediate_dominators(graph, start)
    assert immediate(after, start) == [wanted.get(node, -1) for node in range(12)]


def test_a_way_around_is_seen() -> None:
    # 0 -> 1 -> 2 -> 3 and 0 -> 2: nothing but the start is on every way to 2
    assert immediate([[1, 2], [2], [3], []], 0) == [-1, 0, 0, 2]
    assert immediate([[1], [2], [0], [2]], 0) == [-1, 0, 1, -1]
