"""Items of a C++ or CUDA source at namespace level: functions, prototypes, types, the rest, by byte spans.

Nothing is expanded. A macro used as an item, an explicit instantiation and whatever has an unusual shape is
``opaque``: nobody knows what it defines. Blind to declarations that macros make elsewhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARK = re.compile(rb"[;{}(\[]")
_BRACKET = re.compile(rb"[(){}\[\]]")
_SPACE = re.compile(rb"\s+")
_TOKEN = re.compile(
    rb"""//[^\n]*|/\*.*?(?:\*/|\Z)|(?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|"""
    rb"""(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)
_BLACK = re.compile(rb"[^\n]")
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:\\\r?\n|[^\n])*", re.MULTILINE)
_WORD = re.compile(rb"[A-Za-z_]\w*")
_NAMESPACE = re.compile(rb"(?:inline\s+)?namespace\b[^(){};=]*\Z|extern\s*\"\s*\"\s*\Z")
_TYPE = re.compile(rb"(?:typedef|using|static_assert|concept|namespace|struct|class|union|enum)\b")
_PLAIN_TYPES = (b"using", b"typedef", b"static_assert", b"namespace", b"concept")
_TEMPLATE = re.compile(rb"template\s*<")
_ATTRIBUTE = re.compile(rb"(?:__\w+__|alignas|__declspec|noexcept|requires|decltype)\s*\Z")
_DECLARATOR = re.compile(rb"(?:([A-Za-z_]\w*)\s*::\s*)?(~?[A-Za-z_]\w*)\s*\Z")
_AFTER = re.compile(rb"(?:\s|const|noexcept|override|final|&|->|[\w:<>,*])*\Z")
_ARGUMENTS = re.compile(rb"\"|[(,]\s*(?:&\s*\w+|\d\w*)\s*[,)]")  # of `static Registrar r("x", &f);`
_GUIDE = re.compile(rb"(?:explicit\b(?:\s*\([^()]*\))?\s*)?([A-Za-z_]\w*)\s*\(.*\)\s*->\s*\1\b[^(){};=]*\Z", re.DOTALL)
_HIDDEN = re.compile(rb"\b(?:static|constexpr|const|__constant__)\b")
_INLINE = re.compile(rb"(?:\w+\s+)*?(?:inline|__inline__|__forceinline__|constexpr)\b")
_CONSTEXPR = re.compile(rb"\bconstexpr\b(?=[^=]*=)")
KEYWORDS = frozenset(b"if for while switch return sizeof alignof catch decltype noexcept operator new delete".split())


@dataclass(frozen=True, slots=True)
class Item:
    """One item. ``kind``: function, prototype, type, variable or opaque; ``names`` it binds; a byte span."""

    kind: str
    names: frozenset[str]
    start: int
    stop: int
    local: bool = False  # static, inline, or in a namespace without a name: no other source takes it from here


def blank(data: bytes, strings: bool = True) -> bytes:
    """``data`` with comments and directives (and the inside of strings) made blanks, length and lines as they were."""

    out = bytearray(_TOKEN.sub(_cover, data))
    plain = bytes(out) if strings else _TOKEN.sub(_uncommented, data)
    spans = [match.span() for match in _DIRECTIVE.finditer(out)]
    out = bytearray(plain)
    for first, last in spans:
        out[first:last] = _BLACK.sub(b" ", plain[first:last])
    return bytes(out)


def _cover(match: re.Match[bytes]) -> bytes:
    text = match[0]
    if text.startswith((b"//", b"/*")):
        return _BLACK.sub(b" ", text)
    return text[:1] + _BLACK.sub(b" ", text[1:-1]) + text[-1:] if b'"' in text[:4] else text


def _uncommented(match: re.Match[bytes]) -> bytes:
    return _BLACK.sub(b" ", match[0]) if match[0].startswith((b"//", b"/*")) else match[0]


def words(text: bytes) -> set[str]:
    """All identifiers of a blanked text."""
    return {word.decode() for word in _WORD.findall(text)}


def closing(text: bytes, at: int) -> int:
    """The offset behind the bracket that closes the one at ``at``; the end when none does."""
    depth = 0
    for match in _BRACKET.finditer(text, at):
        depth += 1 if match[0] in b"({[" else -1
        if not depth:
            return match.end()
    return len(text)


def items(text: bytes) -> list[Item]:
    """Items of a text from :func:`blank`, namespaces and ``extern "C"`` blocks entered, in order."""
    found: list[Item] = []
    _walk(text, 0, len(text), False, found)
    return found


def _walk(text: bytes, at: int, stop: int, hidden: bool, found: list[Item]) -> None:
    while at < stop:
        space = _SPACE.match(text, at, stop)
        at = space.end() if space else at
        if at >= stop:
            return
        start = at
        at = _until(text, at, stop)
        mark = text[at : at + 1]
        head = text[start:at]
        if mark == b"{" and _NAMESPACE.fullmatch(head.strip()):
            end = closing(text, at)
            unnamed = head.split()[-1:] == [b"namespace"]
            _walk(text, at + 1, end - 1, hidden or unnamed, found)
            at = end
            continue
        body = False
        while text[at : at + 1] == b"{":  # a body, or a brace initialiser that goes on to the semicolon
            body, at = True, closing(text, at)
            ahead = at
            while text[ahead : ahead + 1].isspace():
                ahead += 1
            if _TYPE.match(head.strip()) or b"=" in _outside(head):
                while at < stop and text[at : at + 1] != b";":
                    at = closing(text, at) if text[at : at + 1] in (b"{", b"(") else at + 1
                break
            if text[ahead : ahead + 1] == b";":
                at = ahead
        if text[at : at + 1] in (b";", b"}"):
            at += 1
        if head.strip():
            found.append(_item(text, head, start, min(at, stop), body, hidden))


def _until(text: bytes, at: int, stop: int) -> int:
    """The next ``;`` or brace that no parenthesis encloses."""
    while at < stop:
        match = _MARK.search(text, at, stop)
        if match is None:
            return stop
        at = match.start()
        if match[0] not in b"([":
            return at
        at = closing(text, at)
    return min(at, stop)


def _outside(head: bytes) -> bytes:
    """A head without what stands in brackets: parameters, template arguments, subscripts."""
    out = bytearray()
    depth = 0
    for byte in head:
        char = bytes((byte,))
        if char in b"(<[":
            depth += 1
        elif char in b")>]":
            depth = max(depth - 1, 0)
        elif not depth:
            out += char
    return bytes(out)


def _item(text: bytes, head: bytes, start: int, stop: int, body: bool, hidden: bool) -> Item:
    plain = head.strip()
    local = hidden or re.match(rb"(?:\w+\s+)*?static\b", plain) is not None
    while _TEMPLATE.match(plain):
        end = _angle(plain, plain.index(b"<"))
        plain = plain[end:].strip()
    explicit = re.match(rb"(?:extern\s+)?template\b(?!\s*<)", plain) is not None  # `template void f<int>();`
    word = _TYPE.match(plain)
    if word and (word[0] in _PLAIN_TYPES or b"(" not in _no_angles(_without_attributes(plain))):
        return Item("type", frozenset(), start, stop, local)
    if not body and _GUIDE.fullmatch(plain):  # `Check(T) -> Check<T>;` tells which type is meant, and binds no name
        return Item("type", frozenset(), start, stop, local)
    name = _declarator(plain)
    if name is not None:
        owner, called, rest = name
        if called and (body or (_AFTER.fullmatch(rest) and not _ARGUMENTS.search(text[start:stop]))):
            bound = frozenset(n for n in (owner, called) if n)
            # `extern template` says that another source has it, `template void f<int>();` that this one does
            here = body or (explicit and not plain.startswith(b"extern"))
            # An inline function is defined in every source that uses it: none takes it from another one.
            own = local or (body and _INLINE.match(plain) is not None)
            return Item("function" if here else "prototype", bound, start, stop, own)
    outside = _outside(plain)
    value = plain.partition(b"=")[2]  # one that calls something may register something
    if _CONSTEXPR.search(outside) and b"(" not in _no_angles(plain.partition(b"=")[0]) and value:
        # What the compiler must work out registers nothing: `constexpr auto MAX = std::numeric_limits<T>::max();` in a
        # header made every source that includes it one that nobody understands.
        bound = frozenset(word.decode() for word in _WORD.findall(outside.partition(b"=")[0])[-1:])
        return Item("variable", bound, start, stop, True)
    several = b"," in re.sub(rb"\{.*\}", b"", text[start:stop].partition(b"=")[2], flags=re.DOTALL)
    if not several and b"(" not in _no_angles(plain.partition(b"=")[0]) + value and len(outside.split()) > 1:
        local = local or _HIDDEN.search(outside) is not None
        bound = frozenset(
            w[-1].decode() for part in outside.partition(b"=")[0].split(b",") if (w := _WORD.findall(part))
        )
        kind = "prototype" if plain.startswith(b"extern") and not value else "variable"
        return Item(kind, bound, start, stop, local and kind == "variable")
    return Item("opaque", frozenset(words(text[start:stop])), start, stop, local)


def _angle(text: bytes, at: int) -> int:
    depth = 0
    for match in re.finditer(rb"[<>()]", text[at:]):
        depth += {b"<": 1, b">": -1}.get(match[0], 0)
        if depth <= 0 and match[0] == b">":
            return at + match.end()
    return len(text)


def _without_attributes(text: bytes) -> bytes:
    """A head without ``alignas(...)`` and ``__align__(...)``."""
    while match := re.search(rb"\b(?:alignas|__\w+__)\s*\(", text):
        text = text[: match.start()] + text[closing(text, match.end() - 1) :]
    return text


def _opening(text: bytes) -> int:
    """The offset of the ``<`` that the last character closes."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += {62: 1, 60: -1}.get(text[at], 0)
        if not depth:
            return at
    return len(text)


