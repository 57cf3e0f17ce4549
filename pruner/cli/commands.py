"""The commands. Each imports what it runs only when it runs, so that ``--help`` is quick."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pruner import __version__
from pruner.cli.options import (
    OUTPUT,
    cache_option,
    cores,
    jobs_option,
    json_option,
    overlay_option,
    path_type,
    print_json,
    python_option,
    reports_of,
    upstream_option,
)
from pruner.errors import ExitCode

if TYPE_CHECKING:
    from pruner.console import Screen
    from pruner.model import RunResult, Verdict
    from pruner.pipeline import RunOptions

_BRIEF = ("schema", "tool", "upstream", "policy", "totals", "removed", "removed_definitions", "findings", "verdicts")


@click.group(
    invoke_without_command=True,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="prune")
@click.option("--rules", type=path_type(), multiple=True, metavar="FILE", help="Rule file; may be given several times.")
@upstream_option
@click.option("--output", type=path_type(), default=OUTPUT, show_default=True, metavar="DIR", help="The pruned tree.")
@click.option(
    "--reports",
    type=path_type(),
    metavar="DIR",
    help="Diff, counts and ledger.  [default: reports; with --output DIR: DIR-reports]",
)
@jobs_option
@json_option
@click.option("--dry-run", is_flag=True, help="Build aside, check, and keep nothing.")
@click.option("--force", is_flag=True, help="Replace an output folder that is not an earlier output.")
@cache_option
@overlay_option
@click.option(
    "--trend", type=path_type(dir_okay=False), metavar="FILE", help="A matrix.json, for the chart in report.html."
)
@click.pass_context
def prune(
    context: click.Context,
    rules: tuple[Path, ...],
    upstream: str | None,
    output: Path,
    reports: Path | None,
    jobs: int | None,
    as_json: bool,
    dry_run: bool,
    force: bool,
    cache: Path | None,
    overlay: Path | None,
    trend: Path | None,
) -> int:
    """Specialise an upstream tree to the facts that rules state, drop what nothing reaches, check the result.

    \b
    prune --rules rules/cuda_only.yaml          the locked release into generated/ and reports/
    prune --rules A.yaml --upstream PATH --output OUT

    Exit codes: 0 clean, 1 findings, 2 cannot run, 3 the checks refuted the output. Whatever goes
    wrong, the earlier output stays whole.
    """
    if context.invoked_subcommand is not None:
        if rules or upstream is not None:
            raise click.UsageError(f"options of the run go without a command; `{context.invoked_subcommand}` is one")
        return ExitCode.CLEAN
    if not rules:
        raise click.UsageError("which rules? For example: prune --rules rules/cuda_only.yaml")
    from pruner.console import Screen
    from pruner.pipeline import RunOptions, run, telling
    from pruner.source import default_cache

    reports = reports or reports_of(output)
    options = RunOptions(
        rules=rules,
        upstream=upstream,
        output=output,
        reports=reports,
        jobs=jobs or cores(),
        dry_run=dry_run,
        force=force,
        cache=cache or default_cache(),
        overlay=overlay,
        trend=trend,
    )
    with telling(output, reports):
        with Screen() as screen:
            result = run(options, screen.progress)
        return _finish(screen, result, _where(options, reports, result), as_json)


def _where(options: RunOptions, reports: Path, result: RunResult) -> str:
    """What was written, for the last row of the table."""
    output = options.output
    if options.dry_run:
        return "nothing (--dry-run; the tree was built aside, checked and thrown away)"
    if result.exit_code == ExitCode.REFUTED:
        return f"{output}.refuted and {reports}.refuted; {output} and {reports} are as they were"
    return f"{output} and {reports}"


@prune.command()
@click.argument("version", required=False)
@click.option("--unlocked", is_flag=True, help="Admit a version that upstream/lock.toml does not name.")
@click.option("--offline", is_flag=True, help="Use the cache only.")
@click.option("--lock", type=path_type(dir_okay=False), metavar="FILE", help="Another lock file.")
@cache_option
def fetch(version: str | None, unlocked: bool, offline: bool, lock: Path | None, cache: Path | None) -> int:
    """Download an upstream release, check its digest, unpack it into the cache; print the folder.

    VERSION is the locked default when left out. Nothing is installed and nothing of it is run.
    """
    from pruner.console import Screen
    from pruner.source import default_cache, download, open_snapshot

    folder = cache or default_cache()
    wheel = download(version, lock, folder, offline=offline, unlocked=unlocked)
    snapshot = open_snapshot(wheel.path, folder, lock_path=lock)
    screen = Screen()
    screen.line(f"{wheel.path.name}: {wheel.size} bytes, sha256 {wheel.sha256}, {len(snapshot.files)} files")
    if snapshot.origin.kind != "release":
        row = {"version": snapshot.origin.version, "file": wheel.path.name, "sha256": wheel.sha256, "size": wheel.size}
        screen.line("not locked; a row for upstream/lock.toml:\n[[release]]")
        for key, value in row.items():
            screen.line(f"{key} = {json.dumps(value)}")
    click.echo(str(snapshot.root))
    return ExitCode.CLEAN


@prune.command()
@click.option(
    "--output", type=path_type(exists=True, file_okay=False), default=OUTPUT, show_default=True, metavar="DIR"
)
@click.option(
    "--rules",
    type=path_type(),
    multiple=True,
    metavar="FILE",
    help="The rule files it was made with.  [default: rules/cuda_only.yaml]",
)
@upstream_option
@click.option("--check", "checks", multiple=True, metavar="CHECK", help="Only this check; may be given several times.")
@click.option("--behaviour", is_flag=True, help="Also import and run both trees, in an environment of their own.")
@python_option("The interpreter for --behaviour, with the packages of requirements-verify.txt.")
@click.option("--require", multiple=True, metavar="CHECK", help="Fail (exit 2) when this check did not run.")
@jobs_option
@json_option
@cache_option
@overlay_option
def verify(
    output: Path,
    rules: tuple[Path, ...],
    upstream: str | None,
    checks: tuple[str, ...],
    behaviour: bool,
    python: Path,
    require: tuple[str, ...],
    jobs: int | None,
    as_json: bool,
    cache: Path | None,
    overlay: Path | None,
) -> int:
    """Check a pruned tree against the upstream and the rules it was made from.

    Exit codes: 0 nothing refuted, 2 cannot run or a required check did not run, 3 refuted.
    """
    from pruner.console import Screen
    from pruner.pipeline import VerifyOptions, verify_output

    options = VerifyOptions(
        output=output,
        upstream=upstream,
        rules=rules,
        jobs=jobs or cores(),
        cache=cache,
        checks=checks,
        python=python if behaviour else None,
        require=require,
        overlay=overlay,
    )
    verdicts = verify_output(options)
    screen = Screen()
    screen.verdicts(verdicts)
    ran = {row.check for row in verdicts if row.result != "not run"}
    missing = [name for name in dict.fromkeys(require) if name not in ran]
    for name in missing:
        screen.line(f"required, but not run: {name}")
    refuted = any(row.result == "refuted" for row in verdicts)
    code = ExitCode.REFUTED if refuted else ExitCode.CANNOT_RUN if missing else ExitCode.CLEAN
    if as_json:
        print_json({"verdicts": [_verdict(row) for row in verdicts], "exit_code": int(code)})
    return code


@prune.command()
@click.argument("folder", type=path_type(exists=True, file_okay=False))
@click.argument("out", type=path_type())
@jobs_option
@json_option
def case(folder: Path, out: Path, jobs: int | None, as_json: bool) -> int:
    """Prune FOLDER/in under FOLDER/facts.yaml and write the whole tree to OUT."""
    from pruner.console import Screen
    from pruner.pipeline import run_case

    result = run_case(folder, out, jobs or 1)
    return _finish(Screen(quiet=True), result, str(out), as_json)


def _finish(screen: Screen, result: RunResult, where: str, as_json: bool) -> int:
    """Findings and the final table to stderr, the short document to stdout if asked for."""
    from pruner.report import summary

    shown = [replace(row, path=result.shown.get(row.path, row.path)) for row in result.findings]
    screen.findings(shown)
    document: Mapping[str, Any] = result.document
    for row in document.get("verdicts", ()):
        if row["result"] == "refuted":
            for detail in row["details"]:
                screen.line(f"refuted by {row['check']}: {detail}")
    if document:
        screen.summary("prune", [*summary(document), ("written", where)])
    if as_json:
        brief = {key: document[key] for key in _BRIEF if key in document}
        print_json({**brief, "exit_code": int(result.exit_code)})
    return int(result.exit_code)


def _verdict(row: Verdict) -> dict[str, Any]:
    return {
        "check": row.check,
        "covered": row.covered,
        "result": row.result,
        "details": list(row.details),
        "seconds": row.seconds,
    }
