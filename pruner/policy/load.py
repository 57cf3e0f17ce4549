"""Rule files and what they extend, each read once, into one policy."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ruamel.yaml.nodes import Node

from pruner.errors import Diagnostic
from pruner.model import Policy
from pruner.policy import codes
from pruner.policy.merge import assemble
from pruner.policy.node import Faults, RuleFile
from pruner.policy.rule import TOP_KEYS, Stated, read_rules


@dataclass(slots=True)
class _Loading:
    base: Path  # the first rule file's folder
    faults: Faults = field(default_factory=Faults)
    stated: Stated = field(default_factory=Stated)
    names: dict[Path, str] = field(default_factory=dict)  # every file met -> its stable name
    open_files: list[Path] = field(default_factory=list)  # the chain of 'extends' being followed


def load(paths: Sequence[Path]) -> Policy:
    """The policy of these files and of those that they extend.

    Neither the order of files nor the folder that the command runs in changes the result:
    locations name a file from its folder on (``rules/nvidia.yaml``), ``files`` from the first
    file's folder. Raises :class:`PruneError` with every fault of every file.
    """
    if not paths:
        return Policy()
    loading = _Loading(Path(os.path.abspath(paths[0])).parent)
    for path in paths:
        _read_file(loading, path, None)
    policy = assemble(loading.stated, loading.faults, tuple(sorted(set(loading.names.values()))))
    loading.faults.stop_if_any()
    return policy


def stable_name(path: Path, base: Path) -> str:
    """``path`` from ``base`` on; for a file elsewhere its own folder's name and its name.

    No absolute path and no ``..`` chain, which would tell where the project lies.
    """
    absolute = Path(os.path.abspath(path))
    if absolute.is_relative_to(base):
        return absolute.relative_to(base).as_posix()
    return f"{absolute.parent.name}/{absolute.name}"


def _read_file(loading: _Loading, path: Path, asked: Diagnostic | None) -> None:
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
    name = stable_name(path, loading.base)
    loading.names[real] = name
    located = f"{loading.base.name}/{name}" if Path(os.path.abspath(path)).is_relative_to(loading.base) else name
    file = RuleFile(path.as_posix(), located, loading.faults)
    if asked is not None and not path.is_file():
        near = _nearest(path)
        advice = f"did you mean {near!r}?" if near else "the path is relative to the file that extends it"
        loading.faults.found.append(
            Diagnostic(asked.file, asked.line, asked.column, "error", codes.UNREADABLE, f"no file {path}", advice)
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
                _read_file(loading, path.parent / base.value, place)
        elif key.value == "capabilities":
            _capabilities(file, path, node)
        elif key.value == "lift":
            loading.stated.lifted += [
                (t.value, loading.stated.note(file, t.location)) for t in file.texts(node, "'lift'")
            ]
        elif key.value == "rules":
            read_rules(file, node, loading.stated)
        else:
            file.unknown_key(key, "a rule file", TOP_KEYS)
    loading.open_files.pop()


def _capabilities(file: RuleFile, path: Path, node: Node) -> None:
    """Check the key's shape; the verifier reads what it names."""
    parts = dict(file.mapping(node, "'capabilities'"))
    for name, value in parts.items():
        if name.value not in ("places", "column"):
            file.unknown_key(name, "'capabilities'", ("places", "column"))
        elif (text := file.text(value, f"'{name.value}'")) is not None and name.value == "places":
            if not (path.parent / text.value).is_file():
                file.fault(value, codes.UNREADABLE, f"no file {text.value}", "the path is relative to this file")
    if {name.value for name in parts} != {"places", "column"}:
        file.fault(node, codes.MISSING_KEY, "'capabilities' needs 'places' and 'column'")


def _nearest(path: Path) -> str | None:
    try:
        names = sorted(p.name for p in path.parent.iterdir())
    except OSError:
        return None
    near = difflib.get_close_matches(path.name, names, n=1)
    return near[0] if near else None
