"""What the engine rightly makes of a program, no check refutes: whole kinds of statements, many shapes in one program."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from pruner.verify import run
from tests.engine.program import FACTS, Pruned, prune
from tests.engine.program import run as execute

HEAD = "from plat import is_cuda, is_hip\n\n"
pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")


def walrus() -> str:
    """Two ``:=`` in one test, or one on a side of a conditional expression, in every place for a test."""
    sources = ("is_cuda()", "is_hip()", "x", "x + is_hip()")
    tests = [
        f"{no}(a := {one}) {word} {also}(b := {two})"
        for one, two in itertools.product(sources, sources)
        for word, no, also in (("and", "", ""), ("or", "", ""), ("and", "not ", ""), ("or", "not ", "not "))
    ]
    tests += [f"(a := 3) if {one} else (b := {two})" for one, two in itertools.product(sources, sources)]
    tests += [f"{one} {word} (b := 4)" for one in sources for word in ("and", "or")]
    places = ("if T:\n        c = 1", "T", "while T:\n        c = 1\n        break", "if T:\n        pass")
    rows = [place.replace("T", test) for test in tests for place in places]
    heads = (f"def f{number}(x, a=0, b=0, c=0):\n    {row}\n    return a, b, c\n" for number, row in enumerate(rows))
    return (
        HEAD
        + "\n\n".join(heads)
        + "\n\nN = [f(x) for n, f in sorted(globals().items()) if n[0] == 'f' for x in (0, 1)]\n"
    )


ENUMS = """import enum


class Plain(enum.Enum):
    A = 1
    B = "x" if is_hip() else "y"
    C = not is_hip()
    if is_hip():
        D = 4
    E = enum.auto()


class Mask(enum.Flag):
    R = enum.auto()
    if not is_hip():
        X = R
        Y = enum.auto()
    else:
        Z = enum.auto()
    W = enum.auto() if is_hip() else R | Y


class Number(enum.IntEnum):
    A = enum.auto()
    B = 7 if is_cuda() else 8
    C = enum.auto()


N = [[(m.name, m.value) for m in kind.__members__.values()] for kind in (Plain, Mask, Number)]
"""

DELETED = """def f(b=3):
    a = 1
    if is_hip():
        a = 2
    else:
        del a, b
    try:
        return a or b
    except UnboundLocalError as error:
        return str(error)


def g():
    import os
    if is_cuda():
        del os
    else:
        os = 1
    try:
        return os
    except UnboundLocalError as error:
        return str(error)


N = [f(), g()]
"""

LOCAL = """def f():
    is_hip = lambda: True
    return is_hip()


def g():
    def is_cuda():
        return False

    class is_hip:
        pass

    return is_cuda(), is_hip.__name__


class S:
    is_hip = staticmethod(lambda: True)

    def is_cuda(self):
        return 0


N = [f(), g(), S().is_cuda(), 1 if is_hip() else 2, 3 if is_cuda() else 4]
"""

READS = """import sys


def f():
    import kit

    kit.more = 5
    return vars(kit)["one"], vars(kit)["is_" + sys.platform[:0] + "two"](), vars(kit)["more"]


N = [f()]
"""
KIT = "one = 1\n\n\ndef is_two():\n    return 2\n\n\ndef three():\n    return 3\n"

LOADED = """from typing import TYPE_CHECKING, Union, cast

from first import one

if TYPE_CHECKING:
    from second import Five, Four, Three, Two

L = Union["Four", None]

if is_cuda():
    def f(x: "Two") -> int:
        return cast("list[Three]", one())

N = [f(1)]
"""
FIRST = (
    "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from second import Two\n\n\ndef one():\n    return 1\n"
)
SECOND = "from first import one\nfrom app import N\n\n\nclass Two:\n    pass\n\n\nclass Three(Two):\n    pass\n\n\nclass Four(Two):\n    pass\n"


def accepted(pruned: Pruned, folder: Path) -> dict[str, tuple[str, ...]]:
    """What the checks say against the output."""
    for name, files in (("in", pruned.before), ("out", pruned.files)):
        for path, data in files.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_bytes(data)
    facts = ", ".join(f"{s}: {str(v).lower() if isinstance(v, bool) else v}" for s, v in FACTS.items())
    (folder / "facts.yaml").write_text(f'facts: {{{facts}}}\ndefined_in: plat\nroots: ["app:N"]\n')
    rows = run(folder / "in", folder / "out", [], facts_yaml=folder / "facts.yaml", jobs=1)
    return {row.check: row.details for row in rows if row.result == "refuted"}


@pytest.mark.parametrize(
    ("files", "gone"),
    [
        pytest.param({"app.py": walrus()}, "is_hip()", id="walrus"),
        pytest.param({"app.py": HEAD + ENUMS}, "is_hip()", id="enums"),
        pytest.param({"app.py": HEAD + DELETED}, "is_hip()", id="deleted"),
        pytest.param({"app.py": HEAD + LOCAL}, "1 if", id="local"),
        pytest.param({"app.py": READS, "kit.py": KIT}, "", id="reads"),
        pytest.param(
            {"app.py": HEAD + LOADED, "first.py": FIRST, "second.py": SECOND}, "is_cuda()", id="type-checking"
        ),
    ],
)
def test_what_the_engine_makes_of_it_is_accepted(files: dict[str, str], gone: str, tmp_path: Path) -> None:
    pruned = prune(files, roots=["app:N"])
    assert gone == "" or gone not in pruned["app.py"]
    driver = "import app; RESULT = app.N"
    assert execute(pruned.files, driver) == execute(pruned.before, driver)
    assert accepted(pruned, tmp_path) == {}
