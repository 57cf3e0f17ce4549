"""Globals that live code overwrites by a way that no assignment shows, iterators, and code in texts: each runs as before.

What must still fold stands below, so that keeping everything would not pass.
"""

from __future__ import annotations

import pytest

from tests.engine.program import prune, same_behaviour

APP = "import flags\nimport muts\n\n\ndef say():\n    return {ask}\n\n\ndef f():\n    before = say()\n    muts.go()\n    return before, say()\n"
FLAGS = (
    "import sys\n\nfrom plat import is_hip\n\nA = is_hip()\n\n\ndef pred():\n    return is_hip()\n\n\n"
    "def fill(row):\n    globals().update(row)\n\n\ndef each(row):\n    for name, value in row.items():\n        globals()[name] = value\n\n\n"
    "def held(row):\n    g = globals()\n    for name in row:\n        g[name] = row[name]\n\n\n"
    "def run(row):\n    exec('A = True', globals())\n\n\ndef own(row):\n    sys.modules[__name__].A = True\n\n\n"
    "def again(row):\n    import flags as me\n\n    me.A = True\n"
)
MUTS = (
    "import importlib\nimport json\nimport sys\nfrom unittest import mock\n\nimport flags\nimport flags as q\n\n\n"
    "def put(x, value):\n    x.NAME = value\n\n\ndef configure(module, options):\n    for key, value in options.items():\n"
    "        setattr(module, key, value)\n\n\ndef go():\n"
)
RUN = "import app\nRESULT = app.f()"
STORES = {
    "dictionary": "q.__dict__['NAME'] = VALUE",
    "dictionary, computed": "for n in ['NAME']:\n        q.__dict__[n] = VALUE",
    "dictionary under a name": "d = q.__dict__\n    for n in ['NAME']:\n        d[n] = VALUE",
    "vars": "vars(q)['NAME'] = VALUE",
    "vars, computed": "for n in ['NAME']:\n        vars(q)[n] = VALUE",
    "update of the dictionary": "q.__dict__.update(NAME=VALUE)",
    "update of vars": "vars(q).update({'NAME': VALUE})",
    "setdefault after pop": "q.__dict__.pop('NAME')\n    q.__dict__.setdefault('NAME', VALUE)",
    "dictionary or": "d = q.__dict__\n    d |= {'NAME': VALUE}",
    "setattr": "setattr(q, 'NAME', VALUE)",
    "setattr, computed": "for n in ['NAME']:\n        setattr(q, n, VALUE)",
    "object.__setattr__": "object.__setattr__(q, 'NAME', VALUE)",
    "__setattr__": "q.__setattr__('NAME', VALUE)",
    "argument": "put(q, VALUE)",
    "argument, computed": "configure(q, {'na'.upper()[:0] + 'NAME': VALUE})",
    "entry of a list": "[q][0].NAME = VALUE",
    "another local": "z = q\n    z.NAME = VALUE",
    "import in the function": "import flags as mine\n    mine.NAME = VALUE",
    "import_module": "m = importlib.import_module('flags')\n    m.NAME = VALUE",
    "import_module, at once": "importlib.import_module('flags').NAME = VALUE",
    "import_module, computed": "m = importlib.import_module('flags')\n    for n in ['NAME']:\n        setattr(m, n, VALUE)",
    "__import__": "__import__('flags').NAME = VALUE",
    "sys.modules": "sys.modules[q.__name__].NAME = VALUE",
    "getattr": "getattr(sys.modules[__name__], 'flags').NAME = VALUE",
    "patch of a text": "mock.patch('flags.NAME', VALUE).start()",
    "patch.object": "mock.patch.object(q, 'NAME', VALUE).start()",
    "patch.multiple": "mock.patch.multiple(q, NAME=VALUE).start()",
    "patch.dict": "mock.patch.dict(q.__dict__, {'NAME': VALUE}).start()",
    "exec into": "exec('NAME = lambda: True' if 'NAME' == 'pred' else 'NAME = True', q.__dict__)",
    "exec": "exec('q.NAME = lambda: True' if 'NAME' == 'pred' else 'q.NAME = True')",
}
OWN = ("fill", "each", "held", "run", "own", "again")
CODE = ("q.pred.__code__ = (lambda: True).__code__", "q.pred = lambda: True")


def _ask(flag: bool) -> str:
    return "1 if flags.A else 2" if flag else "1 if flags.pred() else 2"


