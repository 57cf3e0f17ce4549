"""What outsiders get of a root through a module that it hands out stays, and its loss is refuted; so is what ``import *`` loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.program import prune, same_behaviour
from tests.verify.wrong import Case

LEAF = "from plat import is_hip\n\n\ndef helper():\n    return 1\n\n\nif is_hip():\n    only_hip = 2\n"
ROOTS = "rules:\n  - {{id: t.root, because: It starts here., root: {roots}}}\n  - {{id: t.hip, because: No., optional: true, assume: {{plat.is_hip(): false}}}}\n"
HANDED = {
    "from . import": ({"pkg/__init__.py": "from . import leaf\n"}, "[pkg]", "import pkg; RESULT = pkg.leaf.helper()"),
    "from pkg import": ({"pkg/__init__.py": "from pkg import leaf\n"}, "[pkg]", "import pkg; RESULT = pkg.leaf.helper()"),
    "one name": ({"pkg/__init__.py": "from . import leaf\n"}, "['pkg:leaf']", "import pkg; RESULT = pkg.leaf.helper()"),
    "a package of a package": (
        {"pkg/__init__.py": "", "top/__init__.py": "from . import sub\n", "top/sub/__init__.py": "from pkg import leaf\n"},
        "[top]",
        "import top; RESULT = top.sub.leaf.helper()",
    ),
    "__all__ of a module": (
        {"pkg/__init__.py": "", "app.py": "import pkg.leaf as mine\n\n__all__ = ['mine']\n"},
        "[app]",
        "import app; RESULT = app.mine.helper()",
    ),
    "imported as itself": (
        {"pkg/__init__.py": "", "app.py": "from pkg import leaf as leaf\n\n__all__ = ('leaf',)\n"},
        "[app]",
        "import app; RESULT = app.leaf.helper()",
    ),
    "__all__ of a package": (
        {"pkg/__init__.py": "__all__ = ['leaf']\n"}, "[pkg]", "from pkg import *; RESULT = leaf.helper()"
    ),
    "__all__ that grows": (
        {"pkg/__init__.py": "from plat import is_hip\n\n__all__ = ['leaf']\nif is_hip():\n    __all__ += ['none']\n"},
        "[pkg]",
        "from pkg import *; RESULT = leaf.helper()",
    ),
    "a star": (
        {"pkg/__init__.py": "__all__ = ['leaf']\n", "app.py": "from pkg import *\n"},
        "[app]",
        "import app; RESULT = app.leaf.helper()",
    ),
    "a star of a star": (
        {"pkg/__init__.py": "__all__ = ['leaf']\n", "mid.py": "from pkg import *\n", "app.py": "from mid import *\n\n__all__ = ['leaf']\n"},
        "[app]",
        "from app import *; RESULT = leaf.helper()",
    ),
}  # fmt: skip
OUT = {  # pkg/__init__.py, and how outsiders come by the module
    "a submodule that is imported": ("import pkg.leaf\n", "pkg.leaf.helper()"),
    "a table": ("from pkg import leaf as _leaf\n\nTABLE = {'leaf': _leaf}\n", "pkg.TABLE['leaf'].helper()"),
    "a list": ("from pkg import leaf as _leaf\n\nALL = [_leaf]\n", "pkg.ALL[0].helper()"),
    "a second name": ("from pkg import leaf as _leaf\n\nview = _leaf\n", "pkg.view.helper()"),
    "a call": ("from pkg import leaf as _leaf\n\n\ndef get():\n    return _leaf\n", "pkg.get().helper()"),
    "a call that imports": ("\n\ndef get():\n    from pkg import leaf\n\n    return leaf\n", "pkg.get().helper()"),
    "a table behind a call": (
        "from pkg import leaf as _leaf\n\n_TABLE = {'a': _leaf}\n\n\ndef get(key):\n    return _TABLE[key]\n",
        "pkg.get('a').helper()",
    ),
    "an attribute of a class": ("from pkg import leaf\n\n\nclass View:\n    impl = leaf\n", "pkg.View.impl.helper()"),
    "an attribute of an object": (
        "from pkg import leaf as _leaf\n\n\nclass View:\n    def __init__(self):\n        self.impl = _leaf\n",
        "pkg.View().impl.helper()",
    ),
    "an argument of what outsiders give": (
        "from pkg import leaf as _leaf\n\n\ndef run(call):\n    return call(_leaf)\n",
        "pkg.run(lambda m: m.helper())",
    ),
}
HANDED |= {k: ({"pkg/__init__.py": init}, "[pkg]", f"import pkg; RESULT = {read}") for k, (init, read) in OUT.items()}


@pytest.mark.parametrize("name", HANDED)
def test_a_module_that_a_root_hands_out(name: str, tmp_path: Path) -> None:
    files, roots, driver = HANDED[name]
    rules = ROOTS.format(roots=roots)
    assert same_behaviour(prune({**files, "pkg/leaf.py": LEAF}, rules=rules), driver)["result"] == "1"
    case = Case(tmp_path, {**files, "pkg/leaf.py": LEAF}, rules)
    assert "only_hip" not in case.text("pkg/leaf.py")
    assert "fold" in case.wrong("pkg/leaf.py", "def helper():\n    return 1\n", "")


def test_a_module_that_a_root_definition_hands_out() -> None:
    """The checks do not see this loss: what else is in the file may use the module as it likes."""
    init = "from pkg import leaf as _leaf\n\n\ndef get():\n    return _leaf\n"
    pruned = prune({"pkg/__init__.py": init, "pkg/leaf.py": LEAF}, rules=ROOTS.format(roots="['pkg:get']"))
    assert same_behaviour(pruned, "import pkg; RESULT = pkg.get().helper()")["result"] == "1"


@pytest.mark.parametrize("use", ["import mid\n", "def start():\n    import mid\n\n\nstart()\n"])
@pytest.mark.parametrize("exports", ["__all__ = ['leaf']\n", "__all__ = ('leaf', 'bound')\nbound = 1\n"])
def test_what_a_star_loads(use: str, exports: str, tmp_path: Path) -> None:
    files = {
        "app.py": "import reg\n" + use + "\n\ndef f():\n    return reg.SEEN\n",
        "reg.py": "SEEN = []\n",
        "mid.py": "from pkg import *\n",
        "pkg/__init__.py": exports,
        "pkg/leaf.py": "import reg\n\nreg.SEEN.append(1)\n",
        "pkg/bound.py": "import reg\n\nreg.SEEN.append(2)\n",  # a name that the package binds loads nothing
    }
    rules = ROOTS.format(roots="[app]")
    assert same_behaviour(prune(files, rules=rules), "import app; RESULT = app.f()")["result"] == "[1]"
    case = Case(tmp_path, files, rules)
    assert not (case.out / "pkg/bound.py").exists()
    assert case.judged({"mid.py": "", "pkg/leaf.py": None, "pkg/__init__.py": None})


THING = """from plat import is_hip


