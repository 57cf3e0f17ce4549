"""Archives that must not be unpacked, and what is left when they are refused: nothing."""

from __future__ import annotations

import stat
import struct
import zipfile
from pathlib import Path

import pytest

from pruner.errors import PruneError
from pruner.source import archive, unpack
from tests.source import wheels


def write(path: Path, *entries: tuple[zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for info, content in entries:
            file.writestr(info, content)
    return path


def refused(tmp_path: Path, *entries: tuple[zipfile.ZipInfo, bytes]) -> list[str]:
    """The codes and texts of the refusal; asserts that nothing was unpacked anywhere."""
    wheel = write(tmp_path / "x.whl", (wheels.entry("demo/ok.py"), b"x = 1\n"), *entries)
    target = tmp_path / "deep" / "target"
    target.mkdir(parents=True)
    with pytest.raises(PruneError) as caught:
        unpack(wheel, target)
    left = sorted(path.name for path in tmp_path.rglob("*"))
    assert left == ["deep", "target", "x.whl"]
    return [f"{row.code} {row.text}" for row in caught.value.diagnostics]


def test_a_good_wheel_is_unpacked_byte_for_byte_with_its_executable_bits(tmp_path: Path) -> None:
    wheel = wheels.make_wheel(tmp_path)
    target = tmp_path / "t"
    target.mkdir()
    unpack(wheel, target)
    for name, content in wheels.FILES.items():
        assert (target / name).read_bytes() == content
    assert stat.S_IMODE((target / "demo/run.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((target / "demo/__init__.py").stat().st_mode) == 0o644


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/etc/evil", "absolute"),
        ("../evil", "'..'"),
        ("demo/../../evil", "'..'"),
        ("demo/./x.py", "'.'"),
        ("demo//x.py", "empty parts"),
        ("C:/evil", "absolute"),
        ("c:evil", "absolute"),
        ("..\\evil", "differently"),
        ("\\\\host\\share\\evil", "differently"),
    ],
)
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, name: str, why: str) -> None:
    (problem,) = refused(tmp_path, (wheels.entry(name), b"evil"))
    assert problem.startswith("PR105") and why in problem


def test_a_nul_in_a_name_is_refused(tmp_path: Path) -> None:
    wheel = write(tmp_path / "x.whl", (wheels.entry("demo/good.pyXtail"), b"x"))
    wheel.write_bytes(wheel.read_bytes().replace(b"good.pyXtail", b"good.py\0tail"))
    (tmp_path / "t").mkdir()
    with pytest.raises(PruneError, match="PR105"):
        unpack(wheel, tmp_path / "t")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFBLK])
def test_links_and_devices_are_refused(tmp_path: Path, kind: int) -> None:
    (problem,) = refused(tmp_path, (wheels.entry("demo/link", kind | 0o777), b"/etc"))
    assert problem.startswith("PR105")


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("twin", ["demo/ok.py", "demo/OK.py", "Demo/ok.py"])
def test_one_name_twice_or_in_two_cases_is_refused(tmp_path: Path, twin: str) -> None:
    (problem,) = refused(tmp_path, (wheels.entry(twin), b"y = 2\n"))
    assert problem.startswith("PR105") and ("twice" in problem or "case" in problem)


def test_composed_and_decomposed_spellings_of_a_name_collide(tmp_path: Path) -> None:
    both = [(wheels.entry(f"demo/{name}.py"), b"") for name in ("\u00e9", "e\u0301")]
    assert len(refused(tmp_path, *both)) == 1


def test_a_file_that_is_a_folder_too_is_refused(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, (wheels.entry("demo/ok.py/inner"), b""))
    assert "a file and" in problem


def test_all_unsafe_entries_are_told_at_once(tmp_path: Path) -> None:
    assert len(refused(tmp_path, (wheels.entry("../a"), b""), (wheels.entry("/b"), b""))) == 2


def test_a_big_file_that_packs_too_well_is_refused(tmp_path: Path) -> None:
    (problem,) = refused(tmp_path, (wheels.entry("demo/zeros"), bytes(archive.BIG + 1)))
    assert problem.startswith("PR107")


def test_more_than_the_total_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_TOTAL", 100)
    (problem,) = refused(tmp_path, (wheels.entry("demo/a"), bytes(60)), (wheels.entry("demo/b"), bytes(60)))
    assert problem.startswith("PR107") and "126 bytes" in problem


def test_a_size_that_lies_unpacks_no_more_than_it_says(tmp_path: Path) -> None:
    content = bytes(range(256)) * 64
    wheel = write(tmp_path / "x.whl", (wheels.entry("demo/lie"), content))
    data = wheel.read_bytes()
    assert data.count(struct.pack("<I", len(content))) == 2  # local header and directory
    wheel.write_bytes(data.replace(struct.pack("<I", len(content)), struct.pack("<I", 16)))
    target = tmp_path / "t"
    target.mkdir()
    with pytest.raises(PruneError, match="PR106"):
        unpack(wheel, target)
    assert sum(path.stat().st_size for path in target.rglob("*") if path.is_file()) <= 16


def test_what_is_no_archive_or_was_cut_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    whole = wheels.make_wheel(tmp_path / "w").read_bytes()
    for index, content in enumerate([b"", b"not a zip", whole[: len(whole) // 2]]):
        path = tmp_path / f"{index}.whl"
        path.write_bytes(content)
        with pytest.raises(PruneError, match="PR106"):
            unpack(path, tmp_path / "t")
