"""Globals that live code may give another value by a way that no assignment shows.

``put(flags)`` with ``def put(x): x.A = True``, and what :mod:`pruner.scan.written` reads. A name that such a store says counts for
each module that the file imports and each that is an object somewhere (:mod:`pruner.graph.held`), and for its own where it asks
for its own names. A name that is computed counts for the modules that the place names, for each that is an object in the
same definition, and for each that a call hands to the function around the place.

Blind to a module that only ``gc`` or a frame finds, and to one that a function with a computed name is handed by way of something else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pruner.scan.written import handed

if TYPE_CHECKING:
    from pruner.graph.live import Marker

_CODE = frozenset([".__code__", ".__wrapped__", ".__defaults__", ".__kwdefaults__"])


def overwritten(marker: Marker) -> Iterator[tuple[str, str, str, int]]:
    """(module, name, module that holds the store, position) of globals that live code may overwrite so."""
    states = marker.out.states
    held = {module for module, state in states.items() if state.valued}
    loosest: dict[str, list[tuple[str, int]]] = {}
    for home, state in states.items():
        for name, places in state.summary.loosest.items() if state.executed else ():
            loosest.setdefault(name, []).extend((home, at) for at in places)
    for module, state in list(states.items()):
        yield from ((module, n, *row) for n in state.summary.stores.keys() & loosest.keys() for row in loosest[n])
    for home, state in list(states.items()):
        if state.executed:
            yield from _of(marker, home, held)
    yield from _handed(marker)


def _of(marker: Marker, home: str, held: set[str]) -> Iterator[tuple[str, str, str, int]]:
    world, states = marker.world, marker.out.states
    state = states[home]
    summary = state.summary
    written = summary.written()
    inside = held | marker.loaded_in(home)
    own = {home} if written.mirror or written.own else set()
    for names, near in ((summary.loose, inside), (written.names, inside.union(state.eager, own))):
        for module in near if names else ():
            target = states.get(module)
            for name in target.summary.stores.keys() & names.keys() if target is not None else ():
                yield from ((module, name, home, at) for at in names[name])
    for text, places in written.dotted.items():
        split = marker.table.split(text)
        if split is not None and split[0] in states:
            yield from ((split[0], split[1].partition(".")[0], home, at) for at in places)
    if written.own:
        yield from ((home, name, home, written.own) for name in summary.stores)
    for (root, path), at in written.into.items():
        for module in _modules(marker, home, root, path):
            if module in states:
                yield from ((module, name, home, at) for name in states[module].summary.stores)
    for module in held if written.vague else ():
        for (_, top), at in written.vague.items():
            if f"{home}:{top}" in marker.held.holders.get(module, ()):
                yield from ((module, name, home, at) for name in states[module].summary.stores)
    for root, path, _, at in summary.part_stores:
        if path[-1] in _CODE:  # flags.pred.__code__ = other.__code__
            symbol, rest = world.follow(home, root, path[:-1])
            if symbol.kind == "binding" and not rest:
                yield symbol.module, symbol.name, home, at


def _handed(marker: Marker) -> Iterator[tuple[str, str, str, int]]:
    """``configure(flags, options)`` with ``for name, value in options: setattr(module, name, value)`` in it."""
    states = marker.out.states
    setters: dict[str, list[tuple[str, int]]] = {}
    for home, state in states.items():
        for (function, _), at in (
            state.summary.written().vague.items() if state.executed and state.summary.mirrors else ()
        ):
            if function:
                setters.setdefault(function, []).append((home, at))
    holders = {node.partition(":")[0] for nodes in marker.held.holders.values() for node in nodes}
    for caller in sorted(holders) if setters else ():
        if caller not in states:
            continue
        for function, chain in handed(states[caller].summary.body, setters.keys()):
            for module in _modules(marker, caller, chain[1], chain[2]):
                for home, at in setters[function] if module in states else ():
                    if marker.held.near(caller, home):
                        yield from ((module, name, home, at) for name in states[module].summary.stores)


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
