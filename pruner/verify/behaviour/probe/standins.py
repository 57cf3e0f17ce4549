"""Stand-ins for packages that cannot load here, and a way to hide packages that can.

Every attribute and submodule of a stand-in exists and does nothing. Attributes are classes, so that
``class X(lib.Base)``, ``isinstance(x, lib.Type)``, ``lib.Type | None`` and ``@lib.decorator`` all work;
a stand-in called with one function or class gives it back unchanged (``MagicMock`` would swallow it,
and a module's public functions with it).
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata as metadata
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

# Import name to the names under which it is installed.
DISTRIBUTIONS = {
    "sgl_kernel": ("sgl-kernel", "sglang-kernel"),
    "deep_gemm": ("sgl-deep-gemm",),
    "cuda": ("cuda-python",),
}


class _Meta(type):
    """Class level of a stand-in: attributes are further stand-ins."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        child = make(f"{cls.__qualname__}.{name}", cls.__module__)
        setattr(cls, name, child)
        return child

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            return args[0]
        return super().__call__(*args, **kwargs)

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __iter__(cls) -> Iterator[Any]:
        return iter(())


class StandIn(metaclass=_Meta):
    """Base of all stand-in classes; an instance answers everything with another instance."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return StandIn()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            return args[0]
        return StandIn()

    def __getitem__(self, item: Any) -> Any:
        return StandIn()

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __index__(self) -> int:
        return 1

    def __enter__(self) -> StandIn:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def _same(self, *other: Any) -> StandIn:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __truediv__ = __or__ = __and__ = _same


def make(name: str, module: str) -> Any:
    """A stand-in class of this qualified name."""
    return _Meta(name.rpartition(".")[2], (StandIn,), {"__module__": module, "__qualname__": name})


class StandInModule(types.ModuleType):
    """A module whose every attribute exists."""

    __path__: list[str] = []  # noqa: RUF012
    __version__ = "99.0.0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = make(name, self.__name__)
        setattr(self, name, value)
        return value


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers for stand-ins."""

    def __init__(self, standins: Sequence[str]) -> None:
        self.standins = frozenset(standins)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of a stand-in; None leaves the name to the ordinary finders."""
        if name.partition(".")[0] in self.standins:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        """An empty stand-in."""
        return StandInModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to run."""


def hider(hidden: Sequence[str]) -> type:
    """The path finder, but for some packages. They are not installed: ``find_spec`` gives None, it does not raise."""
    tops = frozenset(hidden)

    class Hider(importlib.machinery.PathFinder):
        """Inherits the search for distributions, by which packages ask each other's version."""

        @classmethod
        def find_spec(
            cls, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
        ) -> importlib.machinery.ModuleSpec | None:
            """What the path finder finds, unless hidden."""
            return None if fullname.partition(".")[0] in tops else super().find_spec(fullname, path, target)

    return Hider


def install(standins: Sequence[str], hidden: Sequence[str]) -> None:
    """Stand-ins before everything, and the path finder replaced when packages are hidden."""
    if hidden:
        finders: list[object] = [
            hider(hidden) if found is importlib.machinery.PathFinder else found for found in sys.meta_path
        ]
        sys.meta_path[:] = finders  # type: ignore[assignment]
    sys.meta_path.insert(0, Finder(standins))
    _versions(standins)


def _versions(standins: Sequence[str]) -> None:
    """A tree that asks for the version of a stand-in's distribution gets one that is new enough."""
    known = {top for name in standins for top in (name, *DISTRIBUTIONS.get(name, ()))}
    ask = metadata.version

    def version(name: str) -> str:
        return StandInModule.__version__ if name in known else ask(name)

    metadata.version = version
