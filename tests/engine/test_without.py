"""The key ``without``: a choice is refused while a rule leaves it without its code, and lifting what is said brings it back."""

from __future__ import annotations

import re

import pytest

from pruner.pipeline.without import of_entry, of_module
from pruner.policy import load
from tests.conftest import HERE
from tests.engine.program import Pruned, prune, run

FILES = {
    "app/__init__.py": "",
    "app/slow.py": "def work():\n    return 'slow'\n",
    "app/deep.py": "def look():\n    return 'deep'\n",
    "app/models/__init__.py": "",
    "app/models/own.py": "class Own:\n    pass\n\n\nEntry = Own\n",
    "app/models/other.py": "class Other:\n    pass\n\n\nEntry = Other\n",
    "app/walk.py": (
        "import importlib\nimport pkgutil\n\nimport app.models\n\n\ndef find(name):\n"
        "    for _, module, _ in pkgutil.iter_modules(app.models.__path__, 'app.models.'):\n"
        "        entry = importlib.import_module(module).Entry\n"
        "        if entry.__name__ == name:\n            return entry\n"
    ),
    "app/serve.py": """\
from app.walk import find

CHOICES = ["fast", "slow", "late"]


class Args:
    def __init__(self, method="fast", level="none", model="Own"):
        self.method = method
        self.level = level
        self.model = model

    def is_slow(self):
        return self.method == "slow"

    def is_late(self):
        return self.method == "late"


def is_other(name):
    return name == "Other"


def launch(args):
    made = [args.method]
    if args.level != "none":
        from app.deep import look

        made.append(look())
    if args.is_slow():
        from app.slow import work

        made.append(work())
    if args.is_late():
        made.append("late code")
    if is_other(args.model):
        made.append("as the other needs it")
    return made
""",
}
RULES = """\
rules:
  - {id: root, because: It starts here., root: [app.serve]}
  - id: fact.slow
    because: Nobody is slow.
    without: ["app.serve.CHOICES[slow]"]
    assume: {app.serve.Args.is_slow(): false}
  - id: drop.slow
    because: Nobody is slow.
    without: ["app.serve.CHOICES[slow]"]
    drop: [app.slow]
  - id: fact.late
    because: Nobody is late.
    without: ["app.serve.CHOICES[late]"]
    assume: {app.serve.Args.is_late(): false}
  - {id: choice.late, because: Nobody is late., drop: ["app.serve.CHOICES[late]"]}
  - id: fact.level
    because: There is one level.
    assume: {app.serve.Args.level: none}
  - id: drop.level
    because: There is one level.
    without: [app.serve.Args.level]
    drop: [app.deep]
  - id: fact.other
    because: There is one model.
    without: ["app.models.*"]
    assume: {app.serve.is_other(...): false}
  - {id: models, because: There is one model., dynamic: {package: app.models, members: [own]}}
  - id: guard
    because: The arguments are complete here.
    guard:
      at: app.serve:launch
      of: args
      ask:
        method: {tables: app.serve.CHOICES}
        level: {fact: app.serve.Args.level}
        model: {classes: app.models, attribute: Entry}
"""
CASES = [
    ("method='slow'", "drop.slow", "", "drop.slow, fact.slow", "['slow', 'slow']"),
    ("method='late'", "choice.late", "app.serve.CHOICES[late]", "fact.late", "['late', 'late code']"),
    ("level='high'", "fact.level", "", "drop.level, fact.level", "['fast', 'deep']"),
    ("model='Other'", "models", "app.models", "fact.other", "['fast', 'as the other needs it']"),
]


def built(lifted: str = "", *more: str) -> Pruned:
    """The program under the rules, less those that are lifted."""
    lift = f"lift: [{lifted}]\n" if lifted else ""
    rows = "".join(f"  - {{id: more.{n}, because: It is wanted., {line}}}\n" for n, line in enumerate(more))
    return prune(FILES, rules=lift + RULES + rows, plat=False)


def asked(made: Pruned, arguments: str) -> dict[str, str]:
    return run(made.files, f"from app.serve import Args, launch\nRESULT = launch(Args({arguments}))")


def test_what_is_served_is_not_refused() -> None:
    made = built()
    assert made.findings == [] and asked(made, "")["result"] == "['fast']"


