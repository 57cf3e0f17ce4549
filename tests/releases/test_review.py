"""``prune hygiene`` and ``prune review``: drift is loud, located, and in the formats that reviewers' tools read."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pruner.cli import main
from pruner.model import Finding
from pruner.pipeline.change.side import Side
from pruner.pipeline.hygiene import hygiene, read_known
from pruner.pipeline.review import MEANINGS, Limits, Repository, review
from pruner.pipeline.stored import generated_line
from pruner.pipeline.suspects import suspects
from pruner.report.comment import LONGEST, comment
from pruner.report.sarif import sarif, workflow_lines
from tests.releases.conftest import SHOP, Release, prune_into

SCHEMA = json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_bytes())
KNOWN = [("initech", "a vendor of ours")]


def test_a_new_vendor_is_a_finding_with_a_rule_to_paste(
    second: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["hygiene", str(second.reports)]) == 1
    out, err = capsys.readouterr()
    assert "PR511: initech looks like a platform" in err and "shop/config.py:" in err
    pasted = (SHOP / "rules.yaml").read_text() + "\n" + out.partition("rules:\n")[2].partition("\n# or")[0]
    rules = tmp_path / "rules.yaml"
    rules.write_text(pasted)
    again = prune_into(tmp_path, second.upstream, rules)
    assert main(["hygiene", str(again.reports)]) == 0
    assert "raise ValueError" not in (again.output / "shop" / "checkout.py").read_text(), "the rule decides it"


def test_the_first_release_has_none(first: Release) -> None:
    assert main(["hygiene", str(first.reports)]) == 0


def test_a_known_name_is_none(second: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = tmp_path / "known.txt"
    known.write_text("# vendors\ninit*: a vendor of ours\n")
    assert main(["hygiene", str(second.reports), "--known", str(known)]) == 0
    known.write_text("\ninitech\n")
    assert main(["hygiene", str(second.reports), "--known", str(known)]) == 2
    assert f"{known}:2:1: error PR510" in capsys.readouterr().err


def test_the_shipped_list_can_be_read() -> None:
    rows = read_known(SHOP.parents[1] / "rules" / "known-names.txt")
    assert len(rows) > 10 and all(reason for _, reason in rows)


def test_rules_that_no_run_used(first: Release, second: Release, tmp_path: Path) -> None:
    findings, _ = hygiene([Side(first.reports), Side(second.reports)], KNOWN)
    assert findings == []
    rules = tmp_path / "rules.yaml"
    extra = (
        "\n  - id: shop.idle\n    because: Nothing.\n    optional: true\n    assume: {shop.config.is_hooli(): false}\n"
    )
    rules.write_text((SHOP / "rules.yaml").read_text() + extra)
    sides = [
        Side(prune_into(tmp_path / name, up, rules).reports)
        for name, up in (("a", first.upstream), ("b", second.upstream))
    ]
    findings, _ = hygiene(sides, KNOWN)
    assert [(row.code, row.text.split()[1]) for row in findings] == [("PR512", "shop.idle")]
    assert hygiene(sides[:1], KNOWN)[0] == [], "in one release a rule for another has nothing to do"


def test_entries_that_allow_nothing(first: Release, second: Release, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    extra = """
  - {id: shop.nobody, because: It is gone., discard: ["name:nobody_has_it"]}
  - id: shop.nobody.known
    because: Seen.
    optional: true
    allow:
      - {path: "*", name: "nobody_*", reason: Nobody.}
      - {path: "*", name: "nobody_*", until: "0.0.1", reason: Of another release.}
