"""Loading from a root, step by step: does an import find the names that it asks a half-loaded module for?

``from b import B`` that nobody reads may go, and then ``c`` is loaded before ``b``; where both import each other,
``from b import LIMIT`` in ``c`` finds ``b`` half loaded. A failure that upstream has as well, from the same
start, is none of the pruning's.

Blind to where else the program may start, to imports in functions, to reads of attributes of half-loaded modules, and to
which arm of a test runs: the imports of both are taken, in the order of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pruner.verify.names import Import, Names
from pruner.verify.output import Output
from pruner.verify.world import World

# Line, module, name, the module that this name is or "", not in a try: what a module imports at once.
Row = tuple[int, str, str, str, bool]
Body = tuple[list[Row], dict[str, int]]  # with where it first binds a name, no line: always
Failure = tuple[str, int, str, str]  # importing module, line, module, name
DONE = 1 << 30


class Loader:
    """Loads modules of one tree from one start."""

    def __init__(self, body: Callable[[str], Body | None]) -> None:
        self.body = body
        self.at: dict[str, int] = {}  # module -> the line that runs, or DONE
        self.failures: list[Failure] = []

    def load(self, module: str) -> None:
        """The packages above it, then its own body; each once."""
        if module in self.at:  # and so were the packages above it
            return
        cut = module.find(".")
        while True:
            name = module if cut < 0 else module[:cut]
            if name not in self.at:
                self._run(name)
            if cut < 0:
                return
            cut = module.find(".", cut + 1)

    def _run(self, module: str) -> None:
        body = self.body(module)
        if body is None:
            return
        self.at[module] = 0
        at = self.at
        for line, target, symbol, inner, sure in body[0]:
            at[module] = line
            if target not in at:
                self.load(target)
            if inner:
                if inner not in at:
                    self.load(inner)
            elif symbol and sure and target != module and self._missing(target, symbol):
                self.failures.append((module, line, target, symbol))
        at[module] = DONE

    def _missing(self, module: str, name: str) -> bool:
        body, line = self.body(module), self.at.get(module, DONE)
        return body is not None and line < DONE and body[1].get(name, 0) >= line > 0


def _rows(imports: Iterable[Import], is_module: Callable[[str], bool]) -> list[Row]:
    found = []
    for row in imports:
        if not row.lazy and not row.typing:
            symbol = row.symbol if row.symbol and row.symbol != "*" else ""
            inner = f"{row.target}.{symbol}"
            named = bool(symbol) and is_module(inner)
            found.append((row.line, row.target, symbol, inner if named else "", not row.guarded))
    return found


def problems(world: World, output: Output, starts: Iterable[str]) -> list[str]:
    """What fails in the output from one of these starts, and not in upstream."""
    known: dict[str, Body | None] = {}
    before: dict[str, Body | None] = {}

    def kept(module: str) -> Body | None:
        if module not in known:
            row = output.modules.get(module)
            rows = _rows(row.imports, lambda name: name in output.modules) if row is not None else []
            known[module] = (rows, row.first) if row is not None else None
        return known[module]

    def upstream(module: str) -> Body | None:
        if module not in before:
            names = read(module)
            rows = _rows(names.imports, lambda name: read(name) is not None) if names is not None else []
            before[module] = (rows, names.first()) if names is not None else None
        return before[module]

    def read(module: str) -> Names | None:
        return world.names(module) if world.tree.has_module(module) else None

    found: dict[tuple[str, str, str], str] = {}
    for start in starts:
        loader = Loader(kept)
        loader.load(start)
        if not loader.failures:
            continue
        other = Loader(upstream)
        other.load(start)
        same = {(module, target, name) for module, _, target, name in other.failures}
        for module, line, target, name in loader.failures:
            if (module, target, name) not in same:
                path = output.modules[module].path
                text = f"{path}:{line}: imports {name} of {target}, which is half loaded then, when {start} is loaded first"
                found.setdefault((module, target, name), text)
    return sorted(found.values())
