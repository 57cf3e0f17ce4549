"""Questions to the last run: why, why-not, line, retained, impact, capabilities."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pruner.cli.commands import prune
from pruner.cli.options import (
    Named,
    cache_option,
    json_option,
    path_type,
    print_json,
    reports_option,
    run_rules_option,
    upstream_option,
)
from pruner.errors import ExitCode

if TYPE_CHECKING:
    from pruner.pipeline.answers import Answer


def give(answer: Answer, as_json: bool) -> int:
    """Data on stdout: the status in a word, then the lines. Exit 1 for a name that nothing knows."""
    if as_json:
        print_json({"status": answer.status, "lines": list(answer.lines)})
    else:
        click.echo(f"{answer.status}:")
        for line in answer.lines:
            click.echo(line)
    return ExitCode.FINDINGS if answer.status == "unknown" else ExitCode.CLEAN


@prune.command()
@click.argument("name", type=Named())
@reports_option
@json_option
def why(name: str, reports: Path, as_json: bool) -> int:
    """Why NAME is kept: the shortest path from a root. NAME: pkg.mod, pkg.mod:name or a path."""
    from pruner.pipeline.answers import Answers

    return give(Answers(reports).why(name), as_json)


@prune.command("why-not")
@click.argument("name", type=Named())
@reports_option
@json_option
def why_not(name: str, reports: Path, as_json: bool) -> int:
    """Why NAME, or the upstream line FILE:LINE, is gone: the cause chain of its removal."""
    from pruner.pipeline.answers import Answers

    return give(Answers(reports).why_not(name), as_json)


@prune.command()
@click.argument("place", type=Named())
@click.option("--from-upstream", is_flag=True, help="PLACE is of the upstream tree; print the generated tree's.")
@reports_option
@json_option
def line(place: str, from_upstream: bool, reports: Path, as_json: bool) -> int:
    """The upstream place of FILE:LINE of the generated tree, or the other way round."""
    from pruner.pipeline.answers import Answers

    return give(Answers(reports).line(place, from_upstream), as_json)


@prune.command()
@click.argument("folder", type=Named(), required=False)
@click.option("-n", "count", type=click.IntRange(min=1), default=20, show_default=True, help="Rows.")
@reports_option
@json_option
def retained(folder: str | None, count: int, reports: Path, as_json: bool) -> int:
    """What holds how many kept lines (dominator tree), within FOLDER (or module) if given."""
    from pruner.pipeline.answers import Answers

    return give(Answers(reports).retained(folder or "", count), as_json)


@prune.command()
@click.argument("rule", type=Named())
@reports_option
@json_option
def impact(rule: str, reports: Path, as_json: bool) -> int:
    """What the ledger attributes to RULE."""
    from pruner.pipeline.answers import Answers

    return give(Answers(reports).impact(rule), as_json)


@prune.command()
@click.argument("kind", type=Named(), required=False)
@reports_option
@json_option
def capabilities(kind: str | None, reports: Path, as_json: bool) -> int:
    """What the generated tree can do, of KIND or of all kinds: kept with evidence, or dropped by which rule."""
    from pruner.pipeline.answers import Answers

    return give(Answers(reports).capabilities(kind or ""), as_json)


@prune.command()
@click.argument("files", nargs=-1, required=True, type=path_type(dir_okay=False), metavar="FILE...")
@run_rules_option
@upstream_option
@reports_option
@cache_option
@json_option
@click.pass_context
def trace(
    context: click.Context,
    files: tuple[Path, ...],
    rules: tuple[Path, ...],
    upstream: str | None,
    reports: Path,
    cache: Path | None,
    as_json: bool,
) -> int:
    """Hold recorded traces of executed upstream lines (JSON, gzipped or not: {path: [line, ...]}) against the last run.

    Exit codes: 0 every line that ran is kept or went for a cause that a rule states, 3 a line of a function is missing.
    """
    from pruner.pipeline.trace import opened, read_lines
    from pruner.source import default_cache

    judge = opened(context.meta["pruner.output"], reports, rules, upstream, cache or default_cache())
    verdict = judge.judge(read_lines(files))
    if as_json:
        print_json(verdict.document())
    else:
        for name, count in sorted(verdict.classes.items()):
            click.echo(f"{count:8} {name}")
            for cause, lines in sorted(verdict.causes[name].items()):
                click.echo(f"{lines:16} {cause}")
        for place in verdict.missing:
            click.echo(f"missing: {place}")
    return ExitCode.REFUTED if verdict.missing else ExitCode.CLEAN
