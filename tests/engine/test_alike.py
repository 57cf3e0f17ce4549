"""What is the same and what is not: members of enums, tuples and lists, a module's own ``str``, calls with one argument more.

Each program runs as before, and the check ``fold`` accepts it. What must still fold stands beside it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.program import prune, rules_text, same_behaviour
from tests.engine.test_enum_numbers import judged

HEAD = "import enum\nfrom enum import Enum, auto\nfrom plat import arch, is_cuda, is_hip, sm\n\n\n"
ASK = "\n\ndef f():\n    k = K.A\n    if is_hip():\n        k = K.B\n    return 'ONE' if k is K.B else 'TWO'\n"
ONE_MEMBER = {
    "equal numbers": "class K(Enum):\n    A = 1\n    B = 1.0\n",
    "a number and a boolean": "class K(Enum):\n    A = 1\n    B = True\n",
    "what calls give": "def make():\n    return 1\n\n\nclass K(Enum):\n    A = make()\n    B = make()\n",
    "a counter that stands still": (
        "class K(Enum):\n    def _generate_next_value_(name, start, count, last):\n        return 3\n\n"
        "    A = auto()\n    B = auto()\n"
    ),
    "a decorated class": (
        "def other(cls):\n    class W:\n        A = B = 1\n\n    return W\n\n\n@other\nclass K(Enum):\n    A = 1\n    B = 2\n"
    ),
    "a class called Enum": "class Enum:\n    pass\n\n\nclass K(Enum):\n    A = 1\n    B = True\n",
}
TWO_MEMBERS = {
    "literals": "class K(Enum):\n    A = 1\n    B = 2\n",
    "counted": "class K(enum.IntEnum):\n    A = auto()\n    B = auto()\n",
    "texts": "@enum.unique\nclass K(str, Enum):\n    A = 'a'\n    B = 'b'\n",
}
COMPARED = {
    "tuple and list": "def f():\n    return 'ONE' if (is_hip(), 1) == [False, 1] else 'TWO'\n",
    "tuple and list, not": "def f():\n    return 'ONE' if (arch(),) != ['cuda'] else 'TWO'\n",
    "a tuple by name and a list": "T = (is_hip(), arch())\n\n\ndef f():\n    return 'ONE' if T == [False, 'cuda'] else 'TWO'\n",
    "own str": "def str(x):\n    return 'hip'\n\n\ndef f():\n    return 'ONE' if str(is_hip()) == 'False' else 'TWO'\n",
    "own bool": "def bool(x):\n    return True\n\n\ndef f():\n    return 'ONE' if bool(is_hip()) else 'TWO'\n",
    "own int": "def int(x):\n    return 7\n\n\ndef f():\n    return 'ONE' if int(is_hip()) == 7 else 'TWO'\n",
    "own getattr": (
        "import plat\n\n\ndef getattr(a, b, c=None):\n    return 5\n\n\n"
        "def f():\n    return 'ONE' if getattr(plat, 'FLAG', None) == 5 else 'TWO'\n"
    ),
    "own len, with an effect": (
        "L = []\n\n\ndef len(x):\n    L.append(x)\n    return 1\n\n\n"
        "def f():\n    if len('a') and is_hip():\n        return 'hip'\n    return L, 'ONE'\n"
    ),
    "a second argument": "def has(n, d=False):\n    return d\n\n\ndef f():\n    return 'ONE' if has('x', True) else 'TWO'\n",
    "a second argument that is not known": (
        "def has(n, d=False):\n    return d\n\n\ndef f():\n    if has('x', sm() > 5):\n        return 'ONE'\n    return 'TWO'\n"
    ),
    "a keyword": "def has(n, d=False):\n    return d\n\n\ndef f():\n    return 'ONE' if has('x', d=True) else 'TWO'\n",
    "the default of what is not set": "import os\n\n\ndef f():\n    return 'ONE' if os.getenv('NOT_SET', '1') == '1' else 'TWO'\n",
}
DECIDED = {
    "one item": ("(is_hip(), sm()) == (True, 5)", "ONE"),
    "all items": ("(is_hip(), arch()) == (False, 'cuda')", "TWO"),
    "among tuples": ("(arch(), 1) in [('cuda', 1), ('hip', 1)]", "TWO"),
    "not among tuples": ("(is_hip(), sm()) in ((True, 1), (True, 2))", "ONE"),
    "a range among numbers": ("sm() in (70, 80)", "ONE"),
    "a range not among numbers": ("sm() not in {70, 80}", "TWO"),
    "a range between two": ("70 <= sm() < 90", "ONE"),
    "a range surely between two": ("60 < sm() <= 200", "TWO"),
    "a chain of comparisons": ("None is not arch() == 'hip'", "ONE"),
    "one of several results": ("name() == 'hip'", "ONE"),
}
FACTS = {
    "is_cuda()": True, "is_hip()": False, "arch()": ["cuda"], "plat.FLAG": False, "app.has('x')": False,
    "os.getenv('NOT_SET')": None, "sm()": {"min": 90, "max": 120},
}  # fmt: skip
RUN = "import app\nRESULT = app.f()"


def run(text: str, place: Path, facts: dict[str, object]) -> str:
    """The output of a program, which must do what it did and pass."""
    rules = rules_text(facts, ["app"])
    made = prune({"app.py": text}, rules=rules)
    same_behaviour(made, RUN)
    assert judged(made.files, made.before, rules, place) == "passed", made["app.py"]
    return made["app.py"]


@pytest.mark.parametrize("name", ONE_MEMBER)
def test_two_names_of_one_member(name: str, tmp_path: Path) -> None:
    assert "ONE" in run(HEAD + ONE_MEMBER[name] + ASK, tmp_path, {"is_hip()": False})


@pytest.mark.parametrize("name", TWO_MEMBERS)
def test_two_members(name: str, tmp_path: Path) -> None:
    assert "ONE" not in run(HEAD + TWO_MEMBERS[name] + ASK, tmp_path, {"is_hip()": False})


@pytest.mark.parametrize("name", ONE_MEMBER)
def test_the_verifier_refutes_a_branch_of_one_member(name: str, tmp_path: Path) -> None:
    text = HEAD + ONE_MEMBER[name] + ASK
    wrong = text.replace("    if is_hip():\n        k = K.B\n", "").replace("'ONE' if k is K.B else 'TWO'", "'TWO'")
    before = {"app.py": text.encode(), "plat.py": b"def is_hip(): return False\narch = is_cuda = sm = is_hip\n"}
    after = before | {"app.py": wrong.encode()}
    assert judged(after, before, rules_text({"is_hip()": False}, ["app", "plat"]), tmp_path) == "refuted"


@pytest.mark.parametrize("name", COMPARED)
def test_what_only_looks_alike(name: str, tmp_path: Path) -> None:
    assert "ONE" in run(HEAD + COMPARED[name], tmp_path, FACTS)


@pytest.mark.parametrize("name", DECIDED)
def test_what_is_decided(name: str, tmp_path: Path) -> None:
    test, gone = DECIDED[name]
    text = (
        f"import os\n{HEAD}\ndef name():\n    if is_hip():\n        return 'hip'\n    if sm() == 90:\n        return 'cuda'\n"
        f"    return 'rtx'\n\n\ndef f():\n    if {test}:\n        return 'ONE'\n    return 'TWO'\n"
    )
    assert gone not in run(text, tmp_path, FACTS)


READ = {
    "without a default": "getattr(c, 'flag')",
    "with a default": "getattr(c, 'flag', False)",
    "of the class": "getattr(C, 'flag', True)",
    "of a module": "getattr(os, 'flag', False)",
}


@pytest.mark.parametrize("name", READ)
def test_getattr_may_be_of_anything(name: str, tmp_path: Path) -> None:
    """A configuration of another package that has the attribute is what the default is there for."""
    text = (
        "import os\nfrom types import SimpleNamespace\n\n\nclass C:\n    def __init__(self):\n        self.flag = False\n\n\n"
        f"def g(c):\n    if {READ[name]}:\n        return 'ONE'\n    return 'TWO'\n\n\n"
        "def f():\n    return g(C()), g(SimpleNamespace(**{'flag': 1}))\n"
    )
    assert "ONE" in run(text, tmp_path, {"app.C.flag": False})
