"""``benchmarks/answers.py`` finds its questions in the reports of any run, and each has an answer."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.cli.test_cache import ROOT, pruned


def test_every_question_has_an_answer_in_time(tmp_path: Path) -> None:
    pruned(tmp_path, Path())
    command = [sys.executable, "benchmarks/answers.py", "--reports", str(tmp_path / "reports"), "--rounds", "1"]
    done = subprocess.run([*command, "--limit", "20"], cwd=ROOT, capture_output=True, text=True, check=False)
    rows = [line.split(maxsplit=3) for line in done.stdout.splitlines()[2:]]
    assert done.returncode == 0, done.stdout + done.stderr
    assert {row[3].split()[0] for row in rows} == {"why", "why-not", "retained", "impact", "line", "facts", "rules"}
    assert {row[3]: row[2] for row in rows if row[2] != "0"} == {"why a.name.that.is.not.there": "1"}
