"""What a run leaves for questions: the live graph and the line maps, in the reports folder."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pruner.model import Edit, Outcome, Snapshot

NAME = "graph.json"
FORMAT = "prune-graph/1"


def line_map(data: bytes, edits: Sequence[Edit]) -> list[list[int]]:
    """Runs of lines that survive: [generated line, upstream line, count], all 1-based."""
    runs: list[list[int]] = []
    out_line, up_line, at = 1, 1, 0
    fresh = True  # nothing of the current output line is written yet
    for edit in [*edits, None]:
        stop = len(data) if edit is None else edit.start
        while at < stop:
            end = data.find(b"\n", at, stop)
            piece_end = stop if end < 0 else end + 1
            if fresh:
                if runs and runs[-1][0] + runs[-1][2] == out_line and runs[-1][1] + runs[-1][2] == up_line:
                    runs[-1][2] += 1
                else:
                    runs.append([out_line, up_line, 1])
                fresh = False
            if end >= 0:
                out_line += 1
                up_line += 1
                fresh = True
            at = piece_end
        if edit is None:
            break
        added = edit.text.count(b"\n")
        if edit.text:
            out_line += added
            fresh = edit.text.endswith(b"\n") if added else fresh
        up_line += data.count(b"\n", edit.start, edit.stop)
        at = edit.stop
    return runs


def render(snapshot: Snapshot, outcome: Outcome) -> bytes:
    """The stored graph: roots, edges, kept lines per file, line maps of edited files. No source text."""
    lines: dict[str, int] = {}
    maps: dict[str, list[list[int]]] = {}
    for file in snapshot.files:
        if file.link is not None:
            continue
        content = outcome.files.get(file.path, b"")
        if file.path in outcome.files and content is None:
            continue
        data = snapshot.read(file.path) if file.path not in outcome.files or file.path in outcome.edits else b""
        lines[file.path] = (content or b"").count(b"\n") if file.path in outcome.files else data.count(b"\n")
        if file.path in outcome.edits:
            maps[file.path] = line_map(data, outcome.edits[file.path])
    document = {
        "format": FORMAT,
        "root": snapshot.python_root,
        "roots": sorted(set(outcome.roots)),
        "edges": outcome.edges,
        "lines": lines,
        "maps": maps,
        "upstream": sorted(f.path for f in snapshot.files),
    }
    return json.dumps(document, separators=(",", ":"), sort_keys=True).encode() + b"\n"
