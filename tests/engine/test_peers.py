"""Two tools that share nothing with ours look at the result: pydeps at imports, rope at references."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rope.base.project import Project
from rope.contrib.findit import find_occurrences

from pruner.model import RunResult
from pruner.pipeline import RunOptions, run
from pruner.pipeline.answers import Answers

HERE = Path(__file__).resolve().parents[2]
SHOP = HERE / "examples" / "shop"


@pytest.fixture(scope="module")
def pruned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunResult]:
    base = tmp_path_factory.mktemp("peers")
    upstream = base / "upstream"
    shutil.copytree(SHOP / "upstream", upstream)
    options = RunOptions(
        (SHOP / "rules.yaml",), upstream, base / "out", base / "reports", 1, False, False, base / "cache"
    )
    result = run(options, lambda *_: None)
    assert result.exit_code == 0
    return base, result


def modules_by_pydeps(tree: Path) -> dict[str, set[str]]:
    """pydeps' import graph of the package ``shop`` below ``tree``: module → modules of shop that it imports."""
    command = [sys.executable, "-m", "pydeps", "shop", "--show-deps", "--no-output", "--no-dot", "--max-bacon", "0"]
    environment = dict(os.environ, PYTHONPATH=str(tree))
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=True)
    graph = json.loads(done.stdout)
    return {
        n: {i for i in row.get("imports", ()) if i.split(".")[0] == "shop"}
        for n, row in graph.items()
        if n.split(".")[0] == "shop"
    }


def test_pydeps_sees_no_import_of_a_removed_module(pruned: tuple[Path, RunResult]) -> None:
    base, _ = pruned
    before, after = modules_by_pydeps(base / "upstream"), modules_by_pydeps(base / "out")
    gone = {n for n in before if not _file(base / "out", n)}
    assert gone, "the example removes modules, and pydeps knows them upstream"
    assert not gone & set(after)
    for module, imports in after.items():
        assert not imports & gone, module
        assert imports <= before.get(module, set()) | {module}, f"{module} imports what it did not upstream"


def _file(tree: Path, module: str) -> bool:
    path = tree / module.replace(".", "/")
    return path.with_suffix(".py").is_file() or path.is_dir()


def test_rope_finds_no_kept_reference_to_a_removed_definition(pruned: tuple[Path, RunResult]) -> None:
    base, result = pruned
    project = Project(str(base / "upstream"), ropefolder=None)
    gone: dict[str, set[int]] = {}
    for row in result.removals:
        gone.setdefault(row.path, set()).update(range(row.first, row.last + 1))
    answers = Answers(base / "reports")
    looked = 0
    try:
        for row in result.removals:
            if row.what not in ("function", "class", "method"):
                continue
            resource = project.get_resource(row.path)
            name = row.name.rpartition(".")[2]
            text = resource.read()
            start = sum(len(line) + 1 for line in text.split("\n")[: row.first - 1])
            offset = (
                text.index(f" {name}(", start) + 1 if f" {name}(" in text[start:] else text.index(f" {name}", start) + 1
            )
            for found in find_occurrences(project, resource, offset):
                place = f"{found.resource.path}:{found.lineno}"
                if found.lineno not in gone.get(found.resource.path, ()):
                    # The line stays: then the reference was folded out of it.
                    answer = answers.line(place, upstream=True)
                    if answer.status == "removed":
                        continue
                    file, _, number = answer.lines[0].rpartition(":")
                    kept = (base / "out" / file).read_text().splitlines()[int(number) - 1]
                    assert not re.search(rf"\b{name}\b", kept), f"{row.name}: {place}"
            looked += 1
    finally:
        project.close()
    assert looked >= 3
