"""The digest of a build: shown by the running tree, the same for the same tree, compared between ranks and peers."""

from __future__ import annotations

import hashlib
import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from pruner.errors import PruneError
from pruner.pipeline import RunOptions, run
from pruner.policy import load

# What stands for torch and aiohttp: a store that is a folder, and an application that runs its middleware.
OUTSIDE = {
    "torch/__init__.py": "",
    "torch/distributed/__init__.py": """\
import os
import torch.distributed.distributed_c10d
def is_initialized(): return "RANK" in os.environ
def get_rank(): return int(os.environ["RANK"])
def get_world_size(): return int(os.environ["SIZE"])
""",
    "torch/distributed/distributed_c10d.py": """\
import os, pathlib, time
class Store:
    def path(self, key): return pathlib.Path(os.environ["STORE"], key.replace("/", "-"))
    def set(self, key, value):
        self.path(key).with_suffix(".new").write_text(value)
        self.path(key).with_suffix(".new").rename(self.path(key))
    def get(self, key): return self.path(key).read_bytes()
    def check(self, keys): return all(self.path(key).exists() for key in keys)
    def wait(self, keys, limit):
        for _ in range(int(min(limit.total_seconds(), 4) * 50)):
            if self.check(keys): return
            time.sleep(0.02)
        raise RuntimeError("timeout")
def _get_default_store(): return Store()
""",
    "aiohttp/__init__.py": "",
    "aiohttp/web.py": """\
def middleware(function): return function
class Response:
    def __init__(self, text): self.text = text
""",
}
PROGRAM = {
    "app/__init__.py": "",
    "app/plat.py": "def is_hip():\n    return False\n",
    "app/serve.py": """\
import asyncio
import logging
import sys
import types

import torch.distributed

from app.plat import is_hip

logging.basicConfig(level=logging.INFO, format="%(message)s")


def environment():
    print("python: 3")


def show(state):
    return state.info


def join():
    value = 1 if is_hip() else 2
    return value


def routes(app):
    pass


def layout(address):
    return "layout"


def lost(address):
    pass


async def handler(request):
    return None


def ask(path):
    app = types.SimpleNamespace(middlewares=[])
    routes(app)
    request = types.SimpleNamespace(path=path, method="GET", remote="10.0.0.1")
    for layer in app.middlewares:
        answer = asyncio.run(layer(request, handler))
        print(getattr(answer, "text", answer))


def main(argv):
    if argv[0] == "environment":
        environment()
    if argv[0] == "show":
        print(show(types.SimpleNamespace(info={"version": "1"})), show(types.SimpleNamespace(info=[{}, {}])))
    if argv[0] == "join":
        print(join())
    if argv[0] == "ask":
        ask(argv[1])
    if argv[0] == "peer":
        print(layout(argv[1]), layout(argv[1]))
    if argv[0] == "again":
        layout(argv[1])
        lost(argv[1])
        layout(argv[1])


if __name__ == "__main__":
    main(sys.argv[1:])
""",
}
RULES = """\
rules:
  - {id: hip, because: So., assume: {app.plat.is_hip(): false}}
  - {id: root, because: So., root: [app.serve]}
  - id: digest
    because: It is shown.
    guard:
      - {at: "app.serve:environment", digest: print}
      - {at: "app.serve:show", of: state.info, digest: note}
      - {at: "app.serve:join", where: after, digest: ranks}
      - {at: "app.serve:routes", where: after, of: app, digest: serve}
      - {at: "app.serve:layout", of: address, digest: peer}
      - {at: "app.serve:lost", of: address, digest: forget}
"""


def build(folder: Path, program: dict[str, str] = PROGRAM, rules: str = RULES) -> Path:
    """The whole pipeline on files, checks included."""
    for path, text in program.items():
        place = folder / "in" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (folder / "rules.yaml").write_text(rules)
    options = RunOptions((folder / "rules.yaml",), folder / "in", folder / "out", None, 1, False, True, Path())
    done = run(options, lambda *_: None)
    assert done.exit_code == 0, done.findings or done.document["verdicts"]
    return folder / "out"


