"""The verification environment: an interpreter with the packages that a server needs, but no GPU.

``requirements-verify.txt`` says which. Kernel packages are not among them: they cannot link to a CPU build of
torch, and stand-ins take their place (see :mod:`pruner.verify.behaviour.probe.standins`).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Import names without which the runs would say little.
NEEDED = ("torch", "triton", "transformers", "fastapi", "pydantic", "prometheus_client", "xgrammar", "zmq", "datasets")
# Stand-ins on every host: they need CUDA libraries to load, or are of no use here.
ALWAYS = ("torchvision", "IPython", "soundfile")
# Stand-ins on the simulated GPU.
KERNELS = ("sgl_kernel", "deep_gemm", "cuda")
# And where kernels run on the host: flashinfer compiles CUDA sources when it is first called.
COMPILED = ("flashinfer",)
# Not installed on a client host.
HIDDEN = ("sgl_kernel", "deep_gemm", "flashinfer")
# Stand-ins for the second pass of the import run.
LATER = (
    *("cutlass", "tilelang", "helion", "ray", "outlines", "outlines_core", "llguidance", "quack", "torchao", "timm"),
    *("mooncake", "nixl", "deep_ep", "triton_kernels", "flash_attn", "tokenspeed_mla", "humming", "kernels"),
    *("zstandard", "watchfiles", "grpc_health", "grpc_reflection", "smg_grpc_servicer", "smg_grpc_proto"),
    *("checkpoint_engine", "simm", "aibrix_kvcache", "eic", "lmcache", "flexkv", "hf3fs_fuse", "human_eval"),
    *("modelscope", "mistral_common", "anthropic", "blobfile", "py_spy"),
)
# A run of a stand-alone Python program: no site packages of ours, no user's settings.
DROPPED = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "LD_PRELOAD", "CUDA_VISIBLE_DEVICES")
FIXED = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONHASHSEED": "0",  # sets are shown in the order of their hashes
    "OMP_NUM_THREADS": "1",
    "COLUMNS": "200",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
}
# Triton kernels run in its interpreter, nothing is compiled, one rank talks to itself.
ON_HOST = {"TRITON_INTERPRET": "1", "TORCHDYNAMO_DISABLE": "1", "GLOO_SOCKET_IFNAME": "lo"}
PROBE = Path(__file__).resolve().parent / "probe" / "boot.py"


def variables(work: Path, on_host: bool = False) -> dict[str, str]:
    """The environment variables of a session; caches go below ``work``."""
    kept = {
        k: v for k, v in os.environ.items() if k not in DROPPED and not k.startswith(("SGLANG_", "SGL_", "TRITON_"))
    }
    home = work / "home"
    home.mkdir(parents=True, exist_ok=True)
    return {**kept, **FIXED, **(ON_HOST if on_host else {}), "HOME": str(home), "TMPDIR": str(home)}


def lacking(python: Path, needed: Sequence[str] = NEEDED) -> str:
    """Why this interpreter will not do, or an empty string."""
    code = (
        "import importlib.util as u, sys\n"
        "assert sys.version_info >= (3, 10), 'it is older than Python 3.10'\n"
        f"gone = [n for n in {tuple(needed)!r} if u.find_spec(n) is None]\n"
        "assert not gone, 'it lacks ' + ', '.join(gone)\n"
        "print('fit')"
    )
    try:
        done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it does not start: {type(error).__name__}"
    if done.stdout.strip() == "fit":
        return ""
    return done.stderr.strip().rpartition("\n")[2].removeprefix("AssertionError: ") or "it does not answer"