@pytest.mark.parametrize(("arguments", "rule", "kept", "lifted", "result"), CASES)
def test_the_refusal_says_all_that_brings_it_back(
    arguments: str, rule: str, kept: str, lifted: str, result: str
) -> None:
    said = asked(built(), arguments)["raised"]
    assert said.startswith("RefusedByPrune: ") and f"(rule {rule}, rules.yaml:" in said
    assert re.findall(r"`lift: \[([^`]+)\]`", said) == [lifted]
    lines = re.findall(r"`((?:keep|dynamic): [^`]+)`", said)
    assert [kept in line for line in lines] == ([True] if kept else []), said
    made = built(lifted, *lines)
    assert made.findings == []
    assert asked(made, arguments) == {"result": result, "printed": "", "raised": ""}


def test_a_choice_that_is_kept_without_its_code_is_a_finding() -> None:
    made = built("", 'keep: ["app.serve.CHOICES[la*]"]')
    assert made.findings == ["PR242"]
    assert asked(made, "method='late'")["raised"].startswith("RefusedByPrune: method 'late' was removed")
    assert built("fact.late", 'keep: ["app.serve.CHOICES[la*]"]').findings == []


def test_a_fact_that_is_lifted_alone_is_a_finding() -> None:
    """No guard asks for the subject any more, and what would serve it is not there."""
    made = built("fact.level")
    (found,) = made.outcome.findings
    assert (found.code, found.path, found.line) == ("PR242", "rules.yaml", 1)
    assert found.text == "fact.level is lifted, and drop.level leaves app.serve.Args.level without the code behind it"
    assert found.advice == "put `lift: [drop.level, fact.level]` into the rule file"
    assert asked(made, "level='high'")["raised"].startswith("RemovedByPrune: this build was made without app.deep")
    assert built("drop.level, fact.level").findings == []
    other = "assume: {app.serve.Args.level: [none, high]}"  # it is asked, and allowed on purpose
    assert built("fact.level", other).findings == []


# -- what comes back together ---------------------------------------------------------------------------------------

TOGETHER = {
    "app/__init__.py": "",
    "app/gguf.py": "def read():\n    return 'read'\n",
    "app/models/__init__.py": "",
    "app/models/own.py": "class Own:\n    pass\n\n\nEntry = Own\n",
    "app/models/sees.py": "class Sees:\n    pass\n\n\nclass Blind:\n    pass\n\n\nEntry = [Sees, Blind]\n",
    "app/eyes/__init__.py": "",
    "app/eyes/base.py": "class Eye:\n    models = []\n",
    "app/eyes/near.py": (
        "from app.eyes.base import Eye\nfrom app.models.sees import (\n    Sees,  # alone\n)\n\n\n"
        "class Near(Eye):\n    models = [Sees]\n"
    ),
    "app/walk.py": (
        "import importlib\nimport pkgutil\n\nimport app.eyes\nimport app.models\n\n\ndef walk(package):\n"
        "    for _, module, _ in pkgutil.iter_modules(package.__path__, package.__name__ + '.'):\n"
        "        yield importlib.import_module(module)\n\n\ndef find(name):\n"
        "    for module in walk(app.models):\n"
        "        entry = module.Entry\n"
        "        for one in entry if isinstance(entry, list) else [entry]:\n"
        "            if one.__name__ == name:\n                return one\n"
    ),
    "app/serve.py": """\
from app.gguf import read
from app.walk import find, walk

FORMATS = ["auto", "gguf"]
METHODS = {"fp8": "fp8"}


METHODS["gguf"] = read


def load(format, model="Own", method="fp8"):
    check(format, model)
    if format == "gguf":
        method = "gguf"
    quantized(method)
    return METHODS[method]() if callable(METHODS[method]) else METHODS[method]


def check(format, model):
    return format, model


def quantized(method):
    return method
""",
}
COMING = """\
rules:
  - {id: root, because: It starts here., root: [app.serve]}
  - {id: choices, because: Nobody asks., drop: ["app.serve.FORMATS[gguf]", "app.serve.METHODS[gguf]"]}
  - {id: code, because: Nobody reads it., drop: [app.gguf]}
  - {id: models, because: There is one model., dynamic: {package: app.models, members: [own]}}
  - {id: eyes, because: None sees., dynamic: {package: app.eyes, members: []}}
  - {id: sight, because: None sees., optional: true, without: ["app.eyes.*"], assume: {app.serve.sees(...): false}}
  - id: guard
    because: The arguments are complete here.
    guard:
      - {at: "app.serve:check", of: format, ask: {.: {tables: app.serve.FORMATS}}}
      - {at: "app.serve:check", of: model, ask: {.: {classes: app.models, attribute: Entry}}}
      - {at: "app.serve:quantized", of: method, ask: {.: {tables: app.serve.METHODS}}}
"""


