"""May the names that the output lacks be gone? A conservative answer from the names in the kept tree.

The transformer's ledger is no licence. A removed name that still occurs is refuted unless every
way to reach the removed thing by that name is closed; how many removals each licence carried is
counted.

Blind to names built in other ways than :mod:`pruner.verify.survey` sees.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatchcase

from pruner.verify.classes import ENUMS, Classes
from pruner.verify.claims import Claim, dropped_module, dropped_symbol
from pruner.verify.dynamic import Dynamic
from pruner.verify.imports import Imports
from pruner.verify.output import Output
from pruner.verify.rules import covers, is_pure
from pruner.verify.survey import Survey
from pruner.verify.world import World

IDENTIFIER = re.compile(r"[^\W\d]\w*")


class Liveness:
    """Judges claims against the surveys of the whole output."""

    def __init__(self, world: World, output: Output, imports: Imports, dynamic: Dynamic) -> None:
        self.world = world
        self.output = output
        self.imports = imports
        self.dynamic = dynamic
        self.classes = Classes(world)
        self.licences: Counter[str] = Counter()
        self.problems: list[str] = []
        surveys = output.surveys.values()
        self.loose = output.loose_modules()  # module -> files that hand it around as an object
        self.held = set(self.loose) | set(dynamic.reachable)
        self.plain = self._index(surveys, "plain")
        self.strings = self._index(surveys, "strings")
        self.attributes = self._index(surveys, "attributes")
        self.members = self._index(surveys, "members")
        self.identifiers = self._index(surveys, "identifiers")
        self.patterns = {p for row in surveys for p in row.patterns}
        # f"pkg.mod:{name}": which function of pkg.mod is meant is known only when it runs
        self.dotted = [p for p in sorted(self.patterns) if re.match(r"[^*:]+(?::|\\\.)[^*]*\.\*", p) and "." in p.partition("*")[0]]
        self.named: dict[tuple[str, str], list[tuple[str, int]]] = {}  # place -> reads by chain of it
        self._getters: list[tuple[Survey, int, str, re.Pattern[str], str]] = [
            (row, line, base, re.compile(pattern), method)
            for row in surveys
            for line, base, pattern, _, method in row.gets
        ]
        got = {row.pattern for _, _, _, row, _ in self._getters}
        # "_".join and f"{a}_{b}" fit every name; three letters of its own make a pattern tell something
        building = [row for row in surveys if any(pattern == ".*" for _, _, pattern, _, _ in row.gets)]
        telling = {p for row in building for p in row.patterns} - got
        telling = {p for p in telling if len(re.sub(r"\W|_", "", p)) > 2}
        self.telling = re.compile("|".join(f"(?:{p})" for p in sorted(telling)) or "(?!)")
        self._chains()

    @staticmethod
    def _index(surveys: Iterable[Survey], field: str) -> dict[str, list[Survey]]:
        table: dict[str, list[Survey]] = {}
        for row in surveys:
            for name in getattr(row, field):
                table.setdefault(name, []).append(row)
        return table

    def _chains(self) -> None:
        """``Class.member`` reads, by the class they resolve to."""
        for survey in self.output.surveys.values():
            for chain, line in survey.chains.items():
                for place, rest, _ in self.output.places(survey.path, chain):
                    if place[0] != "module" and rest:
                        key = (place[0], f"{place[1]}.{rest[0]}")
                        self.named.setdefault(key, []).append((survey.path, line))

    def judge(self, claims: Iterable[Claim]) -> list[str]:
        """All refuted claims, as located messages."""
        for claim in claims:
            found = self._member(claim) if claim.kind == "member" else self._name(claim)
            if found:
                self.problems.append(f"{claim.path}: {claim.kind} {claim.name} (upstream line {claim.line}) {found}")
        return self.problems

    # -- roots ---------------------------------------------------------------------------------

    def protected(self, module: str, name: str, kind: str) -> str:
        """The root or keep that wants this name, or ``""``."""
        for verb, rows in (("keep", self.world.stated.keeps), ("root", self.world.stated.roots)):
            for rule, text in rows:
                head, colon, symbol = text.partition(":")
                if head in ("path", "name"):
                    continue
                if colon and symbol.endswith(("()",)):
                    symbol = symbol[:-2]
                if not covers(head, module):
                    continue
                if (colon and (symbol == name or fnmatchcase(name, symbol))) or (
                    not colon and kind not in ("import", "member") and not name.startswith("_") and "." not in name
                ):
                    if verb == "root" and dropped_symbol(self.world.stated, module, name):
                        continue
                    return f"is named by {verb} {text!r} ({rule})"
        return ""

    # -- module-level names --------------------------------------------------------------------

    def _name(self, claim: Claim) -> str:
        module, name = claim.module, claim.name
        if claim.kind == "export":
            return self._export(module, name)
        wanted = self.protected(module, name, claim.kind)
        if wanted:
            return wanted
        if dropped_symbol(self.world.stated, module, name):
            self.licences["named by a drop rule"] += 1
            return ""
        for text in (f"{module}.{name}", f"{module}:{name}"):
            if text in self.strings:
                return f"is named as the string {text!r} in {self.strings[text][0].path}"
        for pattern in self.dotted:
            head = pattern.partition(".*")[0].replace("\\", "")
            if claim.outside or name not in self.strings:
                continue  # the parts of a built name are strings
            for full in (f"{module}:{name}", f"{module}.{name}"):
                if head.startswith(full[: len(module) + 1]) and re.fullmatch(pattern, full):
                    return f"fits the built name {pattern!r}"
        survey = self.output.modules.get(module)
        if survey is not None and "globals" in survey.reflects and name in survey.strings:
            return "may be read through globals()"
        for row, line, base, pattern, _ in self._getters:
            if base and not base.startswith("self:") and pattern.fullmatch(name):
                if pattern.pattern == ".*" and (claim.kind == "import" or not self._spelled(name)):
                    continue  # a name that is not spelled out anywhere has to be built of known parts
                for place, rest, _ in self.output.places(row.path, base):
                    if place == ("module", module) and not rest:
                        return f"may be read by getattr in {row.path}:{line}"
        if module in self.held and not (claim.kind == "import" and claim.outside):
            found = self._by_name(name, module)
            if found:
                return found
        if name not in self.identifiers and name not in self.attributes and name not in self.strings:
            self.licences["the name occurs nowhere in kept code"] += 1
        elif module in self.held:
            self.licences["the name is other modules' own, though the module is held as an object"] += 1
        else:
            self.licences["the name is other modules' own, and no code holds the module as an object"] += 1
        return ""

    def _export(self, module: str, name: str) -> str:
        """A name that only left ``__all__``: nobody may take it from there with a star."""
        if self.protected(module, name, "variable"):
            return "is no longer in __all__ of a module that outsiders use"
        if any(module in row.stars for row in self.output.surveys.values()):
            return "is no longer in __all__, and a kept file imports * from the module"
        self.licences["no star import of the module is left to use __all__"] += 1
        return ""

    def _by_name(self, name: str, module: str) -> str:
        """The module may be held as an object: is it asked for this name where it is held?

        Blind to a module that one file hands to another, which then reads a string that it got from a
        third; ``obj.name`` on a plain variable is believed of any file when the module is handed around.
        """
        holders = self.loose.get(module, set()) | {self.dynamic.reachable.get(module, "").partition(":")[0]}
        for row in self.strings.get(name, ()):
            if row.path in holders:
                return f"is the string {name!r} in {row.path}, which holds the module as an object"
        for path, words in self.dynamic.data_words.items():
            if name in words:
                return f"is named in {path}"
        for row in self.plain.get(name, ()):
            if row.path in holders or (module in self.loose and name not in self.members):
                return f"may be the attribute {name} in {row.path}, where the module may be an object"
        for row, line, base, pattern, _ in self._getters:
            literal = re.sub(r"\W|_", "", pattern.pattern)
            if len(literal) > 2 and pattern.fullmatch(name) and not base.startswith("self:"):
                if not self._elsewhere(row, base, module):
                    return f"may be read by getattr in {row.path}:{line}"
        return ""

    def _spelled(self, name: str) -> bool:
        """Is the name a string somewhere, or does it fit a built one?"""
        return name in self.strings or self.telling.fullmatch(name) is not None

    def _elsewhere(self, row: Survey, base: str, module: str) -> bool:
        places = list(self.output.places(row.path, base)) if base else []
        return bool(places) and all(place != ("module", module) for place, _, _ in places)

    # -- members -------------------------------------------------------------------------------

    def _member(self, claim: Claim) -> str:
        module, name = claim.module, claim.name
        owner, _, short = name.rpartition(".")
        wanted = self.protected(module, name, "member")
        if wanted:
            return wanted
        readers = self.named.get((module, name))
        if readers:
            return f"is still read in {readers[0][0]}:{readers[0][1]}"
        if dropped_symbol(self.world.stated, module, name):
            self.licences["named by a drop rule"] += 1
            return ""
        if short.startswith("__") and short.endswith("__"):
            return "is called by Python itself"
        if short in self.attributes:
            return f"may be the attribute {short} in {self.attributes[short][0].path}"
        if short in self.strings:
            return f"may be the string {short!r} in {self.strings[short][0].path}"
        outside = self._called_from_outside(module, owner)
        if outside:
            return f"may be called by its base class {outside}"
        for row, line, base, pattern, method in self._getters:
            if not pattern.fullmatch(short):
                continue
            if base.startswith("self:") and (row.module, base[5:]) != (module, owner):
                continue
            if len(re.sub(r"\W|_", "", pattern.pattern)) < 3 and not base.startswith("self:"):
                continue
            if pattern.pattern == ".*" and method != "dir" and not self._spelled(short):
                continue
            return f"may be read by a built name in {row.path}:{line}"
        if self.telling.fullmatch(short):
            return "fits a name that kept code builds"
        self.licences["a member whose name occurs nowhere in kept code"] += 1
        return ""

    def _called_from_outside(self, module: str, owner: str) -> str:
        """A base class from outside the tree that may call any method that it knows."""
        bases = self.classes.ancestors(("symbol", module, owner))[1]
        known = {"object", "abc.ABC", "?"} | ENUMS
        for base in sorted(bases - known):
            if not base.startswith(("typing.", "typing_extensions.")) and not is_pure(self.world.stated, base):
                return base
        return ""

    # -- whole modules -------------------------------------------------------------------------

    def removed_modules(self) -> None:
        """Modules that are gone: roots, keeps; the rest is asked by ``imports`` and ``modules``."""
        for module, path in sorted(self.world.tree.modules.items()):
            if self.output.tree.has_module(module):
                continue
            ruled = dropped_module(self.world.stated, module, path)
            wanted = ""
            for verb, rows in (("keep", self.world.stated.keeps), ("root", self.world.stated.roots)):
                for rule, text in rows:
                    head = text.partition(":")[0]
                    if head not in ("path", "name") and covers(head, module) and not (verb == "root" and ruled):
                        wanted = f"is named by {verb} {text!r} ({rule})"
            if wanted:
                self.problems.append(f"{path}: module {module} is gone, but {wanted}")
            else:
                self.licences["module named by a drop rule" if ruled else "module that no kept code names"] += 1

    def kept_symbols(self) -> None:
        """Each symbol that a keep, a root or an entry point names is still found where outsiders look."""
        for verb, rows in (("keep", self.world.stated.keeps), ("root", self.world.stated.roots)):
            for rule, text in rows:
                if text.endswith((".toml", ".txt")):
                    self._project(text)
                    continue
                module, colon, symbol = text.partition(":")
                if not colon or module in ("path", "name") or "*" in text:
                    continue
                head = symbol.partition(".")[0]
                if verb == "root" and dropped_symbol(self.world.stated, module, head):
                    continue
                if self.imports.upstream_has(module, head) and not self.output.provides(module, head):
                    self.problems.append(f"{module}: {symbol} is gone, but is named by {verb} {text!r} ({rule})")

    def _project(self, name: str) -> None:
        for path in sorted(self.world.tree.files):
            if path.rpartition("/")[2] != name:
                continue
            text = self.world.tree.read(path).decode("utf-8", "replace")
            for found in re.finditer(r"=\s*[\"']?([A-Za-z_][\w.]*):([A-Za-z_]\w*)", text):
                module, symbol = found[1], found[2]
                if self.imports.upstream_has(module, symbol) and not self.output.provides(module, symbol):
                    self.problems.append(f"{path}: the entry point {module}:{symbol} is gone")
