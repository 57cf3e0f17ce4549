"""Download a release with pip, without installing it, and check it against the lock.

pip is used rather than own HTTP code so that the user's index, proxy and certificate settings hold.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pruner.errors import cannot
from pruner.source.lock import Release, default_lock_path, read_lock


@dataclass(frozen=True, slots=True)
class Fetched:
    """A wheel on this disk: where, its sha256 in hex, its size in bytes, whether it was there before."""

    path: Path
    sha256: str
    size: int
    cached: bool


def fetch(
    version: str | None,
    lock_path: Path | None,
    cache_dir: Path,
    *,
    offline: bool = False,
    unlocked: bool = False,
) -> Path:
    """The wheel of one release, from the cache or downloaded; see :func:`download`."""
    return download(version, lock_path, cache_dir, offline=offline, unlocked=unlocked).path


def download(
    version: str | None,
    lock_path: Path | None,
    cache_dir: Path,
    *,
    offline: bool = False,
    unlocked: bool = False,
) -> Fetched:
    """Fetch one release (None: the lock's default) into ``cache_dir/wheels/<sha256>/``.

    ``offline`` never starts pip. ``unlocked`` admits a version that the lock does not name;
    its digest is then taken from the download itself and proves nothing.
    Raises PruneError: PR101 (not in the lock), PR103 (pip failed), PR104 (wrong digest),
    PR112 (offline and not cached), PR113 (the cache cannot be written).
    """
    lock = read_lock(lock_path or default_lock_path())
    version = version or lock.default
    release = lock.find(version)
    if release is None and not unlocked:
        known = ", ".join(row.version for row in lock.releases)
        raise cannot(
            str(lock.path),
            "PR101",
            f"{lock.project} {version} is not locked",
            f"locked are {known}; `prune fetch --unlocked {version}` takes it as it comes",
        )
    if release is not None:
        stored = cache_dir / "wheels" / release.sha256 / release.file
        # A half-written or damaged cache entry is fetched again, never used.
        if stored.is_file() and sha256_of(stored) == release.sha256:
            return Fetched(stored, release.sha256, stored.stat().st_size, cached=True)
    if offline:
        raise cannot(
            str(lock.path),
            "PR112",
            f"{lock.project} {version} is not in the cache and --offline forbids a download",
            f"run `prune fetch {version}` where a package index can be reached",
        )
    try:
        return _download(lock.project, version, release, cache_dir)
    except OSError as error:
        raise cannot(str(cache_dir), "PR113", f"cannot write the cache: {error.strerror or error}") from error


def _download(project: str, version: str, release: Release | None, cache_dir: Path) -> Fetched:
    wheels = cache_dir / "wheels"
    wheels.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".download-", dir=wheels) as folder:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--dest", folder]
        command += ["--quiet", "--disable-pip-version-check", "--no-input"]
        command += tag_options(release.file) if release else []
        command.append(f"{project}=={version}")
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        found = sorted(Path(folder).glob("*.whl"))
        if done.returncode or len(found) != 1:
            last = [line.strip() for line in done.stderr.splitlines() if line.strip().startswith("ERROR")]
            reason = " ".join(last) or done.stderr.strip().rpartition("\n")[2] or f"pip ended with {done.returncode}"
            raise cannot(
                f"{project}=={version}",
                "PR103",
                f"pip could not download it: {reason}",
                "check the network and pip's index settings, or give a wheel or folder with --upstream",
            )
        wheel = found[0]
        digest, size = sha256_of(wheel), wheel.stat().st_size
        if release is not None and digest != release.sha256:
            raise cannot(
                wheel.name,
                "PR104",
                f"sha256 is {digest} ({size} bytes), the lock says {release.sha256} ({release.size} bytes)",
                "the index served another file than the one that was locked; nothing of it was kept",
            )
        target = wheels / digest / (release.file if release else wheel.name)
        target.parent.mkdir(exist_ok=True)
        os.replace(wheel, target)
    return Fetched(target, digest, size, cached=False)


def tag_options(file: str) -> list[str]:
    """pip options that select the locked wheel whatever Python runs here.

    ``x-1-cp311-cp311-manylinux_2_34_x86_64.whl`` must be found by a Python 3.13 on another
    system too. A pure wheel needs none: pip takes it anywhere.
    """
    python, abi, platform = file.removesuffix(".whl").split("-")[-3:]
    options: list[str] = []
    if platform != "any":
        options += [part for tag in platform.split(".") for part in ("--platform", tag)]
    if abi != "none":
        options += ["--implementation", python[:2], "--abi", abi.split(".")[0]]
    digits = python.split(".")[0][2:]
    if len(digits) > 1:
        options += ["--python-version", f"{digits[0]}.{digits[1:]}"]
    return options


def sha256_of(path: Path) -> str:
    """sha256 of a file's bytes, hex. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
