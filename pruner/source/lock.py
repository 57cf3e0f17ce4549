"""``upstream/lock.toml``: the releases that this project knows, each with file name, size and sha256."""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from pruner.errors import PruneError, cannot

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
# One path component, and a wheel: `../x.whl` in a lock must not name a file outside the cache.
_WHEEL = re.compile(r"[A-Za-z0-9_.!+]+(-[A-Za-z0-9_.!+]+){4,5}\.whl\Z")
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)")


@dataclass(frozen=True, slots=True)
class Release:
    """One published wheel. ``size`` is in bytes, ``sha256`` is of the wheel file, in hex."""

    version: str
    file: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Lock:
    """The lock file. ``default`` is the version that a run takes when it is given none."""

    path: Path
    project: str
    default: str
    releases: tuple[Release, ...]

    def find(self, version: str) -> Release | None:
        """The release of exactly this version."""
        return next((release for release in self.releases if release.version == version), None)

    def find_digest(self, sha256: str) -> Release | None:
        """The release whose wheel has this digest."""
        return next((release for release in self.releases if release.sha256 == sha256), None)


def default_lock_path() -> Path:
    """``upstream/lock.toml`` of the checkout that this package lies in."""
    return Path(__file__).resolve().parents[2] / "upstream" / "lock.toml"


def default_cache() -> Path:
    """Where fetched releases lie: ``$PRUNE_CACHE``, else ``.cache`` of the checkout, else the user's cache folder."""
    named = os.environ.get("PRUNE_CACHE")
    if named:
        return Path(named)
    lock = default_lock_path()
    if lock.exists() and os.access(lock.parents[1], os.W_OK):
        return lock.parents[1] / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "prune"


def read_lock(path: Path) -> Lock:
    """Read and check a lock file. Raises PruneError PR102, located where the parser knows the place."""
    shown = str(path)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line, column = (int(place[1]), int(place[2])) if place else (0, 0)
        text = _PLACE.sub("", str(error)).strip()
        raise cannot(shown, "PR102", f"not valid TOML: {text}", line=line, column=column) from error
    except (OSError, UnicodeDecodeError) as error:
        raise cannot(shown, "PR102", f"cannot read the lock file: {error}") from error
    project, default = data.get("project"), data.get("default")
    rows = data.get("release", [])
    if not isinstance(project, str) or not isinstance(default, str) or not isinstance(rows, list):
        raise cannot(shown, "PR102", "needs `project`, `default` and [[release]] tables")
    releases = tuple(_release(shown, index, row) for index, row in enumerate(rows, start=1))
    lock = Lock(path, project, default, releases)
    if len({release.version for release in releases}) != len(releases):
        raise cannot(shown, "PR102", "two [[release]] tables name the same version")
    if lock.find(default) is None:
        raise cannot(shown, "PR102", f"no [[release]] table for the default version {default}")
    return lock


def _release(shown: str, index: int, row: object) -> Release:
    if not isinstance(row, dict):
        raise cannot(shown, "PR102", f"release {index} is not a table")
    version, file, digest, size = (row.get(key) for key in ("version", "file", "sha256", "size"))
    problem: PruneError | None = None
    if not isinstance(version, str) or not version:
        problem = cannot(shown, "PR102", f"release {index}: `version` must be a string")
    elif not isinstance(file, str) or not _WHEEL.match(file):
        problem = cannot(shown, "PR102", f"release {version}: `file` must be the file name of a wheel")
    elif not isinstance(digest, str) or not _DIGEST.match(digest):
        problem = cannot(shown, "PR102", f"release {version}: `sha256` must be 64 hexadecimal digits")
    elif not isinstance(size, int) or size <= 0:
        problem = cannot(shown, "PR102", f"release {version}: `size` must be the number of bytes")
    else:
        return Release(version, file, digest, size)
    raise problem
