"""What is read as upstream, what is left out, what is refused."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from pruner.errors import PruneError
from pruner.model import Snapshot
from pruner.source import open_snapshot, read_tree
from tests.source import wheels


def plant(root: Path, *paths: str) -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"# {path}\n")
    return root


def paths(snapshot: Snapshot) -> list[str]:
    return [file.path for file in snapshot.files]


def codes(tree: Path) -> list[str]:
    with pytest.raises(PruneError) as caught:
        read_tree(tree)
    return [row.code for row in caught.value.diagnostics]


def test_files_are_sorted_and_digested_and_rubbish_is_left_out(tmp_path: Path) -> None:
    root = plant(tmp_path, "b.py", "a/x.py", "a/data.json", "a/__pycache__/x.cpython-311.pyc", "c.pyc", ".git/HEAD")
    plant(root, ".venv/pyvenv.cfg", ".venv/lib/y.py", "sub/.git")
    snapshot = open_snapshot(root, tmp_path / "cache")
    assert paths(snapshot) == ["a/data.json", "a/x.py", "b.py"]
    assert snapshot.python_root == "" and snapshot.origin.kind == "tree"
    assert snapshot.read("b.py") == b"# b.py\n" and snapshot.files[2].size == 7


def test_the_digest_speaks_of_content_modes_and_links_but_not_of_the_place(tmp_path: Path) -> None:
    one, two = plant(tmp_path / "one", "a.py", "b.py"), plant(tmp_path / "two", "a.py", "b.py")
    assert read_tree(one).digest == read_tree(two).digest
    (two / "b.py").chmod(0o755)
    executable = read_tree(two).digest
    (two / "b.py").unlink()
    (two / "b.py").symlink_to("a.py")
    assert len({read_tree(one).digest, executable, read_tree(two).digest}) == 3


def test_layouts(tmp_path: Path) -> None:
    checkout = plant(tmp_path / "checkout", "python/sglang/version.py", "sgl-kernel/setup.py", "README.md")
    (checkout / "python/sglang/version.py").write_text('__version__ = "0.5.9"\n')
    snapshot = read_tree(checkout)
    assert (snapshot.origin.kind, snapshot.origin.version, snapshot.python_root) == ("checkout", "0.5.9", "python")
    assert "README.md" in paths(snapshot)

    unpacked = plant(tmp_path / "unpacked", "sglang/srt/x.py", "sglang-1.2.dist-info/METADATA", "tools/t.py")
    (unpacked / "sglang-1.2.dist-info/METADATA").write_text("Name: sglang\nVersion: 1.2\n\nbody\n")
    snapshot = read_tree(unpacked)
    assert (snapshot.origin.name, snapshot.origin.version) == ("sglang", "1.2")
    assert "sglang-1.2.dist-info/METADATA" in paths(snapshot) and "tools/t.py" in paths(snapshot)

    packages = plant(unpacked, "torch/__init__.py", "torch-2.0.dist-info/METADATA")
    assert not [path for path in paths(read_tree(packages)) if path.startswith(("torch", "tools"))]

    assert read_tree(plant(tmp_path / "lib", "src/pkg/m.py", "tests/t.py", "setup.py")).python_root == "src"
    assert read_tree(plant(tmp_path / "flat", "src/pkg/m.py", "app.py")).python_root == ""
    assert read_tree(checkout, kind="case").python_root == ""


def test_no_upstream_is_told_not_pruned(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert codes(tmp_path / "empty") == ["PR111"]
    assert codes(plant(tmp_path / "sglang", "srt/a.py")) == ["PR100"]
    for upstream in (tmp_path / "absent", str(tmp_path / "absent"), plant(tmp_path, "x.tar.gz") / "x.tar.gz"):
        with pytest.raises(PruneError, match="PR100"):
            open_snapshot(upstream, tmp_path / "cache")


def test_a_link_inside_the_tree_stays_a_link_and_is_not_followed(tmp_path: Path) -> None:
    root = plant(tmp_path / "t", "pkg/real.py", "other/x.py")
    (root / "pkg/alias.py").symlink_to("real.py")
    (root / "pkg/back").symlink_to("../other")
    (root / "pkg/later.py").symlink_to("../other/absent.py")
    rows = {file.path: file.link for file in read_tree(root).files}
    assert rows == {
        "other/x.py": None,
        "pkg/alias.py": "real.py",
        "pkg/back": "../other",
        "pkg/later.py": "../other/absent.py",
        "pkg/real.py": None,
    }


@pytest.mark.parametrize("target", ["../secret.py", "/etc/passwd", "loop.py", "round/loop.py", "out/secret.py"])
def test_a_link_out_of_the_tree_or_in_a_circle_is_refused(tmp_path: Path, target: str) -> None:
    root = plant(tmp_path / "t", "a.py")
    (tmp_path / "secret.py").write_text("password\n")
    (root / "loop.py").symlink_to(target)
    if target.startswith("round/"):
        (root / "round").symlink_to(".")
    if target.startswith("out/"):
        (root / "out").symlink_to("..")
        assert codes(root) == ["PR109", "PR109"]
    else:
        assert codes(root) == ["PR109"]


def test_a_name_that_begins_like_the_root_is_outside_it(tmp_path: Path) -> None:
    root = plant(tmp_path / "t", "a.py")
    plant(tmp_path / "t-secret", "b.py")
    (root / "b.py").symlink_to("../t-secret/b.py")
    assert codes(root) == ["PR109"]


def test_a_fifo_is_refused_and_does_not_block(tmp_path: Path) -> None:
    root = plant(tmp_path, "a.py")
    os.mkfifo(root / "pipe.py")
    result: list[list[str]] = []
    thread = threading.Thread(target=lambda: result.append(codes(root)), daemon=True)
    thread.start()
    thread.join(10)
    assert result == [["PR110"]]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    root = plant(tmp_path, "a.py")
    with open(os.fsencode(root) + b"/b\xff.py", "wb"):
        pass
    assert codes(root) == ["PR110"]


def test_all_unreadable_files_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = plant(tmp_path, "a.py", "b.py", "c.py")
    whole = Path.read_bytes

    def guarded(path: Path) -> bytes:  # root may read a file of mode 0
        if path.name in ("a.py", "c.py"):
            raise PermissionError(13, "Permission denied")
        return whole(path)

    monkeypatch.setattr(Path, "read_bytes", guarded)
    with pytest.raises(PruneError) as caught:
        read_tree(root)
    assert [(Path(row.file).name, row.code) for row in caught.value.diagnostics] == [
        ("a.py", "PR108"),
        ("c.py", "PR108"),
    ]


def test_a_wheel_is_unpacked_once_and_again_when_it_was_touched(tmp_path: Path) -> None:
    wheel = wheels.make_wheel(tmp_path)
    first = open_snapshot(wheel, tmp_path / "cache")
    assert (first.origin.kind, first.origin.name, first.origin.version) == ("wheel", "demo", "1.0")
    stamp = (first.root / "demo/__init__.py").stat().st_ino
    assert open_snapshot(wheel, tmp_path / "cache") == first
    assert (first.root / "demo/__init__.py").stat().st_ino == stamp

    (first.root / "demo/__init__.py").write_text("tampered = True\n")
    (tmp_path / "cache/trees/.unpacking-killed").mkdir()
    assert open_snapshot(wheel, tmp_path / "cache") == first
    assert first.read("demo/__init__.py") == wheels.FILES["demo/__init__.py"]
    assert sorted(p.suffix for p in (tmp_path / "cache/trees").iterdir() if p.name != ".lock") == ["", ".digest"]


def test_an_unsafe_wheel_leaves_nothing_in_the_cache(tmp_path: Path) -> None:
    wheel = wheels.make_wheel(tmp_path, files={"demo/__init__.py": b"", "../evil.py": b""})
    with pytest.raises(PruneError, match="PR105"):
        open_snapshot(wheel, tmp_path / "cache")
    assert [path.name for path in (tmp_path / "cache/trees").iterdir()] == [".lock"]
