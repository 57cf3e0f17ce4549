"""Speed, on programs that stand for upstream's benchmarks: turns, waves, pairs, what is written and what fails."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from pruner.parity import __main__ as command
from pruner.parity import bench, driver
from pruner.parity.cells import Cell
from pruner.parity.driver import Run
from pruner.parity.loads import LOADS, PUBLISHED, TINY, V2_LITE
from pruner.parity.ratios import columns, ratios, waves
from pruner.parity.results import markdown
from pruner.parity.server import Host, Server, kind_of
from tests.parity.small_server import write

PORTS = 33000 + 1000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
PAIRED = replace(TINY, name="paired", batches=(1, 8), cell=Cell("bench", "bf16", {}))


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (driver, bench):
        monkeypatch.setattr(module, "port", lambda slot, side: PORTS + 20 * slot + 10 * driver.SIDES.index(side))


def trees(folder: Path) -> Run:
    """Two trees of small programs; the output's decode takes 1.01 times upstream's, prefill 1.5 times."""
    made = {side: write(folder / side) for side in driver.SIDES}
    (folder / "site").mkdir()
    (folder / "site" / "transformers.py").write_text("")
    for side, tree in made.items():
        package = tree / "sglang" / "benchmark"
        package.mkdir()
        (package / "__init__.py").write_text("")
        slower = "1.01, 1.5" if side == "output" else "1.0, 1.0"
        (package / "one_batch.py").write_text(ONE_BATCH.format(log=str(folder / "log"), slower=slower))
        (package / "serving.py").write_text(SERVING)
    run = Run(Host(folder / "work", folder / "site"), made, folder / "results", 60.0, trace=False)
    run.host.prepare()
    return run


def test_ratios_are_held_against_upstreams_other_processes() -> None:
    """4% is a difference where upstream's processes agree, and none where one of them is 5% off."""
    output = [{"x": [1.04, 1.05, 1.0]}]
    close, far = ([{"x": [1.0, 2.0, 1.0]}, {"x": [1.0]}, {"x": [value]}] for value in (1.01, 1.05))
    found = [ratios({"upstream": up, "output": output})["x"] for up in (close, far)]
    assert [row["alike"] for row in found] == [False, True]
    assert found[1]["upstream's processes"] == [1.0, 1.05] and found[1]["runs"] == [5, 3]


def test_a_ratio_is_of_pairs() -> None:
    """A card that slows down from pair to pair changes neither tree's figure for the other's."""
    up, out = ([{"x": [pace * tree]} for pace in (1.0, 2.0, 3.0)] for tree in (1.0, 1.01))
    row = ratios({"upstream": up, "output": out})["x"]
    assert (row["ratio"], row["pairs"], row["in the bar"]) == (1.01, [1.01] * 3, True)
    assert row["values"]["upstream"] == [[1.0], [2.0], [3.0]]
    assert row["upstream against itself"] == 1.0  # the second against the first and third


def test_a_figure_that_a_process_lacks_moves_no_other_pair() -> None:
    """The second of upstream's processes has none: its third is a pair with the output's third."""
    up, out = ([{"x": [pace * tree]} for pace in (1.0, 2.0, 3.0)] for tree in (1.0, 1.01))
    up[1] = {}
    row = ratios({"upstream": up, "output": out})["x"]
    assert (row["ratio"], row["pairs"], row["ratio of runs"]) == (1.01, [1.01] * 2, 1.01)
    assert "x" not in ratios({"upstream": [{}, {"x": [1.0]}], "output": [{"x": [1.0]}, {}]})  # no pair has it


def test_runs_are_pairs_too() -> None:
    """Single runs that lie far apart: two medians differ by half, and of the runs that met hardly one does."""
    up, out = [{"x": [1.0, 2.0, 1.0, 2.0, 1.0]}], [{"x": [1.0, 2.0, 1.5, 2.0, 1.5]}]
    row = ratios({"upstream": up, "output": out})["x"]
    assert (row["ratio"], row["ratio of runs"], row["upstream's runs"]) == (1.5, 1.0, [1.0, 2.0])


