"""Kept modules that code may hold as objects: handed around, looked up, or given by such a module under a name.

Blind to modules that are looked up by a key which does not tell which (``sys.modules[self.__module__]``), to tables of modules that are filled from outside, and to names that are put together in other ways than
:mod:`pruner.verify.built` reads.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Mapping

from pruner.verify.built import chain_text
from pruner.verify.near import lines_of, near, over
from pruner.verify.nodes import children
from pruner.verify.output import Output

Lookup = tuple[int, str, str]
"""Line; "module", "home" or "any", then "listed" where its members are listed; its name or a chain that it defines.
Or "caller", and the definition that reads any global of who calls it."""

_WORDS = re.compile(rb"\bsys\b[^\n]*\bmodules\b|\bgetmodule\b|\bf_globals\b|\b__globals__\b|\b__module__\b")
_MARKS = (b"modules", b"getmodule", b"f_globals", b"__globals__", b"__module__")  # a plain search is over in no time
_ASKING = ("get", "pop", "setdefault", "__getitem__")


def lookups(tree: ast.Module, data: bytes, module: str) -> list[Lookup]:
    """Where a file finds modules that it does not import: ``sys.modules``, ``getmodule``, ``__globals__``."""
    if not any(mark in data for mark in _MARKS) or _WORDS.search(data) is None:
        return []
    table, finders = _aliases(tree, data)
    named = [text.rpartition(".")[2].encode() for text in (*table, *finders)]
    lines = lines_of(data, {*_MARKS, *named})
    found: list[Lookup] = []
    stack: list[tuple[ast.AST, list[ast.AST], str]] = [(tree, [], "")]
    while stack:
        node, above, owner = stack.pop()
        owner = owner or getattr(node, "name", "") or ""
        if isinstance(node, ast.Name | ast.Attribute):
            text = chain_text(node)
            if text in table and isinstance(node.ctx, ast.Load):
                found += _asked(node, above, module)
            elif isinstance(node, ast.Attribute) and node.attr == "__globals__":
                chain = chain_text(node.value)
                found.append((node.lineno, "home" if chain else "any", chain))
            elif isinstance(node, ast.Attribute) and node.attr == "f_globals":
                found.append((node.lineno, "any", ""))
                if owner and not _one_key(node, above):
                    found.append((node.lineno, "caller", owner))
        elif isinstance(node, ast.Call) and node.args:
            head = chain_text(node.func)
            if head in finders or head.endswith(".getmodule"):
                chain = chain_text(node.args[0])
                found.append((node.lineno, f"home{_listed(above)}" if chain else "any", chain))
            elif head.rpartition(".")[2] in ("import_module", "__import__"):
                if isinstance(node.args[0], ast.Attribute) and node.args[0].attr == "__module__":
                    found.append(_key(node.args[0], module))
        around = [node, *above[:3]]
        for child in children(node):
            if not isinstance(child, ast.stmt) or over(child, lines):
                stack.append((child, around, owner))
    return sorted(set(found))


def _one_key(node: ast.AST, above: list[ast.AST]) -> bool:
    """``f_globals["__name__"]``, ``f_globals.get("__name__")``: one written key is asked for."""
    outer, call = (*above, None, None)[:2]
    if isinstance(outer, ast.Subscript) and outer.value is node:
        return isinstance(outer.slice, ast.Constant)
    asked = isinstance(outer, ast.Attribute) and outer.attr in _ASKING and isinstance(call, ast.Call)
    return asked and bool(call.args) and isinstance(call.args[0], ast.Constant)  # type: ignore[union-attr]


def _listed(above: list[ast.AST]) -> str:
    """``dir(sys.modules[__name__])``, ``getattr(sys.modules[__name__], name)``: all its names may be meant."""
    for outer in above:
        if isinstance(outer, ast.Call) and outer.args:
            head = chain_text(outer.func).rpartition(".")[2]
            by_variable = head == "getattr" and len(outer.args) > 1 and isinstance(outer.args[1], ast.Name)
            return "listed" if head in ("dir", "vars", "getmembers") or by_variable else ""
        if isinstance(outer, ast.Attribute) and outer.attr == "__dict__":
            return "listed"
    return ""


def _aliases(tree: ast.Module, data: bytes) -> tuple[set[str], set[str]]:
    """Spellings of ``sys.modules`` and of ``inspect.getmodule`` in a file."""
    table, finders = {"sys.modules"}, {"inspect.getmodule"}
    for node in near(tree, lines_of(data, (b"import",))):
        if isinstance(node, ast.Import):
            table |= {f"{a.asname}.modules" for a in node.names if a.name == "sys" and a.asname}
        elif isinstance(node, ast.ImportFrom) and node.module in ("sys", "inspect") and not node.level:
            table |= {a.asname or a.name for a in node.names if a.name == "modules"}
            finders |= {a.asname or a.name for a in node.names if a.name == "getmodule"}
    return table, finders


def _asked(node: ast.expr, above: list[ast.AST], module: str) -> list[Lookup]:
    """What is taken out of ``sys.modules`` at this place."""
    outer = above[0] if above else None
    if isinstance(outer, ast.Compare) and node is not outer.left:
        return []  # name in sys.modules
    if isinstance(outer, ast.Subscript) and outer.value is node:
        return [_key(outer.slice, module, _listed(above[1:]))] if isinstance(outer.ctx, ast.Load) else []
    call = above[1] if len(above) > 1 else None
    if isinstance(outer, ast.Attribute) and isinstance(call, ast.Call) and call.func is outer and call.args:
        if outer.attr in _ASKING:
            return [_key(call.args[0], module, _listed(above[2:]))]
    return [(node.lineno, "any", "")]


def _key(key: ast.expr, module: str, listed: str = "") -> Lookup:
    if isinstance(key, ast.Constant):
        return (key.lineno, f"module{listed}", str(key.value))
    if isinstance(key, ast.Name) and key.id == "__name__":
        return (key.lineno, f"module{listed}", module)
    if isinstance(key, ast.Attribute) and key.attr == "__module__" and chain_text(key.value):
        return (key.lineno, f"home{listed}", chain_text(key.value))
    return (key.lineno, "any", "")


class Held:
    """Which modules are objects, and in which files."""

    def __init__(
        self, output: Output, reachable: Mapping[str, str], built: Mapping[str, str], plain: Container[str]
    ) -> None:
        self.output = output
        self.plain = plain  # what kept code reads of something that no import names
        self.loose = output.loose_modules()  # module -> files that hand it around as an object
        self.listed: dict[str, str] = {}  # modules whose members a file lists -> where
        for survey in output.surveys.values():
            for line, kind, text in survey.lookups:
                if kind == "caller":
                    self._callers(survey.module, text, f"{survey.path}:{line}")
                    continue
                found = self._found(survey.path, kind.removesuffix("listed"), text)
                for module in found or ():
                    self.loose.setdefault(module, set()).add(survey.path)
                    if kind.endswith("listed"):
                        self.listed.setdefault(module, f"{survey.path}:{line}")
            for chain in survey.chains:
                head, mark, _ = f"{chain}.".partition(".__dict__.")
                if mark:
                    self._note(survey.path, head, re.compile(".*"))
            for _, base, pattern, _, _ in survey.gets:
                if base and not base.startswith("self:"):
                    self._note(survey.path, base, re.compile(pattern))
            for _, pattern, _ in survey.loads:
                name = pattern.replace("\\", "")
                if ".*" not in pattern and name in output.modules:
                    self.loose.setdefault(name, set()).add(survey.path)
        for module, place in built.items():
            self.loose.setdefault(module, set()).add(place.partition(":")[0])
        self.loose = self._closed(self.loose)
        self.reachable = self._closed({module: {place.partition(":")[0]} for module, place in reachable.items()})

    def _callers(self, module: str, name: str, where: str) -> None:
        """``sys._getframe(1).f_globals[name]`` in a function: the modules that import or read it."""
        for survey in self.output.surveys.values():
            rows = [row for row in survey.imports if row.target == module and row.symbol == name]
            chains = [chain for chain in survey.chains if chain.rpartition(".")[2] == name]
            found = ((module, name) in [place for place, _, _ in self.output.places(survey.path, c)] for c in chains)
            if survey.module and (rows or any(found)):
                self.loose.setdefault(survey.module, set()).add(survey.path)
                self.listed.setdefault(survey.module, where)

    def _found(self, path: str, kind: str, text: str) -> list[str] | None:
        """The modules that a lookup means; None when it may be any."""
        if kind == "module":
            return [text] if text in self.output.modules else []
        if kind == "home":
            places = [place for place, rest, _ in self.output.places(path, text) if place[0] != "module" and not rest]
            if places:
                return [place[0] for place in places if place[0] in self.output.modules]
        return None

    def _note(self, path: str, base: str, pattern: re.Pattern[str]) -> None:
        """``getattr(pkg, "mod")``: a module that another one gives under a name that fits."""
        for place, rest, _ in self.output.places(path, base):
            if place[0] == "module" and not rest:
                for name, target in self._inner(place[1]):
                    if pattern.fullmatch(name):
                        self.loose.setdefault(target, set()).add(path)

    def _inner(self, module: str) -> list[tuple[str, str]]:
        """Modules that a module gives: by name, what they are."""
        found = []
        survey = self.output.modules.get(module)
        for row in survey.imports if survey is not None else ():
            if row.bound == "*" or row.symbol == "*":
                continue
            place, rest = ("module", row.target), [] if row.symbol is None else [str(row.symbol)]
            if row.symbol is None and row.bound == row.target.partition(".")[0]:
                place = ("module", row.bound)
            if row.target == module and row.symbol is not None:
                place, rest = ("module", f"{module}.{row.symbol}"), []
            end, left, _ = self.output.walk(place, rest)
            if end[0] == "module" and not left and self.output.tree.has_module(end[1]):
                found.append((row.bound, end[1]))
        for name in self.output.below(module):
            found.append((name.rpartition(".")[2], name))
        return found

    def _closed(self, held: dict[str, set[str]]) -> dict[str, set[str]]:
        """With what the modules give under names that kept code reads somewhere."""
        work = list(held)
        found = {module: set(paths) for module, paths in held.items()}
        while work:
            module = work.pop()
            survey = self.output.modules.get(module)
            given = [target for name, target in self._inner(module) if name in self.plain]
            given += [star for star in survey.stars if star in self.output.modules] if survey is not None else []
            for target in given:
                if not found[module] <= found.setdefault(target, set()):
                    found[target] |= found[module]
                    work.append(target)
        return found
