"""Facts that hold only where a device is: what runs at import must also run on a host without one."""

from __future__ import annotations

import pytest

from tests.engine.program import Pruned, prune, run, same_behaviour

DEVICE = ("is_cuda()", "arch()")
# Predicates whose answer no analysis can know: a list is no constant.
PLAT = """\
import host


def is_cuda():
    return "cuda" in host.DEVICES


def is_hip():
    return "hip" in host.DEVICES


def arch():
    return host.DEVICES[0] if host.DEVICES else "cpu"
"""
HEAD = "from plat import arch, is_cuda, is_hip\n"


def both_hosts(files: dict[str, str], at_import: str = "RESULT = 1") -> Pruned:
    """Prune; ``app.f()`` must do the same with a device, ``import app`` and ``at_import`` also without one."""
    files = {"plat.py": PLAT, "host.py": 'DEVICES = ["cuda"]\n', **files}
    pruned = prune(files, roots=["app:f"], device=DEVICE)
    same_behaviour(pruned, "import app\nRESULT = app.f()")
    before, after = ({**tree, "host.py": b"DEVICES = []\n"} for tree in (pruned.before, pruned.files))
    driver = f"import app\n{at_import}"
    expected = run(before, driver)
    assert expected["raised"] == ""
    assert run(after, driver) == expected, pruned["app.py"]
    return pruned


NATIVE = "import plat\nif not plat.is_cuda():\n    raise ImportError('no device')\n\n\ndef g():\n    return 1\n"


def test_a_native_import_stays_conditional_and_its_readers_fold() -> None:
    text = "_is_cuda = is_cuda()\nif _is_cuda:\n    from native import g\n\n\ndef f():\n    if _is_cuda:\n        return g()\n    return 2\n"
    pruned = both_hosts({"app.py": HEAD + text, "native.py": NATIVE})
    assert "if _is_cuda:\n    from native import g\n" in pruned["app.py"]
    assert "def f():\n    return g()\n" in pruned["app.py"]


def test_facts_of_every_host_still_fold_at_import() -> None:
    pruned = both_hosts(
        {
            "app.py": HEAD + "if is_hip():\n    import amd\nX = 1 if is_hip() else 2\n\n\ndef f():\n    return X\n",
            "amd.py": "",
        }
    )
    assert "amd.py" in pruned.removed and "X = 2" in pruned["app.py"]


AT_IMPORT = [
    ("a value", "X = 'a' if is_cuda() else 'b'", "RESULT = app.X"),
    ("both arms", "if is_cuda():\n    X = 1\nelse:\n    X = 2", "RESULT = app.X"),
    ("an operand", "X = is_cuda() and 5", "RESULT = app.X"),
    ("a definition in both arms", "if is_cuda():\n    def X():\n        return 1\nelse:\n    def X():\n        return 2", "RESULT = app.X()"),
    ("a class attribute", "class X:\n    a = 1 if is_cuda() else 2\n    if is_cuda():\n        b = 3\n    else:\n        b = 4", "RESULT = app.X.a, app.X.b"),
    ("a base class", "class A:\n    pass\n\n\nclass X(A if is_cuda() else object):\n    pass", "RESULT = app.X.__mro__[1].__name__"),
    ("a default", "def X(a=is_cuda()):\n    return a", "RESULT = app.X()"),
    ("a default of a method", "class X:\n    def m(self, a=1 if is_cuda() else 2):\n        return a", "RESULT = app.X().m()"),
    ("a decorator", "def one(g):\n    return lambda: 1\n\n\ndef two(g):\n    return lambda: 2\n\n\n@(one if is_cuda() else two)\ndef X():\n    return 3", "RESULT = app.X()"),
    ("an annotation", "X: 1 if is_cuda() else 2 = 3", "RESULT = app.X"),
    ("a comprehension", "X = [1 if is_cuda() else 2 for _ in (0,)]", "RESULT = app.X"),
    ("a lambda called at import", "X = (lambda: 1 if is_cuda() else 2)()", "RESULT = app.X"),
    ("a function called at import", "def g():\n    return 1 if is_cuda() else 2\n\n\nX = g()", "RESULT = app.X"),
    ("a function called at import, deeper", "def h():\n    if is_cuda():\n        return 1\n    return 2\n\n\ndef g():\n    return h()\n\n\nX = g()", "RESULT = app.X"),
    ("a method called at import", "class A:\n    def m(self):\n        return 1 if is_cuda() else 2\n\n\nX = A().m()", "RESULT = app.X"),
    ("a constructor called at import", "class A:\n    def __init__(self):\n        self.x = 1 if is_cuda() else 2\n\n\nX = A().x", "RESULT = app.X"),
    ("an f-string", "X = f'{is_cuda()} {1 if is_cuda() else 2}'", "RESULT = app.X"),
    ("an assertion", "assert not is_cuda() or arch() == 'cuda'\nX = 1", "RESULT = app.X"),
    ("a try", "try:\n    if is_cuda():\n        raise KeyError\n    X = 1\nexcept KeyError:\n    X = 2", "RESULT = app.X"),
    ("a loop", "X = 0\nwhile is_cuda() and X < 3:\n    X += 1", "RESULT = app.X"),
    ("a constant of another test", "_c = is_cuda()\n_d = _c and not is_hip()\nX = 3 if _d else 4", "RESULT = app.X"),
    ("a derived predicate", "def gpu():\n    return is_cuda() or is_hip()\n\n\nX = 3 if gpu() else 4", "RESULT = app.X"),
    ("a text of the device", "X = arch()", "RESULT = app.X"),
    ("a tail after raise", "if not is_cuda() and arch() == 'tpu':\n    raise ImportError\nX = 1", "RESULT = app.X"),
    ("a registry", "X = {}\nif is_cuda():\n    X['cuda'] = 1\nelse:\n    X['cpu'] = 2", "RESULT = app.X"),
    ("mixed facts", "X = 1 if is_cuda() and not is_hip() else 2\nif is_hip() or is_cuda():\n    Y = 1\nelse:\n    Y = 2", "RESULT = app.X, app.Y"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "driver"), [a[1:] for a in AT_IMPORT], ids=[a[0] for a in AT_IMPORT])
