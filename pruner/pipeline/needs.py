"""Which of upstream's dependencies the generated tree still needs.

One goes only when removed files alone imported it. What kept code names, in an import of any kind or as the text of
one, stays; so does what upstream itself never imports (it may be there for another package, or under a name that
nobody here knows).

Blind to packages that are imported under a name that is put together at run time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pruner.model import Outcome, Snapshot
from pruner.pipeline.ahead import Ahead
from pruner.verify.entries import statements

# Distribution → import names, where one is not the other.
_IMPORTS: dict[str, tuple[str, ...]] = {
    "apache-tvm-ffi": ("tvm_ffi",),
    "cuda-python": ("cuda",),
    "decord2": ("decord",),
    "flash-attn-4": ("flash_attn",),
    "flashinfer-python": ("flashinfer",),
    "humming-kernels": ("humming", "humming_kernels"),
    "ipython": ("IPython",),
    "nvidia-cutlass-dsl": ("cutlass",),
    "nvidia-ml-py": ("pynvml",),
    "pillow": ("PIL",),
    "py-spy": ("py-spy", "py_spy"),
    "python-multipart": ("multipart", "python_multipart"),
    "pyzmq": ("zmq",),
    "quack-kernels": ("quack",),
    "sgl-deep-gemm": ("deep_gemm",),
    "sglang-kernel": ("sgl_kernel",),
}
# Other packages need these without requiring them: fastapi reads forms, transformers old vocabularies; JIT builds run ninja.
_SERVES = frozenset({"ninja", "python-multipart", "sentencepiece"})
# Lists the versions of what is installed, and says so of what is not: it imports none of them.
_LISTS = frozenset({"sglang/check_env.py"})
_PLACES = 5  # of the files that imported a dropped one, how many are named


@dataclass(frozen=True, slots=True)
class Dropped:
    """A requirement that only removed files imported: how many did, and the first of them."""

    requirement: str
    imports: tuple[str, ...]
    files: int
    places: tuple[str, ...]

    def document(self) -> dict[str, object]:
        """For the report."""
        return {
            "requirement": self.requirement,
            "imports": list(self.imports),
            "files": self.files,
            "places": list(self.places),
        }


def name_of(requirement: str) -> str:
    """The normalised name of the distribution that a requirement asks for."""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", match.group().lower()) if match else ""


def imports_of(requirement: str) -> tuple[str, ...]:
    """The names under which it is imported, as far as known: else its own, with underscores."""
    name = name_of(requirement)
    return _IMPORTS.get(name, (name.replace("-", "_"),))


Near = dict[str, list[str]]  # path of a file of upstream -> the names that it may import or quote


def look_ahead(requirements: Iterable[str], snapshot: Snapshot, ahead: Ahead) -> Callable[[], Near]:
    """Have upstream looked through for what the requirements are imported as; the call gives what is known by then."""
    return ahead.spread(_look, snapshot.root, snapshot.batches(".py"), frozenset(_names(requirements)))


def _look(root: Path, paths: tuple[str, ...], names: frozenset[str]) -> Near:
    near = _Near(names)
    return {path: near.to((root / path).read_bytes()) for path in paths} if names else {}


def _names(requirements: Iterable[str]) -> set[str]:
    return {name for requirement in requirements for name in imports_of(requirement) if name}


def sort_out(
    requirements: Iterable[str], snapshot: Snapshot, outcome: Outcome, known: Near | None = None
) -> tuple[list[str], tuple[Dropped, ...]]:
    """(requirements that stay, those that go). ``known``: what :func:`look_ahead` gave for the same requirements."""
    asked, known = list(requirements), known or {}
    open_names = _names(asked)
    near = _Near(open_names)
    for path, data in _kept(snapshot, outcome) if open_names else ():
        hits = known.get(path) if data is None else None
        if hits is None:
            hits = near.to(snapshot.read(path) if data is None else data)
        for name in hits:
            if name in open_names and _named(name, path, snapshot.read(path) if data is None else data):
                open_names.discard(name)
    users: dict[str, list[str]] = {name: [] for name in open_names}
    near = _Near(open_names)
    for path in _gone(snapshot, outcome) if open_names else ():
        hits = known.get(path)
        if hits is None:
            hits = near.to(snapshot.read(path))
        if named := [name for name in hits if name in open_names and _named(name, path, snapshot.read(path))]:
            imported = _imported(snapshot.read(path))
            for name in named:
                if name.partition(".")[0] in imported:
                    users[name].append(path)
    stay: list[str] = []
    go: list[Dropped] = []
    for requirement in asked:
        names = imports_of(requirement)
        places = sorted({path for name in names for path in users.get(name, ())})
        if places and name_of(requirement) not in _SERVES and all(name in open_names for name in names):
            go.append(Dropped(requirement, names, len(places), tuple(places[:_PLACES])))
        else:
            stay.append(requirement)
    return stay, tuple(go)


def _kept(snapshot: Snapshot, outcome: Outcome) -> Iterator[tuple[str, bytes | None]]:
    """Files that stay, with the text of those that were edited."""
    for file in snapshot.files:
        if file.path.endswith(".py") and not file.link:
            data = outcome.files.get(file.path, b"")
            if data is not None:
                yield file.path, data or None


def _gone(snapshot: Snapshot, outcome: Outcome) -> Iterator[str]:
    """What was removed or edited."""
    for file in snapshot.files:
        if file.path.endswith(".py") and not file.link and file.path in outcome.files:
            yield file.path


_WORD = re.compile(rb"\w+")
# An expression that begins with one character is searched for by that: one for both words takes six times as long.
_LINES = (re.compile(rb"import[ \t][^\n#]*"), re.compile(rb"from[ \t][^\n#]*"))


class _Near:
    """Which of ``names`` a text may import or quote: one look for all of them, where :func:`_named` takes one each."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = [(name, name.partition(".")[0].encode()) for name in names]
        firsts = b"|".join(sorted({re.escape(first) for _, first in self._names}))
        self._quoted = [re.compile(rb"%b(%b)(?=[\"'.])" % (quote, firsts)) for quote in (b'"', b"'")]

    def to(self, data: bytes) -> list[str]:
        """The names near to this text."""
        words = {word for shape in self._quoted for word in shape.findall(data)}
        words.update(_WORD.findall(b"\n".join(line for shape in _LINES for line in shape.findall(data))))
        return [name for name, first in self._names if first in words]


def _named(name: str, path: str, data: bytes) -> bool:
    """Does the text import the name, or hold it as a quoted module name? Comments count: better kept."""
    word = name.encode()
    if word not in data:
        return False
    quoted = rb"|[\"']%b[\"'.]" % re.escape(word) if path not in _LISTS else b""
    return re.search(rb"\b(?:from|import)[ \t]+(?:[^\n#]*[, \t])?%b\b%b" % (re.escape(word), quoted), data) is not None


def _imported(data: bytes) -> set[str]:
    """Packages that import statements of a text name; none where it cannot be read.

    ``"grpcio"`` in a message of a removed file says nothing of who imports ``grpc``, which is the same distribution.
    """
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    found: set[str] = set()
    for node in statements(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found
