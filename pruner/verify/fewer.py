"""Is an expression of the output what upstream wrote, less entries of a table that a drop rule names?

Both expressions are walked together. What holds entries may hold fewer, each of them named by a rule for this very
table; everything else must be equal, in the same order. Read from ``ast``, and from nothing that the pruning used.

Blind to keys that are computed.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from pruner.verify.canon import Canon
from pruner.verify.ruled import Ruled
from pruner.verify.scopes import COMPREHENSIONS, Scope

Table = tuple[str, str]  # module, dotted name in it
KEYED = ("dict", "collections.OrderedDict", "typing.OrderedDict", "collections.defaultdict")
FILLED = (
    *KEYED, "frozenset", "set", "list", "tuple", "sorted", "dict.fromkeys", "collections.deque", "types.MappingProxyType",
)  # fmt: skip
LITERALS = ("typing.Literal", "typing_extensions.Literal")


@dataclass(frozen=True, slots=True)
class Row:
    """One element of a display: its key if it has one, its parts, and what it takes in (``**more``, ``*more``)."""

    key: ast.expr | str | None
    parts: tuple[ast.expr, ...]
    inner: ast.expr | None = None


class Fewer:
    """Compares expressions for one table. Answers are how many entries went; None: they differ otherwise."""

    def __init__(self, canon: Canon, ruled: Ruled, scope: Scope, other: Scope, table: Table) -> None:
        self.canon = canon
        self.ruled = ruled
        self.scope, self.other = scope, other  # of upstream, of the output
        self.table = table
        self.spelled = spelled  # how a key is read

    def same(self, up: ast.expr, out: ast.expr) -> bool:
        """Do both mean the same?"""
        return self.canon.value(up, self.scope) == self.canon.value(out, self.other)

    def licensed(self, key: ast.expr | str | None) -> bool:
        """Does a rule drop this entry of the table?"""
        text = key if isinstance(key, str) else self.spelled(key)
        return bool(text) and self.ruled.drops_entry(*self.table, text)

    # -- what tables are made of -----------------------------------------------------------------

    def source(self, up: ast.expr, out: ast.expr, pairs: bool = False) -> int | None:
        """Entries that ``out`` lacks of ``up``, both what a table is made of."""
        if self.same(up, out):
            return 0
        if isinstance(up, ast.Set) and self._names(out, ("set",)) and not (out.args or out.keywords):  # type: ignore[attr-defined]
            out = ast.Set([])  # nothing is left, and `{}` is a dict
        if type(up) is not type(out):
            return None
        if isinstance(up, ast.Dict | ast.List | ast.Tuple | ast.Set):
            return self.rows(_rows(up, pairs), _rows(out, pairs), pairs)
        if isinstance(up, ast.BinOp) and isinstance(out, ast.BinOp):
            if type(up.op) is not type(out.op) or not isinstance(up.op, ast.Add | ast.BitOr):
                return None
            return _both(self.source(up.left, out.left, pairs), self.source(up.right, out.right, pairs)) or (
                self.kind(up, out)
            )
        if isinstance(up, ast.IfExp) and isinstance(out, ast.IfExp):
            if self.canon.test(up.test, self.scope) != self.canon.test(out.test, self.other):
                return None
            return _both(self.source(up.body, out.body, pairs), self.source(up.orelse, out.orelse, pairs))
        if isinstance(up, ast.Call) and isinstance(out, ast.Call):
            return self._call(up, out)
        if isinstance(up, COMPREHENSIONS):
            return self._walked(up, out)
        return self.kind(up, out)

    def rows(self, ups: Sequence[Row], outs: Sequence[Row], pairs: bool = False) -> int | None:
        """Entries of ``ups`` that are not among ``outs``, which follow in the same order."""
        at = count = 0
        for row in ups:
            there = outs[at] if at < len(outs) else None
            if there is not None and self._equal(row, there):
                at += 1
            elif row.inner is None and self.licensed(row.key):
                count += 1
            elif row.inner is not None and there is not None and there.inner is not None:
                found = self.source(row.inner, there.inner, pairs)
                if found is None:
                    return None
                at, count = at + 1, count + found
            else:
                return None
        return count if at == len(outs) else None

    def _equal(self, up: Row, out: Row) -> bool:
        same_key = up.key == out.key if isinstance(up.key, str) or isinstance(out.key, str) else True
        return (
            same_key
            and (up.inner is None) == (out.inner is None)
            and len(up.parts) == len(out.parts)
            and all(self.same(a, b) for a, b in zip(up.parts, out.parts, strict=True))
        )

    def _names(self, node: ast.expr, names: Sequence[str]) -> bool:
        head = self.canon.effects.chain(node.func, self.scope) if isinstance(node, ast.Call) else None
        return head in names

    def _call(self, up: ast.Call, out: ast.Call) -> int | None:
        if not self._names(up, FILLED) or not self.same(up.func, out.func) or len(up.args) != len(out.args):
            return None
        at = 1 if self._names(up, ("collections.defaultdict",)) else 0
        pairs = self._names(up, KEYED)
        count: int | None = self.rows(keywords(up), keywords(out), True) if pairs else 0
        if not pairs and [k.arg for k in up.keywords] != [k.arg for k in out.keywords]:
            return None
        for index, (before, after) in enumerate(zip(up.args, out.args, strict=True)):
            given = self.source(before, after, pairs) if index == at else 0 if self.same(before, after) else None
            count = _both(count, given)
        return count

    def _walked(self, up: ast.expr, out: ast.expr) -> int | None:
        """``{c.key: c for c in [A, B]}``: the entries are those of the list."""
        first, other = up.generators[0], out.generators[0]  # type: ignore[attr-defined]
        found = self.source(first.iter, other.iter) if isinstance(first.iter, ast.List | ast.Tuple | ast.Set) else None
        if not found:
            return None
        before, after = self.canon.value(up, self.scope), self.canon.value(out, self.other)
        (target, _, *tests), (again, _, *others) = before[2][0], after[2][0]
        same = (*before[:2], *before[3:]) == (*after[:2], *after[3:]) and before[2][1:] == after[2][1:]
        return found if same and (target, tests) == (again, others) else None

    # -- types that list choices -----------------------------------------------------------------

    def kind(self, up: ast.expr, out: ast.expr) -> int | None:
        """Choices that the type ``out`` lacks of the type ``up``."""
        if self.same(up, out):
            return 0
        if isinstance(up, ast.Subscript) and isinstance(out, ast.Subscript) and self.same(up.value, out.value):
            if self.canon.effects.chain(up.value, self.scope) in LITERALS:
                return self._choices(up.slice, out.slice)
            return self.kind(up.slice, out.slice)
        if isinstance(up, ast.BinOp) and isinstance(out, ast.BinOp) and isinstance(up.op, ast.BitOr):
            same = isinstance(out.op, ast.BitOr)
            return _both(self.kind(up.left, out.left), self.kind(up.right, out.right)) if same else None
        if isinstance(up, ast.Tuple | ast.List) and type(up) is type(out) and len(up.elts) == len(out.elts):
            count: int | None = 0
            for before, after in zip(up.elts, out.elts, strict=True):
                count = _both(count, self.kind(before, after))
            return count
        return None

    def _choices(self, up: ast.expr, out: ast.expr) -> int | None:
        before = [*up.elts] if isinstance(up, ast.Tuple) else [up]
        after = [*out.elts] if isinstance(out, ast.Tuple) else [out]
        at = count = 0
        for part in before:
            there = after[at] if at < len(after) else None
            nested = self.kind(part, there) if there is not None and isinstance(part, ast.Subscript) else None
            if there is not None and self.same(part, there):
                at += 1
            elif nested is not None:
                at, count = at + 1, count + nested
            elif self.licensed(part):
                count += 1
            else:
                return None
        return count if at == len(after) and after else None

    def whole(self, up: ast.expr, pairs: bool = False) -> int:
        """How many entries a source has, when a rule drops each of them; else 0."""
        if isinstance(up, ast.Dict | ast.List | ast.Tuple | ast.Set):
            counts = [
                (self.whole(row.inner, pairs) if row.inner is not None else int(self.licensed(row.key)))
                for row in _rows(up, pairs)
            ]
        elif isinstance(up, ast.BinOp) and isinstance(up.op, ast.Add | ast.BitOr):
            counts = [self.whole(up.left, pairs), self.whole(up.right, pairs)]
        elif isinstance(up, ast.Call) and self._names(up, FILLED):
            pairs = self._names(up, KEYED)
            at = 1 if self._names(up, ("collections.defaultdict",)) else 0
            counts = [self.whole(part, pairs) for part in up.args[at : at + 1]]
            counts += [int(row.inner is None and self.licensed(row.key)) for row in (keywords(up) if pairs else ())]
        else:
            counts = []
        return sum(counts) if counts and all(counts) else 0


def spelled(node: ast.expr | None) -> str:
    """A key as a rule spells it: a literal's value, a dotted name as written, or a call of one without arguments."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return ast.unparse(node)
    bare = node.func if isinstance(node, ast.Call) and not node.args and not node.keywords else node
    while isinstance(bare, ast.Attribute):
        bare = bare.value
    return ast.unparse(node) if isinstance(bare, ast.Name) and node is not None else ""


def firm(node: ast.expr | None) -> str:
    """:func:`spelled`, but "" for a variable: what ``T.append(name)`` puts in, nobody knows."""
    return "" if isinstance(node, ast.Name) and not node.id[:1].isupper() else spelled(node)


def keywords(call: ast.Call) -> list[Row]:
    """The keyword arguments of a call as entries."""
    return [
        Row(k.arg, (k.value,)) if k.arg is not None else Row(None, (k.value,), k.value)
        for k in call.keywords
    ]  # fmt: skip


def _rows(node: ast.expr, pairs: bool) -> list[Row]:
    if isinstance(node, ast.Dict):
        return [
            Row(key, (key, value)) if key is not None else Row(None, (value,), value)
            for key, value in zip(node.keys, node.values, strict=True)
        ]
    found = []
    for part in node.elts:  # type: ignore[attr-defined]
        if isinstance(part, ast.Starred):
            found.append(Row(None, (part,), part.value))
        elif pairs and isinstance(part, ast.Tuple) and len(part.elts) == 2:
            found.append(Row(part.elts[0], (part,)))
        else:
            found.append(Row(part, (part,)))
    return found


def _both(one: int | None, two: int | None) -> int | None:
    return None if one is None or two is None else one + two
