"""Modules as objects: which of them live code may hold, and what it may ask them for.

A module that is used otherwise than as the base of a read that resolves (an argument, an entry of a table, what
``sys.modules[...]`` gives) is followed no further. What live code names as an attribute anywhere may be read from
it then, as it may be a method of any class; a module that it has under such a name is an object likewise.

Blind to modules that code outside the tree finds, to ``gc``, and to what ``dir`` and ``getattr`` with a name that can be
anything read of an argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pruner.graph.callers import ASKING, Callers, mentions
from pruner.model.ir import Expr, Stmt, constants, line_of

if TYPE_CHECKING:
    from pruner.fold.reduce import Remains
    from pruner.fold.residual import Unit
    from pruner.graph.live import Marker

LOOKS = frozenset({"modules", "getmodule", "__globals__", "f_globals", "f_locals"})
"""Attribute names by which code comes to a module that nothing names there."""
_TABLE = "sys.modules"


class Held:
    """Modules that are objects, and the names that nobody asked them for yet."""

    def __init__(self, marker: Marker) -> None:
        self.marker = marker
        self._waiting: dict[str, list[tuple[str, str, int]]] = {}  # name -> modules that have it, who holds them, where
        self._modules: dict[str, list[tuple[str, str, int]]] = {}  # the same of names that may be modules themselves
        self._telling: list[re.Pattern[str]] = []  # shapes of names that live code builds
        self.holders: dict[str, set[str]] = {}  # held module -> definitions that hold it
        self.asked: set[str] = set()  # attributes that live code reads of what it does not know
        self._unloaded: dict[str, tuple[str, int]] = {}  # submodules of such packages that nothing loads yet
        self._expected: set[str] = set()  # modules that are looked for where only an import puts them
        self._finders: dict[str, int] = {}  # definitions whose code may find any module at all, and where
        self._near: set[tuple[str, str]] = set()  # modules that use them
        self._near_names: dict[str, tuple[str, int]] = {}  # what they name, and for which finder
        self.callers = Callers(marker)
        self._walkers: dict[str, str] = {}  # modules that walk a package which nobody here knows, and the definition
        self.named_packages: set[tuple[str, str]] = set()  # packages that code names in a text or holds, and the module
        self._walked: set[tuple[str, str]] = set()
        self._mentioned: dict[tuple[str, str], bool] = {}  # see mentions
        self._answered: dict[str, set[str]] = {}  # module -> what of it was looked at
        self._words: dict[str, dict[str, str]] = {}  # module -> names that its live texts spell, and who does
        self._by_text: dict[str, dict[str, str]] = {}  # module -> modules that its live texts name, and who does

    # -- what a held module may be asked for -------------------------------------------------------

    def hold(self, module: str, node: str, pos: int) -> None:
        """``def _ps(): from pkg import parallel_state; return parallel_state`` and ``_ps().rank`` elsewhere."""
        marker = self.marker
        if marker.drops.module(module) or module not in marker.table.paths:
            return
        marker.execute(module, node, "value", marker.path_of(node), line_of(pos))
        self._open(module, node, pos)

    def spelled(self, home: str, word: str, node: str) -> None:
        """``[("mod", "g")]`` beside ``"pkg.mod:f"``: who loads the module by a text may ask it for what other texts spell."""
        if word not in self._words.setdefault(home, {}):
            self._words[home][word] = node
            for module in self._by_text.get(home, ()):
                self._spelled(module, word, node)

    def told(self, home: str, module: str, node: str) -> None:
        """A live text names the module."""
        if module not in self._by_text.setdefault(home, {}):
            self._by_text[home][module] = node
            for word, by in list(self._words.get(home, {}).items()):
                self._spelled(module, word, by)

    def _spelled(self, module: str, word: str, node: str) -> None:
        state = self.marker.state(module)
        if state is not None and word in state.names:
            self._ask(module, word, node, 0)

    def by_file(self) -> dict[str, set[str]]:
        """File -> the modules that are objects in it."""
        found: dict[str, set[str]] = {}
        for module, nodes in self.holders.items():
            for node in nodes:
                found.setdefault(node.partition(":")[0], set()).add(module)
        return found

    def find_any(self, node: str, pos: int) -> None:
        """``sys.modules[cls.__module__]``: any module that runs may be the one, for code here and for who imports it."""
        self._finders.setdefault(node, pos)

    def spread(self) -> bool:
        """Every module may be asked for what code names that may find any module, or that imports such code by name.

        Definitions alone: an import that only this would keep is one that nobody uses.
        """
        homes = {node.partition(":")[0] for node in self._finders}
        for module, state in self.marker.out.states.items() if self._finders else ():
            if state.executed and (module in homes or self._loads_one(module, homes)):
                for node, pos in self._finders.items():
                    if (module, node) not in self._near and self.uses(module, node):
                        self._near.add((module, node))
                        names = _words(state.summary.body if node.partition(":")[0] != module else self._part(node))
                        for name in names - self._near_names.keys():
                            self._near_names[name] = (node, pos)
        changed = self._walk() | self.callers.solve()
        for module, state in list(self.marker.out.states.items()) if self._finders else ():
            if state.executed:
                if module in self._near_names:
                    self._expected.add(module)
                done = self._answered.setdefault(module, set())
                for name in sorted((self._near_names.keys() & state.names.keys()) - done):
                    done.add(name)
                    if all(item.kind in ("def", "class") for item in state.names[name]):
                        self._ask(module, name, *self._near_names[name])
                        changed = True
        return changed

    def uses(self, module: str, node: str) -> bool:
        """Is the definition in the module, or had there by name: ``from tool import call``, ``tool.call``?"""
        home, _, name = node.partition(":")
        if module == home:
            return True
        return bool(name) and self._loads_one(module, {home}) and self.mentions(module, name)

    def mentions(self, module: str, name: str) -> bool:
        """Does the text of a module have the name? Asked again at each turn."""
        known = self._mentioned.get((module, name))
        if known is None:
            body = self.marker.out.states[module].summary.body
            known = self._mentioned[module, name] = mentions(body, name)
        return known

    def _loads_one(self, module: str, homes: set[str]) -> bool:
        """Does the module import one of these, or a function of it?"""
        eager, lazy = self.marker.out.states[module].eager, self.marker.loaded_in(module)
        return not (homes.isdisjoint(eager) and homes.isdisjoint(lazy))

    def _part(self, node: str) -> Any:
        """The statements that bind the name of a node of the graph; the whole body for the module's own node."""
        module, _, name = node.partition(":")
        state = self.marker.out.states[module]
        return tuple(item.stmt for item in state.names.get(name, ())) or state.summary.body

    def walk_any(self, node: str) -> None:
        """``iter_modules(package.__path__)`` of a parameter: see :meth:`_walk`."""
        self._walkers.setdefault(node.partition(":")[0], node)

    def package_named(self, package: str, node: str) -> None:
        """Live code has the name of a package as a text, or the package as an object."""
        self.named_packages.add((package, node.partition(":")[0]))

    def packages(self) -> set[str]:
        """Packages that live code names in a text, or has as objects."""
        return {package for package, _ in self.named_packages}

    def named_by(self, package: str) -> str:
        """A module that does so."""
        return min((module for name, module in self.named_packages if name == package), default=package)

    def near(self, module: str, home: str) -> bool:
        """Are they one module, or does one of them import the other?"""
        for one, other in ((module, home), (home, module)):
            state = self.marker.out.states.get(one)
            if one == other or (state is not None and other in state.eager) or other in self.marker.loaded_in(one):
                return True
        return False

    def _walk(self) -> bool:
        """Packages that a walking module, or one that imports it, names or holds may be the walked ones."""
        marker, changed = self.marker, False
        for package, module in sorted(self.named_packages - self._walked) if self._walkers else ():
            by = next((node for home, node in sorted(self._walkers.items()) if self.near(module, home)), None)
            if by is None or any(dynamic.package == package for dynamic in marker.policy.dynamics):
                continue  # or a rule says which of its modules a walk yields
            self._walked.add((package, module))
            for child in marker.loaded.inside(package):
                if not marker.drops.module(child):
                    marker.escape(child, by, 0, private=False)
                    changed = True
        return changed

    def load(self) -> bool:
        """Modules that are looked up, or read of a package that is an object: some import loads them."""
        wanted, self._expected = self._expected, set()
        if not wanted:
            return False
        marker = self.marker
        for module, state in marker.out.states.items():
            if state.executed:
                names = {
                    n
                    for i in state.items
                    if i.live and i.kind in ("import", "star")
                    for n in marker.targets(state.summary, i)
                }
                for name in names | marker.loaded_in(module):
                    while name:
                        wanted.discard(name)
                        name = name.rpartition(".")[0]
        return bool(wanted) and marker.keep_imports_of(wanted)

    def executed(self, module: str) -> None:
        """The module runs, from now on: it is an attribute of its package."""
        found = self._unloaded.pop(module, None)
        if found is not None:
            self.hold(module, *found)

    def _children(self, module: str) -> list[str]:
        return [child.rpartition(".")[2] for child in self.marker.table.children.get(module, ())]

    def _open(self, module: str, node: str, pos: int) -> None:
        state = self.marker.state(module)
        if state is None:
            return
        self.holders.setdefault(module, set()).add(node)
        if state.valued:
            return
        state.valued = True
        if module in self.marker.table.children:
            self.package_named(module, node)
        names = dict.fromkeys(state.names)
        if state.summary.stars:
            names.update(dict.fromkeys(self._starred(module, {module})))
        for name in names:
            if name in self.marker.names_used or any(p.fullmatch(name) for p in self._telling):
                self._ask(module, name, node, pos)
            else:
                self._waiting.setdefault(name, []).append((module, node, pos))
        for name in (*names, *self._children(module)):
            self.give_when_asked(module, name, node, pos)

    def _starred(self, module: str, busy: set[str]) -> list[str]:
        """What the star imports of a module may bring."""
        table, found = self.marker.table, []
        summary = table.load(module)
        for stmt, _ in summary.stars if summary is not None else ():
            source = table.absolute(summary, stmt[3], stmt[4]) if summary is not None else ""
            inner = table.load(source) if source in table.paths and source not in busy else None
            if inner is not None and not self.marker.drops.module(source):
                busy.add(source)
                names = [*inner.stores, *self._starred(source, busy)]
                found += [name for name in names if self.marker.world.exports(source, name)]
        return found

    def named(self, name: str) -> None:
        """Live code names an attribute, or may do so."""
        for module, node, pos in self._waiting.pop(name, ()):
            self._ask(module, name, node, pos)

    def fits(self, pattern: re.Pattern[str]) -> None:
        """Live code builds attribute names of this shape; ``f"{a}_{b}"`` tells no more of a name than one that can be anything."""
        if len(re.findall("[A-Za-z0-9]", pattern.pattern.replace(r"\w*", ""))) < 2:
            return
        self._telling.append(pattern)
        for name in [n for n in self._waiting if pattern.fullmatch(n)]:
            self.named(name)

    def asks(self, names: Iterable[str]) -> None:
        """Live code reads these attributes, or may read them, of something that is no module of the tree or of outside."""
        fresh = {name for name in names if name not in self.asked}
        for name in sorted(fresh):
            self.asked.add(name)
            for module, node, pos in self._modules.pop(name, ()):
                self.give(module, name, node, pos)

    def reads(self, module: str, chain: Expr, names: tuple[str, ...], unit: Unit) -> None:
        """``torch.ops.moe`` asks no package of the tree for ``moe``; ``table["torch"].ops`` may."""
        if chain[0] == "n":
            kind = self.marker.world.symbol(module, chain[1]).kind
        else:
            kind = "outside" if unit.imports and self._outside(module, chain[1], unit) else ""
        if kind == "outside":  # what it gives may be anything: import_module("pkg.mod").name
            calls = (i for i, step in enumerate(chain[2]) if step[0] != ".")
            names = tuple(step[1:] for step in chain[2][next(calls, len(chain[2])) :] if step[0] == ".")
        self.asks(names[kind == "module" :])

    def _outside(self, module: str, name: str, unit: Unit) -> bool:
        """Does a function import the name from outside the tree, and nothing else?"""
        table, summary = self.marker.table, self.marker.out.states[module].summary
        found = []
        for s, index, _ in unit.imports:
            first, asname = (s[3] if s[0] == "import" else s[5])[index]
            if name == (asname or first.partition(".")[0]):
                found.append((first if s[0] == "import" else table.import_target(summary, s, index)[0]) in table)
        return bool(found) and not any(found)

    def calls(self, found: list[Expr]) -> None:
        """``getattr(x, "name")``."""
        for e in found:
            if (
                e[0] == "k"
                and e[1][0] == "n"
                and e[1][1] in _GETTERS
                and not e[1][2]
                and len(e[2]) > 1
                and e[2][1][0] == "c"
            ):
                self.asks([str(e[2][1][1])])

    def _ask(self, module: str, name: str, node: str, pos: int) -> None:
        """The name may be read; what a rule drops is none of it, and nobody has said that it is read."""
        items = self.marker.out.states[module].names.get(name, ())
        if not self.marker.drops.symbol(module, name) and not any(item.dropped for item in items):
            self.marker.need(module, name, node, "value", pos)

    def give_when_asked(self, module: str, name: str, node: str, pos: int) -> None:
        """What the module has under the name may be a module: an object once live code reads such an attribute."""
        if name in self.asked:
            self.give(module, name, node, pos)
        else:
            self._modules.setdefault(name, []).append((module, node, pos))

    def give(self, module: str, name: str, node: str, pos: int) -> None:
        """What is read as an attribute of a module may be a module: an object from then on."""
        world = self.marker.world
        child, state = f"{module}.{name}", self.marker.state(module)
        found = world.attribute(module, name)
        if found.kind == "module" and found.module == child and state is not None and name not in state.names:
            self._submodule(child, node, pos)
            return
        for target in world.modules_behind(found):
            if target != module:
                self.hold(target, node, pos)

    def _submodule(self, child: str, node: str, pos: int) -> None:
        """``pkg.mod`` of a package that is an object: there as soon as somebody imports it."""
        state = self.marker.out.states.get(child)
        self._expected.add(child)
        if state is not None and state.executed:
            self.hold(child, node, pos)
        else:
            self._unloaded.setdefault(child, (node, pos))

    # -- how code comes to a module that nothing names there ------------------------------------------

    def lookups(self, module: str, node: str, unit: Unit) -> None:
        """``sys.modules[...]``, ``inspect.getmodule(x)``, ``f.__globals__`` in a walked definition."""
        remains = unit.remains
        world = self.marker.world
        self.callers.take(node, unit)
        found: list[tuple[str, int]] = []
        vague: list[int] = [0] if remains.attributes & {"__globals__", "f_globals"} else []
        for chain, pos in zip(remains.chains, unit.lines, strict=True):
            if chain[0] != "n":
                if not _FRAMES.isdisjoint(chain[2]):
                    vague.append(pos)
                continue
            symbol, rest = world.follow(module, chain[1], chain[2])
            if symbol.kind == "binding" and ".__globals__" in rest:
                self._globals(symbol.module, rest, node, pos)
            elif symbol.kind == "outside":
                self._looked(symbol.module, rest, pos, found, vague)
            elif not _FRAMES.isdisjoint(rest):
                vague.append(pos)
        for target, path, pos in unit.reads:
            if target[0][:1] == "=":  # of a chain whose root a function imports
                root, steps = target[0][1:], [f".{target[1]}" if target[1] else "", *target[2], *path]
                while steps and steps[0][:1] in ("", "."):
                    root += steps.pop(0)
                self._looked(root, tuple(steps), pos, found, vague)
        told = [(name, 0) for e in remains.calls for name in self._keys(module, e)]
        listed = _lists(remains)
        for name, pos in [*told, *found]:
            self.hold(name, node, pos)
            self._expected.add(name)
            if listed:  # dir(sys.modules[__name__]), getattr(sys.modules[__name__], name)
                self.marker.escape(name, node, pos)
        if len(vague) > len(told):
            self.find_any(node, vague[0])
            if listed:
                self.callers.listed(node, unit)

    def _looked(
        self, name: str, rest: tuple[str, ...], pos: int, found: list[tuple[str, int]], vague: list[int]
    ) -> None:
        """Note the module that a chain of ``sys.modules`` names with a constant, or that it may be any."""
        table = name == _TABLE or (name.startswith(_TABLE + ".") and name[len(_TABLE) :] in ASKING)
        keys = constants(rest[0]) if table and rest else ()
        if keys:
            if isinstance(keys[0], str) and keys[0] in self.marker.table.paths:
                found.append((keys[0], pos))
        elif name == "inspect.getmodule" or name.startswith(_TABLE) or not _FRAMES.isdisjoint(rest):
            vague.append(pos)

    def _globals(self, module: str, rest: tuple[str, ...], node: str, pos: int) -> None:
        """``function.__globals__["name"]``."""
        after = rest[rest.index(".__globals__") + 1 :]
        if after and after[0][0] == "[":
            self.marker.need(module, str(constants(after[0])[0]), node, "value", pos)
        else:
            self.marker.escape(module, node, pos)

    def _keys(self, module: str, e: Expr) -> list[str]:
        """The modules that an expression looks up by a key that tells which: ``sys.modules[__name__]``."""
        found = []
        if e[0] == "o":
            found = [self._key(module, b) for a, b in zip(e[1], e[1][1:], strict=False) if _is_table(a)]
        elif e[0] == "k" and e[2]:
            if _is_table(e[1]):
                found.append(self._key(module, e[2][0]))
            elif e[1][0] in ("n", "v") and (e[1][1], *e[1][2])[-1].lstrip(".") == "getmodule":
                found.append(self.home(module, e[2][0]))
        return [name for name in found if name]

    def _key(self, module: str, e: Expr) -> str:
        if e == ("n", "__name__", ()):
            return module
        return self.home(module, e[:2] + (e[2][:-1],)) if e[0] == "n" and e[2][-1:] == (".__module__",) else ""

    def home(self, module: str, e: Expr) -> str:
        """The module of the tree that defines the function or class of a chain, or ""."""
        if e[0] != "n":
            return ""
        symbol, rest = self.marker.world.follow(module, e[1], e[2])
        told = symbol.kind == "binding" and not rest and self.marker.world.defines(symbol)
        return symbol.module if told and symbol.module in self.marker.table.paths else ""

    def loads(self, module: str, node: str, e: Expr) -> None:
        """``import_module(cls.__module__)``."""
        if e[0] in ("n", "v", "x") and e[2][-1:] == (".__module__",):
            home = self._key(module, e)
            if home:
                self.hold(home, node, 0)
            else:
                self.find_any(node, 0)

    def imports(self, s: Stmt, index: int, node: str) -> None:
        """``from sys import modules as table``: its reads are not told from others."""
        if s[0] == "from" and s[3] in ("sys", "inspect") and s[5][index][0] in LOOKS and s[5][index][1]:
            self.find_any(node, s[1])