"""
    rules.write_text(
        (SHOP / "rules.yaml").read_text() + extra.replace("because: It is gone.", "because: So., optional: true")
    )
    side = Side(prune_into(tmp_path / "a", first.upstream, rules).reports)
    findings, _ = hygiene([side], KNOWN)
    assert [(row.code, row.text.split()[1]) for row in findings] == [("PR516", "shop.nobody.known")]
    assert hygiene([side], [*KNOWN, ("shop.nobody.*", "meant")])[0] == []


def test_suspects_are_ranked(second: Release) -> None:
    rows = suspects(Side(second.reports), [])
    assert rows[0].word == "initech" and "shop.config.is_initech()" in rows[0].assume
    assert [r.score for r in rows] == sorted((r.score for r in rows), reverse=True)


def test_review_of_a_new_release(
    first: Release, second: Release, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, page = tmp_path / "prune.sarif", tmp_path / "comment.md"
    arguments = ["review", "--base", str(first.reports), "--reports", str(second.reports)]
    assert main([*arguments, "--sarif", str(log), "--markdown", str(page), "--annotations", "--moved", "1"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert all(re.match(r"::(warning|error) (file=[^,:]+,)?(line=\d+,)?title=PR\d{3}::.", line) for line in lines)
    assert any("file=shop/config.py" in line and "title=PR511" in line for line in lines)
    assert any("title=PR513" in line for line in lines), "the share moved by more than a point"
    text = page.read_text()
    assert text.startswith("## prune: look at the findings\n") and "| `initech` |" in text
    assert "shop.config.is_initech(): false" in text and len(text) <= LONGEST
    document = json.loads(log.read_bytes())
    jsonschema.validate(document, SCHEMA)
    (run,) = document["runs"]
    assert (
        {row["ruleId"] for row in run["results"]}
        == {"PR511", "PR513"}
        == {r["id"] for r in run["tool"]["driver"]["rules"]}
    )
    again = tmp_path / "again.sarif"
    main([*arguments, "--sarif", str(again), "--markdown", str(page), "--moved", "1"])
    assert again.read_bytes() == log.read_bytes()


def test_a_run_in_order(first: Release, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "--base", str(first.reports), "--reports", str(first.reports), "--grown", "0"]) == 0
    assert capsys.readouterr().out.startswith("## prune: clean\n")


def test_limits(first: Release, second: Release) -> None:
    wide = Limits(moved=100)
    assert review(first.reports, second.reports, KNOWN, wide).exit_code == 0
    grown = review(first.reports, second.reports, KNOWN, Limits(moved=100, grown=5))
    assert [row.code for row in grown.findings] == ["PR514"] and grown.exit_code == 1


def test_lost_capabilities(first: Release, tmp_path: Path) -> None:
    rules = tmp_path / "rules.yaml"
    text = (SHOP / "rules.yaml").read_text()
    rules.write_text(text.replace('FORMATS[xml]"]', 'FORMATS[text]"]'))
    other = prune_into(tmp_path, first.upstream, rules, ["PR243"])  # it is the option's default
    found = review(first.reports, other.reports, KNOWN, Limits(moved=100))
    assert [row.code for row in found.findings] == ["PR243", "PR515"]
    assert "choice FORMATS[text]" in found.findings[1].text
    allowed = review(first.reports, other.reports, KNOWN, Limits(moved=100, lost=1))
    assert [row.code for row in allowed.findings] == ["PR243"]


def test_refuted_is_three(first: Release, tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    shutil.copytree(first.reports, reports)
    document: dict[str, Any] = json.loads((reports / "report.json").read_bytes())
    document["verdicts"][0] |= {"result": "refuted", "details": ["shop/order.py:12: it is gone"]}
    (reports / "report.json").write_text(json.dumps(document))
    found = review(first.reports, reports, KNOWN, Limits())
    assert found.exit_code == 3
    (row,) = found.findings
    assert (row.code, row.path, row.line) == ("PR410", "shop/order.py", 12)
    log = sarif(found.findings, MEANINGS)
    jsonschema.validate(log, SCHEMA)
    assert log["runs"][0]["results"][0]["level"] == "error"
    assert "refuted, do not ship" in comment(found.document, found.findings, 3, [])


def test_names_that_need_escaping() -> None:
    row = Finding("PR511", "a dir/ö,b:c.py", 3, "100% of\nit", "x")
    assert workflow_lines([row]) == ["::warning file=a dir/ö%2Cb%3Ac.py,line=3,title=PR511::100%25 of%0Ait; x"]
    log = sarif([row, Finding("PR012", "", 0, "t")], MEANINGS)
    jsonschema.validate(log, SCHEMA)
    assert (
        log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        == "a%20dir/%C3%B6%2Cb%3Ac.py"
    )


def test_findings_are_placed_where_the_repository_holds_them(first: Release, second: Release) -> None:
    """Lines of the tree, not of upstream; the rule files' folder; what went is in no file."""
    found = review(first.reports, second.reports, [], Limits(moved=1), Repository("gen/tree/", "rules"))
    places = {row.code: (row.path, row.line) for row in found.findings}
    assert places["PR513"] == ("gen/tree/PRUNED.json", 0)
    path, line = places["PR511"]
    assert path == "gen/tree/shop/config.py"
    text = (second.output / "shop" / "config.py").read_text().splitlines()
    assert "is_initech" in text[line - 1]
    head = Side(second.reports)
    graph = {"maps": {"a.py": [[3, 10, 2], [6, 20, 1]]}}
    wanted = {10: 3, 11: 4, 12: 4, 20: 6, 99: 6, 5: 1}
    assert {line: generated_line(graph, "a.py", line) for line in wanted} == wanted
    assert "shop/vendors/globex.py" in head.removed_files


def test_a_comment_is_bounded(first: Release, second: Release) -> None:
    found = review(first.reports, second.reports, [], Limits())
    big = dict(found.document)
    big["growth"] = [{"node": "n" * 90, "grown": 1, "retained": 1, "held_by": "h" * 9000, "by": None}] * 12
    many = [Finding("PR511", "p" * 200, 1, "t" * 290, "a" * 290)] * 90
    assert len(comment(big, many, 1, ["r" * 3000])) < 65_536
