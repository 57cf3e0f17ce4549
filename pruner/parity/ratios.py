"""Figures of two trees' processes, pair by pair, held against how far upstream's own processes lie apart.

Blind to what slows both trees alike: only their ratio is looked at.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from pruner.parity.driver import SIDES

HIGHER = ("output_throughput", "total_throughput", "overall_throughput", "decode throughput", "request_throughput")
BAR = (0.98, 1.02)
Rows = Mapping[str, Sequence[float]]


def ratios(runs: Mapping[str, Sequence[Rows]]) -> dict[str, dict[str, Any]]:
    """Per figure: medians, the median ratio of the pairs, upstream against itself, and whether the ratio says anything.

    ``runs``: per side the figures of each process; the n-th of each side are a pair, which ran by turns, and so are
    their runs one by one (``ratio of runs``). ``alike``: inside the bar, or inside the range of upstream's own
    processes, as parts of their median.
    """
    table: dict[str, dict[str, Any]] = {}
    for name in sorted({name for rows in runs["upstream"] for name in rows}):
        up, out = ([list(rows[name]) for rows in runs[side] if rows.get(name)] for side in SIDES)
        met = [
            (one[name], other[name])
            for one, other in zip(runs["upstream"], runs["output"], strict=False)
            if one.get(name) and other.get(name)
        ]
        if not met:
            continue
        medians, others = ([statistics.median(values) for values in side] for side in (up, out))
        middle = statistics.median(medians)
        if not all(medians):
            continue
        pairs = [statistics.median(other) / statistics.median(one) for one, other in met]
        ratio = statistics.median(pairs)
        low, high = min(medians) / middle, max(medians) / middle
        table[name] = {
            "upstream": round(middle, 6),
            "output": round(statistics.median(others), 6),
            "ratio": round(ratio, 4),
            "pairs": [round(pair, 4) for pair in pairs],
            "ratio of runs": round(statistics.median(by_run(met)), 4),
            "upstream's runs": [round(bound(value for row in up for value in row) / middle, 4) for bound in (min, max)],
            "upstream's processes": [round(low, 4), round(high, 4)],
            "processes": [len(up), len(out)],
            "runs": [sum(map(len, up)), sum(map(len, out))],
            "in the bar": BAR[0] <= ratio <= BAR[1],
            "alike": min(low, BAR[0]) <= ratio <= max(high, BAR[1]),
        }
        table[name]["values"] = dict(zip(SIDES, (up, out), strict=True))
        if len(medians) > 1:
            itself = statistics.median(medians[1::2]) / statistics.median(medians[::2])
            table[name]["upstream against itself"] = round(itself, 4)
    return table


def by_run(met: Sequence[tuple[Sequence[float], Sequence[float]]]) -> list[float]:
    """The ratios of runs that followed each other: the k-th of the n-th process of each tree."""
    found = []
    for first, second in met:
        found += [other / one for one, other in zip(first, second, strict=False) if one]
    return found or [0.0]


def everyone(pairs: Sequence[int]) -> dict[str, str]:
    """Who takes turns -> whose tree it runs; the trees alternate, and so does who is first in its pair.

    Four servers that start at once are not equal: the last one had the kernel compiler's processes to itself, and was
    always the output's.
    """
    return {f"{side}-{number}": side for number in pairs for side in (SIDES if number % 2 == 0 else SIDES[::-1])}


def by_side(found: Mapping[str, Sequence[Mapping[str, Any]]], wanted: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The ratios of what each process measured."""
    sides = {side: [columns(rows, wanted) for who, rows in found.items() if who.startswith(side)] for side in SIDES}
    return ratios(sides)


def columns(rows: Sequence[Mapping[str, Any]], wanted: Sequence[str]) -> dict[str, list[float]]:
    """The wanted numbers of several runs, by name; where runs differ in their batch, by name and batch."""
    several = len({row.get("batch_size") for row in rows}) > 1
    found: dict[str, list[float]] = {}
    for row in rows:
        for name in wanted:
            if isinstance(row.get(name), int | float):
                key = f"{name}, batch {row['batch_size']}" if several else name
                found.setdefault(key, []).append(float(row[name]))
    return found


def waves(pairs: int, at_once: int) -> list[range]:
    """The numbers of the pairs, as many at once as the card holds."""
    return [range(start, min(start + at_once, pairs)) for start in range(0, pairs, at_once)]
