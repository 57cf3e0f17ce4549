"""A fact that a store of live code may break folds nothing, and the run says where."""

from __future__ import annotations

from typing import Any

import pytest

from tests.engine.program import Pruned, prune

CONF = """\
import dataclasses


class Base:
    pass


@dataclasses.dataclass
class Args(Base):
    device: str = "cuda"

    def __init__(self):
        self.level = "fast"


class More(Args):
    pass


class Other:
    device: str = "cuda"


args = Args()
MODE = find()
TABLE = {"kind": "a"}


def get():
    return args
"""
READ = "import os, torch\nimport conf\nfrom plat import is_hip\n\n\ndef read():\n    return 1 if {test} else 2\n\n\n"

VARIABLE = ({"conf.MODE": ["cuda"]}, "conf.MODE == 'hip'")
ATTRIBUTE = ({"conf.args.device": ["cuda"]}, "conf.args.device == 'hip'")
GOTTEN = ({"conf.get().device": ["cuda"]}, "conf.get().device == 'hip'")
ENVIRONMENT = ({"os.environ.get('A_KEY', '0')": ["0"]}, "os.environ.get('A_KEY', '0') == '1'")
HELPER = ({"conf.flag('A_KEY')": False}, "conf.flag('A_KEY')")
CELL = ({"conf.envs.A_KEY.get()": False}, "conf.envs.A_KEY.get()")
ITEM = ({"conf.TABLE['kind']": ["a"]}, "conf.TABLE['kind'] == 'b'")
PROBE = ({"hasattr(torch, 'npu')": False}, "hasattr(torch, 'npu')")
CALL = ({"conf.get()": None}, "conf.get() is not None")

