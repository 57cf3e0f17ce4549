"""A module with ``__getattr__`` gives by it what upstream's gave by it, and nothing of what the module bound itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.wrong import Case

APP = """\
import pkg
import pkg.sub
from lib import one
from pkg import other


def f():
    from lib import LATE, lazy

    return one(), lib_two(), pkg.CONST, lazy, pkg.sub.z(), other, LATE


def lib_two():
    import lib

    return lib.two()
"""
LIB = """\
from typing import TYPE_CHECKING

from pkg.stars import *

if TYPE_CHECKING:
    from pkg.sub import z as lazy

_OLD = {"lazy": "z"}


def __getattr__(name):
    if name == "LATE":
        global LATE
        LATE = 3
        return LATE
    if name in _OLD:
        import pkg.sub

        return getattr(pkg.sub, _OLD[name])
    raise AttributeError(name)


def one():
    return 1
"""
INIT = "CONST = 1\n\n\ndef __getattr__(name):\n    raise AttributeError(name)\n"
FILES = {
    "app.py": APP,
    "lib.py": LIB,
    "pkg/__init__.py": INIT,
    "pkg/sub.py": "def z():\n    return 1\n",
    "pkg/other.py": "def y():\n    return 1\n",
    "pkg/stars.py": "def two():\n    return 2\n",
}


@pytest.mark.parametrize(
    ("path", "old", "new", "check"),
    [
        ("lib.py", "def one():\n    return 1\n", "", "imports"),
        ("lib.py", "from pkg.stars import *\n", "", "imports"),
        ("pkg/stars.py", "def two():\n    return 2\n", "", "imports"),
        ("pkg/__init__.py", "CONST = 1\n", "", "imports"),
        ("pkg/other.py", "", None, "imports"),
        ("pkg/sub.py", "def z():\n    return 1\n", "", "fold"),
    ],
)
def test_what_the_module_bound_itself_is_missed(
    path: str, old: str, new: str | None, check: str, tmp_path: Path
) -> None:
    case = Case(tmp_path, FILES)
    assert case.verdicts(case.out) == {}
    found = case.wrong(path, old, new) if new is not None else case.judged({path: None})
    assert check in found, found


HEAD = "import importlib\n\n"
ASKED = {
    "object": "from . import impl\n\n\ndef __getattr__(name):\n    return getattr(impl, name)\n",
    "table": HEAD + "_LAZY = {'run': 'lib.impl', 'Late': 'lib.impl'}\n\n\ndef __getattr__(name):\n"
    "    return getattr(importlib.import_module(_LAZY[name]), name)\n",
    "pairs": HEAD + "_LAZY = {'run': ('.impl', 'run'), 'Late': ('.impl', 'Late')}\n\n\ndef __getattr__(name):\n"
    "    where, what = _LAZY[name]\n    return getattr(importlib.import_module(where, __package__), what)\n",
    "relative": HEAD + "_PARTS = ['impl']\n\n\ndef __getattr__(name):\n    for part in _PARTS:\n"
    "        module = importlib.import_module('.' + part, __package__)\n        if hasattr(module, name):\n"
    "            return getattr(module, name)\n    raise AttributeError(name)\n",
    "package": HEAD + "_PARTS = ['impl']\n\n\ndef __getattr__(name):\n    for part in _PARTS:\n"
    "        module = importlib.import_module(f'{__package__}.{part}')\n        if hasattr(module, name):\n"
    "            return getattr(module, name)\n    raise AttributeError(name)\n",
    "stored": HEAD + "def __getattr__(name):\n    module = importlib.import_module('.impl', __name__)\n"
    "    globals()[name] = value = getattr(module, name)\n    return value\n",
    "vars": "from . import impl\n\n\ndef __getattr__(name):\n    return vars(impl)[name]\n",
    "branches": "def __getattr__(name):\n    if name == 'run':\n        from .impl import run\n\n        return run\n"
    "    from . import impl\n\n    return impl.Late if name == 'Late' else None\n",
}


@pytest.mark.parametrize("lost", ["def run():\n    return 1\n", "class Late:\n    pass\n"], ids=["run", "Late"])
@pytest.mark.parametrize("init", ASKED.values(), ids=ASKED)
def test_what_it_hands_on_is_missed(init: str, lost: str, tmp_path: Path) -> None:
    impl = "def run():\n    return 1\n\n\nclass Late:\n    pass\n"
    app = "from lib import Late, run\n\n\ndef f():\n    return run(), Late()\n"
    case = Case(tmp_path, {"app.py": app, "lib/__init__.py": init, "lib/impl.py": impl})
    assert case.text("lib/impl.py").count("def run") == 1 and case.verdicts(case.out) == {}
    found = case.wrong("lib/impl.py", lost, "")
    assert "fold" in found or "imports" in found, found


@pytest.mark.parametrize("init", [ASKED["relative"], ASKED["package"]], ids=["relative", "package"])
def test_a_module_that_it_loads_is_missed(init: str, tmp_path: Path) -> None:
    files = {"app.py": "from lib import run\n\n\ndef f():\n    return run()\n", "lib/__init__.py": init}
    case = Case(tmp_path, {**files, "lib/impl.py": "def run():\n    return 1\n"})
    assert "modules" in case.judged({"lib/impl.py": None})
