"""Ctrl-C at every stage of a run: one line, code 130, one whole output, nothing left behind and nobody at work."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.kills import FEWER, HERE, SHOP, digest, members

# Ctrl-C on a terminal goes to the whole group. It is pressed when the run says that a stage begins, or once a
# function of the run has returned; with two processes the workers are at work, or wait, by then.
KEY = """
import importlib, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
kind, _, name = sys.argv.pop(1).partition(":")
def press():
    os.killpg(0, signal.SIGINT)
if kind == "stage":
    from pruner.console import Screen
    shown = Screen.progress
    def progress(self, stage, share):
        shown(self, stage, share)
        if stage == name:
            press()
    Screen.progress = progress
else:
    module, _, function = name.rpartition(".")
    owner = importlib.import_module(module)
    work = getattr(owner, function)
    def pressed(*given, **named):
        answer = work(*given, **named)
        press()
        return answer
    setattr(owner, function, pressed)
from pruner.__main__ import main
main()
"""
OLD = ["stage:read upstream", "stage:link", "stage:mark", "stage:rewrite", "stage:collect", "stage:write"]
OLD += ["stage:verify", "call:pruner.emit.emit_output", "call:pruner.verify.run"]
NEW = ["call:pruner.emit.place_output", "stage:report", "call:pruner.report.render", "call:pruner.report.summary"]
AGAIN = ("stage:verify", "stage:report")  # a run more after these


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[str, str], tuple[str, str]]:
    """An output of fewer rules, its digests, and those of the output that the interrupted run would make."""
    place = tmp_path_factory.mktemp("outputs")
    (place / "fewer.yaml").write_text(FEWER)
    found = []
    for rules in (SHOP / "rules.yaml", place / "fewer.yaml"):
        done = subprocess.run(command(rules, place), cwd=HERE, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.append((digest(place / "out"), digest(place / "out-reports")))
    return place, found[1], found[0]


def command(rules: Path, place: Path, *before: str) -> list[str]:
    start = [sys.executable, *(before or ("-m", "pruner"))]
    start += ["--rules", str(rules), "--upstream", str(SHOP / "upstream"), "--cache", str(place / "cache")]
    return [*start, "--output", str(place / "out"), "-j", "2"]


@pytest.mark.parametrize("point", [*OLD, *NEW])
def test_an_interrupt(point: str, outputs: tuple[Path, tuple[str, str], tuple[str, str]], tmp_path: Path) -> None:
    earlier, before, after = outputs
    for name in ("out", "out-reports"):
        shutil.copytree(earlier / name, tmp_path / name, symlinks=True)
    (tmp_path / "tmp").mkdir()
    where = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    run = subprocess.Popen(
        command(SHOP / "rules.yaml", tmp_path, "-c", KEY, point), cwd=HERE, env=where,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    stdout, said = run.communicate(timeout=60)  # ends when the last process that has the stream ends
    assert run.returncode == 130, said
    assert not stdout
    words = [line for line in said.splitlines() if line and not line.endswith(" s")]  # stages and their seconds
    assert len(words) == 1 and words[0].startswith("interrupted; "), said
    found = digest(tmp_path / "out"), digest(tmp_path / "out-reports")
    if point in OLD:
        assert found == before
        assert words[0].endswith("the output is as it was")
    else:
        assert found[0] == after[0] and found[1] in (before[1], after[1])
        assert "is the new tree, whole and checked" in words[0]
        assert ("run again" in words[0]) == (found[1] == before[1])
    deadline = time.monotonic() + 5
    while any(members(run.pid)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(members(run.pid))
    assert {path.name for path in tmp_path.iterdir()} <= {"out", "out-reports", "cache", "tmp"}
    assert not list((tmp_path / "tmp").iterdir())
    if point not in AGAIN:
        return
    again = subprocess.run(command(SHOP / "rules.yaml", tmp_path), cwd=HERE, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr  # the lock is free, and what the cache has got is no harm
    assert (digest(tmp_path / "out"), digest(tmp_path / "out-reports")) == after
