"""Guards: what was removed and is asked for is refused in one sentence, which says how to have it again."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pruner.errors import PruneError
from pruner.pipeline import RunOptions, run
from tests.engine.program import Pruned, prune
from tests.engine.program import run as execute

SERVER: dict[str, str] = {
    "plat.py": 'import os\n\n\ndef is_hip():\n    return os.environ.get("PLAT") == "hip"\n',
    "app/__init__.py": "",
    "app/quant/__init__.py": """\
from app.quant.fp8 import Fp8
from app.quant.gguf import Gguf

METHODS = {
    "fp8": Fp8,
    "gguf": Gguf,
}
CHOICES = ["fp8", "gguf"]
""",
    "app/quant/fp8.py": "class Fp8:\n    name = 'fp8'\n",
    "app/quant/gguf.py": "from app.quant.table import BITS\n\n\nclass Gguf:\n    name = f'gguf {BITS}'\n",
    "app/quant/table.py": "BITS = 4\n",
    "app/models/__init__.py": "",
    "app/models/deepseek.py": "class DeepseekForCausalLM:\n    pass\n\n\nEntryClass = [DeepseekForCausalLM]\n",
    "app/models/qwen.py": "class QwenForCausalLM:\n    pass\n\n\nEntryClass = QwenForCausalLM\n",
    "app/models/registry.py": """\
import importlib
import pkgutil



def resolve(architectures, package_name="app.models"):
    package = importlib.import_module(package_name)
    for _, name, _ in pkgutil.iter_modules(package.__path__, package_name + "."):
        module = importlib.import_module(name)
        entry = module.EntryClass if hasattr(module, "EntryClass") else []
        for model in entry if isinstance(entry, list) else [entry]:
            if model.__name__ in architectures:
                return model
    raise ValueError(f"{architectures} are not supported")
""",
    "app/args.py": """\
import argparse
import dataclasses

from app.quant import CHOICES


@dataclasses.dataclass
class Args:
    quantization: str = None
    device: str = "cuda"
    image: object = None

    def __post_init__(self):
        if self.device == "auto":
            self.device = "cuda"
            return
        self.device = self.device.lower()

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--quantization", choices=CHOICES)
        parser.add_argument("--device", default="cuda")


def parse(argv):
    parser = argparse.ArgumentParser(prog="app")
    Args.add_cli_args(parser)
    return Args(**vars(parser.parse_args(argv)))
""",
    "app/serve.py": """\
import sys

from plat import is_hip
from app.args import parse
from app.models.registry import resolve
from app.quant import METHODS


def launch(args, architectures=("DeepseekForCausalLM",)):
    \"\"\"Start.\"\"\"
    if is_hip():
        return "hip"
    method = METHODS[args.quantization].name if args.quantization else "none"
    return resolve(architectures).__name__, method, args.device


async def generate(request):
    return request


if __name__ == "__main__":
    print(launch(parse(sys.argv[1:])))
""",
}
RULES = """\
rules:
  - id: own.hip
    because: No.
    assume: {plat.is_hip(): false}
  - id: own.device
    because: The device is cuda.
    optional: true
    assume: {plat.device(): cuda}
  - id: own.quantization
    because: Nobody uses it.
    drop: ["app.quant.METHODS[gguf]", "app.quant.CHOICES[gguf]"]
  - id: own.quantization.code
    because: Nobody uses it.
    drop: [app.quant.gguf]
  - id: own.models
    because: Only this model.
    dynamic: {package: app.models, members: [deepseek]}
  - id: own.predicate
    because: Others ask it.
    keep: [plat:is_hip]
  - id: own.root
    because: It starts here.
    root: [app.serve]
  - id: own.guard.arguments
    because: Arguments are complete here.
    guard:
      at: app.args:Args.__post_init__
      where: after
      of: self
      ask: &ask
        quantization: {tables: [app.quant.METHODS, app.quant.CHOICES]}
        device: {fact: plat.device()}
        image: {members: app.processors}
  - id: own.guard.options
    because: Options are declared here.
    guard: {at: "app.args:Args.add_cli_args", where: after, options: parser, ask: *ask}
  - id: own.guard.start
    because: A process begins here.
    guard: {at: "app.serve:launch", facts: true, of: args, ask: *ask}
  - id: own.guard.models
    because: Models are looked up here.
    guard:
      at: [app.models.registry:resolve, app.models.registry:resolve_before]
      of: architectures
      ask: {.: {classes: app.models, attribute: EntryClass}}
