"""The driver on small servers: what is alike, what differs, what is refused; results and traces on disk."""

from __future__ import annotations

import gzip
import json
import os
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from pruner.errors import PruneError
from pruner.model import Policy
from pruner.parity import driver
from pruner.parity.cells import Cell
from pruner.parity.compare import SENTENCE as SENTENCE_PATTERN
from pruner.parity.compare import changed, judge
from pruner.parity.driver import RESULTS, TRACES, Run
from pruner.parity.results import collect
from pruner.parity.server import Host
from pruner.pipeline import guard
from pruner.pipeline.asked import Answers
from tests.parity.small_server import write

# Ports of this worker: workers of pytest-xdist run these tests at the same time.
PORTS = 23000 + 1000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
CELL = Cell("small", "bf16", {})


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "make_checkpoints", lambda *_: None)
    monkeypatch.setattr(driver, "card", lambda: {"name": "test", "driver": "", "count": "1"})
    monkeypatch.setattr(driver, "SETTLE", 0.0)
    monkeypatch.setattr(driver, "LEAST", 1.0)
    monkeypatch.setattr(driver, "port", lambda slot, side: PORTS + 20 * slot + 10 * driver.SIDES.index(side))


def record(folder: Path, up: dict[str, Any], out: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The record of one cell on two small servers."""
    trees = {"upstream": write(folder / "up", **up), "output": write(folder / "out", **out)}
    run = Run(Host(folder / "work"), trees, folder / "results", 60.0, **{"slots": 1, "trace": False, **changes})
    (found,) = run.run([CELL])
    assert json.loads((folder / "results" / RESULTS).read_text()) == found
    return found


def test_alike(tmp_path: Path) -> None:
    found = record(tmp_path, {}, {})
    assert found["result"] == "identical"
    assert {row["result"] for row in found["groups"].values()} == {"identical"}
    assert found["groups"]["single"]["tokens"] == 16
    assert found["host MiB"]["upstream"] > 0


def test_one_token_differs(tmp_path: Path) -> None:
    found = record(tmp_path, {}, {"shift": 1})
    assert found["result"] == "differs"
    assert found["groups"]["single"]["result"] == "differs"
    assert found["groups"]["bad"]["result"] == "differs"  # one of the bad requests is answered there
    assert found["groups"]["chat"]["result"] == "identical"
    assert any("output_ids" in text for text in found["groups"]["batch"]["differences"])


def test_a_route_that_breaks_in_the_output_only(tmp_path: Path) -> None:
    found = record(tmp_path, {}, {"broken": ("/parse_function_call",)})
    assert [name for name, row in found["groups"].items() if row["result"] == "differs"] == ["parsers"]


def test_refused_alike_and_refused_alone(tmp_path: Path) -> None:
    both = record(tmp_path / "a", {"refuses": "no such card 12345"}, {"refuses": "no such card 99999"})
    assert (both["result"], both["why"]) == ("refused by both", "ValueError: no such card")
    other = record(tmp_path / "b", {"refuses": "no card"}, {"refuses": "no module"})
    assert other["result"] == "failed"
    alone = record(tmp_path / "c", {}, {"refuses": "no module"})
    assert (alone["result"], alone["why"]) == ("differs", {"output": "ValueError: no module"})


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring")
def test_executed_lines_are_recorded(tmp_path: Path) -> None:
    record(tmp_path, {}, {}, trace=True)
    with tarfile.open(tmp_path / "results" / TRACES) as archive:
        member = archive.extractfile("small.json.gz")
        assert member is not None
        seen = json.loads(gzip.decompress(member.read()))
    assert seen["output"]["lines"] == {}
    assert len(seen["upstream"]["lines"]["sglang/launch_server.py"]) > 20


def test_results_of_a_tree_that_prune_did_not_make_are_one_message(tmp_path: Path) -> None:
    record(tmp_path, {}, {})
    reports = tmp_path / "reports"
    folders = [tmp_path / "results"], tmp_path / "up", tmp_path / "out"
    with pytest.raises(PruneError, match="PR306"):
        collect(*folders, lambda _: {}, reports)
    (tmp_path / "out" / "PRUNED.json").write_text(
        '{"upstream": {"snapshot": "x"}, "rules": {"digest": "y"}, "files": {}}'
    )
    with pytest.raises(PruneError, match="PR601"):  # small is no cell of the plan
        collect(*folders, lambda _: {}, reports)
    row = (tmp_path / "results" / RESULTS).read_text()
    (tmp_path / "results" / RESULTS).write_text(row.replace('"cell": "small"', '"cell": "lora"'))
    found = collect(*folders, lambda _: {}, reports)
    assert found["trees"]["rules"] == "y" and found["cells"]["lora"]["result"] == "identical"


def test_what_needs_more_cards_or_time_is_not_run(tmp_path: Path) -> None:
    trees = {"upstream": write(tmp_path / "up"), "output": write(tmp_path / "out")}
    run = Run(Host(tmp_path / "work"), trees, tmp_path / "results", 60.0, slots=1)
    assert [row["result"] for row in run.run([Cell("two", "bf16", {}, cards=2)])] == ["not run"]
    late = Run(Host(tmp_path / "work"), trees, tmp_path / "late", 0.0, slots=1)
    assert [row["why"] for row in late.run([CELL])] == ["no time left"]
    assert not (tmp_path / "late" / RESULTS).exists()  # so the next run takes it up


SENTENCE = (
    "this build was made without what processes image_data (rule deepseek.modalities, rules/deepseek.yaml:7); to have it, "
    "add a rule with `dynamic: {package: a.b, members: [ITS_MODULE]}` and build again"
)


def test_a_removed_modality_is_refused_as_stated() -> None:
    """The sentence is asked for: another 400, another status or one answer without it is a difference."""
    served = [[{"status": 200, "body": {"text": "a"}}] * 2] * 2
    refusal = {"status": 400, "body": {"error": {"message": SENTENCE}}}
    result, groups = judge({"modality": served}, {"modality": [[refusal] * 2] * 2})
    assert (result, groups["modality"]["result"]) == ("identical", "refused as stated")
    assert groups["modality"]["status"] == {"upstream": [200, 200], "output": [400, 400]}
    own = {"status": 400, "body": "no picture for this model"}  # upstream refuses one of the two itself
    mixed = [[own, {"status": 200, "body": {"text": "a"}}]] * 2
    assert judge({"modality": mixed}, {"modality": [[own, refusal]] * 2})[0] == "identical"
    assert judge({"modality": mixed}, {"modality": [[own, own]] * 2})[0] == "differs"
    for wrong in (
        {"status": 400, "body": "no"},
        {"status": 500, "body": {"message": SENTENCE}},
        {"status": 400, "body": SENTENCE.replace("rules/deepseek.yaml:7", "somewhere")},
        {"status": 0, "body": "RemoteDisconnected"},
    ):
        assert judge({"modality": served}, {"modality": [[refusal, wrong]] * 2})[0] == "differs"
    assert judge({"single": served}, {"single": [[refusal] * 2] * 2})[0] == "differs"  # what was not removed


def test_the_sentence_is_that_of_the_generated_module() -> None:
    """The pattern fits what the module says, so that a change of its words is noticed here."""
    space: dict[str, Any] = {}
    exec(guard.render(Policy(), Answers(gone={"d": {"*": ("r", "a rule with `keep: [a]`", ())}})), space)
    space["RULES"]["r"] = "rule r, rules/a.yaml:3"
    assert SENTENCE_PATTERN.search(space["_refusal"]("image_data", "x", None, "d", "r"))


def test_what_neither_server_answers_is_not_called_alike() -> None:
    """A prompt that upstream's own options leave in the queue for ever times out on both sides."""
    answered, silent = {"status": 200, "body": 1}, {"status": 0, "body": "TimeoutError"}
    result, groups = judge({"single": [[answered, silent]] * 2}, {"single": [[answered, silent]] * 2})
    assert (result, groups["single"]["result"]) == ("unstable", "unanswered")
    assert judge({"single": [[answered]] * 2}, {"single": [[silent]] * 2})[0] == "differs"


@pytest.mark.parametrize(
    ("up", "out", "said"),
    [
        ("ab", "aa", "upstream"),
        ("aa", "ab", "the output"),
        ("ab", "ba", "upstream and the output"),
        ("aba", "aaa", "upstream"),  # the last round is the first one again
        ("aaa", "aba", "the output"),
    ],
)
def test_an_unstable_group_says_who_did_not_repeat_itself(up: str, out: str, said: str) -> None:
    result, groups = judge({"chat": [[answer] for answer in up]}, {"chat": [[answer] for answer in out]})
    assert (result, changed(groups["chat"])) == ("unstable", said)
    assert all(groups["chat"][key] for key in ("upstream itself", "output itself") if key in groups["chat"])
