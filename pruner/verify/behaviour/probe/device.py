"""Simulated CUDA: torch answers as on a named GPU. Enough to import and to resolve arguments; no kernel runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .standins import StandIn, StandInModule


@dataclass(frozen=True, slots=True)
class Profile:
    """What torch says of one GPU. Memory in bytes."""

    name: str
    major: int
    minor: int
    multi_processor_count: int
    total_memory: int
    L2_cache_size: int
    shared_memory_per_block_optin: int = 232448
    shared_memory_per_multiprocessor: int = 233472
    warp_size: int = 32
    gcnArchName: str = ""
    is_integrated: bool = False
    uuid: str = "GPU-0"


PROFILES = {
    "H100": Profile("NVIDIA H100 80GB HBM3", 9, 0, 132, 80 << 30, 50 << 20),
    "B200": Profile("NVIDIA B200", 10, 0, 148, 178 << 30, 126 << 20),
}


def simulate(profile: str, count: int) -> None:
    """Let torch answer as on a host with ``count`` GPUs of this profile."""
    import torch

    seen = PROFILES[profile]
    cuda: Any = torch.cuda
    version: Any = torch.version
    if not version.cuda:  # a CPU build: the tree asks this to tell CUDA from other devices
        version.cuda = "13.0"
    cuda.is_available = lambda: True
    cuda.device_count = lambda: count
    cuda.current_device = lambda: 0
    cuda.get_device_capability = lambda *a, **k: (seen.major, seen.minor)
    cuda.get_device_properties = lambda *a, **k: seen
    cuda.get_device_name = lambda *a, **k: seen.name
    cuda.mem_get_info = lambda *a, **k: (seen.total_memory - (1 << 30), seen.total_memory)
    # Asking a missing driver raises; the tree reads these once, at import.
    cuda.synchronize = lambda *a, **k: None
    cuda.empty_cache = lambda *a, **k: None
    _driver(seen)
    _compilers()


def _driver(seen: Profile) -> None:
    """Triton asks its driver for the target when a kernel is declared; without a GPU there is no driver."""
    from triton.backends.compiler import GPUTarget  # type: ignore[import-not-found]
    from triton.runtime import driver  # type: ignore[import-not-found]

    active = StandIn()
    active.get_current_target = lambda: GPUTarget("cuda", seen.major * 10 + seen.minor, seen.warp_size)
    active.get_current_device = lambda: 0
    active.is_active = lambda: True
    driver.set_active(active)


def _compilers() -> None:
    """Extensions that are compiled at import take minutes; nothing here runs them."""
    from torch.utils import cpp_extension

    extension: Any = cpp_extension
    extension.load = extension.load_inline = lambda *a, **k: StandInModule("compiled")
