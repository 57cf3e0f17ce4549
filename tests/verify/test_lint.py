"""The lint check: a name bound twice is a fault, a function's own import of a module-level name is not."""

from __future__ import annotations

import pytest

from pruner.verify.lint import imports_in_function

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
    assert imports_in_function(HARMLESS.encode(), line)


@pytest.mark.parametrize(("text", "line"), [(HARMLESS, 1), (HARMLESS, 10), (TWICE, 5), (TWICE, 13), (TWICE, 18)])
def test_a_definition_or_a_module_level_import_is_not(text: str, line: int) -> None:
    assert not imports_in_function(text.encode(), line)
