"""Canonical ``match`` statements: decided guards, decided subjects, captures that outlive their case."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pruner.verify.bindings import pattern_names
from pruner.verify.canon import Canon
from pruner.verify.items import Item, captures, irrefutable, matches
from pruner.verify.nodes import walk
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
        rows: list[tuple[ast.match_case, Term]] = []
        for case in node.cases:
            guard = self.canon.test(case.guard, scope) if case.guard is not None else TRUE
            answer = matches(case.pattern, subject)
            if answer is False or (guard == FALSE and not self._captured(case, node, scope)):
                continue
            rows.append((case, guard))
            if guard == TRUE and (answer is True or irrefutable(case.pattern)):
                break
        if subject[0] == "=" and rows and rows[0][1] == TRUE and matches(rows[0][0].pattern, subject):
            return self.suite(rows[0][0].body, scope)
        blocks, heads = [], []
        for case, guard in rows:
            heads.append((self.canon._generic(case.pattern, scope), guard))
            blocks.append([] if guard == FALSE else self.suite(case.body, scope))
        last = bool(rows) and rows[-1][1] == TRUE and irrefutable(rows[-1][0].pattern)
        leaves = last and all(block and block[-1].leaves for block in blocks)
        return [Item("Match", ("Match", subject, tuple(heads)), node.lineno, node, tuple(blocks), leaves=leaves)]

    def _captured(self, case: ast.match_case, node: ast.Match, scope: Scope) -> bool:
        """Is a name that this case captures read outside its own body?

        ``case value if is_hip(): pass`` binds ``value`` even where the guard is false.
        """
        captured = set(pattern_names(case.pattern))
        if not captured:
            return False
        inside = {id(n) for other in node.cases for n in walk(other) if other is case or captures(other, captured)}
        everything = walk(scope.node if scope.node is not None else node)
        return any(
            isinstance(n, ast.Name) and n.id in captured and isinstance(n.ctx, ast.Load) and id(n) not in inside
            for n in everything
        )
