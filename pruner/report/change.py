"""``prune diff`` for people: the comparison of two runs on a page, the most telling part first."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pruner.report.short import in_short
from pruner.report.text import code, number, share, table

TOP = 12  # rows of a table
NAMES = 4  # names shown of a longer list
SAID = {"denied": "denied", "asked": "a fact asks it", "no rule": "**nothing**"}


def change_bytes(document: Mapping[str, Any]) -> bytes:
    """The whole document as JSON."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=True).encode() + b"\n"


def change_markdown(document: Mapping[str, Any], level: int = 1) -> str:
    """The page. ``level`` is the depth of its first heading."""
    mark = "#" * level
    base, head = document["base"], document["head"]
    out = [f"{mark} The cut from {_title(base)} to {_title(head)}", "", *_figures(base, head)]
    out += ["", *(f"* {line}" for line in in_short(document))]
    sections: Sequence[tuple[str, list[str]]] = (
        ("New platforms upstream", _platforms(document["platforms"])),
        ("Newly kept, and why", _entered(document["modules"], _title(head))),
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
        row("rules that speak of it", lambda s: s["rules"]),
        row("modules kept", lambda s: s["modules"]),
        row("folds", lambda s: s["folds"]),
        row("findings", lambda s: len(s["findings"])),
        row("checks refuted", lambda s: len(s["refuted"])),
    ]
    one, two = (share(s["python"]["after"], s["python"]["before"]) for s in (base, head))
    rows.insert(2, ("share kept", one, two, ""))
    same = base["policy"]["digest"] == head["policy"]["digest"]
    note = (
        "The rule files are the same; a rule may speak of one of the two alone." if same else "The rule files differ."
    )
    return [*table(("", ">base", ">head", ">change"), rows), "", note]


