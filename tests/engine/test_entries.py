"""Entries of tables in every form that they are written in: taken out, judged, refused where no edit is safe."""

from __future__ import annotations

import builtins
import re
from collections import OrderedDict, defaultdict, deque
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from pruner.verify import run as verify
from tests.engine.program import Pruned, prune, run, same_behaviour

HEAD = """\
import collections
from collections import OrderedDict, defaultdict, deque
from types import MappingProxyType
from typing import Annotated, Literal, Optional, Union

BASE = {'base': 0}
MORE = ['more']
"""
# Each puts `hip` and `cuda` into TABLE; what is left when `hip` goes.
FORMS = [
    ("TABLE = {**BASE, 'hip': 1, 'cuda': 2}", "TABLE = {**BASE, 'cuda': 2}"),
    ("TABLE = {**{'hip': 1}, 'cuda': 2}", "TABLE = {**{}, 'cuda': 2}"),
    ("TABLE = dict(hip=1, cuda=2)", "TABLE = dict(cuda=2)"),
    ("TABLE = dict(BASE, cuda=2, hip=1)", "TABLE = dict(BASE, cuda=2)"),
    ("TABLE = dict({'hip': 1}, cuda=2)", "TABLE = dict({}, cuda=2)"),
    ("TABLE = dict(\n    hip=1,\n    cuda=2,\n)", "TABLE = dict(\n    cuda=2,\n)"),
    ("TABLE = (dict)(hip=1, cuda=2)", "TABLE = (dict)(cuda=2)"),
    ("TABLE = dict([('hip', 1), ('cuda', 2)])", "TABLE = dict([('cuda', 2)])"),
    ("TABLE = dict((('cuda', 2), ('hip', 1)))", "TABLE = dict((('cuda', 2),))"),
    ("TABLE = dict.fromkeys(['hip', 'cuda'], 0)", "TABLE = dict.fromkeys(['cuda'], 0)"),
    ("TABLE = OrderedDict([('cuda', 2), ('hip', 1)])", "TABLE = OrderedDict([('cuda', 2)])"),
    ("TABLE = collections.OrderedDict(hip=1, cuda=2)", "TABLE = collections.OrderedDict(cuda=2)"),
    ("TABLE = MappingProxyType({'hip': 1, 'cuda': 2})", "TABLE = MappingProxyType({'cuda': 2})"),
    ("TABLE = defaultdict(list, {'hip': 1, 'cuda': 2})", "TABLE = defaultdict(list, {'cuda': 2})"),
    ("TABLE = defaultdict(list, hip=1, cuda=2)", "TABLE = defaultdict(list, cuda=2)"),
    ("TABLE = defaultdict(\n    list,\n    {\n        'hip': 1,\n    },\n    cuda=2,\n)", "TABLE = defaultdict(\n    list,\n    {\n    },\n    cuda=2,\n)"),
    ("TABLE = {}\nTABLE['hip'] = 1\nTABLE['cuda'] = 2", "TABLE = {}\nTABLE['cuda'] = 2"),
    ("TABLE = {}\nTABLE['hip']: int = 1\nTABLE['cuda']: int = 2", "TABLE = {}\nTABLE['cuda']: int = 2"),
    ("TABLE = {}\nTABLE.setdefault('hip', 1)\nTABLE.setdefault('cuda', [])", "TABLE = {}\nTABLE.setdefault('cuda', [])"),
    ("TABLE = {}\nTABLE.update({'hip': 1, 'cuda': 2})", "TABLE = {}\nTABLE.update({'cuda': 2})"),
    ("TABLE = {'cuda': 2}\nTABLE.update({'hip': 1})", "TABLE = {'cuda': 2}"),
    ("TABLE = {}\nTABLE.update(hip=1, cuda=2)", "TABLE = {}\nTABLE.update(cuda=2)"),
    ("TABLE = {}\nTABLE.update(BASE, hip=1, cuda=2)", "TABLE = {}\nTABLE.update(BASE, cuda=2)"),
    ("TABLE = {}\nTABLE.update([('hip', 1), ('cuda', 2)])", "TABLE = {}\nTABLE.update([('cuda', 2)])"),
    ("TABLE = {'cuda': 2}\nTABLE.update(hip=1)", "TABLE = {'cuda': 2}"),
    ("TABLE = {}\nTABLE |= {'hip': 1, 'cuda': 2}", "TABLE = {}\nTABLE |= {'cuda': 2}"),
    ("TABLE = {'cuda': 1}\nTABLE |= {'hip': 1}", "TABLE = {'cuda': 1}"),
    ("TABLE = BASE | {'hip': 1, 'cuda': 2}", "TABLE = BASE | {'cuda': 2}"),
    ("TABLE = BASE | dict(hip=1) | {'cuda': 2}", "TABLE = BASE | dict() | {'cuda': 2}"),
    ("TABLE = []\nTABLE += ['hip', 'cuda']", "TABLE = []\nTABLE += ['cuda']"),
    ("TABLE = ['cuda']\nTABLE += ['hip']", "TABLE = ['cuda']"),
    ("TABLE = ('cuda',)\nTABLE += ('hip',)", "TABLE = ('cuda',)"),
    ("TABLE = []\nTABLE.append('hip')\nTABLE.append('cuda')", "TABLE = []\nTABLE.append('cuda')"),
    ("TABLE = []\nTABLE.extend(['hip', 'cuda'])", "TABLE = []\nTABLE.extend(['cuda'])"),
    ("TABLE = ['cuda']\nTABLE.extend(('hip',))", "TABLE = ['cuda']"),
    ("TABLE = ['cuda']\nTABLE.insert(0, 'hip')", "TABLE = ['cuda']"),
    ("TABLE = deque(['hip', 'cuda'])", "TABLE = deque(['cuda'])"),
    ("TABLE = deque()\nTABLE.appendleft('hip')\nTABLE.appendleft('cuda')", "TABLE = deque()\nTABLE.appendleft('cuda')"),
    ("TABLE = ('cuda',) + ('hip',)", "TABLE = ('cuda',) + ()"),
    ("TABLE = tuple(MORE) + ('hip', 'cuda')", "TABLE = tuple(MORE) + ('cuda',)"),
    ("TABLE = MORE + ['hip'] + ['cuda', 'hip']", "TABLE = MORE + [] + ['cuda']"),
    ("TABLE = [*MORE, 'hip', *['cuda', 'hip']]", "TABLE = [*MORE, *['cuda']]"),
    ("TABLE = frozenset({'hip', 'cuda'})", "TABLE = frozenset({'cuda'})"),
    ("TABLE = frozenset({'hip'}) | {'cuda'}", "TABLE = frozenset(set()) | {'cuda'}"),
    ("TABLE = set(['hip', 'cuda'])", "TABLE = set(['cuda'])"),
    ("TABLE = set()\nTABLE.add('hip')\nTABLE.add('cuda')", "TABLE = set()\nTABLE.add('cuda')"),
    ("TABLE = sorted({'hip', 'cuda'})", "TABLE = sorted({'cuda'})"),
    ("TABLE = ['cuda'] if len(MORE) else ['hip', 'cuda']", "TABLE = ['cuda'] if len(MORE) else ['cuda']"),
    ("TABLE = {'cuda': 2}\nTABLE |= {'hip': 1} if BASE else {}", "TABLE = {'cuda': 2}\nTABLE |= {} if BASE else {}"),
    ("TABLE = {'cuda': 2}\nTABLE |= {} if MORE else dict(hip=1)", "TABLE = {'cuda': 2}\nTABLE |= {} if MORE else dict()"),
    ("TABLE = {'cuda': 2}\nTABLE.update({'hip': 1} if MORE.append(0) else {'hip': 2})", "TABLE = {'cuda': 2}\nTABLE.update({} if MORE.append(0) else {})"),
    ("TABLE = ['cuda']\nTABLE += ['hip'] if MORE else []", "TABLE = ['cuda']\nTABLE += [] if MORE else []"),
    ("TABLE = ['cuda']\nTABLE.extend(('hip',) if MORE.append(0) else ())", "TABLE = ['cuda']\nTABLE.extend(() if MORE.append(0) else ())"),
    ("TABLE = tuple(name for name in ['hip', 'cuda'])", "TABLE = tuple(name for name in ['cuda'])"),
    ("TABLE = []\nTABLE.extend(name for name in ['hip', 'cuda'])", "TABLE = []\nTABLE.extend(name for name in ['cuda'])"),
    ("TABLE = {}\nTABLE.update({name: 1 for name in ['hip', 'cuda']})", "TABLE = {}\nTABLE.update({name: 1 for name in ['cuda']})"),
    ("TABLE = dict((name, 1) for name in ('hip', 'cuda'))", "TABLE = dict((name, 1) for name in ('cuda',))"),
    ("TABLE = {name for name in {'hip', 'cuda'}}", "TABLE = {name for name in {'cuda'}}"),
    ("TABLE = [name for name in ['hip', 'cuda']]", "TABLE = [name for name in ['cuda']]"),
    ("TABLE = Literal['hip', 'cuda', 'npu']", "TABLE = Literal['cuda', 'npu']"),
    ("TABLE = Literal['cuda', 'hip']", "TABLE = Literal['cuda']"),
    ("TABLE = Literal[\n    'hip',\n    'cuda',\n    'npu',\n]", "TABLE = Literal[\n    'cuda',\n    'npu',\n]"),
    ("TABLE = Optional[Literal['hip', 'cuda', 'npu']]", "TABLE = Optional[Literal['cuda', 'npu']]"),
    ("TABLE = Union[Literal['hip', 'cuda', 'npu'], Literal['b', 'hip'], None]", "TABLE = Union[Literal['cuda', 'npu'], Literal['b'], None]"),
    ("TABLE = Literal['hip', 'cuda', 'npu'] | None", "TABLE = Literal['cuda', 'npu'] | None"),
    ("TABLE = Annotated[Literal['hip', 'cuda', 'npu'], 'which']", "TABLE = Annotated[Literal['cuda', 'npu'], 'which']"),
    ("TABLE = Literal[Literal['hip', 'cuda', 'npu'], 'b']", "TABLE = Literal[Literal['cuda', 'npu'], 'b']"),
    ("TABLE = {}\n\n\ndef fill():\n    TABLE['hip'] = 1\n    TABLE['cuda'] = 2\n\n\nfill()", "TABLE = {}\n\n\ndef fill():\n    TABLE['cuda'] = 2\n\n\nfill()"),
    ("TABLE = {'cuda': 2}\nif MORE:\n    TABLE['hip'] = 1", "TABLE = {'cuda': 2}\nif MORE:\n    pass"),
    ("class Kind:\n    hip = 'a'\n    cuda = 'b'\n\n\nTABLE = {}\nTABLE['hip'] = Kind.hip\nTABLE['cuda'] = 2", "TABLE = {}\nTABLE['cuda'] = 2"),
]  # fmt: skip


