"""What stays alive: modules, names, methods, and what code asks for by text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.program import Pruned, prune, same_behaviour
from tests.verify.wrong import Case

MAIN = "import app\nRESULT = app.f()"


def reach(files: dict[str, str], driver: str = MAIN, **options: Any) -> Pruned:
    """Prune from ``app:f`` and require the same behaviour."""
    pruned = prune(files, **{"roots": ["app:f"], **options})
    same_behaviour(pruned, driver)
    return pruned


def test_what_nothing_reads_goes() -> None:
    pruned = reach({
        "app.py": "from kit import used\n\n\ndef f():\n    return used()\n\n\ndef unread():\n    return 1\n",
        "kit.py": "import json\n\nTABLE = {'a': 1}\n\n\ndef used():\n    return 1\n\n\n# Of unused.\ndef unused():\n    return json, TABLE\n\n\nclass Unused:\n    pass\n",
        "other.py": "def g():\n    return 1\n",
    })  # fmt: skip
    assert pruned["kit.py"].strip() == "def used():\n    return 1"
    assert "unread" not in pruned["app.py"]
    assert pruned.removed == {"other.py", "plat.py"}


def test_a_module_that_only_a_dead_branch_imports_goes() -> None:
    pruned = reach({
        "app.py": "from plat import is_hip\n\nif is_hip():\n    import amd\n\n\ndef f():\n    if is_hip():\n        import amd2\n        return amd2.g() + amd.g()\n    return 1\n",
        "amd.py": "import deep\n\n\ndef g():\n    return deep\n",
        "amd2.py": "def g():\n    return 1\n",
        "deep.py": "",
    })  # fmt: skip
    assert {"amd.py", "amd2.py", "deep.py", "plat.py"} <= pruned.removed


def test_an_import_with_an_effect_stays_without_readers() -> None:
    files = {
        "app.py": "import loud\nfrom loud import name\nimport quiet\n\n\ndef f():\n    return 1\n",
        "loud.py": "print('loud')\nname = 1\n",
        "quiet.py": "name = 1\n",
    }
    pruned = reach(files)
    assert "loud" in pruned["app.py"] and "quiet" not in pruned["app.py"] and "quiet.py" in pruned.removed


def test_an_import_that_orders_a_cycle_stays() -> None:
    reach({
        "app.py": "import p.a\n\n\ndef f():\n    return p.a.X\n",
        "p/__init__.py": "from p import b\n",
        "p/a.py": "from p import b\nX = b.Y\n",
        "p/b.py": "import p.a as a\nY = 2\n\n\ndef late():\n    return a.X\n",
    })  # fmt: skip


def test_a_module_beside_another_that_is_read_still_runs() -> None:
    """``from pkg import quiet, loud`` loads two modules: the one that is read does not load the other."""
    files = {"pkg/__init__.py": "", "pkg/quiet.py": "x = 1\n", "pkg/loud.py": "print('loud')\n", "pkg/calm.py": ""}
    pruned = reach({**files, "app.py": "from pkg import quiet, calm, loud\n\n\ndef f():\n    return quiet.x\n"})
    assert "loud" in pruned["app.py"] and "calm" not in pruned["app.py"]


RING = {
    "b.py": "LIMIT = 3\nfrom c import C\n\n\nclass B(C):\n    pass\n",
    "c.py": "from b import LIMIT\n\n\nclass C:\n    def run(self):\n        return LIMIT\n",
}


def test_an_import_that_chooses_where_a_cycle_begins_stays() -> None:
    """From outside the cycle: nobody reads ``B``, but ``c`` must not come before ``b``."""
    app = "from plat import is_hip\nfrom b import B\nfrom c import C\n\n\ndef f():\n    return B() if is_hip() else C().run()\n"
    assert "from b import B" in reach({**RING, "app.py": app})["app.py"]


def test_an_import_of_a_module_that_begins_a_cycle_stays() -> None:
    """``first`` has nothing that is read; it loads ``b`` before ``c``."""
    app = "from first import N\nfrom c import C\n\n\ndef f():\n    return C().run()\n"
    pruned = reach({**RING, "first.py": "import b\nN = 1\n", "app.py": app})
    assert "first.py" not in pruned.removed


def test_a_lazy_import_that_begins_a_cycle_stays() -> None:
    app = "from plat import is_hip\n\n\ndef f():\n    from b import B\n    from c import C\n    return B() if is_hip() else C().run()\n"
    assert "b import B" in reach({**RING, "app.py": app})["app.py"]


def test_an_import_into_a_cycle_goes_where_the_cycle_is_loaded() -> None:
    """By an import above it, or by the package around the module, which begins it somewhere itself."""
    app = "from b import B\nfrom c import C\n\n\ndef f():\n    return B().run()\n"
    assert "import C" not in reach({**RING, "app.py": app})["app.py"]
    files = {f"p/{name}": text.replace("from ", "from p.") for name, text in RING.items()}
    files["p/__init__.py"] = "from p.b import B\n"
    files["p/leaf.py"] = "from p.c import C\nfrom p.b import B\n\n\ndef g():\n    return B().run()\n"
    pruned = reach({**files, "app.py": "def f():\n    from p.leaf import g\n    return g()\n"})
    assert "import C" not in pruned["p/leaf.py"]


def test_a_package_that_loads_the_module_itself_has_not_loaded_the_cycle() -> None:
    """``p`` loads ``leaf`` first, and only then ``b``: the import in ``leaf`` is where the cycle begins."""
    files = {f"p/{name}": text.replace("from ", "from p.") for name, text in RING.items()}
    files["p/__init__.py"] = "from p import leaf\nfrom p.c import C\n"
    files["p/leaf.py"] = "from p.b import B\n\n\ndef g():\n    return 1\n"
    pruned = reach({**files, "app.py": "from p import leaf, C\n\n\ndef f():\n    return leaf.g(), C().run()\n"})
    assert "import B" in pruned["p/leaf.py"]


def test_an_unread_import_of_upstream_is_not_ours() -> None:
    """One that upstream itself never read stays, unless it is of the standard library or the tree."""
    pruned = prune(
        {"app.py": "import torch\nimport numpy as np\nfrom torch import nn\n\n\ndef f():\n    return nn\n"},
        roots=["app:f"],
    )
    assert pruned["app.py"].startswith("import torch\nimport numpy as np\nfrom torch import nn\n")


def test_an_import_orphaned_by_folding_goes() -> None:
    pruned = prune(
        {
            "app.py": "import torch\nfrom aiter import a, b\nfrom plat import is_hip\n\n\ndef f():\n    if is_hip():\n        return torch.hip(a)\n    return b\n"
        },
        roots=["app:f"],
    )
    assert pruned["app.py"].startswith("from aiter import b\n")


def test_two_imports_of_a_name() -> None:
    """Folding makes the first one useless; it goes only when nothing used it in between and it has no effect."""
    lazy = "\nif is_cuda():\n    from b import g\n\n\ndef f():\n    return g()\n"
    parts = {"a.py": "def g():\n    return 1\n", "b.py": "def g():\n    return 2\n"}
    head = "from plat import is_cuda\nfrom a import g\n"
    assert "from a" not in reach({"app.py": head + lazy, **parts})["app.py"]
    assert "from a" in reach({"app.py": head + "g()\n" + lazy, **parts})["app.py"]
    assert (
        "from a"
        in reach({"app.py": head + "X = [g]\n" + lazy.replace("return g()", "return g(), X[0]()"), **parts})["app.py"]
    )
    assert (
        "from a"
        in reach({"app.py": head + "def h(x=g):\n    return x()\n" + lazy.replace("g()", "g(), h()"), **parts})[
            "app.py"
        ]
    )
    assert "from a" in reach({"app.py": head + lazy, **parts, "a.py": "print('a')\ndef g():\n    return 1\n"})["app.py"]


# -- methods ------------------------------------------------------------------------------------------------

CLASS = """\
class A:
    def used(self):
        return self._inner()

    def _inner(self):
        return 1

    def unused(self):
        return self.only_unused()

    def only_unused(self):
        return 2

    @property
    def shown(self):
        return 3

    @staticmethod
    def forward_cuda():
        return 4

    @staticmethod
    def forward_hip():
        return 5

    @classmethod
    def run_a(cls):
        return 6

    def __repr__(self):
        return self.for_repr()

    def for_repr(self):
        return 'A'
