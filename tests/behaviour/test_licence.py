"""Differences that are by design, where values of both trees are compared."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Union

import pytest

from pruner.verify.behaviour.design import design
from pruner.verify.behaviour.judge_arguments import Arguments
from pruner.verify.behaviour.judge_surface import EQUAL, Surface
from pruner.verify.behaviour.licence import Licences
from pruner.verify.behaviour.probe.describe import Describer
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


# -- profiles: what they leave out is by design, what they break is not ---------------------------------------


def failing(text: str, **more: object) -> dict[str, Any]:
    return {"failure": {"error": "RefusedByPrune", "text": text, "where": "guard.py:1"}, **more}


def resolved(**fields: object) -> dict[str, Any]:
    return {"arguments": fields, "view": {}, "model": {}}


def test_what_a_set_asks_for_may_be_refused_and_what_every_start_has_may_not(tmp_path: Path) -> None:
    """A build without adapters refused each start for the default of ``lora_backend``."""
    licences = Licences([], {}, Side(tmp_path, ""), frozenset({"r.attention", "r.lora"}))
    fa3 = failing("attention_backend 'fa3' was removed from this build (rule r.attention, r.yaml:3); to have it, ..")
    lora = failing("lora_backend 'csgmv' was removed from this build (rule r.lora, r.yaml:9); to have it, ..")
    up = {
        "default": resolved(attention_backend="trtllm_mla", lora_backend="csgmv"),
        "attention fa3": resolved(attention_backend="fa3", lora_backend="csgmv"),  # asked for by name
        "v1": resolved(attention_backend="fa3", lora_backend="csgmv"),  # upstream's choice for this model
        "lora": resolved(attention_backend="trtllm_mla", lora_backend="csgmv"),  # --enable-lora
    }
    right = {"default": up["default"], "attention fa3": fa3, "v1": fa3, "lora": lora}
    judge = Arguments(licences)
    assert list(judge.judge(up, right)) == []
    assert judge.counts["removed"] == 3 and judge.refused[0] == "attention fa3: refused by r.attention"
    for name, wrong in (("default", lora), ("default", fa3), ("v1", lora), ("attention fa3", failing("no rule"))):
        (text,) = Arguments(licences).judge(up, {**right, name: wrong})
        assert text.startswith(f"{name}: RefusedByPrune: ") and text.endswith("upstream resolves it")


def test_a_build_for_other_devices_refuses_everything(tmp_path: Path) -> None:
    licences = Licences([], {}, Side(tmp_path, ""), frozenset({"r.blackwell"}))
    refused = failing("this build assumes sm() to be at least 100 (rule r.blackwell, r.yaml:3); here it is 90; ..")
    up = {"default": resolved(), "single": resolved(), "bad": failing("no such file")}
    for out, problems in (
        ({"default": refused, "single": {**resolved(), "prepared": refused}, "bad": failing("no such file")}, []),
        ({"default": refused, "single": resolved(), "bad": refused}, ["single"]),
        ({"default": failing("unknown method"), "single": refused, "bad": refused}, []),
        ({"default": {"crash": "died"}, "single": refused, "bad": refused}, ["default"]),
    ):
        found = list(Arguments(licences, elsewhere=True).judge(up, out))
        assert [text.partition(":")[0] for text in found] == problems
    assert len(list(Arguments(licences).judge(up, dict.fromkeys(up, refused)))) == 3  # of a build for this device


RULED = """\
rules:
  - {id: r.root, because: So., root: [sglang.app]}
  - {id: r.sm, because: So., assume: {sglang.srt.utils.common.get_device_sm(): VALUES}}
