"""Check ``tokens``: nothing was inserted, rewritten or put elsewhere, and comments of kept code are kept.

Lines that the output shares with upstream are matched first; between them, the output's tokens
must be a subsequence of upstream's but for licensed substitutions: literals and ``pass`` (a folded
operand, an emptied block), ``elif`` that became ``if`` or ``else``, parentheses, commas, ``not``
of an inverted test, the placeholders that keep a function a generator or a name local, one notice
line, calls of the guard module, ``global`` statements of dead branches, which are put in front.
No kept line may stand deeper than it did.

Blind to which literal replaced what, and to which function a ``global`` statement is in: these are
questions of the check ``fold``.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Set

from pruner.verify.lexer import decode, is_string, tokens
from pruner.verify.lines import Pairs, align

SOFT = frozenset({"True", "False", "None", "pass", "if", "else", "elif", "not", "(", ")", ",", ":", ";"})
NOTICE = re.compile(r"modified by prune", re.I)
HEAD = 60  # lines at the top of a file in which the notice may stand
GUARD = "_prune_guard"
PLACEHOLDER = re.compile(
    r"(?:return|yield|yield from \(\)|pass|if False:|\"\"|__doc__ = None|yield \"placeholder\"|[^\W\d]\w* = None)\Z"
)

DECLARED = re.compile(r"\b(?:global|nonlocal)\s[\w \t,\\\n\r]*")  # may run on into the next line: a prefix counts


class Tokens:
    """Compares one changed file as text."""

    def __init__(self, path: str, upstream: bytes, output: bytes) -> None:
        self.path = path
        self.problems: list[str] = []
        self.raw_up, self.raw_out = upstream, output
        self.up = decode(upstream).split("\n")
        self.out = decode(output).split("\n")
        self.new_literals = 0
        self._statements: list[str] | None = None

    def run(self) -> list[str]:
        """All problems of this file."""
        self._form()
        bare_up = [line.strip(" \t\r\ufeff") for line in self.up]  # the notice may follow a byte order mark
        bare_out = [line.strip(" \t\r\ufeff") for line in self.out]
        self._exempt(bare_out)
        pairs = align(bare_up, bare_out)
        self._depth(pairs)
        bad = self._gaps(bare_up, bare_out, pairs)
        if bad:
            whole = self._embedded("\n".join(bare_up), "\n".join(bare_out))
            if whole is not None:  # a line was matched to its wrong twin unless this fails too
                self.problems.extend(bad)
        self._comments(bare_up, bare_out, pairs)
        self._behind(bare_up, bare_out, pairs)
        return self.problems

    def _say(self, line: int, text: str) -> None:
        self.problems.append(f"{self.path}:{line}: {text}")

    def _form(self) -> None:
        """Byte order mark and line ends stay as they were."""
        mark = b"\xef\xbb\xbf"
        if self.raw_up.startswith(mark) != self.raw_out.startswith(mark):
            self._say(1, "the byte order mark was lost or added")
        if b"\r" not in self.raw_up and b"\r" not in self.raw_out:
            return
        up = (self.raw_up.count(b"\r\n"), self.raw_up.count(b"\n"), self.raw_up.count(b"\r"))
        out = (self.raw_out.count(b"\r\n"), self.raw_out.count(b"\n"), self.raw_out.count(b"\r"))
        if up[0] == up[1] == up[2] and up[0] and not out[0] == out[1] == out[2]:
            self._say(1, "line ends were CRLF and no longer are")
        if not up[2] and out[2]:
            self._say(1, "line ends became CRLF or CR")

    def _exempt(self, bare: list[str]) -> None:
        """Blank out the notice line and guard statements."""
        notices = 0
        depth = 0
        for index, line in enumerate(bare):
            if line.startswith("#") and index < HEAD and NOTICE.search(line) and not notices:
                notices += 1
                bare[index] = ""
            elif depth or (GUARD in line and not line.startswith("#")):
                depth = max(0, depth + line.count("(") - line.count(")"))
                bare[index] = ""

    def _depth(self, pairs: Pairs) -> None:
        inside: tuple[set[int], set[int]] | None = None
        for i, j in pairs:
            if self.up[i] == self.out[j]:
                continue
            depth = _indent(self.out[j])
            if depth > _indent(self.up[i]):
                bare = self.out[j].strip()
                if any(line.strip() == bare and _indent(line) >= depth for line in self.up):
                    continue  # matched to its twin in another block
                inside = inside or (_continued(decode(self.raw_up)), _continued(decode(self.raw_out)))
                if i in inside[0] or j in inside[1]:
                    continue  # of `(a if test else\\n b)` the second line is put where the first began
                self._say(j + 1, f"this line stands deeper than upstream's line {i + 1}")
                return

    def _gaps(self, up: list[str], out: list[str], pairs: Pairs) -> list[str]:
        found = []
        last_i = last_j = -1
        for i, j in [*pairs, (len(up), len(out))]:
            if any(out[last_j + 1 : j]):
                bad = self._embedded("\n".join(up[last_i + 1 : i]), "\n".join(out[last_j + 1 : j]))
                if bad is not None:
                    line = next((k for k in range(last_j + 1, j) if bad in out[k]), last_j + 1)
                    found.append(f"{self.path}:{line + 1}: token {bad[:40]!r} is not upstream's at this place")
            last_i, last_j = i, j
        return found

    def _behind(self, up: list[str], out: list[str], pairs: Pairs) -> None:
        """``x = f()  # type: ignore``: a line that stays as it is keeps the comment behind it."""
        have = set(up)
        last_i = last_j = -1
        for i, j in [*pairs, (len(up), len(out))]:
            bare = {line for line in out[last_j + 1 : j] if line and line not in have} if i > last_i + 1 else ()
            for line in range(last_i + 1, i) if bare else ():
                text, mark, _ = up[line].partition("#")
                if mark and text.rstrip() in bare and text[-1:].isspace() and _whole(text.rstrip()):
                    self._say(1, f"the comment behind upstream line {line + 1} belongs to kept code and is gone")
            last_i, last_j = i, j

    def _embedded(self, up: str, out: str) -> str | None:
        """The first token of ``out`` that does not follow in ``up``; None when all do."""
        lines = out.split("\n")
        kept = []
        for index, line in enumerate(lines):
            named = line.endswith(" = None") and not (index and lines[index - 1].endswith("if False:"))
            if line.startswith(("global ", "nonlocal ")) and self._declared(line):
                continue
            if not PLACEHOLDER.match(line) or (named and line != "__doc__ = None"):
                kept.append(line)
        wanted = tokens("\n".join(kept))
        have = tokens(up)
        places: dict[str, list[int]] = {}
        for index, token in enumerate(have):
            places.setdefault(token, []).append(index)
        position = -1
        for index, token in enumerate(wanted):
            if token in SOFT or wanted[index : index + 3] == ["set", "(", ")"]:  # {"x"} that lost its last entry
                continue
            if is_string(token) or token[0].isdigit():
                if token not in places:
                    self.new_literals += 1
                continue
            if token == "=" and ":=" in places:
                continue
            rows = places.get(token, ())
            place = bisect_left(rows, position + 1)
            if place == len(rows):
                return token
            position = rows[place]
        return None

    def _declared(self, line: str) -> bool:
        """Is each statement of the line, ``global a; nonlocal b``, one of upstream's?"""
        if self._statements is None:
            found = DECLARED.findall("\n".join(self.up))
            self._statements = [" ".join(text.replace("\\", " ").split()) + " " for text in found]
        parts = [" ".join(part.split()) + " " for part in line.split(";")]
        return all(any(have.startswith(part) for have in self._statements) for part in parts)

    # -- comments ------------------------------------------------------------------------------

    def _comments(self, up: list[str], out: list[str], pairs: Pairs) -> None:
        """A comment over a kept statement, or at the end of a kept block, must be kept."""
        matched = {i for i, _ in pairs}
        lost = [i for i, line in enumerate(up) if line.startswith("#") and i not in matched]
        if not lost:
            return
        code = [i for i, line in enumerate(up) if line and not line.startswith("#")]
        inside: set[int] | None = None
        have = set(out)
        home = dict(pairs)
        for i in lost:
            place = bisect_left(code, i)
            after = code[place] if place < len(code) else None
            before = code[place - 1] if place else None
            depth = _indent(self.up[i])
            if after is not None and _indent(self.up[after]) == depth:
                wanted = after in matched and not _OTHER_ARM.match(up[after]) and not _opens(up, before)
            elif after is None or _indent(self.up[after]) < depth:
                wanted = (
                    before is not None
                    and before in matched
                    and _indent(self.up[before]) == depth
                    and not _opens(up, before)
                )
            else:
                wanted = False
            if not wanted or up[i] in have:
                continue
            if after in home and DECLARED.match(up[after]) and _indent(self.out[home[after]]) < _indent(self.up[after]):
                continue  # a `global` statement that was put in front
            if after in home and _twin(up, out, matched, after, home[after]):
                continue
            if inside is None:
                inside = _string_lines(decode(self.raw_up))
            if i not in inside:
                self._say(1, f"the comment of upstream line {i + 1} belongs to kept code and is gone")


