"""The few figures that a person wants at the end of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pruner.report.text import number, share


def summary(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(label, value) rows for the console's last table, in the order to show them."""
    totals = document["totals"]
    rows = [("upstream", upstream(document)), ("rules", _rules(document))]
    rows += [
        ("Python lines", change(totals["python"]["lines"])),
        ("Python files", change(totals["python"]["files"])),
        ("all lines", change(totals["lines"])),
        ("all files", change(totals["files"])),
        ("files", files(totals)),
        ("folds", number(totals["folds"])),
        ("definitions removed", definitions(document)),
        *_capabilities(document),
        ("findings", number(len(document["findings"]))),
        ("checks", checks(document)),
    ]
    return rows


def upstream(document: Mapping[str, Any]) -> str:
    """``sglang 0.5.17 (wheel)``."""
    origin = document["upstream"]
    return " ".join(filter(None, (origin["name"], origin["version"], f"({origin['kind']})")))


def change(pair: Mapping[str, int]) -> str:
    """``1,169,747 → 560,000 (47.9% kept)``."""
    return f"{number(pair['before'])} → {number(pair['after'])} ({share(pair['after'], pair['before'])} kept)"


def files(totals: Mapping[str, int]) -> str:
    """How many files travelled, changed, went and came."""
    words = ("untouched", "edited", "removed", "added")
    return ", ".join(f"{number(totals[f'{word}_files'])} {word}" for word in words)


def definitions(document: Mapping[str, Any]) -> str:
    """Removed definitions inside kept files, by what they were."""
    found = [f"{number(n)} {what}" for what, n in document["removed_definitions"].items() if n]
    return ", ".join(found) or "none"


def _capabilities(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Capabilities kept of those that upstream has; no row where the rules name no table."""
    rows = document.get("capabilities", {}).get("rows", ())
    kept, dropped = (sum(row[what] for row in rows) for what in ("kept", "dropped"))
    return [("capabilities", f"{number(kept)} kept, {number(dropped)} dropped by rules")] if rows else []


def checks(document: Mapping[str, Any]) -> str:
    """``4 passed, 0 refuted, 1 not run``: a check that did not run must never look like one that passed."""
    results = Counter(row["result"] for row in document["verdicts"])
    if not results:
        return "not run"
    return ", ".join(f"{results[word]} {word}" for word in ("passed", "refuted", "not run"))


def _rules(document: Mapping[str, Any]) -> str:
    used = sum(bool(rule["folds"] or rule["removals"]) for rule in document["rules"])
    return f"{number(len(document['rules']))} ({number(used)} removed something)"
