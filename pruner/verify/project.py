"""The project file of a wheel's tree, part of the check ``tokens``: it says what upstream's metadata says, and installs the tree.

A requirement may be missing when upstream's code imports it, and no kept file does or asks for it by name. Blind to
packages that are imported under a name that is put together.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as BadConfig
from email.message import Message
from email.parser import Parser
from fnmatch import fnmatchcase
from typing import Any

from pruner.verify.tree import Tree
from pruner.verify.wholefiles import is_guard_file

NAME = "pyproject.toml"
# Of those that are imported by another name, the usual ones.
_IMPORTS = {
    "apache-tvm-ffi": "tvm_ffi",
    "cuda-python": "cuda",
    "decord2": "decord",
    "flash-attn-4": "flash_attn",
    "flashinfer-python": "flashinfer",
    "humming-kernels": "humming",
    "ipython": "IPython",
    "nvidia-cutlass-dsl": "cutlass",
    "nvidia-ml-py": "pynvml",
    "pillow": "PIL",
    "pyyaml": "yaml",
    "pyzmq": "zmq",
    "quack-kernels": "quack",
    "sgl-deep-gemm": "deep_gemm",
    "sglang-kernel": "sgl_kernel",
}
# Packages that others use where they are there, without asking for them: forms of fastapi, vocabularies of transformers, builds.
_SERVING = frozenset({"ninja", "python-multipart", "sentencepiece"})
# Extras of upstream's that a project file leaves out: they speak of packages that only what is gone imported.
_EXTRAS = frozenset({"diffusion", "test", "all", "dev"})
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_BUILD = {"requires": ["setuptools>=61"], "build-backend": "setuptools.build_meta"}
_KEYS = {
    "name",
    "version",
    "requires-python",
    "license",
    "dependencies",
    "optional-dependencies",
    "scripts",
    "entry-points",
}


def problems(up: Tree, out: Tree, info: str) -> Iterator[str]:
    """All of them; ``info`` is the path of the wheel's metadata."""
    header = Parser().parsestr(up.read(info).decode("utf-8", "replace"))
    try:
        said = tomllib.loads(out.read(NAME).decode())
        project = said["project"]
        for key, name in (("name", "Name"), ("version", "Version"), ("requires-python", "Requires-Python")):
            if header[name] and project[key] != header[name]:
                yield f"{key} is {project[key]!r}, and upstream's is {header[name]!r}"
        if more := sorted((project.keys() - _KEYS) | (said.keys() - {"build-system", "project", "tool"})):
            yield f"says {', '.join(more)}, which no run writes"
        if project.get("license") != ({"file": "LICENSE"} if "LICENSE" in out.files else None):
            yield "its licence is not upstream's"
        yield from _requirements(up, out, header, project)
        yield from _extras(header, project)
        yield from _entry_points(up, info, project)
        yield from _installed(out, said, _platform(up, out, info))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        yield f"this is not what a run writes: {type(error).__name__} {error}"


# -- requirements ----------------------------------------------------------------------------------


def _requirements(up: Tree, out: Tree, header: Message, project: Mapping[str, Any]) -> Iterator[str]:
    plain = [row for row in _asked(header) if not _EXTRA.search(row)]
    for row in project["dependencies"]:
        if row not in plain:
            yield f"requires {row}, which upstream does not"
    gone = {row: _imported_as(row) for row in plain if row not in project["dependencies"]}
    if len(project["dependencies"]) + len(gone) != len(plain):
        yield "requires something twice"
    names = set(gone.values())
    here = _naming(names, ((path, out.read(path)) for path in _python(out) if not is_guard_file(path, up)))
    lost = (path for path in _python(up) if path not in out.files or up.read(path) != out.read(path))
    there = _naming(names - here.keys(), ((path, up.read(path)) for path in lost))
    for row, name in gone.items():
        if name in here:
            yield f"does not require {row}, which {here[name]} names"
        elif name not in there:
            yield f"does not require {row}, which nothing of what is gone imported"
        elif _normal(row) in _SERVING:
            yield f"does not require {row}, which other packages use"


def _asked(header: Message) -> list[str]:
    return [str(row) for row in header.get_all("Requires-Dist", [])]


