"""Which sources a CMake file lists, by the spans of the arguments that name them.

Reads commands and arguments as cmake-language(7) has them: comments, brackets, quoted and plain arguments.
Blind to names that variables or ``file(GLOB)`` give: whoever needs a listed source must find it by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    rb"""\#\[(=*)\[.*?\]\1\]|\#[^\n]*|\[(=*)\[.*?\]\2\]|"((?:\\.|[^"\\])*)"|([()])|((?:\\.|\$\{[^}]*\}|[^\s()#"\\])+)""",
    re.DOTALL,
)
_SOURCE = re.compile(rb"[\w./+-]+\.(?:cu|cc|cpp|cxx|c|hip)\Z")


@dataclass(frozen=True, slots=True)
class Listed:
    """An argument that names a source: its text, byte span and the command that it stands in."""

    name: str
    command: str
    start: int
    stop: int


def listed(data: bytes) -> list[Listed]:
    """Arguments without variables that look like a source's path, in order."""
    found: list[Listed] = []
    command, depth, last = "", 0, b""
    for match in _TOKEN.finditer(data):
        if match[4] == b"(":
            depth += 1
            command = last.decode("ascii", "replace").lower() if depth == 1 else command
        elif match[4] == b")":
            depth -= 1
        else:
            text = match[3] if match[3] is not None else match[5]
            last = match[5] or b""
            if text is not None and depth and _SOURCE.match(text):
                found.append(Listed(text.decode("ascii"), command, match.start(), match.end()))
    return found
