"""Rules that speak of what is there in words that decide nothing are findings; spellings of other releases are none."""

from __future__ import annotations

import pytest

from tests.engine.program import prune

PLAT = """\
import functools

import outside


def is_hip():
    return False


@functools.lru_cache(maxsize=None)
def cached():
    return False


async def later():
    return False


@outside.made
def made():
    return False


if outside.new:

    def either():
        return False

else:
    either = False


FLAG = False
other = lambda: False


class Config:
    value = 1

    def method(self):
        return False

    @staticmethod
    def plain():
        return False

    @property
    def read(self):
        return False

    @functools.cached_property
    def cached(self):
        return False

    def both(self):
        return False

    both = property(both)
"""
APP = "import plat\n\n\ndef f(c: plat.Config):\n    return plat.FLAG, c.read, c.value\n"
FILES = {"app.py": APP, "plat.py": PLAT}


def rules(*rows: str) -> str:
    return "rules:\n  - {id: t.root, because: It starts here., root: [app]}\n" + "".join(
        f"  - {{id: t.{n}, because: It is so., {row}}}\n" for n, row in enumerate(rows)
    )


def found(files: dict[str, str], *rows: str) -> list[str]:
    outcome = prune(files, rules=rules(*rows)).outcome
    return [f"{f.code} {f.text}; {f.advice}" for f in outcome.findings]


@pytest.mark.parametrize("optional", ["", "optional: true, "])
@pytest.mark.parametrize(
    ("name", "kind", "advice"),
    [
        ("is_hip", "function", "write plat.is_hip()"),
        ("cached", "function", "write plat.cached()"),
        ("later", "function", "write plat.later()"),
        ("Config", "class", "name an attribute or a method of it"),
        ("Config.method", "method", "write plat.Config.method()"),
        ("Config.plain", "method", "write plat.Config.plain()"),
    ],
)
def test_a_fact_on_a_function_itself(name: str, kind: str, advice: str, optional: str) -> None:
    (text,) = [row for row in found(FILES, f"{optional}assume: {{plat.{name}: false}}") if "PR018" in row]
    assert text == f"PR018 rule t.0 states plat.{name}, which is a {kind} itself, not what it answers; {advice}"


@pytest.mark.parametrize(
    "row",
    [
        "assume: {plat.FLAG: false}",
        "optional: true, assume: {plat.made: false}",
        "optional: true, assume: {plat.either: false}",
        "optional: true, assume: {plat.other: false}",
        "optional: true, assume: {plat.nothing: false}",
        "assume: {plat.Config.read: false}",
        "optional: true, assume: {plat.Config.cached: false}",
        "optional: true, assume: {plat.Config.both: false}",
        "assume: {plat.Config.value: 1}",
        "optional: true, assume: {plat.is_hip: false, plat.is_hip(): false}",  # a variable in another release
        "optional: true, assume: {plat.is_hip(): false}",
    ],
)
def test_what_may_be_a_value_is_none(row: str) -> None:
    assert found(FILES, row) == []


PACKAGE = {
    "app.py": "import pkg.registry\n",
    "plat.py": "",
    **{f"pkg/{name}.py": "" for name in ("__init__", "registry", "llama", "deepseek_v2", "deepseek_v3")},
    "pkg/sub/qwen.py": "",
    "main.py": "",
}


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("{package: pkg, members: [llama, 'deepseek_*', sub.qwen], site: pkg.registry}", []),
        ("{package: pkg, members: []}", []),
        ("{package: pkg, members: [llama, gemma_of_another_release], site: pkg.registry}", []),
        ("{package: pkg, members: [llama, deepseek_v4]}", []),  # another version is another thing
        ("[{package: pkg, members: [llama], site: pkg.loader_of_another}, {package: pkg, members: []}]", []),
        (
            "{package: pkg, members: [llama, deepsek_v2]}",
            ["PR019 rule t.0 names the member 'deepsek_v2', .*; nearest: deepseek_v2"],
        ),
        ("{package: pkg, members: [llama, sub.qwin]}", ["PR019 .*'sub.qwin'.*; nearest: sub.qwen"]),
        (
            "{package: pkg, members: [lama]}",
            ["PR012 rule t.0 matches nothing in this tree: pkg has none of the members lama", "PR019 .*nearest: llama"],
        ),
        ("{package: pkg, members: [gemma]}", ["PR012 .*: pkg has none of the members gemma"]),
        (
            "{package: pkg, members: [llama], site: pkg.regstry}",
            [
                "PR012 .*: the site pkg.regstry is no module",
                "PR019 .*'pkg.regstry', which is no module; nearest: pkg.registry",
            ],
        ),
        ("{package: pkg, members: [llama], site: mian}", ["PR012 .*: the site mian is no module"]),
        ("{package: pkg, members: [llama], site: mainn}", ["PR012 .*", "PR019 .*; nearest: main"]),
        ("{package: pgk, members: [llama]}", ["PR012 .*: pgk is no module"]),
    ],
)
def test_parts_of_a_dynamic_declaration(row: str, says: list[str]) -> None:
    import re

    texts = found(PACKAGE, f"dynamic: {row}")
    assert len(texts) == len(says), texts
    for text, pattern in zip(texts, says, strict=True):
        assert re.match(pattern, text), text


def test_an_optional_declaration_may_name_nothing() -> None:
    assert found(PACKAGE, "optional: true, dynamic: {package: pkg, members: [gemma]}") == []
