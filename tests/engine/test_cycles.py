"""Components of a graph of imports, their order and what they lead to, as networkx has them."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from pruner.graph.cycles import Graph, components, lead, reached, upwards

NAMES = st.sampled_from("abcdefghijk")
ROWS = st.lists(
    st.tuples(NAMES, st.lists(NAMES, max_size=5)), max_size=20
)  # a name may come again: its row is replaced


@given(ROWS)
def test_as_networkx_has_them(rows: list[tuple[str, list[str]]]) -> None:
    graph: Graph = {}
    other: nx.DiGraph[str] = nx.DiGraph()
    for name, following in rows:
        lead(graph, name, following)
        other.add_node(name)
        other.remove_edges_from([*other.out_edges(name)])
        other.add_edges_from((name, one) for one in following)
    assert components(graph) == list(nx.strongly_connected_components(other))
    condensed = nx.condensation(other)
    order = reversed(list(nx.topological_sort(condensed)))
    wanted = [(n, condensed.nodes[n]["members"], list(condensed.successors(n))) for n in order]
    assert [(number, members, list(below)) for number, members, below in upwards(graph)] == wanted
    for name in graph:
        assert reached(graph, name) == nx.descendants(other, name)


def test_two_cycles_of_which_one_leads_to_the_other() -> None:
    graph: Graph = {}
    lead(graph, "a", ["b"])
    lead(graph, "b", ["a", "c"])
    lead(graph, "c", ["d"])
    lead(graph, "d", ["c"])
    assert components(graph) == [{"c", "d"}, {"a", "b"}]
    assert [(members, list(below)) for _, members, below in upwards(graph)] == [({"c", "d"}, []), ({"a", "b"}, [0])]
    assert reached(graph, "a") == {"b", "c", "d"}
