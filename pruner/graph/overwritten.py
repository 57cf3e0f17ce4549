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
            yield from _of(marker, home, held, held & here.get(home, set()))
    yield from _handed(marker, here)


def _of(marker: Marker, home: str, held: set[str], here: set[str]) -> Iterator[tuple[str, str, str, int]]:
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
            if f"{home}:{top}" in marker.held.holders.get(module, ()):
                yield from ((module, name, home, at) for name in states[module].summary.stores)
    for root, path, _, at in summary.part_stores:
        if path[-1] in _CODE:  # flags.pred.__code__ = other.__code__
            symbol, rest = world.follow(home, root, path[:-1])
            if symbol.kind == "binding" and not rest:
                yield symbol.module, symbol.name, home, at


def _reached(marker: Marker, home: str, held: set[str], here: set[str], chain: Chain | None) -> Iterator[str]:
    """Modules that may be what a store in the file stores into; ``here``: those of the held ones that are objects in it."""
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
    yield from here
    chains = written.seen if chain is None else (chain,)
    yield from (m for root, path in chains for m in _modules(marker, home, root, path) if m in states)
    if chain is None and (written.mirror or written.own):
        yield home


def _handed(marker: Marker, holders: Iterable[str]) -> Iterator[tuple[str, str, str, int]]:
    """``configure(flags, options)`` with ``for name, value in options: setattr(module, name, value)`` or ``module.A = 1`` in it."""
    states = marker.out.states
    setters: dict[str, list[tuple[str, int, str]]] = {}  # function -> module, position, name ("" for any)
    for home, state in states.items():
        if state.executed:
            written = state.summary.written()
            for at, function, _ in written.vague:
                setters.setdefault(function, []).append((home, at, ""))
            for name, rows in (*state.summary.object_stores.items(), *written.names.items()):
                for (at, function, _), _ in rows:
                    setters.setdefault(function, []).append((home, at, name))
    setters.pop("", None)
    for caller in sorted(holders) if setters else ():
        if caller not in states:
            continue
        for function, chain in handed(states[caller].summary.body, setters.keys()):
            for module in _modules(marker, caller, chain[1], chain[2]):
                stores = states[module].summary.stores if module in states else {}
                for home, at, told in setters[function]:
                    if (not told or told in stores) and marker.held.near(caller, home):
                        yield from ((module, name, home, at) for name in ((told,) if told else stores))


def _modules(marker: Marker, home: str, root: str, path: tuple[str, ...]) -> Iterator[str]:
    """Modules of the tree that a chain may name, by a global of the file or by an import in a function."""
    symbol, rest = marker.world.follow(home, root, path)
    if symbol.kind == "module" and not rest:
        yield symbol.module
    summary = marker.out.states[home].summary
    for s, index in summary.inner_imports.get(root, ()):
        found = marker.world.attribute(*marker.table.import_target(summary, s, index))
        if found.kind == "module":
            yield found.module
