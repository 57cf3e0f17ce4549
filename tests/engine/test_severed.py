"""Why nothing reaches what is gone: ``prune why-not`` goes on to the fact or the dynamic rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner.pipeline import RunOptions, run
from pruner.pipeline.answers import Answers

FILES = {
    "app.py": "from plat import is_hip\nfrom tools import far, near\n\n\ndef main(x):\n    if is_hip():\n        return far(x)\n    return near(x)\n",
    "plat.py": "def is_hip():\n    return probe()\n",
    "tools.py": "def far(x):\n    from deep import down\n\n    return farther(down(x))\n\n\ndef farther(x):\n    return x\n\n\ndef near(x):\n    return x\n\n\ndef nobody():\n    return 1\n",
    "deep.py": "import deeper\n\n\ndef down(x):\n    return deeper.X\n",
    "deeper.py": "X = 1\n",
    "models/__init__.py": "import importlib\n\n\ndef load(name):\n    return importlib.import_module(f'models.{name}')\n",
    "models/one.py": "A = 1\n",
    "models/two.py": "A = 2\n",
}  # fmt: skip
RULES = """\
rules:
  - {id: start, because: It starts., root: [app, models]}
  - {id: no-hip, because: There is none., assume: {plat.is_hip(): false}}
  - {id: some-models, because: Only one is built., dynamic: {package: models, members: [one], site: models}}
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    place = tmp_path_factory.mktemp("severed")
    for name, text in FILES.items():
        (place / "up" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "up" / name).write_text(text)
    (place / "rules.yaml").write_text(RULES)
    options = RunOptions(
        (place / "rules.yaml",), place / "up", place / "out", place / "reports", 1, False, True, Path()
    )
    result = run(options, lambda _stage, _share: None)
    assert result.exit_code == 0, result.findings
    return Answers(place / "reports")


@pytest.mark.parametrize(
    ("name", "users"),
    [
        ("tools.far", ["import far", "branch"]),
        ("tools.farther", ["function tools.far", "import far", "branch"]),
        ("deep", ["function tools.far", "import far", "branch"]),
        ("deeper", ["file", "function tools.far", "import far", "branch"]),
    ],
)
def test_the_way_to_the_fact(answers: Answers, name: str, users: list[str]) -> None:
    found = answers.why_not(name)
    assert found.status == "removed"
    way = [line.split(": ", 1)[1].split(" removed")[0] for line in found.lines[1:] if line.startswith("  used by ")]
    assert [step.split(" deep.py")[0] for step in way] == users
    assert "(fact): no-hip (rules.yaml:3): There is none." in found.lines[-1]


def test_the_rule_of_a_walked_package(answers: Answers) -> None:
    found = answers.why_not("models.two")
    assert found.lines[-1] == "  by rule some-models (rules.yaml:4): models yields only what this rule lists"


def test_what_nobody_used_has_no_way(answers: Answers) -> None:
    assert len(answers.why_not("tools.nobody").lines) == 1