def less(value: Any) -> Any:
    """What upstream's table is without ``hip``."""
    if isinstance(value, defaultdict):
        return defaultdict(value.default_factory, {k: v for k, v in value.items() if k != "hip"})
    if isinstance(value, (dict, MappingProxyType)):
        return type(value)({k: v for k, v in value.items() if k != "hip"})  # type: ignore[call-arg]
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return type(value)(v for v in value if v != "hip")
    return None


def judged(pruned: Pruned, folder: Path, drop: str, roots: str = '["app:f"]') -> dict[str, tuple[str, ...]]:
    """What the checks say against the output under rules that drop ``drop``."""
    for name, files in (("in", pruned.before), ("out", pruned.files)):
        for path, data in files.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_bytes(data)
    (folder / "facts.yaml").write_text(
        f"facts: {{is_hip(): false}}\ndefined_in: plat\nroots: {roots}\ndrop: [{drop!r}]\n"
    )
    rows = verify(folder / "in", folder / "out", [], facts_yaml=folder / "facts.yaml", jobs=1)
    return {row.check: row.details for row in rows if row.result == "refuted"}


def program(text: str) -> dict[str, str]:
    return {"app.py": f"{HEAD}{text}\n\n\ndef f():\n    return TABLE\n"}


def body(pruned: Pruned) -> str:
    kept = pruned["app.py"].split("\n\n\ndef f():")[0].splitlines()
    return "\n".join(line for line in kept if not re.match(r"import|from|BASE =|MORE =", line)).strip("\n")