"""
START = "from app.args import Args, parse\nfrom app.serve import launch\n"


def on_disk(files: Mapping[str, bytes], folder: Path, driver: str) -> str:
    """What a program prints that walks its own packages."""
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    done = subprocess.run([sys.executable, "-c", driver], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr.rpartition("\n  ")[2]


@pytest.fixture(scope="module")
def server() -> Pruned:
    """The server without gguf and qwen."""
    made = prune(SERVER, rules=RULES)
    assert made.findings == []
    assert {"app/quant/gguf.py", "app/quant/table.py", "app/models/qwen.py"} <= made.removed
    return made


def test_what_is_kept_runs_as_before(server: Pruned, tmp_path: Path) -> None:
    driver = START + "print(launch(parse(['--quantization', 'fp8'])), launch(Args(device='auto')))"
    before = on_disk(server.before, tmp_path / "before", driver)
    assert before == "('DeepseekForCausalLM', 'fp8', 'cuda') ('DeepseekForCausalLM', 'none', 'cuda')\n"
    assert on_disk(server.files, tmp_path / "after", driver) == before


REFUSED = [
    ("Args(quantization='gguf')", "own.quantization, ", "rule with `keep:"),
    ("Args(device='npu')", "own.device, ", "`lift: [own.device]`"),
    ("launch(Args(), ['QwenForCausalLM'])", "own.models, ", "`dynamic: {package: app.models, members: [qwen]}`"),
]


@pytest.mark.parametrize(("call", "rule", "advice"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_is_removed_is_refused(server: Pruned, call: str, rule: str, advice: str) -> None:
    said = execute(server.files, f"{START}{call}")["raised"]
    assert said.startswith("RefusedByPrune: ") and "\n" not in said
    assert f"(rule {rule}" in said and re.search(r"\.yaml:\d+\)", said), said
    assert advice in said


def test_a_name_that_never_was_is_answered_by_upstream(server: Pruned) -> None:
    assert execute(server.files, START + "launch(Args(), ['Nobody'])")["raised"].startswith("ValueError: ['Nobody']")
    assert execute(server.files, START + "Args(quantization='nothing')")["raised"] == ""


def test_nothing_asked_is_nothing_refused(server: Pruned) -> None:
    assert execute(server.files, START + "Args(quantization='', device='cuda', image=[None, []])")["raised"] == ""


def test_a_fact_is_asked_where_a_process_begins(server: Pruned, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAT", "hip")
    loaded = f"import plat\n{START}launch(Args())"  # what nobody loaded is nobody's assumption
    said = execute(server.files, loaded)["raised"]
    assert said.startswith("RefusedByPrune: this build assumes plat.is_hip() to be False (rule own.hip, ")
    assert execute(server.files, START + "parse([])")["raised"] == ""  # making arguments asks no fact


def test_a_removed_choice_names_the_rule(server: Pruned, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(server.files, START + "parse(['--quantization', 'gguf'])")["raised"] == "SystemExit: 2"
    assert "argument --quantization: quantization 'gguf' was removed from this build (rule own.quantization, " in (
        capsys.readouterr().err
    )
    assert execute(server.files, START + "parse(['--quantization', 'x'])")["raised"] == "SystemExit: 2"
    assert "invalid choice: 'x'" in capsys.readouterr().err


def test_every_return_is_guarded(server: Pruned) -> None:
    text = server["app/args.py"]
    assert text.count("_prune_guard.check('own.guard.arguments/1', self)") == 2
    assert execute(server.files, START + "Args(quantization='gguf', device='auto')")["raised"].startswith("Refused")


def test_the_docstring_stays_first(server: Pruned) -> None:
    node = next(n for n in ast.parse(server["app/serve.py"]).body if isinstance(n, ast.FunctionDef))
    assert ast.get_docstring(node) == "Start."


def written(tmp_path: Path, files: dict[str, str], rules: str, name: str) -> tuple[int, Path, Any]:
    """The whole pipeline, checks included, on files."""
    for path, text in files.items():
        place = tmp_path / "in" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    rule_file = tmp_path / f"{name}.yaml"
    rule_file.write_text(rules)
    out = tmp_path / name
    options = RunOptions((rule_file,), tmp_path / "in", out, None, 1, False, True, Path())
    done = run(options, lambda *_: None)
    return done.exit_code, out, done


def command(tree: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "app.serve", *arguments],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def advised(text: str, number: int) -> str:
    """The rules that a sentence advises, as a rule file over the last one."""
    rows = "".join(
        f"  - id: more.{number}.{index}\n    because: It is wanted.\n    {line}\n"
        for index, line in enumerate(re.findall(r"`((?:keep|dynamic): [^`]+)`", text))
    )
    assert rows, text
    return f"extends: [step{number - 1}.yaml]\nrules:\n{rows}"


def test_widening_in_one_step(tmp_path: Path) -> None:
    """Message, the rule it names, build, works: a table's entry, then a model, then a fact."""
    code, tree, done = written(tmp_path, SERVER, RULES, "step0")
    assert code == 0, done.findings or done.document["verdicts"]
    exit_code, _, said = command(tree, "--quantization", "gguf")
    assert exit_code == 2 and "own.quantization" in said
    code, tree, done = written(tmp_path, SERVER, advised(said, 1), "step1")
    assert code == 0, done.findings or done.document["verdicts"]
    assert command(tree, "--quantization", "gguf") == (0, "('DeepseekForCausalLM', 'gguf 4', 'cuda')", "")

    driver = "from app.args import Args; from app.serve import launch; print(launch(Args(), ['QwenForCausalLM'])[0])"
    shell = [sys.executable, "-c", driver]
    said = subprocess.run(shell, cwd=tree, capture_output=True, text=True, check=False).stderr
    code, tree, done = written(tmp_path, SERVER, advised(said, 2), "step2")
    assert code == 0, done.findings or done.document["verdicts"]
    assert subprocess.run(shell, cwd=tree, capture_output=True, text=True, check=True).stdout == "QwenForCausalLM\n"

    exit_code, _, said = command(tree, "--device", "npu")
    lift = re.search(r"`(lift: [^`]+)`", said)
    assert exit_code == 1 and lift, said
    code, tree, done = written(tmp_path, SERVER, f"extends: [step2.yaml]\n{lift.group(1)}\nrules: []\n", "step3")
    assert code == 0, done.findings or done.document["verdicts"]
    assert command(tree, "--device", "npu")[1] == "('DeepseekForCausalLM', 'none', 'npu')"


