"""A seeded sample of wrong prunings of the cases' programs: every one is refuted, or named here."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from pruner.pipeline import run_case
from pruner.verify import run
from pruner.verify.rules import read_case
from tests.mutation.equal import same
from tests.mutation.further import FURTHER
from tests.mutation.judge import Judge
from tests.mutation.mutants import DATA, KINDS, Mutant, mutants
from tests.mutation.score import judge
from tests.mutation.source import Source

CASES = sorted(path.parent for path in (Path(__file__).parents[1] / "cases").glob("*/facts.yaml"))
SEED, PROGRAMS, EACH = 5, 20, 3
# Not refuted, and why: kind, case and place.
UNSEEN: dict[str, str] = {}


def planted(folder: Path, case: Path, count: int, seed: int) -> tuple[Judge, list[Mutant]]:
    """A judge of the case's output, and mutants of it."""
    run_case(case, folder / "out", 1)
    judged = Judge(case / "in", folder / "out", read_case(case / "facts.yaml"))
    files = {path: judged.out.read(path) for path in judged.out.files if not path.endswith("_prune_guard.py")}
    return judged, mutants(files, count, seed)


@pytest.mark.parametrize("case", random.Random(SEED).sample(CASES, PROGRAMS), ids=lambda path: path.name)
def test_wrong_prunings_are_refuted(case: Path, tmp_path: Path) -> None:
    judged, made = planted(tmp_path, case, EACH, SEED)
    assert made
    scores = judge(judged, made, 1, judged.first(), lambda text: None)
    names = {f"{s.mutant.kind} {case.name}/{s.mutant.path}:{s.mutant.line}" for s in scores if not s.caught}
    assert names <= set(UNSEEN), sorted(names - set(UNSEEN))


def test_a_variant_is_judged_as_a_tree_on_disk_is(tmp_path: Path) -> None:
    """What is remembered of the unchanged files changes no answer."""
    case = CASES[1]
    judged, made = planted(tmp_path, case, 8, SEED)
    clean = judged.first()
    assert not any(clean.values())
    for number, mutant in enumerate(made):
        folder = tmp_path / str(number)
        shutil.copytree(tmp_path / "out", folder)
        for path, data in mutant.changes:
            if data is None:
                (folder / path).unlink()
            else:
                (folder / path).write_bytes(data)
        rows = run(case / "in", folder, [], facts_yaml=case / "facts.yaml", jobs=1)
        expected = {row.check: list(row.details) for row in rows}
        assert judged.again(dict(mutant.changes)) == expected, mutant


def test_same_seed_same_mutants() -> None:
    text = b"import a\n\n\nclass A(a.B):\n    def m(self, x=1):\n        if x and self:\n            return 1\n        return 2\n"
    files = {f"m{number}.py": text for number in range(40)}
    made = mutants(files, 30, 3)
    assert made == mutants(files, 30, 3) and len(made) == 30
    assert len({mutant.kind for mutant in made}) >= 10
    assert {mutant.kind for mutant in made} <= {*KINDS, "module gone"}


PARTS = """\
import enum
from typing import Literal


class Kind(enum.Enum):
    A = 1
    B = 2


class C:
    x: Literal["a", "b"] = "a"

    def __init__(self):
        start(self)
"""


@pytest.mark.parametrize("kind", ["enum member gone", "expression gone", "annotation changed", *DATA])
def test_kinds_of_their_own(kind: str) -> None:
    files = {f"m{number}.py": PARTS.encode() for number in range(60)} | {"t.json": b"{\n}\n"}
    (made,) = {m.path: m for m in mutants(files, 60, 1) if m.kind == kind}.values() if kind in DATA else (None,)
    made = made or next(m for m in mutants(files, 60, 1) if m.kind == kind)
    ((path, text),) = made.changes
    assert path == made.path and text != files[path]
    if kind == "data gone":
        assert text is None and path == "t.json"
    elif kind == "data changed":
        assert text in (b"{\n", b"}\n")
    else:
        gone = {"enum member gone": ("A = 1", "B = 2"), "expression gone": ("start(self)",)}.get(kind, ('"a"', '"b"'))
        assert text is not None and any(PARTS.count(word) > text.decode().count(word) for word in gone)


def test_a_pass_beside_other_statements_is_no_fault() -> None:
    one = b"x = 1\npass\n\n\ndef f():\n    pass\n    return 1\n"
    assert same(one, b"x = 1\n\n\ndef f():\n    return 1\n")
    assert not same(one, b"x = 1\n\n\ndef f():\n    pass\n")
    assert same(b"def f():\n    pass\n", b"def f():\n    pass\n    pass\n")


def test_of_a_mutant_alone_every_problem_is_its_own(tmp_path: Path) -> None:
    """``from .b import *`` in a package: the loss of a name in ``b`` is told of who reads it of the package."""
    up = tmp_path / "up"
    files = {
        "app.py": "import pkg\n\n\ndef f():\n    return pkg.NAME\n",
        "pkg/__init__.py": "from .b import *\n",
        "pkg/b.py": "from pkg.c import NAME\n",
        "pkg/c.py": "NAME = 1\n",
    }
    for path, text in files.items():
        (up / path).parent.mkdir(parents=True, exist_ok=True)
        (up / path).write_text(text)
    (tmp_path / "facts.yaml").write_text("facts: {}\nroots: [app]\n")
    judged = Judge(up, up, read_case(tmp_path / "facts.yaml"))
    mutant = Mutant("k", "pkg/b.py", 1, "w", (("pkg/b.py", b"pass\n"), ("pkg/c.py", b"pass\n")))
    (score,) = judge(judged, [mutant], 1, judged.first(), lambda text: None)
    assert "imports" in score.caught


MORE = """\
class C:
    size: int = 1

    @property
    def x(self):
        return self._x if self.size else 0

    @x.setter
    def x(self, value):
        self._x = value


def f(rows, kind):
    global COUNT
    COUNT = [row for row in rows if row]
    match kind:
        case 1 if rows:
            print(kind, rows)
        case _:
            raise ValueError
    with open("x") as one:
        print(one)
    try:
        print([1, 2])
    finally:
        print(3)
"""


@pytest.mark.parametrize("kind", FURTHER)
def test_each_further_kind_makes_another_program(kind: str) -> None:
    rows = list(FURTHER[kind](Source("m.py", MORE.encode())))
    assert rows
    for line, _, (start, stop, text) in rows:
        new = MORE.encode()[:start] + text + MORE.encode()[stop:]
        assert 0 < line <= MORE.count("\n") and not same(new, MORE.encode()), new
