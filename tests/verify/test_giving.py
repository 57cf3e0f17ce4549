"""A fact on an attribute that an object may be given otherwise: the verifier reads that by itself.

The programs are those of the engine's tests; the pruning is made here by hand, so that the engine has no say in it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner.verify import run
from tests.engine.program import rules_text
from tests.engine.test_made import BREAKING, FOLDING, program

READ = "def read(a):\n    return 1 if a.flag else 2\n"
UNSEEN = {
    "__call__ of a metaclass",
    "__new__ of a subclass",
    "__subclasses__",
    "a class of who knows whom, handed on",
    "a computed name of a module",
    "a computed name of a module that is imported",
    "a computed name of the globals",
    "a mixin of a subclass",
    "_make",
    "type() in a variable",
    "cls in a variable",
    "__init__ of an object",
    "__dict__ by getattr",
    "getattr of the module",
    "a choice",
    "a walrus",
    "a default of a lambda",
    "a subclass without capital",
    "what a decorator keeps",
}


def refuted(files: dict[str, str], place: Path) -> set[str]:
    """The checks that refute the program with the test folded."""
    facts = {f"conf.{name}.flag": False for name in ("Args", "Base") if f"class {name}" in files["conf.py"]}
    (place / "rules.yaml").write_text(rules_text(facts, ["app", "conf"]))
    folded = {**files, "app.py": files["app.py"].replace(READ, "def read(a):\n    return 2\n")}
    assert folded != files
    for tree, texts in (("in", files), ("out", folded)):
        (place / tree).mkdir()
        for name, text in texts.items():
            (place / tree / name).write_text(text)
    rows = run(place / "in", place / "out", [place / "rules.yaml"], jobs=1)
    return {row.check for row in rows if row.result == "refuted"}


@pytest.mark.parametrize("name", sorted(BREAKING))
def test_another_value(name: str, tmp_path: Path) -> None:
    assert ("fold" in refuted(program(*BREAKING[name]), tmp_path)) is (name not in UNSEEN)


@pytest.mark.parametrize("name", sorted(FOLDING))
def test_what_gives_it_no_other_value(name: str, tmp_path: Path) -> None:
    """Here the engine folds as well: a verifier that asked for more would refute a right tree."""
    assert refuted(program(*FOLDING[name]), tmp_path) == set()
