"""Check ``discard``: nothing that a ``discard`` rule names is left in kept code, but for what ``allow`` lists.

A name counts as an identifier, as a part of an import path and inside a string literal; comments
and docstrings do not count.

Blind to names that are put together at run time.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import Counter
from fnmatch import fnmatchcase, translate

from pruner.verify.lexer import QUOTED, decode
from pruner.verify.nodes import walk
from pruner.verify.tree import parse_bytes


class Families:
    """The ``name:GLOB`` discards as one regular expression over bytes and as globs over identifiers."""

    def __init__(self, texts: list[str]) -> None:
        self.globs = [text[5:].strip() for text in texts if text.startswith("name:")]
        parts = [rb"[\w]*".join(re.escape(p.encode()) for p in glob.split("*")) for glob in self.globs]
        self.quick = re.compile(b"|".join(parts)) if parts else None
        # An identifier that holds a family's fixed part; the glob then decides.
        fixed = "|".join(re.escape(max(glob.split("*"), key=len)) for glob in self.globs)
        self.words = re.compile(rf"(?:{fixed})\w*")  # from the fixed part on; its beginning is looked for by hand
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
        hits = []
        for found_word in self.words.finditer(text):
            start, stop = found_word.span()
            while start and (text[start - 1].isalnum() or text[start - 1] == "_"):
                start -= 1
            if self.match(text[start:stop]):
                hits.append((start, text[start:stop]))
        if not hits:
            return found
        # Only strings and comments need to be told from code; they are a tenth of the tokens.
        spans = [(m.start(), m.end(), m.group()[0] == "#") for m in QUOTED.finditer(text)]
        starts = [start for start, _, _ in spans]
        documented: set[int] | None = None
        for begin, word in hits:
            place = bisect_right(starts, begin) - 1
            line = text.count("\n", 0, begin) + 1
            if place >= 0 and begin < spans[place][1]:
                if spans[place][2]:
                    continue
                if documented is None:
                    documented = _docstring_lines(data)
                if text.count("\n", 0, spans[place][0]) + 1 in documented:
                    continue
            found[word, line] += 1
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
