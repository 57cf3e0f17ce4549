"""C++ and Python text for the check ``ops``: registrations, definitions, statements, by patterns.

Blind to what macros expand to.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable

_NOISE = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LIBRARY = re.compile(r"\bTORCH_LIBRARY\w*\s*\(\s*(\w+)\s*,[^(){}]*\)\s*\{")
REGISTERED = re.compile(r'\b(\w+)\s*\.\s*(def|impl)\s*\(\s*"\s*(?:\w+::)?(\w+)[^;]*?;')
_HEAD = re.compile(r"([\w:]+)\s*(?:<[^()]*>\s*)?\(")
_NO_FUNCTION = re.compile(
    r"\s*(?:else|return|static|if|for|while|switch|do|try|catch|case|struct|class|enum|union)\b|[^(]*="
)


def uncommented(text: str) -> str:
    """C++ without comments; strings stay."""
    return _NOISE.sub(lambda m: m[0] if m[0].startswith('"') else re.sub(r"[^\n]", " ", m[0]), text)


def registered(text: str) -> dict[str, set[str]]:
    """``LIBRARY::name`` -> verbs (def, impl) of the blocks in one source, comments left out."""
    plain = uncommented(text)
    found: dict[str, set[str]] = {}
    for block in _LIBRARY.finditer(plain):
        depth, at = 1, block.end()
        while depth and at < len(plain):
            if plain[at] == '"':
                at = _string_end(plain, at)
                continue
            depth += {"{": 1, "}": -1}.get(plain[at], 0)
            at += 1
        for row in REGISTERED.finditer(plain, block.end(), at):
            found.setdefault(f"{block[1]}::{row[3]}", set()).add(row[2])
    return found


def _string_end(text: str, at: int) -> int:
    at += 1
    while at < len(text) and text[at] not in '"\n':
        at += 2 if text[at] == "\\" else 1
    return at + 1


def spelled(data: bytes) -> str:
    """Python without comments; whatever cannot be tokenized is taken whole."""
    try:
        rows = tokenize.tokenize(io.BytesIO(data).readline)
        return " ".join(row.string for row in rows if row.type not in (tokenize.COMMENT, tokenize.ENCODING))
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError):
        return data.decode("utf-8", "replace")


def pieces(text: str) -> Iterable[tuple[str, str]]:
    """(text, the ``;``, ``{`` or ``}`` behind it) of a source without comments, directives and strings left out."""
    plain = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", "", without_strings(text), flags=re.MULTILINE)
    parts = re.split(r"([;{}])", plain)
    return zip(parts[::2], [*parts[1::2], ""], strict=True)


def defined(text: str) -> set[str]:
    """Names of functions that a source defines and does not keep to itself."""
    found: set[str] = set()
    for head, mark in pieces(text):
        match = _HEAD.search(head) if mark == "{" and not _NO_FUNCTION.match(head) else None
        if match and head[: match.start()].strip():
            found.add(match[1].rpartition("::")[2])
    return found


def without_strings(text: str) -> str:
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
