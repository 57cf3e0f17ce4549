"""Runs cells on a GPU host: both trees' servers side by side, the same requests, one line of results each.

A result is written as soon as its cell ends; a run that is cut leaves what it finished, and the next goes on.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import shutil
import tarfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from pruner.parity import checkpoint
from pruner.parity.cells import Cell
from pruner.parity.client import TREE, Client
from pruner.parity.compare import judge
from pruner.parity.requests import MODEL, groups
from pruner.parity.server import Host, Server, card, kind_of, unused

SCHEMA = "prune-parity/1"
Json = Mapping[str, Any]
SIDES = ("upstream", "output")
RESULTS, TRACES, LOGS = "cells.jsonl", "traces.tar", "logs.tar"
ALIKE = ("identical", "refused as stated")
COMPARED = ("identical", "unstable", "differs")
LEAST = 60.0  # seconds without which no cell is started
ROUNDS = 3  # more, of groups that were not alike
CLASH = re.compile("EADDRINUSE|address already in use", re.IGNORECASE)
SETTLE = 2.5  # seconds in which tracers write once more


@dataclass
class Run:
    """One visit to a GPU host."""

    host: Host
    trees: Mapping[str, Path]  # side -> folder that holds sglang/
    results: Path
    seconds: float
    slots: int = 4
    limit: float = 240.0
    lines: bool = True
    trace: bool = True
    started: float = field(default_factory=time.monotonic)
    lock: threading.Lock = field(default_factory=threading.Lock)
    free: list[int] = field(default_factory=list)
    card: dict[str, str] = field(default_factory=dict)

    def left(self) -> float:
        return self.seconds - (time.monotonic() - self.started)

    def run(self, cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
        """The records of the cells that could run, as they end."""
        self.host.prepare()
        self.results.mkdir(parents=True, exist_ok=True)
        self.free = list(range(self.slots))
        self.card = card()
        make_checkpoints(self.host, cells)
        with ThreadPoolExecutor(self.slots) as pool:
            yield from pool.map(self.one, cells)

    def one(self, cell: Cell) -> dict[str, Any]:
        """One cell; a fault of the driver is a result too."""
        with self.lock:
            slot = self.free.pop(0)
        start = time.monotonic()
        record: dict[str, Any] = {"schema": SCHEMA, "cell": cell.name, "card": self.card, "options": cell.options()}
        record["build"] = self.build()
        try:
            if int(self.card["count"]) < cell.cards:
                record["result"], record["why"] = "not run", f"needs {cell.cards} cards"
            elif self.left() < LEAST:
                record["result"], record["why"] = "not run", "no time left"
            else:
                record.update(self.pair(cell, slot))
        except Exception as error:
            record["result"], record["why"] = "failed", f"driver: {type(error).__name__}: {error}"
        record["seconds"] = round(time.monotonic() - start, 1)
        with self.lock:
            self.free.append(slot)
            if record.get("why") != "no time left":
                append(self.results / RESULTS, record)
        return record

    def build(self) -> dict[str, str]:
        """The digest of each side's tree; empty for upstream's."""
        return {side: build_of(tree) for side, tree in self.trees.items()}

    def pair(self, cell: Cell, slot: int) -> dict[str, Any]:
        """Start both servers, ask both, stop both, compare."""
        for side in SIDES:
            unused(port(slot, side))
        servers = {side: self.start(cell, slot, side) for side in SIDES}
        try:
            end = time.monotonic() + min(self.limit, self.left())
            clients = {side: Client(port(slot, side), self.replace(cell, side)) for side in SIDES}
            up = self.wait(servers, clients, end)
            figures: dict[str, Any] = {"startup seconds": up}
            if len(up) < len(SIDES):
                return {**refusal(servers, up), **figures}
            answers: dict[str, dict[str, Any]] = {side: {} for side in SIDES}
            faults: dict[str, str] = {}
            asking = [
                threading.Thread(target=ask, args=(clients[side], cell, answers[side], faults, side), daemon=True)
                for side in SIDES
            ]
            for thread in asking:
                thread.start()
            for thread in asking:
                thread.join(max(1.0, end - time.monotonic()))
            cut = any(thread.is_alive() for thread in asking)
            time.sleep(SETTLE)
            figures["host MiB"] = {side: servers[side].host_memory() for side in SIDES}
            figures["host MiB by process"] = {side: servers[side].memory() for side in SIDES}
            figures["prune digest"] = {side: clients[side].prune_digest() for side in SIDES}
            figures["card MiB"] = {side: servers[side].card_memory() for side in SIDES}
            common = {side: dict(answers[side]) for side in SIDES}
            if cut:  # what only one side had time for says nothing
                both = set(common["upstream"]) & set(common["output"])
                common = {side: {name: found[name] for name in found if name in both} for side, found in common.items()}
            result, found = judge(common["upstream"], common["output"])
            if not cut and result != "identical":
                ask_again(clients, cell, common, found, end)
                result, found = judge(common["upstream"], common["output"])
            return {**whole(cell, result, found, cut, faults), **figures}
        finally:
            stoppers = [threading.Thread(target=server.stop) for server in servers.values()]
            for thread in stoppers:
                thread.start()
            for thread in stoppers:
                thread.join()
            self.keep(cell, servers)

    def start(self, cell: Cell, slot: int, side: str) -> Server:
        trace = self.host.work / "traces" / cell.name / side if self.trace else None
        cards = ",".join(str(n) for n in self.cards(cell, slot))
        lines = self.lines and side == "upstream"
        environment = self.host.environment(self.trees[side], side, trace, lines, cards)
        command = [self.host.python, "-m", "sglang.launch_server", "--model-path", str(self.model(cell))]
        command += ["--host", "127.0.0.1", "--port", str(port(slot, side)), *cell.options()]
        return Server(command, environment, self.host.work / "logs" / f"{cell.name}.{side}.log")

    def cards(self, cell: Cell, slot: int) -> Iterable[int]:
        count = max(1, int(self.card["count"]))
        return range(cell.cards) if cell.cards > 1 else [slot % count]

    def model(self, cell: Cell) -> Path:
        return self.host.work / "checkpoints" / cell.checkpoint

    def replace(self, cell: Cell, side: str) -> dict[str, str]:
        folder = self.host.work / "checkpoints"
        return {MODEL: str(self.model(cell)), "CHECKPOINTS": str(folder), TREE: str(self.trees[side])}

    def wait(self, servers: Mapping[str, Server], clients: Mapping[str, Client], end: float) -> dict[str, float]:
        """Seconds until each server answered; one that ended, or the limit, leaves it out."""
        up: dict[str, float] = {}
        while time.monotonic() < end:
            for side, server in servers.items():
                if side not in up and not server.ended() and clients[side].healthy():
                    up[side] = round(time.monotonic() - server.started, 3)
            if all(side in up or server.ended() for side, server in servers.items()):
                break
            time.sleep(0.5)
        return up

    def keep(self, cell: Cell, servers: Mapping[str, Server]) -> None:
        """What the tracers saw and the ends of the logs go to the results."""
        folder = self.host.work / "traces" / cell.name
        merged = {side: merge(folder / side) for side in SIDES} if self.trace else {}
        with self.lock:
            if merged:
                add(
                    self.results / TRACES,
                    f"{cell.name}.json.gz",
                    gzip.compress(json.dumps(merged).encode(), 6, mtime=0),
                )
            for side, server in servers.items():
                text = server.log.read_bytes()
                data = gzip.compress(text[:20_000] + b"\n...\n" + text[-60_000:] if len(text) > 80_000 else text, 6)
                add(self.results / LOGS, f"{cell.name}.{side}.log.gz", data)
        shutil.rmtree(folder, ignore_errors=True)


def port(slot: int, side: str) -> int:
    """A server takes further ports up to some thousand above its own: the ranges may not meet."""
    return 11000 + 2600 * slot + 1300 * SIDES.index(side)


def ask(client: Client, cell: Cell, answers: dict[str, Any], faults: dict[str, str], side: str) -> None:
    """Fill ``answers`` group by group, so that a limit keeps what came before it; what ends it early is a fault."""
    try:
        for name, rounds in client.each(groups(cell.extra)):
            answers[name] = rounds
    except Exception as error:
        faults[side] = f"{type(error).__name__}: {error}"


def whole(cell: Cell, result: str, found: Json, cut: bool, faults: Mapping[str, str]) -> dict[str, Any]:
    """The record of what was compared. A cell of which groups have no answer is not alike, whatever the others are."""
    planned = [group.name for group in groups(cell.extra)]
    missing = [name for name in planned if name not in found]
    record: dict[str, Any] = {"result": result, "groups": found, "planned": len(planned)}
    why = ["cut at its limit"] if cut else []
    why += [f"asking {side}: {text}" for side, text in sorted(faults.items())]
    if missing:
        why.append(f"{len(missing)} of {len(planned)} groups have no answer, from {missing[0]} on")
        record["result"] = "differs" if result == "differs" else "failed"
    if why:
        record["why"] = "; ".join(why)
    return record


def ask_again(
    clients: Mapping[str, Client], cell: Cell, answers: Mapping[str, dict[str, Any]], found: Json, end: float
) -> None:
    """More rounds of the groups that were not alike: a server that does not repeat itself shows more of its answers."""
    for group in groups(cell.extra):
        again = group.name in found and found[group.name]["result"] not in ALIKE and not group.once
        if not again or any(group.name not in answers[side] for side in SIDES):
            continue
        for _ in range(ROUNDS):
            for side in SIDES:
                if time.monotonic() < end and clients[side].healthy():
                    answers[side][group.name].append(clients[side].ask(group))


def refusal(servers: Mapping[str, Server], up: Mapping[str, float]) -> dict[str, Any]:
    """The verdict where not both servers came up. Several cells at once may draw one port: that is nobody's difference."""
    why = {
        side: servers[side].reason() if servers[side].ended() else "not up in time" for side in SIDES if side not in up
    }
    if len(why) == 2:
        alike = why["upstream"] == why["output"]
        return {"result": "refused by both" if alike else "failed", "why": why["upstream"] if alike else why}
    blameless = "upstream" in why or any(CLASH.search(reason) for reason in why.values())
    return {"result": "failed" if blameless else "differs", "why": why}


