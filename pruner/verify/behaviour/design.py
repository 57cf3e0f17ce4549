"""What the rules say may be missing at run time, from the verifier's own reading of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pruner.model import Range
from pruner.verify.behaviour.runner import Design
from pruner.verify.rules import Const, read_rules, version_of

SM = "sglang.srt.utils.common.get_device_sm()"


def design(upstream: Path, rules: Sequence[Path]) -> Design:
    """Drops with their rules, members of walked packages, ids of rules. Raises PruneError when a file cannot be read."""
    stated = read_rules(rules, version_of(upstream))
    members: dict[str, list[str]] = {}
    for _, package, names, _ in stated.dynamics:
        members.setdefault(package, []).extend(names)
    allowed = stated.facts.get(SM)
    sm = None if allowed is None else partial(_among, allowed)
    return Design(
        stated.drops, members, frozenset(stated.rules), sm, [text for _, text in (*stated.roots, *stated.keeps)]
    )


def _among(allowed: tuple[Const, ...] | Range, value: int) -> bool:
    if isinstance(allowed, Range):
        return (allowed.low is None or value >= allowed.low) and (allowed.high is None or value <= allowed.high)
    return value in allowed
