"""Questions about a finished run: why, why not, which line, what retains what."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pruner.edit import apply, merge
from pruner.errors import PruneError
from pruner.model import Cause, Edit
from pruner.pipeline import RunOptions, run
from pruner.pipeline.answers import Answers
from pruner.pipeline.stored import line_map

PROGRAM = {
    "plat.py": "def is_hip():\n    return False\n",
    "app.py": (
        "from plat import is_hip\nimport used\n\n\ndef main():\n    if is_hip():\n        import amd\n\n"
        "        return amd.go()\n    return used.helper()\n\n\ndef lonely():\n    return 1\n"
    ),
    "used.py": "def helper():\n    return 2\n",
    "amd.py": "def go():\n    return 3\n",
    "apples.py": "def apple():\n    return 4\n",
    "pkg/__init__.py": "",
    "pkg/one.py": "def f():\n    return 5\n",
}
RULES = """rules:
  - id: t.hip
    because: Not here.
    assume: {plat.is_hip(): false}
  - id: t.root
    because: It starts here.
    root: ["app:main", apples, pkg.one]
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    base = tmp_path_factory.mktemp("answers")
    for name, text in PROGRAM.items():
        (base / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (base / "in" / name).write_text(text)
    (base / "r.yaml").write_text(RULES)
    options = RunOptions(
        (base / "r.yaml",), base / "in", base / "out", base / "reports", 1, False, False, base / "cache"
    )
    assert run(options, lambda *_: None).exit_code == 0
    return Answers(base / "reports")


def test_why_tells_kept_root_removed_and_unknown_apart(answers: Answers) -> None:
    assert answers.why("app:main").status == "root"
    kept = answers.why("used:helper")
    assert kept.status == "kept"
    assert "t.root" in kept.lines[0]
    assert "used:helper" in kept.lines[-1]
    assert answers.why("amd").status == "removed"
    assert answers.why("app.lonely").status == "removed"
    assert answers.why("app.mian").status == "unknown"


def test_why_not_gives_the_rule_behind_a_line(answers: Answers) -> None:
    answer = answers.why_not("app.py:7")
    assert answer.status == "removed"
    assert "t.hip" in answer.lines[0]
    assert answers.why_not("app.py:10").status == "kept"
    assert answers.why_not("amd.py:1").status == "removed"
    assert answers.why_not("nothing.py:1").status == "unknown"
    assert answers.why_not("used:helper").status == "kept"


def test_lines_map_both_ways(answers: Answers) -> None:
    upstream = PROGRAM["app.py"].splitlines()
    output = (answers.reports.parent / "out" / "app.py").read_text().splitlines()
    met = 0
    for number, text in enumerate(output, 1):
        answer = answers.line(f"app.py:{number}", upstream=False).lines[0]
        if "put in by prune" in answer:
            assert text.startswith("#")
            continue
        other = int(answer.rpartition(":")[2])
        assert upstream[other - 1].strip() == text.strip()
        assert answers.line(f"app.py:{other}", upstream=True).lines[0].endswith(f":{number}")
        met += 1
    assert met >= 4
    assert answers.line("app.py:7", upstream=True).status == "removed"


def test_retained_and_impact_name_what_holds(answers: Answers) -> None:
    assert any("used" in line for line in answers.retained("", 10).lines)
    assert answers.impact("t.hip").status == "found"
    assert answers.impact("t.none").status == "unknown"
    assert answers.impact("t.hop").lines == ("t.hop is no rule of the last run; nearest: t.hip",)
    assert answers.impact("t.root").lines == ("t.root: 0 removals name it",)


@pytest.mark.parametrize(
    ("name", "status", "said"),
    [
        ("app", "found", "app:main|  app "),
        ("app.py", "found", "  app "),
        ("./app.py", "found", "  app "),
        ("pkg", "found", "pkg.one"),
        ("pkg/", "found", "pkg.one"),
        ("pkg.one", "found", "pkg.one"),
        (".", "found", "app"),
        ("ap", "unknown", "ap is no folder or module of this tree"),
        ("NOWHERE", "unknown", "NOWHERE is no folder or module"),
        ("usde.py", "unknown", "nearest: used.py"),
        ("amd", "removed", "amd.py is not in the generated tree"),
        ("amd.py", "removed", "prune why-not amd.py"),
    ],
)
def test_retained_knows_what_it_is_asked_about(answers: Answers, name: str, status: str, said: str) -> None:
    """``app`` is not the start of ``apples.py``; what does not exist gave an empty table."""
    answer = answers.retained(name, 10)
    assert answer.status == status
    assert any(re.search(said, line) for line in answer.lines)
    assert not any("apples" in line for line in answer.lines) or name == "."
    assert not any("used" in line for line in answer.lines) or name in (".", "usde.py")


def test_a_place_in_no_file_has_a_hint(answers: Answers) -> None:
    assert answers.line("usde.py:1", upstream=False).lines == ("usde.py is no file of this tree; nearest: used.py",)
    assert answers.why_not("usde.py:1").lines == ("usde.py is no file of this upstream tree; nearest: used.py",)


def test_a_folder_without_a_run_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(PruneError, match="PR307"):
        Answers(tmp_path)


@pytest.mark.parametrize("edits", [[(0, 2, b"")], [(2, 4, b"x\n")], [(0, 0, b"n\n"), (4, 8, b"")], [(1, 5, b"q")], []])
def test_line_map_agrees_with_the_text(edits: list[tuple[int, int, bytes]]) -> None:
    data = b"a\nbb\nccc\ndddd\n"
    merged = merge([Edit(s, e, t, Cause("fact")) for s, e, t in edits])
    out = apply(data, merged).split(b"\n")
    source = data.split(b"\n")
    for first, other, count in line_map(data, merged):
        for step in range(count):
            left, right = out[first - 1 + step], source[other - 1 + step]
            assert left in right or right in left or left[:1] == right[:1]


KERNELS = {
    "plat.py": "def is_hip():\n    return False\n",
    "app.py": (
        "from plat import is_hip\n\n\ndef main():\n    return load(\n        'csrc/k.cu',\n        flags=(\n"
        "            None\n            if not is_hip()\n            else ('-DX',\n                  '-DY')\n        ),\n    )\n"
        "\n\ndef load(path, flags):\n    return path, flags\n"
    ),
    "csrc/k.cu": '// a kernel\n#include "deep/h.cuh"\n',
    "csrc/deep/h.cuh": "int h;\n",
    "csrc/my-tool/gen.py": "print(1)\n",
    "configs/a.json": "{}\n",
}


def test_every_kept_file_and_every_lost_line_has_an_answer(tmp_path: Path) -> None:
    for name, text in KERNELS.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(text)
    (tmp_path / "r.yaml").write_text(RULES)
    options = RunOptions(
        (tmp_path / "r.yaml",), tmp_path / "in", tmp_path / "out", tmp_path / "reports", 1, False, False, Path()
    )
    assert run(options, lambda *_: None).exit_code == 0
    asked = Answers(tmp_path / "reports")
    kept = [name for name in KERNELS if (tmp_path / "out" / name).is_file()]
    assert kept == [name for name in KERNELS if name != "plat.py"]
    for name in kept:
        assert asked.why(name).status in ("kept", "root"), name
        assert asked.why_not(name).status == "kept", name
    header = asked.why("csrc/deep/h.cuh").lines
    assert header[:2] == (
        "csrc/deep/h.cuh is kept: included at csrc/k.cu:2",
        "csrc/k.cu is kept: named at app.py:6",
    )
    assert "t.root" in header[2]
    upstream = KERNELS["app.py"].splitlines()
    left = (tmp_path / "out" / "app.py").read_text().splitlines()
    gone = [number for number, line in enumerate(upstream, 1) if line not in left]
    assert gone
    for number in gone:
        answer = asked.why_not(f"app.py:{number}")
        assert answer.status == "removed"
        assert ("nothing that is kept reads it" if number == 1 else "t.hip") in answer.lines[0], answer
