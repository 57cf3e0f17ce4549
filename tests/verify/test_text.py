"""The text half: the fast tokenizer agrees with the standard one, and lines are matched in order."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pruner.verify.lexer import tokens
from pruner.verify.lines import align
from pruner.verify.side import Side

SOURCES = sorted(Path(__file__).resolve().parents[2].glob("pruner/verify/*.py"))
SKIPPED = {tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING}


@pytest.mark.parametrize("path", SOURCES, ids=[path.name for path in SOURCES])
def test_tokens_are_those_of_the_standard_library(path: Path) -> None:
    text = path.read_text("utf-8")
    expected = [t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type not in SKIPPED]
    assert "".join(tokens(text)) == "".join(expected)


lines = st.lists(st.sampled_from(["", "a", "b", "c", "d = 1", "return", "e()"]), max_size=40)


@given(lines, lines)
def test_aligned_lines_are_equal_and_rise(a: list[str], b: list[str]) -> None:
    pairs = align(a, b)
    assert all(a[i] == b[j] and a[i] for i, j in pairs)
    assert all(p[0] < q[0] and p[1] < q[1] for p, q in itertools.pairwise(pairs))


@given(lines)
def test_a_text_aligns_with_itself_whole(a: list[str]) -> None:
    assert len(align(a, a)) == sum(1 for line in a if line)


@given(lines, st.data())
def test_a_text_with_lines_removed_aligns_as_a_whole(a: list[str], data: st.DataObject) -> None:
    unique = [f"{line}{i}" for i, line in enumerate(a) if line]
    kept = [line for line in unique if data.draw(st.booleans())]
    assert len(align(unique, kept)) == len(kept)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_lines_are_counted_as_python_counts_them(end: bytes) -> None:
    data = end.join([b"a = 1", b"if a:", b"    b = (2,", b"        3)", b""])
    tree = ast.parse(data)
    side = Side(data, tree)
    assert [side.text(node) for node in tree.body] == [("Assign", b"a = 1"), ("If", b"if a:\n    b = (2,\n        3)")]
