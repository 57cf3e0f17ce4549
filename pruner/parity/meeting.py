"""Servers of two trees that must work together: prefill with decode, node with node. On two cards of one host.

Every way to put upstream's, the output's and another build's tree together is a *meeting*: it answers as upstream's
two do, or refuses to start, as stated.

Blind to a network between the two: both run on one host, over its loopback and its card-to-card links.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pruner.parity import checkpoint
from pruner.parity.cells import BASE, TWO
from pruner.parity.client import Client
from pruner.parity.compare import digest, tokens
from pruner.parity.driver import SCHEMA, append, build_of
from pruner.parity.requests import BATCH, MODEL, Request, generate, prompt
from pruner.parity.server import Host, Server, card, unused

RESULTS = "meetings.jsonl"
OTHER = "other"  # the output with another digest
SAID = re.compile(r"prune digest sha256:|runs another build")
LONG = re.compile(r"(?<=sha256:)[0-9a-f]{64}")
FIRST_PORT = 41000
DRIVER = "driver:"


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two servers. ``kind``: ``pd`` (prefill, decode) or ``nodes`` (node 0, node 1); ``refused``: they must not start."""

    kind: str
    sides: tuple[str, str]
    refused: bool = False

    @property
    def name(self) -> str:
        return "-".join((self.kind, *self.sides))


MEETINGS: tuple[Meeting, ...] = (
    Meeting("pd", ("upstream", "upstream")),
    Meeting("pd", ("upstream", "output")),
    Meeting("pd", ("output", "upstream")),
    Meeting("pd", ("output", "output")),
    Meeting("pd", ("output", OTHER), refused=True),
    Meeting("nodes", ("upstream", "upstream")),
    Meeting("nodes", ("output", "output")),
    Meeting("nodes", ("output", "upstream")),
    Meeting("nodes", ("output", OTHER), refused=True),
)


def with_references(names: Collection[str]) -> list[Meeting]:
    """The named meetings, and upstream's with itself for each kind of them: it is what the others are held to."""
    kinds = {one.kind for one in MEETINGS if one.name in names}
    return [one for one in MEETINGS if one.name in names or (one.kind in kinds and set(one.sides) == {"upstream"})]


def requests(kind: str) -> list[Request]:
    """What a meeting is asked; a prefill server's requests carry the room in which the decode server waits."""
    plain = [*(generate(ids) for ids in BATCH), generate(prompt(1500))]
    if kind != "pd":
        return [*plain, generate(BATCH)]
    return plain


def options(meeting: Meeting, place: int, port: int) -> list[str]:
    """The command line of one of the two, after ``--port``."""
    own: dict[str, object] = {**BASE, **TWO}
    if meeting.kind == "pd":
        own["disaggregation-mode"] = ("prefill", "decode")[place]
        own["disaggregation-transfer-backend"] = "nixl"
        own["disaggregation-bootstrap-port"] = port + 50
    else:
        own.update({"tp-size": 2, "nnodes": 2, "node-rank": place, "dist-init-addr": f"127.0.0.1:{port + 60}"})
        own["disable-custom-all-reduce"] = True
    words: list[str] = []
    for key, value in own.items():
        words += [f"--{key}"] if value is True else [f"--{key}", str(value)]
    return words


def other_build(output: Path, folder: Path) -> Path:
    """The output's tree with another digest."""
    if not folder.is_dir():
        shutil.copytree(output, folder, symlinks=True)
    place = folder / "sglang" / "_prune_guard.py"
    text = place.read_text("utf-8")
    place.write_text(re.sub(r'^DIGEST = "sha256:.{8}', 'DIGEST = "sha256:00000000', text, flags=re.M), "utf-8")
    return folder


def meet(
    host: Host, trees: Mapping[str, Path], results: Path, chosen: Sequence[Meeting], slots: int, limit: float
) -> Iterator[dict[str, Any]]:
    """The records, as they end; the answers of upstream's two are what the others are held to."""
    host.prepare()
    results.mkdir(parents=True, exist_ok=True)
    known = {**trees, OTHER: other_build(trees["output"], host.work / OTHER)}
    checkpoint.write(host.work / "checkpoints" / "bf16", "bf16")
    cards = card()
    if int(cards["count"]) < 2:
        return
    with ThreadPoolExecutor(slots) as pool:
        made = pool.map(lambda pair: one(host, known, pair[1], FIRST_PORT + 400 * pair[0], limit), enumerate(chosen))
        for record in judged(made):
            record["card"], record["schema"] = cards, SCHEMA
            record["build"] = {side: build_of(known[side]) for side in known}
            append(results / RESULTS, record)
            yield record


