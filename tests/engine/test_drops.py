"""Drop rules: entries, registrations, modules and names; what still asks for them is told so in one sentence."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from tests.engine.program import Pruned, prune, rules_text, run, same_behaviour
from tests.engine.test_enum_numbers import judged

# -- entries of tables ------------------------------------------------------------------------------------------


def entries(text: str, target: str, **options: Any) -> Any:
    """The value of ``TABLE`` after the drop; the rest of the module must not change."""
    pruned = prune({"app.py": f"{text}\n\n\ndef f():\n    return TABLE\n"}, drop=[target], **options)
    compile(pruned["app.py"], "app.py", "exec")
    done = run(pruned.files, "import app\nRESULT = app.f()")
    assert done["raised"] == "", pruned["app.py"]
    return pruned["app.py"].split("\n\n\ndef f")[0], ast.literal_eval(done["result"])


TABLES: list[tuple[str, str, Any]] = [
    ('TABLE = {"hip": 1, "cuda": 2}', '{"cuda": 2}', {"cuda": 2}),
    ('TABLE = {"cuda": 2, "hip": 1}', '{"cuda": 2}', {"cuda": 2}),
    ('TABLE = {"cuda": 2, "hip": 1,}', None, {"cuda": 2}),
    ('TABLE = {"cuda": 2, "hip": (1)}', None, {"cuda": 2}),
    ('TABLE = {"hip": (1), "cuda": (2)}', None, {"cuda": 2}),
    ('TABLE = {"hip": 1}', "{}", {}),
    ('TABLE = {"hip": 1,}', "{}", {}),
    ('TABLE = {"a": 1, "hip": [1, {"x": (2)}], "b": 3}', '{"a": 1, "b": 3}', {"a": 1, "b": 3}),
    ('TABLE = {\n    "hip": 1,\n    "cuda": 2,\n}', '{\n    "cuda": 2,\n}', {"cuda": 2}),
    ('TABLE = {\n    "cuda": 2,\n    "hip": 1\n}', None, {"cuda": 2}),
    ('TABLE = {\n    # of cuda\n    "cuda": 2,\n    "hip": 1,  # of hip\n    # of npu\n    "npu": 3,\n}', '{\n    # of cuda\n    "cuda": 2,\n    # of npu\n    "npu": 3,\n}', {"cuda": 2, "npu": 3}),
    ('TABLE = {\n    "hip": (\n        "a"\n        "b"\n    ),\n    "cuda": 2,\n}', '{\n    "cuda": 2,\n}', {"cuda": 2}),
    ('TABLE = {\n    "hip": 1, "cuda": 2,\n    "npu": 3,\n}', None, {"cuda": 2, "npu": 3}),
    ('TABLE = {"hip": 1,\n         "cuda": 2}', None, {"cuda": 2}),
    ('TABLE = {"cuda": 2,\n         "hip": 1}', None, {"cuda": 2}),
    ('TABLE = {"hip": 1, **{"cuda": 2}}', '{**{"cuda": 2}}', {"cuda": 2}),
    ('TABLE = {**{"cuda": 2}, "hip": 1}', '{**{"cuda": 2}}', {"cuda": 2}),
    ('TABLE = {**{"hip": 2}}', '{**{}}', {}),
    ('TABLE = {"hip": 1, "hip": 2, "cuda": 3}', None, {"cuda": 3}),
    ('TABLE = {"cuda": {"hip": 1}}', '{"cuda": {"hip": 1}}', {"cuda": {"hip": 1}}),
    ('TABLE: dict = {"hip": 1, "cuda": 2}', '{"cuda": 2}', {"cuda": 2}),
    ('TABLE = ["hip", "cuda"]', '["cuda"]', ["cuda"]),
    ('TABLE = ["cuda", "hip"]', '["cuda"]', ["cuda"]),
    ('TABLE = [("hip"), ("cuda")]', None, ["cuda"]),
    ('TABLE = ["hip", *["cuda"]]', '[*["cuda"]]', ["cuda"]),
    ('TABLE = [*["cuda"], "hip", "npu"]', '[*["cuda"], "npu"]', ["cuda", "npu"]),
    ('TABLE = ["hip"]', "[]", []),
    ('TABLE = ["hip", "a", "hip"]', '["a"]', ["a"]),
    ('TABLE = [\n    "a",\n    "hip",  # gone\n    "b",  # stays\n]', '[\n    "a",\n    "b",  # stays\n]', ["a", "b"]),
    ('TABLE = {"hip", "cuda"}', '{"cuda"}', {"cuda"}),
    ('TABLE = ("hip", "cuda")', None, ("cuda",)),
    ('TABLE = ("cuda", "hip")', None, ("cuda",)),
    ('TABLE = ("cuda", "hip",)', None, ("cuda",)),
    ('TABLE = ("hip", "cuda",)', None, ("cuda",)),
    ('TABLE = (("cuda"), "hip")', None, ("cuda",)),
    ('TABLE = ("hip", ("cuda"))', None, ("cuda",)),
    ('TABLE = "hip", "cuda"', None, ("cuda",)),
    ('TABLE = "cuda", "hip"', None, ("cuda",)),
    ('TABLE = ("hip",)', None, ()),
    ('TABLE = "hip",', None, ()),
    ('TABLE = ("a", "hip", "b")', '("a", "b")', ("a", "b")),
    ('TABLE = (\n    "cuda",\n    "hip",\n)', None, ("cuda",)),
    ('TABLE = (\n    "hip",\n    "cuda",\n)', None, ("cuda",)),
    ('TABLE = (\n    "hip",\n    "cuda"\n)', None, ("cuda",)),
    ('TABLE = (\n    "cuda",  # c\n    "hip"  # h\n)', None, ("cuda",)),
    ('TABLE = OTHER = ["hip", "cuda"]', '["hip", "cuda"]', ["hip", "cuda"]),  # two names: left alone
]  # fmt: skip


@pytest.mark.parametrize(("text", "output", "value"), TABLES, ids=[t[0].replace("\n", "|") for t in TABLES])
def test_entries(text: str, output: str | None, value: Any) -> None:
    got, result = entries(text, "app.TABLE[hip]")
    assert result == value and type(result) is type(value), got
    if output is not None:
        assert got == text.split("=")[0] + ("= OTHER = " if "OTHER" in text else "= ") + output


def test_a_set_that_lost_everything_stays_a_set() -> None:
    """``{}`` is a dict."""
    pruned = prune({"app.py": 'TABLE = {"hip"}\n\n\ndef f():\n    return type(TABLE)\n'}, drop=["app.TABLE[hip]"])
    assert run(pruned.files, "import app\nRESULT = app.f()")["result"] == "<class 'set'>", pruned["app.py"]


def test_keys_as_written_and_other_types() -> None:
    assert entries("TABLE = {1: 'a', 2: 'b'}", "app.TABLE[1]")[1] == {2: "b"}
    assert entries("TABLE = {True: 'a', None: 'b', -1: 'c'}", "app.TABLE[None]")[1] == {True: "a", -1: "c"}
    text = "class K:\n    A = 'a'\n    B = 'b'\n\n\nTABLE = {K.A: 1, K.B: 2}"
    assert entries(text, "app.TABLE[K.A]")[1] == {"b": 2}


def test_wildcards_and_keep() -> None:
    text = 'TABLE = {"hip_a": 1, "hip_b": 2, "cuda": 3}'
    assert entries(text, "app.TABLE[hip_*]")[1] == {"cuda": 3}
    assert entries(text, "app.TABLE[*]", keep=["app.TABLE[cuda]"])[1] == {"cuda": 3}
    assert entries(text, "app.TABLE[hip_?]", keep=["app.TABLE[hip_b]"])[1] == {"hip_b": 2, "cuda": 3}


def test_only_the_named_table() -> None:
    text = 'OTHER = {"hip": 1}\n\n\ndef g():\n    TABLE = {"hip": 1, "cuda": 2}\n    return TABLE, OTHER\n'
    assert prune({"app.py": text}, drop=["app.g.TABLE[hip]"])["app.py"] == text.replace('"hip": 1, ', "")
    text = 'class A:\n    TABLE = ["hip", "cuda"]\n'
    assert '["cuda"]' in prune({"app.py": text}, drop=["app.A.TABLE[hip]"])["app.py"]


def test_what_only_the_entry_reached_goes() -> None:
    pruned = prune(
        {
            "app.py": "import amd\nimport gpu\n\nTABLE = {'hip': amd.make, 'cuda': gpu.make}\n\n\ndef f(k):\n    return TABLE[k]()\n",
            "amd.py": "def make():\n    return 1\n",
            "gpu.py": "def make():\n    return 2\n",
        },
        drop=["app.TABLE[hip]"],
        roots=["app:f"],
    )
    assert "amd.py" in pruned.removed and "amd" not in pruned["app.py"]
    assert run(pruned.files, "import app\nRESULT = app.f('cuda')\napp.f('hip')") == {
        "result": "2",
        "printed": "",
        "raised": "KeyError: 'hip'",
    }


# -- registrations ----------------------------------------------------------------------------------------------

REGISTRY = "TABLE = {}\nDEEP = None\n\n\ndef register(key, made=None):\n    def wrap(made):\n        TABLE[key] = made\n        return made\n    return wrap if made is None else wrap(made)\n\n\nclass Zoo:\n    animals = {}\n\n    @classmethod\n    def add(cls, key):\n        def wrap(made):\n            cls.animals[key] = made\n            return made\n        return wrap\n"
REGISTERED = [
    ("a function", "@register('hip')\ndef hip():\n    return 1\n", "registry.TABLE[hip]"),
    ("by the function's name", "@register('hip')\ndef hip():\n    return 1\n", "registry.register[hip]"),
    ("a class", "@register('hip')\nclass Hip:\n    pass\n", "registry.TABLE[hip]"),
    ("a call", "def hip():\n    return 1\n\n\nregister('hip', hip)\n", "registry.TABLE[hip]"),
    ("several decorators", "@register('cuda')\n@register('hip')\ndef both():\n    return 1\n", None),
    ("a method of a registry", "@registry.Zoo.add('hip')\ndef hip():\n    return 1\n", "registry.Zoo.animals[hip]"),
    ("through an alias", "import registry as r\n\n\n@r.register('hip')\ndef hip():\n    return 1\n", "registry.TABLE[hip]"),
    ("under a test", "import os\nif os.name:\n    @register('hip')\n    def hip():\n        return 1\n", "registry.TABLE[hip]"),
    ("with a comment above", "# Of hip.\n@register('hip')\ndef hip():\n    return 1\n", "registry.TABLE[hip]"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "target"), [r[1:] for r in REGISTERED if r[2]], ids=[r[0] for r in REGISTERED if r[2]]
)
def test_registrations(text: str, target: str) -> None:
    kinds = (
        f"import registry\nfrom registry import register\n\n\n{text}\n\n@register('cuda')\ndef cuda():\n    return 2\n"
    )
    app = (
        "import kinds\nimport registry\n\n\ndef f():\n    return sorted(registry.TABLE), sorted(registry.Zoo.animals)\n"
    )
    pruned = prune({"app.py": app, "kinds.py": kinds, "registry.py": REGISTRY}, drop=[target], roots=["app:f"])
    assert run(pruned.files, "import app\nRESULT = app.f()")["result"] == "(['cuda'], [])", pruned["kinds.py"]
    assert "hip" not in pruned["kinds.py"] and "def cuda" in pruned["kinds.py"]


# -- modules and names --------------------------------------------------------------------------------------------

SENTENCE = "this build was made without {} (rule drop.0, "


def ask(app: str, call: str = "app.f()", drop: str = "amd", **files: str) -> tuple[Pruned, dict[str, Any]]:
    """Drop the module ``amd`` and run what still asks for it."""
    pruned = prune({"app.py": app, "amd.py": "def g():\n    return 1\n\n\nclass K:\n    pass\n", **files}, drop=[drop])
    for name, data in pruned.files.items():
        compile(data, name, "exec")
    if drop == "amd":
        assert "amd.py" in pruned.removed
    return pruned, run(pruned.files, f"import app\nRESULT = {call}")


EAGER = [
    ("from", "from amd import g\n\n\ndef f(r=1):\n    return g() if r else 0\n", "amd.g"),
    ("renamed", "from amd import g as h\n\n\ndef f(r=1):\n    return h() if r else 0\n", "amd.g"),
    ("module", "import amd\n\n\ndef f(r=1):\n    return amd.g() if r else 0\n", "amd"),
    ("module renamed", "import amd as a\n\n\ndef f(r=1):\n    return a.g() if r else 0\n", "amd"),
    ("several", "from amd import K, g\n\n\ndef f(r=1):\n    return g() if r else isinstance(1, K) * 1\n", "amd.g"),
    ("several lines", "from amd import (\n    K,\n    g,\n)\n\n\ndef f(r=1):\n    return g() if r else isinstance(1, K) * 1\n", "amd.g"),
    ("semicolons", "import json; from amd import g; import math\n\n\ndef f(r=1):\n    return (g() if r else 0), json, math\n", "amd.g"),
    ("under a test", "import os\nif os.name:\n    from amd import g\n\n\ndef f(r=1):\n    return g() if r else 0\n", "amd.g"),
    ("one-line if", "import os\nif os.name: from amd import g\n\n\ndef f(r=1):\n    return g() if r else 0\n", "amd.g"),
    ("behind a future import", "from __future__ import annotations\nfrom amd import g\n\n\ndef f(r=1):\n    return g() if r else 0\n", "amd.g"),
    ("mixed with a kept module", "import amd, json\n\n\ndef f(r=1):\n    return amd.g() if r else json and 0\n", "amd"),
]  # fmt: skip


@pytest.mark.parametrize(("app", "name"), [e[1:] for e in EAGER], ids=[e[0] for e in EAGER])
def test_an_eager_import_of_something_dropped_becomes_a_stand_in(app: str, name: str) -> None:
    pruned, done = ask(app)
    assert done["raised"].startswith("RemovedByPrune: this build was made without amd"), (done, pruned["app.py"])
    assert "(rule drop.0, " in done["raised"]
    quiet = ask(app, "app.f(0)")[1]
    assert quiet["raised"] == "" and "0" in quiet["result"]  # nobody asks: nothing happens


def test_an_unread_import_of_something_dropped_goes() -> None:
    pruned, done = ask("from amd import g\nimport amd\n\n\ndef f():\n    return 1\n")
    assert done["result"] == "1" and pruned["app.py"].strip() == "def f():\n    return 1"


LAZY = [
    ("plain", "def f():\n    from amd import g\n    return g()\n"),
    ("module", "def f():\n    import amd\n    return amd.g()\n"),
    ("in an arm", "def f(r=1):\n    if r:\n        from amd import g\n        return g()\n    return 0\n"),
    ("one line", "def f(r=1):\n    if r: from amd import g; return g()\n    return 0\n"),
    ("in a method", "class A:\n    def m(self):\n        from amd import g\n        return g()\n\n\ndef f():\n    return A().m()\n"),
    ("relative", "def f():\n    from amd import K\n    return K()\n"),
    ("by name", "import importlib\n\n\ndef f():\n    return importlib.import_module('amd').g()\n"),
]  # fmt: skip


UNREAD = {
    "a name": ("from pkg.gone import made", "made()"),
    "the module": ("import pkg.gone", "pkg.gone.made()"),
    "the module of its package": ("from pkg import gone", "gone.made()"),
    "beside another": ("from pkg.gone import made\nfrom pkg.base import TABLE", "made()"),
}


@pytest.mark.parametrize("how", UNREAD)
@pytest.mark.parametrize("inside", ["", "TABLE.append('gone')\n"], ids=["defines", "acts"])
def test_an_unread_import_of_something_dropped_goes_although_its_package_does_something(how: str, inside: str) -> None:
    """Loading ``pkg`` loads ``pkg.base``, which fills a table; the import of the dropped module cannot stay for that."""
    statement, use = UNREAD[how]
    files = {
        "app.py": f"from plat import is_hip\n{statement}\n\n\ndef f():\n    if is_hip():\n        return {use}\n    return 'none'\n",
        "pkg/__init__.py": "from pkg.base import TABLE\n",
        "pkg/base.py": "TABLE = []\nTABLE.append('base')\n",
        "pkg/gone.py": f"from pkg.base import TABLE\n\n{inside}\n\ndef made():\n    return TABLE\n",
    }
    pruned = prune(files, drop=["pkg.gone"])
    assert pruned.findings == [] and "pkg/gone.py" not in pruned.files, pruned["app.py"]
    assert "gone" not in pruned["app.py"]
    assert run(pruned.files, "import app\nRESULT = app.f()")["result"] == "'none'"


@pytest.mark.parametrize("app", [e[1] for e in LAZY], ids=[e[0] for e in LAZY])
def test_a_lazy_import_of_something_dropped_says_so(app: str) -> None:
    pruned, done = ask(app)
    if "import_module" in app:
        assert done["raised"].startswith("ModuleNotFoundError")
    else:
        assert done["raised"].startswith("RemovedByPrune: this build was made without amd"), (done, pruned["app.py"])


def test_a_try_probe_of_something_dropped_takes_its_handler() -> None:
    for handler in ("ImportError", "Exception", "ModuleNotFoundError, ImportError"):
        for where in ("", "    "):
            body = f"try:\n    from amd import g\n    have = True\nexcept ({handler}):\n    have = False\n"
            text = (
                f"{body}\n\ndef f():\n    return have\n"
                if not where
                else "def f():\n" + "".join(f"    {x}\n" for x in body.splitlines()) + "    return have\n"
            )
            pruned, done = ask(text)
            assert done == {"result": "False", "printed": "", "raised": ""}, pruned["app.py"]


def test_a_stand_in_is_no_class_of_anything() -> None:
    app = "from amd import K\n\n\ndef f():\n    return isinstance(1, K), isinstance(K, type), issubclass(int, K), repr(K)[:6], {K: 1}[K], hasattr(K, '__wrapped__')\n"
    assert ask(app)[1]["result"] == "(False, True, False, '<class', 1, False)"


CATCHES = [
    "except K",
    "except (K, ValueError)",
    "except (ValueError, K)",
    "except (OSError, (K, KeyError))",
    "except* K",
]


@pytest.mark.parametrize("handler", CATCHES)
def test_an_exception_that_is_dropped_catches_nothing(handler: str) -> None:
    """A stand-in that is no exception ends whatever error passes its handler in a TypeError."""
    raised = "ExceptionGroup('g', [ValueError('v')])" if "*" in handler else "ValueError('v')"
    tail = "" if "*" in handler else "    except ValueError as error:\n        return str(error)\n"
    app = f"from amd import K\n\n\ndef f():\n    try:\n        raise {raised}\n    {handler} as error:\n        {'pass' if '*' in handler else 'return str(error)'}\n{tail}    return 0\n"
    files = {"app.py": app, "amd.py": "class K(Exception):\n    pass\n"}
    same_behaviour(prune(files, drop=["amd:K"], roots=["app:f"]), "import app\nRESULT = app.f()")


USES = ["K['a']", "'a' in K", "list(K)", "[*K]", "K.args", "K.with_traceback", "K.add_note", "K()", "K.x", "K.rule"]
USES += [
    "K + 1",
    "1 + K",
    "-K",
    "K @ 2",
    "K > 1",
    "1 > K",
    "K <= 1",
    "K % 2",
    "'%d' % K",
    "int(K)",
    "range(K)",
    "[1][K]",
    "len(K)",
]
USES += ["f'{K}'", "f'{K:3}'", "format(K)", "round(K)", "abs(K)", "divmod(K, 2)", "2 ** K", "K & 1", "reversed(K)"]


@pytest.mark.parametrize("use", USES)
def test_any_use_of_a_stand_in_is_the_sentence(use: str) -> None:
    done = ask(f"from amd import K\n\n\ndef f():\n    return {use}\n")[1]
    assert done["raised"].startswith("RemovedByPrune: this build was made without amd"), done
    assert ask("from amd import K\n\n\ndef f():\n    return bool(K)\n")[1]["result"] == "True"


def test_a_stand_in_is_a_type_among_types() -> None:
    """What annotations, tables and tests do with a class, they do with this one."""
    app = (
        "import typing\nfrom amd import K\n\nT = K | None\n\n\ndef g(x: K | int = 1, y: 'typing.Optional[K]' = None) -> typing.Union[K, str]:\n"
        "    return [x]\n\n\ndef f():\n    return g(), K == 1, K != 1, K in (1, K), {K}.__len__(), len(typing.get_type_hints(g)), isinstance(2, T)\n"
    )
    assert ask(app)[1] == {"result": "([1], False, True, True, 1, 3, False)", "printed": "", "raised": ""}


def test_a_class_below_one_that_is_gone_says_so_too() -> None:
    """``class L(K)`` was a KeyError of the generated module's own."""
    app = "from amd import K\n\n\nclass L(K):\n    pass\n\n\ndef f():\n    return L()\n"
    assert ask(app)[1]["raised"].startswith("RemovedByPrune: this build was made without ")


