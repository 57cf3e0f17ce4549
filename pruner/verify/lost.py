"""Imports that went: is anything that importing did lost with them?

An import statement is a call of the module's body. A module that registers or patches something
when imported must still be imported by the module that imported it, itself or through others, unless
a rule drops it, and by the function that imported it: that some other module imports it is not enough, it may be loaded later or in another
process. In an import cycle the order of the imports decides who finds whom half loaded, so an import
there stays although nothing reads it; so does one from outside by which a cycle is entered first.

Blind to what the order of loading changes outside cycles, to which arm of a test in a body runs (what both import counts
as loaded), and to which of the imports of one function runs: each is taken to run where another one went.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from pruner.verify.claims import FileResult
from pruner.verify.liveness import Liveness
from pruner.verify.names import Import
from pruner.verify.output import Output
from pruner.verify.world import literal_all

if TYPE_CHECKING:
    import networkx as nx

Effects = Callable[[list[str]], list[tuple[str, str, tuple[str, ...]]]]


class Lost:
    """Follows removed imports to what they ran."""

    def __init__(self, liveness: Liveness, output: Output) -> None:
        self.liveness = liveness
        self.world = liveness.world
        self.up = self.world.tree
        self.output = output
        self.importers = liveness.imports.loaded | {m for m in liveness.dynamic.reachable if output.tree.has_module(m)}
        self.problems: list[str] = []
        self.count = 0
        self._cause: dict[str, str] = {}
        self._known: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._loads = self._graph()
        self._reach: dict[str, set[str]] = {}
        self._cycle: dict[str, int] = {}  # module -> its import cycle, with the imports that went
        self._leads: dict[str | int, set[int]] = {}  # module -> cycles that it led to

    def _graph(self) -> nx.DiGraph[str]:
        """What loading a module of the output loads at once."""
        import networkx as nx  # here: a run on what is known compares nothing, and it takes a quarter of a second

        graph: nx.DiGraph[str] = nx.DiGraph()
        for survey in self.output.surveys.values():
            graph.add_node(survey.module)
            for row in survey.imports:
                if not row.lazy and not row.typing:
                    graph.add_edges_from((survey.module, name) for name in self._modules(row.target, row.symbol or ""))
        return graph

    def run(self, results: list[FileResult], effects: Effects) -> None:
        """Judge all removed imports of all compared files."""
        self._cycles(results)
        self._unread(results)
        self._ordered(results)
        self._loaded(results, effects)
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
            for module in pending:
                effect, follows = self._does([module], effects)[module]
                if effect:
                    self.problems.append(
                        f"{self._cause[module]}: no kept file imports {module} any more, which does more than define "
                        f"things when imported ({effect})"
                    )
                for name in follows:
                    if self._is_lost(name):
                        self._cause[name] = self._cause[module]
                        later.append(name)
            self._does(later, effects)
            pending = later

    def _does(self, modules: Iterable[str], effects: Effects) -> dict[str, tuple[str, tuple[str, ...]]]:
        """The first effect of a module's body, and what it imports in turn; of all that are known so far."""
        fresh = sorted({name for name in modules if name not in self._known})
        for name, effect, follows in effects(fresh) if fresh else ():
            self._known[name] = (effect, follows)
        return self._known

    def _modules(self, target: str, symbol: str) -> list[str]:
        names = [target]
        if symbol == "*" and self.up.is_package(target):  # loads the submodules that `__all__` names
            names += [
                f"{target}.{name}" for name in sorted(self._listed(target)) if f"{target}.{name}" in self.up.modules
            ]
        if symbol and f"{target}.{symbol}" in self.up.modules:
            names.append(f"{target}.{symbol}")
        found = []
        for name in names:
            while name:
                if name in self.up.modules:
                    found.append(name)
                name = name.rpartition(".")[0]
        return found

    def _listed(self, package: str) -> set[str]:
        """What ``__all__`` of a package names and the package does not bind itself."""
        names = self.world.names(package)
        return (literal_all(names) or set()) - names.bindings.keys() if names is not None else set()

    def _is_lost(self, module: str) -> bool:
        if module in self._cause or module in self.importers or module not in self.up.modules:
            return False
        return not self._by_rule(module) and not self._is_root(module)

    def _by_rule(self, module: str) -> bool:
        path = self.up.modules[module]
        return self.world.ruled.drops_module(module, path) or self.liveness.dynamic.declared(module)

    def _is_root(self, module: str) -> bool:
        return bool(self.liveness.protected(module, "__module__", "variable")) or any(
            text.partition(":")[0] == module for _, text in [*self.world.stated.roots, *self.world.stated.keeps]
        )

    def _cycles(self, results: list[FileResult]) -> None:
        """Which kept modules load each other, were the removed imports still there. What is gone closes no cycle."""
        import networkx as nx

        graph = self._loads.copy()
        for result in results:
            for module, target, symbol, _ in result.eager:
                if self._kept(target, symbol):
                    graph.add_edges_from((module, name) for name in self._modules(target, symbol))
        condensed = nx.condensation(graph)
        for number, members in condensed.nodes(data="members"):
            if len(members) > 1:
                self._cycle.update(dict.fromkeys(members, number))
        for number in reversed(list(nx.topological_sort(condensed))):
            members = condensed.nodes[number]["members"]
            found = {number} if len(members) > 1 else set()
            found = found.union(*(self._leads[following] for following in condensed.successors(number)))
            self._leads.update(dict.fromkeys([number, *members], found))

    def _unread(self, results: list[FileResult]) -> None:
        """An import of a package from outside that nothing read upstream was not orphaned by the pruning."""
        for result in results:
            for _, target, symbol, line in result.unread:
                place = f"{result.path} (upstream line {line})"
                if target.partition(".")[0] in self.up.tops:
                    continue
                if not symbol and target.partition(".")[0] not in sys.stdlib_module_names:
                    self.problems.append(f"{place}: import {target}, which nothing read upstream either, is gone")

    def _kept(self, target: str, symbol: str) -> str:
        """The module that an import loads last, when the output has it."""
        part = f"{target}.{symbol}"
        goal = part if symbol and part in self.up.modules else target
        return goal if self.output.tree.has_module(goal) else ""

    def _ordered(self, results: list[FileResult]) -> None:
        """``from .b import B`` in ``a`` is gone, and loading ``b`` loads ``a``: who comes first may be another now.

        Where ``b`` came before ``c``, and ``c`` needs what ``b`` had bound by then, loading ``a`` fails without it. From
        outside, where ``b`` and ``c`` load each other, it decides which of the two is loaded first.
        """
        for result in results:
            for module, target, symbol, line in result.eager:
                goal = self._kept(target, symbol)
                own = self._cycle.get(module, -1)
                if goal == module or not self._leads.get(goal):
                    continue
                gone = (line, target, symbol)
                if self._before(result.path, module, goal, gone):
                    continue
                place = f"{result.path} (upstream line {line})"
                if self._cycle.get(goal) == own:
                    self.problems.append(
                        f"{place}: the import of {goal} is gone, which loads {module} again: the order in which the "
                        "modules of this cycle are loaded may be another now"
                    )
                elif self._leads[goal] - {own} - self._around(module) - self._above(result.path, module, gone):
                    self.problems.append(
                        f"{place}: the import of {goal} is gone, which loads an import cycle: another module of the cycle "
                        "may be loaded first now"
                    )

    def _around(self, module: str) -> set[int]:
        """Cycles that packages around the module have loaded before it, whoever asks for the module."""
        found: set[int] = set()
        package = module.rpartition(".")[0]
        while package:
            if package in self._loads and module not in self._below(package):
                found |= self._loaded_cycles(package)
            package = package.rpartition(".")[0]
        return found

    def _above(self, path: str, module: str, gone: tuple[int, str, str]) -> set[int]:
        """Cycles to which imports lead that stay above the removed one, past the module's own cycle."""
        own = self._cycle.get(module)
        found: set[int] = set()
        for row in self._staying(path, module, gone):
            for name in self._modules(row.target, row.symbol or "") if not (row.guards or row.guarded) else ():
                if own is None or self._cycle.get(name) != own:
                    found |= self._loaded_cycles(name)
        return found

    def _loaded_cycles(self, module: str) -> set[int]:
        """Cycles of which the output loads something with this module."""
        return {self._cycle[name] for name in {module} | self._below(module) if name in self._cycle}

    def _before(self, path: str, module: str, goal: str, gone: tuple[int, str, str]) -> bool:
        """Does an import before the removed one, or the rest of its statement, name ``goal`` or what is below it?

        What other imports lead to is not loaded for sure: who leads to ``goal`` leads to this module, and may be loading
        itself, above on the stack.
        """
        return any(goal in self._modules(row.target, row.symbol or "") for row in self._staying(path, module, gone))

    def _staying(self, path: str, module: str, gone: tuple[int, str, str]) -> list[Import]:
        """Imports of the body that stay, down to the statement of the removed one."""
        kept = {(r.target, r.symbol, r.bound) for r in self.output.surveys[path].imports if not r.lazy and not r.typing}
        names = self.world.names(module)
        rows = names.imports if names is not None else ()
        return [row for row in rows if row.line <= gone[0] and (row.target, row.symbol, row.bound) in kept]

    def _below(self, start: str) -> set[str]:
        """What loading a module loads in turn. Remembered: many removed imports ask for the same packages."""
        import networkx as nx

        found = self._reach.get(start)
        if found is None:
            found = self._reach[start] = nx.descendants(self._loads, start) if start in self._loads else set()
        return found

    def _have(self, module: str) -> set[str]:
        """What the output loads whenever it loads this module; ``a.b`` loads ``a`` first."""
        found: set[str] = set()
        for name in self._modules(module, ""):
            found |= {name} | self._below(name)
        return found

    def _beside(self, result: FileResult, module: str, lines: tuple[int, int]) -> list[str]:
        """Modules that a function imports by what did not go of upstream's text, and the output has somewhere."""
        kept = {(row.target, row.symbol, row.bound) for row in self.output.surveys[result.path].imports if row.lazy}
        gone = {(target, symbol, line) for target, symbol, line in result.lost}
        names = self.world.names(module)
        rows = [row for row in (names.imports if names is not None else ()) if row.lazy and not row.typing]
        inside = [
            row
            for row in rows
            if lines[0] <= row.line <= lines[1]
            and (row.target, row.symbol, row.bound) in kept
            and (row.target, row.symbol or "", row.line) not in gone
        ]
        return [name for row in inside for name in self._modules(row.target, row.symbol or "")]

    def _loaded(self, results: list[FileResult], effects: Effects) -> None:
        """What a removed import of a body ran is still run by what the body imports; one of a function, by that or the function."""
        rows: list[tuple[str, str, set[str], set[str]]] = []  # place, goal, loaded all the same, to look at
        for result in results:
            for module, target, symbol, line in result.eager:
                goal = self._kept(target, symbol)
                if not goal:
                    continue
                have = self._have(module)
                fresh = set(self._modules(target, symbol)) - have
                if fresh:
                    rows.append((f"{result.path} (upstream line {line})", goal, have, fresh))
            for module, target, symbol, line, lines in result.inner:
                goal = self._kept(target, symbol)
                if not goal or goal == module:
                    continue
                have = self._have(module).union(*map(self._have, self._beside(result, module, lines)))
                fresh = set(self._modules(target, symbol)) - have
                if fresh:
                    rows.append((f"{result.path} (upstream line {line})", goal, have, fresh))
        while rows:
            self._does({name for row in rows for name in row[3]}, effects)
            later = []
            for place, goal, have, fresh in rows:
                found = next((name for name in sorted(fresh) if self._known[name][0] and not self._by_rule(name)), "")
                if found:
                    self.problems.append(
                        f"{place}: the import of {goal} is gone, and nothing else in the file loads {found}, which does "
                        f"more than define things when imported ({self._known[found][0]})"
                    )
                    continue
                have |= fresh
                follows = {name for module in fresh for name in self._known[module][1] if not self._by_rule(name)}
                following = {part for name in follows for part in self._modules(name, "")} - have
                if following:
                    later.append((place, goal, have, following))
            rows = later
