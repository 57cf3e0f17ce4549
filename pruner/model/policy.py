"""Rules and what they state. Built by ``pruner.policy``; read by everything above it."""

from __future__ import annotations

from dataclasses import dataclass, field

Const = str | int | float | bool | None


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a rule file: the file's own name, or its path from the file that extends it."""

    file: str
    line: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Range:
    """Integers from ``low`` to ``high``, both included; None is unbounded."""

    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Rule:
    """One entry of a rule file. ``verb`` is assume, root, keep, drop, discard, dynamic or guard."""

    id: str
    verb: str
    because: str
    location: Location
    optional: bool = False
    since: str | None = None
    until: str | None = None
    device: bool = False  # holds where a device is; code that runs at import does not rest on it


@dataclass(frozen=True, slots=True)
class Fact:
    """``subject`` always has one of ``values`` (or lies in the range).

    ``subject`` is a canonical chain: a dotted symbol of the tree or of an outside package
    followed by attributes and calls with constant arguments, e.g.
    ``sglang.srt.utils.common.is_hip()``, ``sglang.srt.platforms.current_platform.is_cuda()``,
    ``torch.version.hip``, ``sglang.srt.environ.envs.SGLANG_USE_AITER.get()``,
    ``sglang.srt.utils.common.get_bool_env_var('SGLANG_USE_AITER')``, ``hasattr(torch, 'npu')``,
    ``plat.Args.device``. A fact is about the binding, not the spelling: a re-export of the
    function is the same subject, a local of the same name is not.
    """

    rule: str  # Rule.id
    subject: str
    values: tuple[Const, ...] | Range
    location: Location
    valid_from: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """What a root, keep, drop, discard or ``without`` names.

    ``kind``: ``module`` (``pkg.mod``; with ``.*`` or ``.**`` for children or all below, ``fnmatch``
    patterns allowed), ``symbol`` (``pkg.mod:name`` or ``pkg.mod:Class.method``), ``entry``
    (``pkg.mod.TABLE[key]``), ``path`` (a glob over file paths), ``name`` (an identifier,
    import path or string literal family; discard only), ``word`` (a part of one; discard only), ``project`` (the
    entry points of a ``pyproject.toml`` or ``entry_points.txt``), ``dotted`` (a case's ``pkg.mod``, ``pkg.mod.name``
    or ``pkg.mod.Class.member``: only the tree can tell). ``text`` of ``path``, ``name`` and ``word`` is
    without its prefix.
    """

    rule: str
    kind: str
    text: str
    location: Location


@dataclass(frozen=True, slots=True)
class Dynamic:
    """A declared dynamic-loading site.

    ``package`` is walked (``pkgutil``) or loaded by a built name, and yields ``members``
    (module names relative to the package, fnmatch patterns allowed). ``site`` limits the
    declaration to one module; empty means any site.
    """

    rule: str
    package: str
    members: tuple[str, ...]
    location: Location
    site: str = ""


@dataclass(frozen=True, slots=True)
class Ask:
    """One question of a guard: may ``chain``, read from the guarded function's parameter, hold this value?

    ``kind``: ``fact`` (``names`` is the fact's subject: only its values), ``values`` (``names`` are
    the only values), ``tables`` (no entry that rules drop from the tables ``names``), ``classes``
    (nothing that the ``attribute`` of a removed module of the package ``names`` offers),
    ``members`` (nothing at all while the walked package ``names`` yields no module).
    Nothing asked (None, empty) is never refused, nor is anything while ``when``, a chain from the same place, is
    there and says no: `lora_backend` has a value by default, which nobody asks for without `enable_lora`.
    """

    chain: str
    kind: str
    names: tuple[Const, ...]
    attribute: str = ""
    when: str = ""


@dataclass(frozen=True, slots=True)
class Guard:
    """A call of the generated module that a rule puts into functions.

    ``at`` are symbols ``pkg.mod:Class.method``, of which a release has some; ``where`` is ``entry``
    or ``after`` (before each ``return`` and at the end). ``of`` is the parameter, with attributes,
    that the asked chains start from; with ``options`` it is a command-line parser and the chains
    are destinations of its options. ``facts``: every fact that can be asked is asked as well. The chain
    ``.`` is the parameter itself. ``http``: the refusal is the HTTP answer 400. ``digest``: what becomes of
    the digest of the build there instead (one of pruner.policy.guard.MARKS).
    """

    rule: str
    at: tuple[str, ...]
    where: str
    of: str
    options: bool
    facts: bool
    asks: tuple[Ask, ...]
    location: Location
    number: int = 1  # among the guards of the rule
    http: bool = False
    digest: str = ""

    @property
    def key(self) -> str:
        """The name by which the call asks."""
        return f"{self.rule}/{self.number}"


@dataclass(frozen=True, slots=True, order=True)
class Allowed:
    """Residue that ``discard`` tolerates: ``names`` in files of ``paths``, both globs; a name may be ``word:GLOB`` or ``rule:ID``.

    ``most``: so many different names at most, 0 for any number. ``since`` and ``until`` are those of the entry.
    """

    rule: str
    paths: tuple[str, ...]
    names: tuple[str, ...]
    reason: str
    most: int = 0
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class Lift:
    """A rule that a file lifts, with the subjects of its facts."""

    rule: Rule
    location: Location  # of its id in the list
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Policy:
    """All rules of a run, merged and checked."""

    rules: tuple[Rule, ...] = ()
    facts: tuple[Fact, ...] = ()
    roots: tuple[Target, ...] = ()
    keeps: tuple[Target, ...] = ()
    drops: tuple[Target, ...] = ()
    discards: tuple[Target, ...] = ()
    dynamics: tuple[Dynamic, ...] = ()
    guards: tuple[Guard, ...] = ()
    without: tuple[Target, ...] = ()  # choices and modules that a rule leaves without the code behind them
    pure: tuple[str, ...] = ()  # outside functions whose call has no effect, canonical names
    allow: tuple[Allowed, ...] = ()
    files: tuple[str, ...] = ()
    digest: str = ""
    by_id: dict[str, Rule] = field(default_factory=dict, compare=False)
    stated: tuple[Fact, ...] = ()  # facts as written; ``facts`` are these, merged by subject
    pure_of: tuple[tuple[str, str], ...] = ()  # (rule, function)
    lifted: tuple[Lift, ...] = ()
    shown: dict[str, str] = field(
        default_factory=dict, compare=False, repr=False
    )  # file name -> path for a person, this run
    tables: tuple[str, ...] = field(
        default=(), compare=False, repr=False
    )  # paths of what 'capabilities' name, this run
    read: str = field(default="", compare=False, repr=False)  # digest of the bytes of all that was read for it