def test_a_base_class_that_is_dropped_is_a_finding() -> None:
    pruned, _ = ask("from amd import K\n\n\nclass L(K):\n    pass\n\n\ndef f():\n    return L\n", call="0")
    assert "PR220" in pruned.findings


DECORATORS = ["@K", "@K.register", "@K('x')", "@K(key=f0)", "@K.register(f0)('x')"]


@pytest.mark.parametrize("decorator", DECORATORS)
@pytest.mark.parametrize("what", ["def g(x):\n    return x", "class G:\n    pass"])
def test_a_decorator_that_is_dropped_is_a_finding(decorator: str, what: str) -> None:
    """The module could not even be imported, and nothing said so."""
    app = f"from amd import K\n\n\ndef f0():\n    pass\n\n\n{decorator}\n{what}\n\n\ndef f():\n    return 1\n"
    files = {"app.py": app, "amd.py": "class K:\n    pass\n"}
    assert "PR220" in prune(files, drop=["amd"]).findings


def test_the_finding_says_where_and_which_rule() -> None:
    files = {"app.py": "import amd\n\n\ndef f():\n    return amd.K\n", "amd.py": "class K:\n    pass\n"}
    pruned = prune(files, drop=["amd:K"], roots=["app:f", "amd:K"])
    used, asked = (f for f in pruned.outcome.findings if f.code == "PR220")
    assert (used.path, used.line) == ("app.py", 5)
    assert re.fullmatch(r"live code uses amd:K, which rule [\w.-]+ \([\w.]+:\d+\) drops", used.text), used.text
    assert (
        asked.path.endswith(".yaml")
        and asked.line
        and re.match(r"rule [\w.-]+ asks for amd:K, which rule ", asked.text)
    )


