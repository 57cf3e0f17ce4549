"""Executed lines of several runs together, and how much more is kept than ran.

What ran and is gone is judged elsewhere (:mod:`pruner.pipeline.trace`); that judge is handed to whoever collects.

Blind to what the tracer does not see: torch.compile, kernels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

Lines = Mapping[str, Iterable[int]]


def together(traces: Iterable[Lines]) -> dict[str, set[int]]:
    """The union of several runs' lines."""
    found: dict[str, set[int]] = defaultdict(set)
    for trace in traces:
        for path, lines in trace.items():
            found[path].update(lines)
    return found


def tightness(
    lines: Lines, kept: int, manifest: Mapping[str, Any], upstream: Path, edge: Callable[[str], str]
) -> dict[str, Any]:
    """Kept Python lines by those of them that ran; the largest kept files never executed, and what keeps each.

    ``kept``: executed lines that are kept. What upstream executed in files that went (their bodies, by import) is no
    line of the output: it would make the output look tighter than it is. ``edge``: path -> the edge by which it is kept.
    """
    sizes = dict(kept_sizes(manifest, upstream))
    total = sum(sizes.values())
    idle = sorted(((size, path) for path, size in sizes.items() if path not in lines), reverse=True)
    return {
        "kept lines": total,
        "kept lines of files that ran": sum(size for path, size in sizes.items() if path in lines),
        "executed lines": sum(len({number for number in numbers if number}) for numbers in lines.values()),
        "executed lines that are kept": kept,
        "kept by executed": round(total / kept, 2) if kept else None,
        "largest files that never ran": [[path, size, edge(path)] for size, path in idle[:20]],
    }


def kept_sizes(manifest: Mapping[str, Any], upstream: Path) -> Iterator[tuple[str, int]]:
    """Kept lines of each Python file."""
    for path, ranges in manifest["files"].items():
        if path.endswith(".py") and (upstream / path).is_file():
            whole = ranges is True
            yield path, (upstream / path).read_bytes().count(b"\n") if whole else sum(b - a + 1 for a, b in ranges)
