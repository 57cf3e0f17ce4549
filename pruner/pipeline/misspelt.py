"""Rules that speak of what is there, but in words that decide nothing: a function without ``()``, a near miss in ``dynamic``.

Blind to: functions that a decorator of unknown meaning, an assignment or another package makes; and members and
sites that are spelt far from any module (rules may name what only other releases have).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from pruner.graph.symbols import ModuleTable
from pruner.model import Dynamic, Finding, Policy
from pruner.model.ir import Block, Expr, mentions
from pruner.pipeline.targets import named_modules

_NEAR = 0.8  # as difflib counts: one letter of a short word, two of a long one
_FUNCTIONS = frozenset({"cache", "lru_cache", "staticmethod", "classmethod", "abstractmethod", "override", "wraps"})


def misspelt(policy: Policy, table: ModuleTable) -> list[Finding]:
    """PR018 for facts on functions and classes themselves, PR019 for near misses of ``dynamic``."""
    return [*_uncalled(policy, table), *_near_misses(policy, table)]


def _uncalled(policy: Policy, table: ModuleTable) -> Iterator[Finding]:
    stated = {fact.subject for fact in policy.stated}
    for fact in policy.stated:
        if "(" in fact.subject or "[" in fact.subject:
            continue
        kind = _kind(fact.subject, table)
        if not kind or any(other.startswith(f"{fact.subject}(") for other in stated):
            continue  # `f` may be a variable in another release
        text = f"rule {fact.rule} states {fact.subject}, which is a {kind} itself, not what it answers"
        advice = f"write {fact.subject}()" if kind != "class" else "name an attribute or a method of it"
        yield Finding("PR018", fact.location.file, fact.location.line, text, advice)


def _kind(subject: str, table: ModuleTable) -> str:
    """function, method or class when nothing else binds the name; else ""."""
    split = table.split(subject)
    summary = table.load(split[0]) if split is not None and split[0] in table.paths else None
    if split is None or summary is None or not split[1]:
        return ""
    name, _, member = split[1].partition(".")
    stores = summary.stores.get(name, ())
    if name in summary.rebinds or not stores:
        return ""
    if not member:
        if all(s.kind == "class" for s in stores):
            return "class"
        return "function" if all(s.kind == "def" and _plain(s.stmt[4]) for s in stores) else ""
    if "." in member or not all(s.kind == "class" for s in stores):
        return ""
    rows = [row for s in stores for row in _binding(s.stmt[7], member)]
    return "method" if rows and all(row is not None and _plain(row) for row in rows) else ""


def _binding(body: Block, name: str) -> Iterator[Sequence[Expr] | None]:
    """Of each statement of a class body that mentions the name: the decorators of a ``def`` of it, else None."""
    for stmt in body:
        if stmt[0] == "def" and stmt[3] == name:
            yield stmt[4]
        elif stmt[0] != "def" and mentions(stmt, name):
            yield None


def _plain(decorators: Sequence[Expr]) -> bool:
    """Is what these decorators leave a function still?"""
    for chain in decorators:
        path = [step for step in chain[2] if step[0] == "."] if chain[0] in "nvb" else []
        if chain[0] == "k" and chain[1][0] in "nvb":
            chain, path = chain[1], [step for step in chain[1][2] if step[0] == "."]
        if chain[0] not in "nvb" or (path[-1][1:] if path else chain[1]) not in _FUNCTIONS:
            return False
    return True


def _near_misses(policy: Policy, table: ModuleTable) -> Iterator[Finding]:
    """PR019: a member or site that names no module, where one is spelt nearly so that the declaration does not name."""
    sites = {row.site for row in policy.dynamics}
    for row in policy.dynamics:
        if row.package not in table:
            continue
        below = {module[len(row.package) + 1 :] for module in table.below(row.package)}
        for member in row.members:
            if not named_modules(table, row.package, member):
                near = _nearest(member, below - set(row.members))
                if near:
                    yield _near(row, f"the member {member!r}, which is no module of {row.package}", near)
        if row.site and row.site not in table:
            parent, _, name = row.site.rpartition(".")
            around = table.children.get(parent, ()) if parent else [m for m in table.paths if "." not in m]
            children = {child.rpartition(".")[2] for child in around}
            near = _nearest(name, {c for c in children if f"{parent}.{c}".strip(".") not in sites})
            if near:
                yield _near(row, f"the site {row.site!r}, which is no module", f"{parent}.{near}".strip("."))


def _near(row: Dynamic, text: str, near: str) -> Finding:
    advice = f"nearest: {near}"
    return Finding("PR019", row.location.file, row.location.line, f"rule {row.rule} names {text}", advice)


def _nearest(name: str, known: set[str]) -> str:
    """The name that this one is a slip of the pen for. Another number, as of a version, is another thing."""
    letters = [word for word in sorted(known) if _digits(word) == _digits(name)]
    return next(iter(difflib.get_close_matches(name, letters, 1, _NEAR)), "")


def _digits(text: str) -> str:
    return "".join(c for c in text if c.isdigit())
