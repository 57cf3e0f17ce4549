"""The launch commands against a tree's own parser: what it takes, and what it says of what it does not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import wheel
from benchmarks.wheel import left_out, parsed

ARGS = """\
class ServerArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model-path", required=True)
        parser.add_argument("--tp-size", type=int)
        parser.add_argument("--backend", choices=["a", "b"])
"""
START = 'exec python3 -m sglang.launch_server \\\n  --model-path "${MODEL:-x}" \\\n  '


def tree(folder: Path, args: str = ARGS) -> Path:
    files = {
        "sglang/__init__.py": "",
        "sglang/srt/server_args.py": args,
        "launch/good.sh": f'{START}--tp-size "${{N:-8}}" --backend b "$@"\n',
        "launch/option.sh": f"{START}--tp-siz8 8\n",
        "launch/choice.sh": f"{START}--backend c\n",
        "launch/type.sh": f"{START}--tp-size eight\n",
        "launch/router.sh": "exec python3 -m other.router --nothing\n",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def test_the_parser_of_the_tree_decides(tmp_path: Path) -> None:
    told = parsed(tree(tmp_path), Path(sys.executable))
    assert sorted(told) == ["choice.sh", "good.sh", "option.sh", "type.sh"] and told["good.sh"] == ""
    assert told["option.sh"] == "option.sh: error: unrecognized arguments: --tp-siz8 8"
    assert "invalid choice: 'c'" in told["choice.sh"] and "invalid int value: 'eight'" in told["type.sh"]


def test_a_tree_that_does_not_start_is_no_success(tmp_path: Path) -> None:
    told = parsed(tree(tmp_path, "import nobody_has_this\n"), Path(sys.executable))
    assert set(told.values()) == {"ModuleNotFoundError: No module named 'nobody_has_this'"}


def test_a_file_that_the_wheel_lacks_is_told(tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "w.whl", "w") as file:
        file.writestr("sglang/__init__.py", "")
    assert left_out(tree(tmp_path / "t"), tmp_path / "w.whl") == ["sglang/srt/server_args.py"]


def test_building_leaves_the_tree_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip builds where the project is: build/ and an egg-info folder, which `prune verify` refutes, and builds from again."""
    top = tree(tmp_path / "t")
    for path in ("build/lib/sglang/gone.py", "sglang.egg-info/PKG-INFO", "sglang/build/kept.py"):
        (top / path).parent.mkdir(parents=True)
        (top / path).write_text("")
    before = sorted(path.relative_to(top) for path in top.rglob("*"))
    seen: list[str] = []

    def pip(command: list[str], env: dict[str, str], **_: object) -> None:
        assert env["SOURCE_DATE_EPOCH"] == wheel.EPOCH
        place = Path(command[-1])
        seen.extend(sorted(path.relative_to(place).as_posix() for path in place.rglob("*.py")))
        (place / "build").mkdir()
        (tmp_path / "w" / "sglang.whl").write_text("")

    (tmp_path / "w").mkdir()
    monkeypatch.setattr(wheel.subprocess, "run", pip)
    assert wheel.build(top, tmp_path / "w").name == "sglang.whl"
    assert sorted(path.relative_to(top) for path in top.rglob("*")) == before
    assert seen == ["sglang/__init__.py", "sglang/build/kept.py", "sglang/srt/server_args.py"]


def test_a_tree_of_a_folder_has_an_origin() -> None:
    """Only an archive has a digest of its own: the document said that upstream is nothing."""
    manifest = {"digest": "sha256:d", "upstream": {"digest": "", "snapshot": "s"}, "rules": {"digest": "r"}}
    found = {"prune:digest": "sha256:d", "prune:rules": "r", "prune:upstream-files": "s"}
    assert wheel.origin(manifest) == found
    manifest["upstream"] = {"digest": "a", "snapshot": "s"}
    assert wheel.origin(manifest) == {**found, "prune:upstream": "a"}
