"""Check ``capabilities``: what the project's table keeps is there, with the place that shows it.

Reads the table and its places as the rule files name them, then both trees. Blind to whether what is
there works: that is for the checks of behaviour.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from pruner.errors import cannot
from pruner.verify.catalogue import Catalogue
from pruner.verify.rules import Stated, covers, speaks

_TEXT = re.compile(r'([\w.]+) "(.+)"')


@dataclass(frozen=True, slots=True)
class Row:
    """One capability. ``status`` is ``kept``, ``dropped`` or ``absent`` (not in this release)."""

    kind: str
    key: str
    expected: str  # what the table wants: "keep" or "drop"
    status: str
    upstream: tuple[str, ...] = ()  # path:line
    kept: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()  # upstream's places of a kept capability that the output has not
    rules: tuple[str, ...] = ()  # that drop it
    generations: tuple[str, ...] = ()
    note: str = ""


@dataclass(slots=True)
class Wanted:
    """The table and where its rows stand in a tree."""

    rows: list[tuple[str, str, str, str]] = field(default_factory=list)  # kind, key, keep or drop, note
    kinds: dict[str, Any] = field(default_factory=dict)
    generations: tuple[str, ...] = ()
    column: str = ""


def read(rules: Sequence[Path]) -> Wanted | None:
    """The capabilities that the first rule file, in the order of ``extends``, names; None when none does."""
    queue, seen = [Path(path) for path in rules], set()
    while queue:
        path = queue.pop(0)
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        document = _yaml(path)
        named = document.get("capabilities")
        if named:
            return _wanted(path.parent / str(named["places"]), str(named["column"]))
        queue.extend(path.parent / str(other) for other in document.get("extends") or ())
    return None


def _yaml(path: Path) -> dict[str, Any]:
    try:
        return dict(YAML(typ="safe", pure=True).load(path.read_text("utf-8")) or {})
    except (OSError, YAMLError, UnicodeDecodeError, TypeError, ValueError) as error:
        raise cannot(path.name, "PR401", f"the verifier cannot read it: {error}") from error


def table_of(path: Path) -> Path:
    """The table that a file of places names. Raises PruneError when the file cannot be read."""
    return _table(path, _yaml(path))


def _table(path: Path, places: dict[str, Any]) -> Path:
    return path.parent / str(places.get("table", ""))


def _wanted(path: Path, column: str) -> Wanted:
    places = _yaml(path)
    table = _table(path, places)
    try:
        with table.open(encoding="utf-8", newline="") as stream:
            rows = [(r["kind"], r["key"], r[column], r.get("note") or "") for r in csv.DictReader(stream)]
    except (OSError, KeyError, csv.Error) as error:
        text = f"the capabilities' table or its column {column!r} cannot be read: {error}"
        raise cannot(table.name, "PR404", text, f"name one of its columns in 'capabilities' of {path.name}") from error
    return Wanted(rows, places.get("kinds") or {}, tuple(map(str, places.get("generations") or ())), column)


def judge(wanted: Wanted, up: Catalogue, out: Catalogue, stated: Stated) -> list[Row]:
    """Every row of the table against both trees."""
    work = _Judge(wanted, up, out, stated)
    return [work.row(*row) for row in wanted.rows]


def problems(rows: Sequence[Row]) -> list[str]:
    """Rows that are to be kept, that no rule drops, and that are not shown to be there."""
    return [
        f"{place}: {row.kind} {row.key} is to be kept, and this of it is gone without a rule that drops it"
        for row in rows
        if row.expected == "keep"
        for place in row.lost
    ]


def disputed(rows: Sequence[Row]) -> list[Row]:
    """Rows that the table keeps and a rule drops: the two do not agree."""
    return [row for row in rows if row.expected == "keep" and row.status == "dropped" and row.rules]


def said(rows: Sequence[Row]) -> str:
    """What the check looked at, for a person."""
    count = {status: sum(row.status == status for row in rows) for status in ("kept", "dropped", "absent")}
    more = sum(row.status == "kept" and row.expected == "drop" for row in rows)
    return (
        f"{len(rows)} capabilities: {count['kept']} kept with evidence, {count['dropped']} dropped, "
        f"{count['absent']} not in this release; {more} kept that need not be"
    )


class _Judge:
    def __init__(self, wanted: Wanted, up: Catalogue, out: Catalogue, stated: Stated) -> None:
        self.wanted, self.up, self.out, self.stated = wanted, up, out, stated

    def row(self, kind: str, key: str, expected: str, note: str) -> Row:
        """One capability."""
        places = self.wanted.kinds.get(kind) or {}
        before: dict[str, str] = {}
        after: dict[str, str] = {}
        rules: set[str] = set()
        for name in key.split():  # two parsers of one family share a row
            for table in _many(places.get("tables")):
                was = (self.up.entries(table) or {}).get(name)
                now = (self.out.entries(table) or {}).get(name)
                if was is not None:
                    before[f"{table}[{name}]"] = f"{was.path}:{was.line}"
                    rules |= _of_entry(self.stated.without, table, name)
                    if now is not None:
                        after[f"{table}[{name}]"] = f"{now.path}:{now.line}"
                    else:
                        rules |= _of_entry(self.stated.drops, table, name)
            self._classes(places.get("classes"), name, before, after, rules)
            for target in self._places((places.get("symbols") or {}).get(name)):
                self._symbol(target, before, after, rules)
        # A dropped choice cannot be asked for, whatever else of it something else still needs.
        status = "absent" if not before else "kept" if after and not rules else "dropped"
        lost = [] if rules or status == "absent" else sorted(before[k] for k in before.keys() - after.keys())
        chosen = (places.get("generations") or {}).get(key) or self.wanted.generations
        return Row(
            kind, key, expected, status, tuple(sorted(before.values())), tuple(sorted(after.values())), tuple(lost),
            tuple(sorted(rules)), tuple(map(str, chosen)), note,
        )  # fmt: skip

    def _classes(self, place: Any, name: str, before: dict[str, str], after: dict[str, str], rules: set[str]) -> None:
        if not place:
            return
        package, attribute = str(place["package"]), str(place["attribute"])
        was = self.up.offered(package, attribute).get(name)
        if was is None:
            return
        before[name] = f"{was[1].path}:{was[1].line}"
        now = self.out.offered(package, attribute).get(name)
        if now is not None:
            after[name] = f"{now[1].path}:{now[1].line}"
        else:
            rules |= self._module_rules(was[0])
            rules |= {rule for rule, walked, _, _ in self.stated.dynamics if walked == package}

    def _places(self, value: Any) -> list[str]:
        """Places of a key that speak of this release: a text, or ``{place: .., since: .., until: ..}``."""
        rows = value if isinstance(value, list) else [] if value is None else [value]
        return [
            str(row["place"]) if isinstance(row, dict) else str(row)
            for row in rows
            if not isinstance(row, dict) or speaks(row, self.stated.version)
        ]

    def _symbol(self, target: str, before: dict[str, str], after: dict[str, str], rules: set[str]) -> None:
        text = _TEXT.fullmatch(target)
        was = self.up.literal(*text.groups()) if text else self.up.symbol(target)
        if was is None:
            return
        before[target] = f"{was.path}:{was.line}"
        now = self.out.literal(*text.groups()) if text else self.out.symbol(target)
        if now is not None:
            after[target] = f"{now.path}:{now.line}"
        else:
            module = target.partition(":")[0]
            rules |= self._module_rules(module)
            rules |= {r for r, walked, _, _ in self.stated.dynamics if module.rpartition(".")[0] == walked}
            rules |= {rule for rule, dropped in self.stated.drops if dropped == target}

    def _module_rules(self, module: str) -> set[str]:
        path = self.up.paths[module][0] if module in self.up.paths else ""
        found = set()
        for rule, text in self.stated.drops:
            if text.startswith("path:"):
                if path and fnmatchcase(path, text[5:].strip()):
                    found.add(rule)
            elif "[" not in text and ":" not in text and covers(text, module):
                found.add(rule)
        return found


def _of_entry(stated: Sequence[tuple[str, str]], table: str, key: str) -> set[str]:
    """Rules that name this entry of this table."""
    found = set()
    for rule, text in stated:
        head, bracket, glob = text.partition("[")
        if bracket and head.replace(":", ".") == table and fnmatchcase(key, glob.rstrip("]").strip("\"'")):
            found.add(rule)
    return found


def _many(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(v) for v in value] if isinstance(value, list) else [str(value)]
