"""Executed lines as an oracle: what upstream really ran must be in the output, or have a cause that says why not.

Traces may only show wrong removals; they never justify one. Each executed upstream line is

- ``kept``: in a line range that ``PRUNED.json`` keeps;
- ``folded``: in a test, branch, tail or assertion that a fact decided, or on the line of such a test;
- ``module``: run by import alone, outside any function;
- ``by rule``: in a function of a file or definition that a ``drop`` rule names;
- ``missing``: none of these. A missing line is a fault of the pruner or of a rule.

A ``by rule`` line was executed all the same, so the rule is wrong about it or its stand-in answers alike: such lines
are counted and named, too.

Blind to what the tracer does not see: torch.compile, kernels.
"""

from __future__ import annotations

import ast
import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDED = frozenset({"fact", "constant"})
SHOWN = 60
Lines = Mapping[str, Iterable[int]]
Rows = list[tuple[int, int, str, str]]
Removals = Mapping[str, Rows]


@dataclass
class Count:
    """Executed lines by class; ``named`` are the places of those that should not be gone."""

    classes: Counter[str] = field(default_factory=Counter)
    named: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        return {**dict(sorted(self.classes.items())), "places": self.named[:SHOWN]}


def function_lines(text: bytes) -> set[int]:
    """Lines of function bodies; a docstring is none, and a nested class or decorator belongs to its function."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.update(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
    return found


def kept(ranges: Any, lows: list[int], line: int) -> bool:
    """Whether a file's entry in the manifest (True, or ranges that begin at ``lows``) holds a line."""
    if ranges is True:
        return True
    place = bisect.bisect_right(lows, line) - 1
    return place >= 0 and line <= int(ranges[place][1])


def removals(ledger: Mapping[str, Any]) -> Removals:
    """The ledger's rows by file: first line, last line, what, kind of cause."""
    found: dict[str, Rows] = defaultdict(list)
    for row in ledger["removals"]:
        first, last = row["lines"]
        found[row["path"]].append((first, last, row["what"], row["cause"]["kind"]))
    return found


def classify(lines: Lines, upstream: Path, manifest: Mapping[str, Any], gone: Removals) -> Count:
    """Count the executed lines of one run, or of several together."""
    count = Count()
    for path in sorted(lines):
        source = upstream / path
        if not source.is_file():
            count.classes["no such file"] += 1
            continue
        ranges = manifest["files"].get(path)
        lows = [low for low, _high in ranges] if isinstance(ranges, list) else []
        numbers = sorted(line for line in set(lines[path]) if line > 0)  # the start of a module has no line
        absent = [line for line in numbers if not kept(ranges, lows, line)]
        count.classes["kept"] += len(numbers) - len(absent)
        inside = function_lines(source.read_bytes()) if absent else set()
        for line in absent:
            name = place(gone.get(path, []), line) if line in inside else "module"
            count.classes[name] += 1
            if name in ("missing", "by rule"):
                count.named.append(f"{path}:{line} {name}")
    return count


def place(rows: Rows, line: int) -> str:
    """The class of a line of a function that ran and is gone."""
    # Innermost first: a folded branch inside a function that is there is that branch, not the function.
    around = sorted((row for row in rows if row[0] <= line <= row[1]), key=lambda row: row[1] - row[0])
    if any(kind in FOLDED for *_, kind in around):
        return "folded"
    if around and around[0][3] == "orphan":
        return "folded"  # an import that only folded or dropped code used
    if around and around[0][3] == "rule":
        return "by rule"
    return "missing"


def together(traces: Iterable[Lines]) -> dict[str, set[int]]:
    """The union of several runs' lines."""
    found: dict[str, set[int]] = defaultdict(set)
    for trace in traces:
        for path, lines in trace.items():
            found[path].update(lines)
    return found


def tightness(lines: Lines, manifest: Mapping[str, Any], upstream: Path) -> dict[str, Any]:
    """Kept Python lines by traced ones, over functions that were entered; the largest kept files never executed."""
    sizes = dict(kept_sizes(manifest, upstream))
    traced = sum(len(set(numbers)) for numbers in lines.values())
    idle = sorted(((size, path) for path, size in sizes.items() if path not in lines), reverse=True)
    return {
        "kept lines": sum(sizes.values()),
        "kept lines of files that ran": sum(size for path, size in sizes.items() if path in lines),
        "executed lines": traced,
        "largest files that never ran": [[path, size] for size, path in idle[:20]],
    }


def kept_sizes(manifest: Mapping[str, Any], upstream: Path) -> Iterator[tuple[str, int]]:
    """Kept lines of each Python file."""
    for path, ranges in manifest["files"].items():
        if path.endswith(".py") and (upstream / path).is_file():
            whole = ranges is True
            yield path, (upstream / path).read_bytes().count(b"\n") if whole else sum(b - a + 1 for a, b in ranges)