@pytest.mark.parametrize(("text", "output"), FORMS, ids=[text.replace("\n", "|") for text, _ in FORMS])
def test_a_form(text: str, output: str, tmp_path: Path) -> None:
    pruned = prune(program(text), drop=["app.TABLE[hip]"], roots=["app:f"])
    assert body(pruned) == output and pruned.findings == []
    rows = [row for row in pruned.outcome.removals if row.what == "entry"]
    assert rows and all((r.name, r.cause.kind, r.cause.rules) == ("[hip]", "rule", ("drop.0",)) for r in rows)
    names = {
        "MappingProxyType": MappingProxyType,
        "OrderedDict": OrderedDict,
        "deque": deque,
        "defaultdict": defaultdict,
    }
    done = []
    for files in (pruned.before, pruned.files):
        space: dict[str, Any] = {}
        run(files, "import app\nkeep(app.f())", keep=lambda value, space=space: space.update(value=value))
        done.append(space["value"])
    wanted = less(done[0])
    if wanted is None:  # a type
        assert str(done[1]) == re.sub(r"'hip'(, )?|, 'hip'", "", str(done[0])).replace("Literal[]", ""), names
    else:
        assert done[1] == wanted and type(done[1]) is type(done[0])
    assert judged(pruned, tmp_path, "app.TABLE[hip]") == {}


@pytest.mark.parametrize("text", [text for text, _ in FORMS], ids=[text.replace("\n", "|") for text, _ in FORMS])
def test_a_neighbour_that_went_too_is_refuted(text: str, tmp_path: Path) -> None:
    pruned = prune(program(text), drop=["app.TABLE[hip]", "app.TABLE[cuda]"], roots=["app:f"])
    if pruned.findings:  # Literal["hip", "cuda"] would be empty
        assert set(pruned.findings) == {"PR243"}
    else:
        assert "'cuda'" not in body(pruned) and "cuda=" not in body(pruned)
        assert judged(pruned, tmp_path, "app.TABLE[hip]").keys() == {"fold"}


@pytest.mark.parametrize("text", [text for text, _ in FORMS], ids=[text.replace("\n", "|") for text, _ in FORMS])
def test_keep_wins_in_every_form(text: str) -> None:
    pruned = prune(program(text), drop=["app.TABLE[*]"], keep=["app.TABLE[*]"], roots=["app:f"])
    assert pruned.findings == [] and body(pruned) == body(prune(program(text), roots=["app:f"]))


# -- where tables stand ---------------------------------------------------------------------------------------------

PLACES = [
    ("app.K.T", "class K:\n    T = {}\n    T['hip'] = 1\n    T.update(hip=1, cuda=2)\n\n\ndef f():\n    return K.T\n", ["    T['hip'] = 1\n", "hip=1, "]),
    ("app.K.T", "class K:\n    T = {'cuda': 2}\n\n    def m(self):\n        self.T['hip'] = 1\n        return self\n\n\nK.T['hip'] = 3\n\n\ndef f():\n    return K().m().T\n", ["        self.T['hip'] = 1\n", "K.T['hip'] = 3\n\n\n"]),
    ("app.f.T", "def f():\n    T = {}\n    T['hip'] = 1\n    T.update(cuda=2)\n    return T\n", ["    T['hip'] = 1\n"]),
    ("app.f.T", "def f():\n    T = ['cuda']\n    T += ['hip']\n    return T\n", ["    T += ['hip']\n"]),
    ("app.f.T", "def f():\n    T = []\n\n    def fill():\n        T.append('hip')\n        T.append('cuda')\n\n    fill()\n    return T\n", ["        T.append('hip')\n"]),
    ("tab.T", "import tab as t\nfrom tab import T as U\n\nU['hip'] = 1\nt.T |= {'hip': 2, 'cuda': 3}\nU.update(hip=1)\n\n\ndef f():\n    from tab import T\n\n    T.setdefault('hip', [])\n    return t.T\n", None),
    ("tab.T", "import tab\n\ntry:\n    tab.T['hip'] = 1\nexcept KeyError:\n    tab.T['cuda'] = 0\n\n\ndef f():\n    return tab.T\n", None),
    ("tab.T", "from tab import T\n\nfor _ in range(2):\n    T['hip'] = 1\n    T['cuda'] = 1\n\n\ndef f():\n    return T\n", ["    T['hip'] = 1\n"]),
    ("tab.T", "from tab import T\n\nif len(T): T['hip'] = 1\nelse: T['cuda'] = 1\n\n\ndef f():\n    return T\n", None),
    ("app.T", "T = {}; T['hip'] = 1; T['cuda'] = 2\n\n\ndef f():\n    return T\n", ["T['hip'] = 1; "]),
    ("app.T", "T = dict(\n    # of hip\n    hip=1,  # gone\n    # of cuda\n    cuda=2,  # stays\n)\n\n\ndef f():\n    return T\n", ["    hip=1,  # gone\n"]),
    ("app.T", "from typing import get_args\nimport typing as t\n\nKind = t.Literal['cuda', 'hip']\nT = t.Union[  # which\n    t.Literal[\n        'hip',  # gone\n        'cuda',\n        'b',\n    ],\n    None,\n]\n\n\ndef f():\n    return get_args(get_args(T)[0])\n", ["        'hip',  # gone\n"]),
    ("app.T", "from typing import get_args, Literal\n\nT = (Literal['cuda', 'hip',])\n\n\ndef f():\n    return get_args(T)\n", None),
    ("app.T", "from typing import get_args, Literal\n\nT = Literal['hip',\n            'cuda']\n\n\ndef f():\n    return get_args(T)\n", None),
]  # fmt: skip