# -- places ---------------------------------------------------------------------------------------------------


def guarded(body: str, where: str = "after", of: str = "x") -> Pruned:
    rules = f"""\
rules:
  - {{id: root, because: So., root: [app]}}
  - id: own
    because: So.
    guard: {{at: "app:f", where: {where}, of: {of}, ask: {{.: {{values: [1, 2]}}}}}}
"""
    return prune({"app.py": body}, rules=rules, plat=False)


def test_what_would_be_kept_is_not_what_other_hosts_load(tmp_path: Path) -> None:
    """``if is_hip(): from app.hip import run`` in what a choice runs: the advice kept another vendor's modules."""
    files = {
        "plat.py": "def is_hip():\n    return False\n",
        "app/__init__.py": "",
        "app/hip.py": "def run():\n    return 'hip'\n",
        "app/own.py": "def run():\n    return 'own'\n",
        "app/serve.py": (
            "from plat import is_hip\n\n\ndef slow():\n    if is_hip():\n        from app.hip import run\n    else:\n"
            "        from app.own import run\n    return run()\n\n\nTABLE = {'fast': len, 'slow': slow}\n\n\ndef serve(x):\n    return TABLE[x]()\n"
        ),
    }
    rules = """\
rules:
  - {id: root, because: So., root: [app.serve]}
  - {id: hip, because: So., assume: {plat.is_hip(): false}}
  - {id: code, because: So., drop: [app.hip, app.own]}
  - {id: slow, because: So., drop: ["app.serve.TABLE[slow]"]}
  - {id: own, because: So., guard: {at: "app.serve:serve", of: x, ask: {.: {tables: app.serve.TABLE}}}}
"""
    code, tree, done = written(tmp_path, files, rules, "step0")
    assert code == 0, done.findings or done.document["verdicts"]
    ask = [sys.executable, "-c", "from app.serve import serve; print(serve('slow'))"]
    said = subprocess.run(ask, cwd=tree, capture_output=True, text=True, check=False).stderr
    assert 'keep: ["app.serve.TABLE[slow]", app.own]`' in said, said
    code, tree, done = written(tmp_path, files, advised(said, 1), "step1")
    assert code == 0, done.findings or done.document["verdicts"]
    assert subprocess.run(ask, cwd=tree, capture_output=True, text=True, check=True).stdout == "own\n"


