"""One of the two runs, as its reports folder tells it."""

from __future__ import annotations

from collections import deque
from functools import cached_property
from pathlib import Path
from typing import Any

from pruner.errors import cannot
from pruner.pipeline import inventory, severed, stored
from pruner.pipeline.retention import module_of, own_sizes

CAPABILITIES = "capabilities.json"
DEFINITIONS = ("class", "function", "method", "variable")
Edge = tuple[str, str, str, str, int]
"""(source, target, kind, file, line) as the stored graph has them."""


class Side:
    """Opens a reports folder. Raises PruneError PR307 when it is not one of this version of prune."""

    def __init__(self, reports: Path) -> None:
        self.reports = reports
        self.graph = self._read(stored.NAME)
        self.report = self._read("report.json")
        self.ledger = self._read("ledger.json")
        self.inventory = self._read(inventory.NAME)
        for name, document, wanted in (
            (stored.NAME, self.graph, stored.FORMAT),
            (inventory.NAME, self.inventory, inventory.FORMAT),
        ):
            if document.get("format") != wanted:
                raise cannot(str(reports / name), "PR307", "is of another version of prune", "run prune again")

    def _read(self, name: str) -> dict[str, Any]:
        return stored.read(self.reports, name, "name the reports folder of a run of this version of prune")

    @cached_property
    def kept(self) -> dict[str, tuple[str, int]]:
        """Kept module -> (path, lines)."""
        return own_sizes(self.graph)

    @cached_property
    def upstream(self) -> frozenset[str]:
        """Every module of upstream."""
        prefix = f"{self.graph['root']}/" if self.graph["root"] else ""
        return frozenset(filter(None, (module_of(path.removeprefix(prefix)) for path in self.graph["upstream"])))

    @cached_property
    def nodes(self) -> frozenset[str]:
        """Every node of the live graph: modules and ``module:name``."""
        return frozenset(self.graph["nodes"])

    @cached_property
    def removals(self) -> dict[str, dict[str, Any]]:
        """Dotted name -> ledger row of each removed definition; path -> row of each removed file."""
        rows = {}
        for row in self.ledger["removals"]:
            if row["what"] in DEFINITIONS:
                rows[row["name"]] = row
            elif row["what"] == "file":
                rows[row["path"]] = row
        return rows

    def paths_of(self, module: str) -> tuple[str, str]:
        """Where a module of upstream may stand."""
        base = f"{self.graph['root']}/" if self.graph["root"] else ""
        base += module.replace(".", "/")
        return f"{base}.py", f"{base}/__init__.py"

    @cached_property
    def removed_files(self) -> frozenset[str]:
        """Paths of upstream that are gone as a whole."""
        upstream: list[str] = self.graph["upstream"]
        kept: dict[str, int] = self.graph["lines"]
        return frozenset(upstream) - kept.keys()

    @cached_property
    def rules(self) -> dict[str, dict[str, Any]]:
        """The rules that speak of the release, by id."""
        return {row["id"]: row for row in self.report["rules"]}

    @cached_property
    def severed(self) -> dict[str, list[str]]:
        """What cut off the unreached; empty where the run left none."""
        if not (self.reports / severed.NAME).is_file():
            return {}
        return dict(self._read(severed.NAME)["next"])

    @cached_property
    def by_key(self) -> dict[str, dict[str, Any]]:
        """Each removal by its name in ``severed.json``."""
        return {
            severed.key(row["path"], row["lines"][0], row["lines"][1], row["name"]): row
            for row in self.ledger["removals"]
        }

    @cached_property
    def table(self) -> dict[tuple[str, str], dict[str, Any]]:
        """(kind, key) -> row of the rules' table of capabilities; empty where the rules name none."""
        if not (self.reports / CAPABILITIES).is_file():
            return {}
        return {(row["kind"], row["key"]): row for row in self._read(CAPABILITIES)["rows"]}

    @cached_property
    def parents(self) -> dict[str, Edge]:
        """For each node the edge by which a shortest path from the rules' roots arrives."""
        out: dict[str, list[Edge]] = {}
        for edge in stored.edges_of(self.graph):
            out.setdefault(edge[0], []).append(edge)
        todo = deque(sorted(n for n in out if n.startswith("rule:")))
        found: dict[str, Edge] = {}
        seen = set(todo)
        while todo:
            for edge in out.get(todo.popleft(), ()):
                if edge[1] not in seen:
                    seen.add(edge[1])
                    found[edge[1]] = edge
                    todo.append(edge[1])
        return found

    @cached_property
    def lines(self) -> dict[str, list[int | None]]:
        """path -> [lines upstream, lines kept]; None where the file is not there."""
        return {row["path"]: row["lines"] for row in self.ledger["files"]}


def edge_row(edge: Edge | None) -> dict[str, Any] | None:
    """An edge for the document."""
    if edge is None:
        return None
    source, target, kind, path, line = edge
    return {"from": source, "to": target, "kind": kind, "at": f"{path}:{line}" if line else ""}


def cause_row(row: dict[str, Any]) -> dict[str, Any]:
    """A removal's cause for the document."""
    cause = row["cause"]
    return {"kind": cause["kind"], "rules": cause["rules"], "chain": cause["chain"]}