# what | fact and test | statements of a live function | does it break the fact?
STORES: list[tuple[str, tuple[dict[str, Any], str], str, bool]] = [
    ("nothing", VARIABLE, "pass", False),
    ("assignment", VARIABLE, "conf.MODE = v", True),
    ("a value of the set", VARIABLE, "conf.MODE = 'cuda'", False),
    ("a value outside the set", VARIABLE, "conf.MODE = 'hip'", True),
    ("in a dead branch", VARIABLE, "if is_hip():\n        conf.MODE = v", False),
    ("augmented", VARIABLE, "conf.MODE += v", True),
    ("setattr with a constant name", VARIABLE, "setattr(conf, 'MODE', v)", True),
    ("setattr with another name", VARIABLE, "setattr(conf, 'MADE', v)", False),
    ("setattr with a computed name", VARIABLE, "setattr(conf, v, v)", True),
    ("deleted", VARIABLE, "del conf.MODE", True),
    ("through a local import", VARIABLE, "import conf as c\n    c.MODE = v", True),
    ("of another module", VARIABLE, "os.MODE = v", False),
    ("a local of the name", VARIABLE, "MODE = v", False),
    ("patch.object", VARIABLE, "mock.patch.object(conf, 'MODE', v)", True),
    ("its __dict__", VARIABLE, "conf.__dict__['MODE'] = v", True),
    ("a loop's target", VARIABLE, "for conf.MODE in v:\n        pass", True),
    ("assignment of an attribute", ATTRIBUTE, "v.device = v", True),
    ("a compatible one", ATTRIBUTE, "v.device = 'cuda'", False),
    ("of the object itself", ATTRIBUTE, "conf.args.device = 'hip'", True),
    ("setattr of an attribute", ATTRIBUTE, "setattr(v, 'device', 'hip')", True),
    ("dataclasses.replace", ATTRIBUTE, "dataclasses.replace(v, device='hip')", True),
    ("a local that passes it on", ATTRIBUTE, "device = v.device\n    dataclasses.replace(v, device=device)", False),
    (
        "a local that holds something else too",
        ATTRIBUTE,
        "device = v.device; device = v\n    dataclasses.replace(v, device=device)",
        True,
    ),
    (
        "a local that a comprehension stores into",
        ATTRIBUTE,
        "device = v.device; [device := x for x in v]\n    dataclasses.replace(v, device=device)",
        True,
    ),
    ("another attribute", ATTRIBUTE, "v.level = 'hip'", False),
    ("of what a call gives", GOTTEN, "v.device = v", True),
    ("unpacked into", ATTRIBUTE, "v.device, v.x = v", True),
    ("unpacked into, deep", ATTRIBUTE, "(v.w.x, v.w.device) = v", True),
    ("unpacked into, over lines", ATTRIBUTE, "(\n        v.x,\n        v.device,\n        v.y,\n    ) = v", True),
    ("at the end of a chain", ATTRIBUTE, "v.w.device = v", True),
    ("after a backslash", ATTRIBUTE, "v.device \\\n        = v", True),
    ("annotated with a call", ATTRIBUTE, "v.device: Doc('x') = v", True),
    ("annotated over lines", ATTRIBUTE, "v.device: Union[\n        int,\n        str,\n    ] = v", True),
    ("a loop's second target", ATTRIBUTE, "for x, v.w.device in v:\n        pass", True),
    ("a comprehension's target", ATTRIBUTE, "return [0 for v.device in v]", True),
    ("a with target in a list", ATTRIBUTE, "with v as (v.x, v.device):\n        pass", True),
    ("deleted after another", ATTRIBUTE, "del v.x, v.w.device", True),
    ("a with target", ATTRIBUTE, "with v as v.device:\n        pass", True),
    ("environ[...]", ENVIRONMENT, "os.environ['A_KEY'] = '1'", True),
    ("environ[...], compatible", ENVIRONMENT, "os.environ['A_KEY'] = '0'", False),
    ("environ[...], another key", ENVIRONMENT, "os.environ['B_KEY'] = '1'", False),
    ("environ[...], computed", ENVIRONMENT, "os.environ[v] = '1'", False),
    (
        "environ[...], computed, of keys that are said",
        ENVIRONMENT,
        "for k in ('A_KEY', 'B'):\n        os.environ[k] = '1'",
        True,
    ),
    ("a helper that stores", ENVIRONMENT, "put('A_KEY', v)\n    os.environ[v] = v", True),
    ("a helper that reads", ENVIRONMENT, "ask('A_KEY')\n    os.environ[v] = v", False),
    ("environ[...], dead", ENVIRONMENT, "if is_hip():\n        os.environ['A_KEY'] = '1'", False),
    ("setdefault", ENVIRONMENT, "os.environ.setdefault('A_KEY', v)", True),
    ("update by keyword", ENVIRONMENT, "os.environ.update(A_KEY='1')", True),
    ("update by mapping", ENVIRONMENT, "os.environ.update({'A_KEY': '1'})", True),
    ("update by another mapping", ENVIRONMENT, "os.environ.update({'B_KEY': '1'})", False),
    ("update by who knows", ENVIRONMENT, "os.environ.update(v)", False),
    ("update by what is said", ENVIRONMENT, "os.environ.update(dict(A_KEY=v))", True),
    ("putenv", ENVIRONMENT, "os.putenv('A_KEY', '1')", True),
    ("deleted, and the default fits", ENVIRONMENT, "del os.environ['A_KEY']", False),
    ("popped, and the default fits", ENVIRONMENT, "os.environ.pop('A_KEY', None)", False),
    ("|=", ENVIRONMENT, "os.environ |= {'A_KEY': '1'}", True),
    ("patch.dict", ENVIRONMENT, "mock.patch.dict(os.environ, {'A_KEY': '1'})", True),
    ("a child's environment", ENVIRONMENT, "v['A_KEY'] = '1'", True),
    ("a child's environment, displayed", ENVIRONMENT, "run(v, env={**os.environ, 'A_KEY': '1'})", True),
    ("a child's environment, displayed, compatible", ENVIRONMENT, "run(v, env={**os.environ, 'A_KEY': '0'})", False),
    ("a child's environment, updated", ENVIRONMENT, "v.update({'A_KEY': '1'})", True),
    ("a child's environment, by keyword", ENVIRONMENT, "v = dict(os.environ, A_KEY='1')", True),
    ("read by a helper", HELPER, "os.environ['A_KEY'] = '1'", True),
    ("read by a helper, off", HELPER, "os.environ['A_KEY'] = 'false'", False),
    ("a cell", CELL, "conf.envs.A_KEY.set(True)", True),
    ("a cell, compatible", CELL, "conf.envs.A_KEY.set(False)", False),
    ("a cell's variable", CELL, "os.environ['A_KEY'] = '1'", True),
    ("another cell", CELL, "conf.envs.B_KEY.set(True)", False),
    ("an item", ITEM, "conf.TABLE['kind'] = 'b'", True),
    ("an item, compatible", ITEM, "conf.TABLE['kind'] = 'a'", False),
    ("an item, computed", ITEM, "conf.TABLE[v] = 'b'", True),
    ("another table's computed item", ITEM, "v[v] = 'b'", False),
    ("a probe", PROBE, "torch.npu = v", True),
    ("a probe, deleted", PROBE, "del torch.npu", False),
    ("a function replaced", CALL, "conf.get = v", True),
]


