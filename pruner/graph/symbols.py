"""Modules of the tree and what a global name stands for, through imports and re-exports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

from pruner.scan.summary import Store, Summary


@dataclass(frozen=True, slots=True)
class Symbol:
    """``kind``: ``module`` (of the tree), ``binding`` (a global of a module), ``outside``, ``builtin``, ``unknown``."""

    kind: str
    module: str
    name: str = ""
    text: str = field(init=False, compare=False, default="")
    """Dotted name as rules write it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", f"{self.module}.{self.name}" if self.name else self.module)


@cache
def named(kind: str, module: str, name: str = "") -> Symbol:
    """The one symbol of these parts: they are asked for a million times."""
    return Symbol(kind, module, name)


UNKNOWN = named("unknown", "")


class ModuleTable:
    """Dotted names of the tree: modules, packages and namespace packages."""

    def __init__(self, paths: dict[str, tuple[str, bool]], load: Callable[[str], Summary | None]) -> None:
        """``paths``: module → (path, is package). ``load`` gives a module's summary, scanning it when needed."""
        self.paths = paths
        self.load = load
        self.namespaces: set[str] = set()
        self.children: dict[str, list[str]] = {}
        for module in paths:
            parts = module.split(".")
            for cut in range(1, len(parts)):
                parent = ".".join(parts[:cut])
                if parent not in paths:
                    self.namespaces.add(parent)
        for module in sorted([*paths, *self.namespaces]):
            if "." in module:
                self.children.setdefault(module.rpartition(".")[0], []).append(module)

    def __contains__(self, module: str) -> bool:
        return module in self.paths or module in self.namespaces

    def is_package(self, module: str) -> bool:
        """True for a package with or without ``__init__``."""
        return module in self.namespaces or (module in self.paths and self.paths[module][1])

    def split(self, dotted: str) -> tuple[str, str] | None:
        """Longest prefix that is a module, and the rest."""
        parts = dotted.split(".")
        for cut in range(len(parts), 0, -1):
            module = ".".join(parts[:cut])
            if module in self:
                return module, ".".join(parts[cut:])
        return None

    @staticmethod
    def absolute(summary: Summary, name: str, level: int) -> str:
        """The absolute name of a possibly relative import."""
        if not level:
            return name
        parts = summary.module.split(".")
        if not summary.package:
            parts = parts[:-1]
        if level > 1:
            parts = parts[: len(parts) - (level - 1)]
        base = ".".join(parts)
        return f"{base}.{name}" if base and name else base or name

    def below(self, package: str) -> list[str]:
        """Every module under a package."""
        found: list[str] = []
        stack = [package]
        while stack:
            for child in self.children.get(stack.pop(), ()):
                if child in self.paths:
                    found.append(child)
                stack.append(child)
        return sorted(found)

    def import_target(self, summary: Summary, stmt: tuple, index: int) -> tuple[str, str]:  # type: ignore[type-arg]
        """(module, attribute) that an alias binds; attribute "" when it is the module itself."""
        if stmt[0] == "import":
            name, asname = stmt[3][index]
            return (name if asname else name.split(".")[0]), ""
        module = self.absolute(summary, stmt[3], stmt[4])
        return module, stmt[5][index][0]

    def inner_starts(
        self, summary: Summary, root: str, path: tuple[str, ...]
    ) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """(module, global, path) of a chain whose root imports in functions bind: ``from m import x``, and ``import m`` with ``m.x``."""
        for stmt, index in summary.inner_imports.get(root, ()):
            target, name = self.import_target(summary, stmt, index)
            steps = (f".{name}", *path) if name else path
            if steps:
                yield target, steps[0][1:], steps[1:]

    def store_target(self, summary: Summary, store: Store) -> tuple[str, str]:
        """Same, for an import store."""
        return self.import_target(summary, store.stmt, store.index)
