"""Marking overlooks one edge, root or method name: what is reached by it alone goes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tests.mutation.engine import Engine, forked
from tests.mutation.equal import other
from tests.mutation.mutants import Mutant

MOST = 25  # files that one overlooked edge may change


class Graph:
    """The live graph that marking recorded."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.edges: dict[str, list[tuple[str, str]]] = {}
        for source, target, kind, _, _ in engine.live.edges:
            self.edges.setdefault(source, []).append((target, kind))
        self.roots = [source for source in self.edges if source.startswith("rule:")]
        self.all = self.reach(("", ""), frozenset())

    def reach(self, without: tuple[str, str], rules: frozenset[str]) -> set[str]:
        """Everything that is reached when one edge, or some rules, are overlooked."""
        seen = {root for root in self.roots if root not in rules}
        work = list(seen)
        while work:
            source = work.pop()
            for target, _ in self.edges.get(source, ()):
                if target not in seen and (source, target) != without:
                    seen.add(target)
                    work.append(target)
            module = source.partition(":")[0]
            if module not in seen and module in self.engine.live.states:
                seen.add(module)
                work.append(module)
        return seen


def edge_faults(engine: Engine, each: int, dice: random.Random) -> Iterator[Mutant]:
    """One edge, root or keep overlooked: what is reached by it alone is gone."""
    graph = Graph(engine)
    kinds: dict[str, list[tuple[str, str]]] = {}
    ways = Counter(target for _, target, _, _, _ in engine.live.edges)
    for source, target, kind, _, _ in engine.live.edges:
        # A target with other ways to it is not lost: such an engine writes what the sound one writes.
        if not source.startswith("rule:") and ways[target] == 1:
            kinds.setdefault(kind, []).append((source, target))
    for kind, edges in sorted(kinds.items()):
        made = 0
        for edge in dice.sample(edges, min(len(edges), 40)):
            if made >= each:
                break
            lost = graph.all - graph.reach(edge, frozenset())
            mutant = forked(lambda k=kind, e=edge, n=lost: _without(engine, f"fault: a {k!r} edge overlooked", e, n))
            if lost and mutant is not None:
                made += 1
                yield mutant
    made = 0
    for rule in dice.sample(graph.roots, len(graph.roots)):
        lost = graph.all - graph.reach(("", ""), frozenset({rule}))
        if made < each and lost:
            mutant = forked(lambda r=rule, n=lost: _without(engine, "fault: a root or keep rule skipped", (r, ""), n))
            if mutant is not None:
                made += 1
                yield mutant


def _without(engine: Engine, kind: str, edge: tuple[str, str], lost: Iterable[str]) -> Mutant | None:
    """The files that change when these nodes are dead."""
    names: dict[str, set[str]] = {}
    gone: set[str] = set()
    for node in lost:
        module, colon, name = node.partition(":")
        if not colon:
            gone.add(module)
        else:
            names.setdefault(module, set()).add(name)
    touched = [module for module in sorted({*gone, *names}) if module in engine.live.states]
    if not touched or len(touched) > MOST:
        return None
    changes: list[tuple[str, bytes | None]] = []
    for module in touched:
        state = engine.live.states[module]
        path = state.summary.path
        if module in gone:
            state.executed = False
            changes.append((path, None))
            continue
        for item in state.items:
            if item.live and set(item.names) & names[module]:
                item.live = False
                if item.kind in ("import", "star"):
                    engine.live.dead_aliases.setdefault(module, set()).add((item.stmt[1], item.index))
        text, _ = engine.written(module, path)
        if other(text, engine.kept(path)):
            changes.append((path, text))
    changes = [row for row in changes if engine.kept(row[0]) is not None]
    if not changes or engine.readers.harmless(changes, names):
        return None
    return Mutant(kind, changes[0][0], 1, f"{edge[0]} -> {edge[1]}", tuple(changes))


def method_faults(engine: Engine, each: int, dice: random.Random) -> Iterator[Mutant]:
    """A name that live code asks for is overlooked: the methods of that name are gone."""
    by_name: dict[str, list[tuple[str, Any]]] = {}
    for module, state in sorted(engine.live.states.items()):
        for item in state.items if state.executed else ():
            if item.live and item.kind == "class":
                for method in item.methods:
                    if method.live and not method.stmt[3].startswith("__"):
                        by_name.setdefault(method.stmt[3], []).append((module, method))
    names = [name for name, rows in sorted(by_name.items()) if len(rows) <= 4]
    made = 0
    for name in dice.sample(names, len(names)):
        if made >= each:
            break
        mutant = forked(lambda n=name: _methods_gone(engine, n, by_name[n]))
        if mutant is not None:
            made += 1
            yield mutant


def _methods_gone(engine: Engine, name: str, rows: list[tuple[str, Any]]) -> Mutant | None:
    if not engine.readers.asked(name):  # an abstract method and all its overrides, whose one caller a rule took
        return None
    for _, method in rows:
        method.live = False
    changes = []
    for module in sorted({module for module, _ in rows}):
        path = engine.live.states[module].summary.path
        text, _ = engine.written(module, path)
        if text != engine.kept(path):
            changes.append((path, text))
    return Mutant("fault: an attribute name overlooked", changes[0][0], 1, name, tuple(changes)) if changes else None
