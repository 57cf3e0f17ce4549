"""Run inside a mount namespace of its own by ``test_full_disk``: whole runs on a small file system that is nearly full.

    python -m tests.emit.full_disk PLACE

PLACE is a folder to mount on. Prints one JSON row a run: [free bytes, exit code, stderr, output as before or as
after, reports as before or as after, what is left over]. The places that a run writes are all on the small file system.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.kills import FEWER, SHOP, digest

SIZE = 4 << 20
FREE = (0, 12 << 10, 96 << 10, 2 << 20)  # pages of 4096 bytes


def prune(rules: Path, disk: Path) -> subprocess.CompletedProcess[str]:
    """One run whose output, reports, cache and temporary files are on the disk."""
    command = [sys.executable, "-m", "pruner", "--rules", str(rules), "--upstream", str(SHOP / "upstream")]
    command += ["--output", str(disk / "out"), "--reports", str(disk / "reports"), "-j", "1"]
    places = {"TMPDIR": str(disk / "tmp"), "PRUNE_CACHE": str(disk / "cache")}
    return subprocess.run(command, env=os.environ | places, capture_output=True, text=True, check=False, timeout=60)


def digests(disk: Path) -> tuple[str, str]:
    """Of the output and of the reports."""
    return digest(disk / "out"), digest(disk / "reports")


def main(place: Path) -> None:
    """Mount, make the two outputs that there may be, then run on a disk that gets fuller and fuller."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)], check=True)
    fewer = place / "fewer.yaml"
    fewer.write_text(FEWER)
    known = {}
    for name, rules in (("after", SHOP / "rules.yaml"), ("before", fewer)):
        (place / "tmp").mkdir(exist_ok=True)
        done = prune(rules, place)
        assert done.returncode == 0, done.stderr
        known[name] = digests(place)
        shutil.copytree(place / "out", place / name / "out", symlinks=True)
        shutil.copytree(place / "reports", place / name / "reports")
    assert known["after"] != known["before"]
    for free in FREE:
        for name in ("out", "reports", "tmp", "cache"):
            shutil.rmtree(place / name, ignore_errors=True)
        for name in ("out", "reports"):
            shutil.copytree(place / "before" / name, place / name, symlinks=True)
        (place / "tmp").mkdir()
        there = set(os.listdir(place))
        left = os.statvfs(place)
        with (place / "ballast").open("wb") as ballast:
            os.posix_fallocate(ballast.fileno(), 0, left.f_bavail * left.f_frsize - free)
        done = prune(SHOP / "rules.yaml", place)
        (place / "ballast").unlink()
        words = [
            next((word for word, pair in known.items() if pair[i] == found), "damaged")
            for i, found in enumerate(digests(place))
        ]
        others = sorted(set(os.listdir(place)) - there - {"cache"})
        print(json.dumps([free, done.returncode, done.stderr, *words, others]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
