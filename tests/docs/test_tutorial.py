"""Every command of the tutorial does what the page says."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.docs.console import ROOT, commands, matches, run

PAGE = ROOT / "docs" / "tutorial.md"


def test_tutorial(tmp_path: Path) -> None:
    for name in ("examples", "rules"):
        shutil.copytree(ROOT / name, tmp_path / name)
    rows = commands(PAGE.read_text("utf-8"))
    printed = run(rows, tmp_path)
    assert len(printed) == len(rows)
    wrong = [
        f"docs/tutorial.md:{row.line}: $ {row.text}\nshown:\n"
        + "\n".join(row.expected)
        + "\nprinted:\n"
        + "\n".join(lines)
        for row, lines in zip(rows, printed, strict=True)
        if not matches(row.expected, lines)
    ]
    assert not wrong, "\n\n".join(wrong)
    yaml = YAML(typ="safe")
    by_id = [
        {rule["id"]: rule for rule in yaml.load((tmp_path / path).read_text("utf-8"))["rules"]}
        for path in ("build/mine/rules.yaml", "examples/shop/rules.yaml")
    ]
    assert by_id[0] == by_id[1], "the tutorial's rules and those of examples/shop differ"


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ((), [], True),
        (("a",), [], False),
        (("a", "...", "b"), ["a", "x", "y", "b"], True),
        (("a", "...", "b"), ["a", "b"], True),
        (("a", "...", "b"), ["a", "x"], False),
        (("x ... y",), ["x 1 y"], True),
        (("x",), ["x", "y"], False),
        (("│ a │ 1 │",), ["│ a │ 1      │"], True),
        (("│ a │ 1 │",), ["│ a │ 2      │"], False),
    ],
)
def test_comparison_can_fail(expected: tuple[str, ...], printed: list[str], same: bool) -> None:
    assert matches(expected, printed) is same


def test_blocks_are_read() -> None:
    page = "text\n\n```console\n$ cat <<'END'\n$ not a command\nEND\n$ echo a\na\n```\n"
    rows = commands(page)
    assert [(row.line, row.text, row.expected) for row in rows] == [
        (4, "cat <<'END'\n$ not a command\nEND", ()),
        (7, "echo a", ("a",)),
    ]
