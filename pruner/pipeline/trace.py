"""A recorded trace of executed upstream lines, held against a run: what ran and is gone needs a cause that a rule states.

Each executed line is

- ``kept``: it is in the output;
- ``module``: it is outside any function, so it ran by import alone;
- ``edited``: a part of it was folded, and no removal takes the whole of it;
- ``folded``: in a branch, test, tail or assertion that a fact decided;
- ``decided``: in a function that a fact speaks of; whoever asked it got the fact's value; or the entry of a table whose
  keys a rule states (making the table runs all its entries; one with a ``lambda`` could run for itself, and is asked on);
- ``unused``: in a function or file that goes, and each use of it that ran is gone for a cause of this list, down to a
  fact or a rule (``TABLE = [f() for f in make]``, where a rule drops the file that reads the table);
- ``missing``: anything else. That is a fault of the pruner or of a rule.

A trace may show a wrong removal; it never justifies one. The uses are found by name, in the upstream text.

Blind to what the tracer does not see (torch.compile, kernels), and to uses that go through neither a name nor an import.
"""

from __future__ import annotations

import ast
import bisect
import gzip
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pruner.errors import cannot
from pruner.model import Policy, Snapshot
from pruner.pipeline.answers import Answers
from pruner.policy import load, select
from pruner.source import open_snapshot

DECIDED = frozenset({"fact", "constant"})


@dataclass(frozen=True, slots=True)
class Row:
    """One removal of the ledger."""

    first: int
    last: int
    what: str
    name: str
    kind: str
    rules: tuple[str, ...]


@dataclass(slots=True)
class Verdict:
    """Executed lines by class, what each class rests on, and the places that are missing."""

    classes: Counter[str] = field(default_factory=Counter)
    causes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    missing: list[str] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """For ``--json``."""
        causes = {name: dict(sorted(found.items())) for name, found in sorted(self.causes.items())}
        return {"classes": dict(sorted(self.classes.items())), "causes": causes, "missing": self.missing}


@dataclass(slots=True)
class Text:
    """One upstream file: its lines that are in functions, its definitions, and where it names what."""

    data: bytes
    functions: dict[int, range]  # line of a function's body -> the lines of the innermost one
    definitions: list[tuple[int, int, str]]  # first line, last line, name; outermost only
    uses: dict[str, list[int]]  # name -> lines of expressions that name it
    attributes: dict[str, list[int]]  # the same for x.name
    bound: set[str]  # names that the module's own body binds
    imports: list[tuple[int, int, str]]  # line, level, dotted text of what is imported

    @classmethod
    def read(cls, data: bytes) -> Text:
        """Parse; a file that cannot be read has nothing."""
        text = cls(data, {}, [], {}, {}, set(), [])
        try:
            tree = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return text
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                text.definitions.append((first, node.end_lineno or first, node.name))
                text.bound.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                text.bound.update(t.id for t in targets if isinstance(t, ast.Name))
        for part in ast.walk(tree):
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                # Breadth first, so an inner function comes after the one around it.
                last = (part.end_lineno or part.lineno) + 1
                text.functions.update(dict.fromkeys(range(part.body[0].lineno, last), range(part.lineno, last)))
            elif isinstance(part, ast.Name):
                text.uses.setdefault(part.id, []).append(part.lineno)
            elif isinstance(part, ast.Attribute):
                text.attributes.setdefault(part.attr, []).append(part.end_lineno or part.lineno)
            elif isinstance(part, ast.Import):
                text.imports += [(part.lineno, 0, alias.name) for alias in part.names]
            elif isinstance(part, ast.ImportFrom):
                base = f"{part.module}." if part.module else ""
                text.imports += [(part.lineno, part.level, base + alias.name) for alias in part.names]
        return text


