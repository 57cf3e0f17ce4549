"""A process pool that keeps its processes: a file is mostly read by the same one.

The state that a phase builds (syntax trees, folded flags) is there for the next phase, or is built again. One job
means no process at all. Results come back in the order of the tasks, so the number of jobs never
shows in a verdict.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from typing import Any, Generic, TypeVar, cast

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

_PORTIONS = 12  # of one phase, for each process: enough that the last ones end together
_state: Any = None


def die_with(parent: int) -> None:
    """In a worker: be killed when the process ``parent`` ends, however it ends (Linux; elsewhere nothing).

    A worker waits for tasks on a pipe of which its sisters hold the other end too: after a ``kill -9`` of the run
    they would all wait for ever.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:  # it ended before the line above
        os._exit(1)


def _start(parent: int, make: Callable[[Any], Any], argument: Any) -> None:
    global _state
    die_with(parent)
    _state = make(argument)


def _apply(function: Callable[[Any, Any], Any], tasks: Sequence[Any]) -> list[Any]:
    return [function(_state, task) for task in tasks]


class Workers(Generic[S]):
    """``jobs`` processes, each with its own state made by ``make(argument)``; they inherit ``argument`` as it is."""

    def __init__(self, jobs: int, make: Callable[[Any], S], argument: Any) -> None:
        self.jobs = max(1, jobs)
        self.homes: dict[str, int] = {}  # task key -> process
        self.loads = [0.0] * self.jobs
        self.local: S | None = None
        self.pools: list[ProcessPoolExecutor] = []
        self._begun = False
        if self.jobs == 1:
            self.local = make(argument)
            return
        context = multiprocessing.get_context("fork")
        for _ in range(self.jobs):
            self.pools.append(
                ProcessPoolExecutor(1, mp_context=context, initializer=_start, initargs=(os.getpid(), make, argument))
            )

    def _begin(self) -> None:
        """Make all processes at once, at the first task.

        A process that is forked while another thread starts a program (ruff) inherits the pipe on which that thread
        waits for the program's start, and keeps it open: both wait for ever. It was so with more processes than
        files, whose last ones got their first task late.
        """
        if not self._begun:
            self._begun = True
            for pool in self.pools:
                pool.submit(_apply, max, ())

    def map(
        self, function: Callable[[S, T], R], tasks: Sequence[T], key: Callable[[T], str], size: Callable[[T], float]
    ) -> list[R]:
        """Apply ``function`` to every task; ``key`` names the process that it prefers, ``size`` balances the first visit."""
        if self.local is not None:
            return [function(self.local, task) for task in tasks]
        self._begin()
        queues: list[deque[tuple[int, float]]] = [deque() for _ in self.pools]
        total = 0.0
        for index, task in enumerate(tasks):
            weight = size(task) + 1
            total += weight
            queues[self._share(key(task), weight)].append((index, weight))
        portion = total / len(self.pools) / _PORTIONS
        results: list[Any] = [None] * len(tasks)
        running: dict[Future[list[R]], tuple[int, list[int]]] = {}

        def start(home: int) -> None:
            # Sizes say little about the time that a file takes: who has done its own takes another's last ones.
            queue = queues[home] or max(queues, key=len)
            share, left = [], portion
            while queue and left > 0:
                index, weight = queue.popleft() if queue is queues[home] else queue.pop()
                share.append(index)
                left -= weight
            if share:
                future = self.pools[home].submit(_apply, function, [tasks[index] for index in share])
                running[future] = home, share

        for home in (*range(len(self.pools)), *range(len(self.pools))):  # two each: none waits for its next one
            start(home)
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                home, share = running.pop(future)
                for index, result in zip(share, future.result(), strict=True):
                    results[index] = result
                start(home)
        return results

    def begin(self, function: Callable[[S, T], R], tasks: Sequence[T], key: Callable[[T], str]) -> None:
        """Have each process do those of its own, for its state, while the answers before are being looked at."""
        if self.local is not None:
            return
        self._begin()
        shares: dict[int, list[T]] = {}
        for task in tasks:
            shares.setdefault(self._share(key(task), 0.0), []).append(task)
        for home, share in shares.items():
            self.pools[home].submit(_apply, function, share)

    def wake(self) -> None:
        """Start the processes now."""
        for pool in self.pools:
            pool.submit(os.getpid)

    def all(self, function: Callable[[S, T], R], task: T) -> list[R]:
        """Apply ``function`` once in every process."""
        if self.local is not None:
            return [function(self.local, task)]
        self._begin()
        futures = [pool.submit(_apply, function, [task]) for pool in self.pools]
        return [future.result()[0] for future in futures]

    def later(self, function: Callable[[S, T], R], task: T) -> Callable[[], R]:
        """Start ``function`` in the process with the least to do; the answer is a call away. Without processes: then."""
        if self.local is not None:
            local = self.local
            return lambda: function(local, task)
        self._begin()
        index = self.loads.index(min(self.loads))
        self.loads[index] += max(self.loads) - min(self.loads) + 1  # the next one goes to another
        future = self.pools[index].submit(_apply, function, [task])
        return lambda: cast(R, future.result()[0])

    def _share(self, key: str, weight: float) -> int:
        if key not in self.homes:
            self.homes[key] = self.loads.index(min(self.loads))
            self.loads[self.homes[key]] += weight
        return self.homes[key]

    def close(self) -> None:
        """End the processes. They are not waited for: the system needs a second to take their memory back."""
        for pool in self.pools:
            pool.shutdown(wait=False, cancel_futures=True)
