"""``prune trace``: what ran and is gone needs a cause that a rule states."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pruner.cli import main

RULES = """\
rules:
  - {id: t.root, because: It starts here., root: [pkg.app]}
  - {id: t.fact, because: It is never so., assume: {pkg.plat.is_hip(): false}}
  - {id: t.drop, because: Nobody asks for it., drop: [pkg.other]}
"""
PLAT = "def is_hip():\n    return read()\n\n\ndef read():\n    return False\n"
APP = """\
from pkg.plat import is_hip
from pkg.tools import lone, made


def f(x):
    if is_hip():
        return lone()
    return x
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
    "pkg/app.py": [1, 2, [5, 6], 8],
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
    assert set(found["classes"]) == {"kept", "folded", "decided", "module", "unused"}  # type: ignore[call-overload]


def test_what_ran_for_no_cause_is_missing(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A ledger that says ``unreached`` of a function which kept code calls by name is not believed."""
    (ran / "a.json").write_text(json.dumps({"pkg/app.py": [8]}))
    ledger = json.loads((ran / "out-reports/ledger.json").read_text())
    cause = {"kind": "unreached", "rules": [], "chain": []}
    row = {"path": "pkg/app.py", "lines": [5, 8], "what": "function", "name": "pkg.app.f", "cause": cause}
    (ran / "out-reports/ledger.json").write_text(json.dumps({**ledger, "removals": [row]}))
    graph = json.loads((ran / "out-reports/graph.json").read_text())
    graph["maps"]["pkg/app.py"] = [[1, 1, 2]]
    (ran / "out-reports/graph.json").write_text(json.dumps(graph))
    code, found = ask(capsys, "a.json")
    assert code == 3 and found["missing"] == ["pkg/app.py:8"]


def test_what_is_no_trace_is_said(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ran / "a.json").write_text("[1, 2]")
    assert main(["trace", "a.json", "--rules", "rules.yaml", "--upstream", "in", "--output", "out"]) == 2
    assert "PR315" in capsys.readouterr().err
