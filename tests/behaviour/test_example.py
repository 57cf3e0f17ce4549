"""The checks that run trees, on a program of our own that needs no package: right prunings pass, planted faults do not."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pruner.errors import PruneError
from pruner.model import Verdict
from pruner.verify.behaviour import CHECKS, Design, run
from pruner.verify.behaviour.judge_arguments import Arguments
from pruner.verify.behaviour.judge_surface import EQUAL, Surface
from pruner.verify.behaviour.licence import Licences
from pruner.verify.behaviour.probe.arguments import failed
from pruner.verify.behaviour.probe.describe import Describer, unions
from pruner.verify.behaviour.statics import Side

STAGES = {"": ("modules", "client")}
UPSTREAM = {
    "sglang/__init__.py": "__all__ = ['ask']\nfrom sglang.client import ask\n",
    "sglang/flags.py": "def is_amd():\n    return False\n\n\n_is_amd = is_amd()\n",
    "sglang/client.py": (
        "from sglang.flags import _is_amd\n\nif _is_amd:\n    import amd\n\n\n"
        "def ask(text, limit=3):\n    if _is_amd:\n        return amd.ask(text)\n    yield text[:limit]\n\n\n"
        "class Base:\n    pass\n\n\nclass Client(Base):\n    retries = 2\n\n    def send(self, word, *, twice=False):\n"
        "        return word\n\n    def amd_send(self, word):\n        return amd.send(word)\n"
    ),
    "sglang/launch_server.py": (
        "import argparse\n\nfrom sglang.client import Client\n\nBACKENDS = ['cuda', 'amd']\n\n\ndef main():\n"
        "    parser = argparse.ArgumentParser()\n    parser.add_argument('--port', type=int, default=3000)\n"
        "    parser.add_argument('--backend', choices=BACKENDS)\n    print(Client, parser.parse_args())\n\n\n"
        "if __name__ == '__main__':\n    main()\n"
    ),
    "sglang/amd_only.py": "import amd\n",
    "sglang/tables.py": "KINDS = ['cuda', 'amd']\nfor kind in KINDS:\n    word = kind.upper()\nfor last in (1, 2):\n    pass\n"
    "for one in KINDS:\n    own = one\nown = 3\n",
}
GOOD = {
    **UPSTREAM,
    "sglang/client.py": UPSTREAM["sglang/client.py"]
    .replace("from sglang.flags import _is_amd\n\nif _is_amd:\n    import amd\n\n\n", "")
    .replace("    if _is_amd:\n        return amd.ask(text)\n", "")
    .replace("\n    def amd_send(self, word):\n        return amd.send(word)\n", ""),
    "sglang/launch_server.py": UPSTREAM["sglang/launch_server.py"].replace("['cuda', 'amd']", "['cuda']"),
    "sglang/amd_only.py": None,
    "sglang/tables.py": UPSTREAM["sglang/tables.py"].replace("['cuda', 'amd']", "['cuda']"),
}
DROPS = Design([("rules.amd", "sglang.launch_server.BACKENDS[amd]"), ("rules.kinds", "sglang.tables.KINDS[amd]")])


def planted(file: str, old: str, new: str) -> Mapping[str, str | None]:
    text = GOOD[file]
    assert text is not None and old in text
    return {**GOOD, file: text.replace(old, new)}


def verdicts(folder: Path, output: Mapping[str, str | None], design: Design = DROPS) -> dict[str, Verdict]:
    for name, files in (("up", UPSTREAM), ("out", output)):
        for path, text in files.items():
            if text is not None:
                (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / name / path).write_text(text, "utf-8")
    rows = run(
        folder / "up",
        folder / "out",
        Path(sys.executable),
        design=design,
        checks=["import-run", "names", "plain-host"],
        stages=STAGES,
        needed=(),
    )
    return {row.check: row for row in rows}


def test_a_right_pruning_passes(tmp_path: Path) -> None:
    found = verdicts(tmp_path, GOOD)
    assert [row.result for row in found.values()] == ["passed"] * 3, found
    assert "1 members removed" in found["names"].covered and "loop 3" in found["names"].covered
    assert found["plain-host"].details == ("sglang.launch_server --help --backend: gone are amd (rules.amd)",)


FAULTS = {
    "a module that no longer imports": (
        "import-run", planted("sglang/flags.py", "_is_amd = is_amd()", "_is_amd = is_amd(1)"), "takes 0 positional"),
    "a generator became a function": (
        "names", planted("sglang/client.py", "    yield text", "    return text"), "generator"),
    "another default": ("names", planted("sglang/client.py", "limit=3", "limit=4"), "limit=4"),
    "a base class less": ("names", planted("sglang/client.py", "class Client(Base)", "class Client"), "bases changed"),
    "another constant": ("names", planted("sglang/client.py", "retries = 2", "retries = 3"), "retries"),
    "a name that is no longer bound at run time": (
        "names",
        planted("sglang/client.py", "class Base:", "if len('') > 1:\n    ask = print\ndel ask\n\n\nclass Base:"),
        "ask",
    ),
    "what a loop over the same leaves": ("names", planted("sglang/tables.py", "(1, 2)", "(1, 3)"), "tables.last"),
    "a name that not only a loop binds": ("names", planted("sglang/tables.py", "own = 3", "own = 4"), "tables.own"),
    "a table that lost another entry": ("names", planted("sglang/tables.py", "['cuda']", "['amd']"), "tables.KINDS"),
    "an option's default": ("plain-host", planted("sglang/launch_server.py", "3000", "3001"), "--port"),
    "an option less": (
        "plain-host", planted("sglang/launch_server.py", "    parser.add_argument('--backend', choices=BACKENDS)\n", ""),
        "options lost ['--backend']"),
    "a command that fails": ("plain-host", planted("sglang/launch_server.py", "    main()\n", "    man()\n"), "NameError"),
}  # fmt: skip


@pytest.mark.parametrize(("check", "output", "says"), FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_refuted(check: str, output: Mapping[str, str | None], says: str, tmp_path: Path) -> None:
    found = verdicts(tmp_path, output)[check]
    assert found.result == "refuted"
    assert says in "\n".join(found.details)


def test_a_lost_choice_needs_a_rule(tmp_path: Path) -> None:
    found = verdicts(tmp_path, GOOD, Design())["plain-host"]
    assert found.result == "refuted"
    assert "choice amd is lost, and no rule names it" in found.details[0]


def test_what_cannot_run_is_not_run(tmp_path: Path) -> None:
    for python, says in ((None, "no interpreter"), (tmp_path / "python", "does not start")):
        rows = run(tmp_path, tmp_path, python)
        assert [(row.check, row.result) for row in rows] == [(check, "not run") for check in CHECKS]
        assert all(says in row.covered for row in rows)
    with pytest.raises(PruneError):
        run(tmp_path, tmp_path, None, checks=["imports-run"])


def test_a_refusal_names_a_rule_that_speaks(tmp_path: Path) -> None:
    judge = Arguments(Licences((), {}, Side(tmp_path, ""), frozenset({"amd.device"})))
    gone = "removed: device cpu"
    failure = {"error": "Refused", "text": "device is 'cpu' (rule amd.device, amd.yaml:3)", "where": "guard.py:1"}
    assert list(judge.judge({gone: {}}, {gone: {"failure": failure}})) == []
    assert judge.refused == [f"{gone}: refused by amd.device"]
    # A sentence that is too long to be described whole is seen whole beside it, wherever the resolution ended.
    describer = Describer({})
    for part in ("", "model"):
        error = ValueError("architectures " + "'Long' " * 20 + "(rule amd.device, amd.yaml:3); " + "to have it, " * 40)
        row = failed(error, describer)
        assert "rule" not in row["failure"]["text"] and "rule" in row["shown"]
        assert list(judge.judge({gone: {}}, {gone: {part: row} if part else row})) == []
    for text, says in (("(rule other, amd.yaml:3)", "names no rule"), ("", "is not refused")):
        row = {"failure": {**failure, "text": text}} if text else {"model": {}}
        assert says in next(judge.judge({gone: {}}, {gone: row}))
    # What rules may take must resolve as upstream does where no rule takes it.
    assert "upstream resolves it" in next(
        judge.judge({"embedding": {}}, {"embedding": {"failure": {**failure, "text": "?"}}})
    )


def test_an_application_is_gone_by_a_rule_on_its_module(tmp_path: Path) -> None:
    (tmp_path / "kept.py").write_text("", "utf-8")
    drops = [("rules.encoder", "encoder"), ("rules.kept", "kept")]
    dump = {part: {} for part in EQUAL} | {"tables": {}, "server_options": []}
    up = {**dump, "routes": {"kept": [["/a"]], "encoder": [["/b"]]}}
    judge = Surface(Licences(drops, {}, Side(tmp_path, "")))
    assert list(judge.judge(up, {**dump, "routes": {"kept": [["/a"]], "encoder": []}})) == []
    assert judge.notes() == ["application encoder is gone: rules.encoder"]
    assert list(judge.judge(up, {**dump, "routes": {"kept": [], "encoder": []}})) == ["routes/kept: lost ['/a']"]


def test_only_methods_of_a_class_s_own_use_may_leave_the_surface(tmp_path: Path) -> None:
    members = {"_check": "def (self)", "check": "def (self)", "__init__": "def (self)", "_limit": "int 3"}
    dump: dict[str, Any] = {part: {} for part in EQUAL} | {"tables": {}, "server_options": []}
    up = {**dump, "fields": {"Args": {"bases": ["object"], "members": members}}}
    for name in members:
        left = {key: value for key, value in members.items() if key != name}
        out = {**dump, "fields": {"Args": {"bases": ["object"], "members": left}}}
        found = list(Surface(Licences([], {}, Side(tmp_path, ""))).judge(up, out))
        assert found == ([] if name == "_check" else [f"fields/Args/members/{name}: lost"])
    changed = {**members, "_check": "def (self, more)"}
    out = {**dump, "fields": {"Args": {"bases": ["object"], "members": changed}}}
    assert "became" in next(Surface(Licences([], {}, Side(tmp_path, ""))).judge(up, out))


def test_one_spelling_of_a_union() -> None:
    assert unions("(a: Tuple[Optional[A], Union[str, Callable[[], str], NoneType]])") == (
        "(a: Tuple[A | None, Callable[[], str] | None | str])"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(a: Union[List[str], str], b: int = 1) -> Dict | None", "(a: str | List[str], b: int = 1) -> Optional[Dict]"),
        ("(a: List[Union[b.B, a.A]] = '[', *, c)", "(a: List[Union[a.A, b.B]] = '[', *, c)"),
        ("(a: Union[List[Union[z, y]], List[Union[x, w]]])", "(a: List[w | x] | List[y | z])"),
        ("(a: Literal['x | y', 'a'] | int)", "(a: int | Literal['x | y', 'a'])"),
    ],
)
def test_a_union_has_one_order(one: str, other: str) -> None:
    """``Union[List[str], str]`` equals ``Union[str, List[str]]``, and whichever a process meets first is both."""
    assert unions(one) == unions(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("(a: Literal['x | y'])", "(a: Literal['y | x'])"),  # one text, no union
        ("(a: A | B, b: C)", "(a: A, b: B | C)"),
        ("(a: A | B = 1)", "(a: A | B = 2)"),
        ("(a: Tuple[A | B, C])", "(a: Tuple[A, B | C])"),
        ("a] | b", "b | a]"),  # no annotation: as it is
    ],
)
def test_what_is_no_order_of_a_union_stays_different(one: str, other: str) -> None:
    assert unions(one) != unions(other)
