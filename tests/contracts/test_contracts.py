"""The import contracts hold, and each of them can fail: planted violations are found by name."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_CONFIG = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
_NAMES = {contract["id"]: contract["name"] for contract in _CONFIG["contracts"]}

# importing module, what it imports, the contracts that must break
PLANTED = [
    ("errors", "pruner.model", {"layers"}),
    ("model", "pruner.policy", {"layers"}),
    ("source", "pruner.emit", {"layers", "one-writer"}),
    ("syntax", "pruner.policy", {"layers"}),
    ("fold", "pruner.scan", {"layers"}),
    ("scan", "pruner.edit", {"layers"}),
    ("scan", "pruner.graph", {"layers"}),
    ("passes", "pruner.report", {"layers"}),
    ("console", "pruner.pipeline", {"layers"}),
    ("pipeline", "pruner.cli", {"layers"}),
    ("passes", "pruner.emit", {"one-writer"}),
    ("cli", "pruner.emit", {"one-writer"}),
    ("pipeline", "click", {"one-click"}),
    ("console", "click", {"one-click"}),
    ("verify", "pruner.fold", {"verify-alone"}),
    ("verify", "pruner.scan", {"verify-alone"}),
    ("verify", "pruner.graph", {"verify-alone"}),
    ("verify", "pruner.edit", {"verify-alone"}),
    ("verify", "pruner.syntax", {"verify-alone"}),
    ("verify", "pruner.policy", {"verify-alone"}),
    ("verify", "pruner.passes", {"layers", "verify-alone"}),
    ("verify", "libcst", {"verify-alone"}),
    ("report", "pruner.graph", {"report-alone"}),
    ("report", "pruner.source", {"report-alone"}),
    ("report", "libcst", {"report-alone"}),
]


def layers() -> list[str]:
    """Every name in the list of layers."""
    rows = next(contract["layers"] for contract in _CONFIG["contracts"] if contract["id"] == "layers")
    return [name.strip(" ()") for row in rows for name in row.split("|")]


def broken(folder: Path) -> set[str]:
    """Ids of the contracts that the package in ``folder`` breaks."""
    code = "import sys; from importlinter.cli import lint_imports_command as run; run()"
    done = subprocess.run(
        [sys.executable, "-c", code, "--no-cache", str(folder / "pyproject.toml")],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Contracts:" in done.stdout, done.stdout + done.stderr
    return {id_ for id_, name in _NAMES.items() if f"{name} BROKEN" in " ".join(done.stdout.split())}


@pytest.fixture(scope="module")
def skeleton(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All layers as empty packages: what breaks is what was planted."""
    folder = tmp_path_factory.mktemp("skeleton")
    for name in layers():
        package = folder / "pruner" / name
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
    (folder / "pruner/__init__.py").touch()
    shutil.copy(_ROOT / "pyproject.toml", folder)
    return folder


def test_the_project_keeps_its_contracts() -> None:
    assert broken(_ROOT) == set()


def test_every_package_of_the_project_is_a_layer() -> None:
    there = {
        path.stem for path in (_ROOT / "pruner").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert there - {"__init__"} <= set(layers())


def test_an_empty_skeleton_breaks_nothing(skeleton: Path) -> None:
    assert broken(skeleton) == set()


@pytest.mark.parametrize(("module", "imported", "expected"), PLANTED, ids=[f"{row[0]}-{row[1]}" for row in PLANTED])
def test_a_planted_import_is_found(
    skeleton: Path, tmp_path: Path, module: str, imported: str, expected: set[str]
) -> None:
    shutil.copytree(skeleton, tmp_path, dirs_exist_ok=True)
    (tmp_path / "pruner" / module / "planted.py").write_text(f"def later() -> None:\n    import {imported}\n")
    assert broken(tmp_path) == expected


@pytest.mark.parametrize(
    ("module", "imported", "expected"), PLANTED[-10::3], ids=[f"{row[0]}-{row[1]}" for row in PLANTED[-10::3]]
)
def test_a_planted_import_is_found_among_the_real_ones(
    tmp_path: Path, module: str, imported: str, expected: set[str]
) -> None:
    shutil.copytree(_ROOT / "pruner", tmp_path / "pruner", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "pruner" / module / "planted.py").write_text(f"def later() -> None:\n    import {imported}\n")
    assert expected <= broken(tmp_path)


def test_a_package_that_is_no_layer_is_found(skeleton: Path, tmp_path: Path) -> None:
    shutil.copytree(skeleton, tmp_path, dirs_exist_ok=True)
    (tmp_path / "pruner/utils.py").touch()
    assert broken(tmp_path) == {"layers"}


def test_the_verifier_may_not_reach_the_engine_through_others(skeleton: Path, tmp_path: Path) -> None:
    shutil.copytree(skeleton, tmp_path, dirs_exist_ok=True)
    (tmp_path / "pruner/verify/planted.py").write_text("import pruner.model.door\n")
    (tmp_path / "pruner/model/door.py").write_text("import libcst\n")
    assert broken(tmp_path) == {"verify-alone"}
