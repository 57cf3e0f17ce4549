"""A verifier that gets ready before there is an output, in a process of its own.

What a module of upstream binds is asked by each of the verifier's processes, and depends on upstream's text alone. Marking
is one thread's work and leaves a processor idle towards its end: this process then parses what the run has looked at,
and the verifier's workers, which are forked from it, have it all. So has a process that answers a question of the run
itself (:meth:`Early.beside`); what that one does is not known to the verifier, which goes on as it was.

The process is forked before the run holds much memory and while nothing else of it is at work. It answers once and ends,
which is waited for when the run ends: by then the system has its memory back, and who measures the run counts only the
processes that were waited for.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pruner.errors import PruneError
from pruner.model import Verdict
from pruner.verify.discard import Counted, take_counts
from pruner.verify.rules import take_read
from pruner.verify.workers import die_with

if TYPE_CHECKING:
    from pruner.verify.driver import Ready


class Early:
    """The process. ``upstream``, ``rules`` and ``python_root`` are those of :func:`pruner.verify.run`."""

    def __init__(self, upstream: Path, rules: Sequence[Path], python_root: str) -> None:
        self._pipe, theirs = Pipe()
        self._told, telling = Pipe(duplex=False)
        self._asked = False
        parent = os.getpid()
        self._process = os.fork()
        if not self._process:
            status = 1
            try:
                self._pipe.close()
                self._told.close()
                die_with(parent)
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run hears of it, and ends this process
                _serve(theirs, telling, upstream, rules, python_root)
                status = 0
            finally:
                os._exit(status)
        theirs.close()
        telling.close()
        self._answered = False

    def warm(self, modules: Iterable[str], parsed: dict[str, Any] | None = None) -> None:
        """Have modules of upstream read; ``parsed``: what :func:`pruner.verify.rules.read_ahead` gave."""
        self._send(("warm", list(modules), parsed or {}))

    def look(self, paths: Iterable[str]) -> None:
        """Have files of upstream looked at that the output may have as they are: after the modules to read."""
        self._send(("look", list(paths)))

    def rest(self) -> None:
        """Both processors are needed: read no more."""
        self._send(("rest",))

    def beside(self, function: Callable[..., Any], *arguments: object) -> Callable[[], Any] | None:
        """Start ``function(ready, *arguments)`` in a process forked from this one; the returned call gives its answer.

        ``ready`` is what this process knows by then, or None. Everything is pickled. One question only: None for another
        one, or where the process is gone. The call raises what the function raises, and RuntimeError when its process
        was ended.
        """
        if self._asked or not self._send(("beside", pickle.dumps((function, arguments), pickle.HIGHEST_PROTOCOL))):
            return None
        self._asked = True
        held: list[Any] = []

        def answer() -> Any:
            if not held:
                try:
                    held.append(self._told.recv())
                except (EOFError, OSError) as error:
                    raise RuntimeError("a process of the run was ended") from error
            if isinstance(held[0], BaseException):
                raise held[0]
            return held[0]

        return answer

    def run(
        self,
        output: Path,
        jobs: int,
        checks: Sequence[str] | None,
        counts: Counted | None = None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> list[Verdict] | None:
        """The verdicts on ``output``; None when the process is gone. Raises what the verifier raises.

        ``meanwhile`` is done here while the checks run.
        """
        if not self._send(("run", output, jobs, checks, counts or {})):
            return None
        meanwhile()
        try:
            answer = self._pipe.recv()
        except (EOFError, OSError):
            return None
        self._answered = True
        if isinstance(answer, BaseException):
            raise answer
        return list(answer)

    def _send(self, message: tuple[Any, ...]) -> bool:
        with suppress(OSError, ValueError):  # it died, or was closed: whoever asks for an answer hears of it
            self._pipe.send(message)
            return True
        return False

    def close(self) -> None:
        """See the end of the process; of one that has not answered now."""
        if not self._process:
            return
        if not self._answered:
            with suppress(ProcessLookupError):
                os.kill(self._process, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)
        self._process = 0
        self._pipe.close()
        self._told.close()


def _serve(pipe: Connection, telling: Connection, upstream: Path, rules: Sequence[Path], python_root: str) -> None:
    """Read modules while there is nothing to be heard, until a run is asked for."""
    gc.disable()  # nothing here is garbage before the run ends
    from pruner.verify.driver import make_ready, run  # here: the run itself needs none of it

    ready: Ready | None = None
    waiting: deque[str] = deque()
    paths: deque[str] = deque()
    while True:
        if (waiting or paths) and not pipe.poll():
            if ready is None:
                with suppress(PruneError):  # said again, and heard, when the run is asked for
                    ready = make_ready(upstream, rules, python_root)
            reads = bool(waiting)
            name = (waiting or paths).popleft()
            if ready is not None and reads:
                ready.world.names(name)
            elif ready is not None:
                ready.look(name)
            continue
        try:
            what, *more = pipe.recv()
        except EOFError:
            return
        if what == "warm":
            waiting.extend(more[0])
            take_read(more[1])
        elif what == "look":
            paths.extend(more[0])
        elif what == "rest":
            waiting.clear()
            paths.clear()
        elif what == "beside":
            _answer_apart(pipe, telling, more[0], ready)
        else:
            output, jobs, checks, counts = more
            take_counts(counts)
            try:
                pipe.send(run(upstream, output, rules, python_root=python_root, jobs=jobs, checks=checks, ready=ready))
            except BaseException as error:
                pipe.send(error)
            for worker in multiprocessing.active_children():
                worker.join()
            with suppress(ChildProcessError):
                os.wait()  # who answered apart
            return


def _answer_apart(pipe: Connection, telling: Connection, question: bytes, ready: Ready | None) -> None:
    """Have a child of this process answer; what it imports and changes stays with it."""
    parent = os.getpid()
    if os.fork():
        telling.close()
        return
    try:
        die_with(parent)
        pipe.close()
        try:
            function, arguments = pickle.loads(question)
            answer = function(ready, *arguments)
        except BaseException as error:
            answer = error
        telling.send(answer)
        telling.close()
    finally:
        os._exit(0)
