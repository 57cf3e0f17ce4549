"""``ast`` statements lowered to the compact form of ``pruner.model.ir``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from pruner.model.ir import EMPTY, Block, Expr, Stmt, position
from pruner.scan import scopes
from pruner.scan.expressions import Lowering


def pos_of(node: Any) -> int:
    """Position of a statement's own first token (``def``, not its decorators)."""
    column = node.col_offset
    return int(node.lineno << 16 | (column if column < 0xFFFF else 0xFFFF))


class StatementLowering(Lowering):
    """Lowers whole modules."""

    def block(self, nodes: Sequence[ast.stmt]) -> Block:
        """Lower a suite."""
        return tuple([self.statement(node) for node in nodes])

    def statement(self, node: ast.stmt) -> Stmt:
        """Lower one statement. Raises KeyError for a node kind that this Python does not know."""
        return _STATEMENTS[type(node)](self, node)  # type: ignore[no-any-return]

    def target(self, node: ast.expr) -> tuple[Any, ...]:
        """Flatten an assignment target."""
        if isinstance(node, ast.Name):
            tag = self.scopes.tag(node.id)
            return (("n" if tag == "n" else "v", node.id),)
        if isinstance(node, (ast.Tuple, ast.List)):
            return tuple(part for element in node.elts for part in self.target(element))
        if isinstance(node, ast.Starred):
            return self.target(node.value)
        return (("s", self.expr(node)),)

    def _s_Expr(self, node: ast.Expr) -> Stmt:
        return ("e", pos_of(node), node.end_lineno, self.expr(node.value))

    def _s_Assign(self, node: ast.Assign) -> Stmt:
        if len(node.targets) == 1:
            targets = self.target(node.targets[0])
            plain = "=" if type(node.targets[0]) is ast.Name else "*"
        else:
            targets = tuple([part for target in node.targets for part in self.target(target)])
            plain = "=" if all(isinstance(t, ast.Name) for t in node.targets) else "*"
        return ("=", pos_of(node), node.end_lineno, targets, self.expr(node.value), plain)

    def _s_AnnAssign(self, node: ast.AnnAssign) -> Stmt:
        targets = self.target(node.target)
        note = self.annotation(node.annotation)
        if node.value is None:
            return ("=", pos_of(node), node.end_lineno, targets, note, "?")
        return ("=", pos_of(node), node.end_lineno, targets, self.expr(node.value), ":", note)

    def _s_AugAssign(self, node: ast.AugAssign) -> Stmt:
        read = self.expr(_as_load(node.target))
        if not isinstance(node.target, ast.Name):
            read = ("u", read)  # `mod.flag += 1` stores the part that it reads
        added = self.expr(node.value)
        if isinstance(node.op, (ast.Add, ast.BitOr)):
            value: Expr = ("o", (read, added), "+=")  # T += ["x"]
        else:
            value = self.opaque([read, added])
        return ("=", pos_of(node), node.end_lineno, self.target(node.target), value, "+")

    def _s_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Stmt:
        decorators = self.exprs(node.decorator_list)
        every = node.args
        named = [a for a in [*every.posonlyargs, *every.args, *every.kwonlyargs] if a.annotation]
        named += [a for a in (every.vararg, every.kwarg) if a is not None and a.annotation]
        notes = [self.annotation(a.annotation, a.arg) for a in named]
        notes += [self.annotation(node.returns)] if node.returns else []
        signature = (*self.exprs([*every.defaults, *every.kw_defaults]), *notes)
        return ("def", pos_of(node), node.end_lineno, node.name, decorators, signature, self._function(node))

    _s_AsyncFunctionDef = _s_FunctionDef

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[Any, ...]:
        bound = self.bindings(node)
        params = scopes.parameters(node.args)
        local = bound.local | frozenset(params)
        self.scopes.push("f", local, frozenset(bound.globals))
        body = self.block(node.body)
        self.scopes.pop()
        once = {n for n, c in bound.counts.items() if c == 1} - set(params) - bound.inner_nonlocals
        top = []
        for stmt in body:
            if (
                stmt[0] == "="
                and stmt[5] in "=:"
                and len(stmt[3]) == 1
                and stmt[3][0][0] == "v"
                and stmt[3][0][1] in once
            ):
                top.append(stmt[1])
        names = tuple(sorted(local - set(params)))
        flags = "g" if bound.yields else ""
        flags += "a" if isinstance(node, ast.AsyncFunctionDef) else ""
        flags += "s" if node.args.vararg or node.args.kwarg else ""
        return (params, names, body, flags, tuple(sorted(once & local)), tuple(top))

    def _s_ClassDef(self, node: ast.ClassDef) -> Stmt:
        decorators = self.exprs(node.decorator_list)
        bases = self.exprs(node.bases)
        keywords = tuple((k.arg, self.expr(k.value)) for k in node.keywords)
        names = self.bindings(node).local
        self.scopes.push("c", names)
        body = self.block(node.body)
        self.scopes.pop()
        return (
            "class",
            pos_of(node),
            node.end_lineno,
            node.name,
            decorators,
            bases,
            keywords,
            body,
            tuple(sorted(names)),
        )

    def _s_If(self, node: ast.If) -> Stmt:
        return (
            "if",
            pos_of(node),
            node.end_lineno,
            self.expr(node.test),
            self.block(node.body),
            self.block(node.orelse),
        )

    def _s_While(self, node: ast.While) -> Stmt:
        return (
            "while",
            pos_of(node),
            node.end_lineno,
            self.expr(node.test),
            self.block(node.body),
            self.block(node.orelse),
        )

    def _s_For(self, node: ast.For | ast.AsyncFor) -> Stmt:
        iterated = self.expr(node.iter)
        return ("for", pos_of(node), node.end_lineno, self.target(node.target), iterated, self.block(node.body), self.block(node.orelse))  # fmt: skip

    _s_AsyncFor = _s_For

    def _s_Try(self, node: Any) -> Stmt:
        handlers = tuple((self.expr(h.type), h.name, self.block(h.body), pos_of(h)) for h in node.handlers)
        return ("try", pos_of(node), node.end_lineno, self.block(node.body), handlers, self.block(node.orelse), self.block(node.finalbody))  # fmt: skip

    _s_TryStar = _s_Try

    def _s_With(self, node: ast.With | ast.AsyncWith) -> Stmt:
        items = self.exprs([item.context_expr for item in node.items])
        targets = tuple(
            part for i in node.items if i.optional_vars is not None for part in self.target(i.optional_vars)
        )
        return ("with", pos_of(node), node.end_lineno, items, targets, self.block(node.body))

    _s_AsyncWith = _s_With

    def _s_Match(self, node: ast.Match) -> Stmt:
        cases = []
        for case in node.cases:
            refs: list[Expr] = []
            names: list[str] = []
            for inner in ast.walk(case.pattern):
                if isinstance(inner, ast.MatchValue):
                    refs.append(self.expr(inner.value))
                elif isinstance(inner, ast.MatchClass):
                    refs.append(self.expr(inner.cls))
                    if inner.kwd_attrs:  # case Point(norm=0): reads the attribute
                        refs.append(("x", EMPTY, tuple(f".{name}" for name in inner.kwd_attrs)))
                elif isinstance(inner, ast.MatchMapping):
                    refs.extend(self.exprs(inner.keys))
                name = getattr(inner, "name", None) or getattr(inner, "rest", None)
                if isinstance(name, str):
                    names.append(name)
            guard = None if case.guard is None else self.expr(case.guard)
            shape = self.pattern(case.pattern)
            cases.append((tuple(refs), tuple(names), guard, self.block(case.body), shape, position(case.pattern.lineno, case.pattern.col_offset)))  # fmt: skip
        return ("match", pos_of(node), node.end_lineno, self.expr(node.subject), tuple(cases))

    def pattern(self, node: ast.pattern) -> tuple[Any, ...]:
        """What a pattern asks of a constant: :mod:`pruner.fold.cases` reads it."""
        if isinstance(node, ast.MatchValue):
            return ("value", self.expr(node.value))
        if isinstance(node, ast.MatchSingleton):
            return ("is", node.value)
        if isinstance(node, ast.MatchOr):
            return ("or", tuple(self.pattern(part) for part in node.patterns))
        return ("any",) if isinstance(node, ast.MatchAs) and node.pattern is None else ("?",)

    def _s_Return(self, node: ast.Return) -> Stmt:
        return ("return", pos_of(node), node.end_lineno, self.expr(node.value) if node.value else ("c", None))

    def _s_Raise(self, node: ast.Raise) -> Stmt:
        return ("raise", pos_of(node), node.end_lineno, self.exprs([node.exc, node.cause]))

    def _s_Break(self, node: ast.Break) -> Stmt:
        return ("break", pos_of(node), node.end_lineno)

    def _s_Continue(self, node: ast.Continue) -> Stmt:
        return ("continue", pos_of(node), node.end_lineno)

    def _s_Pass(self, node: ast.Pass) -> Stmt:
        return ("pass", pos_of(node), node.end_lineno)

    def _s_Global(self, node: ast.Global) -> Stmt:
        return ("global", pos_of(node), node.end_lineno, tuple(node.names))

    def _s_Nonlocal(self, node: ast.Nonlocal) -> Stmt:
        return ("nonlocal", pos_of(node), node.end_lineno, tuple(node.names))

    def _s_Delete(self, node: ast.Delete) -> Stmt:
        return ("del", pos_of(node), node.end_lineno, tuple(part for t in node.targets for part in self.target(t)))

    def _s_Assert(self, node: ast.Assert) -> Stmt:
        return ("assert", pos_of(node), node.end_lineno, self.expr(node.test), self.expr(node.msg))

    def _s_Import(self, node: ast.Import) -> Stmt:
        local = tuple(self._bound(a.asname or a.name.split(".")[0]) for a in node.names)
        return ("import", pos_of(node), node.end_lineno, tuple((a.name, a.asname) for a in node.names), local)

    def _s_ImportFrom(self, node: ast.ImportFrom) -> Stmt:
        local = tuple(self._bound(a.asname or a.name) for a in node.names)
        aliases = tuple((a.name, a.asname) for a in node.names)
        return ("from", pos_of(node), node.end_lineno, node.module or "", node.level, aliases, local)

    def _bound(self, name: str) -> str:
        """``n`` when an import binds a module global here, else ``v``."""
        return "n" if self.scopes.tag(name) == "n" else "v"


_STATEMENTS = {
    kind: getattr(StatementLowering, f"_s_{kind.__name__}")
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.stmt) and hasattr(StatementLowering, f"_s_{kind.__name__}")
}


def _as_load(node: ast.expr) -> ast.expr:
    """The same target, read instead of stored (``x += 1`` reads x)."""
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    return node
