"""Canonical forms keep the meaning: checked by evaluating both under every assignment.

The folder may only be wrong by knowing too little. Each expression is evaluated by Python, and its
canonical term by the small interpreter below; in value position the two must be the same object
kind and value, in truth position they must have the same truth, and the same calls must have run.
"""

from __future__ import annotations

import ast
import functools
import itertools
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pruner.verify.canon import Canon
from pruner.verify.effects import Effects
from pruner.verify.rules import Stated
from pruner.verify.scopes import Scope
from pruner.verify.tree import Tree
from pruner.verify.world import World

VALUES = (True, False, None, 0, 2, "", "x")

atoms = st.sampled_from(
    ["a", "b", "is_hip()", "is_cuda()", "arch()", "go(a)", "True", "False", "None", "0", "'x'", "-1"]
)


SHAPES = (
    "(not {0})",
    "bool({0})",
    "({0} and {1})",
    "({0} or {1})",
    "({0} and {1} and {2})",
    "({0} or {1} or {2})",
    "({0} if {1} else {2})",
    "({0} is {1})",
    "({0} == {1})",
    "({0} in ('cuda', 'x', None))",
    "f'v={{{0}}}'",
)


def _shape(row: tuple[str, str, str, str]) -> str:
    shape, *parts = row
    if shape.startswith("f'") and "'" in parts[0]:
        return parts[0]  # before 3.12 a field cannot hold the quote of its own string
    return shape.format(*parts)


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(st.sampled_from(SHAPES), inner, inner, inner).map(_shape)


expressions = st.recursive(atoms, _grow, max_leaves=8)


@functools.cache
def _canon(folder: Path) -> tuple[Canon, Scope]:
    (folder / "plat.py").write_text("def is_hip(): ...\ndef is_cuda(): ...\ndef arch(): ...\n", "utf-8")
    (folder / "app.py").write_text("from plat import arch, is_cuda, is_hip\n", "utf-8")
    stated = Stated(facts={"plat.is_hip()": (False,), "plat.is_cuda()": (True,), "plat.arch()": ("x", "y")})
    effects = Effects(World(Tree(folder), stated))
    scope = Scope("function", "app", effects.module_scope("app"), None, {"a", "b", "go"})
    return Canon(effects), scope


class _Machine:
    """Evaluates terms; ``log`` is the order of effects."""

    def __init__(self, names: dict[str, Any], arch: str) -> None:
        self.names = names
        self.arch = arch
        self.log: list[object] = []

    def go(self, value: Any) -> Any:
        self.log.append(value)
        return value

    def space(self) -> dict[str, Any]:
        return {
            **self.names,
            "go": self.go,
            "is_hip": lambda: False,
            "is_cuda": lambda: True,
            "arch": lambda: self.arch,
        }

    def run(self, term: Any, truth: bool) -> Any:
        kind = term[0]
        if kind == "=":
            value = ast.literal_eval(term[2])
            return sys.intern(value) if isinstance(value, str) else value  # as the compiler does for ``is``
        if kind == "Name":
            return self.space()[term[1]]
        if kind in ("And", "Or"):
            value = None
            for item in term[1:]:
                value = self.run(item, truth)
                if bool(value) == (kind == "Or"):
                    break
            return value
        if kind == "Not":
            return not self.run(term[1], True)
        if kind == "Known":
            self.run(term[2], True)
            return term[1]
        if kind == "IfExp":
            return self.run(term[2] if self.run(term[1], True) else term[3], truth)
        if kind == "Call":
            if term[1] == ("Name", "bool"):
                return bool(self.run(term[2][0], True))
            return self.space()[term[1][1]](*(self.run(item, False) for item in term[2]))
        if kind == "Compare":
            left, right = self.run(term[1], False), self.run(term[3][0], False)
            name = term[2][0][0]
            return left is right if name == "Is" else left == right if name == "Eq" else left in right
        if kind == "Tuple":
            return tuple(self.run(item, False) for item in term[1:])
        if kind == "UnaryOp":
            return -self.run(term[2], False)
        if kind == "JoinedStr":
            parts = [p if isinstance(p, str) else str(self.run(p[1], False)) for p in term[1:]]
            return "".join(parts)
        raise AssertionError(f"no meaning for {term!r}")


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@settings(max_examples=150, deadline=None)
@given(expressions)
def test_canonical_form_means_the_same(tmp_path_factory: Any, text: str) -> None:
    canon, scope = _canon(tmp_path_factory.getbasetemp())
    node = ast.parse(text, mode="eval").body
    value, truth = canon.value(node, scope), canon.test(node, scope)
    for a, b, arch in itertools.product(VALUES, VALUES[:4], ("x", "y")):
        real = _Machine({"a": a, "b": b}, arch)
        expected = eval(compile(ast.Expression(node), "e", "eval"), real.space())
        ours = _Machine({"a": a, "b": b}, arch)
        got = ours.run(value, False)
        assert (type(got), got) == (type(expected), expected), (text, value)
        assert ours.log == real.log, (text, value)
        ours = _Machine({"a": a, "b": b}, arch)
        assert bool(ours.run(truth, True)) == bool(expected), (text, truth)
        assert ours.log == real.log, (text, truth)
