"""Functions that read the globals of whoever calls them: ``sys._getframe(1).f_globals[name]``, the module of a frame.

A caller is a module that has the function by its name; of a method, one that names it as an attribute anywhere.

Blind to callers that have the function under another name, and to frames more than two calls away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pruner.model.ir import constants

if TYPE_CHECKING:
    from pruner.fold.residual import Unit
    from pruner.graph.live import Marker

_MAPPINGS = (".f_globals", ".f_locals")
ASKING = (".get", ".pop", ".setdefault", ".__getitem__")
_STACK = frozenset({"._getframe", ".currentframe", ".stack", ".f_back", "_getframe", "currentframe", "stack"})
ANY = "*"


class Callers:
    """Such definitions, and what of their callers lives for them."""

    def __init__(self, marker: Marker) -> None:
        self.marker = marker
        self._asked: dict[str, dict[str, int]] = {}  # definition -> the names it asks for, ANY among them, and where
        self._further: set[str] = set()  # those that ask the callers of their callers
        self._done: set[tuple[str, str]] = set()  # module and name

    def take(self, node: str, unit: Unit) -> None:
        """What a walked definition asks of its callers' globals."""
        remains = unit.remains
        asked: dict[str, int] = {}
        for chain, pos in zip(remains.chains, unit.lines, strict=True):
            for at, step in enumerate(chain[2]):
                if step in _MAPPINGS:
                    asked.setdefault(_key(chain[2], at), pos)
        if not {"f_globals", "f_locals"}.isdisjoint(remains.attributes):
            asked.setdefault(ANY, 0)  # inspect.stack()[depth].frame.f_globals
        if asked:
            self._note(node, unit, asked)

    def listed(self, node: str, unit: Unit) -> None:
        """``getattr(inspect.getmodule(inspect.stack()[1][0]), name)``: a definition lists what it looks up."""
        if any(not _STACK.isdisjoint((chain[1], *chain[2])) for chain in unit.remains.chains):
            self._note(node, unit, {ANY: 0})

    def _note(self, node: str, unit: Unit, asked: dict[str, int]) -> None:
        self._asked[node] = {**asked, **self._asked.get(node, {})}
        attributes = unit.remains.attributes
        back = sum(chain[2].count(".f_back") for chain in unit.remains.chains) + ("f_back" in attributes)
        first = all(chain[2][1:2] in ((), ("(1)",)) for chain in unit.remains.chains if chain[2][:1] == ("._getframe",))
        if back > 1 or not first or not {"f_globals", "f_locals"}.isdisjoint(attributes):
            self._further.add(node)

    def solve(self) -> bool:
        """Keep what is asked for in the modules that may call; True when something new lives."""
        marker, changed = self.marker, False
        for node, asked in sorted(self._asked.items()):
            running = [(m, state) for m, state in marker.out.states.items() if state.executed]
            users = {m for m, _ in running if self._calls(m, node)}
            if node in self._further:
                users |= {m for m, state in running if not users.isdisjoint((*state.eager, *marker.loaded_in(m)))}
            for module in sorted(users):
                for name, pos in sorted(asked.items()):
                    if (module, name) in self._done or (module, ANY) in self._done:
                        continue
                    self._done.add((module, name))
                    if name == ANY:
                        marker.escape(module, node, pos)
                        changed = True
                    elif name in marker.out.states[module].names and not marker.drops.symbol(module, name):
                        changed |= marker.need(module, name, node, "value", pos)
        return changed

    def _calls(self, module: str, node: str) -> bool:
        """Has a module the definition by name, or names a method of the class that it is?"""
        if self.marker.held.uses(module, node):
            return True
        home, _, name = node.partition(":")
        methods = {
            method.stmt[3] for item in self.marker.out.states[home].names.get(name, ()) for method in item.methods
        }
        held = self.marker.held
        return any(held.mentions(module, method) for method in methods if not method.startswith("__"))


def _key(path: tuple[str, ...], at: int) -> str:
    """The one key that a chain asks for of the mapping at a place of it; else ANY."""
    after = path[at + 1 : at + 3]
    if after[:1] and after[0][0] == "[":
        found = constants(after[0])
    else:
        found = constants(after[1]) if after[1:] and after[0] in ASKING and after[1][0] == "(" else ()
    return found[0] if found and isinstance(found[0], str) else ANY


def mentions(part: Any, name: str) -> bool:
    """Does the text stand anywhere in a lowered module?"""
    stack, attribute = [part], f".{name}"
    while stack:
        item = stack.pop()
        if item.__class__ is tuple:
            if name in item or attribute in item:
                return True
            stack += item
    return False
