"""Speed of the two trees: imports, start-up, upstream's bench_one_batch and bench_serving, measured by turns.

Each tree runs in several processes at once, and all of them take turns: on a tiny model two processes of one tree lie
up to a tenth apart, for as long as they live, so one process of each would measure which of them was lucky. A figure
of a tree is the median of its processes' medians. A ratio within 0.98 to 1.02, or inside the range of upstream's own
processes, is no difference.

Blind to what a tiny model does not load: memory bandwidth, all-reduce, long prompts.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from pruner.parity.cells import BASE, TRITON, Cell
from pruner.parity.client import Client
from pruner.parity.driver import SIDES, Run, port

MODULE = "sglang.srt.entrypoints.http_server"
PROBES = Path(__file__).parent / "probe"
CELL = Cell("bench", "bf16", {**TRITON, "cuda-graph-max-bs-decode": 8})
HIGHER = ("output_throughput", "total_throughput", "overall_throughput", "decode throughput", "request_throughput")
Rows = Mapping[str, Sequence[float]]


def ratios(runs: Mapping[str, Sequence[Rows]]) -> dict[str, dict[str, Any]]:
    """Per figure: medians, ratio, the range of upstream's own processes, and whether the ratio says anything.

    ``runs``: per side the figures of each process.
    """
    table: dict[str, dict[str, Any]] = {}
    for name in sorted({name for rows in runs["upstream"] for name in rows}):
        up, out = ([list(rows[name]) for rows in runs[side] if rows.get(name)] for side in SIDES)
        if not up or not out:
            continue
        medians = [statistics.median(values) for values in up]
        middle, other = statistics.median(medians), statistics.median([statistics.median(values) for values in out])
        if not middle:
            continue
        low, high = min(medians) / middle, max(medians) / middle
        table[name] = {
            "upstream": round(middle, 6),
            "output": round(other, 6),
            "ratio": round(other / middle, 4),
            "upstream's processes": [round(low, 4), round(high, 4)],
            "processes": [len(up), len(out)],
            "runs": [sum(map(len, up)), sum(map(len, out))],
            "alike": min(low, 0.98) <= other / middle <= max(high, 1.02),
        }
    return table


def everyone(processes: int) -> dict[str, str]:
    """Who takes turns -> whose tree it runs; the trees alternate."""
    return {f"{side}-{number}": side for number in range(processes) for side in SIDES}


def by_side(found: Mapping[str, Sequence[Mapping[str, Any]]], wanted: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The ratios of what each process measured."""
    sides = {side: [columns(rows, wanted) for who, rows in found.items() if who.startswith(side)] for side in SIDES}
    return ratios(sides)


