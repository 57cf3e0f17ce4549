"""Rule files in; a policy, or every fault with its place, out."""

from __future__ import annotations

from pathlib import Path

import pytest

from pruner.errors import PruneError
from pruner.model import Allowed, Range
from pruner.policy import load, select

RULES = """\
rules:
  - id: a
    because: It is so.
    assume:
      m.f(): false
      m.get( "X" ).y: [2, 1, 2]
      hasattr(torch, "npu"): false
      getattr(torch.version, "hip", None): null
      os.environ["X"]: "0"
      m.sm(): {min: 90}
      m.C.device: {values: cuda, valid_from: m.C.resolve()}
      m.g(...): false
  - {id: b, because: Starts here., root: ["m.*", "m.n:main", pyproject.toml]}
  - {id: c, because: Goes., optional: true, since: "0.5.7", until: "0.5.12", drop: ["m.T['hip']", "path:*.cu"]}
  - {id: d, because: Must be gone., discard: ["name:_is_*", "word:qwen*"]}
  - {id: e, because: Walked., dynamic: {package: m.models, members: [b, "a*"], site: m.registry}}
  - {id: f, because: No effect., pure: [logging.getLogger, "m.envs.*.get", builtins.len]}
  - id: g
    because: Known.
    allow:
      - {path: "m/*.py", name: _is_hip, reason: A name of the API.}
      - {path: [m/a.py, m/b.py], name: ["word:qwen*", x], most: 2, since: "0.5.9", until: "0.5.10", reason: Options.}
  - {id: h, because: Used., keep: ["m:C.method"]}
"""


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder / "main.yaml"


def faults(path: Path | list[Path]) -> list[tuple[str, int, int, str]]:
    with pytest.raises(PruneError) as caught:
        load([path] if isinstance(path, Path) else path)
    return [(d.code, d.line, d.column, f"{d.text}; {d.advice}") for d in caught.value.diagnostics]


def one(text: str) -> str:
    """A rule file of one rule that is well but for ``text``."""
    return f"rules:\n  - id: a\n    because: So.\n    {text}\n"


def test_every_verb_is_read(tmp_path: Path) -> None:
    policy = load([write(tmp_path, main=RULES)])
    facts = {f.subject: (f.values, f.valid_from) for f in policy.facts}
    assert facts == {
        "m.f()": ((False,), None),
        "m.get('X').y": ((1, 2), None),
        "hasattr(torch, 'npu')": ((False,), None),
        "torch.version.hip": ((None,), None),
        "os.environ['X']": (("0",), None),
        "m.sm()": (Range(90, None), None),
        "m.C.device": (("cuda",), "m.C.resolve()"),
        "m.g(...)": ((False,), None),
    }
    assert [(t.kind, t.text, t.rule) for t in policy.roots] == [
        ("module", "m.*", "b"),
        ("symbol", "m.n:main", "b"),
        ("project", "pyproject.toml", "b"),
    ]
    assert [(t.kind, t.text) for t in policy.drops] == [("path", "*.cu"), ("entry", "m.T[hip]")]
    assert [(t.kind, t.text) for t in policy.discards] == [("name", "_is_*"), ("word", "qwen*")]
    assert [(t.kind, t.text) for t in policy.keeps] == [("symbol", "m:C.method")]
    assert [(d.package, d.members, d.site) for d in policy.dynamics] == [("m.models", ("a*", "b"), "m.registry")]
    assert policy.pure == ("builtins.len", "logging.getLogger", "m.envs.*.get")
    plain = Allowed("g", ("m/*.py",), ("_is_hip",), "A name of the API.")
    full = Allowed("g", ("m/a.py", "m/b.py"), ("word:qwen*", "x"), "Options.", 2, "0.5.9", "0.5.10")
    assert policy.allow == (plain, full)
    assert select(policy, "0.5.9").allow == (plain, full) and select(policy, "0.5.10").allow == (plain,)
    assert policy.by_id["c"].optional and policy.by_id["c"].since == "0.5.7"
    assert policy.facts[0].location.line == 7


