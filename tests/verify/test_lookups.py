"""What a dictionary that is written there, a frozen set and a length give under the facts: folded, accepted, the wrong arm refuted.

A table under a name may be another one when it is read: it decides nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.program import prune, same_behaviour
from tests.verify.wrong import Case

PLAT = "def kind():\n    return 'cuda'\n\n\ndef sm():\n    return 90\n"
RULES = """rules:
- {id: t.kind, because: The test says so., assume: {"plat.kind()": cuda}}
- {id: t.sm, because: The test says so., optional: true, assume: {"plat.sm()": [90, 100]}}
- {id: t.root, because: It starts here., root: [app]}
"""
HEAD = "from plat import kind, sm\n\nFROZEN = frozenset({'hip', 'npu'})\nSAME = frozenset(('cuda', 'hip'))\nPAIR = tuple(['hip', 'npu'])\nBOTH = (kind(), 1)\n\n\n"
FALSE = {
    "an entry": "{'cuda': 1, 'hip': 2}[kind()] == 2",
    "an entry by default": "{'hip': 2}.get(kind(), 1) == 2",
    "an entry that there is": "{'hip': 2, 'cuda': 1}.get(kind(), 2) == 2",
    "no entry": "{'hip': True}.get(kind())",
    "the later of two": "{'cuda': True, 'cuda': False}[kind()]",
    "a key that is equal": "{1: 'no', True: ''}[len(kind()) == 4]",
    "entries of several keys": "{90: 1, 100: 2}[sm()] > 2",
    "a flag of several keys": "{90: 0, 100: ''}[sm()]",
    "keys": "kind() in {'hip': 1, 'npu': 2}",
    "a frozen set": "kind() in FROZEN",
    "not in a frozen set": "kind() not in SAME",
    "a frozen set that is made there": "kind() in frozenset(['hip', 'npu'])",
    "a set that is made there": "kind() in set(('hip', 'npu'))",
    "a sorted copy": "kind() in sorted(['hip', 'npu'])",
    "a copy of keys": "kind() in list({'hip': 1})",
    "a frozen tuple": "kind() in PAIR",
    "a copy of a frozen set": "kind() in tuple(FROZEN)",
    "a length": "len(kind()) == 3",
    "a key of two": "{('cuda', 1): '', ('hip', 2): 'b'}[(kind(), 1)]",
    "two in a dictionary": "(kind(), 1) not in {('cuda', 1): 2}",
    "two in a frozen set": "(kind(), 1) not in frozenset({('cuda', 1)})",
    "two under a name": "BOTH != ('cuda', 1)",
    "two under a name, the other way round": "('hip', 1) == BOTH",
    "two under a name among others": "BOTH in (('hip', 1), ('npu', 1))",
    "two that are no text": "BOTH == kind()",
    "a frozen set that is another": "frozenset({kind()}) != frozenset(['cuda'])",
    "a key that is a truth": "{True: kind() == 'hip', False: ''}[name is None]",
    "ends under a name": "kind().startswith(PAIR)",
    "a frozen set that is not empty": "not (FROZEN if kind() == 'cuda' else ())",
    "how many of two": "len((kind(), 'cuda')) == 1",
    "how many different ones": "len(frozenset((kind(), 'cuda'))) == 2",
    "lengths": "len({90: 'ab', 100: 'abc'}[sm()]) > 3",
}
UNKNOWN = {
    "a key that is missing": "{'hip': 1}[kind()] == 2",
    "a key of several that is missing": "{90: 1}[sm()] == 2",
    "several answers": "{90: 1, 100: 2}[sm()] == 2",
    "a key that nobody knows": "{name: 1, 'cuda': 2}[kind()] == 1",
    "entries of another dictionary": "{'cuda': 2, **more}[kind()] == 2",
    "a list of letters": "kind() in list(name)",
    "a list under a name": "kind() in LIST",
    "a set under a name": "kind() in SET",
    "a dictionary under a name": "kind() in TABLE",
    "an entry under a name": "TABLE[kind()] == 2",
    "a length that may grow": "len(LIST) == len(kind())",
    "a sum as a key": "{'cuda': 2, 'cudacuda': 1}[kind() + name] == 2",
    "a minus before a key": "{-90: 1, -100: 1, 90: 2, 100: 2}[-sm()] == 2",
    "a copy in order": "tuple(sorted((kind(), 'a'))) == ('a', 'cuda')",
    "a copy of a set": "len(tuple(set((kind(), 'cuda')))) == 1",
    "a copy of keys": "tuple({kind(): 1, 'cuda': 2}) == ('cuda',)",
    "a beginning that is no text": "kind().startswith(1)",
    "a beginning of nothing": "kind().startswith()",
    "beginnings that are no texts": "kind().startswith((1, 2))",
    "a set of their own": "kind() in mine.set(('hip', 'npu'))",
}
MORE = "LIST, SET, TABLE = ['hip'], {'hip'}, {'hip': 2, 'cuda': 3}\nLIST.append('cuda')\n\n\nclass mine:\n    set = list\n\n\n"


def program(test: str) -> str:
    return f"{HEAD}{MORE}def f(name='', more={{}}):\n    if {test}:\n        return 'went'\n    return 'stays'\n"


DRIVER = """import app
RESULT = []
for more in ({}, {"cuda": 5}):
    for name in ("", "cuda"):
        try:
            RESULT.append(app.f(name, more))
        except (KeyError, TypeError) as error:
            RESULT.append(repr(error))
