"""``report.md``: the document for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pruner.report.summary import summary, upstream
from pruner.report.text import cell, code, number, share, table

TOP = 25  # rows of the tables that could be long
WHOLE = "All of it is in `report.json`."


def report_markdown(document: Mapping[str, Any]) -> str:
    """The whole page; deterministic, bounded, no source text."""
    sections: Sequence[tuple[str, list[str]]] = (
        ("In short", table(("", ""), summary(document))),
        ("By language", _pairs(document["by_language"], "language")),
        ("By cause", _causes(document)),
        ("Folders that lost most", _folders(document)),
        ("Rules that removed most", _rules(document)),
        ("Removed, by kind", _kinds(document)),
        ("Capabilities", _capabilities(document)),
        ("Names that should be gone", _residue(document)),
        ("Dependencies that went", _packaging(document)),
        ("Overlay", _overlay(document)),
        ("Findings", _findings(document)),
        ("Checks", _verdicts(document)),
    )
    out = [f"# Pruned {cell(upstream(document))}"]
    for title, body in sections:
        if body:
            out += ["", f"## {title}", "", *body]
    out += ["", "## By folder", "", *_pairs(document["by_folder"], "folder")]
    return "\n".join(out) + "\n"


def _pairs(rows: Sequence[Mapping[str, Any]], name: str) -> list[str]:
    heads = (name, ">files before", ">after", ">lines before", ">after", ">removed", ">kept")
    return table(heads, [_pair(row, name) for row in rows])


def _pair(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    files, lines = row["files"], row["lines"]
    label = code(row[name]) if name == "folder" else row[name]
    figures = (files["before"], files["after"], lines["before"], lines["after"], lines["before"] - lines["after"])
    return (label, *map(number, figures), share(lines["after"], lines["before"]))


def _causes(document: Mapping[str, Any]) -> list[str]:
    rows = sorted(document["by_cause"], key=lambda row: (-row["removed"], row["cause"]))
    cells: list[tuple[str, ...]] = [
        (
            code(row["cause"]),
            number(row["removed"]),
            number(row["added"]),
            number(row["files"]),
            number(row["edited_files"]),
        )
        for row in rows[:TOP]
    ]
    if rest := rows[TOP:]:
        sums = [number(sum(row[key] for row in rest)) for key in ("removed", "added")]
        cells.append((f"{number(len(rest))} more", *sums, "", ""))
    lines = document["totals"]["lines"]
    gone, new = (number(sum(row[key] for row in rows)) for key in ("removed", "added"))
    out = table(("cause", ">lines removed", ">lines added", ">whole files", ">edited files"), cells)
    return [*out, "", f"{gone} removed, {new} added: {number(lines['before'])} → {number(lines['after'])}."]


def _folders(document: Mapping[str, Any]) -> list[str]:
    lost = [row for row in document["by_folder"] if row["lines"]["before"] > row["lines"]["after"]]
    lost.sort(key=lambda row: (row["lines"]["after"] - row["lines"]["before"], row["folder"]))
    return _pairs(lost[:TOP], "folder") if lost else ["Nothing was removed."]


def _rules(document: Mapping[str, Any]) -> list[str]:
    used = [row for row in document["rules"] if row["lines"] or row["removals"] or row["folds"]]
    used.sort(key=lambda row: (-row["lines"], row["id"]))
    cells = [
        (
            code(row["id"]),
            row["verb"],
            row["location"],
            number(row["folds"]),
            number(row["removals"]),
            number(row["lines"]),
            row["because"],
        )
        for row in used[:TOP]
    ]
    out = table(("rule", "verb", "place", ">folds", ">removals", ">lines", "because"), cells)
    if len(used) > TOP:
        out += ["", f"{number(len(used) - TOP)} more rules removed something. {WHOLE}"]
    return out


def _kinds(document: Mapping[str, Any]) -> list[str]:
    return table(("what", ">removals"), [(what, number(n)) for what, n in document["removed"].items()])


def _capabilities(document: Mapping[str, Any]) -> list[str]:
    """Counts by kind; nothing where the rules name no table of capabilities."""
    found = document.get("capabilities")
    if not found:
        return []
    cells = [
        (row["kind"], number(row["kept"]), number(row["dropped"]), number(row.get("absent", 0)))
        for row in found["rows"]
    ]
    return table(("kind", ">kept", ">dropped", ">not in this release"), cells)


def _residue(document: Mapping[str, Any]) -> list[str]:
    """Spellings before and after, families, and what ``allow`` lets stay; nothing where no rule names any."""
    found = document.get("residue")
    if not found or not found["families"]:
        return []
    spelt = [(code(row["name"]), number(row["before"]), number(row["after"])) for row in found["names"]]
    out = table(("spelling", ">occurrences before", ">after"), spelt) if spelt else []
    words = [
        (code(row["target"]), row["rule"], number(row["names"]), number(row["files"]), number(row["after"]))
        for row in sorted(found["families"], key=lambda row: (-row["after"], row["target"]))
    ]
    out += ["", *table(("family", "rule", ">names left", ">files", ">occurrences"), words)]
    used = [row for row in found["allowed"] if row["count"]]
    cells = [
        (
            " ".join(map(code, row["name"])),
            " ".join(map(code, row["path"])),
            number(row["names"]) + (f" of {number(row['most'])}" if row["most"] else ""),
            number(row["count"]),
            row["reason"],
        )
        for row in used
    ]
    heads = ("allowed", "where", ">names", ">occurrences", "reason")
    out += ["", f"{number(len(used))} entries of `allow`:", "", *table(heads, cells)] if cells else []
    if idle := [row for row in found["allowed"] if not row["count"]]:
        out += ["", "Entries that allow nothing here:", ""]
        out += [f"- {row['rule']}: {code(' '.join(row['name']))} in {code(' '.join(row['path']))}" for row in idle]
    return out


def _packaging(document: Mapping[str, Any]) -> list[str]:
    """Each requirement that removed code alone imported."""
    rows = (document.get("packaging") or {}).get("dropped", ())
    cells = [(code(row["requirement"]), f"{row['files']}", code(row["places"][0])) for row in rows]
    return table(("requirement", "removed files that imported it", "the first"), cells) if rows else []


def _overlay(document: Mapping[str, Any]) -> list[str]:
    """Local changes; they are not in the counts."""
    found = document.get("overlay")
    if not found:
        return []
    cells = [(code(row["name"]), "patch", row["sha256"][:12]) for row in found["patches"]]
    cells += [(code(row["path"]), "file", row["sha256"][:12]) for row in found["files"]]
    touched = ", ".join(code(path) for path in found["patched"][:TOP]) or "nothing"
    return [*table(("name", "what", "sha256"), cells), "", f"Patched: {touched}. Not in the counts above."]


def _findings(document: Mapping[str, Any]) -> list[str]:
    rows = document["findings"]
    if not rows:
        return ["None."]
    cells = [(code(f"{row['path']}:{row['line']}"), row["code"], row["text"], row["advice"]) for row in rows[: 4 * TOP]]
    out = table(("place", "code", "text", "advice"), cells)
    if len(rows) > 4 * TOP:
        out += ["", f"{number(len(rows) - 4 * TOP)} more. {WHOLE}"]
    return out


def _verdicts(document: Mapping[str, Any]) -> list[str]:
    rows = document["verdicts"]
    if not rows:
        return ["Not run."]
    out = table(("check", "result", "covered"), [(row["check"], row["result"], row["covered"]) for row in rows])
    for row in rows:
        if row["details"]:
            out += ["", f"{cell(row['check'])}:", "", *(f"- {cell(text)}" for text in row["details"])]
    return out
