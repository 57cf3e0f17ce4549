"""Classes whose members are listed through their ancestors: ``for c in type(self).__mro__: vars(c)``.

Blind to ancestors that one function finds and another one asks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pruner.verify.built import chain_text
from pruner.verify.coded import LISTS, own_class
from pruner.verify.names import FUNCTIONS
from pruner.verify.nodes import children

_ABOVE = frozenset({"__mro__", "__bases__", "mro"})
_SIGNS = (re.compile(rb"mro(?:(?<=__mro)__|(?:(?<=getmro)|(?<!\wmro))\b)"), re.compile(rb"__bases__"))  # not `mrope`


def listings(tree: ast.Module, data: bytes) -> Iterator[tuple[int, str]]:
    """Line and object of each place: ``self:Class`` for the class of a method, a chain, "" where it cannot be told."""
    if not any(sign.search(data) for sign in _SIGNS):
        return
    work: list[tuple[ast.AST, str]] = [(tree, "")]
    while work:
        scope, owner = work.pop()
        found: list[ast.expr] = []
        asks = False
        stack: list[ast.AST] = list(children(scope))
        while stack:
            node = stack.pop()
            if isinstance(node, ast.ClassDef):
                work.append((node, node.name))
                continue
            if isinstance(node, FUNCTIONS) and not isinstance(scope, FUNCTIONS):
                work.append((node, owner if isinstance(scope, ast.ClassDef) else ""))
                continue  # what a method defines belongs to the method
            if isinstance(node, ast.Attribute) and node.attr in _ABOVE:
                found.append(node.value)
            elif isinstance(node, ast.Attribute) and node.attr == "__dict__":
                asks = True
            elif isinstance(node, ast.Call):
                head = chain_text(node.func).rpartition(".")[2]
                asks = asks or head == "vars" or head in LISTS
                if head == "getmro" and node.args:
                    found.append(node.args[0])
            stack += children(node)
        for node in found if asks else ():
            yield node.lineno, f"self:{owner}" if owner and own_class(node) else chain_text(node)