def _no_angles(text: bytes) -> bytes:
    out, depth = bytearray(), 0
    for byte in text:
        char = bytes((byte,))
        depth += (char == b"<") - (char == b">" and depth > 0)
        if not depth:
            out += char
    return bytes(out)


def _declarator(plain: bytes) -> tuple[str, str, bytes] | None:
    """(class, name, what follows the parameters) of a head that declares a function; None when it does not."""
    depth, at = 0, 0
    while at < len(plain):
        char = plain[at : at + 1]
        if char == b"<":
            depth += 1
        elif char == b">":
            depth = max(depth - 1, 0)
        elif char == b"=" and not depth:
            return None
        elif char in (b"(", b"["):
            end = closing(plain, at)
            before = plain[:at].rstrip()
            if before.endswith(b">"):  # `f<int>(...)` of a specialisation
                before = before[: _opening(before)].rstrip()
            if char == b"(" and not depth and not _ATTRIBUTE.search(before):
                match = _DECLARATOR.search(before)
                if match is None or match[2] in KEYWORDS:
                    return None
                kind = before[: match.start()].strip()
                # `NAME(...)` alone is a macro, unless it is a constructor `A::A(...)`.
                if not kind and not match[1]:
                    return None
                return (match[1] or b"").decode(), match[2].decode(), plain[end:]
            at = end
            continue
        at += 1
    return None
