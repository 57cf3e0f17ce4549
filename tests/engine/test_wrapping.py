"""A loop that puts each listed name of its module in the place of itself, wrapped, keeps no name alive."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pruner import verify
from pruner.pipeline import RunOptions, run

LOOP = """\
    for _name in NAMES:
        if _name in globals():
            globals()[_name] = traced(globals()[_name], f"kern.{_name}")
"""
INIT = """\
import os

from kern.a import f, g
from kern.debug import traced

if os.name:
    NAMES = ["f", "g", "absent"]
{loop}    del _name
"""
TREE = {
    "kern/__init__.py": INIT.format(loop=LOOP),
    "kern/a.py": "def f():\n    return 1\n\n\ndef g():\n    return 2\n",
    "kern/debug.py": "def traced(function, name):\n    return lambda: (name, function())\n",
    "app.py": "import kern\n\n\ndef main():\n    return kern.f()\n",
}
RULES = """\
rules:
  - {id: start, because: It starts here., root: ["app:main"]}
"""
PURE = "  - {id: traced, because: It only wraps., optional: true, pure: [kern.debug.traced]}\n"


def written(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def pruned(folder: Path, files: dict[str, str], rules: str) -> Path:
    """The output of a clean run, checks included, which does what upstream does."""
    upstream = written(folder / "in", files)
    (folder / "rules.yaml").write_text(rules)
    options = RunOptions((folder / "rules.yaml",), upstream, folder / "out", None, 1, False, False, Path())
    result = run(options, lambda _stage, _share: None)
    assert result.exit_code == 0, (result.findings, result.document["verdicts"])
    said = [
        subprocess.run(
            [sys.executable, "-c", "import app; print(app.main())"], cwd=tree, capture_output=True, text=True
        )
        for tree in (upstream, folder / "out")
    ]
    assert said[0].stdout == said[1].stdout != "", said[1].stderr
    return folder / "out"


def test_a_name_that_is_only_wrapped_goes(tmp_path: Path) -> None:
    out = pruned(tmp_path, TREE, RULES + PURE)
    assert "def g" not in (out / "kern/a.py").read_text() and "def f" in (out / "kern/a.py").read_text()
    assert "import f\n" in (out / "kern/__init__.py").read_text() and LOOP in (out / "kern/__init__.py").read_text()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("if _name in globals():", "if _name:"),  # a name that is gone would be asked for
        ("if _name in globals():", "if _name not in globals():\n            pass\n        else:"),  # another shape
        ("globals()[_name], f", "globals()[_name], globals(), f"),
        ("globals()[_name] = traced", "globals()['f'] = traced"),
        ("globals()[_name] = traced(globals()[_name]", "globals()[_name] = traced(globals()['g']"),
        ("            globals()[_name] =", "            print(_name)\n            globals()[_name] ="),
    ],
)
def test_another_loop_keeps_all(tmp_path: Path, before: str, after: str) -> None:
    assert before in LOOP
    loop = LOOP.replace(before, after)
    listed = INIT.replace('"absent"', '"f"') if "absent" in INIT and "if _name:" in loop else INIT
    debug = "def traced(function, *names):\n    return function if callable(function) else (lambda: function)\n"
    files = TREE | {"kern/__init__.py": listed.format(loop=loop), "kern/debug.py": debug}
    files["app.py"] = "import kern\n\n\ndef main():\n    return callable(kern.f)\n"
    out = pruned(tmp_path, files, RULES + PURE)
    assert "def g" in (out / "kern/a.py").read_text()


def test_a_function_that_no_rule_calls_pure_keeps_all(tmp_path: Path) -> None:
    debug = "SEEN = []\n\n\ndef traced(function, name):\n    SEEN.append(function)\n    return function\n"
    app = "import kern.debug\n\n\ndef main():\n    return [f() for f in kern.debug.SEEN]\n"
    out = pruned(tmp_path, TREE | {"kern/debug.py": debug, "app.py": app}, RULES)
    assert "def g" in (out / "kern/a.py").read_text()


@pytest.mark.parametrize("rules", [RULES, RULES + PURE])
def test_the_checks_know_such_a_loop_by_themselves(tmp_path: Path, rules: str) -> None:
    out = pruned(tmp_path, TREE, RULES + PURE)
    (tmp_path / "rules.yaml").write_text(rules)
    verdicts = verify.run(tmp_path / "in", out, [tmp_path / "rules.yaml"], jobs=1)
    refuted = [detail for row in verdicts if row.result == "refuted" for detail in row.details]
    assert bool(refuted) == (rules == RULES) and all("globals()" in detail for detail in refuted), refuted


def test_a_name_that_is_read_may_not_go(tmp_path: Path) -> None:
    """The planted opposite: the loop is no licence for a name with another reader."""
    pruned(tmp_path, TREE, RULES + PURE)
    app = TREE["app.py"].replace("kern.f()", "kern.f(), kern.g()")
    upstream, out = tmp_path / "in", tmp_path / "out"
    for tree in (upstream, out):
        (tree / "app.py").write_text(app)
    verdicts = verify.run(upstream, out, [tmp_path / "rules.yaml"], jobs=1)
    assert any(row.result == "refuted" for row in verdicts)