@pytest.mark.parametrize(("table", "text", "gone"), PLACES, ids=[f"{n}-{row[0]}" for n, row in enumerate(PLACES)])
def test_a_place(table: str, text: str, gone: list[str] | None, tmp_path: Path) -> None:
    pruned = prune({"app.py": text, "tab.py": "T = {}\n"}, drop=[f"{table}[hip]"], roots=["app:f"])
    assert pruned.findings == []
    for part in gone or ():
        assert part in text
        text = text.replace(part, "", 1)
    left = pruned["app.py"]
    assert (
        "hip" not in left
        if gone is None
        else left.strip("\n") == text.replace("Kind = t.Literal['cuda', 'hip']\n", "").strip("\n")
    )
    values: list[Any] = []
    for files in (pruned.before, pruned.files):
        run(files, "import app\nkeep(app.f())", keep=values.append)
    assert values[1] == less(values[0]) or (
        gone is None and set(values[1]) == {"cuda"} - {"cuda"} * ("else" in text)
    ), left
    assert judged(pruned, tmp_path, f"{table}[hip]") == {}


# -- where no edit is safe ------------------------------------------------------------------------------------------

REFUSED = [
    ("TABLE = Literal['hip']", 1, "is the last choice of its Literal, which cannot be empty"),
    ("TABLE = Union[Literal['hip'], int]", 1, "is the last choice of its Literal"),
    ("TABLE: \"Literal['hip', 'cuda']\" = 'cuda'", 1, "is a choice in the text of an annotation"),
    ("TABLE = ['hip', 'cuda'] * 2", 1, "stands in an expression of which no entry can be taken"),
    ("TABLE = list(reversed(['hip', 'cuda']))", 1, "stands in an expression"),
    ("TABLE = ['hip', 'cuda'][:1]", 1, "stands in an expression"),
    ("TABLE = MORE and ['hip', 'cuda']", 1, "stands in an expression"),
    ("OTHER = ['hip']\nTABLE = OTHER + ['cuda']", 2, "comes with app.OTHER, which is taken in whole"),
    ("OTHER = ('hip',)\nTABLE = [*OTHER, 'cuda']", 2, "comes with app.OTHER"),
    ("OTHER = {'hip': 1}\nTABLE = {**OTHER, 'cuda': 2}", 2, "comes with app.OTHER"),
    ("OTHER = {'hip': 1}\nTABLE = {}\nTABLE.update(OTHER)", 3, "comes with app.OTHER"),
    ("from typing import get_args\nOTHER = Literal['hip', 'cuda']\nTABLE = get_args(OTHER)", 3, "comes with app.OTHER"),
    ("OTHER = TABLE = ['hip', 'cuda']", 1, "is stored under other names"),
    ("TABLE, OTHER = ['hip', 'cuda'], 1", 1, "is stored under other names"),
    ("TABLE = {}\nTABLE['hip'] = TABLE['cuda'] = 1", 2, "is stored under other names"),
    ("TABLE = {}\nOTHER = TABLE.setdefault('hip', 1)", 2, "is put in by an expression whose value is used"),
    ("TABLE = ['hip', 'cuda']\nTABLE.remove('hip')", 2, "is taken out again by remove"),
    ("TABLE = {'hip': 1, 'cuda': 2}\nTABLE.pop('hip')", 2, "is taken out again by pop"),
    ("TABLE = {'hip': 1, 'cuda': 2}\ndel TABLE['hip']", 2, "is read here while the module is imported"),
    ("TABLE = {'hip': {}, 'cuda': 2}\nTABLE['hip']['more'] = 1", 2, "is read here while the module is imported"),
    ("TABLE = {'hip': 1, 'cuda': 2}\nOTHER = TABLE['hip'] + len(MORE)", 2, "is read here while the module is imported"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "why"), REFUSED, ids=[text.replace("\n", "|") for text, _, _ in REFUSED])
def test_what_cannot_be_taken_out_is_said_with_its_place(text: str, line: int, why: str) -> None:
    files = program(text)
    files["app.py"] += "\n\ndef g():\n    return OTHER\n" if "OTHER" in text else ""
    pruned = prune(files, drop=["app.TABLE[hip]"], roots=["app"])
    (found,) = pruned.outcome.findings
    assert (found.code, found.path, found.line) == ("PR243", "app.py", HEAD.count("\n") + line)
    assert found.text.startswith("rule drop.0 drops app.TABLE[hip], which ") and why in found.text and found.advice


def test_what_comes_with_another_table_goes_with_both_rules() -> None:
    text = "OTHER = ['hip', 'b']\nTABLE = OTHER + ['cuda', 'hip']"
    pruned = prune(program(text), drop=["app.TABLE[hip]", "app.OTHER[hip]"], roots=["app:f"])
    assert pruned.findings == [] and body(pruned) == "OTHER = ['b']\nTABLE = OTHER + ['cuda']"


def test_each_entry_is_recorded_with_its_own_rule() -> None:
    text = "TABLE = {'hip': 1, 'cuda': 2, 'npu': 3}\nTABLE.update(hip=1, npu=2)"
    pruned = prune(program(text), drop=["app.TABLE[hip]", "app.TABLE[npu]"], roots=["app:f"])
    rows = [(row.name, row.cause.rules) for row in pruned.outcome.removals if row.what == "entry"]
    assert rows == [("[hip]", ("drop.0",)), ("[npu]", ("drop.1",)), ("[hip, npu]", ("drop.0", "drop.1"))]


def test_a_computed_key_matches_nothing() -> None:
    text = "TABLE = {}\nfor name in ('hip', 'cuda'):\n    TABLE[name] = 1"
    pruned = prune(program(text), drop=["app.TABLE[hip]", "app.TABLE[*]"], roots=["app:f"])
    assert pruned.findings == ["PR012", "PR012"] and body(pruned) == text
    place = f"no entry of app.TABLE (app.py:{HEAD.count(chr(10)) + 1}) is written out as app.TABLE[hip]"
    assert pruned.outcome.findings[0].text == f"rule drop.0 matches nothing in this tree: {place}"


VARIABLES = """\
TABLE = []
OTHER = {}


def note(name, made):
    TABLE.append(name)
    TABLE.extend([name, made])
    OTHER[name] = made
    OTHER.setdefault(name, made)
    OTHER.update({name: made})


for name in ("a", "b"):
    TABLE.append(name)
    OTHER[name] = 1
    note(name, 2)


def f():
    return TABLE, OTHER
"""


