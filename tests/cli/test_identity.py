"""The same input gives the same bytes: with any number of processes, from rules in any folder, in any order, twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pruner.pipeline import RunOptions, run
from tests.cli.test_cache import ROOT, contents

MODULE = """\
from plat import is_hip
import {other}


class Worker{n}:
    def run(self):
        if is_hip():
            return "hip"
        return {other}.NAME

    def unused(self):
        return None


NAME = "{n}" if not is_hip() else helper()


def helper():
    return 1
"""
MAIN = """\
rules:
  - {id: start, because: It starts here., root: [app]}
  - {id: gone, because: Nobody wants it., drop: ["pkg.extra"]}
"""
MORE = """\
extends: [base/platform.yaml]
rules:
  - {id: no-residue, because: It is gone., discard: ["name:hip_only"]}
  - {id: hip-mode, because: It is gone., assume: {"conf.get_mode()": [cuda, cpu]}, optional: true}
"""
PLATFORM = """\
rules:
  - {id: no-hip, because: There is none., assume: {plat.is_hip(): false}}
  - {id: mode, because: It is fast., assume: {conf.MODE: fast}}
"""


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """So many modules that both pools of workers are used: 200 to be read, 50 to be edited."""
    folder = tmp_path_factory.mktemp("upstream")
    (folder / "pkg").mkdir()
    count = 230
    for n in range(count):
        text = MODULE.format(n=n, other=f"pkg.m{(n * 7 + 1) % count}")
        (folder / "pkg" / f"m{n}.py").write_text(text)
    for name, text in {
        "pkg/__init__.py": "",
        "pkg/extra.py": "hip_only = 1\n",
        "names.py": "".join(f"def name_{n}():\n    return {n}\n\n\n" for n in range(20)),
        "plat.py": "def is_hip():\n    return probe()\n",
        "conf.py": "MODE = probe()\n\n\ndef set_mode(mode):\n    global MODE\n    MODE = mode\n\n\ndef get_mode():\n    return MODE\n",
        "app.py": "import conf\nfrom pkg.m0 import Worker0\n\nWorker0().run()\nif conf.MODE == 'slow':\n    conf.set_mode(1)\n"
        + "import names\n\nprint(getattr(names, f'name_{probe()}'))\n"
        + "if conf.get_mode() == 'hip':\n    import pkg.extra\n",
    }.items():
        (folder / name).write_text(text)
    return folder


def place_rules(folder: Path) -> tuple[Path, Path]:
    """Two rule files and one that the second extends."""
    (folder / "base").mkdir(parents=True)
    (folder / "main.yaml").write_text(MAIN)
    (folder / "more.yaml").write_text(MORE)
    (folder / "base" / "platform.yaml").write_text(PLATFORM)
    return folder / "main.yaml", folder / "more.yaml"


def written(place: Path, upstream: Path, rules: tuple[Path, ...], jobs: int) -> dict[str, bytes]:
    """Everything that a run writes."""
    options = RunOptions(rules, upstream, place / "out", place / "reports", jobs, False, True, Path())
    result = run(options, lambda _stage, _share: None)
    assert result.exit_code == 0, result.findings
    return {f"out/{k}": v for k, v in contents(place / "out").items()} | {
        f"reports/{k}": v for k, v in contents(place / "reports").items()
    }


@pytest.fixture(scope="module")
def first(upstream: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    place = tmp_path_factory.mktemp("first")
    found = written(place, upstream, place_rules(place / "rules"), 1)
    assert b"is_hip" not in found["out/pkg/m0.py"] and "out/pkg/extra.py" not in found
    assert str(place).encode() not in b"".join(found.values())
    return found


def same(left: dict[str, bytes], right: dict[str, bytes]) -> None:
    assert left.keys() == right.keys()
    assert [name for name in left if left[name] != right[name]] == []


def test_another_order_of_sets(first: dict[str, bytes], upstream: Path, tmp_path: Path) -> None:
    main, more = place_rules(tmp_path / "rules")
    command = [sys.executable, "-m", "pruner", "--rules", str(main), "--rules", str(more), "--upstream", str(upstream)]
    command += ["--output", str(tmp_path / "out"), "--reports", str(tmp_path / "reports"), "-j", "2"]
    where = {"PYTHONHASHSEED": "12345", "PRUNE_CACHE": str(tmp_path / "cache")}
    subprocess.run(command, cwd=ROOT, env=os.environ | where, check=True, capture_output=True, timeout=120)
    found = {f"out/{k}": v for k, v in contents(tmp_path / "out").items()}
    same(first, found | {f"reports/{k}": v for k, v in contents(tmp_path / "reports").items()})


@pytest.mark.parametrize("jobs", [1, 2, 4])
def test_any_number_of_processes(first: dict[str, bytes], upstream: Path, tmp_path: Path, jobs: int) -> None:
    same(first, written(tmp_path, upstream, place_rules(tmp_path / "rules"), jobs))


def test_rules_elsewhere_in_another_order(first: dict[str, bytes], upstream: Path, tmp_path: Path) -> None:
    main, more = place_rules(tmp_path / "deep" / "down" / "other name")
    same(first, written(tmp_path, upstream, (more, main), 2))


def test_upstream_elsewhere(first: dict[str, bytes], upstream: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(upstream, tmp_path / "another place" / upstream.name)
    same(first, written(tmp_path, moved, place_rules(tmp_path / "rules"), 1))


def test_a_relative_path_from_another_folder(
    first: dict[str, bytes], upstream: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place_rules(tmp_path / "rules")
    monkeypatch.chdir(tmp_path / "rules" / "base")
    same(first, written(tmp_path, upstream, (Path("../more.yaml"), Path("../main.yaml")), 2))
