"""The generated guard module: what was removed and is asked for says so in one sentence.

The text of the module is a template; rules, facts and what each guard asks are tables in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pruner.model import Policy
from pruner.pipeline.asked import Answers
from pruner.pipeline.identity import RUNTIME
from pruner.report.paths import RuleFiles

_TEMPLATE = '''"""Written by prune. This tree is a specialisation; what it left out fails here, in one sentence.

PRUNED.json has the facts, the rules, the guards and the kept ranges of every file.
"""

import sys

RULES = @RULES@

# (subject, module or package, steps, values or (lowest, highest), rule)
FACTS = @FACTS@

# What a value asks that is gone: domain -> {value: (rule, what to add to the rules, what to lift)}.
GONE = @GONE@

# guard -> (asks all facts?, answers by HTTP?, chain below the parameter, questions: (chain, label, allowed or None, domain, rule, when));
# beside allowed values the domain is what to lift; a tuple of them: None is asked for as well; {"min": .., "max": ..}: a range.
# Not asked while the chain ``when`` is there and says no.
GUARDS = @GUARDS@
@RUNTIME@

class RemovedByPrune(ImportError):
    """Something that this build does not have was asked for."""


class RefusedByPrune(ValueError):
    """A value was asked for that this build was made without, or a fact that it rests on is not so."""


def _place(rule):
    return RULES.get(rule, rule)


def sentence(name, rule):
    """Say what is missing, which rule took it and what would keep it."""
    return (
        f"this build was made without {name} ({_place(rule)}); to have it, put "
        f"`lift: [{rule}]` into your rule file, or a rule that keeps it, and build again"
    )


def removed(name, rule):
    """An import of a removed module was reached."""
    raise _quiet(RemovedByPrune(sentence(name, rule), name=name))


def _missing(attribute):
    return property(lambda cls: cls.__getattr__(attribute))


class _StandIn(type):
    """A removed name that kept code still mentions: any use of it fails, no instance of it exists."""

    args, add_note, with_traceback = _missing("args"), _missing("add_note"), _missing("with_traceback")

    def __call__(cls, *args, **kwargs):
        raise _quiet(RemovedByPrune(sentence(cls.__name__, cls._rule_of_prune), name=cls.__name__))

    def __getattr__(cls, attribute):
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)
        text = sentence(f"{cls.__name__}.{attribute}", cls._rule_of_prune)
        raise _quiet(RemovedByPrune(text, name=cls.__name__))

    def __getitem__(cls, key):
        return cls.__getattr__(f"[{key!r}]")

    def __bool__(cls):
        return True

    def __iter__(cls):
        return cls.__getattr__("__iter__()")

    def __contains__(cls, key):
        return cls.__getattr__(f"__contains__({key!r})")

    def __instancecheck__(cls, instance):
        return False

    def __subclasscheck__(cls, subclass):
        return subclass is cls


def _used(name):
    def use(cls, *args):
        raise _quiet(RemovedByPrune(sentence(cls.__name__, cls._rule_of_prune), name=cls.__name__))

    use.__name__ = name
    return use


for _name in (
    "add radd sub rsub mul rmul matmul rmatmul truediv rtruediv floordiv rfloordiv mod rmod divmod rdivmod pow rpow "
    "lshift rlshift rshift rrshift and rand xor rxor neg pos abs invert lt le gt ge int float complex index round trunc "
    "floor ceil len reversed setitem delitem format enter exit aenter aexit"
).split():  # not of types: `Removed | None`, `Removed == x` and whether it is true are what they are of a class
    setattr(_StandIn, f"__{_name}__", _used(f"__{_name}__"))


def stand_in(name, rule):
    """A class that nothing is an instance of and that fails when used; `except Removed` catches nothing."""
    return _StandIn(name, (BaseException,), {"_rule_of_prune": rule})


def check(guard, subject=None):
    """Refuse what was removed and is asked for in ``subject``, and a fact that does not hold here."""
    facts, http, start, questions = GUARDS[guard]
    if facts:
        _check_facts()
    subject = _read(subject, start)
    if guard in MARKS:
        globals()[f"_mark_{MARKS[guard]}"](subject)
    for chain, label, allowed, domain, rule, when in questions:
        if when and not _read(subject, when) and _has(_read(subject, when[:-1]), when[-1]):
            continue
        for value in _each(_read(subject, chain), _strict(subject, chain, allowed)):
            text = _refusal(label, value, allowed, domain, rule)
            if text and http:
                from fastapi import HTTPException

                raise HTTPException(status_code=400, detail=text)
            if text:
                raise _quiet(RefusedByPrune(text))


def options(guard, parser):
    """Let a command-line parser say of a removed choice that it was removed, where it says "invalid choice"."""
    import argparse

    asked = {label: (allowed, domain, rule) for _, label, allowed, domain, rule, _ in GUARDS[guard][3]}
    plain = parser._check_value

    def check_value(action, value):
        try:
            plain(action, value)
        except argparse.ArgumentError:
            known = asked.get(action.dest)
            text = _refusal(action.dest, value, *known) if known else ""
            if text:
                raise argparse.ArgumentError(action, text) from None
            raise

    parser._check_value = check_value


def _refusal(label, value, allowed, domain, rule):
    """One sentence, or "" when the value may be asked for."""
    if allowed is not None:
        if _among(value, allowed):
            return ""
        what = f"{label} is {value!r}, and this build assumes {_say(allowed)}"
        return _wider(what, rule, label, value, _gone(label, value), (domain or rule).split(", "))
    found = _gone_of(domain, value)
    if found is None:
        return ""
    what = f"{label} {value!r} was removed from this build"
    if found is GONE[domain].get("*"):
        what = f"this build was made without what processes {label}"
    return _wider(what, found[0], label, value, found, ())


def _wider(what, rule, label, value, found, lifted):
    """The sentence, with all that brings the value back: what widens one guard alone is refused by the next."""
    advice = [f"add {found[1]}"] if found and found[1] else []
    lifted = sorted({*lifted, *(found[2] if found else ()), *_others(label, value)})
    if lifted:
        advice.append(f"put `lift: [{', '.join(lifted)}]` into your rule file")
    return f"{what} ({_place(rule)}); to have it, {', '.join(advice)} and build again"


def _gone(label, value):
    """What is said of the value where tables or packages are asked for it under the same name."""
    if value is None:
        return None
    domains = [row[3] for guard in GUARDS.values() for row in guard[3] if row[1] == label and row[2] is None]
    return next((found for found in (_gone_of(domain, value) for domain in domains) if found), None)


def _gone_of(domain, value):
    gone = GONE.get(domain, {})
    return next((gone[key] for key in _keys(value) if key in gone), gone.get("*"))


def _others(label, value):
    """Rules whose facts refuse the same value elsewhere."""
    rows = [row for guard in GUARDS.values() for row in guard[3] if row[1] == label and row[2] is not None]
    return [name for row in rows if not _among(value, row[2]) for name in (row[3] or row[4]).split(", ")]


def _among(value, allowed):
    """Is it one of the values, of the same type, or in the range?"""
    if isinstance(allowed, dict):
        low, high = allowed["min"], allowed["max"]
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole and (low is None or value >= low) and (high is None or value <= high)
    return any(_alike(value, one) and value == one for one in allowed)


def _alike(value, one):
    """Of one type, as code that compares sees it: a member of an enum that is a text is that text."""
    if isinstance(value, bool) or isinstance(one, bool):
        return type(value) is type(one)
    return isinstance(value, (str, int, float)) and isinstance(value, type(one)) or type(value) is type(one)


def _keys(value):
    """What a value may be called in a table: a text, a number, a member of an enum by its value or its name."""
    if isinstance(value, str):
        return [str.__str__(value)]
    if isinstance(value, int) and not hasattr(value, "name"):
        return [str(value)]
    name, inner = getattr(value, "name", None), getattr(value, "value", None)
    if type(type(value)).__name__ not in ("EnumMeta", "EnumType") or not isinstance(name, str):
        return []
    own = inner if isinstance(inner, str) else str(inner) if isinstance(inner, int) else name
    return [own, name, f"{type(value).__name__}.{name}"]


def _read(value, chain):
    for name in chain:
        if value is None:
            return None
        value = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    return value


def _has(value, name):
    return name in value if isinstance(value, dict) else hasattr(value, name)


def _strict(subject, chain, allowed):
    """Is it an attribute that the object has, and of which a fact speaks that None contradicts?"""
    return isinstance(allowed, tuple) and hasattr(subject, chain[0])


def _each(value, strict=False):
    """The values asked for; nothing for None, "" and what is empty, unless it is ``strict``."""
    if strict and not value:
        yield value
    elif value is None or (isinstance(value, (str, bytes, list, tuple, set, frozenset, dict)) and not value):
        return
    if isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from _each(one)
    else:
        yield value


def _check_facts():
    for subject, root, steps, values, rule in FACTS:
        known, value = _ask(root, steps)
        if not known:
            continue
        if isinstance(values, tuple):
            values = {"min": values[0], "max": values[1]}
        if not _among(value, values):
            raise _quiet(
                RefusedByPrune(
                    f"this build assumes {subject} to be {_say(values)} ({_place(rule)}); here it is {value!r}; "
                    f"to have it, put `lift: [{rule}]` into your rule file and build again"
                )
            )


def _ask(root, steps):
    """(known, value) of a fact's subject; only what is loaded already is asked, and no class stands for an object."""
    value = sys.modules.get(root)
    if value is None:
        return False, None
    done = root
    try:
        for kind, *detail in steps:
            if kind == ".":
                if isinstance(value, type):
                    return False, None
                done = f"{done}.{detail[0]}"
                value = sys.modules[done] if done in sys.modules else getattr(value, detail[0])
            elif kind == "()":
                value = value(*detail[0], **detail[1])
            elif kind == "has":
                value = hasattr(value, detail[0])
            else:
                value = value[detail[0]]
    except Exception:  # a subject that cannot be asked here is nobody's assumption
        return False, None
    return True, value