def make_checkpoints(host: Host, cells: Sequence[Cell]) -> None:
    """The checkpoints that the cells need, at once."""
    wanted = {cell.checkpoint for cell in cells}
    wanted |= {"other", "bf16"} if any("weights" in cell.extra for cell in cells) else set()
    wanted |= {"adapter"} if any("lora" in cell.extra for cell in cells) else set()
    with ThreadPoolExecutor(len(wanted)) as pool:
        list(pool.map(lambda name: checkpoint.write(host.work / "checkpoints" / name, name), sorted(wanted)))


def merge(folder: Path) -> dict[str, Any]:
    """One side's processes: modules and lines together, modules of the largest process of each kind."""
    modules: dict[str, int] = {}
    held: set[str] = set()
    lines: dict[str, set[int]] = {}
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text())
        kind = kind_of(document["title"])
        modules[kind] = max(modules.get(kind, 0), len(document["modules"]))
        held.update(document["modules"])
        for file, numbers in document["lines"].items():
            lines.setdefault(file, set()).update(numbers)
    found = {file: sorted(numbers) for file, numbers in sorted(lines.items())}
    return {"processes": modules, "modules": sorted(held), "lines": found}


def append(path: Path, record: Json) -> None:
    """Append a row. After half a row, which a cut leaves, a new line begins: the two would be one that nobody can read."""
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, 2)
            if file.read() != b"\n":
                file.write(b"\n")
        file.write(json.dumps(record, sort_keys=True).encode() + b"\n")


