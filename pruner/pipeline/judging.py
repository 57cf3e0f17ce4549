"""The checks of one run: their process gets ready while upstream is being worked on, and their answers are remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pruner import verify
from pruner.model import Policy, Snapshot, Verdict
from pruner.pipeline import remembered
from pruner.pipeline.ahead import Ahead
from pruner.pipeline.load import FEW
from pruner.verify.discard import counts_taken
from pruner.verify.early import Early
from pruner.verify.rules import take_read


class Judging:
    """Asks the verifier about what this run writes aside."""

    def __init__(
        self,
        snapshot: Snapshot,
        policy: Policy,
        rules: Sequence[Path],
        facts: Path | None,
        jobs: int,
        checks: tuple[str, ...] | None,
        store: Path | None,
        ahead: Ahead,
    ) -> None:
        """``facts``: a case's; ``store``: where answers are remembered; ``ahead`` was asked to read the rules."""
        self.snapshot, self.policy, self.rules, self.facts = snapshot, policy, tuple(rules), facts
        self.jobs, self.checks, self.store = jobs, checks, store
        self._ahead = ahead
        self._early: Early | None = None
        self._meanwhile: list[Callable[[], None]] = []

    def meanwhile(self, work: Callable[[], None]) -> None:
        """Have this done while the checks run, when this process has nothing else to do."""
        self._meanwhile.append(work)

    def _work(self) -> None:
        while self._meanwhile:
            self._meanwhile.pop(0)()

    def begin(self) -> None:
        """There is work for a while: start the process."""
        files = sum(file.path.endswith(".py") for file in self.snapshot.files)
        if self.jobs > 1 and self.facts is None and files > FEW:
            self._early = Early(self.snapshot.root, self.rules, self.snapshot.python_root)

    def rested(self, modules: list[str]) -> None:
        """Marking looks at these, and has a processor to itself: read them on the other one."""
        if self._early is not None:
            self._early.warm(modules, self.read())

    def settled(self, paths: list[str]) -> None:
        """Upstream's files that the output will most likely have as they are: look at them already."""
        if self._early is not None:
            self._early.look(paths)

    def read(self) -> dict[str, Any]:
        """Take the rules that were read ahead of time, in this process too; what is new of them."""
        parsed: dict[str, Any] = self._ahead.result("rules") or {}
        take_read(parsed)
        return parsed

    def rest(self) -> None:
        """Every processor is needed from now on."""
        if self._early is not None:
            self._early.rest()

    def beside(self, function: Callable[..., Any], *arguments: object) -> Callable[[], Any] | None:
        """See :meth:`pruner.verify.early.Early.beside`; None where there is no such process."""
        return self._early.beside(function, *arguments) if self._early is not None else None

    def verdicts(self, tree: Path) -> list[Verdict]:
        """What the checks say of an output, now or in an earlier run on the same bytes under the same rules."""
        if self.store is None or self.facts is not None:
            found = self._check(tree)
        else:
            found = remembered.verdicts(
                self.snapshot, self.policy, tree, self.checks, self.store, lambda: self._check(tree)
            )
        self._work()  # what is left: nothing was asked of the process
        return found

    def _check(self, tree: Path) -> list[Verdict]:
        if self._early is not None:
            found = self._early.run(tree, self.jobs, self.checks, counts_taken(), self._work)
            if found is not None:
                return found
        return verify.run(
            self.snapshot.root,
            tree,
            list(self.rules),
            python_root=self.snapshot.python_root,
            jobs=self.jobs,
            checks=self.checks,
            facts_yaml=self.facts,
        )

    def close(self) -> None:
        """End the process."""
        if self._early is not None:
            self._early.close()
