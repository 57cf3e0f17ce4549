"""What a run leaves for questions: the live graph and the line maps, in the reports folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from pruner.errors import cannot
from pruner.model import Cause, Edit, Outcome, Policy, Range, Snapshot
from pruner.pipeline.dominators import immediate
from pruner.pipeline.native import asking

NAME = "graph.json"
FORMAT = "prune-graph/2"
FACTS = "facts.json"
FACTS_FORMAT = "prune-facts/2"


def line_map(data: bytes, edits: Sequence[Edit]) -> list[list[int]]:
    """Runs of lines that survive: [generated line, upstream line, count], all 1-based."""
    runs: list[list[int]] = []
    out_line, up_line, at = 1, 1, 0
    fresh = True  # nothing of the current output line is written yet
    for edit in [*edits, None]:
        stop = len(data) if edit is None else edit.start
        if at < stop:
            ends = data.count(b"\n", at, stop)
            whole = data[stop - 1] == 10
            begun = 0 if fresh else 1  # the first of its lines was begun before it
            if (count := ends + (not whole) - begun) > 0:
                start, upstream = out_line + begun, up_line + begun
                if runs and runs[-1][0] + runs[-1][2] == start and runs[-1][1] + runs[-1][2] == upstream:
                    runs[-1][2] += count
                else:
                    runs.append([start, upstream, count])
            out_line += ends
            up_line += ends
            fresh = whole
        if edit is None:
            break
        added = edit.text.count(b"\n")
        if edit.text:
            out_line += added
            fresh = edit.text.endswith(b"\n") if added else fresh
        up_line += data.count(b"\n", edit.start, edit.stop)
        at = edit.stop
    return runs


def overlaid(graph: bytes, patched: Mapping[str, tuple[bytes, bytes | None]]) -> bytes:
    """The stored graph with line maps that lead to the tree an overlay made: path -> (before it, after it or None).

    Lines that the overlay put in have no upstream line. Source: difflib's matching blocks.
    """
    document = json.loads(graph)
    for path, (before, after) in patched.items():
        if path not in document["lines"]:
            continue  # a file of the overlay's own: nothing of it is upstream's
        if after is None:
            del document["lines"][path]
            document["maps"].pop(path, None)
            continue
        old, new = before.split(b"\n"), after.split(b"\n")
        runs = document["maps"].get(path, [[1, 1, document["lines"][path] + (not before.endswith(b"\n"))]])
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
        moved = []
        for start, upstream, count in runs:
            for here, there, size in blocks:
                first, stop = max(start, here + 1), min(start + count, here + 1 + size)
                if first < stop:
                    moved.append([there + first - here, upstream + first - start, stop - first])
        document["lines"][path] = after.count(b"\n")
        document["maps"][path] = sorted(moved)
    return json.dumps(document, separators=(",", ":"), sort_keys=True).encode() + b"\n"


def generated_line(graph: Mapping[str, Any], path: str, line: int) -> int:
    """The generated line of an upstream line; of one that is gone, that of the last line before it that is kept."""
    runs = graph["maps"].get(path)
    if runs is None or not line:
        return line
    found = 1
    for start, upstream, count in runs:
        if upstream > line:
            break
        found = start + min(line - upstream, count - 1)
    return int(found)


def read(
    reports: Path, name: str, advice: str = "run prune first, or name the folder with --reports"
) -> dict[str, Any]:
    """One JSON document that a run left among its reports. Raises PruneError PR307 when it cannot be read."""
    try:
        return dict(json.loads((reports / name).read_bytes()))
    except (OSError, ValueError) as error:
        raise cannot(str(reports / name), "PR307", f"cannot be read: {error}", advice) from error


def render(snapshot: Snapshot, outcome: Outcome) -> bytes:
    """The stored graph: roots, edges, dominators, kept lines per file, line maps of edited files. No source text.

    Names are listed once; an edge is five integers in a row: source, target, kind, path, line. ``sources``: what
    asks for each kept kernel source. ``folded``: the lines that edits take out of statements that stay.
    """
    lines: dict[str, int] = {}
    maps: dict[str, list[list[int]]] = {}
    ends: dict[str, int] = {}  # lines of an upstream file, where that is another number
    for file in snapshot.files:
        if file.link is not None:
            continue
        content = outcome.files.get(file.path, b"")
        if file.path in outcome.files and content is None:
            continue
        data = snapshot.read(file.path) if file.path not in outcome.files or file.path in outcome.edits else b""
        lines[file.path] = (content or b"").count(b"\n") if file.path in outcome.files else data.count(b"\n")
        if data and (end := data.count(b"\n") + (not data.endswith(b"\n"))) != lines[file.path]:
            ends[file.path] = end
        if file.path in outcome.edits:
            maps[file.path] = line_map(data, outcome.edits[file.path])
    nodes = sorted({n for e in outcome.edges for n in e[:2]} | {node for node, _ in outcome.roots})
    kinds = sorted({e[2] for e in outcome.edges})
    paths = sorted({e[3] for e in outcome.edges})
    at = ({n: i for i, n in enumerate(nodes)}, {k: i for i, k in enumerate(kinds)}, {p: i for i, p in enumerate(paths)})
    edges: list[int] = []
    for source, target, kind, path, line in outcome.edges:
        edges += (at[0][source], at[0][target], at[1][kind], at[2][path], line)
    document = {
        "format": FORMAT,
        "root": snapshot.python_root,
        "roots": sorted([at[0][node], rule] for node, rule in set(outcome.roots)),
        "nodes": nodes,
        "kinds": kinds,
        "paths": paths,
        "edges": edges,
        "dominators": _dominators(nodes, edges),
        "lines": lines,
        "maps": maps,
        "ends": ends,
        "upstream": sorted(f.path for f in snapshot.files),
        "sources": {
            path: (by, _upstream_line(maps.get(by), line))
            for path, (by, line) in asking(snapshot, outcome.files).items()
        },
    } | _folded(snapshot, outcome)
    return json.dumps(document, separators=(",", ":"), sort_keys=True).encode() + b"\n"


def _upstream_line(runs: Sequence[Sequence[int]] | None, line: int) -> int:
    """As the places of edges are."""
    if runs is None:
        return line
    return next((run[1] + line - run[0] for run in runs if run[0] <= line < run[0] + run[2]), 0)


def _folded(snapshot: Snapshot, outcome: Outcome) -> dict[str, Any]:
    """Path → [first line, last line, number of the cause] of each edit that takes lines, and the causes."""
    causes: dict[Cause, int] = {}
    folded: dict[str, list[list[int]]] = {}
    for path, edits in sorted(outcome.edits.items()):
        data = snapshot.read(path)
        line, at = 1, 0
        for edit in edits:
            line, at = line + data.count(b"\n", at, edit.start), edit.start
            last = line + data.count(b"\n", edit.start, max(edit.stop - 1, edit.start))
            if edit.stop > edit.start:
                folded.setdefault(path, []).append([line, last, causes.setdefault(edit.cause, len(causes))])
    return {
        "folded": folded,
        "causes": [{"kind": c.kind, "rules": list(c.rules), "chain": list(c.chain)} for c in causes],
    }


def edges_of(graph: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str, int]]:
    """(source, target, kind, path, line) of each edge of a stored graph, sorted."""
    nodes, kinds, paths, edges = graph["nodes"], graph["kinds"], graph["paths"], graph["edges"]
    for at in range(0, len(edges), 5):
        source, target, kind, path, line = edges[at : at + 5]
        yield nodes[source], nodes[target], kinds[kind], paths[path], line


def _dominators(nodes: Sequence[str], edges: Sequence[int]) -> list[int]:
    """The immediate dominator of each node: -1 for the roots together, -2 for what no root reaches.

    A definition keeps its module: to each edge into ``mod:name`` belongs one from there to ``mod``.
    """
    start = len(nodes)  # a node of its own before all roots
    after: list[list[int]] = [[] for _ in range(start + 1)]
    for source, target in set(zip(edges[::5], edges[1::5], strict=True)):  # most edges are there from many lines
        after[source].append(target)
    index = {name: i for i, name in enumerate(nodes)}
    for number, name in enumerate(nodes):
        if name.startswith("rule:"):
            after[start].append(number)
        elif ":" in name and (module := index.get(name.partition(":")[0])) is not None:
            after[number].append(module)
    return [-1 if found == start else -2 if found < 0 else found for found in immediate(after, start)[:start]]


def facts(policy: Policy, outcome: Outcome) -> bytes:
    """What became of each fact, for ``prune facts`` and ``prune rules explain``. No source text."""
    stated = {(f.subject, f.rule): f for f in policy.facts}
    rows = []
    for record in outcome.facts:
        fact = stated[record.subject, record.rule]
        row: dict[str, object] = {
            "subject": record.subject,
            "values": asdict(fact.values) if isinstance(fact.values, Range) else list(fact.values),
            "rule": record.rule,
            "location": f"{fact.location.file}:{fact.location.line}",
            "because": policy.by_id[record.rule].because,
            "status": record.status,
            "readers": list(record.readers),
            "folds": record.folds,
            "stores": [[s.path, s.line, s.text, s.standing] for s in record.stores],
        }
        if fact.valid_from:
            row["valid_from"] = fact.valid_from
        rows.append(row)
    document = {"format": FACTS_FORMAT, "facts": rows, "open_stores": [list(place) for place in outcome.open_stores]}
    return json.dumps(document, indent=1, sort_keys=True).encode() + b"\n"
