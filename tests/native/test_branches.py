"""Decided preprocessor branches: by example, against ``unifdef``, and against the verifier's reading."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pruner.verify.native import presence
from tests.native.peer import folded, normal, unifdef

HIP: dict[str, int | str | None] = {"HIP": None, "CUDA": 1, "VER": 12080}

EXAMPLES = {
    "ifdef": ("#ifdef HIP\na\n#else\nb\n#endif\nc", "b\nc"),
    "ifndef": ("#ifndef HIP\na\n#endif\nc", "a\nc"),
    "open elif becomes if": ("#if HIP\na\n#elif X > 1\nb\n#else\nc\n#endif", "#if X > 1\nb\n#else\nc\n#endif"),
    "true elif becomes else": ("#if X\na\n#elif CUDA  // why\nb\n#else\nc\n#endif", "#if X\na\n#else\nb\n#endif"),
    "value": ("#if VER >= 12080 && VER < 13000\na\n#else\nb\n#endif", "a"),
    "unknown beside false": ("#if defined(X) && defined(HIP)\na\n#endif\nb", "b"),
    "unknown beside true": ("#if !defined(HIP) && defined(X)\na\n#endif", "#if !defined(HIP) && defined(X)\na\n#endif"),
    "function-like": ("#if !defined(HIP) || CHECK(1, (2))\na\n#endif", "a"),
    "has_include": (
        "#if __has_include(<x.h>) && defined(HIP)\na\n#endif",
        "#if __has_include(<x.h>) && defined(HIP)\na\n#endif",
    ),
    "constants are comments": ("#if 0\na\n#endif", "#if 0\na\n#endif"),
    "nested goes whole": ("#ifdef HIP\n#if X\na\n#else\nb\n#endif\n#endif\nc", "c"),
    "nested stays": ("#ifdef CUDA\n#if X\na\n#endif\n#endif\nc", "#if X\na\n#endif\nc"),
    "continued line": ("#if defined(HIP) && \\\n    X\na\n#endif\nb", "b"),
    "blanks": ("  #  ifdef  HIP\na\n # endif\nb", "b"),
    "in a block comment": ("/*\n#ifdef HIP\n*/\na", "/*\n#ifdef HIP\n*/\na"),
    "in a string": ('x = "\\\n#ifdef HIP";\na', 'x = "\\\n#ifdef HIP";\na'),
    "in a raw string": ('x = R"(\n#ifdef HIP\na\n#endif\n)";', 'x = R"(\n#ifdef HIP\na\n#endif\n)";'),
    "comment over the end": ("#ifdef HIP\na\n#endif /* of\nHIP */\nb", "b"),
    "comment over the start": ("/* of\nHIP */ #ifdef HIP\na\n#endif\nb", "/* of\nHIP */ #ifdef HIP\na\n#endif\nb"),
    "digit separator": ("x = 1'000;\n#ifdef HIP\na\n#endif\ny = 'b';", "x = 1'000;\ny = 'b';"),
    "no endif": ("#ifdef HIP\na", "#ifdef HIP\na"),
    "else twice": ("#ifdef HIP\na\n#else\nb\n#else\nc\n#endif", "#ifdef HIP\na\n#else\nb\n#else\nc\n#endif"),
    "suffix": ("#if VER >= 12000UL\na\n#endif", "a"),
    "no number": ("#if HIP + 0x == 1\na\n#endif", "#if HIP + 0x == 1\na\n#endif"),
    "division by nothing": ("#if VER / HIP\na\n#endif", "#if VER / HIP\na\n#endif"),
    "crlf": ("#ifdef HIP\r\na\r\n#endif\r\nb\r\n", "b\r\n"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str) -> None:
    before, after = EXAMPLES[name]
    assert folded(before.encode(), HIP).decode() == after


def test_without_facts_nothing_changes() -> None:
    for before, _ in EXAMPLES.values():
        assert folded(before.encode(), {}) == before.encode()


TESTS = ("defined(HIP)", "!defined(HIP)", "defined(CUDA)", "VER >= 12000", "VER < 12000", "X", "defined(X)", "Y > 2")
test = st.recursive(
    st.sampled_from(TESTS),
    lambda inner: st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    max_leaves=3,
)
leaf = st.integers(1, 99).map(lambda n: [f"line{n}"])


def chain(body: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    """One ``#if`` with its arms."""
    first = st.one_of(
        test.map(lambda t: f"#if {t}"), st.sampled_from(["#ifdef HIP", "#ifndef HIP", "#ifdef X", "#ifndef CUDA"])
    )
    arms = st.lists(st.tuples(test.map(lambda t: f"#elif {t}"), body), max_size=2)
    last = st.one_of(st.none(), body)

    def lines(parts: tuple[str, list[str], list[tuple[str, list[str]]], list[str] | None]) -> list[str]:
        head, inside, others, end = parts
        out = [head, *inside]
        for line, more in others:
            out += [line, *more]
        return [*out, *(["#else", *end] if end is not None else []), "#endif"]

    return st.tuples(first, body, arms, last).map(lines)


program = st.recursive(
    leaf,
    lambda inner: st.one_of(
        chain(inner), st.lists(inner, min_size=1, max_size=3).map(lambda x: list(itertools.chain.from_iterable(x)))
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(program)
def test_random_programs_as_unifdef_leaves_them(lines: list[str]) -> None:
    text = ("start\n" + "\n".join(lines) + "\nend\n").encode()
    peer = unifdef(text, HIP)
    assert peer is not None
    assert normal(folded(text, HIP)) == peer


@settings(max_examples=300, deadline=None, derandomize=True)
@given(program)
def test_random_programs_as_the_verifier_reads_them(lines: list[str]) -> None:
    text = "\n".join([*lines, "end"]).encode()
    facts: Any = HIP
    before = [(line, under) for _, line, under in presence(text, facts)]
    assert [(line, under) for _, line, under in presence(folded(text, HIP), facts)] == before


@settings(max_examples=100, deadline=None, derandomize=True)
@given(program)
def test_folding_twice_is_folding_once(lines: list[str]) -> None:
    once = folded("\n".join(lines).encode(), HIP)
    assert folded(once, HIP) == once
