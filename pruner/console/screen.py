"""Progress and tables on stderr: live on a terminal, one plain line per stage elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from pruner.errors import Diagnostic
from pruner.model import Finding, Verdict

MAX_FINDINGS = 50
_STYLES = {"error": "bold red", "warning": "yellow", "note": "cyan"}
_RESULTS = {"passed": "green", "refuted": "bold red", "not run": "yellow"}


class Screen:
    """One command's output to a person. A context manager: leaving it ends the progress display.

    ``quiet`` shows no progress and no tables; diagnostics are shown all the same.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(file=sys.stderr, highlight=False, soft_wrap=True, emoji=False)
        self._quiet = quiet
        self._stage = ""
        self._began = 0.0
        self._task: TaskID | None = None
        self._progress: Progress | None = None
        if self._console.is_terminal and not quiet:
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
            self._progress = Progress(*columns, console=self._console)

    def __enter__(self) -> Screen:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if error is None:
            self._end_stage()
        if self._progress is not None:
            self._progress.stop()

    def progress(self, stage: str, fraction: float) -> None:
        """``fraction`` (0 to 1) of ``stage`` is done. A new stage ends the one before."""
        if self._quiet:
            return
        if stage != self._stage:
            self._end_stage()
            self._stage, self._began = stage, time.monotonic()
            if self._progress is not None:
                self._task = self._progress.add_task(escape(stage), total=1.0)
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=min(max(fraction, 0.0), 1.0))

    def _end_stage(self) -> None:
        if not self._stage:
            return
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=1.0)
            self._progress.stop_task(self._task)
        elif not self._quiet:
            self._console.print(f"{self._stage}: {time.monotonic() - self._began:.1f} s", markup=False)
        self._stage = ""

    def diagnostics(self, rows: Iterable[Diagnostic]) -> None:
        """Each diagnostic on its line, as compilers print them."""
        for row in rows:
            self._console.print(str(row), style=_STYLES.get(row.severity, ""), markup=False)

    def line(self, text: str) -> None:
        """One line of plain text."""
        self._console.print(text, markup=False)

    def summary(self, title: str, rows: Sequence[tuple[str, str]]) -> None:
        """The final table: label and value."""
        if self._quiet:
            return
        table = Table(title=escape(title), show_header=False, title_justify="left")
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for label, value in rows:
            table.add_row(escape(label), escape(value))
        self._console.print(table)

    def findings(self, rows: Sequence[Finding]) -> None:
        """What a person should look at, at most MAX_FINDINGS of them; the report holds all."""
        for row in rows[:MAX_FINDINGS]:
            self.diagnostics([Diagnostic(row.path, row.line, 0, "warning", row.code, row.text, row.advice)])
        if len(rows) > MAX_FINDINGS:
            self.line(f"and {len(rows) - MAX_FINDINGS} more findings; the report lists all")

    def verdicts(self, rows: Sequence[Verdict]) -> None:
        """The checks, what each covered and said; details of those that did not pass."""
        if not self._quiet:
            table = Table("check", "result", "covered", "seconds", title="checks", title_justify="left")
            for row in rows:
                style = _RESULTS.get(row.result, "")
                result = f"[{style}]{escape(row.result)}[/]" if style else escape(row.result)
                table.add_row(escape(row.check), result, escape(row.covered), f"{row.seconds:.1f}")
            self._console.print(table)
        for row in rows:
            if row.result != "passed":
                for detail in row.details:
                    self.line(f"{row.check}: {detail}")
