"""The document, the ledger, the manifest, the pages."""

from __future__ import annotations

import copy
import json
import pickle
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pruner import report
from pruner.errors import PruneError
from pruner.model import Cause, Edit, Finding, Outcome, Policy, Removal, Snapshot
from pruner.report.count import cause_key, language_of
from pruner.report.ledger import ledger_markdown
from pruner.report.paths import RuleFiles, folder_of

from .trees import (
    DROP,
    FACT,
    NOTICE,
    ORPHAN,
    UNREACHED,
    VERDICTS,
    Item,
    a_policy,
    edits_of,
    outcome_of,
    snapshot,
    write,
)

SECRET = b"do_not_quote_me"
MAIN = b"# licence\nimport a\nif hip():\n    " + SECRET + b"()\nelse:\n    b()\nend = 1\n"
TREE: dict[str, bytes | Item] = {
    "pkg/__init__.py": b"",
    "pkg/srt/main.py": MAIN,
    "pkg/srt/layers/moe/x.py": SECRET + b"\n\n\n",
    "pkg/srt/layers/moe/conf.json": b"{}\n",
    "pkg/srt/layers/moe/old.json": b"{\n}\n",
    "pkg/kernels/a.cu": b"1\n2\n3",
    "pkg/kernels/_core.so": b"\0\n\n\n",
    "pkg/models/llama|pipe.py": b"1\n2\n3\n4\n",
    "pkg/LINK": Item(b"__init__.py", link=True),
    "pyproject.toml": b"1\n2\n",
}
EXTRA = {"PRUNED.json": b"1\n2\n3\n", "pyproject.toml": b"1\n2\n3\n"}


@pytest.fixture
def snap(tmp_path: Path) -> Snapshot:
    write(tmp_path / "secret-home" / "up", TREE)
    return snapshot(tmp_path / "secret-home" / "up")


def an_outcome(snap: Snapshot) -> Outcome:
    two = Cause("unreached", ("nvidia.hip", "deepseek.models"), ("only pkg.models.llama imported it",))
    edits = edits_of(
        MAIN,
        (b"# licence\n", b"# licence\n# changed\n", NOTICE),
        (b"import a\n", b"", ORPHAN),
        (b"if hip():\n    " + SECRET + b"()\nelse:\n    b()\n", b"b()\n", FACT),
    )
    return outcome_of(
        snap,
        removed={
            "pkg/srt/layers/moe/x.py": UNREACHED,
            "pkg/srt/layers/moe/old.json": two,
            "pkg/kernels/a.cu": UNREACHED,
            "pkg/kernels/_core.so": UNREACHED,
            "pkg/models/llama|pipe.py": DROP,
            "pkg/LINK": ORPHAN,
        },
        edits={"pkg/srt/main.py": edits},
        rows=(
            Removal("pkg/srt/main.py", 3, 6, "branch", "", FACT),
            Removal("pkg/srt/main.py", 2, 2, "import", "a", ORPHAN),
            Removal("pkg/srt/main.py", 7, 7, "function", "pkg.srt.main.f", FACT),
        ),
        findings=(Finding("PR210", "pkg/srt/main.py", 9, "a rebinding", "look"), Finding("PR201", "a.py", 1, "x")),
        folds={"nvidia.hip": 1},
    )


def a_document(snap: Snapshot, outcome: Outcome | None = None) -> dict[str, Any]:
    return report.build(snap, a_policy(), outcome or an_outcome(snap), VERDICTS, extra=EXTRA)


def rows(document: dict[str, Any], table: str, key: str) -> dict[str, dict[str, Any]]:
    return {row[key]: row for row in document[table]}


def test_document_fits_its_schema(snap: Snapshot) -> None:
    jsonschema.Draft202012Validator.check_schema(report.schema())
    jsonschema.validate(a_document(snap), report.schema())
    policy = Policy(digest="0" * 64)
    jsonschema.validate(report.build(snap, policy, outcome_of(snap), ()), report.schema())
    capable = report.build(snap, policy, outcome_of(snap), (), capabilities={"rows": []})
    jsonschema.validate(capable, report.schema())


@pytest.mark.parametrize("key", ["schema", "totals", "ledger", "verdicts"])
def test_schema_refuses_a_document_without(snap: Snapshot, key: str) -> None:
    document = a_document(snap)
    del document[key]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, report.schema())


def test_schema_refuses_seconds_and_absolute_paths(snap: Snapshot) -> None:
    document = a_document(snap)
    timed = copy.deepcopy(document)
    timed["verdicts"][0]["seconds"] = 1.0
    absolute = copy.deepcopy(document)
    absolute["policy"]["files"] = ["/home/x/rules.yaml"]
    for wrong in (timed, absolute):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, report.schema())


