"""Results of earlier runs, by content: same upstream, same rules, same tool, same answer.

A cache entry is only ever a shortcut: it holds a checksum of its name and content, a damaged, foreign or renamed one is
ignored, and deleting the folder changes nothing but time.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pruner
from pruner.model import Policy, Snapshot

T = TypeVar("T")
_STALE = 3600  # seconds after which an entry that is not complete is nobody's


@cache
def tool_digest() -> str:
    """sha256 of this tool's own sources and of the Python that runs them."""
    total = hashlib.sha256(sys.version.encode())
    root = Path(pruner.__file__).parent
    for path in sorted(path for path in root.rglob("*") if path.suffix == ".py" or path.parent.name == "kit"):
        total.update(path.relative_to(root).as_posix().encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def key(snapshot: Snapshot, policy: Policy, *more: str) -> str:
    """Everything that a result depends on."""
    parts = [
        tool_digest(),
        snapshot.digest,
        snapshot.python_root,
        policy.digest,
        repr(policy.rules),
        repr(snapshot.origin),
        *more,
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def load(folder: Path, name: str, kind: type[T]) -> T | None:
    """The stored value, or None when there is none, it is damaged, or it is not of this kind."""
    try:
        data = (folder / f"results-{name}").read_bytes()
    except OSError:
        return None
    if _checksum(name, data[32:]) != data[:32]:
        return None
    try:
        # Read only after the checksum matched: written by this tool, in the user's own cache.
        value = pickle.loads(data[32:])
        return value if isinstance(value, kind) else None
    except Exception:  # a checksum can match on an entry of another layout
        return None


def _checksum(name: str, data: bytes) -> bytes:
    """Of an entry: with its name, or another rule file's outcome would do in the place of this one's."""
    return hashlib.sha256(name.encode() + b"\0" + data).digest()


def load_files(folder: Path) -> dict[str, Any]:
    """Compact forms of single files by the digest of their bytes, for this tool."""
    return load(folder, _files_name(), dict) or {}


def store_files(folder: Path, forms: dict[str, Any]) -> None:
    """Remember compact forms; the newest 5000 stay."""
    store(folder, _files_name(), dict(list(forms.items())[-5000:]))


def _files_name() -> str:
    return hashlib.sha256(f"files {tool_digest()}".encode()).hexdigest()


def store(folder: Path, name: str, value: Any, keep: int = 40) -> None:
    """Store a value; the oldest entries beyond ``keep`` go. A cache that cannot be written is no fault."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    temporary = ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".results-")
        with os.fdopen(handle, "wb") as file:
            file.write(_checksum(name, data) + data)
        os.replace(temporary, folder / f"results-{name}")
        entries = sorted(folder.glob("results-*"), key=lambda p: p.stat().st_mtime, reverse=True)
        for old in entries[keep:]:
            old.unlink(missing_ok=True)
        temporary = ""
        for left in folder.glob(".results-*"):  # of runs that were killed: younger ones may be in the making
            if left.stat().st_mtime < time.time() - _STALE:
                left.unlink(missing_ok=True)
    except OSError:
        pass
    finally:
        if temporary:
            Path(temporary).unlink(missing_ok=True)  # half an entry would fill the disk further
