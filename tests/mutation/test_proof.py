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


def reason(folder: Path, files: dict[str, str], path: str, text: str, drops: tuple[str, ...] = ()) -> str:
    """Why this change of one file of the tree is no fault."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return Proof(folder, drops).reason(Mutant("k", path, 1, "w", ((path, text.encode()),)))


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


def test_what_a_rule_names(tmp_path: Path) -> None:
    changed = "from pkg.near import thing\nfrom functools import cache\n"
    assert reason(tmp_path, FILES, "used.py", changed, ("used:oth*",)) == "a drop rule names it"
    assert reason(tmp_path, FILES, "used.py", changed) == ""


CLASS = "class A:\n    def run(self):\n        return 1\n\n    def stop(self):\n        return 2\n"


def test_a_method_and_a_constant(tmp_path: Path) -> None:
    files = FILES | {"m.py": f"LIMIT = 3\n\n\n{CLASS}"}
    without = CLASS.partition("\n    def stop")[0]
    assert "no file says" in reason(tmp_path, files, "m.py", f"LIMIT = 3\n\n\n{without}")
    assert reason(tmp_path, files, "m.py", f"3\n\n\n{CLASS}") == "nobody can read it"
    assert reason(tmp_path, files, "m.py", "LIMIT = 3\n") == ""
    files["z.py"] = "def f(x):\n    return x.stop()\n"
    assert reason(tmp_path, files, "m.py", f"LIMIT = 3\n\n\n{without}") == ""
    files["z.py"] = "from m import LIMIT\n"
    assert reason(tmp_path, files, "m.py", CLASS) == ""
