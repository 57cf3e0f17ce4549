"""From arguments to an exit code.

Exit codes: 0 clean, 1 findings, 2 the command cannot run (a fault of its input, or of ours),
3 the checks refuted the output, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import click

# Modules of commands add themselves to the group.
from pruner.cli import parity, peers, pictures, places, questions, releases, reviews, rules  # noqa: F401
from pruner.cli.commands import prune
from pruner.console import Screen
from pruner.errors import ExitCode, PruneError

INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and give its exit code; never raises."""
    try:
        given = list(arguments) if arguments is not None else None
        code = prune.main(args=given, prog_name="prune", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except PruneError as error:
        Screen().diagnostics(error.diagnostics)
        return ExitCode.CANNOT_RUN
    except click.ClickException as error:
        error.show()
        return ExitCode.CANNOT_RUN
    except (click.Abort, KeyboardInterrupt):  # click turns the one into the other
        print("interrupted; the output is as it was", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `prune --json | head`: the reader has what it wants
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.CLEAN
    except Exception:
        # Python's own exit code for a crash is 1, which here means findings.
        traceback.print_exc()
        print("this is a fault of prune, not of its input; the output is as it was", file=sys.stderr)
        return ExitCode.CANNOT_RUN
