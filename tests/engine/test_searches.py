"""Searches that begin with a literal, for speed, find what the plain expressions find."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pruner.edit import kept_ranges
from pruner.model import Cause, Edit
from pruner.native import sources
from pruner.pipeline import inventory, needs, notice, severed
from pruner.report.html.sources import HEAD, _edited, _head, _lines
from pruner.scan.scopes import _nonlocals
from pruner.syntax.nodes import children
from pruner.verify import nodes

PARTS = (
    "==", "!=", "= ", "in", "min", "(", ")", "[", "{", ": ", ":", ", ", ",", " ", "\n", "\n    ", "\t", '"a"', "'b'", '"',
    "'", "c", "\\", "#", "class ", "class E(Enum):\n", "X = 1\n", "Flag", "def ", "def get_env(", "envs", "envs = ", "from ",
    "from . import ", "import ", "x", " as y", "torch", "'torch'", '"torch.nn"', "cu", ".cu", '"cu"', "'.cuh\"", "\r\n",
    "\r", "is_hip", "not ",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PARTS), max_size=40).map(lambda parts: "".join(parts).encode())
LEAVES = (ast.expr_context, ast.operator, ast.cmpop, ast.unaryop, ast.boolop)
STRINGS = re.compile(rb"(?:[=!]= ?|\bin ?[\[({] ?|: )[\"']\w+[\"'](?:, ?[\"']\w+[\"'])*")


def whole(shape: re.Pattern[bytes], before: bytes = b"") -> re.Pattern[bytes]:
    """The same where a line begins."""
    return re.compile(rb"^" + before + shape.pattern, re.MULTILINE)


@given(TEXTS)
def test_strings_and_what_begins_a_line(data: bytes) -> None:
    assert [m.span() for m in inventory._strings(data)] == [m.span() for m in STRINGS.finditer(data)]
    for shape in (inventory._ENUM, inventory._HELPER):
        found = [m.span() for m in shape.finditer(data) if inventory._first(data, m)]
        assert found == [m.span() for m in whole(shape).finditer(data)]
    found = [m for m in inventory._OBJECT.finditer(data) if inventory._first(data, m)]
    assert bool(found) == (whole(inventory._OBJECT).search(data) is not None)


@given(TEXTS)
def test_imports_of_removed_places(data: bytes) -> None:
    for shape in (severed._FROM, severed._IMPORT):
        found = [m.groups() for m in severed._first(shape, data)]
        assert found == [m.groups() for m in whole(shape, rb"[ \t]*").finditer(data)]


def test_a_comment_hides_no_import() -> None:
    data = b"# as from x import (\nfrom y import z\n# )\n"
    assert [m[2] for m in severed._first(severed._FROM, data)] == [b"y"]


@given(TEXTS)
def test_quoted_names(data: bytes) -> None:
    near = needs._Near({"torch", "cu.x"})
    words = set(re.findall(rb"[\"'](cu|torch)(?=[\"'.])", data))
    words.update(re.findall(rb"\w+", b"\n".join(line for s in needs._LINES for line in s.findall(data))))
    assert set(near.to(data)) == {n for n, first in (("torch", b"torch"), ("cu.x", b"cu")) if first in words}


@given(TEXTS)
def test_suffixes_alone(data: bytes) -> None:
    either = b"[\"']" + sources._BARE[0].pattern[1:]
    assert [m.span() for m in sources._bare(data)] == [m.span() for m in re.finditer(either, data)]


@given(TEXTS)
def test_line_numbers(data: bytes) -> None:
    lines = inventory._Lines(data)
    for place in (0, 3, 17, 5, 5, 30, len(data)):
        assert lines.at(place) == data.count(b"\n", 0, place) + 1


@given(TEXTS)
def test_lines_of_the_notice(data: bytes) -> None:
    assert [m.group() for m in notice._LINE.finditer(data)] == data.splitlines(keepends=True)


@given(st.lists(st.sampled_from([b"a", b"\n", b"\xe2\x82", b"\xff"]), max_size=30), st.integers(0, HEAD + 3))
def test_heads_of_removed_files(parts: list[bytes], more: int) -> None:
    data = b"".join(parts) + b"x\n" * more + b"".join(parts)
    lines = _lines(data)
    left = [f"… {len(lines) - HEAD} more lines"] if len(lines) > HEAD else []
    assert list(_head(data)) == [(1, lines[:HEAD], 1, left)]


@given(TEXTS, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=5))
def test_blocks_hold_their_edits(data: bytes, places: list[tuple[int, int]]) -> None:
    """The first and last line of each edit, with those around it."""
    at, edits = 0, []
    for start, size in sorted(places):
        if at <= start and start + size <= len(data):
            edits.append(Edit(start, start + size, b"new\n", Cause("rule")))
            at = start + size + 1
    blocks = list(_edited(data, edits))
    assert bool(blocks) == bool(edits and data)
    for edit in edits if data else ():
        first = data.count(b"\n", 0, min(edit.start, len(data) - 1)) + 1
        last = data.count(b"\n", 0, max(edit.stop - 1, edit.start)) + 1
        assert any(top <= first and last <= top + len(old) for top, old, _, _ in blocks), (edit, blocks)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), max_size=5))
def test_lines_that_an_edit_leaves(data: bytes, places: list[tuple[int, int]]) -> None:
    """A line goes where one edit takes it whole; one that two edits share counts as left, which is how reports account for it."""
    gone: list[set[int]] = []
    edits: list[Edit] = []
    for start, size in sorted(places):
        if (not edits or start >= edits[-1].stop) and start + size <= len(data):
            edits.append(Edit(start, start + size, b"", Cause("rule")))
            gone.append(set(range(start, start + size)))
    kept = {line for first, last in kept_ranges(data, edits) for line in range(first, last + 1)}
    at, wanted = 0, set()
    for number, line in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", data), 1):
        if not any(taken.issuperset(range(at, at + len(line))) for taken in gone):
            wanted.add(number)
        at += len(line)
    assert kept == wanted


def test_children_and_nonlocals_of_these_tests() -> None:
    sources_ = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    odd = b"import a, b as c\nglobal d, e\n{**x, 1: 2}[::y]\ndef k(a, /, b=1, *c, d, e=2, **f): pass\n"
    odd += b"match x:\n  case {'a': 1, **r} | C(1, b=2) | [*_]: pass\n"
    odd += b"def f():\n  def g():\n    try:\n      h = lambda: 1\n    except E:\n      match x:\n        case 1:\n          nonlocal y\n"
    for data in (*sources_, odd):
        tree = ast.parse(data)
        assert len(list(nodes.walk(tree))) == len(
            [n for n in ast.walk(tree) if nodes.children(n) or not isinstance(n, LEAVES)]
        )
        for node in ast.walk(tree):
            assert children(node) == [n for n in ast.iter_child_nodes(node) if not isinstance(n, LEAVES)]
            assert nodes.children(node) == children(node)
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                inner = [n for n in ast.walk(node) if isinstance(n, ast.Nonlocal)]
                assert _nonlocals(node) == {name for n in inner for name in n.names}
