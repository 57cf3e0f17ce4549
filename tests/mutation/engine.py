"""The engine up to marking, so that one of its parts can be made wrong and a file be written as it then writes it."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pruner.edit import apply
from pruner.model import Edit, Fact, Policy, Snapshot
from pruner.passes import Call, rewrite
from pruner.pipeline.admitted import judge_all
from pruner.pipeline.ahead import Ahead
from pruner.pipeline.engine import _specialise
from pruner.pipeline.load import Loader
from pruner.pipeline.native import without_macros
from pruner.pipeline.notice import notice
from pruner.pipeline.placement import placements
from pruner.policy import load, select
from pruner.scan.stores import find
from pruner.source import read_tree
from pruner.verify.rules import version_of
from tests.mutation.equal import Readers

GUARD = ("sglang", "_prune_guard")


class Engine:
    """A run up to marking, whose parts can be made wrong."""

    def __init__(self, upstream: Path, output: Path, rules: Sequence[Path]) -> None:
        self.snapshot: Snapshot = read_tree(upstream, "tree")
        self.loader = Loader(self.snapshot, 1)
        stated: Policy = select(load(tuple(rules)), self.snapshot.origin.version or version_of(upstream))
        self.policy = replace(stated, facts=without_macros(stated))
        self.output = output
        rejected: set[Fact] = set()
        while True:  # as the engine does: a fact that a live store breaks is nobody's assumption
            admitted = replace(self.policy, facts=tuple(f for f in self.policy.facts if f not in rejected))
            outcome, self.marker = _specialise(
                self.snapshot, admitted, stated, self.loader, 1, lambda name, share: None, GUARD, Ahead(1)
            )
            broken = judge_all(
                self.snapshot, admitted.facts, self.loader, outcome, self.marker, lambda path, data: find(data)
            ).rejected
            if not broken:
                break
            rejected |= set(broken)
        self.policy = admitted
        self.live = self.marker.out
        self.guards, _ = placements(admitted, self.loader.table, self.live, set())
        self.readers = Readers(output)

    def files(self) -> list[tuple[str, str]]:
        """Live modules and their paths."""
        return [
            (module, state.summary.path)
            for module, state in sorted(self.live.states.items())
            if state.executed and module not in self.loader.untouchable
        ]

    def written(self, module: str, path: str) -> tuple[bytes, tuple[Edit, ...]]:
        """The file as this engine writes it. Raises what the engine raises."""
        data = self.snapshot.read(path)
        calls = [
            (p.function, Call(p.key, p.rule, p.where == "after", p.parameter, p.options))
            for p in self.guards.get(module, ())
        ]
        edits = rewrite(self.marker, self.live, module, path, data, GUARD, calls).edits
        if not edits:
            return data, ()
        noted = notice(data, edits)
        return apply(data, noted), noted

    def kept(self, path: str) -> bytes | None:
        """What the output holds."""
        file = self.output / path
        return file.read_bytes() if file.is_file() else None


def _version(upstream: Path) -> str:
    from pruner.verify.rules import version_of

    return version_of(upstream)


def forked(step: Callable[[], Any]) -> Any:
    """The step's answer from a child, whose patches end with it. None when it raised."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        with contextlib.suppress(BaseException), os.fdopen(write, "wb") as stream:
            stream.write(pickle.dumps(step()))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        data = stream.read()
    os.waitpid(pid, 0)
    return pickle.loads(data) if data else None
