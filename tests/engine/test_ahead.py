"""Work ahead of time changes when something is worked out, never what."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pruner.graph.symbols import ModuleTable
from pruner.model import Fact
from pruner.model.policy import Location
from pruner.pipeline.ahead import Ahead
from pruner.pipeline.load import Loader, Reading, module_paths
from pruner.pipeline.looks import StoresAhead
from pruner.scan.stores import find
from pruner.scan.summary import written_in
from pruner.source import read_tree

FLAG = b"import os\n_flag = False\ndef turn(on):\n    global _flag\n    _flag = on\n    os.environ['KEY'] = '1'\n"


@pytest.fixture
def ahead() -> Iterator[Ahead]:
    made = Ahead(2)
    yield made
    made.close()


def test_one_job_works_nothing_out_ahead() -> None:
    ahead = Ahead(1)
    ahead.send("a", pow, 2, 3)
    assert ahead.result("a") is None
    ahead.close()


def test_an_answer_comes_once_and_faults_reach_who_asks(ahead: Ahead) -> None:
    for key in "ab":
        ahead.send(key, int, {"a": "7", "b": "no number"}[key])
    while ahead.result("warm") is not None:
        pass
    time.sleep(0.5)  # both have begun by then, or are cancelled: the answer is the same
    assert ahead.result("a") in (7, None)
    assert ahead.result("a") is None
    try:
        assert ahead.result("b") is None
    except ValueError as error:
        assert "no number" in str(error)


def until(path: Path, seconds: float = 30.0) -> bool:
    """Wait for a file. True when it came."""
    end = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    return path.exists()


def test_what_has_not_begun_is_left_to_who_asks(ahead: Ahead, tmp_path: Path) -> None:
    ahead.send("long", until, tmp_path / "end")
    for key in range(8):
        ahead.send(key, until, tmp_path / "end")
    start = time.monotonic()
    assert ahead.result(7) is None
    assert ahead.result("long", begun=False) is None
    assert time.monotonic() - start < 20
    (tmp_path / "end").touch()


# What `ProcessPoolExecutor` itself does with cancelled futures when its process is ended.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("cancelled", [False, True])
def test_a_process_that_somebody_ends_has_no_answers(ahead: Ahead, tmp_path: Path, cancelled: bool) -> None:
    for key in range(8):
        ahead.send(key, begins, tmp_path / "begun", tmp_path / "end")
    assert until(tmp_path / "begun")
    if cancelled:
        assert ahead.result(7) is None
    ahead._pool._processes.copy().popitem()[1].kill()  # type: ignore[union-attr]
    assert [ahead.result(key) for key in range(8)] == [None] * 8
    ahead.send("later", pow, 2, 3)
    assert ahead.result("later") is None


def begins(mine: Path, end: Path) -> None:
    """Say that the work has begun, and go on with it."""
    mine.touch()
    until(end)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("subject", ["pkg.m0._flag", "os.environ.get('KEY')"])
def test_stores_are_those_of_the_file(tmp_path: Path, jobs: int, subject: str) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_bytes(b"")
    for index in range(60):
        (tmp_path / "pkg" / f"m{index}.py").write_bytes(FLAG if index % 2 == 0 else b"def broken(:\n")
    snapshot = read_tree(tmp_path, "program")
    table = ModuleTable(module_paths(snapshot), lambda module: None)
    fact = Fact("r", subject, (False,), Location("rules.yaml", 1, 1))
    ahead = Ahead(jobs)
    try:
        stores = StoresAhead(snapshot, [fact], table, ahead)
        for path, _ in table.paths.values():
            stores.loaded(path)
        time.sleep(0.5 * (jobs - 1))
        for index in range(60):
            path = f"pkg/m{index}.py"
            if index % 2 == 0:
                assert stores.find(path, FLAG) == find(FLAG)
            else:
                with pytest.raises(SyntaxError):
                    stores.find(path, b"def broken(:\n")
    finally:
        ahead.close()


def wait_for(there: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not there() and time.monotonic() < end:
        time.sleep(0.02)
    assert there()


MIRROR = b"import os\nfrom pkg import m0\n\n\ndef f(name):\n    globals()[name] = 1\n    setattr(m0, '_flag', True)\n    m0._flag = 2\n"


@pytest.mark.parametrize("watching", [False, True])
def test_what_workers_say_is_what_the_file_says(tmp_path: Path, watching: bool) -> None:
    """A worker has the syntax tree at hand: it says the stores and the reflection of a file beside its form."""
    (tmp_path / "pkg").mkdir()
    texts = [FLAG, MIRROR, b"def broken(:\n", b"x = 1\n"]
    lines = b"".join(b"from pkg import m%d\n" % index for index in range(240))
    (tmp_path / "pkg" / "__init__.py").write_bytes(lines)
    for index in range(240):
        (tmp_path / "pkg" / f"m{index}.py").write_bytes(texts[index % 4])
    loader = Loader(read_tree(tmp_path, "program"), 2)
    fact = Fact("r", "pkg.m0._flag", (False,), Location("rules.yaml", 1, 1))
    stores = StoresAhead(loader.snapshot, [fact], loader.table, Ahead(1))
    loader.looks = stores.looks if watching else None
    said: dict[str, Reading] = {}

    def loaded(path: str, reading: Reading | None) -> None:
        stores.loaded(path, reading)
        if reading is not None:
            said[path] = reading

    loader.loaded = loaded
    try:
        loader.load("pkg")
        wait_for(lambda: loader._pending == 0)
        for index in range(240):
            loader.load(f"pkg.m{index}")
    finally:
        loader.close()
    assert len(said) > 200
    for path, reading in said.items():
        data = (tmp_path / path).read_bytes()
        if data == texts[2]:
            assert (reading.written, reading.stores) == (None, None)
            continue
        module = path.removesuffix(".py").replace("/", ".")
        summary = loader.summaries[module]
        assert summary is not None
        assert reading.written == summary.written() == written_in(reading.lowered[0], summary.body)
        assert reading.looked is watching
        assert reading.stores == (find(data) if watching and stores.looks.at(module, data) else None)
        assert stores.find(path, data) == find(data)
    assert any(reading.stores is not None for reading in said.values()) is watching
