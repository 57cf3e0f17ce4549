"""Speed of the two trees: imports, start-up, upstream's bench_one_batch and bench_serving, measured by turns.

Processes come in pairs, one of each tree, as many pairs at once as the card holds (a wave), and all of a wave take
turns, so that one of them works at a time. A first pair fills the kernel caches of each tree and counts for nothing.
A figure of a process is the median of its runs; a ratio is the median of the pairs' ratios. One within 0.98 to 1.02,
or inside the range of upstream's own processes, is no difference.

Blind to what one card does not show: all-reduce, experts and replicas on several cards.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from pruner.parity.cells import BASE
from pruner.parity.client import Client
from pruner.parity.driver import SETTLE, SIDES, Run, merge, port
from pruner.parity.loads import Load
from pruner.parity.ratios import HIGHER, by_side, columns, everyone, ratios, waves
from pruner.parity.server import Server, card_size, unused

MODULE = "sglang.srt.entrypoints.http_server"
PROBES = Path(__file__).parent / "probe"
Figures = dict[str, Any]
Rows = list[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured how often. ``runs``: sweeps or benchmarks of each process; 0 for the benchmark's own number."""

    load: Load
    pairs: int = 6
    runs: int = 0

    def waves(self) -> list[range]:
        return waves(self.pairs, self.load.pairs_at_once(self.pairs, card_size()))


def imports(run: Run, plan: Plan) -> Iterator[Figures]:
    """Importing the HTTP server, alternately, one at a time."""
    rows: dict[str, Rows] = {side: [] for side in SIDES}
    for _ in range(plan.pairs):
        for side in SIDES:
            environment = run.host.environment(run.trees[side], side, None, False, "0")
            command = [run.host.python, str(PROBES / "importing.py"), MODULE]
            try:
                done = subprocess.run(
                    command, env=environment, capture_output=True, text=True, check=False, timeout=120
                )
            except subprocess.TimeoutExpired as error:
                yield {"failed": str(error), "side": side}
                return
            if done.returncode:
                yield {"failed": done.stderr.strip().splitlines()[-1:], "side": side}
                return
            rows[side].append(json.loads(done.stdout.splitlines()[-1]))
    wanted = ("seconds", "modules", "host MiB")
    yield ratios({side: [columns([row], wanted) for row in rows[side]] for side in SIDES})


def one_batch(run: Run, plan: Plan) -> Iterator[Figures]:
    """Upstream's bench_one_batch, wave by wave; the figures so far after each."""
    found: dict[str, Rows] = {}
    memory: Figures = {}
    longest = 0.0
    _, failed = one_batch_wave(run, plan.load, everyone(range(1)), 1)
    for pairs in plan.waves():
        if failed or run.left() < longest:
            break
        begun = time.monotonic()
        turns = everyone(pairs)
        made, failed = one_batch_wave(run, plan.load, turns, plan.runs or 5)
        if not failed:
            found.update(made)
        longest = max(longest, time.monotonic() - begun)
        wanted = ("prefill_latency", "median_decode_latency", "prefill_throughput", "median_decode_throughput")
        figures: Figures = by_side(found, (*wanted, "total_latency", *HIGHER)) if found else {}
        starts = {who: [{"ready seconds": rows[0]["ready seconds"]}] for who, rows in found.items()}
        memory.update({who: rows[0]["memory"] for who, rows in found.items()})
        yield {**figures, **by_side(starts, ("ready seconds",)), "host and card MiB": memory, **failed}
    if not found:
        yield failed or {"failed": "no time left"}


