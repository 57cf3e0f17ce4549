"""The verifier's driver: phases over worker processes, one verdict per check."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pruner.errors import cannot
from pruner.model import Verdict
from pruner.verify import capabilities, datafiles, native, ops, order, phases, standins
from pruner.verify.discard import Families
from pruner.verify.dynamic import Dynamic
from pruner.verify.giving import unasked
from pruner.verify.imports import Imports
from pruner.verify.lint import added, compiles, explained, ruff
from pruner.verify.liveness import Liveness
from pruner.verify.lost import Lost
from pruner.verify.manifest import rejected
from pruner.verify.names import module_names
from pruner.verify.native import take_macros
from pruner.verify.output import Output
from pruner.verify.residue import Residue
from pruner.verify.rules import Stated, below, covers, merge, read_case, read_rules, version_of, without
from pruner.verify.tree import Tree
from pruner.verify.wholefiles import additions, links, twins
from pruner.verify.workers import Workers
from pruner.verify.world import World

CHECKS = (
    "compile",
    "lint",
    "imports",
    "tokens",
    "native",
    "ops",
    "fold",
    "discard",
    "modules",
    "guards",
    "capabilities",
)
T = TypeVar("T")
SHOWN = 50  # details of one verdict


class Ready:
    """What a verification knows before there is an output: upstream and the rules. ``world`` may have read modules."""

    def __init__(self, upstream: Path, stated: Stated, python_root: str) -> None:
        self.macros, self.taken = take_macros(stated)
        self.stated = stated
        self.up = Tree(upstream, python_root)
        self.world = World(self.up, stated)
        self.facts = phases.spoken(stated)
        self.families = Families(text for _, text in stated.discards)
        self.looked: dict[str, phases.Looked] = {}

    def look(self, path: str) -> None:
        """Look at a file of upstream that the output may have as it is."""
        found = phases.look(self.world, self.facts, self.families, path)
        if found is not None:
            self.looked[path] = found

    def without(self, subjects: Sequence[str]) -> Ready:
        """Where these facts were rejected."""
        found = copy(self)
        found.stated = without(self.stated, subjects)
        found.world = World(self.up, found.stated, like=self.world)
        found.facts, found.looked = phases.spoken(found.stated), {}
        return found


class Run:
    """One verification."""

    def __init__(
        self,
        ready: Ready,
        output: Path,
        jobs: int,
        checks: frozenset[str],
        wanted: capabilities.Wanted | None = None,
    ) -> None:
        self.checks = checks
        self.macros, self.taken = ready.macros, ready.taken
        self.stated = stated = ready.stated
        self.up = ready.up
        self.out = Tree(output, self.up.python_root)
        self.ops = ops.make(self.up, self.out, stated, self.taken)
        self.changed = {
            path
            for path in self.out.files.keys() & self.up.files.keys()
            if path.endswith(".py") and self.up.read(path) != self.out.read(path)
        }
        given = frozenset(row for row in unasked(stated.facts, stated.asked) if self._fewer(row.partition(".")[2]))
        self.state = phases.State(
            phases.Setup(
                self.up, self.out, stated, checks, ready.facts, given, ready.families, wanted, ready.world, ready.looked
            )
        )
        self.kept = [path for path in self.out.files if path.endswith(".py")]
        self.workers: Workers[phases.State] = Workers(min(jobs, len(self.kept)), phases.begin, self.state)
        self.seconds: defaultdict[str, float] = defaultdict(float)  # processor seconds per check
        self.verdicts: dict[str, Verdict] = {}
        self.lint_root = output
        self.world: World | None = None  # upstream as the whole-tree checks see it

    def _fewer(self, name: str) -> bool:
        """Has a changed file fewer reads of an attribute than upstream? A fact that decides one takes the read away."""
        read = b"." + name.encode()
        return any(self.up.read(path).count(read) > self.out.read(path).count(read) for path in self.changed)

    def _spent(self, seconds: dict[str, float]) -> None:
        for check, spent in seconds.items():
            self.seconds[check] += spent

    def verdict(self, check: str, covered: str, problems: Sequence[str], figures: dict[str, Any] | None = None) -> None:
        """Note the answer of a check."""
        details = tuple(sorted(problems)[:SHOWN])
        if problems:
            covered += f"; {len(problems)} problem{'s' if len(problems) > 1 else ''}"
        self.verdicts[check] = Verdict(
            check, covered, "refuted" if problems else "passed", details, round(self.seconds[check], 3), figures or {}
        )

    def run(self) -> list[Verdict]:
        """All verdicts, in the order of :data:`CHECKS`."""
        self.workers.wake()  # a process is forked while there is one thread
        with ThreadPoolExecutor(1) as thread:
            # What one thread judges is done while this one waits for the workers; they leave it moments only.
            aside = partial(_later, thread if self.workers.jobs > 1 else None)
            done = [aside(self._lint)] if "lint" in self.checks else []
            if self.checks & {"native", "ops"}:
                done.append(aside(self._native))
            reads = self._read()
            if "discard" in self.checks:
                done.append(aside(partial(self._discard, reads)))
            output = self._seen(reads)
            if output is not None:
                whole = aside(partial(self._whole, output))
                compared = self._compared()
                beside = self._beside(reads)
                if "tokens" in self.checks:
                    self._tokens(compared)
                lost = whole()
                if lost is not None:
                    self._fold(compared, lost)
            else:
                beside = self._beside(reads)
            for finish in done:
                finish()
        for answer in beside():
            self.seconds[answer.check] += answer.seconds
            if answer.check == "guards":
                self._guards(reads, answer.problems)
            else:
                self.verdict(answer.check, answer.covered, answer.problems)
        self.workers.close()
        return [self.verdicts[check] for check in CHECKS if check in self.verdicts]

    def _read(self) -> list[phases.Read]:
        removed = [p for p in self.up.files if p.endswith(".py") and p not in self.out.files]
        tasks = [(path, True, path in self.changed or path not in self.up.files) for path in sorted(self.kept)]
        if "discard" in self.checks:
            tasks += [(path, False, False) for path in sorted(removed)]
        sizes = {path: (self.out.root / path).stat().st_size for path, kept, _ in tasks if kept}
        # Big files first: the last one to be read should be a small one. Changed ones before all others: they come
        # once more, to be compared, in the same process, so each process should have as much of them.
        tasks.sort(key=lambda task: (not task[2], -sizes.get(task[0], 0), task[0]))
        reads = self.workers.map(
            phases.read_file,
            tasks,
            lambda task: task[0],
            lambda task: sizes.get(task[0], 250) * (1.5 if task[2] else 1),
        )
        for row in reads:
            self._spent(row.seconds)
            if row.looked:
                early = self.state.setup.looked[row.path]
                row.survey, row.after = early.survey, early.after
        reads.sort(key=lambda row: row.path)
        if "compile" in self.checks:
            self._compile(reads)
        return reads

    def _guards(self, reads: list[phases.Read], more: list[str]) -> None:
        count = sum(row.guarded for row in reads)
        covered = f"{count} guarded functions of {len(self.stated.guards)} guards"
        self.verdict("guards", covered, [*(text for row in reads for text in row.guards), *more])

    def _beside(self, reads: list[phases.Read]) -> Callable[[], list[phases.Answer]]:
        """Checks that need nothing of the others: what judges the whole tree here leaves the workers idle."""
        return self.workers.later(phases.tabled, frozenset(key for row in reads for key in row.called))

    # -- single checks -------------------------------------------------------------------------

    def _compile(self, reads: list[phases.Read]) -> None:
        problems, newer = [], 0
        for row in reads:
            if not row.compile:
                continue
            data = self.up.read(row.path) if row.path in self.up.files else None
            if data is not None and compiles(data, row.path):
                newer += 1
                problems.append(f"{row.path}: this Python cannot read the upstream file, so it may not be edited")
            else:
                problems.append(row.compile)
        unread = sum(1 for row in reads if row.unreadable and not row.compile)
        self.verdict(
            "compile",
            f"{len(self.kept)} files, {len(self.changed)} changed and compiled, {unread + newer} in a newer syntax",
            problems,
        )

    def _lint(self) -> None:
        clock = time.perf_counter()
        paths, fresh = self.linted()
        before, after = ruff(self.up.root, paths), ruff(self.lint_root, [*paths, *fresh])
        problems = []
        if before is None or after is None:
            self.verdicts["lint"] = Verdict("lint", "ruff is not installed", "not run")
            return
        total = 0
        for path, rows in sorted(after.items()):
            total += sum(rows.values())
            for code, message, line in added(before.get(path, Counter()), rows):
                upstream = self.up.read(path) if path in self.up.files else b""
                if explained(code, message, self.out.read(path), int(line), upstream):
                    continue
                problems.append(f"{path}:{line}: {code} {message}")
        self.seconds["lint"] += time.perf_counter() - clock
        was = sum(sum(rows.values()) for rows in before.values())
        self.verdict("lint", f"F821, F811, F822 in {len(paths)} changed files: {was} upstream, {total} here", problems)

    def linted(self) -> tuple[list[str], list[str]]:
        """Changed files and added ones."""
        return sorted(self.changed), sorted(p for p in self.kept if p not in self.up.files)

    def _native(self) -> None:
        clock = time.thread_time()
        covered = self.ops.run()
        self.seconds["ops"] += time.thread_time() - clock
        if "ops" in self.checks:
            self.verdict("ops", covered, self.ops.problems)
        if "native" not in self.checks:
            return
        clock = time.thread_time()
        licence = partial(ops.licensed, macros=self.macros, ops=self.ops) if self.ops.gone else None
        covered, problems = native.check(self.up, self.out, self.macros, self.taken, licence)
        self.seconds["native"] += time.thread_time() - clock
        self.verdict("native", covered, problems)

    def _discard(self, reads: list[phases.Read]) -> None:
        residue = Residue(self.stated.discards, self.stated.allow, self.stated.widened)
        for row in reads:
            residue.add(row)
        problems = residue.judged()
        for rule, text in self.stated.discards:
            problems.extend(self._left(rule, text))
        self.verdict("discard", residue.covered(), problems, residue.figures())

    def _left(self, rule: str, text: str) -> list[str]:
        if text.startswith(("name:", "word:")):
            return []
        if text.startswith("path:"):
            glob = text[5:].strip()
            return [
                f"{path}: discarded by {rule}, still here" for path in sorted(self.out.files) if fnmatchcase(path, glob)
            ]
        module, colon, _ = text.partition(":")
        if colon:
            path = self.out.modules.get(module, "")
            names = module_names(tree, module, self.out.is_package(module)) if (tree := self.out.parse(path)) else None
            symbol = text.partition(":")[2].partition(".")[0]
            return [f"{path}: {text} is discarded by {rule}, still here"] if names and symbol in names.bindings else []
        return [
            f"{path}: discarded by {rule}, still here"
            for name, path in sorted(self.out.modules.items())
            if covers(text, name)
        ]

    # -- the whole tree ------------------------------------------------------------------------

    def _seen(self, reads: list[phases.Read]) -> Output | None:
        """The output as a whole; the workers are told what it does to modules. None when no check asks for it."""
        if not self.checks & {"imports", "modules", "fold", "tokens"}:
            return None
        if "tokens" in self.checks:
            self.workers.begin(phases.compare_text, sorted(self.changed), lambda path: path)
        output = Output(self.out, [row.survey for row in reads if row.survey is not None], self.state.world)
        if "fold" in self.checks:
            self.workers.all(phases.take_seen, output.seen())
        return output

    def _compared(self) -> list[phases.Compared]:
        """Every changed file against upstream."""
        sizes = {path: (self.out.root / path).stat().st_size for path in self.changed}
        comparable = sorted(self.changed, key=lambda path: (-sizes[path], path))
        compared = self.workers.map(phases.compare_file, comparable, lambda path: path, sizes.__getitem__)
        compared.sort(key=lambda row: row.path)
        for row in compared:
            self._spent(row.seconds)
        return compared

    def _whole(self, output: Output) -> Lost | None:
        """The checks of the whole tree that need no comparison, and what judges it, when one is asked for."""
        if not self.checks & {"imports", "modules", "fold"}:
            return None
        clock = time.thread_time()
        world = self.world = self.world or World(self.up, self.stated, like=self.state.world)
        imports, dynamic = Imports(world, output), Dynamic(world, output)
        if "imports" in self.checks:
            starts = sorted(self._starts(output))
            standing = standins.problems(output, self.changed)
            problems = [*imports.run(), *order.problems(world, output, starts), *standing]
            self.seconds["imports"] += time.thread_time() - clock
            unread = sum(1 for row in output.surveys.values() if not row.parsed)
            self.verdict(
                "imports",
                f"{imports.count} imports of the tree, {imports.chains} attribute chains, {unread} files by pattern, "
                f"{len(starts)} orders of loading",
                problems,
            )
        if self.checks & {"modules", "fold"}:
            clock = time.thread_time()
            problems = dynamic.run()
            self.seconds["modules"] += time.thread_time() - clock
            if "modules" in self.checks:
                sites = sum(len(s.loads) + len(s.walks) for s in output.surveys.values())
                covered = f"{sites} loading sites, {len(dynamic.packages)} walked packages, {dynamic.members} members"
                self.verdict("modules", covered, problems)
        if "fold" not in self.checks:
            return None
        clock = time.thread_time()
        lost = Lost(Liveness(world, output, imports, dynamic), output)
        self.seconds["fold"] += time.thread_time() - clock
        return lost

    def _starts(self, output: Output) -> set[str]:
        """Modules of the output that rules name, and what runs as a program."""
        named = {text.partition(":")[0] for _, text in (*self.stated.roots, *self.stated.keeps)}
        return {m for m in output.modules if m in named or m.rpartition(".")[2] == "__main__"}

    def _tokens(self, compared: list[phases.Compared]) -> None:
        clock = time.thread_time()
        problems = [text for row in compared for text in row.tokens]
        for part in (
            additions(self.up, self.out),
            datafiles.problems(self.up, self.out, self.stated),
            links(self.up, self.out),
            twins(self.up, self.out, self.changed),
        ):
            problems.extend(part)
        self.seconds["tokens"] += time.thread_time() - clock
        literals = sum(row.literals for row in compared)
        self.verdict("tokens", f"{len(compared)} changed files, {literals} folded literals", problems)

    def _fold(self, compared: list[phases.Compared], lost: Lost) -> None:
        clock = time.thread_time()
        liveness = lost.liveness
        problems, claims, statements, entries = [], [], 0, 0
        for row in compared:
            if row.unreadable:
                problems.append(f"{row.path}: changed, but cannot be read on both sides")
            if row.fold is not None:
                problems.extend(row.fold.problems)
                claims.extend(row.fold.claims)
                statements += row.fold.statements
                entries += row.fold.entries
        liveness.judge(claims)
        liveness.removed_modules()
        liveness.kept_symbols()
        lost.run([row.fold for row in compared if row.fold is not None], self._effects)
        problems.extend(liveness.problems)
        problems.extend(lost.problems)
        self.seconds["fold"] += time.thread_time() - clock
        licences = "; ".join(f"{text}: {count}" for text, count in sorted(liveness.licences.items()))
        covered = (
            f"{len(compared)} changed files, {statements} statements folded, {len(claims)} removed names, "
            f"{entries} entries by rule, {lost.count} lost imports"
        )
        self.verdict("fold", f"{covered} ({licences})" if licences else covered, problems)

    def _effects(self, modules: list[str]) -> list[tuple[str, str, tuple[str, ...]]]:
        rows = self.workers.map(phases.module_effects, modules, lambda m: self.up.modules[m], lambda m: 1)
        for _, _, _, seconds in rows:
            self.seconds["fold"] += seconds
        return [(module, effect, follows) for module, effect, follows, _ in rows]


def _later(thread: ThreadPoolExecutor | None, work: Callable[[], T]) -> Callable[[], T]:
    """Start ``work`` in the thread; the answer is a call away. Without a thread: then."""
    return thread.submit(work).result if thread is not None else work


def run(
    upstream: Path,
    output: Path,
    rules: Sequence[Path],
    *,
    python_root: str = "",
    jobs: int = 2,
    checks: Sequence[str] | None = None,
    facts_yaml: Path | None = None,
    ready: Ready | None = None,
) -> list[Verdict]:
    """Judge ``output`` as a pruning of ``upstream`` under ``rules`` (and a case's ``facts_yaml``).

    ``checks`` limits the run to some of :data:`CHECKS`; ``ready``: what :func:`make_ready` gave for the same folder and
    rules; ``seconds`` of a verdict are processor seconds over all processes. Raises
    :class:`pruner.errors.PruneError` when a folder or a rule file cannot be read.
    """
    for folder in (upstream, output):
        if not folder.is_dir():
            raise cannot(folder.name, "PR402", "the verifier needs two folders, and this is none")
    wanted = frozenset(CHECKS if checks is None else checks)
    if wanted - set(CHECKS):
        raise cannot("verify", "PR403", f"no check is called {sorted(wanted - set(CHECKS))}", f"known: {CHECKS}")
    ready = ready or make_ready(upstream, rules, python_root, facts_yaml)
    if gone := rejected(output, ready.stated):
        ready = ready.without(gone)
    return Run(ready, output, jobs, wanted, capabilities.read(rules)).run()


def make_ready(upstream: Path, rules: Sequence[Path], python_root: str, facts_yaml: Path | None = None) -> Ready:
    """Read the rules and list upstream. Raises :class:`pruner.errors.PruneError` as :func:`run` does."""
    parts = [read_rules(rules, version_of(upstream / python_root if python_root else upstream))] if rules else []
    if facts_yaml is not None:
        parts.append(read_case(facts_yaml))
    return Ready(upstream, below(merge(parts), python_root), python_root)
