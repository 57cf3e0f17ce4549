"""How far a fact reaches: constants, re-exports, functions of the tree, environment, ranges, stores that refute it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.program import prune, same_behaviour

PROBE = "\n\ndef f():\n    if {test}:\n        return 'yes'\n    return 'no'\n"


def decided(files: dict[str, str] | str, test: str, **options: Any) -> str:
    """``yes`` or ``no`` when the test folds in ``app.f``, else ``open``. Both versions are run."""
    tree = {"app.py": files} if isinstance(files, str) else dict(files)
    tree["app.py"] = tree.get("app.py", "") + PROBE.format(test=test)
    pruned = prune(tree, **{"roots": ["app:f"], **options})
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    text = pruned["app.py"]
    return "open" if "if " in text else "yes" if "'yes'" in text else "no"


HEAD = "from plat import arch, is_cuda, is_hip, is_npu, sm\n"
CONSTANTS = [
    ("a module constant", "X = is_cuda()", "X", "yes"),
    ("a constant of constants", "A = is_cuda()\nB = is_hip()\nX = (A or B) and not B", "X", "yes"),
    ("under a test", "X = None\nif is_cuda():\n    X = 1", "X is None", "open"),
    ("both arms", "if is_hip():\n    X = 1\nelse:\n    X = 2", "X == 2", "yes"),
    ("chained", "X = Y = is_hip()", "Y", "no"),
    ("annotated", "X: bool = is_hip()", "X", "no"),
    ("a conditional value", "X = 'a' if is_cuda() else 'b'", "X == 'a'", "yes"),
    ("assigned again, the same", "X = is_cuda()\nX = not is_hip()", "X", "yes"),
    ("assigned again, otherwise", "X = is_cuda()\nX = bool(f)", "X", "open"),
    ("assigned by global", "X = is_hip()\ndef g():\n    global X\n    X = 1\ng()", "X", "open"),
    ("assigned by global in a dead arm", "X = is_hip()\ndef g():\n    global X\n    if is_hip():\n        X = 1\ng()", "X", "no"),
    ("added to", "X = is_hip()\nX += 1", "X", "open"),
    ("deleted and set", "X = is_hip()\ndel X\nX = 1", "X", "open"),
    ("a loop variable", "X = is_hip()\nfor X in (1,):\n    pass", "X", "open"),
    ("a with target", "import contextlib\nX = is_hip()\nwith contextlib.nullcontext(1) as X:\n    pass", "X", "open"),
    ("an except name", "X = is_hip()\ntry:\n    raise ValueError\nexcept ValueError as X:\n    pass\nX = 1", "X", "open"),
    ("a walrus", "X = is_hip()\nprint(X := 1)", "X", "open"),
    ("a walrus in a comprehension", "X = is_hip()\nprint([X := n for n in (1,)])", "X", "open"),
    ("a walrus in a function", "X = is_hip()\ndef g():\n    global X\n    return (X := 1)\ng()", "X", "open"),
    ("a capture", "X = is_hip()\nmatch 1:\n    case X:\n        pass", "X", "open"),
    ("a function of the name", "X = is_hip()\ndef X():\n    pass", "X", "open"),
    ("an import of the name", "X = is_hip()\nimport os as X", "X", "open"),
    ("an unpacked value", "X = is_hip()\nX, Y = 1, 2", "X", "open"),
    ("a nested store", "X = is_hip()\nclass A:\n    global X\n    X = 1", "X", "open"),
    ("a list is not a constant", "X = [is_cuda()]\nX.clear()", "X", "open"),
    ("a tuple is one", "X = (is_cuda(), 'a')", "X == (True, 'a')", "yes"),
    ("globals()", "X = is_hip()\nglobals()['X'] = 1", "X", "open"),
    ("an alias of the predicate", "gpu = is_cuda", "gpu()", "yes"),
    ("two possible values", "X = arch() if is_cuda() else 'b'", "X in ('cuda', 'b')", "yes"),
    ("text of a fact", "X = arch().upper()", "X == 'CUDA'", "yes"),
    ("str and int", "X = int(is_cuda())", "X == 1", "yes"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "test", "answer"), [c[1:] for c in CONSTANTS], ids=[c[0] for c in CONSTANTS])
def test_module_constants(text: str, test: str, answer: str) -> None:
    assert decided(HEAD + text + "\n", test) == answer


LOCALS = [
    ("a local constant", "x = is_cuda()\n    return 1 if x else 2", "return 1"),
    ("assigned twice", "x = is_cuda()\n    x = g\n    return 1 if x else 2", "return 1 if x else 2"),
    ("assigned in a branch", "x = is_cuda()\n    if g:\n        x = 0\n    return 1 if x else 2", "return 1 if x else 2"),
    ("assigned by an inner function", "x = is_cuda()\n    def h():\n        nonlocal x\n        x = 0\n    h()\n    return 1 if x else 2", "return 1 if x else 2"),
    ("read by an inner function", "x = is_cuda()\n    def h():\n        return 1 if x else 2\n    return h()", "    return 1\n"),
    ("read by a lambda", "x = is_hip()\n    return (lambda: 1 if x else 2)()", "(lambda: 2)()"),
    ("a parameter of the name", "def h(x=0):\n        return 1 if x else 2\n    x = is_cuda()\n    return h()", "return 1 if x else 2"),
    ("a loop variable of the name", "x = is_cuda()\n    for x in (0,):\n        pass\n    return 1 if x else 2", "return 1 if x else 2"),
    ("a class attribute of the name", "x = is_cuda()\n    class A:\n        x = 0\n        y = 1 if x else 2\n    return A.y", "y = 1 if x else 2"),
    ("a comprehension's own", "x = is_cuda()\n    return [1 if x else 2 for x in (0,)]", "1 if x else 2"),
    ("a local import of the predicate", "from plat import is_hip as h\n    return 1 if h() else 2", "return 2"),
    ("a lambda's parameter", "x = is_cuda()\n    return (lambda x: 1 if x else 2)(0)", "1 if x else 2"),
    ("a comprehension's own import", "import plat as x\n    return [1 if x.is_hip() else 2 for x in (type('T', (), {'is_hip': lambda self: 1})(),)]", "1 if x.is_hip() else 2"),
    ("a comprehension that reads", "x = is_cuda()\n    return [1 if x else 2 for _ in (0,)]", "[1 for _ in (0,)]"),
    ("the first iterable reads outside", "x = is_cuda()\n    return [x for x in ((1, 2) if x else (3,))]", "[x for x in ((1, 2))]"),
    ("an unpacked local", "x, y = is_cuda(), g\n    return 1 if x else 2", "return 1 if x else 2"),
    ("a local of the predicate's name", "is_hip = lambda: 1\n    return 1 if is_hip() else 2", "return 1 if is_hip() else 2"),
    ("a deleted local", "x = is_cuda()\n    del x\n    x = 0\n    return 1 if x else 2", "return 1 if x else 2"),
    ("an exception's name", "x = is_cuda()\n    try:\n        raise ValueError\n    except ValueError as x:\n        return 1 if x.args else 2", "return 1 if x.args else 2"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "output"), [row[1:] for row in LOCALS], ids=[row[0] for row in LOCALS])
def test_local_constants(body: str, output: str) -> None:
    pruned = prune({"app.py": f"from plat import is_cuda, is_hip\n\n\ndef f(g=1):\n    {body}\n"})
    same_behaviour(pruned, "import app\nRESULT = [app.f(g) for g in (0, 1)]")
    assert output in pruned["app.py"]


ROUTES: list[tuple[str, dict[str, str], str, str]] = [
    ("a re-export", {"mid.py": "from plat import is_hip\n", "app.py": "from mid import is_hip\n"}, "is_hip()", "no"),
    ("a renamed re-export", {"mid.py": "from plat import is_hip as amd\n", "app.py": "from mid import amd as gpu\n"}, "gpu()", "no"),
    ("through a module", {"mid.py": "import plat\n", "app.py": "import mid\n"}, "mid.plat.is_hip()", "no"),
    ("a star", {"mid.py": "from plat import *\n", "app.py": "from mid import *\n"}, "is_hip()", "no"),
    ("a star chain with __all__", {"mid.py": "from plat import *\n__all__ = ['is_hip']\n", "app.py": "from mid import *\n"}, "is_hip()", "no"),
    ("a constant of another module", {"mid.py": "from plat import is_hip\nX = is_hip()\n", "app.py": "from mid import X\n"}, "X", "no"),
    ("a constant through a package", {"p/__init__.py": "from .mid import X\n", "p/mid.py": "from plat import is_hip\nX = is_hip()\n", "app.py": "import p\n"}, "p.X", "no"),
    ("a namespace package", {"p/mid.py": "from plat import is_hip\nX = is_hip()\n", "app.py": "import p.mid as m\n"}, "m.X", "no"),
    ("a relative import", {"p/__init__.py": "", "p/a.py": "from plat import is_hip\nX = is_hip()\n", "p/b.py": "from . import a\nfrom .a import X\nY = a.X or X\n", "app.py": "from p.b import Y\n"}, "Y", "no"),
    ("a store from outside", {"mid.py": "from plat import is_hip\nX = is_hip()\n", "app.py": "import mid\nmid.X = 1\n"}, "mid.X", "open"),
    ("a setattr from outside", {"mid.py": "from plat import is_hip\nX = is_hip()\n", "app.py": "import mid\nsetattr(mid, 'X', 1)\n"}, "mid.X", "open"),
    ("a predicate replaced from outside", {"app.py": "import plat\nplat.is_hip = lambda: 1\n"}, "plat.is_hip()", "open"),
    ("own name behind a star", {"other.py": "X = 1\n", "app.py": "from plat import is_hip\nX = is_hip()\nfrom other import *\n"}, "X", "open"),
    ("own name in front of a star", {"other.py": "X = 1\n", "app.py": "from plat import is_hip\nfrom other import *\nX = is_hip()\n"}, "X", "no"),
    ("the later star wins", {"one.py": "from plat import is_hip\nX = is_hip()\n", "two.py": "X = 1\n", "app.py": "from one import *\nfrom two import *\n"}, "X", "open"),
    ("a star without the name in __all__", {"one.py": "X = 1\n", "two.py": "__all__ = []\nX = 0\n", "app.py": "from plat import is_hip\nX = is_hip()\nfrom two import *\n"}, "X", "no"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "test", "answer"), [r[1:] for r in ROUTES], ids=[r[0] for r in ROUTES])
def test_across_modules(files: dict[str, str], test: str, answer: str) -> None:
    assert decided(files, test) == answer


FUNCTIONS = [
    ("derived", "def amd():\n    return is_hip() and sm() > 3", "amd()", "no"),
    ("with branches", "def amd():\n    if is_cuda():\n        return False\n    return len(arch()) > 2", "amd()", "no"),
    ("through a constant", "def amd():\n    x = is_hip()\n    return x", "amd()", "no"),
    ("of an argument", "def has(x):\n    return x and is_hip()", "has(1)", "no"),
    ("of a keyword", "def has(x, y=1):\n    return x", "has(y=1, x=is_hip())", "no"),
    ("a default is not read", "def has(x=is_hip()):\n    return x", "has()", "open"),
    ("of any arguments", "def has(*x):\n    return x", "has(is_hip())", "open"),
    ("of any keywords", "def has(**x):\n    return x", "has(x=is_hip())", "open"),
    ("a loop decides", "def has():\n    for n in (1,):\n        return n\n    return is_hip()", "has()", "open"),
    ("a try decides", "def has():\n    try:\n        return 1\n    except ValueError:\n        return is_hip()", "has()", "open"),
    ("a walrus", "def has(r=1):\n    y = is_hip()\n    if (y := r):\n        pass\n    return y", "has()", "open"),
    ("an inner store", "def has():\n    y = is_hip()\n    def g():\n        nonlocal y\n        y = 1\n    g()\n    return y", "has()", "open"),
    ("an added value", "def has():\n    y = is_hip()\n    y += 1\n    return y", "has()", "open"),
    ("a generator", "def has():\n    yield 1\n    return is_hip()", "has()", "open"),
    ("a decorated one", "def no(g):\n    return lambda: 1\n@no\ndef has():\n    return is_hip()", "has()", "open"),
    ("a cached one", "import functools\n@functools.lru_cache(maxsize=None)\ndef has():\n    return is_hip()", "has()", "no"),
    ("a recursive one", "def has(n=1):\n    return has(0) if n else is_hip()", "has()", "open"),
    ("defined twice", "def has():\n    return is_hip()\ndef has():\n    return 1", "has()", "open"),
    ("defined in both arms", "if is_cuda():\n    def has():\n        return is_hip()\nelse:\n    def has():\n        return 1", "has()", "no"),
    ("replaced by global", "def has():\n    return is_hip()\ndef g():\n    global has\n    has = lambda: 1\ng()", "has()", "open"),
    ("deeper", "def a():\n    return is_hip()\ndef b():\n    return a() or a()\ndef c():\n    return b()", "c()", "no"),
    ("with an effect", "out = []\ndef has():\n    out.append(1)\n    return is_hip()", "has() or len(out) != 1", "open"),
    ("an async one", "async def has():\n    return is_hip()", "has()", "open"),
    ("a while", "def has():\n    x = is_hip()\n    while not x:\n        x = 1\n    return x", "has()", "open"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "test", "answer"), [r[1:] for r in FUNCTIONS], ids=[r[0] for r in FUNCTIONS])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions_of_the_tree(text: str, test: str, answer: str) -> None:
    assert decided(HEAD + text + "\n", test) == answer


SUBJECTS: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("any arguments", {"kit.flag(...)": False}, "from kit import flag", "flag(1) or flag('a', b=f) or flag()", "no"),
    ("constant arguments", {"kit.flag('A')": False}, "from kit import flag", "flag('A')", "no"),
    ("other arguments", {"kit.flag('A')": False}, "from kit import flag", "flag('B')", "open"),
    ("a default behind the argument", {"kit.flag('A')": False}, "from kit import flag", "flag('A', 0)", "open"),
    ("an attribute of an object", {"kit.box.is_a()": False}, "from kit import box", "box.is_a()", "no"),
    ("a module variable", {"kit.X": False}, "import kit", "kit.X", "no"),
    ("hasattr", {"hasattr(kit, 'hip')": False}, "import kit", "hasattr(kit, 'hip')", "no"),
    ("getattr", {"kit.absent": None}, "import kit", "getattr(kit, 'absent', None)", "no"),
    ("getattr is not None", {"kit.absent": None}, "import kit", "getattr(kit, 'absent', None) is not None", "no"),
    ("an environment variable", {"os.environ.get('ABSENT')": None}, "import os", "os.environ.get('ABSENT')", "no"),
    ("getenv", {"os.getenv('ABSENT')": None}, "import os", "os.getenv('ABSENT')", "no"),
    ("a range", {"kit.sm()": {"min": 90}}, "from kit import sm", "sm() < 80", "no"),
    ("a range, at its end", {"kit.sm()": {"min": 90}}, "from kit import sm", "sm() >= 90", "yes"),
    ("a range, inside", {"kit.sm()": {"min": 90}}, "from kit import sm", "sm() > 90", "open"),
    ("a range, equal", {"kit.sm()": {"min": 90, "max": 120}}, "from kit import sm", "sm() == 80", "no"),
    ("a range, from the left", {"kit.sm()": {"min": 90, "max": 120}}, "from kit import sm", "80 > sm()", "no"),
    ("a range, not", {"kit.sm()": {"min": 90}}, "from kit import sm", "not sm() < 80", "yes"),
    ("several values agree", {"kit.kind()": ["a", "b"]}, "from kit import kind", "kind() in ('a', 'b', 'c')", "yes"),
    ("several values disagree", {"kit.kind()": ["a", "b"]}, "from kit import kind", "kind() == 'b'", "open"),
    ("none of several", {"kit.kind()": ["a", "b"]}, "from kit import kind", "kind() == 'c'", "no"),
    ("one is not true", {"kit.one()": 1}, "from kit import one", "one() is True", "no"),
    ("unhashable on the other side", {"kit.kind()": ["a"]}, "from kit import kind", "kind() in [[], 'b']", "open"),
]  # fmt: skip
KIT = """\
X = False


