"""The check ``layers``: its judge; and, where an environment with torch and a tree are, real layers of both."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from pruner.verify.behaviour import environment
from pruner.verify.behaviour.judge_layers import Layers
from pruner.verify.behaviour.runner import STAGES, Design, Run
from pruner.verify.behaviour.sessions import ON_HOST, Answer, Plan, Sessions
from pruner.verify.behaviour.statics import Side

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-verify" / "bin" / "python"
GOOD: dict[str, Any] = {
    "steps": {"prefill": {"tokens": [1, 2], "logits": "a"}},
    "finite": True,
    "layers": [["prefill", "model.layers.0", "x"], ["prefill", "model.layers.1", "y"]],
    "routed": {"0": 3, "5": 1},
    "natives": {"kernels.norm": 4},
}


def problems(after: dict[str, Any], before: dict[str, Any] = GOOD) -> list[str]:
    return list(Layers().judge({"v3": before}, {"v3": after}))


def test_equal_layers_pass() -> None:
    judge = Layers()
    assert list(judge.judge({"v3": GOOD}, {"v3": copy.deepcopy(GOOD)})) == []
    assert judge.counts["outputs of modules equal bit for bit"] == 2


def test_the_first_module_that_differs_is_named() -> None:
    other = [["prefill", "model.layers.0", "z"], ["prefill", "model.layers.1", "z"]]
    assert problems({**GOOD, "layers": other}) == [
        "v3, prefill, model.layers.0: z, upstream x: the first module that differs"
    ]
    assert "comes in its place" in problems({**GOOD, "layers": other[1:]})[0]
    assert problems({**GOOD, "layers": GOOD["layers"][:1]}) == ["v3: 1 outputs of modules, upstream 2"]


def test_tokens_routing_and_native_calls_count() -> None:
    for part, value in (("steps", {}), ("routed", {"0": 2, "5": 2}), ("natives", {"kernels.norm": 5})):
        assert problems({**GOOD, part: value})[0].startswith(f"v3: {part} differ")


def test_what_upstream_cannot_run_is_said() -> None:
    failure = {"failure": {"error": "NoReference", "text": "kernels.new", "where": "x.py:1"}}
    judge = Layers()
    assert list(judge.judge({"v3": failure}, {"v3": GOOD})) == []
    assert judge.notes == ["v3: not compared, upstream does not run here: NoReference: kernels.new (x.py:1)"]
    assert problems(failure) == ["v3: NoReference: kernels.new (x.py:1); upstream runs"]
    assert "not finite" in problems(GOOD, {**GOOD, "finite": False})[0]


def test_nothing_compared_is_not_run(tmp_path: Path) -> None:
    failure = {"failure": {"error": "NoReference", "text": "kernels.new", "where": "x.py:1"}}
    sides = Side(tmp_path, ""), Side(tmp_path, "")
    for before, result in ((failure, "not run"), (GOOD, "passed")):
        run = Run(Sessions(Path("python"), {}, (), tmp_path, 1), *sides, Design(), ["layers"])
        for side, row in (("upstream", before), ("output", GOOD)):
            run.answers[Plan(side, "H100", ("layers",))] = Answer({"layers": {"v3": row}})
        verdict = run.verdict("layers")
        assert verdict.result == result, verdict
        assert "kernels.new" in verdict.covered or result == "passed"


def test_layers_have_a_session_of_their_own(tmp_path: Path) -> None:
    profile = f"H100{ON_HOST}"
    assert STAGES[profile] == ("layers",)
    plan = Plan("output", profile, ("layers",))
    settings = Sessions(Path("python"), {"output": tmp_path}, (), tmp_path, 1).settings(plan, tmp_path)
    assert settings["profile"] == "H100" and settings["on_host"] and "flashinfer" in settings["standins"]
    assert environment.variables(tmp_path, plan.on_host)["TRITON_INTERPRET"] == "1"
    assert "TRITON_INTERPRET" not in environment.variables(tmp_path)


@pytest.mark.skipif(not PYTHON.exists(), reason="make verify-full has made no environment with torch")
@pytest.mark.skipif(not (ROOT / "generated" / "PRUNED.json").exists(), reason="no pruned tree is here")
def test_a_sparse_and_a_dense_layer_of_the_pruned_tree(tmp_path: Path) -> None:
    plan = Plan("output", f"H100{ON_HOST}", ("layers",))
    sessions = Sessions(PYTHON.absolute(), {"output": ROOT / "generated"}, (), tmp_path, 1, only=("v2",))
    answer = sessions.run([plan])[plan]
    assert not answer.failure, answer.failure
    found = answer.stages["layers"]["v2"]
    assert "failure" not in found, json.dumps(found)
    assert found["finite"] and sum(found["routed"].values()) == (2 * 7 + 2 * 2) * 3
