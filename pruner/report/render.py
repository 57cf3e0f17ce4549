"""Write all reports of a run into a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from pruner.errors import cannot
from pruner.model import Outcome, Snapshot
from pruner.report.count import count
from pruner.report.diff import write_diff
from pruner.report.document import SCHEMA, Account, document_bytes
from pruner.report.html import page_bytes
from pruner.report.ledger import ledger_bytes, ledger_markdown
from pruner.report.markdown import report_markdown
from pruner.report.operation import operations_bytes, operations_markdown

CHANGES, PAGE = "changes.diff", "report.html"
Part = Callable[[], None]
_ADVICE = "name a folder that can be written, on a disk with room"


def render(
    document: Mapping[str, Any],
    snapshot: Snapshot,
    outcome: Outcome,
    folder: Path,
    *,
    extra: Mapping[str, bytes] | None = None,
    releases: Sequence[Mapping[str, Any]] = (),
    lines: Account | None = None,
    sources: Iterable[tuple[str, str]] | None = None,
    parts: Callable[[Part], Callable[[], None]] = lambda part: part,
) -> None:
    """Write report.json, report.md, report.html, ledger.json, ledger.md and changes.diff into an existing empty folder.

    A tree whose sources register operations has operations.json and operations.md as well.

    ``extra`` and ``lines`` must be what :func:`pruner.report.build` was given. ``releases`` are the rows of a
    ``matrix.json``, ``sources`` what :func:`pruner.report.html.packed` gave. ``parts`` starts the writing of a file (in another process, say); what it gives is called
    when the file must be there.

    Raises PruneError: PR501 for a folder that is missing, not empty or not writable,
    PR502 for an upstream that cannot be read or changed, PR503 for a document of another
    format. Raises ValueError when the document was built from another outcome.
    """
    extra = extra or {}
    if document.get("schema") != SCHEMA:
        text = f"the document has schema {document.get('schema')!r}, this version renders {SCHEMA!r}"
        raise cannot("report.json", "PR503", text, "build it again with this version of prune")
    if lines is None:
        counts = count(snapshot, outcome, extra)
        digests = document["upstream"]["snapshot"], document["policy"]["digest"]
        lines = Account(counts, ledger_bytes(*digests, counts, outcome.removals))
    if sha256(lines.ledger).hexdigest() != document["ledger"]["sha256"]:
        raise ValueError("the document was built from another outcome or other extra files")
    _check(folder)
    counts = lines.counts

    def page() -> None:
        _write(folder, PAGE, page_bytes(document, counts, outcome.removals, snapshot, outcome, releases, sources))

    begun = [parts(page), parts(lambda: write_changes(snapshot, outcome, folder, extra))]
    _write(folder, "report.json", document_bytes(document))
    _write(folder, "report.md", report_markdown(document).encode("utf-8", "backslashreplace"))
    _write(folder, "ledger.json", lines.ledger)
    text = ledger_markdown(outcome.removals, snapshot.python_root)
    _write(folder, "ledger.md", text.encode("utf-8", "backslashreplace"))
    if outcome.operations:
        _write(folder, "operations.json", operations_bytes(outcome.operations))
        _write(folder, "operations.md", operations_markdown(outcome.operations).encode())
    for finish in begun:
        finish()


def _write(folder: Path, name: str, data: bytes) -> None:
    try:
        (folder / name).write_bytes(data)
    except OSError as error:
        raise cannot(str(folder), "PR501", f"cannot write the reports: {error.strerror}", _ADVICE) from error


def write_changes(snapshot: Snapshot, outcome: Outcome, folder: Path, extra: Mapping[str, bytes]) -> None:
    """Write changes.diff. Raises PruneError as :func:`render` does."""
    try:
        with (folder / CHANGES).open("wb") as stream:
            write_diff(snapshot, outcome, extra, stream)
    except OSError as error:
        raise cannot(str(folder), "PR501", f"cannot write the reports: {error.strerror}", _ADVICE) from error


def _check(folder: Path) -> None:
    try:
        full = any(folder.iterdir())
    except OSError as error:
        raise cannot(str(folder), "PR501", f"cannot list the report folder: {error.strerror}", _ADVICE) from error
    if full:
        raise cannot(str(folder), "PR501", "the report folder is not empty", "empty it or name another")
