"""Lines, bytes and files before and after, and which cause took which lines.

Lines are counted as ``wc -l`` does (line feeds). The one exception: files whose
suffix says that they are not text count 0 lines, because the 0x0A bytes of a
shared object are nobody's lines; their bytes are counted.

Blind to: what a lost line meant. A branch of one line weighs as much as a blank one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pruner.errors import cannot
from pruner.model import Cause, Outcome, Snapshot, SourceFile
from pruner.report.paths import encode

BINARY = "binary"
LINK = "link"
OTHER = "other"

_LANGUAGES = {
    "Python": ".py .pyi",
    "CUDA": ".cu .cuh",
    "C/C++": ".c .cc .cpp .cxx .h .hh .hpp .hxx .inl .inc",
    "HIP": ".hip",
    "Metal": ".metal .mm",
    "Assembly": ".s .asm .ptx",
    "Rust": ".rs",
    "Go": ".go",
    "JSON": ".json .jsonl",
    "YAML": ".yaml .yml",
    "TOML": ".toml",
    "Jinja": ".jinja .jinja2 .j2",
    "Markdown": ".md .mdx .rst",
    "Protobuf": ".proto",
    "Shell": ".sh .bash",
    "CMake": ".cmake",
    "Notebook": ".ipynb",
    "Text": ".txt .in .cfg .ini",
    "Web": ".html .css .js .ts",
    BINARY: (
        ".so .a .o .co .hsaco .cubin .fatbin .pyc .pyd .dll .dylib .exe .whl .zip .gz .xz .bz2 .zst .tar "
        ".png .jpg .jpeg .gif .webp .ico .pdf .bin .pt .pth .safetensors .npy .npz .parquet .onnx "
        ".mp3 .mp4 .wav .flac .ogg .ttf .woff .woff2"
    ),
}
_BY_SUFFIX = {suffix: name for name, suffixes in _LANGUAGES.items() for suffix in suffixes.split()}

GENERATED = Cause("generated")


@dataclass(frozen=True, slots=True)
class Share:
    """Lines of one file that one kind of cause with these rules removed and added."""

    kind: str
    rules: tuple[str, ...]
    removed: int
    added: int

    @property
    def key(self) -> str:
        """The cause's column in ``by_cause``; see :func:`cause_key`."""
        return cause_key(self.kind, self.rules)


@dataclass(frozen=True, slots=True)
class FileCount:
    """One path before and after. None: the file is not there. Sizes in bytes, lines as ``wc -l``."""

    path: str
    language: str
    lines_before: int | None
    lines_after: int | None
    bytes_before: int
    bytes_after: int
    changed: bool
    shares: tuple[Share, ...] = ()


def language_of(path: str, *, link: bool = False) -> str:
    """The language that a path's suffix says; ``other`` when none does."""
    if link:
        return LINK
    name = path.rpartition("/")[2]
    if name == "CMakeLists.txt":
        return "CMake"
    stem, _, suffix = name.rpartition(".")
    return _BY_SUFFIX.get(f".{suffix.lower()}", OTHER) if stem else OTHER


def cause_key(kind: str, rules: tuple[str, ...]) -> str:
    """``fact:<rule>`` or ``rule:<rule>`` with the first (the deciding) rule, else the kind alone.

    The first, not all: `a.hip and b.npu` combinations would make a column each.
    """
    return f"{kind}:{rules[0]}" if kind in ("fact", "rule") and rules else kind


def read(snapshot: Snapshot, file: SourceFile) -> bytes:
    """A file's content, a link's target text. Raises PruneError (PR502) if the tree changed meanwhile."""
    if file.link is not None:
        return encode(file.link)
    try:
        data = snapshot.read(file.path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise cannot(file.path, "PR502", f"cannot read the upstream file: {reason}", _AGAIN) from error
    if len(data) != file.size:
        text = f"the upstream file has {len(data)} bytes now and had {file.size} when the run began"
        raise cannot(file.path, "PR502", text, _AGAIN)
    return data


_AGAIN = "do not change the upstream tree while prune runs; run it again"


def count(snapshot: Snapshot, outcome: Outcome, extra: Mapping[str, bytes]) -> tuple[FileCount, ...]:
    """Every path of the upstream and the generated tree, sorted by path.

    Raises PruneError (PR502) for an unreadable tree, ValueError when a file went or
    changed without edits or ledger rows that account for every line (a fault of the engine).
    """
    whole = {row.path: row.cause for row in outcome.removals if row.what == "file"}
    rows = [_count_upstream(snapshot, file, outcome, extra, whole) for file in snapshot.files]
    known = {file.path for file in snapshot.files}
    created = {path: data for path, data in outcome.files.items() if data is not None and path not in known}
    for path, data in (created | dict(extra)).items():
        if path not in known:
            language = language_of(path)
            lines = _lines(data, language)
            shares = (Share(GENERATED.kind, (), 0, lines),) if lines else ()
            rows.append(FileCount(path, language, None, lines, 0, len(data), True, shares))
    return tuple(sorted(rows, key=lambda row: encode(row.path)))


def _lines(data: bytes, language: str) -> int:
    return 0 if language in (BINARY, LINK) else data.count(b"\n")


def _count_upstream(
    snapshot: Snapshot, file: SourceFile, outcome: Outcome, extra: Mapping[str, bytes], whole: Mapping[str, Cause]
) -> FileCount:
    path, language = file.path, language_of(file.path, link=file.link is not None)
    # A 13 MB shared object that travels need not be read to know that it counts 0 lines.
    data = b"" if language in (BINARY, LINK) else read(snapshot, file)
    before = _lines(data, language)
    if path in extra:
        new = extra[path]
        after = _lines(new, language_of(path))
        shares = [Share(GENERATED.kind, (), before, after)]
        return FileCount(path, language, before, after, file.size, len(new), True, tuple(shares))
    if path not in outcome.files:
        return FileCount(path, language, before, before, file.size, file.size, False)
    content = outcome.files[path]
    if content is None:
        if path not in whole:
            raise ValueError(f"{path}: removed without a ledger row of kind 'file'")
        cause = whole[path]
        return FileCount(path, language, before, None, file.size, 0, True, (Share(cause.kind, cause.rules, before, 0),))
    after = _lines(content, language)
    sums: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for edit in outcome.edits.get(path, ()):
        pair = sums.setdefault((edit.cause.kind, edit.cause.rules), [0, 0])
        pair[0] += data.count(b"\n", edit.start, edit.stop)
        pair[1] += _lines(edit.text, language)
    shares = [Share(kind, rules, gone, new) for (kind, rules), (gone, new) in sorted(sums.items())]
    if before - after != sum(share.removed - share.added for share in shares):
        raise ValueError(f"{path}: the edits do not account for the lines between {before} and {after}")
    return FileCount(path, language, before, after, file.size, len(content), True, tuple(shares))
