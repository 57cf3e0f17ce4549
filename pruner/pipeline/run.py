"""One run from rules to a checked tree. The only caller of ``emit``.

The tree is written beside its place, checked there, and swapped in only when no check refutes
it; a refuted tree is left as ``<output>.refuted`` for a look, and the earlier output stays.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pruner import emit, report
from pruner.errors import ExitCode, cannot
from pruner.model import Finding, Outcome, Policy, RunResult, Snapshot, Verdict
from pruner.pipeline import cache, guard, identity, inventory, remembered, stored
from pruner.pipeline.ahead import Ahead
from pruner.pipeline.beside import beside
from pruner.pipeline.checks import unasked
from pruner.pipeline.collector import collector_paused
from pruner.pipeline.engine import specialise
from pruner.pipeline.judging import Judging
from pruner.pipeline.load import module_paths
from pruner.pipeline.matrix import read_matrix
from pruner.pipeline.needs import Near
from pruner.pipeline.overlay import Overlay, judge, patched, put_on, read_overlay
from pruner.pipeline.package import look_ahead
from pruner.pipeline.readme import readme
from pruner.pipeline.unmatched import nothing_kept
from pruner.policy import load_case, select
from pruner.source import open_snapshot, read_tree
from pruner.verify.discard import Counted, count_ahead, take_counts
from pruner.verify.rules import read_ahead

Progress = Callable[[str, float], None]
_BACK = 10  # steps of priority: what is looked up is for the reports alone
_LookedUp = tuple[dict[str, bytes], list[tuple[str, str]]]  # files of the reports; what the page unpacks of each source


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a run works on. ``upstream`` None is the locked default release."""

    rules: tuple[Path, ...]
    upstream: str | Path | None
    output: Path
    reports: Path | None
    jobs: int
    dry_run: bool
    force: bool
    cache: Path
    checks: tuple[str, ...] | None = None  # None: all
    overlay: Path | None = None  # local patches and files; see pruner.pipeline.overlay
    trend: Path | None = None  # a matrix.json, for the chart of report.html


@collector_paused()
def run(options: RunOptions, progress: Progress) -> RunResult:
    """Prune, check, write. Raises PruneError when the input cannot be worked on."""
    progress("read upstream", 0.0)
    with closing(Ahead(options.jobs)) as ahead:
        ahead.send("rules", read_ahead, options.rules)  # the checks read them on their own
        # Rules are told of first: what is wrong with them is nearer to the user than what is wrong with a release.
        with beside(options.jobs, lambda: open_snapshot(options.upstream, options.cache)) as opened:
            policy = remembered.read_policy(options.rules, options.cache if options.cache != Path() else None)
            snapshot = opened()
        return _run(snapshot, select(policy, snapshot.origin.version), options, progress, options.rules, None, ahead)


@collector_paused()
def run_case(folder: Path, out: Path, jobs: int) -> RunResult:
    """Prune ``folder/in`` under ``folder/facts.yaml`` into ``out``; no reports.

    ``out`` always holds the whole tree afterwards, whatever the findings.
    """
    facts = folder / "facts.yaml"
    if not facts.is_file():
        raise cannot(str(folder), "PR001", "holds no facts.yaml", "a case is a folder with in/ and facts.yaml")
    snapshot = read_tree(folder / "in", "case")
    options = RunOptions((), None, out, None, jobs, False, True, Path())
    return _run(snapshot, load_case(facts), options, lambda _stage, _share: None, (), facts, Ahead(1))


