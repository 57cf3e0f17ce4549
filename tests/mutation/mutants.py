"""Wrong prunings, made from kept files by the kinds that happen: each is a new text of one file.

A mutant parses, unless it is the truncated file, and its byte code differs from the original's.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.mutation.equal import same
from tests.mutation.further import FURTHER
from tests.mutation.source import FUNCTIONS, Source, Span

BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try)


@dataclass(frozen=True, slots=True)
class Mutant:
    """One wrong output: ``changes`` maps paths to new contents (None: the file is gone)."""

    kind: str
    path: str
    line: int
    what: str
    changes: tuple[tuple[str, bytes | None], ...]


def _ifs(source: Source) -> Iterator[ast.If]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.If) and node.lineno != node.body[0].lineno and not _type_only(node):
            if source.data[slice(*source.span(node))].startswith(b"if"):
                yield node


def _type_only(node: ast.If) -> bool:
    """``if TYPE_CHECKING:`` never runs, and a guard on ``__name__`` runs in a script alone."""
    words = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
    words |= {n.attr for n in ast.walk(node.test) if isinstance(n, ast.Attribute)}
    return bool(words & {"TYPE_CHECKING"}) or any(isinstance(n, ast.Constant) for n in [node.test])


def branch(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A live branch is gone."""
    for node in _ifs(source):
        if not node.orelse:
            yield node.lineno, "if", source.without(node)


