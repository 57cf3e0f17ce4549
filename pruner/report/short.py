"""The comparison of two runs in a few sentences: what a reviewer must not miss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pruner.report.text import code, number

FEW = 3


def in_short(document: Mapping[str, Any]) -> Iterator[str]:
    """One sentence each on platforms, what came in and why, what went, capabilities, growth, loads."""
    yield _platforms([row for row in document["platforms"] if row["company"]])
    yield from _came(document["modules"])
    yield _went(document["modules"])
    yield _able(document["capabilities"])
    if document["growth"]:
        rows = [f"{code(row['node'])} ({row['grown']:+,} lines)" for row in document["growth"][:FEW]]
        yield f"Grew most, by what it alone holds: {', '.join(rows)}."
    predicates = document["predicates"]
    unspoken = sum(not row["spoken"] for row in predicates)
    yield (
        f"{number(len(predicates))} new predicates are kept, {number(unspoken)} of them without a rule; "
        f"{number(len(document['loads']))} files load modules by a computed name where they did not."
    )


def _platforms(rows: list[Mapping[str, Any]]) -> str:
    if not rows:
        return "No new platform."
    said = []
    for row in rows[:FEW]:
        rule = {"denied": "the rules deny it", "asked": "a rule asks for it"}.get(
            row["rules"], "**no rule speaks of it**"
        )
        said.append(f"{code(row['word'])} ({rule}, {number(row['kept'])} names kept)")
    more = f" and {len(rows) - FEW} more" if len(rows) > FEW else ""
    return f"New platforms or devices upstream: {', '.join(said)}{more}."


def _came(modules: Mapping[str, Any]) -> Iterator[str]:
    """Three parts: new upstream, rules that ended, rules that hold and no longer suffice."""
    why = modules["why"]
    if not why:
        yield "No module is newly kept."
        return
    fresh = [row for row in why if row["was"] == "not there"]
    ended = [row for row in why if row["was"] != "not there" and not row["in_force"]]
    still = [row for row in why if row["in_force"]]
    parts = [f"{_sum(fresh)} are new upstream"] if fresh else []
    if ended:
        parts.append(f"{_sum(ended)} were removed by rules that do not speak of this release ({_rules(ended)})")
    if still:
        parts.append(f"{_sum(still)} are used in another way now although the rule holds ({_rules(still)})")
    yield f"Newly kept: {_sum(why)}. Of them " + "; ".join(parts) + "."


def _sum(rows: list[Mapping[str, Any]]) -> str:
    return f"{number(sum(r['modules'] for r in rows))} modules ({number(sum(r['lines'] for r in rows))} lines)"


def _rules(rows: list[Mapping[str, Any]]) -> str:
    named = [code(rule) for row in rows for rule in row["rules"]]
    return ", ".join(named[:FEW]) + (f" and {len(named) - FEW} more" if len(named) > FEW else "")


def _went(modules: Mapping[str, Any]) -> str:
    cut, gone = modules["newly_removed"], modules["gone_upstream"]
    if not cut and not gone:
        return "No module was lost."
    return (
        f"No longer kept: {number(len(cut))} modules ({number(sum(r['lines'] for r in cut))} lines) that upstream still "
        f"has, {number(len(gone))} ({number(sum(r['lines'] for r in gone))} lines) that upstream itself removed."
    )


def _able(found: Mapping[str, Any]) -> str:
    offers = found["offers"].values()
    lost = [f"{row['kind']} {code(row['key'])}" for row in found["table"] if row["before"] == "kept"]
    came = [f"{row['kind']} {code(row['key'])}" for row in found["table"] if row["after"] == "kept"]
    counts = [number(sum(len(row[key]) for row in offers)) for key in ("gained", "lost_to_the_cut", "lost_upstream")]
    out = (
        f"Options, choices, routes and models: {counts[0]} gained, {counts[1]} lost to the cut, "
        f"{counts[2]} no longer upstream."
    )
    for word, rows in (("no longer there", lost), ("newly there", came)):
        if rows:
            more = f" and {len(rows) - 2 * FEW} more" if len(rows) > 2 * FEW else ""
            out += f" Of the table of capabilities {word}: {', '.join(rows[: 2 * FEW])}{more}."
    return out
