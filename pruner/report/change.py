"""``prune diff`` for people: the comparison of two runs on a page, the most telling part first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pruner.report.text import code, number, share, table

SCHEMA = "prune-diff/1"
TOP = 12  # rows of a table
NAMES = 4  # names shown of a longer list


def change_bytes(document: Mapping[str, Any]) -> bytes:
    """The whole document as JSON."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True).encode() + b"\n"


def change_markdown(document: Mapping[str, Any], level: int = 1) -> str:
    """The page. ``level`` is the depth of its first heading."""
    mark = "#" * level
    base, head = document["base"], document["head"]
    out = [f"{mark} The cut from {_title(base)} to {_title(head)}", "", *_figures(base, head)]
    sections: Sequence[tuple[str, list[str]]] = (
        ("New platforms upstream", _platforms(document["platforms"])),
        ("Newly kept, by the edge that brought it in", _entered(document["modules"]["newly_kept"])),
        ("No longer kept", _removed(document["modules"])),
        ("Capabilities", _capabilities(document["capabilities"])),
        ("Definitions that crossed the cut", _definitions(document["definitions"])),
        ("Lines that crossed the cut", _lines(document["lines"])),
        ("What grew most, by retained size", _growth(document["growth"])),
        ("Files that moved most", _files(document["files"])),
        ("New predicates", _predicates(document["predicates"])),
        ("New places that load modules by a computed name", _loads(document["loads"])),
        ("Rules", _rules(document["rules"])),
    )
    for title, body in sections:
        if body:
            out += ["", f"{mark}# {title}", "", *body]
    return "\n".join(out) + "\n"


def _title(side: Mapping[str, Any]) -> str:
    origin = side["upstream"]
    return " ".join(filter(None, (origin["name"], origin["version"]))) or origin["snapshot"][:12]


def _figures(base: Mapping[str, Any], head: Mapping[str, Any]) -> list[str]:
    def row(name: str, pick: Any, kept: Any = None) -> tuple[str, ...]:
        one, two = pick(base), pick(head)
        return (name, number(one), number(two), f"{two - one:+,}")

    rows = [
        row("Python lines upstream", lambda s: s["python"]["before"]),
        row("Python lines kept", lambda s: s["python"]["after"]),
        row("modules kept", lambda s: s["modules"]),
        row("folds", lambda s: s["folds"]),
        row("findings", lambda s: len(s["findings"])),
        row("checks refuted", lambda s: len(s["refuted"])),
    ]
    one, two = (share(s["python"]["after"], s["python"]["before"]) for s in (base, head))
    rows.insert(2, ("share kept", one, two, ""))
    same = base["policy"]["digest"] == head["policy"]["digest"]
    note = "The rules are the same in both." if same else "The rules differ."
    return [*table(("", ">base", ">head", ">change"), rows), "", note]


