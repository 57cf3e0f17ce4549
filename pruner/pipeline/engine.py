"""From a snapshot and a policy to an outcome: link, mark, rewrite. Writes nothing."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from pruner.edit import apply, kept_ranges
from pruner.errors import Diagnostic, PruneError
from pruner.graph.live import DroppedUse, Liveness, Marker
from pruner.graph.members import Place
from pruner.graph.symbols import ModuleTable
from pruner.graph.world import ProgramWorld
from pruner.model import (
    Cause,
    Edit,
    Fact,
    FactRecord,
    Finding,
    GuardCall,
    Location,
    Outcome,
    Policy,
    Removal,
    Rule,
    Snapshot,
)
from pruner.passes import ABSENT, Call, FileEdits, rewrite
from pruner.pipeline.admitted import asked_later, findings, judge_all, macros
from pruner.pipeline.ahead import Ahead
from pruner.pipeline.load import Loader, Lowered
from pruner.pipeline.looks import StoresAhead
from pruner.pipeline.misspelt import misspelt
from pruner.pipeline.native import fold_ahead, specialise_native, without_macros
from pruner.pipeline.notice import notice
from pruner.pipeline.placement import Placement, placements
from pruner.pipeline.targets import drops_of, mark_roots
from pruner.pipeline.unmatched import unmatched
from pruner.pipeline.without import contradictions
from pruner.policy import packages, placed
from pruner.verify.workers import die_with

Progress = Callable[[str, float], None]
_SHARED: dict[str, Any] = {}


def specialise(
    snapshot: Snapshot,
    policy: Policy,
    jobs: int,
    progress: Progress,
    guard: tuple[str, str],
    lowered: dict[str, Lowered] | None = None,
    ahead: Ahead | None = None,
    made: Callable[[Outcome], None] = lambda outcome: None,
    rested: Callable[[list[str]], None] = lambda modules: None,
    settled: Callable[[list[str]], None] = lambda paths: None,
) -> Outcome:
    """Run the whole analysis. Raises PruneError for input that cannot be worked on.

    ``lowered``: compact forms of files by digest; what this run read is added to it. ``ahead`` does what only
    depends on upstream. ``made`` hears of every outcome before its facts are judged; the last one is final. ``rested``
    hears of modules that marking looks at while a processor is idle, ``settled`` of files that hardly anything will
    change any more (of the first marking).
    """
    loader = Loader(snapshot, jobs, lowered, packages(policy))
    policy = placed(policy, snapshot.python_root)
    everything, policy = policy, replace(policy, facts=without_macros(policy))
    stores = StoresAhead(snapshot, policy.facts, loader.table, ahead or Ahead(1))
    loader.loaded, loader.looks, loader.rested = stores.loaded, stores.looks, rested
    rejected: dict[Fact, FactRecord] = {}
    try:
        while True:
            admitted = replace(policy, facts=tuple(f for f in policy.facts if f not in rejected))
            outcome, marker = _specialise(
                snapshot,
                admitted,
                replace(everything, facts=tuple(f for f in everything.facts if f not in rejected)),
                loader,
                jobs,
                progress,
                guard,
                ahead,
                settled if not rejected else None,
            )
            made(outcome)
            judged = judge_all(snapshot, admitted.facts, loader, outcome, marker, stores.find)
            if not judged.rejected:
                break
            # Without the fact more code lives, which may hold stores that break another one. Each turn
            # loses a fact, so this ends.
            rejected |= {f: r for f, r in zip(admitted.facts, judged.records, strict=True) if f in judged.rejected}
    finally:
        loader.close()
    if lowered is not None:
        lowered.update(loader.used)
    found = findings(policy, loader.table, outcome, rejected)
    outcome.findings = tuple(sorted(found, key=_finding_key))
    rows = (*judged.records, *rejected.values(), *macros(everything, outcome))
    outcome.facts = tuple(sorted((asked_later(row, policy, loader.table, outcome) for row in rows), key=_fact_key))
    outcome.open_stores = judged.open_stores
    return outcome


# What rewriting says of a file, its edits with the notice, the ranges of lines of which something survives.
_Rewritten = tuple[FileEdits | Finding, tuple[Edit, ...], tuple[tuple[int, int], ...]]


def _specialise(
    snapshot: Snapshot,
    policy: Policy,
    everything: Policy,
    loader: Loader,
    jobs: int,
    progress: Progress,
    guard: tuple[str, str],
    ahead: Ahead | None,
    settled: Callable[[list[str]], None] | None = None,
) -> tuple[Outcome, Marker]:
    matched: set[str] = set()
    drops = drops_of(policy, loader.table, matched)
    loader.excluded = set(drops.modules)
    # From the last one: this process begins with the first, and would wait for a file that a worker has begun.
    loader.foresee(reversed(_spoken_of(policy, loader.table)))
    progress("link", 0.05)
    poisoned: set[tuple[str, str]] = set()
    places: dict[str, Place] = {}
    while True:
        world = ProgramWorld(loader.table, policy, poisoned, drops)
        marker = Marker(loader.table, world, policy, drops)
        marker.settled, settled = settled, None
        mark_roots(marker, snapshot, policy, matched)
        if ahead is not None:
            fold_ahead(snapshot, everything, ahead)
        progress("mark", 0.1)
        live = marker.run()
        # A store that live code makes into another module takes a constant away; what rested on it is
        # worked out again without it. Every turn loses a constant, so this ends.
        found = marker.contradictions()
        places = {**marker.member_check.contradicted(), **places}
        if found <= poisoned:
            break
        poisoned |= found
    loader.close()  # what rewriting and admission still ask for is read in this process
    progress("rewrite", 0.5)
    guards, unplaced = placements(policy, loader.table, live, matched)
    dead: list[tuple[str, Cause]] = []
    results = _rewrite_all(
        snapshot, loader, marker, live, jobs, guard, guards,
        lambda: dead.extend(_dead_files(snapshot, everything, loader, marker, live, matched)),
    )  # fmt: skip
    progress("collect", 0.8)
    matched |= world.matched | drops.entries_met
    outcome = _outcome(snapshot, everything, loader, marker, live, results, dead, matched, places, ahead)
    findings = tuple(sorted({*outcome.findings, *unplaced}, key=_finding_key))
    return replace(outcome, findings=findings), marker


def _spoken_of(policy: Policy, table: ModuleTable) -> list[str]:
    """Modules that facts, roots and guards name: all are read before marking finds others by itself."""
    texts = [fact.subject.partition("(")[0].partition("[")[0] for fact in policy.facts]
    texts += [target.text.replace(":", ".") for target in policy.roots]
    texts += [place.replace(":", ".") for guard in policy.guards for place in guard.at]
    return list(dict.fromkeys(split[0] for text in texts if (split := table.split(text)) is not None))


def _rewrite_all(
    snapshot: Snapshot,
    loader: Loader,
    marker: Marker,
    live: Liveness,
    jobs: int,
    guard: tuple[str, str],
    guards: Mapping[str, list[Placement]],
    meanwhile: Callable[[], None],
) -> list[_Rewritten]:
    """``meanwhile`` is done here while workers rewrite."""
    todo = []
    for module, state in sorted(live.states.items()):
        if state.executed and (state.touched or module in guards) and module not in loader.untouchable:
            todo.append((module, state.summary.path))
    _SHARED["args"] = (snapshot, marker, live, guard, guards)
    try:
        if jobs > 1 and len(todo) > 50:
            context = multiprocessing.get_context("fork")
            pool = ProcessPoolExecutor(jobs, context, initializer=die_with, initargs=(os.getpid(),))
            try:
                rewritten = pool.map(_rewrite_one, todo, chunksize=8)
                meanwhile()
                return list(rewritten)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
        meanwhile()
        return [_rewrite_one(item) for item in todo]
    finally:
        _SHARED.clear()


def _rewrite_one(item: tuple[str, str]) -> _Rewritten:
    snapshot, marker, live, guard, guards = _SHARED["args"]
    module, path = item
    calls = [
        (p.function, Call(p.key, p.rule, p.where == "after", p.parameter, p.options)) for p in guards.get(module, ())
    ]
    data = snapshot.read(path)
    try:
        result = rewrite(marker, live, module, path, data, guard, calls)
    except (ValueError, KeyError, IndexError) as error:
        raise RuntimeError(f"{path}: {type(error).__name__}: {error}") from error
    if isinstance(result, Finding) or not result.edits:
        return result, (), ()
    noted = notice(data, result.edits)
    return result, noted, kept_ranges(data, noted)


def _outcome(
    snapshot: Snapshot,
    policy: Policy,
    loader: Loader,
    marker: Marker,
    live: Liveness,
    results: list[_Rewritten],
    dead: list[tuple[str, Cause]],
    matched: set[str],
    places: dict[str, Place],
    ahead: Ahead | None,
) -> Outcome:
    files: dict[str, bytes | None] = {}
    edits: dict[str, tuple[Edit, ...]] = {}
    removals: list[Removal] = []
    findings = [*loader.findings, *live.findings]
    counts: dict[str, int] = {}  # by rule, and by "rule subject"
    guarded: list[GuardCall] = []
    ranges: dict[str, tuple[tuple[int, int], ...]] = {}
    faults: list[Diagnostic] = []
    for result, noted, kept in results:
        if isinstance(result, Finding):
            findings.append(result)
            continue
        guarded += [
            GuardCall(call.key, call.rule, result.path, line, function, "after" if call.after else "entry")
            for call, function, line in result.calls
        ]
        here = {call.key for call, _, _ in result.calls}
        taken = {(call.key, function) for call, function, _ in result.calls}
        for call, function, why in result.lost:
            if why != ABSENT and (call.key, function) not in taken:
                faults.append(_untaken(policy, result.path, call, function, why))
                continue
            # Another spelling of the place stands in the same file: the name is another release's.
            rule = policy.by_id.get(call.rule)  # none where a fact's `valid_from` names the method
            if why != ABSENT or (call.key not in here and (rule is None or not rule.optional)):
                findings.append(_misplaced(policy, result.path, call, function, why))
        for key, count in result.folds:
            counts[key] = counts.get(key, 0) + count
        removals += result.removals
        if result.edits:
            files[result.path] = apply(snapshot.read(result.path), noted)
            edits[result.path] = noted
            ranges[result.path] = kept
    if faults:
        raise PruneError(*sorted(set(faults)))
    findings += marker.member_check.rejected(places)
    for use in live.dropped_uses:
        findings.append(_dropped_use(marker, policy, use))
    files.update(dict.fromkeys((path for path, _ in dead), None))
    native = specialise_native(snapshot, policy, files, ahead)
    files.update(native.texts)
    edits.update(native.edits)
    ranges.update(native.ranges)
    removals += native.removals
    findings += native.findings
    for key, count in native.folds.items():
        counts[key] = counts.get(key, 0) + count
    folds = {rule: count for rule, count in counts.items() if " " not in rule}
    for path, cause in (*dead, *native.gone):
        files[path] = None
        removals.append(Removal(path, 1, max(snapshot.read(path).count(b"\n"), 1), "file", path, cause))
    findings += contradictions(policy)
    findings += misspelt(policy, loader.table)
    findings += unmatched(policy, matched | set(folds) | native.matched, marker.world, snapshot, loader.table)
    removals.sort(key=lambda r: (r.path, r.first, r.last, r.what, r.name))
    findings = sorted(set(findings), key=_finding_key)
    statistics = {
        "modules": len(loader.paths),
        "modules_live": sum(s.executed for s in live.states.values()),
        "modules_scanned": len(live.states),
        "files_edited": len(edits),
    }
    return Outcome(
        files, edits, tuple(removals), tuple(findings), folds, ranges, tuple(live.roots),
        tuple(sorted(live.edges)),  # marking meets them in the order of sets, another one in each process
        statistics,
        tuple(sorted(guarded)), fact_folds={k: n for k, n in counts.items() if " " in k},
        operations=native.operations,
    )  # fmt: skip


def _fact_key(row: FactRecord) -> tuple[str, str]:
    return (row.subject, row.rule)


def _finding_key(row: Finding) -> tuple[str, int, str, str]:
    return (row.path, row.line, row.code, row.text)


def _misplaced(policy: Policy, path: str, call: Call, function: str, why: str) -> Finding:
    text = f"rule {call.rule} guards {function} in {path}, {why}"
    places = _places(policy, call)
    at = (places[0].file, places[0].line) if places else (path, 0)
    return Finding("PR240", *at, text, "correct the place or the parameter, or give the rule since and until")


def _places(policy: Policy, call: Call) -> list[Location]:
    """Where rules say the call; that of a fact with a ``valid_from``, which is no guard by itself."""
    places = [guard.location for guard in policy.guards if guard.key == call.key]
    return places + [f.location for f in policy.facts if call.rule == f"valid_from {f.valid_from}"]


def _untaken(policy: Policy, path: str, call: Call, function: str, why: str) -> Diagnostic:
    """``of: args`` where the function takes ``arguments``, or says ``del args``: no call can be written, and the checks would ask for one."""
    place = _places(policy, call)[0]  # who has no self
    text = f"rule {call.rule} guards {function} in {path}, {why}"
    shown = policy.shown.get(place.file, place.file)
    return Diagnostic(
        shown, place.line, place.column, "error", "PR240", text, "name one of its parameters, or guard where it begins"
    )


def _dropped_use(marker: Marker, policy: Policy, use: DroppedUse) -> Finding:
    """PR220 at the line that uses it, or at the rule that asks for it as a root."""
    rule = policy.by_id[use.rule]
    gone = f"{use.name}, which rule {rule.id} ({rule.location.file}:{rule.location.line}) drops"
    module, _, name = use.source.partition(":")
    if module == "rule" and name in policy.by_id:
        place = policy.by_id[name].location
        text = f"rule {name} asks for {gone}"
        return Finding("PR220", place.file, place.line, text, "take the one or the other back")
    path = marker.table.paths[module][0] if module in marker.table.paths else module
    text = f"live code uses {gone}"
    return Finding("PR220", path, use.pos >> 16, text, "keep it, or state the fact that makes the use dead")


def _dead_files(
    snapshot: Snapshot, policy: Policy, loader: Loader, marker: Marker, live: Liveness, matched: set[str]
) -> list[tuple[str, Cause]]:
    """Files that go: modules nothing reaches, what drop rules name, data of folders that lost every module."""
    owner = {path: module for module, (path, _) in loader.paths.items()}
    alive = {state.summary.path for state in live.states.values() if state.executed}
    because = {rule.id: rule for rule in policy.rules}
    gone: list[tuple[str, Cause]] = []
    had_code: dict[str, bool] = {}
    for path, module in owner.items():
        folder = path.rpartition("/")[0]
        kept = path in alive or (_unreadable(loader, module) and module not in marker.drops.modules)
        had_code[folder] = had_code.get(folder, False) or kept
    for file in snapshot.files:
        named = [t.rule for t in policy.drops if t.kind == "path" and fnmatchcase(file.path, t.text)]
        matched.update(named)
        if named and not any(t.kind == "path" and fnmatchcase(file.path, t.text) for t in policy.keeps):
            gone.append((file.path, _rule_cause(because, named[0])))
            continue
        own = owner.get(file.path)
        if own is not None:
            if file.path in alive or (_unreadable(loader, own) and own not in marker.drops.modules):
                continue
            dropped = marker.drops.modules.get(own)
            cause = (
                _rule_cause(because, dropped) if dropped else Cause("unreached", (), (f"no live code imports {own}",))
            )
            gone.append((file.path, cause))
        elif any(t.kind == "path" and fnmatchcase(file.path, t.text) for t in (*policy.keeps, *policy.roots)):
            matched.update(
                t.rule for t in (*policy.keeps, *policy.roots) if t.kind == "path" and fnmatchcase(file.path, t.text)
            )
        elif not _data_kept(file.path, had_code):
            folder = file.path.rpartition("/")[0]
            gone.append((file.path, Cause("unreached", (), (f"every module around {folder} is gone",))))
    return gone


def _unreadable(loader: Loader, module: str) -> bool:
    if module not in loader.untouchable:
        return False
    summary = loader.load(module)
    return summary is None or summary.error != "newer"


def _data_kept(path: str, had_code: dict[str, bool]) -> bool:
    """Data stays with the nearest folder that held modules; it goes when that folder lost all of them."""
    folder = path.rpartition("/")[0]
    while folder:
        if folder in had_code:
            if had_code[folder]:
                return True
            return any(kept for other, kept in had_code.items() if other.startswith(folder + "/"))
        folder = folder.rpartition("/")[0]
    return True


def _rule_cause(because: Mapping[str, Rule], rule: str) -> Cause:
    known = because.get(rule)
    chain = (f"{rule} ({known.location.file}:{known.location.line}): {known.because}",) if known else (rule,)
    return Cause("rule", (rule,), chain)
