"""``changes.diff``: real git must turn upstream into exactly the generated tree, and back."""

from __future__ import annotations

import io
import random
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pruner.model import Cause, Edit, Outcome, Snapshot
from pruner.report.diff import write_diff

from .trees import (
    DROP,
    FACT,
    NOTICE,
    UNREACHED,
    Item,
    content,
    edits_of,
    expected,
    git,
    outcome_of,
    snapshot,
    splice,
    write,
)

TEN = b"".join(b"line %d\n" % n for n in range(1, 11))
LATE_NUL = b"x = 1\n" * 1500 + b"a\0b\nlast\n"
EARLY_NUL = b"\x7fELF\0\n" + bytes(range(256)) * 40


def diff_of(snap: Snapshot, outcome: Outcome, extra: Mapping[str, bytes] | None = None) -> bytes:
    stream = io.BytesIO()
    write_diff(snap, outcome, extra or {}, stream)
    return stream.getvalue()


def check_apply(root: Path, outcome: Outcome, extra: Mapping[str, bytes] | None = None, *, repository: bool) -> bytes:
    """Apply to a copy, compare byte for byte, apply in reverse, compare again. Gives the diff."""
    extra = extra or {}
    diff = diff_of(snapshot(root), outcome, extra)
    copy = root.parent / f"copy-{repository}"
    shutil.copytree(root, copy, symlinks=True)
    patch = root.parent / "changes.diff"
    patch.write_bytes(diff)
    if repository:
        git(copy, "init", "-q")
    if diff:
        # git forgives a wrong line number when it finds the lines elsewhere; we do not.
        assert b"offset" not in git(copy, "apply", "-v", str(patch)).stderr
    assert content(copy) == expected(root, outcome, extra)
    assert not [p for p in copy.rglob("*") if p.is_dir() and ".git" not in p.parts and not any(p.iterdir())]
    if diff:
        assert b"offset" not in git(copy, "apply", "-v", "-R", str(patch)).stderr
    assert content(copy) == content(root)
    shutil.rmtree(copy)
    return diff


def one(tmp_path: Path, old: bytes, *edits: tuple[int, int, bytes]) -> bytes:
    """The diff of one edited file, checked with git."""
    root = tmp_path / "up"
    write(root, {"f.py": old})
    made = tuple(Edit(start, stop, text, FACT) for start, stop, text in edits)
    return check_apply(root, outcome_of(snapshot(root), edits={"f.py": made}), repository=True)


def test_nothing_removed_is_an_empty_diff(tmp_path: Path) -> None:
    root = tmp_path / "up"
    write(root, {"a.py": TEN, "link": Item(b"a.py", link=True)})
    assert check_apply(root, outcome_of(snapshot(root)), repository=True) == b""


def test_an_edit_that_changes_nothing_gives_no_entry(tmp_path: Path) -> None:
    assert one(tmp_path, b"a\nb\n", (0, 2, b"a\n")) == b""


