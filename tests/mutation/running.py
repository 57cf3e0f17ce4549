"""``python -m tests.mutation.running UPSTREAM OUTPUT PYTHON RULES.yaml``: wrong prunings through the checks that run trees.

A stratified sample, a few mutants at a time in different files; upstream runs once. Where a session ends early, those
of its batch that nothing was said of run again without what ended it. The other checks of :mod:`tests.mutation` judge
all mutants.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from pruner.verify.behaviour import design, runner
from pruner.verify.behaviour.licence import GUARD
from pruner.verify.behaviour.probe import checkpoints
from pruner.verify.behaviour.runner import Run
from pruner.verify.behaviour.sessions import ON_HOST, Plan, Sessions, copies
from pruner.verify.behaviour.statics import Side
from tests.mutation.mutants import mutants
from tests.mutation.score import Score, batches, speaks, table

STAGES = ("modules", "surface")
CHECKS = ("import-run", "names", "surface", "layers")
MODELS = ("v3", "v3 formats")  # of the tiny models and parts


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
    runner.SHOWN = 10_000  # every problem may be the only one of a mutant
    checkpoints.write(options.work / "models")
    root = options.output
    files = {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.py"))}
    chosen = mutants(files, options.count, options.seed)
    scores = [Score(mutant) for mutant in chosen]
    up, clean = Side(options.upstream, ""), Side(root, "")
    trees = copies(up.root, root, options.work)
    kept = tuple(module for module in clean.modules if not module.endswith(f".{GUARD}"))
    sessions = Sessions(options.python.absolute(), trees, kept, options.work, 1, only=MODELS)
    stated = design(options.upstream, options.rules)
    plans = [("H100", STAGES), (f"H100{ON_HOST}", ("layers",))]
    reference = sessions.run([Plan("upstream", *plan) for plan in plans])
    print(f"{time.monotonic() - start:.0f} s: upstream ran", file=sys.stderr, flush=True)
    waiting = list(batches(chosen, options.batch))
    while waiting:
        batch = waiting.pop(0)
        saved = {path: files[path] for index in batch for path, _ in chosen[index].changes}
        for index in batch:
            for path, data in chosen[index].changes:
                place = trees["output"] / path
                if data is None:
                    place.unlink()
                else:
                    place.write_bytes(data)
        run = Run(sessions, up, Side(trees["output"], ""), stated, CHECKS)
        run.answers = {
            plan: answer
            for made in (sessions.run([Plan("output", *p)]) for p in plans)
            for plan, answer in made.items()
        }
        failed = [answer.failure for answer in run.answers.values() if answer.failure]
        run.answers = {**reference, **run.answers}
        for check in CHECKS:
            verdict = run.verdict(check)
            for text in verdict.details if verdict.result == "refuted" else ():
                for index in batch:
                    if len(batch) == 1 or speaks(text, chosen[index], ""):
                        scores[index].caught.setdefault(check, text)
        for path, data in saved.items():
            (trees["output"] / path).write_bytes(data)
        rest = [index for index in batch if not scores[index].caught]
        if failed and rest and len(rest) < len(batch):
            waiting.append(rest)  # what ended the session hides the others
        elif failed and rest and len(batch) > 1:
            waiting += [[index] for index in rest]
        done = sum(bool(score.caught) for score in scores)
        print(f"{time.monotonic() - start:.0f} s: {batch} {done} caught {failed}", file=sys.stderr, flush=True)
    print("\n".join(table(scores, CHECKS)) + "\n")
    print("| kind | place | caught by |\n| --- | --- | --- |")
    for score in scores:
        mutant = score.mutant
        print(f"| {mutant.kind} | {mutant.path}:{mutant.line} ({mutant.what}) | {', '.join(score.caught) or 'none'} |")
    print(f"\n{sum(bool(score.caught) for score in scores)} of {len(scores)} caught")
    return 0


if __name__ == "__main__":
    sys.exit(main())
