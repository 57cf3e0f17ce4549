"""Does anything of upstream load a module by itself? What nothing loads, a user of upstream has not got either.

``class Old`` stays in a release after its last user went: that the output is without it takes nothing away. Whoever
looks here has found it gone, so only a plain answer counts: any word that may be the module's name is a user, wherever
it stands but in what type checkers alone see.

Blind to names that are put together from parts neither of which begins with the package's or ends with the module's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pruner.verify.catalogue import Catalogue
from pruner.verify.nodes import children

_WORDS = re.compile(r"\w+")


def deserted(tree: Catalogue, module: str, walked: frozenset[str] = frozenset()) -> bool:
    """True where no other module of the tree names this one. ``walked``: packages whose modules are found by listing them."""
    package, _, name = module.rpartition(".")
    if module not in tree.paths or tree.paths[module][1] or not package or package in walked or name == "__main__":
        return False
    for other in tree.paths:
        if other == module:
            continue
        text = tree.text(other)
        if name not in text and package not in text:
            continue
        parsed = tree.tree(other)
        if parsed is None or any(_names(node, package, name) for node in _run(parsed)):
            return False
    return True


def _run(root: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a module but for those below ``if TYPE_CHECKING:``."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.If) and _typing(node.test):
            stack += node.orelse
        else:
            stack += children(node)


def _typing(test: ast.expr) -> bool:
    return getattr(test, "id", getattr(test, "attr", "")) == "TYPE_CHECKING"


def _names(node: ast.AST, package: str, name: str) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        dotted = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            dotted.append(node.module or "")
        return any(name in text.split(".") for text in dotted)
    if isinstance(node, ast.Attribute):
        return node.attr == name
    if isinstance(node, ast.Name):
        return node.id == name
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value  # "old", "pkg.old:main"; no sentences
        if text == package or (text.startswith(f"{package}.") and name.startswith(text[len(package) + 1 :])):
            return True  # "pkg." + name, f"pkg.o{rest}", import_module("." + name, "pkg")
        return not re.search(r"\s", text) and name in _WORDS.findall(text)
    return False
