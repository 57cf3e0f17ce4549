"""What runs left in their folders, read and held against the output: who ran what, and whether a row can be believed.

A fault is one located message. What a run that was cut leaves (half a row, the end of an archive), and cells of another
plan, are told and left out. Blind to rows that were made up.
"""

from __future__ import annotations

import gzip
import json
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pruner.errors import Diagnostic, PruneError, cannot
from pruner.parity.cells import CELLS
from pruner.parity.driver import ALIKE, SCHEMA, SIDES, TRACES
from pruner.parity.driver import RESULTS as CELL_FILES

BENCH = "bench.jsonl"
WORDS = ("identical", "unstable", "differs", "failed", "refused by both", "not run")
GROUP_WORDS = (*ALIKE, "unstable", "differs", "unanswered")
NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
TABLE = ("upstream", "output", "processes", "upstream's processes")
COLLECTED = ("earlier", "executed", "modules", "trees")  # what collecting adds to a row
ADVICE = "take the archive out of the folder to collect without it"
MARKS = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)  # strings, so that brackets in them do not count
DEEPEST = 100  # of a row: ten
Record = dict[str, Any]


@dataclass(slots=True)
class Found:
    """What the folders hold, by name of a cell or benchmark."""

    records: dict[str, Record] = field(default_factory=dict)
    benches: dict[str, Record] = field(default_factory=dict)
    traces: dict[str, Record] = field(default_factory=dict)
    notes: list[Diagnostic] = field(default_factory=list)
    others: list[tuple[str, str, Diagnostic]] = field(default_factory=list)  # of another build: file, name, message

    def note(self, place: Path, line: int, text: str) -> None:
        self.notes.append(Diagnostic(str(place), line, 0, "warning", "PR602", text))


def gather(folders: Sequence[Path], upstream: Path, digest: str) -> Found:
    """Results of the output with this digest; later rows of a cell win, and what they took the place of is kept by name.

    Raises PruneError: PR601 a folder without results, PR602 what cannot be read or contradicts itself, PR603 what
    another build left.
    """
    found = Found()
    lengths: dict[str, int] = {}
    for folder in folders:
        files = [folder / name for name in (CELL_FILES, BENCH) if (folder / name).is_file()]
        if not files:
            text = "holds no results of a parity run"
            raise cannot(str(folder), "PR601", text, "expected cells.jsonl or bench.jsonl")
        for path in files:
            for line, row in rows(path, found):
                take(found, path, line, row, digest)
        if (folder / TRACES).is_file():
            for name, trace in members(folder / TRACES, found):
                fits(folder / TRACES, name, trace, upstream, lengths)
                found.traces[name] = trace
    for file, name, message in found.others:
        if name not in (found.records if file == CELL_FILES else found.benches):
            raise PruneError(message)
        found.note(Path(message.file), message.line, f"{message.text}; left out, there is a result of this build")
    if not found.records and not found.benches:
        raise PruneError(
            *found.notes,
            Diagnostic(str(folders[0]), 0, 0, "error", "PR601", "holds no result of a cell or benchmark of this plan"),
        )
    found.traces = {name: trace for name, trace in found.traces.items() if name in found.records}
    return found


def parsed(data: bytes) -> Any:
    """JSON. Raises ValueError, also for brackets in brackets: where the recursion limit is high, Python's parser overruns its stack."""
    depth = 0
    for mark in MARKS.finditer(data):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(mark.group(), 0)
        if depth > DEEPEST:
            raise ValueError("nested too deeply")
    return json.loads(data)


def rows(path: Path, found: Found) -> Iterator[tuple[int, Record]]:
    """The rows of a JSON lines file with their line numbers."""
    for line, data in enumerate(path.read_bytes().split(b"\n"), 1):
        if not data.strip():
            continue
        try:
            row = parsed(data)
        except ValueError:  # text that is not UTF-8 too
            found.note(path, line, "not a whole row of JSON, as a run that was cut leaves it; left out")
            continue
        if not isinstance(row, dict) or "schema" not in row:
            raise cannot(str(path), "PR602", "not a row of a parity run", "", line)
        if row["schema"] != SCHEMA:
            text = f"a row of the format {row['schema']!r}; this prune reads {SCHEMA!r}"
            raise cannot(str(path), "PR602", text, "collect it with the prune that wrote it", line)
        yield line, row


def take(found: Found, path: Path, line: int, row: Record, digest: str) -> None:
    """Check one row and put it where it belongs."""
    cells = path.name == CELL_FILES
    for key in COLLECTED:
        row.pop(key, None)
    name = row.get("cell" if cells else "bench")
    wrong = (shape if cells else figures)(row) if isinstance(name, str) and NAME.fullmatch(name) else "without a name"
    if wrong:
        raise cannot(str(path), "PR602", f"not a row of a parity run: {wrong}", "", line)
    assert isinstance(name, str)
    if cells and all(cell.name != name for cell in CELLS):
        found.note(path, line, f"no cell is called {name}; left out")
        return
    if digest and (wrong := other_build(row, digest)):
        advice = "name the tree that ran with --output, or run it again"
        text = f"{name}: {wrong}"
        found.others.append((path.name, name, Diagnostic(str(path), line, 0, "error", "PR603", text, advice)))
        return
    if not cells:
        found.benches[name] = row
        return
    if row["result"] in ("identical", "unstable") and incomplete(row):
        row["result"] = "failed"
    before = found.records.get(name)
    if before is not None and row["result"] == "not run":
        return
    if before is not None and before["result"] != "not run":
        row["earlier"] = [*before.get("earlier", ()), before["result"]]
    found.records[name] = row


