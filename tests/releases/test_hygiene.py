"""Whatever looks like a platform and no rule speaks of fails, located, with a rule to paste that silences it.

One program with the platforms of a small package; each case plants one name of one kind in it.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pruner.cli import main
from pruner.pipeline import RunOptions, run
from pruner.pipeline.change.side import Side
from pruner.pipeline.suspects import suggestion, suspects

PROGRAM = {
    "pkg/__init__.py": "",
    "pkg/__main__.py": "from pkg.main import main\n\nmain('cuda')\n",
    "pkg/plat.py": '''\
"""What machine this is."""

import enum
import os

KIND = os.path.basename("/dev/cuda")


class Platform(enum.Enum):
    CUDA = 1
    HIP = 2
    NPU = 3
    XPU = 4


def is_cuda():
    return KIND == "cuda"


def is_hip():
    return KIND == "hip"


def is_npu():
    return KIND == "npu"


def is_xpu():
    return KIND == "xpu"
''',
    "pkg/main.py": '''\
"""The program."""

import os

from pkg import backends
from pkg.backends.cuda import run
from pkg.plat import Platform, is_hip, is_npu, is_xpu

_is_hip = is_hip()
_is_npu = is_npu()


def device_of(device):
    if device == "hip":
        return 1
    if device == "npu" or device == "xpu":
        return 2
    return 0


def main(device):
    if _is_hip or _is_npu or is_xpu():
        raise ValueError(Platform.HIP)
    for member in Platform:
        print(member)
    return run(device_of(device), backends)
''',
    "pkg/backends/__init__.py": "",
    "pkg/backends/cuda.py": "def run(device, package):\n    return device\n",
    "pkg/backends/hip.py": "def run(device):\n    return device\n",
    "pkg/backends/npu.py": "def run(device):\n    return device\n",
    "pkg/backends/xpu.py": "def run(device):\n    return device\n",
}
RULES = """\
rules:
  - id: start
    because: It starts here.
    root: [pkg.__main__]
  - id: gpu
    because: The machine is one of these.
    assume:
      pkg.plat.is_cuda(): true
      pkg.plat.is_hip(): false
      pkg.plat.is_npu(): false
      pkg.plat.is_xpu(): false
