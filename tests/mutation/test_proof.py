"""Which survivors are no faults: each condition of the proof, with a program that fails it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutation.mutants import Mutant
from tests.mutation.proof import Proof

FILES = {
    "app.py": "import used\nfrom used import other\nfrom pkg.near import thing\n\n\ndef f():\n    return thing\n",
    "used.py": "from pkg.near import thing\nfrom functools import cache\n\n\ndef other():\n    return 1\n",
    "pkg/__init__.py": "",
    "pkg/near.py": "thing = 1\n",
    "pkg/cold.py": "",
}


FACTS = {"plat.is_cuda()": (True,), "plat.is_hip()": (False,), "plat.kind()": ("", "b")}


def reason(folder: Path, files: dict[str, str], path: str, text: str, drops: tuple[str, ...] = ()) -> str:
    """Why this change of one file of the tree is no fault."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return Proof(folder, drops, FACTS, {"plat.is_cuda()"}).reason(Mutant("k", path, 1, "w", ((path, text.encode()),)))


def test_an_import_that_nobody_reads_and_that_loads_nothing(tmp_path: Path) -> None:
    files = FILES | {"app.py": FILES["app.py"].replace("other\n", "other, cache\n", 1)}
    assert "the rest of its statement" in reason(tmp_path, files, "app.py", files["app.py"].replace(", cache", ""))
    # `used` loads pkg.near whenever app is loaded; loaded first, or by others, app never does it
    files = FILES | {"app.py": "import used\nimport pkg.near\n"}
    assert "loaded already" in reason(tmp_path, files, "app.py", "import used\n")


@pytest.mark.parametrize(
    ("more", "path", "before", "after"),
    [
        ({}, "used.py", "from pkg.near import thing\n", ""),  # it is what loads pkg.near
        ({"app.py": "import pkg.cold\n" + FILES["app.py"]}, "app.py", "import pkg.cold\n", ""),
        ({"app.py": "import torch\n" + FILES["app.py"]}, "app.py", "import torch\n", ""),  # what it does is not known
        ({}, "app.py", "    return thing\n", "    return 2\n"),  # another change
        ({}, "app.py", "from pkg.near import thing\n", ""),  # the file reads it
        ({"z.py": "from app import other\n"}, "app.py", "from used import other\n", ""),
        ({"z.py": "from app import *\nother()\n"}, "app.py", "from used import other\n", ""),
        ({"z.py": "import app\napp.other()\n"}, "app.py", "from used import other\n", ""),
        ({"z.py": "import app\nprint(app)\n"}, "app.py", "from used import other\n", ""),
        ({"z.py": "def g():\n    import app\n    return app\n\n\nx = g()\n"}, "app.py", "from used import other\n", ""),
        ({"z.py": "def g():\n    import app\n    return app\n\n\ng().other()\n"}, "app.py", "from used import other\n", ""),
        ({"z.py": "import app\ngetattr(app, 'other')\n"}, "app.py", "from used import other\n", ""),
        ({"z.py": "class C:\n    import app as a\n\n\nC().a.other()\n"}, "app.py", "from used import other\n", ""),
        ({"z.py": "import sys\nm = 'app:other'\n"}, "app.py", "from used import other\n", ""),
    ],
)  # fmt: skip
def test_not_shown(more: dict[str, str], path: str, before: str, after: str, tmp_path: Path) -> None:
    files = FILES | more
    assert before in files[path]
    assert reason(tmp_path, files, path, files[path].replace(before, after, 1)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "import app\napp.f()\n",
        "def g():\n    import app\n    return app\n\n\ng().f()\n",
        "import app\nsetattr(app, 'more', 1)\n",
        "class C:\n    import app as a\n\n\nC().a.f()\n",
        "class C:\n    other = 1\n\n\nC().other\n",
    ],
)
def test_nobody_reads_it(text: str, tmp_path: Path) -> None:
    files = FILES | {"z.py": text}
    found = reason(tmp_path, files, "app.py", FILES["app.py"].replace("from used import other\n", "", 1))
    assert "nobody can read it" in found


