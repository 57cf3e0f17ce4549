"""Why a test of upstream's has another outcome on the output, where that is what the rules ask for.

- ``refused``: the generated guard said no, with the rule;
- ``gone``: the test itself, and no frame of the tree, asks for a module or name that the ledger says went;
- ``executes``: run once more on upstream, it executes lines of functions that a fact or a rule took (:mod:`pruner.pipeline.trace`);
- ``entries``: run once more on upstream with the entries taken out of their tables that a rule took and that the test's own
  functions name, it has the outcome, and the words, that it has on the output: ``ask({"parser": "two"}).field``, where the
  server answers an unknown parser with an error, whose missing field is all that the test sees.

A line of which only a decided test went (``if is_hip():``) explains nothing: both trees pass it by. A test that executes a
line that is gone for no rule's reason is never explained by the last: that line is a fault until somebody shows otherwise.

Blind to which of the lines made the difference: a test that executes what a rule took may differ for another reason.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from pruner.pipeline import severed
from pruner.pipeline.answers import Answers
from pruner.pipeline.trace import Trace, module_of
from pruner.verify import peers
from pruner.verify.peers import Difference, Reason

RULE = re.compile(r"\(rule ([\w.-]+), ([^()\n]+:\d+)\)")
NAMED = frozenset({"function", "class", "variable", "method", "def", "import", "registration", "declaration"})


class Explained:
    """Reasons by the ledger of the run that made the output. ``trace`` judges executed lines."""

    def __init__(self, answers: Answers, trace: Trace) -> None:
        self.trace = trace
        self.root = str(answers.graph["root"])
        self.parts: Mapping[str, list[list[int]]] = answers.graph.get("folded", {})
        self.causes: list[dict[str, Any]] = answers.graph.get("causes", [])
        self.modules: dict[str, dict[str, Any]] = {}
        self.names: dict[str, dict[str, Any]] = {}
        self.entries: list[tuple[str, str, dict[str, Any]]] = []  # path, key, removal
        for row in answers.removals():
            if not row["path"].endswith(".py") or not row["path"].startswith(self.root):
                continue
            module = module_of(row["path"].removeprefix(self.root).lstrip("/"))
            if row["what"] == "file":
                self.modules[module] = row
            elif row["what"] == "entry" and row["cause"]["rules"]:
                self.entries.append((row["path"], row["name"].rpartition("[")[2].rstrip("]"), row))
            elif row["what"] in NAMED and row["name"] and not self._inner(row):
                name = row["name"]
                self.names[name if name.startswith(f"{module}.") else f"{module}.{name}"] = row
        folders = {name.rpartition(".")[0] for name in self.modules}
        for folder in sorted(folders - set(self.modules)):  # of a package without __init__.py the files went
            below = [row for name, row in sorted(self.modules.items()) if name.startswith(f"{folder}.")]
            kept = any(path.startswith(f"{self.root}/{folder.replace('.', '/')}/") for path in answers.graph["lines"])
            if folder and not kept:
                self.modules[folder] = below[0]
        self.next = answers.severed()
        self.rows = {_key(row): row for row in answers.removals()}
        self._tests: dict[str, set[int]] = {}
        self.spoken: defaultdict[str, set[str]] = defaultdict(
            set
        )  # rule -> names in its facts, names and modules it took
        for subject, rule in self.trace.subjects.items():
            self.spoken[rule].add(subject.rpartition(".")[2])
        for name, row in [*self.modules.items(), *self.names.items()]:
            for rule in row["cause"]["rules"]:
                self.spoken[rule] |= {name, *([name.rpartition(".")[2]] if row["what"] != "file" else [])}

    def gone(self) -> peers.Gone:
        """What tests may ask for in vain."""
        return peers.Gone(frozenset(self.modules), frozenset(self.names))

    def __call__(self, differences: Sequence[Difference], again: peers.Again) -> dict[str, Reason]:
        """Reasons by test; those without one are faults until shown otherwise."""
        found: dict[str, Reason] = {}
        for row in differences:
            if (reason := self.refused(row) or self.asked(row)) is not None:
                found[row.test] = reason
        rest = [row.test for row in differences if row.test not in found and "::" in row.test and row.up and row.out]
        said = {row.test: row for row in differences}
        named: dict[str, list[dict[str, Any]]] = {}
        for test, ran in again.traced(rest).items() if rest else ():
            if (reason := self.looked_up(said[test], ran.words) or self.executed(ran)) is not None:
                found[test] = reason
            elif rows := self.named(ran.words):
                named[test] = rows
        if named:
            taken = {test: [self.entry(row) for row in rows] for test, rows in named.items()}
            outcomes = {row.test: row.out for row in differences}
            for test, outcome in again.without(taken).items():
                if outcome == outcomes[test]:
                    found[test] = self.entries_of(named[test])
        return found

    def refused(self, row: Difference) -> Reason | None:
        """By the guard, with the rule that it names."""
        rule = RULE.search(row.out.why.refused) if row.out is not None else None
        return Reason("refused", rule[1], f"refused by rule {rule[1]} ({rule[2]})") if rule else None

    def asked(self, row: Difference) -> Reason | None:
        """By the test's own demand for what is gone."""
        if row.out is None or row.out.why.where != "test":
            return None
        for name in row.out.why.asked:
            parts = name.split(".")
            above = [".".join(parts[:cut]) for cut in range(len(parts), 0, -1)]
            removal = self.names.get(name) or next((self.modules[one] for one in above if one in self.modules), None)
            if removal is not None:
                cause = removal["cause"]
                told = "; ".join(cause["chain"]) or ", ".join(cause["rules"]) or cause["kind"]
                rule = ", ".join(cause["rules"]) or self._severed(removal) or cause["kind"]
                return Reason("gone", rule, f"the test asks for {name}, gone because {told}")
        return None

    def looked_up(self, row: Difference, named: frozenset[str]) -> Reason | None:
        """By an entry that a rule took from a table: the test names the key, and the file of the table says it knows none.

        ``more than two of them`` is no word on the entry ``two`` to a test that does not ask for it.
        """
        why = row.out.why if row.out is not None else peers.Why()
        words = {word.strip("'\"").lower() for word in re.findall(r"'[^']+'|\"[^\"]+\"|[\w.-]+", why.told)}
        for path, key, removal in self.entries:
            if (
                why.file
                and path == f"{self.root}/{why.file}".lstrip("/")
                and key.lower() in words & {one.lower() for one in named}
            ):
                rule = ", ".join(removal["cause"]["rules"])
                return Reason("gone", rule, f"the test asks for the entry {key} of {path}, which {rule} took")
        return None

    def _severed(self, row: Mapping[str, Any]) -> str:
        """The rule at the end of what used a definition that nothing reaches any more."""
        for name in severed.chain(self.next, _key(row)):
            if name not in self.rows:
                return name.partition(" (")[0]
            if rules := self.rows[name]["cause"]["rules"]:
                return ", ".join(rules)
        return ""

    def executed(self, ran: peers.Ran) -> Reason | None:
        """By lines that it executes upstream and that a fact or a rule took, or took a part of that the test speaks of."""
        prefix = f"{self.root}/" if self.root else ""
        causes: Counter[str] = Counter()
        places: dict[str, str] = {}
        parts: dict[str, str] = {}  # rule -> place of which it folded a part
        lines = {f"{prefix}{path}": rows for path, rows in ran.lines.items()}
        for path, line, name, cause in self.trace.classes(lines):
            if name == "missing":
                return None
            if name in ("kept", "edited"):
                if rules := self.folded(path, line):
                    parts.setdefault(rules, f"{path}:{line}")
                continue
            if line in self.tests(path):
                continue
            if name in ("decided", "unused") and self.fact_asked(path, line, set()):
                continue
            if name in ("folded", "decided", "unused") and cause:
                causes[cause] += 1
                places.setdefault(cause, f"{path}:{line}")
        if not causes:
            return self.in_part(parts, ran.words)
        rule, count = max(causes.items(), key=lambda item: (item[1], item[0]))
        more = f", and lines of {len(causes) - 1} more" if len(causes) > 1 else ""
        return Reason("executes", rule, f"executes {places[rule]} ({count} lines) that {rule} took{more}")

    def in_part(self, parts: Mapping[str, str], words: frozenset[str]) -> Reason | None:
        """By a line of which a rule folded a part, where the test names what the rule speaks of.

        ``torch.version.hip = "6.0"`` in the test and ``return x and torch.version.hip is None`` in the tree.
        """
        for rules, place in sorted(parts.items()):
            for rule in rules.split(", "):
                if said := sorted(self.spoken[rule] & words):
                    return Reason(
                        "executes", rule, f"executes {place}, of which {rule} folded a part, and names {said[0]}"
                    )
        return None

    def named(self, words: frozenset[str]) -> list[dict[str, Any]]:
        """The entries that a rule took whose keys are among a test's strings."""
        lower = {word.lower() for word in words}
        return [row for _, key, row in self.entries if key.lower() in lower]

    def entry(self, row: Mapping[str, Any]) -> tuple[str, str, str]:
        """Module, dotted name of the table in it ("" when no assignment holds the entry), key."""
        path, line = row["path"], row["lines"][0]
        names: list[str] = []
        body: list[ast.stmt] = ast.parse(self.trace.text(path).data).body
        while (node := next((one for one in body if one.lineno <= line <= (one.end_lineno or 0)), None)) is not None:
            body = []
            if isinstance(node, ast.ClassDef):
                names.append(node.name)
                body = node.body
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names += [one.id for one in targets[:1] if isinstance(one, ast.Name)]
        module = module_of(path.removeprefix(self.root).lstrip("/"))
        return module, ".".join(names), row["name"].rpartition("[")[2].rstrip("]")

    def entries_of(self, rows: Sequence[Mapping[str, Any]]) -> Reason:
        """Why a test differs that has the same outcome on upstream without these entries."""
        rules = sorted({rule for row in rows for rule in row["cause"]["rules"]})
        told = ", ".join(sorted({f"{row['name']} of {row['path']}" for row in rows}))
        text = f"fails alike on upstream without {told}, which {', '.join(rules)} took"
        return Reason("entries", ", ".join(rules), text)

    def fact_asked(self, path: str, line: int, seen: set[tuple[str, str]]) -> bool:
        """Is the line in a function that a fact speaks of, or one that only such functions and decided tests use here?

        Asking costs nothing: where the answer was not the fact's, other lines ran that are gone.
        """
        row = self.trace.innermost(path, line)
        if row is None or row.what == "entry":
            return False
        owner = self.trace.owner(path, line, row)
        if f"{self.trace.module(path)}.{owner}" in self.trace.subjects or (path, owner) in seen:
            return True
        seen.add((path, owner))
        ran = [use for use in self.trace.uses(path, owner) if use[1] in self.trace.ran.get(use[0], ())]
        return bool(owner and ran) and all(
            line in self.tests(user) or self.fact_asked(user, line, seen) for user, line in ran
        )

    def folded(self, path: str, line: int) -> str:
        """The rules that folded a part of a line that stays otherwise."""
        rows = [row for row in self.parts.get(path, ()) if row[0] <= line <= row[1]]
        for row in sorted(rows, key=lambda row: row[1] - row[0]):
            if rules := self.causes[row[2]]["rules"]:
                return ", ".join(rules)
        return ""

    def _inner(self, row: Mapping[str, Any]) -> bool:
        """An import in a function, which gives its module no name."""
        return row["what"] == "import" and row["lines"][0] in self.trace.text(row["path"]).functions

    def tests(self, path: str) -> set[int]:
        """Lines that hold tests of ``if``, ``while``, ``assert``, conditional expressions and cases, or imports, and nothing else."""
        if path not in self._tests:
            lines: set[int] = set()
            bodies: set[int] = set()
            try:
                tree = ast.parse(self.trace.text(path).data)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                tree = ast.Module([], [])
            for node in ast.walk(tree):
                if isinstance(node, ast.If | ast.While):
                    lines.update(range(node.lineno, (node.test.end_lineno or node.lineno) + 1))
                    bodies.update(one.lineno for one in [*node.body, *node.orelse] if not isinstance(one, ast.If))
                elif isinstance(node, ast.IfExp) and node.lineno != node.end_lineno:
                    lines.update(range(node.test.lineno, (node.test.end_lineno or node.test.lineno) + 1))
                elif isinstance(node, ast.match_case):
                    guard = node.guard or node.pattern
                    lines.update(range(node.pattern.lineno, (guard.end_lineno or guard.lineno) + 1))
                    bodies.update(one.lineno for one in node.body)
                elif isinstance(node, ast.Import | ast.ImportFrom):
                    lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
                elif isinstance(node, ast.Assert):
                    lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            self._tests[path] = lines - bodies
        return self._tests[path]


def _key(row: Mapping[str, Any]) -> str:
    return severed.key(row["path"], row["lines"][0], row["lines"][1], row["name"])
