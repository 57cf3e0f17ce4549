"""Survivors that are no faults: the output still behaves as it did, by reasoning that knows neither engine nor verifier.

A survivor is equivalent when all that it lost are names of module level that

* a drop rule names (losing them is licensed), or nobody can read: the file itself does not, nobody imports them, and the
  module as an object, had by an import or by a text that may name it, reaches no place where an attribute of that name
  is asked for (:mod:`tests.mutation.readers`);
* bind nothing but a constant, a definition without effect (or a method whose name neither an attribute nor a text of any file says, nor code outside), or an import that loads
  nothing: whichever module of the tree is loaded first, what it imports is loaded already when its line is reached
  (:class:`Loading` follows every start), or the statement beside it loads the same.

It is equivalent as well when only what a fact settles differs, or what a flag of the module settles that nothing sets:
the module gives it one constant, and no file stores an attribute or says a text or a keyword of its name.

Blind to modules taken out of ``sys.modules`` by a computed key, and to names that are built of single letters.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

from pruner.model import outside
from tests.mutation.equal import GROUPS
from tests.mutation.files import GUARD, File
from tests.mutation.mutants import Mutant
from tests.mutation.readers import MEMORY, Readers
from tests.mutation.settled import FUNCTIONS, Settled, constants, stores

MEMBER = ("", "")  # in the place of an import: a method of a class
STAYS = "="  # before the target of an import of which another name stays
DOING = (ast.Call, ast.Await, ast.NamedExpr, ast.Yield, ast.YieldFrom)
SETTING = frozenset({"globals", "vars", "locals", "exec", "eval", "__dict__"})
PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.Load)


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


def beside(before: File, after: File, target: str, symbol: str) -> bool:
    """``import pkg`` beside ``import pkg.sub``, which stays, at the top of the body: it loads ``pkg`` as well."""
    body = before.tree.body
    kept = {ast.dump(node) for node in after.tree.body}
    pairs = list(pairwise(body))
    for one, other in [*pairs, *((b, a) for a, b in pairs)]:
        if not (isinstance(one, ast.Import) and len(one.names) == 1 and one.names[0].name == target and not symbol):
            continue
        if ast.dump(one) in kept or ast.dump(other) not in kept:
            continue
        names = [alias.name for alias in other.names[:1]] if isinstance(other, ast.Import) else []
        names += [before.target(other)] if isinstance(other, ast.ImportFrom) else []
        if any(name == target or name.startswith(f"{target}.") for name in names):
            return True
    return False


class Proof:
    """Judges survivors of one output. ``drops`` are the targets of drop rules, ``facts`` what subjects are, ``device`` which hold only where a device is."""

    def __init__(
        self,
        output: Path,
        drops: Sequence[str],
        facts: Mapping[str, tuple[object, ...]] = MappingProxyType({}),
        device: AbstractSet[str] = frozenset(),
    ) -> None:
        self.output, self.drops, self.facts, self.device = output, drops, facts, device
        self.files: dict[str, File] = {}
        for path in sorted(output.rglob("*.py")):
            module, package = self._module(path.relative_to(output).as_posix())
            self.files[module] = File(module, package, path.read_bytes())
        self._loading: Loading | None = None

    def _module(self, path: str) -> tuple[str, bool]:
        name = path.removesuffix(".py").replace("/", ".")
        return (name.removesuffix(".__init__"), True) if name.endswith(".__init__") else (name, False)

    def _settled(self, file: File, unset: bool) -> str:
        """The file's syntax, with flags that hold what a fact says, and calls of what it names, taken for it.

        ``unset``: flags that nothing sets as well.
        """
        calls: dict[str, bool] = {}
        for target, name, bound, _ in file.aliases:
            said = self._said(f"{target}.{name}")
            if name and said is not None and stores(file.tree, bound) == 0 and len(file.sources(bound)) == 1:
                calls[bound] = said
        flags: dict[str, bool] = {}
        early: set[str] = set()  # flags that every host knows
        everywhere = {s.rpartition(".")[2] for s in self.facts} - {s.rpartition(".")[2] for s in self.device}
        for node in file.tree.body:
            value = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
            if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and not value.args:
                name = node.targets[0]  # type: ignore[union-attr]
                if value.func.id in calls and isinstance(name, ast.Name) and stores(file.tree, name.id) == 1:
                    flags[name.id] = calls[value.func.id]
                    if {f"{symbol}()" for _, symbol in file.sources(value.func.id)} <= everywhere:
                        early.add(name.id)
        known = constants(file.tree).items() if unset else ()
        flags |= {name: bool(value) for name, value in known if self._unset(file, name)}
        early |= {name for name, _ in known if name in flags}
        return ast.dump(Settled(flags, calls, frozenset(early)).visit(ast.parse(ast.unparse(file.tree))))

    def _unset(self, file: File, name: str) -> bool:
        """Does nothing store into the module's variable: no attribute, no text or keyword of its name?"""
        if file.sources(name) or not SETTING.isdisjoint(file.words | file.by_attribute.keys()):
            return False
        others = [other for other in self.files.values() if other.module != file.module]
        return not any(
            name in other.keywords
            or name in other.parts
            or any(not isinstance(node.ctx, ast.Load) for node in other.by_attribute.get(name, ()))
            for other in (file, *others)
        )

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
        why: set[str] = set()
        readers: Readers | None = None
        for path, data in mutant.changes:
            settled = ""
            module, package = self._module(path)
            if data is None or not path.endswith(".py"):
                return ""
            try:
                after[module] = File(module, package, data)
            except SyntaxError:
                return ""
            for flags, text in ((False, "a fact"), (True, "a flag that nothing sets")):
                if self._settled(self.files[module], flags) == self._settled(after[module], flags):
                    settled = f"{text} settles what differs"
                    break
            if settled:
                why.add(settled)
                continue
            rows = removed(self.files[module], after[module])
            if rows is None:
                return ""
            lost += [(module, name, source) for name, source in rows]
        for module, name, source in lost:
            if any(fnmatchcase(f"{module}:{name}", text) for text in self.drops):
                why.add("a drop rule names it")
                continue
            if source == MEMBER:
                # The checks at start go without what they do not find.
                others = [file for file in after.values() if file.module.rpartition(".")[2] != GUARD]
                readers = readers or Readers(after)
                said = name in after[module].words or readers.said.name(name)
                said = said or any(name in outside.names(group) for group in GROUPS)
                if (
                    name.startswith("__")
                    or said
                    or any(name in file.by_attribute or name in file.texts for file in others)
                ):
                    return ""
                why.add("no file says the method's name")
                continue
            if source is not None and repeated(self.files[module], after[module], name):
                why.add("the same import above it stays")
                continue
            readers = readers or Readers(after)
            if readers.reader(module, name):
                return ""
            why.add("nobody can read it")
            if source is not None and source[0].startswith(STAYS):
                source = (source[0].removeprefix(STAYS), source[1])
                if ".".join(source) not in self.files:
                    why.add("the rest of its statement loads the module")
                    continue
            if source is not None and beside(self.files[module], after[module], *source):
                why.add("the statement beside it loads the same")
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
        elif isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            # What a decorator, a default or a base class does is not known: only a rule licenses it.
            found.append((node.name, None if _quiet(node) else ("?", node.name)))
        else:
            return None
    return None if rest else found


def _quiet(node: ast.stmt) -> bool:
    """Does a definition do nothing but bind its name?"""
    if isinstance(node, FUNCTIONS):
        notes = [part for part in ast.walk(node.args) if isinstance(part, DOING)] + [
            part for part in ast.walk(node.returns or ast.Pass()) if isinstance(part, DOING)
        ]
        return not notes and all(ast.unparse(d).partition("(")[0] in MEMORY for d in node.decorator_list)
    if isinstance(node, ast.ClassDef):
        parts = (part for part in node.body if not (isinstance(part, FUNCTIONS) and part.name == "__init_subclass__"))
        return not (node.bases or node.keywords or node.decorator_list) and all(map(_quiet, parts))
    if isinstance(node, ast.Assign | ast.AnnAssign):
        plain = node.value is None or all(isinstance(part, PLAIN) for part in ast.walk(node.value))
        noted = node.annotation if isinstance(node, ast.AnnAssign) else ast.Pass()
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return (
            plain
            and all(isinstance(t, ast.Name) for t in targets)
            and not any(isinstance(part, DOING) for part in ast.walk(noted))
        )
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


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