def test_waves_fill_the_card() -> None:
    assert waves(5, 2) == [range(2), range(2, 4), range(4, 5)]
    assert [PUBLISHED.pairs_at_once(6, card) for card in (143771, 81559, 40000, 0)] == [2, 1, 1, 6]
    assert TINY.pairs_at_once(6, 81559) == 6


def test_batches_are_figures_of_their_own() -> None:
    rows = [{"batch_size": size, "a": size} for size in (1, 8, 1)]
    assert columns(rows, ["a"]) == {"a, batch 1": [1.0, 1.0], "a, batch 8": [8.0]}
    assert columns(rows[:1], ["a", "b"]) == {"a": [1.0]}


def test_the_turn_goes_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process waits for its turn; the first pair, and the first sweep of each, count for nothing."""
    monkeypatch.setattr(bench, "card_size", lambda: 0)
    *_, found = bench.one_batch(trees(tmp_path), bench.Plan(PAIRED, pairs=2, runs=3))
    row = found["median_decode_latency, batch 8"]
    assert (row["runs"], row["pairs"], row["alike"]) == ([6, 6], [1.01, 1.01], True)
    assert found["prefill_latency, batch 1"]["ratio"] == 1.5 and not found["prefill_latency, batch 1"]["alike"]
    ready = found["ready seconds"]  # a process that is up in 40 ms took 0.0 s by tenths: no figure at all
    assert ready["processes"] == [2, 2]
    assert any(value != round(value, 1) for rows in ready["values"].values() for row in rows for value in row)
    assert found["host and card MiB"]["output-1"][0]["main"]["own"] > 0
    order = [
        "upstream-0.jsonl",
        "output-0.jsonl",
        "output-1.jsonl",
        "upstream-1.jsonl",
    ]  # neither is first in each pair
    rows = (tmp_path / "log").read_text().split()
    warm = 2 + 2 * 2 * 2  # the pair's own warm-up, then two sweeps of two batches
    assert [Path(row).name for row in rows[warm + 4 :]] == order * (4 * 2)


def test_waves_come_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A card that holds one pair: the figures so far after each wave, and none that could not end in time."""
    monkeypatch.setattr(bench, "card_size", lambda: 1000)
    run = trees(tmp_path)
    plan = bench.Plan(replace(PAIRED, card=500), pairs=3, runs=1)
    counts = [found["total_latency, batch 1"]["processes"] for found in bench.one_batch(run, plan)]
    assert counts == [[1, 1], [2, 2], [3, 3]]
    monkeypatch.setattr(Run, "left", lambda self: -1.0)
    assert [*bench.one_batch(run, plan)][-1]["failed"]


@pytest.mark.parametrize("late", range(4))
def test_a_failure_names_somebody(late: int) -> None:
    """Time that is up at any look: who is done by the last look, and nobody else, is left out."""
    looks = {"a": 0, "b": 0}

    def done(who: str) -> bool:
        looks[who] += 1
        return who == "a" or looks[who] > late

    missing = bench.wait_for({who: partial(done, who) for who in looks}, {}, 0.0)
    assert missing == ([] if late < 2 else ["b"])
    assert looks["a"] == looks["b"] == (1 if late == 0 else 2)


def test_a_process_that_dies_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "card_size", lambda: 0)
    run = trees(tmp_path)
    (run.trees["output"] / "sglang" / "benchmark" / "one_batch.py").write_text("raise ValueError('no such kernel')")
    (found,) = bench.one_batch(run, bench.Plan(PAIRED, pairs=2))
    assert found["failed"]["output-0"] == "ValueError: no such kernel"


