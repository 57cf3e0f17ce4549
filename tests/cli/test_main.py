"""Arguments in, exit code out; the pipeline is played by a few lines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pruner.cli import main
from pruner.cli.commands import cores
from pruner.errors import cannot
from pruner.model import Finding, RunResult, Verdict
from pruner.pipeline.standing import telling

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class RunOptions:
    rules: tuple[Path, ...]
    upstream: str | Path | None
    output: Path
    reports: Path | None
    jobs: int
    dry_run: bool
    force: bool
    cache: Path
    overlay: Path | None = None
    trend: Path | None = None


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """A pipeline that records its options and does what the test says."""
    seen: list[RunOptions] = []
    namespace = types.SimpleNamespace(seen=seen, RunOptions=RunOptions, act=lambda: RunResult({}))

    def run(options: RunOptions, progress: Callable[[str, float], None]) -> RunResult:
        seen.append(options)
        progress("scan", 0.5)
        result: RunResult = namespace.act()
        return result

    module: Any = types.ModuleType("pruner.pipeline")
    module.RunOptions, module.run = RunOptions, run
    module.run_case = lambda folder, out, jobs: namespace.act()
    module.VerifyOptions = types.SimpleNamespace
    module.verify_output = lambda options: namespace.act()
    module.telling = telling
    monkeypatch.setitem(sys.modules, "pruner.pipeline", module)
    return namespace


def raising(error: BaseException) -> Callable[[], RunResult]:
    def act() -> RunResult:
        raise error

    return act


def test_options_reach_the_pipeline(pipeline: types.SimpleNamespace, tmp_path: Path) -> None:
    arguments = ["--rules", "a.yaml", "--rules", "b.yaml", "--upstream", "0.5.12", "--output", "o/x", "-j", "3"]
    assert main([*arguments, "--cache", str(tmp_path), "--dry-run", "--force"]) == 0
    rules = (Path("a.yaml"), Path("b.yaml"))
    assert pipeline.seen == [
        RunOptions(rules, "0.5.12", Path("o/x"), Path("o/x-reports"), 3, dry_run=True, force=True, cache=tmp_path)
    ]


def test_defaults(pipeline: types.SimpleNamespace) -> None:
    assert main(["--rules", "a.yaml"]) == 0
    (options,) = pipeline.seen
    assert (options.output, options.reports, options.upstream) == (Path("generated"), Path("reports"), None)
    assert options.jobs == cores() <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize("code", [0, 1, 3])
def test_the_result_is_the_exit_code(pipeline: types.SimpleNamespace, code: int) -> None:
    pipeline.act = lambda: RunResult({}, exit_code=code)
    assert main(["--rules", "a.yaml"]) == code


def test_a_fault_of_the_input_is_two_and_all_of_it_is_shown(
    pipeline: types.SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    pipeline.act = raising(cannot("rules/x.yaml", "PR012", "no module [matches] 'srt.hpu.*'", "nearest: x", 14, 5))
    assert main(["--rules", "a.yaml"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "rules/x.yaml:14:5: error PR012: no module [matches] 'srt.hpu.*'; nearest: x\n" in err


def test_a_fault_of_ours_is_two_with_a_traceback(
    pipeline: types.SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    pipeline.act = raising(ZeroDivisionError("x"))
    assert main(["--rules", "a.yaml"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_is_130(pipeline: types.SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    pipeline.act = raising(KeyboardInterrupt())
    assert main(["--rules", "a.yaml"]) == 130
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [[], ["--output", "x"], ["--rules"], ["--rules", "a", "-j", "0"], ["--nonsense"], ["nonsense"], ["case", "x", "y"]],
)
def test_wrong_usage_is_two(pipeline: types.SimpleNamespace, arguments: list[str]) -> None:
    assert main(arguments) == 2
    assert pipeline.seen == []


def test_data_goes_to_stdout_and_all_else_to_stderr(
    pipeline: types.SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    finding = Finding("PR210", "app.py", 3, "a store contradicts the fact")
    pipeline.act = lambda: RunResult({}, findings=(finding,), exit_code=1)
    assert main(["case", str(tmp_path), str(tmp_path / "out"), "--json"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out) == {"exit_code": 1}
    assert "app.py:3: warning PR210: a store contradicts the fact" in err


@pytest.mark.parametrize(("result", "code"), [("passed", 0), ("not run", 0), ("refuted", 3)])
def test_verify(
    pipeline: types.SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str], result: str, code: int
) -> None:
    pipeline.act = lambda: [Verdict("tokens", "3 files", result, ("app.py:1: a word was added",))]
    assert main(["verify", "--output", str(tmp_path), "--json"]) == code
    out, err = capsys.readouterr()
    assert json.loads(out)["verdicts"][0]["result"] == result
    assert ("a word was added" in err) == (result != "passed")


def test_a_required_check_that_did_not_run(
    pipeline: types.SimpleNamespace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipeline.act = lambda: [Verdict("tokens", "3 files", "passed"), Verdict("surface", "no interpreter", "not run")]
    arguments = ["verify", "--output", str(tmp_path), "--json", "--require"]
    assert main([*arguments, "tokens"]) == 0
    assert main([*arguments, "surface"]) == 2
    out, err = capsys.readouterr()
    assert '"not run"' in out and "required, but not run: surface" in err
    assert main([*arguments, "fold"]) == 2  # --check asked for others only
    assert "required, but not run: fold" in capsys.readouterr().err


def test_help_and_version_need_no_pipeline(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "--upstream" in capsys.readouterr().out
    assert main(["--version"]) == 0


def test_help_loads_no_engine() -> None:
    code = "import sys; from pruner.cli import main; main(['--help']); print(*sorted(sys.modules), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], cwd=_ROOT, capture_output=True, text=True, check=True)
    assert not {"pruner.pipeline", "libcst", "networkx", "pruner.report"} & set(done.stderr.split())


def test_control_c_leaves_the_output_as_it_was(tmp_path: Path) -> None:
    """The whole way: a real signal, the real command line and writer, a pipeline that is slow to write."""
    target = tmp_path / "out"
    target.mkdir()
    (target / "PRUNED.json").write_text("old")
    code = """
import signal, sys, time, types
from pathlib import Path
from types import SimpleNamespace
from pruner.emit import write_tree
from pruner.pipeline.standing import telling
signal.signal(signal.SIGINT, signal.default_int_handler)  # what a script starts in the background ignores the key
def run(options, progress):
    def writer(folder):
        (folder / "PRUNED.json").write_text("new")
        print("ready", flush=True)
        time.sleep(60)
    write_tree(options.output, writer)
sys.modules["pruner.pipeline"] = module = types.ModuleType("pruner.pipeline")
module.run, module.RunOptions, module.telling = run, SimpleNamespace, telling
from pruner.cli import main
sys.exit(main(["--rules", "a.yaml", "--output", sys.argv[1]]))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(target)], cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130 and "interrupted" in err
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (target / "PRUNED.json").read_text() == "old"


def test_no_command_has_an_option_twice() -> None:
    """click only warns, on the user's stderr, where two decorators bring the same option."""
    from pruner.cli.commands import prune

    commands = [prune]
    for command in commands:  # grows while it is walked
        commands += getattr(command, "commands", {}).values()
        spelt = [name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)]
        assert sorted(spelt) == sorted(set(spelt)), command.name
