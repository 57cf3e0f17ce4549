"""What an output has left out beyond dead branches, each a claim that must be justified."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Claim:
    """A name that upstream binds (under the facts) and the output does not.

    ``name`` is ``f`` or ``Class.f``. ``kind``: function, class, variable, import, member, field
    (an annotated member); note: an annotation of a module without a value; export: still bound, but no
    longer in ``__all__``.
    """

    path: str
    module: str
    name: str
    line: int
    kind: str
    outside: bool = False  # an import of something that is not in the tree
    still: bool = False  # the module binds the name elsewhere too
    star: bool = False  # what ``import *`` brought there, if nothing below it binds the name for sure
    dropped: bool = False  # an import of a symbol that a drop rule takes, itself or with its module
    function: bool = False  # a member that is a method
    entry: bool = False  # a definition that went with the entry of a table which it was registered as
    handed: str = ""  # of a method: the decorator of an outside package that takes it, and may call it by no name
    above: tuple[str, ...] = ()  # of a member: the bases of its class from outside the tree, dotted
    bases: tuple[tuple[str, str], ...] = ()  # of a class: those from the tree, at any distance: module, name


@dataclass(slots=True)
class FileResult:
    """What one compared file gives back to the whole."""

    path: str
    problems: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    lost: list[tuple[str, str, int]] = field(default_factory=list)  # removed import: target, symbol, line
    entries: int = 0  # table entries and enum members gone by a drop rule
    statements: int = 0  # canonical statements compared
    unread: list[tuple[str, str, str, int]] = field(default_factory=list)  # module, target, symbol, line
    eager: list[tuple[str, str, str, int]] = field(default_factory=list)  # the same, of every import of a body
    inner: list[tuple[str, str, str, int, tuple[int, int]]] = field(
        default_factory=list
    )  # of functions, with their lines
