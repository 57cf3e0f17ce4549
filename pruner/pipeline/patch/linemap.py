"""Lines of one tree in the other, from the stored line maps of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class LineMap:
    """Maps 1-based lines of one direction. ``upstream`` True: from upstream to the generated tree."""

    def __init__(self, graph: Mapping[str, Any], upstream: bool) -> None:
        self._maps: Mapping[str, list[list[int]]] = graph["maps"]
        self._kept: frozenset[str] = frozenset(graph["lines"])
        self._known: frozenset[str] = self._kept | frozenset(graph["upstream"])
        self._from, self._to = (1, 0) if upstream else (0, 1)

    def known(self, path: str) -> bool:
        """Is it a file of either tree?"""
        return path in self._known

    def kept(self, path: str) -> bool:
        """Is it a file of the generated tree?"""
        return path in self._kept

    def line(self, path: str, number: int) -> int | None:
        """The line's number in the other tree, or None when it is not there."""
        if path not in self._kept:
            return None
        runs = self._maps.get(path)
        if runs is None:
            return number
        for run in runs:
            if run[self._from] <= number < run[self._from] + run[2]:
                return run[self._to] + number - run[self._from]
        return None

    def beside(self, path: str) -> str:
        """What a new file would stand beside: ``kept`` files, only such as are ``gone``, or ``outside`` of the tree."""
        parts = path.split("/")[:-1]
        while parts:
            folder = "/".join(parts) + "/"
            if any(name.startswith(folder) for name in self._kept):
                return "kept"
            if any(name.startswith(folder) for name in self._known):
                return "gone"
            parts.pop()
        return "outside" if "/" in path else "kept"

    def prefix(self, path: str) -> str:
        """What a path of a whole checkout (``python/sglang/a.py``) has before the tree's (``sglang/a.py``)."""
        found = None if path in self._known else self.find(path)
        return path[: -len(found)] if found is not None and "/" in found else ""

    def find(self, path: str) -> str | None:
        """The file of the tree that a longer path (``/opt/x/site-packages/sglang/a.py``) ends in."""
        parts = path.replace("\\", "/").split("/")
        return next((p for i in range(len(parts)) if (p := "/".join(parts[i:])) in self._known), None)
