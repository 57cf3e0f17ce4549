"""Check a tree that an earlier run wrote: the checks that read it, and on demand those that run it."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pruner import verify
from pruner.errors import cannot
from pruner.model import Snapshot, Verdict
from pruner.pipeline import stored
from pruner.pipeline.collector import collector_paused
from pruner.pipeline.overlay import judge, read_overlay, same, take_off
from pruner.pipeline.remembered import read_policy
from pruner.source import default_cache, open_snapshot
from pruner.verify import behaviour

RULES = Path("rules/cuda_only.yaml")
# Checks that a command of their own runs.
ELSEWHERE = {"peer-tests": "not asked for: prune peer-tests runs those of a checkout"}
UNASKED = "not asked for: --behaviour runs it"


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """What to check. ``checks`` empty: all; ``python`` None: nothing of the trees is run."""

    output: Path
    upstream: str | Path | None = None
    rules: tuple[Path, ...] = ()
    jobs: int = 1
    cache: Path | None = None
    checks: tuple[str, ...] = ()
    python: Path | None = None
    require: tuple[str, ...] = ()
    overlay: Path | None = None


def unasked() -> list[Verdict]:
    """The rows of the checks that an ordinary run leaves out."""
    return [*behaviour.not_run(UNASKED), *(Verdict(check, why, "not run") for check, why in ELSEWHERE.items())]


@collector_paused()
def verify_output(options: VerifyOptions) -> list[Verdict]:
    """One verdict a check. An overlay is taken off in a copy, which is judged, and then judged itself.

    Raises PruneError when a tree or a rule file cannot be read or a check does not exist, PR314 for another overlay than the
    output was made with.
    """
    output = options.output
    if not (output / "PRUNED.json").is_file():
        raise cannot(str(output), "PR306", "holds no PRUNED.json, so it is not an output of prune", "run prune first")
    known = (*verify.CHECKS, *behaviour.CHECKS, *ELSEWHERE)
    for name in (*options.checks, *options.require):
        if name not in known:
            raise cannot("verify", "PR403", f"no check is called {name!r}", f"known: {', '.join(known)}")
    wanted = options.checks or known
    over = read_overlay(options.overlay)
    try:
        recorded = dict(json.loads((output / "PRUNED.json").read_bytes())).get("overlay")
    except (OSError, ValueError, TypeError) as error:
        text = f"its PRUNED.json cannot be read: {error}"
        raise cannot(
            str(output), "PR306", text, "run prune again: what else was changed there cannot be told"
        ) from error
    if not same(over, recorded):
        text = "was made with another overlay" if recorded else "was made without an overlay"
        raise cannot(str(output), "PR314", text, "name the one it was made with by --overlay, or run prune again")
    snapshot = open_snapshot(options.upstream, options.cache or default_cache())
    rules = list(options.rules) or [RULES]
    read_policy(rules, options.cache or default_cache())  # the checks read the rules on their own, and expect no fault
    if over is None:
        return _verdicts(options, snapshot, output, rules, wanted)
    with tempfile.TemporaryDirectory() as folder:
        below = Path(folder) / "below"
        shutil.copytree(output, below, symlinks=True)
        for path, content in take_off(over, output).items():
            if content is None:
                (below / path).unlink()
            else:
                (below / path).parent.mkdir(parents=True, exist_ok=True)
                (below / path).write_bytes(content)
        found = _verdicts(options, snapshot, below, rules, wanted)
    return [*found, *judge(snapshot.root, output, rules, snapshot.python_root, options.jobs)]


def _verdicts(
    options: VerifyOptions, snapshot: Snapshot, output: Path, rules: list[Path], wanted: Sequence[str]
) -> list[Verdict]:
    found: list[Verdict] = []
    if static := _of(verify.CHECKS, wanted):
        found += verify.run(
            snapshot.root, output, rules, python_root=snapshot.python_root, jobs=options.jobs, checks=static
        )
    if dynamic := _of(behaviour.CHECKS, wanted):
        if options.python is None:
            found += behaviour.not_run(UNASKED, dynamic)
        else:
            root = snapshot.root / snapshot.python_root if snapshot.python_root else snapshot.root
            found += behaviour.run(
                snapshot.root,
                output,
                options.python,
                design=behaviour.design(root, rules),
                python_root=snapshot.python_root,
                jobs=options.jobs,
                checks=dynamic,
            )
    return found + [Verdict(check, why, "not run") for check, why in ELSEWHERE.items() if check in wanted]


@dataclass(frozen=True, slots=True)
class PeerOptions:
    """What ``peer-tests`` runs. ``under`` empty: the tests for the CPU; ``device`` empty: none; ``rules`` are the run's."""

    upstream: str | Path
    output: Path
    python: Path
    reports: Path
    rules: tuple[Path, ...] = (RULES,)
    under: tuple[str, ...] = ()
    device: str = ""
    jobs: int = 1
    work: Path | None = None
    cache: Path | None = None


def peer_verdict(options: PeerOptions) -> Verdict:
    """Upstream's own tests on both trees, with the ledger's reasons for other outcomes.

    Raises PruneError when a tree cannot be read, or the reports are those of another run. Without reports no
    difference is explained, and the verdict says so.
    """
    from pruner.pipeline.answers import Answers  # here: an ordinary run asks this module for a list only
    from pruner.pipeline.explained import Explained
    from pruner.pipeline.trace import opened
    from pruner.verify import peers

    cache = options.cache or default_cache()
    snapshot = open_snapshot(options.upstream, cache)
    below = snapshot.python_root or "."
    explained: Explained | None = None
    if (options.reports / stored.NAME).is_file():
        trace = opened(options.output, options.reports, options.rules, snapshot, cache)
        explained = Explained(Answers(options.reports), trace)
    with tempfile.TemporaryDirectory() as folder:
        verdict = peers.run(
            snapshot.root,
            snapshot.root / below,
            options.output / below,
            options.python,
            under=options.under,
            device=options.device,
            jobs=options.jobs,
            work=options.work or Path(folder),
            gone=explained.gone() if explained else None,
            explain=explained,
        )
    if explained is None and verdict.result == "refuted":
        covered = f"{verdict.covered}; nothing was explained: no run left its reports in {options.reports}"
        verdict = replace(verdict, covered=covered)
    return verdict


def _of(checks: Sequence[str], wanted: Sequence[str]) -> list[str]:
    return [check for check in checks if check in wanted]
