"""Commands over several releases or two runs."""

from __future__ import annotations

from pathlib import Path

import click

from pruner.cli.commands import prune
from pruner.cli.options import RULES, cache_option, cores, jobs_option, json_option, path_type, print_json, write
from pruner.errors import ExitCode


@prune.command("matrix")
@click.argument("releases", nargs=-1, required=True, metavar="RELEASE...")
@click.option("--rules", type=path_type(), multiple=True, metavar="FILE", help=f"Rule files.  [default: {RULES}]")
@click.option("--output", type=path_type(), default=Path("matrix"), show_default=True, metavar="DIR")
@jobs_option
@json_option
@cache_option
def matrix_command(
    releases: tuple[str, ...],
    rules: tuple[Path, ...],
    output: Path,
    jobs: int | None,
    as_json: bool,
    cache: Path | None,
) -> int:
    """Prune each RELEASE under the same rules; one table of all of them.

    RELEASE is whatever --upstream takes. Each goes to DIR/RELEASE/generated and reports; the table to
    DIR/matrix.md and DIR/matrix.json. The exit code is the worst of all.
    """
    from pruner.console import Screen
    from pruner.pipeline.matrix import exit_code, run_matrix
    from pruner.report.matrix import matrix_markdown

    screen = Screen()
    document = run_matrix(releases, rules or (RULES,), output, jobs or cores(), cache, screen.line)
    if as_json:
        print_json(document)
    else:
        click.echo(matrix_markdown(document), nl=False)
    return exit_code(document)


@prune.command()
@click.argument("base", type=path_type(exists=True, file_okay=False))
@click.argument("head", type=path_type(exists=True, file_okay=False))
@click.option("--output", type=path_type(dir_okay=False), metavar="FILE", help="Write the whole document there too.")
@json_option
def diff(base: Path, head: Path, output: Path | None, as_json: bool) -> int:
    """What changed in the cut between two runs: BASE and HEAD are their reports folders.

    Two releases under the same rules, or two rule sets on one release. What was newly kept and by which
    edge, what was lost and why, new platforms, predicates and dynamic loading, capabilities, growth.
    """
    from pruner.pipeline.change import change
    from pruner.report.change import change_bytes, change_markdown

    document = change(base, head)
    if output is not None:
        write(output, change_bytes(document))
    if as_json:
        print_json(document)
    else:
        click.echo(change_markdown(document), nl=False)
    return ExitCode.CLEAN
