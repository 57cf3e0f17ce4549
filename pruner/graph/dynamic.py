"""Names that code builds or writes as text: string tables, built import names, walked packages.

Every rule here keeps more. Blind to text that is computed from data files or the network.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pruner.model.ir import Expr

if TYPE_CHECKING:
    from pruner.graph.live import Marker

_IMPORTERS = ("importlib.import_module", "import_module", "__import__", "importlib.util.find_spec", "runpy.run_module")
_WALKERS = ("pkgutil.iter_modules", "pkgutil.walk_packages")


def texts(marker: Marker, module: str, node: str, values: list[str]) -> None:
    """String constants that name a module, a symbol of one, a script or a name of the same module."""
    table = marker.table
    state = marker.out.states[module]
    for text in values:
        if text.isidentifier():
            if text in state.names and any(i.kind in ("def", "class") for i in state.names[text]):
                marker.need(module, text, node, "text", 0)
            continue
        if text.startswith(".") and text.strip(".").replace(".", "").isidentifier():
            level = len(text) - len(text.lstrip("."))
            target = table.absolute(state.summary, text.lstrip("."), level)
            if target in table.paths:
                marker.escape(target, node, 0, private=False)
            continue
        if text.endswith(".py"):
            _script(marker, node, text)
            continue
        dotted = text.replace(":", ".")
        if "." not in dotted or not all(p.isidentifier() for p in dotted.split(".")):
            continue
        split = table.split(dotted)
        if split is None or "." not in split[0] and not split[1]:
            continue
        found, rest = split
        if found not in table.paths or (rest and found.count(".") < 1 and "." in rest):
            continue
        if not rest:
            marker.escape(found, node, 0, private=False)
        elif rest.split(".")[0] in (marker.state(found) or state).names:
            marker.need(found, rest.split(".")[0], node, "text", 0)


def _script(marker: Marker, node: str, text: str) -> None:
    suffix = "/" + text.lstrip("./")
    for module, (path, _) in marker.table.paths.items():
        if ("/" + path).endswith(suffix) and not marker.drops.module(module):
            marker.out.scripts.add(module)
            marker.escape(module, node, 0, private=False)


def calls(marker: Marker, module: str, node: str, found: list[Expr]) -> None:
    """Imports by a built name and walks over a package."""
    for e in found:
        if e[0] != "k" or e[1][0] not in ("n", "v"):
            continue
        name = _callee(marker, module, e[1])
        if name in _IMPORTERS and e[2]:
            _import_call(marker, module, node, e)
        elif name in _WALKERS and e[2]:
            _walk_call(marker, module, node, e[2][0])


def _callee(marker: Marker, module: str, func: Expr) -> str:
    if func[0] == "n":
        return marker.world.canonical(module, func[1], func[2])
    return (func[1] + "".join(func[2])) if func[2] else str(func[1])


def _import_call(marker: Marker, module: str, node: str, e: Expr) -> None:
    argument = e[2][0]
    pattern = _pattern(argument)
    table = marker.table
    if pattern is None:
        return
    declared = [d for d in marker.policy.dynamics if d.site == module]
    for candidate in sorted(table.paths):
        if re.fullmatch(pattern, candidate) and not any(candidate.startswith(d.package + ".") for d in declared):
            marker.escape(candidate, node, 0, private=False)
    if len(e[2]) > 1 and argument[0] == "c" and str(argument[1]).startswith(".") and e[2][1][0] == "c":
        target = f"{e[2][1][1]}{argument[1]}"
        if target in table.paths:
            marker.escape(target, node, 0, private=False)


def _pattern(argument: Expr) -> str | None:
    """A regular expression for the names that a built string can be; None when it can be anything."""
    if argument[0] == "c" and isinstance(argument[1], str):
        return re.escape(argument[1])
    if argument[0] != "j":
        return None
    parts = _flatten(argument)
    if not parts or parts[0] is None or "." not in parts[0]:
        return None
    return "".join(".+" if p is None else re.escape(p) for p in parts)


def _flatten(e: Expr) -> list[str | None]:
    out: list[str | None] = []
    for part in e[1]:
        if part[0] == "j":
            out += _flatten(part)
        else:
            out.append(part[1] if part[0] == "c" and isinstance(part[1], str) else None)
    return out


def _walk_call(marker: Marker, module: str, node: str, argument: Expr) -> None:
    if argument[0] not in ("n", "v") or not argument[2] or argument[2][-1] != ".__path__":
        return
    if any(d.site == module for d in marker.policy.dynamics):
        return
    if argument[0] == "n":
        symbol, _ = marker.world.follow(module, argument[1], argument[2][:-1])
        packages = [symbol.module] if symbol.kind == "module" else []
    else:
        packages = [p for p in marker.table.children if p.rpartition(".")[2] == argument[1]]
    for package in packages:
        for child in marker.table.children.get(package, ()):
            if child in marker.table.paths:
                marker.escape(child, node, 0, private=False)
