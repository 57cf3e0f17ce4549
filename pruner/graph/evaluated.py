"""Names in text that Python reads: code that ``eval`` and ``exec`` are given, fields of formats, files that are loaded.

Blind to text of which the fixed parts stand in another module, unless they are whole words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pruner.model.ir import Expr, Stmt

if TYPE_CHECKING:
    from pruner.graph.live import Marker

_RUN = ("eval", "exec")
HOLE = "\0"
_WORDS = re.compile(rf"[\w{HOLE}]+")
_TOLD = r"[^\W\d_]{2}"  # f"{kind}_{name}s" fits half of all names: whole words must say which
HOLES = re.compile(r"\{[^{}]*\}|%[-+ #0-9.]*[a-zA-Z]")
_LOADERS = frozenset(
    (
        "spec_from_file_location",
        "SourceFileLoader",
        "run_path",
        "load_source",
        "exec",
        "subprocess",
        "Popen",
        "system",
        "execv",
        "execvp",
        "create_subprocess_exec",
        "create_subprocess_shell",
    )
)


def runs(marker: Marker, module: str, chains: list[Expr]) -> list[Expr]:
    """The chains that are ``eval`` or ``exec``, called or not."""
    found = []
    for chain in chains:
        if chain[0] != "n":
            continue
        if chain[1] in _RUN:
            if chain[2][:1] != (".",):
                found.append(chain)
        elif chain[2] and chain[2][0] in (".eval", ".exec"):
            if marker.world.canonical(module, chain[1], chain[2][:1]) in ("builtins.eval", "builtins.exec"):
                found.append(("n", chain[1], chain[2][1:], chain[2][0]))
    return found


def code(marker: Marker, module: str, node: str, found: list[Expr], calls: list[Expr]) -> None:
    """Code is run: its words may be globals of the module, attributes of modules that these are, methods of anything."""
    for text in _texts(calls):
        for pattern in words(text, _TOLD):
            marker.use_pattern(pattern)
    if not _own(found, calls):
        return
    state = marker.out.states[module]
    marker.held.hold(module, node, 0)
    if state.evaluated:
        return
    state.evaluated = True
    for text in _texts([state.summary.body]):  # the text may be built by another function of the module
        for pattern in words(text, _TOLD):
            marker.use_pattern(pattern)
    for name in list(state.names):
        for target in marker.world.modules_behind(marker.world.symbol(module, name)):
            marker.held.hold(target, node, 0)


def _own(found: list[Expr], calls: list[Expr]) -> bool:
    """Is code that is not written there run among the module's own names, or may it be?"""
    bare = sum(not chain[2] for chain in found)
    for e in calls:
        if e[0] == "k" and e[1][0] == "n" and (e[1][1] in _RUN or e[1][2][-1:] in ((".eval",), (".exec",))):
            if len(e[2]) + len(e[3]) < 2:
                return True
            bare -= 1
    return bare > 0 or any(chain[2] == () for chain in found if len(chain) > 3)


def _texts(part: Any) -> list[str]:
    """Built texts and formats below ``part``, with a mark for each hole."""
    found: list[str] = []
    stack: list[Any] = list(part)
    while stack:
        item = stack.pop()
        if not isinstance(item, tuple):
            continue
        if len(item) == 2 and item[0] == "j":
            found.append(holed(item))
        elif len(item) == 2 and item[0] == "c" and isinstance(item[1], str) and HOLES.search(item[1]):
            found.append(HOLES.sub(HOLE, item[1]))
        stack += item
    return found


def holed(e: Expr) -> str:
    """A built text with a mark for each part that is not known."""
    if e[0] == "j":
        return "".join(holed(part) for part in e[1])
    return e[1] if e[0] == "c" and isinstance(e[1], str) else HOLE


def words(text: str, told: str = r"[^\W\d]") -> list[str]:
    """Patterns of the names in a built text of which something is known; ``told`` is what that must be."""
    found = []
    for word in _WORDS.findall(text):
        if HOLE in word and re.search(told, word):
            found.append(r"\w*".join(re.escape(part) for part in re.split(f"{HOLE}+", word)))
    return found


