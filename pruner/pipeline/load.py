"""Lowered files on demand: in this process, ahead of time in workers, or from the cache."""

from __future__ import annotations

import ast
import io
import marshal
import multiprocessing
import os
import threading
import tokenize
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pruner.graph.symbols import ModuleTable
from pruner.model import Finding, Snapshot, import_path
from pruner.model.ir import Block, imports_in
from pruner.pipeline.ahead import step_back
from pruner.pipeline.looks import Looks
from pruner.scan import summary as scan
from pruner.scan.stores import FileStores, find
from pruner.scan.summary import Summary
from pruner.scan.written import Written

FEW = 200
"""Python files of a tree that are read before processes for it have started."""
_SOME = 50  # modules: before that many the workers have hardly begun
_NICE = 5  # steps: marking is one thread's work, and with two helpers on two processors it got two thirds of one
_ENCODING = "its encoding is not UTF-8"

Lowered = tuple[bytes, str, int]  # (marshalled form, status, lines) of one file


@dataclass(frozen=True, slots=True)
class Reading:
    """What a worker says of a file beside its form, as it has the syntax tree at hand."""

    lowered: Lowered
    imports: list[str]  # modules that it may import
    written: Written | None  # what it stores by ways that no assignment shows; None: not known
    stores: FileStores | None  # None where its text does not look as if it had stores that facts speak of
    looked: bool  # at its stores


def lower_file(path: Path) -> Lowered:
    """(marshalled form, status, lines) of one file. Status: ``""``, ``newer`` or a message."""
    return _lower(path.read_bytes())[0]


def _lower(data: bytes) -> tuple[Lowered, Block | None, ast.Module | None]:
    """A lowered file, with its statements and its syntax tree where this Python reads them."""
    lines = data.count(b"\n")
    other = False
    try:
        other = tokenize.detect_encoding(io.BytesIO(data).readline)[0] not in ("utf-8", "utf-8-sig")
        if other:
            raise ValueError(_ENCODING)  # ast counts bytes of another text than the file's
        tree = scan.parsed(data)
        body = scan.lowered_body(data, tree)
        return (marshal.dumps(body), "", lines), body, tree
    except (SyntaxError, ValueError, KeyError) as error:  # KeyError: a statement that this Python does not know
        message = str(error)
    except (RecursionError, MemoryError):  # what the parser raises for `not not not ...`, and without a text
        message = "nested too deeply"
    from pruner.scan.newer import lower_apart, lower_broken  # here: few trees have such a file

    form = lower_apart(data)
    if form is None:
        return (lower_broken(data), message, lines), None, None
    return (form, message if other else "newer", lines), None, None


_SHARED: dict[str, Looks] = {}  # what a forked worker finds


def _begin(parent: int, loader: Loader) -> None:
    """What a worker does first."""
    step_back(parent, _NICE)
    if loader.looks is not None:
        _SHARED["looks"] = loader.looks


def _lower_ahead(path: Path, module: str, package: bool) -> Reading:
    data = path.read_bytes()
    row, body, tree = _lower(data)
    if body is None or tree is None:
        body = marshal.loads(row[0]) if row[0] else ()
        return Reading(row, _imports(Summary("", module, package, body, row[2])), None, None, False)
    stores, looks = None, _SHARED.get("looks")
    if looks is not None and looks.at(module, data):
        with suppress(ValueError, RecursionError, MemoryError):  # whoever asks for them meets the fault
            stores = find(data, tree)
    imports = _imports(Summary("", module, package, body, row[2]))
    return Reading(row, imports, scan.written_in(row[0], body), stores, looks is not None)


