"""Questions to the rules about one symbol, module or table entry; answered from tables made once.

A keep wins over a drop, a drop wins over a root.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import Any

from pruner.verify.rules import Stated, covers

Row = tuple[str, str]


class Ruled:
    """What the rules say of a thing, by its name."""

    def __init__(self, stated: Stated) -> None:
        self.stated = stated
        self._modules: dict[str, bool] = {}
        self.drop_paths = [text[5:].strip() for _, text in stated.drops if text.startswith("path:")]
        plain = [text for _, text in stated.drops if not text.startswith("path:")]
        self.drop_exact = {text for text in plain if "[" not in text and "*" not in text}
        globs = [text for text in plain if "[" not in text and "*" in text and ":" not in text]
        self.drop_globs = [(re.split(r"[*?]", text, maxsplit=1)[0].rstrip("."), text) for text in globs]
        self.drop_symbols = [text for text in plain if "[" not in text and "*" in text and ":" in text]
        self.drop_entries = _entries(stated.drops)
        self.keep_entries = _entries(stated.keeps)
        self.known: dict[str, Any] = {}  # what verify.entered found out about the tables of ``drop_entries``
        self.wanted: list[tuple[str, Row]] = [("keep", row) for row in stated.keeps]
        self.wanted += [("root", row) for row in stated.roots]
        self._wanted_exact: dict[str, list[tuple[str, Row]]] = {}
        self._wanted_globs: list[tuple[str, Row]] = []
        for verb, row in self.wanted:
            head = row[1].partition(":")[0]
            if head in ("path", "name") or "[" in row[1]:
                continue
            if "*" in head:
                self._wanted_globs.append((verb, row))
            else:
                self._wanted_exact.setdefault(head, []).append((verb, row))

    def drops_module(self, module: str, path: str = "") -> bool:
        """Does a drop rule name this module or its file?"""
        if module not in self._modules:
            self._modules[module] = module in self.drop_exact or any(
                covers(text, module) for start, text in self.drop_globs if module.startswith(start)
            )
        return self._modules[module] or (bool(path) and any(fnmatchcase(path, glob) for glob in self.drop_paths))

    def drops_symbol(self, module: str, name: str) -> bool:
        """Does a drop rule name this symbol, a class around it, or its module? (``mod:name``, the cases' ``mod.name``)"""
        if self.drops_module(module):
            return True
        head = name
        while head:
            if f"{module}:{head}" in self.drop_exact or f"{module}.{head}" in self.drop_exact:
                return not self._kept(module, name)
            head = head.rpartition(".")[0]
        return any(fnmatchcase(f"{module}:{name}", text) for text in self.drop_symbols) and not self._kept(module, name)

    def _kept(self, module: str, name: str) -> bool:
        return any(verb == "keep" and row[1] == f"{module}:{name}" for verb, row in self._wanted_exact.get(module, ()))

    def drops_entry(self, module: str, table: str, key: str) -> bool:
        """Does a drop rule name entry ``key`` of ``module.table`` (dotted below the module), and no keep rule?"""
        head = f"{module}.{table}"
        return _names(self.drop_entries.get(head), key) and not _names(self.keep_entries.get(head), key)

    def wants(self, module: str) -> list[tuple[str, Row]]:
        """The (verb, rule row) of every root and keep that speaks of this module or a symbol in it."""
        rows = list(self._wanted_exact.get(module, ()))
        rows += [(verb, row) for verb, row in self._wanted_globs if covers(row[1].partition(":")[0], module)]
        return rows


def _entries(rows: list[Row]) -> dict[str, list[str]]:
    """Table (module and table, dotted) -> key globs."""
    found: dict[str, list[str]] = {}
    for _, text in rows:
        head, bracket, key = text.partition("[")
        if bracket and not text.startswith("path:"):
            found.setdefault(head.replace(":", "."), []).append(key.rstrip("]").strip("\"'"))
    return found


def _names(globs: list[str] | None, key: str) -> bool:
    return any(glob == key or (("*" in glob or "?" in glob) and fnmatchcase(key, glob)) for glob in globs or ())
