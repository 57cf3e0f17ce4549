"""Annotations say what upstream's say: of fields, parameters, results, variables and what has no value at all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.verify.wrong import Case

APP = """\
import dataclasses
import typing
from typing import Annotated, ClassVar, Literal, NamedTuple, Optional, TypedDict

import outer
from plat import is_hip

x: Literal["a", "b"]
y: Literal["c", "d"] = "c"
Z = Literal["e", "f"]
W: typing.TypeAlias = Literal["g", "h"]


@dataclasses.dataclass
class D:
    a: Literal["i", "j"]
    b: Optional[Literal["k", "l"]] = None
    c: ClassVar[Literal["m", "n"]] = "m"
    d: Annotated[int, "o", "p"] = 3
    s: "Literal['q', 'r']" = "q"


class T(TypedDict, total=False):
    a: Literal["s", "t"]


class N(NamedTuple):
    a: Literal["u", "v"]


class M(outer.Model):
    b: Literal["y", "z"] = "y"

    def g(
        self,
        p: Literal["A", "B"],
        *args: Literal["C", "D"],
        k: Literal["E", "F"] = "E",
        **kw: Literal["G", "H"],
    ) -> Literal["I", "J"]:
        v: Literal["K", "L"]
        u: Literal["M", "N"] = "M"
        self.w: Literal["O", "P"] = "O"
        if is_hip():
            unread: Literal["Q", "R"]
            return 1
        return p, u


async def h(p: "Literal['S', 'T']" = "S", /, r: Annotated[str, "U", "V"] = "") -> "Literal['W', 'X']":
    if is_hip():
        note: int
    return p, r, x, D, T, N, M, W, Z
"""
FOLD = ("fold",)
TEXT = r"(['\"])(\w+)\1"


@pytest.mark.parametrize("head", ["", "from __future__ import annotations\n\n"], ids=["evaluated", "texts"])
def test_no_text_in_an_annotation_changes_or_goes(head: str, tmp_path: Path) -> None:
    case = Case(tmp_path, {"app.py": head + APP})
    assert "unread" not in case.text("app.py") and case.verdicts(case.out) == {}
    seen = 0
    for line in case.text("app.py").splitlines():
        for choices in re.findall(r"(?:Literal|Annotated)(\[.*?\])", line):
            *_, (quote, last) = re.findall(TEXT, choices)
            for other in (
                choices.replace(f"{quote}{last}{quote}", f"{quote}zz{quote}"),
                f"{choices.rpartition(',')[0]}]",
            ):
                found = case.wrong("app.py", line, line.replace(choices, other), FOLD)
                assert "fold" in found, (line, other, found)
                seen += 1
    assert seen == 46, seen


@pytest.mark.parametrize("line", [r"x: .*", r"    a: .*", r"    [bcds]: .*"])
def test_no_field_and_no_variable_loses_its_annotation(line: str, tmp_path: Path) -> None:
    case = Case(tmp_path, {"app.py": APP})
    for match in re.finditer(f"^{line}$", case.text("app.py"), flags=re.M):
        assert "fold" in case.wrong("app.py", match[0] + "\n", "    pass\n" if match[0][0] == " " else "", FOLD)
        if " = " in match[0]:
            name, value = match[0].partition(":")[0], match[0].rpartition(" = ")[2]
            assert "fold" in case.wrong("app.py", match[0], f"{name} = {value}", FOLD)


NOTES = "import sys\nimport typing\n\nunread: int\nread: int\n\n\ndef f():\n    global read\n    read = 1\n    v: int\n    return {}\n"


@pytest.mark.parametrize(
    ("listing", "gone", "refuted"),
    [
        ("read", "    v: int\n", False),  # it binds nothing, nobody evaluates it
        ("read", "unread: int\n", False),
        ("read", "read: int\n", True),
        ("typing.get_type_hints(sys.modules[__name__])", "unread: int\n", True),
        ("sys.modules[__name__].__annotations__", "unread: int\n", True),
        ("read", "\nunread: int\nread: int\n", True),
    ],
)
def test_what_has_no_value_may_go_where_nobody_lists_it(listing: str, gone: str, refuted: bool, tmp_path: Path) -> None:
    text = NOTES.format(listing)
    case = Case(tmp_path, {"app.py": "from lib import f\n", "lib.py": text})
    found = case.judged({"lib.py": text.replace(gone, "")})
    assert ("fold" in found) == refuted, found
    evaluated = text.replace("unread: int", "unread: print(1)")
    (tmp_path / "more").mkdir()
    case = Case(tmp_path / "more", {"app.py": "from lib import f\n", "lib.py": evaluated})
    assert "fold" in case.judged({"lib.py": evaluated.replace("unread: print(1)\n", "")})


TYPES = """\
from plat import is_hip

if is_hip():

    class Gone:
        pass


class One:
    a: int = 1


class Two(One):
    def spare(self):
        return 2


def three():
    if is_hip():
        return 1
    return 2
"""


@pytest.mark.parametrize(
    "namespace",
    [
        "vars(pkg.types)",
        "pkg.types.__dict__",
        "{**vars(pkg.types)}",
        "globalns=vars(pkg.types)",
        "None, vars(pkg.types)",
    ],
)
def test_hints_that_are_looked_up_in_another_module(namespace: str, tmp_path: Path) -> None:
    app = f'import typing\n\nimport pkg.types\n\n\nclass C:\n    x: "One"\n\n\ndef f():\n    return typing.get_type_hints(C, {namespace})\n'
    case = Case(tmp_path, {"app.py": app, "pkg/__init__.py": "", "pkg/types.py": TYPES})
    assert "Gone" not in case.text("pkg/types.py") and case.verdicts(case.out) == {}
    text = case.text("pkg/types.py")
    assert "fold" in case.judged(
        {"pkg/types.py": text.replace("class One:\n    a: int = 1\n", "").replace("(One)", "")}
    )
