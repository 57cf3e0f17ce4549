"""The same bytes whatever the number of jobs and however Python orders its sets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RULES = """\
rules:
  - id: fast
    assume: {"shop.flags.fast()": true}
    because: the test says so
  - id: main
    root: [shop.main]
    because: it is started
"""


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program large enough for every pool of workers, whose functions are reached by name alone."""
    folder = tmp_path_factory.mktemp("program") / "shop"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "flags.py").write_text("def fast():\n    return probe()\n\n\ndef probe():\n    return True\n")
    parts = range(230)
    for k in parts:
        lines = ["from shop.flags import fast", ""]
        for name in ("sell", "weigh", "pack", "count", "stack", "label"):
            lines += [
                "",
                f"def {name}_{k}():",
                "    if fast():",
                f"        from shop import part{(k * 7 + len(name)) % 230} as other",
                "    else:",
                "        import shop.slow as other",
                "    return other",
                "",
            ]
        (folder / f"part{k}.py").write_text("\n".join(lines))
    (folder / "slow.py").write_text("VALUE = 1\n")
    # Names on values that nobody knows, keywords and words of texts are kept as sets.
    calls = [f"    x[0].sell_{k}, x[0].weigh_{k}, x[0].pack_{k}, dict(count_{k}=1, stack_{k}=2)" for k in parts]
    words = [f"    getattr(x, 'a label_{k}')" for k in parts]
    loads = [f"    from shop import part{k}" for k in range(0, 230, 3)]
    given = ", ".join(f"part{k}" for k in range(0, 230, 3))
    text = [
        "def given():",
        *loads,
        f"    return [{given}]",
        "",
        "",
        "def use(x):",
        *calls,
        *words,
        "",
        "",
        "use(given())",
    ]
    (folder / "main.py").write_text("\n".join(text) + "\n")
    return folder.parent


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def pruned(upstream: Path, place: Path, jobs: int, seed: int) -> dict[str, bytes]:
    (place / "rules").mkdir(parents=True)
    (place / "rules" / "shop.yaml").write_text(RULES)
    command = [sys.executable, "-m", "pruner", "--rules", str(place / "rules" / "shop.yaml")]
    command += ["--upstream", str(upstream)]
    command += ["--output", str(place / "out"), "--reports", str(place / "reports"), "-j", str(jobs)]
    command += ["--cache", str(place / "cache")]
    ran = subprocess.run(
        command, cwd=ROOT, env={"PYTHONHASHSEED": str(seed), "PATH": "/usr/bin:/bin"}, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    found = contents(place)
    return {path: data for path, data in found.items() if path.startswith(("out/", "reports/"))}


def test_jobs_and_hash_seeds_do_not_show(upstream: Path, tmp_path: Path) -> None:
    first = pruned(upstream, tmp_path / "one", 1, 1)
    assert b"slow" not in first["out/shop/part0.py"] and "out/shop/slow.py" not in first
    assert {"reports/graph.json", "reports/inventory.json", "reports/ledger.json"} <= first.keys()
    for jobs, seed in ((2, 2), (4, 3)):
        other = pruned(upstream, tmp_path / f"jobs{jobs}", jobs, seed)
        assert first.keys() == other.keys()
        assert [path for path in first if first[path] != other[path]] == []
