"""Translation validation of one file: the output must be the specialised upstream, less what may go.

Both files are walked in parallel. Statements with the same text are the same; the rest is brought
to canonical form under the facts and matched in order. What is missing must be a binding that the
output does not have any more (a claim, judged later against the whole tree), an entry that a drop
rule names, or code that the folder itself finds dead.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from pruner.verify.canon import Canon, Term
from pruner.verify.claims import Claim, FileResult
from pruner.verify.effects import Effects
from pruner.verify.licence import Licence, enum_values
from pruner.verify.names import FUNCTIONS, module_names, resolver
from pruner.verify.nodes import walk
from pruner.verify.scopes import Scope, class_scope, function_scope
from pruner.verify.shape import (
    Definition,
    docstring,
    is_generator,
    reads,
    undocumented,
    without_docstring,
)
from pruner.verify.guards import GUARD, guarded, is_guard
from pruner.verify.suites import Item, Suites
from pruner.verify.world import literal_all

_KINDS = {"Function": "function", "Class": "class", "Import": "import", "Stand": "import", "Assign": "variable", "AnnAssign": "variable"}


class Side:
    """One file: its lines and its syntax tree."""

    def __init__(self, data: bytes, tree: ast.Module) -> None:
        self.data = data
        self.lines = data.replace(b"\r\n", b"\n").split(b"\n")
        self.tree = tree

    def text(self, node: ast.stmt) -> tuple[str, bytes]:
        """The source of a statement, decorators included, without its own indentation."""
        first, column = node.lineno, node.col_offset
        for item in getattr(node, "decorator_list", ()):
            if item.lineno <= first:
                first, column = item.lineno, item.col_offset - 1
        last = node.end_lineno or first
        if first == last:
            return type(node).__name__, self.lines[first - 1][column : node.end_col_offset]
        rows = [self.lines[first - 1][column:], *self.lines[first : last - 1]]
        rows.append(self.lines[last - 1][: node.end_col_offset])
        return type(node).__name__, b"\n".join(rows)


class Comparison:
    """Compares one file of the output with the upstream file of the same path."""

    def __init__(self, effects: Effects, module: str, path: str, upstream: Side, output: Side) -> None:
        self.effects = effects
        self.world = effects.world
        self.module = module
        self.up, self.out = upstream, output
        walrus = b":=" in upstream.data or b":=" in output.data
        capture = b"nonlocal" in upstream.data or b"nonlocal" in output.data
        self.resolve = resolver(module, self.world.tree.is_package(module), walrus, capture)
        self.yields = b"yield" in upstream.data
        self.canon = Canon(effects)
        self.result = FileResult(path)
        self.prefix = ""
        self._mentioned: set[str] | None = None
        self._reads: set[str] | None = None
        self._output_scope = Scope("module", module)
        self.licence = Licence(self.world.ruled, module, set())
        self.gone: dict[int, set[str]] = {}  # id of an upstream scope -> names that the output scope lacks
        self.upstream_suites = Suites(self.canon, self._erase, self._gone_import)
        self.output_suites = Suites(self.canon, lambda item, _: is_guard(item))

    def run(self) -> FileResult:
        """Compare the whole file."""
        scope = self.effects.module_scope(self.module)
        package = self.world.tree.is_package(self.module)
        names = module_names(self.out.tree, self.module, package)
        other = self._output_scope = Scope("module", self.module, None, names, node=self.out.tree)
        names.bindings.pop(GUARD, None)
        absent = (scope.names.bindings.keys() if scope.names else set()) - names.bindings.keys()
        gone = {name for name in absent if self.world.live(self.module, name)}
        self.licence.gone = gone
        self._pair(scope, gone)
        words = {word.decode() for word in re.findall(rb"\w+", self.out.data)} if gone else set()
        mentioned = gone & words
        if mentioned:
            # Reads of a removed module-level name that would fail, or find a builtin instead.
            for name in sorted(mentioned & reads(self.out.tree, other, self._build)):
                self._problem(0, 0, f"{name!r} is still read, but the module no longer binds it")
        self._suite(self.up.tree.body, self.out.tree.body, scope, other, "module")
        self.result.entries += self.licence.entries
        self.result.claims.extend(
            Claim(self.result.path, self.module, name, 0, "export") for name in sorted(self.licence.exports)
        )
        return self.result

    # -- suites --------------------------------------------------------------------------------

    def _suite(
        self, up: Sequence[ast.stmt], out: Sequence[ast.stmt], scope: Scope, other: Scope, kind: str
    ) -> None:
        documented = docstring(out)
        if kind == "module" and undocumented(out):
            documented, out = None, out[2:]
        elif kind in ("module", "function", "class"):
            out_body = without_docstring(out)
            if documented != docstring(up):
                self._problem(_line(up), _line(out), "the docstring changed, went, or a stray string became one")
            out = out_body
        if kind in ("module", "function", "class"):
            up = without_docstring(up)
        rows_up = [self.up.text(node) for node in up]
        rows_out = [self.out.text(node) for node in out]
        if rows_up == rows_out:
            return
        if kind == "class" and self.effects.classes.enum(("symbol", self.module, getattr(scope.node, "name", ""))):
            self._canonical(up, out, scope, other, kind)  # GRAPH = auto() is another number where a member went
            return
        gaps = [
            (up[a:b], out[c:d])
            for tag, a, b, c, d in SequenceMatcher(None, rows_up, rows_out, autojunk=False).get_opcodes()
            if tag != "equal"
        ]
        before = len(self.result.problems), len(self.result.claims), len(self.result.lost), self.licence.entries
        for gap_up, gap_out in gaps:
            # The text of a statement may match the wrong twin, so a failing gap proves nothing yet.
            self._canonical(gap_up, gap_out, scope, other, kind)
        if len(self.result.problems) > before[0]:
            partial = self.result.problems[before[0] :]
            del self.result.problems[before[0] :], self.result.claims[before[1] :], self.result.lost[before[2] :]
            self.licence.entries = before[3]
            self._canonical(up, out, scope, other, kind)
            if len(self.result.problems) - before[0] > len(partial):
                self.result.problems[before[0] :] = partial

    def _canonical(
        self, up: Sequence[ast.stmt], out: Sequence[ast.stmt], scope: Scope, other: Scope, kind: str
    ) -> None:
        whole = "function" if kind == "function" else "suite"
        left: list[Item] = getattr(self.upstream_suites, whole)(up, scope)
        right: list[Item] = getattr(self.output_suites, whole)(out, other)
        if kind == "class" and isinstance(scope.node, ast.ClassDef) and isinstance(other.node, ast.ClassDef):
            self._members(left, scope.node)
            self._members(right, other.node)
        self.result.statements += len(left)
        self._match(left, right, scope, other)

    def _members(self, items: list[Item], node: ast.ClassDef) -> None:
        """Enum members compare by value: ``GRAPH = 3`` may stand for ``GRAPH = auto()``."""
        home = ("symbol", self.module, node.name)
        if self.effects.classes.enum(home) is None:
            return
        values = enum_values(node)
        for item in items:
            if item.kind == "Assign" and len(item.binds) == 1 and item.binds[0] in values:
                value = values[item.binds[0]]
                item.key = ("Member", item.binds[0], type(value).__name__, repr(value))

    def _match(self, left: list[Item], right: list[Item], scope: Scope, other: Scope) -> None:
        i = j = 0
        while i < len(left) or j < len(right):
            u = left[i] if i < len(left) else None
            o = right[j] if j < len(right) else None
            if u is not None and o is not None and u.kind == "Stand" and o.kind == "Gone" and u.key[1] == o.key[1]:
                return self._match([], right[j + 1 :], scope, other)  # the guard raises: what followed is dead
            if u is not None and o is not None and self._paired(u, o):
                self._descend(u, o, scope, other)
                i, j = i + 1, j + 1
            elif u is not None and o is not None and self._same_head(u, o):
                self._descend(u, o, scope, other)
                i, j = i + 1, j + 1
            elif u is not None and self._absent(u, scope, right[j:]):
                i += 1
            elif u is None and o is not None:
                self._problem(0, o.line, f"{_what(o)} is not in upstream at this place")
                j += 1
            elif u is not None and (o is None or any(self._paired(u, later) is False and later.signature == o.signature for later in left[i + 1 :])):
                self._problem(u.line, o.line if o else 0, f"{_what(u)} is missing{self._reason(u, scope)}")
                i += 1
            elif u is not None and o is not None:
                later = next((k for k in range(j + 1, len(right)) if right[k].signature == u.signature), None)
                if later is not None:
                    self._problem(u.line, o.line, f"{_what(o)} is not in upstream at this place")
                    j += 1
                else:
                    self._problem(u.line, o.line, f"{_what(u)} became {_what(o)}{self._reason(u, scope)}")
                    i, j = i + 1, j + 1

    def _paired(self, u: Item, o: Item) -> bool:
        return u.signature == o.signature

    def _same_head(self, u: Item, o: Item) -> bool:
        if u.kind != o.kind:
            return False
        if u.key == o.key:
            return True
        return u.kind in ("Assign", "AnnAssign", "AugAssign") and self.licence.allows(u.key, o.key, self.prefix)

    def _descend(self, u: Item, o: Item, scope: Scope, other: Scope) -> None:
        if u.kind in ("Function", "Class"):
            if self.up.text(u.node) != self.out.text(o.node):  # type: ignore[arg-type]
                self._definition(u.node, o.node, scope, other)  # type: ignore[arg-type]
            return
        if u.kind in ("Try", "TryStar"):
            self._handler_names(u, o, other)
        if len(u.blocks) != len(o.blocks):
            self._problem(u.line, o.line, f"{_what(u)} has another number of arms")
            return
        for block, counterpart in zip(u.blocks, o.blocks, strict=True):
            self._match(block, counterpart, scope, other)

    def _handler_names(self, u: Item, o: Item, other: Scope) -> None:
        """``except E as exc`` may lose a name that nothing reads; it may not get another."""
        before = [h.name for h in u.node.handlers]  # type: ignore[attr-defined]
        after = [h.name for h in o.node.handlers]  # type: ignore[attr-defined]
        for a, b in zip(before, after, strict=False):
            if a != b and (b is not None or (other.node is not None and a in reads(other.node, other, self._build))):
                self._problem(u.line, o.line, "the name of a caught exception changed")

    # -- what is missing -----------------------------------------------------------------------

    def _erase(self, item: Item, scope: Scope) -> bool:
        """Leave an upstream binding out when the output scope does not bind it and nothing else is lost."""
        gone = self.gone.get(id(scope))
        if not gone or not item.binds or not set(item.binds) <= gone:
            return False
        if item.kind == "Stand" and scope.kind == "function" and guarded(self.out.data, item.key[1], "removed"):
            return False  # the guard stands for this import, whatever became of its names
        if item.kind == "Import" and self._probe(item, gone):
            return False
        return self._gone(item, scope)

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

    def _gone(self, item: Item, scope: Scope) -> bool:
        names = [self.prefix + name for name in item.binds]
        ruled = scope.kind != "function" and all(self.world.ruled.drops_symbol(self.module, n) for n in names)
        if not ruled and self._reason(item, scope) and not self._entry(item, scope):
            return False
        outside = False
        if item.kind == "Import":
            target, symbol = self._import_target(item)
            outside = target.partition(".")[0] not in self.world.tree.tops
            self.result.lost.append((target, symbol, item.line))
            if scope.kind == "module" and item.binds[0] not in self._read_upstream():
                self.result.unread.append((self.module, target, symbol, item.line))
        if scope.kind in ("module", "class"):
            kind = "member" if scope.kind == "class" else _KINDS.get(item.kind, "variable")
            if kind == "member" and isinstance(item.node, ast.AnnAssign):
                kind = "field"
            for name in names:
                self.result.claims.append(Claim(self.result.path, self.module, name, item.line, kind, outside))
        return True

    def _read_upstream(self) -> set[str]:
        """Names that the upstream file mentions anywhere, ``__all__`` included."""
        if self._mentioned is None:
            self._mentioned = _identifiers(self.up.tree)
            names = self.world.names(self.module)
            self._mentioned |= (literal_all(names) or set()) if names is not None else set()
        return self._mentioned

    def _absent(self, item: Item, scope: Scope, rest: list[Item]) -> bool:
        """May this upstream statement be missing although its name is still bound somewhere?"""
        if item.kind == "Import" and any(other.key == item.key for other in rest):
            return True  # a second import of the same thing under the same name binds nothing new
        if item.kind == "Import" and item.binds == ("*",):
            return scope.kind == "module" and self._star(item)
        if item.binds and scope.kind == "module" and item.kind in ("Assign", "AnnAssign", "Import"):
            # Bound elsewhere in the output too, but nothing there reads it: each binding is dead.
            if not set(item.binds) & self._output_reads() and (item.kind == "Import" or not self._reason(item, scope)):
                return self._gone(item, scope)
        return self._entry(item, scope)

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
        for name in sorted(self.world.exported(target) - have) if self.world.tree.has_module(target) else ():
            self.result.claims.append(Claim(self.result.path, self.module, name, item.line, "import"))
        return True

    def _entry(self, item: Item, scope: Scope) -> bool:
        """A statement that puts an entry into a table from which a rule drops it.

        ``TABLE[key] = …``, ``@register(key)`` on a definition, ``Registry.register(key, …)``.
        """
        node = item.node
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
            home = self.effects.symbol(target.value, scope)
            if home is not None and home[0] == "symbol" and isinstance(target.slice, ast.Constant):
                if self.world.ruled.drops_entry(home[1], home[2], str(target.slice.value)):
                    self.result.entries += 1
                    return True
        calls = [d for d in getattr(node, "decorator_list", ()) if isinstance(d, ast.Call)]
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            calls.append(node.value)
        for call in calls:
            if call.args and isinstance(call.args[0], ast.Constant) and self._fills(call, str(call.args[0].value), scope):
                self.result.entries += 1
                return True
        return False

    def _fills(self, call: ast.Call, key: str, scope: Scope) -> bool:
        """Does this call store into a table whose entry ``key`` a rule drops?"""
        head = self.effects.chain(call.func, scope)
        if head is None:
            return False
        for table in self.world.ruled.drop_entries:
            owner, _, name = table.rpartition(".")
            module = owner if owner in self.world.tree.modules else owner.rpartition(".")[0]
            if not head.startswith(f"{module}."):
                continue
            inside = table[len(module) + 1 :]
            if self.world.ruled.drops_entry(module, inside, key) and self._mentions(head, module, name):
                return True
        return False

    def _mentions(self, head: str, module: str, table: str) -> bool:
        """Does the function ``head`` of the module name the table in its body?"""
        parsed = self.world.tree.parse_module(module)
        body: Sequence[ast.stmt] = parsed.body if parsed is not None else ()
        node: ast.AST | None = None
        for part in head[len(module) + 1 :].split("."):
            node = next((n for n in body if isinstance(n, FUNCTIONS + (ast.ClassDef,)) and n.name == part), None)
            body = getattr(node, "body", ())
        return node is not None and any(
            table in (getattr(n, "id", ""), getattr(n, "attr", "")) for n in walk(node)
        )

    def _gone_import(self, item: Item, scope: Scope) -> str:
        """The module that this import asks for, when a rule drops it and the output says so with a guard."""
        if GUARD.encode() not in self.out.data:
            return ""
        target, symbol = self._import_target(item)
        for name in (f"{target}.{symbol}", target) if symbol else (target,):
            path = self.world.tree.modules.get(name, "")
            if self.world.ruled.drops_module(name, path) and guarded(self.out.data, name):
                return name
        return ""

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

    # -- definitions ---------------------------------------------------------------------------

    def _definition(self, up: Definition, out: Definition, scope: Scope, other: Scope) -> None:
        if type(up) is not type(out):
            self._problem(up.lineno, out.lineno, f"{up.name} became another kind of definition")
            return
        for label, before, after in (
            ("decorators", up.decorator_list, out.decorator_list),
            ("bases", getattr(up, "bases", []), getattr(out, "bases", [])),
        ):
            if [self.canon.value(d, scope) for d in before] != [self.canon.value(d, other) for d in after]:
                self._problem(up.lineno, out.lineno, f"the {label} of {up.name} changed")
        if self._header(up, scope) != self._header(out, other):
            self._problem(up.lineno, out.lineno, f"the signature of {up.name} changed")
        inner, inner_other = self._build(up, scope), self._build(out, other)
        inner_other.twin = inner
        self._pair(inner, {n for n in inner.bound - inner_other.bound if self._bound_live(n, inner)})
        if isinstance(up, ast.ClassDef):
            outer, self.prefix = self.prefix, f"{self.prefix}{up.name}."
            self._suite(up.body, out.body, inner, inner_other, "class")
            self.prefix = outer
            return
        if self.yields and is_generator(up) != is_generator(out):
            self._problem(up.lineno, out.lineno, f"{up.name} is no longer a generator, or has become one")
        moved = inner.bound ^ inner_other.bound | inner.globals ^ inner_other.globals
        moved |= inner.nonlocals ^ inner_other.nonlocals
        moved.discard(GUARD)
        for name in sorted(moved & reads(out, inner_other, self._build)) if moved else ():
            if _home(name, inner) != _home(name, inner_other):
                self._problem(up.lineno, out.lineno, f"{name!r} in {up.name} is {_home(name, inner_other)} now; it was {_home(name, inner)}")
        outer, self.prefix = self.prefix, f"{self.prefix}{up.name}."
        self._suite(up.body, out.body, inner, inner_other, "function")
        self.prefix = outer

    def _header(self, node: Definition, scope: Scope) -> Term:
        if isinstance(node, ast.ClassDef):
            return tuple((k.arg, self.canon.value(k.value, scope)) for k in node.keywords)
        returns = self.canon.value(node.returns, scope) if node.returns is not None else None
        return (self.canon.arguments(node.args, scope), returns)

    def _bound_live(self, name: str, scope: Scope) -> bool:
        rows = scope.bindings(name)
        return not rows or any(self.effects.reachable(row, scope) for row in rows)

    def _pair(self, scope: Scope, gone: set[str]) -> None:
        self.gone[id(scope)] = gone

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
    return not all(isinstance(node, ast.Assign | ast.AnnAssign | ast.Pass | ast.Import | ast.ImportFrom) for node in body)


def _home(name: str, scope: Scope) -> str:
    """Where a read of ``name`` in this scope finds it, in words."""
    found = scope.find(name)
    if found is None:
        return "a module-level name"
    if found is scope:
        return "local"
    depth, walker = 0, scope.parent
    while walker is not None and walker is not found:
        depth, walker = depth + 1, walker.parent
    return f"a name of the enclosing function {depth + 1} out"


def _line(body: Sequence[ast.stmt]) -> int:
    return body[0].lineno if body else 0


def _what(item: Item) -> str:
    """A statement in words, without its text."""
    name = f" of {', '.join(item.binds)}" if item.binds else ""
    words = {
        "Function": "the definition", "Class": "the class", "Import": "the import", "Assign": "the assignment",
        "AnnAssign": "the assignment", "Expr": "the evaluated expression", "If": "the if statement",
    }
    return words.get(item.kind, f"the {item.kind.lower()} statement") + name


def _identifiers(tree: ast.AST) -> set[str]:
    return {node.id for node in walk(tree) if isinstance(node, ast.Name)}
