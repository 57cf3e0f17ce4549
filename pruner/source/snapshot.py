"""Any kind of upstream, opened as a :class:`~pruner.model.Snapshot`.

A wheel is unpacked into the cache under its digest; a folder is read where it lies.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from email.parser import HeaderParser
from pathlib import Path

from pruner.errors import PruneError, cannot, too_long
from pruner.model import Origin, Snapshot, SourceFile
from pruner.source.archive import unpack
from pruner.source.fetch import download, sha256_of
from pruner.source.lock import default_lock_path, read_lock
from pruner.source.tree import read_files

_VERSION = re.compile(r"v?\d+(\.\d+)+([a-z0-9.+]*)\Z")
# `__version__ = version = '1.2'` is what setuptools-scm writes where a checkout is installed.
_ASSIGNED = re.compile(r"^__version__\s*=\s*(?:version\s*=\s*)?['\"]([^'\"]+)['\"]", re.MULTILINE)
_PACKAGE = "sglang"


def open_snapshot(
    upstream: str | Path | None,
    cache_dir: Path,
    *,
    lock_path: Path | None = None,
    offline: bool = False,
    unlocked: bool = False,
) -> Snapshot:
    """Open an upstream: None (the locked default), a version, a wheel file, or a folder.

    A string that looks like a version is one; write ``./0.5.17`` for a folder of that name.
    Raises PruneError with PR1xx codes; see :mod:`pruner.source.fetch`, ``archive`` and ``tree``.
    """
    if upstream is None or (isinstance(upstream, str) and _VERSION.match(upstream)):
        version = upstream.removeprefix("v") if isinstance(upstream, str) else None
        wheel = download(version, lock_path, cache_dir, offline=offline, unlocked=unlocked)
        return _open_wheel(wheel.path, wheel.sha256, cache_dir, lock_path)
    if not str(upstream):  # Path("") is the current folder
        raise cannot("--upstream", "PR100", "names nothing", "name a version, a wheel or a folder")
    path = Path(upstream)
    if fault := too_long(str(upstream)):
        raise cannot("--upstream", "PR100", fault, "name a version, a wheel or a folder")
    if path.is_dir():
        return read_tree(path)
    if path.suffix == ".whl" and path.is_file():
        try:
            digest = sha256_of(path)
        except OSError as error:
            raise cannot(str(path), "PR108", f"cannot be read: {error.strerror}") from error
        return _open_wheel(path, digest, cache_dir, lock_path)
    if path.exists():
        advice = "give a version, a .whl file or a folder; unpack source archives first"
        raise cannot(str(path), "PR100", "neither a wheel nor a folder", advice)
    raise cannot(str(path), "PR100", "no such file, folder or version", "versions look like 0.5.17")


def read_tree(root: Path, kind: str | None = None) -> Snapshot:
    """Read a folder: an unpacked wheel, a checkout with ``python/sglang``, or any tree of Python files.

    ``kind`` overrides :attr:`Origin.kind` (the pipeline says ``case``). Raises PruneError
    (PR100, PR108 to PR111).
    """
    tops: set[str] | None = None
    python_root = ""
    if kind is None and (root / "python" / _PACKAGE).is_dir():
        kind, python_root = "checkout", "python"
    elif kind is None and root.name == _PACKAGE and (root / "srt").is_dir() and not (root / _PACKAGE).is_dir():
        advice = f"name the folder that holds {_PACKAGE}/: {root.parent}"
        raise cannot(str(root), "PR100", f"this is the package {_PACKAGE} itself", advice)
    elif kind is None and (root / _PACKAGE).is_dir():
        infos = [entry.name for entry in root.glob("*.dist-info")]
        if len(infos) > 1:  # a site-packages folder: torch and the rest are not upstream
            tops = {_PACKAGE, *(name for name in infos if name.startswith(f"{_PACKAGE}-"))}
    files = read_files(root, tops)
    if not any(file.path.endswith(".py") for file in files):
        advice = "for a submodule run `git submodule update --init --depth 1`" if not files else ""
        raise cannot(str(root), "PR111", "holds no Python file", advice)
    if kind is None and not any(file.path.startswith(f"{_PACKAGE}/") for file in files):
        python_root = _source_folder(files)
    name, version = _identity(root, python_root, files)
    return Snapshot(root, files, Origin(kind or "tree", name, version, ""), python_root)


def _source_folder(files: tuple[SourceFile, ...]) -> str:
    """``src`` for a tree whose Python files outside it are no packages (``setup.py``, ``tests/``)."""
    paths = {file.path for file in files if file.path.endswith(".py")}
    packages = {path.split("/")[0] for path in paths if path.endswith("/__init__.py")}
    modules = {path for path in paths if "/" not in path}
    inside = "src/__init__.py" not in paths and any(path.startswith("src/") for path in paths)
    only = packages <= {"src", "tests", "test", "docs"} and modules <= {"setup.py", "conftest.py"}
    return "src" if inside and only else ""


def _identity(root: Path, python_root: str, files: tuple[SourceFile, ...]) -> tuple[str, str]:
    """Name and version as the tree itself states them; the folder's name and place say nothing."""
    for file in files:
        top, _, rest = file.path.partition("/")
        if top.endswith(".dist-info") and rest == "METADATA":
            headers = HeaderParser().parsestr((root / file.path).read_text(encoding="utf-8", errors="replace"))
            return str(headers.get("Name", "")), str(headers.get("Version", ""))
    prefix = f"{python_root}/" if python_root else ""
    paths = {file.path for file in files if file.link is None}
    for stem in ("version", "_version", "__init__"):
        path = f"{prefix}{_PACKAGE}/{stem}.py"
        if path in paths:
            found = _ASSIGNED.search((root / path).read_text(encoding="utf-8", errors="replace"))
            if found:
                return _PACKAGE, found[1]
    known = any(path.startswith(f"{prefix}{_PACKAGE}/") for path in paths)
    return (_PACKAGE if known else ""), ""


