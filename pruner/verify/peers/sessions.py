"""Test sessions, one a file: forked from a process that has loaded what both trees take from the environment."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PLUGIN = Path(__file__).with_name("plugin")


class Sessions:
    """One server of ``plugin/prune_server.py``; use it from one thread. ``log`` gets what it says itself."""

    def __init__(self, python: Path, environment: Mapping[str, str], cwd: Path, log: Path) -> None:
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [str(python), str(PLUGIN / "prune_server.py")],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
        )
        self._rest = b""

    def preload(self, modules: Sequence[str], limit: float) -> None:
        """Load modules that each session would load; those that cannot be loaded alone are left out."""
        self._send({"preload": list(modules)})
        self._answer(limit)

    def run(
        self,
        environment: Mapping[str, str],
        path: Sequence[str],
        cwd: Path,
        arguments: Sequence[str],
        log: Path,
        limit: float,
    ) -> int | None:
        """The exit code of one session, negative for a signal; None when ``limit`` seconds were not enough.

        Raises OSError when the server has ended.
        """
        task = {"environment": dict(environment), "path": list(path), "cwd": str(cwd), "log": str(log)}
        self._send({**task, "arguments": list(arguments)})
        pid = int((self._answer(60.0) or {})["pid"])
        answer = self._answer(limit)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)  # what the tests left running, too
        if answer is None:
            self._answer(60.0)
            return None
        return int(answer["code"])

    def close(self) -> None:
        """End the server and whatever is left of its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.wait()

    def _send(self, task: Mapping[str, Any]) -> None:
        if self._process.stdin is None:
            raise OSError("the test server has no input")
        self._process.stdin.write(json.dumps(task).encode() + b"\n")
        self._process.stdin.flush()

    def _answer(self, limit: float) -> dict[str, Any] | None:
        """The next line, None when there is none within ``limit`` seconds."""
        stream = self._process.stdout
        if stream is None:
            raise OSError("the test server has no output")
        end = time.monotonic() + limit
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                if not selector.select(max(0.0, end - time.monotonic())):
                    return None
                data = os.read(stream.fileno(), 65536)
                if not data:
                    raise OSError(f"the test server has ended ({self._process.wait()})")
                self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return dict(json.loads(line))
