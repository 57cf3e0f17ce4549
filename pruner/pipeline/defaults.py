"""Choices that are gone and that an option has where nobody gives it one: every start of such a build would be refused.

Blind to defaults that are no constant in the body of the class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from pruner.model import Ask, Finding, Guard, Policy
from pruner.verify.catalogue import Catalogue
from pruner.verify.entries import binds

Refused = Mapping[str, tuple[str, str, list[str]]]  # value -> the rule that took it, and advice


def refused_by_default(
    policy: Policy, guards: Iterable[tuple[Guard, Ask, Refused]], up: Catalogue
) -> tuple[Finding, ...]:
    """A finding for each option of a guarded class whose default ``Refused`` holds.

    None where the question is asked ``when`` something is on that is off by default, or a fact says what the option is:
    then whoever wrote the rules knows that it has to be given.
    """
    stated = {fact.subject for fact in policy.stated}
    found = set()
    for guard, ask, gone in guards:
        for owner, values in _classes(guard, up):
            value = values.get(ask.chain)
            if value is None or str(value) not in gone or f"{owner}.{ask.chain}" in stated:
                continue
            if ask.when and ask.when in values and not values[ask.when]:
                continue
            place = policy.by_id[gone[str(value)][0]].location
            name = f"{owner.rpartition('.')[2]}.{ask.chain}"
            text = f"{value!r} is dropped, which {name} is by default: rule {guard.rule} would refuse every start"
            advice = f"keep it, let the question be asked `when` another option is on, or state {owner}.{ask.chain}"
            found.add(Finding("PR244", place.file, place.line, text, advice))
    return tuple(sorted(found, key=lambda row: (row.path, row.line, row.text)))


def _classes(guard: Guard, up: Catalogue) -> Iterator[tuple[str, Mapping[str, object]]]:
    """(class, its constants by name) of each guarded method that asks its own object."""
    if guard.of != "self" or guard.options:
        return
    for place in guard.at:
        module, _, path = place.partition(":")
        tree, owner = up.tree(module), path.rpartition(".")[0]
        for node in tree.body if tree is not None else ():
            if isinstance(node, ast.ClassDef) and node.name == owner:
                yield f"{module}.{owner}", dict(_constants(node))


def _constants(node: ast.ClassDef) -> Iterator[tuple[str, object]]:
    for part in node.body:
        if isinstance(part, ast.Assign | ast.AnnAssign) and isinstance(part.value, ast.Constant):
            yield from ((name, part.value.value) for name in binds(part))
