"""The command that draws."""

from __future__ import annotations

from pathlib import Path

import click

from pruner.cli.commands import prune
from pruner.cli.options import Named, path_type, reports_option, write
from pruner.errors import ExitCode


@prune.command()
@click.argument("package", type=Named(), required=False)
@click.option(
    "--depth", type=click.IntRange(min=1), default=3, show_default=True, help="Components of a folder's name."
)
@click.option(
    "--dot", type=path_type(dir_okay=False), metavar="FILE", help="Write Graphviz's language.  [default: stdout]"
)
@click.option("--svg", type=path_type(dir_okay=False), metavar="FILE", help="Write a picture.")
@reports_option
def graph(package: str | None, depth: int, dot: Path | None, svg: Path | None, reports: Path) -> int:
    """The module graph of kept code by folder, within PACKAGE if given. Boxes of entry points are marked."""
    from pruner.pipeline import picture
    from pruner.pipeline.answers import Answers

    answers = Answers(reports)
    folders = picture.by_folder(answers.graph, depth, package or "")
    if package and not folders.sizes:
        said = answers.why(package)
        click.echo(
            "\n".join(said.lines if said.status != "kept" else (f"{package} is no package or module",)), err=True
        )
    if dot is not None:
        write(dot, picture.dot(folders).encode())
    if svg is not None:
        write(svg, picture.svg(folders).encode())
    if dot is None and svg is None:
        click.echo(picture.dot(folders), nl=False)
    return ExitCode.CLEAN if folders.sizes else ExitCode.FINDINGS
