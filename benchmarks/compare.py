"""Time a whole run against "LibCST parses every file and visits it with an empty transformer".

Both use the same number of processes, alternately, in one session; the ratio is printed, and
the medians. Usage: ``python benchmarks/compare.py [--upstream PATH|VERSION] [-j N] [--rounds N]``.
"""

from __future__ import annotations

import argparse
import ast
import json
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import libcst

HERE = Path(__file__).resolve().parent.parent


def visit(path: str) -> int:
    """Parse and visit one file with LibCST; 1 when LibCST cannot read it."""
    try:
        libcst.parse_module(Path(path).read_bytes()).visit(libcst.CSTTransformer())
    except (libcst.ParserSyntaxError, UnicodeDecodeError):
        return 1
    return 0


def parse(path: str) -> int:
    """Parse one file with ``ast``: the floor for any tool written in Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(Path(path).read_bytes())
    except (SyntaxError, ValueError):
        return 1
    return 0


def timed(work: object, paths: list[str], jobs: int) -> float:
    """Seconds of wall time for ``work`` over all paths in ``jobs`` processes."""
    start = time.perf_counter()
    with ProcessPoolExecutor(jobs) as pool:
        list(pool.map(work, paths, chunksize=16))  # type: ignore[arg-type]
    return time.perf_counter() - start


def run(upstream: str, jobs: int, cache: str, folder: Path) -> tuple[float, float]:
    """(seconds of wall time, MiB of peak memory over all its processes' largest) of one run."""
    command = [sys.executable, "-m", "pruner", "--rules", "rules/cuda_only.yaml", "--upstream", upstream]
    command += [
        "--output",
        str(folder / "out"),
        "--reports",
        str(folder / "reports"),
        "-j",
        str(jobs),
        "--cache",
        cache,
    ]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode > 1:
        sys.stderr.write(done.stderr)
        raise SystemExit(f"prune ended with {done.returncode}")
    import resource

    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--upstream", default="0.5.17")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--cache", default="")
    options = parser.parse_args()
    from pruner.source import default_cache, open_snapshot

    cache = options.cache or str(default_cache())
    snapshot = open_snapshot(options.upstream, Path(cache))
    paths = [str(snapshot.root / f.path) for f in snapshot.files if f.path.endswith(".py") and f.link is None]
    rows: dict[str, list[float]] = {"libcst": [], "ast": [], "cold": [], "warm": []}
    peak = 0.0
    for _ in range(options.rounds):
        rows["libcst"].append(timed(visit, paths, options.jobs))
        rows["ast"].append(timed(parse, paths, options.jobs))
        with tempfile.TemporaryDirectory() as name:
            for kind in ("cold", "warm"):
                if kind == "cold":
                    for stale in Path(cache).glob("results-*"):
                        stale.unlink()
                seconds, memory = run(options.upstream, options.jobs, cache, Path(name))
                rows[kind].append(seconds)
                peak = max(peak, memory)
    medians = {k: round(statistics.median(v), 1) for k, v in rows.items()}
    ratios = {f"{k}/libcst": round(medians[k] / medians["libcst"], 3) for k in ("ast", "cold", "warm")}
    print(json.dumps({"files": len(paths), "seconds": medians, "ratios": ratios, "peak_mib": round(peak)}, indent=1))


if __name__ == "__main__":
    main()
