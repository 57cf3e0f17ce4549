"""Canonical expressions: what an expression means under the facts, as nested tuples.

Both sides of a comparison go through the same function, so an output that is folded less than it
could be compares equal to one that is folded fully. Each rewriting here must keep the meaning
exactly; truth position and value position are different questions (``x and True`` is ``x`` in a
test and is not ``x`` as a value).

Blind to evaluation order beyond what the shape of the tree says (it is never changed here).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from pruner.verify.effects import Effects
from pruner.verify.nodes import walk
from pruner.verify.scopes import COMPREHENSIONS, Scope
from pruner.verify.terms import FALSE, TRUE, Term, constant, evaluated, joined, negate, plain
from pruner.verify.values import Val


class Canon:
    """Canonical forms for one side of one file."""

    def __init__(self, effects: Effects) -> None:
        self.effects = effects
        self._table: dict[type, Callable[[Any, Scope], Term]] = {
            ast.Constant: lambda node, scope: constant(node.value),
            ast.Name: self._name,
            ast.BoolOp: self._bool_value,
            ast.UnaryOp: self._unary,
            ast.IfExp: self._if_value,
            ast.JoinedStr: self._joined,
            ast.Call: self._call,
            ast.Compare: self._compare,
            ast.Lambda: self._lambda,
            ast.List: self._sequence,
            ast.Tuple: self._sequence,
            ast.Set: self._sequence,
            ast.Dict: self._dict,
            ast.NamedExpr: lambda node, scope: ("NamedExpr", node.target.id, self.value(node.value, scope)),
        }

    # -- value position ------------------------------------------------------------------------

    def value(self, node: ast.expr, scope: Scope) -> Term:
        """The canonical form of an expression whose value is used."""
        known = self.effects.value(node, scope)
        if self._replaceable(known, node, scope):
            assert known.consts is not None
            return constant(known.consts[0])
        handler = self._table.get(type(node))
        if handler is not None:
            return handler(node, scope)
        if isinstance(node, COMPREHENSIONS):
            return self._comprehension(node, scope)
        return self._generic(node, scope)

    def _replaceable(self, known: Val, node: ast.expr, scope: Scope) -> bool:
        if not known.exact or known.consts is None or isinstance(node, ast.Constant | ast.JoinedStr):
            return False
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return False
        # A text or a number that no fact had a part in is a name with a purpose, not a decision.
        # A computation is no name: int(is_cuda()) in one tree is int(True) in the other.
        if not (known.stated or known.consts[0] is None or isinstance(known.consts[0], bool) or type(node) is ast.Call):
            return False
        return self.effects.droppable(node, scope)

    def _generic(self, node: ast.AST, scope: Scope) -> Term:
        parts: list[Any] = [type(node).__name__]
        for name in node._fields:
            if name in ("ctx", "type_comment", "kind"):
                continue
            parts.append(self._field(getattr(node, name, None), scope))
        return tuple(parts)

    def _field(self, value: Any, scope: Scope) -> Any:
        if isinstance(value, ast.expr):
            return self.value(value, scope)
        if isinstance(value, list):
            return tuple(self._field(item, scope) for item in value)
        if isinstance(value, ast.AST):
            return self._generic(value, scope)
        return constant(value) if isinstance(value, float | complex | bytes) else value

    def _name(self, node: ast.Name, scope: Scope) -> Term:
        return ("Name", node.id)

    def _bool_value(self, node: ast.BoolOp, scope: Scope) -> Term:
        stop = isinstance(node.op, ast.Or)
        kept: list[Term] = []
        booleans: list[bool] = []
        last = len(node.values) - 1
        for index, item in enumerate(node.values):
            known = self.effects.value(item, scope)
            term = self.value(item, scope)
            if known.truth is not None and known.truth != stop and index != last:
                if self.effects.droppable(item, scope):
                    continue  # True and x, False or x
            if term[0] == ("Or" if stop else "And"):
                kept.extend(term[1:])
                booleans.extend([known.boolean] * (len(term) - 1))
            else:
                kept.append(term)
                booleans.append(known.boolean)
            if known.truth == stop:
                break  # x and False and y: y is never evaluated
        neutral = FALSE if stop else TRUE
        while len(kept) > 1 and kept[-1] == neutral and all(booleans[:-1]):
            kept.pop()  # b or False is b only because b is a boolean
            booleans.pop()
        return joined("Or" if stop else "And", kept)

    def _unary(self, node: ast.UnaryOp, scope: Scope) -> Term:
        if isinstance(node.op, ast.Not):
            term = self.test(node.operand, scope)
            # ``not not x`` is bool(x), not x: the two may not cancel where the value is used.
            return ("Not", term) if term[0] == "Not" else negate(term)
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            if isinstance(node.operand.value, int | float) and not isinstance(node.operand.value, bool):
                return constant(-node.operand.value)  # -1 is written as an operation on 1
        return ("UnaryOp", type(node.op).__name__, self.value(node.operand, scope))

    def _if_value(self, node: ast.IfExp, scope: Scope) -> Term:
        truth = self.effects.truth(node.test, scope)
        if truth is not None and self.effects.droppable(node.test, scope):
            return self.value(node.body if truth else node.orelse, scope)
        return ("IfExp", self.test(node.test, scope), self.value(node.body, scope), self.value(node.orelse, scope))

    def _joined(self, node: ast.JoinedStr, scope: Scope) -> Term:
        parts: list[Any] = []
        for item in node.values:
            if isinstance(item, ast.Constant):
                text: Any = item.value
            elif isinstance(item, ast.FormattedValue):
                term = self.value(item.value, scope)
                spec = self._joined(item.format_spec, scope) if isinstance(item.format_spec, ast.JoinedStr) else None
                text = plain(term, item.conversion) if spec in (None, constant("")) else None
                if text is None:
                    parts.append(("Field", term, item.conversion, spec))
                    continue
            else:
                parts.append(self.value(item, scope))
                continue
            if parts and isinstance(parts[-1], str):
                parts[-1] += text
            else:
                parts.append(text)
        if not parts:
            return constant("")
        return constant(parts[0]) if len(parts) == 1 and isinstance(parts[0], str) else ("JoinedStr", *parts)

    def _call(self, node: ast.Call, scope: Scope) -> Term:
        symbol = self.effects.symbol(node.func, scope)
        if symbol == ("outside", "bool", "") and len(node.args) == 1 and not node.keywords:
            return ("Call", ("Name", "bool"), (self.test(node.args[0], scope),), ())
        keywords = []
        for keyword in node.keywords:
            term = self.value(keyword.value, scope)
            if keyword.arg is None and term == ("Dict",):
                continue  # f(**{})
            keywords.append((keyword.arg, term))
        return ("Call", self.value(node.func, scope), self._items(node.args, scope), tuple(keywords))

    def _items(self, nodes: list[ast.expr], scope: Scope) -> tuple[Term, ...]:
        found: list[Term] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                inner = self.value(node.value, scope)
                if inner[0] in ("List", "Tuple"):
                    found.extend(inner[1:])  # [*[a, b], c]
                    continue
                found.append(("Starred", inner))
            else:
                found.append(self.value(node, scope))
        return tuple(found)

    def _sequence(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Term:
        elements = [item for item in node.elts if not self._lost(item, scope)] if type(node) is ast.Set else node.elts
        if node.elts and not elements:
            return ("Call", ("Name", "set"), (), ())  # {} is no set
        return (type(node).__name__, *self._items(elements, scope))

    def _lost(self, node: ast.expr, scope: Scope) -> bool:
        """Is it a member of an enum that a rule drops, and to which nothing else is equal?"""
        if not isinstance(node, ast.Attribute):
            return False
        return self.effects.classes.gone(self.effects.value(node, scope))

    def _compare(self, node: ast.Compare, scope: Scope) -> Term:
        """``mode in (Mode.HIP, Mode.CPU)`` is ``mode in (Mode.CPU,)`` where a rule drops ``Mode.HIP``."""
        rights = []
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In | ast.NotIn) and isinstance(right, ast.Tuple | ast.List | ast.Set):
                right = type(right)([item for item in right.elts if not self._lost(item, scope)])
                rights.append((type(right).__name__, *self._items(right.elts, scope)))
            else:
                rights.append(self.value(right, scope))
        ops = tuple((type(op).__name__,) for op in node.ops)
        return ("Compare", self.value(node.left, scope), ops, tuple(rights))

    def _dict(self, node: ast.Dict, scope: Scope) -> Term:
        rows: list[Term] = []
        for key, item in zip(node.keys, node.values, strict=True):
            term = self.value(item, scope)
            if key is None:
                if term[0] == "Dict":
                    rows.extend(term[1:])  # {**{}, "a": 1}
                else:
                    rows.append(("**", term))
            elif not self._lost(key, scope):
                rows.append((self.value(key, scope), term))
        return ("Dict", *rows)

    def _lambda(self, node: ast.Lambda, scope: Scope) -> Term:
        inner = self.effects.inner(node, scope)
        # `lambda: (yield) if is_hip() else 2` gives a generator, whatever the test is worth.
        made = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in walk(node.body))
        return ("Lambda", self.arguments(node.args, scope), self.value(node.body, inner), made)

    def arguments(self, node: ast.arguments, scope: Scope) -> Term:
        """Parameters with their defaults and annotations (these live in the outer scope)."""
        return self._generic(node, scope)

    def _comprehension(self, node: ast.expr, scope: Scope) -> Term:
        inner = self.effects.inner(node, scope)
        generators = []
        for index, row in enumerate(node.generators):  # type: ignore[attr-defined]
            tests = []
            for test in row.ifs:
                term = self.test(test, inner)
                if term != TRUE:
                    tests.append(term)
            source = self.value(row.iter, scope if index == 0 else inner)
            generators.append((self.target(row.target, inner), source, tuple(tests), row.is_async))
        if isinstance(node, ast.DictComp):
            head: Term = (self.value(node.key, inner), self.value(node.value, inner))
        else:
            head = (self.value(node.elt, inner),)  # type: ignore[attr-defined]
        if isinstance(node, ast.GeneratorExp):  # `(x for x in r if is_cuda() or await x)` is walked by `async for`
            parts = [
                n for n in walk(node) if isinstance(n, ast.Await) or (isinstance(n, ast.comprehension) and n.is_async)
            ]
            return (type(node).__name__, head, tuple(generators), bool(parts))
        return (type(node).__name__, head, tuple(generators))

    def target(self, node: ast.expr, scope: Scope) -> Term:
        """An assignment target: names are never folded, what they are stored into may be."""
        if isinstance(node, ast.Name):
            return ("Name", node.id)
        if isinstance(node, ast.Tuple | ast.List):
            return ("Targets", *(self.target(item, scope) for item in node.elts))
        if isinstance(node, ast.Starred):
            return ("Starred", self.target(node.value, scope))
        return self._generic(node, scope)

    # -- truth position ------------------------------------------------------------------------

    def test(self, node: ast.expr, scope: Scope) -> Term:
        """The canonical form of an expression of which only the truth is used.

        ``("Known", truth, effects)`` when the truth is known but something must be evaluated.
        """
        truth = self.effects.truth(node, scope)
        if truth is not None and self.effects.droppable(node, scope):
            return TRUE if truth else FALSE
        if isinstance(node, ast.BoolOp):
            return self._bool_test(node, scope)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return negate(self.test(node.operand, scope))
        if isinstance(node, ast.IfExp) and truth is None:
            chosen = self.effects.truth(node.test, scope)
            if chosen is not None and self.effects.droppable(node.test, scope):
                return self.test(node.body if chosen else node.orelse, scope)
            return ("IfExp", *(self.test(part, scope) for part in (node.test, node.body, node.orelse)))
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            if self.effects.symbol(node.func, scope) == ("outside", "bool", ""):
                return self.test(node.args[0], scope)
        term = self.value(node, scope)
        if truth is not None:
            return ("Known", truth, term)
        return term

    def _bool_test(self, node: ast.BoolOp, scope: Scope) -> Term:
        stop = isinstance(node.op, ast.Or)
        end, neutral = (TRUE, FALSE) if stop else (FALSE, TRUE)
        name = "Or" if stop else "And"
        kept: list[Term] = []
        needed = 0  # how many of the kept terms must be evaluated for their effects
        for item in node.values:
            term = self.test(item, scope)
            if term == neutral:
                continue
            if term == end or (term[0] == "Known" and term[1] == stop):
                if term != end:
                    kept.append(term[2])
                    needed = len(kept)
                # Dropping what stands before needs that it may be dropped: register() and False.
                return ("Known", stop, joined(name, kept[:needed])) if needed else end
            if term[0] == name:
                kept.extend(term[1:])  # (a and b) and c is a and b and c when only the truth counts
            else:
                kept.append(term)
            if not self.effects.droppable(item, scope):
                needed = len(kept)
        if len(kept) > 1 and all(term[0] == "Known" for term in kept):
            return ("Known", not stop, joined(name, kept))  # (a := True) and (b := True)
        return joined(name, kept) if kept else neutral

    def void(self, node: ast.expr, scope: Scope) -> Term | None:
        """The canonical form of an expression evaluated for its effects alone; None when there is none."""
        return self.effects_of(self.test(node, scope), node, scope)

    def effects_of(self, term: Term, node: ast.expr, scope: Scope) -> Term | None:
        """Reduce a truth-position term to the effects of evaluating it."""
        if self.effects.droppable(node, scope):
            return None
        term = evaluated(term)
        return None if term[0] == "=" else term
