"""Calls of packages from outside that do more than compute: nothing needs their value, and yet they must stay."""

from __future__ import annotations

import pytest

from tests.verify.wrong import Case

HEAD = "import abc\nimport enum\nimport operator\nimport types\n\nimport numpy\nimport torch\nfrom plat import is_hip\n\n\n"
EFFECTS = [
    "torch.cuda.get_device_capability()",  # these start CUDA in the process: memory of the card, no fork from then on
    "torch.cuda.get_device_name()",
    "torch.cuda.get_device_properties(0)",
    "torch.cuda.current_device()",
    "torch.tensor([1], device=x)",
    "torch.jit.set_fusion_strategy([])",
    "torch.jit.save(x, 'file')",
    "numpy.seterr(all='raise')",
    "numpy.set_printoptions(precision=3)",
    "numpy.place(x, x > 0, [1])",
    "numpy.memmap(x, mode='w+', shape=3)",
    "enum.global_enum(x)",
    "operator.call(x)",
    "types.new_class('C', (), {}, x)",
    "abc.update_abstractmethods(x)",
]
NONE = ["torch.cuda.is_available()", "torch.cuda.device_count()", "numpy.zeros(3)", "operator.itemgetter(1)"]


def line(call: str) -> str:
    """A statement that evaluates the call."""
    return f"    {call}\n"


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    body = "".join(map(line, EFFECTS))
    warm = "import torch\n\nSEEN = torch.cuda.get_device_capability()\n"
    app = f"{HEAD}import warm\nimport cold\n\n\ndef f(x):\n    if is_hip():\n        return 1\n{body}    return 2\n"
    cold = "import torch\n\nSEEN = torch.cuda.is_available()\n"
    rules = (
        "rules:\n"
        "  - {id: t.root, because: It starts here., root: [app]}\n"
        "  - {id: t.hip, because: It is never so., optional: true, assume: {plat.is_hip(): false}}\n"
    )
    return Case(tmp_path_factory.mktemp("outside"), {"app.py": app, "warm.py": warm, "cold.py": cold}, rules)


@pytest.mark.parametrize("call", EFFECTS)
def test_a_call_with_an_effect_is_missed(call: str, case: Case) -> None:
    assert "fold" in case.wrong("app.py", line(call), "", ("fold",))


@pytest.mark.parametrize("call", NONE)
def test_what_only_computes_may_go(call: str, case: Case) -> None:
    text = (case.upstream / "app.py").read_text()
    (case.upstream / "app.py").write_text(text.replace("    return 2\n", line(call) + "    return 2\n"))
    try:
        assert case.verdicts(case.out, ("fold",)) == {}
    finally:
        (case.upstream / "app.py").write_text(text)


def test_what_starts_the_device_when_it_is_imported(case: Case) -> None:
    """The import of a module whose body asks the device what it is, which nobody reads."""
    assert "import warm\n" in case.text("app.py")
    assert "fold" in case.judged({"app.py": case.text("app.py").replace("import warm\n", ""), "warm.py": None})
