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
    """Kept Python lines by those of them that ran, whole and by folder; the largest files never executed; what keeps each.

    ``kept``: executed lines that are kept. What upstream executed in files that went (their bodies, by import) is no
    line of the output: it would make the output look tighter than it is. ``edge``: path of a file or folder -> the edge by which it is kept.
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
        "largest folders": [
            [folder, size, ran, round(size / ran, 1) if ran else None, edge(folder)]
            for folder, size, ran in by_folder(sizes, ran_kept(lines, manifest))[:20]
        ],
    }


def by_folder(sizes: Mapping[str, int], ran: Mapping[str, int]) -> list[tuple[str, int, int]]:
    """(folder, kept lines, those that ran) of disjoint folders, the largest first.

    A folder with more than a tenth of all lines is told as the folders in it, and as itself for the files that lie in
    it directly.
    """
    bound = sum(sizes.values()) / 10
    found: list[tuple[str, int, int]] = []

    def told(folder: str, paths: list[str], whole: bool) -> None:
        below: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            inner, slash, _ = path[len(folder) + 1 if folder else 0 :].partition("/")
            below[inner if slash else ""].append(path)
        size = sum(sizes[path] for path in paths)
        if whole and size > bound and set(below) != {""}:
            for inner, some in below.items():
                told(f"{folder}/{inner}".strip("/"), some, bool(inner))
        elif paths:
            found.append((folder, size, sum(ran.get(path, 0) for path in paths)))

    told("", list(sizes), True)
    return sorted(found, key=lambda row: (-row[1], row[0]))


def ran_kept(lines: Lines, manifest: Mapping[str, Any]) -> dict[str, int]:
    """Of each kept file, the executed lines that its kept ranges hold."""
    found = {}
    for path, ranges in manifest["files"].items():
        numbers = [number for number in lines.get(path, ()) if number]
        whole = ranges is True
        found[path] = len(
            {number for number in numbers if whole or any(first <= number <= last for first, last in ranges)}
        )
    return found


def kept_sizes(manifest: Mapping[str, Any], upstream: Path) -> Iterator[tuple[str, int]]:
    """Kept lines of each Python file."""
    for path, ranges in manifest["files"].items():
        if path.endswith(".py") and (upstream / path).is_file():
            whole = ranges is True
            yield path, (upstream / path).read_bytes().count(b"\n") if whole else sum(b - a + 1 for a, b in ranges)
