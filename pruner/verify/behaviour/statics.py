"""What a file's text binds, by ``ast``: to tell a name that was removed from a name that got lost at run time.

Blind to names made by ``globals()[...]``, ``setattr`` on a module and ``exec``; star imports are listed, not followed.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path


@dataclass(slots=True)
class Bound:
    """Names that a module binds at its top level and reads anywhere; members of its classes; whether it star-imports.

    ``looped``: names that nothing but loops of the top level binds, with the names that stand in what these walk.
    """

    names: frozenset[str] = frozenset()
    read: frozenset[str] = frozenset()
    members: dict[str, frozenset[str]] = field(default_factory=dict)
    star: bool = False
    looped: dict[str, frozenset[str]] = field(default_factory=dict)


def _targets(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id


def _bound(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Names bound by statements, in blocks too, but not in functions and classes."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Import):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _targets(target)
        elif isinstance(node, (ast.AugAssign, ast.For, ast.AsyncFor)):
            yield from _targets(node.target)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _targets(node.target)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                if item.optional_vars is not None:
                    yield from _targets(item.optional_vars)
        elif isinstance(node, ast.Try):
            yield from (handler.name for handler in node.handlers if handler.name)
        for field_name in ("body", "orelse", "finalbody"):
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                yield from _bound(getattr(node, field_name, ()))
        for handler in getattr(node, "handlers", ()):
            yield from _bound(handler.body)
        for case in getattr(node, "cases", ()):
            yield from _bound(case.body)


def _loops(body: Iterable[ast.stmt]) -> Iterator[ast.For]:
    """Outermost loops, in blocks too, but not in functions and classes."""
    for node in body:
        if isinstance(node, ast.For):
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for part in (node, *getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                for field_name in ("body", "orelse", "finalbody"):
                    yield from _loops(getattr(part, field_name, ()))


def _looped(tree: ast.Module) -> dict[str, frozenset[str]]:
    counts, found = Counter(_bound(tree.body)), dict[str, frozenset[str]]()
    for loop in _loops(tree.body):
        walked = frozenset(_targets(loop.iter))
        for name in _bound([loop]):
            counts[name] -= 1
            found[name] = found.get(name, frozenset()) | walked
    return {name: walked for name, walked in found.items() if not counts[name]}


def bound(text: str) -> Bound:
    """The names of one file. Raises SyntaxError."""
    tree = ast.parse(text)
    members = {node.name: frozenset(_bound(node.body)) for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    star = any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in ast.walk(tree))
    # `global x` in a function binds at run time only; it counts as bound, the safe side.
    names = frozenset(_bound(tree.body)) | {n for g in ast.walk(tree) if isinstance(g, ast.Global) for n in g.names}
    read = frozenset(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return Bound(names, read, members, star, _looped(tree))


class Side:
    """One tree: its modules, and what they bind."""

    def __init__(self, root: Path, python_root: str) -> None:
        self.root = root / python_root
        self._bound: dict[str, Bound] = {}

    @cached_property
    def modules(self) -> dict[str, Path]:
        """Dotted names to files; ``__main__`` modules and names that cannot be imported are left out."""
        found: dict[str, Path] = {}
        for path in sorted(self.root.rglob("*.py")):
            parts = list(path.relative_to(self.root).with_suffix("").parts)
            if parts[-1] == "__init__":
                parts.pop()
            if parts and parts[-1] != "__main__" and all(part.isidentifier() for part in parts):
                found[".".join(parts)] = path
        return found

    @cached_property
    def strings(self) -> frozenset[str]:
        """Every string constant of the tree's Python files, joined strings by their parts."""
        return self._words[0]

    @cached_property
    def asked(self) -> frozenset[str]:
        """Every attribute name and imported name of the tree's Python files."""
        return self._words[1]

    @cached_property
    def _words(self) -> tuple[frozenset[str], frozenset[str]]:
        strings: set[str] = set()
        asked: set[str] = set()
        for path in self.modules.values():
            try:
                tree = ast.parse(path.read_text(encoding="utf-8"))
            except SyntaxError:
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    strings.add(node.value)
                elif isinstance(node, ast.Attribute):
                    asked.add(node.attr)
                elif isinstance(node, ast.ImportFrom):
                    asked.update(alias.name for alias in node.names)
        return frozenset(strings), frozenset(asked)

    def bound(self, module: str) -> Bound:
        """What the module binds; nothing for a module that is not here or not readable."""
        if module not in self._bound:
            self._bound[module] = Bound()
            path = self.modules.get(module)
            if path is not None:
                try:
                    self._bound[module] = bound(path.read_text(encoding="utf-8"))
                except SyntaxError:
                    self._bound[module] = Bound(star=True)
        return self._bound[module]

    def defines(self, symbol: str) -> bool:
        """Does ``pkg.mod.Class.name`` exist here? Only the top name within the module is asked."""
        parts = symbol.split(".")
        for size in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:size])
            if module in self.modules:
                return parts[size] in self.bound(module).names
        return False
