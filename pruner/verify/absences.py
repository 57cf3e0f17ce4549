"""Which upstream statements may be missing from a compared file, and what each of them claims.

A binding that the output does not have any more becomes a claim, judged later against the whole
tree; an entry goes by a drop rule; an import of a dropped module may have a guard in its place.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pruner.verify.canon import Canon
from pruner.verify.claims import Claim, FileResult
from pruner.verify.coded import RUN, words
from pruner.verify.effects import Effects
from pruner.verify.entered import Entered
from pruner.verify.guards import guarded, is_guard
from pruner.verify.items import Item, catches_import_error
from pruner.verify.licence import Licence
from pruner.verify.names import FUNCTIONS, module_names, resolver
from pruner.verify.near import lines_of, near
from pruner.verify.nodes import walk
from pruner.verify.outside import KEEPING_NOTHING
from pruner.verify.scopes import Scope, class_scope, function_scope
from pruner.verify.shape import Definition, reads
from pruner.verify.side import Side
from pruner.verify.suites import Suites
from pruner.verify.world import literal_all

_ENTERING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)
_KINDS = {
    "Function": "function",
    "Class": "class",
    "Import": "import",
    "Stand": "import",
    "Assign": "variable",
    "AnnAssign": "variable",
}
_OF_PYTHON = frozenset({"property", "staticmethod", "classmethod"})
_STILL = {
    "module": ("Assign", "AnnAssign", "Import", "Function", "Class"),
    "class": ("Function",),
    "function": ("Import",),
}


class Absences:
    """The state of one file's comparison, and the answers to: may this be gone?"""

    def __init__(self, effects: Effects, module: str, path: str, upstream: Side, output: Side) -> None:
        self.effects = effects
        self.world = effects.world
        self.module = module
        self.up, self.out = upstream, output
        sides = [lines_of(side.data, (b":=",)) for side in (upstream, output)]
        walrus = None if None in sides else sorted({line for side in sides for line in side or ()})
        capture = b"nonlocal" in upstream.data or b"nonlocal" in output.data
        self.resolve = resolver(module, self.world.tree.is_package(module), walrus, capture)
        self.yields = b"yield" in upstream.data
        self.canon = Canon(effects)
        self.entered = Entered(self.canon, self.world, self.world.ruled, module)
        self.result = FileResult(path)
        self.prefix = ""
        self._coded: frozenset[str] | None = None
        self._mentioned: set[str] | None = None  # by upstream's file, whose bytes do not tell
        self._reads: set[str] | None = None
        self._probes: set[int] | None = None  # lines of imports in the body of a try
        self._stated: set[str] | None = None  # statements of the output that may put entries into tables
        self._output_scope = Scope("module", module)
        self.licence = Licence(set())
        self.gone: dict[int, set[str]] = {}  # id of an upstream scope -> names that the output scope lacks
        self.upstream_suites = Suites(self.canon, self._erase, self._gone_import)
        self.output_suites = Suites(self.canon, lambda item, _: is_guard(item))

    def _erase(self, item: Item, scope: Scope) -> bool:
        """Leave an upstream binding out when the output scope does not bind it and nothing else is lost."""
        gone = self.gone.get(id(scope))
        if not item.binds:
            return isinstance(item.node, _ENTERING) and self._lost_entry(item, scope)
        if not gone or not set(item.binds) <= gone:
            item.pinned = item.kind == "Import" and self._probe(item, {*(gone or ()), *item.binds})
            return False
        if item.kind == "Stand" and guarded(self.out.data, item.key[1], "removed") and self._may_raise(item, scope):
            return False  # a guard that raises may stand for this import, whatever became of its names
        if item.kind == "Import" and scope.kind == "function" and not self._words().isdisjoint(item.binds):
            return False  # code that is run in the function sees the name
        if item.kind == "Import" and scope.kind == "function" and self._lists_locals(scope):
            return False
        if item.kind == "Import" and self._probe(item, gone):
            item.pinned = True
            return False
        return self._gone(item, scope)

    def _lost_entry(self, item: Item, scope: Scope) -> bool:
        """Does the statement put in a dropped entry, and none of the output's does the same?

        ``if x: T["k"] = v`` may be all that the branch did: what is judged is the branch without it.
        """
        count = self.entered.absent(item, scope, self.prefix)
        if not count:
            return False
        if self._stated is None:
            self._stated = {ast.unparse(node) for node in walk(self.out.tree) if isinstance(node, _ENTERING)}
        if ast.unparse(item.node) in self._stated:
            return False
        self.result.entries += count
        return True

    def _probe(self, item: Item, gone: set[str]) -> bool:
        """Is whether this import works an answer that code outside its own try statement can see?

        ``try: import x; HAVE = True`` / ``except ImportError: HAVE = False`` asks for ``x`` although
        nothing reads ``x``. Not so when all that the statement binds is gone, or when the same module
        is still imported beside it.
        """
        for node in self.upstream_suites.tried:
            if node is None:
                continue
            names = module_names(ast.Module([node], []), self.module, self.world.tree.is_package(self.module))
            if set(names.bindings) <= gone and not any(_has_effects(h.body) for h in node.handlers):
                continue
            target = self._import_target(item)[0]
            if any(row.target == target and row.bound not in gone for row in names.imports):
                continue
            return True
        return False

    def _lists_locals(self, scope: Scope) -> bool:
        """``"{x}".format(**locals())``: the function has what it binds in a dictionary."""
        if not any(name in self.up.data for name in (b"locals", b"vars", b"dir")) or scope.node is None:
            return False
        calls = (node for node in walk(scope.node) if isinstance(node, ast.Call) and not node.args)
        return any(isinstance(call.func, ast.Name) and call.func.id in ("locals", "vars", "dir") for call in calls)

    def _words(self) -> frozenset[str]:
        """Words of the texts of a file that runs code from text; none of another file."""
        if self._coded is None:
            nodes = list(walk(self.up.tree)) if b"eval" in self.up.data or b"exec" in self.up.data else []
            run = any(isinstance(node, ast.Name) and node.id in RUN for node in nodes)
            texts = [node.value for node in nodes if isinstance(node, ast.Constant)] if run else []
            self._coded = frozenset(word for text in texts if isinstance(text, str) for word in words(text))
        return self._coded

    def _gone(self, item: Item, scope: Scope, still: bool = False) -> bool:
        names = [self.prefix + name for name in item.binds]
        ruled = scope.kind != "function" and all(self.world.ruled.drops_symbol(self.module, n) for n in names)
        entry = False
        if not ruled and self._reason(item, scope):
            entry = self._entry(item, scope)
            if not entry:
                return False
        outside = dropped = False
        if item.kind == "Import":
            target, symbol = self._import_target(item)
            if target == "__future__":
                return False  # it says how the file is compiled: without `annotations` they are evaluated
            dropped = bool(symbol) and self.world.ruled.drops_symbol(target, symbol)
            outside = target.partition(".")[0] not in self.world.tree.tops
            if not self._typing(item):
                self.result.lost.append((target, symbol, item.line))
                if scope.kind == "module" and not self._read_upstream(item.binds[0]):
                    self.result.unread.append((self.module, target, symbol, item.line))
                if scope.kind != "function" and not dropped:
                    self.result.eager.append((self.module, target, symbol, item.line))
                elif scope.kind == "function" and not dropped and isinstance(scope.node, FUNCTIONS):
                    lines = (scope.node.lineno, scope.node.end_lineno or scope.node.lineno)
                    self.result.inner.append((self.module, target, symbol, item.line, lines))
        if scope.kind in ("module", "class"):
            kind = "member" if scope.kind == "class" else _KINDS.get(item.kind, "variable")
            if kind == "member" and isinstance(item.node, ast.AnnAssign):
                kind = "field"
            for name in names:
                function = isinstance(item.node, ast.FunctionDef | ast.AsyncFunctionDef)
                claim = Claim(
                    self.result.path,
                    self.module,
                    name,
                    item.line,
                    kind,
                    outside,
                    still,
                    dropped=dropped,
                    function=function,
                    entry=entry,
                    handed=self._handed(item.node, scope) if function and kind == "member" else "",
                )
                self.result.claims.append(claim)
        return True

    def _handed(self, node: ast.AST, scope: Scope) -> str:
        """``@field_validator("x")`` in a class: the method is no other code's to name, and runs."""
        for decorator in getattr(node, "decorator_list", ()):
            head = decorator.func if isinstance(decorator, ast.Call) else decorator
            symbol, text = self.effects.symbol(head, scope), self.effects.chain(head, scope) or ""
            if symbol is not None and symbol[0] == "outside" and symbol[1] not in _OF_PYTHON:
                if not text.startswith(KEEPING_NOTHING):
                    return text or symbol[1]
        return ""

    def _typing(self, item: Item) -> bool:
        """Does the import stand under ``if TYPE_CHECKING``? No run loads anything by it."""
        names = self.world.names(self.module)
        rows = [r for r in names.imports if r.line == item.line and r.bound in item.binds] if names is not None else []
        return bool(rows) and all(row.typing for row in rows)

    def _read_upstream(self, name: str) -> bool:
        """Does the upstream file mention the name anywhere, ``__all__`` included?"""
        names = self.world.names(self.module)
        if names is not None and name in (literal_all(names) or ()):
            return True
        lines = lines_of(self.up.data, (name.encode(),))
        if lines is None and self._mentioned is None:
            self._mentioned = {node.id for node in walk(self.up.tree) if isinstance(node, ast.Name)}
        if self._mentioned is not None:
            return name in self._mentioned
        return any(isinstance(node, ast.Name) and node.id == name for node in near(self.up.tree, lines))

    def _absent(self, item: Item, scope: Scope, other: Scope, rest: list[Item]) -> bool:
        """May this upstream statement be missing although its name is still bound somewhere?"""
        if item.kind == "Import" and self._again(item, rest):
            return True  # a second import of the same thing under the same name binds nothing new
        if item.kind == "Note" and isinstance(item.node, ast.AnnAssign):
            return scope.kind == "function" or self._unnoted(item.node, scope)
        if item.kind == "Import" and item.key[0] == "Import" and item.binds[0] in self._output_scope.bound:
            target = self._import_target(item)[0]  # `import pkg.hip` binds pkg, as `import pkg.cuda` does
            if "." in target and self.world.ruled.drops_module(target, self.world.tree.modules.get(target, "")):
                return True
        if item.kind == "Import" and item.binds == ("*",):
            return scope.kind == "module" and self._star(item)
        if item.binds and not item.pinned and item.kind in _STILL.get(scope.kind, ()):
            # Bound elsewhere in the output too (`import a` / `for a in rows: ...`), but nothing there reads it:
            # each binding is dead.
            if scope.kind == "module":
                read: frozenset[str] | set[str] = self._output_reads()
            elif other.node is None or set(item.binds) & (scope.globals | scope.nonlocals) or self._lists_locals(scope):
                return self._entry(item, scope)
            else:
                read = reads(other.node, other, self._build) | self._words()
            if read.isdisjoint(item.binds) and not self._reason(item, scope):
                return self._gone(item, scope, still=True)
        return self._entry(item, scope)

    def _again(self, item: Item, rest: list[Item]) -> bool:
        """Does the same import follow, before anything says the name?"""
        for other in rest:
            if other.key == item.key:
                return True
            if any(isinstance(node, ast.Name) and node.id in item.binds for node in walk(other.node)):
                return False
        return False

    def _unnoted(self, node: ast.AnnAssign, scope: Scope) -> bool:
        """``x: int`` of a module is gone: it is evaluated, and is one of the module's annotations while the module has ``x``."""
        names = self._output_scope.names
        if (
            not isinstance(node.target, ast.Name)
            or names is None
            or node.target.id in (*names.bindings, *names.rebound)
        ):
            return False
        if not self.effects.droppable(node.annotation, scope):
            return False
        self.result.claims.append(Claim(self.result.path, self.module, node.target.id, node.lineno, "note"))
        return True

    def _output_reads(self) -> set[str]:
        if self._reads is None:
            self._reads = reads(self.out.tree, self._output_scope, self._build)
            self._reads |= literal_all(self._output_scope.names) or set() if self._output_scope.names else set()
        return self._reads

    def _star(self, item: Item) -> bool:
        """``from x import *`` is gone: every name that it brought is a claim of its own."""
        target, symbol = self._import_target(item)
        self.result.lost.append((target, symbol, item.line))
        have = self._output_scope.bound
        for name in sorted(self.world.exported(target)) if self.world.tree.has_module(target) else ():
            # Another star import, or an earlier statement, binds it too, and this one may be what the name is.
            brought = any(row.line == item.line for row, _, _ in self.world.bringers(self.module, name))
            if brought and name in self._output_reads():
                return False
            if brought or name not in have:
                claim = Claim(self.result.path, self.module, name, item.line, "import", star=brought)
                self.result.claims.append(claim)
        return True

    def _entry(self, item: Item, scope: Scope) -> bool:
        """A statement that puts entries into a table from which rules drop them."""
        count = self.entered.absent(item, scope, self.prefix)
        self.result.entries += count
        return count > 0

    def _gone_import(self, item: Item, scope: Scope) -> tuple[str, bool]:
        """The dropped module or symbol that this import asks for, and whether it fails where it stands.

        A stand-in keeps the name; ``removed`` raises; with neither in the output, the import counts as
        failing inside a ``try`` that catches that.
        """
        target, symbol = self._import_target(item)
        dropped = f"{target}:{symbol}"
        if symbol and guarded(self.out.data, dropped, "stand_in") and self.world.ruled.drops_symbol(target, symbol):
            return dropped, False
        for name in (f"{target}.{symbol}", target) if symbol else (target,):
            path = self.world.tree.modules.get(name, "")
            if not path or not self.world.ruled.drops_module(name, path):
                continue
            if guarded(self.out.data, name, "stand_in"):
                return name, False
            tried = [node for node in self.upstream_suites.tried if node is not None]
            caught = bool(tried) and any(catches_import_error(h.type) for h in tried[-1].handlers)
            if guarded(self.out.data, name, "removed"):
                return name, self._may_raise(item, scope) or caught
            if caught:
                return name, True
        return "", False

    def _may_raise(self, item: Item, scope: Scope) -> bool:
        """Does the import of a function stand in the body of a ``try``, where it asks whether it works?

        Elsewhere it may run on every start, and nothing of it be used: what raises there ends the program.
        """
        if scope.kind != "function":
            return False
        if self._probes is None:
            bodies = [node.body for node in walk(self.up.tree) if isinstance(node, ast.Try | ast.TryStar)]
            inside = (n for body in bodies for part in body for n in walk(part))
            self._probes = {n.lineno for n in inside if isinstance(n, ast.Import | ast.ImportFrom)}
        return item.line in self._probes

    def _import_target(self, item: Item) -> tuple[str, str]:
        key = item.key
        if key[0] == "Import":
            return key[1], ""
        return self.resolve(key[1], key[2]) or "", key[3]

    def _reason(self, item: Item, scope: Scope) -> str:
        """Why a removal loses more than a name; ``""`` when it does not."""
        if not isinstance(item.node, ast.stmt) or item.kind == "Import":
            return ""
        found = self.effects.effect(item.node, scope)
        return f" ({found})" if found else ""

    def _build(self, node: Definition, parent: Scope) -> Scope:
        if isinstance(node, ast.ClassDef):
            return class_scope(node, parent, self.resolve)
        return function_scope(node, parent, self.resolve)

    def _problem(self, up: int, out: int, text: str) -> None:
        path = self.result.path
        place = f"{path}:{out}" if out else path
        self.result.problems.append(f"{place}: {text}" + (f" (upstream line {up})" if up else ""))


def _has_effects(body: Sequence[ast.stmt]) -> bool:
    """Does a handler do more than bind names or pass?"""
    return not all(
        isinstance(node, ast.Assign | ast.AnnAssign | ast.Pass | ast.Import | ast.ImportFrom) for node in body
    )
