"""Code that runs at import may not rest on a fact that holds only where a device is (``device: true`` in a rule).

A client host without one imports the same files. ``if is_cuda(): import kernels`` at module level stays as it is,
though ``is_cuda()`` is stated: what upstream guards by such a test must still stand below one that asks it.

Blind to functions that are called at import, and to decorators, defaults and base classes.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from pruner.verify.effects import Effects
from pruner.verify.names import FUNCTIONS

Key = tuple[str, ...]
Names = frozenset[str]
Leaf = tuple[ast.stmt, tuple[Names, ...]]  # a statement and the tests above it


def _names(test: ast.expr) -> Names:
    return frozenset(
        n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(test) if isinstance(n, ast.Name | ast.Attribute)
    )


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        yield from (block for block in [getattr(node, field, None)] if block)
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield part.body


def _keys(node: ast.stmt) -> Iterator[Key]:
    if isinstance(node, ast.Import):
        yield from (("import", alias.name, alias.asname or "") for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        yield from (("from", module, alias.name, alias.asname or "") for alias in node.names)
    elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        yield ("definition", node.name)
    elif not isinstance(node, ast.Pass):
        yield ("statement", ast.dump(node))


class Hosts:
    """Compares the import-time code of a file with upstream's. ``full`` knows all facts, ``host`` those of every host."""

    def __init__(self, full: Effects, host: Effects) -> None:
        self.full, self.host = full, host
        self.there: set[str] = set()  # tests of the file in hand that were not folded

    def problems(self, path: str, module: str, up: ast.Module, out: ast.Module) -> Iterator[str]:
        """What stands below no test of a device any more."""
        # A test that stands as often as upstream was not folded: most files end here, without an answer.
        before, after = Counter(_tests(up.body)), Counter(_tests(out.body))
        self.there = {test for test, count in before.items() if after[test] >= count}
        if len(self.there) == len(before):
            return
        guarded: dict[Key, set[str]] = {}
        free: set[Key] = set()
        for node, tests in self._upstream(up.body, module, ()):
            for key in _keys(node):
                if tests:
                    guarded.setdefault(key, set()).update(*tests)
                else:
                    free.add(key)
        asked = self._asked(up.body, module)
        for node, tests in _walk(out.body, ()):
            for key in _keys(node):
                wanted = guarded.get(key)
                if wanted is not None and key not in free and not any(wanted & names for names in tests):
                    what = ", ".join(sorted(wanted))
                    yield f"{path}:{node.lineno}: runs on every host that imports the file, upstream only where {what} says so"
            for name in _bound(node):
                if name in asked and not asked[name] & _all_names(node) and not any(asked[name] & n for n in tests):
                    what = ", ".join(sorted(asked[name]))
                    yield f"{path}:{node.lineno}: {name} no longer asks {what}, though hosts without a device import the file"

    def _needed(self, test: ast.expr, module: str) -> bool:
        """Does a device alone decide it, and does it stand less often than upstream?"""
        if ast.dump(test) in self.there:
            return False
        full = self.full.truth(test, self.full.module_scope(module))
        return full is not None and self.host.truth(test, self.host.module_scope(module)) is None

    def _upstream(self, body: Iterable[ast.stmt], module: str, tests: tuple[Names, ...]) -> Iterator[Leaf]:
        for node in body:
            if isinstance(node, ast.If):
                known = self.host.truth(node.test, self.host.module_scope(module))
                below = (*tests, _names(node.test)) if self._needed(node.test, module) else tests
                if known is not False:
                    yield from self._upstream(node.body, module, below)
                if known is not True:
                    yield from self._upstream(node.orelse, module, below)
            elif isinstance(node, (*FUNCTIONS, ast.ClassDef)) or not any(_blocks(node)):
                yield node, tests
            else:
                for block in _blocks(node):
                    yield from self._upstream(block, module, tests)

    def _asked(self, body: Iterable[ast.stmt], module: str) -> dict[str, Names]:
        """Variables whose one value is chosen by a conditional expression that a device decides."""
        found: dict[str, list[Names]] = {}
        for node, _ in self._upstream(body, module, ()):
            tests = [
                _names(part.test)
                for part in (ast.walk(node) if isinstance(node, ast.Assign | ast.AnnAssign) else ())
                if isinstance(part, ast.IfExp) and self._needed(part.test, module)
            ]
            for name in _bound(node):
                found.setdefault(name, []).append(frozenset().union(*tests))
        return {name: rows[0] for name, rows in found.items() if len(rows) == 1 and rows[0]}


def _walk(body: Iterable[ast.stmt], tests: tuple[Names, ...]) -> Iterator[Leaf]:
    for node in body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) or not any(_blocks(node)):
            yield node, tests
            continue
        below = (*tests, _names(node.test)) if isinstance(node, ast.If) else tests
        for block in _blocks(node):
            yield from _walk(block, below)


def _tests(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Every test at import level, and those of conditional expressions in plain statements there."""
    for node in body:
        if isinstance(node, ast.If):
            yield ast.dump(node.test)
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(node, ast.Assign | ast.AnnAssign):
            yield from (ast.dump(part.test) for part in ast.walk(node) if isinstance(part, ast.IfExp))
        for block in _blocks(node):
            yield from _tests(block)


def _bound(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (target.id for target in targets if isinstance(target, ast.Name))


def _all_names(node: ast.stmt) -> Names:
    return frozenset(
        n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute)
    )
