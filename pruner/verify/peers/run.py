"""Run the test files of a checkout on two trees, file by file, in one environment."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pruner.errors import cannot
from pruner.model import Verdict
from pruner.verify.behaviour import environment
from pruner.verify.peers.compare import SHOWN, Difference, Outcome, Reason, Why, compare
from pruner.verify.peers.sessions import PLUGIN, Sessions

CHECK = "peer-tests"
FOLDERS = ("test/registered/unit", "test/unit", "tests")  # where upstream keeps tests that need no device
LIMIT = 600.0  # seconds for one file
TAKEN = "address already in use"
SLOWER = 3  # times LIMIT for a file whose lines are recorded

Explain = Callable[[Sequence[Difference], "Again"], Mapping[str, Reason]]
Entry = tuple[str, str, str]  # module, dotted name of a table in it, key
# What the causes of removals are called in a sentence: (kind, plural).
KINDS = {
    "gone": "ask for what is gone",
    "executes": "execute what a rule took",
    "refused": "refused",
    "entries": "need an entry that a rule took",
}


@dataclass(frozen=True, slots=True)
class Gone:
    """What the output has no more, by a run's ledger: dotted modules, and dotted names in modules that are there."""

    modules: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Ran:
    """What a test ran: lines by path below the python root, and the strings and names in its own functions."""

    lines: Mapping[str, Sequence[int]]
    words: frozenset[str] = frozenset()