def _run(
    snapshot: Snapshot,
    policy: Policy,
    options: RunOptions,
    progress: Progress,
    rules: Sequence[Path],
    facts: Path | None,
    ahead: Ahead,
) -> RunResult:
    emit.check_paths(snapshot.root, options.output, options.reports)
    emit.check_target(options.output, force=options.force)
    over = read_overlay(options.overlay)
    releases = read_matrix(options.trend)
    modules = module_paths(snapshot)
    package, name, below = guard.place(modules)
    with nullcontext() if options.dry_run else emit.lock_target(options.output):
        store = options.cache if options.cache != Path() else None
        with ExitStack() as stack:
            judging = stack.enter_context(
                closing(Judging(snapshot, policy, rules, facts, options.jobs, options.checks, store, ahead))
            )
            outcome, answer, looked_up = _analysed(
                snapshot, policy, options, progress, (package, name, below), judging, stack, ahead
            )
            gone = all(outcome.files.get(path, b"") is None for path, _ in modules.values())
            if modules and (gone or not outcome.roots):
                raise nothing_kept(policy, modules)
            made, reports = outcome, None if options.dry_run else options.reports
            told = answer()
            able = told.able
            more = {*told.findings, *(able[1] if able is not None else ())}
            if more:
                outcome = replace(outcome, findings=tuple(sorted({*outcome.findings, *more}, key=_place)))
            counted = report.counts(able[0]) if able is not None else None
            dropped = told.package[1]
            extra, digest = _extra(snapshot, policy, outcome, below, told, counted)
            progress("write", 0.0)
            try:
                verdicts = _emit_checked(
                    snapshot, policy, outcome, options, (extra, below, digest), judging, over, progress, counted
                )
            except BaseException:  # a full disk, an interrupt: nobody has judged what was built aside
                shutil.rmtree(options.output.with_name(f"{options.output.name}.refuted"), ignore_errors=True)
                raise
            refuted = any(v.result == "refuted" for v in verdicts)
            lines = report.account(snapshot, policy, outcome, extra)
            document = report.build(snapshot, policy, outcome, verdicts, extra=extra, capabilities=counted, lines=lines)
            if dropped:
                document["packaging"] = {"dropped": [row.document() for row in dropped]}
            if over is not None:
                document["overlay"] = over.document()
            if reports is not None:
                progress("report", 0.0)
                tree = options.output.with_name(f"{options.output.name}.refuted") if refuted else options.output

                def fill(folder: Path) -> None:
                    found, sources = looked_up()
                    with ExitStack() as parts:
                        report.render(
                            document, snapshot, outcome, folder, extra=extra, releases=releases, lines=lines, sources=sources,
                            parts=lambda part: parts.enter_context(beside(options.jobs, part)),
                        )  # fmt: skip
                    for name, data in found.items():
                        if over is not None and name == stored.NAME:
                            data = stored.overlaid(data, patched(over, snapshot, made, tree))
                        (folder / name).write_bytes(data)
                    if able is not None:
                        (folder / "capabilities.json").write_bytes(report.capability_bytes(able[0]))
                        (folder / "capabilities.md").write_text(report.capability_markdown(able[0]), "utf-8")
                    (folder / stored.FACTS).write_bytes(stored.facts(policy, outcome))

                # A refuted tree's reports lie beside it: the good ones speak of the tree that stays.
                aside = reports.with_name(f"{reports.name}.refuted")
                emit.emit_reports(aside if refuted else reports, fill)
                if not refuted:
                    shutil.rmtree(aside, ignore_errors=True)
    code = ExitCode.REFUTED if refuted else ExitCode.FINDINGS if outcome.findings else ExitCode.CLEAN
    return RunResult(document, outcome.removals, outcome.findings, int(code), outcome.edits, policy.shown)


def _analysed(
    snapshot: Snapshot,
    policy: Policy,
    options: RunOptions,
    progress: Progress,
    place: tuple[str, str, str],
    judging: Judging,
    stack: ExitStack,
    ahead: Ahead,
) -> tuple[Outcome, Callable[[], remembered.Told], Callable[[], _LookedUp]]:
    """The outcome, made or remembered; what the tables of both trees tell; what later commands look up.

    The last two are worked out in processes of their own while the facts are judged. ``stack`` ends the processes.
    """
    store = options.cache if options.cache != Path() else None
    package, name, below = place
    rules, facts = judging.rules, judging.facts

    asked = (rules, below, facts)
    jobs = 1 if options.dry_run or options.reports is None else options.jobs  # of what only reports hold

    def told(outcome: Outcome) -> remembered.Told:
        return remembered.told(None, snapshot, policy, outcome, *asked)

    listed = remembered.known_inventory(snapshot, policy, store)

    def look_up(outcome: Outcome, seen: inventory.Seen) -> Callable[[], _LookedUp]:
        def work() -> _LookedUp:
            return remembered.looked_up(snapshot, policy, outcome, listed, seen), report.packed(snapshot, outcome)

        return stack.enter_context(beside(jobs, work, _BACK))

    def kept(look: Callable[[], _LookedUp]) -> Callable[[], _LookedUp]:
        def take() -> _LookedUp:
            found, sources = look()
            if store is not None and listed is None:
                remembered.keep_inventory(snapshot, policy, found, store)
            return found, sources

        return take

    def answer(make: Callable[[], remembered.Told]) -> Callable[[], remembered.Told]:
        return lambda: remembered.answer(snapshot, policy, below, store if facts is None else None, make)

    key = cache.key(snapshot, policy) if store is not None else ""
    known = cache.load(store, key, Outcome) if store is not None else None
    if known is not None:
        return known, answer(lambda: told(known)), kept(look_up(known, {}))
    judging.begin()
    texts = _Texts(snapshot, policy, ahead)
    tables: list[Callable[[], remembered.Told]] = []
    lookups: list[Callable[[], _LookedUp]] = []

    def staged(stage: str, share: float) -> None:
        if stage == "rewrite":
            judging.rest()
        progress(stage, share)

    def rested(modules: list[str]) -> None:
        judging.rested(modules)
        texts.begin()

    def made(outcome: Outcome) -> None:
        judging.read()
        seen, near = texts.take()
        apart = judging.beside(remembered.told, snapshot, policy, remembered.asked_of(outcome), *asked, near)
        tables.append(apart or stack.enter_context(beside(options.jobs, lambda: told(outcome))))
        # Judging the facts takes nothing out of the trees: it rejects facts, and then another outcome is made.
        lookups.append(look_up(outcome, seen))

    forms = cache.load_files(store) if store is not None else {}
    before = len(forms)
    outcome = specialise(
        snapshot, policy, options.jobs, staged, (package, name), forms, ahead, made, rested, judging.settled
    )
    if store is not None:
        judging.meanwhile(lambda: cache.store(store, key, outcome))
        if len(forms) > before:
            judging.meanwhile(lambda: cache.store_files(store, forms))
    # A fact that was rejected is nobody's assumption; the tables were read when that was not known.
    rejected = any(row.status == "rejected" for row in outcome.facts)
    return outcome, answer((lambda: told(outcome)) if rejected else tables[-1]), kept(lookups[-1])


