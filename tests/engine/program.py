"""Programs in, programs out: prune a dictionary of files and run both versions in this process.

``plat.py`` of every program holds the predicates. Upstream they answer as the facts say, so the
original runs as it is, and the two versions must then do the same.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import hashlib
import importlib.abc
import importlib.util
import io
import os
import sys
import tempfile
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pruner.model import Origin, Outcome, Policy, Snapshot, SourceFile
from pruner.pipeline import guard
from pruner.pipeline.asked import answers
from pruner.pipeline.capability import catalogues
from pruner.pipeline.engine import specialise
from pruner.pipeline.load import module_paths
from pruner.pipeline.notice import TEXT
from pruner.policy import load

Source = str | bytes
GUARD = "_prune_guard.py"

PLAT = """\
def is_cuda():
    return True


def is_hip():
    return False


def is_npu():
    return False


def arch():
    return "cuda"


def sm():
    return 90
"""
FACTS: dict[str, Any] = {"is_cuda()": True, "is_hip()": False, "is_npu()": False, "arch()": ["cuda"]}


@dataclass
class Pruned:
    """The outcome of one run; ``files`` is the whole tree that would be written."""

    files: dict[str, bytes]
    before: dict[str, bytes]
    outcome: Outcome
    removed: set[str] = field(default_factory=set)

    def __getitem__(self, path: str) -> str:
        """The text of an output file, less the notice line."""
        data = self.files[path]
        lines = data.split(b"\n")
        return b"\n".join(line for line in lines if line.rstrip(b"\r") != TEXT).decode("utf-8")

    @property
    def findings(self) -> list[str]:
        """Codes of the findings."""
        return [f.code for f in self.outcome.findings]


def snapshot(root: Path) -> Snapshot:
    """A folder as a case snapshot."""
    rows = []
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            rows.append(SourceFile(name, "", 0, False, os.readlink(path)))
        elif path.is_file():
            data = path.read_bytes()
            rows.append(SourceFile(name, hashlib.sha256(data).hexdigest(), len(data)))
    return Snapshot(root, tuple(rows), Origin("case", "case", "", ""))


def rules_text(
    facts: Mapping[str, Any],
    roots: Sequence[str],
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    pure: Sequence[str] = (),
    device: Sequence[str] = (),
) -> str:
    """A rule file in the rule language; the ids are ``fact.N``, ``root``, ``drop.N``, ``keep``, ``pure``."""
    rows = []
    for index, (subject, value) in enumerate(facts.items()):
        name = subject if "." in subject.split("(")[0] or subject.startswith("hasattr") else f"plat.{subject}"
        rows.append((f"fact.{index}", "assume", f"{{{_quote(name)}: {_yaml(value)}}}", True))
        if subject in device:
            rows[-1] = (*rows[-1][:2], f"{rows[-1][2]}\n    device: true", True)
    for verb, targets in (("root", roots), ("keep", keep), ("pure", pure)):
        if targets:
            rows.append((verb, verb, "[" + ", ".join(_quote(t) for t in targets) + "]", verb == "pure"))
    for index, target in enumerate(drop):
        rows.append((f"drop.{index}", "drop", f"[{_quote(target)}]", False))
    text = "rules:\n"
    for rule, verb, value, optional in rows:
        text += f"  - id: {rule}\n    because: The test says so.\n    {verb}: {value}\n"
        if optional:
            text += "    optional: true\n"
    return text


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _yaml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{k}: {v}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_yaml(v) for v in value) + "]"
    return (
        _quote(value)
        if isinstance(value, str)
        else {True: "true", False: "false", None: "null"}.get(value, str(value))
        if value is None or isinstance(value, bool)
        else str(value)
    )


@functools.lru_cache(256)
def _policy(text: str) -> Policy:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "rules.yaml")
        path.write_text(text)
        return load([path])


def prune(
    files: Mapping[str, Source],
    *,
    facts: Mapping[str, Any] | None = None,
    roots: Sequence[str] = ("app",),
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    pure: Sequence[str] = (),
    device: Sequence[str] = (),
    rules: str | None = None,
    plat: bool = True,
) -> Pruned:
    """Prune a program. ``facts`` default to :data:`FACTS`; ``rules`` is a whole rule file instead.

    ``device`` are subjects of facts that hold only where a device is.
    """
    tree = {p: (t.encode() if isinstance(t, str) else t) for p, t in files.items()}
    if plat and "plat.py" not in tree:
        tree["plat.py"] = PLAT.encode()
    with tempfile.TemporaryDirectory() as place:
        root = Path(place, "in")
        for name, data in tree.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        policy = _policy(rules or rules_text(FACTS if facts is None else facts, roots, drop, keep, pure, device))
        taken = snapshot(root)
        where = guard.place(module_paths(taken))
        outcome = specialise(taken, policy, 1, lambda _stage, _share: None, where[:2])
        asked = answers(policy, outcome, where[0], catalogues(taken, outcome))
    assert not unexplained(outcome), "kept, and no recorded way from a root leads there"
    out: dict[str, bytes] = {}
    for name, data in tree.items():
        new = outcome.files.get(name, data)
        if new is not None:
            out[name] = new
    if any(e.cause.kind == "guard" for edits in outcome.edits.values() for e in edits):
        out[where[2]] = guard.render(policy, asked)
    return Pruned(out, tree, outcome, set(tree) - set(out))


def unexplained(outcome: Outcome) -> list[str]:
    """Nodes of the live graph to which no way from a rule's root was recorded: ``prune why`` has no answer there."""
    out: dict[str, list[str]] = {}
    for source, target, *_ in outcome.edges:
        out.setdefault(source, []).append(target)
    work = [node for node in out if node.startswith("rule:")]
    found = set(work)
    for node in work:
        fresh = [target for target in out.get(node, ()) if target not in found]
        found.update(fresh)
        work += fresh
    return sorted({node for edge in outcome.edges for node in edge[:2]} - found)