class Box:
    def is_a(self):
        return False


box = Box()


def flag(*values, **named):
    return 0 if values != ("B",) else 1


def sm():
    return 91


def kind():
    return "a"


def one():
    return 1
"""


@pytest.mark.parametrize(("facts", "text", "test", "answer"), [s[1:] for s in SUBJECTS], ids=[s[0] for s in SUBJECTS])
def test_subjects(facts: dict[str, Any], text: str, test: str, answer: str) -> None:
    assert decided({"app.py": text + "\n", "kit.py": KIT}, test, facts=facts) == answer


def test_the_predicates_own_body_stays() -> None:
    """Outside callers still get a real answer."""
    pruned = prune(
        {"app.py": "from plat import is_hip\n\n\ndef f():\n    return is_hip()\n"}, roots=["app:f", "plat:is_hip"]
    )
    assert "def is_hip():\n    return False\n" in pruned["plat.py"]
    kit = "import os\n\n\ndef is_amd():\n    if os.name == 'amd':\n        return True\n    return False\n\n\ndef f():\n    return is_amd()\n"
    pruned = prune({"kit.py": kit}, roots=["kit"], facts={"kit.is_amd()": False})
    assert "os.name == 'amd'" in pruned["kit.py"] and "def f():\n    return False\n" in pruned["kit.py"]


def test_a_refuted_fact_is_reported() -> None:
    files = {
        "kit.py": "X = False\n",
        "app.py": "import kit\n\n\ndef f(v):\n    kit.X = v\n    return 1 if kit.X else 2\n",
    }
    pruned = prune(files, facts={"kit.X": False})
    assert pruned["app.py"] == files["app.py"] and pruned.findings


@pytest.mark.parametrize("call", ["kit.envs.A.get()", "kit.envs.B.get()"])
def test_pure_wildcards(call: str) -> None:
    """``pkg.envs.*.get`` speaks of one component: the call may be dropped with its operand."""
    text = f"import kit\nfrom plat import is_hip\n\n\ndef f():\n    if {call} and is_hip():\n        return 1\n    return 2\n"
    files = {
        "kit.py": "class E:\n    def get(self):\n        return 1\nclass S:\n    A = E()\n    B = E()\nenvs = S()\n",
        "app.py": text,
    }
    assert "envs" not in prune(files, pure=["kit.envs.*.get"], facts={"is_hip()": False})["app.py"]
    files["kit.py"] = files["kit.py"].replace("get", "fetch")
    files["app.py"] = text.replace("get", "fetch")
    assert "envs" in prune(files, pure=["kit.envs.*.get"], facts={"is_hip()": False})["app.py"]


@pytest.mark.parametrize("read", ["not conf.C.mm", "conf.C.mm is None", "bool(conf.C.mm)", "conf.D.mm == 1"])
def test_a_property_of_the_class_itself(read: str) -> None:
    """The fact is about instances: ``C.mm`` is the property."""
    files = {
        "conf.py": "class C:\n    @property\n    def mm(self):\n        return False\n\n\nclass D(C):\n    pass\n",
        "app.py": f"import conf\n\n\ndef f():\n    return 1 if {read} else 2, 3 if conf.C().mm else 4\n",
    }
    pruned = prune(files, facts={"conf.C.mm": False})
    assert same_behaviour(pruned, "import app\nRESULT = app.f()")["raised"] == ""
