"""What a person reads when stderr is no terminal."""

from __future__ import annotations

import pytest

from pruner.console import Screen
from pruner.errors import Diagnostic
from pruner.model import Finding


def test_each_stage_is_one_plain_line_and_markup_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    with Screen() as screen:
        for stage in ("scan", "write [1]"):
            for fraction in (0.0, 0.5, 1.0, 1.5):
                screen.progress(stage, fraction)
    screen.summary("prune", [("[bold]label", "1 → 2 [x]")])
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[0].startswith("scan: ") and lines[1].startswith("write [1]: ")
    assert "[bold]label" in err and "1 → 2 [x]" in err


def test_quiet_still_shows_faults(capsys: pytest.CaptureFixture[str]) -> None:
    screen = Screen(quiet=True)
    screen.progress("scan", 0.5)
    screen.summary("prune", [("a", "b")])
    screen.diagnostics([Diagnostic("x" * 200, 1, 0, "error", "PR999", "long")])
    assert capsys.readouterr().err == "x" * 200 + ":1: error PR999: long\n"


def test_many_findings_are_cut_with_their_number(capsys: pytest.CaptureFixture[str]) -> None:
    Screen().findings([Finding("PR200", "a.py", line, "text") for line in range(1, 61)])
    err = capsys.readouterr().err
    assert err.count("PR200") == 50 and "10 more findings" in err