def pruned(fact: tuple[dict[str, Any], str], files: dict[str, str]) -> Pruned:
    facts = {**fact[0], "is_hip()": False}
    app = READ.format(test=fact[1]) + files.get("app.py", "")
    tree = {"conf.py": CONF, **files, "app.py": app}
    return prune(tree, facts=facts, roots=["app", "conf"])


def verdict(result: Pruned) -> tuple[bool, bool]:
    """(is the test folded, is a fact rejected)."""
    head = result["app.py"].split("def read")[1].split("\n\n\n")[0]
    return " if " not in head, "PR221" in result.findings


@pytest.mark.parametrize(("fact", "body", "breaks"), [row[1:] for row in STORES], ids=[row[0] for row in STORES])
def test_a_store_in_live_code(fact: tuple[dict[str, Any], str], body: str, breaks: bool) -> None:
    result = pruned(fact, {"app.py": f"def store(v):\n    {body}\n"})
    assert verdict(result) == ((False, True) if breaks else (True, False))
    if breaks:
        (finding,) = result.outcome.findings
        assert "app.py:11 " in finding.text or "app.py:12 " in finding.text


# what | fact and test | text added to conf.py | does it break the fact?
OWN: list[tuple[str, tuple[dict[str, Any], str], str, bool]] = [
    ("global in a function", VARIABLE, "def f(v):\n    global MODE\n    MODE = v\n", True),
    ("global, compatible", VARIABLE, "def f(v):\n    global MODE\n    MODE = 'cuda'\n", False),
    ("a local", VARIABLE, "def f(v):\n    MODE = v\n", False),
    ("a walrus on a global", VARIABLE, "def f(v):\n    global MODE\n    return (MODE := v)\n", True),
    ("globals()", VARIABLE, "def f(v):\n    globals()['MODE'] = v\n", True),
    ("a literal that says otherwise", VARIABLE, "MODE = 'hip'\n", True),
    ("a literal under a test", VARIABLE, "if find():\n    MODE = 'hip'\n", False),
    ("self of the class", ATTRIBUTE, "class Deep(Args):\n    def f(self, v):\n        self.device = v\n", True),
    ("self of its base", ATTRIBUTE, "class Base:\n    def f(self, v):\n        self.device = v\n", True),
    ("self of a stranger", ATTRIBUTE, "class Far(Other):\n    def f(self, v):\n        self.device = v\n", False),
    ("self, computed", ATTRIBUTE, "class Deep(Args):\n    def f(self, k, v):\n        setattr(self, k, v)\n", True),
    ("a stranger's self, computed", ATTRIBUTE, "class Far(Other):\n    def f(self, k, v):\n        setattr(self, k, v)\n", False),
    ("object.__setattr__", ATTRIBUTE, "class Deep(Args):\n    def f(self, v):\n        object.__setattr__(self, 'device', v)\n", True),
    ("a function defined again", CALL, "def f():\n    global get\n    def get():\n        return 1\n", True),
]  # fmt: skip


