"""What is no Python stays as it is, byte by byte and mode by mode, or goes for a reason; a project file says what upstream says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pruner.cli import main
from tests.verify.wrong import Case

RULES = """\
rules:
  - {id: t.root, because: It starts here., root: [sglang.app]}
  - {id: t.hip, because: It is never so., optional: true, assume: {sglang.plat.is_hip(): false}}
  - {id: t.docs, because: Nobody loads these., drop: ["path:docs/*"]}
"""
FILES: dict[str, str | bytes] = {
    "docs/a.md": "a\n",
    "docs/b.md": "b\n",
    "top.txt": "top\n",
    "run.sh": "#!/bin/sh\n",
    "sglang/__init__.py": "",
    "sglang/plat.py": "def is_hip():\n    return False\n",
    "sglang/app.py": "import zmq\nfrom sglang.plat import is_hip\nimport os, deep_gemm\nfrom sglang.part.one import Z\n\nif is_hip():\n    import sglang.old\n"
    "X = open('sglang/words.txt')\nY = __import__('importlib').import_module('numba.core')\nW = Z\n",
    "sglang/part/one.py": "Z = 1\n",
    "sglang/words.txt": "one\n",
    "sglang/table.json": "{}\n",
    "sglang/deep/er/table.bin": b"\0\1",
    "sglang/old/__init__.py": "import soundfile, decord\nimport ninja, deep_gemm, numba\n",
    "sglang/old/kernel.json": "{}\n",
    "sglang/old/deep/kernel.json": "{}\n",
}
WHEEL: dict[str, str | bytes] = {
    "sglang-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: sglang\nVersion: 1.2\nRequires-Python: >=3.9\nRequires-Dist: pyzmq>=1\n"
    "Requires-Dist: soundfile\nRequires-Dist: orjson\nRequires-Dist: torch; extra == 'gpu'\nProvides-Extra: gpu\n"
    "Requires-Dist: sgl-deep-gemm>=1\nRequires-Dist: decord2\nRequires-Dist: ninja\nRequires-Dist: py-spy\nRequires-Dist: numba\n"
    "Requires-Dist: ray[default]>=2; (python_version < '3.12') and extra == 'more'\n",
    "sglang-1.2.dist-info/entry_points.txt": "[console_scripts]\nsglang = sglang.app:X\n\n[more.things]\none = sglang.app\n",
    "sglang-1.2.dist-info/licenses/LICENSE": "Do as you like.\n",
    "sglang-1.2.dist-info/RECORD": "sglang/app.py,,\n",
    "sglang-1.2.dist-info/WHEEL": "Wheel-Version: 1.0\nTag: cp39-abi3-linux_x86_64\n",
    "sglang/fast.abi3.so": b"\x7fELF",
}


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("data"), FILES, RULES)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("wheel"), FILES | WHEEL, RULES)


def test_what_goes_with_its_code_or_by_a_rule_may_go(case: Case, wheel: Case) -> None:
    for one in (case, wheel):
        left = {path.relative_to(one.out).as_posix() for path in one.out.rglob("*") if path.is_file()}
        assert not {path for path in left if path.startswith(("docs/", "sglang/old/"))}
        assert {"top.txt", "run.sh", "sglang/words.txt", "sglang/deep/er/table.bin"} <= left
        assert one.verdicts(one.out) == {}


KEPT = sorted(path for path in FILES if not path.startswith(("docs/", "sglang/old/")) and not path.endswith(".py"))


@pytest.mark.parametrize("path", KEPT)
def test_no_byte_changes_and_no_file_goes(path: str, case: Case) -> None:
    assert "tokens" in case.judged({path: (case.out / path).read_bytes() + b"\n"})
    assert "tokens" in case.judged({path: b""})
    assert "tokens" in case.judged({path: None})


@pytest.mark.parametrize("path", [*KEPT, "sglang/app.py"])
def test_no_mode_changes(path: str, tmp_path: Path) -> None:
    files = {path: text for path, text in FILES.items() if not path.startswith("docs/")}
    case = Case(tmp_path, files, RULES.replace("docs/*", "sglang/old/*"))
    (case.out / path).chmod(0o755)
    assert "tokens" in case.verdicts(case.out)
    (case.upstream / path).chmod(0o755)
    assert case.verdicts(case.out) == {}
    (case.out / path).chmod(0o644)
    assert "tokens" in case.verdicts(case.out)


def test_data_that_kept_code_names_is_missed(tmp_path: Path) -> None:
    files = FILES | {
        "sglang/app.py": "from sglang.plat import is_hip\n\nif is_hip():\n    import sglang.old\nX = open('sglang/old/kernel.json')\n"
    }
    case = Case(tmp_path, files, RULES + '  - {id: t.keep, because: It is opened., keep: ["path:sglang/old/*.json"]}\n')
    assert (case.out / "sglang/old/kernel.json").exists() and case.verdicts(case.out) == {}
    assert "tokens" in case.judged({"sglang/old/kernel.json": None})
    case.rules.write_text(RULES)
    assert "tokens" in case.judged({"sglang/old/kernel.json": None, "sglang/old/deep/kernel.json": None})


@pytest.mark.parametrize("path", sorted(WHEEL))
def test_what_says_what_the_wheel_is_stays(path: str, wheel: Case) -> None:
    assert "tokens" in wheel.judged({path: (wheel.out / path).read_bytes() + b"\n"})
    assert "tokens" in wheel.judged({path: None})
    assert "tokens" in wheel.judged({"sglang-1.2.dist-info/more.txt": "more\n"})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "sglang"', 'name = "other"'),
        ('version = "1.2"', 'version = "1.3"'),
        (">=3.9", ">=3.10"),
        ('    "pyzmq>=1",\n', ""),
        ('    "pyzmq>=1",\n', '    "pyzmq",\n'),
        ('    "sgl-deep-gemm>=1",\n', ""),
        ('    "ninja",\n', ""),
        ('    "orjson",\n', ""),
        ('    "py-spy",\n', ""),
        ('    "numba",\n', ""),
        ('    "orjson",\n', '    "orjson",\n    "orjson",\n'),
        ('    "orjson",\n', '    "orjson",\n    "more",\n'),
        ('"torch"', '"torch", "more"'),
        ('= "sglang.app:X"', '= "sglang.app:Y"'),
        ('"one" = "sglang.app"\n', ""),
        ("[project]", "[projects]"),
        ('    "torch",', '    "torch>1",'),
        ('    "ray[default]>=2;', '    "ray>=2;'),
        ("< '3.12'", "< '3.11'"),
        ('include = ["sglang*"]', 'include = ["zz*"]'),
        ('include = ["sglang*"]', 'include = ["sglang"]'),
        ('include = ["sglang*"]', 'include = ["sglang*"]\nexclude = ["sglang.deep*"]'),
        ('include = ["sglang*"]', 'include = ["sglang*"]\nwhere = ["more"]'),
        ("namespaces = true", "namespaces = false"),
        ("**/*", "*"),
        ("[tool.setuptools.package-data]", "[tool.setuptools.package-datas]"),
        ("setuptools.build_meta", "another"),
        ('"py39"', '"cp39"'),
        ('"linux_x86_64"', '"any"'),
        ("[tool.distutils.bdist_wheel]", "[tool.distutils.wheel]"),
        ("[tool.distutils", "[tool.more]\n[tool.distutils"),
        ("[build-system]", "[build]"),
        ('license = {file = "LICENSE"}\n', ""),
        ('version = "1.2"', 'version = "1.2"\ndynamic = ["scripts"]'),
    ],
)
def test_the_project_file_says_what_upstream_says(old: str, new: str, wheel: Case) -> None:
    text = wheel.text("pyproject.toml")
    assert "soundfile" not in text and "decord2" not in text and old in text, text
    assert wheel.judged({"pyproject.toml": text}) == {}
    assert "tokens" in wheel.judged({"pyproject.toml": text.replace(old, new)})


def test_the_licence_is_upstreams(wheel: Case) -> None:
    assert "tokens" in wheel.judged({"LICENSE": "Do not.\n"})
    assert "tokens" in wheel.judged({"LICENSE": None})


LINKS = {
    "to nothing": ("sglang/more.txt", "nowhere"),
    "in the place of a file": ("sglang/words.txt", "nowhere"),
    "in the place of a module": ("sglang/app.py", "nowhere"),
    "a module to nothing": ("sglang/more.py", "nowhere.py"),
    "to itself": ("sglang/loop.py", "loop.py"),
    "a module to a folder": ("sglang/more.py", "deep"),
    "a folder to nothing": ("more", "nowhere"),
}


@pytest.mark.parametrize(("path", "target"), LINKS.values(), ids=LINKS)
def test_a_link_that_leads_to_no_file_is_told(path: str, target: str, tmp_path: Path) -> None:
    case = Case(tmp_path, FILES, RULES)
    (case.out / path).unlink(missing_ok=True)
    os.symlink(target, case.out / path)
    assert "tokens" in case.verdicts(case.out)
    command = [
        "verify",
        "--output",
        str(case.out),
        "--rules",
        str(case.rules),
        "--upstream",
        str(case.upstream),
        "-j",
        "1",
    ]
    assert main(command) == 3


def test_a_pipe_is_told(case: Case, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for path in case.out.rglob("*"):
        if path.is_file():
            (tree / path.relative_to(case.out)).parent.mkdir(parents=True, exist_ok=True)
            (tree / path.relative_to(case.out)).write_bytes(path.read_bytes())
    os.mkfifo(tree / "sglang/pipe.py")
    assert "tokens" in case.verdicts(tree)