_GETTERS = ("getattr", "hasattr")
_FRAMES = frozenset({".__globals__", ".f_globals"})


def _words(part: Any) -> set[str]:
    """Attribute names, one-word texts and dotted ones of a lowered module."""
    found: set[str] = set()
    texts: Sequence[Any]
    stack = [part]
    while stack:
        item = stack.pop()
        if item.__class__ is tuple and len(item) == 2 and item[0] == "c":
            texts = [item[1]]
        elif item.__class__ is tuple:
            stack += item
            continue
        elif item.__class__ is str and item[:1] in (".", "(", "["):
            texts = [item[1:]] if item[0] == "." else constants(item)
        else:
            continue
        found.update(t for t in texts if isinstance(t, str) and t.replace(".", "").isidentifier())
    return found


def _is_table(e: Expr) -> bool:
    """``sys.modules`` or ``sys.modules.get``, by its looks; what it is worth was asked before."""
    return e[0] in ("n", "v") and ((e[1], *e[2][-1:]) == ("modules",) or ".modules" in e[2][-2:])


def _lists(remains: Remains) -> bool:
    """Does the definition list members, or ask for one by a name that can be anything?"""
    if "__dict__" in remains.attributes or "getmembers" in remains.attributes:
        return True
    for tag, root, path in remains.chains:
        if (tag == "n" and root in ("dir", "vars", "getmembers")) or ".__dict__" in path or ".getmembers" in path:
            return True
    return any(
        e[0] == "k" and e[1] == ("n", "getattr", ()) and len(e[2]) > 1 and e[2][1][0] not in ("c", "j")
        for e in remains.calls
    )
