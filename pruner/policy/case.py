"""The case format: a ``facts.yaml`` beside a small tree, as the behaviour tests have it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from ruamel.yaml.nodes import Node

from pruner.model import Fact, Policy, Rule, Target
from pruner.policy import codes, subject, target, value
from pruner.policy.merge import assemble
from pruner.policy.node import Faults, RuleFile, Text
from pruner.policy.rule import Stated

_KEYS = ("facts", "defined_in", "roots", "values", "valid_from", "drop", "keep")
_VERBS = {"facts": "assume", "values": "assume", "roots": "root", "keep": "keep", "drop": "drop"}
_BECAUSE = {
    "facts": "The case says that this is constant.",
    "values": "The case says that these are the only values.",
    "roots": "The case is used from here.",
    "keep": "The case says that this has users outside the tree.",
    "drop": "The case says that this goes.",
}


def load_case(path: Path) -> Policy:
    """The policy of a case's ``facts.yaml``. Raises :class:`PruneError` with all its faults.

    A drop that is a dotted name may be a module, a top-level name or a member of a class or
    enum; only the tree can tell, so its target has the kind ``dotted``.
    """
    faults, stated = Faults(), Stated()
    file = RuleFile(path.as_posix(), path.name, faults, "facts: {}")
    root = file.open(path)
    parts: dict[str, tuple[Text, Node]] = {}
    for key, node in file.mapping(root, "a case") if root is not None else ():
        if key.value in _KEYS:
            parts[key.value] = (key, node)
        else:
            file.unknown_key(key, "a case", _KEYS)
    module = file.text(parts["defined_in"][1], "'defined_in'") if "defined_in" in parts else None
    validity = _validity(file, parts["valid_from"][1]) if "valid_from" in parts else {}
    for name, verb in _VERBS.items():
        if name not in parts:
            continue
        key, node = parts[name]
        place = stated.note(file, key.location)
        stated.rules.append(Rule(name, verb, _BECAUSE[name], place, optional=True))
        if verb == "assume":
            _read_facts(file, node, name, module.value if module else "", validity, stated)
        else:
            _read_targets(file, node, name, verb, stated)
    subjects = {f.subject for f in stated.facts}
    for named, (text, _) in validity.items():
        if named not in subjects:
            file.fault(text.node, codes.BAD_SUBJECT, f"'valid_from' speaks of {named}, of which there is no fact")
    policy = assemble(stated, faults, (path.name,))
    faults.stop_if_any()
    return replace(policy, shown={path.name: path.as_posix()})


def _read_facts(
    file: RuleFile, node: Node, rule: str, module: str, validity: dict[str, tuple[Text, str]], stated: Stated
) -> None:
    for key, value_node in file.mapping(node, f"'{rule}'"):
        text = f"{module}.{key.value}" if module and re.fullmatch(r"\w+(\(\))?", key.value) else key.value
        name, fault = subject.normalise(text)
        if name is None:
            file.fault(key.node, codes.BAD_SUBJECT, fault, "add 'defined_in', or write the module")
            continue
        values, valid_from = value.read(file, value_node, name)
        if values is not None:
            valid_from = valid_from or (validity[name][1] if name in validity else None)
            stated.facts.append(Fact(rule, name, values, stated.note(file, key.location), valid_from))


def _read_targets(file: RuleFile, node: Node, rule: str, verb: str, stated: Stated) -> None:
    for text in file.texts(node, f"'{rule}'"):
        read = target.read_case if verb == "drop" else lambda t: target.read(t, verb)
        kind, normal, fault = read(text.value)
        if fault:
            file.fault(text.node, codes.BAD_TARGET, fault)
            continue
        place = stated.note(file, text.location)
        stated.targets.setdefault(verb, []).append(Target(rule, kind, normal, place))


def _validity(file: RuleFile, node: Node) -> dict[str, tuple[Text, str]]:
    found: dict[str, tuple[Text, str]] = {}
    for key, value_node in file.mapping(node, "'valid_from'"):
        name, fault = subject.normalise(key.value)
        point = file.text(value_node, f"'valid_from' of {key.value}")
        if point is None:
            continue
        normal, point_fault = subject.normalise(point.value)
        if name is None or normal is None:
            file.fault(key.node, codes.BAD_SUBJECT, fault or point_fault)
            continue
        found[name] = (key, normal)
    return found