def test_a_dropped_symbol() -> None:
    kit = "def keep():\n    return 1\n\n\n# Of g.\ndef g():\n    return only()\n\n\ndef only():\n    return 2\n"
    app = "import kit\nfrom kit import g\n\n\ndef f(r=1):\n    return g() if r else kit.keep()\n"
    pruned = prune({"app.py": app, "kit.py": kit}, drop=["kit:g"], roots=["app:f"])
    assert pruned["kit.py"].strip() == "def keep():\n    return 1"
    assert run(pruned.files, "import app\nRESULT = app.f(0)\napp.f()")["raised"].startswith(
        "RemovedByPrune: this build was made without kit:g"
    )


def test_drop_of_a_submodule_leaves_its_package() -> None:
    files = {
        "app.py": "import pkg.gpu\nimport pkg.amd\n\n\ndef f(r=0):\n    return pkg.amd.g() if r else pkg.gpu.g()\n",
        "pkg/__init__.py": "",
        "pkg/gpu.py": "def g():\n    return 1\n",
        "pkg/amd.py": "def g():\n    return 2\n",
    }
    for order in (
        files["app.py"],
        files["app.py"].replace("import pkg.gpu\nimport pkg.amd", "import pkg.amd\nimport pkg.gpu"),
    ):
        pruned = prune({**files, "app.py": order}, drop=["pkg.amd"])
        assert run(pruned.files, "import app\nRESULT = app.f()")["result"] == "1", pruned["app.py"]
        assert "pkg/amd.py" in pruned.removed