def test_what_the_body_of_one_module_imports(tmp_path: Path) -> None:
    """``import app as ops`` in a file of whose ``ops`` nobody hears, though other things have an attribute of that name."""
    without = FILES["app.py"].replace("from used import other\n", "", 1)
    files = FILES | {"z.py": "import app as ops\nops.f()\n", "y.py": "def f(x):\n    return x.ops.other\n"}
    assert "nobody can read it" in reason(tmp_path, files, "app.py", without)
    for more in (
        "import z\nz.ops.other()\n",
        "from z import ops\nops.other()\n",
        "import z\nprint(z)\n",
        "X = 'z:ops'\n",
    ):
        assert reason(tmp_path, files | {"x.py": more}, "app.py", without) == ""
    files["z.py"] = "class C:\n    if True:\n        import app as ops\n"
    assert reason(tmp_path, files | {"x.py": ""}, "app.py", without) == ""


def test_a_method_that_no_file_says(tmp_path: Path) -> None:
    """``pass`` stands in its place; a text that names it, or an attribute, is somebody who may ask."""
    files = FILES | {
        "m.py": "class C:\n    def spare(self):\n        return 1\n\n    def used(self):\n        return 2\n"
    }
    without = "class C:\n    pass\n\n    def used(self):\n        return 2\n"
    assert reason(tmp_path, files, "m.py", without) == "no file says the method's name"
    assert reason(tmp_path, files | {"z.py": "X = 'spare'\n"}, "m.py", without) == ""
    assert reason(tmp_path, files | {"z.py": "def f(x):\n    return x.spare\n"}, "m.py", without) == ""


def test_a_list_of_constants(tmp_path: Path) -> None:
    files = FILES | {"m.py": "NAMES = ['a', -1]\nOTHER = [print()]\n"}
    assert reason(tmp_path, files, "m.py", "OTHER = [print()]\n") == "nobody can read it"
    assert reason(tmp_path, files, "m.py", "NAMES = ['a', -1]\n") == ""


def test_what_a_rule_names(tmp_path: Path) -> None:
    changed = "from pkg.near import thing\nfrom functools import cache\n"
    assert reason(tmp_path, FILES, "used.py", changed, ("used:oth*",)) == "a drop rule names it"
    assert reason(tmp_path, FILES, "used.py", changed) == ""


CLASS = "class A:\n    def run(self):\n        return 1\n\n    def halted_here(self):\n        return 2\n"


def test_a_method_and_a_constant(tmp_path: Path) -> None:
    files = FILES | {"m.py": f"LIMIT = 3\n\n\n{CLASS}"}
    without = CLASS.partition("\n    def halted_here")[0]
    assert "no file says" in reason(tmp_path, files, "m.py", f"LIMIT = 3\n\n\n{without}")
    assert reason(tmp_path, files, "m.py", f"3\n\n\n{CLASS}") == "nobody can read it"
    assert reason(tmp_path, files, "m.py", "LIMIT = 3\n") == "nobody can read it"
    files["z.py"] = "def f(x):\n    return x.halted_here()\n"
    assert reason(tmp_path, files, "m.py", f"LIMIT = 3\n\n\n{without}") == ""
    files["z.py"] = "from m import LIMIT\n"
    assert reason(tmp_path, files, "m.py", CLASS) == ""


FLAGS = """from plat import is_cuda, is_hip, kind

_is_cuda = is_cuda()
_is_hip = is_hip()
_kind = kind()
if _is_cuda:
    pass


def f(x):
    if _is_cuda and x > 1:
        return _is_hip or x
    return _kind and x


def g(x):
    if _is_cuda:
        return x and _is_cuda
    return None


def h(x):
    y = x if x and is_cuda() else 0
    if _is_cuda:
        return y
    z = 3
    return z


def k(x):
    if _is_cuda:
        return x
    x = yield


first = _is_cuda and print("loaded")
"""


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("_is_cuda and x > 1", "x > 1", True),
        ("_is_hip or x", "x", True),
        ("if _is_cuda:\n    pass\n", "", True),
        ("_is_cuda and x > 1", "True", False),
        ("_is_hip or x", "_is_hip", False),
        ("_kind and x", "x", False),  # what it is, no fact says
        ("x and _is_cuda", "x", False),  # the value counts
        ("    if _is_cuda:\n        return x and _is_cuda\n", "    return x and _is_cuda\n", True),
        ("    if _is_cuda:\n        return x and _is_cuda\n", "    pass\n", False),
        ('_is_cuda and print("loaded")', 'print("loaded")', False),  # a host without a device loads it
        ("x and is_cuda() else", "x else", True),
        ("x and is_cuda() else", "is_cuda() else", False),
        ("        return y\n    z = 3\n    return z\n", "        return y\n", True),
        ("        return y\n    z = 3\n    return z\n", "        return z\n", False),
        ("        return x\n    x = yield\n", "        return x\n", False),  # a generator no more
        ('print("loaded")', "print(is_cuda())", False),
        ("return _is_hip or x", "_is_cuda = 0\n        return _is_hip or x", False),
    ],
)
def test_what_a_fact_settles(before: str, after: str, shown: bool, tmp_path: Path) -> None:
    files = FILES | {"flags.py": FLAGS}
    assert before in FLAGS
    found = reason(tmp_path, files, "flags.py", FLAGS.replace(before, after, 1))
    assert found == ("a fact settles what differs" if shown else "")


