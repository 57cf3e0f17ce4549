"""Frozen value types shared by all layers: spans, rules, facts, edits, the run's document.

Nothing here does work but to read a path; nothing here imports another layer but ``errors``.
"""

from pruner.model.policy import Allowed, Ask, Dynamic, Fact, Guard, Lift, Location, Policy, Range, Rule, Target
from pruner.model.result import (
    Cause,
    Edit,
    FactRecord,
    Finding,
    GuardCall,
    OperationRecord,
    Outcome,
    Removal,
    RunResult,
    StoreRecord,
    Verdict,
)
from pruner.model.source import Origin, Snapshot, SourceFile, import_path

__all__ = [
    "Allowed",
    "Ask",
    "Cause",
    "Dynamic",
    "Edit",
    "Fact",
    "FactRecord",
    "Finding",
    "Guard",
    "GuardCall",
    "Lift",
    "Location",
    "OperationRecord",
    "Origin",
    "Outcome",
    "Policy",
    "Range",
    "Removal",
    "Rule",
    "RunResult",
    "Snapshot",
    "SourceFile",
    "StoreRecord",
    "Target",
    "Verdict",
    "import_path",
]
