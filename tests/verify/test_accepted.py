"""What the engine rightly makes of a program, no check refutes: whole kinds of statements, many shapes in one program."""

from __future__ import annotations

import itertools
from pathlib import Path
from textwrap import indent

import pytest

from pruner.verify import run
from tests.engine.program import FACTS, Pruned, prune
from tests.engine.program import run as execute

HEAD = "from plat import is_cuda, is_hip\n\n"
pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")


def walrus() -> str:
    """Two ``:=`` in one test, or one on a side of a conditional expression, in every place for a test."""
    sources = ("is_cuda()", "is_hip()", "x", "x + is_hip()")
    tests = [
        f"{no}(a := {one}) {word} {also}(b := {two})"
        for one, two in itertools.product(sources, sources)
        for word, no, also in (("and", "", ""), ("or", "", ""), ("and", "not ", ""), ("or", "not ", "not "))
    ]
    tests += [f"(a := 3) if {one} else (b := {two})" for one, two in itertools.product(sources, sources)]
    tests += [f"{one} {word} (b := 4)" for one in sources for word in ("and", "or")]
    places = ("if T:\n        c = 1", "T", "while T:\n        c = 1\n        break", "if T:\n        pass")
    rows = [place.replace("T", test) for test in tests for place in places]
    heads = (f"def f{number}(x, a=0, b=0, c=0):\n    {row}\n    return a, b, c\n" for number, row in enumerate(rows))
    return (
        HEAD
        + "\n\n".join(heads)
        + "\n\nN = [f(x) for n, f in sorted(globals().items()) if n[0] == 'f' for x in (0, 1)]\n"
    )


ENUMS = """import enum


class Plain(enum.Enum):
    A = 1
    B = "x" if is_hip() else "y"
    C = not is_hip()
    if is_hip():
        D = 4
    E = enum.auto()


class Mask(enum.Flag):
    R = enum.auto()
    if not is_hip():
        X = R
        Y = enum.auto()
    else:
        Z = enum.auto()
    W = enum.auto() if is_hip() else R | Y


class Number(enum.IntEnum):
    A = enum.auto()
    B = 7 if is_cuda() else 8
    C = enum.auto()


N = [[(m.name, m.value) for m in kind.__members__.values()] for kind in (Plain, Mask, Number)]
"""

DELETED = """def f(b=3):
    a = 1
    if is_hip():
        a = 2
    else:
        del a, b
    try:
        return a or b
    except UnboundLocalError as error:
        return str(error)


def g():
    import os
    if is_cuda():
        del os
    else:
        os = 1
    try:
        return os
    except UnboundLocalError as error:
        return str(error)


N = [f(), g()]
"""

LOCAL = """def f():
    is_hip = lambda: True
    return is_hip()


def g():
    def is_cuda():
        return False

    class is_hip:
        pass

    return is_cuda(), is_hip.__name__


class S:
    is_hip = staticmethod(lambda: True)

    def is_cuda(self):
        return 0


N = [f(), g(), S().is_cuda(), 1 if is_hip() else 2, 3 if is_cuda() else 4]
"""

READS = """import sys


def f():
    import kit

    kit.more = 5
    return vars(kit)["one"], vars(kit)["is_" + sys.platform[:0] + "two"](), vars(kit)["more"]


N = [f()]
"""
KIT = "one = 1\n\n\ndef is_two():\n    return 2\n\n\ndef three():\n    return 3\n"

LOADED = """from typing import TYPE_CHECKING, Union, cast

from first import one

if TYPE_CHECKING:
    from second import Five, Four, Three, Two

L = Union["Four", None]

if is_cuda():
    def f(x: "Two") -> int:
        return cast("list[Three]", one())

N = [f(1)]
"""
FIRST = (
    "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from second import Two\n\n\ndef one():\n    return 1\n"
)
SECOND = "from first import one\nfrom app import N\n\n\nclass Two:\n    pass\n\n\nclass Three(Two):\n    pass\n\n\nclass Four(Two):\n    pass\n"


