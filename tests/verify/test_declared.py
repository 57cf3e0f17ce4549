"""Public names of modules that a rule declares to be loaded by a built name stay: whoever loads them may ask for any."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner import verify

RULES = """\
rules:
  - {id: t.root, because: It starts here., root: ["pkg.app:f"]}
  - {id: t.zoo, because: Only these are asked for., dynamic: {package: pkg.zoo, members: [a], site: pkg.app}}
"""
APP = "import importlib\n\n\ndef f(kind, name):\n    return getattr(importlib.import_module(f'pkg.zoo.{kind}'), name)\n"
MEMBER = "def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\ndef _own():\n    return 3\n"


@pytest.mark.parametrize(
    ("gone", "result"),
    [("", "passed"), ("def two():\n    return 2\n\n\n", "refuted"), ("\n\ndef _own():\n    return 3\n", "passed")],
    ids=["whole", "public", "private"],
)
def test_names_of_a_declared_member(gone: str, result: str, tmp_path: Path) -> None:
    trees = {"in": MEMBER, "out": MEMBER.replace(gone, "") if gone else MEMBER}
    for tree, member in trees.items():
        (tmp_path / tree / "pkg/zoo").mkdir(parents=True)
        files = {"__init__": "", "app": APP, "zoo/__init__": "", "zoo/a": member}
        for name, text in files.items():
            (tmp_path / tree / "pkg" / f"{name}.py").write_text(text)
    (tmp_path / "rules.yaml").write_text(RULES)
    (verdict,) = verify.run(
        tmp_path / "in", tmp_path / "out", [tmp_path / "rules.yaml"], python_root="", jobs=1, checks=("fold",)
    )
    assert verdict.result == result, verdict.details