def _open_wheel(wheel: Path, digest: str, cache_dir: Path, lock_path: Path | None) -> Snapshot:
    """Unpack once per digest, and again when the unpacked files are no longer those that were written."""
    trees = cache_dir / "trees"
    root, seal = trees / digest, trees / f"{digest}.digest"
    try:
        trees.mkdir(parents=True, exist_ok=True)
        with _exclusive(trees / ".lock"):
            for leftover in trees.glob(".unpacking-*"):  # of a killed run: nobody else is here
                shutil.rmtree(leftover, ignore_errors=True)
            snapshot = _sealed(root, seal)
            if snapshot is None:
                shutil.rmtree(root, ignore_errors=True)
                folder = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=trees))
                try:
                    unpack(wheel, folder)
                    snapshot = read_tree(folder)
                    folder.chmod(0o755)
                    seal.write_text(snapshot.digest + "\n", encoding="ascii")
                    os.rename(folder, root)
                finally:
                    shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise cannot(str(trees), "PR113", f"cannot write the cache: {error.strerror or error}") from error
    lock = lock_path or default_lock_path()
    release = read_lock(lock).find_digest(digest) if lock.exists() else None
    name, _, rest = wheel.name.partition("-")
    origin = Origin(
        "release" if release else "wheel",
        snapshot.origin.name or name,
        release.version if release else snapshot.origin.version or rest.partition("-")[0],
        digest,
    )
    return Snapshot(root, snapshot.files, origin, snapshot.python_root)


def _sealed(root: Path, seal: Path) -> Snapshot | None:
    """The unpacked tree if it is there and as it was unpacked."""
    try:
        snapshot = read_tree(root)
        return snapshot if seal.read_text(encoding="ascii").strip() == snapshot.digest else None
    except (OSError, PruneError, UnicodeDecodeError):
        return None


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """Wait for the only right to change the unpacked trees; the system frees it when a process dies."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
