"""Names under facts: which symbol a chain denotes, which binding places the facts leave.

Blind to names rebound by code outside the tree, and to ``exec``.
"""

from __future__ import annotations

import ast

from pruner.verify import values as v
from pruner.verify.classes import Classes
from pruner.verify.guards import called
from pruner.verify.names import Binding
from pruner.verify.scopes import Scope
from pruner.verify.values import Val
from pruner.verify.world import Symbol, World


class Chains:
    """The lower half of the evaluator: from expressions to canonical subjects."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.classes = Classes(world)
        self._modules: dict[str, Scope] = {}
        self._flags: dict[tuple[str, str], Val] = {}
        self._results: dict[tuple[object, ...], Val] = {}
        self._busy: set[object] = set()
        self.facts: dict[str, Val] = {}
        self.any_calls: dict[str, Val] = {}  # head of f(...) -> value
        self.methods: dict[str, list[tuple[str, Val]]] = {}  # method -> (class "module:Class", value)
        self.attributes: dict[str, list[tuple[str, Val]]] = {}  # attribute -> (class "module:Class", value)
        world.alive, world.runs = self.alive, self.runs
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
                if subject in self.world.stated.asked:
                    self.classes.asked.add(f"{owner[1]}:{owner[2]}.{expression.attr}")
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
                    self.any_calls[head] = self.classes.calls[head] = value
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

    def runs(self, module: str, binding: Binding) -> bool:
        """Do the facts make this module-level place run, whatever else is not known?"""
        scope = self.module_scope(module)
        return all(self._guard(test, scope) == wanted for test, wanted in binding.guards)

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
            twin = home.twin
            if twin is not None and rows and all(called(row.value)[0] == "stand_in" for row in rows):
                home, rows = twin, twin.bindings(node.id)  # it stands for what upstream imports there
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
        return self.chain_from(self.symbol(node, scope), node, scope)

    def chain_from(self, symbol: Symbol | None, node: ast.expr, scope: Scope) -> str | None:
        """The same; ``symbol`` is what :meth:`symbol` says of the node."""
        if symbol is not None:
            return f"{symbol[1]}.{symbol[2]}" if symbol[0] == "symbol" else symbol[1]
        if isinstance(node, ast.Attribute):
            base = self.chain(node.value, scope)
            return f"{base}.{node.attr}" if base else None
        if isinstance(node, ast.Call):
            return self.call_chain(self.chain(node.func, scope), node, scope)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            base = self.chain(node.value, scope)
            return f"{base}[{node.slice.value!r}]" if base else None
        return None

    def call_chain(self, head: str | None, node: ast.Call, scope: Scope) -> str | None:
        """The canonical text of a call; ``head`` is that of its function."""
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

    def truth(self, node: ast.expr, scope: Scope) -> bool | None:
        """What ``bool(node)`` gives, or None."""
        return self.value(node, scope).truth

    def value(self, node: ast.expr, scope: Scope) -> Val:
        """What the expression gives."""
        raise NotImplementedError
