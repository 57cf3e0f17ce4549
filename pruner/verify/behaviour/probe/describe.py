"""Describe values as JSON that is equal for equal values in two processes and two folders.

Blind to what an instance of an ordinary class holds (only dataclasses are looked into), to function
bodies, and to mappings or sequences below the fifth level.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import inspect
import os
import re
import types
from typing import Any

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
UNION = re.compile(r"\b(?:typing\.)?(Optional|Union)\[")
TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"| \| |, |: | = | -> |[()\[\]{}]|.""", re.S)
DEPTH = 5
PROCESS = "process:"  # before a number that is also that of the process, which may be by chance
LONGEST = 400  # characters of a text that is shown whole


def unions(text: str) -> str:
    """``Optional[X]`` and ``Union[X, Y]`` written as ``X | None`` and ``X | Y``, each in one order.

    ``typing`` remembers by equality what it has built, ``Optional[X]`` equals ``X | None``, and ``Union[X, Y]``
    ``Union[Y, X]``: whichever a process meets first is the spelling of both from then on.
    """
    while (found := UNION.search(text)) is not None:
        start, at, depth, parts = found.end(), found.end(), 0, []
        while at < len(text) and (depth or text[at] != "]"):
            depth += (text[at] in "[(") - (text[at] in "])")
            if text[at] == "," and not depth:
                parts.append(text[start:at])
                start = at + 1
            at += 1
        parts = [part.strip() for part in (*parts, text[start:at])]
        parts = ["None" if part == "NoneType" else part for part in parts] + ["None"] * (found[1] == "Optional")
        text = f"{text[: found.start()]}{' | '.join(parts)}{text[at + 1 :]}"
    return _ordered(text)


def _ordered(text: str) -> str:
    """The alternatives of each ``X | Y`` in alphabetical order; a text whose brackets do not match as it is."""
    if " | " not in text:
        return text
    stack: list[tuple[list[str], list[str]]] = [([], [""])]  # by depth: what is done, the alternatives at hand
    for token in TOKEN.findall(text):
        done, parts = stack[-1]
        if token == " | ":
            parts.append("")
        elif token in (", ", ": ", " = ", " -> "):
            done += [" | ".join(sorted(parts)), token]
            parts[:] = [""]
        elif token in "([{":
            parts[-1] += token
            stack.append(([], [""]))
        elif token in ")]}":
            if len(stack) == 1:
                return text
            stack.pop()
            stack[-1][1][-1] += "".join([*done, " | ".join(sorted(parts)), token])
        else:
            parts[-1] += token
    done, parts = stack[-1]
    return "".join([*done, " | ".join(sorted(parts))]) if len(stack) == 1 else text