class Loader:
    """Gives summaries of modules; remembers files that nobody can read.

    Workers follow imports ahead of the analysis, by themselves: were a file sent to them only when the one
    that imports it is looked at, they would stand still while the analysis waits for one file after another.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        jobs: int,
        known: Mapping[str, Lowered] | None = None,
        beside: frozenset[str] = frozenset(),
    ) -> None:
        """``known``: lowered forms of earlier runs, by the digest of the file's bytes; ``beside``: see :func:`module_paths`."""
        self.snapshot = snapshot
        self.known = known or {}
        self.used: dict[str, Lowered] = {}
        self._digests = {f.path: f.digest for f in snapshot.files if f.link is None}
        self.findings: list[Finding] = []
        self.untouchable: set[str] = set()  # modules that must travel byte for byte
        self.paths = module_paths(snapshot, beside)
        self.table = ModuleTable(self.paths, self.load)
        self.summaries: dict[str, Summary | None] = {}
        self._futures: dict[str, Future[Reading]] = {}
        self._lock = threading.Lock()  # of _futures, which grows from the pool's thread as well
        self._pool: ProcessPoolExecutor | None = None
        self.excluded: set[str] = set()
        # Hears of every file that is asked for, and of what a worker said of it.
        self.loaded: Callable[[str, Reading | None], None] = lambda path, early: None
        self.looks: Looks | None = None  # of whose stores the workers are asked
        # Hears of modules that are asked for, once the workers have nothing left to do: of all so far, then of each.
        self.rested: Callable[[list[str]], None] = lambda modules: None
        self._pending = 0  # files that are with the workers, or wait for them
        self._resting = False
        if jobs > 1 and len(self.paths) > FEW:
            self._pool = ProcessPoolExecutor(
                jobs, multiprocessing.get_context("fork"), initializer=_begin, initargs=(os.getpid(), self)
            )

    def load(self, module: str) -> Summary | None:
        """The summary of a module, or None when the tree has no such file or nobody can read it."""
        if module in self.summaries:
            return self.summaries[module]
        if module not in self.paths:
            return None
        path, package = self.paths[module]
        digest = self._digests.get(path, "")
        row = self.known.get(digest)
        early: Reading | None = None
        if row is None:
            with self._lock:
                future = self._futures.get(module)
            # A file that still waits behind others is read here: this process has nothing else to do.
            if future is None or future.cancel():
                row = lower_file(self.snapshot.root / path)
            else:
                early = future.result()
                row = early.lowered
        if digest:
            self.used[digest] = row
        lowered, status, lines = row
        summary: Summary | None = None
        if lowered:
            summary = scan.build(path, module, package, lowered, lines, early.written if early is not None else None)
            summary.error = status
        if status not in ("", "newer"):
            advice = "the file travels byte for byte and nothing is removed because of it"
            text = f"cannot be edited: {status}" if status == _ENCODING else f"cannot be parsed: {status}"
            self.findings.append(Finding("PR210", path, 1 if status == _ENCODING else 0, text, advice))
        if status:
            self.untouchable.add(module)
        self.summaries[module] = summary
        self.loaded(path, early)
        if summary is not None and self._pool is not None:
            self._ahead(_imports(summary))
            if not self._pending and (self._resting or len(self.summaries) > _SOME):
                self.rested([module] if self._resting else list(self.summaries))
                self._resting = True
        return summary

    def foresee(self, modules: Iterable[str]) -> None:
        """Have the workers begin with these, which will be asked for."""
        if self._pool is not None:
            self._ahead(modules)

    def _ahead(self, modules: Iterable[str]) -> None:
        """Send modules to the workers that nobody has sent."""
        pool = self._pool
        for module in modules:
            if module not in self.paths or module in self.summaries or module in self.excluded:
                continue
            path, package = self.paths[module]
            if self._digests.get(path) in self.known:
                continue
            with self._lock:
                if module in self._futures or pool is None:
                    continue
                try:
                    future = pool.submit(_lower_ahead, self.snapshot.root / path, module, package)
                except RuntimeError:  # the pool is shut down meanwhile
                    return
                self._futures[module] = future
                self._pending += 1
            future.add_done_callback(self._arrived)

    def _arrived(self, future: Future[Reading]) -> None:
        if not future.cancelled() and future.exception() is None:  # whoever asks for the file meets the fault
            self._ahead(future.result().imports)
        with self._lock:
            self._pending -= 1

    def close(self) -> None:
        """Stop the workers: what is still asked for is read here."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
            self._futures.clear()


def module_paths(snapshot: Snapshot, beside: frozenset[str] = frozenset()) -> dict[str, tuple[str, bool]]:
    """Dotted module name → (path, is package) for every Python file below the import root.

    ``beside`` names packages of a checkout's other projects that rules speak of. The others are outsiders: nobody
    says what uses them, so they are not among the modules and stay as they are.
    """
    prefix = f"{snapshot.python_root}/" if snapshot.python_root else ""
    found: dict[str, tuple[str, bool]] = {}
    for file in sorted(snapshot.files, key=lambda f: (not f.path.startswith(prefix), f.path)):
        below = import_path(file.path, snapshot.python_root) if file.path.endswith(".py") else None
        if below is None:
            continue
        parts = below[:-3].split("/")
        if not file.path.startswith(prefix) and parts[0] not in beside:
            continue
        package = parts[-1] == "__init__"
        if package:
            parts = parts[:-1]
        if not parts or not all(p.isidentifier() for p in parts):
            continue
        name = ".".join(parts)
        # A package wins over a module of the same name, in the folder that is searched first.
        if name not in found or (package and file.path.startswith(prefix) == found[name][0].startswith(prefix)):
            found[name] = (file.path, package)
    return found


def _imports(summary: Summary) -> list[str]:
    """Modules that the file may import, at any depth (a superset: nothing is folded)."""
    found: list[str] = []
    for part in imports_in(summary.body):
        if part[0] == "import":
            found += [name for name, _ in part[3]]
        else:
            module = ModuleTable.absolute(summary, part[3], part[4])
            found.append(module)
            found += [f"{module}.{name}" for name, _ in part[5]]
    return found
