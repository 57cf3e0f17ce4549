"""What a run decided: edits, removals with causes, findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, order=True)
class Cause:
    """Why something went.

    ``kind``: ``fact`` (a test decided by rules), ``unreached`` (no live reference),
    ``rule`` (a drop rule), ``orphan`` (an import, table or name whose users all went),
    ``notice`` and ``guard`` (inserted text). ``rules`` are rule ids; ``chain`` are human
    sentences from the nearest reason to the first one, each naming a place and no source text.
    """

    kind: str
    rules: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace bytes ``start:stop`` of the *original* file by ``text``."""

    start: int
    stop: int
    text: bytes
    cause: Cause


@dataclass(frozen=True, slots=True)
class Removal:
    """A row of the ledger: what went, where it stood in the upstream file, why. No source text."""

    path: str
    first: int  # line, 1-based
    last: int
    what: str  # "file", "branch", "tail", "function", "class", "variable", "import", "entry", "assert", "operand"
    name: str  # dotted name, "" for branches
    cause: Cause


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a person should look at; makes the exit code 1."""

    code: str
    path: str
    line: int
    text: str
    advice: str = ""


@dataclass(slots=True)
class RunResult:
    """Everything a run knows; ``document`` is the versioned JSON that reports are rendered from."""

    document: dict[str, Any]
    removals: tuple[Removal, ...] = ()
    findings: tuple[Finding, ...] = ()
    exit_code: int = 0
    edits: dict[str, tuple[Edit, ...]] = field(default_factory=dict)
