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


@dataclass(frozen=True, slots=True, order=True)
class GuardCall:
    """A call of the generated module that stands in the output: which guard, in which function."""

    key: str  # Guard.key
    rule: str
    path: str
    line: int  # of the function, in the upstream file
    function: str  # dotted name below the module
    where: str  # "entry" or "after"


@dataclass(frozen=True, slots=True, order=True)
class StoreRecord:
    """A store that could break a fact. ``standing``: removed, compatible, guarded, definition or breaks."""

    path: str
    line: int
    text: str  # how and what: ``setattr device``; no source text
    standing: str


@dataclass(frozen=True, slots=True)
class FactRecord:
    """One fact as the run took it. ``status``: admitted, rejected, not asked; with ``valid_from`` guarded, or from a point on.

    ``readers`` are the modules whose code asked for the subject, ``folds`` counts the places that it decided,
    alone or with others.
    """

    subject: str
    rule: str
    status: str
    readers: tuple[str, ...] = ()
    stores: tuple[StoreRecord, ...] = ()
    folds: int = 0


@dataclass(frozen=True, slots=True, order=True)
class OperationRecord:
    """An operation that sources of the tree register, and the place of kept text that names it (or ``""``)."""

    library: str
    name: str
    place: str  # path:line of the first registration, in the upstream file
    kept: bool
    named: str
    rule: str  # the rule that drops or keeps it, or ""


@dataclass(slots=True)
class RunResult:
    """Everything a run knows; ``document`` is the versioned JSON that reports are rendered from."""

    document: dict[str, Any]
    removals: tuple[Removal, ...] = ()
    findings: tuple[Finding, ...] = ()
    exit_code: int = 0
    edits: dict[str, tuple[Edit, ...]] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)  # name of a rule file -> the path that was given


@dataclass(slots=True)
class Outcome:
    """The engine's answer for one snapshot under one policy, before anything is written.

    ``files`` maps a path to its new content (edited), or to None (removed). A path that is
    absent travels byte for byte. ``kept_ranges`` gives, per edited file, the inclusive
    upstream line ranges that survive. ``folds`` counts decided places per rule id;
    ``edges`` and ``roots`` are the live graph for ``why`` questions: node ids are
    ``pkg.mod`` and ``pkg.mod:name``, an edge row is (source, target, kind, path, line).
    """

    files: dict[str, bytes | None]
    edits: dict[str, tuple[Edit, ...]]
    removals: tuple[Removal, ...]
    findings: tuple[Finding, ...]
    folds: dict[str, int]
    kept_ranges: dict[str, tuple[tuple[int, int], ...]]
    roots: tuple[tuple[str, str], ...] = ()  # (node id, rule id)
    edges: tuple[tuple[str, str, str, str, int], ...] = ()
    statistics: dict[str, int] = field(default_factory=dict)
    guards: tuple[GuardCall, ...] = ()
    facts: tuple[FactRecord, ...] = ()
    fact_folds: dict[str, int] = field(default_factory=dict)  # decided places per "rule subject"
    operations: tuple[OperationRecord, ...] = ()
    open_stores: tuple[tuple[str, int], ...] = ()  # (path, line): a computed name of an object nobody knows


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer of one check. ``result`` is ``passed``, ``refuted`` or ``not run``."""

    check: str
    covered: str  # what was looked at, with counts, for a person
    result: str
    details: tuple[str, ...] = ()  # located messages, at most 50; the count is in ``covered``
    seconds: float = 0.0
    figures: dict[str, Any] = field(default_factory=dict, compare=False)  # what a check counted, for the report