ODD: dict[str, bytes | Item] = {
    "keep.py": TEN,
    "keep-link": Item(b"keep.py", link=True),
    "dangling": Item(b"no/such/target", link=True),
    "link-becomes-file": Item(b"keep.py", link=True),
    "dir/link-to-folder": Item(b"../gone", link=True),
    "gone/deep/er/a.py": TEN,
    "gone/empty.py": b"",
    "gone/no-end.py": b"a\nb",
    "gone/only-newline.py": b"\n",
    "gone/crlf.py": b"a\r\nb\r\n",
    "gone/lone-cr.py": b"a\rb\rc",
    "gone/latin1.py": b"# \xe9\xff\xfe\nx\n",
    "gone/form-feed.py": b"a\n\x0c\nb\x0bc\n\x1c\x85\n",
    "gone/late-nul.py": LATE_NUL,
    "gone/_core.so": EARLY_NUL,
    "gone/empty.so": b"\0",
    "gone/run.sh": Item(b"#!/bin/sh\nexit 0\n", executable=True),
    "gone/run.bin": Item(b"\0\1\2", executable=True),
    "gone/a link": Item(b"../keep.py", link=True),
    "gone/looks like a patch.diff": b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\n\\ No newline\n",
    "name with space.py": TEN,
    "name\twith\ttab.py": TEN,
    'quo"te\\back.py': TEN,
    "new\nline.py": TEN,
    "control\x01\x7f.py": TEN,
    "ünïcode.py": TEN,
    "not-utf8-\udcff.py": TEN,
    "-dash.py": TEN,
    "a b/c d.py": b"",
    "edit/empty-to-text.py": b"",
    "edit/text-to-empty.py": TEN,
    "edit/exec.sh": Item(b"#!/bin/sh\na\nb\n", executable=True),
    "edit/crlf.py": b"a\r\nb\r\nc\r\n",
    "edit/mixed.py": b"a\r\nb\nc\rd\n",
    "edit/latin1.py": b"a\n# \xe9\nb\n",
    "edit/late-nul.py": LATE_NUL,
    "edit/binary.co": EARLY_NUL,
    "edit/no-end.py": b"a\nb",
    "edit/with space.py": TEN,
    "replaced.toml": b"old\n",
    "removed-and-generated.txt": TEN,
    "file-becomes-folder": TEN,
}


def odd_case(root: Path) -> tuple[Outcome, dict[str, bytes]]:
    write(root, ODD)
    snap = snapshot(root)
    removed: dict[str, Cause] = {path: UNREACHED for path in ODD if path.startswith("gone/")}
    removed |= {
        "dangling": DROP,
        "dir/link-to-folder": DROP,
        "not-utf8-\udcff.py": DROP,
        "new\nline.py": DROP,
        "control\x01\x7f.py": DROP,
        "a b/c d.py": DROP,
        "removed-and-generated.txt": DROP,
        "file-becomes-folder": DROP,
    }

    def edit(path: str, *changes: tuple[bytes, bytes, Cause]) -> tuple[Edit, ...]:
        given = ODD[path]
        return edits_of(given.data if isinstance(given, Item) else given, *changes)

    middle = (b"line 5\n", b"", FACT)
    edits = {
        "edit/empty-to-text.py": (Edit(0, 0, b"new\n", NOTICE),),
        "edit/text-to-empty.py": (Edit(0, len(TEN), b"", FACT),),
        "edit/exec.sh": edit("edit/exec.sh", (b"a\n", b"", FACT)),
        "edit/crlf.py": edit("edit/crlf.py", (b"b\r\n", b"x\r\n", FACT)),
        "edit/mixed.py": edit("edit/mixed.py", (b"\rd", b"", FACT)),
        "edit/latin1.py": edit("edit/latin1.py", (b"\xe9", b"\xff", FACT)),
        "edit/late-nul.py": edit("edit/late-nul.py", (b"a\0b", b"\0\0", FACT)),
        "edit/binary.co": edit("edit/binary.co", (b"ELF", b"fle", FACT)),
        "edit/no-end.py": edit("edit/no-end.py", (b"a\n", b"", FACT)),
        "edit/with space.py": edit("edit/with space.py", middle),
        **{
            path: edit(path, middle)
            for path in ("name with space.py", "name\twith\ttab.py", 'quo"te\\back.py', "ünïcode.py", "-dash.py")
        },
    }
    extra = {
        "PRUNED.json": b"{}\n",
        "pyproject.toml": b"[project]\nname = 'x'",
        "empty.txt": b"",
        "blob.bin": b"\0\xff" * 50,
        "new dir/new file.txt": b"hello\n",
        "replaced.toml": b"new\nlines",
        "removed-and-generated.txt": TEN.replace(b"line 4\n", b"four\n"),
        "link-becomes-file": b"no link now\n",
        "file-becomes-folder/inner.txt": b"inner\n",
    }
    return outcome_of(snap, removed=removed, edits=edits), extra


