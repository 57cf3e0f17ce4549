"""Files that are no Python, part of the check ``tokens``: bytes, modes, what is gone, and the project file of a wheel.

A data file may go by a ``path:`` rule, or with every module of the nearest folder around it that had some. Blind to the
text of the launch kit and of the pages that a run writes, and to data that code names by parts.
"""

from __future__ import annotations

import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as BadConfig
from email.message import Message
from email.parser import Parser
from fnmatch import fnmatchcase
from typing import Any

from pruner.verify.native import NATIVE
from pruner.verify.ops import CMAKE
from pruner.verify.rules import Stated
from pruner.verify.tree import Tree, module_of
from pruner.verify.wholefiles import is_guard_file

PROJECT = "pyproject.toml"
_IMPORT = re.compile(rb"^[ \t]*(?:import|from)[ \t]+(\w+)", re.M)
# Of those that are imported by another name, the usual ones.
_IMPORTS = {
    "pillow": "pil",
    "pyzmq": "zmq",
    "nvidia-ml-py": "pynvml",
    "pyyaml": "yaml",
    "nvidia-cutlass-dsl": "cutlass",
}
_INFO = re.compile(r"[^/]+\.dist-info/METADATA\Z")
# Extras of upstream's that a project file leaves out: they speak of packages that only what is gone imported.
_EXTRAS = frozenset({"diffusion", "test", "all", "dev"})


def problems(up: Tree, out: Tree, stated: Stated) -> Iterator[str]:
    """Everything that this module asks."""
    wheel = sorted(path for path in up.files if _INFO.match(path))
    ours = {PROJECT, "NOTICE", "LICENSE"} if wheel else {"README.md", "NOTICE"} if "README.md" in up.files else set()
    yield from _changed(up, out, ours)
    yield from _modes(up, out)
    yield from _gone(up, out, stated, ours)
    if wheel and PROJECT in out.files:
        yield from (f"{PROJECT}:1: {text}" for text in _project(up, out, wheel[0]))
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


# -- the project file ------------------------------------------------------------------------------


def _project(up: Tree, out: Tree, info: str) -> Iterator[str]:
    """A wheel's metadata, less requirements that no kept text speaks of."""
    header = Parser().parsestr(up.read(info).decode("utf-8", "replace"))
    try:
        said = tomllib.loads(out.read(PROJECT).decode())
        project = said["project"]
        for key, name in (("name", "Name"), ("version", "Version"), ("requires-python", "Requires-Python")):
            if header[name] and project[key] != header[name]:
                yield f"{key} is {project[key]!r}, and upstream's is {header[name]!r}"
        yield from _requirements(up, out, header, project)
        yield from _entry_points(up, info, project)
        if not any(_has_package(pattern, out) for pattern in said["tool"]["setuptools"]["packages"]["find"]["include"]):
            yield "no package of the tree is installed"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        yield f"this is not what a run writes: {type(error).__name__} {error}"


def _requirements(up: Tree, out: Tree, header: Message, project: Mapping[str, Any]) -> Iterator[str]:
    asked = [str(row) for row in header.get_all("Requires-Dist", [])]
    plain = [row for row in asked if "extra ==" not in row]
    for row in project["dependencies"]:
        if row not in plain:
            yield f"requires {row}, which upstream does not"
    gone = {row: _name(row) for row in plain if row not in project["dependencies"]}
    if len(project["dependencies"]) + len(gone) != len(plain):
        yield "requires something twice"
    imported = _imported(up, out) if gone else set()
    for row, name in gone.items():
        if {name.replace("-", "_"), _IMPORTS.get(name, "")} & imported:
            yield f"does not require {row}, which kept code imports"
    extras: dict[str, int] = {}
    for row in asked:
        found = re.search(r"""extra == ["']([^"']+)["']""", row)
        if found is not None and found[1] not in _EXTRAS:
            extras[found[1]] = extras.get(found[1], 0) + 1
    told = {extra: len(rows) for extra, rows in project.get("optional-dependencies", {}).items()}
    if told != extras:
        yield f"has the extras {', '.join(sorted(told))}, and upstream {', '.join(sorted(extras))}"


def _imported(up: Tree, out: Tree) -> set[str]:
    """First names of what kept files import, in small letters."""
    found: set[bytes] = set()
    for path in out.files:
        if path.endswith(".py") and not is_guard_file(path, up):
            found.update(_IMPORT.findall(out.read(path)))
    return {name.decode().lower() for name in found}


def _name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", found[0].lower()) if found else ""


def _entry_points(up: Tree, info: str, project: Mapping[str, Any]) -> Iterator[str]:
    path = f"{info.rpartition('/')[0]}/entry_points.txt"
    parser = ConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(up.read(path).decode("utf-8") if path in up.files else "")
    except (BadConfig, UnicodeDecodeError):
        return
    wanted = {section: dict(parser[section]) for section in parser.sections()}
    told = dict(project.get("entry-points", {}))
    if "scripts" in project:
        told["console_scripts"] = project["scripts"]
    if told != wanted:
        yield "its entry points are not upstream's"


def _has_package(pattern: str, out: Tree) -> bool:
    return any(fnmatchcase(name, pattern) for name in out.packages)
