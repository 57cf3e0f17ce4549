"""Errors and exit codes. Lowest layer: imports nothing of the project.

A fault of the user (a rule, a path, an archive) is a :class:`Diagnostic`; it is
collected, shown whole, and ends the command with :data:`ExitCode.CANNOT_RUN`.
A fault of ours is an ordinary exception and a traceback.
"""

from __future__ import annotations

import enum
import os
from dataclasses import dataclass


class ExitCode(enum.IntEnum):
    """Process exit codes (the same for every command)."""

    CLEAN = 0
    FINDINGS = 1
    CANNOT_RUN = 2
    REFUTED = 3


@dataclass(frozen=True, slots=True, order=True)
class Diagnostic:
    """One located message: ``file:line:column: severity CODE: text; advice``."""

    file: str
    line: int
    column: int
    severity: str  # "error" | "warning" | "note"
    code: str  # "PR" and three digits; each has a paragraph in docs/troubleshooting.md
    text: str
    advice: str = ""

    def __str__(self) -> str:
        """Render as compilers do, so that editors can jump to the place."""
        place = self.file
        if self.line:
            place += f":{self.line}"
            if self.column:
                place += f":{self.column}"
        tail = f"; {self.advice}" if self.advice else ""
        return f"{place}: {self.severity} {self.code}: {self.text}{tail}"


class PruneError(Exception):
    """The run cannot go on because of its input. Carries one or more diagnostics."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("\n".join(str(d) for d in diagnostics))
        self.diagnostics = diagnostics


def cannot(file: str, code: str, text: str, advice: str = "", line: int = 0, column: int = 0) -> PruneError:
    """A :class:`PruneError` with a single error diagnostic."""
    return PruneError(Diagnostic(file, line, column, "error", code, text, advice))


def shortened(text: str) -> str:
    """A path as a message can hold it: both ends of a long one."""
    return text if len(text) <= 120 else f"{text[:50]}...{text[-50:]}"


LONGEST = 255
"""Bytes that a file name may have where nothing else is known: NAME_MAX of Linux's file systems."""
PATH = 4095
"""Bytes that a whole path may have: PATH_MAX, less the zero at its end."""


def too_long(path: str, more: int = 0) -> str:
    """What is wrong with the length of a path, or ""; ``more`` bytes will be put to its last name."""
    size = len(os.fsencode(path))
    if size > PATH:
        return f"the path is {size} bytes long; the system takes {PATH}"
    *folders, last = path.rstrip("/").split("/")
    for name, room in (*((folder, LONGEST) for folder in folders), (last, LONGEST - more)):
        size = len(os.fsencode(name))
        if size > room:
            beside = f" beside what is put to it ({more})" if room != LONGEST else ""
            return f"the name {name[:20]}... is {size} bytes long; the system takes {room}{beside}"
    return ""
