"""Facts admitted, not believed: every store that could break a fact, and where it stands.

A fact says that a variable, an attribute, a key of the environment or of a table *always* has one of
its values. Each store of the tree that could make it untrue is *removed* (in code that goes under all
the facts: until the first store that breaks one, they all hold, so such code is not reached),
*compatible* (it stores a value of the set) or it *breaks* the fact. A fact that a store breaks folds
nothing. What a module's own body stores is what the fact is about (*definition*), as a function's
returns are for a fact on its call; one literal outside the set breaks it all the same.

Blind to: what :mod:`pruner.scan.stores` is; stores of a computed name into an object whose class nobody
knows, or into the environment where kept code never names the key but to read it (both are counted:
the name would have to come from outside); what an object of a class that no fact speaks of puts into its own
``__dict__`` under a computed name; objects that are read from data; stores of files that go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pruner.graph.symbols import ModuleTable
from pruner.model import Edit, Fact, FactRecord, Range, Snapshot, StoreRecord
from pruner.model.policy import Const
from pruner.pipeline import given
from pruner.pipeline.followed import Followed
from pruner.pipeline.given import Given
from pruner.pipeline.looks import Looks
from pruner.pipeline.taking import Classes
from pruner.pipeline.watch import Watch, watches
from pruner.scan.stores import ABSENT, FileStores, Site, find, said
from pruner.scan.summary import Summary

_LITERALS: dict[bytes, Const] = {b"True": True, b"False": False, b"None": None}
_KINDS = {  # of what is watched: the kinds of stores of a computed name that may be one into it
    "variable": ("variable", "attribute"),
    "function": ("variable", "attribute"),
    "attribute": ("attribute", *given.COMPUTED),
    "method": ("attribute",),
    "item": ("item",),
    "environment": ("environment",),
}
_NOTHING: Mapping[tuple[str, str], list[tuple[str, int]]] = {}
_TRUE, _FALSE = frozenset({"1", "true", "yes", "on"}), frozenset({"", "0", "false", "no", "off"})


class Result(Protocol):
    """What of an outcome matters here."""

    files: dict[str, bytes | None]
    edits: dict[str, tuple[Edit, ...]]
    fact_folds: dict[str, int]


@dataclass(slots=True)
class Admission:
    """Every fact with its stores; ``open_stores`` are stores of a computed name whose object nobody knows."""

    records: tuple[FactRecord, ...] = ()
    open_stores: tuple[tuple[str, int], ...] = ()
    rejected: frozenset[Fact] = frozenset()


@dataclass(slots=True)
class _Tree:
    """The files and classes that stores are judged against."""

    snapshot: Snapshot
    table: ModuleTable
    result: Result
    module_of: dict[str, str]
    standings: Mapping[tuple[str, int, str], str]
    guarded: Mapping[str, frozenset[str]] = field(
        default_factory=dict
    )  # subjects that guards ask at run time, and where
    classes: Classes = field(default_factory=lambda: Classes({}))
    asked: frozenset[str] = frozenset()  # names of attributes of which a guard asks a fact
    texts: list[tuple[str, bytes]] = field(default_factory=list)  # of the kept files
    texts_of: dict[str, bool] = field(default_factory=dict)
    given: Given = field(default_factory=lambda: Given(Classes({}), ()))
    parsed: dict[str, FileStores] = field(default_factory=dict)
    sites: dict[str, list[tuple[str, Site]]] = field(default_factory=dict)
    computed: dict[str, list[tuple[str, Site]]] = field(default_factory=dict)  # by kind: those without a name
    followed: Followed | None = None
    said: set[str] = field(default_factory=set)  # keys of the environment that kept code names other than to read them

    def add(self, path: str, site: Site) -> None:
        """Note a store, by its name or, when that is computed, by its kind."""
        if site.name is None:
            self.computed.setdefault(site.kind, []).append((path, site))
        else:
            self.sites.setdefault(site.name, []).append((path, site))

    def spoken(self, watch: Watch) -> bool:
        """Can the name of the attribute come from kept code: is it a text somewhere, or a field that can be listed?"""
        return self.written_out(watch) or bool(self.given.takers.get(watch))

    def written_out(self, watch: Watch) -> bool:
        """Is the name of the attribute a text somewhere in kept code?"""
        if watch.name not in self.texts_of:
            name = watch.name.encode()
            quoted = [first + name + last for first in (b"'", b'"') for last in (b"'", b'"')]
            self.texts_of[watch.name] = any(text in data for _, data in self.texts for text in quoted)
        return self.texts_of[watch.name]

    def removed(self, path: str, site: Site) -> bool:
        """True when an edit takes the place out, or the file goes."""
        name = (site.name or "").encode()
        for edit in self.result.edits.get(path, ()):
            if edit.start <= site.start < edit.stop:
                return not (edit.text and (not name or name in edit.text))
        return False

    def taken(self, path: str, offset: int) -> bool:
        """True when an edit takes the place out."""
        return any(edit.start <= offset < edit.stop for edit in self.result.edits.get(path, ()))

    def written(self, path: str, site: Site, fact: Fact) -> bool:
        """True when what a keyword is given became a literal that the fact allows, under all facts together."""
        if site.given < 0:
            return False
        texts = [edit.text for edit in self.result.edits.get(path, ()) if edit.start == site.given]
        return any(text in _LITERALS and _holds(fact, _LITERALS[text]) for text in texts)


def judge(
    snapshot: Snapshot,
    table: ModuleTable,
    facts: tuple[Fact, ...],
    subjects: Mapping[str, str],
    result: Result,
    summaries: Mapping[str, Summary | None],
    readers: Mapping[str, tuple[str, ...]],
    standings: Mapping[tuple[str, int, str], str],
    guarded: Mapping[str, frozenset[str]] | None = None,
    stores_of: Callable[[str, bytes], FileStores] = lambda path, data: find(data),
    hidden: Mapping[tuple[str, str], list[tuple[str, int]]] = _NOTHING,
) -> Admission:
    """Look at every file that could break a fact; one record per fact, in the order given.

    ``subjects`` gives the defining symbol's spelling of a subject, ``readers`` the modules that asked,
    ``standings`` what folding knows of stores into members, by module, line and member, ``guarded``
    the subjects that a guard asks at run time with the methods that it stands in, ``stores_of`` gives those of a file of
    this path and text, ``hidden`` are stores into globals that no assignment shows (:mod:`pruner.graph.overwritten`):
    module and position.
    """
    # Stores are looked for where a fact is asked for: one that nobody asks for folds nothing, so no store makes
    # the tree wrong by it.
    idle = {f for f in facts if f.valid_from or not readers.get(f.subject)}
    watched = [(f, () if f in idle else watches(subjects[f.subject], table, summaries)) for f in facts]
    homes = {path: module for module, (path, _) in table.paths.items()}
    guarded = guarded or {}
    names = frozenset(subject.rpartition(".")[2] for subject in guarded)
    tree = _Tree(snapshot, table, result, homes, standings, guarded, Classes(summaries), names)
    tree.followed = Followed(tree.classes, guarded, tree.texts, tree.taken)
    _read(tree, [w for _, own in watched for w in own], stores_of)
    records, rejected = [], set()
    opened: set[tuple[str, int]] = set()
    for fact, own in watched:
        rows = sorted({row for watch in own for row in _stores(tree, fact, watch, opened)})
        rows = sorted({*rows, *(row for watch in own for row in _hidden(tree, watch, hidden, set(map(_place, rows))))})
        rows = sorted({*rows, *(row for watch in own for row in _definitions(tree, fact, watch))})
        asked = readers.get(fact.subject, ())
        broken = any(row.standing == "breaks" for row in rows)
        status = (
            "from a point on" if fact.valid_from else "rejected" if broken else "admitted" if asked else "not asked"
        )
        count = result.fact_folds.get(f"{fact.rule} {fact.subject}", 0)
        records.append(FactRecord(fact.subject, fact.rule, status, asked, tuple(rows), 0 if broken else count))
        if broken:
            rejected.add(fact)
    return Admission(tuple(records), tuple(sorted(opened)), frozenset(rejected))


def _read(tree: _Tree, all_watches: list[Watch], stores: Callable[[str, bytes], FileStores]) -> None:
    """Parse the kept files in whose text something looks like a store that matters."""
    if not all_watches:
        return
    looks = Looks(all_watches)
    for file in tree.snapshot.files:
        module = tree.module_of.get(file.path)
        if module is None or file.link is not None or tree.result.files.get(file.path, b"") is None:
            continue
        data = tree.snapshot.read(file.path)
        kept = tree.result.files.get(file.path) or data
        tree.texts.append((file.path, data))
        if named := looks.named(kept) - tree.said:
            tree.said |= said(kept) & named
        if looks.at(module, data):
            try:
                found = stores(file.path, data)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue  # nobody reads it; PR210 says so
            tree.parsed[file.path] = found
            for name, bases in found.bases.items():
                tree.classes.bases.setdefault(name, set()).update(bases)
            for site in found.sites:
                tree.add(file.path, site)
    tops = {module.partition(".")[0] for module in tree.module_of.values()}
    tree.given = Given(tree.classes, all_watches, tops, tree.asked, lambda m, name: _mentions(tree, m, name))
    for path, site in tree.given.read(tree.texts):
        tree.parsed.setdefault(path, FileStores())
        tree.add(path, site)


def _stores(tree: _Tree, fact: Fact, watch: Watch, opened: set[tuple[str, int]]) -> Iterator[StoreRecord]:
    family = tree.classes.mixed(watch.classes)
    computed = any(
        found.members.get(name, {}).get(watch.name) == "computed"
        for found in tree.parsed.values()
        for name in watch.classes
    )
    kinds = _KINDS[watch.kind] if watch.kind != "attribute" or watch.classes else ("attribute",)
    sites = [*tree.sites.get(watch.name, ()), *(row for kind in kinds for row in tree.computed.get(kind, ()))]
    own = [site.line for path, site in sites if site.certain and _defines(site, watch, tree.module_of[path])]
    for path, site in sites:
        module, found = tree.module_of[path], tree.parsed[path]
        if _defines(site, watch, module):
            wrong = site.certain and site.line == max(own) and site.value is not None and watch.kind == "variable"
            standing = "breaks" if wrong and not _fits(fact, watch, site) else "definition"
        elif not _meets(tree, site, watch, module, found, family, computed, fact.subject in tree.guarded):
            unclear = site.kind == "attribute" and (not site.owner or not watch.classes)
            unclear |= site.kind == watch.kind == "environment" or tree.given.unclear(site)
            if site.name is None and unclear and not tree.removed(path, site):
                opened.add((path, site.line))
            continue
        else:
            folded = tree.standings.get((module, site.line, watch.name)) if watch.kind == "attribute" else None
            own_class = site.owner in family and site.name is None
            seen = tree.given.seen(site, watch) if site.kind in given.KINDS else own_class
            checked = fact.subject in tree.guarded and watch.kind == "attribute" and seen
            fits = _fits(fact, watch, site) or (site.same and watch.kind == "attribute")
            exactly = tree.given.value(site, watch)
            fits = fits or (exactly is not None and _holds(fact, exactly[0]))
            checked = checked and (exactly is None or fits)  # what the call says is no guard's business
            fits = fits or (watch.kind == "attribute" and tree.written(path, site, fact))
            standing = "compatible" if fits else folded or ("guarded" if checked else "breaks")
            if standing == "guarded" and site.kind == "attribute" and tree.followed is not None:
                if not tree.followed.follows(fact.subject, watch.classes, path, site.line):
                    standing = "breaks"  # the guard has asked by then
        if tree.removed(path, site):
            standing = "removed"
        name = site.name or "a name that is computed"
        yield StoreRecord(path, site.line, f"{site.form} {name}", standing)


def _place(row: StoreRecord) -> tuple[str, int]:
    return row.path, row.line


def _hidden(
    tree: _Tree, watch: Watch, hidden: Mapping[tuple[str, str], list[tuple[str, int]]], known: set[tuple[str, int]]
) -> Iterator[StoreRecord]:
    """Stores that no assignment shows, but for those of lines that are in the list by another reading."""
    if watch.kind not in ("variable", "function"):
        return
    for home, at in hidden.get((watch.module, watch.name), ()):
        path, line = tree.table.paths[home][0], at >> 16
        lines = tree.snapshot.read(path).splitlines(keepends=True)
        site = Site(
            line, sum(map(len, lines[: line - 1])) + (at & 0xFFFF), "attribute", "store of", (), watch.name, None
        )
        if (path, line) not in known:
            yield StoreRecord(path, line, f"store of {watch.name}", "removed" if tree.removed(path, site) else "breaks")


def _definitions(tree: _Tree, fact: Fact, watch: Watch) -> Iterator[StoreRecord]:
    """Literals of the class's own body: what the fact is about. A value outside the set breaks it all the same."""
    if watch.kind == "attribute" and not watch.outside and fact.subject not in tree.guarded:
        for path, line, value in tree.classes.literals(watch.classes, watch.name):
            standing = "definition" if _holds(fact, value) else "breaks"
            yield StoreRecord(path, line, f"class {watch.name}", standing)


