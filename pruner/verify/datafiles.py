"""Files that are no Python, part of the check ``tokens``: bytes, modes and what is gone.

A data file may go by a ``path:`` rule, or with every module of the nearest folder around it that had some. Blind to the
text of the launch kit and of the pages that a run writes, and to data that code names by parts. The project file of a wheel
is for :mod:`pruner.verify.project`.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase

from pruner.verify import project
from pruner.verify.native import NATIVE
from pruner.verify.ops import CMAKE
from pruner.verify.rules import Stated
from pruner.verify.tree import Tree, module_of
from pruner.verify.wholefiles import is_guard_file

_INFO = re.compile(r"[^/]+\.dist-info/METADATA\Z")


def problems(up: Tree, out: Tree, stated: Stated) -> Iterator[str]:
    """Everything that this module asks."""
    wheel = sorted(path for path in up.files if _INFO.match(path))
    ours = (
        {project.NAME, "NOTICE", "LICENSE"} if wheel else {"README.md", "NOTICE"} if "README.md" in up.files else set()
    )
    yield from _changed(up, out, ours)
    yield from _modes(up, out)
    yield from _gone(up, out, stated, ours)
    if wheel and project.NAME in out.files:
        yield from (f"{project.NAME}:1: {text}" for text in project.problems(up, out, wheel[0]))
        licence = f"{wheel[0].rpartition('/')[0]}/licenses/LICENSE"
        if licence in up.files and ("LICENSE" not in out.files or out.read("LICENSE") != up.read(licence)):
            yield "LICENSE:1: this is not upstream's"


def _changed(up: Tree, out: Tree, ours: set[str]) -> Iterator[str]:
    """Files that are neither Python nor sources (the check ``native``) and whose bytes changed."""
    for path in sorted(out.files.keys() & up.files.keys()):
        if path.endswith(".py") or NATIVE.search(path) or CMAKE.search(path) or path in ours:
            continue
        if up.files[path] is None and out.files[path] is None and up.read(path) != out.read(path):
            yield f"{path}:1: a data file changed"


def _modes(up: Tree, out: Tree) -> Iterator[str]:
    """A file that its owner may run stays one, and no other becomes one."""
    for path in sorted(out.files.keys() & up.files.keys()):
        if up.files[path] is None and out.files[path] is None:
            before, after = ((tree.root / path).stat().st_mode & stat.S_IXUSR for tree in (up, out))
            if before != after:
                yield f"{path}:1: {'may be run, and could not upstream' if after else 'may not be run any more'}"


def _gone(up: Tree, out: Tree, stated: Stated, ours: set[str]) -> Iterator[str]:
    drops = [text[5:].strip() for _, text in stated.drops if text.startswith("path:")]
    keeps = [text[5:].strip() for _, text in (*stated.keeps, *stated.roots) if text.startswith("path:")]
    firm = [text[5:].strip() for _, text in stated.keeps if text.startswith("path:")]
    had, left = _folders(up), _folders(out)
    with_code = []
    for path in sorted(up.files.keys() - out.files.keys()):
        if path in ours and up.files[path] is None:
            continue
        if any(fnmatchcase(path, glob) for glob in firm):
            yield f"{path}: gone, and a keep rule names it"
        elif path.endswith(".py") or NATIVE.search(path) or any(fnmatchcase(path, glob) for glob in drops):
            continue
        elif any(fnmatchcase(path, glob) for glob in keeps):
            yield f"{path}: gone, and a root rule names it"
        else:
            home = _home(path, had)
            if not home:
                yield f"{path}: this data is gone, and no rule takes it"
            elif any(folder == home or folder.startswith(f"{home}/") for folder in left):
                yield f"{path}: this data is gone, no rule takes it, and modules around it are kept"
            else:
                with_code.append(path)
    texts = [] if not with_code else [p for p in out.files if p.endswith(".py") and not is_guard_file(p, up)]
    for path in with_code:  # open("data/words.txt") in what is kept
        name = "/".join(path.split("/")[-2:]).encode()
        for text in sorted(texts):
            if name in out.read(text):
                yield f"{path}: this data is gone with the modules around it, and {text} names it"
                break


def _folders(tree: Tree) -> set[str]:
    """Folders that hold modules."""
    return {path.rpartition("/")[0] for path in tree.files if module_of(path, tree.python_root) is not None}


def _home(path: str, had: set[str]) -> str:
    """The nearest folder around a file in which upstream has modules; "" for none but the top."""
    folder = path.rpartition("/")[0]
    while folder and folder not in had:
        folder = folder.rpartition("/")[0]
    return folder
