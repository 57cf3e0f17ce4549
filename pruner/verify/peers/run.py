"""Run the test files of a checkout on two trees, file by file, in one environment."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pruner.errors import cannot
from pruner.model import Verdict
from pruner.verify.behaviour import environment
from pruner.verify.behaviour.sessions import ended
from pruner.verify.peers.compare import SHOWN, Outcome, compare

CHECK = "peer-tests"
FOLDERS = ("test/registered/unit", "test/unit", "tests")  # where upstream keeps tests that need no device
LIMIT = 600.0  # seconds for one file
PLUGIN = Path(__file__).with_name("plugin")


@dataclass(frozen=True, slots=True)
class Peers:
    """What to run. ``trees`` are python roots by name; ``device`` empty: as on a host without one."""

    python: Path
    checkout: Path
    trees: dict[str, Path]
    device: str
    work: Path

    def one(self, side: str, file: Path) -> dict[str, Outcome]:
        """The outcomes of one test file on one tree."""
        name = file.relative_to(self.checkout).as_posix()
        place = self.work / side / name.replace("/", "-").removesuffix(".py")
        place.mkdir(parents=True, exist_ok=True)
        rows, log = place / "outcomes.jsonl", place / "log"
        rows.unlink(missing_ok=True)
        variables = {
            **environment.variables(place),
            "PYTHONPATH": f"{PLUGIN}:{self.trees[side]}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PRUNE_PEERS": str(rows),
            "PRUNE_TREE": str(self.trees[side]),
            "PRUNE_PROBE": str(environment.PROBE.parent),
            "PRUNE_STANDINS": " ".join([*environment.ALWAYS, *(environment.KERNELS if self.device else ())]),
            "PRUNE_DEVICE": self.device,
            "SGLANG_REPO": str(self.checkout),
        }
        command = [str(self.python), "-m", "pytest", "-q", "-p", "prune_recorder", "-p", "no:cacheprovider"]
        command += ["--rootdir", str(self.checkout), str(file)]
        with log.open("wb") as stream:
            process = subprocess.Popen(
                command,
                cwd=self.checkout,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code: int | None = process.wait(LIMIT)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                ended(process)
        found: dict[str, Outcome] = {}
        for line in rows.read_text("utf-8").splitlines() if rows.exists() else ():
            row = json.loads(line)
            if row["test"] not in found or row["outcome"] != "passed":
                found[row["test"]] = Outcome(row["outcome"], row["text"])
        if code is None:
            found[name] = Outcome("late", f"no end in {LIMIT:.0f} s")
        elif code not in (0, 1, 2, 5) and not found:
            said = log.read_text("utf-8", "replace").strip().rpartition("\n")[2]
            found[name] = Outcome("no import", f"pytest ended with {code}: {said[-200:]}")
        return found


def files_of(checkout: Path, under: Sequence[str]) -> list[Path]:
    """The test files below the folders ``under`` (or the first of :data:`FOLDERS` that is there)."""
    folders = [checkout / name for name in under] or [
        checkout / name for name in FOLDERS if (checkout / name).is_dir()
    ][:1]
    found: list[Path] = []
    for folder in folders:
        found += [folder] if folder.is_file() else sorted(folder.rglob("test_*.py"))
    return found


def run(
    checkout: Path,
    upstream: Path,
    output: Path,
    python: Path | None,
    *,
    under: Sequence[str] = (),
    device: str = "",
    jobs: int = 1,
    work: Path,
) -> Verdict:
    """Both trees under the checkout's tests. ``upstream`` and ``output`` are python roots.

    ``seconds`` of the verdict is wall time. Raises :class:`pruner.errors.PruneError` when there is no such folder.
    """
    start = time.monotonic()
    for name in under:
        if not (checkout / name).exists():
            raise cannot(name, "PR402", "the checkout has no such folder of tests", "give one with --under")
    files = files_of(checkout, under)
    if not files:
        return Verdict(CHECK, "upstream has no test files here: a release carries none", "not run")
    lack = environment.lacking(python, ("pytest",)) if python is not None else "no interpreter was named"
    if lack or python is None:
        return Verdict(CHECK, f"the interpreter is not fit: {lack}", "not run")
    trees = {"upstream": upstream.resolve(), "output": output.resolve()}
    peers = Peers(python.absolute(), checkout.resolve(), trees, device, work.resolve())
    tasks = [(side, file.resolve()) for file in files for side in trees]
    outcomes: dict[str, dict[str, Outcome]] = {side: {} for side in trees}
    with ThreadPoolExecutor(jobs) as pool:
        for (side, _), found in zip(tasks, pool.map(lambda task: peers.one(*task), tasks), strict=True):
            outcomes[side].update(found)
    problems, counts, notes = compare(outcomes["upstream"], outcomes["output"])
    shown = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
    covered = f"{len(files)} files, {device or 'no device'}: equal in both: {shown or 'nothing'}"
    if notes:
        covered += f"; {len(notes)} of them with another text"
    if problems:
        covered += f"; {len(problems)} problem{'s' if len(problems) > 1 else ''}"
    shut = [
        row for test, row in sorted(outcomes["upstream"].items()) if "::" not in test and row.outcome == "no import"
    ]
    few = 2 * len(shut) > len(files)
    if few:  # what fails alike before any test shows nothing of the trees
        covered += (
            f"; upstream imports {len(files) - len(shut)} of {len(files)} files here, first: {shut[0].text[:200]}"
        )
    result = "refuted" if problems else "passed" if counts and not few else "not run"
    return Verdict(CHECK, covered, result, tuple((problems or notes)[:SHOWN]), round(time.monotonic() - start, 1))
