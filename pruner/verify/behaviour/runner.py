"""Run both trees where neither has a GPU, and judge what they do: imports, surface, arguments."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pruner.errors import cannot
from pruner.model import Verdict
from pruner.verify.behaviour import environment
from pruner.verify.behaviour.judge_arguments import Arguments
from pruner.verify.behaviour.judge_modules import Modules
from pruner.verify.behaviour.judge_surface import Surface
from pruner.verify.behaviour.licence import GUARD, Licences
from pruner.verify.behaviour.probe import checkpoints
from pruner.verify.behaviour.sessions import Answer, Plan, Sessions
from pruner.verify.behaviour.statics import Side

CHECKS = ("imports-run", "surface", "arguments")
SHOWN = 50  # details of one verdict
# What runs where. The first device runs everything; module-level values of the others follow from it.
STAGES = {"H100": ("modules", "surface", "arguments"), "B200": ("arguments",), "": ("client",)}
NEEDS = {"imports-run": ("modules",), "surface": ("surface", "client"), "arguments": ("arguments",)}
Answers = dict[Plan, Answer]


@dataclass(frozen=True, slots=True)
class Design:
    """What rules say may be missing: texts of entry drops, and what a walked package still yields."""

    drops: Sequence[str] = ()
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)


class Run:
    """One verification."""

    def __init__(self, sessions: Sessions, up: Side, out: Side, design: Design, checks: Sequence[str]) -> None:
        self.sessions, self.up, self.out, self.design, self.checks = sessions, up, out, design, checks
        self.answers: Answers = {}

    def run(self) -> list[Verdict]:
        """Sessions, then verdicts in the order of :data:`CHECKS`."""
        checkpoints.write(self.sessions.work / "models")
        wanted = {stage for check in self.checks for stage in NEEDS[check]}
        plans = []
        for profile, stages in STAGES.items():
            chosen = tuple(stage for stage in stages if stage in wanted)
            if chosen:
                plans += [Plan(side, profile, chosen) for side in ("upstream", "output")]
        self.answers = self.sessions.run(plans)
        return [self.verdict(check) for check in CHECKS if check in self.checks]

    def verdict(self, check: str) -> Verdict:
        """The verdict of one check."""
        problems: list[str] = []
        counts: Counter[str] = Counter()
        licences = Licences(self.design.drops, self.design.members, self.out)
        seconds, unusable = 0.0, []
        for stage in NEEDS[check]:
            for profile, up, out in self.pairs(stage):
                seconds += up.seconds + out.seconds
                name = profile or "client"
                if out.failure and not up.failure:
                    problems.append(f"{name}: {out.failure}")
                if stage not in up.stages or "crash" in up.stages[stage]:
                    unusable.append(f"{name}, upstream: {up.failure or up.stages[stage]['crash']}")
                elif stage not in out.stages or "crash" in out.stages[stage]:
                    problems.append(f"{name}: {out.failure or out.stages[stage]['crash']}")
                else:
                    found = self.judge(stage, licences, counts, up, out)
                    problems.extend(f"{name}: {text}" if profile != "H100" else text for text in found)
        if unusable:
            return Verdict(check, f"upstream did not run: {unusable[0]}", "not run", tuple(unusable[:SHOWN]), seconds)
        covered = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        by = ", ".join(f"{kind} {count}" for kind, count in sorted(licences.counts.items()))
        covered = f"{covered} (losses by design: {by})" if by else covered
        if problems:
            covered += f"; {len(problems)} problem{'s' if len(problems) > 1 else ''}"
        result = "refuted" if problems else "passed"
        return Verdict(check, covered, result, tuple(sorted(problems)[:SHOWN]), round(seconds, 1))

    def pairs(self, stage: str) -> Iterator[tuple[str, Answer, Answer]]:
        """Upstream's and the output's answers, by device, where the stage ran."""
        for plan, answer in self.answers.items():
            if plan.side == "upstream" and stage in plan.stages:
                yield plan.profile, answer, self.answers[Plan("output", plan.profile, plan.stages)]

    def judge(self, stage: str, licences: Licences, counts: Counter[str], up: Answer, out: Answer) -> list[str]:
        """The problems of one stage."""
        before, after = up.stages[stage], out.stages[stage]
        if stage == "modules":
            modules = Modules(self.up, self.out, licences)
            problems = list(modules.judge(before, after))
            counts.update(modules.counts)
        elif stage == "arguments":
            arguments = Arguments(licences)
            problems = list(arguments.judge(before, after))
            counts.update(arguments.counts)
        else:
            surface = Surface(licences)
            problems = list(surface.judge(before, after) if stage == "surface" else surface.clients(before, after))
            counts.update(surface.counts)
        return problems


def run(
    upstream: Path,
    output: Path,
    python: Path | None,
    *,
    design: Design | None = None,
    python_root: str = "",
    jobs: int = 2,
    checks: Sequence[str] | None = None,
    work: Path | None = None,
) -> list[Verdict]:
    """Judge by running: one verdict for each of :data:`CHECKS` (or of ``checks``).

    ``python`` is an interpreter with ``requirements-verify.txt``; without a fit one the verdicts say ``not run``.
    ``design`` says what rules drop from tables and registries: without it every lost choice is a problem.
    ``work`` keeps what the sessions write; a temporary folder when None. ``seconds`` of a verdict are the wall
    seconds of the sessions that it rests on, added up. Raises :class:`pruner.errors.PruneError`.
    """
    wanted = tuple(CHECKS if checks is None else checks)
    if set(wanted) - set(CHECKS):
        raise cannot("verify", "PR403", f"no check is called {sorted(set(wanted) - set(CHECKS))}", f"known: {CHECKS}")
    for folder in (upstream, output):
        if not folder.is_dir():
            raise cannot(folder.name, "PR402", "the verifier needs two folders, and this is none")
    reason = "no interpreter with the packages of requirements-verify.txt was named" if python is None else ""
    if python is not None:
        lack = environment.lacking(python)
        reason = f"the interpreter is not fit: {lack}" if lack else ""
    if reason or python is None:
        return [Verdict(check, reason, "not run") for check in CHECKS if check in wanted]
    up, out = Side(upstream, python_root), Side(output, python_root)
    kept = tuple(module for module in out.modules if not module.endswith(f".{GUARD}"))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) if work is None else work.resolve()
        sessions = Sessions(python.absolute(), copies(up, out, place), kept, place, jobs)
        return Run(sessions, up, out, design or Design(), wanted).run()


def copies(up: Side, out: Side, place: Path) -> dict[str, Path]:
    """Both trees below ``place``: what runs there writes compiled files and caches beside its sources."""
    trees = {}
    for name, side in (("upstream", up), ("output", out)):
        trees[name] = place / "trees" / name
        shutil.copytree(side.root, trees[name], ignore=shutil.ignore_patterns(".*", "__pycache__"), dirs_exist_ok=True)
    return trees
