"""Classes that only ``__subclasses__()`` names, in every spelling of the class that is asked: output and verifier."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pruner import verify
from pruner.pipeline import run_case

PLAT = "def is_hip():\n    return False\n"
FACTS = 'facts: {is_hip(): false}\ndefined_in: plat\nroots: ["app:main"]\n'
BASE = (
    "from plat import is_hip\n\n\nclass A:\n    @classmethod\n    def create(cls):\n        return names(cls)\n\n"
    "    def peers(self):\n        return names(type(self))\n\n\n"
    "class B(A):\n    kind = 'b'\n\n\nclass C(B):\n    kind = 'c'\n\n\n"
)
ASKED = {
    "name": "def names(c):\n    return [k.__name__ for k in A.__subclasses__()]\n\n\ndef main():\n    return names(A)\n",
    "parameter": "def names(c):\n    return [k.__name__ for k in c.__subclasses__()]\n\n\ndef main():\n    return names(A)\n",
    "class method": "def names(c):\n    return [k.__name__ for k in c.__subclasses__()]\n\n\ndef main():\n    return A.create()\n",
    "type": "def names(c):\n    return [k.kind for k in c.__subclasses__()]\n\n\ndef main():\n    return A().peers()\n",
    "local": "def names(c):\n    k = A\n    return [s.__name__ for s in k.__subclasses__()]\n\n\ndef main():\n    return names(0)\n",
    "global": "LISTED = A\n\n\ndef names(c):\n    return [s.kind for s in LISTED.__subclasses__()]\n\n\ndef main():\n    return names(0)\n",
    "getattr": "def names(c):\n    return [s.kind for s in getattr(A, '__subclasses__')()]\n\n\ndef main():\n    return names(0)\n",
    "recursive": (
        "def names(c):\n    return [k.__name__ for s in c.__subclasses__() for k in (s, *s.__subclasses__())]\n\n\n"
        "def main():\n    return names(A)\n"
    ),
}


def said(tree: Path) -> str:
    """What the program prints."""
    run = [sys.executable, "-c", "import app; print(app.main())"]
    return subprocess.run(run, cwd=tree, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_what_is_listed_lives(asked: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "facts.yaml").write_text(FACTS)
    (tmp_path / "in/plat.py").write_text(PLAT)
    (tmp_path / "in/app.py").write_text(BASE + asked)
    assert run_case(tmp_path, tmp_path / "out", 1).exit_code == 0
    assert said(tmp_path / "out") == said(tmp_path / "in") and "B" in said(tmp_path / "in").upper()
    text = (tmp_path / "out/app.py").read_text()
    (tmp_path / "out/app.py").write_text(
        text[: text.index("class B(A)")] + text[text.index("class C(B)") :].split("\n\n\n", 1)[1]
    )
    rows = verify.run(
        tmp_path / "in", tmp_path / "out", [], facts_yaml=tmp_path / "facts.yaml", jobs=1, checks=("fold",)
    )
    assert [row.result for row in rows] == ["refuted"]
    assert "may be listed as a subclass" in "\n".join(rows[0].details)
