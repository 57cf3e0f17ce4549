"""The digest of a build, and how the generated module shows and compares it while the tree runs.

The digest is over every file of the package that holds the generated module, that module too (with
an empty digest in it). Trees of one upstream, one set of rules and one prune have one digest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from pruner.model import Outcome, Snapshot

EMPTY = b'DIGEST = ""\n'

RUNTIME = '''
# Of every file of this package, this one with an empty digest; PRUNED.json has it too.
DIGEST = ""

# guard -> what it does with the digest
MARKS = @MARKS@

_PEERS = {}  # address -> digest, "" of upstream's


def _log():
    import logging

    return logging.getLogger(__name__)


def _mark_print(_):
    """A line as a command that lists an environment prints them."""
    print(f"prune digest: {DIGEST}")


def _mark_note(subject):
    """The digest as an entry of a mapping, or of each in a list of mappings."""
    for one in subject if isinstance(subject, list) else [subject]:
        if isinstance(one, dict):
            one["prune_digest"] = DIGEST


def _mark_ranks(_):
    """Refuse to run with ranks of another build. Goes through the store of the process group: nobody must join in."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_initialized():
        return
    rank, size = distributed.get_rank(), distributed.get_world_size()
    try:
        found = _exchange(sys.modules["torch.distributed.distributed_c10d"]._get_default_store(), rank, size)
    except Exception as error:  # the store is no public interface: who cannot ask refuses nobody
        _log().warning("prune digest %s: the other ranks could not be asked (%s)", DIGEST, error)
        return
    plain = [other for other, digest in enumerate(found) if not digest]
    other = next((other for other, digest in enumerate(found) if digest not in ("", DIGEST)), None)
    if other is not None:
        raise _quiet(
            RefusedByPrune(
                f"rank {other} runs another build ({found[other]}) than rank {rank} ({DIGEST}); "
                "install the same generated tree for all ranks and start again"
            )
        )
    if plain:
        _log().warning("prune digest %s: ranks %s have none (upstream's build), accepted", DIGEST, plain)
    elif rank == 0:
        _log().info("prune digest %s: %s ranks, one build", DIGEST, size)


def _exchange(store, rank, size):
    """The digests of all ranks, "" for one without. A rank of upstream's never tells: ten seconds are waited for it."""
    from datetime import timedelta

    keys = [f"prune_digest/{other}" for other in range(size)]
    store.set(keys[rank], DIGEST)
    try:
        store.wait(keys, timedelta(seconds=10))
    except Exception:  # torch has its own errors, another in each release
        told = [store.check([key]) for key in keys]
    else:
        told = [True] * size
    found = [store.get(key).decode() if known else "" for key, known in zip(keys, told)]
    if any(digest not in ("", DIGEST) for digest in found):
        # Rank 0 holds the store: it goes last, or the others would say only that it went.
        store.set(f"prune_refused/{rank}", DIGEST)
        if rank == 0:
            try:
                store.wait([f"prune_refused/{other}" for other in range(size) if told[other]], timedelta(seconds=10))
            except Exception:
                pass
    return found


def _mark_serve(app):
    """Let a server of aiohttp tell the digest to who asks, and log a peer that asks for the rest only."""
    from aiohttp import web

    asked = set()

    @web.middleware
    async def digest(request, handler):
        if request.path == "/prune_digest":
            asked.add(request.remote)
            return web.Response(text=DIGEST)
        if request.path == "/route" and request.method == "GET" and request.remote not in asked:
            asked.add(request.remote)
            _log().info("prune digest %s: peer %s has none (upstream's build), accepted", DIGEST, request.remote)
        return await handler(request)

    app.middlewares.append(digest)


def _mark_peer(address):
    """Refuse to work with a peer of another build; ask each address once."""
    if not isinstance(address, str) or address in _PEERS:
        return
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import ProxyHandler, build_opener

    try:
        # No proxy: it would answer for a peer that it cannot reach, and urllib knows no networks in NO_PROXY.
        with build_opener(ProxyHandler({})).open(f"http://{address}/prune_digest", timeout=2) as answer:
            found = answer.read(200).decode("ascii", "replace")
    except HTTPError as error:
        if error.code != 404:  # upstream's knows no such path; anything else says nothing of the build
            return
        found = ""
    except (OSError, ValueError, HTTPException):  # nobody is there yet: who called finds that out, and asks again
        return
    found = found if found.startswith("sha256:") else ""
    if found not in ("", DIGEST):
        raise _quiet(
            RefusedByPrune(
                f"peer {address} runs another build ({found}) than this one ({DIGEST}); "
                "install the same generated tree on both sides and start again"
            )
        )
    _PEERS[address] = found
    if found:
        _log().info("prune digest %s: peer %s runs the same build", DIGEST, address)
    else:
        _log().info("prune digest %s: peer %s has none (upstream's build), accepted", DIGEST, address)


def _mark_forget(address):
    """Ask the address again: what answers there next may be another build."""
    _PEERS.pop(address, None)
'''


def digest(snapshot: Snapshot, outcome: Outcome, below: str, text: bytes, apart: frozenset[str]) -> str:
    """``sha256:…`` of a tree. ``below``: the generated module's path; ``text``: its bytes without a digest.

    ``apart``: files at the top that prune writes; they are no part of the package.
    """
    package = below.rpartition("/")[0]
    rows = {below: sha256(text).hexdigest()}
    for file in snapshot.files:
        if file.link is None:
            rows[file.path] = file.digest
    for path, data in outcome.files.items():
        if data is None:
            rows.pop(path, None)
        else:
            rows[path] = sha256(data).hexdigest()
    total = sha256()
    for path in sorted(rows):
        if path not in apart and (not package or path.startswith(f"{package}/")):
            total.update(f"{path}\0{rows[path]}\n".encode("utf-8", "surrogateescape"))
    return f"sha256:{total.hexdigest()}"


def signed(text: bytes, value: str) -> bytes:
    """The generated module with its digest."""
    return text.replace(EMPTY, f'DIGEST = "{value}"\n'.encode(), 1)


def with_overlay(value: str, document: Mapping[str, Any]) -> str:
    """The digest of a tree with local changes on top: that of the tree below, and one of the changes."""
    told = sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
    return f"{value}+{told[:16]}"
