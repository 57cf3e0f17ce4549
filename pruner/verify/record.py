"""What is remembered of a kept file; small enough to send between processes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pruner.verify.names import Import

if TYPE_CHECKING:
    from pruner.verify.gifts import Giving

DOTTED = re.compile(r"\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
GETTERS = frozenset({"getattr", "hasattr", "setattr", "delattr"})
REFLECTION = frozenset({"globals", "vars", "locals", "dir", "exec", "eval"})
UNSET = "<computed>"
CALL = "<what this call gives> "
SAME = "<the same attribute of another object>"
PASSED = "<an argument>"  # in the place of the class
NAMED = "<a local of the same name>"
HARD = "<stored by a loop, with, del or an augmented assignment>"


@dataclass(slots=True)
class Survey:
    """What a kept file binds, imports, names and does by name."""

    path: str
    module: str = ""
    parsed: bool = True
    bound: frozenset[str] = frozenset()
    first: dict[str, int] = field(default_factory=dict)  # name -> the line that first gives it a value
    imports: list[Import] = field(default_factory=list)
    stars: tuple[str, ...] = ()
    listed: frozenset[str] | None = None  # a literal __all__
    rebound: frozenset[str] = frozenset()
    identifiers: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()  # names behind a dot
    plain: frozenset[str] = (
        frozenset()
    )  # of anything that no import names, at any depth; of self from the second step on
    members: frozenset[str] = frozenset()  # names that class bodies bind or that are stored on self
    strings: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()  # regular expressions of built identifiers
    chains: dict[str, int] = field(default_factory=dict)  # dotted chain on an imported name or class -> line
    used: set[str] = field(default_factory=set)  # those of them outside comparisons
    loose: dict[str, int] = field(default_factory=dict)  # imported names and classes used as plain values
    stores: list[tuple[str, str, int, Any, str]] = field(default_factory=list)  # chain, attribute, line, value, class
    put: frozenset[tuple[str, str]] = (
        frozenset()
    )  # what is stored, or deleted, in any way: chain or "" for any object, attribute
    gets: list[tuple[int, str, str, bool, str]] = field(default_factory=list)  # line, object, regex, store, method
    loads: list[tuple[int, str, str]] = field(default_factory=list)  # line, module regex, package
    texts: list[tuple[int, str]] = field(default_factory=list)  # line, built text with dots, "\0" for what is not known
    reflects: frozenset[str] = frozenset()
    wrappers: list[str] = field(default_factory=list)  # functions that a loop puts around names of the module
    definers: list[tuple[str, str]] = field(default_factory=list)  # stated member, ``name()`` for a method; its class
    coded: frozenset[str] = frozenset()  # patterns of names in code that is run and was put together; words are strings
    runs: int = 0  # the line of a call of eval or exec
    open: bool = False  # it may be given any code, which runs among the names of this module
    giving: Giving | None = None  # what objects are given, when a fact on an attribute asks for it
    files: list[tuple[int, str]] = field(default_factory=list)  # line, regex of the path of a Python file
    named: list[tuple[int, str]] = field(default_factory=list)  # line, text that a reader of package data gets
    loader: bool = False  # it loads files by path
    protocols: dict[str, tuple[bool, frozenset[str], tuple[str, ...]]] = field(default_factory=dict)
    """Protocol -> whether isinstance may be asked of it, its members, its bases as written."""
    lookups: list[tuple[int, str, str]] = field(default_factory=list)  # modules found by no import: of verify.held
    called: frozenset[str] = frozenset()  # first names of what the body calls while it loads
    walks: list[tuple[int, str]] = field(default_factory=list)  # line, chain before ``.__path__`` or ""