class Describer:
    """Describes values; ``roots`` are the folders whose paths must not show."""

    def __init__(self, roots: dict[str, str]) -> None:
        self.roots = roots

    def text(self, value: object) -> str:
        """A text without addresses and local paths; a long one by its digest."""
        text = self.whole(value)
        if len(text) > LONGEST:
            text = f"{text[:80]}... sha256:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        return text

    def whole(self, value: object) -> str:
        """A text without addresses and local paths."""
        text = value if isinstance(value, str) else repr(value)
        for root, name in self.roots.items():
            text = text.replace(root, name)
        return ADDRESS.sub("0x", text)

    def value(self, value: Any, depth: int = 0) -> Any:
        """A JSON value; a ``type:`` prefix tells kinds apart."""
        if value is None or (isinstance(value, (bool, int)) and not isinstance(value, enum.Enum)):
            # OWNER = os.getpid(), in the process that imported the module: another one in each run
            own = type(value) is int and value > 1 and value in (os.getpid(), os.getppid())
            return f"{PROCESS}{value}" if own else value
        if isinstance(value, enum.Enum):
            return f"{type(value).__qualname__}.{value.name}={self.text(value.value)}"
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (float, bytes, complex)):
            return f"{type(value).__name__}:{self.text(value)}"
        if depth >= DEPTH:
            return f"deep:{type(value).__qualname__}"
        if isinstance(value, dict):
            return {self.key(k): self.value(v, depth + 1) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(v, depth + 1) for v in value]
        if isinstance(value, (set, frozenset)):
            return {"set": sorted(self.key(v) for v in value)}
        return self.other(value, depth)

    def key(self, value: Any) -> str:
        """One line for a key or member."""
        described = self.value(value, DEPTH - 1)
        return described if isinstance(described, str) else self.text(described)

    def other(self, value: Any, depth: int) -> Any:
        """Classes, functions, modules and instances."""
        if isinstance(value, types.ModuleType):
            return f"module:{value.__name__}"
        if isinstance(value, type):
            return f"class:{value.__module__}.{value.__qualname__}"
        if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
            return f"function:{value.__module__}.{value.__qualname__}"
        kind = type(value)
        if kind.__module__ == "torch" and kind.__name__ in ("dtype", "device", "layout"):
            return self.text(value)
        if dataclasses.is_dataclass(value):
            fields = {f.name: self.value(getattr(value, f.name, None), depth + 1) for f in dataclasses.fields(value)}
            return {"instance": f"{kind.__module__}.{kind.__qualname__}", "fields": fields}
        return f"instance:{kind.__module__}.{kind.__qualname__}"

    def signature(self, function: Any) -> str:
        """Parameters, defaults and the kind of function (a removed ``yield`` changes it)."""
        try:
            text = self.whole(unions(str(inspect.signature(function))))  # as it is: a stand-in in it is told apart
        except (TypeError, ValueError, NameError, AttributeError):
            text = "(?)"
        code = getattr(inspect.unwrap(function), "__code__", None)
        flags = code.co_flags if code is not None else 0
        kinds = (
            (inspect.CO_GENERATOR, "generator"),
            (inspect.CO_COROUTINE, "coroutine"),
            (inspect.CO_ASYNC_GENERATOR, "async generator"),
        )
        return " ".join([text, *(name for flag, name in kinds if flags & flag)])

    def member(self, value: Any) -> Any:
        """A member of a class: one line, or a table."""
        if isinstance(value, (staticmethod, classmethod)):
            return f"{type(value).__name__} {self.signature(value.__func__)}"
        if isinstance(value, property):
            return "property" + (" settable" if value.fset else "")
        if isinstance(value, types.FunctionType):
            return f"def {self.signature(value)}"
        return self.value(value, 1)

    def class_(self, cls: type) -> dict[str, Any]:
        """Bases, own members, fields of a class."""
        row: dict[str, Any] = {
            "bases": [f"{base.__module__}.{base.__qualname__}" for base in cls.__mro__[1:]],
            "members": {
                name: self.member(value)
                for name, value in vars(cls).items()
                if not (name.startswith("__") and name.endswith("__")) or isinstance(value, types.FunctionType)
            },
        }
        if issubclass(cls, enum.Enum):
            row["enum"] = {m.name: self.text(m.value) for m in cls}
        elif dataclasses.is_dataclass(cls):
            row["fields"] = {f.name: f"{self.text(f.type)} = {self.default(f)}" for f in dataclasses.fields(cls)}
        elif hasattr(cls, "__struct_fields__"):
            defaults = tuple(getattr(cls, "__struct_defaults__", ()))
            row["struct"] = [list(cls.__struct_fields__), [self.member(d) for d in defaults]]
        return row

    def default(self, field: Any) -> str:
        """The default of a dataclass field."""
        if field.default is not dataclasses.MISSING:
            return self.member(field.default)
        return "factory" if field.default_factory is not dataclasses.MISSING else "required"

    def failure(self, error: BaseException) -> dict[str, str]:
        """Type and text of an exception, and the last place in the tree."""
        where, trace = "", error.__traceback__
        while trace is not None:
            name = trace.tb_frame.f_code.co_filename
            for root, label in self.roots.items():
                if label == "<tree>" and name.startswith(root):
                    where = f"{name[len(root) :].lstrip('/')}:{trace.tb_lineno}"
            trace = trace.tb_next
        return {"error": type(error).__name__, "text": self.text(str(error)), "where": where}
