"""What an output has left out beyond dead branches, each a claim that must be justified."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from pruner.verify.rules import Stated, covers


@dataclass(frozen=True, slots=True)
class Claim:
    """A name that upstream binds (under the facts) and the output does not.

    ``name`` is ``f`` or ``Class.f``. ``kind``: function, class, variable, import, member; export: still
    bound, but no longer in ``__all__``.
    """

    path: str
    module: str
    name: str
    line: int
    kind: str
    outside: bool = False  # an import of something that is not in the tree


@dataclass(slots=True)
class FileResult:
    """What one compared file gives back to the whole."""

    path: str
    problems: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    lost: list[tuple[str, str, int]] = field(default_factory=list)  # removed import: target, symbol, line
    entries: int = 0  # table entries and enum members gone by a drop rule
    statements: int = 0  # canonical statements compared
    unread: list[tuple[str, str, str, int]] = field(default_factory=list)  # module, target, symbol, line


def dropped_symbol(stated: Stated, module: str, name: str) -> bool:
    """Does a drop rule name this symbol, or the module it is in? (``mod:name`` or the cases' ``mod.name``)"""
    full = {f"{module}:{name}", f"{module}.{name}"}
    for _, text in stated.drops:
        if text in full or dropped_module_text(text, module):
            return True
        if ":" in text and fnmatchcase(f"{module}:{name}", text):
            return True
        # A dropped class takes its members.
        if ":" in text and name.startswith(text.partition(":")[2] + ".") and text.partition(":")[0] == module:
            return True
    return False


def dropped_module_text(text: str, module: str) -> bool:
    """Does one drop target name this module?"""
    return not text.startswith("path:") and ":" not in text and "[" not in text and covers(text, module)


def dropped_module(stated: Stated, module: str, path: str = "") -> bool:
    """Does a drop rule name this module (or its file)?"""
    for _, text in stated.drops:
        if text.startswith("path:"):
            if path and fnmatchcase(path, text[5:].strip()):
                return True
        elif dropped_module_text(text, module):
            return True
    return False


def dropped_entry(stated: Stated, module: str, table: str, key: str) -> bool:
    """Does a drop rule name entry ``key`` of ``module.table``, and no keep rule?

    ``table`` is dotted below the module: ``Class.TABLE``, ``function.TABLE``.
    """
    names = (f"{module}.{table}", f"{module}:{table}")
    return _entry(stated.drops, names, key) and not _entry(stated.keeps, names, key)


def _entry(rows: list[tuple[str, str]], names: tuple[str, str], key: str) -> bool:
    for _, text in rows:
        head, bracket, glob = text.partition("[")
        if bracket and head in names:
            glob = glob.rstrip("]").strip("\"'")
            if glob == key or (("*" in glob or "?" in glob) and fnmatchcase(key, glob)):
                return True
    return False


def dropped_tables(stated: Stated) -> list[tuple[str, str]]:
    """(module and table, key glob) of every entry that a drop rule names."""
    found = []
    for _, text in stated.drops:
        head, bracket, glob = text.partition("[")
        if bracket:
            found.append((head.replace(":", "."), glob.rstrip("]").strip("\"'")))
    return found
