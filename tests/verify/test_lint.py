"""The lint check: a name bound twice is a fault, a function's own import of a module-level name is not."""

from __future__ import annotations

import pytest

from pruner.verify.lint import explained

HARMLESS = """\
from env import flags
import other


def run():
    from env import (
        flags,
    )

    return flags
"""
TWICE = """\
def one():
    return 1


def one():
    return 2


class Both:
    def one(self):
        return 1

    def one(self):
        return 2


from env import flags
from env import flags
"""


@pytest.mark.parametrize("line", [6, 7, 8])
def test_an_import_in_a_function_is_its_own_scope(line: int) -> None:
    assert explained("F811", "Redefinition of unused `flags`", HARMLESS.encode(), line)


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [(HARMLESS, 1, "flags"), (HARMLESS, 10, "flags"), (TWICE, 5, "one"), (TWICE, 13, "one"), (TWICE, 18, "flags")],
)
def test_a_definition_or_a_module_level_import_is_not(text: str, line: int, name: str) -> None:
    assert not explained("F811", f"Redefinition of unused `{name}`", text.encode(), line)


LOCAL = """\
from env import flags


def run():
    flags = lambda: 0
    return flags()


class Own:
    flags = staticmethod(lambda: 0)

    def flags(self):
        return 0


def twice():
    def flags():
        return 1

    def flags():
        return 2

    return flags


flags = 1
"""


@pytest.mark.parametrize(
    ("line", "harmless"), [(5, True), (10, True), (12, False), (17, True), (20, False), (26, False)]
)
def test_another_scope_redefines_nothing(line: int, harmless: bool) -> None:
    assert explained("F811", "Redefinition of unused `flags`", LOCAL.encode(), line) is harmless


DELETED = """\
def f(b):
    a = 1
    del a, b
    print(a, b)

    def g():
        return a

    return g


def h(a):
    return a + b


def m():
    del a
"""


@pytest.mark.parametrize(
    ("line", "name", "harmless"), [(4, "a", True), (4, "b", True), (7, "a", True), (13, "b", False), (17, "a", False)]
)
def test_a_name_that_a_statement_deletes(line: int, name: str, harmless: bool) -> None:
    assert explained("F821", f"Undefined name `{name}`", DELETED.encode(), line) is harmless
