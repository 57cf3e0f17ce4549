"""The check ``discard`` on whole trees: words, what ``allow`` lets stay and how much of it, what the report is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner import report
from pruner.model import Verdict
from pruner.verify import run
from pruner.verify.discard import Families

UPSTREAM = '''\
"""Of qwen."""
_is_hip = probe()  # qwen
if _is_hip:
    use("_is_hip")


def is_qwen3_next(Qwen2Config):
    """qwen"""
    return {"a":
        "the qwen"}, [
        "QWEN",
    ]
'''
OUTPUT = UPSTREAM.replace('if _is_hip:\n    use("_is_hip")\n', "")
RULES = """\
rules:
  - {id: gone, because: It is gone., discard: ["name:_is_hip", "word:qwen*", "word:unused"]}
  - {id: known, because: Seen., allow: [%s]}
"""
ALL = "{path: [x.py, a*.py], name: ['word:qwen*', _is_hip], reason: Here.%s}, {path: b.py, name: x, reason: No.}"


def judged(folder: Path, allow: str) -> Verdict:
    for name, text in (("up", UPSTREAM), ("out", OUTPUT)):
        (folder / name).mkdir()
        (folder / name / "app.py").write_text(text)
    (folder / "rules.yaml").write_text(RULES % allow)
    return run(folder / "up", folder / "out", [folder / "rules.yaml"], jobs=1, checks=["discard"])[0]


@pytest.mark.parametrize(
    ("names", "in_them"),
    [
        ("qwen QWEN Qwen3 is_qwen3 Qwen2Config qwen2_moe myQwen", "word:qwen*"),
        ("shipping chips hipster HIPster", ""),
        ("is_hip HIP_HOME forward_hip HipBackend hip2", "word:hip"),
        ("gpt_oss GPT_OSS is_gpt_oss_", "word:gpt_oss"),
        ("gptoss gpt_ossified", ""),
        ("_is_hip", "name:_is_hip"),
        ("XPUGraph is_xpu", "word:xpu"),
        ("XPUB_VERBOSE", ""),
    ],
)
def test_a_word_is_a_part_of_a_name(names: str, in_them: str) -> None:
    families = Families(["name:_is_hip", "word:qwen*", "word:hip", "word:gpt_oss", "word:xpu"])
    for name in names.split():
        assert (in_them in families.of(name)) if in_them else not families.of(name), name


def test_what_is_left_is_refuted_with_its_line(tmp_path: Path) -> None:
    found = judged(tmp_path, "")
    assert found.result == "refuted"
    assert [text.split()[0] + text.split()[1] for text in found.details] == [
        "app.py:2:_is_hip",
        "app.py:5:Qwen2Config",
        "app.py:5:is_qwen3_next",
        "app.py:8:qwen",
        "app.py:9:QWEN",
    ]


def test_what_is_allowed_passes_and_is_counted(tmp_path: Path) -> None:
    found = judged(tmp_path, ALL % "")
    assert found.result == "passed", found.details
    assert "5 allowed by 1 of 2 entries; _is_hip 3->1" in found.covered
    assert found.figures["names"] == [{"name": "_is_hip", "before": 3, "after": 1}]
    assert [(row["target"], row["names"], row["after"]) for row in found.figures["families"]] == [
        ("name:_is_hip", 1, 1),
        ("word:qwen*", 4, 4),
        ("word:unused", 0, 0),
    ]
    assert [(row["names"], row["count"]) for row in found.figures["allowed"]] == [(5, 5), (0, 0)]


@pytest.mark.parametrize(("rule", "result"), [("gone", "passed"), ("other", "refuted")])
def test_an_entry_may_name_a_rule(tmp_path: Path, rule: str, result: str) -> None:
    assert judged(tmp_path, f"{{path: '*', name: 'rule:{rule}', reason: So.}}").result == result


@pytest.mark.parametrize(("most", "result"), [(5, "passed"), (4, "refuted")])
def test_an_entry_cannot_grow(tmp_path: Path, most: int, result: str) -> None:
    found = judged(tmp_path, ALL % f", most: {most}")
    assert found.result == result
    assert most == 5 or found.details == ("known: 5 names where word:qwen*, _is_hip in x.py, a*.py may be 4",)


def test_an_entry_speaks_of_its_releases(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    for name in ("up", "out"):
        (tmp_path / "here" / name / "app-1.2.dist-info").mkdir(parents=True)
        (tmp_path / "here" / name / "app-1.2.dist-info" / "METADATA").write_text("Version: 1.2\n")
        (tmp_path / "here" / name / "app.py").write_text(UPSTREAM)
    for window, result in (("until: '1.2'", "refuted"), ("since: '1.2'", "passed")):
        (tmp_path / "rules.yaml").write_text(RULES % (ALL % f", {window}"))
        folder = tmp_path / "here"
        found = run(folder / "up", folder / "out", [tmp_path / "rules.yaml"], jobs=1, checks=["discard"])[0]
        assert found.result == result


def test_the_schema_of_the_report_knows_the_figures(tmp_path: Path) -> None:
    shape = report.schema()["properties"]["residue"]["properties"]
    figures = judged(tmp_path, ALL % "").figures
    assert set(figures) == set(shape)
    for part, rows in figures.items():
        assert all(set(row) == set(shape[part]["items"]["properties"]) for row in rows)


WORDS = """\
rules:
  - {id: gone, because: It is gone., discard: ["word:qwen*"]}
  - {id: known, because: Seen., allow: [{path: b.py, name: x, most: 1, reason: No.}]}