LATE = [  # the body of a guarded function, and may it store into its parameter behind the guard?
    ("return x.fill()", True),
    ("return [x.more.fill()]", True),
    ("return fill(x)", False),
    ("return (x := 5)", True),
    ("try:\n        return 1\n    finally:\n        x.kind = 3", True),
    ("try:\n        return 1\n    finally:\n        x.fill()", True),
    (
        "for _ in (1,):\n        try:\n            if x:\n                return 1\n        finally:\n            x.fill()",
        True,
    ),
    ("try:\n        x.kind = 1\n    finally:\n        x.kind = 3", False),
    ("try:\n        return 1\n    finally:\n        print('done')", False),
    ("return x.kind", False),
    ("return print(x.kind)", False),
    ("return repr(x)", False),
    ("x.fill()\n    return x", False),
    ("def g():\n        return x.fill()\n    return g", False),
]


@pytest.mark.parametrize(("body", "late"), LATE)
def test_what_a_function_stores_behind_its_guard_is_a_finding(body: str, late: bool) -> None:
    """The guard asked, and then ``return x.fill()`` stored what it would have refused."""
    made = guarded(f"def fill(x):\n    x.kind = 3\n    return x\n\n\ndef f(x):\n    {body}\n")
    assert made.findings == (["PR240"] if late else [])
    if late:
        assert "may store into x in line " in made.outcome.findings[0].text


def test_a_setter_of_a_property_is_guarded() -> None:
    body = "class A:\n    @property\n    def f(self):\n        return 1\n\n    @f.setter\n    def f(self, x):\n        self.x = x\n"
    rules = """\
rules:
  - {id: root, because: So., root: [app]}
  - {id: own, because: So., guard: {at: "app:A.f", of: x, ask: {.: {values: [1]}}}}
"""
    made = prune({"app.py": body}, rules=rules, plat=False)
    assert made.findings == []
    assert execute(made.files, "from app import A\nA().f = 2")["raised"].startswith("RefusedByPrune")
    assert execute(made.files, "from app import A\nA().f = 1\nRESULT = A().f")["result"] == "1"


KINDS = "import enum\n\n\nclass Text(str, enum.Enum):\n    A = 'a'\n    B = 'b'\n\n\nclass Plain(enum.Enum):\n    A = 'a'\n    B = 'b'\n\n\nclass Number(enum.IntEnum):\n    A = 1\n    B = 2\n\n\n"
ASKED = [  # what may be asked, what is asked for, and is it refused?
    ("{values: [a, 1]}", "'a'", False),
    ("{values: [a, 1]}", "'b'", True),
    ("{values: [a, 1]}", "1", False),
    ("{values: [a, 1]}", "True", True),
    ("{values: [a, 1]}", "Text.A", False),
    ("{values: [a, 1]}", "Text.B", True),
    ("{values: [a, 1]}", "Plain.A", True),
    ("{values: [a, 1]}", "Number.A", False),
    ("{values: [a, 1]}", "Number.B", True),
    ("{values: [true]}", "1", True),
    ("{values: [true]}", "True", False),
    ("{tables: app.TEXTS}", "'b'", True),
    ("{tables: app.TEXTS}", "'a'", False),
    ("{tables: app.TEXTS}", "Text.B", True),
    ("{tables: app.TEXTS}", "Plain.B", True),
    ("{tables: app.TEXTS}", "Plain.A", False),
    ("{tables: app.NUMBERS}", "2", True),
    ("{tables: app.NUMBERS}", "1", False),
    ("{tables: app.NUMBERS}", "Number.B", True),
    ("{tables: app.MEMBERS}", "Plain.B", True),
    ("{tables: app.MEMBERS}", "Plain.A", False),
]


