"""The list of names that outside code asks for: how it is made, and that it has what it must."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from pruner.model import outside
from tests.docs import outside as maker
from tests.engine.program import prune

CLASS = "class Peer:\n    def connection_made(self, transport):\n        pass\n\n    def nobodys_business(self):\n        pass\n"


def test_what_code_asks_of_objects() -> None:
    text = """
import os, json as j
from io import text_encoding
class A:
    def f(self, x):
        self.own(); os.walk(x); j.load(x)
        x.asked.deeply; text_encoding(x).of_call; getattr(x, "by_text"); hasattr(x, "probed")
        x.stored = 1
        from operator import attrgetter, methodcaller
        import operator
        attrgetter("far.away"); operator.methodcaller("called")
"""
    found = set(maker.read(ast.parse(text)))
    assert found == {"asked", "deeply", "of_call", "by_text", "probed", "far", "away", "called"}


def test_a_list_is_made_of_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By group; tests, special names and what does not parse are left out; the head says what was read."""
    files = {
        "lib/python3.99/json/tool.py": "x.read_it; x.__special__",
        "lib/python3.99/types.py": "x.plain",
        "lib/python3.99/importlib/_bootstrap.py": "x.find_it",
        "lib/python3.99/test/test_x.py": "x.in_a_test",
        "include/python3.99/internal/pycore_global_strings.h": "        STRUCT_FOR_ID(write_it)\n",
        "site-packages/torchy/a.py": "x.guard_it; x.read_it",
        "site-packages/torchy/bad.py": "x.lost(",
        "site-packages/torchy-1.2.dist-info/METADATA": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(maker, "LIST", tmp_path / "outside.txt")
    maker.main([tmp_path / "lib" / "python3.99", tmp_path / "site-packages"])
    lines = (tmp_path / "outside.txt").read_text().splitlines()
    assert lines[1:3] == ["# CPython 3.99", "# torchy 1.2"]
    assert lines[3:] == [
        *("[interpreter]", "find_it", "plain", "write_it"),
        *("[standard library]", "read_it"),
        *("[packages]", "guard_it"),
    ]


@pytest.mark.parametrize(
    "name", ["json", "logging", "asyncio", "xml/sax", "importlib", "contextlib.py", "typing.py", "io.py"]
)
def test_the_list_has_what_this_python_asks_for(name: str) -> None:
    path = Path(sysconfig.get_paths()["stdlib"]) / name
    known = outside.asked(["json"])
    for file in [path] if path.is_file() else sorted(path.rglob("*.py")):
        missing = {n for n in maker.read(ast.parse(file.read_bytes())) if maker.wanted(n)} - known
        assert not missing, f"{file.name}: made from another Python: python -m tests.docs.outside"


@pytest.mark.parametrize(
    ("imported", "kept"),
    [
        ("", False),
        ("import sys, typing\n", False),
        ("import asyncio\n", False),  # nobody reads it
        ("import asyncio\nprint(asyncio)\n", True),
        ("import asyncio.events as e\nprint(e)\n", True),
        ("from asyncio import run\nprint(run)\n", True),
        ("from .gone import it\nprint(it)\n", True),
        ("from a_runtime import *\n", True),
        ("import a_runtime\nprint(a_runtime)\n", True),
        ("def f():\n    import a_runtime\n    a_runtime.go()\n", True),
        ("def nobody():\n    import a_runtime\n    a_runtime.go()\n", False),
        ("if plat.is_hip():\n    import a_runtime\n", False),
    ],
)
def test_names_count_once_live_code_imports_who_asks(imported: str, kept: bool) -> None:
    body = (
        "import plat\n" + imported + CLASS + "def main():\n    Peer()\n" + ("    f()\n" if "def f" in imported else "")
    )
    files = {"pkg/__init__.py": "", "pkg/app.py": body}
    rules = """rules:
- {id: hip, because: The test says so., assume: {"plat.is_hip()": false}, optional: true}
- {id: main, because: The test says so., root: ["pkg.app:main"]}
"""
    out = prune(files, rules=rules).files["pkg/app.py"].decode()
    assert ("connection_made" in out) is kept
    assert "nobodys_business" not in out
