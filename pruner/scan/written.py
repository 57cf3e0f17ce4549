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

from pruner.model.ir import EMPTY, Expr, constants

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
    b"modules",
    b"__globals__",
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
_LOOKING = frozenset(
    "dict list set tuple frozenset sorted len iter print repr str isinstance eval vars type id update items keys get copy deepcopy "
    "get_type_hints get_annotations ChainMap MappingProxyType SimpleNamespace filter enumerate zip any all min max format".split()
)  # fmt: skip
_OWN = frozenset(["globals", "vars", "locals"])
_CHAINS = frozenset("nvxb")
_TAGS = _CHAINS | {"s", "=", "k", "o", "import", "from"}  # of what may store
_INSTANCE = ("self", "cls")
_SELF = ("self", ())
ANY, HOME = ("*", ()), ("", ())
"""Stand for the chain of whatever module the file may come by, and of the file's own."""


Chain = tuple[str, tuple[str, ...]]
Place = tuple[int, str, str]
"""Position, the innermost definition around it, the outermost one."""


@dataclass(slots=True)
class Written:
    """What a file stores without an assignment to the name.

    ``names``: attributes and keys, each with the place and the chain whose attribute it is, None where nothing tells.
    ``dotted``: whole paths, as texts. ``into``: chains of which any attribute may be stored. ``own``: places that may store any
    name of the module itself. ``vague``: places that may store any attribute of something that nobody knows. ``seen``: chains whose dictionary is an object. ``mirror``: the module's own is one.
    """

    place: Place = (0, "", "")  # the statement that is read
    names: dict[str, list[tuple[Place, Chain | None]]] = field(default_factory=dict)
    dotted: dict[str, list[int]] = field(default_factory=dict)
    into: dict[Chain, int] = field(default_factory=dict)
    seen: dict[Chain, int] = field(default_factory=dict)
    own: set[Place] = field(default_factory=set)
    vague: set[Place] = field(default_factory=set)
    mirror: bool = False


def looks(lowered: bytes) -> bool:
    """Can a file of this lowered form hold such a store, but for an attribute of an object?"""
    return any(token in lowered for token in _TOKENS)


def read(body: Any) -> Written:
    """The stores of a lowered module."""
    out = Written()
    stack: list[tuple[Any, Place]] = [(body, out.place)] if body else []
    computed = False
    while stack:
        item, place = stack.pop()
        tag, size = item[0], len(item)
        if tag.__class__ is str:
            if size == 2 and item[1].__class__ is str:
                continue  # a text or a target: a third of all
            if size > 2 and item[1].__class__ is int:
                place = (item[1], *place[1:])
                if tag in ("def", "class"):
                    place = (item[1], item[3], place[2] or item[3])
            if tag in _TAGS:
                out.place = place
                if tag == "s" and size == 2 and item[1].__class__ is tuple:
                    computed |= _target(item[1], out)
                elif tag == "=" and size > 5 and item[5] == "+" and item[4][2:] == ("+=",):
                    _texts(item[4][1][1:], None, out)  # d = vars(flags); d |= {"A": True}
                elif tag == "k" and size == 4:
                    computed |= _call(item[1], item[2], item[3], out)
                elif tag in _CHAINS and size == 3 and item[2].__class__ is tuple:
                    if item[2]:
                        _chain(item, out)
                    if tag != "x":
                        continue
                elif tag in ("import", "from"):
                    continue
                elif tag == "=" and size > 5 and item[4] == ("n", "setattr", ()):
                    out.vague.add(place)  # put = setattr
                elif tag == "o" and size == 2 and item[1][1:] == (("n", "__name__", ()),):
                    out.mirror = True  # sys.modules[__name__].__dict__["A"] = True
        for part in item:
            if part.__class__ is tuple and part:
                stack.append((part, place))
    if computed and out.mirror:
        out.own.add((1, "?", ""))  # g = globals(); g[name] = value
    if computed:
        out.into = {**out.seen, **out.into}  # d = vars(flags); d[name] = value
    return out


def _target(e: Expr, out: Written) -> bool:
    """One store into a part; True when what is stored into a dictionary is computed."""
    if e[0] == "o":
        if len(e[1]) == 2 and e[1][1][0] == "c":  # vars(flags)["A"] = True
            _key(e[1][1][1], _of(e[1][0]), out)
            return False
        return _into(e[1][0] if e[1] else e, out)
    if e[0] not in ("n", "v", "x", "b") or not e[2]:
        return False
    last = e[2][-1]
    if last[0] == "[":
        _key(constants(last)[0], _of((*e[:2], e[2][:-1])), out)
    return False


def _key(key: Any, receiver: Chain | None, out: Written) -> None:
    if isinstance(key, str) and key.isidentifier() and receiver != _SELF:
        out.names.setdefault(key, []).append((out.place, receiver))


def _of(base: Expr) -> Chain | None:
    """The chain whose attributes a dictionary holds, or itself; None when nothing tells, ``_SELF`` for an instance's own."""
    if base[0] == "x" and base[1][0] == "k":
        base = base[1]
    if base[0] == "k" and base[1] == ("n", "vars", ()) and base[2]:
        base = base[2][0]
    if base[0] not in ("n", "v"):
        return None
    path = base[2]
    while path and path[-1] in (".update", ".setdefault", ".pop", ".__setitem__", ".__ior__"):
        path = path[:-1]
    if path[-1:] == (".__globals__",):
        return (base[1], path)
    told = path[-1:] == (".__dict__",)
    path = path[:-1] if told else path
    if base[1] in _INSTANCE and not path:
        return _SELF
    if base[1] in _OWN:
        return HOME  # globals()["A"]
    if not path and not told and base[0] == "v":
        return None  # d["A"]
    return (base[1], path)