@pytest.mark.parametrize(("ask", "value", "refused"), ASKED)
def test_what_is_asked_for_under_another_type(ask: str, value: str, refused: bool) -> None:
    """A member of an enum that is a text is that text; a number and a member have a name in the table too."""
    tables = "TEXTS = {'a': 1, 'b': 2}\nNUMBERS = {1: 1, 2: 2}\nMEMBERS = {Plain.A: 1, Plain.B: 2}\n\n\n"
    rules = f"""\
rules:
  - {{id: root, because: So., root: [app]}}
  - {{id: gone, because: So., drop: ["app.TEXTS[b]", "app.NUMBERS[2]", "app.MEMBERS[Plain.B]"]}}
  - {{id: own, because: So., guard: {{at: "app:f", of: x, ask: {{.: {ask}}}}}}}
"""
    made = prune({"app.py": f"{KINDS}{tables}def f(x):\n    return x\n"}, rules=rules, plat=False)
    said = execute(made.files, f"from app import Number, Plain, Text, f\nf({value})")["raised"]
    assert made.findings == [] and said.startswith("RefusedByPrune") == refused, said


PLACES = [
    "def f(x):\n    return x\n",
    "def f(x): return x\n",
    "def f(x): x + 1",
    "def f(x):\n    '''Doc.'''\n",
    "def f(x):\n    '''Doc.'''\n    # a comment\n    if x > 5:\n        return 1\n    # the end\n",
    "def f(x):\n    if x: return 1\n    else: return 2\n",
    "def f(x):\n    for i in range(3):\n        if i == x: return i\n    else:\n        return None\n",
    "def f(x):\n    try:\n        return [y for y in (x,)]\n    finally:\n        print(x)",
    "def f(x):\n\tif x:\n\t\treturn 1\n\treturn 2\n",
    "def f(x):\r\n    y = x\r\n    return y\r\n",
    "def f(x):\n    def g():\n        return 3\n    return g()\n",
    "def f(x):\n    with open('/dev/null') as h:\n        return x; y = 2\n",
    "def f(x):\n    @print\n    def g(): pass\n",
    "def f(x):\n    match x:\n        case 1: return 'a'\n        case _:\n            return 'b'\n",
    "async def f(x):\n    return (\n        x\n    )\n",
]  # fmt: skip


@pytest.mark.parametrize("where", ["entry", "after"])
@pytest.mark.parametrize("body", PLACES, ids=[b.replace("\n", "|") for b in PLACES])
def test_places(body: str, where: str) -> None:
    made = guarded(body, where)
    assert made.findings == [] and made.outcome.guards
    call = "f(x)" if "async" not in body else "__import__('asyncio').run(f(x))"
    driver = "from app import f\nRESULT = []\nfor x in (1, 2, 7):\n    try:\n        RESULT.append({})\n    except ValueError as e:\n        RESULT.append(str(e)[:8])\n"
    before, after = (execute(files, driver.format(call)) for files in (made.before, made.files))
    kept = [*ast.literal_eval(before["result"])[:2], "x is 7, "]
    assert ast.literal_eval(after["result"]) == kept, made["app.py"]


def test_a_parameter_that_is_not_there_is_an_error_at_the_rule() -> None:
    """It was a finding, and the checks refuted the output for the call that could not be written."""
    for text in (
        "def f(y):\n    return y\n",
        "if X:\n    def f(y): pass\nelse:\n    def f(z): pass\n",
        "async def f(*y): pass",
    ):
        with pytest.raises(PruneError, match=r"rules\.yaml:5:12: error PR240: .* has no parameter x; name one"):
            guarded(text)


def test_a_function_that_is_not_there_is_a_finding() -> None:
    made = guarded("def g(x):\n    return x\n")
    assert made.findings == ["PR240"]
    assert [(f.path, f.line) for f in made.outcome.findings] == [("rules.yaml", 5)]


