"""One rule file into rules and what each states; no merging, no other file opened."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from packaging.version import InvalidVersion, Version
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from pruner.model import Allowed, Dynamic, Fact, Guard, Location, Rule, Target
from pruner.policy import codes, guard, subject, target, value
from pruner.policy.node import RuleFile, Text

VERBS = ("assume", "root", "keep", "drop", "discard", "dynamic", "guard", "pure", "allow")
TOP_KEYS = ("extends", "lift", "capabilities", "rules")
RULE_KEYS = ("id", "because", "optional", "since", "until", "device", "without")
ID = r"[A-Za-z0-9][A-Za-z0-9._-]*"
DOTTED = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
PURE = r"[^\W\d]\w*(\.([^\W\d]\w*|\*))*"  # '*' is any one component: pkg.environ.envs.*.get
_DYNAMIC_KEYS = ("package", "members", "site")
_ALLOW_KEYS = ("path", "name", "reason", "most", "since", "until")
_MEMBER = re.compile(r"[\w.*?\[\]!-]+")


@dataclass(slots=True)
class Stated:
    """What rule files state, as written."""

    rules: list[Rule] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    targets: dict[str, list[Target]] = field(default_factory=dict)  # by verb
    dynamics: list[Dynamic] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    lifted: list[tuple[str, Location]] = field(default_factory=list)  # ids that do not hold here
    pure: list[tuple[str, str]] = field(default_factory=list)  # (rule, function)
    allow: list[Allowed] = field(default_factory=list)
    shown: dict[Location, Location] = field(default_factory=dict)  # stable place -> place for diagnostics

    def note(self, file: RuleFile, place: Location) -> Location:
        """Remember how a person reaches a place, and return it."""
        self.shown[place] = Location(file.shown, place.line, place.column)
        return place


def read_rules(file: RuleFile, node: Node, stated: Stated) -> None:
    """Add the rules of one file's ``rules`` list."""
    for item in file.items(node, "'rules'"):
        _read_rule(file, item, stated)


def _read_rule(file: RuleFile, node: Node, stated: Stated) -> None:
    entries: dict[str, Node] = {}
    meant: set[str] = set()  # verbs that were probably meant, so that a typo is not reported twice
    for key, value_node in file.mapping(node, "a rule"):
        if key.value in RULE_KEYS or key.value in VERBS:
            entries[key.value] = value_node
        else:
            near = file.unknown_key(key, "a rule", RULE_KEYS + VERBS)
            meant.add(near or "")
    if not entries and not meant:
        return
    texts = {k: file.text(entries[k], f"'{k}'") for k in ("id", "because", "since", "until") if k in entries}
    name = _identifier(file, node, texts.get("id"), "id" in entries or "id" in meant)
    if "because" not in entries and "because" not in meant:
        file.fault(
            node, codes.MISSING_KEY, f"rule {name or '?'} has no 'because'", "say in one sentence why it is true"
        )
    verbs = [k for k in entries if k in VERBS]
    if len(verbs) > 1:
        advice = "make a rule of each"
        file.fault(entries[verbs[1]], codes.VERB_COUNT, f"rule {name or '?'} has the verbs {', '.join(verbs)}", advice)
    if not verbs and not meant & {*VERBS, ""}:
        file.fault(node, codes.VERB_COUNT, f"rule {name or '?'} has no verb", f"add one of {', '.join(VERBS)}")
    window = {k: _version(file, t) if (t := texts.get(k)) else None for k in ("since", "until")}
    if window["since"] and window["until"] and Version(window["since"]) >= Version(window["until"]):
        file.fault(entries["until"], codes.BAD_VERSION, "'until' must be after 'since'", "'until' is not included")
    optional = file.boolean(entries["optional"], "'optional'") if "optional" in entries else False
    device = file.boolean(entries["device"], "'device'") if "device" in entries else False
    why = texts.get("because")
    if "without" in entries:
        _targets(file, entries["without"], "without", name or "?", stated)
    for verb in verbs:
        value_node = entries[verb]
        if isinstance(value_node, SequenceNode | MappingNode) and not value_node.value:
            file.fault(
                value_node,
                codes.BAD_TARGET,
                f"{verb!r} of rule {name or '?'} names nothing",
                "name what it is about, or take the rule out",
            )
            continue
        READERS[verb](file, entries[verb], verb, name or "?", stated)
    if name and why and len(verbs) == 1:
        place = stated.note(file, file.place(node))
        stated.rules.append(Rule(name, verbs[0], why.value, place, optional, window["since"], window["until"], device))


def _identifier(file: RuleFile, node: Node, text: Text | None, given: bool) -> str | None:
    if text is None:
        if not given:
            file.fault(node, codes.MISSING_KEY, "a rule has no 'id'", "give it a name such as nvidia.hip")
        return None
    if not re.fullmatch(ID, text.value):
        file.fault(text.node, codes.BAD_ID, f"{text.value!r} is not an id", "use letters, digits, '.', '-' and '_'")
        return None
    return text.value


def _version(file: RuleFile, text: Text) -> str | None:
    try:
        Version(text.value)
    except InvalidVersion:
        file.fault(
            text.node, codes.BAD_VERSION, f"{text.value!r} is not a version", "write it as upstream does: 0.5.17"
        )
        return None
    return text.value


