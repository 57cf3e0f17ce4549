"""Part of the check ``guards``: the one module that the pruning writes says what the rules say, and nothing else.

Its code is one text, known here by its digest; the tables in it are worked out again from the rules and both trees, and its
digest of the build from the output's files. Blind to the advice beside a value that is gone (what to add to the rules),
beyond the rules that it names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import PurePath
from typing import Any

from pruner.model import Range
from pruner.verify.catalogue import Catalogue
from pruner.verify.ruled import Ruled
from pruner.verify.rules import Asked, Guarded, Stated, covers, is_named
from pruner.verify.tree import Tree, parse_bytes
from pruner.verify.wholefiles import is_guard_file

# Of the module's text with every table empty: tests/verify/test_generated.py says when it is another.
CODE = "0d99cbaaeeac4f0e9db8aa86422845ea4350f374da6b750489182cf1859e953e"
TABLES = ("RULES", "FACTS", "GONE", "GUARDS", "DIGEST", "MARKS", "COMMAND")
Rows = Iterator[str]


class Generated:
    """The generated module of one output. ``called``: keys of the guard calls of its files; ``tables``: those of both trees."""

    def __init__(
        self, up: Tree, out: Tree, stated: Stated, called: Iterable[str], tables: tuple[Catalogue, Catalogue]
    ) -> None:
        self.up, self.out, self.stated = up, out, stated
        self.ruled = Ruled(stated)
        self.called = set(called)
        self.used: set[str] = set()  # rules that the tables name
        self._trees = tables  # of both trees

    def run(self) -> Rows:
        """Its problems; without rule files (a case of the tests) there is nothing to compare with."""
        paths = [path for path in sorted(self.out.files) if is_guard_file(path, self.up)]
        if not paths or not self.stated.rules:
            return
        for path in paths[1:]:
            yield f"{path}:1: a second module of the pruning's own"
        path = paths[0]
        data = self.out.read(path)
        found = split(data)
        if found is None or sha256(found[0]).hexdigest() != CODE:
            yield f"{path}:1: the code of this module is not what prune writes"
            return
        tables = found[1]
        for text in (
            *self._facts(tables["FACTS"], tables["GUARDS"]),
            *self._guards(tables["GUARDS"], tables["GONE"]),
            *self._gone(tables["GUARDS"], tables["GONE"]),
            *self._marks(tables["MARKS"]),
            *self._rules(tables["RULES"]),
            *self._digest(path, tables["DIGEST"]),
        ):
            yield f"{path}: {text}"
        package = PurePath(path).parent.name if "/" in path else ""
        if tables["COMMAND"] != package:
            yield f"{path}: COMMAND is {tables['COMMAND']!r}, and the package is {package!r}"

    # -- facts -----------------------------------------------------------------------------------

    def _facts(self, rows: list[Any], guards: Mapping[str, Any]) -> Rows:
        wanted = {}
        for subject in self.stated.facts if any(row[0] for row in guards.values()) else ():
            if (shape := _shape(subject)) is not None:
                wanted[shape] = subject
        for text, root, steps, values, rule in rows:
            self.used.add(rule)
            shape = _shape(text)
            subject = wanted.pop(shape, "") if shape is not None else ""
            if not subject:
                yield f"FACTS asks {text}, which no rule states or no guard asks"
            elif _shape(_spelled(root, steps)) != shape:
                yield f"FACTS asks {text} by other steps"
            elif not _same(values, self.stated.facts[subject]):
                yield f"FACTS wants {text} to be {values!r}, and the rules do not"
            elif rule not in self.stated.stating.get(subject, ()):
                yield f"FACTS names {rule} for {text}, which does not state it"
        for subject in wanted.values():
            yield f"FACTS does not ask {subject}"

    # -- guards ----------------------------------------------------------------------------------

    def _guards(self, table: Mapping[str, Any], gone: Mapping[str, Any]) -> Rows:
        known = {guard.key: guard for guard in self.stated.guards}
        for key in sorted(self.called ^ table.keys()):
            yield f"GUARDS has {key}, which nothing calls" if key in table else f"GUARDS lacks {key}, which is called"
        asked = set()
        for key in sorted(table.keys() & known.keys()):
            facts, http, chain, questions = table[key]
            guard = known[key]
            if (facts, http, tuple(chain)) != (guard.facts, guard.http, guard.chain):
                yield f"GUARDS has {key} ask otherwise than the rules say"
            have, want = (
                list(map(_row, questions)),
                [self._question(guard, ask, {row[4] for row in questions}) for ask in guard.asks],
            )
            if not guard.rule:  # made of facts, in the order of their own
                have, want = sorted(have, key=repr), sorted(want, key=repr)
            if have != want:
                yield f"GUARDS has {key} ask {_first(have, want)}, and the rules do not"
            asked |= {row[3] for row in questions if row[2] is None and row[3]}
            self.used |= {row[4] for row in questions if row[2] is not None}
        for domain in sorted(asked ^ gone.keys()):
            yield f"GONE has {domain}, which no guard asks" if domain in gone else f"GONE lacks {domain}"

    def _question(self, guard: Guarded, ask: Asked, told: set[str]) -> tuple[Any, ...]:
        chain = () if ask.chain == "." else tuple(ask.chain.split("."))
        label = chain[-1] if chain else (guard.chain[-1] if guard.chain else guard.parameter)
        when = tuple(filter(None, ask.when.split(".")))
        rule = guard.rule or guard.key.rpartition("/")[0]
        if ask.kind == "values":
            return chain, label, _allowed(ask.names), "", rule, when
        if ask.kind != "fact":
            return chain, label, None, f"{ask.kind} of {self._domain(ask)}", rule, when
        subject = str(ask.names[0])
        values = self.stated.facts.get(subject, self.stated.late.get(subject))
        if values is None:
            return chain, label, None, "", rule, when
        stating = sorted(self.stated.stating.get(subject, ()))
        lifted = ", ".join(sorted({*stating, *(r for r, text in self.stated.without if text == subject)}))
        stating = [name for name in stating if name in told][:1] or stating[:1]  # of several, whichever it names
        own = guard.after and len(chain) == 1 and subject.endswith(f".{chain[0]}")
        strict = own and not isinstance(values, Range) and all(values)
        return chain, label, _allowed(values, strict), lifted, "".join(stating), when

    def _domain(self, ask: Asked) -> str:
        names = list(map(str, ask.names))
        here = (n for n in names if ask.kind != "tables" or self._trees[0].entries(n) is not None)
        return next(here, names[0])

    # -- what is gone ----------------------------------------------------------------------------

    def _gone(self, guards: Mapping[str, Any], table: Mapping[str, Any]) -> Rows:
        asks = {f"{a.kind} of {self._domain(a)}": a for g in self.stated.guards for a in g.asks if g.key in guards}
        for domain in sorted(table.keys() & asks.keys()):
            ask, rows = asks[domain], table[domain]
            wanted = dict(getattr(self, f"_of_{ask.kind}")(ask))
            for value in sorted(rows.keys() ^ wanted.keys()):
                yield f"GONE says that {value!r} of {domain} {'is gone, and it is not' if value in rows else 'is there'}"
            for value in sorted(rows.keys() & wanted.keys()):
                rule, advice, lifted = rows[value]
                self.used.add(rule)
                if rule not in wanted[value]:
                    yield f"GONE names {rule} for {value!r} of {domain}, which does not take it"
                elif not isinstance(advice, str) or not set(lifted) <= self.stated.rules:
                    yield f"GONE tells to lift {lifted} for {value!r} of {domain}, and these are no rules"

    def _of_tables(self, ask: Asked) -> Iterator[tuple[str, set[str]]]:
        """Keys of the tables that the output lacks by a rule, or that rules leave without what is behind them."""
        found: dict[str, set[str]] = {}
        for name in map(str, ask.names):
            after = self._trees[1].entries(name) or {}
            without, drops = _of_table(self.stated.without, name), _of_table(self.stated.drops, name)
            for key in self._trees[0].entries(name) or {}:
                bare = {rule for rule, glob in without if fnmatchcase(key, glob)}
                taken = {rule for rule, glob in drops if fnmatchcase(key, glob)} if key not in after else set()
                taken |= self._of_enum(name, key) if key not in after else set()
                if bare or taken:
                    found.setdefault(key, set()).update(bare | taken)
        yield from found.items()

    def _of_enum(self, table: str, key: str) -> set[str]:
        """Rules that drop the member of an enum that has this name, or this value: both stand on one line."""
        module, _, owner = table.rpartition(".")
        rows = self._trees[0].entries(table) or {}
        here = (rows[key].path, rows[key].line)
        found = set()
        for rule, text in self.stated.drops:
            head, colon, member = text.replace(":", ".").rpartition(".")
            entry = rows.get(member) if colon and head == f"{module}.{owner}" else None
            if entry is not None and (entry.path, entry.line) == here:
                found.add(rule)
        return found

    def _of_classes(self, ask: Asked) -> Iterator[tuple[str, set[str]]]:
        for package in map(str, ask.names):
            walked = {rule for rule, name, _, _ in self.stated.dynamics if name == package}
            after = self._trees[1].offered(package, ask.attribute)
            for name, (module, _) in self._trees[0].offered(package, ask.attribute).items() if walked else ():
                if name not in after:
                    path = self.up.modules.get(module, "")
                    yield name, walked | {r for r, text in self.stated.drops if _takes(text, module, path)}

    def _of_members(self, ask: Asked) -> Iterator[tuple[str, set[str]]]:
        for package in map(str, ask.names):
            rows = [(rule, members) for rule, name, members, _ in self.stated.dynamics if name == package]
            if rows and not any(members for _, members in rows):
                yield "*", {rule for rule, _ in rows}

    # -- the rest --------------------------------------------------------------------------------

    def _marks(self, marks: Mapping[str, str]) -> Rows:
        wanted = {guard.key: guard.mark for guard in self.stated.guards if guard.mark and guard.key in self.called}
        if dict(marks) != wanted:
            yield f"MARKS is not what the rules say of {', '.join(sorted(marks.keys() ^ wanted.keys())) or 'them'}"

    def _rules(self, places: Mapping[str, str]) -> Rows:
        for rule in sorted((self.used | {rule for rule, _ in self.stated.drops}) & self.stated.rules - places.keys()):
            yield f"RULES lacks {rule}"
        for rule, text in places.items():
            file, _, line = text.removeprefix(f"rule {rule}, ").rpartition(":")
            texts = [t for path, t in self.stated.files.items() if is_named(path, file)]
            if (
                not text.startswith(f"rule {rule}, ")
                or not line.isdigit()
                or not any(_states(t, int(line), rule) for t in texts)
            ):
                yield f"RULES places {rule} at {text!r}, where it is not"

    def _digest(self, path: str, digest: str) -> Rows:
        """Over every file of the package, this one without a digest. What was put on top has a digest of its own behind it."""
        folder = path.rpartition("/")[0]
        if not folder:
            return
        total = sha256()
        for name in sorted(self.out.files):
            if name.startswith(f"{folder}/") and self.out.files[name] is None:
                data = self.out.read(name)
                if name == path:
                    data = data.replace(f'DIGEST = "{digest}"'.encode(), b'DIGEST = ""', 1)
                total.update(f"{name}\0{sha256(data).hexdigest()}\n".encode("utf-8", "surrogateescape"))
        if digest.partition("+")[0] != f"sha256:{total.hexdigest()}":
            yield "DIGEST is not that of the package's files"


def split(data: bytes) -> tuple[bytes, dict[str, Any]] | None:
    """The module's text with empty tables, and the tables; None where it is no such module."""
    tree = parse_bytes(data)
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    rest, last, tables = [], 0, {}
    for node in tree.body if tree is not None else ():
        name = getattr(node.targets[0], "id", "") if isinstance(node, ast.Assign) else ""
        if not isinstance(node, ast.Assign) or name not in TABLES or name in tables:
            continue
        try:
            tables[name] = ast.literal_eval(node.value)
        except (ValueError, SyntaxError, TypeError):
            return None
        value = node.value
        rest.append(data[last : starts[value.lineno - 1] + value.col_offset])
        last = starts[(value.end_lineno or value.lineno) - 1] + (value.end_col_offset or 0)
    if set(tables) != set(TABLES):
        return None
    return b"".join([*rest, data[last:]]), tables


