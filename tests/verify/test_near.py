"""Parts of a tree that are near a word of its text: all that a walk of the whole tree finds by the word, and less else."""

from __future__ import annotations

import ast

import pytest

from pruner.verify.near import holds, lines_of, near
from pruner.verify.nodes import walk

WORD = b"word"
PLACES = [
    "word = 1\n",
    "if a:\n    b()\nelif word:\n    c()\nelse:\n    d()\n",
    "def f(x=word):\n    return x\n",
    "def f():\n    def g():\n        return [\n            1,\n            word,\n        ]\n",
    "@deco(\n    word\n)\nclass C:\n    x = 1\n",
    "class C(\n    word,\n):\n    x: int = 1\n",
    "class C:\n    @word\n    def f(self):\n        pass\n",
    "try:\n    a()\nexcept word as e:\n    b()\nelse:\n    c()\nfinally:\n    d()\n",
    "try:\n    a()\nexcept E:\n    b()\nfinally:\n    with x as word:\n        pass\n",
    "match a:\n    case 1 if word:\n        b()\n    case word:\n        c()\n",
    "match a:\n    case [1, *_]:\n        word()\n",
    'x = f"""\n{a}\n{word}\n"""\n',
    "x = lambda: (\n    word\n)\n",
    "a(); b = \\\n    word; c()\n",
    "for i in (\n    word,\n):\n    pass\nelse:\n    a()\n",
    "while a:\n    for word in b:\n        pass\n",
]
ELSEWHERE = "def before():\n    alone()\n\n\n", "\n\ndef behind():\n    return alone()\n"


def _named(nodes: object) -> list[str]:
    return sorted(ast.dump(n) for n in nodes if isinstance(n, ast.Name) and n.id == WORD.decode())  # type: ignore[attr-defined]


@pytest.mark.parametrize("place", PLACES)
def test_all_that_has_the_word(place: str) -> None:
    text = place.join(ELSEWHERE)
    tree = ast.parse(text)
    found = list(near(tree, lines_of(text.encode(), (WORD,))))
    assert _named(found) == _named(walk(tree)) != []
    assert not any(isinstance(n, ast.Name) and n.id == "alone" for n in found)
    assert len({id(n) for n in found}) == len(found)


@pytest.mark.parametrize(
    "text",
    [
        b"# -*- coding: utf-7 -*-\nalone()\n+AHc-ord()\n",
        "\u00e9 = 1\nalone()\n\uff57ord()\n".encode(),  # the first letter in full width
        b"alone()\rword()\n",
        b"alone()\r\nword()\r\n",
    ],
)
def test_all_where_the_text_does_not_tell(text: bytes) -> None:
    tree = ast.parse(text)
    found = list(near(tree, lines_of(text, (WORD,))))
    assert len(found) == len(list(walk(tree)))
    assert len(_named(found)) == 1


@pytest.mark.parametrize("char", ["\u2192", "\u00e9", "\uff0c", "\u4e2d", "\u00b2", "\u2116", "e\u0301"])
def test_other_letters_that_are_no_ascii_ones(char: str) -> None:
    text = f"# {char}\n\n\ndef f():\n    import a\n".encode()
    assert lines_of(text, (b"import", b"global")) == [5]


@pytest.mark.parametrize("char", ["\uff57", "\u212a", "\ufb01", "\uff11", "\U0001d430"])
def test_letters_that_are_ascii_ones_in_a_name(char: str) -> None:
    assert lines_of(f"# {char}\n".encode(), (b"import",)) is None
    assert lines_of("\u00e9 = 1\n".encode(), ("\u00e9".encode(),)) is None  # may be written as two letters


@pytest.mark.parametrize("text", ["word", "a.word(x)", "(word", "swords word", "f'{word}'", "\u00e9word"])
def test_a_whole_word(text: str) -> None:
    assert holds(text.encode(), WORD)


@pytest.mark.parametrize("text", ["", "words", "sword", "_word", "word_", "wor d", "word1 1word"])
def test_no_whole_word(text: str) -> None:
    assert not holds(text.encode(), WORD)


def test_nothing_where_no_word_is() -> None:
    assert not list(near(ast.parse("x = 1\n"), lines_of(b"x = 1\n", (WORD,))))
