"""Aliases and derived predicates that something replaces, and calls that change what they are given: each runs as before.

What must still fold stands below, so that keeping everything would not pass.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.program import prune, rules_text, same_behaviour
from tests.engine.test_enum_numbers import judged

ASK = 'def ask():\n    return "hip" if is_hip() else "cuda"\n'
FLAGS = "from plat import is_hip\n\nFLAG = is_hip()\n\n\ndef pred():\n    return is_hip()\n"
USE = f"from plat import is_hip\nfrom flags import FLAG\n\n\n{ASK}\n\ndef flag():\n    return 1 if FLAG else 2\n"
RUN = "import app\nRESULT = app.f()"

REPLACED = {
    "global of an imported function": (
        f"from plat import is_hip\n\n\ndef flip():\n    global is_hip\n    is_hip = lambda: True\n\n\n{ASK}\n\n"
        "def f():\n    before = ask()\n    flip()\n    return before, ask()\n"
    ),
    "global of an imported flag": (
        "from flags import FLAG\n\n\ndef flip():\n    global FLAG\n    FLAG = True\n\n\ndef ask():\n    return 1 if FLAG else 2\n\n\n"
        "def f():\n    before = ask()\n    flip()\n    return before, ask()\n"
    ),
    "store into an alias of a function": (
        "import use\n\n\ndef f():\n    before = use.ask()\n    use.is_hip = lambda: True\n    return before, use.ask()\n"
    ),
    "store into an alias of a flag": (
        "import use\n\n\ndef f():\n    before = use.flag()\n    use.FLAG = True\n    return before, use.flag()\n"
    ),
    "store over a derived predicate": (
        'import flags\n\n\ndef f():\n    flags.pred = lambda: True\n    return "A" if flags.pred() else "B"\n'
    ),
    "store over a derived predicate at the module's own level": (
        'import flags\n\nflags.pred = lambda: True\n\n\ndef f():\n    return "A" if flags.pred() else "B"\n'
    ),
    "list of the caller": (
        "from plat import is_hip\n\n\ndef add(acc, x):\n    acc += [x]\n    return acc\n\n\n"
        "def f():\n    acc = []\n    if add(acc, 1) and is_hip():\n        return 'hip'\n    return acc\n"
    ),
    "dictionary of the caller": (
        "from plat import is_hip\n\n\ndef add(d):\n    d |= {1: 2}\n    return d\n\n\n"
        "def f():\n    d = {}\n    if add(d) and is_hip():\n        return 'hip'\n    return d\n"
    ),
    "default that grows": (
        "from plat import is_hip\n\n\ndef grow(b=[]):\n    b += [1]\n    return b\n\n\n"
        "def f():\n    if grow() and is_hip():\n        return 'hip'\n    return list(grow())\n"
    ),
    "call at import that changes": ("import log\nimport eff\n\n\ndef f():\n    return log.L\n"),
    "augmented assignment at import": "import log\nimport aug\n\n\ndef f():\n    return log.L\n",
    "augmented assignment in a class body": "import log\nimport body\n\n\ndef f():\n    return log.L\n",
}
MORE = {
    "flags.py": FLAGS,
    "use.py": USE,
    "log.py": "L = []\n",
    "eff.py": "from log import L\n\n\ndef push(l):\n    l += [9]\n    return 3\n\n\nZ = push(L)\n",
    "aug.py": "from log import L\n\nL += [2]\n",
    "body.py": "from log import L\n\n\nclass P:\n    global L\n    L += [8]\n",
}


@pytest.mark.parametrize("name", REPLACED)
def test_what_is_replaced_or_changed_runs_as_before(name: str) -> None:
    result = prune({"app.py": REPLACED[name], **MORE})
    same_behaviour(result, RUN)


def test_aliases_and_derived_predicates_fold_where_nothing_replaces_them() -> None:
    app = "import use\nimport flags\n\n\ndef f():\n    return use.ask(), use.flag(), 1 if flags.pred() else 2\n"
    result = prune({"app.py": app, **MORE})
    same_behaviour(result, RUN)
    assert "if" not in result["app.py"] and "if" not in result["use.py"]


def test_a_count_that_a_function_keeps_is_its_own() -> None:
    """``n += 1`` on a local keeps the call: a kept line costs little."""
    app = (
        "from plat import is_hip\n\nSIZE = 1\nSIZE += 2\n\n\ndef count(x):\n    n = 0\n    n += x\n    return n\n\n\n"
        "def f():\n    if count(SIZE) and is_hip():\n        return 1\n    return 2\n"
    )
    result = prune({"app.py": app})
    same_behaviour(result, RUN)
    assert "return 1" not in result["app.py"]


OWN = {
    "update": "globals().update(FLAG=True)\n",
    "update with a dictionary": "globals().update({'FLAG': True})\n",
    "vars": "vars()['FLAG'] = True\n",
    "locals": "locals()['FLAG'] = True\n",
    "setdefault of what is taken out": "globals().pop('FLAG')\nglobals().setdefault('FLAG', True)\n",
    "setattr": "import sys\n\nsetattr(sys.modules[__name__], 'FLAG', True)\n",
    "its dictionary": "import sys\n\nsys.modules[__name__].__dict__['FLAG'] = True\n",
    "itself": "import sys\n\nsys.modules[__name__].FLAG = True\n",
    "exec": "exec('FLAG = True')\n",
    "in a function": "def on():\n    globals().update(FLAG=True)\n\n\non()\n",
}
OTHER = {
    "its dictionary": "flags.__dict__['FLAG'] = True",
    "update": "flags.__dict__.update(FLAG=True)",
    "vars": "vars(flags)['FLAG'] = True",
    "update of vars": "vars(flags).update({'FLAG': True})",
}


@pytest.mark.parametrize("name", OWN)
def test_a_flag_that_the_dictionary_of_its_module_gives(name: str, tmp_path: Path) -> None:
    app = f"from plat import is_hip\n\nFLAG = is_hip()\n{OWN[name]}\n\ndef f():\n    return 'on' if FLAG else 'off'\n"
    result = prune({"app.py": app})
    assert same_behaviour(result, RUN)["result"] == "'on'"
    wrong = {"app.py": result.before["app.py"].replace(b"'on' if FLAG else 'off'", b"'off'")}
    rules = rules_text({"is_hip()": False}, ["app", "plat"])
    assert judged(result.before | wrong, result.before, rules, tmp_path) == "refuted"


@pytest.mark.parametrize("name", OTHER)
def test_a_flag_that_the_dictionary_of_another_module_gives(name: str) -> None:
    app = f"import flags\n\n\ndef f():\n    {OTHER[name]}\n    return 1 if flags.FLAG else 2\n"
    result = prune({"app.py": app, **MORE})
    assert same_behaviour(result, RUN)["result"] == "1"
