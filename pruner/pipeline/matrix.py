"""The same rules on several releases, one process each: its time and memory are its own.

Blind to: whether a release of another name than its version is that version; the lock says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pruner
from pruner.errors import ExitCode, cannot
from pruner.report import matrix

KIB = 1024 if sys.platform != "darwin" else 1024 * 1024  # of ru_maxrss, in units of a MiB


def run_matrix(
    releases: Sequence[str],
    rules: Sequence[Path],
    folder: Path,
    jobs: int,
    cache: Path | None,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Prune each release under ``folder/<name>/`` and write ``matrix.json``, ``.md`` and ``.html`` there.

    Raises PruneError PR309 for a release named twice or a folder that cannot be written.
    """
    names = [Path(release).name for release in releases]
    if len(set(names)) < len(names):
        raise cannot(str(folder), "PR309", "two releases would share one folder", "name each release once")
    rows = []
    for release, name in zip(releases, names, strict=True):
        row = _run(release, rules, folder / name, jobs, cache)
        rows.append(row)
        say(f"{name}: {row['result']}, {row['measured']['seconds']:.0f} s")
    document = matrix.matrix_document([path.as_posix() for path in _relative(rules)], rows)
    try:
        (folder / "matrix.json").write_bytes(matrix.matrix_bytes(document))
        (folder / "matrix.md").write_text(matrix.matrix_markdown(document), "utf-8")
        (folder / "matrix.html").write_bytes(matrix.matrix_html(document))
    except OSError as error:
        raise cannot(str(folder), "PR309", f"cannot be written: {error.strerror}", "name another --output") from error
    return document


def read_matrix(path: Path | None) -> list[dict[str, Any]]:
    """The rows of a ``matrix.json``. Raises PruneError PR309 when it is none."""
    if path is None:
        return []
    try:
        document = json.loads(path.read_bytes())
        if document["schema"] != matrix.SCHEMA:
            raise ValueError(f"its schema is {document['schema']!r}")
        return list(document["releases"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise cannot(str(path), "PR309", f"is no matrix.json: {error}", "make one with prune matrix") from error


def exit_code(document: dict[str, Any]) -> int:
    """The worst of all releases."""
    return max((row["exit_code"] for row in document["releases"]), default=int(ExitCode.CLEAN))


def _relative(rules: Sequence[Path]) -> list[Path]:
    """Rule files as given; an absolute one by its name alone, since it would name the machine."""
    return [Path(path.name) if path.is_absolute() else path for path in rules]


def _run(release: str, rules: Sequence[Path], folder: Path, jobs: int, cache: Path | None) -> dict[str, Any]:
    command = [sys.executable, "-m", "pruner"]
    for path in rules:
        command += ["--rules", str(path)]
    command += ["--upstream", release, "--output", str(folder / "generated"), "--reports", str(folder / "reports")]
    command += ["-j", str(jobs)] + (["--cache", str(cache)] if cache else [])
    report, refuted = folder / "reports" / "report.json", folder / "reports.refuted" / "report.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for earlier in (report, refuted):
            earlier.unlink(missing_ok=True)  # an earlier run's must not stand for one that now fails
        log = (folder / "run.log").open("wb")
    except OSError as error:
        raise cannot(str(folder), "PR309", f"cannot be written: {error.strerror}", "name another --output") from error
    home = str(Path(pruner.__file__).parents[1])
    paths = os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH", "")]))
    began = time.monotonic()
    with log, subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"PYTHONPATH": paths}) as child:
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            raise
        child.returncode = os.waitstatus_to_exitcode(status)
    measured = {
        "seconds": round(time.monotonic() - began, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mib": round(usage.ru_maxrss / KIB, 1),
    }
    code = child.returncode if child.returncode in matrix.RESULTS else int(ExitCode.CANNOT_RUN)
    report = refuted if code == ExitCode.REFUTED else report  # where a refuted tree's reports lie
    document = json.loads(report.read_bytes()) if report.is_file() else None
    message = ""
    if document is None:
        lines = (folder / "run.log").read_text("utf-8", "replace").strip().splitlines()
        message = lines[-1] if lines else f"ended with {child.returncode}"
        message = message.replace(release, Path(release).name)  # no absolute path in what is written
    return matrix.matrix_row(Path(release).name, code, document, message, measured)
