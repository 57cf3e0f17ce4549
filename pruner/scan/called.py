"""Which functions and classes of a file its own top-level code calls when it is imported.

They run on every host that imports the file: ``def f(fast=supported()): ...`` asks ``supported`` on a client
host too, where no device is, so its body may not rest on one.

Blind to: calls from other files at their import, functions handed on and called there, and methods called on
instances (all methods of a class that is called count instead).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pruner.model.ir import Block, Stmt


def called_at_import(body: Block) -> frozenset[str]:
    """Names of top-level definitions that run at import, also through each other."""
    definitions: dict[str, list[Stmt]] = {}
    for s in _definitions(body):
        definitions.setdefault(s[3], []).append(s)
    found: set[str] = set()
    work = list(_calls(body, inside=False))
    while work:
        name = work.pop()
        if name in definitions and name not in found:
            found.add(name)
            for s in definitions[name]:
                work.extend(_calls(s[6] if s[0] == "def" else s[7], inside=True))
    return frozenset(found)


def _definitions(part: Any) -> Iterator[Stmt]:
    """Definitions of the body, in blocks too, not those in definitions."""
    for item in part:
        if isinstance(item, tuple) and item:
            if item[0] in ("def", "class") and len(item) > 6:
                yield item
            else:
                yield from _definitions(item)


def _calls(part: Any, *, inside: bool) -> Iterator[str]:
    """Global names that ``part`` calls; the bodies of functions in it count only ``inside`` one that runs."""
    if not isinstance(part, tuple) or not part:
        return
    tag = part[0]
    if tag == "n" and len(part) == 3 and isinstance(part[2], tuple):
        if part[2] and part[2][0][0] == "(":
            yield part[1]
        return
    if tag == "k" and len(part) == 4 and isinstance(part[1], tuple) and part[1][:1] == ("n",) and not part[1][2]:
        yield part[1][1]
    if tag in ("def", "class") and len(part) > 6:
        for decorator in part[4]:
            if isinstance(decorator, tuple) and decorator[:1] == ("n",) and not decorator[2]:
                yield decorator[1]
        parts = part if inside or tag == "class" else (part[4], part[5])
    else:
        parts = part
    for item in parts:
        yield from _calls(item, inside=inside)
