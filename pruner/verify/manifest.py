"""Part of the check ``guards``: what ``PRUNED.json`` says of facts, guards, rules and files is so, and what NOTICE says.

Blind to which lines at the ends of a range are kept, to the digests of the rules and of upstream, and to what the checks are said to have
answered: the manifest of the judged tree could not know.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Iterator
from email.parser import Parser
from hashlib import sha256
from pathlib import Path
from typing import Any

from pruner.model import Range
from pruner.verify.guards import GUARD
from pruner.verify.lexer import decode
from pruner.verify.near import lines_of
from pruner.verify.ruled import Ruled
from pruner.verify.rules import Stated, is_named
from pruner.verify.tokens import NOTICE
from pruner.verify.tree import Tree
from pruner.verify.wholefiles import ADDED, is_guard_file

NAME = "PRUNED.json"
# Of NOTICE behind its first sentence: tests/verify/test_generated.py says when it is another.
REST = "2699977668f1482df89f2551a71e58fffd31441f5e8d071ad4cf0e35d95612e3"
WORD = re.compile(r"[^\W\d]\w*")
IMPORTED = re.compile(r"from\s+([\w.]+)\s+import\b")
INFO = re.compile(r"[^/]+\.dist-info/METADATA\Z")
MANY = 4  # lines in a row
GONE = 12  # lines in a row that are another text in the output: so many are no edits of one place


class Manifest:
    """The manifest of one output. ``called``: keys of the guard calls of its files."""

    def __init__(self, up: Tree, out: Tree, stated: Stated, called: Iterable[str]) -> None:
        self.up, self.out, self.stated = up, out, stated
        self.ruled = Ruled(stated)
        self.called = set(called)

    def run(self) -> Iterator[str]:
        """Its problems; none where there is none, or no rule file to compare with (a case of the tests)."""
        if NAME not in self.out.files or not self.stated.rules:
            return
        try:
            said = json.loads(self.out.read(NAME))
            for text in (*self._facts(said["facts"]), *self._guards(said["guards"]), *self._files(said["files"])):
                yield f"{NAME}: {text}"
            yield from self._origin(said["upstream"])
            names = [str(name) for name in said["rules"]["files"]]
            for path in self.stated.files:
                if not any(is_named(path, name) for name in names):
                    yield f"{NAME}: does not name the rule file {path.rpartition('/')[2]}"
            told = f'\nDIGEST = "{said.get("digest", "")}"\n'.encode()
            if any(told not in self.out.read(path) for path in self.out.files if is_guard_file(path, self.up)):
                yield f"{NAME}: has another digest of the build than the generated module"
            if len(names) != len(self.stated.files):
                yield f"{NAME}: names {len(names)} rule files, and there are {len(self.stated.files)}"
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            yield f"{NAME}: cannot be read as what a run writes: {type(error).__name__} {error}"

    def _origin(self, said: dict[str, Any]) -> Iterator[str]:
        """Name and version of upstream, there and in NOTICE."""
        info = next((path for path in sorted(self.up.files) if INFO.match(path)), "")
        header = Parser().parsestr(self.up.read(info).decode("utf-8", "replace")) if info else None
        for key in ("name", "version"):
            if header is not None and said[key] != header[key.capitalize()]:
                yield f"{NAME}: says that upstream's {key} is {said[key]!r}"
        if "NOTICE" in self.out.files and "NOTICE" not in self.up.files:
            head, _, rest = self.out.read("NOTICE").decode("utf-8", "replace").partition(" by prune.")
            wanted = f"This tree was made from {said['name']} {said['version']}"
            if head != wanted or sha256(rest.encode()).hexdigest() != REST:
                yield "NOTICE:1: this is not what a run writes"

    def _stands(self, place: str, words: Iterable[str], lines: int = 1) -> bool:
        """Is the place, ``rules.yaml:12``, a line of a rule file that says one of the words, or the next few do?"""
        file, _, line = place.rpartition(":")
        texts = [text.split("\n") for path, text in self.stated.files.items() if is_named(path, file)]
        there = "\n".join("\n".join(text[int(line) - 1 : int(line) - 1 + lines]) for text in texts)
        return any(word in there for word in words)

    def _facts(self, rows: list[dict[str, Any]]) -> Iterator[str]:
        stated = {**self.stated.facts, **self.stated.late, **self.stated.rejected}
        told: dict[str, Any] = {}
        for row in rows:
            subject = row["subject"]
            told[_bare(subject)] = row
            if row["rule"] not in self.stated.rules:
                yield f"says that {row['rule']} states {subject}, and there is no such rule"
            if not self._stands(row["location"], WORD.findall(subject)[-1:], 3):
                yield f"places {subject} at {row['location']}, where it is not"
        for subject, values in stated.items():
            said = told.pop(_bare(subject), None)
            if said is None:
                yield f"lacks the fact {subject}"
            elif isinstance(values, Range):
                if said.get("range") != [values.low, values.high]:
                    yield f"says that {subject} is in {said.get('range')}"
            elif _typed(said.get("values", ())) != _typed(values):
                yield f"says that {subject} is {said.get('values')}"
        for subject in told:
            if not subject.startswith("macro:"):  # the check ``native`` has those
                yield f"has the fact {subject}, which no rule states"

    def _guards(self, rows: list[dict[str, Any]]) -> Iterator[str]:
        known = {guard.key: guard for guard in self.stated.guards}
        for key in sorted(self.called ^ {row["guard"] for row in rows}):
            yield f"lacks the guard {key}" if key in self.called else f"has the guard {key}, which nothing calls"
        for row in rows:
            guard = known.get(row["guard"])
            if guard is not None and guard.rule:
                wanted = {
                    ask.chain: {ask.kind: list(ask.names)} | ({"when": ask.when} if ask.when else {})
                    for ask in guard.asks
                }
                if row["asks"] != wanted or row["facts"] != guard.facts or row.get("digest", "") != guard.mark:
                    yield f"has the guard {guard.key} ask otherwise than the rules say"
                if not self._stands(row["rule"], [guard.rule], 4) or not self._defined(row):
                    yield f"places the guard {guard.key} at {row['rule']} and {row['place']}, where it is not"
                if not any(_at(place, row) for place in guard.at) or (row["where"] == "after") != guard.after:
                    yield f"has the guard {guard.key} in {row['function']}, where no rule puts it"

    def _defined(self, row: dict[str, Any]) -> bool:
        """Does a function of that name begin at that line of upstream's?"""
        path, _, line = row["place"].rpartition(":")
        lines = decode(self.up.read(path)).split("\n") if path in self.up.files else []
        begun = lines[int(line) - 1] if 0 < int(line) <= len(lines) else ""
        return re.search(rf"\bdef\s+{re.escape(row['function'].rpartition('.')[2])}\b", begun) is not None

    def _files(self, rows: dict[str, Any]) -> Iterator[str]:
        both = self.up.files.keys() & self.out.files.keys()
        for path in sorted(rows.keys() - both):
            yield f"says that {path} is kept"
        for path in sorted(both - rows.keys()):
            if not ("/" not in path and ADDED.match(path)):  # ours stands in the place of upstream's, which a rule took
                yield f"does not say that {path} is kept"
        for path in sorted(both & rows.keys()):
            ranges = rows[path]
            if (
                self.up.files[path] is not None
                or self.out.files[path] is not None
                or ("/" not in path and ADDED.match(path))
            ):
                continue
            before, after = self.up.read(path), self.out.read(path)
            if (ranges is True) != (before == after):
                yield f"says that {path} is {'whole' if ranges is True else 'edited'}, and it is not"
            elif ranges is not True:
                yield from _ranges(path, ranges, before, after)


