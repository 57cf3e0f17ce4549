"""A fact on an attribute, and what else of the program answers to the name: the fact is lost, or nothing differs.

Each row: what is put into the program, what gets at an object, and whether the fact still folds. The checks accept either.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner.pipeline import RunOptions
from pruner.pipeline import run as pipeline
from tests.engine.program import prune, rules_text, same_behaviour
from tests.engine.test_enum_numbers import judged

CONF = """\
class C:
    def __init__(self):
        self.kind = 'a'

    def slow(self):
        return False
"""
READ = "\n\ndef asked(c):\n    return 1 if c.kind == 'x' else 2\n\n\ndef f():\n    return [asked(c) for c in (C(), {other})]\n"
FACTS = {"conf.C.kind": ["a"]}
SOURCES = [
    ("a module with a global of the name", "import other\n", "other", False),
    ("a module without one", "import plain\n", "C() if plain else 0", True),
    ("a structure of ctypes", "import ctypes\n\n\nclass S(ctypes.Structure):\n    _fields_ = [('kind', ctypes.c_int)]\n", "S(5)", False),
    ("another structure", "import ctypes\n\n\nclass S(ctypes.Structure):\n    _fields_ = [('size', ctypes.c_int)]\n", "C() if S(5) else 0", True),
    ("a class by type", "S = type('S', (), {'kind': 'x'})\n", "S()", False),
    ("a class by type and dict", "S = type('S', (), dict(kind='x'))\n", "S()", False),
    ("a class by type and dict of others", "S = type('S', (), dict(size='x'))\n", "C() if S() else 0", True),
    ("setattr of a computed name", "class S:\n    def __init__(self, d):\n        for k, v in d.items():\n            setattr(self, k, v)\n", "S({'kind': 'x'})", False),
    ("setattr of a name that nobody says", "class S:\n    def __init__(self, d):\n        for k, v in d.items():\n            setattr(self, k, v)\n", "C() if S({'size': 'x'}) else 0", True),
    ("a class that answers itself", "class S(C):\n    def __getattribute__(self, name):\n        return 'x'\n", "S()", False),
    ("another class that answers itself", "class S:\n    def __getattribute__(self, name):\n        return C()\n", "S().c", True),
]  # fmt: skip


@pytest.mark.parametrize(("text", "other", "folds"), [r[1:] for r in SOURCES], ids=[r[0] for r in SOURCES])
def test_what_else_has_the_attribute(text: str, other: str, folds: bool, tmp_path: Path) -> None:
    files = {
        "conf.py": CONF,
        "other.py": "kind = 'x'\n",
        "plain.py": "size = 1\n",
        "app.py": f"from conf import C\n{text}{READ.format(other=other)}",
    }
    pruned = prune(files, facts=FACTS)
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    assert ("1 if " not in pruned["app.py"], pruned.findings) == (folds, [] if folds else ["PR221"])
    assert judged(pruned.files, pruned.before, rules_text(FACTS, ["app"]), tmp_path) == "passed"


STORES = [
    ("a method of an object", "c = C()\n    c.slow = lambda: True\n    return 1 if c.slow() else 2", False),
    ("a method in the class", "C.slow = lambda self: True\n    return 1 if C().slow() else 2", False),
    ("a constant of the name", "c = C()\n    c.size = True\n    return 1 if c.slow() else 2", True),
]  # fmt: skip


@pytest.mark.parametrize(("body", "folds"), [r[1:] for r in STORES], ids=[r[0] for r in STORES])
def test_a_method_that_is_bound_again(body: str, folds: bool) -> None:
    files = {"conf.py": CONF, "app.py": f"from conf import C\n\n\ndef f():\n    {body}\n"}
    pruned = prune(files, facts={"conf.C.slow()": False})
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    assert ("1 if " not in pruned["app.py"], pruned.findings) == (folds, [] if folds else ["PR221"])


ITSELF = [
    ("a value of the class", "class C:\n    kind = 'a'\n", True),
    ("a field with a value of the fact", "import dataclasses\n\n\n@dataclasses.dataclass\nclass C:\n    kind: str = 'a'\n", True),
    ("nothing before an object is made", "class C:\n    def __init__(self):\n        self.kind = 'a'\n", False),
    ("a value under a test", "import os\n\n\nclass C:\n    if os.name:\n        kind = 'a'\n", False),
]  # fmt: skip


@pytest.mark.parametrize(("conf", "folds"), [r[1:] for r in ITSELF], ids=[r[0] for r in ITSELF])
def test_an_attribute_of_the_class_itself(conf: str, folds: bool, tmp_path: Path) -> None:
    """What the class has before an object is made is no business of a fact on its objects."""
    files = {
        "conf.py": conf,
        "app.py": "from conf import C\n\n\ndef f():\n    return 1 if C.kind == 'x' else 2, C().kind\n",
    }
    pruned = prune(files, facts=FACTS)
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    assert ("1 if " not in pruned["app.py"]) == folds and pruned.findings == []
    assert judged(pruned.files, pruned.before, rules_text(FACTS, ["app"]), tmp_path) == "passed"


GUARDED = """\
rules:
  - {id: root, because: So., root: [app]}
  - {id: kind, because: So., assume: {conf.C.kind: [a]}}
  - id: guard
    because: So.
    guard: {at: "conf:C.__init__", where: after, of: self, ask: {kind: {fact: conf.C.kind}}}
"""


def test_what_a_guarded_class_is_before_it_is_asked(tmp_path: Path) -> None:
    """``kind = None`` until ``__init__`` stores: the guard asks the object, not the class."""
    files = {
        "conf.py": "class C:\n    kind = None\n\n    def __init__(self):\n        self.kind = str('a')\n",
        "app.py": "from conf import C\n\n\ndef f():\n    return 1 if C.kind == 'a' else 2, 3 if C().kind == 'x' else 4\n",
    }
    pruned = prune(files, rules=GUARDED, plat=False)
    assert "1 if C.kind == 'a' else 2" in pruned["app.py"]
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    for path, text in files.items():
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / path).write_text(text)
    (tmp_path / "rules.yaml").write_text(GUARDED)
    done = pipeline(
        RunOptions((tmp_path / "rules.yaml",), tmp_path / "in", tmp_path / "out", None, 1, False, True, Path()),
        lambda *_: None,
    )
    assert done.exit_code == 0, done.findings or done.document["verdicts"]