def finished(run: Run) -> dict[str, str]:
    """Cells that the results folder has an answer of, by the build that would run now: name -> result."""
    path = run.results / RESULTS
    found: dict[str, str] = {}
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        with contextlib.suppress(ValueError, TypeError, KeyError):  # half a row is no answer
            row = json.loads(line)
            if row["build"] != run.build() or row["schema"] != SCHEMA or row["result"] == "not run":
                continue
            found.pop(row["cell"], None)  # the last answer counts, and a failure is none
            if row["result"] in COMPARED:
                found[row["cell"]] = row["result"]
    return found


def verdict(results: Sequence[str]) -> int:
    """Exit code: 3 when one differs, 1 when one could not be compared or none was, else 0."""
    if "differs" in results:
        return 3
    compared = any(result in (*COMPARED, *ALIKE) for result in results)
    return 1 if not compared or {"failed", "refused by both"} & set(results) else 0


def build_of(tree: Path) -> str:
    """The digest that a generated tree's servers show; empty for upstream's tree."""
    guard = tree / "sglang" / "_prune_guard.py"
    found = re.search(r'^DIGEST = "([^"]*)"', guard.read_text("utf-8"), re.M) if guard.is_file() else None
    return found[1] if found else ""


def add(archive: Path, name: str, data: bytes) -> None:
    """Append one member; the archive is whole after each call. One that a cut left in half is put aside."""
    member = tarfile.TarInfo(name)
    member.size = len(data)
    try:
        with tarfile.open(archive, "a") as file:
            file.addfile(member, BytesIO(data))
    except tarfile.ReadError:
        archive.replace(archive.with_name(f"{archive.name}.cut"))
        with tarfile.open(archive, "w") as file:
            file.addfile(member, BytesIO(data))
