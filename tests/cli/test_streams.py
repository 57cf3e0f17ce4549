"""Standard streams that are closed, full, or whose reader has gone: the exit code stays that of the work."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
RULES = "rules:\n  - {id: a.start, because: Started., root: [app]}\n"
GONE = "  - {id: a.gone, because: Nobody wants it., discard: [app]}\n"


def shell(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which ``$PRUNE`` is the run of this folder."""
    run = f"{sys.executable} -m pruner --rules rules.yaml --upstream up --output out --cache cache -j 1"
    return subprocess.run(
        ["bash", "-c", text],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={"PRUNE": run, "PYTHONPATH": str(_ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An upstream of one file, and rules for it."""
    (tmp_path / "up").mkdir()
    (tmp_path / "up" / "app.py").write_text("X = 1\n\n\ndef spare():\n    return 2\n")
    (tmp_path / "rules.yaml").write_text(RULES)
    return tmp_path


@pytest.mark.parametrize(("more", "code"), [("", "0"), (GONE, "3")], ids=["clean", "refuted"])
@pytest.mark.parametrize(
    "how",
    [
        "$PRUNE --json | head -c0; echo ${PIPESTATUS[0]}",
        "$PRUNE --json 3>&1 >&-; echo $?",
        "$PRUNE <&- >&- 2>&-; echo $?",
    ],
    ids=["gone", "closed", "all-closed"],
)
def test_nobody_reads(folder: Path, how: str, more: str, code: str) -> None:
    (folder / "rules.yaml").write_text(RULES + more)
    done = shell(folder, how)
    assert done.stdout.strip() == code and "Traceback" not in done.stderr
    assert (folder / ("out.refuted" if more else "out") / "app.py").is_file()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_standard_output_is_full(folder: Path) -> None:
    done = shell(folder, "$PRUNE --json >/dev/full; echo $?")
    assert done.stdout.strip() == "2" and "Traceback" not in done.stderr
    assert "standard output: error PR310: cannot be written" in done.stderr


def test_the_reader_of_an_answer_has_gone(folder: Path) -> None:
    done = shell(folder, "$PRUNE 2>&-; ${PRUNE%% --rules*} why app --output out | head -c0; echo ${PIPESTATUS[0]}")
    assert done.stdout.strip() == "0" and "Traceback" not in done.stderr


def test_the_folder_is_gone(folder: Path) -> None:
    done = shell(folder, "mkdir gone; cd gone; rmdir ../gone; $PRUNE")
    assert done.returncode == 2 and done.stderr == "error: the current folder is gone; go to one that is there\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_answer_that_finds_no_room(folder: Path) -> None:
    done = shell(folder, "$PRUNE; PRUNE=${PRUNE%% --rules*}; $PRUNE why app --output out >/dev/full; echo $?")
    assert done.stdout.strip().endswith("2") and "Traceback" not in done.stderr
    assert "standard output: error PR310: cannot be written" in done.stderr


def test_a_file_of_prune_s_own_is_known(folder: Path) -> None:
    done = shell(folder, "$PRUNE; PRUNE=${PRUNE%% --rules*}; $PRUNE why PRUNED.json --output out; echo $?")
    assert "PRUNED.json is prune's own" in done.stdout and done.stdout.strip().endswith("0")


@pytest.mark.parametrize("question", ["line app.py:0", "line app.py:99", "why-not app.py:0", "why-not app.py:99999"])
def test_a_line_that_is_not_there(folder: Path, question: str) -> None:
    done = shell(folder, f"$PRUNE; PRUNE=${{PRUNE%% --rules*}}; $PRUNE {question} --output out; echo $?")
    assert "error PR308: is no place in" in done.stderr and done.stdout.strip().endswith("2")


def test_a_path_is_shown_as_it_is_written(folder: Path) -> None:
    done = shell(folder, "${PRUNE/rules.yaml/:x:.yaml}; echo $?")
    assert ":x:.yaml: error PR001" in done.stderr and done.stdout.strip() == "2"


def test_an_upstream_that_names_nothing(folder: Path) -> None:
    done = shell(folder, '${PRUNE/--upstream up/} --upstream ""; echo $?')
    assert "--upstream: error PR100" in done.stderr and done.stdout.strip() == "2"
