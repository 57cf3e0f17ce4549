"""Kill runs at random moments and look at what they leave: the whole old output or the whole new one.

    python benchmarks/kills.py [--kills 200] [--seed 1]

The program of ``examples/shop`` is pruned in turn under its own rules and under fewer of them, each
run in a process that gets SIGKILL after a random part of the time that a run takes. After every kill the
output and the reports must be, byte for byte, what the one or the other rule file gives, and the next
run must start. Prints one line of figures; exit code 1 if anything was damaged.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
SHOP = HERE / "examples" / "shop"
FEWER = """\
rules:
  - id: shop.start
    because: The shop is started as python -m shop.
    root: [shop.__main__]
"""


def digest(folder: Path) -> str:
    """One digest of every path, content, mode bit and link below a folder; "" when it is not there."""
    if not folder.is_dir():
        return ""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        total.update(path.relative_to(folder).as_posix().encode() + b"\0")
        if path.is_symlink():
            total.update(os.readlink(path).encode())
        elif path.is_file():
            total.update(b"x" if os.access(path, os.X_OK) else b"-")
            total.update(path.read_bytes())
    return total.hexdigest()


def start(rules: Path, output: Path, jobs: int) -> int:
    """A run in a process of its own; its id."""
    child = os.fork()
    if child:
        return child
    try:
        from pruner.pipeline import RunOptions, run

        os.setsid()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        reports = output.with_name(f"{output.name}-reports")
        cache = output.with_name("cache")
        options = RunOptions((rules,), SHOP / "upstream", output, reports, jobs, False, False, cache)
        os._exit(run(options, lambda _stage, _share: None).exit_code)
    except BaseException as error:  # the parent tells it from a kill by the code
        print(f"{type(error).__name__}: {error}", file=sys.stdout, flush=True)
        os._exit(70)


def _group_lives(group: int) -> bool:
    """Does a process of the killed run's session live on a second later? It is ended then."""
    for _ in range(100):
        if not any(members(group)):
            return False
        time.sleep(0.01)
    os.killpg(group, signal.SIGKILL)
    return True


def members(group: int) -> Iterator[int]:
    """Processes of a group that run; one that is dead and waits for its parent does not."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, found = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(found) == group and state not in "ZX":
            yield int(path.parent.name)


def whole(rules: Path, folder: Path, jobs: int) -> tuple[tuple[str, str], float]:
    """Digests of the output and of the reports of a run that nobody kills, and its seconds."""
    began = time.monotonic()
    _, status = os.waitpid(start(rules, folder / "out", jobs), 0)
    assert os.waitstatus_to_exitcode(status) == 0, f"a run failed with {status}"
    return (digest(folder / "out"), digest(folder / "out-reports")), time.monotonic() - began


def main(arguments: list[str] | None = None) -> int:
    """Run the loop. Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    sys.path.insert(0, str(HERE))
    import pruner.pipeline.run  # noqa: F401  (once, for all runs)

    chance = random.Random(options.seed)
    met: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        base = Path(place)
        fewer = base / "fewer.yaml"
        fewer.write_text(FEWER)
        choices = (SHOP / "rules.yaml", fewer)
        known, seconds = [], 0.0
        for index, rules in enumerate(choices):
            (base / f"known{index}").mkdir()
            row, took = whole(rules, base / f"known{index}", 1)
            known.append(row)
            seconds = max(seconds, took)
        work = base / "work"
        work.mkdir()
        whole(choices[0], work, 1)
        while met["kills"] < options.kills:
            rules = chance.choice(choices)
            if chance.random() < 0.5:  # no shortcut: the engine runs as well
                for entry in (work / "cache").glob("results-*"):
                    entry.unlink()
            child = start(rules, work / "out", chance.choice((1, 2)))
            time.sleep(chance.uniform(0, seconds * 1.1))
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            code = os.waitstatus_to_exitcode(status)
            met["kills" if code == -signal.SIGKILL else "too late" if code == 0 else "failed"] += 1
            met["workers left"] += _group_lives(child)
            met["damaged outputs"] += digest(work / "out") not in [row[0] for row in known]
            met["damaged reports"] += digest(work / "out-reports") not in [row[1] for row in known]
        row, _ = whole(choices[0], work, 1)
        met["damaged outputs"] += row[0] != known[0][0]
        left = sorted(p.name for p in work.iterdir() if p.name not in ("out", "out-reports", "cache"))
    words = ("kills", "too late", "failed", "damaged outputs", "damaged reports", "workers left")
    print(", ".join(f"{met[word]} {word}" for word in words) + f"; left behind: {', '.join(left) or 'nothing'}")
    return 1 if any(met[word] for word in words[2:]) or left else 0


if __name__ == "__main__":
    sys.exit(main())
