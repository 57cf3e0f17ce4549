"""An upstream tree as an immutable, digested set of files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

REMEMBERED = 2**20  # bytes: what a snapshot keeps of a file that was read; a longer one is no source


@dataclass(frozen=True, slots=True, order=True)
class SourceFile:
    """One file of a snapshot. ``path`` is posix and relative to the tree's root."""

    path: str
    digest: str  # sha256 of the content, hex; of the target text for a link
    size: int  # bytes
    executable: bool = False
    link: str | None = None  # target as written, when the file is a symbolic link


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a snapshot came from; goes into the manifest, so it holds no local path."""

    kind: str  # "release" | "wheel" | "tree" | "checkout" | "case"
    name: str  # "sglang"
    version: str  # "0.5.17", or "" when unknown
    digest: str  # sha256 of the wheel file, or "" for a folder


def import_path(path: str, python_root: str) -> str | None:
    """``path`` relative to the folder of ``sys.path`` that it lies in; None when it lies in none.

    In a checkout (``python_root`` is ``python``) the packages of other projects below it are installed from folders
    of that name as well: ``sgl-kernel/python/sgl_kernel/moe.py`` is ``sgl_kernel/moe.py``, and so is
    ``sgl-kernel/python/src/sgl_kernel/moe.py``. Scripts beside such a package (``setup.py``) are no modules.
    """
    if not python_root:
        return path
    if path.startswith(f"{python_root}/"):
        return path[len(python_root) + 1 :]
    head, found, rest = path.partition(f"/{python_root}/")
    rest = rest.removeprefix("src/")
    return rest if head and found and "/" in rest else None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An upstream tree.

    ``root`` is the folder to read from (never written to any output). ``python_root``
    is the folder, relative to ``root``, that goes on ``sys.path``: ``""`` for a wheel
    or a case, ``"python"`` for a checkout; see :func:`import_path`. Every path is relative to ``root``.
    """

    root: Path
    files: tuple[SourceFile, ...]  # sorted by path
    origin: Origin
    python_root: str = ""
    _read: dict[str, bytes] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __reduce__(self) -> tuple[type[Snapshot], tuple[object, ...]]:
        """Without what was read: another process reads what it needs."""
        return Snapshot, (self.root, self.files, self.origin, self.python_root)

    @property
    def digest(self) -> str:
        """sha256 over the sorted (path, digest, executable, link) rows."""
        import hashlib

        total = hashlib.sha256()
        for file in self.files:
            total.update(f"{file.path}\0{file.digest}\0{int(file.executable)}\0{file.link or ''}\n".encode())
        return total.hexdigest()

    def read(self, path: str) -> bytes:
        """The bytes of one file, remembered: a run asks for each about six times. Raises OSError."""
        data = self._read.get(path)
        if data is None:
            data = (self.root / path).read_bytes()
            if len(data) <= REMEMBERED:
                self._read[path] = data
        return data

    def batches(self, suffix: str, size: int = 100) -> list[tuple[str, ...]]:
        """The paths of files with this suffix, links not among them, in portions of ``size``."""
        paths = [file.path for file in self.files if file.path.endswith(suffix) and file.link is None]
        return [tuple(paths[start : start + size]) for start in range(0, len(paths), size)]
