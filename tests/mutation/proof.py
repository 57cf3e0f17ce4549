"""Survivors that are no faults: the output still behaves as it did, by reasoning that knows neither engine nor verifier.

A survivor is equivalent when all that it lost are names of module level that

* a drop rule names (losing them is licensed), or nobody can read: the file itself does not, nobody imports them, and the
  module as an object reaches no place where an attribute of that name is asked for;
* bind nothing but a constant, a definition without effect (or a method whose name no file says), or an import that loads nothing: whichever module of the tree is loaded
  first, what it imports is loaded already when its line is reached (:class:`Loading` follows every start).

Blind to modules taken out of ``sys.modules`` by a computed key, and to names that are built of parts.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType

from tests.mutation.mutants import Mutant
from tests.mutation.settled import FUNCTIONS, Settled, stores

MEMBER = ("", "")  # in the place of an import: a method of a class
STAYS = "="  # before the target of an import of which another name stays
GUARD = "_prune_guard"
PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)
ASKING = ("getattr", "hasattr", "setattr", "delattr")
MEMORY = (
    "lru_cache",
    "cache",
    "functools.lru_cache",
    "functools.cache",
)  # decorators that keep nothing of the function


class File:
    """One file of a tree: its syntax, and what it imports, in order."""

    def __init__(self, module: str, package: bool, data: bytes) -> None:
        self.module, self.package = module, package
        self.tree = ast.parse(data)
        self.parents: dict[ast.AST, ast.AST] = {}
        self.words: set[str] = set()
        self.texts: set[str] = set()
        self.listed: set[str] = set()  # by __all__: names of this very file
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
                    (self.listed if self._lists(node) else self.texts).add(node.value)
            elif isinstance(node, ast.Import):
                self.aliases += [(a.name, "", a.asname or a.name.partition(".")[0], node) for a in node.names]
            elif isinstance(node, ast.ImportFrom):
                self.aliases += [(self.target(node), a.name, a.asname or a.name, node) for a in node.names]
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
                work.append(child)

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


class Loading:
    """Loads the tree from every module of it, by following import statements, and notes which ones ever load something."""

    def __init__(self, files: Mapping[str, File]) -> None:
        self.files = files
        self.rows = {name: list(dict.fromkeys(file.eager())) for name, file in files.items()}
        self.working: set[tuple[str, str, str]] = set()  # module, target, name: loaded something from some start
        sys.setrecursionlimit(100_000)
        for start in files:
            self._load(start, set())

    def _load(self, module: str, seen: set[str]) -> bool:
        """Was anything of the tree loaded?"""
        did = False
        parts = module.split(".")
        for cut in range(1, len(parts) + 1):
            name = ".".join(parts[:cut])
            if name in seen or name not in self.files:
                continue
            seen.add(name)
            did = True
            for target, symbol, _ in self.rows[name]:
                loaded = self._load(target, seen)
                if symbol and f"{target}.{symbol}" in self.files:
                    loaded |= self._load(f"{target}.{symbol}", seen)
                if loaded:
                    self.working.add((name, target, symbol))
        return did

    def idle(self, module: str, target: str, symbol: str) -> bool:
        """Does this import load nothing, from wherever the program starts?"""
        known = target.partition(".")[0] in sys.stdlib_module_names or target in self.files
        return known and (module, target, symbol) not in self.working


def repeated(before: File, after: File, name: str) -> bool:
    """Does an import of the body, which is all that binds the name, stand twice, and does the first stay?"""
    first = []
    for file in (before, after):
        rows = [(node.lineno, t, s) for t, s, bound, node in file.aliases if bound == name and node in file.tree.body]
        first.append(min(rows, default=None))
        if stores(file.tree, name) or len(file.sources(name)) != 1:
            return False
    return first[0] is not None and first[0] == first[1]


class Proof:
    """Judges survivors of one output. ``drops`` are the targets of drop rules, ``facts`` what subjects are."""

    def __init__(
        self, output: Path, drops: Sequence[str], facts: Mapping[str, tuple[object, ...]] = MappingProxyType({})
    ) -> None:
        self.output, self.drops, self.facts = output, drops, facts
        self.files: dict[str, File] = {}
        for path in sorted(output.rglob("*.py")):
            module, package = self._module(path.relative_to(output).as_posix())
            self.files[module] = File(module, package, path.read_bytes())
        self._loading: Loading | None = None

    def _module(self, path: str) -> tuple[str, bool]:
        name = path.removesuffix(".py").replace("/", ".")
        return (name.removesuffix(".__init__"), True) if name.endswith(".__init__") else (name, False)

    def _settled(self, file: File) -> str:
        """The file's syntax, with flags that hold what a fact says, and calls of what it names, taken for it."""
        calls: dict[str, bool] = {}
        for target, name, bound, _ in file.aliases:
            said = self._said(f"{target}.{name}")
            if name and said is not None and stores(file.tree, bound) == 0 and len(file.sources(bound)) == 1:
                calls[bound] = said
        flags: dict[str, bool] = {}
        for node in file.tree.body:
            value = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and not value.args:
                name = node.targets[0]  # type: ignore[union-attr]
                if value.func.id in calls and isinstance(name, ast.Name) and stores(file.tree, name.id) == 1:
                    flags[name.id] = calls[value.func.id]
        return ast.dump(Settled(flags, calls).visit(ast.parse(ast.unparse(file.tree))))

    def _said(self, source: str) -> bool | None:
        """What a call of the function gives, wherever the rules name it: re-exported names have the same last part."""
        module, _, name = source.rpartition(".")
        rows = [v for s, v in self.facts.items() if s.endswith(f".{name}()") and s.startswith(module.partition(".")[0])]
        values = {bool(value) for row in rows for value in row}
        return values.pop() if len(values) == 1 else None

    def reason(self, mutant: Mutant) -> str:
        """Why the mutant is equivalent; "" when that is not shown."""
        after = dict(self.files)
        lost: list[tuple[str, str, tuple[str, str] | None]] = []
        settled = False
        for path, data in mutant.changes:
            module, package = self._module(path)
            if data is None or not path.endswith(".py"):
                return ""
            try:
                after[module] = File(module, package, data)
            except SyntaxError:
                return ""
            if self._settled(self.files[module]) == self._settled(after[module]):
                settled = True
                continue
            rows = removed(self.files[module], after[module])
            if rows is None:
                return ""
            lost += [(module, name, source) for name, source in rows]
        why = {"a fact settles what differs"} if settled else set()
        for module, name, source in lost:
            if any(fnmatchcase(f"{module}:{name}", text) for text in self.drops):
                why.add("a drop rule names it")
                continue
            if source == MEMBER:
                # The checks at start go without what they do not find.
                others = [file for file in after.values() if file.module.rpartition(".")[2] != GUARD]
                if name.startswith("__") or any(name in file.said() for file in others):
                    return ""
                why.add("no file says the method's name")
                continue
            if source is not None and repeated(self.files[module], after[module], name):
                why.add("the same import above it stays")
                continue
            if reader(after, module, name):
                return ""
            why.add("nobody can read it")
            if source is not None and source[0].startswith(STAYS):
                source = (source[0].removeprefix(STAYS), source[1])
                if ".".join(source) not in self.files:
                    why.add("the rest of its statement loads the module")
                    continue
            if source is not None:
                self._loading = self._loading or Loading(self.files)
                if not self._loading.idle(module, *source):
                    return ""
                why.add("what it imports is loaded already from every start")
        return "; ".join(sorted(why))


