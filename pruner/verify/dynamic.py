"""Check ``modules``: what kept code loads by a name that it builds, walks or writes as a string is still there.

A registry that swallows errors, ``python -m``, a table of lazy parts, an unpickled class: no import
statement names their target.

Blind to names read from a configuration, the environment or the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from pruner.verify.output import Output
from pruner.verify.record import DOTTED, Survey
from pruner.verify.world import World

DATA = (".pkl", ".pickle", ".yaml", ".yml", ".toml", ".cfg", ".ini", ".txt", ".json", ".sh", ".service")
LARGEST = 1_000_000  # bytes of a data file that is searched for module names


MODULE = re.compile(r"[^\W\d]\w*(?:\.\w+)*\.[\w.:]*\0[\w.:\0]*")  # a dotted name with a part that is not known
NAME = re.compile(r"\.*[^\W\d][\w-]*(?:[.:][^\W\d]\w*)*")


class Dynamic:
    """Dynamic loading sites of the output."""

    def __init__(self, world: World, output: Output) -> None:
        self.world = world
        self.up = world.tree
        self.output = output
        self.problems: list[str] = []
        self.packages: dict[str, str] = {}  # walked package -> where
        self.members = 0
        self.reachable: dict[str, str] = {}  # module that dynamic code may hold as an object -> where
        self.built: dict[str, str] = {}  # those of them that a loading site names in parts -> where
        self.data_words: dict[str, set[str]] = {}  # data file -> dotted names in it

    def run(self) -> list[str]:
        """All problems."""
        gone = {name for name in self.up.modules if not self.output.tree.has_module(name)}
        walkers = {s.module for s in self.output.surveys.values() if s.walks}
        for survey in self.output.surveys.values():
            self._walks(survey, walkers)
            self._loads(survey, gone)
            self._texts(survey, gone)
            self._strings(survey, gone)
            self._files(survey, gone)
        self._data(gone)
        for package, place in sorted(self.packages.items()):
            self._package(package, place)
        return self.problems

    def excluded(self, module: str, package: str) -> bool:
        """Do the rules say that loading ``package`` by name does not yield ``module``?"""
        if self.world.ruled.drops_module(module, self.up.modules.get(module, "")):
            return True
        rows = [members for _, name, members, site in self.world.stated.dynamics if name == package]
        member = module[len(package) + 1 :]
        return bool(rows) and not any(fnmatchcase(member, glob) for members in rows for glob in members)

    def declared(self, module: str) -> bool:
        """Is ``module`` below a package whose members the rules list, and not among them?"""
        return any(
            module.startswith(f"{package}.") and self.excluded(module, package)
            for _, package, _, site in self.world.stated.dynamics
            if not site
        )

    def _package(self, package: str, place: str) -> None:
        head = f"{package}."
        for module in sorted(self.up.modules):
            if not module.startswith(head) or "." in module[len(head) :] or self.excluded(module, package):
                continue
            self.members += 1
            self.reachable.setdefault(module, place)
            if not self.output.tree.has_module(module):
                self.problems.append(f"{place}: walks {package}, whose member {module} is gone without a rule")

    def _walks(self, survey: Survey, walkers: set[str]) -> None:
        """``pkgutil.iter_modules(pkg.__path__)``, or of a package whose name came as a string."""
        vague = False
        for line, chain in survey.walks:
            found = chain == "." and bool(self._around(survey.module))
            if found:
                self.packages.setdefault(self._around(survey.module), f"{survey.path}:{line}")
            for place, rest, _ in self.output.places(survey.path, chain) if chain else ():
                if place[0] == "module" and not rest and self.up.has_module(place[1]) and self._around(place[1]):
                    self.packages.setdefault(self._around(place[1]), f"{survey.path}:{line}")
                    found = True
            vague = vague or not found
        users = vague or any(row.target in walkers for row in survey.imports)
        if users:
            for text in survey.strings:
                if text in self.up.packages and "." in text:
                    self.packages.setdefault(text, survey.path)
            for chain in survey.chains:  # path = os.path.dirname(pkg.__file__)
                for place, _, _ in self.output.places(survey.path, chain) if chain.endswith(".__file__") else ():
                    if place[1] == "__file__" and self._around(place[0]):
                        self.packages.setdefault(self._around(place[0]), survey.path)

    def _around(self, module: str) -> str:
        """The package whose folder holds the file of a module; "" where it lies in no package."""
        return module if self.up.is_package(module) else module.rpartition(".")[0]

    def _relative(self, survey: Survey, package: str, place: str, gone: set[str]) -> None:
        """``import_module(name, package)`` of two parameters: relative texts and packages of the file, or of who imports it."""
        files = [s for s in self.output.surveys.values() if any(row.target == survey.module for row in s.imports)]
        texts = {text for file in (survey, *files) for text in file.strings}
        anchors = texts & self.up.packages if ".*" in package else {package.replace("\\", "")}
        for text in sorted(t for t in texts if re.fullmatch(r"\.+[^\W\d]\w*(?:\.[^\W\d]\w*)*", t)):
            for anchor in sorted(anchors):
                parts = anchor.split(".")[: anchor.count(".") + 2 - (len(text) - len(text.lstrip(".")))]
                name = ".".join([*parts, text.lstrip(".")])
                if parts and name in self.up.modules:
                    self.reachable.setdefault(name, place)
                    if name in gone and not self._ruled(name):
                        self.problems.append(
                            f"{place}: loads {text} of a package, which may be {name}, and that is gone"
                        )

    def _loads(self, survey: Survey, gone: set[str]) -> None:
        for line, pattern, package in survey.loads:
            place = f"{survey.path}:{line}"
            if pattern == ".*" and package and all(row[3] != survey.module for row in self.world.stated.dynamics):
                self._relative(survey, package, place, gone)
            if pattern.startswith("\\.") and package and ".*" not in package:
                pattern = package + pattern
            literal = pattern.replace(".*", "").replace("\\", "")
            if not literal.strip("."):
                continue  # any name at all: the strings of the tree have to say which
            sites = [row for row in self.world.stated.dynamics if row[3] == survey.module]
            if sites and ".*" in pattern:
                self._declared(sites, place)  # a rule says what this site yields
                words = {name for text in survey.strings for name in _names(text)}
                shapes = [re.compile(pattern.replace(".*", hole)) for hole in ("(.*)", "(.*?)")]
                for name in sorted(gone):
                    # GROUPS = ("a", "b"), import_module(f"{__name__}.{group}"): a rule that lists a without b forgot it
                    fills = [set(m.groups()) - {""} for shape in shapes if (m := shape.fullmatch(name))]
                    if any(fill <= words for fill in fills):
                        if not self.world.ruled.drops_module(name, self.up.modules[name]):
                            self.problems.append(f"{place}: loads modules of names that the file has: {name} is gone")
                continue
            wanted = re.compile(pattern)
            top = literal.partition(".")[0]
            if ".*" not in pattern:
                name = pattern.replace("\\", "")
                self.reachable.setdefault(name, place)
                if name in gone and not self._ruled(name):
                    self.problems.append(f"{place}: loads {name}, which is gone")
                continue
            if not any(top.startswith(t) or t.startswith(top) for t in self.up.tops):
                continue
            for name in sorted(self.up.modules):
                if wanted.fullmatch(name):
                    self.reachable.setdefault(name, place)
                    self.built.setdefault(name, place)
                    if name in gone and not self._ruled(name):
                        self.problems.append(f"{place}: loads modules by a built name that fits {name}, which is gone")

        for line, text in survey.named:
            name = text.partition(":")[0]
            if name in self.up.modules:
                self.reachable.setdefault(name, f"{survey.path}:{line}")
                if name in gone and not self._ruled(name):
                    self.problems.append(f"{survey.path}:{line}: names {name}, which is gone")

    def _texts(self, survey: Survey, gone: set[str]) -> None:
        """``path = f"pkg.plugins.{kind}"``, ``f"python -m pkg.tools.{name}"``: somebody may load what the text names."""
        if survey.wrappers and all(
            self.output.ruled_pure(self.world.stated, survey.path, name) for name in survey.wrappers
        ):
            return  # globals()[name] = traced(globals()[name], f"pkg.{name}"): who has no effect loads nothing
        for line, text in survey.texts:
            for word in MODULE.findall(text):
                package = word.partition("\0")[0].rpartition(".")[0]
                if package not in self.up.packages or "\0" not in word or self._site(survey, package):
                    continue
                steps = word.partition(":")[0].rstrip(".").split(".")
                # pkg.plugins.{kind}.main: the last step may be a name of the module
                shapes = {".".join(steps[:cut]) for cut in (len(steps), len(steps) - 1)}
                shapes = {shape for shape in shapes if "\0" in shape}
                for name in sorted(gone):
                    if name.startswith(f"{package}.") and not self._ruled(name):
                        if any(re.fullmatch(".*".join(map(re.escape, s.split("\0"))), name) for s in shapes):
                            self.problems.append(
                                f"{survey.path}:{line}: builds a text that may name {name}, which is gone"
                            )

    def _site(self, survey: Survey, package: str) -> bool:
        """Does a rule say which modules of a package the file loads, or another that it imports and hands names to?"""
        for _, known, _, site in self.world.stated.dynamics:
            if known == package or site == survey.module:
                return True
            if package.startswith(f"{known}.") and site and self._imports(survey, site):
                return True
        return False

    def _imports(self, survey: Survey, site: str) -> bool:
        other = next((s for s in self.output.surveys.values() if s.module == site), None)
        pairs = [(survey, site), (other, survey.module)] if other is not None else [(survey, site)]
        return any(name in (row.target, f"{row.target}.{row.symbol}") for file, name in pairs for row in file.imports)

    def _declared(self, sites: list[tuple[str, str, tuple[str, ...], str]], place: str) -> None:
        for _, package, members, _ in sites:
            for name in self.up.modules:
                if name.startswith(f"{package}.") and any(fnmatchcase(name[len(package) + 1 :], g) for g in members):
                    self.reachable.setdefault(name, place)
                    self.built.setdefault(name, place)
                    if not self.output.tree.has_module(name) and not self._ruled(name):
                        self.problems.append(f"{place}: a rule says that it loads {name}, which is gone")

    def _ruled(self, name: str) -> bool:
        return self.world.ruled.drops_module(name, self.up.modules.get(name, "")) or self.declared(name)

    def _strings(self, survey: Survey, gone: set[str]) -> None:
        loads = bool(survey.loads)
        for text in sorted(survey.strings):
            for name in self._meant(text, survey, loads):
                self.reachable.setdefault(name, survey.path)
                if name in gone and not self._ruled(name):
                    self.problems.append(f"{survey.path}: names {name} as a string, and it is gone")
            if text.endswith(".py") and not self._script(text):
                self.problems.append(f"{survey.path}: names the file {text} as a string, and it is gone")

    def _files(self, survey: Survey, gone: set[str]) -> None:
        """Python files whose path is put together; what one loads by its path has users for every public name."""
        for line, pattern in survey.files:
            tail = re.sub(r"^(?:\\?[./])*", "", pattern)  # no bracket of glob("[a-z]*.py") loses its backslash
            near = not re.search(r"\w", tail.removesuffix("py"))
            if near and not survey.loader:
                continue
            wanted = re.compile(pattern if near or tail.startswith("*") else f"(?:.*/)?{tail}")
            below = self._below(survey) if near else ("",)
            for name, path in sorted(self.up.modules.items()):
                if name == survey.module or not path.startswith(tuple(below)) or not wanted.fullmatch(path):
                    continue
                self._by_path(survey, name, line)
                if name in gone and not self._ruled(name):
                    self.problems.append(f"{survey.path}:{line}: may load the file {path}, which is gone")
        for text in sorted(survey.strings) if survey.loader else ():
            if text.endswith(".py"):
                for name, path in self.up.modules.items():
                    if path == text or path.endswith("/" + text.lstrip("./")):
                        self._by_path(survey, name, survey.runs)

    def _by_path(self, survey: Survey, name: str, line: int) -> None:
        place = f"{survey.path}:{line}"
        self.reachable.setdefault(name, place)
        if survey.loader:
            self.built.setdefault(name, place)

    def _below(self, survey: Survey) -> list[str]:
        """Folders beside the file that its strings name, or its own."""
        head = survey.path.rpartition("/")[0]
        head = head + "/" if head else ""
        inner = {path[len(head) :].partition("/")[0] for path in self.up.modules.values() if path.startswith(head)}
        named = [f"{head}{name}/" for name in sorted(inner) if name in survey.strings]
        return named or [head]

    def _meant(self, text: str, survey: Survey, loads: bool) -> list[str]:
        """The modules of the tree that a string may mean."""
        if text.startswith(".") and loads and survey.module:
            parts = survey.module.split(".")
            if not self.up.is_package(survey.module):
                parts = parts[:-1]
            text = ".".join(parts) + text
        found = []
        rows = re.split(r"[\s,;|]+", text.strip()) if loads else []
        if len(rows) > 1 and all(row in self.up.modules for row in rows):
            found += rows  # "one,two".split(",")
        text = text.partition(":")[0]
        if "." in text or loads:
            while text:
                if text in self.up.modules:
                    found.append(text)
                    break
                text = text.rpartition(".")[0]  # pkg.mod.Class names pkg.mod
                if "." not in text:
                    break
        return found

    def _script(self, text: str) -> bool:
        """Is a file that a string names by its path still there (or was it never in the tree)?"""
        base = text.rpartition("/")[2]
        had = [path for path in self.up.modules.values() if path == text or path.endswith("/" + text)]
        if not had or base in ("__init__.py",):
            return True
        return any(
            path in self.output.tree.files or self.world.ruled.drops_module(module, path)
            for module, path in self.up.modules.items()
            if path in had
        )

    def _data(self, gone: set[str]) -> None:
        tops = [name.encode() for name in self.up.tops]
        for path in sorted(self.output.tree.files):
            if not path.endswith(DATA) or ".dist-info/" in path or self.output.tree.files[path] is not None:
                continue
            if path == "PRUNED.json":  # facts name what they speak of, kept or not
                continue
            data = self.output.tree.read(path)
            if len(data) > LARGEST or not any(top + b"." in data for top in tops):
                continue
            words = set(DOTTED.findall(data.decode("latin-1")))
            if path.endswith((".pkl", ".pickle")):
                words |= set(re.findall(r"[A-Za-z_]\w*", data.decode("latin-1")))
            self.data_words[path] = words
            for word in sorted(words):
                name = word
                while name and name not in self.up.modules:
                    name = name.rpartition(".")[0]
                if not name or ("." not in name and "." not in word):
                    continue
                self.reachable.setdefault(name, path)
                if name in gone and not self._ruled(name):
                    self.problems.append(f"{path}: this data names {name}, which is gone")


def _names(text: str) -> Iterator[str]:
    """What a text of a site may name: a module, several, one with a name of it, one that is written otherwise."""
    parts = text.replace(",", " ").replace(";", " ").replace("|", " ").split()
    if len(text) < 2000 and all(NAME.fullmatch(part) for part in parts):
        for part in parts:
            name = part.lstrip(".").split(":")[0]
            for spelled in (name, ".".join(name.split(".")[:-1])):
                for word in (spelled, spelled.replace("-", "_")):
                    yield from (word, word.lower())
