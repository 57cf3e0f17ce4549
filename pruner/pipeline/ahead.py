"""Work on upstream's own bytes that a later stage will ask for, done by a process that takes what the others leave.

Marking is one thread's work, and its helpers have lowered every file some time before it ends: what then only
depends on upstream, not on what is kept, is worked out on the idle processor.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from pruner.verify.workers import die_with

P = ParamSpec("P")
K = TypeVar("K")
V = TypeVar("V")
_LOOK = 1.0  # seconds between two looks at whether the process is still there
_NICE = 19  # steps below the others: the least that Linux knows


def step_back(parent: int, steps: int = _NICE) -> None:
    """What a new process does first that must not hold up ``parent``, whose end is its own."""
    die_with(parent)
    with suppress(OSError, AttributeError):
        os.nice(steps)


class Ahead:
    """Answers by key; with one job there are none, and who asks does the work.

    The functions must be pure and picklable, and each call short: one that has begun is waited for.
    """

    def __init__(self, jobs: int) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._sent: dict[Hashable, Future[Any]] = {}
        if jobs > 1:
            context = multiprocessing.get_context("fork")
            self._pool = ProcessPoolExecutor(1, context, initializer=step_back, initargs=(os.getpid(),))

    def send(self, key: Hashable, function: Callable[P, object], *arguments: P.args, **more: P.kwargs) -> None:
        """Ask for ``function(*arguments)`` under ``key``; nothing happens when there is no process for it."""
        if self._pool is not None and key not in self._sent:
            with suppress(BrokenProcessPool):  # somebody ended the process
                self._sent[key] = self._pool.submit(function, *arguments, **more)

    def result(self, key: Hashable, *, begun: bool = True) -> Any:
        """The answer for ``key``; None when nobody asked for it or the process has not come to it. Raises what it raised.

        ``begun``: waits for one that has been begun. None as well where somebody ended the process.
        """
        future = self._sent.pop(key, None)
        if future is None or future.cancel() or not (begun or future.done()):
            return None
        # Where the process is ended, the executor's thread may die of the futures that were cancelled, and answer none.
        while not wait([future], _LOOK).done and not getattr(self._pool, "_broken", False):
            pass
        try:
            return future.result() if future.done() else None
        except BrokenProcessPool:
            return None

    def spread(
        self, function: Callable[..., dict[K, V]], root: Path, batches: Sequence[tuple[str, ...]], *more: object
    ) -> Callable[[], dict[K, V]]:
        """Ask for ``function(root, batch, *more)`` of each batch of paths; the call gives what is known by then, together."""
        for batch in batches:
            self.send((function, batch), function, root, batch, *more)

        def known() -> dict[K, V]:
            found: dict[K, V] = {}
            for batch in batches:
                found |= self.result((function, batch), begun=False) or {}
            return found

        return known

    def close(self) -> None:
        """End the process; what is asked for later is worked out then."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
            self._sent.clear()
