"""Check ``native``: C, C++ and CUDA sources, read a second time by other means.

A changed source must be what its upstream text leaves: every line carries its *presence condition*, the
tests around it that the facts do not decide. Both files must give the same lines under the same
conditions. A removed source must be named by nobody who stays: no kept text holds its name as the end of
a path, no pattern that a kept text builds fits it, no kept source includes it. What a kept ``Cargo.toml`` lists is there.

Blind to macros that a build command defines outside the tree, and to sources whose names are put together
from parts without a suffix.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from posixpath import normpath

from pruner.verify.crates import lost_targets
from pruner.verify.rules import Stated
from pruner.verify.tree import Tree

SUFFIX = r"\.(?:cu|cuh|c|cc|cpp|cxx|h|hh|hpp|inl|hip|s|S|co|cubin|ptx|inc)"
NATIVE = re.compile(SUFFIX + r"\Z")
_TEXT = re.compile(r"\.(?:py|pyi|pyx|cmake|sh|mk|txt)\Z|(?:\A|/)Makefile\Z")
_END = re.compile(rf"{SUFFIX}\b")
_PATH = frozenset("./{}%*$()+-_")
_PIECE = re.compile(r"\$?\{[^{}]*\}|%\(\w+\)s|%s|%d|\*+")
_LINE = re.compile(r"\s*#\s*(ifdef|ifndef|if|elifdef|elifndef|elif|else|endif)\b(.*)\Z", re.DOTALL)


def take_macros(stated: Stated) -> tuple[dict[str, int | None], list[str]]:
    """(macros, globs of files that rules take) of the rules; what speaks of sources leaves ``stated``.

    A macro is worth its number, 1 for "defined" without one, None for "not defined".
    """
    macros: dict[str, int | None] = {}
    for subject, values in list(stated.facts.items()):
        if not subject.startswith("macro:"):
            continue
        del stated.facts[subject]
        if isinstance(values, tuple) and len(values) == 1:
            value = values[0]
            macros[subject[6:]] = None if value is None or value is False else value if type(value) is int else 1
    stated.drops[:] = [(rule, text) for rule, text in stated.drops if not text.startswith("native:")]
    return macros, [text[5:].strip() for _, text in stated.drops if text.startswith("path:")]


def check(
    up: Tree,
    out: Tree,
    macros: Mapping[str, int | None],
    dropped: Iterable[str],
    licence: Callable[[bytes, bytes], str] | None = None,
) -> tuple[str, list[str]]:
    """(what was covered, problems). ``dropped`` are the globs of files that rules take whatever is named.

    ``licence`` judges a text that differs from upstream's: "" when only what goes with operations is missing.
    """
    problems: list[str] = []
    changed = 0
    kept = sorted(p for p in out.files if NATIVE.search(p) and out.files[p] is None)
    for path in kept:
        if path in up.files and up.read(path) != out.read(path):
            changed += 1
            found = _same(path, up.read(path), out.read(path), macros)
            if found and licence is not None:
                why = licence(up.read(path), out.read(path))
                found = [f"{path}:1: {why}"] if why else []
            problems += found
    globs = list(dropped)
    gone = sorted(p for p in up.files if NATIVE.search(p) and p not in out.files and up.files[p] is None)
    judged = [p for p in gone if not any(fnmatchcase(p, g) for g in globs)]
    if judged:
        problems += _named(out, judged, kept)
    problems += lost_targets(up, out)
    return f"{len(kept)} sources kept, {changed} changed, {len(judged)} removed because nothing names them", problems


def _same(path: str, before: bytes, after: bytes, macros: Mapping[str, int | None]) -> list[str]:
    try:
        first, second = presence(before, macros), presence(after, macros)
    except ValueError as error:
        return [f"{path}:1: {error}"]
    for (line, text, under), (here, now, beneath) in zip(first, second, strict=False):
        if text != now or under != beneath:
            return [f"{path}:{here}: differs from upstream line {line}, or stands under another condition"]
    if len(first) != len(second):
        return [f"{path}:1: {len(first)} lines are live upstream, {len(second)} here"]
    return []


def presence(data: bytes, macros: Mapping[str, int | None]) -> list[tuple[int, str, tuple[str, ...]]]:
    """(line, text, open conditions) of every line that is not a directive of a chain and may be compiled.

    Raises ValueError for directives that do not nest.
    """
    rows: list[tuple[int, str, tuple[str, ...]]] = []
    stack: list[list[str | None]] = []  # per chain: the conditions of arms seen so far; None when a true arm was
    open_: list[str | None] = []  # per chain: the condition of this arm; None when it never holds
    lines = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
    at, comment = 0, False
    while at < len(lines):
        start, text = at, lines[at]
        at += 1
        match = None if comment else _LINE.match(text)
        while match and text.endswith("\\") and at < len(lines):
            text = text[:-1] + lines[at]
            at += 1
            match = _LINE.match(text)
        comment = _in_comment(text, comment)
        if not match:
            if all(c is not None for c in open_):
                rows.append((start + 1, text, tuple(c for c in open_ if c)))
            continue
        word, rest = match[1], _plain(match[2])
        if word in ("if", "ifdef", "ifndef"):
            stack.append([])
            open_.append("")
        elif not stack:
            raise ValueError(f"line {start + 1}: #{word} without #if")
        if word == "endif":
            stack.pop()
            open_.pop()
            continue
        seen = stack[-1]
        test = rest if word in ("if", "elif") else f"defined({rest})" if word.endswith("fdef") else f"!defined({rest})"
        if word in ("ifdef", "elifdef"):
            test = f"defined({rest})"
        value = True if word == "else" else truth(test, macros)
        if None in seen or value is False:
            open_[-1] = None
        else:
            before = " and not ".join(["", *(s for s in seen if s)])
            open_[-1] = before if value is True else f"{before} {_spaced(test)}"
        if value is True:
            seen.append(None)
        elif value is None:
            seen.append(_spaced(test))
    if stack:
        raise ValueError("an #if has no #endif")
    return rows


def _plain(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//.*", " ", text, flags=re.DOTALL).strip()


def _spaced(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _in_comment(text: str, inside: bool) -> bool:
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text) if not inside else text
    while True:
        if inside:
            stop = text.find("*/")
            if stop < 0:
                return True
            text, inside = text[stop + 2 :], False
        start, line = text.find("/*"), text.find("//")
        if start < 0 or 0 <= line < start:
            return False
        text, inside = text[start + 2 :], True


def truth(test: str, macros: Mapping[str, int | None]) -> bool | None:
    """What the condition is worth; None when the facts do not decide it or when no fact has a say."""
    if not any(re.search(rf"\b{re.escape(name)}\b", test) for name in macros):
        return None

    def defined(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return f" {int(macros[name] is not None)} " if name in macros else f" _defined_{name} "

    text = re.sub(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))", defined, test)
    text = re.sub(r"\b(0[xX][\da-fA-F]+|\d+)[uUlL]+\b", r"\1", text)
    text = re.sub(r"&&", " and ", re.sub(r"\|\|", " or ", re.sub(r"!(?!=)", " not ", text)))
    try:
        # "not x == y" binds the other way in Python; such a test is not decided here unless its parts are plain.
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
    value = _value(tree, macros)
    return None if value is None else bool(value)


def _value(node: ast.expr, macros: Mapping[str, int | None]) -> int | None:
    if isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        return int(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return (macros[node.id] or 0) if node.id in macros else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        if isinstance(node.operand, ast.Compare):
            return None
        inner = _value(node.operand, macros)
        return None if inner is None else int(not inner)
    if isinstance(node, ast.BoolOp):
        parts = [_value(v, macros) for v in node.values]
        stop = isinstance(node.op, ast.Or)
        if any(p is not None and bool(p) == stop for p in parts):
            return int(stop)
        return None if None in parts else int(not stop)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = _value(node.left, macros), _value(node.comparators[0], macros)
        if left is None or right is None:
            return None
        table = {ast.Eq: left == right, ast.NotEq: left != right, ast.Lt: left < right,
                 ast.LtE: left <= right, ast.Gt: left > right, ast.GtE: left >= right}  # fmt: skip
        found = table.get(type(node.ops[0]))
        return None if found is None else int(found)
    return None


def _named(out: Tree, gone: list[str], kept: list[str]) -> list[str]:
    """Kept files that name a removed source, unless a kept source answers to that name."""
    by_name: dict[str, list[str]] = {}
    for path in gone:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    stays: dict[str, list[str]] = {}
    for path in kept:
        stays.setdefault(path.rpartition("/")[2], []).append(path)
    problems: list[str] = []
    for path in sorted(out.files):
        if out.files[path] is not None or not (_TEXT.search(path) or NATIVE.search(path)):
            continue
        text = out.read(path).decode("utf-8", "replace")
        if not NATIVE.search(path) or "include" in text:
            problems += _mentioned(path, text, by_name, stays, gone)
    return problems


def _mentioned(
    path: str, text: str, by_name: dict[str, list[str]], stays: dict[str, list[str]], gone: list[str]
) -> Iterable[str]:
    native = NATIVE.search(path) is not None
    for match in _END.finditer(text):
        start = match.start()
        while start and (text[start - 1].isalnum() or text[start - 1] in _PATH):
            start -= 1
        word = text[start : match.end()]
        line = text.count("\n", 0, start) + 1
        if native and "include" not in text[text.rfind("\n", 0, start) + 1 : start]:
            continue  # comments of sources name files that they do not include
        if _PIECE.search(word):
            fixed = _PIECE.sub("", word).strip("./_-")
            if re.fullmatch(SUFFIX[2:], fixed):
                folder = path.rpartition("/")[0] + "/"
            else:
                folder = ""
            pattern = re.compile(r"(?:.*/)?" + ".*".join(map(re.escape, _PIECE.split(word.lstrip("./")))) + r"\Z")
            for other in gone:
                if other.startswith(folder) and pattern.match(other):
                    yield f"{path}:{line}: builds names that {other} fits, and it is gone"
            continue
        name = word.rpartition("/")[2]
        if name not in by_name:
            continue
        if native and text[start - 1 : start] == '"':  # it stands beside the one that includes it, if it is there
            beside = normpath(f"{path.rpartition('/')[0]}/{word}")
            if beside in by_name[name]:
                yield f"{path}:{line}: names {beside}, and it is gone"
            if beside in by_name[name] or beside in stays.get(name, ()):
                continue
        tail = re.sub(r"\A(?:\.{0,2}/)+", "", word)
        parts = tail.split("/")
        for cut in range(len(parts)):
            end = "/" + "/".join(parts[cut:])
            lost = [g for g in by_name[name] if ("/" + g).endswith(end)]
            if (
                cut == 0 and len(parts) > 1 and lost
            ):  # `distributed/comm.cuh`: a kept `include/distributed/comm.cuh` is another one
                yield f"{path}:{line}: names {lost[0]}, and it is gone"
                break
            if any(("/" + k).endswith(end) for k in stays.get(name, ())):
                break
            if lost:
                yield f"{path}:{line}: names {lost[0]}, and it is gone"
                break
            if native:  # an include of an outside header: its whole name counts
                break
