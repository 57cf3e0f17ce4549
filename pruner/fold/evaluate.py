"""Three-valued evaluation of expressions under facts.

Truth in test position and exact value in value position are different questions:
``x and False`` is false, but its value is ``x`` when ``x`` is falsy.

Blind to: overloaded ``==`` (assumed to agree with equality of constants when both sides are
known constants), ``__bool__`` with effects, properties with effects (an attribute read may
be dropped), and methods named ``is_*``/``has_*``/``supports_*`` that do more than answer.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Protocol

from pruner.fold import value as V
from pruner.fold.alone import Member
from pruner.fold.members import Members
from pruner.fold.value import Value
from pruner.model.ir import Expr, constants

PURE_BUILTINS = frozenset(
    [
        "bool",
        "int",
        "float",
        "str",
        "len",
        "isinstance",
        "issubclass",
        "hasattr",
        "getattr",
        "callable",
        "type",
        "min",
        "max",
        "abs",
        "any",
        "all",
        "sum",
        "tuple",
        "list",
        "set",
        "dict",
        "frozenset",
        "sorted",
        "repr",
        "id",
        "range",
        "zip",
        "enumerate",
        "reversed",
        "vars",
    ]
)
# What these are given is gone through: an iterator that somebody else holds is empty afterwards.
CONSUMERS = frozenset(["any", "all", "sum", "min", "max", "tuple", "list", "set", "dict", "frozenset", "sorted"])
_KEYED = frozenset(["min", "max", "sorted"])  # their ``key=`` is called
_FRESH = frozenset(
    ["range", "tuple", "list", "set", "dict", "frozenset", "sorted", "str", "repr", "vars", "zip", "enumerate"]
)
_FOLDED = frozenset("bool hasattr getattr int str frozenset tuple len isinstance issubclass".split())
_LAZY = frozenset(["zip", "enumerate"])  # of the fresh ones: they go through what they are given, later
_FRESH_METHODS = frozenset([".keys", ".values", ".items", ".split", ".copy", ".lower", ".upper", ".strip"])
PURE_METHODS = frozenset(
    [
        "startswith",
        "endswith",
        "lower",
        "upper",
        "strip",
        "lstrip",
        "rstrip",
        "split",
        "get",
        "keys",
        "values",
        "items",
        "index",
        "count",
        "format",
        "join",
        "removeprefix",
        "removesuffix",
        "isdigit",
        "copy",
    ]
)
PURE_PREFIXES = ("is_", "has_", "supports_")
_TEXT_METHODS = frozenset(["startswith", "endswith", "lower", "upper", "strip", "removeprefix", "removesuffix"])


class World(Protocol):
    """What the evaluator asks about the program."""

    gone: dict[str, str]  # members of classes, canonical, that rules drop: the rule

    def chain(self, module: str, root: str, path: tuple[str, ...]) -> Value | None:
        """Value of a chain that starts at a global name of ``module``."""

    def call(self, module: str, func: Expr, args: list[Value | None], kwargs: dict[str, Value | None]) -> Value | None:
        """Value of a call of a function of the tree."""

    def pure(self, module: str, root: str, path: tuple[str, ...]) -> bool:
        """True when calling that chain has no effect."""

    def lasting(self, module: str, root: str, path: tuple[str, ...]) -> bool:
        """True when the chain names what can be gone through again and again, and no iterator."""

    def canonical(self, module: str, root: str, path: tuple[str, ...]) -> str:
        """The defining symbol's name and the remaining path, as one text."""

    def fact(self, subject: str, reader: str) -> Value | None:
        """The stated fact on a canonical subject."""

    members: Members

    def instance(self, module: str, root: str, path: tuple[str, ...]) -> bool:
        """May the chain be an instance of a class of the tree (and no module, class or outside thing)?"""

    def enum_member(self, module: str, root: str, path: tuple[str, ...]) -> Member | None:
        """The member of an enum of the tree that the chain names."""

    def dropped_member(self, module: str, root: str, path: tuple[str, ...], alike: bool) -> str:
        """The rule that drops the enum's member that the chain names, or ""; ``alike``: and nothing else is equal."""

    def dropped_class(self, module: str, root: str, path: tuple[str, ...]) -> str:
        """The rule that drops the class that the chain names, or ""."""

    def dropped_function(self, module: str, root: str, path: tuple[str, ...]) -> str:
        """The rule that drops the function that the chain names, or its module, or ""."""