def _whole(line: str) -> bool:
    """Is the line a statement by itself? `tag(` of one arm of a conditional expression may be that of the other."""
    try:
        return bool(ast.parse(line).body)
    except (SyntaxError, ValueError):
        return False


def _twin(up: list[str], out: list[str], matched: set[int], line: int, kept: int) -> bool:
    """May the kept line be the copy of another line of the same text, under the very comments it has now?

    ``if a: f()`` / ``elif b: # why`` / ``f()``: of two equal lines the one without the comment stayed.
    """
    above = _comment_above(out, kept, frozenset())
    # `if a:` / `# why` / `if b: f()` / `elif b: g()`: the `elif` that became the first arm is such a copy as well.
    texts = (up[line], f"el{up[line]}")
    # `# why` / `if a: return` / ..., `return`: the first one lost its test, and what stood above that stands above it.
    gone = {i for i, text in enumerate(up) if text and text[0] != "#" and i not in matched}
    return any(
        text in texts and i in gone and above in (_comment_above(up, i, frozenset()), _comment_above(up, i, gone))
        for i, text in enumerate(up)
    )


def _comment_above(lines: list[str], index: int, through: Set[int]) -> list[str]:
    """The comment lines above a line; ``through``: lines that are looked past."""
    found: list[str] = []
    while index and (lines[index - 1].startswith("#") or index - 1 in through):
        index -= 1
        if index not in through:
            found.append(lines[index])
    return found[::-1]


