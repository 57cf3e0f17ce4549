"""Raw rules, read by the verifier itself: rule files (docs/rules.md) and the cases' facts.yaml.

Nothing of ``pruner.policy`` is used: a mistake there must not make the verifier agree with it.
Blind to wrong spelling: what matches nothing is a finding of the engine, not of the verifier.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from pruner.errors import cannot
from pruner.model import Range

Const = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a guard: the chain, what kind of answer the rules give, what it names."""

    chain: str
    kind: str  # fact, values, tables, classes, members
    names: tuple[Const, ...]
    attribute: str = ""
    when: str = ""  # not asked while this chain says no


@dataclass(frozen=True, slots=True)
class Guarded:
    """A call of the generated module that rules put into functions."""

    key: str
    at: tuple[str, ...]  # pkg.mod:Class.method, or pkg.mod.Class.method where a fact's validity begins
    after: bool
    parameter: str
    options: bool
    rule: str = ""
    chain: tuple[str, ...] = ()  # attributes below the parameter from which the asked chains start
    facts: bool = False
    http: bool = False
    mark: str = ""  # what becomes of the digest of the build
    asks: tuple[Asked, ...] = ()


@dataclass(frozen=True, slots=True)
class Allowed:
    """Residue that may stay: globs of paths and names (or ``word:GLOB``), at most so many names (0: any number)."""

    rule: str
    paths: tuple[str, ...]
    names: tuple[str, ...]
    reason: str
    most: int


@dataclass(slots=True)
class Stated:
    """What the rules say. Every list keeps the rule id beside the text."""

    facts: dict[str, tuple[Const, ...] | Range] = field(default_factory=dict)
    roots: list[tuple[str, str]] = field(default_factory=list)
    keeps: list[tuple[str, str]] = field(default_factory=list)
    drops: list[tuple[str, str]] = field(default_factory=list)
    discards: list[tuple[str, str]] = field(default_factory=list)
    dynamics: list[tuple[str, str, tuple[str, ...], str]] = field(default_factory=list)  # id, package, members, site
    guards: list[Guarded] = field(default_factory=list)
    without: list[tuple[str, str]] = field(default_factory=list)  # choices that a rule leaves without the code behind
    pure: set[str] = field(default_factory=set)
    allow: list[Allowed] = field(default_factory=list)
    device: set[str] = field(default_factory=set)  # facts that hold only where a device is
    unproven: list[str] = field(default_factory=list)  # facts with a validity point: never folded here
    loose: set[str] = field(default_factory=set)  # subjects of facts whose rules may speak of different releases
    asked: set[str] = field(default_factory=set)  # subjects of facts that a guard asks at run time
    rules: set[str] = field(default_factory=set)  # ids of the rules that speak
    stating: dict[str, set[str]] = field(default_factory=dict)  # subject of a fact -> the rules that state it
    late: dict[str, tuple[Const, ...] | Range] = field(default_factory=dict)  # facts with a validity point
    files: dict[str, str] = field(default_factory=dict)  # name of a rule file -> its text
    version: str = ""  # the release that the rules were read for; "" is unknown
    widened: set[str] = field(default_factory=set)  # discard rules of files that another one extends and keeps more
    rejected: dict[str, tuple[Const, ...] | Range] = field(default_factory=dict)  # facts that the run did not admit


_PARSED: dict[str, Any] = {}  # rule files by their text: read once, however many checks ask; nobody changes an answer


def _parsed(text: str) -> Any:
    if text not in _PARSED:
        _PARSED[text] = YAML(typ="safe", pure=True).load(text)
    return _PARSED[text]


def read_ahead(paths: Sequence[Path]) -> dict[str, Any]:
    """Read rule files as :func:`read_rules` does; what is in them, for :func:`take_read` in another process."""
    read_rules(paths)
    return _PARSED


def take_read(parsed: dict[str, Any]) -> None:
    """Take what :func:`read_ahead` gave: these texts are not parsed again."""
    _PARSED.update(parsed)


def _load(path: Path) -> Any:
    try:
        return _parsed(path.read_text("utf-8"))
    except (OSError, YAMLError, UnicodeDecodeError) as error:
        raise cannot(path.name, "PR401", f"the verifier cannot read these rules: {error}") from error


def _values(value: Any) -> tuple[Const, ...] | Range:
    if isinstance(value, dict):
        return Range(value.get("min"), value.get("max"))
    if isinstance(value, list):
        return tuple(value)
    return (value,)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:4])


def speaks(rule: dict[str, Any], version: str) -> bool:
    """Do ``since`` and ``until`` of a rule, or of a row, admit a release? Of an unknown one everything speaks."""
    if not version:
        return True
    since, until = rule.get("since"), rule.get("until")
    if since is not None and _version(version) < _version(str(since)):
        return False
    return until is None or _version(version) < _version(str(until))


def is_named(path: str, name: str) -> bool:
    """May ``name`` be this rule file as an output names it? ``../deepseek.yaml`` is what a profile extends."""
    plain = posixpath.normpath(name)
    while plain.startswith("../"):
        plain = plain[3:]
    return f"/{path}".endswith(f"/{plain}")


