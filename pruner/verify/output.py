"""The kept tree as a whole, put together from the surveys of its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pruner.verify.names import Import
from pruner.verify.record import PASSED, UNSET, Survey
from pruner.verify.rules import Stated, is_pure
from pruner.verify.tree import Tree
from pruner.verify.world import Seen, World

_BODY = frozenset({"__code__", "__defaults__", "__kwdefaults__"})  # who stores one makes another function of it
Place = tuple[str, str]  # ("module", dotted) | (module, name)


class Output:
    """Name resolution over the output tree, by what its files bind."""

    def __init__(self, tree: Tree, surveys: Iterable[Survey], upstream: World | None = None) -> None:
        self.tree = tree
        self.upstream = upstream
        self.surveys = {row.path: row for row in sorted(surveys, key=lambda row: row.path)}
        self.modules = {row.module: row for row in self.surveys.values() if row.module}
        self._bound: dict[str, dict[str, list[Import]]] = {}
        self._below: dict[str, list[str]] = {}
        self.starred: set[tuple[str, str]] = set()  # names of modules that chains so far had by import *

    def provides(self, module: str, name: str, busy: frozenset[str] = frozenset()) -> bool:
        """Does ``module.name`` exist once both are imported? A module ``__getattr__`` counts as yes for what upstream has by it."""
        row = self.modules.get(module)
        if self.tree.has_module(f"{module}.{name}"):
            return True
        if row is None:
            return False
        if not row.parsed or name in row.bound:
            return True
        if name in ("__file__", "__name__", "__doc__", "__path__", "__dict__", "__spec__", "__package__", "__all__"):
            return True
        for star in row.stars:
            if not self.tree.has_module(star):
                return True  # from torch import *: not ours to judge
            if star not in busy and self.exports(star, name) and self.provides(star, name, busy | {module}):
                return True
        return "__getattr__" in row.bound and not self._own(module, name)

    def _own(self, module: str, name: str) -> bool:
        """Does upstream's module bind the name itself, or is it a module? Then its ``__getattr__`` was never asked for it.

        ``def one(): ...`` is gone, and ``def __getattr__(name): raise AttributeError(name)`` stands beside it.
        """
        if self.upstream is None:
            return False
        if self.upstream.tree.has_module(f"{module}.{name}") or self.upstream.bringers(module, name):
            return True
        return bool(self.upstream.live(module, name))

    def exports(self, module: str, name: str) -> bool:
        """Would ``from module import *`` bring ``name``, if the module has it?"""
        row = self.modules.get(module)
        if row is not None and row.listed is not None:
            return name in row.listed
        return not name.startswith("_")

    def imports_of(self, path: str) -> dict[str, list[Import]]:
        """Import rows of a file by the name that they bind."""
        if path not in self._bound:
            table: dict[str, list[Import]] = {}
            for row in self.surveys[path].imports:
                table.setdefault(row.bound, []).append(row)
            self._bound[path] = table
        return self._bound[path]

    def ruled_pure(self, stated: Stated, path: str, chain: str) -> bool:
        """Does a rule say of every function that the chain may be, in this file, that a call of it has no effect?"""
        places = list(self.places(path, chain))
        named = [f"{place[0]}.{place[1]}" for place, rest, _ in places if place[0] != "module" and not rest]
        return bool(named) and len(named) == len(places) and all(is_pure(stated, name) for name in named)

    def places(self, path: str, chain: str, passed: list[str] | None = None) -> Iterator[tuple[Place, list[str], str]]:
        """What a dotted chain in a file may denote: the place, the attributes left over, a missing step.

        One answer for each import of the root name; the step is ``module.attr`` that does not exist. ``passed``
        takes the modules that are read as attributes of their packages, which binds no import of the package's own.
        """
        survey = self.surveys[path]
        root, *rest = chain.split(".")
        for row in self.imports_of(path).get(root, ()):
            if row.symbol is None:
                whole = row.target if row.bound != row.target.partition(".")[0] else row.bound
                yield self.walk(("module", whole), rest, passed)
            elif row.symbol != "*":
                # `from pkg import mod` loads pkg.mod itself
                loaded = self.tree.has_module(f"{row.target}.{row.symbol}")
                yield self.walk(*self.step(("module", row.target), row.symbol, rest), None if loaded else passed)
        if root in survey.bound and survey.module and root not in self.imports_of(path):
            yield (survey.module, root), rest, ""

    def step(self, place: Place, name: str, rest: list[str]) -> tuple[Place, list[str]]:
        """One attribute further from a module."""
        return place, [name, *rest]

    def walk(
        self, place: Place, attributes: list[str], passed: list[str] | None = None
    ) -> tuple[Place, list[str], str]:
        """Follow attributes from module to module, through re-exports, as far as modules go."""
        rest = list(attributes)
        hops = 0
        while place[0] == "module" and rest and hops < 40:
            hops += 1
            module, name = place[1], rest[0]
            if not self.tree.has_module(module):
                return place, rest, ""
            survey = self.modules.get(module)
            rows = [r for r in self.imports_of(survey.path).get(name, ()) if not r.lazy] if survey else []
            if survey is not None and name in survey.bound and not rows:
                return (module, name), rest[1:], ""
            if rows:
                row = rows[-1]
                if row.symbol is None:
                    place = ("module", row.target if row.bound != row.target.partition(".")[0] else row.bound)
                    rest = rest[1:]
                elif row.target == module and row.symbol == name:
                    place, rest = ("module", f"{module}.{name}"), rest[1:]
                else:
                    place, rest = ("module", row.target), [str(row.symbol), *rest[1:]]
                continue
            if self.tree.has_module(f"{module}.{name}"):
                if passed is not None:
                    passed.append(f"{module}.{name}")
                place, rest = ("module", f"{module}.{name}"), rest[1:]
                continue
            if not self.provides(module, name):
                return place, rest, f"{module}.{name}"
            star = (
                next((s for s in survey.stars if self.tree.has_module(s) and self.provides(s, name)), None)
                if survey
                else None
            )
            if star is None:
                return (module, name), rest[1:], ""
            self.starred.add((module, name))
            place = ("module", star)
        return place, rest, ""

    def below(self, package: str) -> list[str]:
        """The modules directly in a package."""
        if not self._below:
            for module in self.modules:
                self._below.setdefault(module.rpartition(".")[0], []).append(module)
        return self._below.get(package, [])

    def seen(self) -> Seen:
        """What the kept code does to modules, enums and attributes, for the folder."""
        result = Seen()
        result.handed = self._handed()
        for survey in self.surveys.values():
            for chain, attribute in survey.put:
                if chain.startswith("@"):
                    result.stores.add((chain[1:], attribute))
                    continue
                there = [*self.places(survey.path, chain)] if chain else []
                here = [place for place, rest, _ in there if not rest]
                if attribute in _BODY:
                    result.stores.update(
                        (place[1], rest[0]) for place, rest, _ in there if place[0] == "module" and rest
                    )
                    result.stores.update(place for place in here if place[0] != "module")
                result.stores.update((place[1], attribute) for place in here if place[0] == "module")
                if not any(place[0] == "module" for place in here):
                    result.put.add(attribute)
            if survey.module:
                result.rebound[survey.module] = set(survey.rebound)
            if survey.giving is not None:
                result.giving.add(survey.giving)
            for name, owner in survey.definers:
                result.definers.setdefault(name, set()).add(f"{survey.module}:{owner}")
            for chain, attribute, _line, value, home in survey.stores:
                if chain and chain.partition(".")[0] in self.imports_of(survey.path):
                    for place, rest, _ in self.places(survey.path, chain):
                        if place[0] == "module" and not rest:
                            result.stores.add((place[1], attribute))
                place_of = f"{survey.module}:{home}" if home and home != PASSED else home
                result.attributes.setdefault(attribute, []).append((place_of, survey.module, value))
            for _line, base, pattern, store, _ in survey.gets:
                if not store:
                    continue
                if base.startswith("self:"):
                    if ".*" in pattern:
                        result.vague_attributes.add(f"{survey.module}:{base[5:]}")
                    continue
                for place, rest, _ in self.places(survey.path, base) if base else ():
                    if place[0] == "module" and not rest:
                        name = pattern.replace("\\", "")
                        if ".*" in pattern:
                            result.vague_stores.add(place[1])
                        else:
                            result.stores.add((place[1], name))
                        break
                else:
                    if ".*" in pattern:
                        result.vague_attributes.add("*")
                    else:
                        result.attributes.setdefault(pattern.replace("\\", ""), []).append(("", survey.module, UNSET))
            for chain in survey.used:
                for place, rest, _ in self.places(survey.path, chain):
                    if place[0] != "module" and rest:
                        result.produced.add(f"{place[0]}:{place[1]}.{rest[0]}")
            for name in survey.loose:
                for place, rest, _ in self.places(survey.path, name):
                    if place[0] != "module" and not rest:
                        result.loose.add(f"{place[0]}:{place[1]}")
        return result

    def _handed(self) -> set[str]:
        """Modules that some file has as an object: by its name, out of ``sys.modules``, or from what loads it by a text."""
        found = set(self.loose_modules())
        for survey in self.surveys.values():
            found |= {name for _, kind, name in survey.lookups if kind.startswith("module")}
            found |= {pattern.replace("\\", "") for _, pattern, _ in survey.loads if ".*" not in pattern}
        return found

    def loose_modules(self) -> dict[str, set[str]]:
        """Modules of the tree that some file hands around as an object, with these files."""
        found: dict[str, set[str]] = {}
        for survey in self.surveys.values():
            for name in survey.loose:
                for place, rest, _ in self.places(survey.path, name):
                    if place[0] == "module" and not rest and self.tree.has_module(place[1]):
                        found.setdefault(place[1], set()).add(survey.path)
            for name in self.imports_of(survey.path) if survey.runs else ():  # code that is run there sees them
                for place, rest, _ in self.places(survey.path, name):
                    if place[0] == "module" and not rest and self.tree.has_module(place[1]):
                        found.setdefault(place[1], set()).add(survey.path)
        return found

    def importers(self) -> set[str]:
        """Every module of the tree that some kept file imports, with the packages above it."""
        found: set[str] = set()
        for survey in self.surveys.values():
            for row in survey.imports:
                names = [row.target]
                if row.symbol not in (None, "*"):
                    names.append(f"{row.target}.{row.symbol}")
                for name in names:
                    while name and self.tree.has_module(name) and name != survey.module and name not in found:
                        found.add(name)
                        name = name.rpartition(".")[0]
        return found
