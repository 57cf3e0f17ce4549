"""The surface: what outsiders see is upstream's, but for choices and table entries that rules drop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from pruner.verify.behaviour.licence import GUARD, Licences, same_process

MOST_OPTIONS = 40  # of the server that may have fewer choices; more is another product
# Nothing of these may differ.
EQUAL = ("routes", "openapi", "fields", "public", "messages", "environment", "metrics")
_METHODS = ("def ", "staticmethod ", "classmethod ")


class Surface:
    """Judges dumps and client commands."""

    def __init__(self, licences: Licences) -> None:
        self.licences = licences
        self.counts: Counter[str] = Counter()
        # What is gone by rule, by where it was: choices of an option, or an application.
        self.choices: dict[str, dict[str, str]] = {}
        self.applications: dict[str, str] = {}

    def judge(self, up: dict[str, Any], out: dict[str, Any]) -> Iterator[str]:
        """Problems of the simulated server."""
        for part, found in out.items():
            if isinstance(found, dict) and found.keys() == {"failure"} and found != up[part]:
                yield f"{part}: {found['failure']['error']}: {found['failure']['text']} ({found['failure']['where']})"
                out = {**out, part: up[part]}  # nothing more is to be said of it
        for part in EQUAL:
            before, after = up[part], out[part]
            if part in ("routes", "openapi"):
                before, after = (
                    {n: row for n, row in side.items() if not self._dropped(n)} for side in (before, after)
                )
            if part == "fields":
                before = {name: _outside(row, after.get(name)) for name, row in before.items()}
            if part == "public":
                before = {name: self._standing(row, after.get(name)) for name, row in before.items()}
            self.counts[part] += len(before)
            yield from differences(part, before, after)
        # Tables first: a choice may go because a pattern drops its key from the table that it comes from.
        for name, table in up["tables"].items():
            if not self._without(name, table, out["tables"].get(name)):
                yield from self.licences.differences(name, table, out["tables"].get(name))
        if isinstance(up["server_options"], list):
            yield from self._parser("server", up["server_options"], out["server_options"])
        differing = len(self.choices) + len(self.applications)
        self.counts["options with fewer choices"] = len(self.choices)
        self.counts["applications gone by rule"] = len(self.applications)
        if differing > MOST_OPTIONS:
            yield f"server: {differing} differences by rule, more than {MOST_OPTIONS}"

    def _standing(self, up: Any, out: Any) -> Any:
        """What the output has instead, where that is a stand-in for something of a module that a rule drops."""
        module = str(up).partition(":")[2].rpartition(".")[0]
        if str(out).startswith(f"class:sglang.{GUARD}.{module}") and self.licences.module(module):
            self.licences.counts["stand-in"] += 1
            return out
        return up

    def _without(self, name: str, table: Any, found: Any) -> bool:
        """Is a table that cannot be asked for one of a module that a rule drops?"""
        if (
            not isinstance(found, dict)
            or found.keys() != FAILED
            or (isinstance(table, dict) and table.keys() == FAILED)
        ):
            return False
        module = name.rpartition(".")[0]
        while module and not self.licences.module(module):
            module = module.rpartition(".")[0]
        if module:
            self.licences.counts["rule"] += 1
            for key in table if isinstance(table, dict) else ():
                self.licences.by_rule(name, key)  # an option may choose from them
        return bool(module)

    def _dropped(self, application: str) -> bool:
        """Is the module of an application gone by a rule that drops it?"""
        rule = self.licences.module(application)
        if rule:
            self.applications[application] = rule
        return bool(rule)

    def notes(self) -> list[str]:
        """One sentence for each option or application that has less, with the rules."""
        rows = [f"application {name} is gone: {rule}" for name, rule in self.applications.items()]
        same: dict[tuple[str, str], list[str]] = {}  # option and what it lost: where
        for where, choices in self.choices.items():
            by: dict[str, list[str]] = {}
            for choice, rule in choices.items():
                by.setdefault(rule, []).append(choice)
            lost = "; ".join(f"{', '.join(names)} ({rule})" for rule, names in sorted(by.items()))
            same.setdefault((where.rpartition(" ")[2], lost), []).append(where)
        for (option, lost), places in same.items():
            where = places[0] if len(places) == 1 else f"{option} of {len(places)} commands"
            rows.append(f"{where}: gone are {lost}")
        return rows

    def clients(self, up: dict[str, Any], out: dict[str, Any]) -> Iterator[str]:
        """Problems of commands on a host without a GPU."""
        for command, before in up.items():
            after = out[command]
            self.counts["commands"] += 1
            if "crash" in before or "crash" in after:
                yield f"{command}: {after.get('crash', 'ran')}; upstream: {before.get('crash', 'ran')}"
                continue
            if "error" in after and self.licences.unasked(command.partition(" ")[0].partition(":")[0]):
                self.counts["commands that no rule asks for"] += 1
                continue
            if outcome(before) != outcome(after):
                yield f"{command}: {said(after)}; upstream: {said(before)}"
                continue
            if len(before["parsers"]) != len(after["parsers"]):
                yield f"{command}: {len(after['parsers'])} parsers, upstream {len(before['parsers'])}"
            for one, other in zip(before["parsers"], after["parsers"], strict=False):
                yield from self._parser(command, one, other)
        self.counts["options with fewer choices"] = len({where.rpartition(" ")[2] for where in self.choices})

    def _parser(self, where: str, up: list[dict[str, Any]], out: list[dict[str, Any]]) -> Iterator[str]:
        before = {" ".join(row["options"]): row for row in up}
        after = {" ".join(row["options"]): row for row in out}
        self.counts["options"] += len(after)
        if list(before) != list(after):
            lost, new = [o for o in before if o not in after], [o for o in after if o not in before]
            yield (
                f"{where}: options lost {lost}, new {new}" if lost or new else f"{where}: the order of options changed"
            )
        for option in before.keys() & after.keys():
            yield from self._option(f"{where} {option}", before[option], after[option])

    def _all_gone(self, where: str, choices: list[str]) -> dict[str, str]:
        """The rules that took each of the choices; {} where one of them went without."""
        found = {choice: self.licences.typed(where, choice) for choice in choices}
        return found if all(found.values()) else {}

    def _option(self, where: str, up: dict[str, Any], out: dict[str, Any]) -> Iterator[str]:
        for part in sorted(up):
            if part == "parsers":
                if sorted(up[part]) != sorted(out[part]):
                    yield f"{where}: sub-commands {sorted(out[part])}, upstream {sorted(up[part])}"
                for name in sorted(up[part].keys() & out[part].keys()):
                    yield from self._parser(f"{where} {name}", up[part][name], out[part][name])
            elif part != "choices":
                if up[part] != out[part]:
                    yield f"{where}: {part} {up[part]!r} became {out[part]!r}"
            elif up[part] and out[part] is None and (rules := self._all_gone(where, up[part])):
                self.choices[where] = rules  # a parser takes an empty list for none
            elif up[part] is None or out[part] is None:
                if up[part] != out[part]:
                    yield f"{where}: choices {up[part]} became {out[part]}"
            else:
                yield from (f"{where}: choice {c} is new" for c in out[part] if c not in up[part])
                for choice in up[part]:
                    if choice in out[part]:
                        continue
                    if rule := self.licences.typed(where, choice):
                        self.choices.setdefault(where, {})[choice] = rule
                    else:
                        yield f"{where}: choice {choice} is lost, and no rule names it"
                if not out[part]:
                    yield f"{where}: no choice is left"


FAILED = {"error", "text", "where"}


def _outside(row: dict[str, Any], other: dict[str, Any] | None) -> dict[str, Any]:
    """A class without the methods of its own use that the other side lacks.

    ``_validate_x`` that only a folded branch called is no surface; the check ``names`` asks who licenses its loss.
    """
    left = (other or {}).get("members", row.get("members", {}))
    members = {
        name: value
        for name, value in row.get("members", {}).items()
        if name in left or not (name.startswith("_") and not name.endswith("__") and str(value).startswith(_METHODS))
    }
    return {**row, "members": members} if "members" in row else row


def outcome(row: dict[str, Any]) -> tuple[Any, ...]:
    """What must be equal: exit code, exception, whether something was printed."""
    return row["exit"], row.get("error"), row.get("text"), row["lines"] > 0


def said(row: dict[str, Any]) -> str:
    """For a person."""
    if "error" in row:
        return f"{row['error']}: {row['text']} ({row['where']})"
    return f"exit code {row['exit']}"


def differences(path: str, up: Any, out: Any) -> Iterator[str]:
    """Where two JSON values differ."""
    if up == out or same_process(up, out):
        return
    if isinstance(up, dict) and isinstance(out, dict):
        for key in up.keys() | out.keys():
            if key not in out:
                yield f"{path}/{key}: lost"
            elif key not in up:
                yield f"{path}/{key}: upstream has no such thing"
            elif key != "where":
                yield from differences(f"{path}/{key}", up[key], out[key])
    elif isinstance(up, list) and isinstance(out, list) and len(up) == len(out):
        for number, (one, other) in enumerate(zip(up, out, strict=True)):
            yield from differences(f"{path}/{number}", one, other)
    elif isinstance(up, list) and isinstance(out, list):
        yield from (f"{path}: lost {str(row)[:160]}" for row in up if row not in out)
        yield from (f"{path}: new {str(row)[:160]}" for row in out if row not in up)
    else:
        yield f"{path}: {str(up)[:160]} became {str(out)[:160]}"
