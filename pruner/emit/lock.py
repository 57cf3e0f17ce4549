"""One run at a time per output folder: an advisory lock on ``<target>.lock``."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pruner.errors import PruneError, cannot

_held: dict[Path, int] = {}
_guard = threading.RLock()


def place(target: Path) -> Path:
    """The folder itself when ``target`` is a link to one; its absolute path in any case."""
    return Path(os.path.realpath(target))


@contextmanager
def lock_target(target: Path) -> Iterator[None]:
    """Hold the exclusive right to write ``target``; a nested call in the same process passes.

    Raises PruneError PR300 at once, with the other run's process id, when another run holds it,
    and PR302 when the lock file cannot be made.
    """
    path = place(target)
    with _guard:
        if path in _held:
            _held[path] += 1
            file = None
        else:
            file = _acquire(path, str(target))
            _held[path] = 1
    try:
        yield
    finally:
        with _guard:
            _held[path] -= 1
            if _held[path] == 0:
                del _held[path]
            if file is not None:
                # While held: a run that opened this very file before now sees that it is no
                # longer the one at the path, and tries again.
                lock_path(path).unlink(missing_ok=True)
                os.close(file)


def lock_path(target: Path) -> Path:
    """``<target>.lock``, beside the target."""
    return target.with_name(target.name + ".lock")


def _acquire(target: Path, shown: str) -> int:
    path = lock_path(target)
    while True:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise unwritable(shown, error) from error
        try:
            # A record lock, not flock(): pool workers inherit a flock over fork, and one that
            # outlives its killed parent would keep the output locked.
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            holder = os.pread(file, 32, 0).decode("ascii", "replace").strip()
            os.close(file)
            who = f"process {holder}" if holder.isdigit() else "another process"
            advice = "wait for it, or end it; after a crash the lock frees itself"
            raise cannot(shown, "PR300", f"{who} is writing this folder", advice) from error
        except OSError as error:
            os.close(file)
            raise unwritable(shown, error) from error
        if _is_at(file, path):
            try:
                os.ftruncate(file, 0)
                os.pwrite(file, f"{os.getpid()}\n".encode("ascii"), 0)
            except OSError as error:  # a full disk has room for an empty file, and for no number in it
                path.unlink(missing_ok=True)
                os.close(file)
                raise unwritable(shown, error) from error
            return file
        os.close(file)


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def unwritable(shown: str, error: OSError) -> PruneError:
    """PR302: the system refused; what was there before is still there."""
    reason = error.strerror or str(error)
    return cannot(shown, "PR302", f"cannot be written: {reason}", "what was there before is whole")
