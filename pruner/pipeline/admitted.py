"""What became of the facts in one run: the judgement's inputs, and the findings on those that fold nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pruner.graph.live import Marker
from pruner.graph.overwritten import overwritten
from pruner.graph.symbols import ModuleTable
from pruner.model import Fact, FactRecord, Finding, Outcome, Policy, Snapshot
from pruner.model.policy import Const
from pruner.pipeline.admission import Admission, judge
from pruner.pipeline.asked import derived
from pruner.pipeline.load import Loader
from pruner.pipeline.native import PREFIX
from pruner.scan.stores import FileStores


def without_rejected(policy: Policy, outcome: Outcome) -> Policy:
    """The policy that the outcome was made under: a fact that was rejected is nobody's assumption."""
    gone = {(r.subject, r.rule) for r in outcome.facts if r.status == "rejected"}
    return replace(policy, facts=tuple(f for f in policy.facts if (f.subject, f.rule) not in gone))


def findings(policy: Policy, table: ModuleTable, outcome: Outcome, rejected: Mapping[Fact, FactRecord]) -> set[Finding]:
    """The outcome's findings with those on facts that fold nothing."""
    found = {f for f in outcome.findings if f.code != "PR012" or not _is_of(f, policy, rejected)}
    found |= {_rejection(fact, record) for fact, record in rejected.items()}
    asked = _asked(policy, table, outcome)
    return found | {_later(fact) for fact in policy.facts if fact.valid_from and fact.subject not in asked}


def judge_all(
    snapshot: Snapshot,
    facts: tuple[Fact, ...],
    loader: Loader,
    outcome: Outcome,
    marker: Marker,
    stores: Callable[[str, bytes], FileStores],
) -> Admission:
    """Every fact against the stores of what is left of the tree."""
    world = marker.world
    subjects = {f.subject: world.canonical_subject(f.subject) for f in facts}
    members = {s for (name, _), s in world.members.subjects.items() if name in world.members.asked}
    for subject in members & subjects.keys():
        world.readers.setdefault(subjects[subject], set()).add("members of instances")
    readers = {s: tuple(sorted(world.readers.get(known, ()))) for s, known in subjects.items()}
    checked = marker.member_check
    hidden: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for module, name, home, at in overwritten(marker):
        hidden.setdefault((module, name), []).append((home, at))
    return judge(
        snapshot,
        loader.table,
        facts,
        subjects,
        outcome,
        loader.summaries,
        readers,
        checked.standings(),
        checked.asked,
        stores,
        hidden,
    )


def macros(policy: Policy, outcome: Outcome) -> list[FactRecord]:
    """Records of facts about macros of the preprocessor, which ``pruner.pipeline.native`` judges (PR223)."""
    lost = {f.text.partition(" ")[0] for f in outcome.findings if f.code == "PR223"}
    found = []
    for fact in policy.facts:
        if fact.subject.startswith(PREFIX):
            count = outcome.fact_folds.get(f"{fact.rule} {fact.subject}", 0)
            status = "rejected" if fact.subject in lost else "admitted" if count else "not asked"
            found.append(FactRecord(fact.subject, fact.rule, status, folds=count))
    return found


def asked_later(row: FactRecord, policy: Policy, table: ModuleTable, outcome: Outcome) -> FactRecord:
    """A fact that holds from a point on and that a guard asks there is ``guarded``."""
    later = row.status == "from a point on" and row.subject in _asked(policy, table, outcome)
    return replace(row, status="guarded") if later else row


def _is_of(finding: Finding, policy: Policy, rejected: Mapping[Fact, FactRecord]) -> bool:
    """Does the finding speak of a rule that lost a fact? It matches something: the stores."""
    rules = {fact.rule for fact in rejected}
    return any(
        (r.location.file, r.location.line) == (finding.path, finding.line) for r in policy.rules if r.id in rules
    )


def _rejection(fact: Fact, record: FactRecord) -> Finding:
    broken = [f"{s.path}:{s.line} ({s.text})" for s in record.stores if s.standing == "breaks"]
    more = f" and {len(broken) - 10} more" if len(broken) > 10 else ""
    text = f"the fact {fact.subject} (rule {fact.rule}) is not admitted and folds nothing: "
    text += f"it may be broken at {', '.join(broken[:10])}{more}"
    advice = "correct the fact, state the fact or drop the code that makes the store dead, or take the fact out"
    return Finding("PR221", fact.location.file, fact.location.line, text, advice)


def _asked(policy: Policy, table: ModuleTable, outcome: Outcome) -> set[Const]:
    """Subjects of facts with ``valid_from`` that a placed guard asks for."""
    placed = {call.key for call in outcome.guards}
    return {name for g in derived(policy, table) if g.key in placed for ask in g.asks for name in ask.names}


def _later(fact: Fact) -> Finding:
    text = (
        f"the fact {fact.subject} holds only from {fact.valid_from} on, so it folds nothing; nor can it be asked there"
    )
    advice = "state it of an attribute of the method's class, or something that always holds, or take it out"
    return Finding("PR222", fact.location.file, fact.location.line, text, advice)
