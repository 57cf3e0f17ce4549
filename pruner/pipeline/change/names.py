"""Names and abilities that came or went: platforms, predicates, dynamic loading, capabilities."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from pruner.pipeline.change.side import Side

_PLATFORM = re.compile(r"^_?(?:is|use)_([a-z][a-z0-9]+)$")


def platforms(base: Side, head: Side) -> list[dict[str, Any]]:
    """Words that appear as ``is_WORD`` in the head and in no name of the base, with what else bears the name.

    First those that a rule speaks of, then those that stand beside a rule's subject most often.
    """
    old = _components(base)
    spoken = set(head.inventory["spoken"])
    rows = []
    for word, evidence in sorted(_words(head).items()):
        if word in old:
            continue
        known = bool({word, f"is_{word}", f"use_{word}"} & spoken)
        beside = sum(item["beside"] for item in evidence)
        if known or beside or len(evidence) > 1:
            rows.append({"word": word, "evidence": evidence, "beside": beside, "a_rule_speaks_of_it": known})
    return sorted(rows, key=lambda r: (not r["a_rule_speaks_of_it"], -r["beside"], -len(r["evidence"]), r["word"]))


def _components(side: Side) -> set[str]:
    """Every word of every name of interest: ``is_gfx95_supported`` holds gfx95."""
    names = {name for rows in side.inventory["names"].values() for name in rows}
    names |= {folder.rpartition("/")[2] for folder in side.inventory["folders"]}
    return {word.lower() for name in names for word in re.split(r"[_.]", name)}


def _words(side: Side) -> dict[str, list[dict[str, Any]]]:
    names = side.inventory["names"]
    found: dict[str, list[dict[str, Any]]] = {}
    for name, row in sorted(names.get("predicate", {}).items()):
        if (match := _PLATFORM.match(name)) is not None and ("defined" in row or "stored" in row):
            beside = sum(row.get("with", {}).values())
            found.setdefault(match[1], []).append(_evidence("predicate", name, row, beside))
    for word, evidence in found.items():
        upper = re.compile(rf"(?:^|_){word.upper()}(?:_|$)")
        for folder, (upstream, kept) in sorted(side.inventory["folders"].items()):
            if folder.rpartition("/")[2] in (word, f"{word}s"):
                evidence.append(_evidence("folder", folder, {"upstream": upstream, "kept": kept, "at": folder}))
        if word in names.get("string", {}):
            evidence.append(_evidence("string", word, names["string"][word]))
        for kind in ("environment", "enum"):
            for name, row in sorted(names.get(kind, {}).items()):
                if upper.search(name.rpartition(".")[2]):
                    evidence.append(_evidence(kind, name, row))
    return found


def _evidence(kind: str, name: str, row: dict[str, Any], beside: int = 0) -> dict[str, Any]:
    return {"kind": kind, "name": name, "beside": beside, **_figures(row)}


def _figures(row: dict[str, Any]) -> dict[str, Any]:
    return {"upstream": row["upstream"], "kept": row["kept"], "at": row["at"]}


def predicates(base: Side, head: Side) -> list[dict[str, Any]]:
    """Predicates that upstream defines only in the head; those that stand beside a rule's subject first."""
    old = base.inventory["names"].get("predicate", {})
    rows = []
    for name, row in sorted(head.inventory["names"].get("predicate", {}).items()):
        if name not in old and "defined" in row and row["kept"]:
            spoken = name.lstrip("_") in head.inventory["spoken"]
            beside = sum(row.get("with", {}).values())
            rows.append({"name": name, "defined": row["defined"], "spoken": spoken, "beside": beside, **_figures(row)})
    return sorted(rows, key=lambda r: (-r["beside"], -r["kept"], r["name"]))


def loads(base: Side, head: Side) -> list[dict[str, Any]]:
    """Files in which kept code loads modules by a computed name more often than before."""
    old = Counter((path, callee) for path, _, callee in base.inventory["loads"])
    new: dict[tuple[str, str], list[int]] = {}
    for path, line, callee in head.inventory["loads"]:
        new.setdefault((path, callee), []).append(line)
    return [
        {"path": path, "callee": callee, "lines": lines, "before": old[path, callee]}
        for (path, callee), lines in sorted(new.items())
        if len(lines) > old[path, callee]
    ]


def capabilities(base: Side, head: Side) -> dict[str, Any]:
    """Per kind: gained, lost to a change of upstream, lost to the cut."""
    out = {}
    one, two = base.inventory["capabilities"], head.inventory["capabilities"]
    for kind in sorted(one.keys() | two.keys()):
        before = set(one.get(kind, {}).get("kept", ()))
        after = set(two.get(kind, {}).get("kept", ()))
        cut = set(two.get(kind, {}).get("dropped", ()))
        out[kind] = {
            "before": len(before),
            "after": len(after),
            "gained": sorted(after - before),
            "lost_upstream": sorted(before - after - cut),
            "lost_to_the_cut": sorted((before - after) & cut),
        }
    return out


def rules(base: Side, head: Side) -> list[dict[str, Any]]:
    """Rules whose removed lines moved, or that only one side has."""
    old = {row["id"]: row for row in base.report["rules"]}
    new = {row["id"]: row for row in head.report["rules"]}
    rows = []
    for name in sorted(old.keys() | new.keys()):
        one, two = old.get(name), new.get(name)
        pair = {key: [one[key] if one else None, two[key] if two else None] for key in ("lines", "folds", "removals")}
        if any(before != after for before, after in pair.values()):
            rows.append({"id": name, **pair})
    return sorted(rows, key=lambda r: (-abs((r["lines"][1] or 0) - (r["lines"][0] or 0)), r["id"]))
