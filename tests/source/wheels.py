"""Small wheels and locks, made for one test."""

from __future__ import annotations

import hashlib
import stat
import zipfile
from pathlib import Path

FILES = {"demo/__init__.py": b"__version__ = '1.0'\n", "demo/data/table.json": b"{}\n", "demo/run.sh": b"#!/bin/sh\n"}


def entry(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    """An archive entry with a Unix mode and a fixed time."""
    info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
    info.external_attr = mode << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def make_wheel(folder: Path, version: str = "1.0", files: dict[str, bytes] | None = None) -> Path:
    """A wheel that pip takes: package, metadata, RECORD."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"demo-{version}-py3-none-any.whl"
    info = f"demo-{version}.dist-info"
    content = dict(FILES if files is None else files)
    content[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: demo\nVersion: {version}\n".encode()
    content[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    content[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in [*content, f"{info}/RECORD"]).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in content.items():
            mode = stat.S_IFREG | (0o755 if name.endswith(".sh") else 0o644)
            archive.writestr(entry(name, mode), text)
    return path


def make_lock(path: Path, *wheels: Path, **changes: str) -> Path:
    """A lock file for the wheels; ``changes`` override the keys of every row."""
    rows = ['project = "demo"', 'default = "1.0"']
    for wheel in wheels:
        row = {
            "version": wheel.name.split("-")[1],
            "file": wheel.name,
            "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        } | changes
        rows += ["[[release]]", *(f'{key} = "{value}"' for key, value in row.items())]
        rows.append(f"size = {wheel.stat().st_size}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path
