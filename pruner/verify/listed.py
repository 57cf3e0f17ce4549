"""Classes whose members kept code lists: ``inspect.getmembers(C)``, ``dir(self)``, ``vars(cls)``, ``C.__dict__``.

Where a function lists what it is given, so are the classes that it decorates and those that calls of it name. Blind
to objects that come another way: out of a table, from a caller's caller.
"""

from __future__ import annotations

import ast

from pruner.verify.built import chain_text
from pruner.verify.classes import Classes
from pruner.verify.coded import words
from pruner.verify.names import FUNCTIONS
from pruner.verify.nodes import walk
from pruner.verify.output import Output


class Listed:
    """Which classes are listed, and where."""

    def __init__(self, output: Output, classes: Classes) -> None:
        self.output = output
        self.classes = classes
        self._whole: dict[tuple[str, str], str] = {}  # these and their bases
        self._family: dict[tuple[str, str], str] = {}  # and what derives from them
        listing: dict[tuple[str, str], str] = {}  # functions that list what they are given
        for row in output.surveys.values():
            vague = []
            for line, base, _, _, method in row.gets:
                if method not in ("dir", "vars"):
                    continue
                place = f"{row.path}:{line}"
                if base.startswith("self:"):
                    self._family.setdefault((row.module, base[5:]), place)
                elif not self._take(output, row.path, base, place) and method == "dir":
                    vague.append(line)
            tree = output.tree.parse(row.path) if vague else None
            for line in vague if tree is not None else ():
                place = f"{row.path}:{line}"
                for name in _named_beside(tree, line) & (set(row.bound) | {i.bound for i in row.imports}):
                    self._take(output, row.path, name, place)
                for node in tree.body if tree is not None else ():
                    if isinstance(node, FUNCTIONS) and node.lineno <= line <= (node.end_lineno or line):
                        listing.setdefault((row.module, node.name), place)
        if listing:
            self._handed(output, listing)

    def _handed(self, output: Output, listing: dict[tuple[str, str], str]) -> None:
        """Classes that such a function decorates, or that a call of it names."""
        names = {name for _, name in listing}
        for path, row in output.surveys.items():
            if names.isdisjoint(row.identifiers) and names.isdisjoint(row.attributes):
                continue
            tree = output.tree.parse(path)
            for node in walk(tree) if tree is not None else ():
                if isinstance(node, ast.Call):
                    place = self._listing(output, path, node.func, listing)
                    for part in (*node.args, *(k.value for k in node.keywords)) if place else ():
                        chain = chain_text(part.func if isinstance(part, ast.Call) else part)
                        self._take(output, path, chain, place)
                elif isinstance(node, ast.ClassDef):
                    for mark in node.decorator_list:
                        place = self._listing(output, path, mark.func if isinstance(mark, ast.Call) else mark, listing)
                        if place:
                            self._whole.setdefault((row.module, node.name), place)

    @staticmethod
    def _listing(output: Output, path: str, node: ast.expr, listing: dict[tuple[str, str], str]) -> str:
        chain = chain_text(node)
        if chain.rpartition(".")[2] not in {name for _, name in listing} and "." in chain:
            return ""
        places = [found for found, rest, _ in output.places(path, chain) if not rest] if chain else []
        return next((listing[found] for found in places if found in listing), "")

    def _take(self, output: Output, path: str, chain: str, place: str) -> bool:
        known = False
        for found, rest, _ in output.places(path, chain) if chain else ():
            known = True
            if found[0] != "module" and not rest:
                self._whole.setdefault(found, place)
        return known

    def where(self, module: str, owner: str) -> str:
        """Where the members of the class are listed, or ``""``."""
        mine = (module, owner)
        made = self._made(mine)
        if made:
            return made
        for home, place in (*self._whole.items(), *self._family.items()):
            if home == mine or mine in self._above(home):
                return place
        above = self._above(mine) if self._family else ()
        return next((place for home, place in self._family.items() if home in above), "")

    def _made(self, mine: tuple[str, str]) -> str:
        """The metaclass of the tree that is handed the members when the class is made."""
        for _, module, name in self.classes.ancestors(("symbol", *mine))[0]:
            node = self.classes.world.definition(("symbol", module, name))
            for keyword in node.keywords if isinstance(node, ast.ClassDef) else ():
                found = self.classes.dotted(keyword.value, module) if keyword.arg == "metaclass" else None
                meta = self.classes.world.definition(found)
                for item in meta.body if isinstance(meta, ast.ClassDef) else ():
                    if isinstance(item, FUNCTIONS) and item.name in ("__new__", "__init__", "__prepare__"):
                        return f"{module}:{name} by its metaclass"
        return ""

    def _above(self, home: tuple[str, str]) -> set[tuple[str, str]]:
        return {(row[1], row[2]) for row in self.classes.ancestors(("symbol", *home))[0]}

    def written(self, name: str) -> str:
        """Where the name is a word of some text, or ``""``. Reads the files again that hold it: hardly a name is asked for."""
        wanted = name.encode()
        for path, row in sorted(self.output.surveys.items()):
            if not row.identifiers or wanted not in self.output.tree.read(path):  # the guard module's names are data
                continue
            tree = self.output.tree.parse(path)
            for node in walk(tree) if tree is not None else ():
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and name in words(node.value):
                    return path
        return ""


def protocol_members(output: Output) -> dict[str, str]:
    """Members of protocols of which isinstance may be asked, with those that they inherit."""
    found: dict[str, str] = {}
    known: dict[str, list[tuple[frozenset[str], tuple[str, ...]]]] = {}
    for row in output.surveys.values():
        for name, (_, members, bases) in row.protocols.items():
            known.setdefault(name, []).append((members, bases))
    for row in output.surveys.values():
        for name, (checked, _, _) in row.protocols.items():
            work, seen = [name] if checked else [], {name}
            for each in work:
                for members, bases in known.get(each, ()):
                    found.update(dict.fromkeys(members, f"{row.path}:{name}"))
                    work += [base for base in bases if base not in seen]
                    seen.update(bases)
    return found


def _named_beside(tree: ast.Module | None, line: int) -> set[str]:
    """Names in the innermost function around a line, or in the module's body."""
    found: ast.AST | None = None
    for node in walk(tree) if tree is not None else ():
        if isinstance(node, FUNCTIONS) and node.lineno <= line <= (node.end_lineno or node.lineno):
            if found is None or node.lineno >= found.lineno:  # type: ignore[attr-defined]
                found = node
    return {node.id for node in walk(found) if isinstance(node, ast.Name)} if found is not None else set()
