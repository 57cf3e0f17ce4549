"""Every ``if``/``elif``/``else`` chain of up to four arms, every truth of every test, in every position.

The chains are functions of one module, so each layout costs one run. Both versions are called
with every combination of the run-time tests and must do the same; dead arms must be gone with
their comments, live ones must keep theirs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from tests.engine.program import Pruned, prune

HEAD = "from plat import is_cuda, is_hip\n\n\ndef note(out, value, answer=True):\n    out.append(value)\n    return answer\n\n\n"
TESTS = {
    "T": "is_cuda()",
    "F": "is_hip()",
    "N": "not is_cuda()",
    "R": "r[{k}]",
    "A": "r[{k}] and is_cuda()",
    "O": "is_hip() or r[{k}]",
    "E": 'note(out, "e{i}") and is_hip()',
    "Y": 'note(out, "y{i}", False) or is_cuda()',
}
Chain = tuple[str, bool]  # kinds of the tests, and whether there is an else


def chains(kinds: str, longest: int) -> Iterator[Chain]:
    """All chains over these kinds of tests."""
    for length in range(1, longest + 1):
        for tests in itertools.product(kinds, repeat=length):
            for other in (False, True):
                yield "".join(tests), other


def head(index: int, kind: str, k: int) -> str:
    """The header of one arm."""
    return ("if " if index == 0 else "elif ") + TESTS[kind].format(i=index, k=k) + ":"


def plain(chain: Chain, body: Callable[[int], list[str]]) -> list[str]:
    """The chain as lines, one suite line each, a comment in every arm."""
    tests, other = chain
    lines, k = [], 0
    for index, kind in enumerate(tests):
        lines.append(head(index, kind, k))
        k += kind in "RAO"
        lines += [f"    # in {index}", *("    " + line for line in body(index))]
    if other:
        lines += ["else:", "    # in else", *("    " + line for line in body(len(tests)))]
    return lines


def append(index: int) -> list[str]:
    return [f"out.append({index})"]


def leave(index: int) -> list[str]:
    return [f"return out + [{index}]"] if index % 2 == 0 else [f"out.append({index})"]


def always_leave(index: int) -> list[str]:
    return [f"return out + [{index}]"]


def several(index: int) -> list[str]:
    """Multi-line statements, strings with lines of their own, a trailing comment."""
    return [
        f"out.append(  # call {index}",
        f"    {index},",
        ")",
        'text = """',
        'not moved"""',
        f"out.append(text)  # after {index}",
        f"# last in {index}",
    ]


def empties(index: int) -> list[str]:
    """A body that folding may empty."""
    return ["if is_hip():", f"    out.append({index})"]


def one_line(chain: Chain, body: Callable[[int], list[str]]) -> list[str]:
    tests, other = chain
    lines, k = [], 0
    for index, kind in enumerate(tests):
        lines.append(f"{head(index, kind, k)} out.append({index}); out.append('x')")
        k += kind in "RAO"
    return lines + ([f"else: out.append({len(tests)})"] if other else [])


def airy(chain: Chain, body: Callable[[int], list[str]]) -> list[str]:
    """Comments and blank lines between the arms, comments behind headers, tests over several lines."""
    tests, other = chain
    lines, k = [], 0
    for index, kind in enumerate(tests):
        test = TESTS[kind].format(i=index, k=k)
        k += kind in "RAO"
        lines += [
            "",
            f"# before {index}",
            f"{'if' if index == 0 else 'elif'} (  # open",
            f"    {test}",
            f"):  # header {index}",
        ]
        lines += [f"    # in {index}", "", *("    " + line for line in body(index)), "", f"    # end of {index}"]
    if other:
        lines += [
            "# before else",
            "else:  # header else",
            "    # in else",
            *("    " + line for line in body(len(tests))),
        ]
    return [*lines, "# behind"]


def tabs(chain: Chain, body: Callable[[int], list[str]]) -> list[str]:
    return [line.replace("    ", "\t") for line in plain(chain, body)]


def else_if(chain: Chain, body: Callable[[int], list[str]]) -> list[str]:
    """``else:`` with an ``if`` inside instead of ``elif``."""
    tests, other = chain
    lines, k = [], 0
    for index, kind in enumerate(tests):
        pad = "    " * index
        lines.append(pad + "if " + TESTS[kind].format(i=index, k=k) + ":")
        k += kind in "RAO"
        lines += [f"{pad}    # in {index}", *(pad + "    " + line for line in body(index))]
        if other or index + 1 < len(tests):
            lines += [pad + "else:"]
            if index + 1 == len(tests):
                lines += [pad + "    # in else", *(pad + "    " + line for line in body(len(tests)))]
    return lines


Layout = Callable[[Chain, Callable[[int], list[str]]], list[str]]
AROUND: dict[str, tuple[list[str], int, list[str]]] = {
    "function": ([], 0, []),
    "if": (["if r[-1]:"], 1, []),
    "else": (["if r[-1]:", "    out.append('i')", "else:"], 1, []),
    "for": (["for n in (1, 2):"], 1, ["else:", "    out.append('e')"]),
    "while": (["while len(out) < 3:", "    out.append('w')"], 1, []),
    "try": (
        ["try:"],
        1,
        ["except KeyError:", "    out.append('k')", "else:", "    out.append('n')", "finally:", "    out.append('f')"],
    ),
    "handler": (["try:", "    raise KeyError", "except KeyError:"], 1, []),
    "finally": (["try:", "    out.append('t')", "finally:"], 1, []),
    "with": (["with open('/dev/null') as handle:"], 1, []),
    "class": (["class Local:"], 1, []),
    "inner": (["def inner():"], 1, ["out.append(inner())"]),
    "folded": (["if is_cuda():"], 1, ["else:", "    out.append('dead')"]),
    "match": (["match len(out):", "    case 0:"], 2, ["    case _:", "        out.append('m')"]),
}


