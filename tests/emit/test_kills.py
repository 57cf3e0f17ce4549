"""Whole runs killed at random moments: ``benchmarks/kills.py`` on a small scale, which fails on any damage."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_killed_runs_leave_one_whole_output() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "kills.py"), "--kills", "10", "--seed", "7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=170)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("10 kills") and "0 damaged outputs" in done.stdout