def judged(records: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """With a result: ``identical``, ``refused as stated``, ``differs`` or ``failed``."""
    reference: dict[str, str] = {}
    for record in records:
        kind, sides = record["kind"], record["sides"]
        if sides == ["upstream", "upstream"]:
            reference[kind] = record.get("answers", "")
            record["result"] = "identical" if record.get("answers") else "failed"
        elif record.get("why", "").startswith(DRIVER):
            record["result"] = "failed"
        elif record["must refuse"]:
            said = any("runs another build" in line for line in record["said"])
            record["result"] = "refused as stated" if said and not record.get("answers") else "differs"
        elif not reference.get(kind):
            record["result"] = "failed"
        else:
            record["result"] = "identical" if record.get("answers") == reference[kind] else "differs"
        yield record


def one(host: Host, trees: Mapping[str, Path], meeting: Meeting, port: int, limit: float) -> dict[str, Any]:
    """Start both, ask, stop; a fault of the driver is a record too."""
    start = time.monotonic()
    record: dict[str, Any] = {
        "meeting": meeting.name,
        "kind": meeting.kind,
        "sides": list(meeting.sides),
        "must refuse": meeting.refused,
        "said": [],
    }
    servers: list[Server] = []
    try:
        for place in range(2):
            unused(port + 10 * place)
        for place, side in enumerate(meeting.sides):
            environment = host.environment(trees[side], side, None, False, str(place))
            command = [host.python, "-m", "sglang.launch_server", "--host", "127.0.0.1"]
            command += ["--model-path", str(host.work / "checkpoints" / "bf16"), "--port", str(port + 10 * place)]
            log = host.work / "logs" / f"{meeting.name}.{place}.log"
            servers.append(Server([*command, *options(meeting, place, port)], environment, log))
        clients = [Client(port + 10 * place, {MODEL: "tiny"}, 60.0) for place in range(2)]
        answers = asked(meeting, servers, clients, port, start + limit)
        record["requests"], record["tokens"] = len(answers), tokens(answers)
        wanted = len(requests(meeting.kind))
        if len(answers) == wanted and all(answer["status"] == 200 for answer in answers):
            record["answers"] = digest(answers)
        elif answers:
            record["statuses"] = [answer["status"] for answer in answers]
            if len(answers) < wanted:
                record["why"] = f"{wanted - len(answers)} of {wanted} requests have no answer"
    except Exception as error:
        record["why"] = f"{DRIVER} {type(error).__name__}: {error}"
    finally:
        for server in servers:
            if server.ended() and not meeting.refused and "answers" not in record:
                record.setdefault("why", server.reason())
            server.stop()
            record["said"] += sorted({said(line) for line in lines(server.log) if SAID.search(line)})
    record["seconds"] = round(time.monotonic() - start, 1)
    return record


def lines(log: Path) -> list[str]:
    return log.read_text("utf-8", "replace").splitlines()


def said(line: str) -> str:
    """A log line from the digest on, digests cut short."""
    found = re.search(r"(?:prune digest|(?:rank|peer) \S+ runs another).*", line)
    return LONG.sub(lambda match: match[0][:8], found[0] if found else line).strip()[:200]


def asked(
    meeting: Meeting, servers: Sequence[Server], clients: Sequence[Client], port: int, end: float
) -> list[dict[str, Any]]:
    """The answers; none where the two did not come up, or ended."""
    waited = clients if meeting.kind == "pd" else clients[:1]
    while not all(client.healthy() for client in waited):
        if time.monotonic() > end or any(server.ended() for server in servers):
            return []
        time.sleep(0.5)
    found: list[dict[str, Any]] = []
    for room, request in enumerate(requests(meeting.kind), 1):
        if time.monotonic() > end or any(server.ended() for server in servers):
            break
        found.append(exchange(clients, request, port, room) if meeting.kind == "pd" else clients[0].send(request))
        if found[-1]["status"] == 0:
            break
    return found


def exchange(clients: Sequence[Client], request: Request, port: int, room: int) -> dict[str, Any]:
    """One request to both, as a router sends it; the decode server's answer."""
    more = {"bootstrap_host": "127.0.0.1", "bootstrap_port": port + 50, "bootstrap_room": room}
    both = Request(request.path, {**(request.body or {}), **more})
    with ThreadPoolExecutor(2) as pool:
        answers: list[dict[str, Any]] = list(pool.map(lambda client: client.send(both), clients))
    return answers[1]