def _assume(file: RuleFile, node: Node, verb: str, rule: str, stated: Stated) -> None:
    seen: dict[str, str] = {}
    for key, value_node in file.mapping(node, f"'{verb}'"):
        name, fault = subject.normalise(key.value)
        if name is None:
            file.fault(key.node, codes.BAD_SUBJECT, fault, "write the defining module, e.g. pkg.mod.f('X').attr")
            continue
        if name in seen:  # f("X") and f('X')
            file.fault(key.node, codes.DUPLICATE_KEY, f"the rule speaks of {name} twice", f"first as {seen[name]}")
            continue
        seen[name] = key.value
        values, valid_from = value.read(file, value_node, name)
        if values is not None:
            stated.facts.append(Fact(rule, name, values, stated.note(file, key.location), valid_from))


def _targets(file: RuleFile, node: Node, verb: str, rule: str, stated: Stated) -> None:
    for text in file.texts(node, f"'{verb}'"):
        kind, normal, fault = target.read(text.value, verb)
        if fault:
            file.fault(text.node, codes.BAD_TARGET, fault)
            continue
        place = stated.note(file, text.location)
        stated.targets.setdefault(verb, []).append(Target(rule, kind, normal, place))


def _dynamic(file: RuleFile, node: Node, verb: str, rule: str, stated: Stated) -> None:
    for item in node.value if isinstance(node, SequenceNode) else [node]:
        parts = _parts(file, item, verb, _DYNAMIC_KEYS, required=("package", "members"))
        package = file.text(parts["package"], "'package'") if "package" in parts else None
        site = file.text(parts["site"], "'site'") if "site" in parts else None
        for module in (package, site):
            if module and not re.fullmatch(DOTTED, module.value):
                file.fault(module.node, codes.BAD_TARGET, f"{module.value!r} is not a dotted module name")
        members = list(file.texts(parts["members"], "'members'")) if "members" in parts else []
        for member in members:
            if not _MEMBER.fullmatch(member.value):
                file.fault(member.node, codes.BAD_TARGET, f"{member.value!r} is not a module name or pattern")
        if package:
            names = tuple(sorted({m.value for m in members}))
            place = stated.note(file, file.place(item))
            stated.dynamics.append(Dynamic(rule, package.value, names, place, site.value if site else ""))


def _guard(file: RuleFile, node: Node, verb: str, rule: str, stated: Stated) -> None:
    for number, item in enumerate(node.value if isinstance(node, SequenceNode) else [node], 1):
        found = guard.read(file, item, rule, number)
        if found is not None:
            stated.note(file, found.location)
            stated.guards.append(found)


def _pure(file: RuleFile, node: Node, verb: str, rule: str, stated: Stated) -> None:
    for text in file.texts(node, f"'{verb}'"):
        if re.fullmatch(PURE, text.value):
            stated.pure.append((rule, text.value))
        else:
            file.fault(text.node, codes.BAD_SUBJECT, f"{text.value!r} is not a dotted function name", "leave out '()'")


def _allow(file: RuleFile, node: Node, verb: str, rule: str, stated: Stated) -> None:
    for item in file.items(node, f"'{verb}'"):
        parts = _parts(file, item, verb, _ALLOW_KEYS, required=_ALLOW_KEYS[:3])
        globs = {k: _some(file, parts[k], f"'{k}'") for k in ("path", "name") if k in parts}
        reason = file.text(parts["reason"], "'reason'") if "reason" in parts else None
        window = {}
        for key in ("since", "until"):
            text = file.text(parts[key], f"'{key}'") if key in parts else None
            window[key] = (_version(file, text) if text is not None else None) or ""
        most = _count(file, parts["most"], "'most'") if "most" in parts else 0
        if reason is not None and all(globs.get(k) for k in ("path", "name")):
            entry = Allowed(rule, globs["path"], globs["name"], reason.value, most, window["since"], window["until"])
            stated.allow.append(entry)


def _some(file: RuleFile, node: Node, what: str) -> tuple[str, ...]:
    """One text or a list of them."""
    if isinstance(node, SequenceNode):
        return tuple(t.value for t in file.texts(node, what))
    text = file.text(node, what)
    return (text.value,) if text is not None else ()


def _count(file: RuleFile, node: Node, what: str) -> int:
    """An integer above 0; 0 after noting a fault."""
    found = file.constant(node, what)
    if found and (not isinstance(found[0], int) or isinstance(found[0], bool) or found[0] < 1):
        file.fault(node, codes.WRONG_TYPE, f"{what} must be an integer above 0")
        return 0
    return int(found[0]) if found and isinstance(found[0], int) else 0


def _parts(file: RuleFile, node: Node, verb: str, known: tuple[str, ...], required: tuple[str, ...]) -> dict[str, Node]:
    parts: dict[str, Node] = {}
    unknown = False
    for key, value_node in file.mapping(node, f"an entry of '{verb}'"):
        if key.value in known:
            parts[key.value] = value_node
        else:
            unknown = True
            file.unknown_key(key, f"an entry of '{verb}'", known)
    missing = [k for k in required if k not in parts]
    if parts and missing and not unknown:
        file.fault(node, codes.MISSING_KEY, f"an entry of '{verb}' has no {', '.join(map(repr, missing))}")
    return parts


READERS: dict[str, Callable[[RuleFile, Node, str, str, Stated], None]] = {
    "assume": _assume,
    "root": _targets,
    "keep": _targets,
    "drop": _targets,
    "discard": _targets,
    "dynamic": _dynamic,
    "guard": _guard,
    "pure": _pure,
    "allow": _allow,
}
