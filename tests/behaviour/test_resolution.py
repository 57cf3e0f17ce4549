"""Arguments are compared as a launcher has them: resolved, whether making them does that or a method that it calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pruner.verify.behaviour.judge_arguments import Arguments
from pruner.verify.behaviour.licence import Licences
from pruner.verify.behaviour.probe import arguments
from pruner.verify.behaviour.probe.describe import Describer
from pruner.verify.behaviour.statics import Side
from tests.behaviour.test_processes import tree

MADE = """\
class ServerArgs:
    def __init__(self, words):
        self.backend = None
        self.speculative_draft_model_path = None
        {made}

    {method}
        {resolved}

    def check_server_args(self):
        pass


def prepare_server_args(words):
    return ServerArgs(words)
"""
ONCE = ("pass", "def resolve_once(self):")
EARLY = ("self._resolve()", "def _resolve(self):")


def row(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the probe says of a tree with this module of arguments."""
    tree(folder, {"sglang/srt/server_args.py": text, "sglang/srt/entrypoints/engine.py": ""}, monkeypatch)
    return arguments.resolve(["--x"], Describer({str(folder): "<tree>"}))


@pytest.mark.parametrize(("made", "method"), [ONCE, EARLY])
@pytest.mark.parametrize(
    ("upstream", "output", "problem"),
    [
        ("self.backend = 'fa3'", "self.backend = 'fa3'", ""),
        ("self.backend = 'fa3'", "self.backend = 'triton'", "triton"),
        (
            "self.backend = 'fa3'",
            "raise ImportError('this build was made without it')",
            "this build was made without it",
        ),
    ],
)
def test_what_the_launcher_resolves_is_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str, method: str, upstream: str, output: str, problem: str
) -> None:
    rows = [
        row(tmp_path / name, MADE.format(made=made, method=method, resolved=text), monkeypatch)
        for name, text in (("up", upstream), ("out", output))
    ]
    assert rows[0]["arguments"]["backend"] == "fa3"
    licences = Licences([], {}, Side(tmp_path / "out", ""), frozenset())
    found = list(Arguments(licences).judge({"plain": rows[0]}, {"plain": rows[1]}))
    assert bool(found) == bool(problem) and all(problem in line for line in found[:1]), found


@pytest.mark.parametrize(("kept", "same"), [(40, True), (39, False)])
def test_a_long_list_of_choices_may_be_short_after_the_rules(kept: int, same: bool, tmp_path: Path) -> None:
    """A text over 400 characters is told by its digest; what rules took of a list decides whether it is."""
    describer = Describer({})
    long = [f"kept_choice_{number}" for number in range(kept)]
    gone = [f"choice_{number}" for number in range(400)]
    dropped = [("r.choices", f"pkg.CHOICES[{name}]") for name in gone]
    licences = Licences(dropped, {}, Side(tmp_path, ""), frozenset())
    rows = [
        {"arguments": {}, "view": {}, "model": arguments.failed(ValueError(f"Must be one of {names}."), describer)}
        for names in ([*long[:5], *gone, *long[5:10]], long[:10])
    ]
    wrong = {**rows[1], "model": arguments.failed(ValueError(f"Must be one of {long[: kept - 30]}."), describer)}
    found = list(Arguments(licences).judge({"set": rows[0]}, {"set": rows[1] if same else wrong}))
    assert (found == []) is same, found