"""
METHODS = [
    ("by attribute", "A().used()", {"used", "_inner", "for_repr"}),
    ("by property", "A().shown", {"shown"}),
    ("by a constant getattr", "getattr(A(), 'used')()", {"used", "_inner"}),
    ("by a pattern", "getattr(A(), f'forward_{k}')()", {"forward_cuda", "forward_hip"}),
    ("by a joined name", "getattr(A(), 'forward_' + k)()", {"forward_cuda", "forward_hip"}),
    ("by a suffix", "getattr(A, f'{p}_a')()", {"run_a"}),
    ("by a percent name", "getattr(A, 'forward_%s' % k)()", {"forward_cuda", "forward_hip"}),
    ("by two constants", "getattr(A(), 'forward_' + 'cuda')()", {"forward_cuda"}),
    ("by a percent constant", "getattr(A(), 'forward_%s' % 'cuda')()", {"forward_cuda"}),
    ("by a list that is joined", "getattr(A(), '_'.join(['forward', k]))()", {"forward_cuda", "forward_hip"}),
    ("by a tuple that is joined", "getattr(A(), '_'.join(('forward', 'cuda')))()", {"forward_cuda"}),
    ("by a formatted name", "getattr(A, 'forward_{}'.format(k))()", {"forward_cuda", "forward_hip"}),
    ("by hasattr", "A().used() if hasattr(A, 'used') else 0", {"used"}),
    ("by methodcaller", "__import__('operator').methodcaller('used')(A())", {"used"}),
    ("by a string elsewhere", "[getattr(A(), n)() for n in ('used',)]", {"used"}),
    ("by a dict of names", "getattr(A(), {'x': 'used'}['x'])()", {"used"}),
    ("by listing", "[getattr(A, n)() for n in sorted(dir(A)) if n.startswith('forward_')]", {"forward_cuda", "forward_hip"}),
    ("by a keyword", "dict(used=1) and A().__class__.__dict__['used'](A())", {"used"}),
]  # fmt: skip


@pytest.mark.parametrize(("use", "kept"), [m[1:] for m in METHODS], ids=[m[0] for m in METHODS])
def test_methods(use: str, kept: set[str]) -> None:
    pruned = reach({"app.py": f"from kit import A\n\n\ndef f(k='cuda', p='run'):\n    return {use}\n", "kit.py": CLASS})
    text = pruned["kit.py"]
    for name in ("used", "_inner", "unused", "only_unused", "shown", "forward_cuda", "forward_hip", "run_a"):
        if name in kept:
            assert f"def {name}(" in text, name
    if not use.startswith("[getattr(A, n)"):
        assert "only_unused" not in text
    assert "for_repr" in text  # special methods are called by Python


def test_methods_of_a_root_class_are_public() -> None:
    text = prune({"app.py": CLASS}, roots=["app:A"])["app.py"]
    assert "def unused" in text and "def only_unused" in text and "def _inner" in text
    text = prune({"app.py": CLASS.replace("self._inner()", "0")}, roots=["app:A"])["app.py"]
    assert "_inner" not in text


def test_methods_that_an_outside_base_may_call_stay() -> None:
    for base in ("json.JSONEncoder", "threading.Thread", "ast.NodeVisitor", "Unknown"):
        text = f"import ast, json, threading\nfrom elsewhere import Unknown\n\n\nclass A({base}):\n    def visit_Name(self, node):\n        return node\n\n\ndef f():\n    return A\n"
        assert "visit_Name" in prune({"app.py": text}, roots=["app:f"])["app.py"], base


def test_methods_of_a_tree_base_are_overridden() -> None:
    pruned = reach({
        "app.py": "from kit import B\n\n\ndef f():\n    return B().run()\n",
        "kit.py": "class A:\n    def run(self):\n        return self.step()\n\n    def step(self):\n        raise NotImplementedError\n\n\nclass B(A):\n    def step(self):\n        return super().other()\n\n    def other(self):\n        return 1\n\n\nclass C(A):\n    def step(self):\n        return 3\n",
    }, driver="import app\nRESULT = None\ntry:\n    app.f()\nexcept AttributeError as error:\n    RESULT = type(error)")  # fmt: skip
    assert "class C" not in pruned["kit.py"]


def test_special_registration_methods() -> None:
    """``__init_subclass__`` and ``__set_name__`` run at class creation."""
    pruned = reach({
        "app.py": "import kinds\nfrom base import TABLE\n\n\ndef f():\n    return sorted(TABLE)\n",
        "base.py": "TABLE = {}\n\n\nclass Base:\n    def __init_subclass__(cls):\n        TABLE[cls.__name__] = cls\n",
        "kinds.py": "from base import Base\n\n\nclass One(Base):\n    pass\n\n\nclass Two(Base):\n    pass\n",
    })  # fmt: skip
    assert "class Two" in pruned["kinds.py"]


# -- modules as values -----------------------------------------------------------------------------------------


def test_a_module_as_a_value_keeps_names_that_live_code_reads_anywhere() -> None:
    """``_ps().rank`` reads ``rank`` of a module that a function gives."""
    pruned = reach({
        "app.py": "def _ps():\n    from pkg import state\n    return state\n\n\ndef f():\n    return _ps().rank() + getattr(_ps(), 'size')\n",
        "pkg/__init__.py": "",
        "pkg/state.py": "size = 2\n\n\ndef rank():\n    return 1\n\n\ndef never():\n    return 3\n",
    })  # fmt: skip
    assert "never" not in pruned["pkg/state.py"]


VALUES = [
    ("in a dict", "import kit\n\nTABLE = {'k': kit}\n\n\ndef f():\n    return TABLE['k'].one()\n"),
    ("in a list", "from kit import one as _\nimport kit\n\n\ndef f():\n    return [m.one() for m in [kit]]\n"),
    ("as an argument", "import kit\n\n\ndef g(m):\n    return m.one()\n\n\ndef f():\n    return g(kit)\n"),
    ("through an alias", "import kit\n\nother = kit\n\n\ndef f():\n    return other.one()\n"),
    ("by sys.modules", "import sys\nimport kit\n\n\ndef f():\n    return kit and sys.modules['kit'].one()\n"),
    ("by import_module", "import importlib\n\n\ndef f():\n    return importlib.import_module('kit').one()\n"),
    ("by __import__", "def f():\n    return __import__('kit').one()\n"),
    ("by vars", "import kit\n\n\ndef f():\n    return vars(kit)['one']()\n"),
    ("by __dict__", "import kit\n\n\ndef f():\n    return kit.__dict__['one']()\n"),
    ("by getattr of a variable", "import kit\n\n\ndef f(n='one'):\n    return getattr(kit, n)()\n"),
    ("by getattr of a pattern", "import kit\n\n\ndef f(n='ne'):\n    return getattr(kit, f'o{n}')()\n"),
    ("by a dotted text", "import importlib\n\nWHERE = 'kit:one'\n\n\ndef f():\n    module, name = WHERE.split(':')\n    return getattr(importlib.import_module(module), name)()\n"),
    ("by a star in a function's module", "from kit import *\n\n\ndef f():\n    return one()\n"),
    ("by attrgetter", "import operator\nimport kit\n\n\ndef f():\n    return operator.attrgetter('one')(kit)()\n"),
    ("by globals", "from kit import one\n\n\ndef f():\n    return globals()['one']()\n"),
    ("by a partial", "import functools\nimport kit\n\n\ndef f():\n    return functools.partial(getattr, kit)('one')()\n"),
    ("by __dict__ of a variable", "import kit\n\n\ndef f(n='one'):\n    return kit.__dict__[n]()\n"),
    ("by __dict__.get", "import kit\n\n\ndef f(n='one'):\n    return kit.__dict__.get(n)()\n"),
    ("by a nested attribute", "import types\nimport kit\n\nbox = types.SimpleNamespace(kit=kit)\n\n\ndef f():\n    return box.kit.one()\n"),
]  # fmt: skip


@pytest.mark.parametrize("text", [v[1] for v in VALUES], ids=[v[0] for v in VALUES])
def test_modules_as_values(text: str) -> None:
    reach({"app.py": text, "kit.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n"})


def test_a_listed_module_is_kept_whole() -> None:
    for listing in (
        "sorted(n for n in dir(kit) if not n.startswith('_'))",
        "sorted(n for n in vars(kit) if not n.startswith('_'))",
        "[n for n, _ in inspect.getmembers(kit, inspect.isfunction)]",
    ):
        reach(
            {
                "app.py": f"import inspect\nimport kit\n\n\ndef f():\n    return {listing}\n",
                "kit.py": "def one():\n    return 1\n\n\ndef two():\n    return 2\n",
            }
        )


def test_built_module_names() -> None:
    pruned = reach({
        "app.py": "import importlib\n\n\ndef f(n='a'):\n    return importlib.import_module(f'zoo.{n}').one()\n",
        "zoo/__init__.py": "", "zoo/a.py": "def one():\n    return 1\n", "zoo/b.py": "def one():\n    return 2\n", "pen/c.py": "",
    })  # fmt: skip
    assert "zoo/b.py" not in pruned.removed and "pen/c.py" in pruned.removed


def test_a_walked_package() -> None:
    files = {
        "app.py": "import importlib\nimport pkgutil\nimport zoo\n\n\ndef f():\n    return sorted(importlib.import_module('zoo.' + m).one() for m in NAMES)\n\n\nNAMES = [m.name for m in pkgutil.iter_modules(zoo.__path__)] or ['a', 'b']\n",
        "zoo/__init__.py": "", "zoo/a.py": "def one():\n    return 1\n", "zoo/b.py": "def one():\n    return 2\n",
    }  # fmt: skip
    assert not {"zoo/a.py", "zoo/b.py"} & reach(files).removed


def test_declared_members_limit_a_walk() -> None:
    rules = "rules:\n  - {id: root, because: It is., root: ['app:f']}\n  - {id: walk, because: It is., dynamic: {package: zoo, members: [a*], site: app}}\n"
    pruned = prune({
        "app.py": "import importlib\nimport pkgutil\nimport zoo\n\n\ndef f():\n    return [importlib.import_module(f'zoo.{m.name}') for m in pkgutil.iter_modules(zoo.__path__)]\n",
        "zoo/__init__.py": "", "zoo/a.py": "X = 1\n", "zoo/a2.py": "Y = 2\n", "zoo/b.py": "Z = 3\n",
    }, rules=rules)  # fmt: skip
    assert (
        "zoo/b.py" in pruned.removed
        and not {"zoo/a.py", "zoo/a2.py"} & pruned.removed
        and pruned["zoo/a.py"] == "X = 1\n"
    )


SITES = {
    "a tuple": "GROUPS = ('a', 'c')\n\nfor name in GROUPS:\n    import_module(f'{__name__}.{name}')\n",
    "a tuple, and what is deleted": "GROUPS = ('a', 'c')\n\nfor name in GROUPS:\n    import_module(f'{__name__}.{name}')\n\ndel import_module, name\n\n__all__ = list(GROUPS)\n",
    "a list in place": "for name in ['a', 'c']:\n    import_module('.' + name, __name__)\n",
    "relative texts": "for name in ('.a', '.c'):\n    import_module(name, __package__)\n",
    "a table": "TABLE = {'a': 1, 'c': 2}\n\nMODULES = [import_module(f'zoo.{name}') for name in TABLE]\n",
    "a function": "def load():\n    return [import_module(f'zoo.{name}') for name in ('a', 'c')]\n\n\nload()\n",
}


@pytest.mark.parametrize("text", SITES.values(), ids=SITES)
@pytest.mark.parametrize("members", ["[]", "[a]"])
def test_what_the_texts_of_a_declared_site_name_is_loaded_whatever_the_rule_lists(
    text: str, members: str, tmp_path: Path
) -> None:
    """A rule that was right for one release: the next one has a group more, and importing the package ends without it."""
    files = {
        "app.py": "import zoo\n\n\ndef f():\n    return sorted(n for n in vars(zoo) if len(n) == 1)\n",
        "zoo/__init__.py": f"from importlib import import_module\n\n{text}",
        **{f"zoo/{name}.py": f"{name.upper()} = 1\n" for name in "abcd"},
    }
    walk = f"  - {{id: walk, because: It is., dynamic: {{package: zoo, members: {members}, site: zoo}}}}\n"
    root = "rules:\n  - {id: root, because: It is., root: [app]}\n"
    pruned = prune(files, rules=root + walk)
    assert pruned.removed == {"zoo/b.py", "zoo/d.py", "plat.py"}
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    case = Case(tmp_path, files, root + walk)
    assert "modules" in case.judged({"zoo/c.py": None}, ["modules"])
    # A rule that says so may take one: what names it then goes first, or the checks say that it is still named.
    gone = prune(files, rules=root + walk + "  - {id: gone, because: It is., drop: [zoo.c]}\n")
    assert "zoo/c.py" in gone.removed


FILLED = {
    "the end of a name": "for name in ('a', 'c'):\n    import_module(f'zoo.{name}_impl')\n",
    "the middle of a name": "for name in ('a', 'c'):\n    import_module(f'zoo.k_{name}_v2')\n",
    "a package": "for name in ('far', 'off'):\n    import_module(f'zoo.{name}.main')\n",
    "a package and a module": "for box, name in (('far', 'one'), ('far', 'two')):\n    import_module(f'zoo.{box}.{name}')\n",
    "two parts of a name": "for name, kind in (('a', 'impl'), ('c', 'impl')):\n    import_module(f'zoo.{name}_{kind}')\n",
    "one text of several": "for name in 'a c'.split():\n    import_module(f'zoo.{name}_impl')\n",
    "lines": "for name in '''\na,\nc\n'''.replace(',', '').split():\n    import_module(f'zoo.{name}_impl')\n",
    "names of modules and classes": "for text in ('a_impl:One', 'c_impl:Two'):\n    import_module('zoo.' + text.partition(':')[0])\n",
    "dotted names": "for text in ('a_impl.One', 'c_impl.Two'):\n    import_module('zoo.' + text.rpartition('.')[0])\n",
    "spelled otherwise": "for text in ('A-impl', 'C-impl'):\n    import_module('zoo.' + text.replace('-', '_').lower())\n",
    "both by a function": "def load(box, name):\n    return import_module(f'{box}.{name}')\n\n\nfor name in ('a_impl', 'c_impl'):\n    load('zoo', name)\n",
    "by the names of the parameters": "for name in ('a', 'c'):\n    import_module(name=f'.{name}_impl', package='zoo')\n",
    "behind a constant with its dot": "BASE = 'zoo.'\nfor name in ('a_impl', 'c_impl'):\n    import_module(BASE + name)\n",
    "by the list of an import": "__import__('zoo', fromlist=['a_impl', 'c_impl'])\n",
}
IN_ZOO = (
    "a_impl",
    "b_impl",
    "c_impl",
    "k_a_v2",
    "k_b_v2",
    "k_c_v2",
    "far.one",
    "far.two",
    "far.main",
    "far.other",
    "off.main",
    "near.main",
)


@pytest.mark.parametrize("text", FILLED.values(), ids=FILLED)
@pytest.mark.parametrize("declared", [True, False])
def test_texts_fill_the_holes_of_a_shape(text: str, declared: bool, tmp_path: Path) -> None:
    """The next release loads ``f"zoo.{name}_impl"``: the text is no name of a module. Nor is one without a rule for the site."""
    files = {
        "app.py": "import sys\nimport site_of\n\n\ndef f():\n    return sorted(n for n in sys.modules if n.startswith('zoo'))\n",
        "site_of.py": f"from importlib import import_module\n\n{text}",
        "zoo/__init__.py": "",
        **{f"zoo/{name.replace('.', '/')}.py": f"HERE = {name!r}\n" for name in IN_ZOO},
        **{f"zoo/{box}/__init__.py": "" for box in ("far", "off", "near")},
    }
    rules = "rules:\n  - {id: root, because: It is., root: [app]}\n"
    if declared:
        rules += "  - {id: walk, because: It is., dynamic: {package: zoo, members: [b_impl], site: site_of}}\n"
    pruned = prune(files, rules=rules)
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    if declared:
        assert "zoo/near/main.py" in pruned.removed and "zoo/k_b_v2.py" in pruned.removed
    place = tmp_path / "right"
    place.mkdir()
    case = Case(place, files, rules)
    assert case.judged({}, ["modules"]) == {}


def test_an_import_in_code_that_is_put_together() -> None:
    reach({
        "app.py": "def f():\n    for name in ('a', 'c'):\n        exec(f'from zoo import {name}')\n    return 1\n",
        "zoo/__init__.py": "", **{f"zoo/{name}.py": f"{name.upper()} = 1\n" for name in "abcd"},
    })  # fmt: skip


# -- text ----------------------------------------------------------------------------------------------------

ANNOTATIONS = [
    "def f(x: 'Kind' = None):\n    return 1\n",
    "def f() -> 'list[Kind]':\n    return []\n",
    "def f():\n    x: 'Kind'\n    return 1\n",
    "class B:\n    field: 'Kind | None' = None\n\n\ndef f():\n    return B.field\n",
    "import typing\n\n\ndef f(x: typing.Optional['Kind'] = None):\n    return typing.get_type_hints(f)\n",
]


@pytest.mark.parametrize("text", ANNOTATIONS)
def test_names_in_annotation_text_stay(text: str) -> None:
    assert (
        "Kind"
        in reach(
            {"app.py": "from kit import Kind\n\n\n" + text, "kit.py": "class Kind:\n    pass\n"},
            driver="import app\napp.f()\nRESULT = app.Kind.__name__",
        )["kit.py"]
    )


def test_scripts_and_module_runs_named_in_text_stay() -> None:
    pruned = reach({
        "app.py": "import sys\n\n\ndef f():\n    return [sys.executable, '-m', 'tools.run'], 'tools/job.py', 'python -m tools.shell'\n",
        "tools/run.py": "if __name__ == '__main__':\n    print(1)\n", "tools/job.py": "print(2)\n", "tools/other.py": "print(3)\n", "tools/shell.py": "print(4)\n",
    })  # fmt: skip
    assert not {"tools/run.py", "tools/job.py"} & pruned.removed


EXPORTS = [
    "__all__ = ['one', 'two', 'X']",
    "__all__ = ('one', 'two', 'X')",
    "__all__ = ('two', 'one')",
    "__all__ = ['one']\n__all__ += ['two', 'X']",
    "__all__: list = ['one', 'two', 'X']",
    "__all__ = ['one'] + ['two', 'X']",
    "__all__ = ['one']\n__all__.extend(['two', 'X'])",
    "__all__ = [\n    'one',\n    'two',  # two\n    'X',\n]",
    "__all__ = []\n__all__.append('one')\n__all__.append('two')",
    "__all__ = [n for n in ('one', 'two')]",
    "__all__ = ['one', *['two']]",
    "__all__ = [\n    'two', 'one', 'X'\n]",
    "__all__ = ['two', 'one'] if __name__ else ['one']",
]


@pytest.mark.parametrize("form", EXPORTS)
def test_exports_follow_what_is_kept(form: str) -> None:
    """``__all__`` keeps nothing by itself, and never names what is gone."""
    for importer in (
        "from kit import *\n\n\ndef f():\n    return one()\n",
        "from mid import *\n\n\ndef f():\n    return one()\n",
    ):
        kit = f"{form}\nX = 3\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"
        reach({"app.py": importer, "mid.py": "from kit import *\n", "kit.py": kit})


def test_a_lazy_module_getattr() -> None:
    reach({
        "app.py": "import pkg\n\n\ndef f():\n    return pkg.late()\n",
        "pkg/__init__.py": "import importlib\n\n_WHERE = {'late': 'pkg.deep'}\n\n\ndef __getattr__(name):\n    return getattr(importlib.import_module(_WHERE[name]), name)\n",
        "pkg/deep.py": "def late():\n    return 1\n",
    })  # fmt: skip


def test_names_that_only_dead_branches_bind_keep_the_branch() -> None:
    """Upstream raises NameError when the run-time test holds; so must the output, but with the name bound somewhere."""
    text = "from plat import is_hip\n\nif is_hip():\n    from amd import g\n\n\ndef f(r=0):\n    if r:\n        return g()\n    return 1\n"
    pruned = reach(
        {"app.py": text, "amd.py": "def g():\n    return 2\n"}, driver="import app\nRESULT = app.f()\napp.f(1)"
    )
    assert "if False:\n    from amd import g" in pruned["app.py"]


def test_try_import_probes_stay() -> None:
    text = "try:\n    import absent_package\n    HAVE = True\nexcept ImportError:\n    HAVE = False\n\n\ndef f():\n    return HAVE\n"
    assert reach({"app.py": text})["app.py"] == text


def test_monkeypatched_names_stay() -> None:
    reach(
        {
            "app.py": "import kit\n\n\ndef new():\n    return 2\n\n\nkit.one = new\n\n\ndef f():\n    return kit.two()\n",
            "kit.py": "def one():\n    return 1\n\n\ndef two():\n    return one()\n",
        }
    )


def test_dataclass_enum_and_named_tuple_members_stay() -> None:
    reach(
        {
            "app.py": "import dataclasses, enum, typing\n\n\n@dataclasses.dataclass\nclass D:\n    x: int = 1\n    y: int = 2\n\n    def __post_init__(self):\n        self.z = 3\n\n\nclass E(enum.Enum):\n    A = enum.auto()\n    B = enum.auto()\n\n\nclass N(typing.NamedTuple):\n    a: int\n    b: int = 2\n\n\ndef f():\n    return D(), list(E), N(1), vars(D())\n"
        }
    )


def test_registrations_in_loops_and_contexts_stay() -> None:
    reach(
        {
            "app.py": "import contextlib\nfrom kit import TABLE, register\n\nfor name in ('a', 'b'):\n    @register(name)\n    def made():\n        return 1\n\nwith contextlib.suppress(KeyError):\n    register('c')(len)\n\n\ndef f():\n    return sorted(TABLE)\n",
            "kit.py": "TABLE = {}\n\n\ndef register(key):\n    def wrap(made):\n        TABLE[key] = made\n        return made\n    return wrap\n",
        }
    )


def test_conditional_definitions_both_stay() -> None:
    reach(
        {
            "app.py": "import os\n\nif os.name == 'posix':\n    def g():\n        return 1\nelse:\n    def g():\n        return 2\n\n\ndef f():\n    return g()\n"
        }
    )


def test_del_of_module_names() -> None:
    reach(
        {
            "app.py": "import json\nX = 1\nfor _i in (1, 2):\n    X += _i\ndel _i\n\n\ndef f():\n    return X\n\n\ndef unread():\n    return json\n"
        }
    )


def test_overloads_and_singledispatch() -> None:
    reach(
        {
            "app.py": "import functools\n\n\n@functools.singledispatch\ndef g(x):\n    return 'any'\n\n\n@g.register\ndef _(x: int):\n    return 'int'\n\n\n@g.register(str)\ndef _g_str(x):\n    return 'str'\n\n\ndef f():\n    return g(1), g('a'), g(None)\n"
        }
    )


def test_values_made_for_their_effect_stay() -> None:
    reach(
        {
            "app.py": "out = []\n\n\ndef note(x):\n    out.append(x)\n    return x\n\n\nUNREAD = note(1)\n_ = note(2)\nA, B = note((3, 4))\nA = note(5)\n\n\ndef f():\n    return out\n"
        }
    )


def test_nested_classes_and_closures() -> None:
    reach(
        {
            "app.py": "class A:\n    class B:\n        def m(self):\n            return C().n()\n\n    def make(self):\n        return self.B()\n\n\nclass C:\n    def n(self):\n        return 1\n\n    def o(self):\n        return 2\n\n\ndef f():\n    return A().make().m()\n"
        }
    )


@pytest.mark.parametrize("use", ["y = z.sm()", "if z: pass", "def m(self, x=z.sm()):\n            return x"])
def test_an_import_in_a_class_body_of_a_function(use: str) -> None:
    reach({"app.py": f"def f():\n    class C:\n        import plat as z\n        {use}\n    return C.z.sm()\n"})
    reach(
        {
            "app.py": f"class C:\n    import plat as z\n    {use.replace('    ' * 3, '    ' * 2)}\n\n\ndef f():\n    return C.z.sm()\n"
        }
    )


def test_a_package_that_a_star_may_bring_as_well_stays_followed() -> None:
    """Both ``import kit.m0`` and ``from kit.m1 import *`` bind ``kit``: unknown keeps code."""
    reach({
        "app.py": "import kit.m0\nfrom kit.m1 import *\n\n\ndef f():\n    return kit.m0.X, one()\n",
        "kit/__init__.py": "", "kit/m0.py": "X = 1\n", "kit/m1.py": "import kit.m0\n\n\ndef one():\n    return 1\n",
    })  # fmt: skip
