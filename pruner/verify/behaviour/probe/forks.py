"""Run one step in a forked child, so that what it does to the process (environment, registries) ends with it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

Step = Callable[[], Any]


def _child(step: Step, pipe: int) -> None:
    """Write the step's JSON answer to the pipe; never return."""
    status = 1
    try:
        with os.fdopen(pipe, "wb") as stream:
            stream.write(json.dumps(step()).encode())
        status = 0
    except BaseException as error:
        print(f"probe step failed: {error!r}", file=sys.stderr)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def isolated(step: Step, limit: float) -> Any:
    """The step's answer, or ``{"crash": reason}``. ``limit`` in seconds; the child dies with its descendants."""
    read, write = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        os.setpgid(0, 0)
        _child(step, write)
    os.close(write)
    end, chunks = time.monotonic() + limit, []
    with os.fdopen(read, "rb", buffering=0) as stream:
        while True:
            if not select.select([stream], [], [], max(0.0, end - time.monotonic()))[0]:
                break
            chunk = stream.read(1 << 20)
            if not chunk:
                break
            chunks.append(chunk)
    late = time.monotonic() >= end
    if late:
        _kill(pid)
    _, status = os.waitpid(pid, 0)
    _kill(pid)  # what it left running in its process group
    if late:
        return {"crash": f"no answer in {limit:.0f} s"}
    if os.WIFSIGNALED(status):
        return {"crash": f"ended by signal {signal.Signals(os.WTERMSIG(status)).name}"}
    if os.WEXITSTATUS(status):
        return {"crash": f"ended with status {os.WEXITSTATUS(status)}"}
    return json.loads(b"".join(chunks))


def _kill(group: int) -> None:
    """End a child's process group if it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def each(steps: Iterable[tuple[str, Step]], limit: float) -> dict[str, Any]:
    """The answers by name, one after the other."""
    answers = {}
    for name, step in steps:
        print(f"step {name}", file=sys.stderr, flush=True)
        answers[name] = isolated(step, limit)
    return answers