def _platforms(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Those that stand where platforms stand; those that only look like one in a line below."""
    if not rows:
        return ["None."]
    certain = [row for row in rows if row["company"]]
    cells = []
    for row in certain[:TOP]:
        names = ", ".join(
            f"{item['kind']} {code(item['name'])} ({number(item['upstream'])}/{number(item['kept'])})"
            for item in row["names"][:NAMES]
        )
        cells.append((code(row["word"]), SAID[row["rules"]], number(row["kept"]), row["at"], names))
    heads = ("word", "what the rules say", ">kept", "first seen", "names (upstream/kept)")
    out = [*table(heads, cells), *_more(certain)] if cells else ["None that stands where platforms stand."]
    others = [f"{code(row['word'])} ({row['at']})" for row in rows if not row["company"]]
    return [*out, "", f"Of the shape alone, most likely none: {_some(others)}."] if others else out


def _entered(modules: Mapping[str, Any], head: str) -> list[str]:
    rows = modules["newly_kept"]
    if not rows:
        return ["Nothing."]
    cells = []
    for why in modules["why"]:
        rules = ", ".join(code(rule) for rule in why["rules"])
        if why["was"] == "not there":
            reason = "new upstream"
        elif not rules:
            reason = "was unreached; nothing of the base says by which rule"
        elif why["in_force"]:
            reason = f"removed by {rules}, which still holds; something else uses it now"
        else:
            reason = f"removed by {rules}, which does not speak of {head}"
        cells.append((reason, number(why["modules"]), number(why["lines"])))
    out = [*table(("why it was not kept before", ">modules", ">lines"), cells[:TOP]), *_more(cells)]
    edges = []
    for row in rows[:TOP]:
        members = sorted(row["modules"], key=lambda m: -m["lines"])
        fresh = sum(m["was"] == "not there" for m in members)
        largest = _some([code(m["module"]) for m in members], 2)
        edges.append((_edge(row["by"]), number(len(members)), number(row["lines"]), number(fresh), largest))
    heads = ("came in by", ">modules", ">lines", ">new upstream", "largest")
    return [
        *out,
        "",
        "The edge by which they came in, from what both keep or from a rule:",
        "",
        *table(heads, edges),
        *_more(rows),
    ]


def _removed(modules: Mapping[str, Any]) -> list[str]:
    rows, gone = modules["newly_removed"], modules["gone_upstream"]
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(_lost(row), []).append(row)
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


def _capabilities(found: Mapping[str, Any]) -> list[str]:
    """First what the rules' table of capabilities says, then what users can ask for, by kind."""
    out = []
    if found["table"]:
        cells = []
        for row in sorted(found["table"], key=lambda r: (r["before"] != "kept", r["after"], r["kind"], r["key"])):
            why = ", ".join(code(rule) for rule in row["dropped_by"])
            after = {"absent": "no longer upstream", "dropped": f"dropped by {why}" if why else "dropped"}
            before = {"absent": "not upstream"}.get(row["before"], row["before"])
            place = row["places"][0] if row["places"] else ""
            cells.append((f"{row['kind']} {code(row['key'])}", before, after.get(row["after"], row["after"]), place))
        heads = ("of the table", "before", "now", "place, of the tree that keeps it")
        out = [*table(heads, cells[: 2 * TOP]), *_more(cells, 2 * TOP), ""]
    offers = [
        (
            kind,
            number(row["before"]),
            number(row["after"]),
            *(
                f"{number(len(row[key]))}{': ' + _some([code(n['name']) for n in row[key]]) if row[key] else ''}"
                for key in ("gained", "lost_to_the_cut", "lost_upstream")
            ),
        )
        for kind, row in found["offers"].items()
    ]
    titles = ("kind", ">kept before", ">kept now", "gained", "lost to the cut", "no longer upstream")
    return [*out, *table(titles, offers)] if offers else out


def _definitions(rows: Mapping[str, Any]) -> list[str]:
    kept, removed = rows["newly_kept"], rows["newly_removed"]
    cells = [(code(r["name"]), number(r["lines"]), "kept now", _edge(r["by"])) for r in kept[:TOP]]
    cells += [(code(r["name"]), number(r["lines"]), "removed now", _lost(r)) for r in removed[:TOP]]
    head = (
        f"In modules that both keep: {number(len(kept))} definitions kept now that were removed, "
        f"{number(len(removed))} removed now that were kept; the largest of each."
    )
    return [head, "", *table(("name", ">lines", "change", "by"), cells)] if cells else []


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


def _rules(rows: Mapping[str, Any]) -> list[str]:
    out = []
    for key, text in (("ended", "speak of the base alone"), ("begun", "speak of the head alone")):
        if rows[key]:
            named = [f"{code(row['id'])} ({number(row['lines'])} lines)" for row in rows[key]]
            out += [f"{number(len(named))} rules {text}: {_some(named, TOP)}.", ""]
    cells = []
    for row in rows["moved"][:TOP]:
        pairs = [f"{number(row[key][0])} → {number(row[key][1])}" for key in ("lines", "removals", "folds")]
        cells.append((code(row["id"]), *pairs))
    heads = ("rule", ">lines removed", ">removals", ">folds")
    return [*out, *table(heads, cells), *_more(rows["moved"])] if cells else out[:-1]


def _edge(edge: Mapping[str, Any] | None) -> str:
    if edge is None:
        return "no stored path"
    at = f" at {edge['at']}" if edge["at"] else ""
    return f"{code(edge['from'].removeprefix('rule:'))} → {code(edge['to'])} ({edge['kind']}{at})"


def _lost(row: Mapping[str, Any]) -> str:
    """A removal with what became of the last user, where one is known."""
    used = row["used"]
    if used is None or row["cause"] is None or row["cause"]["rules"]:
        return _cause(row["cause"])
    return f"nothing uses it: {_edge(used['by'])}, {used['fate']}" + (
        f" ({_cause(used['cause'])})" if used.get("cause") else ""
    )


def _cause(cause: Mapping[str, Any] | None) -> str:
    if cause is None:
        return "not recorded"
    return "; ".join(cause["chain"][:1]) or ", ".join(cause["rules"]) or cause["kind"]


def _some(names: Sequence[str], most: int = NAMES) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _more(rows: Sequence[Any], most: int = TOP) -> list[str]:
    return ["", f"{number(len(rows) - most)} more in the JSON."] if len(rows) > most else []