@pytest.mark.parametrize(("fact", "text", "breaks"), [row[1:] for row in OWN], ids=[row[0] for row in OWN])
def test_a_store_in_the_defining_module(fact: tuple[dict[str, Any], str], text: str, breaks: bool) -> None:
    result = pruned(fact, {"conf.py": f"{CONF}\n\n{text}"})
    assert verdict(result) == ((False, True) if breaks else (True, False))


def test_a_store_that_a_lost_fact_brings_to_life_breaks_the_next_one() -> None:
    """Without ``first`` the branch is open again, and its store breaks ``second``."""
    conf = "first = find()\nsecond = find()\n"
    app = (
        "import conf\n\n\ndef f(v):\n    conf.first = v\n    if conf.first:\n        conf.second = v\n"
        "    return 1 if conf.second else 2\n"
    )
    result = prune({"conf.py": conf, "app.py": app}, facts={"conf.first": False, "conf.second": False})
    assert result["app.py"] == app
    assert result.findings == ["PR221", "PR221"]
    result = prune(
        {"conf.py": conf, "app.py": app.replace("first = v", "third = v")},
        facts={"conf.first": False, "conf.second": False},
    )
    assert "second" not in result["app.py"] and not result.findings


def test_records_tell_each_store_and_its_standing() -> None:
    app = "def g(v):\n    conf.MODE = 'cuda'\n    if is_hip():\n        conf.MODE = v\n"
    result = pruned(VARIABLE, {"app.py": app})
    (record,) = [r for r in result.outcome.facts if r.subject == "conf.MODE"]
    assert (record.status, record.readers) == ("admitted", ("app", "conf"))
    assert [(s.path, s.line, s.standing) for s in record.stores] == [
        ("app.py", 11, "compatible"),
        ("app.py", 13, "removed"),
        ("conf.py", 25, "definition"),
    ]


def test_a_fact_that_nobody_asks_for_says_so() -> None:
    result = prune({"app.py": "X = 1\n", "conf.py": CONF}, facts={"conf.MODE": ["cuda"]})
    assert [r.status for r in result.outcome.facts] == ["not asked"]


def test_a_fact_from_a_point_on_folds_nothing_and_says_so() -> None:
    rules = (
        "rules:\n  - {id: a, because: So., assume: {conf.args.device: {values: cuda, valid_from: conf.get()}}}\n"
        "  - {id: b, because: So., root: [app]}\n"
    )
    app = READ.format(test="conf.args.device == 'hip'").replace("from plat import is_hip\n", "")
    result = prune({"conf.py": CONF, "app.py": app}, rules=rules)
    assert "if conf.args.device" in result["app.py"] and "PR222" in result.findings


def test_a_fact_that_only_its_own_module_asks_for_is_judged_as_well() -> None:
    lamp = "COLOUR = find()\n\n\ndef set_colour(name):\n    global COLOUR\n    COLOUR = name\n\n\n"
    lamp += "def shine():\n    return 1 if COLOUR == 'red' else 2\n"
    result = prune({"app.py": lamp}, facts={"app.COLOUR": ["red"]})
    assert result["app.py"] == lamp and result.findings == ["PR221"]


def test_each_fact_says_how_many_places_it_folded() -> None:
    app = "from plat import is_hip, is_npu\n\n\ndef f(x):\n    if is_hip():\n        return 1\n    if is_hip() and x:\n"
    app += "        return 2\n    if is_hip() or is_npu():\n        return 3\n    return 4 if is_npu() else 5\n"
    plat = "def is_hip():\n    return probe()\n\n\ndef is_npu():\n    return probe()\n\n\ndef is_xpu():\n    return probe()\n"
    rules = "rules:\n  - {id: a, because: So., root: [app]}\n  - id: b\n    because: So.\n"
    rules += "    assume: {plat.is_hip(): false, plat.is_npu(): false, plat.is_xpu(): false}\n"
    result = prune({"app.py": app, "plat.py": plat}, rules=rules)
    assert {r.subject: (r.status, r.folds) for r in result.outcome.facts} == {
        "plat.is_hip()": ("admitted", 3),
        "plat.is_npu()": ("admitted", 2),
        "plat.is_xpu()": ("not asked", 0),
    }
    assert result.outcome.folds == {"b": 4}