def digest(tree: Path) -> str:
    found = re.search(r'^DIGEST = "(.*)"$', (tree / "_prune_guard.py").read_text(), re.M)
    assert found is not None
    return found.group(1)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """One build, another, and what stands for outside packages."""
    outside = tmp_path_factory.mktemp("outside")
    for path, text in OUTSIDE.items():
        (outside / path).parent.mkdir(parents=True, exist_ok=True)
        (outside / path).write_text(text)
    one = build(tmp_path_factory.mktemp("one"))
    other = build(tmp_path_factory.mktemp("other"), PROGRAM | {"app/__init__.py": "# another\n"})
    return one, other, outside


def start(tree: Path, outside: Path, *arguments: str, **extra: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "app.serve", *arguments],
        cwd=tree,
        env={"PYTHONPATH": str(outside), "PYTHONDONTWRITEBYTECODE": "1", **extra},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def said(process: subprocess.Popen[str]) -> str:
    return process.communicate(timeout=60)[0]


def ranks(trees: list[Path], outside: Path, store: Path) -> list[tuple[int, str]]:
    store.mkdir()
    extra = {"SIZE": str(len(trees)), "STORE": str(store)}
    running = [start(tree, outside, "join", RANK=str(rank), **extra) for rank, tree in enumerate(trees)]
    told = [said(process) for process in running]
    return [(process.returncode, text) for process, text in zip(running, told, strict=True)]


