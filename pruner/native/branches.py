"""Branches of ``#if`` chains that facts about macros decide, as line edits.

What is left of a chain is what ``unifdef -t`` leaves: decided directives go with the branches
they close, the next open ``#elif`` becomes the ``#if``, a true ``#elif`` the ``#else``. A chain that
cannot be read with certainty (a comment shares a directive's line, no ``#endif``) is left byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pruner.native.condition import MacroFacts, decide
from pruner.native.directives import Directive, directives

_OPEN = ("if", "ifdef", "ifndef")
_NEXT = ("elif", "elifdef", "elifndef", "else")


@dataclass(slots=True)
class Branches:
    """What goes from one file: inclusive 0-based line ranges, and replaced keywords, each with its macros."""

    gone: list[tuple[int, int, frozenset[str]]] = field(default_factory=list)
    renamed: list[tuple[int, str, str, frozenset[str]]] = field(default_factory=list)  # line, old, new, macros


@dataclass(slots=True)
class _Arm:
    directive: Directive
    first: int  # body lines
    last: int
    chains: list[_Chain] = field(default_factory=list)


@dataclass(slots=True)
class _Chain:
    arms: list[_Arm] = field(default_factory=list)
    end: Directive | None = None

    def plain(self) -> bool:
        return self.end is not None and not any(d.shared for d in (*(a.directive for a in self.arms), self.end))


def fold(data: bytes, facts: MacroFacts) -> Branches:
    """Decide what can be decided. Nothing for a file whose directives do not nest."""
    out = Branches()
    if not any(name.encode() in data for name in facts):
        return out
    tops = _nest(directives(data))
    for chain in tops or ():
        _fold_chain(chain, facts, out)
    out.gone.sort()
    return out


def _nest(found: list[Directive]) -> list[_Chain] | None:
    tops: list[_Chain] = []
    stack: list[_Chain] = []
    for directive in found:
        if directive.keyword in _OPEN:
            chain = _Chain()
            (stack[-1].arms[-1].chains if stack else tops).append(chain)
            stack.append(chain)
            chain.arms.append(_Arm(directive, directive.last + 1, directive.last))
        elif directive.keyword in _NEXT:
            if not stack or stack[-1].arms[-1].directive.keyword == "else":
                return None
            stack[-1].arms[-1].last = directive.first - 1
            stack[-1].arms.append(_Arm(directive, directive.last + 1, directive.last))
        elif directive.keyword == "endif":
            if not stack:
                return None
            chain = stack.pop()
            chain.arms[-1].last = directive.first - 1
            chain.end = directive
    return None if stack else tops


def _fold_chain(chain: _Chain, facts: MacroFacts, out: Branches) -> None:
    verdicts = [
        (True, frozenset[str]())
        if arm.directive.keyword == "else"
        else decide(arm.directive.keyword, arm.directive.text, facts)
        for arm in chain.arms
    ]
    decided = any(
        v is not None and arm.directive.keyword != "else" for arm, (v, _) in zip(chain.arms, verdicts, strict=True)
    )
    if not decided or not chain.plain():
        for arm in chain.arms:
            for inner in arm.chains:
                _fold_chain(inner, facts, out)
        return
    assert chain.end is not None
    open_arm = False  # an arm whose test stays came before
    closed: frozenset[str] | None = None  # macros of the true arm: nothing after it is read
    because: frozenset[str] = frozenset()
    for arm, (value, macros) in zip(chain.arms, verdicts, strict=True):
        directive = arm.directive
        if closed is not None:
            out.gone.append((directive.first, arm.last, closed))
            continue
        if value is False:
            because |= macros
            out.gone.append((directive.first, arm.last, macros))
            continue
        if value is True:
            closed = (macros | because) or because
            if not open_arm:
                out.gone.append((directive.first, directive.last, closed))
            elif directive.keyword != "else":
                # "#elif TRUE" ends the open chain: it is its else. Its own text may span lines, so it is rewritten whole.
                out.renamed.append((directive.first, directive.keyword, "else", macros))
                if directive.last > directive.first:
                    out.gone.append((directive.first + 1, directive.last, macros))
        elif not open_arm:
            open_arm = True
            if directive.keyword.startswith("elif"):
                out.renamed.append((directive.first, directive.keyword, directive.keyword[2:], because))
        for inner in arm.chains:
            _fold_chain(inner, facts, out)
    if not open_arm:
        out.gone.append((chain.end.first, chain.end.last, closed or because))
