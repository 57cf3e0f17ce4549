"""Unpack a wheel into a new folder; refuse anything that could leave it.

Every entry is checked before the first byte is written. Python's own ``extractall`` renames
what it finds unsafe (``/etc/x`` becomes ``etc/x``), so two archives would give one tree; here
such an archive is refused instead.
"""

from __future__ import annotations

import re
import shutil
import stat
import zipfile
import zlib
from pathlib import Path

from pruner.errors import Diagnostic, PruneError, cannot
from pruner.source.tree import folded

MAX_TOTAL = 4 << 30
"""Bytes that all entries together may unpack to."""
MAX_RATIO = 200
"""Unpacked bytes per packed byte that a big file may have; source text stays below 20."""
BIG = 8 << 20
"""Bytes from which on the ratio counts: a small file of blanks may well pack 1000 to 1."""
MAX_ENTRIES = 200_000
MAX_SHOWN = 20

_DRIVE = re.compile(r"[A-Za-z]:")


def unpack(wheel: Path, target: Path) -> None:
    """Unpack ``wheel`` into ``target``, a folder that exists and is empty.

    Raises PruneError: PR105 (unsafe entry), PR106 (not a wheel, or damaged), PR107 (too big).
    OSError of the disk is the caller's. Executable bits travel; owners, times and other modes do not.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            entries = archive.infolist()
            check_entries(wheel.name, entries)
            for entry in entries:
                _extract(archive, entry, target)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise cannot(str(wheel), "PR106", f"not a wheel, or damaged: {error}") from error


def check_entries(name: str, entries: list[zipfile.ZipInfo]) -> None:
    """Refuse the whole archive if any entry is unsafe. Raises PruneError with one diagnostic per entry."""
    if len(entries) > MAX_ENTRIES:
        raise cannot(name, "PR107", f"{len(entries)} entries; at most {MAX_ENTRIES} are unpacked")
    total = sum(entry.file_size for entry in entries)
    if total > MAX_TOTAL:
        raise cannot(name, "PR107", f"would unpack to {total} bytes; at most {MAX_TOTAL} are unpacked")
    problems: list[Diagnostic] = []
    seen: dict[str, str] = {}
    folders: dict[str, str] = {}
    for entry in entries:
        code, text = _entry_problem(entry)
        same_name = folded(entry.filename).removesuffix("/")
        if not text and same_name in seen:
            twin = seen[same_name]
            same = "twice in the archive" if twin == entry.filename else f"differs only in case from {twin!r}"
            code, text = "PR105", same
        seen.setdefault(same_name, entry.filename)
        parts = same_name.split("/")
        for depth in range(1, len(parts)):
            folders.setdefault("/".join(parts[:depth]), entry.filename)
        if text:
            problems.append(Diagnostic(name, 0, 0, "error", code, f"entry {entry.filename!r}: {text}"))
    for same_name, child in folders.items():
        if same_name in seen and not seen[same_name].endswith("/"):
            text = f"entry {seen[same_name]!r}: is a file and, by {child!r}, a folder"
            problems.append(Diagnostic(name, 0, 0, "error", "PR105", text))
    if problems:
        more = len(problems) - MAX_SHOWN
        if more > 0:
            problems[MAX_SHOWN:] = [Diagnostic(name, 0, 0, "error", "PR105", f"and {more} more unsafe entries")]
        raise PruneError(*problems)


def _entry_problem(entry: zipfile.ZipInfo) -> tuple[str, str]:
    # zipfile cuts the name at NUL and turns os.sep into "/"; orig_filename is what the archive says.
    name = entry.orig_filename
    parts = name.removesuffix("/").split("/")
    mode = entry.external_attr >> 16
    if not name or "\0" in name or "\\" in name:
        return "PR105", "a name that systems read differently (empty, backslash or NUL)"
    if name.startswith("/") or _DRIVE.match(name):
        return "PR105", "absolute path"
    if any(part in ("", ".", "..") for part in parts):
        return "PR105", "a path with '.', '..' or empty parts"
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "PR105", "symbolic link" if stat.S_ISLNK(mode) else "neither a file nor a folder"
    if entry.flag_bits & 0x1:
        return "PR105", "encrypted"
    if entry.file_size > BIG and entry.file_size > MAX_RATIO * max(1, entry.compress_size):
        return "PR107", f"unpacks {entry.compress_size} bytes to {entry.file_size}"
    return "", ""


def _extract(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path) -> None:
    path = target / entry.filename
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # Reading stops at the declared size and checks the CRC, so a header that lies about the
    # size cannot unpack more than was counted. "x": the target holds nothing that can be followed.
    with archive.open(entry) as packed, path.open("xb") as file:
        shutil.copyfileobj(packed, file, 1 << 20)
    executable = (entry.external_attr >> 16) & stat.S_IXUSR
    path.chmod(0o755 if executable else 0o644)