def wrong_side(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A test is decided that nothing decides."""
    for node in _ifs(source):
        start, stop = source.span(node)
        if node.orelse and not (isinstance(node.orelse[0], ast.If) and node.orelse[0].col_offset == node.col_offset):
            yield node.lineno, "no", (start, stop, source.outdented(node.orelse, node.col_offset))
        if not node.orelse or node.orelse[0].lineno > node.lineno:
            yield node.lineno, "yes", (start, stop, source.outdented(node.body, node.col_offset))


def imported(source: Source) -> Iterator[tuple[int, str, Span]]:
    """An import is gone that the file reads."""
    read = {n.id for n in ast.walk(source.tree) if isinstance(n, ast.Name)}
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Import | ast.ImportFrom) or getattr(node, "module", "") == "__future__":
            continue
        if any((alias.asname or alias.name.partition(".")[0]) in read for alias in node.names):
            yield node.lineno, "import", source.without(node)


def method(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A method is gone."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, FUNCTIONS):
                    yield part.lineno, f"{node.name}.{part.name}", source.without(part)


def decorator(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A decorator is gone."""
    for node in ast.walk(source.tree):
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            for part in node.decorator_list:
                start = source.data.rindex(b"@", 0, source.at(part.lineno, part.col_offset))
                yield part.lineno, node.name, (start, source.stop(part), b"")


def entry(source: Source) -> Iterator[tuple[int, str, Span]]:
    """An entry of a table is gone."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Dict) and len(node.keys) > 1:
            for key, _, behind in zip(node.keys, node.values, node.keys[1:], strict=False):
                if key is not None and behind is not None:
                    yield key.lineno, "dict", (source.span(key)[0], source.span(behind)[0], b"")
        elif isinstance(node, ast.List) and len(node.elts) > 1 and isinstance(node.ctx, ast.Load):
            for one, other in zip(node.elts, node.elts[1:], strict=False):
                yield one.lineno, "list", (source.span(one)[0], source.span(other)[0], b"")


def default(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A default is another value."""
    for node in ast.walk(source.tree):
        if isinstance(node, FUNCTIONS):
            for part in [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]:
                if isinstance(part, ast.Constant) and (part.value is None or isinstance(part.value, bool | int)):
                    new = b"0" if part.value is None else repr(not part.value).encode()
                    yield part.lineno, node.name, (*source.span(part), new)


def early_return(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A return that ends a function early is gone, or a new one cuts its rest."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Return) and isinstance(source.parents[id(node)], ast.If):
            yield node.lineno, "lost", source.without(node)
        elif isinstance(node, FUNCTIONS) and len(node.body) > 2:
            last = node.body[-1]
            yield last.lineno, "tail", source.without(last)


def base(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A base class is gone."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and node.bases:
            first, rest = node.bases[0], [*node.bases[1:], *(k for k in node.keywords)]
            stop = source.span(rest[0].value if isinstance(rest[0], ast.keyword) else rest[0])[0] if rest else None
            if rest and isinstance(rest[0], ast.keyword):
                stop = source.at(rest[0].lineno, rest[0].col_offset)
            yield node.lineno, node.name, (source.span(first)[0], stop or source.stop(first), b"")


def truncated(source: Source) -> Iterator[tuple[int, str, Span]]:
    """The file ends early: behind a statement, or in the middle of a line."""
    body = source.tree.body
    if len(body) > 4:
        for part in body[len(body) // 2 : -1]:
            yield part.lineno, "behind", (source.stop(part), len(source.data), b"\n")
        part = body[len(body) // 2]
        yield part.lineno, "within", ((source.span(part)[0] + source.stop(part)) // 2, len(source.data), b"")


def dangling(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A definition is gone that the file still reads."""
    read = {n.id for n in ast.walk(source.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for node in source.tree.body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node.name in read:
            yield node.lineno, node.name, source.without(node)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in read:
            yield node.lineno, node.targets[0].id, source.without(node)


def definition(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A definition is gone that other files import."""
    for node in source.tree.body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node.lineno, node.name, source.without(node)


def moved(source: Source) -> Iterator[tuple[int, str, Span]]:
    """The last statement of a block stands behind it."""
    for node in ast.walk(source.tree):
        if (
            isinstance(node, ast.If | ast.For | ast.With | ast.While)
            and len(node.body) > 1
            and node.body[0].lineno > node.lineno
        ):
            last = node.body[-1]
            if last.lineno > node.body[-2].lineno and not getattr(node, "orelse", None):
                text = source.outdented([last], node.col_offset)
                yield (
                    last.lineno,
                    "out",
                    (source.starts[last.lineno - 1], source.stop(last), b" " * node.col_offset + text),
                )


def handler(source: Source) -> Iterator[tuple[int, str, Span]]:
    """One of several handlers is gone, or the only one passes over everything."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Try) and node.handlers and node.handlers[0].type is not None:
            part = node.handlers[0]
            if len(node.handlers) > 1:
                yield part.lineno, "handler", (source.at(part.lineno, 0), source.at(node.handlers[1].lineno, 0), b"")
            elif part.body[0].lineno > part.lineno:
                start, stop = source.span(part.body[0])[0], source.stop(part.body[-1])
                yield part.lineno, "body", (start, stop, b"pass")


def negated(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A test is turned round."""
    for node in _ifs(source):
        start, stop = source.span(node.test)
        yield node.lineno, "if", (start, stop, b"not (" + source.data[start:stop] + b")")


def operand(source: Source) -> Iterator[tuple[int, str, Span]]:
    """An operand of ``and``/``or`` is gone."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.BoolOp) and node.values[0].lineno == node.values[1].lineno:
            yield node.lineno, "operand", (source.span(node.values[0])[0], source.span(node.values[1])[0], b"")


def argument(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A keyword argument of a call is gone."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and len(node.keywords) > 1:
            one, other = node.keywords[-2:]
            if one.arg and other.arg:
                yield (
                    one.lineno,
                    one.arg,
                    (source.at(one.lineno, one.col_offset), source.at(other.lineno, other.col_offset), b""),
                )


def member(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A member of an enumeration is gone."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and any(ast.unparse(b).endswith(("Enum", "Flag")) for b in node.bases):
            for part in node.body:
                if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                    yield part.lineno, f"{node.name}.{part.targets[0].id}", source.without(part)


def expression(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A call whose value nobody takes is gone."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call | ast.Await):
            yield node.lineno, ast.unparse(node.value)[:40], source.without(node)


def annotation(source: Source) -> Iterator[tuple[int, str, Span]]:
    """A text in an annotation is another one, or a field loses its annotation's first choice."""
    for node in ast.walk(source.tree):
        notes = [node.annotation] if isinstance(node, ast.AnnAssign | ast.arg) and node.annotation is not None else []
        for part in (inner for note in notes for inner in ast.walk(note)):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.lineno == part.end_lineno:
                yield part.lineno, part.value[:40], (*source.span(part), b"'zz'")


KINDS: dict[str, Callable[[Source], Iterator[tuple[int, str, Span]]]] = {
    "live branch gone": branch,
    "wrong side of an if": wrong_side,
    "import gone": imported,
    "method gone": method,
    "decorator gone": decorator,
    "table entry gone": entry,
    "default changed": default,
    "early return": early_return,
    "base class gone": base,
    "file truncated": truncated,
    "dangling name": dangling,
    "definition gone": definition,
    "statement moved out": moved,
    "handler gone": handler,
    "test turned round": negated,
    "operand gone": operand,
    "argument gone": argument,
    "enum member gone": member,
    "expression gone": expression,
    "annotation changed": annotation,
    **FURTHER,
}
WHOLE = "module gone"
DATA = ("data changed", "data gone")  # of files that are no Python


def mutants(files: dict[str, bytes], count: int, seed: int) -> list[Mutant]:
    """``count`` mutants, the kinds in turn, each of another file as far as there are enough; same seed, same list."""
    dice = random.Random(seed)
    paths = sorted(path for path, data in files.items() if path.endswith(".py") and data.strip())
    others = sorted(path for path in files if not path.endswith(".py"))
    found: list[Mutant] = []
    used: set[str] = set()
    kinds = [*KINDS, WHOLE, *(DATA if others else ())]
    turn = tries = failed = 0
    while len(found) < count and tries < count * 90:
        if failed > 40:  # no file has a place for this kind
            turn, failed = turn + 1, 0
        kind = kinds[turn % len(kinds)]
        tries, failed = tries + 1, failed + 1
        path = dice.choice(others if kind in DATA else paths)
        if path in used and tries < count * 30:
            continue
        made = _one(kind, path, files[path], dice)
        if made is not None:
            found.append(made)
            used.add(path)
            turn, failed = turn + 1, 0
    return found


def _one(kind: str, path: str, data: bytes, dice: random.Random) -> Mutant | None:
    if kind == WHOLE or kind == "data gone":
        return Mutant(kind, path, 1, "file", ((path, None),))
    if kind == "data changed":
        lines = data.splitlines(keepends=True) or [b""]
        at = dice.randrange(len(lines))
        return Mutant(kind, path, at + 1, "line", ((path, b"".join([*lines[:at], *lines[at + 1 :]]) or b"zz"),))
    try:
        source = Source(path, data)
    except SyntaxError:
        return None
    candidates = sorted(KINDS[kind](source), key=lambda row: (row[0], row[1], row[2]))
    dice.shuffle(candidates)
    for line, what, (start, stop, text) in candidates[:5]:
        new = data[:start] + text + data[stop:]
        try:
            if same(new, data):
                continue
        except SyntaxError:
            if kind != "file truncated":
                continue
        return Mutant(kind, path, line, what, ((path, new),))
    return None