class Locals(Protocol):
    """What is known of the names of enclosing functions."""

    def chain(self, name: str, path: tuple[str, ...]) -> Value | None:
        """Value of a chain that starts at a local name."""

    def target(self, name: str) -> tuple[str, str, tuple[str, ...]] | None:
        """When the local is an import: (module of resolution, root, path) that it stands for."""


class Evaluator:
    """Evaluates expressions of one module, with or without an enclosing function.

    With ``answers`` it remembers what operations and calls are worth, by the identity of the expression, which it
    holds: a statement's is asked for three times. That holds as long as the locals do: who changes what is known
    of them says :meth:`forget`. What the world says of a chain or a call of constants does not change.
    """

    __slots__ = ("_truths", "_values", "locals", "module", "world")

    def __init__(self, world: World, module: str, local: Locals | None = None, answers: bool = False) -> None:
        self.world = world
        self.module = module
        self.locals = local
        self._values: dict[int, tuple[Expr, Value | None]] | None = {} if answers else None
        self._truths: dict[int, tuple[Expr, tuple[bool, V.Origin] | None]] | None = {} if answers else None

    def forget(self) -> None:
        """More or less is known of the locals than before."""
        if self._values:
            self._values.clear()
        if self._truths:
            self._truths.clear()

    # -- value ---------------------------------------------------------------------------

    def value(self, e: Expr) -> Value | None:
        """The possible values of ``e``, or None when nothing is known."""
        tag = e[0]
        if tag == "n":
            known = self.world.chain(self.module, e[1], e[2])
            return known if known is not None or not e[2] else self._member(e)
        if tag == "o":
            return self._looked_up(*e[1]) if e[2:] == ("[]",) else None
        if tag == "c":
            return V.constant(e[1])
        if tag == "v":
            known = self.locals.chain(e[1], e[2]) if self.locals is not None else None
            return known if known is not None or not e[2] else self._member(e)
        if tag in "!=&|?k":
            answers = self._values
            if answers is None:
                return getattr(self, _METHODS[tag])(e)  # type: ignore[no-any-return]
            row = answers.get(id(e))
            if row is None:
                row = answers[id(e)] = (e, getattr(self, _METHODS[tag])(e))
            return row[1]
        if tag == "x":
            known = apply_path(self.value(e[1]), e[2])
            return known if known is not None else self._member(e)
        if tag == ":=":
            return self.value(e[2])
        if tag == "b":
            return self._member(e) if e[2] else None
        if tag == "t" and e[1] == "t":
            return self._tuple(e)  # a list or set may be changed before it is read
        return None

    def _member(self, e: Expr) -> Value | None:
        """The value that a fact on a member gives a chain on an instance."""
        found = self.world.members.along(e[2]) if self.world.members.names else None
        if found is None or not self._on_instance(e, found[1] - (2 if e[2][found[1] - 1][0] == "(" else 1)):
            return None
        return apply_path(found[0], e[2][found[1] :])

    def _on_instance(self, e: Expr, length: int) -> bool:
        """May the first ``length`` steps of the chain be an instance? ``torch.is_x`` and ``Class.attr`` are not."""
        if e[0] == "n":
            return self.world.instance(self.module, e[1], e[2][:length])
        if e[0] == "v" and self.locals is not None:
            target = self.locals.target(e[1])
            return target is None or self.world.instance(target[0], target[1], target[2] + e[2][:length])
        return True

    def constant(self, e: Expr) -> Value | None:
        """The value of a literal or a chain; a member of an enum is one too."""
        known = self.value(e)
        if known is None and e[0] in ("n", "v") and e[2]:
            module, root, path = self.module, e[1], e[2]
            if e[0] == "v":
                target = self.locals.target(e[1]) if self.locals is not None else None
                if target is None:
                    return None
                module, root, path = target[0], target[1], target[2] + e[2]
            member = self.world.enum_member(module, root, path)
            known = Value((member,)) if member is not None else None
        return known

    def truth(self, e: Expr) -> tuple[bool, V.Origin] | None:
        """Truth of ``e`` in test position with the rules it rests on, or None."""
        answers = self._truths
        if answers is None or e[0] not in _TESTS:
            return self._truth(e)
        row = answers.get(id(e))
        if row is None:
            row = answers[id(e)] = (e, self._truth(e))
        return row[1]

    def _truth(self, e: Expr) -> tuple[bool, V.Origin] | None:
        tag = e[0]
        if tag == ":=":
            return self.truth(e[2])
        if tag == "!":
            inner = self.truth(e[1])
            return None if inner is None else (not inner[0], inner[1])
        if tag in "&|" and len(e) == 2:
            return self._boolean_truth(e[1], tag == "|")
        if tag == "?":
            test = self.truth(e[1])
            if test is not None:
                chosen = self.truth(e[2] if test[0] else e[3])
                return None if chosen is None else (chosen[0], chosen[1] | test[1])
            yes, no = self.truth(e[2]), self.truth(e[3])
            if yes is not None and no is not None and yes[0] == no[0]:
                return (yes[0], yes[1] | no[1])
            return None
        if tag == "k" and e[1] == ("n", "bool", ()) and len(e[2]) == 1 and not e[3] and self._builtin("bool"):
            return self.truth(e[2][0])
        known = self.value(e)
        if known is None or known.truth is None:
            return None
        return (known.truth, known.origin)

    def _boolean_truth(self, operands: tuple[Expr, ...], deciding: bool) -> tuple[bool, V.Origin] | None:
        origin: V.Origin = V.NONE
        unknown = False
        for operand in operands:
            truth = self.truth(operand)
            if truth is None:
                unknown = True
            elif truth[0] == deciding:
                return truth if unknown else (deciding, truth[1])
            else:
                origin |= truth[1]
        return None if unknown else (not deciding, origin)

    def _not(self, e: Expr) -> Value | None:
        truth = self.truth(e[1])
        if truth is None:
            return _EITHER
        return V.make([not truth[0]], truth[1])

    def _and_or(self, e: Expr) -> Value | None:
        stops = e[0] == "|"  # the truth at which evaluation stops
        results: list[Any] = []
        origin: V.Origin = V.NONE
        exact = True
        operands = e[1]
        for index, operand in enumerate(operands):
            known = self.value(operand)
            last = index == len(operands) - 1
            if known is None or known.values is None:
                truth = self.truth(operand)
                if truth is not None and truth[0] != stops and not last:
                    origin |= truth[1]
                    continue
                exact = False
                if truth is not None and truth[0] == stops:
                    break
                continue
            origin |= known.origin
            results += [v for v in known.values if last or bool(v) == stops]
            if all(bool(v) == stops for v in known.values):
                break
        if exact:
            return V.make(results, origin)
        truth = self._boolean_truth(operands, stops)
        return None if truth is None else V.of_truth(*truth)

    def _ifexp(self, e: Expr) -> Value | None:
        test = self.truth(e[1])
        if test is None:
            return V.join([self.value(e[2]), self.value(e[3])])
        chosen = self.value(e[2] if test[0] else e[3])
        if chosen is None:
            return None
        return Value(chosen.values, chosen.origin | test[1], chosen.truth, chosen.low, chosen.high)

    def _compare(self, e: Expr) -> Value | None:
        left_expr, rest = e[1], e[2]
        if len(rest) != 1:  # 80 <= sm() < 90: each pair by itself
            pairs = zip((left_expr, *(right for _, right in rest)), rest, strict=False)
            each = [self._compare(("=", left, (row,))) for left, row in pairs]
            no = next((known for known in each if known is not None and known.truth is False), None)
            return (
                no
                if no is not None or None in each or any(k is not None and k.truth is None for k in each)
                else V.join(each)
            )
        op, right_expr = rest[0]
        if op in ("is", "is not", "==", "!=") and self.world.gone:
            alike = op in ("==", "!=")
            rule = self.gone(left_expr, alike) or self.gone(right_expr, alike)
            if rule:  # nothing can be what a rule dropped
                return V.make([op in ("is not", "!=")], frozenset({rule}))
        if op in ("in", "not in") and self.world.gone and right_expr[0] == "t" and right_expr[2]:
            rules = [self.gone(part, True) for part in right_expr[2]]
            if all(rules):
                return V.make([op == "not in"], frozenset(rules))
        boolean = _EITHER if op in ("is", "is not", "in", "not in") else None
        if left_expr[0] == "t" == right_expr[0]:
            tuples = self._tuples(left_expr, op, right_expr)
            if tuples is not None:
                return tuples
        left = self.value(left_expr)
        # Only what `in` asks is the same of every display: (1, 2) == [1, 2] is false.
        right = self._container(right_expr) if op in ("in", "not in") else self.value(right_expr)
        if left is not None and right is None and op in _SAME and left.single and _is_member(left):
            right = self.constant(right_expr)
        if left is None or right is None:
            return boolean
        return compare(op, left, right) or boolean

    def _tuples(self, left: Expr, op: str, right: Expr) -> Value | None:
        """``(is_hip(), kind()) == (True, "x")``, and ``in`` of a display of tuples: item by item, as far as it is known."""
        if left[1] != "t":
            return None
        if op in ("==", "!=") and right[1] == "t":
            known = self._equal(left[2], right[2])
            if known is None or op == "==":
                return known
            return V.make([not known.truth], known.origin)
        if op in ("in", "not in"):
            each = [self._equal(left[2], part[2]) if part[0] == "t" and part[1] == "t" else None for part in right[2]]
            met = next((known for known in each if known is not None and known.truth), None)
            if met is not None:
                return V.make([op == "in"], met.origin)
            if each and all(known is not None for known in each):
                return V.make([op != "in"], frozenset().union(*(known.origin for known in each if known is not None)))
        return None

    def _equal(self, left: tuple[Expr, ...], right: tuple[Expr, ...]) -> Value | None:
        if any(part[0] == "o" for part in (*left, *right)):
            return None  # *rest
        if len(left) != len(right):
            return Value((False,), V.NONE, False)
        origin: V.Origin = V.NONE
        unknown = False
        for a, b in zip(left, right, strict=True):
            one, other = self.value(a), self.value(b)
            known = compare("==", one, other) if one is not None and other is not None else None
            if known is None or known.truth is None:
                unknown = True
            elif not known.truth:
                return known
            else:
                origin |= known.origin
        return None if unknown else Value((True,), origin, True)

    def calls_dropped(self, e: Expr) -> bool:
        """Is it a call of a function that a rule drops?"""
        func = e[1] if e[0] == "k" else (*e[:2], e[2][:-1]) if e[0] in ("n", "v") and e[2] and e[2][-1][0] == "(" else e
        place = self._place(func) if func is not e else None
        return place is not None and bool(self.world.dropped_function(*place))

    def _place(self, e: Expr) -> tuple[str, str, tuple[str, ...]] | None:
        """Where a chain leads to: from a global of a module, also of a local that is an import."""
        if e[0] == "n":
            return self.module, e[1], e[2]
        target = self.locals.target(e[1]) if e[0] == "v" and self.locals is not None else None
        return None if target is None else (target[0], target[1], target[2] + e[2])

    def gone(self, e: Expr, alike: bool) -> str:
        """Rule id when the expression is a member of an enum that a rule drops."""
        place = self._place(e) if e[0] in ("n", "v") and e[2] else None
        return "" if place is None else self.world.dropped_member(*place, alike)

    def _container(self, e: Expr) -> Value | None:
        """What ``in`` looks through: of a dictionary its keys, of ``set(X)`` what ``X`` holds."""
        if e[0] == "t":
            return self._tuple(e)
        if e[0] == "d":
            keys = tuple(key for key, _ in e[1] if key is not None)
            return self._tuple(("t", "t", keys)) if len(keys) == len(e[1]) else None
        copied = _copied(e)
        if copied is None or not self._builtin(e[1][1]):
            return self.value(e)
        known = self._container(copied)  # list("ab") holds "a", and not "ab"
        plain = known is not None and known.values is not None and all(isinstance(v, _HELD) for v in known.values)
        return known if plain else None

    def _in_order(self, e: Expr) -> Value | None:
        """``tuple(X)``: what ``X`` holds, as often and in the order in which it holds it; a set, keys and a sorted copy say neither."""
        if e[0] == "t" and e[1] in ("t", "l"):
            return self._tuple(("t", "t", e[2]))
        copied = _copied(e)
        if copied is not None and e[1][1] in ("list", "tuple") and self._builtin(e[1][1]):
            return self._in_order(copied)
        known = self.value(e)
        return known if known is not None and known.values and all(isinstance(v, tuple) for v in known.values) else None

    def _looked_up(self, table: Expr, key: Expr, default: Expr | None = None) -> Value | None:
        """``{"cuda": 1, "hip": 2}[kind()]``, and ``.get(kind(), default)`` of it, for each value that the key can have."""
        wanted = self.value(key)
        if wanted is None or not wanted.values:
            return None
        known: dict[Any, Expr] = {}
        origin = wanted.origin
        for name, item in table[1]:
            said = self.value(name) if name is not None else None
            if said is None or not said.single or not said.values or isinstance(said.values[0], Member):
                return None
            known[said.values[0]] = item
            origin |= said.origin
        found = [known.get(one, default) for one in wanted.values if not isinstance(one, Member)]
        if len(found) < len(wanted.values) or None in found:
            return None
        given = V.join([self.value(item) for item in found if item is not None])
        if given is None:
            return None
        return Value(given.values, given.origin | origin, given.truth, given.low, given.high)

    def _tuple(self, e: Expr) -> Value | None:
        parts = [self.value(p) for p in e[2]]
        if any(p is None or not p.single for p in parts):
            return None
        items = tuple(p.values[0] for p in parts if p is not None and p.values)
        origin = frozenset().union(*(p.origin for p in parts if p is not None)) if parts else V.NONE
        constant: Any = frozenset(items) if e[1] == "s" else items
        return Value((constant,), origin, bool(items))

    def _call(self, e: Expr) -> Value | None:
        func, args, kwargs = e[1], e[2], e[3]
        if func[0] == "n" and func[1] in _FOLDED and not func[2] and not kwargs and self._builtin(func[1]):
            name = func[1]
            if name == "bool" and len(args) == 1:
                truth = self.truth(args[0])
                return _EITHER if truth is None else V.make([truth[0]], truth[1])
            if name in ("hasattr", "getattr") and len(args) >= 2 and args[1][0] == "c" and args[0][0] == "n":
                return self._attribute_probe(name, args)
            if name in ("int", "str") and len(args) == 1:
                return _convert(name, self.value(args[0]))
            if name == "frozenset" and _copied(e) is not None:
                return _frozen(self._container(e))
            if name == "tuple" and len(args) == 1:
                return self._in_order(args[0])
            if name == "len" and len(args) == 1:
                return _length(self.value(args[0]))
            if name in ("isinstance", "issubclass") and len(args) == 2:
                rules = self._dropped_classes(args[1])
                return V.make([False], rules) if rules else _EITHER
        if func[0] == "x" and func[1][0] == "d" and func[2] == (".get",) and len(args) in (1, 2) and not kwargs:
            return self._looked_up(func[1], args[0], args[1] if len(args) == 2 else ("c", None))
        if func[0] in ("n", "v"):
            known = [self.value(a) for a in args]
            named = {k: self.value(v) for k, v in kwargs if k is not None}
            if len(named) != len(kwargs):
                return None
            target = func
            if func[0] == "v":
                imported = self.locals.target(func[1]) if self.locals is not None else None
                if imported is None:
                    return None
                return self.world.call(imported[0], ("n", imported[1], imported[2] + func[2]), known, named)
            if func[2] and func[2][-1] in (".startswith", ".endswith") and len(known) == 1 and not named:
                return apply_text(self.value(("n", func[1], func[2][:-1])), func[2][-1][1:], known[0])
            return self.world.call(self.module, target, known, named)
        return None

    def _builtin(self, name: str) -> bool:
        """Is it Python's own? A module may have a ``str`` or ``isinstance`` of its own."""
        return self.world.canonical(self.module, name, ()) == name

    def _dropped_classes(self, e: Expr) -> V.Origin:
        """The rules that drop every class that the second argument of ``isinstance`` names, or none."""
        if e[0] in ("t", "o"):
            parts = [self._dropped_classes(p) for p in (e[2] if e[0] == "t" else e[1])]
            return frozenset().union(*parts) if parts and all(parts) else V.NONE
        rule = ""
        if e[0] == "n":
            rule = self.world.dropped_class(self.module, e[1], e[2])
        elif e[0] == "v" and self.locals is not None:
            target = self.locals.target(e[1])
            rule = self.world.dropped_class(target[0], target[1], target[2] + e[2]) if target is not None else ""
        return frozenset({rule}) if rule else V.NONE

    def _attribute_probe(self, name: str, args: tuple[Expr, ...]) -> Value | None:
        root, path, attribute = args[0][1], args[0][2], args[1][1]
        if name == "hasattr":
            return self.world.fact(
                f"hasattr({self.world.canonical(self.module, root, path)}, {attribute!r})", self.module
            )
        if isinstance(attribute, str) and attribute.isidentifier():
            owners = self.world.members.attributes.get(attribute, {})
            if self.world.canonical(self.module, root, path) in owners:
                return None  # of the class itself, which need not have what its objects are given
            return self.world.fact(self.world.canonical(self.module, root, (*path, "." + attribute)), self.module)
        return None

    # -- may it be dropped? ------------------------------------------------------------------

    def droppable(self, e: Expr, unpacked: bool = False) -> bool:
        """True when not evaluating ``e`` cannot be noticed (see the module's blind spots); ``unpacked``: into several names."""
        tag = e[0]
        if unpacked and not self.lasting(e):
            return False
        if tag in ("c",):
            return True
        if tag in ("n", "v", "b"):
            return self._chain_droppable(e)
        if tag == "x":
            return self.droppable(e[1]) and all(
                self._step_droppable(s, e[2][i - 1] if i else "") for i, s in enumerate(e[2])
            )
        if tag == "k":
            return self._call_droppable(e)
        if tag in (":=", "yield"):
            return False
        if tag == "=":
            if any(op in ("in", "not in") and not self.lasting(r) and self.value(r) is None for op, r in e[2]):
                return False  # `x in rows` goes through an iterator, up to where it finds x
            return self.droppable(e[1]) and all(self.droppable(r) for _, r in e[2])
        if tag == "d":
            return all((k is None or self.droppable(k)) and self.droppable(v) for k, v in e[1])
        if tag in ("!", "f", "u"):
            return self.droppable(e[1])
        if tag == "?":
            return all(self.droppable(p) for p in e[1:])
        if tag == "t":
            return all(self.droppable(p) for p in e[2])
        return all(self.droppable(p) for p in e[1]) and self.consumes_nothing(e)

    def consumes_nothing(self, e: Expr) -> bool:
        """True when the operation empties no iterator that somebody else holds: ``[x for x in rows]``, ``[*rows]``."""
        if e[2:] == ("**",):
            return self.lasting(e[1][0])
        return not any(
            part[0] == "f" and len(part) == 3 and not self.lasting(before) for before, part in pairwise(e[1])
        )

    def table(self, e: Expr) -> bool:
        """True for a value that can be gone through again and again: no generator, and no ``zip`` of anything."""
        if e[0] == "o" and e[1] and e[1][-1][0] == "f":
            return bool(e[1][-1][2:] == ("c",))
        called = _called(e)
        if called is not None:
            return called[0] in _FRESH - _LAZY
        return e[0] != "k" and not (e[0] == "n" and e[2] and e[2][-1][0] == "(") and self.lasting(e)

    def lasting(self, e: Expr) -> bool:
        """True when nobody can notice that ``e`` was iterated over: it is made here, or is what can be gone through again."""
        tag = e[0]
        if tag in ("c", "t", "d", "j"):
            return True
        if tag in ("|", "&"):
            return all(self.lasting(p) for p in e[1])
        if tag == "?":
            return self.lasting(e[2]) and self.lasting(e[3])
        if tag == "o":
            return e[2:] in (("+",), ("|",), ("*",)) or (bool(e[1]) and e[1][-1][0] == "f" and len(e[1][-1]) == 3)
        called = _called(e)
        if called is not None:
            return called[0] in _FRESH and (called[0] not in _LAZY or all(map(self.lasting, called[1])))
        if tag == "k":  # (lambda: rows)() is a call of no chain
            return e[1][0] in ("n", "v", "x", "b") and bool(e[1][2]) and e[1][2][-1] in _FRESH_METHODS
        if tag not in ("n", "v", "b", "x"):
            return False  # x in (not rows), x in (await rows()), x in (rows := more)
        path = e[2]
        if path and path[-1][0] == "(":
            return len(path) > 1 and path[-2] in _FRESH_METHODS
        return tag == "n" and self.world.lasting(self.module, e[1], path)

    def _step_droppable(self, step: str, before: str) -> bool:
        if step[0] != "(":
            return True
        name = before[1:]
        return name in PURE_METHODS or name.startswith(PURE_PREFIXES) or name in self.world.members.called

    def _calls_nothing(self, e: Expr) -> bool:
        """True when calling ``e`` cannot be noticed: ``key=len``, ``key=lambda row: row[0]``, ``key=rank`` of the tree."""
        if e == ("c", None) or (e[0] == "o" and e[1] and e[1][-1][0] == "f"):
            return True
        if e[0] != "n":
            return False
        return (not e[2] and e[1] in PURE_BUILTINS) or self.world.pure(self.module, e[1], (*e[2], "()"))

    def _chain_droppable(self, e: Expr) -> bool:
        path = e[2]
        for index, step in enumerate(path):
            if step[0] != "(":
                continue
            before = path[index - 1] if index else ""
            if index and self._step_droppable(step, before):
                continue
            if e[0] == "n":
                if not index and e[1] in PURE_BUILTINS and self._builtin(e[1]):
                    continue
                if self.world.pure(self.module, e[1], path[: index + 1]):
                    continue
            elif e[0] == "v" and self.locals is not None:
                target = self.locals.target(e[1])
                if target is not None and self.world.pure(target[0], target[1], target[2] + path[: index + 1]):
                    continue
            return False
        return True

    def _call_droppable(self, e: Expr) -> bool:
        func, args, kwargs = e[1], e[2], e[3]
        if not all(self.droppable(a) for a in args) or not all(self.droppable(v) for _, v in kwargs):
            return False
        if func[0] == "n":
            if not func[2] and func[1] in PURE_BUILTINS and self._builtin(func[1]):
                if func[1] in _KEYED and not all(self._calls_nothing(v) for k, v in kwargs if k in ("key", None)):
                    return False
                return func[1] not in CONSUMERS or len(args) != 1 or self.lasting(args[0])
            if func[2] and func[2][-1] == ".join" and not all(map(self.lasting, args)):
                return False
            if func[2] and self._step_droppable("(", func[2][-1]):
                return self._chain_droppable(("n", func[1], func[2][:-1]))
            return self.world.pure(self.module, func[1], (*func[2], "()"))
        if func[0] in ("v", "x", "b") and func[2][-1:] == (".join",) and not all(map(self.lasting, args)):
            return False
        if func[0] in ("v", "x", "b") and func[2] and self._step_droppable("(", func[2][-1]):
            return self.droppable((func[0], func[1], func[2][:-1]))
        if func[0] == "v" and self.locals is not None:
            target = self.locals.target(func[1])
            return target is not None and self.world.pure(target[0], target[1], (*target[2], *func[2], "()"))
        return False


