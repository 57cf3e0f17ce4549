"""Variables and functions of a module that something in the tree replaces have no value: what folds on them is refuted."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner.verify import run

FACTS = "facts: {is_hip(): false}\ndefined_in: plat\nroots: [app]\n"
HOME = "from plat import is_hip\n\nFLAG = is_hip()\n\n\ndef on():\n    return is_hip()\n\n\n"
FLAG = "import home\n\n\ndef f():\n    if home.FLAG:\n        return 1\n    return 2\n\n\n"
CALL = FLAG.replace("home.FLAG", "home.on()")
FOLDED = "import home\n\n\ndef f():\n    return 2\n\n\n"

# In the module itself; the name is that of the variable or of the function.
OWN = {
    "loop": "for NAME in (len,):\n    pass\n",
    "with": "with open('x') as NAME:\n    pass\n",
    "import": "import sys as NAME\n",
    "star": "from other import *\n",
    "except": "try:\n    pass\nexcept OSError as NAME:\n    pass\n",
    "unpacked": "(NAME, x) = (len, 1)\n",
    "in a list": "x, *NAME = 1, 2\n",
    "pattern": "match len:\n    case NAME:\n        pass\n",
    "walrus": "if (NAME := len):\n    pass\n",
    "walrus of a comprehension": "X = [NAME := y for y in (len, 1)]\n",
    "global": "def g():\n    global NAME\n    NAME = len\n",
    "global loop": "def g():\n    global NAME\n    for NAME in (len,):\n        pass\n",
    "global walrus": "def g(x):\n    global NAME\n    return [NAME := y for y in x]\n",
    "global pattern": "def g(x):\n    global NAME\n    match x:\n        case {'a': NAME}:\n            pass\n",
    "class body": "class C:\n    global NAME\n    NAME = len\n",
    "globals": "globals()['NAME'] = len\n",
    "globals update": "globals().update(NAME=len)\n",
    "globals or": "globals().__ior__({'NAME': len})\n",
    "own dictionary": "import home\n\nhome.__dict__['NAME'] = len\n",
    "own setattr": "import sys\n\nsetattr(sys.modules[__name__], 'NAME', len)\n",
}
# Elsewhere.
ELSEWHERE = {
    "attribute": "home.NAME = len\n",
    "of another name": "import home as m\n\nm.NAME = len\n",
    "in a function": "def g():\n    import home as m\n\n    m.NAME = len\n",
    "loop": "for home.NAME in (len,):\n    pass\n",
    "comprehension": "[0 for home.NAME in (len,)]\n",
    "with": "with open('x') as home.NAME:\n    pass\n",
    "unpacked": "home.NAME, x = len, 1\n",
    "in a list": "*home.NAME, x = len, 1\n",
    "augmented": "home.NAME |= 1\n",
    "deleted": "del home.NAME\n",
    "dictionary": "home.__dict__['NAME'] = len\n",
    "dictionary or": "home.__dict__ |= {'NAME': len}\n",
    "dictionary update": "home.__dict__.update({'NAME': len})\n",
    "dictionary default": "home.__dict__.setdefault('NAME', len)\n",
    "dictionary with a name": "d = home.__dict__\nd['NAME'] = len\n",
    "vars": "vars(home)['NAME'] = len\n",
    "vars update": "vars(home).update(NAME=len)\n",
    "setattr": "setattr(home, 'NAME', len)\n",
    "setattr of object": "object.__setattr__(home, 'NAME', len)\n",
    "setattr of the module": "home.__setattr__('NAME', len)\n",
    "exec": "exec('home.NAME = len')\n",
    "exec in the dictionary": "exec('NAME = len', vars(home))\n",
    "patch": "from unittest.mock import patch\n\npatch('home.NAME', len).start()\n",
    "patch of the object": "from unittest import mock\n\nmock.patch.object(home, 'NAME', len).start()\n",
    "sys.modules": "import sys\n\nsys.modules['home'].NAME = len\n",
    "import_module": "import importlib\n\nimportlib.import_module('home').NAME = len\n",
    "handed": "def g(m):\n    m.NAME = len\n\n\ng(home)\n",
    "default": "def g(m=home):\n    m.NAME = len\n",
    "variable": "m = home\nm.NAME = len\n",
    "one of several": "for m in (home,):\n    m.NAME = len\n",
    "attribute of a class": "class X:\n    m = home\n\n\nX.m.NAME = len\n",
    "attribute of an object": "class X:\n    def __init__(self):\n        self.m = home\n\n    def g(self):\n        self.m.NAME = len\n",
    "given back": "def g():\n    return home\n\n\ng().NAME = len\n",
    "entry": "T = {'a': home}\nT['a'].NAME = len\n",
}
BODY = {
    "code": "home.on.__code__ = f.__code__\n",
    "defaults": "from home import on\n\non.__defaults__ = (1,)\n",
}
ROWS = [
    *((f"own {key}", text, "") for key, text in OWN.items()),
    *((f"elsewhere {key}", "", text) for key, text in ELSEWHERE.items()),
]


def refuted(folder: Path, home: str, before: str, after: str) -> set[str]:
    """The checks that refuse ``after`` in the place of ``before``."""
    files = {"home.py": home, "plat.py": "def is_hip():\n    return False\n", "other.py": "FLAG = on = len\n"}
    for tree, app in (("in", before), ("out", after)):
        (folder / tree).mkdir()
        for path, text in {**files, "app.py": app}.items():
            (folder / tree / path).write_text(text)
    (folder / "facts.yaml").write_text(FACTS)
    rows = run(folder / "in", folder / "out", [], facts_yaml=folder / "facts.yaml", jobs=1)
    return {row.check for row in rows if row.result == "refuted"}


@pytest.mark.parametrize(("own", "elsewhere"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
@pytest.mark.parametrize(("name", "app"), [("FLAG", FLAG), ("on", CALL)], ids=["variable", "function"])
def test_what_is_replaced_has_no_value(name: str, app: str, own: str, elsewhere: str, tmp_path: Path) -> None:
    there = elsewhere.replace("NAME", name)
    assert "fold" in refuted(tmp_path, HOME + own.replace("NAME", name), app + there, FOLDED + there)


@pytest.mark.parametrize("text", BODY.values(), ids=BODY)
def test_a_function_that_is_given_another_body_has_no_value(text: str, tmp_path: Path) -> None:
    assert "fold" in refuted(tmp_path, HOME, CALL + text, FOLDED + text)


@pytest.mark.parametrize("app", [FLAG, CALL], ids=["variable", "function"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "def g(m):\n    m.NAME = len\n",
        "import home as m\n\nm.OTHER = len\n",
        "def g(self):\n    self.on = self.FLAG = 1\n",
    ],
)
def test_what_is_not_replaced_has_its_value(app: str, text: str, tmp_path: Path) -> None:
    assert refuted(tmp_path, HOME, app + text, FOLDED + text) == set()


def test_a_module_of_the_name_may_stand_in_its_place(tmp_path: Path) -> None:
    """``import pkg.hip`` binds ``hip`` in ``pkg`` again."""
    texts = ["import pkg\nimport pkg.hip\n\n\ndef f():\n    if pkg.hip:\n        return 1\n    return 2\n"]
    texts.append(texts[0].replace("    if pkg.hip:\n        return 1\n", ""))
    for tree, text in zip(("in", "out"), texts, strict=True):
        (tmp_path / tree / "pkg").mkdir(parents=True)
        (tmp_path / tree / "pkg/__init__.py").write_text("from plat import is_hip\n\nhip = is_hip()\n")
        (tmp_path / tree / "pkg/hip.py").write_text("X = 1\n")
        (tmp_path / tree / "plat.py").write_text("def is_hip():\n    return False\n")
        (tmp_path / tree / "app.py").write_text(text)
    (tmp_path / "facts.yaml").write_text(FACTS)
    rows = run(tmp_path / "in", tmp_path / "out", [], facts_yaml=tmp_path / "facts.yaml", jobs=1)
    assert {row.check for row in rows if row.result == "refuted"} == {"fold"}
