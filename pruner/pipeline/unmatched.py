"""Rules that match nothing: a typo, or upstream moved on.

A rule with several subjects, targets or entries matches if one of them does.
Blind to: whether a ``pure`` function is spelt right when no live code calls, subclasses or decorates
with it; such a rule matches nothing as well.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from pruner.errors import PruneError, cannot
from pruner.graph.symbols import ModuleTable
from pruner.graph.world import ProgramWorld
from pruner.model import Finding, Policy, Snapshot, Target
from pruner.model.ir import line_of
from pruner.pipeline.targets import matching_modules, split_symbol, unknown_part
from pruner.policy import matches

_VERBS = ("assume", "root", "keep", "drop", "dynamic", "guard", "pure", "discard", "allow")


def unmatched(
    policy: Policy, matched: set[str], world: ProgramWorld, snapshot: Snapshot, table: ModuleTable
) -> list[Finding]:
    """PR012 for each rule that is neither optional nor met."""
    open_rules = {r.id for r in policy.rules if r.verb in _VERBS and not r.optional} - matched
    read = {fact.subject for fact in policy.facts if fact.rule in matched}
    met = {fact.rule for fact in policy.stated if fact.subject in read}  # rules that speak of one subject are one fact
    met |= {rule for rule, name in policy.pure_of if name in world.purities.met or _builtin(name)}
    discards = [t for t in policy.discards if t.rule in open_rules]
    met |= {t.rule for t in discards if t.kind not in ("name", "word") and _exists(t, table, snapshot)}
    wanted = [(t.rule, "*", f"{'word:' * (t.kind == 'word')}{t.text}") for t in discards if t.kind in ("name", "word")]
    wanted += [(a.rule, p, n) for a in policy.allow if a.rule in open_rules for p in a.paths for n in a.names]
    met |= {rule for rule, _, name in wanted if name.startswith("rule:")}  # said by what the other rule discards
    met |= _words(snapshot, wanted)
    found = []
    for rule in policy.rules:
        if rule.id in open_rules - met:
            text = f"rule {rule.id} matches nothing in this tree{_near(policy, rule.id, table)}"
            advice = "correct it, or mark it optional, since or until"
            found.append(Finding("PR012", rule.location.file, rule.location.line, text, advice))
    return found


def _near(policy: Policy, rule: str, table: ModuleTable) -> str:
    """What a ``dynamic`` rule names that is not there, or where the first table stands whose entry was not found, or ""."""
    for row in policy.dynamics:
        if row.rule == rule and (text := unknown_part(row, table)):
            return f": {text}"
    for target in policy.drops:
        split = table.split(target.text.partition("[")[0]) if target.rule == rule and target.kind == "entry" else None
        summary = table.load(split[0]) if split is not None and split[0] in table.paths else None
        stores = summary.stores.get(split[1].partition(".")[0], ()) if summary is not None and split is not None else ()
        if summary is not None and stores:
            place = f"{summary.path}:{line_of(stores[0].stmt[1])}"
            return f": no entry of {target.text.partition('[')[0]} ({place}) is written out as {target.text}"
    return ""


def nothing_kept(policy: Policy, modules: Mapping[str, tuple[str, bool]]) -> PruneError:
    """PR017: no root and no keep rule leads to a module. At the first of them, else at the first rule file.

    ``modules`` are those of the tree: name → path, and whether it is a package.
    """
    advice = "say where execution starts: root: [pkg.module]"
    asked = sorted((*policy.roots, *policy.keeps), key=lambda target: target.location)
    if asked:
        text = "what rules name as roots is not in this tree, so nothing of it would be kept"
        place = asked[0].location
        for target, drop in ((t, d) for t in policy.roots for d in policy.drops):
            if _takes(drop, target, modules):
                text = f"rule {drop.rule} drops the root {target.text} of rule {target.rule}, and nothing else would be kept"
                place, advice = drop.location, "take one of the two out, or say where else execution starts"
                break
        return cannot(policy.shown.get(place.file, place.file), "PR017", text, advice, place.line, place.column)
    file = policy.files[0] if policy.files else "rules"
    text = "no rule that speaks of this release names a root, so nothing of it would be kept"
    return cannot(policy.shown.get(file, file), "PR017", text, advice, 1)


def _takes(drop: Target, root: Target, modules: Mapping[str, tuple[str, bool]]) -> bool:
    """Does the drop rule take a module or symbol that the root names?"""
    if root.text == drop.text:
        return root.text.partition(":")[0] in modules
    named = root.text.partition(":")[0]
    found = [m for m in modules if m == named or (root.kind == "module" and matches(named, m))]
    if drop.kind == "path":
        return any(fnmatchcase(modules[m][0], drop.text) for m in found)
    return drop.kind in ("module", "dotted") and any(matches(drop.text, m) for m in found)


def _builtin(name: str) -> bool:
    """A builtin is there, used or not; the engine knows most of them without a rule."""
    first, _, rest = name.partition(".")
    return first == "builtins" and hasattr(builtins, rest.partition(".")[0])


def _exists(target: Target, table: ModuleTable, snapshot: Snapshot) -> bool:
    if target.kind == "path":
        return any(fnmatchcase(file.path, target.text) for file in snapshot.files)
    if target.kind == "module":
        return bool(matching_modules(table, target.text))
    if target.kind == "entry":
        return table.split(target.text.partition("[")[0]) is not None
    split = split_symbol(table, target)
    summary = table.load(split[0]) if split is not None and split[0] in table.paths else None
    return summary is not None and split is not None and split[1].split(".")[0] in summary.stores


def _words(snapshot: Snapshot, wanted: Iterable[tuple[str, str, str]]) -> set[str]:
    """Rules of which some (path glob, word glob) occurs upstream; reads on until each has one."""
    patterns: dict[str, list[tuple[str, re.Pattern[bytes]]]] = {}
    for rule, path, name in wanted:
        part = name.startswith("word:")
        word = re.escape(name.removeprefix("word:").encode()).replace(rb"\*", rb"\w*").replace(rb"\?", rb"\w")
        whole = rb"(?i)" + word if part else rb"(?<!\w)" + word + rb"(?!\w)"  # a part of a name: roughly
        patterns.setdefault(rule, []).append((path, re.compile(whole)))
    met: set[str] = set()
    for file in snapshot.files:
        if not patterns:
            break
        if not file.path.endswith(".py") or file.link is not None:
            continue
        data = b""
        for rule in list(patterns):
            for path, pattern in patterns[rule]:
                if fnmatchcase(file.path, path):
                    data = data or snapshot.read(file.path)
                    if pattern.search(data):
                        met.add(rule)
                        del patterns[rule]
                        break
    return met
