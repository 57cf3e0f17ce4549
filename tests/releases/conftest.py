"""Two releases of the example shop, the second with a new payment vendor, each pruned once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pruner.pipeline import RunOptions, run

SHOP = Path(__file__).resolve().parents[2] / "examples" / "shop"

# What the second release changes: (file, old text, new text); an empty old text appends.
CHANGES = (
    (
        "config.py",
        "_is_globex = is_globex()\n",
        "def is_initech():\n    return vendor() == 'initech'\n\n\n"
        "_is_globex = is_globex()\n_is_initech = is_initech()\nTIMEOUT = int(os.environ.get('SHOP_TIMEOUT', '9'))\n",
    ),
    (
        "checkout.py",
        "from shop.config import is_globex\n",
        "from shop.config import TIMEOUT, _is_globex, _is_initech, is_globex\n",
    ),
    (
        "checkout.py",
        '    client = find("acme")\n',
        "    if _is_initech and not _is_globex:\n        raise ValueError(TIMEOUT)\n"
        '    client = find("acme")\n    audit(client, "")\n',
    ),
    (
        "checkout.py",
        "def refund(reference):",
        'def audit(client, name):\n    importlib.import_module("shop.log" + name).write(client)\n\n\ndef refund(reference):',
    ),
    ("checkout.py", '"""Charge an order."""\n', '"""Charge an order."""\n\nimport importlib\n'),
    ("log.py", "", "def write(client):\n    print(client)\n"),
    ("receipts.py", "from xml.sax.saxutils import escape\n", "import json\nfrom xml.sax.saxutils import escape\n"),
    (
        "receipts.py",
        'FORMATS = {\n    "text": as_text,\n',
        'def as_json(order, reference):\n    """For programs."""\n    return json.dumps([order.number, reference])\n\n\nFORMATS = {\n    "text": as_text,\n    "json": as_json,\n',
    ),
    (
        "vendors/initech.py",
        "",
        '"""Initech."""\n\nfrom shop.registry import register\n\n\n@register("initech")\nclass Client:\n    """Pays twice."""\n',
    ),
)


@dataclass(frozen=True)
class Release:
    """One pruned release: the trees and the reports."""

    upstream: Path
    output: Path
    reports: Path


def write_release(folder: Path, second: bool) -> Path:
    """An upstream tree."""
    shutil.copytree(SHOP / "upstream", folder)
    for name, old, new in CHANGES if second else ():
        path = folder / "shop" / name
        text = path.read_text() if path.exists() else ""
        assert old in text, (name, old)
        path.write_text(text.replace(old, new, 1) if old else text + new)
    return folder


def prune_into(base: Path, upstream: Path, rules: Path = SHOP / "rules.yaml", findings: Sequence[str] = ()) -> Release:
    """Run once; ``findings``: the codes of all that the run has to say."""
    options = RunOptions((rules,), upstream, base / "out", base / "reports", 1, False, False, base / "cache")
    result = run(options, lambda *_: None)
    assert [row.code for row in result.findings] == list(findings)
    assert result.exit_code == bool(findings)
    return Release(upstream, base / "out", base / "reports")


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    base = tmp_path_factory.mktemp("first")
    yield prune_into(base, write_release(base / "upstream", False))


@pytest.fixture(scope="session")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Release]:
    base = tmp_path_factory.mktemp("second")
    yield prune_into(base, write_release(base / "upstream", True))