def test_a_rule_of_several_keys_is_about_none_of_them() -> None:
    rules = COMING.replace('"app.serve.METHODS[gguf]"]', '"app.serve.METHODS[gguf]", "app.serve.METHODS[fp8]"]')
    made = prune(TOGETHER, rules=rules, plat=False)
    said = run(made.files, "from app.serve import load\nRESULT = load('gguf')")["raised"]
    assert re.findall(r"`(keep: [^`]+)`", said) == ['keep: ["app.serve.FORMATS[gguf]"]']


def coming(*more: str, lifted: str = "") -> Pruned:
    rows = "".join(f"  - {{id: more.{n}, because: It is wanted., {line}}}\n" for n, line in enumerate(more))
    return prune(TOGETHER, rules=(f"lift: [{lifted}]\n" if lifted else "") + COMING + rows, plat=False)


def test_a_key_that_one_rule_takes_from_two_tables_comes_back_in_one_step() -> None:
    driver = "from app.serve import load\nRESULT = load('gguf')"
    said = run(coming().files, driver)["raised"]
    (line,) = re.findall(r"`(keep: [^`]+)`", said)
    assert set(re.findall(r"[\w.]+(?:\[\w+\])?", line)[1:]) == {
        "app.serve.FORMATS[gguf]",
        "app.serve.METHODS[gguf]",
        "app.gguf",
    }
    made = coming(line)
    assert run(made.files, driver) == {"result": "'read'", "printed": "", "raised": ""}


def test_a_model_comes_back_with_what_another_walk_has_for_it() -> None:
    said = run(coming().files, "from app.serve import check\ncheck('auto', 'Sees')")["raised"]
    lines = re.findall(r"`(dynamic: [^`]+)`", said)
    assert lines == ["dynamic: {package: app.models, members: [sees]}", "dynamic: {package: app.eyes, members: [near]}"]
    assert re.findall(r"`lift: \[([^`]+)\]`", said) == ["sight"]
    made = coming(*lines, lifted="sight")
    assert made.findings == [] and {"app/eyes/near.py", "app/models/sees.py"} <= made.files.keys()
    other = run(coming().files, "from app.serve import check\ncheck('auto', 'Blind')")["raised"]
    assert "app.eyes" not in other and "lift" not in other