@pytest.mark.parametrize("where", ["own", "imported"])
def test_code_at_import(text: str, driver: str, where: str) -> None:
    extra = "Y" if "Y" in text else "0"
    reader = f"\n\ndef f():\n    made = X() if callable(X) and not isinstance(X, type) else X\n    return getattr(made, '__name__', made), {extra}, X.m(X) if hasattr(X, 'm') else 0\n"
    if where == "own":
        both_hosts({"app.py": HEAD + text + reader}, driver)
    else:
        names = "X, Y" if "Y" in text else "X"
        both_hosts({"app.py": f"from kit import {names}{reader}", "kit.py": HEAD + text + "\n"}, driver)


CALLED = {
    "one home": "from kit.a import gpu\nX = gpu()",
    "the package": "from kit import gpu\nX = gpu()",
    "a star": "from kit.all import *\nX = gpu()",
    "a module": "import kit.a\nX = kit.a.gpu()",
    "a module by another name": "import kit.a as inner\nX = inner.gpu()",
    "a submodule of a package": "from kit import a\nX = a.gpu()",
    "two homes, one of which is not there": "try:\n    from kit.none import gpu\nexcept ImportError:\n    from kit.a import gpu\nX = gpu()",
    "two homes": "try:\n    from kit.a import gpu\nexcept ImportError:\n    from kit.b import gpu\nX = gpu()",
    "two homes that are loaded": "import kit.a, kit.b\ntry:\n    from kit.a import gpu\nexcept ImportError:\n    from kit.b import gpu\nX = gpu()",
    "two homes behind another": "from kit.many import gpu\nX = gpu()",
    "two homes behind another, in a function": "def made():\n    from kit import many\n    return many.gpu()\n\n\nX = made()",
    "two homes and a definition": "try:\n    from kit.a import gpu\nexcept ImportError:\n    def gpu():\n        return 3\nX = gpu()",
    "homes in a circle": "from kit.round import gpu\nX = gpu()",
    "two homes by a flag": "import os\nif os.sep == '/':\n    from kit.b import gpu\nelse:\n    from kit.a import gpu\nX = gpu()",
    "in a function": "def made():\n    from kit.a import gpu\n    return gpu()\n\n\nX = made()",
    "in a function, two homes": "def made():\n    try:\n        from kit.a import gpu\n    except ImportError:\n        from kit.b import gpu\n    return gpu()\n\n\nX = made()",
    "a home that is loaded later": "def made():\n    import kit.late\n    return kit.late.gpu()\n\n\nX = made()",
    "a class": "from kit.c import Gpu\nX = Gpu().m()",
    "a class below": "from kit.c import Gpu\n\n\nclass Mine(Gpu):\n    pass\n\n\nX = Mine().m()",
}


