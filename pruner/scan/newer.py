"""Summaries of files that the running Python cannot parse: they import, define, and are never edited."""

from __future__ import annotations

import faulthandler
import marshal
import os
import re
import resource

from pruner.model.ir import Stmt, position
from pruner.syntax import newer


def lower_newer(data: bytes) -> bytes:
    """Marshalled form: every import at module level, every top-level name, every string.

    Raises ``libcst.ParserSyntaxError`` when the file is no Python that LibCST knows.
    """
    return _lowered(newer.read(data))


def lower_apart(data: bytes) -> bytes | None:
    """What :func:`lower_newer` gives, by a process of its own; None when LibCST cannot read the file.

    LibCST's parser has no bound on its stack: three thousand parentheses end the process that reads them.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            os.close(reader)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            faulthandler.disable()
            form = lower_newer(data)
            with open(writer, "wb") as pipe:
                pipe.write(form)
            code = 0
        finally:
            os._exit(code)  # also over an exception: the parent goes on, not a copy of it
    os.close(writer)
    with open(reader, "rb") as pipe:
        form = pipe.read()
    return form if os.waitpid(child, 0)[1] == 0 else None


def lower_broken(data: bytes) -> bytes:
    """Marshalled form of a file that nobody can parse: what looks like an import or a name counts as one."""
    found = newer.Imports()
    text = re.sub(r"\r\n?", "\n", data.decode("utf-8", "replace"))
    text = text.replace("\\\n", " ")

    def imported(match: re.Match[str]) -> str:
        dots, module, names, plain = match.groups()
        rows = [row.split() for row in re.sub(r"#.*", "", plain or names).strip("()*").split(",")]
        aliases = tuple((row[0], row[2] if len(row) > 2 else None) for row in rows if row)
        if plain:
            found.imports += [("", -1, (alias,)) for alias in aliases]
        else:
            found.imports.append((module, len(dots), aliases or (("*", None),)))
        return " "

    rest = _IMPORT.sub(imported, text)
    found.chains |= {tuple(re.split(r"\s*\.\s*", chain)) for chain in _CHAIN.findall(rest)}
    found.texts = sorted({part for chain in found.chains for part in chain})
    return _lowered(found)


_NAMES = r"[^\W\d][\w.]*(?:[ \t]+as[ \t]+\w+)?(?:[ \t]*,[ \t]*[^\W\d][\w.]*(?:[ \t]+as[ \t]+\w+)?)*"
_IMPORT = re.compile(
    rf"(?<![\w.])(?:from\s+(\.*)([\w.]*)\s*\bimport\b\s*(\([^)]*\)?|\*|{_NAMES})|import[ \t]+({_NAMES}))", re.M
)
_CHAIN = re.compile(r"(?:[^\W\d]\w*)?(?:\s*\.\s*[^\W\d]\w*)+|[^\W\d]\w*")


def _lowered(found: newer.Imports) -> bytes:
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
    reads = tuple(
        ("n", root, tuple(f".{part}" for part in path))
        if root
        else ("x", ("o", ()), tuple(f".{part}" for part in path))
        for root, *path in sorted(found.chains)
    )
    # An effectful statement makes the module one that is kept whenever it is imported.
    body.append(("e", position(line + 1, 0), line + 1, ("k", ("o", reads), texts, ())))
    return marshal.dumps(tuple(body))
