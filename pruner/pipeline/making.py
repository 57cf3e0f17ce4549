"""Does a file's text look as if it made objects of classes whose constructor takes what a fact speaks of?

Only such files are parsed for :mod:`pruner.scan.made`. Most files that name such a class do so in imports, annotations
and prose: two words side by side are no code, unless one of them is a keyword.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator

_IMPORT = re.compile(rb"from[ \t]+[\w.]+[ \t]+import[ \t]*(?:\((?:[\w\s,]|#[^\n]*)*\)|[\w, \t]+$)", re.MULTILINE)
_BRACKET = re.compile(rb"[()\[\]{}]")
_DEFINED = re.compile(rb"\bdef\s+\w+\s*$")
_LOOKING = re.compile(rb"\b(?:isinstance|issubclass)\([^()]*,\s*$|\b(?:fields|get_type_hints|is_dataclass)\(\s*$")
_NOTED = re.compile(rb"[ \t]*[\w.]+[ \t]*:[ \t]*[\"']?(?:Optional\[\s*)?[\"']?")
_SPECIAL = (b"__init__", b"__new__", b"_make", b"__subclasses__", b"__class__")
_WORDS = {word.encode() for word in keyword.kwlist}
# One expression for each word: the engine looks for a literal head ten times as fast as for one of several.
_SPREAD = [
    re.compile(head + rb"\s*\((?:[^()]|\([^()]*\))*\*\*")  # replace(x, **changes)
    for head in (b"replace", b"evolve", b"assoc", b"__replace__")
]
_COPIED = [re.compile(rb"model_copy\s*\("), re.compile(rb"copy\(\s*update\s*="), re.compile(rb"_make\s*\(")]
_REPLACING = re.compile(
    rb"from[ \t]+(?:dataclasses|copy|attrs?|msgspec\.structs)[ \t]+import\b(?:[ \t]*\([^)]*|[^\n]*)\b(?:replace|evolve)\b"
)
_UNCALLED = re.compile(rb"(?<![.\w`])(?:replace|evolve)\b(?!\s*[(=`.:])")
_AS_VALUE = re.compile(rb"(?:dataclasses|copy|attrs?|structs)\.(?:replace|evolve)\b(?!\s*[(`])")
_CALLED = re.compile(rb"__class__\s*\(|type\((?:[^()\n]|\([^()\n]*\))*\)\s*\(")  # x.__class__(..), type(x)(..)
_GIVEN = re.compile(rb"__class__\s*[,)]|type\((?:[^()\n]|\([^()\n]*\))*\)\s*[,)]")  # f(type(x))
_COMPUTED = [  # getattr(module, name)(..), globals()[name](..), an object made again, a metaclass
    (b"getattr(", re.compile(rb"getattr\((?:[^()\n]|\([^()\n]*\))*\)\s*\(|=\s*getattr\(")),
    (b"globals()[", re.compile(rb"globals\(\)\[[^\]\n]*\]\s*\(|=\s*globals\(\)\[")),
    (
        b".__init__(",
        re.compile(rb"(?<![\w.)])(?!(?:self|cls)\b)[a-z_]\w*(?:\.[a-z_]\w*)*\.__init__\("),
    ),  # x.__init__(..)
    (b"super().__call__", re.compile(rb"super\(\)\.__call__\(")),
]
_HELD = re.compile(rb"(\w+)[ \t]*:?=[ \t]*(?:[\w.\[\]]*\.)?$")  # kind = type(x), kind = x.__class__
_MAKING = (b"namedtuple", b"make_dataclass", b"create_model", b"make_class", b"defstruct", b"new_class")
_THREE = re.compile(rb"type\(\s*[^(),]+,")


class Makes:
    """What to look for, made once from all the classes and attributes."""

    def __init__(
        self,
        names: Iterable[str],
        own: Iterable[str],
        words: Iterable[str],
        all_words: Iterable[str],
        methods: Iterable[str],
        vague: bool,
    ) -> None:
        """``names``: classes that take one of ``words``; ``own``: classes in whose methods ``cls`` may be one of them.

        ``all_words``: attributes that other classes may have; ``methods``: members that the tree's classes define. ``vague``: also
        what makes an object of a class that nobody knows.
        """
        self.vague = vague
        self.names = [name.encode() for name in sorted(names)]
        self.words = [word.encode() for word in sorted(words)]
        self.all_words = [word.encode() for word in sorted(all_words)]
        self.methods = {name.encode() for name in methods}
        named, said = b"|".join(map(re.escape, self.names)), b"|".join(map(re.escape, self.words))
        self.own = re.compile(rb"class\s+(?:%s)\b" % b"|".join(re.escape(n.encode()) for n in sorted(own)))
        self.keyword = re.compile(rb"[(,]\s*(?:#[^\n]*\n\s*)*(?:%s)\s*=(?!=)" % said)
        self.display = re.compile(rb"\*\*\s*\{[^{}]*[\"'](?:%s)[\"']" % said)
        self.found = re.compile(rb"\b(?:%s)\b" % named)
        one = rb"[\"']?(?:Optional\[\s*)?[\"']?(?:%s)[\"']?\]?(?:[ \t]*\|[ \t]*None)?[\"']?" % named
        self.noted = re.compile(rb"[ \t]*(?!lambda\b)[\w.]+[ \t]*:[ \t]*" + one + rb"[ \t]*(?:=[^\n]*)?(?:#[^\n]*)?$")
        self.parameter = re.compile(rb"(?:[(,]|^)\s*\w+\s*:\s*[\"']?(?:Optional\[\s*)?[\"']?$")

    def at(self, data: bytes) -> bool:
        """May this text make one of the objects, or another one with an attribute of the name?"""
        if any(word in data for word in self.words):
            if self.keyword.search(data) or (b"**" in data and self.display.search(data)):
                return True
        if self.names:
            own = b"class" in data and self.own.search(data) is not None
            if own or (any(name in data for name in self.names) and any(self._named(data))):
                return True
            if (
                (b"__subclasses__" in data and self.vague)
                or self._copied(data)
                or (self.vague and (self._replaced(data) or any(self._typed(data))))
            ):
                return True
        return self._others(data)

    def _named(self, data: bytes) -> Iterator[bool]:
        """For each place that names one of the classes: is it more than an annotation, an import or prose?"""
        imports: list[tuple[int, int]] | None = None
        for found in self.found.finditer(data):
            start, stop = found.span()
            begin, end = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", stop)
            before, after = data[begin:start], data[stop : end if end >= 0 else len(data)]
            if self._benign(before, after):
                continue
            if self.parameter.search(before) and _in_signature(data, start):
                continue
            noted = _NOTED.fullmatch(before) and self.noted.fullmatch(before + found[0] + after)
            if noted and not re.match(rb"\s*(?:[}\])]|for\b|if\b)", data[end:]):
                continue  # flag: Args = other
            if imports is None:
                imports = [m.span() for m in _IMPORT.finditer(data)]
            if not any(first <= start < last for first, last in imports) or re.match(rb"\s+as\b", after):
                yield True

    def _benign(self, before: bytes, after: bytes) -> bool:
        """What stands on the line beside the name says that nothing is made of the class."""
        left = before.lstrip()
        if (
            before.endswith((b"`", b"::"))
            or left.startswith(b"#")
            or (left.startswith(b'"""') and left.count(b'"""') == 1)
        ):
            return True  # prose
        if before.rstrip(b" \t\"'([").endswith(b"->") or (b"#" in before and b'"' not in before and b"'" not in before):
            return True
        word = re.search(rb"[A-Za-z_]\w*$", before.rstrip(b" \t")) if before[-1:] in b" \t" else None
        if word is not None and word[0] not in _WORDS:
            return True  # "the Args"
        if after[:1] == b" " and (follows := re.match(rb" +([A-Za-z_]\w*)", after)) and follows[1] not in _WORDS:
            return True
        if after[:1] == b"." and (attribute := re.match(rb"\.(\w+)(\s*\()?", after)):
            return attribute[1] not in _SPECIAL and (attribute[2] is None or attribute[1] in self.methods)
        return _LOOKING.search(before) is not None and after[:1] == b")"

    def _copied(self, data: bytes) -> bool:
        return any(mark in data for mark in (b"model_copy", b"update", b"_make")) and any(
            p.search(data) for p in _COPIED
        )

    def _replaced(self, data: bytes) -> bool:
        replacing = b"replace" in data or b"evolve" in data or b"assoc" in data
        if replacing and b"**" in data and any(pattern.search(data) for pattern in _SPREAD):
            return True
        if b"replace" not in data and b"evolve" not in data:
            return False
        named = _REPLACING.search(data) if b"from " in data else None
        if named and (
            b" as " in named[0] or _UNCALLED.search(data[named.end() :]) or _UNCALLED.search(data[: named.start()])
        ):
            return True
        return any(mark in data for mark in (b"dataclasses", b"copy.", b"attr", b"structs")) and bool(
            _AS_VALUE.search(data)
        )

    def _typed(self, data: bytes) -> Iterator[bool]:
        """For each class of an object that is called or given a name: may it be one of ours? ``self`` is of this file's."""
        yield any(pattern.search(data) for mark, pattern in _COMPUTED if mark in data)
        for mark in (b"__class__", b"type("):
            at = data.find(mark)
            while at >= 0:
                begin = data.rfind(b"\n", 0, at) + 1
                before = data[begin:at]
                if mark == b"__class__" or not (before[-1:].isalnum() or before[-1:] in b"._"):
                    whose = before if mark == b"__class__" else data[at : at + 10]
                    mine = whose.endswith((b"self.", b"cls.")) or whose.startswith((b"type(self)", b"type(cls)"))
                    if not mine and (_CALLED.match(data, at) or _GIVEN.match(data, at)):
                        yield True
                    held = _HELD.search(before)
                    if held is not None and not mine:
                        yield re.search(rb"\b%s\s*\(" % re.escape(held[1]), data) is not None
                at = data.find(mark, at + len(mark))

    def _others(self, data: bytes) -> bool:
        making = any(mark in data for mark in _MAKING) or (b"type(" in data and _THREE.search(data) is not None)
        options = b"add_argument" in data
        for word in self.all_words if making or options else ():
            if word not in data:
                continue
            if making and re.search(rb"[\"'][^\"'\n]*\b%s\b" % re.escape(word), data):
                return True
            if options and re.search(rb"dest\s*=\s*[\"']%s\b|[\"']--%s\b" % (word, word.replace(b"_", b"[-_]")), data):
                return True
        return False


def _in_signature(data: bytes, at: int) -> bool:
    """Is the bracket around this place the one of a function's parameters? Nearer brackets make it something else."""
    depth = 0
    for found in reversed(list(_BRACKET.finditer(data, max(0, at - 4000), at))):
        if found[0] in b")]}":
            depth += 1
        elif depth:
            depth -= 1
        else:
            subscript = found[0] == b"[" and data[: found.start()].endswith(b"Optional")
            if not subscript:
                return (
                    found[0] == b"(" and _DEFINED.search(data[max(0, found.start() - 200) : found.start()]) is not None
                )
    return False