@pytest.mark.parametrize("repository", [True, False])
def test_every_odd_file_kind(tmp_path: Path, repository: bool) -> None:
    root = tmp_path / "up"
    outcome, extra = odd_case(root)
    assert {path for path in outcome.files if outcome.files[path] is not None} == set(outcome.edits)
    diff = check_apply(root, outcome, extra, repository=repository)
    for path in ODD:
        assert path.startswith("keep") or (path in outcome.files or path in extra), f"{path} is in no change"
    assert diff.count(b"GIT binary patch") == 5


def test_binary_patches_of_every_row_length(tmp_path: Path) -> None:
    """The last row of a patch holds 1 to 52 bytes; its first letter says how many."""
    root = tmp_path / "up"
    dice = random.Random(1)
    write(root, {f"{n}.bin": b"\0" + dice.randbytes(n) for n in range(120)})
    snap = snapshot(root)
    removed = {f"{n}.bin": DROP for n in range(0, 120, 2)}
    edits = {f"{n}.bin": (Edit(0, 1, b"\0\0", FACT),) for n in range(1, 120, 2)}
    check_apply(root, outcome_of(snap, removed=removed, edits=edits), repository=True)


def test_equals_what_git_itself_writes(tmp_path: Path) -> None:
    """Entry by entry, but for binary patches, whose deflated bytes depend on git's zlib."""
    root = tmp_path / "up"
    outcome, extra = odd_case(root)
    diff = diff_of(snapshot(root), outcome, extra)
    git(root, "init", "-q")
    git(root, "add", "-A", "-f")
    git(root, "commit", "-q", "-m", "upstream")
    (tmp_path / "changes.diff").write_bytes(diff)
    git(root, "apply", str(tmp_path / "changes.diff"))
    git(root, "add", "-A", "-f")
    theirs = git(root, "diff", "--cached", "--binary", "--full-index", "--no-renames", "HEAD").stdout

    def entries(text: bytes) -> list[bytes]:
        found = [b"diff --git " + part for part in text.split(b"\ndiff --git ")]
        return [part.rstrip(b"\n") for part in found if b"GIT binary patch" not in part]

    assert entries(b"\n" + diff) == entries(b"\n" + theirs)


@pytest.mark.parametrize(
    ("old", "edits", "hunks"),
    [
        (TEN, [(0, 7, b"")], [b"@@ -1,4 +1,3 @@"]),
        (TEN, [(len(TEN) - 8, len(TEN), b"")], [b"@@ -7,4 +7,3 @@ line 6"]),
        (TEN, [(0, 0, b"# notice\n")], [b"@@ -1,3 +1,4 @@"]),
        (TEN, [(len(TEN), len(TEN), b"end")], [b"@@ -8,3 +8,4 @@ line 7"]),
        (b"a\n", [(0, 2, b"")], [b"@@ -1 +0,0 @@"]),
        (b"a", [(1, 1, b"\n")], [b"@@ -1 +1 @@"]),
        (b"a\nb\n", [(1, 2, b"")], [b"@@ -1,2 +1 @@"]),
        (b"a\nb\n", [(1, 1, b"x"), (2, 2, b"y")], [b"@@ -1,2 +1,2 @@"]),
        (b"a\nb\nc\n", [(2, 2, b"x")], [b"@@ -1,3 +1,3 @@"]),
        (b"a\nb", [(1, 3, b"")], [b"@@ -1,2 +1 @@"]),
        (b"x\n" * 10, [(0, 1, b"y"), (14, 15, b"y")], [b"@@ -1,10 +1,10 @@"]),
        (b"x\n" * 10, [(0, 1, b"y"), (16, 17, b"y")], [b"@@ -1,4 +1,4 @@", b"@@ -6,5 +6,5 @@ x"]),
        (b"x\r\ny\r\n", [(0, 3, b"")], [b"@@ -1,2 +1 @@"]),
        (
            b" %d\n" * 20,
            [(0, 12, b""), (48, 48, b"a\nb\n"), (76, 80, b"")],
            [b"@@ -1,6 +1,3 @@", b"@@ -10,6 +7,8 @@", b"@@ -17,4 +16,3 @@"],
        ),
    ],
)
def test_hunk_headers(tmp_path: Path, old: bytes, edits: list[tuple[int, int, bytes]], hunks: list[bytes]) -> None:
    diff = one(tmp_path, old, *edits)
    assert [line for line in diff.split(b"\n") if line.startswith(b"@@")] == hunks


