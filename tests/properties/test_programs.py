"""The pruned program equals the original under every assignment of its run-time values."""

from __future__ import annotations

import itertools
import re
import symtable
import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pruner.edit import apply
from pruner.pipeline.notice import TEXT
from tests.engine import program
from tests.engine.program import FACTS, Pruned, importable, prune, run
from tests.properties import generate

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")
SCALE = settings.default.max_examples // 10 if settings.default else 10
VALUES = list(itertools.product((False, True), repeat=3))


def behave(files: dict[str, bytes]) -> list[tuple[Any, ...]]:
    """Result, effect log and exception of a call with every assignment, each in a fresh module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = compile(files["app.py"], "app.py", "exec", dont_inherit=True)
    done = []
    with importable({"plat.py": program.PLAT.encode()}):
        for values in VALUES:
            log: list[Any] = []
            result: Any = None
            raised = ""
            space: dict[str, Any] = {"__name__": "app"}
            try:
                exec(code, space)
                result = space["f"](list(values), log)
                result = list(result) if hasattr(result, "send") else result
            except Exception as error:
                raised, result = type(error).__name__, None
            done.append((repr(result), raised, repr(log), space.get("w", "global w")))  # an unread w may go
    return done


def valid(text: str) -> bool:
    """False for `global` after a use, and the like."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "app.py", "exec", dont_inherit=True)
        except SyntaxError:
            return False
    return True


def unresolved(source: bytes) -> set[str]:
    """Global names that are read and bound nowhere in the module."""
    import builtins

    table = symtable.symtable(source.decode(), "app.py", "exec")
    bound = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}
    found: set[str] = set()
    stack = [table]
    while stack:
        scope = stack.pop()
        stack += scope.get_children()
        for symbol in scope.get_symbols():
            if symbol.is_referenced() and symbol.is_global():
                found.add(symbol.get_name())
            if symbol.is_global() and symbol.is_assigned():
                bound.add(symbol.get_name())
        if scope is table:
            found |= {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    return found - bound - set(dir(builtins)) - {"__name__", "__file__"}


def show(pruned: Pruned) -> str:
    return "\n".join(f"--- {n}\n{d.decode()}" for n, d in pruned.files.items() if n != "plat.py")


@settings(max_examples=SCALE * 20)
@given(st.one_of(generate.functions(depth=1), generate.functions(depth=2), generate.functions()))
def test_a_pruned_function_does_the_same(text: str) -> None:
    if not valid(text):
        return
    pruned = prune({"app.py": text}, roots=["app:f"])
    before, after = behave(pruned.before), behave(pruned.files)
    for values, one, two in zip(VALUES, before, after, strict=True):
        assert two == one, f"{values}\n{text}\n{show(pruned)}"
    assert unresolved(pruned.files["app.py"]) <= unresolved(pruned.before["app.py"]), show(pruned)
    again = prune(pruned.files, roots=["app:f"])
    assert again.files == pruned.files, f"{show(pruned)}\n=== again\n{show(again)}"


def kept_lines(pruned: Pruned, path: str) -> set[int]:
    """Upstream lines of which more than white space is left."""
    if path not in pruned.files:
        return set()
    data = pruned.before[path]
    edits = pruned.outcome.edits.get(path, ())
    assert apply(data, edits) == pruned.files[path]
    left = bytearray(data)
    for edit in edits:
        left[edit.start : edit.stop] = re.sub(rb"[^\n]", b" ", data[edit.start : edit.stop])
    return {n for n, line in enumerate(left.split(b"\n"), 1) if line.strip()}


@settings(max_examples=SCALE * 3)
@given(generate.functions(depth=2, safe=True))
def test_one_more_fact_never_revives_code(text: str) -> None:
    """Only without bindings that a dead arm alone makes: for those the arm is kept behind a literal."""
    if not valid(text):
        return
    subjects = list(FACTS.items())
    last: set[int] | None = None
    for count in range(len(subjects) + 1):
        pruned = prune({"app.py": text}, roots=["app:f"], facts=dict(subjects[:count]))
        kept = kept_lines(pruned, "app.py")
        assert last is None or kept <= last, (
            f"{subjects[:count]} revive {sorted(kept - last)}\n{text}\n===\n{pruned['app.py']}"
        )
        last = kept


@settings(max_examples=SCALE * 3)
@given(generate.functions(depth=2, safe=True))
def test_no_facts_no_change(text: str) -> None:
    if not valid(text):
        return
    pruned = prune({"app.py": text}, roots=["app"], facts={})
    kept = pruned.files["app.py"]
    unread = [line for line in text.splitlines() if line not in kept.decode().splitlines()]
    assert all(line.startswith(("from plat import", "_", "import contextlib")) or not line for line in unread), (
        kept.decode()
    )


@settings(max_examples=SCALE * 12)
@given(generate.packages())
def test_a_pruned_package_does_the_same(files: dict[str, str]) -> None:
    pruned = prune(files, roots=["app:main"])
    driver = "import app\nRESULT = [app.main(v) for v in VALUES]"
    before, after = (run(tree, driver, VALUES=VALUES) for tree in (pruned.before, pruned.files))
    assert after == before, show(pruned)
    for path, data in pruned.files.items():
        if path.endswith(".py") and b"import *" not in pruned.before[path]:
            assert unresolved(data) <= unresolved(pruned.before[path]), show(pruned)
    again = prune(pruned.files, roots=["app:main"])
    # The first run keeps an import that orders a cycle, and may itself end the cycle: the second may remove more.
    assert run(again.files, driver, VALUES=VALUES) == after
    for path, data in again.files.items():
        lines = {line for line in data.splitlines() if not line.startswith(b"__all__")}  # follows what is kept
        assert lines - {TEXT} <= set(pruned.files[path].splitlines()), f"{show(pruned)}\n=== again\n{show(again)}"
