"""Time whole runs of prune against other readers of the same tree, side by side in one session.

    python benchmarks/compare.py [--release VERSION]... [--upstream FOLDER]... [-j N] [--rounds N] [--cache FOLDER]
                                 [--no-others]

For every release (or folder): a cold run (nothing remembered), a warm one (nothing changed) and one after the body of
one function in a small file of the upstream tree was edited; beside them, with the same number of processes, LibCST (parse every
file and visit it with an empty transformer: what the ratios refer to), ``ast.parse`` of every file (the floor
of any tool in Python) and, where they are installed, ruff (the F rules), grimp (the import graph) and
autoflake (unused imports and variables, files not written). ``--no-others`` leaves out these three, so that many
releases can be measured. One JSON object on stdout: seconds are medians of
wall time over the rounds, ``ratios`` are shares of the LibCST figure, ``load`` is the machine's load average
before and after: figures of a busy machine say little.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import libcst

HERE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE))  # also from a checkout that is not installed


def edited(data: bytes) -> bytes | None:
    """The file with one statement more in the body of its last top-level function; None without one."""
    functions = [n for n in ast.parse(data).body if isinstance(n, ast.FunctionDef) and len(n.body) > 1]
    if not functions:
        return None
    last = functions[-1].body[-1]
    lines = data.splitlines(keepends=True)
    lines.insert(last.lineno - 1, b" " * last.col_offset + b"_touched = 1\n")
    return b"".join(lines)


def visit(path: str) -> int:
    """Parse and visit one file with LibCST; 1 when LibCST cannot read it."""
    try:
        libcst.parse_module(Path(path).read_bytes()).visit(libcst.CSTTransformer())
    except (libcst.ParserSyntaxError, UnicodeDecodeError):
        return 1
    return 0


def parse(path: str) -> int:
    """Parse one file with ``ast``."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(Path(path).read_bytes())
    except (SyntaxError, ValueError):
        return 1
    return 0


def unused(path: str) -> int:
    """What autoflake would write for one file; 1 when it cannot read it."""
    import autoflake

    try:
        autoflake.fix_code(Path(path).read_text("utf-8"), remove_all_unused_imports=True, remove_unused_variables=True)
    except (SyntaxError, UnicodeDecodeError, IndexError):
        return 1
    return 0


def timed(work: Callable[[str], int], paths: list[str], jobs: int) -> float:
    """Seconds of wall time for ``work`` over all paths in ``jobs`` processes."""
    start = time.perf_counter()
    with ProcessPoolExecutor(jobs) as pool:
        list(pool.map(work, paths, chunksize=16))
    return time.perf_counter() - start


def command(arguments: list[str], accepted: tuple[int, ...] = (0, 1), **more: str) -> float:
    """Seconds of wall time of another program. Raises SystemExit when it fails."""
    start = time.perf_counter()
    done = subprocess.run(arguments, cwd=HERE, env={**os.environ, **more}, capture_output=True, text=True, check=False)
    if done.returncode not in accepted:
        sys.stderr.write(done.stderr)
        raise SystemExit(f"{arguments[0]} ended with {done.returncode}")
    return time.perf_counter() - start


def prune(tree: Path, folder: Path, jobs: int, cache: Path) -> float:
    """Seconds of one whole run, checks and reports included."""
    arguments = [sys.executable, "-m", "pruner", "--rules", "rules/cuda_only.yaml", "--upstream", str(tree)]
    arguments += ["--output", str(folder / "out"), "--reports", str(folder / "reports")]
    return command([*arguments, "-j", str(jobs), "--cache", str(cache)], PYTHONPATH=str(HERE))


def small_kept_file(out: Path, package: str) -> Path:
    """The first module of 1 to 4 KB with a function, by path, that the run kept and that is no ``__init__``."""
    found = sorted(
        path.relative_to(out)
        for path in out.rglob("*.py")
        if 1000 < path.stat().st_size < 4000 and path.name != "__init__.py" and package in path.parts
    )
    return next(path for path in found if edited((out / path).read_bytes()) is not None)


