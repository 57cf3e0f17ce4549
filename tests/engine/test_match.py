"""``match`` on what facts know: the cases that cannot be it go, and all near misses stay."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pruner import verify
from tests.engine.program import FACTS, PLAT, prune, rules_text, same_behaviour

KNOWN = {**FACTS, "kind()": ["cuda", "rocm"]}
TREE = (
    PLAT
    + """\


def kind():
    return "rocm"


def only_hip():
    return 3


HIP = "hip"
FLAG = is_hip()
"""
)
HEAD = "import plat\nfrom plat import arch, is_cuda, is_hip, kind, only_hip\n\nx = 'global'\nother = 'global'\n\n\n"

# A name, the body of a function, the cases that are left of it; "" where the whole statement goes.
FOLDED = [
    ("a literal", "match arch():\n    case 'hip':\n        return only_hip()\n    case 'cuda':\n        return 1\n    case _:\n        return 2", ["'cuda'"]),
    ("several values", "match kind():\n    case 'hip':\n        return 1\n    case 'cuda':\n        return 2\n    case 'rocm':\n        return 3\n    case _:\n        return 4", ["'cuda'", "'rocm'"]),
    ("an alternative", "match kind():\n    case 'hip' | 'npu':\n        return 1\n    case 'cuda' | 'hip' | 'rocm':\n        return 2\n    case 'cuda':\n        return 3", ["'cuda' | 'hip' | 'rocm'"]),
    ("a known chain", "match arch():\n    case plat.HIP | 'npu':\n        return 1\n    case v:\n        return v", ["v"]),
    ("a flag", "match plat.FLAG:\n    case True:\n        return 1\n    case _:\n        return 2", ["_"]),
    ("a predicate", "match is_hip():\n    case True:\n        return only_hip()\n    case False:\n        return 2", ["False"]),
    ("a local", "own = kind()\nmatch own:\n    case 'hip':\n        return 1\n    case _:\n        return own", ["_"]),
    ("a guard that is true", "match arch():\n    case 'cuda' if is_cuda():\n        return 1\n    case _:\n        return 2", ["'cuda'"]),
    ("equal to a flag", "match is_cuda():\n    case 2:\n        return 1\n    case 1:\n        return 2\n    case True:\n        return 3", ["1"]),
    ("no case is left", "match arch():\n    case 'hip':\n        return only_hip()\n    case 'npu' | 'xpu':\n        return 2\nreturn 3", []),
    ("what stands behind", "match kind():\n    case 'cuda':\n        return 1\n    case 'rocm':\n        return 2\nreturn only_hip()", ["'cuda'", "'rocm'"]),
    ("a case behind a guard that does something", "match arch():\n    case 'cuda' if print('asked'):\n        return 1\n    case 'hip':\n        return only_hip()\n    case _:\n        return 3", ["'cuda'", "_"]),
    ("a guard that is never asked", "match arch():\n    case 'hip' if print('asked'):\n        return 1\n    case _:\n        return 2", ["_"]),
    ("in a loop", "for n in (1, 2):\n    match arch():\n        case 'hip':\n            return 1\n        case 'cuda':\n            continue\n    return only_hip()\nreturn n", ["'cuda'"]),
    ("a capture behind what is sure", "match arch():\n    case 'cuda':\n        return 1\n    case own:\n        return own", ["'cuda'"]),
    ("a class behind what is sure", "match arch():\n    case 'cuda':\n        return 1\n    case str(own):\n        return own", ["'cuda'"]),
]  # fmt: skip
STAYS = [
    ("an unknown subject", "match v:\n    case 'hip':\n        return 1\n    case _:\n        return 2", 2),
    ("a subject that does something", "match print('asked') or is_hip():\n    case True:\n        return 1\n    case _:\n        return 2", 2),
    ("a subject that binds", "match (w := is_hip()):\n    case True:\n        return 1\n    case _:\n        return w", 2),
    ("an unknown chain", "match arch():\n    case v.name:\n        return 1\n    case _:\n        return 2", 2),
    ("a class and a sequence", "match arch():\n    case int():\n        return 1\n    case [_, *_]:\n        return 2\n    case {'a': 1}:\n        return 3\n    case _:\n        return 4", 4),
    ("a named alternative", "match arch():\n    case 'hip' | 'npu' as own:\n        return own\n    case _:\n        return 2", 2),
    ("one of two values", "match kind():\n    case 'cuda':\n        return 1\n    case _:\n        return 2", 2),
    ("a flag is not what is equal to it", "match is_cuda():\n    case 1 if v:\n        return 1\n    case 1.0:\n        return 2", 2),
    ("a guard that nobody knows", "match arch():\n    case 'cuda' if v:\n        return 1\n    case _:\n        return 2", 2),
    ("a guard that does something", "match arch():\n    case 'cuda' if print('asked'):\n        return 1\n    case _:\n        return 2", 2),
    ("a capture that is read later", "match kind():\n    case 'cuda' | 'rocm':\n        v = 1\n    case other:\n        v = 2\nreturn other", 2),
    ("a binding that is read later", "match kind():\n    case 'hip':\n        x = 1\n    case _:\n        v = 2\nreturn x", 2),
    ("the only yield", "match kind():\n    case 'hip':\n        yield 1\n    case _:\n        v = 2\nreturn", 2),
    ("the only yield, behind a guard", "match v:\n    case 1 if is_hip():\n        yield 1\n    case _:\n        v = 2\nreturn", 2),
    ("a global statement", "match kind():\n    case 'hip':\n        global x\n        x = 1\n    case _:\n        x = 2\nreturn globals()['x']", 2),
    ("a global statement, behind a guard", "match v:\n    case 1 if is_hip():\n        global x\n        x = 1\n    case _:\n        x = 2\nreturn globals()['x']", 2),
]  # fmt: skip
DRIVER = "import app\nRESULT = app.f()\nRESULT = list(RESULT) if hasattr(RESULT, 'send') else RESULT"


def program(body: str) -> dict[str, str]:
    return {"app.py": HEAD + "def f(v=0):\n    " + body.replace("\n", "\n    ") + "\n", "plat.py": TREE}


def accepted(folder: Path, before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    """The checks that refute a tree."""
    for name, files in (("in", before), ("out", after)):
        for path, data in files.items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_bytes(data)
    (folder / "rules.yaml").write_text(rules_text(KNOWN, ["app:f"]))
    rows = verify.run(folder / "in", folder / "out", [folder / "rules.yaml"], jobs=1)
    return {row.check for row in rows if row.result == "refuted"}


@pytest.mark.parametrize(("body", "left"), [f[1:] for f in FOLDED], ids=[f[0] for f in FOLDED])
def test_cases_that_cannot_be_it_go(body: str, left: list[str], tmp_path: Path) -> None:
    pruned = prune(program(body), facts=KNOWN, roots=["app:f"])
    same_behaviour(pruned, DRIVER)
    found = re.findall(r"case (.+?)(?: if .*)?:\n", pruned["app.py"])
    assert found == left and ("match" in pruned["app.py"]) == bool(left)
    assert not any(b"only_hip" in data for data in pruned.files.values())
    assert not accepted(tmp_path, pruned.before, pruned.files)
    twice = prune(pruned.files, facts=KNOWN, roots=["app:f"], plat=False)
    assert twice["app.py"] == pruned["app.py"]


@pytest.mark.parametrize(("body", "count"), [s[1:] for s in STAYS], ids=[s[0] for s in STAYS])
def test_cases_that_can_be_it_stay(body: str, count: int, tmp_path: Path) -> None:
    pruned = prune(program(body), facts=KNOWN, roots=["app:f"])
    same_behaviour(pruned, DRIVER)
    assert pruned["app.py"].count("case ") == count
    assert not accepted(tmp_path, pruned.before, pruned.files)


def test_a_pattern_keeps_what_it_reads() -> None:
    """``case plat.FLAG:`` is never a literal, and its definition was taken with the reads that are."""
    text = HEAD + "def f(v=0):\n    match v:\n        case plat.FLAG:\n            return 1\n    return 2\n"
    pruned = prune({"app.py": text, "plat.py": TREE}, roots=["app:f"])
    assert "FLAG = False" in pruned["plat.py"]
    same_behaviour(pruned, "import app\nRESULT = app.f(), app.f(1)")


MOVED = [
    "if is_hip():\n    global x\n    if v:\n        global other\nx = other = 2\nreturn x",
    "match arch():\n    case 'hip':\n        global x\n    case 'npu':\n        global other\nx = other = 2\nreturn x",
    "if v:\n    pass\nelif is_hip():\n    global x, other\nx = other = 2\nreturn x",
    "if v:\n    pass\nelif is_cuda():\n    v = 3\nelse:\n    global x\n    global other\nx = other = 2\nreturn x",
]


@pytest.mark.parametrize("deep", [1, 2])
@pytest.mark.parametrize("body", MOVED)
def test_global_statements_in_a_suite_that_moves(body: str, deep: int, tmp_path: Path) -> None:
    """What was put before a line kept the old white space of its second line, and the file did not compile."""
    for _ in range(deep):
        body = "if is_cuda():\n    " + body.replace("\n", "\n    ")
    pruned = prune(program(body), facts=KNOWN, roots=["app:f"])
    same_behaviour(pruned, DRIVER + "\nRESULT = RESULT, app.x, app.other")
    if "elif" not in body:  # what moves in front of a chain is not upstream's at that place: the check tokens says so
        assert not accepted(tmp_path, pruned.before, pruned.files)


def test_comments_stay_with_the_case_behind_them() -> None:
    body = """\
