"""The verifier accepts every right pruning of the cases and refutes every wrong one that it can see."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from pruner.verify import CHECKS, run

_spec = importlib.util.spec_from_file_location("verify_programs", Path(__file__).with_name("programs.py"))
assert _spec is not None and _spec.loader is not None
programs = importlib.util.module_from_spec(_spec)
sys.modules["verify_programs"] = programs
_spec.loader.exec_module(programs)

TREES = programs.case_trees()
UNSEEN = programs.unseen()


@pytest.mark.parametrize(("name", "case", "tree"), TREES, ids=[row[0] for row in TREES])
def test_tree_of_a_case(name: str, case: Path, tree: Path) -> None:
    verdicts = run(case / "in", tree, [], facts_yaml=case / "facts.yaml", jobs=1)
    # a case has no table of capabilities
    assert [verdict.check for verdict in verdicts] == [check for check in CHECKS if check != "capabilities"]
    refuted = [f"{v.check}: {text}" for v in verdicts if v.result == "refuted" for text in v.details]
    if tree.name.startswith("bad") and name not in UNSEEN:
        assert refuted, "a wrong pruning passes every check"
    else:
        assert not refuted, "listed as unseen, but seen" if name in UNSEEN else "a right pruning is refuted"


def test_the_unseen_trees_exist() -> None:
    names = {name for name, _, _ in TREES}
    assert set(UNSEEN) <= names
    assert all(reason.strip() for reason in UNSEEN.values())