def test_the_guard_of_a_package_lives_beside_the_modules_without_one() -> None:
    pruned, _ = ask("def f():\n    from amd import g\n    return g()\n")
    assert "_prune_guard.py" in pruned.files


def test_keep_wins_over_drop() -> None:
    files = {
        "app.py": "import zoo.a\n\n\ndef f():\n    return zoo.a.X\n",
        "zoo/__init__.py": "",
        "zoo/a.py": "X = 1\n",
        "zoo/b.py": "Y = 2\n",
    }
    pruned = prune(files, drop=["zoo.*"], keep=["zoo.a"])
    assert "zoo/b.py" in pruned.removed and pruned["zoo/a.py"] == "X = 1\n" and not pruned.findings


def test_dropped_files() -> None:
    pruned = prune({"app.py": "X = 1\n", "data/a.hip": "x", "data/b.cu": "y"}, drop=["path:data/*.hip"])
    assert "data/a.hip" in pruned.removed and "data/b.cu" not in pruned.removed


def test_a_rule_that_matches_nothing_is_a_finding() -> None:
    assert "PR012" in prune({"app.py": "X = 1\n"}, drop=["nothere"]).findings
    assert "PR012" in prune({"app.py": "T = {1: 2}\n"}, drop=["app.T[nothere]"]).findings
    assert "PR012" in prune({"app.py": "T = {1: 2}\n"}, roots=["app", "nothere"], keep=["absent:thing"]).findings


