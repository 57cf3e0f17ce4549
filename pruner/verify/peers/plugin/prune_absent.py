"""Stand-ins for names that a test file imports at its head and that are gone: the other tests of the file run, those that use one fail.

Only what the file ``PRUNE_GONE`` lists, only in files of the checkout, only in a file's own statements: an import in a test, or in
the tree, fails as ever. Stdlib only.
"""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any


class Absent(AttributeError):
    """What stands for a gone name was used."""


class _Kind(type):
    """Any use fails and says for what; being named in an annotation, a table or as a base is none."""

    asked: str

    def _use(cls, *args: object, **kwargs: object) -> Any:
        error = Absent(f"{cls.asked} is not there")
        error.prune_asked = [cls.asked]  # type: ignore[attr-defined]
        raise error

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return cls._use()

    __call__ = __instancecheck__ = __subclasscheck__ = __iter__ = __len__ = __getitem__ = __contains__ = _use


def stand_in(name: str) -> type:
    """A class of which nothing can be made or read."""
    return _Kind(name.rpartition(".")[2], (), {"asked": name, "__module__": __name__})


class _Seen(ModuleType):
    """A module as a test file sees it: with stand-ins for what is gone."""

    def __init__(self, name: str, real: ModuleType | None, gone: dict[str, type]) -> None:
        super().__init__(name)
        self.__dict__.update(gone)
        self._real = real

    def __getattr__(self, name: str) -> Any:
        if self._real is None:
            raise AttributeError(name)
        return getattr(self._real, name)


def install(where: Callable[[BaseException], str]) -> None:
    """Watch the imports of test files. ``where`` tells whose frame an error came from."""
    document = json.loads(Path(os.environ["PRUNE_GONE"]).read_text("utf-8"))
    modules, names = set(document["modules"]), set(document["names"])
    tree, checkout = os.environ["PRUNE_TREE"] + os.sep, os.environ["SGLANG_REPO"] + os.sep
    plain = builtins.__import__

    def is_test(scope: Any, local: Any) -> bool:
        file = os.path.realpath(str((scope or {}).get("__file__", "")))
        return scope is local and file.startswith(checkout) and not file.startswith(tree)

    # the names of the parameters are those of the built-in one: some call it by them
    def load(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if level or not fromlist or not is_test(globals, locals):
            return plain(name, globals, locals, fromlist, level)
        try:
            found = plain(name, globals, locals, fromlist, level)
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if missing not in modules or not f"{name}.".startswith(f"{missing}.") or where(error) == "tree":
                raise
            return _Seen(name, None, {one: stand_in(f"{name}.{one}") for one in fromlist})
        gone = [one for one in fromlist if f"{name}.{one}" in names or f"{name}.{one}" in modules]
        gone = [one for one in gone if one != "*" and not hasattr(found, one)]
        return _Seen(name, found, {one: stand_in(f"{name}.{one}") for one in gone}) if gone else found

    builtins.__import__ = load
