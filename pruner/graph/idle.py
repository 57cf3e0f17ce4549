"""Imports that nobody reads: which of them stay for what importing does?

``import m`` may go although importing ``m`` imports ``registry``, which fills a table, as long as the
module that holds the import loads ``registry`` by another import that stays. That some other module
does is not enough: it may be loaded later, or in another process.

Blind to the order in which modules are loaded, but in a cycle.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from pruner.graph.cycles import lead, upwards
from pruner.graph.module import ModuleState, alias_of
from pruner.model.ir import line_of

if TYPE_CHECKING:
    from pruner.graph.live import Marker


def keep_effects(marker: Marker) -> bool:
    """Keep the imports without which a module that does something would not run; true when anything changed."""
    known = len(marker.out.states)
    return Loading(marker).keep() or len(marker.out.states) > known


class Loading:
    """What the imports that stay load, module by module."""

    def __init__(self, marker: Marker) -> None:
        self.marker = marker
        self.graph = marker.loading  # of the last turn: what stays only grows
        for module, state in marker.out.states.items():
            if state.executed:
                known = marker.staying.get(module)
                stays = self._stays(module, state)
                if known is None or known[3] is not stays:
                    lead(self.graph, module, stays)

    def _stays(self, module: str, state: ModuleState) -> list[str]:
        """What importing a module surely loads by itself. Worked out again when more of its imports stay."""
        known = self.marker.staying.get(module)
        if known is not None and known[0] == state.changes:
            return known[3]
        imports = [i for i in state.items if i.kind in ("import", "star") and not i.conditional]
        staying = tuple(i for i in imports if self.marker.stays(state, i))
        if known is None or known[1] != len(staying) or known[2] is not state.items:
            names = [p for item in staying for t in self.marker.targets(state.summary, item) for p in parents(t)]
            found = [name for name in dict.fromkeys([*parents(module)[:-1], *names]) if self._of_tree(name)]
        else:
            found = known[3]
        self.marker.staying[module] = (state.changes, len(staying), state.items, found)
        return found

    def _of_tree(self, name: str) -> bool:
        return name in self.marker.table.paths and not self.marker.drops.module(name)

    def keep(self) -> bool:
        """Judge every import that nobody reads, what is imported before what imports it."""
        changed = False
        rows, self.marker.idle = self.marker.idle, []
        loaded: dict[int, set[str]] = {}
        home: dict[str, int] = {}
        for number, members, below in upwards(self.graph):
            home.update(dict.fromkeys(members, number))
            have = loaded[number] = set(members)
            for following in below:
                have |= loaded[following]
            for module in sorted(members):
                changed |= self._body(module, have)
        for module, node, s, index, unread in rows:
            # An import that upstream did not read either is there for what it runs, whoever else runs it.
            have = set() if unread else loaded.get(home.get(module, -1), set())
            lost = self._lost(self.marker.targets(self.marker.out.states[module].summary, alias_of(s, index)), have)
            if lost:
                self.marker.run_idle(module, node, s, index, "lazy import for effect")
                changed = True
            else:
                self.marker.idle.append((module, node, s, index, unread))
        return changed

    def _body(self, module: str, have: set[str]) -> bool:
        """Imports of a module's body; ``have`` grows by what they load."""
        marker, changed = self.marker, False
        state = marker.out.states.get(module)
        if state is None or not state.executed:
            return False
        for item in marker.unread(state):
            # Which alias of the statement stays is settled later.
            if marker.stays(state, item):
                continue
            targets = marker.targets(state.summary, item)
            if any(marker.drops.module(target) for target in targets):
                continue  # from pkg.removed import f: it cannot stay, whatever importing pkg does
            lost = self._lost(targets, have)
            if lost or any(marker.rebinds(state, t) for t in targets):
                if not item.conditional:
                    have |= lost
                marker.require(state, item, "effect")
                for target in targets:
                    marker.execute(target, module, "import for effect", state.summary.path, line_of(item.stmt[1]))
                changed = True
        return changed

    def _lost(self, targets: Iterable[str], have: set[str]) -> set[str]:
        """Modules that only these imports would load, when one of them does more than define things; else none."""
        pending = list(targets)
        seen: set[str] = set()
        found = False
        while pending:
            for name in parents(pending.pop()):
                if name in seen or name in have or not self._of_tree(name):
                    continue
                state = self.marker.state(name)
                if state is None:
                    continue
                seen.add(name)
                found = found or bool(state.effects)
                pending += state.eager
        return seen if found else set()


@cache
def parents(module: str) -> tuple[str, ...]:
    """The packages of a module, outermost first, and the module."""
    parts = module.split(".")
    return tuple(".".join(parts[:cut]) for cut in range(1, len(parts) + 1))
