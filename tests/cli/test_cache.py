"""The result cache: deleted, cut short, full of other bytes, shared or unwritable, the output is the same."""

from __future__ import annotations

import hashlib
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.kills import FEWER
from pruner import policy
from pruner.model import Outcome
from pruner.pipeline import RunOptions, load, remembered, run
from pruner.pipeline import cache as store

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "examples" / "shop"


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def pruned(
    place: Path, cache: Path, upstream: Path = SHOP / "upstream", rules: Path = SHOP / "rules.yaml"
) -> dict[str, bytes]:
    """Everything that a run writes, by path."""
    options = RunOptions((rules,), upstream, place / "out", place / "reports", 1, False, True, cache)
    result = run(options, lambda _stage, _share: None)
    assert result.exit_code == 0, result.findings
    return {f"out/{k}": v for k, v in contents(place / "out").items()} | {
        f"reports/{k}": v for k, v in contents(place / "reports").items()
    }


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a run without any cache writes."""
    return pruned(tmp_path_factory.mktemp("fresh"), Path())


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that runs under two rule files have filled."""
    place = tmp_path_factory.mktemp("filled")
    (place / "fewer.yaml").write_text(FEWER)
    pruned(place / "other", place / "cache", rules=place / "fewer.yaml")
    pruned(place / "first", place / "cache")
    assert list((place / "cache").glob("results-*"))
    return place / "cache"


@pytest.fixture
def cache(filled: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of it, to be harmed."""
    folder = tmp_path / "cache"
    shutil.copytree(filled, folder)
    yield folder
    folder.chmod(0o755)


def _delete(folder: Path) -> None:
    for entry in folder.glob("results-*"):
        entry.unlink()


def _cut(folder: Path) -> None:
    for entry in folder.glob("results-*"):
        entry.write_bytes(entry.read_bytes()[: entry.stat().st_size // 2])


def _empty(folder: Path) -> None:
    for entry in folder.glob("results-*"):
        entry.write_bytes(b"")


def _garbage(folder: Path) -> None:
    for entry in folder.glob("results-*"):
        entry.write_bytes(hashlib.sha256(entry.name.encode()).digest() * 50)


def _flip(folder: Path) -> None:
    for entry in folder.glob("results-*"):
        data = bytearray(entry.read_bytes())
        data[len(data) // 2] ^= 1
        entry.write_bytes(data)


def _foreign(folder: Path) -> None:
    """Whole entries of another layout, checksum and all."""
    data = pickle.dumps(("of", "another", "version"))
    for entry in folder.glob("results-*"):
        name = entry.name.removeprefix("results-")
        entry.write_bytes(hashlib.sha256(name.encode() + b"\0" + data).digest() + data)


def _moved(folder: Path) -> None:
    """Each entry holds what another one held, that of other rules among them."""
    entries = sorted(folder.glob("results-*"))
    held = [entry.read_bytes() for entry in entries]
    for entry, data in zip(entries, [*held[1:], held[0]], strict=True):
        entry.write_bytes(data)


def _folders(folder: Path) -> None:
    _delete(folder)
    for name in ("results-x", "results-y"):
        (folder / name).mkdir()


def _read_only(folder: Path) -> None:
    _delete(folder)
    folder.chmod(0o555)


def _untouched(folder: Path) -> None:
    pass


HARM = [_untouched, _delete, _cut, _empty, _garbage, _flip, _foreign, _moved, _folders, _read_only]


@pytest.mark.parametrize("harm", HARM, ids=lambda harm: harm.__name__[1:])
def test_whatever_happens_to_the_cache_the_output_is_the_same(
    harm: Callable[[Path], None], cache: Path, fresh: dict[str, bytes], tmp_path: Path
) -> None:
    harm(cache)
    assert pruned(tmp_path / "again", cache) == fresh


def test_entries_of_other_rules_and_of_another_version_are_not_taken(
    fresh: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    (tmp_path / "fewer.yaml").write_text(FEWER)
    assert pruned(tmp_path / "fewer", folder, rules=tmp_path / "fewer.yaml") != fresh
    with monkeypatch.context() as patch:
        patch.setattr(store, "tool_digest", lambda: "another version")
        pruned(tmp_path / "older", folder)
    theirs = {path.name for path in folder.glob("results-*")}
    loaded: list[object] = []
    load_entry = store.load

    def watched(place: Path, name: str, kind: type) -> object:
        found = load_entry(place, name, kind)
        loaded.append(found)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(store, "load", watched)
        assert pruned(tmp_path / "mine", folder) == fresh
    assert not any(isinstance(found, Outcome) for found in loaded)
    assert {path.name for path in folder.glob("results-*")} > theirs


BASE = """\
rules:
  - {id: no-hip, assume: {app.hip: false}, because: an example}
"""
# rules.yaml extends a file in another folder, which names a table in a third: each of them can change alone
RULE_FILES = {
    "mine/rules.yaml": "extends: [../base/base.yaml]\nrules:\n  - {id: root, root: [app.main], because: an example}\n",
    "base/base.yaml": "capabilities: {places: ../data/places.yaml, column: mine}\n" + BASE,
    "data/places.yaml": "table: ../tables/table.csv\nkinds: {}\n",
    "tables/table.csv": "kind,key,mine\n",
}


@pytest.mark.parametrize("changed", RULE_FILES)
def test_rule_files_are_read_again_when_one_that_they_lead_to_changes(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in RULE_FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    rules, cache = [tmp_path / "mine/rules.yaml"], tmp_path / "cache"
    first = remembered.read_policy(rules, cache)
    reads: list[object] = []
    monkeypatch.setattr(remembered, "load", lambda paths: reads.append(paths) or policy.load(paths))
    again = remembered.read_policy(rules, cache)
    assert not reads
    assert (again, again.read, again.shown) == (first, first.read, first.shown)
    with (tmp_path / changed).open("a") as file:
        file.write("# more\n" if changed.endswith("yaml") else "other,key,keep\n")
    later = remembered.read_policy(rules, cache)
    assert reads == [rules]
    assert later.read != first.read
    assert later == policy.load(rules)


def test_a_changed_file_is_read_again_and_the_others_are_not(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = tmp_path / "tree"
    for path, data in contents(SHOP / "upstream").items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(data)
    with (tree / "shop" / "order.py").open("ab") as file:
        file.write(b"\n\ndef _touched():\n    return 1\n")
    wanted = pruned(tmp_path / "uncached", Path(), tree)
    lower, seen = load.lower_file, []

    def watched(path: Path) -> load.Lowered:
        seen.append(path.name)
        return lower(path)

    monkeypatch.setattr(load, "lower_file", watched)
    assert pruned(tmp_path / "again", cache, tree) == wanted
    assert seen == ["order.py"]


def test_two_runs_at_once_share_a_cache(fresh: dict[str, bytes], tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    command = [sys.executable, "-m", "pruner", "--rules", str(SHOP / "rules.yaml"), "-j", "1", "--cache", str(folder)]
    command += ["--upstream", str(SHOP / "upstream")]
    places = [tmp_path / "one", tmp_path / "two"]
    runs = [
        subprocess.Popen(
            [*command, "--output", str(place / "out"), "--reports", str(place / "reports")],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for place in places
    ]
    assert [process.wait(timeout=300) for process in runs] == [0, 0]
    for place in places:
        found = {f"out/{k}": v for k, v in contents(place / "out").items()}
        assert found == {k: v for k, v in fresh.items() if k.startswith("out/")}