def test_counts_by_language(snap: Snapshot) -> None:
    table = rows(a_document(snap), "by_language", "language")
    got = {
        name: (*(row["files"][k] for k in ("before", "after")), *(row["lines"][k] for k in ("before", "after")))
        for name, row in table.items()
    }
    assert got == {
        "Python": (4, 2, 7 + 3 + 4, 4),
        "JSON": (2, 2, 1 + 2, 1 + 3),
        "CUDA": (1, 0, 2, 0),  # `wc -l`: the last line has no line feed
        "TOML": (1, 1, 2, 3),
        "binary": (1, 0, 0, 0),
        "link": (1, 0, 0, 0),
    }
    assert table["binary"]["bytes"] == {"before": 4, "after": 0}


def test_generated_files_count_by_their_language(snap: Snapshot) -> None:
    extra = {"a/x.py": b"1\n2\n", "a/logo.png": b"\n\n\n"}
    document = report.build(snap, a_policy(), outcome_of(snap), (), extra=extra)
    table = rows(document, "by_language", "language")
    assert table["Python"]["lines"] == {"before": 14, "after": 16}
    assert table["binary"]["lines"] == {"before": 0, "after": 0} and table["binary"]["bytes"]["after"] == 4 + 3


def test_counts_by_folder(snap: Snapshot) -> None:
    table = rows(a_document(snap), "by_folder", "folder")
    assert {name: (row["lines"]["before"], row["lines"]["after"]) for name, row in table.items()} == {
        ".": (2, 6),
        "pkg": (0, 0),
        "pkg/srt": (7, 4),
        "pkg/srt/layers": (6, 1),
        "pkg/kernels": (2, 0),
        "pkg/models": (4, 0),
    }


def test_counts_by_cause(snap: Snapshot) -> None:
    table = rows(a_document(snap), "by_cause", "cause")
    assert {name: (row["removed"], row["added"], row["files"], row["edited_files"]) for name, row in table.items()} == {
        "unreached": (3 + 2 + 2, 0, 4, 0),
        "fact:nvidia.hip": (4, 1, 0, 1),
        "rule:deepseek.models": (4, 0, 1, 0),
        "orphan": (1, 0, 1, 1),
        "notice": (1, 2, 0, 1),
        "generated": (2, 3 + 3, 0, 2),
    }


def test_every_table_adds_up(snap: Snapshot) -> None:
    document = a_document(snap)
    for figure in ("files", "lines", "bytes"):
        for side in ("before", "after"):
            total = document["totals"][figure][side]
            for table in ("by_folder", "by_language"):
                assert sum(row[figure][side] for row in document[table]) == total, (table, figure, side)
    net = sum(row["removed"] - row["added"] for row in document["by_cause"])
    assert net == document["totals"]["lines"]["before"] - document["totals"]["lines"]["after"]
    totals = document["totals"]
    words = [totals[f"{word}_files"] for word in ("removed", "edited", "untouched")]
    assert words == [6, 2, 2] and sum(words) == totals["files"]["before"]
    assert totals["added_files"] == 1


def test_rules_count_what_names_them(snap: Snapshot) -> None:
    table = rows(a_document(snap), "rules", "id")
    assert [*table] == ["deepseek.models", "nvidia.hip", "nvidia.sm"]
    hip = table["nvidia.hip"]
    assert (hip["folds"], hip["removals"], hip["lines"]) == (1, 3, 4 + 2)
    assert hip["location"] == "rules/nvidia.yaml:14"
    assert (table["deepseek.models"]["removals"], table["deepseek.models"]["lines"]) == (2, 4 + 2)
    assert (table["nvidia.sm"]["folds"], table["nvidia.sm"]["removals"], table["nvidia.sm"]["lines"]) == (0, 0, 0)


def test_findings_are_sorted_and_verdicts_have_no_seconds(snap: Snapshot) -> None:
    document = a_document(snap)
    assert [row["code"] for row in document["findings"]] == ["PR201", "PR210"]
    assert [row["check"] for row in document["verdicts"]] == ["compile", "imports", "gpu"]
    assert "seconds" not in json.dumps(document)
    assert document["removed"] == {"branch": 1, "file": 6, "function": 1, "import": 1}
    assert document["removed_definitions"] == {"class": 0, "function": 1, "method": 0, "variable": 0}