def test_a_dead_function_is_not_guarded() -> None:
    made = guarded(
        "def _h():\n    pass\n\n\nclass C:\n    def f(self, x):\n        return x\n\n\ndef f(x):\n    return x\n"
    )
    assert [c.line for c in made.outcome.guards] == [10]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from app.quant", "from app.quant"),
        ("_prune_guard.check('own.guard.arguments/1', self)", "pass"),
        ("_prune_guard.check('own.guard.arguments/1', self)", "_prune_guard.check('own.guard.start/1', self)"),
        ("        return\n", "        pass\n        return\n"),
    ],
)
def test_the_verifier_wants_each_guard_in_its_place(tmp_path: Path, old: str, new: str) -> None:
    from pruner import verify

    _, tree, _ = written(tmp_path, SERVER, RULES, "step0")
    path = tree / "app/args.py"
    path.write_text(path.read_text().replace(old, new, 1))
    (verdict,) = verify.run(tmp_path / "in", tree, [tmp_path / "step0.yaml"], checks=("guards",))
    assert verdict.result == ("passed" if old == new else "refuted"), verdict


def test_a_guard_that_no_rule_states_is_refuted(tmp_path: Path) -> None:
    from pruner import verify

    _, tree, _ = written(tmp_path, SERVER, RULES, "step0")
    path = tree / "app/quant/fp8.py"
    path.write_text(path.read_text() + "import _prune_guard; _prune_guard.check('own.guard.start/1')\n")
    (verdict,) = verify.run(tmp_path / "in", tree, [tmp_path / "step0.yaml"], checks=("guards",))
    assert verdict.result == "refuted"


# -- in suites that moved, and what facts say ---------------------------------------------------------------


MOVED = [
    "def f(x):\n    if not is_hip():\n        return x\n",
    "def f(x):\n    if is_hip():\n        y = 1\n    else:\n        if x > 1:\n            return 2\n        return 1\n",
    "def f(x):\n    for _ in range(1):\n        if not is_hip():\n            if not is_hip():\n                if x == 5:\n                    return 3\n                return x\n",
    "def f(x):\n    if not is_hip():\n        try:\n            # why\n            return x  # yes\n        finally:\n            pass\n",
    "def f(x):\n    if not is_hip():\n        y = x\n        z = y\n",
    "if not is_hip():\n    def f(x):\n        if x == 5:\n            return 1\n        return x\n",
    "def f(x):\n\tif not is_hip():\n\t\tif x:\n\t\t\treturn x\n",
]  # fmt: skip


@pytest.mark.parametrize("where", ["entry", "after"])
@pytest.mark.parametrize("body", MOVED, ids=[b.replace("\n", "|") for b in MOVED])
def test_suites_that_moved_left(body: str, where: str) -> None:
    """The call was indented as it stood upstream, and the file did not compile."""
    rules = f"""\
rules:
  - {{id: root, because: So., root: [app]}}
  - {{id: hip, because: So., assume: {{plat.is_hip(): false}}}}
  - id: own
    because: So.
    guard: {{at: "app:f", where: {where}, of: x, ask: {{.: {{values: [1, 2]}}}}}}
"""
    made = prune({"app.py": f"from plat import is_hip\n\n\n{body}"}, rules=rules)
    assert made.findings == [] and made.outcome.guards
    driver = "from app import f\nRESULT = []\nfor x in (1, 2, 7):\n    try:\n        RESULT.append(f(x))\n    except ValueError as e:\n        RESULT.append(str(e)[:8])\n"
    before, after = (execute(files, driver) for files in (made.before, made.files))
    assert ast.literal_eval(after["result"]) == [*ast.literal_eval(before["result"])[:2], "x is 7, "], made["app.py"]


def stating(*facts: str) -> Pruned:
    text = "".join(f"  - {{id: fact.{n}, because: So., assume: {{app.Args.sm: {v}}}}}\n" for n, v in enumerate(facts))
    rules = f"""\
rules:
  - {{id: root, because: So., root: [app]}}
{text}  - id: own
    because: So.
    guard: {{at: "app:Args.__init__", where: after, of: self, ask: {{sm: {{fact: app.Args.sm}}}}}}
"""
    app = (
        "class Args:\n    def __init__(self, sm):\n        self.sm = sm\n\n\n"
        "def f(a):\n    return 'no' if a.sm in (7, 'hip') else 'yes'\n"
    )
    made = prune({"app.py": app}, rules=rules, plat=False)
    assert made.findings == []  # two rules on one subject are one fact, and each of them matches
    return made