def test_places_are_free_of_the_folder_that_holds_the_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules" / "base").mkdir(parents=True)
    path = write(tmp_path / "rules", main="extends: [base/more.yaml]\n" + RULES)
    (tmp_path / "rules/base/more.yaml").write_text(one("assume: {n.f(): 1}").replace("id: a", "id: z"))
    absolute = load([path])
    monkeypatch.chdir(tmp_path / "rules")
    relative = load([Path("main.yaml")])
    assert absolute == relative
    assert absolute.files == ("base/more.yaml", "main.yaml")
    assert {r.location.file for r in absolute.rules} == {"main.yaml", "base/more.yaml"}
    assert str(tmp_path) not in repr(absolute)


def test_neither_order_nor_layout_changes_the_digest(tmp_path: Path) -> None:
    first = write(tmp_path, main=RULES, other=one("assume: {n.f(): [2, 1]}").replace("id: a", "id: z"))
    both = [first, tmp_path / "other.yaml"]
    forward, backward = load(both), load(both[::-1])
    assert forward.digest == backward.digest and forward.facts == backward.facts
    (tmp_path / "other.yaml").write_text("# why\n" + one("assume: {n.f( ): [1, 2]}").replace("id: a", "id: z"))
    assert load(both).digest == forward.digest
    (tmp_path / "other.yaml").write_text(one("assume: {n.f(): [1, 3]}").replace("id: a", "id: z"))
    assert load(both).digest != forward.digest


def test_a_file_reached_twice_is_read_once(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        main="extends: [left.yaml, right.yaml]\n",
        left="extends: [base.yaml]\n",
        right="extends: [base.yaml]\n",
        base=one("assume: {m.f(): 1}"),
    )
    assert [r.id for r in load([path, tmp_path / "base.yaml"]).rules] == ["a"]


def test_extends_may_not_come_round(tmp_path: Path) -> None:
    path = write(tmp_path, main="extends: [b.yaml]\n", b="extends:\n  - main.yaml\n")
    assert [(c, line) for c, line, _, _ in faults(path)] == [("PR010", 2)]
    assert "main.yaml -> b.yaml -> main.yaml" in faults(path)[0][3]


def test_a_missing_file_is_told_where_it_was_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, main="extends: [nvida.yaml]\n", nvidia="rules: []\n")
    [(code, line, column, text)] = faults(path)
    assert (code, line, column) == ("PR001", 1, 11) and "did you mean 'nvidia.yaml'?" in text
    assert [f[0] for f in faults(tmp_path / "none.yaml")] == ["PR001"]
    assert [f[0] for f in faults(tmp_path)] == ["PR001"]


