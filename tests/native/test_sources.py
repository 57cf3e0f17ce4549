"""Kernel sources of a whole run: what stays, what goes, and that the checks see a wrong cut."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pruner.native import reached
from pruner.verify import run

TREE = {
    "app/__init__.py": "",
    "app/plat.py": "def is_hip():\n    return False\n",
    "app/main.py": (
        "from app.plat import is_hip\n\n\n"
        "def load(name, files):\n    return name, files\n\n\n"
        "def kernel(bits):\n"
        "    if is_hip():\n        return load('old', ['csrc/old.cuh'])\n"
        "    return load('moe', ['moe/align.cuh', f'quant/q{bits}.cuh'])\n"
    ),
    "app/dead.py": "FILES = ['csrc/dead.cuh']\n",
    "app/csrc/moe/align.cuh": '#include "../common.h"\n#ifdef USE_ROCM\n#include "hip_only.h"\n#endif\nint a;\n',
    "app/csrc/common.h": "#pragma once\n#if defined(USE_ROCM) || CUDART < 12\nint b;\n#endif\n",
    "app/csrc/hip_only.h": "int c;\n",
    "app/csrc/quant/q4.cuh": "int d;\n",
    "app/csrc/quant/q8.cuh": "int e;\n",
    "app/csrc/quant/other.cuh": "int f;\n",
    "app/csrc/csrc/old.cuh": "int g;\n",
    "app/csrc/dead.cuh": "int h;\n",
    "app/csrc/table.json": "{}\n",
}
RULES = """\
rules:
  - id: main
    because: The program starts here.
    root: [app.main]
  - id: no-hip
    because: No HIP here.
    assume: {app.plat.is_hip(): false, macro:USE_ROCM: null}
  - id: native
    because: What nothing names is never compiled.
    drop: ["native:*"]
