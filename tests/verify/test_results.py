"""What a function returns is known although it does something on its way; the call itself stays then."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner import verify

RULES = """\
rules:
  - {id: t.root, because: It starts here., root: [app]}
  - {id: t.never, because: It is never fast., optional: true, assume: {algo.Algo.fast(): false}}
"""
ALGO = "class Algo:\n    @classmethod\n    def make(cls, name):\n        print(name)\n        return cls()\n"
UTIL = "from algo import Algo\n\n\ndef decide(name):\n    algo = Algo.make(name)\n"
APP = "from util import decide\n\n\nclass Box:\n    def fill(self, name):\n        needs = decide(name)\n"


@pytest.mark.parametrize(
    ("kept", "answer"), [("        needs = decide(name)\n", "passed"), ("", "refuted")], ids=["call kept", "call lost"]
)
def test_the_value_folds_and_the_call_stays(kept: str, answer: str, tmp_path: Path) -> None:
    upstream, out = tmp_path / "in", tmp_path / "out"
    for folder in (upstream, out):
        folder.mkdir()
    fast = "\n    def fast(self):\n        return True\n"
    (upstream / "algo.py").write_text(ALGO + fast)
    (upstream / "util.py").write_text(UTIL + "    if not algo.fast():\n        return False\n    return name == 'x'\n")
    (upstream / "app.py").write_text(APP + "        self.x = 1\n        if needs:\n            self.x = 2\n")
    (out / "algo.py").write_text(ALGO)
    (out / "util.py").write_text(UTIL + "    return False\n")
    (out / "app.py").write_text(APP.replace("        needs = decide(name)\n", kept) + "        self.x = 1\n")
    (tmp_path / "rules.yaml").write_text(RULES)
    (verdict,) = verify.run(upstream, out, [tmp_path / "rules.yaml"], python_root="", jobs=1, checks=("fold",))
    assert verdict.result == answer, verdict.details


SPECS = """\
rules:
  - {id: t.root, because: It starts here., root: [app]}
  - {id: t.spec, because: These are all., assume: {app.Chat.spec: [null, b]}}
"""
CHAT = """\
from ask import owns


class Chat:
    def __init__(self, spec):
        self._spec = spec

    @property
    def spec(self):
        return self._spec

    def answer(self):
        if self.spec is not None:
            return owns(self.spec)
        return 1
"""
ASKED = {
    "spec == 'k'": False,
    "spec in ('k', 'l')": False,
    "spec != 'k'": True,
    "spec not in ('k', 'l')": True,
    "spec in ('k', 'b')": None,
    "spec is not None": None,
}


@pytest.mark.parametrize("test", ASKED)
@pytest.mark.parametrize("said", ["True", "False", ""])
def test_an_argument_that_is_one_of_several_values_decides_a_call(test: str, said: str, tmp_path: Path) -> None:
    """``owns(self.spec)``, whose answer is the same for every value that the rules leave the attribute."""
    upstream, out = tmp_path / "in", tmp_path / "out"
    for folder in (upstream, out):
        folder.mkdir()
        (folder / "ask.py").write_text(f"def owns(spec):\n    return {test}\n")
    (upstream / "app.py").write_text(CHAT)
    (out / "app.py").write_text(CHAT.replace("owns(self.spec)", said) if said else CHAT)
    if said:
        (out / "app.py").write_text((out / "app.py").read_text().replace("from ask import owns\n\n\n", ""))
        (out / "ask.py").unlink()
    (tmp_path / "rules.yaml").write_text(SPECS)
    (verdict,) = verify.run(upstream, out, [tmp_path / "rules.yaml"], python_root="", jobs=1, checks=("fold",))
    right = not said or str(ASKED[test]) == said
    assert (verdict.result == "passed") == right, verdict.details
