"""Upstream trees: releases pinned by digest, wheels, folders, checkouts, read into a :class:`Snapshot`.

Blind to: what the files mean. A file is a path, a digest, a mode bit and perhaps a link target.
"""

from pruner.source.archive import unpack
from pruner.source.fetch import Fetched, download, fetch
from pruner.source.lock import Lock, Release, default_cache, default_lock_path, read_lock
from pruner.source.snapshot import open_snapshot, read_tree

__all__ = [
    "Fetched",
    "Lock",
    "Release",
    "default_cache",
    "default_lock_path",
    "download",
    "fetch",
    "open_snapshot",
    "read_lock",
    "read_tree",
    "unpack",
]