@dataclass(slots=True)
class Peers:
    """What to run. ``trees`` are python roots by name; ``device`` empty: as on a host without one."""

    python: Path
    checkout: Path
    trees: dict[str, Path]
    device: str
    work: Path
    gone: Gone = Gone()
    preloaded: list[str] = field(default_factory=list)
    _own: threading.local = field(default_factory=threading.local)
    _all: list[Sessions] = field(default_factory=list)

    def start(self) -> Sessions:
        """This thread's server of sessions. ``OSError`` of one that has ended is the caller's."""
        found: Sessions | None = getattr(self._own, "server", None)
        if found is None:
            place = self.work / "servers"
            place.mkdir(parents=True, exist_ok=True)
            variables = {
                **environment.variables(place),
                "PYTHONDONTWRITEBYTECODE": "",  # compiled files are written, but not beside their sources
                "PYTHONPYCACHEPREFIX": str(self.work / "compiled"),
                "PRUNE_PROBE": str(environment.PROBE.parent),
                "PRUNE_STANDINS": " ".join([*environment.ALWAYS, *(environment.KERNELS if self.device else ())]),
                "PRUNE_DEVICE": self.device,
                "SGLANG_REPO": str(self.checkout),
            }
            found = Sessions(self.python, variables, self.checkout, place / "log")
            self._all.append(found)
            self._own.server = found
            if self.preloaded:
                found.preload(self.preloaded, LIMIT)
        return found

    def close(self) -> None:
        """End every server."""
        for server in self._all:
            server.close()
        self._all.clear()
        self._own = threading.local()

    def one(
        self, side: str, file: Path, only: Mapping[str, Sequence[Entry] | None] = MappingProxyType({})
    ) -> tuple[dict[str, Outcome], dict[str, Ran]]:
        """The outcomes of one test file on one tree; with ``only``, of these tests, and what they execute.

        ``only`` says of each test which entries of tables are taken away while it runs.
        """
        name = file.relative_to(self.checkout).as_posix()
        place = self.work / (f"{side}-lines" if only else side) / name.replace("/", "-").removesuffix(".py")
        place.mkdir(parents=True, exist_ok=True)
        rows, log = place / "outcomes.jsonl", place / "log"
        rows.unlink(missing_ok=True)
        home = place / "home"
        home.mkdir(exist_ok=True)
        variables = {
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONPATH": f"{PLUGIN}:{self.trees[side]}",
            "PRUNE_PEERS": str(rows),
            "PRUNE_TREE": str(self.trees[side]),
            "PRUNE_LOADED": "" if self.preloaded else str(place / "loaded.json"),
        }
        if only:
            (place / "only.json").write_text(
                json.dumps({test: list(entries or ()) for test, entries in only.items()}), "utf-8"
            )
            variables["PRUNE_ONLY"] = str(place / "only.json")
        if side == "output" and (self.gone.modules or self.gone.names):
            told = {"modules": sorted(self.gone.modules), "names": sorted(self.gone.names)}
            (place / "gone.json").write_text(json.dumps(told), "utf-8")
            variables["PRUNE_GONE"] = str(place / "gone.json")
        arguments = ["-q", "-p", "prune_recorder", "-p", "no:cacheprovider", "--rootdir", str(self.checkout), str(file)]
        limit = LIMIT * (SLOWER if only else 1)
        try:
            code = self.start().run(variables, [str(self.trees[side])], self.checkout, arguments, log, limit)
        except OSError as error:
            self._own.server = None  # the next file gets another
            return {name: Outcome("no import", f"the interpreter: {error}")}, {}
        return self._read(name, rows, log, code, limit)

    def _read(
        self, name: str, rows: Path, log: Path, code: int | None, limit: float
    ) -> tuple[dict[str, Outcome], dict[str, Ran]]:
        found: dict[str, Outcome] = {}
        lines: dict[str, Ran] = {}
        for line in rows.read_text("utf-8").splitlines() if rows.exists() else ():
            row = json.loads(line)
            if "lines" in row:
                lines[row["test"]] = Ran(row["lines"], frozenset(row["words"]))
            elif "elsewhere" in row:
                found[name] = Outcome("no import", row["elsewhere"])
            elif row["test"] not in found or (row["outcome"] != "passed" and found[row["test"]].outcome != "failed"):
                found[row["test"]] = Outcome(row["outcome"], row["text"], _why(row.get("why")))
        if code is None:
            found[name] = Outcome("late", f"no end in {limit:.0f} s")
        elif code not in (0, 1, 2, 5) and name not in found:  # a session that died may have left some outcomes
            said = log.read_text("utf-8", "replace").strip().rpartition("\n")[2]
            found[name] = Outcome("no import", f"pytest ended with {code}: {said[-200:]}")
        return found, lines

    def measure(self, files: Sequence[Path], jobs: int) -> dict[str, dict[str, Outcome]]:
        """Every file on both trees. What the first one loads from outside the tree is loaded once for the others.

        The two runs of a file follow each other: what its tests take for themselves (a port, a path) is free for the second.
        """
        outcomes: dict[str, dict[str, Outcome]] = {side: {} for side in self.trees}
        outcomes["upstream"].update(self.one("upstream", files[0])[0])
        loaded = self.work / "upstream" / files[0].relative_to(self.checkout).as_posix().replace("/", "-")
        with contextlib.suppress(OSError, ValueError):
            self.preloaded = list(json.loads((loaded.with_suffix("") / "loaded.json").read_text("utf-8")))
        self.close()
        first = ("upstream", files[0])

        def both(file: Path) -> list[tuple[str, dict[str, Outcome]]]:
            return [(side, self.one(side, file)[0]) for side in self.trees if (side, file) != first]

        with ThreadPoolExecutor(jobs) as pool:
            for rows in pool.map(both, files):
                for side, found in rows:
                    outcomes[side].update(found)
        for file in files if jobs > 1 else ():
            if self._taken(file, outcomes):  # by a test of another file: once more, alone
                for side in self.trees:
                    outcomes[side].update(self.one(side, file)[0])
        return outcomes

    def _taken(self, file: Path, outcomes: Mapping[str, Mapping[str, Outcome]]) -> bool:
        """Does a test of the file fail on one tree alone, since somebody else has its port?"""
        name = file.relative_to(self.checkout).as_posix()
        for test, row in (row for side in self.trees for row in outcomes[side].items()):
            if test.partition("::")[0] == name and TAKEN in row.text.lower():
                others = [outcomes[side].get(test) for side in self.trees]
                if any(other is None or other.outcome != row.outcome for other in others):
                    return True
        return False


@dataclass(frozen=True, slots=True)
class Again:
    """Runs single tests once more on the upstream tree."""

    peers: Peers
    jobs: int

    def traced(self, tests: Iterable[str]) -> dict[str, Ran]:
        """What each test executes; only of tests that pass again."""
        rows: dict[str, Ran] = {}
        for outcomes, ran in self._run(dict.fromkeys(tests)):
            rows.update(
                {test: one for test, one in ran.items() if test in outcomes and outcomes[test].outcome == "passed"}
            )
        return rows

    def without(self, entries: Mapping[str, Sequence[Entry]]) -> dict[str, Outcome]:
        """The outcome of each test while these entries of dictionaries, lists and sets are away."""
        rows: dict[str, Outcome] = {}
        for outcomes, _ in self._run(entries):
            rows.update({test: one for test, one in outcomes.items() if test in entries})
        return rows

    def _run(self, tests: Mapping[str, Any]) -> Iterator[tuple[dict[str, Outcome], dict[str, Ran]]]:
        files: dict[str, dict[str, Any]] = defaultdict(dict)
        for test, value in tests.items():
            files[test.partition("::")[0]][test] = value
        with ThreadPoolExecutor(self.jobs) as pool:
            yield from pool.map(
                lambda row: self.peers.one("upstream", self.peers.checkout / row[0], row[1]), files.items()
            )


