"""Which lines of the output are lines of upstream, in order. Text alone, indentation aside.

Blank lines take no part. Anchors are lines that occur once on each side (as in patience diff);
between anchors that are too far apart to compare, nothing is matched and tokens decide.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from difflib import SequenceMatcher

SMALL = 60_000  # product of the lengths up to which the slow exact matcher is used

Pairs = list[tuple[int, int]]


def align(a: list[str], b: list[str]) -> Pairs:
    """Matched index pairs, rising on both sides. Empty strings are never matched."""
    left = [index for index, line in enumerate(a) if line]
    right = [index for index, line in enumerate(b) if line]
    found = _align([a[i] for i in left], [b[j] for j in right])
    return [(left[i], right[j]) for i, j in found]


def _align(a: list[str], b: list[str]) -> Pairs:
    found: Pairs = []
    stack = [(0, len(a), 0, len(b))]
    while stack:
        a0, a1, b0, b1 = stack.pop()
        while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
            found.append((a0, b0))
            a0, b0 = a0 + 1, b0 + 1
        while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
            a1, b1 = a1 - 1, b1 - 1
            found.append((a1, b1))
        if a0 == a1 or b0 == b1:
            continue
        anchors = _anchors(a, a0, a1, b, b0, b1)
        if anchors:
            last_a, last_b = a0, b0
            for i, j in anchors:
                found.append((i, j))
                stack.append((last_a, i, last_b, j))
                last_a, last_b = i + 1, j + 1
            stack.append((last_a, a1, last_b, b1))
        elif (a1 - a0) * (b1 - b0) <= SMALL:
            for block in SequenceMatcher(None, a[a0:a1], b[b0:b1], autojunk=False).get_matching_blocks():
                found.extend((a0 + block.a + k, b0 + block.b + k) for k in range(block.size))
    found.sort()
    return found


def _anchors(a: list[str], a0: int, a1: int, b: list[str], b0: int, b1: int) -> Pairs:
    """The longest rising sequence of lines that are unique on both sides."""
    count_a, count_b = Counter(a[a0:a1]), Counter(b[b0:b1])
    where = {line: j for j, line in enumerate(b[b0:b1], b0) if count_b[line] == 1 and count_a.get(line) == 1}
    pairs = [(i, where[line]) for i, line in enumerate(a[a0:a1], a0) if line in where]
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = [-1] * len(pairs)
    for index, (_, j) in enumerate(pairs):
        place = bisect_left(tails, j)
        if place == len(tails):
            tails.append(j)
            ends.append(index)
        else:
            tails[place] = j
            ends[place] = index
        before[index] = ends[place - 1] if place else -1
    chain: Pairs = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    chain.reverse()
    return chain
