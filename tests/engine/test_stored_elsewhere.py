"""Globals that something stores into by way of the module as an object: no fact decides them, however it is spelt."""

from __future__ import annotations

import pytest

from tests.engine.program import prune, same_behaviour
from tests.verify.test_replaced import CALL, ELSEWHERE, FLAG, HOME, OWN

OTHERS = {  # that the checks do not all see
    "or into a dictionary with a name": "d = home.__dict__\nd |= {'NAME': len}\n",
    "or into vars with a name": "d = vars(home)\nd |= {'NAME': len}\n",
    "partial": "from functools import partial\n\npartial(setattr, home)('NAME', len)\n",
    "partial in a function": "def g():\n    from functools import partial\n\n    partial(setattr, home, 'NAME')(len)\n",
    "setattr of another name": "put = setattr\nput(home, 'NAME', len)\n",
    "setattr in a table": "for put in map(setattr, [home]):\n    pass\n",
    "a dictionary that is handed on": "def g(d, k, v):\n    d[k] = v\n\n\ng(home.__dict__, 'NAME', len)\n",
    "vars that is handed on": "def g(d, row):\n    d.update(row)\n\n\ng(vars(home), dict(NAME=len))\n",
    "sys.modules by a name": "import sys\n\nsetattr(sys.modules[home.__name__], 'NAME', len)\n",
    "import_module with a name": "import importlib\n\nm = importlib.import_module('home')\nm.NAME = len\n",
    "getmodule": "import inspect\n\ninspect.getmodule(home.on).NAME = len\n",
    "globals of a function": "home.on.__globals__['NAME'] = len\n",
    "globals of a function that is imported": "from home import on as o\n\no.__globals__.update(NAME=len)\n",
    "of another file": "import hold\n\nhold.M.NAME = len\n",
    "of another file in a function": "def g():\n    import hold\n\n    hold.M.NAME = len\n",
    "imported of another file": "def g():\n    from hold import M\n\n    M.NAME = len\n",
    "a list of another file": "import hold\n\nhold.ALL[0].NAME = len\n",
    "a call of another file": "def g():\n    from hold import get\n\n    get().NAME = len\n",
    "a class of another file": "import hold\n\nhold.K.m.NAME = len\n",
}
HOLD = "import home\n\nM = home\nALL = [home]\n\n\ndef get():\n    return home\n\n\nclass K:\n    m = home\n"
PLACES = [
    *((f"own {key}", text, "") for key, text in OWN.items()),
    *((f"elsewhere {key}", "", text) for key, text in {**ELSEWHERE, **OTHERS}.items()),
]


@pytest.mark.parametrize(("where", "own", "elsewhere"), PLACES, ids=[row[0] for row in PLACES])
@pytest.mark.parametrize(("name", "app"), [("FLAG", FLAG), ("on", CALL)], ids=["variable", "function"])
def test_what_is_stored_into_another_module_decides_nothing(
    name: str, app: str, where: str, own: str, elsewhere: str
) -> None:
    """``m = home`` and ``m.FLAG = True``, ``T["a"].FLAG = True``, ``sys.modules["home"].FLAG = True`` folded, and the run was refuted."""
    files = {
        "home.py": HOME + own.replace("NAME", name),
        "app.py": app + elsewhere.replace("NAME", name),
        "other.py": f"{name} = len\n",
        "hold.py": HOLD,
        "plat.py": "def is_hip():\n    return False\n",
    }
    assert b"return 1" in prune(files, plat=False).files["app.py"]


def test_what_no_module_is_stored_into_decides() -> None:
    """An object has the attribute, and the file comes by no module as an object."""
    text = "\n\nclass X:\n    pass\n\n\nx = X()\nx.FLAG = x.on = len\nfor y in (x,):\n    y.FLAG = len\n"
    files = {"home.py": HOME, "app.py": FLAG + text, "plat.py": "def is_hip():\n    return False\n"}
    assert b"return 1" not in prune(files, plat=False).files["app.py"]


@pytest.mark.parametrize("store", ["p.sub.FLAG = True", "p.sub.__dict__['FLAG'] = True"])
def test_what_is_stored_into_a_module_of_a_package_that_is_handed_on(store: str) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/sub.py": HOME,
        "put.py": f"def put(p):\n    {store}\n",
        "app.py": FLAG.replace("home", "pkg.sub") + "import pkg\nfrom put import put\n\nput(pkg)\n",
    }
    pruned = prune({**files, "plat.py": "def is_hip():\n    return False\n"}, plat=False)
    assert same_behaviour(pruned, "import app; RESULT = app.f()")["result"] == "1"


NOT_STORED = [
    "hold.get().OTHER = 1",
    "print(home.__dict__)", "dict(vars(home))", "sorted(home.__dict__)", "{**home.__dict__}", "d = {}\nd |= {'FLAG': 1}", "setattr(len, 'FLAG', 1)",
]  # fmt: skip


@pytest.mark.parametrize("text", NOT_STORED)
def test_what_only_looks_stores_nothing(text: str) -> None:
    head = "import hold\n\nother = {}\n"
    files = {
        "home.py": HOME,
        "hold.py": HOLD,
        "app.py": FLAG + head + text + "\n",
        "plat.py": "def is_hip():\n    return False\n",
    }
    assert b"return 1" not in prune(files, plat=False).files["app.py"]