def _why(row: Mapping[str, Any] | None) -> Why:
    return Why(row["refused"], row["where"], tuple(row["asked"]), row["file"], row["told"]) if row else Why()


def files_of(checkout: Path, under: Sequence[str]) -> list[Path]:
    """The test files below the folders ``under`` (or the first of :data:`FOLDERS` that is there)."""
    folders = [checkout / name for name in under] or [
        checkout / name for name in FOLDERS if (checkout / name).is_dir()
    ][:1]
    found: list[Path] = []
    for folder in folders:
        found += [folder] if folder.is_file() else sorted(folder.rglob("test_*.py"))
    return list(dict.fromkeys(found))


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
    gone: Gone | None = None,
    explain: Explain | None = None,
) -> Verdict:
    """Both trees under the checkout's tests. ``upstream`` and ``output`` are python roots.

    ``explain`` gets the differences and a way to have tests traced on upstream, and gives a reason for those that are no
    fault; without it every difference is a problem. ``seconds`` of the verdict is wall time.
    Raises :class:`pruner.errors.PruneError` when there is no such folder.
    """
    start = time.monotonic()
    for name in under:
        if not (checkout / name).exists():
            raise cannot(name, "PR402", "the checkout has no such folder of tests", "give one with --under")
    files = files_of(checkout.resolve(), under)
    if not files:
        return Verdict(CHECK, "upstream has no test files here: a release carries none", "not run")
    lack = environment.lacking(python, ("pytest",)) if python is not None else "no interpreter was named"
    if lack or python is None:
        return Verdict(CHECK, f"the interpreter is not fit: {lack}", "not run")
    trees = {"upstream": upstream.resolve(), "output": output.resolve()}
    peers = Peers(python.absolute(), checkout.resolve(), trees, device, work.resolve(), gone or Gone())
    try:
        outcomes = peers.measure(files, jobs)
        differences, counts, notes = compare(outcomes["upstream"], outcomes["output"])
        reasons = explain(differences, Again(peers, jobs)) if explain and differences else {}
    finally:
        peers.close()
    return _verdict(files, device, outcomes["upstream"], (differences, counts, notes), reasons, start)


def _verdict(
    files: Sequence[Path],
    device: str,
    upstream: Mapping[str, Outcome],
    compared: tuple[list[Difference], Counter[str], list[str]],
    reasons: Mapping[str, Reason],
    start: float,
) -> Verdict:
    differences, counts, notes = compared
    problems = [str(row) for row in differences if row.test not in reasons]
    kinds: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    explained = []
    for row in differences:
        if (reason := reasons.get(row.test)) is not None:
            kinds[reason.kind] += row.tests
            causes[reason.rule] += row.tests
            told = {"test": row.test, "tests": row.tests, "kind": reason.kind, "cause": reason.rule, "why": reason.text}
            explained.append({**told, "upstream": row.up.outcome if row.up else "", "difference": str(row)})
    shown = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
    covered = f"{len(files)} files, {device or 'no device'}: equal in both: {shown or 'nothing'}"
    if notes:
        covered += f"; {len(notes)} of them with another text"
    if kinds:
        by = ", ".join(f"{count} {KINDS[kind]}" for kind, count in sorted(kinds.items(), key=lambda r: (-r[1], r[0])))
        shut = sum(row.tests for row in differences if row.test in reasons and "::" not in row.test)
        unread = f", {shut} of them in files that cannot be imported and show nothing else" if shut else ""
        covered += f"; {sum(kinds.values())} explained ({by}{unread})"
    if problems or kinds:
        covered += f"{', ' if kinds else '; '}{len(problems)} problem{'s' if len(problems) != 1 else ''}"
    closed = [row for test, row in sorted(upstream.items()) if "::" not in test and row.outcome == "no import"]
    few = 2 * len(closed) > len(files)
    if few:  # what fails alike before any test shows nothing of the trees
        opened = len(files) - len(closed)
        covered += f"; upstream imports {opened} of {len(files)} files here, first: {closed[0].text[:200]}"
    result = "refuted" if problems else "passed" if counts and not few else "not run"
    figures: dict[str, Any] = {"equal": dict(sorted(counts.items())), "problems": problems}
    if explained:
        figures |= {
            "explained": explained,
            "kinds": dict(sorted(kinds.items())),
            "causes": dict(sorted(causes.items())),
        }
    seconds = round(time.monotonic() - start, 1)
    return Verdict(CHECK, covered, result, tuple((problems or notes)[:SHOWN]), seconds, figures)
