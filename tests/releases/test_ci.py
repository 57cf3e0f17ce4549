"""The steps of the CI workflows, run here: what is proposed, and that nothing is when a check refutes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from pruner.verify.behaviour import CHECKS
from tests.releases.conftest import SHOP, write_release

ROOT = Path(__file__).resolve().parents[2]


def step(
    script: str, *arguments: str, cwd: Path, rules: Path = SHOP / "rules.yaml"
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PRUNE": f"{sys.executable} -m pruner",
        "PYTHONPATH": str(ROOT),
        "RULES": str(rules),
        "JOBS": "1",
        "TREE": "pruned",
        "REVIEW": "--moved 100",
        "PRUNE_CACHE": str(cwd / "cache"),
    }
    command = ["bash", str(ROOT / "ci" / script), *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A repository with two releases beside it."""
    repository = tmp_path / "repository"
    repository.mkdir()
    for name in ("one", "two"):
        write_release(tmp_path / name, name == "two")
    git(repository, "init", "-q", "-b", "main")
    git(repository, "config", "user.name", "a")
    git(repository, "config", "user.email", "a@b.invalid")
    (repository / "README").write_text("x\n")
    git(repository, "add", "README")
    git(repository, "commit", "-q", "-m", "start")
    return repository


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def test_a_new_release_is_proposed_with_its_review(place: Path) -> None:
    done = step("review.sh", "../one", "../two", "build", cwd=place)
    assert done.returncode == 1, done.stderr
    assert (place / "build" / "decision").read_text() == "look\n"
    (annotation,) = re.findall(r"::warning file=pruned/shop/config.py,line=(\d+),title=PR511", done.stdout)
    assert (place / "build" / "comment.md").read_text().startswith("## prune: look at the findings")
    assert json.loads((place / "build" / "prune.sarif").read_bytes())["version"] == "2.1.0"
    proposed = step("propose.sh", "build", "pruned", "prune-2", "Prune 2", cwd=place)
    assert proposed.returncode == 0, proposed.stderr
    assert git(place, "log", "-1", "--format=%s%n%b").splitlines()[0] == "Prune 2"
    assert "pruned/shop/log.py" in git(place, "ls-tree", "-r", "--name-only", "HEAD")
    assert git(place, "rev-parse", "--abbrev-ref", "HEAD").strip() == "prune-2"
    shown = (place / "pruned" / "shop" / "config.py").read_text().splitlines()[int(annotation) - 1]
    assert "is_initech" in shown, "the annotation stands on the line of the change that names the vendor"


def test_the_same_release_is_in_order(place: Path) -> None:
    assert step("review.sh", "../one", "../one", "build", cwd=place).returncode == 0
    assert (place / "build" / "decision").read_text() == "commit\n"


def test_a_refuted_tree_is_never_committed(place: Path) -> None:
    rules = place.parent / "rules.yaml"
    text = (
        SHOP / "rules.yaml"
    ).read_text() + "\n  - id: shop.nothing\n    because: It must be gone.\n    discard: ['name:initech']\n"
    rules.write_text(text)
    done = step("review.sh", "../one", "../two", "build", cwd=place, rules=rules)
    assert done.returncode == 3, done.stdout + done.stderr
    assert (place / "build" / "decision").read_text() == "stop\n"
    assert (place / "build" / "comment.md").read_text().startswith("## prune: **refuted, do not ship**")
    assert "::error file=pruned/shop/" in done.stdout and "title=PR410" in done.stdout
    before = git(place, "rev-parse", "HEAD")
    assert step("propose.sh", "build", "pruned", "prune-2", "Prune 2", cwd=place).returncode == 3
    (place / "build" / "decision").write_text("commit\n")
    assert step("propose.sh", "build", "pruned", "prune-2", "Prune 2", cwd=place).returncode == 3, (
        "the reports say so too"
    )
    assert git(place, "rev-parse", "HEAD") == before and not (place / "pruned").exists()


def test_what_an_earlier_review_left_is_not_proposed(place: Path) -> None:
    """The head of this review fails; the tree and the comment of the last one are gone."""
    assert step("review.sh", "../one", "../one", "build", cwd=place).returncode == 0
    assert step("review.sh", "../one", "../three", "build", cwd=place).returncode == 2
    assert not (place / "build" / "head" / "generated").exists() and not (place / "build" / "comment.md").exists()


def test_a_release_that_cannot_be_read(place: Path) -> None:
    assert step("review.sh", "../one", "../three", "build", cwd=place).returncode == 2
    assert (place / "build" / "decision").read_text() == "stop\n"
    assert step("propose.sh", "build", "pruned", "b", "t", cwd=place).returncode == 3


def scripts(node: Any) -> list[str]:
    if isinstance(node, dict):
        return [t for key, value in node.items() for t in ([value] if key == "run" else scripts(value))]
    return [t for item in node for t in scripts(item)] if isinstance(node, list) else []


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_workflows_run_what_is_there(name: str) -> None:
    document = YAML(typ="safe").load((ROOT / "ci" / name).read_text())
    texts = scripts(document) if name == "github.yml" else document["prune"]["script"]
    assert all(isinstance(text, str) for text in texts)
    named = {word for text in texts for word in re.findall(r"ci/[\w.]+", text)}
    assert {"ci/lock.sh", "ci/review.sh", "ci/propose.sh"} <= named
    for word in named:
        assert (ROOT / word).is_file(), word
        if word.endswith(".sh"):
            assert os.access(ROOT / word, os.X_OK)
            subprocess.run(["bash", "-n", str(ROOT / word)], check=True)
    for text in texts if shutil.which("bash") else ():
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    joined = "\n".join(texts)
    assert joined.index("review.sh") < joined.index("propose.sh") < joined.index("push")


def test_the_change_is_opened_only_after_a_decision() -> None:
    steps = YAML(typ="safe").load((ROOT / "ci" / "github.yml").read_text())["jobs"]["review"]["steps"]
    (last,) = [row for row in steps if "propose.sh" in row.get("run", "")]
    assert last["if"] == "steps.review.outputs.decision == 'commit' || steps.review.outputs.decision == 'look'"


def test_every_check_that_runs_trees_is_required() -> None:
    """The workflow's targets exist, and `make verify-full` fails when one of the checks did not run."""
    document = YAML(typ="safe").load((ROOT / "ci" / "verify.yml").read_text())
    makefile = (ROOT / "Makefile").read_text()
    for text in scripts(document):
        assert re.search(rf"^{re.escape(text.split()[1])}: |^\$\(RUNS\): ", makefile, re.M), text
    (running,) = re.findall(r"^RUNNING := (.*)$", makefile, re.M)
    assert tuple(running.split()) == CHECKS