def render(snap: Snapshot, outcome: Outcome, folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    report.render(a_document(snap, outcome), snap, outcome, folder, extra=EXTRA)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_rendered_files(snap: Snapshot, tmp_path: Path) -> None:
    files = render(snap, an_outcome(snap), tmp_path / "out")
    assert {"changes.diff", "ledger.json", "ledger.md", "report.json", "report.md"} <= set(files)
    document = json.loads(files["report.json"])
    assert document == a_document(snap)
    assert files["report.json"] == json.dumps(document, indent=1, sort_keys=True).encode() + b"\n"
    assert document["ledger"]["sha256"] == sha256(files["ledger.json"]).hexdigest()
    ledger = json.loads(files["ledger.json"])
    assert document["ledger"]["rows"] == len(ledger["removals"]) == 9
    row = next(row for row in ledger["removals"] if row["what"] == "branch")
    assert row == {
        "path": "pkg/srt/main.py",
        "lines": [3, 6],
        "what": "branch",
        "name": "",
        "cause": {"kind": "fact", "rules": ["nvidia.hip"], "chain": ["is_hip() is false by nvidia.hip"]},
    }
    main = next(row for row in ledger["files"] if row["path"] == "pkg/srt/main.py")
    assert main["lines"] == [7, 4] and len(main["causes"]) == 3


def test_no_source_text_and_no_machine_in_the_reports(snap: Snapshot, tmp_path: Path) -> None:
    for name, data in render(snap, an_outcome(snap), tmp_path / "out").items():
        assert b"secret-home" not in data, name
        assert name == "changes.diff" or SECRET not in data, name


def test_same_bytes_from_another_folder_and_another_order(snap: Snapshot, tmp_path: Path) -> None:
    first = render(snap, an_outcome(snap), tmp_path / "one")
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(snap.root, elsewhere, symlinks=True)
    again = snapshot(elsewhere)
    outcome = an_outcome(again)
    outcome.removals = tuple(reversed(outcome.removals))
    outcome.findings = tuple(reversed(outcome.findings))
    outcome.files = dict(reversed(outcome.files.items()))
    assert render(again, outcome, tmp_path / "two") == first


def test_pages_name_what_a_reader_asks_for(snap: Snapshot, tmp_path: Path) -> None:
    files = render(snap, an_outcome(snap), tmp_path / "out")
    page = files["report.md"].decode()
    for text in (
        "pkg 1.0 (wheel)",
        "| Python lines | 14 → 4 (28.6% kept) |",
        "| `rule:deepseek.models` | 4 | 0 | 1 | 0 |",
        "| `pkg/srt/layers` | 3 | 1 | 6 | 1 | 5 | 16.7% |",
        "1 passed, 1 refuted, 1 not run",
        "- pkg/a.py:3: no module pkg.b",
        "a rebinding",
    ):
        assert text in page
    ledger = files["ledger.md"].decode()
    assert "`pkg/models/llama\\|pipe.py`" in ledger and "`ledger.json`" in ledger
    assert "## Capabilities" not in page


def test_ledger_page_is_bounded() -> None:
    many = [Removal(f"p/a{n % 200}/b/f{n}.py", 1, n, "file", "", UNREACHED) for n in range(20_000)]
    page = ledger_markdown(many, "")
    assert page.count("\n") < 60 * 30
    assert "140 more folders with 14,000 removals" in page
    assert "80 more in `ledger.json`" in page


def test_capability_hook(snap: Snapshot, tmp_path: Path) -> None:
    outcome = outcome_of(snap)
    rows_ = [{"kind": "attention", "kept": 9, "dropped": 12}]
    document = report.build(snap, a_policy(), outcome, (), capabilities={"rows": rows_})
    (tmp_path / "out").mkdir()
    report.render(document, snap, outcome, tmp_path / "out")
    assert "| attention | 9 | 12 |" in (tmp_path / "out" / "report.md").read_text()


def test_manifest(snap: Snapshot) -> None:
    text = report.manifest(snap, a_policy(), an_outcome(snap))
    found = json.loads(text)
    assert found["files"] == {
        "pkg/__init__.py": True,
        "pkg/srt/layers/moe/conf.json": True,
        "pkg/srt/main.py": [[1, 1]],
        "pyproject.toml": True,
    }
    assert found["facts"] == [
        {"subject": "pkg.common.is_hip()", "rule": "nvidia.hip", "location": "rules/nvidia.yaml:14", "values": [False]},
        {"subject": "pkg.common.sm()", "rule": "nvidia.sm", "location": "rules/nvidia.yaml:30", "range": [90, None]},
    ]
    assert found["upstream"]["snapshot"] == snap.digest and found["rules"]["digest"] == "cd" * 32
    assert found["guards"] == []
    assert SECRET not in text and b"secret-home" not in text
    assert list(found) == sorted(found)


def test_summary_rows(snap: Snapshot) -> None:
    found = dict(report.summary(a_document(snap)))
    assert found["upstream"] == "pkg 1.0 (wheel)"
    assert found["rules"] == "3 (2 removed something)"
    assert found["Python lines"] == "14 → 4 (28.6% kept)"
    assert found["files"] == "2 untouched, 2 edited, 6 removed, 1 added"
    assert found["checks"] == "1 passed, 1 refuted, 1 not run"
    unchecked = report.build(snap, a_policy(), outcome_of(snap), ())
    assert dict(report.summary(unchecked))["checks"] == "not run"


def test_an_unaccounted_file_is_our_fault(snap: Snapshot) -> None:
    outcome = an_outcome(snap)
    outcome.removals = tuple(row for row in outcome.removals if row.path != "pkg/kernels/a.cu")
    with pytest.raises(ValueError, match=r"a\.cu: removed without a ledger row"):
        a_document(snap, outcome)


def test_unaccounted_lines_are_our_fault(snap: Snapshot) -> None:
    outcome = an_outcome(snap)
    outcome.edits["pkg/srt/main.py"] = (Edit(0, 1, b"", FACT),)
    with pytest.raises(ValueError, match="do not account for the lines"):
        a_document(snap, outcome)


def test_a_document_of_another_outcome_is_not_rendered(snap: Snapshot, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="another outcome"):
        report.render(a_document(snap), snap, outcome_of(snap), tmp_path)


@pytest.mark.parametrize("case", ["full", "missing", "file"])
def test_report_folder_must_be_empty(snap: Snapshot, tmp_path: Path, case: str) -> None:
    folder = tmp_path / "out"
    if case == "full":
        folder.mkdir()
        (folder / "mine.txt").write_text("keep me")
    elif case == "file":
        folder.write_text("a file")
    with pytest.raises(PruneError, match="PR501"):
        report.render(a_document(snap), snap, an_outcome(snap), folder, extra=EXTRA)
    if case == "full":
        assert [path.name for path in folder.iterdir()] == ["mine.txt"]


def test_document_of_another_version(snap: Snapshot, tmp_path: Path) -> None:
    with pytest.raises(PruneError, match="PR503"):
        report.render(a_document(snap) | {"schema": "prune-report/9"}, snap, an_outcome(snap), tmp_path)


def test_upstream_that_changes_under_us(snap: Snapshot) -> None:
    """What was read before is what is counted; a file that was not read yet is another one now."""
    outcome = an_outcome(snap)
    a_document(snap, outcome)
    snap = pickle.loads(pickle.dumps(snap))
    (snap.root / "pkg/srt/main.py").write_bytes(b"shorter\n")
    with pytest.raises(PruneError, match=r"pkg/srt/main.py: error PR502: .* 8 bytes now"):
        a_document(snap, outcome)
    (snap.root / "pkg/srt/main.py").unlink()
    with pytest.raises(PruneError, match="PR502"):
        a_document(snap, outcome)


def test_cause_keys() -> None:
    assert cause_key("fact", ("a", "b")) == "fact:a"
    assert cause_key("fact", ()) == "fact"
    assert cause_key("unreached", ("a",)) == "unreached"


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "Python"),
        ("b.pyi", "Python"),
        ("x.CUH", "CUDA"),
        ("t.jinja", "Jinja"),
        ("t.jinja2", "Jinja"),
        ("CMakeLists.txt", "CMake"),
        ("LICENSE", "other"),
        (".gitignore", "other"),
        ("a.b/c", "other"),
        ("_core.cpython-311-x86_64-linux-gnu.so", "binary"),
    ],
)
def test_languages(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("path", "root", "folder"),
    [
        ("a.py", "", "."),
        ("p/a.py", "", "p"),
        ("p/q/r/s/a.py", "", "p/q/r"),
        ("python/p/q/r/s/a.py", "python", "python/p/q/r"),
        ("docs/a/b/c/d.md", "python", "docs/a/b"),
    ],
)
def test_folders(path: str, root: str, folder: str) -> None:
    assert folder_of(path, root) == folder


def test_absolute_rule_files_lose_the_machine() -> None:
    names = RuleFiles(["/home/ann/p/rules/a.yaml", "/home/ann/p/rules/profiles/b.yaml"])
    assert names.name("/home/ann/p/rules/a.yaml") == "rules/a.yaml"
    assert names.name("/home/ann/p/rules/profiles/b.yaml") == "rules/profiles/b.yaml"
    assert RuleFiles(["rules/a.yaml"]).name("rules/a.yaml") == "rules/a.yaml"
    assert RuleFiles(["/x/only.yaml"]).name("/x/only.yaml") == "x/only.yaml"
    assert RuleFiles([]).name("/y/lost.yaml") == "lost.yaml"


def test_rules_are_looked_up_by_id_only(snap: Snapshot) -> None:
    """A cause that names a rule of no rule file still counts by cause; it has no row of its own."""
    outcome = outcome_of(snap, removed={"pkg/kernels/a.cu": Cause("rule", ("cli.drop",))})
    document = a_document(snap, outcome)
    assert "rule:cli.drop" in rows(document, "by_cause", "cause")
    assert "cli.drop" not in rows(document, "rules", "id")
