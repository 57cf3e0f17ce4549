"""Build snapshots, outcomes and generated trees by hand."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pruner.model import (
    Cause,
    Edit,
    Fact,
    Finding,
    Location,
    Origin,
    Outcome,
    Policy,
    Range,
    Removal,
    Rule,
    Snapshot,
    SourceFile,
    Target,
    Verdict,
)

FACT = Cause("fact", ("nvidia.hip",), ("is_hip() is false by nvidia.hip",))
UNREACHED = Cause("unreached", (), ("no live module imports it", "pkg/a.py:3 was its only user"))
DROP = Cause("rule", ("deepseek.models",), ("dropped by deepseek.models",))
ORPHAN = Cause("orphan", (), ("its last user went",))
NOTICE = Cause("notice")


@dataclass(frozen=True)
class Item:
    """One file: its content, or its target when it is a link."""

    data: bytes
    executable: bool = False
    link: bool = False


Tree = Mapping[str, bytes | Item]


def write(root: Path, tree: Tree) -> None:
    for path, given in tree.items():
        item = given if isinstance(given, Item) else Item(given)
        place = os.fsencode(root) + b"/" + path.encode("utf-8", "surrogateescape")
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if item.link:
            os.symlink(item.data, place)
            continue
        with open(place, "wb") as stream:
            stream.write(item.data)
        os.chmod(place, 0o755 if item.executable else 0o644)


def snapshot(root: Path, *, python_root: str = "") -> Snapshot:
    """Read a folder as the source layer would."""
    files = []
    for folder, folders, names in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        for name in [*names, *(name for name in folders if os.path.islink(os.path.join(folder, name)))]:
            place = os.path.join(folder, name)
            path = os.path.relpath(place, root)
            link = os.readlink(place) if os.path.islink(place) else None
            data = Path(place).read_bytes() if link is None else link.encode("utf-8", "surrogateescape")
            executable = link is None and bool(os.stat(place).st_mode & 0o100)
            files.append(SourceFile(path, sha256(data).hexdigest(), len(data), executable, link))
    files.sort(key=lambda file: file.path.encode("utf-8", "surrogateescape"))
    return Snapshot(root, tuple(files), Origin("wheel", "pkg", "1.0", "ab" * 32), python_root)


def content(root: Path) -> dict[str, Item]:
    """A folder as a value, to compare two of them byte by byte."""
    found = {}
    for file in snapshot(root).files:
        if file.link is not None:
            found[file.path] = Item(file.link.encode("utf-8", "surrogateescape"), link=True)
        else:
            found[file.path] = Item((root / file.path).read_bytes(), file.executable)
    return found


def edits_of(old: bytes, *changes: tuple[bytes, bytes, Cause]) -> tuple[Edit, ...]:
    """Edits that replace the first occurrence of each text."""
    made = []
    for before, after, cause in changes:
        start = old.index(before)
        made.append(Edit(start, start + len(before), after, cause))
    return tuple(made)


def outcome_of(
    snap: Snapshot,
    *,
    removed: Mapping[str, Cause] | None = None,
    edits: Mapping[str, tuple[Edit, ...]] | None = None,
    rows: tuple[Removal, ...] = (),
    findings: tuple[Finding, ...] = (),
    folds: dict[str, int] | None = None,
) -> Outcome:
    files: dict[str, bytes | None] = dict.fromkeys(removed or {})
    ranges: dict[str, tuple[tuple[int, int], ...]] = {}
    for path, made in (edits or {}).items():
        old = snap.read(path)
        files[path] = splice(old, made)
        ranges[path] = ((1, 1),)
    whole = []
    for file in snap.files:
        if removed and file.path in removed:
            last = 0 if file.link is not None else snap.read(file.path).count(b"\n")
            whole.append(Removal(file.path, 1, last, "file", "", removed[file.path]))
    return Outcome(files, dict(edits or {}), (*whole, *rows), findings, folds or {}, ranges)


def splice(old: bytes, edits: tuple[Edit, ...]) -> bytes:
    """Apply edits from the back: another way than the reports do it."""
    new = old
    order = sorted(edits, key=lambda edit: (edit.start, edit.stop))
    for edit in order[::-1]:  # not reverse=True, which would swap two insertions at one place
        new = new[: edit.start] + edit.text + new[edit.stop :]
    return new


def expected(root: Path, outcome: Outcome, extra: Mapping[str, bytes]) -> dict[str, Item]:
    """The generated tree that the outcome means."""
    tree = content(root)
    for path, data in outcome.files.items():
        if data is None:
            tree.pop(path, None)
        else:
            tree[path] = Item(data, path in tree and tree[path].executable)
    for path, data in extra.items():
        was = tree.get(path)
        tree[path] = Item(data, was is not None and was.executable)
    return tree


def git(folder: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    clean |= {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
        "GIT_AUTHOR_NAME": "t",
        "GIT_AUTHOR_EMAIL": "t@example.org",
        "GIT_COMMITTER_NAME": "t",
        "GIT_COMMITTER_EMAIL": "t@example.org",
    }
    done = subprocess.run(["git", *words], cwd=folder, env=clean, capture_output=True, check=False)
    assert not check or done.returncode == 0, done.stderr.decode(errors="replace")
    return done


def a_policy() -> Policy:
    at = Location("rules/nvidia.yaml", 14)
    rules = (
        Rule("nvidia.hip", "assume", "AMD GPUs are not NVIDIA.", at),
        Rule("deepseek.models", "drop", "Only DeepSeek is served.", Location("rules/deepseek.yaml", 3)),
        Rule("nvidia.sm", "assume", "Hopper and newer.", Location("rules/nvidia.yaml", 30), optional=True),
    )
    facts = (
        Fact("nvidia.hip", "pkg.common.is_hip()", (False,), at),
        Fact("nvidia.sm", "pkg.common.sm()", Range(90, None), Location("rules/nvidia.yaml", 30)),
    )
    return Policy(
        rules=rules,
        facts=facts,
        drops=(Target("deepseek.models", "module", "pkg.models.*", Location("rules/deepseek.yaml", 3)),),
        files=("rules/deepseek.yaml", "rules/nvidia.yaml"),
        digest="cd" * 32,
        by_id={rule.id: rule for rule in rules},
    )


VERDICTS = (
    Verdict("compile", "12 files", "passed", (), 1.25),
    Verdict("imports", "40 imports", "refuted", ("pkg/a.py:3: no module pkg.b",), 0.5),
    Verdict("gpu", "0 cells", "not run", ("no card",), 0.0),
)
