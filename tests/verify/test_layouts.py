"""However a program is laid out: what the engine makes of it compiles, does the same, and no check refutes it.

The programs are written anew with line breaks, continuations, comments and blank lines wherever Python allows them.
"""

from __future__ import annotations

import io
import random
import re
import tokenize
from pathlib import Path

import pytest

from tests.engine.program import prune
from tests.engine.program import run as execute
from tests.verify.test_accepted import accepted

PROGRAM = """\
from plat import arch, is_cuda, is_hip; import json; import os, sys
from kit import one, two as deux, three

if is_hip(): print(json, sys, three)


def show(*args, **more):
    return args, sorted(more)


def tag(value):
    return lambda fn: lambda *args: (value, fn(*args))


@(tag("hip") if is_hip() else tag("cuda"))
@tag(1 if not is_hip() else 2)
def chosen(x=is_hip() or 3, *rest):
    a = 1; b = 2
    if is_hip(): a = 3; b = 4
    elif is_cuda() and x: a = 5
    else: b = 6
    for i in (x if not is_hip() else 0, 2): a += i; print(a)
    while is_hip(): a = 9
    c = x and (is_hip() or b) and not is_hip()
    d = show(1, 2 if is_hip() else 3, *([4] if is_cuda() else [5]), k=(x or is_hip() or "d"), **({"h": 1} if is_hip() else {}))
    e = [y for y in (1, 2, 3) if not is_hip() and y > 1], {y: (y if is_hip() else -y) for y in (1, 2)}
    f = (lambda z: z if is_hip() else -z)(4)
    with open(os.devnull) as g, (open("hip") if is_hip() else open(os.devnull)) as h:
        if is_hip(): g.read()
    assert is_cuda() and x, "never"
    del g, h
    try: f += 1 if is_hip() else 2
    finally: f += is_hip() and 100
    return a, b, c, d, e, f, one(), deux() if not is_hip() else three()


class Kind:
    name = "h" if is_hip() else "c"; size = 2
    if is_hip(): size = 3
    def get(self): return self.size if arch() == "cuda" else None


N = str((chosen(7), Kind().get(), Kind.name))
"""
KIT = "def one(): return 1\n\n\ndef two(): return 2\n\n\ndef three(): return 3\n"
INSIDE = ("\n        ", "  # why\n    ", "\n\n  ", " \n", "\n# at the margin\n      ")
OUTSIDE = (" \\\n    ", " \\\n", "   ")
BETWEEN = ("\n", "   \n", "# said\n", "      # far\n", "\n\n# two\n\n", "\t\n")


def laid_out(text: str, rnd: random.Random, rate: float) -> str:
    """The same tokens with other white space, and with comments."""
    parts: list[str] = []
    indents, depth = [""], 0
    last: tokenize.TokenInfo | None = None  # of the same line
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            indents = [*indents, token.string] if token.type == tokenize.INDENT else indents[:-1]
        elif token.type in (tokenize.NEWLINE, tokenize.NL):
            parts.append("\n")
            if depth == 0 and rnd.random() < rate:
                parts.append(rnd.choice(BETWEEN))
            last = None
        elif token.type != tokenize.ENDMARKER:
            gap = indents[-1] if last is None else token.line[last.end[1] : token.start[1]]
            if last is not None and rnd.random() < rate:
                gap = rnd.choice(INSIDE if depth else OUTSIDE)
            parts.append(gap + token.string)
            depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
            last = token
    return "".join(parts)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("rate", [0.05, 0.15, 0.3, 0.6])
@pytest.mark.parametrize("seed", range(8))
def test_every_layout(seed: int, rate: float, tmp_path: Path) -> None:
    app = laid_out(PROGRAM, random.Random(f"{seed} {rate}"), rate)
    pruned = prune({"app.py": app, "kit.py": KIT}, roots=["app:N"])
    driver = "import app; RESULT = app.N"
    before, after = execute(pruned.before, driver), execute(pruned.files, driver)
    assert not before["raised"] and after == before
    assert not re.search(r"is_hip|json|sys", re.sub(r"#.*", "", pruned["app.py"]))
    assert accepted(pruned, tmp_path) == {}
