"""What has to come back together: one step should be enough to have a removed thing again.

``load_format gguf`` sets ``quantization`` to ``gguf``, which a rule about this one choice takes from the table of
methods; a vision model is of no use without the processor of its images, a module of another walked package.

Blind to what belongs together without a rule, a key or an import that says so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pruner.model import Policy
from pruner.verify.catalogue import Catalogue


def alike(policy: Policy, rule: str, key: str, known: list[str]) -> list[str]:
    """Other tables from which the rule takes the key, if it is about this key alone: ``pkg.mod.T``.

    A rule of many keys takes ``ascend`` from samplers and from transfers, which have nothing to do with each other.
    """
    rows = [t.text.removesuffix("]").partition("[") for t in policy.drops if t.kind == "entry" and t.rule == rule]
    return [table for table, _, _ in rows if table not in known] if {named for _, _, named in rows} == {key} else []


class Companions:
    """Modules of walked packages that import what a model's module offers, read once."""

    def __init__(self, policy: Policy, up: Catalogue) -> None:
        self._up = up
        self._walks = {d.package: set(d.members) for d in policy.dynamics if not d.site}
        self._imports: dict[str, list[tuple[str, str, str]]] = {}  # package → (module, imported module, name)

    def of(self, package: str, module: str, name: str) -> Iterator[tuple[str, str]]:
        """(package, member) of other walked packages, not among those that the rules let them yield."""
        for other, members in sorted(self._walks.items()):
            if other == package:
                continue
            for own, target, bound in self._of_package(other):
                member = own.removeprefix(f"{other}.")
                if (target, bound) == (module, name) and member not in members:
                    yield other, member

    def _of_package(self, package: str) -> list[tuple[str, str, str]]:
        known = self._imports.get(package)
        if known is None:
            known = self._imports[package] = []
            for module in sorted(self._up.paths):
                if module.rpartition(".")[0] == package:
                    known += [(module, target, name) for target, name in self._named(module)]
        return known

    def _named(self, module: str) -> Iterator[tuple[str, str]]:
        """``from pkg.mod import Name``, wherever it stands in the text; absolute names alone."""
        for found in re.finditer(r"^[ \t]*from ([\w.]+) import (\([^)]*\)|[^\n(]+)", self._up.text(module), re.M):
            try:
                node = ast.parse(found[0].strip()).body[0]
            except (SyntaxError, IndexError):
                continue
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    yield node.module, alias.name
