"""Paths as keys: their bytes, the folder they count for, and the spelling that names no machine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePath

DEPTH = 3  # the package and two levels below: sglang/srt/layers


def encode(path: str) -> bytes:
    """The bytes of a path or link target on disk; a name that is not UTF-8 travels as surrogates."""
    return path.encode("utf-8", "surrogateescape")


def folder_of(path: str, python_root: str = "") -> str:
    """The folder, at most two levels below the package, that a path counts for; ``.`` at the top."""
    parts = path.split("/")[:-1]
    base = python_root.split("/") if python_root else []
    depth = DEPTH + (len(base) if parts[: len(base)] == base else 0)
    return "/".join(parts[:depth]) or "."


class RuleFiles:
    """Rule file names without the machine: an absolute one is cut to its common folder's name.

    The same rules read from ``/home/ann/p/rules/a.yaml`` and ``/srv/ci/p/rules/a.yaml`` must
    give the same bytes, so both become ``rules/a.yaml``.
    """

    def __init__(self, files: Iterable[str]) -> None:
        folders = [os.path.dirname(file) for file in files if os.path.isabs(file)]
        self._base = os.path.dirname(os.path.commonpath(folders)) if folders else ""

    def name(self, file: str) -> str:
        """The name to write for a rule file."""
        if not os.path.isabs(file):
            return PurePath(file).as_posix()
        if not self._base:
            return PurePath(file).name
        return PurePath(os.path.relpath(file, self._base)).as_posix()
