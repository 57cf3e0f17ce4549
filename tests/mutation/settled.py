"""A file's syntax with what facts settle taken for it: two files that agree in it do the same where a device is.

Blind to flags that other modules store into, and to functions that run while modules are loaded on a host without a device.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from types import MappingProxyType

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DECIDING = (ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Match)  # what says something of the whole function


def stores(tree: ast.AST, name: str) -> int:
    """How often the file binds the name other than by imports."""
    return sum(
        (isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load))
        or (isinstance(n, ast.arg) and n.arg == name)
        or (isinstance(n, (*FUNCTIONS, ast.ClassDef)) and n.name == name)
        for n in ast.walk(tree)
    )


def constants(tree: ast.Module) -> dict[str, object]:
    """Variables that the body gives a constant, once, above every use: name to value."""
    found: dict[str, object] = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and isinstance(node.value, ast.Constant):
            uses = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == target.id]
            if stores(tree, target.id) == 1 and min(uses) == node.lineno and uses.count(node.lineno) == 1:
                found[target.id] = node.value.value
    for node in ast.walk(tree):
        for name in ("name", "rest"):  # except E as name, case name, case [*name], case {**name}
            if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.MatchMapping):
                found.pop(getattr(node, name, None) or "", None)
    return found


class Settled(ast.NodeTransformer):
    """Operands of ``and`` and ``or`` that known flags and calls make idle go, and tests of such a flag that do nothing.

    In functions alone: modules are loaded on hosts without a device, too. What such a flag of ``early`` tests, which is known
    on every host, goes from bodies as well: what never runs there binds nothing.
    """

    def __init__(
        self,
        flags: Mapping[str, bool],
        calls: Mapping[str, bool] = MappingProxyType({}),
        early: frozenset[str] = frozenset(),
    ) -> None:
        self.flags, self.calls, self.early = flags, calls, early
        self.depth = 0

    def known(self, node: ast.expr) -> bool | None:
        """What the flag or call is, or the constant that stands for one."""
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return node.value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not (node.args or node.keywords):
            return self.calls.get(node.func.id) if self.depth else None
        return self.flags.get(node.id) if isinstance(node, ast.Name) else None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Decorators and defaults run where the module is loaded.

        What a side that does not run says of the whole function stays said: the function stays as it is then.
        """
        whole = copy.deepcopy(node)
        node.args, node.decorator_list = self.visit(node.args), [self.visit(d) for d in node.decorator_list]
        self.depth += 1
        found: list[ast.stmt] = []
        for item in node.body:
            part = self.visit(item)
            found += part if isinstance(part, list) else [] if part is None else [part]
        self.depth -= 1
        node.body = _reached(found) or [ast.Pass()]
        words = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        lost = _names(whole) - _names(node)
        said = {type(n) for n in ast.walk(whole)} - {type(n) for n in ast.walk(node)}
        return whole if lost & words or said & set(DECIDING) else node

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """A ``pass`` beside other statements does nothing."""
        self.generic_visit(node)
        for part in ast.walk(node):
            for name in ("body", "orelse", "finalbody"):
                body = getattr(part, name, None)
                if isinstance(body, list) and len(body) > 1:
                    setattr(part, name, [item for item in body if not isinstance(item, ast.Pass)] or body[:1])
        return node

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        """``true and x`` is ``x``; where the last operand is one, the value itself counts and all stay."""
        self.generic_visit(node)
        if not self.depth:
            return node
        idle = isinstance(node.op, ast.And)
        head = [v for v in node.values[:-1] if self.known(v) is not idle]
        return ast.BoolOp(node.op, [*head, node.values[-1]]) if head else node.values[-1]

    def _test(self, node: ast.expr) -> ast.expr:
        """Of a test only the truth counts: an idle last operand goes as well."""
        if self.depth and isinstance(node, ast.BoolOp) and self.known(node.values[-1]) is isinstance(node.op, ast.And):
            return ast.BoolOp(node.op, node.values[:-1]) if len(node.values) > 2 else node.values[0]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """A test."""
        self.generic_visit(node)
        node.test = self._test(node.test)
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt] | None:
        """``if FLAG: pass``; in a function, the side that runs stands for the whole."""
        self.generic_visit(node)
        node.test = self._test(node.test)
        known = self.known(node.test)
        if known is None:
            return node
        if all(isinstance(part, ast.Pass) for part in (*node.body, *node.orelse)):
            return None
        name = node.test.id if isinstance(node.test, ast.Name) else ""
        if not self.depth and not (name in self.early or isinstance(node.test, ast.Constant)):
            return node
        if not self.depth and known is False and not node.orelse:
            return ast.Pass()
        return [*node.body] if known else [*node.orelse] or [ast.Pass()]


def _reached(body: list[ast.stmt]) -> list[ast.stmt]:
    """Nothing runs behind ``return``; unless it makes a name local, or the function a generator."""
    end = next((n for n, item in enumerate(body, 1) if isinstance(item, ast.Return | ast.Raise)), len(body))
    rest = [node for item in body[end:] for node in ast.walk(item)]
    words = {node.id for item in body[:end] for node in ast.walk(item) if isinstance(node, ast.Name)}
    bound = {name for node in rest for name in _bound(node)}
    free = bound.isdisjoint(words) and not any(isinstance(n, DECIDING) for n in rest)
    return body[:end] if free else body


def _names(root: ast.AST) -> set[str]:
    return {name for node in ast.walk(root) for name in _bound(node)}


def _bound(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return {node.name}
    if isinstance(node, ast.ExceptHandler):
        return {node.name or ""}
    return {node.id} if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) else set()
