"""Work that another process does while this one goes on: what only the reports need is made during the checks."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from pruner.pipeline.ahead import step_back

T = TypeVar("T")

_SHARED: dict[str, Callable[[], Any]] = {}  # what a forked process finds, unpickled


def _work() -> Any:
    return _SHARED["work"]()


@contextmanager
def beside(jobs: int, work: Callable[[], T], back: int = 0) -> Iterator[Callable[[], T]]:
    """Start ``work`` in a process of its own when there is more than one job; the yielded call gives its answer.

    With one job the work is done when it is asked for. ``back``: steps of priority below the run's own, for what is asked for
    at the end only. Raises what ``work`` raises.
    """
    if jobs < 2:
        yield work
        return
    _SHARED["work"] = work
    try:
        context = multiprocessing.get_context("fork")
        pool = ProcessPoolExecutor(1, context, initializer=step_back, initargs=(os.getpid(), back))
        future = pool.submit(_work)
        try:
            yield future.result
            # Its work is waited for, its end is not: the system needs up to a second to take its memory back.
            wait((future,))
        except BaseException:
            # Nobody wants the answer, and what it writes may lie in a folder that is taken away now.
            for process in tuple(pool._processes.values()):
                process.kill()
                process.join()
            raise
        finally:
            pool.shutdown(wait=False)
    finally:
        _SHARED.clear()
