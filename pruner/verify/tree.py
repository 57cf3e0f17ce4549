"""A folder of files as the verifier sees it: paths, module names, bytes, links.

Blind to anything that is put on ``sys.path`` beside the tree's python root.
"""

from __future__ import annotations

import ast
import gc
import os
import warnings
from pathlib import Path

REMEMBERED = 2**20  # bytes: a longer file is read anew each time
SKIPPED = frozenset({"__pycache__", ".git", ".mypy_cache", ".ruff_cache", ".pytest_cache"})


def module_of(path: str, python_root: str) -> str | None:
    """The dotted module name of a ``.py`` path (posix, relative to the tree), or None.

    ``a-b.py`` has no name that an import statement could write; it is a script. Packages below another folder
    that is called as the python root is (``sgl-kernel/python/sgl_kernel/x.py``) are modules as well.
    """
    if not path.endswith(".py"):
        return None
    parts = path[:-3].split("/")
    if python_root:
        roots = python_root.split("/")
        at = next((i for i in range(len(parts) - len(roots)) if parts[i : i + len(roots)] == roots), -1)
        if at < 0:
            return None
        parts = parts[at + len(roots) :]
        if at:
            parts = parts[1:] if parts[:1] == ["src"] else parts
            if len(parts) < 2:
                return None
    if parts[-1] == "__init__":
        parts.pop()
    if not parts or not all(part.isidentifier() for part in parts):
        return None
    return ".".join(parts)


class Tree:
    """One folder. Cheap to make: lists the files, reads none."""

    def __init__(self, root: Path, python_root: str = "") -> None:
        self.root = root
        self.python_root = python_root.strip("/")
        self.files: dict[str, str | None] = {}  # path -> link target as written, or None
        self.odd: dict[str, str] = {}  # what cannot be read as a file -> its link target, or ""
        self._list("")
        self._parsed: dict[str, ast.Module | None] = {}
        self._read: dict[str, bytes] = {}
        self.index()

    def index(self) -> None:
        """Name the modules and packages of :attr:`files`."""
        self.modules: dict[str, str] = {}
        prefix = f"{self.python_root}/" if self.python_root else ""
        ranks: dict[str, tuple[bool, bool]] = {}
        for path in self.files:
            name = module_of(path, self.python_root)
            # pkg/__init__.py shadows pkg.py, as the import system has it; the tree's own root is searched first.
            rank = (not path.startswith(prefix), not path.endswith("/__init__.py"))
            if name is not None and (name not in ranks or rank < ranks[name]):
                self.modules[name], ranks[name] = path, rank
        self.packages: set[str] = set()
        for name, path in self.modules.items():
            if path.endswith("__init__.py"):
                self.packages.add(name)
            parent = name.rpartition(".")[0]
            while parent and parent not in self.packages:
                self.packages.add(parent)
                parent = parent.rpartition(".")[0]
        self.tops = {name.partition(".")[0] for name in self.modules}

    def _list(self, folder: str) -> None:
        with os.scandir(self.root / folder if folder else self.root) as entries:
            rows = sorted(entries, key=lambda entry: entry.name)
        for entry in rows:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_symlink():
                # A link to nothing, or to itself; `x.py` that leads to a folder is no module.
                there = os.path.exists(entry.path) and not (path.endswith(".py") and os.path.isdir(entry.path))
                (self.files if there else self.odd)[path] = os.readlink(entry.path)
            elif entry.is_dir():
                if entry.name not in SKIPPED:
                    self._list(path)
            elif not entry.is_file():
                self.odd[path] = ""  # a pipe: who reads it waits
            elif not entry.name.endswith(".pyc"):
                self.files[path] = None

    def has_module(self, name: str) -> bool:
        """Is ``name`` a module, a package or a namespace package of the tree?"""
        return name in self.modules or name in self.packages

    def is_package(self, name: str) -> bool:
        """Would ``from . import x`` inside ``name`` mean ``name.x``?"""
        return self.modules.get(name, "").endswith("__init__.py")

    def read(self, path: str) -> bytes:
        """The bytes of one file, remembered. Raises OSError."""
        data = self._read.get(path)
        if data is None:
            # To make a Path takes as long as to read what it names.
            with open(f"{self.root}/{path}", "rb", buffering=0) as file:
                data = file.read()
            if len(data) <= REMEMBERED:
                self._read[path] = data
        return data

    def parse(self, path: str) -> ast.Module | None:
        """The syntax tree of a file, or None when this Python cannot read it. Remembered."""
        if path not in self._parsed:
            try:
                self._parsed[path] = parse_bytes(self.read(path))
            except OSError:
                self._parsed[path] = None
        return self._parsed[path]

    def known(self, path: str) -> ast.Module | None:
        """The syntax tree of a file that was parsed before."""
        return self._parsed.get(path)

    def take(self, path: str, parsed: ast.Module) -> None:
        """Remember the syntax tree of a file, of which another one has the same bytes."""
        self._parsed.setdefault(path, parsed)

    def forget(self, path: str) -> None:
        """Drop a remembered syntax tree: memory is bounded by what is looked at twice."""
        self._parsed.pop(path, None)

    def parse_module(self, name: str) -> ast.Module | None:
        """The syntax tree of a module, or None for a namespace package or an unreadable file."""
        path = self.modules.get(name)
        return self.parse(path) if path else None


def parse_bytes(data: bytes) -> ast.Module | None:
    """``ast.parse`` that answers None instead of raising, and warns of nothing."""
    enabled = gc.isenabled()
    gc.disable()  # a quarter of the time of ast.parse goes into collecting nothing
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    finally:
        if enabled:
            gc.enable()


def absolute(tree: Tree, module: str, level: int, target: str | None) -> str | None:
    """The absolute name that ``from <dots><target> import …`` means inside ``module``.

    None when the dots lead out of the tree.
    """
    if not level:
        return target or None
    parts = module.split(".")
    if not tree.is_package(module):
        parts = parts[:-1]
    drop = level - 1
    if drop > len(parts) or (drop == len(parts) and not target):
        return None
    parts = parts[: len(parts) - drop]
    if target:
        parts.append(target)
    return ".".join(parts) or None
