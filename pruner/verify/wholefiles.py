"""Files as wholes, part of the check ``tokens``: additions, links, copies. Data is for :mod:`pruner.verify.datafiles`.

Blind to what a file that is no Python means.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pruner.verify.tree import Tree

ADDED = re.compile(
    r"(?:PRUNED\.json|pyproject\.toml|setup\.(?:py|cfg)|(?:LICENSE|NOTICE|README|COPYING|MANIFEST)[\w.-]*|\.gitattributes|\.gitkeep)\Z",
    re.I,
)
# The launch kit: scripts, manifests and a page, nothing that Python imports.
LAUNCH = re.compile(r"launch/(?:[\w-]+\.(?:sh|sbatch|yaml|md)|Dockerfile)\Z")
GUARD_FILE = "_prune_guard.py"


def is_guard_file(path: str, up: Tree) -> bool:
    """Is this the module that the pruning adds?"""
    return path.rpartition("/")[2] == GUARD_FILE and path not in up.files


def additions(up: Tree, out: Tree) -> Iterable[str]:
    """Files that upstream does not have and that no build of ours may add."""
    for path in sorted(out.files.keys() - up.files.keys() - up.odd.keys()):
        name = path.rpartition("/")[2]
        if name == GUARD_FILE or ("/" not in path and ADDED.match(name)):
            continue
        if LAUNCH.match(path) or (ADDED.match(name) and not path.endswith(".py")):
            continue
        made = path.startswith("build/") or path.partition("/")[0].endswith(".egg-info")
        advice = "; an installer that built here left it: remove build/ and the .egg-info folder" if made else ""
        yield f"{path}:1: this file is not in upstream{advice}"


def links(up: Tree, out: Tree) -> Iterable[str]:
    """A symbolic link stays one to the same place, or becomes a copy of what its target is now."""
    for path in sorted(out.odd):
        if up.odd.get(path) != out.odd[path]:
            yield f"{path}:1: {'a link that leads to no file' if out.odd[path] else 'this is no file'}"
    for path in sorted(up.odd.keys() & out.files.keys()):
        yield f"{path}:1: upstream has a link here that leads to no file"
    for path in sorted(out.files.keys() & up.files.keys()):
        before, after = up.files[path], out.files[path]
        if before is None and after is not None:
            yield f"{path}:1: a file became a link"
        elif before is not None and after is not None and before != after:
            yield f"{path}:1: the link points elsewhere"
        elif before is not None and after is None:
            target = _target(path, before)
            if target not in out.files or out.read(path) != out.read(target):
                yield f"{path}:1: the copy that replaced a link differs from its target {target}"


def twins(up: Tree, out: Tree, changed: set[str]) -> Iterable[str]:
    """Two files of one folder with the same text upstream, of which one was edited and one was not.

    Archives that know no links hold such copies in their place. The facts hold for both.
    """
    folders: dict[str, list[str]] = {}
    for path in sorted(changed):
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    for path in sorted(out.files.keys() & up.files.keys()):
        folder = path.rpartition("/")[0]
        if path in changed or not path.endswith(".py") or folder not in folders or out.files[path] is not None:
            continue
        size = (up.root / path).stat().st_size
        for other in folders[folder]:
            if size and (up.root / other).stat().st_size == size and up.read(other) == up.read(path):
                yield f"{path}:1: the same text as {other} upstream, but only the other was edited"
                break


def _target(path: str, link: str) -> str:
    parts = path.split("/")[:-1]
    for part in link.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)