TAB = {"app.py": "def main():\n    return 1\n", "tab.py": "from more import *\n\nT = {1: 2}\n", "more.py": "x = 1\n"}


@pytest.mark.parametrize(
    ("name", "there"),
    [("nothing", False), ("T", True), ("x", True), ("K.m", False), ("__doc__", True)],
)
@pytest.mark.parametrize("text", ["", "from outside import *\n", "def __getattr__(n):\n    return n\n"])
def test_a_keep_of_a_name_that_its_module_lacks(name: str, there: bool, text: str) -> None:
    """A star of an outside package and a module's ``__getattr__`` may bring any name."""
    files = {**TAB, "tab.py": TAB["tab.py"] + text}
    result = prune(files, roots=["app:main"], keep=[f"tab:{name}"])
    assert ("PR012" in result.findings) == (not there and not text)
    assert "tab.py" in result.files


# -- members of classes ---------------------------------------------------------------------------------------------

MODES = """\
from enum import Enum, Flag, auto
from plat import is_cuda


class Mode(Enum):
    EAGER = {a}
    HIP = {b}
    GRAPH = {c}
    LAZY = {d}


def f(value):
    mode = Mode(value)
    if mode is Mode.HIP:
        return "hip"
    return mode.name, "hip" if Mode.HIP == mode or mode != Mode.HIP and is_cuda() is False else mode.value
"""


