"""One walk over a kept file: everything that other checks ask about it, small enough to send between processes.

Blind to names that are put together in ways other than an f-string, ``+``, ``%`` or a plain
string, and to what a file does through ``exec``.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

from pruner.verify.names import FUNCTIONS, Import, module_names
from pruner.verify.nodes import children, walk
from pruner.verify.tree import Tree, parse_bytes
from pruner.verify.world import literal_all

DOTTED = re.compile(r"\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
GETTERS = frozenset({"getattr", "hasattr", "setattr", "delattr"})
REFLECTION = frozenset({"globals", "vars", "locals", "dir", "exec", "eval"})
UNSET = "<computed>"


@dataclass(slots=True)
class Survey:
    """What a kept file binds, imports, names and does by name."""

    path: str
    module: str = ""
    parsed: bool = True
    bound: frozenset[str] = frozenset()
    imports: list[Import] = field(default_factory=list)
    stars: tuple[str, ...] = ()
    listed: frozenset[str] | None = None  # a literal __all__
    rebound: frozenset[str] = frozenset()
    identifiers: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()  # names behind a dot
    plain: frozenset[str] = frozenset()  # those of them on a plain variable that is no import and not self
    members: frozenset[str] = frozenset()  # names that class bodies bind or that are stored on self
    strings: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()  # regular expressions of built identifiers
    chains: dict[str, int] = field(default_factory=dict)  # dotted chain on an imported name or class -> line
    used: set[str] = field(default_factory=set)  # those of them outside comparisons
    loose: dict[str, int] = field(default_factory=dict)  # imported names and classes used as plain values
    stores: list[tuple[str, str, int, Any, str]] = field(default_factory=list)  # chain, attribute, line, value, class
    gets: list[tuple[int, str, str, bool, str]] = field(default_factory=list)  # line, object, regex, store, method
    loads: list[tuple[int, str, str]] = field(default_factory=list)  # line, module regex, package
    reflects: frozenset[str] = frozenset()
    definers: list[tuple[str, str]] = field(default_factory=list)  # stated attribute, class that has it
    walks: list[tuple[int, str]] = field(default_factory=list)  # line, chain before ``.__path__`` or ""


def survey(
    tree: Tree, path: str, module: str, data: bytes, facts: frozenset[str]
) -> tuple[Survey, ast.Module | None]:
    """Survey one file; also its syntax tree. ``facts`` are attribute names that rules speak of."""
    parsed = parse_bytes(data)
    if parsed is None:
        return _unparsed(tree, path, module, data), None
    names = module_names(parsed, module, tree.is_package(module))
    result = Survey(path, module)
    result.bound = frozenset(names.bindings)
    result.imports = [_light(row) for row in names.imports]
    result.stars = tuple(names.stars)
    listed = literal_all(names)
    result.listed = frozenset(listed) if listed is not None else None
    result.rebound = frozenset(name for name, lines in names.rebound.items() if lines)
    roots = {row.bound for row in names.imports}
    roots |= {name for name, rows in names.bindings.items() if any(row.kind == "class" for row in rows)}
    walker = _Walker(result, roots, facts, module)
    walker.walk(parsed)
    walker.finish()
    return result, parsed


def _light(row: Import) -> Import:
    """Without the guards, which hold syntax trees."""
    return Import(row.line, row.target, row.symbol, row.bound, row.lazy, row.guarded, row.typing)


def _unparsed(tree: Tree, path: str, module: str, data: bytes) -> Survey:
    """What can be said of a file in a newer Python: its words, and its imports by pattern."""
    text = data.decode("utf-8", "replace")
    words = frozenset(re.findall(r"[^\W\d]\w*", text))
    result = Survey(path, module, parsed=False, identifiers=words, strings=words | frozenset(DOTTED.findall(text)))
    for found in re.finditer(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+([\w, \t]+)|import[ \t]+([\w.]+))", text, re.M):
        line = text.count("\n", 0, found.start()) + 1
        if found[3]:
            result.imports.append(Import(line, found[3], None, found[3].partition(".")[0], True))
        elif not found[1].startswith("."):
            for name in found[2].split(","):
                head = name.split()[:1]
                if head:
                    result.imports.append(Import(line, found[1], head[0], head[0], True))
    return result


class _Walker:
    """The expression walk. A loop over a stack: the recursion of ``ast.NodeVisitor`` costs three times as much."""

    def __init__(self, result: Survey, roots: set[str], facts: frozenset[str], module: str) -> None:
        self.result = result
        self.roots = roots
        self.facts = facts
        self.module = module
        self.identifiers: set[str] = set(result.bound)
        self.strings: set[str] = set()
        self.patterns: set[str] = set()
        self.reflects: set[str] = set()
        self.attributes: set[str] = set()
        self.plain: set[str] = set()
        self.refined: set[ast.expr] = set()  # built names whose parts are known: no pattern of their own
        self.members: set[str] = set()
        self.methods: dict[str, ast.FunctionDef] = {}

    def finish(self) -> None:
        """Freeze the collected sets."""
        self.result.identifiers = frozenset(self.identifiers)
        self.result.attributes = frozenset(self.attributes)
        self.result.plain = frozenset(self.plain)
        self.result.members = frozenset(self.members)
        self.result.strings = frozenset(self.strings)
        self.result.patterns = frozenset(self.patterns)
        self.result.reflects = frozenset(self.reflects)

    def walk(self, tree: ast.AST, owner: str = "") -> None:
        """Walk everything below ``tree``; ``owner`` is the class whose methods these are."""
        stack: list[ast.AST] = [tree]
        identifiers, roots = self.identifiers, self.roots
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is ast.Name:
                name = node.id  # type: ignore[attr-defined]
                identifiers.add(name)
                if name in roots and type(node.ctx) is ast.Load:  # type: ignore[attr-defined]
                    self.result.loose.setdefault(name, node.lineno)  # type: ignore[attr-defined]
            elif kind is ast.Attribute:
                rest = self._attribute(node, owner)  # type: ignore[arg-type]
                if rest is not None:
                    stack.append(rest)
            elif kind is ast.Constant:
                self._string(node.value)  # type: ignore[attr-defined]
            elif kind is ast.Call:
                self._call(node, owner, stack)  # type: ignore[arg-type]
            elif kind is ast.Compare:
                self._compare(node, stack)  # type: ignore[arg-type]
            elif kind is ast.Expr:
                value = node.value  # type: ignore[attr-defined]
                if type(value) is not ast.Constant:  # docstrings and stray strings are not names
                    stack.append(value)
            elif kind in FUNCTIONS:
                identifiers.add(node.name)  # type: ignore[attr-defined]
                arguments: ast.arguments = node.args  # type: ignore[attr-defined]
                for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                    identifiers.add(arg.arg)
                stack.extend(arguments.defaults)
                stack.extend(d for d in arguments.kw_defaults if d is not None)
                stack.extend(node.decorator_list)  # type: ignore[attr-defined]
                stack.extend(node.body)  # type: ignore[attr-defined]
                self._annotations(node)  # type: ignore[arg-type]
            elif kind is ast.ClassDef:
                identifiers.add(node.name)  # type: ignore[attr-defined]
                for base in node.bases:  # type: ignore[attr-defined]
                    self._quiet(base)
                stack.extend(k.value for k in node.keywords)  # type: ignore[attr-defined]
                stack.extend(node.decorator_list)  # type: ignore[attr-defined]
                self._class(node)  # type: ignore[arg-type]
            elif kind is ast.AnnAssign:
                self._quiet(node.annotation)  # type: ignore[attr-defined]
                if isinstance(node.target, ast.Attribute):  # type: ignore[attr-defined]
                    self._stored(node.target, node.value, owner)  # type: ignore[attr-defined]
                stack.append(node.target)  # type: ignore[attr-defined]
                if node.value is not None:  # type: ignore[attr-defined]
                    stack.append(node.value)  # type: ignore[attr-defined]
            elif kind is ast.Assign:
                listing = False
                for target in node.targets:  # type: ignore[attr-defined]
                    if isinstance(target, ast.Attribute):
                        self._stored(target, node.value, owner)  # type: ignore[attr-defined]
                    stack.append(target)
                    listing = listing or (isinstance(target, ast.Name) and target.id == "__all__")
                if not (listing and self.result.listed is not None):  # __all__ is asked for apart
                    stack.append(node.value)  # type: ignore[attr-defined]
            elif kind is ast.Import or kind is ast.ImportFrom:
                for alias in node.names:  # type: ignore[attr-defined]
                    identifiers.update(alias.name.split("."))
                    if alias.asname:
                        identifiers.add(alias.asname)
            elif kind is ast.JoinedStr or kind is ast.BinOp:
                self._pattern(node)  # type: ignore[arg-type]
                stack.extend(children(node))
            else:
                if kind is ast.keyword and node.arg:  # type: ignore[attr-defined]
                    identifiers.add(node.arg)  # type: ignore[attr-defined]
                stack.extend(children(node))

    def _class(self, node: ast.ClassDef) -> None:
        outer = self.methods
        self.methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
        names = module_names(ast.Module(node.body, []), self.module, True)
        self.members.update(names.bindings)
        self.result.definers.extend((name, node.name) for name in self.facts & names.bindings.keys())
        for item in node.body:
            self.walk(item, node.name)
        self.methods = outer

    def _annotations(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = node.args
        for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
            if arg is not None and arg.annotation is not None:
                self._quiet(arg.annotation)
        if node.returns is not None:
            self._quiet(node.returns)

    def _quiet(self, node: ast.AST) -> None:
        """Names and chains that are named, but do not hand the object on (annotations, bases)."""
        for item in walk(node):
            if isinstance(item, ast.Name):
                self.identifiers.add(item.id)
            elif isinstance(item, ast.Attribute):
                self.attributes.add(item.attr)
                chain = _chain(item)
                if chain and chain.partition(".")[0] in self.roots:
                    self.result.chains.setdefault(chain, item.lineno)
            elif isinstance(item, ast.Constant):
                self._string(item.value)

    def _attribute(self, node: ast.Attribute, owner: str) -> ast.AST | None:
        """Record a chain; give back what is left to walk."""
        self.attributes.add(node.attr)
        item: ast.expr = node.value
        parts = [node.attr]
        while type(item) is ast.Attribute:
            self.attributes.add(item.attr)
            parts.append(item.attr)
            item = item.value
        if type(item) is not ast.Name:
            return item
        self.identifiers.add(item.id)
        if item.id in self.roots:
            chain = ".".join([item.id, *reversed(parts)])
            self.result.chains.setdefault(chain, node.lineno)
            self.result.used.add(chain)
            if parts[0] == "__path__":
                self.result.walks.append((node.lineno, chain.rpartition(".")[0]))
        elif item.id not in ("self", "cls"):
            self.plain.add(parts[-1])
        if parts[0] == "__path__" and item.id not in self.roots:
            self.result.walks.append((node.lineno, ""))
        return None

    def _compare(self, node: ast.Compare, stack: list[ast.AST]) -> None:
        for item in (node.left, *node.comparators):
            chain = _chain(item) if isinstance(item, ast.Attribute) else ""
            if chain and chain.partition(".")[0] in self.roots:
                head, *rest = chain.split(".")
                self.identifiers.add(head)
                self.attributes.update(rest)
                self.result.chains.setdefault(chain, item.lineno)
            else:
                stack.append(item)

    def _stored(self, target: ast.Attribute, value: ast.expr | None, owner: str) -> None:
        if isinstance(target.value, ast.Name) and target.value.id in ("self", "cls"):
            self.members.add(target.attr)
            if target.attr in self.facts:
                self.result.definers.append((target.attr, owner))
        base = _chain(target.value)
        root = base.partition(".")[0]
        if root in self.roots or target.attr in self.facts:
            stored = value.value if isinstance(value, ast.Constant) else UNSET
            home = owner if root == "self" and base == "self" else ""
            self.result.stores.append((base, target.attr, target.lineno, stored, home))

    def _call(self, node: ast.Call, owner: str, stack: list[ast.AST]) -> None:
        head = _chain(node.func)
        tail = head.rpartition(".")[2]
        if head in GETTERS and len(node.args) > 1:
            name = node.args[1]
            store = head in ("setattr", "delattr")
            base = _chain(node.args[0])
            if base == "self" and owner:
                base = f"self:{owner}"
            pattern, method = self._refined(name)
            self.result.gets.append((node.lineno, base, pattern, store, method))
            # The object is read by name, not handed on; the name is in the pattern.
            if base.partition(".")[0] in self.roots:
                self.identifiers.add(base.partition(".")[0])
                if "." in base:
                    self.result.chains.setdefault(base, node.lineno)
                stack.extend(node.args[1:])
                return
        elif tail in ("import_module", "__import__") and node.args:
            package = regex(node.args[1]) if len(node.args) > 1 and tail == "import_module" else ""
            self.result.loads.append((node.lineno, regex(node.args[0], re.escape(self.module)), package))
        elif head in REFLECTION:
            if head == "dir" or (head == "vars" and node.args):
                base = _chain(node.args[0]) if node.args else ""
                if head == "vars" and base == "self":
                    base = ""  # an instance's own attributes, not the class's methods
                base = f"self:{owner}" if base in ("self", "cls") else base
                self.result.gets.append((node.lineno, base, ".*", False, "dir"))
            else:
                self.reflects.add(head)
        elif head in ("isinstance", "issubclass") and len(node.args) == 2:
            self.identifiers.add(head)
            self._quiet(node.args[1])
            stack.append(node.args[0])
            return
        for keyword in node.keywords:
            if keyword.arg in self.facts and (tail in ("replace", "_replace") or tail[:1].isupper()):
                value = keyword.value.value if isinstance(keyword.value, ast.Constant) else UNSET
                self.result.stores.append((head, str(keyword.arg), node.lineno, value, ""))
        stack.extend(children(node))

    def _refined(self, name: ast.expr) -> tuple[str, str]:
        """The pattern of a built name; ``f"forward_{self.device()}"`` is read with what ``device`` returns."""
        if isinstance(name, ast.JoinedStr):
            for item in name.values:
                call = item.value if isinstance(item, ast.FormattedValue) else None
                if isinstance(call, ast.Call) and not call.args and _chain(call.func).startswith("self."):
                    method = _chain(call.func).partition(".")[2]
                    returned = _returned(self.methods.get(method))
                    if returned:
                        choice = f"(?:{'|'.join(sorted(map(re.escape, returned)))})"
                        parts = [choice if other is item else regex(other) for other in name.values]
                        self.refined.add(name)
                        return _join(parts), method
        return regex(name), ""

    def _string(self, value: object) -> None:
        if not isinstance(value, str) or not value:
            return
        if len(value) <= 120:
            self.strings.add(value)
        if "." in value or "/" in value:
            self.strings.update(DOTTED.findall(value))

    def _pattern(self, node: ast.expr) -> None:
        if node in self.refined:
            return
        text = regex(node)
        bare = text.replace(".*", "").replace("\\", "")
        if text != ".*" and bare and bare.replace(".", "").replace(":", "").isidentifier():
            self.patterns.add(text)


def _chain(node: ast.AST) -> str:
    """``a.b.c`` for a chain of names, else ``""``."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    return ".".join(reversed(parts))


def _returned(function: ast.FunctionDef | None) -> set[str] | None:
    """The strings that a method returns when every ``return`` is a plain string."""
    if function is None:
        return None
    found: set[str] = set()
    for node in walk(function):
        if isinstance(node, ast.Return):
            if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
                return None
            found.add(node.value.value)
    return found


def regex(node: ast.expr, module: str = "") -> str:
    """A regular expression that every value of a string expression matches.

    ``module`` is what ``__name__`` means where the expression stands.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        return _join([regex(item, module) for item in node.values])
    if isinstance(node, ast.FormattedValue) and module and isinstance(node.value, ast.Name):
        return module if node.value.id == "__name__" else ".*"
    if isinstance(node, ast.Name) and node.id == "__name__" and module:
        return module
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _join([regex(node.left, module), regex(node.right, module)])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        if isinstance(node.left.value, str):
            return _join([re.escape(part) for part in re.split(r"(?=%[sdr])", node.left.value)]).replace("%s", ".*")
    return ".*"


def _join(parts: list[str]) -> str:
    joined = "".join(parts)
    while ".*.*" in joined:
        joined = joined.replace(".*.*", ".*")
    return joined
