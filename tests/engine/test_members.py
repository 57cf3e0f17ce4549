"""Facts on members of instances, classes that rules drop in ``isinstance``, tests that bind with ``:=``."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.program import Pruned, prune, same_behaviour

CONF = """\
class Algo:
    def __init__(self, kind='eagle'):
        self.kind = kind
        self.flash = False

    def is_flash(self):
        return self.kind == 'flash'

    @property
    def fast(self):
        return self.kind == 'fast'
"""
APP = """\
from conf import Algo


class Box:
    def __init__(self, algo):
        self.algo = algo


def f(a=None):
    a = a or Algo()
    box = Box(a)
    if {test}:
        return 'yes'
    return 'no'
"""
FACTS: dict[str, Any] = {"conf.Algo.is_flash()": False, "conf.Algo.flash": False, "conf.Algo.fast": False}


def run(test: str, extra: str = "", conf: str = "", **options: Any) -> Pruned:
    """Prune the program with one test in ``f`` and see that both versions do the same."""
    tree = {"app.py": APP.format(test=test) + extra, "conf.py": CONF + conf}
    pruned = prune(tree, **{"roots": ["app"], "facts": FACTS, **options})
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    return pruned


def decided(pruned: Pruned) -> str:
    """``yes``, ``no`` or ``open``."""
    text = pruned["app.py"]
    return "open" if "    if " in text else "yes" if "'yes'" in text else "no"


READS = [
    ("a method of a local", "a.is_flash()", "no"),
    ("a method along attributes", "box.algo.is_flash()", "no"),
    ("a method, negated", "not box.algo.is_flash()", "yes"),
    ("a method of what a call gives", "Algo('x').is_flash()", "open"),  # what making it does must be done
    ("a method in a conjunction", "a.kind and a.is_flash()", "no"),
    ("an attribute", "a.flash", "no"),
    ("an attribute along attributes", "box.algo.flash is True", "no"),
    ("a property", "box.algo.fast", "no"),
    ("getattr", "getattr(a, 'flash')", "open"),
    ("the function of the class", "Algo.is_flash(a)", "open"),
    ("another method", "a.kind.startswith('f')", "open"),
]


@pytest.mark.parametrize(("test", "answer"), [r[1:] for r in READS], ids=[r[0] for r in READS])
def test_reads(test: str, answer: str) -> None:
    assert decided(run(test)) == answer


OTHERS = [
    ("no other class", "", "is_flash()", "no"),
    ("another class has the method", "class Other:\n    def is_flash(self):\n        return True\nOther()\n", "is_flash()", "open"),
    ("a dead class has the method", "class _Other:\n    def is_flash(self):\n        return True\n", "is_flash()", "no"),
    ("a subclass overrides", "class Sub(Algo):\n    def is_flash(self):\n        return True\nSub()\n", "is_flash()", "open"),
    ("another class has a method of the attribute's name", "class O:\n    def flash(self):\n        return 1\nO()\n", "flash", "no"),
    ("another class has a property", "class O:\n    @property\n    def flash(self):\n        return 1\nO()\n", "flash", "open"),
    ("a field of another class", "class O:\n    flash: bool = True\nO()\n", "flash", "open"),
    ("stored with a value of the set", "def g(a):\n    a.flash = False\n", "flash", "no"),
    ("copied from an instance", "class O:\n    def __init__(self, a):\n        self.flash = a.flash\nO(Algo())\n", "flash", "no"),
    ("stored from a call that a fact decides", "def find(x):\n    return x\ndef g(a):\n    a.flash = find(a)\n", "flash", "no"),
    ("stored from another call", "def find(x):\n    return x\ndef g(a):\n    a.flash = abs(a)\n", "flash", "open"),
    ("a property and setattr with any name", "def g(a, n):\n    setattr(a, n, 1)\n", "fast", "no"),
    ("stored with another value", "def g(a):\n    a.flash = True\n", "flash", "open"),
    ("stored with something", "def g(a, x):\n    a.flash = x\n", "flash", "open"),
    ("unpacked into", "def g(a, x):\n    a.flash, a.y = x\n", "flash", "open"),
    ("added to", "def g(a):\n    a.flash |= True\n", "flash", "open"),
    ("deleted", "def g(a):\n    del a.flash\n", "flash", "open"),
    ("a loop target", "def g(a):\n    for a.flash in (1,):\n        pass\n", "flash", "open"),
    ("a with target", "import contextlib\ndef g(a):\n    with contextlib.nullcontext(1) as a.flash:\n        pass\n", "flash", "open"),
    ("setattr", "def g(a):\n    setattr(a, 'flash', 1)\n", "flash", "open"),
    ("setattr with a value of the set", "def g(a):\n    setattr(a, 'flash', False)\n", "flash", "no"),
    ("setattr with any name", "def g(a, n):\n    setattr(a, n, 1)\n", "flash", "open"),
    ("a store in dead code", "from plat import is_hip\ndef g(a):\n    if is_hip():\n        a.flash = True\n", "flash", "no"),
]  # fmt: skip


@pytest.mark.parametrize(("extra", "member", "answer"), [r[1:] for r in OTHERS], ids=[r[0] for r in OTHERS])
def test_what_else_the_program_does(extra: str, member: str, answer: str) -> None:
    facts = {f"conf.Algo.{member}": False, "plat.is_hip()": False, "app.find(...)": False}
    pruned = run(f"box.algo.{member}", extra, facts=facts)
    assert decided(pruned) == answer
    assert ("PR221" in pruned.findings) == (answer == "open")


def test_a_store_in_the_class_itself() -> None:
    """``self.flash = find()``: nobody can tell what it stores."""
    conf = "\n\nclass More(Algo):\n    def load(self, x):\n        self.flash = x\n"
    assert decided(run("box.algo.flash", "from conf import More\nMore().load(1)\n", conf)) == "open"


def test_two_classes_with_the_same_fact() -> None:
    extra = "\n\nclass Other:\n    def is_flash(self):\n        return False\n\n\nOther()\n"
    assert decided(run("box.algo.is_flash()", extra, facts={**FACTS, "app.Other.is_flash()": False})) == "no"


def test_two_classes_with_two_facts() -> None:
    extra = "\n\nclass Other:\n    def is_flash(self):\n        return True\n\n\nOther()\n"
    assert decided(run("box.algo.is_flash()", extra, facts={**FACTS, "app.Other.is_flash()": True})) == "open"


GONE = "class Gone:\n    pass\n\n\nclass Also:\n    pass\n\n\nclass Here:\n    pass\n"
TYPES = [
    ("a dropped class", "Gone", "no"),
    ("a tuple of dropped classes", "(Gone, Also)", "no"),
    ("a union of dropped classes", "Gone | Also", "no"),
    ("a kept class", "Here", "open"),
    ("one that is kept", "(Gone, Here)", "open"),
    ("a union with a kept one", "Gone | Here", "open"),
    ("a builtin", "str", "open"),
]


@pytest.mark.parametrize("call", ["isinstance", "issubclass"])
@pytest.mark.parametrize(("classes", "answer"), [t[1:] for t in TYPES], ids=[t[0] for t in TYPES])
def test_instances_of_dropped_classes(call: str, classes: str, answer: str) -> None:
    argument = "a" if call == "isinstance" else "type(a)"
    text = f"from gone import Also, Gone\nfrom here import Here\n\n\ndef f(a=1):\n    if {call}({argument}, {classes}):\n        return 'yes'\n    return 'no'\n"
    pruned = prune({"app.py": text, "gone.py": GONE, "here.py": GONE}, roots=["app:f"], drop=["gone"])
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    assert decided(pruned) == answer
    assert ("gone" in pruned["app.py"].replace("_prune_guard", "")) == (answer == "open" and "Gone" in classes)


def test_an_instance_of_a_dropped_class_behind_a_reexport() -> None:
    tree = {
        "app.py": "from pkg import Gone\n\n\ndef f(a=1):\n    if isinstance(a, Gone):\n        return 'yes'\n    return 'no'\n",
        "pkg/__init__.py": "from pkg.gone import Gone\n",
        "pkg/gone.py": GONE,
    }
    pruned = prune(tree, roots=["app:f"], drop=["pkg.gone"])
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    assert decided(pruned) == "no"
    assert "pkg/gone.py" in pruned.removed


BINDS = [
    ("in a test", "    if cfg := find(a):\n        return cfg\n    return 1", "cfg := None"),
    ("read later", "    if cfg := find(a):\n        return 5\n    return cfg", "cfg := None"),
    ("bound before", "    cfg = 3\n    if cfg := find(a):\n        return 5\n    return cfg", "cfg := None"),
    ("in a while", "    while cfg := find(a):\n        return cfg\n    return 1", "cfg := None"),
    ("with else", "    if cfg := find(a):\n        return cfg\n    else:\n        return 2", "cfg := None"),
    ("in a conjunction", "    if (cfg := find(a)) and a:\n        return cfg\n    return 1", "cfg := None"),
]


@pytest.mark.parametrize(("body", "left"), [b[1:] for b in BINDS], ids=[b[0] for b in BINDS])
def test_a_test_that_binds(body: str, left: str) -> None:
    text = f"def find(a):\n    return None\n\n\ndef f(a=1):\n{body}\n"
    pruned = prune({"app.py": text}, roots=["app:f"], facts={"app.find(...)": None})
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    assert left in pruned["app.py"]
    assert "if" not in pruned["app.py"].partition("def f")[2] and "while" not in pruned["app.py"]
