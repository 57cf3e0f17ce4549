"""Compiled sources as a linker sees them: what one defines, what it needs of the others.

A source needs a name that it or a header of its own declares or mentions; it does not need what only stands there as
a prototype, nor what it defines itself and nobody declares to it. Blind to declarations made by macros of
headers outside the tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pruner.native.items import Item, blank, items, words
from pruner.native.sources import Index, includes

_HEAD = re.compile(rb"^\s*#\s*define\s+\w+(?:\([^)]*\))?", re.MULTILINE)
_TOKEN = re.compile(rb"\w+|\S")
_KEYWORDS = frozenset((b"return", b"else", b"do", b"case", b"throw"))


@dataclass(frozen=True, slots=True)
class Parsed:
    """One file: its blanked text, its items, the names that stand there otherwise than as a prototype."""

    text: bytes
    items: tuple[Item, ...]
    mentioned: frozenset[str]
    declared: frozenset[str]
    defined: frozenset[str]  # functions and variables that other sources may use
    own: frozenset[str]  # the same, static ones included
    opaque: bool


def parse(data: bytes) -> Parsed:
    """Read one source or header. Raises nothing: what is not understood is opaque."""
    text = blank(data)
    found = tuple(items(text))
    rest = bytearray(text)
    declared: set[str] = set()
    for item in found:
        if item.kind == "prototype":
            rest[item.start : item.stop] = b" " * (item.stop - item.start)
            declared |= item.names
    parts = [words(bytes(rest))] + [words(text[i.start : i.stop]) - i.names for i in found if i.kind == "prototype"]
    binds = [i for i in found if i.kind in ("function", "variable", "opaque")]
    bodies = b"\n".join(_defines(data))
    macros = words(bodies)
    return Parsed(
        text,
        found,
        frozenset(set().union(*parts) | macros),
        frozenset(declared | _declared(bodies)),
        frozenset(n for i in binds if not i.local for n in i.names),
        frozenset(n for i in binds if i.kind != "opaque" for n in i.names),
        any(i.kind == "opaque" and b"TORCH_LIBRARY" not in text[i.start : i.stop] for i in found),
    )


def _declared(bodies: bytes) -> set[str]:
    """Words of macros that may be declared there: all but what is only called.

    ``#define CHECK(a) check(a)`` in a header with an inline ``check`` made every source that includes it need every other.
    """
    tokens = _TOKEN.findall(_HEAD.sub(b" ; ", bodies))
    return {
        word.decode()
        for before, word, after in zip([b";", *tokens], tokens, [*tokens[1:], b";"], strict=False)
        if (word[:1].isalpha() or word[:1] == b"_")
        and (
            after != b"("
            or (before not in _KEYWORDS and (before[:1].isalnum() or before[:1] in (b"_", b">", b"*", b"&")))
        )
    }


def _defines(data: bytes) -> Iterable[bytes]:
    """Bodies of ``#define``, continued lines joined: what a macro says may be said anywhere."""
    lines = iter(data.split(b"\n"))
    for line in lines:
        if line.lstrip().startswith(b"#") and b"define" in line:
            while line.rstrip().endswith(b"\\"):
                line = line.rstrip()[:-1] + next(lines, b"")
            yield line


@dataclass(slots=True)
class Linked:
    """All sources of a tree, read when asked for."""

    sources: Mapping[str, bytes]
    index: Index = field(init=False)
    _parsed: dict[str, Parsed] = field(default_factory=dict)
    _closure: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.index = Index(self.sources)

    def parsed(self, path: str) -> Parsed:
        """The file, read once."""
        if path not in self._parsed:
            self._parsed[path] = parse(self.sources[path])
        return self._parsed[path]

    def closure(self, path: str) -> frozenset[str]:
        """The file and all that it includes, however conditional. A name that fits several files means all."""
        if path not in self._closure:
            seen, todo = {path}, [path]
            while todo:
                for name in includes(self.sources[todo.pop()]):
                    for other in self.index.ending(name):
                        if other not in seen:
                            seen.add(other)
                            todo.append(other)
            self._closure[path] = frozenset(seen)
        return self._closure[path]

    def needs(self, path: str) -> frozenset[str]:
        """Names that the unit may take from another one."""
        files = [self.parsed(p) for p in self.closure(path)]
        declared: set[str] = set().union(*(f.declared for f in files))
        own: set[str] = set().union(*(f.own for f in files))
        mentioned: set[str] = set().union(*(f.mentioned for f in files))
        return frozenset(mentioned - (own - declared))

    def defines(self, path: str) -> frozenset[str]:
        """Names that another unit may take from this one."""
        return frozenset().union(*(self.parsed(p).defined for p in self.closure(path)))

    def opaque(self, path: str) -> bool:
        """Is there something in the unit that nobody here understands?"""
        return any(self.parsed(p).opaque for p in self.closure(path))
