"""Two servers' answers, group by group: identical, different, or not comparable because upstream is not stable."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pruner.parity.requests import REFUSED

Rounds = list[list[Any]]
# What a guard says of a modality that was removed; the rule and its place are the reader's way back.
SENTENCE = re.compile(
    r"this build was made without what processes \w+ \(rule [\w.-]+, [^()]+:\d+\); to have it, add .+ and build again"
)
SHOWN = 12


def digest(value: Any) -> str:
    """Short digest of a JSON value, floats in full."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def differences(up: Any, out: Any, path: str = "") -> Iterator[str]:
    """Where two values differ, as ``path: upstream | output``; texts are cut."""
    if type(up) is not type(out):
        yield f"{path}: {short(up)} | {short(out)}"
    elif isinstance(up, dict):
        for key in sorted(set(up) | set(out)):
            if key not in up or key not in out:
                yield f"{path}.{key}: only in {'upstream' if key in up else 'the output'}"
            else:
                yield from differences(up[key], out[key], f"{path}.{key}")
    elif isinstance(up, list):
        if len(up) != len(out):
            yield f"{path}: {len(up)} | {len(out)} items"
        for index, (one, other) in enumerate(zip(up, out, strict=False)):
            yield from differences(one, other, f"{path}[{index}]")
    elif up != out:
        yield f"{path}: {short(up)} | {short(out)}"


def short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 160 else f"{text[:150]}... ({len(text)})"


def tokens(value: Any) -> int:
    """Output tokens with their ids in an answer."""
    if isinstance(value, dict):
        own = len(value["output_ids"]) if isinstance(value.get("output_ids"), list) else 0
        return own + sum(tokens(item) for item in value.values())
    return sum(tokens(item) for item in value) if isinstance(value, list) else 0


def refused(up: Rounds, out: Rounds) -> bool:
    """Is every answer one that upstream gives, or 400 with the sentence of a guard, and some of these in each round?

    (Upstream itself refuses a picture in a conversation with a model that takes none.)
    """
    known = list(zip(*up, strict=True))  # per request, the answers of all rounds

    def said(answer: Any) -> bool:
        text = json.dumps(answer.get("body"), ensure_ascii=False)
        return answer.get("status") == 400 and SENTENCE.search(text) is not None

    return bool(out) and all(
        any(map(said, answers))
        and all(said(answer) or answer in seen for answer, seen in zip(answers, known, strict=True))
        for answers in out
    )


def broken(answers: list[Any]) -> bool:
    """Did a request of a round get no answer? An abort breaks its own stream, and has a status all the same."""
    return any(isinstance(answer, dict) and answer.get("status") == 0 for answer in answers)


def varied(rounds: Rounds) -> list[str]:
    """Where a side's own answers differ: its first round and the first that is another; empty when all are one."""
    other = next((answers for answers in rounds if answers != rounds[0]), rounds[0])
    return list(differences(rounds[0], other))[:SHOWN]


def changed(group: Mapping[str, Any]) -> str:
    """Which side of an unstable group did not repeat itself, in words."""
    sides = [name for name, key in (("upstream", "upstream itself"), ("the output", "output itself")) if key in group]
    return " and ".join(sides) or "an unrecorded side"


def judge(up: Mapping[str, Rounds], out: Mapping[str, Rounds]) -> tuple[str, dict[str, dict[str, Any]]]:
    """(``identical`` | ``unstable`` | ``differs``, per group what was found).

    ``unanswered``: a request of the group got no answer from either (status 0), which two trees can have in common.
    ``unstable``: upstream does not repeat itself, or the output does not but has given upstream's answer; ``upstream itself``
    and ``output itself`` say which, see :func:`changed`.
    ``refused as stated``: the output refuses what rules removed, in the sentence that says so; nobody's fault.
    """
    groups: dict[str, dict[str, Any]] = {}
    worst = "identical"
    for name in {**up, **out}:
        left, right = up.get(name), out.get(name)
        row: dict[str, Any] = {"requests": len((left or right or [[]])[0])}
        if left is None or right is None:
            row["result"] = "differs"
            row["differences"] = [f"no answer of {'upstream' if left is None else 'the output'}"]
        else:
            row["digest"] = digest(left[0])
            row["tokens"] = tokens(left[0])
            own = all(answers == left[0] for answers in left)
            silent = [all(broken(answers) for answers in rounds) for rounds in (left, right)]
            if all(silent):
                row["result"] = "unanswered"
            elif own and all(answers == left[0] for answers in right):
                row["result"] = "identical"
            elif name in REFUSED and refused(left, right):
                row["result"] = "refused as stated"
                row["status"] = {
                    "upstream": [answer.get("status") for answer in left[0]],
                    "output": [answer.get("status") for answer in right[0]],
                }
                own = True
            else:
                # Different: nothing that the one answers is among what the other answers.
                common = sum(answers in left for answers in right)
                row["result"] = "unstable" if common or not own else "differs"
                row["rounds"] = {"upstream": len(left), "output": len(right), "common": common}
                row["differences"] = list(differences(left[0], right[0]))[:SHOWN]
                if own_output := varied(right):
                    row["output itself"] = own_output
            if not own:
                row["upstream itself"] = varied(left)
        groups[name] = row
        if row["result"] == "differs" or (row["result"] in ("unstable", "unanswered") and worst == "identical"):
            worst = "differs" if row["result"] == "differs" else "unstable"
    return worst, groups
