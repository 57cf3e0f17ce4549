"""``prune peer-tests`` on a small checkout: outcomes are compared test by test."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from pathlib import Path

import pytest

from pruner.cli import main
from pruner.verify.peers import Outcome, compare, run

TEXT = "def f(x):\n    return x + 1\n\n\ndef g():\n    return 2\n"
TESTS = {
    "test/unit/test_f.py": (
        "import pytest\n\nfrom app.core import f\n\n\n@pytest.mark.parametrize('x', [1, 2])\ndef test_f(x):\n"
        "    assert f(x) == x + 1\n\n\ndef test_fails_everywhere():\n    assert f(1) == 5\n\n\n"
        "@pytest.mark.skip\ndef test_skipped():\n    pass\n"
    ),
    "test/unit/test_gone.py": "import app.absent\n\n\ndef test_x():\n    pass\n",
    "test/unit/test_g.py": "def test_g():\n    from app.core import g\n\n    assert g() == 2\n",
}


def checkout(folder: Path, core: str) -> tuple[Path, Path]:
    for name, text in (("up", TEXT), ("out", core)):
        for path, content in {"python/app/__init__.py": "", "python/app/core.py": text, **TESTS}.items():
            if name == "up" or path.startswith("python/"):
                (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / name / path).write_text(content, "utf-8")
    return folder / "up", folder / "out" / "python"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plug-ins that are installed for our own tests are not needed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def test_equal_outcomes_pass_whatever_they_are(tmp_path: Path) -> None:
    up, out = checkout(tmp_path, TEXT)
    found = run(up, up / "python", out, Path(sys.executable), jobs=2, work=tmp_path / "work")
    assert found.result == "passed", found
    assert "3 files, no device: equal in both: 1 failed, 1 no import, 3 passed, 1 skipped" in found.covered


def test_an_environment_in_which_upstream_hardly_imports_shows_nothing(tmp_path: Path) -> None:
    """Equal on both sides, but by what the environment lacks and not by the trees: that is no proof."""
    up, out = checkout(tmp_path, TEXT)
    for name in ("test_f", "test_h"):
        (up / "test" / "unit" / f"{name}.py").write_text("import a_package_that_is_not_here\n", "utf-8")
    found = run(up, up / "python", out, Path(sys.executable), jobs=2, work=tmp_path / "work")
    assert found.result == "not run"
    assert (
        "upstream imports 1 of 4 files here, first: " in found.covered and "a_package_that_is_not_here" in found.covered
    )


def test_a_test_that_fails_in_the_output_only(tmp_path: Path) -> None:
    up, out = checkout(tmp_path, TEXT.replace("\n\ndef g():\n    return 2\n", "").replace("x + 1", "x + (x < 2)"))
    found = run(up, up / "python", out, Path(sys.executable), jobs=2, work=tmp_path / "work")
    assert found.result == "refuted"
    assert [line.partition(":: ")[0].split(": ")[0] for line in found.details] == [
        "test/unit/test_f.py::test_f[2]",
        "test/unit/test_g.py::test_g",
    ]


PORT = """\
import socket
import time


def test_{name}():
    with socket.socket() as one:
        one.bind(("127.0.0.1", {port}))
        time.sleep({seconds})
"""


def test_what_a_test_takes_for_itself_is_free_for_it_on_both_trees(tmp_path: Path) -> None:
    """A fixed port: the two runs of a file follow each other, and a file that met another one's is run again alone."""
    up, out = checkout(tmp_path, TEXT)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, seconds in (("a_first", 0), ("one", 2), ("two", 1.2)):
        text = PORT.format(name=name, port=port, seconds=seconds)
        (up / "test" / "unit" / f"test_{name}.py").write_text(text, "utf-8")
    found = run(up, up / "python", out, Path(sys.executable), jobs=2, work=tmp_path / "work")
    assert found.result == "passed", found


def test_a_port_that_is_never_free(tmp_path: Path) -> None:
    """Run again, it fails again: equal on both trees, or a difference where the output alone takes it."""
    up, out = checkout(tmp_path, TEXT)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        core = f"import socket\nONE = socket.socket()\nONE.bind(('127.0.0.1', {taken.getsockname()[1]}))\n{TEXT}"
        (out / "app" / "core.py").write_text(core, "utf-8")
        found = run(up, up / "python", out, Path(sys.executable), jobs=2, work=tmp_path / "work")
    assert found.result == "refuted", found


def test_a_release_without_tests_is_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "up" / "app").mkdir(parents=True)
    (tmp_path / "up" / "app" / "__init__.py").write_text("")
    arguments = ["--upstream", str(tmp_path / "up"), "--output", str(tmp_path / "up"), "--python", sys.executable]
    assert main(["peer-tests", *arguments, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["verdicts"][0]["result"] == "not run"
    assert main(["peer-tests", *arguments, "--under", "nowhere"]) == 2


def test_a_file_that_one_side_cannot_import_is_one_problem() -> None:
    up = {"a.py::t1": Outcome("passed"), "a.py::t2": Outcome("passed"), "b.py": Outcome("no import", "x")}
    out = {"a.py": Outcome("no import", "y"), "b.py": Outcome("no import", "z")}
    problems, counts, notes = compare(up, out)
    assert [(str(row), row.tests) for row in problems] == [("a.py: no import y; upstream: not there", 2)]
    assert counts == {"no import": 1}
    assert notes == ["b.py: no import with another text: z; upstream: x"]


def test_a_tree_at_the_root_of_its_checkout(tmp_path: Path) -> None:
    """The folder that the tests run in holds upstream's package: it must not stand in for the output's."""
    up, out = checkout(tmp_path, TEXT.replace("x + 1", "x + 2"))
    shutil.copytree(up / "python" / "app", up / "app")
    found = run(up, up, out, Path(sys.executable), under=["test/unit/test_f.py"], work=tmp_path / "work")
    assert found.result == "refuted" and len(found.details) == 2, found


def test_tests_that_load_the_tree_from_elsewhere_say_nothing(tmp_path: Path) -> None:
    up, out = checkout(tmp_path, TEXT.replace("x + 1", "x + 2"))
    path = up / "test" / "unit" / "test_f.py"
    path.write_text(f"import sys\nsys.path.insert(0, {str(up / 'python')!r})\n{path.read_text('utf-8')}", "utf-8")
    found = run(up, up / "python", out, Path(sys.executable), under=["test/unit/test_f.py"], work=tmp_path / "work")
    assert found.result == "refuted" and "app was loaded from" in found.details[0], found
