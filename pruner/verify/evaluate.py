"""The verifier's own three-valued evaluator: what must this expression give under the facts?

Nothing is shared with ``pruner.fold``. Unknown is always a safe answer here: it makes the
verifier demand that the code is still there.

Blind to: values that flow through containers, instances or arguments; ``exec``; names rebound by
code outside the tree.
"""

from __future__ import annotations

import ast
from typing import Any

from pruner.model import Range
from pruner.verify import values as v
from pruner.verify.classes import Classes
from pruner.verify.names import Binding, resolver
from pruner.verify.scopes import Scope, function_scope, inner_scope
from pruner.verify.values import UNKNOWN, Val
from pruner.verify.world import Symbol, World

TRUTH_BUILTINS = frozenset({"isinstance", "issubclass", "hasattr", "callable", "any", "all", "bool"})
CACHES = frozenset({"functools.lru_cache", "functools.cache", "functools.lru_cache()", "functools.cache()"})


class Evaluator:
    """Answers for one :class:`World`; remembers flags and function results."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.classes = Classes(world)
        self._modules: dict[str, Scope] = {}
        self._flags: dict[tuple[str, str], Val] = {}
        self._results: dict[tuple[str, str], Val] = {}
        self._busy: set[object] = set()
        self.facts: dict[str, Val] = {}
        self.any_calls: dict[str, Val] = {}  # head of f(...) -> value
        self.methods: dict[str, list[tuple[str, Val]]] = {}  # method -> (class "module:Class", value)
        self.attributes: dict[str, list[tuple[str, Val]]] = {}  # attribute -> (class "module:Class", value)
        world.alive = self.alive
        for subject, value in world.stated.facts.items():
            self._state(subject, v.of_fact(value))

    def _state(self, subject: str, value: Val) -> None:
        try:
            expression = ast.parse(subject, mode="eval").body
        except SyntaxError:
            return
        outside = Scope("outside", "")
        if isinstance(expression, ast.Attribute):
            owner = self.symbol(expression.value, outside)
            if owner is not None and isinstance(self.world.definition(owner), ast.ClassDef):
                self.attributes.setdefault(expression.attr, []).append((f"{owner[1]}:{owner[2]}", value))
                return
        if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute) and not expression.args:
            owner = self.symbol(expression.func.value, outside)
            if owner is not None and isinstance(self.world.definition(owner), ast.ClassDef):
                self.methods.setdefault(expression.func.attr, []).append((f"{owner[1]}:{owner[2]}", value))
                return
        if isinstance(expression, ast.Call) and len(expression.args) == 1:
            only = expression.args[0]
            if isinstance(only, ast.Constant) and only.value is Ellipsis:
                head = self.chain(expression.func, outside)
                if head:
                    self.any_calls[head] = value
                return
        text = self.chain(expression, outside)
        self.facts[text or subject] = value

    # -- names ---------------------------------------------------------------------------------

    def module_scope(self, module: str) -> Scope:
        """The scope of a module's top level."""
        if module not in self._modules:
            self._modules[module] = Scope("module", module, None, self.world.names(module))
        return self._modules[module]

    def alive(self, module: str, binding: Binding) -> bool:
        """Do the facts leave this module-level binding place?"""
        return self.reachable(binding, self.module_scope(module))

    def reachable(self, binding: Binding, scope: Scope) -> bool:
        """Is no guard of the binding decided against it?"""
        return all(self._guard(test, scope) in (None, wanted) for test, wanted in binding.guards)

    def _guard(self, test: ast.expr, scope: Scope) -> bool | None:
        """The truth of a guard, remembered: names under guards of names under guards would double each time."""
        if test not in scope.guards:
            scope.guards[test] = None  # a guard that asks for its own answer
            scope.guards[test] = self.truth(test, scope)
        return scope.guards[test]

    def symbol(self, node: ast.expr, scope: Scope) -> Symbol | None:
        """The symbol that a Name or a dotted chain of modules denotes."""
        if isinstance(node, ast.Name):
            if scope.kind == "outside":
                return ("module" if self.world.tree.has_module(node.id) else "outside", node.id, "")
            home = scope.find(node.id)
            if home is None:
                return self.world.lookup(scope.module, node.id)
            rows = home.bindings(node.id)
            if not any(row.kind == "import" for row in rows):
                return None
            rows = [row for row in rows if self.reachable(row, home)]
            if len(rows) == 1 and rows[0].kind == "import":
                return self.world.imported(rows[0].target, rows[0].symbol)
            return None
        if isinstance(node, ast.Attribute):
            base = self.symbol(node.value, scope)
            if base is None:
                return None
            if base[0] == "module":
                found = self.world.resolve(base[1], node.attr)
                return None if found is not None and found[0] == "outside" and found[1] == node.attr else found
            if base[0] == "outside":
                return ("outside", f"{base[1]}.{node.attr}", "")
        return None

    def chain(self, node: ast.expr, scope: Scope) -> str | None:
        """The canonical text of a chain of symbols, attributes, calls and constant subscripts."""
        symbol = self.symbol(node, scope)
        if symbol is not None:
            return f"{symbol[1]}.{symbol[2]}" if symbol[0] == "symbol" else symbol[1]
        if isinstance(node, ast.Attribute):
            base = self.chain(node.value, scope)
            return f"{base}.{node.attr}" if base else None
        if isinstance(node, ast.Call):
            return self._call_chain(node, scope)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            base = self.chain(node.value, scope)
            return f"{base}[{node.slice.value!r}]" if base else None
        return None

    def _call_chain(self, node: ast.Call, scope: Scope) -> str | None:
        head = self.chain(node.func, scope)
        if head is None:
            return None
        if head == "getattr" and len(node.args) > 1:
            name = node.args[1]
            base = self.chain(node.args[0], scope)
            if base and isinstance(name, ast.Constant) and isinstance(name.value, str):
                return f"{base}.{name.value}"
            return None
        parts = []
        for argument in node.args:
            text = repr(argument.value) if isinstance(argument, ast.Constant) else self.chain(argument, scope)
            if text is None:
                return None
            parts.append(text)
        for keyword in node.keywords:
            if keyword.arg is None or not isinstance(keyword.value, ast.Constant):
                return None
            parts.append(f"{keyword.arg}={keyword.value.value!r}")
        return f"{head}({', '.join(parts)})"

    # -- values --------------------------------------------------------------------------------

    def truth(self, node: ast.expr, scope: Scope) -> bool | None:
        """What ``bool(node)`` gives, or None."""
        return self.value(node, scope).truth

    def value(self, node: ast.expr, scope: Scope) -> Val:
        """What the expression gives."""
        handler = getattr(self, f"_{type(node).__name__}", None)
        return handler(node, scope) if handler is not None else UNKNOWN

    def _Constant(self, node: ast.Constant, scope: Scope) -> Val:
        if node.value is None or isinstance(node.value, bool | int | float | str):
            return v.const(node.value)
        return UNKNOWN

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
            return UNKNOWN if self._rebound(module, name) else fact
        if key in self._busy:
            return UNKNOWN
        self._busy.add(key)
        try:
            answer = self._flag(module, name)
        finally:
            self._busy.discard(key)
        self._flags[key] = answer
        return answer

    def _rebound(self, module: str, name: str) -> bool:
        """Does kept code store the variable again: under ``global``, from outside, by ``setattr``?"""
        seen = self.world.seen
        if (module, name) in seen.stores or module in seen.vague_stores:
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
        if self._rebound(module, name):
            return UNKNOWN
        every = [row for row in names.bindings.get(name, ()) if row.kind != "declare"]
        rows = self.world.live(module, name)
        if rows and all(row.kind in ("def", "class") for row in rows):
            return Val(truth=True)
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
        if any((other.consts, other.truth, other.member) != (first.consts, first.truth, first.member) for other in found):
            return UNKNOWN
        if len(found) > 1 and first.consts is None and first.truth is None:
            return UNKNOWN
        stated = any(val.stated for val in found) or len(rows) < len(every)
        return Val(first.consts, first.truth, all(x.boolean for x in found), stated, first.bounds, first.member)

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
        text = self.chain(node, scope)
        return self.facts.get(text, UNKNOWN) if text is not None else UNKNOWN

    def fact(self, node: ast.Call, scope: Scope) -> Val | None:
        """The fact on a call, if one speaks of it."""
        text = self.chain(node, scope)
        if text is not None and text in self.facts:
            return self.facts[text]
        if self.any_calls:
            head = self.chain(node.func, scope)
            if head is not None and head in self.any_calls:
                return self.any_calls[head]
        if isinstance(node.func, ast.Attribute) and node.func.attr in self.methods and not node.args:
            return self.classes.method_fact(node.func.attr, self.methods)
        return None

    def _Call(self, node: ast.Call, scope: Scope) -> Val:
        fact = self.fact(node, scope)
        if fact is not None:
            return fact
        function = self.symbol(node.func, scope)
        if function is not None and function[0] == "outside":
            if function[1] == "bool" and len(node.args) == 1 and not node.keywords:
                truth = self.value(node.args[0], scope)
                return Val((truth.truth,), truth.truth, True, truth.stated) if truth.truth is not None else v.BOOLEAN
            if function[1] in TRUTH_BUILTINS:
                return v.BOOLEAN
        if function is not None and function[0] == "symbol":
            return self.result(function)
        if isinstance(node.func, ast.Attribute) and not node.keywords:
            base = self.value(node.func.value, scope)
            if base.consts is not None:
                arguments = [_literal(argument) for argument in node.args]
                if None not in arguments:
                    return v.method(base, node.func.attr, tuple(a[0] for a in arguments if a is not None))
        return UNKNOWN

    def result(self, function: Symbol) -> Val:
        """What every call of a function of the tree returns, when that is one value."""
        key = (function[1], function[2])
        if key in self._results:
            return self._results[key]
        mark = ("result", *key)
        node = self.world.definition(function)
        if mark in self._busy or not isinstance(node, ast.FunctionDef):
            return UNKNOWN
        scope = self.module_scope(function[1])
        if any(self.chain(_bare(d), scope) not in CACHES for d in node.decorator_list):
            return UNKNOWN
        self._busy.add(mark)
        try:
            package = self.world.tree.is_package(function[1])
            inner = function_scope(node, scope, resolver(function[1], package))
            found: list[Val] = []
            open_end = self._returns(node.body, inner, found)
        finally:
            self._busy.discard(mark)
        answer = UNKNOWN
        if open_end is False and found:
            first = found[0]
            if first.exact and all(val.consts == first.consts and val.boolean == first.boolean for val in found):
                answer = Val(first.consts, first.truth, first.boolean, True)
            elif all(val.boolean for val in found):
                answer = v.BOOLEAN
        self._results[key] = answer
        return answer

    def _returns(self, body: list[ast.stmt], scope: Scope, found: list[Val]) -> bool | None:
        """Collect what a suite can return. True: it can fall off the end; None: cannot say.

        Only statements without effect are understood: a call that registers something is not
        the constant that it returns.
        """
        for node in body:
            if isinstance(node, ast.Return):
                value = v.const(None) if node.value is None else self.value(node.value, scope)
                if node.value is not None and not self.droppable(node.value, scope) and not value.boolean:
                    return None
                found.append(value)
                return False
            if isinstance(node, ast.If):
                truth = self.truth(node.test, scope)
                if not self.droppable(node.test, scope):
                    return None
                ends = []
                if truth is not False:
                    ends.append(self._returns(node.body, scope, found))
                if truth is not True:
                    ends.append(self._returns(node.orelse, scope, found))
                if None in ends:
                    return None
                if True not in ends:
                    return False
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue
            elif isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
                continue
            elif isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) for t in node.targets):
                if scope.globals or not self.droppable(node.value, scope):
                    return None
            else:
                return None
        return True

    def droppable(self, node: ast.expr, scope: Scope) -> bool:
        """Set by :mod:`pruner.verify.effects`; until then nothing may be dropped."""
        return False

    def _UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Val:
        inner = self.value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return v.const(not inner.truth, inner.stated) if inner.truth is not None else v.BOOLEAN
        if isinstance(node.op, ast.USub) and inner.exact and inner.consts is not None:
            value = inner.consts[0]
            if isinstance(value, int | float) and not isinstance(value, bool):
                return v.const(-value, inner.stated)
        return UNKNOWN

    def _BoolOp(self, node: ast.BoolOp, scope: Scope) -> Val:
        stop = isinstance(node.op, ast.Or)
        found = [self.value(item, scope) for item in node.values]
        stated = any(val.stated for val in found)
        boolean = all(val.boolean for val in found)
        known: Val | None = None
        for val in found:
            known = val
            if val.truth is None:
                break
            if val.truth == stop:
                return Val(val.consts, val.truth, val.boolean, val.stated or stated, val.bounds)
        else:
            assert known is not None
            return Val(known.consts, known.truth, known.boolean, stated, known.bounds)
        # Past an unknown operand only the truth can be known: x and False is falsy, not False.
        if any(val.truth == stop for val in found):
            return Val((stop,) if boolean else None, stop, boolean, stated)
        return Val(boolean=boolean)

    def _Compare(self, node: ast.Compare, scope: Scope) -> Val:
        if len(node.ops) != 1:
            return UNKNOWN
        name, right_node = type(node.ops[0]).__name__, node.comparators[0]
        left = self.value(node.left, scope)
        boolean = v.BOOLEAN if name in ("Is", "IsNot", "In", "NotIn") else UNKNOWN
        if name in ("In", "NotIn"):
            container = _container(right_node)
            if container is not None:
                answer = v.contains(left, container, name == "NotIn")
                return v.const(answer, True) if answer is not None else boolean
        right = self.value(right_node, scope)
        answer = v.compare(left, name, right)
        if answer is None:
            answer = self.classes.impossible(left, name, right)
        if answer is None:
            return v.BOOLEAN if left.consts is not None and right.consts is not None else boolean
        return v.const(answer, left.stated or right.stated or bool(left.member or right.member))

    def _IfExp(self, node: ast.IfExp, scope: Scope) -> Val:
        test = self.value(node.test, scope)
        if test.truth is not None:
            chosen = self.value(node.body if test.truth else node.orelse, scope)
            return Val(chosen.consts, chosen.truth, chosen.boolean, True, chosen.bounds, chosen.member)
        a, b = self.value(node.body, scope), self.value(node.orelse, scope)
        if a.consts is not None and b.consts is not None:
            return v.among(tuple(dict.fromkeys((*a.consts, *b.consts))), a.stated or b.stated)
        return Val(truth=a.truth if a.truth == b.truth else None, boolean=a.boolean and b.boolean)

    def _NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> Val:
        return self.value(node.value, scope)

    def _Lambda(self, node: ast.Lambda, scope: Scope) -> Val:
        return Val(truth=True)

    def _JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> Val:
        text, stated = "", False
        for part in node.values:
            if isinstance(part, ast.FormattedValue) and (part.format_spec is not None or part.conversion not in (-1, 115)):
                return UNKNOWN
            val = self.value(part.value if isinstance(part, ast.FormattedValue) else part, scope)
            if not val.exact or val.consts is None:
                return UNKNOWN
            text += str(val.consts[0])
            stated = stated or val.stated
        return v.const(text, stated)

    def inner(self, node: ast.expr, scope: Scope) -> Scope:
        """The scope inside a lambda or a comprehension."""
        return inner_scope(node, scope)


def _bare(node: ast.expr) -> ast.expr:
    """``lru_cache(maxsize=1)`` counts as ``lru_cache()``."""
    return ast.Call(node.func, [], []) if isinstance(node, ast.Call) else node


def _literal(node: ast.expr) -> tuple[Any] | None:
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError):
        return None


def _container(node: ast.expr) -> tuple[Any, ...] | None:
    """The elements of a literal tuple, list or set of constants. ``("x")`` is a string, not a container."""
    if not isinstance(node, ast.Tuple | ast.List | ast.Set):
        return None
    found = _literal(node)
    return tuple(found[0]) if found is not None else None


__all__ = ["Evaluator", "Range"]
