"""Commands over several releases or two runs."""

from __future__ import annotations

from pathlib import Path

import click

from pruner.cli.commands import prune
from pruner.cli.options import RULES, cache_option, cores, jobs_option, json_option, path_type, print_json


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