"""


@pytest.mark.parametrize(
    ("values", "mine"), [("{min: 100}", [100]), ("{max: 90}", [90]), ("[90, 100]", [90, 100]), ("90", [90])]
)
def test_the_devices_of_a_build_are_those_of_its_rules(values: str, mine: list[int], tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(RULED.replace("VALUES", values))
    (tmp_path / "up").mkdir()
    found = design(tmp_path / "up", [tmp_path / "rules.yaml"])
    assert found.sm is not None and [sm for sm in (90, 100) if found.sm(sm)] == mine
    (tmp_path / "rules.yaml").write_text(RULED.partition("  - {id: r.sm")[0])
    assert design(tmp_path / "up", [tmp_path / "rules.yaml"]).sm is None


def test_public_names_tables_and_choices_of_dropped_modules_are_by_design(tmp_path: Path) -> None:
    (tmp_path / "kept.py").write_text("")
    drops = [("r.lang", "lang.api"), ("r.lora", "lora.**"), ("r.choices", "args.CHOICES[*]"), ("r.kept", "kept")]
    failure = {"error": "RemovedByPrune", "text": "gone", "where": "a.py:1"}
    option = {"options": ["--lora"], "choices": ["a", "b"]}
    dump: dict[str, Any] = {part: {} for part in EQUAL} | {"tables": {}, "server_options": []}
    up = {
        **dump,
        "public": {"gen": "function:lang.api.gen", "ask": "function:kept.ask"},
        "tables": {"args.CHOICES": {"a": 1, "b": 2}, "lora.backend.TABLE": {"a": 1}, "kept.TABLE": {"a": 1}},
        "server_options": [option],
    }
    right = {
        **up,
        "public": {"gen": "class:sglang._prune_guard.lang.api", "ask": "function:kept.ask"},
        "tables": {"args.CHOICES": {}, "lora.backend.TABLE": failure, "kept.TABLE": {"a": 1}},
        "server_options": [{**option, "choices": None}],
    }

    def judged(out: dict[str, Any]) -> list[str]:
        return list(Surface(Licences(drops, {}, Side(tmp_path, ""), frozenset())).judge(up, out))

    assert judged(right) == []
    wrong = {**right["public"], "ask": "class:sglang._prune_guard.kept"}
    assert judged({**right, "public": wrong}) == ["public/ask: function:kept.ask became class:sglang._prune_guard.kept"]
    assert judged({**right, "tables": {**right["tables"], "kept.TABLE": failure}})
    (text,) = judged({**right, "tables": {**right["tables"], "args.CHOICES": {"a": 1}}})
    assert text.endswith("choices ['a', 'b'] became None")  # one of them is there
    del up["tables"]["args.CHOICES"], right["tables"]["args.CHOICES"]
    drops.append(("r.choices", "lora.backend.TABLE[*]"))
    up["tables"]["lora.backend.TABLE"] = {"a": 1, "b": 2}
    assert judged(right) == []  # the table that the option chooses from went with its module
    assert judged({**right, "server_options": [{**option, "choices": ["c"]}]})
    drops[:] = [row for row in drops if row[0] != "r.choices"]
    assert any("choices ['a', 'b'] became None" in text for text in judged(right))


@pytest.mark.parametrize(
    ("roots", "accepted"), [(["app.main"], True), (["app.*"], False), (["app.tool:main"], False), (None, False)]
)
def test_a_command_is_gone_that_no_rule_asks_for(roots: list[str] | None, accepted: bool, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/main.py").touch()
    row = {"exit": 0, "lines": 3, "parsers": []}
    gone = {
        "exit": 1,
        "error": "ImportError",
        "text": "No module named app.tool",
        "where": "",
        "lines": 0,
        "parsers": [],
    }
    judge = Surface(Licences([], {}, Side(tmp_path, ""), frozenset(), roots))
    assert (list(judge.clients({"app.tool --help": row}, {"app.tool --help": gone})) == []) is accepted
    # One that is there and fails is no command that nobody asks for.
    assert list(judge.clients({"app.main --help": row}, {"app.main --help": gone}))
    dropped = Surface(Licences([("r.tool", "app.tool")], {}, Side(tmp_path, ""), frozenset(), ["app.tool"]))
    assert list(dropped.clients({"app.tool": row}, {"app.tool": gone})) == []


def test_the_order_of_a_union_with_a_stand_in(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/__init__.py").touch()
    licences = Licences([], {}, Side(tmp_path, ""), frozenset())
    up, out = "def (self, c: None | a.z.Gone | r.B = 1)", "def (self, c: None | r.B | s._prune_guard.a.z:Gone = 1)"
    assert list(licences.differences("f", up, out)) == []
    assert list(licences.differences("f", up, out.replace("r.B", "r.C")))


@pytest.mark.parametrize(
    ("up", "out", "same"),
    [
        ("process:70", "process:71", True),
        ("process:70", 70, True),  # SIZES = list(range(100)) in process 70
        (70, "process:70", True),
        ("process:70", 71, False),
        (None, "process:70", False),
        ("process:70", "70 of them", False),
    ],
)
def test_numbers_of_processes(up: object, out: object, same: bool, tmp_path: Path) -> None:
    licences = Licences([], {}, Side(tmp_path, ""), frozenset())
    for before, after in ((up, out), ([1, up], [1, out]), ({"a": up}, {"a": out})):
        assert (list(licences.differences("t", before, after)) == []) is same
    assert Describer({}).value([os.getpid(), 1, os.getpid() + 1]) == [f"process:{os.getpid()}", 1, os.getpid() + 1]


@pytest.mark.parametrize("count", [1, 400])
def test_a_stand_in_in_a_signature_of_any_length(count: int, tmp_path: Path) -> None:
    """A long text is told by its digest; a signature is not, or a stand-in in it would be another signature."""
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.py").touch()
    (tmp_path / "p" / "m.py").write_text("class A:\n    pass\n")
    licences = Licences([], {}, Side(tmp_path, ""), frozenset())
    described = []
    for module, name, last in (
        ("p.m", "Gone", 1),
        ("p._prune_guard", "p.m:Gone", 1),
        ("p._prune_guard", "p.m:Gone", 2),
    ):
        space = {"Gone": type(name, (), {"__module__": module, "__qualname__": name}), "Union": Union}
        more = "".join(f", parameter_{number}: int = {number}" for number in range(count))
        text = f"def f(a: Union[Gone, int]{more}, last=({last})):\n    pass\n"
        exec(compile(text, "f.py", "exec", dont_inherit=True), space)
        described.append(Describer({}).signature(space["f"]))
    up, out, wrong = described
    assert list(licences.differences("f", up, out)) == []
    assert list(licences.differences("f", up, wrong))


@pytest.mark.parametrize(
    ("key", "value", "same"),
    [
        ("class:p._prune_guard.p.m:Gone", 1, True),
        ("class:p._prune_guard.p.m:Gone", 2, False),
        ("class:p._prune_guard.p.m:A", 1, False),  # A is there
        ("class:p._prune_guard.p.m:Other", 1, False),
        ("class:p.m.A", 1, False),
    ],
)
def test_a_stand_in_as_a_key(key: str, value: int, same: bool, tmp_path: Path) -> None:
    """``TABLE = {Removed: 1}``: the entry stays, under what stands for the class."""
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "__init__.py").touch()
    (tmp_path / "p" / "m.py").write_text("class A:\n    pass\n")
    licences = Licences([], {}, Side(tmp_path, ""), frozenset())
    up = {"class:p.m.Kept": 0, "class:p.m.Gone": 1}
    assert (list(licences.differences("t", up, {"class:p.m.Kept": 0, key: value})) == []) is same


def test_a_stand_in_for_all_of_a_module(tmp_path: Path) -> None:
    """``from a.z import Gone, More`` of a dropped module: what stands for each is named as the module is."""
    (tmp_path / "a").mkdir()
    for name in ("__init__", "kept"):
        (tmp_path / f"a/{name}.py").write_text("class Gone:\n    pass\n")
    licences = Licences([("r.z", "a.z"), ("r.kept", "a.kept")], {}, Side(tmp_path, ""), frozenset())
    up, out = (
        "def (self, c: None | a.z.Gone = 1, d: a.z.More)",
        "def (self, c: None | s._prune_guard.a.z = 1, d: s._prune_guard.a.z)",
    )
    assert list(licences.differences("f", up, out)) == []
    for wrong in (out.replace("a.z", "a.y"), out.replace("a.z", "a.kept"), out.replace("= 1", "= 2")):
        assert list(licences.differences("f", up, wrong))
        assert list(licences.differences("f", up.replace("a.z", "a.kept"), out.replace("a.z", "a.kept")))
