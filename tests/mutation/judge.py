"""Judge many variants of one output: everything that a variant does not touch is remembered.

The first judgement is an ordinary one in this process. A variant is then judged in a forked child: its files are
read, compared and linted again, and all checks of the whole tree run again. (One thing is believed: constants that
the folder knows from unchanged stores of the kept tree.)
"""

from __future__ import annotations

import json
import os
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pruner.verify import phases
from pruner.verify.driver import CHECKS, Ready, Run
from pruner.verify.guarding import Guarding
from pruner.verify.manifest import NAME as MANIFEST
from pruner.verify.rules import Stated
from pruner.verify.tree import Tree

DIGEST = ": DIGEST is not that of the package's files"
Changes = Mapping[str, bytes | None]  # path → new content, or None for a file that is gone
Problems = dict[str, list[str]]


class Overlay(Tree):
    """A tree with some files changed in memory."""

    def __init__(self, base: Tree, changes: Changes) -> None:
        self.root, self.python_root = base.root, base.python_root
        self.changes = changes
        self.files = {path: link for path, link in base.files.items() if changes.get(path, b"") is not None}
        self.files.update({path: None for path, data in changes.items() if data is not None})
        self.odd = base.odd
        self._parsed = {path: tree for path, tree in base._parsed.items() if path not in changes}
        self._read: dict[str, bytes] = {}
        self.index()

    def read(self, path: str) -> bytes:
        """The changed bytes, or those on disk."""
        data = self.changes.get(path)
        return data if data is not None else super().read(path)


class Remembered:
    """Stands for the worker pool: one process, and answers of unchanged files from memory."""

    def __init__(self, state: phases.State) -> None:
        self.state = state
        self.jobs = 1
        self.reads: dict[tuple[str, bool, bool], phases.Read] = {}
        self.compared: dict[str, phases.Compared] = {}
        self.fresh: frozenset[str] | None = None  # None: everything is new
        self.seen: Any = None

    def map(self, function: Any, tasks: Sequence[Any], key: Callable[[Any], str], size: Callable[[Any], int]) -> Any:
        """As :meth:`pruner.verify.workers.Workers.map`."""
        return [self._one(function, task) for task in tasks]

    def _one(self, function: Any, task: Any) -> Any:
        memory: dict[Any, Any] | None = {phases.read_file: self.reads, phases.compare_file: self.compared}.get(function)
        if memory is None:
            return function(self.state, task)
        path = task if isinstance(task, str) else task[0]
        if self.fresh is None or path in self.fresh or task not in memory:
            memory[task] = function(self.state, task)
        return memory[task]

    def all(self, function: Any, task: Any) -> list[Any]:
        """``take_seen``: the folder starts anew only when the kept code does something else to modules."""
        if task != self.seen:
            self.seen = task
            return [function(self.state, task)]
        return []

    def later(self, function: Any, task: Any) -> Callable[[], Any]:
        """As :meth:`pruner.verify.workers.Workers.later`."""
        return lambda: function(self.state, task)

    def begin(self, function: Any, tasks: Sequence[Any], key: Callable[[Any], str]) -> None:
        """Nothing waits: it is done when it is asked for."""

    def wake(self) -> None:
        """Nothing to start."""

    def close(self) -> None:
        """Nothing to end."""


class Judge(Run):
    """An ordinary verification that can be repeated with changes."""

    def __init__(self, upstream: Path, output: Path, stated: Stated, python_root: str = "") -> None:
        super().__init__(Ready(upstream, stated, python_root), output, 1, frozenset(CHECKS))
        local = self.workers.local
        assert local is not None
        self.memory = Remembered(local)
        self.workers = self.memory  # type: ignore[assignment]
        self.problems: Problems = {}
        self.only: frozenset[str] | None = None

    def verdict(self, check: str, covered: str, problems: Sequence[str], figures: dict[str, Any] | None = None) -> None:
        """Keep all problems, not the first fifty.

        A faulty engine writes a manifest and a digest of its own faulty tree: what those of the right tree say of a wrong one
        catches nobody.
        """
        if check == "guards":
            problems = [text for text in problems if not (text.startswith(f"{MANIFEST}:") or text.endswith(DIGEST))]
        super().verdict(check, covered, problems, figures)
        self.problems[check] = sorted(problems)

    def linted(self) -> tuple[list[str], list[str]]:
        """The files that are linted: all, or those of a variant."""
        paths, fresh = super().linted()
        if self.only is None:
            return paths, fresh
        return [path for path in paths if path in self.only], [path for path in fresh if path in self.only]

    def first(self) -> Problems:
        """Judge the output as it is."""
        self.run()
        return self.problems

    def again(self, changes: Changes) -> Problems:
        """The problems by check of the output with ``changes``, from a forked child. Raises RuntimeError."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            status = 1
            try:
                with os.fdopen(write, "wb") as stream:
                    stream.write(json.dumps(self._child(changes)).encode())
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(write)
        with os.fdopen(read, "rb") as stream:
            answer = stream.read()
        _, status = os.waitpid(pid, 0)
        if status:
            raise RuntimeError(f"the judge of {sorted(changes)} ended with {status}")
        found: Problems = json.loads(answer)
        return found

    def _child(self, changes: Changes) -> Problems:
        self.out = self.memory.state.out = Overlay(self.out, changes)
        self.memory.fresh = self.only = frozenset(changes)
        self.memory.state.parsed.clear()
        self.memory.state.guarding = Guarding(self.out, self.stated, self.up)
        self.problems, self.verdicts = {}, {}
        for path, data in changes.items():
            self.changed.discard(path)
            if data is not None and path.endswith(".py") and path in self.up.files and data != self.up.read(path):
                self.changed.add(path)
        self.kept = [path for path in self.out.files if path.endswith(".py")]
        with tempfile.TemporaryDirectory() as folder:
            self.lint_root = Path(folder)
            for path, data in changes.items():
                if data is not None:
                    (self.lint_root / path).parent.mkdir(parents=True, exist_ok=True)
                    (self.lint_root / path).write_bytes(data)
            self.run()
        return self.problems