@pytest.mark.parametrize(
    ("facts", "allowed", "refused"),
    [
        (("{min: 90}",), [90, 120], [80, True, "90"]),
        (("{max: 100}",), [1, 100], [101]),
        (("{min: 90}", "{max: 100}"), [90, 100], [80, 101]),
        (("[cuda, hip]", "[cuda, rtx]"), ["cuda"], ["hip", "rtx", None, "", ()]),
        (("cuda",), ["cuda"], [None, "", 0]),
        (("[cuda, null]",), ["cuda", None], ["hip"]),
        (("false",), [False, None], [True]),
    ],
)
def test_what_a_fact_says_of_an_attribute_is_asked(
    facts: tuple[str, ...], allowed: list[Any], refused: list[Any]
) -> None:
    """Of a range nothing was asked, and of several rules on one subject one; None passed for "cuda"."""
    made = stating(*facts)
    for value in allowed + refused:
        said = execute(made.files, f"from app import Args\nRESULT = Args({value!r}).sm")["raised"]
        assert said.startswith("RefusedByPrune: sm is ") == (value in refused and value not in allowed), (value, said)


def test_an_attribute_that_is_not_there_is_not_asked() -> None:
    made = stating("cuda")
    assert execute(made.files, "import _prune_guard\n_prune_guard.check('own/1', object())")["raised"] == ""


def test_a_parameter_that_is_deleted_is_an_error_at_the_rule() -> None:
    """The call raised UnboundLocalError in a program that was right."""
    with pytest.raises(PruneError, match=r"error PR240: .* which deletes its parameter x; name one .* or guard where"):
        guarded("def f(x):\n    del x\n    return 1\n")
    assert guarded("def f(x):\n    del x\n    return 1\n", "entry").findings == []


