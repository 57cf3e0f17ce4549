"""Equal canonical suites behave the same: random programs, each against an edited copy of itself.

The edits are right ones (a fact written out, a decided branch spliced) and wrong ones (a branch
swapped, a statement lost, a test negated). Whenever the verifier would call the two equal, running
both under every assignment must give the same result and the same order of effects.
"""

from __future__ import annotations

import ast
import functools
import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pruner.verify.canon import Canon
from pruner.verify.effects import Effects
from pruner.verify.names import resolver
from pruner.verify.rules import Stated
from pruner.verify.scopes import Scope, function_scope
from pruner.verify.suites import Suites
from pruner.verify.tree import Tree
from pruner.verify.world import World

TESTS = (
    "a",
    "b",
    "is_hip()",
    "is_cuda()",
    "go(1)",
    "not is_hip()",
    "a and is_cuda()",
    "go(2) and is_hip()",
    "a or is_hip()",
    "n",
    "not n and a",
)
STARTS = ("[]", "is_hip()", "go(2) and is_hip()", "a", "2 if is_cuda() else []", "(is_hip() or [])")
LOOPS = ("is_hip()", "go(1) and is_hip()", "go(3)", "go(2) and not is_hip()")
Program = list[Any]

leaf = st.one_of(
    st.integers(1, 4).map(lambda n: ("do", n)),
    st.just(("return", "a")),
    st.just(("return", "n")),
    st.just(("fill",)),
    st.just(("return", "is_cuda()")),
    st.sampled_from(["is_cuda()", "not is_hip()", "a", "go(3) or is_cuda()", "b and is_cuda()"]).map(
        lambda t: ("assert", t)
    ),
    st.just(("break",)),
    st.just(("continue",)),
    st.just(("pass",)),
)


def _grow(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    suite = st.lists(inner, min_size=1, max_size=3)
    test = st.sampled_from(TESTS)
    return st.one_of(
        st.tuples(st.just("if"), test, suite, st.one_of(st.just([]), suite)),
        st.tuples(st.just("for"), st.just("(1, 2)"), suite, st.one_of(st.just([]), suite)),
        st.tuples(st.just("while"), st.sampled_from(LOOPS), suite, st.one_of(st.just([]), suite)),
        st.tuples(st.just("try"), suite, suite, st.one_of(st.just([]), suite)),
    )


programs = st.lists(st.recursive(leaf, _grow, max_leaves=6), min_size=1, max_size=4)


def _lines(suite: Program, depth: int, looped: bool) -> list[str]:
    pad = "    " * depth
    found: list[str] = []
    for node in suite:
        kind = node[0]
        if kind == "do":
            found.append(f"{pad}go({node[1]})")
        elif kind == "return":
            found.append(f"{pad}return {node[1]}")
        elif kind == "if":
            found += [f"{pad}if {node[1]}:", *_lines(node[2], depth + 1, looped)]
            if node[3]:
                found += [f"{pad}else:", *_lines(node[3], depth + 1, looped)]
        elif kind == "fill":
            found.append(f"{pad}n.append(1)")
        elif kind == "assert":
            found.append(f"{pad}assert {node[1]}")
        elif kind in ("for", "while"):
            head = f"for _ in {node[1]}" if kind == "for" else f"while {node[1]}"
            found += [f"{pad}{head}:", *_lines(node[2], depth + 1, True)]
            if node[3]:
                found += [f"{pad}else:", *_lines(node[3], depth + 1, looped)]
        elif kind == "try":
            found += [f"{pad}try:", *_lines(node[1], depth + 1, looped)]
            found += [f"{pad}except ValueError:", *_lines(node[2], depth + 1, looped)]
            if node[3]:
                found += [f"{pad}finally:", *_lines(node[3], depth + 1, looped)]
        else:
            found.append(pad + (kind if looped else "pass"))
    return found or [f"{pad}pass"]


def _edit(suite: Program, steps: list[int]) -> Program:
    """One edit at a place that ``steps`` choose."""
    if not suite or not steps:
        return suite
    index, rest = steps[0] % len(suite), steps[1:]
    node, kind = suite[index], suite[index][0]
    choice = rest[0] % 6 if rest else 0
    deeper = [place for place, part in enumerate(node) if isinstance(part, list) and part]
    if deeper and choice > 2:
        place = deeper[choice % len(deeper)]
        changed = (*node[:place], _edit(node[place], rest[1:]), *node[place + 1 :])
        return [*suite[:index], changed, *suite[index + 1 :]]
    if kind == "if" and choice == 0:
        test = node[1].replace("is_hip()", "False").replace("is_cuda()", "True")
        return [*suite[:index], (kind, test, *node[2:]), *suite[index + 1 :]]
    if kind == "if" and choice == 1:
        return [*suite[:index], *(node[2] if "cuda" in node[1] else node[3]), *suite[index + 1 :]]
    if kind == "if" and choice == 2:
        return [*suite[:index], (kind, f"not ({node[1]})", node[3] or [("pass",)], node[2]), *suite[index + 1 :]]
    return [*suite[:index], *suite[index + 1 :]]


@functools.cache
def _suites(folder: Path) -> tuple[Suites, Effects]:
    (folder / "plat.py").write_text("def is_hip(): ...\ndef is_cuda(): ...\n", "utf-8")
    (folder / "app.py").write_text("from plat import is_cuda, is_hip\n", "utf-8")
    effects = Effects(World(Tree(folder), Stated(facts={"plat.is_hip()": (False,), "plat.is_cuda()": (True,)})))
    return Suites(Canon(effects)), effects


def _behaviour(source: str) -> list[Any]:
    found = []
    for a, b, answer in itertools.product((0, "x"), (0, 1), (False, True)):
        log: list[int] = []

        def go(value: int, log: list[int] = log, answer: bool = answer) -> bool:
            log.append(value)
            if len(log) > 40 or (value == 4 and answer):
                raise ValueError
            return answer

        space: dict[str, Any] = {"go": go, "is_hip": lambda: False, "is_cuda": lambda: True}
        exec(compile(source, "p", "exec"), space)
        try:
            result: Any = space["f"](a, b, go)
        except (ValueError, AssertionError, AttributeError) as error:
            result = type(error).__name__
        found.append((result, log))
    return found


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@settings(max_examples=300, deadline=None)
@given(st.sampled_from(STARTS), programs, st.lists(st.integers(0, 11), min_size=1, max_size=5))
def test_equal_forms_behave_the_same(tmp_path_factory: Any, start: str, program: Program, steps: list[int]) -> None:
    suites, effects = _suites(tmp_path_factory.getbasetemp())
    head = f"def f(a, b, go):\n    n = {start}\n"
    sources = [head + "\n".join(_lines(p, 1, False)) + "\n" for p in (program, _edit(program, steps))]
    forms = []
    twin: Scope | None = None
    for source in sources:
        function = ast.parse(source).body[0]
        assert isinstance(function, ast.FunctionDef)
        scope = function_scope(function, effects.module_scope("app"), resolver("app", False))
        scope.twin, twin = twin, scope
        forms.append([item.signature for item in suites.function(function.body, scope)])
    if forms[0] == forms[1]:
        assert _behaviour(sources[0]) == _behaviour(sources[1]), sources
