"""What may happen to stand-ins while modules load: the bodies of modules, and what they call, run over sets of things.

A value is a set of what an expression may be: stand-ins, modules, functions, classes, objects of a class, containers. A
container is one for each place in the text that makes it, so that what one module puts in, another finds there. Statements
go in their order; of a test that is not known both arms run; a loop runs twice; a function runs once for each set of
arguments. A use that an ``except ImportError`` or ``suppress`` around it catches is none.

Blind to what code outside the tree does with a stand-in that it is handed, to handlers of exceptions, to computed names
of attributes, to uses that fail nothing (a constant that is compared, printed or looked up), and to what more than
:data:`_STATEMENTS` statements do.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from pruner.verify.running import Frame
from pruner.verify.things import NOTHING, Atom, Cell, Code, Names, Value, last, later

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pruner.verify.tree import Tree

_STATEMENTS, _DEPTH, _WIDE = 200_000, 40, 60
_ITERATE = frozenset(
    "list tuple set frozenset sorted iter reversed max min sum any all enumerate zip dict deque".split()
)
_NUMBERS = frozenset(
    "len int float range abs round divmod pow bytes bytearray complex hex oct bin ord chr next".split()
)
_READ = frozenset("getattr hasattr".split())
_SAME = frozenset(
    "cast partial staticmethod classmethod property lru_cache cache cached_property deepcopy copy".split()
)
_ADDING = frozenset("append add appendleft insert extend update setdefault __setitem__ register".split())
_OF_CLASSES = frozenset(name for name in {*dir(type), *dir(BaseException)} if name[:2] == "__")  # a stand-in has them
_TAKING = frozenset("get pop popleft popitem __getitem__ setdefault".split())


class Loading:
    """Runs modules. ``wanted``: those whose bodies count; ``hot`` tells of (module, name) that a call of it does."""

    def __init__(self, tree: Tree, wanted: Iterable[str], hot: Callable[[str, str], bool]) -> None:
        self.tree = tree
        self.wanted = frozenset(wanted)
        self.hot = hot
        self.found: dict[tuple[str, int, str], None] = {}
        self._globals: dict[str, Names] = {}
        self.codes: list[Code] = []
        self.cells: dict[Any, Cell] = {}
        self._made: dict[Any, int] = {}
        self.defaults: dict[int, Value] = {}  # of parameters
        self._known: dict[Any, Value] = {}  # what calls give
        self._caught = 0
        self._depth = 0
        self.left = _STATEMENTS

    # -- modules ------------------------------------------------------------------------------------

    def module(self, name: str) -> Names:
        """The globals of a module, whose body has run, or runs now."""
        if name not in self._globals:
            names = self._globals[name] = {}
            path = self.tree.modules.get(name, "")
            parsed = self.tree.parse(path) if path else None
            if parsed is not None:
                frame = Frame(self, path, name, names, (), later(parsed))
                outer, self._caught, self._depth = (self._caught, self._depth), 0, 0
                with suppress(RecursionError):  # a sum of a thousand texts
                    frame.suite(parsed.body)
                self._caught, self._depth = outer
        return self._globals[name]

    def load(self, name: str) -> None:
        """An import statement loads a module, and the packages around it."""
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            if ".".join(parts[:count]) in self.wanted:
                self.module(".".join(parts[:count]))

    def given(self, module: str, name: str) -> Value:
        """``module.name``."""
        if module in self._globals or module in self.wanted:
            names = self.module(module)
            if name in names:
                return names[name]
        if self.tree.has_module(f"{module}.{name}"):
            return frozenset({("module", f"{module}.{name}")})
        if module in self._globals or not self.tree.has_module(module):
            return NOTHING
        return frozenset({("name", module, name)})  # of a module that did not run: looked up when it matters

    def settled(self, value: Value, force: bool) -> Value:
        """With names of modules that did not run looked up: all of them, or those that count."""
        if not any(atom[0] == "name" for atom in value):
            return value
        found: set[Atom] = set()
        for atom in value:
            if atom[0] == "name" and (force or atom[1] in self._globals or self.hot(atom[1], atom[2])):
                self.module(atom[1])
                found |= self.given(atom[1], atom[2]) - {atom}
            else:
                found.add(atom)
        return frozenset(found)

    # -- things -------------------------------------------------------------------------------------

    def use(self, value: Value, path: str, line: int) -> None:
        """Whatever is done here fails on a stand-in."""
        if not self._caught:
            for atom in value:
                if atom[0] == "stand":
                    self.found[path, line, atom[1]] = None
                elif atom[0] == "class" and self.codes[atom[1]].stands:
                    self.found[path, line, self.codes[atom[1]].node.name] = None

    def touched(self, value: Value) -> bool:
        """May it be a stand-in, or hold one?"""
        seen: set[Any] = set()
        todo = list(value)
        while todo and len(seen) < _WIDE:
            kind, *rest = todo.pop()
            if kind == "stand" or (kind == "class" and self.codes[rest[0]].stands):
                return True
            if kind in ("cell", "object") and (kind, rest[0]) not in seen:
                seen.add((kind, rest[0]))
                cell = self.cells[rest[0]] if kind == "cell" else Cell(fields=dict(self.codes[rest[0]].own))
                todo += cell.each() | cell.keys
        return False

    def cell(self, place: Any, table: bool = False) -> tuple[Cell, Value]:
        """The container that a place in the text makes."""
        known = self.cells.get(place)
        if known is None:
            known = self.cells[place] = Cell(table)
        return known, frozenset({("cell", place)})

    def code(self, path: str, module: str, node: Any, scopes: tuple[Names, ...]) -> tuple[Code, int]:
        """The function or class that a place in the text makes."""
        key = (id(node), *map(id, scopes))
        if key not in self._made:
            self._made[key] = len(self.codes)
            self.codes.append(Code(path, module, node, scopes))
        return self.codes[self._made[key]], self._made[key]

    def found_in(self, index: int, name: str, seen: frozenset[int] = frozenset()) -> Value | None:
        """What a class, or one above it, binds."""
        code = self.codes[index]
        if name in code.names:
            return code.names[name]
        for above in code.above:
            found = self.found_in(above, name, seen | {index}) if above not in seen else None
            if found is not None:
                return found
        return None

    def attribute(self, value: Value, name: str, path: str, line: int) -> Value:
        """``x.name``."""
        found: set[Atom] = set()
        for atom in self.settled(value, force=False):
            kind = atom[0]
            if kind == "stand":
                self.use(frozenset({atom}) if name not in _OF_CLASSES else NOTHING, path, line)
            elif kind == "module":
                found |= self.given(atom[1], name)
            elif kind == "cell":
                found.add(("of", atom[1], name))
            elif kind in ("class", "object", "super"):
                code = self.codes[atom[1]]
                rows = (
                    [self.found_in(above, name) for above in code.above]
                    if kind == "super"
                    else [self.found_in(atom[1], name)]
                )
                held = next((row for row in rows if row is not None), None)
                if held is None and kind == "class" and code.stands and name not in _OF_CLASSES:
                    self.use(frozenset({atom}), path, line)
                for inner in held or NOTHING:
                    found |= self._bound(inner, atom, path, line)
                if kind != "super":
                    found |= code.own.get(name, NOTHING)
        return frozenset(found)

    def _bound(self, inner: Atom, owner: Atom, path: str, line: int) -> Value:
        """A member as its object, or its class, gives it."""
        if inner[0] != "def" or len(inner) > 2:
            return frozenset({inner})
        node = self.codes[inner[1]].node
        marks = {last(d) for d in getattr(node, "decorator_list", ())}
        if "staticmethod" in marks:
            return frozenset({inner})
        owned = ("object" if owner[0] == "super" else owner[0], owner[1])
        if marks & {"property", "cached_property"} and owned[0] == "object":
            return self.call(frozenset({(*inner, owned)}), [], {}, path, line)
        if "classmethod" in marks:
            return frozenset({(*inner, ("class", owner[1]))})
        return frozenset({(*inner, owned)}) if owned[0] == "object" else frozenset({inner})

    def iterated(self, value: Value, path: str, line: int) -> Value:
        """What a loop over it gives."""
        self.use(value, path, line)
        found: set[Atom] = set()
        for atom in self.settled(value, force=False):
            if atom[0] == "cell":
                cell = self.cells[atom[1]]
                found |= cell.keys if cell.table else cell.each()
            elif atom[0] == "object":
                method = self.attribute(frozenset({atom}), "__iter__", path, line)
                found |= self.iterated(self.call(method, [], {}, path, line) - {atom}, path, line)
        return frozenset(found)

    def entry(self, value: Value, key: Any, path: str, line: int) -> Value:
        """``x[key]``; ``key`` is ``...`` where it is not known."""
        self.use(value, path, line)
        found: set[Atom] = set()
        for atom in self.settled(value, force=False):
            if atom[0] == "cell":
                cell = self.cells[atom[1]]
                found |= cell.each() if key is ... else cell.rest | cell.fields.get(key, NOTHING)
        return frozenset(found)

    def put(self, value: Value, key: Any, keys: Value, held: Value) -> None:
        """``x[key] = held``, ``x.append(held)``."""
        for atom in self.settled(value, force=self.touched(held | keys)):
            if atom[0] == "cell":
                cell = self.cells[atom[1]]
                cell.keys |= keys
                if key is ...:
                    cell.rest |= held
                else:
                    cell.fields[key] = cell.fields.get(key, NOTHING) | held

    def taken(self, value: Value, other: Value) -> None:
        """``x.update(other)``, ``x += other``."""
        for atom in other:
            if atom[0] == "cell":
                cell = self.cells[atom[1]]
                if cell.table:
                    self.put(value, ..., cell.keys, cell.rest)
                    for key, held in list(cell.fields.items()):
                        self.put(value, key, NOTHING, held)
                else:
                    into_table = any(a[0] == "cell" and self.cells[a[1]].table for a in value)
                    pairs = [self.parts(frozenset({a}), 2) for a in cell.each()] if into_table else []
                    for first, second in pairs:
                        self.put(value, ..., first, second)
                    if not into_table:
                        self.put(value, ..., NOTHING, cell.each())

    def parts(self, value: Value, count: int) -> list[Value]:
        """What unpacking gives, by position."""
        found = [NOTHING] * count
        for atom in value:
            if atom[0] == "cell":
                cell = self.cells[atom[1]]
                for at in range(count):
                    found[at] |= cell.keys if cell.table else cell.fields.get(at, NOTHING) | cell.rest
        return found

    # -- calls --------------------------------------------------------------------------------------

    def call(
        self, function: Value, args: Sequence[Value], keywords: dict[str, Value], path: str, line: int, name: str = ""
    ) -> Value:
        """``f(..)``: what it may give; ``name`` is what it is written as, for functions that are not of the tree."""
        self.use(function, path, line)
        matters = any(self.touched(value) for value in (*args, *keywords.values()))
        found: set[Atom] = set()
        known = False
        for atom in self.settled(function, force=matters):
            if atom[0] in ("def", "class", "object"):
                known = True
                found |= self._run(atom, args, keywords, path, line)
            elif atom[0] == "of":
                known = True
                found |= self._of(atom, args, keywords, path, line)
            elif atom[0] == "name":
                known = True
        return frozenset(found) if known else self._outside(name, args, keywords, path, line)

    def _run(self, atom: Atom, args: Sequence[Value], keywords: dict[str, Value], path: str, line: int) -> Value:
        key = (atom, tuple(args), tuple(sorted(keywords.items())), bool(self._caught))
        if key in self._known:
            return self._known[key]
        self._known[key] = frozenset({("object", atom[1])}) if atom[0] == "class" else NOTHING
        if self.left <= 0 or self._depth >= _DEPTH or any(len(value) > _WIDE for value in args):
            return self._known[key]
        self._depth += 1
        code = self.codes[atom[1]]
        if atom[0] == "class":
            self._created(atom[1], args, keywords, path, line)
        elif atom[0] == "object":
            method = self.attribute(frozenset({atom}), "__call__", path, line)
            self._known[key] = self.call(method, args, keywords, path, line) if method else NOTHING
        else:
            bound = [frozenset({atom[2]})] if len(atom) > 2 else []
            self._known[key] = Frame.of(self, code).function(code.node, [*bound, *args], keywords)
        self._depth -= 1
        return self._known[key]

    def _created(self, index: int, args: Sequence[Value], keywords: dict[str, Value], path: str, line: int) -> None:
        made = frozenset({("object", index)})
        for special in ("__new__", "__init__"):
            method = self.found_in(index, special)
            if method is not None:
                first = frozenset({("class", index)}) if special == "__new__" else made
                self.call(method, [first, *args], keywords, path, line)
        if self.found_in(index, "__init__") is not None:
            return
        fields = list(self._fields(index))
        rows = dict(zip((name for name, _ in fields), args, strict=False)) | keywords
        for name, default in fields:
            if name in rows:
                own = self.codes[index].own
                own[name] = own.get(name, NOTHING) | rows[name]
            elif default is not None:
                self.codes[index].own[name] = self.call(default, [], {}, path, line)
        post = self.attribute(made, "__post_init__", path, line)
        if post:
            self.call(post, [], {}, path, line)

    def _fields(self, index: int, seen: frozenset[int] = frozenset()) -> Iterator[tuple[str, Value | None]]:
        code = self.codes[index]
        for above in code.above:
            if above not in seen:
                yield from self._fields(above, seen | {index})
        for node in code.node.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.target.id, code.names.get(f"<factory of {node.target.id}>")

    def _of(self, atom: Atom, args: Sequence[Value], keywords: dict[str, Value], path: str, line: int) -> Value:
        """A method of a container."""
        this, cell, name = frozenset({("cell", atom[1])}), self.cells[atom[1]], atom[2]
        place = ("made", atom, path, line)
        if name in ("items", "values", "keys"):
            pairs, made = self.cell(place)
            if name == "items":
                pair, held = self.cell((*place, "pair"))
                pair.fields = {0: cell.keys, 1: cell.each()}
                pairs.rest |= held
            else:
                pairs.rest |= cell.keys if name == "keys" else cell.each()
            return made
        if name in ("extend", "update"):
            for arg in args:
                self.iterated(arg, path, line) if name == "extend" else self.use(arg, path, line)
                self.taken(this, arg)
            for key, held in keywords.items():
                self.put(this, key, NOTHING, held)
        elif name in ("append", "add", "appendleft"):
            self.put(this, ..., NOTHING, NOTHING.union(*args))
        elif name in ("insert", "setdefault", "__setitem__"):
            self.put(this, ..., args[0] if args else NOTHING, NOTHING.union(*args[1:]))
        elif name == "sort" and "key" in keywords:
            self.call(keywords["key"], [cell.each()], {}, path, line)
        if name in ("copy", "union", "intersection", "difference"):
            return this.union(*args)
        return cell.each().union(*args[1:]) if name in _TAKING else NOTHING

    def _outside(self, name: str, args: Sequence[Value], keywords: dict[str, Value], path: str, line: int) -> Value:
        """A builtin, or a function of another package."""
        everything = NOTHING.union(*args, *keywords.values())
        if not everything:
            return NOTHING
        first = args[0] if args else NOTHING
        if name in ("map", "filter", "reduce", "starmap"):
            each = [self.iterated(arg, path, line) for arg in args[1:]]
            given = self.call(first, each * (2 if name == "reduce" else 1), {}, path, line) if first else NOTHING
            made, value = self.cell(("made", name, path, line))
            made.rest |= given if name == "map" else NOTHING.union(*each)
            return value
        if name in ("isinstance", "issubclass"):
            return NOTHING
        if name in _NUMBERS:
            self.use(everything, path, line)
            return self.iterated(first, path, line) if name == "next" else NOTHING
        if name in _ITERATE:
            each = [self.iterated(arg, path, line) for arg in args]
            if "key" in keywords:
                self.call(keywords["key"], [NOTHING.union(*each)], {}, path, line)
            return self._gathered(name, args, each, keywords, (path, line))
        if name == "join" or "choices" in keywords:
            self.iterated(first if name == "join" else keywords["choices"], path, line)
            return NOTHING
        if name in _READ:
            self.use(first, path, line)
            return NOTHING
        return everything if name in _SAME else NOTHING

    def _gathered(
        self, name: str, args: Sequence[Value], each: list[Value], keywords: dict[str, Value], place: tuple[str, int]
    ) -> Value:
        """``list(x)``, ``zip(x, y)``, ``max(x)``."""
        if name in ("max", "min"):
            return NOTHING.union(*each) if len(each) == 1 else NOTHING.union(*args)
        if name in ("sum", "any", "all"):
            return NOTHING
        made, value = self.cell(("made", name, *place), name == "dict")
        if name == "dict":
            for arg in args:
                self.taken(value, arg)
            for key, held in keywords.items():
                self.put(value, key, NOTHING, held)
        elif name in ("zip", "enumerate"):
            pair, held = self.cell(("made", name, *place, "pair"))
            pair.fields = dict(enumerate(each if name == "zip" else (NOTHING, *each)))
            made.rest |= held
        else:
            made.rest |= NOTHING.union(*each)
        return value

    @contextmanager
    def catching(self, caught: bool) -> Iterator[None]:
        """What fails inside ends nothing."""
        self._caught += caught
        try:
            yield
        finally:
            self._caught -= caught
