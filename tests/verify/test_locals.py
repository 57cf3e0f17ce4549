"""Imports in a function that hands out what it binds stay: ``"{X}".format(**locals())``; their loss is refuted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.program import prune, same_behaviour
from tests.verify.wrong import RULES, Case

HOME = "X = 1\n"
HAND = {
    "a name": "    return '{X}'.format(**locals())\n",
    "vars": "    return '{X}'.format_map(vars())\n",
    "a dictionary": "    d = {}\n    d.update(locals())\n    return d['X']\n",
    "a list": "    return dir()\n",
    "behind a test": "    if is_hip():\n        return X\n    return sorted(locals())\n",
    "code": "    return eval('X')\n",
}


@pytest.mark.parametrize("name", HAND)
def test_what_a_function_hands_out(name: str, tmp_path: Path) -> None:
    """The import went in silence: nothing read its name."""
    files = {
        "app.py": f"from plat import is_hip\n\n\ndef f():\n    from home import X\n\n{HAND[name]}",
        "home.py": HOME,
    }
    same_behaviour(prune(files), "import app; RESULT = app.f()")
    case = Case(tmp_path, files, RULES)
    assert "fold" in case.wrong("app.py", "    from home import X\n\n", "")


def test_what_hands_out_nothing_of_the_function(tmp_path: Path) -> None:
    text = "from plat import is_hip\n\n\ndef f(x):\n    from home import X\n\n    if is_hip():\n        return X\n    return vars(x), dir(x)\n"
    case = Case(tmp_path, {"app.py": text, "home.py": HOME}, RULES)
    assert "import X" not in case.text("app.py")