def test_servers_are_measured_by_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Through the command line: start-up, modules, memory by process; the last line has all waves."""
    monkeypatch.setattr(bench, "card_size", lambda: 1000)
    monkeypatch.setattr(command, "card", lambda: {"name": "test", "driver": "", "count": "1"})
    monkeypatch.setitem(command.LOADS, "v2-lite", replace(PUBLISHED, card=500))  # type: ignore[index]
    run = trees(tmp_path)
    call = ["bench", *(str(run.trees[side]) for side in driver.SIDES), "--work", str(tmp_path / "work")]
    call += ["--results", str(run.results), "--site", str(tmp_path / "site"), "--model", "v2-lite", "--pairs", "2"]
    assert command.main([*call, "--runs", "2", "--only", "serving"]) == 0
    lines = [json.loads(line) for line in (run.results / "bench.jsonl").read_text().splitlines()]
    assert [line["bench"] for line in lines] == ["serving-v2-lite"] * 2
    figures = lines[-1]["figures"]
    assert "failed" not in figures
    assert figures["bench_serving"]["median_itl_ms"]["runs"] == [4, 4]
    assert figures["bench_serving"]["median_itl_ms"]["upstream"] == 512.0  # it was asked for so many tokens
    assert figures["startup seconds"]["processes"] == [2, 2]
    assert figures["modules"]["upstream"]["all"] > 0
    assert figures["host and card MiB"]["upstream-1"][0]["main"]["processes"] == 1
    assert "median_itl_ms" in markdown({"cells": {}, "not run": [], "bench": {"x": figures}})
    assert json.loads((tmp_path / "work" / "checkpoints" / "v2-lite" / "config.json").read_text()) == V2_LITE
    assert command.main([*call, "--only", "speed"]) == 2


def test_memory_is_told_apart_by_process(tmp_path: Path) -> None:
    """Workers that a process forked hold what it holds, and of their own next to nothing."""
    program = "import os, sys, time; held = bytearray(64 << 20)\nfor _ in range(3):\n    if not os.fork(): break\n"
    server = Server(
        ["python3", "-c", program + "print('up', flush=True); time.sleep(60)", "compile_worker"],
        os.environ,
        tmp_path / "log",
    )
    try:
        ready = {"": lambda: server.log.read_text().count("up") == 4}
        assert not bench.wait_for(ready, {"": server.process}, 20)
        (row,) = server.memory().values()
        total = server.host_memory()
    finally:
        server.stop()
    assert row["processes"] == 4 and row["resident"] > 4 * 60 and row["own"] < 2 * 64
    assert total == 0  # a pool of compilers that happens to be there is not counted


def test_kinds_of_processes() -> None:
    titles = {
        "python3 -m torch._inductor.compile_worker --parent=1 sglang/launch_server": "compiler",
        "sglang::scheduler": "scheduler",
        "sglang::detokenizer": "detokenizer",
        "MainProcess | python3 -m sglang.launch_server": "main",
        "python3 -m sglang.launch_server --port 1": "main",
        "python3 -c from multiprocessing.resource_tracker import main;main(5)": "other",
    }
    assert {title: kind_of(title) for title in titles} == titles


def test_the_loads_fit_what_they_run_on() -> None:
    """bench_one_batch leaves out, without a word, what the pool cannot hold."""
    for load in LOADS.values():
        pool = int(str({"max-total-tokens": 65536, **load.cell.arguments}["max-total-tokens"]))
        assert max(load.batches) * sum(load.batch) <= pool
        assert load.at_once * sum(load.prompt) <= pool
        assert "--tokenize-prompt" in load.serving()


ONE_BATCH = """
import itertools, json, sys

SLOWER, AHEAD = {slower}

def latency_test_run_once(size):
    with open({log!r}, "a") as file:
        file.write(sys.argv[sys.argv.index("--result-filename") + 1] + "\\n")
    return {{"batch_size": size, "median_decode_latency": SLOWER, "prefill_latency": AHEAD, "total_latency": 1.0}}

def cli_main():
    words = sys.argv
    sizes = list(map(int, words[words.index("--batch-size") + 1 : words.index("--input-len")]))
    assert words[words.index("--input-len") :] == ["--input-len", "256", "--output-len", "256"]
    rows = [latency_test_run_once(size) for size in [sizes[0], *sizes]][1:]
    with open(words[words.index("--result-filename") + 1], "w") as file:
        file.writelines(json.dumps(row) + "\\n" for row in rows)
"""
SERVING = """
import json, sys, urllib.request

def cli_main():
    words = sys.argv
    into = float(words[words.index("--random-input-len") + 1])
    with urllib.request.urlopen(words[words.index("--base-url") + 1] + "/health") as answer:
        assert answer.status == 200
    print("bench_serving prints much")
    with open(words[words.index("--output-file") + 1], "a") as file:
        file.write(json.dumps({"median_itl_ms": into, "date": "x"}) + "\\n")
"""