def test_which_object_it_is_asks_nothing_of_it(tmp_path: Path) -> None:
    without = FILES["app.py"].replace("from used import other\n", "", 1)
    files = FILES | {"z.py": "import app\nx = app is not None\n"}
    assert "nobody can read it" in reason(tmp_path, files, "app.py", without)
    files["z.py"] = "import app\nx = app in [None]\n"
    assert reason(tmp_path, files, "app.py", without) == ""


def test_a_listed_name_of_which_nobody_hears(tmp_path: Path) -> None:
    listed = "def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\n__all__ = ['one', 'two']\n"
    without = "def two():\n    return 2\n\n\n__all__ = ['two']\n"
    files = FILES | {"listed.py": listed, "z.py": "import listed\nlisted.two()\n"}
    assert reason(tmp_path, files, "listed.py", without) == "nobody can read it"
    for text in ("from listed import *\none()\n", "import listed\nlisted.one()\n", "import listed\nprint(listed)\n"):
        assert reason(tmp_path, files | {"z.py": text}, "listed.py", without) == ""
    assert reason(tmp_path, files, "listed.py", without.replace("two", "one")) == ""


def test_a_package_from_outside_is_not_the_module(tmp_path: Path) -> None:
    without = FILES["app.py"].replace("from used import other\n", "", 1)
    files = FILES | {"z.py": "import app\nimport torch\n\napp.f()\nprint(torch.app)\n"}
    assert "nobody can read it" in reason(tmp_path, files, "app.py", without)
    files["z.py"] = "import app\nimport torch\n\ntorch = app\nprint(torch.app)\n"
    assert reason(tmp_path, files, "app.py", without) == ""


def test_an_import_that_stands_twice(tmp_path: Path) -> None:
    files = FILES | {"m.py": "from used import other; A = other()\nfrom used import other; B = other()\n"}
    assert "above it stays" in reason(tmp_path, files, "m.py", "from used import other; A = other()\nB = other()\n")
    assert reason(tmp_path, files, "m.py", "A = other()\nfrom used import other; B = other()\n") == ""
    files["m.py"] = "from used import other\nother = 1\nfrom used import other\nprint(other)\n"
    assert reason(tmp_path, files, "m.py", "from used import other\nother = 1\nprint(other)\n") == ""


UNSET = """fast = False
slow = 1


def f(x):
    if fast:
        return 1
    if x and not slow:
        return x
    return x + 1
"""
ASKED = "    if fast:\n        return 1\n"


