"""C, C++ and CUDA sources of a run: macro facts fold their branches, kept text decides which stay.

A fact about a macro (``macro:USE_ROCM``) is admitted only when nothing that is kept defines or
undefines the macro, in a source or as a compiler option (``-DUSE_ROCM``); otherwise it folds nothing and
is reported with the places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from pruner.edit import apply, kept_ranges, merge
from pruner.model import Cause, Edit, Fact, Finding, OperationRecord, Policy, Range, Removal, Snapshot
from pruner.native import DEFINED, Branches, Index, MacroFacts, fold, is_native, line_of, reached
from pruner.pipeline.ahead import Ahead
from pruner.pipeline.ops import drop_operations

PREFIX = "macro:"
_KEY = "native"  # of what is worked out ahead
# What can name a source: code, build files. Lists of files for packaging (pyproject.toml, MANIFEST.in) ask for nothing.
_TEXTS = re.compile(r"(?:\.(?:py|pyi|pyx|cmake|sh|mk|txt)|(?:^|/)(?:Makefile|CMakeLists\.txt))\Z")


@dataclass(slots=True)
class Natives:
    """What the pass decided about sources that are not Python."""

    edits: dict[str, tuple[Edit, ...]] = field(default_factory=dict)
    texts: dict[str, bytes] = field(default_factory=dict)
    ranges: dict[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    gone: list[tuple[str, Cause]] = field(default_factory=list)
    removals: list[Removal] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    folds: dict[str, int] = field(default_factory=dict)
    matched: set[str] = field(default_factory=set)
    operations: tuple[OperationRecord, ...] = ()


def without_macros(policy: Policy) -> tuple[Fact, ...]:
    """The facts that speak of Python."""
    return tuple(f for f in policy.facts if not f.subject.startswith(PREFIX))


def fold_ahead(snapshot: Snapshot, policy: Policy, ahead: Ahead) -> None:
    """Have the branches of every source decided, as they are when all facts on macros are admitted."""
    values = {f.subject[len(PREFIX) :]: _value(f) for f in _facts(policy) if not isinstance(f.values, Range)}
    paths = [f.path for f in snapshot.files if f.link is None and is_native(f.path)]
    ahead.send(_KEY, _folded, snapshot.root, paths, values)


def _folded(root: Path, paths: list[str], values: MacroFacts) -> tuple[MacroFacts, dict[str, Branches]]:
    found = {path: fold((root / path).read_bytes(), values) for path in paths}
    return values, {path: branches for path, branches in found.items() if branches.gone or branches.renamed}


def asking(snapshot: Snapshot, files: Mapping[str, bytes | None]) -> dict[str, tuple[str, int]]:
    """Each kept source with the kept file and line that asks for it; ``files`` as in an outcome. Others have none."""
    kept = [f.path for f in snapshot.files if f.link is None and files.get(f.path, b"") is not None]
    sources = {path: files.get(path) or snapshot.read(path) for path in kept if is_native(path)}
    texts = {path: files.get(path) or snapshot.read(path) for path in kept if _TEXTS.search(path)} if sources else {}
    index = Index(sources)
    found = {}
    for path, by in reached(texts, sources).items():
        found[path] = (by, line_of(path, by, sources[by] if by in sources else texts[by], index))
    return found


def specialise_native(
    snapshot: Snapshot, policy: Policy, files: Mapping[str, bytes | None], ahead: Ahead | None = None
) -> Natives:
    """Fold and drop sources. ``files`` holds what the run changed (text) or removed (None) so far.

    ``ahead`` may know what :func:`fold_ahead` asked for.
    """
    out = Natives()
    kept = [f.path for f in snapshot.files if f.link is None and files.get(f.path, b"") is not None]
    sources = {path: snapshot.read(path) for path in kept if is_native(path)}
    if not sources:
        return out
    texts = {path: files.get(path) or snapshot.read(path) for path in kept if _TEXTS.search(path)}
    admitted = _admit(_facts(policy), sources, texts, out)
    macros = {fact.subject[len(PREFIX) :]: fact for fact in admitted}
    values = {name: _value(fact) for name, fact in macros.items()}
    supposed, known = (ahead.result(_KEY) if ahead is not None else None) or ({}, None)
    if supposed != values:
        known = None
    for path, data in sorted(sources.items()):
        branches = known.get(path) if known is not None else fold(data, values)
        if branches is not None and _edit(path, data, branches, macros, policy, out):
            sources[path] = out.texts[path]
    _operations(snapshot, policy, sources, texts, out)
    _drop(sources, texts, policy, out)
    gone = {path for path, _ in out.gone}  # what went whole was folded first: its includes decide what it reaches
    for path in gone & out.edits.keys():
        del out.edits[path], out.texts[path], out.ranges[path]
    out.removals = [row for row in out.removals if row.path not in gone]
    return out


def _operations(
    snapshot: Snapshot, policy: Policy, sources: dict[str, bytes], texts: dict[str, bytes], out: Natives
) -> None:
    """What ``op:`` targets take. Offsets are those of upstream's text, so what was folded away is blank there."""
    if not any(target.kind == "op" for target in policy.drops):
        return
    if not any(b"TORCH_LIBRARY" in data for data in sources.values()):  # a wheel: nothing is compiled ahead of time
        return
    masked = {path: _masked(snapshot.read(path), out.edits.get(path, ())) for path in sources}
    python = {path: data for path, data in texts.items() if path.endswith((".py", ".pyi"))}
    build = {path: data for path, data in texts.items() if path not in python}
    found = drop_operations(policy, python, masked, build)
    for path, edits in found.edits.items():
        data = snapshot.read(path)
        merged = merge((*out.edits.get(path, ()), *edits))
        out.edits[path], out.texts[path], out.ranges[path] = merged, apply(data, merged), kept_ranges(data, merged)
        (sources if path in sources else texts)[path] = out.texts[path]
    for path, _ in found.gone:
        del sources[path]
    out.gone += found.gone
    out.removals += found.removals
    out.matched |= found.matched
    out.operations = found.records