def others(tree: Path, paths: list[str], jobs: int) -> dict[str, float | str]:
    """Seconds of the tools that are at hand; a word for those that are not."""
    found: dict[str, float | str] = {}
    missing = "not installed"
    ruff = Path(sys.executable).with_name("ruff")
    if ruff.exists():
        options = ["check", "--isolated", "--no-cache", "--exit-zero", "--select", "F", "-q"]
        found["ruff"] = command([str(ruff), *options, str(tree)], RAYON_NUM_THREADS=str(jobs))
    else:
        found["ruff"] = missing
    if importlib.util.find_spec("grimp"):
        package = next(p.name for p in sorted(tree.iterdir()) if (p / "__init__.py").is_file())
        code = f"import grimp; grimp.build_graph({package!r}, cache_dir=None)"
        found["grimp"] = command([sys.executable, "-c", code], PYTHONPATH=str(tree))
    else:
        found["grimp"] = missing
    found["autoflake"] = timed(unused, paths, jobs) if importlib.util.find_spec("autoflake") else missing
    return found


def measure(upstream: str, jobs: int, rounds: int, real: Path, everything: bool) -> dict[str, object]:
    """All figures of one upstream tree; without ``everything`` no other tools than LibCST and ``ast``."""
    from pruner.source import open_snapshot

    before = os.getloadavg()[0]
    snapshot = open_snapshot(upstream, real)
    rows: dict[str, list[float]] = {}
    skipped: dict[str, str] = {}
    touched = ""
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            cache, tree = folder / "cache", folder / "upstream"
            cache.mkdir()  # results only: nothing of the user's own is deleted
            shutil.copytree(snapshot.root, tree, symlinks=True)
            python = tree / snapshot.python_root
            paths = [str(tree / f.path) for f in snapshot.files if f.path.endswith(".py") and f.link is None]
            rows.setdefault("libcst", []).append(timed(visit, paths, jobs))
            rows.setdefault("ast", []).append(timed(parse, paths, jobs))
            for kind, figure in others(python, paths, jobs).items() if everything else ():
                if isinstance(figure, str):
                    skipped[kind] = figure
                else:
                    rows.setdefault(kind, []).append(figure)
            for kind in ("cold", "warm"):
                rows.setdefault(kind, []).append(prune(tree, folder, jobs, cache))
            touched = small_kept_file(folder / "out", snapshot.origin.name or "").as_posix()
            (tree / touched).write_bytes(edited((tree / touched).read_bytes()) or b"")
            rows.setdefault("one-file", []).append(prune(tree, folder, jobs, cache))
    medians = {kind: round(statistics.median(values), 2) for kind, values in rows.items()}
    ratios = {kind: round(value / medians["libcst"], 3) for kind, value in medians.items() if kind != "libcst"}
    return {
        "files": len(paths),
        "touched": touched,
        "seconds": medians,
        "ratios": ratios,
        "skipped": skipped,
        "load": [round(before, 1), round(os.getloadavg()[0], 1)],
    }


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--release", action="append", default=[], help="a locked release; repeatable")
    parser.add_argument("--upstream", action="append", default=[], help="a folder; repeatable")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--cache", default="", help="where the locked wheels are")
    parser.add_argument("--no-others", action="store_true", help="only LibCST, ast.parse and prune")
    options = parser.parse_args()
    from pruner.source import default_cache

    real = Path(options.cache) if options.cache else default_cache()
    wanted = [*options.release, *options.upstream] or ["0.5.17"]
    document: dict[str, object] = {"jobs": options.jobs, "rounds": options.rounds, "cores": os.cpu_count()}
    document["releases"] = {
        name: measure(name, options.jobs, options.rounds, real, not options.no_others) for name in wanted
    }
    document["peak_mib"] = round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
