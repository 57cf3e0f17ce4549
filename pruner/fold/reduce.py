"""What is left of an expression under the facts.

One traversal serves two readers: reachability takes the chains that are still read, the
rewriter takes the actions (which node becomes a literal, which operands or branch stay).
That the two agree is what keeps a deleted import from leaving a dangling name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pruner.fold.evaluate import Evaluator
from pruner.model.ir import Expr, constants


@dataclass(slots=True)
class Remains:
    """What the visited expressions still read, and what was decided in them."""

    chains: list[Expr] = field(default_factory=list)  # ("n"|"v"|"b", root, path)
    texts: list[str] = field(default_factory=list)  # string constants
    calls: list[Expr] = field(default_factory=list)  # ("k", ...) and f-strings, for dynamic sites
    attributes: set[str] = field(default_factory=set)  # attribute names read on unknown objects
    rebound: set[str] = field(default_factory=set)  # names bound by := that stay
    reflected: list[tuple[str, str, tuple[str, ...], Expr]] = field(default_factory=list)
    """getattr and its kin on a global or an import: (module, root, path) of the object, the name's expression."""
    actions: list[tuple[Expr, str, Any, frozenset[str]]] = field(default_factory=list)


class Reducer:
    """Visits expressions with one evaluator, filling a :class:`Remains`."""

    __slots__ = ("ev", "gone", "out")

    def __init__(self, evaluator: Evaluator, out: Remains, gone: dict[int, Any]) -> None:
        self.ev = evaluator
        self.out = out
        self.gone = gone  # id of a display or a call -> indices of its entries that rules take

    # A literal in value position: only booleans and None, which every flag is. A string or a
    # number that facts fix decides tests, but stays written as upstream wrote it.
    def _literal(self, e: Expr) -> bool:
        known = self.ev.value(e)
        if known is None or not known.single or not known.origin or known.values is None:
            return False
        constant = known.values[0]
        if constant is not None and not isinstance(constant, bool):
            return False
        if not self.ev.droppable(e):
            return False
        self.out.actions.append((e, "literal", constant, known.origin))
        return True

    def value(self, e: Expr) -> None:
        """Visit in value position."""
        tag = e[0]
        if tag == "o":
            if e[2:] == ("[:",):
                self.out.calls.append(e)  # TABLE[1:]
            for part in e[1]:
                self.value(part)
                if part[0] in ("n", "v") and (part[2][-1:] == (".modules",) or part[1] == "modules"):
                    self.out.calls.append(e)  # sys.modules[__name__]
        elif tag in ("n", "v"):
            if not self._literal(e):
                self._chain(e)
        elif tag == "c":
            if isinstance(e[1], str):
                self.out.texts.append(e[1])
        elif tag == "k":
            self._call(e)
        elif tag in ("&", "|"):
            if not self._literal(e):
                self._boolean(e, test=False)
        elif tag == "?":
            self._ifexp(e, test=False)
        elif tag == "!":
            if not self._literal(e):
                self.test(e[1])
        elif tag == "=":
            if not self._literal(e):
                self.value(e[1])
                for operator, right in e[2]:
                    if operator in ("in", "not in") and right[0] == "t":
                        self._members(right, right[2])  # mode in (Mode.HIP, Mode.CPU)
                    if operator in ("in", "not in") and right[0] in ("n", "v") and right[2][-1:] == (".modules",):
                        # `name in sys.modules` looks no module up: of the chain its last step is only named.
                        self.out.attributes.add("modules")
                        right = (right[0], right[1], right[2][:-1])
                    self.value(right)
        else:
            self._rest(e)

    def _rest(self, e: Expr) -> None:
        tag = e[0]
        if tag == "b":
            self._chain(e)
        elif tag == "x":
            self.value(e[1])
            for step in e[2]:
                if step[0] == ".":
                    self.out.attributes.add(step[1:])
                elif len(step) > 2:
                    self.out.texts.extend([t for t in constants(step) if isinstance(t, str)])
        elif tag == "t":
            if e[1] == "s":
                self._members(e, e[2])
            gone = self.gone.get(id(e), ())
            for index, part in enumerate(e[2]):
                if index not in gone:
                    self.value(part)
        elif tag == "d":
            self._members(e, [key for key, _ in e[1]])
            gone = self.gone.get(id(e), ())
            for index, (key, item) in enumerate(e[1]):
                if index in gone:
                    continue
                if key is not None:
                    self.value(key)
                self.value(item)
        elif tag == ":=":
            self.out.rebound.add(e[1])
            self.value(e[2])
        elif tag in ("yield", "f"):
            self.value(e[1])
        elif tag == "u":
            self.raw(e[1])
        elif tag == "j":
            self.out.calls.append(e)
            for part in e[1]:
                self.value(part)

    def _members(self, e: Expr, keys: Sequence[Expr | None]) -> None:
        """Members of enums that rules drop go out of what they are looked for in: nothing can be one of them."""
        if not self.ev.world.gone or id(e) in self.gone:
            return
        gone = {index: self.ev.gone(key, True) for index, key in enumerate(keys) if key is not None}
        gone = {index: rule for index, rule in gone.items() if rule}
        if gone:
            self.gone[id(e)] = gone
            self.out.actions.append((e, "entries", tuple(sorted(gone.items())), frozenset(gone.values())))

    def test(self, e: Expr) -> None:
        """Visit in test position: only the truth matters."""
        tag = e[0]
        truth = self.ev.truth(e)
        if truth is not None and truth[1] and self.ev.droppable(e):
            self.out.actions.append((e, "literal", truth[0], truth[1]))
        elif tag == "!":
            self.test(e[1])
        elif tag in ("&", "|"):
            self._boolean(e, test=True)
        elif tag == "?":
            self._ifexp(e, test=True)
        else:
            self.value(e)

    def _boolean(self, e: Expr, test: bool) -> None:
        stops = e[0] == "|"
        operands = e[1]
        kept: list[int] = []
        origin: frozenset[str] = frozenset()
        for index, operand in enumerate(operands):
            last = index == len(operands) - 1
            truth = self.ev.truth(operand)
            decided = truth is not None and bool(truth[1]) and self.ev.droppable(operand)
            if truth is not None and decided and truth[0] != stops and (test or not last):
                if not (last and not kept):  # `a and True` with nothing kept is the literal itself
                    origin |= truth[1]
                    continue
            kept.append(index)
            if truth is not None and truth[1] and truth[0] == stops:
                if all(self._can_vanish(o) for o in operands[index + 1 :]):
                    if not last:
                        origin |= truth[1]
                    break
        for index in kept:
            if test:
                self.test(operands[index])
            else:
                self.value(operands[index])
        if len(kept) != len(operands):
            self.out.actions.append((e, "operands", tuple(kept), origin))

    def _can_vanish(self, e: Expr) -> bool:
        """Operands after a decided one never run; but one that binds or yields shapes its function."""
        return not _binds(e)

    def _ifexp(self, e: Expr, test: bool) -> None:
        truth = self.ev.truth(e[1])
        visit = self.test if test else self.value
        if truth is not None and truth[1] and self.ev.droppable(e[1]) and not _binds(e[3] if truth[0] else e[2]):
            self.out.actions.append((e, "branch", truth[0], truth[1]))
            visit(e[2] if truth[0] else e[3])
            return
        self.test(e[1])
        visit(e[2])
        visit(e[3])

    def raw(self, e: Any) -> None:
        """Visit without folding: the field of a self-documenting f-string prints its own source."""
        if not isinstance(e, tuple) or not e:
            return
        if e[0] in ("n", "v", "b") and len(e) == 3 and isinstance(e[1], str) and isinstance(e[2], tuple):
            self._chain(e)
            return
        for part in e:
            self.raw(part)

    def _call(self, e: Expr) -> None:
        if self._literal(e):
            return
        self.out.calls.append(e)
        if e[1][0] == "n" and not e[1][2] and e[1][1] in ("getattr", "hasattr", "setattr", "delattr") and len(e[2]) > 1:
            self._reflect(e[2][0], e[2][1])
        self.value(e[1])
        for argument in e[2]:
            self.value(argument)
        gone = self.gone.get(id(e), ())
        for index, (_, argument) in enumerate(e[3]):
            if index not in gone:
                self.value(argument)

    def _reflect(self, base: Expr, name: Expr) -> None:
        if base[0] == "n":
            self.out.reflected.append((self.ev.module, base[1], base[2], name))
        elif base[0] == "v" and self.ev.locals is not None:
            target = self.ev.locals.target(base[1])
            if target is not None:
                self.out.reflected.append((target[0], target[1], target[2] + base[2], name))

    def _chain(self, e: Expr) -> None:
        self.out.chains.append(e)
        for step in e[2]:
            if step[0] != "." and len(step) > 2:
                self.out.texts.extend([t for t in constants(step) if isinstance(t, str)])


def _binds(e: Any) -> bool:
    """True when the expression holds ``:=``, ``yield`` or ``await``."""
    if not isinstance(e, tuple) or not e:
        return False
    if e[0] in (":=", "yield"):
        return True
    return any(_binds(part) for part in e if isinstance(part, tuple))


binds = _binds
