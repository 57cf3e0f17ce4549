"""Compiles kernels of two trees with nvcc and compares the device code.

    python -m tests.native.compile UPSTREAM OUTPUT --include DIR ... [--arch sm_90a] [SOURCE ...]

``DIR`` are include folders of PyTorch, FlashInfer and CUTLASS. Headers of CUDA's mathematical libraries that are missing
are declared as far as PyTorch's headers need them. Device code is compared as ``cuobjdump -sass`` prints it, without
the lines that name files. ``not run`` where nvcc or cuobjdump is missing. Blind to host code.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCES = (
    "csrc/moe/moe_topk_softmax_kernels.cu",
    "csrc/gemm/per_token_quant_fp8.cu",
    "csrc/gemm/dsv3_router_gemm_entry.cu",
    "csrc/gemm/dsv3_router_gemm_bf16_out.cu",
    "csrc/gemm/dsv3_router_gemm_float_out.cu",
)
_LIBRARIES = {
    "cublas_v2.h": "typedef struct cublasContext* cublasHandle_t;\ntypedef int cublasStatus_t;\n",
    "cublasLt.h": "typedef struct cublasLtContext* cublasLtHandle_t;\n",
    "cusparse.h": "typedef struct cusparseContext* cusparseHandle_t;\n",
    "cusolverDn.h": "typedef struct cusolverDnContext* cusolverDnHandle_t;\n",
    "cusolver_common.h": "typedef int cusolverStatus_t;\n",
    "c10/cuda/impl/cuda_cmake_macros.h": "",  # a build of PyTorch without CUDA has none
}


def tool(name: str) -> str | None:
    """A program of the toolkit: on the path, or the one that comes with Triton."""
    found = shutil.which(name)
    spec = importlib.util.find_spec("triton") if found is None else None
    if spec is not None and spec.origin is not None:
        place = Path(spec.origin).parent / "backends" / "nvidia" / "bin" / name
        found = str(place) if place.exists() else None
    return found


def device_code(kernel: Path, source: str, includes: list[Path], arch: str, folder: Path) -> tuple[str, str]:
    """(SASS, "") of one source, or ("", what nvcc said)."""
    cubin = folder / "out.cubin"
    command = ["nvcc", "-cubin", f"-arch={arch}", "-std=c++17", "-O3", "--expt-relaxed-constexpr", "-DNDEBUG"]
    command += ["--expt-extended-lambda", "-DFLASHINFER_ENABLE_F16", "-DFLASHINFER_ENABLE_BF16", "-DENABLE_NVFP4=1"]
    for place in (kernel / "include", kernel / "csrc", *includes, folder / "libraries"):
        command += ["-I", str(place)]
    done = subprocess.run(
        [*command, "-o", str(cubin), str(kernel / source)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return "", done.stderr
    listing = subprocess.run(
        [str(tool("cuobjdump")), "-sass", str(cubin)], capture_output=True, text=True, check=True
    ).stdout
    return "\n".join(line for line in listing.split("\n") if not re.search(r"\.(?:cu|cuh|cubin)\b", line)), ""


def main() -> int:
    """Compare; 1 when device code differs or a source compiles in one tree alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("upstream", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("sources", nargs="*", default=list(SOURCES))
    parser.add_argument("--include", type=Path, action="append", default=[])
    parser.add_argument("--arch", default="sm_90a")
    given = parser.parse_intermixed_args()
    if shutil.which("nvcc") is None or tool("cuobjdump") is None:
        print("not run: nvcc and cuobjdump are needed")
        return 0
    bad = 0
    for source in given.sources:
        answers = []
        for tree in (given.upstream, given.output):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                (folder / "libraries").mkdir()
                for header, text in _LIBRARIES.items():
                    (folder / "libraries" / header).parent.mkdir(parents=True, exist_ok=True)
                    (folder / "libraries" / header).write_text(f"#pragma once\n{text}")
                kernel = (tree / "sgl-kernel").resolve()
                answers.append(device_code(kernel, source, [p.resolve() for p in given.include], given.arch, folder))
        (first, said), (second, other) = answers
        if said and other:
            print(f"{source}: not run, compiles in neither tree: {said.strip().splitlines()[0][:200]}")
            continue
        functions = first.count("Function :")
        same = not said and not other and first == second and functions > 0
        print(
            f"{source}: {'equal' if same else 'DIFFERS'}, {functions} kernels, {len(first.splitlines()):,} lines of SASS"
        )
        bad += not same
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
