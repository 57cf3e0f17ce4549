"""Options that several commands take, and how data is printed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from pruner.errors import PruneError, cannot, too_long

OUTPUT = Path("generated")
REPORTS = Path("reports")
VERIFY_PYTHON = Path(".venv-verify/bin/python")
RULES = Path("rules/cuda_only.yaml")

_F = TypeVar("_F", bound=Callable[..., Any])


def cores() -> int:
    """How many processes may work at once here: the machine's cores, less those this process may not use."""
    there = os.cpu_count() or 1
    try:
        return max(1, min(there, len(os.sched_getaffinity(0))))
    except (AttributeError, OSError):
        return there


class _Path(click.Path):
    """A path that the system can hold: with a name of 300 characters every question about it is an OSError."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value) and isinstance(param, click.Argument):  # Path("") is the current folder
            self.fail("it is empty", param, ctx)
        fault = too_long(os.fspath(value))
        if fault:
            self.fail(fault, param, ctx)
        return super().convert(value, param, ctx)


class Named(click.types.StringParamType):
    """A text that names something: an empty one (``prune why "$NAME"``) is no question."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not str(value).strip():
            self.fail("it is empty", param, ctx)
        return str(value)


def path_type(**limits: bool) -> click.Path:
    return _Path(path_type=Path, **limits)


def jobs_option(command: _F) -> _F:
    text = "Processes at work.  [default: the cores of this machine]"
    return click.option("-j", "--jobs", type=click.IntRange(min=1), default=None, metavar="N", help=text)(command)


def python_option(text: str) -> Callable[[_F], _F]:
    """``--python``: the interpreter of the verification environment."""
    return click.option(
        "--python",
        type=path_type(dir_okay=False),
        envvar="PRUNE_VERIFY_PYTHON",
        default=VERIFY_PYTHON,
        show_default=True,
        metavar="FILE",
        help=text,
    )


def json_option(command: _F) -> _F:
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON to stdout.")(command)


def cache_option(command: _F) -> _F:
    text = "Where fetched releases lie.  [default: .cache of the checkout, else the user's cache folder]"
    option = click.option("--cache", type=path_type(file_okay=False), envvar="PRUNE_CACHE", metavar="DIR", help=text)
    return option(command)


def upstream_option(command: _F) -> _F:
    text = "Version, wheel, unpacked wheel, checkout or folder.  [default: the release locked in upstream/lock.toml]"
    return click.option("--upstream", metavar="PATH|VERSION", help=text)(command)


def overlay_option(command: _F) -> _F:
    text = "Local patches and files to put on the checked tree: DIR/*.patch in name order, DIR/files/."
    kind = path_type(exists=True, file_okay=False)
    return click.option("--overlay", type=kind, envvar="PRUNE_OVERLAY", metavar="DIR", help=text)(command)


def reports_of(output: Path) -> Path:
    """Where the reports of a run into ``output`` are when nobody says otherwise."""
    if not output.name:  # "/", ".", "": refused by the run, in one message
        return output
    return REPORTS if output == OUTPUT else output.with_name(f"{output.name}-reports")


def run_rules_option(command: _F) -> _F:
    """``--rules`` of a command that asks what a run did: the run's own files, as many as it had."""
    text = "The run's rules; may be given several times."
    option = click.option(
        "--rules", type=path_type(), multiple=True, default=(RULES,), show_default=True, metavar="FILE", help=text
    )
    return option(command)


def reports_option(command: _F) -> _F:
    """``--reports``, or the reports that belong to ``--output``, by the rule of the run."""
    return _run_option(command, False)


def tree_option(command: _F) -> _F:
    """The same, for a command that reads the output as well: it gets ``output`` and ``reports``."""
    return _run_option(command, True)


def _run_option(command: _F, tree: bool) -> _F:
    def note(context: click.Context, _parameter: click.Parameter, value: Path) -> Path:
        context.meta["pruner.output"] = value
        return value

    def choose(context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path:
        return value or reports_of(context.meta["pruner.output"])

    output = click.option(
        "--output",
        type=path_type(file_okay=False),
        default=OUTPUT,
        is_eager=True,
        expose_value=tree,
        callback=note,
        metavar="DIR",
        help="The output of the run to ask about.",
    )
    text = "The reports of the run to ask about.  [default: reports; with --output DIR: DIR-reports]"
    reports = click.option("--reports", type=path_type(file_okay=False), callback=choose, metavar="DIR", help=text)
    return output(reports(command))


def print_json(value: object) -> None:
    """Print a document. Raises PruneError PR310 when the place it goes to takes no more.

    A reader that has gone (``| head -1``) has what it wants: the exit code stays that of the command.
    """
    try:
        json.dump(value, sys.stdout, indent=1, sort_keys=True)
        sys.stdout.write("\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in the buffer
        advice = "what the command writes is written; ask again with --json into a file"
        raise unwritten(error, advice) from error


def unwritten(error: OSError, advice: str) -> PruneError:
    """Standard output takes no more: PR310."""
    return cannot("standard output", "PR310", f"cannot be written: {error.strerror}", advice)


def write(path: Path, data: bytes) -> None:
    """Write a file that an option names. Raises PruneError PR310."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise cannot(str(path), "PR310", f"cannot be written: {error.strerror}", "name another file") from error
