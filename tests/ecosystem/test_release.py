"""The locked release under the shipped rules, whole: size, syntax, verdicts, diff, repeatability.

Needs the wheel (from the cache, else pip downloads it). Without it these tests are skipped, but
for continuous integration (``CI`` set), where that is a failure. One run takes about two minutes on two cores;
``PRUNE_TWICE=1`` runs once more at another number of jobs.
"""

from __future__ import annotations

import ast
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pruner.errors import PruneError
from pruner.model import Cause, Removal
from pruner.pipeline import RunOptions, run
from pruner.pipeline.answers import Answers
from pruner.policy import load
from pruner.source import default_cache, fetch, open_snapshot
from tests.peers import import_graph, references_left, removed_imports

pytestmark = [pytest.mark.release, pytest.mark.xdist_group("release")]
RULES = Path(__file__).resolve().parents[2] / "rules" / "cuda_only.yaml"
MOST_LINES = 430_000
MESSAGES = ("sglang/srt/managers/io_struct.py", "sglang/srt/entrypoints/openai/protocol.py")
MOST_ALLOWED = 60  # rows of an allow-list: residue that rules explain


@dataclass(frozen=True)
class Made:
    """One run on the release; ``said`` is what it answered: exit code, findings, verdicts."""

    wheel: Path
    output: Path
    reports: Path
    said: dict[str, Any]


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The locked default release."""
    try:
        return fetch(None, None, default_cache())
    except PruneError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no upstream release: {error}")


@pytest.fixture(scope="session")
def made(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The whole pipeline, once, without a stored result of an earlier run; workers of pytest-xdist share it."""
    own = tmp_path_factory.getbasetemp()
    base = (own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / "release"
    base.mkdir(exist_ok=True)
    with (base / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (base / "said.json").exists():
            prune(wheel, base, os.cpu_count() or 1)
    return Made(wheel, base / "out", base / "reports", json.loads((base / "said.json").read_text()))


def prune(wheel: Path, base: Path, jobs: int) -> None:
    """Run with everything below ``base``; ``base/said.json`` is written last."""
    base.mkdir(parents=True, exist_ok=True)
    options = RunOptions((RULES,), wheel, base / "out", base / "reports", jobs, False, False, base / "cache")
    result = run(options, lambda *_: None)
    said = {
        "exit": result.exit_code,
        "findings": [str(f) for f in result.findings],
        "verdicts": result.document["verdicts"],
    }
    (base / "said.json").write_text(json.dumps(said))


def digest(root: Path) -> str:
    """sha256 over paths, contents, mode bits and link targets."""
    total = hashlib.sha256()
    for path in sorted(p for p in root.rglob("*") if not p.is_dir() or p.is_symlink()):
        name = path.relative_to(root).as_posix()
        data = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
        total.update(f"{name}\0{os.access(path, os.X_OK)}\0{len(data)}\n".encode() + data)
    return total.hexdigest()


def test_the_run_is_clean(made: Made) -> None:
    assert made.said["findings"] == []
    assert made.said["exit"] == 0


def test_no_check_refutes_the_output(made: Made) -> None:
    verdicts = made.said["verdicts"]
    results = Counter(v["result"] for v in verdicts)
    assert results["passed"] >= 7 and results["refuted"] == 0, [v for v in verdicts if v["result"] == "refuted"]


def test_the_output_is_small(made: Made) -> None:
    lines = sum(p.read_bytes().count(b"\n") for p in made.output.rglob("*.py"))
    assert lines <= MOST_LINES


@pytest.mark.parametrize("path", MESSAGES)
def test_requests_and_responses_keep_every_class_and_field(made: Made, tmp_path: Path, path: str) -> None:
    """Also of classes that no route takes yet: clients import them."""
    upstream = open_snapshot(made.wheel, tmp_path).root
    before, after = (_fields(root / path) for root in (upstream, made.output))
    assert before and after == before


def _fields(path: Path) -> dict[str, list[str]]:
    """Names with a type in each class of a module."""
    return {
        node.name: [
            one.target.id for one in node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        ]
        for node in ast.parse(path.read_bytes()).body
        if isinstance(node, ast.ClassDef)
    }


def test_every_file_compiles(made: Made) -> None:
    broken = []
    for path in sorted(made.output.rglob("*.py")):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(path.read_bytes(), path.name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            broken.append(f"{path.relative_to(made.output)}: {error}")
    assert broken == []


@pytest.mark.parametrize("code", ["F821", "F811"])
def test_ruff_finds_nothing_that_upstream_does_not_have(made: Made, tmp_path: Path, code: str) -> None:
    """Undefined and redefined names, by file and message; line numbers move."""
    root = open_snapshot(made.wheel, tmp_path).root
    found = []
    for tree in (root, made.output):
        command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--exit-zero"]
        command += ["--select", code, "--output-format", "json", "."]
        rows = json.loads(subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True).stdout)
        names = Counter()
        for row in rows:
            message = re.sub(r" from line \d+|:\d+:\d+", "", row["message"])
            names[Path(row["filename"]).relative_to(tree.resolve()).as_posix(), message] += 1
        found.append(names)
    assert found[1] - found[0] == Counter()


def test_the_allow_lists_are_short_and_used(made: Made) -> None:
    listed = Counter(entry.rule for entry in load([RULES]).allow)
    assert listed and max(listed.values()) <= MOST_ALLOWED, listed
    residue = json.loads((made.reports / "report.json").read_text())["residue"]
    idle = [(row["path"], row["name"]) for row in residue["allowed"] if not row["count"]]
    assert {tuple(path) for path, _ in idle} <= {("sgl-kernel/python/*",)}, (
        "take these entries out of rules/residue.yaml"
    )
    spelt = {row["name"]: (row["before"], row["after"]) for row in residue["names"]}
    assert {"_is_hip", "_is_npu", "_is_xpu", "_is_musa", "_use_aiter"} <= spelt.keys()
    assert all(after < before / 10 for before, after in spelt.values())


def test_the_diff_makes_the_tree(made: Made, tmp_path: Path) -> None:
    root = open_snapshot(made.wheel, tmp_path / "cache").root
    copy = tmp_path / "copy"
    shutil.copytree(root, copy, symlinks=True)
    command = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", str(made.reports / "changes.diff")]
    done = subprocess.run(
        command, cwd=copy, capture_output=True, text=True, env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path)}
    )
    assert done.returncode == 0, done.stderr[:2000]
    assert digest(copy) == digest(made.output)


