"""Starts a server of one tree on a GPU host, watches it and stops it with all its processes."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

TRACER = Path(__file__).parent / "tracer"
REASON = re.compile(r"(?:Error|Exception|error:)", re.ASCII)
# In the order in which they are asked: a worker's command line names the server's module too.
KINDS: Mapping[str, tuple[str, ...]] = {
    "compiler": ("compile_worker", "cicc", "ptxas", "nvcc", "ninja", "cc1plus"),
    "scheduler": ("scheduler",),
    "detokenizer": ("detokenizer",),
    "data_parallel": ("data_parallel",),
    "tokenizer": ("tokenizer",),
    "main": ("launch_server", "one_batch.py"),
}
NOISE = re.compile(r"^\[[^\]]*\]\s*|0x[0-9a-f]+|\b\d{4,}\b")


@dataclass(frozen=True, slots=True)
class Host:
    """Where things lie on the GPU host. ``site``: packages that its Python lacks; ``caches``: JIT caches."""

    work: Path
    site: Path | None = None
    python: str = sys.executable

    def environment(self, tree: Path, side: str, trace: Path | None, lines: bool, cards: str) -> dict[str, str]:
        """The environment of every process of a tree. Each tree compiles its own kernels from its own sources."""
        caches, shared = self.work / "jit" / side, self.work / "jit" / "shared"
        paths = [str(TRACER)] if trace else []
        paths += [str(tree), *([str(self.site)] if self.site else [])]
        made = {
            **os.environ,
            "PYTHONPATH": ":".join(paths),
            "PYTHONUNBUFFERED": "1",
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "CUDA_VISIBLE_DEVICES": cards,
            "TVM_FFI_CACHE_DIR": str(caches / "tvm-ffi"),
            "TRITON_CACHE_DIR": str(caches / "triton"),
            "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
            "FLASHINFER_WORKSPACE_BASE": str(shared / "flashinfer"),  # third party: the same sources for both
            "SGLANG_DG_CACHE_DIR": str(shared / "deep-gemm"),
            "SGLANG_USE_SGL_FA3_KERNEL": "1",  # else FA3 comes from a hub, over the network
            "SGLANG_JIT_DEEPGEMM_PRECOMPILE": "0",  # else every M is compiled before the first request
            # Deterministic Triton attention takes chunks of whole multiples of this: upstream's 4,096 would leave every
            # prompt that is longer than the cells' chunk of 512 in the queue for ever.
            "SGLANG_TRITON_PREFILL_TRUNCATION_ALIGN_SIZE": "512",
            "LIBRARY_PATH": str(self.work / "libraries"),
            **dict.fromkeys(("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"), "lo"),
            **dict.fromkeys(("SGLANG_HOST_IP", "HOST_IP", "MASTER_ADDR"), "127.0.0.1"),
        }
        if Path("/usr/local/cuda").is_dir():
            made["CUDA_HOME"] = "/usr/local/cuda"
        if trace is not None:
            trace.mkdir(parents=True, exist_ok=True)
            made["PRUNE_TRACE_DIR"] = str(trace)
            made["PRUNE_TRACE_TREE"] = str(tree)
            if lines:
                made["PRUNE_TRACE_LINES"] = "1"
        return made

    def prepare(self) -> None:
        """Folders, and the names under which JIT builds link the CUDA libraries (images have versioned ones only)."""
        for name in ("libraries", "logs", "traces", "checkpoints", "jit/shared/flashinfer"):
            (self.work / name).mkdir(parents=True, exist_ok=True)
        wanted = {
            "libcudart.so": ("/usr/local/cuda/lib64/libcudart.so*", "/usr/lib*/**/libcudart.so.1*"),
            "libcuda.so": ("/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib*/**/libcuda.so.1"),
        }
        for name, patterns in wanted.items():
            link = self.work / "libraries" / name
            found = [path for pattern in patterns for path in sorted(Path("/").glob(pattern[1:]))]
            found += [path for path in _site_libraries() if path.name.startswith(f"{name}.")]
            if found and not link.is_symlink():
                link.symlink_to(found[0])


def _site_libraries() -> list[Path]:
    """CUDA libraries that came with Python packages."""
    roots = [Path(entry) / "nvidia" for entry in sys.path if (Path(entry) / "nvidia").is_dir()]
    return [path for root in roots for path in sorted(root.glob("**/lib/libcuda*.so.*"))]


RUNNING: set[Server] = set()


def end_all(number: int, _frame: object = None) -> NoReturn:
    """What a signal that ends the run does: no server outlives it, on a port and a card that the next run wants.

    Threads wait for their servers, so the interpreter would not end before they do.
    """
    for server in tuple(RUNNING):
        server.kill()
    os._exit(128 + number)


class Server:
    """One running server."""

    def __init__(self, command: list[str], environment: Mapping[str, str], log: Path) -> None:
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        self.started = time.monotonic()
        self.file: IO[bytes] = log.open("wb")
        self.process = subprocess.Popen(
            command, env=dict(environment), stdout=self.file, stderr=subprocess.STDOUT, start_new_session=True
        )
        RUNNING.add(self)

    def ended(self) -> bool:
        return self.process.poll() is not None

    def members(self) -> list[int]:
        """Ids of the processes of the server's session."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError, IndexError, ValueError):
                    fields = (entry / "stat").read_text().rpartition(")")[2].split()
                    if int(fields[3]) == self.process.pid and fields[0] != "Z":
                        found.append(int(entry.name))
        return found

    def host_memory(self) -> int:
        """Largest resident sizes of all processes together, in MiB, without compilers: see :meth:`memory`."""
        return sum(row["peak"] for kind, row in self.memory().items() if kind != "compiler")

    def memory(self) -> dict[str, dict[str, int]]:
        """Host memory now in MiB by kind of process: resident, and the part of it that no other process holds.

        A sum over processes counts what workers share with their parent once for each of them: a pool of compilers
        that was forked adds its parent's size with every worker, and nothing to ``own``.
        """
        found: dict[str, dict[str, int]] = {}
        for pid in self.members():
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                status = Path(f"/proc/{pid}/status").read_text()
                rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
                peak, now = (
                    sum(map(int, re.findall(rf"^{name}:\s+(\d+)", status, re.M))) for name in ("VmHWM", "VmRSS")
                )
                own = sum(map(int, re.findall(r"^Private_\w+:\s+(\d+)", rollup, re.M)))
                row = found.setdefault(kind_of(words), dict.fromkeys(("processes", "peak", "resident", "own"), 0))
                for name, size in (("processes", 1 << 10), ("peak", peak), ("resident", now), ("own", own)):
                    row[name] += size
        return {kind: {name: size >> 10 for name, size in row.items()} for kind, row in sorted(found.items())}

    def card_memory(self) -> int:
        """Memory on the cards, in MiB; 0 where nvidia-smi does not say."""
        if shutil.which("nvidia-smi") is None:
            return 0
        query = ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
        text = subprocess.run(query, capture_output=True, text=True, check=False).stdout
        mine = set(self.members())
        rows = [re.split(r",\s*", row) for row in text.splitlines()]
        return sum(int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit() and int(row[0]) in mine)

    def kill(self) -> None:
        """End the session at once: as often as a process of it made another one meanwhile."""
        for _ in range(10):
            for pid in (members := self.members()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if not members:
                break

    def stop(self) -> None:
        """End the session: politely, then not."""
        for number, wait in ((signal.SIGTERM, 8.0), (signal.SIGKILL, 5.0)):
            members = self.members()
            if not members:
                break
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            end = time.monotonic() + wait
            while self.members() and time.monotonic() < end:
                time.sleep(0.1)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.file.close()
        RUNNING.discard(self)

    def reason(self) -> str:
        """Why it ended, from its log: the last line that names an error, without numbers of this run."""
        lines = self.log.read_text("utf-8", "replace").splitlines()
        named = [line for line in lines if REASON.search(line)] or lines[-1:]
        return NOISE.sub("", named[-1]).strip()[:300] if named else "said nothing"


def unused(port: int) -> None:
    """Raise OSError where somebody listens already: a server that an earlier run left would answer for the new one."""
    with socket.socket() as probe:
        probe.settimeout(3)
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise OSError(f"port {port} is taken: end what listens there")


def kind_of(title: str) -> str:
    """Which process of a server a title or a command line is of."""
    for kind, words in KINDS.items():
        if any(word in title for word in words):
            return kind
    return "main" if title.startswith("MainProcess") else "other"


def card_size() -> int:
    """Memory of the smallest card in MiB; 0 where there is none."""
    if shutil.which("nvidia-smi") is None:
        return 0
    query = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    rows = subprocess.run(query, capture_output=True, text=True, check=False).stdout.split()
    return min((int(row) for row in rows if row.isdigit()), default=0)


def card() -> dict[str, str]:
    """Name, driver and number of the cards."""
    if shutil.which("nvidia-smi") is None:
        return {"name": "none", "driver": "", "count": "0"}
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    rows = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip().splitlines()
    name, _, driver = (rows or ["none"])[0].partition(", ")
    return {"name": name, "driver": driver, "count": str(len(rows))}
