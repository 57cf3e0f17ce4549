"""Words that look like platforms and that no rule speaks of, each with its evidence, a score and what to paste.

A word is suspected by its shape (``is_WORD``, ``_use_WORD``) or by its company: a definition, a flag, an enum member,
a folder or module, an option's value or a variable of the environment that stands where the platforms that the rules
deny stand. What was looked at and found to be none goes into a file of patterns with reasons.

Blind to: a platform that has neither the shape nor such company.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from pruner.pipeline.change.side import Side

ENOUGH = 5
"""Points of evidence that is a finding by itself."""
_SHAPE = re.compile(r"^_?(?:is|use|has|supports?)_([a-z0-9_]+)$")
_HOME = 3  # so many ruled-out platforms together make the place one of platforms


@dataclass(slots=True)
class Suspect:
    """A word with its evidence. ``at`` is ``path:line`` upstream; ``assume`` and ``drop`` are what a rule could say."""

    word: str
    score: int = 0
    evidence: list[str] = field(default_factory=list)
    at: str = ""
    assume: dict[str, str] = field(default_factory=dict)
    drop: list[str] = field(default_factory=list)
    at_home: bool = False  # it stands where platforms stand, whatever else of the name a rule speaks of


class Suspects:
    """Collects the suspects of one run. ``known``: (pattern, reason) of names that are no platforms.

    ``every``: also what is not kept and what the rules speak of, as a comparison of releases wants it.
    """

    def __init__(self, side: Side, known: Sequence[tuple[str, str]], *, every: bool = False) -> None:
        self.side = side
        self.known = known
        self.every = every
        self.names: Mapping[str, Any] = side.inventory["names"]
        self.spoken = set() if every else set(side.inventory["spoken"])
        self.denied = set(side.inventory["ruled_out"])
        self.platforms = self.denied | set(side.inventory["vendors"])
        self.found: dict[str, Suspect] = {}

    def ranked(self) -> list[Suspect]:
        """By falling score."""
        self._predicates()
        self._strings()
        self._environment()
        for _, rows in sorted(self._enums().items()):
            # A rule that speaks of a model `mistral` says nothing of a member MISTRAL among the platforms.
            self._home(rows, {word for word, (_, name, _) in rows.items() if name.rpartition(".")[2] in self.spoken})
        for _, rows in sorted(self._places().items()):
            self._home(rows, self.spoken)
        said = {word for word, suspect in self.found.items() if word in self.spoken and not suspect.at_home}
        found = [s for word, s in self.found.items() if s.score and word not in said and not self._known(word)]
        return sorted(found, key=lambda s: (-s.score, s.word))

    def _add(self, word: str, points: int, text: str, at: str) -> Suspect:
        suspect = self.found.setdefault(word, Suspect(word, at=at))
        suspect.score += points
        suspect.evidence.append(text)
        return suspect

    def _kept(self, row: Mapping[str, Any]) -> bool:
        return self.every or bool(row["kept"])

    def _classified(self) -> set[str]:
        """Words that a rule speaks of."""
        return set() if self.every else self.platforms | self.spoken

    def _known(self, *names: str) -> bool:
        return is_known(self.known, *names)

    def _predicates(self) -> None:
        rows = self.names.get("predicate", {})
        homes = {
            row["defined"].rpartition(".")[0]
            for name, row in rows.items()
            if "defined" in row and name in {f"is_{word}" for word in self.denied}
        }
        for name, row in sorted(rows.items()):
            match = _SHAPE.match(name)
            if match is None or not self._kept(row) or name.lstrip("_") in self.spoken or self._known(name):
                continue
            word, beside = match[1], sum(row.get("with", {}).values())
            parts = self.denied & set(word.split("_"))
            subject = f"{row['defined']}" if "defined" in row else row.get("stored", "")
            if not parts and not subject:
                continue  # a method of somebody else's object, such as `tensor.is_contiguous()`
            suspect = self._add(word, 0, "", row["at"])
            suspect.evidence.pop()
            if subject:
                if not suspect.assume:
                    suspect.at = row["at"]  # a place that binds it says more than one that reads it
                suspect.assume[subject] = "false"
            if row.get("defined", "").rpartition(".")[0] in homes:
                self._add(word, ENOUGH, f"`{row['defined']}` is defined beside a predicate that the rules deny", "")
            if row.get("near"):
                self._add(word, ENOUGH, f"`{row['stored']}` is set beside {_some(row['near'])}", "")
            if beside:
                self._add(word, beside, f"`{name}` shares {beside} lines with {_some(row['with'])}", "")
            if parts:
                self._add(word, row["kept"], f"`{name}` names {_some(parts)} and is kept {row['kept']} times", "")

    def _strings(self) -> None:
        """Values of a name whose values are platforms, and strings that are listed with several of them."""
        values: dict[str, dict[str, dict[str, Any]]] = {}
        for name, row in sorted(self.names.get("compared", {}).items()):
            left, _, word = name.partition("=")
            values.setdefault(left, {})[word] = row
        for left, rows in values.items():
            if self._is_home(rows):
                for word in sorted(rows.keys() - self._classified()):
                    if self._kept(rows[word]) and not self._known(word):
                        text = f'`{left}` is compared with "{word}", as with {_some(self.denied & rows.keys())}'
                        self._add(word, ENOUGH, text, rows[word]["at"])
        for word, row in sorted(self.names.get("string", {}).items()):
            company = {name: count for name, count in row.get("with", {}).items() if name in self.denied}
            if not self._kept(row) or word in self._classified() or self._known(word):
                continue
            if len(company) >= _HOME:
                self._add(word, ENOUGH, f'"{word}" is listed with {_some(company)}', row["at"])
            elif word in self.found and row.get("with"):
                self._add(word, sum(row["with"].values()), f'"{word}" is listed with {_some(row["with"])}', row["at"])

    def _environment(self) -> None:
        for name, row in sorted(self.names.get("environment", {}).items()):
            if not self._kept(row) or name in self.spoken or self._known(name):
                continue
            parts = self.denied & set(name.lower().split("_"))
            beside = sum(row.get("with", {}).values())
            if not parts and not beside:
                continue
            word = name.lower()
            suspect = self._add(word, 0, "", row["at"])
            suspect.evidence.pop()
            for how in row["asked"]:
                subject = how.replace("*", name if ".envs." in how else f"'{name}'")
                suspect.assume[subject] = _unset(how) if how.startswith("os.") else "false"
            if parts:
                self._add(word, ENOUGH, f"`{name}` names {_some(parts)} and is kept {row['kept']} times", "")
            if beside:
                self._add(word, beside, f"`{name}` shares {beside} lines with {_some(row['with'])}", "")

    def _enums(self) -> dict[str, dict[str, tuple[str, str, list[str]]]]:
        """Enum -> member in small letters -> (place, what to call it, targets of a rule that drops it) where kept."""
        classes: dict[str, dict[str, tuple[str, str, list[str]]]] = {}
        for name, row in sorted(self.names.get("enum", {}).items()):
            owner, _, member = name.rpartition(".")
            kept = [name] if self._kept(row) else []
            classes.setdefault(owner, {})[member.lower()] = (row["at"], name.partition(":")[2], kept)
        return classes

    def _places(self) -> dict[str, dict[str, tuple[str, str, list[str]]]]:
        """Folder -> folders and modules in it, likewise."""
        graph = self.side.graph
        root = f"{graph['root']}/" if graph["root"] else ""
        places: dict[str, dict[str, tuple[str, str, list[str]]]] = {}
        for path in graph["upstream"]:
            if not path.endswith(".py"):
                continue
            parts = path.removeprefix(root).removesuffix(".py").split("/")
            for depth in range(1, len(parts)):
                folder, name = "/".join(parts[:depth]), parts[depth]
                if name == "__init__":
                    continue
                dotted = ".".join(parts[: depth + 1])
                below = depth + 1 < len(parts)
                own = places.setdefault(folder, {})
                if self.every or path in graph["lines"]:
                    own[name] = (f"{path}:1", f"{folder}/{name}", [dotted, f"{dotted}.**"] if below else [dotted])
                else:
                    own.setdefault(name, (f"{path}:1", f"{folder}/{name}", []))
        return places

    def _is_home(self, names: Iterable[str]) -> bool:
        """Platforms stand here: several that the rules deny, and half of all names at least."""
        names = set(names)
        return len(self.denied & names) >= _HOME and 2 * len(self.platforms & names) >= len(names)

    def _home(self, rows: Mapping[str, tuple[str, str, list[str]]], spoken: set[str]) -> None:
        """Members of an enum or a folder of platforms; of one that holds any, only words that are suspected already."""
        company = self.denied & rows.keys()
        home = self._is_home(rows)
        for word in sorted(rows.keys() - (set() if self.every else self.platforms | spoken)) if company else ():
            at, name, targets = rows[word]
            if targets and (home or word in self.found) and not self._known(word, name):
                suspect = self._add(
                    word, ENOUGH if home else 3, f"`{name}` stands beside {_some(company - {word})}", at
                )
                suspect.drop += targets
                suspect.at_home |= home


def is_known(known: Sequence[tuple[str, str]], *names: str) -> bool:
    """Whether one of the names, as it is or without leading underscores, fits a pattern of the file."""
    return any(fnmatchcase(name, p) or fnmatchcase(name.lstrip("_"), p) for name in names for p, _ in known)


def suspects(side: Side, known: Sequence[tuple[str, str]]) -> list[Suspect]:
    """Words of one run by falling score."""
    return Suspects(side, known).ranked()


def _some(names: Any) -> str:
    rows = sorted(names)
    return ", ".join(f"`{n}`" for n in rows[:3]) + (f" and {len(rows) - 3} more" if len(rows) > 3 else "")


def suggestion(suspect: Suspect) -> str:
    """Rules to paste, which parse as they are; "" where only the file of known names can speak of the word."""
    name = re.sub(r"[^a-z0-9.-]", "-", suspect.word.strip("_"))
    out = []
    if suspect.assume:
        facts = "".join(f"\n      {_quoted(subject)}: {value}" for subject, value in sorted(suspect.assume.items()))
        out.append(f"  - id: site.{name}\n    because: Say why.\n    assume:{facts}")
    if suspect.drop:
        targets = "".join(f"\n      - {_quoted(target)}" for target in sorted(set(suspect.drop)))
        out.append(f"  - id: site.drop.{name}\n    because: Say why.\n    drop:{targets}")
    return "\n\n".join(out)


def _unset(how: str) -> str:
    """What a way of asking for a variable gives where it is not set, as YAML: the default, or null."""
    default = how.partition(", ")[2].removesuffix(")")
    try:
        return json.dumps(ast.literal_eval(default)) if default else "null"
    except (SyntaxError, ValueError):
        return "null"


def _quoted(text: str) -> str:
    """As YAML takes it: in double quotes where plain text would mean something else."""
    plain = re.fullmatch(r"[\w.]+(\(\))?", text) or re.fullmatch(r"[\w.]+:[\w.]+", text)
    return text if plain else json.dumps(text, ensure_ascii=False)
