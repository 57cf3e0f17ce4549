"""Which C, C++ and CUDA sources kept text can ask for.

A source is reached when a kept text file (Python, CMake, TOML, ...) names it, whole or as the end
of its path, or builds its name (``f"moe/{kind}.cuh"``, a blank for each built part), and when a
reached source includes it. Mentions in comments count, and so does every file of that name: unknown
keeps code. Blind to names put together from parts that do not hold the suffix, so a suffix alone
(``name + ".cu"``, ``glob("*.cu")``) keeps every source with it below the folder of the file that says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

SUFFIXES = ("cu", "cuh", "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "inl", "hip", "s", "S", "co", "cubin", "ptx", "inc")
_SUFFIX = "|".join(SUFFIXES)
_NATIVE = re.compile(rf"\.(?:{_SUFFIX})\Z")
_END = re.compile(rf"\.(?:{_SUFFIX})(?![\w.]*\w)".encode())
_HEAD = re.compile(rb"(?:[^\s\"'`,()\[\]<>=|;]|\$\{[^}]*\})*\Z")
_LONGEST = 300  # bytes of a path that is looked at
# A suffix alone; without its dot only where the word is no common text of its own ("c", "h", "s").
# One expression for each quote: a first byte is searched for four times as fast as one of two.
_BARE = [re.compile(rf"{quote}(?:\.({_SUFFIX})|(cu|cuh|cpp|hpp|hip|cubin|ptx))[\"']".encode()) for quote in ('"', "'")]
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*(?:include|include_next|import)[ \t]*[<\"]([^>\"\n]+)[>\"]", re.MULTILINE)
# {x} of an f-string, %s and %(x)s, ${X} of CMake and shells, * of a glob
_BUILT = re.compile(r"\$?\{[^{}]*\}|%\(\w+\)s|%[sd]|\*+|\$\w+")


def is_native(path: str) -> bool:
    """True for a source that a C, C++ or CUDA compiler, assembler or loader reads."""
    return _NATIVE.search(path) is not None


def mentions(data: bytes) -> set[str]:
    """Names of native sources in a text, as written, without leading ``./`` and ``../``."""
    return {name for name, _ in _mentions(data)}


def _mentions(data: bytes) -> Iterator[tuple[str, int]]:
    """Each name with the byte where it ends."""
    for end in _END.finditer(data):  # from the suffix back: a pattern that starts at the head tries every byte
        head = _HEAD.search(data[max(0, end.start() - _LONGEST) : end.start()])
        name = ((head[0] if head else b"") + end[0]).decode("utf-8", "replace")
        yield re.sub(r"\A(?:\.{0,2}/)+", "", name), end.end()


def _bare(data: bytes) -> Iterator[re.Match[bytes]]:
    """Suffixes that are a string of their own, in the order of the text."""
    end = 0
    for found in sorted((m for shape in _BARE for m in shape.finditer(data)), key=lambda m: m.start()):
        if found.start() >= end:  # "cu'cu" is one
            end = found.end()
            yield found


def includes(data: bytes) -> set[str]:
    """Names in ``#include`` lines, without leading ``./`` and ``../``. Conditions are not looked at."""
    return {re.sub(r"\A(?:\.{1,2}/)+", "", m.decode("utf-8", "replace").strip()) for m in _INCLUDE.findall(data)}


class Index:
    """Native sources by the end of their path."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = sorted(paths)
        self._by_name: dict[str, list[str]] = {}
        for path in self.paths:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def ending(self, name: str) -> list[str]:
        """Sources whose path ends with ``name`` (whole components); where the folder differs, none."""
        return [p for p in self._by_name.get(name.rpartition("/")[2], ()) if ("/" + p).endswith("/" + name)]

    def named(self, name: str, folder: str) -> list[str]:
        """Sources that a mention can mean. ``folder`` is that of the file that holds it."""
        if not _BUILT.search(name):
            # A path whose head is put in front elsewhere ("csrc" / "moe/x.cu") or that goes on further up than
            # the tree ("sgl-kernel/csrc/x.cu" in a wheel): the longest end that fits decides.
            parts = name.split("/")
            for cut in range(len(parts)):
                found = self.ending("/".join(parts[cut:]))
                if found:
                    return found
            return []
        pieces = _BUILT.split(name)
        pattern = re.compile(r".*".join(re.escape(p) for p in pieces) + r"\Z")
        rooted = re.compile(r"(?:.*/)?" + pattern.pattern, re.DOTALL)
        fixed = "".join(pieces).strip("/")
        if _NATIVE.sub("", fixed).strip("/_-.") == "":  # only the suffix is known
            return [p for p in self.paths if rooted.match(p) and (not folder or p.startswith(folder + "/"))]
        return [p for p in self.paths if rooted.match(p)]


def reached(texts: Mapping[str, bytes], sources: Mapping[str, bytes], held: Iterable[str] = ()) -> dict[str, str]:
    """Source -> the path of a file that asks for it (the first, in order of paths), for all reached sources.

    ``held`` are sources that stay whoever asks; what they include is reached.
    """
    index = Index(sources)
    asked: dict[str, str] = {path: path for path in sorted(held)}
    todo = list(asked)

    def ask(path: str, by: str) -> None:
        if path not in asked and path != by:
            asked[path] = by
            todo.append(path)

    for path in sorted(texts):
        folder = path.rpartition("/")[0]
        for name in sorted(mentions(texts[path])):
            for source in index.named(name, folder):
                ask(source, path)
        for suffix in sorted({(m[1] or m[2]).decode() for m in _bare(texts[path])}):
            for source in index.paths:
                if source.endswith("." + suffix) and source.startswith(folder + "/" if folder else ""):
                    ask(source, path)
    while todo:
        source = todo.pop(0)
        for name in sorted(includes(sources[source])):
            for other in index.ending(name):
                ask(other, source)
    return asked


def line_of(source: str, by: str, data: bytes, index: Index) -> int:
    """The first line of the file ``by`` that asks for a source as :func:`reached` reads it; 0 when none does."""
    folder = by.rpartition("/")[0]
    if is_native(by):
        places = [m.start() for m in _INCLUDE.finditer(data) if any(source in index.ending(n) for n in includes(m[0]))]
    else:
        places = [at for name, at in _mentions(data) if source in index.named(name, folder)]
        bare = [m.start() for m in _bare(data) if source.endswith("." + (m[1] or m[2]).decode())]
        places = places or bare
    return data.count(b"\n", 0, min(places)) + 1 if places else 0
