"""Modules, definitions and lines that moved across the cut, each with the edge or rule responsible."""

from __future__ import annotations

from typing import Any

from pruner.pipeline.change.causes import file_removal, last_user, rules_behind
from pruner.pipeline.change.side import Side, cause_row, edge_row
from pruner.pipeline.retention import retained_sizes

GROWTH = 50  # rows of the growth table


def modules(base: Side, head: Side) -> dict[str, Any]:
    """Newly kept modules by the edge through which they came in; modules lost, by cause; and what both are about."""
    groups: dict[Any, list[str]] = {}
    for module in sorted(head.kept.keys() - base.kept.keys()):
        groups.setdefault(_entrance(base, head, module), []).append(module)
    entered: list[dict[str, Any]] = []
    reasons: dict[tuple[str, ...], list[str]] = {}
    for edge, members in groups.items():
        rows = []
        for module in members:
            was, before = _was(base, module)
            rows.append({"module": module, "lines": head.kept[module][1], "was": was, "removed_by": before})
            reasons.setdefault(tuple(before) if was == "removed" else (was,), []).append(module)
        total = sum(head.kept[m][1] for m in members)
        entered.append({"by": edge_row(edge), "lines": total, "modules": rows})
    entered.sort(key=lambda row: (-row["lines"], row["modules"][0]["module"]))
    removed = []
    for module in sorted((base.kept.keys() - head.kept.keys()) & head.upstream):
        row = file_removal(head, module)
        path, lines = base.kept[module]
        removed.append(
            {
                "module": module,
                "path": path,
                "lines": lines,
                "cause": cause_row(row) if row else None,
                "used": last_user(base, head, module),
            }
        )
    gone = sorted(base.kept.keys() - head.kept.keys() - head.upstream)
    return {
        "newly_kept": entered,
        "why": [
            {
                "was": "not there" if why == ("not there",) else "removed",
                "rules": [] if why == ("not there",) else list(why),
                "in_force": [rule for rule in why if rule in head.rules],
                "modules": len(members),
                "lines": sum(head.kept[m][1] for m in members),
            }
            for why, members in sorted(reasons.items(), key=lambda r: (-sum(head.kept[m][1] for m in r[1]), r[0]))
        ],
        "newly_removed": removed,
        "gone_upstream": [{"module": m, "lines": base.kept[m][1]} for m in gone],
    }


def _was(base: Side, module: str) -> tuple[str, list[str]]:
    """(``not there`` or ``removed``, the rules that took it from the base)."""
    if module not in base.upstream:
        return "not there", []
    row = file_removal(base, module)
    return "removed", rules_behind(base, row) if row is not None else []


def _entrance(base: Side, head: Side, module: str) -> Any:
    """The first edge on the way from the roots to the module that leaves what the base kept."""
    edge = head.parents.get(module)
    while edge is not None:
        source = edge[0]
        if source.startswith("rule:") or source in base.nodes:
            return edge
        edge = head.parents.get(source)
    return None


def definitions(base: Side, head: Side) -> dict[str, Any]:
    """Top-level names that were removed and are kept now, or the other way round, in modules of both."""
    kept: list[dict[str, Any]] = []
    removed: list[dict[str, Any]] = []
    for name, row in sorted(base.removals.items()):
        module, _, own = name.rpartition(".")
        node = f"{module}:{own}"
        if row["what"] != "file" and name not in head.removals and node in head.nodes:
            first, last = row["lines"]
            found = {
                "name": node,
                "what": row["what"],
                "lines": last - first + 1,
                "removed_by": rules_behind(base, row),
            }
            kept.append(found | {"by": edge_row(head.parents.get(node))})
    for name, row in sorted(head.removals.items()):
        module, _, own = name.rpartition(".")
        node = f"{module}:{own}"
        if row["what"] != "file" and name not in base.removals and node in base.nodes:
            first, last = row["lines"]
            found = {"name": node, "what": row["what"], "lines": last - first + 1, "cause": cause_row(row)}
            removed.append(found | {"used": last_user(base, head, node)})
    for rows in (kept, removed):
        rows.sort(key=lambda row: (-row["lines"], row["name"]))
    return {"newly_kept": kept, "newly_removed": removed}


def files(base: Side, head: Side) -> list[dict[str, Any]]:
    """Files kept in both whose kept lines moved, the largest movement first."""
    rows = []
    for path in sorted(base.lines.keys() & head.lines.keys()):
        (up, now), (later_up, later) = base.lines[path], head.lines[path]
        if now is None or later is None or now == later:
            continue
        rows.append({"path": path, "upstream": (later_up or 0) - (up or 0), "kept": later - now})
    return sorted(rows, key=lambda row: (-abs(row["kept"]), row["path"]))


def lines(base: Side, head: Side) -> list[dict[str, Any]] | None:
    """Upstream lines that only one side keeps, with the removal of the other; None for two upstreams."""
    if base.report["upstream"]["snapshot"] != head.report["upstream"]["snapshot"]:
        return None
    out = []
    for path in sorted(base.lines):
        one, other = _ranges(base, path), _ranges(head, path)
        for word, left, right, side in (("newly removed", one, other, head), ("newly kept", other, one, base)):
            for first, last in _minus(left, right):
                out.append({"path": path, "lines": [first, last], "change": word, "cause": _cause(side, path, first)})
    return out


def _ranges(side: Side, path: str) -> list[tuple[int, int]]:
    """Upstream line ranges that the side keeps of a file."""
    if path in side.graph["maps"]:
        return [(run[1], run[1] + run[2] - 1) for run in side.graph["maps"][path]]
    count = side.graph["lines"].get(path)
    return [(1, count)] if count else []


def _minus(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of ``left`` that no range of ``right`` covers; both sorted."""
    out = []
    for first, last in left:
        at = first
        for start, stop in right:
            if stop < at or start > last:
                continue
            if start > at:
                out.append((at, start - 1))
            at = stop + 1
        if at <= last:
            out.append((at, last))
    return out


def _cause(side: Side, path: str, line: int) -> dict[str, Any] | None:
    """The innermost ledger row of a side that covers an upstream line."""
    rows = [r for r in side.ledger["removals"] if r["path"] == path and r["lines"][0] <= line <= r["lines"][1]]
    return cause_row(min(rows, key=lambda r: r["lines"][1] - r["lines"][0])) if rows else None


def growth(base: Side, head: Side) -> list[dict[str, Any]]:
    """Nodes whose retained size grew most; a node whose growth is that of one node below it is left out."""
    before, _ = retained_sizes(base.graph)
    after, dominators = retained_sizes(head.graph)
    grown = {n: after[n] - before.get(n, 0) for n in after if after[n] > before.get(n, 0)}
    largest: dict[str, int] = {}
    for node, lines_ in grown.items():
        parent = dominators.get(node, "")
        largest[parent] = max(largest.get(parent, 0), lines_)
    rows = []
    for node, lines_ in sorted(grown.items(), key=lambda row: (-row[1], row[0])):
        if node.startswith("rule:") or largest.get(node, 0) * 10 >= lines_ * 9:
            continue
        by = next((e for e in [head.parents.get(node)] if e), None)
        rows.append(
            {"node": node, "grown": lines_, "retained": after[node], "held_by": dominators[node], "by": edge_row(by)}
        )
        if len(rows) == GROWTH:
            break
    return rows
