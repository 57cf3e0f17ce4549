"""One module's edits, from what marking decided in it.

Marking runs on the compact form, whose tuples have no place in the file. The rewriter parses
the file again, lowers the units in which something was decided once more, and walks the two
equal forms side by side: each tuple gets its ``ast`` node, and the decisions get byte offsets.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pruner.edit import merge, separate, trim_end
from pruner.fold.residual import Unit
from pruner.fold.value import Origin, rules_of
from pruner.graph.live import Liveness, Marker
from pruner.model import Cause, Edit, Removal
from pruner.model.ir import Expr, Stmt
from pruner.passes.calls import ABSENT, Call, Function, works_on
from pruner.passes.expressions import ExpressionEditor
from pruner.passes.statements import Plan, StatementEditor
from pruner.scan.statements import StatementLowering, pos_of
from pruner.syntax.text import SourceText


@dataclass(frozen=True, slots=True)
class FileEdits:
    """Merged edits and ledger rows of one file; ``folds`` counts decided places per rule,
    and per fact under ``rule subject``."""

    path: str
    edits: tuple[Edit, ...]
    removals: tuple[Removal, ...]
    folds: tuple[tuple[str, int], ...]
    calls: tuple[tuple[Call, str, int], ...] = ()  # guard, function, its line
    lost: tuple[tuple[Call, str, str], ...] = ()  # guard, function, why it could not be placed


class TracingLowering(StatementLowering):
    """Lowers again what marking decided something in, and remembers which ``ast`` node each expression came from."""

    def __init__(self, data: bytes, plain: set[int]) -> None:
        """``plain``: positions of the definitions and values in which nothing was decided."""
        super().__init__(data)
        self.plain = plain
        self.made: dict[int, ast.expr] = {}
        self.keep: list[Expr] = []  # ids stay valid only while the tuples live
        self.nodes: dict[int, ast.expr] = {}  # id of marking's own tuple → node
        self.joined: dict[int, ast.JoinedStr] = {}
        self._inside: ast.JoinedStr | None = None

    def statement(self, node: ast.stmt) -> Stmt:
        """Lower one statement, or skip it."""
        return SKIPPED if pos_of(node) in self.plain else super().statement(node)

    def expr(self, node: ast.expr | None) -> Expr:
        """Lower and remember."""
        outer = self._inside
        if outer is None and type(node) is ast.JoinedStr:
            self._inside = node
        lowered = super().expr(node)
        self._inside = outer
        if node is not None:
            self.made[id(lowered)] = node
            self.keep.append(lowered)
            if outer is not None:
                self.joined[id(node)] = outer
        return lowered

    def match(self, old: Any, new: Any) -> None:
        """Walk marking's form of a file beside the fresh one: its tuples get the nodes."""
        made, nodes = self.made, self.nodes
        stack = [(old, new)]
        while stack:
            one, other = stack.pop()
            if other is SKIPPED:
                continue
            node = made.get(id(other))
            if node is not None:
                nodes[id(one)] = node
            for pair in zip(one, other, strict=True):
                if type(pair[1]) is tuple:
                    stack.append(pair)


SKIPPED: Stmt = ("skipped",)


