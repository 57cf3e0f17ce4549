"""Speed of the two trees: imports, start-up, upstream's bench_one_batch and bench_serving, measured alternately.

A ratio is the output's median by upstream's; beside it stands upstream's own spread: how far its single runs lie from
their median. A ratio inside that spread, or within 0.98 to 1.02, is no difference.

Blind to what a tiny model does not load: memory bandwidth, all-reduce, long prompts.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
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


def ratios(runs: Mapping[str, Rows]) -> dict[str, dict[str, Any]]:
    """Per figure: medians, ratio, upstream's own spread and whether the ratio says anything."""
    table: dict[str, dict[str, Any]] = {}
    for name in sorted(set(runs["upstream"]) & set(runs["output"])):
        up, out = list(runs["upstream"][name]), list(runs["output"][name])
        middle, other = statistics.median(up), statistics.median(out)
        if not middle:
            continue
        low, high = min(up) / middle, max(up) / middle
        ratio = other / middle
        table[name] = {
            "upstream": round(middle, 6),
            "output": round(other, 6),
            "ratio": round(ratio, 4),
            "upstream's own spread": [round(low, 4), round(high, 4)],
            "runs": [len(up), len(out)],
            "alike": min(low, 0.98) <= ratio <= max(high, 1.02),
        }
    return table


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
    return ratios({side: columns(rows[side], ("seconds", "modules", "host MiB")) for side in SIDES})


def one_batch(run: Run, repeats: int = 8) -> dict[str, Any]:
    """Upstream's bench_one_batch in both trees, by turns on one card."""
    folder = run.host.work / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    turn = folder / "turn"
    for name in (*(f"{side}.ready" for side in SIDES), *(f"{side}.jsonl" for side in SIDES)):
        (folder / name).unlink(missing_ok=True)
    turn.write_text("nobody")
    processes = {}
    for side in SIDES:
        environment = run.host.environment(run.trees[side], side, None, False, "0")
        options = {**BASE, **CELL.arguments, "port": port(SIDES.index(side), side)}
        for left_out in ("max-running-requests", "reasoning-parser", "tool-call-parser", "skip-server-warmup"):
            options.pop(left_out, None)
        command = [run.host.python, str(PROBES / "one_batch.py"), str(turn), side, str(repeats)]
        command += ["--model-path", str(run.model(CELL)), "--result-filename", str(folder / f"{side}.jsonl")]
        # Its prompts use ids up to 10,000.
        command += ["--load-format", "dummy", "--json-model-override-args", '{"vocab_size": 16384}']
        command += words(options)
        log = (run.host.work / "logs" / f"one-batch.{side}.log").open("wb")
        processes[side] = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
    ready = wait_for(
        lambda: all((folder / f"{side}.ready").exists() for side in SIDES), processes, min(180, run.left())
    )
    if ready:
        turn.write_text("upstream")
        wait_for(lambda: False, processes, min(120, run.left()))
    for process in processes.values():
        process.kill()
        process.wait()
    found = {side: rows_of(folder / f"{side}.jsonl") for side in SIDES}
    if not all(found.values()):
        return {"failed": "no figures", "ready": ready}
    wanted = ("prefill_latency", "median_decode_latency", "prefill_throughput", "median_decode_throughput")
    return ratios({side: columns(found[side], (*wanted, "total_latency", *HIGHER)) for side in SIDES})


def words(options: Mapping[str, object]) -> list[str]:
    """Options as a command line."""
    made: list[str] = []
    for key, value in options.items():
        made += [f"--{key}"] if value is True else [f"--{key}", str(value)]
    return made


def serving(run: Run, repeats: int = 6) -> dict[str, Any]:
    """Start-up of both servers, then upstream's bench_serving against them by turns."""
    run.trace = False
    servers = {side: run.start(CELL, 0, side) for side in SIDES}
    clients = {side: Client(port(0, side), run.replace(CELL, side)) for side in SIDES}
    try:
        up = run.wait(servers, clients, time.monotonic() + min(240, run.left()))
        if len(up) < len(SIDES):
            return {"failed": {side: servers[side].reason() for side in SIDES if side not in up}}
        memory = {side: [servers[side].host_memory(), servers[side].card_memory()] for side in SIDES}
        out = run.host.work / "bench" / "serving"
        out.parent.mkdir(parents=True, exist_ok=True)
        urls = [f"http://127.0.0.1:{port(0, side)}" for side in SIDES]
        environment = run.host.environment(run.trees["upstream"], "upstream", None, False, "0")
        command = [run.host.python, str(PROBES / "serving.py"), str(repeats), *urls, str(out), str(run.model(CELL))]
        with (run.host.work / "logs" / "serving.log").open("wb") as log:
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT)
            wait_for(lambda: False, {"client": process}, min(200, run.left()))
            process.kill()
            process.wait()
        wanted = ("request_throughput", "output_throughput", "total_throughput", "median_ttft_ms", "median_itl_ms")
        found = {side: rows_of(Path(f"{out}.{side}.jsonl")) for side in SIDES}
        table = ratios({side: columns(found[side], (*wanted, "median_e2e_latency_ms")) for side in SIDES})
        return {"startup seconds": up, "host and card MiB": memory, "bench_serving": table}
    finally:
        for server in servers.values():
            server.stop()


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
