"""Members of enums that rules drop: no other member gets another number, and nothing else is taken for a dropped one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner.verify import run as verify
from tests.engine.program import prune, rules_text, same_behaviour

HEAD = """\
import enum
from enum import Enum as Kind, auto as number
from plat import is_cuda


class Own(enum.Enum):
    def _generate_next_value_(name, start, count, last):
        return name


class Plain(enum.Enum):
    def same(self):
        return self


"""
# (class statement, can the member GONE be dropped without a finding?)
CLASSES = [
    ("class E(enum.Enum):\n    A = enum.auto()\n    GONE = enum.auto()\n    C = enum.auto()\n", True),
    ("class E(enum.IntEnum):\n    GONE = enum.auto()\n    C = enum.auto()\n", True),
    ("class E(str, enum.Enum):\n    A = enum.auto()\n    GONE = enum.auto()\n    C = enum.auto()\n", True),
    ("class E(enum.StrEnum):\n    A = enum.auto()\n    GONE = enum.auto()\n    C = enum.auto()\n", True),
    ("class E(enum.Flag):\n    A = enum.auto()\n    GONE = enum.auto()\n    C = enum.auto()\n    D = A | C\n", True),
    ("class E(enum.Enum):\n    A = 3\n    GONE = 7\n    C = enum.auto()\n", True),
    ("class E(Own):\n    A = 'a'\n    GONE = 'g'\n    C = 'c'\n", True),
    ("class E(Own):\n    A = enum.auto()\n    GONE = enum.auto()\n    C = enum.auto()\n", False),
    ("class E(Plain):\n    A = enum.auto()\n    GONE = enum.auto()\n    C = enum.auto()\n", False),
    ("class E(Kind):\n    A = number()\n    GONE = number()\n    C = number()\n", False),
    ("class E(enum.Enum):\n    A = -5\n    GONE = enum.auto()\n    C = enum.auto()\n", False),
    ("class E(enum.Enum):\n    A = enum.auto(), 'x'\n    GONE = enum.auto(), 'y'\n    C = enum.auto(), 'z'\n", False),
    ("class E(enum.Enum):\n    A = B = enum.auto()\n    GONE = enum.auto()\n    C = enum.auto()\n", False),
    ("class E(enum.IntEnum):\n    A = 1\n    GONE = A + 1\n    C = enum.auto()\n", False),
    ("class E(enum.Enum):\n    A = enum.auto()\n    GONE = enum.auto()\n    if is_cuda():\n        C = enum.auto()\n", False),
    ("class E(enum.Enum):\n    @staticmethod\n    def _generate_next_value_(name, start, count, last):\n        return count * 10\n    A = enum.auto()\n    GONE = enum.auto()\n    C = enum.auto()\n", False),
]  # fmt: skip
TAIL = "\n\ndef f():\n    return E.A.value if 'A' in E.__members__ else 0, E.C.value\n"
FACTS = {"is_cuda()": True}


def judged(files: dict[str, bytes], before: dict[str, bytes], rules: str, place: Path, check: str = "fold") -> str:
    """What a check says of an output: its result."""
    for side, tree in (("in", before), ("out", files)):
        for name, data in tree.items():
            (place / side / name).parent.mkdir(parents=True, exist_ok=True)
            (place / side / name).write_bytes(data)
    (place / "rules.yaml").write_text(rules)
    (verdict,) = verify(place / "in", place / "out", [place / "rules.yaml"], jobs=1, checks=(check,))
    return verdict.result


@pytest.mark.parametrize(("text", "drops"), CLASSES)
def test_numbers_stay(text: str, drops: bool, tmp_path: Path) -> None:
    rules = rules_text(FACTS, ["app"], ["app:E.GONE"])
    made = prune({"app.py": HEAD + text + TAIL}, rules=rules)
    same_behaviour(made, "import app\nRESULT = app.f()")
    assert ("GONE" not in made["app.py"], made.findings) == (drops, [] if drops else ["PR220"])
    assert judged(made.files, made.before, rules, tmp_path) == "passed"


@pytest.mark.parametrize(("text", "drops"), [row for row in CLASSES if "auto" in row[0] or "number" in row[0]])
def test_the_verifier_refutes_another_number(text: str, drops: bool, tmp_path: Path) -> None:
    """The member went, and nothing was put in the place of the numbers behind it."""
    before = {"app.py": (HEAD + text + TAIL).encode(), "plat.py": b"def is_cuda():\n    return True\n"}
    lines = [line for line in text.splitlines() if "GONE" not in line]
    after = {**before, "app.py": (HEAD + "\n".join(lines) + "\n" + TAIL).encode()}
    # The name is the number in a StrEnum, and a kept number decides: nothing to refute there.
    right = "StrEnum" in text
    assert judged(after, before, rules_text(FACTS, ["app"], ["app:E.GONE"]), tmp_path) == (
        "passed" if right else "refuted"
    )


BASES = ["enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum", "str, enum.Enum", "Same", "object"]
ALONE = {"enum.Enum", "enum.Flag"}  # nothing else is equal to a member of these


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("op", ["==", "!=", "is", "is not"])
def test_what_may_be_equal_to_a_dropped_member(base: str, op: str, tmp_path: Path) -> None:
    """``1 == E.GONE`` is true in an ``IntEnum``; a constant of a plain class is whatever text comes along."""
    values = ("'a'", "'g'") if "tr" in base or base == "object" else ("1", "2")
    text = (
        "import enum\n\n\nclass Same(enum.Enum):\n    def __eq__(self, other):\n        return True\n\n\n"
        f"class E({base}):\n    A = {values[0]}\n    GONE = {values[1]}\n\n\n"
        f"def g(x):\n    if x {op} E.GONE:\n        return 1\n    return 2\n\n\ndef f():\n    return g(E.A)\n"
    )
    rules = rules_text({}, ["app"], ["app:E.GONE"])
    made = prune({"app.py": text}, rules=rules)
    folds = base != "object" and ("is" in op or base in ALONE)
    assert made.findings == ([] if folds else ["PR220"])
    assert ("E.GONE" in made["app.py"]) is not folds
    if folds:
        same_behaviour(made, "import app\nRESULT = app.f()")
        assert judged(made.files, made.before, rules, tmp_path) == "passed"