def _called(e: Expr) -> tuple[str, tuple[Expr, ...]] | None:
    """The global name that is called, with nothing behind the call, and its arguments that are not all constants."""
    if e[0] == "k":
        return (e[1][1], e[2]) if e[1][0] == "n" and not e[1][2] else None
    return (e[1], ()) if e[0] == "n" and len(e[2]) == 1 and e[2][0][0] == "(" else None


_SAME = ("is", "is not", "==", "!=")
_EITHER = Value((False, True))
_TESTS = frozenset("!&|?")  # of other tests the truth is that of the value
_METHODS = {"!": "_not", "=": "_compare", "&": "_and_or", "|": "_and_or", "?": "_ifexp", "k": "_call"}


_HELD = (tuple, frozenset)
_COPIES = frozenset({"frozenset", "set", "list", "tuple", "sorted"})


def _copied(e: Expr) -> Expr | None:
    """What ``set(X)`` and its kin are made of."""
    called = e[0] == "k" and e[1][0] == "n" and e[1][1] in _COPIES and not e[1][2]
    return e[2][0] if called and len(e[2]) == 1 and not e[3] else None


def _frozen(known: Value | None) -> Value | None:
    """``frozenset(X)`` of what is known to be in a container."""
    if known is None or not known.single or not known.values or not isinstance(known.values[0], _HELD):
        return None
    return Value((frozenset(known.values[0]),), known.origin, bool(known.values[0]))


