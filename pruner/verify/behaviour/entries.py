"""Entry points of the two trees' metadata: nothing but the tree's own text is read.

Blind to entry points that a build backend computes.
"""

from __future__ import annotations

import configparser
import tomllib
from collections import Counter
from pathlib import Path

METADATA = ("*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt")


def _declared(root: Path) -> dict[str, str]:
    """``group/name`` to target; a tree without metadata declares nothing."""
    found: dict[str, str] = {}
    for pattern in METADATA:
        for path in sorted(root.glob(pattern)):
            parser = configparser.ConfigParser(delimiters=("=",))
            parser.optionxform = str  # type: ignore[assignment, method-assign]
            parser.read_string(path.read_text(encoding="utf-8"))
            found.update(
                {f"{group}/{name}": target for group in parser.sections() for name, target in parser[group].items()}
            )
    return found


def _scripts(root: Path) -> dict[str, str]:
    path = root / "pyproject.toml"
    if not path.is_file():
        return {}
    project = tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    rows = {f"console_scripts/{name}": str(target) for name, target in project.get("scripts", {}).items()}
    for group, entries in project.get("entry-points", {}).items():
        rows.update({f"{group}/{name}": str(target) for name, target in entries.items()})
    return rows


def entry_points(upstream: Path, output: Path, counts: Counter[str]) -> list[str]:
    """Problems: upstream's entry points that the output's metadata does not declare alike."""
    before = _declared(upstream) or _scripts(upstream)
    problems = []
    for where, after in (("entry_points.txt", _declared(output)), ("pyproject.toml", _scripts(output))):
        if not after and where == "entry_points.txt" and not _declared(upstream):
            continue
        problems += [
            f"entry point {name} ({where}): {after.get(name, 'lost')}, upstream {target}"
            for name, target in sorted(before.items())
            if after.get(name) != target
        ]
        problems += [f"entry point {name} ({where}): upstream has none" for name in sorted(set(after) - set(before))]
    counts["entry points"] += len(before)
    return problems
