"""``python -m tests.mutation UPSTREAM OUTPUT RULES.yaml``: plant wrong prunings in a real output, see who is caught."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from pruner.verify.rules import read_rules, version_of
from tests.mutation.judge import Judge
from tests.mutation.mutants import mutants
from tests.mutation.proof import Proof
from tests.mutation.score import judge, survivors, table

LARGEST = 1_000_000  # bytes of a data file that is changed


def main() -> int:
    """0 when at least 99 % of the faults are caught; of a sample too small to show 99 %, all but one, which is named."""
    parser = argparse.ArgumentParser(prog="tests.mutation", description=__doc__)
    parser.add_argument("upstream", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("rules", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=200, help="mutants of the output")
    parser.add_argument("--faults", type=int, default=120, help="files that a faulty engine writes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batch", type=int, default=12, help="mutants judged at once")
    parser.add_argument("--json", type=Path, help="every mutant and the checks that catch it")
    options = parser.parse_args()
    start = time.monotonic()

    def say(text: str) -> None:
        print(f"{time.monotonic() - start:.0f} s: {text}", file=sys.stderr, flush=True)

    stated = read_rules(options.rules, version_of(options.upstream))
    planted = []
    if options.faults:
        from tests.mutation.faults import planted_faults

        planted = planted_faults(options.upstream, options.output, options.rules, options.faults, options.seed, say)
    judged = Judge(options.upstream, options.output, stated)
    clean = judged.first()
    say(f"the output itself: {sum(map(len, clean.values()))} problems")
    files = {
        path: judged.out.read(path)
        for path, link in judged.out.files.items()
        if path in judged.up.files
        and (path.endswith(".py") or (link is None and (options.output / path).stat().st_size <= LARGEST))
    }
    chosen = [*mutants(files, options.count, options.seed), *planted]
    say(f"{len(chosen)} mutants")
    scores = judge(judged, chosen, options.batch, clean, say)
    if any(not score.caught for score in scores):
        proof = Proof(options.output, [text for _, text in stated.drops], stated.facts, stated.device)
        for score in scores:
            score.equal = "" if score.caught else proof.reason(score.mutant)
    equal = sum(bool(score.equal) for score in scores)
    caught, of = sum(bool(score.caught) for score in scores), len(scores) - equal
    print("\n".join(table(scores)))
    print(f"\n{caught} of {of} caught ({caught / max(1, of):.1%}); {equal} more are shown to be no faults")
    print("\n".join(survivors(scores)))
    if options.json:
        rows = [
            {
                "kind": s.mutant.kind,
                "path": s.mutant.path,
                "line": s.mutant.line,
                "what": s.mutant.what,
                "by": s.caught,
                "no fault because": s.equal,
            }
            for s in scores
        ]
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return 0 if of - caught <= max(1, of // 100) else 1


if __name__ == "__main__":
    sys.exit(main())
