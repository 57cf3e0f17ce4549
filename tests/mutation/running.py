"""``python -m tests.mutation.running UPSTREAM OUTPUT PYTHON RULES.yaml``: wrong prunings through the checks that run trees.

A stratified sample, a few mutants at a time in modules that do not import each other's; upstream runs once.
Who is not caught in a batch is named; the other checks of :mod:`tests.mutation` judge all mutants.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from pruner.verify.behaviour import design
from pruner.verify.behaviour.licence import GUARD
from pruner.verify.behaviour.runner import Run
from pruner.verify.behaviour.sessions import Plan, Sessions, copies
from pruner.verify.behaviour.statics import Side
from tests.mutation.mutants import mutants
from tests.mutation.score import Score, batches, speaks

STAGES = ("modules", "surface")
CHECKS = ("import-run", "names", "surface")


def main() -> int:
    """The table; 0 when every batch could run."""
    parser = argparse.ArgumentParser(prog="tests.mutation.running")
    parser.add_argument("upstream", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("python", type=Path)
    parser.add_argument("rules", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, required=True)
    options = parser.parse_args()
    start = time.monotonic()
    root = options.output
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.py"))}
    chosen = mutants(files, options.count, options.seed)
    scores = [Score(mutant) for mutant in chosen]
    up, clean = Side(options.upstream, ""), Side(root, "")
    trees = copies(up.root, root, options.work)
    kept = tuple(module for module in clean.modules if not module.endswith(f".{GUARD}"))
    sessions = Sessions(options.python.absolute(), trees, kept, options.work, 1)
    stated = design(options.upstream, options.rules)
    first = Plan("upstream", "H100", STAGES)
    reference = sessions.run([first])
    print(f"{time.monotonic() - start:.0f} s: upstream ran {reference[first].failure}", file=sys.stderr, flush=True)
    for batch in batches(chosen, options.batch):
        saved = {path: files[path] for index in batch for path, _ in chosen[index].changes}
        for index in batch:
            for path, data in chosen[index].changes:
                place = trees["output"] / path
                if data is None:
                    place.unlink()
                else:
                    place.write_bytes(data)
        plan = Plan("output", "H100", STAGES)
        out = Side(trees["output"], "")
        run = Run(sessions, up, out, stated, CHECKS)
        run.answers = {**reference, **sessions.run([plan])}
        for check in CHECKS:
            verdict = run.verdict(check)
            for text in verdict.details if verdict.result == "refuted" else ():
                for index in batch:
                    if speaks(text, chosen[index], ""):
                        scores[index].caught.setdefault(check, text)
        for path, data in saved.items():
            (trees["output"] / path).write_bytes(data)
        done = sum(bool(score.caught) for score in scores)
        print(f"{time.monotonic() - start:.0f} s: {batch} {done} caught", file=sys.stderr, flush=True)
    print("| kind | place | caught by |\n| --- | --- | --- |")
    for score in scores:
        mutant = score.mutant
        print(f"| {mutant.kind} | {mutant.path}:{mutant.line} ({mutant.what}) | {', '.join(score.caught) or 'none'} |")
    print(f"\n{sum(bool(score.caught) for score in scores)} of {len(scores)} caught")
    return 0


if __name__ == "__main__":
    sys.exit(main())
