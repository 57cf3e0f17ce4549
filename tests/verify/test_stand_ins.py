"""Dropped symbols of a module that stays: their importers have stand-ins, in front of the other names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner import verify
from pruner.pipeline import RunOptions, run
from tests.verify.wrong import Case

RULES = """\
rules:
  - {id: t.root, because: It starts here., root: [pkg.app]}
  - {id: t.drop, because: Nobody asks for it., drop: ["pkg.kinds:Gone"]}
"""
KINDS = "class A:\n    pass\n\n\nclass Gone:\n    pass\n\n\nclass Z:\n    pass\n"
APP = """\
from pkg.kinds import (
    A,
    Gone,
    Z,
)


def f(name):
    if name == "gone":
        return Gone()
    return A() if isinstance(name, Z) else Z()
"""


@pytest.mark.parametrize(
    "lost", ["", "_prune_guard.stand_in('pkg.kinds:Gone', 't.drop')"], ids=["whole", "stand-in lost"]
)
def test_a_symbol_that_a_rule_drops(lost: str, tmp_path: Path) -> None:
    upstream, out = tmp_path / "in", tmp_path / "out"
    (upstream / "pkg").mkdir(parents=True)
    for name, text in {"__init__": "", "kinds": KINDS, "app": APP}.items():
        (upstream / "pkg" / f"{name}.py").write_text(text)
    (tmp_path / "rules.yaml").write_text(RULES)
    options = RunOptions((tmp_path / "rules.yaml",), upstream, out, None, 1, False, False, tmp_path / "cache")
    result = run(options, lambda *_: None)
    assert result.exit_code == 0, [v.details for v in result.document.verdicts if v.result != "passed"]
    text = (out / "pkg/app.py").read_text()
    assert "stand_in" in text and "class Gone" not in (out / "pkg/kinds.py").read_text()
    if lost:
        assert lost in text
        (out / "pkg/app.py").write_text(text.replace(lost, "None"))
    (verdict,) = verify.run(upstream, out, [tmp_path / "rules.yaml"], python_root="", jobs=1, checks=("fold",))
    assert verdict.result == ("refuted" if lost else "passed"), verdict.details


ASKING = (
    RULES.replace("pkg.kinds:Gone", "pkg.old")
    + "  - {id: t.hip, because: Never., optional: true, assume: {pkg.plat.is_hip(): false}}\n"
)
PLACES = {
    "pkg/__init__.py": "",
    "pkg/plat.py": "def is_hip():\n    return False\n",
    "pkg/old.py": "class Gone:\n    pass\n",
    "pkg/app.py": """\
from pkg.old import Gone


def f(x):
    from pkg.old import Gone as Own

    return isinstance(x, Own)


def g(x):
    try:
        from pkg.old import Gone as Tried
    except ImportError:
        return None
    return Tried(x)


def h(x, y):
    if x:
        from pkg.old import Gone as One

        return One(x)
    if y:
        from pkg.old import Gone as Two

        return Two(y)
    return [Gone for y in x if y]
""",
}
LOAD = "import _prune_guard; "


def test_what_raises_stands_where_a_try_asks(tmp_path: Path) -> None:
    """Elsewhere a function imports what it may not use, and a module is loaded."""
    case = Case(tmp_path, PLACES, ASKING)
    text = case.text("pkg/app.py")
    assert text.count("stand_in") == 3 and text.count("removed(") == 1 and case.verdicts(case.out) == {}
    for line in [row for row in text.split("\n") if "stand_in" in row]:
        assert "fold" in case.wrong("pkg/app.py", line, line.replace("stand_in", "removed"))


def test_each_call_has_its_import_in_front(tmp_path: Path) -> None:
    """The one of another branch would make the name a local one without a value."""
    case = Case(tmp_path, PLACES, ASKING)
    text = case.text("pkg/app.py")
    assert text.count(LOAD) == 4
    for line in [row for row in text.split("\n") if LOAD in row]:
        assert "guards" in case.wrong("pkg/app.py", line, line.replace(LOAD, ""))