class Base:
    def __class_getitem__(cls, of):
        return cls

    def inherited(self):
        return 5


class Thing(Base):
    def go(self):
        return 2

    @staticmethod
    def made():
        return Thing()

    def _own(self):
        return 3


class Row(Base[int]):
    def rows(self):
        return 4


thing = Thing()

if is_hip():
    only_hip = 2
"""
HAVE = {  # pkg/__init__.py, the roots, and how outsiders come by the class
    "a root that imports it": ("from pkg.thing import Row, Thing\n", "[pkg]", "pkg"),
    "its own module": ("", "['pkg.thing']", "pkg.thing"),
    "a definition": ("", "['pkg.thing:Thing', 'pkg.thing:Row']", "pkg.thing"),
    "a definition that is imported": ("from pkg.thing import Row, Thing\n", "['pkg:Thing', 'pkg:Row']", "pkg"),
    "a star": ("from pkg.thing import *\n", "[pkg]", "pkg"),
    "__all__": ("from pkg.thing import Row, Thing\n\n__all__ = ['Row', 'Thing']\n", "[pkg]", "pkg"),
    "a module": ("from pkg import thing\n", "[pkg]", "pkg.thing"),
}
GIVEN = {  # the checks do not ask for these
    "a second name": ("from pkg.thing import Row as _Row, Thing as _Thing\n\nRow, Thing = _Row, _Thing\n", "[pkg]", "pkg"),
    "a second name each": ("from pkg import thing as _t\n\nRow = _t.Row\nThing = _t.Thing\n", "[pkg]", "pkg"),
    "an object": ("from pkg.thing import Row as _Row, thing\n\nrow = _Row()\n", "[pkg]", "type('', (), {'Thing': type(pkg.thing), 'Row': type(pkg.row)})"),
    "a class above it": ("from pkg.thing import Row as _Row, Thing as _Thing\n\n\nclass Thing(_Thing):\n    pass\n\n\nclass Row(_Row):\n    pass\n", "[pkg]", "pkg"),
    "a table": ("from pkg.thing import Row as _Row, Thing as _Thing\n\nT = {'Row': _Row, 'Thing': _Thing}\n", "[pkg]", "type('', (), pkg.T)"),
    "a call": ("def get(name):\n    from pkg.thing import Row, Thing\n\n    return Row if name == 'Row' else Thing\n", "['pkg:get']", "type('', (), {n: pkg.get(n) for n in ('Row', 'Thing')})"),
    "a module that is handed on": ("from pkg import thing as _thing\n\n\ndef get():\n    return _thing\n", "[pkg]", "pkg.get()"),
    "__getattr__": ("def __getattr__(name):\n    if name == 'Row':\n        from pkg.thing import Row as found\n    else:\n        from pkg.thing import Thing as found\n    return found\n", "[pkg]", "pkg"),
}  # fmt: skip
ASKED = "m.Thing().go(), m.Thing().inherited(), type(m.Thing.made()).__name__, m.Row().rows(), m.Row().inherited()"


@pytest.mark.parametrize("name", HAVE | GIVEN)
def test_methods_of_a_class_that_outsiders_have(name: str, tmp_path: Path) -> None:
    """``Thing().go()`` is in no file of the tree: the methods went, and no check missed them."""
    init, roots, have = (HAVE | GIVEN)[name]
    files, rules = {"pkg/__init__.py": init, "pkg/thing.py": THING}, ROOTS.format(roots=roots)
    pruned = prune(files, rules=rules)
    assert (
        same_behaviour(pruned, f"import pkg, pkg.thing; m = {have}; RESULT = {ASKED}")["result"]
        == "(2, 5, 'Thing', 4, 5)"
    )
    assert "_own" not in pruned["pkg/thing.py"]
    case = Case(tmp_path, files, rules)
    for gone in (
        "    def go(self):\n        return 2\n\n",
        "    def inherited(self):\n        return 5\n",
        "    def rows(self):\n        return 4\n",
    ):
        assert name in GIVEN or "fold" in case.wrong("pkg/thing.py", gone, "" if "go" in gone else "    pass\n")


def test_a_star_brings_outsiders_what_a_script_defines(tmp_path: Path) -> None:
    """``from script import *`` in a root: the classes of the script, and not those that it imports."""
    files = {
        "app.py": "from script import *\n",
        "script.py": "from thing import Thing\n\n\nclass Own:\n    def mine(self):\n        return 1\n\n\ndef main():\n    return Thing(1)\n",
        "thing.py": "class Thing:\n    def __init__(self, x):\n        self.x = x\n\n    def go(self):\n        return 2\n",
    }
    case = Case(tmp_path, files, ROOTS.format(roots="[app]"))
    assert "def go" not in case.text("thing.py") and "def mine" in case.text("script.py")
    assert "fold" in case.wrong("script.py", "    def mine(self):\n        return 1\n", "    pass\n")


LOOKS = [
    "isinstance(x, Thing)",
    "isinstance(x, (int, Thing))",
    "getattr(Thing, 'made')()",
    "Thing(x)",
    "hasattr(Thing, x)",
]


@pytest.mark.parametrize("look", LOOKS)
def test_what_a_root_only_looks_at_is_nobodys(look: str) -> None:
    files = {
        "app.py": f"from thing import Thing\n\n\ndef f(x: Thing):\n    y: Thing = {look}\n    return y\n",
        "thing.py": "class Thing:\n    def __init__(self, x=0):\n        self.x = x\n\n    @staticmethod\n    def made():\n        return 1\n\n    def go(self):\n        return 2\n",
    }
    assert "def go" not in prune(files)["thing.py"]
