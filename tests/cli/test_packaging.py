"""Which dependencies a generated tree still asks for: what removed code alone imported goes, with its cause."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pruner import report
from pruner.pipeline import RunOptions, VerifyOptions, run, verify_output
from tests.cli.test_launch import CHOICES, OPTIONS

METADATA = """\
Metadata-Version: 2.4
Name: sglang
Version: 0.5.17
Requires-Python: >=3.10
Requires-Dist: timm==1.0
Requires-Dist: soundfile
Requires-Dist: pillow>=9; sys_platform == "linux"
Requires-Dist: pyzmq
Requires-Dist: nobody-knows
Requires-Dist: orjson
Requires-Dist: ninja
Requires-Dist: diffusers; extra == "diffusion"
"""
FILES = {
    "sglang-0.5.17.dist-info/METADATA": METADATA,
    "sglang-0.5.17.dist-info/entry_points.txt": "[console_scripts]\nsglang = sglang.main:main\n",
    "sglang/__init__.py": "",
    "sglang/plat.py": "def is_hip():\n    return False\n",
    "sglang/check_env.py": "LIST = ['timm', 'soundfile']\n",
    "sglang/main.py": """\
import sglang.check_env
from sglang.plat import is_hip


def main():
    import_late = "orjson.loads"
    if is_hip():
        from sglang import pictures

        return pictures.show()
    try:
        import json, zmq
    except ImportError:
        pass
    return import_late
""",
    "sglang/pictures.py": "import timm\nfrom PIL import Image\nimport soundfile, ninja\n\n\ndef show():\n    return Image, timm\n",
}
RULES = """\
rules:
  - {id: hip, because: So., assume: {sglang.plat.is_hip(): false}}
  - {id: root, because: So., root: [sglang.main]}
