"""Targets of root, keep, drop and discard: reading their text, matching module patterns."""

from __future__ import annotations

import difflib
import functools
import re

_NAME = r"[^\W\d]\w*"
_DOTTED = rf"{_NAME}(?:\.{_NAME})*"
_MODULE = re.compile(r"[^\W\d*?]\w*(?:\.(?:\*\*|[\w*?]+))*|[\w*?]+")
_SYMBOL = re.compile(rf"{_DOTTED}:{_DOTTED}")
_ENTRY = re.compile(rf"({_DOTTED})\[(.+)\]", re.DOTALL)
_PROJECT = ("pyproject.toml", "entry_points.txt")
_PREFIXES = ("path", "name", "word", "native", "op")
_TAKES = {
    "root": ("module", "symbol", "project", "path"),
    "keep": ("module", "symbol", "project", "path", "entry", "op"),
    "drop": ("module", "symbol", "path", "entry", "native", "op"),
    "discard": ("module", "symbol", "path", "entry", "name", "word"),
    "without": ("module", "entry"),
}


def read(text: str, verb: str) -> tuple[str, str, str]:
    """(kind, normal text, fault) of a target; kind is "" when there is a fault.

    The text of a ``path``, ``native``, ``op``, ``name`` or ``word`` target is without its prefix.
    """
    kind, normal, fault = _classify(text)
    if not fault and kind not in _TAKES[verb]:
        return "", text, f"{verb!r} does not take a {kind}: {text!r}"
    return kind, normal, fault


def read_case(text: str) -> tuple[str, str, str]:
    """As :func:`read`, but a dotted name may be a module, a symbol or a member (kind ``dotted``)."""
    kind, normal, fault = _classify(text)
    return ("dotted" if kind == "module" else kind), normal, fault


def _classify(text: str) -> tuple[str, str, str]:
    if text in _PROJECT:
        return "project", text, ""
    prefix, colon, rest = text.partition(":")
    if colon and prefix in _PREFIXES:
        return (prefix, rest.strip(), "") if rest.strip() else ("", text, f"{text!r} names nothing")
    entry = _ENTRY.fullmatch(text)
    if entry:
        return "entry", f"{entry[1]}[{_unquoted(entry[2].strip())}]", ""
    if _SYMBOL.fullmatch(text):
        return "symbol", text, ""
    if _MODULE.fullmatch(text):
        return "module", text, ""
    near = difflib.get_close_matches(prefix, _PREFIXES, n=1) if colon else []
    hint = f"; did you mean '{near[0]}:{rest}'?" if near else ""
    return (
        "",
        text,
        f"{text!r} is no module, pkg.mod:name, pkg.mod.TABLE[key], path:GLOB, native:GLOB, op:LIBRARY::GLOB, "
        f"name:GLOB or word:GLOB{hint}",
    )


def _unquoted(key: str) -> str:
    # INITS['hip'] and INITS[hip] are one entry; a key that holds a quote stays as it is
    if len(key) >= 2 and key[0] == key[-1] and key[0] in "'\"" and key[0] not in key[1:-1]:
        return key[1:-1]
    return key


def matches(pattern: str, module: str) -> bool:
    """Does a module pattern name this module?

    ``*`` and ``?`` stay within one component; a last component ``**`` is everything below,
    not the package itself (``pkg.**`` names ``pkg.a`` and ``pkg.a.b``, not ``pkg``).
    """
    return _compiled(pattern).fullmatch(module) is not None


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = []
    for part in pattern.split("."):
        if part == "**":
            parts.append(r".+")
        else:
            parts.append(re.escape(part).replace(r"\*", r"[^.]*").replace(r"\?", r"[^.]"))
    return re.compile(r"\.".join(parts))
