"""Downloads with the real pip, from a folder instead of an index."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pruner.errors import PruneError
from pruner.source import default_lock_path, download, fetch, open_snapshot, read_lock
from pruner.source.fetch import tag_options
from tests.source import wheels


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all of pip's index, with demo 1.0 in it."""
    folder = tmp_path / "index"
    wheels.make_wheel(folder)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def no_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("pip was started")

    monkeypatch.setattr(subprocess, "run", never)


def code_of(error: pytest.ExceptionInfo[PruneError]) -> str:
    return error.value.diagnostics[0].code


def test_a_release_is_downloaded_once_and_then_cached(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = wheels.make_lock(tmp_path / "lock.toml", index / "demo-1.0-py3-none-any.whl")
    first = download(None, lock, tmp_path / "cache")
    assert not first.cached and first.path.read_bytes() == (index / "demo-1.0-py3-none-any.whl").read_bytes()
    monkeypatch.setattr(subprocess, "run", lambda *a, **k: pytest.fail("pip was started again"))
    assert fetch("1.0", lock, tmp_path / "cache", offline=True) == first.path
    assert sorted(path.name for path in (tmp_path / "cache/wheels").iterdir()) == [first.sha256]


def test_another_digest_than_the_locked_one_leaves_nothing(index: Path, tmp_path: Path) -> None:
    wheel = index / "demo-1.0-py3-none-any.whl"
    lock = wheels.make_lock(tmp_path / "lock.toml", wheel)
    wheels.make_wheel(index, files={"demo/__init__.py": b"import os; os.system('evil')\n"})
    with pytest.raises(PruneError) as caught:
        fetch("1.0", lock, tmp_path / "cache")
    assert code_of(caught) == "PR104"
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_a_damaged_cache_entry_is_fetched_again(index: Path, tmp_path: Path) -> None:
    wheel = index / "demo-1.0-py3-none-any.whl"
    lock = wheels.make_lock(tmp_path / "lock.toml", wheel)
    cached = fetch("1.0", lock, tmp_path / "cache")
    cached.write_bytes(b"half a wh")
    again = download("1.0", lock, tmp_path / "cache")
    assert not again.cached and again.path.read_bytes() == wheel.read_bytes()


def test_what_pip_cannot_find_is_one_located_message(index: Path, tmp_path: Path) -> None:
    lock = wheels.make_lock(tmp_path / "lock.toml", wheels.make_wheel(tmp_path / "else"))
    (index / "demo-1.0-py3-none-any.whl").unlink()
    with pytest.raises(PruneError) as caught:
        fetch("1.0", lock, tmp_path / "cache")
    assert code_of(caught) == "PR103" and "No matching distribution" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unlocked_version_needs_the_word(index: Path, tmp_path: Path) -> None:
    lock = wheels.make_lock(tmp_path / "lock.toml", index / "demo-1.0-py3-none-any.whl")
    wheels.make_wheel(index, "2.0")
    with pytest.raises(PruneError) as caught:
        fetch("2.0", lock, tmp_path / "cache")
    assert code_of(caught) == "PR101" and "1.0" in str(caught.value)
    assert fetch("2.0", lock, tmp_path / "cache", unlocked=True).name == "demo-2.0-py3-none-any.whl"


@pytest.mark.usefixtures("no_pip")
def test_offline_starts_nothing(tmp_path: Path) -> None:
    lock = wheels.make_lock(tmp_path / "lock.toml", wheels.make_wheel(tmp_path / "else"))
    with pytest.raises(PruneError) as caught:
        fetch("1.0", lock, tmp_path / "cache", offline=True)
    assert code_of(caught) == "PR112"


def test_a_cache_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    lock = wheels.make_lock(tmp_path / "lock.toml", wheels.make_wheel(tmp_path / "else"))
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(PruneError) as caught:
        fetch("1.0", lock, tmp_path / "cache")
    assert code_of(caught) == "PR113"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("default = \n", ":1"),
        ('project = "demo"\ndefault = "1.0"\n', "default version"),
        (
            'project = "demo"\ndefault = "1.0"\n[[release]]\nversion = "1.0"\nfile = "../../x-1-py3-none-any.whl"\n',
            "`file`",
        ),
        ('project = "demo"\ndefault = "1.0"\nrelease = 3\n', "[[release]]"),
    ],
)
def test_a_bad_lock_is_told_with_its_place(tmp_path: Path, text: str, place: str) -> None:
    lock = tmp_path / "lock.toml"
    lock.write_text(text)
    with pytest.raises(PruneError) as caught:
        read_lock(lock)
    assert code_of(caught) == "PR102" and place in str(caught.value)


def test_the_lock_of_this_project_is_well_formed() -> None:
    lock = read_lock(default_lock_path())
    assert lock.find(lock.default) is not None
    assert {row.version for row in lock.releases} >= {"0.5.7", "0.5.12", "0.5.17", "0.5.23"}
    assert all(row.file.startswith(f"{lock.project}-{row.version}-") for row in lock.releases)


def test_tags_of_the_locked_wheel_reach_pip() -> None:
    assert tag_options("x-1-py3-none-any.whl") == []
    assert tag_options("x-1-cp311-cp311-manylinux_2_34_x86_64.whl") == [
        *("--platform", "manylinux_2_34_x86_64"),
        *("--implementation", "cp", "--abi", "cp311"),
        *("--python-version", "3.11"),
    ]


def test_a_wheel_for_another_python_is_fetched_all_the_same(index: Path, tmp_path: Path) -> None:
    wheel = index / "demo-1.0-py3-none-any.whl"
    other = wheel.rename(index / "demo-1.0-cp399-cp399-manylinux_2_34_x86_64.whl")
    lock = wheels.make_lock(tmp_path / "lock.toml", other)
    assert fetch("1.0", lock, tmp_path / "cache").name == other.name


def test_a_release_is_the_same_snapshot_however_it_was_given(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = index / "demo-1.0-py3-none-any.whl"
    lock = wheels.make_lock(tmp_path / "lock.toml", wheel)
    by_version = open_snapshot("1.0", tmp_path / "a", lock_path=lock)
    by_file = open_snapshot(wheel, tmp_path / "b", lock_path=lock)
    assert by_version.origin == by_file.origin and by_version.files == by_file.files
    assert (by_version.origin.kind, by_version.origin.version) == ("release", "1.0")


def test_the_module_runs_with_this_python() -> None:
    done = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True, check=False)
    assert done.returncode == 0, "fetch needs pip beside the running Python"
