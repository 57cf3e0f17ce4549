"""Configures the kernel package of a tree with CMake, nothing fetched and nothing compiled.

    python -m tests.native.configure UPSTREAM OUTPUT

Every repository that the build would fetch is an empty folder with empty files where the build looks for sources, and so
is PyTorch. For each tree: did CMake configure, and which sources of the tree would be compiled. ``not run`` where cmake
(3.31 or later) or nvcc is missing. Blind to whether anything compiles.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_DECLARED = re.compile(r"FetchContent_Declare\s*\(\s*([\w.-]+)")
_USED = re.compile(r"\$\{([\w.-]+)_SOURCE_DIR\}/([\w./*\[\]-]+)")
_TORCH = """\
set(TORCH_LIBRARIES "")
set(CUDA_VERSION "${CUDAToolkit_VERSION_MAJOR}.${CUDAToolkit_VERSION_MINOR}")
foreach(name c10 cuda cublas cublasLt nvrtc mscclpp_static)
  if(NOT TARGET ${name})
    add_library(${name} INTERFACE IMPORTED GLOBAL)
  endif()
endforeach()
set(Torch_FOUND TRUE)
"""


def stubs(kernel: Path, folder: Path) -> list[str]:
    """Empty repositories for what the build files declare; CMake's options that point there."""
    text = "\n".join(p.read_text(encoding="utf-8") for p in (*kernel.glob("*.txt"), *kernel.glob("cmake/*.cmake")))
    options = []
    for name in sorted(set(_DECLARED.findall(text))):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "CMakeLists.txt").write_text("")
        options.append(f"-DFETCHCONTENT_SOURCE_DIR_{name.upper()}={folder / name}")
    for name, path in sorted(set(_USED.findall(text))):
        place = folder / name / re.sub(r"\[[^]]*\]", "0", path.replace("*", "x"))
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.suffix:
            place.write_text("")
        else:
            place.mkdir(exist_ok=True)
    (folder / "torch").mkdir(exist_ok=True)
    (folder / "torch" / "TorchConfig.cmake").write_text(_TORCH)
    return [*options, "-DFETCHCONTENT_FULLY_DISCONNECTED=ON", f"-DTorch_DIR={folder / 'torch'}"]


def configure(kernel: Path, folder: Path) -> tuple[bool, str, list[str]]:
    """(configured?, what CMake said, sources below ``kernel`` that would be compiled)."""
    options = stubs(kernel, folder / "stubs")
    command = ["cmake", "-S", str(kernel), "-B", str(folder / "build"), "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    command += ["-DCMAKE_CUDA_COMPILER_WORKS=1", "-DCMAKE_CXX_COMPILER_WORKS=1", *options]
    environment = os.environ | {"PYTHONPATH": str(folder / "stubs" / "python")}
    (folder / "stubs" / "python").mkdir(parents=True, exist_ok=True)
    (folder / "stubs" / "python" / "torch.py").write_text("class _C:\n    _GLIBCXX_USE_CXX11_ABI = True\n")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    listed = folder / "build" / "compile_commands.json"
    rows = json.loads(listed.read_text()) if listed.exists() else []
    units = {Path(row["file"]) for row in rows}
    here = sorted(str(u.relative_to(kernel)) for u in units if u.is_relative_to(kernel))
    return done.returncode == 0, done.stdout + done.stderr, here


def main(trees: list[str]) -> int:
    """Say how each tree's kernel package fared; 1 when one of them does not configure."""
    if shutil.which("cmake") is None or shutil.which("nvcc") is None:
        print("not run: cmake and nvcc are needed")
        return 0
    bad = 0
    for tree in trees:
        kernel = Path(tree, "sgl-kernel").resolve()
        with tempfile.TemporaryDirectory() as folder:
            fine, said, units = configure(kernel, Path(folder).resolve())
        missing = [u for u in units if not (kernel / u).exists()]
        kept = {str(p.relative_to(kernel)) for s in ("*.cu", "*.cc", "*.cpp") for p in kernel.glob(f"csrc/**/{s}")}
        unlisted = sorted(kept - set(units))
        print(
            f"{tree}: {'configures' if fine else 'FAILS'}, {len(units)} sources, missing {missing}, not built {unlisted}"
        )
        if not fine:
            print(said[-3000:])
        bad += not fine or bool(missing)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
