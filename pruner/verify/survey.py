"""One walk over a kept file: everything that other checks ask about it, small enough to send between processes.

Blind to names that are put together in ways other than an f-string, ``+``, ``%`` or a plain
string, and to what a file does through ``exec``.
"""

from __future__ import annotations

import ast
import re
from collections import Counter

from pruner.verify.ancestry import listings
from pruner.verify.coded import RUN
from pruner.verify.held import lookups
from pruner.verify.names import Import, Names, called, module_names
from pruner.verify.nodes import walk
from pruner.verify.ownnames import by_walrus, in_dictionary, in_others
from pruner.verify.record import DOTTED, Survey
from pruner.verify.tree import Tree, parse_bytes
from pruner.verify.walker import Walker
from pruner.verify.world import literal_all


def survey(
    tree: Tree,
    path: str,
    module: str,
    data: bytes,
    facts: frozenset[str],
    known: tuple[ast.Module | None, Names | None] = (None, None),
) -> tuple[Survey, ast.Module | None, Names | None]:
    """Survey one file; also its syntax tree and names, ``known`` when these bytes were read as this module before.

    ``facts`` are attribute names that rules speak of.
    """
    parsed, names = known
    if parsed is None:
        parsed = parse_bytes(data)
    if parsed is None:
        return _unparsed(tree, path, module, data), None, None
    if names is None:
        names = module_names(parsed, module, tree.is_package(module), data)
    result = Survey(path, module)
    result.bound = frozenset(names.bindings)
    result.first = names.first()
    result.imports = [_light(row) for row in names.imports]
    result.stars = tuple(names.stars)
    listed = literal_all(names)
    result.listed = frozenset(listed) if listed is not None else None
    result.rebound = frozenset(name for name, lines in names.rebound.items() if lines) | in_dictionary(parsed, data)
    result.rebound |= by_walrus(parsed, data, names)
    roots = {row.bound for row in names.imports}
    result.put = in_others(parsed, data, roots)
    roots |= {name for name, rows in names.bindings.items() if any(row.kind == "class" for row in rows)}
    roots |= RUN
    walker = Walker(result, roots, facts, module)
    if any(word in data for word in (b"import_module", b"__import__", b"resources", b"pkgutil")):
        walker.fixed = _fixed(parsed, names, result.rebound)
    walker.walk(parsed)
    result.gets += [(line, base, ".*", False, "dir") for line, base in listings(parsed, data)]
    walker.finish()
    result.called = called(parsed)
    result.lookups = lookups(parsed, data, module)
    if b"ModuleType" in data:  # `self` of a class that derives from it is a module
        result.plain = result.attributes
    return result, parsed, names


def _fixed(parsed: ast.Module, names: Names, rebound: frozenset[str]) -> dict[str, str]:
    """Variables of the module that hold one text and share their name with no local, as patterns: ``NAME = "second"``."""
    found = {}
    for name, rows in names.bindings.items():
        value = rows[0].value if len(rows) == 1 and rows[0].kind == "assign" else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and name not in rebound:
            found[name] = re.escape(value.value)
    stored: Counter[str] = Counter()
    for node in walk(parsed) if found else ():
        if isinstance(node, ast.arg):
            stored[node.arg] += 2
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored[node.id] += 1
    return {name: text for name, text in found.items() if stored[name] == 1}


def _light(row: Import) -> Import:
    """Without the guards, which hold syntax trees."""
    return Import(row.line, row.target, row.symbol, row.bound, row.lazy, row.guarded, row.typing)


def _unparsed(tree: Tree, path: str, module: str, data: bytes) -> Survey:
    """What can be said of a file in a newer Python: its words, and its imports by pattern."""
    text = data.decode("utf-8", "replace")
    words = frozenset(re.findall(r"[^\W\d]\w*", text))
    result = Survey(path, module, parsed=False, identifiers=words, strings=words | frozenset(DOTTED.findall(text)))
    for found in re.finditer(
        r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+([\w, \t]+)|import[ \t]+([\w.]+))", text, re.M
    ):
        line = text.count("\n", 0, found.start()) + 1
        if found[3]:
            result.imports.append(Import(line, found[3], None, found[3].partition(".")[0], True))
        elif not found[1].startswith("."):
            for name in found[2].split(","):
                head = name.split()[:1]
                if head:
                    result.imports.append(Import(line, found[1], head[0], head[0], True))
    return result
