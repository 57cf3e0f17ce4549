"""Patches and places carried between the trees. The oracle: patching and pruning commute on kept code."""

from __future__ import annotations

import difflib
import io
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pruner.cli import main
from pruner.pipeline.patch.parse import FilePatch, Hunk, parse, split
from pruner.pipeline.patch.place import changes, locate, rewritten
from tests.releases.conftest import Release, prune_into, write_release


def diff(path: str, old: str, new: str) -> str:
    rows = difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"a/{path}", f"b/{path}")
    return "".join([f"diff --git a/{path} b/{path}\n", *rows])


def patch_of(release: Release, edits: dict[str, tuple[str, str]], tree: str = "upstream") -> str:
    out = []
    for name, (old, new) in edits.items():
        text = (getattr(release, tree) / name).read_text()
        assert text.count(old) == 1, (name, old)
        out.append(diff(name, text, text.replace(old, new)))
    return "".join(out)


KEPT = {
    "shop/order.py": ("        return self.total() * UNIT\n", "        total = self.total()\n        return total * UNIT\n"),
    "shop/receipts.py": ("    return f\"order {order.number}: {order.total() / 100:.2f}, paid as {reference}\"\n", "    # short\n    return f\"order {order.number}\"\n"),
    "shop/registry.py": ("    return _CLIENTS[name]()\n", "    return _CLIENTS[name]()  # fresh\n"),
}  # fmt: skip
GONE = {
    "shop/checkout.py": ("            return session.pay(order.total_for_globex())\n", "            return session.pay(None)\n"),
    "shop/vendors/globex.py": ("        return False\n", "        return True\n"),
}  # fmt: skip


def run_port(release: Release, patch: Path, *more: str) -> tuple[int, list[str]]:
    arguments = ["port", str(patch), "--output", str(release.output), "--upstream", str(release.upstream)]
    code = main([*arguments, "--reports", str(release.reports), "--json", *more])
    return code, []