def test_calls_without_positional_arguments(tmp_path: Path) -> None:
    """``next(**options)`` was a crash of the tool: nothing stood where the table was looked for."""
    names = [name for name in dir(builtins) if name.islower() and callable(getattr(builtins, name))]
    methods = sorted({name for kind in (dict, list, set, str) for name in dir(kind) if name[0] != "_"})
    heads = [*names, *(f"TABLE.{name}" for name in methods), *(f"{name}(TABLE)" for name in names if name != "len")]
    calls = "".join(f"    {head}()\n    {head}(*ANY)\n    {head}(**KEYS)\n    {head}(key=1)\n" for head in heads)
    text = (
        f"ANY, KEYS = [], {{}}\nTABLE = {{'hip': 1, 'cuda': 2}}\n\n\ndef never():\n{calls}\n\nnames = sorted(TABLE)\n"
    )
    pruned = prune({"app.py": text}, drop=["app.TABLE[hip]"], roots=["app", "app:never"])
    kept = run(pruned.files, "import app; RESULT = app.names")["result"]
    assert kept == ("['cuda', 'hip']" if "PR243" in pruned.findings else "['cuda']")
    assert not judged(pruned, tmp_path, "app.TABLE[hip]")


def test_a_variable_is_no_key(tmp_path: Path) -> None:
    """``T[*]`` names all entries, and not what the program puts in while it runs."""
    drop = ["app.TABLE[*]", "app.OTHER[*]", "app.TABLE[name]"]
    pruned = prune({"app.py": VARIABLES}, drop=drop, roots=["app:f"])
    assert pruned["app.py"] == VARIABLES and set(pruned.findings) == {"PR012"}
    for line in (
        "    TABLE.append(name)\n    OTHER",
        "    OTHER.update({name: made})\n",
        "    TABLE.extend([name, made])\n",
    ):
        gone = VARIABLES.replace(line, "    OTHER" if line.endswith("OTHER") else "")
        wrong = Pruned({**pruned.files, "app.py": gone.encode()}, pruned.before, pruned.outcome)
        assert "fold" in judged(wrong, tmp_path / str(len(gone)), "app.TABLE[*]', 'app.OTHER[*]"), line


# -- choices of types -----------------------------------------------------------------------------------------------

TYPED = """\
from dataclasses import dataclass
from typing import Literal, Optional


@dataclass
class Args:
    backend: Literal["hip", "cuda", "npu"] = "cuda"
    level: Optional[Literal["hip", "low"]] = None
    other: Literal["hip", "cuda"] = "hip"


def start(backend: Literal["hip", "cuda", "npu"] = "cuda", *, kind: "int | None" = None) -> Literal["hip", "cuda"]:
    size: Literal["hip", "cuda"] = "cuda"
    return backend or size


class Server:
    def serve(self, backend: Optional[Literal["hip", "cuda"]]):
        return backend


def f():
    return Args(), start(), Server().serve("cuda")
"""
TARGETS = [
    ("app.Args.backend", 'backend: Literal["hip", "cuda", "npu"] = "cuda"\n    level', 'backend: Literal["cuda", "npu"] = "cuda"\n    level'),
    ("app.Args.level", '"hip", "low"', '"low"'),
    ("app.start.backend", 'start(backend: Literal["hip", "cuda", "npu"]', 'start(backend: Literal["cuda", "npu"]'),
    ("app.start.size", 'size: Literal["hip", "cuda"]', 'size: Literal["cuda"]'),
    ("app.Server.serve.backend", 'serve(self, backend: Optional[Literal["hip", "cuda"]]', 'serve(self, backend: Optional[Literal["cuda"]]'),
]  # fmt: skip


@pytest.mark.parametrize(("table", "before", "after"), TARGETS, ids=[row[0] for row in TARGETS])
def test_the_choices_of_a_field_and_of_a_parameter(table: str, before: str, after: str, tmp_path: Path) -> None:
    pruned = prune({"app.py": TYPED}, drop=[f"{table}[hip]"], roots=["app:f"])
    assert TYPED.count(before) == 1 and pruned["app.py"] == TYPED.replace(before, after) and pruned.findings == []
    driver = "import app\nRESULT = app.f()"
    assert run(pruned.files, driver) == run(pruned.before, driver)
    assert judged(pruned, tmp_path, f"{table}[hip]") == {}
    wrong = Pruned(
        {**pruned.files, "app.py": pruned.files["app.py"].replace(b'"cuda"', b'"npu"', 1)},
        pruned.before,
        pruned.outcome,
    )
    assert "fold" in judged(wrong, tmp_path / "wrong", f"{table}[hip]")
    other = "app.start.kind[hip]" if table != "app.start.kind" else "app.f.x[hip]"
    assert "fold" in judged(pruned, tmp_path / "other", other)


def test_a_choice_that_is_the_default_is_said() -> None:
    pruned = prune({"app.py": TYPED}, drop=["app.Args.other[hip]"], roots=["app:f"])
    (found,) = pruned.outcome.findings
    assert (found.code, found.line) == ("PR243", 9) and "is the default here" in found.text


# -- registrations --------------------------------------------------------------------------------------------------

REGISTRY = """\
TABLE = {}
ORDER = []


def register(kind=None, *, name=None):
    def wrap(made):
        TABLE[name] = made
        return made
    return wrap


def enter(made, name, weight=0):
    TABLE[name] = made


def plain(name):
    def wrap(made):
        ORDER.append(name)
        TABLE.setdefault(name, made)
        return made
    return wrap


class Registry:
    def __init__(self):
        self.items = {}

    def register(self, key, cls=None):
        if cls is not None:
            self.items[key] = cls
            return cls

        def wrap(made):
            self.items[key] = made
            return made
        return wrap


REG = Registry()
"""
REGISTERED = [
    ("keyword", "@register(name='NAME')\ndef NAME_():\n    return 1\n", "registry.TABLE"),
    ("keyword, by the function", "@register(name='NAME')\ndef NAME_():\n    return 1\n", "registry.register"),
    ("behind a first argument", "@register('pkg', name='NAME')\nclass NAME_:\n    pass\n", "registry.TABLE"),
    ("a call with a keyword", "def NAME_():\n    return 1\n\n\nenter(NAME_, name='NAME')\n", "registry.TABLE"),
    ("a call, second argument", "def NAME_():\n    return 1\n\n\nenter(NAME_, 'NAME', weight=2)\n", "registry.TABLE"),
    ("setdefault in the wrapper", "@plain('NAME')\ndef NAME_():\n    return 1\n", "registry.TABLE"),
    ("append in the wrapper", "@plain(name='NAME')\ndef NAME_():\n    return 1\n", "registry.ORDER"),
    ("an object", "class NAME_:\n    pass\n\n\nREG.register(key='NAME', cls=NAME_)\n", "registry.REG"),
    ("an object, by position", "class NAME_:\n    pass\n\n\nREG.register('NAME', NAME_)\n", "registry.REG"),
    ("an object's decorator", "@REG.register('NAME')\nclass NAME_:\n    pass\n", "registry.REG"),
    ("an object's table", "@REG.register(key='NAME')\nclass NAME_:\n    pass\n", "registry.REG.items"),
    ("an object's method", "@REG.register(key='NAME')\nclass NAME_:\n    pass\n", "registry.REG.register"),
    ("a store", "def NAME_():\n    return 1\n\n\nregistry.TABLE['NAME'] = NAME_\n", "registry.TABLE"),
]  # fmt: skip


