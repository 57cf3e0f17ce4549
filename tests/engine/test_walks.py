"""Packages that code walks: whichever way it comes to them, their modules stay, and the verifier asks for them too.

Counterexamples were a package that walks itself with a prefix, and one that a parameter stands for.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pruner import verify
from pruner.pipeline import run_case

FACTS = 'facts: {is_hip(): false}\ndefined_in: plat\nroots: ["app:main"]\n'
PLAT = "def is_hip():\n    return False\n"
MAIN = "\n\ndef main():\n    return {}\n"
SELF = "import importlib\nimport pkgutil\n\nFOUND = []\nfor m in pkgutil.{}:\n    importlib.import_module({})\n"
ONE = "from plug import FOUND\n\nFOUND.append(1)\n"
BY_NAME = (
    "import importlib\nimport pkgutil\n\n\ndef load(name):\n    package = importlib.import_module(name)\n"
    "    return [importlib.import_module(n).KIND for _, n, _ in pkgutil.iter_modules(package.__path__, name + '.')]\n"
)
OBJECT = (
    "import importlib\nimport pkgutil\n\n\ndef load(package):\n"
    "    names = [m.name for m in pkgutil.walk_packages(package.__path__, package.__name__ + '.')]\n"
    "    return [importlib.import_module(n).KIND for n in names]\n"
)
USES = "import registry\n\n\ndef main():\n    return registry.load({!r})\n"
KIND = "KIND = 'one'\n"
Files = dict[str, str]
PROGRAMS: dict[str, Files] = {
    "itself, with a prefix": {
        "app.py": "import plug\n" + MAIN.format("plug.FOUND"),
        "plug/__init__.py": SELF.format("iter_modules(__path__, __name__ + '.')", "m.name"),
        "plug/one.py": ONE,
    },
    "itself, with a built prefix": {
        "app.py": "import plug\n" + MAIN.format("plug.FOUND"),
        "plug/__init__.py": SELF.format('walk_packages(__path__, prefix=f"{__name__}.")', "m[1]"),
        "plug/one.py": ONE,
    },
    "by a name": {
        "app.py": USES.format("plug.kinds"),
        "registry.py": BY_NAME,
        "plug/__init__.py": "",
        "plug/kinds/__init__.py": "",
        "plug/kinds/one.py": KIND,
    },
    "by a name without a dot": {
        "app.py": USES.format("plug"),
        "registry.py": BY_NAME,
        "plug/__init__.py": "",
        "plug/one.py": KIND,
    },
    "handed on": {
        "app.py": "import plug\nimport registry\n" + MAIN.format("registry.load(plug)"),
        "registry.py": OBJECT,
        "plug/__init__.py": "",
        "plug/one.py": KIND,
    },
}

NOT_SEEN = ("by a name without a dot", "handed on")
"""The verifier takes no single word for a package, and follows none that is handed on to a walk."""


def run(tree: Path) -> str:
    code = "import app; print(app.main())"
    return subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_modules_of_a_walked_package_stay(tmp_path: Path, name: str) -> None:
    tree, out = tmp_path / "in", tmp_path / "out"
    for path, text in {"plat.py": PLAT, **PROGRAMS[name]}.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    (tmp_path / "facts.yaml").write_text(FACTS)
    assert run_case(tmp_path, out, 1).exit_code == 0
    assert run(out) == run(tree) in ("[1]\n", "['one']\n")
    if name in NOT_SEEN:
        return
    (lost,) = out.rglob("one.py")
    lost.unlink()
    verdicts = verify.run(tree, out, [], facts_yaml=tmp_path / "facts.yaml", jobs=1)
    assert [v.check for v in verdicts if v.result == "refuted"]


@pytest.mark.parametrize("shape", ["[a-z]*.py", "*[!_].py", "./[ab]/*.py", "o?e*.py"])
def test_globs_with_brackets_are_read(tmp_path: Path, shape: str) -> None:
    """``[`` at the start of a shape lost the backslash before it: no pattern, and a traceback."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/app.py").write_text(f"import glob\n\n\ndef main():\n    return sorted(glob.glob({shape!r}))\n")
    (tmp_path / "facts.yaml").write_text(FACTS.replace("defined_in: plat\n", "").replace("is_hip(): false", ""))
    assert run_case(tmp_path, tmp_path / "out", 1).exit_code == 0
