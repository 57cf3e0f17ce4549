"""The case format in, a policy out."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner.errors import PruneError
from pruner.model import Range
from pruner.policy import load_case

CASE = """\
facts: {is_cuda(): true, app._is_hip: false}
defined_in: plat
values: {"plat.sm()": {min: 90, max: 120}, "conf.Args.device": ["cuda"]}
valid_from: {"conf.Args.device": "conf.Args.resolve()"}
drop: ["registry.BACKENDS[aiter]", "options.PREFIXES[hip:]", "kinds.Mode.HIP", "zoo.llama"]
keep: ["mod", "mod:name", "mod:Class.method"]
roots: ["app", "app:main", "pyproject.toml"]
"""


def test_every_key_is_read(tmp_path: Path) -> None:
    (tmp_path / "facts.yaml").write_text(CASE)
    policy = load_case(tmp_path / "facts.yaml")
    assert {f.subject: (f.values, f.valid_from, f.rule) for f in policy.facts} == {
        "plat.is_cuda()": ((True,), None, "facts"),
        "app._is_hip": ((False,), None, "facts"),
        "plat.sm()": (Range(90, 120), None, "values"),
        "conf.Args.device": (("cuda",), "conf.Args.resolve()", "values"),
    }
    assert {(t.kind, t.text) for t in policy.drops} == {
        ("entry", "registry.BACKENDS[aiter]"),
        ("entry", "options.PREFIXES[hip:]"),
        ("dotted", "kinds.Mode.HIP"),
        ("dotted", "zoo.llama"),
    }
    assert {(t.kind, t.text) for t in policy.keeps} == {
        ("module", "mod"),
        ("symbol", "mod:name"),
        ("symbol", "mod:Class.method"),
    }
    assert {(t.kind, t.text) for t in policy.roots} == {
        ("module", "app"),
        ("symbol", "app:main"),
        ("project", "pyproject.toml"),
    }
    assert set(policy.by_id) == {"facts", "values", "roots", "keep", "drop"}
    assert all(rule.because for rule in policy.rules)
    assert policy.files == ("facts.yaml",) and str(tmp_path) not in repr(policy)


def test_faults_are_all_shown(tmp_path: Path) -> None:
    (tmp_path / "facts.yaml").write_text("factz: {}\nfacts: {is_cuda(): true}\nroots: app\nvalid_from: {a.b: c.d()}\n")
    with pytest.raises(PruneError) as caught:
        load_case(tmp_path / "facts.yaml")
    assert [(d.code, d.line) for d in caught.value.diagnostics] == [
        ("PR005", 1),
        ("PR011", 2),
        ("PR004", 3),
        ("PR011", 4),
    ]


def test_an_empty_case_is_told_what_a_case_holds(tmp_path: Path) -> None:
    (tmp_path / "facts.yaml").write_text("")
    with pytest.raises(PruneError, match=r"facts\.yaml: error PR004: the file is empty; write at least 'facts: \{\}'"):
        load_case(tmp_path / "facts.yaml")


def test_places_of_a_case_are_shown_with_its_folder(tmp_path: Path) -> None:
    (tmp_path / "facts.yaml").write_text("roots: [app]\n")
    policy = load_case(tmp_path / "facts.yaml")
    assert policy.shown[policy.roots[0].location.file] == (tmp_path / "facts.yaml").as_posix()
