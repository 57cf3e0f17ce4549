"""Value sets of facts: reading, normal order, intersection, union.

``True == 1`` in Python, and a fact ``{1}`` does not agree with a fact ``{True}`` where the
value itself is used, so values are compared with their type.
"""

from __future__ import annotations

from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from pruner.model import Range
from pruner.model.policy import Const
from pruner.policy import codes
from pruner.policy.node import RuleFile
from pruner.policy.subject import normalise

Values = tuple[Const, ...] | Range
_KEYS = ("min", "max", "values", "valid_from")


def tidy(values: tuple[Const, ...] | list[Const]) -> tuple[Const, ...]:
    """Without repetition, in an order that does not depend on how the rule was written."""
    unique = {_identity(v): v for v in values}
    return tuple(unique[key] for key in sorted(unique))


def intersect(left: Values, right: Values) -> Values | None:
    """The values in both; None when there are none."""
    if isinstance(left, Range) and isinstance(right, Range):
        lows = [r.low for r in (left, right) if r.low is not None]
        highs = [r.high for r in (left, right) if r.high is not None]
        both = Range(max(lows, default=None), min(highs, default=None))
        return None if _is_empty(both) else both
    if isinstance(left, Range):
        left, right = right, left
    assert not isinstance(left, Range)
    if isinstance(right, Range):
        kept = [v for v in left if _lies_in(v, right)]
    else:
        other = {_identity(v) for v in right}
        kept = [v for v in left if _identity(v) in other]
    return tidy(kept) or None


def union(left: Values, right: Values) -> Values | None:
    """The smallest set that holds both; None when it cannot be written (a range and a string)."""
    if not isinstance(left, Range) and not isinstance(right, Range):
        return tidy(left + right)
    ends: list[Range] = []
    for values in (left, right):
        if isinstance(values, Range):
            ends.append(values)
            continue
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int):
                return None
            ends.append(Range(value, value))
    lows = [r.low for r in ends if r.low is not None]
    highs = [r.high for r in ends if r.high is not None]
    return Range(
        min(lows) if len(lows) == len(ends) else None,
        max(highs) if len(highs) == len(ends) else None,
    )


def read(file: RuleFile, node: Node, subject: str) -> tuple[Values | None, str | None]:
    """(values, valid_from) of one entry of ``assume``; values are None after noting a fault."""
    what = f"the value of {subject}"
    if isinstance(node, SequenceNode):
        return _listed(file, node, what), None
    if not isinstance(node, MappingNode):
        return file.constant(node, what) or None, None
    parts: dict[str, Node] = {}
    for key, value_node in file.mapping(node, what):
        if key.value in _KEYS:
            parts[key.value] = value_node
        else:
            file.unknown_key(key, what, _KEYS)
            return None, None
    since = _validity(file, parts["valid_from"], what) if "valid_from" in parts else None
    if "values" in parts:
        if "min" in parts or "max" in parts:
            file.fault(node, codes.WRONG_TYPE, f"{what} has both 'values' and an end of a range", "write one of them")
            return None, since
        inner = parts["values"]
        if isinstance(inner, SequenceNode):
            return _listed(file, inner, what), since
        return file.constant(inner, what) or None, since
    return _range(file, node, parts, what), since


def _listed(file: RuleFile, node: SequenceNode, what: str) -> tuple[Const, ...] | None:
    read_values = [file.constant(item, what) for item in node.value]
    if not read_values:
        file.fault(node, codes.NO_VALUE, f"{what} is an empty list", "leave the subject out if its value is unknown")
    return tidy([v for one in read_values for v in one]) if read_values and all(read_values) else None


def _range(file: RuleFile, node: Node, parts: dict[str, Node], what: str) -> Range | None:
    ends: dict[str, int | None] = {"min": None, "max": None}
    for key in ends:
        if key not in parts:
            continue
        found = file.constant(parts[key], what)
        if not found:
            return None
        value = found[0]
        if isinstance(value, bool) or not isinstance(value, int):
            file.fault(parts[key], codes.WRONG_TYPE, f"'{key}' of {what} must be an integer")
            return None
        ends[key] = value
    reach = Range(ends["min"], ends["max"])
    if reach.low is None and reach.high is None:
        file.fault(node, codes.NO_VALUE, f"{what} says nothing", "give 'min', 'max' or 'values'")
        return None
    if _is_empty(reach):
        file.fault(node, codes.NO_VALUE, f"{what} is an empty range", "both ends are included")
        return None
    return reach


def _validity(file: RuleFile, node: Node, what: str) -> str | None:
    text = file.text(node, f"'valid_from' of {what}")
    if text is None:
        return None
    subject, fault = normalise(text.value)
    if fault:
        file.fault(node, codes.BAD_SUBJECT, f"'valid_from' of {what}: {fault}")
    return subject


def _identity(value: Const) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def _lies_in(value: Const, ends: Range) -> bool:
    if isinstance(value, bool) or not isinstance(value, int):
        return False
    return (ends.low is None or ends.low <= value) and (ends.high is None or value <= ends.high)


def _is_empty(ends: Range) -> bool:
    return ends.low is not None and ends.high is not None and ends.low > ends.high