def _length(known: Value | None) -> Value | None:
    """``len`` of what cannot change any more."""
    if (
        known is None
        or not known.values
        or not all(isinstance(value, str | tuple | frozenset) for value in known.values)
    ):
        return None
    return V.make([len(value) for value in known.values], known.origin)


def compare(op: str, left: Value, right: Value) -> Value | None:
    """One comparison; decided only when every pair of possible values agrees."""
    origin = left.origin | right.origin
    if left.values is None or right.values is None:
        if op in ("in", "not in") and right.single and right.values and isinstance(right.values[0], tuple | frozenset):
            each = [_compare_range("==", left, Value((item,)), origin) for item in right.values[0]]
            outside = all(known is not None and known.truth is False for known in each)
            return V.make([op == "not in"], origin) if outside else None
        return _compare_range(op, left, right, origin)
    answers = set()
    for a in left.values:
        for b in right.values:
            answer = _compare_constants(op, a, b)
            if answer is None:
                return None
            answers.add(answer)
    return V.make(sorted(answers), origin)


def _compare_constants(op: str, a: Any, b: Any) -> bool | None:
    try:
        if isinstance(a, Member) or isinstance(b, Member):
            return _compare_members(op, a, b)
        if op in ("==", "!="):
            return bool(a == b) == (op == "==")
        if op in ("is", "is not"):
            if a is None or b is None or isinstance(a, bool) or isinstance(b, bool):
                return V.same(a, b) == (op == "is")
            return None
        if op in ("in", "not in"):
            return (a in b) == (op == "in")
        return bool({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op])
    except TypeError:
        return None


