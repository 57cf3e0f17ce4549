"""What a module body may call without an effect that anybody could notice.

The lists name the standard library; rules add outside packages (verb ``pure``). A name that
is not listed has an effect: its module stays when it is imported.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from pruner.fold.evaluate import Evaluator

if TYPE_CHECKING:
    from pruner.graph.world import ProgramWorld

STDLIB = frozenset(sys.stdlib_module_names) - {"antigravity", "this"}
PURE_DECORATORS = frozenset(
    """
    property staticmethod classmethod functools.lru_cache functools.cache functools.wraps
    functools.cached_property functools.total_ordering functools.singledispatch dataclasses.dataclass
    contextlib.contextmanager contextlib.asynccontextmanager abc.abstractmethod typing.overload typing.final
    typing.runtime_checkable typing.no_type_check enum.unique
    """.split()
)
PURE_BASES = frozenset(
    """
    object abc.ABC enum.Enum enum.IntEnum enum.Flag enum.IntFlag enum.StrEnum typing.Protocol typing.Generic
    typing.NamedTuple typing.TypedDict tuple list dict set str int float Exception BaseException ValueError
    TypeError RuntimeError KeyError ImportError NotImplementedError OSError AttributeError Warning
    threading.Thread ast.NodeVisitor ast.NodeTransformer logging.Handler logging.Filter logging.Formatter
    argparse.Action argparse.ArgumentParser argparse.Namespace collections.OrderedDict collections.UserDict
    contextlib.ContextDecorator contextlib.AbstractContextManager json.JSONEncoder pickle.Unpickler
    """.split()
)
PURE_CALLS = frozenset(
    """
    logging.getLogger typing.TypeVar typing.ParamSpec typing.NewType typing.cast collections.namedtuple
    collections.defaultdict collections.OrderedDict collections.deque collections.Counter dataclasses.field
    functools.partial threading.Lock threading.RLock threading.local threading.Event re.compile pathlib.Path
    os.path.join os.path.dirname os.path.abspath os.path.basename os.getenv os.environ.get enum.auto
    itertools.count contextvars.ContextVar operator.itemgetter operator.attrgetter importlib.util.find_spec
    types.SimpleNamespace types.MappingProxyType weakref.WeakValueDictionary weakref.WeakKeyDictionary
    frozenset math.sqrt math.log math.log2 math.ceil math.floor time.time time.perf_counter time.monotonic
    asyncio.Lock inspect.getsource inspect.signature inspect.isfunction inspect.isclass inspect.getdoc
    """.split()
)


def plain_class(world: ProgramWorld, module: str, name: str, depth: int = 0) -> bool:
    """True when subclassing the class registers nothing: no metaclass, no ``__init_subclass__``, plain bases."""
    stores = world.stores(module, name)
    if not stores or depth > 20 or any(s.kind != "class" for s in stores):
        return False
    for store in stores:
        stmt = store.stmt
        if any(part[0] == "def" and part[3] == "__init_subclass__" for part in stmt[7]):
            return False
        if any(key == "metaclass" for key, _ in stmt[6]) and not _plain_metaclass(world, module, stmt[6]):
            return False
        for base in stmt[5]:
            if base[0] == "o" and base[1]:
                base = base[1][0]
            if base[0] != "n":
                return False
            path = tuple(step for step in base[2] if step[0] == ".")
            symbol, rest = world.follow(module, base[1], path)
            text = symbol.name if symbol.kind == "builtin" else symbol.text + "".join(rest)
            if text in PURE_BASES or text in world.purities or (symbol.kind == "builtin" and not rest):
                continue
            if symbol.kind != "binding" or rest or not plain_class(world, symbol.module, symbol.name, depth + 1):
                return False
    return True


def _plain_metaclass(world: ProgramWorld, module: str, keywords: tuple) -> bool:  # type: ignore[type-arg]
    for key, value in keywords:
        if key == "metaclass":
            return value[0] == "n" and world.canonical(module, value[1], value[2]) in ("abc.ABCMeta", "enum.EnumMeta")
    return True


_CHECKED = ("typing.runtime_checkable", "typing_extensions.runtime_checkable", "typing.runtime")
MODULE_HOOKS = frozenset(
    """
    forward extra_repr state_dict load_state_dict get_extra_state set_extra_state reset_parameters train eval
    _load_from_state_dict _save_to_state_dict _apply _get_name
    """.split()
)
_TAME_BASES = frozenset(
    """
    object abc.ABC typing.Generic typing.Protocol torch.nn.Module torch.nn.modules.module.Module enum.Enum
    enum.IntEnum
    """.split()
)


def foreign_base(world: ProgramWorld, module: str, stmt: Any, depth: int = 0) -> bool:
    """True when an outside class may call methods of this class by names that the tree does not hold."""
    if depth > 20:
        return True
    for base in stmt[5]:
        if base[0] == "o" and base[1]:
            base = base[1][0]
        if base[0] != "n":
            return True
        path = tuple(step for step in base[2] if step[0] == ".")
        symbol, rest = world.follow(module, base[1], path)
        if symbol.kind == "builtin":
            if symbol.name != "object" and not symbol.name.endswith(("Error", "Exception", "Warning")):
                return True
            continue
        if symbol.text in _TAME_BASES:
            continue
        if symbol.kind != "binding" or rest:
            return True
        stores = world.stores(symbol.module, symbol.name)
        if not stores or any(s.kind != "class" for s in stores):
            return True
        if any(foreign_base(world, symbol.module, s.stmt, depth + 1) for s in stores):
            return True
    return any(key not in ("metaclass",) for key, _ in stmt[6])


def protocol_members(world: ProgramWorld, module: str, stmt: Any) -> set[str]:
    """Names for which ``isinstance`` of the class asks: all members of a checked protocol, inherited ones included."""
    if not any(callee(world, module, d) in _CHECKED for d in stmt[4]):
        return set()
    return _members(world, module, stmt, 0)


def _members(world: ProgramWorld, module: str, stmt: Any, depth: int) -> set[str]:
    found = bound_in(stmt[7])
    for base in stmt[5] if depth < 20 else ():
        if base[0] == "o" and base[1]:
            base = base[1][0]
        if base[0] == "n":
            symbol, rest = world.follow(module, base[1], tuple(step for step in base[2] if step[0] == "."))
            if symbol.kind == "binding" and not rest:
                for store in world.stores(symbol.module, symbol.name):
                    if store.kind == "class":
                        found |= _members(world, symbol.module, store.stmt, depth + 1)
    return found


def bound_in(body: Any) -> set[str]:
    """Names that a class body binds or annotates, under tests too."""
    found: set[str] = set()
    for part in body:
        if part[0] in ("def", "class"):
            found.add(part[3])
        elif part[0] == "=":
            found.update(target[1] for target in part[3] if target[0] != "s")
        elif part[0] == "if":
            found |= bound_in(part[4]) | bound_in(part[5])
    return found


def abstract(world: ProgramWorld, module: str, stmt: Any) -> bool:
    """True for a method without which, or without whose override, a class cannot be made."""
    return any(callee(world, module, d).startswith("abc.abstract") for d in stmt[4])


def derives(world: ProgramWorld, module: str, stmt: Any, wanted: set[tuple[str, str]] | None, depth: int = 0) -> bool:
    """True when a base of the class, at any distance, is one of these classes; None: any class of the tree."""
    for base in stmt[5]:
        if base[0] == "o" and base[1]:
            base = base[1][0]
        if base[0] != "n":
            continue
        symbol, rest = world.follow(module, base[1], tuple(step for step in base[2] if step[0] == "."))
        if symbol.kind != "binding" or rest:
            continue
        stores = [s for s in world.stores(symbol.module, symbol.name) if s.kind == "class"]
        if (symbol.module, symbol.name) in wanted if wanted is not None else stores:
            return True
        if depth < 20 and any(derives(world, symbol.module, s.stmt, wanted, depth + 1) for s in stores):
            return True
    return False


def callee(world: ProgramWorld, module: str, e: Any) -> str:
    """Canonical name of what an expression calls or, for a decorator, of the decorator itself."""
    if e[0] == "k":
        e = e[1]
    if e[0] == "n":
        path = e[2]
        while path and path[-1][0] == "(":
            path = path[:-1]
        return world.canonical(module, e[1], path)
    return "?"


def decorated(world: ProgramWorld, module: str, decorators: tuple[Any, ...]) -> str:
    """Why applying the decorators has an effect; "" when it has none."""
    for decorator in decorators:
        if decorator[0] == "b" and decorator[2] and decorator[2][-1] in (".setter", ".getter", ".deleter"):
            continue
        name = callee(world, module, decorator)
        if name in PURE_DECORATORS or name in world.purities or name.endswith((".setter", ".getter", ".deleter")):
            continue
        called = decorator[0] == "k" or (decorator[0] == "n" and bool(decorator[2]) and decorator[2][-1][0] == "(")
        if pure_decorator(world, name, called):
            continue
        return f"decorator {name}"
    return ""


def registry_tables(world: ProgramWorld, function: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """Tables that a registering function of the tree stores into: ``TABLE[name] = ...``, ``cls.table[name] = ...``.

    With each the parameter that is the key ("" where the key is made of something else) and all parameters, in order,
    less ``self`` and ``cls``. A method of an object, ``REG.register`` with ``REG = Registry()``, fills ``REG``.
    """
    split = world.table.split(function)
    if split is None or not split[1]:
        return []
    module, dotted = split
    name, _, method = dotted.partition(".")
    owner = f"{module}.{name}"
    stores = world.stores(module, name)
    if method and len(stores) == 1 and stores[0].kind == "value":
        module, name = _class_of(world, module, stores[0].stmt)
        stores = world.stores(module, name) if name else []
    found: list[tuple[str, str, tuple[str, ...]]] = []
    for store in stores:
        definition: Any = None
        if store.kind == "def" and not method:
            definition = store.stmt
        elif store.kind == "class" and method:
            definition = next((p for p in store.stmt[7] if p[0] == "def" and p[3] == method), None)
        if definition is None:
            continue
        parameters = definition[6][0][1:] if definition[6][0][:1] in (("self",), ("cls",)) else definition[6][0]
        for chain, key in _stored_tables(definition[6][2]):
            given = key[1] if key[0] == "v" and not key[2] and key[1] in parameters else ""
            if chain[0] == "n" and not chain[2]:
                found.append((world.canonical(module, chain[1], ()), given, parameters))
            elif chain[0] == "v" and chain[1] in ("cls", "self") and len(chain[2]) < 2:
                found.append((owner + "".join(chain[2]), given, parameters))
                if owner != f"{module}.{name}":
                    found.append((owner, given, parameters))
            elif chain[0] == "n" and len(chain[2]) == 1:
                found.append((world.canonical(module, chain[1], ()) + chain[2][0], given, parameters))
    return found


def _class_of(world: ProgramWorld, module: str, stmt: Any) -> tuple[str, str]:
    """(module, name) of the class of which ``X = Class(...)`` makes an object; ("", "") for others."""
    value: Any = stmt[4] if stmt[0] == "=" else ("c", None)
    func: Any = value[1] if value[0] == "k" else (*value[:2], value[2][:-1]) if value[0] == "n" and value[2] else value
    if func[0] != "n":
        return "", ""
    symbol, rest = world.follow(module, func[1], func[2])
    return (symbol.module, symbol.name) if symbol.kind == "binding" and not rest else ("", "")


def _stored_tables(part: Any) -> list[tuple[Any, Any]]:
    """(table, key) of each ``TABLE[key] = ...`` and ``TABLE.setdefault(key, ...)`` in there."""
    if not isinstance(part, tuple) or not part:
        return []
    if part[0] == "=" and len(part) > 5 and isinstance(part[3], tuple):
        places = [t[1][1] for t in part[3] if t[0] == "s" and t[1][0] == "o" and t[1][1]]
        return [(p[0], p[1] if len(p) == 2 else ("o", ())) for p in places if p[0][0] in ("n", "v")]
    if part[0] == "e" and len(part) == 4 and part[3][0] == "k" and part[3][1][0] in ("n", "v") and part[3][2]:
        tag, root, path = part[3][1]
        if path[-1:] in ((".setdefault",), (".append",), (".add",)):
            return [((tag, root, path[:-1]), part[3][2][0])]
    return [row for p in part if isinstance(p, tuple) for row in _stored_tables(p)]


def pure_decorator(world: ProgramWorld, name: str, called: bool) -> bool:
    """True when applying a decorator of the tree registers nothing.

    ``@dec`` runs the body of ``dec``; ``@dec(...)`` also runs the functions that ``dec`` defines.
    What the wrappers do when they are called does not matter: then the decorated name is in use.
    """
    split = world.table.split(name)
    if split is None or not split[1] or "." in split[1]:
        return False
    return _quiet_function(world, split[0], split[1], 1 if called else 0, 0)


def _quiet_function(world: ProgramWorld, module: str, name: str, inner: int, depth: int) -> bool:
    stores = world.stores(module, name)
    if len(stores) != 1 or depth > 4:
        return False
    stmt = stores[0].stmt
    if stores[0].kind == "class":
        return plain_class(world, module, name) and all(
            _Quiet(world, module, 0, depth + 1).block(part[6][2])
            for part in stmt[7]
            if part[0] == "def" and part[3] in ("__init__", "__new__", "__call__")
        )
    return (
        stores[0].kind == "def"
        and all(_memo(d, world, module) for d in stmt[4])
        and _Quiet(world, module, inner, depth + 1).block(stmt[6][2])
    )


def _memo(decorator: Any, world: ProgramWorld, module: str) -> bool:
    e = decorator[1] if decorator[0] == "k" else decorator
    return e[0] == "n" and world.canonical(module, e[1], tuple(p for p in e[2] if p[0] == ".")) in PURE_DECORATORS


class _Quiet:
    """Statements that only make values and mark their own objects."""

    def __init__(self, world: ProgramWorld, module: str, inner: int, depth: int) -> None:
        self.world = world
        self.module = module
        self.inner = inner
        self.depth = depth
        self.ev = Evaluator(world, module)

    def block(self, block: Any) -> bool:
        """True when no statement can be noticed from outside."""
        return all(self.statement(s) for s in block)

    def statement(self, s: Any) -> bool:
        """One statement."""
        tag = s[0]
        if tag in ("pass", "break", "continue", "nonlocal", "class"):
            return True
        if tag in ("return", "e"):
            return self.expr(s[3])
        if tag == "raise":
            return all(self.expr(p) for p in s[3])
        if tag == "=":
            if s[5] == "+" and s[4][0] != "c":
                return False  # def register(f, table=TABLE): table += [f]
            return self.expr(s[4]) and all(t[0] == "v" or (t[0] == "s" and t[1][0] == "v") for t in s[3])
        if tag == "def":
            return not self.inner or _Quiet(self.world, self.module, self.inner - 1, self.depth).block(s[6][2])
        if tag in ("if", "while"):
            return self.expr(s[3]) and self.block(s[4]) and self.block(s[5])
        if tag == "for":
            return self.expr(s[4]) and self.block(s[5]) and self.block(s[6])
        if tag == "assert":
            return self.expr(s[3]) and self.expr(s[4])
        return False

    def expr(self, e: Any) -> bool:
        """One expression: droppable, or a call that is quiet itself."""
        if self.ev.droppable(e):
            return True
        if e[0] in ("o", "t", "j", "&", "|"):
            return all(self.expr(p) for p in (e[2] if e[0] == "t" else e[1]))
        func, args = (e[1], [*e[2], *(v for _, v in e[3])]) if e[0] == "k" else (e, [])
        if func[0] != "n" or not all(self.expr(a) for a in args):
            return False
        path = func[2][:-1] if func[2] and func[2][-1][0] == "(" else func[2]
        symbol, rest = self.world.follow(self.module, func[1], path)
        if rest:
            return False
        if symbol.text in PURE_CALLS or symbol.text in PURE_DECORATORS or symbol.text in self.world.purities:
            return True
        return symbol.kind == "binding" and _quiet_function(self.world, symbol.module, symbol.name, 0, self.depth + 1)