def columns(rows: Sequence[Mapping[str, Any]], wanted: Sequence[str]) -> dict[str, list[float]]:
    """The wanted numbers of several runs, by name."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for name in wanted:
            if isinstance(row.get(name), int | float):
                found.setdefault(name, []).append(float(row[name]))
    return found


def imports(run: Run, repeats: int = 5) -> dict[str, Any]:
    """Importing the HTTP server, alternately, one at a time."""
    rows: dict[str, list[Mapping[str, Any]]] = {side: [] for side in SIDES}
    for _ in range(repeats):
        for side in SIDES:
            environment = run.host.environment(run.trees[side], side, None, False, "0")
            command = [run.host.python, str(PROBES / "importing.py"), MODULE]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
            if done.returncode:
                return {"failed": done.stderr.strip().splitlines()[-1:], "side": side}
            rows[side].append(json.loads(done.stdout.splitlines()[-1]))
    wanted = ("seconds", "modules", "host MiB")
    return ratios({side: [columns([row], wanted) for row in rows[side]] for side in SIDES})


def one_batch(run: Run, repeats: int = 10, processes: int = 4) -> dict[str, Any]:
    """Upstream's bench_one_batch, by turns on one card."""
    turns = everyone(processes)
    folder = run.host.work / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    turn = folder / "turn"
    for name in (*(f"{who}.ready" for who in turns), *(f"{who}.jsonl" for who in turns)):
        (folder / name).unlink(missing_ok=True)
    turn.write_text("nobody")
    started = {}
    for number, (who, side) in enumerate(turns.items()):
        environment = run.host.environment(run.trees[side], side, None, False, "0")
        options = {**BASE, **CELL.arguments, "port": port(number // 2, side)}
        for left_out in ("max-running-requests", "reasoning-parser", "tool-call-parser", "skip-server-warmup"):
            options.pop(left_out, None)
        command = [run.host.python, str(PROBES / "one_batch.py"), str(turn), who, ",".join(turns), str(repeats)]
        command += ["--model-path", str(run.model(CELL)), "--result-filename", str(folder / f"{who}.jsonl")]
        # Its prompts use ids up to 10,000.
        command += ["--load-format", "dummy", "--json-model-override-args", '{"vocab_size": 16384}']
        command += words(options)
        log = (run.host.work / "logs" / f"one-batch.{who}.log").open("wb")
        started[who] = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    ready = wait_for(lambda: all((folder / f"{who}.ready").exists() for who in turns), started, min(180, run.left()))
    if ready:
        turn.write_text(next(iter(turns)))
        files = [folder / f"{who}.jsonl" for who in turns]
        wait_for(lambda: all(whole(file, repeats) for file in files), started, min(120, run.left()))
    for process in started.values():
        process.kill()
        process.wait()
    found = {who: rows_of(folder / f"{who}.jsonl") for who in turns}
    if not all(found.values()):
        return {"failed": "no figures", "ready": ready}
    wanted = ("prefill_latency", "median_decode_latency", "prefill_throughput", "median_decode_throughput")
    return by_side(found, (*wanted, "total_latency", *HIGHER))


def words(options: Mapping[str, object]) -> list[str]:
    """Options as a command line."""
    made: list[str] = []
    for key, value in options.items():
        made += [f"--{key}"] if value is True else [f"--{key}", str(value)]
    return made


def serving(run: Run, repeats: int = 3, processes: int = 3) -> dict[str, Any]:
    """Start-up of several servers of each tree, then upstream's bench_serving against them by turns."""
    run.trace = False
    turns = everyone(processes)
    places = {who: (number // 2, side) for number, (who, side) in enumerate(turns.items())}
    servers = {who: run.start(replace(CELL, name=f"bench-{who}"), *places[who]) for who in turns}
    clients = {who: Client(port(*places[who]), run.replace(CELL, side)) for who, side in turns.items()}
    try:
        up = run.wait(servers, clients, time.monotonic() + min(240, run.left()))
        if len(up) < len(turns):
            return {"failed": {who: servers[who].reason() for who in turns if who not in up}}
        memory = {who: [servers[who].host_memory(), servers[who].card_memory()] for who in turns}
        out = run.host.work / "bench" / "serving"
        out.parent.mkdir(parents=True, exist_ok=True)
        urls = [f"{who}=http://127.0.0.1:{port(*places[who])}" for who in turns]
        environment = run.host.environment(run.trees["upstream"], "upstream", None, False, "0")
        command = [run.host.python, str(PROBES / "serving.py"), str(repeats), str(out), str(run.model(CELL)), *urls]
        with (run.host.work / "logs" / "serving.log").open("wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
            wait_for(lambda: False, {"client": process}, min(200, run.left()))
            process.kill()
            process.wait()
        wanted = ("request_throughput", "output_throughput", "total_throughput", "median_ttft_ms", "median_itl_ms")
        found = {who: rows_of(Path(f"{out}.{who}.jsonl")) for who in turns}
        figures: dict[str, Any] = {"startup seconds": up, "host and card MiB": memory}
        figures["bench_serving"] = by_side(found, (*wanted, "median_e2e_latency_ms"))
        if not figures["bench_serving"]:
            lines = (run.host.work / "logs" / "serving.log").read_text("utf-8", "replace").splitlines()
            figures["failed"] = lines[-1:]
        return figures
    finally:
        with ThreadPoolExecutor(len(servers)) as pool:  # each may take 13 s
            list(pool.map(lambda server: server.stop(), servers.values()))


def whole(path: Path, rows: int) -> bool:
    """Does a file have so many lines? It is there before they are."""
    return path.is_file() and path.read_bytes().count(b"\n") >= rows


def rows_of(path: Path) -> list[Mapping[str, Any]]:
    """The rows of a JSON lines file; none when there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def wait_for(done: Callable[[], bool], processes: Mapping[str, subprocess.Popen[bytes]], seconds: float) -> bool:
    """Until ``done`` answers yes, all processes ended, or the time is up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if done():
            return True
        if all(process.poll() is not None for process in processes.values()):
            return done()
        time.sleep(0.05)
    return False
