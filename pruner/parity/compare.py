"""Two servers' answers, group by group: identical, different, or not comparable because upstream is not stable."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pruner.parity.requests import ERRORS, GENERATES, REFUSED

Rounds = list[list[Any]]
# What a guard says of a modality that was removed; the rule and its place are the reader's way back.
SENTENCE = re.compile(
    r"this build was made without what processes \w+ \(rule [\w.-]+, [^()]+:\d+\); to have it, add .+ and build again"
)
SHOWN = 12


def exact(value: Any) -> str:
    """A JSON value as one text. Equal texts are equal values of equal types: Python calls 1, 1.0 and True one, and -0.0 and 0.0."""
    return json.dumps(value, sort_keys=True)


def digest(value: Any) -> str:
    """Short digest of a JSON value, floats in full."""
    return hashlib.sha256(exact(value).encode()).hexdigest()[:16]


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
    elif exact(up) != exact(out):
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
    known = [set(map(exact, answers)) for answers in zip(*up, strict=True)]  # per request, the answers of all rounds

    def said(answer: Any) -> bool:
        text = json.dumps(answer.get("body"), ensure_ascii=False)
        return answer.get("status") == 400 and SENTENCE.search(text) is not None

    return bool(out) and all(
        any(map(said, answers))
        and all(said(answer) or exact(answer) in seen for answer, seen in zip(answers, known, strict=True))
        for answers in out
    )


def silent(answer: Any) -> bool:
    """Did a request get no answer? An abort breaks its own stream, and has a status all the same."""
    return isinstance(answer, dict) and answer.get("status") == 0


def unanswered(up: Rounds, out: Rounds) -> bool:
    """Is there a request that the one side never answers and the other not always, or none of the rounds whole?"""
    if all(any(map(silent, answers)) for answers in (*up, *out)):
        return True
    return any(
        (all(map(silent, one)) and any(map(silent, other))) or (all(map(silent, other)) and any(map(silent, one)))
        for one, other in zip(zip(*up, strict=True), zip(*out, strict=True), strict=True)
    )


def useless(name: str, up: Rounds) -> bool:
    """Does upstream answer a request by errors alone, where none is asked for, or by no tokens, where they are?

    Two servers that can do nothing say so alike.
    """
    if name in GENERATES and not any(map(tokens, up)):
        return True
    return name not in ERRORS and any(
        all(isinstance(answer, dict) and answer.get("status") != 200 for answer in answers)
        for answers in zip(*up, strict=True)
    )


def form(value: Any) -> Any:
    """A value without its numbers and texts: its status, keys and types. What each element of a list is, once."""
    if isinstance(value, dict):
        kept = {"status": value["status"]} if "status" in value else {}
        return {**{key: form(item) for key, item in value.items()}, **kept}
    if isinstance(value, list):
        return sorted({exact(form(item)) for item in value})
    return "number" if type(value) in (int, float) else type(value).__name__


def apart(up: Rounds, out: Rounds) -> bool:
    """Is there a request whose answers cannot be upstream's, whatever its other requests do?

    Upstream always gives one answer and the output never gives it, or none of the output's has the form of one of
    upstream's: a server that does not repeat its numbers repeats its status and its fields.
    """
    for one, other in zip(zip(*up, strict=True), zip(*out, strict=True), strict=True):
        known, given = set(map(exact, one)), set(map(exact, other))
        if len(known) == 1 and not known & given:
            return True
        if not {exact(form(answer)) for answer in one} & {exact(form(answer)) for answer in other}:
            return True
    return False


def varied(rounds: Rounds) -> list[str]:
    """Where a side's own answers differ: its first round and the first that is another; empty when all are one."""
    other = next((answers for answers in rounds if exact(answers) != exact(rounds[0])), rounds[0])
    return list(differences(rounds[0], other))[:SHOWN]


def changed(group: Mapping[str, Any]) -> str:
    """Which side of an unstable group did not repeat itself, in words."""
    sides = [name for name, key in (("upstream", "upstream itself"), ("the output", "output itself")) if key in group]
    return " and ".join(sides) or "an unrecorded side"


def judge(up: Mapping[str, Rounds], out: Mapping[str, Rounds]) -> tuple[str, dict[str, dict[str, Any]]]:
    """(``identical`` | ``unstable`` | ``differs`` | ``failed``, per group what was found).

    ``unanswered``: a request of the group got no answer from either (status 0), or an error where none is asked for, which
    two trees can have in common; nothing was compared then, so the whole is ``failed``.
    ``differs``: upstream repeats itself and no round of the output is its, or a request has no answer in common, see
    :func:`apart`; ``unstable``: upstream does not repeat
    itself, or the output does not but has given upstream's answer; ``upstream itself`` and ``output itself`` say which, see
    :func:`changed`.
    ``refused as stated``: the output refuses what rules removed, in the sentence that says so; nobody's fault.
    """
    groups: dict[str, dict[str, Any]] = {}
    for name in {**up, **out}:
        left, right = up.get(name), out.get(name)
        row: dict[str, Any] = {"requests": len((left or right or [[]])[0])}
        if not left or not right:
            row["result"] = "differs"
            row["differences"] = [f"no answer of {'the output' if left else 'upstream'}"]
        elif len({len(answers) for answers in (*left, *right)}) > 1:
            row["result"] = "differs"
            row["differences"] = ["rounds of another number of answers"]
        else:
            row["digest"] = digest(left[0])
            row["tokens"] = tokens(left[0])
            first = exact(left[0])
            own = all(exact(answers) == first for answers in left)
            if unanswered(left, right):
                row["result"] = "unanswered"
            elif own and all(exact(answers) == first for answers in right):
                row["result"] = "identical"
            elif name in REFUSED and refused(left, right):
                row["result"] = "refused as stated"
                row["status"] = {
                    "upstream": [answer.get("status") for answer in left[0]],
                    "output": [answer.get("status") for answer in right[0]],
                }
                own = True
            else:
                common = sum(exact(answers) in map(exact, left) for answers in right)
                row["result"] = "differs" if apart(left, right) or (own and not common) else "unstable"
                row["rounds"] = {"upstream": len(left), "output": len(right), "common": common}
                row["differences"] = list(differences(left[0], right[0]))[:SHOWN]
                if own_output := varied(right):
                    row["output itself"] = own_output
            if not own:
                row["upstream itself"] = varied(left)
            if row["result"] in ("identical", "unstable") and useless(name, left):
                row["result"] = "unanswered"
        groups[name] = row
    results = {row["result"] for row in groups.values()}
    for result, whole in (("differs", "differs"), ("unanswered", "failed"), ("unstable", "unstable")):
        if result in results:
            return whole, groups
    return "identical", groups