def removed(before: File, after: File) -> list[tuple[str, tuple[str, str] | None]] | None:
    """Names of module level that went, each with the import that bound it; None when anything else differs."""
    found: list[tuple[str, tuple[str, str] | None]] = []
    rest = list(after.tree.body)
    for node in before.tree.body:
        if rest and ast.dump(node) == ast.dump(rest[0]):
            rest.pop(0)
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            kept: set[tuple[str, str | None]] = set()
            if rest and type(rest[0]) is type(node) and _head(rest[0]) == _head(node):
                aliases = {(alias.name, alias.asname) for alias in rest[0].names}  # type: ignore[attr-defined]
                if aliases <= {(alias.name, alias.asname) for alias in node.names}:
                    kept = aliases
                    rest.pop(0)
            for alias in node.names:
                if (alias.name, alias.asname) not in kept:
                    bound = alias.asname or alias.name.partition(".")[0]
                    source = (before.target(node), alias.name) if isinstance(node, ast.ImportFrom) else (alias.name, "")
                    if kept and isinstance(node, ast.ImportFrom):
                        source = (STAYS + source[0], source[1])
                    found.append((bound, source))
        elif (
            isinstance(node, ast.ClassDef)
            and rest
            and isinstance(rest[0], ast.ClassDef)
            and _shell(node) == _shell(rest[0])
        ):
            body = rest.pop(0).body  # type: ignore[attr-defined]
            left = {ast.dump(item) for item in body if not isinstance(item, ast.Pass)}
            for item in node.body:
                if isinstance(item, ast.Pass):
                    continue
                if ast.dump(item) in left:
                    left.discard(ast.dump(item))
                elif isinstance(item, FUNCTIONS) and not item.decorator_list:
                    found.append((item.name, MEMBER))
                else:
                    return None
            if left:
                return None
        elif rest and (before_names := _listed(node)) is not None and (after_names := _listed(rest[0])) is not None:
            if [name for name in before_names if name in after_names] != after_names:
                return None
            found += [(name, None) for name in before_names if name not in after_names]
            rest.pop(0)
        elif isinstance(node, ast.Assign) and all(isinstance(part, PLAIN) for part in ast.walk(node.value)):
            if not all(isinstance(target, ast.Name) for target in node.targets):
                return None
            found += [(target.id, None) for target in node.targets if isinstance(target, ast.Name)]
            if rest and isinstance(rest[0], ast.Expr) and isinstance(rest[0].value, ast.Constant):
                rest.pop(0)
        elif isinstance(node, FUNCTIONS):
            found.append((node.name, None))
            if any(ast.unparse(d).partition("(")[0] not in MEMORY for d in node.decorator_list):
                found[-1] = (node.name, ("?", node.name))  # what a decorator does is not known: only a rule licenses it
        else:
            return None
    return None if rest else found


