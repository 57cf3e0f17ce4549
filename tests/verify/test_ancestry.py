"""Members that are listed through the ancestors of a class stay, and their loss is refuted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.wrong import Case

LIB = """\
import inspect


class A:
    def run_a(self):
        return 1

    def names(self):
        found = []
        for c in CLASSES:
            found += [n for n in MEMBERS if n.startswith("run_")]
        return sorted(found)


class B(A):
    def run_b(self):
        return 2

    def other(self):
        return 3

    x = 4
"""
CLASSES = [
    "type(self).__mro__",
    "self.__class__.__mro__",
    "inspect.getmro(type(self))",
    "type(self).mro()",
    "reversed(type(self).__mro__)",
    "type(self).__mro__[:-1]",
    "(type(self), *type(self).__bases__)",
]
MEMBERS = ["vars(c)", "c.__dict__", "dir(c)", "[k for k, v in vars(c).items()]", "c.__dict__.keys()"]


@pytest.mark.parametrize(
    ("classes", "members"), [*((c, "vars(c)") for c in CLASSES), *(("type(self).__mro__", m) for m in MEMBERS[1:])]
)
def test_what_a_method_lists(classes: str, members: str, tmp_path: Path) -> None:
    files = {
        "app.py": "from lib import B\n\n\ndef f():\n    return B().names()\n",
        "lib.py": LIB.replace("CLASSES", classes).replace("MEMBERS", members),
    }
    case = Case(tmp_path, files)
    for name in ("a", "b"):
        number = {"a": 1, "b": 2}[name]
        assert "fold" in case.wrong("lib.py", f"    def run_{name}(self):\n        return {number}\n\n", "")


@pytest.mark.parametrize("given", ["B()", "B"])
@pytest.mark.parametrize(
    "body",
    [
        "return [n for c in CLASS.__mro__ for n in vars(c)]",
        "return sorted(n for c in CLASS.mro() for n in c.__dict__)",
        "found = []\n    for c in inspect.getmro(CLASS):\n        found += dir(c)\n    return found",
    ],
)
def test_what_a_function_lists_of_what_it_is_given(body: str, given: str, tmp_path: Path) -> None:
    text = body.replace("CLASS", "type(x)" if given == "B()" else "x")
    lib = "import inspect\n\n\nclass A:\n    def run_a(self):\n        return 1\n\n    y = 2\n\n\nclass B(A):\n    def run_b(self):\n        return 2\n\n    x = 4\n"
    files = {
        "app.py": f"from lib import B, names\n\n\ndef f():\n    return names({given})\n",
        "lib.py": f"{lib}\n\ndef names(x):\n    {text}\n",
    }
    case = Case(tmp_path, files)
    assert "fold" in case.wrong("lib.py", "    def run_b(self):\n        return 2\n\n", "")
    assert "fold" in case.wrong("lib.py", "    def run_a(self):\n        return 1\n\n", "")


def test_ancestors_that_nobody_lists_members_of(tmp_path: Path) -> None:
    lib = LIB.replace(
        '            found += [n for n in MEMBERS if n.startswith("run_")]\n', "            found.append(c.__name__)\n"
    )
    files = {
        "app.py": "from lib import B\n\n\ndef f():\n    return B().names()\n",
        "lib.py": lib.replace("CLASSES", "type(self).__mro__"),
    }
    case = Case(tmp_path, files)
    assert "run_" not in case.text("lib.py")
