"""Names that only text, listings, protocols and file paths ask for: output and verifier, on tables of programs.

``programs/*.txt``: ``=== name``, perhaps ``loses:`` (what a wrong pruning of it lost: a file, or ``file:definition``),
then the files, each under ``--- path``. ``app.main()`` prints.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pruner import verify
from tests.engine.program import prune

FOLDER = Path(__file__).parent / "asked"
RULES = """rules:
- {id: cuda, because: The test says so., assume: {"plat.is_cuda()": true}, optional: true}
- {id: hip, because: The test says so., assume: {"plat.is_hip()": false}, optional: true}
- {id: main, because: The test says so., root: ["app:main"]}
"""
PLAT = "def is_cuda():\n    return True\n\n\ndef is_hip():\n    return False\n"


def programs() -> Iterator[object]:
    """Every program of every file, as pytest parameters."""
    for path in sorted(FOLDER.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("=== ")[1:]:
            head, *files = part.split("--- ")
            name, _, options = head.partition("\n")
            tree = {}
            for file in files:
                where, _, text = file.partition("\n")
                tree[where.strip()] = text
            loses = options.strip().removeprefix("loses:").strip()
            yield pytest.param(tree, loses, id=f"{path.stem}: {name}")


def write(folder: Path, files: dict[str, bytes]) -> Path:
    """A tree on disk."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def said(tree: Path) -> str:
    """What the program prints."""
    command = [sys.executable, "-W", "ignore", "-B", "-c", "import app; app.main()"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.replace(str(tree), "")


def without(text: str, name: str) -> str:
    """The file without one definition, at module level or in a class."""
    body: list[ast.stmt] = ast.parse(text).body
    *owners, short = name.split(".")
    for owner in owners:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner)
    lines = text.splitlines(keepends=True)
    for node in reversed(body):
        bound = getattr(node, "name", "") or [getattr(t, "id", "") for t in getattr(node, "targets", ())]
        if bound == short or short in bound:
            indent = " " * node.col_offset
            lines[node.lineno - 1 : node.end_lineno] = [f"{indent}pass\n"] if len(body) == 1 else []
    return "".join(lines)


@pytest.mark.parametrize(("files", "loses"), list(programs()))
def test_output_does_the_same_and_the_loss_is_refuted(files: dict[str, str], loses: str, tmp_path: Path) -> None:
    rules = files.pop("rules.yaml", RULES)
    files.setdefault("plat.py", PLAT)
    pruned = prune(files, rules=rules, plat=False)
    before, after = write(tmp_path / "in", pruned.before), write(tmp_path / "out", pruned.files)
    (tmp_path / "rules.yaml").write_text(rules)
    assert said(after) == said(before)
    rows = verify.run(before, after, [tmp_path / "rules.yaml"], jobs=1)
    assert {row.check: row.details for row in rows if row.result == "refuted"} == {}
    if not loses:
        return
    path, _, name = loses.partition(":")
    if name:
        (after / path).write_text(without((after / path).read_text(), name))
    else:
        (after / path).unlink()
    rows = verify.run(before, after, [tmp_path / "rules.yaml"], jobs=1)
    refuted = {row.check for row in rows if row.result == "refuted"}
    assert refuted & {"fold", "modules", "imports"}, "the loss is seen by no check"