PROBE = "try:\n    from lib import g\nexcept ImportError:\n    g = None\n\nN = g\n"
RAISING = "if is_cuda():\n    raise ImportError('not here')\n\n\ndef g():\n    return 3\n"


def bound_again(place: str) -> str:
    """A name that is bound, read where no fact lets anybody come, and bound again: in a module, a function or a class.

    The first binding is dead then. An import in a function goes; anything else stays where it was.
    """
    firsts = (
        "from sub import A as NAME",
        "if not is_hip():\n    import json as NAME",
        "def NAME():\n    return 1",
        "if is_cuda():\n    class NAME:\n        a = 1",
    )
    seconds = (
        "for NAME in (1, 2):\n    pass",
        "with nullcontext(3) as NAME:\n    pass",
        "try:\n    len(3)\nexcept TypeError as NAME:\n    print('caught')",
        "match (1, 2):\n    case (a, NAME):\n        print('two')",
        "match (1, 2):\n    case (a, *NAME):\n        print('star')",
        "match {1: 2}:\n    case {**NAME}:\n        print('rest')",
        "match (1, 2):\n    case (1, b) as NAME:\n        print('as')",
        "print((NAME := 3))",
        "NAME = len('abc')",
        "NAME = (NAME and 1) if is_hip() else 4",
        "a, *NAME = 1, 2",
        "NAME: int = 5",
        "def NAME():\n    return 6",
        "class NAME:\n    b = 7",
        "from sub import B as NAME",
    )
    read = "if is_hip():\n    print(NAME)"
    rows = []
    for number, (first, second) in enumerate(itertools.product(firsts, seconds)):
        caught = "except" in second  # Python unbinds it again
        for after in ("", "print(type(NAME).__name__)"):
            body = "\n".join([first, read, second, "" if caught else after])
            name = f"n{number}{'r' * bool(after)}"
            body = body.replace("NAME", name)
            head = {"module": "", "function": f"def f_{name}():\n", "class": f"class C_{name}:\n"}[place]
            tail = f"\nf_{name}()" if place == "function" else ""
            rows.append(head + (indent(body, "    ") if head else body) + tail)
    return HEAD + "from contextlib import nullcontext\n\n" + "\n\n".join(rows) + "\n\nN = 1\n"


def declared() -> str:
    """``global`` and ``nonlocal`` in what goes, of functions and classes, for a name that what stays binds in every way."""
    binds = (
        "NAME = 2",
        "def NAME():\n    return 3",
        "import json as NAME",
        "class NAME:\n    a = 4",
        "for NAME in (5, 6):\n    pass",
        "with nullcontext(7) as NAME:\n    pass",
        "match (8, 9):\n    case (a, NAME):\n        pass",
        "match (8, 9):\n    case (a, *NAME):\n        pass",
        "match {8: 9}:\n    case {**NAME}:\n        pass",
        "(NAME := 10)",
        "NAME: int",
        "del NAME",
        "def inner():\n    return NAME\ninner()",
        "try:\n    len(3)\nexcept TypeError as NAME:\n    pass",
    )
    places = (
        "if is_hip():\n    WORD NAME",
        "if is_hip():\n    pass; WORD NAME; print(1)",
        "if r:\n    pass\nelif is_hip():\n    # why\n    WORD NAME\n    NAME = 1",
        "if r:\n    pass\nelif is_cuda():\n    pass\nelse:\n    WORD NAME",
        "if is_cuda():\n    pass\nelse:\n    WORD \\\n        NAME",
        "while is_hip():\n    WORD NAME",
        "match arch():\n    case 'hip':\n        WORD NAME\n    case _:\n        pass",
        "for i in (1, 2):\n    if r:\n        pass\n    elif is_hip():\n        with r:\n            WORD NAME",
    )
    rows = []
    for number, (place, bind) in enumerate(itertools.product(places, binds)):
        if "NAME: int" in bind:
            continue  # SyntaxError beside `global`
        body = indent(f"{place}\n{bind}", "    ")
        rows.append(
            f"g{number} = 0\n\n\ndef f{number}(r=0):\n{body}\n\n\nf{number}()\nprint('g{number}' in globals() and type(g{number}).__name__)\n"
        )
        rows[-1] = rows[-1].replace("NAME", f"g{number}").replace("WORD", "global")
        body = indent(
            f"n = 0\ndef g():\n{indent(f'{place}{chr(10)}{bind}', '    ')}\ng()\ntry:\n    return type(n).__name__\nexcept NameError:\n    return 'gone'",
            "    ",
        )
        rows.append(
            f"def h{number}(r=0):\n{body}\n\n\nprint(h{number}())\n".replace("NAME", "n").replace("WORD", "nonlocal")
        )
        name = f"k{number}"
        told = f"\n\nprint({name!r} in globals() and type({name}).__name__, hasattr(C{number}, {name!r}))\n"
        body = indent(f"{place}\n{bind}", "    ").replace("NAME", name).replace("WORD", "global")
        rows.append(f"r = 0\n{name} = 0\n\n\nclass C{number}:\n{body}\n{told}")
    return (
        "from contextlib import nullcontext\nfrom plat import arch, is_cuda, is_hip\n\n"
        + "\n\n".join(rows)
        + "\n\nN = 1\n"
    )