def test_the_digest_is_of_the_written_tree(made: tuple[Path, Path, Path]) -> None:
    """Worked out again from the files, in another way."""
    tree, other, _ = made
    total = hashlib.sha256()
    apart = {"PRUNED.json", "pyproject.toml", "LICENSE", "NOTICE"}
    for path in sorted(p.relative_to(tree).as_posix() for p in tree.rglob("*") if p.is_file()):
        if path in apart or "__pycache__" in path:
            continue
        data = (tree / path).read_bytes()
        if path == "_prune_guard.py":
            data = re.sub(rb'^DIGEST = ".*"$', b'DIGEST = ""', data, flags=re.M)
        total.update(f"{path}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    assert digest(tree) == f"sha256:{total.hexdigest()}"
    assert json.loads((tree / "PRUNED.json").read_text())["digest"] == digest(tree) != digest(other)


def test_the_same_run_has_the_same_digest(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    assert digest(build(tmp_path)) == digest(made[0])


def test_it_is_shown(made: tuple[Path, Path, Path]) -> None:
    tree, _, outside = made
    assert said(start(tree, outside, "environment")) == f"prune digest: {digest(tree)}\npython: 3\n"
    mark = f"'prune_digest': '{digest(tree)}'"
    assert said(start(tree, outside, "show")) == f"{{'version': '1', {mark}}} [{{{mark}}}, {{{mark}}}]\n"


def test_ranks_of_one_build_start(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    tree, _, outside = made
    told = ranks([tree, tree], outside, tmp_path / "store")
    assert told == [(0, f"prune digest {digest(tree)}: 2 ranks, one build\n2\n"), (0, "2\n")]


def test_ranks_of_two_builds_refuse(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    tree, other, outside = made
    told = ranks([tree, other, tree], outside, tmp_path / "store")
    assert [code for code, _ in told] == [1, 1, 1]
    for rank, wrong, mine, theirs in ((0, 1, tree, other), (1, 0, other, tree), (2, 1, tree, other)):
        sentence = f"rank {wrong} runs another build ({digest(theirs)}) than rank {rank} ({digest(mine)}); "
        assert sentence in told[rank][1]


def test_a_rank_of_upstream_is_accepted(made: tuple[Path, Path, Path], tmp_path: Path) -> None:
    tree, _, outside = made
    told = ranks([tree, tree.parent / "in"], outside, tmp_path / "store")
    assert told == [
        (0, f"prune digest {digest(tree)}: ranks [1] have none (upstream's build), accepted\n2\n"),
        (0, "2\n"),
    ]


def test_one_rank_asks_nobody(made: tuple[Path, Path, Path]) -> None:
    tree, _, outside = made
    assert said(start(tree, outside, "join")) == "2\n"


@contextmanager
def serving(answers: list[str]) -> Iterator[str]:
    """An address that tells these digests, one a time; "" is an upstream's 404, a number another status."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = answers.pop(0)
            self.send_response(int(text) if text.isdigit() else 200 if text else 404)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_a_peer_is_asked_once(made: tuple[Path, Path, Path]) -> None:
    tree, other, outside = made
    with serving([digest(tree)]) as address:
        want = f"prune digest {digest(tree)}: peer {address} runs the same build\nlayout layout\n"
        assert said(start(tree, outside, "peer", address)) == want
    with serving([""]) as address:
        want = f"prune digest {digest(tree)}: peer {address} has none (upstream's build), accepted\nlayout layout\n"
        assert said(start(tree, outside, "peer", address)) == want
    with serving([digest(other)]) as address:
        sentence = f"peer {address} runs another build ({digest(other)}) than this one ({digest(tree)}); "
        assert sentence in said(start(tree, outside, "peer", address))
    assert said(start(tree, outside, "peer", "127.0.0.1:9")) == "layout layout\n"  # nobody there is nobody's fault


def test_an_answer_that_is_not_of_the_peer_accepts_nobody(made: tuple[Path, Path, Path]) -> None:
    """A server that is not ready (503), one that speaks no HTTP, and the cluster's proxy, which refuses what it cannot reach."""
    tree, other, outside = made
    with serving(["503", digest(other)]) as address:
        assert "runs another build" in said(start(tree, outside, "peer", address))
    with socket.create_server(("127.0.0.1", 0)) as rude:

        def greet() -> None:
            for _ in range(2):
                with rude.accept()[0] as line:
                    line.recv(1000)
                    line.sendall(b"SSH-2.0-x\r\n")

        threading.Thread(target=greet, daemon=True).start()
        assert said(start(tree, outside, "peer", f"127.0.0.1:{rude.getsockname()[1]}")) == "layout layout\n"
    with serving(["403", "403"]) as proxy, serving([digest(other)]) as address:
        told = start(tree, outside, "peer", address, http_proxy=f"http://{proxy}", no_proxy="127.0.0.0/8")
        assert "runs another build" in said(told)


def test_a_lost_peer_is_asked_again(made: tuple[Path, Path, Path]) -> None:
    tree, other, outside = made
    with serving([digest(tree), digest(other)]) as address:
        assert "runs another build" in said(start(tree, outside, "again", address))


def test_a_server_tells_its_digest(made: tuple[Path, Path, Path]) -> None:
    tree, _, outside = made
    assert said(start(tree, outside, "ask", "/prune_digest")) == f"{digest(tree)}\n"
    assert said(start(tree, outside, "ask", "/health")) == "None\n"
    accepted = f"prune digest {digest(tree)}: peer 10.0.0.1 has none (upstream's build), accepted\nNone\n"
    assert said(start(tree, outside, "ask", "/route")) == accepted


FAULTS = [
    ("{at: 'a:f', digest: shout}", "'digest' is 'shout'"),
    ("{at: 'a:f', digest: note, http: true}", "'digest' goes with 'at', 'where' and 'of' alone"),
    ("{at: 'a:f'}", "has no 'ask', 'digest' or 'facts: true'"),
]


@pytest.mark.parametrize(("guard", "text"), FAULTS, ids=[row[1] for row in FAULTS])
def test_faults_in_rules(tmp_path: Path, guard: str, text: str) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(f"rules:\n  - {{id: own.a, because: So., guard: {guard}}}\n")
    with pytest.raises(PruneError) as caught:
        load((path,))
    assert any(text in row.text for row in caught.value.diagnostics)
