"""``prune trace``: what ran and is gone needs a cause that a rule states."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pruner.cli import main
from tests.parity.results import DIGEST, packed, row, zipped

RULES = """\
rules:
  - {id: t.root, because: It starts here., root: [pkg.app]}
  - {id: t.fact, because: It is never so., assume: {pkg.plat.is_hip(): false}}
  - {id: t.drop, because: Nobody asks for it., drop: [pkg.other]}
  - {id: t.table, because: The device is cuda., drop: ["pkg.app.pick.table[hip]", "pkg.app.pick.late[hip]"]}
"""
PLAT = "def is_hip():\n    return read()\n\n\ndef read():\n    return False\n"
APP = """\
from pkg.plat import is_hip
from pkg.tools import lone, made


def f(x):
    if is_hip():
        return lone()
    return x


def pick(x):
    table = {
        "hip": min,
        "cuda": max,
    }
    late = {
        "hip": lambda: 1,
        "cuda": lambda: 2,
    }
    return table[x], late[x]
"""
TOOLS = """\
def made():
    return 1


def lone():
    return 2


TABLE = made()
"""
OTHER = "from pkg.tools import TABLE, made\n\n\ndef g():\n    return TABLE\n\n\nX = made()\n"
LINES = {
    "pkg/app.py": [1, 2, [5, 6], 8, [12, 16], 18],
    "pkg/plat.py": [1, 2, 5, 6],
    "pkg/tools.py": [1, 2, 5, 9],
    "pkg/other.py": [1, 4, 8],
}


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "in" / "pkg"
    folder.mkdir(parents=True)
    for name, text in {"__init__": "", "plat": PLAT, "app": APP, "tools": TOOLS, "other": OTHER}.items():
        (folder / f"{name}.py").write_text(text)
    (tmp_path / "rules.yaml").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRUNE_CACHE", str(tmp_path / "cache"))
    assert main(["--rules", "rules.yaml", "--upstream", "in", "--output", "out", "-j", "1"]) == 0
    return tmp_path


def ask(capsys: pytest.CaptureFixture[str], *files: str) -> tuple[int, dict[str, object]]:
    capsys.readouterr()
    code = main(["trace", *files, "--rules", "rules.yaml", "--upstream", "in", "--output", "out", "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_each_line_has_its_class(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ran / "a.json.gz").write_bytes(gzip.compress(json.dumps(LINES).encode()))
    code, found = ask(capsys, "a.json.gz")
    assert code == 0 and found["missing"] == []
    assert found["causes"]["unused"] == {"t.drop": 1, "t.fact": 1}  # type: ignore[index]
    assert found["causes"]["decided"]["t.table"] == 1  # type: ignore[index]
    assert set(found["classes"]) == {"kept", "folded", "decided", "module", "unused"}  # type: ignore[call-overload]


def lose_a_function(reports: Path) -> None:
    """Reports of a run that took ``f``, which kept code calls, and named no cause but that nothing reached it."""
    ledger = json.loads((reports / "ledger.json").read_text())
    cause = {"kind": "unreached", "rules": [], "chain": []}
    row = {"path": "pkg/app.py", "lines": [5, 8], "what": "function", "name": "pkg.app.f", "cause": cause}
    (reports / "ledger.json").write_text(json.dumps({**ledger, "removals": [row]}))
    graph = json.loads((reports / "graph.json").read_text())
    graph["maps"]["pkg/app.py"] = [[1, 1, 2]]
    (reports / "graph.json").write_text(json.dumps(graph))


def test_what_ran_for_no_cause_is_missing(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A ledger that says ``unreached`` of a function which kept code calls by name is not believed."""
    (ran / "a.json").write_text(json.dumps({"pkg/app.py": [8]}))
    lose_a_function(ran / "out-reports")
    code, found = ask(capsys, "a.json")
    assert code == 3 and found["missing"] == ["pkg/app.py:8"]


