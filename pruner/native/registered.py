"""Operations that a source registers with PyTorch: the statements of its ``TORCH_LIBRARY`` blocks.

Blind to libraries and operations whose name a macro or a variable gives: such statements stay.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pruner.native.items import blank, closing, words

_BLOCK = re.compile(rb"\bTORCH_LIBRARY\w*\s*\(\s*(\w+)\s*,\s*(?:\w+\s*,\s*)?(\w+)\s*\)\s*\{")
_STATEMENT = re.compile(rb"\A\s*(\w+)\s*\.\s*(def|impl)\s*\(\s*")
_NAME = re.compile(rb'"\s*(?:\w+::)?(\w+)')


@dataclass(frozen=True, slots=True)
class Registration:
    """One ``m.def`` or ``m.impl``: the operation, identifiers of its arguments, the statement's byte span."""

    library: str
    operation: str
    verb: str
    words: frozenset[str]
    start: int
    stop: int


def registrations(data: bytes) -> list[Registration]:
    """Statements that register a named operation, in order."""
    if b"TORCH_LIBRARY" not in data:
        return []
    text, spelled = blank(data), blank(data, strings=False)
    found: list[Registration] = []
    for block in _BLOCK.finditer(text):
        library, module = block[1].decode(), block[2]
        at, end = block.end(), closing(text, block.end() - 1) - 1
        while at < end:
            start = at
            while at < end and text[at : at + 1] != b";":
                at = closing(text, at) if text[at : at + 1] in (b"(", b"{", b"[") else at + 1
            at = min(at + 1, end)
            statement = text[start:at]
            match = _STATEMENT.match(statement)
            name = _NAME.match(spelled, start + match.end()) if match and match[1] == module else None
            if match and name:
                first = start + len(statement) - len(statement.lstrip())
                used = words(statement) - {module.decode(), "def", "impl"}
                found.append(Registration(library, name[1].decode(), match[2].decode(), frozenset(used), first, at))
    return found