def _listed(node: ast.stmt) -> list[str] | None:
    """The entries of ``__all__ = [...]``; None for anything else."""
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Tuple)):
        return None
    if not all(isinstance(name, ast.Name) and name.id == "__all__" for name in node.targets):
        return None
    entries = [e.value for e in node.value.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    return entries if len(entries) == len(node.value.elts) else None


def _shell(node: ast.ClassDef) -> str:
    return ast.dump(ast.ClassDef(node.name, node.bases, node.keywords, [], node.decorator_list))


def _head(node: ast.stmt) -> tuple[str | None, int]:
    return getattr(node, "module", None), getattr(node, "level", 0)


def reader(files: Mapping[str, File], module: str, name: str, passed: frozenset[str] = frozenset()) -> str:
    """Who may read this name of this module, or ""; ``passed`` are modules that hand it on with a star."""
    own = files[module]
    if name in own.words or name in own.texts or name in own.listed:
        return f"{module} itself"
    for file in files.values():
        # "app.other" names other; "app" may be loaded by that text and handed on
        meant = any(re.match(rf"{re.escape(module)}[.:]{name}(?!\w)", text) for text in file.texts)
        if file.module.rpartition(".")[2] != GUARD:  # which writes what it asks in full, and then step by step
            meant = meant or name in file.texts or module in file.texts
        if meant:
            return f"{file.module}, by a text"
        for target, symbol, _, _ in file.aliases:
            if target == module and symbol == name:
                return f"{file.module}, by an import"
            if target == module and symbol == "*" and not name.startswith("_") and file.module not in passed:
                further = reader(files, file.module, name, passed | {module})
                if further:
                    return further
    return asked(files, module, name)


def handed(files: Mapping[str, File], module: str, bound: str, asking: frozenset[tuple[str, str]]) -> bool:
    """May anybody get at what the module's body imports under this name: by an import, a star, a text, as its attribute?"""
    for file in files.values():
        if any(target == module and symbol in (bound, "*") for target, symbol, _, _ in file.aliases):
            return True
        if file.module.rpartition(".")[2] != GUARD and any(module in text for text in file.texts):
            return True
    return bool(asked(files, module, bound, asking))


def asked(files: Mapping[str, File], module: str, name: str, asking: frozenset[tuple[str, str]] = frozenset()) -> str:
    """Who may ask the module, as an object, for this attribute; "". ``asking``: what this question is asked for."""
    package, _, last = module.rpartition(".")
    if (module, name) in asking:
        return ""  # what leads to the module by the module alone leads nowhere
    asking |= {(module, name)}
    holding: set[str] = set()  # attributes that may hold the module
    if package and asked(files, package, last, asking):
        holding.add(last)
    named: dict[str, set[str]] = defaultdict(set)  # file -> its names for the module
    for file in files.values():
        for target, symbol, bound, node in file.aliases:
            whole = f"{target}.{symbol}" if symbol else target if bound != target.partition(".")[0] else bound
            if whole == module:
                named[file.module].add(bound)
                if _in_class(file, node) or (
                    not _in_function(file, node) and handed(files, file.module, bound, asking)
                ):
                    holding.add(bound)
    givers: set[str] = set()
    for file in files.values():
        held: list[ast.AST] = [
            node
            for text in holding
            for node in file.by_attribute.get(text, ())
            if not _outside(file, node.value, files)
        ]
        names = named.get(file.module, set()) | (holding & {bound for _, symbol, bound, _ in file.aliases if symbol})
        held += [node for text in names for node in file.by_name.get(text, ())]
        for node in held:
            if _asked(file, node, name) and not _given(file, node, givers):
                return f"{file.module}:{getattr(node, 'lineno', 0)}"
    for file in files.values():
        for text in givers:
            for use in (*file.by_name.get(text, ()), *file.by_attribute.get(text, ())):
                call = file.parents.get(use)
                if not (isinstance(call, ast.Call) and call.func is use) or _asked(file, call, name):
                    return f"{file.module}:{use.lineno}, of what {text} gives"
    return ""


def _outside(file: File, node: ast.expr, files: Mapping[str, File]) -> bool:
    """Is this the name of a package that is not of the tree (``torch.ops``), bound by imports alone?"""
    if not isinstance(node, ast.Name):
        return False
    sources = {target.partition(".")[0] for target, _, bound, _ in file.aliases if bound == node.id}
    stored = any(
        isinstance(use.ctx, ast.Store) for use in ast.walk(file.tree) if isinstance(use, ast.Name) and use.id == node.id
    )
    return bool(sources) and not stored and sources.isdisjoint(name.partition(".")[0] for name in files)


def _in_function(file: File, node: ast.AST) -> bool:
    while node in file.parents:
        node = file.parents[node]
        if isinstance(node, FUNCTIONS):
            return True
    return False


def _in_class(file: File, node: ast.AST) -> bool:
    while node in file.parents and not isinstance(node, FUNCTIONS):
        node = file.parents[node]
        if isinstance(node, ast.ClassDef):
            return True
    return False


def _asked(file: File, node: ast.AST, name: str) -> bool:
    """Is this read of the module more than a read of another attribute of it, or a store into one?"""
    if isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
        return False
    parent = file.parents.get(node)
    if isinstance(parent, ast.Attribute):
        return parent.attr in (name, "__dict__")
    if isinstance(parent, ast.Compare) and all(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops):
        return False  # which object it is, and nothing of it
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in ASKING:
        asked = parent.args[1] if len(parent.args) > 1 and parent.args[0] is node else None
        return not (isinstance(asked, ast.Constant) and asked.value != name)
    return True


def _given(file: File, node: ast.AST, givers: set[str]) -> bool:
    """``return module`` in a function: what calls of it are asked for is looked at."""
    parent = file.parents.get(node)
    if not isinstance(parent, ast.Return):
        return False
    while parent in file.parents:
        parent = file.parents[parent]
        if isinstance(parent, FUNCTIONS):
            if parent.decorator_list and any(
                ast.unparse(d).partition("(")[0] not in MEMORY for d in parent.decorator_list
            ):
                return False
            givers.add(parent.name)
            return True
    return False
