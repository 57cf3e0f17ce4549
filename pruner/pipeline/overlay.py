"""Local changes that are put on the pruned tree after it was checked: ``overlay/*.patch`` in name order, then
``overlay/files/``.

Files may only be added; what exists is changed by a patch. So an overlay can be taken off again exactly, and
``prune verify`` judges the tree below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from pruner import verify
from pruner.errors import Diagnostic, PruneError, cannot
from pruner.model import Outcome, Snapshot, Verdict
from pruner.pipeline.patch.parse import FilePatch, Hunk, join, parse, split
from pruner.pipeline.patch.place import Change, changes, locate, rewritten

OWN = frozenset({"PRUNED.json"})
_PORT = "`prune port` may carry it over; else write it again for the new tree"


@dataclass(frozen=True, slots=True)
class Overlay:
    """``patches`` are (file, its files, its digest), ``files`` path -> content."""

    folder: Path
    patches: tuple[tuple[Path, tuple[FilePatch, ...], str], ...]
    files: Mapping[str, bytes]

    def document(self) -> dict[str, Any]:
        """What the manifest and the report say of it; no text."""
        touched = sorted({path for _, files, _ in self.patches for file in files for path in _paths(file)})
        return {
            "patches": [{"name": path.name, "sha256": digest} for path, _, digest in self.patches],
            "files": [{"path": p, "sha256": sha256(d).hexdigest()} for p, d in sorted(self.files.items())],
            "patched": touched,
        }


def read_overlay(folder: Path | None) -> Overlay | None:
    """The overlay of a folder; None when there is none, or it is empty.

    Raises PruneError PR311 for a patch that is none, PR312 for an entry that is neither.
    """
    if folder is None or not folder.is_dir():
        return None
    patches = []
    for path in sorted(folder.glob("*.patch")):
        patches.append((path, tuple(parse(path)), sha256(path.read_bytes()).hexdigest()))
    root = folder / "files"
    files = {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}
    known = {path.name for path, _, _ in patches} | {"files"}
    for entry in sorted(folder.iterdir()):
        if entry.name not in known and not entry.name.startswith((".", "README")):
            raise cannot(str(entry), "PR312", "is neither a *.patch nor the folder files", "move or rename it")
    return Overlay(folder, tuple(patches), files) if patches or files else None


def put_on(overlay: Overlay, root: Path) -> dict[str, bytes | None]:
    """path -> new content, None for a file that goes, over the tree at ``root``; nothing is written.

    Raises PruneError PR312 with every place that does not fit, PR314 for a file that is there already.
    """
    out: dict[str, bytes | None] = {}
    faults: list[Diagnostic] = []
    for name, files, _ in overlay.patches:
        for file in files:
            faults += _patch(name, file, root, out)
    for path in overlay.files:
        place = overlay.folder / "files" / path
        if path in OWN or out.get(path) is not None or (path not in out and (root / path).is_file()):
            text = f"{path} is in the generated tree already"
            faults.append(_fault(place, 0, "PR314", text, "change it by a patch"))
        out[path] = overlay.files[path]
    if faults:
        raise PruneError(*faults)
    return out


def patched(
    overlay: Overlay, snapshot: Snapshot, outcome: Outcome, root: Path
) -> dict[str, tuple[bytes, bytes | None]]:
    """path -> (the pruned content, what the tree at ``root`` holds) of each file that the patches speak of."""
    known = {file.path for file in snapshot.files if file.link is None}
    out: dict[str, tuple[bytes, bytes | None]] = {}
    for path in overlay.document()["patched"]:
        before = outcome.files[path] if path in outcome.files else snapshot.read(path) if path in known else None
        place = root / path
        if before is not None:
            out[path] = (before, place.read_bytes() if place.is_file() else None)
    return out


def take_off(overlay: Overlay, root: Path) -> dict[str, bytes | None]:
    """The inverse of :func:`put_on` over a tree that has the overlay on. Raises PruneError PR312, PR314."""
    out: dict[str, bytes | None] = {}
    faults: list[Diagnostic] = []
    for path, content in overlay.files.items():
        place = root / path
        if not place.is_file() or place.read_bytes() != content:
            faults.append(_fault(place, 0, "PR314", "is not the overlay's file", "run prune again"))
        out[path] = None
    for name, files, _ in reversed(overlay.patches):
        for file in reversed(files):
            faults += _patch(name, _inverse(file), root, out)
    if faults:
        raise PruneError(*faults)
    return out


def _paths(file: FilePatch) -> list[str]:
    return sorted({path for path in (file.old, file.new) if path})


def _inverse(file: FilePatch) -> FilePatch:
    signs = {"+": "-", "-": "+", " ": " "}
    hunks = []
    shift = 0  # what the hunks above added: the old side of the inverse is the new side of the patch
    for hunk in file.hunks:
        rows = tuple((signs[sign], text) for sign, text in hunk.rows)
        grown = len(hunk.new) - len(hunk.old)
        hunks.append(Hunk(hunk.start + shift, rows, hunk.number))
        shift += grown
    return replace(file, old=file.new, new=file.old, hunks=hunks)


def _patch(name: Path, file: FilePatch, root: Path, out: dict[str, bytes | None]) -> list[Diagnostic]:
    path = file.path
    if path in OWN or ".." in Path(path).parts or Path(path).is_absolute():
        return [_fault(name, file.number, "PR312", f"{path} may not be patched", "leave it out")]
    if file.binary or (file.old and file.new and file.old != file.new):
        return [
            _fault(name, file.number, "PR312", f"{path}: a binary change or a renaming", "put the file into files/")
        ]
    place = root / path
    there = out[path] if path in out else place.read_bytes() if place.is_file() else None
    if file.old is None:
        if there is not None:
            return [_fault(name, file.number, "PR312", f"{path} is there already", "change it by hunks")]
        out[path] = join([text for hunk in file.hunks for text in hunk.new])
        return []
    if there is None:
        return [_fault(name, file.number, "PR312", f"{path} is not in the generated tree", _PORT)]
    lines = split(there)
    edits: list[Change] = []
    faults = []
    for hunk in file.hunks:
        at = locate(hunk, lines)
        if at is None:
            text = f"no longer applies: the lines of this hunk stand nowhere in {path}"
            faults.append(_fault(name, hunk.number, "PR312", text, _PORT))
        else:
            edits += changes(hunk, at)
    if not faults:
        out[path] = None if file.new is None else join(rewritten(lines, edits))
    return faults


def _fault(place: Path, line: int, code: str, text: str, advice: str) -> Diagnostic:
    return Diagnostic(str(place), line, 1 if line else 0, "error", code, text, advice)


def same(overlay: Overlay | None, recorded: Mapping[str, Any] | None) -> bool:
    """Is this the overlay that a manifest records?"""
    return (overlay.document() if overlay else None) == (dict(recorded) if recorded else None)


def judge(upstream: Path, output: Path, rules: Sequence[Path], python_root: str, jobs: int) -> list[Verdict]:
    """What can be said of a tree with local changes: it compiles, its names and its imports resolve."""
    found = verify.run(
        upstream, output, list(rules), python_root=python_root, jobs=jobs, checks=("compile", "lint", "imports")
    )
    return [replace(row, check=f"overlay: {row.check}") for row in found]
