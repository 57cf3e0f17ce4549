"""From arguments to an exit code.

Exit codes: 0 clean, 1 findings, 2 the command cannot run (a fault of its input, or of ours),
3 the checks refuted the output, 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Sequence

import click

# Modules of commands add themselves to the group.
from pruner.cli import parity, peers, pictures, places, questions, releases, reviews, rules  # noqa: F401
from pruner.cli.commands import prune
from pruner.cli.options import unwritten
from pruner.console import Screen
from pruner.errors import ExitCode, PruneError, cannot, shortened

INTERRUPTED = 130
FULL = (errno.ENOSPC, errno.EDQUOT)


def _open_streams() -> None:
    """Standard streams that the caller closed (``>&-``): nothing, instead of the first file that the run opens."""
    for stream in ("stdin", "stdout", "stderr"):
        if getattr(sys, stream) is None:
            setattr(sys, stream, open(os.devnull, "r" if stream == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and give its exit code; never raises."""
    _open_streams()
    # Ctrl-C goes to every process of the terminal: this one ends the workers, which have nothing to say about it.
    os.register_at_fork(after_in_child=_ignore_interrupts)
    stdout = sys.stdout
    try:
        os.getcwd()
    except OSError:  # every relative path and every message would be about it
        print("error: the current folder is gone; go to one that is there", file=sys.stderr)
        return ExitCode.CANNOT_RUN
    try:
        given = list(arguments) if arguments is not None else None
        code = prune.main(args=given, prog_name="prune", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except SystemExit as end:
        # click's end of a question whose reader has gone (`prune why X | head -1`); its 1 means findings here.
        gone = sys.stdout is not stdout  # click puts a wrapper there
        return ExitCode.CLEAN if gone or not end.code else int(end.code)
    except PruneError as error:
        Screen().diagnostics(error.diagnostics)
        return ExitCode.CANNOT_RUN
    except click.ClickException as error:
        error.show()
        return ExitCode.CANNOT_RUN
    except (click.Abort, KeyboardInterrupt) as error:  # click turns the one into the other
        if isinstance(error.__cause__, EOFError):  # and this one, which nobody's key has made
            return _crashed(error.__cause__)
        print(f"interrupted; {_standing(error)}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `prune --json | head`: the reader has what it wants
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.CLEAN
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG and error.filename is not None:  # of what lies below a folder of an option
            name = os.fsdecode(error.filename)
            text = f"{len(os.fsencode(name))} bytes: {error.strerror}"
            fault = cannot(shortened(name), "PR310", text, "name a shorter folder")
            Screen().diagnostics(fault.diagnostics)
            return ExitCode.CANNOT_RUN
        if error.errno not in FULL or error.filename is not None:
            return _crashed(error)
        Screen().diagnostics(unwritten(error, "write the answer to a place with room").diagnostics)
        return ExitCode.CANNOT_RUN
    except Exception as error:
        return _crashed(error)


def _crashed(error: BaseException) -> int:
    traceback.print_exception(error)
    # Python's own exit code for a crash is 1, which here means findings.
    print(f"this is a fault of prune, not of its input; {_standing(error)}", file=sys.stderr)
    return ExitCode.CANNOT_RUN


def _standing(error: BaseException) -> str:
    """What is in place: what the run noted on the exception (on the one that click made another of)."""
    notes = [*getattr(error, "__notes__", ()), *getattr(error.__cause__, "__notes__", ())]
    return "; ".join(notes) or "the output is as it was"


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
