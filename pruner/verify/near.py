"""Parts of a file that stand where its text holds a word: what cannot be elsewhere need not be looked for elsewhere.

Other letters may be written for the ASCII ones of a name, as those of full width (NFKC). Where the bytes do not tell what
Python reads, every part is near: less time is all that this module gives.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from unicodedata import normalize

from pruner.verify.nodes import SUITES, inner, walk

Lines = Sequence[int] | None  # rising, the first line is 1; None: the text does not tell
_ASCII = bytes(range(128))
_LETTER = re.compile(rb"\w")
_CODED = re.compile(rb"[^\n]*\n?[^\n]*coding[:=]")  # utf-7 writes any letter in another way


def lines_of(data: bytes, words: Iterable[bytes]) -> Lines:
    """The lines in which one of the words begins, as a part of another as well."""
    words = set(words)
    if not _plain(data) or not all(map(bytes.isascii, words)):
        return None
    found: set[int] = set()
    for word in words:
        line, here, at = 1, 0, data.find(word)
        while at >= 0:
            line, here = line + data.count(b"\n", here, at), at
            found.add(line)
            end = data.find(b"\n", at)
            at = data.find(word, end) if end >= 0 else -1
    return sorted(found)


@lru_cache(maxsize=16)  # one file is asked about many times before the next one is
def _plain(data: bytes) -> bool:
    """Do words of ASCII letters stand in the file as they are, in lines that end with ``\\n`` alone?"""
    if b"\r" in data or _CODED.match(data):
        return False
    try:
        return data.isascii() or not any(map(_letter, set(data.translate(None, _ASCII).decode())))
    except UnicodeDecodeError:
        return False


@cache
def _letter(char: str) -> bool:
    """Is this, in a name, another way to write ASCII letters?"""
    return f"a{char}".isidentifier() and any(part.isascii() for part in normalize("NFKC", char))


def holds(data: bytes, word: bytes) -> bool:
    """Is the word in the text, as a whole one?"""
    at = data.find(word)
    while at >= 0:
        end = at + len(word)
        if not _LETTER.match(data, end) and not (at and _LETTER.match(data, at - 1)):
            return True
        at = data.find(word, end)
    return False


def reached(lines: Lines, first: int, last: int) -> bool:
    """Is one of the lines from ``first`` to ``last``?"""
    if lines is None:
        return True
    index = bisect_left(lines, first)
    return index < len(lines) and lines[index] <= last


def over(node: ast.AST, lines: Lines) -> bool:
    """Does a statement, or an arm of one, reach over one of the lines?"""
    if lines is None or isinstance(node, ast.match_case):  # which has no line
        return True
    first = node.lineno  # type: ignore[attr-defined]
    for item in getattr(node, "decorator_list", ()):
        first = min(first, item.lineno)
    return reached(lines, first, node.end_lineno)  # type: ignore[attr-defined]


def near(tree: ast.AST, lines: Lines) -> Iterator[ast.AST]:
    """What :func:`pruner.verify.nodes.walk` gives of the tree, its heads and the statements over these lines, each before its parts."""
    if lines is None:
        yield from walk(tree)
        return
    stack = [tree] if lines else []
    while stack:
        node = stack.pop()
        yield node
        for name in inner(type(node)):
            value = getattr(node, name)
            if type(value) is not list:
                if isinstance(value, ast.AST):
                    yield from walk(value)
            elif name in SUITES:
                stack += [child for child in value if over(child, lines)]
            else:
                for part in value:
                    if isinstance(part, ast.AST):
                        yield from walk(part)