def shape(row: Record) -> str:
    """What keeps a row from being a cell's result; empty when nothing does."""
    groups, card = row.get("groups", {}), row.get("card")
    if not isinstance(card, dict) or not isinstance(card.get("name"), str):
        return "it names no card"
    if row.get("result") not in WORDS:
        return f"its result is {row.get('result')!r}, which is none of {', '.join(WORDS)}"
    if not isinstance(groups, dict) or not all(map(whole, groups.values())):
        return "its groups of requests are not whole"
    alike = bool(groups) and all(group["result"] in ALIKE for group in groups.values())
    if row["result"] == "identical" and not alike:
        return "it says identical, and its groups do not"
    if row["result"] != "differs" and any(group["result"] == "differs" for group in groups.values()):
        return f"it says {row['result']}, and a group differs"
    return ""


def incomplete(row: Record) -> bool:
    """Was the cell cut, or has a group no answer? What was compared may be alike, and the cell is not known to be."""
    groups = row.get("groups", {})
    silent = any(group["result"] == "unanswered" for group in groups.values())
    planned = row.get("planned", 0)
    return silent or str(row.get("why", "")).startswith("cut ") or (isinstance(planned, int) and planned > len(groups))


def whole(group: Any) -> bool:
    """Is this a group's row?"""
    return (
        isinstance(group, dict)
        and group.get("result") in GROUP_WORDS
        and isinstance(group.get("requests"), int)
        and isinstance(group.get("tokens", 0), int)
    )


def figures(row: Record) -> str:
    """What keeps a row from being a benchmark's; empty when nothing does."""
    made = row.get("figures")
    if not isinstance(made, dict):
        return "it has no figures"
    table = made.get("bench_serving", {})
    if not isinstance(table, dict):
        return "its figures of bench_serving are no table"
    for name, value in [*made.items(), *table.items()]:
        if isinstance(value, dict) and "ratio" in value:
            if wrong := [key for key in TABLE if not told(value, key)]:
                return f"{name} has no {' or no '.join(wrong)}"
    return ""


def told(figure: Record, key: str) -> bool:
    """Does a figure have this: a number, or for processes a list of them?"""
    value = figure.get(key)
    numbers = value if isinstance(value, list) else [value]
    whole = bool(numbers) and all(type(number) in (int, float) for number in numbers)
    return whole and isinstance(value, list) == key.endswith("processes") and (isinstance(value, list) or bool(value))


def other_build(row: Record, digest: str) -> str:
    """Why a row is not of the output with this digest; empty when nothing says so.

    ``build``: what the driver read in the two trees; ``prune digest``: what the two servers showed.
    """
    told = [row[key] for key in ("build", "prune digest") if key in row]
    if not told:
        return "names no build; an earlier prune wrote it" if row.get("groups") else ""
    if not all(isinstance(one, Mapping) and all(isinstance(one.get(side), str) for side in SIDES) for one in told):
        return "names no build that can be read"
    if any(one["upstream"] for one in told):
        return "what it compares with is not upstream: it has a prune digest"
    others = {one["output"] for one in told} - {"", digest}
    if others:
        return f"it ran build {short(min(others))}, and the output is build {short(digest)}"
    blank = row.get("prune digest", told[-1])["output"] == ""
    return "the server that ran shows no prune digest" if blank and row.get("result") == "identical" else ""


def short(digest: str) -> str:
    """The head of a build's digest, and of that of its local changes."""
    below, mark, changes = digest.removeprefix("sha256:").partition("+")
    return below[:8] + mark + changes[:8]


def members(archive: Path, found: Found) -> Iterator[tuple[str, Record]]:
    """Traces of an archive, by cell. Nothing is unpacked, so no name can lead out of it."""
    try:
        file = tarfile.open(archive, "r:")  # noqa: SIM115
    except (tarfile.TarError, OSError):
        raise cannot(str(archive), "PR602", "not an archive of traces", ADVICE) from None
    with file:
        while True:
            try:
                member = file.next()
                name = member.name.removesuffix(".json.gz") if member else ""
                data = file.extractfile(member) if member and member.isfile() and name != member.name else None
                content = data.read() if data else b""
            except (tarfile.TarError, OSError):
                found.note(archive, 0, "cut short, as a run that was cut leaves it; what follows is left out")
                return
            if member is None:
                return
            if data is not None:
                yield name, read(archive, name, content)


def read(archive: Path, name: str, data: bytes) -> Record:
    """One trace, with the shape that the rest relies on."""
    try:
        trace = parsed(gzip.decompress(data))
        for side in SIDES:
            part = trace[side]
            numbers = [number for lines in part["lines"].values() for number in lines]
            if not all(type(number) is int for number in (*numbers, *part["processes"].values())):
                raise TypeError("numbers")
            len(part["modules"])
    except (OSError, EOFError, ValueError, TypeError, KeyError, AttributeError, RecursionError, zlib.error) as error:
        text = f"{name}: not a recorded trace ({type(error).__name__})"
        raise cannot(str(archive), "PR602", text, ADVICE) from None
    made: Record = trace
    return made


def fits(archive: Path, name: str, trace: Record, upstream: Path, lengths: dict[str, int]) -> None:
    """Raise PR602 when lines ran that upstream does not have. An empty module runs a line 0."""
    for path, lines in trace["upstream"]["lines"].items():
        if path not in lengths:
            file = upstream / path
            lengths[path] = file.read_bytes().count(b"\n") + 1 if file.is_file() else -1
        if not all(0 <= line <= lengths[path] for line in (min(lines, default=0), max(lines, default=0))):
            what = f"line {max(lines)} of {path}" if lengths[path] >= 0 else path
            text = f"{name}: it ran {what}, which {upstream.name} does not have: traces of another release"
            raise cannot(str(archive), "PR602", text, "name the upstream that ran with --upstream")
