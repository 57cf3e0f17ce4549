"""``prune peer-tests``: upstream's own tests on both trees."""

from __future__ import annotations

from pathlib import Path

import click

from pruner.cli.commands import prune
from pruner.cli.options import (
    cache_option,
    jobs_option,
    json_option,
    path_type,
    print_json,
    python_option,
    run_rules_option,
    tree_option,
)
from pruner.errors import ExitCode


@prune.command("peer-tests")
@click.option("--upstream", required=True, metavar="CHECKOUT", help="The checkout that the output was made from.")
@tree_option
@run_rules_option
@click.option("--under", multiple=True, metavar="PATH", help="Tests of the checkout.  [default: those for the CPU]")
@click.option("--device", type=click.Choice(["", "H100", "B200"]), default="", help="Simulate this GPU.")
@python_option("The interpreter, with pytest and the packages of requirements-verify.txt.")
@click.option("--work", type=path_type(file_okay=False), metavar="DIR", help="Keep logs and outcomes here.")
@jobs_option
@json_option
@cache_option
def peer_tests(
    upstream: str,
    output: Path,
    reports: Path,
    rules: tuple[Path, ...],
    under: tuple[str, ...],
    device: str,
    python: Path,
    work: Path | None,
    jobs: int | None,
    as_json: bool,
    cache: Path | None,
) -> int:
    """Run upstream's tests on upstream and on the output, and compare them test by test.

    An outcome that differs needs a reason in the run's ledger: the guard's refusal, a name that went and that the test itself
    asks for, or lines that a rule took and that the test executes upstream. --json lists each with its reason.

    Exit codes: 0 every outcome is equal or explained, 2 nothing ran, 3 an outcome differs for no such reason.
    """
    from pruner.console import Screen
    from pruner.pipeline import PeerOptions, peer_verdict

    if not output.is_dir():
        raise click.UsageError(f"--output {output} is no folder")
    asked = PeerOptions(upstream, output, python, reports, rules, under, device, jobs or 1, work, cache)
    verdict = peer_verdict(asked)
    screen = Screen()
    screen.verdicts([verdict])
    code = {"passed": ExitCode.CLEAN, "refuted": ExitCode.REFUTED}.get(verdict.result, ExitCode.CANNOT_RUN)
    if as_json:
        row = {key: getattr(verdict, key) for key in ("check", "covered", "result", "seconds", "figures")}
        print_json({"verdicts": [{**row, "details": list(verdict.details)}], "exit_code": int(code)})
    return code