MODELS = {
    "sglang.srt.models.qwen3_next": {
        "deepseek.family.attention", "deepseek.family.attributes", "deepseek.family.state-space",
        "deepseek.family.state-space-pools", "deepseek.drop.state-space", "deepseek.drop.state-space-parts",
    },
    "sglang.srt.models.kimi_linear": {"deepseek.family.attention", "deepseek.family.state-space-pools"},
    "sglang.srt.models.nemotron_h_mtp": {"deepseek.family.attention", "deepseek.family.state-space-pools"},
    "sglang.srt.models.gpt_oss": {"deepseek.family.sliding-window", "deepseek.drop.sliding-window", "deepseek.family.harmony"},
    "sglang.srt.models.mllama4": {
        "deepseek.family.local-attention", "deepseek.family.local-attention.attribute", "deepseek.family.sliding-window",
    },
    "sglang.srt.models.llama_embedding": {"deepseek.family.generation"},
    "sglang.srt.models.qwen2_rm": {"deepseek.family.generation"},
    "sglang.srt.models.bert": {"deepseek.family.generation"},
}  # fmt: skip
_SHARED = {
    "nvidia.cuda",
    "nvidia.cuda.current-platform",
    "nvidia.device",
    "nvidia.drop.hardware-backends",
    "nvidia.tables.device",
}
_AMD = _SHARED | {"nvidia.macros", "nvidia.aiter.environment", "nvidia.drop.amd-parts"}
FOREIGN = {  # an entry, and the names that rules of its vendor begin with
    "sglang.srt.server_args.MOE_A2A_BACKEND_CHOICES[mori]": (_AMD, ("nvidia.hip", "nvidia.aiter")),
    "sglang.srt.server_args.DISAGG_TRANSFER_BACKEND_CHOICES[mori]": (_AMD, ("nvidia.hip", "nvidia.aiter")),
    "sglang.srt.server_args.ATTENTION_BACKEND_CHOICES[aiter]": (_AMD, ("nvidia.hip", "nvidia.aiter")),
    "sglang.srt.server_args.QUANTIZATION_CHOICES[quark_mxfp4]": (_AMD, ("nvidia.hip", "nvidia.aiter")),
    "sglang.srt.server_args.MOE_A2A_BACKEND_CHOICES[ascend_tp]": (_SHARED, ("nvidia.npu",)),
    "sglang.srt.server_args.ATTENTION_BACKEND_CHOICES[intel_amx]": (_SHARED, ("nvidia.amx", "nvidia.cpu")),
    "sglang.srt.server_args.ATTENTION_BACKEND_CHOICES[intel_xpu]": (_SHARED, ("nvidia.xpu",)),
    "sglang.srt.server_args.QUANTIZATION_CHOICES[mlx_q4]": (_SHARED, ("nvidia.mlx", "nvidia.mps")),
}


BARE = {
    "sglang.srt.server_args.SAMPLING_BACKEND_CHOICES[token_oracle]": {"deepseek.drop.canary", "deepseek.family.canary"},
    "sglang.srt.server_args.ATTENTION_BACKEND_CHOICES[dsv4]": {
        "deepseek.v4.parts",
        "deepseek.v4.pieces",
        "deepseek.drop.sliding-window",
    },
    "sglang.srt.server_args.ATTENTION_BACKEND_CHOICES[compressed]": {"deepseek.v4.parts", "deepseek.v4.pieces"},
    "sglang.srt.server_args.QUANTIZATION_CHOICES[humming]": {"deepseek.family.experts", "deepseek.drop.quantization"},
}


@pytest.mark.parametrize("entry", BARE)
def test_a_choice_is_left_without_what_serves_it(entry: str) -> None:
    """The choice alone came back, and nothing that it chooses."""
    policy = load([HERE.parent / "rules" / "cuda_only.yaml"])
    table, _, key = entry.rstrip("]").partition("[")
    assert set(of_entry(policy, table, key)) >= BARE[entry]


@pytest.mark.parametrize("module", MODELS)
def test_a_model_is_left_without_what_its_facts_fold(module: str) -> None:
    """It was kept in one step and refused at its start by a fact, whose rule was another step."""
    policy = load([HERE.parent / "rules" / "cuda_only.yaml"])
    assert set(of_module(policy, module)) >= MODELS[module]


@pytest.mark.parametrize("entry", FOREIGN)
def test_a_choice_of_another_vendor_is_left_without_its_vendor(entry: str) -> None:
    """``keep: MOE_A2A_BACKEND_CHOICES[mori]`` gave a build that took the choice and ran without it, or with half of the vendor."""
    policy = load([HERE.parent / "rules" / "cuda_only.yaml"])
    table, _, key = entry.rstrip("]").partition("[")
    named, heads = FOREIGN[entry]
    own = {rule.id for rule in policy.rules if rule.id.startswith(heads) and rule.verb in ("assume", "drop")}
    assert own and set(of_entry(policy, table, key)) >= named | own


def test_a_choice_is_left_without_what_a_predicate_of_its_name_serves() -> None:
    """``keep: QUANTIZATION_CHOICES[humming]`` gave a build that took the method, where ``is_humming()`` was still false."""
    policy = load([HERE.parent / "rules" / "cuda_only.yaml"])
    entries = [target.text for target in policy.drops if target.kind == "entry"]
    bare = []
    for fact in policy.facts:
        asked = re.fullmatch(r"\S+\.moe\.utils\.\w+(?:\(\))?\.is_(\w+)\(\)", fact.subject)
        for entry in entries if asked and fact.values == (False,) else ():
            table, _, key = entry.rstrip("]").partition("[")
            served = re.match(r"sglang\.srt\.(?:server_args|layers\.quantization)\.(?:MOE_|QUANT|BASE_QUANT)", table)
            if served and key == asked[1] and fact.rule not in of_entry(policy, table, key):
                bare.append((entry, fact.rule))
    assert bare == []