def test_all_faults_are_shown_at_once(tmp_path: Path) -> None:
    text = """\
rulez: []
rules:
  - id: a
    becuase: Typo.
    assume: {m.f(): false}
  - id: a b
    because: ''
    asume: {m.f(): false}
  - because: No id.
    root: m
    keep: [m]
  - id: c
    because: No verb.
"""
    found = faults(write(tmp_path, main=text))
    assert [(c, line, col) for c, line, col, _ in found] == [
        ("PR005", 1, 1),
        ("PR005", 4, 5),
        ("PR009", 6, 9),
        ("PR006", 7, 14),
        ("PR005", 8, 5),
        ("PR006", 9, 5),
        ("PR004", 10, 11),
        ("PR007", 11, 11),
        ("PR007", 12, 5),
    ]
    texts = [t for _, _, _, t in found]
    assert "did you mean 'rules'?" in texts[0]
    assert "did you mean 'because'?" in texts[1]
    assert "did you mean 'assume'?" in texts[4]
    assert "write [m]" in texts[6]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("assume: [m.f()]", "PR004"),
        ("assume: {m.f(): []}", "PR014"),
        ("assume: {m.f(): {}}", "PR014"),
        ("assume: {m.f(): {min: 3, max: 2}}", "PR014"),
        ("assume: {m.f(): {min: true}}", "PR004"),
        ("assume: {m.f(): {min: 1, values: [1]}}", "PR004"),
        ("assume: {m.f(): {mim: 1}}", "PR005"),
        ("assume: {m.f(): [[1]]}", "PR004"),
        ("assume: {m.f(): 2001-01-01}", "PR004"),
        ("assume: {m.f(): 1, m.f(): 2}", "PR003"),
        ("assume: {m.f('X'): 1, 'm.f(\"X\")': 1}", "PR003"),
        ("assume: {f(): 1}", "PR011"),
        ("assume: {is_hip: 1}", "PR011"),
        ("assume: {m.f(x): 1}", "PR011"),
        ("assume: {'m.f(**{})': 1}", "PR011"),
        ("assume: {m + n: 1}", "PR011"),
        ("assume: {'m.f(': 1}", "PR011"),
        ("assume: {'hasattr(m, x)': 1}", "PR011"),
        ("assume: {m.x: {values: [1], valid_from: f()}}", "PR011"),
        ("root: ['name:x']", "PR013"),
        ("drop: [pyproject.toml]", "PR013"),
        ("discard: [pyproject.toml]", "PR013"),
        ("drop: ['word:x']", "PR013"),
        ("allow: [{path: m, name: x, reason: So., most: 0}]", "PR004"),
        ("allow: [{path: [], name: x}]", "PR006"),
        ("root: ['m:T[x]']", "PR013"),
        ("root: ['paht:x*']", "PR013"),
        ("root: [1]", "PR004"),
        ("root: ['']", "PR006"),
        ("dynamic: {members: []}", "PR006"),
        ("dynamic: {package: m}", "PR006"),
        ("dynamic: {package: m.*, members: []}", "PR013"),
        ("dynamic: {package: m, members: ['a b']}", "PR013"),
        ("dynamic: {package: m, member: []}", "PR005"),
        ("pure: ['f()']", "PR011"),
        ("allow: [{path: x, name: y}]", "PR006"),
        ("allow: [{path: x, nam: y, reason: z}]", "PR005"),
        ("guard: {facts: true}", "PR006"),
        ("guard: {at: m:f}", "PR006"),
        ("guard: {at: m.f, facts: true}", "PR013"),
        ("guard: {at: m:f, ask: {x: {values: 1}}}", "PR006"),
        ("guard: {at: m:f, of: x, where: before, ask: {y: {values: 1}}}", "PR004"),
        ("guard: {at: m:f, of: x, options: z, ask: {y: {values: 1}}}", "PR006"),
        ("guard: {at: m:f, of: x, ask: {y: 1}}", "PR004"),
        ("guard: {at: m:f, of: x, ask: {y: {value: 1}}}", "PR005"),
        ("guard: {at: m:f, of: x, ask: {y: {values: 1, fact: m.f()}}}", "PR007"),
        ("guard: {at: m:f, of: x, ask: {y: {classes: m}}}", "PR007"),
        ("guard: {at: m:f, of: x, ask: {y: {fact: f()}}}", "PR011"),
        ("guard: {at: m:f, of: x(), ask: {y: {values: 1}}}", "PR013"),
        ("guard: {at: m:f, of: x, ask: {'y()': {values: 1}}}", "PR011"),
        ("guard: {at: m:f, of: x, asks: {y: {values: 1}}}", "PR005"),
        ("root: [m]\n    optional: maybe", "PR004"),
        ("root: [m]\n    since: 0.5", "PR004"),
        ("root: [m]\n    since: new", "PR015"),
        ("root: [m]\n    since: '0.5.7'\n    until: '0.5.7'", "PR015"),
        ("root: [m]\n    ? [x]\n    : 1", "PR004"),
    ],
)
def test_one_fault_one_message(tmp_path: Path, text: str, code: str) -> None:
    found = faults(write(tmp_path, main=one(text)))
    assert [f[0] for f in found] == [code], found
    assert found[0][1] >= 2