"""


@dataclass(frozen=True)
class Plant:
    """``edits`` are (file, old text, new text), an empty old text appends; ``at`` is where the finding stands."""

    word: str
    at: str
    edits: tuple[tuple[str, str, str], ...]
    evidence: str


PLANTS = {
    "predicate": Plant(
        "sail",
        "pkg/plat.py",
        (
            ("pkg/plat.py", "", '\n\ndef is_sail():\n    return os.environ["KIND"] == "sail"\n'),
            ("pkg/main.py", "is_npu, is_xpu\n", "is_npu, is_sail, is_xpu\n"),
            ("pkg/main.py", "    for member", "    if is_sail():\n        print(7)\n    for member"),
        ),
        "`pkg.plat.is_sail()` is defined beside a predicate that the rules deny",
    ),
    "flag": Plant(
        "tern",
        "pkg/main.py",
        (
            ("pkg/main.py", "_is_npu = is_npu()\n", '_is_npu = is_npu()\n_is_tern = os.path.exists("/dev/tern")\n'),
            ("pkg/main.py", "    for member", "    if _is_tern:\n        print(7)\n    for member"),
        ),
        "`pkg.main._is_tern` is set beside `_is_npu`",
    ),
    "enum member": Plant(
        "gull",
        "pkg/plat.py",
        (("pkg/plat.py", "    XPU = 4\n", "    XPU = 4\n    GULL = 5\n"),),
        "`Platform.GULL` stands beside `hip`, `npu`, `xpu`",
    ),
    "module": Plant(
        "wren",
        "pkg/backends/wren.py",
        (
            ("pkg/backends/wren.py", "", "def run(device, package):\n    print(device)\n    return -device\n"),
            (
                "pkg/main.py",
                "    for member",
                "    if device:\n        from pkg.backends import wren\n\n        print(wren.run(1, 2))\n    for member",
            ),
        ),
        "`pkg/backends/wren` stands beside `hip`, `npu`, `xpu`",
    ),
    "folder": Plant(
        "rook",
        "pkg/backends/rook/__init__.py",
        (
            ("pkg/backends/rook/__init__.py", "", "def run(device, package):\n    print(device)\n    return -device\n"),
            (
                "pkg/main.py",
                "    for member",
                "    if device:\n        from pkg.backends import rook\n\n        print(rook.run(1, 2))\n    for member",
            ),
        ),
        "`pkg/backends/rook` stands beside `hip`, `npu`, `xpu`",
    ),
    "variable of the environment": Plant(
        "pkg_use_hip_graphs",
        "pkg/main.py",
        (
            (
                "pkg/main.py",
                "    for member",
                '    if os.environ.get("PKG_USE_HIP_GRAPHS"):\n        print(7)\n    for member',
            ),
        ),
        "`PKG_USE_HIP_GRAPHS` names `hip` and is kept 1 times",
    ),
    "variable behind a helper": Plant(
        "pkg_npu_pages",
        "pkg/main.py",
        (
            (
                "pkg/plat.py",
                "",
                "\n\ndef get_bool_env(name, default='0'):\n    return os.environ.get(name, default) == '1'\n",
            ),
            ("pkg/main.py", "import Platform, ", "import Platform, get_bool_env, "),
            (
                "pkg/main.py",
                "    for member",
                '    if get_bool_env("PKG_NPU_PAGES", "0"):\n        print(7)\n    for member',
            ),
        ),
        "`PKG_NPU_PAGES` names `npu` and is kept 1 times",
    ),
    "device string": Plant(
        "kite",
        "pkg/main.py",
        (("pkg/main.py", "    return 0\n", '    if device == "kite":\n        return 3\n    return 0\n'),),
        '`device` is compared with "kite", as with `hip`, `npu`, `xpu`',
    ),
    "string in a list": Plant(
        "crow",
        "pkg/main.py",
        (("pkg/main.py", "    return 0\n", '    return int(device in ("hip", "npu", "xpu", "crow"))\n'),),
        '"crow" is listed with `hip`, `npu`, `xpu`',
    ),
}


def prune(base: Path, edits: Iterable[tuple[str, str, str]], rules: str = RULES) -> Path:
    """The reports of the program with these edits."""
    files = dict(PROGRAM)
    for name, old, new in edits:
        text = files.get(name, "")
        assert old in text, (name, old)
        files[name] = text.replace(old, new, 1) if old else text + new
    for name, text in files.items():
        path = base / "up" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (base / "rules.yaml").write_text(rules)
    options = RunOptions(
        (base / "rules.yaml",), base / "up", base / "out", base / "reports", 1, False, False, base / "cache"
    )
    assert run(options, lambda *_: None).exit_code in (0, 1)
    return base / "reports"


@dataclass(frozen=True)
class Judged:
    """Everything planted at once, what hygiene printed, and what it prints once its rules are pasted."""

    base: Path
    code: int
    out: str
    err: str
    silenced: tuple[int, str]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    base = tmp_path_factory.mktemp("hygiene")
    edits = [edit for plant in PLANTS.values() for edit in plant.edits]
    code, out, err = told(str(prune(base / "planted", edits)))
    rules = out.partition("rules:\n")[2].partition("\n# or, in")[0]
    again = told(str(prune(base / "again", edits, RULES + rules)))
    return Judged(base, code, out, err, (again[0], again[2]))


def told(*arguments: str) -> tuple[int, str, str]:
    """``prune hygiene``: exit code, stdout, stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["hygiene", *arguments])
    return code, out.getvalue(), err.getvalue()


def test_the_program_itself_has_none(tmp_path: Path) -> None:
    """Nor does what goes with another platform's code need a rule."""
    edit = (
        "pkg/main.py",
        "        raise ValueError(Platform.HIP)\n",
        '        raise ValueError(os.environ["HIP_PATH"])\n',
    )
    side = Side(prune(tmp_path, (edit,)))
    assert told(str(tmp_path / "reports")) == (0, "", "")
    assert suspects(side, []) == []