def kinds(text: str) -> dict[str, str]:
    head = "import registry\nfrom registry import REG, enter, plain, register\n\n\n"
    both = "\n\n".join(text.replace("NAME", name) for name in ("hip", "cuda"))
    app = "import kinds\nimport registry\n\n\ndef f():\n    return sorted({*registry.TABLE, *registry.ORDER, *registry.REG.items})\n"
    return {"app.py": app, "kinds.py": f"{head}{both}\n\nregister, enter, plain, REG\n", "registry.py": REGISTRY}


@pytest.mark.parametrize(("text", "table"), [row[1:] for row in REGISTERED], ids=[row[0] for row in REGISTERED])
def test_a_registration(text: str, table: str, tmp_path: Path) -> None:
    pruned = prune(kinds(text), drop=[f"{table}[hip]"], roots=["app:f"])
    assert pruned.findings == [] and "hip" not in pruned["kinds.py"] and "cuda_" in pruned["kinds.py"]
    assert run(pruned.files, "import app\nRESULT = app.f()")["result"] == "['cuda']"
    assert judged(pruned, tmp_path, f"{table}[hip]") == {}
    wrong = prune(kinds(text), drop=[f"{table}[hip]", f"{table}[cuda]"], roots=["app:f"])
    assert "fold" in judged(wrong, tmp_path / "wrong", f"{table}[hip]")


@pytest.mark.parametrize("text", ["@register(name='cuda')\n@register(name='hip')\ndef both():\n    return 1\n"])
def test_what_is_registered_under_a_kept_key_too_stays(text: str, tmp_path: Path) -> None:
    files = {
        **kinds(""),
        "kinds.py": f"from registry import register\n\n\n{text}\n\n@register(name='npu')\ndef npu():\n    return 3\n",
    }
    pruned = prune(files, drop=["registry.TABLE[hip]"], roots=["app:f"])
    (found,) = pruned.outcome.findings
    assert (found.code, found.path) == ("PR243", "kinds.py") and "both is registered for, as for 'cuda'" in found.text
    assert "def both" in pruned["kinds.py"]
    both = prune(files, drop=["registry.TABLE[hip]", "registry.TABLE[cuda]"], roots=["app:f"])
    assert both.findings == [] and "def both" not in both["kinds.py"]
    assert "fold" in judged(both, tmp_path, "registry.TABLE[hip]")


TWICE = """\
TABLE, NAMES, ORDER = {{}}, {{}}, []


def register(name):
    def wrap(f):
        TABLE[name] = f
        {more}
        return f

    return wrap


@register("hip")
def hip():
    return 1


@register("cuda")
def cuda():
    return 2


def f():
    return sorted(TABLE), sorted(NAMES), ORDER
"""
ALSO = {  # what else the function does, and the other table that the finding names
    "NAMES[f.__name__] = name": "app.NAMES",
    "NAMES.setdefault(f.__name__, name)": "app.NAMES",
    "ORDER.append(f.__name__)": "app.ORDER",
    "NAMES[name] = 1": "",
    "ORDER.append(name)": "",
    "f.name = name": "",
    "assert TABLE": "",
}


@pytest.mark.parametrize("more", ALSO)
def test_what_a_registering_function_stores_elsewhere_as_well(more: str, tmp_path: Path) -> None:
    """What another table has under another name went with the entry that the rule names."""
    other = ALSO[more]
    files = {"app.py": TWICE.format(more=more)}
    alone = prune(files, drop=["app.TABLE[hip]"])
    assert alone.findings == (["PR243"] if other else []) and ("def hip" in alone["app.py"]) == bool(other)
    if other:
        (found,) = alone.outcome.findings
        assert f"stores into {other} as well" in found.text and "drop app.register[hip] in its place" in found.advice
        same_behaviour(alone, "import app\nRESULT = app.f()")
        whole = prune(files, drop=["app.register[hip]"])
        assert whole.findings == [] and "def hip" not in whole["app.py"]
        assert judged(whole, tmp_path, "app.register[hip]", '["app"]') == {}


# -- refusals -------------------------------------------------------------------------------------------------------

