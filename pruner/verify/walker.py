"""The expression walk of a survey. A loop over a stack: ``ast.NodeVisitor`` costs three times as much.

Blind to names that are put together in ways other than an f-string, ``+``, ``%`` or a plain string.
"""

from __future__ import annotations

import ast

from pruner.verify.asking import Asking
from pruner.verify.built import chain_text
from pruner.verify.coded import RUN, asked_of
from pruner.verify.names import FUNCTIONS, Collector, resolver
from pruner.verify.nodes import children, walk
from pruner.verify.rebinds import rebinding
from pruner.verify.record import CALL, HARD, NAMED, SAME, UNSET, Survey


class Walker(Asking):
    """Fills a :class:`Survey` from a syntax tree."""

    def __init__(self, result: Survey, roots: set[str], facts: frozenset[str], module: str) -> None:
        super().__init__(result)
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
        self.rebound: set[ast.Call] = set()  # calls of globals() that only put a name in the place of itself
        self.noted: set[ast.Attribute] = set()  # targets whose stored value is recorded
        self.put: set[tuple[str, str]] = set()

    def finish(self) -> None:
        """Freeze the collected sets."""
        self.conclude()
        self.result.identifiers = frozenset(self.identifiers)
        self.result.attributes = frozenset(self.attributes)
        self.result.plain = frozenset(self.plain)
        self.result.members = frozenset(self.members)
        self.result.strings = frozenset(self.strings)
        self.result.patterns = frozenset(self.patterns)
        self.result.reflects = frozenset(self.reflects)
        self.result.put |= self.put

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
                if name in roots:
                    if type(node.ctx) is ast.Load:  # type: ignore[attr-defined]
                        self.result.loose.setdefault(name, node.lineno)  # type: ignore[attr-defined]
                    elif name in RUN:
                        self.shadowed.add(name)  # exec = None: a variable
            elif kind is ast.Attribute:
                rest = self._attribute(node, owner)  # type: ignore[arg-type]
                if rest is not None:
                    stack.append(rest)
            elif kind is ast.Constant:
                self.string(node.value, node.lineno)  # type: ignore[attr-defined]
            elif kind is ast.Call:
                self.call(node, owner, stack)  # type: ignore[arg-type]
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
                    self.quiet(base)
                stack.extend(k.value for k in node.keywords)  # type: ignore[attr-defined]
                stack.extend(node.decorator_list)  # type: ignore[attr-defined]
                self._class(node)  # type: ignore[arg-type]
            elif kind is ast.AnnAssign:
                self.quiet(node.annotation)  # type: ignore[attr-defined]
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
                    elif isinstance(target, ast.Tuple | ast.List):
                        self._unpacked(target, owner)
                    stack.append(target)
                    listing = listing or (isinstance(target, ast.Name) and target.id == "__all__")
                if not (listing and self.result.listed is not None):  # __all__ is asked for apart
                    stack.append(node.value)  # type: ignore[attr-defined]
            elif kind is ast.Import or kind is ast.ImportFrom:
                for alias in node.names:  # type: ignore[attr-defined]
                    identifiers.update(alias.name.split("."))
                    if alias.asname:
                        identifiers.add(alias.asname)
            elif kind is ast.Subscript and self.entry(node, owner, stack):  # type: ignore[arg-type]
                continue
            elif kind is ast.For:
                found = rebinding(node)  # type: ignore[arg-type]
                if found is not None:
                    self.result.wrappers.append(found[0])
                    self.rebound.update(found[1])
                    self.refined.update(found[2])
                stack.extend(children(node))
            elif kind is ast.MatchClass:
                self.attributes.update(node.kwd_attrs)  # type: ignore[attr-defined]
                self.plain.update(node.kwd_attrs)  # type: ignore[attr-defined]
                stack.extend(children(node))
            elif kind is ast.JoinedStr or kind is ast.BinOp:
                self.pattern(node)  # type: ignore[arg-type]
                stack.extend(children(node))
            else:
                if kind is ast.keyword and node.arg:  # type: ignore[attr-defined]
                    identifiers.add(node.arg)  # type: ignore[attr-defined]
                stack.extend(children(node))

    def _class(self, node: ast.ClassDef) -> None:
        asked = asked_of(node)
        if asked is not None:
            bases = tuple(getattr(base, "id", getattr(base, "attr", "")) for base in node.bases)
            self.result.protocols[node.name] = (asked[0], frozenset(asked[1]), bases)
        outer = self.methods
        self.methods = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}
        names = Collector(resolver(self.module, True), deep=False).module(node.body)
        self.members.update(names.bindings)
        for name in self.facts & names.bindings.keys():
            method = all(
                row.kind == "def" and row.node is not None and _stays_method(row.node) for row in names.bindings[name]
            )
            fixed = all(isinstance(row.node, FUNCTIONS) for row in names.bindings[name])
            self.result.definers.append((f"{name}()" if method else name, node.name))
            if fixed and not method:
                self.result.definers.append((f"{name}@", node.name))  # a property: nothing is stored into it
        if self.facts and "_fields_" in names.bindings:  # _fields_ = [("flag", c_int)]: a structure of ctypes
            texts = {part.value for part in walk(node) if isinstance(part, ast.Constant)}
            self.result.definers += [(name, node.name) for name in sorted(self.facts) if name in texts]
        for item in node.body:
            self.walk(item, node.name)
        self.methods = outer

    def _annotations(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = node.args
        for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
            if arg is not None and arg.annotation is not None:
                self.quiet(arg.annotation)
        if node.returns is not None:
            self.quiet(node.returns)

    def quiet(self, node: ast.AST) -> None:
        """Names and chains that are named, but do not hand the object on (annotations, bases)."""
        for item in walk(node):
            if isinstance(item, ast.Name):
                self.identifiers.add(item.id)
            elif isinstance(item, ast.Attribute):
                self.attributes.add(item.attr)
                chain = chain_text(item)
                if chain and chain.partition(".")[0] in self.roots:
                    self.result.chains.setdefault(chain, item.lineno)
            elif isinstance(item, ast.Constant):
                self.string(item.value, item.lineno)

    def _attribute(self, node: ast.Attribute, owner: str) -> ast.AST | None:
        """Record a chain; give back what is left to walk."""
        self.attributes.add(node.attr)
        if node.attr == "__dict__" and node not in self.keyed:
            self.dictionary(node.value, owner)
        if type(node.ctx) is not ast.Load:
            base = chain_text(node.value)
            if base not in ("self", "cls"):
                self.put.add((base if base.partition(".")[0] in self.roots else "", node.attr))
            if node.attr in self.facts and node not in self.noted:
                self._note(node, HARD, owner)
        item: ast.expr = node.value
        parts = [node.attr]
        while type(item) is ast.Attribute:
            self.attributes.add(item.attr)
            if item.attr == "__dict__":
                self.dictionary(item.value, owner)
            parts.append(item.attr)
            item = item.value
        if type(item) is not ast.Name:
            self.plain.update(parts)  # `def _ps(): return parallel_state`, then `_ps().rank`
            return item
        self.identifiers.add(item.id)
        if item.id in self.roots:
            chain = ".".join([item.id, *reversed(parts)])
            self.result.chains.setdefault(chain, node.lineno)
            self.result.used.add(chain)
            if parts[0] == "__path__":
                self.result.walks.append((node.lineno, chain.rpartition(".")[0]))
        elif item.id not in ("self", "cls"):
            self.plain.update(parts)
        elif len(parts) > 1:  # `self.ps = parallel_state`, then `self.ps.rank`
            self.plain.update(parts[:-1])
        if parts[0] == "__path__" and item.id not in self.roots:
            self.result.walks.append((node.lineno, ""))
        return None

    def _compare(self, node: ast.Compare, stack: list[ast.AST]) -> None:
        for item in (node.left, *node.comparators):
            if isinstance(item, ast.Attribute):
                self.keyed.add(item)  # "x" in C.__dict__
            if isinstance(item, ast.Constant) and item.value == ".py":
                self.result.files.append((node.lineno, r".*\.py"))  # path.suffix == ".py"
            chain = chain_text(item) if isinstance(item, ast.Attribute) else ""
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
        base = chain_text(target.value)
        root = base.partition(".")[0]
        if root in self.roots or target.attr in self.facts:
            same = isinstance(value, ast.Attribute) and value.attr == target.attr
            stored = value.value if isinstance(value, ast.Constant) else SAME if same else UNSET
            if isinstance(value, ast.Name) and value.id == target.attr:
                stored = NAMED
            if isinstance(value, ast.Call) and chain_text(value.func):
                stored = CALL + chain_text(value.func)
            self._note(target, stored, owner)

    def _note(self, target: ast.Attribute, stored: object, owner: str) -> None:
        base = chain_text(target.value)
        self.noted.add(target)
        home = owner if base in ("self", "cls") else ""
        self.result.stores.append((base, target.attr, target.lineno, stored, home))

    def _unpacked(self, target: ast.expr, owner: str) -> None:
        """``self.a, self.b = f()``: what each part gets cannot be told."""
        if isinstance(target, ast.Attribute):
            if target.attr in self.facts:
                self._note(target, UNSET, owner)
        elif isinstance(target, ast.Tuple | ast.List):
            for item in target.elts:
                self._unpacked(item, owner)
        elif isinstance(target, ast.Starred):
            self._unpacked(target.value, owner)


def _stays_method(node: ast.AST) -> bool:
    """Is the function still one that is called when it is read from an instance?"""
    plain = {"staticmethod", "classmethod", "abstractmethod", "override", "final", "lru_cache", "cache"}
    return all(chain_text(item).rpartition(".")[2] in plain for item in getattr(node, "decorator_list", ()))
