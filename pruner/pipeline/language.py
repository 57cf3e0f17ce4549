"""Rules on their own: superfluous ones, and what the last run says of each rule and fact."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pruner.errors import PruneError, cannot
from pruner.model import Fact, Finding, Policy, Target
from pruner.pipeline import stored
from pruner.policy import load, matches

_SHOWN = 20


def check(files: Sequence[Path], reports: Path) -> tuple[list[Finding], str]:
    """Findings of rule files (their faults raise PruneError), and a sentence on what was looked at."""
    policy = load(files)
    found = [*_superfluous_facts(policy), *_superfluous_targets(policy)]
    count = f"{len(policy.rules)} rules in {len(policy.files)} files, {len(policy.facts)} facts"
    try:
        last = Language(reports)
    except PruneError:
        note = f"{count}; what matches nothing is known after a run"
    else:
        if last.document["policy"]["digest"] == policy.digest:
            idle = [row for row in last.document["findings"] if row["code"] == "PR012"]
            found += [Finding(r["code"], r["path"], r["line"], r["text"], r["advice"]) for r in idle]
            note = f"{count}; {len(idle)} matched nothing in the last run"
        else:
            note = f"{count}; the last run had other rules, so what matches nothing is not known"
    rows = [Finding(f.code, policy.shown.get(f.path, f.path), f.line, f.text, f.advice) for f in found]
    return sorted(set(rows), key=lambda f: (f.path, f.line, f.code, f.text)), note


def _window(policy: Policy, rule: str) -> tuple[object, object, object]:
    known = policy.by_id[rule]
    return known.since, known.until, known.device


def _superfluous_facts(policy: Policy) -> Iterator[Finding]:
    """``f('X'): false`` beside ``f(...): false``, or one subject twice with the same values."""
    by_subject: dict[str, list[Fact]] = {}
    for fact in policy.stated:
        by_subject.setdefault(fact.subject, []).append(fact)
    for fact in policy.stated:
        wider: list[Fact] = []
        if fact.subject.endswith(")") and not fact.subject.endswith("(...)"):
            wider += by_subject.get(fact.subject.rpartition("(")[0] + "(...)", ())
        wider += [f for f in by_subject[fact.subject] if (f.rule, f.location) < (fact.rule, fact.location)]
        for other in wider:
            same = (other.values, other.valid_from) == (fact.values, fact.valid_from)
            if same and _window(policy, other.rule) == _window(policy, fact.rule):
                text = f"{fact.subject} (rule {fact.rule}) is said already by {other.subject}"
                yield _finding(fact, text, policy, other.rule, other.location.line)
                break


def _superfluous_targets(policy: Policy) -> Iterator[Finding]:
    for verb in ("roots", "keeps", "drops", "discards"):
        rows: tuple[Target, ...] = getattr(policy, verb)
        patterns = [t for t in rows if t.kind == "module" and "*" in t.text]
        exact: dict[tuple[str, str], Target] = {}
        for target in rows:
            wider: Target | None = exact.setdefault((target.kind, target.text), target)
            if wider is target and target.kind == "module" and "*" not in target.text:
                wider = next((p for p in patterns if p is not target and matches(p.text, target.text)), target)
            if (
                wider is not target
                and wider is not None
                and _window(policy, wider.rule) == _window(policy, target.rule)
            ):
                text = f"{target.text} (rule {target.rule}) is covered by {wider.text}"
                yield _finding(target, text, policy, wider.rule, wider.location.line)


def _finding(row: Fact | Target, text: str, policy: Policy, rule: str, line: int) -> Finding:
    where = policy.by_id[rule].location.file
    return Finding("PR017", row.location.file, row.location.line, f"{text} ({where}:{line})", "take one of the two out")


class Language:
    """What the last run left about rules and facts. Raises PruneError PR307 when there was none."""

    def __init__(self, reports: Path) -> None:
        self.reports = reports
        self.document = self._read("report.json")
        self.known = self._read(stored.FACTS)
        if self.known.get("format") != stored.FACTS_FORMAT:
            raise cannot(str(reports / stored.FACTS), "PR307", "is of another version of prune", "run prune again")

    def _read(self, name: str) -> dict[str, Any]:
        return stored.read(self.reports, name)

    @property
    def release(self) -> str:
        """What the last run worked on, for a heading."""
        origin = self.document["upstream"]
        return " ".join(part for part in (origin["name"], origin["version"]) if part) or "a tree without a name"

    def rows(self) -> list[dict[str, Any]]:
        """Every rule with its figures; ``matched`` is false for those that a finding PR012 names."""
        idle = {row["text"].split()[1] for row in self.document["findings"] if row["code"] == "PR012"}
        return [{**row, "matched": row["id"] not in idle} for row in self.document["rules"]]

    def facts(self, subject: str, rule: str | None = None) -> list[dict[str, Any]]:
        """Facts whose subject holds a text, or those of one rule."""
        return [
            row for row in self.known["facts"] if subject in row["subject"] and (rule is None or row["rule"] == rule)
        ]

    def open_stores(self) -> list[Any]:
        """(path, line) of stores of a computed name into an object whose class nobody knows."""
        return list(self.known["open_stores"])

    def fact_lines(self, rows: Sequence[dict[str, Any]], full: bool) -> list[str]:
        """For a person: one line a fact, and its stores; all of them when ``full``."""
        counts = Counter(row["status"] for row in rows)
        lines = [f"{self.release}: " + (", ".join(f"{n} {word}" for word, n in sorted(counts.items())) or "no facts")]
        for row in rows:
            standing = Counter(store[3] for store in row["stores"])
            told = ", ".join(f"{n} {word}" for word, n in sorted(standing.items()))
            told = f"; stores: {told}" if told else ""
            lines.append(f"{row['status']:10} {row['subject']} = {_values(row)}")
            lines.append(f"           {row['rule']} ({row['location']}); {_asked(row)}{told}")
            if full:
                lines.append(f"           because: {row['because']}")
                lines += [f"           asked in {module}" for module in row["readers"]]
            for path, line, text, word in row["stores"]:
                if full or word == "breaks":
                    lines.append(f"           {word}: {path}:{line} ({text})")
        if self.open_stores():
            lines.append(
                f"{len(self.open_stores())} stores have a computed name and an object whose class nobody knows;"
                " no fact is judged by them (--json lists them)"
            )
        return lines

    def explain(self, name: str) -> dict[str, Any]:
        """One rule: what it says, matched and did. Raises PruneError PR308 for a rule the run did not have."""
        rules = {row["id"]: row for row in self.rows()}
        if name not in rules:
            near = difflib.get_close_matches(name, rules, 3)
            advice = f"nearest: {', '.join(near)}" if near else "prune rules list shows them"
            raise cannot(name, "PR308", "is no rule of the last run", advice)
        row = rules[name]
        facts = self.facts("", name)
        ledger = [r for r in self._read("ledger.json")["removals"] if name in r["cause"]["rules"]]
        lines = [f"{name} ({row['location']}), {row['verb']}: {row['because']}"]
        lines.append(
            f"on {self.release}: {row['folds']} places folded, {row['removals']} removals, {row['lines']} lines"
            + ("" if row["matched"] else "; it matches nothing")
        )
        for fact in facts:
            lines.append(f"  fact {fact['subject']} = {_values(fact)}: {fact['status']}, {_asked(fact)}")
        kinds = Counter(r["what"] for r in ledger)
        if kinds:
            lines.append("  removed: " + ", ".join(f"{n} {what}" for what, n in sorted(kinds.items())))
        ledger.sort(key=lambda r: (r["lines"][0] - r["lines"][1], r["path"], r["lines"][0]))
        for item in ledger[:_SHOWN]:
            label = f" {item['name']}" if item["name"] and item["name"] != item["path"] else ""
            lines.append(f"  {item['path']}:{item['lines'][0]}-{item['lines'][1]}: {item['what']}{label}")
        if len(ledger) > _SHOWN:
            lines.append(f"  and {len(ledger) - _SHOWN} more (ledger.json)")
        return {"rule": row, "facts": facts, "removals": ledger, "lines": lines}


def _asked(row: dict[str, Any]) -> str:
    """Who asked for a fact, and how many places it decided."""
    asked, folds = len(row["readers"]), row["folds"]
    if not asked and not folds:
        return "not asked"
    where = f"asked in {asked} module{'s' if asked != 1 else ''}, " if asked else ""
    return f"{where}folded {folds} place{'s' if folds != 1 else ''}"


def _values(row: dict[str, Any]) -> str:
    values = row["values"]
    if isinstance(values, dict):
        low, high = values["low"], values["high"]
        return f"{'' if low is None else low}..{'' if high is None else high}"
    text = json.dumps(values[0]) if len(values) == 1 else json.dumps(values)
    return text + (f" from {row['valid_from']} on" if "valid_from" in row else "")
