"""The commands. Each imports what it runs only when it runs, so that ``--help`` is quick."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pruner import __version__
from pruner.errors import ExitCode

if TYPE_CHECKING:
    from pruner.console import Screen
    from pruner.model import RunResult, Verdict
    from pruner.pipeline.answers import Answer

OUTPUT = Path("generated")
REPORTS = Path("reports")
_BRIEF = ("schema", "tool", "upstream", "policy", "totals", "removed", "removed_definitions", "findings", "verdicts")

_F = TypeVar("_F", bound=Callable[..., Any])


def cores() -> int:
    """How many processes may work at once here: the machine's cores, less those this process may not use."""
    there = os.cpu_count() or 1
    try:
        return max(1, min(there, len(os.sched_getaffinity(0))))
    except (AttributeError, OSError):
        return there


def _path(**limits: bool) -> click.Path:
    return click.Path(path_type=Path, **limits)


def _jobs(command: _F) -> _F:
    text = "Processes at work.  [default: the cores of this machine]"
    return click.option("-j", "--jobs", type=click.IntRange(min=1), default=None, metavar="N", help=text)(command)


def _json(command: _F) -> _F:
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON to stdout.")(command)


def _cache(command: _F) -> _F:
    text = "Where fetched releases lie.  [default: .cache of the checkout, else the user's cache folder]"
    option = click.option("--cache", type=_path(file_okay=False), envvar="PRUNE_CACHE", metavar="DIR", help=text)
    return option(command)


def _upstream(command: _F) -> _F:
    text = "Version, wheel, unpacked wheel, checkout or folder.  [default: the release locked in upstream/lock.toml]"
    return click.option("--upstream", metavar="PATH|VERSION", help=text)(command)


@click.group(
    invoke_without_command=True,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="prune")
@click.option("--rules", type=_path(), multiple=True, metavar="FILE", help="Rule file; may be given several times.")
@_upstream
@click.option("--output", type=_path(), default=OUTPUT, show_default=True, metavar="DIR", help="The pruned tree.")
@click.option(
    "--reports",
    type=_path(),
    metavar="DIR",
    help="Diff, counts and ledger.  [default: reports; with --output DIR: DIR-reports]",
)
@_jobs
@_json
@click.option("--dry-run", is_flag=True, help="Do everything but write.")
@click.option("--force", is_flag=True, help="Replace an output folder that is not an earlier output.")
@_cache
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
    from pruner.pipeline import RunOptions, run
    from pruner.source import default_cache

    if reports is None:
        reports = REPORTS if output == OUTPUT else output.with_name(f"{output.name}-reports")
    options = RunOptions(
        rules=rules,
        upstream=upstream,
        output=output,
        reports=reports,
        jobs=jobs or cores(),
        dry_run=dry_run,
        force=force,
        cache=cache or default_cache(),
    )
    with Screen() as screen:
        result = run(options, screen.progress)
    where = "nothing was written (--dry-run)" if dry_run else f"{output} and {reports}"
    if result.exit_code == ExitCode.REFUTED:
        where = f"{output}.refuted and {reports}; {output} is as it was"
    return _finish(screen, result, where, as_json)


@prune.command()
@click.argument("version", required=False)
@click.option("--unlocked", is_flag=True, help="Admit a version that upstream/lock.toml does not name.")
@click.option("--offline", is_flag=True, help="Use the cache only.")
@click.option("--lock", type=_path(dir_okay=False), metavar="FILE", help="Another lock file.")
@_cache
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
@click.option("--output", type=_path(exists=True, file_okay=False), default=OUTPUT, show_default=True, metavar="DIR")
@click.option(
    "--rules",
    type=_path(),
    multiple=True,
    metavar="FILE",
    help="The rule files it was made with.  [default: rules/cuda_only.yaml]",
)
@_upstream
@_jobs
@_json
@_cache
def verify(
    output: Path, rules: tuple[Path, ...], upstream: str | None, jobs: int | None, as_json: bool, cache: Path | None
) -> int:
    """Check a pruned tree against the upstream and the rules it was made from.

    Exit codes: 0 nothing refuted, 2 cannot run, 3 refuted.
    """
    from pruner.console import Screen
    from pruner.pipeline import verify_output

    verdicts = verify_output(output, upstream, jobs or cores(), rules, cache)
    Screen().verdicts(verdicts)
    code = ExitCode.REFUTED if any(row.result == "refuted" for row in verdicts) else ExitCode.CLEAN
    if as_json:
        _print_json({"verdicts": [_verdict(row) for row in verdicts], "exit_code": int(code)})
    return code


