"""Import every module and say what became of it: the failure, or public names with their values."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import pkgutil
import signal
import sys
import types
from collections.abc import Sequence
from typing import Any

from . import standins
from .describe import Describer

LIMIT = 60  # seconds for one module


class TooSlow(BaseException):
    """A module took longer than :data:`LIMIT`; no tree catches this."""


def _alarm(number: int, frame: object) -> None:
    raise TooSlow(f"more than {LIMIT} s")


def names(module: types.ModuleType, describer: Describer) -> dict[str, Any]:
    """Names of a module with their values; dunder names are left out but for ``__all__`` and what it lists."""
    row: dict[str, Any] = {}
    listed = getattr(module, "__all__", ())
    for name, value in sorted(vars(module).items()):
        if name.startswith("__") and name.endswith("__") and name != "__all__" and name not in listed:
            continue
        if isinstance(value, types.ModuleType) and value.__name__ == f"{module.__name__}.{name}":
            continue  # set when a submodule is imported, by whomever
        own = getattr(value, "__module__", None) == module.__name__
        if own and isinstance(value, (types.FunctionType, functools._lru_cache_wrapper)):
            row[name] = f"def {describer.signature(value)}"
        else:
            row[name] = describer.value(value)
    return row


def classes(module: types.ModuleType, describer: Describer) -> dict[str, Any]:
    """The classes that a module defines."""
    return {
        name: describer.class_(value)
        for name, value in sorted(vars(module).items())
        if isinstance(value, type) and value.__module__ == module.__name__
    }


def registry(describer: Describer) -> Any:
    """The model classes by architecture, and the modules that the registry skipped because they fail."""
    from sglang.srt.models import registry as module  # type: ignore[import-not-found]

    loaded = {n: describer.value(c) for n, c in sorted(module.ModelRegistry.models.items())}
    failures: dict[str, Any] = {}
    package = importlib.import_module("sglang.srt.models")
    for _, name, _ in pkgutil.iter_modules(package.__path__, "sglang.srt.models."):
        try:
            importlib.import_module(name)
        except Exception as error:
            failures[name] = describer.failure(error)
    return {"loaded": loaded, "failures": failures}


def import_all(wanted: Sequence[str], later: Sequence[str], describer: Describer) -> dict[str, Any]:
    """Import in the given order, in this process; describe once all are imported.

    A second pass tries the modules that failed again, with stand-ins for the packages ``later``. Those are not
    there from the start because other packages test whether they are: flashinfer takes a path that fails.
    """
    first = _pass(wanted, describer)
    standins.install(later, ())
    failures = _pass(list(first), describer)
    found: dict[str, Any] = {}
    for name in wanted:
        if name in failures:
            found[name] = failures[name]
            continue
        module = sys.modules[name]
        try:
            found[name] = {"names": names(module, describer), "classes": classes(module, describer)}
        except Exception as error:
            found[name] = {"names": {}, "classes": {}, "undescribed": repr(error)}
        if name in first:
            found[name]["second"] = first[name]["text"]
    return {"modules": found, "operators": operators(), "registry": _registry(describer)}


def _registry(describer: Describer) -> Any:
    """As :func:`registry`, or the failure: a tree without a model registry has none to compare."""
    try:
        return registry(describer)
    except Exception as error:
        return {"failure": describer.failure(error)}


def _pass(wanted: Sequence[str], describer: Describer) -> dict[str, dict[str, str]]:
    """The failures by module."""
    failures: dict[str, dict[str, str]] = {}
    signal.signal(signal.SIGALRM, _alarm)
    for name in wanted:
        sys.argv = [name]
        signal.alarm(LIMIT)
        try:
            importlib.import_module(name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            signal.alarm(0)
            failures[name] = describer.failure(error)
        finally:
            signal.alarm(0)
    return failures


def operators() -> list[str]:
    """Names of the custom operators that are registered with torch, of the tree's libraries."""
    if importlib.util.find_spec("torch") is None:
        return []
    import torch

    dispatched: list[str] = torch._C._dispatch_get_all_op_names()
    return sorted(name for name in dispatched if not name.startswith(("aten::", "prim", "torchvision::", "quantized")))