LAYOUTS = (
    "{0}, {1}, {2}",
    "{0}, \\\n    {1}, \\\n    {2}",
    "{0}, {1}, \\\n  {2}",
    "{0}, \\\n {1}, {2}",
    "\\\n    {0}, \\\n    {1}, {2}",
    "\\\n    {0} \\\n    , {1} \\\n    , {2}",
    "(\n    {0},\n    {1},\n    {2},\n)",
    "({0},  # first\n    {1},  # second\n    {2})  # third",
    "(\n    {0}, {1},  # two\n    # alone\n    {2}\n)",
    "(\n    {0}\n    , {1}\n    , {2}\n)",
)


def listed() -> tuple[str, str, str]:
    """Imports of three names in every layout, of which each choice of names goes: the program, and the two modules."""
    rows, functions, texts = [], [], []
    number = 0
    for layout, choice in itertools.product(LAYOUTS, itertools.product((True, False), repeat=3)):
        for place, kind in itertools.product(("module", "function", "row"), ("from", "as", "import")):
            if kind == "import" and "(" in layout:
                continue
            names = [f"{letter}{number}" for letter in "abc"]
            number += 1
            functions += [f"def {name}():\n    return '{name}'\n" for name in names]
            shown = [f"{n} as {n}" if kind == "as" else f"texts.{n} as {n}" if kind == "import" else n for n in names]
            if kind == "import":
                texts += names
            line = ("import " if kind == "import" else "from funcs import ") + layout.format(*shown)
            line = f"x{number} = 1; {line}" if place == "row" else line
            used = [name for name, kept in zip(names, choice, strict=True) if kept]
            lost = [name for name in names if name not in used]
            body = (
                f"{line}\nif is_hip():\n    print({', '.join(lost)})\nprint({', '.join(f'str({n})[:9]' for n in used)})"
            )
            rows.append(f"def g{number}():\n{indent(body, '    ')}\n\n\ng{number}()" if place == "function" else body)
    return HEAD + "\n\n\n".join(rows) + "\n\nN = 1\n", "\n\n".join(functions), " ".join(texts)


def accepted(pruned: Pruned, folder: Path) -> dict[str, tuple[str, ...]]:
    """What the checks say against the output."""
    for name, files in (("in", pruned.before), ("out", pruned.files)):
        for path, data in files.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_bytes(data)
    facts = ", ".join(f"{s}: {str(v).lower() if isinstance(v, bool) else v}" for s, v in FACTS.items())
    (folder / "facts.yaml").write_text(f'facts: {{{facts}}}\ndefined_in: plat\nroots: ["app:N"]\n')
    rows = run(folder / "in", folder / "out", [], facts_yaml=folder / "facts.yaml", jobs=1)
    return {row.check: row.details for row in rows if row.result == "refuted"}


