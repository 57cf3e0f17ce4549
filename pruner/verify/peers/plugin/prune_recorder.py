"""A pytest plug-in of the verification environment: one JSON line for each test and each file that cannot be collected.

``PRUNE_PEERS`` names the file to write; ``PRUNE_TREE`` is the python root under test, ``PRUNE_PROBE`` the folder of the
probes that simulate a device (``PRUNE_DEVICE``, empty for none), ``PRUNE_STANDINS`` the packages to stand in for.
Stdlib and pytest only: the tool is not installed there.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


def _simulate() -> None:
    folder = Path(os.environ["PRUNE_PROBE"])
    spec = importlib.util.spec_from_file_location(
        "prune_probe", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is no package")
    package = importlib.util.module_from_spec(spec)
    sys.modules["prune_probe"] = package
    spec.loader.exec_module(package)
    standins = importlib.import_module("prune_probe.standins")
    standins.install(os.environ.get("PRUNE_STANDINS", "").split(), ())
    if os.environ.get("PRUNE_DEVICE"):
        importlib.import_module("prune_probe.device").simulate(os.environ["PRUNE_DEVICE"], 1)


if "PRUNE_PROBE" in os.environ:
    _simulate()


def _note(row: dict[str, Any]) -> None:
    with Path(os.environ["PRUNE_PEERS"]).open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")


def _text(report: Any) -> str:
    crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
    text = crash.message if crash is not None else str(getattr(report, "longrepr", "") or "")
    if crash is None and report.when == "collect":
        # a whole traceback, whose head is that of importlib: the error stands on the lines marked E, at its end
        marked = re.findall(r"(?m)^E +(.*)", text)
        text = "\n".join(marked) or text.strip()
    return ADDRESS.sub("0x", text.replace(os.environ.get("PRUNE_TREE", "\0"), "<tree>"))[-400:]


def pytest_collectreport(report: Any) -> None:
    """A file that cannot be imported is an outcome of its own."""
    if report.failed:
        _note({"test": report.nodeid, "outcome": "no import", "text": _text(report)})


def pytest_runtest_logreport(report: Any) -> None:
    """The call's outcome, or that of a set-up or tear-down that did not pass."""
    if report.when == "call" or report.outcome != "passed":
        _note({"test": report.nodeid, "outcome": report.outcome, "when": report.when, "text": _text(report)})
