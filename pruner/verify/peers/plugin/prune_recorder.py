"""A pytest plug-in of the verification environment: one JSON line for each test and each file that cannot be collected.

``PRUNE_PEERS`` names the file to write; ``PRUNE_TREE`` is the python root under test, ``PRUNE_PROBE`` the folder of the
probes that simulate a device (``PRUNE_DEVICE``, empty for none), ``PRUNE_STANDINS`` the packages to stand in for.
``PRUNE_ONLY`` names JSON with the tests to run and the entries of tables that each runs without, and has the lines recorded
that each of them executes (``prune_lines``);
``PRUNE_GONE`` a list of what the tree has no more (``prune_absent``).
Stdlib and pytest only: the tool is not installed there.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import json
import os
import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
# What prune's generated guard says, in whatever error it reaches the test.
SENTENCE = re.compile(r"\(rule [\w.-]+, [^()\n]+:\d+\)[^\n]{0,400}; to have it, (?:put|add) ")
# Frames between a test and what it asks for: importlib and who resolves a dotted target by it.
BETWEEN = re.compile(
    r"<frozen importlib|/importlib/__init__\.py$|/unittest/mock\.py$|/contextlib\.py$|/pkgutil\.py$"
    r"|/_pytest/monkeypatch\.py$|/prune_absent\.py$"
)
# Who calls tests: what a decorator of a test asks for (``@patch("a.b")``) is asked in no frame of its own.
RUNNER = re.compile(r"/_pytest/|/pluggy/|/unittest/")
WHOSE = re.compile(r"<(?:module|class) '([\w.]+)'|<([\w.]+) object|from '([\w.]+)'")


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
    text = getattr(report, "prune_why", {}).get("first", "") or text
    if crash is None and report.when == "collect":
        # a whole traceback, whose head is that of importlib: the error stands on the lines marked E, at its end
        marked = re.findall(r"(?m)^E +(.*)", text)
        text = "\n".join(marked) or text.strip()
    return ADDRESS.sub("0x", text.replace(os.environ.get("PRUNE_TREE", "\0"), "<tree>"))[-400:]


# -- why a test failed ---------------------------------------------------------------------------


def _where(error: BaseException) -> str:
    """Whose frame asked: ``test`` (a file of the checkout outside the tree), ``tree``, or ``other``."""
    return _frame(error)[0]


def _frame(error: BaseException) -> tuple[str, str]:
    """Whose frame raised the error, and which file of the tree it is in."""
    if hasattr(error, "prune_asked"):  # a stand-in, which only a test file has got: it may have handed it on
        return "test", ""
    frames, trace = [], error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    count = len(frames)
    while frames and BETWEEN.search(frames[-1]):
        frames.pop()
    if not frames:
        return "other", ""
    if len(frames) < count and RUNNER.search(frames[-1]):
        return "test", ""
    file, tree = os.path.realpath(frames[-1]), os.environ["PRUNE_TREE"] + os.sep
    if file.startswith(tree):
        return "tree", file[len(tree) :]
    return "test" if file.startswith(os.environ["SGLANG_REPO"] + os.sep) else "other", ""


def _asked(error: BaseException) -> list[str]:
    """Dotted names that the error says are not there: of a module, or of a class and those that it inherits from."""
    if hasattr(error, "prune_asked"):
        return list(error.prune_asked)
    if isinstance(error, ImportError):
        found = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(error))
        return [f"{found[2]}.{found[1]}"] if found else [error.name] if error.name else []
    if not isinstance(error, AttributeError):
        return []
    if error.name is not None:
        if isinstance(error.obj, type(sys)):
            return [f"{error.obj.__name__}.{error.name}"]
        kind = error.obj if isinstance(error.obj, type) else type(error.obj)
        return [f"{base.__module__}.{base.__qualname__}.{error.name}" for base in kind.__mro__]
    said = re.search(r"does not have the attribute '(\w+)'", str(error))  # unittest.mock's own
    whose = WHOSE.search(str(error)) if said else None
    if said is None or whose is None:
        return []
    owner = next(filter(None, whose.groups()))
    module, _, name = owner.rpartition(".")
    named = getattr(sys.modules.get(module), name, None)
    bases = named.__mro__ if isinstance(named, type) else ()
    return [f"{owner}.{said[1]}", *(f"{base.__module__}.{base.__qualname__}.{said[1]}" for base in bases)]


def _why(error: BaseException, printed: str) -> dict[str, Any]:
    """What the comparison needs to know of a failure. ``printed`` is what the test wrote to stderr.

    The first error of a chain counts: upstream's test case runs each test in a function that tries again, and raises another.
    """
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in chain:
        chain.append(cause)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    texts = [str(one) for one in chain] + [str(getattr(one, "detail", "")) for one in chain]
    if isinstance(error, SystemExit):  # argparse says it there
        texts.append(printed)
    refusal = next((text for text in texts if SENTENCE.search(text)), "")
    first = chain[-1]
    where, file = _frame(first)
    told = f"{type(first).__name__}: {first}"[:1000]
    row = {"refused": refusal[-600:], "where": where, "file": file, "asked": _asked(first), "told": told}
    return {**row, "first": told if first is not error else ""}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    """Keep of the error what a report has no place for."""
    report = yield
    if call.excinfo is not None and report.outcome == "failed":
        printed = "\n".join(text for name, text in report.sections if "stderr" in name)
        report.prune_why = _why(call.excinfo.value, printed)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: Any) -> Any:
    """The same for a file: pytest raises its own error from the one that counts."""
    report = yield
    excinfo = getattr(getattr(report, "call", None), "excinfo", None)
    if report.failed and excinfo is not None:
        error = excinfo.value
        while isinstance(error, pytest.Collector.CollectError) and (error.__cause__ or error.__context__):
            error = error.__cause__ or error.__context__
        report.prune_why = _why(error, "")
    return report


def pytest_collectreport(report: Any) -> None:
    """A file that cannot be imported is an outcome of its own."""
    if report.failed:
        why = getattr(report, "prune_why", None)
        _note({"test": report.nodeid, "outcome": "no import", "text": _text(report), "why": why})


def pytest_runtest_logreport(report: Any) -> None:
    """The call's outcome, or that of a set-up or tear-down that did not pass."""
    if report.when == "call" or report.outcome != "passed":
        why = getattr(report, "prune_why", None)
        _note({"test": report.nodeid, "outcome": report.outcome, "text": _text(report), "why": why})


