"""A repository layout as SGLang's, with next to nothing in it: a package, a kernel package, a gateway, the rest."""

from __future__ import annotations

EXTENSION = """\
#include <torch/library.h>

#include "ops.h"

TORCH_LIBRARY_FRAGMENT(sgl_kernel, m) {
  /*
   * m.def("commented", &commented);
   */
  m.def("norm(Tensor x) -> ()");
  m.impl("norm", torch::kCUDA, &norm);

  m.def(
      "old_gate(Tensor x, "
      "int n) -> ()");
  m.impl("old_gate", torch::kCUDA, &gate::old_gate);
  m.def("both", &shared_entry);  // used by two
  m.def("both_too", &shared_entry);

  m.def("spare(Tensor x) -> ()");
  m.impl("spare", torch::kCUDA, make_shim(&spare));
#ifdef USE_ROCM
  m.def("hip_only", &hip_only);
#endif
}

REGISTER_EXTENSION(common_ops)
"""
HEADER = """\
#pragma once
#include "shim.h"
#define REGISTER_EXTENSION(NAME) int init_##NAME() { return 0; }

void norm(at::Tensor& x);
namespace gate {
std::vector<at::Tensor> old_gate(
    at::Tensor x,  // the input
    int64_t n = 1);
}
void shared_entry();

// called by norm.cu as well
void spare(at::Tensor x);
"""
CMAKE = """\
cmake_minimum_required(VERSION 3.20)
project(kernels LANGUAGES NONE)
# "csrc/comment.cu" is none
set(SOURCES
    "csrc/extension.cc"
    "csrc/norm.cu"

    "csrc/gate/old_gate.cu"
    csrc/gate/only_gate.cu
    "csrc/spare.cu"
    "csrc/shared.cu"
    "csrc/helper.cu"
    "${other_SOURCE_DIR}/csrc/theirs.cu"
)
foreach(source IN LISTS SOURCES)
    if(NOT source MATCHES "theirs" AND NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
        message(FATAL_ERROR "no ${source}")
    endif()
endforeach()
"""
TREE = {
    "LICENSE": "Apache\n",
    "README.md": "# the whole thing\n",
    ".github/workflows/ci.yml": "on: push\n",
    "docker/Dockerfile": "FROM x\n",
    "docs/a.md": "a\n",
    "benchmark/gsm8k/run.py": "print(1)\n",
    "benchmark/deepseek_v3/README.md": "# how\n",
    "test/test_all.py": "import sglang\n",
    "python/pyproject.toml": (
        "[project]\nname = 'sglang'\ndynamic = ['version']\n\n"
        "[[tool.setuptools-rust.ext-modules]]\ntarget = 'sglang.wire._core'\npath = '../rust/wire/Cargo.toml'\n"
    ),
    "python/sglang/__init__.py": "",
    "python/sglang/_version.py": "__version__ = version = '0.5.9'\n",
    "python/sglang/version.py": "from sglang._version import __version__\n",
    "python/sglang/wire/__init__.py": "# the build puts its extension here\n",
    "python/sglang/launch.py": (
        "from sglang.main import serve\nfrom sglang.plat import is_hip\n\n\n"
        "def run(rpc, x):\n"
        "    if is_hip():\n        # as hip does it\n        if rpc.on:\n            serve(rpc)\n"
        "    elif rpc.on:\n        serve(x)\n    else:\n        rpc(x)\n"
    ),
    "python/sglang/plat.py": "def is_hip():\n    return False\n",
    "python/sglang/trace.py": "def start():\n    return 1\n\n\ndef unused():\n    return 2\n",
    "python/sglang/main.py": (
        "import torch\nfrom sgl_kernel import norm\n\nfrom sglang.plat import is_hip\n\n\n"
        "def serve(x):\n"
        "    if is_hip():\n"
        "        from sgl_kernel.gate import old_gate\n\n"
        "        return old_gate(x)\n"
        "    if x.mac:\n        from sgl_kernel import rope\n\n        return rope(x)\n"
        "    torch.ops.sgl_kernel.both_too(x)\n"
        "    return norm(x)\n"
    ),
    "python/sglang/configs/E=8,device_name=NVIDIA_H100.json": "{}\n",
    "python/sglang/configs/E=8,device_name=AMD_Instinct.json": "{}\n",
    "python/sglang/configs/__init__.py": "",
    "sgl-kernel/LICENSE": "Apache\n",
    "sgl-kernel/CMakeLists.txt": CMAKE,
    "sgl-kernel/include/ops.h": HEADER,
    "sgl-kernel/include/shim.h": (
        "#pragma once\n"
        "HOST constexpr auto MOST = std::numeric_limits<float>::max();\n"  # registers nothing
        "inline void check(int n) {}\n#define CHECK(n) \\\n  do { check(n); } while (0)\n"  # no source needs another's
        "template <typename T>\nT make_shim(T f) { return f; }\n"
        "template <typename... T>\nstruct Guided {\n  explicit Guided(T&&...);\n};\n"
        "template <typename... T>\nexplicit Guided(T&&...) -> Guided<T...>;\n"  # binds no name
    ),
    "sgl-kernel/csrc/extension.cc": EXTENSION,
    "sgl-kernel/csrc/norm.cu": (
        '#include "ops.h"\n#include "math.cuh"\nvoid helper(int n);\n\n'
        "void norm(at::Tensor& x) {\n  int offset = twice(1);\n  helper(offset);\n  spare(x);\n}\n"
    ),
    "sgl-kernel/csrc/math.cuh": "#pragma once\ninline int twice(int n) { return 2 * n; }\n",
    "sgl-kernel/csrc/gate/old_gate.cu": (
        '#include "ops.h"\n#include "gate.cuh"\nvoid helper(int n);\nvoid only_gate(int n);\n'
        "namespace gate {\nstd::vector<at::Tensor> old_gate(at::Tensor x, int64_t n) {\n"
        "  helper(1);\n  only_gate(TWO);\n  return {};\n}\n}  // namespace gate\n"
    ),
    "sgl-kernel/csrc/gate/gate.cuh": (
        "#pragma once\n#define TWO 2\n"
        "template <typename T>\ninline auto offset(T* at, int n) -> T* {\n  return at + n;\n}\n"  # norm.cu's is another
    ),
    "sgl-kernel/csrc/gate/only_gate.cu": "template <int N>\nstatic int k() { return N; }\nvoid only_gate(int n) {\n  k<1>();\n}\n",
    "sgl-kernel/csrc/spare.cu": '#include "ops.h"\nvoid spare(at::Tensor x) {}\n',
    "sgl-kernel/csrc/shared.cu": '#include "ops.h"\nvoid shared_entry() {}\n',
    "sgl-kernel/csrc/helper.cu": "void helper(int n) {}\n",
    "sgl-kernel/csrc/cpu/norm.cpp": "void norm_cpu() {}\n",
    "sgl-kernel/tests/test_norm.py": "from sgl_kernel import norm\n",
    "sgl-kernel/python/sgl_kernel/__init__.py": (
        "import torch\n\nfrom sgl_kernel.gate import old_gate, old_spare\nfrom sgl_kernel.norm import norm\n\n"
        "if torch.version.hip is not None:\n    from sgl_kernel.norm import hip_norm\n"
        "if torch.mac:\n    from sgl_kernel.metal import *\n"
    ),
    "sgl-kernel/python/sgl_kernel/norm.py": (
        "import torch\n\n\ndef norm(x):\n    torch.ops.sgl_kernel.norm(x)\n    return x\n\n\n"
        "def hip_norm(x):\n    return torch.ops.sgl_kernel.hip_only(x)\n"
    ),
    "sgl-kernel/python/sgl_kernel/metal.py": (
        "try:\n    from . import _metal  # compiled\nexcept ImportError:\n    _metal = None\n\n\n"
        "def rope(x):\n    return _metal.rope(x)\n"
    ),
    "sgl-kernel/python/sgl_kernel/gate.py": (
        "import torch\n\n\ndef old_gate(x):\n    return torch.ops.sgl_kernel.old_gate.default(x, 1)\n\n\n"
        "def old_spare(x):\n    return torch.ops.sgl_kernel.spare(x)\n"
    ),
    "sgl-model-gateway/Cargo.toml": (
        "[package]\nname = 'gateway'\nversion = '0.1.0'\nedition = '2021'\n\n"
        "[[bin]]\nname = 'gateway'\npath = 'src/main.rs'\n\n[[bench]]\nname = 'tree'\nharness = false\n"
    ),
    "sgl-model-gateway/benches/tree.rs": "fn main() {}\n",
    "sgl-model-gateway/src/main.rs": "fn main() {}\n",
    "sgl-model-gateway/tests/a.rs": "\n",
    "sgl-model-gateway/bindings/python/setup.py": "print('no module')\n",
    "sgl-model-gateway/bindings/python/src/sglang_router/__init__.py": "from sglang_router.lb import run\n",
    "sgl-model-gateway/bindings/python/src/sglang_router/lb.py": (
        "try:\n    from sglang.trace import start\nexcept ImportError:\n    start = None\n\n\ndef run():\n    return start\n"
    ),
    "other/python/elsewhere/__init__.py": "",
    "other/python/elsewhere/tool.py": "import sglang\n",
}
RULES = """\
extends: [SHIPPED/repository.yaml]
rules:
  - id: main
    because: The program starts here.
    root: ["sglang.main:serve", "sglang.launch:run", pyproject.toml]
  - id: earlier
    because: This is of another release.
    until: "0.5.9"
    root: [sglang.not_here]
  - id: no-hip
    because: No HIP here.
    assume: {sglang.plat.is_hip(): false, torch.version.hip: null, macro:USE_ROCM: null}
  - id: native
    because: What nothing names is never compiled.
    optional: true
    drop: ["native:*"]
  - id: data
    because: Settings of devices that are not here.
    drop: ["path:sglang/**/*device_name=AMD*.json", "path:sglang/*device_name=AMD*.json"]
  - id: configs
    because: Settings are looked up by file.
    keep: [sglang.configs]
"""
