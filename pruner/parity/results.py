"""Results of GPU runs: one JSON file a cell, a table, what executed lines say. Figures and digests; no source text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from pruner.errors import Diagnostic, cannot
from pruner.parity.cells import CELLS, NOT_RUN
from pruner.parity.compare import changed
from pruner.parity.driver import SCHEMA
from pruner.parity.records import Record, gather
from pruner.parity.tightness import Lines, tightness, together

SHOWN = 60
FEW = 4
NOT_RECORDED = "not recorded"
Judge = Callable[[Lines], Record]  # executed lines -> their classes, causes, and the places that are missing


def collect(
    folders: Sequence[Path],
    upstream: Path,
    output: Path,
    judge: Judge,
    reports: Path,
    tell: Callable[[Sequence[Diagnostic]], None] = lambda _: None,
    edge: Callable[[str], str] = lambda _: "",
) -> Record:
    """Take what runs left in ``folders`` (later ones win) into ``reports/parity``; the summary.

    ``judge`` is asked of each cell's executed lines and of all together; ``tell`` hears what was left out; ``edge`` says
    what keeps a file. Raises
    :class:`pruner.errors.PruneError` when a folder holds no results of this output (see :func:`gather`), the output has
    no manifest, or ``reports/parity`` cannot be written.
    """
    manifest = _manifest(output)
    found = gather(folders, upstream, str(manifest.get("digest", "")))
    tell(found.notes)
    identity = {
        "upstream": manifest["upstream"]["snapshot"],
        "rules": manifest["rules"]["digest"],
        "output": hashlib.sha256((output / "PRUNED.json").read_bytes()).hexdigest(),
    }
    written: dict[str, Record] = {}
    for name, record in found.records.items():
        record["trees"] = of_trees(record, identity)
        seen = found.traces.get(name)
        if seen:
            record["modules"] = {side: seen[side]["processes"] for side in seen}
            record["modules"]["all"] = {side: len(seen[side]["modules"]) for side in seen}
            if seen["upstream"]["lines"]:  # none where the host's Python has no sys.monitoring
                record["executed"] = executed(judge(seen["upstream"]["lines"]))
        written[f"{name}.json"] = record
    for name, record in found.benches.items():
        record["trees"] = of_trees(record, identity)
        written[f"bench-{name}.json"] = record
    union = together(seen["upstream"]["lines"] for seen in found.traces.values())
    summary: Record = {
        "schema": SCHEMA,
        "trees": identity,
        "cells": {name: row(record) for name, record in sorted(found.records.items())},
        "not run": not_run(found.records),
        "bench": {name: record["figures"] for name, record in sorted(found.benches.items())},
    }
    if unknown := [name for name, one in sorted(found.benches.items()) if one["trees"]["output"] == NOT_RECORDED]:
        summary["bench of a build not recorded"] = unknown
    if union:
        verdict = judge(union)
        summary["executed"] = executed(verdict)
        summary["tightness"] = tightness(union, verdict["classes"].get("kept", 0), manifest, upstream, edge)
    written["summary.json"] = summary
    place = reports / "parity"
    try:
        place.mkdir(parents=True, exist_ok=True)
        for name, record in written.items():
            write(place / name, record)
        (place / "summary.md").write_text(markdown(summary), encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise cannot(str(place), "PR310", f"cannot be written: {error.strerror}", "name another --reports") from None
    return summary


def of_trees(record: Record, identity: Mapping[str, str]) -> Record:
    """The trees that a record speaks of; the output's is not known where the record does not name it."""
    return dict(identity) if {"build", "prune digest"} & set(record) else {**identity, "output": NOT_RECORDED}


def executed(verdict: Record) -> Record:
    """Executed lines by class, and the first places of those that should not be gone."""
    return {"missing": 0, **verdict["classes"], "places": verdict["missing"][:SHOWN]}


