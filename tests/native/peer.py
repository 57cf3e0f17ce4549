"""``unifdef``, the peer, and the edits of ``pruner.native`` applied."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from pruner.native import fold


def folded(data: bytes, facts: Mapping[str, int | str | None]) -> bytes:
    """The text under the facts."""
    branches = fold(data, facts)
    lines = data.split(b"\n")
    gone = {n for first, last, _ in branches.gone for n in range(first, last + 1)}
    for line, old, new, _ in branches.renamed:
        at = lines[line].index(old.encode(), lines[line].index(b"#"))
        rest = b"" if new == "else" else lines[line][at + len(old) :]
        lines[line] = lines[line][:at] + new.encode() + rest
    return b"\n".join(text for n, text in enumerate(lines) if n not in gone)


def unifdef(data: bytes, facts: Mapping[str, int | str | None]) -> bytes | None:
    """What ``unifdef -t`` leaves, blanks after ``#if`` made one; None when it gives up on the file.

    The wheel's build stops at a pointer check unless the first line ends with CR LF, so the text goes in and
    comes out with those.
    """
    beside = Path(sys.executable).with_name("unifdef")
    command = str(beside) if beside.exists() else shutil.which("unifdef")
    if command is None:
        pytest.fail("unifdef is missing: it is one of the development requirements")
    options = [f"-U{name}" if value is None else f"-D{name}={value}" for name, value in facts.items()]
    text = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    done = subprocess.run([command, "-t", *options], input=text, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        return None
    return normal(done.stdout)


def normal(data: bytes) -> bytes:
    """Line ends and the blanks behind ``#if`` made equal: unifdef writes ``#if  `` over ``#elif``."""
    data = data.replace(b"\r\n", b"\n")
    return re.sub(rb"^(\s*#\s*if)[ \t]+", rb"\1 ", data, flags=re.MULTILINE)
