"""Check a tree that an earlier run wrote: the checks that read it, and on demand those that run it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pruner import verify
from pruner.errors import cannot
from pruner.model import Verdict
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


def unasked() -> list[Verdict]:
    """The rows of the checks that an ordinary run leaves out."""
    return [*behaviour.not_run(UNASKED), *(Verdict(check, why, "not run") for check, why in ELSEWHERE.items())]


def verify_output(options: VerifyOptions) -> list[Verdict]:
    """One verdict a check. Raises PruneError when a tree cannot be read or a check does not exist."""
    output = options.output
    if not (output / "PRUNED.json").is_file():
        raise cannot(str(output), "PR306", "holds no PRUNED.json, so it is not an output of prune", "run prune first")
    known = (*verify.CHECKS, *behaviour.CHECKS, *ELSEWHERE)
    for name in (*options.checks, *options.require):
        if name not in known:
            raise cannot("verify", "PR403", f"no check is called {name!r}", f"known: {', '.join(known)}")
    wanted = options.checks or known
    snapshot = open_snapshot(options.upstream, options.cache or default_cache())
    rules = list(options.rules) or [RULES]
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


def _of(checks: Sequence[str], wanted: Sequence[str]) -> list[str]:
    return [check for check in checks if check in wanted]
