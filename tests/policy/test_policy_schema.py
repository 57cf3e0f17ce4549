"""The shipped rules, and the language as JSON Schema."""

from __future__ import annotations

import copy
import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from pruner.policy import json_schema, load, reference, select
from pruner.policy.rule import VERBS

RULES = Path(__file__).parents[2] / "rules"
FILES = sorted(path for path in RULES.glob("*.yaml") if path.name != "capabilities.yaml")

GOOD: dict[str, Any] = {
    "extends": ["x.yaml"],
    "rules": [
        {"id": "a", "because": "So.", "assume": {"m.f()": [True, None, "x", 1.5], "m.g()": {"min": 1}}},
        {"id": "b", "because": "So.", "assume": {"m.C.x": {"values": "cuda", "valid_from": "m.C.f()"}}},
        {"id": "c", "because": "So.", "root": ["m"], "optional": True, "since": "0.5.7", "until": "0.5.10.post1"},
        {"id": "d", "because": "So.", "dynamic": {"package": "m", "members": []}},
        {"id": "e", "because": "So.", "dynamic": [{"package": "m", "members": ["a*"], "site": "m.n"}]},
        {"id": "f", "because": "So.", "pure": ["m.envs.*.get"]},
        {"id": "h", "because": "So.", "guard": {"at": "m:f", "facts": True}},
        {
            "id": "i",
            "because": "So.",
            "guard": [{"at": ["m:C.f"], "where": "after", "of": "self", "ask": {"x.y": {"tables": ["m.T"]}}}],
        },
        {"id": "g", "because": "So.", "allow": [{"path": "x", "name": "y", "reason": "z"}]},
    ],
}


def faults(document: object) -> list[str]:
    validator = Draft202012Validator(json_schema())
    return [error.message for error in validator.iter_errors(document)]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_the_schema_accepts_the_shipped_rules(path: Path) -> None:
    assert not faults(YAML(typ="safe").load(path.read_text()))


def test_the_schema_is_one_and_knows_each_verb() -> None:
    Draft202012Validator.check_schema(json_schema())
    rule = json_schema()["properties"]["rules"]["items"]
    assert set(VERBS) <= set(rule["properties"])
    assert not faults(GOOD)


def test_the_file_for_editors_is_the_schema() -> None:
    written = (RULES / "rules.schema.json").read_text()
    assert written == json.dumps(json_schema(), indent=2) + "\n", "write json_schema() to rules/rules.schema.json"


