"""A decorator that keeps what it decorates: in a table that is an argument, under another name, by a helper, in its object."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.wrong import Case

NAMED = """\
TABLE = {}


DECORATOR


@register("a")
def fa():
    return 1


@register("b")
def fb():
    return 2
"""
BARE = NAMED.replace('register("a")', "register").replace('register("b")', "register").replace("{}", "[]", 1)
WRAP = "def register(name):\n    def wrap(f):\n        table[name] = f\n        return f\n\n    return wrap"
FACTORIES = {
    "a default": WRAP.replace("(name)", "(name, table=TABLE)"),
    "a default by keyword": WRAP.replace("(name)", "(name, *, table=TABLE)"),
    "a lambda": "def register(name, table=TABLE):\n    return lambda f: table.setdefault(name, f)",
    "another name": WRAP.replace("        table[name]", "        table = TABLE\n        table[name]"),
    "another name of an argument": WRAP.replace("(name)", "(name, t=TABLE)").replace(
        "        table[", "        table = t\n        table["
    ),
    "a helper": "def put(t, n, g):\n    t[n] = g\n\n\n" + WRAP.replace("table[name] = f", "put(TABLE, name, f)"),
    "an object": "class register:\n    def __init__(self, name, table=TABLE):\n        self.name, self.table = name, table\n\n"
    "    def __call__(self, f):\n        self.table[self.name] = f\n        return f",
}
DECORATORS = {
    "a default": "def register(f, table=TABLE):\n    table.append(f)\n    return f",
    "a sum": "def register(f, table=TABLE):\n    table += [f]\n    return f",
    "what a table gives": "def register(f, rows={1: TABLE}):\n    found = rows.get(1)\n    found.append(f)\n    return f",
    "a method": "class Reg:\n    def put(self, f):\n        TABLE.append(f)\n\n\nREG = Reg()\n\n\n"
    "def register(f):\n    REG.put(f)\n    return f",
}
LOST = {"named": '@register("b")\ndef fb():\n    return 2\n', "bare": "@register\ndef fb():\n    return 2\n"}


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        *(pytest.param(NAMED.replace("DECORATOR", d), LOST["named"], id=f"factory: {n}") for n, d in FACTORIES.items()),
        *(
            pytest.param(BARE.replace("DECORATOR", d), LOST["bare"], id=f"decorator: {n}")
            for n, d in DECORATORS.items()
        ),
    ],
)
def test_what_is_registered_is_missed(text: str, lost: str, tmp_path: Path) -> None:
    case = Case(tmp_path, {"app.py": "import lib\n\n\ndef f():\n    return lib.TABLE\n", "lib.py": text})
    assert "fold" in case.wrong("lib.py", lost, "")


QUIET = """\
import functools


def deco(f):
    @functools.wraps(f)
    def inner(*args):
        return f(*args)

    inner.speed = 1
    f.slow = 2
    f.__dict__["x"] = 3
    names = []
    names.append("a")
    return inner


def factory(n, kinds=()):
    def wrap(f):
        f.n = n
        return f

    return wrap


@deco
def fa():
    return 1


@factory(3)
def fb():
    return 2


@factory(4)
def fc():
    return 3


@deco
def fd():
    return 4
"""


def test_what_only_marks_or_wraps_may_go(tmp_path: Path) -> None:
    case = Case(tmp_path, {"app.py": "import lib\n\n\ndef f():\n    return lib.fa(), lib.fb()\n", "lib.py": QUIET})
    found = case.judged({"lib.py": case.text("lib.py").partition("@factory(4)")[0]}, ("fold",))
    assert found == {}


EFFECT = "import hooks\n\nhooks.LIST.append(1)\n\n\ndef g():\n    return 1\n"
HOOKS = {"eff.py": EFFECT, "hooks.py": "LIST = []\n", "mid.py": "import eff\n\n\ndef g():\n    return eff.g()\n"}


@pytest.mark.parametrize("line", ["import eff", "from eff import g", "import mid", "from mid import g"])
@pytest.mark.parametrize("other", ["import eff", "import mid"])
def test_a_function_loads_what_it_loaded(line: str, other: str, tmp_path: Path) -> None:
    app = f"import hooks\n\n\ndef f():\n    {line}\n    return hooks.LIST\n\n\ndef h():\n    {other}\n    return {other[-3:]}.g()\n"
    case = Case(tmp_path, {"app.py": app, **HOOKS})
    assert "fold" in case.wrong("app.py", f"    {line}\n    return hooks", "    return hooks")


@pytest.mark.parametrize(
    "app",
    [
        "import eff\nimport hooks\n\n\ndef f():\n    import eff as e\n    return hooks.LIST\n\n\ndef h():\n    return eff.g()\n",
        "import hooks\n\n\ndef f():\n    import mid\n    import eff as e\n    return mid.g(), hooks.LIST\n",
        "import hooks\nimport mid\n\n\ndef f():\n    import eff as e\n    return hooks.LIST\n\n\nX = mid.g\n",
    ],
)
def test_what_is_loaded_all_the_same_may_go(app: str, tmp_path: Path) -> None:
    case = Case(tmp_path, {"app.py": app, **HOOKS})
    text = case.text("app.py")
    assert case.judged({"app.py": text.replace("    import eff as e\n", "")}, ("fold", "imports")) == {}


REGISTER = "TABLE = {}\nLIST = []\n\n\ndef register(name, value=None):\n    def wrap(f):\n        TABLE[name] = f\n        return f\n\n    return wrap if value is None else wrap(value)\n"
ENTRIES = {
    "an item": "from tab import TABLE\n\nTABLE['b'] = 2\n",
    "an item through the module": "import tab\n\ntab.TABLE['b'] = 2\n",
    "update": "import tab\n\ntab.TABLE.update(b=2)\n",
    "append": "from tab import LIST\n\nLIST.append('b')\n",
    "a decorator": "from tab import register\n\n\n@register('b')\ndef fb():\n    return 2\n",
    "a call": "from tab import register\n\nregister('b', 2)\n",
}
DROPS = """\
rules:
  - {id: t.root, because: It starts here., root: [app]}
  - {id: t.drop, because: Nobody asks for it., drop: ["tab.TABLE[b]", "tab.LIST[b]"]}
"""
KEPT = "\n\n@register('c')\ndef fc():\n    return 3\n"


@pytest.mark.parametrize("name", ENTRIES)
def test_a_module_that_only_put_in_what_rules_drop_is_not_loaded(name: str, tmp_path: Path) -> None:
    """Its import may go; it stays, and is refuted when lost, where the module puts in something else as well."""
    app = "import more\nfrom tab import LIST, TABLE\n\n\ndef f():\n    return sorted(TABLE), LIST\n"
    alone = Case(tmp_path / "alone", {"app.py": app, "tab.py": REGISTER, "more.py": ENTRIES[name]}, DROPS)
    assert "import more" not in alone.text("app.py") and not (alone.out / "more.py").exists()
    more = f"from tab import register\n{ENTRIES[name]}{KEPT}"
    both = Case(tmp_path / "both", {"app.py": app, "tab.py": REGISTER, "more.py": more}, DROPS)
    assert "import more" in both.text("app.py") and "fold" in both.wrong("app.py", "import more\n", "")