def test_the_lines_around_an_edit_are_not_rewritten(tmp_path: Path) -> None:
    """A branch replaced by its body shows only what differs, though one edit covers it all."""
    old = b"if a:\n    keep\n    x\nelse:\n    y\nend\n"
    diff = one(tmp_path, old, (0, 33, b"if a:\n    keep\n    z\n"))
    body = [line for line in diff.split(b"\n")[5:] if line[:1] in b"-+"]
    assert body == [b"-    x", b"-else:", b"-    y", b"+    z", b""]


TOKENS = st.sampled_from([b"a", b"b", b"\n", b"\n", b"\r\n", b"\r", b"if x:\n", b"\xff", b"  y\n", b"\\", b"-", b"+"])
TEXTS = st.lists(TOKENS, max_size=40).map(b"".join)


@st.composite
def edited(draw: st.DrawFn) -> tuple[bytes, tuple[Edit, ...]]:
    old = draw(TEXTS)
    cuts = sorted(draw(st.lists(st.integers(0, len(old)), max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    return old, tuple(Edit(a, b, draw(st.lists(TOKENS, max_size=4).map(b"".join)), FACT) for a, b in pairs)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(edited(), min_size=1, max_size=25))
def test_any_edits_apply(cases: list[tuple[bytes, tuple[Edit, ...]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "up"
        write(root, {f"d{n % 3}/f{n}.py": old for n, (old, _) in enumerate(cases)})
        edits = {f"d{n % 3}/f{n}.py": made for n, (_, made) in enumerate(cases)}
        check_apply(root, outcome_of(snapshot(root), edits=edits), repository=True)


def test_many_random_edits_of_long_files(tmp_path: Path) -> None:
    """Hunks far apart and close together, with line numbers that shift."""
    dice = random.Random(7)
    tree: dict[str, bytes | Item] = {}
    edits = {}
    for n in range(40):
        old = b"".join(dice.choice([b"x\n", b"def f():\n", b"\n", b"  return\r\n"]) for _ in range(400))
        cuts = sorted(dice.sample(range(len(old)), 40))
        made = []
        for start, stop in zip(cuts[::2], cuts[1::2], strict=True):
            stop = min(stop, start + dice.randrange(40))
            made.append(Edit(start, stop, dice.choice([b"", b"\n", b"pass\n", b"y"]), FACT))
        tree[f"f{n}.py"] = old
        edits[f"f{n}.py"] = tuple(made)
    root = tmp_path / "up"
    write(root, tree)
    check_apply(root, outcome_of(snapshot(root), edits=edits), repository=True)


def test_a_new_file_of_the_engine_is_created(tmp_path: Path) -> None:
    root = tmp_path / "up"
    write(root, {"a.py": TEN})
    outcome = outcome_of(snapshot(root))
    outcome.files["pkg/_guard.py"] = b"x\n"
    diff = check_apply(root, outcome, repository=True)
    assert b"new file mode 100644" in diff


def test_edits_that_do_not_give_the_content_are_our_fault(tmp_path: Path) -> None:
    root = tmp_path / "up"
    write(root, {"a.py": TEN})
    snap = snapshot(root)
    outcome = outcome_of(snap, edits={"a.py": (Edit(0, 7, b"", FACT),)})
    outcome.files["a.py"] = splice(TEN, (Edit(0, 6, b"", FACT),))
    with pytest.raises(ValueError, match="do not give the new content"):
        diff_of(snap, outcome)
    outcome.edits["a.py"] = (Edit(0, 7, b"", FACT), Edit(3, 9, b"", FACT))
    with pytest.raises(ValueError, match="overlaps"):
        diff_of(snap, outcome)
