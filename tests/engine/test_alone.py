"""Locals of which decided branches leave one store."""

from __future__ import annotations

import pytest

from tests.engine.program import prune, same_behaviour

HEAD = """\
from enum import Enum, IntEnum, auto

from plat import is_cuda, is_hip


class Step(Enum):
    ONE = auto()
    TWO = auto()


class Same(Enum):
    ONE = 1
    OTHER = 1


class Loud(Enum):
    ONE = 1
    TWO = 2

    def __eq__(self, other):
        return True


class Text(str, Enum):
    ONE = "one"
    TWO = "two"


def f(a=0):
"""
USES = "\n\ndef uses():\n    return is_cuda, is_hip\n"


def folded(body: str) -> str:
    """Output of a function body; both versions do the same."""
    pruned = prune({"app.py": HEAD + "".join(f"    {line}\n" for line in body.split("\n")) + USES})
    same_behaviour(pruned, "import app\nRESULT = [app.f(a) for a in (0, 2)]")
    text = pruned["app.py"]
    return text[text.index("def f(") :].partition("\n")[2].partition("\n\n\n")[0]


GONE = [
    "x = None\nif is_hip():\n    x = 2\nif x is not None:\n    return 'gone'\nreturn x",
    "x = 1\nif is_hip():\n    x = 2\nif x == 2:\n    return 'gone'",
    "x = 'a'\nif is_cuda():\n    pass\nelse:\n    x = 'b'\nif x == 'b':\n    return 'gone'",
    "x = Step.ONE\nif is_hip():\n    x = Step.TWO\nif x is Step.TWO:\n    return 'gone'\nreturn x.name",
    "x = Step.ONE\nif is_hip():\n    x = Step.TWO\nif x != Step.ONE:\n    return 'gone'\nreturn x.name",
    "x = Step.ONE\nif is_hip():\n    x = None\nif x is None:\n    return 'gone'\nreturn x.name",
    "x = Text.ONE\nif is_hip():\n    x = Text.TWO\nif x is Text.TWO:\n    return 'gone'\nreturn x.name",
]
KEPT = [
    "x = 1\nif is_hip():\n    x = 2\nif a:\n    x = 2\nif x == 2:\n    return 'kept'",
    "x = 1\nif is_hip():\n    x = 2\nfor x in range(a + 1):\n    pass\nif x == 2:\n    return 'kept'\nreturn x",
    "x = 1\nif is_hip():\n    x = 3\nx += a\nif x == 3:\n    return 'kept'",
    "x = 1\nif is_hip():\n    x = 2\nif (x := a) == 2:\n    return 'kept'",
    "x = 1\nif is_hip():\n    x = 2\ndef g():\n    nonlocal x\n    x = 2\ng()\nif x == 2:\n    return 'kept'",
    "if a:\n    x = 1\nelse:\n    x = 3\nif is_hip():\n    x = 2\nif x == 1:\n    return 'kept'",
    "if a:\n    a = 1\nif is_hip():\n    a = 2\nif a == 1:\n    return 'kept'",
    "x = []\nif is_hip():\n    x = [1]\nx.append(a)\nif x:\n    return 'kept'",
    "x = Same.ONE\nif is_hip():\n    x = Same.OTHER\nif x is Same.OTHER:\n    return 'kept'",
    "x = Loud.ONE\nif is_hip():\n    x = Loud.TWO\nif x == Loud.TWO:\n    return 'kept'",
    "x = Text.ONE\nif is_hip():\n    x = Text.TWO\nif x == 'one':\n    return 'kept'",
    "x = Step.ONE\nif is_hip():\n    x = Step.TWO\nif x in (Step.ONE,):\n    return 'kept'",
]


@pytest.mark.parametrize("body", GONE)
def test_the_other_arm_goes(body: str) -> None:
    assert "gone" not in folded(body)


@pytest.mark.parametrize("body", KEPT)
def test_what_another_store_may_say_stays(body: str) -> None:
    assert "kept" in folded(body)
