"""The verifier's own three-valued evaluator: what must this expression give under the facts?

Nothing is shared with ``pruner.fold``. Unknown is always a safe answer here: it makes the
verifier demand that the code is still there.

Blind to: values that flow through containers, instances or arguments; ``exec``; names rebound by
code outside the tree.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from pruner.verify import values as v
from pruner.verify.names import resolver, target_names
from pruner.verify.operators import Held, Operators, literal
from pruner.verify.rules import Const
from pruner.verify.scopes import Scope, function_scope, inner_scope
from pruner.verify.shape import is_generator
from pruner.verify.values import UNKNOWN, Val
from pruner.verify.world import Symbol

TRUTH_BUILTINS = frozenset({"isinstance", "issubclass", "hasattr", "callable", "any", "all", "bool"})
CACHES = frozenset({"functools.lru_cache", "functools.cache", "functools.lru_cache()", "functools.cache()"})


class Evaluator(Operators):
    """The whole evaluator: names, flags, calls."""

    def value(self, node: ast.expr, scope: Scope) -> Val:
        """What the expression gives."""
        handler = getattr(self, f"_{type(node).__name__}", None)
        return handler(node, scope) if handler is not None else UNKNOWN

    def _Name(self, node: ast.Name, scope: Scope) -> Val:
        home = scope.find(node.id)
        if home is not None:
            return self._local(node.id, home)
        if node.id == "TYPE_CHECKING" and self._chain_is(node, scope, "typing.TYPE_CHECKING"):
            return v.const(False, stated=True)
        return self._symbol_value(self.symbol(node, scope))

    def _chain_is(self, node: ast.expr, scope: Scope, text: str) -> bool:
        return self.chain(node, scope) in (text, f"typing_extensions.{text.rpartition('.')[2]}")

    def _local(self, name: str, home: Scope) -> Val:
        """A local that is bound once has one value wherever a read of it succeeds."""
        if home.twin is not None:
            # ``n = 2`` in the output may be ``n = 8 if is_hip() else 2`` upstream: one answer for both.
            return self._local(name, home.twin) if name in home.twin.bound else UNKNOWN
        if name in home.values:
            known = home.values[name]
            return known if isinstance(known, Val) else UNKNOWN
        home.values[name] = UNKNOWN  # a cycle through itself
        if home.names is None or name in home.names.captured:
            return UNKNOWN
        every = [row for row in home.bindings(name) if row.kind != "declare"]
        rows = [row for row in every if self.reachable(row, home)]
        answer = UNKNOWN
        if len(rows) == 1 and rows[0].kind == "assign" and rows[0].value is not None:
            answer = self.value(rows[0].value, home)
            if answer.fresh:
                answer = UNKNOWN  # errors = []; errors.append(…); if errors: …
        elif len(rows) == 1 and rows[0].kind == "import":
            answer = self._symbol_value(self.world.imported(rows[0].target, rows[0].symbol))
        elif rows and all(row.kind in ("def", "class") for row in rows):
            answer = Val(truth=True)
        home.values[name] = answer
        return answer

    def _symbol_value(self, symbol: Symbol | None) -> Val:
        if symbol is None:
            return UNKNOWN
        if symbol[0] == "module":
            return Val(truth=True)
        if symbol[0] == "outside":
            return self.facts.get(symbol[1], UNKNOWN)
        return self.flag(symbol[1], symbol[2])

    def flag(self, module: str, name: str) -> Val:
        """The value of a module variable that is never rebound."""
        key = (module, name)
        if key in self._flags:
            return self._flags[key]
        fact = self.facts.get(f"{module}.{name}")
        if fact is not None:
            return UNKNOWN if self.rebound(module, name) else fact
        if key in self._busy:
            return UNKNOWN
        self._busy.add(key)
        try:
            answer = self._flag(module, name)
        finally:
            self._busy.discard(key)
        self._flags[key] = answer
        return answer

    def rebound(self, module: str, name: str) -> bool:
        """Does kept code store the variable again: under ``global``, from outside, by ``setattr``?"""
        seen = self.world.seen
        if (module, name) in seen.stores or module in seen.vague_stores or (name in seen.put and module in seen.handed):
            return True
        rebound = seen.rebound.get(module)
        if rebound is None:
            names = self.world.names(module)
            return names is not None and bool(names.rebound.get(name))
        return name in rebound

    def _flag(self, module: str, name: str) -> Val:
        names = self.world.names(module)
        if names is None:
            return UNKNOWN
        if self.rebound(module, name):
            return UNKNOWN
        every = [row for row in names.bindings.get(name, ()) if row.kind != "declare"]
        rows = self.world.live(module, name)
        if rows and all(row.kind in ("def", "class") for row in rows):
            return Val(truth=True)
        if self.world.tree.has_module(f"{module}.{name}") and any(row.kind == "assign" for row in rows):
            return UNKNOWN  # `import pkg.hip` puts the module where `hip = False` of pkg was
        scope = self.module_scope(module)
        found: list[Val] = []
        for row in rows:
            if row.kind == "assign" and row.value is not None:
                found.append(self.value(row.value, scope))
            elif row.kind == "import":
                found.append(self._symbol_value(self.world.imported(row.target, row.symbol)))
            else:
                return UNKNOWN
        if not found:
            return UNKNOWN
        first = found[0]
        if any(val.fresh for val in found):
            return UNKNOWN
        if any(
            (other.consts, other.truth, other.member) != (first.consts, first.truth, first.member) for other in found
        ):
            return UNKNOWN
        if len(found) > 1 and first.consts is None and first.truth is None:
            return UNKNOWN
        stated = any(val.stated for val in found) or len(rows) < len(every)
        return Val(first.consts, first.truth, all(x.boolean for x in found), stated, first.bounds, first.member)

    def tuple_of(self, module: str, name: str) -> tuple[Const, ...] | None:
        """``KINDS = ("cuda", "musa")``, in one place that the facts leave or in several that agree; never rebound."""
        found: tuple[Const, ...] | None = self._one(module, name, self.members)
        return found

    def held_by(self, module: str, name: str) -> Held | None:
        """:meth:`tuple_of` as the tuple or frozen set that it is."""
        found: Held | None = self._one(module, name, self.held)
        return found

    def _one(self, module: str, name: str, read: Callable[[ast.expr, Scope], Any]) -> Any:
        rows = self.world.live(module, name)
        mark = (module, name, read.__name__)
        if not rows or self.rebound(module, name) or mark in self._busy or f"{module}.{name}" in self.facts:
            return None
        self._busy.add(mark)
        try:
            scope = self.module_scope(module)
            values = [row.value for row in rows if row.value is not None and self._lasts(row.value, scope)]
            found = {read(value, scope) for value in values} if len(values) == len(rows) else {None}
        finally:
            self._busy.discard(mark)
        return found.pop() if len(found) == 1 else None

    def _lasts(self, node: ast.expr, scope: Scope) -> bool:
        """Can nobody add to it?"""
        if isinstance(node, ast.Call):
            return self.copies(node, scope) in ("tuple", "frozenset")
        return not isinstance(node, ast.List | ast.Set | ast.Dict)

    def _Attribute(self, node: ast.Attribute, scope: Scope) -> Val:
        text = self.chain(node, scope)
        if text is not None and text in self.facts:
            return self.facts[text]
        if node.attr == "TYPE_CHECKING" and self._chain_is(node, scope, "typing.TYPE_CHECKING"):
            return v.const(False, stated=True)
        symbol = self.symbol(node, scope)
        if symbol is not None:
            return self._symbol_value(symbol)
        member = self.classes.member(self.symbol(node.value, scope), node.attr)
        if member:
            return Val(member=member)
        return self.classes.attribute_fact(node, scope, self.attributes, self.symbol)

    def _Subscript(self, node: ast.Subscript, scope: Scope) -> Val:
        if isinstance(node.value, ast.Dict):
            return self.looked_up(node.value, node.slice, None, scope)
        text = self.chain(node, scope)
        return self.facts.get(text, UNKNOWN) if text is not None else UNKNOWN

    def fact(self, node: ast.Call, scope: Scope) -> Val | None:
        """The fact on a call, if one speaks of it."""
        return self._fact(self.symbol(node.func, scope), node, scope)

    def _fact(self, function: Symbol | None, node: ast.Call, scope: Scope) -> Val | None:
        head = self.chain_from(function, node.func, scope)
        text = self.call_chain(head, node, scope)
        if text is not None and text in self.facts:
            return self.facts[text]
        if head is not None and head in self.any_calls:
            return self.any_calls[head]
        if isinstance(node.func, ast.Attribute) and node.func.attr in self.methods and not node.args:
            return self.classes.method_fact(node.func.attr, self.methods)
        alias = self._aliased(function)
        if alias is not None and alias[0] == "symbol":
            head = f"{alias[1]}.{alias[2]}"
            return self.facts.get(f"{head}()") if not node.args and not node.keywords else self.any_calls.get(head)
        return None

    def _aliased(self, symbol: Symbol | None) -> Symbol | None:
        """The function that a variable of a module is another name of: ``is_rocm = is_hip``, bound once and never again."""
        if symbol is None or symbol[0] != "symbol" or self.rebound(symbol[1], symbol[2]):
            return None
        rows = self.world.live(symbol[1], symbol[2])
        mark = (*symbol, "alias")
        if len(rows) != 1 or rows[0].kind != "assign" or not rows[0].steady or mark in self._busy:
            return None
        if not isinstance(rows[0].value, ast.Name | ast.Attribute):
            return None
        self._busy.add(mark)
        try:
            found = self.symbol(rows[0].value, self.module_scope(symbol[1]))
            if found is None or found[0] != "symbol":
                return None
            defined = isinstance(self.world.definition(found), ast.FunctionDef)
            return found if defined and not self.rebound(found[1], found[2]) else self._aliased(found)
        finally:
            self._busy.discard(mark)

    def _Call(self, node: ast.Call, scope: Scope) -> Val:
        function = self.symbol(node.func, scope)
        fact = self._fact(function, node, scope)
        if fact is not None:
            return fact
        if function is not None and function[0] == "outside":
            if function[1] == "bool" and len(node.args) == 1 and not node.keywords:
                truth = self.value(node.args[0], scope)
                return Val((truth.truth,), truth.truth, True, truth.stated) if truth.truth is not None else v.BOOLEAN
            if function[1] == "int" and len(node.args) == 1 and not node.keywords:
                return v.integer(self.value(node.args[0], scope))
            if function[1] == "str" and len(node.args) == 1 and not node.keywords:
                return v.text(self.value(node.args[0], scope))
            if function[1] == "len" and len(node.args) == 1 and not node.keywords:
                return self._length(node.args[0], scope)
            if function[1] in ("isinstance", "issubclass") and len(node.args) == 2 and not node.keywords:
                return v.const(False, stated=True) if self._dropped(node.args[1], scope) else v.BOOLEAN
            if function[1] in ("tuple", "frozenset") and self.copies(node, scope):
                held = self.members(node.args[0], scope)
                return Val(truth=bool(held), stated=True) if held is not None else UNKNOWN
            if function[1] in TRUTH_BUILTINS:
                return v.BOOLEAN
        if function is not None and function[0] == "symbol":
            function = self._aliased(function) or function
            return self.result(function, self._known_arguments(node, function, scope), effects=True)
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Dict):
            if node.func.attr == "get" and len(node.args) in (1, 2) and not node.keywords:
                return self.looked_up(node.func.value, node.args[0], (*node.args, ast.Constant(None))[1], scope)
            return UNKNOWN
        if isinstance(node.func, ast.Attribute) and not node.keywords:
            base = self.value(node.func.value, scope)
            if base.consts is not None:
                arguments = [self._argument(argument, scope) for argument in node.args]
                if None not in arguments:
                    return v.method(base, node.func.attr, tuple(a[0] for a in arguments if a is not None))
        return UNKNOWN

    def _argument(self, node: ast.expr, scope: Scope) -> tuple[object] | None:
        """A literal, or ``PREFIXES`` of ``kind().startswith(PREFIXES)``."""
        held = self.held(node, scope)
        return literal(node) if held is None else (held,)

    def _length(self, node: ast.expr, scope: Scope) -> Val:
        known = self.value(node, scope)
        if known.consts is not None and not known.member and all(isinstance(one, str) for one in known.consts):
            return v.among(tuple(len(one) for one in known.consts if isinstance(one, str)), known.stated)
        held = self.held(node, scope)
        return v.const(len(held), True) if held is not None else UNKNOWN

    def _dropped(self, node: ast.expr, scope: Scope) -> bool:
        """Do rules drop every class that the second argument of ``isinstance`` names? They have no instances."""
        if isinstance(node, ast.Tuple):
            return bool(node.elts) and all(self._dropped(item, scope) for item in node.elts)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._dropped(node.left, scope) and self._dropped(node.right, scope)
        found = self.symbol(node, scope)
        if found is None or not isinstance(self.world.definition(found), ast.ClassDef):
            return False
        return self.world.ruled.drops_symbol(found[1], found[2])

    def _known_arguments(self, node: ast.Call, function: Symbol, scope: Scope) -> dict[str, Val]:
        """Parameters of a call with a known value or truth: ``pad(n, on_hip=_is_hip)``, ``owns(self.spec)`` where that is one of two."""
        definition = self.world.definition(function)
        if not isinstance(definition, ast.FunctionDef) or any(isinstance(a, ast.Starred) for a in node.args):
            return {}
        names = [arg.arg for arg in (*definition.args.posonlyargs, *definition.args.args)]
        pairs = [*zip(names, node.args, strict=False), *((k.arg, k.value) for k in node.keywords if k.arg is not None)]
        known = {name: self.value(value, scope) for name, value in pairs if name is not None}
        return {name: value for name, value in known.items() if value.truth is not None or value.consts is not None}

    def result(self, function: Symbol, arguments: dict[str, Val] | None = None, *, effects: bool = False) -> Val:
        """What a call of a function of the tree returns, when that is one value or one truth.

        ``arguments`` are the parameters with a known value; every other one may be anything. With
        ``effects`` the function may do other things on its way; then the call itself has to stay.
        """
        key = (function[1], function[2], effects, *sorted((arguments or {}).items(), key=lambda item: item[0]))
        if key in self._results:
            return self._results[key]
        mark = ("result", function[1], function[2])
        node = self.world.definition(function)
        if mark in self._busy or not isinstance(node, ast.FunctionDef) or is_generator(node):
            return UNKNOWN  # a call of a generator gives the generator
        if self.rebound(function[1], function[2]):
            return UNKNOWN  # another function may stand in its place
        scope = self.module_scope(function[1])
        if any(self.chain(_bare(d), scope) not in CACHES for d in node.decorator_list):
            return UNKNOWN
        self._busy.add(mark)
        try:
            package = self.world.tree.is_package(function[1])
            inner = function_scope(node, scope, resolver(function[1], package))
            inner.values.update({name: val for name, val in (arguments or {}).items() if not inner.bindings(name)})
            found: list[Val] = []
            open_end = self._returns(node.body, inner, found, effects)
            if open_end:
                found.append(v.const(None))
        finally:
            self._busy.discard(mark)
        answer = UNKNOWN
        if open_end is not None and found:
            first = found[0]
            same = all(val.consts == first.consts and val.boolean == first.boolean for val in found)
            truths = {val.truth for val in found}
            if first.exact and same:
                answer = Val(first.consts, first.truth, first.boolean, True)
            elif all(val.consts is not None and not val.member for val in found):
                answer = v.among(tuple(one for val in found for one in val.consts or ()))
            elif len(truths) == 1:
                boolean = all(val.boolean for val in found)
                answer = Val(truth=first.truth, boolean=boolean, stated=True, fresh=any(val.fresh for val in found))
            elif all(val.boolean for val in found):
                answer = v.BOOLEAN
        self._results[key] = answer
        return answer

    def _returns(self, body: list[ast.stmt], scope: Scope, found: list[Val], effects: bool) -> bool | None:
        """Collect what a suite can return. True: it can fall off the end; None: cannot say.

        Without ``effects`` only statements that have none are understood: a call that registers
        something is not the constant that it returns.
        """
        for node in body:
            if isinstance(node, ast.Return):
                value = v.const(None) if node.value is None else self.value(node.value, scope)
                if node.value is not None and not effects and not self.droppable(node.value, scope):
                    if not value.boolean:
                        return None
                    value = v.BOOLEAN  # its type is known; what it does is not
                found.append(value)
                return False
            if isinstance(node, ast.If):
                truth = self.truth(node.test, scope)
                if not effects and not self.droppable(node.test, scope):
                    return None
                ends = []
                if truth is not False:
                    ends.append(self._returns(node.body, scope, found, effects))
                if truth is not True:
                    ends.append(self._returns(node.orelse, scope, found, effects))
                if None in ends:
                    return None
                if True not in ends:
                    return False
            elif isinstance(node, ast.Expr) and (effects or self.droppable(node.value, scope)):
                continue  # it stores into none of the locals: a walrus is a binding of its own
            elif isinstance(node, ast.Import | ast.ImportFrom | ast.Pass | ast.Global):
                continue
            elif isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) for t in node.targets):
                stored = {name for target in node.targets for name in target_names(target)}
                if stored & scope.globals or not (effects or self.droppable(node.value, scope)):
                    return None
            else:
                return None
        return True

    def droppable(self, node: ast.expr, scope: Scope) -> bool:
        """Set by :mod:`pruner.verify.effects`; until then nothing may be dropped."""
        return False

    def inner(self, node: ast.expr, scope: Scope) -> Scope:
        """The scope inside a lambda or a comprehension."""
        return inner_scope(node, scope)


def _bare(node: ast.expr) -> ast.expr:
    """``lru_cache(maxsize=1)`` counts as ``lru_cache()``."""
    return ast.Call(node.func, [], []) if isinstance(node, ast.Call) else node