_OTHER_ARM = re.compile(r"(?:else|elif|except|finally|case)\b|[)\]}]")


def _opens(lines: list[str], index: int | None) -> bool:
    """Is this line inside brackets, as an entry of a table is?"""
    return index is not None and lines[index].partition("  #")[0].endswith((",", "(", "[", "{"))


def _indent(line: str) -> int:
    expanded = line.expandtabs(8)
    return len(expanded) - len(expanded.lstrip(" "))


def _continued(text: str) -> set[int]:
    """Indices of lines that begin inside brackets or strings, or behind a backslash: their white space says nothing."""
    from pruner.verify.lexer import TOKEN

    found = _string_lines(text)
    line = at = depth = 0
    for match in TOKEN.finditer(text):
        between = text[at : match.start()]
        for _ in range(between.count("\n")):
            line += 1
            if depth or between.lstrip(" \t\r").startswith("\\"):
                found.add(line)
        token = match.group()
        depth += (token in "([{") - (token in ")]}")
        line, at = line + token.count("\n"), match.end()
    return found


def _string_lines(text: str) -> set[int]:
    """Indices of lines that begin inside a string that spans lines."""
    from pruner.verify.lexer import TOKEN

    found: set[int] = set()
    for match in TOKEN.finditer(text):
        token = match.group()
        if "\n" in token and token[0] != "#":
            first = text.count("\n", 0, match.start())
            found.update(range(first + 1, first + 1 + token.count("\n")))
    return found