@prune.command()
@click.argument("folder", type=_path(exists=True, file_okay=False))
@click.argument("out", type=_path())
@_jobs
@_json
def case(folder: Path, out: Path, jobs: int | None, as_json: bool) -> int:
    """Prune FOLDER/in under FOLDER/facts.yaml and write the whole tree to OUT."""
    from pruner.console import Screen
    from pruner.pipeline import run_case

    result = run_case(folder, out, jobs or 1)
    return _finish(Screen(quiet=True), result, str(out), as_json)


def _reports(command: _F) -> _F:
    text = "The reports of the run to ask about."
    return click.option("--reports", type=_path(file_okay=False), default=REPORTS, show_default=True, help=text)(
        command
    )


def _answer(answer: Answer, as_json: bool) -> int:
    """Data on stdout: the status in a word, then the lines. Exit 1 for a name that nothing knows."""
    if as_json:
        _print_json({"status": answer.status, "lines": list(answer.lines)})
    else:
        click.echo(f"{answer.status}:")
        for line in answer.lines:
            click.echo(line)
    return ExitCode.FINDINGS if answer.status == "unknown" else ExitCode.CLEAN


@prune.command()
@click.argument("name")
@_reports
@_json
def why(name: str, reports: Path, as_json: bool) -> int:
    """Why NAME is kept: the shortest path from a root. NAME: pkg.mod, pkg.mod:name or a path."""
    from pruner.pipeline.answers import Answers

    return _answer(Answers(reports).why(name), as_json)


@prune.command("why-not")
@click.argument("name")
@_reports
@_json
def why_not(name: str, reports: Path, as_json: bool) -> int:
    """Why NAME, or the upstream line FILE:LINE, is gone: the cause chain of its removal."""
    from pruner.pipeline.answers import Answers

    return _answer(Answers(reports).why_not(name), as_json)


@prune.command()
@click.argument("place")
@click.option("--from-upstream", is_flag=True, help="PLACE is of the upstream tree; print the generated tree's.")
@_reports
@_json
def line(place: str, from_upstream: bool, reports: Path, as_json: bool) -> int:
    """The upstream place of FILE:LINE of the generated tree, or the other way round."""
    from pruner.pipeline.answers import Answers

    return _answer(Answers(reports).line(place, from_upstream), as_json)


@prune.command()
@click.argument("folder", default="")
@click.option("-n", "count", type=click.IntRange(min=1), default=20, show_default=True, help="Rows.")
@_reports
@_json
def retained(folder: str, count: int, reports: Path, as_json: bool) -> int:
    """What holds how many kept lines (dominator tree), within FOLDER if given."""
    from pruner.pipeline.answers import Answers

    return _answer(Answers(reports).retained(folder, count), as_json)


@prune.command()
@click.argument("rule")
@_reports
@_json
def impact(rule: str, reports: Path, as_json: bool) -> int:
    """What the ledger attributes to RULE."""
    from pruner.pipeline.answers import Answers

    return _answer(Answers(reports).impact(rule), as_json)


def _finish(screen: Screen, result: RunResult, where: str, as_json: bool) -> int:
    """Findings and the final table to stderr, the short document to stdout if asked for."""
    from pruner.report import summary

    screen.findings(result.findings)
    document: Mapping[str, Any] = result.document
    for row in document.get("verdicts", ()):
        if row["result"] == "refuted":
            for detail in row["details"]:
                screen.line(f"refuted by {row['check']}: {detail}")
    if document:
        screen.summary("prune", [*summary(document), ("written", where)])
    if as_json:
        brief = {key: document[key] for key in _BRIEF if key in document}
        _print_json({**brief, "exit_code": int(result.exit_code)})
    return int(result.exit_code)


def _print_json(value: object) -> None:
    json.dump(value, sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")


def _verdict(row: Verdict) -> dict[str, Any]:
    return {"check": row.check, "covered": row.covered, "result": row.result, "details": list(row.details)}