def _python(tree: Tree) -> list[str]:
    return sorted(path for path in tree.files if path.endswith(".py") and tree.files[path] is None)


# One expression for two words takes six times as long.
_STATEMENTS = (re.compile(rb"import[ \t]+([\w., \t]+)"), re.compile(rb"from[ \t]+(\w+)"))
_ASKING = tuple(
    (word, re.compile(word + rb"\w*\(\s*[\"']([A-Za-z_]\w*)[\"'.]"))
    for word in (b"import_module", b"__import__", b"find_spec", b"vailable", b"nstalled")
)


def _naming(names: set[str], files: Iterable[tuple[str, bytes]]) -> dict[str, str]:
    """Those of the names that a file imports, or hands to something that imports or looks for it -> the first such file."""
    found: dict[str, str] = {}
    left = {name.encode(): name for name in names}
    seen: set[bytes] = set()  # most statements are those of another file too
    for path, data in files if left else ():
        rows = {row for shape in _STATEMENTS for row in shape.findall(data)} - seen
        seen |= rows
        words = set(re.findall(rb"\w+", b",".join(rows)))
        for word, call in _ASKING:
            if word in data:
                words.update(call.findall(data))
        for word in words & left.keys():
            found[left.pop(word)] = path
        if not left:
            break
    return found


def _imported_as(requirement: str) -> str:
    name = _normal(requirement)
    return _IMPORTS.get(name, name.replace("-", "_"))


def _normal(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", found[0].lower()) if found else ""


def _extras(header: Message, project: Mapping[str, Any]) -> Iterator[str]:
    wanted: dict[str, list[str]] = {}
    for row in _asked(header):
        found = _EXTRA.search(row)
        if found is not None and found[1] not in _EXTRAS:
            wanted.setdefault(found[1], []).append(_bare(row))
    told = {extra: list(map(_bare, rows)) for extra, rows in project.get("optional-dependencies", {}).items()}
    if told != wanted:
        names = sorted(name for name in told.keys() | wanted.keys() if told.get(name) != wanted.get(name))
        yield f"the extras {', '.join(names)} are not upstream's"


def _bare(requirement: str) -> str:
    """A requirement in words, without its extra and what joins that to the rest of the condition."""
    rest = _EXTRA.sub("", requirement)
    rest = re.sub(r"\(\s*\)", "", rest)
    rest = re.sub(r"\band\s*(?=\)|$)|(?<=[;(])\s*and\b", "", rest.strip())
    return re.sub(r"[\s()]+", " ", rest.strip().rstrip(";")).strip()


# -- what is installed -----------------------------------------------------------------------------


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


def _platform(up: Tree, out: Tree, info: str) -> dict[str, Any]:
    """What the wheel of a tree with compiled modules is for, when upstream's is not for every host."""
    path = f"{info.rpartition('/')[0]}/WHEEL"
    tag = re.search(rb"^Tag:\s*([\w.]+)-([\w.]+)-([\w.]+)", up.read(path), re.M) if path in up.files else None
    if tag is None or tag[3] == b"any" or not any(name.endswith(".so") for name in out.files):
        return {}
    python = tag[1].decode()
    python = f"py{python[2:]}" if tag[2] == b"abi3" else python
    return {"distutils": {"bdist_wheel": {"python-tag": python, "plat-name": tag[3].decode()}}}


def _installed(out: Tree, said: Mapping[str, Any], platform: Mapping[str, Any]) -> Iterator[str]:
    """Every package of the tree, with all data in it, in a wheel for upstream's platform."""
    if said["build-system"] != _BUILD:
        yield "it is built otherwise than a run says"
    include = said["tool"]["setuptools"]["packages"]["find"]["include"]
    packages = {"find": {"include": include, "namespaces": True}}
    tool = {"setuptools": {"packages": packages, "package-data": {"*": ["**/*", "**/.*"]}}, **platform}
    for name in sorted(tool.keys() | said["tool"].keys()):
        if said["tool"].get(name) != tool.get(name):
            yield f"tool.{name} is not what a run says"
    left = sorted(name for name in out.packages if not any(fnmatchcase(name, glob) for glob in include))
    if left:
        yield f"the package {left[0]} is not installed" + (f", nor are {len(left) - 1} more" if len(left) > 1 else "")