def widened(files: dict[str, str], rules: str, ask: str) -> tuple[str, dict[str, str]]:
    """What is said of a question, and what its answer is when the rules have what was said."""
    said = run(prune(files, rules=rules, plat=False).files, ask)["raised"]
    rows = "".join(
        f"  - {{id: more.{n}, because: So., {row}}}\n"
        for n, row in enumerate(re.findall(r"`((?:keep|dynamic): [^`]+)`", said))
    )
    lifts = ", ".join(re.findall(r"`lift: \[([^`]+)\]`", said))
    wider = prune(files, rules=(f"lift: [{lifts}]\n" if lifts else "") + rules + rows, plat=False)
    assert wider.findings == []
    return said, run(wider.files, ask)


def test_a_member_of_an_enum_is_refused_by_its_value_and_comes_back() -> None:
    files = {
        "app.py": "import enum\n\n\nclass Kind(enum.Enum):\n    FAST = 'fast'\n    SLOW = 'slow'\n\n\ndef serve(x):\n    return Kind(x).name\n"
    }
    rules = (
        "rules:\n  - {id: root, because: So., root: [app]}\n  - {id: d, because: So., drop: ['app:Kind.SLOW']}\n"
        "  - {id: own, because: So., guard: {at: 'app:serve', of: x, ask: {.: {tables: app.Kind}}}}\n"
    )
    said, after = widened(files, rules, "import app\nRESULT = app.serve('slow')")
    assert said.startswith("RefusedByPrune: x 'slow' was removed from this build (rule d, "), said
    assert after["result"] == "'SLOW'"


def test_a_value_that_two_rules_exclude_comes_back_in_one_step() -> None:
    files = {
        "app.py": "class Args:\n    def __init__(self, k):\n        self.k = k\n\n\ndef serve(k):\n    return 1 if Args(k).k == 'slow' else 2\n"
    }
    rules = (
        "rules:\n  - {id: root, because: So., root: [app]}\n  - {id: d, because: So., assume: {app.Args.k: [fast, quick]}}\n"
        "  - {id: e, because: So., assume: {app.Args.k: [fast]}}\n"
        "  - {id: own, because: So., guard: {at: 'app:Args.__init__', where: after, of: self, ask: {k: {fact: app.Args.k}}}}\n"
    )
    said, after = widened(files, rules, "import app\nRESULT = app.serve('slow')")
    assert "`lift: [d, e]`" in said and after["result"] == "1"


@pytest.mark.parametrize("first", ["fact", "table"])
def test_a_value_that_a_fact_and_a_table_exclude_comes_back_in_one_step(first: str) -> None:
    """The fact's refusal said to lift it, and the next start was refused by the table."""
    files = {
        "app.py": "KINDS = ['fast', 'slow']\n\n\nclass Args:\n    def __init__(self, k):\n        self.k = k\n\n\n"
        "def serve(k):\n    return 1 if Args(k).k == 'slow' else 2, k in KINDS\n"
    }
    asks = {"fact": "k: {fact: app.Args.k}", "table": "k: {tables: app.KINDS}"}
    rows = "".join(
        f"  - {{id: own.{name}, because: So., guard: {{at: 'app:Args.__init__', where: after, of: self, ask: {{{ask}}}}}}}\n"
        for name, ask in sorted(asks.items(), key=lambda row: row[0] != first)
    )
    rules = (
        "rules:\n  - {id: root, because: So., root: [app]}\n  - {id: d, because: So., assume: {app.Args.k: [fast]}}\n"
        f"  - {{id: e, because: So., drop: ['app.KINDS[slow]']}}\n{rows}"
    )
    said, after = widened(files, rules, "import app\nRESULT = app.serve('slow')")
    assert "`lift: [d]`" in said and 'keep: ["app.KINDS[slow]"]' in said and after["result"] == "(1, True)", said
