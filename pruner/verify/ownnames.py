"""Names that a file stores into dictionaries of modules, written out: ``globals().update(FLAG=True)``, ``vars(flags)["FLAG"] = 1``.

Blind to computed names, and to the dictionary where it has another name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator

from pruner.verify.built import chain_text
from pruner.verify.names import Names
from pruner.verify.near import lines_of, near, over
from pruner.verify.nodes import walk
from pruner.verify.scopes import walruses

# A dictionary is called for, or `modules[...]`; "execute", `nn.modules` and the like are in every third file. A search for
# an expression that begins with letters takes a tenth of the time of one that begins otherwise.
_MARKED = (b"globals", b"vars", b"locals", b"exec", b"modules")
_SIGNS = tuple(re.compile(rb"%b(?<!\w%b)\b" % (word, word)) for word in _MARKED[:-1])
_TABLE = re.compile(rb"modules(?<!\wmodules)\s*[\[#\\]")
_NAMES = re.compile(r"[^\W\d]\w*")
_KEYED = frozenset({"setdefault", "pop", "__setitem__", "__delitem__"})


def in_dictionary(tree: ast.Module, data: bytes) -> frozenset[str]:
    """All of them, in functions and classes as well."""
    if not any(sign.search(data) for sign in (*_SIGNS, _TABLE)):
        return frozenset()
    found: set[str] = set()
    for node in near(tree, lines_of(data, _MARKED)):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and _dictionary(node.value):
            found |= _text(node.slice)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and _module(node.value):
            found.add(node.attr)
        elif isinstance(node, ast.Call):
            found |= _called(node)
    return frozenset(found)


def _called(node: ast.Call) -> set[str]:
    func = node.func
    if (
        isinstance(func, ast.Name)
        and func.id in ("setattr", "delattr")
        and len(node.args) > 1
        and _module(node.args[0])
    ):
        return _text(node.args[1])
    if isinstance(func, ast.Name) and func.id == "exec" and node.args:
        return {word for text in _text(node.args[0]) for word in _NAMES.findall(text)}
    if not isinstance(func, ast.Attribute) or not _dictionary(func.value):
        return set()
    if func.attr in _KEYED and node.args:
        return _text(node.args[0])
    return _filled(node)


def _text(node: ast.expr | None) -> set[str]:
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def _dictionary(node: ast.expr) -> bool:
    """``globals()``, ``vars()``, ``sys.modules[__name__].__dict__``."""
    if isinstance(node, ast.Attribute):
        return node.attr == "__dict__" and _module(node.value)
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args
    return named and node.func.id in ("globals", "vars", "locals")  # type: ignore[attr-defined]


def _module(node: ast.expr) -> bool:
    """``sys.modules[__name__]``."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Name) or node.slice.id != "__name__":
        return False
    table = node.value
    return (table.attr if isinstance(table, ast.Attribute) else getattr(table, "id", "")) == "modules"


# -- names of other modules --------------------------------------------------------------------------

_OTHERS = tuple(
    re.compile(text)
    for text in (
        rb"__dict__",
        rb"__setattr__",
        rb"__delattr__",
        rb"\.setattr\b",
        rb"vars(?<!\wvars)\b",
        rb"exec(?<!\wexec)\b",
        rb"patch(?<!\wpatch)\b",
    )
)
_MARKS = (b"__dict__", b"vars", b"exec", b"setattr", b"delattr", b"object", b"patch")  # one is in what stores a name
_STORING = frozenset({"setattr", "delattr", "__setattr__", "__delattr__", "object"})  # patch.object