def program(found: list[Chain], layout: Layout, body: Callable[[int], list[str]], around: str = "function") -> str:
    """One module with a function per chain."""
    before, depth, after = AROUND[around]
    text = HEAD
    for number, chain in enumerate(found):
        lines = [*before, *("    " * depth + line if line else "" for line in layout(chain, body)), *after]
        shifted = ["    " + line if line and line != 'not moved"""' else line for line in lines]
        text += f"def f{number}(r, out):\n    # above\n" + "\n".join(shifted) + "\n    # below\n    return out\n\n\n"
    return text


def compare(pruned: Pruned, found: list[Chain]) -> None:
    """Call both versions with every combination of run-time tests."""
    spaces = []
    for files in (pruned.before, pruned.files):
        space: dict[str, object] = {}
        source = files["app.py"].decode()
        for line in ("from plat import is_cuda, is_hip\n", "from plat import is_cuda\n", "from plat import is_hip\n"):
            source = source.replace(line, "")
        exec(compile(source, "app.py", "exec"), space)
        spaces.append(space)
    spaces[0].update(is_cuda=lambda: True, is_hip=lambda: False)
    for number, (tests, _) in enumerate(found):
        wide = sum(t in "RAO" for t in tests) + 1
        for bits in itertools.product((False, True), repeat=wide):
            before, after = (s[f"f{number}"](list(bits), []) for s in spaces)  # type: ignore[operator]
            assert after == before, f"{tests} {bits}\n{function(pruned, number)}"


def function(pruned: Pruned, number: int) -> str:
    """Text of one output function."""
    return pruned["app.py"].split(f"def f{number}(r, out):")[1].split("\n\n\n")[0]


def live_arms(tests: str, other: bool) -> list[int]:
    """Arms that some run-time values reach, the else included."""
    arms = []
    for index, kind in enumerate(tests):
        if kind in "TRAOY":
            arms.append(index)
        if kind in "TY":
            return arms
    return [*arms, len(tests)] if other else arms


BODIES = [append, leave, always_leave, several, empties]


@pytest.mark.parametrize("around", AROUND)
def test_every_position(around: str) -> None:
    found = list(chains("TFR", 3 if around != "function" else 4))
    compare(prune({"app.py": program(found, plain, append, around)}), found)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("layout", [plain, airy, tabs, else_if])
def test_every_layout(layout: Layout, body: Callable[[int], list[str]]) -> None:
    found = list(chains("TFR", 3))
    text = program(found, layout, body)
    if layout is tabs:
        text = text.replace("    ", "\t")
    compare(prune({"app.py": text}), found)


def test_arms_on_one_line() -> None:
    found = list(chains("TFR", 3))
    compare(prune({"app.py": program(found, one_line, append)}), found)


@pytest.mark.parametrize("layout", [plain, airy, else_if])
def test_partly_decided_tests(layout: Layout) -> None:
    found = list(chains("TNAO", 3))
    compare(prune({"app.py": program(found, layout, append)}), found)


@pytest.mark.parametrize("layout", [plain, airy, else_if])
def test_tests_with_effects(layout: Layout) -> None:
    found = list(chains("TFREY", 3 if layout is plain else 2))
    compare(prune({"app.py": program(found, layout, append)}), found)


@pytest.mark.parametrize("layout", [plain, airy])
def test_chains_in_chains(layout: Layout) -> None:
    """A chain of up to two arms in each arm of a chain of up to two."""
    inner = list(chains("TFR", 2))
    for seat in range(3):
        found: list[Chain] = []
        text = HEAD
        for outer in chains("TFR", 2):
            if seat >= len(outer[0]) + outer[1]:
                continue
            for small in inner:
                body = lambda index, small=small: (  # noqa: E731
                    [line.replace("r[", "r[2 + ") for line in plain(small, lambda n: [f"out.append('i{n}')"])]
                    if index == seat  # noqa: B023
                    else append(index)
                )
                lines = layout(outer, body)
                text += (
                    f"def f{len(found)}(r, out):\n"
                    + "\n".join("    " + x if x else x for x in lines)
                    + "\n    return out\n\n\n"
                )
                found.append(("RRR", False))  # four bits: two of the outer chain, two of the inner one
        compare(prune({"app.py": text}), found)


def test_dead_arms_go_and_live_ones_keep_their_comments() -> None:
    found = list(chains("TFR", 4))
    pruned = prune({"app.py": program(found, plain, append)})
    for number, (tests, other) in enumerate(found):
        text = function(pruned, number)
        assert "is_" not in text and "True" not in text and "False" not in text, text
        arms = live_arms(tests, other)
        for index in range(len(tests) + other):
            name = "else" if index == len(tests) else str(index)
            assert (f"out.append({index})" in text) == (index in arms), (tests, other, text)
            assert (f"# in {name}\n" in text) == (index in arms), (tests, other, text)
        assert "    # above\n" in text and "    # below\n" in text
        lines = text.splitlines()
        for at, line in enumerate(lines):
            if "# in" in line:  # the comment moves with the statement that it speaks of
                assert len(line) - len(line.lstrip()) == len(lines[at + 1]) - len(lines[at + 1].lstrip()), text
