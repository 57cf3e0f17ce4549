"""Stand-ins that are used while modules load, however they come there: the checks refute such a tree.

Each row of :data:`USED` is what the program does with ``opt``, which a rule drops; upstream it runs. Each of :data:`UNUSED`
runs as before. Both under each of :data:`HEADS`, which say where the names come from.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.program import prune, rules_text, run
from tests.engine.test_enum_numbers import judged

MORE = {
    "opt.py": "class Hip:\n    SIZE = 3\n\n    def __init__(self, *a):\n        pass\n\n    def __class_getitem__(cls, key):\n        return cls\n\n    class Inner:\n        pass\n\n\n"
    "def make(*a):\n    return 1\n\n\ndef mark(f):\n    return f\n\n\nNAMES = ['a', 'b']\nTABLE = {'a': 1}\nLIMIT = 3\n",
    "box/__init__.py": "from box.new import New, REG, keep, register\nfrom opt import Hip, LIMIT, NAMES, TABLE, make, mark\n",
    "box/new.py": "REG = {}\n\n\nclass New:\n    SIZE = 4\n\n    def __init__(self, *a):\n        pass\n\n\ndef keep(x):\n    return x\n\n\ndef register(key, value):\n    REG[key] = value\n",
    "reg.py": "from box.new import REG\n\n\ndef reg(kind):\n    REG[kind.SIZE] = kind\n",
    "help.py": "from box import Hip\n\n\ndef build():\n    return Hip()\n",
    "help2.py": "from help import build\n\n\ndef twice():\n    return build()\n",
}
NEW = "from box.new import New, REG, keep, register\n"
HEADS = {
    "from the module": (f"from opt import Hip, LIMIT, NAMES, TABLE, make, mark\n{NEW}", ""),
    "from a package": (f"from box import Hip, LIMIT, NAMES, TABLE, make, mark\n{NEW}", ""),
    "of a package": (f"import box\n{NEW}", "box."),
    "of a package by another name": (f"import box as b\n{NEW}", "b."),
    "by a star": ("from box import *\n", ""),
    "where it may be missing": (
        f"try:\n    from box import Hip, LIMIT, NAMES, TABLE, make, mark\nexcept ImportError:\n    Hip = make = mark = None\n{NEW}", "",
    ),
}  # fmt: skip
USED = [
    "def g():\n    return @Hip.SIZE\n\n\nX = g()",
    "def g():\n    return @make()\n\n\ndef h():\n    return g()\n\n\nh()",
    "g = lambda: @make()\nX = g()",
    "class A:\n    def __init__(self):\n        self.x = @make()\n\n\nX = A()",
    "class A:\n    @property\n    def p(self):\n        return @make()\n\n\nX = A().p",
    "class A:\n    @classmethod\n    def p(cls):\n        return @make()\n\n\nX = A.p()",
    "class A:\n    def __call__(self):\n        return @make()\n\n\nX = A()()",
    "class A:\n    @@mark\n    def g(self):\n        return 1",
    "def mine(f):\n    @make()\n    return f\n\n\n@mine\ndef g():\n    return 1",
    "def mine(kind):\n    return lambda f: (kind.SIZE, f)[1]\n\n\n@mine(@Hip)\ndef g():\n    return 1",
    "class A(@Hip[int]):\n    pass",
    "class A:\n    for kind in (@Hip, New):\n        x = kind.SIZE",
    "class B:\n    def __init_subclass__(cls, kind=None):\n        kind.SIZE\n\n\nclass A(B, kind=@Hip):\n    pass",
    "class M(type):\n    def __new__(m, name, bases, space):\n        space['kind'].SIZE\n        return super().__new__(m, name, bases, space)\n\n\nclass A(metaclass=M):\n    kind = @Hip",
    "from dataclasses import dataclass\n\n\n@dataclass\nclass A:\n    kind: object\n\n    def __post_init__(self):\n        self.size = self.kind.SIZE\n\n\nX = A(@Hip)",
    "from dataclasses import dataclass, field\n\n\n@dataclass\nclass A:\n    x: int = field(default_factory=@make)\n\n\nX = A()",
    "def g():\n    def h(x=@make()):\n        return x\n\n    return h\n\n\nX = g()",
    "def g(x: @Hip[int] = None):\n    return x",
    "x: @Hip.Inner = None",
    "L = [@Hip, New]\nX = [kind.SIZE for kind in L]",
    "L = [@Hip, New]\nfor kind in L:\n    print(kind.SIZE)",
    "L = [@Hip, New]\nL = {kind.SIZE: kind for kind in L}",
    "T = {'a': @Hip, 'b': New}\nfor name, kind in T.items():\n    register(name, kind.SIZE)",
    "T = {'a': @Hip, 'b': New}\nfor kind in T.values():\n    kind()",
    "for name, kind in [('a', @Hip), ('b', New)]:\n    print(name, kind.SIZE)",
    "for at, kind in enumerate([@Hip, New]):\n    print(at, kind.SIZE)",
    "for name, kind in zip('ab', (@Hip, New)):\n    kind()",
    "def go():\n    for kind in (@Hip, New):\n        register(kind.SIZE, kind)\n\n\ngo()",
    "L = []\nL.append(@Hip)\nfor kind in L:\n    print(kind.SIZE)",
    "T = {}\nT['a'] = @Hip\nX = T['a'].SIZE",
    "register('a', @Hip)\nX = {name: kind.SIZE for name, kind in REG.items()}",
    "X = any(kind.SIZE > 9 for kind in (@Hip, New))",
    "X = max([@Hip, New], key=lambda kind: kind.SIZE)",
    "X = list(map(@make, [1, 2]))",
    "X = ['z', *@NAMES]",
    "X = {'z': 1, **@TABLE}",
    "X = 'a' in @NAMES",
    "a, b = @NAMES",
    "X = ','.join(@NAMES)",
    "X = [n for n in range(5) if n < @LIMIT]",
    "N = @LIMIT\nX = N + 1",
    "def g(n=@LIMIT):\n    return n + 1\n\n\nX = g()",
    "Y = @Hip\nX = Y.SIZE",
    "Y, Z = @Hip, New\nX = Y.SIZE",
    "class A:\n    kind = @Hip\n\n\nX = A.kind.SIZE",
    "X = keep(@Hip).SIZE",
    "X = getattr(@Hip, 'SIZE')",
    "if (Y := @Hip).SIZE:\n    X = 1",
    "from reg import reg\n\nreg(@Hip)",
    "from help import build\n\nX = build()",
    "from help2 import twice\n\nX = twice()",
    "import help2\n\nX = help2.twice()",
    "import functools\n\nX = functools.partial(@make, 1)()",
    "def g():\n    global Y\n    Y = @Hip()\n\n\ng()",
    "def g():\n    yield @make()\n\n\nX = list(g())",
    "try:\n    X = @Hip.SIZE\nexcept ImportError:\n    raise",
    "try:\n    X = @Hip.SIZE\nexcept ImportError as error:\n    raise ValueError from error",
    "try:\n    X = @Hip.SIZE\nfinally:\n    Y = 1",
    "import contextlib\n\nwith contextlib.suppress(KeyError):\n    X = @Hip.SIZE",
    "match 3:\n    case @Hip.SIZE:\n        X = 1",
    "X = f'{@Hip}'",
]
UNUSED = [
    "T = {'a': @Hip, 'b': New}\nX = T['b'].SIZE",
    "T = {'a': @Hip, 'b': New}\nfor name, kind in T.items():\n    register(name, kind)",
    "Y, Z = @Hip, New\nX = Z.SIZE",
    "L = [(1, @Hip), (2, New)]\nX = [size for size, kind in L]",
    "X = (@Hip, New)[1].SIZE",
    "def g():\n    return @Hip.SIZE\n\n\ndef h():\n    return g()",
    "class A:\n    def g(self):\n        return @Hip.SIZE\n\n\nX = A()",
    "def mine(f):\n    return lambda: @Hip.SIZE\n\n\n@mine\ndef g():\n    return 1",
    "def g(kind=@Hip):\n    return kind\n\n\nX = g(New).SIZE",
    "Y = @Hip\nY = New\nX = Y.SIZE",
    "def g():\n    return @Hip.SIZE\n\n\ntry:\n    X = g()\nexcept ImportError:\n    X = 0\nX = 1",
    "def g():\n    try:\n        return @Hip.SIZE\n    except ImportError:\n        return 0\n\n\ng()",
    "REG.update({'hip': @Hip, 'new': New})",
    "from typing import Optional, Union\n\nX = Optional[@Hip]\nY = Union[@Hip, int]\n\n\ndef g(x: @Hip | None = None):\n    return x",
    "import functools\n\n\n@functools.singledispatch\ndef g(x):\n    return 0\n\n\n@g.register(@Hip)\ndef _(x):\n    return 1\n\n\nX = g(3)",
    "X = isinstance(3, (@Hip, int))",
    "import abc\n\n\nclass B(abc.ABC):\n    pass\n\n\nB.register(@Hip)",
    "T = {@Hip: 1, New: 2}\nX = T[New]",
    "X = 1 if @Hip is not New else 2",
    "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    print(1)\nelse:\n    X = New.SIZE",
    "if __name__ == '__main__':\n    print(keep(@Hip))",
]
RUN = "import app\nRESULT = app.f()"


def made(row: str, head: str) -> dict[str, str]:
    """The program: ``@@x`` is a decorator, ``@x`` a name of what is dropped, where it is one."""
    top, before = HEADS[head]
    text = row
    for name in ("Hip", "LIMIT", "NAMES", "TABLE", "make", "mark"):
        text = text.replace(f"@@{name}", f"\0{before}{name}").replace(f"@{name}", f"{before}{name}").replace("\0", "@")
    return {"app.py": f"{top}\n\n{text}\n\n\ndef f():\n    return 1\n", **MORE}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("row", USED)
def test_a_use_is_refuted(row: str, head: str, tmp_path: Path) -> None:
    rules = rules_text({}, ["app"], ["opt"])
    pruned = prune(made(row, head), rules=rules)
    assert not run(pruned.before, RUN)["raised"]
    assert run(pruned.files, RUN)["raised"]
    assert judged(pruned.files, pruned.before, rules, tmp_path, "imports") == "refuted"


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("row", UNUSED)
def test_what_is_only_handed_on_is_not(row: str, head: str, tmp_path: Path) -> None:
    rules = rules_text({}, ["app"], ["opt"])
    pruned = prune(made(row, head), rules=rules)
    assert run(pruned.files, RUN) == run(pruned.before, RUN)
    assert judged(pruned.files, pruned.before, rules, tmp_path, "imports") == "passed"


LONG = {
    "a long sum": "X = " + " + ".join(["'a'"] * 3000),
    "functions that call each other": "\n\n\n".join(
        f"def f{n}(a):\n    for b in (a, {n}):\n        f{(n + 1) % 9}((a, b))\n        f{(n + 2) % 9}([a])"
        for n in range(9)
    )
    + "\n\n\nif not REG:\n    f0(@Hip)",
    "objects that iterate each other": "class A:\n    def __iter__(self):\n        return iter(B())\n\n\nclass B:\n    def __iter__(self):\n        return iter(A())\n\n\n"
    "def g():\n    return list(A())",
    "a container in itself": "L = [@Hip]\nL.append(L)\nT = {}\nT['a'] = T\nX = len(L)",
    "a class below itself": "class A:\n    pass\n\n\nclass A(A):\n    pass\n\n\nX = A().__class__",
}


@pytest.mark.parametrize("row", LONG.values(), ids=LONG)
def test_what_would_take_long_ends(row: str, tmp_path: Path) -> None:
    rules = rules_text({}, ["app"], ["opt"])
    text = made(row, "from the module")
    if "REG" in row:
        text["app.py"] = text["app.py"].replace("if not REG", "if REG")
    pruned = prune(text, rules=rules)
    assert judged(pruned.files, pruned.before, rules, tmp_path, "imports") in ("passed", "refuted")
