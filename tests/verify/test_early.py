"""The verifier that gets ready before there is an output: it says what the other one says, and dies with the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pruner import verify
from pruner.errors import PruneError
from pruner.model import Verdict
from pruner.verify.discard import counts_taken
from pruner.verify.driver import Ready
from pruner.verify.early import Early
from pruner.verify.rules import read_ahead
from tests.engine.program import prune

RULES = """rules:
- {id: hip, because: The test says so., assume: {"plat.is_hip()": false}}
- {id: main, because: The test says so., root: ["app:main"]}
- {id: gone, because: The test says so., discard: ["name:is_hip"]}
"""
FILES = {
    "plat.py": "def is_hip():\n    return False\n",
    "kernels.py": "def fast():\n    return 1\n\n\ndef slow():\n    return 2\n",
    "app.py": "import kernels\nimport plat\n\n\ndef main():\n    if plat.is_hip():\n        return kernels.slow()\n"
    "    return kernels.fast()\n",
}


@pytest.fixture
def trees(tmp_path: Path) -> tuple[Path, Path, Path]:
    pruned = prune(FILES, rules=RULES, plat=False)
    for name, files in (("in", pruned.before), ("out", pruned.files)):
        for path, data in files.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_bytes(data)
    (tmp_path / "rules.yaml").write_text(RULES)
    return tmp_path / "in", tmp_path / "out", tmp_path / "rules.yaml"


def said(verdicts: list[Verdict] | None) -> list[tuple[object, ...]]:
    """All but the time."""
    assert verdicts is not None
    return [(row.check, row.covered, row.result, row.details) for row in verdicts]


@pytest.mark.parametrize("warm", [[], ["app"], ["app", "kernels", "plat", "nowhere"]])
@pytest.mark.parametrize("looked", [[], ["same.py"], ["same.py", "kernels.py", "plat.py", "gone.py", "words.txt"]])
@pytest.mark.parametrize(
    "wrong", ["", "another text", "another module of the name", "another package", "a discarded name"]
)
def test_it_says_what_the_verifier_says(
    trees: tuple[Path, Path, Path], warm: list[str], looked: list[str], wrong: str
) -> None:
    """Also of files that it has looked at before there was an output, and that the output has otherwise than upstream."""
    up, out, rules = trees
    for tree in (up, out):
        name = "is_hip" if wrong == "a discarded name" else "much"
        (tree / "same.py").write_text(f"import kernels as k\n\n\ndef more({name}):\n    return k.fast() + {name}\n")
        (tree / "words.txt").write_text("no Python\n")
    if wrong == "another text":
        (out / "kernels.py").write_text("def fast():\n    return 3\n")
    elif wrong == "another module of the name":
        (out / "same").mkdir()
        (out / "same" / "__init__.py").write_text("from .kernels import fast\n")
    elif wrong == "another package":
        (out / "kernels").mkdir()
        (out / "kernels" / "__init__.py").write_text("def slow():\n    return 2\n")
    early = Early(up, [rules], "")
    early.warm(warm, read_ahead([rules]))
    early.warm(["app"])
    early.look(looked)
    time.sleep(0.3)
    early.rest()
    meanwhile: list[int] = []
    found = early.run(out, 2, None, counts_taken(), lambda: meanwhile.append(1))
    assert meanwhile == [1]
    assert said(found) == said(verify.run(up, out, [rules], jobs=2))
    assert any(row.result == "refuted" for row in found or ()) is (wrong != "")
    assert early.run(out, 2, None) is None  # it answers once
    early.close()


def test_what_the_verifier_raises_is_raised(trees: tuple[Path, Path, Path]) -> None:
    up, out, rules = trees
    early = Early(up, [rules.with_name("none.yaml")], "")
    early.warm(["app"])  # the fault is said when somebody asks
    with pytest.raises(PruneError) as raised:
        early.run(out, 2, None)
    assert raised.value.diagnostics[0].code == "PR401"
    with pytest.raises(PruneError) as raised:
        Early(up, [rules], "").run(out, 2, ["no such check"])
    assert raised.value.diagnostics[0].code == "PR403"


def test_what_it_used_is_counted(trees: tuple[Path, Path, Path]) -> None:
    """Time and memory of a run are those of the processes that were waited for: this one and its workers are among them."""
    up, out, rules = trees
    program = (
        "import resource, time; from pathlib import Path; from pruner.verify import early, world\n"
        "held = []\nplain = world.World.names\n"
        "def names(self, module):\n"
        "    if not held: held.append(bytearray(b'x') * (400 << 20))\n"
        "    return plain(self, module)\n"
        "world.World.names = names\n"
        f"e = early.Early(Path({str(up)!r}), [Path({str(rules)!r})], ''); e.warm(['app']); time.sleep(3)\n"
        f"assert e.run(Path({str(out)!r}), 2, None)\n"
        "e.close()\nprint(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert int(done.stdout) > 400, done.stderr


def looks(ready: Ready | None, module: str, wanted: Path) -> tuple[int, list[str], bytes]:
    """A question of the run: who answers, what it has read of upstream, what the run sent."""
    known = sorted(ready.world._names) if ready is not None else []
    return os.getpid(), [name for name in known if name == module], wanted.read_bytes()


def fails(ready: object) -> None:
    raise ValueError(f"asked with {ready is not None}")


def ends(ready: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("warm", [False, True])
def test_a_process_beside_it_answers(trees: tuple[Path, Path, Path], warm: bool) -> None:
    """It has what was read by then; the verifier goes on, and says what it would have said."""
    up, out, rules = trees
    early = Early(up, [rules], "")
    if warm:
        early.warm(["app", "plat"])
        time.sleep(1)
    answer = early.beside(looks, "plat", up / "app.py")
    assert answer is not None
    assert early.beside(looks, "plat", up / "app.py") is None  # one question only
    pid, known, data = answer()
    assert pid not in (os.getpid(), early._process)
    assert known == (["plat"] if warm else [])
    assert data == (up / "app.py").read_bytes()
    assert answer() == (pid, known, data)
    assert said(early.run(out, 2, None)) == said(verify.run(up, out, [rules], jobs=2))
    early.close()


@pytest.mark.parametrize(
    ("function", "error", "text"), [(fails, ValueError, "asked with False"), (ends, RuntimeError, "was ended")]
)
def test_what_the_process_beside_it_raises_is_raised(
    trees: tuple[Path, Path, Path], function: Callable[[object], None], error: type[Exception], text: str
) -> None:
    up, out, rules = trees
    early = Early(up, [rules], "")
    answer = early.beside(function)
    assert answer is not None
    with pytest.raises(error, match=text):
        answer()
    assert early.run(out, 2, None)
    early.close()


def waits(ready: object, mine: Path) -> None:
    mine.write_text(str(os.getpid()))
    time.sleep(60)


def test_the_process_beside_it_ends_with_it(trees: tuple[Path, Path, Path]) -> None:
    up, _, rules = trees
    early = Early(up, [rules], "")
    mine = up / "pid"
    answer = early.beside(waits, mine)
    assert answer is not None
    until(lambda: mine.exists() and bool(mine.read_text()))
    early.close()
    pid = int(mine.read_text())
    until(lambda: not Path(f"/proc/{pid}").exists() or Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z")
    dead = Early(up, [rules], "")
    os.kill(dead._process, signal.SIGKILL)
    time.sleep(0.2)
    answer = dead.beside(looks, "plat", up / "app.py")
    if answer is not None:  # the pipe took the question, and nobody answers
        with pytest.raises(RuntimeError):
            answer()
    dead.close()


def test_one_that_died_gives_no_answer(trees: tuple[Path, Path, Path]) -> None:
    up, out, rules = trees
    early = Early(up, [rules], "")
    os.kill(early._process, signal.SIGKILL)
    time.sleep(0.2)
    early.warm(["app"])
    assert early.run(out, 2, None) is None
    early.close()


def test_it_ends_with_the_run(trees: tuple[Path, Path, Path]) -> None:
    """However the run ends, by itself or by ``kill -9``, and Ctrl-C in between does not reach it."""
    up, _, rules = trees
    early = Early(up, [rules], "")
    pid = early._process
    os.kill(pid, signal.SIGINT)
    early.warm(["app"])
    time.sleep(0.2)
    os.kill(pid, 0)
    early.close()
    early.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    program = (
        "import sys, time; from pathlib import Path; from pruner.verify.early import Early\n"
        f"e = Early(Path({str(up)!r}), [Path({str(rules)!r})], ''); e.warm(['app']); print(e._process, flush=True)\n"
        "time.sleep(60)"
    )
    run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    pid = int(run.stdout.readline())
    run.kill()
    run.wait()
    until(lambda: not Path(f"/proc/{pid}").exists() or Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z")
    run.stdout.close()


def until(done: object, seconds: float = 10.0) -> None:
    """Wait for a condition that must come."""
    end = time.monotonic() + seconds
    while not done():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.05)


def test_many_files_are_judged_by_it(trees: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Through the command, on more files than it is for: the output is that of one process."""
    up, _, rules = trees
    for number in range(210):
        (up / f"part{number}.py").write_text(
            f"import plat\n\n\ndef f():\n    return {number} if plat.is_hip() else 1\n"
        )
    text = (
        (up / "app.py").read_text().replace("fast()\n", f"fast() + {' + '.join(f'part{n}.f()' for n in range(210))}\n")
    )
    (up / "app.py").write_text("".join(f"import part{n}\n" for n in range(210)) + text)
    found = []
    for jobs in ("1", "2"):
        command = ["--rules", str(rules), "--upstream", str(up), "--output", str(tmp_path / jobs), "-j", jobs]
        command += ["--reports", str(tmp_path / f"r{jobs}"), "--cache", str(tmp_path / f"c{jobs}")]
        done = subprocess.run([sys.executable, "-m", "pruner", *command], capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        rows = {p.relative_to(tmp_path / jobs).as_posix(): p.read_bytes() for p in (tmp_path / jobs).rglob("*.py")}
        found.append(rows)
    assert found[0] == found[1] and len(found[0]) > 200