def test_a_flag_that_nothing_sets(tmp_path: Path) -> None:
    shown = "a flag that nothing sets settles what differs"
    files = FILES | {"m.py": UNSET, "z.py": "import m\nprint(m.f(2), m.fast)\n"}
    assert reason(tmp_path, files, "m.py", UNSET.replace(ASKED, "")) == shown
    assert reason(tmp_path, files, "m.py", UNSET.replace(ASKED, "    pass\n")) == shown
    assert reason(tmp_path, files, "m.py", UNSET.replace(ASKED, "    return 1\n")) == ""
    assert reason(tmp_path, files, "m.py", UNSET.replace("return x\n", "return 3\n")) == ""


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (UNSET + "\n\ndef mark():\n    global fast\n    fast = True\n", ""),
        (UNSET + "\n\nfor fast in (0, 1):\n    pass\n", ""),
        (UNSET + "\n\ntry:\n    f(1)\nexcept TypeError as fast:\n    pass\n", ""),
        (UNSET + "\n\nfrom used import fast\n", ""),
        (UNSET + "\n\ndef mark(name):\n    globals()[name] = True\n", ""),
        (UNSET.replace("fast = False\n", "") + "\n\nfast = False\n", ""),  # it may be called above
        (UNSET.replace("fast = False", "fast = print()"), ""),
        (UNSET, "import m\nm.fast = True\n"),
        (UNSET, "import m\nsetattr(m, 'fast', True)\n"),
        (UNSET, "import m\nvars(m).update(fast=True)\n"),
        (UNSET, "from unittest.mock import patch\nX = patch('m.fast', True)\n"),
    ],
)
def test_a_flag_that_something_may_set(own: str, other: str, tmp_path: Path) -> None:
    files = FILES | {"m.py": own, "z.py": other}
    assert ASKED in own
    assert reason(tmp_path, files, "m.py", own.replace(ASKED, "")) == ""


def test_what_a_side_that_never_runs_says_of_the_function(tmp_path: Path) -> None:
    """``if FLAG: x = 1`` makes ``x`` local; a ``yield`` there makes the function a generator."""
    for side in ("x = 1", "yield", "global y"):
        text = f"fast = False\nx = y = 2\n\n\ndef f():\n    if fast:\n        {side}\n    print(x)\n"
        without = text.replace(f"    if fast:\n        {side}\n", "")
        assert reason(tmp_path, FILES | {"m.py": text}, "m.py", without) == ""


LOADER = "import importlib\n\n\ndef load(path, name):\n    return getattr(importlib.import_module(path), name)\n"


def test_a_module_that_a_text_names_is_asked_for_what_is_said(tmp_path: Path) -> None:
    without = FILES["app.py"].replace("import other\n", "import more\n", 1)
    files = FILES | {
        "app.py": FILES["app.py"].replace("import other\n", "import other, more\n", 1),
        "used.py": FILES["used.py"] + "more = 1\n",
        "loader.py": LOADER,
        "z.py": "from loader import load\nload('app', 'f')\n",
    }
    assert "nobody can read it" in reason(tmp_path, files, "app.py", without)
    for text in (
        "load('app', 'other')\n",
        "load('app', 'x').other()\n",  # attributes of what nobody knows
        "load('app', f'oth{load}')\n",
        "load('app', 'oth' + load)\n",
        "load('app', 'oth%s' % load)\n",
        "load('app', 'oth{}'.format(load))\n",
        "for name in 'f other'.split():\n    load('app', name)\n",
        "load('app:other', 'f')\n",
        "getattr(load('app', 'f'), load.__name__)\n\n\ndef other():\n    pass\n",
    ):
        more = {"z.py": "from loader import load\n" + text}
        assert reason(tmp_path, files | more, "app.py", without) == "", text
    listing = LOADER + "\n\ndef every(path):\n    return dir(importlib.import_module(path))\n"
    assert reason(tmp_path, files | {"loader.py": listing}, "app.py", without) == ""


def test_a_module_that_is_asked_for_a_name_that_some_text_says(tmp_path: Path) -> None:
    without = FILES["app.py"].replace("from used import other\n", "", 1)
    files = FILES | {"z.py": "import app\n\n\ndef g(name):\n    return getattr(app, name)\n", "y.py": ""}
    assert "nobody can read it" in reason(tmp_path, files, "app.py", without)
    for text in ("KINDS = ['other']\n", "KIND = 'a.other'\n", "def g(x):\n    return f'o{x}r'\n"):
        found = reason(tmp_path, files | {"y.py": text}, "app.py", without)
        assert (found == "") == ("f'o" not in text), text  # single letters are what the proof is blind to


