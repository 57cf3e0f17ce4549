"""The case folders: each one's own check must accept the output, at any number of jobs, from anywhere."""

from __future__ import annotations

import contextlib
import csv
import functools
import hashlib
import os
import shutil
import subprocess
import symtable
import sys
import tomllib
from pathlib import Path

import pytest

from pruner.pipeline import run_case
from tests.conftest import HERE, PENDING

GROUPS = (HERE / "cases", HERE / "cases-values")
CASES = {p.name: p for group in GROUPS for p in sorted(group.iterdir()) if (p / "facts.yaml").is_file()}


def tree(root: Path) -> dict[str, str]:
    """Path → digest, mode bit and link target of every file."""
    rows = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if "__pycache__" in name:
            continue
        if path.is_symlink():
            rows[name] = "-> " + os.readlink(path)
        elif path.is_file():
            rows[name] = hashlib.sha256(path.read_bytes()).hexdigest() + (" x" if os.access(path, os.X_OK) else "")
    return rows


@functools.cache
def ran(name: str, place: Path) -> int:
    """The exit code of the case's run, done once."""
    return run_case(CASES[name], place / name, 1).exit_code


def pruned(name: str, place: Path) -> Path:
    """The case's output, made once."""
    ran(name, place)
    return place / name


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the outputs of this session are."""
    return tmp_path_factory.mktemp("cases")


def test_every_case_is_indexed() -> None:
    indexed = set()
    for group in GROUPS:
        with (group / "index.csv").open(encoding="utf-8") as file:
            indexed |= {row["id"] for row in csv.DictReader(file)}
    assert indexed == set(CASES)


def test_pending_names_tests() -> None:
    for name in PENDING:
        assert (HERE / name.split("::")[0]).is_file(), f"pending.toml: {name} is no test"
    assert set(tomllib.loads((HERE / "pending.toml").read_text(encoding="utf-8"))) == {"pending"}


@pytest.mark.parametrize("name", CASES)
def test_the_check_accepts_the_output(name: str, place: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(CASES[name] / "check.py"), str(pruned(name, place))],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", CASES)
def test_the_checks_of_the_run_accept_the_output(name: str, place: Path) -> None:
    """Clean, or findings: what the project's own checker refutes is not put in anybody's place."""
    assert ran(name, place) in (0, 1)


@pytest.mark.parametrize("name", CASES)
def test_same_bytes_at_two_jobs_from_another_folder(name: str, place: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "a deeper" / "place"
    shutil.copytree(CASES[name], elsewhere, symlinks=True)
    run_case(elsewhere, tmp_path / "out", 2)
    assert tree(tmp_path / "out") == tree(pruned(name, place))


def sources(root: Path) -> dict[str, str]:
    """Files less those that prune adds."""
    return {n: d for n, d in tree(root).items() if n != "PRUNED.json"}


@pytest.mark.parametrize("name", CASES)
def test_pruning_the_output_changes_nothing(name: str, place: Path, tmp_path: Path) -> None:
    """One run is the fixed point: the output under the same rules gives itself."""
    first = pruned(name, place)
    again = tmp_path / "case"
    shutil.copytree(first, again / "in", symlinks=True)
    (again / "in" / "PRUNED.json").unlink()
    shutil.copy(CASES[name] / "facts.yaml", again / "facts.yaml")
    run_case(again, tmp_path / "out", 1)
    assert sources(tmp_path / "out") == sources(first)


def everything(root: Path) -> list[str]:
    """Keep targets for each module, each name that it binds, imports included, and each method."""
    found = []
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if not parts or not all(p.isidentifier() for p in parts):
            continue
        module = ".".join(parts)
        found.append(module)
        with contextlib.suppress(SyntaxError):
            table = symtable.symtable(path.read_text(encoding="utf-8-sig"), str(path), "exec")
            found += [f"{module}:{n}" for n in table.get_identifiers()]
            for scope in table.get_children():
                if scope.get_type() == "class":
                    found += [f"{module}:{scope.get_name()}.{n}" for n in scope.get_identifiers()]
    return found


@pytest.mark.parametrize("name", CASES)
def test_no_facts_and_everything_kept_changes_nothing(name: str, tmp_path: Path) -> None:
    """Nothing is known and every name is a root: byte for byte the same tree."""
    case = tmp_path / "case"
    shutil.copytree(CASES[name] / "in", case / "in", symlinks=True)
    rows = "".join(f"  - {name}\n" for name in everything(case / "in"))
    (case / "facts.yaml").write_text(f"facts: {{}}\nroots:\n{rows}", encoding="utf-8")
    run_case(case, tmp_path / "out", 1)
    before, after = tree(case / "in"), sources(tmp_path / "out")
    assert {n: d for n, d in after.items() if before.get(n) != d} == {}
    assert set(before) - set(after) == set()
