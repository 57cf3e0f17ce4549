"""Answers from the stored graph and ledger of the last run: why, why not, which line, what retains what.

Sources: reachability by networkx, retained sizes by :mod:`pruner.pipeline.retention`.
"""

from __future__ import annotations

import difflib
import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx

from pruner.errors import cannot
from pruner.pipeline import stored
from pruner.pipeline.retention import module_of, retained_sizes


@dataclass(frozen=True, slots=True)
class Answer:
    """``status`` is kept, removed, root, unknown or found; ``lines`` are for a person."""

    status: str
    lines: tuple[str, ...]


class Answers:
    """Opens a reports folder. Raises PruneError PR307 when no run has left its graph there."""

    def __init__(self, reports: Path) -> None:
        self.reports = reports
        self.graph = self._read(stored.NAME)
        if self.graph.get("format") != stored.FORMAT:
            raise cannot(str(reports / stored.NAME), "PR307", "is of another version of prune", "run prune again")

    def _read(self, name: str) -> dict[str, Any]:
        try:
            return dict(json.loads((self.reports / name).read_bytes()))
        except (OSError, ValueError) as error:
            advice = "run prune first, or name the folder with --reports"
            raise cannot(str(self.reports / name), "PR307", f"cannot be read: {error}", advice) from error

    def upstream_digest(self) -> str:
        """The digest of the upstream files that the run read."""
        return str(self._read("report.json")["upstream"]["snapshot"])

    # -- names -------------------------------------------------------------------------------

    def _nodes(self) -> set[str]:
        return {e[1] for e in self.graph["edges"]} | {r[0] for r in self.graph["roots"]}

    def _find(self, name: str) -> str | None:
        """The node that a person means: ``pkg.mod``, ``pkg.mod:name``, ``pkg.mod.name`` or a path."""
        nodes = self._nodes()
        tries = [name, name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")]
        head, _, tail = name.rpartition(".")
        tries.append(f"{head}:{tail}")
        if head.rpartition(".")[0]:  # a method is kept with its class, when the ledger does not list it
            module, _, owner = head.rpartition(".")
            if not any(r["name"] == name.replace(":", ".") for r in self._ledger()):
                tries.append(f"{module}:{owner}")
        return next((t for t in tries if t in nodes), None)

    def why(self, name: str) -> Answer:
        """Shortest path from a root to a kept name."""
        node = self._find(name)
        if node is None:
            return self._absent(name)
        rules = sorted({rule for root, rule in self.graph["roots"] if root == node})
        if rules:
            return Answer("root", (f"{node} is a root: rule {', '.join(rules)}",))
        links = {(s, t): (k, p, n) for s, t, k, p, n in self.graph["edges"]}
        graph = nx.DiGraph(links.keys())
        starts = [n for n in graph if n.startswith("rule:")]
        graph.add_edges_from(("", s) for s in starts)
        if node not in graph or not starts or not nx.has_path(graph, "", node):
            return Answer("kept", (f"{node} is kept, but no stored path from a root leads to it",))
        path = nx.shortest_path(graph, "", node)[1:]
        lines = [f"{path[0].removeprefix('rule:')} (rule)"]
        for left, right in itertools.pairwise(path):
            kind, file, number = links[left, right]
            place = f" at {file}:{number}" if number else ""
            lines.append(f"  -> {right}  [{kind}{place}]")
        return Answer("kept", tuple(lines))

    def _absent(self, name: str) -> Answer:
        rows = self._removed(name)
        if rows:
            return Answer("removed", tuple(_row(r) for r in rows[:20]))
        known = sorted(self._nodes()) + [r["name"] for r in self._ledger() if r["name"]]
        near = difflib.get_close_matches(name, known, 3)
        hint = f"; nearest: {', '.join(near)}" if near else ""
        return Answer("unknown", (f"{name} is no name of this tree, kept or removed{hint}",))

    # -- capabilities ------------------------------------------------------------------------

    def capabilities(self, kind: str) -> Answer:
        """One line a capability: kept with its evidence, dropped by which rule, or not in this release."""
        rows = self._read("capabilities.json")["rows"]
        kinds = sorted({row["kind"] for row in rows})
        if kind and kind not in kinds:
            return Answer("unknown", (f"no kind is called {kind}; known: {', '.join(kinds)}",))
        lines = []
        for row in rows:
            if kind in ("", row["kind"]):
                how = ", ".join(row["evidence"]) or ", ".join(f"{c['rule']} ({c['place']})" for c in row["dropped_by"])
                where = f" [{' '.join(row['generations'])}]" if row["status"] == "kept" else ""
                lines.append(f"{row['kind']} {row['key']}: {row['status']}{where}{': ' if how else ''}{how}")
        return Answer("found", tuple(lines))

    # -- removals ----------------------------------------------------------------------------

    def _ledger(self) -> list[dict[str, Any]]:
        return list(self._read("ledger.json")["removals"])

    def _removed(self, name: str) -> list[dict[str, Any]]:
        dotted = name.replace(":", ".")
        path = name.replace(".", "/") + ".py"
        rows = []
        for row in self._ledger():
            own = row["path"].removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            if row["name"] == dotted or (row["what"] == "file" and (row["path"] in (name, path) or own == dotted)):
                rows.append(row)
        if not rows and "." in dotted:
            return [
                r
                for r in self._ledger()
                if r["what"] == "file" and module_of(r["path"]) and dotted.startswith(module_of(r["path"]) + ".")
            ]
        return rows

    def why_not(self, name: str) -> Answer:
        """Cause chain of a removal, by name or by upstream ``file:line``."""
        file, _, number = name.rpartition(":")
        if file and number.isdigit():
            hits = [r for r in self._ledger() if r["path"] == file and r["lines"][0] <= int(number) <= r["lines"][1]]
            if hits:
                hits.sort(key=lambda r: r["lines"][1] - r["lines"][0])
                return Answer("removed", tuple(_row(r) for r in hits[:5]))
            runs = self.graph["maps"].get(file)
            if runs is not None and not any(r[1] <= int(number) < r[1] + r[2] for r in runs):
                return Answer("removed", (f"{name} went with the statement that it belonged to",))
            if file in self.graph["lines"]:
                return Answer("kept", (f"{name} is kept",))
            if file in self.graph["upstream"]:
                return Answer(
                    "removed", tuple(_row(r) for r in self._ledger() if r["path"] == file and r["what"] == "file")
                )
            return Answer("unknown", (f"{file} is no file of this upstream tree",))
        node = self._find(name)
        if node is not None and not self._removed(name):
            return Answer("kept", (f"{node} is kept; ask `prune why {name}`",))
        return self._absent(name)

    # -- lines -------------------------------------------------------------------------------

    def line(self, place: str, upstream: bool) -> Answer:
        """The other tree's line for ``file:line`` of the generated tree (or of upstream)."""
        file, _, number = place.rpartition(":")
        if not file or not number.isdigit():
            raise cannot(place, "PR308", "is no place in a file", "write it as path:line")
        wanted = int(number)
        if file not in self.graph["lines"]:
            known = file in self.graph["upstream"]
            return Answer(
                "removed" if known else "unknown",
                (f"{file} is {'not in the generated tree' if known else 'no file of this tree'}",),
            )
        runs = self.graph["maps"].get(file)
        if runs is None:
            return Answer("found", (f"{file}:{wanted} (the file is untouched)",))
        one, other = (1, 0) if upstream else (0, 1)
        for run in runs:
            if run[one] <= wanted < run[one] + run[2]:
                return Answer("found", (f"{file}:{run[other] + wanted - run[one]}",))
        if upstream:
            return self.why_not(place)
        return Answer("found", (f"{file}:{wanted} was put in by prune",))

    # -- sizes -------------------------------------------------------------------------------

    def retained(self, folder: str, count: int) -> Answer:
        """What keeps how many lines: the dominator tree of the live graph, largest subtrees first."""
        links = {(s, t): (k, p, n) for s, t, k, p, n in self.graph["edges"]}
        total, dominators = retained_sizes(self.graph, folder)
        rows = sorted(((v, n) for n, v in total.items()), key=lambda r: (-r[0], r[1]))[:count]
        out = []
        for lines, node in rows:
            kind, path, number = links.get((dominators[node], node), ("", "", 0))
            out.append(
                f"{lines:>8}  {node}  held by {dominators[node] or 'the roots'}"
                + (f" [{kind} at {path}:{number}]" if number else "")
            )
        return Answer("found", tuple(out))

    def impact(self, rule: str) -> Answer:
        """Removals whose cause names this rule (and no other): what the ledger attributes to it."""
        rows = [r for r in self._ledger() if rule in r["cause"]["rules"]]
        if not rows:
            return Answer("unknown", (f"no removal names rule {rule}",))
        alone = [r for r in rows if r["cause"]["rules"] == [rule]]
        lines = sum(r["lines"][1] - r["lines"][0] + 1 for r in alone)
        head = f"{rule}: {len(rows)} removals name it, {len(alone)} name it alone ({lines} upstream lines)"
        return Answer(
            "found", (head, *(_row(r) for r in sorted(alone, key=lambda r: r["lines"][0] - r["lines"][1])[:20]))
        )


def _row(row: dict[str, Any]) -> str:
    cause = row["cause"]
    chain = "; ".join(cause["chain"]) or ", ".join(cause["rules"])
    name = f" {row['name']}" if row["name"] else ""
    return f"{row['path']}:{row['lines'][0]}-{row['lines'][1]}: {row['what']}{name} removed ({cause['kind']}): {chain}"
