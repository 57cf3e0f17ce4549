"""Parts of a run that an earlier run on the same input may have left in the cache."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pruner.model import Finding, Outcome, Policy, Snapshot, Verdict
from pruner.pipeline import cache, guard, inventory, severed, stored
from pruner.pipeline.admitted import without_rejected
from pruner.pipeline.asked import answers
from pruner.pipeline.capability import capabilities as capable
from pruner.pipeline.capability import catalogues
from pruner.pipeline.needs import Dropped, Near
from pruner.pipeline.package import packaging
from pruner.policy import load
from pruner.verify import capabilities

if TYPE_CHECKING:
    from pruner.verify.driver import Ready


@dataclass(frozen=True, slots=True)
class Told:
    """``able``: the table of capabilities, and where it and the rules disagree; ``guard``: the generated module.

    ``package``: what a wheel's tree is given to be built and started, and the dependencies that go.
    """

    able: tuple[dict[str, Any], tuple[Finding, ...]] | None
    guard: bytes  # empty: there is none
    package: tuple[dict[str, bytes], tuple[Dropped, ...]]
    findings: tuple[Finding, ...] = ()  # of what the guards ask


@dataclass(frozen=True, slots=True)
class _Read:
    policy: Policy
    digests: dict[str, str]  # of each file that was read for it


def told(
    ready: Ready | None,
    snapshot: Snapshot,
    policy: Policy,
    outcome: Outcome,
    rules: Sequence[Path],
    below: str,
    facts: Path | None,
    near: Near | None = None,
) -> Told:
    """What the tables of both trees tell. ``ready``: what a verifier has read of upstream already; ``near``: see :func:`packaging`.

    Nothing is remembered here: where a fact is rejected afterwards, the answer is not the run's.
    """
    trees = catalogues(snapshot, outcome, rules if facts is None else (), ready)
    able = capable(snapshot, policy, rules, trees) if facts is None else None
    used = any(e.cause.kind == "guard" for edits in outcome.edits.values() for e in edits)
    text = b""
    findings: tuple[Finding, ...] = ()
    if used or below.startswith("sglang/"):
        admitted = without_rejected(policy, outcome)
        asked = answers(admitted, outcome, below.rpartition("/")[0], trees)
        text, findings = guard.render(policy, asked), asked.findings
    return Told(able, text, packaging(snapshot, outcome, near), findings)


def answer(snapshot: Snapshot, policy: Policy, below: str, store: Path | None, make: Callable[[], Told]) -> Told:
    """The answer of :func:`told` for the run's outcome: that of an earlier run, or ``make()``."""
    if store is None:
        return make()
    name = cache.key(snapshot, policy, "told", below, policy.read)
    known = cache.load(store, name, Told)
    if known is None:
        known = make()
        cache.store(store, name, known)
    return known


def asked_of(outcome: Outcome) -> Outcome:
    """What :func:`told` looks at of an outcome, for a process that is sent it."""
    return replace(outcome, removals=(), findings=(), kept_ranges={}, roots=(), edges=(), operations=(), open_stores=())


def looked_up(
    snapshot: Snapshot,
    policy: Policy,
    outcome: Outcome,
    listed: bytes | None = None,
    seen: inventory.Seen | None = None,
) -> dict[str, bytes]:
    """What later commands look things up in, by file name: the stored graph, what cut off the unreached, the inventory.

    ``listed``: the inventory, where :func:`known_inventory` has it; ``seen``: what is known of files of upstream already,
    for it. Nothing is remembered here, see :func:`told`.
    """
    return {
        stored.NAME: stored.render(snapshot, outcome),
        severed.NAME: severed.render(snapshot, policy, outcome),
        inventory.NAME: listed or inventory.inventory_bytes(inventory.inventory(snapshot, outcome, policy, seen)),
    }


def known_inventory(snapshot: Snapshot, policy: Policy, store: Path | None) -> bytes | None:
    """The inventory of an earlier run on the same."""
    return cache.load(store, _inventory(snapshot, policy), bytes) if store is not None else None


def keep_inventory(snapshot: Snapshot, policy: Policy, found: dict[str, bytes], store: Path) -> None:
    """Remember it for a later run, out of what :func:`looked_up` gave. It must be that of the run's outcome."""
    cache.store(store, _inventory(snapshot, policy), found[inventory.NAME])


def _inventory(snapshot: Snapshot, policy: Policy) -> str:
    return cache.key(snapshot, policy, "inventory")


def verdicts(
    snapshot: Snapshot,
    policy: Policy,
    aside: Path,
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
    total.update(policy.read.encode())
    name = hashlib.sha256(f"verdicts {total.hexdigest()} {cache.tool_digest()} {snapshot.digest}".encode()).hexdigest()
    known = cache.load(store, name, list)
    if known is None:
        known = check()
        cache.store(store, name, known)
    return known


def read_policy(rules: Sequence[Path], store: Path | None) -> Policy:
    """The policy of these rule files; its ``read`` covers every file that it and the checks read for them.

    Raises PruneError as :func:`pruner.policy.load` does; only a policy without a fault is remembered.
    """
    given = [Path(rule).as_posix() for rule in rules]
    name = hashlib.sha256("\0".join(("policy", cache.tool_digest(), os.getcwd(), *given)).encode()).hexdigest()
    known = cache.load(store, name, _Read) if store is not None else None
    if known is not None and known.digests == _digests(known.digests):
        return replace(known.policy, read=_together(known.digests))
    found = load(rules)
    files = [*found.shown.values(), *found.tables, *(capabilities.table_of(Path(t)).as_posix() for t in found.tables)]
    digests = _digests(files)
    if store is not None and "" not in digests.values():
        cache.store(store, name, _Read(found, digests))
    return replace(found, read=_together(digests))


def _digests(files: Iterable[str]) -> dict[str, str]:
    """Of each file's bytes; empty for one that cannot be read or is no file."""
    found = {}
    for file in sorted(set(files)):
        try:
            # A pipe in the place of a file would be waited for, and can be read once.
            found[file] = hashlib.sha256(Path(file).read_bytes()).hexdigest() if Path(file).is_file() else ""
        except OSError:
            found[file] = ""
    return found


def _together(digests: Mapping[str, str]) -> str:
    return hashlib.sha256(repr(sorted(digests.items())).encode()).hexdigest()
