"""Argument sets: each resolves as upstream does, field by field, and what was removed is refused."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pruner.verify.behaviour.judge_surface import differences
from pruner.verify.behaviour.licence import Licences
from pruner.verify.behaviour.probe.argument_sets import MAY_GO, REMOVED, RULED, SETS

SETTING = re.compile(r"(\w+) '([^']*)' was removed from this build|(\w+) is (\S+), and this build assumes ")
QUOTED = re.compile(r"'([^']*)'(?:, )?")


class Arguments:
    """Judges the answers of one device. ``elsewhere``: rules say that the build is for others, so it refuses everything."""

    def __init__(self, licences: Licences, *, elsewhere: bool = False) -> None:
        self.licences = licences
        self.elsewhere = elsewhere
        self.words = {name: words.split() for name, _, words in SETS}
        self.counts: Counter[str] = Counter()
        self.removed = {name for name, _, _ in REMOVED}
        self.refused: list[str] = []  # sets that a rule refuses, with the rule

    def judge(self, up: dict[str, Any], out: dict[str, Any]) -> Iterator[str]:
        """Problems, each beginning with a set's name."""
        for name, before in up.items():
            after = out[name]
            if "crash" in before or "crash" in after:
                yield f"{name}: {after.get('crash', 'ran')}; upstream: {before.get('crash', 'ran')}"
            elif self.elsewhere:
                if self.licences.said(refusal(after)) or "failure" in after:
                    self.counts["refused, as for no build of this device"] += 1
                else:
                    yield f"{name}: not refused, and rules say that the build is for another device"
            elif rule := self._asked(name, before, after, up.get("default") or {}):
                self.counts["removed"] += 1
                self.refused.append(f"{name}: refused by {rule}")
            elif name in self.removed or (name in MAY_GO and self.licences.said(refusal(after))):
                self.counts["removed"] += 1
                rule = self.licences.said(refusal(after))
                if rule:
                    self.refused.append(f"{name}: refused by {rule}")
                elif RULED.get(name, "") and RULED[name] not in self.licences.rules:
                    yield from self._set(name, before, after)  # a release of which that rule does not speak
                elif refusal(after) and refusal(after) == refusal(before):
                    self.counts["refused by both"] += 1
                elif refusal(after):
                    yield f"{name}: refused, and the sentence names no rule: {refusal(after)[:200]}"
                else:
                    yield f"{name}: it is not refused"
            else:
                yield from self._set(name, before, after)

    def _asked(self, name: str, before: dict[str, Any], after: dict[str, Any], plain: dict[str, Any]) -> str:
        """The rule by which something is refused that this set asks for, or that upstream would use for it alone.

        What every start has by default is nothing that a set asks for: a build that refuses it can do nothing.
        """
        sentence = refusal(after)
        rule, found = self.licences.said(sentence), SETTING.search(sentence)
        if not rule or found is None or refusal(before):
            return ""
        label, value = found[1] or found[3], found[2] or found[4]
        words = self.words.get(name, [])
        named = value in words or any(label.partition("_")[0] in word.split("-") for word in words if word[:2] == "--")
        used, usual = (row.get("arguments", {}).get(label) for row in (before, plain))
        return rule if named or (str(used) == value and used != usual) else ""

    def _set(self, name: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
        if "failure" in after:
            self.counts["refused by both"] += 1
            if "failure" not in before:
                yield f"{name}: {said(after)}; upstream resolves it"
            elif self.plain(before) != self.plain(after):
                yield f"{name}: {said(after)}; upstream: {said(before)}"
            return
        if "failure" in before:
            yield f"{name}: it resolves; upstream: {said(before)}"
            return
        self.counts["resolved"] += 1
        self.counts["fields"] += len(after["arguments"]) + len(after["view"]) + len(after["model"])
        for part in before:
            yield from differences(f"{name}: {part}", self.plain(before[part]), self.plain(after.get(part)))

    def plain(self, value: Any) -> Any:
        """Without places, and without quoted choices that rules drop: messages list what can be chosen."""
        if isinstance(value, dict):
            failure = value.get("failure")
            if isinstance(failure, dict) and " sha256:" in str(failure.get("text")) and value.get("shown"):
                value = {
                    **value,
                    "failure": {**failure, "text": value["shown"]},
                }  # a list of choices may be long or not
            return {key: self.plain(held) for key, held in value.items() if key not in ("where", "shown")}
        if isinstance(value, list):
            return [self.plain(held) for held in value]
        if isinstance(value, str) and "'" in value:
            return QUOTED.sub(lambda m: "" if self.licences.by_rule("", m[1]) else m[0], value)
        return value


def refusal(row: dict[str, Any]) -> str:
    """The sentence with which some step of the resolution ended; "" when none did."""
    if "failure" in row:
        return f"{row.get('shown') or ''} {row['failure']['text']}".strip()
    for part in (row.get("model") or {}, row.get("checked") or {}, row.get("prepared") or {}):
        for held in (part, (part.get("architecture") or {}) if isinstance(part, dict) else {}):
            if isinstance(held, dict) and "failure" in held:
                return f"{held.get('shown') or ''} {held['failure']['text'] or held['failure']['error']}".strip()
    return ""


def said(row: dict[str, Any]) -> str:
    """For a person."""
    failure = row["failure"]
    shown = f" [{row['shown']}]" if row.get("shown") else ""
    return f"{failure['error']}: {str(failure['text'])[:200]} ({failure['where']}){shown[:200]}"
