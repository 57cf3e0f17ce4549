"""May the names that the output lacks be gone? A conservative answer from the names in the kept tree.

The transformer's ledger is no licence. A removed name that still occurs is refuted unless every
way to reach the removed thing by that name is closed; how many removals each licence carried is
counted.

Blind to names built in other ways than :mod:`pruner.verify.survey` sees, to names whose head is
computed (``f"{kind}_score"``), and to a module that one file hands to another, which then asks it
for a string that it got from a third.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatchcase

from pruner.model import outside
from pruner.verify.claims import Claim
from pruner.verify.classes import ENUMS, Classes
from pruner.verify.dynamic import Dynamic
from pruner.verify.exposed import exposed, handed_on, offered
from pruner.verify.getters import Getters, Telling
from pruner.verify.held import Held
from pruner.verify.imports import Imports
from pruner.verify.listed import Listed, protocol_members
from pruner.verify.output import Output
from pruner.verify.record import Survey
from pruner.verify.rules import is_pure
from pruner.verify.tree import parse_bytes
from pruner.verify.world import World

_LISTING = frozenset({"__annotations__", "get_annotations", "get_type_hints"})
SUNDER = frozenset({"_missing_", "_generate_next_value_", "_order_", "_ignore_", "_numeric_repr_"})


class Liveness:
    """Judges claims against the surveys of the whole output."""

    def __init__(self, world: World, output: Output, imports: Imports, dynamic: Dynamic) -> None:
        self.world = world
        self.output = output
        self.imports = imports
        self.dynamic = dynamic
        self.exposed = exposed(world)
        self.classes = Classes(world)
        self.offered = offered(world, self.classes, self.exposed)
        handed_on(world, output, self.exposed)
        self.getters = Getters(output)
        self.listed = Listed(output, self.classes)
        self.asked_for = protocol_members(output)  # members of checked protocols -> where
        self.licences: Counter[str] = Counter()
        self.problems: list[str] = []
        surveys = list(output.surveys.values())
        self.strings = _index(surveys, "strings")
        self.attributes = _index(surveys, "attributes")
        self.plain = _index(surveys, "plain")
        self.beyond: dict[str, list[Survey]] = {}  # attributes behind a name that a module of the tree binds
        imported = {row.target.partition(".")[0] for survey in surveys for row in survey.imports}
        self.outside = outside.asked(imported - world.tree.tops)
        self.members = {name for row in surveys for name in row.members}
        self.identifiers = {name for row in surveys for name in row.identifiers}
        self.telling = Telling(surveys, self.getters.patterns, self.classes)
        # f"pkg.mod:{name}": which function of pkg.mod is meant is known only when it runs
        everything = {p for row in surveys for p in row.patterns}
        self.dotted = [p for p in sorted(everything) if re.match(r"[^*:]+(?::|\\\.)[^*]*\.\*", p) and "." in p]
        self.named: dict[tuple[str, str], list[tuple[str, int]]] = {}  # class member -> reads by chain of it
        self.asked: dict[tuple[str, str], str] = {}  # what is imported or read through its module -> where
        self.brought: dict[tuple[str, str], str] = {}  # the same of what star imports there may have brought
        for survey in surveys:
            for row in survey.imports:
                self.asked.setdefault((row.target, str(row.symbol)), f"{survey.path}:{row.line}")
            for chain, line in survey.chains.items():
                for place, rest, _ in output.places(survey.path, chain):
                    if place[0] != "module" and place[0] != survey.module:
                        self.asked.setdefault((place[0], place[1]), f"{survey.path}:{line}")
                    if place[0] != "module" and rest:
                        for name in rest:  # what is read from an object that only its place is known of
                            self.beyond.setdefault(name, []).append(survey)
                        self.named.setdefault((place[0], f"{place[1]}.{rest[0]}"), []).append((survey.path, line))
        for module, name in sorted({*self.asked, *output.starred}):
            self._through_stars(module, name, self.asked.get((module, name), module))
        for survey in surveys:
            for name in sorted(imports.read(survey)) if survey.stars and survey.module else ():
                self._through_stars(survey.module, name, survey.path)
        for module, name in self.asked:  # from lib import run / def __getattr__(name): return getattr(impl(), name)
            server = output.modules.get(module)
            if server is not None and "__getattr__" in server.bound and name not in server.bound:
                self.strings.setdefault(name, []).append(server)
        objects = Held(output, dynamic.reachable, dynamic.built, self.plain.keys() | self.beyond.keys())
        self.objects, self.loose, self.reachable = objects, objects.loose, objects.reachable
        self.held = set(self.loose) | set(self.reachable)

    def _through_stars(self, module: str, name: str, place: str) -> None:
        """``from pkg import run`` where ``pkg`` has it by ``from .a import *``, perhaps: ``pkg.a`` is asked for it as well."""
        for row, _, _ in self.world.bringers(module, name):
            if (row.target, name) not in self.brought:
                self.brought[row.target, name] = place
                self._through_stars(row.target, name, place)

    def judge(self, claims: Iterable[Claim]) -> list[str]:
        """All refuted claims, as located messages."""
        for claim in claims:
            found = self._member(claim) if claim.kind in ("member", "field") else self._name(claim)
            if found:
                self.problems.append(f"{claim.path}: {claim.kind} {claim.name} (upstream line {claim.line}) {found}")
        return self.problems

    def protected(self, module: str, name: str, kind: str, entry: bool = False) -> str:
        """The root or keep that wants this name, or ``""``; ``entry``: it went with an entry, which wins over a module's root."""
        for verb, (rule, text) in (*self.world.ruled.wants(module), *self.exposed.get(module, ())):
            _, colon, symbol = text.partition(":")
            if colon:
                wanted = symbol == name or ("*" in symbol and fnmatchcase(name, symbol))
            else:
                wanted = kind not in ("import", "member") and not name.startswith("_") and "." not in name
                wanted = wanted and not (entry and verb == "root")
            if wanted and not (verb == "root" and self.world.ruled.drops_symbol(module, name)):
                return f"is named by {verb} {text!r} ({rule})"
        return ""

    # -- module-level names --------------------------------------------------------------------

    def _name(self, claim: Claim) -> str:
        module, name = claim.module, claim.name
        if claim.kind == "export":
            return self._export(module, name)
        wanted = self.protected(module, name, claim.kind, claim.entry)
        if wanted:
            return wanted
        if self.world.ruled.drops_symbol(module, name):
            self.licences["named by a drop rule"] += 1
            return ""
        if claim.dropped:  # whoever asks for it, under whatever name, asks for what a rule takes
            self.licences["imports what a drop rule names"] += 1
            return ""
        if name.startswith("__") and name.endswith("__"):
            return "is a name that Python and tools look for"
        if claim.still and (place := self.asked.get((module, name)) or self.asked.get((module, "*"))):
            return f"is bound elsewhere too, and {place} reads it"
        if claim.star and (module, name) in self.asked:
            return f"is brought by import *, and {self.asked[module, name]} reads it"
        if (module, name) in self.brought and (claim.star or claim.kind != "import"):
            return f"may be what import * brings where {self.brought[module, name]} reads it"
        if module in self.dynamic.built and not name.startswith("_"):
            return f"may be asked of the module, which {self.dynamic.built[module]} loads by a built name"
        if module in self.objects.listed and claim.kind in ("function", "class"):
            return f"may be listed as a member of its module, which {self.objects.listed[module]} looks up"
        found = self._spelled_out(claim) or self._got(claim) or self._subclass(claim) or self._annotations(claim)
        if not found and module in self.held and not claim.outside:
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

    def _subclass(self, claim: Claim) -> str:
        """``Base.__subclasses__()``, ``cls.__subclasses__()``: the classes that it gives are named nowhere."""
        for module, base in claim.bases:
            for path, line in self.named.get((module, f"{base}.__subclasses__"), ()):
                return f"may be listed as a subclass of {base} in {path}:{line}"
            for row in (*self.plain.get("__subclasses__", ()), *self.strings.get("__subclasses__", ())):
                return f"may be listed as a subclass of {base} in {row.path}"
        return ""

    def _annotations(self, claim: Claim) -> str:
        """``get_type_hints(sys.modules[__name__])``: who holds the module as an object may list what it annotates."""
        if claim.kind != "note":
            return ""
        paths = self.loose.get(claim.module, set()) | self.reachable.get(claim.module, set())
        for path in sorted(paths):
            row = self.output.surveys[path]
            for name in _LISTING & (row.attributes | row.identifiers | row.strings):
                return f"may be listed by {name} in {path}"
        return ""

    def _spelled_out(self, claim: Claim) -> str:
        """Is the thing named in full by a string, built or plain?"""
        module, name = claim.module, claim.name
        full = (f"{module}.{name}", f"{module}:{name}")
        for text in full:
            if text in self.strings:
                return f"is named as the string {text!r} in {self.strings[text][0].path}"
        survey = self.output.modules.get(module)
        if survey is not None and name in survey.strings:
            if "globals" in survey.reflects or not all(
                self.output.ruled_pure(self.world.stated, survey.path, name) for name in survey.wrappers
            ):
                return "may be read through globals()"
            if survey.runs:
                return f"may be named by code that {survey.path}:{survey.runs} runs"
            if claim.kind in ("function", "class"):
                return "is a string in its own module, which may look it up"
        if survey is not None and survey.runs:
            for pattern in sorted(survey.coded):
                if re.fullmatch(pattern, name):
                    return f"fits {pattern!r} in code that {survey.path}:{survey.runs} runs"
            if survey.open and not claim.outside and (place := self.listed.written(name)):
                return f"may be named by code that {survey.path}:{survey.runs} runs: it is a word of a text in {place}"
        if claim.outside or name not in self.strings:
            return ""  # the parts of a built name are strings
        for pattern in self.dotted:
            head = pattern.partition(".*")[0].replace("\\", "")
            if head.startswith((f"{module}.", f"{module}:")) and any(re.fullmatch(pattern, text) for text in full):
                return f"fits the built name {pattern!r}"
        return ""

    def _got(self, claim: Claim) -> str:
        """``getattr`` on the module itself."""
        for path, line, pattern in self.getters.on_module.get(claim.module, ()):
            if not pattern.fullmatch(claim.name):
                continue
            if pattern.pattern == ".*" and claim.kind not in ("function", "class"):
                if claim.kind == "import" or not self._spelled(claim.name):
                    continue  # a name that is not spelled out anywhere has to be built of known parts
            return f"may be read by getattr in {path}:{line}"
        return ""

    def _export(self, module: str, name: str) -> str:
        """A name that only left ``__all__``: nobody may take it from there with a star."""
        child = f"{module}.{name}"
        if self.world.ruled.drops_module(child, self.world.tree.modules.get(child, "")):
            return ""
        if self.protected(module, name, "variable"):
            return "is no longer in __all__ of a module that outsiders use"
        place = self.asked.get((module, name))
        if place is not None:
            return f"is no longer in __all__, and {place} reads it from there"
        if any(module in row.stars for row in self.output.surveys.values()):
            return "is no longer in __all__, and a kept file imports * from the module"
        self.licences["no star import of the module is left to use __all__"] += 1
        return ""

    def _by_name(self, name: str, module: str) -> str:
        """The module may be held as an object: is it asked for this name where it is held?

        ``obj.name`` on a plain variable, a call or an attribute of self is believed of any file when the module is handed around.
        """
        holders = self.loose.get(module, set()) | self.reachable.get(module, set())
        for row in self.strings.get(name, ()):
            if row.path in holders:
                return f"is the string {name!r} in {row.path}, which holds the module as an object"
        for path, words in self.dynamic.data_words.items():
            if name in words:
                return f"is named in {path}"
        for row in (*self.plain.get(name, ()), *self.beyond.get(name, ())):
            if row.path in holders or module in self.loose:
                return f"may be the attribute {name} in {row.path}, where the module may be an object"
        for path, line, _ in self.getters.on_anything(name, headed=True):
            return f"may be read by getattr in {path}:{line}"
        return ""

    def _spelled(self, name: str) -> bool:
        """Is the name a string somewhere, or does it fit a built one?"""
        return name in self.strings or self.telling.fits(name)

    # -- members -------------------------------------------------------------------------------

    def _member(self, claim: Claim) -> str:
        module, name = claim.module, claim.name
        owner, _, short = name.rpartition(".")
        found = self.protected(module, name, "member")
        readers = self.named.get((module, name))
        if readers and not found:
            found = f"is still read in {readers[0][0]}:{readers[0][1]}"
        if found:
            return found
        if self.world.ruled.drops_symbol(module, name):
            self.licences["named by a drop rule"] += 1
            return ""
        if claim.function and not short.startswith("_") and (module, owner) in self.offered:
            return "may be called by outsiders, who have the class: {1!r} ({0})".format(*self.offered[module, owner])
        if claim.handed:
            return f"is handed to {claim.handed}, which may call it"
        if claim.kind == "field":
            return "is a field: its class's constructor, order and serialised form have it"
        if short.startswith("__") and short.endswith("__"):
            return "is called by Python itself"
        if ENUMS & set(claim.above) and (not claim.function or short in SUNDER):
            place = self._as_value(owner.rpartition(".")[2])
            if place:
                return f"is of an enumeration, whose members are looked up by value or listed in {place}"
        if short in self.attributes:
            return f"may be the attribute {short} in {self.attributes[short][0].path}"
        if short in self.strings:
            return f"may be the string {short!r} in {self.strings[short][0].path}"
        if short in self.outside:
            return "may be asked for by code outside the tree, which reads that name of objects"
        if short in self.asked_for:
            return f"is asked for by isinstance of the protocol {self.asked_for[short]}"
        place = self.listed.where(module, owner)
        if place:
            return f"may be listed with the members of its class in {place}"
        outside = self._called_from_outside(claim.above)
        if outside:
            return f"may be called by its base class {outside}"
        for path, line, pattern, whole in self.getters.on_self.get((module, owner), ()):
            if pattern.fullmatch(short) and (whole or pattern.pattern != ".*" or self._spelled(short)):
                return f"may be read by a built name in {path}:{line}"
        for path, line, _ in self.getters.on_anything(short):
            return f"may be read by a built name in {path}:{line}"
        if self.telling.fits(short, module, owner):
            return "fits a name that kept code builds"
        self.licences["a member whose name occurs nowhere in kept code"] += 1
        return ""

    def _as_value(self, name: str) -> str:
        """Where kept code has a class by its bare name, as in ``Kind(x)`` and ``for k in Kind``, and not only ``Kind.A``."""
        for path in sorted(self.output.tree.files):
            if not path.endswith(".py") or name.encode() not in (data := self.output.tree.read(path)):
                continue
            tree = parse_bytes(data)
            if tree is None:
                return path
            nodes = list(ast.walk(tree))
            single = {id(n.value) for n in nodes if isinstance(n, ast.Attribute) and not n.attr.startswith("__")}
            for node in nodes:
                if isinstance(node, ast.Name | ast.Attribute) and id(node) not in single:
                    if (node.id if isinstance(node, ast.Name) else node.attr) == name:
                        return f"{path}:{node.lineno}"
        return ""

    def _called_from_outside(self, bases: Iterable[str]) -> str:
        """A base class from outside the tree that may call any method that it knows."""
        for base in sorted(set(bases) - ({"object", "abc.ABC", "?"} | ENUMS)):
            if not base.startswith(("typing.", "typing_extensions.")) and not is_pure(self.world.stated, base):
                return base
        return ""

    # -- whole modules and named symbols ---------------------------------------------------------

    def removed_modules(self) -> None:
        """Modules that are gone: roots, keeps; the rest is asked by ``imports`` and ``modules``."""
        for module, path in sorted(self.world.tree.modules.items()):
            if self.output.tree.has_module(module):
                continue
            ruled = self.world.ruled.drops_module(module, path)
            wanted = ""
            for verb, (rule, text) in self.world.ruled.wants(module):
                if not (verb == "root" and ruled):
                    wanted = f"is named by {verb} {text!r} ({rule})"
            if wanted:
                self.problems.append(f"{path}: module {module} is gone, but {wanted}")
            else:
                self.licences["module named by a drop rule" if ruled else "module that no kept code names"] += 1

    def kept_symbols(self) -> None:
        """Each symbol that a keep, a root or an entry point names is still found where outsiders look."""
        for verb, (rule, text) in self.world.ruled.wanted:
            if text.endswith((".toml", ".txt")):
                self._project(text)
                continue
            module, colon, symbol = text.partition(":")
            if not colon or module in ("path", "name") or "*" in text or "[" in text:
                continue
            head = symbol.partition(".")[0]
            if verb == "root" and self.world.ruled.drops_symbol(module, head):
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


def _index(surveys: Iterable[Survey], field: str) -> dict[str, list[Survey]]:
    table: dict[str, list[Survey]] = {}
    for row in surveys:
        for name in getattr(row, field):
            table.setdefault(name, []).append(row)
    return table