_KEEPING = ("keep", "root", "dynamic")


def read_rules(paths: Sequence[Path], version: str = "") -> Stated:
    """Merge rule files and what they extend. Raises PruneError when a file cannot be read."""
    stated = Stated(version=version)
    seen: set[Path] = set()
    lifted: set[str] = set()
    found: list[dict[str, Any]] = []
    queue = [(Path(path), False) for path in paths]
    while queue:
        path, wider = queue.pop(0)
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        document = _load(path) or {}
        stated.files[path.resolve().as_posix()] = path.read_text("utf-8")
        rows = document.get("rules") or ()
        if wider:
            stated.widened.update(str(rule.get("id", "")) for rule in rows if "discard" in rule)
        # Who extends a file and keeps more has more names than it counted on.
        wider = wider or bool(document.get("lift")) or any(key in rule for rule in rows for key in _KEEPING)
        queue.extend((path.parent / other, wider) for other in document.get("extends") or ())
        lifted.update(map(str, document.get("lift") or ()))
        found += document.get("rules") or ()
    for rule in found:
        if speaks(rule, version) and str(rule.get("id", "")) not in lifted:
            _take(stated, rule, version)
    return stated


def _assume(stated: Stated, subject: str, values: tuple[Const, ...] | Range, firm: bool) -> None:
    """Two rules on one subject: both hold. With the version unknown either of two with windows may be the one that speaks."""
    old = stated.facts.get(subject)
    if not firm:
        stated.loose.add(subject)
    if isinstance(old, tuple) and isinstance(values, tuple):
        have = {(type(value), value) for value in values}
        both = tuple(value for value in old if (type(value), value) in have)
        apart = subject in stated.loose or not both
        values = tuple({(type(value), value): value for value in (*old, *values)}.values()) if apart else both
    elif old is not None and subject not in stated.loose:
        values = _narrowed(old, values)
    stated.facts[subject] = values


def _narrowed(old: tuple[Const, ...] | Range, values: tuple[Const, ...] | Range) -> tuple[Const, ...] | Range:
    """What is in a range and in another range, or among values."""
    if isinstance(old, Range) and isinstance(values, Range):
        low = max((r.low for r in (old, values) if r.low is not None), default=None)
        return Range(low, min((r.high for r in (old, values) if r.high is not None), default=None))
    listed, ends = (old, values) if isinstance(values, Range) else (values, old)
    if isinstance(listed, Range) or not isinstance(ends, Range):
        return values
    low, high = ends.low, ends.high
    kept = [v for v in listed if type(v) is int and (low is None or v >= low) and (high is None or v <= high)]
    return tuple(kept) or values


def _take(stated: Stated, rule: dict[str, Any], version: str) -> None:
    name = str(rule.get("id", ""))
    stated.rules.add(name)
    for subject, value in (rule.get("assume") or {}).items():
        stated.stating.setdefault(str(subject), set()).add(name)
        if isinstance(value, dict) and ("valid_from" in value or "values" in value):
            if "valid_from" in value:
                stated.unproven.append(str(subject))
                stated.late[str(subject)] = _values(value.get("values", value))
                _validity(stated, str(subject), str(value["valid_from"]))
                continue
            value = value["values"]
        _assume(stated, str(subject), _values(value), bool(version) or not ({"since", "until"} & rule.keys()))
        if rule.get("device"):
            stated.device.add(str(subject))
    for verb, rows in (
        ("root", stated.roots),
        ("keep", stated.keeps),
        ("drop", stated.drops),
        ("discard", stated.discards),
        ("without", stated.without),
    ):
        rows.extend((name, str(text)) for text in _many(rule.get(verb)))
    for row in _many(rule.get("dynamic")):
        stated.dynamics.append(
            (name, str(row["package"]), tuple(map(str, row.get("members") or ())), str(row.get("site") or ""))
        )
    for number, row in enumerate(_many(rule.get("guard")), 1):
        of = str(row.get("of") or row.get("options") or "")
        at = tuple(map(str, _many(row.get("at"))))
        after = row.get("where") == "after"
        asks = tuple(_ask(str(chain), domain) for chain, domain in (row.get("ask") or {}).items())
        parameter, *chain = of.split(".")
        facts, http, mark = bool(row.get("facts")), bool(row.get("http")), str(row.get("digest") or "")
        guard = Guarded(
            f"{name}/{number}", at, after, parameter, "options" in row, name, tuple(chain), facts, http, mark, asks
        )
        stated.guards.append(guard)
        stated.asked.update(str(ask.names[0]) for ask in asks if ask.kind == "fact")
    stated.pure.update(str(text).removeprefix("builtins.") for text in _many(rule.get("pure")))
    for row in _many(rule.get("allow")):
        if speaks(row, version):
            paths, names = tuple(map(str, _many(row["path"]))), tuple(map(str, _many(row["name"])))
            stated.allow.append(Allowed(name, paths, names, str(row["reason"]), int(row.get("most") or 0)))