@pytest.mark.parametrize("up", ["../base.yaml", "../../rules/base.yaml", "../profiles/../base.yaml"])
def test_a_profile_in_a_folder_of_its_own_passes(tmp_path: Path, up: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks refuted each of them: what they extend is named ``../deepseek.yaml`` in the output."""
    (tmp_path / "rules" / "profiles").mkdir(parents=True)
    (tmp_path / "rules" / "base.yaml").write_text(RULES)
    code, _, _ = written(tmp_path, SERVER, f"extends: [{up}]\nrules: []\n", "rules/profiles/mine")
    assert code == 0
    monkeypatch.chdir(tmp_path)
    options = RunOptions(
        (Path("rules/profiles/mine.yaml"),), tmp_path / "in", tmp_path / "out", None, 1, False, True, Path()
    )
    assert run(options, lambda *_: None).exit_code == 0


LOADED = {  # what the table says, and how it is loaded
    "a module": ("'app.amd'", "importlib.import_module(TABLE[kind]).run()"),
    "a colon": ("'app.amd:run'", "getattr(importlib.import_module(TABLE[kind].partition(':')[0]), 'run')()"),
    "a dotted name": ("'app.amd.run'", "getattr(importlib.import_module(TABLE[kind].rpartition('.')[0]), 'run')()"),
    "a pair": ("('app.amd', 'run')", "getattr(importlib.import_module(TABLE[kind][0]), 'run')()"),
}


@pytest.mark.parametrize("rows", [["app.t.TABLE[hip]", "app.amd"], ["app.t.TABLE[hip]"]], ids=["one rule", "two rules"])
@pytest.mark.parametrize("name", LOADED)
def test_the_sentence_names_the_module_that_an_entry_names_by_text(name: str, rows: list[str]) -> None:
    """`keep: [app.t.TABLE[hip]]` alone brought an entry back whose module was still gone."""
    value, load = LOADED[name]
    files = {
        "app/__init__.py": "",
        "app/amd.py": "def run():\n    return 'amd'\n",
        "app/t.py": f"import importlib\n\nTABLE = {{'cuda': 0, 'hip': {value}}}\n\n\ndef use(kind):\n    return {load}\n",
        "app/args.py": "from app import t\n\n\nclass Args:\n    def __init__(self, kind):\n        self.kind = kind\n        self.check()\n\n    def check(self):\n        pass\n\n\ndef launch(kind):\n    return t.use(Args(kind).kind)\n",
    }
    code = "" if "app.amd" in rows else "  - {id: code, because: No., drop: [app.amd]}\n"
    rules = (
        f"rules:\n  - {{id: root, because: Here., root: ['app.args:launch']}}\n  - {{id: hip, because: No., drop: {rows}}}\n{code}"
        "  - {id: guard, because: Here., guard: {at: app.args:Args.check, of: self, ask: {kind: {tables: [app.t.TABLE]}}}}\n"
    )
    driver = "from app.args import launch\nRESULT = launch('hip')"
    said = execute(prune(files, rules=rules, plat=False).files, driver)["raised"]
    (line,) = re.findall(r"`(keep: [^`]+)`", said)
    again = prune(files, rules=f"{rules}  - {{id: more, because: It is wanted., {line}}}\n", plat=False)
    assert again.findings == [] and execute(again.files, driver)["result"] == repr("amd")


# -- choices that an option has by default --------------------------------------------------------------------

ADAPTERS = {
    "plat.py": "",
    "app/__init__.py": "",
    "app/quick.py": "def run():\n    return 'quick'\n",
    "app/slow.py": "def run():\n    return 'slow'\n",
    "app/args.py": """\
class Args:
    backend: str = "quick"
    adapters: bool = False

    def __init__(self, **given):
        vars(self).update(given)
        self.done()

    def done(self):
        return self
""",
    "app/serve.py": """\
from app import quick, slow
from app.args import Args

BACKENDS = {"quick": quick.run, "slow": slow.run}


def serve(args):
    return BACKENDS[args.backend]() if args.adapters else "plain"


def update(changes):
    return len(changes)


def start(**given):
    return serve(Args(**given))
""",
}


def adapters(when: str, more: str = "") -> str:
    ask = f"{{tables: app.serve.BACKENDS{', when: adapters' if when else ''}}}"
    return f"""\
rules:
  - {{id: root, because: So., root: [app.serve]}}
  - {{id: quick, because: So., drop: ["app.serve.BACKENDS[quick]"]}}
  - {{id: done, because: So., guard: {{at: "app.args:Args.done", of: self, ask: {{backend: {ask}}}}}}}
  - {{id: late, because: So., guard: {{at: "app.serve:update", of: changes, ask: {{backend: {ask}}}}}}}
{more}"""


def test_a_default_that_is_gone_is_asked_for_when_it_is_used(tmp_path: Path) -> None:
    """``lora_backend = "csgmv"``: a build without adapters refused every start, as if somebody had asked for it."""
    code, tree, done = written(tmp_path, ADAPTERS, adapters("adapters"), "out")
    assert code == 0, done.findings or done.document["verdicts"]
    assert not (tree / "app/quick.py").exists()
    driver = """
from app.serve import start, update
def said(f):
    try:
        return f()
    except ValueError as error:
        return str(error).partition(" (")[0]
print(said(start), said(lambda: start(backend="quick")))
print(said(lambda: start(adapters=True, backend="slow")))
print(said(lambda: start(adapters=True)))
print(said(lambda: update({"backend": "quick"})), said(lambda: update({"backend": "quick", "adapters": False})))
"""
    shell = subprocess.run([sys.executable, "-c", driver], cwd=tree, capture_output=True, text=True, check=True)
    gone = "backend 'quick' was removed from this build"
    assert shell.stdout.splitlines() == ["plain plain", "slow", gone, f"{gone} 2"]


STATED = "  - {id: slow, because: It is given., assume: {app.args.Args.backend: {values: [slow], valid_from: app.args.Args.done()}}}\n"


@pytest.mark.parametrize(
    ("when", "more", "on", "found"),
    [
        ("", "", "False", True),
        ("adapters", "", "True", True),
        ("adapters", "", "False", False),
        ("", STATED, "False", False),
    ],
    ids=["asked always", "asked as what is on by default says", "asked as what is off says", "a fact says what it is"],
)
def test_a_build_that_would_refuse_every_start_is_told(
    tmp_path: Path, when: str, more: str, on: str, found: bool
) -> None:
    files = {path: text.replace("adapters: bool = False", f"adapters: bool = {on}") for path, text in ADAPTERS.items()}
    code, _, done = written(tmp_path, files, adapters(when, more), "out")
    told = [row for row in done.findings if row.code == "PR244"]
    assert bool(told) == found
    if found:
        assert code == 1 and told[0].path.endswith("out.yaml") and told[0].line == 3
        assert (
            told[0].text == "'quick' is dropped, which Args.backend is by default: rule done would refuse every start"
        )
