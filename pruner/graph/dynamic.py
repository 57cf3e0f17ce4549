"""Names that code builds or writes as text: string tables, built import names, walked packages.

Every rule here keeps more. Blind to text that is computed from data files or the network.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from pruner.graph.evaluated import HOLE, HOLES, holed, load, words
from pruner.model import Dynamic
from pruner.model.ir import Expr, constants

if TYPE_CHECKING:
    from pruner.fold.reduce import Remains
    from pruner.graph.live import Marker

_IMPORTERS = ("importlib.import_module", "import_module", "__import__", "importlib.util.find_spec", "runpy.run_module")
_BY_NAME = frozenset(name.rpartition(".")[2] for name in _IMPORTERS)
_OF_PACKAGES = ("files", "path", "open_text", "open_binary", "read_text", "read_binary", "is_resource", "contents")
_NAMED = frozenset({"pkgutil.get_data", "pkgutil.resolve_name", *(f"importlib.resources.{n}" for n in _OF_PACKAGES)})
_LAST = frozenset({*_OF_PACKAGES, "get_data", "resolve_name"})
_READERS = ("getattr", "hasattr", "setattr", "delattr", "attrgetter", "methodcaller")
_LISTED = ("dir", "vars", "inspect.getmembers", "inspect.getmembers_static")
_WORD = re.compile(r"[^\W\d]\w*")
_WALKERS = ("pkgutil.iter_modules", "pkgutil.walk_packages")
_TELLING = _LAST.union(_READERS, (name.rpartition(".")[2] for name in (*_LISTED, *_IMPORTERS, *_WALKERS)))


def texts(marker: Marker, module: str, node: str, values: list[str], listing: bool) -> None:
    """String constants that name a module, a symbol of one, a script or a name of the same module.

    ``listing``: the unit lists members (``dir``), so a text like ``case_`` is a prefix of their names.
    """
    table = marker.table
    state = marker.out.states[module]
    if module in marker.loaded.declared:
        marker.loaded.sited(module, node, words=values)
    for text in values:
        if text in table.children:
            marker.held.package_named(text, node)
        tells = marker.loaded.tells(text)
        for piece in marker.loaded.several(module, node, text, tells):
            texts(marker, module, node, [piece], False)
        if tells and ("{" in text or "%" in text):
            _built_modules(marker, module, node, HOLES.sub(HOLE, text))
        if tells and "import " in text:
            for source, name in marker.loaded.statements(module, text):
                _imports(marker, node, source, name)
        for name in sorted(state.typed.intersection(_WORD.findall(text))) if state.typed else ():
            marker.need(module, name, node, "text", 0)  # cast("Cache", x): a type checker looks for it
        if text.isidentifier():
            marker.use_name(text)
            marker.held.spelled(module, text, node)
            if listing and text.endswith("_") and len(text) > 2:
                marker.use_pattern(re.escape(text) + r"\w*")  # n.startswith("case_") over dir(self)
            if text in state.names and any(i.kind in ("def", "class") for i in state.names[text]):
                marker.need(module, text, node, "text", 0)
            continue
        if text.startswith(".") and text.strip(".").replace(".", "").isidentifier():
            level = len(text) - len(text.lstrip("."))
            target = table.absolute(state.summary, text.lstrip("."), level)
            if target in table.paths:
                marker.escape(target, node, 0, private=False)
            continue
        if text.endswith(".py"):
            _script(marker, node, text)
            continue
        if "." not in text and ":" not in text:
            continue  # most are for people
        dotted = text.replace(":", ".")
        for part in dotted.split("."):
            if part.isidentifier():
                marker.use_name(part)
        if "." not in dotted or not all(p.isidentifier() for p in dotted.split(".")):
            continue
        split = table.split(dotted)
        if split is None or ("." not in split[0] and not split[1]):
            continue
        found, rest = split
        if found not in table.paths or (rest and found.count(".") < 1 and "." in rest):
            continue
        if not rest:
            marker.escape(found, node, 0, private=False)
        elif rest.split(".")[0] in (marker.state(found) or state).names:
            marker.need(found, rest.split(".")[0], node, "text", 0)
            if found != module:
                marker.held.told(module, found, node)


_PLACED = re.compile(
    r"[^\W\d]\w*(?:\.\w+)*\.[\w.:]*\0[\w.:\0]*"
)  # of a built text: a dotted name with a hole behind a dot
_DOTTED = re.compile(r"[\w\0.]+")
_FROM_BUILT = re.compile(r"\bfrom\s+([^\W\d][\w.]*)\s+import\s+\0")  # exec(f"from pkg import {name}")
_CODE = re.compile(r"[^\W\d]\w*")


def code(marker: Marker, module: str, node: str, values: list[str]) -> None:
    """Texts beside ``eval`` or ``exec``: their identifiers may be globals of the module."""
    state = marker.out.states[module]
    for text in values:
        for name in _CODE.findall(text):
            marker.use_name(name)
            if name in state.names:
                marker.need(module, name, node, "text", 0)
        if "import" in text:
            _imported(marker, node, text)


def _imported(marker: Marker, node: str, text: str) -> None:
    """What code in a text imports."""
    try:
        parsed = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    for part in ast.walk(parsed):
        if isinstance(part, ast.Import):
            for alias in part.names:
                _imports(marker, node, alias.name, "")
        elif isinstance(part, ast.ImportFrom) and part.module and not part.level:
            for alias in part.names:
                _imports(marker, node, part.module, alias.name)


def _imports(marker: Marker, node: str, module: str, name: str) -> None:
    """``import module``, or ``from module import name``, in a text."""
    if name == "*":
        marker.escape(module, node, 0, private=False)
    elif name:
        marker.need(module, name, node, "text", 0)
        marker.held.give(module, name, node, 0)
    else:
        marker.held.hold(module, node, 0)


def spellings(remains: Remains) -> set[str]:
    """Names that ``getattr(self, name)`` may be handed: keywords of calls, words of texts (``"visit-x"``)."""
    found = {key for call in remains.calls if call[0] == "k" for key, _ in call[3] if key}
    for text in remains.texts:
        if not text.isidentifier():
            found.update(_spelled(text))
    return found


@cache
def _spelled(text: str) -> frozenset[str]:
    return frozenset(_CODE.findall(text.replace("-", "_")))


def declared(stmt: Expr) -> set[str]:
    """The same of a definition: its own name, its parameters, the fields of a class."""
    if stmt[0] == "def":
        return {stmt[3], *stmt[6][0]}
    if stmt[0] == "class":
        return {stmt[3], *(t[1] for s in stmt[7] if s[0] == "=" and s[5] in ":?" for t in s[3] if t[0] != "s")}
    return set()


def _script(marker: Marker, node: str, text: str) -> None:
    suffix = "/" + text.lstrip("./")
    for module, (path, _) in marker.table.paths.items():
        if ("/" + path).endswith(suffix) and not marker.drops.module(module):
            marker.out.scripts.add(module)
            load(marker, module, node)


def calls(marker: Marker, module: str, node: str, found: list[Expr]) -> None:
    """Imports by a built name and walks over a package."""
    if not found:
        return
    found = [_by_position(e) for e in found]
    names = [_callee(marker, module, e[1]) if e[0] == "k" and e[1][0] in ("n", "v") else "" for e in found]
    rows = list(zip(found, names, strict=True))
    indirect = any(_reads_by_variable(e, name) for e, name in rows)
    loads = any(_loads_by_variable(e, name) for e, name in rows)
    stored = _stored_names(rows, found)
    for argument in sorted(stored, key=repr):
        _built_name(marker, argument, stored=True)
    unheard = _unheard(marker, rows, found)
    for e, name in rows:
        built = e[0] == "j" or (e[0] == "k" and e[1][0] == "x" and _joined(e) is not None)
        if loads and built:
            _load_pattern(marker, module, node, e)  # name = f"{__name__}.{kind}" … import_module(name)
        if built and e not in unheard:
            text = _shown(marker, module, e)
            _built_modules(marker, module, node, text)
            if "." in text.replace(HOLE, "").strip("."):  # "pkg.tools" + ".one", f"{python} -m pkg.tools.one"
                texts(marker, module, node, [text.replace(HOLE, " ").strip()], False)
        if e[0] == "j":
            _built_target(marker, node, e)
        if built and indirect and e not in stored:  # name = f"forward_{kind}" … getattr(self, name)
            _built_name(marker, e)
        if e[0] != "k" or e[1][0] not in ("n", "v"):
            continue
        marker.loaded.handed(module, e)
        if name.rpartition(".")[2] not in _TELLING:
            continue
        if name in _LISTED and e[2] and e[2][0][0] == "n":
            symbol, rest = marker.world.follow(module, e[2][0][1], e[2][0][2])
            if symbol.kind == "module" and not rest:
                marker.escape(symbol.module, node, 0)
        if name.rpartition(".")[2] in _READERS:
            for argument in e[2]:
                if argument[0] in ("j", "k") and argument not in stored:
                    _built_name(marker, argument)
        if name in _IMPORTERS and e[2]:
            _import_call(marker, module, node, e)
        elif name in _WALKERS and e[2]:
            _walk_call(marker, module, node, e[2][0])
        elif _loads_named(e[1], name) and e[2]:
            known = _piece(marker, module, e[2][0]) or ""
            _load_named(marker, node, known.replace("\\", ""))


def _by_position(e: Expr) -> Expr:
    """``import_module(name=f".{kind}", package=__name__)`` as ``import_module(f".{kind}", package=__name__)``."""
    if e[0] != "k" or e[2] or not e[3] or e[1][0] not in ("n", "v", "x"):
        return e
    last = e[1][2][-1][1:] if e[1][2] else e[1][1]
    if last not in _BY_NAME:
        return e
    given = dict(e[3])
    first = next((given[key] for key in ("name", "mod_name") if key in given), None)
    return e if first is None else (*e[:2], (first,), tuple(row for row in e[3] if row[1] is not first))


def _unheard(marker: Marker, rows: list[tuple[Expr, str]], found: list[Expr]) -> set[Expr]:
    """Texts that a function without effects gets, which can load nothing: ``traced(function, f"pkg.{name}")``."""
    pure = [
        argument
        for e, name in rows
        if e[0] == "k" and e[1][0] == "n" and name in marker.world.purities
        for argument in e[2]
    ]
    return {
        argument for argument in pure if argument[0] == "j" and _occurrences(found, argument) <= pure.count(argument)
    }


def _shown(marker: Marker, module: str, e: Expr) -> str:
    """A built text with a mark for each part that is not known, names of modules and constants written out."""
    joined = _joined(e)
    if joined is not None:
        return joined[0].join(_shown(marker, module, part) for part in joined[1])
    if e[0] == "j":
        return "".join(_shown(marker, module, part) for part in e[1])
    known = _piece(marker, module, e)
    return HOLE if known is None or ".*" in known else known.replace("\\", "")


def _built_modules(marker: Marker, module: str, node: str, text: str) -> None:
    """``name = f"pkg.plugins.{kind}"``, ``f"python -m pkg.tools.{name}"``: whoever is given the text may load what fits."""
    for word in _PLACED.findall(_FROM_BUILT.sub(rf"\1.{HOLE}", text)):
        package = word.partition(HOLE)[0].rpartition(".")[0]
        if package not in marker.table.children or package.partition(".")[0] not in marker.table:
            continue
        if module in marker.loaded.declared:
            marker.loaded.sited(module, node, shape=".*".join(map(re.escape, word.partition(":")[0].split(HOLE))))
        if any(_says(marker, d, package, module) for d in marker.policy.dynamics):
            continue
        steps = word.partition(":")[0].rstrip(".").split(".")
        shapes = (".".join(steps), ".".join(steps[:-1]))  # pkg.plugins.{kind}.main: main may be a name of the module
        wanted = re.compile("|".join(".*".join(map(re.escape, shape.split(HOLE))) for shape in shapes))
        for child in marker.table.below(package):
            if child != package and wanted.fullmatch(child) and not marker.drops.module(child):
                marker.escape(child, node, 0, private=False)


def _says(marker: Marker, rule: Dynamic, package: str, module: str) -> bool:
    """Does a rule say which modules of the package the module loads, or somebody near it whom it hands names to?"""
    if rule.package == package or rule.site == module:
        return True
    return package.startswith(rule.package + ".") and bool(rule.site) and marker.held.near(module, rule.site)


def _built_target(marker: Marker, node: str, e: Expr) -> None:
    """``f"pkg.mod:{name}"``: any name of the module may be meant."""
    first = _flatten(e)[0] if e[1] else None
    if not first or not any(mark in first for mark in ":."):
        return
    module, mark, rest = first.partition(":")
    if not mark:
        module, rest = first.rstrip("."), ""
    if module not in marker.table.paths or "." not in module or marker.drops.module(module):
        return
    name, dot, _ = rest.partition(".")
    if dot:
        marker.need(module, name, node, "text", 0)  # "pkg.mod:Class." + method
        state = marker.state(module)
        for item in state.names.get(name, ()) if state else ():
            item.api = True
    elif mark or not marker.table.is_package(module):
        marker.escape(module, node, 0)


def reflections(marker: Marker, node: str, found: list[tuple[str, str, tuple[str, ...], Expr]]) -> None:
    """``getattr(module, name)``: the names that fit, or all of them when the name can be anything."""
    for module, root, path, name in found:
        symbol, rest = marker.world.follow(module, root, path)
        if symbol.kind != "module" or rest or symbol.module not in marker.table.paths:
            continue
        if name[0] == "c":
            marker.need(symbol.module, str(name[1]), node, "getattr", 0)
            marker.held.give(symbol.module, str(name[1]), node, 0)
            continue
        parts = _flatten(name) if name[0] == "j" else [None]
        if any(parts):
            pattern = "".join(".*" if p is None else re.escape(p) for p in parts)
            state = marker.state(symbol.module)
            for known in [n for n in (state.names if state else ()) if re.fullmatch(pattern, n)]:
                marker.need(symbol.module, known, node, "getattr", 0)
                marker.held.give(symbol.module, known, node, 0)
        else:
            marker.escape(symbol.module, node, 0)


def _reads_by_variable(e: Expr, name: str) -> bool:
    return bool(name) and len(e[2]) > 1 and e[2][1][0] not in ("c", "j") and name.rpartition(".")[2] in _READERS


def _stored_names(rows: list[tuple[Expr, str]], found: list[Expr]) -> set[Expr]:
    """``setattr(x, f"_{name}", value)`` reads nothing and calls no method but the setter of a property.

    Not a text that stands elsewhere in the definition too: there it may be read.
    """
    uses: Counter[Expr] = Counter()
    for e, name in rows:
        if name in ("setattr", "builtins.setattr") and len(e[2]) == 3 and e[2][1][0] == "j":
            uses[e[2][1]] += 1
    return {text for text, count in uses.items() if _occurrences(found, text) <= count}


def _occurrences(found: list[Expr], text: Expr) -> int:
    """How often the text is built on its own, or handed to a call that reads names."""
    handed = [argument for e in found if e[0] == "k" for argument in e[2]]
    return max(found.count(text), handed.count(text))


def _built_name(marker: Marker, argument: Expr, *, stored: bool = False) -> None:
    """``getattr(self, f"forward_{kind}")``: every method of that shape may be meant; ``stored``: every property."""
    joined = _joined(argument)  # "_".join(["forward", kind])
    text = joined[0].join(map(holed, joined[1])) if joined is not None else holed(argument)
    for pattern in words(text) if _DOTTED.fullmatch(text) else ():  # attrgetter(f"part.step_{kind}") has two
        marker.use_pattern(pattern, stored=stored)
    if HOLE not in text:  # "step_" + "one"
        for name in text.split("."):
            marker.use_name(name)


def chain_call(marker: Marker, module: str, node: str, chain: Expr) -> None:
    """An import with constant arguments: ``find_spec("x")``, ``import_module(".a", "pkg")``."""
    index = next(i for i, step in enumerate(chain[2]) if step[0] == "(")
    name = _callee(marker, module, (chain[0], chain[1], chain[2][:index]))
    if name in ("operator.attrgetter", "operator.methodcaller"):
        texts = [a for a in constants(chain[2][index]) if isinstance(a, str)]
        marker.held.asks(part for text in texts for part in text.split("."))
    if name not in _IMPORTERS and not _loads_named(chain, name):
        return
    arguments = [a for a in constants(chain[2][index]) if isinstance(a, str)]
    if not arguments:
        return
    target = arguments[0]
    if target.startswith("."):
        steps = arguments[1].split(".") if len(arguments) > 1 else []
        above = len(target) - len(target.lstrip(".")) - 1
        target = ".".join(steps[: len(steps) - above]) + target[above:]
    _load_named(marker, node, target)


def _loads_named(callee: Expr, name: str) -> bool:
    """``importlib.resources.files("data")``, ``pkgutil.get_data("data", "x.txt")``: a package that is named alone."""
    return name in _NAMED or (callee[0] == "v" and name.rpartition(".")[2] in _LAST)


def _load_named(marker: Marker, node: str, target: str) -> None:
    if target in marker.table.paths:
        marker.escape(target, node, 0, private=False)


def pickle_hooks(marker: Marker, stmt: Expr, node: str) -> None:
    """A ``find_class`` hook names packages whose classes arrive by name: all of them stay."""
    if stmt[0] != "class":
        return
    for part in stmt[7]:
        if part[0] == "def" and part[3] == "find_class":
            for text in _strings(part):
                package = text.rstrip(".")
                if package in marker.table:
                    for child in [package, *marker.table.below(package)]:
                        marker.escape(child, node, 0)


def _strings(part: object) -> list[str]:
    if not isinstance(part, tuple):
        return []
    if len(part) == 2 and part[0] == "c" and isinstance(part[1], str):
        return [part[1]]
    found = [t for p in part for t in _strings(p)]
    if len(part) == 3 and part[0] in ("n", "v", "b", "x"):
        for step in part[2]:
            if isinstance(step, str) and step[:1] == "(" and len(step) > 2:
                found += [a for a in constants(step) if isinstance(a, str)]
    return found


def _callee(marker: Marker, module: str, func: Expr) -> str:
    if func[0] == "n":
        return marker.world.canonical(module, func[1], func[2])
    return (func[1] + "".join(func[2])) if func[2] else str(func[1])


def _import_call(marker: Marker, module: str, node: str, e: Expr) -> None:
    marker.held.loads(module, node, e[2][0])
    argument, package = e[2][0], e[2][1] if len(e[2]) > 1 else dict(e[3]).get("package")
    base = _piece(marker, module, package) if package is not None else None
    pattern = _load_pattern(marker, module, node, argument, base or "")
    shape = _piece(marker, module, argument) or ""
    if argument[0] == "k" and argument[1] == ("x", ("c", "."), (".join",)):
        shape = shape or r".+\..+"
    if not shape:
        marker.loaded.anything(module, package, base)
        marker.loaded.built(module, r".+\..+")  # path = self.base + "." + name
    elif shape.startswith(r"\.") and package is not None and base is None:
        marker.loaded.relative(shape, base)
    elif not pattern:
        marker.loaded.built(module, shape)
    for name in dict(e[3]).get("fromlist", ("t", "l", ()))[2] if pattern else ():
        _keep_matching(marker, module, node, rf"{pattern}\.{_piece(marker, module, name) or '.+'}")


def _load_pattern(marker: Marker, module: str, node: str, argument: Expr, package: str = "") -> str:
    """Keep the modules whose names a built text can be; the pattern, or "" when it can be anything."""
    pattern = _piece(marker, module, argument) or ""
    if pattern.startswith(r"\."):
        own = module if marker.table.is_package(module) else module.rpartition(".")[0]
        up = re.match(r"(?:\\\.)+", pattern)
        above = (len(up[0]) // 2 if up is not None else 1) - 1  # import_module(f"..tools.{name}", __package__)
        steps = (package or re.escape(own)).split(r"\.")
        pattern = r"\.".join(steps[: len(steps) - above]) + pattern[2 * above :]
    head = re.match(r"(?:\w|\\\.)+", pattern)
    if head is None and pattern and module in marker.loaded.declared:
        marker.loaded.sited(module, node, shape=pattern)  # load("pkg", name): texts fill both
    # What comes first must be a package of the tree, or all of it.
    if head is None or pattern.startswith(".") or head[0].replace("\\", "").split(".")[0] not in marker.table:
        return ""
    if head[0] != pattern and r"\." not in head[0]:
        return ""
    _keep_matching(marker, module, node, pattern)
    return pattern


def _keep_matching(marker: Marker, module: str, node: str, pattern: str) -> None:
    declared = [d for d in marker.policy.dynamics if d.site == module]
    if declared:
        marker.loaded.sited(module, node, shape=pattern)
    wanted = re.compile(pattern)
    for candidate in sorted(marker.table.paths):
        if wanted.fullmatch(candidate) and not any(candidate.startswith(d.package + ".") for d in declared):
            marker.escape(candidate, node, 0, private=False)


def _piece(marker: Marker, module: str, e: Expr) -> str | None:
    """A regular expression for the texts that an expression can be; None when it can be anything.

    What is not known may be nothing: f"kernels.{prefix}fast".
    """
    if e[0] == "c":
        return re.escape(e[1]) if isinstance(e[1], str) else None
    if e[0] == "o" and len(e[1]) == 1 and e[2:] != ("[:",):
        return _piece(marker, module, e[1][0])  # a field of an f-string
    if e[0] == "n" and not e[2] and e[1] in ("__name__", "__package__"):
        whole = e[1] == "__name__" or marker.table.is_package(module)
        return re.escape(module if whole else module.rpartition(".")[0])
    if e[0] == "n" and e[2] and e[2][-1] in (".__name__", ".__package__"):
        symbol, rest = marker.world.follow(module, e[1], e[2][:-1])
        if symbol.kind == "module" and not rest:
            whole = e[2][-1] == ".__name__" or marker.table.is_package(symbol.module)
            return re.escape(symbol.module if whole else symbol.module.rpartition(".")[0])
    if e[0] == "n":
        known = marker.world.chain(module, e[1], e[2])
        if marker.world.follow(module, e[1], e[2])[0].module != module:
            known = None  # a text of another module: the checks do not read it, and a module too many is kept
        if known is not None and known.single and known.values and isinstance(known.values[0], str):
            return re.escape(known.values[0])
        return None
    if e[0] == "o" and len(e) == 2 and len(e[1]) == 2:  # BASE + name, where BASE = "pkg."
        head = _piece(marker, module, e[1][0])
        return head + (_piece(marker, module, e[1][1]) or ".*") if head and head.endswith(r"\.") else None
    joined = _joined(e)
    if joined is not None:
        mark, parts = joined
        return re.escape(mark).join(_piece(marker, module, p) or ".*" for p in parts)
    if e[0] != "j":
        return None
    pieces = [_piece(marker, module, p) for p in e[1]]
    return "".join(p if p is not None else ".*" for p in pieces) if any(pieces) else None


def _joined(e: Expr) -> tuple[str, tuple[Expr, ...]] | None:
    """Separator and parts of ``".".join([a, b])``."""
    if e[0] != "k" or e[1][0] != "x" or e[1][2] != (".join",) or len(e[2]) != 1 or e[2][0][0] != "t":
        return None
    mark = e[1][1]
    return (mark[1], e[2][0][2]) if mark[0] == "c" and isinstance(mark[1], str) else None


def _loads_by_variable(e: Expr, name: str) -> bool:
    return name in _IMPORTERS and bool(e[2]) and bool(e[2][0][0] == "v")


def _flatten(e: Expr) -> list[str | None]:
    out: list[str | None] = []
    for part in e[1]:
        if part[0] == "j":
            out += _flatten(part)
        else:
            out.append(part[1] if part[0] == "c" and isinstance(part[1], str) else None)
    return out


def _walk_call(marker: Marker, module: str, node: str, argument: Expr) -> None:
    if module in marker.loaded.declared:
        return
    if argument[:2] == ("n", "__path__") and not argument[2]:  # a package that walks itself
        _walked(marker, module, node)
        return
    packages = [
        package for package in marker.loaded.folders(module, argument) if package in marker.table or not package
    ]
    if not packages:  # a parameter, what import_module(name) gave, a path: any package that code names or hands on
        marker.held.walk_any(node)
    for package in packages:
        _walked(marker, package, node)


def _walked(marker: Marker, package: str, node: str) -> None:
    """All modules of the package may be loaded by their names."""
    for child in marker.loaded.inside(package):
        marker.escape(child, node, 0, private=False)
