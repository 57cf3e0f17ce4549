"""``prune parity``: both trees' servers on a GPU host, compared answer by answer."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from pruner.cli.commands import prune
from pruner.cli.options import OUTPUT, json_option, path_type, print_json, reports_of, run_rules_option
from pruner.console import Screen
from pruner.errors import ExitCode


@prune.command()
@click.option("--gpu", is_flag=True, help="Run the cells on this host's cards.")
@click.option("--bench", type=click.Choice(["tiny", "v2-lite"]), help="With --gpu: speed on this model, not the cells.")
@click.option("--collect", type=path_type(exists=True), multiple=True, metavar="DIR", help="Take a run's results.")
@click.option("--plan", is_flag=True, help="Print the cells, and what no Hopper card can run.")
@click.option(
    "--upstream", type=path_type(exists=True), metavar="DIR", help="Unpacked upstream: `prune fetch` prints it."
)
@click.option("--output", type=path_type(), default=OUTPUT, show_default=True, metavar="DIR", help="The pruned tree.")
@click.option(
    "--reports",
    type=path_type(),
    metavar="DIR",
    help="The run's reports; parity/ is written there.  [default: reports]",
)
@run_rules_option
@click.option("--work", type=path_type(), metavar="DIR", help="Checkpoints, JIT caches and logs of --gpu.")
@click.option(
    "--arguments", default="", metavar="TEXT", help="Further options of `python -m pruner.parity run` or `bench`."
)
@json_option
def parity(
    gpu: bool,
    bench: str | None,
    collect: tuple[Path, ...],
    plan: bool,
    upstream: Path | None,
    output: Path,
    reports: Path | None,
    rules: tuple[Path, ...],
    work: Path | None,
    arguments: str,
    as_json: bool,
) -> int:
    """Compare upstream's server with the pruned one: tokens, log-probabilities, HTTP bodies, executed lines.

    A GPU host needs the two trees, SGLang's dependencies and this package's `pruner/parity`; `python -m
    pruner.parity` there needs nothing else of prune. Exit codes: 0 all that was compared is alike, 1 something could not
    be compared, 2 cannot run, 3 a cell differs or an executed line is missing.
    """
    from pruner.parity.__main__ import main as on_host

    if plan:
        return on_host(["plan"])
    if not gpu:
        for name, given in (("--bench", bench), ("--work", work), ("--arguments", arguments)):
            if given:
                raise click.UsageError(f"{name}: is for what runs on this host's cards, so it needs --gpu")
        if not collect:
            raise click.UsageError("one of --gpu, --collect, --plan")
    if upstream is None:
        raise click.UsageError("--upstream: the folder that holds upstream's sglang/")
    try:
        further = shlex.split(arguments)
    except ValueError as error:
        raise click.UsageError(f"--arguments: {error}") from None
    from pruner.parity.driver import build_of, verdict
    from pruner.parity.records import short
    from pruner.parity.results import collect as take
    from pruner.pipeline.answers import Answers
    from pruner.pipeline.trace import opened
    from pruner.source import default_cache

    reports = reports or reports_of(output)
    # Before the cards: a run whose results cannot be judged is known at once, not after an hour.
    judge = opened(output, reports, rules, str(upstream), default_cache()).judge
    folders = list(collect)
    code = 0
    if gpu:
        place = work or Path(".cache/parity")
        results = place / f"results-{short(build_of(output))}"  # of this build alone
        words = [str(upstream), str(output), "--work", str(place), "--results", str(results)]
        code = on_host([*(["bench", *words, "--model", bench] if bench else ["run", *words]), *further])
        folders.append(results)
    if code == ExitCode.CANNOT_RUN:
        return code
    answers, notes = Answers(reports), Screen().diagnostics

    def edge(path: str) -> str:
        if not path.endswith(".py"):
            return answers.enters(path)
        return answers.why(path).lines[-1].strip().removeprefix("-> ")

    summary = take(folders, upstream, output, lambda lines: judge(lines).document(), reports, notes, edge)
    if as_json:
        print_json(summary)
    else:
        click.echo((reports / "parity" / "summary.md").read_text("utf-8"))
    cells = [cell["result"] for cell in summary["cells"].values()]
    failed = any("failed" in figures for figures in summary["bench"].values())
    if summary.get("executed", {}).get("missing", 0):
        return ExitCode.REFUTED
    return max(code, verdict(cells) if cells else 0, 1 if failed else 0)
