"""``prune matrix``: one row a release, the worst exit code, the same bytes but for what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pruner.cli import main
from tests.releases.conftest import SHOP, write_release


def releases(base: Path) -> list[str]:
    return [str(write_release(base / name, name == "two")) for name in ("one", "two")]


def stripped(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_bytes())
    for row in document["releases"]:
        assert row["measured"]["seconds"] > 0 and row["measured"]["peak_mib"] > 10
        row["measured"] = {}
    return document


def test_two_releases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = releases(tmp_path)
    arguments = ["matrix", *names, "--rules", str(SHOP / "rules.yaml"), "-j", "1", "--cache", str(tmp_path / "cache")]
    assert main([*arguments, "--output", str(tmp_path / "m")]) == 0
    out = capsys.readouterr().out
    assert out == (tmp_path / "m" / "matrix.md").read_text()
    assert "`rules.yaml` on 2 releases, the same digest of rules in all: 2 clean." in out
    document = stripped(tmp_path / "m" / "matrix.json")
    one, two = document["releases"]
    assert one["python"]["lines"]["before"] < two["python"]["lines"]["before"]
    assert [row["result"] for row in (one, two)] == ["clean", "clean"]
    assert str(tmp_path) not in json.dumps(document)
    for name in ("one", "two"):
        assert (tmp_path / "m" / name / "generated" / "PRUNED.json").is_file()
        assert (tmp_path / "m" / name / "reports" / "report.json").is_file()
    assert main([*arguments, "--output", str(tmp_path / "m")]) == 0
    assert stripped(tmp_path / "m" / "matrix.json") == document


def test_the_worst_release_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = tmp_path / "rules.yaml"
    extra = "\n  - id: shop.later\n    because: Only the second release has it.\n"
    extra += "    assume: {shop.config.is_initech(): false}\n"
    rules.write_text((SHOP / "rules.yaml").read_text() + extra)
    names = [*releases(tmp_path), str(tmp_path / "nowhere")]
    arguments = ["matrix", *names, "--rules", str(rules), "-j", "1", "--cache", str(tmp_path / "cache")]
    assert main([*arguments, "--output", str(tmp_path / "m")]) == 2
    document = stripped(tmp_path / "m" / "matrix.json")
    assert [row["result"] for row in document["releases"]] == ["findings", "clean", "cannot run"]
    assert "nowhere" in document["releases"][2]["message"]
    assert "## nowhere: cannot run" in capsys.readouterr().out


def test_a_release_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "0.5.7", "x/0.5.7", "--output", str(tmp_path / "m")]) == 2
    assert "PR309" in capsys.readouterr().err


def test_a_refuted_release_says_what_refuted_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its reports lie beside those of the last good run; the table had the last line of its log in their place."""
    rules = tmp_path / "rules.yaml"
    extra = "\n  - id: shop.none\n    because: It must be gone.\n    discard: [shop.config]\n"
    rules.write_text((SHOP / "rules.yaml").read_text() + extra)
    names = releases(tmp_path)[:1]
    arguments = ["matrix", *names, "--rules", str(rules), "-j", "1", "--cache", str(tmp_path / "cache")]
    for _ in range(2):
        assert main([*arguments, "--output", str(tmp_path / "m")]) == 3
        (row,) = stripped(tmp_path / "m" / "matrix.json")["releases"]
        assert row["result"] == "refuted" and row["message"] == "" and row["python"]["lines"]["before"] > 0
        assert any("shop/config.py" in text and "shop.none" in text for text in row["refuted"])
        assert "discarded by shop.none" in capsys.readouterr().out
    rules.write_text((SHOP / "rules.yaml").read_text())
    assert main([*arguments, "--output", str(tmp_path / "m")]) == 0
    assert "refuted" not in stripped(tmp_path / "m" / "matrix.json")["releases"][0]["result"]
