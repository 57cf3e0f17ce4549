"""A fact that a store breaks is nobody's assumption: nothing folds on it, nothing asks it, and the checks know that."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pruner import verify

FILES = {
    "sglang/__init__.py": "",
    "sglang/plat.py": 'import os\n\n_flag = False\n\n\ndef is_hip():\n    return os.path.exists("/no/such/card")\n',
    "sglang/app.py": "from sglang import plat\n\n\ndef configure(word):\n    plat._flag = word == 'on'\n\n\ndef start(word):\n"
    "    if plat.is_hip():\n        return 'hip'\n    configure(word)\n    if plat._flag:\n        return 'flag'\n"
    "    return 'cuda'\n",
}
RULES = """rules:
- {id: hip, because: The test says so., assume: {"sglang.plat.is_hip()": false}}
- {id: flag, because: The test says so., assume: {"sglang.plat._flag": false}}
- {id: main, because: The test says so., root: ["sglang.app:start"]}
- {id: ask, because: The test says so., guard: [{at: "sglang.app:start", facts: true%s}]}
"""
# Judging the facts takes longer than what is told of the outcome that was made before: so it is on a large tree.
SLOW = """
import sys, time
from pruner.pipeline import engine
plain = engine.judge_all
def slow(*given):
    time.sleep(1.5)
    return plain(*given)
engine.judge_all = slow
from pruner.cli import main
main(sys.argv[1:])
"""


def pruned(folder: Path, name: str, jobs: int, rules: Path) -> Path:
    """The output of one run, which ends with a finding."""
    command = [sys.executable, "-c", SLOW, "--rules", str(rules), "--upstream", str(folder / "in"), "-j", str(jobs)]
    command += ["--output", str(folder / name), "--reports", str(folder / f"{name}-reports")]
    done = subprocess.run([*command, "--cache", str(folder / f"{name}-cache")], capture_output=True, text=True)
    assert (folder / name / "PRUNED.json").is_file(), done.stderr
    report = json.loads((folder / f"{name}-reports" / "report.json").read_text())
    assert [row["code"] for row in report["findings"]] == ["PR221"]
    assert not [row for row in report["verdicts"] if row["result"] == "refuted"]
    return folder / name


def asks(tree: Path, word: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", f"from sglang.app import start; print(start({word!r}))"], cwd=tree, capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("more", ["", ', of: word, ask: {".": {fact: sglang.plat._flag}}'])
def test_nothing_rests_on_a_rejected_fact(tmp_path: Path, more: str) -> None:
    for path, text in FILES.items():
        (tmp_path / "in" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / path).write_text(text)
    rules = tmp_path / "rules.yaml"
    rules.write_text(RULES % more)
    one, two = pruned(tmp_path, "one", 1, rules), pruned(tmp_path, "two", 2, rules)
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(two) for path in two.rglob("*") if path.is_file())
    assert all((one / path).read_bytes() == (two / path).read_bytes() for path in files)
    rows = json.loads((one / "PRUNED.json").read_text())["facts"]
    assert {row["subject"]: row.get("rejected") for row in rows} == {
        "sglang.plat.is_hip()": None,
        "sglang.plat._flag": True,
    }
    assert "hip" not in (one / "sglang" / "app.py").read_text()
    for word, answer in (("on", "flag"), ("off", "cuda")):
        assert asks(tmp_path / "in", word) == asks(one, word) == answer
    assert _refuted(tmp_path, one, rules) == []

    # Who says that a fact was rejected may not fold on it, and who folds on it may not say so.
    app = one / "sglang" / "app.py"
    right = app.read_text()
    app.write_text(right.replace("    if plat._flag:\n        return 'flag'\n", ""))
    assert "fold" in _refuted(tmp_path, one, rules)
    app.write_text(right)
    manifest = one / "PRUNED.json"
    manifest.write_text(manifest.read_text().replace('"rejected":true,', ""))
    assert _refuted(tmp_path, one, rules) == ["guards"]  # it is stated then, and nobody asks it


def _refuted(folder: Path, tree: Path, rules: Path) -> list[str]:
    return [row.check for row in verify.run(folder / "in", tree, [rules], jobs=1) if row.result == "refuted"]
