"""``prune peer-tests`` on a pruned tree: a test that fails there only is explained by the ledger, or a problem."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from pruner.cli import main

RULES = """\
rules:
  - {id: t.root, because: It starts here., root: [sglang.main]}
  - {id: t.fact, because: It is never so., assume: {sglang.plat.is_hip(): false, sglang.plat.is_cuda(): true}}
  - {id: t.keep, because: Outsiders use it., keep: ["sglang.plat:is_cuda"]}
  - {id: t.drop, because: Nobody asks for it., drop: [sglang.other]}
  - {id: t.table, because: Only one., drop: ["sglang.table.TABLE[two]"]}
  - {id: t.tests, because: Tests are upstream's., drop: ["path:test/*"]}
"""
TREE = {
    "sglang/__init__.py": "",
    "sglang/plat.py": "import os\n\n\ndef is_cuda():\n    return not is_hip()\n\n\ndef is_hip():\n    return bool(os.environ.get('HIP'))\n",
    "sglang/other.py": "class Other:\n    size = 3\n\n\nclass Third:\n    pass\n",
    "sglang/kinds.py": (
        "from sglang.other import Other, Third\n\n\nclass Own:\n    size = 1\n\n\n"
        "def make(name):\n    return Other() if name == 'other' else Own()\n\n\n"
        "def third(x):\n    return isinstance(x, Third)\n"
    ),
    "sglang/tools.py": (
        "class Tool:\n    def used(self, x):\n        return x + 1\n\n    def unused(self):\n        return 2\n\n\n"
        "def twice(x):\n    return 2 * x\n\n\ndef lone():\n    return 5\n"
    ),
    "sglang/table.py": (
        "from sglang.kinds import Own\n\nTABLE = {\n    'one': Own,\n    'two': Own,\n}\n\n\n"
        "def find(name):\n    if name not in TABLE:\n        raise ValueError(f'Unsupported: {name}')\n    return TABLE[name]\n\n\n"
        "def check(size):\n    if size > 3:\n        raise ValueError('more than two of them')\n    return size\n\n\n"
        "def answer(name):\n    try:\n        return {'found': TABLE[name]}\n    except KeyError:\n        return {'error': 'no'}\n\n\n"
        "def again(call):\n    try:\n        return call()\n    except Exception:\n        raise Exception('tried too often')\n"
    ),
    "sglang/main.py": (
        "from sglang.kinds import make, third\nfrom sglang.plat import is_hip\nfrom sglang.table import again, answer, check, find\nfrom sglang.tools import Tool\n\n\n"
        "def pick():\n    if is_hip():\n        return 'hip'\n    return 'cuda'\n\n\n"
        "def total(x):\n    if is_hip():\n        x = x - 1\n    return Tool().used(x)\n\n\n"
        "def flagged(x):\n    return bool(x and not is_hip())\n\n\n"
        "def arms(x):\n    y = (\n        x - 1\n        if is_hip()\n        else x\n    )\n    return Tool().used(y)\n\n\n"
        "def lazily(x):\n    from sglang.other import Third\n\n    if is_hip():\n        return Third\n    return Tool().used(x)\n\n\n"
        "def late(x):\n    from sglang.tools import twice\n\n    return twice(x)\n\n\n"
        "def serve(name, x):\n    return again(lambda: find(name)), answer(name), make(name), pick(), total(x), late(x), third(x), flagged(x), arms(x), lazily(x), check(x)\n\n\n"
        "if __name__ == '__main__':\n    print(serve('own', 1))\n"
    ),
}
TESTS = {
    "test/unit/test_main.py": (
        "import unittest\nfrom unittest.mock import patch\n\nfrom sglang.main import flagged, late, pick, total\n\n\n"
        "class TestMain(unittest.TestCase):\n"
        "    def test_plain(self):\n        self.assertEqual(pick(), 'cuda')\n\n"
        "    @patch.dict('os.environ', {'HIP': '1'})\n    def test_hip(self):\n        self.assertEqual(pick(), 'hip')\n\n"
        "    @patch.dict('os.environ', {'HIP': '1'})\n    def test_hip_and_total(self):\n"
        "        pick()\n        self.assertEqual(total(1) + 1, 2)\n\n"
        "    def test_total(self):\n        self.assertEqual(total(1), 2)\n\n"
        "    @patch.dict('os.environ', {'HIP': '1'})\n    def test_flagged(self):\n"
        "        self.assertEqual({'is_hip': flagged(1)}, {'is_hip': False})\n\n"
        "    def test_flagged_here(self):\n        self.assertTrue(flagged(1))\n\n"
        "    def test_late(self):\n        self.assertEqual(late(2), 4)\n"
    ),
    "test/unit/test_gone.py": (
        "from unittest.mock import patch\n\nfrom sglang.kinds import Own, make\nfrom sglang.other import Other\n"
        "from sglang.tools import Tool, lone\n\n\n"
        "def test_own():\n    assert type(make('own')) is Own\n\n\n"
        "def test_refused():\n    assert make('other').size == 3\n\n\n"
        "def test_asks():\n    assert Other.size == 3\n\n\n"
        "def test_asks_for_a_function():\n    assert lone() == 5\n\n\n"
        "def test_asks_in_the_test():\n    from sglang.other import Third\n\n    assert Third()\n\n\n"
        "def test_asks_for_a_method():\n    assert Tool().unused() == 2\n\n\n"
        "@patch('sglang.other.Other', 7)\ndef test_patches_what_is_gone():\n    pass\n\n\n"
        "@patch('sglang.tools.lone', None)\ndef test_patches_a_name():\n    pass\n\n\n"
        "@patch.object(Tool, 'unused', None)\ndef test_patches_a_method():\n    pass\n"
    ),
    "test/unit/test_table.py": (
        "from sglang.table import TABLE, again, answer, find\nfrom sglang.tools import Tool\n\n\n"
        "def test_one():\n    assert find('one')\n\n\ndef test_two():\n    assert find('two')\n\n\n"
        "def test_two_again():\n    assert again(lambda: find('two'))\n\n\n"
        "def test_two_itself():\n    assert TABLE['two']\n\n\n"
        "def ask(name):\n    return answer(name)['found']\n\n\n"
        "def test_two_answered():\n    assert ask('two')\n\n\n"
        "def test_three_answered():\n    assert ask('one') and 'three' != 'two'\n\n\n"
        "def test_method_again():\n    assert again(lambda: Tool().unused()) == 2\n"
    ),
    "test/unit/test_kept.py": (
        "import unittest\n\nfrom sglang.main import arms, flagged, lazily\nfrom sglang.plat import is_cuda\n"
        "from sglang.table import check\n\n\n"
        "def test_arms():\n    assert arms(1) == 2\n\n\ndef test_lazily():\n    assert lazily(1) == 2\n\n\n"
        "def test_flagged():\n    assert flagged(1)\n\n\ndef test_check():\n    assert check(2) == 2\n\n\n"
        "@unittest.skipIf(not is_cuda(), 'not there')\ndef test_other():\n    assert not flagged(0)\n"
    ),
    "test/unit/test_file.py": "import sglang.other as other\n\n\ndef test_a():\n    assert other\n\n\ndef test_b():\n    assert other\n",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout, its output and reports."""
    place = tmp_path_factory.mktemp("made")
    write(place / "up", {**{f"python/{name}": text for name, text in TREE.items()}, **TESTS})
    (place / "rules.yaml").write_text(RULES)
    arguments = ["--rules", str(place / "rules.yaml"), "--upstream", str(place / "up"), "--output", str(place / "out")]
    assert main([*arguments, "-j", "1"]) in (0, 1)
    return place


@pytest.fixture
def place(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, to be spoilt."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("up", "out", "out-reports"):
        shutil.copytree(made / name, tmp_path / name)
    shutil.copy(made / "rules.yaml", tmp_path)
    return tmp_path


def ask(place: Path, capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    trees = ["--upstream", str(place / "up"), "--output", str(place / "out"), "--rules", str(place / "rules.yaml")]
    code = main(["peer-tests", *trees, "--python", sys.executable, "--json", *more])
    told = capsys.readouterr()
    assert code in (0, 3), told.err
    return code, json.loads(told.out)["verdicts"][0]


def spoil(place: Path, file: str, old: str, new: str) -> None:
    path = place / "out" / "python" / "sglang" / file
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def lose(place: Path, file: str, lines: tuple[int, int], name: str, what: str, kept: list[list[int]]) -> None:
    """Let the run's ledger say that something went which nothing reached: it is not believed where that ran."""
    ledger = json.loads((place / "out-reports" / "ledger.json").read_text())
    cause = {"kind": "unreached", "rules": [], "chain": ["no live code reads the name"]}
    ledger["removals"].append({"path": file, "lines": list(lines), "what": what, "name": name, "cause": cause})
    (place / "out-reports" / "ledger.json").write_text(json.dumps(ledger))
    graph = json.loads((place / "out-reports" / "graph.json").read_text())
    graph["maps"][file] = kept
    (place / "out-reports" / "graph.json").write_text(json.dumps(graph))


def test_a_right_output_is_explained_test_by_test(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused by the guard, asked for by the test, executed lines that a fact took; a file that is shut counts its tests."""
    code, found = ask(place, capsys)
    assert found["details"] == [] and code == 0, found
    told = {row["test"].rpartition("/")[2]: (row["kind"], row["cause"]) for row in found["figures"]["explained"]}
    gone = "test_gone.py::test_"
    assert told == {
        "test_main.py::TestMain::test_hip": ("executes", "t.fact"),
        "test_main.py::TestMain::test_hip_and_total": ("executes", "t.fact"),
        "test_main.py::TestMain::test_flagged": ("executes", "t.fact"),
        f"{gone}refused": ("refused", "t.drop"),
        f"{gone}asks": ("gone", "t.drop"),
        f"{gone}asks_for_a_function": ("gone", "t.tests"),
        f"{gone}asks_in_the_test": ("gone", "t.drop"),
        f"{gone}asks_for_a_method": ("gone", "unreached"),
        f"{gone}patches_what_is_gone": ("gone", "t.drop"),
        f"{gone}patches_a_name": ("gone", "t.tests"),
        f"{gone}patches_a_method": ("gone", "unreached"),
        "test_file.py": ("gone", "t.drop"),
        "test_table.py::test_two": ("gone", "t.table"),
        "test_table.py::test_two_again": ("gone", "t.table"),
        "test_table.py::test_two_itself": ("entries", "t.table"),
        "test_table.py::test_two_answered": ("entries", "t.table"),
        "test_table.py::test_method_again": ("gone", "unreached"),
    }
    said = (
        "equal in both: 12 passed; 18 explained (12 ask for what is gone, 3 execute what a rule took, "
        "2 need an entry that a rule took, 1 refused, 2 of them in files that cannot be imported and show nothing else), 0 problems"
    )
    assert f"5 files, no device: {said}" in found["covered"]


def test_a_changed_result_in_lines_that_are_kept(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``total`` has a decided test, which both trees pass by: that explains nothing. With HIP it executes what went."""
    spoil(place, "tools.py", "x + 1", "x + 2")
    code, found = ask(place, capsys, "--under", "test/unit/test_main.py")
    assert code == 3
    assert [line.partition(": ")[0].rpartition("::")[2] for line in found["details"]] == ["test_total"]


def test_naming_a_key_that_went_explains_nothing_by_itself(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``test_three_answered`` has the key ``two`` among its strings; upstream without it passes, so the fault is shown."""
    spoil(place, "table.py", "return {'found': TABLE[name]}", "return {'lost': TABLE[name]}")
    code, found = ask(place, capsys, "--under", "test/unit/test_table.py")
    assert code == 3
    assert [line.partition(": ")[0].rpartition("::")[2] for line in found["details"]] == ["test_three_answered"]


def test_a_line_that_was_folded_in_part_explains_nothing_by_itself(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``test_flagged_here`` executes the line as well, and says nothing of what the fact is about."""
    spoil(place, "main.py", "return bool(x", "return bool(1 - x")
    code, found = ask(place, capsys, "--under", "test/unit/test_main.py")
    assert code == 3
    assert [line.partition(": ")[0].rpartition("::")[2] for line in found["details"]] == ["test_flagged_here"]


@pytest.mark.parametrize(
    ("file", "old", "new", "tests"),
    [
        ("tools.py", "x + 1", "x + 2", ["test_arms", "test_lazily"]),
        ("main.py", "return bool(x", "return bool(1 - x", ["test_flagged", "test_other"]),
        ("table.py", "size > 3", "size > 1", ["test_check"]),
    ],
)
def test_what_every_test_runs_by_explains_nothing(
    place: Path, capsys: pytest.CaptureFixture[str], file: str, old: str, new: str, tests: list[str]
) -> None:
    """A conditional expression over several lines, an import of what went, a predicate that the file names elsewhere, a word."""
    spoil(place, file, old, new)
    code, found = ask(place, capsys, "--under", "test/unit/test_kept.py")
    assert code == 3
    assert [line.partition(": ")[0].rpartition("::")[2] for line in found["details"]] == tests


def test_a_method_that_live_code_calls(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The frame that asks is the tree's, and the lines that ran are gone for no rule's reason."""
    spoil(place, "tools.py", "    def used(self, x):\n        return x + 1\n", "    pass\n")
    file = "python/sglang/tools.py"
    lose(place, file, (2, 3), "sglang.tools.Tool.used", "method", [[1, 1, 1], [3, 8, 3]])
    code, found = ask(place, capsys, "--under", "test/unit/test_main.py")
    assert code == 3
    tests = [line.partition(": ")[0].rpartition("::")[2] for line in found["details"]]
    assert tests == ["test_hip_and_total", "test_total"]


def test_an_import_that_fails_inside_the_tree(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(place, "tools.py", "def twice(x):\n    return 2 * x\n", "")
    lose(place, "python/sglang/tools.py", (9, 10), "sglang.tools.twice", "function", [[1, 1, 6]])
    code, found = ask(place, capsys, "--under", "test/unit/test_main.py")
    assert code == 3
    assert [line.partition(": ")[0].rpartition("::")[2] for line in found["details"]] == ["test_late"]
    assert "cannot import name 'twice' from 'sglang.tools'" in found["details"][0]


def test_a_name_that_is_in_no_ledger(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The test asks for what is gone, and no removal says so."""
    spoil(place, "kinds.py", "class Own:", "class Gone:")
    spoil(place, "kinds.py", "Own()", "Gone()")
    code, found = ask(place, capsys, "--under", "test/unit/test_gone.py")
    assert code == 3 and len(found["details"]) == 1
    assert "cannot import name 'Own' from 'sglang.kinds'" in found["details"][0]


def test_without_reports_nothing_is_explained(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(place / "out-reports")
    code, found = ask(place, capsys, "--under", "test/unit/test_main.py")
    assert code == 3 and "nothing was explained: no run left its reports in" in found["covered"]


def test_reports_of_another_checkout_are_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "up/python/sglang/tools.py").write_text("def other():\n    pass\n")
    trees = ["--upstream", str(place / "up"), "--output", str(place / "out"), "--rules", str(place / "rules.yaml")]
    assert main(["peer-tests", *trees, "--python", sys.executable]) == 2
    assert "was made from another upstream" in capsys.readouterr().err
