"""Write all reports of a run into a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pruner.errors import cannot
from pruner.model import Outcome, Snapshot
from pruner.report.count import count
from pruner.report.diff import write_diff
from pruner.report.document import SCHEMA, document_bytes
from pruner.report.html import page_bytes
from pruner.report.ledger import ledger_bytes, ledger_markdown
from pruner.report.markdown import report_markdown


def render(
    document: Mapping[str, Any],
    snapshot: Snapshot,
    outcome: Outcome,
    folder: Path,
    *,
    extra: Mapping[str, bytes] | None = None,
    releases: Sequence[Mapping[str, Any]] = (),
    changes: Callable[[], None] | None = None,
) -> None:
    """Write report.json, report.md, report.html, ledger.json, ledger.md and changes.diff into an existing empty folder.

    ``extra`` must be what :func:`pruner.report.build` was given. ``releases`` are the rows of a ``matrix.json``.
    ``changes``, when given, sees to changes.diff by :func:`write_changes` (in another process, say).

    Raises PruneError: PR501 for a folder that is missing, not empty or not writable,
    PR502 for an upstream that cannot be read or changed, PR503 for a document of another
    format. Raises ValueError when the document was built from another outcome.
    """
    extra = extra or {}
    if document.get("schema") != SCHEMA:
        text = f"the document has schema {document.get('schema')!r}, this version renders {SCHEMA!r}"
        raise cannot("report.json", "PR503", text, "build it again with this version of prune")
    counts = count(snapshot, outcome, extra)
    ledger = ledger_bytes(document["upstream"]["snapshot"], document["policy"]["digest"], counts, outcome.removals)
    if sha256(ledger).hexdigest() != document["ledger"]["sha256"]:
        raise ValueError("the document was built from another outcome or other extra files")
    _check(folder, frozenset() if changes is None else frozenset({CHANGES}))
    try:
        (folder / "report.json").write_bytes(document_bytes(document))
        (folder / "report.md").write_bytes(report_markdown(document).encode("utf-8", "backslashreplace"))
        (folder / "ledger.json").write_bytes(ledger)
        page = ledger_markdown(outcome.removals, snapshot.python_root)
        (folder / "ledger.md").write_bytes(page.encode("utf-8", "backslashreplace"))
        (folder / "report.html").write_bytes(
            page_bytes(document, counts, outcome.removals, snapshot, outcome, releases)
        )
    except OSError as error:
        raise cannot(str(folder), "PR501", f"cannot write the reports: {error.strerror}", _ADVICE) from error
    if changes is not None:
        changes()
    else:
        write_changes(snapshot, outcome, folder, extra)


def write_changes(snapshot: Snapshot, outcome: Outcome, folder: Path, extra: Mapping[str, bytes]) -> None:
    """Write changes.diff. Raises PruneError as :func:`render` does."""
    try:
        with (folder / CHANGES).open("wb") as stream:
            write_diff(snapshot, outcome, extra, stream)
    except OSError as error:
        raise cannot(str(folder), "PR501", f"cannot write the reports: {error.strerror}", _ADVICE) from error


CHANGES = "changes.diff"
_ADVICE = "name a folder that can be written, on a disk with room"


def _check(folder: Path, begun: frozenset[str]) -> None:
    try:
        full = any(path.name not in begun for path in folder.iterdir())
    except OSError as error:
        raise cannot(str(folder), "PR501", f"cannot list the report folder: {error.strerror}", _ADVICE) from error
    if full:
        raise cannot(str(folder), "PR501", "the report folder is not empty", "empty it or name another")
