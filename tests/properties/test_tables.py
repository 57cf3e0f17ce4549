"""Random tables, filled in every form: what a rule drops goes, all else stays, and the verifier tells both apart."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pruner.verify import run as verify
from tests.engine.program import Pruned, prune, run

KEYS = "abcdef"


def _some(r: Random) -> list[str]:
    return r.sample(KEYS, r.randint(1, 3))


def _listed(keys: list[str], brackets: str = "[]") -> str:
    comma = "," if brackets == "()" and len(keys) == 1 else ""
    return brackets[0] + ", ".join(map(repr, keys)) + comma + brackets[1]


def mapping(r: Random, depth: int = 0) -> str:
    """An expression that makes a dictionary."""
    keys = _some(r)
    flat = "{" + ", ".join(f"{k!r}: {r.randint(0, 9)}" for k in keys) + "}"
    made = [
        lambda: flat,
        lambda: "dict(" + ", ".join(f"{k}={i}" for i, k in enumerate(keys)) + ")",
        lambda: "dict([" + ", ".join(f"({k!r}, {i})" for i, k in enumerate(keys)) + "])",
        lambda: "{**BASE, " + flat[1:],
        lambda: f"{mapping(r, depth + 1)} | {mapping(r, depth + 1)}",
        lambda: f"dict({mapping(r, depth + 1)}, {keys[0]}=7)",
        lambda: "{**(" + mapping(r, depth + 1) + "), 'z': 1}",
        lambda: f"({mapping(r, depth + 1)} if BASE else {mapping(r, depth + 1)})",
    ]
    return made[r.randrange(len(made) if depth < 2 else 4)]()


def listing(r: Random, depth: int = 0) -> str:
    """An expression that makes a list."""
    keys = _some(r)
    made = [
        lambda: _listed(keys),
        lambda: f"list({_listed(keys, '()')})",
        lambda: f"{listing(r, depth + 1)} + {listing(r, depth + 1)}",
        lambda: "[*(" + listing(r, depth + 1) + "), 'z', " + _listed(keys)[1:],
        lambda: f"sorted({_listed(keys, '{}')})",
        lambda: f"[x for x in {_listed(keys)}]",
    ]
    return made[r.randrange(len(made) if depth < 2 else 2)]()


def statement(r: Random, keyed: bool) -> str:
    """A statement that fills the table."""
    one, *_, last = [*_some(r), r.choice(KEYS)]
    if keyed:
        return r.choice([
            f"T[{one!r}] = 3", f"T.update({mapping(r)})", f"T.update({one}=1, x=2)", f"T |= {mapping(r)}",
            f"if len(BASE):\n    T[{one!r}] = 5\nelse:\n    T.update({last}=1)",
            f"for _ in range(2):\n    T[{one!r}] = 6\n    T['y'] = _",
            f"try:\n    T[{one!r}] = 8\nfinally:\n    T['w'] = 1",
        ])  # fmt: skip
    return r.choice([
        f"T.append({one!r})", f"T += {listing(r)}", f"T.extend({listing(r)})", f"T.insert(0, {one!r})",
        f"if BASE: T.append({one!r})", f"T.append({one!r}); T.append({last!r})",
    ])  # fmt: skip


def refuted(pruned: Pruned, gone: list[str]) -> set[str]:
    """Checks that speak against the output under rules that drop these keys."""
    with tempfile.TemporaryDirectory() as place:
        for name, files in (("in", pruned.before), ("out", pruned.files)):
            for path, data in files.items():
                (Path(place) / name).mkdir(exist_ok=True)
                (Path(place) / name / path).write_bytes(data)
        rules = Path(place, "facts.yaml")
        targets = ", ".join(f'"app.T[{key}]"' for key in gone)
        rules.write_text(f'facts: {{is_cuda(): true}}\ndefined_in: plat\nroots: ["app:f"]\ndrop: [{targets}]\n')
        rows = verify(Path(place, "in"), Path(place, "out"), [], facts_yaml=rules, jobs=1)
    return {row.check for row in rows if row.result == "refuted"}


@given(st.integers(0, 2**32))
def test_what_is_dropped_goes_and_nothing_else(seed: int) -> None:
    r = Random(seed)
    keyed = r.random() < 0.5
    first = mapping(r) if keyed else listing(r)
    body = "\n".join(statement(r, keyed) for _ in range(r.randint(0, 5)))
    text = f"BASE = {{'base': 0}}\nT = {first}\n{body}\n\n\ndef f():\n    return T\n"
    gone = r.sample(KEYS, r.randint(1, 3))
    pruned = prune({"app.py": text}, drop=[f"app.T[{key}]" for key in gone], roots=["app:f"])
    assert set(pruned.findings) <= {"PR012"}, text  # a key that the table does not have
    values: list[Any] = []
    for files in (pruned.before, pruned.files):
        assert run(files, "import app\nkeep(app.f())", keep=values.append)["raised"] == "", pruned["app.py"]
    before, after = values
    left = {k: v for k, v in before.items() if k not in gone} if keyed else [k for k in before if k not in gone]
    assert after == left, pruned["app.py"]
    assert refuted(pruned, gone) == set(), pruned["app.py"]
    names = [row.name for row in pruned.outcome.removals if row.what == "entry"]
    taken = [key for key in gone if any(key in name.strip("[]").split(", ") for name in names)]
    if taken:
        assert "fold" in refuted(pruned, [key for key in gone if key != taken[0]] or ["none"]), pruned["app.py"]
