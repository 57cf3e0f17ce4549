"""Walk a folder into a sorted list of digested files, following no link.

Blind to: owners, times, empty folders, hard links, extended attributes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

from pruner.errors import Diagnostic, PruneError
from pruner.model import SourceFile

SKIPPED_FOLDERS = frozenset({"__pycache__", ".git"})
SKIPPED_SUFFIXES = (".pyc",)
MAX_SHOWN = 20


def read_files(root: Path, tops: Iterable[str] | None = None) -> tuple[SourceFile, ...]:
    """All files below ``root`` (or below its entries ``tops``), sorted by path.

    Left out are ``__pycache__``, ``*.pyc``, ``.git`` (folder or file) and virtual environments.
    A symbolic link is recorded with its target as written and never followed; one that
    leads out of the tree, is absolute, or runs in a circle is an error.
    Raises PruneError with all faults found: PR108 (unreadable), PR109 (link),
    PR110 (a special file, or a name that is not UTF-8 or differs from another by case only).
    """
    problems: list[Diagnostic] = []
    wanted = None if tops is None else frozenset(tops)
    found = list(_walk(root, "", problems, wanted))
    # One after the other: four threads took three times the processor time, handing the interpreter around.
    rows = [_describe(root, path, problems) for path in found]
    if problems:
        problems.sort()
        more = len(problems) - MAX_SHOWN
        if more > 0:
            problems[MAX_SHOWN:] = [Diagnostic(str(root), 0, 0, "error", "PR108", f"and {more} more faults")]
        raise PruneError(*problems)
    return tuple(sorted(row for row in rows if row is not None))


def _walk(root: Path, prefix: str, problems: list[Diagnostic], tops: frozenset[str] | None) -> Iterator[str]:
    try:
        with os.scandir(root / prefix) as entries:
            listing = list(entries)
    except OSError as error:
        problems.append(_unreadable(root / prefix, error))
        return
    if any(entry.name == "pyvenv.cfg" for entry in listing) and prefix:
        return  # `python -m venv .venv` in a checkout: its bin/python links out of the tree
    seen: dict[str, str] = {}
    for entry in sorted(listing, key=lambda entry: entry.name):
        path = f"{prefix}{entry.name}"
        if entry.name in SKIPPED_FOLDERS or entry.name.endswith(SKIPPED_SUFFIXES):
            continue
        if tops is not None and path not in tops:
            continue
        twin = seen.setdefault(folded(entry.name), entry.name)
        if twin != entry.name and _is_text(entry.name):  # an output that is copied to such a system loses one
            text = f"differs only in case from {twin!r}: some systems take them for one file"
            problems.append(Diagnostic(str(root / path), 0, 0, "error", "PR110", text, "rename one of them"))
        if not _is_text(entry.name):
            text = "the name is not UTF-8"
            problems.append(Diagnostic(ascii(str(root / path)), 0, 0, "error", "PR110", text))
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk(root, f"{path}/", problems, None)
        else:
            yield path


def folded(name: str) -> str:
    """The form that a name shares with those that some systems take for the same one."""
    return unicodedata.normalize("NFC", name).casefold()


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _unreadable(path: Path, error: OSError) -> Diagnostic:
    return Diagnostic(str(path), 0, 0, "error", "PR108", f"cannot be read: {error.strerror or error}")


def _describe(root: Path, path: str, problems: list[Diagnostic]) -> SourceFile | None:
    full = os.path.join(root, path)
    try:
        status = os.lstat(full)
        if stat.S_ISLNK(status.st_mode):
            target = os.readlink(full)
            fault = _link_fault(root, path, target)
            if fault:
                text = f"symbolic link {fault}"
                problems.append(Diagnostic(full, 0, 0, "error", "PR109", text, "remove it, or copy its target"))
                return None
            return SourceFile(path, hashlib.sha256(target.encode()).hexdigest(), len(target.encode()), False, target)
        if not stat.S_ISREG(status.st_mode):  # a FIFO would block the run for ever
            problems.append(Diagnostic(full, 0, 0, "error", "PR110", "neither a file, a folder nor a link"))
            return None
        content = Path(full).read_bytes()
    except OSError as error:
        problems.append(_unreadable(Path(full), error))
        return None
    executable = bool(status.st_mode & stat.S_IXUSR)
    return SourceFile(path, hashlib.sha256(content).hexdigest(), len(content), executable)


def _link_fault(root: Path, path: str, target: str) -> str:
    """Why a link must not travel, or nothing. A target that is missing inside the tree is no fault."""
    if not _is_text(target):
        return "to a name that is not UTF-8"
    if target.startswith("/"):
        return f"to the absolute path {target}"
    home = os.path.realpath(root)
    try:
        # Resolved step by step by the system: `a/../../x` leaves the tree if `a` is itself a link.
        end = os.path.realpath(root / path, strict=True)
    except OSError as error:
        if error.errno == errno.ELOOP:
            return f"in a circle (to {target})"
        end = os.path.realpath(root / path)
    return "" if end == home or end.startswith(home + os.sep) else f"out of the tree (to {target})"