def _masked(data: bytes, edits: Iterable[Edit]) -> bytes:
    text = bytearray(data)
    for edit in edits:
        text[edit.start : edit.stop] = re.sub(rb"[^\n]", b" ", data[edit.start : edit.stop])
    return bytes(text)


def _facts(policy: Policy) -> list[Fact]:
    return [f for f in policy.facts if f.subject.startswith(PREFIX)]


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


def _value(fact: Fact) -> int | str | None:
    assert not isinstance(fact.values, Range)
    if len(fact.values) != 1:
        return DEFINED
    value = fact.values[0]
    if value is None or value is False:
        return None
    return value if type(value) is int else DEFINED


def _admit(facts: list[Fact], sources: Mapping[str, bytes], texts: Mapping[str, bytes], out: Natives) -> list[Fact]:
    admitted = []
    for fact in facts:
        name = fact.subject[len(PREFIX) :].encode()
        stated = re.compile(rb"^[ \t]*#[ \t]*(?:define|undef)[ \t]+" + re.escape(name) + rb"\b", re.MULTILINE)
        option = re.compile(rb"[-/][DU]" + re.escape(name) + rb"\b")
        places = [
            f"{path}:{_line(data, match.start())}"
            for holder, pattern in ((sources, stated), (texts, option))
            for path, data in sorted(holder.items())
            if name in data
            for match in pattern.finditer(data)
        ]
        if isinstance(fact.values, Range) or (None in fact.values and len(fact.values) > 1):
            places = places or [f"{fact.location.file}:{fact.location.line} gives no single value"]
        if any(name in data for data in sources.values()):
            out.matched.add(fact.rule)
        if places:
            text = f"{fact.subject} folds nothing: kept code sets the macro at {', '.join(places[:5])}"
            out.findings.append(
                Finding("PR223", fact.location.file, fact.location.line, text, "drop what sets it, or the fact")
            )
        else:
            admitted.append(fact)
    return admitted


