"""Read a unified diff, as ``diff -u`` and ``git diff`` write it. Lines end at a line feed and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pruner.errors import PruneError, cannot

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ADVICE = "make it with `git diff` or `diff -u`"


@dataclass(frozen=True, slots=True)
class Hunk:
    """``start`` is the first old line, 1-based; rows are (sign, text with its line feed, if it has one)."""

    start: int
    rows: tuple[tuple[str, str], ...]
    number: int  # line in the patch file

    @property
    def old(self) -> list[str]:
        """The lines that must be there."""
        return [text for sign, text in self.rows if sign != "+"]

    @property
    def new(self) -> list[str]:
        """What stands there afterwards."""
        return [text for sign, text in self.rows if sign != "-"]


@dataclass(slots=True)
class FilePatch:
    """One file of a patch; None: the file is not there before, or after."""

    old: str | None
    new: str | None
    number: int
    binary: bool = False
    executable: bool | None = None
    hunks: list[Hunk] = field(default_factory=list)

    @property
    def path(self) -> str:
        """The path to speak of."""
        return self.new or self.old or ""


def within(files: list[FilePatch], prefix: Callable[[str], str]) -> None:
    """Take from all paths what a checkout has before the tree: the prefix that one of the files shows."""
    shown = {prefix(name) for file in files for name in (file.old, file.new) if name} - {""}
    for file in files:
        for before in sorted(shown, key=len, reverse=True):
            if any(name is not None and name.startswith(before) for name in (file.old, file.new)):
                file.old = file.old.removeprefix(before) if file.old is not None else None
                file.new = file.new.removeprefix(before) if file.new is not None else None
                break


def split(data: bytes) -> list[str]:
    """Lines with their line feeds. Bytes that are no UTF-8 travel as surrogates."""
    text = data.decode("utf-8", "surrogateescape")
    rows = text.split("\n")
    return [row + "\n" for row in rows[:-1]] + ([rows[-1]] if rows[-1] else [])


def join(lines: list[str]) -> bytes:
    """The bytes of lines."""
    return "".join(lines).encode("utf-8", "surrogateescape")


def parse(path: Path) -> list[FilePatch]:
    """All files of a patch. Raises PruneError PR311 with the line that cannot be read."""
    try:
        lines = split(path.read_bytes())
    except OSError as error:
        raise cannot(str(path), "PR311", f"cannot be read: {error.strerror}", "name a patch file") from error
    found: list[FilePatch] = []
    index, fresh = 0, True  # fresh: the next ---/+++ pair begins a file without a `diff --git` line
    while index < len(lines):
        line = lines[index].rstrip("\n")
        if line.startswith("diff --git "):
            one, _, two = line[len("diff --git ") :].partition(" b/")
            found.append(FilePatch(one.removeprefix("a/"), two, index + 1))
            fresh = False
        elif line.startswith("--- ") and index + 1 < len(lines) and lines[index + 1].startswith("+++ "):
            if fresh:
                found.append(FilePatch(None, None, index + 1))
            found[-1].old, found[-1].new = _name(line), _name(lines[index + 1].rstrip("\n"))
            fresh = True
            index += 1
        elif line.startswith("@@ ") and found:
            index = _hunk(path, lines, index, found[-1])
            continue
        elif found and not fresh:
            _header(found[-1], line)
        index += 1
    if not found:
        raise cannot(str(path), "PR311", "holds no file of a unified diff", _ADVICE)
    return found


def _name(line: str) -> str | None:
    name = line[4:].partition("\t")[0].strip().strip('"')
    if name == "/dev/null":
        return None
    return name[2:] if name[:2] in ("a/", "b/") else name


def _header(file: FilePatch, line: str) -> None:
    if line.startswith("new file mode"):
        file.old, file.executable = None, line.endswith("755")
    elif line.startswith("deleted file mode"):
        file.new = None
    elif line.startswith("new mode"):
        file.executable = line.endswith("755")
    elif line.startswith(("Binary files", "GIT binary patch")):
        file.binary = True


def _hunk(path: Path, lines: list[str], index: int, file: FilePatch) -> int:
    match = _HUNK.match(lines[index])
    if match is None:
        raise _broken(path, index, "is no hunk header")
    old, new = (int(match[group]) if match[group] else 1 for group in (2, 4))
    rows: list[tuple[str, str]] = []
    number, at = index + 1, index + 1
    while old > 0 or new > 0:
        if at >= len(lines):
            raise _broken(path, index, "the hunk ends too early")
        sign, text = lines[at][:1], lines[at][1:]
        if sign in ("\n", ""):
            sign, text = " ", lines[at]  # an editor took the blank of an empty context line
        if sign not in " +-":
            raise _broken(path, at, f"a line of a hunk begins with {sign!r}")
        rows.append((sign, text))
        old -= sign != "+"
        new -= sign != "-"
        at += 1
        if at < len(lines) and lines[at].startswith("\\"):
            rows[-1] = (sign, text.removesuffix("\n"))
            at += 1
    file.hunks.append(Hunk(int(match[1]), tuple(rows), number))
    return at


def _broken(path: Path, index: int, text: str) -> PruneError:
    return cannot(str(path), "PR311", text, _ADVICE, line=index + 1, column=1)