def in_others(tree: ast.Module, data: bytes, roots: set[str]) -> frozenset[tuple[str, str]]:
    """What a file stores into objects by other ways than ``object.name``: the chain of an imported one, or "", and the name.

    Of ``patch("pkg.flags.FLAG", 1)`` the module behind an @.
    """
    if not any(sign.search(data) for sign in _OTHERS):
        return frozenset()
    found: set[tuple[str, str]] = set()
    handed: list[ast.expr] = []
    known: set[ast.expr] = set()  # dictionaries that are subscripted or asked at once

    def chain(node: ast.expr | None) -> str:
        text = chain_text(node) if node is not None else ""
        return text if text.partition(".")[0] in roots else ""

    for node in near(tree, lines_of(data, _MARKS)):
        owner: ast.expr | None = None
        texts: set[str] = set()
        if isinstance(node, ast.Subscript):
            owner, texts = _of(node.value), _keyed(node)
            known.add(node.value)
        elif isinstance(node, ast.AugAssign):
            owner, texts = _of(node.target), _keys([node.value])
        elif isinstance(node, ast.Call):
            owner, texts = _stored(node)
            known.add(node.func.value) if isinstance(node.func, ast.Attribute) else None
            if getattr(node.func, "id", "") == "exec" and node.args:
                found |= {row for text in _text(node.args[0]) for row in _run(text, chain)}
                owner = _of(node.args[1]) if len(node.args) > 1 else None
                texts = {word for text in _text(node.args[0]) for word in _NAMES.findall(text)} if owner else set()
            elif chain_text(node.func).rpartition(".")[2] == "patch" and node.args:
                for text in _text(node.args[0]):
                    found.add((f"@{text.rpartition('.')[0]}", text.rpartition(".")[2]))
        elif isinstance(node, ast.Attribute) and node.attr == "__dict__":
            handed.append(node)
        if owner is not None:
            found |= {(chain(owner), text) for text in texts}
    if alone := [node for node in handed if node not in known]:  # what anything of the file may store into
        keys = {
            key
            for node in walk(tree)
            if isinstance(node, ast.Subscript | ast.Call)
            for key in (_keyed(node) if isinstance(node, ast.Subscript) else _stored(node)[1])
        }
        found |= {(chain(_of(node)), key) for node in alone for key in keys}
    return frozenset(found)


def _keyed(node: ast.Subscript) -> set[str]:
    """The written key of an entry that is stored or deleted."""
    return _text(node.slice) if not isinstance(node.ctx, ast.Load) else set()


def _of(node: ast.expr) -> ast.expr | None:
    """The object of ``x.__dict__`` and ``vars(x)``."""
    if isinstance(node, ast.Attribute):
        return node.value if node.attr == "__dict__" else None
    called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars"
    return node.args[0] if called and node.args else None  # type: ignore[attr-defined]


def _stored(node: ast.Call) -> tuple[ast.expr | None, set[str]]:
    """``vars(m).update(A=1)``, ``patch.object(m, "A", 1)``, ``m.__setattr__("A", 1)``: the object, and the names."""
    func = node.func
    if not isinstance(func, ast.Attribute):
        return None, set()
    if func.attr in _STORING:
        if len(node.args) > 1 and (names := _text(node.args[1])) and not _text(node.args[0]):
            return node.args[0], names
        return func.value, _text(node.args[0]) if node.args else set()
    if func.attr in _KEYED:
        return _of(func.value), _text(node.args[0]) if node.args else set()
    names = _filled(node)
    return (_of(func.value), names) if names else (None, names)


def _filled(node: ast.Call) -> set[str]:
    """The names that ``x.update(A=1)`` and ``x.__ior__({"A": 1})`` give a dictionary."""
    if not (isinstance(node.func, ast.Attribute) and node.func.attr in ("update", "__ior__")):
        return set()
    return {keyword.arg for keyword in node.keywords if keyword.arg is not None} | _keys(node.args)


def _keys(nodes: Iterable[ast.expr]) -> set[str]:
    found: set[str] = set()
    for node in nodes:
        keys = node.keys if isinstance(node, ast.Dict) else ()
        pairs = node.elts if isinstance(node, ast.List | ast.Tuple) else ()
        firsts = [pair.elts[0] for pair in pairs if isinstance(pair, ast.Tuple | ast.List) and pair.elts]
        for key in (*keys, *firsts):
            found |= _text(key)
    return found


def _run(text: str, chain: Callable[[ast.expr], str]) -> Iterator[tuple[str, str]]:
    """``exec("flags.FLAG = True")``."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for node in walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield chain(node.value), node.attr


def by_walrus(tree: ast.Module, data: bytes, names: Names) -> frozenset[str]:
    """Names of the module that ``:=`` binds: in its body, through comprehensions too, or under ``global``."""
    lines = lines_of(data, (b":=",))
    if lines is not None and not lines:
        return frozenset()
    found = {name for statement in tree.body if over(statement, lines) for name in walruses(statement)}
    if names.rebound:
        stored = (n.target.id for n in near(tree, lines) if isinstance(n, ast.NamedExpr))
        found |= {name for name in stored if name in names.rebound}
    return frozenset(found)
