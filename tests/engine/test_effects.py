"""Imports that nobody reads: they stay only where something that importing does would be lost; entries of walked lists."""

from __future__ import annotations

import pytest

from tests.engine.program import prune, same_behaviour

TABLE = "TABLE = {}\n\n\ndef register(f):\n    TABLE[f.__name__] = f\n    return f\n"
FILL = "from registry import register\n\n\n@register\ndef a():\n    return 1\n"
PURE = "import fill\n\n\ndef unused():\n    return 2\n"


def test_an_import_that_alone_runs_something_stays() -> None:
    tree = {
        "app.py": "from pure import unused\nfrom registry import TABLE\n\n\ndef f():\n    return sorted(TABLE)\n",
        "pure.py": PURE,
        "fill.py": FILL,
        "registry.py": TABLE,
    }
    pruned = prune(tree, roots=["app:f"])
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    assert "fill.py" not in pruned.removed


def test_an_import_goes_where_something_else_runs_the_same() -> None:
    tree = {
        "app.py": "import fill\nfrom pure import unused\nfrom registry import TABLE\n\n\ndef f():\n"
        "    return sorted(TABLE), fill.a()\n",
        "pure.py": PURE,
        "fill.py": FILL,
        "registry.py": TABLE,
    }
    pruned = prune(tree, roots=["app:f"])
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    assert "pure.py" in pruned.removed


def test_an_import_elsewhere_may_come_too_late() -> None:
    """Importing ``fill`` in a function that runs later is no reason to drop it here."""
    tree = {
        "app.py": "from pure import unused\nfrom registry import TABLE\n\n\ndef late():\n    from fill import a\n"
        "    return a()\n\n\ndef f():\n    return sorted(TABLE), late()\n",
        "pure.py": PURE,
        "fill.py": FILL,
        "registry.py": TABLE,
    }
    pruned = prune(tree, roots=["app:f"])
    same_behaviour(pruned, "import app\nRESULT = app.f()")


def test_a_lazy_import_that_runs_something_brings_its_name() -> None:
    text = "from plat import is_hip\nfrom registry import TABLE\n\n\ndef f():\n    from fill import a\n"
    text += "    if is_hip():\n        return a()\n    return sorted(TABLE)\n"
    pruned = prune({"app.py": text, "fill.py": FILL, "registry.py": TABLE}, roots=["app:f"])
    same_behaviour(pruned, "import app\nRESULT = app.f()")


def test_a_root_keeps_what_its_star_import_brings() -> None:
    tree = {"shim.py": "from real import *\n", "real.py": "def one():\n    return 1\n\n\ndef _two():\n    return 2\n"}
    pruned = prune(tree, roots=["shim"])
    same_behaviour(pruned, "import shim\nRESULT = shim.one()")
    assert "def one" in pruned["real.py"]


KEYS = "class A:\n    key = 'a'\n\n\nclass B:\n    key = 'b'\n"


@pytest.mark.parametrize(
    "table",
    ["{c.key: c for c in [A, B]}", "[c.key for c in (A, B)]", "{c.key for c in [A, B]}"],
    ids=["dict", "list", "set"],
)
def test_entries_of_a_walked_list(table: str) -> None:
    text = f"from keys import A, B\n\nT = {table}\n\n\ndef f():\n    return 'a' in T\n"
    pruned = prune({"app.py": text, "keys.py": KEYS}, roots=["app:f"], drop=["app.T[B]"])
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    assert "B" not in pruned["app.py"].partition("T =")[2]
    assert "class B" not in pruned["keys.py"]


def test_entry_that_is_a_call() -> None:
    """A list of objects made on the spot: the entry is named as it is written."""
    text = "from keys import A, B\n\nT: list = [B(), A()]\n\n\ndef f():\n    return T[-1].key\n"
    pruned = prune({"app.py": text, "keys.py": KEYS}, roots=["app:f"], drop=["app.T[B()]"])
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    assert "[A()]" in pruned["app.py"].replace(" ", "")
    assert "class B" not in pruned["keys.py"]


INNER = {
    "an object": "class Inner:\n        field = Noted()",
    "an object, two classes down": "class Inner:\n        class Core:\n            field = Noted()",
    "a call": "class Inner:\n        LOG.append(1)",
    "a base that is told": "class Inner(Told):\n        pass",
    "a base of its own that is told": "class Inner:\n        def __init_subclass__(cls):\n            LOG.append(2)\n\n    class Core(Inner):\n        pass",
    "a decorator": "@noted\n    class Inner:\n        pass",
    "a keyword": "class Inner(Told, kind=3):\n        pass",
    "an import": "import side",
    "an import in it": "class Inner:\n        from side import N",
}


@pytest.mark.parametrize("inner", INNER.values(), ids=INNER)
def test_what_the_body_of_an_inner_class_does_stays(inner: str) -> None:
    """``class Unused: class Inner: field = Registering()``: nobody names the outer class, and making it registers something."""
    text = (
        "import log\nfrom log import LOG\n\n\nclass Noted:\n    def __init__(self):\n        LOG.append('made')\n\n\n"
        "class Told:\n    def __init_subclass__(cls, kind=0):\n        LOG.append(kind)\n\n\n"
        f"def noted(cls):\n    LOG.append(cls.__name__)\n    return cls\n\n\nclass Unused:\n    {inner}\n\n\ndef f():\n    return LOG\n"
    )
    files = {"app.py": text, "log.py": "LOG = []\n", "side.py": "from log import LOG\n\nLOG.append('side')\nN = 1\n"}
    same_behaviour(prune(files, roots=["app:f"]), "import app\nRESULT = app.f()")


def test_an_inner_class_that_does_nothing_goes() -> None:
    text = "class Unused:\n    class Inner:\n        size = 3\n\n        class Core:\n            pass\n\n        def g(self):\n            return 1\n\n\ndef f():\n    return 1\n"
    assert "Unused" not in prune({"app.py": text}, roots=["app:f"])["app.py"]
