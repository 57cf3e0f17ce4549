"""Part of the check ``native``: a kept ``Cargo.toml`` finds what it lists.

Cargo refuses a whole manifest of which one target has no file, so a benchmark that went keeps the program from being
built. Blind to modules that Rust sources name (``mod x;``), to build scripts, and to members by pattern.
"""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from pruner.verify.tree import Tree

NAME = "Cargo.toml"
_HOMES = {"bin": "src/bin", "example": "examples", "test": "tests", "bench": "benches"}
_NEEDS = ("dependencies", "dev-dependencies", "build-dependencies")


def lost_targets(up: Tree, out: Tree) -> Iterator[str]:
    """What kept manifests list, what was there upstream, and what is gone."""
    for path in sorted(out.files.keys() & up.files.keys()):
        if path.rpartition("/")[2] != NAME or out.files[path] is not None:
            continue
        try:
            manifest = tomllib.loads(out.read(path).decode())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            continue
        folder = path.rpartition("/")[0]
        for what, places in _listed(manifest):
            found = [posixpath.normpath(posixpath.join(folder, place)) for place in places]
            there = [place for place in found if place in up.files]
            if there and not any(place in out.files for place in found):
                yield f"{path}:1: lists the {what}, whose file {there[0]} is gone"


def _listed(manifest: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Each target, member and local dependency with the places where cargo looks for it."""
    for kind, home in _HOMES.items():
        for row in manifest.get(kind, ()):
            name = row.get("name", "")
            given = row.get("path")
            yield f"{kind} {name}", [given] if given else [f"{home}/{name}.rs", f"{home}/{name}/main.rs"]
    for member in manifest.get("workspace", {}).get("members", ()):
        yield f"member {member}", [f"{member}/{NAME}"]
    for key in _NEEDS:
        for name, row in manifest.get(key, {}).items():
            if isinstance(row, dict) and "path" in row:
                yield f"dependency {name}", [f"{row['path']}/{NAME}"]
