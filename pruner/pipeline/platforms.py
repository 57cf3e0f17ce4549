"""Which names the rules speak of, and which of them are platforms' names."""

from __future__ import annotations

import re

from pruner.model import Policy

_NAME = re.compile(r"[A-Za-z_]\w*")
_PREDICATE = re.compile(r"^_?(?:is|use)_([a-z0-9]+)$")


def classified(policy: Policy) -> frozenset[str]:
    """Identifiers that end a subject or a target, without leading underscores.

    ``pkg.common.is_hip()`` gives ``is_hip``, ``envs.USE_AITER.get()`` and ``getenv('USE_AITER')`` give
    ``USE_AITER``, ``pkg.hardware.npu.**`` gives ``npu``, ``pkg.CHOICES[aiter]`` gives ``aiter``.
    """
    found: set[str] = set()
    for fact in (*policy.facts, *policy.stated):
        head, _, arguments = fact.subject.partition("(")
        found.update(_NAME.findall(arguments))
        parts = _NAME.findall(head)
        # `torch.xpu.is_available()` speaks of xpu, `envs.X.get()` of X.
        found.update(parts[-2:-1] if parts[-1] in ("get", "is_available") else parts[-1:])
    for target in (*policy.drops, *policy.discards, *policy.keeps):
        text = target.text.removesuffix(".**").removesuffix(".*")
        if target.kind == "entry":
            found.update(_NAME.findall(text.rpartition("[")[2]))
        elif target.kind != "path":
            found.update(_NAME.findall(re.split(r"[.:]", text)[-1]))
    return frozenset(name.lstrip("_") for name in found)


def words(policy: Policy) -> frozenset[str]:
    """Names of platforms: X of a fact on ``is_x()``, and folders and choices of the name of one."""
    found = set()
    for fact in (*policy.facts, *policy.stated):
        for name in _NAME.findall(fact.subject):
            if name != "is_available" and (match := _PREDICATE.match(name)) is not None:
                found.add(match[1])
    return frozenset(found)


def ruled_out(policy: Policy) -> frozenset[str]:
    """The words of :func:`words` that the rules deny: ``is_hip()`` is false, so hip is not here."""
    found = set()
    for fact in policy.facts:
        if fact.values in ((False,), (None,)):
            for name in _NAME.findall(fact.subject):
                if name != "is_available" and (match := _PREDICATE.match(name)) is not None:
                    found.add(match[1])
    return frozenset(found)