def _edit(path: str, data: bytes, branches: Branches, macros: Mapping[str, Fact], policy: Policy, out: Natives) -> bool:
    if not branches.gone and not branches.renamed:
        return False
    starts = [0]
    for text in data.split(b"\n"):
        starts.append(min(starts[-1] + len(text) + 1, len(data)))
    edits: list[Edit] = []
    for first, last, names in _united(branches.gone):
        cause = _cause(names, macros, policy)
        edits.append(Edit(starts[first], starts[last + 1], b"", cause))
        out.removals.append(Removal(path, first + 1, last + 1, "branch", "", cause))
        for key in (*cause.rules, *(f"{macros[n].rule} {macros[n].subject}" for n in sorted(names))):
            out.folds[key] = out.folds.get(key, 0) + 1
    for line, old, new, names in branches.renamed:
        at = data.index(old.encode(), data.index(b"#", starts[line]))
        stop = at + len(old)
        if new == "else":  # the condition goes with the keyword; a comment behind it stays
            end = starts[line + 1] - (1 if data[starts[line + 1] - 1 : starts[line + 1]] == b"\n" else 0)
            rest = data[stop:end]
            comment = min((i for i in (rest.find(b"//"), rest.find(b"/*")) if i >= 0), default=-1)
            tail = b"\r" if rest.endswith(b"\r") else b""
            stop = stop + comment - 1 if comment > 0 else end - len(tail)
        edits.append(Edit(at, stop, new.encode(), _cause(names, macros, policy)))
    edits.sort(key=lambda e: e.start)
    out.edits[path] = tuple(edits)
    out.texts[path] = apply(data, edits)
    out.ranges[path] = kept_ranges(data, edits)
    return True


def _united(gone: list[tuple[int, int, frozenset[str]]]) -> list[tuple[int, int, frozenset[str]]]:
    """Ranges that meet and rest on the same macros are one; ranges never overlap."""
    out: list[tuple[int, int, frozenset[str]]] = []
    for first, last, names in gone:
        if out and out[-1][1] + 1 == first and out[-1][2] == names:
            out[-1] = (out[-1][0], last, names)
        else:
            out.append((first, last, names))
    return out


def _cause(names: frozenset[str], macros: Mapping[str, Fact], policy: Policy) -> Cause:
    rules = tuple(sorted({macros[n].rule for n in names}))
    chain = tuple(
        f"{PREFIX}{n} by {macros[n].rule} ({macros[n].location.file}:{macros[n].location.line}): "
        f"{policy.by_id[macros[n].rule].because if macros[n].rule in policy.by_id else ''}"
        for n in sorted(names)
    )
    return Cause("fact", rules, chain)


def _drop(sources: Mapping[str, bytes], texts: Mapping[str, bytes], policy: Policy, out: Natives) -> None:
    drops = [t for t in policy.drops if t.kind == "native"]
    if not drops:
        return
    kept = [t.text for t in (*policy.keeps, *policy.roots) if t.kind == "path"]
    asked = reached(texts, sources, [p for p in sources if any(fnmatchcase(p, k) for k in kept)])
    for path in sorted(sources):
        named = [t for t in drops if fnmatchcase(path, t.text)]
        if not named or path in asked:
            continue
        rule = named[0]
        out.matched.update(t.rule for t in named)
        because = policy.by_id[rule.rule].because if rule.rule in policy.by_id else ""
        chain = (
            "no kept file names it and no kept source includes it",
            f"{rule.rule} ({rule.location.file}:{rule.location.line}): {because}",
        )
        out.gone.append((path, Cause("unreached", (rule.rule,), chain)))
