"""Entries of ``guard``: where a call of the generated module goes, and what it asks there."""

from __future__ import annotations

import re

from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from pruner.model import Ask, Guard
from pruner.model.policy import Const
from pruner.policy import codes
from pruner.policy.node import RuleFile
from pruner.policy.subject import normalise

KEYS = ("at", "where", "of", "options", "facts", "http", "ask", "digest")
MARKS = ("print", "note", "ranks", "serve", "peer", "forget")  # what becomes of the digest of the build
KINDS = ("fact", "values", "tables", "classes", "members")
BESIDE = ("attribute", "when")
NAME = r"[^\W\d]\w*"
CHAIN = rf"{NAME}(\.{NAME})*"
PLACE = rf"{CHAIN}:{CHAIN}"


def read(file: RuleFile, node: Node, rule: str, number: int) -> Guard | None:
    """One entry, or None after noting its faults."""
    before = len(file.faults.found)
    parts: dict[str, Node] = {}
    for key, value in file.mapping(node, "an entry of 'guard'"):
        if key.value in KEYS:
            parts[key.value] = value
        else:
            file.unknown_key(key, "an entry of 'guard'", KEYS)
    at = _texts(file, parts["at"], "'at'", PLACE, "a function as pkg.mod:name") if "at" in parts else ()
    where = file.text(parts["where"], "'where'") if "where" in parts else None
    if where is not None and where.value not in ("entry", "after"):
        file.fault(where.node, codes.WRONG_TYPE, f"'where' is {where.value!r}", "write entry or after")
    named = [k for k in ("of", "options") if k in parts]
    of = _texts(file, parts[named[0]], f"'{named[0]}'", CHAIN, "a parameter with attributes") if named else ()
    facts = file.boolean(parts["facts"], "'facts'") if "facts" in parts else False
    http = file.boolean(parts["http"], "'http'") if "http" in parts else False
    asks = _asks(file, parts["ask"]) if "ask" in parts else ()
    mark = file.text(parts["digest"], "'digest'") if "digest" in parts else None
    if mark is not None and mark.value not in MARKS:
        file.fault(mark.node, codes.WRONG_TYPE, f"'digest' is {mark.value!r}", f"write one of {', '.join(MARKS)}")
    if len(file.faults.found) > before:
        return None
    missing = "" if at else "'at'"
    if not missing and not asks and not facts and mark is None:
        missing = "'ask', 'digest' or 'facts: true'"
    if not missing and asks and len(named) != 1:
        missing = "one of 'of' and 'options'"
    if not missing and mark is not None and (asks or facts or http or "options" in parts):
        file.fault(node, codes.VERB_COUNT, "'digest' goes with 'at', 'where' and 'of' alone", "make it two entries")
        return None
    if missing:
        file.fault(node, codes.MISSING_KEY, f"an entry of 'guard' has no {missing}")
        return None
    place = file.place(node)
    after = where.value if where is not None else "entry"
    subject, digest = of[0] if of else "", mark.value if mark is not None else ""
    return Guard(rule, at, after, subject, named == ["options"], facts, asks, place, number, http, digest)


def _texts(file: RuleFile, node: Node, what: str, pattern: str, advice: str) -> tuple[str, ...]:
    if isinstance(node, SequenceNode):
        found = list(file.texts(node, what))
    else:
        one = file.text(node, what)
        found = [one] if one is not None else []
    for text in found:
        if not re.fullmatch(pattern, text.value):
            file.fault(text.node, codes.BAD_TARGET, f"{what} is {text.value!r}", f"write {advice}")
    return tuple(text.value for text in found)


def _asks(file: RuleFile, node: Node) -> tuple[Ask, ...]:
    found = []
    for key, value in file.mapping(node, "'ask'"):
        what = f"'ask' of {key.value}"
        if key.value != "." and not re.fullmatch(CHAIN, key.value):
            file.fault(key.node, codes.BAD_SUBJECT, f"{key.value!r} is no chain of attributes", "'.' is the parameter")
            continue
        if not isinstance(value, MappingNode):
            file.fault(value, codes.WRONG_TYPE, f"{what} says nothing", f"write one of {', '.join(KINDS)}")
            continue
        ask = _domain(file, value, key.value, what)
        if ask is not None:
            found.append(ask)
    return tuple(found)


def _domain(file: RuleFile, node: MappingNode, chain: str, what: str) -> Ask | None:
    parts: dict[str, Node] = {}
    for key, value in file.mapping(node, what):
        if key.value in (*KINDS, *BESIDE):
            parts[key.value] = value
        else:
            file.unknown_key(key, what, (*KINDS, *BESIDE))
            return None
    kinds = [kind for kind in KINDS if kind in parts]
    if len(kinds) != 1 or ("attribute" in parts) != (kinds == ["classes"]):
        file.fault(node, codes.VERB_COUNT, f"{what} needs one of {', '.join(KINDS)}", "'classes' goes with 'attribute'")
        return None
    kind, value = kinds[0], parts[kinds[0]]
    names: tuple[Const, ...]
    if kind == "values":
        rows = value.value if isinstance(value, SequenceNode) else [value]
        names = tuple(v for row in rows for v in file.constant(row, what) or ())
    elif kind == "fact":
        text = file.text(value, what)
        subject, fault = normalise(text.value) if text is not None else (None, "")
        if subject is None:
            file.fault(value, codes.BAD_SUBJECT, fault)
            return None
        names = (subject,)
    else:
        names = _texts(file, value, what, CHAIN, "a dotted name")
    attribute = file.text(parts["attribute"], "'attribute'") if "attribute" in parts else None
    when = _texts(file, parts["when"], "'when'", CHAIN, "a chain of attributes")[:1] if "when" in parts else ()
    return Ask(chain, kind, names, attribute.value if attribute is not None else "", "".join(when))
