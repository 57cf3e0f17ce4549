"""Programs from ``tests/engine/programs``: whatever is removed, the rest does what it did.

Each file holds programs: ``=== name``, then options (``driver:``, ``roots:``, ``drop:``, ``fact:``),
then the files, each under ``--- path``. ``plat.py`` comes along.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.program import FACTS, prune, same_behaviour

FOLDER = Path(__file__).parent / "programs"


def programs() -> Iterator[Any]:
    """Every program of every file, as pytest parameters."""
    for path in sorted(FOLDER.glob("*.txt")):
        head, *parts = path.read_text(encoding="utf-8").split("=== ")
        roots = head.split("roots:")[1].split() if "roots:" in head else ["app"]
        for part in parts:
            name, _, rest = part.partition("\n")
            options, *files = rest.split("--- ")
            tree = {}
            for file in files:
                where, _, text = file.partition("\n")
                tree[where.strip()] = text.strip("\n") + "\n" if text.strip() else ""
            yield pytest.param(options, tree, roots, id=f"{path.stem}: {name}")


@pytest.mark.parametrize(("options", "files", "roots"), list(programs()))
@pytest.mark.filterwarnings("ignore")
def test_the_output_does_the_same(options: str, files: dict[str, str], roots: list[str]) -> None:
    driver, drop, facts = "import app; RESULT = app.f()", [], {}
    for line in options.splitlines():
        key, _, value = line.partition(": ")
        if key == "driver":
            driver = value
        elif key == "roots":
            roots = value.split()
        elif key == "drop":
            drop.append(value)
        elif key == "fact":
            subject, _, constant = value.rpartition(" = ")
            facts[subject] = json.loads(constant)
    same_behaviour(prune(files, roots=roots, drop=drop, facts=facts or FACTS), driver)