def given(e: Expr) -> Chain | None:
    """Of what ``sys.modules[name].A = 1`` and ``getattr(pkg, "mod").A = 1`` store the attribute; None for another object's."""
    if e[0] == "o" and len(e[1]) == 2 and e[1][0][0] in ("n", "v"):
        table = (e[1][0][1], *e[1][0][2])[-1].lstrip(".") == "modules"
        return (HOME if e[1][1] == ("n", "__name__", ()) else ANY) if table else None
    called = e[1] if e[0] == "k" and e[1][0] in ("n", "v") else EMPTY
    return ANY if len(called) == 3 and (called[1], *called[2])[-1].lstrip(".") in ("getattr", "getmodule") else None


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
        out.own.add(out.place)
        return False
    if ".__dict__" in path:
        _whole(base, out)
    elif base[0] in ("n", "v") and not path:
        return True  # g[name] = value
    return False


def _call(func: Expr, args: tuple[Expr, ...], kwargs: Any, out: Written) -> bool:
    if func[0] not in ("n", "v", "x", "b"):
        return False
    last = func[2][-1].lstrip(".") if func[2] else func[1] if func[0] != "x" else ""
    if not isinstance(last, str):
        return False
    base: Expr = (*func[:2], func[2][:-1])
    if last == "exec":
        out.own.add(out.place)
        for argument in args[1:]:
            _whole(argument, out)
        _texts(args[:1], None, out)
    if func == ("n", "vars", ()):
        out.seen.update({(e[1], e[2]): out.place[0] for e in args if e[0] in ("n", "v")})
    if last not in _LOOKING and last not in _FILLING:
        for argument in (*args, *(value for _, value in kwargs)):
            if _dictionary(argument):  # put(vars(flags), name, value)
                _whole(argument[2][0] if argument[0] == "k" else argument, out)
            elif argument == ("n", "setattr", ()):  # partial(setattr, flags)
                out.vague.add(out.place)
                for other in args:
                    _whole(other, out)
    if last in _SETTING:
        where = _SETTING[last]
        if last == "setattr" and func[2] and len(args) < 3:
            where = 0  # monkeypatch.setattr("pkg.mod.NAME", value)
        if func[0] != "n" or func[2]:
            where = 1 if len(args) == 3 else where  # object.__setattr__(x, name, value)
        receiver: Expr = args[0] if where and args else base
        _texts(args[where : where + 1], given(receiver) or _of(receiver), out)
        if len(args) > where and args[where][0] != "c":
            _whole(receiver, out)
    elif last in _FILLING:
        told = last in ("object", "dict", "multiple", "patch")
        receiver = args[0] if told and args else base
        of = _of(receiver)
        _texts(args, of, out)
        for key, _ in kwargs:
            _key(key, of, out)
        if not told and func[2] and not all(a[0] in ("c", "d") for a in args):
            return _into(base, out)
    return False


def _dictionary(e: Expr) -> bool:
    """``flags.__dict__``, ``vars(flags)``."""
    return (e[0] in ("n", "v") and e[2][-1:] == (".__dict__",)) or (
        e[0] == "k" and e[1] == ("n", "vars", ()) and bool(e[2])
    )


def _whole(receiver: Expr, out: Written) -> None:
    """Any attribute of the receiver may be stored."""
    if receiver[0] in ("n", "v"):
        if receiver[1] in _INSTANCE and not receiver[2]:
            return
        if receiver[1] in _OWN and receiver[2][:1] == ("()",):
            out.own.add(out.place)
        path = receiver[2]
        cut = path.index(".__dict__") if ".__dict__" in path else len(path)
        out.into.setdefault((receiver[1], path[:cut]), out.place[0])
    out.vague.add(out.place)


def _chain(e: Expr, out: Written) -> None:
    """Calls with constant arguments, and ``globals()`` as an object."""
    path = e[2]
    if e[0] == "n" and e[1] in _OWN and path[0] == "()" and len(path) < 2:
        out.mirror = True
    if path[-1] == ".__dict__" and e[0] in ("n", "v"):
        out.seen[e[1], path[:-1]] = out.place[0]
    names = (e[1] if e[0] != "x" else "", *path)
    for index, (before, step) in enumerate(pairwise(names)):
        name = before.lstrip(".") if isinstance(before, str) else ""
        if step[0] != "(" or name not in (*_SETTING, *_FILLING, "exec"):
            continue
        if name == "exec":
            out.own.add(out.place)
        _texts(tuple(("c", c) for c in constants(step)), _of((*e[:2], path[: max(index - 1, 0)])), out)


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


def _texts(args: Any, receiver: Chain | None, out: Written) -> None:
    """Names that texts among the arguments hold: one name, a dotted path, code that is run."""
    for argument in args:
        if argument[0] == "c" and isinstance(argument[1], str):
            if re.fullmatch(r"\w+(\.\w+)+", argument[1]):
                out.dotted.setdefault(argument[1], []).append(out.place[0])
            elif argument[1].isidentifier():
                _key(argument[1], receiver, out)
            else:
                for word in re.findall(r"\w+", argument[1]):
                    _key(word, ANY, out)
        elif argument[0] == "d":
            _texts([key for key, _ in argument[1] if key is not None], receiver, out)
