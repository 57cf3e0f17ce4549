"""Where guards go: rules' functions against the live tree.

Blind to functions that are made by calls or bound by assignment: a guard names a ``def``.
"""

from __future__ import annotations

from dataclasses import dataclass

from pruner.graph.live import Liveness
from pruner.graph.symbols import ModuleTable
from pruner.model import Finding, Guard, Policy
from pruner.pipeline.asked import derived


@dataclass(frozen=True, slots=True)
class Placement:
    """A guard in one function of one module: what the call passes."""

    key: str
    rule: str
    function: str
    where: str
    parameter: str  # "" when only facts are asked
    options: bool


def placements(
    policy: Policy, table: ModuleTable, live: Liveness, matched: set[str]
) -> tuple[dict[str, list[Placement]], list[Finding]]:
    """Module -> placements, and findings for places that can hold no call."""
    found: dict[str, list[Placement]] = {}
    findings: list[Finding] = []
    for guard in (*policy.guards, *derived(policy, table)):
        for place in guard.at:
            module, _, function = place.partition(":")
            if module not in table.paths:
                continue
            matched.add(guard.rule)
            state = live.states.get(module)
            if state is None or not state.executed:
                continue
            if state.summary.error:
                findings.append(_unwritable(guard, place, table.paths[module][0]))
                continue
            parameter = guard.of.partition(".")[0]
            found.setdefault(module, []).append(
                Placement(guard.key, guard.rule, function, guard.where, parameter, guard.options)
            )
    return found, findings


def _unwritable(guard: Guard, place: str, path: str) -> Finding:
    text = f"rule {guard.rule} guards {place}, and {path} travels byte for byte"
    return Finding("PR240", path, 0, text, "guard a caller of it instead")
