"""Facts on members of instances: ``pkg.mod.Class.attr``, ``pkg.mod.Class.method()``.

No types are inferred: a read ``x.attr`` is a read of the fact's class when no other class of the
live program has a member of that name. Whoever marks the program looks for other classes and for
stores that contradict the fact, and takes it away when it finds one.

Blind to classes of outside packages that have a member of the same name, and to a bound method
that is read without being called where an attribute of its name has a fact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pruner.fold import value as V
from pruner.fold.value import Value


@dataclass(slots=True)
class Members:
    """``attributes`` and ``methods``: member name -> class (dotted) -> value."""

    attributes: dict[str, dict[str, Value]] = field(default_factory=dict)
    methods: dict[str, dict[str, Value]] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)  # names (``attr``, ``method()``) whose facts fold nothing
    subjects: dict[tuple[str, str], str] = field(default_factory=dict)  # (name, class) -> subject as written
    names: frozenset[str] = frozenset()  # every member name that some fact speaks of
    called: dict[str, Value | None] = field(default_factory=dict)
    read: dict[str, Value | None] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)  # names that decided something
    _known: dict[tuple[str, ...], Any] = field(default_factory=dict)  # answers of `along`

    def add(self, owner: str, member: str, known: Value, subject: str) -> None:
        """State one fact; ``member`` is ``attr`` or ``method()``."""
        self._known.clear()
        name, call, _ = member.partition("(")
        rows = (self.methods if call else self.attributes).setdefault(name, {})
        rows[owner] = known
        self.names |= {name}
        key = f"{name}()" if call else name
        self.subjects[key, owner] = subject
        joined = None if key in self.lost else V.join(list(rows.values()))
        (self.called if call else self.read)[name] = joined

    def along(self, path: tuple[str, ...]) -> tuple[Value, int] | None:
        """The last step of a path that a fact decides: its value, and how many steps that takes."""
        known = self._known.get(path, path)
        if known is path:
            known = self._known[path] = self._along(path)
        return known  # type: ignore[no-any-return]

    def _along(self, path: tuple[str, ...]) -> tuple[Value, int] | None:
        for index in range(len(path) - 1, -1, -1):
            step = path[index]
            if step[0] != "." or step[1:] not in self.names:
                continue
            call = index + 1 < len(path) and path[index + 1][0] == "("
            if call and path[index + 1] != "()":
                continue
            known = (self.called if call else self.read).get(step[1:])
            if known is not None:
                self.asked.add(f"{step[1:]}()" if call else step[1:])
                return known, index + 1 + call
        return None