class _Texts:
    """What upstream's texts say by themselves: looked at while marking ends, when the files are lowered.

    Before, it would hold up both marking and those who lower.
    """

    def __init__(self, snapshot: Snapshot, policy: Policy, ahead: Ahead) -> None:
        self._given = snapshot, policy, ahead
        self._asked: tuple[Callable[[], inventory.Seen], Callable[[], Near], Callable[[], Counted]] | None = None
        self._begun = False

    def begin(self) -> None:
        """Have them looked at; once."""
        if not self._begun:
            self._begun = True
            snapshot, policy, ahead = self._given
            texts = tuple(f"{target.kind}:{target.text}" for target in policy.discards if target.kind == "name")
            counted = ahead.spread(count_ahead, snapshot.root, snapshot.batches(".py"), texts)
            self._asked = inventory.look_ahead(snapshot, policy, ahead), look_ahead(snapshot, ahead), counted

    def take(self) -> tuple[inventory.Seen, Near]:
        """What is there by now, for the inventory and the packaging; what the check ``discard`` will count is handed on."""
        asked, self._asked = self._asked, None
        if asked is None:
            return {}, {}
        seen, near, counted = asked
        take_counts(counted())
        return seen(), near()


def _place(row: Finding) -> tuple[str, int, str, str]:
    return (row.path, row.line, row.code, row.text)


def _extra(
    snapshot: Snapshot,
    policy: Policy,
    outcome: Outcome,
    below: str,
    told: remembered.Told,
    counted: dict[str, Any] | None,
) -> tuple[dict[str, bytes], str]:
    """Files that upstream does not have (manifest, guard, packaging, notice), and the digest of the build."""
    root = f"{snapshot.python_root}/" if snapshot.python_root else ""
    extra = told.package[0] | readme(snapshot, policy, outcome)
    digest = ""
    if told.guard:
        digest = identity.digest(snapshot, outcome, root + below, told.guard, frozenset({*extra, "PRUNED.json"}))
        extra[root + below] = identity.signed(told.guard, digest)
    extra["PRUNED.json"] = report.manifest(snapshot, policy, outcome, (), counted, digest=digest)
    return extra, digest


def _emit_checked(
    snapshot: Snapshot,
    policy: Policy,
    outcome: Outcome,
    options: RunOptions,
    made: tuple[dict[str, bytes], str, str],
    judging: Judging,
    over: Overlay | None,
    progress: Progress,
    counted: dict[str, Any] | None,
) -> list[Verdict]:
    """Write aside, verify, then put in place (a case's output is put in place whatever the checks say).

    The manifest that is put in place says what the checks said; that of the judged tree could not yet.
    An overlay is put on what passed; the result is checked again, by the checks that can judge it.
    ``made``: the extra files, the generated module's path below the import root, the digest.
    """
    extra, below, digest = made
    rules, facts = judging.rules, judging.facts
    if options.dry_run:
        with tempfile.TemporaryDirectory(prefix="prune-") as folder:
            aside = Path(folder, "tree")
            emit.emit_output(snapshot, outcome, aside, extra)
            progress("verify", 0.0)
            return [*judging.verdicts(aside), *unasked()]
    aside = options.output.with_name(f"{options.output.name}.refuted")
    emit.emit_output(snapshot, outcome, aside, extra, force=facts is not None)
    progress("verify", 0.0)
    verdicts = judging.verdicts(aside)
    if facts is None:
        verdicts = [*verdicts, *unasked()]
    if facts is None and any(v.result == "refuted" for v in verdicts):
        return verdicts
    if over is not None:
        root = f"{snapshot.python_root}/{below}" if snapshot.python_root else below
        whole = identity.with_overlay(digest, over.document()) if digest else ""
        if digest:
            extra[root] = extra[root].replace(digest.encode(), whole.encode(), 1)
        digest = whole
        changed = put_on(over, aside)
        shown = replace(outcome, files=outcome.files | {p: d for p, d in changed.items() if p not in extra})
        local = {p: d for p, d in changed.items() if p in extra and d is not None}
        emit.emit_output(snapshot, shown, aside, extra | local)
        verdicts = [*verdicts, *judge(snapshot.root, aside, rules, snapshot.python_root, options.jobs)]
        if any(v.result == "refuted" for v in verdicts):
            return verdicts
    document = over.document() if over is not None else None
    said = report.manifest(snapshot, policy, outcome, verdicts, counted, document, digest)
    extra["PRUNED.json"] = said
    emit.place_output(aside, options.output, {"PRUNED.json": said}, force=options.force)
    return verdicts
