"""Judge mutants in batches, and say which check catches which.

A batch holds mutants of different files; a problem counts for the mutants whose file, module or path it names.
Who is not caught in a batch is judged again alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from pruner.verify.driver import CHECKS
from pruner.verify.tree import module_of
from tests.mutation.judge import Judge, Problems
from tests.mutation.mutants import Mutant


@dataclass(slots=True)
class Score:
    """A mutant and the checks that refuse it, each with its first sentence.

    ``equal`` says why one that nobody refuses is no fault, when that is shown (:mod:`tests.mutation.proof`).
    """

    mutant: Mutant
    caught: dict[str, str] = field(default_factory=dict)
    equal: str = ""


def batches(mutants: Sequence[Mutant], size: int) -> Iterator[list[int]]:
    """Indices, so that no path occurs twice in a batch."""
    waiting = list(range(len(mutants)))
    while waiting:
        batch: list[int] = []
        taken: set[str] = set()
        rest = []
        for index in waiting:
            paths = {path for path, _ in mutants[index].changes}
            if len(batch) < size and not paths & taken:
                batch.append(index)
                taken |= paths
            else:
                rest.append(index)
        yield batch
        waiting = rest


def speaks(text: str, mutant: Mutant, root: str) -> bool:
    """Does a problem name a file of this mutant?"""
    for path, _ in mutant.changes:
        module = module_of(path, root)
        if path in text or (module is not None and re.search(rf"(?<![\w.]){re.escape(module)}(?![\w])", text)):
            return True
    return False


def judge(
    judged: Judge, mutants: Sequence[Mutant], size: int, clean: Problems, say: Callable[[str], None]
) -> list[Score]:
    """The score of every mutant."""
    scores = [Score(mutant) for mutant in mutants]
    root = judged.up.python_root
    done = 0
    for batch in batches(mutants, size):
        problems = fresh(judged.again({p: d for i in batch for p, d in mutants[i].changes}), clean)
        for index in batch:
            for check, texts in problems.items():
                # Of one mutant alone every new problem is its own: `reads pkg.NAME, which is gone` names who reads it.
                said = [text for text in texts if len(batch) == 1 or speaks(text, mutants[index], root)]
                if said:
                    scores[index].caught[check] = said[0]
        done += len(batch)
        say(f"{done} of {len(mutants)} judged, {sum(bool(s.caught) for s in scores)} caught")
    for score in scores:
        if not score.caught and size > 1:
            problems = fresh(judged.again(dict(score.mutant.changes)), clean)
            score.caught = {check: texts[0] for check, texts in problems.items() if texts}
    return scores


def fresh(problems: Problems, clean: Problems) -> Problems:
    """The problems that the output itself does not have."""
    return {check: [text for text in texts if text not in clean.get(check, ())] for check, texts in problems.items()}


def table(scores: Sequence[Score], checks: Sequence[str] = CHECKS) -> list[str]:
    """By kind: mutants, no faults among them, caught, and how many each check alone would have caught."""
    kinds: dict[str, list[Score]] = {}
    for score in scores:
        kinds.setdefault(score.mutant.kind, []).append(score)
    head = "| kind | mutants | no faults | caught | "
    lines = [head + " | ".join(checks) + " |", "| --- |" + " ---: |" * (len(checks) + 3)]
    for kind, rows in [*kinds.items(), ("all", list(scores))]:
        by = Counter(check for row in rows for check in row.caught)
        equal, caught = sum(bool(row.equal) for row in rows), sum(bool(row.caught) for row in rows)
        cells = [kind, *map(str, (len(rows), equal, caught)), *(str(by[c]) for c in checks)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def survivors(scores: Sequence[Score]) -> list[str]:
    """Who was not caught, by name, and why it is no fault when that is shown."""
    return [
        f"{score.mutant.kind}: {score.mutant.path}:{score.mutant.line} ({score.mutant.what})"
        + (f": no fault: {score.equal}" if score.equal else "")
        for score in scores
        if not score.caught
    ]
