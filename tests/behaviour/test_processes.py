"""What every process of a server makes: a method that ``__init__`` calls and that is gone is a problem of the output."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from pruner.verify.behaviour.judge_layers import Layers
from pruner.verify.behaviour.probe import processes
from pruner.verify.behaviour.probe.describe import Describer

SCHEDULER = """\
class Scheduler:
    def __init__(self, server_args, port_args, gpu_id, tp_rank, dp_rank):
        assert (gpu_id, tp_rank, dp_rank) == (0, 0, None)
        self.init_backend()

    def init_backend(self):
        pass
"""
# What a drop rule leaves of a function that kept code names.
DROPPED = SCHEDULER.replace("        pass\n", '        raise NotImplementedError("this build was made without it")\n')
GONE = SCHEDULER.rpartition("    def init_backend")[0]


def tree(folder: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of these files, which is what ``import sglang`` gives from now on."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for place in path.relative_to(folder).parents[:-1]:
            (folder / place / "__init__.py").touch()
    for name in [name for name in sys.modules if name.partition(".")[0] == "sglang"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(folder))


def made(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The scheduler's row of a tree with this module."""
    tree(folder, {"sglang/srt/managers/scheduler.py": text}, monkeypatch)
    try:
        found = processes.PROCESSES["scheduler"](None, None)
    except Exception as error:
        return {"failure": Describer({str(folder): "<tree>"}).failure(error)}
    row = [["scheduler", "made", type(found).__name__]]
    return {"steps": {}, "finite": True, "layers": row, "routed": {}, "natives": {}}


@pytest.mark.parametrize(("text", "said"), [(DROPPED, "NotImplementedError: this build"), (GONE, "AttributeError: ")])
def test_what_every_scheduler_calls_and_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    up = {"scheduler": made(tmp_path / "up", SCHEDULER, monkeypatch)}
    assert list(Layers().judge(up, up)) == []
    out = {"scheduler": made(tmp_path / "out", text, monkeypatch)}
    (problem,) = Layers().judge(up, out)
    assert problem.startswith(f"scheduler: {said}") and problem.endswith("; upstream runs")
