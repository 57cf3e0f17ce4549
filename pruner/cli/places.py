"""Commands about places and patches: retrace, port, affects."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from pruner.cli.commands import prune
from pruner.cli.options import (
    cache_option,
    json_option,
    path_type,
    print_json,
    reports_option,
    tree_option,
    upstream_option,
    write,
)
from pruner.errors import ExitCode

if TYPE_CHECKING:
    from pruner.pipeline.patch.port import Ported


@prune.command()
@click.argument("file", type=click.File("r", errors="surrogateescape"), default="-")
@click.option("--from-upstream", is_flag=True, help="FILE speaks of the upstream tree; print the generated tree's.")
@reports_option
def retrace(file: IO[str], from_upstream: bool, reports: Path) -> int:
    """Rewrite a traceback or log: every FILE:LINE of the generated tree becomes upstream's.

    FILE is - (stdin) when left out. A line that the other tree does not have keeps its number, with a note.

    Exit codes: 0 done, 1 FILE names no place of the tree.
    """
    from pruner.pipeline.patch.questions import retrace_text

    given = file.read()
    text, count = retrace_text(given, reports, to_upstream=not from_upstream)
    click.echo(text, nl=False)
    if not count:
        tree = "upstream" if from_upstream else "the generated tree"
        name = str(getattr(file, "name", "-"))
        name = "standard input" if name in ("-", "<stdin>") else name
        told = f"no line names a place of {tree}, such as FILE:LINE" if given.strip() else "there is nothing in it"
        click.echo(f"{name}: {told}", err=True)
    return ExitCode.CLEAN if count else ExitCode.FINDINGS


@prune.command()
@click.argument("patch", type=path_type(dir_okay=False))
@click.option("--to-upstream", is_flag=True, help="PATCH is for the generated tree; make one for upstream.")
@click.option("--to", "target", type=path_type(dir_okay=False), metavar="FILE", help="The result.  [default: stdout]")
@tree_option
@upstream_option
@cache_option
@json_option
def port(
    patch: Path,
    to_upstream: bool,
    target: Path | None,
    output: Path,
    upstream: str | None,
    reports: Path,
    cache: Path | None,
    as_json: bool,
) -> int:
    """Carry PATCH, made for upstream, to the generated tree (or back), and say which hunks touch removed code.

    Exit codes: 0 everything was carried over or lies in removed code, 1 something needs a hand.
    """
    from pruner.pipeline.patch.questions import HURTS, port_patch
    from pruner.source import default_cache

    found = port_patch(patch, reports, output, upstream, cache or default_cache(), not to_upstream)
    if as_json:
        print_json({"rows": [row.row() for row in found.rows], "patch": found.diff})
    else:
        _say(found, patch)
        if target is None:
            click.echo(found.diff.encode("utf-8", "surrogateescape"), nl=False)
    if target is not None:
        write(target, found.diff.encode("utf-8", "surrogateescape"))
    return ExitCode.FINDINGS if any(row.status in HURTS for row in found.rows) else ExitCode.CLEAN


@prune.command()
@click.argument("patch", type=path_type(dir_okay=False))
@tree_option
@upstream_option
@cache_option
@json_option
def affects(patch: Path, output: Path, upstream: str | None, reports: Path, cache: Path | None, as_json: bool) -> int:
    """Does PATCH, a fix made for upstream, touch kept code, and which lines?

    Exit codes: 0 it touches only removed code, 1 it touches kept code or cannot be placed.
    """
    from pruner.pipeline.patch.questions import TOUCHES, port_patch
    from pruner.source import default_cache

    found = port_patch(patch, reports, output, upstream, cache or default_cache(), True)
    kept = [row for row in found.rows if row.status in TOUCHES]
    open_ = [row for row in found.rows if row.status in ("unplaced", "left", "foreign")]
    told = [row for row in found.rows if row.status != "outside"]
    answer = "affected" if kept else "unknown" if open_ or not told else "not affected"
    if as_json:
        print_json({"status": answer, "rows": [row.row() for row in found.rows]})
    else:
        click.echo(f"{answer}:")
        for row in found.rows:
            at = f" ({row.path}:{row.target} of the generated tree)" if row.target and row.status != "new" else ""
            word = "kept" if row.status in TOUCHES else row.status
            click.echo(f"{row.path}:{row.line}: {word}{at}{': ' + row.text if row.text else ''}")
    return ExitCode.CLEAN if answer == "not affected" else ExitCode.FINDINGS


def _say(found: Ported, patch: Path) -> None:
    for row in found.rows:
        at = f" at line {row.target}" if row.target else ""
        text = f": {row.text}" if row.text else ""
        click.echo(f"{patch}:{row.number}: {row.status}{at}: {row.path}:{row.line}{text}", err=True)
