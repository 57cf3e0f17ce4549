"""Places of one file that store into something a fact may speak of, live or not.

Blind to: names made by ``exec``, stores that C extensions make, ``patch("pkg.mod.X")`` with the
name as text, and a mapping of the environment that travels under another name and is given
a key that is computed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pruner.model.policy import Const
from pruner.scan.passing import BARE, PLAIN, walk

ABSENT = "absent"
"""Stands as the value of a deletion."""
_ENVIRONMENT = ("environ",)
_KEY = re.compile(r"[A-Z][A-Z0-9_]{2,}")  # of the environment
_STORED = (b"setattr", b"delattr")
_UNCALLED = re.compile(rb"\b(?:set|del)attr\b(?!\s*\()")
_STORING = frozenset({"setattr", "delattr"})
_FILLING = frozenset({"update", "setdefault", "__setitem__", "pop", "popitem", "clear", "__delitem__", "__ior__"})
_LOOKING = frozenset(
    "dict len sorted list str repr print iter any all tuple set frozenset deepcopy copy hash dumps isinstance pformat"
    " pprint bool type enumerate max min sum".split()
)  # calls that only look at a dictionary
_SETTERS = frozenset({"set", "override", "clear", "unset"})


@dataclass(frozen=True, slots=True)
class Site:
    """One store.

    ``kind``: ``variable`` (a global of this module), ``attribute``, ``item``, ``environment``,
    ``cell`` (``x.NAME.set(v)``); of :mod:`pruner.scan.made`: ``keyword`` and ``position`` (of a constructor or
    ``replace``), ``method`` (of the class itself), ``handed`` (the class as a value), ``member`` and ``option`` (another
    object with an attribute of the name).
    ``receiver``: names of the chain that is stored into, ``()`` when it is none; ``name`` None when
    it is computed; ``value`` a tuple of one constant, None when it is not known. ``owner`` is the
    class whose method the place is in, when the receiver is its first parameter.
    ``inside``: in a function. ``certain``: module level, under no test. ``start``: byte offset.
    ``same``: a keyword that is given the attribute of the same name of another object, by itself or by a local that
    holds nothing else (``flag = other.flag`` and later ``Args(flag=flag)``).
    """

    line: int
    start: int
    kind: str
    form: str
    receiver: tuple[str, ...]
    name: str | None
    value: tuple[Const, ...] | None
    owner: str = ""
    inside: bool = False
    certain: bool = False
    same: bool = False
    given: int = -1  # byte offset of what a keyword is given
    index: int = -1  # which positional argument
    spread: bool = False  # this one and all that may follow: Args(*row)
    of: str = ""  # whose constructor: ``known``, ``unknown`` (type(x)(..)), "" for any other call
    hint: str = ""  # what the receiver, a parameter, is annotated as


@dataclass(slots=True)
class FileStores:
    """The stores of a file with what is needed to judge them."""

    sites: list[Site] = field(default_factory=list)
    imports: dict[str, set[tuple[str, int, str]]] = field(default_factory=dict)  # local name -> (module, level, name)
    bases: dict[str, tuple[str, ...]] = field(default_factory=dict)  # class -> last names of its bases
    members: dict[str, dict[str, str]] = field(default_factory=dict)  # class -> name -> def, computed or value


def find(data: bytes, tree: ast.Module | None = None) -> FileStores:
    """All stores of a file; ``tree``: its syntax tree. Raises SyntaxError and ValueError as ``ast.parse`` does."""
    reader = _Reader(data)
    for statement in (tree or ast.parse(data)).body:
        reader.statement(statement, True)
    return reader.out


def chain(node: ast.expr) -> tuple[str, ...]:
    """``a.b().c`` as ``("a", "b", "c")``; () for anything that is no chain of names, attributes and calls."""
    names: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Name):
            return (node.id, *reversed(names))
        else:
            return ()


def constant(node: ast.expr | None) -> tuple[Const, ...] | None:
    """The value of a literal, as a tuple of one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | bool | None):
        return (node.value,)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        return (-value,) if isinstance(value, int | float) and not isinstance(value, bool) else None
    return None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.out = FileStores()
        self.starts = [0]
        for line in data.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        if data.startswith(b"\xef\xbb\xbf"):
            self.starts[0] = 3
        self.declares = b"global" in data
        uncalled = any(mark in data and _UNCALLED.search(data) for mark in _STORED)
        self.skipped = BARE if uncalled else PLAIN
        self.dictionaries = uncalled or b"__dict__" in data or b"vars(" in data
        self.classes: list[str] = []
        self.functions: list[tuple[str, frozenset[str]]] = []  # first parameter, names declared global
        self.hints: list[ast.arguments] = []  # of the functions around
        self.quiet: set[int] = set()  # expressions that give an object's dictionary to who only looks at it

    # -- walking ------------------------------------------------------------------------------

    def statement(self, node: ast.stmt, certain: bool) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._import(node)
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._function(node)
            return
        if isinstance(node, ast.ClassDef):
            self.out.bases[node.name] = tuple(c[-1] for b in node.bases if (c := chain(b)))
            self.out.members[node.name] = dict(_members(node))
            for expression in (*node.decorator_list, *node.bases, *(k.value for k in node.keywords)):
                self.expression(expression)
            functions, self.functions = self.functions, []
            self.classes.append(node.name)
            for inner in node.body:
                self.statement(inner, False)
            self.classes.pop()
            self.functions = functions
            return
        self._own(node, certain)
        for block in _blocks(node):
            for inner in block:
                self.statement(inner, False)
        for expression in _expressions(node):
            self.expression(expression)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for expression in (*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)):
            self.expression(expression)
        arguments = [*node.args.posonlyargs, *node.args.args]
        method = bool(self.classes) and not self.functions
        first = arguments[0].arg if arguments and method else self.functions[-1][0] if self.functions else ""
        declared: frozenset[str] = frozenset()
        if self.declares:
            declared = frozenset(_globals(node))
        if self.functions and node.name in self.functions[-1][1]:
            self._add(node, "variable", "def", (), node.name, None, False)
        self.functions.append((first, declared))
        self.hints.append(node.args)
        for inner in node.body:
            self.statement(inner, False)
        self.hints.pop()
        self.functions.pop()

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                target = (alias.name if alias.asname else alias.name.split(".")[0], 0, "")
                self.out.imports.setdefault(alias.asname or alias.name.split(".")[0], set()).add(target)
            else:
                known = (node.module or "", node.level, alias.name)
                self.out.imports.setdefault(alias.asname or alias.name, set()).add(known)

    def expression(self, node: ast.expr) -> None:
        if isinstance(node, ast.Constant | ast.Name):
            if isinstance(node, ast.Name) and node.id in _STORING:  # put = setattr
                self._add(node, "attribute", f"{node.id} as a value", (), None, None, False)
            return
        for part in walk(node, self.skipped):
            if isinstance(part, ast.Name):
                if part.id in _STORING and id(part) not in self.quiet and isinstance(part.ctx, ast.Load):
                    self._add(part, "attribute", f"{part.id} as a value", (), None, None, False)
                continue
            if self.dictionaries:
                self._looks(part)
            if (
                self.dictionaries
                and isinstance(part, ast.Call | ast.Attribute)
                and id(part) not in self.quiet
                and _is_dictionary(part)
            ):
                self._add(part, "attribute", "__dict__ as a value", _holder(part), None, None, False)
            if isinstance(part, ast.Call):
                self._call(part)
            elif isinstance(part, ast.Dict):
                self._display(part)
            elif isinstance(part, ast.NamedExpr):
                self._target(part.target, part, ":=", constant(part.value), False)
            elif isinstance(part, ast.comprehension):
                self._target(part.target, part.target, "for", None, False)

    def _looks(self, node: ast.AST) -> None:
        """Note the parts of an expression that only look at an object's dictionary, or call ``setattr`` here."""
        looked: list[ast.AST] = []
        if isinstance(node, ast.Call):
            looked.append(node.func)
            if chain(node.func)[-1:] and chain(node.func)[-1] in _LOOKING:
                looked += node.args
            looked += [word.value for word in node.keywords if word.arg is None]
        elif isinstance(node, ast.Attribute | ast.Subscript | ast.FormattedValue | ast.Starred):
            looked.append(node.value)  # vars(x).items(); vars(x).update(..) is a store of its own
        elif isinstance(node, ast.Compare):
            looked += [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            looked += [value for key, value in zip(node.keys, node.values, strict=True) if key is None]
        elif isinstance(node, ast.comprehension):
            looked.append(node.iter)
        self.quiet.update(map(id, looked))

    # -- stores -------------------------------------------------------------------------------

    def _own(self, node: ast.stmt, certain: bool) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._target(target, node, "=", constant(node.value), certain)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self._target(node.target, node, "=", constant(node.value), certain)
        elif isinstance(node, ast.AugAssign):
            self._target(node.target, node, "augmented", None, certain)
            if isinstance(node.op, ast.BitOr) and chain(node.target)[-1:] == _ENVIRONMENT:
                self._mapping(node, chain(node.target), node.value, "|=")
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self._target(target, node, "del", (ABSENT,), certain, deleted=True)
        elif isinstance(node, ast.For | ast.AsyncFor):
            self.quiet.add(id(node.iter))
            self._target(node.target, node, "for", None, certain)
        elif isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                if item.optional_vars is not None:
                    self._target(item.optional_vars, node, "with", None, certain)
        elif isinstance(node, ast.Try | ast.TryStar):
            for handler in node.handlers:
                if handler.name:
                    self._target(ast.Name(handler.name), handler, "except", None, certain)

    def _target(
        self,
        target: ast.expr,
        node: ast.AST,
        form: str,
        value: tuple[Const, ...] | None,
        certain: bool,
        deleted: bool = False,
    ) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._target(part, node, form, None, certain)
        elif isinstance(target, ast.Starred):
            self._target(target.value, node, form, None, certain)
        elif isinstance(target, ast.Name):
            declared = bool(self.functions) and target.id in self.functions[-1][1]
            if declared or not (self.functions or self.classes):
                self._add(node, "variable", form, (), target.id, value, certain and not self.functions)
        elif isinstance(target, ast.Attribute):
            name = None if target.attr == "__dict__" else target.attr  # x.__dict__ = other.__dict__, x.__dict__ |= {..}
            self.quiet.add(id(target))
            self._add(node, "attribute", form, chain(target.value), name, value if name else None, False)
        elif isinstance(target, ast.Subscript):
            self._item(node, target.value, target.slice, form, value)

    def _item(self, node: ast.AST, base: ast.expr, key: ast.expr, form: str, value: tuple[Const, ...] | None) -> None:
        names = chain(base)
        known = constant(key)
        name = known[0] if known and isinstance(known[0], str) else None
        if names == ("globals",) and isinstance(base, ast.Call):
            self._add(node, "variable", "globals()[...]", (), name, value, False)
        elif _is_dictionary(base):
            self.quiet.add(id(base))
            self._add(node, "attribute", "__dict__", _holder(base), name, value, False)
        elif names[-1:] == _ENVIRONMENT:
            self._add(node, "environment", f"environ[...] {form}", names, name, value, False)
        elif name is not None or known is None:
            self._add(node, "item", f"[...] {form}", names, name, value, False)

    def _display(self, node: ast.Dict) -> None:
        """``{**os.environ, "KEY": "1"}``: capitals, which may become a child's environment."""
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str) and _KEY.fullmatch(key.value):
                self._add(key, "item", "{...}", (), key.value, constant(value), False)

    def _call(self, node: ast.Call) -> None:
        names = chain(node.func)
        if not names:
            if isinstance(node.func, ast.Attribute):
                names = ("", node.func.attr)
            else:
                return
        last, args = names[-1], node.args
        if names in (("setattr",), ("delattr",)) and len(args) >= 2:
            self._named(node, last, chain(args[0]), args[1], args[2] if len(args) > 2 else None)
        elif last in ("__setattr__", "__delattr__") and args:
            own = len(args) > 2 or (last == "__delattr__" and len(args) > 1)  # object.__setattr__(self, name, v)
            receiver = chain(args[0]) if own else self._first() if names[0] == "super" else names[:-1]
            self._named(node, last, receiver, args[1] if own else args[0], args[-1])
        elif last == "object" and len(names) > 1 and names[-2] == "patch" and len(args) >= 2:
            self._named(node, "patch.object", chain(args[0]), args[1], None)
        elif last in ("putenv", "unsetenv") and args:
            self._named(node, last, names, args[0], args[1] if len(args) > 1 else None, "environment")
        elif names[-2:-1] == _ENVIRONMENT:
            self._environment(node, names, last)
        elif (
            last == "dict" and len(names) > 1 and names[-2] == "patch" and args and chain(args[0])[-1:] == _ENVIRONMENT
        ):
            self._mapping(node, chain(args[0]), args[1] if len(args) > 1 else None, "patch.dict")
        elif last in _FILLING and isinstance(node.func, ast.Attribute) and _is_dictionary(node.func.value):
            self._filled(node, last, _holder(node.func.value))
        elif last == "update" and names == ("globals", "update"):
            self._add(node, "variable", "globals().update", (), None, None, False)
        elif last in _SETTERS and len(names) > 2 and names[-2].isupper():
            value = (ABSENT,) if last in ("clear", "unset") else constant(args[0]) if args else None
            self._add(node, "cell", f".{last}()", names[:-2], names[-2], value, False)
        elif last in ("update", "setdefault", "pop", "clear") and args:
            key = constant(args[0])
            if last in ("setdefault", "pop") and key and isinstance(key[0], str):
                value = constant(args[1]) if len(args) > 1 and last == "setdefault" else None
                self._add(node, "item", f".{last}()", names[:-1], key[0], value, False)
        elif last in ("update", "dict"):
            for word in node.keywords:
                if word.arg is not None and _KEY.fullmatch(word.arg):
                    self._add(
                        word, "item", f"{last}({word.arg}=...)", names[:-1], word.arg, constant(word.value), False
                    )

    def _filled(self, node: ast.Call, last: str, receiver: tuple[str, ...]) -> None:
        """``x.__dict__.update(flag=v)``, ``vars(x).setdefault(k, v)``."""
        form = f"__dict__.{last}"
        if last in ("setdefault", "__setitem__", "pop", "__delitem__") and node.args:
            gone = last in ("pop", "__delitem__")
            stored = node.args[1] if len(node.args) > 1 and not gone else None
            self._named(node, form, receiver, node.args[0], stored, gone=gone)
            return
        words: list[tuple[ast.expr | None, ast.expr | None]] = []
        for part in node.args:
            pairs = zip(part.keys, part.values, strict=True) if isinstance(part, ast.Dict) else [(None, None)]
            words += pairs
        words += [(ast.Constant(word.arg) if word.arg else None, word.value) for word in node.keywords]
        for key, value in words or [(None, None)]:
            self._named(node, form, receiver, key or ast.Name("?"), value)

    def _environment(self, node: ast.Call, names: tuple[str, ...], last: str) -> None:
        args = node.args
        if last == "update":
            for mapping in args:
                self._mapping(node, names[:-1], mapping, "environ.update")
            for word in node.keywords:
                self._add(node, "environment", "environ.update", names, word.arg, constant(word.value), False)
        elif last in ("setdefault", "__setitem__", "pop", "__delitem__") and args:
            gone = last in ("pop", "__delitem__")
            value = args[1] if len(args) > 1 and not gone else None
            self._named(node, f"environ.{last}", names, args[0], value, "environment", gone)
        elif last in ("clear", "popitem"):
            self._add(node, "environment", f"environ.{last}", names, None, (ABSENT,), False)

    def _mapping(self, node: ast.AST, names: tuple[str, ...], mapping: ast.expr | None, form: str) -> None:
        if not isinstance(mapping, ast.Dict):
            self._add(node, "environment", form, names, None, None, False)
            return
        for key, value in zip(mapping.keys, mapping.values, strict=True):
            known = constant(key)
            name = known[0] if known and isinstance(known[0], str) else None
            self._add(node, "environment", form, names, name, constant(value), False)

    def _named(
        self,
        node: ast.AST,
        form: str,
        receiver: tuple[str, ...],
        name: ast.expr,
        value: ast.expr | None,
        kind: str = "attribute",
        gone: bool = False,
    ) -> None:
        known = constant(name)
        text = known[0] if known and isinstance(known[0], str) else None
        stored: tuple[Const, ...] | None = (ABSENT,) if gone or form in ("delattr", "unsetenv") else constant(value)
        self._add(node, kind, form, receiver, text, stored, False)

    def _first(self) -> tuple[str, ...]:
        return (self.functions[-1][0],) if self.functions and self.functions[-1][0] else ()

    def _hint(self, name: str) -> str:
        """The last name of what a parameter is annotated as."""
        for arguments in reversed(self.hints):
            for part in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                if part.arg == name:
                    return _noted(part.annotation) if part.annotation else ""
        return ""

    def _add(
        self,
        node: ast.AST,
        kind: str,
        form: str,
        receiver: tuple[str, ...],
        name: str | None,
        value: tuple[Const, ...] | None,
        certain: bool,
    ) -> None:
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        owner = self.classes[-1] if self.classes and receiver and receiver == self._first() else ""
        start = self.starts[line - 1] + column
        inside = bool(self.functions)
        hint = self._hint(receiver[0]) if name is None and len(receiver) == 1 and not owner else ""
        self.out.sites.append(Site(line, start, kind, form, receiver, name, value, owner, inside, certain, hint=hint))


