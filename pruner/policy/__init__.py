"""Rule files in, a checked :class:`~pruner.model.Policy` out.

Blind to the tree: whether a subject or a target exists upstream is for the engine to say
(a rule that matches nothing is an error there, not here).
"""

from pruner.policy.case import load_case
from pruner.policy.load import load
from pruner.policy.merge import packages, placed, select
from pruner.policy.reference import reference
from pruner.policy.schema import json_schema
from pruner.policy.target import matches

__all__ = ["json_schema", "load", "load_case", "matches", "packages", "placed", "reference", "select"]
