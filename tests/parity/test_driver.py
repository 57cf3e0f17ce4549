"""The driver on small servers: what is alike, what differs, what is refused; results and traces on disk."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from pruner.errors import PruneError
from pruner.model import Policy
from pruner.parity import driver
from pruner.parity.cells import Cell
from pruner.parity.compare import SENTENCE as SENTENCE_PATTERN
from pruner.parity.compare import changed, judge
from pruner.parity.driver import RESULTS, SIDES, TRACES, Run, refusal, verdict
from pruner.parity.requests import ERRORS, GENERATES
from pruner.parity.results import collect
from pruner.parity.server import Host, Server
from pruner.pipeline import guard
from pruner.pipeline.asked import Answers
from tests.parity import small_server
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


def test_servers_that_die_alike_are_not_alike(tmp_path: Path) -> None:
    """Both end at the same request: what came before it is alike, and most of the cell has no answer."""
    found = record(tmp_path, *[{"dies": ("/separate_reasoning",)}] * 2)
    results = [row["result"] for row in found["groups"].values()]
    assert results[:-1] == ["identical"] * (len(results) - 1) and results[-1] == "unanswered"
    assert found["result"] == "failed" and len(results) < found["planned"] == 18
    assert found["why"] == f"{18 - len(results)} of 18 groups have no answer, from penalties on"
    assert verdict([found["result"]]) == 1


def test_a_cell_that_is_cut_is_not_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = driver.Client.each

    def each(self: Any, groups: Any) -> Any:
        for number, pair in enumerate(slow(self, groups)):
            yield pair
            if number == 2:
                time.sleep(60)

    monkeypatch.setattr(driver.Client, "each", each)
    found = record(tmp_path, {}, {}, limit=6.0)
    assert [row["result"] for row in found["groups"].values()] == ["identical"] * 3
    assert (found["result"], found["why"].partition(";")[0]) == ("failed", "cut at its limit")


def test_a_fault_of_the_client_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that ends both sides at the same place left a cell of a few groups that were alike."""
    monkeypatch.setattr(driver.Client, "flush", lambda self: 1 / 0)
    found = record(tmp_path, {}, {})
    assert found["result"] == "failed" and "asking upstream: ZeroDivisionError" in found["why"]


def test_what_an_earlier_run_left_does_not_answer(tmp_path: Path) -> None:
    """A server that a cut run left answers for the new one before that is up."""
    with socket.socket() as left:
        left.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        left.bind(("127.0.0.1", PORTS + 10))
        left.listen()
        found = record(tmp_path, {}, {})
    assert found["result"] == "failed" and f"port {PORTS + 10} is taken" in found["why"]


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
    assert (result, groups["single"]["result"]) == ("failed", "unanswered")
    again = [[answered, answered], [answered, silent]]  # upstream answers sometimes, the output never
    assert judge({"single": again}, {"single": [[answered, silent]] * 2})[0] == "failed"
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


@pytest.mark.parametrize(("up", "out"), [(1, 1.0), (1, True), (0, False), (0.0, -0.0), ("1", 1), ([], {}), (None, 0)])
def test_what_python_calls_equal_is_not_alike(up: Any, out: Any) -> None:
    """Bit for bit, field by field: Python says True == 1 == 1.0 and 0.0 == -0.0."""
    bodies = [[{"status": 200, "body": {"x": [value]}}] for value in (up, out)]
    result, groups = judge({"chat": [bodies[0]] * 2}, {"chat": [bodies[1]] * 2})
    assert result == "differs" and groups["chat"]["differences"]
    assert judge({"chat": [bodies[0]] * 2}, {"chat": [bodies[0]] * 2})[0] == "identical"


def test_no_number_is_alike_to_itself() -> None:
    body = [[{"status": 200, "body": json.loads('{"x": NaN}')}] for _ in range(4)]
    assert judge({"chat": body[:2]}, {"chat": body[2:]})[0] == "identical"
    assert judge({"chat": body[:2]}, {"chat": [[{"status": 200, "body": {"x": 1.0}}]] * 2})[0] == "differs"


def test_half_a_surrogate_pair_is_an_answer() -> None:
    body = [[{"status": 200, "body": json.loads('"\\ud800"')}]] * 2
    assert judge({"chat": body}, {"chat": body})[0] == "identical"


@pytest.mark.parametrize("out", [[], [[]]])
def test_no_answers_are_not_alike(out: Any) -> None:
    up = [[{"status": 200, "body": 1}]] * 2
    assert judge({"chat": up}, {"chat": out})[0] == "differs"
    assert judge({"chat": out}, {"chat": up})[0] == "differs"