@pytest.mark.parametrize(
    "values", [(1, 2, 3, 4), ("auto()",) * 4, (1, "auto()", "auto()", "auto()"), ("auto()", 7, "auto()", 3)]
)
@pytest.mark.parametrize("base", ["Enum", "Flag"])
def test_a_dropped_member_of_an_enum_renumbers_nothing(values: tuple[Any, ...], base: str) -> None:
    text = MODES.format(**dict(zip("abcd", values, strict=True))).replace("Mode(Enum)", f"Mode({base})")
    pruned = prune({"app.py": text}, drop=["app:Mode.HIP"], roots=["app:f"])
    assert "HIP" not in pruned["app.py"] and '"hip"' not in pruned["app.py"] and pruned.findings == []
    driver = "import app\nRESULT = [m.value for m in app.Mode if m.name != 'HIP'], app.f(app.Mode.LAZY.value)"
    assert run(pruned.files, driver) == run(pruned.before, driver), pruned["app.py"]


def test_a_dropped_member_that_is_read_is_a_finding() -> None:
    text = "class Mode:\n    HIP = 1\n    CUDA = 2\n\n\ndef f():\n    return Mode.HIP\n"
    pruned = prune({"app.py": text}, drop=["app:Mode.HIP"])
    assert pruned.findings == ["PR220"] and "HIP = 1" not in pruned["app.py"]


