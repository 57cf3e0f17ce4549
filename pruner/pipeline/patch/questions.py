"""``prune retrace``, ``port`` and ``affects`` over the reports of a run and its two trees."""

from __future__ import annotations

from pathlib import Path

from pruner.errors import cannot
from pruner.pipeline.answers import Answers
from pruner.pipeline.patch.linemap import LineMap
from pruner.pipeline.patch.parse import parse, within
from pruner.pipeline.patch.port import Ported, Read, port
from pruner.pipeline.patch.retrace import retrace
from pruner.source import open_snapshot

HURTS = frozenset({"conflict", "unplaced", "left"})
"""What a person has to do by hand."""
TOUCHES = frozenset({"ported", "conflict", "new"})
"""Changes that concern kept code."""


def retrace_text(text: str, reports: Path, to_upstream: bool) -> tuple[str, int]:
    """The text in the other tree's lines. Raises PruneError PR307 without reports."""
    answers = Answers(reports)

    def absent(path: str, line: int) -> str:
        return "put in by prune" if to_upstream else _first(answers, path, line)

    return retrace(text, LineMap(answers.graph, upstream=not to_upstream), absent)


def port_patch(
    patch: Path, reports: Path, output: Path, upstream: str | Path | None, cache: Path, from_upstream: bool
) -> Ported:
    """Carry a patch from one tree to the other.

    Raises PruneError: PR311 for a patch that cannot be read, PR313 for an upstream that is not the run's.
    """
    answers = Answers(reports)
    files = parse(patch)
    up, out = _upstream(reports, upstream, cache, answers), _folder(output)
    why = (lambda path, line: _first(answers, path, line)) if from_upstream else (lambda path, line: "put in by prune")
    one, two = (up, out) if from_upstream else (out, up)
    lines = LineMap(answers.graph, upstream=from_upstream)
    within(files, lines.prefix)
    return port(files, one, two, lines, why)


def _first(answers: Answers, path: str, line: int) -> str:
    answer = answers.why_not(f"{path}:{line}")
    return answer.lines[0].partition(": ")[2] or answer.lines[0] if answer.lines else answer.status


def _upstream(reports: Path, upstream: str | Path | None, cache: Path, answers: Answers) -> Read:
    snapshot = open_snapshot(upstream, cache)
    known = {file.path: file for file in snapshot.files}
    wanted = answers.upstream_digest()
    if wanted != snapshot.digest:
        text = f"the run in {reports} was made from another upstream"
        raise cannot(str(upstream or "upstream"), "PR313", text, "name it with --upstream")

    def read(path: str) -> bytes | None:
        return snapshot.read(path) if path in known and known[path].link is None else None

    return read


def _folder(root: Path) -> Read:
    if not (root / "PRUNED.json").is_file():
        raise cannot(str(root), "PR306", "holds no PRUNED.json, so it is not an output of prune", "run prune first")

    def read(path: str) -> bytes | None:
        full = root / path
        return full.read_bytes() if full.is_file() and not full.is_symlink() else None

    return read
