"""More processes than there is work for, and work that is begun before it is asked for."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.kills import HERE, SHOP, digest
from pruner.verify.workers import Workers


def test_all_processes_are_there_after_the_first_task() -> None:
    """One that is forked later may inherit the pipe on which a thread waits for ruff to start, and both wait for ever."""
    workers: Workers[int] = Workers(6, int, "7")
    try:
        assert workers.map(added, [1], str, float) == [8]
        there = {process.pid for process in multiprocessing.active_children()}
        assert set(workers.all(process_id, 0)) <= there
    finally:
        workers.close()


def test_what_is_begun_is_there_for_its_process() -> None:
    """Each process has what it began itself, and a process without any answers as one alone does."""
    answers = []
    for jobs in (1, 3):
        workers: Workers[dict[int, int]] = Workers(jobs, dict, {})
        try:
            homes = workers.map(noted, range(9), str, float)
            workers.begin(squared, range(9), str)
            answers.append(workers.map(asked, range(9), str, float))
            assert len(set(homes)) == jobs
        finally:
            workers.close()
    assert answers[0] == [(number * number, False) for number in range(9)]
    assert [square for square, _ in answers[1]] == [number * number for number in range(9)]
    assert sum(begun for _, begun in answers[1]) > 0


def noted(_state: dict[int, int], _task: int) -> int:
    return os.getpid()


def squared(state: dict[int, int], task: int) -> None:
    state[task] = task * task


def asked(state: dict[int, int], task: int) -> tuple[int, bool]:
    begun = task in state
    if not begun:
        squared(state, task)
    return state[task], begun


def added(state: int, task: int) -> int:
    return state + task


def process_id(_state: int, _task: int) -> int:
    return os.getpid()


def test_ninety_nine_processes_on_ten_files(tmp_path: Path) -> None:
    found = []
    for jobs in ("1", "99"):
        command = [sys.executable, "-m", "pruner", "--rules", str(SHOP / "rules.yaml"), "-j", jobs]
        command += ["--upstream", str(SHOP / "upstream"), "--cache", str(tmp_path / f"cache{jobs}")]
        done = subprocess.run(
            [*command, "--output", str(tmp_path / jobs)], cwd=HERE, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        found.append((digest(tmp_path / jobs), digest(tmp_path / f"{jobs}-reports")))
    assert found[0] == found[1]
