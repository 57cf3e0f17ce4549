"""Names that code outside the tree asks of an object which it is handed.

``contextlib.closing(x)`` calls ``x.close``, and no line of the tree says ``close``. ``outside.txt`` has the attribute names
that the interpreter, the standard library and the packages of a runtime read of anything but ``self`` and imported modules;
its head says which packages, and ``python -m tests.docs.outside`` makes it. A method of such a name stays where its class
does, once live code imports anything of the group: who imports a package that is not in the list gets the names of all.

Blind to names that no package in the list reads, and to names that packages put together.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from importlib import resources

INTERPRETER, LIBRARY, PACKAGES = "interpreter", "standard library", "packages"

PLAIN = frozenset(
    "__future__ abc builtins collections copy dataclasses enum functools itertools math operator os random re string sys "
    "time types typing typing_extensions".split()
)
"""They ask what they are handed for nothing but what the interpreter asks for."""


def groups(module: str) -> tuple[str, ...]:
    """Whose names count when live code imports this module, which is not of the tree."""
    top = module.partition(".")[0]
    if top in PLAIN:
        return ()
    return (LIBRARY,) if top in sys.stdlib_module_names else (LIBRARY, PACKAGES)


@cache
def _lists() -> dict[str, frozenset[str]]:
    text = resources.files("pruner.model").joinpath("outside.txt").read_text("ascii")
    found: dict[str, frozenset[str]] = {}
    for part in text.split("\n[")[1:]:
        title, _, names = part.partition("]\n")
        found[title] = frozenset(names.split())
    return found


def names(group: str) -> frozenset[str]:
    """The names of one group."""
    return _lists()[group]


def asked(modules: Iterable[str]) -> frozenset[str]:
    """The names that count when these modules outside the tree are imported."""
    found = {INTERPRETER, *(group for module in modules for group in groups(module))}
    return frozenset().union(*(names(group) for group in found))
