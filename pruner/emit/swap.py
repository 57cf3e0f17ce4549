"""Build a folder beside the target and put it in the target's place in one step.

Method: ``renameat2(RENAME_EXCHANGE)`` of Linux. Elsewhere two renames, and what a kill between
them leaves is put right at the next start (:func:`recover`).
"""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from pruner.emit.lock import lock_target, place, unwritable
from pruner.errors import PruneError, cannot

CARRIED = (".gitkeep",)
"""Entries that stay in the target although they are no part of what is written: git tracks them."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def write_tree(target: Path, writer: Callable[[Path], None]) -> None:
    """Let ``writer`` fill a new, empty folder, then make it ``target``.

    At every moment ``target`` is the whole old folder or the whole new one. Whatever
    ``writer`` raises passes through, and the target stays as it was.
    Raises PruneError: PR300 (another run is writing), PR302 (the system refuses), PR305 (not a folder).
    """

    def fill(fresh: Path) -> None:
        fresh.mkdir()
        writer(fresh)

    _put(target, fill)


def move_tree(source: Path, target: Path, change: Callable[[Path], None]) -> None:
    """Make the folder ``source``, which lies beside it, the ``target``, after ``change`` has been at it.

    ``source`` is gone afterwards, also when this fails. Otherwise as :func:`write_tree`.
    """

    def bring(fresh: Path) -> None:
        shutil.move(place(source), fresh)  # a target that is a link may be on another disk
        change(fresh)

    _put(target, bring)


def _put(target: Path, make: Callable[[Path], None]) -> None:
    """Put the folder that ``make`` makes at the path it is given in the target's place, with what stays in every target."""
    with lock_target(target):
        path = place(target)
        recover(target)
        if path.exists() and not path.is_dir():
            raise cannot(str(target), "PR305", "is a file, not a folder", "name another folder, or remove it")
        fresh = _fresh(path)
        try:
            make(fresh)
            if path.is_dir():
                for name in CARRIED:
                    if (path / name).is_file() and not (fresh / name).exists():
                        shutil.copy2(path / name, fresh / name)
            _swap(fresh, path)
        except OSError as error:
            raise unwritable(str(target), error) from error
        except PruneError as error:  # whoever filled the new folder knows the target by that name only
            raise PruneError(
                *(replace(row, file=row.file.replace(str(fresh), str(target), 1)) for row in error.diagnostics)
            ) from error
        finally:
            try:
                _remove(fresh)
            except KeyboardInterrupt:  # the old tree of a release takes a second to go
                _remove(fresh)
                raise


def recover(target: Path) -> None:
    """Clear what a killed run left beside ``target``; bring the old folder back if it was put aside.

    Only under the lock: the same names are in use while a run is on.
    """
    with lock_target(target):
        path = place(target)
        aside = _aside(path)
        if aside.exists() and not path.exists():
            os.rename(aside, path)
        _remove(aside)
        _remove(_fresh(path))


def _fresh(path: Path) -> Path:
    return path.with_name(f".{path.name}.pruning")


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.previous")


def _swap(fresh: Path, path: Path) -> None:
    """Afterwards ``path`` is the new folder and ``fresh`` the old one, or nothing."""
    if not path.exists():
        os.rename(fresh, path)
    elif not _exchange(fresh, path):
        aside = _aside(path)
        os.rename(path, aside)
        try:
            os.rename(fresh, path)
        except BaseException:
            os.rename(aside, path)
            raise
        _remove(aside)


def _exchange(left: Path, right: Path) -> bool:
    """Swap two names in one step; False where the system or the file system cannot."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    done = renameat2(
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(os.fsencode(left)),
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(os.fsencode(right)),
        ctypes.c_uint(_RENAME_EXCHANGE),
    )
    return bool(done == 0)


def _remove(folder: Path) -> None:
    """Remove a folder if it is there. What cannot be removed now is removed at the next start."""

    if folder.is_dir() and not folder.is_symlink():
        # A folder without write permission in an old output keeps its entries: give it back first.
        for top, _, _ in os.walk(folder):
            with suppress(OSError):
                os.chmod(top, 0o700)
        shutil.rmtree(folder, ignore_errors=True)
    else:
        folder.unlink(missing_ok=True)
