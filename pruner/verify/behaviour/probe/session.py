"""One session: one tree in one process, the stages in forked children, one JSON file per stage."""

from __future__ import annotations

import importlib
import json
import logging
import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import arguments, client, device, forks, modules, standins, surface
from .describe import Describer


@dataclass(frozen=True, slots=True)
class Settings:
    """What to run. ``tree`` goes first on the path; ``profile`` empty means a host without a GPU."""

    tree: str
    out: str
    profile: str
    stages: list[str]
    modules: list[str]
    base: list[str]  # imported before the stages fork
    standins: list[str]
    later: list[str]  # stand-ins for the second pass of the import run
    hidden: list[str]
    models: str  # the folder for model configurations
    devices: int = 8
    limit: float = 300.0  # seconds for a stage
    on_host: bool = False  # kernels run too: in Triton's interpreter, or as plain torch
    only: list[str] = field(default_factory=list)  # names of argument sets; empty for all


def run(settings: Settings) -> None:
    """Run the stages that the settings name; each writes ``STAGE.json``."""
    sys.path.insert(0, settings.tree)
    standins.install(settings.standins, settings.hidden)
    out = Path(settings.out)
    describer = Describer({settings.tree: "<tree>", settings.models: "<models>", sys.prefix: "<environment>"})
    if settings.profile:
        device.simulate(settings.profile, settings.devices)
    if settings.on_host:
        on_host()
    start, failure = time.monotonic(), None
    for name in settings.base:
        try:
            importlib.import_module(name)
        except BaseException as error:
            failure = {"module": name, **describer.failure(error)}
            break
    write(out / "base.json", {"failure": failure, "seconds": round(time.monotonic() - start, 1)})
    logging.getLogger().setLevel(logging.ERROR)
    steps = {
        "modules": lambda: modules.import_all(settings.modules, settings.later, describer),
        "surface": lambda: surface.dump(describer),
        "arguments": lambda: arguments.run_all(Path(settings.models), settings.only, describer),
        "layers": lambda: layers(settings, describer),
        "client": lambda: client.run_all(settings.limit, describer),
    }
    for stage in settings.stages:
        start = time.monotonic()
        answer = forks.isolated(steps[stage], settings.limit)
        write(out / f"{stage}.json", {"answer": answer, "seconds": round(time.monotonic() - start, 1)})
    os._exit(0)  # threads that the tree started must not hold the session


def on_host() -> None:
    """The host's memory as the GPU's. Apart, since it imports torch."""
    from . import host, natives

    host.install()
    natives.install()


def layers(settings: Settings, describer: Describer) -> Any:
    """Tiny models. Apart, since it imports torch."""
    from . import layers as stage

    return stage.run_all(Path(settings.out), settings.only, describer)


def write(path: Path, value: Any) -> None:
    """Write through a second name, so that a reader never sees half a file."""
    part = path.with_suffix(".part")
    part.write_text(json.dumps(value, indent=1), encoding="utf-8")
    part.replace(path)
