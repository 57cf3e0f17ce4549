"""The diff of two trees, one entry per path, in git's order (by the bytes of the path)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from pruner.model import Edit, Outcome, Snapshot, SourceFile
from pruner.report.count import read
from pruner.report.diff.gitformat import NO_OBJECT, binary_patch, blob_id, is_binary, marker, quote
from pruner.report.diff.hunks import Change, apply, changes, hunks, signed, size, span, trim
from pruner.report.paths import encode

REGULAR, EXECUTABLE, LINK = b"100644", b"100755", b"120000"


@dataclass(frozen=True, slots=True)
class _Blob:
    mode: bytes
    data: bytes


def write_diff(snapshot: Snapshot, outcome: Outcome, extra: Mapping[str, bytes], stream: BinaryIO) -> None:
    """Write the whole diff. One file's content is in memory at a time.

    Raises PruneError (PR502) when upstream cannot be read, ValueError when a file's edits
    do not give its new content (a fault of the engine).
    """
    upstream = {file.path: file for file in snapshot.files}
    paths = set(outcome.files) | set(extra)
    for path in sorted(paths, key=encode):
        for part in _entry(snapshot, upstream.get(path), path, outcome, extra):
            stream.write(part)


def _entry(
    snapshot: Snapshot, file: SourceFile | None, path: str, outcome: Outcome, extra: Mapping[str, bytes]
) -> Iterator[bytes]:
    name = encode(path)
    content = extra.get(path, outcome.files.get(path))
    old = _Blob(_mode(file), read(snapshot, file)) if file is not None else None
    if content is None:
        if old is not None:
            yield from _deletion(name, old)
        return
    if old is None:
        yield from _creation(name, _Blob(REGULAR, content))
    elif old.mode == LINK:
        # git has no "modification" from a link to a file: it wants the two entries.
        yield from _deletion(name, old)
        yield from _creation(name, _Blob(REGULAR, content))
    elif content != old.data:
        edits = () if path in extra else outcome.edits.get(path, ())
        if edits and apply(old.data, edits) != content:
            raise ValueError(f"{path}: the edits do not give the new content")
        yield from _modification(name, old, content, edits)


def _mode(file: SourceFile) -> bytes:
    if file.link is not None:
        return LINK
    return EXECUTABLE if file.executable else REGULAR


def _head(name: bytes) -> bytes:
    return b"diff --git %b %b\n" % (quote(b"a/", name), quote(b"b/", name))


def _deletion(name: bytes, old: _Blob) -> Iterator[bytes]:
    yield _head(name) + b"deleted file mode %b\nindex %b..%b\n" % (old.mode, blob_id(old.data), NO_OBJECT)
    if is_binary(old.data):
        yield binary_patch(old.data, b"")
    elif old.data:
        yield b"--- %b\n+++ /dev/null\n@@ -%b +0,0 @@\n" % (marker(b"a/", name), span(0, size(old.data)))
        yield signed(b"-", old.data)


def _creation(name: bytes, new: _Blob) -> Iterator[bytes]:
    yield _head(name) + b"new file mode %b\nindex %b..%b\n" % (new.mode, NO_OBJECT, blob_id(new.data))
    if is_binary(new.data):
        yield binary_patch(b"", new.data)
    elif new.data:
        yield b"--- /dev/null\n+++ %b\n@@ -0,0 +%b @@\n" % (marker(b"b/", name), span(0, size(new.data)))
        yield signed(b"+", new.data)


def _modification(name: bytes, old: _Blob, new: bytes, edits: tuple[Edit, ...]) -> Iterator[bytes]:
    yield _head(name) + b"index %b..%b %b\n" % (blob_id(old.data), blob_id(new), old.mode)
    if is_binary(old.data) or is_binary(new):
        yield binary_patch(old.data, new)
        return
    found = changes(old.data, edits) if edits else [trim(old.data, Change(0, len(old.data), new))]
    yield b"--- %b\n+++ %b\n" % (marker(b"a/", name), marker(b"b/", name))
    yield from hunks(old.data, found)
