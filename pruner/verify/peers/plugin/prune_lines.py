"""Which lines of functions of a tree are executed, in all threads that start meanwhile. Stdlib only.

Lines of module and class bodies are not recorded, nor is what runs while a module of the tree is loaded: importing a file
executes a line of everything that it imports, and would say nothing of the test.

Blind to code that runs outside Python (kernels, what torch.compile made) and in other processes.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

OPTIMIZED = 0x1  # inspect.CO_OPTIMIZED: functions, lambdas and comprehensions; no module or class body


@contextlib.contextmanager
def recorded(tree: str) -> Iterator[dict[str, set[int]]]:
    """Fills ``{path below tree: lines}`` until it is left."""
    lines: dict[str, set[int]] = {}
    known: dict[str, str] = {}  # file name of a code object -> path below the tree, "" when it is another's
    loading = threading.local()

    def path_of(file: str) -> str:
        if file not in known:
            real = os.path.realpath(file)
            known[file] = real[len(tree) + 1 :] if real.startswith(tree + os.sep) else ""
        return known[file]

    def module(frame: Any, event: str, argument: Any) -> Any:
        if event == "return":  # also after an exception
            loading.depth -= 1
        return module

    def called(frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        path = path_of(code.co_filename)
        if not path:
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
