"""Faults of the engine itself, planted on a small program: each changes the output, and each output is refuted."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner.pipeline import RunOptions, run
from pruner.verify.rules import read_rules
from tests.mutation.equal import Readers
from tests.mutation.faults import planted_faults
from tests.mutation.judge import Judge
from tests.mutation.mutants import Mutant
from tests.mutation.score import judge, survivors

FILES = {
    "plat.py": "def is_hip():\n    return probe()\n\n\ndef is_cuda():\n    return not probe()\n",
    "app.py": """\
from plat import is_cuda, is_hip

import table
from first import First
from second import Second
from side import noted
from held import module


def main(x):
    if is_hip() and x:
        return noted(First())
    if is_cuda() or x:
        return Second().run(module().rank(x))
    return x


def shown(x):
    assert x, "none"
    if x:
        return table.ROWS["a"](x)
    return name(x)


def name(x):
    return getattr(table, f"get_{x}")()


class Other:
    def rank(self, x):
        return x
""",
    # app → first → app: the order of the imports of app is what makes this work
    "first.py": "import app\n\nLIMIT = 3\nfrom second import Second\n\n\nclass First(Second):\n    def home(self):\n        return app.main(1)\n",
    "second.py": "from first import LIMIT\n\n\nclass Second:\n    def run(self, x):\n        return x + LIMIT\n",
    "side.py": "import table\n\n\ndef noted(x):\n    return x\n\n\ndef other(x):\n    return x\n\n\ntable.ROWS['a'] = other\n",
    "worker.py": "import side\n\n\ndef work(x):\n    return side.noted(x)\n",
    "table.py": "ROWS = {}\n\n\ndef get_a():\n    return 1\n\n\ndef get_b():\n    return 2\n",
    "held.py": "import lib\n\n\ndef module():\n    return lib\n",
    "lib.py": "def rank(x):\n    return x\n\n\ndef size():\n    return 2\n",
}
RULES = """\
rules:
  - {id: start, because: It starts., root: ["app:main", "app:shown", "worker:work"]}
  - {id: no-hip, because: There is none., assume: {plat.is_hip(): false, plat.is_cuda(): true}}
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Mutant]]:
    """The folder, and what faulty engines write."""
    place = tmp_path_factory.mktemp("faults")
    (place / "up").mkdir()
    for name, text in FILES.items():
        (place / "up" / name).write_text(text)
    rules = place / "rules.yaml"
    rules.write_text(RULES)
    options = RunOptions((rules,), place / "up", place / "out", place / "reports", 1, False, True, Path())
    assert run(options, lambda _stage, _share: None).exit_code == 0
    return place, planted_faults(place / "up", place / "out", [rules], 60, 1, lambda text: None)


def test_the_kinds_that_are_planted(planted: tuple[Path, list[Mutant]]) -> None:
    kinds = {mutant.kind.removeprefix("fault: ") for mutant in planted[1]}
    assert {f"a '{kind}' edge overlooked" for kind in ("cycle", "effect", "value", "read", "import")} <= kinds
    assert {"the dead side kept", "a replacement is lost", "an attribute name overlooked"} <= kinds


def test_every_one_is_refuted(planted: tuple[Path, list[Mutant]]) -> None:
    place, made = planted
    judged = Judge(place / "up", place / "out", read_rules([place / "rules.yaml"], ""))
    scores = judge(judged, made, 1, judged.first(), lambda text: None)
    assert survivors(scores) == []


def test_who_could_ask_for_a_method(tmp_path: Path) -> None:
    """An abstract method and its overrides stay when their one caller went: without all of them nothing is another."""
    text = "class A:\n    def spare(self): ...\n    def read_it(self): ...\n    def go_up(self): ...\n    def close(self): ...\n"
    (tmp_path / "a.py").write_text(f'{text}\n\ndef ask(x, y):\n    return x.read_it, getattr(x, "go_" + y)\n')
    readers = Readers(tmp_path)
    names = ("spare", "read_it", "go_up", "close")
    assert [name for name in names if readers.asked(name)] == ["read_it", "go_up", "close"]


def test_who_could_ask_for_a_name_of_a_module(tmp_path: Path) -> None:
    """A name that a built text may give, and a public one of a module of which somebody takes everything, are no idle ones."""
    (tmp_path / "a.py").write_text("run_one = 1\nspare = 2\n_own = 3\nget_it = 4\nmake_up = 5\nold_x = 6\n")
    text = 'def ask(k):\n    return [f"run_{k}", "get_" + k, "make_%s" % k, f"{k}", "a " + k, f"{k}_x"]\n'
    (tmp_path / "b.py").write_text(text)
    names = ("run_one", "spare", "_own", "get_it", "make_up", "old_x")
    idle = [name for name in names if Readers(tmp_path).harmless([("a.py", b"")], {"pkg.a": {name}})]
    assert idle == ["spare", "_own"]
    (tmp_path / "c.py").write_text("from pkg.a import *\n")
    idle = [name for name in names if Readers(tmp_path).harmless([("a.py", b"")], {"pkg.a": {name}})]
    assert idle == ["_own"]
    assert [name for name in names if Readers(tmp_path).asked(name)] == ["run_one", "get_it", "make_up", "old_x"]
