"""Values of operators: ``not``, ``and``, comparisons, conditional expressions, f-strings."""

from __future__ import annotations

import ast
from typing import Any

from pruner.verify import values as v
from pruner.verify.chains import Chains
from pruner.verify.rules import Const
from pruner.verify.scopes import Scope
from pruner.verify.values import UNKNOWN, Val

Held = tuple[Const, ...] | frozenset[Const]
_SAME = frozenset({"Eq", "NotEq", "Is", "IsNot"})
COPIES = frozenset({"frozenset", "set", "list", "tuple", "sorted"})


class Operators(Chains):
    """What an operator gives, from what its operands give."""

    def _Constant(self, node: ast.Constant, scope: Scope) -> Val:
        if node.value is None or isinstance(node.value, bool | int | float | str):
            return v.const(node.value)
        return UNKNOWN

    def _UnaryOp(self, node: ast.UnaryOp, scope: Scope) -> Val:
        inner = self.value(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return v.const(not inner.truth, inner.stated) if inner.truth is not None else v.BOOLEAN
        if isinstance(node.op, ast.USub) and inner.exact and inner.consts is not None:
            value = inner.consts[0]
            if isinstance(value, int | float) and not isinstance(value, bool):
                return v.const(-value, inner.stated)
        return UNKNOWN

    def _BoolOp(self, node: ast.BoolOp, scope: Scope) -> Val:
        stop = isinstance(node.op, ast.Or)
        found: list[Val] = []
        for item in node.values:
            found.append(self.value(item, scope))
            if found[-1].truth == stop:
                break  # what stands behind it is never evaluated
        last = found[-1]
        stated = any(val.stated for val in found)
        fresh = any(val.fresh for val in found)
        if all(val.truth is not None for val in found):
            return Val(last.consts, last.truth, last.boolean, stated, last.bounds, fresh=fresh)
        # Past an unknown operand only the truth can be known: x and False is falsy, not False.
        boolean = all(val.boolean for val in found)
        if last.truth == stop:
            return Val((stop,) if boolean else None, stop, boolean, stated, fresh=fresh)
        return Val(boolean=boolean, fresh=fresh)

    def _Compare(self, node: ast.Compare, scope: Scope) -> Val:
        if len(node.ops) != 1:  # 80 <= sm() < 90: each pair by itself
            sides = [node.left, *node.comparators]
            pairs = [ast.Compare(a, [op], [b]) for a, op, b in zip(sides, node.ops, sides[1:], strict=False)]
            each = [self._Compare(pair, scope) for pair in pairs]
            decided = (
                False if any(one.truth is False for one in each) else True if all(one.truth for one in each) else None
            )
            return v.const(decided, any(one.stated for one in each)) if decided is not None else UNKNOWN
        name, right_node = type(node.ops[0]).__name__, node.comparators[0]
        alike = self._tuples(node.left, name, right_node, scope)
        if alike is not None:
            return v.const(alike, True)
        alike = self._whole(node.left, name, right_node, scope)
        if alike is not None:
            return v.const(alike, True)
        left = self.value(node.left, scope)
        boolean = v.BOOLEAN if name in ("Is", "IsNot", "In", "NotIn") else UNKNOWN
        if name in ("In", "NotIn") and isinstance(right_node, ast.Tuple | ast.List | ast.Set):
            if all(isinstance(e, ast.Attribute) and self.classes.gone(self.value(e, scope)) for e in right_node.elts):
                return v.const(name == "NotIn", True)  # nothing is a member that a rule drops, and nothing is in []
        if name in ("In", "NotIn"):
            container = self.members(right_node, scope)
            if container is not None:
                answer = v.contains(left, container, name == "NotIn")
                return v.const(answer, True) if answer is not None else boolean
        right = self.value(right_node, scope)
        answer = v.compare(left, name, right)
        if answer is None:
            answer = self.classes.different(left, name, right)
        if answer is None:
            answer = self.classes.impossible(left, name, right)
        if answer is None:
            return v.BOOLEAN if left.consts is not None and right.consts is not None else boolean
        return v.const(answer, left.stated or right.stated or bool(left.member or right.member))

    def _tuples(self, left: ast.expr, name: str, right: ast.expr, scope: Scope) -> bool | None:
        """``(is_hip(), kind()) == (True, "x")``, and ``in`` of a display of tuples: item by item, as far as it is known."""
        if not isinstance(left, ast.Tuple):
            return None
        if name in ("Eq", "NotEq") and isinstance(right, ast.Tuple):
            found = self._equal(left, right, scope)
            return None if found is None else found == (name == "Eq")
        if name in ("In", "NotIn") and isinstance(right, ast.Tuple | ast.List | ast.Set):
            each = [self._equal(left, item, scope) if isinstance(item, ast.Tuple) else None for item in right.elts]
            if True in each:
                return name == "In"
            return name == "NotIn" if all(one is False for one in each) else None
        return None

    def _whole(self, left: ast.expr, name: str, right: ast.expr, scope: Scope) -> bool | None:
        """``PAIR == ("cuda", 1)``, ``PAIR in (("cuda", 1),)``: a tuple or a frozen set is what it holds, and no other constant."""
        here = self.held(left, scope)
        if name in ("In", "NotIn"):
            container: tuple[object, ...] | None = self.members(right, scope) if here is not None else None
            return None if container is None else (here in container) == (name == "In")
        there = self.held(right, scope)
        if name in ("Eq", "NotEq") and here is not None and there is not None:
            return (here == there) == (name == "Eq")
        if name not in _SAME or (here is None) == (there is None):
            return None
        other = self.value(right if there is None else left, scope)
        return name in ("NotEq", "IsNot") if other.consts is not None and not other.member else None

    def held(self, node: ast.expr, scope: Scope) -> Held | None:
        """The tuple or frozen set that the expression is; None: not known. A copy of a set has an order that nobody knows."""
        if isinstance(node, ast.Tuple):
            return self.members(node, scope)
        if isinstance(node, ast.Call):
            kind = self.copies(node, scope)
            if kind == "tuple" and isinstance(node.args[0], ast.Tuple | ast.List):
                return self.members(node.args[0], scope)
            found = self.members(node, scope) if kind == "frozenset" else None
            return None if found is None else frozenset(found)
        if not isinstance(node, ast.Name | ast.Attribute):
            return None
        symbol = self.symbol(node, scope)
        return self.held_by(symbol[1], symbol[2]) if symbol is not None and symbol[0] == "symbol" else None

    def _equal(self, left: ast.Tuple, right: ast.Tuple, scope: Scope) -> bool | None:
        if any(isinstance(item, ast.Starred) for item in (*left.elts, *right.elts)):
            return None
        if len(left.elts) != len(right.elts):
            return False
        pairs = zip(left.elts, right.elts, strict=True)
        each = [v.compare(self.value(a, scope), "Eq", self.value(b, scope)) for a, b in pairs]
        return False if False in each else True if None not in each else None

    def members(self, node: ast.expr, scope: Scope) -> tuple[Const, ...] | None:
        """The elements of a literal tuple, list or set, or of a tuple that a variable of a module is; None: not known.

        ``("x")`` is a string, no container. A list or set under a name may grow.
        """
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            found: list[Const] = []
            for item in node.elts:
                plain, val = literal(item), self.value(item, scope)
                if plain is None and (not val.exact or val.consts is None):
                    return None
                found.append(plain[0] if plain is not None else val.consts[0])  # type: ignore[index]
            return tuple(found)
        if isinstance(node, ast.Dict):
            keys = [key for key in node.keys if key is not None]
            return self.members(ast.Tuple(keys), scope) if len(keys) == len(node.keys) else None
        if isinstance(node, ast.Call):
            return self.members(node.args[0], scope) if self.copies(node, scope) in COPIES else None
        symbol = self.symbol(node, scope)
        return self.tuple_of(symbol[1], symbol[2]) if symbol is not None and symbol[0] == "symbol" else None

    def copies(self, node: ast.Call, scope: Scope) -> str:
        """The builtin that the call of one argument is one of, or ""."""
        function = self.symbol(node.func, scope) if len(node.args) == 1 and not node.keywords else None
        return function[1] if function is not None and function[0] == "outside" else ""

    def looked_up(self, node: ast.Dict, key: ast.expr, default: ast.expr | None, scope: Scope) -> Val:
        """``{"cuda": 1}[kind()]``, for each value that the key can have."""
        known: dict[object, Val] = {}
        for name, item in zip(node.keys, node.values, strict=True):
            said = self._keys(name, scope) if name is not None else ()
            if len(said) != 1:
                return UNKNOWN
            known[said[0]] = self.value(item, scope)
        other = self.value(default, scope) if default is not None else None
        found = [known.get(one, other) for one in self._keys(key, scope)]
        given = [val for val in found if val is not None]
        if not given or len(given) < len(found) or any(val.fresh or val.member for val in given):
            return UNKNOWN
        if all(val.consts is not None for val in given):
            return v.among(tuple(one for val in given for one in val.consts or ()))
        truths = {val.truth for val in given}
        return Val(truth=truths.pop(), stated=True) if len(truths) == 1 else UNKNOWN

    def _keys(self, node: ast.expr, scope: Scope) -> tuple[object, ...]:
        """The keys that the expression may be; none where nobody knows."""
        held = self.held(node, scope)
        if held is not None:
            return (held,)
        val = self.value(node, scope)
        if val.member:
            return ()
        return val.consts or ((False, True) if val.boolean else ())

    def held_by(self, module: str, name: str) -> Held | None:
        """The tuple or frozen set that a module variable always is."""
        raise NotImplementedError

    def tuple_of(self, module: str, name: str) -> tuple[Const, ...] | None:
        """The elements of a module variable that is always one tuple."""
        raise NotImplementedError

    def _IfExp(self, node: ast.IfExp, scope: Scope) -> Val:
        test = self.value(node.test, scope)
        if test.truth is not None:
            branch = node.body if test.truth else node.orelse
            chosen = self.value(branch, scope)
            # ``A if is_cuda() else B`` is the name A, ``2 if is_cuda() else 4`` is a folded number.
            stated = chosen.stated or isinstance(branch, ast.Constant | ast.UnaryOp)
            return Val(chosen.consts, chosen.truth, chosen.boolean, stated, chosen.bounds, chosen.member, chosen.fresh)
        a, b = self.value(node.body, scope), self.value(node.orelse, scope)
        if a.consts is not None and b.consts is not None:
            return v.among((*a.consts, *b.consts), a.stated or b.stated)
        truth = a.truth if a.truth == b.truth else None
        return Val(truth=truth, boolean=a.boolean and b.boolean, fresh=a.fresh or b.fresh)

    def _NamedExpr(self, node: ast.NamedExpr, scope: Scope) -> Val:
        return self.value(node.value, scope)

    def _List(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Val:
        fresh = not isinstance(node, ast.Tuple)
        if not node.elts:
            return Val(truth=False, fresh=fresh)
        return UNKNOWN if all(isinstance(item, ast.Starred) for item in node.elts) else Val(truth=True, fresh=fresh)

    _Tuple = _List
    _Set = _List

    def _Dict(self, node: ast.Dict, scope: Scope) -> Val:
        if not node.keys:
            return Val(truth=False, fresh=True)
        return Val(truth=True, fresh=True) if any(key is not None for key in node.keys) else UNKNOWN

    def _Lambda(self, node: ast.Lambda, scope: Scope) -> Val:
        return Val(truth=True)

    def _JoinedStr(self, node: ast.JoinedStr, scope: Scope) -> Val:
        text, stated = "", False
        for part in node.values:
            if isinstance(part, ast.FormattedValue) and (
                part.format_spec is not None or part.conversion not in (-1, 115)
            ):
                return UNKNOWN
            val = self.value(part.value if isinstance(part, ast.FormattedValue) else part, scope)
            if not val.exact or val.consts is None:
                return UNKNOWN
            text += str(val.consts[0])
            stated = stated or val.stated
        return v.const(text, stated)


def literal(node: ast.expr) -> tuple[Any] | None:
    """The value of a literal, in a tuple; None when it is none."""
    try:
        return (ast.literal_eval(node),)
    except (ValueError, TypeError, SyntaxError):
        return None
