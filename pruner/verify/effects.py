"""Does this definition, decorator or module do more than define?

The conservative answer is "it has an effect": the verifier then demands that it is still there.

Blind to effects of importing an outside package.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from pruner.verify.names import FUNCTIONS, resolver, target_names
from pruner.verify.nodes import children, walk
from pruner.verify.outside import DECORATORS, MUTATORS, pure_constructor
from pruner.verify.purity import Purity, outside_pure
from pruner.verify.rules import is_pure
from pruner.verify.scopes import Scope, class_scope, function_scope
from pruner.verify.world import Symbol


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

    def _no_trace(self, symbol: Symbol, call: bool, given: frozenset[int | str] = frozenset({0})) -> bool:
        """Does decorating by this leave no trace? ``given``: which of its arguments is the decorated thing."""
        key = ("trace", symbol[1], symbol[2])
        if key in self._busy:
            return True
        definition = self.world.definition(symbol)
        if isinstance(definition, ast.ClassDef):
            names = ("__init__", "__new__", "__call__") if call else ("__init__", "__new__")
            body = [i for i in definition.body if isinstance(i, ast.FunctionDef) and i.name in names]
            if not self.class_pure(definition, self.module_scope(symbol[1])):
                return False
            given = frozenset({1})  # behind self
        elif isinstance(definition, ast.FunctionDef):
            body = [definition]
        else:
            return False
        self._busy.add(key)
        try:
            return all(self._traceless(item, symbol[1], call and item is definition, given) for item in body)
        finally:
            self._busy.discard(key)

    def _traceless(self, function: ast.FunctionDef, module: str, factory: bool, given: frozenset[int | str]) -> bool:
        """No store into anything that outlives the call but the decorated thing itself.

        ``def route(path, table=ROUTES): def wrap(fn): table[path] = fn`` leaves a trace; ``fn.speed = 1`` does not.
        What a returned wrapper does, it does when it is called, not when it decorates; of a factory
        (``@route("/x")``) the returned function is the decorator.
        """
        resolve = resolver(module, self.world.tree.is_package(module))
        scope = function_scope(function, self.module_scope(module), resolve)
        decorated = _parameters(function, frozenset() if factory else given)
        nested = {item.name: item for item in walk(function) if isinstance(item, FUNCTIONS) and item is not function}
        fresh = set(nested) | {n.name for n in walk(function) if isinstance(n, ast.ClassDef)}
        stored: dict[str, list[ast.expr | None]] = {}
        run: list[ast.AST] = list(function.body)
        done = 0
        while done < len(run):
            for node in _own(run[done]):
                for name, value in _stores(node):
                    stored.setdefault(name, []).append(value)
                if factory and isinstance(node, ast.Return) and isinstance(node.value, ast.Lambda):
                    run.append(node.value.body)  # `return lambda fn: TABLE.setdefault(name, fn)`
                    decorated |= {argument.arg for argument in node.value.args.args[:1]}
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
                decorated |= _parameters(item, frozenset({0})) if given_back else set()
            done += 1
        # `table = TABLE` is another name of what outlives the call; `out = []` and `new = wraps(fn)(inner)` are of this call.
        fresh |= {name for name, values in stored.items() if all(map(_made_here, values))}
        mine = _Mine(decorated, fresh - {"cls"})
        return all(self._step(node, scope, mine) for root in run for node in _own(root))

    def _step(self, node: ast.AST, scope: Scope, mine: _Mine) -> bool:
        if isinstance(node, ast.Global):
            return False
        if isinstance(node, ast.Assign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Subscript | ast.Attribute) and not mine.owns(target):
                    return False
                if isinstance(node, ast.AugAssign) and isinstance(target, ast.Name) and target.id not in mine.fresh:
                    if not isinstance(node.value, ast.Constant | ast.JoinedStr):
                        return False  # table += [fn]
        if not isinstance(node, ast.Call):
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            root = _root(node.func)
            if root is None or root not in mine.fresh or not isinstance(node.func.value, ast.Name):
                return False
        handed = frozenset(
            [i for i, a in enumerate(node.args) if isinstance(a, ast.Name) and a.id in mine.decorated | mine.fresh]
            + [str(k.arg) for k in node.keywords if isinstance(k.value, ast.Name) and k.value.id in mine.decorated]
        )
        if handed:
            text = self.chain(node.func, scope)
            symbol = self.symbol(node.func, scope)
            if symbol is not None and symbol[0] == "symbol":
                return self._no_trace(symbol, False, handed)
            if symbol is not None and text is not None:
                return outside_pure(text) or text.startswith(DECORATORS) or is_pure(self.world.stated, text)
            root = _root(node.func)
            # `REG.put(fn)`, `hook(fn)`: nobody knows what that does; `wraps(fn)(inner)` and `inner(fn)` are looked at apart
            return root is None or root in mine.decorated | mine.fresh
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
                    # Not __set_name__: that of a base is asked where one of its objects is an attribute of a class.
                    any(isinstance(i, ast.FunctionDef) and i.name == "__init_subclass__" for i in definition.body)
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

    def module(
        self, module: str, taken: Callable[[ast.stmt, Scope], bool] = lambda node, scope: False
    ) -> tuple[str, tuple[str, ...]]:
        """What importing a module does: its first effect or ``""``, and the modules that it imports in turn.

        ``taken``: does the statement only put entries into tables that rules drop? It is no effect then.
        """
        parsed = self.world.tree.parse_module(module)
        names = self.world.names(module)
        if parsed is None or names is None:
            path = self.world.tree.modules.get(module)
            return (f"{path} cannot be read" if path else "", ())
        scope = self.module_scope(module)
        every = ((node, found) for node in parsed.body if (found := self.effect(node, scope)))
        effect = next((found for node, found in every if not taken(node, scope)), "")
        follows: dict[str, None] = {}
        for row in names.imports:
            if row.lazy or row.typing or any(self.truth(t, scope) == (not wanted) for t, wanted in row.guards):
                continue
            for name in (row.target, f"{row.target}.{row.symbol}"):
                if name in self.world.tree.modules:
                    follows[name] = None
        return effect, tuple(follows)


class _Mine:
    """Names of what may be stored into: the decorated thing, and what the call itself made."""

    def __init__(self, decorated: set[str], fresh: set[str]) -> None:
        self.decorated, self.fresh = decorated, fresh

    def owns(self, target: ast.expr) -> bool:
        """``fn.speed``, ``fn.__dict__["x"]``, ``out[0]``; not ``self.table[name]``, which came from elsewhere."""
        root = _root(target)
        if root in self.fresh:
            return True
        if (root != "self" and root not in self.decorated) or root == "cls":
            return False
        while isinstance(target, ast.Subscript | ast.Attribute) and not isinstance(target.value, ast.Name):
            target = target.value
        return isinstance(target, ast.Attribute) and (target.attr.startswith("__") or isinstance(target.ctx, ast.Store))


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef, given: frozenset[int | str]) -> set[str]:
    """Names of these arguments: by place, or by keyword."""
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    places = {names[i] for i in given if isinstance(i, int) and i < len(names)}
    return places | {str(name) for name in given if isinstance(name, str)}


def _stores(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """The names that a statement stores into, with the value where it is one."""
    if isinstance(node, ast.Assign | ast.AnnAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            else:
                yield from ((name, None) for name in target_names(target))
    elif isinstance(node, ast.NamedExpr):
        yield node.target.id, node.value
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield from ((name, None) for name in target_names(node.target))
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from ((name, None) for name in target_names(node.optional_vars))


def _made_here(value: ast.expr | None) -> bool:
    """A display, a number, or what a call gives: ``setdefault`` and ``get`` give what a table had."""
    if isinstance(value, ast.Call):
        return not (isinstance(value.func, ast.Attribute) and value.func.attr in (*MUTATORS, "get"))
    return isinstance(
        value,
        ast.Constant
        | ast.JoinedStr
        | ast.List
        | ast.Dict
        | ast.Set
        | ast.Tuple
        | ast.ListComp
        | ast.DictComp
        | ast.SetComp
        | ast.Lambda
        | ast.BinOp
        | ast.Compare,
    )


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
