"""Globals that live code may give another value by a way that no assignment shows.

``put(flags)`` with ``def put(x): x.A = True``, and what :mod:`pruner.scan.written` reads. A name that such a store says counts for
each module that the file imports and each that is an object somewhere (:mod:`pruner.graph.held`), and for its own where it asks
for its own names. A name that is computed counts for the modules that the place names, for each that is an object in the
same definition, and for each that a call hands to the function around the place.

Blind to a module that only ``gc`` or a frame finds, and to one that a function with a computed name is handed by way of something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pruner.scan.written import ANY, HOME, Chain, handed

if TYPE_CHECKING:
    from pruner.graph.live import Marker

_CODE = frozenset([".__code__", ".__wrapped__", ".__defaults__", ".__kwdefaults__"])


def overwritten(marker: Marker) -> Iterator[tuple[str, str, str, int]]:
    """(module, name, module that holds the store, position) of globals that live code may overwrite so."""
    states = marker.out.states
    held = {module for module, state in states.items() if state.valued}
    here = marker.held.by_file()
    for home, state in list(states.items()):
        if state.executed:
            yield from _of(marker, home, held, here)
    yield from _handed(marker, here)


def _of(marker: Marker, home: str, held: set[str], here: dict[str, set[str]]) -> Iterator[tuple[str, str, str, int]]:
    world, states = marker.world, marker.out.states
    state = states[home]
    summary = state.summary
    written = summary.written()
    for name, rows in (*summary.object_stores.items(), *written.names.items()):
        for place, chain in rows:
            for module in _reached(marker, home, held, here, chain):
                if name in states[module].summary.stores:
                    yield module, name, home, place[0]
    for text, places in written.dotted.items():
        split = marker.table.split(text)
        if split is not None and split[0] in states:
            yield from ((split[0], split[1].partition(".")[0], home, at) for at in places)
    for at, function, _ in written.own:
        if function == "__getattr__":
            continue  # asked for names that the module has not
        # for name in TABLE: globals()[name] = ...: the module's own body takes names from texts
        yield from ((home, n, home, at) for n in summary.stores if function or n in marker.names_used)
    for (root, path), at in written.into.items():
        for module in _modules(marker, home, root, path):
            if module in states:
                yield from ((module, name, home, at) for name in states[module].summary.stores)
    for at, _, top in written.vague:
        for module in held:
            holders = marker.held.holders.get(module, set())
            if f"{home}:{top}" in holders or (not top and module in here.get(home, ())):
                yield from ((module, name, home, at) for name in states[module].summary.stores)
    for root, path, _, at in summary.part_stores:
        if path[-1] in _CODE:  # flags.pred.__code__ = other.__code__
            symbol, rest = world.follow(home, root, path[:-1])
            if symbol.kind == "binding" and not rest:
                yield symbol.module, symbol.name, home, at


def _reached(
    marker: Marker, home: str, held: set[str], here: dict[str, set[str]], chain: Chain | None
) -> Iterator[str]:
    """Modules that may be what a store in the file stores into; ``here``: by file, those that are objects in it."""
    states = marker.out.states
    state = states[home]
    written = state.summary.written()
    if chain == HOME:
        yield home
        return
    if chain == ANY:  # code in a text, getattr(pkg, "mod")
        yield from (m for m in {home, *held, *state.eager, *marker.loaded_in(home)} if m in states)
        return
    # Objects have attributes of the name as well: the file itself must come by the module.
    yield from held & here.get(home, set())
    chains = written.seen if chain is None else (chain,)
    for root, path in chains if chain is not None else ():
        for source in _sources(marker, home, root, path):  # hold.get().A = True
            yield from held & here.get(source, set())
    yield from (m for root, path in chains for m in _modules(marker, home, root, path) if m in states)
    if chain is None and (written.mirror or written.own):
        yield home


def _handed(marker: Marker, holders: Iterable[str]) -> Iterator[tuple[str, str, str, int]]:
    """``configure(flags, options)`` with ``for name, value in options: setattr(module, name, value)`` or ``module.A = 1`` in it."""
    states = marker.out.states
    setters: dict[
        str, list[tuple[str, int, str, tuple[str, ...]]]
    ] = {}  # function -> module, position, name ("" for any), steps
    for home, state in states.items():
        if state.executed:
            written = state.summary.written()
            for at, function, _ in written.vague:
                setters.setdefault(function, []).append((home, at, "", ()))
            for name, rows in (*state.summary.object_stores.items(), *written.names.items()):
                for (at, function, _), chain in rows:
                    setters.setdefault(function, []).append((home, at, name, chain[1] if chain is not None else ()))
    setters.pop("", None)
    for caller in sorted(holders) if setters else ():
        if caller not in states:
            continue
        for function, given in handed(states[caller].summary.body, setters.keys()):
            for module in _modules(marker, caller, given[1], given[2]):
                for home, at, told, steps in setters[function]:
                    inner = _inside(marker, module, steps) or module  # def configure(pkg): pkg.flags.A = True
                    stores = states[inner].summary.stores if inner in states else {}
                    if (not told or told in stores) and marker.held.near(caller, home):
                        yield from ((inner, name, home, at) for name in ((told,) if told else stores))


def _inside(marker: Marker, module: str, steps: tuple[str, ...]) -> str:
    """The module that attributes of a module lead to, or ""."""
    for step in steps:
        found = marker.world.attribute(module, step[1:])
        if step[0] != "." or found.kind != "module":
            return ""
        module = found.module
    return module


def _modules(marker: Marker, home: str, root: str, path: tuple[str, ...]) -> Iterator[str]:
    """Modules of the tree that a chain may name, by a global of the file or by an import in a function."""
    if path[-1:] == (".__globals__",):
        yield from _sources(marker, home, root, path)  # flags.pred.__globals__["A"] = True
        return
    symbol, rest = marker.world.follow(home, root, path)
    if symbol.kind == "module" and not rest:
        yield symbol.module
    summary = marker.out.states[home].summary
    for s, index in summary.inner_imports.get(root, ()):
        found = marker.world.attribute(*marker.table.import_target(summary, s, index))
        if found.kind == "module":
            yield found.module


def _sources(marker: Marker, home: str, root: str, path: tuple[str, ...]) -> Iterator[str]:
    """Other files whose definition or variable a chain begins with: what it gives may be an object of theirs."""
    for start in ((home, root, path), *marker.table.inner_starts(marker.out.states[home].summary, root, path)):
        symbol, _ = marker.world.follow(*start)
        if symbol.kind == "binding" and symbol.module in marker.out.states:
            yield symbol.module