@pytest.mark.parametrize("content", [b"rules: [", b"a: b: c\n", b"\xff\xfe\x00", b"--- {}\n--- {}\n", b"a: \x07\n"])
def test_what_is_not_yaml_is_told_so(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "main.yaml"
    path.write_bytes(content)
    assert [f[0] for f in faults(path)] == ["PR002"]


def test_an_empty_file_is_no_rule_file(tmp_path: Path) -> None:
    assert [f[0] for f in faults(write(tmp_path, main="# nothing\n"))] == ["PR004"]


def test_ids_are_unique_over_files(tmp_path: Path) -> None:
    main, other = one("root: [m]"), one("root: [n]")
    found = faults([write(tmp_path, main=main, other=other), tmp_path / "other.yaml"])
    assert [f[0] for f in found] == ["PR008"]
    assert "main.yaml:2:5" in found[0][3] or "other.yaml:2:5" in found[0][3]


def test_facts_of_one_subject_intersect(tmp_path: Path) -> None:
    left = one("assume: {m.a(): [1, 2, 3], m.b(): {min: 2}, m.c(): {max: 9}}")
    right = one("assume: {m.a(): [2, 3, 4], m.b(): [1, 2, x], m.c(): {min: 9}}").replace("id: a", "id: b")
    write(tmp_path, main=left, other=right)
    policy = load([tmp_path / "main.yaml", tmp_path / "other.yaml"])
    assert {f.subject: f.values for f in policy.facts} == {"m.a()": (2, 3), "m.b()": (2,), "m.c()": Range(9, 9)}
    assert len(policy.stated) == 6


@pytest.mark.parametrize(("mine", "yours"), [("1", "2"), ("1", "true"), ("{min: 3}", "2"), ("{min: 3}", "[x, true]")])
def test_facts_that_disagree_name_both_places(tmp_path: Path, mine: str, yours: str) -> None:
    other = one(f"assume: {{m.a(): {yours}}}").replace("id: a", "id: b")
    path = write(tmp_path, main=one(f"assume: {{m.a(): {mine}}}"), other=other)
    found = faults([path, tmp_path / "other.yaml"])
    assert [f[0] for f in found] == ["PR014"]
    assert f"{path.as_posix()}:4:14" in found[0][3]


def test_rules_of_other_versions_do_not_disagree(tmp_path: Path) -> None:
    text = """\
rules:
  - {id: old, because: So., until: "0.5.12", assume: {m.cuda(): ["12.8", "12.9"]}}
  - {id: new, because: So., since: "0.5.12", assume: {m.cuda(): true}}
  - {id: both, because: So., root: [m], since: "0.5.10.post1"}
  - {id: pure, because: So., pure: [m.f], until: "0.5.12"}
  - {id: allow, because: So., allow: [{path: x, name: y, reason: z}], until: "0.5.12"}
"""
    policy = load([write(tmp_path, main=text)])
    assert policy.facts[0].values == (True, "12.8", "12.9")
    old, new = select(policy, "0.5.11"), select(policy, "0.5.12")
    assert old.facts[0].values == ("12.8", "12.9") and new.facts[0].values == (True,)
    assert old.facts[0].rule == "old" and new.facts[0].rule == "new"
    assert old.pure == ("m.f",) and old.allow and not new.pure and not new.allow
    assert set(new.by_id) == {"new", "both"} and [r.id for r in new.rules] == ["both", "new"]
    assert not select(policy, "0.5.10").roots and select(policy, "0.5.10.post1").roots
    assert select(policy, "") == policy
    assert new.digest == policy.digest
    with pytest.raises(PruneError, match="PR015"):
        select(policy, "main")


def test_a_fact_that_holds_always_narrows_one_that_holds_later(tmp_path: Path) -> None:
    text = """\
rules:
  - {id: late, because: So., assume: {m.C.x: {values: [1, 2], valid_from: m.C.f()}}}
  - {id: ever, because: So., assume: {m.C.x: [2, 3]}}
"""
    facts = load([write(tmp_path, main=text)]).facts
    assert [(f.rule, f.values, f.valid_from) for f in facts] == [("ever", (2, 3), None), ("late", (2,), "m.C.f()")]


def test_no_file_is_no_rule() -> None:
    assert load([]).rules == ()


def test_lifting_takes_whole_rules_away(tmp_path: Path) -> None:
    base = "rules:\n"
    for name, body in (
        ("a", "assume: {m.f(): 1}"),
        ("b", "drop: [m.x]"),
        ("c", "dynamic: {package: m, members: [y]}"),
        ("d", "guard: {at: m:f, facts: true}"),
        ("e", "pure: [m.g]"),
        ("f", "root: [m]"),
    ):
        base += f"  - {{id: {name}, because: So., {body}}}\n"
    main = write(tmp_path, base=base, main="extends: [base.yaml]\nlift: [a, b, c, d, e]\nrules: []\n")
    policy = load([main])
    assert [r.id for r in policy.rules] == ["f"] and len(policy.roots) == 1
    assert not (policy.facts or policy.drops or policy.dynamics or policy.guards or policy.pure)


def test_lifting_a_rule_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    text = "lift: [site.roots]\nrules:\n  - {id: site.root, because: So., root: [m]}\n"
    (found,) = faults(write(tmp_path, main=text))
    assert found[0] == "PR016"
