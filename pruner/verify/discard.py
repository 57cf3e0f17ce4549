"""What ``discard`` rules name in one file, as ``name:GLOB`` or ``word:GLOB``; comments and docstrings do not count.

A name counts as an identifier, as a part of an import path and inside a string literal. A word is a part of a
name: between underscores, digits behind it and changes of case, however it is written (``qwen*`` is in
``is_qwen3`` and in ``Qwen2Config``; ``hip`` is not in ``shipping``).

Blind to names that are put together at run time.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import translate
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from pruner.verify.lexer import QUOTED, decode
from pruner.verify.nodes import statements
from pruner.verify.tree import parse_bytes

_WORD = re.compile(r"\w")
_NAME = re.compile(rb"[A-Za-z_]\w*")
_LETTER = re.compile(rb"\w")
_BLANK = bytes(byte if _LETTER.match(bytes([byte])) else 32 for byte in range(256))  # all but letters as blanks
# How a line looks on which a string or a bracket begins a statement; others may look like that too: {"a": "b"}.
_ALONE = re.compile(r"(?:.*[;:\r])?\s*(?:[rRuU]?[\"']|\()")
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
        self._key = frozenset(named)
        # A fixed part of each, which most identifiers have none of, and hardly one those of two.
        self._patterns = [(text, pattern(text), _fixed(text).lower()) for text in named]
        self._quick = re.compile(_any(fixed for _, _, fixed in self._patterns))
        self._known: dict[bytes, tuple[str, ...]] = {}
        self._hits: set[bytes] = set()  # those of the known names that something names
        # Whole names are written as they are, so a plain search rules out a file; words may be in any case.
        parts = {_fixed(text).encode() for text in named}
        self._parts = sorted(parts) if all(text.startswith("name:") for text in named) and b"" not in parts else None

    def of(self, name: str) -> tuple[str, ...]:
        """The targets that name this identifier, in the order in which they were given."""
        return self._of(name.encode())

    def _of(self, name: bytes) -> tuple[str, ...]:
        found = self._known.get(name)
        if found is None:
            text = name.decode("utf-8", "replace")
            low = text.lower()
            near = self._patterns if self._quick.search(low) else ()
            found = self._known[name] = tuple(t for t, shape, fixed in near if fixed in low and shape.search(text))
            if found:
                self._hits.add(name)
        return found

    def _learn(self, names: set[bytes]) -> None:
        """Match names that nobody asked for yet: one search through all of them finds the few that something may name."""
        near = names
        if self._quick.pattern:
            text = b"\n".join(names)
            low = text.decode().lower()
            near = set()
            for found in self._quick.finditer(low):
                end = low.find("\n", found.end())
                near.add(text[low.rfind("\n", 0, found.start()) + 1 : end if end >= 0 else None])
        self._known.update(dict.fromkeys(names.difference(near), ()))
        for name in near:
            self._of(name)

    def count(self, data: bytes, tree: ast.Module | None = None) -> Counter[tuple[str, int]]:
        """(identifier, line) occurrences in code and strings. ``tree``: of ``data``, where there is one already."""
        found: Counter[tuple[str, int]] = Counter()
        names = _names(data) if self._parts is None else _around(data, self._parts)
        self._learn(names.difference(self._known))  # `-` with the keys would walk all of them
        wanted = names & self._hits
        if not wanted:
            return found
        text = decode(data)
        hits = sorted((at, name) for name in map(bytes.decode, wanted) for at in _places(text, name))
        # Only strings and comments need to be told from code; they are a tenth of the tokens.
        spans = QUOTED.finditer(text)
        span = next(spans, None)
        documented: set[int] | None = None
        line, here = 1, 0
        for at, name in hits:
            line, here = line + text.count("\n", here, at), at
            while span is not None and span.end() <= at:
                span = next(spans, None)
            if span is not None and span.start() <= at:
                start = span.start()
                if text[start] == "#":
                    continue
                if _ALONE.match(text, text.rfind("\n", 0, start) + 1):
                    if documented is None:
                        documented = _docstring_lines(tree or parse_bytes(data))
                    if line - text.count("\n", start, at) in documented:
                        continue
            found[name, line] += 1
        return found

    def totals(self, data: bytes) -> Counter[str]:
        """How often each identifier occurs."""
        if _COUNTED and (known := _COUNTED.get((self._key, sha256(data).digest()))) is not None:
            return known
        return self.among(self.count(data))

    def among(self, counted: Counter[tuple[str, int]]) -> Counter[str]:
        """How often each identifier that one of these names occurs in a file, of which these and others were counted."""
        found: Counter[str] = Counter()
        for (name, _), count in counted.items():
            if self._of(name.encode()):
                found[name] += count
        return found

    def counted(self, data: bytes) -> Counted:
        """:meth:`totals`, for :func:`take_counts` in another process."""
        return {(self._key, sha256(data).digest()): self.totals(data)}


# By what was looked for and in which bytes: an answer for other rules or another text is none.
Counted = dict[tuple[frozenset[str], bytes], Counter[str]]
_COUNTED: Counted = {}


def count_ahead(root: Path, paths: Sequence[str], texts: Sequence[str]) -> Counted:
    """Count the ``name:`` discards among ``texts`` in files of upstream, while nothing else is to be done."""
    families = _families(tuple(text for text in texts if text.startswith("name:")))
    found: Counted = {}
    for path in paths:
        found |= families.counted((root / path).read_bytes())
    return found


def take_counts(counted: Counted) -> None:
    """Take what :func:`count_ahead` gave: these texts are not counted again."""
    _COUNTED.update(counted)


def counts_taken() -> Counted:
    """All that was taken, for :func:`take_counts` in a process that was forked before."""
    return _COUNTED


@lru_cache(maxsize=1)
def _families(texts: tuple[str, ...]) -> Families:
    return Families(texts)


def _fixed(text: str) -> str:
    """The longest part of the glob in ``name:GLOB`` or ``word:GLOB`` that is written as it is."""
    return max(re.split(r"[*?\[]", text[5:].strip()), key=len)


def _any(words: Iterable[str]) -> str:
    """An expression that finds any of the words; common beginnings are tried once: a fifth of the time of ``a|b|c``."""
    heads: dict[str, set[str]] = {}
    for word in words:
        heads.setdefault(word[:1], set()).add(word[1:])
    if "" in heads:
        return ""
    return "|".join(
        re.escape(head) + (f"(?:{_any(rest)})" if "" not in rest else "") for head, rest in sorted(heads.items())
    )


def _names(data: bytes) -> set[bytes]:
    """The identifiers, as :data:`_NAME` finds them: words, without the digits that they begin with."""
    found = set(data.translate(_BLANK).split())
    odd = {word for word in found if word[0] < 65}
    return (found - odd) | ({word.lstrip(b"0123456789") for word in odd} - {b""})


def _around(data: bytes, parts: Iterable[bytes]) -> set[bytes]:
    """The identifiers that hold one of the parts."""
    found: set[bytes] = set()
    for part in parts:
        at = data.find(part)
        while at >= 0:
            start = at
            while start and _LETTER.match(data, start - 1):
                start -= 1
            name = _NAME.search(data, start)
            if name is not None:
                found.add(name.group())
            at = data.find(part, max(at + 1, name.end() if name is not None else 0))
    return found


def _places(text: str, name: str) -> Iterator[int]:
    """Where the identifier stands. One expression that looks for all of them takes ten times as long."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        around = text[at - 1 : at] + text[end : end + 1] if at else text[end : end + 1]
        if not _WORD.search(around):
            yield at
        at = text.find(name, end)


def _docstring_lines(tree: ast.Module | None) -> set[int]:
    """First lines of strings that are statements of their own."""
    if tree is None:
        return set()
    return {
        node.lineno
        for node in statements(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