PLANTED: dict[str, Callable[[Any], object]] = {
    "unknown top key": lambda d: d.update(rulez=[]),
    "extends is no list": lambda d: d.update(extends="x.yaml"),
    "no id": lambda d: d["rules"][0].pop("id"),
    "no because": lambda d: d["rules"][0].pop("because"),
    "blank because": lambda d: d["rules"][0].update(because=" "),
    "no verb": lambda d: d["rules"][0].pop("assume"),
    "two verbs": lambda d: d["rules"][0].update(root=["m"]),
    "unknown verb": lambda d: d["rules"][0].update(asume={}),
    "bad id": lambda d: d["rules"][0].update(id="a b"),
    "optional is no boolean": lambda d: d["rules"][0].update(optional="yes"),
    "since is a number": lambda d: d["rules"][0].update(since=0.5),
    "since is no version": lambda d: d["rules"][0].update(since="new"),
    "no value": lambda d: d["rules"][0]["assume"].update({"m.f()": []}),
    "nested list": lambda d: d["rules"][0]["assume"].update({"m.f()": [[1]]}),
    "empty range": lambda d: d["rules"][0]["assume"].update({"m.f()": {}}),
    "range of strings": lambda d: d["rules"][0]["assume"].update({"m.f()": {"min": "1"}}),
    "range and values": lambda d: d["rules"][0]["assume"].update({"m.f()": {"min": 1, "values": [1]}}),
    "root is no list": lambda d: d["rules"][2].update(root="m"),
    "root of a number": lambda d: d["rules"][2].update(root=[1]),
    "dynamic without members": lambda d: d["rules"][3]["dynamic"].pop("members"),
    "dynamic with a pattern as package": lambda d: d["rules"][3]["dynamic"].update(package="m.*"),
    "dynamic with another key": lambda d: d["rules"][3]["dynamic"].update(member=[]),
    "pure with a call": lambda d: d["rules"][5].update(pure=["f()"]),
    "allow without reason": lambda d: d["rules"][-1]["allow"][0].pop("reason"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_the_schema_refuses(name: str) -> None:
    document = copy.deepcopy(GOOD)
    PLANTED[name](document)
    assert faults(document)


def test_the_shipped_rules_load() -> None:
    policy = load([RULES / "cuda_only.yaml"])
    assert policy.files == (
        "cuda_only.yaml",
        "deepseek.yaml",
        "guards.yaml",
        "nvidia.yaml",
        "repository.yaml",
        "residue.yaml",
    )
    facts = {f.subject: f.values for f in select(policy, "0.5.17").facts}
    assert facts["sglang.srt.utils.common.is_cuda()"] == (True,)
    assert facts["sglang.srt.utils.common.is_hip()"] == (False,)
    assert facts["torch.version.hip"] == (None,)
    old = {f.subject: f.values for f in select(policy, "0.5.7").facts}
    assert all(isinstance(v, str) for v in old["sglang.srt.utils.common.is_cuda()"])


@pytest.mark.parametrize("version", ["0.5.7", "0.5.12", "0.5.17", "0.5.23"])
def test_what_differs_between_nvidia_machines_is_no_fact(version: str) -> None:
    words = ("is_host_cpu", "_sm", "is_blackwell", "is_hopper", "torch.cuda.is_available", "torch.version.cuda")
    subjects = [f.subject for f in select(load([RULES / "cuda_only.yaml"]), version).facts]
    assert not [s for s in subjects if any(word in s for word in words)]


def test_no_shipped_rule_drops_a_capability_that_stays() -> None:
    tables = {
        "quantization": ("BASE_QUANTIZATION_METHODS", "QUANTIZATION_CHOICES"),
        "attention": ("ATTENTION_BACKENDS", "ATTENTION_BACKEND_CHOICES"),
        "moe_runner": ("MOE_RUNNER_BACKEND_CHOICES",),
        "moe_a2a": ("MOE_A2A_BACKEND_CHOICES",),
        "dsa": ("DSA_CHOICES", "NSA_CHOICES"),
        "disaggregation": ("DISAGG_TRANSFER_BACKEND_CHOICES",),
        "lora": ("LORA_BACKEND_CHOICES", "LORA_SUPPORTED_BACKENDS"),
    }
    with (RULES / "capabilities-0.5.17.csv").open(newline="") as file:
        rows = [(r["kind"], r["key"], r["default"]) for r in csv.DictReader(file)]
    verdicts = {(table, key): default for kind, key, default in rows for table in tables.get(kind, ())}
    dropped = {
        (t.text.partition("[")[0].rpartition(".")[2], t.text.partition("[")[2][:-1])
        for t in load([RULES / "cuda_only.yaml"]).drops
        if t.kind == "entry"
    }
    assert {entry for entry in dropped if verdicts.get(entry) == "keep"} == set()
    assert len([entry for entry in dropped if verdicts.get(entry) == "drop"]) > 30


def test_the_reference_is_made_from_the_schema() -> None:
    written = (RULES.parent / "docs" / "rules-reference.md").read_text()
    assert written == reference(), "prune rules schema --markdown > docs/rules-reference.md"


def test_every_verb_has_examples_that_are_rules(tmp_path: Path) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", reference(), re.DOTALL)
    validator = Draft202012Validator(json_schema())
    verbs = set()
    for number, block in enumerate(blocks):
        path = tmp_path / f"{number}.yaml"
        path.write_text(block)
        assert [error.message for error in validator.iter_errors(YAML(typ="safe").load(block))] == []
        verbs |= {rule.verb for rule in load([path]).rules}
    assert verbs == set(VERBS)