"""


@pytest.mark.parametrize("name", FALSE)
def test_it_is_decided(name: str, tmp_path: Path) -> None:
    files = {"app.py": program(FALSE[name]), "plat.py": PLAT}
    pruned = prune(files, rules=RULES, plat=False)
    same_behaviour(pruned, DRIVER)
    assert b"went" not in pruned.files["app.py"], pruned.files["app.py"]
    case = Case(tmp_path, files, RULES)
    assert "fold" in case.wrong("app.py", "    return 'stays'\n", "    return 'went'\n")


@pytest.mark.parametrize("name", UNKNOWN)
def test_it_is_not_decided(name: str, tmp_path: Path) -> None:
    files = {"app.py": program(UNKNOWN[name]), "plat.py": PLAT}
    pruned = prune(files, rules=RULES, plat=False)
    same_behaviour(pruned, DRIVER)
    assert b"went" in pruned.files["app.py"] and b"stays" in pruned.files["app.py"]
    case = Case(tmp_path, files, RULES)
    text = case.text("app.py")
    at, arm = text.index(f"    if {UNKNOWN[name]}"), "        return 'went'\n"
    for left in (text[:at] + "    return 'stays'\n", text[:at] + arm[4:]):
        assert "fold" in case.judged({"app.py": left})


@pytest.mark.parametrize("builtin", ["len", "set", "frozenset"])
def test_a_builtin_that_is_another_one(builtin: str) -> None:
    test = {"len": "len(kind()) == 3", "set": "kind() in set(('hip',))", "frozenset": "kind() in frozenset(('hip',))"}[
        builtin
    ]
    gives = "3" if builtin == "len" else "['cuda']"
    text = f"from plat import kind\n\n\ndef {builtin}(x):\n    return {gives}\n\n\ndef f():\n    return 'went' if {test} else 'stays'\n"
    pruned = prune({"app.py": text, "plat.py": PLAT}, rules=RULES, plat=False)
    assert same_behaviour(pruned, "import app; RESULT = app.f()")["result"] == repr("went")


THROUGH = [
    "kind() in (not kind())",
    "any(not kind())",
    "1 in (x := [kind()])",
    "1 in (await g())",
    "1 in (await g(), 2)",
    "any(c for c in (not g))",
]


@pytest.mark.parametrize("through", THROUGH)
def test_what_is_gone_through_is_no_chain(through: str) -> None:
    """A crash of the tool: only chains were looked at for what lasts."""
    text = f"from plat import kind\n\n\nasync def f(g):\n    if kind() == 'hip' or {through}:\n        return 1\n    _ = {through}\n    return 2\n"
    left = prune({"app.py": text, "plat.py": PLAT}, rules=RULES, plat=False)["app.py"]
    assert "hip" not in left and ("await g()" not in through or left.count("await g()") == 2)
