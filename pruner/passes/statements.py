"""Edits of statements: folded branches, dead tails, definitions, imports, emptied suites.

Positions are bytes of the original file. Comments: those inside a removed block go with it, a
comment between a removed block and the next statement belongs to the next statement, and the
comment lines directly above a removed definition go with the definition.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pruner.edit import apply, merge
from pruner.model import Cause, Edit, Removal
from pruner.model.ir import position
from pruner.passes.calls import Call, CallEditor
from pruner.passes.expressions import Action, ExpressionEditor
from pruner.syntax.nodes import children
from pruner.syntax.text import SourceText, protected_lines


class Plan:
    """What the analysis decided for one file."""

    def __init__(self) -> None:
        self.decisions: dict[int, Any] = {}
        self.actions: dict[int, Action] = {}
        self.effects: dict[int, list[ast.expr]] = {}  # position → operands that must still run
        self.effect_words: dict[int, str] = {}
        self.dead: dict[int, tuple[str, str, Cause]] = {}  # position → (what, name, cause)
        self.aliases: dict[tuple[int, int], Cause] = {}
        self.exports: dict[str, Cause] = {}  # names that leave __all__
        self.guard: tuple[str, str] = ("", "_prune_guard")  # package and name of the guard module
        self.fstrings: list[Edit] = []
        self.stand_ins: dict[tuple[int, int], tuple[str, str]] = {}
        self.entries = False  # some are taken out
        self.calls: dict[int, list[Call]] = {}  # id of a function's node → guards in it


def place(node: Any) -> int:
    """Position of a statement, as lowering numbers it."""
    return position(node.lineno, node.col_offset)


class StatementEditor:
    """Edits one module."""

    def __init__(self, path: str, data: bytes, tree: ast.Module, plan: Plan, pin: Any) -> None:
        self.path = path
        self.text = SourceText(data)
        self.tree = tree
        self.plan = plan
        self.pin = pin
        self.expr = ExpressionEditor(self.text, plan.actions, pin, self._entries)
        self.edits: list[Edit] = self.expr.edits
        self.removals: list[Removal] = []
        self._protected: set[int] | None = None
        self.function: ast.AST | None = None
        self.choices = {id(n.slice) for n in ast.walk(tree) if isinstance(n, ast.Subscript)} if plan.entries else set()
        self.calls = CallEditor(self.text, plan.guard, plan.calls)
        self._led: dict[int, list[int]] = {}  # line → which edits put a line before it
        self._moved: dict[int, list[Edit]] = {}  # line → edits of its white space, of suites that move left

    def run(self) -> list[Edit]:
        """All edits of the file."""
        self.suite(self.tree.body, None)
        self.edits += self.plan.fstrings + self.calls.moved(self._indent)
        return self.edits

    # -- suites -----------------------------------------------------------------------------

    def suite(self, body: Sequence[ast.stmt], owner: ast.AST | None, force: bool = True) -> bool:
        """Edit a suite. False when nothing of it is left: ``force`` then puts a ``pass`` there."""
        left = [self.statement(node) for node in body]
        if any(left) or body is self.tree.body:
            self._delete([n for n, keep in zip(body, left, strict=True) if not keep], body, left)
        if any(left):
            self._guard_docstring(body, left, owner)
            return True
        if owner is not None and force:
            self._pass(body)
        return False

    def _pass(self, body: Sequence[ast.stmt]) -> None:
        """A suite that lost everything keeps a ``pass``."""
        first, last = body[0], body[-1]
        begin = self.text.first_line(first)
        start = self._begin(first)
        cause = self._cause_of(first)
        if self.text.data[self.text.line_start(begin) : start].strip(b" \t\x0c@"):
            self.edits.append(Edit(start, self.text.stop(last), b"pass", cause))  # `if x: gone()` on one line
            return
        end = self.block_end(last) if hasattr(last, "body") else last.end_lineno or last.lineno
        text = self.text.indent(begin) + b"pass" + self.text.newline
        self.edits.append(Edit(self.text.line_start(begin), self.text.line_stop(end), text, cause))

    def _cause_of(self, node: ast.stmt) -> Cause:
        decision = self.plan.decisions.get(place(node))
        if decision is not None:
            cause: Cause = self.pin(decision.origin)
            return (
                replace(cause, kind="rule")
                if isinstance(decision.detail, tuple) and decision.action == "cut"
                else cause
            )
        dead = self.plan.dead.get(place(node))
        return dead[2] if dead else self.pin(frozenset())

    def _guard_docstring(self, body: Sequence[ast.stmt], left: list[bool], owner: ast.AST | None) -> None:
        """A stray string that is now first would become the docstring."""
        if not isinstance(owner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and body is not self.tree.body:
            return
        first = self._first_left(body, left)
        if first is None or first is body[0]:
            return
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            start = self.text.start(first)
            self.edits.append(Edit(start, start, b"pass; ", self._cause_of(body[0])))

    def _first_left(self, body: Sequence[ast.stmt], left: Sequence[bool] | None = None) -> ast.stmt | None:
        """The statement that now comes first, looking into suites that replaced their ``if``."""
        for index, node in enumerate(body):
            if left is not None and not left[index]:
                continue
            decision = self.plan.decisions.get(place(node))
            action = decision.action if decision is not None else ""
            if place(node) in self.plan.dead or action == "cut":
                continue
            if action in ("yes", "no") and isinstance(node, (ast.If, ast.While)):
                if self._effect(node):
                    return node
                inner = self._first_left(node.body if action == "yes" else node.orelse)
                if inner is not None:
                    return inner
                continue
            return node
        return None

    def _delete(self, gone: list[ast.stmt], body: Sequence[ast.stmt], left: list[bool]) -> None:
        for group in self._groups(body):
            flags = [left[body.index(n)] for n in group]
            if all(flags):
                continue
            if not any(flags):
                self._delete_lines(group[0], group[-1], body)
                continue
            for index, node in enumerate(group):
                if flags[index]:
                    continue
                later = [n for n, f in zip(group[index + 1 :], flags[index + 1 :], strict=True) if f]
                if later:
                    self.edits.append(
                        Edit(self.text.start(node), self.text.start(group[index + 1]), b"", self._cause_of(node))
                    )
                else:
                    before = [n for n, f in zip(group[:index], flags[:index], strict=True) if f][-1]
                    self.edits.append(Edit(self.text.stop(before), self.text.stop(node), b"", self._cause_of(node)))

    def _groups(self, body: Sequence[ast.stmt]) -> list[list[ast.stmt]]:
        """Statements that share lines through ``;``, in one line or behind it (``a = 1; \\``)."""
        groups: list[list[ast.stmt]] = []
        for node in body:
            between = self.text.data[self.text.stop(groups[-1][-1]) : self.text.start(node)] if groups else b""
            if b";" in between.partition(b"#")[0]:
                groups[-1].append(node)
            else:
                groups.append([node])
        return groups

    def _delete_lines(self, first: ast.stmt, last: ast.stmt, body: Sequence[ast.stmt]) -> None:
        text = self.text
        begin = text.first_line(first)
        head = text.data[text.line_start(begin) : text.start(first) if begin == first.lineno else text.line_stop(begin)]
        cause = self._cause_of(first)
        if begin == first.lineno and head.strip():
            self.edits.append(Edit(text.start(first), text.stop(last), b"", cause))  # after `if x:` on the same line
            return
        end = last.end_lineno or last.lineno
        if hasattr(last, "body"):
            end = self.block_end(last, body)
        if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and place(first) in self.plan.dead:
            while begin > 1 and text.comment(begin - 1) and text.indent(begin - 1) == text.indent(begin) and begin > 2:
                begin -= 1
        stop = end
        if begin == 1 or text.blank(begin - 1):
            while stop < len(text.lines) and text.blank(stop + 1):
                stop += 1
        self.edits.append(Edit(text.line_start(begin), text.line_stop(stop), b"", cause))

    def block_end(self, node: ast.stmt, body: Sequence[ast.stmt] | None = None) -> int:
        """Last line of a compound statement with the comments that are indented under it."""
        text = self.text
        end = node.end_lineno or node.lineno
        outer = len(text.indent(text.first_line(node)))
        line = end + 1
        while line <= len(text.lines) and (text.blank(line) or text.comment(line)):
            if text.comment(line):
                if len(text.indent(line)) <= outer:
                    break
                end = line
            line += 1
        return end

    # -- statements ---------------------------------------------------------------------------

    def statement(self, node: ast.stmt) -> bool:
        """Edit one statement. False when nothing of it is left: the suite deletes it."""
        pos = place(node)
        dead = self.plan.dead.get(pos)
        if dead is not None:
            self._record(node, dead[0], dead[1], dead[2])
            return False
        decision = self.plan.decisions.get(pos)
        if decision is not None and decision.action == "cut":
            if isinstance(decision.detail, tuple):
                what, name = decision.detail
                self._record(node, what, name, self._cause_of(node))
            else:
                self._record(node, decision.detail or "tail", "", self.pin(decision.origin))
            return self._hoist([node])
        if decision is not None and decision.action == "guard":
            return self._guarded(node, decision)
        method = getattr(self, "_" + type(node).__name__, None)
        if method is not None:
            return bool(method(node))
        self._plain(node)
        return True

    def _record(self, node: ast.stmt, what: str, name: str, cause: Cause) -> None:
        self.removals.append(
            Removal(self.path, self.text.first_line(node), node.end_lineno or node.lineno, what, name, cause)
        )

    def _entries(self, node: ast.expr, gone: tuple[tuple[int, str], ...], rules: frozenset[str]) -> None:
        """Entries of a display, keywords of a call or choices of a ``Literal`` that drop rules name, each with its rule."""
        if isinstance(node, ast.Call):
            nodes: list[tuple[Any, Any]] = [(k, k) for k in [*node.args, *node.keywords]]
            nodes.sort(key=lambda pair: self.text.start(pair[0]))
            taken = {id(node.keywords[index]): rule for index, rule in gone}
            gone = tuple((i, taken[id(part)]) for i, (part, _) in enumerate(nodes) if id(part) in taken)
        elif isinstance(node, ast.Dict):
            nodes = [(k or v, v) for k, v in zip(node.keys, node.values, strict=True)]
        else:
            nodes = [(e, e) for e in node.elts]  # type: ignore[attr-defined]
        for index, rule in gone:
            first, last = nodes[index]
            name = f"[{entry_key(first, index)}]"
            cause = replace(self.pin(frozenset({rule})), kind="rule")
            self.removals.append(Removal(self.path, first.lineno, last.end_lineno, "entry", name, cause))
        self._take_out(node, nodes, [index for index, _ in gone], replace(self.pin(rules), kind="rule"))

    def _take_out(self, value: ast.expr, nodes: Sequence[tuple[Any, Any]], dead: list[int], cause: Cause) -> None:
        """Take elements, (first, last) node each, out of a display that stays what it is."""
        text = self.text
        kept = [i for i in range(len(nodes)) if i not in dead]
        choices = id(value) in self.choices
        bare = isinstance(value, ast.Tuple) and text.data[text.start(value) : text.start(value) + 1] != b"("
        if not kept and (isinstance(value, ast.Set) or bare):
            empty = b"()" if bare else b"set()"  # `{}` is a dict, and nothing at all is no tuple
            self.edits.append(Edit(text.start(value), text.stop(value), empty, cause))
            return
        elements = self._spans(value, nodes)
        before = len(self.edits)
        self._remove_spans(elements, dead, cause)
        if isinstance(value, ast.Tuple) and len(kept) == 1 and not choices:
            stop = elements[kept[0]][1]
            rest = bytearray(text.data[stop : text.stop(value)])
            for edit in self.edits[before:]:
                for at in range(max(edit.start, stop), min(edit.stop, stop + len(rest))):
                    rest[at - stop] = 0x20
            if b"," not in re.sub(rb"#[^\n]*", b"", bytes(rest)):
                self.edits.append(Edit(stop, stop, b",", cause))  # a tuple of one keeps its comma

    def _spans(self, container: ast.expr, nodes: Sequence[tuple[Any, Any]]) -> list[tuple[int, int]]:
        """Where the elements of a display stand, with their own parentheses and ``**``."""
        text = self.text
        spans: list[tuple[int, int]] = []
        left = text.start(container)
        if isinstance(container, ast.Call):
            left = text.stop(container.func)
            while text.data[left : left + 1] != b"(":  # `(dict)(x=1)`
                left = text.trim_left(left + (text.data[left : left + 1] == b")"), text.stop(container))
        if text.data[left : left + 1] in (b"(", b"[", b"{"):
            left += 1
        limit = text.stop(container)
        if text.data[limit - 1 : limit] in (b")", b"]", b"}"):
            limit -= 1
        for index, (first, last) in enumerate(nodes):
            start = text.trim_left(left, text.start(first))
            stop = at = text.stop(last)
            bound = text.start(nodes[index + 1][0]) if index + 1 < len(nodes) else limit
            left = bound
            while at < bound:
                at = text.trim_left(at, bound)
                byte = text.data[at : at + 1] if at < bound else b""
                if byte == b")":
                    stop = at + 1
                elif byte == b",":
                    left = at + 1
                    break
                at += 1
            spans.append((start, stop))
        return spans

    def _plain(self, node: ast.AST) -> None:
        if (
            isinstance(node, ast.Assign)
            and len(node.targets) == 1
            and isinstance(node.targets[0], ast.Name)
            and node.targets[0].id == "__all__"
        ):
            self._exports(node.value)
        for child in children(node):
            if isinstance(child, ast.expr):
                self.expr.visit(child)
            elif not isinstance(child, ast.stmt):
                self._plain(child)

    def _guard_import(self) -> str:
        package, name = self.plan.guard
        return f"from {package} import {name}" if package else f"import {name}"

    def _guarded(self, node: ast.stmt, decision: Any) -> bool:
        """A lazy import of something dropped becomes a call that says so."""
        name, rule, *bound = decision.detail
        call = f"{self.plan.guard[1]}.removed({name!r}, {rule!r})"
        text = f"{self._guard_import()}; {' = '.join([*bound, call])}"
        cause = Cause("guard", (rule,), (f"{name} is dropped",))
        self.edits.append(Edit(self.text.start(node), self.text.stop(node), text.encode(), cause))
        self._record(node, "import", name, Cause("rule", (rule,), (f"{name} is dropped",)))
        return True

    def _stand_in(self, node: Any, dead: list[int]) -> bool:
        """An import of something dropped whose alias is still read: the aliases become stand-ins."""
        pos = place(node)
        parts = [self._guard_import()]
        for index, alias in enumerate(node.names):
            known = self.plan.stand_ins.get((pos, index))
            if known is None:
                continue
            bound = alias.asname or alias.name.split(".")[0]
            parts.append(f"{bound} = {self.plan.guard[1]}.stand_in({known[0]!r}, {known[1]!r})")
            cause = Cause("rule", (known[1],), (f"{known[0]} is dropped",))
            self.removals.append(
                Removal(self.path, alias.lineno, alias.end_lineno or alias.lineno, "import", bound, cause)
            )
        rules = tuple(sorted({r for (p, _), (_, r) in self.plan.stand_ins.items() if p == pos}))
        edit_cause = Cause("guard", rules, ("a dropped name that is still read",))
        gone = [i for i in range(len(node.names)) if i in dead or (pos, i) in self.plan.stand_ins]
        if len(gone) == len(node.names):
            self.edits.append(Edit(self.text.start(node), self.text.stop(node), "; ".join(parts).encode(), edit_cause))
        else:
            self._remove_elements(node.names, gone, edit_cause)
            start = self.text.start(node)
            self.edits.append(Edit(start, start, ("; ".join(parts) + "; ").encode(), edit_cause))
        return True

    def _FunctionDef(self, node: Any) -> bool:
        for part in [*node.decorator_list, node.args, node.returns]:
            if part is not None:
                self.expr.visit(part)
        outer, self.function = self.function, node
        around, self._class = self._class, None
        self.suite(node.body, node)
        self.calls.function(node, self.block_end(node.body[-1]))
        self.function, self._class = outer, around
        return True

    _AsyncFunctionDef = _FunctionDef

    def _Return(self, node: ast.Return) -> bool:
        self.calls.before_return(self.function, node)
        self._plain(node)
        return True

    def _ClassDef(self, node: ast.ClassDef) -> bool:
        for part in [*node.decorator_list, *node.bases, *node.keywords]:
            self.expr.visit(part)
        outer, self._class = self._class, node
        self.suite(node.body, node)
        self._class = outer
        return True

    _class: ast.ClassDef | None = None  # the class around, inside the function around

    def _For(self, node: Any) -> bool:
        self.expr.visit(node.target)
        self.expr.visit(node.iter)
        self.suite(node.body, node)
        self._optional(node, node.body, node.orelse, b"else")
        return True

    _AsyncFor = _For

    def _With(self, node: Any) -> bool:
        for item in node.items:
            self.expr.visit(item)
        self.suite(node.body, node)
        return True

    _AsyncWith = _With

    def _Try(self, node: Any) -> bool:
        self.suite(node.body, node)
        for handler in node.handlers:
            if handler.type is not None:
                self.expr.visit(handler.type)
            self.suite(handler.body, handler)
        if node.orelse:
            self.suite(node.orelse, node)
        if node.finalbody:
            self.suite(node.finalbody, node)
        return True

    _TryStar = _Try

    def _Match(self, node: ast.Match) -> bool:
        self.expr.visit(node.subject)
        decision = self.plan.decisions.get(place(node))
        gone = decision.detail if decision is not None and decision.action == "case" else ()
        cause = self.pin(decision.origin if decision is not None else frozenset())
        for index, case in enumerate(node.cases):
            if index in gone:
                words = self.text.keywords(self.text.stop(node.subject), self.text.start(case.pattern))
                word = [w for w in words if w[0] == b"case"][-1] if words else (b"", self.text.start(case.pattern), 0)
                start = self.text.data.rfind(b"\n", 0, word[1]) + 1
                stop = self.text.line_stop(case.body[-1].end_lineno or case.body[-1].lineno)
                self.edits.append(Edit(start, stop, b"", cause))
                last = case.body[-1].end_lineno or 0
                self.removals.append(Removal(self.path, case.pattern.lineno, last, "branch", "", cause))
                continue
            if case.guard is not None:
                self.expr.visit(case.guard)
            self.suite(case.body, case)
        return True

    def _optional(self, node: ast.stmt, before: Sequence[ast.stmt], body: Sequence[ast.stmt], word: bytes) -> None:
        """An ``else`` part: edited, and removed when nothing of it is left."""
        if not body:
            return
        if not self.suite(body, node, force=False):
            start = self._else_line(before[-1], body[0], word)
            stop = self._suite_end(body, node)
            self.edits.append(Edit(start, stop, b"", self._cause_of(body[0])))

    def _else_line(self, before: ast.stmt, first: ast.stmt, word: bytes = b"else") -> int:
        """Offset of the line that holds the ``else`` between two suites."""
        found = [k for k in self.text.keywords(self.text.stop(before), self._begin(first)) if k[0] == word]
        offset = found[-1][1]
        line = self.text.data.rfind(b"\n", 0, offset) + 1
        return line if not self.text.data[line:offset].strip() else offset

    def _begin(self, node: ast.stmt) -> int:
        decorators = getattr(node, "decorator_list", [])
        return min([self.text.start(node), *(self.text.start(d) for d in decorators)])

    def _suite_end(self, body: Sequence[ast.stmt], owner: ast.stmt) -> int:
        """Offset just past a suite, with its trailing comments."""
        text = self.text
        outer = len(text.indent(owner.lineno))
        end = body[-1].end_lineno or body[-1].lineno
        line = end + 1
        while line <= len(text.lines) and (text.blank(line) or text.comment(line)):
            if text.comment(line):
                if len(text.indent(line)) <= outer:
                    break
                end = line
            line += 1
        return text.line_stop(end)

    # -- if, while -----------------------------------------------------------------------------

    def _If(self, node: ast.If) -> bool:
        outer, self._head = self._head, node
        left = self.fold_if(node, self.text.start(node), [])
        self._head = outer
        return left

    _head: ast.If | None = None  # the `if` whose chain is being edited

    def _hoist_before_head(self, body: Sequence[ast.stmt]) -> None:
        """``global`` of a dead arm whose place goes: it moves in front of the whole chain."""
        head = self._head
        if head is None:
            return
        start = self.text.start(head)
        for text in self._hoisted(body):
            self._led.setdefault(head.lineno, []).append(len(self.edits))
            self.edits.append(
                Edit(start, start, text + self.text.newline + self.text.indent(head.lineno), self._head_cause)
            )

    def fold_if(self, node: ast.If, lead: int, before: list[bytes], promoted: bool = False) -> bool:
        """An ``if`` at statement position; ``lead`` is where its text has to begin.

        ``before``: statements that the heads above a promoted ``elif`` leave in front of it.
        """
        decision = self.plan.decisions.get(place(node))
        if decision is not None and decision.action in ("yes", "no"):
            cause = self.pin(decision.origin)
            before = before + self._effect(node)
            if decision.action == "yes":
                return self._take_body(node, lead, node.body, cause, before)
            self._dead_part(node, node.body, cause)
            if node.orelse and not self._is_elif(node):
                return self._take_body(node, lead, node.orelse, cause, before)
            before = self._hoisted(node.body) + before
            if node.orelse:
                return self.fold_if(node.orelse[0], lead, before, promoted=True)  # type: ignore[arg-type]
            if before:
                self._replace(lead, self._node_end(node), self._lines(before, node), node, cause)
            return bool(before)
        if promoted:
            # `elif x` becomes `if x`: everything before it goes, and so do the letters "el".
            prefix = self._lines([*before, b""], node)
            self.edits.append(Edit(lead, self.text.start(node) + 2, prefix, self._head_cause))
        return self._undecided(node)

    def _lines(self, parts: list[bytes], node: ast.stmt) -> bytes:
        return (self.text.newline + self.text.indent(node.lineno)).join(parts)

    _head_cause: Cause = Cause("fact")

    def _undecided(self, node: ast.If) -> bool:
        self.expr.visit(node.test)
        self.suite(node.body, node)
        if not node.orelse:
            return True
        if self._is_elif(node):
            self._elif(node, node.orelse[0])  # type: ignore[arg-type]
        else:
            self._optional(node, node.body, node.orelse, b"else")
        return True

    def _elif(self, parent: ast.If, node: ast.If) -> None:
        """An ``elif`` whose head stays."""
        decision = self.plan.decisions.get(place(node))
        if decision is None or decision.action not in ("yes", "no"):
            if decision is not None and decision.action == "freeze" and decision.detail and not node.orelse:
                colon = self.text.colon_after(self._after_test(node))  # `elif True:` is an `else:`
                self.edits.append(Edit(self.text.start(node), colon, b"else:", self.pin(decision.origin)))
                self.suite(node.body, node)
                return
            self._undecided(node)
            return
        cause = self.pin(decision.origin)
        start = self.text.line_start(node.lineno)
        if decision.action == "yes":
            colon = self.text.colon_after(self._after_test(node))
            self.edits.append(Edit(self.text.start(node), colon, b"else:", cause))
            self._drop_rest(node, cause)
            self._hoist_before_head(node.orelse)
            if not self.suite(node.body, parent, force=False):
                self.edits.append(Edit(start, self._suite_end(node.body, node), b"", cause))
            return
        self._dead_part(node, node.body, cause)
        self._hoist_before_head(node.body)
        if not node.orelse:
            self.edits.append(Edit(start, self._suite_end(node.body, node), b"", cause))
        elif self._is_elif(node):
            following: ast.If = node.orelse[0]  # type: ignore[assignment]
            self.edits.append(Edit(start, self.text.line_start(following.lineno), b"", cause))
            self._elif(parent, following)
        else:
            line = self._else_line(node.body[-1], node.orelse[0])
            self.edits.append(Edit(start, line, b"", cause))
            if not self.suite(node.orelse, parent, force=False):
                self.edits.append(Edit(start, self._suite_end(node.orelse, node), b"", cause))

    def _is_elif(self, node: ast.If) -> bool:
        return (
            len(node.orelse) == 1
            and isinstance(node.orelse[0], ast.If)
            and self.text.data[self.text.start(node.orelse[0]) :].startswith(b"elif")
        )

    def _after_test(self, node: Any) -> int:
        """Offset past the test and the parentheses around it."""
        return self.text.stop(node.test)

    def _drop_rest(self, node: ast.If, cause: Cause) -> None:
        """The else part of an ``if`` whose body stays."""
        if not node.orelse:
            return
        self._dead_part(node, node.orelse, cause)
        first = node.orelse[0]
        if self._is_elif(node):
            start = self.text.line_start(first.lineno)
        else:
            start = self._else_line(node.body[-1], first)
        self.edits.append(Edit(start, self._suite_end(node.orelse, node), b"", cause))

    def _dead_part(self, node: Any, body: Sequence[ast.stmt], cause: Cause) -> None:
        """Ledger row of an arm that goes, with the line of its ``if``, ``elif`` or ``else``."""
        if body is node.body:
            first = node.lineno
        else:
            first = self.text.data.count(b"\n", 0, self._arm_start(node, body)) + 1
        self.removals.append(Removal(self.path, first, body[-1].end_lineno or 0, "branch", "", cause))
        self._head_cause = cause

    def _arm_start(self, node: Any, body: Sequence[ast.stmt]) -> int:
        if isinstance(node, ast.If) and self._is_elif(node):
            return self.text.start(body[0])
        return self._else_line(node.body[-1], body[0])

    def _take_body(self, node: Any, lead: int, body: Sequence[ast.stmt], cause: Cause, before: list[bytes]) -> bool:
        """Replace ``if test: body else: other`` by one of its suites, after the statements ``before``."""
        text = self.text
        first = body[0]
        if body is node.body:
            head_stop = text.colon_after(self._after_test(node))
            last = text.data.count(b"\n", 0, head_stop) + 1
            if last < body[0].lineno:
                self.removals.append(Removal(self.path, node.lineno, last, "test", "", cause))
            self._drop_rest(node, cause)
        else:
            line = self._else_line(node.body[-1], first)
            word = [k for k in text.keywords(line, self._begin(first)) if k[0] == b"else"][-1]
            head_stop = text.colon_after(word[2])
        left = self.suite(body, None, force=False)
        before = self._hoisted(self._other(node, body)) + before
        if not left and not before:
            return False
        if not left:
            self._replace(lead, self._node_end(node), self._lines(before, node), node, cause)
            return True
        prefix = self._lines([*before, b""], node)
        same_line = first.lineno == text.data.count(b"\n", 0, head_stop) + 1
        if same_line:
            self.edits.append(Edit(lead, text.start(first), prefix, cause))
            return True
        # The header goes up to the end of its line; the suite moves left to the indentation of the `if`.
        header_line = text.data.count(b"\n", 0, head_stop) + 1
        start = text.line_start(text.data.count(b"\n", 0, lead) + 1)
        if prefix:
            self.edits.append(Edit(lead, text.line_stop(header_line), prefix.rstrip(b" \t"), cause))
        else:
            self.edits.append(Edit(start, text.line_stop(header_line), b"", cause))
        self._dedent(
            header_line + 1,
            self._suite_end_line(body, node),
            text.indent(text.first_line(first)),
            text.indent(node.lineno),
            cause,
        )
        return True

    def _other(self, node: Any, body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
        return node.orelse if body is node.body else node.body  # type: ignore[no-any-return]

    def _suite_end_line(self, body: Sequence[ast.stmt], node: ast.stmt) -> int:
        offset = self._suite_end(body, node)
        return self.text.data.count(b"\n", 0, offset) + (0 if self.text.data[offset - 1 : offset] == b"\n" else 1)

    def _dedent(self, first: int, last: int, old: bytes, new: bytes, cause: Cause) -> None:
        if self._protected is None:
            self._protected = protected_lines(self.tree)
        for number in range(first, last + 1):
            line = self.text.line(number)
            if number in self._protected or not line.startswith(old):
                continue
            start = self.text.line_start(number)
            if old.startswith(new):
                self.edits.append(Edit(start + len(new), start + len(old), b"", cause))
            else:  # a suite may be indented by other characters than the one around it
                self.edits.append(Edit(start, start + len(old), new, cause))
            self._moved.setdefault(number, []).append(self.edits[-1])
            for index in self._led.get(number, ()):  # a line that was put before this one
                led = self.edits[index]
                text = led.text.replace(self.text.newline + old, self.text.newline + new)
                self.edits[index] = replace(led, text=text)

    def _indent(self, line: int) -> bytes:
        """The white space before a line in the output."""
        start, left = self.text.line_start(line), self.text.indent(line)
        for edit in sorted(self._moved.get(line, ()), key=lambda edit: edit.start, reverse=True):
            left = left[: edit.start - start] + edit.text + left[edit.stop - start :]
        return left

    def _While(self, node: ast.While) -> bool:
        decision = self.plan.decisions.get(place(node))
        if decision is not None and decision.action == "no":
            cause = self.pin(decision.origin)
            effect = self._effect(node)
            self._dead_part(node, node.body, cause)
            if not node.orelse:
                if effect:
                    effect = self._hoisted(node.body) + effect
                    self._replace(self.text.start(node), self._node_end(node), self._lines(effect, node), node, cause)
                    return True
                return self._hoist(node.body, self.text.start(node), node)
            return self._take_body(node, self.text.start(node), node.orelse, cause, effect)
        self.expr.visit(node.test)
        self.suite(node.body, node)
        self._optional(node, node.body, node.orelse, b"else")
        return True

    def _node_end(self, node: ast.stmt) -> int:
        end = self.block_end(node)
        stop = self.text.line_stop(end)
        return stop - (len(self.text.line(end)) - len(self.text.line(end).rstrip(b"\r\n")))

    def _replace(self, start: int, stop: int, text: bytes, node: ast.stmt, cause: Cause) -> None:
        self.edits.append(Edit(start, stop, text, cause))

    def _effect(self, node: Any) -> list[bytes]:
        """Source of what a decided test must still do: one statement, or none."""
        parts = self.plan.effects.get(place(node))
        if not parts:
            return []
        word = self.plan.effect_words.get(place(node), "and")
        texts = []
        for part in parts:
            editor = ExpressionEditor(self.text, self.plan.actions, self.pin)
            editor.visit(part)
            start, stop = self.text.start(part), self.text.stop(part)
            editor.edits += [e for e in self.plan.fstrings if start <= e.start and e.stop <= stop]
            moved = [Edit(e.start - start, e.stop - start, e.text, e.cause) for e in merge(editor.edits)]
            text = apply(self.text.data[start:stop], moved)
            closed = isinstance(part, (ast.NamedExpr, ast.BoolOp, ast.IfExp, ast.Lambda)) and len(parts) > 1
            texts.append(b"(" + text + b")" if closed or isinstance(part, ast.NamedExpr) else text)
        joined = f" {word} ".encode().join(texts)
        return [b"(" + joined + b")" if b"\n" in joined and not joined.startswith(b"(") else joined]

    # -- global statements act on the whole function, wherever they stand --------------------------

    def _hoisted(self, body: Sequence[ast.stmt]) -> list[bytes]:
        """The statements that the rest of the function needs, as one line, or none."""
        scope = self._class or self.function
        if scope is None:
            return []
        found: list[tuple[int, bytes]] = []
        inside = {id(n) for stmt in body for n in ast.walk(stmt)}
        for stmt in body:
            for inner in _own(stmt):
                if isinstance(inner, (ast.Global, ast.Nonlocal)):
                    names = set(inner.names)
                    if any(id(n) not in inside and names & _named(n) for n in ast.walk(scope)):
                        start = self.text.start(inner)
                        found.append((start, self.text.data[start : self.text.stop(inner)]))
        # On one line: the suite around it may move left, and a second line would keep its old white space.
        return [b"; ".join(text for _, text in sorted(found))] if found else []

    def _hoist(self, body: Sequence[ast.stmt], lead: int | None = None, node: ast.stmt | None = None) -> bool:
        """Delete, but for ``global`` statements that the rest of the function needs."""
        hoisted = self._hoisted(body)
        if not hoisted:
            return False
        target = node or body[0]
        start = self.text.start(target) if lead is None else lead
        self.edits.append(Edit(start, self._node_end(target), hoisted[0], self._head_cause))
        return True

    # -- imports and __all__ ------------------------------------------------------------------------

    def _Import(self, node: Any) -> bool:
        pos = place(node)
        dead = [i for i in range(len(node.names)) if (pos, i) in self.plan.aliases]
        if not dead and not any(p == pos for p, _ in self.plan.stand_ins):
            return True
        causes = [self.plan.aliases[pos, i] for i in dead]
        for index, cause in zip(dead, causes, strict=True):
            alias = node.names[index]
            self.removals.append(
                Removal(
                    self.path,
                    alias.lineno,
                    alias.end_lineno or alias.lineno,
                    "import",
                    alias.asname or alias.name,
                    cause,
                )
            )
        if any(p == pos for p, _ in self.plan.stand_ins):
            return self._stand_in(node, dead)
        if len(dead) == len(node.names):
            self.plan.dead[pos] = ("import", "", causes[0])
            return False
        self._remove_elements(node.names, dead, causes[0])
        return True

    _ImportFrom = _Import

    def _exports(self, value: ast.expr) -> None:
        if not isinstance(value, (ast.List, ast.Tuple)):
            return
        dead = [i for i, e in enumerate(value.elts) if isinstance(e, ast.Constant) and e.value in self.plan.exports]
        if not dead:
            return
        cause = self.plan.exports[value.elts[dead[0]].value]  # type: ignore[attr-defined]
        for index in dead:
            element = value.elts[index]
            self.removals.append(
                Removal(
                    self.path,
                    element.lineno,
                    element.end_lineno or 0,
                    "entry",
                    f"__all__[{entry_key(element, index)}]",
                    cause,
                )
            )
        self._take_out(value, [(e, e) for e in value.elts], dead, cause)

    def _remove_elements(self, elements: Sequence[Any], dead: list[int], cause: Cause) -> None:
        """Take nodes out of a comma separated list."""
        self._remove_spans([(self.text.start(e), self.text.stop(e)) for e in elements], dead, cause)

    def _remove_spans(self, elements: Sequence[tuple[int, int]], dead: list[int], cause: Cause) -> None:
        """Take elements out of a comma separated list; an element alone on its lines takes the lines."""
        text = self.text
        kept = [i for i in range(len(elements)) if i not in dead]
        for index in dead:
            start, stop = elements[index]
            line_start = text.data.rfind(b"\n", 0, start) + 1
            line_stop = text.data.find(b"\n", stop) + 1 or len(text.data)
            tail = text.data[stop:line_stop].strip()
            rest = tail.lstrip(b", ")
            alone = not text.data[line_start:start].strip() and (not rest or rest.startswith(b"#"))
            after = text.trim_left(stop, len(text.data))
            alone = alone and (after < line_stop or text.data[after : after + 1] != b",")  # it may lead a later line
            # The line above may run on into this one: `from m import a, \\`.
            continued = text.data[:line_start].rstrip(b"\r\n").endswith(b"\\")
            if alone and not continued:
                self.edits.append(Edit(line_start, line_stop, b"", cause))
            elif any(k > index for k in kept):
                self.edits.append(Edit(start, elements[index + 1][0], b"", cause))
            elif kept:
                self.edits.append(Edit(elements[kept[-1]][1], stop, b"", cause))
            else:
                comma = text.data.find(b",", stop)
                last = index == len(elements) - 1
                end = (
                    stop if last and text.data[stop : comma + 1].strip() != b"," else comma + 1 if comma >= 0 else stop
                )
                self.edits.append(Edit(start, end, b"", cause))


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def _named(node: ast.AST) -> set[str]:
    """Names that this very node reads, binds or deletes: ``x``, ``import x``, ``def x``, ``except E as x``, ``case [*x]``."""
    if isinstance(node, ast.alias):
        return {node.asname or node.name.partition(".")[0]}
    found = (getattr(node, field, None) for field in ("id", "name", "rest"))
    return {name for name in found if isinstance(name, str)}


def _own(node: ast.AST) -> list[ast.AST]:
    """Nodes of a statement that are not in a nested function or class."""
    found: list[ast.AST] = [node]
    if isinstance(node, _SCOPES):
        return found
    stack: list[ast.AST] = [node]
    while stack:
        current = stack.pop()
        for child in ast.iter_child_nodes(current):
            if not isinstance(child, _SCOPES):
                found.append(child)
                stack.append(child)
    return found


def entry_key(node: ast.expr | ast.keyword, index: int) -> str:
    """What the ledger calls an entry: its literal key or dotted name, as a rule writes it; else its place."""
    if isinstance(node, ast.keyword):
        return node.arg or str(index)
    if isinstance(node, ast.Tuple) and len(node.elts) == 2:
        return entry_key(node.elts[0], index)  # dict([("x", X)])
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int):
        return str(node.value)
    if isinstance(node, ast.Name | ast.Attribute) or (
        isinstance(node, ast.Call) and not node.args and not node.keywords
    ):
        return ast.unparse(node)
    return str(index)