"""


def prune(folder: Path, tree: dict[str, str], rules: str) -> tuple[int, Path, str]:
    """Exit code, output and what was said of a run."""
    for path, text in tree.items():
        (folder / "in" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / path).write_text(text)
    (folder / "rules.yaml").write_text(rules)
    command = [sys.executable, "-m", "pruner", "--rules", str(folder / "rules.yaml"), "--upstream", str(folder / "in")]
    command += [
        "--output",
        str(folder / "out"),
        "--reports",
        str(folder / "reports"),
        "-j",
        "1",
        "--cache",
        str(folder / "c"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, folder / "out", done.stderr


def test_only_sources_that_kept_code_asks_for_stay(tmp_path: Path) -> None:
    code, out, said = prune(tmp_path, TREE, RULES)
    assert code == 0, said
    kept = {p.relative_to(out / "app").as_posix() for p in out.rglob("app/csrc/**/*") if p.is_file()}
    assert kept == {
        "csrc/moe/align.cuh", "csrc/common.h", "csrc/quant/q4.cuh", "csrc/quant/q8.cuh", "csrc/table.json",
    }  # fmt: skip
    assert (out / "app/csrc/moe/align.cuh").read_text() == '#include "../common.h"\nint a;\n'
    assert (out / "app/csrc/common.h").read_text() == TREE["app/csrc/common.h"]
    ledger = json.loads((tmp_path / "reports" / "ledger.json").read_text())
    text = json.dumps(ledger)
    assert "hip_only.h" in text and "no-hip" in text


def test_without_the_rule_sources_stay(tmp_path: Path) -> None:
    code, out, said = prune(tmp_path, TREE, RULES.partition("  - id: native")[0])
    assert code == 0, said
    assert (out / "app/csrc/quant/other.cuh").exists()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("app/csrc/common.h", "#define USE_ROCM 1\n"),
        ("app/main.py", TREE["app/main.py"] + "\n\nFLAGS = ['-DUSE_ROCM=1']\n"),
    ],
)
def test_a_macro_that_kept_code_sets_is_no_fact(tmp_path: Path, path: str, text: str) -> None:
    code, out, said = prune(tmp_path, {**TREE, path: text}, RULES)
    assert code == 1 and "PR223" in said and path in said
    assert "USE_ROCM" in (out / "app/csrc/moe/align.cuh").read_text()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("app/csrc/quant/q8.cuh", None),
        ("app/csrc/common.h", None),
        ("app/csrc/moe/align.cuh", '#include "../common.h"\n#include "hip_only.h"\nint a;\n'),
        ("app/csrc/moe/align.cuh", '#include "../common.h"\n'),
        ("app/csrc/common.h", "#pragma once\nint b;\n"),
        ("app/csrc/common.h", "#pragma once\n"),
        ("app/csrc/common.h", "#pragma once\n#if CUDART >= 12\nint b;\n#endif\n"),
    ],
)
def test_a_wrong_cut_is_refuted(tmp_path: Path, path: str, text: str | None) -> None:
    code, out, said = prune(tmp_path, TREE, RULES)
    assert code == 0, said
    good = run(tmp_path / "in", out, [tmp_path / "rules.yaml"], jobs=1, checks=["native"])
    assert [v.result for v in good] == ["passed"]
    if text is None:
        (out / path).unlink()
    else:
        (out / path).write_text(text)
    bad = run(tmp_path / "in", out, [tmp_path / "rules.yaml"], jobs=1, checks=["native"])
    assert [v.result for v in bad] == ["refuted"]
    shutil.rmtree(out)


SOURCES = dict.fromkeys(("k/csrc/moe/x.cuh", "k/csrc/attn/x.cuh", "k/csrc/y.cu", "k/csrc/z.cpp", "other/w.cu"), b"")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('load("moe/x.cuh")', {"k/csrc/moe/x.cuh"}),
        ('load("x.cuh")', {"k/csrc/moe/x.cuh", "k/csrc/attn/x.cuh"}),
        ('load(f"{kind}/x.cuh")', {"k/csrc/moe/x.cuh", "k/csrc/attn/x.cuh"}),
        ('load("%s/x.cuh" % kind)', {"k/csrc/moe/x.cuh", "k/csrc/attn/x.cuh"}),
        ('load(name + ".cu")', {"k/csrc/y.cu"}),
        ('ROOT.glob("*.cu")', {"k/csrc/y.cu"}),
        ('load("repo/k/csrc/z.cpp")', {"k/csrc/z.cpp"}),
        ("# see y.cu", {"k/csrc/y.cu"}),
        ('load("./csrc/y.cu", "../csrc/z.cpp")', {"k/csrc/y.cu", "k/csrc/z.cpp"}),
        ('load("y.cubin", "xy.cu", "y.cu.bak")', set()),
    ],
)
def test_what_a_text_asks_for(text: str, kept: set[str]) -> None:
    assert set(reached({"k/load.py": text.encode()}, SOURCES)) == kept


@pytest.mark.parametrize(
    "path",
    ["csrc/moe/params.h", "csrc/quant/params.h", "csrc/moe/align.cuh", "include/sgl/moe/align.cuh", "csrc/common.h"],
)
def test_a_source_of_the_same_name_elsewhere_is_another_one(tmp_path: Path, path: str) -> None:
    """``#include "params.h"`` is the one beside it; a text with folders asks for each file that it fits."""
    more = {
        "app/csrc/moe/align.cuh": '#include "../common.h"\n#include "params.h"\n',
        "app/csrc/quant/q4.cuh": '#include "params.h"\n',
        "app/csrc/quant/q8.cuh": "#include <sgl/moe/align.cuh>\n",
        "app/csrc/moe/params.h": "int m;\n",
        "app/csrc/quant/params.h": "int q;\n",
        "app/include/sgl/moe/align.cuh": "int s;\n",
        "app/csrc/quant/common.h": "int u;\n",
        "app/csrc/other/params.h": "int v;\n",
    }
    code, out, said = prune(tmp_path, {**TREE, **more}, RULES)
    assert code == 0, said
    (out / "app" / path).unlink()
    rows = run(tmp_path / "in", out, [tmp_path / "rules.yaml"], python_root="", jobs=1, checks=("native",))
    assert [row.result for row in rows] == ["refuted"]
