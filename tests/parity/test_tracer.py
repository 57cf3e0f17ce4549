"""The recorder of executed lines, in processes of its own: whose lines, and which processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pruner.parity.server import TRACER


def newer() -> str:
    """A Python that has sys.monitoring; "" where none runs."""
    for name in ("python3.12", "python3.13", "python3.14"):
        program = shutil.which(name)
        if program and not subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode:
            return program
    return ""


PYTHON = newer()
PROGRAM = """
import os, sys, time
import sglang.work
if len(sys.argv) > 1:
    if os.fork() == 0:
        sglang.work.child()
        time.sleep(2.5)  # a file is written every two seconds
        os._exit(0)
    os.wait()
else:
    sglang.work.parent()
"""
WORK = "def child():\n    return 1\n\n\ndef parent():\n    return 2\n"


def ran(folder: Path, *words: str, python: str = "") -> dict[str, dict[str, list[int]]]:
    """Kind of process -> its lines, of a program in a tree of that folder."""
    tree = folder / "tree"
    (tree / "sglang").mkdir(parents=True)
    (tree / "sglang" / "__init__.py").write_text("")
    (tree / "sglang" / "work.py").write_text(WORK)
    place = folder / "traces"
    place.mkdir()
    given = {"PRUNE_TRACE_DIR": str(place), "PRUNE_TRACE_TREE": str(tree), "PRUNE_TRACE_LINES": "1"}
    paths = f"{TRACER}:{tree}:{folder / 'other'}"
    done = subprocess.run(
        [python or PYTHON, "-W", "ignore::DeprecationWarning", "-c", PROGRAM, *words],
        env={**os.environ, **given, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    assert not done.stderr
    rows = [
        json.loads(path.read_text()) for path in sorted(place.glob("*.json"), key=lambda path: path.stat().st_mtime)
    ]
    return {str(number): row["lines"] for number, row in enumerate(rows)}


@pytest.mark.skipif(not PYTHON, reason="sys.monitoring")
def test_a_tree_below_a_folder_of_that_name(tmp_path: Path) -> None:
    """A checkout is often called sglang."""
    (row,) = ran(tmp_path / "sglang" / "python").values()
    assert sorted(row) == ["sglang/__init__.py", "sglang/work.py"] and row["sglang/work.py"][-1] == 6


@pytest.mark.skipif(not PYTHON, reason="sys.monitoring")
def test_a_forked_process_is_recorded(tmp_path: Path) -> None:
    lines = [set(row["sglang/work.py"]) for row in ran(tmp_path, "fork").values()]
    assert len(lines) == 2 and any(2 in found for found in lines)


def test_a_python_without_monitoring_records_modules(tmp_path: Path) -> None:
    import sys

    (row,) = ran(tmp_path, python=sys.executable).values()
    assert (row == {}) == (sys.version_info < (3, 12))
