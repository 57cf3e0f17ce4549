"""Checks ``compile`` and ``lint``: files compile, and ruff finds no new undefined or redefined name.

Blind to names that ``builtins`` patches or star imports of outside packages provide.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

CODES = "F821,F811,F822"
Finding = tuple[str, str, str]


def compiles(data: bytes | ast.Module, path: str) -> str:
    """Why the file, or what was parsed of it, does not compile; ``""`` when it does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(data, path, "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", 0) or 0
            return f"{path}:{line}: does not compile: {getattr(error, 'msg', error)}"
        except (RecursionError, MemoryError):
            return f"{path}: too deep to compile"
    return ""


def ruff_command() -> list[str]:
    """How to call ruff: the binary beside the interpreter, else the module."""
    binary = Path(sys.executable).with_name("ruff.exe" if os.name == "nt" else "ruff")
    return [str(binary)] if binary.exists() else [sys.executable, "-m", "ruff"]


def ruff(root: Path, paths: list[str]) -> dict[str, Counter[Finding]] | None:
    """Findings (code, message) counted per path. None when ruff cannot run.

    Namespace packages and stub files need no configuration: the rules look at one file at a time.
    """
    if not paths:
        return {}
    with tempfile.NamedTemporaryFile("w", suffix=".args", encoding="utf-8", delete=False) as handle:
        handle.write("\n".join(str(root / path) for path in paths))
    try:
        done = subprocess.run(
            [*ruff_command(), "check", "--isolated", "--no-cache", "--exit-zero", "--output-format", "json",
             "--ignore-noqa", "--target-version", "py311", "--select", CODES, f"@{handle.name}"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError:
        return None
    finally:
        os.unlink(handle.name)
    if done.returncode not in (0, 1):
        return None
    found: dict[str, Counter[Finding]] = {}
    prefix = str(root.resolve()) + os.sep
    for row in json.loads(done.stdout or "[]"):
        if not row.get("code") or row["code"] not in CODES.split(","):
            continue
        name = os.path.realpath(row["filename"])
        path = name[len(prefix) :] if name.startswith(prefix) else os.path.relpath(row["filename"], root)
        key = (row["code"], _stable(row["message"]), str(row["location"]["row"]))
        found.setdefault(path.replace(os.sep, "/"), Counter())[key] += 1
    return found


def explained(code: str, message: str, source: bytes, line: int, upstream: bytes = b"") -> bool:
    """Is the finding what upstream's own statements look like when the other side of a test is gone?

    ``from env import flags`` at module level and again in a function is F811 as soon as the readers of the
    first are folded away while its module must still run, and so is ``flags = lambda: 0`` there: two scopes, so
    nothing is redefined. In one scope it is nothing either where upstream has the two in a row as well: what
    read the first went (``import a`` / ``if hip: a()`` / ``a = 1``), or what it depended on; the arms of one test are not
    in a row.
    ``del a`` that stood on one side of a test makes F821 of what reads ``a`` behind it.
    """
    name = re.search("`(.+?)`", message)
    if name is None or code not in ("F811", "F821"):
        return False
    scopes = _around(ast.parse(source), line)
    if code == "F821":
        return any(
            any(isinstance(n, ast.Name) and n.id == name[1] and isinstance(n.ctx, ast.Del) for n in _own(scope))
            and any(name[1] in _binds(n) for n in _own(scope))
            for scope in scopes
        )
    path = [getattr(scope, "name", "") for scope in scopes]
    if any(_bound_twice(scope, name[1]) for scope in _named(ast.parse(upstream), path)):
        return True
    if len(scopes) == 1:
        return False
    rows = [n for n in _own(scopes[-1]) if name[1] in _binds(n)]
    here = [n for n in rows if n.lineno <= line <= n.end_lineno]  # type: ignore[attr-defined]
    lazy = not isinstance(scopes[-1], ast.ClassDef) and any(isinstance(n, ast.Import | ast.ImportFrom) for n in here)
    return lazy or not any(n.end_lineno < line for n in rows)  # type: ignore[attr-defined]


def _around(tree: ast.Module, line: int) -> list[ast.AST]:
    """The module, and the functions and classes around the line, outer ones first; a definition's head stands outside it."""
    found: list[ast.AST] = [tree]
    for node in ast.walk(tree):  # outer ones first
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.body[0].lineno <= line <= (node.end_lineno or 0):
                found.append(node)
    return found


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope, without those of functions and classes in it."""
    work = list(ast.iter_child_nodes(scope))  # the names in its head do no harm
    while work:
        node = work.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            work += ast.iter_child_nodes(node)


def _named(tree: ast.Module, path: list[str]) -> list[ast.AST]:
    """The scopes of a module whose functions and classes, outer ones first, have these names; the module's own is "" """
    found: list[ast.AST] = [tree]
    for name in path[1:]:
        found = [n for scope in found for n in _own(scope) if getattr(n, "name", "") == name and hasattr(n, "body")]
    return found


_ARMS = ("body", "orelse", "handlers", "cases")


def _bound_twice(scope: ast.AST, name: str) -> bool:
    """Does the scope bind the name twice in a row, not in two arms of one test?"""
    rows: list[tuple[int, int, dict[int, str]]] = []
    work: list[tuple[ast.AST, dict[int, str]]] = [(scope, {})]
    while work:
        node, arms = work.pop()
        if name in _binds(node) and node is not scope:
            rows.append((node.lineno, node.end_lineno or 0, arms))  # type: ignore[attr-defined]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda) and node is not scope:
            continue
        tested = isinstance(node, ast.If | ast.Try | ast.Match)
        for field, value in ast.iter_fields(node):
            for index, child in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(child, ast.AST):
                    arm = f"{field} {index * (field in ('handlers', 'cases'))}"
                    work.append((child, {**arms, id(node): arm} if tested and field in _ARMS else arms))
    return any(
        one[1] < other[0] and all(other[2].get(test, arm) == arm for test, arm in one[2].items())
        for one in rows
        for other in rows
    )


def _binds(node: ast.AST) -> set[str]:
    """Names that this very node binds in its scope."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.arg):
        return {node.arg}
    if isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping | ast.ExceptHandler):
        name = node.rest if isinstance(node, ast.MatchMapping) else node.name
        return {name} if name is not None else set()
    return {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else set()


def _stable(message: str) -> str:
    """A message without the line number that F811 carries."""
    return message.partition(" from line ")[0]


def added(before: Counter[Finding], after: Counter[Finding]) -> list[Finding]:
    """Findings of ``after`` that ``before`` does not have as often, line numbers aside."""
    have: Counter[tuple[str, str]] = Counter()
    for (code, message, _), count in before.items():
        have[code, message] += count
    extra = []
    for (code, message, row), count in sorted(after.items()):
        for _ in range(count):
            if have[code, message] > 0:
                have[code, message] -= 1
            else:
                extra.append((code, message, row))
    return extra