def test_a_dropped_method_goes_with_what_it_reached() -> None:
    text = "import amd\n\n\nclass Op:\n    def hip(self):\n        return amd.run()\n\n    def cuda(self):\n        return 1\n\n\ndef f(kind='cuda'):\n    return getattr(Op(), kind)()\n"
    pruned = prune({"app.py": text, "amd.py": "def run():\n    return 2\n"}, drop=["app:Op.hip"])
    assert "amd.py" in pruned.removed and "hip" not in pruned["app.py"] and pruned.findings == []
    assert run(pruned.files, "import app\nRESULT = app.f()")["result"] == "1"
    only = prune({"app.py": "class Op:\n    def hip(self):\n        return 1\n"}, drop=["app:Op.hip"])
    assert "class Op:\n    pass\n" in only["app.py"]


def test_keep_wins_and_a_member_that_is_not_there_matches_nothing() -> None:
    text = "class Op:\n    def hip(self):\n        return 1\n"
    assert "hip" in prune({"app.py": text}, drop=["app:Op.hip"], keep=["app:Op.hip"])["app.py"]
    assert prune({"app.py": text}, drop=["app:Op.rocm"]).findings == ["PR012"]


CALLED = {
    "by name": ("from opt import use\n\n\n", "use()"),
    "of the module": ("import opt\n\n\n", "opt.use()"),
    "imported there": ("", "from opt import use\n    use()"),
    "under another name": ("from opt import use as asks\n\n\n", "asks()"),
    "through a package": ("from pack import use\n\n\n", "use()"),
    "in an arm": ("from opt import use\n\n\n", "if r:\n        use()"),
    "with an argument": ("from opt import uses\n\n\n", "uses(r)"),
}


