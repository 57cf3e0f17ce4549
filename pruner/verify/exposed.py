"""Modules that outsiders get from a root or a keep: as a public name of a package, or by ``__all__``.

``from . import ops`` in the ``__init__.py`` of a root gives outsiders ``pkg.ops.f``; so does ``__all__ = ["ops"]``,
with which ``from pkg import *`` loads the submodule.

Blind to modules that are handed out otherwise: by a call, in a table, under a second name.
"""

from __future__ import annotations

from pruner.verify.ruled import Row
from pruner.verify.world import World, literal_all


def exposed(world: World) -> dict[str, list[tuple[str, Row]]]:
    """Module -> the (verb, rule row) of the root or keep that hands it out; its own row asks for all of it."""
    found: dict[str, list[tuple[str, Row]]] = {}
    work: list[tuple[str, str, str, Row]] = []  # module, name ("" for its public ones), verb, row
    for module in world.tree.modules:
        for verb, (rule, text) in world.ruled.wants(module):
            _, colon, symbol = text.partition(":")
            if not colon or "*" not in symbol:
                work.append((module, symbol.partition(".")[0], verb, (rule, text)))
    while work:
        module, name, verb, row = work.pop()
        for inner in {_module(world, module, each) for each in ([name] if name else _public(world, module))}:
            path = world.tree.modules.get(inner, "")
            if path and inner not in found and not world.ruled.drops_module(inner, path):
                found[inner] = [(verb, (row[0], inner))]
                work.append((inner, "", verb, row))
    return found


def _public(world: World, module: str) -> set[str]:
    """Names of a module that may be modules and that outsiders use."""
    names = world.names(module)
    if names is None:
        return set()
    found = literal_all(names) or set()
    for star in names.stars:
        found |= world.exported(star) if world.tree.has_module(star) else set()
    if world.tree.is_package(module):
        found |= {row.bound for row in names.imports if not row.lazy and not row.bound.startswith("_")}
    return found


def _module(world: World, module: str, name: str) -> str:
    """The module that the name is, or ""."""
    names = world.names(module)
    if names is None or (name in names.bindings and not world.live(module, name)):
        return ""
    if name not in names.bindings and not names.stars:
        return f"{module}.{name}"
    symbol = world.resolve(module, name)
    return symbol[1] if symbol is not None and symbol[0] == "module" else ""