def test_a_fact_from_a_point_on_is_guarded_where_its_class_can_be_asked() -> None:
    conf = "class Args:\n    def __init__(self):\n        self.device = None\n\n    def resolve(self):\n        self.device = find()\n"
    rules = "rules:\n  - {id: a, because: So., root: [conf]}\n  - id: b\n    because: So.\n"
    rules += "    assume: {conf.Args.device: {values: cuda, valid_from: conf.Args.resolve()}}\n"
    result = prune({"conf.py": conf}, rules=rules)
    assert [r.status for r in result.outcome.facts] == ["guarded"] and "PR222" not in result.findings
    assert "_prune_guard" in result["conf.py"]


LAMP = """\
import dataclasses


@dataclasses.dataclass
class Lamp:
    red: bool = False

    def __post_init__(self):
        self.lit = True

    @classmethod
    def of(cls, row):
        return cls(**row)


@dataclasses.dataclass
class Room:
    red: bool = False


def paint(row):
    lamp = Lamp.of(row)
    return lamp, Room(red=lamp.red)


def show(thing):
    return 1 if thing.red else 2


def f(row):
    lamp, room = paint(row)
    return show(lamp) + show(room)
"""
ASKED = """
  - id: g
    because: It is asked when it is made.
    guard: {at: "app:Lamp.__post_init__", where: after, of: self, ask: {red: {fact: app.Lamp.red}}}
"""


@pytest.mark.parametrize(
    ("app", "guard", "folds"),
    [
        (LAMP, ASKED, True),
        (LAMP, "", False),
        (LAMP.replace("Room(red=lamp.red)", "Room(red=row['red'])"), ASKED, False),
    ],
    ids=["a guard looks at what the class is given", "nobody looks", "another object is given something else"],
)
def test_what_a_guard_looks_at(app: str, guard: str, folds: bool) -> None:
    rules = "rules:\n  - {id: r, because: So., root: ['app:f']}\n"
    rules += "  - {id: a, because: So., assume: {app.Lamp.red: false, app.Room.red: false}}\n" + guard
    result = prune({"app.py": app}, rules=rules)
    assert ("if thing.red" not in result["app.py"]) is folds, result["app.py"]
    assert bool(result.findings) is not folds


# class | what is made of it with `**options` | does that break the fact?
MADE = [
    ("class Args:\n    def __init__(self, other=None):\n        self.other = other\n    flag = False\n", "Args(**options)", False),
    ("class Args:\n    def __init__(self, other=None):\n        pass\n    @property\n    def flag(self):\n        return False\n",
     "Args(**options)", False),
    ("class Args:\n    @property\n    def flag(self):\n        return False\n", "Args(**options)", False),
    ("import dataclasses\n@dataclasses.dataclass\nclass Args:\n    flag: bool = False\n", "Args(**options)", True),
    ("import dataclasses\n@dataclasses.dataclass\nclass Args:\n    flag: bool = False\n", "Args(other=v)", False),
]  # fmt: skip


@pytest.mark.parametrize(("made", "call", "breaks"), MADE)
def test_what_a_constructor_takes_is_read_from_the_class(made: str, call: str, breaks: bool) -> None:
    """The class's file stores nothing, so that nothing in its text looks like a store."""
    app = f"import conf\n\n\ndef f(v, options):\n    it = conf.{call}\n    return 1 if it.flag else 2\n"
    files = {"conf.py": made, "app.py": app + "\n\ndef g(it: conf.Args):\n    return 3 if conf.Args.flag else 4\n"}
    result = prune(files, facts={"conf.Args.flag": False})
    assert bool(result.findings) is breaks