def equal_ends() -> str:
    """``if not is_hip(): return 1`` before other arms that end in the very same line, with comments in front of all of them."""
    tests = ("not is_hip()", "is_cuda()", "not is_hip() and is_cuda()", "is_hip() or is_cuda()")
    ends = ("return 1", "raise ValueError(x)", "return f(x)")
    more = (
        "    if x > 1:\n        # why two\n        if x > 2:\n            E\n        # why last\n        E\n",
        "    # why here\n    E\n",
        "    for n in range(x):\n        if n:\n            # why inner\n            E\n    # why after\n    E\n",
        "    try:\n        x += 1\n    except ValueError:\n        # why caught\n        E\n    # why end\n    E\n",
    )
    heads = ("    # why first\n    # and so\n", "    # why first\n    x += 1\n    # and so\n", "")
    rows = []
    for test, end, rest, head in itertools.product(tests, ends, more, heads):
        number = len(rows)
        text = f"def g{number}(x, f=str):\n{head}    if {test}:\n        {end}\n" + rest.replace("E\n", f"{end}\n")
        rows.append(text)
    calls = "\n\nN = []\nfor n, g in sorted(globals().copy().items()):\n    if n[0] == 'g':\n        try:\n            N.append(g(0))\n        except ValueError:\n            N.append(-1)\n"
    return HEAD + "\n\n".join(rows) + calls


SETTING = """class Field:
    def __set_name__(self, owner, name):
        self.name = name


class Mixin:
    pass


class Plain(Field):
    pass


class Unused(Mixin, Plain):
    pass


class Own:
    field = Plain()


N = Own.field.name
"""

LISTED = listed()


@pytest.mark.parametrize(
    ("files", "gone"),
    [
        pytest.param({"app.py": walrus()}, "is_hip()", id="walrus"),
        *(
            pytest.param(
                {"app.py": bound_again(place), "sub.py": "A = 1\nB = 2\n"}, "is_hip()", id=f"bound-again-{place}"
            )
            for place in ("module", "function", "class")
        ),
        pytest.param({"app.py": PROBE, "lib.py": HEAD + RAISING}, "", id="a-module-that-raises"),
        pytest.param(
            {"app.py": LISTED[0], "funcs.py": LISTED[1], **{f"texts/{name}.py": "" for name in LISTED[2].split()}},
            "is_hip()",
            id="listed",
        ),
        pytest.param({"app.py": declared()}, "is_hip()", id="declared"),
        pytest.param({"app.py": equal_ends()}, "is_hip()", id="equal-ends"),
        pytest.param({"app.py": SETTING}, "Unused", id="derived-from-what-is-told-its-name"),
        pytest.param({"app.py": HEAD + ENUMS}, "is_hip()", id="enums"),
        pytest.param({"app.py": HEAD + DELETED}, "is_hip()", id="deleted"),
        pytest.param({"app.py": HEAD + LOCAL}, "1 if", id="local"),
        pytest.param({"app.py": READS, "kit.py": KIT}, "", id="reads"),
        pytest.param(
            {"app.py": HEAD + LOADED, "first.py": FIRST, "second.py": SECOND}, "is_cuda()", id="type-checking"
        ),
    ],
)
def test_what_the_engine_makes_of_it_is_accepted(files: dict[str, str], gone: str, tmp_path: Path) -> None:
    pruned = prune(files, roots=["app:N"])
    assert gone == "" or gone not in pruned["app.py"]
    driver = "import app; RESULT = app.N"
    assert execute(pruned.files, driver) == execute(pruned.before, driver)
    assert accepted(pruned, tmp_path) == {}
