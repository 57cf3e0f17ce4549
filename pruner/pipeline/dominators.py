"""What every way from a start to a node goes through last: the immediate dominators of a graph of small integers.

Source: Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm" (2006), over lists in postorder: networkx's own,
over dictionaries of dictionaries, takes six times as long on the graph of a release.
"""

from __future__ import annotations

from collections.abc import Sequence


def immediate(after: Sequence[Sequence[int]], start: int) -> list[int]:
    """The immediate dominator of each node, of which ``after`` gives the successors; -1 for ``start`` and what it reaches not."""
    order = _postorder(after, start)
    number = [-1] * len(after)
    for index, node in enumerate(order):
        number[node] = index
    before: list[list[int]] = [[] for _ in order]
    for index, node in enumerate(order):
        for target in after[node]:
            before[number[target]].append(index)
    last = len(order) - 1  # the start's
    found = [-1] * last + [last]
    changed = True
    while changed:
        changed = False
        for node in range(last - 1, -1, -1):
            new = -1
            for other in before[node]:
                if found[other] < 0:
                    continue
                if new < 0:
                    new = other
                while new != other:  # the nearest that both have
                    if new < other:
                        new = found[new]
                    else:
                        other = found[other]
            if found[node] != new:
                found[node] = new
                changed = True
    dominators = [-1] * len(after)
    for node, dominator in zip(order[:-1], found, strict=False):
        dominators[node] = order[dominator]
    return dominators


def _postorder(after: Sequence[Sequence[int]], start: int) -> list[int]:
    """What ``start`` reaches, each node after those that were first seen below it."""
    seen = [False] * len(after)
    seen[start] = True
    order: list[int] = []
    stack = [(start, iter(after[start]))]
    while stack:
        node, rest = stack[-1]
        for target in rest:
            if not seen[target]:
                seen[target] = True
                stack.append((target, iter(after[target])))
                break
        else:
            order.append(node)
            stack.pop()
    return order