def _defines(site: Site, watch: Watch, module: str) -> bool:
    own = site.kind == "variable" and module == watch.module and not site.inside and site.form != "globals()[...]"
    return own and watch.kind in ("variable", "function") and site.name == watch.name


def _meets(
    tree: _Tree,
    site: Site,
    watch: Watch,
    module: str,
    found: FileStores,
    family: set[str],
    computed: bool,
    guarded: bool,
) -> bool:
    """Can this store change what the fact speaks of?"""
    if watch.kind == "environment":
        if site.name is None:  # os.environ[key] = ...: can it be this key, by anything that kept code says?
            return site.kind == "environment" and watch.name in tree.said
        return site.kind in ("environment", "item", "cell")
    if watch.kind == "item":
        if site.kind != "item":
            return False
        return site.name == watch.name or (site.receiver[-1:] == watch.owner[-1:] and bool(watch.owner))
    if watch.kind in ("variable", "function"):
        if site.kind == "variable":
            return module == watch.module
        return site.kind == "attribute" and not site.owner and _is_module(tree, site, module, found, watch.module)
    if site.kind in given.KINDS:
        looked = guarded or watch.name not in tree.asked or not tree.given.unclear(site)
        return looked and tree.given.meets(site, watch, computed)
    if site.kind != "attribute":
        return False
    if computed or watch.kind == "method":  # no instance can be given it: only the class or the object itself
        return site.receiver[-1:] == watch.owner[-1:] or site.receiver[-1:] in {(name,) for name in family}
    if site.owner:
        if watch.outside:
            return False
        if watch.classes:
            # for k, v in options: setattr(self, k, v): an object of another class has it then
            foreign = site.name is None and site.form == "setattr" and watch.name not in tree.asked
            return site.owner in family or (foreign and tree.written_out(watch))
        return site.name is not None and _mentions(tree, watch.module, site.owner)
    if site.name is None or watch.outside:
        if site.receiver[-1:] == watch.owner[-1:] or site.receiver[-1:] in {(name,) for name in family}:
            return True
        if watch.outside or site.hint in family:  # def f(args: Args, key, v): setattr(args, key, v)
            return not watch.outside and tree.spoken(watch)
        # Nobody knows whose attribute it is. Where a guard asks facts of the name, objects are looked at when made.
        # Nor of what is it an attribute, where no class is known of the fact's object either.
        return bool(watch.classes) and watch.name not in tree.asked and not _any_module(tree, site, module, found)
    return not _any_module(tree, site, module, found)


