"""Imports that went: is anything that importing did lost with them?

An import statement is a call of the module's body. A module that registers or patches something
when imported must still be imported by some kept file, unless a rule drops it.

Blind to the order in which modules are loaded, but for imports that nothing read: those may be
there for the order alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from pruner.verify.claims import FileResult
from pruner.verify.liveness import Liveness
from pruner.verify.output import Output

Effects = Callable[[list[str]], list[tuple[str, str, tuple[str, ...]]]]


class Lost:
    """Follows removed imports to what they ran."""

    def __init__(self, liveness: Liveness, output: Output) -> None:
        self.liveness = liveness
        self.world = liveness.world
        self.up = self.world.tree
        self.importers = output.importers() | {m for m in liveness.dynamic.reachable if output.tree.has_module(m)}
        self.problems: list[str] = []
        self.count = 0
        self._cause: dict[str, str] = {}
        self._follows: dict[str, tuple[str, ...]] = {}

    def run(self, results: list[FileResult], effects: Effects) -> None:
        """Judge all removed imports of all compared files."""
        self._unread(results, effects)
        pending: list[str] = []
        for result in results:
            for target, symbol, line in result.lost:
                self.count += 1
                for module in self._modules(target, symbol):
                    if self._is_lost(module):
                        self._cause[module] = f"{result.path} (upstream line {line})"
                        pending.append(module)
        while pending:
            later: list[str] = []
            for module, effect, follows in effects(pending):
                if effect:
                    self.problems.append(
                        f"{self._cause[module]}: no kept file imports {module} any more, which does more than define "
                        f"things when imported ({effect})"
                    )
                for name in follows:
                    if self._is_lost(name):
                        self._cause[name] = self._cause[module]
                        later.append(name)
            pending = later

    def _modules(self, target: str, symbol: str) -> list[str]:
        names = [target]
        if symbol and f"{target}.{symbol}" in self.up.modules:
            names.append(f"{target}.{symbol}")
        found = []
        for name in names:
            while name:
                if name in self.up.modules:
                    found.append(name)
                name = name.rpartition(".")[0]
        return found

    def _is_lost(self, module: str) -> bool:
        if module in self._cause or module in self.importers or module not in self.up.modules:
            return False
        path = self.up.modules[module]
        if self.world.ruled.drops_module(module, path) or self.liveness.dynamic.declared(module):
            return False
        return not self._is_root(module)

    def _is_root(self, module: str) -> bool:
        return bool(self.liveness.protected(module, "__module__", "variable")) or any(
            text.partition(":")[0] == module for _, text in [*self.world.stated.roots, *self.world.stated.keeps]
        )

    def _unread(self, results: list[FileResult], effects: Effects) -> None:
        """An import that nothing read upstream was not orphaned by the pruning: it has another purpose."""
        for result in results:
            for module, target, symbol, line in result.unread:
                place = f"{result.path} (upstream line {line})"
                if target.partition(".")[0] in self.up.tops:
                    goals = [m for m in (f"{target}.{symbol}", target) if m in self.up.modules][:1]
                    if goals and self._cyclic(goals[0], module, effects):
                        self.problems.append(
                            f"{place}: an import that nothing read is gone; {goals[0]} is in an import cycle, so it may "
                            "be there for the order in which modules are loaded"
                        )
                elif not symbol and target.partition(".")[0] not in sys.stdlib_module_names:
                    self.problems.append(f"{place}: import {target}, which nothing read upstream either, is gone")

    def _cyclic(self, start: str, importer: str, effects: Effects) -> bool:
        """Does loading ``start`` load ``start`` or ``importer`` again?"""
        seen: set[str] = set()
        pending = [start]
        while pending:
            fresh = [name for name in pending if name not in self._follows]
            for name, _, follows in effects(fresh) if fresh else ():
                self._follows[name] = follows
            found = {name for module in pending for name in self._follows[module]}
            if start in found or importer in found:
                return True
            pending = sorted(found - seen)
            seen |= found
        return False