def _is_member(known: Value) -> bool:
    return known.values is not None and isinstance(known.values[0], Member)


def _compare_members(op: str, a: Any, b: Any) -> bool | None:
    """A member is no literal; what it equals is for its class to say, but for a member of the same class and None."""
    if op not in _SAME:
        return None
    if isinstance(a, Member) and isinstance(b, Member) and a.enum == b.enum:
        return (a.name == b.name) == (op in ("is", "=="))
    return op in ("is not", "!=") if a is None or b is None else None


def _compare_range(op: str, left: Value, right: Value, origin: V.Origin) -> Value | None:
    if op in ("is", "is not") and right.single and right.values == (None,):
        if left.values is None and (left.low is not None or left.high is not None):
            return V.make([op == "is not"], origin)
        return None
    flip = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    if left.values is not None:
        left, right, op = right, left, flip.get(op, op)
    if (
        not right.single
        or right.values is None
        or isinstance(right.values[0], bool)
        or not isinstance(right.values[0], int)
    ):
        return None
    bound, low, high = right.values[0], left.low, left.high
    if op in (">=", "<"):
        decided = True if low is not None and low >= bound else False if high is not None and high < bound else None
        return None if decided is None else V.make([decided == (op == ">=")], origin)
    if op in (">", "<="):
        decided = True if low is not None and low > bound else False if high is not None and high <= bound else None
        return None if decided is None else V.make([decided == (op == ">")], origin)
    if op in ("==", "!=") and ((low is not None and bound < low) or (high is not None and bound > high)):
        return V.make([op == "!="], origin)
    return None


