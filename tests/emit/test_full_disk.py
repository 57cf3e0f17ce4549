"""The whole command on a full disk, and under a limit on the size of files: the old output stays, with one message."""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.kills import FEWER, HERE, SHOP, digest
from tests.emit.full_disk import FREE


def one_message(said: str) -> bool:
    """One located error of those that say that nothing could be written."""
    found = [line for line in said.splitlines() if " error " in line or "Traceback" in line]
    return len(found) == 1 and re.search(r": error PR(302|501): .*", found[0]) is not None


def true(said: str, out: str) -> bool:
    """Whether the message says of the output what is the case: it is as it was, or it is the new one."""
    return ("is the new tree, whole and checked" in said and "run again" in said) == (out == "after")


def test_a_disk_that_fills_up(tmp_path: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("no unshare to mount a small file system")
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*apart, "mount", "-t", "tmpfs", "tmpfs", str(tmp_path)], capture_output=True).returncode:
        pytest.skip("no file system may be mounted here")
    command = [*apart, sys.executable, "-m", "tests.emit.full_disk", str(tmp_path)]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False, timeout=170)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == list(FREE)
    assert "damaged" not in done.stdout
    for _, code, said, out, reports, others in rows:
        assert others == []
        if code == 0:
            assert (out, reports) == ("after", "after")
        else:
            assert code == 2 and reports == "before"
            assert one_message(said) and true(said, out), said
    assert rows[0][1:2] + rows[0][3:5] == [2, "before", "before"]
    assert any(row[3:5] == ["after", "before"] for row in rows)  # room for the output, none for the reports
    assert rows[-1][1] == 0
    assert {row[1] for row in rows} == {0, 2}


# 2,000: more than any file of the output, less than the page of the reports
@pytest.mark.parametrize(("limit", "out"), [(0, "before"), (500, "before"), (2000, "after")])
def test_a_limit_on_the_size_of_files(tmp_path: Path, limit: int, out: str) -> None:
    fewer = tmp_path / "fewer.yaml"
    fewer.write_text(FEWER)

    def run(rules: Path, size: int) -> subprocess.CompletedProcess[str]:
        def narrow() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        command = [sys.executable, "-m", "pruner", "--rules", str(rules), "--upstream", str(SHOP / "upstream")]
        command += ["--output", str(tmp_path / "out"), "--reports", str(tmp_path / "reports"), "-j", "1"]
        where = os.environ | {"PRUNE_CACHE": str(tmp_path / "cache")}
        limited = narrow if size >= 0 else None
        return subprocess.run(command, cwd=HERE, env=where, preexec_fn=limited, capture_output=True, text=True)

    assert run(fewer, -1).returncode == 0
    before = digest(tmp_path / "out"), digest(tmp_path / "reports")
    done = run(SHOP / "rules.yaml", limit)
    assert done.returncode == 2 and one_message(done.stderr) and true(done.stderr, out), done.stderr
    assert ".pruning" not in done.stderr
    left = digest(tmp_path / "out"), digest(tmp_path / "reports")
    assert not [path for path in tmp_path.iterdir() if path.name.endswith((".refuted", ".pruning", ".lock"))]
    assert run(SHOP / "rules.yaml", -1).returncode == 0
    assert left == (before[0] if out == "before" else digest(tmp_path / "out"), before[1])
