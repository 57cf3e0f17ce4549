"""``arch() in KINDS`` where a module variable is a tuple: the right fold is accepted, its wrong twin refuted.

The verifier knew tuples where they stand, and refuted what the engine rightly made of those under a name.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner import verify
from tests.engine.program import FACTS, prune, rules_text, run

PLACES = {  # where the tuple is written, with {} in its place
    "a global": {"app.py": "from plat import arch\n\nKINDS = {}\n"},
    "of names": {"app.py": "from plat import arch\n\nA = 'x'\nKINDS = (*[A], A) and {} or (A,)\n"},
    "imported": {"app.py": "from plat import arch\nfrom kinds import KINDS\n", "kinds.py": "KINDS = {}\n"},
    "of a module": {
        "app.py": "from plat import arch\nimport kinds as k\n\nKINDS = k.KINDS\n",
        "kinds.py": "KINDS = {}\n",
    },
    "by a star": {
        "app.py": "from plat import arch\nfrom other import *\nfrom kinds import *\n",
        "other.py": "KINDS = ('no',)\n",
        "kinds.py": "KINDS = {}\n",
    },
    "decided": {
        "app.py": "from plat import arch, is_hip\n\nif is_hip():\n    KINDS = ('no',)\nelse:\n    KINDS = {}\n",
    },
}
USES = {
    "if": "if arch() in KINDS:\n        return one()\n    return two()",
    "if not": "if arch() not in KINDS:\n        return one()\n    else:\n        return two()",
    "expression": "return one() if arch() in KINDS else two()",
    "operand": "return arch() in KINDS and one() or two()",
    "in the test of a comprehension": "return [one() for _ in range(2) if arch() in KINDS] + [two()]",
    "elsewhere": "yes = arch() in KINDS\n    return one() if yes else two()",
}
TAIL = "\n\ndef main():\n    {}\n\n\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"
INSIDE, OUTSIDE = "('cuda', 'musa')", "('hip', 'musa')"


def program(place: str, use: str, kinds: str) -> dict[str, str]:
    files = {path: text.replace("{}", kinds) for path, text in PLACES[place].items()}
    return {**files, "app.py": files["app.py"] + TAIL.format(USES[use])}


def refuted(folder: Path, before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    for name, files in (("in", before), ("out", after)):
        for path, data in files.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_bytes(data)
    (folder / "rules.yaml").write_text(rules_text(FACTS, ["app:main"]))
    rows = verify.run(folder / "in", folder / "out", [folder / "rules.yaml"], jobs=1)
    return {row.check for row in rows if row.result == "refuted"}


@pytest.mark.parametrize("kinds", [INSIDE, OUTSIDE], ids=["in", "not in"])
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("place", PLACES)
def test_the_right_fold_is_accepted_and_the_wrong_one_refuted(tmp_path: Path, place: str, use: str, kinds: str) -> None:
    right = prune(program(place, use, kinds), roots=["app:main"])
    driver = "import app; RESULT = app.main()"
    assert run(right.files, driver) == run(right.before, driver)
    (tmp_path / "right").mkdir()
    assert refuted(tmp_path / "right", right.before, right.files) == set()
    wrong = prune(program(place, use, OUTSIDE if kinds == INSIDE else INSIDE), roots=["app:main"])
    if b"KINDS:" in wrong.files["app.py"] or b"arch()" in wrong.files["app.py"]:
        return  # the engine folds none of this kind
    (tmp_path / "wrong").mkdir()
    told = {
        path: data.replace(OUTSIDE.encode(), b"#").replace(INSIDE.encode(), b"#") for path, data in wrong.files.items()
    }
    assert refuted(tmp_path / "wrong", right.before, {p: d.replace(b"#", kinds.encode()) for p, d in told.items()})


CHANGES = {
    "rebound": "\n\ndef later():\n    global KINDS\n    KINDS = ('none',)\n",
    "added to": "\n\ndef later():\n    global KINDS\n    KINDS += ('none',)\n",
    "deleted": "\n\ndef later():\n    global KINDS\n    del KINDS\n",
    "bound twice": "\n\nif open('/dev/null').read():\n    KINDS = ('none',)\n\n\ndef later():\n    pass\n",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_tuple_that_may_be_another_one_is_not_known(tmp_path: Path, change: str) -> None:
    roots = ["app:main", "app:later"]
    files = program("a global", "if", INSIDE)
    known = prune({**files, "app.py": files["app.py"] + "\n\ndef later():\n    pass\n"}, roots=roots)
    moved = {path: data + CHANGES[change].encode() if path == "app.py" else data for path, data in known.before.items()}
    honest = prune(moved, roots=roots, plat=False)
    (tmp_path / "honest").mkdir()
    assert b"in KINDS" in honest.files["app.py"]
    assert refuted(tmp_path / "honest", honest.before, honest.files) == set()
    (tmp_path / "wrong").mkdir()
    assert b"in KINDS" not in known.files["app.py"]
    wrong = {path: data + CHANGES[change].encode() if path == "app.py" else data for path, data in known.files.items()}
    assert refuted(tmp_path / "wrong", honest.before, wrong)
