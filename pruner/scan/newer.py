"""Summaries of files that the running Python cannot parse: they import, define, and are never edited."""

from __future__ import annotations

import marshal

from pruner.model.ir import Stmt, position
from pruner.syntax import newer


def lower_newer(data: bytes) -> bytes:
    """Marshalled form: every import at module level, every top-level name, every string.

    Raises ``libcst.ParserSyntaxError`` when the file is no Python that LibCST knows.
    """
    found = newer.read(data)
    body: list[Stmt] = []
    line = 0
    for module, level, aliases in found.imports:
        line += 1
        local = tuple("n" for _ in aliases)
        if level < 0:
            body.append(("import", position(line, 0), line, aliases, local))
        else:
            body.append(("from", position(line, 0), line, module, level, aliases, local))
    for name in found.names:
        line += 1
        body.append(("=", position(line, 0), line, (("n", name),), ("o", ()), "="))
    texts = tuple(("c", t) for t in found.texts)
    # An effectful statement makes the module one that is kept whenever it is imported.
    body.append(("e", position(line + 1, 0), line + 1, ("k", ("o", ()), texts, ())))
    return marshal.dumps(tuple(body))
