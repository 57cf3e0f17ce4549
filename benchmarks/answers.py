"""Time every question to the last run, as a person asks it: a new process each, by the clock.

    python benchmarks/answers.py [--reports FOLDER] [--rounds N] [--limit SECONDS]

Names, places and the rule are taken from the reports themselves: the definition that is farthest from a root,
the largest removal that has a name, a place in an edited file, the rule that removed most, a name that there is
not (the search for near ones is what costs). Prints one row a question: the median and the slowest of the
rounds in seconds, and the exit code. Exit code 1 if a median is above the limit. Figures of a busy machine say little.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent


def farthest(graph: dict[str, Any]) -> str:
    """The node that most edges part from the roots."""
    nodes, edges = graph["nodes"], graph["edges"]
    out: dict[int, list[int]] = {}
    for at in range(0, len(edges), 5):
        out.setdefault(edges[at], []).append(edges[at + 1])
    work = deque(i for i, name in enumerate(nodes) if name.startswith("rule:"))
    seen, last = set(work), -1
    while work:
        last = work.popleft()
        for target in out.get(last, ()):
            if target not in seen:
                seen.add(target)
                work.append(target)
    return str(nodes[last])


def questions(reports: Path) -> list[list[str]]:
    """What to ask, as arguments of the command."""
    graph = json.loads((reports / "graph.json").read_bytes())
    ledger = json.loads((reports / "ledger.json").read_bytes())["removals"]
    document = json.loads((reports / "report.json").read_bytes())
    named = [row for row in ledger if row["what"] in ("class", "function", "variable") and row["name"]]
    gone = max(named, key=lambda row: (row["lines"][1] - row["lines"][0], row["name"]))
    path = max(graph["maps"], key=lambda p: (graph["lines"].get(p, 0), p))
    root = f"{graph['root']}/" if graph["root"] else ""
    rule = max(document["rules"], key=lambda row: (row["removals"], row["id"]))["id"]
    return [
        ["why", farthest(graph)],
        ["why", "a.name.that.is.not.there"],
        ["why-not", gone["name"]],
        ["why-not", f"{gone['path']}:{gone['lines'][0]}"],
        ["retained", "-n", "20"],
        ["retained", f"{root}{path.removeprefix(root).partition('/')[0]}", "-n", "20"],
        ["impact", rule],
        ["line", f"{path}:{min(100, graph['lines'][path])}"],
        ["facts"],
        ["rules", "list"],
        ["rules", "explain", rule],
    ]


def main() -> int:
    """Ask, print the table, compare with the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=Path, default=Path("reports"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=float, default=1.0)
    given = parser.parse_args()
    where = os.environ | {"PYTHONPATH": str(HERE)}
    slow = False
    print(f"load {os.getloadavg()[0]:.1f}\n{'median':>7} {'slowest':>7} code  question")
    for words in questions(given.reports):
        command = [sys.executable, "-m", "pruner", *words, "--reports", str(given.reports)]
        took, code = [], 0
        for _ in range(given.rounds):
            start = time.perf_counter()
            code = subprocess.run(command, env=where, capture_output=True, check=False).returncode
            took.append(time.perf_counter() - start)
        median = statistics.median(took)
        slow = slow or median > given.limit
        print(f"{median:7.2f} {max(took):7.2f} {code:4}  {' '.join(words)}", flush=True)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
