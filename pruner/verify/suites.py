"""Canonical suites: what a list of statements does under the facts.

Decided branches are spliced, dead tails cut, empty statements dropped. The same function reads
both sides, so that ``if False: yield`` in an output and the folded upstream look alike.

Not decided here, because they depend on the whole function and not on its statements: which names
are local, whether the function is a generator, its docstring (see :mod:`pruner.verify.shape`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from pruner.verify.canon import Canon
from pruner.verify.cases import Cases
from pruner.verify.guards import called
from pruner.verify.items import Item, catches_import_error
from pruner.verify.names import FUNCTIONS
from pruner.verify.scopes import Scope
from pruner.verify.terms import FALSE, TRUE, Term, evaluated, joined, negate


class Suites(Cases):
    """Canonical suites for one side of one file.

    ``erase`` says which removed bindings to leave out; ``gone`` names the dropped module that an
    import asks for, and whether the other side lets it fail there.
    """

    def __init__(
        self,
        canon: Canon,
        erase: Callable[[Item, Scope], bool] | None = None,
        gone: Callable[[Item, Scope], tuple[str, bool]] | None = None,
    ) -> None:
        self.canon = canon
        self.erase = erase
        self.gone = gone
        self.tried: list[ast.Try | ast.TryStar | None] = []  # try statements in whose body the walk is
        self._table: dict[type, Callable[[Any, Scope], list[Item]]] = {
            ast.If: self._if,
            ast.While: self._while,
            ast.For: self._for,
            ast.AsyncFor: self._for,
            ast.With: self._with,
            ast.AsyncWith: self._with,
            ast.Try: self._try,
            ast.TryStar: self._try,
            ast.Match: self._match,
            ast.Expr: self._expr,
            ast.Assert: self._assert,
            ast.Import: self._import,
            ast.ImportFrom: self._import,
            ast.FunctionDef: self._definition,
            ast.AsyncFunctionDef: self._definition,
            ast.ClassDef: self._definition,
        }

    def suite(self, body: Sequence[ast.stmt], scope: Scope) -> list[Item]:
        """The canonical form of a suite; the docstring must have been taken off."""
        found: list[Item] = []
        for node in body:
            items = self._statement(node, scope)
            for item in items:
                self._guard(item, scope)
            if isinstance(node, ast.ImportFrom):
                items.sort(key=lambda item: item.kind != "Stand")  # stand-ins are put before what is left of it
            for item in items:
                if self.erase is not None and self.erase(item, scope):
                    continue
                found.append(item)
                if item.leaves:
                    return found  # nothing behind it is reached
        return found

    def _guard(self, item: Item, scope: Scope) -> None:
        """Bring an import of a dropped module and the guard call that stands for it to one form."""
        if item.kind == "Import" and self.gone is not None:
            module, raises = self.gone(item, scope)
            if module and raises:
                item.kind, item.key, item.binds = "Gone", ("Gone", module), ()
            elif module:
                item.kind, item.key = "Stand", ("Stand", module, item.binds[0])
        elif item.kind == "Expr" and isinstance(item.node, ast.Expr):
            function, module = called(item.node.value)
            if function == "removed":
                item.kind, item.key = "Gone", ("Gone", module)
        elif item.kind == "Assign" and isinstance(item.node, ast.Assign) and item.binds:
            function, module = called(item.node.value)
            if function == "removed":  # it raises: the name is bound for those who read the text
                item.kind, item.key, item.binds = "Gone", ("Gone", module), ()
            if function == "stand_in" and len(item.binds) == 1:
                item.kind, item.key = "Stand", ("Stand", module, item.binds[0])

    def function(self, body: Sequence[ast.stmt], scope: Scope) -> list[Item]:
        """A function's suite: a bare ``return`` at its end does nothing."""
        found = self.suite(body, scope)
        while found and found[-1].kind == "Return" and found[-1].key == ("Return", None):
            found.pop()
        return found

    def loop(self, body: Sequence[ast.stmt], scope: Scope) -> list[Item]:
        """A loop's suite: ``continue`` at its end does nothing."""
        found = self.suite(body, scope)
        while found and found[-1].kind == "Continue":
            found.pop()
        return found

    def _statement(self, node: ast.stmt, scope: Scope) -> list[Item]:
        handler = self._table.get(type(node))
        if handler is not None:
            return handler(node, scope)
        kind = type(node).__name__
        if isinstance(node, ast.Pass | ast.Global | ast.Nonlocal):
            return []
        if isinstance(node, ast.Assign):
            targets = tuple(self.canon.target(target, scope) for target in node.targets)
            key: Term = (kind, targets, self.canon.value(node.value, scope))
            binds = tuple(t.id for t in node.targets if isinstance(t, ast.Name))
            plain = len(binds) == len(node.targets)
            return [Item(kind, key, node.lineno, node, binds=binds if plain else ())]
        if isinstance(node, ast.AugAssign):
            key = (
                kind,
                type(node.op).__name__,
                self.canon.target(node.target, scope),
                self.canon.value(node.value, scope),
            )
            return [Item(kind, key, node.lineno, node)]
        if isinstance(node, ast.AnnAssign) and node.value is None and scope.kind != "class":
            # A bare annotation binds nothing and may go; it may not say something else. In a class body it makes a field.
            key = ("Note", self.canon.target(node.target, scope), self.canon.value(node.annotation, scope))
            return [Item("Note", key, node.lineno, node)]
        if isinstance(node, ast.AnnAssign):
            value = self.canon.value(node.value, scope) if node.value is not None else None
            key = (kind, self.canon.target(node.target, scope), self.canon.value(node.annotation, scope), value)
            binds = (node.target.id,) if isinstance(node.target, ast.Name) else ()
            return [Item(kind, key, node.lineno, node, binds=binds)]
        key = self.canon._generic(node, scope)
        leaves = isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break)
        if isinstance(node, ast.Return) and node.value is not None and key[1] == ("=", "NoneType", "None"):
            key = ("Return", ("=", "NoneType", "None"))
        return [Item(kind, key, node.lineno, node, leaves=leaves)]

    def _evaluate(self, term: Term | None, node: ast.stmt) -> list[Item]:
        """What is evaluated for its effects alone: ``(n := f()) and False`` leaves ``n = f()``, each operand a statement."""
        if term is None:
            return []
        term = evaluated(term)
        if term[0] == "NamedExpr":
            return [Item("Assign", ("Assign", (("Name", term[1]),), term[2]), node.lineno, node, binds=(term[1],))]
        if term[0] in ("And", "Or") and term[1][0] == "Known" and term[1][1] == (term[0] == "And"):
            # The first operand ends nothing: `(a := True) and (b := f())` is two statements.
            return [*self._evaluate(term[1], node), *self._evaluate(joined(term[0], [*term[2:]]), node)]
        return [Item("Expr", ("Expr", term), node.lineno, node)]

    def _expr(self, node: ast.Expr, scope: Scope) -> list[Item]:
        value = node.value
        if isinstance(value, ast.Constant):
            return []  # a stray string; docstrings are compared apart
        if isinstance(value, ast.NamedExpr):
            target = ("Name", value.target.id)
            key: Term = ("Assign", (target,), self.canon.value(value.value, scope))
            return [Item("Assign", key, node.lineno, node, binds=(value.target.id,))]
        if isinstance(value, ast.YieldFrom) and isinstance(value.value, ast.Tuple) and not value.value.elts:
            return []
        if isinstance(value, ast.BoolOp | ast.UnaryOp | ast.IfExp):
            term = self.canon.void(value, scope)
            if term is not None and isinstance(value, ast.IfExp) and term[0] == "IfExp":
                return self._if_parts(
                    node, term[1], self._branch(value.body, scope, node), self._branch(value.orelse, scope, node)
                )
            return self._evaluate(term, node)
        # Nobody needs its value, and it does nothing else; but what raises in a ``try`` is what its handler is for:
        # ``try: array("q", v)`` / ``except OverflowError: raise ValueError(...)``.
        if not any(self.tried) and self.canon.effects.droppable(value, scope) and called(value) == ("", ""):
            return []
        return [Item("Expr", ("Expr", self.canon.value(value, scope)), node.lineno, node)]

    def _branch(self, value: ast.expr, scope: Scope, node: ast.stmt) -> list[Item]:
        return self._expr(ast.copy_location(ast.Expr(value), node), scope)

    def _if(self, node: ast.If, scope: Scope) -> list[Item]:
        test = self.canon.test(node.test, scope)
        if test == TRUE:
            return self.suite(node.body, scope)
        if test == FALSE:
            return self.suite(node.orelse, scope)
        if test[0] == "Known":
            return [*self._evaluate(test[2], node), *self.suite(node.body if test[1] else node.orelse, scope)]
        body, orelse = self.suite(node.body, scope), self.suite(node.orelse, scope)
        if all(item.kind == "Note" for item in (*body, *orelse)):
            return self._evaluate(self.canon.effects_of(test, node.test, scope), node)
        return self._if_parts(node, test, body, orelse)

    def _if_parts(self, node: ast.stmt, test: Term, body: list[Item], orelse: list[Item]) -> list[Item]:
        if not body and not orelse:
            return self._evaluate(test, node)
        if not body:
            test, body, orelse = negate(test), orelse, body
        leaves = bool(orelse) and body[-1].leaves and orelse[-1].leaves
        return [Item("If", ("If", test), node.lineno, node, (body, orelse), leaves=leaves)]

    def _while(self, node: ast.While, scope: Scope) -> list[Item]:
        test = self.canon.test(node.test, scope)
        if test == FALSE:
            return self.suite(node.orelse, scope)
        if test[0] == "Known" and not test[1]:
            return [*self._evaluate(test[2], node), *self.suite(node.orelse, scope)]
        orelse = [] if test == TRUE else self.suite(node.orelse, scope)
        return [Item("While", ("While", test), node.lineno, node, (self.loop(node.body, scope), orelse))]

    def _for(self, node: ast.For | ast.AsyncFor, scope: Scope) -> list[Item]:
        kind = type(node).__name__
        key = (kind, self.canon.target(node.target, scope), self.canon.value(node.iter, scope))
        return [Item(kind, key, node.lineno, node, (self.loop(node.body, scope), self.suite(node.orelse, scope)))]

    def _with(self, node: ast.With | ast.AsyncWith, scope: Scope) -> list[Item]:
        rows = tuple(
            (
                self.canon.value(item.context_expr, scope),
                self.canon.target(item.optional_vars, scope) if item.optional_vars is not None else None,
            )
            for item in node.items
        )
        kind = type(node).__name__
        return [Item(kind, (kind, rows), node.lineno, node, (self.suite(node.body, scope),))]

    def _try(self, node: ast.Try | ast.TryStar, scope: Scope) -> list[Item]:
        self.tried.append(node if node.handlers else None)
        body = self.suite(node.body, scope)
        self.tried.pop()
        if body and body[0].kind == "Gone":
            caught = next((h for h in node.handlers if catches_import_error(h.type)), None)
            if caught is not None and caught.name is None:
                # The import fails for sure, so the handler is what the statement does.
                return [*self.suite(caught.body, scope), *self.suite(node.finalbody, scope)]
        orelse = self.suite(node.orelse, scope) if not (body and body[-1].leaves) else []
        final = self.suite(node.finalbody, scope)
        if not body:
            return [*orelse, *final]  # nothing can be raised in an empty body
        if not node.handlers and not final:
            return [*body, *orelse]
        handlers = [self.suite(handler.body, scope) for handler in node.handlers]
        heads = tuple(
            self.canon.value(handler.type, scope) if handler.type is not None else None for handler in node.handlers
        )
        ends = [[*body, *orelse], *handlers]
        leaves = bool(final and final[-1].leaves) or all(end and end[-1].leaves for end in ends)
        kind = type(node).__name__
        return [Item(kind, (kind, heads), node.lineno, node, (body, *handlers, orelse, final), leaves=leaves)]

    def _assert(self, node: ast.Assert, scope: Scope) -> list[Item]:
        test = self.canon.test(node.test, scope)
        if test == TRUE:
            return []
        if test[0] == "Known" and test[1]:
            return self._evaluate(test[2], node)
        message = self.canon.value(node.msg, scope) if node.msg is not None else None
        return [Item("Assert", ("Assert", test, message), node.lineno, node)]

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> list[Item]:
        found = []
        for alias in node.names:
            if isinstance(node, ast.Import):
                bound = alias.asname or alias.name.partition(".")[0]
                key: Term = ("Import", alias.name, alias.asname)
            else:
                bound = alias.asname or alias.name
                # ``from x import y as y`` says the same as ``from x import y``.
                key = ("From", node.level, node.module, alias.name, bound)
            found.append(Item("Import", key, node.lineno, node, binds=(bound,)))
        return found

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, scope: Scope) -> list[Item]:
        kind = "Function" if isinstance(node, FUNCTIONS) else "Class"
        return [Item(kind, (kind, node.name), node.lineno, node, binds=(node.name,))]
