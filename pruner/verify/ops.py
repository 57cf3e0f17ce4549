"""Check ``ops``: operations compiled ahead of time, read a second time from the text of both trees.

An operation that upstream registers and the output does not must be taken by a rule and named by no kept text. A source
that the output's CMake lists must exist, and one that upstream's CMake lists and that is kept must be listed. What
an extension registers, and what a kept source declares and uses, must be defined in the output where it was upstream.

Blind to sources outside the tree and to names that macros put together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from pruner.verify.native import NATIVE, presence
from pruner.verify.optext import REGISTERED, defined, pieces, registered, spelled, uncommented, without_strings
from pruner.verify.rules import Stated
from pruner.verify.tree import Tree

CMAKE = re.compile(r"\.cmake\Z|(?:\A|/)CMakeLists\.txt\Z")
_COMPILED = re.compile(r"\.(?:cu|cc|cpp|cxx|c)\Z")
_UNIT = re.compile(r"(?<![\w${}/.-])([\w./-]+\.(?:cu|cc|cpp|cxx|c))(?![\w.])")
_PROTOTYPE = re.compile(r"[\w:<>,&*\s\[\]]*[\w>&*]\s*[\s&*](\w+)\s*\((.*)\)", re.DOTALL)


@dataclass(slots=True)
class Ops:
    """Both trees as this check reads them."""

    up: Tree
    out: Tree
    taken: list[str]  # globs of files that rules take
    drops: list[str]  # globs of operations that rules may take
    keeps: list[str]
    gone: set[str] = field(default_factory=set)  # operations that may be gone
    kept: dict[str, str] = field(default_factory=dict)  # native sources of the output, comments left out
    handed: dict[str, set[str]] = field(default_factory=dict)  # operation -> identifiers of its registrations
    functions: set[str] = field(default_factory=set)  # what only the registrations of these hand over
    problems: list[str] = field(default_factory=list)

    def run(self) -> str:
        """What was covered; the problems are in :attr:`problems`."""
        sources = [p for p in self.up.files if NATIVE.search(p) and not self._by_rule(p)]
        before = self._registrations(self.up, sources)
        after = self._registrations(self.out, list(self.out.files))
        if before.keys() - after.keys():
            kept = (p for p in self.out.files if NATIVE.search(p) and not self.out.files[p])
            self.kept = {p: self._text(self.out, p) for p in kept}
        self._gone(before, after)
        listed = self._cmake()
        defined = self._defined() if self.gone else 0
        return f"{len(before)} operations upstream, {len(after)} here, {listed} listed sources, {defined} functions"

    def _by_rule(self, path: str) -> bool:
        return any(fnmatchcase(path, glob) for glob in self.taken)

    def _text(self, tree: Tree, path: str) -> str:
        return uncommented(tree.read(path).decode("utf-8", "replace"))

    def _registrations(self, tree: Tree, paths: Iterable[str]) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for path in paths:
            if NATIVE.search(path) and tree.files[path] is None:
                data = tree.read(path)
                if b"TORCH_LIBRARY" in data:
                    text = data.decode("utf-8", "replace")
                    for name, verbs in registered(text).items():
                        found.setdefault(name, set()).update(verbs)
                    if tree is self.up:
                        for row in REGISTERED.finditer(uncommented(text)):
                            words = set(re.findall(r"[A-Za-z_]\w*", without_strings(row[0])))
                            self.handed.setdefault(row[3], set()).update(words)
        return found

    def _gone(self, before: Mapping[str, set[str]], after: Mapping[str, set[str]]) -> None:
        self.gone = before.keys() - after.keys()
        names = {name.partition("::")[2] for name in self.gone}
        stay = set().union(*(words for name, words in self.handed.items() if name not in names))
        self.functions = set().union(*(self.handed.get(name, set()) for name in names)) - stay
        for name in sorted(after):
            if after[name] != before.get(name, after[name]):
                self.problems.append(
                    f"{name}: registered upstream by {sorted(before[name])}, here by {sorted(after[name])}"
                )
        allowed = {
            n
            for n in self.gone
            if any(fnmatchcase(n, g) for g in self.drops) and not any(fnmatchcase(n, g) for g in self.keeps)
        }
        self.problems += [f"{name}: no longer registered, and no rule takes it" for name in sorted(self.gone - allowed)]
        if not allowed:
            return
        libraries = {name.partition("::")[0] for name in allowed}
        for path in sorted(self.out.files):
            if self.out.files[path] is not None or not path.endswith((".py", ".pyi")):
                continue
            data = self.out.read(path)
            here = {name for name in allowed if name.partition("::")[2].encode() in data}
            if here and (any(library.encode() in data for library in libraries) or b"ops" in data):
                self._names(path, spelled(data), here)
        for path, text in self.kept.items():
            for name in allowed:
                if "::" in text and re.search(rf'"[^"\n]*\b{name}\b', text) and "TORCH_LIBRARY" not in text:
                    self.problems.append(f"{path}: names {name}, which is no longer registered")

    def _names(self, path: str, text: str, allowed: Iterable[str]) -> None:
        for name in allowed:
            library, _, operation = name.partition("::")
            if operation not in text:
                continue
            direct = rf"\bops\s*\.\s*{library}\s*\.\s*{operation}\b|\b{library}\s*::\s*{operation}\b"
            # the library as an object, or asked for by getattr: any word may be the name
            loose = rf"\bops\s*\.\s*{library}\b(?!\s*\.)|\b{library}\s*::\s*(?:\{{|[\"'])|getattr\s*\(\s*(?:torch\s*\.\s*)?ops\b"
            if re.search(direct, text) or (re.search(loose, text) and re.search(rf"\b{operation}\b", text)):
                self.problems.append(f"{path}: names {name}, which is no longer registered")

    # -- build files -----------------------------------------------------------------------------

    def _cmake(self) -> int:
        total = 0
        for path in sorted(self.out.files):
            if not CMAKE.search(path) or path not in self.up.files or self.out.files[path] is not None:
                continue
            before, after = (t.read(path).decode("utf-8", "replace") for t in (self.up, self.out))
            was, now = self._listed(path, before), self._listed(path, after)
            total += len(now)
            for source in sorted(now):
                if source in self.up.files and source not in self.out.files:
                    self.problems.append(f"{path}: lists {source}, which is gone")
            for source in sorted(was - now):
                if source in self.out.files:
                    self.problems.append(f"{path}: no longer lists {source}, which is kept")
            if before != after:
                self.problems += self._lines(path, before, after)
        return total

    def _listed(self, path: str, text: str) -> set[str]:
        folder = path.rpartition("/")[0]
        names = {m[1] for line in text.split("\n") for m in _UNIT.finditer(line.partition("#")[0])}
        return {f"{folder}/{name.removeprefix('./')}".lstrip("/") for name in names}

    def _lines(self, path: str, before: str, after: str) -> Iterable[str]:
        """The output's lines are upstream's, less those that name one source each that is gone."""
        folder = path.rpartition("/")[0]
        left = after.split("\n")
        at = 0
        for number, line in enumerate(before.split("\n"), 1):
            if at < len(left) and left[at] == line:
                at += 1
                continue
            name = line.strip().strip('"')
            source = f"{folder}/{name.removeprefix('./')}".lstrip("/")
            if name and not (_UNIT.fullmatch(name) and source in self.up.files and source not in self.out.files):
                yield f"{path}: upstream line {number} is gone, and it names no source that is"
                return
        if at != len(left):
            yield f"{path}:{at + 1}: differs from upstream"

    # -- definitions -----------------------------------------------------------------------------

    def _defined(self) -> int:
        """What only removed sources define must not be used by what is kept, where something kept declares it."""
        removed = [
            p
            for p in self.up.files
            if _COMPILED.search(p) and p not in self.out.files and not self._by_rule(p) and not self.up.files[p]
        ]
        lost: dict[str, str] = {}
        for path in removed:
            for name in defined(self._text(self.up, path)):
                lost.setdefault(name, path)
        here: set[str] = set()
        for text in self.kept.values():
            here.update(defined(text))
        wanted = lost.keys() - here
        declared: set[str] = set()
        for text in self.kept.values():
            for statement, mark in pieces(text) if wanted else ():
                found = _PROTOTYPE.fullmatch(statement.strip()) if mark == ";" and "(" in statement else None
                if found and found[1] in wanted:
                    declared.add(found[1])
        wanted &= declared
        for path, text in sorted(self.kept.items()):
            plain = without_strings(text)
            for word in sorted(set(re.findall(r"\w+", plain)) & wanted):
                if self._used(plain, word):
                    self.problems.append(f"{path}: uses {word}, which only {lost[word]} defines, and that is gone")
        return len(lost)

    def _used(self, text: str, word: str) -> bool:
        """Is the word taken by address or called, in other places than a prototype?"""
        for statement, _ in pieces(text):
            if word not in statement:
                continue
            if re.search(rf"&\s*(?:\w+::)*{word}\b(?!\s*\()", statement):
                return True
            if re.search(rf"\b{word}\s*(?:<[^;{{}}]*>)?\s*\(", statement):
                match = _PROTOTYPE.fullmatch(statement.strip())
                if not match or match[1] != word or statement.strip().startswith(("return", "else")):
                    return True
        return False


def statements(data: bytes, macros: Mapping[str, int | None]) -> list[tuple[str, tuple[str, ...]]]:
    """(statement on one line, open conditions) of a source, comments left out. Raises ValueError."""
    rows = presence(uncommented(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape"), macros)
    found: list[tuple[str, tuple[str, ...]]] = []
    open_: list[str] = []
    under: tuple[str, ...] = ()
    for _, line, conditions in rows:
        if line.lstrip().startswith("#"):
            found.append((line.strip(), conditions))
            continue
        for piece in re.split(r'("(?:\\.|[^"\\])*"|[;{}])', line):
            if not open_:
                under = conditions
            if piece in (";", "{", "}"):
                found.append((" ".join("".join(open_).split()) + piece, under))
                open_ = []
            elif piece.strip() or open_:
                open_.append(piece)
        if open_:
            open_.append("\n")
    return [*found, (" ".join("".join(open_).split()), under)] if "".join(open_).strip() else found


def licensed(before: bytes, after: bytes, macros: Mapping[str, int | None], ops: Ops) -> str:
    """Why ``after`` is not ``before`` less registrations and prototypes of operations that are gone; "" when it is."""
    try:
        first, second = statements(before, macros), statements(after, macros)
    except ValueError as error:
        return str(error)
    at = 0
    gone = {name.partition("::")[2] for name in ops.gone}
    for text, under in first:
        if at < len(second) and second[at] == (text, under):
            at += 1
            continue
        row = REGISTERED.fullmatch(text)
        if row and row[3] in gone:
            continue
        prototype = _PROTOTYPE.fullmatch(text.removesuffix(";").strip()) if text.endswith(";") else None
        if prototype is None or prototype[1] not in ops.functions:
            return f"{text[:80]!r} is gone, and it registers and declares no operation that is"
        if any(
            ops._used(without_strings(source), prototype[1]) for source in ops.kept.values() if prototype[1] in source
        ):
            return f"the declaration of {prototype[1]} is gone, and a kept source uses it"
    return "" if at == len(second) else f"{second[at][0][:80]!r} is not in upstream"


def make(up: Tree, out: Tree, stated: Stated, taken: list[str]) -> Ops:
    """The check for two trees; what speaks of operations leaves ``stated``."""
    rows = [[text[3:].strip() for _, text in part if text.startswith("op:")] for part in (stated.drops, stated.keeps)]
    stated.drops[:] = [(rule, text) for rule, text in stated.drops if not text.startswith("op:")]
    stated.keeps[:] = [(rule, text) for rule, text in stated.keeps if not text.startswith("op:")]
    return Ops(up, out, taken, rows[0], rows[1])
