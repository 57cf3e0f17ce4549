"""Modules that outsiders get from a root or a keep: as a public name of a package, or by ``__all__``.

``from . import ops`` in the ``__init__.py`` of a root gives outsiders ``pkg.ops.f``; so does ``__all__ = ["ops"]``,
with which ``from pkg import *`` loads the submodule. What a root's file uses as a plain value goes to outsiders as well: by a
call, in a table, under a second name. Of a class that they have by its name they call the public methods.

Blind to modules that other modules' functions give to a root's, and to what a single definition that is a root gives.
"""

from __future__ import annotations

import ast

from pruner.verify.classes import Classes
from pruner.verify.output import Output
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
        inside = set() if name else _submodules(world, module)
        for inner in inside | {_module(world, module, each) for each in ([name] if name else _public(world, module))}:
            path = world.tree.modules.get(inner, "")
            if path and inner not in found and not world.ruled.drops_module(inner, path):
                found[inner] = [(verb, (row[0], inner))]
                work.append((inner, "", verb, row))
    return found


def offered(world: World, classes: Classes, found: dict[str, list[tuple[str, Row]]]) -> dict[tuple[str, str], Row]:
    """Classes that outsiders have by a public name of a root or keep, with those above them: (module, class) -> the rule row."""
    have: dict[tuple[str, str], Row] = {}
    for module in world.tree.modules:
        for _, (rule, text) in (*world.ruled.wants(module), *found.get(module, ())):
            _, colon, named = text.partition(":")
            names = world.names(module)
            if "*" in named or names is None:
                continue
            for name in [named.partition(".")[0]] if colon else sorted(_own(world, module)):
                symbol = world.resolve(module, name)
                if not isinstance(world.definition(symbol), ast.ClassDef) or symbol is None:
                    continue
                if not world.ruled.drops_symbol(symbol[1], symbol[2]):
                    for _, home, above in classes.ancestors(symbol)[0]:
                        have.setdefault((home, above), (rule, text))
    return have


def handed_on(world: World, output: Output, found: dict[str, list[tuple[str, Row]]]) -> None:
    """Add the modules that the output's files of roots and keeps, and of those that are found, use as plain values."""
    work = list(output.surveys.values())
    while work:
        survey = work.pop()
        rows = [*world.ruled.wants(survey.module), *found.get(survey.module, ())]
        row = next((each for each in rows if ":" not in each[1][1]), None)
        for name in survey.loose if row is not None else ():
            for place, rest, _ in output.places(survey.path, name):
                path = world.tree.modules.get(place[1], "") if place[0] == "module" and not rest else ""
                if row is not None and path and place[1] not in found and not world.ruled.drops_module(place[1], path):
                    found[place[1]] = [(row[0], (row[1][0], place[1]))]
                    work += [output.modules[place[1]]] if place[1] in output.modules else []


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


def _own(world: World, module: str) -> set[str]:
    """Public names that a module defines or says to be its own, those of the modules that it takes in by a star included."""
    found, work = set[str](), [module]
    for each in work:
        names = world.names(each)
        if names is None:
            continue
        listed = literal_all(names) or set()
        imported = set() if world.tree.is_package(each) else {row.bound for row in names.imports} - listed
        found |= {name for name in names.bindings if not name.startswith("_")} - imported | listed
        work += [star for star in names.stars if star not in work and world.tree.has_module(star)]
    return found


def _submodules(world: World, module: str) -> set[str]:
    """``import pkg.sub`` in the file of ``pkg``."""
    names = world.names(module)
    rows = names.imports if names is not None else []
    return {row.target for row in rows if not row.lazy and row.symbol is None and row.target.startswith(f"{module}.")}


def _module(world: World, module: str, name: str) -> str:
    """The module that the name is, or ""."""
    names = world.names(module)
    if names is None or (name in names.bindings and not world.live(module, name)):
        return ""
    if name not in names.bindings and not names.stars:
        return f"{module}.{name}"
    symbol = world.resolve(module, name)
    return symbol[1] if symbol is not None and symbol[0] == "module" else ""
