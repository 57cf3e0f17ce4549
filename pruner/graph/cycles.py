"""Cycles of the graph of imports, over dictionaries: networkx took three times as long, and a tenth of a second to load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

Graph = dict[str, dict[str, None]]  # name → what it leads to, in an order


def lead(graph: Graph, name: str, following: Iterable[str]) -> None:
    """From now on a name leads to these, and to nothing else."""
    graph.setdefault(name, {})
    graph[name] = dict.fromkeys(following)
    for other in graph[name]:
        graph.setdefault(other, {})


def components(graph: Mapping[str, Iterable[str]]) -> list[set[str]]:
    """The strongly connected components, each behind those that it leads to (Tarjan's algorithm)."""
    met: dict[str, int] = {}
    lowest: dict[str, int] = {}  # the first met that a name leads to, of those whose component is not known
    pending: list[str] = []
    found: list[set[str]] = []
    done: set[str] = set()
    for start in graph:
        if start in met:
            continue
        met[start] = lowest[start] = len(met)
        pending.append(start)
        stack = [(start, iter(graph[start]))]
        while stack:
            name, rest = stack[-1]
            for other in rest:
                if other not in met:
                    met[other] = lowest[other] = len(met)
                    pending.append(other)
                    stack.append((other, iter(graph[other])))
                    break
                if other not in done and met[other] < lowest[name]:
                    lowest[name] = met[other]
            else:
                stack.pop()
                if stack and lowest[name] < lowest[stack[-1][0]]:
                    lowest[stack[-1][0]] = lowest[name]
                if lowest[name] == met[name]:
                    at = pending.index(name) if pending[-1] != name else len(pending) - 1
                    found.append(set(pending[at:]))
                    done.update(pending[at:])
                    del pending[at:]
    return found


def upwards(graph: Graph) -> Iterator[tuple[int, set[str], Iterable[int]]]:
    """The components by number, with their members and the numbers of those that each leads to, which come before it."""
    members = components(graph)
    numbers = {name: number for number, names in enumerate(members) for name in names}
    below: list[dict[int, None]] = [{} for _ in members]
    for name, following in graph.items():
        number = numbers[name]
        row = below[number]
        for other in following:
            if numbers[other] != number:
                row[numbers[other]] = None
    above = Counter(lower for row in below for lower in row)
    order = [number for number in range(len(members)) if not above[number]]
    for number in order:  # grows
        for lower in below[number]:
            above[lower] -= 1
            if not above[lower]:
                order.append(lower)
    for number in reversed(order):
        yield number, members[number], below[number]


def reached(graph: Graph, start: str) -> set[str]:
    """What a name leads to, at any distance; not itself."""
    found = {start}
    stack = [start]
    while stack:
        more = graph[stack.pop()].keys() - found
        found |= more
        stack += more
    return found - {start}
