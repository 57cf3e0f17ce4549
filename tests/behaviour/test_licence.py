"""Differences that are by design, where values of both trees are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner.verify.behaviour.judge_surface import EQUAL, Surface
from pruner.verify.behaviour.licence import Licences
from pruner.verify.behaviour.statics import Side

UP = "def (self, a: p.m.A | p.m.Gone, b: int = 1)"


@pytest.mark.parametrize(
    ("out", "same"),
    [
        ("def (self, a: p.m.A | p._prune_guard.p.m:Gone, b: int = 1)", True),
        ("def (self, a: p._prune_guard.p.m:A | p._prune_guard.p.m:Gone, b: int = 1)", False),  # A is there
        ("def (self, a: p.m.A | p._prune_guard.p.m:Other, b: int = 1)", False),
        ("def (self, a: p.m.A | p._prune_guard.p.m:Gone, b: int = 2)", False),
        ("def (self, a: p.m.A, b: int = 1)", False),
    ],
)
def test_a_stand_in_in_a_signature(out: str, same: bool, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.py").touch()
    (tmp_path / "p" / "m.py").write_text("class A:\n    pass\n")
    licences = Licences([], {}, Side(tmp_path, ""), frozenset())
    assert (list(licences.differences("f", UP, out)) == []) is same
    assert licences.counts["stand-in"] == same


def test_a_part_of_the_surface_that_fails_is_a_problem(tmp_path: Path) -> None:
    up = {**{part: {} for part in EQUAL}, "tables": {}, "server_options": []}
    failure = {"failure": {"error": "NameError", "text": "name 'x' is not defined", "where": "a.py:1"}}
    for part in up:
        judge = Surface(Licences([], {}, Side(tmp_path, ""), frozenset()))
        assert list(judge.judge(up, {**up, part: failure})) == [f"{part}: NameError: name 'x' is not defined (a.py:1)"]
        assert list(judge.judge({**up, part: failure}, {**up, part: failure})) == []