def rewrite(
    marker: Marker,
    live: Liveness,
    module: str,
    path: str,
    data: bytes,
    guard: tuple[str, str],
    calls: Sequence[tuple[str, Call]] = (),
) -> FileEdits:
    """Edits of one live module. Raises SyntaxError when ``ast`` cannot read it (it is then left alone).

    ``calls`` are guards by the dotted name of the function that they go into.
    """
    state = live.states[module]
    summary = state.summary
    units: list[Unit] = [state.unit]
    plain: set[int] = set()
    whole: list[Stmt] = []  # functions in which nothing was decided
    plan = Plan()
    for item in state.items:
        inner = False
        for method in item.methods:
            if item.live and not method.live:
                name = f"{module}.{item.names[0]}.{method.stmt[3]}"
                cause = Cause("unreached", (), ("no live code names the method",))
                if method.dropped:
                    cause = Cause("rule", (method.dropped,), (method.dropped,))
                plan.dead[method.stmt[1]] = ("method", name, cause)
            if item.live and method.live and method.decided is not None:
                units.append(method.decided)
                inner = True
            else:
                plain.add(method.stmt[1])
                whole.append(method.stmt)
        if item.live and item.decided is not None:
            units.append(item.decided)
        elif not inner and item.kind in ("def", "class", "value") and item.stmt[0] != "pass":
            plain.add(item.stmt[1])  # (a loop variable has its loop's position, and the loop holds more)
            if item.kind == "def":
                whole.append(item.stmt)
    # What goes without a decision: an import in a function whose module a rule took, or that nobody reads.
    places = {pos >> 16 for pos, _ in (*live.dead_aliases.get(module, ()), *live.stand_ins.get(module, ()))}
    whole = [s for s in whole if places.isdisjoint(range(s[1] >> 16, s[2] + 1))]
    tree = _parsed(data, () if calls else whole)
    lowering = TracingLowering(data, plain)
    lowering.match(summary.body, lowering.block(tree.body))
    pin = _pinner(marker)
    plan.guard = guard
    folds: dict[str, int] = {}
    for unit in units:
        plan.decisions.update(unit.decisions)
        for decision in unit.decisions.values():
            _count(folds, decision.origin)
    inside: dict[int, list[tuple[ast.expr, tuple[str, Any, frozenset[str]]]]] = {}
    lines: list[int] = []
    for unit in units:
        for lowered, kind, detail, origin in unit.remains.actions:
            node = lowering.nodes.get(id(lowered))
            if node is None:
                continue
            _count(folds, origin)
            if id(node) in lowering.joined:
                inside.setdefault(id(lowering.joined[id(node)]), []).append((node, (kind, detail, origin)))
            plan.actions[id(node)] = (kind, detail, origin)
            plan.entries |= kind == "entries"
            lines.append(node.lineno)
    _effects(lowering, plan)
    _dead_items(state, plan)
    for unit in units:
        _dead_globals(state, unit, plan)
    if summary.plain_all:
        _dead_exports(marker, live, state, plan)
    else:
        plan.exports.clear()
    for key in live.dead_aliases.get(module, ()):
        plan.aliases[key] = Cause("orphan", (), ("nothing that is kept reads it",))
    plan.stand_ins = live.stand_ins.get(module, {})
    names = _functions(tree) if calls else {}
    lost = _place_calls(names, calls, plan)
    editor = StatementEditor(path, data, tree, plan, pin)
    editor.expr.lines = sorted(lines)
    if inside:
        plan.fstrings = _fstrings(editor, lowering, inside, plan, pin)
    edits = trim_end(data, separate(data, merge(editor.run())))
    placed = {(call.key, line): call for call, line in editor.calls.placed}
    lines_of = {node.lineno: name for name, nodes in names.items() for node in nodes}
    rows = tuple((call, lines_of[line], line) for (_, line), call in sorted(placed.items()))
    return FileEdits(path, edits, tuple(editor.removals), tuple(sorted(folds.items())), rows, tuple(lost))


def _parsed(data: bytes, whole: Sequence[Stmt]) -> ast.Module:
    """The module's tree, the bodies of these functions left out: half of the time of a file's edits went into parsing it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if whole:
            lines = data.splitlines(keepends=True)
            for stmt in whole:
                _empty(lines, stmt)
            with suppress(SyntaxError):  # a body begins on the line where its function's head ends
                return ast.parse(b"".join(lines))
        return ast.parse(data)


def _empty(lines: list[bytes], stmt: Stmt) -> None:
    """Leave of a function's body one statement on its last line: nodes after it and its own end stay on their lines."""
    body = stmt[6][2]
    first, last = body[0][1] >> 16 if body else 0, stmt[2]
    if first <= stmt[1] >> 16 or last <= first:
        return
    for index in range(first - 1, last - 1):
        lines[index] = b" \n"  # behind a lone \r the line feed alone would end the same line
    lines[last - 1] = b" " * ((stmt[1] & 0xFFFF) + 1) + b"0\n"


def _functions(tree: ast.Module) -> dict[str, list[Function]]:
    """Functions by dotted name; both arms of a test may define one."""
    found: dict[str, list[Function]] = {}
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, prefix = stack.pop()
        for child in ast.iter_child_nodes(node):
            name = prefix
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if not isinstance(child, ast.ClassDef):
                    found.setdefault(prefix + child.name, []).append(child)
                name = f"{prefix}{child.name}."
            if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case)):
                stack.append((child, name))
    return found


def _place_calls(
    names: dict[str, list[Function]], calls: Sequence[tuple[str, Call]], plan: Plan
) -> list[tuple[Call, str, str]]:
    lost = []
    for function, call in calls:
        nodes = names.get(function, [])
        if not nodes:
            lost.append((call, function, ABSENT))
        for node in nodes:
            if call.parameter and not _takes(node, call.parameter):
                if not any(_takes(other, call.parameter) for other in nodes):  # a property and its setter
                    lost.append((call, function, f"which has no parameter {call.parameter}"))
            elif call.after and _deletes(node, call.parameter):
                lost.append((call, function, f"which deletes its parameter {call.parameter}"))
            else:
                plan.calls.setdefault(id(node), []).append(call)
                late = works_on(node, call.parameter) if call.after and call.parameter else 0
                if late:
                    why = f"which may store into {call.parameter} in line {late}, behind the call"
                    lost.append((call, function, why))
    return lost


def _takes(node: Function, parameter: str) -> bool:
    every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg)
    return any(a is not None and a.arg == parameter for a in every)


def _deletes(node: Function, parameter: str) -> bool:
    """``del args``: there is nothing left to ask when the function returns."""
    return any(
        isinstance(part, ast.Name) and part.id == parameter and isinstance(part.ctx, ast.Del) for part in ast.walk(node)
    )


