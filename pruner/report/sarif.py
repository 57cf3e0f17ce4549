"""Findings as SARIF 2.1.0 and as workflow annotations. Artifact paths are relative to the repository."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from pruner import __version__
from pruner.model import Finding

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HELP = "docs/troubleshooting.md, section "
LEVELS = {"PR4": "error", "PR5": "warning"}
"""By the first digit of the code; the rest are warnings too."""


def level(code: str) -> str:
    """``error`` for what a check refuted, else ``warning``."""
    return LEVELS.get(code[:3], "warning")


def sarif(findings: Sequence[Finding], meanings: Mapping[str, str]) -> dict[str, Any]:
    """The log of one run. ``meanings`` says in a sentence what a code means.

    Every result has a fingerprint of its code, path and text, not of its line, so that a finding
    stays the same one when lines above it move.
    """
    codes = sorted({row.code for row in findings})
    rules = [
        {
            "id": code,
            "name": code,
            "shortDescription": {"text": meanings.get(code, code)},
            "help": {"text": _HELP + code},
        }
        for code in codes
    ]
    driver = {"name": "prune", "semanticVersion": _semantic(__version__), "rules": rules}
    results = [_result(row, codes.index(row.code)) for row in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def sarif_bytes(document: Mapping[str, Any]) -> bytes:
    """The log as a file."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True).encode() + b"\n"


def _semantic(version: str) -> str:
    """PEP 440's ``0.1.0.dev0`` is no semantic version; its release number is."""
    parts = version.split(".")[:3]
    return ".".join(part if part.isdigit() else "0" for part in [*parts, "0", "0"][:3])


def _result(row: Finding, index: int) -> dict[str, Any]:
    text = row.text + (f". {row.advice}" if row.advice else "")
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(row.path)}}
    if row.line:
        place["region"] = {"startLine": row.line}
    mark = sha256(f"{row.code}\0{row.path}\0{row.text}".encode("utf-8", "backslashreplace")).hexdigest()[:32]
    return {
        "ruleId": row.code,
        "ruleIndex": index,
        "level": level(row.code),
        "message": {"text": text},
        "locations": [{"physicalLocation": place}] if row.path else [],
        "partialFingerprints": {"prune/v1": mark},
    }


def _uri(path: str) -> str:
    from urllib.parse import quote

    return quote(path.encode("utf-8", "surrogateescape"))


def workflow_lines(findings: Sequence[Finding]) -> list[str]:
    """``::warning file=…,line=…,title=…::…``, as GitHub Actions reads it from a step's output."""
    out = []
    for row in findings:
        fields = {"file": row.path, "line": str(row.line) if row.line else "", "title": row.code}
        text = ",".join(f"{key}={_field(value)}" for key, value in fields.items() if value)
        message = row.text + (f"; {row.advice}" if row.advice else "")
        out.append(f"::{level(row.code)} {text}::{_data(message)}")
    return out


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _field(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