@pytest.mark.parametrize("how", CALLED)
@pytest.mark.parametrize("dropped", ["opt", "opt:use", ""])
def test_a_call_for_its_own_sake_of_something_dropped_whose_value_is_stated(
    how: str, dropped: str, tmp_path: Path
) -> None:
    """``use_mlx()`` at every start, of a module that a rule drops: the fact says that it answers, so nothing is left to ask."""
    head, call = CALLED[how]
    if "uses" in call and dropped == "opt:use":
        dropped = "opt:uses"
    files = {
        "app.py": f"{head}def check(r):\n    {call}\n\n\ndef f():\n    check(1)\n    return 1\n",
        "opt.py": "import os\n\n\ndef use():\n    return 'MLX' in os.environ\n\n\ndef uses(x):\n    return False\n",
        "pack.py": "from opt import use\n",
    }
    facts = {"opt.use()": False, "opt.uses(...)": False}
    drop = [dropped] if dropped else []
    pure = ["opt.use", "opt.uses"]
    pruned = prune(files, facts=facts, drop=drop, pure=pure)
    assert pruned.findings == []
    assert run(pruned.files, "import app\nRESULT = app.f()") == {"result": "1", "printed": "", "raised": ""}
    assert ("use" in pruned["app.py"]) == (not dropped)  # what is there is still called
    told = prune(files, facts={}, drop=drop, pure=pure)  # without the fact it is missed
    assert bool(run(told.files, "import app\nRESULT = app.f()")["raised"]) == bool(dropped)
    assert judged(pruned.files, pruned.before, rules_text(facts, ["app"], drop, (), pure), tmp_path, "fold") == "passed"