def _targets(tree: _Tree, site: Site, module: str, found: FileStores) -> Iterator[str]:
    """What the receiver may name, through the file's imports at any depth."""
    if not site.receiver:
        return
    root, *rest = site.receiver
    package = module if tree.table.paths[module][1] else module.rpartition(".")[0]
    for origin, level, name in found.imports.get(root, ()):
        base = origin
        if level:
            parts = package.split(".")
            base = ".".join([*parts[: len(parts) - (level - 1)], *([origin] if origin else [])])
        yield ".".join(part for part in (base, name, *rest) if part)


def _is_module(tree: _Tree, site: Site, module: str, found: FileStores, wanted: str) -> bool:
    return any(target == wanted for target in _targets(tree, site, module, found))


def _any_module(tree: _Tree, site: Site, module: str, found: FileStores) -> bool:
    targets = list(_targets(tree, site, module, found))
    return bool(targets) and all(target in tree.table for target in targets)


def _mentions(tree: _Tree, module: str, name: str) -> bool:
    """Does the module, or the package that it is, ever name this class?"""
    word = re.compile(rb"\b" + name.encode() + rb"\b")
    modules = [module, *(tree.table.below(module) if tree.table.is_package(module) else ())]
    return any(word.search(tree.snapshot.read(tree.table.paths[m][0])) for m in modules if m in tree.table.paths)


