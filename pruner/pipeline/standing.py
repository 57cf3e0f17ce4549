"""What stands where when a run ends by an exception, in the words of whoever tells it.

A disk that fills while the reports are written, an interrupt a moment after the output was put in place: "nothing was
changed" would be a lie then. The two folders are looked at, since no flag can be set in the same instant as they change.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pruner.errors import PruneError


@contextmanager
def telling(output: Path, reports: Path) -> Iterator[None]:
    """Let an exception out with what is in place, if the output is no longer the folder that it was.

    The diagnostics of a PruneError get it into their advice, any other exception as a note.
    """
    before = _folder(output), _folder(reports)
    try:
        yield
    except BaseException as error:
        if _folder(output) == before[0]:
            raise
        said = f"{output} is the new tree, whole and checked"
        if _folder(reports) != before[1]:
            said += f", and {reports} are its reports"
        else:
            said += f"; {reports} " + ("are those of the run before" if before[1] else "are not there")
            said += ": run again for its own"
        if isinstance(error, PruneError):
            told = (replace(row, advice=f"{row.advice}; {said}" if row.advice else said) for row in error.diagnostics)
            raise PruneError(*told) from error
        error.add_note(said)
        raise


def _folder(path: Path) -> tuple[int, int] | None:
    """What tells a folder from another one that took its name."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
