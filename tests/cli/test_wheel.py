"""The launch commands against a tree's own parser: what it takes, and what it says of what it does not."""

from __future__ import annotations

import sys
from pathlib import Path

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