def _fits(fact: Fact, watch: Watch, site: Site) -> bool:
    """Is the stored value known, and one that the fact allows?"""
    if watch.probe:  # hasattr: a store makes it true, a deletion false
        return site.name is not None and ((site.value != (ABSENT,)) is _holds(fact, True))
    if site.value is None or site.name is None or watch.kind in ("function", "method"):
        return False
    (value,) = site.value
    if value == ABSENT:
        return watch.default is not None and _holds(fact, watch.default[0])
    if watch.kind != "environment" or watch.direct or site.kind == "cell":
        return _holds(fact, value)
    if isinstance(fact.values, Range) or not isinstance(value, str):
        return False
    return any(_reads_as(value, allowed) for allowed in fact.values)


def _reads_as(text: str, value: Const) -> bool:
    """Would a helper that reads the environment make this value of the text?"""
    if isinstance(value, bool):
        return text.lower() in (_TRUE if value else _FALSE)
    return value is not None and text == str(value)


def _holds(fact: Fact, value: Const) -> bool:
    if isinstance(fact.values, Range):
        if isinstance(value, bool) or not isinstance(value, int):
            return False
        low, high = fact.values.low, fact.values.high
        return (low is None or low <= value) and (high is None or value <= high)
    return any(type(value) is type(known) and value == known for known in fact.values)
