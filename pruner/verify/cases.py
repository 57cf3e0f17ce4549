"""Canonical ``match`` statements: decided guards, subjects that are one of a few constants, captures that outlive their case."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pruner.verify.bindings import pattern_names
from pruner.verify.canon import Canon
from pruner.verify.items import Item, captures, irrefutable
from pruner.verify.nodes import walk
from pruner.verify.rules import Const
from pruner.verify.scopes import Scope
from pruner.verify.terms import FALSE, TRUE, Term


class Cases:
    """The part of :class:`pruner.verify.suites.Suites` that reads ``match``."""

    canon: Canon

    def suite(self, body: Sequence[ast.stmt], scope: Scope) -> list[Item]:
        """The canonical form of a suite."""
        raise NotImplementedError

    def _match(self, node: ast.Match, scope: Scope) -> list[Item]:
        subject = self.canon.value(node.subject, scope)
        droppable = self.canon.effects.droppable(node.subject, scope)
        left = self._possible(node.subject, scope) if droppable else None  # what no case has taken so far
        rows: list[tuple[ast.match_case, Term]] = []
        ended = False
        for case in node.cases:
            guard = self.canon.test(case.guard, scope) if case.guard is not None else TRUE
            answers = [self._matches(case.pattern, one, scope) for one in left or ()]
            never = left is not None and all(answer is False for answer in answers)
            never = never or self._dropped(case.pattern, scope)
            if never or (guard == FALSE and not self._captured(case, node, scope)):
                continue
            rows.append((case, guard))
            if guard != TRUE:
                continue
            if left is not None:
                left = [one for one, answer in zip(left, answers, strict=True) if answer is not True]
            ended = left == [] or irrefutable(case.pattern)
            if ended:
                break
        if not rows and droppable:
            return []
        if ended and droppable and len(rows) == 1 and not any(pattern_names(rows[0][0].pattern)):
            return self.suite(rows[0][0].body, scope)
        blocks, heads = [], []
        for case, guard in rows:
            heads.append((self.canon._generic(case.pattern, scope), guard))
            blocks.append([] if guard == FALSE else self.suite(case.body, scope))
        leaves = ended and all(block and block[-1].leaves for block in blocks)
        return [Item("Match", ("Match", subject, tuple(heads)), node.lineno, node, tuple(blocks), leaves=leaves)]

    def _possible(self, node: ast.expr, scope: Scope) -> list[Const] | None:
        """The constants that the subject is one of."""
        known = self.canon.effects.value(node, scope)
        return list(known.consts) if known.consts is not None and not known.member else None

    def _matches(self, pattern: ast.pattern, constant: Const, scope: Scope) -> bool | None:
        """Does a constant match the pattern? None: cannot say.

        ``case True:`` asks for the object and ``case 1:`` for what is equal to 1: ``True`` is both.
        """
        if isinstance(pattern, ast.MatchSingleton):
            return constant is pattern.value
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is None:
            return True
        if isinstance(pattern, ast.MatchOr):
            answers = [self._matches(part, constant, scope) for part in pattern.patterns]
            return True if True in answers else None if None in answers else False
        if not isinstance(pattern, ast.MatchValue):
            return None
        known = self.canon.effects.value(pattern.value, scope)
        if known.consts is None or known.member:
            return None
        equal = {bool(one == constant) for one in known.consts}
        return equal.pop() if len(equal) == 1 else None

    def _dropped(self, pattern: ast.pattern, scope: Scope) -> bool:
        """Does the pattern ask for nothing but members of enums that rules drop?"""
        if isinstance(pattern, ast.MatchOr):
            return all(self._dropped(part, scope) for part in pattern.patterns)
        effects = self.canon.effects
        return isinstance(pattern, ast.MatchValue) and effects.classes.gone(effects.value(pattern.value, scope))

    def _captured(self, case: ast.match_case, node: ast.Match, scope: Scope) -> bool:
        """Is a name that this case captures read outside the cases that capture it?

        ``case value if is_hip(): pass`` binds ``value`` even where the guard is false. Upstream's text says it for both
        sides: a read that stands in what goes is none in the output, which has the case all the same.
        """
        captured = set(pattern_names(case.pattern))
        if not captured:
            return False
        home = scope.twin if scope.twin is not None and scope.twin.node is not None else scope
        whole = home.node if home.node is not None else node
        rows = [other for other in walk(whole) if isinstance(other, ast.match_case) and captures(other, captured)]
        inside = {id(n) for other in rows for n in walk(other)}
        return any(
            isinstance(n, ast.Name) and n.id in captured and isinstance(n.ctx, ast.Load) and id(n) not in inside
            for n in walk(whole)
        )
