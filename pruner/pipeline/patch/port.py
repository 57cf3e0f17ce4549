"""A patch against one tree, change by change: kept code, removed code, or neither; and the same patch for the other.

Blind to: what a change means. A hunk that lands in kept code may still speak of names that are gone.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pruner.pipeline.patch.linemap import LineMap
from pruner.pipeline.patch.parse import FilePatch, split
from pruner.pipeline.patch.place import Change, changes, locate, rewritten

Read = Callable[[str], bytes | None]
Why = Callable[[str, int], str]


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one change. ``status``: ported, removed, conflict, unplaced, new, foreign, outside, left."""

    path: str
    line: int  # of the tree that the patch was made against, 1-based
    count: int  # old lines
    target: int | None  # line in the other tree
    status: str
    text: str
    number: int  # line of the patch

    def row(self) -> dict[str, Any]:
        """For JSON."""
        return {key: getattr(self, key) for key in self.__slots__}


@dataclass(frozen=True, slots=True)
class Ported:
    """All changes, and the patch for the other tree as text."""

    rows: tuple[Row, ...]
    diff: str


def port(patches: Sequence[FilePatch], source: Read, target: Read, lines: LineMap, why: Why) -> Ported:
    """Carry a patch over. ``source`` and ``target`` give a file's bytes in the two trees, None where it is not."""
    rows: list[Row] = []
    out: list[str] = []
    for patch in patches:
        found, text = _file(patch, source, target, lines, why)
        rows += found
        out += text
    return Ported(tuple(rows), "".join(out))


def _file(patch: FilePatch, source: Read, target: Read, lines: LineMap, why: Why) -> tuple[list[Row], list[str]]:
    path, number = patch.path, patch.number
    renamed = patch.old is not None and patch.new is not None and patch.old != patch.new
    if (patch.binary or renamed) and patch.old is not None and source(patch.old) is not None:
        if target(patch.old) is None:
            return [Row(patch.old, 1, 0, None, "removed", why(patch.old, 1), number)], []
    elif not lines.known(patch.old or path) and lines.beside(patch.old or path) == "outside":
        return [Row(path, 0, 0, None, "outside", "lies outside of what was pruned", number)], []
    if patch.binary:
        return [Row(path, 0, 0, None, "left", "a binary patch is not carried over", number)], []
    if patch.old is None:
        new = [text for hunk in patch.hunks for text in hunk.new]
        text = "a new file; it is carried over as it is"
        if target(path) is not None:
            return [Row(path, 1, 0, None, "conflict", "a new file that is already there", number)], []
        if lines.beside(path) == "gone":
            return [Row(path, 1, 0, None, "removed", "a new file in a folder of which nothing is kept", number)], []
        return [Row(path, 1, 0, 1, "new", text, number)], _diff(path, [], new, new_file=True)
    if renamed:
        return [Row(path, 0, 0, None, "left", f"a renaming of {patch.old} is not carried over", number)], []
    data = source(patch.old)
    if data is None:
        return [Row(path, 0, 0, None, "foreign", "is no file of the tree that the patch speaks of", number)], []
    there = split(data)
    other = target(patch.old)
    if other is None:
        rows = []
        for hunk in patch.hunks:
            at = locate(hunk, there)
            line = at + 1 if at is not None else hunk.start
            rows.append(Row(path, line, len(hunk.old), None, "removed", why(path, line), hunk.number))
        return rows or [Row(path, 1, 0, None, "removed", why(path, 1), number)], []
    goal = split(other)
    rows, edits = [], []
    for hunk in patch.hunks:
        at = locate(hunk, there)
        if at is None:
            text = "its lines stand nowhere in the file: the patch is for another version"
            rows.append(Row(path, hunk.start, len(hunk.old), None, "unplaced", text, hunk.number))
            continue
        for change in changes(hunk, at):
            row, edit = _change(path, change, hunk.number, there, goal, lines, why)
            rows.append(row)
            if edit is not None:
                edits.append(edit)
    if patch.new is None and all(row.status in ("ported", "removed") for row in rows):
        return rows, _diff(path, goal, [], new_file=False)
    return rows, _diff(path, goal, rewritten(goal, edits)) if edits else []


def _change(
    path: str, change: Change, number: int, there: list[str], goal: list[str], lines: LineMap, why: Why
) -> tuple[Row, Change | None]:
    first = change.start + 1

    def row(status: str, target: int | None, text: str) -> Row:
        return Row(path, first, len(change.old), target, status, text, number)

    if not change.old:
        return _insertion(path, change, goal, lines, why, row)
    mapped = [lines.line(path, first + i) for i in range(len(change.old))]
    present = [at for at in mapped if at is not None]
    if not present:
        return row("removed", None, why(path, first)), None
    if len(present) < len(mapped):
        gone = first + mapped.index(None)
        return row("conflict", present[0], f"line {gone} of it is gone: {why(path, gone)}"), None
    start = present[0] - 1
    if present != list(range(start + 1, start + 1 + len(present))):
        return row("conflict", present[0], "its lines no longer stand together"), None
    if tuple(goal[start : start + len(present)]) != change.old:
        return row("conflict", present[0], "one of its lines was edited by a fold"), None
    return row("ported", start + 1, ""), Change(start, change.old, change.new)


def _insertion(
    path: str, change: Change, goal: list[str], lines: LineMap, why: Why, row: Callable[..., Row]
) -> tuple[Row, Change | None]:
    """An insertion goes between its neighbours; a neighbour that is gone leaves one to hold on to."""
    above = lines.line(path, change.start) if change.start else 0
    below = lines.line(path, change.start + 1)
    if above is None and below is None:
        return row("removed", None, why(path, max(change.start, 1))), None
    if above is not None and below is not None and below < above:
        return row("conflict", above, "its neighbours no longer stand in this order"), None
    at = above if above is not None else (below or 1) - 1
    if above is None or (below is None and at < len(goal)):
        gone = change.start if above is None else change.start + 1
        return row("conflict", at + 1, f"the line beside it is gone: {why(path, gone)}"), None
    return row("ported", at + 1, ""), Change(at, (), change.new)


def _diff(path: str, old: list[str], new: list[str], new_file: bool | None = None) -> list[str]:
    names = ("/dev/null" if new_file else f"a/{path}", "/dev/null" if new_file is False else f"b/{path}")
    out = [f"diff --git a/{path} b/{path}\n"]
    if new_file is not None:
        out.append("new file mode 100644\n" if new_file else "deleted file mode 100644\n")
    for line in difflib.unified_diff(old, new, *names):
        out.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return out
