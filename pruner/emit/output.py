"""The pruned tree and the reports, as folders.

Blind to: owners and times of files; an empty folder of upstream's is not carried over.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from pruner.emit.lock import place
from pruner.emit.swap import move_tree, write_tree
from pruner.errors import cannot, shortened, too_long
from pruner.model import Outcome, Snapshot, SourceFile

MANIFEST = "PRUNED.json"
"""A folder that holds this file is an output of ours and may be replaced."""
INDEX = ".reports.json"
"""In a reports folder: the paths that the last run wrote. All others are the user's and stay."""
LONGEST = len("..refuted.previous")
"""Bytes that are put to the name of an output or reports folder while it is written."""
PLACEHOLDERS = frozenset({".gitkeep", ".gitignore", "README", "README.md"})


def check_target(target: Path, *, force: bool = False) -> None:
    """Refuse to replace a folder that is not an output of ours.

    Ours: absent, empty but for placeholders, or with a ``PRUNED.json``.
    Raises PruneError PR301 (someone else's), PR305 (a file).
    """
    path = place(target)
    if not path.exists():
        return
    if not path.is_dir():
        raise cannot(str(target), "PR305", "is a file, not a folder", "name another folder, or remove it")
    names = set(os.listdir(path))
    if force or MANIFEST in names or names <= PLACEHOLDERS:
        return
    text = f"holds {len(names)} entries and no {MANIFEST}, so it is not an earlier output"
    raise cannot(str(target), "PR301", text, "name another folder; --force replaces this one, all of it")


def check_paths(root: Path, output: Path, reports: Path | None) -> None:
    """Refuse an output that would replace upstream or the reports, or be read as upstream at the next run.

    ``root`` is the upstream folder. A folder without a name of its own, or with one that leaves no room for those beside it, is refused too. Raises PruneError PR303.
    """
    pairs = [("output", output, "upstream", root)]
    if reports is not None:
        pairs += [("reports", reports, "upstream", root), ("output", output, "reports", reports)]
    for folder in (output, *([reports] if reports is not None else [])):
        if not folder.name or not place(folder).name:  # "/", ".", "": a tree is built beside its place
            text = "has no name of its own, and the tree is built beside it"
            raise cannot(str(folder), "PR303", text, "name a folder, as in build/generated")
        fault = too_long(str(folder), LONGEST) or too_long(str(place(folder)), LONGEST)
        if fault:
            raise cannot(shortened(str(folder)), "PR303", fault, "name a shorter one")
    for one, left, other, right in pairs:
        inner, outer = place(left), place(right)
        if inner == outer or outer in inner.parents or inner in outer.parents:
            advice = "name two folders of which neither holds the other"
            raise cannot(str(left), "PR303", f"the {one} and the {other} folder ({right}) overlap", advice)


def emit_output(
    snapshot: Snapshot,
    outcome: Outcome,
    target: Path,
    extra_files: Mapping[str, bytes],
    *,
    force: bool = False,
) -> None:
    """Write the pruned tree: unchanged files copied, edited ones written, removed ones left out.

    ``extra_files`` (path to content) come on top and win. Modes are 755 for what upstream has
    as executable, else 644; links stay links. Raises PruneError with PR3xx codes; PR304 when a
    file of upstream is no longer the one that was read.
    """
    check_target(target, force=force)
    files = {file.path: file for file in snapshot.files}

    def fill(folder: Path) -> None:
        for path, file in files.items():
            if path in extra_files:
                continue
            if path not in outcome.files:
                _copy(snapshot, file, folder)
                continue
            content = outcome.files[path]
            if content is not None:
                _write(folder, path, content, file.executable)
        for path, content in outcome.files.items():
            if path not in files and path not in extra_files and content is not None:
                _write(folder, path, content, False)
        for path, extra in extra_files.items():
            _write(folder, path, extra, path in files and files[path].executable)

    write_tree(target, fill)


def place_output(aside: Path, target: Path, changed: Mapping[str, bytes], *, force: bool = False) -> None:
    """Put a tree that :func:`emit_output` wrote beside ``target``, and that was judged there, in its place.

    ``changed`` (path to content) are files of the tree that say something else there. ``aside`` is
    gone afterwards. Raises PruneError with PR3xx codes.
    """
    check_target(target, force=force)

    def change(folder: Path) -> None:
        for path, content in changed.items():
            mode = (folder / path).stat().st_mode
            (folder / path).unlink()
            _write(folder, path, content, bool(mode & 0o100))

    move_tree(aside, target, change)


def emit_reports(target: Path, writer: Callable[[Path], None]) -> None:
    """Replace the reports of the last run, all at once, by what ``writer`` puts into an empty folder.

    What is in the folder and was not written by a run (a README, a figure that git tracks)
    stays. Raises PruneError with PR3xx codes, and what ``writer`` raises.
    """
    old = place(target)

    def fill(folder: Path) -> None:
        earlier = _written(old)
        writer(folder)
        index = json.dumps(sorted(_files(folder)), indent=0).encode() + b"\n"
        for path in _files(old) if old.is_dir() else ():
            copy = folder / path
            if path not in earlier and path != INDEX and not os.path.lexists(copy):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(old / path, copy, follow_symlinks=False)
        _write(folder, INDEX, index, False)

    write_tree(target, fill)


def _written(folder: Path) -> frozenset[str]:
    try:
        rows = json.loads((folder / INDEX).read_bytes())
    except (OSError, ValueError):
        return frozenset()
    return frozenset(row for row in rows if isinstance(row, str)) if isinstance(rows, list) else frozenset()


def _files(folder: Path) -> list[str]:
    """Paths of all files and links below a folder, relative to it."""
    return [Path(top, name).relative_to(folder).as_posix() for top, _, names in os.walk(folder) for name in names]


def _copy(snapshot: Snapshot, file: SourceFile, folder: Path) -> None:
    if file.link is not None:
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        os.symlink(file.link, path)
        return
    try:
        content = (snapshot.root / file.path).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise cannot(str(snapshot.root / file.path), "PR304", f"can no longer be read: {reason}") from error
    if hashlib.sha256(content).hexdigest() != file.digest:
        advice = "run again when nothing else writes to upstream"
        raise cannot(str(snapshot.root / file.path), "PR304", "changed while the run was on", advice)
    _write(folder, file.path, content, file.executable)


def _write(folder: Path, path: str, content: bytes, executable: bool) -> None:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise ValueError(f"{path!r} does not name a file below the folder")
    full = folder / pure
    full.parent.mkdir(parents=True, exist_ok=True)
    # "x": an edit of a linked module must not be written through the link, nor anything twice.
    with open(full, "xb") as file:
        file.write(content)
    os.chmod(full, 0o755 if executable else 0o644)