def _shape(text: str) -> str | None:
    """A fact's subject as the interpreter reads it; None for what holds of any call."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    if any(isinstance(part, ast.Constant) and part.value is Ellipsis for part in ast.walk(node)):
        return None
    return ast.dump(node)


def _spelled(root: str, steps: Iterable[tuple[Any, ...]]) -> str:
    """The text of a subject that is given in steps from a module."""
    text = root
    for kind, *detail in steps:
        if kind == ".":
            text += f".{detail[0]}"
        elif kind == "has":
            text = f"hasattr({text}, {detail[0]!r})"
        elif kind == "()":
            given = [*map(repr, detail[0]), *(f"{key}={value!r}" for key, value in detail[1].items())]
            text += f"({', '.join(given)})"
        else:
            text += f"[{detail[0]!r}]"
    return text


def _typed(values: Iterable[Any]) -> list[tuple[str, Any]]:
    return sorted(((type(value).__name__, value) for value in values), key=repr)


def _allowed(values: Any, strict: bool = False) -> tuple[str, Any]:
    """A range by its ends; values in no order, and whether None is asked for as well."""
    if isinstance(values, dict):
        return "range", (values.get("min"), values.get("max"))
    if isinstance(values, Range):
        return "range", (values.low, values.high)
    return "values and None" if strict else "values", _typed(values)


def _same(values: Any, stated: Any) -> bool:
    if isinstance(stated, Range):
        return isinstance(values, tuple) and values == (stated.low, stated.high)
    return isinstance(values, list) and _typed(values) == _typed(stated)


def _row(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return (
        tuple(row[0]),
        row[1],
        _allowed(row[2], isinstance(row[2], tuple)) if row[2] is not None else None,
        *row[3:],
    )


def _first(have: list[Any], want: list[Any]) -> str:
    row = next((a for a, b in zip(have, want, strict=False) if a != b), None)
    return f"{'.'.join(row[0]) or row[1]} as {row[2:]!r}" if row is not None else f"{len(have)} questions"


def _of_table(rows: Iterable[tuple[str, str]], table: str) -> list[tuple[str, str]]:
    """Of (rule, target), those on entries of the table: the rule, and what the key must look like."""
    parts = [(rule, *text.partition("[")) for rule, text in rows]
    here = [(rule, glob) for rule, head, bracket, glob in parts if bracket and head.replace(":", ".") == table]
    return [(rule, glob.rstrip("]").strip("\"'")) for rule, glob in here]


def _takes(text: str, module: str, path: str) -> bool:
    """Does a drop target name this module, or its file?"""
    return fnmatchcase(path, text[5:].strip()) if text.startswith("path:") else "[" not in text and covers(text, module)


def _states(text: str, line: int, rule: str) -> bool:
    """Is the rule the first whose id stands from this line of a rule file on?"""
    rest = "\n".join(text.split("\n")[line - 1 :])
    found = re.search(r"(?<![\w.-])id:\s*[\"']?([^\s\"',}#]+)", rest)
    return found is not None and found[1] == rule