def _platforms(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return ["None."]
    cells = []
    for row in rows[:TOP]:
        kinds: dict[str, list[Mapping[str, Any]]] = {}
        for item in row["evidence"]:
            kinds.setdefault(item["kind"], []).append(item)
        seen = "; ".join(
            f"{kind} {_some([code(i['name']) for i in items])} ({number(sum(i['upstream'] for i in items))} upstream, "
            f"{number(sum(i['kept'] for i in items))} kept)"
            for kind, items in kinds.items()
        )
        spoken = "yes" if row["a_rule_speaks_of_it"] else "**no**"
        cells.append((code(row["word"]), spoken, row["evidence"][0]["at"], seen))
    return [*table(("word", "a rule speaks of it", "first seen", "evidence"), cells), *_more(rows)]


def _entered(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return ["Nothing."]
    cells = []
    for row in rows[:TOP]:
        members = sorted(row["modules"], key=lambda m: -m["lines"])
        fresh = sum(m["was"] == "not there" for m in members)
        cells.append(
            (
                _edge(row["by"]),
                number(len(members)),
                number(row["lines"]),
                number(fresh),
                _some([code(m["module"]) for m in members]),
            )
        )
    total = sum(len(row["modules"]) for row in rows)
    fresh = sum(m["was"] == "not there" for row in rows for m in row["modules"])
    lines = sum(row["lines"] for row in rows)
    head = (
        f"{number(total)} modules, {number(lines)} lines: {number(fresh)} of them are new upstream, "
        f"{number(total - fresh)} were removed before."
    )
    heads = ("came in by", ">modules", ">lines", ">new upstream", "largest")
    return [head, "", *table(heads, cells), *_more(rows)]


def _removed(modules: Mapping[str, Any]) -> list[str]:
    rows, gone = modules["newly_removed"], modules["gone_upstream"]
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(_cause(row["cause"]), []).append(row)
    ordered = sorted(groups.items(), key=lambda g: (-sum(r["lines"] for r in g[1]), g[0]))
    cells = [
        (cause, number(len(members)), number(sum(r["lines"] for r in members)), _largest(members))
        for cause, members in ordered[:TOP]
    ]
    out = [
        f"{number(len(rows))} modules that upstream still has, and {number(len(gone))} that upstream itself removed "
        f"({number(sum(r['lines'] for r in gone))} lines{', the largest ' + _largest(gone) if gone else ''})."
    ]
    return [*out, "", *table(("cause", ">modules", ">lines", "largest"), cells), *_more(ordered)] if rows else out


def _largest(rows: Sequence[Mapping[str, Any]]) -> str:
    return _some([code(r["module"]) for r in sorted(rows, key=lambda r: (-r["lines"], r["module"]))])


def _capabilities(kinds: Mapping[str, Any]) -> list[str]:
    cells = []
    for kind, row in kinds.items():
        cells.append(
            (
                kind,
                number(row["before"]),
                number(row["after"]),
                *(
                    f"{number(len(row[key]))}{': ' + _some([code(n) for n in row[key]]) if row[key] else ''}"
                    for key in ("gained", "lost_to_the_cut", "lost_upstream")
                ),
            )
        )
    heads = ("kind", ">kept before", ">kept now", "gained", "lost to the cut", "no longer upstream")
    return table(heads, cells) if cells else []


def _definitions(rows: Mapping[str, Any]) -> list[str]:
    kept, removed = rows["newly_kept"], rows["newly_removed"]
    cells = [(code(r["name"]), r["what"], "kept now", _edge(r["by"])) for r in kept[:TOP]]
    largest = sorted(removed, key=lambda r: (-r["lines"], r["name"]))
    cells += [(code(r["name"]), r["what"], "removed now", _cause(r["cause"])) for r in largest[:TOP]]
    head = f"{number(len(kept))} kept now that were removed, {number(len(removed))} removed now that were kept."
    return [head, "", *table(("name", "what", "change", "by"), cells)] if cells else []


def _lines(rows: Sequence[Mapping[str, Any]] | None) -> list[str]:
    if not rows:
        return []
    cells = [
        (f"{r['path']}:{r['lines'][0]}-{r['lines'][1]}", r["change"], _cause(r["cause"]))
        for r in sorted(rows, key=lambda r: (r["lines"][0] - r["lines"][1], r["path"], r["lines"]))[: 2 * TOP]
    ]
    total = {
        word: sum(r["lines"][1] - r["lines"][0] + 1 for r in rows if r["change"] == word)
        for word in ("newly kept", "newly removed")
    }
    head = ", ".join(f"{number(n)} lines {word}" for word, n in total.items()) + "."
    return [head, "", *table(("upstream lines", "change", "the other side's removal"), cells)]


def _growth(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    cells = [
        (code(r["node"]), f"{r['grown']:+,}", number(r["retained"]), _edge(r["by"]) if r["by"] else r["held_by"])
        for r in rows[:TOP]
    ]
    return table(("node", ">grown by", ">holds alone", "reached by"), cells) if cells else []


def _files(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    cells = [(code(r["path"]), f"{r['upstream']:+,}", f"{r['kept']:+,}") for r in rows[:TOP]]
    return [*table(("file", ">upstream lines", ">kept lines"), cells), *_more(rows)] if cells else []


def _predicates(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    cells = [
        (code(r["defined"]), "yes" if r["spoken"] else "no", number(r["beside"]), number(r["kept"]), r["at"])
        for r in rows[:TOP]
    ]
    heads = ("defined", "a rule speaks of it", ">lines beside a rule's subject", ">kept", "first seen")
    return [*table(heads, cells), *_more(rows)] if cells else []


def _loads(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    cells = [(code(r["path"]), r["callee"], ", ".join(map(str, r["lines"]))) for r in rows[:TOP]]
    return [*table(("file", "call", "generated lines"), cells), *_more(rows)] if cells else ["None."]


def _rules(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    cells = []
    for row in rows[:TOP]:
        pairs = [
            f"{'-' if a is None else number(a)} → {'-' if b is None else number(b)}"
            for a, b in (row[key] for key in ("lines", "removals", "folds"))
        ]
        cells.append((code(row["id"]), *pairs))
    return [*table(("rule", ">lines", ">removals", ">folds"), cells), *_more(rows)] if cells else []


def _edge(edge: Mapping[str, Any] | None) -> str:
    if edge is None:
        return "no stored path"
    at = f" at {edge['at']}" if edge["at"] else ""
    return f"{code(edge['from'].removeprefix('rule:'))} → {code(edge['to'])} ({edge['kind']}{at})"


def _cause(cause: Mapping[str, Any] | None) -> str:
    if cause is None:
        return "not recorded"
    return "; ".join(cause["chain"][:1]) or ", ".join(cause["rules"]) or cause["kind"]


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return ", ".join(names[:NAMES]) + more


def _more(rows: Sequence[Any]) -> list[str]:
    return ["", f"{number(len(rows) - TOP)} more in the JSON."] if len(rows) > TOP else []