def _ask(chain: str, domain: dict[str, Any]) -> Asked:
    kind = next(key for key in domain if key not in ("attribute", "when"))
    names = tuple(_many(domain[kind])) or (None,)
    return Asked(chain, kind, names, str(domain.get("attribute") or ""), str(domain.get("when") or ""))


def _validity(stated: Stated, subject: str, point: str) -> None:
    """What holds from a method on is checked when that method returns."""
    method = point.removesuffix("()")
    key = f"valid_from {point}/1"
    owner = method.rpartition(".")[0]
    below = subject.removeprefix(f"{owner}.")
    if below == subject or not below.replace(".", "").isidentifier():
        return
    ask = Asked(below, "fact", (subject,))
    at = next((index for index, guard in enumerate(stated.guards) if guard.key == key), None)
    if at is None:
        stated.guards.append(Guarded(key, (method,), True, "self", False, asks=(ask,)))
    else:
        stated.guards[at] = replace(stated.guards[at], asks=(*stated.guards[at].asks, ask))


def _many(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def read_case(path: Path) -> Stated:
    """A case's ``facts.yaml``: facts, values, roots, keep, drop. Raises PruneError."""
    document = _load(path) or {}
    stated = Stated()
    home = document.get("defined_in")

    def subject(text: str) -> str:
        return f"{home}.{text}" if home and "." not in text.partition("(")[0] else text

    late = set(document.get("valid_from") or {})
    for key in ("facts", "values"):
        for text, value in (document.get(key) or {}).items():
            if text in late:
                stated.unproven.append(text)
            else:
                stated.facts[subject(str(text))] = _values(value)
    stated.roots = [("case", str(text)) for text in document.get("roots") or ()]
    stated.keeps = [("case", str(text)) for text in document.get("keep") or ()]
    stated.drops = [("case", str(text)) for text in document.get("drop") or ()]
    return stated


def merge(parts: Iterable[Stated]) -> Stated:
    """One :class:`Stated` out of several."""
    whole = Stated()
    for part in parts:
        whole.facts.update(part.facts)
        whole.pure |= part.pure
        whole.device |= part.device
        whole.asked |= part.asked
        whole.rules |= part.rules
        whole.widened |= part.widened
        whole.stating.update(part.stating)
        whole.late.update(part.late)
        whole.files.update(part.files)
        whole.version = whole.version or part.version
        for name in ("roots", "keeps", "drops", "discards", "dynamics", "allow", "unproven", "guards", "without"):
            getattr(whole, name).extend(getattr(part, name))
    return whole


def without(stated: Stated, subjects: Iterable[str]) -> Stated:
    """``stated`` where these facts were rejected: nothing may rest on them, and nothing asks them."""
    gone = {subject: stated.facts[subject] for subject in subjects}
    return replace(stated, facts={s: v for s, v in stated.facts.items() if s not in gone}, rejected=gone)


def below(stated: Stated, python_root: str) -> Stated:
    """``stated`` for a tree whose packages lie below ``python_root``: globs of files may be written from there too."""
    if python_root:
        for rows in (stated.roots, stated.keeps, stated.drops, stated.discards):
            for rule, text in list(rows):
                kind, colon, glob = text.partition(":")
                if colon and kind in ("path", "native"):
                    rows.append((rule, f"{kind}:{python_root}/{glob.strip()}"))
        stated.allow[:] = [
            replace(row, paths=(*row.paths, *(f"{python_root}/{glob}" for glob in row.paths))) for row in stated.allow
        ]
    return stated


def is_pure(stated: Stated, name: str) -> bool:
    """Does a ``pure`` rule name this function, decorator or base class? A star is one component."""
    if name in stated.pure:
        return True
    return any("*" in text and covers(text, name) for text in stated.pure)


def covers(text: str, module: str) -> bool:
    """Does the module target ``text`` name ``module``? ``pkg.*`` is one level, ``pkg.**`` any."""
    if text.endswith(".**"):
        return module.startswith(text[:-2]) if "*" not in text[:-3] else fnmatchcase(module, text[:-1])
    if "*" not in text and "?" not in text and "[" not in text:
        return module == text
    # A single star does not cross a dot: pkg.* is the direct children of pkg.
    parts, wanted = module.split("."), text.split(".")
    return len(parts) == len(wanted) and all(fnmatchcase(part, glob) for part, glob in zip(parts, wanted, strict=True))


def version_of(root: Path) -> str:
    """The release that a tree says it is (dist-info METADATA or a version file), or ``""``."""
    for meta in sorted(root.glob("*.dist-info/METADATA")):
        found = re.search(r"^Version:\s*(\S+)", meta.read_text("utf-8", "replace"), re.M)
        if found:
            return found.group(1)
    for path in sorted([*root.glob("*/_version.py"), *root.glob("*/*/_version.py"), *root.glob("*/version.py")]):
        stated = r"^__version__\b[^=\n]*=(?:\s*version\s*=)?\s*[\"']([^\"']+)"
        found = re.search(stated, path.read_text("utf-8", "replace"), re.M)
        if found:
            return found.group(1)
    return ""
