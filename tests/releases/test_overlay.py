"""Local patches and files on the pruned tree: applied, checked, reported, taken off again, and loud when they do not fit."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from pruner import report
from pruner.cli import main
from tests.releases.conftest import SHOP, Release
from tests.releases.test_patches import diff

FIRST = ("shop/order.py", "        return self.total() * UNIT\n", "        return self.total() * UNIT * 2\n")
SECOND = ("shop/order.py", "UNIT * 2\n", "UNIT * 3  # dearer\n")


def write_overlay(folder: Path, release: Release, edits: list[tuple[str, str, str]], files: dict[str, str]) -> Path:
    """Numbered patches, each on top of the one before."""
    folder.mkdir()
    texts: dict[str, str] = {}
    for number, (name, old, new) in enumerate(edits, 1):
        text = texts.get(name) or (release.output / name).read_text()
        assert text.count(old) == 1
        texts[name] = text.replace(old, new)
        (folder / f"{number:02}-x.patch").write_text("Why.\n\n" + diff(name, text, texts[name]))
    for name, text in files.items():
        (folder / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "files" / name).write_text(text)
    return folder


def run(release: Release, base: Path, overlay: Path) -> int:
    arguments = ["--rules", str(SHOP / "rules.yaml"), "--upstream", str(release.upstream), "-j", "1"]
    return main([*arguments, "--output", str(base / "out"), "--overlay", str(overlay), "--cache", str(base / "cache")])


def verify(release: Release, base: Path, *more: str) -> int:
    arguments = ["verify", "--rules", str(SHOP / "rules.yaml"), "--upstream", str(release.upstream), "-j", "1"]
    return main([*arguments, "--output", str(base / "out"), *more])


def test_patches_in_order_and_files(first: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overlay = write_overlay(
        tmp_path / "overlay", first, [FIRST, SECOND], {"shop/local.py": "from shop.order import Order\n"}
    )
    assert run(first, tmp_path, overlay) == 0
    out = tmp_path / "out"
    assert "UNIT * 3  # dearer" in (out / "shop" / "order.py").read_text()
    assert (out / "shop" / "local.py").is_file()
    recorded = json.loads((out / "PRUNED.json").read_bytes())["overlay"]
    assert [row["name"] for row in recorded["patches"]] == ["01-x.patch", "02-x.patch"]
    assert recorded["patched"] == ["shop/order.py"]
    document = json.loads((tmp_path / "out-reports" / "report.json").read_bytes())
    assert document["overlay"] == recorded
    assert {v["check"]: v["result"] for v in document["verdicts"]}["overlay: imports"] == "passed"
    import jsonschema

    jsonschema.validate(document, report.schema())
    assert "`01-x.patch`" in (tmp_path / "out-reports" / "report.md").read_text()
    # All else is what it is without the overlay, and the tree below it still passes every check.
    for path in first.output.rglob("*"):
        name = path.relative_to(first.output).as_posix()
        if path.is_file() and name not in ("PRUNED.json", "shop/order.py"):
            assert (out / name).read_bytes() == path.read_bytes(), name
    assert verify(first, tmp_path, "--overlay", str(overlay)) == 0
    capsys.readouterr()
    assert verify(first, tmp_path) == 2
    assert "PR314" in capsys.readouterr().err
    (out / "shop" / "order.py").write_text((out / "shop" / "order.py").read_text().replace("* 3", "* 4"))
    assert verify(first, tmp_path, "--overlay", str(overlay)) == 2, "the overlaid line was changed by hand"
    (out / "shop" / "order.py").write_text((first.output / "shop" / "order.py").read_text())


def test_a_patch_that_no_longer_applies_is_located(
    first: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    overlay = write_overlay(tmp_path / "overlay", first, [FIRST], {})
    assert run(first, tmp_path, overlay) == 0
    before = {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()}
    upstream = tmp_path / "next"
    shutil.copytree(first.upstream, upstream)
    path = upstream / "shop" / "order.py"
    path.write_text(
        path.read_text().replace("        return self.total() * UNIT\n", "        return UNIT * self.total()\n")
    )
    capsys.readouterr()
    assert run(Release(upstream, first.output, first.reports), tmp_path, overlay) == 2
    err = capsys.readouterr().err.replace("\n", "")
    patch = (overlay / "01-x.patch").read_text().splitlines()
    line = next(i for i, row in enumerate(patch, 1) if row.startswith("@@"))
    assert f"{overlay}/01-x.patch:{line}:1: error PR312" in err and "shop/order.py" in err
    assert {p: p.read_bytes() for p in (tmp_path / "out").rglob("*") if p.is_file()} == before
    assert not (tmp_path / "out.refuted").exists()


def test_an_overlay_that_breaks_the_tree_is_refuted(first: Release, tmp_path: Path) -> None:
    files = {"shop/local.py": "from shop.vendors.globex import Session\n"}
    overlay = write_overlay(tmp_path / "overlay", first, [], files)
    assert run(first, tmp_path, overlay) == 3
    assert not (tmp_path / "out").exists() and (tmp_path / "out.refuted" / "shop" / "local.py").is_file()


@pytest.mark.parametrize("name", ["shop/order.py", "PRUNED.json"])
def test_a_file_that_is_there_is_not_replaced(
    first: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    overlay = write_overlay(tmp_path / "overlay", first, [], {name: "X = 1\n"})
    assert run(first, tmp_path, overlay) == 2
    assert "PR314" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_new_and_deleted_files_by_patch(first: Release, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    tree = tmp_path / "tree"
    shutil.copytree(first.output, tree)
    for words in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *words], cwd=tree, check=True)
    (tree / "shop" / "fresh.py").write_text("X = 1")
    (tree / "LICENSE").write_text("a\n")
    (tree / "NOTICE").unlink(missing_ok=True)
    subprocess.run(["git", "add", "-N", "."], cwd=tree, check=True)
    text = subprocess.run(["git", "diff"], cwd=tree, check=True, capture_output=True, text=True).stdout
    (overlay / "a.patch").write_text(text)
    (overlay / "README.md").write_text("Ours.\n")
    assert run(first, tmp_path, overlay) == 0
    assert (tmp_path / "out" / "shop" / "fresh.py").read_text() == "X = 1"
    assert verify(first, tmp_path, "--overlay", str(overlay)) == 0


def test_a_foreign_entry(first: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    overlay = write_overlay(tmp_path / "overlay", first, [], {})
    (overlay / "notes.txt").write_text("x")
    assert run(first, tmp_path, overlay) == 2
    assert "PR312" in capsys.readouterr().err


def test_lines_lead_past_the_overlay(first: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Places in a patched file are upstream's all the same; a line of the patch itself is nobody's."""
    top = (first.output / "shop" / "order.py").read_text().splitlines()[1]
    edits = [
        ("shop/order.py", top + "\n", top + "\n# ours\n# ours too\n"),
        ("shop/registry.py", "    return _CLIENTS[name]()\n", "    client = _CLIENTS[name]()\n    return client\n"),
    ]
    overlay = write_overlay(tmp_path / "overlay", first, edits, {"shop/local.py": "X = 1\n"})
    assert run(first, tmp_path, overlay) == 0
    reports = ["--reports", str(tmp_path / "out-reports")]
    for name in ("shop/order.py", "shop/registry.py"):
        upstream = (first.upstream / name).read_text().splitlines()
        told = []
        for number, text in enumerate((tmp_path / "out" / name).read_text().splitlines(), 1):
            assert main(["line", f"{name}:{number}", *reports]) == 0
            place = capsys.readouterr().out.splitlines()[-1].partition(" ")[0]
            line = int(place.rpartition(":")[2])
            if "put in" not in place and line <= len(upstream) and upstream[line - 1] == text:
                told.append(text)
        ours = {"# ours", "# ours too", "    client = _CLIENTS[name]()", "    return client"}
        whole = (tmp_path / "out" / name).read_text().splitlines()
        missing = [text for text in whole if text not in ours and text.strip() and "Modified by prune" not in text]
        assert [text for text in told if text.strip()] == missing, name
