"""Removed things of the release, each had again by the rule that its own refusal advises, in one step.

The sentences come from the generated guard module of the default build, which needs nothing but the standard
library; the rules that they name are built once, together. One more run of about two minutes on two cores.
"""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from pruner.pipeline import RunOptions, run
from tests.ecosystem.test_release import RULES, Made, made, wheel

__all__ = ["made", "wheel"]
pytestmark = [pytest.mark.release, pytest.mark.xdist_group("release")]

ASKED = (
    ("guard.arguments/1", "quantization", "gguf"),
    ("guard.arguments/1", "tool_call_parser", "hermes"),
    ("guard.model/2", "architectures", "Qwen2ForCausalLM"),
    ("guard.arguments/1", "dllm_algorithm", "LowConfidence"),  # a walk without members, and a fact of another guard
    ("guard.arguments/1", "speculative_algorithm", "DFLASH"),  # a choice that stands in its enum, without its code
    ("guard.arguments/1", "moe_runner_backend", "hpc_ops"),  # a choice that goes, and facts that take its code
    ("guard.arguments/1", "load_format", "gguf"),  # which sets the method, and the other way round
    ("guard.model/2", "architectures", "Qwen2VLForConditionalGeneration"),  # of no use without its processor
)
KEPT = {
    "Qwen2VLForConditionalGeneration": (
        "sglang/srt/multimodal/processors/qwen_vl.py",
        "Qwen2VLForConditionalGeneration",
    ),
    "gguf": ("sglang/srt/layers/quantization/__init__.py", '"gguf"'),
    "hermes": ("sglang/srt/function_call/function_call_parser.py", '"hermes"'),
    "Qwen2ForCausalLM": ("sglang/srt/models/qwen2.py", "EntryClass"),
    "LowConfidence": ("sglang/srt/dllm/algorithm/low_confidence.py", "Algorithm"),
    "DFLASH": ("sglang/srt/speculative/spec_info.py", "DFlashWorkerV2"),
    "hpc_ops": ("sglang/srt/layers/moe/moe_runner/hpc_ops.py", "class HpcOpsMoeQuantInfo"),
}


class Asking:
    """Anything that has an attribute with this value."""

    def __init__(self, name: str, value: object) -> None:
        setattr(self, name, value)


def refusal(tree: Path, guard: str, name: str, value: str) -> str:
    """What the guard of a tree says; nothing when it lets the value pass."""
    module: dict[str, Any] = runpy.run_path(str(tree / "sglang/_prune_guard.py"))
    subject = [value] if name == "architectures" else Asking(name, value)
    try:
        module["check"](guard, subject)
    except ValueError as error:
        return str(error)
    return ""


def test_each_is_refused_with_its_rule(made: Made) -> None:
    for asked in ASKED:
        said = refusal(made.output, *asked)
        assert re.search(r"was removed from this build|was made without what processes dllm_algorithm", said), said
        assert re.search(r"deepseek\.yaml:\d+\)", said), said


def test_what_is_kept_is_not_refused(made: Made) -> None:
    for guard, name, value in (
        ("guard.arguments/1", "quantization", "fp8"),
        ("guard.arguments/1", "tool_call_parser", "deepseekv3"),
        ("guard.model/2", "architectures", "DeepseekV3ForCausalLM"),
        ("guard.arguments/1", "quantization", "nobody-knows"),
    ):
        assert refusal(made.output, guard, name, value) == ""


def test_the_advised_rules_bring_them_back(made: Made, tmp_path: Path) -> None:
    rows, lifted = [], []
    for index, asked in enumerate(ASKED):
        said = refusal(made.output, *asked)
        lifted += [name for names in re.findall(r"`lift: \[([^`]+)\]`", said) for name in names.split(", ")]
        for line in re.findall(r"`((?:keep|dynamic): [^`]+)`", said):
            line = line.replace("ITS_MODULE", "low_confidence")
            rows.append(f"  - id: wide.{index}.{len(rows)}\n    because: It is wanted.\n    {line}\n")
    assert {"deepseek.family.diffusion-lm", "deepseek.family.speculative", "deepseek.family.experts"} <= set(lifted)
    rules = tmp_path / "wide.yaml"
    rules.write_text(
        f"extends: [{RULES.as_posix()}]\nlift: [{', '.join(sorted(set(lifted)))}]\nrules:\n{''.join(rows)}"
    )
    options = RunOptions(
        (rules,), made.wheel, tmp_path / "out", tmp_path / "reports", 2, False, False, tmp_path / "cache"
    )
    done = run(options, lambda *_: None)
    assert done.exit_code == 0, (done.findings, [v for v in done.document["verdicts"] if v["result"] == "refuted"])
    for asked in ASKED:
        path, text = KEPT[asked[2]]
        assert text in (tmp_path / "out" / path).read_text()
        assert refusal(tmp_path / "out", *asked) == ""
    assert refusal(made.output, "deepseek.guard/2", "dllm_algorithm", "LowConfidence")
    assert refusal(tmp_path / "out", "deepseek.guard/2", "dllm_algorithm", "LowConfidence") == ""
    for value in (True, False):  # what the model's configuration says is not the next thing that is refused
        assert bool(refusal(made.output, "deepseek.guard/1", "is_multimodal", value)) is value
        assert refusal(tmp_path / "out", "deepseek.guard/1", "is_multimodal", value) == ""
    assert "is_dllm" in (tmp_path / "out/sglang/srt/managers/scheduler.py").read_text()
    own = json.loads((tmp_path / "out/PRUNED.json").read_text())["capabilities"]
    assert own["kept"] > json.loads((made.output / "PRUNED.json").read_text())["capabilities"]["kept"]


def test_every_kept_row_of_the_table_has_evidence(made: Made) -> None:
    rows = json.loads((made.reports / "capabilities.json").read_text())["rows"]
    assert len(rows) == 160
    missing = [row for row in rows if row["expected"] == "keep" and not (row["status"] == "kept" and row["evidence"])]
    assert missing == []
    unexplained = [row for row in rows if row["status"] == "dropped" and not row["dropped_by"]]
    assert unexplained == []
    for row in rows:
        for place in row["evidence"]:
            path, _, line = place.rpartition(":")
            assert int(line) <= (made.output / path).read_bytes().count(b"\n") + 1


def test_the_guards_are_listed_with_their_places(made: Made) -> None:
    guards = json.loads((made.output / "PRUNED.json").read_text())["guards"]
    functions = {row["function"] for row in guards}
    assert {"ServerArgs.__post_init__", "run_scheduler_process", "run_server", "ModelConfig.__init__"} <= functions
    for row in guards:
        assert re.fullmatch(r"sglang/[\w/]+\.py:\d+", row["place"]) and re.fullmatch(r"[\w./]+\.yaml:\d+", row["rule"])
        assert row["asks"] or row["facts"] or row.get("digest")
