"""Two tools that share nothing with ours, as judges of a result: pydeps of its imports, rope of what refers to the removed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from rope.base.exceptions import RopeError
from rope.base.project import Project
from rope.contrib.findit import find_occurrences
from rope.refactor.patchedast import MismatchedTokenError

from pruner.model import Removal
from pruner.pipeline.answers import Answers


def import_graph(tree: Path, package: str) -> dict[str, set[str]]:
    """pydeps' import graph of a package below ``tree``: module -> modules of the package that it imports."""
    command = [sys.executable, "-m", "pydeps", package, "--show-deps", "--no-output", "--no-dot", "--max-bacon", "0"]
    environment = dict(os.environ, PYTHONPATH=str(tree))
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=True)
    own = re.compile(rf"{re.escape(package)}(\.|$)")
    return {
        name: {i for i in row.get("imports", ()) if own.match(i)}
        for name, row in json.loads(done.stdout).items()
        if own.match(name)
    }


def removed_imports(before: Mapping[str, set[str]], after: Mapping[str, set[str]], tree: Path) -> list[str]:
    """Kept modules that import what is gone."""
    gone = {name for name in before if not is_there(tree, name)}
    found = [f"{name} is gone and imported" for name in sorted(gone & after.keys())]
    for module, imports in sorted(after.items()):
        found += [f"{module} imports {name}, which is gone" for name in sorted(imports & gone)]
    return found


def new_imports(before: Mapping[str, set[str]], after: Mapping[str, set[str]]) -> list[str]:
    """Kept modules that import what they did not upstream. In a large tree pydeps leaves some of upstream's out."""
    return [
        f"{module} imports {name}, new"
        for module, imports in sorted(after.items())
        for name in sorted(imports - before.get(module, set()) - {module})
    ]


def is_there(tree: Path, module: str) -> bool:
    """Is it a module, package or folder of the tree?"""
    path = tree / module.replace(".", "/")
    return path.with_suffix(".py").is_file() or path.is_dir() or any(path.parent.glob(f"{path.name}.*.so"))


def references_left(
    upstream: Path, tree: Path, removals: Iterable[Removal], answers: Answers, files: Iterable[str] | None = None
) -> Iterator[str]:
    """References that rope finds upstream to removed definitions, on lines that are kept and still name them.

    ``files`` are the only ones that rope looks into. The first string is always the number of definitions looked at.
    """
    removals = list(removals)
    gone: dict[str, set[int]] = {}
    for row in removals:
        gone.setdefault(row.path, set()).update(range(row.first, row.last + 1))
    project = Project(str(upstream), ropefolder=None)
    found, looked = [], 0
    try:
        within = [project.get_resource(name) for name in files] if files is not None else None
        for row in removals:
            if row.what not in ("function", "class", "method"):
                continue
            resource = project.get_resource(row.path)
            name, text = row.name.rpartition(".")[2], resource.read()
            start = sum(len(line) + 1 for line in text.split("\n")[: row.first - 1])
            match = re.compile(rf"\b(?:def|class) +({name})\b").search(text, start)
            if match is None:
                continue
            try:
                uses = find_occurrences(project, resource, match.start(1), resources=within)
            except (MismatchedTokenError, RopeError):
                continue  # a file that rope cannot read says nothing
            looked += 1
            for use in uses:
                place = f"{use.resource.path}:{use.lineno}"
                if use.lineno in gone.get(use.resource.path, ()):
                    continue
                answer = answers.line(place, upstream=True)
                if answer.status == "removed":
                    continue
                file, _, number = answer.lines[0].partition(" ")[0].rpartition(":")
                kept = (tree / file).read_text().splitlines()[int(number) - 1]
                if re.search(rf"\b{name}\b", kept):
                    found.append(f"{row.name}: {place}")
    finally:
        project.close()
    yield str(looked)
    yield from found
