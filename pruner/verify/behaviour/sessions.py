"""Start probe sessions, both trees side by side, and read what they found."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pruner.verify.behaviour import environment

STAGE_LIMIT = 900.0  # seconds; a busy machine must not look like a tree that hangs
SESSION_LIMIT = 2700.0
ON_HOST = " in the host's memory"  # behind the name of a device
IGNORED = re.compile(r"Ignore import error .*")


@dataclass(frozen=True, slots=True)
class Plan:
    """One session: which tree on which device runs which stages. ``profile`` empty: a client host."""

    side: str
    profile: str
    stages: tuple[str, ...]

    @property
    def on_host(self) -> bool:
        """Do kernels run, in the host's memory?"""
        return self.profile.endswith(ON_HOST)


@dataclass(slots=True)
class Answer:
    """What a session left behind. ``seconds`` is wall time."""

    stages: dict[str, Any] = field(default_factory=dict)
    failure: str = ""
    seconds: float = 0.0
    spent: dict[str, float] = field(default_factory=dict)  # by stage; ``base`` is what they share
    ignored: list[str] = field(default_factory=list)  # what registries logged and went on


@dataclass(frozen=True, slots=True)
class Sessions:
    """Runs sessions with one interpreter; everything they write goes below ``work``."""

    python: Path
    trees: dict[str, Path]
    modules: tuple[str, ...]
    work: Path
    jobs: int
    only: tuple[str, ...] = ()  # names of argument sets and tiny models; empty for all

    def run(self, plans: Sequence[Plan]) -> dict[Plan, Answer]:
        """All sessions, ``jobs`` at a time."""
        with ThreadPoolExecutor(self.jobs) as pool:
            return dict(zip(plans, pool.map(self.one, plans), strict=True))

    def settings(self, plan: Plan, out: Path) -> dict[str, Any]:
        """The settings file of :mod:`pruner.verify.behaviour.probe.session`."""
        gpu = bool(plan.profile)
        return {
            "tree": str(self.trees[plan.side]),
            "out": str(out),
            "profile": plan.profile.removesuffix(ON_HOST),
            "on_host": plan.on_host,
            "devices": 1 if plan.on_host else 8,
            "stages": list(plan.stages),
            "modules": list(self.modules),
            "base": ["sglang.srt.entrypoints.http_server"] if gpu and not plan.on_host else [],
            "standins": [
                *environment.ALWAYS,
                *(environment.KERNELS if gpu else ()),
                *(environment.COMPILED if plan.on_host else ()),
            ],
            "later": list(environment.LATER),
            "hidden": [] if gpu else list(environment.HIDDEN),
            "models": str(self.work / "models"),
            "limit": STAGE_LIMIT,
            "only": list(self.only),
        }

    def one(self, plan: Plan) -> Answer:
        """One session. A crash is an answer too."""
        out = self.work / f"{plan.side}-{plan.profile.removesuffix(ON_HOST) or 'client'}{'-host' * plan.on_host}"
        out.mkdir(parents=True, exist_ok=True)
        settings = out / "settings.json"
        settings.write_text(json.dumps(self.settings(plan, out)), encoding="utf-8")
        start = time.monotonic()
        with (out / "log").open("wb") as log:
            process = subprocess.Popen(
                [str(self.python), str(environment.PROBE), str(settings)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=out,
                env=environment.variables(self.work, plan.on_host),
                start_new_session=True,
            )
            try:
                code: int | None = process.wait(SESSION_LIMIT)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                ended(process)
        answer = Answer(seconds=time.monotonic() - start)
        for stage in plan.stages:
            file = out / f"{stage}.json"
            if file.exists():
                found = json.loads(file.read_text(encoding="utf-8"))
                answer.stages[stage], answer.spent[stage] = found["answer"], found["seconds"]
        lines = (out / "log").read_text(encoding="utf-8", errors="replace").splitlines()
        answer.ignored = sorted(
            {m[0].replace(str(self.trees[plan.side]), "<tree>") for m in map(IGNORED.search, lines) if m}
        )
        if code != 0:
            said = lines[-1][-300:] if lines else "it said nothing"
            answer.failure = f"the session ended {'late' if code is None else f'with {code}'}: {said}"
        base = out / "base.json"
        shared = json.loads(base.read_text(encoding="utf-8")) if base.exists() else {"failure": None, "seconds": 0.0}
        answer.spent["base"] = shared["seconds"]
        if found := shared["failure"]:
            answer.failure = f"{found['module']}: {found['error']}: {found['text']} ({found['where']})"
        return answer


def ended(process: subprocess.Popen[bytes]) -> None:
    """End what a process left running: its own process group, by number."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def copies(upstream: Path, output: Path, place: Path) -> dict[str, Path]:
    """Both trees below ``place``: what runs there writes compiled files and caches beside its sources."""
    trees = {}
    for name, root in (("upstream", upstream), ("output", output)):
        trees[name] = place / "trees" / name
        shutil.rmtree(trees[name], ignore_errors=True)
        shutil.copytree(root, trees[name], ignore=shutil.ignore_patterns(".*", "__pycache__"))
    return trees
