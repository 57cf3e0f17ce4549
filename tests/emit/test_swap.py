"""The old folder or the new one, whatever ends the run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pruner.emit import swap, write_tree
from pruner.emit.lock import lock_target
from pruner.emit.swap import move_tree
from pruner.errors import PruneError

FILES = 40
_ROOT = Path(__file__).parents[2]

# Writes version after version for ever; every file of a version holds its number.
WRITER = """
import itertools, sys
from pathlib import Path
from pruner.emit import swap, write_tree
target, count, exchange = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "exchange"
if not exchange:
    swap._exchange = lambda left, right: False
def fill(version):
    def writer(folder):
        (folder / "sub").mkdir()
        for number in range(count):
            (folder / "sub" / f"{number}.txt").write_text(str(version))
    return writer
write_tree(target, fill(0))
print("ready", flush=True)
for version in itertools.count(1):
    write_tree(target, fill(version))
"""


def start(target: Path, *arguments: str, code: str = WRITER) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, str(target), *arguments], cwd=_ROOT, stdout=subprocess.PIPE, text=True
    )


def versions(folder: Path) -> set[str]:
    """The versions that a folder holds; asserts that it is complete."""
    files = sorted((folder / "sub").iterdir())
    assert len(files) == FILES
    return {file.read_text() for file in files}


def fill(text: str) -> Callable[[Path], object]:
    return lambda folder: (folder / "x.txt").write_text(text)


def left(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.iterdir())


@pytest.mark.parametrize("method", ["exchange", "aside"])
def test_kill_at_any_moment_leaves_one_whole_version(tmp_path: Path, method: str) -> None:
    """Ten kills a method. With two renames the target may be away for a moment: recover brings it back."""
    target = tmp_path / "out"
    chance = random.Random(7)
    for _ in range(10):
        process = start(target, str(FILES), method)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"  # so a killed run did not lock the next one out
        time.sleep(chance.uniform(0.0, 0.03))
        process.kill()
        process.wait()
        process.stdout.close()
        if method == "aside":
            swap.recover(target)
        assert len(versions(target)) == 1
    write_tree(target, fill("last"))
    assert left(target) == ["out"]


def test_a_kill_between_the_two_renames_is_put_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    write_tree(target, fill("old"))
    os.rename(target, tmp_path / ".out.previous")
    (tmp_path / ".out.pruning").mkdir()
    swap.recover(target)
    assert left(target) == ["out"] and (target / "x.txt").read_text() == "old"


def test_a_failing_second_rename_puts_the_old_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out"
    write_tree(target, fill("old"))
    monkeypatch.setattr(swap, "_exchange", lambda left, right: False)
    rename = os.rename

    def failing(source: Path, to: Path) -> None:
        if source.name.endswith(".pruning"):
            raise OSError(28, "No space left on device")
        rename(source, to)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(PruneError, match=r"PR302.*No space left"):
        write_tree(target, fill("new"))
    assert left(target) == ["out"] and (target / "x.txt").read_text() == "old"


def test_a_moved_folder_replaces_the_target_and_is_gone(tmp_path: Path) -> None:
    target, source = tmp_path / "out", tmp_path / "out.judged"
    write_tree(target, fill("old"))
    (target / ".gitkeep").write_text("")
    write_tree(source, fill("new"))
    move_tree(source, target, lambda folder: (folder / "said.txt").write_text("more") and None)
    assert left(target) == ["out"] and (target / "x.txt").read_text() == "new"
    assert (target / "said.txt").read_text() == "more" and (target / ".gitkeep").is_file()


def test_a_moved_folder_reaches_a_target_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    write_tree(tmp_path / "disk" / "real", fill("old"))
    (tmp_path / "out").symlink_to(tmp_path / "disk" / "real")
    write_tree(tmp_path / "judged", fill("new"))
    move_tree(tmp_path / "judged", tmp_path / "out", lambda folder: None)
    assert (tmp_path / "out").is_symlink() and (tmp_path / "disk" / "real" / "x.txt").read_text() == "new"
    assert left(tmp_path / "disk" / "real") == ["real"] and not (tmp_path / "judged").exists()


def test_a_failing_change_leaves_the_target_as_it_was(tmp_path: Path) -> None:
    target, source = tmp_path / "out", tmp_path / "out.judged"
    write_tree(target, fill("old"))
    write_tree(source, fill("new"))

    def fail(folder: Path) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(PruneError, match=r"PR302.*No space left"):
        move_tree(source, target, fail)
    assert left(target) == ["out"] and (target / "x.txt").read_text() == "old"


@pytest.mark.parametrize("fault", [ValueError("x"), KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_writer_that_fails_changes_nothing(tmp_path: Path, fault: BaseException) -> None:
    target = tmp_path / "out"
    write_tree(target, fill("old"))

    def writer(folder: Path) -> None:
        (folder / "x.txt").write_text("new")
        raise fault

    with pytest.raises(PruneError if isinstance(fault, OSError) else type(fault)):
        write_tree(target, writer)
    assert left(target) == ["out"] and (target / "x.txt").read_text() == "old"


def test_interrupt_from_the_keyboard_leaves_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "out"
    write_tree(target, fill("old"))
    slow = (
        "import signal, sys, time; from pathlib import Path; from pruner.emit import write_tree\n"
        # What a script starts in the background ignores the key, and so would its children.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def writer(folder):\n"
        "    (folder / 'x.txt').write_text('new'); print('ready', flush=True); time.sleep(60)\n"
        "write_tree(Path(sys.argv[1]), writer)\n"
    )
    process = start(target, code=slow)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(20) != 0
    process.stdout.close()
    assert left(target) == ["out"] and (target / "x.txt").read_text() == "old"


def test_a_second_run_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    target = tmp_path / "out"
    holder = (
        "import sys, time; from pathlib import Path; from pruner.emit import lock_target\n"
        "with lock_target(Path(sys.argv[1])):\n"
        "    print('ready', flush=True); time.sleep(60)\n"
    )
    process = start(target, code=holder)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    try:
        with pytest.raises(PruneError) as caught:
            write_tree(target, fill("mine"))
        row = caught.value.diagnostics[0]
        assert row.code == "PR300" and f"process {process.pid}" in row.text
        assert not target.exists()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    write_tree(target, fill("mine"))
    assert left(target) == ["out"]


def test_a_worker_that_outlives_a_killed_run_does_not_hold_its_lock(tmp_path: Path) -> None:
    target = tmp_path / "out"
    forking = (
        "import os, sys, time; from pathlib import Path; from pruner.emit import lock_target\n"
        "with lock_target(Path(sys.argv[1])):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        os.close(1); time.sleep(60)\n"
        "    print(child, flush=True); time.sleep(60)\n"
    )
    process = start(target, code=forking)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    try:
        process.kill()
        process.wait()
        write_tree(target, fill("mine"))
    finally:
        os.kill(child, signal.SIGKILL)
        process.stdout.close()


def test_the_lock_may_be_taken_again_by_its_own_process(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with lock_target(target), lock_target(target):
        write_tree(target, fill("x"))
        assert (tmp_path / "out.lock").exists()
    assert left(target) == ["out"]


def test_what_git_tracks_in_the_target_stays(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / ".gitkeep").touch()
    (target / "other").touch()
    write_tree(target, fill("x"))
    assert sorted(path.name for path in target.iterdir()) == [".gitkeep", "x.txt"]


def test_a_linked_target_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "big").mkdir()
    (tmp_path / "out").symlink_to("big")
    write_tree(tmp_path / "out", fill("x"))
    assert (tmp_path / "out").is_symlink() and (tmp_path / "big/x.txt").exists()


def test_a_file_in_the_place_of_the_target_stays(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(PruneError, match="PR305"):
        write_tree(tmp_path / "out", fill("x"))
    assert left(tmp_path / "out") == ["out"]


def test_an_old_output_without_write_permission_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "out"

    def sealed(folder: Path) -> None:
        (folder / "sub").mkdir()
        (folder / "sub/x").touch()
        (folder / "sub").chmod(0o555)

    write_tree(target, sealed)
    write_tree(target, fill("new"))
    assert left(target) == ["out"]


def test_a_place_that_cannot_be_written_is_told() -> None:
    """As a user without rights; the super-user becomes one for this."""
    with tempfile.TemporaryDirectory() as folder:  # tmp_path lies in a folder that only its owner may enter
        target = Path(folder) / "home" / "out"
        write_tree(target, fill("old"))
        Path(folder).chmod(0o755)
        target.parent.chmod(0o555)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        try:
            with pytest.raises(PruneError, match="PR302: cannot be written: Permission denied"):
                write_tree(target, fill("new"))
        finally:
            os.seteuid(user)
            target.parent.chmod(0o755)
        assert left(target) == ["out"] and (target / "x.txt").read_text() == "old"