def apply_path(known: Value | None, path: tuple[str, ...]) -> Value | None:
    """Follow text methods on known strings: ``.lower()``, ``.startswith('x')``."""
    index = 0
    while known is not None and index < len(path):
        step = path[index]
        if index + 1 < len(path) and step[0] == "." and step[1:] in _TEXT_METHODS and path[index + 1][0] == "(":
            known = _text_call(known, step[1:], path[index + 1])
            index += 2
            continue
        return None
    return known


def _text_call(known: Value, method: str, call: str) -> Value | None:
    return _texts(known, method, constants(call), known.origin)


def apply_text(known: Value | None, method: str, argument: Value | None) -> Value | None:
    """``known.startswith(argument)`` where the argument is a tuple of strings or a string."""
    if known is None or argument is None or not argument.single or argument.values is None:
        return None
    return _texts(known, method, argument.values, known.origin | argument.origin)


def _texts(known: Value, method: str, args: tuple[Any, ...], origin: V.Origin) -> Value | None:
    """The method of each text; what fails there, ``kind().startswith(1)``, has no value."""
    if known.values is None or not all(isinstance(v, str) for v in known.values):
        return None
    try:
        return V.make([getattr(v, method)(*args) for v in known.values], origin)
    except TypeError:
        return None


def _convert(name: str, known: Value | None) -> Value | None:
    if known is None or known.values is None:
        return None
    try:
        return V.make([{"int": int, "str": str}[name](v) for v in known.values], known.origin)
    except (TypeError, ValueError):
        return None
