"""Write the names that outside code reads of objects: ``python -m tests.docs.outside FOLDER...``.

A folder is a standard library (``.../lib/python3.12``) or a ``site-packages``; names from all of them are put together.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from pruner.model.outside import INTERPRETER, LIBRARY, PACKAGES, PLAIN
from tests.docs.console import ROOT

LIST = ROOT / "pruner" / "model" / "outside.txt"
SKIPPED = frozenset(
    ("test", "tests", "testing", "idlelib", "lib2to3", "turtledemo", "ensurepip", "site-packages", "pip")
)
BOOTSTRAP = frozenset(
    ("_bootstrap.py", "_bootstrap_external.py")
)  # the import statement, which asks finders and loaders
ASKING = frozenset(("getattr", "hasattr", "attrgetter", "methodcaller"))


def read(tree: ast.AST) -> Iterator[str]:
    """Names that the code reads of what is neither ``self`` nor a module which it imports as a whole."""
    own = {"self", "cls"}
    own |= {
        (name.asname or name.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for name in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            if not (isinstance(node.value, ast.Name) and node.value.id in own):
                yield node.attr
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in ASKING:
                for value in node.args:
                    if isinstance(value, ast.Constant) and isinstance(value.value, str):
                        yield from value.value.split(".")  # attrgetter("a.b")


def interned(header: Path) -> Iterator[str]:
    """What the interpreter's own C code asks for by name: it interns those."""
    for line in header.read_text("utf-8").splitlines():
        if line.strip().startswith("STRUCT_FOR_ID("):
            yield line.strip().removeprefix("STRUCT_FOR_ID(").rstrip(")")


def sources(folder: Path) -> Iterator[Path]:
    """The Python files below a folder that are no tests."""
    for path in sorted(folder.rglob("*.py")):
        if SKIPPED.isdisjoint(path.relative_to(folder).parts):
            yield path


def gather(folders: Iterable[Path]) -> dict[str, set[str]]:
    """The names of all files below the folders, by group. Files that this Python cannot parse have none."""
    found: dict[str, set[str]] = {group: set() for group in (INTERPRETER, LIBRARY, PACKAGES)}
    for folder in folders:
        group = PACKAGES if folder.name == "site-packages" else LIBRARY
        for path in sources(folder):
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):
                continue
            head = path.relative_to(folder).parts[0].removesuffix(".py")
            plain = group == LIBRARY and (head in PLAIN or path.name in BOOTSTRAP)
            found[INTERPRETER if plain else group].update(read(tree))
        if group == LIBRARY:
            for header in (folder / ".." / ".." / "include" / folder.name / "internal").glob("*global_strings.h"):
                found[INTERPRETER].update(interned(header))
    return {group: {name for name in names if wanted(name)} for group, names in found.items()}


def wanted(name: str) -> bool:
    """A name that a method may have and that is not special anyway."""
    return name.isascii() and name.isidentifier() and not (name.startswith("__") and name.endswith("__"))


def heads(folder: Path) -> list[str]:
    """What a folder holds: name and version of each distribution, or of the interpreter."""
    found = (path.name.removesuffix(".dist-info").replace("-", " ", 1) for path in folder.glob("*.dist-info"))
    return sorted(found, key=str.lower) if folder.name == "site-packages" else [f"CPython {folder.name[6:]}"]


def main(folders: list[Path]) -> None:
    """Write the list."""
    lines = ["# Attribute names that outside code reads of objects; made by tests/docs/outside.py from:"]
    lines += [f"# {head}" for folder in folders for head in heads(folder)]
    seen: set[str] = set()
    for group, names in gather(folders).items():
        lines += [f"[{group}]", *sorted(names if group != PACKAGES else names - seen)]
        seen |= names
    LIST.write_text("\n".join(lines) + "\n", "ascii")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
