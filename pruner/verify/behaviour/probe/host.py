"""The host's memory as the GPU's: ``cuda`` means the CPU, streams and events do nothing, NCCL is Gloo.

Triton kernels run in Triton's interpreter (``TRITON_INTERPRET``, set before the process starts).

Blind to what only a device does: asynchronous streams, graphs, more than one rank; code that asks ``x.is_cuda`` is
told the truth.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable
from typing import Any

from . import natives

# Where a release keeps the function that compiles C++ and CUDA sources when an operation is first called.
COMPILERS = ("sglang.kernels.jit.utils.compile", "sglang.jit_kernel.utils")


class Stream:
    """A stream or an event."""

    cuda_stream = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None

    def query(self) -> bool:
        """Everything is done at once."""
        return True

    def elapsed_time(self, other: Any) -> float:
        """Milliseconds."""
        return 0.0

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def install() -> None:
    """Before the tree is imported: it binds these functions by name."""
    import torch

    cuda: Any = torch.cuda
    stream = Stream()
    cuda.Stream = cuda.Event = Stream
    cuda.current_stream = cuda.default_stream = lambda *a, **k: stream
    cuda.stream = cuda.device = lambda *a, **k: contextlib.nullcontext()
    for name in ("set_device", "set_stream", "manual_seed", "manual_seed_all", "_lazy_init", "ipc_collect"):
        setattr(cuda, name, lambda *a, **k: None)
    for name in ("memory_allocated", "memory_reserved", "max_memory_allocated", "reset_peak_memory_stats"):
        setattr(cuda, name, lambda *a, **k: 0)
    cuda.is_current_stream_capturing = lambda: False
    cuda.is_initialized = lambda: True
    _ranks()
    _operators()
    _waits()
    for name in COMPILERS:
        with contextlib.suppress(ModuleNotFoundError):
            module = importlib.import_module(name)
            package = importlib.import_module(name.rpartition(".")[0])
            for holder in (module, package):
                if hasattr(holder, "load_jit"):
                    setattr(holder, "load_jit", lambda kernel, *a, **k: natives.Compiled(kernel))  # noqa: B010


def enter() -> None:
    """From here on tensors that are asked for on ``cuda`` lie in the host's memory."""
    import torch
    from torch.overrides import TorchFunctionMode

    plain = (torch.Tensor.cuda, torch.Tensor.pin_memory)

    class Host(TorchFunctionMode):
        """Puts the CPU in the place of the device."""

        def __torch_function__(
            self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
        ) -> Any:
            """Call ``func`` with other devices."""
            if func in plain:
                return args[0]
            named = {k: _there(v) if k == "device" else v for k, v in (kwargs or {}).items() if k != "pin_memory"}
            if func is torch.mm and "out_dtype" in named:  # which the CPU's multiplication does not know
                return func(*(value.to(named["out_dtype"]) for value in args))
            return func(*map(_there, args), **named)

    def _there(value: Any) -> Any:
        if isinstance(value, torch.device):
            return torch.device("cpu") if value.type == "cuda" else value
        return "cpu" if isinstance(value, str) and value.partition(":")[0] == "cuda" else value

    Host().__enter__()


def _ranks() -> None:
    """One rank, over Gloo: the CPU build of torch has no NCCL."""
    import torch
    from torch.distributed import distributed_c10d

    def over_gloo(function: Callable[..., Any]) -> Callable[..., Any]:
        def start(*args: Any, **kwargs: Any) -> Any:
            kwargs.pop("device_id", None)
            if kwargs.get("backend") is not None:
                kwargs["backend"] = "gloo"
            return function(*("gloo" if value == "nccl" else value for value in args), **kwargs)

        return start

    distributed: Any = torch.distributed
    c10d: Any = distributed_c10d
    for name in ("init_process_group", "new_group"):
        wrapped = over_gloo(getattr(distributed, name))
        setattr(distributed, name, wrapped)
        setattr(c10d, name, wrapped)


def _operators() -> None:
    """An operation that the tree registers for CUDA is there for tensors in the host's memory as well."""
    import torch

    library: Any = torch.library.Library
    register = library.impl

    def both(self: Any, name: Any, function: Any, key: str = "", **kwargs: Any) -> Any:
        if key == "CUDA":
            register(self, name, function, "CPU", **kwargs)
        return register(self, name, function, key, **kwargs)

    library.impl = both


def _waits() -> None:
    """Kernels wait for each other; the interpreter does not know how."""
    from triton.language.extra import cuda  # type: ignore[import-not-found]

    for name in ("gdc_wait", "gdc_launch_dependents"):
        setattr(cuda, name, lambda *args, **kwargs: None)