def _muts(name: str, flag: bool) -> str:
    """The module that stores: a truth into the flag, or a function into the predicate."""
    text = MUTS + f"    {STORES[name]}\n"
    return text.replace("NAME", "A" if flag else "pred").replace("VALUE", "True" if flag else "lambda: True")


def _same(ask: str, go: str) -> None:
    same_behaviour(prune({"app.py": APP.format(ask=ask), "flags.py": FLAGS, "muts.py": go}), RUN)


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("what", ["flag", "predicate"])
def test_a_global_that_is_overwritten_folds_nothing(name: str, what: str) -> None:
    _same(_ask(what == "flag"), _muts(name, what == "flag"))


@pytest.mark.parametrize("function", OWN)
def test_a_module_overwrites_its_own_globals(function: str) -> None:
    _same("1 if flags.A else 2", f"import flags\n\n\ndef go():\n    flags.{function}({{'A': True}})\n")


@pytest.mark.parametrize("store", CODE)
def test_the_code_of_a_predicate_is_replaced(store: str) -> None:
    _same("1 if flags.pred() else 2", f"import flags as q\n\n\ndef go():\n    {store}\n")


def test_a_global_of_a_star_import_is_declared_and_stored() -> None:
    app = "from flags import *\n\n\ndef flip():\n    global A\n    A = True\n\n\ndef say():\n    return 1 if A else 2\n\n\ndef f():\n    before = say()\n    flip()\n    return before, say()\n"
    same_behaviour(prune({"app.py": app, "flags.py": FLAGS}), RUN)


