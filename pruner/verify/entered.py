"""Statements that put entries into tables: which of them a drop rule lets go, and which may lose a part.

``T["x"] = X``, ``T.append("x")``, ``T.update({"x": X})``, ``T += ["x"]``, ``@register(name="x")``,
``REG.register(key="x", cls=C)``. A definition that is registered under a kept key as well must stay.

Blind to keys that are computed, and to registering functions that hand the key on to another function.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pruner.verify.canon import Canon
from pruner.verify.fewer import Fewer, Table, firm, keywords
from pruner.verify.items import Item
from pruner.verify.names import FUNCTIONS
from pruner.verify.nodes import walk
from pruner.verify.ruled import Ruled
from pruner.verify.scopes import Scope
from pruner.verify.world import World

_ONE = {"append": 0, "appendleft": 0, "add": 0, "insert": 1, "setdefault": 0}  # method -> which argument is the key
_MANY = ("update", "extend", "extendleft")


class Entered:
    """The statements of one module."""

    def __init__(self, canon: Canon, world: World, ruled: Ruled, module: str) -> None:
        self.canon = canon
        self.world = world
        self.ruled = ruled
        self.module = module
        if "tables" not in ruled.known:  # the same for every file
            ruled.known = {"tables": {text: self._split(text) for text in ruled.drop_entries}, "filled": {}}
        self._tables: dict[str, Table | None] = ruled.known["tables"]
        self._filled: dict[str, list[tuple[Table, ast.FunctionDef | ast.AsyncFunctionDef | None]]]
        self._filled = ruled.known["filled"]

    def place(self, node: ast.expr, scope: Scope, prefix: str) -> Table | None:
        """The table that an expression names."""
        home = scope.find(node.id) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Name) and home is not None:
            if not any(row.kind == "import" for row in home.bindings(node.id)):
                return self.module, _dotted(home, node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            owner = prefix.rstrip(".").rpartition(".")[0]
            return (self.module, f"{owner}.{node.attr}") if owner else None
        symbol = self.canon.effects.symbol(node, scope)
        if symbol is not None and symbol[0] == "symbol":
            return symbol[1], symbol[2]
        return self._split(self.canon.effects.chain(node, scope) or "")

    def _split(self, dotted: str) -> Table | None:
        parts = dotted.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            if ".".join(parts[:cut]) in self.world.tree.modules:
                return ".".join(parts[:cut]), ".".join(parts[cut:])
        return None

    # -- statements that lose a part -------------------------------------------------------------

    def lessened(self, u: Item, o: Item, scopes: tuple[Scope, Scope], prefix: str) -> int:
        """How many entries the statement lost, all by rules; 0 when it is not so."""
        up, out = u.node, o.node
        if isinstance(up, ast.Assign) and isinstance(out, ast.Assign) and len(up.targets) == len(out.targets) == 1:
            fewer = self._stored(up.targets[0], out.targets[0], scopes, prefix)
            return fewer.source(up.value, out.value) or 0 if fewer is not None else 0
        if isinstance(up, ast.AnnAssign) and isinstance(out, ast.AnnAssign):
            fewer = self._stored(up.target, out.target, scopes, prefix)
            if fewer is None or (up.value is None) != (out.value is None):
                return 0
            note = fewer.kind(up.annotation, out.annotation)
            value = fewer.source(up.value, out.value) if up.value is not None and out.value is not None else 0
            return note + value if note is not None and value is not None else 0
        if isinstance(up, ast.AugAssign) and isinstance(out, ast.AugAssign) and isinstance(up.op, ast.Add | ast.BitOr):
            same = type(up.op) is type(out.op)
            fewer = self._stored(up.target, out.target, scopes, prefix) if same else None
            return fewer.source(up.value, out.value) or 0 if fewer is not None else 0
        if isinstance(up, ast.Expr) and isinstance(out, ast.Expr):
            return self._called(up.value, out.value, scopes, prefix)
        return 0

    def _stored(self, up: ast.expr, out: ast.expr, scopes: tuple[Scope, Scope], prefix: str) -> Fewer | None:
        if self.canon.target(up, scopes[0]) != self.canon.target(out, scopes[1]):
            return None
        table = self.place(up, scopes[0], prefix)
        return Fewer(self.canon, self.ruled, *scopes, table) if table is not None else None

    def _called(self, up: ast.expr, out: ast.expr, scopes: tuple[Scope, Scope], prefix: str) -> int:
        """``T.update({"x": X, "y": Y})``."""
        if not (isinstance(up, ast.Call) and isinstance(out, ast.Call) and isinstance(up.func, ast.Attribute)):
            return 0
        table = self.place(up.func.value, scopes[0], prefix) if up.func.attr in _MANY else None
        if table is None or len(up.args) != len(out.args):
            return 0
        fewer = Fewer(self.canon, self.ruled, *scopes, table)
        fewer.spelled = firm
        if not fewer.same(up.func, out.func):
            return 0
        counts = [fewer.source(a, b, True) for a, b in zip(up.args, out.args, strict=True)]
        counts.append(fewer.rows(keywords(up), keywords(out), True))
        return sum(count or 0 for count in counts) if None not in counts else 0

    def annotated(
        self, up: ast.arguments, out: ast.arguments, scopes: tuple[Scope, Scope], owner: str
    ) -> list[tuple[ast.arg, ast.arg]] | None:
        """Parameters of which the annotation lost choices, all by rules; None where one changed otherwise."""
        found = []
        before, after = _parameters(up), _parameters(out)
        for a, b in zip(before, after, strict=False):
            if a.arg != b.arg or (a.annotation is None) != (b.annotation is None):
                return None
            if a.annotation is None or b.annotation is None:
                continue
            count = Fewer(self.canon, self.ruled, *scopes, (self.module, f"{owner}.{a.arg}")).kind(
                a.annotation, b.annotation
            )
            if count is None:
                return None
            if count:
                found.append((a, b))
        return found if len(before) == len(after) else None

    # -- statements that go ----------------------------------------------------------------------

    def takes(self, node: ast.stmt, scope: Scope) -> bool:
        """Does a statement of a module's body do nothing but put in entries that rules drop?"""
        return self._absent(node, scope, "") > 0

    def absent(self, item: Item, scope: Scope, prefix: str) -> int:
        """How many entries went with the whole statement; 0 when no rule lets it go."""
        return self._absent(item.node, scope, prefix)

    def _absent(self, node: ast.AST, scope: Scope, prefix: str) -> int:
        if not self._tables:
            return 0
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if len(targets) != 1 or not isinstance(targets[0], ast.Subscript):
                return 0
            return self._drops(targets[0].value, [targets[0].slice], scope, prefix)
        if isinstance(node, ast.AugAssign):
            table = self.place(node.target, scope, prefix) if isinstance(node.op, ast.Add | ast.BitOr) else None
            return Fewer(self.canon, self.ruled, scope, scope, table).whole(node.value) if table is not None else 0
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            return self._method(node.value, scope, prefix) or self._registered([node.value], scope)
        calls = [d for d in getattr(node, "decorator_list", ()) if isinstance(d, ast.Call)]
        return self._registered(calls, scope)

    def _drops(self, owner: ast.expr, given: Sequence[ast.expr], scope: Scope, prefix: str) -> int:
        table = self.place(owner, scope, prefix)
        texts = [firm(key) for key in given]
        return len(texts) if table and all(t and self.ruled.drops_entry(*table, t) for t in texts) else 0

    def _method(self, call: ast.Call, scope: Scope, prefix: str) -> int:
        """``T.append("x")``, ``T.update(x=X)``: every entry that it makes is one that a rule drops."""
        if not isinstance(call.func, ast.Attribute):
            return 0
        at = _ONE.get(call.func.attr)
        if at is not None and at < len(call.args):
            return self._drops(call.func.value, [call.args[at]], scope, prefix)
        table = self.place(call.func.value, scope, prefix) if call.func.attr in _MANY else None
        if table is None:
            return 0
        fewer = Fewer(self.canon, self.ruled, scope, scope, table)
        fewer.spelled = firm
        counts = [fewer.whole(argument, True) for argument in call.args]
        counts += [int(row.inner is None and fewer.licensed(row.key)) for row in keywords(call)]
        return sum(counts) if counts and all(counts) else 0

    def _registered(self, calls: Sequence[ast.Call], scope: Scope) -> int:
        """Calls that store under dropped keys, if none of them stores into the same table under a kept one."""
        gone: set[Table] = set()
        kept: set[Table] = set()
        for call in calls:
            for table, key in self._fills(call, scope):
                (gone if self.ruled.drops_entry(*table, key) else kept).add(table)
        return int(bool(gone) and not gone & kept)

    def _fills(self, call: ast.Call, scope: Scope) -> list[tuple[Table, str]]:
        """Tables named by rules into which a call stores, and under which key."""
        head = self.canon.effects.chain(call.func, scope)
        found: list[tuple[Table, str]] = []
        if head is None:
            return found
        constant = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        plain = [str(constant)] if constant is not None else []
        plain += [firm(k.value) for k in call.keywords if k.arg in ("name", "key") and firm(k.value)]
        for table, function in self._filled_by(head):
            keys = self._keys(function, call) if function is not None else []
            found += [(table, key) for key in keys or plain]
        return found

    def _filled_by(self, head: str) -> list[tuple[Table, ast.FunctionDef | ast.AsyncFunctionDef | None]]:
        """Tables named by rules into which a function stores, with its definition; a function may be named as a table."""
        known = self._filled.get(head)
        if known is None:
            known = self._filled[head] = []
            function, owner = self._function(head)
            for text, table in self._tables.items():
                if text == head:
                    known.append((table or (text.rpartition(".")[0], text.rpartition(".")[2]), function))
                elif table is not None and function is not None and head.startswith(f"{table[0]}."):
                    if self._mentions(function, text, owner):
                        known.append((table, function))
        return known

    def _function(self, head: str) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef | None, str]:
        """The definition that a chain names, and the object whose method it is: ``mod.REG`` of ``mod.REG.register``."""
        split = self._split(head)
        if split is None:
            return None, ""
        body = self._body(split[0])
        *outer, last = split[1].split(".")
        owner = f"{split[0]}.{'.'.join(outer)}" if outer else ""
        for part in outer:
            node = next((n for n in body if isinstance(n, ast.ClassDef) and n.name == part), None)
            if node is None:
                made = [n.value for n in body if isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == part]
                node = self._class(made[0], split[0]) if len(made) == 1 else None
            body = node.body if node is not None else []
        found = next((n for n in body if isinstance(n, FUNCTIONS) and n.name == last), None)
        return found, owner

    def _body(self, module: str) -> Sequence[ast.stmt]:
        parsed = self.world.tree.parse_module(module)
        return parsed.body if parsed is not None else ()

    def _class(self, value: ast.expr, module: str) -> ast.ClassDef | None:
        """The class of which ``Registry()`` makes an object."""
        head = value.func if isinstance(value, ast.Call) else value
        symbol = self.canon.effects.symbol(head, self.canon.effects.module_scope(module))
        node = self.world.definition(symbol) if symbol is not None and symbol[0] == "symbol" else None
        return node if isinstance(node, ast.ClassDef) else None

    def _mentions(self, function: ast.AST, table: str, owner: str) -> bool:
        """Does the function store into the table: by its name, or, for an object's method, into the object?"""
        name = table.rpartition(".")[2]
        if owner == table:
            return any("self" in ast.unparse(part.value) for part in walk(function) if isinstance(part, ast.Subscript))
        return any(name in (getattr(n, "id", ""), getattr(n, "attr", "")) for n in walk(function))

    def _keys(self, function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call) -> list[str]:
        """The key of a call, where the function stores under one of its parameters; [] where it stores otherwise."""
        names = [a.arg for a in [*function.args.posonlyargs, *function.args.args]]
        if names[:1] in (["self"], ["cls"]):
            del names[0]
        known = {*names, *(a.arg for a in function.args.kwonlyargs)}
        stored = [
            t.slice
            for n in walk(function)
            if isinstance(n, ast.Assign)
            for t in n.targets
            if isinstance(t, ast.Subscript)
        ]
        stored += [
            n.value.args[0]
            for n in walk(function)
            if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and n.value.args
            and isinstance(n.value.func, ast.Attribute) and n.value.func.attr in ("setdefault", "append", "add")
        ]  # fmt: skip
        keys = {part.id for part in stored if isinstance(part, ast.Name) and part.id in known}
        if len(keys) != 1 or len(stored) != sum(isinstance(p, ast.Name) and p.id in keys for p in stored):
            return []
        key = keys.pop()
        given = [k.value for k in call.keywords if k.arg == key]
        if key in names and names.index(key) < len(call.args):
            given.append(call.args[names.index(key)])
        return [firm(part) for part in given if firm(part)]


def _dotted(scope: Scope | None, name: str) -> str:
    """A local name as rules write it: ``f.inner.T``."""
    while scope is not None and scope.kind != "module":
        if isinstance(scope.node, (*FUNCTIONS, ast.ClassDef)):
            name = f"{scope.node.name}.{name}"
        scope = scope.parent
    return name


def _parameters(node: ast.arguments) -> list[ast.arg]:
    rest = [a for a in (node.vararg, node.kwarg) if a is not None]
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *rest]
