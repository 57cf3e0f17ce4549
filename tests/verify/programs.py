"""Trees for the verifier's tests: the cases' folders as they stand, and planted faults in text files.

A ``good*`` or ``bad*`` folder of a case is a whole tree: what it does not hold is gone. (Each of
them passes or fails its own ``check.py`` alone, with nothing from ``in/`` beside it, so this is the
one reading that fits all of them. Laid over ``in/`` instead, a bad tree whose fault is a missing
file would be a right one.)
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
HERE = Path(__file__).resolve().parent


def case_trees() -> list[tuple[str, Path, Path]]:
    """(name, case folder, tree folder) of every tree of every case, ``in`` included."""
    found = []
    for case in sorted([*TESTS.glob("cases/*"), *TESTS.glob("cases-values/*")]):
        for tree in sorted(case.iterdir()) if case.is_dir() else ():
            if tree.is_dir() and tree.name.startswith(("in", "good", "bad")):
                found.append((f"{case.parent.name}/{case.name}/{tree.name}", case, tree))
    return found


def unseen() -> dict[str, str]:
    """The listed bad trees that no level sees, with the reason."""
    rows = tomllib.loads((HERE / "unseen.toml").read_text("utf-8")).get("unseen", [])
    return {f"{row['case']}/{row['tree']}": row["reason"] for row in rows}


@dataclass(slots=True)
class Planted:
    """One data file: why it matters, which check must refute ``bad``, the files of each tree."""

    name: str
    why: str = ""
    check: str = ""
    says: str = ""
    trees: dict[str, dict[str, str | None]] = field(default_factory=dict)
    facts: str = ""

    def write(self, folder: Path, tree: str) -> Path:
        """Write ``in``, or ``good``/``bad`` laid over ``in``; None is a file that is gone."""
        files = {**self.trees["in"], **(self.trees[tree] if tree != "in" else {})}
        root = folder / tree
        for path, text in files.items():
            if text is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, "utf-8")
        return root


def planted() -> list[Planted]:
    """Every program under ``planted/``."""
    return [read(path) for path in sorted((HERE / "planted").glob("*.txt"))]


def read(path: Path) -> Planted:
    """One data file: ``key: value`` lines, then ``-- tree/path --`` sections."""
    head, *sections = re.split(r"^-- (.+?) --\n", path.read_text("utf-8"), flags=re.M)
    keys = dict(line.partition(": ")[::2] for line in head.splitlines())
    program = Planted(path.stem, keys["why"], keys["refuted by"], keys.get("says", "").strip())
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        if title == "facts.yaml":
            program.facts = text
            continue
        tree, _, name = title.partition("/")
        gone = name.endswith(" (gone)")
        program.trees.setdefault(tree, {})[name.removesuffix(" (gone)")] = None if gone else text
    return program