def formats(marker: Marker, calls: list[Expr]) -> None:
    """``f"{{0.step_{kind}}}".format(x)``: the fields of a built format are read from what is formatted."""
    for e in calls:
        if e[0] == "j" and any(part[0] == "c" and isinstance(part[1], str) and "{" in part[1] for part in e[1]):
            for pattern in words(holed(e), _TOLD):
                marker.use_pattern(pattern)


def files(marker: Marker, module: str, node: str, found: list[Expr], texts: list[str]) -> None:
    """Files that may be loaded by a built path: ``f"plug_{name}.py"``, ``glob("plugins/*.py")``, ``name + ".py"``."""
    parts = 0  # of built paths: those ask for more than the ending
    for e in found:
        if e[0] == "j":
            parts += e[1].count(("c", ".py"))
            text = holed(e)
            for word in text.split():  # f"{python} {here}/tools/{name}.py --all"
                if word.endswith(".py") and len(word) > 3:
                    _matching(marker, module, node, word)
    for text in texts:
        if text.endswith(".py") and "*" in text:
            _matching(marker, module, node, text.replace("**/", "*").replace("*", HOLE))
    if texts.count(".py") > parts:  # name.endswith(".py")
        _matching(marker, module, node, HOLE + ".py")


def _matching(marker: Marker, module: str, node: str, text: str) -> None:
    tail = re.sub(f"{HOLE}+", HOLE, text).lstrip("./")
    head, _, name = tail.rpartition("/")
    folder = marker.table.paths[module][0].rpartition("/")[0] if module in marker.table.paths else ""
    near = not re.search(r"\w", name.removesuffix(".py")) and not re.search(r"\w", head)
    if near and not _loads(marker, module):
        return
    pattern = re.compile(("" if tail.startswith(HOLE) else r"(?:.*/)?") + ".*".join(map(re.escape, tail.split(HOLE))))
    below = _folders(marker, module, folder) if near else ()
    for other, (path, _) in sorted(marker.table.paths.items()):
        if other == module or not pattern.fullmatch(path) or marker.drops.module(other):
            continue
        if not near or any(path.startswith(place) for place in below):
            load(marker, other, node)


def load(marker: Marker, module: str, node: str) -> None:
    """A file is loaded by its path: what is public lives, and what code names of it."""
    marker.escape(module, node, 0, private=False)
    marker.held.hold(module, node, 0)


def _loads(marker: Marker, module: str) -> bool:
    """Does the module load files by path?"""
    state = marker.out.states[module]
    if state.loader is None:
        state.loader = False
        stack: list[Any] = [state.summary.body]
        while stack and not state.loader:
            item = stack.pop()
            if len(item) == 3 and item[0] in ("n", "v", "x", "b") and isinstance(item[2], tuple):
                steps = {step[1:] for step in item[2] if isinstance(step, str)}
                state.loader = item[1] in _LOADERS or not _LOADERS.isdisjoint(steps)
            stack += [inner for inner in item if inner.__class__ is tuple]
    return state.loader


def _folders(marker: Marker, module: str, folder: str) -> list[str]:
    """Where a path of which only ``.py`` is known may lead: folders of that name, or whatever lies below the module."""
    prefix = folder + "/" if folder else ""
    paths = [path for path, _ in marker.table.paths.values() if path.startswith(prefix)]
    inner = {path[len(prefix) :].partition("/")[0] for path in paths if "/" in path[len(prefix) :]}
    named = sorted(inner.intersection(_words_of(marker.out.states[module].summary.body)))
    return [f"{prefix}{name}/" for name in named] or [prefix]


def _words_of(part: Stmt | tuple[Any, ...]) -> set[str]:
    found: set[str] = set()
    stack: list[Any] = [part]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            stack += item
        elif isinstance(item, str):
            found.update(re.findall(r"\w+", item))
    return found
