"""A whole repository pruned: operations compiled ahead of time, other projects' packages, data, what is no product."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pruner.verify import run
from tests.native.repository import CMAKE, EXTENSION, HEADER, RULES, TREE

SHIPPED = Path(__file__).parents[2] / "rules"


def write(folder: Path, tree: dict[str, str]) -> None:
    """The tree's files, below ``folder``."""
    for path, text in tree.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def prune(folder: Path, tree: dict[str, str] = TREE, rules: str = RULES) -> tuple[int, str]:
    """Exit code and what was said of a run over ``folder``/in into ``folder``/out."""
    write(folder / "in", tree)
    shutil.copy(SHIPPED / "repository.yaml", folder / "repository.yaml")
    (folder / "rules.yaml").write_text(rules.replace("SHIPPED/", ""))
    command = [sys.executable, "-m", "pruner", "--rules", str(folder / "rules.yaml"), "--upstream", str(folder / "in")]
    command += ["--output", str(folder / "out"), "--reports", str(folder / "reports"), "-j", "1"]
    done = subprocess.run(
        [*command, "--cache", str(folder / "cache")], capture_output=True, text=True, check=False, timeout=300
    )
    return done.returncode, done.stderr


@pytest.fixture(scope="module")
def pruned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one run that was clean."""
    folder = tmp_path_factory.mktemp("repository")
    code, said = prune(folder)
    assert code == 0, said
    return folder


def test_an_operation_that_no_kept_python_names_loses_everything(pruned: Path) -> None:
    out = pruned / "out/sgl-kernel"
    extension = (out / "csrc/extension.cc").read_text()
    for gone in ("old_gate", '"spare', '"both"', "hip_only"):
        assert gone not in extension
    for kept in ('m.def("norm(Tensor x) -> ()");', "&norm);", '"both_too"', "commented", "REGISTER_EXTENSION"):
        assert kept in extension
    assert "old_gate" not in (out / "include/ops.h").read_text()
    assert not (out / "csrc/gate").exists(), "sources and the header that only these include"
    assert "def hip_norm" not in (out / "python/sgl_kernel/norm.py").read_text()
    assert not (out / "python/sgl_kernel/gate.py").exists()
    cmake = (out / "CMakeLists.txt").read_text()
    assert cmake == CMAKE.replace('    "csrc/gate/old_gate.cu"\n    csrc/gate/only_gate.cu\n', "")


def test_what_a_living_source_needs_stays(pruned: Path) -> None:
    out = pruned / "out/sgl-kernel"
    assert {p.name for p in (out / "csrc").iterdir()} == {
        "extension.cc", "norm.cu", "math.cuh", "helper.cu", "shared.cu", "spare.cu"
    }  # fmt: skip
    assert "void spare(at::Tensor x);" in (out / "include/ops.h").read_text(), "norm.cu calls it"
    assert "void shared_entry();" in (out / "include/ops.h").read_text()


def test_the_rest_of_the_repository(pruned: Path) -> None:
    out = pruned / "out"
    kept = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    for path in ("LICENSE", "benchmark/deepseek_v3/README.md", "sgl-model-gateway/src/main.rs", "sgl-kernel/LICENSE"):
        assert path in kept
    assert not [p for p in kept if p.startswith((".github", "docker", "docs", "test/", "benchmark/gsm8k"))]
    assert not [p for p in kept if "/tests/" in p or "/cpu/" in p or "AMD" in p]
    assert "python/sglang/configs/E=8,device_name=NVIDIA_H100.json" in kept
    trace = (out / "python/sglang/trace.py").read_text()
    assert "def start" in trace, "the gateway's package imports it"
    assert "def unused" not in trace
    assert "sgl-model-gateway/bindings/python/setup.py" in kept
    assert "other/python/elsewhere/tool.py" in kept, "no rule speaks of this package"
    assert "python/sglang/wire/__init__.py" in kept, "the build puts an extension into it"


def test_an_arm_that_becomes_the_first_takes_no_comment_of_its_copy_in_the_arm_before_it(pruned: Path) -> None:
    text = (pruned / "out/python/sglang/launch.py").read_text()
    assert "    if rpc.on:\n        serve(x)\n    else:\n" in text and "as hip" not in text


def test_a_checkout_has_the_version_that_its_installation_wrote(pruned: Path) -> None:
    report = json.loads((pruned / "reports/report.json").read_text())
    assert report["upstream"]["version"] == "0.5.9", "else the rule for another release would match nothing"


def test_one_readme_says_what_this_is(pruned: Path) -> None:
    text = (pruned / "out/README.md").read_text()
    assert "whole thing" not in text and "0.5.9" in text and "rules.yaml" in text and "sgl-model-gateway" in text
    assert "prune --rules" in text and str(pruned) not in text
    assert (pruned / "out/NOTICE").read_text().startswith("This tree was made from sglang 0.5.9")


def test_each_removal_has_its_cause(pruned: Path) -> None:
    rows = json.loads((pruned / "reports/ledger.json").read_text())["removals"]
    said = {(r["what"], r["name"]): r for r in rows if r["path"].startswith("sgl-kernel/")}
    for what, name in (
        ("registration", "old_gate"),
        ("declaration", "old_gate"),
        ("source", "sgl-kernel/csrc/gate/only_gate.cu"),
        ("file", "sgl-kernel/csrc/gate/old_gate.cu"),
    ):
        assert said[what, name]["cause"]["rules"] == ["repository.ops"], (what, name)
    languages = json.loads((pruned / "reports/report.json").read_text())["by_language"]
    assert {"CUDA", "C/C++", "Rust", "JSON", "Python"} <= {row["language"] for row in languages}


def test_each_operation_has_its_row(pruned: Path) -> None:
    document = json.loads((pruned / "reports/operations.json").read_text())
    rows = {row["name"]: row for row in document["operations"]}
    assert document["schema"] == "prune-operations/1"
    assert {name for name, row in rows.items() if row["kept"]} == {"norm", "both_too"}
    assert rows["norm"]["named"].startswith("sgl-kernel/python/sgl_kernel/norm.py:")
    assert rows["both_too"]["named"].startswith("python/sglang/main.py:")
    assert (rows["old_gate"]["named"], rows["old_gate"]["rule"]) == ("", "repository.ops")
    assert rows["spare"]["place"] == "sgl-kernel/csrc/extension.cc:19", "upstream's line, whatever was folded"
    assert f"{len(rows)} are registered upstream, 2 stay" in (pruned / "reports/operations.md").read_text()


@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_cmake_still_configures(pruned: Path, tmp_path: Path) -> None:
    for number, change in enumerate((None, "csrc/helper.cu")):
        kernel = shutil.copytree(pruned / "out/sgl-kernel", tmp_path / f"{number}")
        if change:
            (kernel / change).unlink()
        command = ["cmake", "-S", str(kernel), "-B", str(tmp_path / f"{number}-build")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode == 0) == (change is None), done.stderr


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_cargo_still_builds_the_gateway(pruned: Path, tmp_path: Path) -> None:
    for number, lost in enumerate((None, "benches/tree.rs")):
        crate = shutil.copytree(pruned / "out/sgl-model-gateway", tmp_path / f"crate{number}")
        if lost:
            (crate / lost).unlink()
        command = ["cargo", "build", "--offline", "--quiet", "--bin", "gateway"]
        done = subprocess.run(command, cwd=crate, capture_output=True, text=True, check=False, timeout=120)
        assert (done.returncode == 0) == (lost is None), done.stderr


def judge(pruned: Path, folder: Path, changes: dict[str, str | None]) -> dict[str, tuple[str, ...]]:
    """Refuted checks of the pruned tree with some files changed; None removes one."""
    out = folder / "bad"
    shutil.copytree(pruned / "out", out)
    for path, text in changes.items():
        if text is None:
            (out / path).unlink()
        else:
            (out / path).write_text(text)
    verdicts = run(
        pruned / "in", out, [pruned / "rules.yaml"], python_root="python", jobs=1, checks=["native", "ops", "tokens"]
    )
    return {v.check: v.details for v in verdicts if v.result == "refuted"}


def test_the_pruned_tree_is_accepted(pruned: Path, tmp_path: Path) -> None:
    assert judge(pruned, tmp_path, {}) == {}


K = "sgl-kernel/"


@pytest.mark.parametrize(
    ("path", "before", "after", "said"),
    [
        (K + "csrc/extension.cc", '  m.def("norm(Tensor x) -> ()");\n  m.impl("norm", torch::kCUDA, &norm);\n', "", "norm"),
        (K + "csrc/extension.cc", '  m.impl("norm", torch::kCUDA, &norm);\n', "", "registered upstream by"),
        (K + "csrc/extension.cc", '  m.def("both_too", &shared_entry);\n', "", "both_too"),
        (K + "csrc/extension.cc", "REGISTER_EXTENSION(common_ops)\n", "", "registers and declares no operation"),
        (K + "csrc/extension.cc", "&norm)", "&shared_entry)", "is gone"),
        (K + "include/ops.h", "void spare(at::Tensor x);\n", "", "a kept source uses it"),
        (K + "include/ops.h", "void norm(at::Tensor& x);\n", "", "registers and declares no operation"),
        (K + "CMakeLists.txt", '    "csrc/norm.cu"\n', "", "no longer lists"),
        (K + "CMakeLists.txt", '    "csrc/norm.cu"\n', '    "csrc/norm.cu"\n    csrc/gate/only_gate.cu\n', "lists sgl-kernel/csrc/gate"),
        (K + "CMakeLists.txt", "project(kernels LANGUAGES NONE)\n", "", "names no source that is"),
        (K + "csrc/helper.cu", None, "", "uses helper"),
        (K + "csrc/helper.cu", None, "", "lists sgl-kernel/csrc/helper.cu"),
        ("sgl-model-gateway/benches/tree.rs", None, "", "lists the bench tree"),
        ("sgl-model-gateway/src/main.rs", None, "", "lists the bin gateway"),
        (K + "csrc/norm.cu", "  spare(x);\n", "", "norm.cu"),
        ("python/sglang/main.py", "    return norm(x)\n", "    return torch.ops.sgl_kernel.old_gate(norm(x))\n", "old_gate"),
        ("python/sglang/main.py", "return norm(x)", 'return getattr(torch.ops.sgl_kernel, "spare")(x)', "spare"),
        ("python/sglang/main.py", "return norm(x)", 'return torch.library.opcheck("sgl_kernel::both", x)', "both"),
    ],
)  # fmt: skip
def test_a_wrong_cut_is_refuted(
    pruned: Path, tmp_path: Path, path: str, before: str | None, after: str, said: str
) -> None:
    text = (pruned / "out" / path).read_text()
    if before is not None:
        assert before in text
    refuted = judge(pruned, tmp_path, {path: None if before is None else text.replace(before, after)})
    assert any(said in detail for check in ("ops", "native") for detail in refuted.get(check, ())), refuted


def test_a_name_that_may_be_any_keeps_all(tmp_path: Path) -> None:
    text = TREE["python/sglang/main.py"].replace("norm(x)\n", "getattr(torch.ops.sgl_kernel, NAMES[x])(x)\n")
    tree = TREE | {"python/sglang/main.py": text + "\n\nNAMES = {1: 'spare', 2: 'old_' + 'gate', 3: 'old_gate'}\n"}
    assert prune(tmp_path, tree)[0] == 0
    extension = (tmp_path / "out/sgl-kernel/csrc/extension.cc").read_text()
    assert '"spare(' in extension and "old_gate" in extension and '"both"' not in extension


def test_keep_wins_and_other_libraries_stay(tmp_path: Path) -> None:
    tree = TREE | {K + "csrc/extension.cc": EXTENSION + 'TORCH_LIBRARY(theirs, t) { t.def("theirs_only", &x); }\n'}
    rules = RULES + '  - id: held\n    because: A script calls it.\n    keep: ["op:sgl_kernel::old_*"]\n'
    code, said = prune(tmp_path, tree, rules)
    assert code == 0, said
    extension = (tmp_path / "out/sgl-kernel/csrc/extension.cc").read_text()
    assert "old_gate" in extension and "theirs_only" in extension and '"spare(' not in extension
    assert (tmp_path / "out/sgl-kernel/csrc/gate/only_gate.cu").exists()
    assert "old_gate" in (tmp_path / "out/sgl-kernel/include/ops.h").read_text() == HEADER
