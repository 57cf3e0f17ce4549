"""The module and the manifest that the pruning writes say what the rules say: whoever changes a word of them is refuted."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from pruner.pipeline.package import NOTICE
from pruner.verify import generated, manifest
from tests.verify.wrong import Case

RULES = """\
rules:
  - {id: t.root, because: It starts here., root: [sglang.app]}
  - id: t.facts
    because: So it is.
    assume:
      sglang.plat.is_hip(): false
      sglang.plat.device(): cuda
      "sglang.plat.level('a', most=2)": {min: 1, max: 3}
      sglang.conf.Args.size: {min: 2}
      sglang.conf.Args.kind: [big, small]
  - {id: t.more, because: So it is as well., assume: {sglang.conf.Args.kind: [big, odd]}}
  - id: t.late
    because: So it is when it is made.
    optional: true
    assume: {sglang.conf.Args.mode: {values: [x, y], valid_from: sglang.conf.Args.resolve()}}
  - {id: t.drop, because: Nobody asks for it., drop: [sglang.gone, "sglang.kit:Tool", "sglang.conf.KINDS[b]"]}
  - {id: t.other, because: Nobody asks for it either., drop: [sglang.less]}
  - {id: t.models, because: These two., dynamic: {package: sglang.models, members: [one]}}
  - {id: t.without, because: What serves it is gone., without: ["sglang.conf.KINDS[c]"], drop: [sglang.least]}
  - id: t.guard
    because: Here it is asked.
    guard:
      - at: sglang.app:serve
        of: args
        facts: true
        ask:
          kind: {tables: sglang.conf.KINDS, when: size.on}
          device: {fact: sglang.plat.device()}
          size.name: {values: [small, 3, true]}
          model: {classes: sglang.models, attribute: EntryClass}
      - {at: sglang.app:show, digest: print}
      - at: sglang.conf:Args.__init__
        where: after
        of: self
        ask: {size: {fact: sglang.conf.Args.size}, kind: {fact: sglang.conf.Args.kind}}
      - {at: sglang.app:ask, of: args.more, http: true, where: after, ask: {device: {fact: sglang.plat.device()}}}
"""
RULES_OF_ONE = "rules:\n  - {id: t.root, because: It starts here., root: [sglang.app]}\n"
FILES = {
    "plat.py": "",
    "sglang/__init__.py": "",
    "sglang/plat.py": "def is_hip():\n    return False\n\n\ndef device():\n    return 'cuda'\n\n\ndef level(a, most):\n    return 2\n",
    "sglang/kit.py": "class Tool:\n    pass\n\n\nclass Other:\n    pass\n",
    "sglang/gone.py": "def go():\n    return 1\n",
    "sglang/less.py": "def go():\n    return 2\n",
    "sglang/least.py": "def go():\n    return 3\n",
    "sglang/models/__init__.py": "",
    "sglang/models/one.py": "class One:\n    pass\n\n\nEntryClass = One\n",
    "sglang/models/two.py": "class Two:\n    pass\n\n\nEntryClass = [Two]\n",
    "sglang/conf.py": "KINDS = {'a': 1, 'b': 2, 'c': 3}\n\n\nclass Args:\n    mode = 'x'\n\n    def __init__(self):\n        self.size, self.kind = 3, 'big'\n\n    def resolve(self):\n        self.mode = 'y'\n",
    "sglang/app.py": """\
import importlib

from sglang.conf import KINDS, Args
from sglang.kit import Other, Tool
from sglang.plat import device, is_hip, level


def serve(args):
    model = importlib.import_module(f"sglang.models.{args.model}")
    if is_hip():
        return 1
    return KINDS[args.kind], Tool(), Other(), device(), level("a", most=2), model


def show():
    args = Args()
    return args.resolve(), args.size > 1, args.kind == "big"


def ask(args):
    try:
        from sglang.gone import go
    except ImportError:
        go = print
    return go(args)