def _noted(node: ast.expr) -> str:
    """The class that an annotation names: ``Args``, ``"conf.Args"``, ``Optional[Args]``, ``Args | None``."""
    if isinstance(node, ast.Constant):
        found = re.findall(r"\w+", node.value) if isinstance(node.value, str) else []
        return next((word for word in reversed(found) if word not in ("None", "Optional")), "")
    if isinstance(node, ast.Subscript):
        return _noted(node.slice)
    if isinstance(node, ast.BinOp):
        return _noted(node.left) or _noted(node.right)
    names = chain(node)
    return names[-1] if names else ""


def _is_dictionary(node: ast.expr) -> bool:
    """``x.__dict__``, ``vars(x)``, ``getattr(x, "__dict__")``: what is stored there is an attribute of ``x``."""
    if isinstance(node, ast.Attribute):
        return node.attr == "__dict__"
    if not isinstance(node, ast.Call) or not node.args:
        return False
    names = chain(node.func)
    return names == ("vars",) or (
        names in (("getattr",), ("attrgetter",), ("operator", "attrgetter")) and _names_it(node)
    )


def _names_it(node: ast.Call) -> bool:
    return any(isinstance(part, ast.Constant) and part.value == "__dict__" for part in node.args)


def _holder(node: ast.expr) -> tuple[str, ...]:
    """The names of the object whose dictionary this is."""
    return chain(node.value) if isinstance(node, ast.Attribute) else chain(node.args[0])  # type: ignore[attr-defined]


