"""How a file makes objects of some classes, and what it gives them.

``Args(1, flag=v)`` says so itself; so do ``cls(..)`` and ``self.__class__(..)`` in the class's own methods,
``super().__init__(..)`` below it, ``dataclasses.replace(x, flag=v)`` and ``type(x)(**options)``, whose class nobody knows.
A class that is used as a value (``partial(Args, ..)``, ``TABLE = {"a": Args}``, ``make(Args)``) is *handed on*:
whoever gets it may give it anything, under any name.

Blind to: classes that come out of ``gc`` or data; a class of an unknown object (``type(x)``) that is kept in a table, or
handed to a function of another package, and then given no keyword of the name; names of made classes' members that are
put together.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pruner.scan.denoting import KNOWN, MINE, OTHER, OURS, UNKNOWN, Denoting
from pruner.scan.passing import passed_on, walk
from pruner.scan.stores import Site, chain, constant

REPLACERS = frozenset({"replace", "_replace", "evolve", "assoc", "model_copy", "copy", "__replace__"})
_HOMES = frozenset({"dataclasses", "copy", "attr", "attrs", "msgspec.structs"})  # of functions that replace
_LOOKING = frozenset(
    "isinstance issubclass fields get_type_hints cast TypeVar signature getsource hasattr dir id repr str print len type"
    " super is_dataclass get_args get_origin hash getdoc getfile getmodule".split()
)  # calls that only look at a class
_TYPING = frozenset(
    "Optional Union List Dict Type Sequence Iterable Iterator Callable Tuple Set FrozenSet Annotated ClassVar Generic"
    " Protocol Mapping Awaitable list dict tuple type set frozenset deque Deque DefaultDict defaultdict".split()
)
_PLAIN_DECORATORS = frozenset(
    "dataclass final runtime_checkable total_ordering unique define frozen mutable attrs s dataclass_transform".split()
)
_IMPORTS = re.compile(rb"from\s+(?:dataclasses|copy|attrs?|msgspec\.structs)\s+import\s*(\([^)]*\)|[^\n]*)")
_MEMBERS = frozenset({"namedtuple", "make_dataclass", "create_model", "make_class", "defstruct", "type", "new_class"})


@dataclass(slots=True)
class Made:
    """The sites of a file, and further names that it gives the classes (``import Args as A``)."""

    sites: list[Site] = field(default_factory=list)
    aliases: set[str] = field(default_factory=set)


def find(data: bytes, names: frozenset[str], own: frozenset[str], words: frozenset[str]) -> Made:
    """Where objects of the classes ``names`` are made, or of a class nobody knows.

    ``own``: classes in whose methods ``cls`` and ``type(self)`` may be one of ``names``; ``words``: the attributes that
    matter. Raises as ``ast.parse`` does.
    """
    tree = ast.parse(data)
    aliases: set[str] = set()
    replacers: set[str] = set()
    for name in names:
        if name.encode() in data:
            aliases.update(found[1].decode() for found in re.finditer(rb"\b%s\s+as\s+(\w+)" % name.encode(), data))
    for found in _IMPORTS.finditer(data) if b"replace" in data or b"evolve" in data else ():
        for name, alias in re.findall(rb"\b(\w+)(?:\s+as\s+(\w+))?", found[1]):
            if name.decode() in REPLACERS:
                replacers.add((alias or name).decode())
    reader = _Reader(data, tree, names | aliases, own, words, frozenset(replacers))
    for statement in tree.body:
        reader.statement(statement)
    return Made(reader.sites, aliases | reader.inner)


class _Reader(Denoting):
    def __init__(
        self,
        data: bytes,
        tree: ast.Module,
        names: frozenset[str],
        own: frozenset[str],
        words: frozenset[str],
        replacers: frozenset[str],
    ) -> None:
        self.tree = tree
        self._homes: dict[str, str] | None = None
        super().__init__(data, names, own, (*words, *replacers))
        self.words, self.replacers = words, replacers
        self.sites: list[Site] = []
        self.inner: set[str] = set()
        self.metas: list[bool] = []  # of the classes around: are these metaclasses?
        self.body: ast.FunctionDef | ast.AsyncFunctionDef | None = None
        self._passed: dict[ast.AST, set[str]] = {}

    # -- walking ------------------------------------------------------------------------------

    def statement(self, node: ast.AST) -> None:
        if isinstance(node, ast.stmt) and not self.marked(node):
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._function(node)
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.value(node.value)
            self.value(node.target)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Name):
            return  # a class that stands alone is not used
        elif isinstance(node, ast.expr):
            self.value(node)
        elif isinstance(node, ast.ExceptHandler):
            for inner in node.body:
                self.statement(inner)
        elif isinstance(node, ast.MatchClass):
            for pattern in (*node.patterns, *node.kwd_patterns):
                self.statement(pattern)
        else:
            for child in ast.iter_child_nodes(node):
                self.statement(child)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for expression in (*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)):
            self.value(expression)
        around = (self.first, self.holding, self.body, self.everything)
        if self.body is None and self.classes:
            arguments = [*node.args.posonlyargs, *node.args.args]
            decorators = {c[-1] for d in node.decorator_list if (c := chain(d))}
            made = node.name in ("__new__", "__init_subclass__", "__class_getitem__") or "classmethod" in decorators
            self.first = (arguments[0].arg if arguments and "staticmethod" not in decorators else "", made)
            self.everything = made and self.first[0] != "cls" and self.classes[-1] in self.own
        elif self.body is None:
            self.first = ("", False)
        self.body = node
        self.holding = dict(self.holding)
        for part in walk(node) if self.held else ():  # before what is read above it in a loop
            if isinstance(part, ast.Assign | ast.NamedExpr) and (kind := self.denotes(part.value)):
                targets = part.targets if isinstance(part, ast.Assign) else [part.target]
                for target in targets:
                    if isinstance(target, ast.Name) and self.holding.get(target.id) != KNOWN:
                        self.holding[target.id] = kind
        for inner in node.body:
            self.statement(inner)
        self.first, self.holding, self.body, self.everything = around

    def _class(self, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            names = chain(decorator)
            if node.name in self.names and (not names or names[-1] not in _PLAIN_DECORATORS):
                self._add(node, "handed", f"@{'.'.join(names)} of {node.name}", (node.name,), of=KNOWN)
            self.value(decorator)
        if (self.body is not None or self.classes) and any(self.denotes(base) in OURS for base in node.bases):
            self.inner.add(node.name)  # a subclass that only this place knows
        for base in node.bases:
            if not self.denotes(base):
                self.value(base)
        for word in node.keywords:
            self.value(word.value)
        around = (self.first, self.holding, self.body)
        self.first, self.holding, self.body = ("", False), {}, None
        self.classes.append(node.name)
        self.metas.append(
            any(
                chain(base)[-1:] == ("type",) or chain(base)[-1:][0][-4:] == "Meta"
                for base in node.bases
                if chain(base)
            )
        )
        for inner in node.body:
            self.statement(inner)
        self.classes.pop()
        self.metas.pop()
        self.first, self.holding, self.body = around

    # -- values -------------------------------------------------------------------------------

    def value(self, node: ast.AST, benign: bool = False) -> None:
        """Visit an expression whose value goes somewhere; ``benign``: to where a class is only looked at."""
        if isinstance(node, ast.Constant):
            return
        if isinstance(node, ast.expr) and self._itself(node):
            loaded = isinstance(getattr(node, "ctx", None), ast.Load | None)
            if (kind := self.denotes(node)) in OURS and not benign and loaded:
                self._add(node, "handed", f"{ast.unparse(node)} as a value", chain(node) or ("",), of=kind)
            if isinstance(node, ast.Attribute):
                self.value(node.value, benign=True)
            return
        if isinstance(node, ast.Call):
            self._call(node)
        elif isinstance(node, ast.Attribute):
            self._attribute(node)
        elif isinstance(node, ast.Name):
            if node.id in self.replacers and isinstance(node.ctx, ast.Load):
                self._add(node, "keyword", f"{node.id} as a value", ("replace",))
        elif isinstance(node, ast.Compare | ast.FormattedValue):
            for child in ast.iter_child_nodes(node):
                self.value(child, benign=True)
        elif isinstance(node, ast.Subscript):
            typing = chain(node.value)[-1:]
            self.value(node.value, benign=True)
            self.value(node.slice, benign=bool(typing) and typing[0] in _TYPING)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            self.value(node.left, benign=True)  # Args | None
            self.value(node.right, benign=True)
        elif isinstance(node, ast.Tuple | ast.List | ast.Starred | ast.IfExp | ast.BoolOp):
            for child in ast.iter_child_nodes(node):
                self.value(child, benign)
        elif isinstance(node, ast.expr | ast.keyword | ast.comprehension | ast.arguments):
            for child in ast.iter_child_nodes(node):
                self.value(child)

    def _itself(self, node: ast.expr) -> bool:
        """Does the expression name the class without calling for more than that?"""
        if isinstance(node, ast.Name | ast.Attribute):
            return bool(self.denotes(node))
        return isinstance(node, ast.Call | ast.Subscript) and self.denotes(node) in OURS and chain(node) != ("type",)

    def _attribute(self, node: ast.Attribute) -> None:
        names = chain(node)
        if node.attr in REPLACERS and len(names) > 1 and ".".join(names[:-1]) in _HOMES:
            self._add(node, "keyword", f"{'.'.join(names)} as a value", ("replace",))
        if node.attr == "__subclasses__" and names[-2:-1] and names[-2] in self.own:
            self._add(node, "handed", f"{'.'.join(names)} as a value", names, of=MINE, owner=names[-2])
        elif node.attr in ("__subclasses__", "__init__", "_make") and (kind := self.denotes(node.value)) in OURS:
            self._add(node, "handed", f"{node.attr} of {'.'.join(names[:-1])}", names[:-1] or ("",), of=kind)
        self.value(node.value, benign=True)

    # -- calls --------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> None:
        names = chain(node.func) if not isinstance(node.func, ast.Call) else ()
        last = names[-1] if names else node.func.attr if isinstance(node.func, ast.Attribute) else ""
        kind = self.denotes(node.func)
        if kind in (KNOWN, MINE, UNKNOWN):
            self._given(node, names or (kind,), kind, 0)
        elif isinstance(node.func, ast.Attribute) and last in ("__init__", "__new__", "_make"):
            self._made(node, node.func, last)
        elif last == "__call__" and self.metas and self.metas[-1] and isinstance(node.func, ast.Attribute):
            self._given(node, ("__call__",), UNKNOWN, 0)  # super().__call__(*args, **options) of a metaclass
        elif (
            isinstance(node.func, ast.Attribute)
            and (held := self.denotes(node.func.value)) in OURS
            and last not in REPLACERS
        ):
            if node.args or node.keywords:  # a class method that may be none of the tree's: model_construct(..)
                self._add(node, "method", f"{'.'.join(names)}(...)", names, of=held)
        elif last in REPLACERS or names in {(r,) for r in self.replacers}:
            self._replaced(node, last)
        elif kind != OTHER:
            for word in node.keywords:
                if word.arg in self.words:
                    self._keyword(node, word, names or ("",), "", (self.home(names[0]) or "") if names else "")
        if last in _MEMBERS:
            self._members(node, last)
        elif last == "add_argument":
            self._option(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in REPLACERS:
            self.value(node.func.value, benign=True)
        elif not (isinstance(node.func, ast.Name) or kind):
            self.value(node.func)
        for argument in (*node.args, *(word.value for word in node.keywords)):
            looked_up = isinstance(argument, ast.Call | ast.Subscript) and chain(argument) != ("type",)
            if self.denotes(argument) == UNKNOWN and last and last not in _LOOKING and not looked_up:
                self._add(node, "handed", f"{ast.unparse(argument)} as a value", (last,), of=UNKNOWN)
        looking = last in _LOOKING or (last == "__new__" and len(node.args) == 1)
        for argument in node.args:
            self.value(argument, benign=looking)
        for word in node.keywords:
            self.value(word.value, benign=looking or word.arg in ("default_factory", "bound", "spec"))

    def _made(self, node: ast.Call, func: ast.Attribute, last: str) -> None:
        """``super().__init__(..)``, ``Args.__init__(self, ..)``, ``x.__init__(..)``, ``Args.__new__(Args, ..)``, ``Args._make(..)``."""
        base = func.value
        upper = isinstance(base, ast.Call) and chain(base.func) == ("super",)
        kind = self._mine() if upper else self.denotes(base)
        if not kind:
            mine = isinstance(base, ast.Name) and bool(self.classes) and base.id == self.first[0]
            named = isinstance(base, ast.Name | ast.Attribute) and chain(base)[-1:] and chain(base)[-1][:1].isupper()
            kind = self._mine() if mine else OTHER if named else UNKNOWN
        shift = 0 if last == "_make" or (last == "__init__" and (upper or not self.denotes(base))) else 1
        if kind == OTHER or (last == "__new__" and len(node.args) < 2 and not node.keywords):
            return
        if last == "_make":
            self._add(node, "position", "_make(...)", chain(base) or ("",), index=0, spread=True, of=kind)
        elif last == "__init__" or kind in OURS:
            self._given(node, chain(base) or ("",), kind, shift)

    def _given(self, node: ast.Call, names: tuple[str, ...], kind: str, shift: int) -> None:
        form = f"{names[-1]}(...)"
        for index, argument in enumerate(node.args):
            if isinstance(argument, ast.Starred):
                self._add(
                    node, "position", f"{names[-1]}(*...)", names, index=max(index - shift, 0), spread=True, of=kind
                )
                break
            if index >= shift:
                given = constant(argument)
                self._add(node, "position", form, names, index=index - shift, value=given, of=kind)
        for word in node.keywords:
            self._keyword(node, word, names, kind)

    def home(self, name: str) -> str | None:
        """The first name of the module that a name is imported from; None for none."""
        if self._homes is None:
            self._homes = {}
            for part in walk(self.tree):
                if isinstance(part, ast.Import):
                    for alias in part.names:
                        self._homes[alias.asname or alias.name.partition(".")[0]] = alias.name.partition(".")[0]
                elif isinstance(part, ast.ImportFrom):
                    top = (part.module or "").partition(".")[0] if not part.level else ""
                    self._homes.update((alias.asname or alias.name, top) for alias in part.names)
        return self._homes.get(name)

    def _keyword(self, node: ast.Call, word: ast.keyword, names: tuple[str, ...], kind: str, hint: str = "") -> None:
        last = names[-1] or "a call"
        if word.arg is None:
            if isinstance(word.value, ast.Dict) and all(constant(key) for key in word.value.keys):
                for key, item in zip(word.value.keys, word.value.values, strict=True):
                    (name,) = constant(key) or (None,)
                    if name in self.words:
                        self._add(node, "keyword", f"{last}(**...)", names, str(name), constant(item), of=kind)
            else:
                self._add(node, "keyword", f"{last}(**...)", names, of=kind)
        elif word.arg in self.words:
            same = isinstance(word.value, ast.Attribute) and word.value.attr == word.arg
            if isinstance(word.value, ast.Name) and word.value.id == word.arg and self.body is not None:
                if self.body not in self._passed:
                    self._passed[self.body] = passed_on(self.body)
                same = word.arg in self._passed[self.body]
            given = self.starts[word.value.lineno - 1] + word.value.col_offset
            value = constant(word.value)
            self._add(
                node, "keyword", f"{last}(...)", names, word.arg, value, same=same, given=given, of=kind, hint=hint
            )

    def _replaced(self, node: ast.Call, last: str) -> None:
        """``dataclasses.replace(x, flag=v)``, ``x._replace(**k)``, ``x.model_copy(update=k)``."""
        names = chain(node.func)
        name = last if last in REPLACERS else "replace"
        function = names in {(r,) for r in self.replacers} or ".".join(names[:-1]) in _HOMES
        given = node.args[0] if function and node.args else getattr(node.func, "value", None)
        mine = isinstance(given, ast.Name) and bool(self.classes) and given.id == self.first[0]
        kind = self._mine() if mine else UNKNOWN
        if kind == OTHER:
            return
        for word in node.keywords:
            if word.arg == "update" and name in ("model_copy", "copy"):
                word = ast.keyword(None, word.value)
            self._keyword(node, word, (name,), kind)

    # -- members of other classes ---------------------------------------------------------------

    def _members(self, node: ast.Call, last: str) -> None:
        """``namedtuple("Q", "a flag")``, ``make_dataclass(..)``, ``type("Q", (), {"flag": 1})``: a class with the name."""
        if last == "type" and len(node.args) < 3:
            return
        found = {word for part in _strings(node) for word in re.findall(r"\w+", part)}
        found |= {part.arg for part in ast.walk(node) if isinstance(part, ast.keyword) and part.arg}  # dict(flag=1)
        for name in sorted(found & self.words):
            self._add(node, "member", f"{last}(...)", (last,), name)

    def _option(self, node: ast.Call) -> None:
        """``parser.add_argument("--flag")``: what is parsed has an attribute of the name."""
        said = {part.lstrip("-").replace("-", "_") for part in _strings(node)}
        for name in sorted(said & self.words):
            self._add(node, "option", "add_argument(...)", ("add_argument",), name)

    def _add(
        self,
        node: ast.AST,
        kind: str,
        form: str,
        receiver: tuple[str, ...],
        name: str | None = None,
        value: object = None,
        *,
        same: bool = False,
        given: int = -1,
        index: int = -1,
        spread: bool = False,
        of: str = "",
        hint: str = "",
        owner: str = "",
    ) -> None:
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        start = self.starts[line - 1] + column
        owner = owner or (self.classes[-1] if self.classes else "")
        site = Site(line, start, kind, form, receiver, name, value, owner, self.body is not None, False, same, given, index, spread, of, hint)  # type: ignore[arg-type]  # fmt: skip
        self.sites.append(site)


def _strings(node: ast.Call) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
