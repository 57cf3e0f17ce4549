"""``ast`` expressions lowered to the compact form of ``pruner.model.ir``."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from pruner.model.ir import EMPTY, Expr
from pruner.scan import scopes

_OPERATORS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
_SIMPLE = (str, int, float, bool, type(None))
_NAME_LIKE = re.compile(r"[\w.:/\-]{1,160}\Z")


class Scopes:
    """The stack of enclosing function, class and comprehension scopes."""

    __slots__ = ("stack",)

    def __init__(self) -> None:
        self.stack: list[tuple[str, frozenset[str], frozenset[str]]] = []

    def push(self, kind: str, names: frozenset[str], declared: frozenset[str] = frozenset()) -> None:
        """Enter a scope: kind ``f`` function or lambda, ``q`` comprehension, ``c`` class."""
        self.stack.append((kind, names, declared))

    def pop(self) -> None:
        """Leave the innermost scope."""
        self.stack.pop()

    def hidden(self, name: str) -> bool:
        """True when a comprehension or lambda binds the name nearer than any function does."""
        for kind, names, _ in reversed(self.stack):
            if name in names:
                return kind == "q"
            if kind == "f":
                return False
        return False

    def tag(self, name: str) -> str:
        """How a load of ``name`` resolves here: ``n`` global, ``v`` local, ``b`` class-level, either."""
        if not self.stack:
            return "n"
        direct = True
        for kind, names, declared in reversed(self.stack):
            if kind == "c":
                if direct and name in names:
                    return "b"
                direct = False
            elif name in names:
                return "v"
            elif name in declared:
                return "n"
            elif kind == "f":
                direct = False
        return "n"

    @property
    def in_class(self) -> bool:
        """True directly in a class body."""
        return bool(self.stack) and self.stack[-1][0] == "c"

    @property
    def at_module(self) -> bool:
        """True outside every function and class."""
        return not self.stack


class Lowering:
    """Lowers expressions; subclassed for statements."""

    def __init__(self, data: bytes = b"yield") -> None:
        self.binding = _binding_lines(data)
        self.outer = b"nonlocal" in data
        self.scopes = Scopes()
        self._quoted = False  # inside an annotation that is a text: its places are not the file's
        self._literals = 0  # how many ``Literal[...]`` were met
        self._table: dict[type, Callable[[Any], Expr]] = {
            ast.Constant: self._constant, ast.Name: self._name, ast.Attribute: self._attribute,
            ast.Call: self._call, ast.BoolOp: self._boolop, ast.UnaryOp: self._unary, ast.IfExp: self._ifexp,
            ast.Compare: self._compare, ast.Tuple: self._sequence, ast.List: self._sequence, ast.Set: self._sequence,
            ast.Dict: self._dict, ast.NamedExpr: self._walrus, ast.Lambda: self._lambda, ast.ListComp: self._comprehension,
            ast.SetComp: self._comprehension, ast.GeneratorExp: self._comprehension, ast.DictComp: self._comprehension,
            ast.JoinedStr: self._joined, ast.FormattedValue: self._formatted, ast.BinOp: self._binop,
            ast.Yield: self._yield, ast.YieldFrom: self._yield, ast.Await: self._yield, ast.Subscript: self._subscript,
            ast.Starred: self._starred,
        }  # fmt: skip

    def binds(self, node: ast.stmt | ast.expr) -> bool:
        """May an expression inside ``node`` bind or suspend?"""
        at = bisect_left(self.binding, node.lineno)
        return at < len(self.binding) and self.binding[at] <= (node.end_lineno or node.lineno)

    def bindings(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> scopes.Bindings:
        """What the body of a function or class binds."""
        return scopes.collect(node.body, self.binds(node), self.outer)

    def expr(self, node: ast.expr | None) -> Expr:
        """Lower one expression."""
        if node is None:
            return EMPTY
        lower = self._table.get(type(node))
        if lower is not None:
            return lower(node)
        return self.opaque([self.expr(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)])

    def annotation(self, node: ast.expr | None, name: str = "") -> Expr:
        """Lower an annotation; text in it is code that type checkers and pydantic evaluate.

        ``name``: the parameter's, which is told where the annotation lists choices.
        """
        if node is None:
            return EMPTY
        before = self._literals
        parts = self._annotation(node)
        if name and self._literals > before:
            return ("o", tuple(parts), f":{name}")
        return parts[0] if len(parts) == 1 else self.opaque(parts)

    def _annotation(self, node: ast.expr) -> list[Expr]:
        parts = [self.expr(node)]
        if isinstance(node, (ast.Name, ast.Attribute)):
            return parts
        self._quoted = True
        for inner in ast.walk(node):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and len(inner.value) < 400:
                if inner.value.isidentifier():
                    parts.append((self.scopes.tag(inner.value), inner.value, ()))
                    continue
                try:
                    parts.append(self.expr(ast.parse(inner.value.strip(), mode="eval").body))
                except (SyntaxError, ValueError):
                    continue
        self._quoted = False
        return parts

    def exprs(self, nodes: Sequence[ast.expr | None]) -> tuple[Expr, ...]:
        """Lower several."""
        expr = self.expr
        return tuple([expr(node) for node in nodes if node is not None])

    @staticmethod
    def opaque(children: Sequence[Expr]) -> Expr:
        """An operation that folding does not look into; only what it refers to matters."""
        flat: list[Expr] = []
        for child in children:
            if child[0] == "o" and len(child) == 2:
                flat.extend(child[1])
            elif child[0] != "c" or (isinstance(child[1], str) and _NAME_LIKE.match(child[1])):
                flat.append(child)
        return ("o", tuple(flat)) if flat else EMPTY

    def _constant(self, node: ast.Constant) -> Expr:
        value = node.value
        if isinstance(value, _SIMPLE):
            if isinstance(value, str) and len(value) > 400:
                return EMPTY
            return ("c", value)
        return EMPTY

    def _name(self, node: ast.Name) -> Expr:
        tag = self.scopes.tag(node.id)
        if tag == "v" and self.scopes.hidden(node.id):
            return ("v", node.id + "'", ())  # [x for x in xs]: not the function's x
        return (tag, node.id, ())

    def _attribute(self, node: ast.Attribute) -> Expr:
        return self._extend(self.expr(node.value), "." + node.attr)

    @staticmethod
    def _extend(base: Expr, step: str) -> Expr:
        if base[0] in "nvb" and len(base[0]) == 1:
            return (base[0], base[1], (*base[2], step))
        if base[0] == "x":
            return ("x", base[1], (*base[2], step))
        return ("x", base, (step,))

    def _call(self, node: ast.Call) -> Expr:
        target = node.func
        if isinstance(target, ast.Attribute) and target.attr == "format" and isinstance(target.value, ast.Constant):
            if isinstance(target.value.value, str):
                values = self.opaque(
                    [
                        *self.exprs(node.args),
                        *(self.expr(k.value) for k in node.keywords),
                        *(("x", EMPTY, path) for path in _fields(target.value.value)),
                    ]
                )
                return ("j", _pieces(target.value.value, r"\{[^{}]*\}", values))
        func = self.expr(node.func)
        if not node.keywords and func[0] in ("n", "v", "b", "x"):
            for argument in node.args:
                if type(argument) is not ast.Constant or not isinstance(argument.value, _SIMPLE):
                    break
            else:
                text = ", ".join([_repr(a.value) for a in node.args])  # type: ignore[attr-defined]
                return self._extend(func, f"({text})")
        args = self.exprs(node.args)
        kwargs = tuple([(k.arg, self.expr(k.value)) for k in node.keywords])
        if func[0] == "n" and not func[2] and func[1] in ("getattr", "hasattr") and not kwargs and len(args) >= 2:
            name = args[1]
            if func[1] == "getattr" and name[0] == "c" and isinstance(name[1], str) and name[1].isidentifier():
                # getattr(torch.version, "hip", None) reads the attribute; the default is kept as an operand.
                return ("k", func, args, kwargs)
        return ("k", func, args, kwargs)

    def _boolop(self, node: ast.BoolOp) -> Expr:
        return ("&" if isinstance(node.op, ast.And) else "|", self.exprs(node.values))

    def _unary(self, node: ast.UnaryOp) -> Expr:
        if isinstance(node.op, ast.Not):
            return ("!", self.expr(node.operand))
        if isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            value = node.operand.value
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return ("c", -value)
        return self.opaque([self.expr(node.operand)])

    def _ifexp(self, node: ast.IfExp) -> Expr:
        return ("?", self.expr(node.test), self.expr(node.body), self.expr(node.orelse))

    def _compare(self, node: ast.Compare) -> Expr:
        rest = tuple((_OPERATORS[type(op)], self.expr(c)) for op, c in zip(node.ops, node.comparators, strict=True))
        return ("=", self.expr(node.left), rest)

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set) -> Expr:
        kind = {ast.Tuple: "t", ast.List: "l", ast.Set: "s"}[type(node)]
        return ("t", kind, self.exprs(node.elts))

    def _dict(self, node: ast.Dict) -> Expr:
        return (
            "d",
            tuple(
                (None if k is None else self.expr(k), self.expr(v)) for k, v in zip(node.keys, node.values, strict=True)
            ),
        )

    def _walrus(self, node: ast.NamedExpr) -> Expr:
        name, value = node.target.id, self.expr(node.value)
        tag = self.scopes.tag(name)
        return (":=", name + "'" if self.scopes.hidden(name) else name, value, tag)

    def _lambda(self, node: ast.Lambda) -> Expr:
        outer = self.exprs([*node.args.defaults, *node.args.kw_defaults])
        own = scopes.collect([node.body]).local if self.binding else frozenset()  # `:=` in a lambda is the lambda's
        self.scopes.push("q", own | frozenset(scopes.parameters(node.args)))
        body = self.expr(node.body)
        self.scopes.pop()
        return self.opaque([*outer, ("f", body)])

    def _comprehension(self, node: Any) -> Expr:
        first = self.expr(node.generators[0].iter)
        self.scopes.push("q", scopes.comprehension_targets(node.generators))
        parts: list[Expr] = []
        for index, generator in enumerate(node.generators):
            for target in ast.walk(generator.target):
                if isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store):  # [0 for flags.A in rows]
                    stored = (self.expr(target.value), ("c", target.attr), EMPTY)
                    parts.append(("k", ("n", "setattr", ()), stored, ()))
                elif isinstance(target, ast.Subscript) and isinstance(target.ctx, ast.Store):
                    parts += [self.expr(target.value), self.expr(target.slice)]
            if index:
                parts.append(self.expr(generator.iter))
            parts.extend(self.exprs(generator.ifs))
        if isinstance(node, ast.DictComp):
            parts += [self.expr(node.key), self.expr(node.value)]
        else:
            parts.append(self.expr(node.elt))
        self.scopes.pop()
        made = "g" if isinstance(node, ast.GeneratorExp) else "c"
        return self.opaque([first, ("f", self.opaque(parts), made)])

    def _joined(self, node: ast.JoinedStr) -> Expr:
        parts: list[Expr] = []
        before = ""
        for value in node.values:
            part = self.expr(value)
            if isinstance(value, ast.FormattedValue) and before.rstrip().endswith("="):
                # f"{is_cuda()=}" prints its own source text: the field is read, never folded.
                text = "".join(before.rstrip()[:-1].split())
                if text.endswith("".join(ast.unparse(value.value).split())):
                    part = ("u", part)
            before = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
            parts.append(part)
        return ("j", tuple(parts))

    def _formatted(self, node: ast.FormattedValue) -> Expr:
        value = self.expr(node.value)
        if node.format_spec is not None:
            return self.opaque([value, self.expr(node.format_spec)])
        return self.opaque([value])

    def _binop(self, node: ast.BinOp) -> Expr:
        left, right = self.expr(node.left), self.expr(node.right)
        if isinstance(node.op, ast.Mod) and left[0] == "c" and isinstance(left[1], str):
            return ("j", _pieces(left[1], r"%(?:\(\w*\))?[-+ #0-9.*]*[a-zA-Z]", right))  # "forward_%s" % kind
        if isinstance(node.op, ast.Add) and (_is_text(left) or _is_text(right)):
            return ("j", (left, right))
        if isinstance(node.op, (ast.Add, ast.BitOr)) and (lists(left) or lists(right)):
            return ("o", (left, right), "+" if isinstance(node.op, ast.Add) else "|")  # A + ["x"]
        return self.opaque([left, right])

    def _starred(self, node: ast.Starred) -> Expr:
        value = self.expr(node.value)
        return ("o", (value,), "*" if lists(value) else "**")

    def _yield(self, node: Any) -> Expr:
        return ("yield", self.expr(node.value))

    def _subscript(self, node: ast.Subscript) -> Expr:
        base, index = self.expr(node.value), self.expr(node.slice)
        if base[0] in ("n", "v", "b") and (base[1], *base[2])[-1].lstrip(".") == "Literal":
            self._literals += 1
            if index[0] in ("t", "o"):
                return ("o", (base, index), "['" if self._quoted else "[")
        if index[0] == "c" and base[0] in ("n", "v", "b", "x"):
            return self._extend(base, f"[{_repr(index[1])}]")
        if base[0] == "d":
            return ("o", (base, index), "[]")
        whole = self.opaque([base, index])
        copied = base[0] == "k" and base[1][0] == "n" and base[1][1] in _COPIES and not base[1][2]  # list(T)[0]
        return ("o", whole[1], "[:") if whole[1] and (copied or isinstance(node.slice, ast.Slice)) else whole


_COPIES = frozenset(["list", "tuple", "sorted"])
_BINDING = re.compile(rb":=|yield|nonlocal")


def _binding_lines(data: bytes) -> list[int]:
    """Lines on which an expression may bind or suspend, 1-based and sorted: where scopes must look into expressions."""
    if not _BINDING.search(data):
        return []
    if b"\r" in data:  # also a lone carriage return ends a line to Python
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    found: list[int] = []
    line, here = 1, 0
    for place in _BINDING.finditer(data):
        line, here = line + data.count(b"\n", here, place.start()), place.start()
        found.append(line)
    return found


def _repr(value: object) -> str:
    """A constant as text that reads back: ``1e999`` is ``inf`` to ``repr``, which is a name."""
    return repr(value).replace("inf", "1e999") if type(value) is float else repr(value)


def _pieces(text: str, hole: str, values: Expr) -> tuple[Expr, ...]:
    """A formatted text as an f-string would hold it: constants, and the values where the first hole is."""
    parts: list[Expr] = []
    for index, piece in enumerate(re.split(hole, text)):
        if index:
            parts.append(values if index == 1 else EMPTY)
        if piece:
            parts.append(("c", piece))
    return tuple(parts) if len(parts) > 1 else (*parts, values)


def _fields(text: str) -> list[tuple[str, ...]]:
    """What the fields of a format read of their objects: ``"{0.shape.rows}"``."""
    found = re.findall(r"\{\w*((?:\.\w+|\[[^\]{}]*\])+)", text)
    return [path for path in (tuple(re.findall(r"\.\w+", field)) for field in found) if path]


def lists(expr: Expr) -> bool:
    """Is it a display, or made of one: what tables are put together from?"""
    tag = expr[0]
    if tag == "k":
        return any(lists(argument) for argument in expr[2]) or (bool(expr[3]) and expr[1][1:2] == ("dict",))
    if tag == "?":
        return lists(expr[2]) or lists(expr[3])
    if tag == "o":
        walked = (
            len(expr[1]) == 2 and expr[1][1][0] == "f" and expr[1][1][2:] in (("c",), ("g",))
        )  # [x for x in ["a", "b"]]
        return (len(expr) == 3 and expr[2] not in ("[:", "[]")) or (walked and lists(expr[1][0]))
    return tag in ("t", "d")


def _is_text(expr: Expr) -> bool:
    return expr[0] == "j" or (expr[0] == "c" and isinstance(expr[1], str))
