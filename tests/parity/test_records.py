"""``prune parity --collect`` on results as they may lie about: one located message, or a table that is true."""

from __future__ import annotations

import gzip
import io
import json
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from pruner.cli import main
from pruner.parity import __main__ as host
from pruner.parity.cells import CELLS
from pruner.parity.driver import Run, add, append, build_of, finished, verdict
from pruner.parity.server import Host
from tests.parity.results import DIGEST, packed, row, zipped

OTHER = "sha256:" + "b" * 64
RULES = "rules:\n  - {id: t.root, because: It starts here., root: [pkg.app]}\n"
LINES = {"pkg/app.py": [0, 1, 2, 5], "pkg/__init__.py": [0]}  # a module starts at 0, which is no line


def build() -> None:
    """Prune ``in`` to ``out``, as the build that the rows of these tests speak of."""
    assert main(["--rules", "rules.yaml", "--upstream", "in", "--output", "out", "-j", "1"]) == 0
    manifest = json.loads(Path("out/PRUNED.json").read_text())
    Path("out/PRUNED.json").write_text(json.dumps({**manifest, "digest": DIGEST}))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run with its reports, and what two servers would show of it."""
    folder = tmp_path / "in" / "pkg"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "app.py").write_text("def f(x):\n    return x\n\n\nf(1)\n")
    (tmp_path / "rules.yaml").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRUNE_CACHE", str(tmp_path / "cache"))
    build()
    return tmp_path


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in row().items() if name != key}


def trace(lines: Any = LINES) -> dict[str, Any]:
    sides = {"upstream": lines, "output": {}}
    return {side: {"processes": {"main": 2}, "modules": ["pkg"], "lines": ran} for side, ran in sides.items()}


def left(name: str, *rows: Any, traces: bytes | None = None, raw: bytes | None = None, bench: Any = None) -> str:
    """A folder of results."""
    folder = Path(name)
    folder.mkdir()
    if bench is None:
        (folder / "cells.jsonl").write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in rows) + (raw or b""))
    else:
        (folder / "bench.jsonl").write_text(json.dumps(bench) + "\n")
    if traces is not None:
        (folder / "traces.tar").write_bytes(traces)
    return name


def collect(capsys: pytest.CaptureFixture[str], *folders: str, more: tuple[str, ...] = ()) -> tuple[int, str, str]:
    capsys.readouterr()
    words = [word for folder in folders for word in ("--collect", folder)]
    code = main(["parity", *words, "--rules", "rules.yaml", "--upstream", "in", "--output", "out", *more])
    said = capsys.readouterr()
    assert "Traceback" not in said.err, said.err
    return code, said.out, " ".join(said.err.split())  # a console breaks long lines


def test_a_true_table(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = left("wörk ✓", row(), row("lora", card={"name": "H100"}), traces=packed(bf16_triton=zipped(trace())))
    code, out, err = collect(capsys, folder)
    assert (code, err) == (0, "")
    assert "| bf16-triton | H200 | identical (1 identical) | 2 | 5 | 3, 0 |" in out
    assert "| lora | H100 | identical (1 identical) | 2 | 5 | -, - |" in out
    assert "| tp2 | 2 card(s); no result of it is here |" in out
    assert json.loads(Path("out-reports/parity/summary.json").read_text())["cells"].keys() == {"bf16-triton", "lora"}
    assert "5 Python lines are kept, 3 of them ran: 1.67 to one." in out


def test_what_went_and_ran_is_no_kept_line(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bodies of modules that went ran in upstream: counted among what ran, they made the output look tight."""
    Path("in/pkg/gone.py").write_text("A = 1\nB = 2\nC = 3\n")
    Path("in/pkg/idle.py").write_text("D = 4\n")
    Path("in/pkg/app.py").write_text(
        "def f(x):\n    if x:\n        import pkg.idle\n        return pkg.idle.D\n    return x\n\n\nf(0)\n"
    )
    build()
    lines = {"pkg/app.py": [1, 2, 5, 8], "pkg/__init__.py": [0], "pkg/gone.py": [1, 2, 3]}
    code, out, _ = collect(capsys, left("r", row(), traces=packed(bf16_triton=zipped(trace(lines)))))
    assert code == 0 and "9 Python lines are kept, 4 of them ran: 2.25 to one." in out
    assert "| pkg/idle.py | 1 | pkg.idle [read at pkg/app.py:4] |" in out
    found = json.loads(Path("out-reports/parity/summary.json").read_text())["tightness"]
    assert (found["executed lines"], found["executed lines that are kept"]) == (7, 4)
    assert found["largest folders"] == [["pkg", 9, 4, 2.2, "pkg.app  [root]"]]


