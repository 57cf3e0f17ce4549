"""``prune diff``: from it alone one can say what appeared, what was newly kept and by which edge, what was lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pruner.cli import main
from pruner.pipeline.change import change
from tests.releases.conftest import SHOP, Release, prune_into


@pytest.fixture(scope="module")
def document(first: Release, second: Release) -> dict[str, Any]:
    return change(first.reports, second.reports)


def test_a_new_vendor_is_named_with_its_evidence(document: dict[str, Any]) -> None:
    (row,) = document["platforms"]
    assert row["word"] == "initech" and row["rules"] == "no rule" and row["company"]
    assert any("defined beside a predicate that the rules deny" in text for text in row["evidence"])
    assert {item["name"] for item in row["names"]} >= {"is_initech", "_is_initech"}
    assert [r["defined"] for r in document["predicates"]] == ["shop.config.is_initech()"]


def test_newly_kept_modules_come_with_their_edge(document: dict[str, Any]) -> None:
    rows = {m["module"]: (row["by"], m["was"]) for row in document["modules"]["newly_kept"] for m in row["modules"]}
    assert rows.keys() == {"shop.log"}
    by, was = rows["shop.log"]
    assert was == "not there" and by["at"].startswith("shop/checkout.py:")
    assert document["loads"] == [
        {"path": "shop/checkout.py", "callee": "import_module", "lines": document["loads"][0]["lines"], "before": 0}
    ]


def test_capabilities(document: dict[str, Any]) -> None:
    assert document["capabilities"]["offers"]["choice"] == {
        "before": 1,
        "after": 2,
        "gained": [{"name": "FORMATS[json]", "in": ["shop.receipts"]}],
        "lost_upstream": [],
        "lost_to_the_cut": [],
    }
    assert document["lines"] is None, "lines of two upstreams cannot be compared"


def test_the_other_way_round_is_a_loss(first: Release, second: Release) -> None:
    back = change(second.reports, first.reports)
    assert [row["module"] for row in back["modules"]["gone_upstream"]] == ["shop.log"]
    assert [row["name"] for row in back["capabilities"]["offers"]["choice"]["lost_upstream"]] == ["FORMATS[json]"]
    assert back["platforms"] == [] and back["loads"] == []


def test_a_run_and_itself(first: Release) -> None:
    same = change(first.reports, first.reports)
    empty = ("platforms", "predicates", "loads", "files", "lines", "growth")
    assert same["rules"] == {"moved": [], "ended": [], "begun": []}
    assert {key: same[key] for key in empty} == {key: [] for key in empty}
    assert same["modules"] == {"newly_kept": [], "why": [], "newly_removed": [], "gone_upstream": []}


def test_two_rule_sets_on_one_release(first: Release, tmp_path: Path) -> None:
    text = (SHOP / "rules.yaml").read_text().partition("  - id: shop.no-xml")[0]
    rules = tmp_path / "rules.yaml"
    rules.write_text(text + "  - id: shop.lean\n    because: No text.\n    drop: ['shop.receipts.FORMATS[text]']\n")
    other = prune_into(tmp_path, first.upstream, rules, ["PR243"])  # it is the option's default
    found = change(first.reports, other.reports)
    assert found["base"]["policy"] != found["head"]["policy"]
    choice = found["capabilities"]["offers"]["choice"]
    names = [[row["name"] for row in choice[key]] for key in ("gained", "lost_to_the_cut")]
    assert names == [["FORMATS[xml]"], ["FORMATS[text]"]]
    kept = {(r["what"], r["name"]) for r in found["definitions"]["newly_kept"]}
    assert ("function", "shop.receipts:as_xml") in kept
    lost = {r["name"]: r["cause"] for r in found["definitions"]["newly_removed"]}
    assert lost["shop.receipts:as_text"]["kind"] == "unreached"
    source = (first.upstream / "shop" / "receipts.py").read_text().splitlines()
    moved = {
        word: " ".join(
            source[number - 1]
            for row in found["lines"]
            if row["change"] == word and row["path"] == "shop/receipts.py"
            for number in range(row["lines"][0], row["lines"][1] + 1)
        )
        for word in ("newly kept", "newly removed")
    }
    assert "def as_xml" in moved["newly kept"] and "def as_text" not in moved["newly kept"]
    assert "def as_text" in moved["newly removed"] and "def as_xml" not in moved["newly removed"]
    assert [row["id"] for row in found["rules"]["begun"]] == ["shop.lean"]
    assert [row["id"] for row in found["rules"]["ended"]] == ["shop.no-xml", "shop.gone"]
    assert {r["name"]: r["removed_by"] for r in found["definitions"]["newly_kept"]}["shop.receipts:as_xml"] == [
        "shop.no-xml"
    ]


def test_the_page_and_the_file(
    first: Release, second: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "diff.json"
    assert main(["diff", str(first.reports), str(second.reports), "--output", str(target)]) == 0
    page = capsys.readouterr().out
    assert (
        "| `initech` | **nothing** |" in page
        and "`initech` (**no rule speaks of it**" in page
        and "`shop.log`" in page
        and "`FORMATS[json]`" in page
    )
    assert str(tmp_path) not in page
    assert json.loads(target.read_bytes()) == change(first.reports, second.reports)
    assert main(["diff", str(first.reports), str(tmp_path)]) == 2
    assert "PR307" in capsys.readouterr().err
    assert main(["diff", str(first.reports), str(second.reports), "--output", str(tmp_path / "no" / "file")]) == 2
    assert "PR310" in capsys.readouterr().err
