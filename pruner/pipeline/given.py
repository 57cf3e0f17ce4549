"""What the objects of a fact's class are given when they are made: which sites of :mod:`pruner.scan.made` can break it.

Blind to: what :mod:`pruner.scan.made` and :mod:`pruner.pipeline.taking` are; classes of outside packages that have a
member of the name; objects that are read from data.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator

from pruner.model.policy import Const
from pruner.pipeline.making import Makes
from pruner.pipeline.taking import Classes
from pruner.pipeline.watch import Watch
from pruner.scan import made
from pruner.scan.denoting import KNOWN, MINE, UNKNOWN
from pruner.scan.stores import Site

KINDS = frozenset({"keyword", "position", "handed", "method", "member", "option"})
COMPUTED = ("keyword", "position", "handed", "method")
_COPIES = frozenset({"_replace", "model_copy", "copy", "_make", "__replace__"})  # they make an object past ``__init__``
_BUILTINS = frozenset(dir(builtins))


class Given:
    """What can be given to the classes of all attributes that are watched."""

    def __init__(
        self,
        classes: Classes,
        watched: Iterable[Watch],
        tops: Iterable[str] = (),
        asked: frozenset[str] = frozenset(),
        speaks: Callable[[str, str], bool] = lambda module, name: True,
    ) -> None:
        """``tops``: the first names of the tree's modules; ``asked``: attributes of which a guard asks a fact.

        ``speaks``: does a module, or the package that it is, name a class?
        """
        self._speaks = speaks
        self.classes = classes
        self.tops, self.asked = frozenset(tops), asked
        self.watched = [w for w in watched if w.kind == "attribute" and not w.outside]
        self.takers = {w: classes.takers(w.classes, w.name) for w in self.watched}
        self._mixed = {names: classes.mixed(names) for names in {w.classes for w in self.watched}}
        self.own = {w: self._mixed[w.classes] if self.takers[w] else set() for w in self.watched}
        self._places: dict[tuple[str, str], tuple[int, bool]] = {}
        self.names: set[str] = set().union(*self.takers.values())
        self.aliases: set[str] = set()

    def read(self, texts: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, Site]]:
        """(path, site) of the files whose text looks as if they made such objects. Unreadable files say nothing."""
        own = frozenset().union(*self.own.values())
        words = {w.name for w in self.watched if self.takers[w] or not w.classes or self.classes.replaced(w.classes)}
        every = frozenset(w.name for w in self.watched)
        methods = {member for name in own for stmt in self.classes.statements.get(name, ()) for member in stmt[8]}
        vague = any(w.name not in self.asked for w in self.watched if self.takers[w])
        texts, names = list(texts), frozenset(self.names)
        while self.watched:
            looks = Makes(names, own, words, every, methods, vague)
            found: set[str] = set()
            for path, data in texts:
                if looks.at(data):
                    try:
                        sites = made.find(data, names, own, every)
                    except (SyntaxError, ValueError, RecursionError, MemoryError):
                        continue  # PR210 says so
                    yield from ((path, site) for site in sites.sites)
                    found |= sites.aliases
            names = frozenset(found - self.names - self.aliases)  # import Args as A: others may ask for A
            self.aliases |= names
            own, words, every = frozenset(), set(), frozenset(w.name for w in self.watched)
            if not names:
                break

    def meets(self, site: Site, watch: Watch, computed: bool) -> bool:
        """Can this site give an object another value? ``computed``: the class works the attribute out by itself."""
        if watch not in self.takers:
            return False
        if site.kind in ("member", "option"):
            return True
        if computed:
            return False
        takers = self.takers[watch]
        last = site.receiver[-1]
        if not watch.classes:
            # Nobody knows of which class it is: of any that takes the name and that its module speaks of.
            takes = self.classes.takers(frozenset({last}), watch.name) if self._speaks(watch.module, last) else set()
            return site.kind == "keyword" and site.name is not None and not self._elsewhere(site, takes)
        if site.kind == "keyword" and last in made.REPLACERS and site.of != KNOWN:
            mine = site.of != MINE or site.owner in self._mixed[watch.classes]
            return mine and (site.name is not None or self._replaced(watch, last))
        if not takers:
            return False
        if site.of == "":
            return site.name is not None and not self._elsewhere(site, takers)
        if site.of == MINE and site.owner not in self.own[watch]:
            return False
        if site.of == UNKNOWN and site.kind == "handed":  # f(type(x)), where f is the tree's
            return last in self.classes.functions or last in self.classes.statements
        name = site.receiver[-2] if site.kind == "method" and len(site.receiver) > 1 else last
        if site.of == KNOWN and name in self.classes.statements and name not in self.aliases and name not in takers:
            return False
        if site.kind == "method":
            return not self.classes.has(watch.classes, last)
        return site.kind != "position" or site.spread or self._reaches(site, watch, last)

    def value(self, site: Site, watch: Watch) -> tuple[Const, ...] | None:
        """What a positional argument gives to the attribute, if it is known to be just that."""
        takers = self.takers.get(watch, set())
        if site.kind != "position" or site.spread or len(takers) != 1:
            return None
        place, exact = self._place(next(iter(takers)), watch.name)
        return site.value if exact and site.index == place else None

    def seen(self, site: Site, watch: Watch) -> bool:
        """Would a guard in the class's own method see what this gives, when the object is made?"""
        last = site.receiver[-1]
        if not (site.of == KNOWN and last in watch.classes) and self.classes.past(watch.classes):
            return False  # class Sub(Args): def __post_init__(self): pass
        if site.receiver[-1] in _COPIES or site.kind in ("member", "method") or "_make" in site.form:
            return False
        # What is called may be the class only where it was handed on, to whom every name is given that the guard sees.
        return site.name is None or site.kind == "option" or site.of == ""

    def unclear(self, site: Site) -> bool:
        """Is nothing known of it: of whose class an object is made, nor what it is given under which name?"""
        return site.kind in COMPUTED and site.of == UNKNOWN and site.name is None

    def _replaced(self, watch: Watch, name: str) -> bool:
        if name == "_replace":
            return self.classes.outside(watch.classes, tuples=True)
        if name in ("model_copy", "copy"):
            return self.classes.outside(watch.classes, tuples=False)
        return self.classes.replaced(watch.classes)

    def _reaches(self, site: Site, watch: Watch, last: str) -> bool:
        takers = self.takers[watch]
        places = [self._place(name, watch.name) for name in ({last} if last in takers else takers)]
        if site.of == KNOWN and len(places) == 1 and places[0][1]:
            return site.index == places[0][0]
        return any(site.index >= place for place, _ in places)

    def _place(self, name: str, attribute: str) -> tuple[int, bool]:
        if (name, attribute) not in self._places:
            self._places[name, attribute] = self.classes.position(name, attribute)
        return self._places[name, attribute]

    def _elsewhere(self, site: Site, takers: set[str]) -> bool:
        """Is what is called known to be another function or class?"""
        last = site.receiver[-1]
        if last in takers:
            return False
        known = last in self.classes.functions or last in self.classes.statements or last in _BUILTINS
        return known or bool(site.hint and site.hint not in self.tops)
