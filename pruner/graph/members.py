"""Do live classes and stores contradict a fact on a member of instances?

A fact on ``pkg.mod.Class.attr`` is lost when another live class has a member of the name, when a
live store gives something else, or something that cannot be told. The last is accepted where a
guard asks the fact at run time: what the class itself stores is then checked, and so is what a local
of the attribute's own name passes on (``config.flag = flag``), as long as no call is given
``flag=`` with another constant.

Blind to what :mod:`pruner.pipeline.given` looks at when everything is marked (what objects are given when they are made),
to stores through ``__dict__`` and ``vars``, which are looked at then too, and to classes of outside packages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pruner.fold import value as V
from pruner.fold.residual import MemberStore, Unit
from pruner.model import Finding, Policy
from pruner.model.ir import Expr

if TYPE_CHECKING:
    from pruner.graph.live import Marker

Place = tuple[str, int, str]  # module, position, what stands there


def asked_subjects(policy: Policy) -> dict[str, frozenset[str]]:
    """Subjects of facts that some guard asks at run time, with the functions that these stand in; ``^`` before one: at its entry."""
    asked: dict[str, set[str]] = {}
    for guard in getattr(policy, "guards", ()):
        for name in [str(name) for ask in guard.asks if ask.kind == "fact" for name in ask.names]:
            mark = "" if guard.where == "after" else "^"
            asked.setdefault(name, set()).update(mark + place.replace(":", ".") for place in guard.at)
    return {name: frozenset(places) for name, places in asked.items()}


class MemberCheck:
    """Collects what live code does to members that facts speak of; answers at the fixed point."""

    def __init__(self, marker: Marker) -> None:
        self.marker = marker
        self.members = marker.world.members
        self.asked = asked_subjects(marker.policy)
        self.stores: list[tuple[str, MemberStore]] = []
        self.definers: list[tuple[str, str, str]] = []
        self.vague: list[tuple[str, str]] = []  # (module, class or "") with setattr of a computed name
        self.keywords: list[tuple[str, str, bool, tuple[Any, ...]]] = []  # module, name, of a constructor?, value

    def take(self, module: str, unit: Unit) -> None:
        """Note one live unit."""
        if not self.members.names:
            return
        self.stores += [(module, store) for store in unit.stores]
        self.definers += unit.definers
        for e in unit.remains.calls:
            if e[0] == "k":
                self._call(module, e)

    def _call(self, module: str, e: Expr) -> None:
        func, args, kwargs = e[1], e[2], e[3]
        if func[0] not in ("n", "v", "b"):
            return
        tail = (func[2][-1][1:] if func[2] else func[1]) if func[2][-1:] == () or func[2][-1][0] == "." else ""
        if tail == "setattr" and len(args) == 3:
            if args[1][0] == "c":
                if args[1][1] in self.members.names:
                    value = ("c", args[2][1]) if args[2][0] == "c" else ("?",)
                    self.stores.append((module, MemberStore(args[1][1], "", value, 0)))
            else:
                own = args[0][0] == "v" and args[0][1] == "self" and not args[0][2]
                self.vague.append((module, "self" if own else ""))
        else:
            made = tail in ("replace", "_replace") or tail[:1].isupper()
            for name, value in kwargs:
                if name in self.members.names:
                    same = value[0] in ("n", "v", "x", "b") and value[2][-1:] == (f".{name}",)
                    stored = ("c", value[1]) if value[0] == "c" else ("same",) if same else ("?",)
                    if made or value[0] == "c":
                        self.keywords.append((module, name, made, stored))

    def contradicted(self) -> dict[str, Place]:
        """Keys of facts (``attr``, ``method()``) that the live program contradicts, with a place each."""
        found: dict[str, Place] = {}
        for name, rows in self.members.methods.items():
            if place := self._bound_again(name, rows) or self._of_module(name):
                found.setdefault(f"{name}()", place)
            for owner, member, _ in self.definers:
                if member == name and owner not in rows:
                    found.setdefault(f"{name}()", (self._home(owner), 0, f"{owner} has a member of this name too"))
        for name, rows in self.members.attributes.items():
            if not self._exists(name, rows):
                found.setdefault(name, ("", 0, ""))  # this release has it elsewhere, or under another name
                continue
            place = self._attribute(name, rows)
            if place is not None:
                found.setdefault(name, place)
        return found

    def standings(self) -> dict[tuple[str, int, str], str]:
        """(module, line, member) of stores that agree with the facts ("compatible") or that a guard checks ("guarded")."""
        places: dict[tuple[str, int, str], set[str]] = {}
        for module, store in self.stores:
            rows = self.members.attributes.get(store.name, {})
            agrees = self._agrees(store.value, V.join(list(rows.values())))
            standing = "compatible" if agrees else "guarded" if self._guarded(store, self._asked(store.name)) else ""
            places.setdefault((module, store.pos >> 16, store.name), set()).add(standing)
        return {place: min(found) for place, found in places.items() if len(found) == 1 and "" not in found}

    def _exists(self, name: str, rows: dict[str, V.Value]) -> bool:
        """Does live code of a stated class define the member, or store into it?"""
        made = {owner for owner, member, _ in self.definers if member == name}
        made |= {store.owner for _, store in self.stores if store.name == name}
        return not made.isdisjoint(rows)

    def _attribute(self, name: str, rows: dict[str, V.Value]) -> Place | None:
        for owner, member, kind in self.definers:
            # A method of another class is called; one of a class below takes the attribute's place.
            if member == name and owner not in rows and (kind != "method" or self._below(owner, rows)):
                return (self._home(owner), 0, f"{owner} has a member of this name too")
            if member == "__getattribute__" and (owner in rows or self._below(owner, rows)):
                return (self._home(owner), 0, f"{owner} says itself what its attributes are")
        if place := self._of_module(name):
            return place
        stated = V.join(list(rows.values()))
        asked = self._asked(name)
        for module, store in self.stores:
            if store.name != name or self._agrees(store.value, stated) or self._guarded(store, asked):
                continue
            return (module, store.pos, "this store gives it another value, or one that cannot be told")
        for module, keyword, made, value in self.keywords:
            if keyword == name and (made or asked) and not self._agrees(value, stated):
                if not (asked and value[0] == "?"):
                    return (module, 0, "a call gives it another value, or one that cannot be told")
        fixed = {owner for owner, member, kind in self.definers if member == name and kind == "property"}
        for module, own in self.vague if fixed != set(rows) else ():  # a property is not stored into
            if not asked and (not own or any(owner.startswith(module + ".") for owner in rows)):
                return (module, 0, "setattr with a computed name may store it")
        return None

    def _bound_again(self, name: str, rows: dict[str, V.Value]) -> Place | None:
        """``x.is_slow = lambda: True``: a store that may give an object of the class another method."""
        own = {owner for owner, member, kind in self.definers if member == name and kind == "method"} & rows.keys()
        for module, store in self.stores:
            # Constants are called by nobody; without a method in the class a release has an attribute of the name.
            if store.name == name and store.value[0] != "c" and own and store.owner in ("", *own):
                return (module, store.pos, "this store gives it another value, or one that cannot be told")
        return None

    def _of_module(self, name: str) -> Place | None:
        """A module of the tree that is an object somewhere has a global of the name: ``x.flag`` may be asked of it."""
        states = self.marker.out.states
        for module in sorted(m for m, state in states.items() if state.valued and name in state.names):
            if any(item.live for item in states[module].names[name]):
                return (module, 0, f"{module}, which is handed on as an object, has a global of this name too")
        return None

    def _below(self, owner: str, rows: dict[str, V.Value], seen: frozenset[str] = frozenset()) -> bool:
        """Does the class derive from one that a fact speaks of?"""
        split = self.marker.table.split(owner)
        if split is None or owner in seen:
            return False
        for store in self.marker.world.stores(split[0], split[1]):
            for base in store.stmt[5] if store.kind == "class" else ():
                above = self.marker.world.canonical(split[0], base[1], base[2]) if base[0] == "n" else ""
                if above in rows or self._below(above, rows, seen | {owner}):
                    return True
        return False

    def _asked(self, name: str) -> set[str]:
        """The classes whose fact on this attribute a guard asks."""
        return {o for o in self.members.attributes.get(name, {}) if self.members.subjects[name, o] in self.asked}

    def _guarded(self, store: MemberStore, asked: set[str]) -> bool:
        """Would a guard notice a wrong value that this store makes?"""
        return bool(asked) and (store.value[0] == "named" or (store.value[0] == "?" and store.owner in asked))

    def _agrees(self, value: tuple[Any, ...], stated: V.Value | None) -> bool:
        if value[0] == "same":
            return True
        if value[0] != "c" or stated is None or stated.values is None:
            return False
        return all(any(V.same(c, constant) for constant in stated.values) for c in value[1:])

    def _home(self, owner: str) -> str:
        split = self.marker.table.split(owner)
        return split[0] if split else owner

    def rejected(self, places: dict[str, Place]) -> list[Finding]:
        """A finding for each stated fact that was lost; ``places`` is what contradicted it at that time.

        Not for a member that no live class has and nothing stores: the rule lists spellings of other releases.
        """
        out = []
        for key, (module, pos, why) in sorted(places.items()):
            if not module:
                continue
            for (name, _), subject in sorted(self.members.subjects.items()):
                if name == key and key in self.members.lost:
                    path = self.marker.table.paths[module][0] if module in self.marker.table.paths else module
                    rules = sorted({f.rule for f in self.marker.policy.facts if f.subject == subject})
                    text = f"the fact {subject} (rule {', '.join(rules)}) folds nothing: {why}"
                    advice = "lift that rule as well, state the fact for that class too, or let a guard ask it"
                    out.append(Finding("PR221", path, pos >> 16, text, advice))
        return out
