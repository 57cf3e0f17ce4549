"""Commands for reviewers and CI: hygiene, review."""

from __future__ import annotations

from pathlib import Path

import click

from pruner.cli.commands import prune
from pruner.cli.options import REPORTS, json_option, path_type, print_json, reports_option, write
from pruner.errors import ExitCode

KNOWN = Path("rules/known-names.txt")


def _known(given: Path | None) -> list[tuple[str, str]]:
    from pruner.pipeline.hygiene import read_known

    return read_known(given or (KNOWN if KNOWN.is_file() else None))


_KNOWN = click.option(
    "--known",
    type=path_type(dir_okay=False),
    metavar="FILE",
    help=f"Names that are no platforms, `pattern: reason`.  [default: {KNOWN}, if there]",
)


@prune.command()
@click.argument("reports", nargs=-1, type=path_type(exists=True, file_okay=False))
@_KNOWN
@click.option("--least", type=click.IntRange(min=1), default=None, metavar="N", help="Least score of a finding.")
@click.option("--all", "every", is_flag=True, help="List every suspect with its score.")
@json_option
def hygiene(reports: tuple[Path, ...], known: Path | None, least: int | None, every: bool, as_json: bool) -> int:
    """Names that look like platforms and that no rule speaks of; rules that none of several runs used.

    REPORTS are reports folders; `reports` when left out. Exit codes: 0 nothing, 1 findings.
    """
    from pruner.console import Screen
    from pruner.pipeline.change.side import Side
    from pruner.pipeline.hygiene import LEAST
    from pruner.pipeline.hygiene import hygiene as look
    from pruner.pipeline.suspects import suggestion

    sides = [Side(folder) for folder in reports or (REPORTS,)]
    findings, suspects = look(sides, _known(known), least=least or LEAST)
    if as_json:
        rows = [
            {"word": s.word, "score": s.score, "at": s.at, "evidence": s.evidence, "rule": suggestion(s)}
            for s in suspects
        ]
        print_json({"findings": [_row(row) for row in findings], "suspects": rows})
    else:
        Screen().findings(findings)
        for suspect in suspects if every else ():
            click.echo(f"{suspect.score:>5}  {suspect.word}  {suspect.at}  {'; '.join(suspect.evidence)}")
        certain = [s for s in suspects if s.score >= (least or LEAST)] if not every else []
        named = [rule for s in certain if (rule := suggestion(s))]
        if named:
            click.echo("rules:\n" + "\n\n".join(named))
        if certain:
            click.echo(f"\n# or, in {known or KNOWN}:\n" + "\n".join(f"{s.word}: say why it is none" for s in certain))
    return ExitCode.FINDINGS if findings else ExitCode.CLEAN


@prune.command()
@click.option(
    "--base", type=path_type(exists=True, file_okay=False), required=True, metavar="DIR", help="The base run."
)
@reports_option
@_KNOWN
@click.option(
    "--moved", type=float, default=3.0, show_default=True, metavar="POINTS", help="Most that the kept share may move."
)
@click.option("--grown", type=float, default=None, metavar="PERCENT", help="Most that the kept lines may grow.")
@click.option(
    "--lost",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Capabilities that the cut may lose.",
)
@click.option("--least", type=click.IntRange(min=1), default=None, metavar="N", help="Least score of a suspect.")
@click.option(
    "--tree", default="", metavar="DIR", help="Where the repository keeps the tree: findings are placed there."
)
@click.option("--rule-files", default="", metavar="DIR", help="Where the repository keeps the rule files, likewise.")
@click.option("--markdown", type=path_type(dir_okay=False), metavar="FILE", help="The comment.  [default: stdout]")
@click.option("--sarif", type=path_type(dir_okay=False), metavar="FILE", help="Findings as SARIF 2.1.0.")
@click.option("--annotations", is_flag=True, help="Print GitHub's annotations to stdout.")
def review(
    base: Path,
    reports: Path,
    known: Path | None,
    moved: float,
    grown: float | None,
    lost: int,
    least: int | None,
    tree: str,
    rule_files: str,
    markdown: Path | None,
    sarif: Path | None,
    annotations: bool,
) -> int:
    """Judge the run in --reports against the run in --base: a comment, annotations, a SARIF log.

    Exit codes: 0 in order, 1 findings or a limit was passed, 3 the checks refuted the tree.
    """
    from pruner.pipeline.hygiene import LEAST
    from pruner.pipeline.review import MEANINGS, Limits, Repository
    from pruner.pipeline.review import review as judge
    from pruner.pipeline.suspects import suggestion
    from pruner.report import comment as comments
    from pruner.report import sarif as logs

    found = judge(
        base, reports, _known(known), Limits(moved, grown, lost, least or LEAST), Repository(tree, rule_files)
    )
    rules = [rule for s in found.suspects if s.score >= (least or LEAST) and (rule := suggestion(s))]
    text = comments.comment(found.document, found.findings, found.exit_code, rules[:5])
    if markdown is not None:
        write(markdown, text.encode("utf-8", "backslashreplace"))
    elif not annotations:
        click.echo(text, nl=False)
    if sarif is not None:
        write(sarif, logs.sarif_bytes(logs.sarif(found.findings, MEANINGS)))
    for line in logs.workflow_lines(found.findings) if annotations else ():
        click.echo(line)
    return found.exit_code


def _row(row: object) -> dict[str, object]:
    return {key: getattr(row, key) for key in ("code", "path", "line", "text", "advice")}
