"""Everything stated, checked against each other and put in one order."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from packaging.version import InvalidVersion, Version

from pruner.errors import Diagnostic, cannot
from pruner.model import Allowed, Fact, Lift, Location, Policy, Range, Rule, Target
from pruner.policy import codes
from pruner.policy.node import Faults
from pruner.policy.rule import Stated
from pruner.policy.value import Values, intersect, union

_Window = tuple[Version | None, Version | None]


def assemble(stated: Stated, faults: Faults, files: tuple[str, ...]) -> Policy:
    """The policy of everything stated; faults between rules are added to ``faults``."""
    by_id: dict[str, Rule] = {}
    for rule in stated.rules:
        first = by_id.setdefault(rule.id, rule)
        if first is not rule:
            text = f"the id {rule.id!r} is taken"
            _fault(stated, faults, rule.location, codes.DUPLICATE_ID, text, f"it is also at {_at(stated, first)}")
    lifted = _lift(stated, faults, by_id)
    facts = sorted(stated.facts, key=lambda f: (f.subject, f.valid_from or "", f.rule))
    _refute_disagreement(stated, faults, facts, by_id)
    policy = Policy(
        rules=tuple(sorted(by_id.values(), key=lambda r: r.id)),
        facts=merge_facts(facts, by_id),
        roots=_ordered(stated.targets.get("root", ())),
        keeps=_ordered(stated.targets.get("keep", ())),
        drops=_ordered(stated.targets.get("drop", ())),
        discards=_ordered(stated.targets.get("discard", ())),
        dynamics=tuple(sorted(stated.dynamics, key=lambda d: (d.package, d.site, d.members, d.rule))),
        guards=tuple(sorted(stated.guards, key=lambda g: (g.rule, g.number))),
        without=_ordered(stated.targets.get("without", ())),
        pure=tuple(sorted({name for _, name in stated.pure})),
        allow=tuple(sorted(set(stated.allow))),
        files=files,
        by_id={key: by_id[key] for key in sorted(by_id)},
        stated=tuple(facts),
        pure_of=tuple(sorted(set(stated.pure))),
        lifted=lifted,
    )
    return replace(policy, digest=_digest(policy))


def _lift(stated: Stated, faults: Faults, by_id: dict[str, Rule]) -> tuple[Lift, ...]:
    """Take away what files lift of the rules that they extend; gives what that is."""
    found = [
        Lift(by_id[name], place, tuple(sorted({f.subject for f in stated.facts if f.rule == name})))
        for name, place in stated.lifted
        if name in by_id
    ]
    for name, place in stated.lifted:
        if by_id.pop(name, None) is None and all(name != other for other, _ in stated.lifted if place != _):
            near = difflib.get_close_matches(name, by_id, n=1)
            advice = f"did you mean {near[0]!r}?" if near else "lift a rule of a file that this one extends"
            _fault(stated, faults, place, codes.NOT_LIFTED, f"no rule is called {name!r}", advice)
    if not stated.lifted:
        return ()
    gone = {name for name, _ in stated.lifted}
    stated.facts[:] = [f for f in stated.facts if f.rule not in gone]
    for verb, targets in stated.targets.items():
        stated.targets[verb] = [t for t in targets if t.rule not in gone]
    stated.dynamics[:] = [d for d in stated.dynamics if d.rule not in gone]
    stated.guards[:] = [g for g in stated.guards if g.rule not in gone]
    stated.pure[:] = [p for p in stated.pure if p[0] not in gone]
    stated.allow[:] = [a for a in stated.allow if a.rule not in gone]
    return tuple(sorted(found, key=lambda row: (row.location, row.rule.id)))


def select(policy: Policy, version: str) -> Policy:
    """The rules that speak of an upstream version; "" is unknown and keeps all.

    ``files`` and ``digest`` stay those of the whole policy, so that two releases under the
    same files can be compared. Raises :class:`PruneError` if ``version`` is none.
    """
    if not version:
        return policy
    try:
        wanted = Version(version)
    except InvalidVersion:
        advice = "give a release number such as 0.5.17, or none"
        raise cannot("", codes.BAD_VERSION, f"the upstream version {version!r} is not a version", advice) from None
    by_id = {key: rule for key, rule in policy.by_id.items() if _speaks_of(_window(rule), wanted)}
    stated = [f for f in policy.stated if f.rule in by_id]
    return Policy(
        rules=tuple(r for r in policy.rules if r.id in by_id),
        facts=merge_facts(stated, by_id),
        roots=tuple(t for t in policy.roots if t.rule in by_id),
        keeps=tuple(t for t in policy.keeps if t.rule in by_id),
        drops=tuple(t for t in policy.drops if t.rule in by_id),
        discards=tuple(t for t in policy.discards if t.rule in by_id),
        dynamics=tuple(d for d in policy.dynamics if d.rule in by_id),
        guards=tuple(g for g in policy.guards if g.rule in by_id),
        without=tuple(t for t in policy.without if t.rule in by_id),
        pure=tuple(sorted({name for rule, name in policy.pure_of if rule in by_id})),
        allow=tuple(a for a in policy.allow if a.rule in by_id and _speaks_of(_window(a), wanted)),
        files=policy.files,
        digest=policy.digest,
        by_id=by_id,
        stated=tuple(stated),
        pure_of=tuple(p for p in policy.pure_of if p[0] in by_id),
        lifted=tuple(row for row in policy.lifted if _speaks_of(_window(row.rule), wanted)),
        shown=policy.shown,
    )


def placed(policy: Policy, python_root: str) -> Policy:
    """The policy for a tree whose packages lie below ``python_root``: ``path:pkg/x`` is ``path:python/pkg/x`` there as well.

    Globs are written as a wheel spells its files. Only targets that are globs and ``allow`` change.
    """
    if not python_root:
        return policy

    def both(targets: tuple[Target, ...]) -> tuple[Target, ...]:
        more = (replace(t, text=f"{python_root}/{t.text}") for t in targets if t.kind in ("path", "native"))
        return (*targets, *more)

    allow = (replace(a, paths=(*a.paths, *(f"{python_root}/{path}" for path in a.paths))) for a in policy.allow)
    return replace(
        policy,
        roots=both(policy.roots),
        keeps=both(policy.keeps),
        drops=both(policy.drops),
        discards=both(policy.discards),
        allow=tuple(allow),
    )


def packages(policy: Policy) -> frozenset[str]:
    """Top components of what roots, keeps and drops name: the packages that the rules speak of."""
    targets = (*policy.roots, *policy.keeps, *policy.drops)
    return frozenset(
        re.split(r"[.:\[]", t.text, maxsplit=1)[0] for t in targets if t.kind not in ("path", "native", "project")
    )


def merge_facts(facts: Iterable[Fact], by_id: dict[str, Rule]) -> tuple[Fact, ...]:
    """One fact per subject and validity point, narrowed to what every rule says.

    A fact without ``valid_from`` holds always, so it narrows those with one too. Rules whose
    version windows never meet do not narrow each other; over an unknown version their values
    are united. The rule named is one whose statement is the result itself, if there is one.
    """
    merged: list[Fact] = []
    for subject, group in _by_subject(facts).items():
        for validity in sorted({f.valid_from for f in group}, key=lambda v: v or ""):
            members = [f for f in group if f.valid_from in (None, validity)]
            values = _over_versions(members, by_id)
            if values is None:  # a range here and a string there, in releases apart: nothing can be said
                continue
            own = [f for f in members if f.valid_from == validity]
            named = min(own, key=lambda f: (f.values != values, f.rule))
            merged.append(Fact(named.rule, subject, values, named.location, validity))
    return tuple(merged)


def _over_versions(members: list[Fact], by_id: dict[str, Rule]) -> Values | None:
    total: Values | None = None
    for active in _intervals(members, by_id):
        values: Values | None = active[0].values
        for fact in active[1:]:
            values = intersect(values, fact.values) if values is not None else None
        if values is None:
            continue
        if total is None:
            total = values
        else:
            total = union(total, values)
            if total is None:
                return None
    return total


def _refute_disagreement(stated: Stated, faults: Faults, facts: list[Fact], by_id: dict[str, Rule]) -> None:
    for subject, group in _by_subject(facts).items():
        told: set[tuple[Location, Location]] = set()
        for active in _intervals(group, by_id):
            for left in active:
                for right in active:
                    apart = left.valid_from and right.valid_from and left.valid_from != right.valid_from
                    if left.location >= right.location or apart or intersect(left.values, right.values) is not None:
                        continue
                    if (left.location, right.location) in told:
                        continue
                    told.add((left.location, right.location))
                    text = f"rules disagree on {subject}: {_say(right.values)} here, {_say(left.values)}"
                    where = stated.shown.get(left.location, left.location)
                    text += f" at {where.file}:{where.line}:{where.column}"
                    advice = "no value is left; correct one of them"
                    _fault(stated, faults, right.location, codes.NO_VALUE, text, advice)


def _intervals(facts: list[Fact], by_id: dict[str, Rule]) -> list[list[Fact]]:
    """The sets of facts that hold together in some version, by sweeping the ends of the windows."""
    windows = [(f, _window(by_id[f.rule]) if f.rule in by_id else (None, None)) for f in facts]
    points = sorted({end for _, window in windows for end in window if end is not None})
    samples: list[Version | None] = [None, *points]  # None is before the first point
    found = []
    for sample in samples:
        active = [f for f, window in windows if _speaks_of(window, sample)]
        if active:
            found.append(active)
    return found


def _window(rule: Rule | Allowed) -> _Window:
    return (Version(rule.since) if rule.since else None, Version(rule.until) if rule.until else None)


def _speaks_of(window: _Window, version: Version | None) -> bool:
    since, until = window
    if version is None:
        return since is None
    return (since is None or since <= version) and (until is None or version < until)


def _by_subject(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    groups: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        groups[fact.subject].append(fact)
    return {subject: groups[subject] for subject in sorted(groups)}


def _ordered(targets: Iterable[Target]) -> tuple[Target, ...]:
    return tuple(sorted(targets, key=lambda t: (t.text, t.kind, t.rule, t.location)))


def _say(values: Values) -> str:
    if isinstance(values, Range):
        return f"{'' if values.low is None else values.low}..{'' if values.high is None else values.high}"
    return "[" + ", ".join(json.dumps(v) for v in values) + "]"


def _at(stated: Stated, rule: Rule) -> str:
    place = stated.shown.get(rule.location, rule.location)
    return f"{place.file}:{place.line}:{place.column}"


def _fault(stated: Stated, faults: Faults, place: Location, code: str, text: str, advice: str) -> None:
    shown = stated.shown.get(place, place)
    faults.found.append(Diagnostic(shown.file, shown.line, shown.column, "error", code, text, advice))


def _digest(policy: Policy) -> str:
    """sha256 over what the rules say: no place, no file name, no order."""
    rules = [[r.id, r.verb, r.because, r.optional, r.since, r.until, r.device] for r in policy.rules]
    facts = [[f.rule, f.subject, _plain(f.values), f.valid_from] for f in policy.stated]
    targets = [
        [verb, t.rule, t.kind, t.text]
        for verb in ("roots", "keeps", "drops", "discards", "without")
        for t in getattr(policy, verb)
    ]
    dynamics = [[d.rule, d.package, list(d.members), d.site] for d in policy.dynamics]
    guards = [
        [
            g.key,
            list(g.at),
            g.where,
            g.of,
            g.options,
            g.facts,
            g.http,
            [[a.chain, a.kind, list(a.names), a.attribute, a.when] for a in g.asks],
        ]
        for g in policy.guards
    ]
    allow = [[a.rule, a.paths, a.names, a.reason, a.most, a.since, a.until] for a in policy.allow]
    content = [rules, facts, targets, dynamics, guards, policy.pure_of, allow]
    return hashlib.sha256(json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()


def _plain(values: Values) -> object:
    return {"min": values.low, "max": values.high} if isinstance(values, Range) else list(values)
