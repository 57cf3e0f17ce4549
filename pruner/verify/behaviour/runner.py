"""Run both trees where neither has a GPU, and judge what they do."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pruner.errors import cannot
from pruner.model import Verdict
from pruner.verify.behaviour import environment
from pruner.verify.behaviour.entries import entry_points
from pruner.verify.behaviour.judge_arguments import Arguments
from pruner.verify.behaviour.judge_layers import Layers
from pruner.verify.behaviour.judge_modules import Modules
from pruner.verify.behaviour.judge_surface import Surface
from pruner.verify.behaviour.licence import GUARD, Licences
from pruner.verify.behaviour.probe import checkpoints
from pruner.verify.behaviour.probe.device import PROFILES
from pruner.verify.behaviour.sessions import ON_HOST, Answer, Plan, Sessions, copies
from pruner.verify.behaviour.statics import Side

CHECKS = ("import-run", "names", "surface", "arguments", "layers", "plain-host")
SHOWN = 50  # details of one verdict
# What runs where, by device; the empty name is a host without one.
STAGES: dict[str, tuple[str, ...]] = {
    "H100": ("modules", "surface", "arguments"),
    "B200": ("modules", "arguments"),
    f"H100{ON_HOST}": ("layers",),
    "": ("client",),
}
JUDGED = {
    "import-run": "modules",
    "names": "modules",
    "surface": "surface",
    "arguments": "arguments",
    "layers": "layers",
    "plain-host": "client",
}
# A choice on a client host may go because a pattern drops its key from the table that it comes from: the dump
# of the tables is a part of the surface.
FIRST = {"plain-host": "surface"}


@dataclass(frozen=True, slots=True)
class Design:
    """What rules say may be missing: (rule, dropped target), what a walked package still yields, ids of rules.

    ``roots``: what they keep by name; None: not known. ``sm``: compute capabilities, times ten, of the devices that the build is for; None: of any.
    """

    drops: Sequence[tuple[str, str]] = ()
    members: Mapping[str, Sequence[str]] = field(default_factory=dict)
    rules: frozenset[str] = frozenset()
    sm: Callable[[int], bool] | None = None
    roots: Sequence[str] | None = None


@dataclass(slots=True)
class Found:
    """What the judges of one check say."""

    problems: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)  # differences by rule
    unusable: list[str] = field(default_factory=list)  # upstream itself did not run
    elsewhere: str = ""  # the rules are for other devices
    seconds: float = 0.0


class Run:
    """One verification."""

    def __init__(self, sessions: Sessions, up: Side, out: Side, design: Design, checks: Sequence[str]) -> None:
        self.sessions, self.up, self.out, self.design, self.checks = sessions, up, out, design, checks
        self.answers: dict[Plan, Answer] = {}

    def run(self, stages: Mapping[str, tuple[str, ...]]) -> list[Verdict]:
        """Sessions, then verdicts in the order of :data:`CHECKS`."""
        checkpoints.write(self.sessions.work / "models")
        wanted = {JUDGED[check] for check in self.checks} | {FIRST[c] for c in self.checks if c in FIRST}
        plans = []
        for profile, there in stages.items():
            chosen = tuple(stage for stage in there if stage in wanted)
            if chosen:
                plans += [Plan(side, profile, chosen) for side in ("upstream", "output")]
        self.answers = self.sessions.run(plans)
        return [self.verdict(check) for check in CHECKS if check in self.checks]

    def verdict(self, check: str) -> Verdict:
        """The verdict of one check."""
        licences = Licences(self.design.drops, self.design.members, self.out, self.design.rules, self.design.roots)
        found = Found()
        for _, up, out in self.pairs(FIRST.get(check, "")):
            if usable(up, "surface") and usable(out, "surface"):
                list(Surface(licences).judge(up.stages["surface"], out.stages["surface"]))
        licences.counts.clear()
        devices = []
        for profile, up, out in self.pairs(JUDGED[check]):
            name = profile or "no device"
            devices.append(name)
            self.pair(check, licences, found, name, up, out)
        if check == "arguments" and found.counts["resolved"] + len(found.problems) == 0:
            found.elsewhere = f"no set resolves: the rules are for other devices than {', '.join(devices)}"
        if check == "surface":
            found.problems += entry_points(self.up.root, self.out.root, found.counts)
        if found.elsewhere and not found.unusable:
            return Verdict(check, found.elsewhere, "not run", (found.elsewhere,))
        if found.unusable or not devices:
            why = found.unusable[0] if found.unusable else "no session had this stage"
            return Verdict(check, f"upstream did not run: {why}", "not run", tuple(found.unusable[:SHOWN]))
        covered = f"{', '.join(devices)}: " + ", ".join(
            f"{count} {what}" for what, count in found.counts.items() if count
        )
        by = ", ".join(f"{kind} {count}" for kind, count in sorted(licences.counts.items()) if count)
        covered = f"{covered} (losses by design: {by})" if by else covered
        if found.problems:
            covered += f"; {len(found.problems)} problem{'s' if len(found.problems) > 1 else ''}"
        result = "refuted" if found.problems else "passed"
        details = sorted(found.problems)[:SHOWN] if found.problems else sorted(set(found.notes))[:SHOWN]
        return Verdict(check, covered, result, tuple(details), round(found.seconds, 1))

    def pairs(self, stage: str) -> Iterator[tuple[str, Answer, Answer]]:
        """Upstream's and the output's answers, by device, where the stage ran."""
        for plan, answer in self.answers.items():
            if plan.side == "upstream" and stage in plan.stages:
                yield plan.profile, answer, self.answers[Plan("output", plan.profile, plan.stages)]

    def pair(self, check: str, licences: Licences, found: Found, name: str, up: Answer, out: Answer) -> None:
        """Judge one device."""
        stage = JUDGED[check]
        found.seconds += sum(answer.spent.get(part, 0.0) for answer in (up, out) for part in ("base", stage))
        if check == "layers" and self.elsewhere(name):
            found.elsewhere = f"the rules are for other devices than {name}"
        elif not usable(up, stage):
            found.unusable.append(f"{name}, upstream: {up.failure or up.stages[stage]['crash']}")
        elif not usable(out, stage):
            found.problems.append(f"{name}: {out.failure or out.stages[stage]['crash']}")
        else:
            if out.failure and not up.failure:
                found.problems.append(f"{name}: {out.failure}")
            found.problems += [f"{name}: {text}" for text in self.judge(check, licences, found, up, out, name)]

    def elsewhere(self, device: str) -> bool:
        """Do rules say that the build is for other devices than this one?"""
        seen, sm = PROFILES.get(device.removesuffix(ON_HOST)), self.design.sm
        return seen is not None and sm is not None and not sm(10 * seen.major + seen.minor)

    def judge(self, check: str, licences: Licences, found: Found, up: Answer, out: Answer, name: str) -> list[str]:
        """The problems of one check on one device."""
        before, after = up.stages[JUDGED[check]], out.stages[JUDGED[check]]
        if check == "layers":
            layers = Layers()
            problems, counts = list(layers.judge(before, after)), layers.counts
            found.notes += layers.notes
            if not counts["models"]:
                found.unusable += layers.notes
        elif check == "arguments":
            arguments = Arguments(licences, elsewhere=self.elsewhere(name))
            problems, counts = list(arguments.judge(before, after)), arguments.counts
            found.notes += arguments.refused
        elif check in ("import-run", "names"):
            modules = Modules(self.up, self.out, licences)
            judge = modules.imports if check == "import-run" else modules.names
            problems, counts = list(judge(before, after)), modules.counts
            if check == "import-run":
                problems += [f"logged: {line}" for line in out.ignored if line not in up.ignored]
        else:
            surface = Surface(licences)
            judge = surface.judge if check == "surface" else surface.clients
            problems, counts = list(judge(before, after)), surface.counts
            counts["choices gone by rule"] = sum(map(len, surface.choices.values()))
            found.notes += surface.notes()
        found.counts.update(counts)
        return problems


def usable(answer: Answer, stage: str) -> bool:
    """Did the stage give an answer?"""
    return stage in answer.stages and "crash" not in answer.stages[stage]


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
    stages: Mapping[str, tuple[str, ...]] | None = None,
    needed: Sequence[str] = environment.NEEDED,
) -> list[Verdict]:
    """Judge by running: one verdict for each of :data:`CHECKS` (or of ``checks``).

    ``python`` is an interpreter with the packages ``needed``; without a fit one the verdicts say ``not run``.
    ``design`` says what rules drop from tables and registries: without it every lost choice is a problem.
    ``work`` keeps what the sessions write; a temporary folder when None. ``stages`` says what runs on which
    device (:data:`STAGES`). ``seconds`` of a verdict are the wall seconds of the stages that it rests on, on
    both trees. Raises :class:`pruner.errors.PruneError`.
    """
    wanted = tuple(CHECKS if checks is None else checks)
    if set(wanted) - set(CHECKS):
        raise cannot("verify", "PR403", f"no check is called {sorted(set(wanted) - set(CHECKS))}", f"known: {CHECKS}")
    for folder in (upstream, output):
        if not folder.is_dir():
            raise cannot(folder.name, "PR402", "the verifier needs two folders, and this is none")
    reason = "no interpreter with the packages of requirements-verify.txt was named" if python is None else ""
    if python is not None:
        lack = environment.lacking(python, needed)
        reason = f"the interpreter is not fit: {lack}" if lack else ""
    if reason or python is None:
        return not_run(reason, wanted)
    up, out = Side(upstream, python_root), Side(output, python_root)
    kept = tuple(module for module in out.modules if not module.endswith(f".{GUARD}"))
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) if work is None else work.resolve()
        sessions = Sessions(python.absolute(), copies(up.root, out.root, place), kept, place, jobs)
        return Run(sessions, up, out, design or Design(), wanted).run(STAGES if stages is None else stages)


def not_run(reason: str, checks: Sequence[str] = CHECKS) -> list[Verdict]:
    """The verdicts of checks that did not run."""
    return [Verdict(check, reason, "not run") for check in CHECKS if check in checks]