def _say(values):
    if isinstance(values, dict):
        low, high = values["min"], values["max"]
        return f"at most {high}" if low is None else f"at least {low}" if high is None else f"from {low} to {high}"
    return " or ".join(repr(one) for one in values)


def _quiet(error):
    """In a command of this package the sentence is the message, without a traceback."""
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    script = sys.argv[0].replace("\\\\", "/").rpartition("/")[2] if sys.argv else ""
    if (main is not None and main.name.partition(".")[0] == COMMAND) or (COMMAND and script == COMMAND):
        _install()
    return error


def _install():
    previous = sys.excepthook
    if getattr(previous, "of_prune", False):
        return

    def hook(kind, error, trace):
        if isinstance(error, (RemovedByPrune, RefusedByPrune)):
            print(f"{COMMAND}: error: {error}", file=sys.stderr)
        else:
            previous(kind, error, trace)

    hook.of_prune = True
    sys.excepthook = hook


COMMAND = @COMMAND@
'''


def render(policy: Policy, answers: Answers | None = None) -> bytes:
    """Source of the guard module. Rules are written with their place, in order of id."""
    files = RuleFiles(policy.files)
    places = {r.id: f"rule {r.id}, {files.name(r.location.file)}:{r.location.line}" for r in policy.rules}
    asked = answers or Answers()
    used = {r.id for r in policy.rules if r.verb == "drop"} | asked.rules
    tables: dict[str, object] = {
        "RULES": {key: places[key] for key in sorted(used) if key in places},
        "FACTS": asked.facts,
        "GONE": asked.gone,
        "GUARDS": asked.guards,
        "MARKS": asked.marks,
        "COMMAND": asked.command,
    }
    text = _TEMPLATE.replace("@RUNTIME@\n", RUNTIME)
    for name, value in tables.items():
        text = text.replace(f"@{name}@", _literal(value))
    return text.encode()


def _literal(value: object, depth: int = 0) -> str:
    """A table as source text: a row a line, rows of at most three levels."""
    blank, inner = " " * 4 * depth, " " * 4 * (depth + 1)
    nested = depth < 2 and isinstance(value, (dict, list)) and value
    if nested and isinstance(value, dict):
        rows = "".join(f"{inner}{key!r}: {_literal(value[key], depth + 1)},\n" for key in sorted(value))
        return f"{{\n{rows}{blank}}}"
    if nested and isinstance(value, list):
        return "[\n" + "".join(f"{inner}{row!r},\n" for row in value) + f"{blank}]"
    if depth == 1 and isinstance(value, tuple) and value and isinstance(value[-1], list):
        head = ", ".join(repr(part) for part in value[:-1])
        return f"({head}, {_literal(value[-1], depth)})"
    return repr(value)


def place(modules: Mapping[str, object]) -> tuple[str, str, str]:
    """(package, module name, path below the import root) for the guard of this tree."""
    tops = {m.split(".")[0] for m in modules if "." in m}
    if "sglang" in tops:
        return "sglang", "_prune_guard", "sglang/_prune_guard.py"
    return "", "_prune_guard", "_prune_guard.py"
