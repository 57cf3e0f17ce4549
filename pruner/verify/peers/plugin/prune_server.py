"""Starts the test sessions: loads pytest once, and what the tests need from outside the tree, and forks one child a file.

Reads one JSON line a task: ``{"preload": [...]}`` loads modules and answers ``{}``; ``{"environment", "path", "cwd",
"arguments", "log"}`` answers ``{"pid"}`` when the child runs and ``{"code"}`` when it has ended.
Half a minute of processor time a file is the import of torch and what stands beside it, which is the same on both trees.
Stdlib and pytest only: the tool is not installed there.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from typing import Any, NoReturn

import pytest


def _child(task: dict[str, Any]) -> NoReturn:
    code = 70
    try:
        os.setsid()
        os.chdir(task["cwd"])
        null, log = os.open(os.devnull, os.O_RDONLY), os.open(task["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for target, source in ((0, null), (1, log), (2, log)):
            os.dup2(source, target)
        os.environ.update(task["environment"])
        # never the current folder: in a checkout of a flat layout it is upstream's package, whatever tree is under test
        sys.path[:] = [*task["path"], *(p for p in sys.path if p)]
        sys.argv = ["pytest", *task["arguments"]]
        importlib.invalidate_caches()
        code = int(pytest.main(task["arguments"]))
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _main() -> None:
    importlib.import_module("prune_recorder")  # simulates the device before anything else is loaded
    # tests and packages may print: the answers have a channel of their own
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        task = json.loads(line)
        if "preload" in task:
            for name in task["preload"]:
                with contextlib.suppress(Exception):
                    importlib.import_module(name)
            answers.write("{}\n")
            answers.flush()
            continue
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            _child(task)
        answers.write(json.dumps({"pid": pid}) + "\n")
        answers.flush()
        _, status = os.waitpid(pid, 0)
        answers.write(json.dumps({"code": os.waitstatus_to_exitcode(status)}) + "\n")
        answers.flush()


if __name__ == "__main__":
    _main()