def _manifest(output: Path) -> Record:
    path = output / "PRUNED.json"
    if not path.is_file():
        raise cannot(str(output), "PR306", "holds no PRUNED.json, so it is not an output of prune", "run prune first")
    try:
        found: Record = json.loads(path.read_bytes())
        _ = found["upstream"]["snapshot"], found["rules"]["digest"], found["files"].items()
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise cannot(str(path), "PR306", f"not a manifest ({type(error).__name__})", "run prune again") from None
    return found


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
    unstable: dict[str, list[str]] = {}
    for name, group in sorted(groups.items()):
        if group["result"] == "unstable":
            unstable.setdefault(changed(group), []).append(name)
    if unstable:
        made["unstable"] = unstable  # who did not repeat itself, and in which groups
    if record["trees"]["output"] == NOT_RECORDED:
        made["build"] = NOT_RECORDED
    for key in ("earlier", "why", "host MiB", "card MiB", "modules"):
        if key in record:
            made[key] = record[key]
    if "executed" in record:
        made["executed"] = {key: value for key, value in record["executed"].items() if key != "places"}
    return made


def not_run(records: Mapping[str, Record]) -> list[list[str]]:
    """Cells without a result, and what no card at hand can run."""
    none: Record = {"result": "not run"}
    found = [(cell, records.get(cell.name, none)) for cell in CELLS]
    cells = [
        [cell.name, f"{cell.cards} card(s); {record.get('why', 'no result of it is here')}"]
        for cell, record in found
        if record["result"] == "not run"
    ]
    return cells + [list(row) for row in NOT_RUN]


def write(path: Path, record: Record) -> None:
    text = json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")  # half a surrogate pair, which JSON escapes too


def tight(found: Record) -> list[str]:
    """How much more is kept than ran, for people."""
    said = f"{found['kept lines']:,} Python lines are kept, {found['executed lines that are kept']:,} of them ran"
    ratio = f": {found['kept by executed']} to one" if found["kept by executed"] else ""
    rows = [f"| {path} | {size:,} | {plain(edge)} |" for path, size, edge in found["largest files that never ran"]]
    head = ["", "| largest files that never ran | kept lines | kept by |", "|---|---|---|"] if rows else []
    folders = [
        f"| {folder or '.'} | {size:,} | {ran:,} | {ratio or '-'} | {plain(edge)} |"
        for folder, size, ran, ratio, edge in found["largest folders"]
    ]
    above = ["", "| largest folders | kept lines | of them ran | ratio | comes in by |", "|---|---|---|---|---|"]
    return [f"{said}{ratio}.", *head, *rows, *(above if folders else []), *folders, ""]


def plain(text: str) -> str:
    """Text of a log in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def few(names: Sequence[str]) -> str:
    """Names of groups, the first of many."""
    return ", ".join(names[:FEW]) + (f" and {len(names) - FEW} more" if len(names) > FEW else "")


def markdown(summary: Record) -> str:
    """The summary for people."""
    lines = [
        "# Parity on GPUs",
        "",
        "| cell | card | result | requests | tokens | lines run, missing |",
        "|---|---|---|---|---|---|",
    ]
    for name, cell in summary["cells"].items():
        said = [f"{count} {what}" for what, count in sorted(cell["groups"].items())] or ["nothing compared"]
        said += [f"{side} did not repeat itself in {few(names)}" for side, names in cell.get("unstable", {}).items()]
        said += [plain(cell["why"])] if isinstance(cell.get("why"), str) else []
        said += [f"earlier: {', '.join(cell['earlier'])}"] if "earlier" in cell else []
        said += ["build not recorded"] if "build" in cell else []
        lines_run = cell.get("executed", {})
        missing, ran = (lines_run["missing"], sum(lines_run.values())) if lines_run else ("-", "-")
        result = f"{cell['result']} ({'; '.join(said)})"
        counts = f"{cell['requests']} | {cell['tokens']} | {ran}, {missing}"
        lines.append(f"| {name} | {cell['card']} | {result} | {counts} |")
    lines += ["", "| not run | what it takes |", "|---|---|", *(f"| {a} | {b} |" for a, b in summary["not run"]), ""]
    lines += tight(summary["tightness"]) if "tightness" in summary else []
    for name, measured in summary["bench"].items():
        unknown = name in summary.get("bench of a build not recorded", ())
        lines += [f"## {name}{' (build not recorded)' if unknown else ''}", ""]
        if measured.get("failed"):
            lines += [f"Failed: {json.dumps(measured['failed'], ensure_ascii=False)}", ""]
        lines += [
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
