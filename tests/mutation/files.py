"""The files of a tree as the proof of :mod:`tests.mutation.proof` reads them, and what their texts say.

A name of a module is *said* when a text of a kept file, whole or put together, may be the name of an attribute.

Blind to names that come from a configuration, the environment or the network, to prose, and to a variable that carries
``function.__name__``.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

GUARD = "_prune_guard"  # writes what it asks in full, and then step by step: its texts name nothing else
NAMES = re.compile(r"[\w.:,;|/()-]*")  # a name, a dotted one, a list of some, a call: no prose
WORD = re.compile(r"[A-Za-z_]\w*")
LISTING = frozenset({"dir", "vars", "getmembers", "getmembers_static"})
ASKING = ("getattr", "hasattr", "setattr", "delattr")
LOADERS = frozenset({"import_module", "__import__"})
HOLE = "\0"  # in a text that is put together: what is not known


class File:
    """One file of a tree: its syntax, and what it imports, in order."""

    def __init__(self, module: str, package: bool, data: bytes) -> None:
        self.module, self.package = module, package
        self.tree = ast.parse(data)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.words: set[str] = set()
        self.texts: set[str] = set()
        self.listed: set[str] = set()  # by __all__: names of this very file
        self.parts: set[str] = set()  # words of texts that are no prose
        self.noted: set[str] = set()  # those of annotations
        self.built: set[str] = set()  # texts that are put together, each unknown part a HOLE
        self.loads = False  # a module whose name is no constant
        self.lists = False  # members of something
        self.defined: set[str] = set()
        self.asks_defined = False  # getattr(x, function.__name__)
        self.keywords: set[str] = set()
        self.by_attribute: dict[str, list[ast.Attribute]] = defaultdict(list)
        self.by_name: dict[str, list[ast.Name]] = defaultdict(list)
        self.aliases: list[
            tuple[str, str, str, ast.stmt]
        ] = []  # target, name of it or "", what it binds, the statement
        work: list[ast.AST] = [self.tree]
        while work:
            node = work.pop()
            if isinstance(node, ast.Attribute):
                self.by_attribute[node.attr].append(node)
            elif isinstance(node, ast.Name):
                self.words.add(node.id)
                if isinstance(node.ctx, ast.Load):
                    self.by_name[node.id].append(node)
            elif isinstance(node, ast.Constant):
                if isinstance(node.value, str):
                    self._text(node, node.value)
            elif isinstance(node, ast.JoinedStr | ast.BinOp | ast.Call):
                self.built.update(built(node))
                if isinstance(node, ast.Call):
                    self._call(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.defined.add(node.name)
            elif isinstance(node, ast.keyword):
                self.keywords.add(node.arg or "")
            elif isinstance(node, ast.Import):
                self.aliases += [(a.name, "", a.asname or a.name.partition(".")[0], node) for a in node.names]
            elif isinstance(node, ast.ImportFrom):
                self.aliases += [(self.target(node), a.name, a.asname or a.name, node) for a in node.names]
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                work.append(child)

    def _text(self, node: ast.Constant, text: str) -> None:
        if self._lists(node):
            self.listed.add(text)
            return
        self.texts.add(text)
        if self._notes(node):
            self.noted.update(WORD.findall(text))
        elif NAMES.fullmatch(text) or isinstance(self.parents.get(node), ast.Attribute):  # "a b".split()
            self.parts.update(WORD.findall(text))

    def _notes(self, node: ast.AST) -> bool:
        """Does the text stand in an annotation? Names in it are the file's own."""
        while node in self.parents and not isinstance(node, ast.stmt | ast.arg):
            node, below = self.parents[node], node
            if below in (getattr(node, "annotation", None), getattr(node, "returns", None)):
                return True
        return False

    def _call(self, node: ast.Call) -> None:
        name = getattr(node.func, "attr", "") or getattr(node.func, "id", "")
        if name in LOADERS:
            self.loads |= not (node.args and isinstance(node.args[0], ast.Constant))
        elif name in LISTING:
            self.lists = True
        elif name in ASKING and len(node.args) > 1:
            asked = {getattr(part, "attr", "") for part in ast.walk(node.args[1])}
            self.asks_defined |= not asked.isdisjoint(("__name__", "__qualname__"))

    def said(self) -> set[str]:
        """Every name and text of the file."""
        return self.words | self.by_attribute.keys() | self.texts | self.listed

    def sources(self, bound: str) -> set[tuple[str, str]]:
        """What the imports that bind this name name."""
        return {(target, symbol) for target, symbol, name, _ in self.aliases if name == bound}

    def _lists(self, node: ast.AST) -> bool:
        """Does the text stand in a list that is bound to ``__all__``?"""
        holder = self.parents.get(self.parents.get(node, node), node)
        bound = holder.targets if isinstance(holder, ast.Assign) else [getattr(holder, "target", None)]
        return any(isinstance(name, ast.Name) and name.id == "__all__" for name in bound)

    def target(self, node: ast.ImportFrom) -> str:
        """The module that ``from`` names."""
        if not node.level:
            return node.module or ""
        parts = self.module.split(".")
        parts = parts[: len(parts) - node.level + self.package]
        return ".".join([*parts, *([node.module] if node.module else [])])

    def eager(self, body: Sequence[ast.stmt] | None = None) -> Iterator[tuple[str, str, int]]:
        """What the body imports when it runs, in order: target, name, line; both arms of each test."""
        for node in self.tree.body if body is None else body:
            if isinstance(node, ast.Import):
                yield from ((alias.name, "", node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((self.target(node), alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
                yield from self.eager(node.orelse)
            elif isinstance(node, (ast.If, ast.Try, ast.With, ast.ClassDef, ast.For, ast.While)):
                for field in ("body", "handlers", "orelse", "finalbody"):
                    for part in getattr(node, field, ()):
                        yield from self.eager(part.body if isinstance(part, ast.ExceptHandler) else [part])


def built(node: ast.expr) -> Iterator[str]:
    """The text that an f-string, a sum, ``%``, ``format`` or ``join`` puts together, when its known parts are parts of names."""
    parts: list[str] = []
    if isinstance(node, ast.JoinedStr):
        parts = [_known(part) for part in node.values]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_known(node.left), _known(node.right)]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        parts = [re.sub(r"%[a-z]", HOLE, _known(node.left))]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        parts = [re.sub(r"\{[^{}]*\}", HOLE, _known(node.func.value))]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join":
        rows = node.args[0].elts if node.args and isinstance(node.args[0], ast.List | ast.Tuple) else []
        parts = [_known(node.func.value).join(map(_known, rows))]
    text = "".join(parts)
    if HOLE in text and re.search(r"\w\w", text) and re.fullmatch(r"[\w.:\0]*", text):
        yield text


def _known(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else HOLE


def _fits(text: str, name: str) -> bool:
    return re.fullmatch(r"[\w.:]*".join(map(re.escape, text.split(HOLE))), name) is not None


class Said:
    """What the texts of the kept files say, whole and put together, those of the module of guards left out."""

    def __init__(self, files: Mapping[str, File]) -> None:
        rows = [file for file in files.values() if file.module.rpartition(".")[2] != GUARD]
        self.texts = {text for file in rows for text in file.texts}
        self.parts = {word for file in rows for word in file.parts}
        self.built = sorted({text for file in rows for text in file.built})
        # Code that loads any module and lists any object may list what it loads.
        asked = any(file.asks_defined for file in rows)
        self.defined = {name for file in rows for name in file.defined} if asked else set()
        self.lists = any(file.loads and (file.lists or "__dict__" in file.by_attribute) for file in rows)

    def name(self, name: str) -> bool:
        """May a text be the name of an attribute, or have it among its words?"""
        return name in self.parts or name in self.defined or any(_fits(text, name) for text in self.built)

    def module(self, module: str) -> bool:
        """May a text name the module, or something in it?"""
        if any(text == module or text.startswith((f"{module}.", f"{module}:")) for text in self.texts):
            return True
        if any(
            text.startswith(".") and f".{module}".endswith(text.partition(":")[0])
            for text in self.texts
            if text.strip(".")
        ):
            return True
        heads = {part for text in self.built for part in (text, text.partition(":")[0], text.rpartition(".")[0])}
        return any(_fits(head, module) for head in heads if re.search(r"\w\w", head))
