"""What a user can ask for: options in either declaration, their choices, and which loss is the cut's."""

from __future__ import annotations

from typing import Any

import pytest

from pruner.pipeline.change.names import capabilities
from pruner.pipeline.offers import Offers, offered

FIELDS = b"""
class Device(Struct):
    width: A[int, "How wide."] = 1
    size_of: A[str, Arg(help="x", choices=SIZES_CHOICES, aliases=["--sz"])] = "s"
    mode: A[
        str,
        Arg(help="m", choices=["fast", "slow"], cli_name="--run-mode"),
    ] = "fast"
    inner: A[int, Arg(no_cli=True)] = 1
    table: Dict[str, "Device"] = {}
    plain: int = 1
"""
TABLES = b'BASE_CHOICES = frozenset({"s", "m"})\nSIZES_CHOICES = list(BASE_CHOICES)\nROW_FORMATS = {"a": 1}\n'
PARSER = b"""
parser.add_argument("-w", "--wide", type=int)
parser.add_argument(
    "--long-name", "--alias-name",
    default=1,
)

@app.post("/generate")
def generate(): ...

EntryClass = [First, Second]
"""


def test_both_declarations_of_options_and_their_choices() -> None:
    offers = Offers()
    for module, data in (("pkg.fields", FIELDS), ("pkg.choices", TABLES), ("pkg.cli", PARSER)):
        offers.add(offered(data), module)
    kinds = offers.kinds()
    assert {name: places[0] for name, places in kinds["option"].items()} == {
        "--width": "pkg.fields",
        "--size-of": "pkg.fields",
        "--sz": "pkg.fields",
        "--run-mode": "pkg.fields",
        "--wide": "pkg.cli",
        "--long-name": "pkg.cli",
        "--alias-name": "pkg.cli",
    }
    assert sorted(kinds["choice"]) == [
        "--run-mode[fast]",
        "--run-mode[slow]",
        "--size-of[m]",
        "--size-of[s]",
        "ROW_FORMATS[a]",
    ]
    assert list(kinds["route"]) == ["/generate"] and list(kinds["model"]) == ["First", "Second"]


class Fake:
    """As much of a side as the comparison of capabilities reads."""

    def __init__(self, upstream: set[str], options: dict[str, tuple[list[str], list[str]]]) -> None:
        self.upstream = frozenset(upstream)
        self.table: dict[tuple[str, str], Any] = {}
        rows = {name: {"upstream": up, "kept": kept} for name, (up, kept) in options.items()}
        self.inventory = {"capabilities": {"option": rows}}


@pytest.mark.parametrize(
    ("now", "key"),
    [
        ((["server"], []), "lost_to_the_cut"),  # upstream still has it where it was kept
        ((["fresh"], []), "lost_to_the_cut"),  # it moved to a module that is new
        ((["tool"], []), "lost_upstream"),  # what is left of it is of a program that was never kept
        (None, "lost_upstream"),
    ],
)
def test_a_loss_is_the_cuts_only_where_the_base_kept_it(now: tuple[list[str], list[str]] | None, key: str) -> None:
    base = Fake({"server", "tool"}, {"--x": (["server", "tool"], ["server"])})
    head = Fake({"server", "tool", "fresh"}, {"--x": now} if now else {})
    found = capabilities(base, head)["offers"]["option"]  # type: ignore[arg-type]
    assert {k: [row["name"] for row in found[k]] for k in ("lost_to_the_cut", "lost_upstream")} == {
        "lost_to_the_cut": ["--x"] if key == "lost_to_the_cut" else [],
        "lost_upstream": ["--x"] if key == "lost_upstream" else [],
    }


def test_the_table_of_the_rules_tells_dropped_from_absent() -> None:
    base, head = Fake(set(), {}), Fake(set(), {})
    row = {"kind": "attention", "key": "fa9", "status": "kept", "evidence": ["a.py:1"], "rest": [], "dropped_by": []}
    base.table[("attention", "fa9")] = row
    head.table[("attention", "fa9")] = row | {"status": "dropped", "evidence": [], "dropped_by": [{"rule": "r"}]}
    (moved,) = capabilities(base, head)["table"]  # type: ignore[arg-type]
    assert (moved["before"], moved["after"], moved["dropped_by"]) == ("kept", "dropped", ["r"])
    assert capabilities(base, base)["table"] == []  # type: ignore[arg-type]
