"""The table of capabilities against small trees: evidence, removals by rule, removals without one."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from pruner.errors import PruneError
from pruner.pipeline import RunOptions, run
from pruner.pipeline.answers import Answers
from pruner.policy import load
from pruner.verify import capabilities
from pruner.verify.catalogue import Catalogue

RULES = Path(__file__).resolve().parents[2] / "rules"

FILES: dict[str, str] = {
    "app/__init__.py": "",
    "app/main.py": "from app.quant import METHODS\nfrom app.back import BACKENDS\nfrom app.mode import Mode\nimport app.models.a\n"
    "def main(name):\n    return METHODS[name], BACKENDS, Mode\n",
    "app/quant.py": 'from app.plat import is_npu\n\nMETHODS = {"fp8": 1, "gguf": 2}\nMETHODS.update({"awq": 3})\n'
    'if is_npu():\n    METHODS.update({"npu4": 4})\n',
    "app/plat.py": "import os\n\n\ndef is_npu():\n    return 'NPU' in os.environ\n",
    "app/back.py": "BACKENDS = {}\n\n\ndef register(name):\n    def add(f):\n        BACKENDS[name] = f\n        return f\n\n    return add\n\n\n"
    '@register("triton")\ndef triton():\n    return 1\n\n\n@register("wave")\ndef wave():\n    return 2\n',
    "app/mode.py": 'import enum\n\n\nclass Mode(enum.Enum):\n    FAST = "fast"\n    SLOW = "slow"\n',
    "app/models/__init__.py": "",
    "app/models/a.py": "class A:\n    pass\n\n\nEntryClass = [A]\n",
    "app/models/b.py": "class B:\n    pass\n\n\nEntryClass = B\n",
    "app/spare.py": "def spare():\n    return 'spare word'\n",
}
TABLE = """\
kind,key,default,small,note
quant,fp8,keep,keep,
quant,gguf,drop,drop,
quant,awq,keep,drop,late
quant,nvfp4,keep,keep,of a later release
quant,npu4,keep,keep,that another platform alone has
back,triton,keep,keep,
back,wave,drop,drop,
mode,slow,keep,keep,
model,A,keep,keep,
model,B,drop,drop,
thing,main,keep,keep,
"""
PLACES = """\
table: table.csv
generations: [sm90, sm100]
kinds:
  quant: {tables: [app.quant.METHODS], generations: {fp8: [sm90]}}
  back: {tables: [app.back.BACKENDS, app.before.BACKENDS]}
  mode: {tables: [app.mode.Mode]}
  model: {classes: {package: app.models, attribute: EntryClass}}
  thing: {symbols: {main: ["app.main:main", app.main], spare: ["app.spare:spare", 'app.spare "spare word"']}}
"""
BASE = """\
capabilities: {places: places.yaml, column: COLUMN}
rules:
  - {id: own.npu, because: So., assume: {app.plat.is_npu(): false}}
  - {id: own.root, because: So., root: [app.main]}
  - {id: own.gguf, because: So., drop: ["app.quant.METHODS[gguf]"]}
  - {id: own.wave, because: So., drop: ["app.back.BACKENDS[wave]"]}
  - {id: own.models, because: So., dynamic: {package: app.models, members: [a]}}