def one_batch_wave(run: Run, load: Load, turns: Mapping[str, str], sweeps: int) -> tuple[dict[str, Rows], Figures]:
    """The rows of some processes that take turns, without the first sweep of each; or why there are none."""
    folder = run.host.work / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    turn = folder / "turn"
    for name in (*(f"{who}.ready" for who in turns), *(f"{who}.jsonl" for who in turns)):
        (folder / name).unlink(missing_ok=True)
    turn.write_text("nobody")
    begun = time.time()
    servers: dict[str, Server] = {}
    for number, (who, side) in enumerate(turns.items()):
        environment = run.host.environment(run.trees[side], side, None, False, "0")
        options = {**BASE, **load.cell.arguments, **(load.one_batch or {}), "port": port(number // 2, side)}
        for left_out in ("max-running-requests", "reasoning-parser", "tool-call-parser", "skip-server-warmup"):
            options.pop(left_out, None)
        sizes = f"{','.join(map(str, load.batches))}:{load.batch[0]}:{load.batch[1]}"
        command = [run.host.python, str(PROBES / "one_batch.py"), str(turn), who, ",".join(turns), str(sweeps + 1)]
        command += [sizes, "--model-path", str(run.model(load.cell)), "--result-filename", str(folder / f"{who}.jsonl")]
        log = run.host.work / "logs" / f"one-batch.{who}.log"
        servers[who] = Server([*command, *words(options)], environment, log)
    processes = {who: server.process for who, server in servers.items()}
    try:
        marks = {who: folder / f"{who}.ready" for who in turns}
        missing = wait_for({who: mark.exists for who, mark in marks.items()}, processes, min(180, run.left()))
        if missing:
            return {}, {"failed": {who: servers[who].reason() for who in missing}}
        ready = {who: round(mark.stat().st_mtime - begun, 3) for who, mark in marks.items()}
        memory = {who: [server.memory(), server.card_memory()] for who, server in servers.items()}
        turn.write_text(next(iter(turns)))
        wanted = (sweeps + 1) * len(load.batches)
        files = {who: folder / f"{who}.jsonl" for who in turns}
        ended = {who: partial(whole, file, wanted) for who, file in files.items()}
        missing = wait_for(ended, processes, min(240, run.left()))
        if missing:
            return {}, {"failed": {who: servers[who].reason() for who in missing}}
    finally:
        stop(servers)
    found = {who: rows_of(file)[len(load.batches) :] for who, file in files.items()}
    return {
        who: [{**row, "ready seconds": ready[who], "memory": memory[who]} for row in rows]
        for who, rows in found.items()
    }, {}


def words(options: Mapping[str, object]) -> list[str]:
    """Options as a command line."""
    made: list[str] = []
    for key, value in options.items():
        made += [f"--{key}"] if value is True else [f"--{key}", str(value)]
    return made


class Serving:
    """The process that runs upstream's bench_serving, and the servers of each wave."""

    WANTED: ClassVar = (
        *("request_throughput", "output_throughput", "total_throughput"),
        *("median_ttft_ms", "median_itl_ms", "median_e2e_latency_ms"),
    )

    def __init__(self, run: Run, plan: Plan) -> None:
        self.run, self.plan = run, plan
        self.out = run.host.work / "bench" / "serving"
        self.out.parent.mkdir(parents=True, exist_ok=True)
        self.modules: dict[str, Mapping[str, int]] = {}
        self.number = 0
        environment = run.host.environment(run.trees["upstream"], "upstream", None, False, "0")
        command = [run.host.python, str(PROBES / "serving.py"), str(run.model(plan.load.cell))]
        self.log = run.host.work / "logs" / "serving.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT
            )

    def measure(self) -> Iterator[Figures]:
        """The figures so far after each wave. The pair that warms the caches up says which modules are held."""
        found: dict[str, Rows] = {}
        starts: dict[str, Rows] = {}
        memory: Figures = {}
        longest = 0.0
        self.run.trace, self.run.lines = True, False
        failed = self.wave(everyone(range(1)), 1, {}, {}, {})
        self.run.trace = False
        for pairs in self.plan.waves():
            if failed or self.run.left() < longest:
                break
            begun = time.monotonic()
            failed = self.wave(everyone(pairs), self.plan.runs or 3, found, starts, memory)
            longest = max(longest, time.monotonic() - begun)
            figures = {**by_side(starts, ("startup seconds",)), "modules": self.modules, "host and card MiB": memory}
            yield {**figures, "bench_serving": by_side(found, self.WANTED), **failed}
        if not found:
            yield failed or {"failed": "no time left"}

    def wave(
        self,
        turns: Mapping[str, str],
        repeats: int,
        found: dict[str, Rows],
        starts: dict[str, Rows],
        memory: Figures,
    ) -> Figures:
        """Start the servers, measure them by turns, stop them; why it failed, if it did."""
        run, load = self.run, self.plan.load
        places = {who: (number // 2, side) for number, (who, side) in enumerate(turns.items())}
        name = "bench-warm" if self.number == 0 else "bench"
        try:
            for place in places.values():
                unused(port(*place))
        except OSError as error:
            return {"failed": str(error)}
        servers = {who: run.start(replace(load.cell, name=f"{name}-{who}"), *places[who]) for who in turns}
        clients = {who: Client(port(*places[who]), run.replace(load.cell, side)) for who, side in turns.items()}
        try:
            up = run.wait(servers, clients, time.monotonic() + min(240, run.left()))
            if len(up) < len(turns):
                return {"failed": {who: servers[who].reason() for who in turns if who not in up}}
            out = Path(f"{self.out}-{self.number}")
            self.number += 1
            for left in out.parent.glob(f"{out.name}.*"):  # by an earlier visit
                left.unlink()
            urls = {who: f"http://127.0.0.1:{port(*places[who])}" for who in turns}
            job = {"servers": urls, "repeats": repeats, "out": str(out), "options": load.serving()}
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(job).encode() + b"\n")
            self.process.stdin.flush()
            done = Path(f"{out}.done")
            if wait_for({"client": done.is_file}, {"client": self.process}, min(300, run.left())):
                return {"failed": self.log.read_text("utf-8", "replace").splitlines()[-1:]}
            if run.trace:
                time.sleep(SETTLE)
            for who in turns:
                found[who] = rows_of(Path(f"{out}.{who}.jsonl"))
                starts[who] = [{"startup seconds": up[who]}]
                memory[who] = [servers[who].memory(), servers[who].card_memory()]
            return {}
        finally:
            stop(servers)
            for who, side in turns.items() if run.trace else ():
                seen = merge(run.host.work / "traces" / f"{name}-{who}" / side)
                self.modules[side] = {**seen["processes"], "all": len(seen["modules"])}

    def end(self) -> None:
        """End the client."""
        self.process.kill()
        self.process.wait()


def serving(run: Run, plan: Plan) -> Iterator[Figures]:
    """Start-up of servers of each tree, then upstream's bench_serving against them by turns, wave by wave."""
    bench = Serving(run, plan)
    try:
        yield from bench.measure()
    finally:
        bench.end()


def stop(servers: Mapping[str, Server]) -> None:
    """End all at once: each may take 13 s."""
    with ThreadPoolExecutor(len(servers)) as pool:
        list(pool.map(lambda server: server.stop(), servers.values()))


def whole(path: Path, rows: int) -> bool:
    """Does a file have so many lines? It is there before they are."""
    return path.is_file() and path.read_bytes().count(b"\n") >= rows


def rows_of(path: Path) -> Rows:
    """The rows of a JSON lines file; none when there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def wait_for(
    done: Mapping[str, Callable[[], bool]], processes: Mapping[str, subprocess.Popen[bytes]], seconds: float
) -> list[str]:
    """Who is not done when all are, all processes ended, one of them with an error, or the time is up.

    Each is asked once more after that, and that answer is the one given: a process that is done between the last look
    and a caller's own would leave a failure that names nobody.
    """
    end = time.monotonic() + seconds
    over = False
    while (missing := [who for who, ready in done.items() if not ready()]) and not over:
        codes = [process.poll() for process in processes.values()]
        over = None not in codes or any(codes) or time.monotonic() >= end
        if not over:
            time.sleep(0.05)
    return missing


BENCHES: Mapping[str, Callable[[Run, Plan], Iterator[Figures]]] = {
    "imports": imports,
    "one-batch": one_batch,
    "serving": serving,
}


def measure(run: Run, plan: Plan, name: str) -> Iterator[tuple[str, Figures]]:
    """The name of a benchmark's record and its figures, again after each wave."""
    label = name if plan.load.name == "tiny" or name == "imports" else f"{name}-{plan.load.name}"
    for figures in BENCHES[name](run, plan):
        yield label, figures
