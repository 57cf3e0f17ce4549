"""Globals that something stores into by way of the module as an object: no fact decides them, however it is spelt."""

from __future__ import annotations

import pytest

from tests.engine.program import prune
from tests.verify.test_replaced import CALL, ELSEWHERE, FLAG, HOME, OWN

UNSEEN = {"comprehension", "dictionary or"}  # by the engine; the checks refuse such a tree
PLACES = [
    *((f"own {key}", text, "") for key, text in OWN.items()),
    *((f"elsewhere {key}", "", text) for key, text in ELSEWHERE.items()),
]


@pytest.mark.parametrize(("where", "own", "elsewhere"), PLACES, ids=[row[0] for row in PLACES])
@pytest.mark.parametrize(("name", "app"), [("FLAG", FLAG), ("on", CALL)], ids=["variable", "function"])
def test_what_is_stored_into_another_module_decides_nothing(
    name: str, app: str, where: str, own: str, elsewhere: str
) -> None:
    """``m = home`` and ``m.FLAG = True``, ``T["a"].FLAG = True``, ``sys.modules["home"].FLAG = True`` folded, and the run was refuted."""
    files = {
        "home.py": HOME + own.replace("NAME", name),
        "app.py": app + elsewhere.replace("NAME", name),
        "other.py": f"{name} = len\n",
        "plat.py": "def is_hip():\n    return False\n",
    }
    folded = b"return 1" not in prune(files, plat=False).files["app.py"]
    assert folded == (where.removeprefix("elsewhere ") in UNSEEN)


def test_what_no_module_is_stored_into_decides() -> None:
    """An object has the attribute, and the file comes by no module as an object."""
    text = "\n\nclass X:\n    pass\n\n\nx = X()\nx.FLAG = x.on = len\nfor y in (x,):\n    y.FLAG = len\n"
    files = {"home.py": HOME, "app.py": FLAG + text, "plat.py": "def is_hip():\n    return False\n"}
    assert b"return 1" not in prune(files, plat=False).files["app.py"]
