"""Entries of tables: which parts of a statement put a key into a table, in whatever form it is written.

One grammar for all tables that rules name, whether dictionary, list, tuple, set, registry or the choices of a type.
What a table is made of (a *source*):

* a display: ``{"x": X}``, ``["x"]``, ``("x",)``, ``{"x"}``, with what it takes in: ``{**SOURCE}``, ``[*SOURCE]``;
* a source that is handed on: ``frozenset(SOURCE)``, ``OrderedDict(SOURCE)``, ``MappingProxyType(SOURCE)``,
  ``defaultdict(f, SOURCE)``, also as pairs, ``dict([("x", X)])``, and as keywords, ``dict(x=X)``;
* two in one: ``SOURCE + SOURCE``, ``SOURCE | SOURCE``, ``SOURCE if test else SOURCE``;
* the list that a comprehension walks: ``{c.key: c for c in [A, B]}``;
* a type with choices: ``Literal["x", "y"]``, at any depth of ``Optional[...]``, ``Union[...]`` and their like.

Statements with sources: ``T = SOURCE``, ``T += SOURCE``, ``T.update(SOURCE)``, ``T.extend(SOURCE)``, a field's or a
parameter's annotation; and with single entries: ``T["x"] = X``, ``T.append("x")``, ``T.add("x")``, ``T.insert(0, "x")``,
``T.setdefault("x", X)``.

A key that a rule names in a form which cannot be edited is a :class:`Refused`: the rule must say so, for what it
names would stay. Blind to keys that are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import Any

from pruner.fold.forms import Refused, Taken, call, copied, firm, first, keys, method, parts, starred, written
from pruner.model.ir import Expr, Stmt, constants

MAPPINGS = frozenset(("dict", "collections.OrderedDict", "typing.OrderedDict", "collections.defaultdict"))
HANDED_ON = MAPPINGS | {
    "frozenset", "set", "list", "tuple", "sorted", "types.MappingProxyType", "collections.deque", "dict.fromkeys",
}  # fmt: skip
_LITERAL = frozenset(("typing.Literal", "typing_extensions.Literal"))
_ONE = {".append": 0, ".appendleft": 0, ".add": 0, ".insert": 1, ".setdefault": 0}  # method -> where the key stands
_MANY = frozenset((".update", ".extend", ".extendleft"))
_COUNTING = (".index", ".pop")
_ASKED = _ONE.keys() | _COUNTING
_LESS = frozenset((".remove", ".pop"))
_METHODS = _ONE.keys() | _MANY | _LESS


@cache
def touches(path: tuple[str, ...]) -> bool:
    """May a chain of these steps do something with an entry? It reads one, or has a method that puts one in or counts."""
    return not _ASKED.isdisjoint(path) or any(step[0] == "[" for step in path)


class Entries:
    """The entries that drop rules name, in the statements of one module.

    ``rule`` gives the rule that drops (table, key), or "". ``canonical`` is a chain's name as rules write it.
    ``source`` gives the name and the values of a variable of the tree, for what a table takes in from another.
    ``ends`` are the last names of the tables.
    """

    def __init__(
        self,
        tables: Any,
        rule: Callable[[str, str], str],
        canonical: Callable[[Expr], str],
        source: Callable[[Expr], tuple[str, list[Expr]]],
        ends: Collection[str],
    ) -> None:
        self.tables = tables
        self.ends = ends
        self.rule = rule
        self.canonical = canonical
        self.source = source
        self.odd: list[Refused] = []  # what the last question found and cannot be edited
        self._table = ""
        self._pos = 0
        self._out = Taken()
        self._spelled = written  # how a key is told from a variable

    # -- statements ------------------------------------------------------------------------------

    def stored(self, table: str, s: Stmt) -> Taken | None:
        """``T = SOURCE``, ``T: note = SOURCE``, ``T += SOURCE``: what goes of the value."""
        if table not in self.tables or s[5] == "?":
            return None
        value = s[4]
        if s[5] != "+":
            return self._take(table, s[1], value)
        return self._take(table, s[1], value[1][1]) if value[2:] == ("+=",) else None

    def noted(self, table: str, pos: int, note: Expr, value: Expr | None = None) -> Taken | None:
        """The annotation of a field or a parameter: the choices that go. ``value``: its default."""
        if table not in self.tables:
            return None
        self._begin(table, pos)
        self._types(note)
        if value is not None and value[0] == "c" and self._out.parts and self._gone(value):
            rule = self._gone(value)
            self._refuse(rule, written(value), _DEFAULT, _ANOTHER)
        return self._out

    def item(self, s: Stmt) -> tuple[frozenset[str], str] | None:
        """(rules, key) of ``T["x"] = X``, a statement that goes."""
        if s[5] not in "=:*":
            return None
        found = [self._place(target[1]) for target in s[3] if target[0] == "s"]
        if not found:
            return None
        known = [(self.rule(table, key), table, key) for table, key in found if table in self.tables and key]
        rows = [row for row in known if row[0]]
        if rows and len(s[3]) == 1:
            return frozenset({rows[0][0]}), rows[0][2]
        self.odd = [Refused(s[1], rule, f"{table}[{key}]", _BOUND, _OTHERWISE) for rule, table, key in rows]
        return None

    def _place(self, chain: Expr) -> tuple[str, str]:
        """(table, key) of a place that is stored into: ``T["x"]``, ``T[K.A]``."""
        key = ""
        if chain[0] in ("n", "v", "b") and chain[2] and chain[2][-1][0] == "[":
            key = str(constants(chain[2][-1])[0])
            chain = (chain[0], chain[1], chain[2][:-1])
        elif chain[0] == "o" and len(chain[1]) == 2 and chain[1][1][0] == "n" and chain[1][1][2]:
            chain, key = chain[1][0], written(chain[1][1])  # T[K.A] = X; T[name] is a computed key
        return (self.canonical(chain), key) if key and chain[0] in ("n", "v", "b") else ("", "")

    def together(self, table: str, s: Stmt) -> list[Refused]:
        """``T = OTHER = ["x"]``, ``T, OTHER = ["x"], ["y"]``: an edit would be one of the others as well."""
        if table not in self.tables or s[5] == "?":
            return []
        value = s[4]
        rows = {}
        for part in (value, *(value[2] if value[0] == "t" else ())):
            for key in keys(part):
                if self.rule(table, key):
                    rows[key] = self.rule(table, key)
        return [Refused(s[1], rule, f"{table}[{key}]", _BOUND, _OTHERWISE) for key, rule in rows.items()]

    def used(self, e: Expr, pos: int, importing: bool) -> list[Refused]:
        """What an expression that stays does with an entry that goes.

        ``x = T.setdefault("k", 1)`` puts it in and is read; ``T["k"]`` fails while the module is imported.
        """
        if e[0] in ("n", "v", "b"):
            if not touches(e[2]):
                return []  # nine in ten expressions
        elif e[0] != "k" and e[2:] != ("[:",):
            return []
        if method(e) in _ONE:
            step, args, _, chain = call(e)
            if chain is None or len(args) <= _ONE[step]:
                return []
            table, key = self.canonical(chain), firm(args[_ONE[step]])
            rule = self.rule(table, key) if table in self.tables and key else ""
            return [Refused(pos, rule, f"{table}[{key}]", _VALUE, _OTHERWISE)] if rule else []
        placed = self._placed(e, pos) or (self._chosen(e, pos) if e[0] == "k" and len(e[3]) > 1 else [])
        if placed:
            return placed
        reads = importing and e[0] in ("n", "v", "b")
        at = next((i for i, step in enumerate(e[2]) if step[0] == "["), -1) if reads else -1
        if at >= 0:
            table, key = self._place((e[0], e[1], e[2][: at + 1]))
            rule = self.rule(table, key) if table in self.tables else ""
            return [Refused(pos, rule, f"{table}[{key}]", _READ, _OTHERWISE)] if rule else []
        return []

    def _placed(self, e: Expr, pos: int) -> list[Refused]:
        """``T[1]``, ``T[1:]``, ``T.index("b")``, ``T.pop()``, ``enumerate(T)``, ``zip(T, U)``: what goes of a list is counted there.

        Of any table: ``len(T)``, ``next(iter(T))``.
        """
        if method(e) in _COUNTING:
            _, args, _, chain = call(e)
            counts = method(e) == ".index" or not args or (args[0][0] == "c" and isinstance(args[0][1], int))
            return self.counted(chain, pos) if chain is not None and counts else []
        if e[0] == "k" and e[1] == ("n", "next", ()) and e[2][:1] and e[2][0][:2] == ("k", ("n", "iter", ())):
            return [row for argument in e[2][0][2] for row in self.counted(argument, pos, every=True)]
        if e[0] == "k" and e[1] == ("n", "len", ()):
            return [row for argument in e[2] for row in self.counted(argument, pos, every=True)]
        if e[0] == "o" and e[2:] == ("[:",):
            return self.counted(e[1][0], pos)
        if e[0] in ("n", "v", "b"):
            at = next((i for i, step in enumerate(e[2]) if step[0] == "["), -1)
            number = at >= 0 and isinstance(constants(e[2][at])[0], int)
            return self.counted((e[0], e[1], e[2][:at]), pos) if number else []
        if e[0] == "k" and e[1][0] == "n" and e[1][1:] in (("enumerate", ()), ("zip", ())):
            return [row for argument in e[2] for row in self.counted(argument, pos)]
        spread = [a[1][0] for a in e[2] if a[0] == "o" and len(a[1]) == 1] if e[0] == "k" else []
        if spread:  # f(*T)
            return [row for argument in spread for row in self.counted(argument, pos)]
        return []

    def _chosen(self, e: Expr, pos: int) -> list[Refused]:
        """``add_argument("--kind", choices=T, default="x")``: nobody asks for the default, so nothing refuses it."""
        given = dict(e[3])
        listed, default = given.get("choices"), given.get("default")
        if listed is None or default is None or default[0] != "c":
            return []
        while listed[0] == "k" and len(listed[2]) == 1:  # list(T), sorted(T)
            listed = listed[2][0]
        table, key = self.canonical(listed) if listed[0] in ("n", "v", "b") else "", written(default)
        rule = self.rule(table, key) if table in self.tables else ""
        return [Refused(pos, rule, f"{table}[{key}]", _DEFAULT, _ANOTHER)] if rule else []

    def counted(self, e: Expr, pos: int, every: bool = False) -> list[Refused]:
        """The entries that go of a list or tuple whose places count here; with ``every`` of any table."""
        inner = copied(e)
        every = every or inner is not e
        if inner[0] not in ("n", "v", "b"):
            return []
        table, values = self.source(inner)
        if table not in self.tables:
            return []
        values = [value for value in values if every or (value[0] == "t" and value[1] in ("t", "l"))]
        gone = {key: self.rule(table, key) for value in values for key in keys(value) if self.rule(table, key)}
        return [Refused(pos, rule, f"{table}[{key}]", _COUNTED, _OTHERWISE) for key, rule in gone.items()]

    def called(self, e: Expr, pos: int) -> tuple[frozenset[str], str, Taken] | None:
        """A statement that calls a method of a table: (rules, key, what goes of its arguments).

        With rules the whole statement goes.
        """
        if method(e) not in _METHODS:
            return None
        step, args, kwargs, chain = call(e)
        if chain is None:
            return None
        table = self.canonical(chain)
        if table not in self.tables:
            return None
        self._begin(table, pos)
        if step in _ONE:
            key = firm(args[_ONE[step]]) if len(args) > _ONE[step] else ""
            rule = self._rule(key)
            return (frozenset({rule}), key, self._out) if rule else None
        if step in _LESS:
            for argument in args[:1] if step == ".remove" or len(args) == 1 else ():
                if self._rule(firm(argument)):
                    why = f"is taken out again by {step[1:]}(), which fails where it is not"
                    self._refuse(self._rule(written(argument)), written(argument), why, _OTHERWISE)
            return frozenset(), "", self._out
        self._spelled = firm
        for argument in args:
            self._source(argument, pairs=True)
        self._keywords(e, kwargs)
        rules, key = self._out.whole or (frozenset(), "")
        return rules, key, self._out

    # -- sources ---------------------------------------------------------------------------------

    def _begin(self, table: str, pos: int) -> None:
        self._table, self._pos, self._out, self._spelled = table, pos, Taken(), written

    def _take(self, table: str, pos: int, value: Expr) -> Taken:
        self._begin(table, pos)
        self._source(value)
        return self._out

    def _rule(self, key: str) -> str:
        return self.rule(self._table, key) if key else ""

    def _gone(self, e: Expr) -> str:
        return self._rule(self._spelled(e))

    def _refuse(self, rule: str, key: str, why: str, advice: str) -> None:
        self._out.refused.append(Refused(self._pos, rule, f"{self._table}[{key}]", why, advice))

    def _note(self, e: Expr, gone: dict[int, str], of: int) -> None:
        if gone:
            self._out.parts[id(e)] = (e, gone)
        self._out.left |= len(gone) < of

    def _source(self, e: Expr, pairs: bool = False) -> None:
        tag = e[0]
        if tag == "d":
            self._display(e, [(k, v if k is None else None) for k, v in e[1]])
        elif tag == "t":
            of_pairs = [first(p) if pairs and first(p) is not None else p for p in e[2]]
            self._display(e, [(None, p) if starred(p) else (k, None) for k, p in zip(of_pairs, e[2], strict=True)])
        elif tag == "?":
            self._source(e[2], pairs)
            self._source(e[3], pairs)
            self._out.left = True  # the test, which may do more than answer
        elif tag == "k":
            self._call(e)
        elif tag in ("n", "v", "b"):
            if not self._types(e):
                self._taken_in(e)
        elif tag == "o":
            self._operation(e, pairs)
        else:
            self._closed(e)

    def _display(self, e: Expr, rows: list[tuple[Expr | None, Expr | None]]) -> None:
        gone: dict[int, str] = {}
        for index, (key, inner) in enumerate(rows):
            if inner is not None:
                self._source(inner[1][0] if starred(inner) else inner)
            elif key is not None and key[0] == "o" and len(key[1]) == 1 and key[1][0][0] in ("n", "v", "b", "k"):
                self._source(key[1][0])  # [*OTHER]
            elif key is not None and self._gone(key):
                gone[index] = self._gone(key)
                self._out.keys.append(written(key))
        self._note(e, gone, len(rows))

    def _operation(self, e: Expr, pairs: bool) -> None:
        if len(e) == 3 and e[2] in ("+", "|"):
            for part in e[1]:
                self._source(part, pairs)
        elif len(e) == 2 and len(e[1]) == 2 and e[1][1][0] == "f" and e[1][1][2:] in (("c",), ("g",)):
            if e[1][0][0] == "t":
                self._source(e[1][0])  # TABLE = {c.key: c for c in [A, B]}: the entries are those of the list
            self._out.left = True
        elif not self._types(e):
            self._closed(e)

    def _call(self, e: Expr) -> None:
        name = self.canonical(e[1]) if e[1][0] in ("n", "v") else ""
        if name not in HANDED_ON:
            self._closed(e)
            return
        args = e[2][1:2] if name == "collections.defaultdict" else e[2][:1]
        for argument in args:
            self._source(argument, pairs=name in MAPPINGS)
        if name in MAPPINGS:
            self._keywords(e, e[3])

    def _keywords(self, e: Expr, kwargs: tuple[tuple[str | None, Expr], ...]) -> None:
        gone: dict[int, str] = {}
        for index, (name, value) in enumerate(kwargs):
            if name is None:
                self._source(value)
            elif self._rule(name):
                gone[index] = self._rule(name)
                self._out.keys.append(name)
        self._note(e, gone, len(kwargs))

    def _types(self, e: Expr) -> bool:
        """The choices of every ``Literal`` in a type. False when there is none."""
        found = False
        if e[0] == "o" and e[2:3] in (("[",), ("['",)) and self.canonical(e[1][0]) in _LITERAL:
            self._choices(e[1][1], e[2] == "['")
            return True
        if e[0] in ("n", "v") and e[2][-1:] and e[2][-1][0] == "[":
            if self.canonical((e[0], e[1], e[2][:-1])) in _LITERAL:
                self._choices(("t", "t", tuple(("c", c) for c in constants(e[2][-1]))), True)
                return True
        parts = e[1] if e[0] == "o" else e[2] if e[0] == "t" else ()
        for part in parts:
            found |= self._types(part)
        return found

    def _choices(self, e: Expr, closed: bool) -> None:
        """``Literal["x", "y"]``; ``closed``: a text, or one choice alone, which no edit can take."""
        keys = e[2] if e[0] == "t" else (e,)
        gone: dict[int, str] = {}
        for index, key in enumerate(keys):
            if key[0] == "o" or (key[0] in ("n", "v") and key[2][-1:] and key[2][-1][0] == "["):
                self._types(key)  # Literal[Literal["a", "b"], "c"]
            elif self._gone(key):
                gone[index] = self._gone(key)
        if gone and len(gone) == len(keys):
            why = "is the last choice of its Literal, which cannot be empty"
            for index, rule in gone.items():
                self._refuse(rule, written(keys[index]), why, "keep it, or drop what takes the value")
        elif gone and closed:
            for index, rule in gone.items():
                self._refuse(rule, written(keys[index]), "is a choice in the text of an annotation", _WRITE)
        else:
            self._out.keys += [written(keys[index]) for index in gone]
            self._note(e, gone, len(keys))

    # -- what cannot be edited -------------------------------------------------------------------

    def _taken_in(self, e: Expr) -> None:
        """Another table is taken in whole: what it has of the dropped keys comes back with it."""
        self._out.left = True
        name, values = self.source(e)
        if name == self._table:
            return
        for value in values:
            for key in keys(value):
                rule = self._rule(key)
                if rule and not (name in self.tables and self.rule(name, key)):
                    why = f"comes with {name}, which is taken in whole"
                    self._refuse(rule, key, why, f"drop {name}[{key}] as well")

    def _closed(self, e: Expr) -> None:
        """No form of a source: where it seems to hold a dropped key, the rule says so."""
        self._out.left = True
        for part in parts(e):
            for inner in (part, *(part[2] if part[0] == "k" else ())):
                if inner[0] in ("n", "v", "b"):
                    self._taken_in(inner)
            for key in keys(part):
                rule = self._rule(key)
                if rule:
                    self._refuse(rule, key, "stands in an expression of which no entry can be taken", _WRITE)


_WRITE = "take it out of the rule; a fact on what asks for the value takes the code behind it"
_OTHERWISE = "take it out of the rule, or state the fact that makes this place dead"
_BOUND = "is stored under other names by the same statement"
_VALUE = "is put in by an expression whose value is used"
_COUNTED = "is counted where this reads by place"
_DEFAULT, _ANOTHER = "is the default here", "state another default, or keep the choice"
_READ = "is read here while the module is imported"