def test_nothing_written_names_this_machine(made: Made) -> None:
    """Neither output nor reports hold a path of this machine."""
    here = [str(made.output.parent).encode(), str(Path.home()).encode() + b"/", str(RULES.parent).encode()]
    for path in [*made.reports.rglob("*"), made.output / "PRUNED.json"]:
        if path.is_file():
            data = path.read_bytes()
            assert not [h for h in here if len(h) > 6 and h in data], path


@pytest.mark.skipif(not os.environ.get("PRUNE_TWICE"), reason="set PRUNE_TWICE=1: runs the whole release again")
def test_the_same_bytes_at_another_number_of_jobs(made: Made, tmp_path: Path) -> None:
    jobs = 1 if (os.cpu_count() or 1) > 1 else 2
    base = tmp_path / "a deeper" / "place"
    prune(made.wheel, base, jobs)
    assert digest(base / "out") == digest(made.output)
    assert digest(base / "reports") == digest(made.reports)


@pytest.mark.skipif(not os.environ.get("PRUNE_PEERS"), reason="NOT RUN: PRUNE_PEERS=1 asks pydeps and rope, minutes")
def test_other_tools_find_nothing_left(wheel: Path, made: Made, tmp_path: Path) -> None:
    """pydeps of all imports; rope of a sample of what went, in the files that spell its name."""
    upstream = open_snapshot(wheel, default_cache()).root
    before, after = import_graph(upstream, "sglang"), import_graph(made.output, "sglang")
    assert len(after) > 900 and removed_imports(before, after, made.output) == []
    assert sample_of_references(upstream, made.output, made.reports, 12) == []


def sample_of_references(upstream: Path, output: Path, reports: Path, most: int) -> list[str]:
    """References that rope finds to evenly spaced removed functions and classes whose names are their own."""
    rows = [
        r for r in json.loads((reports / "ledger.json").read_text())["removals"] if r["what"] in ("function", "class")
    ]
    texts = {p.relative_to(upstream).as_posix(): p.read_text("utf-8", "replace") for p in upstream.rglob("*.py")}
    answers, found, looked = Answers(reports), [], 0
    for row in rows[:: max(1, len(rows) // (4 * most))]:
        name = row["name"].rpartition(".")[2]
        files = [path for path, text in texts.items() if re.search(rf"\b{name}\b", text)]
        if len(files) > 12 or looked >= most:
            continue
        gone = Removal(row["path"], *row["lines"], row["what"], row["name"], Cause(row["cause"]["kind"], (), ()))
        count, *left = references_left(upstream, output, [gone], answers, files)
        looked += int(count)
        found += left
    assert looked >= min(most, 5), "the sample is too small to say anything"
    return found
