"""What ``discard`` rules name in one file, as ``name:GLOB`` or ``word:GLOB``; comments and docstrings do not count.

A name counts as an identifier, as a part of an import path and inside a string literal. A word is a part of a
name: between underscores, digits behind it and changes of case, however it is written (``qwen*`` is in
``is_qwen3`` and in ``Qwen2Config``; ``hip`` is not in ``shipping``).

Blind to names that are put together at run time.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from fnmatch import translate

from pruner.verify.lexer import QUOTED, decode
from pruner.verify.nodes import walk
from pruner.verify.tree import parse_bytes

_NAME = re.compile(rb"[A-Za-z_]\w*")
_START = r"(?:^|(?<=_)|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]))"
_STOP = r"(?:$|(?=[_0-9])|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]))"


def pattern(text: str) -> re.Pattern[str]:
    """What ``name:GLOB``, ``word:GLOB`` or a plain glob names, to be searched for in an identifier."""
    prefix, colon, glob = text.partition(":")
    glob = (glob if colon else prefix).strip()
    if prefix != "word":
        return re.compile(r"\A" + translate(glob))
    body = re.escape(glob.strip("*")).replace(r"\*", r"\w*").replace(r"\?", r"\w")
    return re.compile(
        f"{'' if glob.startswith('*') else _START}(?i:{body}){'' if glob.endswith('*') else _STOP}", re.ASCII
    )


class Families:
    """The ``name:`` and ``word:`` discards. An identifier is matched once in a process, however often it occurs."""

    def __init__(self, texts: Iterable[str]) -> None:
        named = [text for text in texts if text.startswith(("name:", "word:"))]
        self._patterns = [(text, pattern(text)) for text in named]
        # A fixed part of each, which most identifiers have none of.
        fixed = {re.escape(max(re.split(r"[*?\[]", text[5:].strip()), key=len).lower()) for text in named}
        self._quick = re.compile("|".join(sorted(fixed)))
        self._known: dict[bytes, tuple[str, ...]] = {}
        # Whole names are written as they are, so a plain search rules out a file; words may be in any case.
        parts = {max(re.split(r"[*?\[]", text[5:].strip()), key=len).encode() for text in named}
        self._parts = sorted(parts) if all(text.startswith("name:") for text in named) else [b""]

    def of(self, name: str) -> tuple[str, ...]:
        """The targets that name this identifier, in the order in which they were given."""
        return self._of(name.encode())

    def _of(self, name: bytes) -> tuple[str, ...]:
        found = self._known.get(name)
        if found is None:
            text = name.decode("utf-8", "replace")
            near = self._patterns if self._quick.search(text.lower()) else ()
            found = self._known[name] = tuple(target for target, shape in near if shape.search(text))
        return found

    def count(self, data: bytes, tree: ast.Module | None = None) -> Counter[tuple[str, int]]:
        """(identifier, line) occurrences in code and strings. ``tree``: of ``data``, where there is one already."""
        found: Counter[tuple[str, int]] = Counter()
        if not any(part in data for part in self._parts):
            return found
        wanted = {name for name in set(_NAME.findall(data)) if self._of(name)}
        if not wanted:
            return found
        text = decode(data)
        listed = "|".join(sorted(name.decode() for name in wanted))
        # Only strings and comments need to be told from code; they are a tenth of the tokens.
        spans = [(m.start(), m.end(), m.group()[0] == "#") for m in QUOTED.finditer(text)]
        starts = [start for start, _, _ in spans]
        documented: set[int] | None = None
        line, here = 1, 0
        for hit in re.finditer(rf"(?<!\w)(?:{listed})(?!\w)", text):
            line, here = line + text.count("\n", here, hit.start()), hit.start()
            place = bisect_right(starts, here) - 1
            if place >= 0 and here < spans[place][1]:
                if spans[place][2]:
                    continue
                if documented is None:
                    documented = _docstring_lines(tree or parse_bytes(data))
                if text.count("\n", 0, spans[place][0]) + 1 in documented:
                    continue
            found[hit.group(), line] += 1
        return found


def _docstring_lines(tree: ast.Module | None) -> set[int]:
    """First lines of strings that are statements of their own."""
    if tree is None:
        return set()
    return {
        node.lineno
        for node in walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
