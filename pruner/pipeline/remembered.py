"""Parts of a run that an earlier run on the same input may have left in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pruner.model import Finding, Outcome, Policy, Snapshot, Verdict
from pruner.pipeline import cache, guard, inventory, severed, stored
from pruner.pipeline.admitted import without_rejected
from pruner.pipeline.asked import answers
from pruner.pipeline.capability import capabilities, catalogues


@dataclass(frozen=True, slots=True)
class Told:
    """``able``: the table of capabilities, and where it and the rules disagree; ``guard``: the generated module."""

    able: tuple[dict[str, Any], tuple[Finding, ...]] | None
    guard: bytes  # empty: there is none


def told(
    snapshot: Snapshot,
    policy: Policy,
    outcome: Outcome,
    rules: Sequence[Path],
    below: str,
    store: Path | None,
    facts: Path | None,
) -> Told:
    """What the tables of both trees tell."""
    name = cache.key(snapshot, policy, "told", below, *_digests(rules)) if store is not None else ""
    known = cache.load(store, name, Told) if store is not None else None
    if known is not None:
        return known
    trees = catalogues(snapshot, outcome, rules if facts is None else ())
    able = capabilities(snapshot, policy, rules, trees) if facts is None else None
    used = any(e.cause.kind == "guard" for edits in outcome.edits.values() for e in edits)
    text = b""
    if used or below.startswith("sglang/"):
        admitted = without_rejected(policy, outcome)
        text = guard.render(policy, answers(admitted, outcome, below.rpartition("/")[0], trees))
    found = Told(able, text)
    if store is not None:
        cache.store(store, name, found)
    return found


def looked_up(
    snapshot: Snapshot,
    policy: Policy,
    outcome: Outcome,
    store: Path | None,
    seen: inventory.Seen | None = None,
) -> dict[str, bytes]:
    """What later commands look things up in, by file name: the stored graph, what cut off the unreached, the inventory.

    ``seen``: what is known of files of upstream already, for the inventory.
    """
    return {
        stored.NAME: stored.render(snapshot, outcome),
        severed.NAME: severed.render(snapshot, policy, outcome),
        inventory.NAME: _inventory(snapshot, policy, outcome, store, seen),
    }


def _inventory(
    snapshot: Snapshot,
    policy: Policy,
    outcome: Outcome,
    store: Path | None,
    seen: inventory.Seen | None,
) -> bytes:
    name = cache.key(snapshot, policy, "inventory") if store is not None else ""
    known: bytes | None = cache.load(store, name, bytes) if store is not None else None
    if known is None:
        known = inventory.inventory_bytes(inventory.inventory(snapshot, outcome, policy, seen))
        if store is not None:
            cache.store(store, name, known)
    return known


def verdicts(
    snapshot: Snapshot,
    aside: Path,
    rules: Sequence[Path],
    checks: object,
    store: Path,
    check: Callable[[], list[Verdict]],
) -> list[Verdict]:
    """The checks' answers, or those of an earlier run on the same bytes under the same rule files."""
    # The tree's own bytes are part of the key: what was written is what was judged.
    total = hashlib.sha256(repr(checks).encode())
    for path in sorted(aside.rglob("*")):
        if path.is_file() and not path.is_symlink():
            total.update(
                path.relative_to(aside).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest()
            )
    total.update("".join(_digests(rules)).encode())
    name = hashlib.sha256(f"verdicts {total.hexdigest()} {cache.tool_digest()} {snapshot.digest}".encode()).hexdigest()
    known = cache.load(store, name, list)
    if known is None:
        known = check()
        cache.store(store, name, known)
    return known


def _digests(rules: Sequence[Path]) -> list[str]:
    """Of the rule files with everything beside them that they may extend."""
    files = sorted({path for rule in rules for path in (*_beside(Path(rule)), Path(rule))})
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]


def _beside(rule: Path) -> Iterator[Path]:
    """Rule files and tables of capabilities in a rule file's folder and below."""
    yield from rule.parent.rglob("*.yaml")
    yield from rule.parent.rglob("*.csv")