class Trace:
    """Classifies executed lines by what a run left: its ledger's removals and its line maps."""

    def __init__(
        self,
        upstream: Snapshot,
        removals: Iterable[Mapping[str, Any]],
        maps: Mapping[str, list[list[int]]],
        policy: Policy,
        output: Path,
    ) -> None:
        self.upstream = upstream
        self.output = output
        self.root = f"{upstream.python_root}/" if upstream.python_root else ""
        self.maps = {
            path: sorted((up, up + count - 1, made) for made, up, count in rows) for path, rows in maps.items()
        }
        self.ran: dict[str, set[int]] = {}
        self.rows: dict[str, list[Row]] = defaultdict(list)
        for row in removals:
            cause = row["cause"]
            first, last = row["lines"]
            found = Row(first, last, row["what"], row["name"], cause["kind"], tuple(cause["rules"]))
            self.rows[row["path"]].append(found)
        self.subjects = {re.sub(r"\(.*", "", f.subject): f.rule for f in policy.facts}
        self.walked = {d.package: d.rule for d in policy.dynamics if not d.site}
        self._paths = sorted(file.path for file in upstream.files if file.path.endswith(".py") and not file.link)
        self._data: dict[str, bytes] = {}
        self._texts: dict[str, Text] = {}
        self._naming: dict[str, list[str]] = {}
        self._answers: dict[tuple[str, str], str | None] = {}
        self._busy: set[tuple[str, str]] = set()

    # -- the question -------------------------------------------------------------------------

    def judge(self, lines: Mapping[str, Iterable[int]]) -> Verdict:
        """Every executed line of one trace. What its uses went by depends on what ran, so each trace is asked anew."""
        verdict = Verdict()
        if any(path in lines for path in self._paths):
            verdict.classes["kept"] = 0
        for path, line, name, cause in self.classes(lines):
            verdict.classes[name] += 1
            if cause:
                verdict.causes[name][cause] += 1
            if name == "missing":
                verdict.missing.append(f"{path}:{line}")
        return verdict

    def classes(self, lines: Mapping[str, Iterable[int]]) -> Iterator[tuple[str, int, str, str]]:
        """(path, line, class, rule or "") of each executed line of one trace."""
        self.ran = {path: {line for line in found if line > 0} for path, found in lines.items()}
        self._answers.clear()
        known = set(self._paths)
        for path in sorted(self.ran):
            for line in sorted(self.ran[path]):
                if path not in known:
                    yield path, line, "no such file", ""
                elif self.kept(path, line):
                    yield path, line, "kept", ""
                elif line not in self.text(path).functions:
                    yield path, line, "module", ""
                else:
                    yield path, line, *self.line(path, line)

    def line(self, path: str, line: int) -> tuple[str, str]:
        """The class of a line of a function that ran and is gone, and the rule it rests on."""
        row = self.innermost(path, line)
        if row is None:
            # Edited in part, as long as its function is there: one that is gone for no removal was lost.
            here = any(self.kept(path, other) for other in self.text(path).functions[line])
            return ("edited" if here else "missing"), ""
        if row.kind in DECIDED:
            return "folded", ", ".join(row.rules)
        if row.what == "entry" and row.rules and not self.holds(path, row, b"lambda"):
            return "decided", row.rules[0]
        owner = self.owner(path, line, row)
        subject = f"{self.module(path)}.{owner}"
        if subject in self.subjects:
            return "decided", self.subjects[subject]
        cause = self.unused(path, owner)
        return ("unused", cause) if cause else ("missing", "")

    # -- why something that ran is gone ---------------------------------------------------------

    def unused(self, path: str, owner: str) -> str | None:
        """The rule that each use of a definition which ran went by; None when one stays or has none."""
        key = (path, owner)
        if key in self._answers:
            return self._answers[key]
        if key in self._busy:
            return ""  # asked for while it is being answered: adds nothing
        self._busy.add(key)
        found: str | None = ""
        uses = [use for use in self.uses(path, owner) if not (use[0] == path and self.defines(path, owner, use[1]))]
        for user, line in [u for u in uses if u[1] in self.ran.get(u[0], ())] or uses:
            cause = self.gone(user, line, owner)
            if cause is None:
                found = None
                break
            found = found or cause
        self._busy.discard(key)
        self._answers[key] = found or None
        return found or None

    def gone(self, path: str, line: int, name: str) -> str | None:
        """Why a use of a name is gone: a rule, "" when that is being asked, None when it stays or has no cause."""
        row = self.innermost(path, line)
        if row is None:
            return None if re.search(rf"\b{re.escape(name)}\b", self.left(path, line)) else "lines folded in part"
        if row.rules:
            return row.rules[0]
        owner = self.owner(path, line, row)
        subject = f"{self.module(path)}.{owner}"
        if subject in self.subjects:
            return self.subjects[subject]
        if row.what == "file" and (rule := self.left_out(path)):
            return rule
        if (path, owner) in self._busy or (line not in self.text(path).functions and self.idle(path, owner)):
            return ""
        return self.unused(path, owner)

    def idle(self, path: str, owner: str) -> bool:
        """True for a definition that nothing in upstream names but itself: what runs of it by import has no reader."""
        return bool(owner) and all(u == path and self.defines(path, owner, line) for u, line in self.uses(path, owner))

    def defines(self, path: str, owner: str, line: int) -> bool:
        """Does the line belong to what defines the name?"""
        row = self.innermost(path, line)
        return row is not None and row.what != "import" and row.name.rpartition(".")[2] == owner

    def left_out(self, path: str) -> str:
        """The rule that says what a walk over the file's package yields, when the file goes."""
        return self.walked.get(self.module(path).rpartition(".")[0], "")

    def owner(self, path: str, line: int, row: Row) -> str:
        """Name of what holds the line: the definition that went, or the outermost one of a file that went."""
        if row.what in ("function", "class", "variable", "method", "def", "import") and row.name:
            return row.name.rpartition(".")[2]
        for first, last, name in self.text(path).definitions:
            if first <= line <= last:
                return name
        return ""

    def uses(self, path: str, owner: str) -> Iterator[tuple[str, int]]:
        """Places of other definitions that name it, in its file and in those that import it; a file's: its imports."""
        module = self.module(path)
        if not owner:
            for user in self.naming(module.rpartition(".")[2]):
                for line, target in self.targets(user):
                    if user != path and f"{target}.".startswith(f"{module}."):
                        yield user, line
            return
        own = [(first, last) for first, last, name in self.text(path).definitions if name == owner]
        for user in self.naming(owner):
            if user != path and not any(_brings(target, module, owner) for _, target in self.targets(user)):
                continue
            text = self.text(user)
            # x.name is no global of the module that it stands in
            others = text.attributes.get(owner, []) if user != path or owner not in text.bound else []
            for line in [*text.uses.get(owner, ()), *others]:
                if user != path or not any(first <= line <= last for first, last in own):
                    yield user, line

    def targets(self, path: str) -> Iterator[tuple[int, str]]:
        """(line, module or module.name) of a file's imports, at any depth."""
        package = self.module(path) if path.endswith("/__init__.py") else self.module(path).rpartition(".")[0]
        for line, level, text in self.text(path).imports:
            base = package.split(".")[: len(package.split(".")) - level + 1] if level else []
            yield line, ".".join([*base, text])

    def module(self, path: str) -> str:
        """The module of a file; in a checkout packages lie below a python root."""
        return module_of(path.removeprefix(self.root))

    # -- reading --------------------------------------------------------------------------------

    def kept(self, path: str, line: int) -> bool:
        """Whether a line of upstream is in the output."""
        rows = self.maps.get(path)
        if rows is None:
            return not any(row.what == "file" for row in self.rows.get(path, ()))
        place = bisect.bisect_right(rows, line, key=lambda row: row[0]) - 1
        return place >= 0 and line <= rows[place][1]

    def left(self, path: str, line: int) -> str:
        """What of a line is in the output: all of it in a file that nothing edited, nothing of one that is gone."""
        made = line
        if path in self.maps:
            rows = self.maps[path]
            place = bisect.bisect_right(rows, line, key=lambda row: row[0]) - 1
            if place < 0 or line > rows[place][1]:
                return ""
            made = rows[place][2] + line - rows[place][0]
        try:
            lines = (self.output / path).read_text("utf-8", "replace").split("\n")
        except OSError:
            return ""
        return lines[made - 1] if made <= len(lines) else ""

    def holds(self, path: str, row: Row, word: bytes) -> bool:
        """Does the word stand in the lines of a removal?"""
        return word in b"\n".join(self.text(path).data.split(b"\n")[row.first - 1 : row.last])

    def innermost(self, path: str, line: int) -> Row | None:
        """The smallest removal around a line."""
        around = [row for row in self.rows.get(path, ()) if row.first <= line <= row.last]
        return min(around, key=lambda row: (row.last - row.first, row.kind not in DECIDED), default=None)

    def naming(self, word: str) -> Iterator[str]:
        """Files in whose text the word stands."""
        if word not in self._naming:
            for path in self._paths:
                if path not in self._data:
                    self._data[path] = self.upstream.read(path)
            self._naming[word] = [path for path in self._paths if word.encode() in self._data[path]]
        yield from self._naming[word]

    def text(self, path: str) -> Text:
        """A file, parsed once."""
        if path not in self._texts:
            self._texts[path] = Text.read(self._data.get(path) or self.upstream.read(path))
        return self._texts[path]


