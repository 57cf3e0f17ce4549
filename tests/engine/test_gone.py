"""What rules drop and live code still asks for, where the name alone does not tell: a finding, never a silent error.

Each row: a program, what is dropped, and the codes of the findings; without a finding it runs as before.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.program import prune, rules_text, run, same_behaviour
from tests.engine.test_enum_numbers import judged

BASE = "class B:\n    def h(self):\n        return 0\n\n\n"
MADE = "class A:\n    def h(self):\n        return 1\n\n    def j(self):\n        return 2\n\n\n"
ENUM = "import enum\n\n\nclass M(enum.Enum):\n    A = 1\n    HIP = 2\n"
USED = {
    "a method that is called": (MADE + "def f(k=0):\n    return A().h() if k else A().j()\n", "app:A.h", ["PR220"]),
    "a method of which one above answers": (
        BASE + "class A(B):\n    def h(self):\n        return 1\n\n\ndef f():\n    return A().h()\n", "app:A.h", ["PR220"],
    ),
    "a method that super() asks for": (
        BASE + "class A(B):\n    def h(self):\n        return super().h() + 1\n\n\ndef f():\n    return A().h()\n", "app:B.h", ["PR220"],
    ),
    "a method that Python calls": (
        "class A:\n    def __init__(self):\n        self.x = 1\n\n\ndef f():\n    return vars(A())\n", "app:A.__init__", ["PR220"],
    ),
    "a method that an abstract class asks for": (
        "import abc\n\n\nclass B(abc.ABC):\n    @abc.abstractmethod\n    def h(self):\n        pass\n\n\n"
        "class A(B):\n    def h(self):\n        return 1\n\n\ndef f():\n    return type(A()).__name__\n", "app:A.h", ["PR220"],
    ),
    "a value of a class, by its instance": (
        "class A:\n    X = 1\n    Y = 2\n\n\ndef f():\n    return A().Y, getattr(A(), 'X', None)\n", "app:A.X", ["PR220"],
    ),
    "a member of an enum, by another member": (
        ENUM + "\n    def is_hip(self):\n        return self is self.HIP\n\n\ndef f():\n    return M.A.is_hip()\n", "app:M.HIP", ["PR220"],
    ),
    "a field": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass A:\n    a: int = 1\n    b: int = 2\n\n\n"
        "def f():\n    return A(5, 6)\n", "app:A.a", ["PR243"],
    ),
    "a member that another is made of": (ENUM + "    ALL = [A, HIP]\n\n\ndef f():\n    return M.A.value\n", "app:M.HIP", ["PR243"]),
    "a member that is bound with others": (
        "import enum\n\n\nclass M(enum.Enum):\n    A, HIP, B = range(3)\n\n\ndef f():\n    return M.B.value\n", "app:M.HIP", ["PR243"],
    ),
    "a member that is counted": (
        "import enum\n\n\nclass M(enum.Enum):\n    A = ()\n    HIP = ()\n    B = ()\n\n    def __new__(cls):\n"
        "        o = object.__new__(cls)\n        o._value_ = len(cls.__members__) + 1\n        return o\n\n\n"
        "def f():\n    return M.B.value\n", "app:M.HIP", ["PR220"],
    ),
    "what is called while modules load": ("from opt import make\n\nX = make()\n\n\ndef f():\n    return 1\n", "opt", ["PR220"]),
    "what is asked while modules load": ("from opt import Hip\n\nSIZE = Hip.SIZE\n\n\ndef f():\n    return SIZE\n", "opt", ["PR220"]),
    **{
        f"a class in {text}": (f"from opt import Hip\n\n{text}\n\n\ndef f():\n    return 1\n", "opt", ["PR220"])
        for text in ("X = hasattr(Hip, 'SIZE')", "X = getattr(Hip, 'SIZE', 5)", "if hasattr(Hip, 'SIZE'):\n    X = 1", "X = len(Hip)", "X = [*map(str, list(Hip))]")
    },
    "a default": ("from opt import make\n\n\ndef g(x=make()):\n    return x\n\n\ndef f():\n    return g(1)\n", "opt", ["PR220"]),
    **{
        f"a constant in {text}": (f"from opt import LIMIT\n\n{text}\n\n\ndef f():\n    return 1\n", "opt", ["PR220"])
        for text in (
            "X = LIMIT + 1", "X = -LIMIT", "X = LIMIT > 2", "X = f'{LIMIT}'", "X = '%d' % LIMIT", "X = list(range(LIMIT))", "X = 1 if LIMIT else 2",
            "X = LIMIT or 1", "if LIMIT > 2:\n    X = 1", "if LIMIT:\n    X = 1", "for X in range(LIMIT):\n    pass", "X = [LIMIT + n for n in (1, 2)]",
            "class A:\n    x = LIMIT * 2", "def g(x=LIMIT + 1):\n    return x", "print(LIMIT)",
        )
    },
    **{
        f"behind a package: {text}": (f"from box import Hip, New\n\n{text}\n\n\ndef f():\n    return 1\n", "opt", ["PR220"])
        for text in (
            "X = Hip.SIZE", "print(Hip.SIZE)", "if Hip.SIZE:\n    X = 1", "T = {Hip.SIZE: New}", "class A(New):\n    x = Hip.SIZE",
            "try:\n    print(Hip.SIZE)\nexcept ValueError:\n    pass", "try:\n    X = Hip.SIZE\nexcept (KeyError, ModuleNotFoundError):\n    X = 1",
            "try:\n    print(Hip.SIZE)\nfinally:\n    X = 1", "try:\n    print(Hip.SIZE)\nexcept ImportError:\n    raise",
            "import contextlib\n\nwith contextlib.suppress(KeyError):\n    X = Hip.SIZE", "try:\n    X = 1\nexcept Exception:\n    X = 2\nelse:\n    print(Hip.SIZE)",
            "for kind in (New, Hip):\n    print(kind.SIZE)", "for kind in [New, Hip]:\n    try:\n        print(kind.SIZE)\n    except ValueError:\n        pass",
            "N = [kind.SIZE for kind in (New, Hip)]", "N = {kind.SIZE: kind for kind in (New, Hip)}",
        )
    },
    **{
        f"behind another name: {text}": (f"from opt import ALL, Hip\n\n_all = ALL\nKind = Hip\n{text}\n\n\ndef f():\n    return 1\n", "opt", ["PR220"])
        for text in (
            "X = Kind.SIZE", "X = sorted(_all)", "X = '|'.join(n for n in sorted(_all))", "X = [n for n in _all]", "print(*(n for n in _all))",
            "for n in _all:\n    print(n)", "X = max(map(len, list(_all)))", "class A:\n    x = Kind.SIZE", "def g(x=len(_all)):\n    return x",
        )
    },
    **{
        f"behind a package, in a try that catches it, before another statement: {text}": (
            f"import contextlib\nfrom box import Hip, New\n\nN = []\n{text}\n\n\ndef f():\n    return N\n", "opt", ["PR220"],
        )
        for text in (
            "try:\n    N.append(Hip.SIZE)\n    N.append(New.SIZE)\nexcept ImportError:\n    pass", "try:\n    if N is not None:\n        N.append(Hip.SIZE)\n    N.append(1)\nexcept Exception:\n    pass",
            "try:\n    N += [kind.SIZE for kind in (Hip, New)]\n    N.append(1)\nexcept ImportError:\n    pass",
            "with contextlib.suppress(ImportError):\n    N.append(Hip.SIZE)\n    N.append(1)",
        )
    },
    "behind another name in a package": ("from rack import Kind\n\nX = Kind.SIZE\n\n\ndef f():\n    return X\n", "opt", ["PR220"]),
    "behind two packages": ("from tub import Part\n\nX = Part.SIZE\n\n\ndef f():\n    return X\n", "opt", ["PR220"]),
    "a call for its own sake": ("from opt import make\n\nmake()\n\n\ndef f():\n    return 1\n", "opt", ["PR220"]),
}  # fmt: skip
UNUSED = {
    "a method of a name that another class has": (
        MADE + "class O:\n    def h(self):\n        return 5\n\n\ndef f():\n    return O().h(), A().j()\n", "app:A.h",
    ),
    "a method that nobody names": (MADE + "def f():\n    return A().j()\n", "app:A.h"),
    "what a lambda asks": ("from opt import make\n\nT = {'a': lambda: make(), 'b': 1}\n\n\ndef f():\n    return T['b']\n", "opt"),
    "a type among types": ("from opt import Hip\n\nT = Hip | None\n\n\ndef g(x: Hip | int = 1):\n    return x\n\n\ndef f():\n    return g()\n", "opt"),
    "a constant in a table": ("from opt import LIMIT\n\nT = {'a': LIMIT, 'b': 1}\n\n\ndef f():\n    return T['b']\n", "opt"),
    "a constant in a function": ("from opt import LIMIT\n\n\ndef g():\n    return LIMIT + 1\n\n\ndef f():\n    return 1\n", "opt"),
    "a constant in a try": (
        "from opt import LIMIT\n\ntry:\n    X = LIMIT + 1\nexcept ImportError:\n    X = 1\n\n\ndef f():\n    return X\n", "opt",
    ),
    "what stands in a try": (
        "from opt import make\n\ntry:\n    X = make()\nexcept ImportError:\n    X = 1\n\n\ndef f():\n    return X\n", "opt",
    ),
    **{
        f"in a try that catches it, behind a package: {text}": (f"from box import Hip, New\n\n{text}\n\n\ndef f():\n    return 1\n", "opt")
        for text in (
            "try:\n    print(Hip.SIZE)\nexcept ImportError:\n    pass", "try:\n    X = Hip.SIZE\nexcept (KeyError, Exception):\n    X = 1",
            "try:\n    print(Hip.SIZE)\nexcept:\n    pass", "import builtins\n\ntry:\n    X = Hip.SIZE\nexcept builtins.Exception:\n    X = 1",
            "import contextlib\n\nwith contextlib.suppress(ImportError):\n    X = Hip.SIZE", "from contextlib import suppress\n\nwith suppress(KeyError, Exception):\n    print(Hip.SIZE)", "for kind in (New, Hip):\n    try:\n        print(kind.SIZE)\n    except Exception:\n        pass",
        )
    },
    **{
        f"no use, behind a package: {text}": (f"from box import Hip, New\n\n{text}\n\n\ndef f():\n    return 1\n", "opt")
        for text in (
            "try:\n    X = New.SIZE\nexcept ValueError:\n    print(Hip.SIZE)", "def g(x):\n    return isinstance(x, Hip)", "T = (New, Hip)", "X = Hip | None",
        )
    },
    "another name": ("from opt import ALL, Hip\n\n_all = ALL\nKind = Hip\nT = (Kind, _all)\n\n\ndef f():\n    return len(T)\n", "opt"),
    "another name that a function reads": (
        "from opt import ALL\n\n_all = ALL\n\n\ndef g():\n    return sorted(_all)\n\n\ndef f():\n    return g.__name__\n", "opt",
    ),
    "what a function asks": ("from opt import make\n\n\ndef g():\n    return make()\n\n\ndef f():\n    return 1\n", "opt"),
    "an annotation that is put off": (
        "from __future__ import annotations\nfrom opt import Hip\n\n\ndef g(x: Hip.Inner = None):\n    return x\n\n\ndef f():\n    return g()\n", "opt",
    ),
    "a submodule beside another": ("import pk.hip\nimport pk.cuda\n\n\ndef f():\n    return pk.cuda.N\n", "pk.hip"),
    "a submodule of __all__": ("from pk import *\n\n\ndef f():\n    return cuda.N\n", "pk.hip"),
    "a definition that is registered, in a root": (
        "REG = {}\n\n\ndef register(name):\n    def keep(cls):\n        REG[name] = cls\n        return cls\n\n    return keep\n\n\n"
        "@register('hip')\nclass H:\n    pass\n\n\n@register('cuda')\nclass C:\n    pass\n\n\ndef f():\n    return REG['cuda'].__name__\n", "app.REG[hip]",
    ),
}  # fmt: skip
MORE = {
    "opt.py": "LIMIT = 3\nALL = frozenset(str(n) for n in (1, 2))\n\n\nclass Hip:\n    SIZE = 3\n\n    class Inner:\n        pass\n\n\ndef make():\n    return 1\n",
    "box/__init__.py": "from box.new import New\nfrom opt import Hip\n",
    "box/new.py": "class New:\n    SIZE = 4\n",
    "rack/__init__.py": "from opt import Hip\n\nKind = Hip\n",
    "tub/__init__.py": "from box import Hip as Part\n",
    "pk/__init__.py": "__all__ = ['hip', 'cuda']\n",
    "pk/hip.py": "N = 1\n",
    "pk/cuda.py": "N = 2\n",
}
RUN = "import app\nRESULT = app.f()"


@pytest.mark.parametrize("name", USED)
def test_a_use_is_a_finding(name: str) -> None:
    text, drop, codes = USED[name]
    assert prune({"app.py": text, **MORE}, drop=[drop]).findings == codes


@pytest.mark.parametrize("name", [name for name in USED if "behind" in name])
def test_the_checks_see_the_use_by_themselves(name: str, tmp_path: Path) -> None:
    text, drop, _ = USED[name]
    rules = rules_text({}, ["app"], [drop])
    made = prune({"app.py": text, **MORE}, rules=rules)
    ran = run(made.files, RUN)
    assert "RemovedByPrune" in ran["raised"] or ran["result"] != run(made.before, RUN)["result"]
    assert judged(made.files, made.before, rules, tmp_path, "imports") == "refuted"


@pytest.mark.parametrize("name", UNUSED)
def test_what_nobody_uses_goes(name: str, tmp_path: Path) -> None:
    text, drop = UNUSED[name]
    rules = rules_text({}, ["app"], [drop])
    made = prune({"app.py": text, **MORE}, rules=rules)
    assert made.findings == []
    if "try" not in name:  # there it fails as a missing package does
        same_behaviour(made, RUN)
    assert judged(made.files, made.before, rules, tmp_path) == "passed"
    assert judged(made.files, made.before, rules, tmp_path, "imports") == "passed"


MEMBERS = {
    "in a tuple": "def f(k=1):\n    return 'x' if M(k) in (M.HIP, M.CPU) else 'y'\n",
    "in a list, alone": "def f(k=1):\n    return 'x' if M(k) not in [M.HIP] else 'y'\n",
    "in a set by name": "S = {M.HIP, M.CPU}\n\n\ndef f(k=1):\n    return M(k) in S\n",
    "alone in a set by name": "S = {M.HIP}\n\n\ndef f(k=1):\n    return M(k) in S, type(S)\n",
    "keys": "T = {M.HIP: 1, M.CPU: 2, M.CUDA: 3}\n\n\ndef f(k=1):\n    return T[M(k)]\n",
    "a case": "def f(k=1):\n    match M(k):\n        case M.HIP:\n            return 'hip'\n        case M.CPU:\n            return 'cpu'\n    return 'other'\n",
    "a case of two": "def f(k=1):\n    match M(k):\n        case M.HIP | M.HIP:\n            return 'hip'\n        case _:\n            return 'other'\n",
    "a case with a guard": "def f(k=1):\n    match M(k):\n        case M.HIP if k:\n            return 'hip'\n        case x:\n            return x.name\n",
    "a case that stands first of two": "def f(k=1):\n    x = 0\n    match M(k):\n        case M.HIP:\n            x = 1\n        case M.CPU:\n            x = 2\n    return x\n",
    "a local, in a test": "def f(k=1):\n    m = M(k)\n    if m in {M.HIP}:\n        return 'hip'\n    return m.name\n",
}


@pytest.mark.parametrize("base", ["enum.Enum", "str, enum.Enum"])
@pytest.mark.parametrize("name", MEMBERS)
def test_a_dropped_member_goes_out_of_what_is_looked_in(name: str, base: str, tmp_path: Path) -> None:
    """``Mode.HIP in (Mode.HIP, Mode.CPU)`` raised AttributeError. Of a member that a text is equal to it is a finding."""
    values = ("1", "2", "3") if base == "enum.Enum" else ("'1'", "'2'", "'3'")
    body = "".join(f"    {name} = {value}\n" for name, value in zip(("CUDA", "CPU", "HIP"), values, strict=True))
    text = f"import enum\n\n\nclass M({base}):\n{body}\n\n{MEMBERS[name]}".replace("k=1", f"k={values[0]}")
    rules = rules_text({}, ["app:f"], ["app:M.HIP"])
    made = prune({"app.py": text}, rules=rules)
    if base != "enum.Enum":
        assert set(made.findings) == {"PR220"}
        return
    assert made.findings == [] and "HIP" not in made["app.py"]
    same_behaviour(made, f"import app\nRESULT = app.f(), app.f({values[1]})")
    assert judged(made.files, made.before, rules, tmp_path) == "passed"