def test_patching_and_pruning_commute(first: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    patch = tmp_path / "fix.patch"
    patch.write_text(patch_of(first, KEPT | GONE))
    assert run_port(first, patch)[0] == 0
    found = json.loads(capsys.readouterr().out)
    by = {(row["path"], row["status"]) for row in found["rows"]}
    assert by == {(name, "ported") for name in KEPT} | {(name, "removed") for name in GONE}
    removed = next(row for row in found["rows"] if row["path"] == "shop/checkout.py")
    assert "shop.vendor" in removed["text"] or "globex" in removed["text"]

    tree = tmp_path / "generated"
    shutil.copytree(first.output, tree)
    (tmp_path / "ported.patch").write_text(found["patch"])
    subprocess.run(["git", "apply", "-p1", "--unsafe-paths", "--directory", str(tree), str(tmp_path / "ported.patch")],
                   check=True, cwd=tmp_path)  # fmt: skip
    upstream = tmp_path / "upstream"
    shutil.copytree(first.upstream, upstream)
    subprocess.run(
        ["git", "apply", "-p1", "--unsafe-paths", "--directory", str(upstream), str(patch)], check=True, cwd=tmp_path
    )
    again = prune_into(tmp_path / "again", upstream)
    for name in sorted(KEPT):
        assert (tree / name).read_text() == (again.output / name).read_text(), name


def test_and_back(first: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    patch = tmp_path / "local.patch"
    patch.write_text(patch_of(first, KEPT, "output"))
    target = tmp_path / "upstream.patch"
    assert run_port(first, patch, "--to-upstream", "--to", str(target))[0] == 0
    capsys.readouterr()
    assert target.read_text() == patch_of(first, KEPT)


def test_what_needs_a_hand(first: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = (first.upstream / "shop" / "config.py").read_text()
    folded = config.replace("UNIT = 1 if _is_globex else 10\n", "UNIT = 2 if _is_globex else 20\n")
    text = diff("shop/config.py", config, folded)
    text += diff("shop/nowhere.py", "a\n", "b\n") + diff("shop/order.py", "never\nthere\n", "never\n")
    text += "diff --git a/shop/new.py b/shop/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/shop/new.py\n@@ -0,0 +1 @@\n+X = 1\n"
    patch = tmp_path / "fix.patch"
    patch.write_text(text)
    assert run_port(first, patch)[0] == 1
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {(row["path"], row["status"]) for row in rows} == {
        ("shop/config.py", "conflict"),
        ("shop/nowhere.py", "foreign"),
        ("shop/order.py", "unplaced"),
        ("shop/new.py", "new"),
    }


@pytest.mark.parametrize(
    ("edits", "code", "word"), [(KEPT, 1, "affected"), (GONE, 0, "not affected"), (KEPT | GONE, 1, "affected")]
)
def test_affects(
    first: Release,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    edits: dict[str, tuple[str, str]],
    code: int,
    word: str,
) -> None:
    patch = tmp_path / "cve.patch"
    patch.write_text(patch_of(first, edits))
    arguments = ["affects", str(patch), "--output", str(first.output), "--upstream", str(first.upstream)]
    assert main([*arguments, "--reports", str(first.reports)]) == code
    out = capsys.readouterr().out
    assert out.startswith(f"{word}:\n")
    if edits is KEPT:
        line = next(row for row in out.splitlines() if row.startswith("shop/order.py"))
        place = line.partition("(")[2].partition(" ")[0]
        name, _, number = place.rpartition(":")
        assert "self.total() * UNIT" in (first.output / name).read_text().splitlines()[int(number) - 1]


def new_file(path: str) -> str:
    return f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+X = 1\n"


def renamed(old: str, new: str) -> str:
    return f"diff --git a/{old} b/{new}\nsimilarity index 100%\nrename from {old}\nrename to {new}\n"


def binary(path: str) -> str:
    return f"diff --git a/{path} b/{path}\nindex 1..2 100644\nBinary files a/{path} and b/{path} differ\n"


GLOBEX = "shop/vendors/globex.py"


@pytest.mark.parametrize(
    ("text", "word", "statuses"),
    [
        (renamed(GLOBEX, "shop/vendors/glob.py"), "not affected", ["removed"]),
        (renamed("shop/order.py", "shop/orders.py"), "unknown", ["left"]),
        (binary(GLOBEX), "not affected", ["removed"]),
        (binary("shop/order.py"), "unknown", ["left"]),
        (new_file("shop/more.py"), "affected", ["new"]),
        (new_file("shop/vendors/fresh/more.py"), "affected", ["new"]),
        (new_file("tests/test_order.py"), "unknown", ["outside"]),
        (new_file("tests/test_order.py") + binary(GLOBEX), "not affected", ["outside", "removed"]),
    ],
    ids=["rename gone", "rename kept", "binary gone", "binary kept", "new", "new folder", "outside", "outside, gone"],
)
def test_whole_files(
    first: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, word: str, statuses: list[str]
) -> None:
    patch = tmp_path / "cve.patch"
    patch.write_text(text)
    arguments = ["affects", str(patch), "--output", str(first.output), "--upstream", str(first.upstream), "--json"]
    code = main([*arguments, "--reports", str(first.reports)])
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], code) == (word, 0 if word == "not affected" else 1)
    assert [row["status"] for row in found["rows"]] == statuses


def test_a_new_file_beside_what_is_gone() -> None:
    from pruner.pipeline.patch.linemap import LineMap

    graph = {
        "maps": {},
        "lines": {"p/a.py": 1, "p/q/b.py": 1},
        "upstream": ["p/a.py", "p/q/b.py", "p/hip/c.py", "setup.py"],
    }
    lines = LineMap(graph, upstream=True)
    wanted = {
        "p/hip/new.py": "gone",
        "p/hip/deep/new.py": "gone",
        "p/q/new.py": "kept",
        "p/r/new.py": "kept",
        "docs/new.md": "outside",
        "new.py": "kept",
    }
    assert {path: lines.beside(path) for path in wanted} == wanted
    assert lines.prefix("python/p/q/b.py") == "python/" and lines.prefix("p/a.py") == "" == lines.prefix(
        "docs/setup.py"
    )


def test_a_patch_of_a_whole_checkout(first: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Upstream's own patches say python/shop/...; a release has no such folder. New files follow the others."""
    patch = tmp_path / "fix.patch"
    text = patch_of(first, KEPT | GONE) + new_file("shop/more.py")
    patch.write_text(text.replace("a/shop/", "a/python/shop/").replace("b/shop/", "b/python/shop/"))
    assert run_port(first, patch)[0] == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {(row["path"], row["status"]) for row in rows} == (
        {(name, "ported") for name in KEPT} | {(name, "removed") for name in GONE} | {("shop/more.py", "new")}
    )


def test_lines_that_end_as_on_windows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Carriage returns are part of the lines, in the file and in its patch."""
    upstream = tmp_path / "up"
    write_release(upstream, False)
    path = upstream / "shop" / "order.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    release = prune_into(tmp_path, upstream)
    old, new = KEPT["shop/order.py"]
    text = path.read_bytes().decode()
    fixed = text.replace(old.replace("\n", "\r\n"), new.replace("\n", "\r\n"))
    assert fixed != text
    patch = tmp_path / "fix.patch"
    patch.write_bytes(diff("shop/order.py", text, fixed).encode())
    assert run_port(release, patch, "--to", str(tmp_path / "ported.patch"))[0] == 0
    tree = tmp_path / "tree"
    shutil.copytree(release.output, tree)
    subprocess.run(
        ["git", "apply", "--unsafe-paths", "--directory", str(tree), str(tmp_path / "ported.patch")],
        check=True,
        cwd=tmp_path,
    )
    assert new.replace("\n", "\r\n").encode() in (tree / "shop" / "order.py").read_bytes()


@pytest.mark.parametrize(
    "shape",
    [
        'File "/srv/my app/generated/{}", line {}, in f',
        'File "C:\\app\\{}", line {}, in f',
        '  |   File "/opt/venv/lib/python3.11/site-packages/{}", line {}, in g',
        "/x/{}:{}: DeprecationWarning: x",
        "{}({}): error",
    ],
)
def test_places_in_any_dress(
    first: Release, shape: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there = (first.upstream / "shop" / "order.py").read_text().splitlines().index(
        "        return self.total() * UNIT"
    ) + 1
    here = (first.output / "shop" / "order.py").read_text().splitlines().index("        return self.total() * UNIT") + 1
    assert here != there
    name = "shop\\order.py" if "\\" in shape else "shop/order.py"
    text = (
        'KeyError: "a"\n'
        + shape.format(name, here)
        + "\n    return self.total()\n           ^^^^^^\n\nDuring handling of it\n"
    )
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["retrace", "--reports", str(first.reports)]) == 0
    out = capsys.readouterr().out
    start = shape.partition("{")[0]
    kept = (
        ""
        if start.startswith("/")
        else start
        if start == "{}"
        else start.partition('"')[0] + ('"' if '"' in start else "")
    )
    line = out.splitlines()[1]
    assert (
        line
        == kept
        + "shop/order.py"
        + shape.rpartition("{}")[0].rpartition("{}")[2]
        + str(there)
        + shape.rpartition("{}")[2]
    )
    assert out.splitlines()[2:] == text.splitlines()[2:]


def test_a_traceback_both_ways(
    first: Release, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    generated = (first.output / "shop" / "order.py").read_text().splitlines()
    upstream = (first.upstream / "shop" / "order.py").read_text().splitlines()
    wanted = "        return self.total() * UNIT"
    here, there = generated.index(wanted) + 1, upstream.index(wanted) + 1
    assert here != there
    shape = 'Traceback:\n  File "{}", line {}, in total_in_units\n    return self.total()\nshop/order.py:{}: x\nother.py:3\n'
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO(shape.format("/opt/lib/shop/order.py", here, here).encode()))
    )
    assert main(["retrace", "--reports", str(first.reports)]) == 0
    out = capsys.readouterr().out
    assert out == shape.format("shop/order.py", there, there)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(out.encode())))
    assert main(["retrace", "--from-upstream", "--reports", str(first.reports)]) == 0
    assert capsys.readouterr().out == shape.format("shop/order.py", here, here)
    gone = upstream.index('        """Globex wants a string."""') + 1
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"shop/order.py:{gone}\n".encode())))
    assert main(["retrace", "--from-upstream", "--reports", str(first.reports)]) == 0
    assert f"shop/order.py:{gone} [method" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "says"),
    [("nothing\n", "no line names a place of "), ("", "there is nothing in it"), ("\n \n", "there is nothing in it")],
)
@pytest.mark.parametrize("back", [False, True])
def test_what_names_no_place_is_told(
    text: str,
    says: str,
    back: bool,
    first: Release,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "crash.log").write_text(text)
    options = ["--from-upstream"] * back + ["--reports", str(first.reports)]
    says += ("upstream" if back else "the generated tree") * says.endswith("of ")
    for file in (tmp_path / "crash.log", "/dev/null" if not text else "-"):
        monkeypatch.setattr(
            "sys.stdin",
            io.TextIOWrapper(
                io.BytesIO(text.encode()),
            ),
        )
        assert main(["retrace", str(file), *options]) == 1
        shown = capsys.readouterr()
        name = "standard input" if file == "-" else str(file)
        assert shown.out == text and shown.err.startswith(f"{name}: {says}") and shown.err.count("\n") == 1


def test_another_upstream_is_refused(
    first: Release, second: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    patch = tmp_path / "fix.patch"
    patch.write_text(patch_of(first, KEPT))
    arguments = ["port", str(patch), "--output", str(first.output), "--upstream", str(second.upstream)]
    assert main([*arguments, "--reports", str(first.reports)]) == 2
    assert "PR313" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", ":0"),
        ("--- a/x\n+++ b/x\n@@ nonsense\n", ":3"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n", ":3"),
        ("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n*b\n", ":5"),
    ],
)
def test_a_broken_patch_is_located(tmp_path: Path, text: str, place: str) -> None:
    from pruner.errors import PruneError

    patch = tmp_path / "x.patch"
    patch.write_text(text)
    with pytest.raises(PruneError) as caught:
        parse(patch)
    (row,) = caught.value.diagnostics
    assert row.code == "PR311" and f":{row.line}" == place


@pytest.mark.parametrize("seed", range(40))
def test_parse_and_apply_agree_with_difflib(tmp_path: Path, seed: int) -> None:
    import random

    chance = random.Random(seed)
    old = [chance.choice("abcd") + "\n" for _ in range(chance.randrange(1, 30))]
    new = [row for row in old if chance.random() > 0.2]
    for _ in range(chance.randrange(4)):
        new.insert(chance.randrange(len(new) + 1), chance.choice("abxy") + "\n")
    if chance.random() < 0.5 and new:
        new[-1] = new[-1].rstrip("\n")
    rows = list(difflib.unified_diff(old, new, "a/x", "b/x", n=chance.randrange(4)))
    text = "".join(r if r.endswith("\n") else r + "\n\\ No newline at end of file\n" for r in rows)
    if not text:
        return
    patch = tmp_path / "x.patch"
    patch.write_text(text)
    (found,) = parse(patch)
    assert isinstance(found, FilePatch) and all(isinstance(h, Hunk) for h in found.hunks)
    lines = split("".join(old).encode())
    edits = []
    for hunk in found.hunks:
        at = locate(hunk, lines)
        assert at is not None
        # Equal lines may stand in several places: the nearest to the hunk's own number is the right one.
        edits += changes(hunk, at)
    assert rewritten(lines, edits) == new