def _brings(target: str, module: str, name: str) -> bool:
    """May an import of ``target`` give a name of ``module``, itself or by a package above that passes it on?"""
    if target in (module, f"{module}.*", f"{module}.{name}"):
        return True
    package, _, last = target.rpartition(".")
    return last in (name, "*") and f"{module}.".startswith(f"{package}.")


def module_of(path: str) -> str:
    """The module of a path below the python root."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def read_lines(files: Iterable[Path]) -> dict[str, set[int]]:
    """The union of recorded traces: JSON, gzipped or not, ``{path: [line, ...]}``; also ``[first, last]`` for a range.

    Paths are those of the upstream tree, ``sglang/srt/…``. Raises PruneError PR315 for a file that cannot be
    read or holds something else.
    """
    found: dict[str, set[int]] = defaultdict(set)
    for file in files:
        try:
            data = file.read_bytes()
            document = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
            for path, lines in document.items():
                for line in lines:
                    first, last = (line, line) if isinstance(line, int | str) else line
                    found[path].update(range(int(first), int(last) + 1))
        except (OSError, EOFError, ValueError, TypeError, AttributeError) as error:
            text = f"not a recorded trace ({type(error).__name__})"
            raise cannot(str(file), "PR315", text, "give JSON, {path: [line, ...]}") from None
    return found


def opened(output: Path, reports: Path, rules: Sequence[Path], upstream: str | Snapshot | None, cache: Path) -> Trace:
    """The judge of the run that left ``reports``.

    Raises PruneError when the run is not there, was made from another upstream or with other rules, or made another tree:
    its ledger would explain what is gone there.
    """
    answers = Answers(reports)
    snapshot = upstream if isinstance(upstream, Snapshot) else open_snapshot(upstream, cache)
    if answers.upstream_digest() != snapshot.digest:
        text = f"the run in {reports} was made from another upstream"
        raise cannot(str(snapshot.root if upstream else "upstream"), "PR313", text, "name it with --upstream")
    policy = select(load(rules), snapshot.origin.version)
    if answers.policy_digest() != policy.digest:
        text = f"the run in {reports} was made with other rules"
        raise cannot(str(rules[0]), "PR313", text, "name its rules with --rules, or run prune again")
    if (made := rules_of(output)) not in ("", policy.digest):
        text = f"the run in {reports} made another tree: this one has the rules {made[:8]}, and the run {policy.digest[:8]}"
        raise cannot(str(output), "PR313", text, "name the reports of its run with --reports")
    return Trace(snapshot, answers.removals(), answers.graph["maps"], policy, output)


def rules_of(output: Path) -> str:
    """The digest of the rules that a tree's manifest names; empty where it has none."""
    try:
        return str(json.loads((output / "PRUNED.json").read_bytes())["rules"]["digest"])
    except (OSError, ValueError, TypeError, KeyError):
        return ""
