"""``getattr`` and its kin in kept code, sorted by what their object may be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pruner.verify.classes import Classes
from pruner.verify.output import Output
from pruner.verify.record import Survey

Place = tuple[str, int, re.Pattern[str]]  # path, line, the names that it may read


class Getters:
    """Reads by name: of a known module, of the instance of a known class, of anything."""

    def __init__(self, output: Output) -> None:
        self.on_module: dict[str, list[Place]] = {}
        self.on_self: dict[tuple[str, str], list[tuple[str, int, re.Pattern[str], bool]]] = {}
        self.patterns: set[str] = set()
        self._exact: dict[str, Place] = {}
        self._built: list[Place] = []
        for row in output.surveys.values():
            for line, base, pattern, _, method in row.gets:
                self.patterns.add(pattern)
                place = (row.path, line, re.compile(pattern))
                if base.startswith("self:"):
                    # dir(self): the names themselves are the result, none has to be spelled anywhere
                    self.on_self.setdefault((row.module, base[5:]), []).append((*place, method == "dir"))
                    continue
                places = output.places(row.path, base) if base else ()
                modules = [p[1] for p, rest, _ in places if p[0] == "module" and not rest]
                for module in modules:
                    self.on_module.setdefault(module, []).append(place)
                if modules:
                    continue
                if ".*" not in pattern:
                    self._exact.setdefault(pattern.replace("\\", ""), place)
                elif len(re.sub(r"\W|_", "", pattern)) > 2:
                    self._built.append(place)

    def on_anything(self, name: str, headed: bool = False) -> Iterator[Place]:
        """Reads of this name on an object that is not known. ``f"{a}_{b}"`` tells nothing and is left out.

        ``headed`` leaves out names whose head is computed, as in ``f"{kind}_size"``.
        """
        if name in self._exact:
            yield self._exact[name]
        for place in self._built:
            if place[2].fullmatch(name) and not (headed and place[2].pattern.startswith(".*")):
                yield place


class Telling:
    """Built names that are passed on in a variable before something is asked for them.

    ``name = f"forward_{key}"; getattr(self, name)``: the pattern counts where its file asks some
    object for a name in a variable; when that is ``self`` alone, it counts for that class and those
    below and above it.
    """

    def __init__(self, surveys: Iterable[Survey], known: set[str], classes: Classes) -> None:
        self.classes = classes
        everywhere: set[str] = set()
        self._owned: list[tuple[tuple[str, str], re.Pattern[str]]] = []
        for row in surveys:
            asked = [base for _, base, pattern, _, _ in row.gets if pattern == ".*"]
            # f"{a}_{b}" fits every name; a head of three letters makes a pattern tell something
            built = sorted(p for p in row.patterns - known if re.match(r"[A-Za-z]\w{2}|_\w{3}", p))
            if not asked or not built:
                continue
            if all(base.startswith("self:") for base in asked):
                whole = re.compile("|".join(f"(?:{p})" for p in built))
                self._owned.extend(((row.module, base[5:]), whole) for base in sorted(set(asked)))
            else:
                everywhere.update(built)
        self._everywhere = re.compile("|".join(f"(?:{p})" for p in sorted(everywhere)) or "(?!)")

    def fits(self, name: str, module: str = "", owner: str = "") -> bool:
        """Does a built name fit, for any object or for a member of the class ``module:owner``?"""
        if self._everywhere.fullmatch(name):
            return True
        # Classes are looked at last: it takes reading their files, and hardly a name fits.
        homes = [home for home, pattern in self._owned if pattern.fullmatch(name)]
        if not owner or not homes:
            return bool(homes)
        mine = self._family(module, owner)
        return any(home in mine or (module, owner) in self._family(*home) for home in homes)

    def _family(self, module: str, owner: str) -> set[tuple[str, str]]:
        rows, _ = self.classes.ancestors(("symbol", module, owner))
        return {(row[1], row[2]) for row in rows}