match kind():
    # of hip
    case 'hip': return 1
    # of cuda
    case 'cuda': pass; v = 1
    # of rocm
    case ('rocm'):
        v = 4
    # of others
    case _:
        v = 2
return v"""
    pruned = prune(program(body), facts=KNOWN, roots=["app:f"])
    same_behaviour(pruned, DRIVER)
    text = pruned["app.py"]
    assert "# of cuda\n        case 'cuda': pass; v = 1\n        # of rocm\n        case ('rocm'):" in text
    assert "'hip'" not in text and "case _" not in text


CAPTURED = [
    ("a decided branch", "match v:\n    case own if is_hip():\n        return 1\n    case 0:\n        v = 3\nif is_hip():\n    print(own)\nreturn v"),
    ("a case that cannot be it", "match arch():\n    case own if is_hip():\n        return 1\n    case 'hip':\n        return own\n    case 'cuda' | 'rocm':\n        return 4"),
    ("another case that captures it", "match v:\n    case own if is_hip():\n        return 1\n    case 0:\n        v = 3\nmatch v:\n    case own if v:\n        return own"),
]  # fmt: skip


@pytest.mark.parametrize("body", [c[1] for c in CAPTURED], ids=[c[0] for c in CAPTURED])
def test_a_capture_is_read_in(body: str, tmp_path: Path) -> None:
    """Upstream reads it where the output does not: the right tree was refuted."""
    pruned = prune(program(body), facts=KNOWN, roots=["app:f"])
    same_behaviour(pruned, DRIVER)
    assert not accepted(tmp_path, pruned.before, pruned.files)


WRONG = [
    ("a case that can be it", "match kind():\n    case 'cuda':\n        return 1\n    case 'rocm':\n        return 2\n    case _:\n        return 3", "    case 'rocm':\n        return 2\n"),
    ("what takes the rest", "match kind():\n    case 'cuda':\n        return 1\n    case _:\n        return 3", "    case _:\n        return 3"),
    ("what True is equal to", "match is_cuda():\n    case 1:\n        return 1\n    case True:\n        return 2", "    case 1:\n        return 1\n"),
    ("what is the same as True", "match is_cuda():\n    case 2:\n        return 1\n    case True:\n        return 2", "    case True:\n        return 2"),
    ("what is behind an unknown guard", "match arch():\n    case 'cuda' if v:\n        return 1\n    case 'cuda':\n        return 2", "    case 'cuda':\n        return 2"),
    ("what a guard does", "match arch():\n    case 'cuda' if print('asked'):\n        return 1\n    case 'cuda':\n        return 2", "    case 'cuda' if print('asked'):\n        return 1\n"),
    ("what is behind a class", "match arch():\n    case int():\n        return 1\n    case _:\n        return 2", "    case _:\n        return 2"),
    ("what is behind an unknown chain", "match arch():\n    case v.name:\n        return 1\n    case _:\n        return 2", "    case v.name:\n        return 1\n"),
    ("what the subject does", "match print('asked'):\n    case 'hip':\n        return 1\n    case _:\n        return 2", "    case 'hip':\n        return 1\n"),
    ("what stands behind a case that falls through", "match arch():\n    case 'cuda':\n        v = 1\nreturn 2", "return 2"),
    ("what stands behind one of two values", "match kind():\n    case 'cuda':\n        return 1\nreturn 2", "return 2"),
    ("what a capture binds", "match arch():\n    case own:\n        v = 1\nreturn own", "match arch():\n    case own:\n        v = 1\n"),
    ("a capture that its own case reads", "match arch():\n    case other:\n        return other", ("match arch():\n    case other:\n        return other", "return other")),
]  # fmt: skip


@pytest.mark.parametrize(("body", "lost"), [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_the_verifier_refutes_the_loss_of(body: str, lost: str | tuple[str, str], tmp_path: Path) -> None:
    before, after = lost if isinstance(lost, tuple) else (lost, "")
    files = {path: text.encode() for path, text in program(body).items()}
    assert not accepted(tmp_path / "same", files, files)
    wrong = body.replace(before, after)
    assert wrong != body
    text = program(wrong)["app.py"]
    compile(text, "app.py", "exec")
    assert accepted(tmp_path / "wrong", files, {**files, "app.py": text.encode()})