def test_an_unstable_request_hides_no_other() -> None:
    """Upstream does not repeat itself in one request of a group, and the output never answers the other one as it does."""

    def rounds(*pairs: tuple[Any, Any]) -> list[list[Any]]:
        return [[{"status": 200, "body": body} for body in pair] for pair in pairs]

    up = rounds(("a", "x"), ("b", "x"))
    assert judge({"chat": up}, {"chat": rounds(("c", "x"), ("a", "x"))})[0] == "unstable"
    assert judge({"chat": up}, {"chat": rounds(("a", "y"), ("b", "y"))})[0] == "differs"


@pytest.mark.parametrize(
    "wrong",
    [
        {"status": 500, "body": {"text": "a", "ids": [1]}},
        {"status": 200, "body": {"text": "a"}},
        {"status": 200, "body": 1},
    ],
)
def test_an_unstable_upstream_hides_no_error(wrong: Any) -> None:
    """Its numbers vary, its status and its fields do not."""
    up = [[{"status": 200, "body": {"text": text, "ids": [number]}}] for number, text in enumerate("ab")]
    good = [[{"status": 200, "body": {"text": text, "ids": [number, 2]}}] for number, text in enumerate("cd")]
    assert judge({"chat": up}, {"chat": good})[0] == "unstable"
    assert judge({"chat": up}, {"chat": [[wrong], [wrong]]})[0] == "differs"


def test_servers_that_can_do_nothing_are_not_alike() -> None:
    """The same error to each request, or the same answer without a token; the groups that ask for errors have theirs."""
    error = [[{"status": 500, "body": {"error": "no kernel"}}]] * 2
    empty = [[{"status": 200, "body": {"output_ids": []}}]] * 2
    whole = [[{"status": 200, "body": {"output_ids": [1]}}]] * 2
    assert [judge({name: error}, {name: error})[0] for name in ("single", "chat", "bad", "no-weights")] == [
        *("failed", "failed", "identical", "identical")
    ]
    assert judge({"single": empty}, {"single": empty})[1]["single"]["result"] == "unanswered"
    assert judge({"chat": empty}, {"chat": empty})[0] == "identical"
    for other in (empty, error):
        assert judge({"single": whole}, {"single": other})[0] == "differs"
        assert judge({"single": other}, {"single": whole})[0] == "differs"


def test_a_cell_of_servers_that_refuse_everything_is_not_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        small_server, "SERVER", small_server.SERVER.replace("self.send(200, made)", "self.send(500, made)")
    )
    found = record(tmp_path, {}, {})
    assert found["result"] == "failed" and found["groups"]["chat"]["result"] == "identical"
    assert found["groups"]["batch"]["result"] == "unanswered"


def test_which_groups_ask_for_what() -> None:
    assert {"bad", "modality", "no-weights", "one-weight"} == ERRORS
    assert {"single", "batch", "long", "stream", "adapted", "evicted"} < GENERATES
    assert not {"chat", "text", "bad", "modality", "parsers", "abort", "metric-names"} & GENERATES


CLASHES = (
    "RuntimeError: [Errno 98] error while attempting to bind on address: address already in use",
    "Error: code: -98, name: EADDRINUSE",
)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("said", [*CLASHES, "ValueError: no such option"])
def test_a_port_that_another_cell_has_is_nobodys_difference(tmp_path: Path, side: str, said: str) -> None:
    servers = {}
    for name in SIDES:
        program = f"import sys; sys.exit({said!r})" if name == side else "import time; time.sleep(60)"
        servers[name] = Server([sys.executable, "-c", program], {}, tmp_path / name)
    try:
        servers[side].process.wait(30)
        other = next(name for name in SIDES if name != side)
        found = refusal(servers, {other: 1.0})
        assert found["why"].keys() == {side}
        assert found["result"] == ("differs" if side == "output" and said not in CLASHES else "failed")
    finally:
        for server in servers.values():
            server.stop()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_run_that_is_ended_leaves_no_server(tmp_path: Path, number: signal.Signals) -> None:
    """In threads that wait for servers with children of their own, one of which hears no polite word."""
    code = """
import subprocess, sys, threading, time
from pathlib import Path
from pruner.parity.__main__ import listen
from pruner.parity.server import Server
listen()
deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
command = [sys.executable, "-c", f"import subprocess, sys; subprocess.run([sys.executable, '-c', {deaf!r}])"]
servers = [Server(command, {}, Path(sys.argv[1], f"{n}.log")) for n in range(2)]
while any(len(server.members()) < 2 for server in servers):
    time.sleep(0.05)
thread = threading.Thread(target=servers[0].process.wait)
thread.start()
print(*(server.process.pid for server in servers), flush=True)
thread.join()
"""
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True) as driven:
        assert driven.stdout is not None
        sessions = {int(word) for word in driven.stdout.readline().split()}
        assert len(sessions) == 2
        driven.send_signal(number)
        assert driven.wait(20) == 128 + number
    end = time.monotonic() + 10
    while (left := _alive(sessions)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not left


def _alive(sessions: set[int]) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, IndexError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) in sessions and fields[0] != "Z":
                found.append(entry.name)
    return found
