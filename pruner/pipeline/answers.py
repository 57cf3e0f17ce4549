"""Answers from the stored graph and ledger of the last run: why, why not, which line, what retains what.

Sources: breadth-first search; retained sizes by :mod:`pruner.pipeline.retention`.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pruner.errors import cannot
from pruner.pipeline import severed, stored
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
        return stored.read(self.reports, name)

    def upstream_digest(self) -> str:
        """The digest of the upstream files that the run read."""
        return str(self._read("report.json")["upstream"]["snapshot"])

    def policy_digest(self) -> str:
        """The digest of the rules that the run was made with."""
        return str(self._read("report.json")["policy"]["digest"])

    # -- names -------------------------------------------------------------------------------

    @cached_property
    def _index(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.graph["nodes"])}

    def _find(self, name: str) -> str | None:
        """The node that a person means: ``pkg.mod``, ``pkg.mod:name``, ``pkg.mod.Class.method`` or a path."""
        tries = [name, name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")]
        parts = name.replace(":", ".").split(".")
        tries += [".".join(parts[:cut]) + ":" + ".".join(parts[cut:]) for cut in range(len(parts) - 1, 0, -1)]
        return next((t for t in tries if t in self._index), None)

    def _edge(self, place: int) -> tuple[str, str, int]:
        """(kind, path, line) of the edge that starts at a place of the flat list."""
        row = self.graph["edges"][place : place + 5]
        return self.graph["kinds"][row[2]], self.graph["paths"][row[3]], row[4]

    def why(self, name: str) -> Answer:
        """Shortest path from a root to a kept name, breadth first."""
        node = self._find(name)
        if node is None:
            return self._file(name) or self._absent(name)
        number, nodes = self._index[node], self.graph["nodes"]
        rules = sorted({rule for root, rule in self.graph["roots"] if root == number})
        if rules:
            return Answer("root", (f"{node} is a root: rule {', '.join(rules)}",))
        edges, came = self.graph["edges"], self._came(frozenset({number}))
        if number not in came:
            return Answer("kept", (f"{node} is kept, but no stored path from a root leads to it",))
        lines: list[str] = []
        while came[number] >= 0:
            lines.append(f"  -> {self._step(came[number])}")
            number = edges[came[number]]
        return Answer("kept", (f"{nodes[number].removeprefix('rule:')} (rule)", *reversed(lines)))

    def enters(self, folder: str) -> str:
        """The edge by which the shortest path from a root comes to code in a folder of the output; "" where none does.

        A package is there for the modules in it, so the path to one of those says more.
        """
        prefix = f"{self.graph['root']}/" if self.graph["root"] else ""
        inside = {
            self._index[module]
            for path in self.graph["lines"]
            if path.startswith(f"{folder}/") and not path.endswith("/__init__.py")
            if (module := module_of(path.removeprefix(prefix))) in self._index
        }
        came = self._came(frozenset(inside))
        met = next((number for number in reversed(came) if number in inside), -1)  # the search ends where it meets one
        return self._step(came[met]) if met >= 0 and came[met] >= 0 else ""

    def _step(self, place: int) -> str:
        kind, file, line = self._edge(place)
        return f"{self.graph['nodes'][self.graph['edges'][place + 1]]}  [{kind}{f' at {file}:{line}' if line else ''}]"

    def _came(self, wanted: frozenset[int]) -> dict[int, int]:
        """node -> the edge that leads to it first, breadth first from the rules; -1 for a rule. Ends where one of ``wanted`` is met."""
        edges = self.graph["edges"]
        out: dict[int, list[int]] = {}
        for place in range(0, len(edges), 5):
            out.setdefault(edges[place], []).append(place)
        work = [i for i, text in enumerate(self.graph["nodes"]) if text.startswith("rule:")]
        came: dict[int, int] = dict.fromkeys(work, -1)
        for here in work:  # grows while it is walked
            for place in out.get(here, ()):
                if edges[place + 1] not in came:
                    came[edges[place + 1]] = place
                    if edges[place + 1] in wanted:
                        return came
                    work.append(edges[place + 1])
        return came

    def _file(self, path: str) -> Answer | None:
        """Why a file that is no module is kept: what asks for a kernel source, up to a module."""
        if path not in self.graph["lines"]:
            return None
        sources, told, here = self.graph.get("sources", {}), [], path
        while here in sources:
            by, line = sources[here]
            how = "included" if by in sources else "named"
            told.append(f"{here} is kept: {how} at {by}{f':{line}' if line else ''}")
            here = by
        if not told:
            return Answer("kept", (f"{path} is kept: it is no module that must be reached, and no rule takes it",))
        return Answer("kept", (*told, *(self.why(here).lines if self._find(here) is not None else ())))

    def _absent(self, name: str) -> Answer:
        rows = self._removed(name)
        if rows:
            return Answer("removed", tuple(self._told(rows[:20])))
        if any(row["path"] == name and row["lines"][0] is None for row in self._read("ledger.json")["files"]):
            return Answer("kept", (f"{name} is prune's own: upstream has no such file",))
        hint = _hint(name, [*self.graph["nodes"], *(r["name"] for r in self._ledger() if r["name"])])
        return Answer("unknown", (f"{name} is no name of this tree, kept or removed{hint}",))

    # -- capabilities ------------------------------------------------------------------------

    def capabilities(self, kind: str) -> Answer:
        """One line a capability: kept with its evidence, dropped by which rule, or not in this release."""
        advice = "the rules of the run name no table of capabilities, or there was no run: see --reports"
        rows = stored.read(self.reports, "capabilities.json", advice)["rows"]
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

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        return list(self._read("ledger.json")["removals"])

    def removals(self) -> list[dict[str, Any]]:
        """What the ledger says went, row by row."""
        return self._ledger()

    def severed(self) -> dict[str, list[str]]:
        """For each unreached removal the next one on the way to a rule; empty when the run left none."""
        return dict(self._read(severed.NAME)["next"]) if (self.reports / severed.NAME).is_file() else {}

    def _ledger(self) -> list[dict[str, Any]]:
        return self._rows

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
            if int(number) < 1:
                raise cannot(name, "PR308", "is no place in a file", "lines are counted from 1")
            hits = [r for r in self._ledger() if r["path"] == file and r["lines"][0] <= int(number) <= r["lines"][1]]
            if hits:
                hits.sort(key=lambda r: r["lines"][1] - r["lines"][0])
                return Answer("removed", tuple(self._told(hits[:5])))
            whole = [r for r in self._ledger() if r["path"] == file and r["what"] == "file"]
            ends = [
                self.graph.get("ends", {}).get(file),
                self.graph["lines"].get(file),
                *(r["lines"][1] for r in whole),
            ]
            end = next((known for known in ends if known is not None), None)
            if end is not None and int(number) > end:
                raise cannot(
                    name, "PR308", "is no place in the file", f"{file} has {end} line{'s' * (end != 1)} upstream"
                )
            runs = self.graph["maps"].get(file)
            if runs is not None and not any(r[1] <= int(number) < r[1] + r[2] for r in runs):
                parts = [r for r in self.graph.get("folded", {}).get(file, ()) if r[0] <= int(number) <= r[1]]
                rows = [self._part(file, r) for r in sorted(parts, key=lambda r: r[1] - r[0])]
                told = tuple(map(_row, rows)) or (f"{name} went with the statement that it belonged to",)
                return Answer("removed", told)
            if file in self.graph["lines"]:
                return Answer("kept", (f"{name} is kept",))
            if file in self.graph["upstream"]:
                return Answer("removed", tuple(self._told(whole)))
            return Answer("unknown", (f"{file} is no file of this upstream tree{_hint(file, self.graph['upstream'])}",))
        node = self._find(name) or (name if name in self.graph["lines"] else None)
        if node is not None and not self._removed(name):
            return Answer("kept", (f"{node} is kept; ask `prune why {name}`",))
        return self._absent(name)

    def _part(self, path: str, row: list[int]) -> dict[str, Any]:
        """A part of a statement that stays, as a row of the ledger."""
        cause = self.graph["causes"][row[2]]
        return {"path": path, "lines": row[:2], "what": "part of a statement", "name": "", "cause": cause}

    def _told(self, rows: list[dict[str, Any]]) -> Iterator[str]:
        """Removals, each with the removed places that used it, up to the one that a rule took."""
        if all(row["cause"]["rules"] for row in rows) or not (self.reports / severed.NAME).is_file():
            yield from map(_row, rows)
            return
        known = self._read(severed.NAME)["next"]
        by_key = {_key(row): row for row in self._ledger()}
        for row in rows:
            yield _row(row)
            for name in severed.chain(known, _key(row)):
                yield f"  used by {_row(by_key[name])}" if name in by_key else f"  by rule {name}"

    # -- lines -------------------------------------------------------------------------------

    def line(self, place: str, upstream: bool) -> Answer:
        """The other tree's line for ``file:line`` of the generated tree (or of upstream)."""
        file, _, number = place.rpartition(":")
        if not file or not number.isdigit():
            raise cannot(place, "PR308", "is no place in a file", "write it as path:line")
        wanted = int(number)
        if file not in self.graph["lines"]:
            if file in self.graph["upstream"]:
                return Answer("removed", (f"{file} is not in the generated tree",))
            hint = _hint(file, [*self.graph["lines"], *self.graph["upstream"]])
            return Answer("unknown", (f"{file} is no file of this tree{hint}",))
        runs, length = self.graph["maps"].get(file), self.graph["lines"][file] + 1
        if wanted < 1 or (wanted > length and (runs is None or not upstream)):
            raise cannot(place, "PR308", "is no place in the file", f"its lines are 1 to {length}")
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
        edges, index = self.graph["edges"], self._index
        below = self._below(folder, self.graph["lines"]) if folder else ""
        if below is None:
            if (gone := self._below(folder, self.graph["upstream"])) is not None:
                return Answer(
                    "removed", (f"{gone.rstrip('/')} is not in the generated tree; ask `prune why-not {folder}`",)
                )
            paths = self.graph["upstream"]
            hint = _hint(
                folder, sorted({*paths, *(path[: m.start()] for path in paths for m in re.finditer("/", path))})
            )
            return Answer("unknown", (f"{folder} is no folder or module of this tree{hint}",))
        total, dominators = retained_sizes(self.graph, below)
        rows = sorted(((v, n) for n, v in total.items()), key=lambda r: (-r[0], r[1]))[:count]
        wanted = {(index.get(dominators[n], -1), index[n]) for _, n in rows}
        found = {
            (edges[i], edges[i + 1]): i for i in range(len(edges) - 5, -1, -5) if (edges[i], edges[i + 1]) in wanted
        }
        out = []
        for lines, node in rows:
            place = found.get((index.get(dominators[node], -1), index[node]))
            kind, path, line = self._edge(place) if place is not None else ("", "", 0)
            held = dominators[node] or "several roots"
            out.append(f"{lines:>8}  {node}  held by {held}" + (f" [{kind} at {path}:{line}]" if line else ""))
        return Answer("found", tuple(out) or (f"no kept line of a module lies in {folder or 'this tree'}",))

    def _below(self, name: str, paths: Iterable[str]) -> str | None:
        """The start of the paths that a folder (``pkg/sub/``), a file or a module (``pkg.sub``) means, if any has it."""
        known = set(paths)
        plain = os.path.normpath(name)
        if plain == ".":
            return ""
        dotted = name.replace(".", "/")
        for text in (plain, dotted, f"{dotted}.py"):
            for path in (text, f"{self.graph['root']}/{text}"):
                if path in known:
                    return path
                if any(other.startswith(f"{path}/") for other in known):
                    return f"{path}/"
        return None

    def impact(self, rule: str) -> Answer:
        """Removals whose cause names this rule (and no other): what the ledger attributes to it."""
        rows = [r for r in self._ledger() if rule in r["cause"]["rules"]]
        if not rows:
            known = [row["id"] for row in self._read("report.json")["rules"]]
            if rule in known:
                return Answer("found", (f"{rule}: 0 removals name it",))
            near = difflib.get_close_matches(rule, known, 3)
            hint = f"; nearest: {', '.join(near)}" if near else "; `prune rules list` shows them"
            return Answer("unknown", (f"{rule} is no rule of the last run{hint}",))
        alone = [r for r in rows if r["cause"]["rules"] == [rule]]
        lines = sum(r["lines"][1] - r["lines"][0] + 1 for r in alone)
        head = f"{rule}: {len(rows)} removals name it, {len(alone)} name it alone ({lines} upstream lines)"
        return Answer(
            "found", (head, *(_row(r) for r in sorted(alone, key=lambda r: r["lines"][0] - r["lines"][1])[:20]))
        )


def _nearest(name: str, known: list[str]) -> list[str]:
    """Close matches; among 30,000 names only those that share a part with it are compared."""
    words = [w for w in re.split(r"[.:/]", name.lower()) if len(w) > 2]
    last = words[-1][:4] if words else name.lower()
    near = difflib.get_close_matches(name, [k for k in known if last in k.lower()][:4000], 3)
    alike = (k for k in known if abs(len(k) - len(name)) < 3)  # othre.py: no part is written right
    return near or difflib.get_close_matches(name, list(alike)[:4000], 3, 0.75)


def _hint(name: str, known: Sequence[str]) -> str:
    near = _nearest(name, list(dict.fromkeys(known)))
    return f"; nearest: {', '.join(near)}" if near else ""


def _key(row: dict[str, Any]) -> str:
    return severed.key(row["path"], row["lines"][0], row["lines"][1], row["name"])


def _row(row: dict[str, Any]) -> str:
    cause = row["cause"]
    chain = "; ".join(cause["chain"]) or ", ".join(cause["rules"])
    name = f" {row['name']}" if row["name"] else ""
    return f"{row['path']}:{row['lines'][0]}-{row['lines'][1]}: {row['what']}{name} removed ({cause['kind']}): {chain}"
