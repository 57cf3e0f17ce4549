"""Check ``discard``: nothing that a ``discard`` rule names is left in kept code, but for what ``allow`` lists.

A name counts as an identifier, as a part of an import path and inside a string literal; comments
and docstrings do not count.

Blind to names that are put together at run time.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from fnmatch import fnmatchcase, translate

from pruner.verify.lexer import IDENTIFIER, decode, is_string, string_value, tokens
from pruner.verify.nodes import walk
from pruner.verify.tree import parse_bytes


class Families:
    """The ``name:GLOB`` discards as one regular expression over bytes and as globs over identifiers."""

    def __init__(self, texts: list[str]) -> None:
        self.globs = [text[5:].strip() for text in texts if text.startswith("name:")]
        parts = [rb"[\w]*".join(re.escape(p.encode()) for p in glob.split("*")) for glob in self.globs]
        self.quick = re.compile(b"|".join(parts)) if parts else None
        self._exact = [re.compile(translate(glob)) for glob in self.globs]

    def match(self, name: str) -> bool:
        """Does a glob name this identifier?"""
        return any(pattern.match(name) for pattern in self._exact)

    def count(self, data: bytes) -> Counter[tuple[str, int]]:
        """(identifier, line) occurrences in code and strings, comments and docstrings aside."""
        found: Counter[tuple[str, int]] = Counter()
        if self.quick is None or not self.quick.search(data):
            return found
        text = decode(data)
        skipped = _docstring_lines(data)
        line = 1
        position = 0
        for token in tokens(text):
            start = text.index(token, position)
            line += text.count("\n", position, start)
            position = start + len(token)
            here = line
            line += token.count("\n")
            if token.startswith("#"):
                continue
            if is_string(token):
                if here in skipped:
                    continue
                value = string_value(token) or ""
                if self.quick.search(value.encode("utf-8", "replace")):
                    for word in IDENTIFIER.findall(value):
                        if self.match(word):
                            found[word, here] += 1
            elif (token[0].isalpha() or token[0] == "_") and self.match(token):
                found[token, here] += 1
        return found


def _docstring_lines(data: bytes) -> set[int]:
    """First lines of strings that are statements of their own."""
    tree = parse_bytes(data)
    if tree is None:
        return set()
    return {
        node.lineno
        for node in walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }


def allowed(path: str, name: str, allow: list[tuple[str, str]]) -> bool:
    """Does an ``allow`` row name this residue?"""
    return any(fnmatchcase(path, glob) and fnmatchcase(name, wanted) for glob, wanted in allow)
