"""What objects are given when they are made, and by their dictionary: the verifier's own reading, for facts on attributes.

Read only where a fact on an attribute of a class is asked by no guard. Unknown is the safe answer: the fact then decides
nothing here, and the code must still be there.

Blind to: classes that come out of containers and calls, to names that are put together, and to classes
that begin with a small letter.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from pruner.verify.built import chain_text
from pruner.verify.gifts import ANY, Gift, Giving, Shape
from pruner.verify.names import Import
from pruner.verify.nodes import children, walk
from pruner.verify.record import UNSET

_COPY = frozenset({"replace", "_replace", "evolve", "model_copy", "__replace__"})
_HOMES = frozenset({"dataclasses", "copy", "attr", "attrs", "msgspec.structs"})
_LOOK = frozenset(
    "isinstance issubclass fields get_type_hints cast TypeVar signature hasattr repr str print len type super is_dataclass"
    " getsource id hash dir get_origin get_args".split()
)
_COUNT = frozenset(
    "dict len sorted list str repr print iter any all tuple set frozenset deepcopy copy hash dumps isinstance pformat pprint"
    " bool type enumerate max min sum".split()
)  # calls that only look at a dictionary
_KNOWN = frozenset("dataclass final runtime_checkable total_ordering unique define frozen mutable attrs s".split())
_FILL = frozenset({"update", "setdefault", "__setitem__", "__ior__"})
_COPYING = frozenset({"dataclasses.replace", "copy.replace", "attrs.evolve", "attr.evolve"})
_MAKE = frozenset({"namedtuple", "make_dataclass", "create_model", "make_class", "type", "new_class", "add_argument"})


def unasked(facts: Iterable[str], asked: Iterable[str]) -> frozenset[str]:
    """``Class.flag`` of facts on attributes of classes (``pkg.mod.Class.flag``) of which no guard asks the name."""
    looked = {subject.rpartition(".")[2] for subject in asked}
    found: set[str] = set()
    for subject in facts:
        owner, _, name = subject.rpartition(".")
        kind = owner.rpartition(".")[2]
        if name.isidentifier() and name not in looked and kind.lstrip("_")[:1].isupper():
            found.add(f"{kind}.{name}")
    return frozenset(found)


_MARKS = (b"__dict__", b"vars(", b"__setattr__", b".__class__(", b"super().__init__")


def worth(data: bytes, wanted: frozenset[str]) -> bool:
    """Does a file name one of the classes or attributes, or a way to an object whose class nobody knows?"""
    if any(mark in data for mark in _MARKS) or any(part.encode() in data for row in wanted for part in row.split(".")):
        return True
    replaced = b"**" in data and (b"replace(" in data or b"evolve(" in data or b"model_copy(" in data)
    return replaced or (b")(" in data and b"type(" in data)


def read(tree: ast.Module, imports: Iterable[Import], wanted: frozenset[str]) -> Giving:
    """One file with its imports; ``wanted`` as :func:`unasked` gives it."""
    imports = list(imports)
    rows = [row for row in imports if row.symbol not in _COPY or row.target in _HOMES]
    alias = {row.bound: row.symbol for row in rows if row.symbol and row.symbol != row.bound}
    words = frozenset(row.partition(".")[2] for row in wanted)
    reader = _Reader(alias, words, frozenset(row.bound for row in imports))
    reader.suite(tree, "", "", False)
    return reader.out


class _Reader:
    def __init__(self, alias: dict[str, str], words: frozenset[str], imported: frozenset[str]) -> None:
        self.alias, self.words, self.imported = alias, words, imported
        self.out = Giving()

    def suite(self, node: ast.AST, owner: str, first: str, of_class: bool) -> None:
        """Everything below a node; ``first`` is the method's first parameter, a class when ``of_class``."""
        stack: list[ast.AST] = list(children(node))
        while stack:
            part = stack.pop()
            if isinstance(part, ast.ClassDef):
                self._class(part)
                continue
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and isinstance(node, ast.ClassDef):
                self._method(part, node.name)
                continue
            if isinstance(part, ast.arg | ast.Constant | ast.Name):
                continue
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                stack += [
                    *part.args.defaults,
                    *(d for d in part.args.kw_defaults if d),
                    *part.body,
                    *part.decorator_list,
                ]
                continue
            if isinstance(part, ast.AnnAssign):
                if part.value is not None:
                    self._handed(part.value, owner, first)
                    stack += [part.value, part.target]
                continue
            if isinstance(part, ast.Call):
                self._call(part, owner, first, of_class)
            elif isinstance(part, ast.Assign | ast.Return) and part.value is not None:
                self._handed(part.value, owner, first)
            elif isinstance(part, ast.For):
                self._handed(part.iter, owner, first) if isinstance(part.iter, ast.List | ast.Tuple) else None
            elif isinstance(part, ast.Dict):
                for value in part.values:
                    self._handed(value, owner, first)
            if isinstance(part, ast.Assign | ast.AugAssign):
                for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
                    self._filled(target, owner, first)
            stack += children(part)

    def _class(self, node: ast.ClassDef) -> None:
        names = [
            item.target.id
            for item in node.body
            if isinstance(item, ast.AnnAssign)
            and isinstance(item.target, ast.Name)
            and not _class_variable(item.annotation)
        ]
        init = any(isinstance(item, ast.FunctionDef) and item.name == "__init__" for item in node.body)
        by_keyword = any(
            isinstance(d, ast.Call)
            and any(k.arg == "kw_only" and getattr(k.value, "value", False) is True for k in d.keywords)
            for d in node.decorator_list
        )
        bases = tuple(self._last(base) for base in node.bases)
        made = bool(node.decorator_list or node.keywords)
        shape = Shape(bases, init, made, () if by_keyword and not bases else tuple(names))
        self.out.shapes.setdefault(node.name, []).append(shape)
        self.suite(node, node.name, "", False)

    def _method(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> None:
        decorators = {chain_text(d).rpartition(".")[2] for d in node.decorator_list}
        arguments = [*node.args.posonlyargs, *node.args.args]
        first = arguments[0].arg if arguments and "staticmethod" not in decorators else ""
        self.suite(node, owner, first, "classmethod" in decorators or node.name in ("__new__", "__init_subclass__"))

    def _last(self, node: ast.expr) -> str:
        while isinstance(node, ast.Subscript):
            node = node.value
        text = chain_text(node)
        return self.alias.get(text, text.rpartition(".")[2])

    def _class_of(self, node: ast.expr, owner: str, first: str, of_class: bool) -> str | None:
        """``cls`` for the class around, "" for that of an object nobody knows, None for what is no such thing."""
        if isinstance(node, ast.Name):
            return "cls" if of_class and node.id == first else None
        inner: ast.expr | None = None
        if isinstance(node, ast.Attribute) and node.attr == "__class__":
            inner = node.value
        elif isinstance(node, ast.Call) and chain_text(node.func) == "type" and len(node.args) == 1:
            inner = node.args[0]
        if inner is None:
            return None
        return "cls" if isinstance(inner, ast.Name) and first and inner.id == first else ""

    def _call(self, node: ast.Call, owner: str, first: str, of_class: bool) -> None:
        name = self._last(node.func) or getattr(node.func, "attr", "")
        kind = self._class_of(node.func, owner, first, of_class)
        if kind is not None:
            self._give(node, kind, owner)
        elif name in _COPY:
            mine = isinstance(node.func, ast.Attribute) and self._mine(node.func.value, first)
            mine = mine or bool(node.args and self._mine(node.args[0], first))
            for word in node.keywords:
                if word.arg is None and not _written(word.value):
                    self.out.gifts.append(Gift("cls" if mine else "", owner, ANY))
        elif name == "__init__" and isinstance(node.func, ast.Attribute):
            base = node.func.value
            if isinstance(base, ast.Call) and chain_text(base.func) == "super":
                self._give(node, "cls", owner)
            elif self._last(base)[:1].isupper():
                self._give(node, self._last(base), owner, 1)  # Args.__init__(self, ..)
        elif name in ("__setattr__", "__delattr__") and isinstance(node.func, ast.Attribute) and node.args:
            own = len(node.args) > 2
            if not isinstance(node.args[1 if own else 0], ast.Constant):
                self._kept(node.args[0] if own else node.func.value, owner, first)
        elif name in _MAKE and (name != "type" or len(node.args) > 2):
            said = {word for part in walk(node) if isinstance(part, ast.Constant) for word in _words(part.value)}
            said |= {word.arg or "" for word in node.keywords}
            self.out.gifts += [Gift("", owner, "member", word) for word in sorted(said & self.words)]
        elif name and (name[:1].isupper() or name in self.out.shapes or name in self.alias.values()):
            self._give(node, name, owner)
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if receiver is not None and name in _FILL and _dictionary(receiver) is not None:
            self._stored(_dictionary(receiver), owner, first, node)
        if name not in _LOOK and name != "__new__":
            for argument in node.args:
                if name not in _COUNT or _dictionary(argument) is None:
                    self._handed(argument, owner, first)
            for word in node.keywords:
                if word.arg not in (None, "default_factory", "bound", "spec"):
                    self._handed(word.value, owner, first)

    def _mine(self, node: ast.expr, first: str) -> bool:
        if isinstance(node, ast.Call):
            return chain_text(node.func) == "super"
        return isinstance(node, ast.Name) and bool(first) and node.id == first

    def _give(self, node: ast.Call, name: str, owner: str, shift: int = 0) -> None:
        for index, argument in enumerate(node.args[shift:]):
            if isinstance(argument, ast.Starred):
                self.out.gifts.append(Gift(name, owner, ANY))
                break
            value = argument.value if isinstance(argument, ast.Constant) else UNSET
            self.out.gifts.append(Gift(name, owner, index, value))
        for word in node.keywords:
            if word.arg is None:
                if not _written(word.value) or self._says([word.value]):
                    self.out.gifts.append(Gift(name, owner, ANY))
            elif word.arg in self.words and name in ("", "cls"):
                same = isinstance(word.value, ast.Attribute) and word.value.attr == word.arg
                if not same and getattr(word.value, "id", "") != word.arg:
                    value = word.value.value if isinstance(word.value, ast.Constant) else UNSET
                    self.out.gifts.append(Gift(name, owner, str(word.arg), value))

    def _handed(self, node: ast.expr, owner: str, first: str) -> None:
        """A class that is named as a value: whoever gets it may give it anything."""
        if isinstance(node, ast.Tuple | ast.List):
            for item in node.elts:
                self._handed(item, owner, first)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            name = self._last(node)
            if name[:1].isupper():
                self.out.gifts.append(Gift(name, "", ANY))
            elif name in _COPY and (chain_text(node) in _COPYING or chain_text(node) in self.alias):
                self.out.gifts.append(Gift("", "", ANY))
            elif chain_text(node) == "setattr":
                self.out.gifts.append(Gift("", "", "__dict__"))
        if (held := _dictionary(node)) is not None:
            self._kept(held, owner, first)  # d = vars(x)

    def _filled(self, target: ast.expr, owner: str, first: str) -> None:
        """``x.__dict__[key] = v``, ``vars(x)[key] = v``, ``x.__dict__ = v``, ``x.__dict__ |= v``."""
        if isinstance(target, ast.Subscript):
            if not isinstance(target.slice, ast.Constant) or target.slice.value in self.words:
                self._stored(_dictionary(target.value), owner, first, None)
        elif isinstance(target, ast.Attribute):
            self._stored(_dictionary(target), owner, first, None)

    def _stored(self, node: ast.expr | None, owner: str, first: str, call: ast.Call | None) -> None:
        if node is None:
            return
        if call is not None and all(_written(argument) for argument in call.args):
            named = {word.arg for word in call.keywords}
            if not named & self.words and None not in named and not self._says(call.args):
                return
        self._kept(node, owner, first)

    def _says(self, arguments: list[ast.expr]) -> bool:
        return any(isinstance(part, ast.Constant) and part.value in self.words for a in arguments for part in walk(a))

    def _kept(self, node: ast.expr, owner: str, first: str) -> None:
        if chain_text(node).partition(".")[0] in self.imported:
            return  # a module's globals
        self.out.gifts.append(Gift("cls" if self._mine(node, first) else "", owner, "__dict__"))


def _dictionary(node: ast.expr) -> ast.expr | None:
    """The object whose dictionary this is."""
    if isinstance(node, ast.Attribute):
        return node.value if node.attr == "__dict__" else None
    if isinstance(node, ast.Call) and chain_text(node.func) == "vars" and node.args:
        return node.args[0]
    return None


def _written(node: ast.expr) -> bool:
    """Are the names that it gives written there?"""
    if isinstance(node, ast.Dict):
        return all(isinstance(key, ast.Constant) for key in node.keys)
    return isinstance(node, ast.Constant)


def _words(value: object) -> list[str]:
    return re.findall(r"\w+", value.replace("-", "_").lstrip("_")) if isinstance(value, str) else []


def _class_variable(node: ast.expr) -> bool:
    return any(getattr(part, "id", getattr(part, "attr", "")) in ("ClassVar", "KW_ONLY") for part in walk(node))