def test_a_function_that_no_removal_speaks_of_is_missing(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lost by an edit: the ledger has no row of it, and of its lines none is in the output."""
    (ran / "a.json").write_text(json.dumps({"pkg/app.py": [8]}))
    lose_a_function(ran / "out-reports")
    ledger = ran / "out-reports" / "ledger.json"
    ledger.write_text(json.dumps({**json.loads(ledger.read_text()), "removals": []}))
    assert ask(capsys, "a.json")[1]["missing"] == ["pkg/app.py:8"]
    graph = ran / "out-reports" / "graph.json"
    found = json.loads(graph.read_text())
    found["maps"]["pkg/app.py"] = [[1, 1, 5]]  # its `def` is there: a line of it was edited
    graph.write_text(json.dumps(found))
    code, said = ask(capsys, "a.json")
    assert code == 0 and said["classes"] == {"kept": 0, "edited": 1}


def test_an_entry_that_could_run_for_itself_is_missing(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A trace knows lines: nobody can tell whether the lambda was made or called."""
    (ran / "a.json").write_text(json.dumps({"pkg/app.py": [17]}))
    code, found = ask(capsys, "a.json")
    assert code == 3 and found["missing"] == ["pkg/app.py:17"]


def test_a_run_that_made_another_tree_explains_nothing(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same upstream under other rules, and reports that are not this tree's: what is gone there is not gone here."""
    (ran / "a.json").write_text(json.dumps({"pkg/app.py": [8]}))
    (ran / "more.yaml").write_text("rules:\n  - {id: t.more, because: More., keep: [pkg.tools]}\n")
    both = ["--rules", "rules.yaml", "--rules", "more.yaml"]
    assert main([*both, "--upstream", "in", "--output", "other", "-j", "1"]) < 2
    words = ["trace", "a.json", "--upstream", "in"]
    assert main([*words, *both, "--output", "other"]) == 0
    for more, text in (
        (["--rules", "rules.yaml", "--output", "other"], "was made with other rules"),
        ([*both, "--output", "out", "--reports", "other-reports"], "made another tree: this one has the rules"),
    ):
        capsys.readouterr()
        assert main([*words, *more]) == 2
        assert "error PR313: the run in other-reports" in (said := capsys.readouterr().err) and text in " ".join(
            said.split()
        )


def test_what_is_no_trace_is_said(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ran / "a.json").write_text("[1, 2]")
    assert main(["trace", "a.json", "--rules", "rules.yaml", "--upstream", "in", "--output", "out"]) == 2
    assert "PR315" in capsys.readouterr().err


def collected(capsys: pytest.CaptureFixture[str], lines: dict[str, list[int]]) -> tuple[int, dict[str, object]]:
    """What ``prune parity --collect`` says of one cell in which upstream executed the lines."""
    folder = Path("results")
    folder.mkdir(exist_ok=True)
    manifest = json.loads(Path("out/PRUNED.json").read_text())
    Path("out/PRUNED.json").write_text(json.dumps({**manifest, "digest": DIGEST}))
    (folder / "cells.jsonl").write_text(json.dumps(row()) + "\n")
    sides = {side: {"processes": {"main": 1}, "modules": ["pkg"], "lines": {}} for side in ("upstream", "output")}
    traced = zipped({**sides, "upstream": {**sides["upstream"], "lines": lines}})
    (folder / "traces.tar").write_bytes(packed(bf16_triton=traced))
    capsys.readouterr()
    words = ["--rules", "rules.yaml", "--upstream", "in", "--output", "out", "--reports", "out-reports", "--json"]
    code = main(["parity", "--collect", "results", *words])
    return code, json.loads(capsys.readouterr().out)


def test_a_gpu_runs_lines_have_the_same_judge(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``made`` went with the dropped file that alone called it: no row of the ledger over it names a rule."""
    flat = {
        path: [n for row in rows for n in (row if isinstance(row, list) else [row])] for path, rows in LINES.items()
    }
    (ran / "a.json").write_text(json.dumps(flat))
    _, verdict = ask(capsys, "a.json")
    code, summary = collected(capsys, flat)
    assert code == 0
    both = summary["executed"], summary["cells"]["bf16-triton"]["executed"]  # type: ignore[index,call-overload]
    classes = {"missing": 0, **verdict["classes"]}  # type: ignore[dict-item]
    assert both == ({**classes, "places": []}, classes)


def test_a_line_that_went_for_no_cause_refutes_a_gpu_run(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lose_a_function(ran / "out-reports")
    code, summary = collected(capsys, {"pkg/app.py": [8]})
    assert code == 3 and summary["executed"] == {"kept": 0, "missing": 1, "places": ["pkg/app.py:8"]}