SERVER = {
    "plat.py": "",
    "app/__init__.py": "",
    "app/amd.py": "def run():\n    return 'amd'\n",
    "app/gpu.py": "def run():\n    return 'gpu'\n",
    "app/args.py": """\
import argparse
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Literal, Optional, Union, get_args

from app.amd import run as on_amd
from app.gpu import run as on_gpu

Backend = Optional[Literal["cuda", "hip", "rocm"]]
RUNNERS = MappingProxyType({"cuda": on_gpu, "hip": on_amd})
LEVELS = ("low",) + ("high",)
CACHES = []
CACHES += ["paged", "radix"]
CACHES.append("none")
FORMATS = {}
FORMATS["auto"] = "a"
FORMATS["gguf"] = "g"
FORMATS.setdefault("dummy", "d")
FORMATS.update(pt="p", npz="n")


@dataclass
class Args:
    backend: Backend = "cuda"
    order: Union[Literal["fifo", "lof"], None] = "fifo"
    level: str = "low"
    cache: str = "paged"
    load: str = "auto"

    def check(self):
        return self

    def is_rocm(self):
        return self.backend == "rocm"


def add_options(parser):
    parser.add_argument("--backend", choices=[c for c in get_args(get_args(Backend)[0])], default="cuda")
    parser.add_argument("--level", choices=LEVELS, default="low")
    parser.add_argument("--cache", choices=CACHES, default="paged")
    parser.add_argument("--load", choices=list(FORMATS), default="auto")
    return parser


def choose(backend: Literal["cuda", "hip"]):
    return RUNNERS[backend]()


def launch(**given):
    args = Args(**given)
    args.check()
    if args.is_rocm():
        from app.amd import run

        return run()
    return choose(args.backend), args.order, args.level, args.cache, FORMATS[args.load]


def main(words):
    return launch(**vars(add_options(argparse.ArgumentParser("app")).parse_args(words)))
""",
}
DROPPED = [
    "app.args.Backend[hip]",
    "app.args.Backend[rocm]",
    "app.args.RUNNERS[hip]",
    "app.args.choose.backend[hip]",
    "app.args.LEVELS[high]",
    "app.args.CACHES[radix]",
    "app.args.CACHES[none]",
    "app.args.FORMATS[gguf]",
    "app.args.FORMATS[dummy]",
    "app.args.FORMATS[npz]",
    "app.args.Args.order[lof]",
]
RULES = """\
rules:
  - {id: root, because: It starts here., root: ["app.args:main", "app.args:launch"]}
  - {id: choices, because: Nobody asks for them., drop: [DROPPED]}
  - {id: code, because: Nobody has it., drop: [app.amd]}
  - {id: never, because: Nobody asks for it., assume: {app.args.Args.is_rocm(): false}}
  - id: guard
    because: The arguments are complete here.
    guard:
      at: app.args:Args.check
      of: self
      ask: &ask
        backend: {tables: [app.args.Backend, app.args.choose.backend]}
        order: {tables: app.args.Args.order}
        level: {tables: app.args.LEVELS}
        cache: {tables: app.args.CACHES}
        load: {tables: app.args.FORMATS}
  - id: guard.options
    because: Options are declared here.
    guard: {at: "app.args:add_options", where: after, options: parser, ask: *ask}
""".replace("DROPPED", ", ".join(f'"{target}"' for target in DROPPED))
ASKED = [
    ("backend", "hip", "app.args.Backend[hip]"),
    ("backend", "rocm", "app.args.Backend[rocm]"),
    ("order", "lof", "app.args.Args.order[lof]"),
    ("level", "high", "app.args.LEVELS[high]"),
    ("cache", "radix", "app.args.CACHES[radix]"),
    ("cache", "none", "app.args.CACHES[none]"),
    ("load", "gguf", "app.args.FORMATS[gguf]"),
    ("load", "dummy", "app.args.FORMATS[dummy]"),
    ("load", "npz", "app.args.FORMATS[npz]"),
]


def built(rules: str = RULES) -> Pruned:
    return prune(SERVER, rules=rules, plat=False)


def test_the_code_behind_the_choices_goes_and_the_kept_ones_work() -> None:
    pruned = built()
    assert pruned.findings == [] and "app/amd.py" in pruned.removed and "amd" not in pruned["app/args.py"]
    assert "is_rocm" not in pruned["app/args.py"]
    for given in ("", "level='low'", "cache='paged'", "load='pt'", "order='fifo', load='auto'"):
        driver = f"from app.args import launch\nRESULT = launch({given})"
        assert run(pruned.files, driver) == run(pruned.before, driver)
    for words in ([], ["--load", "pt"], ["--cache", "paged", "--backend", "cuda"], ["--load", "none"]):
        driver = f"from app.args import main\nRESULT = main({words})"
        assert run(pruned.files, driver)["raised"] == run(pruned.before, driver)["raised"]