# -- which lines a test executes -----------------------------------------------------------------


@functools.cache
def _only() -> dict[str, list[list[str]]]:
    """Tests, and what they run without."""
    return dict(json.loads(Path(os.environ["PRUNE_ONLY"]).read_text("utf-8")))


def _told(item: Any, words: set[str]) -> Iterator[str]:
    """The test's parameters, and what the globals that it names are or hold: ``RESOLVERS = (("one", Pool),)``."""
    values = [
        vars(item.module)[name] for name in sorted(words) if name in vars(getattr(item, "module", None) or object)
    ]
    values += getattr(getattr(item, "callspec", None), "params", {}).values()
    for _ in range(3):
        inner: list[Any] = []
        for value in values:
            if isinstance(value, str):
                yield value
            elif isinstance(value, tuple | list | set | frozenset):
                inner += value
            elif isinstance(value, dict):
                inner += [*value, *value.values()]
            elif isinstance(value, type) or callable(value):
                yield from (str(getattr(value, "__name__", "")), str(getattr(value, "__module__", "")))
        values = inner


@contextlib.contextmanager
def _without(entries: list[list[str]]) -> Iterator[None]:
    """Dictionaries, lists and sets lack these entries, given as module, table and key, until it is left."""
    before: list[tuple[Any, Any]] = []
    for module, name, key in entries:
        table: Any = importlib.import_module(module)
        for part in name.split("."):
            table = getattr(table, part, None)
        if isinstance(table, dict | list | set):
            before.append((table, table.copy()))
            for one in [one for one in table if str(one) == key]:
                table.pop(one) if isinstance(table, dict) else table.remove(one)
    try:
        yield
    finally:
        for table, copy in reversed(before):
            table.clear()
            table.extend(copy) if isinstance(table, list) else table.update(copy)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave the tests that were asked for."""
    if os.environ.get("PRUNE_ONLY"):
        wanted = _only()
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in wanted])
        items[:] = [item for item in items if item.nodeid in wanted]


Lines = dict[str, set[int]]
_now: dict[str, Lines] = {}  # "lines" of the test that runs; "setup" of it alone
_fixtures: dict[str, Lines] = {}  # a class or file -> what the set-up of its first test executed


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Any:
    """Record one test with its set-up and tear-down; what the first test's set-up makes serves the others of its class."""
    if not os.environ.get("PRUNE_ONLY"):
        return (yield)
    prune_lines = importlib.import_module("prune_lines")
    words: set[str] = set()
    entries = _only().get(item.nodeid, [])
    with _without(entries), prune_lines.recorded(os.environ["PRUNE_TREE"], os.environ["SGLANG_REPO"], words) as lines:
        _now["lines"] = lines
        result = yield
    words |= set(_told(item, words))
    owner = item.nodeid.rpartition("::")[0]
    for path, found in _fixtures.setdefault(owner, _now.get("setup", {})).items():
        lines.setdefault(path, set()).update(found)
    executed = {path: sorted(found) for path, found in sorted(lines.items())}
    _note({"test": item.nodeid, "lines": executed, "words": sorted(words)})
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Any:
    """Remember what a set-up executed."""
    result = yield
    _now["setup"] = {path: set(found) for path, found in _now.get("lines", {}).items()}
    return result


def pytest_configure() -> None:
    """Before a test file is loaded."""
    if os.environ.get("PRUNE_GONE"):
        importlib.import_module("prune_absent").install(_where)


# -- what was loaded -----------------------------------------------------------------------------


def _outside() -> Iterator[str]:
    """Modules that the session loaded from the environment's packages, in order."""
    folders = tuple({sysconfig.get_path("purelib") + os.sep, sysconfig.get_path("platlib") + os.sep})
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if spec is not None and spec.name == name and str(getattr(spec, "origin", "")).startswith(folders):
            yield name


def pytest_sessionfinish() -> None:
    """Say which packages came from outside the tree, and whether the tree's own came from it."""
    tree = os.environ["PRUNE_TREE"]
    for package in sorted(name for name in list(sys.modules) if "." not in name):
        file = getattr(sys.modules[package], "__file__", None)
        held = any(os.path.exists(os.path.join(tree, package + end)) for end in ("/__init__.py", ".py"))
        if held and file and not os.path.realpath(file).startswith(tree + os.sep):
            _note({"elsewhere": f"{package} was loaded from {file}"})
    if os.environ.get("PRUNE_LOADED"):
        Path(os.environ["PRUNE_LOADED"]).write_text(json.dumps(list(_outside())), "utf-8")
