"""Results of GPU runs: one JSON file a cell, a table, what executed lines say. Figures and digests; no source text."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pruner.errors import cannot
from pruner.parity.cells import CELLS, NOT_RUN
from pruner.parity.tightness import Lines, tightness, together

SCHEMA = "prune-parity/1"
CELL_FILES, TRACES, BENCH = "cells.jsonl", "traces.tar", "bench.jsonl"
QUOTED = re.compile(r"[\w./-]+\.py\b")
SHOWN = 60
Record = dict[str, Any]
Judge = Callable[[Lines], Record]  # executed lines -> their classes, causes, and the places that are missing


def collect(folders: Sequence[Path], upstream: Path, output: Path, judge: Judge, reports: Path) -> Record:
    """Take what runs left in ``folders`` (later ones win) into ``reports/parity``; the summary.

    ``judge`` is asked of each cell's executed lines and of all together. Raises :class:`pruner.errors.PruneError`
    when a folder holds no results or the output no manifest.
    """
    manifest = _manifest(output)
    place = reports / "parity"
    place.mkdir(parents=True, exist_ok=True)
    records, benches, traces = gather(folders)
    identity = {
        "upstream": manifest["upstream"]["snapshot"],
        "rules": manifest["rules"]["digest"],
        "output": hashlib.sha256((output / "PRUNED.json").read_bytes()).hexdigest(),
    }
    for name, record in records.items():
        record["trees"] = identity
        seen = traces.get(name)
        if seen:
            record["modules"] = {side: seen[side]["processes"] for side in seen}
            record["modules"]["all"] = {side: len(seen[side]["modules"]) for side in seen}
            record["executed"] = executed(judge(seen["upstream"]["lines"]))
        write(place / f"{name}.json", record)
    for name, record in benches.items():
        record["trees"] = identity
        write(place / f"bench-{name}.json", record)
    union = together(seen["upstream"]["lines"] for seen in traces.values())
    summary: Record = {
        "schema": SCHEMA,
        "trees": identity,
        "cells": {name: row(record) for name, record in sorted(records.items())},
        "not run": not_run(records),
        "bench": {name: record["figures"] for name, record in sorted(benches.items())},
    }
    if union:
        summary["executed"] = executed(judge(union))
        summary["tightness"] = tightness(union, manifest, upstream)
    write(place / "summary.json", summary)
    (place / "summary.md").write_text(markdown(summary), encoding="utf-8")
    return summary


def executed(verdict: Record) -> Record:
    """Executed lines by class, and the first places of those that should not be gone."""
    return {"missing": 0, **verdict["classes"], "places": verdict["missing"][:SHOWN]}


def _manifest(output: Path) -> Record:
    path = output / "PRUNED.json"
    if not path.is_file():
        raise cannot(str(output), "PR306", "holds no PRUNED.json, so it is not an output of prune", "run prune first")
    found: Record = json.loads(path.read_text("utf-8"))
    return found


def gather(folders: Sequence[Path]) -> tuple[dict[str, Record], dict[str, Record], dict[str, Record]]:
    """Records of cells and benches, and traces, by name."""
    records: dict[str, Record] = {}
    benches: dict[str, Record] = {}
    traces: dict[str, Record] = {}
    for folder in folders:
        if not (folder / CELL_FILES).is_file() and not (folder / BENCH).is_file():
            raise cannot(
                str(folder), "PR601", "holds no results of a parity run", "expected cells.jsonl or bench.jsonl"
            )
        for record in rows(folder / CELL_FILES):
            if record["result"] != "not run" or record["cell"] not in records:
                records[record["cell"]] = record
        benches.update((record["bench"], record) for record in rows(folder / BENCH))
        if (folder / TRACES).is_file():
            traces.update(members(folder / TRACES))
    known = {cell.name for cell in CELLS}
    return {name: record for name, record in records.items() if name in known}, benches, traces


def rows(path: Path) -> Iterator[Record]:
    """The rows of a JSON lines file; a last line that a cut left in half is no row."""
    for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def members(archive: Path) -> Iterator[tuple[str, Record]]:
    """Traces of an archive, by cell."""
    with tarfile.open(archive) as file:
        for member in file:
            data = file.extractfile(member)
            if data is not None and member.name.endswith(".json.gz"):
                yield member.name.removesuffix(".json.gz"), json.loads(gzip.decompress(data.read()))


def row(record: Record) -> Record:
    """What the summary says of a cell."""
    groups: Mapping[str, Record] = record.get("groups", {})
    counts: dict[str, int] = {}
    for group in groups.values():
        counts[group["result"]] = counts.get(group["result"], 0) + 1
    made: Record = {
        "result": record["result"],
        "card": record["card"]["name"],
        "groups": counts,
        "requests": sum(group["requests"] for group in groups.values()),
        "tokens": sum(group.get("tokens", 0) for group in groups.values()),
    }
    for key in ("why", "host MiB", "card MiB", "modules"):
        if key in record:
            made[key] = record[key]
    if "executed" in record:
        made["executed"] = {key: value for key, value in record["executed"].items() if key != "places"}
    return made


def not_run(records: Mapping[str, Record]) -> list[list[str]]:
    """Cells without a result, and what no card at hand can run."""
    left = [cell for cell in CELLS if records.get(cell.name, {"result": "not run"})["result"] == "not run"]
    cells = [[cell.name, f"{cell.cards} card(s); no time was left"] for cell in left]
    return cells + [list(row) for row in NOT_RUN]


def write(path: Path, record: Record) -> None:
    path.write_text(json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")


def markdown(summary: Record) -> str:
    """The summary for people."""
    lines = [
        "# Parity on GPUs",
        "",
        "| cell | result | requests | tokens | lines run, missing |",
        "|---|---|---|---|---|",
    ]
    for name, cell in summary["cells"].items():
        groups = ", ".join(f"{count} {what}" for what, count in sorted(cell["groups"].items()))
        lines_run = cell.get("executed", {})
        missing, ran = (lines_run["missing"], sum(lines_run.values())) if lines_run else ("-", "-")
        lines.append(
            f"| {name} | {cell['result']} ({groups}) | {cell['requests']} | {cell['tokens']} | {ran}, {missing} |"
        )
    lines += ["", "| not run | what it takes |", "|---|---|", *(f"| {a} | {b} |" for a, b in summary["not run"]), ""]
    for name, measured in summary["bench"].items():
        lines += [
            f"## {name}",
            "",
            "| figure | upstream | output | ratio of pairs | pairs | upstream's own processes |",
            "|---|---|---|---|---|---|",
        ]
        table = measured.get("bench_serving", measured)
        for key, value in {**measured, **table}.items():
            if isinstance(value, dict) and "ratio" in value:
                spread = " to ".join(str(bound) for bound in value["upstream's processes"])
                shown = f"{value['upstream']} | {value['output']} | {value['ratio']}"
                lines.append(f"| {key} | {shown} | {min(value['processes'])} | {spread} |")
        lines.append("")
    return "\n".join(lines)