def module(text: Source, **options: Any) -> str:
    """The output text of a one-module program ``app.py`` whose every public name is a root."""
    return prune({"app.py": text}, **options)["app.py"]


# -- running ----------------------------------------------------------------------------------------


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.tops = {name.split("/")[0].removesuffix(".py") for name in files}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.split(".")[0] not in self.tops:
            return None
        base = name.replace(".", "/")
        if f"{base}/__init__.py" in self.files:
            return importlib.util.spec_from_loader(name, self, origin=f"{base}/__init__.py", is_package=True)
        if f"{base}.py" in self.files:
            return importlib.util.spec_from_loader(name, self, origin=f"{base}.py")
        if any(p.startswith(base + "/") for p in self.files):
            spec = importlib.util.spec_from_loader(name, self, origin="", is_package=True)
            return spec
        return None

    def create_module(self, spec: Any) -> None:
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        assert module.__spec__ is not None
        origin = module.__spec__.origin or ""
        if origin:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                code = compile(self.files[origin], origin, "exec", dont_inherit=True)
            exec(code, module.__dict__)


@contextlib.contextmanager
def importable(files: Mapping[str, bytes]) -> Iterator[None]:
    """Make a tree importable, hiding whatever the process has under the same names."""
    finder = _Finder(files)
    hidden = {n: m for n, m in sys.modules.items() if n.split(".")[0] in finder.tops}
    for name in hidden:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [n for n in sys.modules if n.split(".")[0] in finder.tops]:
            del sys.modules[name]
        sys.modules.update(hidden)


def run(files: Mapping[str, Source], driver: str, **names: Any) -> dict[str, Any]:
    """Execute ``driver`` against a tree: its ``RESULT`` (as repr), what it printed, and what it raised."""
    tree = {p: (t.encode() if isinstance(t, str) else t) for p, t in files.items()}
    space: dict[str, Any] = {"__name__": "driver", "__builtins__": builtins, **names}
    printed = io.StringIO()
    raised = ""
    with importable(tree), contextlib.redirect_stdout(printed):
        try:
            exec(compile(driver, "driver", "exec"), space)
        except BaseException as error:
            raised = f"{type(error).__name__}: {error}"
    return {"result": repr(space.get("RESULT")), "printed": printed.getvalue(), "raised": raised}


def same_behaviour(pruned: Pruned, driver: str, **names: Any) -> dict[str, Any]:
    """Run both versions and require the same result, output and exception; gives what they did."""
    for name, data in pruned.files.items():
        if name.endswith(".py"):
            compile(data, name, "exec", dont_inherit=True)
    before = run(pruned.before, driver, **names)
    after = run(pruned.files, driver, **names)
    assert after == before, "\n".join(
        [
            str(before),
            str(after),
            *(f"--- {n}\n{d.decode(errors='replace')}" for n, d in pruned.files.items() if pruned.before.get(n) != d),
        ]
    )
    return before
