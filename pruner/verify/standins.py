"""Stand-ins that are used while modules load: importing the tree would end there.

``X = _prune_guard.stand_in(..)`` keeps a name of something that a rule drops, for annotations, ``isinstance`` and code
that does not run. ``register(X.name, X)`` in the body of a module runs at every start, whatever the name came through:
``from pkg.configs import X`` of a package that has the stand-in, a list, an argument, a function that is called there.

Here it is said which modules have to run for that, of all that the tree has: those with such a name, those that ask such
a module for it, and those whose body calls a function that names one, or a function that calls that.

Blind to what :mod:`pruner.verify.loading` is, and to functions that are called as attributes of objects which another
module made.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator

from pruner.verify.loading import Loading
from pruner.verify.names import FUNCTIONS, Import
from pruner.verify.nodes import walk
from pruner.verify.output import Output

Place = tuple[str, str]  # module, name


def problems(output: Output, changed: Iterable[str]) -> list[str]:
    """A line for each use, in the order of the paths."""
    having = [path for path in sorted(changed) if b".stand_in(" in output.tree.read(path)]
    having = [path for path in having if path in output.surveys and output.tree.parse(path) is not None]
    found = Wanted(output, having)
    if not found.names:
        return []
    loading = Loading(output.tree, found.modules, lambda module, name: (module, name) in found.hot)
    for module in sorted(found.modules):
        loading.module(module)
    rows = sorted((path, line, name) for path, line, name in loading.found)
    return [f"{path}:{line}: {name} is a stand-in, and is used while the module loads" for path, line, name in rows]


class Wanted:
    """Which modules have to run, and which definitions name a stand-in."""

    def __init__(self, output: Output, having: list[str]) -> None:
        self.output = output
        self.names: set[Place] = set()  # stand-ins, and names for them
        self.hot: set[Place] = set()  # definitions that name one, or that name such a definition
        self.modules: set[str] = set()
        self._importers: dict[str, list[tuple[str, Import]]] = {}
        self._words: dict[str, list[tuple[str, frozenset[str]]]] = {}  # module -> its definitions, the names in each
        self._bound: dict[
            str, defaultdict[str, list[str]]
        ] = {}  # module -> name -> names that it is part of the value of
        self._asked: set[str] = set()  # modules of which others call something while they load
        for path in having:
            module = output.surveys[path].module
            tree = output.tree.parse(path)
            self.names.update((module, name) for name in _made(tree) if module) if tree is not None else None
        if not self.names:
            return
        for survey in output.surveys.values():
            for row in survey.imports:
                self._importers.setdefault(row.target, []).append((survey.module, row))
        self._called = self._calls()
        self._spread()

    def _spread(self) -> None:
        todo = sorted(self.names)
        self.modules.update(module for module, _ in todo)
        while todo:
            module, name = todo.pop()
            if module not in self._words:
                todo += self._definitions(module)
            stands = (module, name) in self.names
            for target in self._bound_of(module, name) if stands else ():
                if (module, target) not in self.names:
                    self.names.add((module, target))
                    todo.append((module, target))
            for other, row in self._importers.get(module, ()):
                bound = name if row.symbol == "*" else row.bound
                if row.symbol not in (name, "*") or not other or row.typing:
                    continue
                if stands and not row.lazy and (other, bound) not in self.names:
                    self.names.add((other, bound))
                    self.modules.add(other)
                    todo.append((other, bound))
                elif not stands and bound in self._called.get(other, ()):
                    self.modules.add(other)
                if other in self._asked or other in self.modules:
                    todo += self._definitions(other)
            for other in self._objects(module):
                if any(name in chain.split(".")[1:] for chain in self.output.modules[other].chains):
                    self.modules.add(other)

    def _bound_of(self, module: str, name: str) -> list[str]:
        """``Kind = Removed``, ``KINDS = (Kept, Removed)``: names of the module for what has the thing."""
        if module not in self._bound:
            found = self._bound[module] = defaultdict(list)
            tree = self.output.tree.parse_module(module)
            for node in _module_level(tree.body) if tree is not None else ():
                if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                    bound = [part.id for target in targets for part in walk(target) if isinstance(part, ast.Name)]
                    for part in walk(node.value):
                        if isinstance(part, ast.Name):
                            found[part.id] += bound
        return self._bound[module].get(name, [])

    def _objects(self, module: str) -> Iterator[str]:
        """Who has a module as an object."""
        parent, _, last = module.rpartition(".")
        yield from (other for other, row in self._importers.get(module, ()) if row.symbol is None and other)
        yield from (other for other, row in self._importers.get(parent, ()) if row.symbol == last and other)

    def _calls(self) -> dict[str, frozenset[str]]:
        """Module -> names that its body calls; and the modules whose functions are called so."""
        found = {}
        for survey in self.output.surveys.values():
            if survey.module and survey.called:
                found[survey.module] = survey.called
                self._asked.update(
                    row.target for row in survey.imports if row.symbol == "*" or row.bound in survey.called
                )
        return found

    def _definitions(self, module: str) -> list[Place]:
        """The definitions of a module that name something that counts, and were not known to; noted as such."""
        if module not in self._words:
            tree = self.output.tree.parse_module(module)
            rows = _defined(tree.body) if tree is not None else ()
            self._words[module] = [(node.name, frozenset(map(_named, walk(node)))) for node in rows]
        places = self.names | self.hot
        counted = {name for home, name in places if home == module}
        counted |= {r.bound for r in self.output.modules[module].imports if (r.target, str(r.symbol)) in places}
        fresh: list[Place] = []
        while True:
            more = {
                name
                for name, words in self._words[module]
                if (module, name) not in self.hot and not words.isdisjoint(counted)
            }
            if not more:
                return fresh
            self.hot.update((module, name) for name in more)
            counted |= more
            fresh += sorted((module, name) for name in more)


def _named(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _made(tree: ast.Module) -> Iterator[str]:
    for node in _module_level(tree.body):
        value = node.value if isinstance(node, ast.Assign) else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "stand_in":
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))  # type: ignore[attr-defined]


def _defined(body: Iterable[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in _module_level(body):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node


def _module_level(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module at any depth, but for those of functions and classes."""
    for node in body:
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            for block in ("body", "orelse", "finalbody"):
                yield from _module_level(getattr(node, block, ()))
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                yield from _module_level(part.body)