def _count(folds: dict[str, int], origin: Origin) -> None:
    for key in {*rules_of(origin), *origin}:
        folds[key] = folds.get(key, 0) + 1


def _pinner(marker: Marker) -> Any:
    because = {rule.id: rule for rule in marker.policy.rules}

    def pin(origin: Origin) -> Cause:
        names = tuple(sorted(rules_of(origin)))
        chain = tuple(
            f"{n} ({because[n].location.file}:{because[n].location.line}): {because[n].because}"
            for n in names
            if n in because
        )
        return Cause("fact", names, chain)

    return pin


def _dead_items(state: Any, plan: Plan) -> None:
    alive: set[str] = set()
    for item in state.items:
        if item.live:
            alive.update(item.names)
    seen: dict[int, bool] = {}
    for item in state.items:
        seen[item.stmt[1]] = seen.get(item.stmt[1], False) or item.live
    cause = Cause("unreached", (), ("no live code reads the name",))
    for item in state.items:
        if item.live:
            continue
        if item.dropped:
            plan.dead[item.stmt[1]] = (
                item.kind,
                f"{state.summary.module}.{item.names[0]}",
                Cause("rule", (item.dropped,), (item.dropped,)),
            )
        for name in item.names:
            if name not in alive:
                plan.exports[name] = cause
        if (
            item.kind in ("def", "class", "value")
            and not item.dropped
            and not seen[item.stmt[1]]
            and item.stmt[0] != "pass"
        ):
            what = {"def": "function", "class": "class", "value": "variable"}[item.kind]
            plan.dead[item.stmt[1]] = (what, f"{state.summary.module}.{item.names[0]}", cause)
        elif item.kind == "star":
            plan.dead[item.stmt[1]] = ("import", "*", Cause("orphan", (), ("nothing that is kept comes from it",)))


def _dead_globals(state: Any, unit: Unit, plan: Plan) -> None:
    """``global X`` where every binding of X went: nothing of it is left in the function either."""
    for pos, names in unit.globals:
        items = [state.names.get(name, ()) for name in names]
        if all(items) and not any(item.live for found in items for item in found):
            cause = Cause("unreached", (), ("no live code reads the name",))
            plan.dead[pos] = ("variable", f"{state.summary.module}.{names[0]}", cause)


def _dead_exports(marker: Marker, live: Liveness, state: Any, plan: Plan) -> None:
    """Entries of ``__all__`` that name submodules which are gone."""
    for item in state.names.get("__all__", ()):
        value = item.stmt[4] if item.stmt[0] == "=" else ()
        for entry in value[2] if value and value[0] == "t" else ():
            child = f"{state.summary.module}.{entry[1]}" if entry[0] == "c" else ""
            if child in marker.table.paths and entry[1] not in state.names:
                known = live.states.get(child)
                if known is None or not known.executed:
                    plan.exports[entry[1]] = Cause("orphan", (), (f"{child} is gone",))


def _effects(lowering: TracingLowering, plan: Plan) -> None:
    """Operands of decided tests that must still run, as nodes."""
    for pos, decision in plan.decisions.items():
        if decision.action not in ("yes", "no") or decision.detail is None:
            continue
        effect = decision.detail
        known = lowering.nodes.get(id(effect))
        if known is not None:
            plan.effects[pos] = [known]
        else:
            plan.effects[pos] = [lowering.nodes[id(part)] for part in effect[1]]
            plan.effect_words[pos] = "and" if effect[0] == "&" else "or"


def _fstrings(
    editor: StatementEditor, lowering: TracingLowering, inside: dict[int, Any], plan: Plan, pin: Any
) -> list[Edit]:
    """Edits inside f-strings, with positions from LibCST."""
    edits: list[Edit] = []
    text = editor.text
    literals = {id(j): j for j in lowering.joined.values()}
    for key, found in sorted(inside.items(), key=lambda kv: (literals[kv[0]].lineno, literals[kv[0]].col_offset)):
        literal = literals[key]
        start, stop = text.start(literal), text.stop(literal)
        segment = text.data[start:stop]
        from pruner.syntax import fstring  # here: LibCST takes a third of a second, and few files need it

        spans = fstring.fields(segment)
        for value, (first, last) in zip(fstring.formatted(literal), spans, strict=True):
            wanted = {id(node): action for node, action in found}
            own = [n for n in ast.walk(value.value) if id(n) in wanted]
            if not own:
                continue
            code = b"(" + segment[first:last] + b")"
            again = ast.parse(code, mode="eval").body
            actions = {}
            for old, new in zip(ast.walk(value.value), ast.walk(again), strict=True):
                if id(old) in wanted:
                    actions[id(new)] = wanted[id(old)]
            inner = ExpressionEditor(SourceText(code), actions, pin)
            inner.visit(again)
            for edit in inner.edits:
                shift = start + first - 1
                edits.append(Edit(edit.start + shift, edit.stop + shift, edit.text, edit.cause))
    return edits
