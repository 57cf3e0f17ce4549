"""Three-valued value of a preprocessor condition under facts about macros.

C's rules ([cpp.cond]): an identifier that is no macro is 0, ``&&`` and ``||`` stop early, so an
operand that is not known does not matter behind a known one. Whatever is not understood (a
function-like macro, ``__has_include``, a literal with a suffix we do not know) is unknown.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

DEFINED = "defined"  # a macro that is defined, with a value nobody states
MacroFacts = Mapping[str, int | str | None]  # None: not defined

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F']+|[0-9][0-9']*)([uUlL]*)\b|([A-Za-z_]\w*)|(<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>!~&|^?:(),]))"
)
_BINARY: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "*": (10, operator.mul), "/": (10, lambda a, b: int(a / b)), "%": (10, lambda a, b: a - b * int(a / b)),
    "+": (9, operator.add), "-": (9, operator.sub), "<<": (8, operator.lshift), ">>": (8, operator.rshift),
    "<": (7, lambda a, b: int(a < b)), "<=": (7, lambda a, b: int(a <= b)), ">": (7, lambda a, b: int(a > b)),
    ">=": (7, lambda a, b: int(a >= b)), "==": (6, lambda a, b: int(a == b)), "!=": (6, lambda a, b: int(a != b)),
    "&": (5, operator.and_), "^": (4, operator.xor), "|": (3, operator.or_),
}  # fmt: skip


class _Unread(Exception):
    pass


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]], facts: MacroFacts) -> None:
        self.tokens, self.facts, self.at = tokens, facts, 0
        self.used: set[str] = set()

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, text: str = "") -> tuple[str, str]:
        if self.at >= len(self.tokens) or (text and self.peek() != text):
            raise _Unread
        self.at += 1
        return self.tokens[self.at - 1]

    def ternary(self) -> int | None:
        test = self.either()
        if self.peek() != "?":
            return test
        self.take("?")
        first = self.ternary()
        self.take(":")
        second = self.ternary()
        if test is None:
            return first if first == second else None
        return first if test else second

    def either(self) -> int | None:
        return self._logic("||", self.both, 1)

    def both(self) -> int | None:
        return self._logic("&&", lambda: self.binary(3), 0)

    def _logic(self, mark: str, operand: Callable[[], int | None], stops: int) -> int | None:
        value = operand()
        if self.peek() != mark:
            return value
        values = [value]
        while self.peek() == mark:
            self.take()
            values.append(operand())
        truths = [None if v is None else int(bool(v)) for v in values]
        if stops in truths:
            return stops
        return None if None in truths else 1 - stops

    def binary(self, level: int) -> int | None:
        left = self.unary()
        while self.peek() in _BINARY and _BINARY[self.peek()][0] >= level:
            rank, work = _BINARY[self.take()[1]]
            right = self.binary(rank + 1)
            try:
                left = None if left is None or right is None else work(left, right)
            except (ZeroDivisionError, ValueError, OverflowError, MemoryError):
                left = None
            if left is not None and not -(2**63) <= left < 2**63:
                left = None
        return left

    def unary(self) -> int | None:
        kind, text = self.take()
        if text in ("!", "-", "+", "~"):
            value = self.unary()
            if value is None:
                return None
            return {"!": int(not value), "-": -value, "+": value, "~": ~value}[text]
        if text == "(":
            value = self.ternary()
            self.take(")")
            return value
        if kind == "number":
            digits = text.replace("'", "")
            if digits[:2].lower() == "0x":
                return int(digits, 16)
            if len(digits) > 1 and digits[0] == "0":
                return int(digits, 8) if set(digits) <= set("01234567") else None
            return int(digits)
        if kind != "name":
            raise _Unread
        return self._defined() if text == "defined" else self._macro(text)

    def _defined(self) -> int | None:
        closed = self.peek() == "("
        if closed:
            self.take("(")
        kind, name = self.take()
        if kind != "name":
            raise _Unread
        if closed:
            self.take(")")
        return self.known(name)

    def known(self, name: str) -> int | None:
        if name not in self.facts:
            return None
        self.used.add(name)
        return int(self.facts[name] is not None)

    def _macro(self, name: str) -> int | None:
        if name in ("true", "false") and name not in self.facts:
            return int(name == "true")
        if self.peek() == "(":  # CHECK(...): its meaning is not ours to know, but the rest may be decided
            depth = 0
            while True:
                text = self.take()[1]
                depth += (text == "(") - (text == ")")
                if not depth:
                    return None
        if name not in self.facts:
            return None
        value = self.facts[name]
        if isinstance(value, str):
            return None
        self.used.add(name)
        return value or 0


def decide(keyword: str, text: str, facts: MacroFacts) -> tuple[bool | None, frozenset[str]]:
    """(value of the condition or None, macros that it rests on) of an ``if``-like directive."""
    if not facts:
        return None, frozenset()
    if keyword in ("ifdef", "ifndef", "elifdef", "elifndef"):
        name = re.match(r"[A-Za-z_]\w*", text)
        parser = _Parser([], facts)
        value = parser.known(name[0]) if name else None
        if value is None:
            return None, frozenset()
        return bool(value) != keyword.endswith("ndef"), frozenset(parser.used)
    tokens: list[tuple[str, str]] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            return None, frozenset()
        at = match.end()
        tokens.append(("number", match[1]) if match[1] else ("name", match[3]) if match[3] else ("operator", match[4]))
    parser = _Parser(tokens, facts)
    try:
        value = parser.ternary()
        if parser.at != len(tokens):
            return None, frozenset()
    except (_Unread, RecursionError):
        return None, frozenset()
    # `#if 0` is how people write a comment; only what a fact decides is folded.
    if value is None or not parser.used:
        return None, frozenset()
    return bool(value), frozenset(parser.used)
