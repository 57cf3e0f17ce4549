"""``prune graph``: the folders and links of the kept tree, as Graphviz and a browser read them."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pruner.cli import main
from pruner.pipeline.answers import Answers
from pruner.pipeline.picture import Folders, by_folder, dot, svg
from tests.releases.conftest import Release


def test_folders_and_links(first: Release) -> None:
    found = by_folder(Answers(first.reports).graph, 2)
    kept = {p.relative_to(first.output) for p in first.output.rglob("*.py") if p.name != "_prune_guard.py"}
    assert sum(count for count, _ in found.sizes.values()) == len(kept)
    assert set(found.sizes) == {"shop", "shop.vendors"} and "shop" in found.roots
    assert found.links.keys() == {("shop", "shop.vendors"), ("shop.vendors", "shop")}
    assert by_folder(Answers(first.reports).graph, 2, "shop.vendors").sizes.keys() == {"shop.vendors"}
    assert by_folder(Answers(first.reports).graph, 2, "shop.nothing").sizes == {}


def test_dot(first: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "--depth", "2", "--reports", str(first.reports)]) == 0
    text = capsys.readouterr().out
    assert re.search(r'"shop" -> "shop.vendors" \[label=\d+, weight=\d+\];', text)
    assert r'"shop\n' in text and text.count("{") == text.count("}") == 1
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=text, text=True, check=True, capture_output=True)
    assert main(["graph", "shop.nothing", "--reports", str(first.reports)]) == 1


def test_svg_is_well_formed_and_nothing_overlaps(first: Release, tmp_path: Path) -> None:
    target = tmp_path / "g.svg"
    assert main(["graph", "--depth", "2", "--svg", str(target), "--reports", str(first.reports)]) == 0
    root = ET.fromstring(target.read_bytes())
    space = "{http://www.w3.org/2000/svg}"
    boxes = [g.find(f"{space}rect") for g in root.iter(f"{space}g")]
    places = [(float(b.attrib["x"]), float(b.attrib["y"])) for b in boxes if b is not None]
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert len(places) == 2 and len(set(places)) == 2
    for i, (x, y) in enumerate(places):
        assert x >= 0 and x + 230 <= width and y >= 0 and y + 34 <= height
        assert all(abs(x - a) >= 230 or abs(y - b) >= 34 for a, b in places[:i])
    again = by_folder(Answers(first.reports).graph, 2)
    assert svg(again).encode() == target.read_bytes() and dot(again) == dot(again)


def test_a_large_picture_shows_the_strongest_uses() -> None:
    names = [f"p.m{n}" for n in range(12)]
    links = {(one, two): 1 + (i * j) % 7 for i, one in enumerate(names) for j, two in enumerate(names) if one != two}
    folders = Folders(dict.fromkeys(names, (1, 10)), links, frozenset(names[:1]))
    text = svg(folders)
    assert text.count("<path d=") - 1 == 3 * len(names) and f"36 of {len(links)}; the DOT has all" in text
    strongest = max(links[names[1], two] for two in names if two != names[1])
    assert f": {strongest} imports" in text and dot(folders).count(" -> ") == len(links)
