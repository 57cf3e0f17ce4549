"""Faults planted in small programs, one data file each: the named check must refute them.

Where the file holds a ``good`` tree, that one must pass every check: a check that refutes
everything would pass the other half of this test.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from pruner.verify import run

_spec = importlib.util.spec_from_file_location("verify_programs_planted", Path(__file__).with_name("programs.py"))
assert _spec is not None and _spec.loader is not None
programs = importlib.util.module_from_spec(_spec)
sys.modules["verify_programs_planted"] = programs
_spec.loader.exec_module(programs)

PROGRAMS = programs.planted()


def _verdicts(program: object, folder: Path, tree: str) -> dict[str, tuple[str, ...]]:
    (folder / "facts.yaml").write_text(program.facts, "utf-8")  # type: ignore[attr-defined]
    upstream = program.write(folder, "in")  # type: ignore[attr-defined]
    output = upstream if tree == "in" else program.write(folder, tree)  # type: ignore[attr-defined]
    rows = run(upstream, output, [], facts_yaml=folder / "facts.yaml", jobs=1)
    return {row.check: row.details for row in rows if row.result == "refuted"}


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_planted_fault_is_refuted(program: object, tmp_path: Path) -> None:
    refuted = _verdicts(program, tmp_path, "bad")
    assert program.check in refuted, f"{program.why} Only these spoke: {refuted}"  # type: ignore[attr-defined]
    said = "\n".join(refuted[program.check])  # type: ignore[attr-defined]
    assert program.says in said  # type: ignore[attr-defined]


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.name for program in PROGRAMS])
def test_right_pruning_and_upstream_itself_pass(program: object, tmp_path: Path) -> None:
    assert _verdicts(program, tmp_path, "in") == {}
    if "good" in program.trees:  # type: ignore[attr-defined]
        assert _verdicts(program, tmp_path, "good") == {}
