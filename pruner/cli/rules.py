"""Questions about rules and facts: ``prune rules check|list|explain|schema`` and ``prune facts``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pruner.cli.commands import prune
from pruner.cli.options import RULES, Named, json_option, path_type, print_json, reports_option
from pruner.errors import ExitCode


@prune.group("rules", no_args_is_help=True)
def rules_group() -> None:
    """Check rule files, list what the last run did with each rule, explain one, print the schema."""


@rules_group.command()
@click.argument("files", nargs=-1, type=path_type(), metavar="[FILE]...")
@reports_option
@json_option
def check(files: tuple[Path, ...], reports: Path, as_json: bool) -> int:
    """Check FILEs (default: rules/cuda_only.yaml) and what they extend; all faults are shown at once.

    Faults of the text and contradictions end with 2. Rules that another rule makes superfluous, and
    rules that matched nothing in the last run of the same rules, end with 1.
    """
    from pruner.console import Screen
    from pruner.pipeline.language import check as judge

    findings, note = judge(files or (RULES,), reports)
    screen = Screen()
    screen.findings(findings)
    screen.line(note)
    if as_json:
        rows = [{"code": f.code, "file": f.path, "line": f.line, "text": f.text, "advice": f.advice} for f in findings]
        print_json({"findings": rows})
    return ExitCode.FINDINGS if findings else ExitCode.CLEAN


@rules_group.command("list")
@reports_option
@json_option
def list_command(reports: Path, as_json: bool) -> int:
    """Every rule of the last run: what it folded and removed, and where it stands."""
    from pruner.pipeline.language import Language

    rows = Language(reports).rows()
    if as_json:
        print_json({"rules": rows})
        return ExitCode.CLEAN
    click.echo(f"{'verb':8} {'folds':>7} {'removals':>9} {'lines':>8}  rule")
    for row in rows:
        mark = "" if row["matched"] else "  (matches nothing)"
        place = f"{row['id']}  {row['location']}{mark}"
        click.echo(f"{row['verb']:8} {row['folds']:>7} {row['removals']:>9} {row['lines']:>8}  {place}")
    return ExitCode.CLEAN


@rules_group.command()
@click.argument("rule", type=Named())
@reports_option
@json_option
def explain(rule: str, reports: Path, as_json: bool) -> int:
    """What RULE says, what it matched and what it did in the last run."""
    from pruner.pipeline.language import Language

    found = Language(reports).explain(rule)
    if as_json:
        print_json(found)
    else:
        for line in found["lines"]:
            click.echo(line)
    return ExitCode.CLEAN


@rules_group.command()
@click.option("--markdown", is_flag=True, help="As a page for people: docs/rules-reference.md.")
def schema(markdown: bool) -> int:
    """The JSON Schema of rule files, for completion and checking in an editor."""
    from pruner.policy import json_schema, reference

    if markdown:
        click.echo(reference(), nl=False)
        return ExitCode.CLEAN
    click.echo(json.dumps(json_schema(), indent=2, sort_keys=True))
    return ExitCode.CLEAN


@prune.command()
@click.argument("subject", type=Named(), required=False)
@reports_option
@json_option
def facts(subject: str | None, reports: Path, as_json: bool) -> int:
    """Each fact of the last run: admitted or rejected, from which rule, who asked for it, which stores it met.

    SUBJECT limits the answer to facts whose subject holds this text. Exit 1 if a fact was rejected, or none has the text.
    """
    from pruner.pipeline.language import Language

    language = Language(reports)
    rows = language.facts(subject or "")
    if subject and not rows:
        click.echo(f"no fact of the last run has {subject!r} in its subject", err=True)
        return ExitCode.FINDINGS
    if as_json:
        print_json({"facts": rows, "open_stores": language.open_stores()})
    else:
        for line in language.fact_lines(rows, full=subject is not None):
            click.echo(line)
    return ExitCode.FINDINGS if any(row["status"] == "rejected" for row in rows) else ExitCode.CLEAN