@pytest.mark.parametrize("text", CALLED.values(), ids=CALLED.keys())
def test_what_is_called_at_import_is_found_where_it_is(text: str) -> None:
    """Modules are loaded one after the other: what is called of one that is not loaded yet counts when it is."""
    gpu = HEAD + "\n\ndef gpu():\n    return 1 if is_cuda() else 2\n"
    kind = HEAD + "\n\nclass Gpu:\n    def m(self):\n        return 1 if is_cuda() else 2\n"
    files = {"kit/__init__.py": "from kit.a import gpu\n", "kit/a.py": gpu, "kit/b.py": gpu, "kit/c.py": kind}
    files["kit/many.py"] = "try:\n    from kit.b import gpu\nexcept ImportError:\n    from kit.a import gpu\n"
    files["kit/round.py"] = "try:\n    from kit.a import gpu\nexcept ImportError:\n    from kit.circle import gpu\n"
    files["kit/circle.py"] = "try:\n    from kit.b import gpu\nexcept ImportError:\n    from kit.round import gpu\n"
    files |= {"kit/all.py": "from kit.a import gpu\n", "kit/late.py": "from kit.b import gpu\n"}
    both_hosts({"app.py": f"{text}\n\n\ndef f():\n    return X\n", **files}, "RESULT = app.X")


@pytest.mark.parametrize("order", ["mk", "km"])
def test_methods_that_were_walked_before_import_called_them(order: str) -> None:
    """A module that is loaded late calls ``m``, which calls ``k``: both were walked as what runs later."""
    parts = {
        "m": "    def m(self):\n        return self.k()\n",
        "k": "    def k(self):\n        return 1 if is_cuda() else 2\n",
    }
    late = "\n    def z(self):\n        return late()\n\n\ndef late():\n    import kit.last\n    return kit.last.X\n"
    files = {
        "app.py": "def f():\n    from kit.two import Two\n    return Two().m(), Two().k(), Two().z()\n",
        "kit/__init__.py": "class Other:\n    def m(self):\n        return 0\n\n\nY = Other().m()\n",
        "kit/two.py": HEAD + "\n\nclass Two:\n" + "\n".join(parts[part] for part in order) + late,
        "kit/last.py": "from kit.two import Two\nX = Two().m()\n",
    }
    both_hosts(files, "import kit.last\nRESULT = kit.last.X")


def test_what_nothing_loads_calls_nothing() -> None:
    """A dead module calls ``gpu`` at import: ``gpu`` folds all the same, and the dead module is not even read."""
    files = {
        "app.py": HEAD + "if is_hip():\n    import amd\n\n\ndef f():\n    from kit import gpu\n    return gpu()\n",
        "amd.py": "import kit\nX = kit.gpu()\n",
        "kit.py": HEAD + "\n\ndef gpu():\n    return 1 if is_cuda() else 2\n",
    }
    pruned = both_hosts(files)
    assert "amd.py" in pruned.removed and "return 1\n" in pruned["kit.py"]


def test_an_import_chain_without_a_device() -> None:
    """Client code imports the package; only the server's lazy code needs the native module."""
    pruned = both_hosts({
        "app.py": "import kit.client\n\n\ndef f():\n    return kit.client.run()\n",
        "kit/__init__.py": "from kit.flags import _is_cuda\n",
        "kit/flags.py": HEAD + "_is_cuda = is_cuda()\n",
        "kit/client.py": "from kit.flags import _is_cuda\nif _is_cuda:\n    import native\nelse:\n    native = None\n\n\ndef run():\n    if _is_cuda:\n        return native.g()\n    return 0\n",
        "native.py": NATIVE,
    }, "RESULT = app.kit.client.native")  # fmt: skip
    assert "return 0" not in pruned["kit/client.py"]


def test_a_function_that_another_file_calls_at_import() -> None:
    both_hosts(
        {
            "app.py": "from kit import g\nX = g()\n\n\ndef f():\n    return X, g()\n",
            "kit.py": HEAD + "\n\ndef g():\n    return 1 if is_cuda() else 2\n",
        },
        "RESULT = app.X",
    )
