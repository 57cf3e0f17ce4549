"""What a fact's subject is about, as far as stores can break it: a variable, an attribute, a key."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pruner.graph.symbols import ModuleTable
from pruner.model.policy import Const
from pruner.scan.stores import chain
from pruner.scan.summary import Summary

_KEY = re.compile(r"[A-Z][A-Z0-9_]{2,}")


@dataclass(frozen=True, slots=True)
class Watch:
    """``kind``: variable, function, attribute, method, item or environment.

    ``name`` is the variable, attribute or key; ``owner`` the chain that holds it; ``classes`` the
    classes of which the owner is or may be an instance, none when nobody knows; ``default`` what
    reading an absent key gives; ``direct``: read by ``os``, not by a helper that converts.
    """

    kind: str
    name: str
    module: str = ""
    owner: tuple[str, ...] = ()
    classes: frozenset[str] = frozenset()
    default: tuple[Const, ...] | None = None
    direct: bool = False
    outside: bool = False
    probe: bool = False


def watches(subject: str, table: ModuleTable, summaries: Mapping[str, Summary | None]) -> tuple[Watch, ...]:
    """The things that a store must not touch, or only compatibly."""
    node = ast.parse(subject, mode="eval").body
    if isinstance(node, ast.Call) and chain(node.func) == ("hasattr",):
        name = node.args[1]
        assert isinstance(name, ast.Constant)
        return (Watch("attribute", str(name.value), owner=chain(node.args[0]), outside=True, probe=True),)
    keys = tuple(_keys(node))
    if keys:
        return keys
    if isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return (Watch("item", key, owner=chain(node.value)),) if isinstance(key, str) else ()
    called = isinstance(node, ast.Call)
    inner = node.func if isinstance(node, ast.Call) else node
    if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Call):
        owner = chain(inner.value)
        split = table.split(".".join(owner))
        return (Watch("method" if called else "attribute", inner.attr, split[0] if split else "", owner),)
    names = chain(inner)
    split = table.split(".".join(names))
    if split is None or not split[1]:
        if called or len(names) < 2:
            return ()
        return (Watch("attribute", names[-1], owner=names[:-1], outside=True),)
    module, rest = split[0], split[1].split(".")
    summary = summaries.get(module)
    if (
        summary is not None
        and rest[0] not in summary.stores
        and "__getattr__" not in summary.stores
        and not summary.stars
    ):
        return ()  # the module of another release: nothing is there to be stored into
    if len(rest) == 1:
        return (Watch("function" if called else "variable", rest[0], module),)
    classes = _classes(summary, rest[-2] if len(rest) > 2 else rest[0])
    return (Watch("method" if called else "attribute", rest[-1], module, names[:-1], classes),)


def _keys(node: ast.expr) -> Iterator[Watch]:
    """Keys of the environment that the subject reads."""
    if isinstance(node, ast.Subscript) and chain(node.value)[-1:] == ("environ",):
        if isinstance(node.slice, ast.Constant):
            yield Watch("environment", str(node.slice.value), direct=True)
        return
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        names = chain(call.func)
        first = call.args[0] if call.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            direct = names[-1:] == ("getenv",) or names[-2:] == ("environ", "get")
            if direct or _KEY.fullmatch(first.value):
                second = call.args[1] if len(call.args) > 1 else ast.Constant(None)
                default = (second.value,) if direct and isinstance(second, ast.Constant) else None
                yield Watch("environment", first.value, default=default, direct=direct)  # type: ignore[arg-type]
        elif len(names) > 2 and _KEY.fullmatch(names[-2]) and not call.args:
            yield Watch("environment", names[-2])  # pkg.envs.NAME.get()


def _classes(summary: Summary | None, name: str) -> frozenset[str]:
    """The class of this name, or the classes that a variable of the name is made from."""
    found: set[str] = set()
    for store in summary.stores.get(name, ()) if summary is not None else ():
        if store.kind == "class":
            found.add(name)
        elif store.kind == "value":
            value = store.stmt[4]
            steps = [s[1:] for s in value[2] if s[0] == "."] if value[0] == "n" else []
            if value[0] == "n" and value[2] and value[2][-1][0] == "(":
                found.add(steps[-1] if steps else value[1])
            elif value[0] == "k" and value[1][0] == "n":
                inner = [s[1:] for s in value[1][2] if s[0] == "."]
                found.add(inner[-1] if inner else value[1][1])
            else:
                return frozenset()
        else:
            return frozenset()
    return frozenset(n for n in found if n[:1].isupper() or n[:2] == "_" + n[1:2].upper())
