"""The ledger in tables of small integers: 40,000 removals in a few MB, decoded in milliseconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pruner.model import Removal
from pruner.report.count import FileCount

KINDS = {
    "unreached": "nothing that stays uses it",
    "fact": "a test that the rules decide",
    "rule": "a rule drops it",
    "orphan": "its last user went",
    "notice": "a licence notice was put in",
    "guard": "a guard was put in",
    "generated": "written by prune",
}


class _Table:
    """Strings, or tuples, numbered in the order they come."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._index: dict[Any, int] = {}

    def add(self, value: Any) -> int:
        index = self._index.setdefault(value, len(self.rows))
        if index == len(self.rows):
            self.rows.append(value)
        return index


def payload(document: Mapping[str, Any], counts: Sequence[FileCount], removals: Iterable[Removal]) -> dict[str, Any]:
    """The page's data. ``removals`` must be sorted; -1 stands for "the file is not there".

    ``files``: [folder, name, language, lines before, lines after, [share, removed, added, ...]].
    ``rows``: [file, first line, last line, what, name, cause]. ``shares`` and ``causes`` are
    [kind, [rule, ...]] and [kind, [rule, ...], [sentence, ...]]. All but lines and names are
    indexes into the tables of the same page.
    """
    folders, languages, whats, sentences = _Table(), _Table(), _Table(), _Table()
    rules, shares, causes = _Table(), _Table(), _Table()
    place = {row.path: number for number, row in enumerate(counts)}
    files = []
    for row in counts:
        folder, _, name = row.path.rpartition("/")
        used = []
        for share in row.shares:
            used += [shares.add((share.kind, tuple(map(rules.add, share.rules)))), share.removed, share.added]
        before = -1 if row.lines_before is None else row.lines_before
        after = -1 if row.lines_after is None else row.lines_after
        files.append([folders.add(folder), name, languages.add(row.language), before, after, used])
    rows = []
    for item in removals:
        cause = item.cause
        names = tuple(map(rules.add, cause.rules))
        number = causes.add((cause.kind, names, tuple(map(sentences.add, cause.chain))))
        rows.append([place[item.path], item.first, item.last, whats.add(item.what), item.name, number])
    known = {rule["id"]: rule for rule in document["rules"]}
    return {
        "folders": folders.rows,
        "languages": languages.rows,
        "whats": whats.rows,
        "sentences": sentences.rows,
        "rules": [_rule(known.get(name), name) for name in rules.rows],
        "kinds": KINDS,
        "shares": shares.rows,
        "causes": causes.rows,
        "files": files,
        "rows": rows,
    }


def _rule(rule: Mapping[str, Any] | None, name: str) -> list[str]:
    return [name, rule["verb"], rule["because"], rule["location"]] if rule else [name, "", "", ""]