@pytest.mark.parametrize("kind", PLANTS)
def test_each_kind_is_a_located_finding(kind: str, judged: Judged) -> None:
    plant = PLANTS[kind]
    assert judged.code == 1
    (finding,) = [line for line in judged.err.splitlines() if f"PR511: {plant.word} looks like" in line]
    match = re.match(rf"{re.escape(plant.at)}:(\d+): warning PR511: ", finding)
    assert match is not None, finding
    source = (judged.base / "planted" / "up" / plant.at).read_text().splitlines()
    assert match[1] == "1" or plant.word in source[int(match[1]) - 1].lower(), "the line shows the name"
    assert plant.evidence in finding
    assert f"\n{plant.word}: say why" in judged.out


def test_the_rules_to_paste_silence_all_but_strings(judged: Judged) -> None:
    """A string is no subject of a rule; the file of known names takes it, and any other."""
    code, err = judged.silenced
    assert code == 1 and sorted(re.findall(r"PR511: (\w+)", err)) == sorted(
        plant.word for kind, plant in PLANTS.items() if "string" in kind
    )
    known = judged.base / "known.txt"
    known.write_text(judged.out.partition("# or, in ")[2].partition("\n")[2])
    assert told(str(judged.base / "planted" / "reports"), "--known", str(known)) == (0, "", "")


def test_a_rule_on_something_else_of_the_name_says_nothing_of_a_member(tmp_path: Path) -> None:
    rule = "  - id: model\n    because: A model of that name.\n    drop: [pkg.backends.gull]\n"
    edits = [*PLANTS["enum member"].edits, ("pkg/backends/gull.py", "", "def run(device):\n    return device\n")]
    (row,) = suspects(Side(prune(tmp_path, edits, RULES + rule)), [])
    assert row.word == "gull" and row.drop == ["pkg.plat:Platform.GULL"]


def test_they_are_ranked(judged: Judged) -> None:
    rows = suspects(Side(judged.base / "planted" / "reports"), [])
    assert [row.score for row in rows] == sorted((row.score for row in rows), reverse=True)
    assert {row.word for row in rows} == {plant.word for plant in PLANTS.values()}
    assert "pkg.plat:Platform.GULL" in "".join(suggestion(row) for row in rows)


def test_rules_that_are_wrong_are_located(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that matches nothing, one that another makes superfluous, and a fact that the code contradicts."""
    extra = """\
  - id: nothing
    because: A test.
    assume: {pkg.plat.is_tpu(): false}
  - id: wide
    because: A test.
    drop: [pkg.backends.hip, "pkg.backends.h*"]
  - id: rebound
    because: A test.
    assume: {pkg.plat.KIND: cuda}
"""
    edit = (
        "pkg/main.py",
        "    for member",
        "    from pkg import plat\n\n    if plat.KIND == 'tpu':\n        print(8)\n    plat.KIND = device\n    for member",
    )
    reports = prune(tmp_path, (edit,), RULES + extra)
    lines = (RULES + extra).splitlines()
    main(["review", "--base", str(reports), "--reports", str(reports), "--annotations"])
    main(["rules", "check", str(tmp_path / "rules.yaml"), "--reports", str(reports)])
    found = capsys.readouterr()
    where = {
        "PR012": lines.index("  - id: nothing") + 1,
        "PR221": lines.index("    assume: {pkg.plat.KIND: cuda}") + 1,
        "PR017": lines.index('    drop: [pkg.backends.hip, "pkg.backends.h*"]') + 1,
    }
    for code in ("PR012", "PR221"):
        assert re.search(rf"file=[^,]*rules.yaml,line={where[code]},title={code}::", found.out), found.out
    assert re.search(
        rf"rules.yaml:{where['PR017']}:\d+: \w+ PR017|rules.yaml:{where['PR017']}: \w+ PR017", found.err + found.out
    )
