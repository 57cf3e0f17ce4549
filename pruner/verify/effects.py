"""Does this definition, decorator or module do more than define?

The conservative answer is "it has an effect": the verifier then demands that it is still there.

Blind to effects of importing an outside package.
"""

from __future__ import annotations

import ast

from pruner.verify.names import FUNCTIONS, resolver, target_names
from pruner.verify.nodes import children, walk
from pruner.verify.outside import DECORATORS, MUTATORS, pure_constructor
from pruner.verify.purity import Purity, outside_pure
from pruner.verify.rules import is_pure
from pruner.verify.scopes import Scope, class_scope, function_scope
from pruner.verify.world import Symbol

HOOKS = frozenset({"__init_subclass__", "__set_name__"})


class Effects(Purity):
    """The evaluator with the knowledge of what definitions do."""

    def decorator_pure(self, node: ast.expr, scope: Scope) -> bool:
        """Does applying this decorator leave no trace but the decorated object?"""
        if isinstance(node, ast.Attribute) and node.attr in ("setter", "getter", "deleter", "register"):
            # @v.setter works on the property v of this very class; @show.register fills a table.
            return node.attr != "register"
        call = isinstance(node, ast.Call)
        head = node.func if isinstance(node, ast.Call) else node
        if isinstance(node, ast.Call):
            parts = [*node.args, *(keyword.value for keyword in node.keywords)]
            if not all(self.droppable(part, scope) for part in parts):
                return False
        text = self.chain(head, scope)
        if text is not None and (is_pure(self.world.stated, text) or text.startswith(DECORATORS)):
            return True
        symbol = self.symbol(head, scope)
        if symbol is None or symbol[0] != "symbol":
            return False
        return self._no_trace(symbol, call)

    def _no_trace(self, symbol: Symbol, call: bool) -> bool:
        key = ("trace", symbol[1], symbol[2])
        if key in self._busy:
            return True
        definition = self.world.definition(symbol)
        if isinstance(definition, ast.ClassDef):
            body = [i for i in definition.body if isinstance(i, ast.FunctionDef) and i.name in ("__init__", "__new__")]
            if not self.class_pure(definition, self.module_scope(symbol[1])):
                return False
        elif isinstance(definition, ast.FunctionDef):
            body = [definition]
        else:
            return False
        self._busy.add(key)
        try:
            return all(self._traceless(item, symbol[1], call) for item in body)
        finally:
            self._busy.discard(key)

    def _traceless(self, function: ast.FunctionDef, module: str, factory: bool) -> bool:
        """No store into anything that outlives the call but the arguments themselves.

        ``def route(path): def wrap(fn): ROUTES[path] = fn`` leaves a trace; ``fn.speed = 1`` does not.
        What a returned wrapper does, it does when it is called, not when it decorates; of a factory
        (``@route("/x")``) the returned function is the decorator.
        """
        resolve = resolver(module, self.world.tree.is_package(module))
        scope = function_scope(function, self.module_scope(module), resolve)
        local = set(scope.bound)
        nested = {item.name: item for item in walk(function) if isinstance(item, FUNCTIONS) and item is not function}
        run: list[ast.AST] = list(function.body)
        done = 0
        while done < len(run):
            for node in _own(run[done]):
                given_back = isinstance(node, ast.Return) and isinstance(node.value, ast.Name)
                name = node.value.id if given_back else getattr(node, "id", "")  # type: ignore[attr-defined]
                item = nested.get(name)
                if item is None or (given_back and not (factory and item in function.body)):
                    continue
                if not given_back and any(
                    isinstance(n, ast.Return) and getattr(n.value, "id", "") == name for n in _own(run[done])
                ):
                    continue  # this Name is the one of the return statement
                del nested[name]
                run.extend(item.body)
                local |= function_scope(item, scope, resolve).bound
            done += 1
        return all(self._step(node, scope, local) for root in run for node in _own(root))

    def _step(self, node: ast.AST, scope: Scope, local: set[str]) -> bool:
        if isinstance(node, ast.Global):
            return False
        if isinstance(node, ast.Assign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Subscript | ast.Attribute):
                    root = _root(target)
                    if root is None or root not in local or root == "cls":
                        return False
        if not isinstance(node, ast.Call):
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            root = _root(node.func)
            if root is None or root not in local or root in ("cls", "self"):
                return False
        if any(isinstance(a, ast.Name) and a.id in local for a in node.args):
            text = self.chain(node.func, scope)
            symbol = self.symbol(node.func, scope)
            if symbol is not None and symbol[0] == "symbol":
                return self._no_trace(symbol, False)
            if symbol is not None and text is not None:
                return outside_pure(text) or text.startswith(DECORATORS) or is_pure(self.world.stated, text)
        return True

    def class_pure(self, node: ast.ClassDef, scope: Scope) -> bool:
        """Does the class statement do nothing but make the class?"""
        if not all(self.decorator_pure(item, scope) for item in node.decorator_list):
            return False
        if any(k.arg != "metaclass" and k.arg not in ("total", "frozen", "kw_only", "tag") for k in node.keywords):
            return False  # a class keyword is an argument of __init_subclass__
        for keyword in node.keywords:
            found = self.symbol(keyword.value, scope)
            if keyword.arg == "metaclass" and (found is None or found[0] != "outside"):
                return False
        for base in node.bases:
            while isinstance(base, ast.Subscript):
                base = base.value
            found = self.symbol(base, scope)
            if found is None or found[0] != "symbol" or is_pure(self.world.stated, f"{found[1]}.{found[2]}"):
                continue
            for row in self.classes.ancestors(found)[0]:
                definition = self.world.definition(row)
                if isinstance(definition, ast.ClassDef) and (
                    any(isinstance(i, ast.FunctionDef) and i.name in HOOKS for i in definition.body)
                    or any(k.arg == "metaclass" for k in definition.keywords)
                ):
                    return False
        inner = class_scope(node, scope, resolver(scope.module, self.world.tree.is_package(scope.module)))
        return not inner.globals and all(not self.effect(item, inner) for item in node.body)

    def effect(self, node: ast.stmt, scope: Scope) -> str:
        """Why leaving out this statement loses more than the names it binds; ``""`` when it does not."""
        line = f"line {node.lineno}"
        if isinstance(node, FUNCTIONS):
            for item in node.decorator_list:
                if not self.decorator_pure(item, scope):
                    return f"{line}: decorator {ast.unparse(item)[:60]} may keep the function"
            return ""
        if isinstance(node, ast.ClassDef):
            return "" if self.class_pure(node, scope) else f"{line}: class {node.name} may be registered when defined"
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass | ast.Global | ast.Nonlocal):
            return ""
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if not isinstance(target, ast.Name) and not (
                    isinstance(target, ast.Tuple) and list(target_names(target))
                ):
                    return f"{line}: a store into an object"
            if node.value is None or self.droppable(node.value, scope) or pure_constructor(node.value):
                return ""
            return f"{line}: the assigned value comes from a call"
        if isinstance(node, ast.If):
            if not self.droppable(node.test, scope):
                return f"{line}: a test with an effect"
            truth = self.truth(node.test, scope)
            body = [*(node.body if truth is not False else []), *(node.orelse if truth is not True else [])]
            return next((found for item in body if (found := self.effect(item, scope))), "")
        if isinstance(node, ast.Try):
            handlers = [item for handler in node.handlers for item in handler.body]
            body = [*node.body, *handlers, *node.orelse, *node.finalbody]
            return next((found for item in body if (found := self.effect(item, scope))), "")
        if isinstance(node, ast.Expr):
            return "" if self.droppable(node.value, scope) else f"{line}: an evaluated expression"
        return f"{line}: {type(node).__name__}"

    def decided(self, module: str, test: ast.expr) -> bool | None:
        """What a test in the body of a module is for sure."""
        return self.truth(test, self.module_scope(module))

    def module(self, module: str) -> tuple[str, tuple[str, ...]]:
        """What importing a module does: its first effect or ``""``, and the modules that it imports in turn."""
        parsed = self.world.tree.parse_module(module)
        names = self.world.names(module)
        if parsed is None or names is None:
            path = self.world.tree.modules.get(module)
            return (f"{path} cannot be read" if path else "", ())
        scope = self.module_scope(module)
        effect = next((found for node in parsed.body if (found := self.effect(node, scope))), "")
        follows: dict[str, None] = {}
        for row in names.imports:
            if row.lazy or row.typing or any(self.truth(t, scope) == (not wanted) for t, wanted in row.guards):
                continue
            for name in (row.target, f"{row.target}.{row.symbol}"):
                if name in self.world.tree.modules:
                    follows[name] = None
        return effect, tuple(follows)


def _own(root: ast.AST) -> list[ast.AST]:
    """A statement and what is below it, without the bodies of nested functions."""
    found: list[ast.AST] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, (*FUNCTIONS, ast.Lambda)):
            continue
        found.append(node)
        stack.extend(children(node))
    return found


def _root(node: ast.expr) -> str | None:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
