"""The import run: each kept module imports as upstream's does, and its names are upstream's less what was removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from pruner.verify.behaviour.licence import GUARD, Licences
from pruner.verify.behaviour.statics import Side

STRICT = ("fields", "struct")  # of a class: nothing may go


class Modules:
    """Judges one device's pair of import runs."""

    def __init__(self, up: Side, out: Side, licences: Licences) -> None:
        self.up, self.out, self.licences = up, out, licences
        self.counts: Counter[str] = Counter()

    def imports(self, up: dict[str, Any], out: dict[str, Any]) -> Iterator[str]:
        """Problems of importing: modules that fail, operators and models that are no longer registered."""
        for module, after in out["modules"].items():
            yield from self._module(module, up["modules"].get(module, {}), after)
        lost = set(up["operators"]) - set(out["operators"])
        yield from (
            f"operator {name}: upstream registers no such operator"
            for name in out["operators"]
            if name not in up["operators"]
        )
        self.counts["operators"] += len(out["operators"])
        for name in sorted(lost):
            plain = name.partition("::")[2].partition(".")[0]
            if plain in self.out.strings or self._defined(plain):
                yield f"operator {name}: no longer registered, but kept code names it"
            else:
                self.counts["operators lost"] += 1
        yield from self._registry(up["registry"], out["registry"])

    def names(self, up: dict[str, Any], out: dict[str, Any]) -> Iterator[str]:
        """Problems of what modules and classes offer, each beginning with a module's name."""
        for module, after in out["modules"].items():
            before = up["modules"].get(module, {})
            if "error" in after or "error" in before:
                continue
            left = self._left(module, before["names"], after["names"])
            yield from self._names(module, before["names"], after["names"], left)
            for name, row in after["classes"].items():
                if name in before["classes"] and name not in left:
                    yield from self._class(module, name, before["classes"][name], row)

    def _left(self, module: str, before: dict[str, Any], after: dict[str, Any]) -> frozenset[str]:
        """Names that a loop over a table with fewer entries left behind: the last round was another one.

        ``for name, cls in TABLE.items(): register(name, cls)``; the table itself is compared as every value.
        """
        left = {
            name
            for name, walked in self.up.bound(module).looped.items()
            if before.get(name) != after.get(name) and any(before.get(t) != after.get(t) for t in walked - {name})
        }
        self.licences.counts["loop"] += len(left)
        return frozenset(left)

    def _registry(self, up: dict[str, Any], out: dict[str, Any]) -> Iterator[str]:
        """Upstream's registry logs what it cannot import and goes on: here each failure counts."""
        if "failure" in up:
            return
        if "failure" in out:
            yield f"model registry: {out['failure']['error']}: {out['failure']['text']} ({out['failure']['where']})"
            return
        self.counts["architectures"] += len(out["loaded"])
        if not out["loaded"]:
            yield "model registry: no architecture is left"
        yield from self.licences.differences("model registry", up["loaded"], out["loaded"])
        for module, failure in out["failures"].items():
            if module not in up["failures"]:
                yield f"model registry: {module} fails: {failure['error']}: {failure['text']} ({failure['where']})"

    def _defined(self, name: str) -> bool:
        return any(name in self.out.bound(module).names for module in self.out.modules)

    def _module(self, module: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
        if "error" in after:
            if "error" not in before:
                yield f"{module}: {after['error']}: {after['text']} ({after['where']}); upstream imports it"
            elif (before["error"], before["text"]) != (after["error"], after["text"]):
                yield (
                    f"{module}: fails with {after['error']}: {after['text']} ({after['where']}), "
                    f"upstream with {before['error']}: {before['text']}"
                )
            else:
                self.counts["failing in both"] += 1
            return
        self.counts["imported"] += 1
        if "error" in before:
            self.counts["failing upstream only"] += 1
            return
        self.counts["second pass"] += "second" in after

    def _names(self, module: str, before: dict[str, Any], after: dict[str, Any], left: frozenset[str]) -> Iterator[str]:
        text_up, text_out = self.up.bound(module), self.out.bound(module)
        self.counts["names"] += len(after)
        for name, value in before.items():
            if name in left and name in after:
                continue
            if name in after:
                if name == "__all__":
                    yield from self._all(module, value, before, after)
                else:
                    yield from self.licences.differences(f"{module}.{name}", value, after[name])
            elif name in text_out.names and name not in text_out.read and name not in self.out.asked:
                self.counts["dead names"] += 1  # bound where this run did not come by, and nothing reads it
            elif name in text_out.names:
                yield f"{module}.{name}: its text still binds it, but it is not there"
            elif name in text_up.names or text_up.star or name == "__all__":
                self.counts["names removed"] += 1
            else:
                yield f"{module}.{name}: set from outside upstream, no longer there"
        for name in after:
            if name not in before and name != GUARD:
                yield f"{module}.{name}: upstream has no such name"

    def _all(self, module: str, names: list[str], rest: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
        """``rest`` are upstream's names: a list may hold names that come from ``__getattr__`` alone."""
        listed = after["__all__"]
        if [name for name in names if name in listed] != listed:
            yield f"{module}.__all__: not a part of upstream's"
        yield from (
            f"{module}.__all__: lists {name}, which is not there"
            for name in listed
            if name in rest and name not in after and f"{module}.{name}" not in self.out.modules
        )
        yield from (
            f"{module}.__all__: lost {name}, which is there" for name in names if name not in listed and name in after
        )

    def _class(self, module: str, name: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
        here = f"{module}.{name}"
        self.counts["classes"] += 1
        if before["bases"] != after["bases"]:
            yield f"{here}: the bases changed"
        members = self.out.bound(module).members.get(name, frozenset())
        for member, value in before["members"].items():
            if member in after["members"]:
                yield from self.licences.differences(f"{here}.{member}", value, after["members"][member])
            elif member in members:
                yield f"{here}.{member}: its text still binds it, but it is not there"
            else:
                self.counts["members removed"] += 1
        yield from (
            f"{here}.{member}: upstream has no such member"
            for member in after["members"]
            if member not in before["members"]
        )
        yield from self.licences.differences(f"{here} members", before.get("enum", {}), after.get("enum", {}))
        for part in STRICT:
            if before.get(part) != after.get(part):
                yield f"{here}: its {part} changed"
