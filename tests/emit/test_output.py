"""What is written, and what is refused before anything is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pruner.emit import check_paths, check_target, emit_output, emit_reports
from pruner.errors import PruneError
from pruner.model import Outcome, Snapshot
from pruner.source import read_tree

MARK = {"PRUNED.json": b"{}\n"}


def outcome(**files: bytes | None) -> Outcome:
    """An outcome that edits (bytes) and removes (None); `__` in a name stands for `/`."""
    return Outcome({name.replace("__", "/"): text for name, text in files.items()}, {}, (), (), {}, {})


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    root = tmp_path / "in"
    (root / "pkg").mkdir(parents=True)
    (root / "gone").mkdir()
    (root / "pkg/a").write_bytes(b"a\r\n\x00\xff")
    (root / "pkg/tool").write_bytes(b"#!/bin/sh\n")
    (root / "pkg/tool").chmod(0o775)
    (root / "pkg/link").symlink_to("a")
    (root / "gone/b.py").write_bytes(b"b = 1\n")
    return read_tree(root)


def listing(folder: Path) -> dict[str, object]:
    rows: dict[str, object] = {}
    for top, folders, files in os.walk(folder):
        for name in files + folders:
            path = Path(top, name)
            rows[path.relative_to(folder).as_posix()] = (
                os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else "folder"
            )
    return rows


def test_no_change_is_a_copy_byte_for_byte(snapshot: Snapshot, tmp_path: Path) -> None:
    emit_output(snapshot, outcome(), tmp_path / "out", {})
    assert listing(tmp_path / "out") == listing(snapshot.root)
    assert read_tree(tmp_path / "out").digest == snapshot.digest
    assert stat.S_IMODE((tmp_path / "out/pkg/tool").stat().st_mode) == 0o755
    assert (tmp_path / "out/pkg/a").stat().st_ino != (snapshot.root / "pkg/a").stat().st_ino


def test_edited_removed_and_extra_files(snapshot: Snapshot, tmp_path: Path) -> None:
    changes = outcome(pkg__tool=b"edited")
    changes.files["gone/b.py"] = None
    changes.files["pkg/guard.py"] = b"guard"
    emit_output(snapshot, changes, tmp_path / "out", {**MARK, "pkg/a": b"extra"})
    assert listing(tmp_path / "out") == {
        "PRUNED.json": b"{}\n",
        "pkg": "folder",
        "pkg/a": b"extra",
        "pkg/guard.py": b"guard",
        "pkg/link": "a",
        "pkg/tool": b"edited",
    }
    assert (tmp_path / "out/pkg/tool").stat().st_mode & stat.S_IXUSR


def test_an_edit_of_a_linked_file_is_not_written_through_the_link(snapshot: Snapshot, tmp_path: Path) -> None:
    emit_output(snapshot, outcome(pkg__link=b"edited"), tmp_path / "out", {})
    rows = listing(tmp_path / "out")
    assert rows["pkg/link"] == b"edited" and rows["pkg/a"] == b"a\r\n\x00\xff"


def test_upstream_that_changed_meanwhile_is_refused(snapshot: Snapshot, tmp_path: Path) -> None:
    emit_output(snapshot, outcome(), tmp_path / "out", MARK)
    before = listing(tmp_path / "out")
    (snapshot.root / "pkg/a").write_bytes(b"other")
    with pytest.raises(PruneError, match="PR304"):
        emit_output(snapshot, outcome(), tmp_path / "out", MARK)
    (snapshot.root / "pkg/a").unlink()
    with pytest.raises(PruneError, match="PR304"):
        emit_output(snapshot, outcome(), tmp_path / "out", MARK)
    assert listing(tmp_path / "out") == before


@pytest.mark.parametrize("path", ["../x", "/x", ""])
def test_no_file_is_written_outside(snapshot: Snapshot, tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="below the folder"):
        emit_output(snapshot, outcome(), tmp_path / "out", {path: b""})
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_ours_is_left_alone(snapshot: Snapshot, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "thesis.tex").write_text("years of work")
    with pytest.raises(PruneError, match=r"PR301.*--force"):
        emit_output(snapshot, outcome(), target, MARK)
    assert listing(target) == {"thesis.tex": b"years of work"}
    emit_output(snapshot, outcome(), target, MARK, force=True)
    assert "thesis.tex" not in listing(target)
    emit_output(snapshot, outcome(), target, MARK)


@pytest.mark.parametrize("names", [[], [".gitkeep"], [".gitkeep", "README.md"], ["PRUNED.json", "anything"]])
def test_what_counts_as_ours(tmp_path: Path, names: list[str]) -> None:
    check_target(tmp_path / "absent")
    for name in names:
        (tmp_path / name).touch()
    check_target(tmp_path)


def test_folders_must_not_overlap(tmp_path: Path) -> None:
    root = tmp_path / "up"
    root.mkdir()
    check_paths(root, tmp_path / "out", tmp_path / "reports")
    check_paths(root, tmp_path / "upper", None)
    (tmp_path / "alias").symlink_to("up")
    for output, reports in [
        (root, None),
        (root / "generated", None),
        (tmp_path, None),
        (tmp_path / "alias/generated", None),
        (tmp_path / "out", root / "reports"),
        (tmp_path / "out", tmp_path / "out/reports"),
        (tmp_path / "out/tree", tmp_path / "out"),
        (Path("/"), None),
        (Path(), None),
        (tmp_path / "out", Path("/")),
    ]:
        with pytest.raises(PruneError, match="PR303"):
            check_paths(root, output, reports)


def test_reports_replace_those_of_the_last_run_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "reports"
    (target / "figures").mkdir(parents=True)
    (target / "README.md").write_text("tracked")
    (target / "figures/old.json").write_text("tracked too")

    def first(folder: Path) -> None:
        assert not list(folder.iterdir())
        (folder / "report.json").write_text("1")
        (folder / "html").mkdir()
        (folder / "html/index.html").write_text("1")

    def second(folder: Path) -> None:
        (folder / "report.json").write_text("2")

    emit_reports(target, first)
    emit_reports(target, second)
    rows = listing(target)
    del rows[".reports.json"]
    assert rows == {
        "README.md": b"tracked",
        "figures": "folder",
        "figures/old.json": b"tracked too",
        "report.json": b"2",
    }

    def failing(folder: Path) -> None:
        (folder / "report.json").write_text("3")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        emit_reports(target, failing)
    assert (target / "report.json").read_text() == "2"
