"""Two trees' servers as each other's peers: what an answer is held to, and what is no answer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pruner.parity import meeting
from pruner.parity.meeting import MEETINGS, Meeting, judged, one, requests, with_references
from pruner.parity.server import Host
from tests.parity.small_server import write

PORT = 24500 + 150 * (os.getpid() % 50)


def test_what_others_are_held_to_runs_with_them() -> None:
    names = [met.name for met in with_references(["pd-output-output"])]
    assert names == ["pd-upstream-upstream", "pd-output-output"]
    assert with_references(["nodes-output-other"])[0].name == "nodes-upstream-upstream"
    assert with_references([met.name for met in MEETINGS]) == list(MEETINGS)


def told(sides: str, **more: Any) -> dict[str, Any]:
    return {"kind": "pd", "sides": sides.split(), "must refuse": "other" in sides, "said": [], **more}


def test_only_answers_are_alike() -> None:
    refusal = "peer a runs another build (b) than this one (c); install the same generated tree on both sides"
    rows = [
        told("upstream upstream", answers="x"),
        told("output upstream", answers="x"),
        told("upstream output", answers="y"),
        told("output output"),
        told("output other", said=[refusal]),
        told("output other", said=[refusal], answers="x"),
        told("output other"),
        told("output other", why="driver: OSError: port 1 is taken"),
    ]
    assert [row["result"] for row in judged(iter(rows))] == [
        *("identical", "identical", "differs", "differs", "refused as stated", "differs", "differs", "failed")
    ]


def test_a_part_of_the_answers_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two servers that are cut after the same request would have one digest."""
    trees = {side: write(tmp_path / side) for side in ("upstream", "output")}
    host = Host(tmp_path / "work")
    monkeypatch.setattr(meeting, "TWO", {})
    met = Meeting("nodes", ("upstream", "output"))
    whole = one(host, trees, met, PORT, 30.0)
    assert whole["requests"] == len(requests("nodes")) and "answers" in whole and "why" not in whole
    ask = meeting.Client.send
    calls = []

    def send(self: Any, request: Any) -> dict[str, Any]:
        calls.append(1)
        return ask(self, request) if len(calls) < 3 else {"status": 0, "body": "TimeoutError"}

    monkeypatch.setattr(meeting.Client, "send", send)
    cut = one(host, trees, met, PORT + 100, 30.0)
    assert "answers" not in cut and cut["statuses"] == [200, 200, 0]
    assert cut["why"] == f"{len(requests('nodes')) - 3} of {len(requests('nodes'))} requests have no answer"


def test_a_meeting_says_which_builds_met(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trees = {side: write(tmp_path / side) for side in ("upstream", "output")}
    guard = tmp_path / "output" / "sglang" / "_prune_guard.py"
    guard.write_text('DIGEST = "sha256:' + "a" * 64 + '"\n')
    monkeypatch.setattr(meeting, "TWO", {})
    monkeypatch.setattr(meeting, "FIRST_PORT", PORT + 20)
    monkeypatch.setattr(meeting, "card", lambda: {"name": "test", "driver": "", "count": "2"})
    monkeypatch.setattr(meeting.checkpoint, "write", lambda *_: None)
    met = [Meeting("nodes", ("upstream", "upstream"))]
    (record,) = meeting.meet(Host(tmp_path / "work"), trees, tmp_path / "results", met, 1, 30.0)
    other = "sha256:" + "0" * 8 + "a" * 56
    assert record["build"] == {"upstream": "", "output": "sha256:" + "a" * 64, "other": other}
    assert record["result"] == "identical"
    assert json.loads((tmp_path / "results" / "meetings.jsonl").read_text()) == record
