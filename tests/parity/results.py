"""Rows and traces as a run on a card leaves them."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from typing import Any

DIGEST = "sha256:" + "a" * 64


def row(cell: str = "bf16-triton", result: str = "identical", **more: Any) -> dict[str, Any]:
    group = {"result": result, "requests": 2, "tokens": 5}
    made = {"schema": "prune-parity/1", "cell": cell, "card": {"name": "H200"}, "result": result}
    return {**made, "groups": {"single": group}, "prune digest": {"upstream": "", "output": DIGEST}, **more}


def packed(**members: bytes) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as file:
        for name, content in members.items():
            member = tarfile.TarInfo(name.replace("_", "-") + ".json.gz")
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    return data.getvalue()


def zipped(value: Any) -> bytes:
    return gzip.compress(json.dumps(value).encode())