"""


def write(folder: Path, column: str = "default", more: str = "", table: str = TABLE) -> Path:
    for name, text in FILES.items():
        (folder / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "in" / name).write_text(text)
    (folder / "table.csv").write_text(table)
    (folder / "places.yaml").write_text(PLACES)
    (folder / "rules.yaml").write_text(BASE.replace("COLUMN", column) + more)
    return folder / "rules.yaml"


def made(folder: Path, **options: Any) -> tuple[Any, Path]:
    rules = write(folder, **options)
    settings = RunOptions((rules,), folder / "in", folder / "out", folder / "reports", 1, False, True, Path())
    return run(settings, lambda *_: None), folder / "reports"


def rows(reports: Path) -> dict[str, dict[str, Any]]:
    found = json.loads((reports / "capabilities.json").read_text())["rows"]
    return {f"{row['kind']} {row['key']}": row for row in found}


def test_each_row_has_evidence_or_a_rule(tmp_path: Path) -> None:
    done, reports = made(tmp_path)
    assert done.exit_code == 0, (done.findings, done.document["verdicts"])
    found = rows(reports)
    status = {name: row["status"] for name, row in found.items()}
    assert status == {
        "quant fp8": "kept", "quant gguf": "dropped", "quant awq": "kept", "quant nvfp4": "absent",
        "quant npu4": "absent",
        "back triton": "kept", "back wave": "dropped", "mode slow": "kept",
        "model A": "kept", "model B": "dropped", "thing main": "kept",
    }  # fmt: skip
    assert found["quant awq"]["evidence"] == ["app/quant.py:3"]  # with the notice line
    assert found["back triton"]["evidence"][0].startswith("app/back.py:")
    assert found["quant gguf"]["dropped_by"] == [{"rule": "own.gguf", "place": "rules.yaml:5"}]
    assert [c["rule"] for c in found["model B"]["dropped_by"]] == ["own.models"]
    assert found["quant fp8"]["generations"] == ["sm90"] and found["mode slow"]["generations"] == ["sm90", "sm100"]
    page = (reports / "capabilities.md").read_text()
    assert "| `fp8` | kept | yes |  | `app/quant.py:2` |" in page and "own.wave" in page
    own = json.loads((tmp_path / "out/PRUNED.json").read_text())["capabilities"]
    digest = hashlib.sha256((reports / "capabilities.json").read_bytes()).hexdigest()
    assert own == {"kept": 6, "dropped": 3, "absent": 2, "sha256": digest}
    assert done.document["capabilities"]["sha256"] == digest
    assert "capabilities" in [v["check"] for v in done.document["verdicts"]]


def test_a_kept_row_that_went_without_a_rule_is_refuted(tmp_path: Path) -> None:
    done, reports = made(tmp_path, table=TABLE + "thing,spare,keep,keep,\n")
    assert done.exit_code == 3
    verdict = next(v for v in done.document["verdicts"] if v["check"] == "capabilities")
    assert verdict["result"] == "refuted" and len(verdict["details"]) == 2, verdict
    assert verdict["details"][0].startswith("app/spare.py:1: thing spare is to be kept")
    assert rows(reports.with_name("reports.refuted"))["thing spare"]["status"] == "dropped"


def test_a_kept_row_that_a_rule_drops_is_a_finding(tmp_path: Path) -> None:
    more = '  - {id: own.fp8, because: So., drop: ["app.quant.METHODS[fp8]"]}\n'
    done, _ = made(tmp_path, more=more)
    assert done.exit_code == 1 and [f.code for f in done.findings] == ["PR241"]


def test_another_column_wants_less(tmp_path: Path) -> None:
    done, reports = made(tmp_path, column="small")
    assert done.exit_code == 0
    assert rows(reports)["quant awq"]["expected"] == "drop" and rows(reports)["quant awq"]["status"] == "kept"


def test_an_unknown_column_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(PruneError, match="PR404"):
        made(tmp_path, column="none")


def test_the_command_answers_from_the_stored_run(tmp_path: Path) -> None:
    _, reports = made(tmp_path)
    answer = Answers(reports).capabilities("back")
    assert answer.status == "found" and len(answer.lines) == 2
    assert answer.lines[1] == "back wave: dropped: own.wave (rules.yaml:6)"
    assert Answers(reports).capabilities("nothing").status == "unknown"


TABLES: list[tuple[str, Mapping[str, int]]] = [
    ('T = ["a", "b"]', {"a": 1, "b": 1}),
    ('T: dict = {\n    "a": 1,\n    B: 2,\n}', {"a": 2, "B": 3}),
    ('T = {"a", "b"} if X else {"c"}', {}),
    ('T = ["a"] + ["b"]\nT += ["c"]\nT.append("d")\nT.extend(["e"])', {"a": 1, "b": 1, "c": 2, "d": 3, "e": 4}),
    ('if X:\n    T = ("a",)\nelse:\n    T = ("b",)', {"a": 2, "b": 4}),
    ('T = frozenset({"a"})', {"a": 1}),
    ('from typing import Literal\nT = Literal["a", "b"]', {"a": 2, "b": 2}),
    ('T = {}\ndef put(k, v):\n    T[k] = v\nput("a", 1)', {"a": 4}),
    ('T = {}\ndef put(k):\n    def deco(f):\n        T[k] = f\n    return deco\n@put("a")\nclass C: pass', {"a": 6}),
    ("class T:\n    A = 1\n    B = 'b'\n    _x = 3\n    def f(self): pass", {"A": 2, "B": 3, "b": 3}),
]


@pytest.mark.parametrize(("text", "keys"), TABLES, ids=[t for t, _ in TABLES])
def test_tables(text: str, keys: Mapping[str, int]) -> None:
    found = Catalogue({"m": ("m.py", False)}, lambda _: text.encode()).entries("m.T")
    assert found is not None and {key: entry.line for key, entry in found.items()} == keys


def test_what_is_no_table() -> None:
    catalogue = Catalogue({"m": ("m.py", False)}, lambda _: b"U = {}\n")
    assert catalogue.entries("m.T") is None and catalogue.entries("n.T") is None and catalogue.entries("m") is None


@pytest.mark.parametrize(
    ("window", "version", "code"),
    [
        ("until: '1.5'", "1.4", 3),
        ("until: '1.5'", "1.5", 0),
        ("since: '1.5'", "1.4", 0),
        ("since: '1.5'", "1.5", 3),
        ("since: '1.2', until: '1.5'", "1.10", 0),
        ("until: '1.5'", "", 3),
    ],
)
def test_a_place_that_speaks_of_some_releases(window: str, version: str, code: int, tmp_path: Path) -> None:
    """``feature: {place: .., until: ..}``: what a release leaves unused need not stay in it; before, it must."""
    rules = write(tmp_path, table=TABLE + "thing,spare,keep,keep,\n")
    places = f"spare: [{{place: 'app.spare:spare', {window}}}, 'app.main:main']"
    (tmp_path / "places.yaml").write_text(
        PLACES.replace(PLACES[PLACES.index("spare: [") :].partition("]")[0] + "]", places)
    )
    if version:
        (tmp_path / "in/app/version.py").write_text(f'__version__ = "{version}"\n')
    settings = RunOptions((rules,), tmp_path / "in", tmp_path / "out", None, 1, False, True, Path())
    done = run(settings, lambda *_: None)
    assert done.exit_code == code, (done.findings, done.document["verdicts"])


# -- the shipped table ------------------------------------------------------------------------------------------


def test_the_table_is_pinned() -> None:
    """160 rows; a change of what must stay is a change of this number, and meant."""
    data = (RULES / "capabilities-0.5.17.csv").read_bytes()
    assert hashlib.sha256(data).hexdigest()[:16] == "bd631f1ce4929dc5"


def test_every_row_of_the_table_has_a_place() -> None:
    kinds = YAML(typ="safe").load((RULES / "capabilities.yaml").read_text())["kinds"]
    with (RULES / "capabilities-0.5.17.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            place = kinds[row["kind"]]
            assert place.get("tables") or place.get("classes") or row["key"] in place["symbols"], row
            assert {row[c] for c in ("default", "r1_blackwell", "hopper", "deepseek_v4")} <= {"keep", "drop"}


def test_the_default_names_the_table() -> None:
    wanted = capabilities.read([RULES / "cuda_only.yaml"])
    assert wanted is not None and wanted.column == "default" and len(wanted.rows) == 160


@pytest.mark.parametrize("profile", sorted((RULES / "profiles").glob("*.yaml")), ids=lambda p: p.stem)
def test_each_profile_has_a_column_of_the_table(profile: Path) -> None:
    wanted = capabilities.read([profile])
    assert wanted is not None and wanted.column == profile.stem and len(wanted.rows) == 160
    assert len(load([profile]).rules) > 100
