"""Operations compiled ahead of time: what no kept text names loses registration, declaration and sources.

``drop: op:LIBRARY::GLOB`` asks for it. A source that a CMake file lists goes only when a dead operation needed it
and nothing living does, followed over what each source defines and needs; what nobody understands lives. Blind
to what sources outside the tree define: CMake goes on listing all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from pruner.edit import merge
from pruner.model import Cause, Edit, OperationRecord, Policy, Removal, Target
from pruner.native.cmake import listed
from pruner.native.items import Item
from pruner.native.registered import Registration, registrations
from pruner.native.units import Linked
from pruner.pipeline.opnames import Named, named

_CMAKE = re.compile(r"(?:\.cmake|(?:^|/)CMakeLists\.txt)\Z")


@dataclass(slots=True)
class Operations:
    """What goes: edits by path (offsets of the texts given), whole sources, ledger rows, rules that matched.

    ``records`` tell of every operation, whether it goes or stays.
    """

    edits: dict[str, list[Edit]] = field(default_factory=dict)
    gone: list[tuple[str, Cause]] = field(default_factory=list)
    removals: list[Removal] = field(default_factory=list)
    matched: set[str] = field(default_factory=set)
    records: tuple[OperationRecord, ...] = ()


def drop_operations(
    policy: Policy, python: Mapping[str, bytes], sources: Mapping[str, bytes], texts: Mapping[str, bytes]
) -> Operations:
    """Decide over kept files. ``sources`` are C++ and CUDA files with decided branches made blank; ``texts`` build files."""
    out = Operations()
    drops = [t for t in policy.drops if t.kind == "op"]
    found = {path: rows for path, data in sorted(sources.items()) if (rows := registrations(data))} if drops else {}
    if not found:
        return out
    held = [t for t in policy.keeps if t.kind == "op"]
    libraries = {row.library for rows in found.values() for row in rows}
    others = {path: data for path, data in sources.items() if path not in found}
    asked = {library: named(library, python, others) for library in sorted(libraries)}
    dead: dict[str, list[tuple[Registration, Cause]]] = {}
    records: dict[tuple[str, str], OperationRecord] = {}
    for path, rows in found.items():
        for row in rows:
            cause = _dead(row, asked[row.library], drops, held, policy, out.matched)
            if cause is not None:
                dead.setdefault(path, []).append((row, cause))
            key = (row.library, row.operation)
            if key not in records:
                named_at = asked[row.library].places.get(row.operation, "")
                full = f"{row.library}::{row.operation}"
                rule = cause.rules[0] if cause else next((t.rule for t in held if fnmatchcase(full, t.text)), "")
                line = sources[path].count(b"\n", 0, row.start) + 1
                records[key] = OperationRecord(*key, f"{path}:{line}", cause is None, named_at, rule)
    out.records = tuple(sorted(records.values()))
    for path, pairs in dead.items():
        for row, cause in pairs:
            _cut(path, sources[path], row.start, row.stop, "registration", row.operation, cause, out)
    linked = Linked(sources)
    lost = _lost_names(found, dead)
    _sources(linked, found, dead, lost, texts, out)
    gone = {path for path, _ in out.gone}
    _declarations(linked, lost, found, dead, gone, out)
    for path, edits in out.edits.items():
        out.edits[path] = list(merge(edits))
    out.removals = [row for row in out.removals if row.path not in gone]
    for path in gone & out.edits.keys():
        del out.edits[path]
    return out


def _dead(
    row: Registration, asked: Named, drops: list[Target], held: list[Target], policy: Policy, matched: set[str]
) -> Cause | None:
    full = f"{row.library}::{row.operation}"
    rules = [t for t in drops if fnmatchcase(full, t.text)]
    keeps = [t for t in held if fnmatchcase(full, t.text)]
    matched.update(t.rule for t in (*rules, *keeps))
    if not rules or keeps or row.operation in asked.places:
        return None
    rule = policy.by_id.get(rules[0].rule)
    chain = [f"no kept text names {full}"]
    if rule is not None:
        chain.append(f"{rule.id} ({rule.location.file}:{rule.location.line}): {rule.because}")
    return Cause("unreached", (rules[0].rule,), tuple(chain))


def _cut(path: str, data: bytes, start: int, stop: int, what: str, name: str, cause: Cause, out: Operations) -> None:
    """Remove a span, with its lines where nothing else stands on them and one of the blank lines around."""
    first, last = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", stop)
    last = len(data) if last < 0 else last + 1
    rest = data[stop:last].strip()
    begin, end = start, stop
    if not data[first:start].strip() and (not rest or rest.startswith(b"//")):
        begin, end = first, last
        above = data[: max(begin - 1, 0)]
        if data[end : end + 1] == b"\n" and (above.endswith(b"\n") or above.rstrip(b" ").endswith(b"{")):
            end += 1
    out.edits.setdefault(path, []).append(Edit(begin, end, b"", cause))
    line = data.count(b"\n", 0, start) + 1
    out.removals.append(Removal(path, line, data.count(b"\n", 0, stop) + 1, what, name, cause))


def _lost_names(
    found: Mapping[str, list[Registration]], dead: Mapping[str, list[tuple[Registration, Cause]]]
) -> dict[str, Cause]:
    """Identifiers that only dead registrations use, with the cause of the first of them."""
    gone = {id(row) for rows in dead.values() for row, _ in rows}
    alive = {word for rows in found.values() for row in rows if id(row) not in gone for word in row.words}
    lost: dict[str, Cause] = {}
    for rows in dead.values():
        for row, cause in rows:
            for word in row.words - alive:
                lost.setdefault(word, cause)
    return lost


def _sources(
    linked: Linked,
    found: Mapping[str, list[Registration]],
    dead: Mapping[str, list[tuple[Registration, Cause]]],
    lost: Mapping[str, Cause],
    texts: Mapping[str, bytes],
    out: Operations,
) -> None:
    """Listed sources that only dead operations needed, and their lines in CMake files."""
    places: dict[str, list[tuple[str, int, int]]] = {}
    for text in sorted(t for t in texts if _CMAKE.search(t)):
        folder = text.rpartition("/")[0]
        for place in listed(texts[text]):
            path = "/".join(p for p in f"{folder}/{place.name}".split("/") if p not in ("", "."))
            if path in linked.sources:
                places.setdefault(path, []).append((text, place.start, place.stop))
    units = sorted(places)
    needs = {unit: linked.needs(unit) for unit in units}
    for path in dead:  # the words of what is left, not of what went
        if path in needs:
            left = bytearray(linked.sources[path])
            for row, _ in dead[path]:
                left[row.start : row.stop] = b" " * (row.stop - row.start)
            needs[path] = Linked({**linked.sources, path: bytes(left)}).needs(path)
    defines = {unit: linked.defines(unit) for unit in units}
    by_name: dict[str, list[str]] = {}
    for unit in units:
        for name in defines[unit]:
            by_name.setdefault(name, []).append(unit)

    def reach(start: Iterable[str]) -> set[str]:
        seen = set(start)
        todo = sorted(seen)
        while todo:
            for name in needs[todo.pop()]:
                for other in by_name.get(name, ()):
                    if other not in seen:
                        seen.add(other)
                        todo.append(other)
        return seen

    # Registering sources, what nobody understands, and what no dead operation ever needed start the walk.
    suspects = reach({unit for name in lost for unit in by_name.get(name, ())})
    start = {u for u in units if u not in suspects or u in found or linked.opaque(u)}
    alive = reach(start)
    causes = _first_causes(lost, by_name, needs)
    for unit in sorted(suspects - alive):
        why = causes[unit]
        cause = Cause("unreached", why.rules, ("only operations that nobody names need it", *why.chain))
        out.gone.append((unit, cause))
        for text, first, last in places[unit]:
            _cut(text, texts[text], first, last, "source", unit, cause, out)


def _first_causes(
    lost: Mapping[str, Cause], by_name: Mapping[str, list[str]], needs: Mapping[str, frozenset[str]]
) -> dict[str, Cause]:
    causes: dict[str, Cause] = {}
    for name in sorted(lost):
        todo = list(by_name.get(name, ()))
        while todo:
            unit = todo.pop(0)
            if unit not in causes:
                causes[unit] = lost[name]
                todo += [other for word in sorted(needs[unit]) for other in by_name.get(word, ())]
    return causes


def _declarations(
    linked: Linked,
    lost: Mapping[str, Cause],
    found: Mapping[str, list[Registration]],
    dead: Mapping[str, list[tuple[Registration, Cause]]],
    gone: set[str],
    out: Operations,
) -> None:
    """Prototypes of functions that only dead registrations used: they go from headers, unless a source calls them."""
    wanted = {name for name in lost if any(name in linked.parsed(p).declared for p in linked.sources if p not in found)}
    if not wanted:
        return
    called: set[str] = set()
    for path in sorted(linked.sources):
        if path in gone:
            continue
        parsed = linked.parsed(path)
        names = set(parsed.mentioned & wanted)
        if path in found:
            spans = [(row.start, row.stop) for row, _ in dead.get(path, ())]
            names = {n for n in names if _left(parsed.text, n, spans)}
        else:
            spans = [(i.start, parsed.text.find(b"{", i.start)) for i in parsed.items if i.kind == "function"]
            names = {n for n in names if _left(parsed.text, n, [*spans, *_prototypes(parsed.items)])}
        called |= names
    for path in sorted(linked.sources):
        if path in gone or path in found:
            continue
        for item in linked.parsed(path).items:
            own = item.names & wanted
            if item.kind == "prototype" and own and not own & called and len(item.names) == 1:
                name = min(own)
                _cut(path, linked.sources[path], item.start, item.stop, "declaration", name, lost[name], out)


def _prototypes(items: Iterable[Item]) -> list[tuple[int, int]]:
    return [(i.start, i.stop) for i in items if i.kind == "prototype"]


def _left(text: bytes, name: str, spans: list[tuple[int, int]]) -> bool:
    """Does ``name`` occur outside of ``spans``?"""
    for match in re.finditer(rb"\b" + name.encode() + rb"\b", text):
        if not any(first <= match.start() < last for first, last in spans):
            return True
    return False
