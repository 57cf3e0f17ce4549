"""What rules leave without the code behind it: who asks for it has to lift those rules.

Keeping ``MOE_RUNNER_BACKEND_CHOICES[hpc_ops]`` beside the fact that ``is_hpc_ops()`` is false would offer a choice
that nothing serves; without the fact that ``kv_canary`` is "none", and with its package dropped, no server starts.

Blind to what no rule says by the key ``without``.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

from pruner.model import Finding, Policy, Target
from pruner.policy.target import matches


def of_entry(policy: Policy, table: str, key: str) -> list[str]:
    """Rules that leave this entry of this table without what serves it."""
    return sorted({t.rule for t in policy.without if t.kind == "entry" and _names(t.text, table, key)})


def of_module(policy: Policy, module: str) -> list[str]:
    """Rules that leave this module without what serves it."""
    return sorted({t.rule for t in policy.without if t.kind == "module" and matches(t.text, module)})


def of_subject(policy: Policy, subject: str) -> list[str]:
    """Rules that leave what a fact excludes without what serves it: lifting the fact alone is not enough."""
    return sorted({t.rule for t in policy.without if t.kind == "module" and t.text == subject})


def contradictions(policy: Policy) -> list[Finding]:
    """What one rule keeps, or a lift allows, and another leaves without the code behind it (PR242), at the former."""
    found = _lifted_alone(policy)
    for target in policy.keeps:
        others = sorted({t.rule for t in policy.without if t.kind == target.kind == "entry" and _meet(target, t)})
        if others:
            names, place = ", ".join(others), target.location
            text = f"rule {target.rule} keeps {target.text}, and {names} leaves it without the code behind it"
            found.append(Finding("PR242", place.file, place.line, text, f"put `lift: [{names}]` into the rule file"))
    return found


def _lifted_alone(policy: Policy) -> list[Finding]:
    """Lifts of facts whose subjects other rules leave without what serves them: no guard asks for them any more."""
    found = []
    stated = {fact.subject for fact in policy.facts}
    for row in policy.lifted:
        bare = {subject: of_subject(policy, subject) for subject in row.subjects if subject not in stated}
        others = sorted({rule for rules in bare.values() for rule in rules})
        if others:
            first = next(subject for subject, rules in sorted(bare.items()) if rules)
            leave = "leaves" if len(others) == 1 else "leave"
            text = f"{row.rule.id} is lifted, and {', '.join(others)} {leave} {first} without the code behind it"
            advice = f"put `lift: [{', '.join(sorted({row.rule.id, *others}))}]` into the rule file"
            found.append(Finding("PR242", row.location.file, row.location.line, text, advice))
    return found


def _meet(one: Target, other: Target) -> bool:
    left, right = one.text[:-1].partition("["), other.text[:-1].partition("[")
    return left[0] == right[0] and (fnmatchcase(left[2], right[2]) or fnmatchcase(right[2], left[2]))


def _names(text: str, table: str, key: str) -> bool:
    own, _, glob = text[:-1].partition("[")
    return own == table and fnmatchcase(key, glob)