"""
EXTENDING = {
    "keeps more": ("rules: [{id: wide, because: Wanted., keep: [app]}]", "passed"),
    "lifts": ("lift: [other]", "passed"),
    "states a fact": ("rules: [{id: more, because: So., assume: {app.probe(): false}}]", "refuted"),
    "extends": ("rules: []", "refuted"),
}


@pytest.mark.parametrize("case", EXTENDING)
def test_words_refute_nobody_who_keeps_more_than_the_file_that_discards_them(case: str, tmp_path: Path) -> None:
    for name, text in (("up", UPSTREAM), ("out", OUTPUT.replace("_is_hip", "flag"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.py").write_text(text)
    (tmp_path / "words.yaml").write_text(WORDS)
    text, result = EXTENDING[case]
    (tmp_path / "mine.yaml").write_text(f"extends: [words.yaml]\n{text}\n")
    (found,) = run(tmp_path / "up", tmp_path / "out", [tmp_path / "mine.yaml"], jobs=1, checks=["discard"])
    assert found.result == result, found


def test_whole_names_refute_whoever_keeps_more(tmp_path: Path) -> None:
    for name in ("up", "out"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.py").write_text(UPSTREAM)
    (tmp_path / "names.yaml").write_text(WORDS.replace("word:qwen*", "name:_is_hip"))
    (tmp_path / "mine.yaml").write_text("extends: [names.yaml]\nrules: [{id: wide, because: Wanted., keep: [app]}]\n")
    (found,) = run(tmp_path / "up", tmp_path / "out", [tmp_path / "mine.yaml"], jobs=1, checks=["discard"])
    assert found.result == "refuted", found


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('"qwen"\n', []),  # a statement of its own: a docstring
        ("def f(): r'qwen'\n", []),
        ('x = 1; "qwen"\n', []),
        ('("qwen")\n', []),
        ('x = {"a": "qwen"}\n', [1]),
        ('x = (\n  "qwen")\n', [2]),
        ('"""\na"""\nx = "qwen"\n', [3]),
        ('"no"; x = "qwen"\n', []),  # on the line of one
        ('f("# qwen")  # qwen\n"qwen", qwen\n', [1, 2, 2]),
        ('"""qwen"""\nqwen = """\nqwen\n"""\n', [2, 3]),
        ("'''\n# qwen'''; qwen\n", [2]),
        ("b'qwen'\n", [1]),  # bytes are no docstring
    ],
)
def test_strings_that_are_statements_do_not_count(text: str, lines: list[int]) -> None:
    found = Families(["word:qwen*"]).count(text.encode())
    assert sorted(line for (_, line), n in found.items() for _ in range(n)) == lines


def test_whole_names_are_found_as_words_are() -> None:
    """A file without a part of a name is not looked into; the names around a part are those that a walk would find."""
    text = b"_is_hip = x_is_hip + _is_hip2 + 2_is_hip + A_is_hip_is_hip.y  # _is_hip\n'_is_hip' '\xc3\xa4_is_hip'"
    for name in ("_is_hip", "_is_hip*", "*_is_hip", "*is_h*", "*", "nothing", "a.b"):
        alone, beside = Families([f"name:{name}"]), Families([f"name:{name}", "word:nowhere"])
        assert alone.count(text) == beside.count(text)
    assert Families(["name:_is_hip"]).totals(text)["_is_hip"] == 2