""",
}
OURS = "sglang/_prune_guard.py"


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    found = Case(tmp_path_factory.mktemp("generated"), FILES, RULES)
    assert "removed('sglang.gone', 't.drop')" in found.text("sglang/app.py")
    assert "stand_in('sglang.kit:Tool', 't.drop')" in found.text("sglang/app.py")
    return found


def test_the_text_of_the_module_is_known(case: Case) -> None:
    found = generated.split((case.out / OURS).read_bytes())
    assert found is not None
    assert sha256(found[0]).hexdigest() == generated.CODE, "the template is another: write this digest there"


def test_each_word_of_its_tables_is_missed(case: Case) -> None:
    """Every text, number and truth of a table is another one, or its row is gone."""
    text = case.text(OURS)
    rows = [
        (match.start(), line)
        for name in ("RULES", "FACTS", "GONE", "GUARDS", "MARKS")
        for block in [re.search(rf"^{name} = [\[{{]\n.*?^[\]}}]\n", text, flags=re.M | re.S)]
        if block is not None
        for match in re.finditer(r".*\n", block[0])
        if (line := match[0]).startswith("    ")
    ]
    assert len(rows) > 20
    seen = 0
    for _, line in rows:
        words = list(re.finditer(r"'[^']*'|\bTrue\b|\bFalse\b|\b\d+\b", line))
        wrong = [line[: m.start()] + _other(m[0]) + line[m.end() :] for m in words]
        if line.rstrip().endswith(("),", "',")):
            wrong.append("")
        for other in wrong:
            if "'a rule with" in line or "'rules with" in line:  # the advice: words of it are not judged
                if other and re.sub(r"'(?:a rule|rules|zz)\b[^']*'", "", other) == re.sub(
                    r"'(?:a rule|rules|zz)\b[^']*'", "", line
                ):
                    continue
            found = case.wrong(OURS, line, other, ("guards",))
            assert "guards" in found, (line, other)
            seen += 1
    assert seen > 60, seen


def _other(word: str) -> str:
    return {"True": "False", "False": "True"}.get(
        word, "'zz'" if word[0] == "'" else str(int(word[:6]) + 1) if word.isdigit() else "0"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("raise _quiet(RemovedByPrune(sentence(name, rule), name=name))", "return None"),
        ("    return False\n\n    def __subclasscheck__", "    return True\n\n    def __subclasscheck__"),
        ("import sys\n", "import os\nimport sys\n"),
        ("sha256:", "sha256:0"),
        ("COMMAND = 'sglang'", "COMMAND = 'sh'"),
        ("GUARDS = {\n", "GUARDS = dict() or {\n"),
    ],
)
def test_its_code_is_missed(old: str, new: str, case: Case) -> None:
    assert "guards" in case.wrong(OURS, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("removed('sglang.gone', 't.drop')", "removed('sglang.gone', 't.other')"),
        ("removed('sglang.gone', 't.drop')", "removed('sglang.less', 't.drop')"),
        ("removed('sglang.gone', 't.drop')", "removed('sglang.gone')"),
        ("removed('sglang.gone', 't.drop')", "removed('sglang.gone', rule='t.drop')"),
        ("removed('sglang.gone', 't.drop')", "sentence('sglang.gone', 't.drop')"),
        ("stand_in('sglang.kit:Tool', 't.drop')", "stand_in('sglang.kit:Tool', 't.zz')"),
        ("stand_in('sglang.kit:Tool', 't.drop')", "stand_in('sglang.kit:Tools', 't.drop')"),
        ("stand_in('sglang.kit:Tool', 't.drop')", "stand_in(__name__, 't.drop')"),
        ("from sglang import _prune_guard; Tool", "from sglang.models import _prune_guard; Tool"),
        ("from sglang import _prune_guard; Tool", "import json as _prune_guard; Tool"),
        ("_prune_guard.check('t.guard/2')", "_prune_guard.check('t.guard/1')"),
        ("_prune_guard.check('t.guard/1', args)", "_prune_guard.GUARDS.clear()"),
        ("_prune_guard.check('t.guard/1', args)", "_prune_guard.check('t.guard/1', args); _prune_guard.GONE = {}"),
    ],
)
def test_a_call_of_it_is_missed(old: str, new: str, case: Case) -> None:
    assert "guards" in case.wrong("sglang/app.py", old, new)


def test_the_module_itself_is_missed(case: Case) -> None:
    assert "guards" in case.judged({OURS: None})
    assert "guards" in case.judged({"sglang/models/_prune_guard.py": case.text(OURS)})


MANIFEST: dict[str, Any] = {
    "a fact is gone": lambda said: said["facts"].pop(),
    "a fact is another": lambda said: said["facts"][1].update(values=["rocm"]),
    "a range is another": lambda said: next(f for f in said["facts"] if "range" in f).update(range=[1, 4]),
    "a fact more": lambda said: said["facts"].append({**said["facts"][0], "subject": "sglang.plat.is_npu()"}),
    "the rule of a fact": lambda said: said["facts"][0].update(rule="t.zz"),
    "a guard is gone": lambda said: said["guards"].pop(),
    "a guard asks otherwise": lambda said: said["guards"][0].update(asks={}),
    "a guard is elsewhere": lambda said: said["guards"][0].update(function="show2"),
    "the place of a guard": lambda said: said["guards"][0].update(place="sglang/app.py:1"),
    "the place of a guard's rule": lambda said: said["guards"][0].update(rule="rules.yaml:2"),
    "the place of a fact": lambda said: said["facts"][0].update(location="rules.yaml:40"),
    "a guard is after": lambda said: said["guards"][0].update(where="after"),
    "a file is gone": lambda said: said["files"].pop("sglang/app.py"),
    "a file more": lambda said: said["files"].update({"sglang/gone.py": True}),
    "a file is whole": lambda said: said["files"].update({"sglang/app.py": True}),
    "a file is edited": lambda said: said["files"].update({"sglang/models/one.py": [[1, 2]]}),
    "lines that are not there": lambda said: said["files"].update({"sglang/app.py": [[1, 900]]}),
    "lines in no order": lambda said: said["files"].update({"sglang/app.py": [[9, 20], [1, 8]]}),
    "few lines": lambda said: said["files"].update({"sglang/app.py": [[1, 2]]}),
    "a rule file is gone": lambda said: said["rules"]["files"].pop(),
    "a rule file more": lambda said: said["rules"]["files"].append("zz.yaml"),
    "the digest": lambda said: said.update(digest="sha256:0"),
    "no facts": lambda said: said.pop("facts"),
    "facts of another shape": lambda said: said.update(facts=3),
}


@pytest.mark.parametrize("change", MANIFEST.values(), ids=MANIFEST)
def test_each_word_of_the_manifest_is_missed(change: Any, case: Case) -> None:
    said = json.loads(case.text("PRUNED.json"))
    change(said)
    assert "guards" in case.judged({"PRUNED.json": json.dumps(said)}, ("guards",))


def test_the_output_itself_is_accepted(case: Case) -> None:
    assert case.verdicts(case.out) == {}


def test_rules_that_say_otherwise_are_told(case: Case, tmp_path: Path) -> None:
    """The same tree under rules of which one word is another."""
    for old, new in (
        ("device(): cuda", "device(): rocm"),
        ("most: 2", "most: 3"),
        ("small", "large"),
        ("t.other", "t.others"),
    ):
        if old in RULES:
            case.rules.write_text(RULES.replace(old, new))
            assert "guards" in case.verdicts(case.out)
    case.rules.write_text(RULES)


def test_what_notice_says_is_known_by_its_digest() -> None:
    text = NOTICE.format(name="x", version="1").partition(" by prune.")
    assert text[0] == "This tree was made from x 1" and sha256(text[2].encode()).hexdigest() == manifest.REST


def test_each_word_of_notice_is_missed(tmp_path: Path) -> None:
    info = {"sglang-1.2.dist-info/METADATA": "Metadata-Version: 2.1\nName: sglang\nVersion: 1.2\n"}
    case = Case(tmp_path, {"sglang/__init__.py": "", "sglang/app.py": "X = 1\n", **info}, RULES_OF_ONE)
    text = case.text("NOTICE")
    for old, new in (("sglang", "other"), ("1.2", "1.3"), ("No other text", "Other text"), ("prune", "hand")):
        assert "guards" in case.judged({"NOTICE": text.replace(old, new, 1)})
    said = json.loads(case.text("PRUNED.json"))
    said["upstream"]["version"] = "1.3"
    assert "guards" in case.judged({"PRUNED.json": json.dumps(said), "NOTICE": text.replace("1.2", "1.3")})
