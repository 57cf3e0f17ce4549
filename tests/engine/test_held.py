"""Modules as objects: whatever way code comes to one, what it asks it for stays, and the verifier asks for it too.

Each program lacks a line that names what it calls: ``WANTED`` is a function of ``kit``, or of ``app`` where there is
no ``kit``, and code reads it as an attribute of something else.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pruner import verify
from tests.engine.program import prune

WANTED = "\n\ndef wanted():\n    return 'wanted'\n"
UNUSED = "\n\ndef unused():\n    return 'unused'\n"
FACTS = 'facts: {is_hip(): false}\ndefined_in: plat\nroots: ["app:main"]\n'
TABLE = "import sys\n\n\ndef main():\n    return {}\n"
APP = "import pkg.kit\n\n\ndef main():\n    return {}\n"
IN_KIT = "from pkg.kit import go\n\n\ndef main():\n    return go()\n"
Files = dict[str, str]
PROGRAMS: dict[str, Files] = {
    "sys.modules of the module itself": {"app.py": TABLE.format("sys.modules[__name__].wanted()")},
    "its get": {"app.py": TABLE.format("sys.modules.get(__name__).wanted()")},
    "kept in a variable": {
        "app.py": "import sys\n\nthis = sys.modules[__name__]\n\n\ndef main():\n    return this.wanted()\n"
    },
    "handed on": {
        "app.py": "from pkg.kit import go\n\n\ndef main():\n    return go()\n",
        "pkg/kit.py": "import sys\n\n\ndef go():\n    return use(sys.modules[__name__])\n\n\ndef use(m):\n    return m.wanted()\n",
    },
    "by a text": {"app.py": "import sys\n" + APP.format("sys.modules['pkg.kit'].wanted()"), "pkg/kit.py": ""},
    "by another name of the table": {
        "app.py": "from sys import modules\n" + APP.format("modules['pkg.kit'].wanted()"),
        "pkg/kit.py": "",
    },
    "by another name of sys": {
        "app.py": "import pkg.kit\n\n\ndef main():\n    import sys as s\n    return s.modules['pkg.kit'].wanted()\n",
        "pkg/kit.py": "",
    },
    "the table handed on": {
        "app.py": (
            "import sys\nimport pkg.kit\n\n\ndef get(table, name):\n    return table[name]\n\n\n"
            "def main():\n    return get(sys.modules, 'pkg.kit').wanted()\n"
        ),
        "pkg/kit.py": "",
    },
    "the table walked": {
        "app.py": (
            "import sys\nimport pkg.kit\n\n\n"
            "def main():\n    return [m.wanted() for n, m in sorted(sys.modules.items()) if n == 'pkg.kit']\n"
        ),
        "pkg/kit.py": "",
    },
    "by a class": {
        "app.py": "import sys\nfrom pkg.kit import Kind\n\n\ndef main():\n    return sys.modules[Kind.__module__].wanted()\n",
        "pkg/kit.py": "class Kind:\n    pass\n",
    },
    "by the class of an instance": {
        "app.py": "from pkg.kit import Kind\n\n\ndef main():\n    return Kind().go()\n",
        "pkg/kit.py": (
            "import sys\n\n\nclass Kind:\n    def go(self):\n        return sys.modules[type(self).__module__].wanted()\n"
        ),
    },
    "by a class that derives elsewhere": {
        "app.py": "from pkg.base import Base\n\n\nclass Kind(Base):\n    pass\n\n\ndef main():\n    return Kind().go()\n",
        "pkg/base.py": (
            "import sys\n\n\nclass Base:\n    def go(self):\n        return sys.modules[self.__class__.__module__].wanted()\n"
        ),
    },
    "by a function that another file gives": {
        "app.py": "from pkg.find import home\n\n\ndef main():\n    return home(main).wanted()\n",
        "pkg/find.py": "import sys\n\n\ndef home(f):\n    return sys.modules[f.__module__]\n",
    },
    "import_module of a class": {
        "app.py": (
            "import importlib\nfrom pkg.kit import Kind\n\n\n"
            "def main():\n    return importlib.import_module(Kind.__module__).wanted()\n"
        ),
        "pkg/kit.py": "class Kind:\n    pass\n",
    },
    "inspect.getmodule": {
        "app.py": IN_KIT,
        "pkg/kit.py": "import inspect\n\n\ndef go():\n    return inspect.getmodule(go).wanted()\n",
    },
    "getmodule of an argument": {
        "app.py": "from pkg.find import home\n\n\ndef main():\n    return home(main)\n",
        "pkg/find.py": "from inspect import getmodule\n\n\ndef home(f):\n    return getmodule(f).wanted()\n",
    },
    "globals of a function": {
        "app.py": "from pkg.kit import go\n\n\ndef main():\n    return go.__globals__['wanted']()\n",
        "pkg/kit.py": "def go():\n    return 1\n",
    },
    "globals of a frame": {
        "app.py": "from pkg.find import home\n\n\ndef main():\n    return home()\n",
        "pkg/find.py": "import sys\n\n\ndef home():\n    return sys._getframe(1).f_globals['wanted']()\n",
    },
    "members listed": {
        "app.py": IN_KIT,
        "pkg/kit.py": "import sys\n\n\ndef go():\n    return [n for n in dir(sys.modules[__name__]) if n[0] == 'w']\n",
    },
    "a name from outside": {
        "app.py": IN_KIT,
        "pkg/kit.py": "import sys\n\n\ndef go(name='wan'):\n    key = name + 'ted'\n    return getattr(sys.modules[__name__], key)()\n",
    },
    "a class of the module": {
        "app.py": "import pkg.kit as kit\n\n\ndef main():\n    return kit.more\n",
        "pkg/kit.py": (
            "import sys\nimport types\n\n\nclass Kit(types.ModuleType):\n    @property\n    def more(self):\n        return self.wanted()\n\n\n"
            "sys.modules[__name__].__class__ = Kit\n"
        ),
    },
    "put into a registry": {
        "app.py": "import pkg.kit\nfrom pkg.table import TABLE\n\n\ndef main():\n    return TABLE['kit'].wanted()\n",
        "pkg/table.py": "TABLE = {}\n",
        "pkg/kit.py": "import sys\nfrom pkg.table import TABLE\n\nTABLE['kit'] = sys.modules[__name__]\n",
    },
    "a package in a list": {
        "app.py": "import pkg\nimport pkg.kit\n\n\ndef main():\n    return [pkg][0].kit.wanted()\n",
        "pkg/kit.py": "",
    },
    "a package kept in an attribute": {
        "app.py": (
            "import pkg\n\n\nclass Holder:\n    def go(self):\n        return self.back.kit.wanted()\n\n\n"
            "def main():\n    holder = Holder()\n    holder.back = pkg\n    return holder.go()\n"
        ),
        "pkg/__init__.py": "from . import kit\n",
        "pkg/kit.py": "",
    },
    "getattr of a package": {"app.py": "import pkg\n" + APP.format("getattr(pkg, 'kit').wanted()"), "pkg/kit.py": ""},
    "getattr with a built name": {
        "app.py": "import pkg\n\n\ndef main(name='it'):\n    return getattr(pkg, 'k' + name).wanted()\n",
        "pkg/__init__.py": "from . import kit\n",
        "pkg/kit.py": "",
    },
    "names of a package": {
        "app.py": "import pkg\n\n\ndef main():\n    return pkg.__dict__['kit'].wanted()\n",
        "pkg/__init__.py": "from . import kit\n",
        "pkg/kit.py": "",
    },
    "attrgetter": {
        "app.py": "from operator import attrgetter\nimport pkg\n" + APP.format("attrgetter('kit.wanted')(pkg)()"),
        "pkg/kit.py": "",
    },
    "another name in a loaded module": {
        "app.py": "import importlib\n\n\ndef main():\n    return importlib.import_module('pkg.api').back.wanted()\n",
        "pkg/api.py": "from . import kit as back\n",
        "pkg/kit.py": "",
    },
    "a conditional alias": {
        "app.py": "from pkg import api\n\n\ndef get():\n    return api\n\n\ndef main():\n    return get().back.wanted()\n",
        "pkg/api.py": "from plat import is_hip\n\nif is_hip():\n    from . import other as back\nelse:\n    from . import kit as back\n",
        "pkg/kit.py": "",
        "pkg/other.py": "",
    },
    "a star in a module that is handed on": {
        "app.py": "from pkg import api\n\n\ndef use(m):\n    return m.wanted()\n\n\ndef main():\n    return use(api)\n",
        "pkg/api.py": "from .kit import *\n",
        "pkg/kit.py": "",
    },
    "a global that a function imports": {
        "app.py": (
            "import pkg.other as back\n\n\ndef main():\n    global back\n    import pkg.kit as back\n    return back.wanted()\n"
        ),
        "pkg/other.py": "",
        "pkg/kit.py": "",
    },
}
PRIVATE = (
    "importlib.import_module('pkg.kit')",
    "__import__('pkg.kit', fromlist=['kit'])",
    "load('kit')",
    "Lazy('pkg.kit')",
)
LOADERS = (
    "import importlib\n\n\ndef load(name):\n    return importlib.import_module('pkg.' + name)\n\n\nclass Lazy:\n"
    "    def __init__(self, name):\n        self.name = name\n\n    def __getattr__(self, name):\n"
    "        return getattr(importlib.import_module(self.name), name)\n\n\n"
)
for _how in PRIVATE:
    PROGRAMS[f"private, of {_how}"] = {
        "app.py": f"{LOADERS}def main():\n    return {_how}._wanted()\n",
        "pkg/kit.py": "def _wanted():\n    return 'wanted'\n",
    }
NOT_SEEN = {
    "the table handed on",  # what was taken off is an import, whose module nothing names
    "the table walked",
    "by the class of an instance",  # a key does not tell which module it is
    "by a class that derives elsewhere",
    "by a function that another file gives",
    "getmodule of an argument",
    "globals of a frame",
}


def _tree(files: Files) -> Files:
    """With the package and with the function that the program is about."""
    tree = {"pkg/__init__.py": "", **files}
    home = "pkg/kit.py" if "pkg/kit.py" in files else "app.py"
    if "_wanted" not in tree[home]:
        tree[home] += WANTED
    tree[home] += UNUSED
    return tree


def _said(tree: Path) -> str:
    run = [sys.executable, "-B", "-c", "import app; print(app.main())"]
    return subprocess.run(run, cwd=tree, check=True, capture_output=True, text=True).stdout


def _write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_asked_of_a_module_lives(name: str, tmp_path: Path) -> None:
    files = PROGRAMS[name]
    pruned = prune(_tree(files), roots=("app:main",))
    before, after = _write(tmp_path / "in", pruned.before), _write(tmp_path / "out", pruned.files)
    assert _said(after) == _said(before) != ""
    if name in NOT_SEEN:
        return
    (tmp_path / "facts.yaml").write_text(FACTS)
    assert _refuted(before, after, tmp_path) == []
    path = after / ("pkg/kit.py" if "pkg/kit.py" in files else "app.py")
    text = path.read_text()
    start = min(i for i in (text.find("def wanted"), text.find("def _wanted")) if i >= 0)
    end = text.find("\n\n\n", start)
    path.write_text(text[:start] + (text[end + 3 :] if end >= 0 else ""))
    said = _refuted(before, after, tmp_path)
    assert said and "wanted" in said[0]


def _refuted(before: Path, after: Path, folder: Path) -> list[str]:
    rows = verify.run(before, after, [], facts_yaml=folder / "facts.yaml", jobs=1, checks=("imports", "fold"))
    return [text for row in rows if row.result == "refuted" for text in row.details]


def test_a_module_that_is_asked_for_nothing_loses_it() -> None:
    tree = _tree(PROGRAMS["put into a registry"])
    pruned = prune(tree, roots=("app:main",))
    assert "unused" not in pruned["pkg/kit.py"]


def test_membership_of_the_table_is_no_look_up() -> None:
    app = "import sys\nfrom pkg.kit import Kit\n\n\ndef main(name):\n    return (name {} sys.modules, Kit().name)\n"
    kit = "class Kit:\n    pass\n\n\ndef name():\n    return 'unused'\n"
    for operator in ("in", "not in", "and"):
        pruned = prune({"app.py": app.format(operator), "pkg/__init__.py": "", "pkg/kit.py": kit}, roots=("app:main",))
        assert ("unused" in pruned["pkg/kit.py"]) == (operator == "and")


SPEC = (
    "import importlib\n\n\nclass Spec:\n    def __init__(self, target):\n        self.target = target\n\n    def load(self):\n"
    "        module, _, name = self.target.partition(':')\n        return getattr(importlib.import_module(module), name)\n"
)
SITE = (
    "rules:\n  - {id: t.facts, because: It is., assume: {plat.is_hip(): false}}\n"
    "  - {id: t.root, because: It starts here., root: ['app:main']}\n"
    "  - {id: t.site, because: It loads what texts name., dynamic: {package: pkg, members: [], site: pkg.spec}}\n"
)
ENTRIES = (
    "for _mod, _name in [('kit', 'wanted')]:\n    TABLE.append(Spec(f'pkg.{_mod}:{_name}'))\n",
    "TABLE.append(Spec('pkg.kit:other'))\n",
)


@pytest.mark.parametrize("order", [1, -1])
def test_who_loads_a_module_by_a_text_may_ask_it_for_what_other_texts_spell(order: int, tmp_path: Path) -> None:
    """``[("kit", "wanted")]`` beside ``"pkg.kit:other"``: the declared site builds no name, and the table is far from it."""
    files = {
        "app.py": "from pkg.spec import Spec\n\nTABLE = []\n"
        + "".join(ENTRIES[::order])
        + "\n\ndef main():\n    return sorted(spec.load()() for spec in TABLE)\n",
        "pkg/__init__.py": "",
        "pkg/spec.py": SPEC,
        "pkg/kit.py": "def other():\n    return 'other'\n" + WANTED + UNUSED,
    }
    pruned = prune(files, rules=SITE)
    assert not pruned.findings and "unused" not in pruned["pkg/kit.py"]
    before, after = _write(tmp_path / "in", pruned.before), _write(tmp_path / "out", pruned.files)
    assert _said(after) == _said(before) == "['other', 'wanted']\n"
