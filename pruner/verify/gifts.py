"""What objects of a class may be given as an attribute, by what all kept files do: questions about :mod:`pruner.verify.giving`.

Blind to: two classes of one name, which count as one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pruner.verify.record import UNSET

_PLAIN = frozenset({"object", "ABC", "Generic", "Protocol", "Enum", "IntEnum", "StrEnum", "Exception", "Module"})
ANY = "**"


@dataclass(frozen=True, slots=True)
class Gift:
    """``name`` is the class, "" one that nobody knows, ``cls`` the one around (``owner``); ``word`` a keyword, a position, or ``ANY``."""

    name: str
    owner: str
    word: str | int
    value: object = UNSET


@dataclass(slots=True)
class Shape:
    """A class statement: last names of its bases, has it an ``__init__``, is it decorated, its annotated names in order."""

    bases: tuple[str, ...]
    init: bool
    made: bool
    names: tuple[str, ...]


@dataclass(slots=True)
class Giving:
    """Of one file, or of all."""

    gifts: list[Gift] = field(default_factory=list)
    shapes: dict[str, list[Shape]] = field(default_factory=dict)

    def add(self, other: Giving) -> None:
        """Take in what another file does."""
        self.gifts += other.gifts
        for name, rows in other.shapes.items():
            self.shapes.setdefault(name, []).extend(rows)


class Givers:
    """Questions about all files."""

    def __init__(self, giving: Giving) -> None:
        self.gifts, self.shapes = giving.gifts, giving.shapes

    def gives(self, owners: Iterable[str], name: str) -> Iterator[object]:
        """What objects of these classes, or of those below them, may be given as this attribute; ``UNSET`` is anything."""
        below = set(owners)
        while True:
            more = {c for c, rows in self.shapes.items() if any(below & set(row.bases) for row in rows)} - below
            if not more:
                break
            below |= more
        takers = {c for c in below if self._takes(c, name)}
        around = below | {above for c in below for above in self._above(c)}
        for gift in self.gifts:
            if gift.name == "cls" and gift.owner not in around:
                continue
            if gift.word == "__dict__" or (gift.word, gift.value) == ("member", name):
                yield UNSET
            elif takers and (gift.name in ("", "cls") or gift.name in takers):
                those = {gift.name} & takers or takers
                if gift.word in (ANY, name):
                    yield gift.value
                elif isinstance(gift.word, int):
                    yield from self._placed(gift, those, name)

    def _placed(self, gift: Gift, takers: set[str], name: str) -> Iterator[object]:
        for taker in takers:
            rows = [row for above in {taker, *self._above(taker)} for row in self.shapes.get(above, ())]
            places = [row.names.index(name) for row in rows if name in row.names]
            exact = len(rows) == 1 and gift.name == taker
            if (
                places
                and isinstance(gift.word, int)
                and (gift.word == places[0] if exact else gift.word >= min(places))
            ):
                yield gift.value if exact else UNSET

    def _above(self, name: str) -> set[str]:
        found: set[str] = set()
        work = [name]
        while work:
            for row in self.shapes.get(work.pop(), ()):
                fresh = set(row.bases) - found
                found |= fresh
                work += fresh
        return found

    def _takes(self, name: str, attribute: str) -> bool:
        rows = self.shapes.get(name, [])
        named = any(attribute in row.names for c in {name, *self._above(name)} for row in self.shapes.get(c, ()))
        return named and any(not row.init and self._made(row, frozenset()) for row in rows)

    def _made(self, row: Shape, seen: frozenset[str]) -> bool:
        if row.made:
            return True
        for base in row.bases:
            known = self.shapes.get(base)
            if known is None and base not in _PLAIN:
                return True
            if base not in seen and any(not up.init and self._made(up, seen | {base}) for up in known or ()):
                return True
        return False
