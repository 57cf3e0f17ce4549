"""What the rules say may be missing at run time, from the verifier's own reading of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pruner.verify.behaviour.runner import Design
from pruner.verify.rules import read_rules, version_of


def design(upstream: Path, rules: Sequence[Path]) -> Design:
    """Drops with their rules, members of walked packages, ids of rules. Raises PruneError when a file cannot be read."""
    stated = read_rules(rules, version_of(upstream))
    members: dict[str, list[str]] = {}
    for _, package, names, _ in stated.dynamics:
        members.setdefault(package, []).extend(names)
    return Design(stated.drops, members, frozenset(stated.rules))
