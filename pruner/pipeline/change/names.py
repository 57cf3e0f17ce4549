"""Names and abilities that came or went: platforms, predicates, dynamic loading, capabilities."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from pruner.pipeline.change.side import Side
from pruner.pipeline.suspects import Suspect, Suspects

_PLATFORM = re.compile(r"^_?(?:is|use)_([a-z][a-z0-9]+)$")


def platforms(base: Side, head: Side) -> list[dict[str, Any]]:
    """Words that no name of the base holds and that stand where platforms stand, or that look like one.

    First those with such company, of these first what is kept most.
    """
    old = _components(base)
    denied, vendors = set(head.inventory["ruled_out"]), set(head.inventory["vendors"])
    found = {row.word: row for row in Suspects(head, [], every=True).ranked()}
    rows = []
    for word, names in sorted(_words(head, found).items()):
        if word in old:
            continue
        evidence = found[word].evidence if word in found else []
        said = "denied" if word in denied else "asked" if word in vendors else "no rule"
        company = word in denied | vendors or any("beside" in text or "compared with" in text for text in evidence)
        if company or len(names) > 1:
            kept = sum(item["kept"] for item in names)
            at = next((item["at"] for item in names), found[word].at if word in found else "")
            row = {"word": word, "rules": said, "company": company, "kept": kept, "at": at}
            rows.append(row | {"evidence": evidence, "names": names})
    return sorted(rows, key=lambda r: (not r["company"], r["rules"] == "no rule", -r["kept"], r["word"]))


def _components(side: Side) -> set[str]:
    """Every word of every name of interest: ``is_gfx95_supported`` holds gfx95."""
    names = {name.rpartition(":")[2] for rows in side.inventory["names"].values() for name in rows}
    names |= {folder.rpartition("/")[2] for folder in side.inventory["folders"]}
    words = {word.lower() for name in names for word in re.split(r"[_.=]", name)}
    return words | {module.rpartition(".")[2] for module in side.upstream}


def _words(side: Side, found: Mapping[str, Suspect]) -> dict[str, list[dict[str, Any]]]:
    """Words to look at: of the shape ``is_WORD``, or in the company of platforms; with the names that hold them."""
    names, paths = side.inventory["names"], set(side.graph["upstream"])
    words: dict[str, list[dict[str, Any]]] = {word: [] for word in found if "_" not in word}
    for name, row in sorted(names.get("predicate", {}).items()):
        if (match := _PLATFORM.match(name)) is not None and ("defined" in row or "stored" in row):
            words.setdefault(match[1], []).append(_evidence("predicate", name, row))
    for word, rows in words.items():
        upper = re.compile(rf"(?:^|_){re.escape(word.upper())}(?:_|$)")
        for folder, (upstream, kept) in sorted(side.inventory["folders"].items()):
            if folder.rpartition("/")[2] in (word, f"{word}s"):
                rows.append(_evidence("folder", folder, {"upstream": upstream, "kept": kept, "at": folder}))
        for module in sorted(m for m in side.upstream if m.rpartition(".")[2] == word):
            path = next(p for p in side.paths_of(module) if p in paths)
            kept = int(path in side.graph["lines"])
            rows.append(_evidence("module", module, {"upstream": 1, "kept": kept, "at": path}))
        if word in names.get("string", {}):
            rows.append(_evidence("string", word, names["string"][word]))
        for kind in ("environment", "enum"):
            for name, row in sorted(names.get(kind, {}).items()):
                if upper.search(name.rpartition(".")[2]):
                    rows.append(_evidence(kind, name.rpartition(":")[2], row))
    return words


def _evidence(kind: str, name: str, row: dict[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "name": name, **_figures(row)}


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
    """``table``: rows of the rules' table of capabilities whose status moved. ``offers``, per kind of what a user can
    ask for: gained, lost to the cut, lost to a change of upstream.

    Lost to the cut is what upstream still offers where the base kept it, or in a module that is new there: an option
    of a program that was never kept is no loss.
    """
    table = []
    for key in sorted(base.table.keys() | head.table.keys()):
        one, two = (side.table.get(key, {"status": "absent"}) for side in (base, head))
        if one["status"] != two["status"]:
            row = {"kind": key[0], "key": key[1], "before": one["status"], "after": two["status"]}
            row["places"] = two.get("evidence") or two.get("rest") or one.get("evidence") or one.get("rest") or []
            table.append(row | {"dropped_by": [cause["rule"] for cause in two.get("dropped_by", [])]})
    offers = {}
    one_side, two_side = base.inventory["capabilities"], head.inventory["capabilities"]
    for kind in sorted(one_side.keys() | two_side.keys()):
        was, now = one_side.get(kind, {}), two_side.get(kind, {})
        before = {name for name, places in was.items() if places["kept"]}
        after = {name for name, places in now.items() if places["kept"]}
        cut = {n for n in before - after if n in now and _offered(now[n]["upstream"], was[n]["kept"], base)}
        offers[kind] = {
            "before": len(before),
            "after": len(after),
            "gained": [{"name": name, "in": now[name]["kept"]} for name in sorted(after - before)],
            "lost_upstream": [{"name": name, "in": was[name]["kept"]} for name in sorted(before - after - cut)],
            "lost_to_the_cut": [{"name": name, "in": now[name]["upstream"]} for name in sorted(cut)],
        }
    return {"table": table, "offers": offers}


def _offered(places: list[str], kept: list[str], base: Side) -> bool:
    """Whether one of the places is where the base kept it, or is new upstream."""
    return any(module in kept or module not in base.upstream for module in places)


def rules(base: Side, head: Side) -> dict[str, Any]:
    """``moved``: rules whose figures moved; ``ended`` and ``begun``: rules that speak of one side alone."""
    moved = []
    for name in sorted(base.rules.keys() | head.rules.keys()):
        one, two = base.rules.get(name), head.rules.get(name)
        pair = {key: [one[key] if one else None, two[key] if two else None] for key in ("lines", "folds", "removals")}
        if one is not None and two is not None and any(before != after for before, after in pair.values()):
            moved.append({"id": name, **pair})

    def only(side: Side, other: Side) -> list[dict[str, Any]]:
        rows = [side.rules[name] for name in sorted(side.rules.keys() - other.rules.keys())]
        keys = ("id", "verb", "because", "location", "lines", "removals", "folds")
        return sorted(({key: row[key] for key in keys} for row in rows), key=lambda r: (-r["lines"], r["id"]))

    return {
        "moved": sorted(moved, key=lambda r: (-abs(r["lines"][1] - r["lines"][0]), r["id"])),
        "ended": only(base, head),
        "begun": only(head, base),
    }
