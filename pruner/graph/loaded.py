"""Modules whose names reach an import through calls, parts of texts and folders.

A relative name and its package come from different places (``load(".b", package="impl")``); a text holds several names
(``"impl.b,impl.c"``, JSON); a folder is walked that a file's place tells (``iter_modules([dirname(pkg.__file__)])``).

Blind to single words among other words, unless the same module imports what can be anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pruner.graph.live import Marker
    from pruner.model.ir import Expr

_PIECE = re.compile(r"\.?[^\W\d]\w*(?:[.:][^\W\d]\w*)*")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)+(?::[^\W\d]\w*(?:\.[^\W\d]\w*)*)?")
_NAMED = re.compile(r"\.*[^\W\d][\w-]*(?:[.:][^\W\d]\w*)*")  # also ``my-b``
_HOLE = re.compile(r"\.[*+]")  # in a shape, where a dot of the name has a backslash and no star behind it
_BETWEEN = re.compile(r"[\s,;|]+")
_PLACES = ("__file__", "__path__")
_FROM = re.compile(r"\bfrom\s+([\w.]+)\s+import\s+(\([^)]*|[\w ,*]+)")
_IMPORT = re.compile(r"\bimport\s+([\w.]+)")
_IMPORTING = frozenset(("import_module", ".import_module", "__import__", ".__import__"))
_RELATIVE = re.compile(r"\.+[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def _apart(beside: str, at: int) -> bool:
    """Does a mark or the end of a line stand beside a name in a text, not a word?"""
    beside = beside.strip(" \t")
    return not beside or not (beside[at].isalnum() or beside[at] in "_-.`/")


class Loaded:
    """What live texts may name, and the calls that may import it."""

    def __init__(self, marker: Marker) -> None:
        self.marker = marker
        self.declared = {d.site for d in marker.policy.dynamics}  # modules of which a rule says what they load
        self.tops = {name.partition(".")[0] for name in marker.table.paths}
        self._relative: dict[str, str] = {}  # ".b" -> the definition that has the text
        self._words: dict[str, str] = {}  # modules without a dot that a text is -> definition
        self._among: dict[tuple[str, str], str] = {}  # module, and such a word among others in its texts -> definition
        self._open: set[str] = set()  # modules that import what can be anything
        self._anchors: set[str] = set()  # packages that relative names are handed with
        self._any_anchor = False  # such a package can be anything: what code names as one
        self._spelled: set[str] = set()  # words that texts are
        self._built: dict[
            str, set[str]
        ] = {}  # modules that import ``package + "." + name`` -> regular expressions of these
        self._shapes: set[str] = set()  # relative names that are built, as regular expressions
        # Module -> of each shape of what it loads the modules that fit and what fills their holes; names of its texts.
        self._sites: dict[str, tuple[dict[str, list[tuple[str, frozenset[str]]]], set[str]]] = {}
        self._done: set[tuple[str, str]] = set()
        self._said: dict[str, set[str]] = {}  # module -> its docstrings

    # -- texts -------------------------------------------------------------------------------------

    def tells(self, text: str) -> bool:
        """May the text hold the whole name of a module of the tree?"""
        return any(top in text for top in self.tops)

    def several(self, module: str, node: str, text: str, tells: bool) -> list[str]:
        """The dotted names of the tree in a text that holds more than one name; notes what else it may name.

        ``tells``: what :meth:`tells` says of it.
        """
        if text.isidentifier():
            if text in self.tops:
                self._words.setdefault(text, node)
            else:
                self._spelled.add(text)
            return []
        if not tells and text.lstrip(" \t\n,;|")[:1] != ".":
            return []  # most are for people
        if _RELATIVE.fullmatch(text):
            self._relative.setdefault(text, node)
            return []
        rows = _BETWEEN.split(text.strip(" \t\n,;|"))
        if len(rows) > 1 and all(_RELATIVE.fullmatch(row) for row in rows):
            for row in rows:
                self._relative.setdefault(row, node)
            return []
        if len(rows) > 1 and all(row in self.marker.table.paths for row in rows):
            for row in rows:
                self._words.setdefault(row, node)
        found: list[str] = []
        told: list[str] = []
        if not tells:
            return found
        listed = len(rows) > 1 and all(_DOTTED.fullmatch(row) for row in rows)
        for match in _PIECE.finditer(text):
            piece = match[0]
            if piece == text or piece.partition(".")[0].partition(":")[0] not in self.tops:
                continue
            apart = listed or (_apart(text[: match.start()][-9:], -1) and _apart(text[match.end() :][:9], 0))
            if "." in piece or ":" in piece:
                if not self._dropped(piece):  # a part of a text is no demand for what a rule drops
                    (found if apart else told).append(piece)
            elif apart:
                self._among.setdefault((module, piece), node)
        if not (found or told) or text in self._remarks(module):
            return []
        for piece in told:  # "run python -m pkg.mod": a sentence asks for no name of it
            split = self.marker.table.split(piece.replace(":", "."))
            if split is not None and "." in split[0] and split[0] in self.marker.table.paths:
                self.marker.execute(split[0], node, "text", self.marker.path_of(node), 0)
        return found

    def statements(self, module: str, text: str) -> list[tuple[str, str]]:
        """(module, name) of import statements in a text: ``[sys.executable, "-c", "from pkg.mod import f; f()"]``."""
        found = [
            (m[1], name)
            for m in _FROM.finditer(text)
            for name in re.findall(r"[*\w]+", re.sub(r"\bas\s+\w+", "", m[2]))
        ]
        found += [(m[1], "") for m in _IMPORT.finditer(text)]
        found = [
            row for row in found if row[0] in self.marker.table.paths and not self._dropped(".".join(row).rstrip("."))
        ]
        return [] if not found or text in self._remarks(module) else found

    def _dropped(self, piece: str) -> bool:
        split = self.marker.table.split(piece.replace(":", "."))
        if split is None:
            return False
        drops, (module, rest) = self.marker.drops, split
        return bool(drops.module(module) or (rest and drops.symbol(module, rest.partition(".")[0])))

    def _remarks(self, module: str) -> set[str]:
        """Texts that are statements of a module: docstrings, which no code splits."""
        if module not in self._said:
            found = self._said[module] = set()
            stack: list[Any] = [self.marker.out.states[module].summary.body]
            while stack:
                item = stack.pop()
                if len(item) == 4 and item[0] == "e" and item[3][0] == "c" and isinstance(item[3][1], str):
                    found.add(item[3][1])
                stack += [inner for inner in item if inner.__class__ is tuple]
        return self._said[module]

    # -- calls -------------------------------------------------------------------------------------

    def anything(self, module: str, package: Expr | None, base: str | None) -> None:
        """``import_module(name, package)`` of a name that can be anything; ``base``: a pattern of the package."""
        if module in self.declared:
            return
        self._open.add(module)
        if package is not None:
            self.relative(".+", base)

    def built(self, module: str, shape: str) -> None:
        """``import_module(f"{package}.{name}")``: a module of a package that code names, under a word that a text is."""
        if module not in self.declared:
            self._built.setdefault(module, set()).add(shape)

    def sited(self, module: str, node: str, words: Iterable[str] = (), shape: str = "") -> None:
        """What a site loads by a built name, of which a rule lists what it yields: texts of its own may say more.

        ``GROUPS = ("a", "b")``, ``import_module(f"{__name__}.{group}")``: the list was right for one release; the tuple of
        the next one has a name more, and without that module importing the package fails. Of ``f"pkg.{kind}.{name}_impl"``
        texts fill each hole.
        """
        shapes, known = self._sites.setdefault(module, ({}, set()))
        if shape and shape not in shapes:
            wanted = [re.compile(_HOLE.sub(rf"(\g<0>{least})", shape)) for least in ("", "?")]
            found = [(child, m) for child in self.marker.table.paths for w in wanted if (m := w.fullmatch(child))]
            shapes[shape] = [(child, frozenset(m.groups()) - {""}) for child, m in found]
        fresh = {spelling for word in words for spelling in self._spellings(word)} - known
        known |= fresh
        for kept in [shapes[shape]] if shape else shapes.values() if fresh else ():
            for child, fills in kept:
                if fills <= known and not self.marker.drops.module(child) and (module, child) not in self._done:
                    self._done.add((module, child))
                    self.marker.escape(child, node, 0, private=False)

    @staticmethod
    def _spellings(text: str) -> set[str]:
        """The names that a text of a site may be: ``"b"``, ``".b"``, ``"a b"``, ``"b:Class"``, ``"b.Class"``, ``"my-b"``."""
        rows = _BETWEEN.split(text.strip(" \t\n,;|")) if len(text) < 2000 else []
        if not all(_NAMED.fullmatch(row) for row in rows):
            return set()  # for people
        names = {row.lstrip(".").partition(":")[0] for row in rows}
        names |= {name.rpartition(".")[0] for name in names if "." in name}
        names |= {name.replace("-", "_") for name in names}
        return names | {name.lower() for name in names}

    def named(self, module: str, node: str, chain: Expr) -> None:
        """``pkg.__name__``: the package may be handed on by that name."""
        symbol, rest = self.marker.world.follow(module, chain[1], chain[2][:-1])
        if symbol.kind == "module" and not rest and self.marker.table.is_package(symbol.module):
            self.marker.held.package_named(symbol.module, node)

    def relative(self, pattern: str, base: str | None) -> None:
        """A built relative name, with a package of which a pattern may be known."""
        self._shapes.add(pattern)
        known = (base or "").replace("\\", "")
        if base and re.escape(known) == base:
            self._anchors.add(known)
        else:
            self._any_anchor = True

    def handed(self, module: str, e: Expr) -> None:
        """``map(importlib.import_module, names)``."""
        for argument in e[2]:
            if argument[0] in ("n", "v") and (argument[2][-1] if argument[2] else argument[1]) in _IMPORTING:
                self.anything(module, None, None)
                self.built(module, r".+\..+")

    # -- folders -----------------------------------------------------------------------------------

    def folders(self, module: str, argument: Expr) -> list[str]:
        """The packages whose folders an expression speaks of: ``[os.path.dirname(pkg.__file__)]``, ``list(pkg.__path__)``."""
        found: list[str] = []
        texts: list[str] = []
        stack: list[Any] = [argument]
        while stack:
            item = stack.pop()
            if item.__class__ is not tuple:
                continue
            if len(item) == 3 and item[0] in ("n", "v") and item[2].__class__ is tuple:
                found += self._around(module, item)
            elif len(item) == 2 and item[0] == "c" and isinstance(item[1], str):
                texts.append(item[1])
            stack += item
        return self._below(found, texts)

    def place(self, module: str, node: str, chain: Expr, texts: list[str]) -> None:
        """Live code reads ``pkg.__file__``: a walk there may be given that folder, or one of its own that it names."""
        for package in self._below(self._around(module, chain), texts):
            self.marker.held.package_named(package, node)

    def _around(self, module: str, chain: Expr) -> list[str]:
        """The package around the file of which a chain reads the place."""
        table, homes = self.marker.table, []
        if chain[1] in _PLACES and not chain[2]:
            homes = [module]
        else:
            at = next((i for i, step in enumerate(chain[2]) if step[1:] in _PLACES), None)
            if at is not None and chain[0] == "n":
                symbol, rest = self.marker.world.follow(module, chain[1], chain[2][:at])
                homes = [symbol.module] if symbol.kind == "module" and not rest else []
            elif at is not None:  # a name that the function imports
                homes = [
                    name
                    for name in table.paths
                    if name.rpartition(".")[2] == (chain[1], *chain[2][:at])[-1].lstrip(".")
                ]
        return [home if table.is_package(home) else home.rpartition(".")[0] for home in homes]

    def _below(self, packages: list[str], texts: list[str]) -> list[str]:
        """With the packages in their folders that texts name: ``Path(__file__).parent / "plugins"``."""
        table = self.marker.table
        inner = [
            ".".join([*filter(None, [package]), *text.strip("./").split("/")]) for package in packages for text in texts
        ]
        return [*packages, *(name for name in inner if name in table and name in table.children)]

    def inside(self, package: str) -> list[str]:
        """The modules that a walk of a package's folder gives; "" is the folder of all."""
        table = self.marker.table
        found = table.children.get(package, ()) if package else [name for name in table.paths if "." not in name]
        return sorted(name for name in found if name in table.paths)

    # -- the fixed point -----------------------------------------------------------------------------

    def solve(self) -> bool:
        """Keep what names and calls have in common; True when something new lives."""
        marker, changed = self.marker, False
        for word, node in list(self._words.items()) if self._open else ():
            if word not in marker.table.children:  # the name of the whole program is in many texts
                changed |= self._keep(word, node)
            elif word in marker.table.paths and not marker.drops.module(word) and ("", word) not in self._done:
                self._done.add(("", word))
                marker.execute(word, node, "text", marker.path_of(node), 0)
                changed = True
        for (module, word), node in list(self._among.items()):
            if module in self._open:
                changed |= self._keep(word, node)
        changed |= self._members()
        anchors = set(self._anchors)
        if self._any_anchor:
            anchors |= marker.held.packages()
        for anchor in sorted(anchors):
            for text, node in list(self._relative.items()) if ".+" in self._shapes else ():
                level = len(text) - len(text.lstrip("."))
                base = anchor.split(".")[: anchor.count(".") + 2 - level]
                changed |= self._keep(".".join([*base, text.lstrip(".")]), node) if base else False
            for shape in sorted(self._shapes - {".+"}):
                if (anchor, shape) not in self._done:
                    self._done.add((anchor, shape))
                    wanted = re.compile(re.escape(anchor) + shape)
                    for child in marker.table.below(anchor):
                        if wanted.fullmatch(child):
                            changed |= self._keep(child, marker.held.named_by(anchor))
        return changed

    def _members(self) -> bool:
        """What built names and packages that are named near them, or near who imports them, may mean together."""
        marker, changed = self.marker, False
        for package, module in sorted(marker.held.named_packages) if self._built else ():
            if any(dynamic.package == package for dynamic in marker.policy.dynamics):
                continue  # a rule says which of its modules are loaded
            shapes = {s for home, found in self._built.items() if marker.held.near(module, home) for s in found}
            for child in self.inside(package) if shapes else ():
                last = child.rpartition(".")[2]
                if last in self._spelled and last != "__main__" and any(re.fullmatch(shape, child) for shape in shapes):
                    changed |= self._keep(child, module)
        return changed

    def _keep(self, module: str, node: str) -> bool:
        if module not in self.marker.table.paths or ("", module) in self._done:
            return False
        self._done.add(("", module))
        if self.marker.drops.module(module):
            return False
        self.marker.escape(module, node, 0, private=False)
        return True
