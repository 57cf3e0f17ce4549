"""Checks ``compile`` and ``lint``: files compile, and ruff finds no new undefined or redefined name.

Blind to names that ``builtins`` patches or star imports of outside packages provide.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
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


def imports_in_function(source: bytes, line: int) -> bool:
    """True when the line belongs to an import statement inside a function.

    ``from env import flags`` at module level and again in a function is F811 as soon as the readers of the
    first are folded away while its module must still run: two scopes, so nothing is redefined.
    """
    tree = ast.parse(source)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    return any(
        isinstance(node, ast.Import | ast.ImportFrom) and node.lineno <= line <= (node.end_lineno or node.lineno)
        for function in functions
        for node in ast.walk(function)
    )


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