def _ranges(path: str, ranges: list[list[int]], before: bytes, after: bytes) -> Iterator[str]:
    """Ranges are in order and of lines that there are, no long part of one is gone, and they are as many as the output has."""
    up, kept = decode(before).split("\n"), decode(after).split("\n")
    have = {line.strip() for line in kept}
    last = total = 0
    for first, stop in ranges:
        if not last < first <= stop <= len(up):
            yield f"gives {path} the lines {first} to {stop}"
            return
        last, total = stop, total + stop - first + 1
        gone = 0
        for number in range(first, stop + 1):  # an edited line is another one, but not many in a row are
            gone = 0 if up[number - 1].strip() in have else gone + 1
            if gone == GONE and (gone := _unknown(up[number - GONE : number], kept)) == GONE:
                yield f"gives {path} the line {number}, which it has not"
                return
    # An edit joins lines, or writes one that upstream has not, where ranges end.
    written = len(_written(after, kept)) + (not kept[-1])
    if not -MANY - len(ranges) <= len(kept) - total <= MANY + len(ranges) + written:
        yield f"gives {path} {total} lines, and it has {len(kept)}"


def _written(data: bytes, kept: list[str]) -> set[int]:
    """Which lines a run wrote: calls of its module, and the notice."""
    guards, notices = lines_of(data, (GUARD.encode(),)), lines_of(data.lower(), (NOTICE.pattern.encode(),))
    if guards is not None and notices is not None:
        return {*guards, *notices}
    return {number for number, line in enumerate(kept, 1) if GUARD in line or NOTICE.search(line)}


def _unknown(lines: list[str], kept: list[str]) -> int:
    """How many of the lines, counted from the last, are no edited line of the output either."""
    firsts = {_first(line) for line in kept} - {""}  # BM = 1 if is_hip() else 2, and eleven like it
    stood = "\n".join(line for line in kept if GUARD in line)
    count = 0
    for line in reversed(lines):
        source = IMPORTED.match(line.strip())  # of what a rule drops: a stand-in is in its place
        if _first(line) in firsts or (source and f"{source[1].lstrip('.')}'" in stood):
            break
        count += 1
    return count


def _first(line: str) -> str:
    """The first name in a line that tells it from others; "" when there is none."""
    return next((word for word in WORD.findall(line) if not keyword.iskeyword(word) and word != "self"), "")


def _at(place: str, row: dict[str, Any]) -> bool:
    return place.partition(":")[2] == str(row["function"])


def rejected(output: Path, stated: Stated) -> list[str]:
    """Subjects of facts that the manifest of an output says were rejected, by every rule that states them.

    It is believed: nothing may rest on them then, so that what does is refuted.
    """
    if not stated.stating:
        return []
    try:
        rows = json.loads((output / NAME).read_bytes())["facts"]
        said = {(_bare(row["subject"]), row["rule"]) for row in rows if row.get("rejected") is True}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []  # Manifest says so
    return [
        subject
        for subject in stated.facts
        if (rules := stated.stating.get(subject)) and all((_bare(subject), rule) in said for rule in rules)
    ]


def _bare(subject: str) -> str:
    """A subject without what is written one way or another: quotes and blanks."""
    return "".join(subject.split()).replace('"', "'")


def _typed(values: Iterable[Any]) -> list[tuple[str, str]]:
    return sorted((type(value).__name__, repr(value)) for value in values)