def test_a_large_folder_is_told_in_parts(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each kept line is in one folder of the table, with the edge by which the shortest path comes in."""
    for name in ("heavy/inner", "light"):
        Path(f"in/pkg/{name}").mkdir(parents=True)
        Path(f"in/pkg/{name}/__init__.py").write_text("")
    Path("in/pkg/heavy/__init__.py").write_text("")
    Path("in/pkg/heavy/inner/mod.py").write_text("A = 1\n" * 20)
    Path("in/pkg/heavy/own.py").write_text(
        "import pkg.heavy.inner.mod\n\n\ndef g():\n    return pkg.heavy.inner.mod.A\n"
    )
    Path("in/pkg/light/mod.py").write_text("B = 2\n")
    Path("in/pkg/app.py").write_text(
        "import pkg.light.mod\nfrom pkg.heavy.own import g\n\n\ndef f():\n    return g() + pkg.light.mod.B\n\n\nf()\n"
    )
    build()
    lines = {"pkg/app.py": [1, 2, 5, 6, 9], "pkg/heavy/own.py": [1, 4, 5], "pkg/heavy/inner/mod.py": list(range(1, 21))}
    code, out, _ = collect(capsys, left("r", row(), traces=packed(bf16_triton=zipped(trace(lines)))))
    assert code == 0 and "| pkg/heavy/inner | 20 | 20 | 1.0 | pkg.heavy.inner.mod [read at pkg/heavy/own.py:5] |" in out
    found = json.loads(Path("out-reports/parity/summary.json").read_text())["tightness"]
    assert [row[:3] for row in found["largest folders"]] == [
        ["pkg/heavy/inner", 20, 20], ["pkg", 9, 5], ["pkg/heavy", 5, 3], ["pkg/light", 1, 0],
    ]  # fmt: skip
    assert sum(row[1] for row in found["largest folders"]) == found["kept lines"]


WRONG = {
    "a list": ([1], "not a row of a parity run"),
    "a number": (5, "not a row of a parity run"),
    "no schema": (without("schema"), "not a row of a parity run"),
    "a newer schema": (row(schema="prune-parity/2"), "a row of the format 'prune-parity/2'"),
    "no cell": (without("cell"), "without a name"),
    "a cell that is a path": (row("../../x"), "without a name"),
    "no card": (without("card"), "it names no card"),
    "no result": (without("result"), "its result is None"),
    "a result of its own": (row(result="passed"), "its result is 'passed'"),
    "groups that are a list": (row(groups=[1]), "its groups of requests are not whole"),
    "half a group": (row(groups={"single": {"result": "identical"}}), "its groups of requests are not whole"),
    "identical, and nothing was asked": (row(groups={}), "it says identical, and its groups do not"),
    "identical, and a group differs": (
        row(groups={"a": {"result": "differs", "requests": 1}}),
        "it says identical, and its groups do not",
    ),
    "unstable, and a group differs": (
        row(result="unstable", groups={"a": {"result": "differs", "requests": 1}}),
        "it says unstable, and a group differs",
    ),
    "another build": (
        row(**{"prune digest": {"upstream": "", "output": OTHER}}),
        "PR603: bf16-triton: it ran build bbbbbbbb, and the output is build aaaaaaaa",
    ),
    "the driver saw another tree": (row(build={"upstream": "", "output": OTHER}), "it ran build bbbbbbbb"),
    "upstream on both sides": (
        row(**{"prune digest": {"upstream": "", "output": ""}}),
        "the server that ran shows no prune digest",
    ),
    "the output on both sides": (
        row(**{"prune digest": {"upstream": DIGEST, "output": DIGEST}}),
        "what it compares with is not upstream",
    ),
    "no build": (without("prune digest"), "names no build; an earlier prune wrote it"),
    "a build that is a word": (row(**{"prune digest": "x"}), "names no build that can be read"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_row_is_one_located_message(name: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong, text = WRONG[name]
    code, out, err = collect(capsys, left("r", row("lora"), wrong))
    assert (code, out) == (2, "") and err.startswith("r/cells.jsonl:2: error PR60") and text in err
    assert not Path("out-reports/parity").exists()


def test_what_a_cut_run_left_is_told_and_the_rest_counts(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole = packed(bf16_triton=zipped(trace()), lora=zipped(trace()))
    second = whole.index(b"lora.json.gz")
    folder = left("r", row(), raw=json.dumps(row("lora")).encode()[:70], traces=whole[: second + 600])
    code, out, err = collect(capsys, folder)
    assert code == 0 and "| bf16-triton | H200 | identical (1 identical) | 2 | 5 | 3, 0 |" in out
    assert "r/cells.jsonl:2: warning PR602: not a whole row" in err and "r/traces.tar: warning PR602: cut short" in err
    assert "| lora | 1 card(s); no result of it is here |" in out


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n\n",
        b'{"cell": "bf16-tri',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"a": "]", "b": [' * 50_000,
    ],
)
@pytest.mark.parametrize("limit", [1000, 20_000])
def test_no_result_is_not_a_result(limit: int, raw: bytes, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The engine raises the limit of recursion, with which Python's parser of JSON overran its stack: the process died."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, before))
    try:
        code, out, err = collect(capsys, left("r", raw=raw))
    finally:
        sys.setrecursionlimit(before)
    assert (code, out) == (2, "") and "r: error PR601: holds no result of a cell or benchmark of this plan" in err


def test_a_cell_of_another_plan_is_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = left("r", row("fp4-warp"), row(), traces=packed(fp4_warp=zipped(trace())))
    code, out, err = collect(capsys, folder)
    assert code == 0 and "r/cells.jsonl:1: warning PR602: no cell is called fp4-warp; left out" in err
    assert "fp4-warp" not in out and "executed" not in json.loads(Path("out-reports/parity/summary.json").read_text())


TRACES = {
    "no archive": (b"x" * 5000, "not an archive of traces"),
    "an empty file": (b"", "not an archive of traces"),
    "no gzip": (packed(bf16_triton=b"plain"), "not a recorded trace (BadGzipFile)"),
    "half a gzip": (packed(bf16_triton=zipped(trace())[:-9]), "not a recorded trace (EOFError)"),
    "no JSON": (packed(bf16_triton=gzip.compress(b"{")), "not a recorded trace (JSONDecodeError)"),
    "no end of brackets": (packed(bf16_triton=gzip.compress(b"[" * 100_000)), "not a recorded trace (ValueError)"),
    "another shape": (packed(bf16_triton=zipped([1])), "not a recorded trace (TypeError)"),
    "one side": (packed(bf16_triton=zipped({"output": trace()["output"]})), "not a recorded trace (KeyError)"),
    "lines that are words": (packed(bf16_triton=zipped(trace({"pkg/app.py": ["a"]}))), "not a recorded trace"),
    "a file of another release": (
        packed(bf16_triton=zipped(trace({"pkg/gone.py": [1]}))),
        "bf16-triton: it ran pkg/gone.py, which in does not have: traces of another release",
    ),
    "a line of another release": (
        packed(bf16_triton=zipped(trace({"pkg/app.py": [1, 400]}))),
        "bf16-triton: it ran line 400 of pkg/app.py, which in does not have",
    ),
}


@pytest.mark.parametrize("name", TRACES)
def test_a_wrong_archive_is_one_located_message(name: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, text = TRACES[name]
    code, out, err = collect(capsys, left("r", row(), traces=data))
    assert (code, out) == (2, "") and err.startswith("r/traces.tar: error PR602: ") and text in err


def test_members_that_lead_out_are_read_nowhere(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as file:
        for name, kind in (("../../bf16-triton.json.gz", tarfile.REGTYPE), ("bf16-triton.json.gz", tarfile.SYMTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd" if kind == tarfile.SYMTYPE else ""
            content = zipped(trace()) if kind == tarfile.REGTYPE else b""
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    code, out, _ = collect(capsys, left("r", row(), traces=data.getvalue()))
    assert code == 0 and "| bf16-triton | H200 | identical (1 identical) | 2 | 5 | -, - |" in out


def test_an_earlier_answer_is_not_forgotten(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Asking until it is alike leaves a mark; a cell that was not run again takes nobody's place."""
    first = left("a", row(result="differs"), row("lora", "unstable"))
    again = left("b", row(), row("lora", "not run", groups={}))
    code, out, _ = collect(capsys, first, again)
    assert code == 0 and "| bf16-triton | H200 | identical (1 identical; earlier: differs) |" in out
    assert "| lora | H200 | unstable (1 unstable; an unrecorded side did not repeat itself in single) |" in out
    assert collect(capsys, again, first)[0] == 3


def test_what_collecting_adds_is_not_read(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines that no trace has, and answers of no earlier row."""
    made = {"executed": {"missing": 0, "kept": 9}, "earlier": [{}], "modules": 5, "trees": None}
    code, out, _ = collect(capsys, left("a", row(**made)))
    assert code == 0 and "| bf16-triton | H200 | identical (1 identical) | 2 | 5 | -, - |" in out


def test_who_did_not_repeat_itself_is_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    group = {"result": "unstable", "requests": 1}
    groups = {name: {**group, "upstream itself": [": 1 | 2"]} for name in "abcdef"} | {
        "z": {**group, "output itself": []}
    }
    code, out, _ = collect(capsys, left("a", row("lora", "unstable", groups=groups)))
    assert code == 0
    said = "upstream did not repeat itself in a, b, c, d and 2 more; the output did not repeat itself in z"
    assert f"| unstable (7 unstable; {said}) |" in out


def test_what_was_not_compared_is_not_called_alike(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing = {"groups": {}, "why": "no card"}
    for number, result in enumerate(("failed", "refused by both", "not run")):
        code, out, _ = collect(capsys, left(str(number), row(result=result, **nothing)))
        assert code == 1 and f"| bf16-triton | H200 | {result} (nothing compared; no card) | 0 | 0 |" in out
    assert "| bf16-triton | 1 card(s); no card |" in out
    assert collect(capsys, left("both", row("lora"), row(result="failed", **nothing)))[0] == 1
    assert [verdict(found) for found in ([], ["identical", "not run"], ["failed", "differs"])] == [1, 0, 3]


def test_a_cell_that_was_not_compared_whole_is_not_called_alike(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cut at its limit, groups without a row, a group that neither answered: the rest may be alike."""
    unanswered = {"a": {"result": "identical", "requests": 1}, "b": {"result": "unanswered", "requests": 1}}
    for number, (more, said) in enumerate(
        (
            ({"why": "cut at its limit"}, "failed (1 identical; cut at its limit)"),
            ({"why": "cut at its limit", "result": "unstable"}, "failed (1 identical; cut at its limit)"),
            ({"planned": 2}, "failed (1 identical)"),
            ({"result": "unstable", "groups": unanswered}, "failed (1 identical; 1 unanswered)"),
        )
    ):
        code, out, _ = collect(capsys, left(str(number), {**row(), **more}))
        assert code == 1 and f"| bf16-triton | H200 | {said} |" in out
    assert collect(capsys, left("whole", row(planned=1)))[0] == 0


def test_a_row_of_another_build_gives_way(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder in which the build before ran, too: what this one ran counts, and what it did not run is not said of it."""
    old = {"prune digest": {"upstream": "", "output": OTHER}}
    for number, rows in enumerate(((row(result="differs", **old), row()), (row(), row(result="differs", **old)))):
        code, out, err = collect(capsys, left(str(number), *rows))
        assert code == 0 and "| bf16-triton | H200 | identical (1 identical) | 2 | 5 |" in out
        assert (
            "it ran build bbbbbbbb, and the output is build aaaaaaaa; left out, there is a result of this build" in err
        )
    code, out, err = collect(capsys, left("alone", row(), row("lora", **old)))
    assert (code, out) == (2, "") and err.startswith("alone/cells.jsonl:2: error PR603")


def test_local_changes_are_another_build(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two overlays on one tree: the head of the digest is the same."""
    with_changes = row(**{"prune digest": {"upstream": "", "output": f"{DIGEST}+{'c' * 16}"}})
    code, _, err = collect(capsys, left("r", with_changes))
    assert code == 2 and "it ran build aaaaaaaa+cccccccc, and the output is build aaaaaaaa" in err


def test_text_that_is_none_is_written(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A server may answer half a surrogate pair; a log line may hold what parts a table."""
    group = {"result": "differs", "requests": 1, "differences": ["x: \ud800 | a"]}
    folder = left(
        "r", row(result="differs", groups={"a": group}), row("lora", "failed", groups={}, why="a | b\nc \ud800")
    )
    code, out, _ = collect(capsys, folder)
    assert code == 3 and "nothing compared; a \\| b c" in out
    assert json.loads(Path("out-reports/parity/bf16-triton.json").read_text())["groups"]["a"] == group


def test_benches(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratio = {"upstream": 1, "output": 2, "ratio": 2, "processes": [2, 2], "upstream's processes": [1, 1]}
    one = {"schema": "prune-parity/1", "bench": "one-batch", "figures": {"x": ratio}}
    code, out, _ = collect(capsys, left("a", bench=one))
    assert code == 0 and "## one-batch (build not recorded)" in out and "| x | 1 | 2 | 2 | 2 | 1 to 1 |" in out
    code, out, _ = collect(capsys, left("b", bench={**one, "build": {"upstream": "", "output": DIGEST}}))
    assert code == 0 and "## one-batch\n" in out
    code, out, _ = collect(capsys, left("c", bench={**one, "figures": {"failed": "no time left"}}))
    assert code == 1 and 'Failed: "no time left"' in out
    wrong: dict[str, dict[str, Any]] = {
        "without a name": {"bench": "../x"},
        "it has no figures": {"figures": [1]},
        "x has no processes": {"figures": {"x": {**ratio, "processes": []}}},
        "y has no processes or no upstream's processes": {
            "figures": {"bench_serving": {"y": {**ratio, "processes": [2, "a"], "upstream's processes": 5}}}
        },
        "z has no output": {"figures": {"z": {**ratio, "output": "2"}}},
        "its figures of bench_serving are no table": {"figures": {"bench_serving": []}},
        "it ran build bbbbbbbb": {"build": {"upstream": "", "output": OTHER}},
    }
    for number, (text, change) in enumerate(wrong.items()):
        code, _, err = collect(capsys, left(str(number), bench={**one, **change}))
        assert code == 2 and err.startswith(f"{number}/bench.jsonl:1: error PR60") and text in err


def test_an_output_or_a_place_that_cannot_be_used(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = left("r", row())
    Path("out-reports/parity").write_text("")
    assert "out-reports/parity: error PR310: cannot be written" in collect(capsys, folder)[2]
    for text in ("{", "[]", "{}"):
        Path("out/PRUNED.json").write_text(text)
        code, _, err = collect(capsys, folder)
        assert code == 2 and err.startswith("out/PRUNED.json: error PR306: not a manifest")


def test_options_that_say_nothing_here(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = left("r", row())
    for option, value in (("--work", "w"), ("--bench", "tiny"), ("--arguments", "--only x")):
        code, _, err = collect(capsys, folder, more=(option, value))
        assert code == 2 and f"{option}: is for what runs on this host's cards, so it needs --gpu" in err
    code, _, err = collect(capsys, folder, more=("--gpu", "--arguments", "--only 'x"))
    assert code == 2 and "--arguments: No closing quotation" in err


def a_tree(folder: Path, digest: str = "") -> Path:
    (folder / "sglang").mkdir(parents=True)
    (folder / "sglang" / "__init__.py").write_text("")
    if digest:
        (folder / "sglang" / "_prune_guard.py").write_text(f'"""Guards."""\n\nDIGEST = "{digest}"\n')
    return folder


def called(capsys: pytest.CaptureFixture[str], folder: Path, kind: str, *words: str) -> tuple[int, str]:
    trees = [str(folder / "up"), str(folder / "out")]
    capsys.readouterr()
    try:
        code = host.main([kind, *trees, "--work", str(folder / "w"), "--results", str(folder / "r"), *words])
    except SystemExit as end:  # argparse
        code = int(end.code or 0)
    said = capsys.readouterr()
    return code, said.out + said.err


def test_a_run_that_runs_nothing_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    a_tree(tmp_path / "up"), a_tree(tmp_path / "out", DIGEST)
    cards = {"name": "none", "driver": "", "count": "0"}
    monkeypatch.setattr(host, "card", lambda: cards)
    for kind, words, text in (
        ("run", ["--only", "bf16-tritn"], "no cell is called bf16-tritn; there are bf16-triton, "),
        ("run", ["--skip", "bf16-tritn"], "no cell is called bf16-tritn"),
        ("meet", ["--only", "up-down"], "no meeting is called up-down"),
        ("bench", ["--skip", "speed"], "no bench is called speed"),
        ("bench", ["--only", "serving", "--skip", "serving"], "no bench is left to run"),
        ("run", ["--slots", "0"], "--slots"),
        ("bench", ["--pairs", "-1"], "--pairs"),
        ("run", [], "a cell needs more cards than the 0 that nvidia-smi lists"),
        ("meet", [], "a meeting needs more cards than the 0 that nvidia-smi lists"),
    ):
        code, said = called(capsys, tmp_path, kind, *words)
        assert code == 2 and text in said, said
    cards["count"] = "1"
    assert called(capsys, tmp_path, "run", "--cards", "7")[1] == "no cell is left to run\n"
    assert "a meeting needs more cards than the 1" in called(capsys, tmp_path, "meet")[1]
    monkeypatch.setattr(host.Run, "run", lambda *_: __import__("not_here"))
    assert "this Python has no not_here" in called(capsys, tmp_path, "run")[1]
    trees = [str(tmp_path / "out"), str(tmp_path / "up")]  # as nobody would see before the results are collected
    assert host.main(["run", *trees, "--work", str(tmp_path / "w"), "--results", str(tmp_path / "r")]) == 2
    assert "upstream: out is a pruned tree" in capsys.readouterr().err
    (tmp_path / "r").rmdir()
    (tmp_path / "r").write_text("")
    code, said = called(capsys, tmp_path, "run")
    assert code == 2 and "r: cannot be written: " in said


def test_a_run_goes_on_from_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells with an answer of this build are not run again; of another build, failed or half written, they are."""
    trees = {"upstream": a_tree(tmp_path / "up"), "output": a_tree(tmp_path / "out", DIGEST)}
    assert {side: build_of(tree) for side, tree in trees.items()} == {"upstream": "", "output": DIGEST}
    build = {"upstream": "", "output": DIGEST}
    for cell, result, made in (
        ("bf16-triton", "differs", build),
        ("lora", "failed", build),
        ("hicache", "identical", {**build, "output": OTHER}),
    ):
        (tmp_path / "r").mkdir(exist_ok=True)
        append(tmp_path / "r" / "cells.jsonl", row(cell, result, build=made))
    with (tmp_path / "r" / "cells.jsonl").open("a") as file:
        file.write(json.dumps(row("metrics", build=build))[:90])
    asked: list[list[str]] = []

    def run(_: Run, cells: Any) -> list[dict[str, Any]]:
        asked.append([cell.name for cell in cells])
        return []

    monkeypatch.setattr(host, "card", lambda: {"name": "one", "driver": "", "count": "1"})
    monkeypatch.setattr(host.Run, "run", run)
    code, said = called(capsys, tmp_path, "run")
    assert code == 3 and "1 cells of this build are in r already" in said
    assert asked == [[cell.name for cell in CELLS if cell.name != "bf16-triton"]]
    called(capsys, tmp_path, "run", "--only", "bf16-triton")
    assert asked[1:] == [["bf16-triton"]]
    append(tmp_path / "r" / "cells.jsonl", row("tp2", build=build))  # after half a row
    here = Run(Host(tmp_path / "w"), trees, tmp_path / "r", 1.0)
    assert finished(here) == {"bf16-triton": "differs", "tp2": "identical"}
    append(tmp_path / "r" / "cells.jsonl", row("tp2", "failed", build=build))  # asked again: the last answer counts
    append(tmp_path / "r" / "cells.jsonl", row("bf16-triton", "not run", build=build))
    assert finished(here) == {"bf16-triton": "differs"}


def test_an_archive_that_a_cut_left_in_half_is_put_aside(tmp_path: Path) -> None:
    """Appending to it would fail, and with it each cell that a later run asks."""
    archive = tmp_path / "traces.tar"
    add(archive, "a.json.gz", b"x" * 2000)
    whole = archive.read_bytes()
    for length in (700, 300, 1536):
        archive.write_bytes(whole[:length])
        add(archive, "b.json.gz", b"y")
        with tarfile.open(archive) as file:
            assert file.getnames()[-1] == "b.json.gz"
            assert all(len(file.extractfile(one).read()) == one.size for one in file)  # type: ignore[union-attr]