def _members(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
            yield inner.name, "computed" if inner.decorator_list else "def"
        elif isinstance(inner, ast.Assign):
            yield from ((t.id, "value") for t in inner.targets if isinstance(t, ast.Name))
        elif isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
            yield inner.target.id, "value"


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
    for handler in getattr(node, "handlers", ()):
        yield handler.body
    for case in getattr(node, "cases", ()):
        yield case.body


def _globals(node: ast.stmt) -> Iterator[str]:
    """Names that a function or its inner functions declare global."""
    if isinstance(node, ast.Global):
        yield from node.names
    for block in _blocks(node):
        for inner in block:
            yield from _globals(inner)


def _expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """Expressions of a statement that are not in its blocks."""
    for name, value in ast.iter_fields(node):
        if name in ("body", "orelse", "finalbody", "handlers", "cases"):
            continue
        for part in value if isinstance(value, list) else (value,):
            if isinstance(part, ast.expr):
                yield part
            elif isinstance(part, ast.withitem):
                yield part.context_expr
    for case in getattr(node, "cases", ()):
        if case.guard is not None:
            yield case.guard


def said(data: bytes) -> set[str]:
    """Texts that could become the key of a store: strings and keywords, but for those that only read.

    ``os.environ.get("KEY")``, ``get_flag("KEY", 0)``, ``flag("KEY")`` and ``environ["KEY"]`` as values read;
    ``put("KEY", value)`` may store. Raises nothing: an unreadable file says nothing.
    """
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    reads: set[int] = set()
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found.update(word.arg for word in node.keywords if word.arg)
            names = chain(node.func)
            asks = (bool(names) and names[-1].startswith("get")) or len(node.args) == 1
            if node.args and asks and not node.keywords:
                reads.add(id(node.args[0]))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            reads.add(id(node.slice))
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
            reads.add(id(node.left))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in reads:
            found.add(node.value)  # breadth first: whoever reads was met before
    return found
