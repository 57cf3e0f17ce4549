"""Which lines of functions of a tree are executed, in all threads that start meanwhile. Stdlib only.

Lines of module and class bodies are not recorded, nor is what runs while a module of the tree is loaded: importing a file
executes a line of everything that it imports, and would say nothing of the test. Of the tests' own functions that run,
the string constants and the names are recorded: what they may ask a table for.

Blind to code that runs outside Python (kernels, what torch.compile made) and in other processes.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any

OPTIMIZED = 0x1  # inspect.CO_OPTIMIZED: functions, lambdas and comprehensions; no module or class body


def _strings(values: Iterable[Any]) -> Iterator[str]:
    """Also those in constant tuples and sets."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, tuple | frozenset):
            yield from _strings(value)


@contextlib.contextmanager
def recorded(tree: str, tests: str = "", words: set[str] | None = None) -> Iterator[dict[str, set[int]]]:
    """Fills ``{path below tree: lines}`` until it is left, and ``words`` with those of functions below ``tests``."""
    lines: dict[str, set[int]] = {}
    known: dict[str, str] = {}  # file name of a code object -> path below the tree, "" when it is another's
    own: dict[str, bool] = {}  # file name of a code object -> is it below ``tests`` and not in the tree?
    loading = threading.local()

    def path_of(file: str) -> str:
        if file not in known:
            real = os.path.realpath(file)
            known[file] = real[len(tree) + 1 :] if real.startswith(tree + os.sep) else ""
            own[file] = bool(tests) and not known[file] and real.startswith(tests + os.sep)
        return known[file]

    def module(frame: Any, event: str, argument: Any) -> Any:
        if event == "return":  # also after an exception
            loading.depth -= 1
        return module

    def called(frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        path = path_of(code.co_filename)
        if not path:
            if words is not None and own[code.co_filename]:
                words.update(code.co_names, _strings(code.co_consts))
            return None
        if code.co_name == "<module>":
            loading.depth = getattr(loading, "depth", 0) + 1
            return module
        if getattr(loading, "depth", 0) or not code.co_flags & OPTIMIZED:
            return None
        found = lines.setdefault(path, set())

        def line(frame: Any, event: str, argument: Any) -> Any:
            if event == "line":
                found.add(frame.f_lineno)
            return line

        return line

    before = sys.gettrace()
    threading.settrace(called)
    sys.settrace(called)
    try:
        yield lines
    finally:
        sys.settrace(before)
        threading.settrace(before)