UNTOUCHED = {
    "an object's attribute of another name": "def go():\n    put(q, True)\n",
    "self": "class C:\n    def __init__(self, row):\n        self.A = True\n        for name in row:\n            setattr(self, name, True)\n        self.__dict__.update(row)\n\n\ndef go():\n    return C({})\n",
    "a dictionary": "def go():\n    row = {}\n    row['B'] = True\n    row.update(C=1)\n    return row\n",
    "a reading of vars": "def go():\n    return sorted(vars(q)) and q.__dict__.get('A')\n",
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_other_stores_take_no_fold_away(name: str) -> None:
    muts = "import flags as q\n\n\ndef put(x, value):\n    x.other = value\n\n\n" + UNTOUCHED[name]
    flags = "from plat import is_hip\n\nA = is_hip()\n"
    result = prune({"app.py": APP.format(ask="1 if flags.A else 2"), "flags.py": flags, "muts.py": muts})
    same_behaviour(result, RUN)
    assert "return 2" in result["app.py"]


@pytest.mark.parametrize(
    "name",
    ["argument", "import_module", "patch of a text", "sys.modules", "entry of a list", "dictionary under a name"],
)
@pytest.mark.parametrize("fact", ["flags.A", "flags.pred()"])
def test_a_stated_fact_that_is_overwritten_is_refused(name: str, fact: str) -> None:
    flag = fact == "flags.A"
    flags = "A = False\n\n\ndef pred():\n    return False\n"
    files = {"app.py": APP.format(ask=_ask(flag)), "flags.py": flags, "muts.py": _muts(name, flag)}
    result = prune(files, facts={fact: False})
    same_behaviour(result, RUN)
    assert "PR221" in result.findings


ITERATED = {
    "any": "any(it)",
    "all": "not all(x > 1 for x in it)",
    "list": "list(it)",
    "sum": "sum(it)",
    "sorted": "sorted(it)",
    "join": "''.join(it)",
    "membership": "'b' in it",
    "not in": "'z' not in it",
    "comprehension": "[x for x in it]",
    "star": "[*it]",
    "through zip": "list(zip(it, [1, 2]))",
    "a function's loop": "first(it)",
    "an unpacking function": "two(it)",
    "what a lambda gives": "1 not in (lambda: it)()",
    "what an entry gives": "1 not in rows[name](it)",
    "key of max": "max([1, 2], key=note)",
    "key of sorted": "sorted([1, 2], key=note)",
    "key of min": "min([1, 2], key=LOG.append)",
}


@pytest.mark.parametrize("name", ITERATED)
def test_what_is_gone_through_beside_a_decided_test_is_gone_through(name: str) -> None:
    values = "[3, 0, 4]" if name in ("any", "all", "sum") else "['a', 'b', 'c']"
    app = (
        "from plat import is_hip\n\nLOG = []\n\n\ndef note(x):\n    LOG.append(x)\n    return x\n\n\ndef first(rows):\n    return any(rows)\n\n\n"
        "def two(rows):\n    a, *b = rows\n    return b\n\n\n"
        f"def f(name='k'):\n    it = iter({values})\n    rows = {{'k': lambda x: x}}\n    if {ITERATED[name]} and is_hip():\n        return 'hip'\n    return list(it), LOG\n"
    )
    result = prune({"app.py": app})
    same_behaviour(result, RUN)
    assert "'hip'" not in result["app.py"]


AT_IMPORT = (
    "list(ROWS)",
    "sorted(ROWS)",
    "[x for x in ROWS]",
    "a, b = ROWS",
    "any(ROWS)",
    "max(ROWS, key=SEEN.append)",
)


@pytest.mark.parametrize("what", AT_IMPORT)
def test_what_is_gone_through_at_import_is_gone_through(what: str) -> None:
    files = {
        "app.py": "import eff\nimport log\n\n\ndef f():\n    return list(log.ROWS), log.SEEN\n",
        "log.py": "ROWS = iter([1, 2])\nSEEN = []\n",
        "eff.py": f"from log import ROWS, SEEN\n\n{what if '=' in what[:7] else 'Z = ' + what}\n",
    }
    same_behaviour(prune(files), RUN)


LASTING = (
    "any(x in NAMES for x in row)",
    "sorted(NAMES)",
    "'b' in NAMES",
    "max(row.values(), key=len)",
    "list(row.items())",
    "[*NAMES]",
    "sorted(NAMES, key=lambda x: x)",
)


@pytest.mark.parametrize("test", LASTING)
def test_what_can_be_gone_through_again_is_dropped(test: str) -> None:
    app = f"from plat import is_hip\n\nNAMES = ['b', 'c']\n\n\ndef f():\n    row = {{}}\n    if {test.replace('x in row', 'x in (1, 2)')} and is_hip():\n        return 1\n    return 2\n"
    result = prune({"app.py": app.replace("row.values(), key", "[*row.values(), ''], key")})
    same_behaviour(result, RUN)
    assert "if" not in result["app.py"].replace("import is_hip", "")


TEXTS = (
    '[sys.executable, "-c", "from tool.code import q; q()"]',
    '[sys.executable, "-c", "import tool.code as c\\nc.q()"]',
    "\"python -c 'from tool.code import (other, q as r)'\"",
    'f"from tool.code import q; q({sys.argv})"',
    '["-c", "from tool.code import *"]',
)


@pytest.mark.parametrize("text", TEXTS)
def test_code_that_another_interpreter_gets_keeps_what_it_imports(text: str) -> None:
    files = {
        "app.py": f"import sys\n\n\ndef f():\n    return {text}\n",
        "tool/__init__.py": "",
        "tool/code.py": "def q():\n    return 1\n\n\ndef other():\n    return 2\n\n\ndef _private():\n    return 3\n",
    }
    result = prune(files)
    assert "def q" in result["tool/code.py"] and "_private" not in result["tool/code.py"]


OBJECTS = {
    "an object's attribute": "def mark(module):\n    module.A = True\n\n\ndef go():\n    mark(Thing())\n",
    "setattr of an object": "def mark(thing):\n    setattr(thing, 'A', True)\n\n\ndef go():\n    mark(Thing())\n",
    "an item's attribute": "def go():\n    rows = [Thing()]\n    rows[0].A = True\n",
    "a key": "def go():\n    row = {}\n    row['A'] = True\n    return row\n",
    "a keyword": "def go():\n    row = {}\n    row.update(A=True)\n    return row\n",
    "__getattr__ of the module": "def __getattr__(name):\n    value = name * 2\n    globals()[name] = value\n    return value\n\n\ndef go():\n    return flags\n",
    "a table of the module's body": "for _name, _value in {'B': 1}.items():\n    globals()[_name] = _value\n\n\ndef go():\n    return flags\n",
}


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("held", [False, True])
def test_attributes_of_objects_take_no_fold_away(name: str, held: bool) -> None:
    """``module.use_amx = True`` on a layer took the fact on a function of that name away, for its module was an object elsewhere."""
    muts = "import flags\n\n\nclass Thing:\n    pass\n\n\n" + OBJECTS[name]
    app = APP.format(ask="1 if flags.A else 2") + (
        "\n\ndef show(x):\n    return getattr(x, '__name__')\n\n\nshow(flags)\n" if held else ""
    )
    result = prune({"app.py": app, "flags.py": "from plat import is_hip\n\nA = is_hip()\n", "muts.py": muts})
    same_behaviour(result, RUN)
    assert "return 2" in result["app.py"]