@pytest.mark.parametrize(("name", "value", "entry"), ASKED, ids=[row[2] for row in ASKED])
def test_a_removed_choice_is_refused_in_one_sentence(
    name: str, value: str, entry: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pruned = built()
    done = run(pruned.files, f"from app.args import launch\nRESULT = launch({name}={value!r})")
    assert done["raised"].startswith(f"RefusedByPrune: {name} {value!r} was removed"), done
    assert "(rule choices, rules.yaml:3)" in done["raised"] and f'"{entry}"' in done["raised"]
    if name != "order":
        run(pruned.files, f"from app.args import main\nRESULT = main(['--{name}', {value!r}])")
        assert re.search(
            rf"argument --{name}: {name} .{value}. was removed .*\(rule choices, ", capsys.readouterr().err
        )


def test_what_the_sentence_says_brings_the_choice_back() -> None:
    said = run(built().files, "from app.args import launch\nlaunch(backend='hip')")["raised"]
    (line,) = re.findall(r"`(keep: [^`]+)`", said)
    more = f'  - {{id: more, because: It is wanted., {line}}}\n  - {{id: runner, because: It too., keep: ["app.args.RUNNERS[hip]", app.amd]}}\n'
    pruned = built(RULES + more)
    driver = "from app.args import launch\nRESULT = launch(backend='hip')"
    assert pruned.findings == [] and run(pruned.files, driver) == run(pruned.before, driver)


COUNTED = {
    "by its place": "T = ['cuda', 'hip', 'cpu']\n\n\ndef f():\n    return T[2]\n",
    "from the end": "T = ('cuda', 'hip')\n\n\ndef f():\n    return T[-1]\n",
    "index": "T = ['hip', 'cuda']\n\n\ndef f():\n    return T.index('cuda')\n",
    "enumerate": "T = ['hip', 'cuda']\nN = {k: i for i, k in enumerate(T)}\n\n\ndef f():\n    return N['cuda']\n",
    "zip": "T = ['hip', 'cuda']\nN = dict(zip(T, (1, 2)))\n\n\ndef f():\n    return N['cuda']\n",
    "taken apart": "T = ['hip', 'cuda']\na, b = T\n\n\ndef f():\n    return b\n",
    "taken apart in a function": "T = ['hip', 'cuda']\n\n\ndef f():\n    a, b = T\n    return b\n",
    "pop": "T = ['hip', 'cuda']\n\n\ndef f():\n    return T.pop()\n",
    "pop from the front": "T = ['hip', 'cuda']\n\n\ndef f():\n    return T.pop(0)\n",
    "the first one": "T = ['hip', 'cuda']\n\n\ndef f():\n    return next(iter(T))\n",
    "the default of an option": "import argparse\n\nT = ['hip', 'cuda']\n\n\ndef f():\n    p = argparse.ArgumentParser()\n"
    "    p.add_argument('--kind', choices=T, default='hip')\n    return p.parse_args([]).kind\n",
    "the default of an option, sorted": "import argparse\n\nT = {'hip', 'cuda'}\n\n\ndef f():\n    p = argparse.ArgumentParser()\n"
    "    p.add_argument('--kind', choices=sorted(T), default='hip')\n    return p.parse_args([]).kind\n",
    "a slice": "T = ['hip', 'cuda', 'cpu']\n\n\ndef f():\n    return T[1:]\n",
    "a slice up to a variable": "T = ('cuda', 'hip', 'cpu')\n\n\ndef f(n=2):\n    return [k for k in T[:n]]\n",
    "backwards": "T = ['hip', 'cuda']\n\n\ndef f():\n    return T[::-1][1]\n",
    "how many": "T = ['hip', 'cuda']\n\n\ndef f():\n    return len(T)\n",
    "how many of a set": "T = {'hip', 'cuda'}\n\n\ndef f():\n    return [0] * len(T)\n",
    "how many of a dictionary": "T = {'hip': 1, 'cuda': 2}\n\n\ndef f():\n    return range(len(T))\n",
    "how many at import": "T = ['hip', 'cuda']\nassert len(T) == 2\n\n\ndef f():\n    return 1\n",
    "the first one of a dictionary": "T = {'hip': 1, 'cuda': 2}\n\n\ndef f():\n    return next(iter(T))\n",
    "arguments": "T = ['hip', 'cuda']\n\n\ndef g(a, b):\n    return b\n\n\ndef f():\n    return g(*T)\n",
}
COUNTED |= {
    f"{what} of a copy": f"T = {{'hip': 1, 'cuda': 2}}\n\n\ndef f(n=0):\n    return {what}\n"
    for what in (
        "list(T)[0]", "sorted(T)[n]", "tuple(T)[:1]", "list(T.values())[-1]", "len(set(T))", "len(T.keys())", "len([*T])", "len(n := T)",
        "len(list(T.items()))", "list(enumerate(sorted(T)))", "next(iter(T.values()))",
    )
}  # fmt: skip
ELSEWHERE = {  # how the table of another module is come by; its name
    "import": ("import tables\n", "", "tables.T"),
    "from": ("from tables import T\n", "", "T"),
    "from in a function": ("", "from tables import T\n    ", "T"),
    "from in a function, of another name": ("", "from tables import T as t\n    ", "t"),
    "import in a function": ("", "import tables\n    ", "tables.T"),
    "import in a function, of another name": ("", "import tables as t\n    ", "t.T"),
    "a second name": ("from tables import T\n\nU = T\n", "", "U"),
    "a second name of an attribute": ("import tables\n\nU = tables.T\n", "", "U"),
    "a second name of a second one": ("import tables\n\nU = tables.T\nV = U\n", "", "V"),
}
NOT_COUNTED = {
    "a dictionary": "T = {'hip': 1, 'cuda': 2, 0: 3}\n\n\ndef f():\n    return T[0], T['cuda']\n",
    "a set": "T = {'hip', 'cuda'}\n\n\ndef f():\n    return len(T - {'hip'}), {'a': 1}.pop('a')\n",
    "another default": "import argparse\n\nT = ['hip', 'cuda']\n\n\ndef f():\n    p = argparse.ArgumentParser()\n"
    "    p.add_argument('--kind', choices=T, default='cuda')\n    return p.parse_args([]).kind\n",
    "a slice of a name": "T = {'hip': 1, 'cuda': 2}\n\n\ndef f():\n    return [k[1:] for k in T if k != 'hip']\n",
    "how many there are of one": "T = {'hip': 'ab', 'cuda': 'abc'}\n\n\ndef f():\n    return len(T['cuda']), T['cuda'][1:]\n",
    "a list that is walked": "T = ['hip', 'cuda']\n\n\ndef f():\n    return 'cuda' in T, [t for t in T if t != 'hip']\n",
    "a copy that is walked": "T = ['hip', 'cuda']\n\n\ndef f():\n    return [t for t in sorted(T) if t != 'hip'], 'cuda' in list(T), len(list('ab'))\n",
    "another list": "T = ['hip', 'cuda']\nU = ['x', 'y']\n\n\ndef f():\n    return U[1], len(set(T) - {'hip'})\n",
}


@pytest.mark.parametrize("name", COUNTED)
def test_a_list_whose_places_count_is_a_finding(name: str) -> None:
    """It went in silence, and what stood behind it was another one."""
    assert set(prune({"app.py": COUNTED[name]}, drop=["app.T[hip]"]).findings) == {"PR243"}


@pytest.mark.parametrize(
    "read", ["T[0]", "len(T)", "T[1:]", "T.index('cuda')", "list(T)[0]", "[i for i, _ in enumerate(T)]"]
)
@pytest.mark.parametrize("name", ELSEWHERE)
def test_places_count_wherever_the_table_is_read(name: str, read: str) -> None:
    """Behind an import in a function, and under a second name, they went in silence."""
    top, inside, table = ELSEWHERE[name]
    text = f"{top}\n\ndef f():\n    {inside}return {read.replace('T', table)}\n"
    files = {"app.py": text, "tables.py": "T = ['hip', 'cuda']\n"}
    assert set(prune(files, drop=["tables.T[hip]"]).findings) == {"PR243"}
    files["tables.py"] += "U = ['hip', 'cuda']\n"
    assert set(prune(files, drop=["tables.U[hip]"]).findings) <= {"PR012"}  # nobody reads that one


@pytest.mark.parametrize("name", NOT_COUNTED)
def test_a_list_whose_places_do_not_count_loses_its_entry(name: str) -> None:
    pruned = prune({"app.py": NOT_COUNTED[name]}, drop=["app.T[hip]"])
    assert pruned.findings == []
    same_behaviour(pruned, "import app\nRESULT = app.f()")
