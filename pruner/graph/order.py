"""Imports that nobody reads and that decide which module of an import cycle is loaded first.

``from b import B`` in ``app`` goes, ``from c import C`` stays, and ``b`` and ``c`` import each other: ``c`` now comes
before ``b``, and what it imports of ``b`` is not there yet. A module outside a cycle runs when the whole cycle
is loaded or nothing of it is, for the cycle does not lead to the module. So such an import may go where the cycle is
loaded for sure: by an import above it that stays, or by a package around the module which does not itself load the module.

Blind to which arm of a test in a module's body runs (what both import counts as loaded by the module), and to imports
in functions that are called while modules load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pruner.graph.cycles import components, lead, reached, upwards
from pruner.graph.idle import parents
from pruner.graph.module import alias_of
from pruner.model.ir import line_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pruner.graph.live import Marker
    from pruner.graph.module import ModuleState

Cycles = frozenset[int]
_NONE: Cycles = frozenset()


def keep_orders(marker: Marker) -> bool:
    """Keep the imports without which a cycle would be entered elsewhere; true when anything changed."""
    return Orders(marker).keep()


class Orders:
    """Which import cycles each module leads to."""

    def __init__(self, marker: Marker) -> None:
        self.marker = marker
        self.graph = marker.leading  # of the last turn; of modules that are gone as well: they load what stays
        for module, state in list(marker.out.states.items()):
            eager = tuple(state.eager)
            if marker.led.get(module) != eager and not marker.drops.module(module):
                marker.led[module] = eager
                lead(self.graph, module, (p for target in state.eager for p in parents(target)))
        states = marker.out.states.items()
        running = {module: self.graph[module] for module, state in states if state.executed and module in self.graph}
        running = {module: {n: None for n in following if n in running} for module, following in running.items()}
        self.cycle: dict[str, int] = {}  # of modules that run
        for index, members in enumerate(components(running)):
            if len(members) > 1:
                self.cycle.update(dict.fromkeys(members, index))
        self.leads: dict[str, Cycles] = {}
        found: dict[int, Cycles] = {}
        for number, names, below in upwards(self.graph):
            own = {self.cycle[name] for name in names if name in self.cycle}
            found[number] = frozenset(own.union(*(found[following] for following in below)))
            self.leads.update(dict.fromkeys(names, found[number]))
        self._below: dict[str, set[str]] = {}

    def keep(self) -> bool:
        """Judge every import that nobody reads."""
        marker, changed = self.marker, False
        if not self.cycle:
            return False
        for module, state in list(marker.out.states.items()):
            if state.executed:
                changed |= self._body(module, state)
        for row in list(marker.idle):
            module, node, stmt, index, _ = row
            targets = marker.targets(marker.out.states[module].summary, alias_of(stmt, index))
            # A function runs when its own module and the packages around it are loaded.
            if self._led(targets) - self._led([module]):
                marker.idle.remove(row)
                marker.run_idle(module, node, stmt, index, "lazy import that orders a cycle")
                changed = True
        return changed

    def _body(self, module: str, state: ModuleState) -> bool:
        changed = False
        own = self.cycle.get(module, -1)
        have: set[int] = {own}
        around = False
        for item in state.items:
            if item.kind not in ("import", "star") or item.typed:
                continue
            targets = self.marker.targets(state.summary, item)
            led = self._led(targets)
            if not led:
                continue
            if led - have and not self.marker.stays(state, item):
                if not around:
                    around = True
                    have |= self._around(module)
                if led - have:
                    self.marker.require(state, item, "cycle")
                    changed = True
                    for target in targets:
                        if not self.marker.drops.module(target):
                            line = line_of(item.stmt[1])
                            self.marker.execute(target, module, "import that orders a cycle", state.summary.path, line)
            if not item.conditional and self.marker.stays(state, item):
                have |= self._led(targets, own)
        return changed

    def _led(self, targets: Iterable[str], own: int = -1) -> Cycles:
        """What the targets lead to. One of the own cycle may be loading, above on the stack: it gives nothing for sure."""
        found = _NONE
        for target in targets:
            for name in parents(target):
                led = self.leads.get(name, _NONE)
                if not led <= found and (own < 0 or self.cycle.get(name) != own):
                    found |= led
        return found

    def _around(self, module: str) -> Cycles:
        """Cycles that packages around the module have loaded before it, whoever asks for it."""
        found = _NONE
        for package in parents(module)[:-1]:
            if package in self.graph and self.leads[package]:
                if package not in self._below:
                    self._below[package] = reached(self.graph, package)
                if module not in self._below[package]:
                    found |= self.leads[package]
        return found
