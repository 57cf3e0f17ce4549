"""A guard asks an attribute when a method returns: what a class stores into itself after that is no guard's business."""

from __future__ import annotations

import pytest

from tests.engine.program import Pruned, prune
from tests.engine.program import run as execute

BASE = (
    "class Args:\n    def __init__(self, d):\n        self.device = d\n        self.resolve()\n\n"
    "    def resolve(self):\n        self.x = 1\n"
)
USE = "\n\ndef use(a):\n    if a.device == 'cpu':\n        return 'CPU'\n    return 'other'\n"
SEEN = {
    "in the guarded method's maker": (BASE, "Args('cpu')"),
    "in what the guarded method calls": (
        "class Args:\n    def __init__(self, d):\n        self.d = d\n        self.resolve()\n\n    def resolve(self):\n        self._take()\n\n"
        "    def _take(self):\n        self.device = self.d\n", "Args('cpu')",
    ),
    "in a class below that calls the one above": (
        BASE + "\n\nclass S(Args):\n    def resolve(self):\n        super().resolve()\n        self.y = 2\n", "S('cpu')",
    ),
}  # fmt: skip
UNSEEN = {
    "a method that is called later": (BASE + "\n    def put(self, d):\n        self.device = d\n        return self\n", "Args('cuda').put('cpu')"),
    "a property": (
        BASE + "\n    @property\n    def kind(self):\n        return 1\n\n    @kind.setter\n    def kind(self, d):\n        self.device = d\n\n\n"
        "def made():\n    a = Args('cuda')\n    a.kind = 'cpu'\n    return a\n", "made()",
    ),
    "a class method": (
        BASE + "\n    @classmethod\n    def load(cls, d):\n        self = cls.__new__(cls)\n        self.device = d\n        return self\n", "Args.load('cpu')",
    ),
    "a part of the guarded method that others call": (
        "class Args:\n    def __init__(self, d):\n        self.resolve(d)\n\n    def resolve(self, d):\n        self.take(d)\n\n"
        "    def take(self, d):\n        self.device = d\n        return self\n\n\ndef again(a, d):\n    return a.take(d)\n", "again(Args('cuda'), 'cpu')",
    ),
    "a class below that does not call the one above": (BASE + "\n\nclass S(Args):\n    def resolve(self):\n        self.y = 2\n", "S('cpu')"),
    "a guarded method that the maker does not call": (BASE.replace("        self.resolve()\n", ""), "Args('cpu')"),
}  # fmt: skip


def made(text: str, where: str = "after") -> Pruned:
    rules = f"""\
rules:
  - {{id: root, because: So., root: [app]}}
  - {{id: device, because: So., assume: {{app.Args.device: cuda}}}}
  - id: own
    because: So.
    guard: {{at: "app:Args.resolve", where: {where}, of: self, ask: {{device: {{fact: app.Args.device}}}}}}
"""
    return prune({"app.py": text + USE}, rules=rules, plat=False)


@pytest.mark.parametrize("name", SEEN)
def test_what_a_guard_sees_is_folded_and_refused(name: str) -> None:
    text, call = SEEN[name]
    result = made(text)
    assert result.findings == [] and "CPU" not in result["app.py"]
    said = execute(result.files, f"from app import *\nRESULT = use({call})")["raised"]
    assert said.startswith("RefusedByPrune: device is 'cpu'"), said


@pytest.mark.parametrize("name", UNSEEN)
def test_what_no_guard_sees_takes_the_fact_away(name: str) -> None:
    text, call = UNSEEN[name]
    result = made(text)
    assert result.findings == ["PR221"]
    done = [execute(files, f"from app import *\nRESULT = use({call})") for files in (result.before, result.files)]
    assert done[0]["result"] == "'CPU'" and done[1] == done[0]


def test_a_guard_at_the_entry_asks_before_what_the_method_stores() -> None:
    text = "class Args:\n    def __init__(self, d):\n        self.resolve(d)\n\n    def resolve(self, d):\n        self.device = d\n"
    assert made(text).findings == []
    assert made(text, "entry").findings == ["PR221"]
