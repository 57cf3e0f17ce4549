"""A module that a built text may name is missed, whoever gets the text; aliases, submodules and edited lines are taken for what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.wrong import Case

TOOLS = {
    "pkg/__init__.py": "",
    "pkg/tools/__init__.py": "",
    "pkg/tools/one.py": "def main():\n    return 1\n",
    "pkg/tools/two.py": "def main():\n    return 2\n",
}
TEXTS = (
    "f'pkg.tools.{n}'",
    "'pkg.tools.' + n",
    "'pkg.tools.%s' % n",
    "'pkg.tools.{}'.format(n)",
    "f'pkg.tools.{n}:main'",
    "f'pkg.tools.{n}.main'",
    "f'python -m pkg.tools.{n} --all'",
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_module_that_a_text_may_name_is_missed(text: str, tmp_path: Path) -> None:
    case = Case(tmp_path, {"app.py": f"def f(n, load):\n    path = {text}\n    return load(path)\n", **TOOLS})
    assert case.verdicts(case.out) == {}
    assert "modules" in case.judged({"pkg/tools/two.py": None}, ["modules"])


def test_a_module_that_its_package_may_load_is_missed(tmp_path: Path) -> None:
    tools = "import importlib\n\n\ndef load(names):\n    for n in names:\n        mod = f'{__name__}.{n}'\n        importlib.import_module(mod)\n"
    case = Case(
        tmp_path,
        {
            **TOOLS,
            "app.py": "from pkg.tools import load\n\n\ndef f(n):\n    load([n])\n",
            "pkg/tools/__init__.py": tools,
        },
    )
    assert "modules" in case.judged({"pkg/tools/two.py": None}, ["modules"])


RIGHT = {
    "a submodule that its package imports": {
        "app.py": "from api import sub\n\n\ndef f():\n    return 1 if sub.FLAG else 2\n",
        "api/__init__.py": "from . import sub\n",
        "api/sub.py": "from plat import is_hip\n\nFLAG = is_hip()\n",
    },
    "an alias of a predicate": {
        "app.py": "from plat import is_hip\n\nis_rocm = is_hip\n\n\ndef f():\n    if is_rocm():\n        return 1\n    return 2\n"
    },
    "an alias of an alias": {
        "app.py": "import lib\n\n\ndef f():\n    return 1 if lib.on_rocm() else 2\n",
        "lib.py": "import plat\n\nis_rocm = plat.is_hip\non_rocm = is_rocm\n",
    },
    "a choice on each of many lines": {
        "app.py": "from plat import is_hip\n\n"
        + "".join(f"B{n} = {n} if is_hip() else {n + 1}\n" for n in range(30))
        + "\n\ndef f():\n    return "
        + ", ".join(f"B{n}" for n in range(30))
        + "\n",
    },
    "a row of each in a table": {
        "app.py": "from plat import is_hip\n\n\ndef f():\n    return {\n"
        + "".join(f"        'b{n}': {n} if is_hip() else {n + 1},\n" for n in range(20))
        + "    }\n",
    },
    "a module whose name is a constant of the file": {
        "app.py": "import importlib\n\nfrom plat import is_hip\n\nif is_hip():\n    kind = 'one'\nelse:\n    kind = 'two'\n\n\ndef f():\n    return importlib.import_module(f'pkg.tools.{kind}').main()\n",
        **TOOLS,
    },
    "a module whose name is a constant of another file": {
        "app.py": "import importlib\n\nfrom conf import NAME\n\n\ndef f():\n    return importlib.import_module(f'pkg.tools.{NAME}').main()\n",
        "conf.py": "NAME = 'two'\n",
        **TOOLS,
    },
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_tree_is_accepted(name: str, tmp_path: Path) -> None:
    Case(tmp_path, RIGHT[name])


def test_an_alias_that_is_stored_again_decides_nothing(tmp_path: Path) -> None:
    app = "import lib\n\n\ndef f():\n    before = lib.is_rocm()\n    lib.turn()\n    if lib.is_rocm():\n        return 1\n    return before\n"
    lib = "import plat\n\nis_rocm = plat.is_hip\n\n\ndef turn():\n    global is_rocm\n    is_rocm = lambda: True\n"
    case = Case(tmp_path, {"app.py": app, "lib.py": lib})
    assert "fold" in case.wrong("app.py", "    if lib.is_rocm():\n        return 1\n", "")


def test_a_long_part_that_is_gone_is_no_edit(tmp_path: Path) -> None:
    body = "".join(f"    x{n} = print({n})\n" for n in range(20))
    case = Case(
        tmp_path,
        {"app.py": f"from plat import is_hip\n\n\ndef f():\n    if is_hip():\n        return 0\n{body}    return 1\n"},
    )
    assert "guards" in case.wrong("app.py", body, "")
