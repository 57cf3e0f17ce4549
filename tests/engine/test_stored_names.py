"""``setattr`` with a built name: it reads nothing, but a property of the name has a setter."""

from __future__ import annotations

from tests.engine.program import prune, same_behaviour

KINDS = """\
class Kind:
    seen = ()

    def _size(self):
        return "gone"

    @property
    def _level(self):
        return self.level

    @_level.setter
    def _level(self, value):
        self.level = value
"""


def test_a_store_keeps_properties_alone() -> None:
    app = "from kinds import Kind\n\n\ndef f(name):\n    kind = Kind()\n    setattr(kind, f'_{name}', 2)\n    return vars(kind)\n"
    pruned = prune({"app.py": app, "kinds.py": KINDS})
    same_behaviour(pruned, "import app\nRESULT = [app.f('level'), app.f('other')]")
    assert "gone" not in pruned["kinds.py"] and "_level.setter" in pruned["kinds.py"]


def test_a_read_keeps_methods() -> None:
    for read in ("getattr(kind, f'_{name}')()", "getattr(kind, key)()"):
        app = (
            "from kinds import Kind\n\n\ndef f(name):\n    kind = Kind()\n    key = f'_{name}'\n"
            f"    setattr(kind, f'_{{name}}x', 2)\n    return {read}\n"
        )
        pruned = prune({"app.py": app, "kinds.py": KINDS})
        same_behaviour(pruned, "import app\nRESULT = app.f('size')")
        assert "gone" in pruned["kinds.py"]


def test_the_same_text_may_be_read_elsewhere() -> None:
    app = (
        "from kinds import Kind\n\n\ndef f(name):\n    kind = Kind()\n    key = f'_{name}'\n"
        "    setattr(Kind(), f'_{name}', 2)\n    return getattr(kind, key)()\n"
    )
    pruned = prune({"app.py": app, "kinds.py": KINDS})
    same_behaviour(pruned, "import app\nRESULT = app.f('size')")
    assert "gone" in pruned["kinds.py"]
