"""pydeps and rope look at the result of the example; and each of them can tell a wrong one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pruner.model import Cause, Removal, RunResult
from pruner.pipeline import RunOptions, run
from pruner.pipeline.answers import Answers
from tests.peers import import_graph, is_there, new_imports, references_left, removed_imports

SHOP = Path(__file__).resolve().parents[2] / "examples" / "shop"


@pytest.fixture(scope="module")
def pruned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunResult]:
    base = tmp_path_factory.mktemp("peers")
    upstream = base / "upstream"
    shutil.copytree(SHOP / "upstream", upstream)
    options = RunOptions(
        (SHOP / "rules.yaml",), upstream, base / "out", base / "reports", 1, False, False, base / "cache"
    )
    result = run(options, lambda *_: None)
    assert result.exit_code == 0
    return base, result


def test_pydeps_sees_no_import_of_a_removed_module(pruned: tuple[Path, RunResult]) -> None:
    base, _ = pruned
    before, after = import_graph(base / "upstream", "shop"), import_graph(base / "out", "shop")
    assert {n for n in before if not is_there(base / "out", n)}, "the example removes modules that pydeps knows"
    assert removed_imports(before, after, base / "out") == [] == new_imports(before, after)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("from shop.vendors import globex\n", "shop.vendors.globex"),
        ("import shop.receipts\n", "shop.order imports shop.receipts, new"),
    ],
)
def test_pydeps_tells_a_wrong_tree(pruned: tuple[Path, RunResult], tmp_path: Path, line: str, told: str) -> None:
    """An import of what is gone (its file is there for pydeps to see), and one that upstream has not."""
    base, _ = pruned
    before = import_graph(base / "upstream", "shop")
    wrong = tmp_path / "wrong"
    shutil.copytree(base / "out", wrong)
    shutil.copy(base / "upstream" / "shop" / "vendors" / "globex.py", wrong / "shop" / "vendors")
    path = wrong / "shop" / "order.py"
    path.write_text(path.read_text() + line)
    after = import_graph(wrong, "shop")
    assert any(told in problem for problem in removed_imports(before, after, base / "out") + new_imports(before, after))


def test_rope_finds_no_kept_reference_to_a_removed_definition(pruned: tuple[Path, RunResult]) -> None:
    base, result = pruned
    looked, *found = references_left(base / "upstream", base / "out", result.removals, Answers(base / "reports"))
    assert int(looked) >= 3 and found == []


def test_rope_tells_a_reference_that_is_left(pruned: tuple[Path, RunResult]) -> None:
    """A definition that is kept, and used, called removed."""
    base, _ = pruned
    text = (base / "upstream" / "shop" / "order.py").read_text().splitlines()
    line = next(number for number, row in enumerate(text, 1) if "def total(" in row)
    wrong = Removal("shop/order.py", line, line, "method", "shop.order.Order.total", Cause("unreached", (), ()))
    looked, *found = references_left(base / "upstream", base / "out", [wrong], Answers(base / "reports"))
    assert looked == "1" and found