"""


def build(folder: Path, files: dict[str, str], rules: str = RULES) -> tuple[list[str], dict[str, Any]]:
    """(dependencies of the written project, what the report says of them)."""
    for path, text in files.items():
        (folder / "in" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / path).write_text(text)
    (folder / "rules.yaml").write_text(rules)
    options = RunOptions(
        (folder / "rules.yaml",), folder / "in", folder / "out", folder / "reports", 1, False, True, Path()
    )
    done = run(options, lambda *_: None)
    assert done.exit_code == 0, done.findings or done.document["verdicts"]
    jsonschema.validate(done.document, report.schema())
    project = tomllib.loads((folder / "out" / "pyproject.toml").read_text())["project"]
    return project["dependencies"], done.document.get("packaging", {})


def test_what_removed_code_alone_imported_goes(tmp_path: Path) -> None:
    kept, said = build(tmp_path, FILES)
    assert kept == ["pyzmq", "nobody-knows", "orjson", "ninja"]
    rows = {row["requirement"]: (row["imports"], row["files"], row["places"]) for row in said["dropped"]}
    place = ["sglang/pictures.py"]
    assert rows == {
        "timm==1.0": (["timm"], 1, place),
        "soundfile": (["soundfile"], 1, place),
        'pillow>=9; sys_platform == "linux"': (["PIL"], 1, place),
    }
    assert "`timm==1.0`" in (tmp_path / "reports" / "report.md").read_text()


STILL = ["import timm", "    from timm import x", "import os, timm", "load('timm.models')", "x = 'timm'"]


@pytest.mark.parametrize("line", STILL)
def test_what_kept_code_names_stays(tmp_path: Path, line: str) -> None:
    body = f"def g(load):\n    if load:\n        {line.strip()}\n    return load\n"
    files = FILES | {"sglang/main.py": FILES["sglang/main.py"] + "\n\n" + body + "\n\nG = g\n"}
    assert "timm==1.0" in build(tmp_path, files)[0]


@pytest.mark.parametrize(
    "line",
    [
        "raise ImportError('pip install nobody-knows')",
        "NAME = 'nobody_knows'",
        'NAME = "nobody_knows.part"',
        "pass  # import nobody_knows",
        "from . import nobody_knows",
        '"""\nimport nobody_knows\n"""',
    ],
)
def test_what_removed_code_only_names_stays(tmp_path: Path, line: str) -> None:
    """``grpcio`` went from the dependencies of a kept gRPC server: a removed script had the word in a message."""
    files = {**FILES, "sglang/pictures.py": FILES["sglang/pictures.py"] + line + "\n"}
    assert build(tmp_path, files)[0] == ["pyzmq", "nobody-knows", "orjson", "ninja"]
    real = {**FILES, "sglang/pictures.py": FILES["sglang/pictures.py"] + "import nobody_knows\n"}
    assert build(tmp_path / "real", real)[0] == ["pyzmq", "orjson", "ninja"]


def test_all_stay_where_nothing_went(tmp_path: Path) -> None:
    files = FILES | {"sglang/main.py": "import sglang.pictures\n\n\ndef main():\n    return sglang.pictures.show()\n"}
    kept, said = build(tmp_path, files)
    assert len(kept) == 7 and said == {}


CORE = "sglang/_core.cpython-311-x86_64-linux-gnu.so"
TAGS = {
    "cp311-cp311-manylinux_2_34_x86_64": ("cp311", "manylinux_2_34_x86_64"),
    "cp39-abi3-linux_aarch64": ("py39", "linux_aarch64"),  # 3.9 and later
    "py3-none-any": None,
}


@pytest.mark.parametrize("tag", TAGS)
def test_the_wheel_of_a_tree_with_compiled_code_is_for_its_platform(tag: str, tmp_path: Path) -> None:
    """It was one for any host, which found nothing to import there."""
    wheel = {"sglang-0.5.17.dist-info/WHEEL": f"Wheel-Version: 1.0\nTag: {tag}\nTag: cp38-cp38-other\n"}
    build(tmp_path / "a", FILES | wheel | {CORE: "x"})
    tool = tomllib.loads((tmp_path / "a" / "out" / "pyproject.toml").read_text())["tool"]
    made = tool.get("distutils", {}).get("bdist_wheel", {})
    assert tuple(made.values()) == (TAGS[tag] or ()) and set(made) <= {"python-tag", "plat-name"}
    build(tmp_path / "b", FILES | wheel)
    assert "distutils" not in tomllib.loads((tmp_path / "b" / "out" / "pyproject.toml").read_text())["tool"]
    rules = RULES.replace("rules:\n", f"rules:\n  - {{id: core, because: So., drop: ['path:{CORE}']}}\n")
    build(tmp_path / "c", FILES | wheel | {CORE: "x"}, rules)
    assert "distutils" not in tomllib.loads((tmp_path / "c" / "out" / "pyproject.toml").read_text())["tool"]


def test_a_server_gets_its_launch_kit(tmp_path: Path) -> None:
    """The written tree passes its checks with it; a file for which an option is gone is not there."""
    body = "".join(f"    parser.add_argument({option!r})\n" for option in OPTIONS if option != "--nnodes")
    files = FILES | {
        "sglang/launch_server.py": "import argparse\n\nfrom sglang.srt import server_args\n\n"
        "server_args.add(argparse.ArgumentParser())\n",
        "sglang/srt/server_args.py": f"CHOICES = {CHOICES!r}\n\n\ndef add(parser):\n    parser.set_defaults(choices=CHOICES)\n{body}",
    }
    build(tmp_path, files, RULES.replace("[sglang.main]", "[sglang.main, sglang.launch_server]"))
    made = {path.name for path in (tmp_path / "out" / "launch").iterdir()}
    assert {"README.md", "Dockerfile", "r1-fp8-8xh200.sh"} <= made and "r1-fp8-2x8xh100.sh" not in made
    verified = verify_output(VerifyOptions(tmp_path / "out", tmp_path / "in", (tmp_path / "rules.yaml",)))
    assert {row.result for row in verified} == {"passed", "not run"}
