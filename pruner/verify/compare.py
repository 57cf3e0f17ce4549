"""Translation validation of one file: the output must be the specialised upstream, less what may go.

Both files are walked in parallel. Statements with the same text are the same; the rest is brought
to canonical form under the facts and matched in order. What is missing must be a binding that the
output does not have any more (a claim, judged later against the whole tree), an entry that a drop
rule names, or code that the folder itself finds dead.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from difflib import SequenceMatcher

from pruner.verify.absences import Absences
from pruner.verify.claims import Claim, FileResult
from pruner.verify.guards import GUARD
from pruner.verify.items import Item, catches_import_error
from pruner.verify.licence import enum_values
from pruner.verify.names import Names, module_names
from pruner.verify.near import holds, lines_of
from pruner.verify.scopes import Scope
from pruner.verify.shape import Definition, docstring, is_generator, reads, undocumented, without_docstring
from pruner.verify.side import what
from pruner.verify.suites import Suites
from pruner.verify.terms import Term


class Comparison(Absences):
    """Compares one file of the output with the upstream file of the same path."""

    def run(self, names: Names | None = None) -> FileResult:
        """Compare the whole file. ``names``: those of the output's, where it was read before; they are not to be used again."""
        scope = self.effects.module_scope(self.module)
        package = self.world.tree.is_package(self.module)
        names = names or module_names(self.out.tree, self.module, package, self.out.data)
        other = self._output_scope = Scope("module", self.module, None, names, node=self.out.tree)
        names.bindings.pop(GUARD, None)
        absent = (scope.names.bindings.keys() if scope.names else set()) - names.bindings.keys()
        gone = {name for name in absent if self.world.live(self.module, name)}
        self.licence.gone = gone
        self._pair(scope, gone)
        mentioned = {name for name in gone if holds(self.out.data, name.encode())}
        if mentioned:
            # Reads of a removed module-level name that would fail, or find a builtin instead.
            lines = lines_of(self.out.data, map(str.encode, mentioned))
            for name in sorted(mentioned & reads(self.out.tree, other, self._build, lines)):
                self._problem(0, 0, f"{name!r} is still read, but the module no longer binds it")
        self._suite(self.up.tree.body, self.out.tree.body, scope, other, "module")
        self.result.claims.extend(
            Claim(self.result.path, self.module, name, 0, "export") for name in sorted(self.licence.exports)
        )
        return self.result

    def _suite(self, up: Sequence[ast.stmt], out: Sequence[ast.stmt], scope: Scope, other: Scope, kind: str) -> None:
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
            (up[a:b], out[c:d], b == len(up) and d == len(out))
            for tag, a, b, c, d in SequenceMatcher(None, rows_up, rows_out, autojunk=False).get_opcodes()
            if tag != "equal"
        ]
        before = len(self.result.problems), len(self.result.claims), len(self.result.lost), self.result.entries
        for gap_up, gap_out, last in gaps:
            # The text of a statement may match the wrong twin, so a failing gap proves nothing yet. A bare `return`
            # does nothing at the end of a function alone: `if not False: return` went, and what is behind it stayed.
            self._canonical(gap_up, gap_out, scope, other, "suite" if kind == "function" and not last else kind)
        if len(self.result.problems) > before[0]:
            partial = self.result.problems[before[0] :]
            del self.result.problems[before[0] :], self.result.claims[before[1] :], self.result.lost[before[2] :]
            self.result.entries = before[3]
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
            self._members(left, up, scope)
            self._members(right, out, other)
        self.result.statements += len(left)
        self._match(left, right, scope, other)

    def _members(self, items: list[Item], body: Sequence[ast.stmt], scope: Scope) -> None:
        """Enum members compare by value: ``GRAPH = 3`` may stand for ``GRAPH = auto()``, whatever went before it."""
        node = scope.node
        assert isinstance(node, ast.ClassDef)
        if self.effects.classes.enum(("symbol", self.module, node.name)) is None:
            return
        bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
        values = enum_values(Suites(self.canon).suite(body, scope), bases)
        for item in items:
            if item.kind == "Assign" and item.binds and item.binds[0] in values:
                item.key = ("Member", tuple(item.binds), values[item.binds[0]])

    def _match(self, left: list[Item], right: list[Item], scope: Scope, other: Scope) -> None:
        i = j = 0
        while i < len(left) or j < len(right):
            u = left[i] if i < len(left) else None
            o = right[j] if j < len(right) else None
            if u is not None and o is not None and u.kind == "Stand" and o.kind == "Gone" and u.key[1] == o.key[1]:
                if not self._may_raise(u, scope):
                    self._problem(u.line, o.line, f"{what(u)} raises now where nothing catches it")
                return self._match([], right[j + 1 :], scope, other)  # the guard raises: what followed is dead
            if u is not None and u.kind == "Gone":
                # The guard raises: what followed is dead. (Several names of one import are one guard.)
                while i < len(left) and left[i].signature == u.signature:
                    i += 1
                if o is not None and o.signature == u.signature:
                    return self._match([], right[j + 1 :], scope, other)
                self._problem(u.line, o.line if o else 0, f"the import of {u.key[1]}, which a rule drops, has no guard")
                continue
            if u is not None and o is not None and self._paired(u, o):
                self._descend(u, o, scope, other)
                i, j = i + 1, j + 1
            elif u is not None and o is not None and self._same_head(u, o, scope, other):
                self._descend(u, o, scope, other)
                i, j = i + 1, j + 1
            elif u is not None and self._absent(u, scope, other, right[j:]):
                i += 1
            elif u is not None and self._failing(u) is not None:
                handled = self._failing(u) or []
                left[i:] = handled if handled and handled[-1].leaves else [*handled, *left[i + 1 :]]
            elif u is None and o is not None:
                self._problem(0, o.line, f"{what(o)} is not in upstream at this place")
                j += 1
            elif u is not None and (
                o is None
                or any(self._paired(u, later) is False and later.signature == o.signature for later in left[i + 1 :])
            ):
                self._problem(u.line, o.line if o else 0, f"{what(u)} is missing{self._reason(u, scope)}")
                i += 1
            elif u is not None and o is not None:
                later = next((k for k in range(j + 1, len(right)) if right[k].signature == u.signature), None)
                if later is not None:
                    self._problem(u.line, o.line, f"{what(o)} is not in upstream at this place")
                    j += 1
                else:
                    one, other_one = what(u), what(o)
                    change = f"{one} became {other_one}" if one != other_one else f"{one} is another one"
                    self._problem(u.line, o.line, f"{change}{self._reason(u, scope)}")
                    i, j = i + 1, j + 1

    def _failing(self, u: Item) -> list[Item] | None:
        """What a ``try`` does when the import that it starts with fails for sure: its handler."""
        if u.kind != "Try" or not isinstance(u.node, ast.Try) or not u.blocks[0] or u.blocks[0][0].kind != "Stand":
            return None
        for index, handler in enumerate(u.node.handlers, 1):
            if catches_import_error(handler.type) and handler.name is None:
                return [*u.blocks[index], *u.blocks[-1]]
        return None

    def _paired(self, u: Item, o: Item) -> bool:
        return bool(u.signature == o.signature)

    def _same_head(self, u: Item, o: Item, scope: Scope, other: Scope) -> bool:
        if u.kind != o.kind:
            return False
        if u.key == o.key:
            return True
        if u.kind not in ("Assign", "AnnAssign", "AugAssign", "Expr"):
            return False
        if self.licence.allows(u.key, o.key):
            return True
        count = self.entered.lessened(u, o, (scope, other), self.prefix)
        self.result.entries += count
        return count > 0

    def _descend(self, u: Item, o: Item, scope: Scope, other: Scope) -> None:
        if u.kind in ("Function", "Class"):
            if self.up.text(u.node) != self.out.text(o.node):  # type: ignore[arg-type]
                self._definition(u.node, o.node, scope, other)  # type: ignore[arg-type]
            return
        if u.kind in ("Try", "TryStar"):
            self._handler_names(u, o, other)
        if len(u.blocks) != len(o.blocks):
            self._problem(u.line, o.line, f"{what(u)} has another number of arms")
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
        if self._header(up, scope) != self._header(out, other) and not self._fewer_choices(up, out, scope, other):
            self._problem(up.lineno, out.lineno, f"the signature of {up.name} changed")
        inner, inner_other = self._build(up, scope), self._build(out, other)
        inner_other.twin = inner
        self._pair(inner, {n for n in inner.bound - inner_other.bound if self._bound_live(n, inner)})
        if isinstance(up, ast.ClassDef):
            declared = inner.globals ^ inner_other.globals | inner.nonlocals ^ inner_other.nonlocals
            self._moved(
                up,
                out,
                declared & inner_other.names.bindings.keys() if inner_other.names else set(),
                inner,
                inner_other,
            )
            outer, self.prefix = self.prefix, f"{self.prefix}{up.name}."
            self._suite(up.body, out.body, inner, inner_other, "class")
            self.prefix = outer
            return
        if self.yields and is_generator(up) != is_generator(out):
            self._problem(up.lineno, out.lineno, f"{up.name} is no longer a generator, or has become one")
        moved = inner.bound ^ inner_other.bound | inner.globals ^ inner_other.globals
        moved |= inner.nonlocals ^ inner_other.nonlocals
        moved.discard(GUARD)
        # A store counts as well as a read: without ``global`` it no longer reaches the module.
        seen = reads(out, inner_other, self._build) | inner_other.bound if moved else set()
        self._moved(up, out, moved & seen, inner, inner_other)
        outer, self.prefix = self.prefix, f"{self.prefix}{up.name}."
        self._suite(up.body, out.body, inner, inner_other, "function")
        self.prefix = outer

    def _moved(self, up: Definition, out: Definition, names: set[str], inner: Scope, inner_other: Scope) -> None:
        """No name belongs to another scope now."""
        for name in sorted(names):
            if _home(name, inner) != _home(name, inner_other):
                self._problem(
                    up.lineno,
                    out.lineno,
                    f"{name!r} in {up.name} is {_home(name, inner_other)} now; it was {_home(name, inner)}",
                )

    def _fewer_choices(self, up: Definition, out: Definition, scope: Scope, other: Scope) -> bool:
        """Is all that differs in a signature that annotations lost choices which rules drop?"""
        if isinstance(up, ast.ClassDef) or isinstance(out, ast.ClassDef):
            return False
        pairs = self.entered.annotated(up.args, out.args, (scope, other), self.prefix + up.name)
        if not pairs:
            return False
        notes = [(part, part.annotation) for pair in pairs for part in pair]
        try:
            for part, _ in notes:
                part.annotation = None
            same = self._header(up, scope) == self._header(out, other)
        finally:
            for part, note in notes:
                part.annotation = note
        self.result.entries += len(pairs) * same
        return same

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
