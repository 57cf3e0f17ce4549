"""``getattr`` and its kin in kept code, sorted by what their object may be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pruner.verify.output import Output

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

    def on_anything(self, name: str) -> Iterator[Place]:
        """Reads of this name on an object that is not known. ``f"{a}_{b}"`` tells nothing and is left out."""
        if name in self._exact:
            yield self._exact[name]
        for place in self._built:
            if place[2].fullmatch(name):
                yield place
