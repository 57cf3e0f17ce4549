"""Frozen value types shared by all layers: spans, rules, facts, edits, the run's document.

Nothing here does work; nothing here imports another layer but ``errors``.
"""

from pruner.model.policy import Dynamic, Fact, Location, Policy, Range, Rule, Target
from pruner.model.result import Cause, Edit, Finding, Outcome, Removal, RunResult, Verdict
from pruner.model.source import Origin, Snapshot, SourceFile

__all__ = [
    "Cause",
    "Dynamic",
    "Edit",
    "Fact",
    "Finding",
    "Location",
    "Origin",
    "Outcome",
    "Policy",
    "Range",
    "Removal",
    "Rule",
    "RunResult",
    "Snapshot",
    "SourceFile",
    "Target",
    "Verdict",
]
