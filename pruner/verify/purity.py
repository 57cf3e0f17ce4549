"""May this evaluation be dropped when nobody needs its value?

The conservative answer is no: the verifier then demands that it is still there.

Blind to: properties and operators with effects, exceptions that a dropped expression would have
raised.
"""

from __future__ import annotations

import ast

from pruner.verify.bindings import leaves, target_names
from pruner.verify.evaluate import Evaluator
from pruner.verify.names import resolver
from pruner.verify.nodes import children
from pruner.verify.outside import ARGUMENTS, CALLING, CHANGING, KEYED, MUTATORS, PURE_METHODS, PURE_NAMES, PURE_PREFIXES
from pruner.verify.rules import is_pure
from pruner.verify.scopes import COMPREHENSIONS, Scope, function_scope
from pruner.verify.world import Symbol, World


class Purity(Evaluator):
    """The evaluator with the knowledge of what may be dropped."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._pure: dict[Symbol, bool] = {}

    def droppable(self, node: ast.expr, scope: Scope) -> bool:
        """May the evaluation of ``node`` be left out when nobody needs its value?"""
        if isinstance(node, ast.Constant | ast.Name | ast.Lambda):
            return True
        if isinstance(node, ast.Call):
            return self._call_droppable(node, scope)
        if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return False
        if isinstance(node, ast.BoolOp):
            stop = isinstance(node.op, ast.Or)
            for item in node.values:
                if not self.droppable(item, scope):
                    return False
                if self.truth(item, scope) == stop:
                    return True  # what stands behind it is never evaluated
            return True
        if isinstance(node, ast.IfExp):
            truth = self.truth(node.test, scope)
            parts = [
                node.test,
                *([node.body] if truth is not False else []),
                *([node.orelse] if truth is not True else []),
            ]
            return all(self.droppable(part, scope) for part in parts)
        if isinstance(node, COMPREHENSIONS):
            scope = self.inner(node, scope)
        return all(self.droppable(child, scope) for child in _expressions(node))

    def _call_droppable(self, node: ast.Call, scope: Scope) -> bool:
        if self.fact(node, scope) is not None and self.droppable(node.func, scope):
            return all(self.droppable(a, scope) for a in [*node.args, *(k.value for k in node.keywords)])
        if not all(self.droppable(a, scope) for a in node.args) or not all(
            self.droppable(k.value, scope) for k in node.keywords
        ):
            return False
        head = self.chain(node.func, scope)
        if head is not None and (
            is_pure(self.world.stated, head) or (outside_pure(head) and self._only_computes(head, node))
        ):
            return True
        symbol = self.symbol(node.func, scope)
        symbol = self._aliased(symbol) or symbol
        if symbol is not None and symbol[0] == "symbol":
            # A known truth was found along effect-free statements alone, with these arguments.
            known = self.result(symbol, self._known_arguments(node, symbol, scope))
            return known.truth is not None or self.pure_function(symbol)
        if symbol is not None:
            return False
        if isinstance(node.func, ast.Attribute) and self.droppable(node.func.value, scope):
            name = node.func.attr
            few, most = ARGUMENTS.get(name, (0, 99))
            if not few <= len(node.args) + len(node.keywords) <= most:
                return False
            return name in PURE_METHODS or name.startswith(("is_", "has_", "supports_"))
        return False

    def _only_computes(self, head: str, node: ast.Call) -> bool:
        """Does a listed function, given these arguments, call nothing that may have an effect, and change nothing?"""
        if head.startswith(CHANGING):
            return False
        handed = [k.value for k in node.keywords if k.arg == "key"] if head in KEYED else []
        handed += node.args[:1] if head in CALLING else []
        return all(isinstance(one, ast.Name) and one.id in PURE_NAMES for one in handed)

    def pure_function(self, symbol: Symbol) -> bool:
        """Does a call of this function of the tree do nothing but compute its result?"""
        key = ("pure", symbol[1], symbol[2])
        if symbol in self._pure:
            return self._pure[symbol]
        if is_pure(self.world.stated, f"{symbol[1]}.{symbol[2]}"):
            return True
        node = self.world.definition(symbol)
        if self.rebound(symbol[1], symbol[2]):
            return False  # another function may stand in its place
        if not isinstance(node, ast.FunctionDef) or key in self._busy:
            # Recursion adds no effect of its own.
            return key in self._busy
        self._busy.add(key)
        try:
            scope = self.module_scope(symbol[1])
            inner = function_scope(node, scope, resolver(symbol[1], self.world.tree.is_package(symbol[1])))
            good = all(self.decorator_pure(item, scope) for item in node.decorator_list) and self._suite_pure(
                node.body, inner
            )
        finally:
            self._busy.discard(key)
        self._pure[symbol] = good
        return good

    def _suite_pure(self, body: list[ast.stmt], scope: Scope) -> bool:
        for node in body:
            if not self._statement_pure(node, scope):
                return False
            if isinstance(node, ast.Return):
                break
            if isinstance(node, ast.If) and leaves(node.body) and self.truth(node.test, scope) is True:
                break  # what stands behind it never runs
        return True

    def _statement_pure(self, node: ast.stmt, scope: Scope) -> bool:
        if isinstance(node, ast.Return):
            return node.value is None or self.droppable(node.value, scope)
        if isinstance(node, ast.Expr):
            return self.droppable(node.value, scope) or self._fills_own(node.value, scope)
        if isinstance(node, ast.AugAssign):
            return False  # `acc += [x]` changes the list that the caller has
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            plain = all(isinstance(t, ast.Name | ast.Tuple) for t in targets)
            stored = {name for target in targets for name in target_names(target)}
            return plain and not stored & scope.globals and (node.value is None or self.droppable(node.value, scope))
        if isinstance(node, ast.If):
            truth = self.truth(node.test, scope)
            return (
                self.droppable(node.test, scope)
                and (truth is False or self._suite_pure(node.body, scope))
                and (truth is True or self._suite_pure(node.orelse, scope))
            )
        if isinstance(node, ast.For):
            return self.droppable(node.iter, scope) and self._suite_pure([*node.body, *node.orelse], scope)
        if isinstance(node, ast.Try):
            handlers = [item for handler in node.handlers for item in handler.body]
            return self._suite_pure([*node.body, *handlers, *node.orelse, *node.finalbody], scope)
        return isinstance(
            node, ast.Pass | ast.Continue | ast.Break | ast.Import | ast.ImportFrom | ast.FunctionDef | ast.Global
        )

    def _fills_own(self, node: ast.expr, scope: Scope) -> bool:
        """``out.append(x)`` where ``out`` was made in this very function."""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS):
            return False
        owner = node.func.value
        if not isinstance(owner, ast.Name) or not all(self.droppable(a, scope) for a in node.args):
            return False
        rows = scope.bindings(owner.id)
        return bool(rows) and all(
            isinstance(row.value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)
            for row in rows
        )

    def decorator_pure(self, node: ast.expr, scope: Scope) -> bool:
        """Does applying this decorator leave no trace but the decorated object?"""
        raise NotImplementedError


def _expressions(node: ast.AST) -> list[ast.expr]:
    found: list[ast.expr] = []
    for child in children(node):
        if isinstance(child, ast.expr):
            found.append(child)
        elif isinstance(child, ast.comprehension):
            found.extend([child.iter, *child.ifs])
        elif isinstance(child, ast.keyword):
            found.append(child.value)
    return found


def outside_pure(text: str) -> bool:
    """Is this function of Python or a known package known to compute only?"""
    return text in PURE_NAMES or text.startswith(PURE_PREFIXES)
