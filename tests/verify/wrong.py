"""A program is pruned by the engine, the output is accepted, and each wrong tree made from it must be refuted."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from pruner import verify
from pruner.pipeline import RunOptions, run

RULES = """\
rules:
  - {id: t.root, because: It starts here., root: [app]}
  - {id: t.hip, because: It is never so., optional: true, assume: {plat.is_hip(): false}}
"""
PLAT = "def is_hip():\n    return False\n"


class Case:
    """``files`` as the engine prunes them under ``rules``; :attr:`out` is the output."""

    def __init__(self, folder: Path, files: Mapping[str, str | bytes], rules: str = RULES) -> None:
        self.folder = folder
        self.upstream, self.out, self.rules = folder / "in", folder / "out", folder / "rules.yaml"
        for path, text in {"plat.py": PLAT, **files}.items():
            (self.upstream / path).parent.mkdir(parents=True, exist_ok=True)
            (self.upstream / path).write_bytes(text.encode() if isinstance(text, str) else text)
        self.rules.write_text(rules)
        options = RunOptions((self.rules,), self.upstream, self.out, None, 1, False, False, folder / "cache")
        result = run(options, lambda *_: None)
        refuted = {row["check"]: row["details"] for row in result.document["verdicts"] if row["result"] == "refuted"}
        assert result.exit_code == 0, (result.findings, refuted)

    def text(self, path: str) -> str:
        """An output file."""
        return (self.out / path).read_text()

    def wrong(self, path: str, old: str, new: str, checks: Sequence[str] | None = None) -> dict[str, tuple[str, ...]]:
        """What the checks say when ``old`` is ``new`` in a file of the output."""
        text = self.text(path)
        assert old in text and old != new, text
        return self.judged({path: text.replace(old, new)}, checks)

    def judged(
        self, changes: Mapping[str, str | bytes | None], checks: Sequence[str] | None = None
    ) -> dict[str, tuple[str, ...]]:
        """What the checks say against the output with these files; None: it is gone."""
        tree = self.folder / "wrong"
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(self.out, tree, symlinks=True)
        for path, text in changes.items():
            if text is None:
                (tree / path).unlink()
            else:
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_bytes(text.encode() if isinstance(text, str) else text)
        return self.verdicts(tree, checks)

    def verdicts(self, tree: Path, checks: Sequence[str] | None = None) -> dict[str, tuple[str, ...]]:
        """What is refuted of a tree: check -> what it says."""
        rows = verify.run(self.upstream, tree, [self.rules], python_root="", jobs=1, checks=checks)
        return {row.check: row.details for row in rows if row.result == "refuted"}
