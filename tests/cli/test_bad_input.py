"""Bad input, the whole way: one located message and exit 2, or the file left byte for byte, reported, and exit 1."""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pruner.cli import main

RULES = "rules:\n  - {id: t.root, because: It starts here., root: [app]}\n"
APP = "import other\n\n\ndef main():\n    return other.X\n"


LONG = "x" * 300
"""A name that no file can have."""


class Place:
    """A folder with a program, its rules, and the output of a good run."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.tree = base / "in"
        self.tree.mkdir()
        (self.tree / "app.py").write_text(APP)
        (self.tree / "other.py").write_text("X = 1\n")
        self.rules = base / "rules.yaml"
        self.rules.write_text(RULES)
        self.output = base / "out"

    def usual(self, upstream: str | None = None) -> list[str]:
        """All that a run is given but where to write."""
        given = ["--rules", str(self.rules), "--upstream", upstream or str(self.tree)]
        return [*given, "-j", "1", "--cache", str(self.base / "cache")]

    def run(self, upstream: str | None = None) -> int:
        return main([*self.usual(upstream), "--output", str(self.output), "--reports", str(self.base / "reports")])

    def state(self) -> dict[str, bytes]:
        return {
            p.relative_to(self.base).as_posix(): p.read_bytes()
            for folder in (self.output, self.base / "reports")
            for p in sorted(folder.rglob("*"))
            if p.is_file()
        }


@pytest.fixture
def place(tmp_path: Path) -> Place:
    here = Place(tmp_path)
    assert here.run() == 0
    return here


def wheel(place: Place, entries: dict[str, str]) -> str:
    path = place.base / "sglang-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in entries.items():
            archive.writestr(name, text)
    return str(path)


def no_rules(place: Place) -> None:
    place.rules.unlink()


def broken_rules(place: Place) -> None:
    place.rules.write_text("rules: [\n")


def unknown_verb(place: Place) -> None:
    place.rules.write_text(RULES.replace("root:", "rooot:"))


def no_root(place: Place) -> None:
    place.rules.write_text("rules: []\n")


def a_root_that_is_not_there(place: Place) -> None:
    place.rules.write_text(RULES.replace("[app]", "[nowhere]").replace("root:", "optional: true, root:"))


def a_root_that_a_rule_drops(place: Place) -> None:
    place.rules.write_text(RULES + "  - {id: t.gone, because: It goes., drop: ['ap*']}\n")


def nested_lists(place: Place) -> None:
    place.rules.write_text(RULES.replace("[app]", "[" * 6000 + "]" * 6000))


def nested_mappings(place: Place) -> None:
    place.rules.write_text("rules:\n" + "".join(" " * i + "k:\n" for i in range(1, 3000)))


def rules_in_latin(place: Place) -> None:
    place.rules.write_bytes(RULES.encode() + b"# \xe9\n")


def two_documents(place: Place) -> None:
    place.rules.write_text(RULES + "---\nrules: []\n")


def tabs(place: Place) -> None:
    place.rules.write_text("rules:\n\t- id: x\n")


def a_number_that_is_none(place: Place) -> None:
    place.rules.write_text(RULES + "  - {id: n, because: N., assume: {app.X: .nan}}\n")


def a_boolean_of_old(place: Place) -> None:
    place.rules.write_text(RULES + "  - {id: n, because: N., assume: {app.X: no}}\n")


def an_empty_verb(place: Place) -> None:
    place.rules.write_text(RULES + "  - {id: n, because: N., drop: []}\n")


def an_empty_mapping(place: Place) -> None:
    place.rules.write_text(RULES + "  - {id: n, because: N., assume: {}}\n")


def rules_in_a_pipe(place: Place) -> None:
    place.rules.unlink()
    os.mkfifo(place.rules)


def no_upstream(place: Place) -> str:
    return str(place.base / "nowhere")


def empty_upstream(place: Place) -> str:
    (place.base / "empty").mkdir()
    return str(place.base / "empty")


def truncated_wheel(place: Place) -> str:
    path = Path(wheel(place, {"app.py": APP * 50, "other.py": "X = 1\n"}))
    path.write_bytes(path.read_bytes()[:-40])
    return str(path)


def no_wheel(place: Place) -> str:
    (place.base / "x-1.0-py3-none-any.whl").write_text("hello")
    return str(place.base / "x-1.0-py3-none-any.whl")


def escaping_wheel(place: Place) -> str:
    return wheel(place, {"app.py": APP, "../evil.py": "X = 1\n"})


def twins_in_a_wheel(place: Place) -> str:
    return wheel(place, {"app.py": APP, "Other.py": "X = 1\n", "other.py": "X = 1\n"})


def twins_in_a_folder(place: Place) -> None:
    (place.tree / "Other.py").write_text("X = 2\n")


def link_loop(place: Place) -> None:
    (place.tree / "a").symlink_to("b")
    (place.tree / "b").symlink_to("a")


def link_out(place: Place) -> None:
    (place.tree / "etc").symlink_to("../..")


def unreadable(place: Place) -> None:
    (place.tree / "other.py").chmod(0)


def special_file(place: Place) -> None:
    os.mkfifo(place.tree / "pipe.py")


def output_is_a_file(place: Place) -> None:
    shutil.rmtree(place.output)
    place.output.write_text("mine")


def overlapping(place: Place) -> str:
    return str(place.base)


def an_extended_folder(place: Place) -> None:
    place.rules.write_text("extends: [.]\n" + RULES)


def an_extended_name_too_long(place: Place) -> None:
    place.rules.write_text(f"extends: [{LONG}]\n" + RULES)


def an_extended_zero_byte(place: Place) -> None:
    place.rules.write_text('extends: ["a\\0b"]\n' + RULES)


def rules_are_a_folder(place: Place) -> None:
    place.rules.unlink()
    place.rules.mkdir()


def a_guard_of_no_parameter(place: Place) -> None:
    ask = "guard: {at: 'app:main', of: y, ask: {.: {values: [1, 2]}}}"
    place.rules.write_text(RULES + f"  - {{id: t.guard, because: It is asked., {ask}}}\n")


def a_long_upstream(place: Place) -> str:
    return LONG


FAULTS: list[tuple[Callable[[Place], str | None], str, str]] = [
    (no_rules, "PR001", r"rules\.yaml: error"),
    (broken_rules, "PR002", r"rules\.yaml:2:\d+: error"),
    (unknown_verb, "PR005", r"rules\.yaml:2:\d+: error PR005: a rule has no key 'rooot'; did you mean 'root'"),
    (no_root, "PR017", r"rules\.yaml:1: error PR017: no rule"),
    (a_root_that_is_not_there, "PR017", r"rules\.yaml:\d+:\d+: error PR017: what rules name"),
    (a_root_that_a_rule_drops, "PR017", r"rules\.yaml:\d+:\d+: error PR017: rule t\.gone drops the root app of rule "),
    (nested_lists, "PR002", r"rules\.yaml:\d+:\d+: error PR002: .* deep"),
    (nested_mappings, "PR002", r"rules\.yaml:\d+:\d+: error PR002: .* deep"),
    (rules_in_latin, "PR002", r"rules\.yaml:3: error"),
    (two_documents, "PR002", r"rules\.yaml:\d+:1: error PR002: .* another document; take the line '---' out"),
    (tabs, "PR002", r"rules\.yaml:2:1: error PR002: .* indent with spaces"),
    (a_number_that_is_none, "PR004", r"rules\.yaml:\d+:\d+: error PR004: .* not \.nan, which is no number"),
    (a_boolean_of_old, "PR004", r"rules\.yaml:\d+:\d+: error PR004: .* is 'no', which is a text .* write false, or"),
    (an_empty_verb, "PR013", r"rules\.yaml:\d+:\d+: error PR013: 'drop' of rule n names nothing"),
    (an_empty_mapping, "PR013", r"rules\.yaml:\d+:\d+: error PR013: 'assume' of rule n names nothing"),
    (rules_in_a_pipe, "PR001", r"rules\.yaml: error PR001: cannot read the rule file: it is a pipe"),
    (no_upstream, "PR100", "nowhere"),
    (empty_upstream, "PR111", "empty"),
    (truncated_wheel, "PR106", "whl"),
    (no_wheel, "PR106", "whl"),
    (escaping_wheel, "PR105", r"entry '\.\./evil\.py'"),
    (twins_in_a_wheel, "PR105", "differs only in case"),
    (twins_in_a_folder, "PR110", r"differs only in case from 'Other\.py'"),
    (link_loop, "PR109", "in a circle"),
    (link_out, "PR109", "out of the tree"),
    (special_file, "PR110", r"pipe\.py"),
    (output_is_a_file, "PR305", "is a file"),
    (overlapping, "PR303", "overlap"),
    (an_extended_folder, "PR001", r"rules\.yaml:1:11: error PR001: .* is a folder, not a rule file"),
    (an_extended_name_too_long, "PR001", r"rules\.yaml:1:11: error PR001: .* 300 bytes long"),
    (an_extended_zero_byte, "PR001", r"rules\.yaml:1:11: error PR001: .* zero byte"),
    (rules_are_a_folder, "PR001", r"rules\.yaml: error PR001: is a folder, not a rule file"),
    (
        a_guard_of_no_parameter,
        "PR240",
        r"rules\.yaml:3:\d+: error PR240: .* guards main in app\.py, which has no parameter y",
    ),
    (a_long_upstream, "PR100", "300 bytes long"),
]


@pytest.mark.parametrize(("spoil", "code", "text"), FAULTS, ids=[row[0].__name__ for row in FAULTS])
def test_one_located_message_and_the_earlier_output_stays(
    place: Place, capsys: pytest.CaptureFixture[str], spoil: Callable[[Place], str | None], code: str, text: str
) -> None:
    upstream = spoil(place)
    before = place.state()
    capsys.readouterr()
    began = time.process_time()
    assert place.run(upstream) == 2
    assert time.process_time() - began < 5
    error = capsys.readouterr().err
    assert re.search(text, error) and "Traceback" not in error
    assert set(re.findall(r"PR\d{3}", error)) == {code}
    assert place.state() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads and writes everything")
def test_an_unreadable_file_is_one_message(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    unreadable(place)
    assert place.run() == 2
    assert "PR108" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads and writes everything")
def test_a_read_only_folder_is_one_message(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    before = place.state()
    place.base.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert place.run() == 2
    finally:
        place.base.chmod(0o755)
    assert "PR302" in capsys.readouterr().err and place.state() == before


# what | bytes of other.py | exit code
FILES: list[tuple[str, bytes, int]] = [
    ("BOM", b"\xef\xbb\xbfX = 1\n", 0),
    ("CRLF", b"X = 1\r\nY = 2\r\n", 0),
    ("mixed line ends", b"X = 1\r\nY = 2\nZ = 3\r\n", 0),
    ("form feed", b"X = 1\n\x0c\nY = 2\n", 0),
    ("tabs", b"X = 1\nif X:\n\tY = 2\n", 0),
    ("no last newline", b"X = 1", 0),
    ("a line of 5 MB", b"X = 1\nY = '" + b"y" * 5_000_000 + b"'\n", 0),
    ("syntax of 3.12", b"X = 1\ntype Y = int\n", 0),
    ("empty", b"", 0),
    ("not UTF-8", b"X = '\xe9'\n", 1),
    ("another encoding", b"# coding: latin-1\nX = '\xe9'\n", 1),
    ("a syntax error", b"X = (1\n", 1),
    ("NUL", b"X = 1\n\0\n", 1),
    ("brackets that no stack holds", b"X = 1\nY = " + b"(" * 3000 + b"1" + b")" * 3000 + b"\n", 1),
    ("the same in a syntax of 3.12", b"X = 1\ntype Y = " + b"(" * 3000 + b"int" + b")" * 3000 + b"\n", 1),
    ("operators that no stack holds", b"X = 1\nY = " + b"not " * 20_000 + b"1\n", 1),
    ("a sum of 3000 operands", b"X = 1\nY = " + b"+".join(b"%d" % i for i in range(3000)) + b"\n", 0),
]


@pytest.mark.parametrize(("data", "code"), [row[1:] for row in FILES], ids=[row[0] for row in FILES])
def test_a_strange_file_travels(place: Place, capsys: pytest.CaptureFixture[str], data: bytes, code: int) -> None:
    (place.tree / "other.py").write_bytes(data)
    (place.tree / "app.py").write_text("import other\n\n\ndef main():\n    return other\n")
    place.rules.write_text(RULES.replace("[app]", "[app, other]"))
    capsys.readouterr()
    assert place.run() == code
    error = capsys.readouterr().err
    assert bool(re.search(r"other\.py(:1)?: warning PR210", error)) == (code == 1) and "Traceback" not in error
    assert (place.output / "other.py").read_bytes() == data


def test_rules_are_read_before_the_checks_alone_run(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """The checks read the rules on their own and expect no fault in them."""
    for spoil, code in ((nested_lists, "PR002"), (unknown_verb, "PR005"), (no_rules, "PR001")):
        spoil(place)
        capsys.readouterr()
        assert (
            main(["verify", "--output", str(place.output), "--upstream", str(place.tree), "--rules", str(place.rules)])
            == 2
        )
        error = capsys.readouterr().err
        assert set(re.findall(r"PR\d{3}", error)) == {code} and "Traceback" not in error


def test_what_an_installer_left_in_the_output_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRUNE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "app.py").write_text("X = 1\n")
    (tmp_path / "rules.yaml").write_text("rules:\n  - {id: r, because: It starts here., root: [app]}\n")
    assert main(["--rules", "rules.yaml", "--upstream", "in", "--output", "out", "-j", "1"]) == 0
    check = ["verify", "--output", "out", "--rules", "rules.yaml", "--upstream", "in"]
    assert main(check) == 0
    (tmp_path / "out" / "build" / "lib").mkdir(parents=True)
    (tmp_path / "out" / "build" / "lib" / "app.py").write_text("X = 1\n")
    capfd.readouterr()
    assert main(check) == 3
    said = " ".join("".join(capfd.readouterr()).split())
    assert (
        "build/lib/app.py:1: this file is not in upstream; an installer that built here left it: remove build/" in said
    )


@pytest.mark.parametrize("output", ["/", ".", ""])
def test_an_output_without_a_name_is_one_message(place: Place, capsys: pytest.CaptureFixture[str], output: str) -> None:
    before = place.state()
    assert main(["--rules", str(place.rules), "--upstream", str(place.tree), "--output", output]) == 2
    said = capsys.readouterr().err
    assert "PR303" in said and "Traceback" not in said
    assert place.state() == before


@pytest.mark.parametrize(
    "option", ["--rules", "--output", "--reports", "--cache", "--overlay", "--trend", "PRUNE_CACHE"]
)
@pytest.mark.parametrize("name", [LONG, "/".join(["y" * 200] * 21)], ids=["a name", "a path"])
def test_a_name_that_no_file_can_have_is_one_message(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, option: str, name: str
) -> None:
    monkeypatch.chdir(place.base)
    before = place.state()
    usual = {"--rules": str(place.rules), "--output": str(place.output), "--reports": "reports", "--upstream": "in"}
    if option.startswith("-"):
        usual[option] = name
    else:
        monkeypatch.setenv(option, name)
    assert main([word for pair in usual.items() for word in pair]) == 2
    error = capsys.readouterr().err
    assert error.count("bytes long") == 1 and "Traceback" not in error and len(error) < 500
    assert place.state() == before


@pytest.mark.parametrize("option", ["--output", "--reports"])
def test_a_name_leaves_room_for_those_beside_it(place: Place, capsys: pytest.CaptureFixture[str], option: str) -> None:
    """``.NAME.refuted.pruning`` must be a name as well: found before anything is read, not when the tree is written."""
    before = place.state()
    for length, code in ((237, 0), (238, 2), (255, 2)):
        named = {
            "--output": str(place.base / "new"),
            "--reports": str(place.base / "r"),
            option: str(place.base / ("z" * length)),
        }
        assert main([*place.usual(), *(word for pair in named.items() for word in pair)]) == code
        error = capsys.readouterr().err
        assert "Traceback" not in error and ("PR303" in error) == bool(code)
    assert place.state() == before


def test_a_deep_folder_is_no_traceback(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder may be there; what lies in it no longer has a path."""
    deep = str(place.base)
    while len(deep) < 4050:
        deep += "/" + "d" * min(200, 4070 - len(deep))
    assert main([*place.usual(), "--output", deep, "--reports", str(place.base / "r")]) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error and len(re.findall(r"error PR3\d\d", error)) == 1


QUESTIONS = [["why"], ["why-not"], ["line"], ["impact"], ["retained"], ["capabilities"], ["graph"], ["facts"], ["affects"],
             ["port"], ["trace"], ["rules", "explain"]]  # fmt: skip


@pytest.mark.parametrize("blank", ["", "  "])
@pytest.mark.parametrize("words", QUESTIONS, ids=" ".join)
def test_an_empty_question_is_a_usage_error(
    place: Place, capsys: pytest.CaptureFixture[str], words: list[str], blank: str
) -> None:
    if blank and words[0] in ("affects", "port", "trace"):
        return  # the name of a file
    assert main([*words, blank, "--reports", str(place.base / "reports")]) == 2
    error = capsys.readouterr().err
    assert error.count("Error:") == 1 and "it is empty" in error and "Traceback" not in error


@pytest.mark.parametrize("words", QUESTIONS, ids=" ".join)
def test_a_name_that_nothing_has_is_told(place: Place, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main([*words, "NOWHERE", "--reports", str(place.base / "reports")]) in (1, 2)
    said = capsys.readouterr()
    assert "Traceback" not in said.err and re.search("NOWHERE|PR3", said.err + said.out)
