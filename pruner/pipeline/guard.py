"""The generated guard module: what was removed and is asked for says so in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

from pruner.model import Policy

_TEMPLATE = '''"""Written by prune. This tree is a specialisation; what it left out fails here, in one sentence.

PRUNED.json has the facts, the rules and the kept ranges of every file.
"""

RULES = {rules}


class RemovedByPrune(ImportError):
    """Something that this build does not have was asked for."""


def sentence(name, rule):
    """Say what is missing and which rule would keep it."""
    return f"this build was made without {{name}} ({{RULES.get(rule, rule)}}); remove or narrow that rule and rebuild"


def removed(name, rule):
    """An import of a removed module was reached."""
    raise RemovedByPrune(sentence(name, rule), name=name)


class _StandIn(type):
    """A removed name that kept code still mentions: any use of it fails, no instance of it exists."""

    def __call__(cls, *args, **kwargs):
        raise RemovedByPrune(sentence(cls.__name__, cls.__dict__["rule"]), name=cls.__name__)

    def __getattr__(cls, attribute):
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)
        raise RemovedByPrune(sentence(f"{{cls.__name__}}.{{attribute}}", cls.__dict__["rule"]), name=cls.__name__)

    def __instancecheck__(cls, instance):
        return False

    def __subclasscheck__(cls, subclass):
        return subclass is cls


def stand_in(name, rule):
    """A class that nothing is an instance of and that fails when used."""
    return _StandIn(name, (), {{"rule": rule}})
'''


def render(policy: Policy) -> bytes:
    """Source of the guard module. Rules are written with their place, in order of id."""
    places: Mapping[str, str] = {
        r.id: f"rule {r.id}, {r.location.file}:{r.location.line}" for r in policy.rules if r.verb == "drop"
    }
    lines = "".join(f"    {key!r}: {places[key]!r},\n" for key in sorted(places))
    return _TEMPLATE.format(rules="{\n" + lines + "}").encode()


def place(modules: Mapping[str, object]) -> tuple[str, str, str]:
    """(package, module name, path below the import root) for the guard of this tree."""
    tops = {m.split(".")[0] for m in modules if "." in m}
    if "sglang" in tops:
        return "sglang", "_prune_guard", "sglang/_prune_guard.py"
    return "", "_prune_guard", "_prune_guard.py"