def test_the_statement_beside_it(tmp_path: Path) -> None:
    """``import triton`` beside ``import triton.language as tl``."""
    files = FILES | {"m.py": "import torch\nimport torch.nn as nn\nprint(nn)\n"}
    assert "beside it" in reason(tmp_path, files, "m.py", "import torch.nn as nn\nprint(nn)\n")
    files = FILES | {"m.py": "import torch\nprint()\nimport torch.nn as nn\nprint(nn)\n"}
    assert reason(tmp_path, files, "m.py", "print()\nimport torch.nn as nn\nprint(nn)\n") == ""
    files = FILES | {"m.py": "import torch\nimport torchvision as nn\nprint(nn)\n"}
    assert reason(tmp_path, files, "m.py", "import torchvision as nn\nprint(nn)\n") == ""


def test_a_text_in_an_annotation_names_what_the_file_has(tmp_path: Path) -> None:
    files = FILES | {"app.py": FILES["app.py"] + "\n\ndef g(x: 'list[other]'):\n    return x\n"}
    assert reason(tmp_path, files, "app.py", files["app.py"].replace("from used import other\n", "", 1)) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "class Spare:\n    '''None asks.'''\n\n    size: int = 3\n\n    def run(self, x=1):\n        return x\n",
            True,
        ),
        ("def spare(x=3, *, y: int = 2):\n    return x\n", True),
        ("class Spare(Base):\n    pass\n", False),  # the base may register it
        ("class Spare(metaclass=Base):\n    pass\n", False),
        ("@mark\nclass Spare:\n    pass\n", False),
        ("class Spare:\n    print()\n", False),
        ("class Spare:\n    size: mark() = 3\n", False),
        ("class Spare:\n    @mark\n    def run(self):\n        return 1\n", False),
        ("def spare(x=mark()):\n    return x\n", False),
        ("def spare(x) -> mark():\n    return x\n", False),
    ],
)
def test_a_definition_that_nobody_reads(text: str, shown: bool, tmp_path: Path) -> None:
    head = "from used import other as Base, other as mark\n\n\n"
    files = FILES | {"m.py": f"{head}{text}\n\nprint(Base, mark)\n"}
    found = reason(tmp_path, files, "m.py", f"{head}print(Base, mark)\n")
    assert found == ("nobody can read it" if shown else "")


def test_a_function_of_the_same_name_is_not_the_method(tmp_path: Path) -> None:
    text = "class C:\n    def halted_here(self):\n        return 1\n\n    x = 1\n"
    without = "class C:\n    pass\n    x = 1\n"
    files = FILES | {"m.py": text, "z.py": "def halted_here():\n    pass\n\n\nhalted_here()\n"}
    assert "no file says" in reason(tmp_path, files, "m.py", without)
    assert (
        reason(tmp_path, files | {"y.py": "def f(x):\n    return getattr(x, f'halted_{x}')\n"}, "m.py", without) == ""
    )
    own = text.replace("x = 1", "x = halted_here")  # in the class itself
    assert reason(tmp_path, files | {"m.py": own}, "m.py", without.replace("x = 1", "x = halted_here")) == ""
    stop = text.replace("halted_here", "stop")  # code outside asks objects for it
    assert reason(tmp_path, files | {"m.py": stop}, "m.py", without) == ""


LOADED = """from plat import is_cuda, is_hip

_is_cuda = is_cuda()
_is_hip = is_hip()
if _is_hip:
    try:
        import rocm
    except ImportError:
        rocm = None
if not _is_cuda:
    print()
if False:
    import never
if _is_cuda:
    import near
else:
    import far
"""


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("    try:\n        import rocm\n    except ImportError:\n        rocm = None\n", "    import rocm\n", True),
        ("if _is_hip:\n    try:\n        import rocm\n    except ImportError:\n        rocm = None\n", "", True),
        ("    import never\n", "    pass\n", True),
        ("if False:", "if True:", False),
        ("if _is_hip:\n    try:", "if 1:\n    try:", False),
        ("if _is_cuda:\n    import near\nelse:\n    import far\n", "import near\n", False),  # no device: the other side
        ("if not _is_cuda:\n    print()\n", "", False),
    ],
)
def test_what_every_host_knows_when_it_loads_a_module(before: str, after: str, shown: bool, tmp_path: Path) -> None:
    assert before in LOADED
    found = reason(tmp_path, FILES | {"m.py": LOADED}, "m.py", LOADED.replace(before, after, 1))
    assert found == ("a fact settles what differs" if shown else "")
