"""Rule files and what they extend, each read once, into one policy."""

from __future__ import annotations

import difflib
import os
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ruamel.yaml.nodes import Node

from pruner.errors import Diagnostic, too_long
from pruner.model import Policy
from pruner.policy import codes
from pruner.policy.merge import assemble
from pruner.policy.node import Faults, RuleFile
from pruner.policy.rule import TOP_KEYS, Stated, read_rules


@dataclass(slots=True)
class _Loading:
    faults: Faults = field(default_factory=Faults)
    stated: Stated = field(default_factory=Stated)
    names: dict[Path, str] = field(default_factory=dict)  # every file met -> its stable name
    shown: dict[str, str] = field(default_factory=dict)  # stable name -> the path that a person gave
    tables: list[str] = field(default_factory=list)  # what 'capabilities' name
    open_files: list[Path] = field(default_factory=list)  # the chain of 'extends' being followed


def load(paths: Sequence[Path]) -> Policy:
    """The policy of these files and of those that they extend.

    Neither the order of files nor where they lie changes the result: a file of the command line
    has its own name (``cuda_only.yaml``), one that it extends the path written there
    (``nvidia.yaml``, ``../base/amd.yaml``). Raises :class:`PruneError` with every fault of every file.
    """
    if not paths:
        return Policy()
    loading = _Loading()
    for path in sorted(set(paths), key=lambda p: (p.name, p)):
        _read_file(loading, path, path.name, None)
    policy = assemble(loading.stated, loading.faults, tuple(sorted(set(loading.names.values()))))
    loading.faults.stop_if_any()
    return replace(policy, shown=loading.shown, tables=tuple(sorted(loading.tables)))


def _read_file(loading: _Loading, path: Path, name: str, asked: Diagnostic | None) -> None:
    fault = "a name holds a zero byte" if "\0" in str(path) else too_long(str(path))
    if fault:  # the system does not even say whether such a file is there
        place = asked or Diagnostic(str(path)[:80], 0, 0, "error", "", "")
        loading.faults.found.append(
            Diagnostic(
                place.file, place.line, place.column, "error", codes.UNREADABLE, f"no file: {fault}", "check the path"
            )
        )
        return
    real = path.resolve()
    if real in loading.open_files:
        chain = [p.name for p in loading.open_files[loading.open_files.index(real) :]] + [real.name]
        place = asked or Diagnostic(path.as_posix(), 0, 0, "error", "", "")
        text = f"the file extends itself: {' -> '.join(chain)}"
        advice = "take one of the names out"
        loading.faults.found.append(
            Diagnostic(place.file, place.line, place.column, "error", codes.EXTENDS_LOOP, text, advice)
        )
        return
    if real in loading.names:
        return
    while name in loading.shown:  # two folders with a file of one name
        name = f"{name}'"
    loading.names[real] = name
    loading.shown[name] = path.as_posix()
    file = RuleFile(path.as_posix(), name, loading.faults)
    if asked is not None and not path.is_file():
        near = _nearest(path)
        text, advice = f"no file {path}", "the path is relative to the file that extends it"
        if path.is_dir():
            text, advice = f"{path} is a folder, not a rule file", "name the files in it that are meant"
        elif near:
            advice = f"did you mean {near!r}?"
        loading.faults.found.append(
            Diagnostic(asked.file, asked.line, asked.column, "error", codes.UNREADABLE, text, advice)
        )
        return
    root = file.open(path)
    if root is None:
        return
    loading.open_files.append(real)
    for key, node in file.mapping(root, "a rule file"):
        if key.value == "extends":
            for base in file.texts(node, "'extends'"):
                place = Diagnostic(file.shown, base.location.line, base.location.column, "error", "", "")
                _read_file(loading, path.parent / base.value, _beside(name, base.value), place)
        elif key.value == "capabilities":
            _capabilities(loading, file, path, node)
        elif key.value == "lift":
            loading.stated.lifted += [
                (t.value, loading.stated.note(file, t.location)) for t in file.texts(node, "'lift'")
            ]
        elif key.value == "rules":
            read_rules(file, node, loading.stated)
        else:
            file.unknown_key(key, "a rule file", TOP_KEYS)
    loading.open_files.pop()


def _capabilities(loading: _Loading, file: RuleFile, path: Path, node: Node) -> None:
    """Check the key's shape; the verifier reads what it names."""
    parts = dict(file.mapping(node, "'capabilities'"))
    for name, value in parts.items():
        if name.value not in ("places", "column"):
            file.unknown_key(name, "'capabilities'", ("places", "column"))
        elif (text := file.text(value, f"'{name.value}'")) is not None and name.value == "places":
            loading.tables.append((path.parent / text.value).as_posix())
            if not os.path.isfile(path.parent / text.value):  # also where the name is too long to ask for
                file.fault(value, codes.UNREADABLE, f"no file {text.value}", "the path is relative to this file")
    if {name.value for name in parts} != {"places", "column"}:
        file.fault(node, codes.MISSING_KEY, "'capabilities' needs 'places' and 'column'")


def _beside(name: str, written: str) -> str:
    """The name of an extended file: from the folder of the one that extends it; an absolute path tells nothing."""
    if os.path.isabs(written):
        return os.path.basename(written)
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), written))


def _nearest(path: Path) -> str | None:
    try:
        names = sorted(p.name for p in path.parent.iterdir())
    except OSError:
        return None
    near = difflib.get_close_matches(path.name, names, n=1)
    return near[0] if near else None
