"""Stores of one file that no assignment to a name shows.

``flags.__dict__["A"] = True``, ``globals().update(row)``, ``setattr(import_module("pkg.flags"), name, v)``, ``put(flags)``
with ``def put(x): x.A = True``, ``mock.patch("pkg.flags.A", True)``. Which modules they may reach is for :mod:`pruner.graph.overwritten` to say.

Blind to stores that outside code makes.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from pruner.model.ir import Expr, constants

_TOKENS = (
    b"setattr",
    b"delattr",
    b"__dict__",
    b"\x04vars",
    b"\x07globals",
    b"\x06locals",
    b"\x04exec",
    b"\x05.exec",
    b".patch",
    b"\x05patch",
)
_SETTING = {
    "setattr": 1,
    "delattr": 1,
    "__setattr__": 0,
    "__delattr__": 0,
    "setitem": 1,
    "__setitem__": 0,
}  # where the name stands
_FILLING = frozenset(["update", "setdefault", "pop", "__ior__", "object", "dict", "multiple", "patch"])
_OWN = frozenset(["globals", "vars", "locals"])
_INSTANCE = ("self", "cls")


@dataclass(slots=True)
class Written:
    """What a file stores without an assignment to the name.

    ``names``: of attributes and keys. ``dotted``: whole paths, as texts. ``into``: chains of which any attribute may be
    stored. ``own``: any name of the module itself may be. ``vague``: any attribute of something that nobody knows, by the
    function around the place and the definition of the module around that. Each with a place, or all.
    """

    at: int = 0  # the statement that is read
    inside: str = ""  # the function around it
    top: str = ""  # the definition of the module around that

    names: dict[str, list[int]] = field(default_factory=dict)
    dotted: dict[str, list[int]] = field(default_factory=dict)
    into: dict[tuple[str, tuple[str, ...]], int] = field(default_factory=dict)
    seen: dict[tuple[str, tuple[str, ...]], int] = field(default_factory=dict)  # chains whose dictionary is an object
    own: int = 0
    vague: dict[tuple[str, str], int] = field(default_factory=dict)
    mirror: bool = False


def looks(lowered: bytes) -> bool:
    """Can a file of this lowered form hold such a store, but for an attribute of an object?"""
    return any(token in lowered for token in _TOKENS)


def read(body: Any) -> Written:
    """The stores of a lowered module."""
    out = Written()
    stack: list[tuple[Any, int, str, str]] = [(body, 0, "", "")]
    computed = False
    while stack:
        item, out.at, out.inside, out.top = stack.pop()
        if item.__class__ is not tuple or not item:
            continue
        tag = item[0]
        if len(item) > 2 and tag.__class__ is str and item[1].__class__ is int:
            out.at = item[1]
            if tag in ("def", "class"):
                out.inside, out.top = item[3], out.top or item[3]
        if tag == "s" and len(item) == 2 and item[1].__class__ is tuple:
            computed |= _target(item[1], out)
        elif tag == "k" and len(item) == 4:
            computed |= _call(item[1], item[2], item[3], out)
        elif tag in ("n", "v", "x", "b") and len(item) == 3 and item[2].__class__ is tuple:
            if item[2]:
                _chain(item, out)
        elif tag in ("import", "from"):
            continue
        elif tag == "o" and len(item) == 2 and item[1][1:] == (("n", "__name__", ()),):
            out.mirror = True  # sys.modules[__name__].__dict__["A"] = True
        stack += [(part, out.at, out.inside, out.top) for part in item if part.__class__ is tuple]
    if computed and out.mirror:
        out.own = out.own or 1  # g = globals(); g[name] = value
    if computed:
        out.into = {**out.seen, **out.into}  # d = vars(flags); d[name] = value
    return out


def _target(e: Expr, out: Written) -> bool:
    """One store into a part; True when what is stored into a dictionary is computed."""
    if e[0] == "o":
        base = e[1][0] if e[1] else e
        return _into(base, out)
    if e[0] not in ("n", "v", "x", "b") or not e[2]:
        return False
    last = e[2][-1]
    if last[0] == "[":
        key = constants(last)[0]
        if isinstance(key, str) and key.isidentifier():
            out.names.setdefault(key, []).append(out.at)
    return False


def _into(base: Expr, out: Written) -> bool:
    """A store under a computed name into what an expression gives."""
    inner = base[1] if base[0] == "x" else base
    if inner[0] == "k" and inner[1] == ("n", "vars", ()) and inner[2]:  # vars(flags)[name] = value
        _whole(inner[2][0], out)
        return False
    if base[0] not in ("n", "v", "x", "b"):
        return False
    path = base[2]
    if base[0] in ("n", "v") and base[1] in _INSTANCE and path[:1] in ((), (".__dict__",)):
        return False
    if base[0] == "n" and base[1] in _OWN and path[:1] == ("()",):
        out.own = out.own or out.at
        return False
    if ".__dict__" in path:
        if base[0] in ("n", "v"):
            out.into.setdefault((base[1], path[: path.index(".__dict__")]), out.at)
        out.vague.setdefault((out.inside, out.top), out.at)
    elif base[0] in ("n", "v") and not path:
        return True  # g[name] = value
    return False


def _call(func: Expr, args: tuple[Expr, ...], kwargs: Any, out: Written) -> bool:
    if func[0] not in ("n", "v", "x", "b"):
        return False
    last = func[2][-1].lstrip(".") if func[2] else func[1] if func[0] != "x" else ""
    if not isinstance(last, str):
        return False
    if last == "exec":
        out.own = out.own or out.at
        for argument in args[1:]:
            _whole(argument, out)
        _texts(args[:1], out)
    if func == ("n", "vars", ()):
        out.seen.update({(e[1], e[2]): out.at for e in args if e[0] in ("n", "v")})
    if last in _SETTING:
        _texts(args, out)
        where = _SETTING[last]
        if func[2] and where and func[2][-1] == f".{last}" and len(args) < 3 and last == "setattr":
            where = 0  # monkeypatch.setattr("pkg.mod.NAME", value)
        if func[0] != "n" or func[2]:
            where = 1 if len(args) == 3 else where  # object.__setattr__(x, name, value)
        if len(args) > where and args[where][0] != "c":
            receiver = args[0] if where else (*func[:2], func[2][:-1]) if func[0] != "x" else func
            _whole(receiver, out)
    elif last in _FILLING:
        _texts(args, out)
        for key, _ in kwargs:
            out.names.setdefault(key or "", []).append(out.at)
        base = (*func[:2], func[2][:-1])
        if last not in ("object", "patch", "multiple") and func[2] and not all(a[0] in ("c", "d") for a in args):
            return _into(base, out)
    return False


def _whole(receiver: Expr, out: Written) -> None:
    """Any attribute of the receiver may be stored."""
    if receiver[0] in ("n", "v"):
        if receiver[1] in _INSTANCE and not receiver[2]:
            return
        if receiver[1] in _OWN and receiver[2][:1] == ("()",):
            out.own = out.own or out.at
        path = receiver[2]
        cut = path.index(".__dict__") if ".__dict__" in path else len(path)
        out.into.setdefault((receiver[1], path[:cut]), out.at)
    out.vague.setdefault((out.inside, out.top), out.at)


def _chain(e: Expr, out: Written) -> None:
    """Calls with constant arguments, and ``globals()`` as an object."""
    path = e[2]
    if e[0] == "n" and e[1] in _OWN and path[0] == "()" and len(path) < 2:
        out.mirror = True
    if path[-1] == ".__dict__" and e[0] in ("n", "v"):
        out.seen[e[1], path[:-1]] = out.at
    names = (e[1] if e[0] != "x" else "", *path)
    for before, step in pairwise(names):
        if step[0] != "(" or before.lstrip(".") not in (*_SETTING, *_FILLING, "exec"):
            continue
        if before.lstrip(".") == "exec":
            out.own = out.own or out.at
        _texts(tuple(("c", c) for c in constants(step)), out)


def handed(body: Any, functions: Collection[str]) -> list[tuple[str, Expr]]:
    """(function, chain) of what calls of functions of these names are given, below a lowered part."""
    found, stack = [], [body]
    while stack:
        item = stack.pop()
        if item.__class__ is not tuple or not item:
            continue
        if item[0] == "k" and len(item) == 4 and item[1][0] in ("n", "v", "x", "b"):
            func = item[1]
            name = func[2][-1].lstrip(".") if func[2] else func[1]
            if name in functions:
                given = [*item[2], *(value for _, value in item[3])]
                found += [(name, e) for e in given if e[0] in ("n", "v")]
        stack += item
    return found


def _texts(args: Any, out: Written) -> None:
    """Names that texts among the arguments hold: one name, a dotted path, code that is run."""
    for argument in args:
        if argument[0] == "c" and isinstance(argument[1], str):
            if re.fullmatch(r"\w+(\.\w+)+", argument[1]):
                out.dotted.setdefault(argument[1], []).append(out.at)
            else:
                for word in re.findall(r"\w+", argument[1]):
                    out.names.setdefault(word, []).append(out.at)
        elif argument[0] == "d":
            _texts([key for key, _ in argument[1] if key is not None], out)
