"""Functions of the tree evaluated under the facts: derived predicates.

``def is_fp8_fnuz(): if _is_hip: return ...; return False`` is false where ``_is_hip`` is. A
function gives a value only if every return that a decided branch does not exclude gives a
known one. Generators, coroutines and decorated functions (but for caches) give nothing.

Blind to: effects of attribute reads and of operators on unknown operands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pruner.fold import value as V
from pruner.fold.evaluate import Evaluator, apply_path
from pruner.fold.residual import walrus_names
from pruner.fold.value import Value
from pruner.graph.symbols import Symbol
from pruner.model.ir import Block, Stmt, constants

if TYPE_CHECKING:
    from pruner.graph.world import ProgramWorld

_CACHES = ("lru_cache", "cache", "functools.lru_cache", "functools.cache")
_DEPTH = 12


class _Unknown(Exception):
    """One return is unknown, and so is the call."""


class _Frame:
    """Locals of the interpreted function."""

    def __init__(self, params: dict[str, Value | None], names: frozenset[str], walrus: bool) -> None:
        self.env = params
        self.names = names
        self.walrus = walrus  # the file holds a ``:=``
        self.origin: V.Origin = V.NONE  # rules behind the tests that chose the path

    def chain(self, name: str, path: tuple[str, ...]) -> Value | None:
        return apply_path(self.env.get(name), path)

    def target(self, name: str) -> None:
        return None


class Interpreter:
    """Evaluates calls; memoises calls without arguments through the world's chain table."""

    def __init__(self, world: ProgramWorld) -> None:
        self.world = world
        self._stack: list[tuple[str, str]] = []
        self._memo: dict[object, Value | None] = {}
        self._bound: dict[int, set[str]] = {}  # id of a statement (summaries live as long as the world) → names
        self._walrus: dict[int, set[str]] = {}  # the same of what ``:=`` binds in it

    def call_text(self, symbol: Symbol, step: str) -> Value | None:
        """A call with constant arguments as a path step writes them."""
        return self.call(symbol, [V.make([c]) for c in constants(step)], {})

    def _function(self, symbol: Symbol) -> Stmt | None:
        summary = self.world.table.load(symbol.module)
        if summary is None or all(store.kind != "def" for store in summary.stores.get(symbol.name, ())):
            return None  # a class, most of the time
        stores = self.world.stores(symbol.module, symbol.name)
        if len(stores) != 1 or stores[0].kind != "def":
            return None
        stmt = stores[0].stmt
        if symbol.name in summary.rebinds or stmt[6][3]:
            return None
        if (symbol.module, symbol.name) in self.world.poisoned:
            return None  # flags.pred = lambda: True
        for decorator in stmt[4]:
            e = decorator[1] if decorator[0] == "k" else decorator
            if e[0] != "n":
                return None
            name = self.world.canonical(symbol.module, e[1], tuple(p for p in e[2] if p[0] == "."))
            if name not in _CACHES:
                return None
        return stmt

    def call(self, symbol: Symbol, args: list[Value | None], kwargs: dict[str, Value | None]) -> Value | None:
        """The value that every remaining return gives, or None."""
        key = (symbol.module, symbol.name)
        if key in self._stack or len(self._stack) >= _DEPTH:
            return None
        stmt = self._function(symbol)
        if stmt is None or len(args) > len(stmt[6][0]):
            return None
        # Values are frozen, but True == 1: the key holds the types as well.
        shape = tuple((None if v is None else (v, tuple(map(type, v.values or ())))) for v in (*args, *kwargs.values()))
        memo = (key, shape, tuple(kwargs))
        if memo in self._memo:
            return self._memo[memo]
        known = self._call(key, stmt, args, kwargs)
        if not self._stack:  # deeper answers may rest on a call that was cut short
            self._memo[memo] = known
        return known

    def valued(self) -> set[tuple[str, str]]:
        """Functions of which a call has been given a value by the rules."""
        return {memo[0] for memo, known in self._memo.items() if known is not None and known.origin}  # type: ignore[index]

    def _call(
        self, key: tuple[str, str], stmt: Stmt, args: list[Value | None], kwargs: dict[str, Value | None]
    ) -> Value | None:
        params = stmt[6][0]
        env: dict[str, Value | None] = dict(zip(params, args, strict=False))
        env.update({k: v for k, v in kwargs.items() if k in params})
        summary = self.world.table.load(key[0])
        frame = _Frame(env, frozenset(stmt[6][1]), summary is None or summary.walrus)
        self._stack.append(key)
        try:
            ev = Evaluator(self.world, key[0], frame)
            returns: list[Value | None] = []
            if self._run(stmt[6][2], ev, frame, returns):
                returns.append(V.make([None]))
            known = V.join(returns)
            if known is None:
                return None
            return Value(known.values, known.origin | frame.origin, known.truth, known.low, known.high)
        except _Unknown:
            return None
        finally:
            self._stack.pop()

    def _run(self, block: Block, ev: Evaluator, frame: _Frame, returns: list[Value | None]) -> bool:
        """Collect return values; True when the end of the block can be reached. Raises _Unknown when one is unknown."""
        for s in block:
            tag = s[0]
            for name in self._walrus_of(s) if frame.walrus and tag not in ("def", "class") else ():
                frame.env[name] = None
                if tag in ("if", "while", "for", "with", "try", "match", "return"):
                    raise _Unknown  # bound in the middle of a test or value
            if tag == "return":
                known = ev.value(s[3])
                if known is None:
                    raise _Unknown
                returns.append(known)
                return False
            if tag == "raise":
                return False
            if tag == "if":
                truth = ev.truth(s[3])
                if truth is not None:
                    frame.origin |= truth[1]
                    if not self._run(s[4] if truth[0] else s[5], ev, frame, returns):
                        return False
                    continue
                before = dict(frame.env)
                first = self._run(s[4], ev, frame, returns)
                after_first = frame.env
                frame.env = before
                second = self._run(s[5], ev, frame, returns)
                if first and second:
                    for name in after_first.keys() | frame.env.keys():
                        if after_first.get(name) != frame.env.get(name):
                            frame.env[name] = V.join([after_first.get(name), frame.env.get(name)])
                elif first:
                    frame.env = after_first
                if not first and not second:
                    return False
            elif tag == "=" and len(s[3]) == 1 and s[3][0][0] == "v":
                frame.env[s[3][0][1]] = ev.value(s[4]) if s[5] in "=:" else None
            elif tag in ("for", "while", "with", "try", "match"):
                if _returns(s):
                    raise _Unknown
                self._forget(s, frame)
            elif tag in ("=", "import", "from", "def", "class", "del"):
                self._forget(s, frame)
        return True

    def _walrus_of(self, s: Stmt) -> set[str]:
        names = self._walrus.get(id(s))
        if names is None:
            names = self._walrus[id(s)] = walrus_names(s[3:])
        return names

    def _forget(self, s: Stmt, frame: _Frame) -> None:
        names = self._bound.get(id(s))
        if names is None:
            names = self._bound[id(s)] = _assigned(s)
        for name in names:
            frame.env[name] = None

    def pure(self, symbol: Symbol) -> bool:
        """True when running the function can have no effect: only tests, assignments and returns."""
        stmt = self._function(symbol)
        if stmt is None:
            return False
        frame = _Frame({}, frozenset(stmt[6][1]), False)
        return self._pure_block(stmt[6][2], Evaluator(self.world, symbol.module, frame))

    def _pure_block(self, block: Block, ev: Evaluator) -> bool:
        for s in block:
            tag = s[0]
            if tag in ("return", "e"):
                if not ev.droppable(s[3]):
                    return False
            elif tag == "=":
                # `acc += [x]` changes the list that the caller has
                if any(t[0] != "v" for t in s[3]) or s[5] == "+" or not ev.droppable(s[4], s[5] == "*"):
                    return False
            elif tag == "if":
                truth = ev.truth(s[3])
                if truth is not None and truth[1]:
                    if not self._pure_block(s[4] if truth[0] else s[5], ev):
                        return False
                elif not ev.droppable(s[3]) or not self._pure_block(s[4], ev) or not self._pure_block(s[5], ev):
                    return False
            elif tag != "pass":
                return False
        return True


def _assigned(part: Any) -> set[str]:
    """Local names that a statement may bind, at any depth."""
    found: set[str] = set()
    stack = [part]
    while stack:
        item = stack.pop()
        if not isinstance(item, tuple):
            continue
        if len(item) == 2 and item[0] == "v" and isinstance(item[1], str):
            found.add(item[1])
        if item and item[0] in ("def", "class") and len(item) > 4:
            found.add(item[3])
            continue
        if item and item[0] in ("import", "from") and isinstance(item[-1], tuple) and len(item) > 4:
            for name, asname in item[3] if item[0] == "import" else item[5]:
                found.add(asname or name.split(".")[0])
            continue
        stack.extend(item)
    return found


def _returns(part: Any) -> bool:
    if not isinstance(part, tuple) or not part:
        return False
    if part[0] == "return":
        return True
    if part[0] == "def":
        return False
    return any(_returns(p) for p in part)
