"""What a module body may call without an effect that anybody could notice.

The lists name the standard library; rules add outside packages (verb ``pure``). A name that
is not listed has an effect: its module stays when it is imported.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pruner.graph.world import ProgramWorld

STDLIB = frozenset(sys.stdlib_module_names) - {"antigravity", "this"}
PURE_DECORATORS = frozenset(
    ["property", "staticmethod", "classmethod", "functools.lru_cache", "functools.cache", "functools.wraps", "functools.cached_property", "functools.total_ordering", "functools.singledispatch", "dataclasses.dataclass", "contextlib.contextmanager", "contextlib.asynccontextmanager", "abc.abstractmethod", "typing.overload", "typing.final", "typing.runtime_checkable", "typing.no_type_check", "enum.unique"]
)
PURE_BASES = frozenset(
    ["object", "abc.ABC", "enum.Enum", "enum.IntEnum", "enum.Flag", "enum.IntFlag", "enum.StrEnum", "typing.Protocol", "typing.Generic", "typing.NamedTuple", "typing.TypedDict", "tuple", "list", "dict", "set", "str", "int", "float", "Exception", "BaseException", "ValueError", "TypeError", "RuntimeError", "KeyError", "ImportError", "NotImplementedError", "OSError", "AttributeError", "Warning", "threading.Thread", "ast.NodeVisitor", "ast.NodeTransformer", "logging.Handler", "logging.Filter", "logging.Formatter", "argparse.Action", "argparse.ArgumentParser", "argparse.Namespace", "collections.OrderedDict", "collections.UserDict", "contextlib.ContextDecorator", "contextlib.AbstractContextManager", "json.JSONEncoder", "pickle.Unpickler"]
)
PURE_CALLS = frozenset(
    ["logging.getLogger", "typing.TypeVar", "typing.ParamSpec", "typing.NewType", "typing.cast", "collections.namedtuple", "collections.defaultdict", "collections.OrderedDict", "collections.deque", "collections.Counter", "dataclasses.field", "functools.partial", "threading.Lock", "threading.RLock", "threading.local", "threading.Event", "re.compile", "pathlib.Path", "os.path.join", "os.path.dirname", "os.path.abspath", "os.path.basename", "os.getenv", "os.environ.get", "enum.auto", "itertools.count", "contextvars.ContextVar", "operator.itemgetter", "operator.attrgetter", "importlib.util.find_spec", "types.SimpleNamespace", "types.MappingProxyType", "weakref.WeakValueDictionary", "weakref.WeakKeyDictionary", "frozenset", "math.sqrt", "math.log", "math.log2", "math.ceil", "math.floor", "time.time", "time.perf_counter", "time.monotonic", "asyncio.Lock"]
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
